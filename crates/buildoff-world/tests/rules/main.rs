//! What programs around the world can rely on.

#![allow(clippy::unwrap_used)]

mod commands;
mod pipe;
