//! Jobs: each enqueued build is requested once, and no answer that was paid for is lost.

mod background;
mod batches;
mod budget_alarms;
mod budgets;
mod crashes;
mod draining;
mod failures;
mod following;
mod generations;
mod interruptions;
mod judging;
mod model_edits;
mod pauses;
mod probes;
mod sharing;
mod spending;
mod thoughts;

use buildoff::arena::catalog::ModelOptions;
use buildoff::arena::jobs::ClaimedBuild;
use buildoff::arena::jobs::attempts::RequestSetup;
use buildoff::arena::jobs::claims::ClaimedJob;
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};
use voxel::codec::Digest;

use crate::support::db::TestDb;
use crate::support::fake_protocol::MODEL;
use crate::support::{
    FakePart, FakeProtocol, FakeProvider, FakeResponse, TestAdmin, TestCatalog, TestServer, sample_spec,
};

/// The address of the fixture's model.
const TESTER: &str = "/api/admin/models/tester";

/// A server with one model, one prompt and a provider that sends scripted answers.
struct JobsFixture {
    db: TestDb,
    server: TestServer,
    admin: TestAdmin,
    provider: FakeProvider,
}

impl JobsFixture {
    async fn with_responses(responses: impl IntoIterator<Item = FakeResponse>) -> Self {
        let provider = FakeProvider::with_responses(FakeProtocol::Compatible, responses).await;
        let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
        let db = TestDb::new().await;
        let server = TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[])).await;
        Self::from_parts(db, provider, server).await
    }

    /// A server that runs no jobs.
    async fn without_worker() -> Self {
        let provider = FakeProvider::with_responses(FakeProtocol::Compatible, []).await;
        let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
        let db = TestDb::new().await;
        let server = TestServer::start_with_env(db.pool.clone(), &catalog.variables(&[])).await;
        Self::from_parts(db, provider, server).await
    }

    async fn from_parts(db: TestDb, provider: FakeProvider, server: TestServer) -> Self {
        let admin = server.admin();
        assert_eq!(admin.post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
        Self { db, server, admin, provider }
    }

    /// Waits until the provider has received so many requests.
    async fn wait_for_requests(&self, count: usize) {
        while self.provider.requests().len() < count {
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Enqueues the only build, and waits until its job has ended.
    async fn run_job(&self) -> Value {
        let job = self.admin.enqueue("shed", "tester").await;
        self.admin.wait_for_job_end(&job).await
    }
}

/// How a test asks that makes attempts without a worker.
fn request_setup() -> RequestSetup {
    RequestSetup {
        provider: "somebody".to_owned(),
        model_id: MODEL.to_owned(),
        options: ModelOptions::default(),
        template: Digest::of(b"a template"),
    }
}

/// A claimed job that makes a build.
fn as_build(claimed: ClaimedJob) -> ClaimedBuild {
    match claimed {
        ClaimedJob::Build(build) => build,
        ClaimedJob::Judge(judging) => panic!("it makes no build: {judging:?}"),
    }
}

/// A complete answer with this text.
fn full_answer(text: &str) -> FakeResponse {
    FakeProtocol::Compatible.answer(&[FakePart::Text(text), FakePart::Done])
}

/// An answer that has begun with this text and is not finished.
fn partial_answer(text: &str) -> FakeResponse {
    FakeResponse::stream().send(FakeProtocol::Compatible.stream(&[FakePart::Text(text)]))
}

fn outcomes(job: &Value) -> Vec<&str> {
    job["attempts"].as_array().unwrap().iter().map(|attempt| attempt["outcome"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_enqueued_build_is_generated_stored_and_reported() {
    let fixture =
        JobsFixture::with_responses([full_answer(&format!("Here it is:\n{}", sample_spec(4)))]).await;
    let job = fixture.run_job().await;
    assert_eq!(job["state"], "ready", "{job}");
    assert_eq!(outcomes(&job), ["accepted"]);
    let build = fixture
        .server
        .get(&format!("/api/builds/{}", job["buildId"].as_str().unwrap()))
        .send()
        .await
        .unwrap();
    let build: Value = build.json().await.unwrap();
    assert_eq!(build["attempts"], 1, "{build}");
    assert!(build["generationTimeMs"].as_i64().is_some_and(|ms| ms >= 0), "{build}");
    let answer = fixture.admin.get(job["attempts"][0]["answerUrl"].as_str().unwrap()).await;
    assert_eq!(answer.text(), format!("Here it is:\n{}", sample_spec(4)));
}

#[tokio::test]
async fn errors_are_sent_back_to_the_model_and_every_answer_is_stored() {
    let fixture = JobsFixture::with_responses([
        full_answer("{\"version\": \"1.0\"}"),
        full_answer("{ \"boxes\": ["),
        full_answer(&sample_spec(4)),
    ])
    .await;
    let job = fixture.run_job().await;
    assert_eq!(outcomes(&job), ["refused", "refused", "accepted"], "{job}");
    let codes: Vec<_> =
        job["attempts"].as_array().unwrap().iter().map(|attempt| attempt["code"].as_str()).collect();
    assert_eq!(codes, [Some("no_blocks"), Some("bad_json"), None]);
    let second = fixture.provider.requests()[1].body.to_string();
    assert!(second.contains("no_blocks"), "the repair prompt should name what was wrong: {second}");
}

#[tokio::test]
async fn tokens_are_counted_and_priced() {
    let fixture = JobsFixture::with_responses([full_answer(&sample_spec(4))]).await;
    let job = fixture.run_job().await;
    let attempt = &job["attempts"][0];
    let (tokens_in, tokens_out) =
        (attempt["tokensIn"].as_f64().unwrap(), attempt["tokensOut"].as_f64().unwrap());
    let cost = (tokens_in + 2.0 * tokens_out) / 1e6;
    assert!((attempt["cost"].as_f64().unwrap() - cost).abs() < 1e-6, "{attempt}");
    assert!((job["cost"].as_f64().unwrap() - cost).abs() < 1e-6, "{job}");
    let coverage = fixture.admin.get("/api/admin/coverage").await.json();
    assert!((coverage["sum"]["spent"].as_f64().unwrap() - cost).abs() < 1e-6, "{coverage}");
}

#[tokio::test]
async fn answers_are_stored_compressed() {
    let verbose = format!("{}\n{}", "I place another brick, and another. ".repeat(2000), sample_spec(4));
    let fixture = JobsFixture::with_responses([full_answer(&verbose)]).await;
    assert_eq!(fixture.run_job().await["state"], "ready");
    let (kept, stored) = (
        fixture.db.number("SELECT octet_length(answer)::bigint FROM attempts").await,
        fixture.db.number("SELECT pg_column_size(answer)::bigint FROM attempts").await,
    );
    assert_eq!(kept, verbose.len() as i64);
    assert!(stored * 5 < kept, "{stored} bytes for {kept}");
}

#[tokio::test]
async fn what_was_asked_and_what_was_sent_is_stored_with_each_attempt() {
    let complaint = "Unsupported value: 'max' is not supported for reasoning_effort. Supported values are: 'low', 'high'.";
    let refused = FakeResponse::json(400, &json!({ "error": { "message": complaint } }));
    let fixture =
        JobsFixture::with_responses([refused, full_answer("no"), full_answer(&sample_spec(4))]).await;
    let options = r#"{"effort": "max", "maxOutputTokens": 9000}"#;
    fixture.db.run(&format!("UPDATE models SET options = '{options}', edited_at = now()")).await;
    let job = fixture.run_job().await;
    assert_eq!(outcomes(&job), ["refused", "accepted"], "{job}");
    for attempt in job["attempts"].as_array().unwrap() {
        let note = &attempt["notes"][0];
        assert_eq!(note["step"], json!({ "effort": { "from": "max", "to": "high" } }), "{attempt}");
        assert!(note["why"].as_str().unwrap().contains(complaint), "{attempt}");
        let sent = json!({ "effort": "high", "temperature": null, "maxOutputTokens": 9000, "schema": true });
        assert_eq!(attempt["sent"], sent, "{attempt}");
    }
    assert_eq!(fixture.provider.requests().len(), 3, "the second attempt begins with what was accepted");
}
