//! Buildoff: a voxel build arena. `ARCHITECTURE.md` describes its modules.

pub mod agent;
pub mod app;
pub mod arena;
pub mod assess;
pub mod assessor;
pub mod background;
pub mod cli;
pub mod client_network;
pub mod config;
pub mod dataset;
pub mod db;
pub mod generate;
pub mod judge;
pub mod judge_views;
pub mod limits;
pub mod logging;
pub mod metrics;
pub mod outbound;
pub mod person_check;
pub mod pictures;
pub mod sandbox;
pub mod turntables;
pub mod unpacked_grids;
pub mod web;
pub mod work;
pub mod worker;
