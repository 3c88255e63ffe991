//! Batches: many requests that are sent at once and answered within a day, at a lower price.
//!
//! A provider keeps a batch under an id of its own. Whoever submits one may die before that id is stored, so each batch
//! can be found again: by a key of ours where the provider keeps one, or else by its time and its size. Answers are
//! read one by one as they come, and each tells which request it answers.
//!
//! Each provider's form is in the `batches.rs` in the folder of its protocol.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Url;
use serde::de::DeserializeOwned;
use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use super::client::{HttpTransport, JsonLines};
use super::{CompletionRequest, CompletionResponse, GenerateError, Note, Result, SentOptions};

/// How many documents a list of batches is read in before the search is given up.
pub(super) const MAX_LIST_PAGES: usize = 20;

/// How far the clock of a provider may be off.
pub(super) const CLOCK_SKEW: Duration = Duration::from_secs(5 * 60);

/// Sends batches to one provider.
#[async_trait]
pub trait BatchApi: Send + Sync {
    /// Writes requests to the same model, each under its id: as many as fit into a batch, and at least one.
    fn prepare(&self, requests: Vec<(Uuid, CompletionRequest)>) -> Result<PreparedBatch>;

    /// Returns the provider's id of the batch.
    async fn submit(&self, key: Uuid, batch: PreparedBatch) -> Result<String>;

    /// Looks for a batch that may or may not have been submitted.
    async fn find(&self, lost: &LostBatch) -> Result<Option<String>>;

    /// Whether [`Self::find`] only guesses.
    fn finds_by_guess(&self) -> bool;

    async fn status(&self, id: &str) -> Result<BatchStatus>;

    /// Reads the answers of a batch whose requests were `requests`, in this order.
    async fn answers(&self, ended: EndedBatch, requests: Vec<Uuid>) -> Result<Box<dyn BatchAnswers + '_>>;

    async fn cancel(&self, id: &str) -> Result<()>;
}

/// A batch as it is about to be submitted.
pub struct PreparedBatch {
    pub(super) model: String,
    pub(super) requests: Vec<BatchRequest>,
    /// As in [`CompletionResponse`], for all requests.
    pub sent: SentOptions,
    pub notes: Vec<Note>,
}

pub(super) struct BatchRequest {
    pub id: Uuid,
    pub body: Value,
}

impl PreparedBatch {
    /// The requests that are in the batch, in their order.
    pub fn ids(&self) -> Vec<Uuid> {
        self.requests.iter().map(|request| request.id).collect()
    }
}

/// The answers of a batch, one by one.
#[async_trait]
pub trait BatchAnswers: Send {
    /// None after the last one. An answer that is too long or not to be understood is left out.
    async fn next(&mut self) -> Result<Option<BatchAnswer>>;
}

pub struct BatchAnswer {
    /// What the provider says it answers. Nobody has checked that.
    pub request: String,
    pub result: Result<CompletionResponse>,
}

/// A batch whose submission was begun, and of which nothing else is known.
#[derive(Clone, Debug)]
pub struct LostBatch {
    pub key: Uuid,
    pub submitting_at: OffsetDateTime,
    /// How many requests it has.
    pub requests: usize,
    /// The ids of batches that are known to be others.
    pub others: Vec<String>,
}

#[derive(Debug)]
pub enum BatchStatus {
    InProgress,
    Ended(EndedBatch),
}

#[derive(Debug)]
pub struct EndedBatch {
    pub end: BatchEnd,
    pub(super) source: AnswerSource,
}

/// How a batch has ended. Whatever came of it, some of its requests may have been answered.
#[derive(Debug)]
pub enum BatchEnd {
    Completed,
    /// Not all requests were answered in time.
    Expired,
    /// Somebody has cancelled it.
    Cancelled,
    Failed(Box<GenerateError>),
}

/// Where the answers of a batch are.
#[derive(Debug)]
pub(super) enum AnswerSource {
    /// In files of JSON lines.
    Files(Vec<Url>),
    /// Here already.
    Inline(Vec<Value>),
}

impl BatchEnd {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Failed(_) => "failed",
        }
    }
}

impl fmt::Display for BatchEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("the provider has completed the batch"),
            Self::Expired => f.write_str("the provider did not answer all requests of the batch in time"),
            Self::Cancelled => f.write_str("the batch was cancelled at the provider"),
            Self::Failed(error) => write!(f, "the provider refused the batch: {error}"),
        }
    }
}

/// The form that batches have at one provider.
#[async_trait]
pub(super) trait BatchProtocol: Send + Sync {
    async fn submit(&self, http: &HttpTransport, key: Uuid, batch: PreparedBatch) -> Result<String>;

    async fn find(&self, http: &HttpTransport, lost: &LostBatch) -> Result<Option<String>>;

    fn finds_by_guess(&self) -> bool {
        false
    }

    async fn status(&self, http: &HttpTransport, id: &str) -> Result<BatchStatus>;

    async fn cancel(&self, http: &HttpTransport, id: &str) -> Result<()>;

    /// Reads a line of a file, or an entry of a list that was sent inline. `expected` is the request at its place, for a
    /// provider that keeps the order. None for a request that was neither answered nor refused.
    fn entry(&self, entry: Value, expected: Option<Uuid>) -> Option<BatchEntry>;
}

/// What a provider sends about one request.
pub(super) struct BatchEntry {
    pub request: String,
    /// The document that answers the request, or why there is none.
    pub document: Result<Value>,
}

/// The entries of a batch, from wherever they are.
pub(super) enum BatchEntries<'a> {
    Files { http: &'a HttpTransport, left: Vec<Url>, open: Option<Box<JsonLines>>, bytes: usize },
    Inline(std::vec::IntoIter<Value>),
}

impl<'a> BatchEntries<'a> {
    pub fn new(http: &'a HttpTransport, source: AnswerSource) -> Self {
        match source {
            AnswerSource::Files(mut left) => {
                left.reverse();
                Self::Files { http, left, open: None, bytes: 0 }
            }
            AnswerSource::Inline(entries) => Self::Inline(entries.into_iter()),
        }
    }

    /// The next line that is JSON.
    pub async fn next(&mut self) -> Result<Option<Value>> {
        match self {
            Self::Inline(entries) => Ok(entries.next()),
            Self::Files { http, left, open, bytes } => loop {
                let Some(lines) = open else {
                    let Some(url) = left.pop() else { return Ok(None) };
                    *open = Some(Box::new(http.json_lines(url, *bytes).await?));
                    continue;
                };
                match lines.next().await? {
                    Some(line) => return Ok(Some(line)),
                    None => {
                        *bytes = lines.bytes();
                        *open = None;
                    }
                }
            },
        }
    }
}

/// Reads a document of a provider.
pub(super) fn read_document<T: DeserializeOwned>(document: Value) -> Result<T> {
    serde_json::from_value(document)
        .map_err(|_| GenerateError::unusable("the answer is not of the kind that was requested"))
}
