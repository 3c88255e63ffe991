//! Coverage: which builds exist at some settings, which are missing, and the state of their jobs.

use std::collections::HashMap;

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

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
    pub error_code: Option<String>,
    pub error: Option<String>,
    /// Whether seeding may ask again.
    pub retry_allowed: bool,
}

/// What seeding works on: active prompts, and enabled models that can generate builds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoverageSummary {
    pub prompts: usize,
    pub models: usize,
    /// Those models, by their keys.
    pub askable: Vec<String>,
    pub expected: usize,
    pub existing: usize,
    pub failed: usize,
    pub cancelled: usize,
    pub under_way: usize,
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
    pub fn summary(&self, can_generate: impl Fn(&Model) -> bool) -> CoverageSummary {
        let models: Vec<_> =
            self.models.iter().filter(|listed| listed.enabled && can_generate(&listed.model)).collect();
        let prompts: Vec<_> = self.prompts.iter().filter(|listed| listed.active).collect();
        let mut sum = CoverageSummary {
            prompts: prompts.len(),
            models: models.len(),
            askable: models.iter().map(|listed| listed.model.key.to_string()).collect(),
            expected: prompts.len() * models.len(),
            ..CoverageSummary::default()
        };
        for prompt in &prompts {
            for model in &models {
                let (prompt, model) = (&prompt.prompt.id, &model.model.key);
                let slot = || BuildSlot {
                    prompt: prompt.clone(),
                    model: model.clone(),
                    settings: self.settings.clone(),
                };
                sum.add(self.cell(prompt, model), slot);
            }
        }
        sum
    }
}

impl CoverageSummary {
    pub fn remaining(&self) -> usize {
        self.expected - self.existing
    }

    /// Whether nothing is under way and nothing is left to ask for.
    pub fn is_done(&self) -> bool {
        self.open.is_empty() && self.under_way == 0
    }

    fn add(&mut self, cell: &SlotStatus, slot: impl Fn() -> BuildSlot) {
        match cell {
            SlotStatus::Ready { .. } => self.existing += 1,
            SlotStatus::Missing => self.open.push(slot()),
            SlotStatus::Job(latest) => match latest.state {
                JobState::Queued | JobState::Running => self.under_way += 1,
                _ if latest.retry_allowed => self.open.push(slot()),
                JobState::Failed => self.failed += 1,
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
                id, prompt_id, model_key, state, started_at, chars, note, error_code, error, forgiven
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
            latest.chars AS "chars?", latest.note, latest.error_code, latest.error, latest.forgiven AS "forgiven?"
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
