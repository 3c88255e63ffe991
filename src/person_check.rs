//! Whether a voter is a person: asked once before the first vote, and again where the server has doubts.
//!
//! The check is a small proof of work ([`work`]), which a browser does by itself while its visitor looks at the builds, or
//! an answer that a service verifies ([`captcha`]). A voter who has passed is stored in the database, so all servers know
//! it. This makes voting under many names cost something; it cannot tell a person from a patient program.
//!
//! A service that cannot be reached must not close the arena: its visitors pass for a while, and are counted.

mod alarm;
mod captcha;
mod work;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use moka::future::Cache;
use sqlx::PgPool;
use time::OffsetDateTime;

use self::alarm::Alarm;
use self::captcha::Captcha;
use crate::arena::Voter;
use crate::arena::person_checks::{self, PersonCheckState};
use crate::config::{CaptchaService, PersonCheckConfig};

/// Longer than a session lasts without a visit.
const PASS_LIFETIME: Duration = Duration::from_secs(400 * 24 * 3600);
/// How long a voter passes whom a service could not check.
const UNVERIFIED_LIFETIME: Duration = Duration::from_secs(600);
/// How late this server notices that another has asked a voter again.
const CACHE_TTL: Duration = Duration::from_secs(60);
const MAX_CACHED: u64 = 20_000;

pub struct PersonChecks {
    method: CheckMethod,
    pool: PgPool,
    /// Voters who have passed, so that most votes need no query for this.
    passed: Cache<Voter, ()>,
    counts: PersonCheckCounts,
    alarm: Alarm,
}

enum CheckMethod {
    Off,
    Work,
    Captcha(Captcha),
}

/// What a voter has to do before votes are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonCheck {
    /// To find a text that begins with the challenge, and whose SHA-256 begins with this many zero bits.
    Work { challenge: String, bits: u32 },
    /// To get a token from this service, for this site.
    Captcha { service: CaptchaService, site_key: String },
}

/// How a check ends, with the reason for the operator.
enum PersonVerdict {
    Passed,
    Failed(String),
    /// The service gave no verdict on the visitor.
    Unreachable(String),
}

/// The checks of this server since it started.
#[derive(Default)]
struct PersonCheckCounts {
    passed: AtomicU64,
    failed: AtomicU64,
    unreachable: AtomicU64,
}

impl PersonChecks {
    /// # Errors
    /// If TLS cannot be set up on this machine.
    pub fn new(pool: PgPool, config: &PersonCheckConfig) -> anyhow::Result<Self> {
        let method = match config {
            PersonCheckConfig::Off => CheckMethod::Off,
            PersonCheckConfig::Work => CheckMethod::Work,
            PersonCheckConfig::Captcha(account) => CheckMethod::Captcha(Captcha::new(account.clone())?),
        };
        let passed = Cache::builder().max_capacity(MAX_CACHED).time_to_live(CACHE_TTL).build();
        Ok(Self { method, pool, passed, counts: PersonCheckCounts::default(), alarm: Alarm::default() })
    }

    /// Whether voters are checked at all.
    pub fn is_on(&self) -> bool {
        !matches!(self.method, CheckMethod::Off)
    }

    /// What the voter has to do before a vote; none for those who have passed.
    pub async fn due(&self, voter: Voter) -> sqlx::Result<Option<PersonCheck>> {
        if !self.is_on() || self.passed.contains_key(&voter) {
            return Ok(None);
        }
        let state = person_checks::state(&self.pool, voter).await?;
        if state.has_passed {
            self.passed.insert(voter, ()).await;
            return Ok(None);
        }
        Ok(self.check(voter, &state))
    }

    /// Judges a voter's answer. If it is not accepted, returns what the voter has to do instead.
    pub async fn judge(&self, voter: Voter, answer: &str) -> sqlx::Result<Option<PersonCheck>> {
        let state = person_checks::state(&self.pool, voter).await?;
        if state.has_passed {
            return Ok(None);
        }
        let verdict = match &self.method {
            CheckMethod::Off => return Ok(None),
            CheckMethod::Work if work::accepts(&state, voter, answer, OffsetDateTime::now_utc()) => {
                PersonVerdict::Passed
            }
            CheckMethod::Work => PersonVerdict::Failed("a proof of work was wrong or too late".to_owned()),
            CheckMethod::Captcha(captcha) => captcha.verify(answer).await,
        };
        let lifetime = match &verdict {
            PersonVerdict::Passed => Some(PASS_LIFETIME),
            PersonVerdict::Unreachable(_) => Some(UNVERIFIED_LIFETIME),
            PersonVerdict::Failed(_) => None,
        };
        self.count(&verdict);
        if let Some(lifetime) = lifetime
            && person_checks::pass(&self.pool, voter, state.round, lifetime).await?
        {
            self.passed.insert(voter, ()).await;
            return Ok(None);
        }
        self.due(voter).await
    }

    /// Asks the voter again before the next vote. Other servers notice it within a minute.
    pub async fn ask_again(&self, voter: Voter) -> sqlx::Result<()> {
        person_checks::ask_again(&self.pool, &[voter.0]).await?;
        self.passed.invalidate(&voter).await;
        Ok(())
    }

    /// How the checks of this server have ended: the kind of check, the result, and how often.
    pub fn counts(&self) -> Vec<(&'static str, &'static str, u64)> {
        let kind = match &self.method {
            CheckMethod::Off => return Vec::new(),
            CheckMethod::Work => "work",
            CheckMethod::Captcha(captcha) => captcha.service().name(),
        };
        let PersonCheckCounts { passed, failed, unreachable } = &self.counts;
        [("passed", passed), ("failed", failed), ("unreachable", unreachable)]
            .map(|(result, count)| (kind, result, count.load(Ordering::Relaxed)))
            .into()
    }

    fn check(&self, voter: Voter, state: &PersonCheckState) -> Option<PersonCheck> {
        match &self.method {
            CheckMethod::Off => None,
            CheckMethod::Work => {
                let challenge = work::challenge(state, voter, OffsetDateTime::now_utc());
                Some(PersonCheck::Work { challenge, bits: work::BITS })
            }
            CheckMethod::Captcha(captcha) => Some(captcha.check()),
        }
    }

    fn count(&self, verdict: &PersonVerdict) {
        let PersonCheckCounts { passed, failed, unreachable } = &self.counts;
        let (count, why) = match verdict {
            PersonVerdict::Passed => {
                passed.fetch_add(1, Ordering::Relaxed);
                return;
            }
            PersonVerdict::Failed(why) => (failed, why),
            PersonVerdict::Unreachable(why) => (unreachable, why),
        };
        count.fetch_add(1, Ordering::Relaxed);
        if self.alarm.is_due() {
            let (failed, unreachable) = (failed.load(Ordering::Relaxed), unreachable.load(Ordering::Relaxed));
            tracing::warn!(
                failed,
                unreachable,
                last = why,
                "visitors did not pass the check that they are people"
            );
        }
    }
}
