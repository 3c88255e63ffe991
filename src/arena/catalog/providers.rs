//! Providers of models, prices, and options of requests.

mod efforts;

use serde::{Deserialize, Serialize};

pub use self::efforts::{EffortSet, ThinkingEffort};

/// No build fits in fewer tokens. A model is never asked for a shorter answer, whatever an admin or a provider says.
pub const MIN_OUTPUT_TOKENS: u32 = 1024;

/// A service that offers models.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Provider {
    pub key: String,
    pub display_name: String,
    pub kind: ProviderKind,
    /// Without a trailing slash.
    pub base_url: String,
    /// The environment variable that holds the API key; none where no key is needed.
    #[serde(default)]
    pub key_variable: Option<String>,
    /// What requests in a batch cost, as a part of the list price; none where there is no batch API.
    #[serde(default)]
    pub batch_price: Option<f64>,
}

/// The protocol that a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    OpenAi,
    Anthropic,
    Google,
    /// OpenAI's chat completions, offered by others.
    Compatible,
    /// An agent, asked over the A2A protocol.
    A2a,
}

/// In dollars per million tokens. Reasoning counts as output.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    pub input: f64,
    /// Of input that the provider read from its cache; as other input where it is not set.
    #[serde(default, rename = "cachedInput", skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    pub output: f64,
}

/// Options of requests that differ from the provider's defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelOptions {
    pub effort: Option<ThinkingEffort>,
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u32>,
    /// The efforts that the model takes. If nothing is known of that, the set is empty.
    #[serde(skip_serializing_if = "EffortSet::is_empty")]
    pub efforts: EffortSet,
    /// Whether answers are made in the background, where the provider has that: they go on if the connection or the
    /// server is lost, and are fetched later.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
}

impl Provider {
    /// The environment variable that overrides the address: for `OPENAI_API_KEY`, it is `OPENAI_BASE_URL`.
    pub fn address_variable(&self) -> Option<String> {
        let variable = self.key_variable.as_deref()?;
        Some(format!("{}_BASE_URL", variable.strip_suffix("_API_KEY").unwrap_or(variable)))
    }

    /// What is wrong with it, as a sentence.
    pub(super) fn problem(&self) -> Option<String> {
        let Self { key, base_url, .. } = self;
        if !is_key(key) {
            return Some(format!("a provider's key may only contain a-z, 0-9 and _, unlike {key:?}"));
        }
        if !is_address(base_url) {
            return Some(format!(
                "the baseUrl of {key} must be an address that begins with http:// or https://, without ? or #"
            ));
        }
        let variable = self.key_variable.as_deref().filter(|name| !is_variable(name));
        if self.batch_price.is_some() && matches!(self.kind, ProviderKind::Compatible | ProviderKind::A2a) {
            return Some(format!(
                "{key} cannot have a batchPrice: providers of the kinds compatible and a2a have no batch API"
            ));
        }
        if self.batch_price.is_some_and(|price| !(price > 0.0 && price <= 1.0)) {
            return Some(format!(
                "the batchPrice of {key} must be a part of the list price, above 0 and up to 1"
            ));
        }
        // The value may be an API key by mistake, so the message does not repeat it.
        variable.map(|_| {
            format!(
                "the keyVariable of {key} must be the name of an environment variable, made of A-Z, 0-9 and _"
            )
        })
    }
}

impl Prices {
    /// A part of these prices, as for requests in a batch.
    pub fn times(self, part: f64) -> Self {
        Self {
            input: self.input * part,
            cached_input: self.cached_input.map(|price| price * part),
            output: self.output * part,
        }
    }

    pub(super) fn problem(self) -> Option<String> {
        let prices = [Some(self.input), self.cached_input, Some(self.output)];
        let sound = prices.iter().flatten().all(|price| (0.0..=1e6).contains(price));
        (!sound).then(|| "prices must be dollars per million tokens, not below 0".to_owned())
    }
}

impl ModelOptions {
    /// What is asked for, without what is merely known of the model, and without the way in which answers are fetched.
    #[must_use]
    pub fn asked(self) -> Self {
        Self { efforts: EffortSet::default(), background: false, ..self }
    }

    pub(super) fn problem(&self) -> Option<String> {
        if self.temperature.is_some_and(|degree| !(0.0..=2.0).contains(&degree)) {
            return Some("the temperature must be from 0 to 2".to_owned());
        }
        self.max_output_tokens
            .filter(|tokens| *tokens < MIN_OUTPUT_TOKENS)
            .map(|_| format!("maxOutputTokens must be at least {MIN_OUTPUT_TOKENS}: no build fits in less"))
    }
}

pub(super) fn is_key(text: &str) -> bool {
    is_word(text, char::is_ascii_lowercase)
}

/// Whether this can be the name of an environment variable.
pub(super) fn is_variable(text: &str) -> bool {
    is_word(text, char::is_ascii_uppercase)
}

fn is_word(text: &str, is_letter: impl Fn(&char) -> bool) -> bool {
    (1..=64).contains(&text.len()) && text.chars().all(|c| is_letter(&c) || c.is_ascii_digit() || c == '_')
}

/// Whether this can be the address of a provider.
pub fn is_address(text: &str) -> bool {
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    let is_plain = !text.contains(['?', '#', '@']);
    is_web
        && is_plain
        && text.parse::<hyper::Uri>().is_ok_and(|uri| uri.host().is_some_and(|h| !h.is_empty()))
}
