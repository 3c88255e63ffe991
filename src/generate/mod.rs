//! Generation: sending prompts to models until an answer is usable.
//!
//! A [`CompletionRequest`] goes to a [`ModelProvider`]. The answer streams in, is passed on as [`Delta`]s, and ends as a
//! [`CompletionResponse`] or as a [`GenerateError`] that keeps what was paid for. The [`attempts`] loop repeats this
//! until a [`Task`](attempts::Task) accepts the answer; [`build`] is the task of building, and [`prompting`] writes its
//! prompts. [`cost`] computes what an answer costs.
//!
//! Each provider's protocol is in the file of its name. `client` is what all of them share: sending, reading the
//! stream, timeouts, retries, and repeating a request without what the provider does not support.
//!
//! Nothing here touches the database; what an attempt and its usage are, it shares with `arena::jobs::attempts`.

pub mod a2a;
mod agent_secrets;
mod anthropic;
pub mod attempts;
mod batches;
pub mod build;
mod client;
mod compatible;
pub mod cost;
mod error;
mod google;
mod openai;
mod progress;
mod prompt_pictures;
pub mod prompting;
mod providers;
mod schema;
mod secret;
mod thoughts;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;

pub use self::agent_secrets::AgentSecrets;
pub use self::batches::{
    BatchAnswer, BatchAnswers, BatchApi, BatchEnd, BatchStatus, EndedBatch, LostBatch, PreparedBatch,
};
use self::client::{Protocol, ProviderClient};
use self::error::Result;
pub use self::error::{GenerateError, GenerateErrorKind};
pub use self::progress::Progress;
pub use self::prompt_pictures::{PictureFormat, PictureLimits, PromptPicture};
pub use self::providers::{ProviderRegister, Providers};
pub use self::secret::Secret;
pub use crate::arena::catalog::{EffortSet, ModelOptions, ProviderKind, ThinkingEffort};
pub use crate::arena::jobs::attempts::{SentOptions, Usage};
use crate::outbound::{OutboundRefused, PinnedHost};

/// Answers requests. Dropping the future ends the request at the provider.
#[async_trait]
pub trait ModelProvider: Send + Sync {
    async fn ask(
        &self,
        request: &CompletionRequest,
        on_delta: &mut (dyn for<'d> FnMut(Delta<'d>) + Send),
    ) -> Result<CompletionResponse>;

    /// How long to wait before the same request is sent again, after so many answers in a row broke off because of the
    /// provider. None if it should not be sent again.
    fn retry_wait(&self, error: &GenerateError, failures: u32) -> Option<Duration>;

    /// How to send many requests at once, if the provider has a way.
    fn batches(&self) -> Option<Box<dyn BatchApi + '_>> {
        None
    }

    /// Reads an answer from its beginning that is made in the background, by the provider's id.
    async fn resume(
        &self,
        _id: &str,
        request: &CompletionRequest,
        on_delta: &mut (dyn for<'d> FnMut(Delta<'d>) + Send),
    ) -> Result<CompletionResponse> {
        self.ask(request, on_delta).await
    }

    /// Ends an answer that is made in the background.
    async fn cancel(&self, _id: &str) -> Result<()> {
        Ok(())
    }

    /// Logs an answer that was rejected, if the provider is configured to.
    fn log_rejected(&self, _answer: &str, _why: &str) {}
}

/// With `log_raw`, responses that could not be used are logged, without the key. Of long ones, the beginning and the
/// end are logged.
pub fn provider(
    endpoint: &Endpoint,
    limits: RequestLimits,
    log_raw: bool,
) -> Result<Arc<dyn ModelProvider>, EndpointError> {
    let protocol: Box<dyn Protocol> = match endpoint.provider {
        ProviderKind::A2a => return agent_provider(endpoint, true, limits, log_raw),
        ProviderKind::OpenAi => Box::new(openai::OpenAiProtocol),
        ProviderKind::Anthropic => Box::new(anthropic::AnthropicProtocol),
        ProviderKind::Google => Box::new(google::GoogleProtocol),
        ProviderKind::Compatible => Box::new(compatible::CompatibleProtocol),
    };
    Ok(Arc::new(ProviderClient::new(endpoint, protocol, limits, log_raw)?))
}

/// A client of an agent. Where private addresses are not allowed, the agent's own address is looked up and judged again
/// whenever its card is read.
pub fn agent_provider(
    endpoint: &Endpoint,
    allows_private: bool,
    limits: RequestLimits,
    log_raw: bool,
) -> Result<Arc<dyn ModelProvider>, EndpointError> {
    Ok(Arc::new(a2a::A2aProvider::new(endpoint, allows_private, limits, log_raw)?))
}

/// Where requests to a model go.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub provider: ProviderKind,
    /// In the form that the provider's own clients take: with `/v1` for OpenAI and compatible endpoints, without a
    /// version for Anthropic and Google, where one is accepted too.
    pub base_url: String,
    pub key: Option<Secret>,
    /// Set for addresses that users name.
    pub pinned: Option<PinnedHost>,
}

/// Why no request can be sent to an endpoint.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error(transparent)]
    Address(#[from] OutboundRefused),
    #[error("the key contains characters that cannot be sent in a header")]
    BadKey,
    #[error("encrypted connections cannot be set up: {0}")]
    NoTls(String),
}

/// What a model is asked, and how.
#[derive(Clone, Debug)]
pub struct CompletionRequest {
    /// The provider's own id.
    pub model: String,
    /// Whether the model sees pictures. A prompt with pictures is not sent to one that does not.
    pub vision: bool,
    pub prompt: ChatPrompt,
    /// The form of the answer, where the provider can hold a model to it.
    pub schema: Option<Arc<Value>>,
    /// Changed or left out one by one where the model does not support them.
    pub options: ModelOptions,
    /// What is asked for, as data, for agents. Models get it in words.
    pub data: Option<Arc<Value>>,
    /// The agent's id of the conversation that this carries on.
    pub context: Option<String>,
}

/// What a request says and shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatPrompt {
    pub system: String,
    pub user: String,
    /// Shown in this order, each after its label, before the text of the user: providers advise to ask about pictures
    /// that were seen already.
    pub pictures: Arc<[PromptPicture]>,
}

impl ChatPrompt {
    pub fn new(system: impl Into<String>, user: impl Into<String>) -> Self {
        Self { system: system.into(), user: user.into(), pictures: Arc::default() }
    }

    pub fn with_pictures(self, pictures: impl Into<Arc<[PromptPicture]>>) -> Self {
        Self { pictures: pictures.into(), ..self }
    }
}

#[derive(Clone, Debug, Default)]
pub struct CompletionResponse {
    pub text: String,
    pub usage: Usage,
    pub sent: SentOptions,
    pub notes: Vec<Note>,
    /// An agent's id of the conversation.
    pub context: Option<String>,
}

/// What the provider did not support, and how the request was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    pub step: Adjustment,
    /// In the provider's words.
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Adjustment {
    FewerTokens {
        from: u32,
        to: u32,
    },
    NewNameForTokenLimit,
    NoSchema,
    /// From the effort that was asked for to the one that was sent.
    Effort {
        from: ThinkingEffort,
        to: ThinkingEffort,
    },
    /// Not to think was asked of a model that never does.
    NoEffort,
    NoThinkingSummary,
    NoTemperature,
    NoStreamedUsage,
    NoReasoningSplit,
    SystemInFirstTurn,
    NoBackground,
    /// The request was one of a batch.
    Batch,
}

/// A piece of what streams in.
#[derive(Debug)]
pub enum Delta<'a> {
    Text(&'a str),
    Thinking {
        chars: usize,
    },
    /// The sum over all requests so far.
    Usage(&'a Usage),
    /// An agent says in a sentence how its work goes on.
    Progress(&'a str),
    /// The provider's id of the answer.
    Remote {
        id: &'a str,
    },
    /// A request is sent: the first, or another one after the provider was busy or did not support something.
    Sent,
    /// The provider is busy; the request is repeated after a while. `attempt` is the one that failed, from 1.
    Waiting {
        attempt: u32,
        reason: String,
        seconds: f64,
    },
}

/// How long a request may take, and how large its answer may be.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    pub connect: Duration,
    /// From sending a request to the first byte of the response.
    pub first_byte: Duration,
    /// Between two pieces of the response.
    pub idle: Duration,
    /// For everything, waiting and retries included.
    pub total: Duration,
    /// Of answer text.
    pub max_bytes: usize,
    /// How often a request is sent to a busy provider.
    pub tries: u32,
    /// The wait before the first retry. Each later one is twice as long.
    pub backoff: Duration,
    /// The longest wait. If the provider demands more, the request has failed.
    pub max_wait: Duration,
}

impl RequestLimits {
    /// For what a person waits for in front of a form.
    pub fn quick() -> Self {
        let wait = Duration::from_secs(5);
        Self {
            connect: wait,
            first_byte: wait,
            idle: wait,
            total: Duration::from_secs(8),
            tries: 1,
            ..Self::default()
        }
    }

    /// For requests that a person waits for.
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
