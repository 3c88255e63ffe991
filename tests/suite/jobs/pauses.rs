//! Pauses: a provider in trouble is left alone until it has recovered, and an admin can pause the whole queue.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use buildoff::arena::budgets::SpendingLimits;
use buildoff::arena::jobs::attempts::{self, Attempt, Billing, Outcome, SentOptions, Usage};
use buildoff::arena::jobs::claims::{self, ModelRoute};
use buildoff::arena::jobs::pauses::ProviderTrouble;
use buildoff::arena::jobs::{ClaimedBuild, JobState};
use buildoff::generate::{AgentSecrets, ProviderRegister, Providers, RequestLimits};
use buildoff::work::WorkPool;
use buildoff::worker::Worker;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::{JobsFixture, as_build, full_answer, outcomes, partial_answer, request_setup};
use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::fake_protocol::MODEL;
use crate::support::fake_provider::API_KEY;
use crate::support::{
    FakeBodyStep, FakePart, FakeProtocol, FakeProvider, FakeResponse, TestCatalog, TestServer, sample_spec,
    test_server,
};

const MODELS: [&str; 5] = ["one", "two", "three", "four", "five"];
const PROMPTS: [&str; 8] = ["arch", "barn", "cave", "dock", "elm", "fort", "gate", "hall"];

/// Moves the ends of pauses back, as if that much time had passed.
const END_PAUSES: &str = "UPDATE provider_pauses SET until = now() WHERE until IS NOT NULL";
const PAUSES: &str = "SELECT count(*) FROM provider_pauses";

fn bad_key() -> FakeResponse {
    FakeResponse::json(401, &json!({ "error": { "message": "Incorrect key", "code": "invalid_api_key" } }))
}

/// A rate limit that lasts for longer than a request is worth repeating.
fn rate_limited() -> FakeResponse {
    let body = json!({ "error": { "message": "Slow down", "code": "rate_limit_exceeded" } });
    FakeResponse::json(429, &body).header("retry-after", "600")
}

/// A server without a worker, and the claims that workers would make.
struct Claims {
    fixture: JobsFixture,
    routes: Vec<ModelRoute>,
}

impl Claims {
    /// With these models queued for one prompt, in this order.
    async fn with_queued(models: &[&str]) -> Self {
        let provider = FakeProvider::with_responses(FakeProtocol::Compatible, []).await;
        let catalog = TestCatalog::new(&provider, models, &["shed"]);
        let db = TestDb::new().await;
        let server = TestServer::start_with_env(db.pool.clone(), &catalog.variables(&[])).await;
        let fixture = JobsFixture::from_parts(db, provider, server).await;
        for model in models {
            fixture.admin.enqueue("shed", model).await;
        }
        let route =
            |model: &&str| ModelRoute { model: model.parse().unwrap(), provider: "somebody".to_owned() };
        Self { fixture, routes: models.iter().map(route).collect() }
    }

    async fn claim(&self) -> Option<ClaimedBuild> {
        let pool = &self.fixture.db.pool;
        let claimed =
            claims::claim(pool, &self.routes, 4, &SpendingLimits::default(), Duration::from_secs(30))
                .await
                .unwrap();
        claimed.map(as_build)
    }

    async fn set_back(&self, claim: &ClaimedBuild, trouble: ProviderTrouble) -> JobState {
        let pool = &self.fixture.db.pool;
        claim.claim.lease.set_back(pool, "somebody", trouble, "Not now.").await.unwrap()
    }

    /// Ends an attempt with a whole answer.
    async fn answer(&self, claim: &ClaimedBuild) {
        let pool = &self.fixture.db.pool;
        let answered = Attempt {
            outcome: Outcome::Accepted,
            code: None,
            message: None,
            answer: "here".into(),
            answer_time: Duration::from_millis(1),
            usage: Usage::default(),
            billing: Billing::Reported,
            sent: SentOptions::default(),
            notes: json!([]),
        };
        attempts::begin(pool, &claim.claim.lease, &request_setup()).await.unwrap();
        attempts::end(pool, &claim.claim.lease, &answered, None, None).await.unwrap();
    }

    /// The length of the pause in seconds.
    async fn pause(&self) -> i64 {
        let seconds = "SELECT round(extract(epoch FROM until - paused_at))::bigint FROM provider_pauses";
        self.fixture.db.number(seconds).await
    }

    async fn end_pauses(&self) {
        self.fixture.db.run(END_PAUSES).await;
    }
}

#[tokio::test]
async fn a_bad_key_leaves_all_jobs_queued_until_an_admin_resumes_the_provider() {
    let is_fixed = Arc::new(AtomicBool::new(false));
    let provider = FakeProvider::with_handler(FakeProtocol::Compatible, {
        let is_fixed = Arc::clone(&is_fixed);
        move |_| if is_fixed.load(Ordering::SeqCst) { full_answer(&sample_spec(4)) } else { bad_key() }
    })
    .await;
    let catalog = TestCatalog::new(&provider, &MODELS, &PROMPTS);
    let db = TestDb::new().await;
    let server = TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[])).await;
    let fixture = JobsFixture::from_parts(db, provider, server).await;
    let JobsFixture { db, admin, provider, .. } = &fixture;
    admin.post("/api/admin/seed?background=1", "").await;
    let running = "SELECT count(*) FROM jobs WHERE state = 'running'";
    while db.number(PAUSES).await == 0 || db.number(running).await > 0 {
        sleep(Duration::from_millis(20)).await;
    }

    let sent = provider.requests().len();
    assert!(sent <= 4, "{sent} requests: only those that were under way already may fail");
    assert_eq!(db.number("SELECT count(*) FROM jobs WHERE state = 'queued'").await, 40);
    let counted = "SELECT count(*) FROM attempts WHERE outcome <> 'interrupted' OR code <> 'bad_key'";
    assert_eq!(db.number(counted).await, 0, "the attempts must count for nobody");
    let status = admin.get("/api/admin/status").await.json();
    let pause = &status["pauses"]["providers"][0];
    assert_eq!(
        (&pause["key"], &pause["code"], &pause["until"], &pause["probing"], &pause["queuedJobs"]),
        (&json!("somebody"), &json!("bad_key"), &Value::Null, &json!(false), &json!(40)),
        "{status}"
    );
    assert!(pause["message"].as_str().is_some_and(|message| message.contains("Incorrect key")), "{pause}");
    assert_eq!(status["queue"][0]["note"], "Somebody is paused.", "{status}");
    let metrics = admin.get("/metrics").await.text();
    for line in [
        "buildoff_paused_providers{state=\"bad_key\"} 1",
        "buildoff_paused_providers{state=\"stalled\"} 0",
        "buildoff_queue_paused 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} is not in\n{metrics}");
    }

    is_fixed.store(true, Ordering::SeqCst);
    let resumed = admin.post("/api/admin/providers/somebody/resume", "").await;
    assert_eq!(resumed.status, 200, "{}", resumed.text());
    while db.number("SELECT count(*) FROM builds").await < 40 {
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(db.number(PAUSES).await, 0);
    assert_eq!(provider.requests().len(), sent + 40);
    assert_eq!(
        db.number("SELECT count(*) FROM audit WHERE action = 'resume' AND subject = 'somebody'").await,
        1
    );
    assert_eq!(admin.post("/api/admin/providers/nobody/resume", "").await.status, 404);
}

#[tokio::test]
async fn after_a_pause_one_job_probes_and_the_others_follow_its_answer() {
    let claims = Claims::with_queued(&["one", "two", "three"]).await;
    let first = claims.claim().await.unwrap();
    assert_eq!(claims.set_back(&first, ProviderTrouble::RateLimited).await, JobState::Queued);
    assert!(claims.claim().await.is_none(), "a paused provider must not be asked");

    claims.end_pauses().await;
    let probe = claims.claim().await.unwrap();
    assert_eq!(probe.slot.model.as_str(), "two", "a job that was set back comes after the others");
    assert!(claims.claim().await.is_none(), "only one job may probe");
    claims.answer(&probe).await;
    let others = [claims.claim().await.unwrap(), claims.claim().await.unwrap()];
    assert_eq!(others.map(|claim| claim.slot.model.to_string()), ["three", "one"]);
}

#[tokio::test]
async fn a_probe_without_a_verdict_is_followed_by_another() {
    let claims = Claims::with_queued(&["one", "two", "three"]).await;
    let first = claims.claim().await.unwrap();
    claims.set_back(&first, ProviderTrouble::Overloaded).await;
    claims.end_pauses().await;
    let probe = claims.claim().await.unwrap();
    let path = format!("/api/admin/jobs/{}", probe.claim.lease.job);
    assert_eq!(claims.fixture.admin.delete(&path).await.status, 204);
    let next = claims.claim().await.unwrap();
    assert!(claims.claim().await.is_none(), "only one job may probe");
    // Its server is gone.
    claims.fixture.db.run("UPDATE jobs SET leased_until = now() WHERE state = 'running'").await;
    let third = claims.claim().await.unwrap();
    assert!(claims.claim().await.is_none(), "only one job may probe");
    assert_ne!(third.claim.lease, next.claim.lease);
}

#[tokio::test]
async fn pauses_grow_with_repeated_trouble_of_the_probe_alone() {
    let claims = Claims::with_queued(&["one", "two", "three"]).await;
    let (first, also, late) =
        (claims.claim().await.unwrap(), claims.claim().await.unwrap(), claims.claim().await.unwrap());
    claims.set_back(&first, ProviderTrouble::Overloaded).await;
    assert_eq!(claims.pause().await, 60);
    claims.set_back(&also, ProviderTrouble::Overloaded).await;
    assert_eq!(claims.pause().await, 60, "jobs that were under way tell nothing new");
    for seconds in [300, 1800, 1800] {
        claims.end_pauses().await;
        let probe = claims.claim().await.unwrap();
        claims.set_back(&probe, ProviderTrouble::Unreachable).await;
        assert_eq!(claims.pause().await, seconds);
    }
    claims.end_pauses().await;
    let probe = claims.claim().await.unwrap();
    claims.answer(&probe).await;
    assert_eq!(claims.fixture.db.number(PAUSES).await, 0);
    claims.set_back(&probe, ProviderTrouble::Overloaded).await;
    assert_eq!(claims.pause().await, 60, "an answer ends the row of troubles");

    // What needs an admin replaces a pause that ends by itself, whoever meets it.
    claims.set_back(&late, ProviderTrouble::NoCredit).await;
    assert_eq!(claims.fixture.db.number("SELECT count(*) FROM provider_pauses WHERE until IS NULL").await, 1);
    claims.end_pauses().await;
    assert!(claims.claim().await.is_none());
}

#[tokio::test]
async fn a_job_that_meets_passing_trouble_for_ever_fails_and_a_bad_key_never_makes_it_fail() {
    let claims = Claims::with_queued(&["one"]).await;
    for trouble in [ProviderTrouble::BadKey; 7] {
        let claim = claims.claim().await.unwrap();
        assert_eq!(claims.set_back(&claim, trouble).await, JobState::Queued);
        claims.fixture.db.run("DELETE FROM provider_pauses").await;
    }
    claims.fixture.db.run("UPDATE jobs SET setbacks = 0").await;
    for setback in 1..=6 {
        let claim = claims.claim().await.unwrap();
        let state = claims.set_back(&claim, ProviderTrouble::Stalled).await;
        assert_eq!(state, if setback > 5 { JobState::Failed } else { JobState::Queued }, "{setback}");
        claims.end_pauses().await;
    }
    let failed = "SELECT count(*) FROM jobs WHERE state = 'failed' AND error_code = 'stalled'";
    assert_eq!(claims.fixture.db.number(failed).await, 1);
}

#[tokio::test]
async fn trouble_takes_none_of_the_attempts_and_the_job_goes_on_where_it_was() {
    let fixture = JobsFixture::with_responses([
        full_answer("no build"),
        rate_limited(),
        full_answer("no build"),
        full_answer(&sample_spec(4)),
    ])
    .await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    while fixture.db.number(PAUSES).await == 0 {
        sleep(Duration::from_millis(20)).await;
    }
    let waiting = fixture.admin.job(&job).await;
    assert_eq!(
        (&waiting["state"], outcomes(&waiting), &waiting["note"]),
        (&json!("queued"), vec!["refused", "interrupted"], &json!("Somebody is paused.")),
        "{waiting}"
    );
    fixture.db.run(END_PAUSES).await;
    let ended = fixture.admin.wait_for_job_end(&job).await;
    assert_eq!(outcomes(&ended), ["refused", "interrupted", "refused", "accepted"], "{ended}");
    let third = fixture.provider.requests()[2].body.to_string();
    assert!(third.contains("no build"), "the model must be told again what was wrong: {third}");
    let path = format!("/api/builds/{}", ended["buildId"].as_str().unwrap());
    let build: Value = fixture.server.get(&path).send().await.unwrap().json().await.unwrap();
    assert_eq!(build["attempts"], 3, "{build}");
}

/// A worker that waits so long for the next piece of an answer.
fn worker(db: &TestDb, catalog: &TestCatalog, patience: Duration) -> Worker {
    let config = Arc::new(test_server::config(&catalog.variables(&[])));
    let limits = RequestLimits { first_byte: patience, idle: patience, ..RequestLimits::default() };
    let keys = &config.generation.keys;
    let providers = Providers::new(&config.catalog.providers, keys, limits, false).unwrap();
    let providers = ProviderRegister::new(providers, AgentSecrets::default(), limits, false);
    let worker = Worker::new(db.pool.clone(), WorkPool::per_core(), config, providers);
    tokio::spawn({
        let worker = worker.clone();
        async move { worker.run().await }
    });
    worker
}

#[tokio::test]
async fn the_silence_of_one_request_pauses_its_provider_and_others_under_way_go_on() {
    let release = Arc::new(Notify::new());
    let rest = FakeProtocol::Compatible.stream(&[FakePart::Text(&sample_spec(4)), FakePart::Done]);
    let begun = FakeProtocol::Compatible.stream(&[FakePart::HiddenThinking, FakePart::Text("{")]);
    let provider = FakeProvider::with_responses(
        FakeProtocol::Compatible,
        [
            partial_answer(" ").then(FakeBodyStep::WaitFor(Arc::clone(&release))).send(rest),
            FakeResponse::stream().send(begun).then(FakeBodyStep::Stall),
        ],
    )
    .await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed", "barn"]);
    let db = TestDb::new().await;
    let server = TestServer::start_with_env(db.pool.clone(), &catalog.variables(&[])).await;
    let fixture = JobsFixture::from_parts(db, provider, server).await;
    let JobsFixture { db, admin, provider, .. } = &fixture;
    let patient = worker(db, &catalog, Duration::from_secs(600));
    let barn = admin.enqueue("barn", "tester").await;
    admin.wait_for_job(&barn, |job| job["attempts"][0]["number"] == 1).await;
    patient.drain();
    let impatient = worker(db, &catalog, Duration::from_millis(300));
    let shed = admin.enqueue("shed", "tester").await;
    while db.number(PAUSES).await == 0 {
        sleep(Duration::from_millis(20)).await;
    }

    let silent = admin.job(&shed).await;
    assert_eq!(
        (&silent["state"], outcomes(&silent), &silent["attempts"][0]["code"]),
        (&json!("queued"), vec!["interrupted"], &json!("stalled")),
        "{silent}"
    );
    assert!(silent["cost"].as_f64().is_some_and(|cost| cost > 0.0), "what it cost must be counted: {silent}");
    assert_eq!(admin.job(&barn).await["state"], "running");
    release.notify_one();
    assert_eq!(admin.wait_for_job_end(&barn).await["state"], "ready");
    assert_eq!(provider.requests().len(), 2, "silence must not be waited for again");
    assert_eq!(db.number(PAUSES).await, 1, "an older request's answer must not end the pause");
    impatient.stop();
}

#[tokio::test]
async fn an_admin_pauses_the_queue_of_all_servers_and_what_runs_ends() {
    let release = Arc::new(Notify::new());
    let rest = FakeProtocol::Compatible.stream(&[FakePart::Text(&sample_spec(4)), FakePart::Done]);
    let slow = partial_answer(" ").then(FakeBodyStep::WaitFor(Arc::clone(&release))).send(rest);
    let provider =
        FakeProvider::with_responses(FakeProtocol::Compatible, [slow, full_answer(&sample_spec(5))]).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed", "barn"]);
    let db = TestDb::new().await;
    let variables = catalog.variables(&[]);
    let server = TestServer::start_with_worker(db.pool.clone(), &variables).await;
    let second = TestServer::start_with_worker(db.pool.clone(), &variables).await;
    let other = second.admin();
    let fixture = JobsFixture::from_parts(db, provider, server).await;
    let JobsFixture { db, admin, .. } = &fixture;
    let shed = admin.enqueue("shed", "tester").await;
    admin.wait_for_job(&shed, |job| job["attempts"][0]["number"] == 1).await;

    let paused = other.post("/api/admin/queue/pause", "").await.json();
    assert!(paused["queuePausedAt"].is_string(), "{paused}");
    let again = admin.post("/api/admin/queue/pause", "").await.json();
    assert_eq!(again["queuePausedAt"], paused["queuePausedAt"]);
    let barn = admin.enqueue("barn", "tester").await;
    let routes = [ModelRoute { model: "tester".parse().unwrap(), provider: "somebody".to_owned() }];
    let claimed = claims::claim(&db.pool, &routes, 4, &SpendingLimits::default(), Duration::from_secs(30))
        .await
        .unwrap();
    assert!(claimed.is_none(), "no job may be claimed");
    release.notify_one();
    assert_eq!(admin.wait_for_job_end(&shed).await["state"], "ready");
    let waiting = admin.job(&barn).await;
    assert_eq!(
        (&waiting["state"], &waiting["note"]),
        (&json!("queued"), &json!("The queue is paused.")),
        "{waiting}"
    );
    assert!(admin.get("/metrics").await.text().contains("\nbuildoff_queue_paused 1\n"));
    let seeded = admin.post("/api/admin/seed", "").await.json();
    assert_eq!(
        (&seeded["done"], &seeded["waitsForAdmin"], &seeded["jobs"]),
        (&json!(false), &json!(true), &json!([])),
        "seeding must not wait for what only an admin can resume: {seeded}"
    );

    let resumed = admin.post("/api/admin/queue/resume", "").await.json();
    assert_eq!(resumed, json!({ "queuePausedAt": null, "providers": [], "budgets": [] }));
    assert_eq!(admin.wait_for_job_end(&barn).await["state"], "ready");
    let entries = "SELECT count(*) FROM audit WHERE action IN ('pause', 'resume') AND subject = 'the queue'";
    assert_eq!(db.number(entries).await, 2, "only changes are logged");
}

#[tokio::test]
async fn jobs_of_a_provider_whose_key_is_gone_say_so() {
    let fixture = JobsFixture::without_worker().await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    let keyless = [("ADMIN_TOKEN", TOKEN), ("RATE_LIMITS", "off")];
    let catalog = TestCatalog::new(&fixture.provider, &["tester"], &["shed"]);
    let data_dir = catalog.variables(&[])[0];
    let variables: Vec<_> = keyless.into_iter().chain([data_dir]).collect();
    let server = TestServer::start_with_worker(fixture.db.pool.clone(), &variables).await;
    let later = server.admin();
    let note = "SOMEBODY_API_KEY is not set.";
    assert_eq!(later.job(&job).await["note"], note);
    let status = later.get("/api/admin/status").await.json();
    assert_eq!(status["queue"][0]["note"], note, "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn seeding_goes_on_with_other_providers_and_tells_what_is_paused() {
    let provider = FakeProvider::with_handler(FakeProtocol::Compatible, |_| bad_key()).await;
    let other = FakeProvider::with_handler(FakeProtocol::Compatible, |_| full_answer(&sample_spec(4))).await;
    let catalog = TestCatalog::new(&provider, &["keyed"], &["shed", "barn"]);
    let file = Path::new(catalog.variables(&[])[0].1).join("models.toml");
    let more = format!(
        "[[provider]]\nkey = \"other\"\ndisplayName = \"Other\"\nkind = \"compatible\"\nbaseUrl = \"{}\"\n\
         keyVariable = \"OTHER_API_KEY\"\n[[model]]\nkey = \"free\"\nprovider = \"other\"\n\
         modelId = \"{MODEL}\"\ndisplayName = \"Free\"\n",
        other.endpoint().base_url
    );
    fs::write(&file, fs::read_to_string(&file).unwrap() + &more).unwrap();
    let variables = catalog.variables(&[("OTHER_API_KEY", API_KEY)]);
    let db = TestDb::new().await;
    let buildoff = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_buildoff"))
            .args(arguments)
            .env("DATABASE_URL", db.url())
            .envs(variables.clone())
            .output()
            .unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    };

    let (code, said) = buildoff(&["seed"]);
    assert_eq!(code, Some(1), "{said}");
    for line in [
        "Somebody is paused until you resume it: it does not accept the API key.",
        "Resume it with: buildoff queue resume somebody",
        "2 of 4 builds, 0 failed",
        "Nothing can be generated before you resume what is paused.",
    ] {
        assert!(said.contains(line), "{line:?} is not in\n{said}");
    }
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE model_key = 'free'").await, 2);

    let (code, said) = buildoff(&["queue", "pause"]);
    assert_eq!((code, said.contains("The queue is paused.")), (Some(0), true), "{said}");
    buildoff(&["queue", "resume"]);
    let (_, said) = buildoff(&["queue", "resume", "somebody"]);
    assert!(said.contains("Somebody was paused: it does not accept the API key."), "{said}");
    db.run("DELETE FROM provider_pauses").await;
    assert_eq!(buildoff(&["queue"]).1, "Nothing is paused.\n");
}
