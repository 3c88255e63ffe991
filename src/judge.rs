//! Judges: vision models, or people with a form, who give a build or a run up to six scores, and who say of two builds
//! of one prompt which is better.
//!
//! Everything here is pure: no SQL, no HTTP, no clock. [`criteria`] says what is scored, [`scores`] what the scores make
//! together, [`prompting`] what a model is told, and [`answer`] reads what it says. [`log`] has the records of
//! `judgements.jsonl`, and [`agreement`] measures from them, and from the voters' votes, how good each judge is.

pub mod agreement;
pub mod answer;
pub mod criteria;
pub mod log;
pub mod prompting;
pub mod scores;

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Who judges: a model of the catalog, or people with the form.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct Judge {
    #[schema(inline)]
    pub kind: JudgeKind,
    /// A model's key, or a name for the people.
    #[schema(example = "openai_gpt_5_5")]
    pub key: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgeKind {
    Model,
    People,
}

impl Judge {
    /// All people together, who are one judge.
    pub fn people() -> Self {
        Self { kind: JudgeKind::People, key: "people".to_owned() }
    }

    pub fn model(key: impl Into<String>) -> Self {
        Self { kind: JudgeKind::Model, key: key.into() }
    }
}

impl JudgeKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::People => "people",
        }
    }
}

impl fmt::Display for JudgeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
