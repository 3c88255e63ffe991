//! The benchmark: what is compared with what.

mod settings;

pub use settings::{Mode, Settings};
