//! How each step of a batch is written down, and how a job leaves its batch.

use sqlx::types::Json;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use uuid::Uuid;

use super::super::attempts::{self, Attempt, AttemptCost};
use super::super::lease::{self, without_nul};
use super::super::pauses::MAX_SETBACKS;
use super::super::{JobState, claims, pauses};
use super::{BatchLeaseError, ClaimedBatch, LeavingJob, Submission, SubmissionPermit, hurry_abandoned};
use crate::arena::budgets::{Budget, Budgets, SpendingLimits};
use crate::arena::catalog::{self, Model};

/// The seconds before a batch is looked at for the first, the second and every later time.
const POLL_SECONDS: [i64; 3] = [60, 120, 300];

impl ClaimedBatch {
    /// The providers' ids of the other batches at the same provider that were submitted at about the same time.
    pub async fn others(&self, pool: &PgPool) -> sqlx::Result<Vec<String>> {
        sqlx::query_scalar!(
            r#"
            SELECT remote_id AS "remote_id!"
            FROM batches
            WHERE provider = $1 AND id <> $2 AND remote_id IS NOT NULL
              AND submitting_at > $3::timestamptz - interval '1 day'
            "#,
            self.provider,
            self.id,
            self.submitting_at,
        )
        .fetch_all(pool)
        .await
    }

    /// Writes down that the batch is about to be submitted, if it may be. From here on its jobs have begun, so the model
    /// is not asked differently unless they are cancelled.
    pub async fn begin_submission(
        &self,
        pool: &PgPool,
        submission: &Submission,
        limits: &SpendingLimits,
    ) -> Result<SubmissionPermit, BatchLeaseError> {
        let mut transaction = pool.begin().await?;
        claims::hold(&mut transaction).await?;
        let model = catalog::find_model(&mut *transaction, &self.model).await?;
        let is_current = |model: Model| model.is_asked_as(&self.provider, &self.model_id, submission.options);
        if !model.is_some_and(is_current) {
            return Ok(SubmissionPermit::ModelChanged);
        }
        let budgets = Budgets::read(&mut transaction, limits).await?;
        if budgets.stop_of(&self.model).is_some_and(Budget::is_used_up) {
            return Ok(SubmissionPermit::OverBudget);
        }
        sqlx::query!(
            "
            UPDATE jobs
            SET started_at = coalesce(started_at, clock_timestamp())
            WHERE batch_id = $1 AND state = 'queued'
            ",
            self.id,
        )
        .execute(&mut *transaction)
        .await?;
        let (requests, templates): (Vec<_>, Vec<_>) =
            submission.requests.iter().map(|(job, template)| (*job, template.0.to_vec())).unzip();
        let written = sqlx::query!(
            "
            UPDATE batches
            SET state = 'submitting', submitting_at = clock_timestamp(), requests = $3, templates = $4, options = $5,
                sent = $6, notes = $7
            WHERE id = $1 AND fence = $2 AND state IN ('reserved', 'submitting')
            ",
            self.id,
            self.fence,
            &requests,
            &templates,
            Json(submission.options.asked()) as _,
            Json(&submission.sent) as _,
            Json(&submission.notes) as _,
        )
        .execute(&mut *transaction)
        .await?;
        if_written(written.rows_affected())?;
        transaction.commit().await?;
        Ok(SubmissionPermit::Given)
    }

    /// Writes down under which id the provider has the batch. It has accepted one, so its trouble is over if it was in
    /// any.
    pub async fn set_submitted(
        &self,
        pool: &PgPool,
        remote_id: &str,
        is_guess: bool,
    ) -> Result<(), BatchLeaseError> {
        let mut transaction = pool.begin().await?;
        let written = sqlx::query!(
            "
            UPDATE batches
            SET state = 'submitted', remote_id = $3, is_guess = $4, polls = 0, leased_until = NULL,
                next_step_at = clock_timestamp() + $5 * interval '1 second'
            WHERE id = $1 AND fence = $2 AND state = 'submitting'
            ",
            self.id,
            self.fence,
            remote_id,
            is_guess,
            POLL_SECONDS[0] as f64,
        )
        .execute(&mut *transaction)
        .await?;
        if_written(written.rows_affected())?;
        pauses::end_after_batch(&mut transaction, &self.provider).await?;
        hurry_abandoned(&mut transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    pub async fn begin_collection(&self, pool: &PgPool) -> Result<(), BatchLeaseError> {
        let written = sqlx::query!(
            "
            UPDATE batches
            SET state = 'collecting'
            WHERE id = $1 AND fence = $2 AND state IN ('submitted', 'collecting')
            ",
            self.id,
            self.fence,
        )
        .execute(pool)
        .await?;
        if_written(written.rows_affected())
    }

    /// Leaves the batch as it is until it is looked at again.
    pub async fn wait(&self, pool: &PgPool) -> Result<(), BatchLeaseError> {
        let written = sqlx::query!(
            "
            UPDATE batches
            SET polls = polls + 1, leased_until = NULL,
                next_step_at = clock_timestamp()
                    + ($3::bigint[])[least(polls + 2, cardinality($3::bigint[]))] * interval '1 second'
            WHERE id = $1 AND fence = $2 AND state <> 'ended'
            ",
            self.id,
            self.fence,
            &POLL_SECONDS as &[i64],
        )
        .execute(pool)
        .await?;
        if_written(written.rows_affected())
    }

    pub async fn end(&self, pool: &PgPool, outcome: &str, message: &str) -> Result<(), BatchLeaseError> {
        let written = sqlx::query!(
            "
            UPDATE batches
            SET state = 'ended', ended_at = clock_timestamp(), leased_until = NULL, outcome = $3, message = $4
            WHERE id = $1 AND fence = $2 AND state <> 'ended'
            ",
            self.id,
            self.fence,
            outcome,
            without_nul(message),
        )
        .execute(pool)
        .await?;
        if_written(written.rows_affected())
    }

    /// Takes a job out of the batch, with the attempt that it was, if any. Returns whether it was part of the batch.
    pub async fn release_job(
        &self,
        pool: &PgPool,
        job: Uuid,
        attempt: Option<(&Attempt, Option<AttemptCost>)>,
        leaving: LeavingJob<'_>,
    ) -> sqlx::Result<bool> {
        let Some(mut transaction) = self.begin_release(pool, job, attempt).await? else { return Ok(false) };
        let (state, failure) = match leaving {
            LeavingJob::Next => (JobState::Queued, None),
            LeavingJob::SetBack(failure) if self.set_back(&mut transaction, job).await? => {
                (JobState::Failed, Some(failure))
            }
            LeavingJob::SetBack(_) => (JobState::Queued, None),
            LeavingJob::Fail(failure) => (JobState::Failed, Some(failure)),
            LeavingJob::Cancel(failure) => (JobState::Cancelled, Some(failure)),
        };
        if state != JobState::Queued {
            lease::end(&mut transaction, job, state, failure).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Leaves a job to a worker, who needs no request to end it.
    pub async fn release_to_worker(&self, pool: &PgPool, job: Uuid) -> sqlx::Result<()> {
        sqlx::query!(
            "
            UPDATE jobs
            SET batch_id = NULL, batched = false
            WHERE id = $1 AND batch_id = $2 AND state = 'queued'
            ",
            job,
            self.id,
        )
        .execute(pool)
        .await?;
        Ok(())
    }

    /// Begins a transaction in which a job is locked and not part of the batch any more. None if it was not before.
    pub(in crate::arena::jobs) async fn begin_release(
        &self,
        pool: &PgPool,
        job: Uuid,
        attempt: Option<(&Attempt, Option<AttemptCost>)>,
    ) -> sqlx::Result<Option<Transaction<'static, Postgres>>> {
        let mut transaction = pool.begin().await?;
        let released = sqlx::query!(
            "
            UPDATE jobs
            SET batch_id = NULL, started_at = coalesce(started_at, $3)
            WHERE id = $1 AND batch_id = $2 AND state = 'queued'
            ",
            job,
            self.id,
            self.submitting_at,
        )
        .execute(&mut *transaction)
        .await?;
        if released.rows_affected() == 0 {
            return Ok(None);
        }
        if let Some((attempt, cost)) = attempt {
            attempts::add_ended(&mut transaction, job, self.id, attempt, cost).await?;
        }
        Ok(Some(transaction))
    }

    /// Counts a setback, and returns whether that was one too many.
    async fn set_back(&self, connection: &mut PgConnection, job: Uuid) -> sqlx::Result<bool> {
        let setbacks = sqlx::query_scalar!(
            "UPDATE jobs SET setbacks = setbacks + 1 WHERE id = $1 RETURNING setbacks",
            job
        )
        .fetch_one(connection)
        .await?;
        Ok(setbacks > MAX_SETBACKS)
    }
}

fn if_written(rows: u64) -> Result<(), BatchLeaseError> {
    if rows == 0 { Err(BatchLeaseError::Lost) } else { Ok(()) }
}
