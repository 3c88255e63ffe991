//! No acknowledged vote is lost under load, on several servers, or in a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use buildoff::arena::Choice;
use buildoff::arena::elo::{Standing, apply_vote};
use reqwest::Method;
use serde_json::{Value, json};

use super::insert_identical_builds;
use crate::support::db::TestDb;
use crate::support::{TestServerProcess, TestVoter};

type ReplayedVoteRow = (String, String, String, f64, f64, f64, f64);

/// Replays the votes in the order of their ids, and compares the ratings bit by bit.
pub async fn assert_replayed(db: &TestDb, votes: usize) {
    let rows: Vec<ReplayedVoteRow> = sqlx::query_as(
        "SELECT model_a, model_b, choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after
         FROM votes JOIN matchups ON matchups.id = matchup_id ORDER BY votes.id",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert_eq!(rows.len(), votes);
    let mut standings = BTreeMap::new();
    for (a, b, choice, a_before, a_after, b_before, b_after) in rows {
        let standing = |key| standings.get(key).copied().unwrap_or(Standing::NEW);
        let before = (standing(&a), standing(&b));
        let after = apply_vote(before.0, before.1, choice.parse::<Choice>().unwrap());
        let bits = [before.0.elo, after.0.elo, before.1.elo, after.1.elo].map(f64::to_bits);
        assert_eq!(bits, [a_before, a_after, b_before, b_after].map(f64::to_bits));
        standings.insert(a, after.0);
        standings.insert(b, after.1);
    }
    let stored: Vec<(String, f64, i64, i64, i64, i64)> =
        sqlx::query_as("SELECT model_key, elo, wins, losses, ties, both_bad FROM ratings ORDER BY model_key")
            .fetch_all(&db.pool)
            .await
            .unwrap();
    let stored: BTreeMap<_, _> = stored
        .into_iter()
        .map(|(key, elo, wins, losses, ties, both_bad)| (key, Standing { elo, wins, losses, ties, both_bad }))
        .collect();
    assert_eq!(stored, standings);
}

/// Casts the votes of one session, each retried at either server until it is acknowledged. Returns the
/// matchups of the acknowledged votes.
async fn vote_until_acknowledged(
    voter: TestVoter,
    urls: [String; 2],
    votes: usize,
    done: Arc<AtomicUsize>,
) -> Vec<(String, String)> {
    let mut acknowledged = Vec::new();
    let mut current = 0;
    while acknowledged.len() < votes {
        let client = voter.with_base_url(&urls[current]);
        let Some(matchup) = request_json(&client, Method::GET, "/api/arena/matchup", None).await else {
            current = 1 - current;
            continue;
        };
        let choice = ["A", "B", "TIE", "BOTH_BAD"][acknowledged.len() % 4];
        let body = json!({ "matchupId": matchup["id"], "choice": choice });
        let Some(reply) = request_json(&client, Method::POST, "/api/arena/vote", Some(&body)).await else {
            current = 1 - current;
            continue;
        };
        // If the response to an earlier try was lost, this is the reveal of that vote.
        let choice = reply["choice"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned();
        acknowledged.push((matchup["id"].as_str().unwrap().to_owned(), choice));
        done.fetch_add(1, Ordering::SeqCst);
        current = acknowledged.len() % 2;
    }
    acknowledged
}

/// `None` if there was no complete response.
async fn request_json(voter: &TestVoter, method: Method, path: &str, body: Option<&Value>) -> Option<Value> {
    let answer = voter.send(method, path, body).await.ok()?;
    assert!(matches!(answer.status, 200 | 409), "{path}: {} {}", answer.status, answer.text());
    Some(answer.json())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_votes_survive_the_death_of_one_of_two_servers_and_replay() {
    const SESSIONS: usize = 50;
    const EACH: usize = 40;
    let db = TestDb::seeded().await;
    insert_identical_builds(&db, 8, 6).await;
    let (mut first, second) = (TestServerProcess::start(&db, &[]), TestServerProcess::start(&db, &[]));
    let urls = [first.url.clone(), second.url.clone()];
    let done = Arc::new(AtomicUsize::new(0));

    // Sessions start while both servers are running.
    let mut voters = Vec::new();
    for n in 0..SESSIONS {
        let voter = TestVoter::new(&urls[n % 2]);
        voter.matchup().await;
        voters.push(tokio::spawn(vote_until_acknowledged(voter, urls.clone(), EACH, Arc::clone(&done))));
    }
    while done.load(Ordering::SeqCst) < SESSIONS * EACH / 2 {
        tokio::task::yield_now().await;
    }
    first.kill();

    let mut acknowledged = BTreeSet::new();
    for voter in voters {
        acknowledged.extend(voter.await.unwrap());
    }
    assert_eq!(acknowledged.len(), SESSIONS * EACH);
    let stored: Vec<(String, String)> =
        sqlx::query_as("SELECT matchup_id::text, choice FROM votes").fetch_all(&db.pool).await.unwrap();
    let stored: BTreeSet<_> = stored.into_iter().collect();
    let missing: Vec<_> = acknowledged.difference(&stored).collect();
    assert_eq!(missing, Vec::<&(String, String)>::new(), "an acknowledged vote is not stored as it was cast");
    assert_replayed(&db, stored.len()).await;
    let voted = db.number("SELECT count(*) FROM votes").await;
    assert_eq!(db.number("SELECT sum(first_votes) FROM tallies").await, SESSIONS as i64);
    assert_eq!(db.number("SELECT sum(a + b + tie + both_bad) FROM tallies").await, voted);
}
