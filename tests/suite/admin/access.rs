//! Access to the admin API.

use reqwest::Method;

use crate::support::TestServer;
use crate::support::admin::TOKEN;
use crate::support::db::TestDb;

/// Every route of the admin API.
const ADDRESSES: [(&str, &str); 36] = [
    ("GET", "/api/admin/status"),
    ("GET", "/api/admin/coverage"),
    ("GET", "/api/admin/events"),
    ("GET", "/api/admin/audit"),
    ("GET", "/api/admin/votes/alarms"),
    ("POST", "/api/admin/votes/decisions"),
    ("POST", "/api/admin/seed"),
    ("POST", "/api/admin/import-build?modelKey=a&promptId=b"),
    ("GET", "/api/admin/agents"),
    ("POST", "/api/admin/agents"),
    ("PATCH", "/api/admin/agents/a"),
    ("DELETE", "/api/admin/agents/a"),
    ("POST", "/api/admin/agents/a/card"),
    ("GET", "/api/admin/agents/a/tokens"),
    ("POST", "/api/admin/agents/a/tokens"),
    ("DELETE", "/api/admin/agents/a/tokens/00000000-0000-0000-0000-000000000000"),
    ("GET", "/api/admin/models"),
    ("PUT", "/api/admin/models/a"),
    ("PATCH", "/api/admin/models/a"),
    ("DELETE", "/api/admin/models/a"),
    ("POST", "/api/admin/models/a/probe"),
    ("GET", "/api/admin/queue"),
    ("POST", "/api/admin/queue/pause"),
    ("POST", "/api/admin/queue/resume"),
    ("POST", "/api/admin/providers/a/resume"),
    ("GET", "/api/admin/prompts"),
    ("PUT", "/api/admin/prompts/a"),
    ("PATCH", "/api/admin/prompts/a"),
    ("DELETE", "/api/admin/builds/00000000-0000-0000-0000-000000000000"),
    ("POST", "/api/admin/jobs"),
    ("DELETE", "/api/admin/jobs"),
    ("GET", "/api/admin/jobs/00000000-0000-0000-0000-000000000000"),
    ("DELETE", "/api/admin/jobs/00000000-0000-0000-0000-000000000000"),
    ("GET", "/api/admin/jobs/unread"),
    ("GET", "/api/admin/jobs/00000000-0000-0000-0000-000000000000/attempts/1"),
    ("POST", "/api/admin/jobs/00000000-0000-0000-0000-000000000000/reparse"),
];

async fn request_every_address(
    server: &TestServer,
    authorization: Option<&str>,
) -> Vec<(u16, String, String)> {
    let mut answers = Vec::new();
    for (method, path) in ADDRESSES {
        let mut request = server.request(method.parse::<Method>().unwrap(), path);
        if matches!(method, "PUT" | "PATCH") {
            request = request.header("content-type", "application/json").body("{}");
        }
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        let response = request.send().await.unwrap();
        let (status, hint) =
            (response.status().as_u16(), response.headers().get("www-authenticate").cloned());
        let hint = hint.map_or(String::new(), |hint| hint.to_str().unwrap().to_owned());
        let reply: serde_json::Value = response.json().await.unwrap();
        answers.push((status, reply["code"].as_str().unwrap_or_default().to_owned(), hint));
    }
    answers
}

#[tokio::test]
async fn requests_without_the_token_are_refused_with_a_hint() {
    let db = TestDb::new().await;
    let server =
        TestServer::start_with_env(db.pool.clone(), &[("ADMIN_TOKEN", TOKEN), ("RATE_LIMITS", "off")]).await;
    let cut_short = format!("Bearer {}", &TOKEN[1..]);
    let basic = format!("Basic {TOKEN}");
    for (said, code) in [
        (None, "no_token"),
        (Some("Bearer wrong"), "bad_token"),
        (Some("Bearer "), "no_token"),
        (Some(cut_short.as_str()), "bad_token"),
        (Some(basic.as_str()), "no_token"),
    ] {
        for answer in request_every_address(&server, said).await {
            assert_eq!(answer, (401, code.to_owned(), "Bearer realm=\"buildoff\"".to_owned()), "{said:?}");
        }
    }
    assert_eq!(db.number("SELECT count(*) FROM audit").await, 0);
    assert_eq!(db.number("SELECT count(*) FROM prompts").await, 0);
}

#[tokio::test]
async fn without_a_configured_token_the_api_is_off_and_says_so() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[]).await;
    for said in [None, Some("Bearer "), Some("Bearer anything")] {
        for (status, code, _) in request_every_address(&server, said).await {
            assert_eq!((status, code.as_str()), (403, "admin_off"), "{said:?}");
        }
    }
}

#[tokio::test]
async fn the_authorization_scheme_is_case_insensitive() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("ADMIN_TOKEN", TOKEN)]).await;
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let status = server.get("/api/admin/status").header("authorization", format!("{scheme} {TOKEN}"));
        assert_eq!(status.send().await.unwrap().status(), 200, "{scheme}");
    }
}

#[tokio::test]
async fn another_site_cannot_act_for_an_admin() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("ADMIN_TOKEN", TOKEN)]).await;
    let seed = server
        .post("/api/admin/seed?generateBuilds=0")
        .header("sec-fetch-site", "cross-site")
        .bearer_auth(TOKEN)
        .send()
        .await
        .unwrap();
    assert_eq!(seed.status(), 403);
    assert_eq!(db.number("SELECT count(*) FROM prompts").await, 0);
}

/// A client of the admin API behind a trusted proxy, from this address.
async fn ask_from(server: &TestServer, address: &str, token: &str) -> u16 {
    let request = server.get("/api/admin/models").header("x-forwarded-for", address).bearer_auth(token);
    request.send().await.unwrap().status().as_u16()
}

async fn guess_until_limited(server: &TestServer, address: impl Fn(usize) -> String) -> usize {
    for guess in 0..200 {
        if ask_from(server, &address(guess), "guess").await == 429 {
            return guess;
        }
    }
    panic!("200 wrong tokens were looked at");
}

async fn proxied_server(db: &TestDb) -> TestServer {
    let variables = [("ADMIN_TOKEN", TOKEN), ("TRUSTED_PROXIES", "127.0.0.0/8")];
    TestServer::start_with_env(db.pool.clone(), &variables).await
}

#[tokio::test]
async fn a_network_that_guesses_is_limited_even_with_the_right_token_and_others_are_not() {
    let db = TestDb::new().await;
    let server = proxied_server(&db).await;
    let guesses = guess_until_limited(&server, |guess| format!("198.51.100.{guess}")).await;
    assert!((20..40).contains(&guesses), "{guesses} guesses at once");
    let refused =
        server.get("/api/admin/models").header("x-forwarded-for", "198.51.100.250").bearer_auth(TOKEN);
    let refused = refused.send().await.unwrap();
    assert_eq!(refused.status(), 429, "the right token must not pass while its network is limited");
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(ask_from(&server, "198.51.101.1", TOKEN).await, 200);
}

#[tokio::test]
async fn guesses_from_an_ipv6_network_count_by_its_64_and_by_its_48() {
    let db = TestDb::new().await;
    let server = proxied_server(&db).await;
    let in_one_64 = guess_until_limited(&server, |guess| format!("2001:db8:1:1::{guess:x}")).await;
    assert!((20..40).contains(&in_one_64), "{in_one_64} guesses at once from a /64");
    assert_eq!(ask_from(&server, "2001:db8:1:2::1", TOKEN).await, 200, "another /64 is not limited yet");
    let in_one_48 = guess_until_limited(&server, |guess| format!("2001:db8:1:{:x}::1", guess + 0x100)).await;
    assert!((40..120).contains(&in_one_48), "{in_one_48} more guesses at once from the /48");
    assert_eq!(ask_from(&server, "2001:db8:1:ffff::1", TOKEN).await, 429);
    assert_eq!(ask_from(&server, "2001:db8:2:1::1", TOKEN).await, 200);
}

#[tokio::test]
async fn guesses_at_the_api_and_at_the_console_count_apart() {
    let db = TestDb::new().await;
    let server = proxied_server(&db).await;
    let sign_in = async |token: &str| {
        let form = server.post("/admin/session").header("x-forwarded-for", "198.51.100.1");
        let form = form.header("content-type", "application/x-www-form-urlencoded");
        form.body(format!("token={token}")).send().await.unwrap().status().as_u16()
    };
    guess_until_limited(&server, |_| "198.51.100.1".to_owned()).await;
    assert_eq!(sign_in(TOKEN).await, 303, "guesses at the API must not close the console");
    let mut wrong = 0;
    while sign_in("guess").await != 429 {
        wrong += 1;
        assert!(wrong < 200, "200 wrong tokens were looked at");
    }
    assert_eq!(sign_in(TOKEN).await, 429);
    assert_eq!(ask_from(&server, "203.0.113.1", TOKEN).await, 200);
}

#[tokio::test]
async fn the_right_token_may_be_used_as_often_as_one_likes() {
    let db = TestDb::new().await;
    let server = proxied_server(&db).await;
    for _ in 0..100 {
        assert_eq!(ask_from(&server, "198.51.100.1", TOKEN).await, 200);
    }
}
