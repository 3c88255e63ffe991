//! Jobs of the kind `judge`: a model gives a build scores, or says which of two builds is better.
//!
//! The subject of such a job is `build@criteria`, or `left|right@criteria` for a pair, so that nothing is judged twice at
//! once by the same model and criteria. A job that is ready has its judgement or its vote: both are written in one
//! transaction. Neither ever touches matchups, votes or ratings.

mod targets;

use serde_json::{Map, Value};
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;
use voxel::codec::Digest;

pub use self::targets::{JudgeSelection, JudgeTarget, TargetState, targets, typical_cost};
use super::lease::{self, Claim, JobFailure, LeaseError, without_nul};
use super::{JobKind, JobState};
use crate::arena::{Choice, ModelKey, PromptId, Settings, judgement_log};
use crate::judge::criteria::Criterion;
use crate::judge::scores::Scores;

/// What is judged: a build, or two builds of one prompt and settings on their sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JudgedBuilds {
    One(Uuid),
    Pair { left: Uuid, right: Uuid },
}

/// A judge's job that a worker has claimed, with what the model is asked about.
#[derive(Clone, Debug)]
pub struct ClaimedJudging {
    pub claim: Claim,
    pub builds: JudgedBuilds,
    pub criteria: Digest,
    pub prompt: PromptId,
    pub prompt_text: String,
    pub settings: Settings,
}

/// What a model says of a build.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJudgement {
    pub scores: Scores,
    /// Their weighted mean.
    pub overall: f64,
    /// A sentence for each score.
    pub evidence: Vec<(Criterion, String)>,
    pub note: Option<String>,
}

/// What a model says of two builds: A is the left one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJudgeVote {
    pub choice: Choice,
    pub reason: Option<String>,
}

/// How much of a note or a reason is kept, in characters.
const MAX_TEXT_CHARS: usize = 1000;

impl JudgedBuilds {
    /// The build, or the one on the left.
    pub fn first(self) -> Uuid {
        match self {
            Self::One(build) | Self::Pair { left: build, .. } => build,
        }
    }

    pub fn second(self) -> Option<Uuid> {
        match self {
            Self::One(_) => None,
            Self::Pair { right, .. } => Some(right),
        }
    }

    pub(super) fn of(first: Uuid, second: Option<Uuid>) -> Self {
        second.map_or(Self::One(first), |right| Self::Pair { left: first, right })
    }

    fn subject(self, criteria: &Digest) -> String {
        let hex: String = criteria.0.iter().map(|byte| format!("{byte:02x}")).collect();
        match self {
            Self::One(build) => format!("{build}@{hex}"),
            Self::Pair { left, right } => format!("{left}|{right}@{hex}"),
        }
    }
}

/// Asks a model to judge those of many builds, or pairs, that it has not judged and is not asked about yet, and returns the
/// jobs. As with builds, the share locks keep jobs from being added for what an admin disables meanwhile. A build that is
/// retired or withheld meanwhile is left out, here or when its job is claimed.
pub async fn enqueue_judging(
    connection: &mut PgConnection,
    judge: &ModelKey,
    criteria: &Digest,
    builds: &[JudgedBuilds],
) -> sqlx::Result<Vec<Uuid>> {
    let ids: Vec<_> = builds.iter().map(|_| Uuid::now_v7()).collect();
    let first: Vec<_> = builds.iter().map(|builds| builds.first()).collect();
    let second: Vec<_> = builds.iter().map(|builds| builds.second()).collect();
    let subjects: Vec<_> = builds.iter().map(|builds| builds.subject(criteria)).collect();
    sqlx::query_scalar!(
        r#"
        WITH missing AS (
            SELECT *
            FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) AS missing (id, first, second, subject)
        ),
        added AS (
            INSERT INTO jobs (id, kind, model_key, subject)
            SELECT missing.id, $5, models.key, missing.subject
            FROM missing
            JOIN models ON models.key = $6 AND models.enabled
            JOIN builds AS first ON first.id = missing.first AND first.retired_at IS NULL AND NOT first.withheld
            JOIN prompts ON prompts.id = first.prompt_id AND prompts.active
            LEFT JOIN builds AS second ON second.id = missing.second
            WHERE (missing.second IS NULL OR (second.retired_at IS NULL AND NOT second.withheld))
              AND CASE
                  WHEN missing.second IS NULL THEN NOT EXISTS (
                      SELECT FROM judgements
                      WHERE judgements.build_id = missing.first AND judgements.criteria = $7
                        AND judgements.model_key = models.key
                  )
                  ELSE NOT EXISTS (
                      SELECT FROM judge_votes
                      WHERE left_build = missing.first AND right_build = missing.second
                        AND judge_votes.criteria = $7 AND judge_votes.model_key = models.key
                  )
              END
            ORDER BY missing.id
            FOR SHARE OF prompts, models
            ON CONFLICT (kind, model_key, subject) WHERE state IN ('queued', 'running') DO NOTHING
            RETURNING id
        )
        INSERT INTO judge_jobs (job_id, build_id, right_build, criteria)
        SELECT id, first, second, $7
        FROM added
        JOIN missing USING (id)
        ORDER BY id
        RETURNING job_id
        "#,
        &ids,
        &first,
        &second as &[Option<Uuid>],
        &subjects,
        JobKind::Judge as _,
        judge as _,
        &criteria.0[..],
    )
    .fetch_all(connection)
    .await
}

/// Loads what a claimed job needs; or the reason why nobody is asked.
pub(super) async fn load_claimed(
    connection: &mut PgConnection,
    claim: Claim,
) -> sqlx::Result<Result<ClaimedJudging, JobFailure<'static>>> {
    let row = sqlx::query!(
        r#"
        SELECT
            judge_jobs.build_id, right_build, judge_jobs.criteria, first.prompt_id AS "prompt: PromptId",
            first.settings AS "settings: Settings", text,
            (first.retired_at IS NOT NULL OR coalesce(second.retired_at IS NOT NULL, false)) AS "retired!",
            (first.withheld OR coalesce(second.withheld, false)) AS "withheld!",
            CASE
                WHEN right_build IS NULL THEN EXISTS (
                    SELECT FROM judgements
                    WHERE judgements.build_id = judge_jobs.build_id AND judgements.criteria = judge_jobs.criteria
                      AND judgements.model_key = $2
                )
                ELSE EXISTS (
                    SELECT FROM judge_votes
                    WHERE left_build = judge_jobs.build_id AND judge_votes.right_build = judge_jobs.right_build
                      AND judge_votes.criteria = judge_jobs.criteria AND judge_votes.model_key = $2
                )
            END AS "judged!"
        FROM judge_jobs
        JOIN builds AS first ON first.id = judge_jobs.build_id
        JOIN prompts ON prompts.id = first.prompt_id
        LEFT JOIN builds AS second ON second.id = right_build
        WHERE job_id = $1
        "#,
        claim.lease.job,
        claim.model as _,
    )
    .fetch_one(connection)
    .await?;
    let obsolete = |code, message| Ok(Err(JobFailure { code, message }));
    if row.judged {
        return obsolete("exists", "This was judged while the job was queued, so the model was not asked.");
    }
    if row.retired {
        return obsolete(
            "retired",
            "The build was retired while the job was queued, so the model was not asked.",
        );
    }
    if row.withheld {
        return obsolete(
            "withheld",
            "The build is withheld, so the model was not asked. It can be judged once it is released.",
        );
    }
    let Ok(criteria) = <[u8; 32]>::try_from(row.criteria) else {
        return Err(sqlx::Error::Decode("criteria are named by 32 bytes".into()));
    };
    Ok(Ok(ClaimedJudging {
        claim,
        builds: JudgedBuilds::of(row.build_id, row.right_build),
        criteria: Digest(criteria),
        prompt: row.prompt,
        prompt_text: row.text,
        settings: row.settings,
    }))
}

impl ClaimedJudging {
    pub fn is_pair(&self) -> bool {
        self.builds.second().is_some()
    }

    /// Stores the scores of a build and ends the job, both or neither. Where the build has a judgement by now, that one stays
    /// and the job has failed.
    pub async fn finish_judgement(&self, pool: &PgPool, judgement: &NewJudgement) -> Result<(), LeaseError> {
        let evidence: Map<String, Value> = judgement
            .evidence
            .iter()
            .map(|(criterion, sentence)| (criterion.key().to_owned(), without_nul(sentence).into()))
            .collect();
        let score = |criterion| judgement.scores.get(criterion);
        let mut transaction = self.claim.lease.begin(pool).await?;
        judgement_log::hold_order(&mut transaction).await?;
        let stored = sqlx::query!(
            "
            INSERT INTO judgements (
                build_id, criteria, model_key, job_id, task_progress, material_usage, efficiency, creative_attempts,
                overall, evidence, note
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            ON CONFLICT (build_id, criteria, model_key) WHERE model_key IS NOT NULL DO NOTHING
            ",
            self.builds.first(),
            &self.criteria.0[..],
            self.claim.model as _,
            self.claim.lease.job,
            score(Criterion::TaskProgress),
            score(Criterion::MaterialUsage),
            score(Criterion::Efficiency),
            score(Criterion::CreativeAttempts),
            judgement.overall,
            Json(evidence) as _,
            stored_text(judgement.note.as_deref()),
        )
        .execute(&mut *transaction)
        .await?;
        self.end(&mut transaction, stored.rows_affected() > 0).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Stores which of two builds is better and ends the job, both or neither. Like [`Self::finish_judgement`].
    pub async fn finish_vote(&self, pool: &PgPool, vote: &NewJudgeVote) -> Result<(), LeaseError> {
        let mut transaction = self.claim.lease.begin(pool).await?;
        judgement_log::hold_order(&mut transaction).await?;
        let stored = sqlx::query!(
            "
            INSERT INTO judge_votes (model_key, job_id, left_build, right_build, criteria, choice, reason)
            SELECT $1, job_id, build_id, right_build, criteria, $3, $4
            FROM judge_jobs
            WHERE job_id = $2
            ON CONFLICT (model_key, left_build, right_build, criteria) DO NOTHING
            ",
            self.claim.model as _,
            self.claim.lease.job,
            vote.choice as _,
            stored_text(vote.reason.as_deref()),
        )
        .execute(&mut *transaction)
        .await?;
        self.end(&mut transaction, stored.rows_affected() > 0).await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn end(&self, connection: &mut PgConnection, is_stored: bool) -> sqlx::Result<()> {
        let message = "This was judged meanwhile, and what was said first stays.";
        let exists = JobFailure { code: "exists", message };
        let (state, failure) = match is_stored {
            true => (JobState::Ready, None),
            false => (JobState::Failed, Some(exists)),
        };
        lease::end(connection, self.claim.lease.job, state, failure).await
    }
}

/// A text as it is stored: without NUL, and not too long. None if nothing is left of it.
fn stored_text(text: Option<&str>) -> Option<String> {
    let text: String = without_nul(text?.trim()).chars().take(MAX_TEXT_CHARS).collect();
    (!text.is_empty()).then_some(text)
}
