//! A provider on this machine. It answers what a test has scripted, when the test says so, and takes only
//! requests that the real one would take.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use buildoff::generate::{Endpoint, Secret};
use futures_util::stream::{self, BoxStream, StreamExt};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};
use tokio::task::{JoinHandle, yield_now};

use super::FakeProtocol;

/// Every test's key; no provider has ever given it out.
pub const API_KEY: &str = "sk-planted-5up3rs3cr3t-0123456789";

/// One answer to one request.
pub struct FakeResponse {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    steps: Vec<FakeBodyStep>,
}

/// What happens next in an answer.
pub enum FakeBodyStep {
    Send(Bytes),
    /// As much as whoever asks will take.
    SendMany(Box<dyn Iterator<Item = Bytes> + Send>),
    /// Nothing, until the test gives leave.
    WaitFor(Arc<Notify>),
    /// Nothing, for ever.
    Stall,
    /// The connection breaks.
    Disconnect,
}

impl FakeResponse {
    pub fn new(status: u16, content_type: &'static str) -> Self {
        let status = StatusCode::from_u16(status).unwrap();
        let headers = vec![(HeaderName::from_static("content-type"), HeaderValue::from_static(content_type))];
        Self { status, headers, steps: Vec::new() }
    }

    pub fn stream() -> Self {
        Self::new(200, "text/event-stream; charset=utf-8")
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json").send(body.to_string())
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((HeaderName::from_static(name), value.parse().unwrap()));
        self
    }

    pub fn send(self, bytes: impl Into<Bytes>) -> Self {
        self.then(FakeBodyStep::Send(bytes.into()))
    }

    pub fn then(mut self, step: FakeBodyStep) -> Self {
        self.steps.push(step);
        self
    }
}

/// What somebody asked.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// With the query.
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

type FakeRequestHandler = Box<dyn Fn(&RecordedRequest) -> FakeResponse + Send + Sync>;

#[derive(Default)]
struct FakeProviderState {
    responses: VecDeque<FakeResponse>,
    handler: Option<FakeRequestHandler>,
    requests: Vec<RecordedRequest>,
    request_errors: Vec<String>,
}

pub struct FakeProvider {
    pub url: String,
    pub protocol: FakeProtocol,
    state: Arc<Mutex<FakeProviderState>>,
    disconnects: Arc<Semaphore>,
    task: JoinHandle<()>,
}

impl FakeProvider {
    /// Answers with these scripts, in turn.
    pub async fn with_responses(
        protocol: FakeProtocol,
        responses: impl IntoIterator<Item = FakeResponse>,
    ) -> Self {
        Self::open(
            protocol,
            FakeProviderState { responses: responses.into_iter().collect(), ..FakeProviderState::default() },
        )
        .await
    }

    /// Answers whatever is asked with what the closure makes of it.
    pub async fn with_handler(
        protocol: FakeProtocol,
        handler: impl Fn(&RecordedRequest) -> FakeResponse + Send + Sync + 'static,
    ) -> Self {
        Self::open(
            protocol,
            FakeProviderState { handler: Some(Box::new(handler)), ..FakeProviderState::default() },
        )
        .await
    }

    async fn open(protocol: FakeProtocol, state: FakeProviderState) -> Self {
        let state = Arc::new(Mutex::new(state));
        let disconnects = Arc::new(Semaphore::new(0));
        let service = FakeProviderService {
            protocol,
            state: Arc::clone(&state),
            disconnects: Arc::clone(&disconnects),
        };
        let router = Router::new().fallback(handle_request).with_state(service);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, protocol, state, disconnects, task }
    }

    /// How to reach it, with a key.
    pub fn endpoint(&self) -> Endpoint {
        let base_url = format!("{}{}", self.url, self.protocol.base_path());
        Endpoint { provider: self.protocol.kind(), base_url, key: Some(Secret::new(API_KEY)), pinned: None }
    }

    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state().requests.clone()
    }

    /// Resolves once somebody has closed a connection before the answer was over.
    pub async fn wait_for_disconnect(&self) {
        self.disconnects.acquire().await.unwrap().forget();
    }

    fn state(&self) -> MutexGuard<'_, FakeProviderState> {
        self.state.lock().unwrap()
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        self.task.abort();
        if !thread::panicking() {
            let request_errors = std::mem::take(&mut self.state().request_errors);
            assert!(
                request_errors.is_empty(),
                "requests that {:?} would not take: {request_errors:#?}",
                self.protocol
            );
        }
    }
}

#[derive(Clone)]
struct FakeProviderService {
    protocol: FakeProtocol,
    state: Arc<Mutex<FakeProviderState>>,
    disconnects: Arc<Semaphore>,
}

async fn handle_request(
    State(service): State<FakeProviderService>,
    request: Request,
) -> Result<Response, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let headers = parts.headers.iter();
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    let request = RecordedRequest {
        path: parts.uri.to_string(),
        headers: headers.collect(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let scripted = {
        let mut state = service.state.lock().unwrap();
        state.request_errors.extend(service.protocol.request_error(parts.method.as_str(), &request));
        let scripted =
            state.responses.pop_front().or_else(|| state.handler.as_ref().map(|handle| handle(&request)));
        state.requests.push(request);
        scripted
    };
    let Some(scripted) = scripted else {
        service.state.lock().unwrap().request_errors.push("one request too many".to_owned());
        return Ok(Response::builder().status(500).body(Body::empty()).unwrap());
    };
    Ok(build_response(scripted, service.disconnects))
}

fn build_response(scripted: FakeResponse, disconnects: Arc<Semaphore>) -> Response {
    let guard = ClientDisconnectGuard { disconnects, finished: false };
    let steps = stream::iter(scripted.steps).flat_map(step_bytes);
    let body = stream::unfold((steps.boxed(), guard), |(mut steps, mut guard)| async move {
        let next = steps.next().await;
        // A broken connection is the end as well.
        guard.finished = !matches!(next, Some(Ok(_)));
        next.map(|bytes| (bytes, (steps, guard)))
    });
    let mut response = Response::new(Body::from_stream(body));
    *response.status_mut() = scripted.status;
    response.headers_mut().extend(scripted.headers);
    response
}

fn step_bytes(step: FakeBodyStep) -> BoxStream<'static, io::Result<Bytes>> {
    match step {
        FakeBodyStep::Send(bytes) => stream::once(async { Ok(bytes) }).boxed(),
        FakeBodyStep::SendMany(pieces) => stream::iter(pieces.map(Ok)).boxed(),
        FakeBodyStep::WaitFor(release) => {
            stream::once(async move { release.notified().await }).filter_map(|()| async { None }).boxed()
        }
        FakeBodyStep::Stall => stream::pending().boxed(),
        // What was sent before goes out while this one is not ready yet.
        FakeBodyStep::Disconnect => stream::once(async {
            yield_now().await;
            Err(io::Error::other("the script says so"))
        })
        .boxed(),
    }
}

/// Tells when an answer was left before its end.
struct ClientDisconnectGuard {
    disconnects: Arc<Semaphore>,
    finished: bool,
}

impl Drop for ClientDisconnectGuard {
    fn drop(&mut self) {
        if !self.finished {
            self.disconnects.add_permits(1);
        }
    }
}
