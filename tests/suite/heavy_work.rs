//! Heavy work over HTTP: a flood of requests from one address delays only that address.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use buildoff::app::App;
use buildoff::arena::builds;
use buildoff::work::WorkClient;
use reqwest::RequestBuilder;
use reqwest::header::{ACCEPT_ENCODING, COOKIE, RETRY_AFTER};
use serde_json::Value;
use tokio::task::{JoinSet, yield_now};

use crate::support::db::TestDb;
use crate::support::{TestServer, sample_spec};

/// A server that trusts `X-Forwarded-For`, so that a test can send requests from any address.
async fn server_behind_proxy(db: &TestDb) -> (TestServer, App) {
    let variables = [("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0"), ("TRUSTED_PROXIES", "127.0.0.0/8")];
    TestServer::start_with_app(db.pool.clone(), &variables).await
}

fn with_client_address(address: &str, request: RequestBuilder) -> RequestBuilder {
    request.header("x-forwarded-for", address)
}

/// Occupies all slots for heavy work; each is free again when its sender is dropped.
async fn occupy_all_slots(app: &App) -> Vec<mpsc::Sender<()>> {
    let slots = thread::available_parallelism().map_or(1, usize::from);
    let occupied = (0..slots).map(|_| {
        let (keep, kept) = mpsc::channel::<()>();
        let work = app.work.clone();
        let address = [192, 0, 2, 1].into();
        tokio::spawn(async move { work.run(WorkClient::visitor(address), move || kept.recv()).await });
        keep
    });
    let occupied = occupied.collect();
    while app.work.running() < slots {
        yield_now().await;
    }
    occupied
}

#[tokio::test]
async fn four_hundred_pictures_for_one_address_do_not_delay_others() {
    const FLOOD: &str = "198.51.100.1";
    const OTHER: &str = "203.0.113.2";
    let db = TestDb::seeded().await;
    let (server, app) = server_behind_proxy(&db).await;
    let ids = builds::ids(&db.pool).await.unwrap();
    let voter = server.voter();
    let matchup = voter.matchup().await;
    let mut slots = occupy_all_slots(&app).await;

    let mut flood = JoinSet::new();
    let drawn = Arc::new(Mutex::new(0));
    for n in 0..400 {
        let [build, angle, size] = [n % 10, n / 10 % 8, [64, 128, 256, 384, 512][n / 80]];
        let path = format!("/api/builds/{}/image?size={size}&angle={angle}", ids[build]);
        let (request, drawn) = (with_client_address(FLOOD, server.get(&path)), Arc::clone(&drawn));
        flood.spawn(async move {
            let answer = request.send().await.unwrap();
            if answer.status() == 200 {
                *drawn.lock().unwrap() += 1;
            }
            answer
        });
    }
    for _ in 0..400 - 64 {
        let refused = flood.join_next().await.unwrap().unwrap();
        assert_eq!(refused.status(), 429);
        assert!(refused.headers().contains_key(RETRY_AFTER));
        assert_eq!(refused.json::<Value>().await.unwrap()["code"], "rate_limited");
    }
    assert_eq!(app.work.waiting(), 64);

    let build = format!("/api/builds/{}", ids[0]);
    let mut visits = vec![with_client_address(OTHER, server.post("/api/check")).body(sample_spec(4))];
    for path in ["/image?size=128&background=transparent", "/export?format=schem"] {
        visits.push(with_client_address(OTHER, server.get(&format!("{build}{path}"))));
    }
    visits.push(with_client_address(OTHER, server.get("/cards/buildoff.png")));
    let mut looks = Vec::new();
    for side in ["a", "b"] {
        let url = matchup[side]["build"]["url"].as_str().unwrap();
        // These come from the address of the flood: voters have a queue of their own, so they do not wait.
        for path in [url.to_owned(), format!("{url}/image?size=128&format=png")] {
            let request = with_client_address(FLOOD, server.get(&path)).header(ACCEPT_ENCODING, "identity");
            looks.push(request.header(COOKIE, voter.cookie().unwrap()));
        }
    }
    let begin = |requests: Vec<RequestBuilder>| {
        let mut all = JoinSet::new();
        for request in requests {
            all.spawn(async move { request.send().await.unwrap().status().as_u16() });
        }
        all
    };
    // Voters have a slot of their own, so they do not even wait for the pieces that are running.
    assert_eq!(begin(looks).join_all().await, [200; 4]);
    assert_eq!(*drawn.lock().unwrap(), 0);
    let visits = begin(visits);
    while app.work.waiting() < 64 + 4 {
        yield_now().await;
    }
    // With a single slot the order of the work shows which queue is served next.
    slots.pop();
    assert_eq!(visits.join_all().await, [200; 4]);
    let before_others = *drawn.lock().unwrap();
    assert!(before_others < 24, "four requests waited for {before_others} pictures");

    flood.shutdown().await;
    while app.work.waiting() > 0 {
        yield_now().await;
    }
}

#[tokio::test]
async fn a_picture_survives_the_visitor_who_requested_it_first() {
    let db = TestDb::seeded().await;
    let (server, _) = server_behind_proxy(&db).await;
    let path = format!("/api/builds/{}/image?size=1024", builds::ids(&db.pool).await.unwrap()[0]);
    for ms in [1, 5, 20, 50, 100] {
        let gone =
            with_client_address("198.51.100.1", server.get(&path)).timeout(Duration::from_millis(ms)).send();
        let stays = with_client_address("203.0.113.2", server.get(&path)).send();
        let (_, stays) = tokio::join!(gone, stays);
        assert_eq!(stays.unwrap().status(), 200);
    }
}
