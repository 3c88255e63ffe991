//! How good judges are, and how they score each model: computed from what is stored, for the pages and the API.
//!
//! It is computed again when there are new judgements or votes, in a task of its own, and cached like the statistics of
//! the leaderboard. Votes are read as tallies, of judged builds alone, so the cost does not grow with the number of
//! votes. Of judgements, no more than the latest [`MAX_JUDGEMENTS`] of each kind are read. Anybody can compute the same
//! numbers from the two public logs: see [`crate::judge::log`].

mod reading;

use std::collections::BTreeMap;

use serde::Serialize;
use time::OffsetDateTime;
use tokio::task::spawn_blocking;
use utoipa::ToSchema;
use uuid::Uuid;

use super::leaderboard::{Computed, Published};
use super::{Arena, ModelKey, PromptId, judgement_log};
use crate::judge::Judge;
use crate::judge::agreement::{JudgeReport, judge_reports};
use crate::judge::criteria::Criterion;

/// The most scores, and the most votes of judges, that are read.
pub const MAX_JUDGEMENTS: i64 = 100_000;

/// What is known of all judges.
#[derive(Clone, Debug)]
pub struct JudgeStats {
    pub computed_at: OffsetDateTime,
    /// In the order of their names.
    pub judges: Vec<MeasuredJudge>,
    /// The builds that the reports name, by their ids there.
    pub builds: BTreeMap<Uuid, ReportedBuild>,
    /// How models are scored for their builds in force, by the judges' names. People are last.
    profiles: BTreeMap<ModelKey, Vec<ScoreProfile>>,
    /// Whether older judgements were left out.
    pub is_limited: bool,
}

#[derive(Clone, Debug)]
pub struct MeasuredJudge {
    /// "People", for people.
    pub name: String,
    /// How many times it has scored a build.
    pub judgements: i64,
    /// How many times it has chosen between two builds.
    pub votes: i64,
    pub report: JudgeReport,
}

/// A build that a report names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportedBuild {
    pub id: Uuid,
    #[schema(value_type = String, example = "steam-locomotive")]
    pub prompt_id: PromptId,
    #[schema(example = "a steam locomotive")]
    pub prompt: String,
    #[schema(value_type = String, example = "reference_architect")]
    pub model: ModelKey,
    #[schema(example = "Architect")]
    pub model_name: String,
}

/// One judge's scores of a model's builds.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreProfile {
    pub judge: Judge,
    /// "People", for people.
    pub name: String,
    pub overall: ProfileScore,
    /// By the criteria that were scored.
    pub criteria: BTreeMap<Criterion, ProfileScore>,
}

/// Scores over builds; of people, the mean for each build counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProfileScore {
    pub builds: i64,
    pub mean: f64,
    /// The standard deviation between builds. None for a single build.
    pub deviation: Option<f64>,
}

/// What the statistics follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JudgesVersion {
    latest_judgement: i64,
    latest_vote: i64,
    published: Published,
    /// It changes when models or prompts do.
    catalog: i64,
    withheld: i64,
}

impl JudgeStats {
    pub fn profiles(&self, model: &ModelKey) -> &[ScoreProfile] {
        self.profiles.get(model).map_or(&[], Vec::as_slice)
    }
}

impl Arena {
    pub async fn judges(&self) -> sqlx::Result<std::sync::Arc<JudgeStats>> {
        let now = self.judges_version().await?;
        let make = |_| {
            let arena = self.clone();
            async move { arena.compute_judges(now).await }
        };
        self.judges.get(now, make).await
    }

    async fn judges_version(&self) -> sqlx::Result<JudgesVersion> {
        let mut connection = self.replica.acquire().await?;
        let published = self.published(&mut *connection).await?;
        let latest_judgement = judgement_log::latest(&mut *connection, self.judgements_shown_until()).await?;
        reading::version(&mut connection, published, latest_judgement).await
    }

    async fn compute_judges(
        &self,
        version: JudgesVersion,
    ) -> sqlx::Result<Computed<JudgesVersion, JudgeStats>> {
        let computed_at = OffsetDateTime::now_utc();
        let mut snapshot = self.snapshot().await?;
        let input = reading::read(&mut snapshot, &self.settings, version).await?;
        snapshot.commit().await?;
        let stats = spawn_blocking(move || input.into_stats(computed_at)).await;
        let value = stats.map_err(|lost| sqlx::Error::Protocol(lost.to_string()))?;
        Ok(Computed { version: Some(version), value, stored: None })
    }
}

impl reading::JudgesInput {
    /// Heavy work.
    fn into_stats(mut self, computed_at: OffsetDateTime) -> JudgeStats {
        self.fit_skills();
        let Self { data, names, mut counts, mut builds, profiles, is_limited, .. } = self;
        let judges: Vec<MeasuredJudge> = judge_reports(&data)
            .into_iter()
            .map(|report| {
                let (judgements, votes) = counts.remove(&report.judge).unwrap_or_default();
                let name = names.get(&report.judge).cloned().unwrap_or_else(|| report.judge.key.clone());
                MeasuredJudge { name, judgements, votes, report }
            })
            .collect();
        let of_builds = judges
            .iter()
            .flat_map(|judge| judge.report.build_disagreements.iter().map(|differing| differing.build));
        let of_pairs = judges.iter().flat_map(|judge| {
            judge
                .report
                .pair_disagreements
                .iter()
                .flat_map(|differing| [differing.preferred, differing.other])
        });
        let named: std::collections::BTreeSet<Uuid> = of_builds.chain(of_pairs).collect();
        builds.retain(|log_id, _| named.contains(log_id));
        JudgeStats { computed_at, judges, builds, profiles, is_limited }
    }
}
