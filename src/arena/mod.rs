//! The benchmark: models, prompts, the builds that are compared, votes, and the ladder that they make.

pub mod audit;
mod batcher;
pub mod builds;
pub mod catalog;
mod choice;
pub mod cleanup;
mod columns;
pub mod coverage;
pub mod drafts;
pub mod elo;
pub mod gallery;
pub mod imports;
pub mod jobs;
pub mod kept_runs;
pub mod leaderboard;
mod lineup;
mod matchups;
mod names;
pub mod replay;
pub mod sampling;
mod settings;
pub mod shipped_builds;
mod shown;
pub mod skill;
pub mod status;
mod tallies;
pub mod totals;
pub mod vote_log;
pub mod voter_history;
mod votes;

pub use choice::{Choice, ChoiceCounts, Side};
pub use lineup::{Lineup, ReferencePolicy};
pub use matchups::{Matchup, MatchupError, MatchupPrompt, ServedMatchup, SkipError, Voter};
pub use names::{ModelKey, PromptId};
pub use settings::{Mode, Settings};
pub use votes::{Reveal, RevealedSide, VoteError};

pub use tallies::TallyMismatch;

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use sqlx::PgPool;
use tokio::sync::Semaphore;
use uuid::Uuid;

use batcher::Batcher;
use builds::StoredGrid;
use leaderboard::{LadderStats, Leaderboard, RefreshingCache, StatsVersion};
use lineup::LineupCache;
use matchups::batches::{FetchBuilds, ReadVoterStates, ServeMatchups};
use shown::ShownCache;
use votes::counting::CountVotes;
use votes::reveals::ReadReveals;

/// Statistics that are made at a time: the rest of the database's connections, and a core, are for voters.
const MAX_REFRESHES: usize = 1;

/// Tags whose ladders are kept.
const MAX_TAG_LADDERS: u64 = 64;

/// While one batch of votes waits for the disk, the next is prepared.
const MAX_VOTE_BATCHES: usize = 2;

const GRIDS_MAX_BYTES: u64 = 64 << 20;

/// One ladder's arena. Cheap to clone; what it remembers is shared.
#[derive(Clone)]
pub struct Arena {
    pool: PgPool,
    /// For reading what may lag behind: standings, statistics, votes on a pair.
    replica: PgPool,
    pub settings: Settings,
    /// A vote sooner than this after both builds went out is none.
    pub min_dwell: Duration,
    lineup: Arc<LineupCache>,
    shown: Arc<ShownCache>,
    read_voters: Batcher<ReadVoterStates>,
    serve: Batcher<ServeMatchups>,
    fetch: Batcher<FetchBuilds>,
    count_votes: Batcher<CountVotes>,
    read_reveals: Batcher<ReadReveals>,
    /// Of builds that voters look at.
    grids: Cache<Uuid, Arc<StoredGrid>>,
    refresh_permits: Arc<Semaphore>,
    stats: Arc<RefreshingCache<StatsVersion, LadderStats>>,
    tag_ladders: Cache<String, Arc<RefreshingCache<StatsVersion, Leaderboard>>>,
}

impl Arena {
    pub fn new(pool: PgPool, settings: Settings, references: ReferencePolicy, min_dwell: Duration) -> Self {
        let refresh_permits = Arc::new(Semaphore::new(MAX_REFRESHES));
        Self {
            read_voters: Batcher::new(ReadVoterStates { pool: pool.clone(), settings: settings.clone() }, 1),
            serve: Batcher::new(ServeMatchups { pool: pool.clone(), settings: settings.clone() }, 1),
            fetch: Batcher::new(FetchBuilds { pool: pool.clone() }, 1),
            count_votes: Batcher::new(CountVotes { pool: pool.clone(), min_dwell }, MAX_VOTE_BATCHES),
            read_reveals: Batcher::new(ReadReveals { pool: pool.clone() }, 1),
            grids: Cache::builder()
                .weigher(|_, grid: &Arc<StoredGrid>| grid.packed.len().try_into().unwrap_or(u32::MAX))
                .max_capacity(GRIDS_MAX_BYTES)
                .build(),
            replica: pool.clone(),
            pool,
            settings,
            min_dwell,
            lineup: Arc::new(LineupCache::new(references)),
            shown: Arc::default(),
            stats: Arc::new(RefreshingCache::new(&refresh_permits)),
            tag_ladders: Cache::new(MAX_TAG_LADDERS),
            refresh_permits,
        }
    }

    #[must_use]
    pub fn with_replica(self, replica: PgPool) -> Self {
        Self { replica, ..self }
    }
}
