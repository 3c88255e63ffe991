//! Values that take long to work out: made in a task of their own, once for all who wait, and shown a little longer
//! when they took long.
//!
//! Whoever asks may leave at any moment; the making goes on, and its value is there for the next one. A value that
//! was made fast is waited for whenever something has changed. One that took long is shown as it was last while
//! another is made, and rests for twenty times as long as it took, so that making it takes no more than a twentieth of
//! a core.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant as Deadline, sleep_until, timeout_at};

use crate::db::duplicate_error;

/// What is made faster than this is waited for.
const QUICK: Duration = Duration::from_millis(250);

/// For so long, if there is an older one to show.
const WAIT: Duration = Duration::from_secs(1);

/// What took long rests for so many times as long, and what was quick for as long as it took.
const REST: u32 = 20;

/// A value that was just made, or found where it was stored.
pub(in crate::arena) struct Made<S, V> {
    /// What it was made of; none if it is to be made anew in any case.
    pub of: Option<S>,
    pub value: V,
    /// If it was stored: how long it took to make, and how long ago that was.
    pub stored: Option<(Duration, Duration)>,
}

pub(in crate::arena) struct Refreshed<S, V> {
    state: watch::Sender<State<S, V>>,
    making: AtomicBool,
    /// Shared with others: no more values are made at a time than it has permits.
    makers: Arc<Semaphore>,
}

struct State<S, V> {
    latest: Option<Latest<S, V>>,
    /// When the making that failed last had begun, and why it failed.
    failure: Option<(Instant, Arc<sqlx::Error>)>,
}

struct Latest<S, V> {
    of: Option<S>,
    value: Arc<V>,
    /// None if it was found stored.
    begun: Option<Instant>,
    took: Duration,
    rests_until: Instant,
}

impl<S, V> Refreshed<S, V>
where
    S: Clone + PartialEq + Send + Sync + 'static,
    V: Send + Sync + 'static,
{
    pub fn new(makers: &Arc<Semaphore>) -> Self {
        let state = State { latest: None, failure: None };
        Self { state: watch::Sender::new(state), making: AtomicBool::new(false), makers: Arc::clone(makers) }
    }

    /// The value as of `now`, or an earlier one where making it takes long. `make` is told whether
    /// there is none yet.
    pub async fn get<F>(self: &Arc<Self>, now: S, make: impl Fn(bool) -> F) -> sqlx::Result<Arc<V>>
    where
        F: Future<Output = sqlx::Result<Made<S, V>>> + Send + 'static,
    {
        let asked = Instant::now();
        let deadline = Deadline::now() + WAIT;
        let mut changes = self.state.subscribe();
        loop {
            let (latest, failure) = {
                let state = changes.borrow_and_update();
                (state.latest.clone(), state.failure.clone())
            };
            if let Some((begun, error)) = failure
                && begun >= asked
            {
                return latest.map_or_else(|| Err(duplicate_error(&error)), |latest| Ok(latest.value));
            }
            let Some(latest) = latest else {
                self.begin(|| make(true));
                // The sender lives as long as this does, so there will be a change.
                let _ = changes.changed().await;
                continue;
            };
            let made_since = latest.begun.is_some_and(|begun| begun >= asked);
            if latest.of.as_ref() == Some(&now) || (latest.of.is_some() && made_since) {
                return Ok(latest.value);
            }
            let rests = latest.rests_until > Instant::now();
            if !rests {
                self.begin(|| make(false));
            }
            if latest.took > QUICK || Deadline::now() >= deadline {
                return Ok(latest.value);
            }
            if rests {
                sleep_until(deadline.min(latest.rests_until.into())).await;
            } else if timeout_at(deadline, changes.changed()).await.is_err() {
                return Ok(latest.value);
            }
        }
    }

    /// Makes a value, unless one is being made.
    fn begin<F>(self: &Arc<Self>, make: impl FnOnce() -> F)
    where
        F: Future<Output = sqlx::Result<Made<S, V>>> + Send + 'static,
    {
        if self.making.swap(true, Ordering::AcqRel) {
            return;
        }
        let (this, make) = (Arc::clone(self), make());
        tokio::spawn(async move {
            let _permit = this.makers.acquire().await.ok();
            let begun = Instant::now();
            // In a task within the task, so that a panic in it is a failure like any other.
            let made = tokio::spawn(make).await;
            let made = made.unwrap_or_else(|lost| Err(sqlx::Error::Protocol(lost.to_string())));
            this.state.send_modify(|state| {
                match made {
                    Ok(made) => state.latest = Some(Latest::new(made, begun)),
                    Err(error) => {
                        tracing::warn!(%error, "statistics could not be worked out");
                        state.failure = Some((begun, Arc::new(error)));
                    }
                }
                this.making.store(false, Ordering::Release);
            });
        });
    }
}

impl<S, V> Latest<S, V> {
    fn new(made: Made<S, V>, begun: Instant) -> Self {
        let is_stored = made.stored.is_some();
        let (took, age) = made.stored.unwrap_or_else(|| (begun.elapsed(), Duration::ZERO));
        let rest = if took > QUICK { took.saturating_mul(REST) } else { took };
        let rests_until =
            Instant::now() + if made.of.is_some() { rest.saturating_sub(age) } else { Duration::ZERO };
        Self {
            of: made.of,
            value: Arc::new(made.value),
            begun: (!is_stored).then_some(begun),
            took,
            rests_until,
        }
    }
}

impl<S: Clone, V> Clone for Latest<S, V> {
    fn clone(&self) -> Self {
        Self { of: self.of.clone(), value: Arc::clone(&self.value), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI64;

    use tokio::sync::Notify;

    use super::*;

    fn refreshed() -> Arc<Refreshed<i64, i64>> {
        Arc::new(Refreshed::new(&Arc::new(Semaphore::new(1))))
    }

    fn made(of: i64, value: i64) -> sqlx::Result<Made<i64, i64>> {
        Ok(Made { of: Some(of), value, stored: None })
    }

    #[tokio::test]
    async fn a_value_is_made_once_for_each_state() {
        let (values, count) = (refreshed(), Arc::new(AtomicI64::new(0)));
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
        let (values, count) = (refreshed(), Arc::new(AtomicI64::new(0)));
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let make = {
            let (count, begun, go_on) = (Arc::clone(&count), Arc::clone(&begun), Arc::clone(&go_on));
            move |_| {
                let (count, begun, go_on) = (Arc::clone(&count), Arc::clone(&begun), Arc::clone(&go_on));
                async move {
                    begun.notify_one();
                    go_on.notified().await;
                    made(1, 10 + count.fetch_add(1, Ordering::SeqCst))
                }
            }
        };
        let impatient = {
            let (values, make) = (Arc::clone(&values), make.clone());
            tokio::spawn(async move { values.get(1, make).await })
        };
        begun.notified().await;
        impatient.abort();
        assert!(impatient.await.unwrap_err().is_cancelled());

        let patient = tokio::spawn(async move { values.get(1, make).await });
        go_on.notify_one();
        assert_eq!(*patient.await.unwrap().unwrap(), 10);
        assert_eq!(count.load(Ordering::SeqCst), 1, "it was made once");
    }

    #[tokio::test]
    async fn what_took_long_is_shown_as_it_was_while_another_is_made() {
        let values = refreshed();
        let slow = Duration::from_secs(60);
        let old = |_| async move { Ok(Made { of: Some(1), value: 1, stored: Some((slow, slow * REST)) }) };
        assert_eq!(*values.get(1, old).await.unwrap(), 1);
        let never = |_| std::future::pending();
        assert_eq!(*values.get(2, never).await.unwrap(), 1);
        assert!(values.making.load(Ordering::SeqCst), "the next one is on its way");
    }

    #[tokio::test]
    async fn what_was_stored_of_an_earlier_state_is_made_anew_where_that_is_quick() {
        let values = refreshed();
        let make = |is_first| async move {
            match is_first {
                true => Ok(Made { of: Some(1), value: 1, stored: Some((Duration::ZERO, Duration::ZERO)) }),
                false => made(2, 2),
            }
        };
        assert_eq!(*values.get(2, make).await.unwrap(), 2);
    }

    #[tokio::test]
    async fn a_failure_is_told_to_who_waits_and_tried_again_for_the_next() {
        let values = refreshed();
        let error = values.get(1, |_| async { Err(sqlx::Error::PoolTimedOut) }).await.unwrap_err();
        assert!(matches!(error, sqlx::Error::PoolTimedOut));
        assert!(values.get(1, |_| async { panic!("a table fell over") }).await.is_err());
        assert_eq!(*values.get(1, |_| async { made(1, 7) }).await.unwrap(), 7);
    }
}
