//! Votes: each counts once and changes the ratings.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::insert_identical_builds;
use crate::support::db::TestDb;
use crate::support::{TestServer, TestVoter, server_with_builds};

async fn elo(db: &TestDb) -> Vec<(String, f64, i64, i64, i64, i64)> {
    sqlx::query_as("SELECT model_key, elo, wins, losses, ties, both_bad FROM ratings ORDER BY model_key")
        .fetch_all(&db.pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_vote_reveals_the_models_and_the_rating_changes() {
    let (db, server) = server_with_builds().await;
    db.run("UPDATE builds SET generation_time_ms = 1234 WHERE model_key = 'reference_architect'").await;
    let voter = server.voter();
    let matchup = voter.matchup_on("lighthouse").await.json();
    voter.fetch_builds(&matchup).await;
    let answer = voter.vote(&matchup, "A").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let reply = answer.json();
    let build = |model: &str| {
        let db = &db;
        let sql = format!(
            "SELECT jsonb_build_object('id', id, 'withheld', false, 'blockCount', block_count, 'generationTimeMs', generation_time_ms, 'warnings', '[]'::jsonb)
             FROM builds WHERE prompt_id = 'lighthouse' AND model_key = '{model}'"
        );
        async move { sqlx::query_scalar::<_, Value>(sqlx::AssertSqlSafe(sql)).fetch_one(&db.pool).await.unwrap() }
    };
    let model = async |side: &str, after: f64| {
        let key = reply["reveal"][side]["key"].as_str().unwrap().to_owned();
        let name = if key == "reference_architect" { "The Architect" } else { "The Sculptor" };
        json!({
            "key": key, "provider": "reference", "displayName": name,
            "elo": { "before": 1500.0, "after": after }, "build": build(&key).await,
        })
    };
    let expected = json!({
        "ok": true,
        "choice": "A",
        "reveal": { "a": model("a", 1508.0).await, "b": model("b", 1492.0).await },
        "others": { "a": 0, "b": 0, "tie": 0, "bothBad": 0 },
        "shareUrl": format!("/matchups/{}", matchup["id"].as_str().unwrap()),
    });
    assert_eq!(reply, expected);
    let counts: Vec<_> = elo(&db).await.into_iter().map(|row| (row.1, row.2 + row.3)).collect();
    assert!(counts.contains(&(1508.0, 1)) && counts.contains(&(1492.0, 1)), "{counts:?}");
    assert_eq!(db.number("SELECT count(*) FROM votes WHERE dwell_ms >= 0").await, 1);
}

#[tokio::test]
async fn every_choice_changes_the_ratings_by_the_formula() {
    for (choice, left, right) in [
        ("A", (1508.0, 1, 0, 0, 0), (1492.0, 0, 1, 0, 0)),
        ("B", (1492.0, 0, 1, 0, 0), (1508.0, 1, 0, 0, 0)),
        ("TIE", (1500.0, 0, 0, 1, 0), (1500.0, 0, 0, 1, 0)),
        ("BOTH_BAD", (1492.0, 0, 1, 0, 1), (1492.0, 0, 1, 0, 1)),
    ] {
        let (db, server) = server_with_builds().await;
        let voter = server.voter();
        let reply = voter.vote(&voter.matchup().await, choice).await.json();
        let rows = elo(&db).await;
        for (side, expected) in [("a", left), ("b", right)] {
            let row =
                rows.iter().find(|row| row.0 == reply["reveal"][side]["key"].as_str().unwrap()).unwrap();
            assert_eq!((row.1, row.2, row.3, row.4, row.5), expected, "{choice}, {side}");
        }
    }
}

#[tokio::test]
async fn the_reveal_counts_other_votes_with_sides_aligned() {
    let (_db, server) = server_with_builds().await;
    for ties in 0..4 {
        let voter = server.voter();
        let reply = voter.vote(&voter.matchup_on("treehouse").await.json(), "TIE").await.json();
        assert_eq!(reply["others"], json!({ "a": 0, "b": 0, "tie": ties, "bothBad": 0 }));
    }
    let voter = server.voter();
    let reply = voter.vote(&voter.matchup_on("treehouse").await.json(), "A").await.json();
    let winner = &reply["reveal"]["a"]["key"];
    let voter = server.voter();
    let reply = voter.vote(&voter.matchup_on("treehouse").await.json(), "BOTH_BAD").await.json();
    let (a, b) = if reply["reveal"]["a"]["key"] == *winner { (1, 0) } else { (0, 1) };
    assert_eq!(reply["others"], json!({ "a": a, "b": b, "tie": 4, "bothBad": 0 }));
}

#[tokio::test]
async fn a_second_vote_changes_nothing_and_returns_the_first_reveal() {
    let (db, server) = server_with_builds().await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    let first = voter.vote(&matchup, "A").await.json();
    let before = elo(&db).await;
    for choice in ["A", "B"] {
        let second = voter.vote(&matchup, choice).await;
        assert_eq!(second.status, 409);
        let reply = second.json();
        assert_eq!(reply["code"], "already_voted");
        for part in ["choice", "reveal", "others", "shareUrl"] {
            assert_eq!(reply[part], first[part], "{part}");
        }
    }
    assert_eq!(elo(&db).await, before);
    assert_eq!(db.number("SELECT count(*) FROM votes").await, 1);
}

#[tokio::test]
async fn of_64_votes_at_once_on_one_matchup_one_counts() {
    let (db, server) = server_with_builds().await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    let choices = ["A", "B", "TIE", "BOTH_BAD"];
    let answers = join_all((0..64).map(|n| voter.vote(&matchup, choices[n % 4]))).await;
    let won: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(won.len(), 1);
    let choice = &won[0].json()["choice"];
    for answer in &answers {
        assert!(matches!(answer.status, 200 | 409), "{}", answer.text());
        assert_eq!(&answer.json()["choice"], choice);
    }
    assert_eq!(db.number("SELECT count(*) FROM votes").await, 1);
    assert_eq!(db.number("SELECT sum(wins + losses + ties)::bigint FROM ratings").await, 2);
}

#[tokio::test]
async fn votes_on_another_voters_matchup_are_refused() {
    let (db, server) = server_with_builds().await;
    let (voter, stranger, nobody) = (server.voter(), server.voter(), server.voter());
    let matchup = voter.matchup().await;
    stranger.matchup().await;
    let unknown = json!({ "id": "00000000-0000-4000-8000-000000000000" });
    for (who, what) in
        [(&stranger, &matchup), (&nobody, &matchup), (&voter, &unknown), (&voter, &json!({ "id": "x" }))]
    {
        let answer = who.vote(what, "A").await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "no_such_matchup"), "{what}");
    }
    assert_eq!(db.number("SELECT count(*) FROM votes").await, 0);
    assert_eq!(voter.vote(&matchup, "A").await.status, 200, "the matchup must still be open");
}

#[tokio::test]
async fn an_expired_matchup_accepts_no_vote() {
    let (db, server) = server_with_builds().await;
    let voter = server.voter();
    let skipped = voter.matchup().await;
    voter.skip(&skipped).await;
    let expired = voter.matchup().await;
    db.run("UPDATE open_matchups SET expires_at = now() - interval '1 second'").await;
    for matchup in [&skipped, &expired] {
        let answer = voter.vote(matchup, "A").await;
        assert_eq!((answer.status, answer.code().as_str()), (410, "matchup_over"));
    }
    let next = voter.matchup().await;
    assert_ne!(next["id"], expired["id"], "after half an hour the voter gets another matchup");
    assert_eq!(db.number("SELECT count(*) FROM votes").await, 0);
}

#[tokio::test]
async fn an_invalid_vote_is_refused_with_a_reason() {
    let (_db, server) = server_with_builds().await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    let id = &matchup["id"];
    for (body, status) in [
        (json!({ "matchupId": id, "choice": "C" }), 400),
        (json!({ "matchupId": id, "choice": "a" }), 400),
        (json!({ "matchupId": id, "choice": 1 }), 422),
        (json!({ "matchupId": id }), 422),
        (json!({ "choice": "A" }), 422),
        (json!([]), 422),
        (json!("A"), 422),
    ] {
        let answer = voter.post("/api/arena/vote", &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text());
        assert!(answer.json()["error"].as_str().unwrap().len() > 10, "{body}");
    }
    for (kind, body, status) in [
        ("application/json", "{", 400),
        ("application/json", "", 400),
        ("text/plain", "A", 415),
        ("application/x-www-form-urlencoded", "choice=A", 415),
    ] {
        let request = server.post("/api/arena/vote").header("content-type", kind).body(body);
        let answer = request.header("cookie", voter.cookie().unwrap()).send().await.unwrap();
        assert_eq!(answer.status(), status, "{kind} {body}");
    }
    let long = json!({ "matchupId": "x".repeat(100_000), "choice": "A" });
    assert_eq!(voter.post("/api/arena/vote", &long).await.status, 413);
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
}

/// A vote keeps referring to the build that was shown.
#[tokio::test]
async fn a_build_retired_during_a_matchup_can_still_be_voted_on() {
    let (db, server) = server_with_builds().await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    db.run("UPDATE builds SET retired_at = now(); UPDATE models SET enabled = false").await;
    voter.fetch_builds(&matchup).await;
    assert_eq!(voter.matchup().await["id"], matchup["id"]);
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
}

/// In whatever order concurrent votes take their locks, the ratings follow from the votes in the order of
/// their ids.
#[tokio::test]
async fn concurrent_votes_on_few_models_give_ratings_that_follow_their_order() {
    let db = TestDb::seeded().await;
    insert_identical_builds(&db, 3, 6).await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let voters: Vec<TestVoter> = (0..16).map(|_| server.voter()).collect();
    join_all(voters.iter().enumerate().map(|(n, voter)| async move {
        for round in 0..8 {
            let matchup = voter.matchup().await;
            let answer = voter.vote(&matchup, ["A", "B", "TIE", "BOTH_BAD"][(n + round) % 4]).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
    }))
    .await;
    super::concurrency::assert_replayed(&db, 128).await;
}

#[tokio::test]
async fn waiting_votes_are_stored_together_and_each_voter_gets_their_own_reveal() {
    let db = TestDb::seeded().await;
    insert_identical_builds(&db, 4, 6).await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let first = server.voter();
    assert_eq!(first.vote(&first.matchup().await, "A").await.status, 200);
    let voters: Vec<TestVoter> = (0..12).map(|_| server.voter()).collect();
    let matchups = join_all(voters.iter().map(TestVoter::matchup)).await;
    let mut others = db.pool.begin().await.unwrap();
    sqlx::raw_sql("LOCK TABLE ratings").execute(&mut *others).await.unwrap();

    let release = async {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while db.number(waiting).await == 0 {}
        others.rollback().await.unwrap();
    };
    let choice = |n: usize| ["A", "B", "TIE", "BOTH_BAD"][n % 4];
    let votes =
        voters.iter().zip(&matchups).enumerate().map(|(n, (voter, matchup))| voter.vote(matchup, choice(n)));
    let (answers, ()) = tokio::join!(join_all(votes), release);

    for (n, (answer, matchup)) in answers.iter().zip(&matchups).enumerate() {
        assert_eq!(answer.status, 200, "{}", answer.text());
        let reply = answer.json();
        assert_eq!(reply["choice"], choice(n));
        assert_eq!(reply["shareUrl"], format!("/matchups/{}", matchup["id"].as_str().unwrap()));
    }
    // Some of the 12 votes waited for others and were stored with them. Votes of one transaction have
    // consecutive ids.
    let neighbours =
        db.number("SELECT count(*) FROM votes one JOIN votes other ON other.id = one.id + 1").await;
    assert!(neighbours > 0, "each vote was stored in its own transaction");
    super::concurrency::assert_replayed(&db, 13).await;
}

#[tokio::test]
async fn metrics_count_the_votes_of_all_servers() {
    let (db, server) = server_with_builds().await;
    let voter = server.voter();
    for choice in ["A", "BOTH_BAD", "TIE"] {
        let matchup = voter.matchup().await;
        voter.fetch_builds(&matchup).await;
        assert_eq!(voter.vote(&matchup, choice).await.status, 200);
    }
    let other = TestServer::start_with_db(db.pool.clone()).await;

    let reply = other.voter().get("/metrics").await.text();

    for line in [
        "buildoff_votes_total 3",
        "buildoff_matchups_total 3",
        "buildoff_builds 10",
        "buildoff_database_up 1",
    ] {
        assert!(reply.lines().any(|found| found == line), "{line} is not in\n{reply}");
    }
}
