//! The error of everything between a provider and a job: one type, from an event in a stream up to the failure that
//! is stored or shown.

use std::time::Duration;

use reqwest::StatusCode;

use super::CompletionResponse;
use crate::arena::jobs::pauses::ProviderTrouble;

pub type Result<T, E = GenerateError> = std::result::Result<T, E>;

/// Why no usable answer came.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct GenerateError {
    pub kind: GenerateErrorKind,
    /// For people. It never contains the key.
    pub message: String,
    /// Whether an answer had begun. Its tokens are paid for, so the client does not repeat the request by itself.
    pub began: bool,
    /// As much of the answer as came, and what it took.
    pub partial: Box<CompletionResponse>,
    /// What the listener of the attempt loop returned, if that ended the loop.
    pub cancelled_by: Option<anyhow::Error>,
    pub(super) retry: Retry,
    pub(super) status: Option<StatusCode>,
    /// The parameter that the provider objects to.
    pub(super) param: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerateErrorKind {
    BadKey,
    NoCredit,
    NoSuchModel,
    /// The provider does not understand or does not support what we sent.
    BadRequest,
    /// An agent waits for input or for a login, neither of which will come.
    NeedsInput,
    /// The model declined.
    Refused,
    /// The provider's filter withheld the prompt or the answer.
    Filtered,
    /// The model ran out of tokens.
    Truncated,
    Empty,
    /// Nothing came for too long.
    Stalled,
    /// Data kept coming, but the whole took too long.
    TimedOut,
    /// The connection ended before the answer did.
    CutOff,
    TooLarge,
    RateLimited,
    /// The provider is in trouble, by its own account.
    Overloaded,
    Unreachable,
    /// Not as the protocol demands: HTML, half a JSON, events out of order.
    BadAnswer,
    /// A whole answer, but not what was requested, for the reason that the code names.
    Rejected(&'static str),
    /// A whole answer that could not be checked.
    Unread,
    /// The listener ended the attempt loop.
    Cancelled,
    /// This server's own budget does not allow the request.
    OverBudget,
    /// The provider did not answer within the time that it has for a batch.
    Expired,
}

/// Whether the provider wants the same request again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    /// The kind of the error decides.
    Unspecified,
    After(Duration),
    Never,
}

impl GenerateErrorKind {
    pub fn code(self) -> &'static str {
        match self {
            Self::BadKey => "bad_key",
            Self::NoCredit => "no_credit",
            Self::NoSuchModel => "no_such_model",
            Self::BadRequest => "bad_request",
            Self::NeedsInput => "needs_input",
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
            Self::Rejected(code) => code,
            Self::Unread => "unread",
            Self::Cancelled => "cancelled",
            Self::OverBudget => "over_budget",
            Self::Expired => "expired",
        }
    }

    /// Whether the same request would fail again until something else changes.
    pub fn is_final(self) -> bool {
        match self {
            Self::BadKey | Self::NoCredit | Self::NoSuchModel | Self::BadRequest => true,
            Self::NeedsInput
            | Self::Refused
            | Self::Filtered
            | Self::Unread
            | Self::Cancelled
            | Self::OverBudget => true,
            Self::Truncated | Self::Empty | Self::TooLarge | Self::BadAnswer | Self::CutOff => false,
            Self::Stalled | Self::TimedOut | Self::Rejected(_) => false,
            Self::RateLimited | Self::Overloaded | Self::Unreachable | Self::Expired => false,
        }
    }

    /// The trouble that other requests to the provider would meet, too.
    pub fn provider_trouble(self) -> Option<ProviderTrouble> {
        match self {
            Self::BadKey => Some(ProviderTrouble::BadKey),
            Self::NoCredit => Some(ProviderTrouble::NoCredit),
            Self::RateLimited => Some(ProviderTrouble::RateLimited),
            Self::Overloaded => Some(ProviderTrouble::Overloaded),
            Self::Unreachable => Some(ProviderTrouble::Unreachable),
            Self::Stalled => Some(ProviderTrouble::Stalled),
            _ => None,
        }
    }

    /// Whether the provider was not available at all.
    pub(super) fn is_unavailable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Overloaded | Self::Unreachable)
    }
}

impl GenerateError {
    pub(super) fn new(kind: GenerateErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            began: false,
            partial: Box::default(),
            cancelled_by: None,
            retry: Retry::Unspecified,
            status: None,
            param: None,
        }
    }

    pub(super) fn cut_off() -> Self {
        Self::new(GenerateErrorKind::CutOff, "the stream ended before the answer did")
    }

    /// For a response that is nothing like an answer: the same would come again.
    pub(super) fn unusable(message: impl Into<String>) -> Self {
        Self { retry: Retry::Never, ..Self::new(GenerateErrorKind::BadAnswer, message) }
    }

    pub(super) fn truncated() -> Self {
        Self::new(GenerateErrorKind::Truncated, "the model reached its token limit before it was done")
    }

    pub(super) fn refused(reason: &str) -> Self {
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        Self::new(GenerateErrorKind::Refused, format!("the model declined{reason}"))
    }

    pub(super) fn filtered() -> Self {
        Self::new(GenerateErrorKind::Filtered, "the provider's filter withheld the answer")
    }

    pub(super) fn stalled(limit: Duration) -> Self {
        Self::new(GenerateErrorKind::Stalled, format!("nothing came for {} s", limit.as_secs_f64()))
    }

    pub(super) fn cancelled(error: anyhow::Error) -> Self {
        let message = format!("the attempt could not be recorded: {error:#}");
        Self { cancelled_by: Some(error), ..Self::new(GenerateErrorKind::Cancelled, message) }
    }

    /// For a request that was not sent because this server's budget does not allow it.
    pub fn over_budget(message: impl Into<String>) -> Self {
        Self::new(GenerateErrorKind::OverBudget, message)
    }

    /// Whether the provider has said that it did not accept the request. After other errors the request may have arrived.
    pub fn is_rejection(&self) -> bool {
        self.status.is_some_and(|status| status.is_client_error() && status != StatusCode::REQUEST_TIMEOUT)
    }

    /// Whether what the request was about does not exist at the provider.
    pub fn is_gone(&self) -> bool {
        self.status.is_some_and(|status| matches!(status.as_u16(), 404 | 410))
    }

    /// Whether the answer broke off because of the provider or the connection, which says nothing about the model.
    pub(super) fn is_interruption(&self) -> bool {
        let broke_off = self.kind == GenerateErrorKind::CutOff || (self.kind.is_unavailable() && self.began);
        broke_off && self.retry != Retry::Never
    }

    /// Whether the request was refused before the model began to answer, and therefore cost nothing.
    pub fn cost_nothing(&self) -> bool {
        use GenerateErrorKind::{BadKey, BadRequest, NoCredit, NoSuchModel, OverBudget};
        let is_refusal = matches!(self.kind, BadKey | NoCredit | NoSuchModel | BadRequest | OverBudget)
            || self.kind.is_unavailable();
        !self.began && (is_refusal || self.status.is_some())
    }

    /// Whether the end of the answer was lost, and with it what the provider reports only then.
    pub(super) fn lost_the_end(&self) -> bool {
        use GenerateErrorKind::{BadAnswer, CutOff, Stalled, TimedOut, TooLarge};
        matches!(self.kind, BadAnswer | CutOff | Stalled | TimedOut | TooLarge) || self.kind.is_unavailable()
    }

    /// Whether the same request would fail again.
    pub fn is_final(&self) -> bool {
        self.kind.is_final() || self.retry == Retry::Never
    }

    pub fn message_with_status(&self) -> String {
        match self.status {
            Some(status) => format!("{} ({status})", self.message),
            None => self.message.clone(),
        }
    }
}
