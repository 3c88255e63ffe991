//! The library through its public face.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cards;
mod client;
mod server;
mod wire;
