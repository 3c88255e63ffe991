//! What a model answers: its scores, or its choice between two builds.
//!
//! An answer is JSON in the form that was asked for, alone, in a fence or between sentences. Models that were trained
//! on other forms of the same question answer with lines such as `Task Progress: 7`, which are read as well. Whatever
//! cannot be read is missing and reported, so that the model can be asked again.

mod choice;
mod found_json;
mod names;
mod scores;

use serde_json::{Value, json};

use self::names::MAX_SENTENCE_CHARS;
use super::criteria::{Criterion, CriterionSet};
use super::scores::{MAX_SCORE, Scores};
use crate::arena::Choice;

/// The end of an answer that is read. The form that was asked for takes some 2 kB; models that think aloud write more
/// before it.
const MAX_READ_BYTES: usize = 64 << 10;

/// The scores in a model's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JudgeAnswer {
    /// Of criteria that apply.
    pub scores: Scores,
    /// What each score rests on, a sentence in the model's words; empty if it gave none.
    pub evidence: Vec<(Criterion, String)>,
    /// The criteria that apply and were not answered.
    pub missing: Vec<Criterion>,
    pub note: Option<String>,
}

/// A model's choice between two builds, as it saw them: A was the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairAnswer {
    pub choice: Choice,
    pub reason: Option<String>,
}

/// Why an answer could not be read, in words that can be sent back to the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct UnreadableJudgement {
    pub code: &'static str,
    pub message: String,
}

impl JudgeAnswer {
    /// Reads an answer about the criteria that apply.
    ///
    /// # Errors
    /// If none of them has a score.
    pub fn read(text: &str, applicable: CriterionSet) -> Result<Self, UnreadableJudgement> {
        scores::read(end_of(text), applicable)
    }
}

impl PairAnswer {
    /// # Errors
    /// If the answer makes no choice.
    pub fn read(text: &str) -> Result<Self, UnreadableJudgement> {
        choice::read(end_of(text))
    }
}

/// The form of an answer with scores.
pub fn score_schema(applicable: CriterionSet) -> Value {
    let score = |criterion: Criterion| {
        let schema = json!({
            "type": "object",
            "description": criterion.title(),
            "properties": {
                "evidence": {
                    "type": "string",
                    "description": "One sentence: what in the pictures the score rests on.",
                    "maxLength": MAX_SENTENCE_CHARS,
                },
                "score": { "type": "number", "minimum": 0, "maximum": MAX_SCORE },
            },
            "required": ["evidence", "score"],
            "additionalProperties": false,
        });
        (criterion.key().to_owned(), schema)
    };
    let keys: Vec<&str> = applicable.iter().map(Criterion::key).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "scores": {
                "type": "object",
                "properties": Value::Object(applicable.iter().map(score).collect()),
                "required": keys,
                "additionalProperties": false,
            },
            "note": { "type": "string", "description": "Anything else worth knowing; may be empty." },
        },
        "required": ["scores", "note"],
        "additionalProperties": false,
    })
}

/// The form of an answer with a choice.
pub fn pair_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "reason": {
                "type": "string",
                "description": "One or two sentences: what in the pictures decides it.",
                "maxLength": MAX_SENTENCE_CHARS,
            },
            "choice": { "type": "string", "enum": Choice::ALL.map(Choice::name) },
        },
        "required": ["reason", "choice"],
        "additionalProperties": false,
    })
}

fn end_of(text: &str) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(MAX_READ_BYTES))..]
}

#[cfg(test)]
mod tests;
