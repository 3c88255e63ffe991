//! A provider on this machine. It answers what a test has scripted, when the test says so, and takes only
//! requests that the real one would take.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request as HttpRequest, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use buildoff::generate::{Endpoint, Secret};
use futures_util::stream::{self, BoxStream, StreamExt};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};
use tokio::task::{JoinHandle, yield_now};

use super::Voice;

/// Every test's key; no provider has ever given it out.
pub const KEY: &str = "sk-planted-5up3rs3cr3t-0123456789";

/// One answer to one request.
pub struct Script {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    beats: Vec<Beat>,
}

/// What happens next in an answer.
pub enum Beat {
    Send(Bytes),
    /// As much as whoever asks will take.
    Flood(Box<dyn Iterator<Item = Bytes> + Send>),
    /// Nothing, until the test gives leave.
    Hold(Arc<Notify>),
    /// Nothing, for ever.
    Stall,
    /// The connection breaks.
    Break,
}

impl Script {
    pub fn new(status: u16, content_type: &'static str) -> Self {
        let status = StatusCode::from_u16(status).unwrap();
        let headers = vec![(HeaderName::from_static("content-type"), HeaderValue::from_static(content_type))];
        Self { status, headers, beats: Vec::new() }
    }

    pub fn stream() -> Self {
        Self::new(200, "text/event-stream; charset=utf-8")
    }

    pub fn error(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json").send(body.to_string())
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((HeaderName::from_static(name), value.parse().unwrap()));
        self
    }

    pub fn send(self, bytes: impl Into<Bytes>) -> Self {
        self.beat(Beat::Send(bytes.into()))
    }

    pub fn beat(mut self, beat: Beat) -> Self {
        self.beats.push(beat);
        self
    }
}

/// What somebody asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// With the query.
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

type Improvise = Box<dyn Fn(&Request) -> Script + Send + Sync>;

#[derive(Default)]
struct Stage {
    scripts: VecDeque<Script>,
    improvise: Option<Improvise>,
    requests: Vec<Request>,
    objections: Vec<String>,
}

pub struct Provider {
    pub url: String,
    pub voice: Voice,
    stage: Arc<Mutex<Stage>>,
    hung_up: Arc<Semaphore>,
    task: JoinHandle<()>,
}

impl Provider {
    /// Answers with these scripts, in turn.
    pub async fn with(voice: Voice, scripts: impl IntoIterator<Item = Script>) -> Self {
        Self::open(voice, Stage { scripts: scripts.into_iter().collect(), ..Stage::default() }).await
    }

    /// Answers whatever is asked with what the closure makes of it.
    pub async fn improvising(
        voice: Voice,
        improvise: impl Fn(&Request) -> Script + Send + Sync + 'static,
    ) -> Self {
        Self::open(voice, Stage { improvise: Some(Box::new(improvise)), ..Stage::default() }).await
    }

    async fn open(voice: Voice, stage: Stage) -> Self {
        let stage = Arc::new(Mutex::new(stage));
        let hung_up = Arc::new(Semaphore::new(0));
        let theatre = Theatre { voice, stage: Arc::clone(&stage), hung_up: Arc::clone(&hung_up) };
        let router = Router::new().fallback(perform).with_state(theatre);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, voice, stage, hung_up, task }
    }

    /// How to reach it, with a key.
    pub fn endpoint(&self) -> Endpoint {
        let base_url = format!("{}{}", self.url, self.voice.base_path());
        Endpoint { provider: self.voice.kind(), base_url, key: Some(Secret::new(KEY)), pinned: None }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.stage().requests.clone()
    }

    /// Resolves once somebody has closed a connection before the answer was over.
    pub async fn hung_up(&self) {
        self.hung_up.acquire().await.unwrap().forget();
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.task.abort();
        if !thread::panicking() {
            let objections = std::mem::take(&mut self.stage().objections);
            assert!(objections.is_empty(), "requests that {:?} would not take: {objections:#?}", self.voice);
        }
    }
}

#[derive(Clone)]
struct Theatre {
    voice: Voice,
    stage: Arc<Mutex<Stage>>,
    hung_up: Arc<Semaphore>,
}

async fn perform(State(theatre): State<Theatre>, request: HttpRequest) -> Result<Response, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let headers = parts.headers.iter();
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    let request = Request {
        path: parts.uri.to_string(),
        headers: headers.collect(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let script = {
        let mut stage = theatre.stage.lock().unwrap();
        stage.objections.extend(theatre.voice.objection(parts.method.as_str(), &request));
        let script =
            stage.scripts.pop_front().or_else(|| stage.improvise.as_ref().map(|play| play(&request)));
        stage.requests.push(request);
        script
    };
    let Some(script) = script else {
        theatre.stage.lock().unwrap().objections.push("one request too many".to_owned());
        return Ok(Response::builder().status(500).body(Body::empty()).unwrap());
    };
    Ok(act(script, theatre.hung_up))
}

fn act(script: Script, hung_up: Arc<Semaphore>) -> Response {
    let curtain = Curtain { hung_up, fell: false };
    let beats = stream::iter(script.beats).flat_map(bytes);
    let body = stream::unfold((beats.boxed(), curtain), |(mut beats, mut curtain)| async move {
        let next = beats.next().await;
        // A broken connection is the end as well.
        curtain.fell = !matches!(next, Some(Ok(_)));
        next.map(|bytes| (bytes, (beats, curtain)))
    });
    let mut response = Response::new(Body::from_stream(body));
    *response.status_mut() = script.status;
    response.headers_mut().extend(script.headers);
    response
}

fn bytes(beat: Beat) -> BoxStream<'static, io::Result<Bytes>> {
    match beat {
        Beat::Send(bytes) => stream::once(async { Ok(bytes) }).boxed(),
        Beat::Flood(pieces) => stream::iter(pieces.map(Ok)).boxed(),
        Beat::Hold(leave) => {
            stream::once(async move { leave.notified().await }).filter_map(|()| async { None }).boxed()
        }
        Beat::Stall => stream::pending().boxed(),
        // What was sent before goes out while this one is not ready yet.
        Beat::Break => stream::once(async {
            yield_now().await;
            Err(io::Error::other("the script says so"))
        })
        .boxed(),
    }
}

/// Tells when an answer was left before its end.
struct Curtain {
    hung_up: Arc<Semaphore>,
    fell: bool,
}

impl Drop for Curtain {
    fn drop(&mut self) {
        if !self.fell {
            self.hung_up.add_permits(1);
        }
    }
}
