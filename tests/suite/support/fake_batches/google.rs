//! The addresses of Google's Batch API.

use serde_json::{Value, json};

use super::super::fake_protocol::{FakeProtocol, MODEL};
use super::super::fake_provider::RecordedRequest;
use super::{FakeBatch, FakeBatchEnd, FakeBatchReply, FakeBatchState, find, no_such_batch, submit};

pub fn answer(
    state: &mut FakeBatchState,
    method: &str,
    path: &[&str],
    query: &str,
    request: &RecordedRequest,
) -> Result<FakeBatchReply, String> {
    let submission = format!("{MODEL}:batchGenerateContent");
    match (method, path) {
        ("POST", ["v1beta", "models", model]) if *model == submission => {
            let batch = &request.body["batch"];
            let name =
                batch["displayName"].as_str().filter(|name| !name.is_empty()).ok_or("no displayName")?;
            let requests = batch["inputConfig"]["requests"]["requests"].as_array().ok_or("no requests")?;
            let requests = requests.iter().map(|request| {
                (
                    request["metadata"]["key"].as_str().unwrap_or_default().to_owned(),
                    request["request"].clone(),
                )
            });
            submit(state, FakeProtocol::Google, name, requests.collect(), batch_view)
        }
        ("GET", ["v1beta", "batches"]) => {
            let place = query.split('&').find_map(|pair| pair.strip_prefix("pageToken="));
            let place: usize = place.map_or(0, |place| place.parse().unwrap());
            let shown: Vec<_> = state.batches.iter().skip(place).take(1).map(batch_view).collect();
            let next = (place + 1 < state.batches.len()).then(|| (place + 1).to_string());
            Ok(FakeBatchReply::Json(200, json!({ "operations": shown, "nextPageToken": next })))
        }
        ("GET", ["v1beta", "batches", id]) => {
            let batch = find(state, id).map(|batch| batch.clone());
            let Some(batch) = batch else { return Ok(no_such_batch()) };
            state.downloads += usize::from(batch.end.is_some());
            Ok(FakeBatchReply::Json(200, batch_view(&batch)))
        }
        ("POST", ["v1beta", "batches", id]) => {
            let id = id.strip_suffix(":cancel").ok_or("no such address")?;
            find(state, id).ok_or("no such batch")?.cancel_requested = true;
            Ok(FakeBatchReply::Json(200, json!({})))
        }
        _ => Err("no such address".to_owned()),
    }
}

pub fn batch_view(batch: &FakeBatch) -> Value {
    let state = match batch.end {
        Some(FakeBatchEnd::Completed) => "BATCH_STATE_SUCCEEDED",
        Some(FakeBatchEnd::Expired) => "BATCH_STATE_EXPIRED",
        Some(FakeBatchEnd::Cancelled) => "BATCH_STATE_CANCELLED",
        None => "BATCH_STATE_RUNNING",
    };
    let name = format!("batches/{}", batch.id);
    let mut operation = json!({
        "name": name,
        "metadata": {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
            "model": format!("models/{MODEL}"), "displayName": batch.key, "name": name, "state": state,
            "batchStats": { "requestCount": batch.requests.len().to_string() },
        },
    });
    if batch.end.is_some() {
        operation["done"] = json!(true);
        // The provider's own client reads it here.
        operation["metadata"]["output"] =
            json!({ "inlinedResponses": { "inlinedResponses": batch.entries.concat() } });
    }
    operation
}
