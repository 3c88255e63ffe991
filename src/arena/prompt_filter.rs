//! Which prompts a ladder is about.

/// Prompts by a tag, and by whether they are held out. Without either, all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PromptFilter {
    pub tag: Option<String>,
    pub held_out: Option<bool>,
}

impl PromptFilter {
    pub fn held_out() -> Self {
        Self { held_out: Some(true), ..Self::default() }
    }

    /// The prompts that are not held out.
    pub fn public() -> Self {
        Self { held_out: Some(false), ..Self::default() }
    }

    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }
}
