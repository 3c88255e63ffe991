//! Coverage: which builds exist at some settings, which are missing, and the state of their jobs.

mod selection;

use std::collections::{BTreeMap, HashMap};

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

pub use self::selection::{SlotSelection, UnknownInSelection};
use super::builds::BuildSlot;
use super::catalog::{self, ListedModel, ListedPrompt, Model};
use super::jobs::JobState;
use super::{ModelKey, PromptId, Settings};

pub struct Coverage {
    pub settings: Settings,
    pub prompts: Vec<ListedPrompt>,
    pub models: Vec<ListedModel>,
    cells: HashMap<(PromptId, ModelKey), SlotStatus>,
}

/// A prompt and a model: the build in force, or else the state of the latest job for one.
#[derive(Clone, Debug, PartialEq)]
pub enum SlotStatus {
    Missing,
    Ready { build: Uuid, block_count: i32, job: Option<Uuid> },
    Job(LatestJob),
}

#[derive(Clone, Debug, PartialEq)]
pub struct LatestJob {
    pub id: Uuid,
    pub state: JobState,
    pub started_at: Option<OffsetDateTime>,
    /// Without interrupted ones, which count for nobody.
    pub attempts: i32,
    pub chars: i64,
    pub note: Option<String>,
    /// Whether it is asked for in a batch.
    pub batched: bool,
    /// When the batch was submitted that it is part of.
    pub batch_submitted_at: Option<OffsetDateTime>,
    pub error_code: Option<String>,
    pub error: Option<String>,
    /// Whether seeding may ask again.
    pub retry_allowed: bool,
}

/// The latest job for a slot.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotJob {
    pub id: Uuid,
    pub slot: BuildSlot,
}

/// What seeding works on: active prompts, and enabled models that can generate builds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoverageSummary {
    pub prompts: usize,
    pub models: usize,
    pub expected: usize,
    pub existing: usize,
    pub failed: usize,
    pub cancelled: usize,
    /// How many of the failed ones have failed for each reason, by its code.
    pub failures: BTreeMap<String, usize>,
    /// The jobs that are queued or running, prompt by prompt, without those that are asked for in batches.
    pub under_way: Vec<SlotJob>,
    /// The jobs that are asked for in batches. Nobody waits for them, since that may take a day.
    pub in_batches: Vec<SlotJob>,
    /// Missing builds to ask for, prompt by prompt, so that there is soon something to compare.
    pub open: Vec<BuildSlot>,
}

impl Coverage {
    pub async fn read(connection: &mut PgConnection, settings: &Settings) -> sqlx::Result<Self> {
        let prompts = catalog::prompts(&mut *connection).await?;
        let models = catalog::models(&mut *connection).await?;
        let cells = cells(connection, settings).await?;
        Ok(Self { settings: settings.clone(), prompts, models, cells })
    }

    pub fn cell(&self, prompt: &PromptId, model: &ModelKey) -> &SlotStatus {
        self.cells.get(&(prompt.clone(), model.clone())).unwrap_or(&SlotStatus::Missing)
    }

    /// Jobs that are queued or running, including those of disabled models and prompts, which cost as much as others.
    pub fn under_way(&self) -> usize {
        let is_under_way = |cell: &&SlotStatus| {
            matches!(cell, SlotStatus::Job(LatestJob { state: JobState::Queued | JobState::Running, .. }))
        };
        self.cells.values().filter(is_under_way).count()
    }

    /// `can_generate` tells whether a model can generate builds here.
    pub fn summary(
        &self,
        selection: &SlotSelection,
        can_generate: impl Fn(&Model) -> bool,
    ) -> CoverageSummary {
        let is_askable = |listed: &&ListedModel| {
            listed.enabled && selection.includes_model(&listed.model.key) && can_generate(&listed.model)
        };
        let models: Vec<_> = self.models.iter().filter(is_askable).collect();
        let is_wanted = |listed: &&ListedPrompt| listed.active && selection.includes_prompt(&listed.prompt);
        let prompts: Vec<_> = self.prompts.iter().filter(is_wanted).collect();
        let mut sum = CoverageSummary {
            prompts: prompts.len(),
            models: models.len(),
            expected: prompts.len() * models.len(),
            ..CoverageSummary::default()
        };
        for prompt in &prompts {
            for model in &models {
                let (prompt, model) = (&prompt.prompt.id, &model.model.key);
                sum.add(self.cell(prompt, model), || self.slot(prompt, model));
            }
        }
        sum
    }

    /// The latest jobs of selected slots that failed or were cancelled, and whose build is missing. With `reasons`, only
    /// those that ended for one of them.
    pub fn failed_jobs(&self, selection: &SlotSelection, reasons: &[String]) -> Vec<SlotJob> {
        let prompts = self.prompts.iter().filter(|listed| selection.includes_prompt(&listed.prompt));
        let slots = prompts.flat_map(|prompt| {
            let models = self.models.iter().map(|listed| &listed.model.key);
            models
                .filter(|model| selection.includes_model(model))
                .map(move |model| (&prompt.prompt.id, model))
        });
        let failed = slots.filter_map(|(prompt, model)| {
            let SlotStatus::Job(latest) = self.cell(prompt, model) else { return None };
            let has_failed = matches!(latest.state, JobState::Failed | JobState::Cancelled);
            let is_meant =
                reasons.is_empty() || latest.error_code.as_ref().is_some_and(|code| reasons.contains(code));
            (has_failed && is_meant).then(|| SlotJob { id: latest.id, slot: self.slot(prompt, model) })
        });
        failed.collect()
    }

    /// Counts the failed jobs of a selection as missing builds again, as [`super::jobs::allow_retry`] does in the
    /// database, and returns them.
    pub fn allow_retries(&mut self, selection: &SlotSelection, reasons: Option<&[String]>) -> Vec<SlotJob> {
        let Some(reasons) = reasons else { return Vec::new() };
        let failed = self.failed_jobs(selection, reasons);
        for SlotJob { slot, .. } in &failed {
            let cell = self.cells.get_mut(&(slot.prompt.clone(), slot.model.clone()));
            if let Some(SlotStatus::Job(latest)) = cell {
                latest.retry_allowed = true;
            }
        }
        failed
    }

    fn slot(&self, prompt: &PromptId, model: &ModelKey) -> BuildSlot {
        BuildSlot { prompt: prompt.clone(), model: model.clone(), settings: self.settings.clone() }
    }
}

impl CoverageSummary {
    pub fn remaining(&self) -> usize {
        self.expected - self.existing
    }

    /// Whether nothing is under way and nothing is left to ask for, apart from batches.
    pub fn is_done(&self) -> bool {
        self.open.is_empty() && self.under_way.is_empty()
    }

    fn add(&mut self, cell: &SlotStatus, slot: impl Fn() -> BuildSlot) {
        match cell {
            SlotStatus::Ready { .. } => self.existing += 1,
            SlotStatus::Missing => self.open.push(slot()),
            SlotStatus::Job(latest) => match latest.state {
                JobState::Queued | JobState::Running => {
                    let jobs = if latest.batched { &mut self.in_batches } else { &mut self.under_way };
                    jobs.push(SlotJob { id: latest.id, slot: slot() });
                }
                _ if latest.retry_allowed => self.open.push(slot()),
                JobState::Failed => {
                    self.failed += 1;
                    let reason = latest.error_code.clone().unwrap_or_default();
                    *self.failures.entry(reason).or_default() += 1;
                }
                JobState::Cancelled => self.cancelled += 1,
                // A ready job without a build in force: its build was retired.
                JobState::Ready => self.open.push(slot()),
            },
        }
    }
}

async fn cells(
    connection: &mut PgConnection,
    settings: &Settings,
) -> sqlx::Result<HashMap<(PromptId, ModelKey), SlotStatus>> {
    let rows = sqlx::query!(
        r#"
        WITH latest AS (
            SELECT DISTINCT ON (prompt_id, model_key)
                id, prompt_id, model_key, state, started_at, chars, note, batched, batch_id, error_code,
                error, forgiven
            FROM build_jobs
            JOIN jobs ON id = job_id
            WHERE settings = $1
            ORDER BY prompt_id, model_key, wanted_at DESC, id DESC
        ), in_force AS (
            SELECT id, prompt_id, model_key, block_count
            FROM builds
            WHERE settings = $1 AND retired_at IS NULL
        )
        SELECT
            coalesce(in_force.prompt_id, latest.prompt_id) AS "prompt!: PromptId",
            coalesce(in_force.model_key, latest.model_key) AS "model!: ModelKey",
            in_force.id AS "build?", in_force.block_count AS "block_count?",
            latest.id AS "job?", latest.state AS "state?: JobState", latest.started_at,
            (
                SELECT count(*)::integer
                FROM attempts
                WHERE job_id = latest.id AND outcome IS DISTINCT FROM 'interrupted'
            ) AS attempts,
            latest.chars AS "chars?", latest.note, latest.batched AS "batched?",
            (
                SELECT submitting_at
                FROM batches
                WHERE batches.id = latest.batch_id AND batches.state IN ('submitted', 'collecting')
            ) AS batch_submitted_at,
            latest.error_code, latest.error, latest.forgiven AS "forgiven?"
        FROM in_force
        FULL JOIN latest
            ON latest.prompt_id = in_force.prompt_id AND latest.model_key = in_force.model_key
        "#,
        settings as _,
    )
    .fetch_all(connection)
    .await?;
    let mut cells = HashMap::new();
    for row in rows {
        let cell = match (row.build, row.job.zip(row.state)) {
            (Some(build), job) => SlotStatus::Ready {
                build,
                block_count: row.block_count.unwrap_or_default(),
                job: job.map(|(id, _)| id),
            },
            (None, Some((id, state))) => SlotStatus::Job(LatestJob {
                id,
                state,
                started_at: row.started_at,
                attempts: row.attempts.unwrap_or_default(),
                chars: row.chars.unwrap_or_default(),
                note: row.note,
                batched: row.batched.unwrap_or_default(),
                batch_submitted_at: row.batch_submitted_at,
                error_code: row.error_code,
                error: row.error,
                retry_allowed: row.forgiven.unwrap_or_default(),
            }),
            (None, None) => continue,
        };
        cells.insert((row.prompt, row.model), cell);
    }
    Ok(cells)
}
