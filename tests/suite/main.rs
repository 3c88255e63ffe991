//! Everything that is tested from outside, in one binary so that it links once.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod admin;
mod arena;
mod arena_page;
mod builds;
mod cards;
mod chat;
mod check;
mod console;
mod database;
mod embedded;
mod exhibition;
mod exports;
mod heavy_work;
mod http;
mod imports;
mod jobs;
mod ladder;
mod leaving;
mod openapi;
mod pages;
mod providers;
mod sandbox;
mod specimen;
mod support;
mod turntables;
mod viewer;
