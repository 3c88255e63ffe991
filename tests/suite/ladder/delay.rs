//! Delayed results: everything public lags, and nothing else does.

use std::time::Duration;

use buildoff::arena::leaderboard::publish_shown_counts;
use buildoff::arena::{Arena, Choice, PromptFilter, ReferencePolicy};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{LadderFixture, settings, small_ladder};
use crate::support::TestServer;
use crate::support::judgements::insert_person_scores;

/// A server on the fixture's database that shows results an hour late.
async fn late_server(fixture: &LadderFixture, variables: &[(&str, &str)]) -> TestServer {
    let hour = [("RESULTS_DELAY_MINUTES", "60"), ("MIN_DWELL_MS", "0"), ("RATE_LIMITS", "off")];
    TestServer::start_with_env(fixture.db.pool.clone(), &[&hour[..], variables].concat()).await
}

async fn get_json(server: &TestServer, path: &str) -> Value {
    server.get(path).send().await.unwrap().json().await.unwrap()
}

impl LadderFixture {
    /// Votes as they stood before and after, an hour apart.
    async fn old_and_new_votes(&self) {
        for _ in 0..3 {
            self.vote("castle", "elm", "fir", Choice::A).await;
            self.vote("owl", "fir", "ash", Choice::Tie).await;
        }
        self.execute("UPDATE votes SET at = at - interval '2 hours'").await;
        for _ in 0..4 {
            self.vote("castle", "elm", "fir", Choice::B).await;
            self.vote("castle", "ash", "elm", Choice::BothBad).await;
        }
    }
}

/// What a leaderboard says of each model, without the time.
fn models(board: &Value) -> Value {
    board["models"].clone()
}

#[tokio::test]
async fn the_delayed_ladder_is_the_one_of_the_votes_of_an_hour_ago() {
    let (fixture, earlier) = (small_ladder().await, small_ladder().await);
    fixture.old_and_new_votes().await;
    for _ in 0..3 {
        earlier.vote("castle", "elm", "fir", Choice::A).await;
        earlier.vote("owl", "fir", "ash", Choice::Tie).await;
    }
    let (late, now) = (late_server(&fixture, &[]).await, &earlier.server);
    for _ in 0..2 {
        publish_shown_counts(&fixture.db.pool, Duration::ZERO).await.unwrap();
    }
    fixture.execute("UPDATE shown SET public = least(public, 3)").await;
    for path in ["/api/leaderboard", "/api/leaderboard?tag=house"] {
        let (shown, expected) = (get_json(&late, path).await, get_json(now, path).await);
        for (shown, expected) in
            models(&shown).as_array().unwrap().iter().zip(models(&expected).as_array().unwrap())
        {
            for field in ["key", "elo", "votes", "wins", "losses", "ties", "bothBad", "skill"] {
                assert_eq!(shown[field], expected[field], "{path}: {field} of {}", shown["key"]);
            }
        }
    }
    let log = late.get("/api/votes.jsonl").send().await.unwrap().text().await.unwrap();
    assert_eq!(log.lines().count(), 6);
    let pair = late.get("/leaderboard/pairs/elm/fir").send().await.unwrap();
    assert!(pair.status().is_success() || pair.status() == 404, "{}", pair.status());
}

#[tokio::test]
async fn a_pair_of_models_shows_only_published_votes() {
    let fixture = small_ladder().await;
    fixture.old_and_new_votes().await;
    let arena = Arena::new(fixture.db.pool.clone(), settings(), ReferencePolicy::Auto, Duration::ZERO)
        .with_results_delay(Duration::from_secs(3600));
    let (elm, fir) = ("elm".parse().unwrap(), "fir".parse().unwrap());
    let duel = arena.duel(&elm, &fir, &PromptFilter::default()).await.unwrap();
    assert_eq!((duel.won, duel.lost), (3, 0));
    assert_eq!(arena.votes_on_pair(&elm, &fir, &PromptFilter::default(), 0).await.unwrap().len(), 3);
    let stats = arena.stats().await.unwrap();
    assert_eq!((stats.votes, stats.voters), (6, 6));
    let all = fixture.arena.duel(&elm, &fir, &PromptFilter::default()).await.unwrap();
    assert_eq!((all.won, all.lost), (3, 4));
}

#[tokio::test]
async fn shown_counts_lag_by_at_least_the_delay() {
    let fixture = small_ladder().await;
    let public = async || fixture.db.number("SELECT sum(public)::bigint FROM shown").await;
    // The template that test databases are cloned from may be older than an hour.
    fixture.execute("UPDATE installation SET shown_held_at = now()").await;
    fixture.vote("castle", "elm", "fir", Choice::A).await;
    publish_shown_counts(&fixture.db.pool, Duration::from_secs(3600)).await.unwrap();
    assert_eq!(public().await, 0, "the hour has not passed");
    publish_shown_counts(&fixture.db.pool, Duration::ZERO).await.unwrap();
    assert_eq!(public().await, 0, "the counts are held back first");
    publish_shown_counts(&fixture.db.pool, Duration::ZERO).await.unwrap();
    assert_eq!(public().await, 2);
}

#[tokio::test]
async fn a_voters_own_reveal_is_not_delayed() {
    let fixture = small_ladder().await;
    let server = late_server(&fixture, &[]).await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;
    let answer = voter.vote(&matchup, "A").await.json();
    assert_eq!(answer["reveal"]["a"]["elo"]["after"], 1508.0);
    let board = get_json(&server, "/api/leaderboard").await;
    assert!(models(&board).as_array().unwrap().iter().all(|model| model["votes"] == 0), "{board}");
}

#[tokio::test]
async fn a_closed_arena_takes_no_votes_and_keeps_its_pages() {
    let fixture = small_ladder().await;
    let open = late_server(&fixture, &[]).await;
    let voter = open.voter();
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;

    let notice = "We are looking into unusual votes.";
    let closed = late_server(&fixture, &[("ARENA", "closed"), ("ARENA_NOTICE", notice)]).await;
    let body = json!({ "matchupId": matchup["id"], "choice": "A" });
    for request in [
        closed.get("/api/arena/matchup"),
        closed.post("/api/arena/vote").json(&body),
        closed.post("/api/arena/skip").json(&body),
    ] {
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 503);
        let error: Value = answer.json().await.unwrap();
        assert_eq!((error["code"].as_str(), error["error"].as_str()), (Some("arena_closed"), Some(notice)));
    }
    for page in ["/", "/leaderboard", "/about", "/builds", "/api/votes.csv"] {
        assert_eq!(closed.get(page).send().await.unwrap().status(), 200, "{page}");
    }
    assert_eq!(voter.send(Method::GET, "/api/arena/matchup", None).await.unwrap().status, 200);
}

#[tokio::test]
async fn what_people_say_of_a_build_is_shown_late_except_to_those_who_judged() {
    let fixture = small_ladder().await;
    let server = late_server(&fixture, &[]).await;
    let build: Uuid =
        sqlx::query_scalar("SELECT id FROM builds WHERE prompt_id = 'castle' AND model_key = 'elm'")
            .fetch_one(&fixture.db.pool)
            .await
            .unwrap();
    insert_person_scores(&fixture.db.pool, Uuid::new_v4(), build, [9.0; 4], "Mine", None).await;
    let page = async || server.voter().get(&format!("/builds/{build}")).await.text();
    assert!(page().await.contains("Nobody has judged this build yet"));

    let voter = server.voter();
    let judging = voter.get(&format!("/api/judge/next?build={build}")).await.json();
    let body = json!({ "id": judging["id"], "scores": { "task_progress": 5.0 } });
    let answer = voter.post("/api/judge", &body).await.json();
    assert_eq!(
        answer["others"]["people"]["overall"]["mean"], 9.0,
        "one's own reveal is not delayed: {answer}"
    );

    fixture.execute("UPDATE judgements SET at = at - interval '2 hours' WHERE overall = 9").await;
    let page = page().await;
    assert!(page.contains("<h3>One person <strong>9.0</strong></h3>"), "{page}");
}
