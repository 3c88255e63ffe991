//! Models and prompts that a command is about, and addresses with their names.

use std::fmt::Display;

use url::form_urlencoded;

use crate::arena::{ModelKey, PromptId};

#[derive(clap::Args)]
pub(super) struct SelectionArgs {
    /// Only builds by this model; can be repeated.
    #[arg(long = "model", value_name = "KEY")]
    pub models: Vec<ModelKey>,
    /// Only builds of this prompt; can be repeated.
    #[arg(long = "prompt", value_name = "ID")]
    pub prompts: Vec<PromptId>,
}

/// The query of an address.
#[derive(Default)]
pub(super) struct AddressQuery(Vec<(&'static str, String)>);

impl AddressQuery {
    pub fn of(selection: &SelectionArgs) -> Self {
        Self::default().names("model", &selection.models).names("prompt", &selection.prompts)
    }

    pub fn flag(self, name: &'static str, is_set: bool) -> Self {
        self.value(name, is_set.then_some(1))
    }

    pub fn value(mut self, name: &'static str, value: Option<impl Display>) -> Self {
        self.0.extend(value.map(|value| (name, value.to_string())));
        self
    }

    pub fn names(self, name: &'static str, values: &[impl Display]) -> Self {
        let joined = values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        self.value(name, (!values.is_empty()).then_some(joined))
    }

    pub fn address(&self, path: &str) -> String {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }
}
