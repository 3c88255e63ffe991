//! Jobs of servers that die, and the servers that take them over.

use buildoff::arena::budgets::SpendingLimits;
use buildoff::arena::builds::{GenerationInfo, PackedBuild};
use buildoff::arena::jobs::attempts::{self, Attempt, Billing, Outcome, SentOptions, Usage};
use buildoff::arena::jobs::claims::{self, ModelRoute};
use buildoff::arena::jobs::{AnswerProgress, JobFailure, LeaseError};
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use super::{JobsFixture, as_build, full_answer, outcomes, partial_answer, request_setup};
use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::fake_provider::API_KEY;
use crate::support::{
    FakeBodyStep, FakePart, FakeProtocol, FakeProvider, TestAdmin, TestCatalog, TestServerProcess,
    sample_spec,
};

/// Moves the leases back, as if this much time had passed.
const EXPIRE_LEASES: &str = "UPDATE jobs SET leased_until = now() WHERE state = 'running'";

#[tokio::test]
async fn a_job_whose_server_was_killed_is_finished_once_by_another() {
    let db = TestDb::new().await;
    let responses =
        [partial_answer("{ \"boxes\": [{ \"x1\": 1").then(FakeBodyStep::Stall), full_answer(&sample_spec(4))];
    let provider = FakeProvider::with_responses(FakeProtocol::Compatible, responses).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
    let variables = catalog.variables(&[]);
    let mut first = TestServerProcess::start(&db, &variables);
    let admin = TestAdmin::new(&first.url);
    admin.post("/api/admin/seed?generateBuilds=0", "").await;
    let job = admin.enqueue("shed", "tester").await;
    admin.wait_for_job(&job, |job| job["attempts"][0]["answerBytes"].as_i64().unwrap_or(0) > 0).await;
    first.kill();

    let second = TestServerProcess::start(&db, &variables);
    let admin = TestAdmin::new(&second.url);
    assert_eq!(admin.job(&job).await["state"], "running", "the dead server must still hold the lease");
    db.run(EXPIRE_LEASES).await;
    let ended = admin.wait_for_job_end(&job).await;
    assert_eq!(
        (&ended["state"], outcomes(&ended)),
        (&json!("ready"), vec!["interrupted", "accepted"]),
        "{ended}"
    );
    let streamed = admin.get(ended["attempts"][0]["answerUrl"].as_str().unwrap()).await;
    assert_eq!(streamed.text(), "{ \"boxes\": [{ \"x1\": 1", "the partial answer must be stored");
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE model_key = 'tester'").await, 1);
    assert_eq!(db.number("SELECT count(*) FROM answer_parts").await, 0);
    assert_eq!(provider.requests().len(), 2);
    for secret in [API_KEY, TOKEN] {
        assert!(!first.log().contains(secret) && !second.log().contains(secret));
        assert!(!db.dump().await.contains(secret));
    }
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_can_store_nothing() {
    let fixture = JobsFixture::without_worker().await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    let (pool, lease) = (&fixture.db.pool, Duration::from_secs(30));
    let routes = [ModelRoute { model: "tester".parse().unwrap(), provider: "somebody".to_owned() }];
    let claim = async || claims::claim(pool, &routes, 4, &SpendingLimits::default(), lease).await.unwrap();
    let first = as_build(claim().await.unwrap());
    assert_eq!(first.claim.lease.job.to_string(), job);
    attempts::begin(pool, &first.claim.lease, &request_setup()).await.unwrap();
    assert!(claim().await.is_none(), "a job must have a single worker");
    fixture.db.run(EXPIRE_LEASES).await;
    first.claim.lease.renew(pool, lease, &AnswerProgress::default()).await.unwrap();
    fixture.db.run(EXPIRE_LEASES).await;
    let second = as_build(claim().await.unwrap());
    attempts::begin(pool, &second.claim.lease, &request_setup()).await.unwrap();

    let ended = Attempt {
        outcome: Outcome::Accepted,
        code: None,
        message: None,
        answer: "late".into(),
        answer_time: Duration::from_millis(1),
        usage: Usage::default(),
        billing: Billing::Reported,
        sent: SentOptions::default(),
        notes: json!([]),
    };
    let build = PackedBuild::read(sample_spec(4).as_bytes(), &first.slot.settings, 1 << 20).unwrap();
    let late = &first.claim.lease;
    let generation = GenerationInfo::default();
    for refused in [
        late.renew(pool, lease, &AnswerProgress::default()).await,
        attempts::begin(pool, late, &request_setup()).await.map(drop),
        attempts::end(pool, late, &ended, None, None).await,
        first.finish(pool, &build, generation).await,
        late.fail(pool, JobFailure { code: "late", message: "too late" }).await,
        late.release(pool).await,
        attempts::record_usage(pool, late, 1, &Usage::default(), None).await,
    ] {
        assert!(matches!(refused, Err(LeaseError::Lost)), "{refused:?}");
    }
    assert_eq!(fixture.db.number("SELECT count(*) FROM builds").await, 0);
    attempts::end(pool, &second.claim.lease, &ended, None, None).await.unwrap();
    second.finish(pool, &build, generation).await.unwrap();
    assert_eq!(outcomes(&fixture.admin.job(&job).await), ["interrupted", "accepted"]);
}

/// Takes a job from its worker in the middle of the second attempt, and returns the job once it has ended.
async fn take_over_lease(fixture: &JobsFixture, job: &str) -> Value {
    fixture.admin.wait_for_job(job, |job| job["attempts"][1]["number"] == 2).await;
    fixture
        .db
        .run(&format!("UPDATE jobs SET fence = fence + 1, leased_until = now() WHERE id = '{job}'"))
        .await;
    fixture.admin.wait_for_job_end(job).await
}

#[tokio::test]
async fn a_worker_that_takes_a_job_over_continues_where_the_other_stopped() {
    let fixture = JobsFixture::with_responses([
        full_answer("{\"version\": \"1.0\"}"),
        partial_answer("{").then(FakeBodyStep::Stall),
        full_answer(&sample_spec(4)),
    ])
    .await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    let ended = take_over_lease(&fixture, &job).await;
    assert_eq!(outcomes(&ended), ["refused", "interrupted", "accepted"], "{ended}");
    let requests = fixture.provider.requests();
    let third = requests[2].body.to_string();
    assert!(third.contains("no_blocks"), "the third request must name the first answer's error: {third}");
}

#[tokio::test]
async fn a_worker_that_takes_a_job_over_knows_that_the_last_answer_is_incomplete() {
    let cut_off = FakeProtocol::Compatible.answer(&[FakePart::Text("{"), FakePart::Truncated]);
    let fixture = JobsFixture::with_responses([
        cut_off,
        partial_answer("{").then(FakeBodyStep::Stall),
        full_answer(&sample_spec(4)),
    ])
    .await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    let ended = take_over_lease(&fixture, &job).await;
    assert_eq!(outcomes(&ended), ["failed", "interrupted", "accepted"], "{ended}");
    let third = fixture.provider.requests()[2].body.to_string();
    assert!(
        third.contains("cut off before its end"),
        "the third request must ask for a shorter answer: {third}"
    );
}

#[tokio::test]
async fn an_accepted_answer_is_stored_later_without_a_new_request() {
    let fixture = JobsFixture::with_responses([full_answer(&sample_spec(4))]).await;
    let job = fixture.run_job().await;
    // Stands for a server that died after accepting the answer and before storing the build.
    fixture
        .db
        .run(
            "UPDATE build_jobs SET build_id = NULL;
             UPDATE jobs SET state = 'running', leased_until = now(), ended_at = NULL",
        )
        .await;
    fixture.db.run("DELETE FROM generations; DELETE FROM builds").await;
    let ended = fixture.admin.wait_for_job_end(job["id"].as_str().unwrap()).await;
    assert_eq!((&ended["state"], outcomes(&ended)), (&json!("ready"), vec!["accepted"]), "{ended}");
    assert_eq!(fixture.provider.requests().len(), 1);
}

#[tokio::test]
async fn a_job_that_never_ends_fails_after_too_many_takeovers() {
    let fixture = JobsFixture::with_responses([partial_answer("{").then(FakeBodyStep::Stall)]).await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    fixture.admin.wait_for_job(&job, |job| job["attempts"][0]["number"] == 1).await;
    fixture.db.run("UPDATE jobs SET fence = fence + 1, breaks = 5, leased_until = now()").await;
    let ended = fixture.admin.wait_for_job_end(&job).await;
    assert_eq!((&ended["state"], &ended["code"]), (&json!("failed"), &json!("interrupted")), "{ended}");
}

#[tokio::test]
async fn a_server_that_is_stopped_gives_its_jobs_back() {
    let db = TestDb::new().await;
    let provider = FakeProvider::with_responses(
        FakeProtocol::Compatible,
        [partial_answer("{").then(FakeBodyStep::Stall)],
    )
    .await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
    let variables = catalog.variables(&[("STOP_WAIT", "0")]);
    let mut server = TestServerProcess::start(&db, &variables);
    let admin = TestAdmin::new(&server.url);
    admin.post("/api/admin/seed?generateBuilds=0", "").await;
    let job = admin.enqueue("shed", "tester").await;
    admin.wait_for_job(&job, |job| job["attempts"][0]["number"] == 1).await;
    server.stop();
    while db.number("SELECT count(*) FROM jobs WHERE state = 'queued'").await == 0 {
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(db.number("SELECT count(*) FROM attempts WHERE outcome = 'interrupted'").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_stopped_gives_its_jobs_back_with_their_partial_answers() {
    let db = TestDb::new().await;
    let provider = FakeProvider::with_responses(
        FakeProtocol::Compatible,
        [partial_answer("{ \"boxes\": [").then(FakeBodyStep::Stall)],
    )
    .await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_buildoff"))
        .arg("seed")
        .env("DATABASE_URL", db.url())
        .envs(catalog.variables(&[("STOP_WAIT", "0")]))
        .spawn()
        .unwrap();
    while provider.requests().is_empty() {
        sleep(Duration::from_millis(20)).await;
    }
    let pid = rustix::process::Pid::from_child(&command);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(command.wait().unwrap().code(), Some(130));
    assert_eq!(db.number("SELECT count(*) FROM jobs WHERE state = 'queued'").await, 1);
    assert_eq!(db.number("SELECT count(*) FROM attempts WHERE outcome = 'interrupted'").await, 1);
}
