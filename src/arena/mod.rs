//! The benchmark: models, prompts, the builds that are compared, votes, and the ladder that they make.

pub mod audit;
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
pub mod skill;
pub mod status;
pub mod totals;
mod votes;

pub use choice::{Choice, Side};
pub use field::{Field, References};
pub use matchups::{Askable, Matchup, NoMatchup, NotSkipped, Served, Voter};
pub use names::{ModelKey, PromptId};
pub use settings::{Mode, Settings};
pub use votes::{NoVote, Reveal, Revealed, Verdicts};

use std::time::Duration;

use sqlx::PgPool;

use field::FieldCache;
use leaderboard::Kept;

/// One ladder's arena.
pub struct Arena {
    pool: PgPool,
    pub settings: Settings,
    /// The settings as the database names them.
    pub ladder: String,
    /// A vote sooner than this after both builds went out is none.
    pub min_dwell: Duration,
    field: FieldCache,
    kept: Kept,
}

impl Arena {
    pub fn new(pool: PgPool, settings: Settings, references: References, min_dwell: Duration) -> Self {
        let ladder = settings.slug();
        let field = FieldCache::new(references);
        Self { pool, settings, ladder, min_dwell, field, kept: Kept::new() }
    }
}
