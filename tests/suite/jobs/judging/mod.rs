//! Judges: vision models that give builds scores and compare pairs. Each question is asked once, and no rating changes.

mod commands;
mod log_order;
mod pairs;
mod queue;

use std::time::Duration;

use buildoff::arena::budgets::SpendingLimits;
use buildoff::arena::jobs::LeaseError;
use buildoff::arena::jobs::claims::{self, ClaimedJob, ModelRoute};
use buildoff::arena::jobs::judgements::{ClaimedJudging, NewJudgement};
use buildoff::judge::criteria::Criterion;
use buildoff::judge::scores::Scores;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{full_answer, outcomes};
use crate::support::db::TestDb;
use crate::support::{
    FakeProtocol, FakeProvider, FakeResponse, TestAdmin, TestCatalog, TestServer, TestServerProcess,
    TestVoter, sample_spec,
};

/// What a judge answers: (.4 × 8 + .15 × 6 + .15 × 10 + .05 × 0) / .75 in all.
const SCORES: &str = r#"{"scores": {
    "task_progress": {"evidence": "A shed with a roof.", "score": 8},
    "material_usage": {"evidence": "Bricks alone.", "score": 6},
    "efficiency": {"evidence": "Nothing is too much.", "score": 10},
    "creative_attempts": {"evidence": "A plain box.", "score": 0}
}, "note": "Plain."}"#;

const OVERALL: f64 = 5.6 / 0.75;

const EXPIRE_LEASES: &str = "UPDATE jobs SET leased_until = now() WHERE state = 'running'";

/// Three builds, a judge that sees pictures, and a provider with scripted answers.
struct JudgingFixture {
    db: TestDb,
    catalog: TestCatalog,
    server: TestServer,
    admin: TestAdmin,
    provider: FakeProvider,
}

impl JudgingFixture {
    async fn with_responses(responses: impl IntoIterator<Item = FakeResponse>) -> Self {
        let provider = FakeProvider::with_responses(FakeProtocol::Compatible, responses).await;
        Self::start(provider, true).await
    }

    /// Every request gets this answer.
    async fn always(answer: &'static str) -> Self {
        let handler = move |_: &_| full_answer(answer);
        Self::start(FakeProvider::with_handler(FakeProtocol::Compatible, handler).await, true).await
    }

    /// A server that runs no jobs.
    async fn without_worker() -> Self {
        Self::start(FakeProvider::with_responses(FakeProtocol::Compatible, []).await, false).await
    }

    async fn start(provider: FakeProvider, works: bool) -> Self {
        let catalog =
            TestCatalog::new(&provider, &["maker", "other", "judge"], &["shed", "barn"]).with_vision("judge");
        let db = TestDb::new().await;
        let variables = catalog.variables(&[("MIN_DWELL_MS", "0"), ("COHORT_PERCENT", "0")]);
        let server = match works {
            true => TestServer::start_with_worker(db.pool.clone(), &variables).await,
            false => TestServer::start_with_env(db.pool.clone(), &variables).await,
        };
        let admin = server.admin();
        assert_eq!(admin.post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
        for (number, query) in
            ["modelKey=maker&promptId=shed", "modelKey=other&promptId=shed", "modelKey=maker&promptId=barn"]
                .iter()
                .enumerate()
        {
            let path = format!("/api/admin/import-build?{query}");
            let answer = admin.post(&path, sample_spec(number + 1)).await;
            assert!((200..300).contains(&answer.status), "{}", answer.text());
        }
        Self { db, catalog, server, admin, provider }
    }

    /// Has builds judged, and returns the answer.
    async fn judge(&self, query: &str) -> Value {
        judge(&self.admin, query).await
    }

    /// Has the maker's shed judged, and returns its job once it has ended.
    async fn judge_shed(&self) -> Value {
        let queued = self.judge("&prompt=shed&of=maker").await;
        self.admin.wait_for_job_end(queued["jobs"][0]["id"].as_str().unwrap()).await
    }

    /// Waits until no job is under way.
    async fn until_idle(&self) {
        self.db.wait_until("NOT EXISTS (SELECT FROM jobs WHERE state IN ('queued', 'running'))").await;
    }

    async fn hold_out_sheds(&self, held_out: bool) {
        let change = json!({ "heldOut": held_out });
        let patched = self.admin.json(reqwest::Method::PATCH, "/api/admin/prompts/shed", &change).await;
        assert_eq!(patched.status, 200, "{}", patched.text());
    }

    async fn vote(&self) -> TestVoter {
        let voter = self.server.voter();
        let matchup = voter.matchup_on("shed").await.json();
        voter.fetch_builds(&matchup).await;
        assert_eq!(voter.vote(&matchup, "A").await.status, 200);
        voter
    }
}

async fn judge(admin: &TestAdmin, query: &str) -> Value {
    let answer = admin.post(&format!("/api/admin/judge?model=judge{query}"), "").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

async fn claim(pool: &PgPool, limits: &SpendingLimits) -> Option<ClaimedJudging> {
    let routes = [ModelRoute { model: "judge".parse().unwrap(), provider: "somebody".to_owned() }];
    let claimed = claims::claim(pool, &routes, 4, limits, Duration::from_secs(30)).await.unwrap()?;
    match claimed {
        ClaimedJob::Judge(judging) => Some(judging),
        ClaimedJob::Build(build) => panic!("it judges nothing: {build:?}"),
    }
}

/// The pictures in a request, and all its texts.
fn shown(request: &Value) -> (usize, String) {
    let parts =
        request["messages"].as_array().unwrap().iter().flat_map(|message| match &message["content"] {
            Value::Array(parts) => parts.clone(),
            text => vec![json!({ "type": "text", "text": text })],
        });
    let parts: Vec<_> = parts.collect();
    let pictures = parts.iter().filter(|part| part["type"] == "image_url").count();
    (pictures, parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"))
}

#[tokio::test]
async fn scores_are_stored_with_evidence_the_raw_answer_tokens_and_cost() {
    let fixture = JudgingFixture::with_responses([full_answer(SCORES)]).await;
    let job = fixture.judge_shed().await;
    assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), vec!["accepted"]), "{job}");
    assert_eq!(
        (&job["kind"], &job["judged"]["of"], &job["promptId"]),
        (&json!("judge"), &json!("maker"), &json!("shed"))
    );
    assert!((job["judged"]["overall"].as_f64().unwrap() - OVERALL).abs() < 1e-9, "{job}");
    let attempt = &job["attempts"][0];
    assert_eq!((&attempt["tokensIn"], &attempt["tokensOut"]), (&json!(100), &json!(50)), "{attempt}");
    assert!(attempt["cost"].as_f64().unwrap() > 0.0 && job["cost"] == attempt["cost"], "{job}");
    assert_eq!(fixture.admin.get(attempt["answerUrl"].as_str().unwrap()).await.text(), SCORES);

    let stored: Value = sqlx::query_scalar("SELECT to_jsonb(judgements) FROM judgements")
        .fetch_one(&fixture.db.pool)
        .await
        .unwrap();
    for (field, value) in [
        ("model_key", json!("judge")),
        ("build_id", job["judged"]["buildId"].clone()),
        ("job_id", job["id"].clone()),
        ("task_progress", json!(8)),
        ("material_usage", json!(6)),
        ("efficiency", json!(10)),
        ("creative_attempts", json!(0)),
        ("action_control", json!(null)),
        ("error_recognition", json!(null)),
        ("note", json!("Plain.")),
    ] {
        assert_eq!(stored[field], value, "{field}: {stored}");
    }
    assert_eq!(stored["evidence"]["task_progress"], "A shed with a roof.", "{stored}");

    let (pictures, texts) = shown(&fixture.provider.requests()[0].body);
    assert_eq!(pictures, 9);
    assert!(texts.contains("a shed") && !texts.contains("maker"), "nothing tells who made it: {texts}");
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_asked_for_again_with_what_was_wrong_and_the_pictures() {
    let fixture =
        JudgingFixture::with_responses([full_answer("It is a fine shed."), full_answer(SCORES)]).await;
    let job = fixture.judge_shed().await;
    assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), vec!["refused", "accepted"]), "{job}");
    let first = fixture.admin.get(job["attempts"][0]["answerUrl"].as_str().unwrap()).await;
    assert_eq!(first.text(), "It is a fine shed.");
    let (pictures, texts) = shown(&fixture.provider.requests()[1].body);
    assert_eq!(pictures, 9);
    assert!(texts.contains("could not be used") && texts.contains("It is a fine shed."), "{texts}");
}

#[tokio::test]
async fn a_judge_that_gives_no_scores_fails_and_is_asked_again_only_if_an_admin_wants_it() {
    let fixture = JudgingFixture::always("No.").await;
    let job = fixture.judge_shed().await;
    assert_eq!((&job["state"], outcomes(&job).len()), (&json!("failed"), 3), "{job}");
    let again = fixture.judge("&prompt=shed&of=maker").await;
    assert_eq!(
        (&again["failed"], &again["open"], &again["jobs"]),
        (&json!(1), &json!(0), &json!([])),
        "{again}"
    );
    let retried = fixture.judge("&prompt=shed&of=maker&retryFailed=1").await;
    assert_eq!(retried["jobs"].as_array().unwrap().len(), 1, "{retried}");
}

#[tokio::test]
async fn nothing_is_judged_twice_also_by_two_servers_at_once() {
    let fixture = JudgingFixture::always(SCORES).await;
    let variables = fixture.catalog.variables(&[]);
    let server = TestServer::start_with_worker(fixture.db.pool.clone(), &variables).await;
    let other = server.admin();
    let (one, two) = tokio::join!(fixture.judge(""), judge(&other, ""));
    assert_eq!((&one["targets"], &two["targets"]), (&json!(3), &json!(3)));
    fixture.until_idle().await;
    for admin in [&fixture.admin, &other] {
        let again = judge(admin, "").await;
        assert_eq!(
            (&again["judged"], &again["open"], &again["jobs"]),
            (&json!(3), &json!(0), &json!([])),
            "{again}"
        );
    }
    assert_eq!(fixture.provider.requests().len(), 3, "no build may be shown twice");
    assert_eq!(fixture.db.number("SELECT count(*) FROM judgements").await, 3);
}

#[tokio::test]
async fn an_answer_that_came_before_the_server_was_killed_is_not_paid_for_again() {
    let fixture = JudgingFixture::with_responses([full_answer(SCORES)]).await;
    let _ = fixture.server.shut_down().await;
    let variables = fixture.catalog.variables(&[]);
    let mut first = TestServerProcess::start(&fixture.db, &variables);
    // The answer can be kept, and the judgement cannot.
    let mut lock = fixture.db.pool.begin().await.unwrap();
    sqlx::raw_sql("LOCK TABLE judgements IN EXCLUSIVE MODE").execute(&mut *lock).await.unwrap();
    let queued = judge(&TestAdmin::new(&first.url), "&prompt=shed&of=maker").await;
    fixture.db.wait_until("EXISTS (SELECT FROM attempts WHERE outcome = 'accepted')").await;
    first.kill();
    lock.rollback().await.unwrap();
    assert_eq!(fixture.db.number("SELECT count(*) FROM judgements").await, 0);

    let second = TestServerProcess::start(&fixture.db, &variables);
    fixture.db.run(EXPIRE_LEASES).await;
    let job = TestAdmin::new(&second.url).wait_for_job_end(queued["jobs"][0]["id"].as_str().unwrap()).await;
    assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), vec!["accepted"]), "{job}");
    assert_eq!(fixture.provider.requests().len(), 1);
    assert_eq!(fixture.db.number("SELECT count(*) FROM judgements").await, 1);
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_stores_no_judgement() {
    let fixture = JudgingFixture::without_worker().await;
    let (pool, limits) = (&fixture.db.pool, SpendingLimits::default());
    fixture.judge("&prompt=shed&of=maker").await;
    let first = claim(pool, &limits).await.unwrap();
    fixture.db.run(EXPIRE_LEASES).await;
    let second = claim(pool, &limits).await.unwrap();
    let judgement = NewJudgement {
        scores: Scores::default().with(Criterion::TaskProgress, 7.0),
        overall: 7.0,
        evidence: Vec::new(),
        note: None,
    };
    let late = first.finish_judgement(pool, &judgement).await;
    assert!(matches!(late, Err(LeaseError::Lost)), "{late:?}");
    assert_eq!(fixture.db.number("SELECT count(*) FROM judgements").await, 0);
    second.finish_judgement(pool, &judgement).await.unwrap();
    assert_eq!(fixture.db.number("SELECT count(*) FROM judgements").await, 1);
    assert_eq!(fixture.admin.job(&second.claim.lease.job.to_string()).await["state"], "ready");
}
