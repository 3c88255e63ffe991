//! Google's Batch API, with the requests inline. The batch is called by our key, so that it can be found again.

use async_trait::async_trait;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::batches::{
    AnswerSource, BatchEntry, BatchProtocol, BatchRequest, MAX_LIST_PAGES, PreparedBatch, read_document,
};
use super::super::client::{HttpTransport, join_url, provider_error, remote_id};
use super::super::{BatchEnd, BatchStatus, EndedBatch, GenerateError, GenerateErrorKind, LostBatch, Result};
use super::resource;

pub(super) struct GoogleBatches;

/// An operation, of which the metadata is the batch.
#[derive(Deserialize)]
struct GoogleOperation {
    name: Value,
    #[serde(default)]
    metadata: GoogleBatchMetadata,
    #[serde(default)]
    done: bool,
    error: Option<Value>,
    response: Option<GoogleBatchOutput>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GoogleBatchMetadata {
    display_name: String,
    state: String,
    output: Option<GoogleBatchOutput>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoogleBatchOutput {
    inlined_responses: Option<GoogleInlinedResponses>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoogleInlinedResponses {
    #[serde(default)]
    inlined_responses: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoogleBatchList {
    #[serde(default)]
    operations: Vec<GoogleOperation>,
    next_page_token: Option<String>,
}

#[derive(Deserialize)]
struct GoogleBatchEntry {
    metadata: Option<Value>,
    response: Option<Value>,
    error: Option<Value>,
}

#[async_trait]
impl BatchProtocol for GoogleBatches {
    async fn submit(&self, http: &HttpTransport, key: Uuid, batch: PreparedBatch) -> Result<String> {
        let request = |BatchRequest { id, body }| json!({ "request": body, "metadata": { "key": id } });
        let method = format!("{}:batchGenerateContent", resource(&batch.model));
        let requests: Vec<Value> = batch.requests.into_iter().map(request).collect();
        let body = json!({ "batch": {
            "displayName": display_name(key),
            "inputConfig": { "requests": { "requests": requests } },
        } });
        let operation = http.post_json(url(http, method.split('/')), &body).await?;
        batch_id(operation.get("name"))
    }

    async fn find(&self, http: &HttpTransport, lost: &LostBatch) -> Result<Option<String>> {
        let mut token: Option<String> = None;
        for _ in 0..MAX_LIST_PAGES {
            let mut url = url(http, ["batches"]);
            url.query_pairs_mut().append_pair("pageSize", "25");
            if let Some(token) = &token {
                url.query_pairs_mut().append_pair("pageToken", token);
            }
            let list: GoogleBatchList = read_document(http.get_with_results(url).await?)?;
            let name = display_name(lost.key);
            if let Some(found) = list.operations.iter().find(|batch| batch.metadata.display_name == name) {
                return batch_id(Some(&found.name)).map(Some);
            }
            token = list.next_page_token.filter(|token| !token.is_empty());
            if token.is_none() {
                return Ok(None);
            }
        }
        Err(GenerateError::unusable("the list of batches does not end"))
    }

    async fn status(&self, http: &HttpTransport, id: &str) -> Result<BatchStatus> {
        let operation: GoogleOperation =
            read_document(http.get_with_results(url(http, ["batches", id])).await?)?;
        let state =
            operation.metadata.state.trim_start_matches("BATCH_STATE_").trim_start_matches("JOB_STATE_");
        let end = match (state, operation.error) {
            ("SUCCEEDED", _) => BatchEnd::Completed,
            ("EXPIRED", _) => BatchEnd::Expired,
            ("CANCELLED", _) => BatchEnd::Cancelled,
            (_, Some(error)) => BatchEnd::Failed(Box::new(rpc_error(error))),
            ("FAILED", None) => BatchEnd::Failed(Box::new(GenerateError::new(
                GenerateErrorKind::BadRequest,
                "the batch failed without a reason",
            ))),
            _ if operation.done => BatchEnd::Completed,
            _ => return Ok(BatchStatus::InProgress),
        };
        let output = operation.response.or(operation.metadata.output);
        let entries = output.and_then(|output| output.inlined_responses);
        let entries = entries.map(|responses| responses.inlined_responses).unwrap_or_default();
        Ok(BatchStatus::Ended(EndedBatch { end, source: AnswerSource::Inline(entries) }))
    }

    async fn cancel(&self, http: &HttpTransport, id: &str) -> Result<()> {
        http.post_json(url(http, ["batches", &format!("{id}:cancel")]), &json!({})).await.map(drop)
    }

    /// The entries are in the order of the requests, which counts where one does not repeat the key of its request.
    fn entry(&self, entry: Value, expected: Option<Uuid>) -> Option<BatchEntry> {
        let GoogleBatchEntry { metadata, response, error } = serde_json::from_value(entry).ok()?;
        let key = metadata.as_ref().and_then(|metadata| metadata.get("key")?.as_str());
        let request = key.map(str::to_owned).or_else(|| expected.map(|id| id.to_string()))?;
        let document = match (response, error) {
            (Some(response), _) => Ok(response),
            (None, Some(error)) => Err(rpc_error(error)),
            (None, None) => return None,
        };
        Some(BatchEntry { request, document })
    }
}

/// An error within a batch has a number of gRPC's own, where other responses have an HTTP status and a name.
fn rpc_error(mut error: Value) -> GenerateError {
    let name = match error.get("code").and_then(Value::as_u64) {
        Some(4) => Some("DEADLINE_EXCEEDED"),
        Some(5) => Some("NOT_FOUND"),
        Some(7) => Some("PERMISSION_DENIED"),
        Some(8) => Some("RESOURCE_EXHAUSTED"),
        Some(13) => Some("INTERNAL"),
        Some(14) => Some("UNAVAILABLE"),
        Some(16) => Some("UNAUTHENTICATED"),
        _ => None,
    };
    if let Some(fields) = error.as_object_mut()
        && let Some(name) = name
    {
        fields.insert("status".to_owned(), name.into());
    }
    provider_error(&error)
}

fn display_name(key: Uuid) -> String {
    format!("buildoff-{key}")
}

/// The part of a batch's name that follows `batches/`.
fn batch_id(name: Option<&Value>) -> Result<String> {
    let name = name.and_then(Value::as_str).unwrap_or_default();
    remote_id(Some(&name.strip_prefix("batches/").unwrap_or_default().into()))
}

fn url<'a>(http: &HttpTransport, path: impl IntoIterator<Item = &'a str>) -> Url {
    join_url(&http.base, Some("v1beta"), path)
}
