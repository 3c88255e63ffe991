//! A fake provider. It sends the responses that a test has scripted, and fails the test if a request would be
//! rejected by the real provider.

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
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::{JoinHandle, yield_now};

use super::FakeProtocol;

/// The API key in all tests. No real provider has issued it.
pub const API_KEY: &str = "sk-planted-5up3rs3cr3t-0123456789";

/// A scripted response.
pub struct FakeResponse {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    steps: Vec<FakeBodyStep>,
}

/// A step in sending the body of a response.
pub enum FakeBodyStep {
    Send(Bytes),
    /// Sends these chunks for as long as the client reads them.
    SendMany(Box<dyn Iterator<Item = Bytes> + Send>),
    /// Sends nothing until the test notifies it.
    WaitFor(Arc<Notify>),
    /// Sends nothing more, and keeps the connection open.
    Stall,
    /// Breaks the connection.
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

/// A request that the fake provider has received.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// The path and the query.
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
    service: Arc<FakeProviderService>,
    task: JoinHandle<()>,
}

impl FakeProvider {
    /// Sends these responses in order.
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

    /// Answers each request with the handler's response.
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
        let service = FakeProviderService {
            protocol,
            state: Mutex::new(state),
            received: watch::Sender::new(0),
            disconnects: Semaphore::new(0),
        };
        let service = Arc::new(service);
        let router = Router::new().fallback(handle_request).with_state(Arc::clone(&service));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, service, task }
    }

    /// The endpoint of this provider, with [`API_KEY`].
    pub fn endpoint(&self) -> Endpoint {
        let base_url = format!("{}{}", self.url, self.protocol().base_path());
        Endpoint { provider: self.protocol().kind(), base_url, key: Some(Secret::new(API_KEY)), pinned: None }
    }

    pub fn protocol(&self) -> FakeProtocol {
        self.service.protocol
    }

    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state().requests.clone()
    }

    /// Waits until this many requests have arrived.
    pub async fn wait_for_requests(&self, count: usize) {
        self.service.received.subscribe().wait_for(|received| *received >= count).await.unwrap();
    }

    /// Waits until a client has closed its connection before the end of a response.
    pub async fn wait_for_disconnect(&self) {
        self.service.disconnects.acquire().await.unwrap().forget();
    }

    fn state(&self) -> MutexGuard<'_, FakeProviderState> {
        self.service.state.lock().unwrap()
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        self.task.abort();
        if !thread::panicking() {
            let request_errors = std::mem::take(&mut self.state().request_errors);
            assert!(
                request_errors.is_empty(),
                "requests that {:?} would reject: {request_errors:#?}",
                self.protocol()
            );
        }
    }
}

struct FakeProviderService {
    protocol: FakeProtocol,
    state: Mutex<FakeProviderState>,
    /// The number of requests so far.
    received: watch::Sender<usize>,
    disconnects: Semaphore,
}

async fn handle_request(
    State(service): State<Arc<FakeProviderService>>,
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
        service.received.send_modify(|received| *received += 1);
        scripted
    };
    let Some(scripted) = scripted else {
        service.state.lock().unwrap().request_errors.push("a request without a scripted response".to_owned());
        return Ok(Response::builder().status(500).body(Body::empty()).unwrap());
    };
    Ok(build_response(scripted, service))
}

fn build_response(scripted: FakeResponse, service: Arc<FakeProviderService>) -> Response {
    let guard = ClientDisconnectGuard { service, finished: false };
    let steps = stream::iter(scripted.steps).flat_map(step_bytes);
    let body = stream::unfold((steps.boxed(), guard), |(mut steps, mut guard)| async move {
        let next = steps.next().await;
        // A scripted disconnect is an end too, and not one by the client.
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
        // Yielding once lets the server send the previous chunks before the connection breaks.
        FakeBodyStep::Disconnect => stream::once(async {
            yield_now().await;
            Err(io::Error::other("scripted disconnect"))
        })
        .boxed(),
    }
}

/// Counts a disconnect if a response is dropped before its end.
struct ClientDisconnectGuard {
    service: Arc<FakeProviderService>,
    finished: bool,
}

impl Drop for ClientDisconnectGuard {
    fn drop(&mut self) {
        if !self.finished {
            self.service.disconnects.add_permits(1);
        }
    }
}
