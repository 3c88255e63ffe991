//! Access to the admin API.

use reqwest::Method;

use crate::support::TestServer;
use crate::support::admin::TOKEN;
use crate::support::db::TestDb;

/// Every route of the admin API.
const ADDRESSES: [(&str, &str); 20] = [
    ("GET", "/api/admin/status"),
    ("GET", "/api/admin/coverage"),
    ("GET", "/api/admin/events"),
    ("GET", "/api/admin/audit"),
    ("POST", "/api/admin/seed"),
    ("POST", "/api/admin/import-build?modelKey=a&promptId=b"),
    ("GET", "/api/admin/models"),
    ("PUT", "/api/admin/models/a"),
    ("PATCH", "/api/admin/models/a"),
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

#[tokio::test]
async fn wrong_tokens_are_rate_limited_and_the_right_one_is_not() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("ADMIN_TOKEN", TOKEN)]).await;
    let ask = async |token: &str| {
        server.get("/api/admin/models").bearer_auth(token).send().await.unwrap().status().as_u16()
    };
    let mut guesses = 0;
    while ask("guess").await == 401 {
        guesses += 1;
    }
    assert_eq!(ask("guess").await, 429);
    assert!((10..40).contains(&guesses), "{guesses} guesses at once");
    assert_eq!(ask(TOKEN).await, 200);
}
