//! A builder agent: it builds a tower for whatever is asked, on `crates/a2a`.
//!
//!     cargo run --example builder-agent -- 9021
//!
//! Then enter it as the example in Python says. An agent of your own differs in `build` alone: it gets the prompt and the
//! grid, and returns a spec.

use std::convert::Infallible;
use std::net::SocketAddr;

use a2a::{
    A2aServer, Agent, AgentReply, Artifact, CARD_PATH, CardDescription, DescribedSkill, MemoryTaskStore,
    Part, PartContent, RpcAnswer, RpcError, SendMessageParams, VersionClaim, read_call,
};
use async_trait::async_trait;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};

/// How many tasks are remembered.
const REMEMBERED_TASKS: usize = 1000;

struct Builder;

/// What Buildoff sends beside the words.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BuildOrder {
    prompt: String,
    grid_size: u32,
}

#[async_trait]
impl Agent for Builder {
    type Client = ();
    type Owner = ();

    fn owner((): &()) -> &() {
        &()
    }

    async fn receive(&self, params: SendMessageParams, (): &()) -> Result<AgentReply, RpcError> {
        let mut orders = params.message.parts.iter().filter_map(|part| match &part.content {
            PartContent::Data(data) => data.parse::<BuildOrder>().ok(),
            _ => None,
        });
        let Some(order) = orders.next_back() else {
            return Ok(AgentReply::text("Send a data part with prompt and gridSize."));
        };
        Ok(AgentReply::work(move |updates| async move {
            updates.progress(format!("building {}", order.prompt)).await;
            let spec = build(&order.prompt, order.grid_size).to_string();
            let artifact = Artifact {
                id: "build".to_owned(),
                name: Some("Build".to_owned()),
                description: None,
                parts: vec![Part::text(spec)],
                extensions: Vec::new(),
                metadata: None,
            };
            updates.complete_with(artifact).await;
        }))
    }
}

/// A tower as high as the grid, with a crown.
fn build(_prompt: &str, grid_size: u32) -> Value {
    let grid_size = grid_size.clamp(16, 256);
    let (middle, top, half) = (grid_size / 2, grid_size - 4, grid_size / 4);
    let (low, high) = (middle - half, middle + half - 1);
    json!({ "version": "1.0", "lines": [], "blocks": [], "boxes": [
        { "x1": low, "y1": 0, "z1": low, "x2": high, "y2": top - 3, "z2": high, "type": "stone" },
        { "x1": low - 1, "y1": top - 2, "z1": low - 1, "x2": high + 1, "y2": top, "z2": high + 1, "type": "oak_planks" },
    ] })
}

#[derive(Clone)]
struct Site {
    server: A2aServer<Builder, MemoryTaskStore>,
    card: String,
}

async fn answer(State(site): State<Site>, headers: HeaderMap, body: Bytes) -> Response {
    let claim = VersionClaim::parse(headers.get("a2a-version").and_then(|value| value.to_str().ok()));
    match site.server.answer(read_call(&body, claim), ()).await {
        RpcAnswer::Document(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
        RpcAnswer::Events(events) => {
            Sse::new(events.map(|event| Ok::<_, Infallible>(Event::default().data(event)))).into_response()
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let port = std::env::args().nth(1).map_or(Ok(9021), |port| port.parse())?;
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let skill = DescribedSkill {
        id: "build".to_owned(),
        name: "Build".to_owned(),
        description: "Builds towers".to_owned(),
        tags: vec!["voxel".to_owned()],
        examples: Vec::new(),
        input_modes: vec!["application/json".to_owned()],
        output_modes: vec!["text/plain".to_owned()],
    };
    let card = CardDescription {
        name: "Tower".to_owned(),
        description: "Builds a tower for whatever is asked.".to_owned(),
        url: format!("http://{address}/"),
        version: "1.0.0".to_owned(),
        documentation_url: None,
        provider: None,
        skills: vec![skill],
    };
    let server = A2aServer::new(Builder, MemoryTaskStore::new(REMEMBERED_TASKS));
    let site = Site { server, card: card.write().get().to_owned() };
    let card =
        get(|State(site): State<Site>| async move { ([(CONTENT_TYPE, "application/json")], site.card) });
    let router = Router::new().route("/", post(answer)).route(CARD_PATH, card).with_state(site);
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("Tower listens at http://{address}");
    axum::serve(listener, router).await?;
    Ok(())
}
