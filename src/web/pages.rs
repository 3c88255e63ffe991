//! HTML for people: a file per page, with a template of the same name.

pub(in crate::web) mod about;
pub(in crate::web) mod admin;
pub(in crate::web) mod agents;
pub(in crate::web) mod arena;
pub(in crate::web) mod assessments;
pub(in crate::web) mod blocks;
pub(in crate::web) mod builds;
pub(in crate::web) mod chat;
pub(in crate::web) mod decisions;
pub(in crate::web) mod format;
pub(in crate::web) mod judge;
pub(in crate::web) mod judges;
pub(in crate::web) mod leaderboard;
pub(in crate::web) mod matchups;
pub(in crate::web) mod me;
pub(in crate::web) mod models;
pub(in crate::web) mod prompts;
pub(in crate::web) mod runs;
pub(in crate::web) mod sandbox;
pub(in crate::web) mod tasks;
pub(in crate::web) mod world;
