//! Clients that send or read slowly, or only keep connections open: they must not keep others out.

use std::fs;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use buildoff::app::App;
use buildoff::web::server::{ConnectionLimits, MinDataRate, ServerLimits};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::support::TestServer;
use crate::support::db::TestDb;
use crate::support::server_process::TestServerProcess;

const MIB: usize = 1 << 20;
/// How long a test waits for something that takes much less time.
const PATIENCE: Duration = Duration::from_secs(60);

async fn connect(server: &TestServer) -> TcpStream {
    TcpStream::connect(server.url.trim_start_matches("http://")).await.unwrap()
}

/// Sends the header of a check with a body of this length, and the first bytes of the body.
async fn begin_check(
    server: &TestServer,
    address: &str,
    query: &str,
    length: usize,
    body: &[u8],
) -> TcpStream {
    let mut stream = connect(server).await;
    let header = format!(
        "POST /api/check{query} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: {address}\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(header.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    stream
}

/// Everything that still comes before the server closes the connection.
async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("the connection stays open");
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn until(condition: impl Fn() -> bool, otherwise: &str) {
    let waits = async {
        while !condition() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, waits).await.unwrap_or_else(|_| panic!("{otherwise}"));
}

async fn check(server: &TestServer, address: &str, body: Vec<u8>) -> StatusCode {
    let request = server.post("/api/check").header("x-forwarded-for", address).body(body);
    request.send().await.unwrap().status()
}

/// A spec whose report with `cells=1` is several MiB long.
fn spec_with_many_cells() -> Vec<u8> {
    let full = json!({ "version": "1.0", "boxes": [
        { "x1": 0, "y1": 0, "z1": 0, "x2": 61, "y2": 61, "z2": 61, "type": "bricks" },
    ] });
    full.to_string().into_bytes()
}

async fn begin_large_report(server: &TestServer, address: &str) -> TcpStream {
    let spec = spec_with_many_cells();
    begin_check(server, address, "?cells=1&gridSize=64", spec.len(), &spec).await
}

#[tokio::test]
async fn slow_bodies_of_a_network_take_an_eighth_of_the_memory_and_nothing_from_small_ones() {
    const SLOW: &str = "198.51.100.7";
    let (server, app) = TestServer::start_behind_proxy(ServerLimits::default()).await;
    let mut slow = Vec::new();
    for _ in 0..64 {
        slow.push(begin_check(&server, SLOW, "", 8 * MIB, &[b' '; 700_000]).await);
    }
    until(|| app.memory.reserved() > 31 * MIB, "the slow bodies hold no memory").await;

    assert_eq!(check(&server, SLOW, br#"{"version":"1.0","boxes":[]}"#.to_vec()).await, 200);
    assert_eq!(check(&server, "203.0.113.7", vec![b' '; 4 * MIB]).await, 400, "no JSON is in it");
    assert!(app.memory.reserved() <= 32 * MIB, "{} bytes are reserved", app.memory.reserved());

    drop(slow);
    until(|| app.memory.reserved() == 0, "memory is not given back when clients leave").await;
}

#[tokio::test]
async fn a_body_below_the_least_rate_is_refused_and_its_memory_returns() {
    let min_rate = MinDataRate { bytes_per_second: 1 << 20, grace_period: Duration::from_millis(500) };
    let (server, app) =
        TestServer::start_behind_proxy(ServerLimits { min_rate, ..ServerLimits::default() }).await;
    let mut slow = begin_check(&server, "198.51.100.7", "", MIB, &[b' '; 100_000]).await;
    // A byte now and then does not help.
    let answer = loop {
        let _ = slow.write_all(b" ").await;
        let mut bytes = vec![0; 4096];
        if let Ok(read) = timeout(Duration::from_millis(20), slow.read(&mut bytes)).await {
            bytes.truncate(read.unwrap());
            break String::from_utf8(bytes).unwrap();
        }
    };
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("body_stalled"), "{answer}");
    assert_eq!(app.memory.reserved(), 0);
}

async fn assert_an_unread_answer_is_dropped(limits: ServerLimits) {
    let (server, app) = TestServer::start_behind_proxy(limits).await;
    let mut unread = begin_large_report(&server, "198.51.100.7").await;
    // The client keeps its connection open, and reads nothing.
    until(|| app.memory.reserved() > 4 * MIB, "the answer takes no memory").await;
    until(|| app.memory.reserved() == 0, "the answer is still in memory").await;
    let answer = read_to_end(&mut unread).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{}", &answer[..answer.len().min(200)]);
    assert!(answer.len() < 4 * MIB, "{} bytes were sent", answer.len());
}

#[tokio::test]
async fn an_answer_that_is_read_below_the_least_rate_is_dropped_and_its_memory_returns() {
    let min_rate = MinDataRate { grace_period: Duration::from_millis(300), ..MinDataRate::default() };
    assert_an_unread_answer_is_dropped(ServerLimits { min_rate, ..ServerLimits::default() }).await;
}

#[tokio::test]
async fn an_answer_has_a_deadline_however_slowly_it_may_be_read() {
    let min_rate = MinDataRate { bytes_per_second: 1, grace_period: Duration::from_secs(3600) };
    let answer = Duration::from_millis(300);
    assert_an_unread_answer_is_dropped(ServerLimits { min_rate, answer, ..ServerLimits::default() }).await;
}

#[tokio::test]
async fn whoever_reads_a_large_answer_gets_all_of_it() {
    let (server, app) = TestServer::start_behind_proxy(ServerLimits::default()).await;
    let request = server.post("/api/check?cells=1&gridSize=64").body(spec_with_many_cells());
    let report: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(report["blockCount"], 62 * 62 * 62);
    until(|| app.memory.reserved() == 0, "memory is not given back when an answer is sent").await;
}

#[tokio::test]
async fn a_client_that_leaves_at_any_moment_gives_its_memory_back() {
    let (server, app) = TestServer::start_behind_proxy(ServerLimits::default()).await;
    for ms in [0, 1, 5, 20, 50, 100, 200] {
        let uploading = begin_check(&server, "198.51.100.7", "", 8 * MIB, &[b' '; 700_000]).await;
        let waiting = begin_large_report(&server, "198.51.100.7").await;
        sleep(Duration::from_millis(ms)).await;
        drop((uploading, waiting));
    }
    until(|| app.memory.reserved() == 0, "memory is not given back").await;
    assert_eq!(check(&server, "198.51.100.7", vec![b' '; 4 * MIB]).await, 400);
}

#[tokio::test]
async fn connections_without_a_header_make_room_for_a_newcomer() {
    let connections = ConnectionLimits { total: 8, per_network: 8, trusted_proxies: Vec::new() };
    let limits = ServerLimits { connections, ..ServerLimits::default() };
    let server = TestServer::start_with_limits(Router::new(), limits).await;
    let mut silent = Vec::new();
    for number in 0..8 {
        let mut stream = connect(&server).await;
        // Some of them begin a header and never end it.
        if number % 2 == 0 {
            stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n").await.unwrap();
        }
        silent.push(stream);
    }
    let answered = timeout(PATIENCE, server.get("/healthz").send()).await.unwrap().unwrap();
    assert_eq!(answered.status(), 404, "the server has no routes");
    // The oldest has been closed, and the newest has not.
    assert_eq!(read_to_end(&mut silent[0]).await, "");
    assert!(timeout(Duration::from_millis(50), silent[7].read_u8()).await.is_err());
}

#[tokio::test]
async fn a_newcomer_is_told_to_come_back_when_all_connections_are_busy() {
    static BEGUN: Notify = Notify::const_new();
    static GO_ON: Notify = Notify::const_new();
    let slow = get(|| async {
        BEGUN.notify_one();
        GO_ON.notified().await;
        "finished"
    });
    let connections = ConnectionLimits { total: 1, per_network: 1, trusted_proxies: Vec::new() };
    let limits = ServerLimits { connections, ..ServerLimits::default() };
    let routes: Router<App> = Router::new().route("/slow", slow);
    let server = TestServer::start_with_limits(routes, limits).await;
    let busy = tokio::spawn(server.get("/slow").send());
    BEGUN.notified().await;

    let refusal = read_to_end(&mut connect(&server).await).await;
    let (header, body) = refusal.split_once("\r\n\r\n").unwrap();
    assert!(header.starts_with("HTTP/1.1 503") && header.contains("retry-after: 5"), "{refusal}");
    assert!(header.contains(&format!("content-length: {}", body.len())), "{refusal}");
    GO_ON.notify_one();
    assert_eq!(busy.await.unwrap().unwrap().text().await.unwrap(), "finished");
}

#[tokio::test]
async fn a_connection_that_sends_nothing_is_closed() {
    let server = TestServer::start_with_short_timeouts(Router::new()).await;
    // The second sends the beginning of HTTP/2, which must not be waited for either.
    for sent in ["", "PRI * HT"] {
        let mut silent = connect(&server).await;
        silent.write_all(sent.as_bytes()).await.unwrap();
        assert_eq!(read_to_end(&mut silent).await, "", "{sent:?}");
    }
}

#[tokio::test]
async fn an_idle_connection_is_kept_for_longer_than_a_header_may_take() {
    let limits = ServerLimits { header: Duration::from_secs(1), ..ServerLimits::default() };
    let routes: Router<App> = Router::new().route("/", get(|| async { "here" }));
    let server = TestServer::start_with_limits(routes, limits).await;
    let mut stream = connect(&server).await;
    for pause in [1500, 0] {
        stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"here") {
            assert!(stream.read_buf(&mut answer).await.unwrap() > 0, "the connection was closed");
        }
        sleep(Duration::from_millis(pause)).await;
    }
    // The next header has the same time as the first, however long the connection was idle.
    stream.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    assert_eq!(read_to_end(&mut stream).await, "");
}

#[tokio::test]
async fn the_soft_limit_of_open_files_is_raised_at_the_start() {
    let db = TestDb::new().await;
    let process = TestServerProcess::start_with_open_files(256, &db, &[]);
    let limits = fs::read_to_string(format!("/proc/{}/limits", process.id())).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let [soft, hard] = [0, 1].map(|at| line.split_whitespace().nth(at).unwrap().parse::<u64>().unwrap());
    assert_eq!(soft, hard.min(10_240), "{line}");
}
