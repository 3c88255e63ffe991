//! What each model did not support, so that not every request to it begins with one that is refused.
//!
//! This is known until the server restarts. A request that asks for something else, for example because an admin has
//! changed the model's options, is sent as it is.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::super::{Adjustment, CompletionRequest, ModelOptions, Note};
use super::options::RequestOptions;

/// For how many models, options and schemas this is remembered. The oldest is forgotten first.
const MAX_LEARNED: usize = 256;

#[derive(Default)]
pub(super) struct LearnedOptions(Mutex<VecDeque<Learned>>);

struct Learned {
    model: String,
    asked: ModelOptions,
    schema: Option<Arc<Value>>,
    options: RequestOptions,
    notes: Vec<Note>,
}

impl Learned {
    fn is_of(&self, request: &CompletionRequest) -> bool {
        self.model == request.model && self.asked == request.options && self.schema == request.schema
    }
}

impl LearnedOptions {
    /// The options of the last such request that was answered, and how they differ from what is asked for.
    pub fn recall(&self, request: &CompletionRequest) -> Option<(RequestOptions, Vec<Note>)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let learned = all.iter().find(|learned| learned.is_of(request))?;
        Some((learned.options.clone(), learned.notes.clone()))
    }

    /// Remembers the options of a request that was answered.
    pub fn learn(&self, request: &CompletionRequest, options: &RequestOptions, notes: &[Note]) {
        if notes.is_empty() {
            return;
        }
        let (mut options, mut notes) = (options.clone(), notes.to_vec());
        // How much room a context leaves depends on the prompt, and the next one may be shorter.
        if options.forget_limit_of_prompt() {
            notes.retain(|note| !matches!(note.step, Adjustment::FewerTokens { .. }));
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|learned| !learned.is_of(request));
        if notes.is_empty() {
            return;
        }
        if all.len() == MAX_LEARNED {
            all.pop_front();
        }
        all.push_back(Learned {
            model: request.model.clone(),
            asked: request.options,
            schema: request.schema.clone(),
            options,
            notes,
        });
    }
}
