//! All integration tests, in a single binary so that it links once.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod a2a_server;
mod admin;
mod agents;
mod arena;
mod arena_page;
mod backups;
mod builds;
mod cards;
mod chat;
mod check;
mod console;
mod database;
mod dataset;
mod disconnects;
mod embedded;
mod exports;
mod heavy_work;
mod http;
mod imports;
mod jobs;
mod ladder;
mod naming;
mod openapi;
mod outages;
mod pages;
mod providers;
mod sandbox;
mod shipped_builds;
mod slow_clients;
mod style_guide;
mod support;
mod turntables;
mod viewer;
mod world;
