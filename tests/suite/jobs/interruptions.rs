//! Answers that break off because of the provider or the connection: they use up no attempt, and the next one waits.

use std::time::Duration;

use buildoff::arena::budgets::SpendingLimits;
use buildoff::arena::jobs::ClaimedBuild;
use buildoff::arena::jobs::attempts::{self, Attempt, AttemptCost, Billing, Outcome, SentOptions, Usage};
use buildoff::arena::jobs::claims::{self, ModelRoute};
use serde_json::json;
use sqlx::PgPool;

use super::{JobsFixture, as_build, full_answer, outcomes, partial_answer, request_setup};
use crate::support::db::TestDb;
use crate::support::{
    FakeBodyStep, FakeProtocol, FakeProvider, FakeResponse, TestCatalog, TestServer, sample_spec,
};

/// A server whose models have a single attempt.
async fn fixture(responses: Vec<FakeResponse>) -> JobsFixture {
    let provider = FakeProvider::with_responses(FakeProtocol::Compatible, responses).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
    let db = TestDb::new().await;
    let server =
        TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[("AI_ATTEMPTS", "1")])).await;
    JobsFixture::from_parts(db, provider, server).await
}

/// An answer with an error in the middle, after which the provider wants to be left alone for so long.
fn overloaded(seconds: f64) -> FakeResponse {
    let error = json!({ "error": {
        "code": 503, "message": "Too many are asking.", "details": [{ "retryDelay": format!("{seconds}s") }],
    } });
    partial_answer("{ \"boxes\": [").send(FakeProtocol::Compatible.frame(&error))
}

#[tokio::test]
async fn a_provider_that_fails_in_the_middle_of_an_answer_costs_the_model_none_of_its_attempts() {
    for broken in
        [vec![overloaded(0.01), overloaded(0.01)], vec![partial_answer("{").then(FakeBodyStep::Disconnect)]]
    {
        let interruptions = broken.len();
        let answered = full_answer(&sample_spec(4));
        let fixture = fixture(broken.into_iter().chain([answered]).collect()).await;
        let job = fixture.run_job().await;
        assert_eq!(job["state"], "ready", "{job}");
        let mut expected = vec!["interrupted"; interruptions];
        expected.push("accepted");
        assert_eq!(outcomes(&job), expected, "{job}");
        assert!(["overloaded", "cut_off"].contains(&job["attempts"][0]["code"].as_str().unwrap()), "{job}");
        let answer = fixture.admin.get(job["attempts"][0]["answerUrl"].as_str().unwrap()).await.text();
        assert!(answer.starts_with('{'), "what had come is kept: {answer:?}");
        let build = format!("/api/builds/{}", job["buildId"].as_str().unwrap());
        let build = fixture.admin.get(&build).await.json();
        assert_eq!(build["attempts"], 1, "the build is that of the model's first attempt: {build}");
    }
}

#[tokio::test]
async fn while_a_provider_is_left_alone_the_job_says_so_and_another_worker_can_take_it_over() {
    let fixture = fixture(vec![overloaded(90.0), full_answer(&sample_spec(4))]).await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    let waiting = |note: &str| note.starts_with("trying again in 9") && note.contains("Too many are asking.");
    fixture.admin.wait_for_job(&job, |job| job["note"].as_str().is_some_and(waiting)).await;
    assert_eq!(outcomes(&fixture.admin.job(&job).await), ["interrupted"]);

    fixture.db.run("UPDATE jobs SET fence = fence + 1, leased_until = now()").await;

    let ended = fixture.admin.wait_for_job_end(&job).await;
    assert_eq!(outcomes(&ended), ["interrupted", "accepted"], "{ended}");
}

/// Claims the job of a fixture without a worker.
async fn claim(pool: &PgPool) -> ClaimedBuild {
    let routes = [ModelRoute { model: "tester".parse().unwrap(), provider: "somebody".to_owned() }];
    let (limits, lease) = (SpendingLimits::default(), Duration::from_secs(30));
    as_build(claims::claim(pool, &routes, 4, &limits, lease).await.unwrap().unwrap())
}

fn ended(outcome: Outcome, code: Option<&'static str>) -> Attempt {
    Attempt {
        outcome,
        code,
        message: None,
        answer: "{".into(),
        answer_time: Duration::from_millis(1),
        usage: Usage::default(),
        billing: Billing::Reported,
        sent: SentOptions::default(),
        notes: json!([]),
    }
}

#[tokio::test]
async fn whoever_takes_a_job_over_knows_how_often_the_provider_has_failed() {
    let fixture = JobsFixture::without_worker().await;
    fixture.admin.enqueue("shed", "tester").await;
    let pool = &fixture.db.pool;
    let first = claim(pool).await;
    for (outcome, code) in [
        (Outcome::Failed, "truncated"),
        (Outcome::Interrupted, "overloaded"),
        (Outcome::Interrupted, "cut_off"),
    ] {
        attempts::begin(pool, &first.claim.lease, &request_setup()).await.unwrap();
        attempts::end(pool, &first.claim.lease, &ended(outcome, Some(code)), None, None).await.unwrap();
    }
    attempts::begin(pool, &first.claim.lease, &request_setup()).await.unwrap();
    first.claim.lease.release(pool).await.unwrap();

    let past = attempts::past_attempts(pool, claim(pool).await.claim.lease.job).await.unwrap();
    assert_eq!((past.count, past.interruptions), (1, 2), "{past:?}");
    assert_eq!(past.code.as_deref(), Some("truncated"), "what broke off says nothing about the next prompt");
}

#[tokio::test]
async fn an_answer_in_the_background_is_paid_for_once_also_if_it_ends_before_its_id_was_stored() {
    let fixture = JobsFixture::without_worker().await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    let pool = &fixture.db.pool;
    let lease = claim(pool).await.claim.lease;
    let cost = AttemptCost { micros: 200, is_minimum: false };
    for (attempt, cost) in
        [(ended(Outcome::Interrupted, Some("cut_off")), None), (ended(Outcome::Accepted, None), Some(cost))]
    {
        attempts::begin(pool, &lease, &request_setup()).await.unwrap();
        attempts::end(pool, &lease, &attempt, cost, Some("resp_1")).await.unwrap();
    }
    let job = fixture.admin.job(&job).await;
    assert_eq!((&job["cost"], &job["costIsMinimum"]), (&json!(0.0002), &json!(false)), "{job}");
}
