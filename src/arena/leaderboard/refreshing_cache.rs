//! A cache of a value that may take long to compute. It is computed once for all who wait.
//!
//! The computation runs in a task of its own: a caller may leave at any moment, and the value is there for the next
//! one. A value that is computed fast is waited for whenever its version is out of date. One that takes long is
//! returned as it was, while another is computed, and is then not computed again for twenty times as long as it took,
//! so that it uses no more than a twentieth of a core.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant as Deadline, sleep_until, timeout_at};

use crate::db::{DatabaseOutage, duplicate_error};

/// A value that is computed faster than this is waited for.
const QUICK_REFRESH: Duration = Duration::from_millis(250);

/// How long it is waited for, if there is an older one.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// A slow value is not computed again for so many times as long as it took, a quick one for as long as it took.
const COOLDOWN_FACTOR: u32 = 20;

/// A value that was just computed, or found in storage.
pub struct Computed<S, V> {
    /// The version that it was computed from; none if it must be computed again in any case.
    pub version: Option<S>,
    pub value: V,
    /// Of a value from storage: how long computing it took, and how long ago that was.
    pub stored: Option<(Duration, Duration)>,
}

pub struct RefreshingCache<S, V> {
    state: watch::Sender<RefreshState<S, V>>,
    making: AtomicBool,
    /// Shared among caches, to limit how many values are computed at a time.
    refresh_permits: Arc<Semaphore>,
}

struct RefreshState<S, V> {
    latest: Option<CachedValue<S, V>>,
    /// When the computation that failed last had begun, and why it failed.
    failure: Option<(Instant, Arc<sqlx::Error>)>,
}

struct CachedValue<S, V> {
    version: Option<S>,
    value: Arc<V>,
    /// None if it came from storage.
    started: Option<Instant>,
    took: Duration,
    cooldown_until: Instant,
}

impl<S, V> RefreshingCache<S, V>
where
    S: Clone + PartialEq + Send + Sync + 'static,
    V: Send + Sync + 'static,
{
    pub fn new(refresh_permits: &Arc<Semaphore>) -> Self {
        let state = RefreshState { latest: None, failure: None };
        Self {
            state: watch::Sender::new(state),
            making: AtomicBool::new(false),
            refresh_permits: Arc::clone(refresh_permits),
        }
    }

    /// The value of version `now`, or an earlier one where computing takes long. The argument of `make` tells whether
    /// there is no value yet.
    pub async fn get<F>(self: &Arc<Self>, now: S, make: impl Fn(bool) -> F) -> sqlx::Result<Arc<V>>
    where
        F: Future<Output = sqlx::Result<Computed<S, V>>> + Send + 'static,
    {
        let asked = Instant::now();
        let deadline = Deadline::now() + MAX_WAIT;
        let mut changes = self.state.subscribe();
        loop {
            let (latest, failure) = {
                let state = changes.borrow_and_update();
                (state.latest.clone(), state.failure.clone())
            };
            if let Some((started, error)) = failure
                && started >= asked
            {
                return latest.map_or_else(|| Err(duplicate_error(&error)), |latest| Ok(latest.value));
            }
            let Some(latest) = latest else {
                self.start(|| make(true));
                // The sender is part of this cache, so waiting cannot fail, and a failure counts as a change too.
                let _ = changes.changed().await;
                continue;
            };
            let made_since = latest.started.is_some_and(|started| started >= asked);
            if latest.version.as_ref() == Some(&now) || (latest.version.is_some() && made_since) {
                return Ok(latest.value);
            }
            let is_cooling_down = latest.cooldown_until > Instant::now();
            if !is_cooling_down {
                self.start(|| make(false));
            }
            if latest.took > QUICK_REFRESH || Deadline::now() >= deadline {
                return Ok(latest.value);
            }
            if is_cooling_down {
                sleep_until(deadline.min(latest.cooldown_until.into())).await;
            } else if timeout_at(deadline, changes.changed()).await.is_err() {
                return Ok(latest.value);
            }
        }
    }

    /// Computes a value, unless one is already being computed.
    fn start<F>(self: &Arc<Self>, make: impl FnOnce() -> F)
    where
        F: Future<Output = sqlx::Result<Computed<S, V>>> + Send + 'static,
    {
        if self.making.swap(true, Ordering::AcqRel) {
            return;
        }
        let (this, make) = (Arc::clone(self), make());
        tokio::spawn(async move {
            let _permit = this.refresh_permits.acquire().await.ok();
            let started = Instant::now();
            // It runs in a task within the task, so that a panic is a failure like any other.
            let made = tokio::spawn(make).await;
            let made = made.unwrap_or_else(|lost| Err(sqlx::Error::Protocol(lost.to_string())));
            this.state.send_modify(|state| {
                match made {
                    Ok(made) => state.latest = Some(CachedValue::new(made, started)),
                    Err(error) => {
                        // Every request may meet an outage; those who answer requests log it once a second.
                        if DatabaseOutage::of(&error).is_none() {
                            tracing::warn!(%error, "a cached value could not be computed");
                        }
                        state.failure = Some((started, Arc::new(error)));
                    }
                }
                this.making.store(false, Ordering::Release);
            });
        });
    }
}

impl<S, V> CachedValue<S, V> {
    fn new(made: Computed<S, V>, started: Instant) -> Self {
        let is_stored = made.stored.is_some();
        let (took, age) = made.stored.unwrap_or_else(|| (started.elapsed(), Duration::ZERO));
        let rest = if took > QUICK_REFRESH { took.saturating_mul(COOLDOWN_FACTOR) } else { took };
        let cooldown_until =
            Instant::now() + if made.version.is_some() { rest.saturating_sub(age) } else { Duration::ZERO };
        Self {
            version: made.version,
            value: Arc::new(made.value),
            started: (!is_stored).then_some(started),
            took,
            cooldown_until,
        }
    }
}

impl<S: Clone, V> Clone for CachedValue<S, V> {
    fn clone(&self) -> Self {
        Self { version: self.version.clone(), value: Arc::clone(&self.value), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI64;

    use tokio::sync::Notify;

    use super::*;

    fn refreshing_cache() -> Arc<RefreshingCache<i64, i64>> {
        Arc::new(RefreshingCache::new(&Arc::new(Semaphore::new(1))))
    }

    fn made(version: i64, value: i64) -> sqlx::Result<Computed<i64, i64>> {
        Ok(Computed { version: Some(version), value, stored: None })
    }

    #[tokio::test]
    async fn a_value_is_made_once_for_each_state() {
        let (values, count) = (refreshing_cache(), Arc::new(AtomicI64::new(0)));
        let get = async |state| {
            let make = |_| {
                let count = Arc::clone(&count);
                async move { made(state, count.fetch_add(1, Ordering::SeqCst)) }
            };
            *values.get(state, make).await.unwrap()
        };
        assert_eq!([get(1).await, get(1).await, get(2).await, get(2).await], [0, 0, 1, 1]);
    }

    #[tokio::test]
    async fn a_visitor_who_leaves_does_not_stop_the_making_and_the_next_one_gets_its_value() {
        let (values, count) = (refreshing_cache(), Arc::new(AtomicI64::new(0)));
        let (started, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let make = {
            let (count, started, go_on) = (Arc::clone(&count), Arc::clone(&started), Arc::clone(&go_on));
            move |_| {
                let (count, started, go_on) = (Arc::clone(&count), Arc::clone(&started), Arc::clone(&go_on));
                async move {
                    started.notify_one();
                    go_on.notified().await;
                    made(1, 10 + count.fetch_add(1, Ordering::SeqCst))
                }
            }
        };
        let impatient = {
            let (values, make) = (Arc::clone(&values), make.clone());
            tokio::spawn(async move { values.get(1, make).await })
        };
        started.notified().await;
        impatient.abort();
        assert!(impatient.await.unwrap_err().is_cancelled());

        let patient = tokio::spawn(async move { values.get(1, make).await });
        go_on.notify_one();
        assert_eq!(*patient.await.unwrap().unwrap(), 10);
        assert_eq!(count.load(Ordering::SeqCst), 1, "it was made once");
    }

    #[tokio::test]
    async fn what_took_long_is_shown_as_it_was_while_another_is_made() {
        let values = refreshing_cache();
        let slow = Duration::from_secs(60);
        let old = |_| async move {
            Ok(Computed { version: Some(1), value: 1, stored: Some((slow, slow * COOLDOWN_FACTOR)) })
        };
        assert_eq!(*values.get(1, old).await.unwrap(), 1);
        let never = |_| std::future::pending();
        assert_eq!(*values.get(2, never).await.unwrap(), 1);
        assert!(values.making.load(Ordering::SeqCst), "the next one is on its way");
    }

    #[tokio::test]
    async fn what_was_stored_of_an_earlier_state_is_made_anew_where_that_is_quick() {
        let values = refreshing_cache();
        let make = |is_first| async move {
            match is_first {
                true => Ok(Computed {
                    version: Some(1),
                    value: 1,
                    stored: Some((Duration::ZERO, Duration::ZERO)),
                }),
                false => made(2, 2),
            }
        };
        assert_eq!(*values.get(2, make).await.unwrap(), 2);
    }

    #[tokio::test]
    async fn a_failure_is_told_to_who_waits_and_tried_again_for_the_next() {
        let values = refreshing_cache();
        let error = values.get(1, |_| async { Err(sqlx::Error::PoolTimedOut) }).await.unwrap_err();
        assert!(matches!(error, sqlx::Error::PoolTimedOut));
        assert!(values.get(1, |_| async { panic!("a table fell over") }).await.is_err());
        assert_eq!(*values.get(1, |_| async { made(1, 7) }).await.unwrap(), 7);
    }
}
