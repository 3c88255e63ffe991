//! `judgements.jsonl`: every judgement as a line of JSON, with all that the statistics of judges follow from.
//!
//! Builds have their ids of the vote log. Each line has the facts of its builds that the statistics need, so that
//! this file and the vote log suffice to compute them again; the second half of this module reads both. Nothing in it
//! tells who the people are that have judged: they are one judge, and what they wrote is not in it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::agreement::{AgreementData, BuildFacts, JudgeScore, JudgeVote, PersonVote};
use super::criteria::Criterion;
use super::scores::Scores;
use super::{Judge, JudgeKind};
use crate::arena::skill::{self, PairTally};
use crate::arena::vote_log::LoggedVote;
use crate::arena::{Choice, ChoiceCounts, Exclusion, ModelKey, PromptId};

/// The longest line that is read.
pub const MAX_LINE_BYTES: u64 = 1 << 16;

/// A judgement.
// Names and order of the fields are the log's format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoggedJudgement {
    /// In the order in which they were stored. Numbers can be missing.
    #[schema(example = 17)]
    pub id: i64,
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    pub judge: LoggedJudge,
    #[schema(value_type = String, example = "steam-locomotive")]
    pub prompt_id: PromptId,
    #[schema(example = "32-simple-precise")]
    pub settings: String,
    /// The SHA-256 of the criteria that the judge was given, in hexadecimal.
    pub criteria: String,
    #[serde(flatten)]
    pub content: JudgementContent,
    /// Null where it is not known, and for people.
    #[schema(required)]
    pub tokens_in: Option<i64>,
    #[schema(required)]
    pub tokens_out: Option<i64>,
    #[schema(required)]
    pub cost_micro_dollars: Option<i64>,
    /// Why a person's judgement does not count; null if it does.
    #[serde(default)]
    #[schema(required, inline, example = json!(null))]
    pub exclusion: Option<Exclusion>,
    /// The latest decision of an admin about the judgement.
    #[serde(default)]
    #[schema(required, example = json!(null))]
    pub decision: Option<i64>,
}

/// What a judge has said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JudgementContent {
    /// Scores of one build.
    Scores(LoggedScores),
    /// A choice between two builds of one prompt.
    Pair(LoggedPair),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoggedScores {
    pub build: LoggedBuild,
    /// From 0 to 10, by the criteria's keys. What does not apply or was not answered is missing.
    #[schema(value_type = BTreeMap<String, f64>)]
    pub scores: Scores,
    /// A sentence for each score, by the criteria's keys.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, String>)]
    pub evidence: BTreeMap<Criterion, String>,
    #[serde(default)]
    #[schema(required)]
    pub note: Option<String>,
    /// The weighted mean. Null if there is no score.
    #[schema(required, example = 6.4)]
    pub overall: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoggedPair {
    /// The builds as the judge saw them. A is the left one.
    pub left: LoggedBuild,
    pub right: LoggedBuild,
    #[schema(inline)]
    pub choice: Choice,
    #[serde(default)]
    #[schema(required)]
    pub reason: Option<String>,
}

/// A judge, with its provider if it is a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LoggedJudge {
    #[schema(inline)]
    pub kind: JudgeKind,
    #[schema(example = "openai_gpt_5_5")]
    pub key: String,
    #[serde(default)]
    #[schema(required)]
    pub provider: Option<String>,
}

/// A build that was judged, with what the statistics need to know about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LoggedBuild {
    /// Its id in the vote log.
    pub id: Uuid,
    #[schema(value_type = String, example = "reference_architect")]
    pub model: ModelKey,
    #[schema(example = "openai")]
    pub provider: String,
    #[schema(example = 1241)]
    pub blocks: u64,
}

impl LoggedJudge {
    pub fn judge(&self) -> Judge {
        Judge { kind: self.kind, key: self.key.clone() }
    }
}

impl LoggedJudgement {
    /// Writes the judgement as a line of JSON.
    pub fn write_json_line(&self, out: &mut impl io::Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JudgeLogError {
    #[error("cannot read the log: {0}")]
    Io(#[from] io::Error),
    #[error("line {0} is longer than {MAX_LINE_BYTES} bytes")]
    TooLong(u64),
    #[error("line {0} is neither a judgement nor a vote: {1}")]
    BadLine(u64, serde_json::Error),
    #[error("line {0}: {1:?} is not the id of a build")]
    BadBuild(u64, String),
}

/// Reads logs of judgements and of votes, in any order, for the statistics.
#[derive(Debug, Default)]
pub struct JudgeLogReader {
    counts: JudgeLogCounts,
    data: AgreementData,
    /// By id, each build with its ladder.
    builds: BTreeMap<Uuid, (LoggedBuild, String)>,
    /// Votes by ladder, for the skill of models.
    ladders: BTreeMap<String, LadderVotes>,
}

/// The votes on each pair of models and prompt.
type LadderVotes = BTreeMap<(PromptId, ModelKey, ModelKey), ChoiceCounts>;

/// What logs held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgeLogCounts {
    /// Including those that are excluded.
    pub judgements: u64,
    pub excluded_judgements: u64,
    /// Including those that are excluded.
    pub votes: u64,
    pub excluded_votes: u64,
}

/// What tells a judgement from a vote.
#[derive(Deserialize)]
struct LogLineProbe {
    judge: Option<IgnoredAny>,
}

impl JudgeLogReader {
    /// Reads a whole log, with one line of it in memory at a time.
    pub fn read(&mut self, mut log: impl BufRead) -> Result<(), JudgeLogError> {
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = log.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            if read as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
                return Err(JudgeLogError::TooLong(number));
            }
            if !line.trim_ascii().is_empty() {
                self.add_line(&line, number)?;
            }
        }
        Ok(())
    }

    pub fn counts(&self) -> JudgeLogCounts {
        self.counts
    }

    /// The input of the statistics, with skills fitted to the votes.
    pub fn finish(self) -> AgreementData {
        let skills: BTreeMap<String, BTreeMap<ModelKey, f64>> =
            self.ladders.into_iter().map(|(settings, votes)| (settings, fitted_skills(votes))).collect();
        let builds = self.builds.into_values().map(|(build, settings)| BuildFacts {
            build: build.id,
            skill: skills.get(&settings).and_then(|models| models.get(&build.model)).copied(),
            model: build.model.as_str().to_owned(),
            provider: build.provider,
            blocks: build.blocks,
        });
        AgreementData { builds: builds.collect(), ..self.data }
    }

    fn add_line(&mut self, line: &[u8], number: u64) -> Result<(), JudgeLogError> {
        let bad = |error| JudgeLogError::BadLine(number, error);
        let probe: LogLineProbe = serde_json::from_slice(line).map_err(bad)?;
        match probe.judge {
            Some(_) => self.add_judgement(serde_json::from_slice(line).map_err(bad)?),
            None => self.add_vote(serde_json::from_slice(line).map_err(bad)?, number)?,
        }
        Ok(())
    }

    fn add_judgement(&mut self, judgement: LoggedJudgement) {
        self.counts.judgements += 1;
        if judgement.exclusion.is_some() {
            self.counts.excluded_judgements += 1;
            return;
        }
        let LoggedJudgement { judge: logged_judge, settings, content, .. } = judgement;
        let judge = logged_judge.judge();
        if let Some(provider) = logged_judge.provider {
            self.data.providers.insert(judge.clone(), provider);
        }
        match content {
            JudgementContent::Scores(LoggedScores { build, overall, .. }) => {
                self.data.scores.extend(overall.map(|overall| JudgeScore {
                    judge,
                    build: build.id,
                    overall,
                }));
                self.builds.insert(build.id, (build, settings));
            }
            JudgementContent::Pair(LoggedPair { left, right, choice, .. }) => {
                self.data.judge_votes.push(JudgeVote { judge, left: left.id, right: right.id, choice });
                for build in [left, right] {
                    self.builds.insert(build.id, (build, settings.clone()));
                }
            }
        }
    }

    fn add_vote(&mut self, vote: LoggedVote, number: u64) -> Result<(), JudgeLogError> {
        self.counts.votes += 1;
        if vote.exclusion.is_some() {
            self.counts.excluded_votes += 1;
            return Ok(());
        }
        let parse = |id: String| Uuid::try_parse(&id).map_err(|_| JudgeLogError::BadBuild(number, id));
        let (left, right) = (parse(vote.build_a)?, parse(vote.build_b)?);
        self.data.votes.push(PersonVote::new(left, right, None, vote.choice));
        let pair = (vote.prompt_id, vote.model_a, vote.model_b);
        let counts = self.ladders.entry(vote.settings).or_default().entry(pair).or_default();
        *counts = counts.with(vote.choice);
        Ok(())
    }
}

fn fitted_skills(votes: LadderVotes) -> BTreeMap<ModelKey, f64> {
    let tallies =
        votes.into_iter().map(|((prompt, a, b), counts)| PairTally { prompt, a, b, sizes: None, counts });
    skills_of_all(&tallies.collect::<Vec<_>>())
}

/// The skill of every model of a ladder, also of those that its leaderboard does not list.
pub fn skills_of_all(tallies: &[PairTally]) -> BTreeMap<ModelKey, f64> {
    let models: BTreeSet<ModelKey> = tallies.iter().flat_map(|tally| [&tally.a, &tally.b]).cloned().collect();
    let fit = skill::fit(tallies, &[], skill::PRIOR, &models);
    fit.models.into_iter().map(|(model, skill)| (model, skill.rating)).collect()
}

#[cfg(test)]
mod tests;
