//! A fake of the providers' batch APIs. It keeps batches as the real ones do, fails the test if a request would be
//! rejected by the real provider, and ends a batch when the test says so.

mod anthropic;
mod google;
mod openai;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::fake_protocol::{FakePart, FakeProtocol};
use super::fake_provider::{API_KEY, RecordedRequest};

/// What happens to a submission.
#[derive(Clone, Debug, Default)]
pub enum FakeSubmission {
    #[default]
    Accepted,
    /// It is lost on the way, and nothing is answered.
    Lost,
    /// The batch is created, and nothing is answered.
    Unanswered,
    Refused(u16, Value),
}

/// What came of one request of a batch.
#[derive(Clone, Debug)]
pub enum FakeResult {
    Answer(String),
    /// The provider's own document.
    Document(Value),
    /// A status and an error.
    Error(u16, Value),
    /// The batch ended before the model was asked.
    Unanswered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FakeBatchEnd {
    Completed,
    Expired,
    Cancelled,
}

#[derive(Clone, Debug)]
pub struct FakeBatch {
    pub id: String,
    key: String,
    created_at: OffsetDateTime,
    /// The ids and bodies of the requests.
    pub requests: Vec<(String, Value)>,
    pub cancel_requested: bool,
    end: Option<FakeBatchEnd>,
    /// Entries that answer requests, and entries about those that failed.
    entries: [Vec<Value>; 2],
    failure: Option<Value>,
}

pub struct FakeBatchProvider {
    pub url: String,
    service: Arc<FakeBatchService>,
    task: JoinHandle<()>,
}

struct FakeBatchService {
    protocol: FakeProtocol,
    state: Mutex<FakeBatchState>,
    /// Notified to let results that are held go on.
    release: Notify,
}

#[derive(Default)]
struct FakeBatchState {
    files: BTreeMap<String, String>,
    batches: Vec<FakeBatch>,
    submission: FakeSubmission,
    /// The answer to probes, if it is an error.
    probe_error: Option<(u16, Value)>,
    /// Whether results stop after the first one, until the test goes on.
    holds_results: bool,
    /// Lines that are sent before the results.
    hostile_lines: Vec<(String, usize)>,
    /// The body of the last submission.
    submitted: Value,
    submissions: usize,
    probes: usize,
    downloads: usize,
    problems: Vec<String>,
}

impl FakeBatchProvider {
    pub async fn start(protocol: FakeProtocol) -> Self {
        let service = FakeBatchService { protocol, state: Mutex::default(), release: Notify::new() };
        let service = Arc::new(service);
        let router = Router::new().fallback(handle).with_state(Arc::clone(&service));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, service, task }
    }

    pub fn protocol(&self) -> FakeProtocol {
        self.service.protocol
    }

    pub fn base_url(&self) -> String {
        format!("{}{}", self.url, self.protocol().base_path())
    }

    pub fn batches(&self) -> Vec<FakeBatch> {
        self.state().batches.clone()
    }

    /// How many submissions have arrived, also of those that were lost then.
    pub fn submissions(&self) -> usize {
        self.state().submissions
    }

    pub fn probes(&self) -> usize {
        self.state().probes
    }

    /// How often results were read.
    pub fn downloads(&self) -> usize {
        self.state().downloads
    }

    pub fn set_submission(&self, submission: FakeSubmission) {
        self.state().submission = submission;
    }

    pub fn set_probe_error(&self, error: Option<(u16, Value)>) {
        self.state().probe_error = error;
    }

    pub fn hold_results(&self, holds: bool) {
        self.state().holds_results = holds;
        if !holds {
            self.service.release.notify_waiters();
        }
    }

    /// Sends this line so many times before the results.
    pub fn add_hostile_lines(&self, line: impl Into<String>, times: usize) {
        self.state().hostile_lines.push((line.into(), times));
    }

    /// Creates a batch of somebody else.
    pub fn add_foreign_batch(&self, requests: usize) {
        let requests = (0..requests).map(|number| (format!("other-{number}"), json!({}))).collect();
        self.state().add_batch("somebody else's".to_owned(), requests);
    }

    /// Ends the batch at this place, with a result for each of its requests.
    pub fn end(&self, place: usize, end: FakeBatchEnd, result: impl Fn(usize, &Value) -> FakeResult) {
        let protocol = self.protocol();
        let mut state = self.state();
        let batch = &mut state.batches[place];
        batch.end = Some(end);
        batch.entries = [Vec::new(), Vec::new()];
        for (number, (id, body)) in batch.requests.iter().enumerate() {
            let result = result(number, body);
            let failed = usize::from(!matches!(result, FakeResult::Answer(_) | FakeResult::Document(_)));
            batch.entries[failed].extend(entry(protocol, id, result, end));
        }
    }

    pub fn complete(&self, place: usize, answer: &str) {
        self.end(place, FakeBatchEnd::Completed, |_, _| FakeResult::Answer(answer.to_owned()));
    }

    /// Fails a whole batch, as OpenAI does after validating its file.
    pub fn fail(&self, place: usize, error: Value) {
        self.state().batches[place].failure = Some(error);
    }

    /// The last submission, its requests, and the batch that it became with its results.
    pub fn recorded(&self) -> Value {
        let state = self.state();
        let batch = state.batches.last().unwrap();
        let view = match self.protocol() {
            FakeProtocol::OpenAi => openai::batch_view(batch),
            FakeProtocol::Anthropic => anthropic::batch_view(batch),
            _ => google::batch_view(batch),
        };
        let lines: Vec<Value> = state
            .files
            .values()
            .flat_map(|file| file.lines())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        json!({
            "submission": state.submitted, "lines": lines, "batch": view, "results": batch.entries.concat(),
        })
    }

    /// Duplicates the entries of a batch.
    pub fn repeat_entries(&self, place: usize) {
        let mut state = self.state();
        let entries = state.batches[place].entries[0].clone();
        state.batches[place].entries[0].extend(entries);
    }

    fn state(&self) -> MutexGuard<'_, FakeBatchState> {
        self.service.state.lock().unwrap()
    }
}

impl Drop for FakeBatchProvider {
    fn drop(&mut self) {
        self.task.abort();
        if !thread::panicking() {
            let problems = std::mem::take(&mut self.state().problems);
            assert!(problems.is_empty(), "requests that {:?} would reject: {problems:#?}", self.protocol());
        }
    }
}

impl FakeBatchState {
    fn add_batch(&mut self, key: String, requests: Vec<(String, Value)>) -> FakeBatch {
        let batch = FakeBatch {
            id: format!("batch_{}", self.batches.len() + 1),
            key,
            created_at: OffsetDateTime::now_utc(),
            requests,
            cancel_requested: false,
            end: None,
            entries: [Vec::new(), Vec::new()],
            failure: None,
        };
        self.batches.push(batch.clone());
        batch
    }
}

/// What the provider says about a request in the results, if anything.
fn entry(protocol: FakeProtocol, id: &str, result: FakeResult, end: FakeBatchEnd) -> Option<Value> {
    let document = match &result {
        FakeResult::Answer(text) => Some(protocol.document(text)),
        FakeResult::Document(document) => Some(document.clone()),
        _ => None,
    };
    Some(match (protocol, document, result) {
        (FakeProtocol::OpenAi, Some(body), _) => {
            let response = json!({ "status_code": 200, "request_id": "req_1", "body": body });
            json!({ "id": "batch_req_1", "custom_id": id, "response": response, "error": null })
        }
        (FakeProtocol::OpenAi, _, FakeResult::Error(status, error)) => {
            let response =
                json!({ "status_code": status, "request_id": "req_1", "body": { "error": error } });
            json!({ "id": "batch_req_1", "custom_id": id, "response": response, "error": null })
        }
        (FakeProtocol::OpenAi, _, _) => {
            let code = if end == FakeBatchEnd::Expired { "batch_expired" } else { "batch_cancelled" };
            let error = json!({ "code": code, "message": "This request could not be executed in time." });
            json!({ "id": "batch_req_1", "custom_id": id, "response": null, "error": error })
        }
        (FakeProtocol::Anthropic, Some(message), _) => {
            json!({ "custom_id": id, "result": { "type": "succeeded", "message": message } })
        }
        (FakeProtocol::Anthropic, _, FakeResult::Error(_, error)) => {
            let error = json!({ "type": "error", "error": error, "request_id": "req_1" });
            json!({ "custom_id": id, "result": { "type": "errored", "error": error } })
        }
        (FakeProtocol::Anthropic, _, _) => {
            let kind = if end == FakeBatchEnd::Expired { "expired" } else { "canceled" };
            json!({ "custom_id": id, "result": { "type": kind } })
        }
        (FakeProtocol::Google, Some(response), _) => {
            json!({ "metadata": { "key": id }, "response": response })
        }
        (FakeProtocol::Google, _, FakeResult::Error(_, error)) => {
            json!({ "metadata": { "key": id }, "error": error })
        }
        _ => return None,
    })
}

async fn handle(
    State(service): State<Arc<FakeBatchService>>,
    request: Request,
) -> Result<Response, Infallible> {
    let (parts, body) = request.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let headers = parts.headers.iter();
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    let request = RecordedRequest {
        path: parts.uri.to_string(),
        headers: headers.collect(),
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
    };
    let answered = service.answer(parts.method.as_str(), &request, &bytes);
    Ok(match answered {
        FakeBatchReply::Json(status, body) => {
            (axum::http::StatusCode::from_u16(status).unwrap(), axum::Json(body)).into_response()
        }
        FakeBatchReply::Stream(text) => ([("content-type", "text/event-stream")], text).into_response(),
        FakeBatchReply::Never => std::future::pending().await,
        FakeBatchReply::Lines { before, lines, holds } => {
            let before = before.into_iter().flat_map(|(line, times)| {
                let line = Bytes::from(format!("{line}\n"));
                std::iter::repeat_n(line, times)
            });
            let lines = lines.into_iter().map(|line| Bytes::from(format!("{line}\n"))).enumerate();
            let lines = stream::iter(lines).then(move |(number, line)| {
                let service = Arc::clone(&service);
                async move {
                    if holds && number > 0 {
                        service.release.notified().await;
                    }
                    line
                }
            });
            let all = stream::iter(before).chain(lines).map(Ok::<_, Infallible>);
            ([("content-type", "application/octet-stream")], Body::from_stream(all)).into_response()
        }
    })
}

enum FakeBatchReply {
    Json(u16, Value),
    Stream(String),
    Never,
    Lines { before: Vec<(String, usize)>, lines: Vec<Value>, holds: bool },
}

impl FakeBatchService {
    fn answer(&self, method: &str, request: &RecordedRequest, bytes: &[u8]) -> FakeBatchReply {
        let mut state = self.state.lock().unwrap();
        let protocol = self.protocol;
        if protocol.request_error(method, request).is_none() {
            state.probes += 1;
            return match state.probe_error.clone() {
                Some((status, error)) => FakeBatchReply::Json(status, error),
                None => FakeBatchReply::Stream(protocol.stream(&[FakePart::Text("{}"), FakePart::Done])),
            };
        }
        if let Some(problem) = wrong_headers(protocol, request) {
            state.problems.push(format!("{method} {}: {problem}", request.path));
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let path: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let is_submission =
            ["input_file_id", "requests", "batch"].iter().any(|name| request.body.get(name).is_some());
        if is_submission {
            state.submitted = request.body.clone();
        }
        let reply = match protocol {
            FakeProtocol::OpenAi => openai::answer(&mut state, method, &path, query, request, bytes),
            FakeProtocol::Anthropic => anthropic::answer(&mut state, method, &path, query, request),
            FakeProtocol::Google => google::answer(&mut state, method, &path, query, request),
            FakeProtocol::Compatible => Err("there is no batch API".to_owned()),
        };
        reply.unwrap_or_else(|problem| {
            state.problems.push(format!("{method} {}: {problem}", request.path));
            FakeBatchReply::Json(
                400,
                json!({ "error": { "message": problem, "type": "invalid_request_error" } }),
            )
        })
    }
}

fn wrong_headers(protocol: FakeProtocol, request: &RecordedRequest) -> Option<String> {
    let (name, value) = match protocol {
        FakeProtocol::Anthropic => ("x-api-key", API_KEY.to_owned()),
        FakeProtocol::Google => ("x-goog-api-key", API_KEY.to_owned()),
        FakeProtocol::OpenAi | FakeProtocol::Compatible => ("authorization", format!("Bearer {API_KEY}")),
    };
    let has = |name: &str, value: &str| request.headers.get(name).is_some_and(|is| is == value);
    if !has(name, &value) {
        return Some(format!("{name} is missing"));
    }
    if protocol == FakeProtocol::Anthropic && !has("anthropic-version", "2023-06-01") {
        return Some("anthropic-version is missing".to_owned());
    }
    request.path.contains(API_KEY).then(|| "the key is in the address".to_owned())
}

/// Creates a batch, as far as the test wants it.
fn submit(
    state: &mut FakeBatchState,
    protocol: FakeProtocol,
    key: &str,
    requests: Vec<(String, Value)>,
    view: impl Fn(&FakeBatch) -> Value,
) -> Result<FakeBatchReply, String> {
    let mut ids: Vec<_> = requests.iter().map(|(id, _)| id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() != requests.len() || ids.is_empty() {
        return Err("the ids of the requests are missing or not unique".to_owned());
    }
    let is_id = |id: &&str| {
        (1..=64).contains(&id.len()) && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    };
    if !ids.iter().all(is_id) {
        return Err("an id has characters that are not allowed".to_owned());
    }
    for (_, body) in &requests {
        if let Some(problem) = protocol.batched_body_error(body) {
            return Err(problem);
        }
    }
    state.submissions += 1;
    match state.submission.clone() {
        FakeSubmission::Accepted => {
            Ok(FakeBatchReply::Json(200, view(&state.add_batch(key.to_owned(), requests))))
        }
        FakeSubmission::Lost => Ok(FakeBatchReply::Never),
        FakeSubmission::Unanswered => {
            state.add_batch(key.to_owned(), requests);
            Ok(FakeBatchReply::Never)
        }
        FakeSubmission::Refused(status, error) => Ok(FakeBatchReply::Json(status, error)),
    }
}

fn find<'a>(state: &'a mut FakeBatchState, id: &str) -> Option<&'a mut FakeBatch> {
    state.batches.iter_mut().find(|batch| batch.id == id)
}

fn lines(state: &mut FakeBatchState, entries: Vec<Value>) -> FakeBatchReply {
    state.downloads += 1;
    FakeBatchReply::Lines { before: state.hostile_lines.clone(), lines: entries, holds: state.holds_results }
}

fn no_such_batch() -> FakeBatchReply {
    FakeBatchReply::Json(404, json!({ "error": { "message": "No such batch", "type": "not_found_error" } }))
}

/// One page of a list, of at most `size` batches, so that lists have several.
fn page(
    batches: &[&FakeBatch],
    query: &str,
    cursor: &str,
    size: usize,
    view: impl Fn(&FakeBatch) -> Value,
) -> FakeBatchReply {
    let after = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{cursor}=")));
    let start = after.map_or(0, |after| {
        batches.iter().position(|batch| batch.id == after).map_or(batches.len(), |place| place + 1)
    });
    let shown: Vec<_> = batches.iter().skip(start).take(size).map(|batch| view(batch)).collect();
    let has_more = start + shown.len() < batches.len();
    FakeBatchReply::Json(200, json!({ "object": "list", "data": shown, "has_more": has_more }))
}
