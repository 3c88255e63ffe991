//! Pauses: nobody asks a provider that is in trouble, and an admin can pause the whole queue.
//!
//! A job that meets trouble which others of its provider would meet too, such as a bad key, goes back to the queue
//! instead of failing, and its provider is paused for all servers. What runs already goes on. When the pause is over,
//! one job at a time probes the provider; a whole answer ends the trouble, and more trouble pauses it for longer.
//!
//! Only the probe can make a pause longer: jobs that were claimed before it meet the same trouble, and say nothing new.

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use super::JobState;
use super::attempts::{self, AbortReason};
use super::lease::{self, JobFailure, Lease, LeaseError, without_nul};

/// The seconds of the first, the second and every later pause in a row.
const PAUSE_SECONDS: [i64; 3] = [60, 5 * 60, 30 * 60];

/// A job that met passing trouble so many times fails when it meets it again. A model that is never answered would
/// otherwise be asked, and perhaps billed, for ever.
pub(super) const MAX_SETBACKS: i32 = 5;

/// Trouble that all jobs of a provider share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum ProviderTrouble {
    BadKey,
    NoCredit,
    RateLimited,
    Overloaded,
    Unreachable,
    /// It sends nothing.
    Stalled,
}

impl ProviderTrouble {
    pub const ALL: [Self; 6] =
        [Self::BadKey, Self::NoCredit, Self::RateLimited, Self::Overloaded, Self::Unreachable, Self::Stalled];

    pub fn code(self) -> &'static str {
        match self {
            Self::BadKey => "bad_key",
            Self::NoCredit => "no_credit",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Unreachable => "unreachable",
            Self::Stalled => "stalled",
        }
    }

    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trouble| trouble.code() == code)
    }

    /// What is wrong with the provider, as the end of a sentence.
    pub fn reason(self) -> &'static str {
        match self {
            Self::BadKey => "it does not accept the API key",
            Self::NoCredit => "the account has no credit left",
            Self::RateLimited => "it gets too many requests",
            Self::Overloaded => "it is overloaded",
            Self::Unreachable => "it cannot be reached",
            Self::Stalled => "it sends nothing",
        }
    }

    /// Whether waiting would not help.
    pub fn needs_admin(self) -> bool {
        matches!(self, Self::BadKey | Self::NoCredit)
    }
}

/// What is paused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// Since when an admin has paused the whole queue.
    pub queue_paused_at: Option<OffsetDateTime>,
    /// By the providers' keys.
    pub providers: Vec<ProviderPause>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderPause {
    pub provider: String,
    pub trouble: ProviderTrouble,
    /// In the provider's words.
    pub message: String,
    pub paused_at: OffsetDateTime,
    pub end: PauseEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseEnd {
    At(OffsetDateTime),
    WhenResumed,
    /// The pause is over, and one job at a time probes the provider.
    Probing,
}

impl Pauses {
    pub async fn read(connection: &mut PgConnection) -> sqlx::Result<Self> {
        let queue_paused_at = sqlx::query_scalar!("SELECT queue_paused_at FROM installation")
            .fetch_one(&mut *connection)
            .await?;
        let rows = sqlx::query!(
            r#"
            SELECT
                provider, trouble AS "trouble: ProviderTrouble", message, paused_at, until,
                coalesce(until <= clock_timestamp(), false) AS "is_over!"
            FROM provider_pauses
            ORDER BY provider
            "#
        )
        .fetch_all(connection)
        .await?;
        let providers = rows.into_iter().map(|row| ProviderPause {
            provider: row.provider,
            trouble: row.trouble,
            message: row.message,
            paused_at: row.paused_at,
            end: match row.until {
                None => PauseEnd::WhenResumed,
                Some(_) if row.is_over => PauseEnd::Probing,
                Some(until) => PauseEnd::At(until),
            },
        });
        Ok(Self { queue_paused_at, providers: providers.collect() })
    }

    pub fn of(&self, provider: &str) -> Option<&ProviderPause> {
        self.providers.iter().find(|pause| pause.provider == provider)
    }

    /// Whether no job of the provider is claimed.
    pub fn stop(&self, provider: &str) -> bool {
        self.queue_paused_at.is_some()
            || self.of(provider).is_some_and(|pause| pause.end != PauseEnd::Probing)
    }

    /// Whether no job of the provider is claimed before an admin says so.
    pub fn need_admin(&self, provider: &str) -> bool {
        self.queue_paused_at.is_some()
            || self.of(provider).is_some_and(|pause| pause.end == PauseEnd::WhenResumed)
    }
}

/// Pauses or resumes the whole queue. Returns whether that changed anything.
pub async fn set_queue_paused(connection: &mut PgConnection, paused: bool) -> sqlx::Result<bool> {
    let changed = sqlx::query!(
        "
        UPDATE installation
        SET queue_paused_at = CASE WHEN $1 THEN clock_timestamp() END
        WHERE (queue_paused_at IS NOT NULL) <> $1
        ",
        paused
    )
    .execute(connection)
    .await?;
    Ok(changed.rows_affected() > 0)
}

/// Ends the pause of a provider, so that a job probes it. Returns whether it was paused.
pub async fn resume_provider(connection: &mut PgConnection, provider: &str) -> sqlx::Result<bool> {
    let resumed = sqlx::query!(
        "
        UPDATE provider_pauses
        SET until = clock_timestamp()
        WHERE provider = $1 AND (until IS NULL OR until > clock_timestamp())
        ",
        provider
    )
    .execute(connection)
    .await?;
    Ok(resumed.rows_affected() > 0)
}

/// Pauses a provider that is in trouble with a batch. Where a pause is over, batches probe the provider, too.
pub async fn pause_for_batch(
    connection: &mut PgConnection,
    provider: &str,
    trouble: ProviderTrouble,
    message: &str,
) -> sqlx::Result<()> {
    pause_provider(connection, None, provider, trouble, message).await
}

/// Ends the trouble of a provider that has accepted a batch after its pause.
pub async fn end_after_batch(connection: &mut PgConnection, provider: &str) -> sqlx::Result<()> {
    sqlx::query!("DELETE FROM provider_pauses WHERE provider = $1 AND until <= clock_timestamp()", provider)
        .execute(connection)
        .await?;
    Ok(())
}

/// Ends the trouble of a provider whose probe was answered.
pub(super) async fn end_if_probe(connection: &mut PgConnection, lease: &Lease) -> sqlx::Result<()> {
    sqlx::query!(
        "DELETE FROM provider_pauses WHERE probe_job = $1 AND probe_fence = $2",
        lease.job,
        lease.fence,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Makes a claim the probe of its provider.
pub(super) async fn begin_probe(
    connection: &mut PgConnection,
    provider: &str,
    lease: &Lease,
) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE provider_pauses SET probe_job = $2, probe_fence = $3 WHERE provider = $1",
        provider,
        lease.job,
        lease.fence,
    )
    .execute(connection)
    .await?;
    Ok(())
}

impl Lease {
    /// Gives the job back to the queue because its provider is in trouble, and pauses the provider.
    pub async fn set_back(
        &self,
        pool: &PgPool,
        provider: &str,
        trouble: ProviderTrouble,
        message: &str,
    ) -> Result<JobState, LeaseError> {
        let mut transaction = self.begin(pool).await?;
        attempts::abort_open(&mut transaction, self.job, AbortReason::Interrupted).await?;
        let setbacks = sqlx::query_scalar!(
            "
            UPDATE jobs
            SET state = 'queued', leased_until = NULL, note = NULL, setbacks = setbacks + 1
            WHERE id = $1
            RETURNING setbacks
            ",
            self.job
        )
        .fetch_one(&mut *transaction)
        .await?;
        let fails = setbacks > MAX_SETBACKS && !trouble.needs_admin();
        if fails {
            let failure = JobFailure { code: trouble.code(), message };
            lease::end(&mut transaction, self.job, JobState::Failed, Some(failure)).await?;
        }
        pause_provider(&mut transaction, Some(self), provider, trouble, message).await?;
        transaction.commit().await?;
        Ok(if fails { JobState::Failed } else { JobState::Queued })
    }
}

/// Pauses a provider in trouble. Where it is paused already, the pause changes only if this is the probe, or if no
/// waiting would help any more. Without a lease, whatever comes after the pause is a probe.
async fn pause_provider(
    connection: &mut PgConnection,
    lease: Option<&Lease>,
    provider: &str,
    trouble: ProviderTrouble,
    message: &str,
) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO provider_pauses AS known (provider, trouble, message, strikes, paused_at, until)
        VALUES (
            $1, $2, $3, 1, clock_timestamp(),
            CASE WHEN $4 THEN NULL ELSE clock_timestamp() + ($5::bigint[])[1] * interval '1 second' END
        )
        ON CONFLICT (provider) DO UPDATE
        SET trouble = excluded.trouble, message = excluded.message, strikes = known.strikes + 1,
            paused_at = excluded.paused_at, probe_job = NULL, probe_fence = NULL,
            until = CASE WHEN $4 THEN NULL ELSE
                clock_timestamp()
                    + ($5::bigint[])[least(known.strikes + 1, cardinality($5::bigint[]))] * interval '1 second'
            END
        WHERE (known.probe_job = $6 AND known.probe_fence = $7) OR ($4 AND known.until > clock_timestamp())
           OR ($6::uuid IS NULL AND known.until <= clock_timestamp())
        ",
        provider,
        trouble as _,
        without_nul(message),
        trouble.needs_admin(),
        &PAUSE_SECONDS as &[i64],
        lease.map(|lease| lease.job),
        lease.map(|lease| lease.fence),
    )
    .execute(connection)
    .await?;
    Ok(())
}
