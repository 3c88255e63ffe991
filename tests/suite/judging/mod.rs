//! People judge builds: what they see, what is stored, and what counts.

mod blindness;
mod decisions;
mod pages;
mod rules;

use serde_json::{Value, json};

use crate::support::db::TestDb;
use crate::support::voter::TestResponse;
use crate::support::{TestServer, TestVoter};

/// The criteria of builds.
const CRITERIA: [&str; 4] = ["task_progress", "material_usage", "efficiency", "creative_attempts"];

/// A server without rate limits, with ten builds.
async fn start(more: &[(&str, &str)]) -> (TestDb, TestServer) {
    let db = TestDb::seeded().await;
    let server = start_another(&db, more).await;
    (db, server)
}

async fn start_another(db: &TestDb, more: &[(&str, &str)]) -> TestServer {
    let defaults = [("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0")];
    let defaults = defaults.into_iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name));
    let variables: Vec<_> = more.iter().copied().chain(defaults).collect();
    TestServer::start_with_env(db.pool.clone(), &variables).await
}

async fn next(voter: &TestVoter) -> Value {
    let answer = voter.get("/api/judge/next").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// The same score for every criterion.
fn scores(score: f64) -> Value {
    CRITERIA.map(|key| (key.to_owned(), json!(score))).into_iter().collect::<serde_json::Map<_, _>>().into()
}

async fn judge(voter: &TestVoter, judging: &Value, score: f64) -> TestResponse {
    let body = json!({ "id": judging["id"], "scores": scores(score) });
    voter.post("/api/judge", &body).await
}

/// Judges this build, and returns the answer.
async fn judge_build(voter: &TestVoter, build: &str, score: f64) -> Value {
    let judging = voter.get(&format!("/api/judge/next?build={build}")).await;
    assert_eq!(judging.status, 200, "{}", judging.text());
    let answer = judge(voter, &judging.json(), score).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

async fn builds_of(db: &TestDb, prompt: &str) -> Vec<String> {
    sqlx::query_scalar("SELECT id::text FROM builds WHERE prompt_id = $1 ORDER BY id")
        .bind(prompt)
        .fetch_all(&db.pool)
        .await
        .unwrap()
}
