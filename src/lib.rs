//! Buildoff: a voxel build arena. The floors, from the ground up, are listed in `ARCHITECTURE.md`.

pub mod app;
pub mod arena;
pub mod background;
pub mod cli;
pub mod config;
pub mod db;
pub mod generate;
pub mod limits;
pub mod logging;
pub mod metrics;
pub mod outbound;
pub mod pictures;
pub mod sandbox;
pub mod turntables;
pub mod web;
pub mod work;
pub mod worker;
