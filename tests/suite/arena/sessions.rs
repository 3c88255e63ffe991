//! The lifetime of sessions.

use reqwest::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::{TestServer, TestVoter};

/// A voter with a session: one who has been served a matchup.
async fn voter(db: &TestDb) -> TestVoter {
    // The server runs until this value is dropped.
    let server = start_server(db).await;
    let voter = server.voter();
    voter.matchup().await;
    voter
}

/// A server with an empty session cache.
async fn start_server(db: &TestDb) -> TestServer {
    let variables = [("ADMIN_TOKEN", TOKEN), ("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0")];
    TestServer::start_with_env(db.pool.clone(), &variables).await
}

async fn set_days_left(db: &TestDb, days: i64) {
    db.run(&format!("UPDATE sessions SET expires_at = now() + interval '{days} days'")).await;
}

/// Days until the only session expires.
async fn days_left(db: &TestDb) -> i64 {
    db.number("SELECT round(extract(epoch FROM expires_at - now()) / 86400)::bigint FROM sessions").await
}

#[tokio::test]
async fn an_active_session_is_renewed_by_one_write_a_month() {
    let db = TestDb::seeded().await;
    let voter = voter(&db).await;
    assert_eq!(days_left(&db).await, 365);
    let data = "SELECT count(*) FROM sessions WHERE data ? 'voter'";
    assert_eq!(db.number(data).await, 1);

    for (lasts, renewed) in [(364, false), (340, false), (330, true), (1, true)] {
        set_days_left(&db, lasts).await;
        let server = start_server(&db).await;
        let voter = voter.with_base_url(&server.url);
        let answer = voter.get("/me").await;
        let cookie = answer.header(SET_COOKIE.as_str());
        assert_eq!(cookie.contains("Max-Age=3153"), renewed, "with {lasts} days left: {cookie:?}");
        assert_eq!(days_left(&db).await, if renewed { 365 } else { lasts });
        for path in ["/me", "/sandbox", "/"] {
            assert_eq!(voter.get(path).await.header(SET_COOKIE.as_str()), "", "{path}, again");
        }
    }
    assert_eq!(db.number(data).await, 1, "the renewed session must keep its data");
}

#[tokio::test]
async fn one_of_many_concurrent_requests_renews_the_session() {
    let db = TestDb::seeded().await;
    let voter = voter(&db).await;
    set_days_left(&db, 100).await;
    let server = start_server(&db).await;
    let voter = voter.with_base_url(&server.url);
    let answers = futures_util::future::join_all((0..16).map(|_| voter.get("/me"))).await;
    let renewed = answers.iter().filter(|answer| !answer.header(SET_COOKIE.as_str()).is_empty()).count();
    assert_eq!((renewed, days_left(&db).await), (1, 365));
}

#[tokio::test]
async fn unknown_sessions_write_nothing_and_admin_sessions_are_not_prolonged() {
    let db = TestDb::seeded().await;
    let server = start_server(&db).await;
    for path in ["/", "/me", "/builds"] {
        let answer = server.voter().get(path).await;
        assert_eq!(answer.header(SET_COOKIE.as_str()), "", "{path}");
    }
    assert_eq!(db.number("SELECT count(*) FROM sessions").await, 0);

    let voter = voter(&db).await;
    let form = server.post("/admin/session").header(COOKIE, voter.cookie().unwrap());
    let form = form.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    let signed_in = form.body(format!("token={TOKEN}")).send().await.unwrap();
    let cookie = signed_in.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    let until = "SELECT (data #>> '{admin,until}')::bigint FROM sessions";
    let admitted = db.number(until).await;
    set_days_left(&db, 100).await;
    let server = start_server(&db).await;
    let visit = async |path: &str| {
        let answer = server.get(path).header(COOKIE, &cookie).send().await.unwrap();
        (answer.status().as_u16(), answer.headers().contains_key(SET_COOKIE))
    };
    assert_eq!(visit("/admin").await, (200, false), "requests to the console must not renew a session");
    assert_eq!(visit("/me").await, (200, true));
    assert_eq!((days_left(&db).await, db.number(until).await), (365, admitted));
    db.run("UPDATE sessions SET data = jsonb_set(data, '{admin,until}', '1')").await;
    let server = start_server(&db).await;
    let late = server.get("/api/admin/status").header(COOKIE, &cookie).send().await.unwrap();
    assert_eq!(late.status(), 401);
}

#[tokio::test]
async fn a_session_goes_on_under_the_new_name_of_its_cookie_when_the_site_gets_https() {
    let db = TestDb::seeded().await;
    let before = voter(&db).await;
    let old = before.cookie().unwrap();
    let id = old.strip_prefix("session=").unwrap().to_owned();
    let secure =
        TestServer::start_with_env(db.pool.clone(), &[("PUBLIC_URL", "https://buildoff.example")]).await;
    let visit = async |cookie: &str| {
        let answer = secure.get("/me").header(COOKIE, cookie).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer
            .headers()
            .get(SET_COOKIE)
            .map(|set| set.to_str().unwrap().split(';').next().unwrap().to_owned())
    };
    assert_eq!(visit(&old).await, Some(format!("__Host-session={id}")));
    assert_eq!(visit(&old).await, None, "once a minute is enough");
    assert_eq!(visit(&format!("{old}; __Host-session={id}")).await, None);
    let planted = format!("session=AAAAAAAAAAAAAAAAAAAAAA; __Host-session={id}");
    let matchup = secure.get("/api/arena/matchup").header(COOKIE, &planted).send().await.unwrap();
    assert_eq!((matchup.status().as_u16(), matchup.headers().get(SET_COOKIE)), (200, None));
    assert_eq!(db.number("SELECT count(*) FROM sessions").await, 1, "it must still be the same voter");
    assert_eq!(db.number("SELECT count(DISTINCT voter_id) FROM matchups").await, 1);
}

#[tokio::test]
async fn an_admin_session_under_the_old_name_stays_and_signing_in_again_replaces_it() {
    let db = TestDb::new().await;
    let sign_in = async |server: &TestServer, cookie: &str| {
        let form = server.post("/admin/session").header(COOKIE, cookie);
        let form = form.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let answer = form.body(format!("token={TOKEN}")).send().await.unwrap();
        answer.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned()
    };
    let old = sign_in(&start_server(&db).await, "").await;
    let variables = [("ADMIN_TOKEN", TOKEN), ("PUBLIC_URL", "https://buildoff.example")];
    let secure = TestServer::start_with_env(db.pool.clone(), &variables).await;
    let status = async |cookie: &str| {
        secure.get("/api/admin/status").header(COOKIE, cookie).send().await.unwrap().status().as_u16()
    };
    assert_eq!(status(&old).await, 200);
    let new = sign_in(&secure, &old).await;
    assert!(new.starts_with("__Host-session="), "{new}");
    assert_eq!(status(&new).await, 200);
    assert_eq!(status(&old).await, 401, "whoever planted or knew the old session must not be an admin");
}
