//! Budgets: how many votes of a voter and of a network count.

use serde_json::Value;

use crate::support::TestServer;
use crate::support::db::TestDb;

use super::insert_identical_builds;

/// A server with this budget, and with four models on many prompts.
async fn server_with_budget(db: &TestDb, name: &str, budget: &str) -> TestServer {
    let variables = [(name, budget), ("MIN_DWELL_MS", "0"), ("RATE_LIMITS", "off")];
    TestServer::start_with_env(db.pool.clone(), &variables).await
}

/// Casts this many votes as one voter, each answered as if it counted.
async fn cast_votes(server: &TestServer, votes: usize) {
    let voter = server.voter();
    for _ in 0..votes {
        let matchup = voter.matchup().await;
        voter.fetch_builds(&matchup).await;
        let answer = voter.vote(&matchup, "A").await;
        assert_eq!(answer.status, 200);
        let elo = &answer.json()["reveal"]["a"]["elo"];
        assert!(elo["after"].as_f64() > elo["before"].as_f64(), "{elo}");
    }
}

async fn exclusions(server: &TestServer) -> Vec<Value> {
    let log = server.get("/api/votes.jsonl").send().await.unwrap().text().await.unwrap();
    log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["exclusion"].clone()).collect()
}

#[tokio::test]
async fn votes_beyond_a_voters_budget_are_kept_and_answered_and_do_not_count() {
    let db = TestDb::seeded().await;
    insert_identical_builds(&db, 4, 4).await;
    let server = server_with_budget(&db, "VOTER_VOTES_PER_DAY", "3").await;
    cast_votes(&server, 5).await;
    cast_votes(&server, 2).await;

    let expected = [false, false, false, true, true, false, false];
    let over = exclusions(&server).await;
    assert_eq!(over, expected.map(|over| if over { "over_budget".into() } else { Value::Null }));
    assert_eq!(db.number("SELECT sum(wins + losses + ties)::bigint FROM ratings").await, 2 * 5);
    assert_eq!(db.number("SELECT sum(a + b + tie + both_bad)::bigint FROM tallies").await, 5);
    assert_eq!(db.number("SELECT sum(first_votes)::bigint FROM tallies").await, 2);
}

#[tokio::test]
async fn two_servers_share_the_budget_of_a_network() {
    let db = TestDb::seeded().await;
    insert_identical_builds(&db, 4, 4).await;
    for _ in 0..2 {
        let server = server_with_budget(&db, "NETWORK_VOTES_PER_DAY", "3").await;
        cast_votes(&server, 2).await;
    }
    assert_eq!(db.number("SELECT count(*) FROM votes WHERE exclusion = 'over_budget'").await, 1);
    assert_eq!(db.number("SELECT count(DISTINCT network) FROM votes").await, 1);
}

#[tokio::test]
async fn one_network_moves_no_model_by_more_than_its_points() {
    let db = TestDb::seeded().await;
    insert_identical_builds(&db, 4, 8).await;
    let server = server_with_budget(&db, "NETWORK_ELO_POINTS", "10").await;
    for _ in 0..8 {
        cast_votes(&server, 4).await;
    }
    assert_eq!(db.number("SELECT count(*) FROM votes").await, 32);
    assert_eq!(db.number("SELECT count(*) FROM ratings WHERE abs(elo - 1500) > 10").await, 0);
}
