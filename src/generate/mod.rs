//! Asking models for builds: what they are told, how often, and one small trait in front of every provider.
//!
//! A [`CompletionRequest`] goes to a [`ModelProvider`]; what comes back streams in, is told to whoever listens, and ends as
//! a [`CompletionResponse`] or as a [`GenerateError`] that keeps what was paid for. How a provider speaks is in the file of its
//! name; what is the same for all (sending, reading the stream, patience, trying again, stepping down) is in
//! `client`. What turns answers into a build is in [`attempts`], what they cost in [`cost`], and what models are
//! told in [`prompting`]. Nothing here knows jobs or the database.

mod anthropic;
pub mod attempts;
mod client;
mod compatible;
pub mod cost;
mod google;
mod openai;
pub mod prompting;
mod providers;
mod schema;
mod secret;

use std::fmt::{self, Display};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;

use self::client::{Protocol, ProviderClient};
pub use self::providers::Providers;
pub use self::secret::Secret;
pub use crate::arena::catalog::{ProviderKind, ThinkingEffort};

/// Whom to ask. Dropping the future ends the request at the provider.
pub trait ModelProvider: Send + Sync {
    fn ask<'a>(
        &'a self,
        request: &'a CompletionRequest,
        on_delta: &'a mut (dyn FnMut(Delta<'_>) + Send),
    ) -> BoxFuture<'a, Result<CompletionResponse, GenerateError>>;

    /// Writes an answer that held no build to the log, where that is wanted.
    fn log_rejected(&self, _answer: &str, _why: &str) {}
}

/// `log_raw` writes what a provider sent to the log whenever it could not be used, without the key; of what is
/// long, the ends.
pub fn provider(
    endpoint: &Endpoint,
    limits: RequestLimits,
    log_raw: bool,
) -> Result<Arc<dyn ModelProvider>, EndpointError> {
    let protocol: Box<dyn Protocol> = match endpoint.provider {
        ProviderKind::OpenAi => Box::new(openai::OpenAiProtocol),
        ProviderKind::Anthropic => Box::new(anthropic::AnthropicProtocol),
        ProviderKind::Google => Box::new(google::GoogleProtocol),
        ProviderKind::Compatible => Box::new(compatible::CompatibleProtocol),
    };
    Ok(Arc::new(ProviderClient::new(endpoint, protocol, limits, log_raw)?))
}

/// Where a model is asked.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub provider: ProviderKind,
    /// As the provider's own clients take it: with `/v1` for OpenAI and those like it, without a version for
    /// Anthropic and Google, though one does no harm.
    pub base_url: String,
    pub key: Option<Secret>,
    pub pinned: Option<PinnedHost>,
}

/// Where a host is, found out once: nobody is asked elsewhere, whatever its name leads to later.
#[derive(Clone, Debug)]
pub struct PinnedHost {
    pub host: String,
    pub addresses: Vec<SocketAddr>,
}

/// Why nobody can be asked at an endpoint.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// Not repeated: a key may have been put into it.
    #[error("that is not an address such as https://api.example.com/v1, without ? and #")]
    BadAddress,
    #[error("an address must not hold a name or password; the key is given apart")]
    KeyInAddress,
    #[error("the key holds characters that cannot be sent in a header")]
    BadKey,
    #[error("encrypted connections cannot be set up: {0}")]
    NoTls(String),
}

/// One question to a model: a conversation that ends with what is asked now.
#[derive(Clone, Debug)]
pub struct CompletionRequest {
    /// The provider's own id.
    pub model: String,
    pub system: String,
    pub messages: Vec<ChatMessage>,
    /// What the answer should look like, where the provider can hold a model to it.
    pub schema: Option<Arc<Value>>,
    pub max_output_tokens: Option<u32>,
    pub options: GenerationOptions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    pub role: ChatRole,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatRole {
    User,
    Assistant,
}

/// What is sent only when it is set; each is left out again if the model does not know it.
#[derive(Clone, Copy, Debug, Default)]
pub struct GenerationOptions {
    pub effort: Option<ThinkingEffort>,
    pub temperature: Option<f64>,
}

#[derive(Clone, Debug)]
pub struct CompletionResponse {
    pub text: String,
    pub usage: Usage,
    pub notes: Vec<Note>,
}

/// Tokens, as far as the provider told. The output includes the reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    pub input: Option<u64>,
    pub output: Option<u64>,
    pub reasoning: Option<u64>,
}

/// What the provider would not do, and how the question was asked instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    pub step: Adjustment,
    /// In the provider's words.
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Adjustment {
    FewerTokens { from: u32, to: u32 },
    NoTokenLimit,
    NewNameForTokenLimit,
    NoSchema,
    NoEffort,
    NoThinkingSummary,
    NoTemperature,
    NoStreamedUsage,
}

/// Why there is no answer, with whatever had streamed in and what it took.
#[derive(Clone, Debug)]
pub struct GenerateError {
    pub kind: GenerateErrorKind,
    /// For people; it never holds a key.
    pub message: String,
    /// Asking the same again would end the same.
    pub is_final: bool,
    /// An answer had begun, so that nothing was asked again however the trouble may pass.
    pub began: bool,
    pub partial: String,
    pub usage: Usage,
    pub notes: Vec<Note>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GenerateErrorKind {
    BadKey,
    NoCredit,
    NoSuchModel,
    /// The provider does not understand what we sent, or does not do it.
    BadRequest,
    /// The model declined.
    Refused,
    /// The provider withheld the question or the answer.
    Filtered,
    /// The model ran out of tokens.
    Truncated,
    Empty,
    /// Nothing came for too long.
    Stalled,
    /// Something came all the time, but the whole took too long.
    TimedOut,
    /// The connection ended before the answer did.
    CutOff,
    TooLarge,
    RateLimited,
    /// The provider is in trouble, by its own account.
    Overloaded,
    Unreachable,
    /// Not what the protocol says: HTML, half a JSON, events out of order.
    BadAnswer,
    /// For those who stop asking; no provider says it.
    Cancelled,
}

/// What streams in, told often and cheap to ignore.
#[derive(Debug)]
pub enum Delta<'a> {
    Text(&'a str),
    Thinking {
        chars: usize,
    },
    /// Of all requests so far.
    Usage(&'a Usage),
    /// A request goes out: the first, or another one where the provider was busy or would not take it as it was.
    Sent,
    /// The provider is busy; it is asked again after a while. `attempt` is the one that failed, from 1.
    Waiting {
        attempt: u32,
        reason: String,
        seconds: f64,
    },
}

/// How long and how much is enough.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    pub connect: Duration,
    /// From sending to the first sign of an answer.
    pub first_byte: Duration,
    /// Between two signs of life.
    pub idle: Duration,
    /// For everything, waiting and trying again included.
    pub total: Duration,
    /// Of answer text.
    pub max_bytes: usize,
    /// How often a busy provider is asked.
    pub tries: u32,
    /// The first wait before asking again; each next one is twice as long.
    pub backoff: Duration,
    /// A provider that wants us to wait longer has failed.
    pub max_wait: Duration,
}

impl RequestLimits {
    /// With somebody waiting.
    pub fn interactive() -> Self {
        Self {
            first_byte: Duration::from_secs(5 * 60),
            idle: Duration::from_secs(2 * 60),
            total: Duration::from_secs(20 * 60),
            tries: 2,
            max_wait: Duration::from_secs(20),
            ..Self::default()
        }
    }
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(10 * 60),
            idle: Duration::from_secs(5 * 60),
            total: Duration::from_secs(60 * 60),
            max_bytes: 64 << 20,
            tries: 7,
            backoff: Duration::from_secs(2),
            max_wait: Duration::from_secs(2 * 60),
        }
    }
}

impl GenerateErrorKind {
    pub fn code(self) -> &'static str {
        match self {
            Self::BadKey => "bad_key",
            Self::NoCredit => "no_credit",
            Self::NoSuchModel => "no_such_model",
            Self::BadRequest => "bad_request",
            Self::Refused => "refused",
            Self::Filtered => "filtered",
            Self::Truncated => "truncated",
            Self::Empty => "empty",
            Self::Stalled => "stalled",
            Self::TimedOut => "timed_out",
            Self::CutOff => "cut_off",
            Self::TooLarge => "too_large",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Unreachable => "unreachable",
            Self::BadAnswer => "bad_answer",
            Self::Cancelled => "cancelled",
        }
    }

    /// Asking the same again will not help; something else has to change first.
    pub fn is_final(self) -> bool {
        match self {
            Self::BadKey | Self::NoCredit | Self::NoSuchModel | Self::BadRequest => true,
            Self::Refused | Self::Filtered | Self::Cancelled => true,
            Self::Truncated | Self::Empty | Self::TooLarge | Self::BadAnswer | Self::CutOff => false,
            Self::Stalled | Self::TimedOut => false,
            Self::RateLimited | Self::Overloaded | Self::Unreachable => false,
        }
    }
}

impl Usage {
    /// Takes over what is told anew, and keeps the rest.
    fn update(&mut self, newer: Self) {
        self.input = newer.input.or(self.input);
        self.output = newer.output.or(self.output);
        self.reasoning = newer.reasoning.or(self.reasoning);
    }
}

impl Display for Adjustment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewerTokens { from, to } => write!(f, "asked for {to} tokens instead of {from}"),
            Self::NoTokenLimit => f.write_str("asked without a token limit"),
            Self::NewNameForTokenLimit => f.write_str("asked with max_completion_tokens"),
            Self::NoSchema => f.write_str("asked for plain text, without the schema"),
            Self::NoEffort => f.write_str("asked without an effort"),
            Self::NoThinkingSummary => f.write_str("asked without summaries of the thinking"),
            Self::NoTemperature => f.write_str("asked without a temperature"),
            Self::NoStreamedUsage => f.write_str("asked without usage in the stream"),
        }
    }
}

impl Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.step, self.why)
    }
}

impl Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for GenerateError {}
