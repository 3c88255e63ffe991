//! Signing in to the console, and signing out.

use reqwest::header::COOKIE;

use super::{SIGN_IN, TOKEN, cookie, sign_in, visit, with_form};
use crate::support::db::TestDb;
use crate::support::{TestServer, open_page};

async fn server(db: &TestDb, token: &str) -> TestServer {
    TestServer::start_with_env(db.pool.clone(), &[("ADMIN_TOKEN", token), ("RATE_LIMITS", "off")]).await
}

#[tokio::test]
async fn the_token_signs_in_and_signing_out_ends_access() {
    let db = TestDb::new().await;
    let server = server(&db, TOKEN).await;
    let sign_in_page = server.get("/admin").send().await.unwrap();
    assert_eq!(
        (sign_in_page.status().as_u16(), sign_in_page.headers()["cache-control"].to_str().unwrap()),
        (200, "no-store")
    );
    assert!(sign_in_page.text().await.unwrap().contains(SIGN_IN));

    let wrong = sign_in(&server, "guess").await;
    assert_eq!((wrong.status().as_u16(), cookie(&wrong)), (401, None));
    assert!(wrong.text().await.unwrap().contains("Wrong token. Enter the value of ADMIN_TOKEN."));

    let right = sign_in(&server, &format!(" {TOKEN}\n")).await;
    assert_eq!((right.status().as_u16(), right.headers()["location"].to_str().unwrap()), (303, "/admin"));
    let cookie = cookie(&right).unwrap();
    let (status, html) = visit(&server, "/admin", &cookie).await;
    assert!(status == 200 && html.contains("<h1>Coverage</h1>"), "{status} {html}");
    assert_eq!(visit(&server, "/api/admin/status", &cookie).await.0, 200);

    let out = server.post("/admin/sign-out").header(COOKIE, &cookie).send().await.unwrap();
    assert_eq!(out.status(), 303);
    assert!(visit(&server, "/admin", &cookie).await.1.contains(SIGN_IN));
    assert_eq!(visit(&server, "/api/admin/status", &cookie).await.0, 401);

    server.post("/admin/sign-out").header(COOKIE, &cookie).send().await.unwrap();
    let noted: Vec<(String, String)> =
        sqlx::query_as("SELECT via, action FROM audit ORDER BY id").fetch_all(&db.pool).await.unwrap();
    let by_console = |action: &str| ("console".to_owned(), action.to_owned());
    assert_eq!(
        noted,
        [by_console("sign in"), by_console("sign out")],
        "signing out without a session must not be in the audit"
    );
}

#[tokio::test]
async fn signing_in_changes_the_session_id_and_invalidates_the_old_one() {
    let db = TestDb::new().await;
    let server = server(&db, TOKEN).await;
    let first = cookie(&sign_in(&server, TOKEN).await).unwrap();
    let again = with_form(server.post("/admin/session").header(COOKIE, &first), &[("token", TOKEN)]);
    let second = cookie(&again.send().await.unwrap()).unwrap();
    assert_ne!(first, second);
    assert!(visit(&server, "/admin", &first).await.1.contains(SIGN_IN));
    assert!(!visit(&server, "/admin", &second).await.1.contains(SIGN_IN));
}

#[tokio::test]
async fn a_new_token_ends_every_session() {
    let db = TestDb::new().await;
    let cookie = cookie(&sign_in(&server(&db, TOKEN).await, TOKEN).await).unwrap();
    let with_another_token = server(&db, "another token for tests").await;
    assert!(visit(&with_another_token, "/admin", &cookie).await.1.contains(SIGN_IN));
    assert_eq!(visit(&with_another_token, "/api/admin/status", &cookie).await.0, 401);
    assert!(!visit(&server(&db, TOKEN).await, "/admin", &cookie).await.1.contains(SIGN_IN));
}

#[tokio::test]
async fn without_a_configured_token_the_console_is_off_and_says_how_to_enable_it() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    for path in ["/admin", "/admin/models", "/admin/audit"] {
        let (status, html) = visit(&server, path, "").await;
        assert!(status == 403 && html.contains("<code>ADMIN_TOKEN</code>"), "{path}: {status} {html}");
    }
    let tried = sign_in(&server, "").await;
    assert_eq!((tried.status().as_u16(), cookie(&tried)), (403, None));
}

#[tokio::test]
async fn too_many_wrong_tokens_delay_even_the_right_one() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("ADMIN_TOKEN", TOKEN)]).await;
    for _ in 0..100 {
        let answer = sign_in(&server, "guess").await;
        if answer.status() == 401 {
            continue;
        }
        assert_eq!(answer.status(), 429);
        assert!(answer.headers().contains_key("retry-after"));
        assert_eq!(sign_in(&server, TOKEN).await.status(), 429);
        return;
    }
    panic!("a hundred wrong tokens were accepted");
}

#[tokio::test]
async fn signing_in_returns_to_the_requested_page() {
    let db = TestDb::new().await;
    let server = server(&db, TOKEN).await;
    let answer = server.get("/admin/audit?before=7").send().await.unwrap();
    let location = answer.headers()["location"].to_str().unwrap();
    assert_eq!((answer.status().as_u16(), location), (303, "/admin?next=%2Fadmin%2Faudit%3Fbefore%3D7"));

    let page = open_page(&server.url_for(location)).await;
    page.run(&format!("document.getElementById('token').value = {TOKEN:?}")).await;
    page.run("document.getElementById('token').focus()").await;
    page.press("Enter").await;
    super::wait_until(&page, "location.pathname + location.search === '/admin/audit?before=7'").await;

    for elsewhere in ["https://example.org/", "//example.org", "/", "/administration"] {
        let form = [("token", TOKEN), ("next", elsewhere)];
        let answer = with_form(server.post("/admin/session"), &form).send().await.unwrap();
        assert_eq!(answer.headers()["location"], "/admin", "{elsewhere}");
    }
}

#[tokio::test]
async fn other_sites_cannot_sign_anybody_in_or_out() {
    let db = TestDb::new().await;
    let server = server(&db, TOKEN).await;
    for path in ["/admin/session", "/admin/sign-out"] {
        let sent = with_form(server.post(path).header("sec-fetch-site", "cross-site"), &[("token", TOKEN)]);
        assert_eq!(sent.send().await.unwrap().status(), 403, "{path}");
    }
}

#[tokio::test]
async fn every_console_page_is_for_admins_only_and_not_cached() {
    let db = TestDb::new().await;
    let server = server(&db, TOKEN).await;
    let cookie = cookie(&sign_in(&server, TOKEN).await).unwrap();
    for path in ["/admin", "/admin/models", "/admin/prompts", "/admin/votes", "/admin/audit"] {
        let answer = server.get(path).header(COOKIE, &cookie).send().await.unwrap();
        assert_eq!(answer.headers()["cache-control"], "no-store", "{path}");
        assert_eq!(answer.status(), 200, "{path}");
    }
    for path in ["/admin/jobs/none", "/admin/places/none/none"] {
        assert_eq!(server.get(path).send().await.unwrap().status(), 303, "{path}");
        assert_eq!(visit(&server, path, &cookie).await.0, 404, "{path}");
    }
}
