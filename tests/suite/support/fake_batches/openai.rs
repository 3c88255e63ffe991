//! The addresses of OpenAI's Batch API.

use serde_json::{Value, json};

use super::super::fake_protocol::{FakeProtocol, MODEL};
use super::super::fake_provider::RecordedRequest;
use super::{
    FakeBatch, FakeBatchEnd, FakeBatchReply, FakeBatchState, find, lines, no_such_batch, page, submit,
};

pub fn answer(
    state: &mut FakeBatchState,
    method: &str,
    path: &[&str],
    query: &str,
    request: &RecordedRequest,
    bytes: &[u8],
) -> Result<FakeBatchReply, String> {
    match (method, path) {
        ("POST", ["v1", "files"]) => {
            let kind = request.headers.get("content-type").cloned().unwrap_or_default();
            let boundary = kind.strip_prefix("multipart/form-data; boundary=").ok_or("no form")?;
            let form = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
            let file = uploaded_file(form, boundary)?;
            let id = format!("file-{}", state.files.len() + 1);
            state.files.insert(id.clone(), file);
            let size = bytes.len();
            Ok(FakeBatchReply::Json(
                200,
                json!({ "id": id, "object": "file", "purpose": "batch", "bytes": size }),
            ))
        }
        ("POST", ["v1", "batches"]) => {
            let body = &request.body;
            let known = ["input_file_id", "endpoint", "completion_window", "metadata"];
            let fields = body.as_object().ok_or("no JSON")?;
            if fields.len() != known.len() || !known.iter().all(|name| fields.contains_key(*name)) {
                return Err(format!("the fields {:?}", fields.keys()));
            }
            if body["endpoint"] != "/v1/responses" || body["completion_window"] != "24h" {
                return Err("a wrong endpoint or window".to_owned());
            }
            let file = body["input_file_id"].as_str().unwrap_or_default();
            let file = state.files.get(file).cloned().ok_or("no such file")?;
            let requests: Result<Vec<_>, String> = file.lines().map(openai_request).collect();
            let key = body["metadata"]["buildoff"].as_str().ok_or("metadata must be text")?.to_owned();
            submit(state, FakeProtocol::OpenAi, &key, requests?, batch_view)
        }
        ("GET", ["v1", "batches"]) => {
            let newest_first: Vec<_> = state.batches.iter().rev().collect();
            Ok(page(&newest_first, query, "after", 1, batch_view))
        }
        ("GET", ["v1", "batches", id]) => {
            Ok(find(state, id)
                .map_or_else(no_such_batch, |batch| FakeBatchReply::Json(200, batch_view(batch))))
        }
        ("POST", ["v1", "batches", id, "cancel"]) => {
            let batch = find(state, id).ok_or("no such batch")?;
            batch.cancel_requested = true;
            Ok(FakeBatchReply::Json(200, batch_view(batch)))
        }
        ("GET", ["v1", "files", file, "content"]) => {
            let (kind, id) = file.split_once('-').ok_or("no such file")?;
            let batch = find(state, id).ok_or("no such file")?;
            let entries = batch.entries[usize::from(kind == "errors")].clone();
            Ok(lines(state, entries))
        }
        _ => Err("no such address".to_owned()),
    }
}

fn uploaded_file(form: &str, boundary: &str) -> Result<String, String> {
    let body = form.strip_suffix(&format!("\r\n--{boundary}--\r\n")).ok_or("the form does not end")?;
    let mut file = None;
    let mut purpose = None;
    for part in body.split(&format!("--{boundary}\r\n")).filter(|part| !part.is_empty()) {
        let (head, content) = part.split_once("\r\n\r\n").ok_or("a part without a body")?;
        if head.contains("name=\"purpose\"") {
            purpose = content.strip_suffix("\r\n");
        } else if head.contains("name=\"file\"; filename=\"") && head.contains(".jsonl\"") {
            file = Some(content.to_owned());
        }
    }
    if purpose != Some("batch") {
        return Err(format!("the purpose {purpose:?}"));
    }
    file.ok_or_else(|| "no file".to_owned())
}

fn openai_request(line: &str) -> Result<(String, Value), String> {
    let line: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if line["method"] != "POST" || line["url"] != "/v1/responses" || line["body"]["model"] != MODEL {
        return Err(format!("the line {line}"));
    }
    Ok((line["custom_id"].as_str().ok_or("no custom_id")?.to_owned(), line["body"].clone()))
}

pub fn batch_view(batch: &FakeBatch) -> Value {
    let status = match batch.end {
        _ if batch.failure.is_some() => "failed",
        Some(FakeBatchEnd::Completed) => "completed",
        Some(FakeBatchEnd::Expired) => "expired",
        Some(FakeBatchEnd::Cancelled) => "cancelled",
        None if batch.cancel_requested => "cancelling",
        None => "in_progress",
    };
    let file =
        |kind: &str, place: usize| (!batch.entries[place].is_empty()).then(|| format!("{kind}-{}", batch.id));
    let errors = batch.failure.as_ref().map(|error| json!({ "object": "list", "data": [error] }));
    json!({
        "id": batch.id, "object": "batch", "endpoint": "/v1/responses", "errors": errors,
        "input_file_id": "file-1", "completion_window": "24h", "status": status,
        "output_file_id": file("output", 0), "error_file_id": file("errors", 1),
        "created_at": batch.created_at.unix_timestamp(), "metadata": { "buildoff": batch.key },
        "request_counts": { "total": batch.requests.len(), "completed": 0, "failed": 0 },
    })
}
