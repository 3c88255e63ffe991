//! Everything that is tested from outside, in one binary so that it links once.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod arena;
mod builds;
mod check;
mod database;
mod embedded;
mod http;
mod pages;
mod specimen;
mod support;
mod viewer;
mod voxel;
