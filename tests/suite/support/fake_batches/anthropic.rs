//! The addresses of Anthropic's Message Batches API.

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::super::fake_protocol::FakeProtocol;
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
) -> Result<FakeBatchReply, String> {
    let ["v1", "messages", "batches", rest @ ..] = path else { return Err("no such address".to_owned()) };
    match (method, rest) {
        ("POST", []) => {
            let fields = request.body.as_object().ok_or("no JSON")?;
            if fields.len() != 1 {
                return Err(format!("the fields {:?}", fields.keys()));
            }
            let requests = fields["requests"].as_array().ok_or("no requests")?.iter().map(|request| {
                let id = request["custom_id"].as_str().unwrap_or_default().to_owned();
                (id, request["params"].clone())
            });
            submit(state, FakeProtocol::Anthropic, "", requests.collect(), batch_view)
        }
        ("GET", []) => {
            let newest_first: Vec<_> = state.batches.iter().rev().collect();
            Ok(page(&newest_first, query, "after_id", 1, batch_view))
        }
        ("GET", [id]) => {
            Ok(find(state, id)
                .map_or_else(no_such_batch, |batch| FakeBatchReply::Json(200, batch_view(batch))))
        }
        ("POST", [id, "cancel"]) => {
            let batch = find(state, id).ok_or("no such batch")?;
            batch.cancel_requested = true;
            Ok(FakeBatchReply::Json(200, batch_view(batch)))
        }
        ("GET", [id, "results"]) => {
            let batch = find(state, id).ok_or("no such batch")?;
            if batch.end.is_none() {
                return Err("the batch has not ended".to_owned());
            }
            let entries = batch.entries.concat();
            Ok(lines(state, entries))
        }
        _ => Err("no such address".to_owned()),
    }
}

pub fn batch_view(batch: &FakeBatch) -> Value {
    let time = |at: OffsetDateTime| at.format(&Rfc3339).unwrap();
    let all = batch.requests.len();
    let of_kind = |kind: &str| {
        let is_of_kind = |entry: &&Value| entry["result"]["type"] == kind;
        batch.entries.iter().flatten().filter(is_of_kind).count()
    };
    let kinds = ["succeeded", "errored", "canceled", "expired"];
    let mut counts: Value = kinds.into_iter().map(|kind| (kind.to_owned(), json!(of_kind(kind)))).collect();
    counts["processing"] = json!(if batch.end.is_some() { 0 } else { all });
    let status = if batch.end.is_some() { "ended" } else { "in_progress" };
    let is_cancelled = batch.cancel_requested || batch.end == Some(FakeBatchEnd::Cancelled);
    json!({
        "id": batch.id, "type": "message_batch", "processing_status": status, "request_counts": counts,
        "created_at": time(batch.created_at), "expires_at": time(batch.created_at + time::Duration::DAY),
        "ended_at": batch.end.map(|_| time(batch.created_at)), "archived_at": null,
        "cancel_initiated_at": is_cancelled.then(|| time(batch.created_at)),
        // The key must not be sent there.
        "results_url": batch.end.map(|_| "http://127.0.0.1:1/results"),
    })
}
