//! Benchmarks of runs: an agent in this process that answers at once is put through a task, step by step.

#![allow(clippy::expect_used)]

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use buildoff::assess::WorldThreads;
use buildoff::assess::order::{AssessmentOrder, ConfigBody, NameList};
use buildoff::assess::run::{RunExchange, RunListener, RunSetup, RunTimes, run_task};
use buildoff::generate::{Endpoint, ProviderKind, agent_provider};
use divan::Bencher;
use divan::counter::ItemsCount;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

const STEPS: u64 = 600;

/// The threads are shared by all runs, as in a server.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));
static THREADS: LazyLock<WorldThreads> = LazyLock::new(|| WorldThreads::new().expect("threads"));

struct IgnoredExchanges;

impl RunListener for IgnoredExchanges {
    fn on_exchange(&mut self, _: &RunExchange<'_>) {}
}

fn main() {
    divan::main();
}

/// 600 steps of an agent that walks, by the pictures that it is sent.
#[divan::bench(args = ["motion/look_at_the_sky", "crafting/craft_ladder"], sample_count = 9, sample_size = 1)]
fn run_of_600_steps(bencher: Bencher<'_, '_>, task: &str) {
    let url = RUNTIME.block_on(start_agent());
    let config = ConfigBody {
        tasks: Some(NameList::One(task.to_owned())),
        max_steps: Some(STEPS),
        ..ConfigBody::default()
    };
    let order = AssessmentOrder::new(url.clone(), &config).expect("an order");
    let times = RunTimes::default();
    let endpoint = Endpoint { provider: ProviderKind::A2a, base_url: url, key: None, pinned: None };
    let agent = agent_provider(&endpoint, true, times.limits(), false).expect("an agent");
    bencher.counter(ItemsCount::new(STEPS)).bench(|| {
        let setup = RunSetup {
            seed: 7,
            size: order.size,
            stops_when_done: false,
            times,
            terrains: Default::default(),
            threads: THREADS.clone(),
        };
        let outcome = RUNTIME.block_on(run_task(&order.tasks[0], &setup, &*agent, &mut IgnoredExchanges));
        assert_eq!(outcome.expect("a run").steps, STEPS);
    });
}

/// An agent of version 1.0 that is always ready, and always walks.
async fn start_agent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let card = json!({
        "name": "Walker", "description": "Walks", "version": "1", "capabilities": { "streaming": false },
        "supportedInterfaces": [
            { "url": format!("{url}/a2a"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0" },
        ],
        "defaultInputModes": [], "defaultOutputModes": [], "skills": [],
    });
    let router = Router::new()
        .route("/.well-known/agent-card.json", get(move || async move { Json(card) }))
        .route("/a2a", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

async fn answer(body: Bytes) -> impl IntoResponse {
    let call: Value = serde_json::from_slice(&body).expect("a call");
    let text = r#"{"type": "action", "success": true, "keys": ["forward"]}"#;
    let message =
        json!({ "messageId": "m", "contextId": "c", "role": "ROLE_AGENT", "parts": [{ "text": text }] });
    let answer = json!({ "jsonrpc": "2.0", "id": call["id"], "result": { "message": message } });
    ([(CONTENT_TYPE, "application/json")], answer.to_string())
}
