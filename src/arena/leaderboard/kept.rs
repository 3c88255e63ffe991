//! What takes long to work out of votes is kept until there are others.

use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::future::Cache;
use tokio::sync::{Mutex, Semaphore};

use super::super::ModelKey;
use super::{Chronicle, ModelRecord, Tagged};

/// What does not follow from votes alone, such as a prompt's tags, is noticed this late.
const LIFE: Duration = Duration::from_secs(60);

/// What is made faster than this is made again with every vote.
const QUICK: Duration = Duration::from_millis(250);

/// What is not may be shown for this many times as long as it took.
const REST: u32 = 10;

/// Values that are made at a time, whoever asks for whichever: the rest of the database's connections are for
/// votes.
const MAKERS: usize = 2;

/// Of one ladder.
pub(in crate::arena) struct Kept {
    pub chronicle: Cells<(), Chronicle>,
    pub tagged: Cells<String, Tagged>,
    pub records: Cells<ModelKey, ModelRecord>,
}

impl Kept {
    pub fn new() -> Self {
        let makers = Arc::new(Semaphore::new(MAKERS));
        Self {
            chronicle: Cells::new(1, &makers),
            tagged: Cells::new(64, &makers),
            records: Cells::new(256, &makers),
        }
    }
}

pub(in crate::arena) struct Cells<K, V> {
    cells: Cache<K, Cell<V>>,
    makers: Arc<Semaphore>,
}

type Cell<V> = Arc<Mutex<Option<Made<V>>>>;

struct Made<V> {
    votes: i64,
    begun: Instant,
    took: Duration,
    value: Arc<V>,
}

impl<K: Hash + Eq + Send + Sync + 'static, V: Send + Sync + 'static> Cells<K, V> {
    fn new(most: u64, makers: &Arc<Semaphore>) -> Self {
        let cells = Cache::builder().max_capacity(most).time_to_live(LIFE).build();
        Self { cells, makers: Arc::clone(makers) }
    }

    /// `votes` tells how many there are now, and `make` how many it has seen. Only one at a time makes a
    /// value; those who came before it began share it.
    pub async fn get<E>(
        &self,
        key: K,
        votes: impl Future<Output = Result<i64, E>>,
        make: impl Future<Output = Result<(i64, V), E>>,
    ) -> Result<Arc<V>, E> {
        let asked = Instant::now();
        let cell = self.cells.get_with(key, async { Cell::default() }).await;
        let mut made = cell.lock().await;
        if let Some(made) = &*made
            && (made.is_fresh(asked) || made.votes == votes.await?)
        {
            return Ok(Arc::clone(&made.value));
        }
        // Never closed; without a permit it would only be less patient.
        let _permit = self.makers.acquire().await.ok();
        let begun = Instant::now();
        let (votes, value) = make.await?;
        let value = Arc::new(value);
        *made = Some(Made { votes, begun, took: begun.elapsed(), value: Arc::clone(&value) });
        Ok(value)
    }
}

impl<V> Made<V> {
    fn is_fresh(&self, asked: Instant) -> bool {
        self.begun >= asked || (self.took > QUICK && self.begun.elapsed() < self.took * REST)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_value_is_made_once_for_each_number_of_votes() {
        let cells = Cells::<&str, i64>::new(4, &Arc::new(Semaphore::new(1)));
        let made = AtomicI64::new(0);
        let get = async |key, votes| {
            let make = async { Ok::<_, Infallible>((votes, made.fetch_add(1, Ordering::SeqCst))) };
            *cells.get(key, async { Ok(votes) }, make).await.unwrap()
        };
        assert_eq!([get("a", 1).await, get("a", 1).await, get("a", 2).await], [0, 0, 1]);
        assert_eq!([get("b", 2).await, get("a", 2).await, get("b", 3).await], [2, 1, 3]);
    }

    #[tokio::test]
    async fn a_failure_is_not_kept() {
        let cells = Cells::<(), i64>::new(1, &Arc::new(Semaphore::new(1)));
        let broken = cells.get((), async { Ok(1) }, async { Err("broken") }).await;
        assert_eq!(broken.unwrap_err(), "broken");
        let whole = cells.get((), async { Ok::<_, &str>(1) }, async { Ok((1, 7)) }).await;
        assert_eq!(*whole.unwrap(), 7);
    }

    #[test]
    fn what_takes_long_may_be_shown_a_little_longer() {
        let now = Instant::now();
        let earlier = now.checked_sub(Duration::from_secs(3)).unwrap();
        let made = |took| Made { votes: 1, begun: earlier, took, value: Arc::new(()) };
        assert!(made(Duration::from_millis(400)).is_fresh(now));
        assert!(!made(Duration::from_millis(260)).is_fresh(now));
        assert!(!made(Duration::from_millis(20)).is_fresh(now));
        assert!(made(Duration::ZERO).is_fresh(earlier), "who asked before it was begun shares it");
    }
}
