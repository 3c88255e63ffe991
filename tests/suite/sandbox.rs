//! `POST /api/generate`: runs of two models that stream their events, and what becomes of the results.

mod compare;
mod paste;
mod run_page;
mod saved_runs;
mod server_keys;
mod uploads;

use std::collections::BTreeSet;
use std::time::Duration;

use buildoff::generate::Endpoint;
use buildoff::outbound::PinnedHost;
use reqwest::Response;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::providers::{patience, question};
use crate::support::db::TestDb;
use crate::support::fake_protocol::MODEL;
use crate::support::fake_provider::API_KEY;
use crate::support::{
    FakeBodyStep, FakePart, FakeProtocol, FakeProvider, FakeResponse, TestAdmin, TestCatalog, TestServer,
    TestServerProcess, sample_spec,
};

struct SandboxFixture {
    db: TestDb,
    server: TestServer,
    provider: FakeProvider,
    catalog: TestCatalog,
}

impl SandboxFixture {
    /// Two models of a provider that answers each request with the handler's response.
    async fn new(
        variables: &[(&str, &str)],
        answers: impl Fn(usize) -> FakeResponse + Send + Sync + 'static,
    ) -> Self {
        let request_count = std::sync::atomic::AtomicUsize::new(0);
        let next = move |_: &_| answers(request_count.fetch_add(1, std::sync::atomic::Ordering::SeqCst));
        let provider = FakeProvider::with_handler(FakeProtocol::Compatible, next).await;
        let catalog = TestCatalog::new(&provider, &["one", "two"], &["shed"]);
        let db = TestDb::new().await;
        let server = TestServer::start_with_env(db.pool.clone(), &catalog.variables(variables)).await;
        server.admin().post("/api/admin/seed?generateBuilds=0", "").await;
        Self { db, server, provider, catalog }
    }

    /// Another server of the same installation.
    async fn another_server(&self, variables: &[(&str, &str)]) -> TestServer {
        TestServer::start_with_env(self.db.pool.clone(), &self.catalog.variables(variables)).await
    }

    /// Starts a run as the page does in a browser on this machine.
    async fn start_run(&self, body: &Value) -> Response {
        let request = self.server.post("/api/generate").header("origin", &self.server.url);
        request.json(body).send().await.unwrap()
    }

    /// All events of a run.
    async fn run_events(&self, body: &Value) -> Vec<Value> {
        let answer = self.start_run(body).await;
        assert_eq!(answer.headers()["content-type"], "application/x-ndjson");
        let text = answer.text().await.unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn stalled_response(_: usize) -> FakeResponse {
    FakeResponse::stream()
        .send(FakeProtocol::Compatible.stream(&[FakePart::Text("{")]))
        .then(FakeBodyStep::Stall)
}

fn two_model_run() -> Value {
    json!({ "prompt": " a shed ", "gridSize": 32, "palette": "simple", "modelKeys": ["one", "two"] })
}

fn valid_response(_: usize) -> FakeResponse {
    FakeProtocol::Compatible.answer(&[FakePart::Text(&sample_spec(4)), FakePart::Done])
}

fn events_of<'a>(events: &'a [Value], kind: &str, slot: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind && event["slot"] == slot).collect()
}

#[tokio::test]
async fn a_run_streams_in_order_and_its_two_builds_enter_no_arena() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let events = fixture.run_events(&two_model_run()).await;
    assert_eq!(events.first().unwrap(), &json!({ "type": "hello" }));
    assert_eq!(events.last().unwrap(), &json!({ "type": "done" }));
    for (slot, key) in [("a", "one"), ("b", "two")] {
        let kinds: Vec<_> = events
            .iter()
            .filter(|event| event["slot"] == slot)
            .map(|event| event["type"].as_str().unwrap())
            .collect();
        assert_eq!((kinds[0], *kinds.last().unwrap()), ("start", "result"), "{kinds:?}");
        assert!(kinds[1..kinds.len() - 1].iter().all(|kind| *kind == "progress"), "{kinds:?}");
        let progress = events_of(&events, "progress", slot);
        let answer_text: String = progress.iter().map(|event| event["delta"].as_str().unwrap()).collect();
        assert_eq!(answer_text, sample_spec(4), "the deltas must add up to the whole answer");
        let result = events_of(&events, "result", slot)[0];
        assert_eq!((&result["modelKey"], &result["metrics"]["warnings"]), (&json!(key), &json!([])));
        assert!(result["metrics"]["blockCount"].as_u64() > Some(1000), "{result}");
        assert!(result["metrics"]["generationTimeMs"].is_u64(), "{result}");
        assert_eq!(result["voxelBuild"], serde_json::from_str::<Value>(&sample_spec(4)).unwrap());
        let grid = fixture.server.get(result["gridUrl"].as_str().unwrap()).send().await.unwrap();
        let grid = voxel::codec::decode(&grid.bytes().await.unwrap()).unwrap();
        assert_eq!(u64::from(grid.stats().block_count), result["metrics"]["blockCount"].as_u64().unwrap());
    }
    for table in ["builds", "matchups", "jobs"] {
        assert_eq!(fixture.db.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
    fixture.db.run("UPDATE drafts SET expires_at = now()").await;
    let gone = fixture
        .server
        .get(events_of(&events, "result", "a")[0]["gridUrl"].as_str().unwrap())
        .send()
        .await
        .unwrap();
    assert_eq!(gone.status(), 404);
}

#[tokio::test]
async fn a_failed_side_includes_its_answer_and_the_other_side_continues() {
    let fixture = SandboxFixture::new(&[("AI_ATTEMPTS", "2")], |n| match n {
        0 => FakeResponse::json(
            401,
            &json!({ "error": { "message": "Incorrect API key", "code": "invalid_api_key" } }),
        ),
        1 | 2 => FakeProtocol::Compatible.answer(&[FakePart::Text("I would rather sing."), FakePart::Done]),
        _ => valid_response(n),
    })
    .await;
    let events = fixture.run_events(&two_model_run()).await;
    assert_eq!(events.last().unwrap()["type"], "done");
    let errors: Vec<_> = events.iter().filter(|event| event["type"] == "error").collect();
    assert_eq!(errors.len(), 2, "{events:?}");
    let codes: BTreeSet<_> = errors.iter().map(|event| event["code"].as_str().unwrap()).collect();
    assert_eq!(codes, BTreeSet::from(["bad_json", "bad_key"]));
    let sung = errors.iter().find(|event| event["code"] == "bad_json").unwrap();
    assert_eq!(sung["raw"], "I would rather sing.");
    let retry = events_of(&events, "retry", sung["slot"].as_str().unwrap());
    assert_eq!((retry.len(), &retry[0]["attempt"]), (1, &json!(2)));
    assert!(retry[0]["reason"].as_str().is_some_and(|reason| reason.contains("no JSON object")), "{retry:?}");

    let events = fixture.run_events(&two_model_run()).await;
    assert_eq!(events.iter().filter(|event| event["type"] == "result").count(), 2);
}

#[tokio::test]
async fn a_disconnect_ends_both_requests_at_the_provider() {
    let fixture = SandboxFixture::new(&[], stalled_response).await;
    let mut answer = fixture.start_run(&two_model_run()).await;
    let mut received = String::new();
    let is_building = |received: &str, slot: &str| {
        let slot = format!("\"slot\":\"{slot}\"");
        received.lines().any(|line| line.contains("\"delta\":\"{\"") && line.contains(&slot))
    };
    while !["a", "b"].into_iter().all(|slot| is_building(&received, slot)) {
        received += &String::from_utf8_lossy(&answer.chunk().await.unwrap().unwrap());
    }
    drop(answer);
    for _ in 0..2 {
        timeout(Duration::from_secs(20), fixture.provider.wait_for_disconnect())
            .await
            .expect("the request to the provider must end too");
    }
}

#[tokio::test]
async fn a_run_waits_in_the_queue_and_reports_its_position() {
    let fixture = SandboxFixture::new(&[("SANDBOX_AT_ONCE", "1")], stalled_response).await;
    let mut first = fixture.start_run(&two_model_run()).await;
    let mut second = fixture.start_run(&two_model_run()).await;
    let hear = async |answer: &mut Response, what: &str| {
        let mut received = String::new();
        while !received.contains(what) {
            received += &String::from_utf8_lossy(&answer.chunk().await.unwrap().unwrap());
        }
        received
    };
    hear(&mut first, "\"progress\"").await;
    let waiting = hear(&mut second, "\"queue\"").await;
    assert!(waiting.contains("\"position\":1") && !waiting.contains("\"start\""), "{waiting}");
    let (_third, _fourth) =
        (fixture.start_run(&two_model_run()).await, fixture.start_run(&two_model_run()).await);
    let fifth = fixture.start_run(&two_model_run()).await;
    assert_eq!(fifth.status(), 429);
    assert_eq!(fifth.json::<Value>().await.unwrap()["code"], "too_many_runs");
    drop(first);
    hear(&mut second, "\"start\"").await;
}

#[tokio::test]
async fn an_invalid_run_is_refused_before_it_begins() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let with = |field: &str, value: Value| {
        let mut body = two_model_run();
        body[field] = value;
        body
    };
    let models =
        |models: Value| json!({ "prompt": "x", "gridSize": 32, "palette": "simple", "models": models });
    for (body, status, code) in [
        (with("prompt", json!("")), 400, "bad_request"),
        (with("prompt", json!("x".repeat(801))), 400, "bad_request"),
        (with("prompt", json!("a\u{0}b")), 400, "bad_request"),
        (with("gridSize", json!(33)), 422, "bad_request"),
        (with("palette", json!("oak")), 422, "bad_request"),
        (with("modelKeys", json!(["one"])), 400, "bad_request"),
        (with("modelKeys", json!(["one", "two", "three"])), 400, "bad_request"),
        (with("modelKeys", json!(["one", "one"])), 400, "equal_models"),
        (with("modelKeys", json!(["one", "nobody"])), 400, "unknown_model"),
        (with("models", json!([{ "key": "one" }, { "key": "two" }])), 400, "bad_request"),
        (with("colour", json!("red")), 422, "bad_request"),
        (models(json!([{ "key": "one", "model": "x" }, { "key": "two" }])), 400, "bad_request"),
        (models(json!([{ "provider": "nobody", "model": "x" }, { "key": "two" }])), 400, "unknown_model"),
        (
            models(json!([{ "provider": "somebody", "model": "a\u{0}b" }, { "key": "two" }])),
            400,
            "bad_request",
        ),
        (models(json!([{ "key": "one", "apiKey": "k".repeat(500) }, { "key": "two" }])), 400, "bad_request"),
        (json!([]), 422, "bad_request"),
    ] {
        let answer = fixture.start_run(&body).await;
        let status_is = answer.status().as_u16();
        let reply: Value = answer.json().await.unwrap();
        assert_eq!((status_is, reply["code"].as_str().unwrap()), (status, code), "{body}: {reply}");
    }
    assert!(fixture.provider.requests().is_empty());
}

#[tokio::test]
async fn server_keys_are_used_only_if_shared_and_the_visitors_own_always() {
    let fixture = SandboxFixture::new(&[("SANDBOX_SERVER_KEYS", "off")], valid_response).await;
    let events = fixture.run_events(&two_model_run()).await;
    let codes: Vec<_> = events.iter().filter_map(|event| event["code"].as_str()).collect();
    assert_eq!(codes, ["no_key", "no_key"]);
    assert!(fixture.provider.requests().is_empty());
    let own = json!({ "prompt": "a shed", "gridSize": 32, "palette": "simple", "models": [
        { "key": "one", "apiKey": API_KEY }, { "provider": "somebody", "model": MODEL, "apiKey": API_KEY },
    ]});
    let events = fixture.run_events(&own).await;
    assert_eq!(events.iter().filter(|event| event["type"] == "result").count(), 2, "{events:?}");
    assert_eq!(events_of(&events, "start", "b")[0]["modelKey"], format!("somebody:{MODEL}"));
    let local = json!({ "prompt": "a shed", "gridSize": 32, "palette": "simple", "models": [
        { "provider": "nearby", "model": MODEL, "apiKey": API_KEY }, { "provider": "nearby", "model": "x" },
    ]});
    let reply = fixture.run_events(&local).await;
    let codes: Vec<_> = reply.iter().filter_map(|event| event["code"].as_str()).collect();
    assert_eq!(codes, ["no_key", "no_key"], "a provider without a key must not be open to visitors");
    let stored = fixture.db.dump().await;
    assert!(!stored.contains(API_KEY) && stored.contains("a shed"));
    assert!(!events.iter().any(|event| event.to_string().contains(API_KEY)));
}

#[tokio::test]
async fn an_empty_key_is_no_key() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let body = json!({ "prompt": "a shed", "gridSize": 32, "palette": "simple", "models": [
        { "key": "one", "apiKey": "" }, { "key": "two", "apiKey": "  " },
    ]});
    let events = fixture.run_events(&body).await;
    assert_eq!(events.iter().filter(|event| event["type"] == "result").count(), 2, "{events:?}");
}

#[tokio::test]
async fn a_disabled_model_cannot_be_used_in_the_sandbox() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    fixture.db.run("UPDATE models SET enabled = false WHERE key = 'two'").await;
    let answer = fixture.start_run(&two_model_run()).await;
    assert_eq!(answer.json::<Value>().await.unwrap()["code"], "unknown_model");
}

#[tokio::test]
async fn custom_endpoints_are_limited_to_allowed_addresses() {
    for (local, codes) in [("on", vec![]), ("off", vec!["address_refused", "address_refused"])] {
        let fixture = SandboxFixture::new(&[("SANDBOX_LOCAL", local)], valid_response).await;
        let address = fixture.provider.endpoint().base_url;
        let elsewhere = json!({ "prompt": "a shed", "gridSize": 32, "palette": "simple", "models": [
            { "baseUrl": address, "model": MODEL, "apiKey": API_KEY },
            { "baseUrl": address.replace("127.0.0.1", "localhost"), "model": MODEL, "apiKey": API_KEY },
        ]});
        let events = fixture.run_events(&elsewhere).await;
        let reply: Vec<_> = events.iter().filter_map(|event| event["code"].as_str()).collect();
        assert_eq!(reply, codes, "{events:?}");
        assert_eq!(fixture.provider.requests().len(), 2 - codes.len());
    }
}

#[tokio::test]
async fn a_multi_line_answer_is_one_event() {
    let pretty = sample_spec(4).replace(',', ",\r\n  ");
    let text = pretty.clone();
    let fixture = SandboxFixture::new(&[], move |_| {
        FakeProtocol::Compatible.answer(&[FakePart::Text(&text), FakePart::Done])
    })
    .await;
    let events = fixture.run_events(&two_model_run()).await;
    let result = events_of(&events, "result", "b")[0];
    assert_eq!(result["voxelBuild"], serde_json::from_str::<Value>(&pretty).unwrap());
}

#[tokio::test]
async fn one_side_can_be_run_again() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let mut body = two_model_run();
    body["only"] = json!("b");
    let events = fixture.run_events(&body).await;
    assert_eq!(events_of(&events, "start", "b")[0]["modelKey"], "two");
    assert_eq!(events_of(&events, "result", "b").len(), 1);
    assert!(!events.iter().any(|event| event["slot"] == "a"), "{events:?}");
    assert_eq!(fixture.provider.requests().len(), 1);
    body["only"] = json!("c");
    assert_eq!(fixture.start_run(&body).await.status(), 422);
}

#[tokio::test]
async fn a_silent_stream_sends_a_heartbeat_every_fifteen_seconds() {
    let fixture = SandboxFixture::new(&[], stalled_response).await;
    let mut answer = fixture.start_run(&two_model_run()).await;
    let mut received = String::new();
    while !received.contains(r#"{"type":"ping"}"#) {
        received += &String::from_utf8_lossy(&answer.chunk().await.unwrap().unwrap());
    }
    assert!(received.contains("\"progress\"") && !received.contains("\"done\""), "{received}");
}

#[tokio::test]
async fn the_whole_answer_is_streamed_however_it_is_split() {
    let words: Vec<String> = (0..4000).map(|n| format!("word {n} ")).collect();
    let text = words.concat() + &sample_spec(4);
    let streams = move |_| {
        let pieces =
            text.as_bytes().chunks(500).map(|piece| FakePart::Text(std::str::from_utf8(piece).unwrap()));
        FakeProtocol::Compatible.answer(&pieces.chain([FakePart::Done]).collect::<Vec<_>>())
    };
    let fixture = SandboxFixture::new(&[], streams).await;
    let events = fixture.run_events(&two_model_run()).await;
    for slot in ["a", "b"] {
        let progress = events_of(&events, "progress", slot);
        let answer_text: String = progress.iter().map(|event| event["delta"].as_str().unwrap()).collect();
        assert_eq!(answer_text, words.concat() + &sample_spec(4));
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_loses_its_slot_after_a_minute() {
    let chatter = |_| {
        let words = FakeProtocol::Compatible.stream(&[FakePart::Text(&"word ".repeat(20_000))]);
        FakeResponse::stream().then(FakeBodyStep::SendMany(Box::new(std::iter::repeat_n(words.into(), 200))))
    };
    let fixture = SandboxFixture::new(&[("SANDBOX_AT_ONCE", "1"), ("AI_ATTEMPTS", "1")], chatter).await;
    let unread = fixture.start_run(&two_model_run()).await;
    let mut waiting = fixture.start_run(&two_model_run()).await;
    let mut received = String::new();
    let begins = async {
        while !received.contains("\"start\"") {
            received += &String::from_utf8_lossy(&waiting.chunk().await.unwrap().unwrap());
        }
    };
    timeout(Duration::from_secs(180), begins).await.expect("the next run must get the slot");
    assert!(received.contains("\"queue\""));
    drop(unread);
}

#[tokio::test]
async fn a_custom_endpoint_is_resolved_once_and_pinned() {
    let provider = FakeProvider::with_handler(FakeProtocol::Compatible, |_| valid_response(0)).await;
    let place: std::net::SocketAddr = provider.url.strip_prefix("http://").unwrap().parse().unwrap();
    // This name does not resolve, so no request can have reached the endpoint.
    let endpoint = |addresses| Endpoint {
        base_url: provider.endpoint().base_url.replace("127.0.0.1", "models.invalid"),
        pinned: Some(PinnedHost { host: "models.invalid".to_owned(), addresses }),
        ..provider.endpoint()
    };
    let ask = async |endpoint: &Endpoint| {
        let client = buildoff::generate::provider(endpoint, patience(), false).unwrap();
        client.ask(&question(), &mut |_| ()).await
    };
    assert_eq!(ask(&endpoint(vec![place])).await.unwrap().text, sample_spec(4));
    assert!(ask(&Endpoint { pinned: None, ..endpoint(Vec::new()) }).await.is_err());
}

#[tokio::test]
async fn a_visitors_key_is_in_no_log_line_and_no_row() {
    let provider = FakeProvider::with_handler(FakeProtocol::Compatible, |_| {
        FakeResponse::json(
            401,
            &json!({ "error": { "message": format!("Incorrect API key: {API_KEY}"), "code": "x" } }),
        )
    })
    .await;
    let catalog = TestCatalog::new(&provider, &["one", "two"], &["shed"]);
    let db = TestDb::new().await;
    let variables = [("SANDBOX_LOCAL", "on"), ("LOG", "debug"), ("AI_DEBUG", "1")];
    let process = TestServerProcess::start(&db, &catalog.variables(&variables));
    let own = json!({ "prompt": "a shed", "gridSize": 32, "palette": "simple", "models": [
        { "key": "one", "apiKey": API_KEY }, { "baseUrl": provider.endpoint().base_url, "model": MODEL, "apiKey": API_KEY },
    ]});
    TestAdmin::new(&process.url).post("/api/admin/seed?generateBuilds=0", "").await;
    let answer = reqwest::Client::new().post(format!("{}/api/generate", process.url)).json(&own).send().await;
    let reply = answer.unwrap().text().await.unwrap();
    assert_eq!(reply.matches("\"bad_key\"").count(), 2, "{reply}");
    for (where_it_is, text) in [("answer", reply), ("log", process.log()), ("database", db.dump().await)] {
        assert!(!text.contains(API_KEY), "the {where_it_is} holds the key");
        assert!(!text.contains(&API_KEY[..24]), "the {where_it_is} holds most of the key");
    }
    assert!(process.log().contains("/api/generate"));
}

#[tokio::test]
async fn redirects_are_never_followed() {
    let fixture = SandboxFixture::new(&[("SANDBOX_LOCAL", "on"), ("AI_ATTEMPTS", "1")], |_| {
        FakeResponse::new(302, "text/plain").header("location", "http://169.254.169.254/latest/meta-data")
    })
    .await;
    let own = json!({ "baseUrl": fixture.provider.endpoint().base_url, "model": MODEL, "apiKey": API_KEY });
    let body =
        json!({ "prompt": "a shed", "gridSize": 32, "palette": "simple", "models": [{ "key": "one" }, own] });
    let events = fixture.run_events(&body).await;
    let reply: Vec<_> = events.iter().filter_map(|event| event["message"].as_str()).collect();
    assert!(reply.len() == 2 && reply.iter().all(|message| message.contains("redirect")), "{events:?}");
}
