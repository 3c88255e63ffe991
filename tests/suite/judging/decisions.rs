//! Decisions about votes are about judgements as well.

use buildoff::arena::audit::Admin;
use buildoff::arena::decisions::{self, DecisionError, VoteSelection, VoteVerdict};
use buildoff::arena::replay;
use time::{Duration, OffsetDateTime};

use super::{builds_of, judge_build, start};
use crate::support::TestVoter;
use crate::support::db::TestDb;

fn everything() -> VoteSelection {
    let now = OffsetDateTime::now_utc();
    VoteSelection {
        from: now - Duration::HOUR,
        until: now + Duration::HOUR,
        networks: Vec::new(),
        voters: Vec::new(),
        model: None,
        max_dwell_ms: None,
    }
}

async fn decide(
    db: &TestDb,
    selection: &VoteSelection,
    verdict: VoteVerdict,
) -> Result<(i32, i32), DecisionError> {
    let decided = decisions::decide(&db.pool, selection, verdict, "A flood.", Admin::COMMAND_LINE).await;
    decided.map(|decision| (decision.votes, decision.judgements))
}

async fn people_on(voter: &TestVoter, build: &str) -> serde_json::Value {
    let again = voter.post("/api/judge", &serde_json::json!({ "id": "x", "scores": {} })).await;
    assert_eq!(again.status, 400);
    judge_build(voter, build, 5.0).await["others"]["people"]["count"].clone()
}

#[tokio::test]
async fn judgements_are_withdrawn_set_aside_and_restored_with_the_votes() {
    let (db, server) = start(&[]).await;
    let build = &builds_of(&db, "lighthouse").await[0];
    let voter = server.voter();
    judge_build(&voter, build, 9.0).await;
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;
    voter.vote(&matchup, "A").await;
    assert_eq!(people_on(&server.voter(), build).await, 1);

    assert_eq!(decide(&db, &everything(), VoteVerdict::Suspect).await.unwrap(), (1, 2));
    assert_eq!(people_on(&server.voter(), build).await, 0);
    assert_eq!(
        db.number("SELECT people_judgements::bigint FROM builds ORDER BY people_judgements DESC LIMIT 1")
            .await,
        1
    );
    assert_eq!(decide(&db, &everything(), VoteVerdict::Counted).await.unwrap(), (1, 2));
    assert_eq!(people_on(&server.voter(), build).await, 3);
    assert_eq!(decide(&db, &everything(), VoteVerdict::Withdrawn).await.unwrap(), (1, 4));
    assert_eq!(db.number("SELECT sum(people_judgements)::bigint FROM builds").await, 0);
    assert!(matches!(decide(&db, &everything(), VoteVerdict::Withdrawn).await, Err(DecisionError::NoVotes)));
    assert!(replay::verify(&db.pool).await.unwrap().is_clean());
    assert_eq!(db.number("SELECT count(*) FROM judgements").await, 4, "nothing is deleted");
    let own = voter.get(&format!("/judge/builds/{build}")).await;
    assert!(own.text().contains("Built by"), "its judge sees it as before");
}

#[tokio::test]
async fn a_decision_can_be_about_judgements_alone_and_is_public() {
    let (db, server) = start(&[]).await;
    let build = &builds_of(&db, "lighthouse").await[0];
    judge_build(&server.voter(), build, 9.0).await;
    let quick = VoteSelection { max_dwell_ms: Some(60_000), ..everything() };
    assert!(matches!(decide(&db, &quick, VoteVerdict::Withdrawn).await, Err(DecisionError::NoVotes)));
    let model: String = sqlx::query_scalar("SELECT model_key FROM builds WHERE id::text = $1")
        .bind(build)
        .fetch_one(&db.pool)
        .await
        .unwrap();
    let other = VoteSelection { model: Some("nobody".parse().unwrap()), ..everything() };
    assert!(matches!(decide(&db, &other, VoteVerdict::Withdrawn).await, Err(DecisionError::NoVotes)));
    let right = VoteSelection { model: Some(model.parse().unwrap()), ..everything() };
    assert_eq!(decide(&db, &right, VoteVerdict::Withdrawn).await.unwrap(), (0, 1));

    assert!(server.voter().get("/decisions").await.text().contains("Withdrawn: 1 judgement"));
    let listed = server.voter().get("/api/decisions").await.json();
    let decision = &listed["decisions"][0];
    assert_eq!((&decision["votes"], &decision["judgements"]), (&0.into(), &1.into()));
    assert_eq!(decision["firstAt"], serde_json::Value::Null);
    assert_eq!(server.voter().get("/leaderboard").await.status, 200);
    assert_eq!(db.number("SELECT count(*) FROM person_checks WHERE round = 1").await, 1, "asked again");
}
