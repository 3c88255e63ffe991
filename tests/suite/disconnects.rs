//! Visitors who disconnect during a request leave nothing half done.

mod random;

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
use crate::support::{AbortableRequest, LatencyProxy, TestServer, sample_spec};

/// The delay in each direction between the server and its database.
const DELAY: Duration = Duration::from_millis(5);

/// A server with a slow connection to its database.
async fn server_far_from_db(db: &TestDb) -> (LatencyProxy, TestServer) {
    let proxy = LatencyProxy::start(db, DELAY).await;
    let options = proxy.options().application_name(APPLICATION_NAME);
    let variables = [("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0"), ("ADMIN_TOKEN", TOKEN)];
    let server = TestServer::start_with_env(pool_options().connect_lazy_with(options), &variables).await;
    (proxy, server)
}

const APPLICATION_NAME: &str = "far away";

/// The value of a metric.
async fn metric(server: &TestServer, name: &str) -> i64 {
    let metrics = server.voter().get("/metrics").await.text();
    let value = metrics.lines().find_map(|row| row.strip_prefix(name)).unwrap_or_else(|| panic!("{metrics}"));
    value.trim().parse().unwrap()
}

/// Waits until the request for the metrics is the only one that the server is handling.
pub(crate) async fn wait_until_no_requests(server: &TestServer) {
    let begun = Instant::now();
    loop {
        let under_way = metric(server, "buildoff_http_in_flight ").await - 1;
        if under_way == 0 {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{under_way} requests are still under way");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Sends a request, and disconnects as soon as the server has sent this many messages to its database. Returns
/// whether a response had arrived by then.
async fn disconnect_after(
    messages: usize,
    proxy: &LatencyProxy,
    server: &TestServer,
    request: AbortableRequest,
) -> bool {
    let limit = proxy.chunks_sent() + messages;
    tokio::select! {
        answer = request.send(&server.url) => answer.is_some(),
        () = proxy.wait_for_chunks(limit) => false,
    }
}

#[tokio::test]
async fn a_dropped_begin_leaves_no_transaction_in_the_pool() {
    let db = TestDb::new().await;
    let proxy = LatencyProxy::start(&db, DELAY).await;
    let pool = pool_options().max_connections(1).connect_lazy_with(proxy.options());
    for number in 0..20 {
        let mut connection = pool.acquire().await.unwrap();
        {
            let mut begin = pin!(connection.begin());
            assert!(poll!(begin.as_mut()).is_pending(), "the request must be sent and not answered yet");
        }
        drop(connection);
        sqlx::query("INSERT INTO prompts (id, text) VALUES ($1, 'a prompt')")
            .bind(format!("prompt-{number}"))
            .execute(&pool)
            .await
            .unwrap();
        assert_eq!(
            db.number("SELECT count(*) FROM prompts").await,
            number + 1,
            "the next transaction must be committed"
        );
    }
}

#[tokio::test]
async fn a_failed_transaction_leaves_no_transaction_in_the_pool() {
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
async fn an_aborted_vote_is_stored_completely() {
    let db = TestDb::seeded().await;
    let (proxy, server) = server_far_from_db(&db).await;
    let mut cut_off = 0;
    for messages in 1..=6 {
        let voter = server.voter();
        let matchup = voter.matchup().await;
        let vote = json!({ "matchupId": matchup["id"], "choice": "A" });
        let vote = AbortableRequest::json("/api/arena/vote", &vote).header("cookie", voter.cookie().unwrap());
        cut_off += usize::from(!disconnect_after(messages, &proxy, &server, vote).await);
        wait_until_no_requests(&server).await;
        assert_eq!(
            db.number("SELECT count(*) FROM votes").await,
            messages as i64,
            "the vote after {messages} messages"
        );
        let again = voter.vote(&matchup, "A").await;
        assert_eq!(again.status, 409, "{}", again.text());
    }
    assert!(cut_off >= 4, "only {cut_off} left before the answer");
    assert!(replay::verify(&db.pool).await.unwrap().is_clean());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_aborted_import_is_stored_completely() {
    let db = TestDb::seeded().await;
    let (proxy, server) = server_far_from_db(&db).await;
    let (builds, noted) =
        ("SELECT count(*) FROM builds", "SELECT count(*) FROM audit WHERE action = 'import'");
    let before = db.number(builds).await;
    for messages in 1..=8 {
        let path = "/api/admin/import-build?overwrite=1&modelKey=openai_gpt_5_5&promptId=lighthouse";
        let import = AbortableRequest::post(path, "text/plain", sample_spec(messages))
            .header("authorization", format!("Bearer {TOKEN}"));
        disconnect_after(messages, &proxy, &server, import).await;
        wait_until_no_requests(&server).await;
        assert_eq!(db.number(builds).await - before, messages as i64, "the build, after {messages} messages");
        assert_eq!(db.number(noted).await, messages as i64, "the audit entry of the import");
    }
    let in_force = "SELECT count(*) FROM builds WHERE model_key = 'openai_gpt_5_5' AND retired_at IS NULL";
    assert_eq!(db.number(in_force).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_aborted_sign_out_is_completed() {
    let db = TestDb::new().await;
    let (proxy, server) = server_far_from_db(&db).await;
    for messages in 1..=4 {
        let sign_in = AbortableRequest::form("/admin/session", &format!("token={TOKEN}"));
        let cookie = sign_in.send(&server.url).await.unwrap().cookie().unwrap();
        let sign_out = AbortableRequest::form("/admin/sign-out", "").header("cookie", &cookie);
        disconnect_after(messages, &proxy, &server, sign_out).await;
        wait_until_no_requests(&server).await;
        let status = AbortableRequest::get("/api/admin/status")
            .header("cookie", &cookie)
            .send(&server.url)
            .await
            .unwrap()
            .status;
        assert_eq!(status, 401, "after {messages} messages");
        let noted = db.number("SELECT count(*) FROM audit WHERE action = 'sign out'").await;
        assert_eq!(noted, messages as i64, "after {messages} messages");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_aborted_sign_in_keeps_the_session_under_the_new_id() {
    let db = TestDb::seeded().await;
    let (proxy, server) = server_far_from_db(&db).await;
    for messages in 1..=4 {
        let voter = server.voter();
        voter.matchup().await;
        let sign_in = AbortableRequest::form("/admin/session", &format!("token={TOKEN}"));
        let sign_in = sign_in.header("cookie", voter.cookie().unwrap());
        disconnect_after(messages, &proxy, &server, sign_in).await;
        wait_until_no_requests(&server).await;
        let sessions = "SELECT count(*) FROM sessions WHERE data ? 'voter' AND data ? 'admin'";
        assert_eq!(db.number(sessions).await, messages as i64, "after {messages} messages");
    }
}

/// Handlers that count their starts and their ends, and end when the test permits it.
#[derive(Clone, Default)]
struct BlockingHandler {
    started: Arc<AtomicUsize>,
    finished: Arc<AtomicUsize>,
    release: Arc<Notify>,
}

impl BlockingHandler {
    async fn handle(self) -> &'static str {
        self.started.fetch_add(1, Ordering::SeqCst);
        self.release.notified().await;
        self.finished.fetch_add(1, Ordering::SeqCst);
        "done"
    }

    async fn wait_for_count(count: &AtomicUsize, expected: usize) {
        while count.load(Ordering::SeqCst) < expected {
            sleep(Duration::from_millis(1)).await;
        }
    }
}

#[tokio::test]
async fn writes_continue_after_their_deadline_and_reads_are_cancelled() {
    let handler_state = BlockingHandler::default();
    let (written, read) = (handler_state.clone(), handler_state.clone());
    let thing = Router::new()
        .route("/api/thing", post(move || written.handle()).get(move || read.handle()))
        .layer(layers::deadline(Duration::from_millis(50)));
    let server = TestServer::start_with_routes(web::routes().merge(thing)).await;
    for (request, goes_on) in
        [(AbortableRequest::form("/api/thing", ""), 1), (AbortableRequest::get("/api/thing"), 0)]
    {
        let before = handler_state.finished.load(Ordering::SeqCst);
        let answer = request.send(&server.url).await.unwrap();
        assert_eq!((answer.status, answer.code().as_str()), (503, "timed_out"), "{}", answer.text());
        handler_state.release.notify_waiters();
        BlockingHandler::wait_for_count(&handler_state.finished, before + goes_on).await;
        wait_until_no_requests(&server).await;
        assert_eq!(handler_state.finished.load(Ordering::SeqCst), before + goes_on);
    }
}

#[tokio::test]
async fn a_read_is_cancelled_when_its_visitor_leaves() {
    let handler_state = BlockingHandler::default();
    let handler = handler_state.clone();
    let thing = Router::new().route("/api/thing", get(move || handler.handle()));
    let server = TestServer::start_with_routes(web::routes().merge(thing)).await;
    tokio::select! {
        _ = AbortableRequest::get("/api/thing").send(&server.url) => panic!("the request was not supposed to end"),
        () = BlockingHandler::wait_for_count(&handler_state.started, 1) => {}
    }
    wait_until_no_requests(&server).await;
    handler_state.release.notify_waiters();
    assert_eq!(handler_state.finished.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_slow_request_body_is_cut_off_at_the_deadline() {
    let thing = Router::new()
        .route("/api/thing", post(|body: Bytes| async move { body.len().to_string() }))
        .layer(layers::deadline(Duration::from_millis(100)));
    let server = TestServer::start_with_routes(web::routes().merge(thing)).await;
    let mut stream = TcpStream::connect(server.url.trim_start_matches("http://")).await.unwrap();
    stream.write_all(b"POST /api/thing HTTP/1.1\r\nhost: x\r\ncontent-length: 60000\r\n\r\n").await.unwrap();
    let (mut from, mut to) = stream.split();
    let mut reply = vec![0; 4096];
    let length = tokio::select! {
        length = from.read(&mut reply) => length.unwrap(),
        () = async { while to.write_all(b".").await.is_ok() { sleep(Duration::from_millis(5)).await } } => 0,
    };
    let reply = String::from_utf8_lossy(&reply[..length]).into_owned();
    assert!(reply.starts_with("HTTP/1.1 503"), "{reply}");
    wait_until_no_requests(&server).await;
}
