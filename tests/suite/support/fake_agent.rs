//! An agent that speaks the A2A protocol strictly, and answers as a script says.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

/// What an agent does with a request.
#[derive(Clone)]
pub enum AgentStep {
    /// Answers with one JSON-RPC result.
    Result(Value),
    /// Is ready for every task, and acts the same in every step.
    Act(&'static str),
    /// Answers with a JSON-RPC error.
    Error(i64, &'static str),
    /// Streams results, and ends the stream.
    Stream(Vec<Value>),
    /// Streams results, and then stays silent.
    StreamThenSilence(Vec<Value>),
    /// Streams one result over and over.
    StreamForEver(Value),
    /// Sends something that is no JSON-RPC at all.
    Raw(StatusCode, &'static str, &'static str),
    Redirect(&'static str),
    Never,
}

/// A request that came in.
#[derive(Clone, Debug)]
pub struct AgentRequest {
    pub headers: HeaderMap,
    pub body: Value,
}

#[derive(Clone)]
pub struct FakeAgent {
    pub url: String,
    state: Arc<AgentState>,
}

struct AgentState {
    card: Mutex<Value>,
    script: Mutex<Vec<AgentStep>>,
    requests: Mutex<Vec<AgentRequest>>,
}

impl FakeAgent {
    /// An agent of 1.0 that streams. The last step of the script is repeated.
    pub async fn start(script: impl IntoIterator<Item = AgentStep>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let url = format!("http://{address}");
        let card = json!({
            "name": "Fake", "description": "A fake", "version": "1", "capabilities": { "streaming": true },
            "supportedInterfaces": [
                { "url": format!("{url}/a2a"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0" },
            ],
            "defaultInputModes": [], "defaultOutputModes": [], "skills": [],
        });
        let state = Arc::new(AgentState {
            card: Mutex::new(card),
            script: Mutex::new(script.into_iter().collect()),
            requests: Mutex::default(),
        });
        let router = Router::new()
            .route("/.well-known/agent-card.json", get(serve_card))
            .route("/a2a", post(answer))
            .with_state(Arc::clone(&state));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, state }
    }

    /// Changes the card.
    pub fn change_card(&self, change: impl FnOnce(&mut Value)) {
        change(&mut self.state.card.lock().unwrap());
    }

    /// What it does from now on.
    pub fn replace_script(&self, script: impl IntoIterator<Item = AgentStep>) {
        *self.state.script.lock().unwrap() = script.into_iter().collect();
    }

    /// An agent of 0.3.
    pub fn speak_0_3(&self) {
        let url = format!("{}/a2a", self.url);
        self.change_card(|card| {
            card.as_object_mut().unwrap().remove("supportedInterfaces");
            card["url"] = json!(url);
            card["protocolVersion"] = json!("0.3.0");
        });
    }

    pub fn requests(&self) -> Vec<AgentRequest> {
        self.state.requests.lock().unwrap().clone()
    }

    pub fn methods(&self) -> Vec<String> {
        self.requests().iter().map(|request| request.body["method"].as_str().unwrap().to_owned()).collect()
    }

    pub async fn wait_for_method(&self, method: &str) {
        let arrived = async {
            while !self.methods().iter().any(|sent| sent == method) {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let arrived = timeout(Duration::from_secs(30), arrived).await;
        assert!(arrived.is_ok(), "no {method} came, only {:?}", self.methods());
    }
}

async fn serve_card(State(state): State<Arc<AgentState>>) -> Response {
    let card = state.card.lock().unwrap().clone();
    axum::Json(card).into_response()
}

async fn answer(State(state): State<Arc<AgentState>>, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["jsonrpc"], "2.0");
    let id = body["id"].clone();
    let sent = body.clone();
    state.requests.lock().unwrap().push(AgentRequest { headers, body });
    let step = {
        let mut script = state.script.lock().unwrap();
        if script.len() > 1 { script.remove(0) } else { script[0].clone() }
    };
    let result = |result: &Value| json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
    let event = |value: &Value| Ok::<_, std::convert::Infallible>(format!("data: {}\n\n", result(value)));
    let events = |body: Body| ([(CONTENT_TYPE, "text/event-stream")], body).into_response();
    match step {
        AgentStep::Act(action) => {
            let text = sent["params"]["message"]["parts"][0]["text"].as_str().unwrap_or_default();
            let is_init = serde_json::from_str::<Value>(text).is_ok_and(|message| message["type"] == "init");
            let text = if is_init { r#"{"type": "ack", "success": true}"# } else { action };
            let part = json!({ "messageId": "m1", "contextId": "c1", "role": "ROLE_AGENT", "parts": [{ "text": text }] });
            ([(CONTENT_TYPE, "application/json")], result(&json!({ "message": part }))).into_response()
        }
        AgentStep::Result(value) => ([(CONTENT_TYPE, "application/json")], result(&value)).into_response(),
        AgentStep::Error(code, message) => {
            let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
            axum::Json(error).into_response()
        }
        AgentStep::Stream(values) => {
            events(Body::from_stream(stream::iter(values.iter().map(event).collect::<Vec<_>>())))
        }
        AgentStep::StreamThenSilence(values) => {
            let values = stream::iter(values.iter().map(event).collect::<Vec<_>>());
            events(Body::from_stream(values.chain(stream::pending())))
        }
        AgentStep::StreamForEver(value) => events(Body::from_stream(
            stream::repeat(event(&value).unwrap()).map(Ok::<_, std::convert::Infallible>),
        )),
        AgentStep::Raw(status, kind, body) => (status, [(CONTENT_TYPE, kind)], body).into_response(),
        AgentStep::Redirect(to) => (StatusCode::FOUND, [("location", to)]).into_response(),
        AgentStep::Never => std::future::pending().await,
    }
}
