//! The benchmark: models, prompts, the builds that are compared, votes, and the ladder that they make.

pub mod builds;
pub mod catalog;
mod choice;
pub mod elo;
pub mod exhibition;
mod field;
pub mod gallery;
pub mod history;
pub mod leaderboard;
pub mod log;
mod matchups;
mod names;
pub mod replay;
pub mod sampling;
mod settings;
pub mod skill;
pub mod totals;
mod votes;

pub use choice::{Choice, Side};
pub use field::{Field, References};
pub use matchups::{Arena, Askable, Matchup, NoMatchup, NotSkipped, Served, Voter};
pub use names::{ModelKey, PromptId};
pub use settings::{Mode, Settings};
pub use votes::{NoVote, Reveal, Revealed, Verdicts};
