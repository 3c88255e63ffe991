//! Several servers that share one queue of jobs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::sync::Notify;

use crate::support::db::TestDb;
use crate::support::{
    FakeBodyStep, FakePart, FakeProtocol, FakeProvider, FakeResponse, TestCatalog, TestServer, sample_spec,
};

const MODELS: [&str; 5] = ["one", "two", "three", "four", "five"];
const PROMPTS: [&str; 8] = ["arch", "barn", "cave", "dock", "elm", "fort", "gate", "hall"];

#[tokio::test]
async fn two_servers_make_forty_builds_once_each() {
    let db = TestDb::new().await;
    let provider = FakeProvider::with_handler(FakeProtocol::Compatible, |_| {
        FakeProtocol::Compatible.answer(&[FakePart::Text(&sample_spec(4)), FakePart::Done])
    })
    .await;
    let catalog = TestCatalog::new(&provider, &MODELS, &PROMPTS);
    let variables = catalog.variables(&[]);
    let one = TestServer::start_with_worker(db.pool.clone(), &variables).await;
    let other = TestServer::start_with_worker(db.pool.clone(), &variables).await;
    let (a, b) = (one.admin(), other.admin());
    // Both servers seed at the same time, each for all builds.
    let everything = "/api/admin/seed?background=1";
    tokio::join!(a.post(everything, ""), b.post(everything, ""));
    let (mut turn, mut seeded) = (0, json!(null));
    while seeded["done"] != true {
        turn += 1;
        seeded = if turn % 2 == 0 { &a } else { &b }.post("/api/admin/seed?batchSize=3", "").await.json();
    }
    assert_eq!(
        (&seeded["existingBuilds"], &seeded["remainingBuilds"], &seeded["failedBuilds"]),
        (&json!(40), &json!(0), &json!(0)),
        "{seeded}"
    );
    assert_eq!(provider.requests().len(), 40, "no build may be requested twice");
    assert_eq!(db.number("SELECT count(*) FROM jobs").await, 40);
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE retired_at IS NULL").await, 40);
}

#[tokio::test]
async fn a_providers_request_limit_holds_across_servers() {
    let db = TestDb::new().await;
    // Answers wait until the test releases them, so that it can count the concurrent requests.
    let gates: Arc<Mutex<Vec<Arc<Notify>>>> = Arc::default();
    let opened = Arc::clone(&gates);
    let provider = FakeProvider::with_handler(FakeProtocol::Compatible, move |_| {
        let gate = Arc::new(Notify::new());
        opened.lock().unwrap().push(Arc::clone(&gate));
        let rest = FakeProtocol::Compatible.stream(&[FakePart::Text(&sample_spec(4)), FakePart::Done]);
        FakeResponse::stream()
            .send(FakeProtocol::Compatible.stream(&[FakePart::Text(" ")]))
            .then(FakeBodyStep::WaitFor(gate))
            .send(rest)
    })
    .await;
    let catalog = TestCatalog::new(&provider, &MODELS, &PROMPTS[..2]);
    let variables = catalog.variables(&[("AI_AT_ONCE", "3")]);
    let one = TestServer::start_with_worker(db.pool.clone(), &variables).await;
    let _other = TestServer::start_with_worker(db.pool.clone(), &variables).await;
    let admin = one.admin();
    admin.post("/api/admin/seed?background=1", "").await;
    let mut released = 0;
    let mut most = 0;
    while released < 10 {
        let running = db.number("SELECT count(*) FROM jobs WHERE state = 'running'").await;
        most = most.max(running);
        let inside = gates.lock().unwrap().len() - released;
        assert!(running <= 3 && inside <= 3, "{running} running, {inside} concurrent requests");
        // An answer is released only after all requests that may run concurrently have arrived.
        if inside == 3 || gates.lock().unwrap().len() == 10 {
            gates.lock().unwrap()[released].notify_one();
            released += 1;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(most, 3);
}

#[tokio::test]
async fn a_batch_is_rejoined_by_the_next_call() {
    let db = TestDb::new().await;
    let release = Arc::new(Notify::new());
    let rest = || FakeProtocol::Compatible.stream(&[FakePart::Text(&sample_spec(4)), FakePart::Done]);
    let slow = FakeResponse::stream()
        .send(FakeProtocol::Compatible.stream(&[FakePart::Text(" ")]))
        .then(FakeBodyStep::WaitFor(Arc::clone(&release)))
        .send(rest());
    let provider = FakeProvider::with_responses(FakeProtocol::Compatible, [slow]).await;
    let catalog = TestCatalog::new(&provider, &["one"], &["arch"]);
    let server = TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[])).await;
    let admin = server.admin();
    // The caller disconnects.
    let gone = tokio::spawn({
        let admin = server.admin();
        async move { admin.post("/api/admin/seed", "").await }
    });
    provider.wait_for_requests(1).await;
    gone.abort();
    let rejoined = tokio::spawn(async move { admin.post("/api/admin/seed", "").await.json() });
    db.wait_until("count(*) >= 2 FROM audit").await;
    release.notify_one();
    let seeded = rejoined.await.unwrap();
    let states: HashMap<_, _> = seeded["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| (job["modelKey"].clone(), job["state"].clone()))
        .collect();
    assert_eq!(states, HashMap::from([(json!("one"), json!("ready"))]), "{seeded}");
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test]
async fn a_job_that_this_server_cannot_run_does_not_block_a_batch() {
    let db = TestDb::new().await;
    let answers = |_: &_| FakeProtocol::Compatible.answer(&[FakePart::Text(&sample_spec(4)), FakePart::Done]);
    let provider = FakeProvider::with_handler(FakeProtocol::Compatible, answers).await;
    let catalog = TestCatalog::new(&provider, &["one"], &["arch"]);
    let server = TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[])).await;
    let admin = server.admin();
    admin.post("/api/admin/seed?generateBuilds=0", "").await;
    db.run(
        "INSERT INTO models (key, provider, model_id, display_name) VALUES ('other', 'elsewhere', 'x', 'X');
         WITH job AS (
             INSERT INTO jobs (id, kind, model_key, subject)
             VALUES (gen_random_uuid(), 'build', 'other', 'arch@32-simple-precise') RETURNING id
         )
         INSERT INTO build_jobs (job_id, prompt_id, settings) SELECT id, 'arch', '32-simple-precise' FROM job",
    )
    .await;
    let seeded = admin.post("/api/admin/seed?batchSize=1", "").await.json();
    assert_eq!((&seeded["done"], &seeded["existingBuilds"]), (&json!(true), &json!(1)), "{seeded}");
}
