//! What the file of each provider's protocol implements, and what several of them need.

use reqwest::Url;
use reqwest::header::HeaderName;
use serde_json::Value;

use super::super::{CompletionRequest, EffortSet, GenerateError, Result};
use super::error_body::parse_error;
use super::options::RequestOptions;
use super::received::ReceivedAnswer;
use super::sse::SseEvent;
use super::text::clip;
use crate::generate::batches::BatchProtocol;

/// How many bytes of a model's refusal are kept.
const MAX_REFUSAL: usize = 4 << 10;

/// How a provider is addressed.
pub(in super::super) trait Protocol: Send + Sync {
    /// For people.
    fn name(&self) -> &'static str;
    /// Where requests go. The path of `base` may or may not end in a version.
    fn url(&self, base: &Url, model: &str) -> Url;
    /// Where an answer that is made in the background can be read from its beginning.
    fn resume_url(&self, _base: &Url, _id: &str) -> Option<Url> {
        None
    }
    /// Where an answer that is made in the background is cancelled.
    fn cancel_url(&self, _base: &Url, _id: &str) -> Option<Url> {
        None
    }
    /// The header that carries the key, and what stands before the key in it.
    fn key_header(&self) -> (HeaderName, &'static str);
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// Whether the stream repeats the whole text in a single event.
    fn repeats_text(&self) -> bool {
        false
    }
    /// The efforts that can be sent.
    fn efforts(&self) -> EffortSet {
        EffortSet::ALL
    }
    fn options(&self, request: &CompletionRequest) -> RequestOptions {
        RequestOptions::new(request)
    }
    fn body(&self, request: &CompletionRequest, options: &RequestOptions) -> serde_json::Result<Vec<u8>>;
    fn parser(&self) -> Box<dyn StreamParser>;
    fn batches(&self) -> Option<&'static dyn BatchProtocol> {
        None
    }
}

/// Reads an answer event by event.
pub(in super::super) trait StreamParser: Send {
    fn on_event(&mut self, event: &SseEvent, received: &mut ReceivedAnswer<'_>) -> Result<StreamFlow>;
    /// Whether the model has said that it is done, so that nothing that follows can matter.
    fn is_complete(&self) -> bool;
    /// Decides at the end of the stream whether the answer is whole.
    fn finish(&self) -> Result<()>;
    /// Reads an answer in one piece, from a provider that does not stream.
    fn on_document(&mut self, body: String, received: &mut ReceivedAnswer<'_>) -> Result<()> {
        Err(unexpected_document(&body, received))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum StreamFlow {
    Continue,
    Done,
}

/// An address below the base. A version is added unless the base has one already.
pub(in super::super) fn join_url<'a>(
    base: &Url,
    version: Option<&str>,
    path: impl IntoIterator<Item = &'a str>,
) -> Url {
    let mut url = base.clone();
    let is_versioned = version.is_some_and(|version| base.path().trim_end_matches('/').ends_with(version));
    // Every http address has segments, and `outbound::parse_base_url` lets no other through.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(version.filter(|_| !is_versioned)).extend(path);
    }
    url
}

/// Sets a field of a JSON object if it has a value.
pub(in super::super) fn set_field(object: &mut Value, field: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object[field] = value.into();
    }
}

/// Collects a model's refusal, of which the beginning is enough.
pub(in super::super) fn push_refusal(refusal: &mut String, piece: &str) {
    if refusal.len() < MAX_REFUSAL {
        refusal.push_str(&clip(piece, MAX_REFUSAL));
    }
}

/// The error for a document that is not an answer. If it does not explain itself, it is kept as the answer's text.
pub(in super::super) fn unexpected_document(body: &str, received: &mut ReceivedAnswer<'_>) -> GenerateError {
    let other =
        || GenerateError::unusable("the answer is one JSON document, and not of the kind that was requested");
    parse_error(body, None).unwrap_or_else(|| received.push_text(body).err().unwrap_or_else(other))
}
