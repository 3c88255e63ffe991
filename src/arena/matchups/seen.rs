//! The pairs that recent voters have seen, in memory, so that a voter's next matchup does not read them all again.

use std::sync::Arc;

use moka::future::Cache;
use uuid::Uuid;

use super::Voter;
use crate::arena::sampling::SeenPairs;

const CACHE_BYTES: u64 = 32 << 20;

/// About what an entry takes beside its pairs, and what a pair takes.
const ENTRY_BYTES: usize = 256;
const PAIR_BYTES: usize = 18;

/// Cheap to clone.
#[derive(Clone)]
pub(in crate::arena) struct SeenCache {
    by_voter: Cache<Uuid, Arc<KnownPairs>>,
}

/// A matchup of another server is not among them. It is noticed, since it becomes the voter's last one.
pub struct KnownPairs {
    /// The last of the matchups that they are from.
    pub until: Uuid,
    pub pairs: SeenPairs,
}

impl SeenCache {
    pub fn new() -> Self {
        let weigh = |_: &Uuid, known: &Arc<KnownPairs>| {
            let bytes = ENTRY_BYTES + known.pairs.capacity() * PAIR_BYTES;
            bytes.try_into().unwrap_or(u32::MAX)
        };
        Self { by_voter: Cache::builder().weigher(weigh).max_capacity(CACHE_BYTES).build() }
    }

    pub async fn get(&self, voter: Voter) -> Option<Arc<KnownPairs>> {
        self.by_voter.get(&voter.0).await
    }

    /// After the voter was served a pair, beside all pairs that the voter had seen.
    pub async fn add(&self, voter: Voter, mut pairs: SeenPairs, pair: i64, matchup: Uuid) {
        pairs.insert(pair);
        self.by_voter.insert(voter.0, Arc::new(KnownPairs { until: matchup, pairs })).await;
    }
}
