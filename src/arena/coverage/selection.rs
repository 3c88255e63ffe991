//! Which slots of the matrix are meant, by models, prompts and tags.

use std::fmt;

use super::Coverage;
use crate::arena::catalog::Prompt;
use crate::arena::{ModelKey, PromptId};

/// Slots of the arena. A list without entries stands for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotSelection {
    pub models: Vec<ModelKey>,
    pub prompts: Vec<PromptId>,
    /// Prompts with any of these tags.
    pub tags: Vec<String>,
}

/// Something that a selection names and that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownInSelection {
    Model(ModelKey),
    Prompt(PromptId),
    Tag(String),
}

impl SlotSelection {
    pub fn includes_model(&self, key: &ModelKey) -> bool {
        self.models.is_empty() || self.models.contains(key)
    }

    pub fn includes_prompt(&self, prompt: &Prompt) -> bool {
        (self.prompts.is_empty() || self.prompts.contains(&prompt.id))
            && (self.tags.is_empty() || self.tags.iter().any(|tag| prompt.tags.contains(tag)))
    }

    /// The first name that nothing has, so that a typing error is not taken for an empty selection.
    pub fn check(&self, coverage: &Coverage) -> Result<(), UnknownInSelection> {
        let Coverage { models, prompts, .. } = coverage;
        let has_model = |key: &ModelKey| models.iter().any(|listed| listed.model.key == *key);
        let has_prompt = |id: &PromptId| prompts.iter().any(|listed| listed.prompt.id == *id);
        let has_tag = |tag: &String| prompts.iter().any(|listed| listed.prompt.tags.contains(tag));
        if let Some(key) = self.models.iter().find(|key| !has_model(key)) {
            return Err(UnknownInSelection::Model(key.clone()));
        }
        if let Some(id) = self.prompts.iter().find(|id| !has_prompt(id)) {
            return Err(UnknownInSelection::Prompt(id.clone()));
        }
        if let Some(tag) = self.tags.iter().find(|tag| !has_tag(tag)) {
            return Err(UnknownInSelection::Tag(tag.clone()));
        }
        Ok(())
    }
}

impl fmt::Display for UnknownInSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(key) => write!(f, "The model {key} does not exist."),
            Self::Prompt(id) => write!(f, "The prompt {id} does not exist."),
            Self::Tag(tag) => write!(f, "No prompt has the tag {tag}."),
        }
    }
}

impl std::error::Error for UnknownInSelection {}
