//! Heavy work over HTTP: who floods the site waits, and nobody else does.

use std::time::Duration;

use buildoff::arena::builds;
use reqwest::RequestBuilder;
use reqwest::header::{ACCEPT_ENCODING, COOKIE, RETRY_AFTER};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::support::db::TestDb;
use crate::support::{Site, hut};

/// A site behind a proxy, which says where requests come from.
async fn behind_a_proxy(db: &TestDb) -> Site {
    let variables = [("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0"), ("TRUSTED_PROXIES", "127.0.0.0/8")];
    Site::open_as(db.pool.clone(), &variables).await
}

fn from(address: &str, request: RequestBuilder) -> RequestBuilder {
    request.header("x-forwarded-for", address)
}

/// Pieces of heavy work that wait.
async fn waiting(site: &Site) -> usize {
    let metrics = site.get("/metrics").send().await.unwrap().text().await.unwrap();
    let line = metrics.lines().find_map(|line| line.strip_prefix(r#"buildoff_heavy_work{state="waiting"} "#));
    line.unwrap().parse().unwrap()
}

#[tokio::test]
async fn four_hundred_pictures_for_one_address_keep_nobody_else_waiting() {
    let db = TestDb::seeded().await;
    let site = behind_a_proxy(&db).await;
    let ids = builds::ids(&db.pool).await.unwrap();
    let voter = site.voter();
    let matchup = voter.matchup().await;

    let mut flood = JoinSet::new();
    for n in 0..400 {
        let [build, angle, size] = [n % 10, n / 10 % 8, [1024, 768, 512, 384, 256][n / 80]];
        let path = format!("/api/builds/{}/image?size={size}&angle={angle}", ids[build]);
        let request = from("198.51.100.1", site.get(&path));
        flood.spawn(async move { request.send().await.unwrap() });
    }
    // Whoever is sent away is so because the queue of that address is full.
    let refused = loop {
        let answer = flood.join_next().await.expect("some are too many").unwrap();
        if answer.status() != 200 {
            break answer;
        }
    };
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key(RETRY_AFTER));
    assert_eq!(refused.json::<Value>().await.unwrap()["code"], "rate_limited");

    let other = "198.51.100.2";
    let check = from(other, site.post("/api/check")).body(hut(4)).send().await.unwrap();
    assert_eq!(check.status(), 200);
    let picture = format!("/api/builds/{}/image?size=128&background=transparent", ids[0]);
    assert_eq!(from(other, site.get(&picture)).send().await.unwrap().status(), 200);
    let export = format!("/api/builds/{}/export?format=schem", ids[0]);
    assert_eq!(from(other, site.get(&export)).send().await.unwrap().status(), 200);
    assert_eq!(from(other, site.get("/cards/buildoff.png")).send().await.unwrap().status(), 200);
    let left = waiting(&site).await;
    assert!(left > 32, "the flood had to wait for others, and not the other way around: {left} left");

    for side in ["a", "b"] {
        let url = matchup[side]["build"]["url"].as_str().unwrap();
        // From the very address of the flood, as voters have a queue of their own.
        for path in [url.to_owned(), format!("{url}/image?size=128")] {
            let request = from("198.51.100.1", site.get(&path)).header(ACCEPT_ENCODING, "identity");
            let answer = request.header(COOKIE, voter.cookie().unwrap()).send().await.unwrap();
            assert_eq!(answer.status(), 200, "{path}");
        }
    }
    let left = waiting(&site).await;
    assert!(left > 24, "a voter does not wait for pictures: {left} left");

    flood.shutdown().await;
    while waiting(&site).await > 0 {}
}

#[tokio::test]
async fn whoever_hangs_up_leaves_the_picture_to_others() {
    let db = TestDb::seeded().await;
    let site = behind_a_proxy(&db).await;
    let path = format!("/api/builds/{}/image?size=1024", builds::ids(&db.pool).await.unwrap()[0]);
    for ms in [1, 5, 20, 50, 100] {
        let gone = from("198.51.100.1", site.get(&path)).timeout(Duration::from_millis(ms)).send();
        let stays = from("198.51.100.2", site.get(&path)).send();
        let (_, stays) = tokio::join!(gone, stays);
        assert_eq!(stays.unwrap().status(), 200);
    }
}
