//! One job, from its claim to its end.

use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::json;
use sqlx::PgPool;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{LEASE, Worker};
use crate::arena::builds::{GenerationInfo, PackedBuild};
use crate::arena::catalog::{Model, Prices};
use crate::arena::jobs::attempts::{self, FinishedAttempt, StoredOutcome, Tokens};
use crate::arena::jobs::{AnswerProgress, ClaimedBuild, JobFailure, Lease, LeaseError};
use crate::generate::attempts::{
    Attempt, AttemptListener, BuildFailure, BuildRequest, Check, FailureReason, GeneratedBuild, PriorAttempts,
};
use crate::generate::{self, Delta, Usage};
use crate::work::{WorkClient, WorkPool};

/// Between signs of life.
const HEARTBEAT: Duration = Duration::from_secs(3);

/// How long what was paid for is kept in hand while the database does not take it. The fence sees to it that
/// nobody is in the way.
const STORE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// What the last statement of a job takes to come back.
const FINISH_GRACE: Duration = Duration::from_millis(500);

/// What a job may still do once the server is to stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

pub(super) async fn run_job(worker: &Worker, claim: &ClaimedBuild, model: &Model, stop: &CancellationToken) {
    let lease = &claim.lease;
    tracing::info!(provider = claim.provider, "asking");
    let buffer = StreamBuffer::default();
    let result = {
        let mut running = pin!(generate_and_store(worker, claim, model, &buffer, stop));
        tokio::select! {
            result = &mut running => Some(result),
            lost = keep_lease(worker, lease, model.prices, &buffer) => {
                // It may be lost because this very work has just ended.
                Some(timeout(FINISH_GRACE, running).await.unwrap_or(Err(lost)))
            }
            // What has come in whole is about to be stored.
            () = stop.cancelled() => timeout(SHUTDOWN_GRACE, running).await.ok(),
        }
    };
    let result = match result {
        Some(result) => result,
        None => release(worker, lease, model.prices, &buffer).await,
    };
    match result {
        Ok(()) => worker.wake(),
        Err(LeaseError::Lost) => {
            tracing::info!("the job has ended, or was taken over");
            if let Err(error) =
                attempts::append_to_cancelled(&worker.pool, lease.job, &buffer.snapshot().progress).await
            {
                tracing::warn!(%error, "the end of a cancelled answer is lost");
            }
        }
        Err(LeaseError::Database(error)) => tracing::error!(%error, "the job is left to others"),
    }
}

/// Leaves the job to others, with all that has streamed in.
async fn release(
    worker: &Worker,
    lease: &Lease,
    prices: Option<Prices>,
    buffer: &StreamBuffer,
) -> Result<(), LeaseError> {
    renew_lease(worker, lease, prices, buffer).await?;
    lease.release(&worker.pool).await
}

/// Asks, and stores what comes of it.
async fn generate_and_store(
    worker: &Worker,
    claim: &ClaimedBuild,
    model: &Model,
    buffer: &StreamBuffer,
    stop: &CancellationToken,
) -> Result<(), LeaseError> {
    let (pool, lease) = (&worker.pool, &claim.lease);
    let build_request = match build_request(worker, claim, model).await? {
        Ok(build_request) => build_request,
        Err(message) => return lease.fail(pool, JobFailure { code: "no_provider", message: &message }).await,
    };
    let mut recorder = AttemptRecorder {
        pool: pool.clone(),
        lease: *lease,
        prices: model.prices,
        buffer: buffer.clone(),
        stop: stop.clone(),
    };
    match build_request.run(off_thread(&worker.work), &mut recorder).await {
        Ok(generated) => store(worker, claim, generated).await,
        Err(BuildFailure { reason: FailureReason::ListenerFailed(error), .. }) => {
            Err(error.downcast().unwrap_or(LeaseError::Database(sqlx::Error::WorkerCrashed)))
        }
        Err(BuildFailure { reason, attempts, .. }) => {
            let (code, message) = (reason.code(), reason.to_string());
            tracing::info!(code, attempts, "no build: {message}");
            with_retries(|| lease.fail(pool, JobFailure { code, message: &message })).await
        }
    }
}

async fn build_request(
    worker: &Worker,
    claim: &ClaimedBuild,
    model: &Model,
) -> Result<Result<BuildRequest, String>, LeaseError> {
    let route = model.routes().find(|(provider, _)| *provider == claim.provider);
    let provider = worker.providers().get(&claim.provider);
    let Some(((_, name), provider)) = route.zip(provider) else {
        return Ok(Err(format!("{} cannot be asked from here any more.", claim.provider)));
    };
    let earlier = attempts::past_attempts(&worker.pool, claim.lease.job).await?;
    let limits = &worker.config.generation;
    let settings = claim.slot.settings.clone();
    let mut build_request = BuildRequest::new(Arc::clone(provider), name, &claim.prompt_text, settings)
        .with_options(model.options);
    build_request.attempts = limits.attempts;
    build_request.max_bytes = limits.answer_max_bytes;
    build_request.prior = PriorAttempts {
        // One that failed without an answer is made again where it was the last allowed.
        attempts: if earlier.answer.is_some() {
            earlier.ended
        } else {
            earlier.ended.min(limits.attempts - 1)
        },
        code: earlier.code,
        answer: earlier.answer.map(|(text, ms)| (text.into(), Duration::from_millis(ms.unsigned_abs()))),
    };
    Ok(Ok(build_request))
}

async fn store(worker: &Worker, claim: &ClaimedBuild, generated: GeneratedBuild) -> Result<(), LeaseError> {
    let generation = GenerationInfo {
        attempts: i32::try_from(generated.attempts).ok(),
        generation_time_ms: i64::try_from(generated.generation_time.as_millis()).ok(),
    };
    let pack = move || PackedBuild::new(&generated.build, &generated.spec, generated.warnings);
    let build = match worker.work.run(WorkClient::BACKGROUND, pack).await {
        Ok(build) => build,
        Err(lost) => {
            let message =
                format!("The answer could not be packed: {lost}. It is kept, and can be read again.");
            let failed = JobFailure { code: "unread", message: &message };
            return with_retries(|| claim.lease.fail(&worker.pool, failed)).await;
        }
    };
    with_retries(|| claim.finish(&worker.pool, &build, generation)).await?;
    tracing::info!(blocks = build.block_count, "built");
    Ok(())
}

/// Prolongs the lease for as long as the work goes on. Returns when it is lost.
async fn keep_lease(
    worker: &Worker,
    lease: &Lease,
    prices: Option<Prices>,
    buffer: &StreamBuffer,
) -> LeaseError {
    loop {
        // Woken early when something was cancelled.
        let _ = timeout(HEARTBEAT, worker.wake.notified()).await;
        if let Err(lost) = renew_lease(worker, lease, prices, buffer).await {
            return lost;
        }
    }
}

/// Prolongs the lease, and stores what has come since the last time.
async fn renew_lease(
    worker: &Worker,
    lease: &Lease,
    prices: Option<Prices>,
    buffer: &StreamBuffer,
) -> Result<(), LeaseError> {
    let (pool, BufferedProgress { progress, used }) = (&worker.pool, buffer.snapshot());
    with_retries(|| lease.renew(pool, LEASE, &progress)).await?;
    buffer.mark_stored(&progress);
    let Some(used) = used else { return Ok(()) };
    with_retries(|| {
        attempts::record_usage(pool, lease, progress.attempt, tokens(&used), cost(prices, &used))
    })
    .await?;
    buffer.with(|buffered| buffered.used.take_if(|now| *now == used));
    Ok(())
}

/// Does it again for a while when the database cannot be reached: an answer may be worth a lot.
async fn with_retries<T, F>(work: impl Fn() -> F) -> Result<T, LeaseError>
where
    F: Future<Output = Result<T, LeaseError>>,
{
    let retrying = async {
        let mut pause = Duration::from_millis(200);
        loop {
            match work().await {
                Err(LeaseError::Database(error)) if is_transient(&error) => {
                    tracing::warn!(%error, "the database did not take it; trying again");
                    sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(5));
                }
                done => return done,
            }
        }
    };
    timeout(STORE_TIMEOUT, retrying).await.unwrap_or(Err(LeaseError::Database(sqlx::Error::PoolTimedOut)))
}

/// Anything but a mistake of ours: data that does not fit, a rule that is broken, a query that is wrong.
fn is_transient(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    let is_ours = matches!(error, sqlx::Error::Decode(_) | sqlx::Error::Encode(_) | sqlx::Error::RowNotFound);
    !is_ours && code.is_none_or(|code| !["22", "23", "42"].contains(&&code[..2.min(code.len())]))
}

fn off_thread(
    work: &WorkPool,
) -> impl Fn(
    Check,
) -> BoxFuture<
    'static,
    anyhow::Result<Result<generate::attempts::CheckedAnswer, generate::prompting::RejectedAnswer>>,
> {
    let work = work.clone();
    move |check| {
        let work = work.clone();
        Box::pin(async move { Ok(work.run(WorkClient::BACKGROUND, check).await?) })
    }
}

/// What has streamed in and is not known to be stored.
#[derive(Clone, Default)]
struct StreamBuffer(Arc<Mutex<BufferedProgress>>);

#[derive(Default)]
struct BufferedProgress {
    progress: AnswerProgress,
    used: Option<Usage>,
}

impl StreamBuffer {
    fn with<T>(&self, change: impl FnOnce(&mut BufferedProgress) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn snapshot(&self) -> BufferedProgress {
        self.with(|BufferedProgress { progress, used }| BufferedProgress {
            progress: progress.clone(),
            used: *used,
        })
    }

    /// More may have come since, and another attempt may have begun.
    fn mark_stored(&self, stored: &AnswerProgress) {
        self.with(|BufferedProgress { progress, .. }| {
            if progress.attempt == stored.attempt {
                progress.text.drain(..stored.text.len());
                progress.offset =
                    progress.offset.saturating_add(i32::try_from(stored.text.len()).unwrap_or(i32::MAX));
            }
        });
    }
}

/// Puts attempts away.
struct AttemptRecorder {
    pool: PgPool,
    lease: Lease,
    prices: Option<Prices>,
    buffer: StreamBuffer,
    stop: CancellationToken,
}

impl AttemptListener for AttemptRecorder {
    fn on_attempt_start(&mut self, _: u32) -> BoxFuture<'_, anyhow::Result<()>> {
        Box::pin(async move {
            // It would be cut off as soon as it has begun to cost something.
            if self.stop.is_cancelled() {
                pending::<()>().await;
            }
            let number = with_retries(|| attempts::begin(&self.pool, &self.lease)).await?;
            let progress = AnswerProgress { attempt: number, ..AnswerProgress::default() };
            self.buffer.with(|buffered| *buffered = BufferedProgress { progress, used: None });
            Ok(())
        })
    }

    fn on_delta(&mut self, _: u32, delta: Delta<'_>) {
        self.buffer.with(|BufferedProgress { progress, used }| match delta {
            Delta::Text(text) => {
                progress.text.push_str(text);
                progress.chars += text.chars().count() as i64;
                progress.note = None;
            }
            Delta::Sent => progress.note = None,
            Delta::Thinking { .. } => progress.note = Some("thinking".to_owned()),
            Delta::Waiting { reason, seconds, .. } => {
                progress.note = Some(format!("asking again in {seconds:.0} s: {reason}"));
            }
            Delta::Usage(usage) => *used = Some(*usage),
        });
    }

    fn on_attempt_end<'a>(&'a mut self, attempt: &'a Attempt) -> BoxFuture<'a, anyhow::Result<()>> {
        Box::pin(async move {
            let notes = json!(attempt.notes);
            let ended = FinishedAttempt {
                outcome: outcome(&attempt.outcome),
                code: attempt.outcome.code(),
                message: attempt.outcome.message(),
                answer: &attempt.text,
                answer_ms: i64::try_from(attempt.answer_time.as_millis()).unwrap_or(i64::MAX),
                tokens: tokens(&attempt.usage),
                cost: cost(self.prices, &attempt.usage),
                notes,
            };
            Ok(with_retries(|| attempts::end(&self.pool, &self.lease, &ended)).await?)
        })
    }
}

fn outcome(outcome: &generate::attempts::Outcome) -> StoredOutcome {
    use generate::attempts::Outcome as Came;
    match outcome {
        Came::Accepted => StoredOutcome::Accepted,
        Came::Refused(_) => StoredOutcome::Refused,
        Came::Failed { .. } => StoredOutcome::Failed,
        Came::Unread { .. } => StoredOutcome::Unread,
    }
}

/// In millionths of a dollar.
fn cost(prices: Option<Prices>, usage: &Usage) -> Option<i64> {
    i64::try_from(generate::cost::cost(prices?, usage)?.0).ok()
}

fn tokens(usage: &Usage) -> Tokens {
    let known = |tokens: Option<u64>| tokens.and_then(|tokens| i64::try_from(tokens).ok());
    Tokens { input: known(usage.input), output: known(usage.output), reasoning: known(usage.reasoning) }
}
