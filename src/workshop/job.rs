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

use super::{LEASE, Workshop};
use crate::arena::builds::{GenerationInfo, PackedBuild};
use crate::arena::catalog::{Model, Prices};
use crate::arena::jobs::attempts::{self, FinishedAttempt, StoredOutcome, Tokens};
use crate::arena::jobs::claims::{ClaimedJob, JobFailure};
use crate::arena::jobs::{AnswerProgress, Lease, LeaseError};
use crate::generate::attempts::{Attempt, Commission, Earlier, Listener, Look, Made, NotMade, Reason};
use crate::generate::{self, Delta, Usage};
use crate::work::{WorkClient, WorkPool};

/// Between signs of life.
const BEAT: Duration = Duration::from_secs(3);

/// How long what was paid for is kept in hand while the database does not take it. The fence sees to it that
/// nobody is in the way.
const PERSISTENCE: Duration = Duration::from_secs(10 * 60);

/// What the last statement of a job takes to come back.
const MOMENT: Duration = Duration::from_millis(500);

/// What a job may still do once the server is to stop.
const LAST_WORDS: Duration = Duration::from_secs(2);

pub(super) async fn work(workshop: &Workshop, claim: &ClaimedJob, model: &Model, stop: &CancellationToken) {
    let lease = &claim.lease;
    tracing::info!(provider = claim.provider, "asking");
    let streamed = Streamed::default();
    let result = {
        let mut at_it = pin!(carry_out(workshop, claim, model, &streamed, stop));
        tokio::select! {
            result = &mut at_it => Some(result),
            lost = keep(workshop, lease, model.prices, &streamed) => {
                // It may be lost because this very work has just ended.
                Some(timeout(MOMENT, at_it).await.unwrap_or(Err(lost)))
            }
            // What has come in whole is about to be stored.
            () = stop.cancelled() => timeout(LAST_WORDS, at_it).await.ok(),
        }
    };
    let result = match result {
        Some(result) => result,
        None => release(workshop, lease, model.prices, &streamed).await,
    };
    match result {
        Ok(()) => workshop.wake(),
        Err(LeaseError::Lost) => {
            tracing::info!("the job has ended, or was taken over");
            if let Err(error) =
                attempts::append_to_cancelled(&workshop.pool, lease.job, &streamed.unstored().progress).await
            {
                tracing::warn!(%error, "the end of a cancelled answer is lost");
            }
        }
        Err(LeaseError::Database(error)) => tracing::error!(%error, "the job is left to others"),
    }
}

/// Leaves the job to others, with all that has streamed in.
async fn release(
    workshop: &Workshop,
    lease: &Lease,
    prices: Option<Prices>,
    streamed: &Streamed,
) -> Result<(), LeaseError> {
    save(workshop, lease, prices, streamed).await?;
    lease.release(&workshop.pool).await
}

/// Asks, and stores what comes of it.
async fn carry_out(
    workshop: &Workshop,
    claim: &ClaimedJob,
    model: &Model,
    streamed: &Streamed,
    stop: &CancellationToken,
) -> Result<(), LeaseError> {
    let (pool, lease) = (&workshop.pool, &claim.lease);
    let commission = match commission(workshop, claim, model).await? {
        Ok(commission) => commission,
        Err(message) => return lease.fail(pool, JobFailure { code: "no_provider", message: &message }).await,
    };
    let mut ledger = Ledger {
        pool: pool.clone(),
        lease: *lease,
        prices: model.prices,
        streamed: streamed.clone(),
        stop: stop.clone(),
    };
    match commission.carry_out(off_thread(&workshop.work), &mut ledger).await {
        Ok(made) => store(workshop, claim, made).await,
        Err(NotMade { reason: Reason::Unheard(error), .. }) => {
            Err(error.downcast().unwrap_or(LeaseError::Database(sqlx::Error::WorkerCrashed)))
        }
        Err(NotMade { reason, attempts, .. }) => {
            let (code, message) = (reason.code(), reason.to_string());
            tracing::info!(code, attempts, "no build: {message}");
            patiently(|| lease.fail(pool, JobFailure { code, message: &message })).await
        }
    }
}

async fn commission(
    workshop: &Workshop,
    claim: &ClaimedJob,
    model: &Model,
) -> Result<Result<Commission, String>, LeaseError> {
    let route = model.routes().find(|(provider, _)| *provider == claim.provider);
    let provider = workshop.providers().get(&claim.provider);
    let Some(((_, name), provider)) = route.zip(provider) else {
        return Ok(Err(format!("{} cannot be asked from here any more.", claim.provider)));
    };
    let earlier = attempts::past_attempts(&workshop.pool, claim.lease.job).await?;
    let limits = &workshop.config.generation;
    let settings = claim.slot.settings.clone();
    let mut commission =
        Commission::new(Arc::clone(provider), name, &claim.prompt_text, settings).with(model.options);
    commission.attempts = limits.attempts;
    commission.max_bytes = limits.answer_max_bytes;
    commission.earlier = Earlier {
        // One that failed without an answer is made again where it was the last allowed.
        attempts: if earlier.answer.is_some() {
            earlier.ended
        } else {
            earlier.ended.min(limits.attempts - 1)
        },
        code: earlier.code,
        answer: earlier.answer.map(|(text, ms)| (text.into(), Duration::from_millis(ms.unsigned_abs()))),
    };
    Ok(Ok(commission))
}

async fn store(workshop: &Workshop, claim: &ClaimedJob, made: Made) -> Result<(), LeaseError> {
    let generation = GenerationInfo {
        attempts: i32::try_from(made.attempts).ok(),
        generation_time_ms: i64::try_from(made.generation_time.as_millis()).ok(),
    };
    let pack = move || PackedBuild::new(&made.build, &made.spec, made.warnings);
    let build = match workshop.work.run(WorkClient::BACKGROUND, pack).await {
        Ok(build) => build,
        Err(lost) => {
            let message =
                format!("The answer could not be packed: {lost}. It is kept, and can be read again.");
            let failed = JobFailure { code: "unread", message: &message };
            return patiently(|| claim.lease.fail(&workshop.pool, failed)).await;
        }
    };
    patiently(|| claim.lease.finish(&workshop.pool, &claim.slot, &build, generation)).await?;
    tracing::info!(blocks = build.block_count, "built");
    Ok(())
}

/// Prolongs the lease for as long as the work goes on. Returns when it is lost.
async fn keep(workshop: &Workshop, lease: &Lease, prices: Option<Prices>, streamed: &Streamed) -> LeaseError {
    loop {
        // Woken early when something was cancelled.
        let _ = timeout(BEAT, workshop.wake.notified()).await;
        if let Err(lost) = save(workshop, lease, prices, streamed).await {
            return lost;
        }
    }
}

/// Prolongs the lease, and stores what has come since the last time.
async fn save(
    workshop: &Workshop,
    lease: &Lease,
    prices: Option<Prices>,
    streamed: &Streamed,
) -> Result<(), LeaseError> {
    let (pool, Inflow { progress, used }) = (&workshop.pool, streamed.unstored());
    patiently(|| lease.renew(pool, LEASE, &progress)).await?;
    streamed.are_stored(&progress);
    let Some(used) = used else { return Ok(()) };
    patiently(|| attempts::record_usage(pool, lease, progress.attempt, tokens(&used), cost(prices, &used)))
        .await?;
    streamed.with(|inflow| inflow.used.take_if(|now| *now == used));
    Ok(())
}

/// Does it again for a while when the database cannot be reached: an answer may be worth a lot.
async fn patiently<T, F>(work: impl Fn() -> F) -> Result<T, LeaseError>
where
    F: Future<Output = Result<T, LeaseError>>,
{
    let insist = async {
        let mut pause = Duration::from_millis(200);
        loop {
            match work().await {
                Err(LeaseError::Database(error)) if will_pass(&error) => {
                    tracing::warn!(%error, "the database did not take it; trying again");
                    sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(5));
                }
                done => return done,
            }
        }
    };
    timeout(PERSISTENCE, insist).await.unwrap_or(Err(LeaseError::Database(sqlx::Error::PoolTimedOut)))
}

/// Anything but a mistake of ours: data that does not fit, a rule that is broken, a query that is wrong.
fn will_pass(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    let is_ours = matches!(error, sqlx::Error::Decode(_) | sqlx::Error::Encode(_) | sqlx::Error::RowNotFound);
    !is_ours && code.is_none_or(|code| !["22", "23", "42"].contains(&&code[..2.min(code.len())]))
}

fn off_thread(
    work: &WorkPool,
) -> impl Fn(
    Look,
) -> BoxFuture<
    'static,
    anyhow::Result<Result<generate::attempts::Build, generate::prompting::RejectedAnswer>>,
> {
    let work = work.clone();
    move |look| {
        let work = work.clone();
        Box::pin(async move { Ok(work.run(WorkClient::BACKGROUND, look).await?) })
    }
}

/// What has streamed in and is not known to be stored.
#[derive(Clone, Default)]
struct Streamed(Arc<Mutex<Inflow>>);

#[derive(Default)]
struct Inflow {
    progress: AnswerProgress,
    used: Option<Usage>,
}

impl Streamed {
    fn with<T>(&self, change: impl FnOnce(&mut Inflow) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn unstored(&self) -> Inflow {
        self.with(|Inflow { progress, used }| Inflow { progress: progress.clone(), used: *used })
    }

    /// More may have come since, and another attempt may have begun.
    fn are_stored(&self, stored: &AnswerProgress) {
        self.with(|Inflow { progress, .. }| {
            if progress.attempt == stored.attempt {
                progress.text.drain(..stored.text.len());
                progress.offset =
                    progress.offset.saturating_add(i32::try_from(stored.text.len()).unwrap_or(i32::MAX));
            }
        });
    }
}

/// Puts attempts away.
struct Ledger {
    pool: PgPool,
    lease: Lease,
    prices: Option<Prices>,
    streamed: Streamed,
    stop: CancellationToken,
}

impl Listener for Ledger {
    fn begins(&mut self, _: u32) -> BoxFuture<'_, anyhow::Result<()>> {
        Box::pin(async move {
            // It would be cut off as soon as it has begun to cost something.
            if self.stop.is_cancelled() {
                pending::<()>().await;
            }
            let number = patiently(|| attempts::begin(&self.pool, &self.lease)).await?;
            let progress = AnswerProgress { attempt: number, ..AnswerProgress::default() };
            self.streamed.with(|inflow| *inflow = Inflow { progress, used: None });
            Ok(())
        })
    }

    fn delta(&mut self, _: u32, delta: Delta<'_>) {
        self.streamed.with(|Inflow { progress, used }| match delta {
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

    fn ended<'a>(&'a mut self, attempt: &'a Attempt) -> BoxFuture<'a, anyhow::Result<()>> {
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
            Ok(patiently(|| attempts::end(&self.pool, &self.lease, &ended)).await?)
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
