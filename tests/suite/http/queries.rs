//! Pages accept any query string, since sites that share a link may add parameters to it.

use std::collections::BTreeSet;

use buildoff::web;
use reqwest::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};

use super::*;
use crate::support::admin::TOKEN;
use crate::support::db::TestDb;

/// Query strings that no form of the site sends.
fn hostile_queries() -> Vec<String> {
    let known = [
        "a", "angle", "b", "before", "build", "grid", "model", "next", "order", "page", "palette", "prompt",
        "provider", "sort", "tag", "words",
    ];
    let values =
        ["", "abc", "-1", "99999999999999999999", "1e3", "%ff", "%00", "%", "%3Cscript%3E", "'", "//x"];
    let long = "x".repeat(8 << 10);
    let each = |value: &str| known.map(|name| format!("{name}={value}")).join("&");
    let mut all: Vec<String> = values.iter().map(|value| each(value)).collect();
    all.extend(known.map(|name| format!("{name}[]=x&{name}=1&{name}={long}&{name}=2")));
    all.extend(["", "utm_source=x&fbclid=%ff", "a&b&&=", "=&=&%=%", "&&&", "?"].map(str::to_owned));
    all.extend([long.clone(), format!("{long}=1"), "page=1&".repeat(2000)]);
    all
}

/// The path of every page, with its parameters filled in.
async fn pages(server: &TestServer, db: &TestDb, matchup: &str) -> BTreeSet<String> {
    let build: Uuid = sqlx::query_scalar("SELECT id FROM builds LIMIT 1").fetch_one(&db.pool).await.unwrap();
    let router = format!("{:?}", web::routes());
    let paths = router.split('"').filter(|word| word.starts_with('/'));
    let others =
        ["/api/", "/static/", "/textures/", "/cards/", "/healthz", "/readyz", "/metrics", "/openapi.json"];
    let pages = paths.filter(|path| !others.iter().any(|other| path.starts_with(other)));
    let filled = |path: &str| {
        let id = match path.split('/').nth(1) {
            Some("matchups") => matchup.to_owned(),
            Some("prompts") => "lighthouse".to_owned(),
            _ => build.to_string(),
        };
        let path = path.replace("{id}", &id).replace("{key}", "reference_architect");
        path.replace("{prompt}", "lighthouse").replace("{model}", "reference_architect")
    };
    let pages: BTreeSet<String> = pages.map(filled).collect();
    assert!(pages.contains("/leaderboard/pairs") && pages.contains("/admin/audit"), "{pages:?}");
    assert!(
        pages.contains(&format!("/builds/{build}")),
        "the router's debug output must list its routes: {pages:?}"
    );
    assert_eq!(server.get("/builds").send().await.unwrap().status(), 200);
    pages
}

#[tokio::test]
async fn pages_ignore_query_parameters_that_they_cannot_parse() {
    let db = TestDb::seeded().await;
    let variables = [("ADMIN_TOKEN", TOKEN), ("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0")];
    let server = TestServer::start_with_env(db.pool.clone(), &variables).await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
    let form = server.post("/admin/session").header(COOKIE, voter.cookie().unwrap());
    let form = form.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    let signed_in = form.body(format!("token={TOKEN}")).send().await.unwrap();
    let cookie = header(signed_in.headers(), SET_COOKIE.as_str());
    let cookie = cookie.split(';').next().unwrap();

    let pages = pages(&server, &db, matchup["id"].as_str().unwrap()).await;
    let mut shown = 0;
    for path in &pages {
        let plain = server.get(path).header(COOKIE, cookie).send().await.unwrap().status();
        shown += usize::from(plain == 200);
        for query in hostile_queries() {
            let answer = server.get(&format!("{path}?{query}")).header(COOKIE, cookie).send().await.unwrap();
            let place = format!("{path}?{}", &query[..query.len().min(200)]);
            assert_eq!(answer.status(), plain, "{place}");
            let html = answer.text().await.unwrap();
            assert!(html.len() < 1 << 20, "{place} makes a page of {} bytes", html.len());
            for words in
                ["invalid digit", "unknown field", "unknown variant", "duplicate field", "deserialize"]
            {
                assert!(!html.contains(words), "{place} says {words:?}");
            }
        }
    }
    assert!(shown >= 20, "only {shown} of {} pages are there: {pages:?}", pages.len());

    let strict = server.get("/api/leaderboard?utm_source=x").send().await.unwrap();
    assert_eq!(strict.status(), 400, "the API must refuse unknown parameters");
}
