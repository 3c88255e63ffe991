//! JSON and files, for programs: everything under `/api`.

pub(in crate::web) mod admin;
pub(in crate::web) mod agents;
pub(in crate::web) mod arena;
pub(in crate::web) mod assessments;
pub(in crate::web) mod boards;
pub(in crate::web) mod builds;
pub(in crate::web) mod check;
pub(in crate::web) mod dataset;
pub(in crate::web) mod decisions;
pub(in crate::web) mod exports;
pub(in crate::web) mod generate;
pub(in crate::web) mod judge;
pub(in crate::web) mod judgements;
pub(in crate::web) mod judges;
pub(in crate::web) mod leaderboard;
pub(in crate::web) mod models;
pub(in crate::web) mod runs;
pub(in crate::web) mod sandbox;
pub(in crate::web) mod schema;
pub(in crate::web) mod turntables;
pub(in crate::web) mod votes;
