//! Limits: no vote without looking, too fast, too often, or from another site.

use buildoff::db::Sessions;
use reqwest::Method;
use serde_json::json;
use tower_sessions::SessionStore;

use crate::support::TestServer;
use crate::support::db::TestDb;

#[tokio::test]
async fn a_vote_before_both_builds_were_fetched_is_too_soon() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("MIN_DWELL_MS", "60000")]).await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    let too_soon = async |when: &str| {
        let answer = voter.vote(&matchup, "A").await;
        assert_eq!((answer.status, answer.code().as_str()), (429, "too_soon"), "{when}");
        let seconds: u64 = answer.header("retry-after").parse().unwrap();
        let ms = answer.json()["retryAfterMs"].as_u64().unwrap();
        assert!(ms <= 60_000 && seconds == ms.div_ceil(1000).max(1), "{seconds} s, {ms} ms");
    };
    too_soon("nothing fetched").await;
    for side in ["a", "b"] {
        let url = matchup[side]["build"]["url"].as_str().unwrap();
        assert_eq!(voter.send(Method::HEAD, url, None).await.unwrap().status, 200);
        assert_eq!(voter.get(&format!("{url}/image?size=1")).await.status, 400);
    }
    assert_eq!(
        db.number("SELECT count(*) FROM open_matchups WHERE num_nulls(fetched_a, fetched_b) < 2").await,
        0
    );
    voter.get(matchup["a"]["build"]["url"].as_str().unwrap()).await;
    db.run("UPDATE open_matchups SET fetched_a = fetched_a - interval '5 minutes'").await;
    too_soon("one fetched").await;
    // Fetching a picture counts as looking, since browsers without WebGL show nothing else.
    let picture = format!("{}/image?angle=2&size=64", matchup["b"]["build"]["url"].as_str().unwrap());
    assert_eq!(voter.get(&picture).await.header("content-type"), "image/webp");
    too_soon("both fetched a moment ago").await;
    db.run("UPDATE open_matchups SET fetched_b = fetched_b - interval '61 seconds'").await;
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
    assert_eq!(db.number("SELECT count(*) FROM votes WHERE dwell_ms BETWEEN 61000 AND 90000").await, 1);
}

#[tokio::test]
async fn dwell_time_starts_at_the_first_fetch_and_is_not_reset() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("MIN_DWELL_MS", "60000")]).await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;
    db.run("UPDATE open_matchups SET fetched_a = now() - interval '2 minutes', fetched_b = now() - interval '2 minutes'").await;
    voter.fetch_builds(&matchup).await;
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
}

#[tokio::test]
async fn too_many_requests_get_retry_after() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("MIN_DWELL_MS", "0")]).await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    let mut answers = Vec::new();
    for _ in 0..25 {
        answers.push(voter.vote(&matchup, "A").await);
    }
    assert_eq!(answers[0].status, 200);
    let last = answers.last().unwrap();
    assert_eq!((last.status, last.code().as_str()), (429, "rate_limited"));
    let seconds: u64 = last.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&seconds));
    let sentence = last.json()["error"].as_str().unwrap().to_owned();
    assert!(sentence.contains(&format!("{seconds} second")), "{sentence}");
    assert_eq!(
        server.voter().get("/api/arena/matchup").await.status,
        200,
        "other visitors must not be limited"
    );
}

#[tokio::test]
async fn skipping_is_rate_limited_in_all_its_forms() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[]).await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    let mut skips = 0;
    let refused = loop {
        let answer = voter.skip(&matchup).await;
        if answer.status != 204 {
            break answer;
        }
        skips += 1;
    };
    assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limited"));
    assert!((10..20).contains(&skips), "{skips} skips at once");

    // Requesting another prompt also skips the open matchup.
    let open = voter.matchup().await;
    let prompts = ["lighthouse", "pirate-ship", "sleeping-dragon", "steam-locomotive", "treehouse"];
    let others = prompts.into_iter().filter(|prompt| open["prompt"]["id"] != *prompt);
    let mut answers = Vec::new();
    for prompt in others {
        answers.push(voter.matchup_on(prompt).await);
    }
    assert!(answers.iter().any(|answer| answer.status == 429 && answer.code() == "rate_limited"));
    let open = voter.matchup().await;
    let same = voter.matchup_on(open["prompt"]["id"].as_str().unwrap()).await;
    assert_eq!(same.status, 200, "requesting the open matchup is no skip");
}

#[tokio::test]
async fn new_sessions_are_limited_by_address_and_only_trusted_proxies_set_it() {
    let db = TestDb::seeded().await;
    let visits = async |server: &TestServer| {
        let mut statuses = Vec::new();
        for n in 0..40 {
            let request =
                server.get("/api/arena/matchup").header("x-forwarded-for", format!("198.51.100.{n}"));
            statuses.push(request.send().await.unwrap().status().as_u16());
        }
        statuses.iter().filter(|status| **status == 429).count()
    };
    let plain = TestServer::start_with_env(db.pool.clone(), &[]).await;
    assert!(visits(&plain).await >= 5);
    let proxied = TestServer::start_with_env(db.pool.clone(), &[("TRUSTED_PROXIES", "127.0.0.0/8")]).await;
    assert_eq!(visits(&proxied).await, 0);
}

#[tokio::test]
async fn a_form_on_another_site_cannot_vote() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    let request = server
        .post("/api/arena/vote")
        .header("cookie", voter.cookie().unwrap())
        .header("sec-fetch-site", "cross-site")
        .json(&json!({ "matchupId": matchup["id"], "choice": "A" }));
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 403);
    assert_eq!(answer.json::<serde_json::Value>().await.unwrap()["code"], "cross_site");
    assert_eq!(db.number("SELECT count(*) FROM votes").await, 0);
}

#[tokio::test]
async fn expired_sessions_are_unknown_and_deleted() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    db.run("UPDATE sessions SET expires_at = now() - interval '1 second'").await;
    let elsewhere = TestServer::start_with_db(db.pool.clone()).await;
    assert_eq!(voter.with_base_url(&elsewhere.url).vote(&matchup, "A").await.status, 404);
    let sessions = Sessions::new(db.pool.clone());
    assert!(sessions.load(&tower_sessions::session::Id::default()).await.unwrap().is_none());
    assert_eq!(sessions.purge().await.unwrap(), 1);
    assert_eq!(db.number("SELECT count(*) FROM sessions").await, 0);
}
