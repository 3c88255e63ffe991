//! OpenAI's Batch API: a file of requests is uploaded, then a batch of it is created. The batch carries our key, so that
//! it can be found again.

use async_trait::async_trait;
use reqwest::{StatusCode, Url};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::batches::{
    AnswerSource, BatchEntry, BatchProtocol, CLOCK_SKEW, MAX_LIST_PAGES, PreparedBatch, read_document,
};
use super::super::client::{HttpTransport, join_url, parse_error, provider_error, remote_id};
use super::super::{BatchEnd, BatchStatus, EndedBatch, GenerateError, GenerateErrorKind, LostBatch, Result};

pub(super) struct OpenAiBatches;

/// Where requests of a batch go.
const ENDPOINT: &str = "/v1/responses";

/// The name under which a batch carries our key.
const KEY: &str = "buildoff";

#[derive(Deserialize)]
struct OpenAiBatch {
    status: String,
    output_file_id: Option<Value>,
    error_file_id: Option<Value>,
    errors: Option<OpenAiBatchErrors>,
}

#[derive(Deserialize)]
struct OpenAiBatchErrors {
    data: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct OpenAiBatchList {
    data: Vec<OpenAiListedBatch>,
    #[serde(default)]
    has_more: bool,
}

#[derive(Deserialize)]
struct OpenAiListedBatch {
    id: Value,
    #[serde(default)]
    created_at: i64,
    metadata: Option<Value>,
}

#[derive(Deserialize)]
struct OpenAiBatchLine {
    custom_id: String,
    response: Option<OpenAiBatchResponse>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct OpenAiBatchResponse {
    status_code: u16,
    body: Value,
}

#[async_trait]
impl BatchProtocol for OpenAiBatches {
    async fn submit(&self, http: &HttpTransport, key: Uuid, batch: PreparedBatch) -> Result<String> {
        let boundary = format!("buildoff-{key}");
        let form = upload_form(&boundary, key, &batch);
        let content_type = format!("multipart/form-data; boundary={boundary}");
        let file = http.upload(join_url(&http.base, None, ["files"]), &content_type, form).await?;
        let body = json!({
            "input_file_id": remote_id(file.get("id"))?,
            "endpoint": ENDPOINT,
            "completion_window": "24h",
            "metadata": { KEY: key },
        });
        let created = http.post_json(join_url(&http.base, None, ["batches"]), &body).await?;
        remote_id(created.get("id"))
    }

    /// The newest batches come first, so the search ends with the first that is older.
    async fn find(&self, http: &HttpTransport, lost: &LostBatch) -> Result<Option<String>> {
        let oldest = (lost.submitting_at - CLOCK_SKEW).unix_timestamp();
        let key = lost.key.to_string();
        let mut after: Option<String> = None;
        for _ in 0..MAX_LIST_PAGES {
            let mut url = join_url(&http.base, None, ["batches"]);
            url.query_pairs_mut().append_pair("limit", "100");
            if let Some(after) = &after {
                url.query_pairs_mut().append_pair("after", after);
            }
            let list: OpenAiBatchList = read_document(http.get(url).await?)?;
            for batch in &list.data {
                let carried = batch.metadata.as_ref().and_then(|metadata| metadata.get(KEY)?.as_str());
                if carried == Some(key.as_str()) {
                    return remote_id(Some(&batch.id)).map(Some);
                }
            }
            match list.data.last() {
                Some(last) if list.has_more && last.created_at >= oldest => {
                    after = Some(remote_id(Some(&last.id))?);
                }
                _ => return Ok(None),
            }
        }
        Err(GenerateError::unusable("the list of batches does not end"))
    }

    async fn status(&self, http: &HttpTransport, id: &str) -> Result<BatchStatus> {
        let batch: OpenAiBatch = read_document(http.get(batch_url(http, id)).await?)?;
        let end = match batch.status.as_str() {
            "completed" => BatchEnd::Completed,
            "expired" => BatchEnd::Expired,
            "cancelled" => BatchEnd::Cancelled,
            "failed" => BatchEnd::Failed(Box::new(batch.failure())),
            _ => return Ok(BatchStatus::InProgress),
        };
        let files = [&batch.output_file_id, &batch.error_file_id];
        let files = files.into_iter().flatten().filter(|id| !id.is_null());
        let urls: Result<Vec<Url>> = files
            .map(|id| Ok(join_url(&http.base, None, ["files", &remote_id(Some(id))?, "content"])))
            .collect();
        Ok(BatchStatus::Ended(EndedBatch { end, source: AnswerSource::Files(urls?) }))
    }

    async fn cancel(&self, http: &HttpTransport, id: &str) -> Result<()> {
        let mut url = batch_url(http, id);
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.push("cancel");
        }
        http.post_json(url, &json!({})).await.map(drop)
    }

    fn entry(&self, entry: Value, _expected: Option<Uuid>) -> Option<BatchEntry> {
        let OpenAiBatchLine { custom_id: request, response, error } = serde_json::from_value(entry).ok()?;
        let document = match (response, error) {
            (Some(response), _) => response.document(),
            (None, Some(error)) if is_unanswered(&error) => return None,
            (None, Some(error)) => Err(provider_error(&error)),
            (None, None) => return None,
        };
        Some(BatchEntry { request, document })
    }
}

impl OpenAiBatch {
    fn failure(&self) -> GenerateError {
        let errors = self.errors.as_ref().and_then(|errors| errors.data.as_ref());
        let Some(error) = errors.and_then(|errors| errors.first()) else {
            return GenerateError::new(GenerateErrorKind::BadRequest, "the batch failed without a reason");
        };
        let failure = provider_error(error);
        // So many tokens may wait in batches at once. There is room again when others have ended.
        let is_full = error.get("code").and_then(Value::as_str) == Some("token_limit_exceeded");
        if is_full { GenerateError { kind: GenerateErrorKind::RateLimited, ..failure } } else { failure }
    }
}

impl OpenAiBatchResponse {
    fn document(self) -> Result<Value> {
        if (200..300).contains(&self.status_code) {
            return Ok(self.body);
        }
        let status = StatusCode::from_u16(self.status_code).ok();
        let error = parse_error(&self.body.to_string(), status);
        Err(error.unwrap_or_else(|| {
            let message = format!("the request failed with the status {}", self.status_code);
            GenerateError::new(GenerateErrorKind::BadAnswer, message)
        }))
    }
}

/// Whether the batch ended before the model was asked.
fn is_unanswered(error: &Value) -> bool {
    matches!(error.get("code").and_then(Value::as_str), Some("batch_expired" | "batch_cancelled"))
}

fn batch_url(http: &HttpTransport, id: &str) -> Url {
    join_url(&http.base, None, ["batches", id])
}

/// The form that uploads the requests, one on each line of a file.
fn upload_form(boundary: &str, key: Uuid, batch: &PreparedBatch) -> Vec<u8> {
    let mut form = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"buildoff-{key}.jsonl\"\r\n\
         Content-Type: application/jsonl\r\n\r\n"
    );
    for request in &batch.requests {
        let line =
            json!({ "custom_id": request.id, "method": "POST", "url": ENDPOINT, "body": request.body });
        form.push_str(&line.to_string());
        form.push('\n');
    }
    form.push_str(&format!("\r\n--{boundary}--\r\n"));
    form.into_bytes()
}
