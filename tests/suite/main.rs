//! Everything that is tested from outside, in one binary so that it links once.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod arena;
mod arena_page;
mod builds;
mod chat;
mod check;
mod database;
mod embedded;
mod http;
mod ladder;
mod pages;
mod providers;
mod specimen;
mod support;
mod viewer;
mod voxel;
