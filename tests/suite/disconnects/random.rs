//! Many concurrent visitors who disconnect at random moments, on every kind of route.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::time::Duration;

use buildoff::arena::replay;
use futures_util::future::join_all;
use hyper::Method;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{APPLICATION_NAME, metric, server_far_from_db, wait_until_no_requests};
use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::voter::TestResponse;
use crate::support::{AbortableRequest, CHOICES, TestServer, sample_spec};

const VISITORS: usize = 24;
const REQUESTS: usize = 2000;

/// The limit of the program's connection pool.
const MAX_CONNECTIONS: i64 = 16;

/// The longest acceptable response time for a new visitor afterwards.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// A visitor who sends random requests and seldom waits for the response.
struct RandomVisitor {
    base_url: String,
    rng: StdRng,
    builds: Vec<String>,
    cookie: Option<String>,
    /// The open matchup, if the visitor has received one.
    matchup: Option<String>,
    draft: Option<String>,
    /// The matchup and choice of each vote whose 200 response was received completely.
    acknowledged: Vec<(String, String)>,
    /// The number of responses by status; 0 stands for aborted requests.
    answers: BTreeMap<u16, usize>,
}

impl RandomVisitor {
    async fn make_requests(mut self, count: usize) -> Self {
        for _ in 0..count {
            match self.rng.random_range(0..10) {
                0..5 => self.vote_or_skip().await,
                5..8 => self.browse().await,
                8 => self.use_admin_api().await,
                _ => self.use_the_sandbox().await,
            }
        }
        self
    }

    /// Sends a request, and aborts it at a random moment or waits for the response.
    async fn send(&mut self, mut request: AbortableRequest) -> Option<TestResponse> {
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        let description = request.to_string();
        let answer = if self.rng.random_bool(0.5) {
            request.send(&self.base_url).await
        } else {
            // The logarithm is uniform, so every order of magnitude is as likely as any other.
            let ms = 10_f64.powf(self.rng.random_range(-1.0..2.3));
            request.send_with_timeout(&self.base_url, Duration::from_secs_f64(ms / 1000.0)).await
        };
        if let Some(answer) = answer.as_ref().filter(|answer| answer.status >= 500) {
            eprintln!(
                "{description} is answered {}: {}",
                answer.status,
                String::from_utf8_lossy(&answer.bytes)
            );
        }
        *self.answers.entry(answer.as_ref().map_or(0, |answer| answer.status)).or_default() += 1;
        if let Some(cookie) = answer.as_ref().and_then(TestResponse::cookie) {
            self.cookie = Some(cookie);
        }
        answer
    }

    /// One request of the arena, with or without script.
    async fn vote_or_skip(&mut self) {
        let Some(id) = self.matchup.clone() else { return self.request_matchup().await };
        let choice = *CHOICES.choose(&mut self.rng).unwrap();
        match self.rng.random_range(0..10) {
            0 => drop(self.send(AbortableRequest::get(format!("/api/arena/matchup/{id}/a"))).await),
            1 => drop(self.send(AbortableRequest::get(format!("/api/arena/matchup/{id}/b"))).await),
            2 => drop(
                self.send(AbortableRequest::get(format!("/api/arena/matchup/{id}/a/image?size=64"))).await,
            ),
            3 => drop(self.send(AbortableRequest::get(format!("/matchups/{id}"))).await),
            4 => {
                let skip = AbortableRequest::json("/api/arena/skip", &json!({ "matchupId": id }));
                self.matchup = self.send(skip).await.map_or(Some(id), |_| None);
            }
            5 => {
                self.send(AbortableRequest::form(format!("/matchups/{id}/skip"), "")).await;
                self.matchup = None;
            }
            6 => {
                let vote =
                    AbortableRequest::form(format!("/matchups/{id}/vote"), &format!("choice={choice}"));
                if self.send(vote).await.is_some_and(|answer| answer.status == 303) {
                    self.matchup = None;
                }
            }
            _ => {
                let vote = json!({ "matchupId": id, "choice": choice });
                let Some(answer) = self.send(AbortableRequest::json("/api/arena/vote", &vote)).await else {
                    return;
                };
                if answer.status == 200 {
                    self.acknowledged.push((id, choice.to_owned()));
                }
                self.matchup = None;
            }
        }
    }

    async fn request_matchup(&mut self) {
        if self.rng.random_bool(0.2) {
            let Some(answer) = self.send(AbortableRequest::form("/matchup", "")).await else { return };
            self.matchup = answer.header("location").strip_prefix("/matchups/").map(str::to_owned);
            return;
        }
        let Some(answer) = self.send(AbortableRequest::get("/api/arena/matchup")).await else { return };
        self.matchup = (answer.status == 200).then(|| answer.json()["id"].as_str().unwrap().to_owned());
        if answer.status == 409 {
            // This visitor has seen every pair; continue as a new one.
            self.cookie = None;
        }
    }

    async fn browse(&mut self) {
        let build = self.builds.choose(&mut self.rng).unwrap().clone();
        let one = self.builds[0].clone();
        let size = *[64, 65, 66, 67].choose(&mut self.rng).unwrap();
        let paths = [
            "/leaderboard".to_owned(),
            "/api/leaderboard".to_owned(),
            "/api/leaderboard?tag=vehicle".to_owned(),
            "/leaderboard/pairs".to_owned(),
            "/models/reference_architect".to_owned(),
            "/api/models/reference_sculptor".to_owned(),
            "/about".to_owned(),
            "/builds".to_owned(),
            "/prompts".to_owned(),
            "/me".to_owned(),
            "/api/votes.jsonl".to_owned(),
            "/api/judgements.jsonl".to_owned(),
            "/judges".to_owned(),
            format!("/builds/{build}"),
            format!("/api/builds/{build}/export?format=vox"),
            format!("/api/builds/{build}/image?size={size}"),
            format!("/cards/builds/{one}.png"),
            format!("/api/builds/{one}/turntable?format=webp"),
        ];
        let path = paths.choose(&mut self.rng).unwrap();
        self.send(AbortableRequest::get(path.as_str())).await;
    }

    async fn use_admin_api(&mut self) {
        let bearer = format!("Bearer {TOKEN}");
        let number = self.rng.random_range(1..100);
        let request = match self.rng.random_range(0..6) {
            0 => {
                let path = "/api/admin/import-build?overwrite=1&modelKey=openai_gpt_5_5&promptId=lighthouse";
                AbortableRequest::post(path, "text/plain", sample_spec(number % 10))
                    .header("authorization", bearer)
            }
            1 => AbortableRequest::post("/api/admin/seed?dryRun=1", "", "").header("authorization", bearer),
            2 => AbortableRequest::json(
                "/api/admin/models/openai_gpt_5_5",
                &json!({ "displayName": format!("GPT {number}") }),
            )
            .method(Method::PATCH)
            .header("authorization", bearer),
            3 => AbortableRequest::get("/api/admin/status").header("authorization", bearer),
            4 => AbortableRequest::form("/admin/session", &format!("token={TOKEN}")),
            _ => AbortableRequest::form("/admin/sign-out", ""),
        };
        self.send(request).await;
    }

    async fn use_the_sandbox(&mut self) {
        let storeys = self.rng.random_range(0..10);
        let request = match (self.rng.random_range(0..4), &self.draft) {
            (0, _) | (_, None) => {
                AbortableRequest::post("/api/sandbox/drafts", "text/plain", sample_spec(storeys))
            }
            (1, Some(draft)) => AbortableRequest::json("/api/sandbox/runs", &json!({ "a": draft })),
            (2, Some(draft)) => AbortableRequest::get(format!("/api/sandbox/drafts/{draft}/grid")),
            _ => AbortableRequest::post("/api/check", "text/plain", sample_spec(storeys)),
        };
        let Some(answer) = self.send(request).await.filter(|answer| answer.status == 200) else { return };
        let reply: Value = serde_json::from_slice(&answer.bytes).unwrap_or_default();
        if let Some(draft) = reply["draftId"].as_str() {
            self.draft = Some(draft.to_owned());
        }
        if let Some(run) = reply["url"].as_str().filter(|url| url.starts_with("/sandbox/runs/")) {
            self.send(AbortableRequest::form(format!("{run}/delete"), "")).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_two_thousand_aborted_requests_the_site_still_responds() {
    let seed: u64 = env::var("LEAVING_SEED").map_or_else(|_| rand::random(), |seed| seed.parse().unwrap());
    eprintln!("LEAVING_SEED={seed}");
    let db = TestDb::seeded().await;
    let (_proxy, server) = server_far_from_db(&db).await;
    let builds: Vec<String> =
        sqlx::query_scalar("SELECT id::text FROM builds ORDER BY id").fetch_all(&db.pool).await.unwrap();

    let visitors = (0..VISITORS).map(|number| {
        let visitor = RandomVisitor {
            base_url: server.url.clone(),
            rng: StdRng::seed_from_u64(seed ^ number as u64),
            builds: builds.clone(),
            cookie: None,
            matchup: None,
            draft: None,
            acknowledged: Vec::new(),
            answers: BTreeMap::new(),
        };
        tokio::spawn(visitor.make_requests(REQUESTS / VISITORS))
    });
    let begun = Instant::now();
    let visitors: Vec<RandomVisitor> = join_all(visitors).await.into_iter().map(Result::unwrap).collect();
    let mut answers = BTreeMap::<u16, usize>::new();
    for (status, count) in visitors.iter().flat_map(|visitor| &visitor.answers) {
        *answers.entry(*status).or_default() += count;
    }
    eprintln!("{:.1} s; answers by status, 0 for none: {answers:?}", begun.elapsed().as_secs_f64());
    assert!(answers.keys().all(|status| *status < 500), "{answers:?}");
    assert!(answers[&0] > REQUESTS / 5 && answers[&200] > REQUESTS / 5, "{answers:?}");

    assert_new_visitor_is_served(&server).await;
    wait_until_no_requests(&server).await;
    wait_until_idle(&db, &server).await;
    let acknowledged: Vec<_> = visitors.into_iter().flat_map(|visitor| visitor.acknowledged).collect();
    assert!(acknowledged.len() > 20, "only {} votes were acknowledged", acknowledged.len());
    assert_stored(&db, acknowledged).await;
}

async fn assert_new_visitor_is_served(server: &TestServer) {
    let begun = Instant::now();
    let served = tokio::time::timeout(IDLE_TIMEOUT, async {
        let voter = server.voter();
        let matchup = voter.matchup().await;
        voter.fetch_builds(&matchup).await;
        let vote = voter.vote(&matchup, "TIE").await;
        assert_eq!(vote.status, 200, "{}", vote.text());
    });
    served.await.unwrap_or_else(|_| panic!("a new visitor has waited for {:?}", begun.elapsed()));
}

/// Waits until no transaction is open, no connection exceeds the pool, and no heavy work is left.
async fn wait_until_idle(db: &TestDb, server: &TestServer) {
    let begun = Instant::now();
    loop {
        let states: Vec<Option<String>> = sqlx::query_scalar(
            "SELECT state FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1",
        )
        .bind(APPLICATION_NAME)
        .fetch_all(&db.pool)
        .await
        .unwrap();
        let waiting = metric(server, r#"buildoff_heavy_work{state="waiting"} "#).await;
        let running = metric(server, r#"buildoff_heavy_work{state="running"} "#).await;
        let busy: Vec<_> = states.iter().flatten().filter(|state| *state != "idle").collect();
        if busy.is_empty() && states.len() as i64 <= MAX_CONNECTIONS && waiting + running == 0 {
            return;
        }
        assert!(
            begun.elapsed() < IDLE_TIMEOUT,
            "connections: {states:?}; heavy work: {running} running, {waiting} waiting"
        );
        sleep(Duration::from_millis(50)).await;
    }
}

/// Asserts that every acknowledged vote is stored as cast, and that every stored vote is complete.
async fn assert_stored(db: &TestDb, acknowledged: Vec<(String, String)>) {
    let stored: Vec<(String, String)> =
        sqlx::query_as("SELECT matchup_id::text, choice FROM votes").fetch_all(&db.pool).await.unwrap();
    let stored: BTreeSet<_> = stored.into_iter().collect();
    let lost: Vec<_> = acknowledged.iter().filter(|vote| !stored.contains(*vote)).collect();
    assert!(lost.is_empty(), "acknowledged votes are not stored: {lost:?}");
    let audit = replay::verify(&db.pool).await.unwrap();
    assert!(audit.is_clean(), "{:?}", audit.first);
    assert_eq!(audit.replay.votes, stored.len() as u64);
}
