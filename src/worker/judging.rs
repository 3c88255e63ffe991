//! Judging: queues jobs in which a vision model judges builds, as seeding queues those that make builds.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Worker;
use super::estimate::Estimate;
use super::job::JudgeTask;
use crate::arena::audit::{self, Admin};
use crate::arena::catalog::{self, ListedModel, Model};
use crate::arena::coverage::{Coverage, SlotSelection, UnknownInSelection};
use crate::arena::jobs;
use crate::arena::jobs::judgements::{self, JudgeSelection, JudgeTarget, JudgedBuilds, TargetState};
use crate::arena::{ModelKey, PromptId};
use crate::generate::Usage;
use crate::generate::cost::{MicroDollars, cost, picture_tokens};
use crate::judge_views::{JUDGE_VIEW_SIZE, JUDGE_VIEWS};

/// Jobs are queued by one call at a time.
const LOCK: i64 = 0x6a75_6467_0000_0000;

/// English has about so many characters in a token.
const CHARS_PER_TOKEN: usize = 4;

/// What a judge writes, with some thinking before it, as long as nothing is known of the model.
const TYPICAL_ANSWER_TOKENS: u64 = 1_500;

/// What to judge, and by whom.
#[derive(Clone, Debug)]
pub struct JudgeRequest {
    pub judge: ModelKey,
    /// Pairs of builds that voters have voted on, each in both orders, instead of single builds.
    pub pairwise: bool,
    /// An empty list stands for all.
    pub prompts: Vec<PromptId>,
    /// Who made the builds. An empty list stands for all.
    pub makers: Vec<ModelKey>,
    /// Only this build, or this pair in this order.
    pub only: Option<JudgedBuilds>,
    /// At most so many builds or pairs, with those that are under way already.
    pub limit: Option<usize>,
    /// Whether those whose jobs failed or were cancelled are asked about again.
    pub retry_failed: bool,
    /// Reports what would be done without doing it.
    pub dry_run: bool,
}

/// What was queued or would be, and how far the judge is.
#[derive(Clone, Debug)]
pub struct JudgingSummary {
    pub judge: ModelKey,
    pub pairwise: bool,
    /// Builds, or pairs in one order, that the judge could be asked about.
    pub targets: usize,
    pub judged: usize,
    pub failed: usize,
    /// Neither judged, nor failed, nor under way.
    pub open: usize,
    /// Jobs that were queued now, or were under way already and are counted towards the limit.
    pub jobs: Vec<Uuid>,
    /// What a dry run would have queued.
    pub next: Vec<JudgeTarget>,
    pub estimate: Option<JudgingEstimate>,
}

/// What one question takes, and what all of them may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgingEstimate {
    pub pictures: usize,
    pub picture_tokens: u64,
    pub text_tokens: u64,
    pub answer_tokens: u64,
    /// Of all questions.
    pub total: Estimate,
}

/// Why nothing is judged.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    #[error("The model {0} does not exist.")]
    NoModel(ModelKey),
    #[error(
        "{0} does not see pictures, so it cannot judge builds. Judges are models with vision = true in models.toml."
    )]
    NoVision(String),
    #[error("{0} is disabled.")]
    Disabled(String),
    #[error("{0} cannot be asked: no provider of it has a key.")]
    NoProvider(String),
    #[error(transparent)]
    Unknown(#[from] UnknownInSelection),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl Worker {
    /// Queues what the judge has not judged yet. Jobs that are under way already come first, so that a caller who repeats
    /// a request that was interrupted gets the same jobs, and a limit holds over both.
    pub async fn judge(&self, admin: Admin, request: JudgeRequest) -> Result<JudgingSummary, JudgeError> {
        let model = self.find_judge(&request.judge).await?;
        let mut transaction = self.pool.begin().await?;
        if !request.dry_run {
            sqlx::query!("SELECT pg_advisory_xact_lock($1)", LOCK).execute(&mut *transaction).await?;
        }
        let named = SlotSelection {
            models: request.makers.clone(),
            prompts: request.prompts.clone(),
            tags: Vec::new(),
        };
        named.check(&Coverage::read(&mut transaction, &self.config.arena).await?)?;
        let selection = request.selection(&self.config.arena);
        let mut found = judgements::targets(&mut transaction, &selection).await?;
        found.retain(|target| request.only.is_none_or(|only| only == target.builds));
        let count = |is: fn(&TargetState) -> bool| found.iter().filter(|target| is(&target.state)).count();
        let mut summary = JudgingSummary {
            judge: request.judge.clone(),
            pairwise: request.pairwise,
            targets: found.len(),
            judged: count(|state| *state == TargetState::Judged),
            failed: count(|state| matches!(state, TargetState::Failed(_))),
            open: count(|state| *state == TargetState::Open),
            jobs: Vec::new(),
            next: Vec::new(),
            estimate: None,
        };
        let (under_way, next) = request.split(found);
        if request.dry_run {
            summary.estimate = Some(self.judging_estimate(&mut transaction, &model, &request, &next).await?);
            summary.next = next;
            transaction.rollback().await?;
            return Ok(summary);
        }
        let retried: Vec<_> = next.iter().filter_map(|target| target.state.failed_job()).collect();
        jobs::allow_retry(&mut transaction, &retried).await?;
        let builds: Vec<_> = next.iter().map(|target| target.builds).collect();
        let queued =
            judgements::enqueue_judging(&mut transaction, &request.judge, &selection.criteria, &builds)
                .await?;
        let detail = request.audit_detail(queued.len());
        audit::record(&mut transaction, admin, "judge", request.judge.as_str(), detail).await?;
        transaction.commit().await?;
        self.wake();
        summary.jobs = under_way.into_iter().chain(queued).collect();
        Ok(summary)
    }

    async fn find_judge(&self, key: &ModelKey) -> Result<Model, JudgeError> {
        let models = catalog::models(&self.pool).await?;
        let listed = models.into_iter().find(|listed| listed.model.key == *key);
        let Some(ListedModel { model, enabled, .. }) = listed else {
            return Err(JudgeError::NoModel(key.clone()));
        };
        let name = model.display_name.clone();
        if !model.vision {
            Err(JudgeError::NoVision(name))
        } else if !enabled {
            Err(JudgeError::Disabled(name))
        } else if !self.providers().can_generate(&model) {
            Err(JudgeError::NoProvider(name))
        } else {
            Ok(model)
        }
    }

    /// As much as judging has cost the model before, or else what follows from the size of a question.
    async fn judging_estimate(
        &self,
        connection: &mut PgConnection,
        judge: &Model,
        request: &JudgeRequest,
        next: &[JudgeTarget],
    ) -> sqlx::Result<JudgingEstimate> {
        let providers = self.providers();
        let route = providers.route(judge).map(|(key, _)| key);
        let kind = providers.known().iter().find(|known| Some(known.key.as_str()) == route);
        let size = u32::from(JUDGE_VIEW_SIZE);
        let each = kind.map_or(0, |known| picture_tokens(known.kind, size, size));
        let pictures = if request.pairwise { 2 * JUDGE_VIEWS } else { JUDGE_VIEWS };
        let longest = next.iter().map(|target| target.prompt_text.as_str()).max_by_key(|text| text.len());
        let text = JudgeTask::question_chars(longest.unwrap_or_default(), request.pairwise);
        let mut estimate = JudgingEstimate {
            pictures,
            picture_tokens: each * pictures as u64,
            text_tokens: (text / CHARS_PER_TOKEN) as u64,
            answer_tokens: TYPICAL_ANSWER_TOKENS,
            total: Estimate::default(),
        };
        let usage = Usage {
            input: Some(estimate.picture_tokens + estimate.text_tokens),
            output: Some(estimate.answer_tokens),
            ..Usage::default()
        };
        let known =
            judgements::typical_cost(connection, &judge.key, request.pairwise).await?.map(MicroDollars);
        match known.or_else(|| cost(judge.prices, &usage)) {
            Some(each) => estimate.total.cost = MicroDollars(each.0.saturating_mul(next.len() as u64)),
            None => estimate.total.unknown = next.len(),
        }
        Ok(estimate)
    }
}

impl JudgeRequest {
    fn selection(&self, settings: &crate::arena::Settings) -> JudgeSelection {
        JudgeSelection {
            judge: self.judge.clone(),
            criteria: JudgeTask::criteria_digest(self.pairwise),
            pairwise: self.pairwise,
            prompts: self.prompts.clone(),
            makers: self.makers.clone(),
            settings: settings.clone(),
        }
    }

    /// The jobs under way, and what is to be queued beside them. The limit is of builds or of pairs; the two orders of a
    /// pair are not torn apart.
    fn split(&self, found: Vec<JudgeTarget>) -> (Vec<Uuid>, Vec<JudgeTarget>) {
        let limit = self.limit.unwrap_or(usize::MAX);
        let mut counted = BTreeSet::new();
        let mut fits = |builds: JudgedBuilds| {
            let (first, second) = (builds.first(), builds.second().unwrap_or_default());
            let unordered = (first.min(second), first.max(second));
            counted.contains(&unordered) || (counted.len() < limit && counted.insert(unordered))
        };
        let mut under_way: Vec<_> =
            found.iter().filter_map(|target| Some((target.state.job_under_way()?, target.builds))).collect();
        // Ids are in the order in which jobs were queued.
        under_way.sort_unstable_by_key(|(job, _)| *job);
        let jobs = under_way.into_iter().filter(|(_, builds)| fits(*builds)).map(|(job, _)| job).collect();
        let is_next = |target: &JudgeTarget| match target.state {
            TargetState::Open => true,
            TargetState::Failed(_) => self.retry_failed,
            TargetState::UnderWay(_) | TargetState::Judged => false,
        };
        let next = found.into_iter().filter(|target| is_next(target) && fits(target.builds)).collect();
        (jobs, next)
    }

    fn audit_detail(&self, jobs: usize) -> Value {
        json!({
            "jobs": jobs,
            "what": if self.pairwise { "pairs" } else { "builds" },
            "prompts": self.prompts,
            "of": self.makers,
            "builds": self.only.map(|only| [Some(only.first()), only.second()]),
            "limit": self.limit,
            "retryFailed": self.retry_failed,
        })
    }
}

impl TargetState {
    fn job_under_way(self) -> Option<Uuid> {
        match self {
            Self::UnderWay(job) => Some(job),
            _ => None,
        }
    }

    fn failed_job(self) -> Option<Uuid> {
        match self {
            Self::Failed(job) => Some(job),
            _ => None,
        }
    }
}
