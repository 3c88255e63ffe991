//! The log of judgements while several are being stored.

use buildoff::arena::budgets::SpendingLimits;
use buildoff::arena::jobs::judgements::NewJudgement;
use buildoff::judge::criteria::Criterion;
use buildoff::judge::scores::Scores;
use serde_json::{Value, json};

use super::{JudgingFixture, claim};
use crate::support::TestServer;

/// Otherwise whoever continues a download after the last line would miss a judgement with a smaller id.
#[tokio::test]
async fn judgements_are_committed_in_the_order_of_their_ids() {
    let fixture = JudgingFixture::without_worker().await;
    let (db, pool) = (&fixture.db, fixture.db.pool.clone());
    let variables = [("MIN_DWELL_MS", "0"), ("COHORT_PERCENT", "0"), ("VOTER_VOTES_PER_DAY", "9")];
    let server = TestServer::start_with_env(pool.clone(), &fixture.catalog.variables(&variables)).await;
    fixture.judge("&prompt=shed&of=maker").await;
    let judging = claim(&pool, &SpendingLimits::default()).await.unwrap();

    // The person's judgement has its id, and cannot be committed.
    let mut lock = pool.begin().await.unwrap();
    sqlx::raw_sql("LOCK TABLE daily_votes IN SHARE MODE").execute(&mut *lock).await.unwrap();
    let voter = server.voter();
    let id = voter.get("/api/judge/next").await.json()["id"].clone();
    let person = tokio::spawn(async move {
        voter.post("/api/judge", &json!({ "id": id, "scores": { "task_progress": 4.0 } })).await.status
    });
    let waiting = |lock: &str| {
        format!(
            "EXISTS (
                SELECT FROM pg_locks
                JOIN pg_database ON pg_database.oid = database
                WHERE datname = current_database() AND NOT granted AND {lock}
            )"
        )
    };
    db.wait_until(&waiting("relation = 'daily_votes'::regclass")).await;
    let model = tokio::spawn(async move {
        let scores = Scores::default().with(Criterion::TaskProgress, 7.0);
        let judgement = NewJudgement { scores, overall: 7.0, evidence: Vec::new(), note: None };
        judging.finish_judgement(&pool, &judgement).await
    });
    let waits = waiting("locktype = 'advisory'");
    db.wait_until(&format!("{waits} OR EXISTS (SELECT FROM judgements)")).await;
    assert_eq!(
        db.number("SELECT count(*) FROM judgements").await,
        0,
        "the later id waits for the earlier one"
    );

    lock.rollback().await.unwrap();
    assert_eq!(person.await.unwrap(), 200);
    model.await.unwrap().unwrap();
    let log = server.voter().get("/api/judgements.jsonl").await.text();
    let judges: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["judge"]["key"].clone())
        .collect();
    assert_eq!(judges, ["people", "judge"]);
}
