//! The benchmark: models, prompts, the builds that are compared, votes, and the ladder that they make.

pub mod audit;
mod batcher;
pub mod builds;
pub mod catalog;
mod choice;
pub mod coverage;
pub mod drafts;
pub mod elo;
pub mod exhibition;
mod field;
pub mod gallery;
pub mod history;
pub mod imports;
pub mod jobs;
pub mod kept_runs;
pub mod leaderboard;
pub mod log;
mod matchups;
mod names;
pub mod replay;
pub mod sampling;
mod settings;
mod shown;
pub mod skill;
pub mod status;
mod tallies;
pub mod tidying;
pub mod totals;
mod votes;

pub use choice::{Choice, Side, Verdicts};
pub use field::{Field, References};
pub use matchups::{Askable, Matchup, NoMatchup, NotSkipped, Served, Voter};
pub use names::{ModelKey, PromptId};
pub use settings::{Mode, Settings};
pub use votes::{NoVote, Reveal, Revealed};

pub use tallies::WrongTally;

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use sqlx::PgPool;
use tokio::sync::Semaphore;
use uuid::Uuid;

use batcher::Batcher;
use builds::StoredGrid;
use field::FieldCache;
use leaderboard::{LadderStats, Leaderboard, Moment, Refreshed};
use matchups::batches::{Fetch, ReadVoters, Serve};
use shown::ShownCounts;
use votes::counting::CountVotes;
use votes::reveals::ReadReveals;

/// Statistics that are made at a time: the rest of the database's connections, and a core, are for voters.
const MAKERS: usize = 1;

/// Tags whose ladders are kept.
const MOST_TAGS: u64 = 64;

/// While one batch of votes waits for the disk, the next is prepared.
const BATCHES_OF_VOTES: usize = 2;

const GRIDS_MAX_BYTES: u64 = 64 << 20;

/// One ladder's arena. Cheap to clone; what it remembers is shared.
#[derive(Clone)]
pub struct Arena {
    pool: PgPool,
    /// For reading what may lag behind: standings, statistics, votes on a pair.
    replica: PgPool,
    pub settings: Settings,
    /// The settings as the database names them.
    pub ladder: String,
    /// A vote sooner than this after both builds went out is none.
    pub min_dwell: Duration,
    field: Arc<FieldCache>,
    shown: Arc<ShownCounts>,
    read_voters: Batcher<ReadVoters>,
    serve: Batcher<Serve>,
    fetch: Batcher<Fetch>,
    count_votes: Batcher<CountVotes>,
    read_reveals: Batcher<ReadReveals>,
    /// Of builds that voters look at.
    grids: Cache<Uuid, Arc<StoredGrid>>,
    makers: Arc<Semaphore>,
    stats: Arc<Refreshed<Moment, LadderStats>>,
    tag_ladders: Cache<String, Arc<Refreshed<Moment, Leaderboard>>>,
}

impl Arena {
    pub fn new(pool: PgPool, settings: Settings, references: References, min_dwell: Duration) -> Self {
        let ladder = settings.slug();
        let makers = Arc::new(Semaphore::new(MAKERS));
        Self {
            read_voters: Batcher::new(ReadVoters { pool: pool.clone(), ladder: ladder.clone() }, 1),
            serve: Batcher::new(Serve { pool: pool.clone(), ladder: ladder.clone() }, 1),
            fetch: Batcher::new(Fetch { pool: pool.clone() }, 1),
            count_votes: Batcher::new(CountVotes { pool: pool.clone(), min_dwell }, BATCHES_OF_VOTES),
            read_reveals: Batcher::new(ReadReveals { pool: pool.clone() }, 1),
            grids: Cache::builder()
                .weigher(|_, grid: &Arc<StoredGrid>| grid.packed.len().try_into().unwrap_or(u32::MAX))
                .max_capacity(GRIDS_MAX_BYTES)
                .build(),
            replica: pool.clone(),
            pool,
            settings,
            ladder,
            min_dwell,
            field: Arc::new(FieldCache::new(references)),
            shown: Arc::default(),
            stats: Arc::new(Refreshed::new(&makers)),
            tag_ladders: Cache::new(MOST_TAGS),
            makers,
        }
    }

    #[must_use]
    pub fn with_replica(self, replica: PgPool) -> Self {
        Self { replica, ..self }
    }
}
