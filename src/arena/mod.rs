//! The benchmark: models, prompts, and the builds that are compared.

pub mod builds;
pub mod catalog;
pub mod exhibition;
pub mod gallery;
mod names;
mod settings;

pub use names::{ModelKey, PromptId};
pub use settings::{Mode, Settings};
