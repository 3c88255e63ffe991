//! Visitors who leave in the middle of something, and what they leave behind: nothing.

mod storm;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::{get, post};
use buildoff::arena::replay;
use buildoff::db::pool_options;
use buildoff::web::{self, layers};
use futures_util::poll;
use serde_json::json;
use sqlx::Connection;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::{Call, Site, SlowLine, hut};

/// One way, between the site and its database.
const DELAY: Duration = Duration::from_millis(5);

/// A site over a slow line to its database.
async fn far_away(db: &TestDb) -> (SlowLine, Site) {
    let line = SlowLine::to(db, DELAY).await;
    let options = line.options().application_name(FAR_AWAY);
    let variables = [("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0"), ("ADMIN_TOKEN", TOKEN)];
    let site = Site::open_as(pool_options().connect_lazy_with(options), &variables).await;
    (line, site)
}

const FAR_AWAY: &str = "far away";

/// What `/metrics` tells by this name.
async fn reading(site: &Site, name: &str) -> i64 {
    let metrics = site.voter().get("/metrics").await.text();
    let line =
        metrics.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{metrics}"));
    line.trim().parse().unwrap()
}

/// Returns once nothing is under way at the site, but the question whether it is.
async fn until_quiet(site: &Site) {
    let begun = Instant::now();
    loop {
        let under_way = reading(site, "buildoff_http_in_flight ").await - 1;
        if under_way == 0 {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{under_way} requests are still under way");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Asks, and hangs up as soon as the site has sent so much more to its database. Returns whether there was time for
/// an answer.
async fn hang_up_after(pieces: usize, line: &SlowLine, site: &Site, call: Call) -> bool {
    let moment = line.sent() + pieces;
    tokio::select! {
        answer = call.at(&site.url) => answer.is_some(),
        () = line.until_sent(moment) => false,
    }
}

#[tokio::test]
async fn a_dropped_begin_does_not_reach_the_next_user_of_its_connection() {
    let db = TestDb::new().await;
    let line = SlowLine::to(&db, DELAY).await;
    let pool = pool_options().max_connections(1).connect_lazy_with(line.options());
    for number in 0..20 {
        let mut connection = pool.acquire().await.unwrap();
        {
            let mut begin = pin!(connection.begin());
            assert!(poll!(begin.as_mut()).is_pending(), "it is sent, and not answered yet");
        }
        drop(connection);
        sqlx::query("INSERT INTO prompts (id, text) VALUES ($1, 'a prompt')")
            .bind(format!("prompt-{number}"))
            .execute(&pool)
            .await
            .unwrap();
        assert_eq!(db.number("SELECT count(*) FROM prompts").await, number + 1, "it is committed at once");
    }
}

#[tokio::test]
async fn a_failed_transaction_does_not_reach_the_next_user_of_its_connection() {
    let db = TestDb::new().await;
    let pool = pool_options().max_connections(1).connect_lazy_with(db.options());
    for _ in 0..3 {
        let mut connection = pool.acquire().await.unwrap();
        sqlx::raw_sql("BEGIN").execute(&mut *connection).await.unwrap();
        sqlx::raw_sql("SELECT 1 / 0").execute(&mut *connection).await.unwrap_err();
        drop(connection);
        let one: i32 = sqlx::query_scalar("SELECT 1").fetch_one(&pool).await.unwrap();
        assert_eq!(one, 1);
    }
    assert!(pool.size() <= 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vote_whose_visitor_left_during_it_is_there_and_whole() {
    let db = TestDb::seeded().await;
    let (line, site) = far_away(&db).await;
    let mut cut_off = 0;
    for moment in 1..=6 {
        let voter = site.voter();
        let matchup = voter.matchup().await;
        let vote = json!({ "matchupId": matchup["id"], "choice": "A" });
        let vote = Call::json("/api/arena/vote", &vote).with("cookie", voter.cookie().unwrap());
        cut_off += usize::from(!hang_up_after(moment, &line, &site, vote).await);
        until_quiet(&site).await;
        assert_eq!(
            db.number("SELECT count(*) FROM votes").await,
            moment as i64,
            "the vote after {moment} messages"
        );
        let again = voter.vote(&matchup, "A").await;
        assert_eq!(again.status, 409, "{}", again.text());
    }
    assert!(cut_off >= 4, "only {cut_off} left before the answer");
    assert!(replay::verify(&db.pool).await.unwrap().is_clean());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_whose_admin_left_is_whole() {
    let db = TestDb::seeded().await;
    let (line, site) = far_away(&db).await;
    let (builds, noted) =
        ("SELECT count(*) FROM builds", "SELECT count(*) FROM audit WHERE action = 'import'");
    let before = db.number(builds).await;
    for moment in 1..=8 {
        let path = "/api/admin/import-build?overwrite=1&modelKey=openai_gpt_5_5&promptId=lighthouse";
        let import =
            Call::post(path, "text/plain", hut(moment)).with("authorization", format!("Bearer {TOKEN}"));
        hang_up_after(moment, &line, &site, import).await;
        until_quiet(&site).await;
        assert_eq!(db.number(builds).await - before, moment as i64, "the build, after {moment} messages");
        assert_eq!(db.number(noted).await, moment as i64, "what is noted of it");
    }
    let in_force = "SELECT count(*) FROM builds WHERE model_key = 'openai_gpt_5_5' AND retired_at IS NULL";
    assert_eq!(db.number(in_force).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sign_out_whose_browser_left_is_done() {
    let db = TestDb::new().await;
    let (line, site) = far_away(&db).await;
    for moment in 1..=4 {
        let sign_in = Call::form("/admin/session", &format!("token={TOKEN}"));
        let cookie = sign_in.at(&site.url).await.unwrap().cookie().unwrap();
        let sign_out = Call::form("/admin/sign-out", "").with("cookie", &cookie);
        hang_up_after(moment, &line, &site, sign_out).await;
        until_quiet(&site).await;
        let status =
            Call::get("/api/admin/status").with("cookie", &cookie).at(&site.url).await.unwrap().status;
        assert_eq!(status, 401, "after {moment} messages");
        let noted = db.number("SELECT count(*) FROM audit WHERE action = 'sign out'").await;
        assert_eq!(noted, moment as i64, "after {moment} messages");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sign_in_whose_browser_left_keeps_its_session_under_the_new_id() {
    let db = TestDb::seeded().await;
    let (line, site) = far_away(&db).await;
    for moment in 1..=4 {
        let voter = site.voter();
        voter.matchup().await;
        let sign_in = Call::form("/admin/session", &format!("token={TOKEN}"));
        let sign_in = sign_in.with("cookie", voter.cookie().unwrap());
        hang_up_after(moment, &line, &site, sign_in).await;
        until_quiet(&site).await;
        let sessions = "SELECT count(*) FROM sessions WHERE data ? 'voter' AND data ? 'admin'";
        assert_eq!(db.number(sessions).await, moment as i64, "after {moment} messages");
    }
}

/// Counts those who begin and those who end; they end when they are let.
#[derive(Clone, Default)]
struct Counted {
    begun: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    go_on: Arc<Notify>,
}

impl Counted {
    async fn work(self) -> &'static str {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.go_on.notified().await;
        self.ended.fetch_add(1, Ordering::SeqCst);
        "done"
    }

    async fn until(count: &AtomicUsize, is: usize) {
        while count.load(Ordering::SeqCst) < is {
            sleep(Duration::from_millis(1)).await;
        }
    }
}

#[tokio::test]
async fn what_changes_something_goes_on_after_its_deadline_and_what_reads_is_stopped() {
    let counted = Counted::default();
    let (written, read) = (counted.clone(), counted.clone());
    let thing = Router::new()
        .route("/api/thing", post(move || written.work()).get(move || read.work()))
        .layer(layers::deadline(Duration::from_millis(50)));
    let site = Site::open_with(web::routes().merge(thing)).await;
    for (call, goes_on) in [(Call::form("/api/thing", ""), 1), (Call::get("/api/thing"), 0)] {
        let before = counted.ended.load(Ordering::SeqCst);
        let answer = call.at(&site.url).await.unwrap();
        assert_eq!((answer.status, answer.code().as_str()), (503, "timed_out"), "{}", answer.text());
        counted.go_on.notify_waiters();
        Counted::until(&counted.ended, before + goes_on).await;
        until_quiet(&site).await;
        assert_eq!(counted.ended.load(Ordering::SeqCst), before + goes_on);
    }
}

#[tokio::test]
async fn what_only_reads_is_dropped_with_its_visitor() {
    let counted = Counted::default();
    let handler = counted.clone();
    let thing = Router::new().route("/api/thing", get(move || handler.work()));
    let site = Site::open_with(web::routes().merge(thing)).await;
    tokio::select! {
        _ = Call::get("/api/thing").at(&site.url) => panic!("it was not to end"),
        () = Counted::until(&counted.begun, 1) => {}
    }
    until_quiet(&site).await;
    counted.go_on.notify_waiters();
    assert_eq!(counted.ended.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_visitor_who_sends_a_byte_now_and_then_is_not_waited_for_beyond_the_deadline() {
    let thing = Router::new()
        .route("/api/thing", post(|body: Bytes| async move { body.len().to_string() }))
        .layer(layers::deadline(Duration::from_millis(100)));
    let site = Site::open_with(web::routes().merge(thing)).await;
    let mut stream = TcpStream::connect(site.url.trim_start_matches("http://")).await.unwrap();
    stream.write_all(b"POST /api/thing HTTP/1.1\r\nhost: x\r\ncontent-length: 60000\r\n\r\n").await.unwrap();
    let (mut from, mut to) = stream.split();
    let mut said = vec![0; 4096];
    let length = tokio::select! {
        length = from.read(&mut said) => length.unwrap(),
        () = async { while to.write_all(b".").await.is_ok() { sleep(Duration::from_millis(5)).await } } => 0,
    };
    let said = String::from_utf8_lossy(&said[..length]).into_owned();
    assert!(said.starts_with("HTTP/1.1 503"), "{said}");
    until_quiet(&site).await;
}
