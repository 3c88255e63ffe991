//! Batches: jobs that are asked for together at half the price, once each, whatever dies in between.

mod crashes;
mod results;
mod rules;
mod trouble;

use buildoff::app::App;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{Duration, sleep};

use super::outcomes;
use crate::support::db::TestDb;
use crate::support::{
    FakeBatchEnd, FakeBatchProvider, FakeProtocol, FakeResult, FakeSubmission, TestAdmin, TestCatalog,
    TestServer, sample_spec,
};

const PROTOCOLS: [FakeProtocol; 3] = [FakeProtocol::OpenAi, FakeProtocol::Anthropic, FakeProtocol::Google];
const PROMPTS: [&str; 3] = ["arch", "barn", "cave"];

/// Makes the next steps of all batches due, as if that much time had passed, also for servers that died meanwhile.
const MAKE_DUE: &str = "UPDATE batches SET next_step_at = now(), leased_until = NULL";
const OPEN: &str = "SELECT count(*) FROM batches WHERE state <> 'ended'";
const QUEUED: &str = "SELECT count(*) FROM jobs WHERE state = 'queued'";
const READY: &str = "SELECT count(*) FROM jobs WHERE state = 'ready'";

/// A server with one model, three prompts, and a provider with a batch API.
struct BatchFixture {
    db: TestDb,
    provider: FakeBatchProvider,
    catalog: TestCatalog,
    server: TestServer,
    admin: TestAdmin,
    app: App,
    working: JoinHandle<()>,
}

impl BatchFixture {
    async fn start(protocol: FakeProtocol) -> Self {
        let provider = FakeBatchProvider::start(protocol).await;
        let catalog = TestCatalog::at(protocol, &provider.base_url(), &["tester"], &PROMPTS);
        let db = TestDb::new().await;
        let (server, app) = TestServer::start_with_app(db.pool.clone(), &catalog.variables(&[])).await;
        let working = work(&app);
        let admin = server.admin();
        Self { db, provider, catalog, server, admin, app, working }
    }

    /// With a batch of all three builds that the provider works on.
    async fn submitted(protocol: FakeProtocol) -> Self {
        let fixture = Self::start(protocol).await;
        fixture.seed().await;
        fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
        fixture
    }

    async fn seed(&self) -> Value {
        let answer = self.admin.post("/api/admin/seed?batchApi=1", "").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    /// Ends the worker in the middle of whatever it does.
    async fn kill(&mut self) {
        self.working.abort();
        let _ = (&mut self.working).await;
    }

    /// Starts another server on the same database, some time after the last one died.
    async fn start_another(&mut self) {
        let variables = self.catalog.variables(&[]);
        let (server, app) = TestServer::start_with_app(self.db.pool.clone(), &variables).await;
        self.db.run(MAKE_DUE).await;
        (self.admin, self.server, self.working, self.app) = (server.admin(), server, work(&app), app);
    }

    /// Lets as much time pass as the server waits before it looks at batches again.
    async fn pass_time(&self) {
        self.db.run(MAKE_DUE).await;
        self.app.worker.wake();
    }

    /// Waits until a query returns this number.
    async fn until(&self, sql: &str, number: i64) {
        while self.db.number(sql).await != number {
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Lets time pass, and waits until no batch is left.
    async fn collect(&self) {
        self.pass_time().await;
        self.until(OPEN, 0).await;
    }

    /// Lets time pass, and waits until the first batch is collected and the provider works on a second.
    async fn collect_and_submit_again(&self) {
        self.pass_time().await;
        self.until("SELECT count(*) FROM batches WHERE state = 'ended'", 1).await;
        self.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
    }

    /// All jobs, the oldest first.
    async fn jobs(&self) -> Vec<Value> {
        let ids: Vec<uuid::Uuid> =
            sqlx::query_scalar("SELECT id FROM jobs ORDER BY id").fetch_all(&self.db.pool).await.unwrap();
        let mut jobs = Vec::new();
        for id in ids {
            jobs.push(self.admin.job(&id.to_string()).await);
        }
        jobs
    }
}

fn work(app: &App) -> JoinHandle<()> {
    let worker = app.worker.clone();
    tokio::spawn(async move { worker.run().await })
}

#[tokio::test]
async fn missing_builds_are_asked_for_in_one_batch_at_half_the_price() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::submitted(protocol).await;
        let [batch] = &fixture.provider.batches()[..] else { panic!("{protocol:?}: one batch") };
        let mut ids: Vec<_> = batch.requests.iter().map(|(id, _)| id.clone()).collect();
        ids.sort();
        let jobs = fixture.jobs().await;
        let known: Vec<_> = jobs.iter().map(|job| job["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids, known, "a request has the id of its job");
        for job in &jobs {
            assert_eq!((&job["state"], &job["batched"]), (&json!("queued"), &json!(true)), "{job}");
            assert!(job["batchSubmittedAt"].is_string(), "{job}");
            assert!(job["note"].as_str().unwrap().starts_with("In a batch since 2"), "{job}");
        }
        let coverage = fixture.admin.get("/api/admin/coverage").await.json();
        assert_eq!(coverage["cells"][0]["note"], jobs[0]["note"], "{coverage}");

        fixture.provider.complete(0, &sample_spec(4));
        fixture.collect().await;
        for job in fixture.jobs().await {
            assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), vec!["accepted"]), "{job}");
            let attempt = &job["attempts"][0];
            assert_eq!((&attempt["tokensIn"], &attempt["tokensOut"]), (&json!(100), &json!(50)), "{attempt}");
            assert_eq!(
                attempt["cost"],
                json!(0.0001),
                "half of 100 at $1 and 50 at $2 for a million: {attempt}"
            );
            assert_eq!(attempt["notes"], json!([{ "step": "batch", "why": "" }]), "{attempt}");
            assert_eq!(attempt["sent"]["schema"], true, "{attempt}");
            assert!(job["batchSubmittedAt"].is_null(), "{job}");
        }
        assert_eq!(fixture.provider.probes(), 1, "nothing but a probe is asked at the full price");
        assert_eq!(fixture.db.number("SELECT spent FROM installation").await, 300);
    }
}

#[tokio::test]
async fn a_dry_run_estimates_half_the_price_and_submits_nothing() {
    let fixture = BatchFixture::start(FakeProtocol::OpenAi).await;
    let estimate = async |query: &str| {
        let seeded = fixture.admin.post(&format!("/api/admin/seed?dryRun=1{query}"), "").await.json();
        seeded["estimate"]["dollars"].as_f64().unwrap()
    };
    let (full, half) = (estimate("").await, estimate("&batchApi=1").await);
    assert!(full > 0.0 && (half * 2.0 - full).abs() < 1e-9, "{half} is not half of {full}");
    assert_eq!(fixture.db.number("SELECT count(*) FROM jobs").await, 0);
}

#[tokio::test]
async fn an_answer_that_is_no_build_is_asked_for_again_in_the_next_batch() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::submitted(protocol).await;
        let ids: Vec<_> = fixture.provider.batches()[0].requests.iter().map(|(id, _)| id.clone()).collect();
        fixture.provider.end(0, FakeBatchEnd::Completed, |number, _| {
            FakeResult::Answer(if number == 0 { "{\"version\": \"1.0\"}".to_owned() } else { sample_spec(4) })
        });
        fixture.collect_and_submit_again().await;
        assert_eq!(fixture.db.number(READY).await, 2, "{protocol:?}");
        let [_, second] = &fixture.provider.batches()[..] else { panic!("{protocol:?}: two batches") };
        let [(id, body)] = &second.requests[..] else { panic!("{protocol:?}: one request") };
        assert_eq!(*id, ids[0]);
        assert!(body.to_string().contains("no_blocks"), "the request must say what was wrong: {body}");
        fixture.provider.complete(1, &sample_spec(5));
        fixture.collect().await;
        let job = fixture.admin.job(id).await;
        assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), vec!["refused", "accepted"]), "{job}");
        assert_eq!(job["cost"], json!(0.0002), "{job}");
    }
}

#[tokio::test]
async fn models_without_a_batch_api_are_left_out_and_named() {
    let provider = crate::support::FakeProvider::with_responses(FakeProtocol::Compatible, []).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &PROMPTS);
    let db = TestDb::new().await;
    let server = TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[])).await;
    let seeded = server.admin().post("/api/admin/seed?batchApi=1", "").await.json();
    assert_eq!((&seeded["withoutBatchApi"], &seeded["jobs"]), (&json!(["tester"]), &json!([])), "{seeded}");
    assert_eq!(db.number("SELECT count(*) FROM jobs").await, 0);
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn other_jobs_are_not_held_up_by_those_in_batches() {
    let fixture = BatchFixture::submitted(FakeProtocol::OpenAi).await;
    let seeded = fixture.admin.post("/api/admin/seed?background=1", "").await.json();
    assert_eq!(seeded["jobs"], json!([]), "what is in a batch is not asked for again");
    let refused = json!({ "promptId": "arch", "modelKey": "tester" });
    let refused = fixture.admin.json(reqwest::Method::POST, "/api/admin/jobs", &refused).await;
    assert_eq!(refused.json()["code"], "under_way", "{}", refused.text());
    assert_eq!(fixture.db.number(QUEUED).await, 3);
    assert_eq!(fixture.provider.probes(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_queues_the_builds_for_a_running_server() {
    let fixture = BatchFixture::start(FakeProtocol::OpenAi).await;
    let command = std::process::Command::new(env!("CARGO_BIN_EXE_buildoff"))
        .args(["seed", "--batch-api"])
        .env("DATABASE_URL", fixture.db.url())
        .envs(fixture.catalog.variables(&[]))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&command.stdout);
    assert!(command.status.success(), "{said}{}", String::from_utf8_lossy(&command.stderr));
    assert!(said.contains("3 builds queued; a running Buildoff generates them"), "{said}");
    fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
    assert_eq!(fixture.provider.batches()[0].requests.len(), 3);
}

/// For `tests/python`, which checks them with the providers' own clients.
#[tokio::test]
async fn submissions_and_results_are_recorded_for_python() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("providers");
    std::fs::create_dir_all(&folder).unwrap();
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::submitted(protocol).await;
        let error = match protocol {
            FakeProtocol::Google => json!({ "code": 3, "message": "no" }),
            _ => json!({ "type": "invalid_request_error", "message": "no" }),
        };
        fixture.provider.end(0, FakeBatchEnd::Expired, |number, _| match number {
            0 => FakeResult::Answer(sample_spec(4)),
            1 => FakeResult::Error(400, error.clone()),
            _ => FakeResult::Unanswered,
        });
        let file = folder.join(format!("{protocol:?}-batches.json").to_lowercase());
        std::fs::write(file, fixture.provider.recorded().to_string()).unwrap();
    }
}
