//! Judges that compare two builds.

use std::process::Command;

use serde_json::{Value, json};

use super::super::{full_answer, outcomes};
use super::{JudgingFixture, SCORES, shown};
use crate::support::sample_spec;

const LEFT: &str = r#"{"reason": "A has the larger door.", "choice": "A"}"#;

#[tokio::test]
async fn pairs_that_were_voted_on_are_compared_in_both_orders() {
    let fixture = JudgingFixture::always(LEFT).await;
    let none = fixture.judge("&pairwise=1").await;
    assert_eq!((&none["targets"], &none["jobs"]), (&json!(0), &json!([])), "nobody has voted: {none}");
    fixture.vote().await;
    let queued = fixture.judge("&pairwise=1&limit=1").await;
    assert_eq!(queued["jobs"].as_array().unwrap().len(), 2, "{queued}");
    fixture.until_idle().await;
    let orders: Vec<Value> = sqlx::query_scalar(
        "SELECT jsonb_build_array(l.model_key, r.model_key, choice, reason, judge_votes.model_key)
         FROM judge_votes
         JOIN builds AS l ON l.id = left_build
         JOIN builds AS r ON r.id = right_build
         ORDER BY l.model_key",
    )
    .fetch_all(&fixture.db.pool)
    .await
    .unwrap();
    let reason = "A has the larger door.";
    assert_eq!(
        orders,
        [json!(["maker", "other", "A", reason, "judge"]), json!(["other", "maker", "A", reason, "judge"])]
    );
    for request in fixture.provider.requests() {
        let (pictures, texts) = shown(&request.body);
        assert_eq!(pictures, 18);
        assert!(texts.contains("Build A: From the front") && !texts.contains("maker"), "{texts}");
    }
    let job = fixture.admin.job(queued["jobs"][0]["id"].as_str().unwrap()).await;
    assert_eq!(
        (&job["state"], &job["judged"]["choice"], outcomes(&job)),
        (&json!("ready"), &json!("A"), vec!["accepted"])
    );
    let again = fixture.judge("&pairwise=1").await;
    assert_eq!((&again["judged"], &again["jobs"]), (&json!(2), &json!([])), "{again}");
}

#[tokio::test]
async fn ratings_and_votes_stay_as_they_are_to_the_byte() {
    let fixture =
        JudgingFixture::with_responses([full_answer(SCORES), full_answer(SCORES), full_answer(SCORES)]).await;
    fixture.vote().await;
    let votes = async || -> String {
        let sql = "SELECT concat(
            (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.id) FROM votes v),
            (SELECT jsonb_agg(to_jsonb(r) ORDER BY r::text) FROM ratings r),
            (SELECT jsonb_agg(to_jsonb(t) ORDER BY t::text) FROM tallies t),
            (SELECT jsonb_agg(to_jsonb(m) ORDER BY m.id) FROM matchups m)
        )";
        sqlx::query_scalar(sql).fetch_one(&fixture.db.pool).await.unwrap()
    };
    let before = votes().await;
    fixture.judge("").await;
    fixture.until_idle().await;
    assert_eq!(fixture.db.number("SELECT count(*) FROM judgements").await, 3);
    assert_eq!(before, votes().await);
    let verified = Command::new(env!("CARGO_BIN_EXE_buildoff"))
        .args(["recompute", "--verify"])
        .env("DATABASE_URL", fixture.db.url())
        .envs(fixture.catalog.variables(&[]))
        .output()
        .unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[tokio::test]
async fn a_limit_is_of_pairs_and_one_order_of_a_pair_can_be_asked_about_again() {
    let fixture = JudgingFixture::without_worker().await;
    let JudgingFixture { admin, db, .. } = &fixture;
    let imported = admin.post("/api/admin/import-build?modelKey=other&promptId=barn", sample_spec(7)).await;
    assert!((200..300).contains(&imported.status), "{}", imported.text());
    for prompt in ["shed", "barn"] {
        let voter = fixture.server.voter();
        let matchup = voter.matchup_on(prompt).await.json();
        voter.fetch_builds(&matchup).await;
        assert_eq!(voter.vote(&matchup, "A").await.status, 200);
    }
    let ids = |answer: &Value| -> Vec<String> {
        answer["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap().to_owned()).collect()
    };
    let queued = ids(&fixture.judge("&pairwise=1&limit=1").await);
    assert_eq!(queued.len(), 2, "a pair has two orders");
    assert_eq!(admin.delete(&format!("/api/admin/jobs/{}", queued[0])).await.status, 204);
    assert_eq!(
        ids(&fixture.judge("&pairwise=1&limit=1").await),
        queued[1..],
        "half of another pair is not queued"
    );

    let judged = admin.job(&queued[0]).await["judged"].clone();
    let order = format!(
        "&build={}&rightBuild={}",
        judged["buildId"].as_str().unwrap(),
        judged["rightBuildId"].as_str().unwrap()
    );
    let again = fixture.judge(&format!("&pairwise=1&retryFailed=1{order}")).await;
    assert_eq!((&again["targets"], ids(&again).len()), (&json!(1), 1), "{again}");
    let new = admin.job(&ids(&again)[0]).await;
    assert_eq!((&new["judged"], &new["state"]), (&judged, &json!("queued")));
    assert_eq!(db.number("SELECT count(*) FROM jobs WHERE state = 'queued'").await, 2);
    for wrong in [&order, "&pairwise=1&rightBuild=0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70"] {
        assert_eq!(
            admin.post(&format!("/api/admin/judge?model=judge{wrong}"), "").await.status,
            400,
            "{wrong}"
        );
    }
}
