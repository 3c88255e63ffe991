//! Anthropic's Message Batches API.
//!
//! A batch carries nothing of ours but the ids of its requests, which are shown only when it has ended. So a batch whose
//! submission was interrupted is recognised by its time and its size. If that is wrong, the ids tell in the end.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use super::super::batches::{
    AnswerSource, BatchEntry, BatchProtocol, BatchRequest, CLOCK_SKEW, MAX_LIST_PAGES, PreparedBatch,
    read_document,
};
use super::super::client::{HttpTransport, join_url, provider_error, remote_id};
use super::super::{BatchEnd, BatchStatus, EndedBatch, GenerateError, LostBatch, Result};

pub(super) struct AnthropicBatches;

/// How long after its submission was begun a batch can have been created: as long as a server holds on to it.
const LONGEST_SUBMISSION: Duration = Duration::from_secs(15 * 60);

#[derive(Deserialize)]
struct AnthropicBatch {
    id: Value,
    processing_status: String,
    #[serde(default)]
    request_counts: AnthropicBatchCounts,
    created_at: Option<String>,
    cancel_initiated_at: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AnthropicBatchCounts {
    processing: usize,
    succeeded: usize,
    errored: usize,
    canceled: usize,
    expired: usize,
}

#[derive(Deserialize)]
struct AnthropicBatchList {
    data: Vec<AnthropicBatch>,
    #[serde(default)]
    has_more: bool,
}

#[derive(Deserialize)]
struct AnthropicBatchLine {
    custom_id: String,
    result: AnthropicBatchResult,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum AnthropicBatchResult {
    Succeeded {
        message: Value,
    },
    Errored {
        error: Value,
    },
    /// `canceled` and `expired`: nobody was asked.
    #[serde(other)]
    Unanswered,
}

#[async_trait]
impl BatchProtocol for AnthropicBatches {
    async fn submit(&self, http: &HttpTransport, _key: Uuid, batch: PreparedBatch) -> Result<String> {
        let request = |BatchRequest { id, body }| json!({ "custom_id": id, "params": body });
        let requests: Vec<Value> = batch.requests.into_iter().map(request).collect();
        let created = http.post_json(url(http, &[]), &json!({ "requests": requests })).await?;
        remote_id(created.get("id"))
    }

    fn finds_by_guess(&self) -> bool {
        true
    }

    /// The newest batches come first, so the search ends with the first that is older.
    async fn find(&self, http: &HttpTransport, lost: &LostBatch) -> Result<Option<String>> {
        let (earliest, latest) = (lost.submitting_at - CLOCK_SKEW, lost.submitting_at + LONGEST_SUBMISSION);
        let mut after: Option<String> = None;
        let mut closest: Option<(time::Duration, String)> = None;
        for _ in 0..MAX_LIST_PAGES {
            let mut url = url(http, &[]);
            url.query_pairs_mut().append_pair("limit", "100");
            if let Some(after) = &after {
                url.query_pairs_mut().append_pair("after_id", after);
            }
            let list: AnthropicBatchList = read_document(http.get(url).await?)?;
            for batch in &list.data {
                let Some(created_at) = batch.created_at() else { continue };
                let (id, away) = (remote_id(Some(&batch.id))?, (created_at - lost.submitting_at).abs());
                let is_possible = (earliest..=latest).contains(&created_at)
                    && batch.request_counts.sum() == lost.requests
                    && !lost.others.contains(&id);
                if is_possible && closest.as_ref().is_none_or(|(known, _)| away < *known) {
                    closest = Some((away, id));
                }
            }
            match list.data.last() {
                Some(last) if list.has_more && last.created_at().is_some_and(|at| at >= earliest) => {
                    after = Some(remote_id(Some(&last.id))?);
                }
                _ => return Ok(closest.map(|(_, id)| id)),
            }
        }
        Err(GenerateError::unusable("the list of batches does not end"))
    }

    async fn status(&self, http: &HttpTransport, id: &str) -> Result<BatchStatus> {
        let batch: AnthropicBatch = read_document(http.get(url(http, &[id])).await?)?;
        if batch.processing_status != "ended" {
            return Ok(BatchStatus::InProgress);
        }
        let end = match &batch {
            AnthropicBatch { cancel_initiated_at: Some(_), .. } => BatchEnd::Cancelled,
            AnthropicBatch { request_counts: AnthropicBatchCounts { expired: 1.., .. }, .. } => {
                BatchEnd::Expired
            }
            _ => BatchEnd::Completed,
        };
        // The address is not taken from `results_url`, so that the key goes nowhere else.
        let source = AnswerSource::Files(vec![url(http, &[id, "results"])]);
        Ok(BatchStatus::Ended(EndedBatch { end, source }))
    }

    async fn cancel(&self, http: &HttpTransport, id: &str) -> Result<()> {
        http.post_json(url(http, &[id, "cancel"]), &json!({})).await.map(drop)
    }

    fn entry(&self, entry: Value, _expected: Option<Uuid>) -> Option<BatchEntry> {
        let AnthropicBatchLine { custom_id: request, result } = serde_json::from_value(entry).ok()?;
        let document = match result {
            AnthropicBatchResult::Succeeded { message } => Ok(message),
            AnthropicBatchResult::Errored { error } => {
                Err(provider_error(error.get("error").unwrap_or(&error)))
            }
            AnthropicBatchResult::Unanswered => return None,
        };
        Some(BatchEntry { request, document })
    }
}

impl AnthropicBatch {
    fn created_at(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::parse(self.created_at.as_deref()?, &Rfc3339).ok()
    }
}

impl AnthropicBatchCounts {
    fn sum(&self) -> usize {
        let Self { processing, succeeded, errored, canceled, expired } = self;
        [succeeded, errored, canceled, expired]
            .into_iter()
            .fold(*processing, |sum, count| sum.saturating_add(*count))
    }
}

fn url(http: &HttpTransport, path: &[&str]) -> Url {
    join_url(&http.base, Some("v1"), ["messages", "batches"].iter().chain(path).copied())
}
