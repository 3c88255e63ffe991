//! Stopping: a server waits for the answers that stream, and gives everything else back.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::{outcomes, partial_answer};
use crate::support::db::TestDb;
use crate::support::{
    FakeBodyStep, FakePart, FakeProtocol, FakeProvider, FakeResponse, TestAdmin, TestCatalog,
    TestServerProcess, sample_spec,
};

const QUEUED: &str = "SELECT count(*) FROM jobs WHERE state = 'queued' AND breaks = 0";
const INTERRUPTED: &str = "SELECT count(*) FROM attempts WHERE outcome = 'interrupted'";

/// A server with one place at a provider whose answer begins, and ends when it is released. A second job is queued.
struct StreamingServer {
    db: TestDb,
    provider: FakeProvider,
    _catalog: TestCatalog,
    server: TestServerProcess,
    admin: TestAdmin,
    /// The job that streams, and the one that is queued.
    jobs: [String; 2],
    release: Arc<Notify>,
}

fn slow_answer() -> (FakeResponse, Arc<Notify>) {
    let release = Arc::new(Notify::new());
    let rest = FakeProtocol::Compatible.stream(&[FakePart::Text(&sample_spec(4)), FakePart::Done]);
    (partial_answer("Here it is: ").then(FakeBodyStep::WaitFor(Arc::clone(&release))).send(rest), release)
}

impl StreamingServer {
    async fn start(stop_wait: &str) -> Self {
        let (answer, release) = slow_answer();
        let db = TestDb::new().await;
        let provider = FakeProvider::with_responses(FakeProtocol::Compatible, [answer]).await;
        let catalog = TestCatalog::new(&provider, &["tester"], &["shed", "barn"]);
        let variables = catalog.variables(&[("AI_AT_ONCE", "1"), ("STOP_WAIT", stop_wait)]);
        let server = TestServerProcess::start(&db, &variables);
        let admin = TestAdmin::new(&server.url);
        admin.post("/api/admin/seed?generateBuilds=0", "").await;
        let jobs = [admin.enqueue("shed", "tester").await, admin.enqueue("barn", "tester").await];
        admin.wait_for_job(&jobs[0], |job| job["attempts"][0]["answerBytes"].as_i64() > Some(0)).await;
        Self { db, provider, _catalog: catalog, server, admin, jobs, release }
    }

    /// Sends the first signal, and waits until the server is about to stop.
    async fn begin_stop(&self) {
        self.server.interrupt();
        while self.admin.get("/readyz").await.status != 503 {
            sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_stopped_waits_for_the_answer_that_streams_and_begins_no_other() {
    let mut streaming = StreamingServer::start("20m").await;
    streaming.begin_stop().await;
    let admin = &streaming.admin;
    assert_eq!(admin.get("/healthz").await.status, 200, "the site must be served meanwhile");
    assert_eq!(admin.get("/leaderboard").await.status, 200, "the site must be served meanwhile");
    while !streaming.server.log().contains("waiting for an answer to end") {
        sleep(Duration::from_millis(20)).await;
    }
    // The lease is renewed only while the job is not being given back.
    let leased = "SELECT (extract(epoch FROM leased_until) * 1000)::bigint FROM jobs WHERE state = 'running'";
    let before = streaming.db.number(leased).await;
    while streaming.db.number(leased).await == before {
        sleep(Duration::from_millis(20)).await;
    }
    streaming.release.notify_one();
    streaming.server.wait();

    let log = streaming.server.log();
    assert!(log.contains("shed by tester") && log.contains("a second signal stops at once"), "{log}");
    assert!(log.contains("20 min"), "{log}");
    let StreamingServer { db, provider, .. } = &streaming;
    assert_eq!(db.number("SELECT count(*) FROM jobs WHERE state = 'ready'").await, 1);
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE model_key = 'tester'").await, 1);
    assert_eq!(db.number("SELECT count(*) FROM jobs WHERE state = 'queued' AND started_at IS NULL").await, 1);
    assert_eq!((db.number(INTERRUPTED).await, provider.requests().len()), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_stops_at_once_and_the_interrupted_attempt_counts_for_nobody() {
    let mut streaming = StreamingServer::start("20m").await;
    streaming.begin_stop().await;
    streaming.server.interrupt();
    streaming.server.wait();
    let StreamingServer { db, jobs, .. } = &streaming;
    assert_eq!((db.number(QUEUED).await, db.number(INTERRUPTED).await), (2, 1));
    let answer = "SELECT octet_length(answer)::bigint FROM attempts";
    assert_eq!(db.number(answer).await, "Here it is: ".len() as i64, "what has streamed must be kept");

    // Another server finishes it, with the first attempt that counts.
    let spec = FakeProtocol::Compatible.answer(&[FakePart::Text(&sample_spec(4)), FakePart::Done]);
    let provider = FakeProvider::with_responses(FakeProtocol::Compatible, [spec]).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed", "barn"]);
    db.run(&format!("UPDATE jobs SET state = 'cancelled', ended_at = now() WHERE id = '{}'", jobs[1])).await;
    let later = TestServerProcess::start(db, &catalog.variables(&[]));
    let admin = TestAdmin::new(&later.url);
    let ended = admin.wait_for_job_end(&jobs[0]).await;
    assert_eq!(outcomes(&ended), ["interrupted", "accepted"], "{ended}");
    assert_eq!(db.number("SELECT attempts::bigint FROM builds WHERE model_key = 'tester'").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_stopped_waits_no_longer_than_it_is_told() {
    let mut streaming = StreamingServer::start("1s").await;
    streaming.server.stop();
    assert_eq!((streaming.db.number(QUEUED).await, streaming.db.number(INTERRUPTED).await), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_waits_for_a_busy_provider_is_given_back_at_once() {
    let busy = json!({ "error": { "message": "Slow down", "code": "rate_limit_exceeded" } });
    let busy = FakeResponse::json(429, &busy).header("retry-after", "100");
    let db = TestDb::new().await;
    let provider = FakeProvider::with_responses(FakeProtocol::Compatible, [busy]).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
    let mut server = TestServerProcess::start(&db, &catalog.variables(&[]));
    let admin = TestAdmin::new(&server.url);
    admin.post("/api/admin/seed?generateBuilds=0", "").await;
    let job = admin.enqueue("shed", "tester").await;
    admin
        .wait_for_job(&job, |job| job["note"].as_str().is_some_and(|note| note.contains("trying again")))
        .await;
    server.stop();
    assert_eq!((db.number(QUEUED).await, provider.requests().len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn seeding_that_is_stopped_waits_for_the_answer_that_streams() {
    let (answer, release) = slow_answer();
    let db = TestDb::new().await;
    let provider = FakeProvider::with_responses(FakeProtocol::Compatible, [answer]).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_buildoff"))
        .arg("seed")
        .env("DATABASE_URL", db.url())
        .envs(catalog.variables(&[]))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while provider.requests().is_empty() {
        sleep(Duration::from_millis(20)).await;
    }
    let pid = rustix::process::Pid::from_child(&command);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut log = BufReader::new(command.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(
        log.any(|line| line.contains("waiting for an answer to end")),
        "seeding must tell what it waits for"
    );
    release.notify_one();
    assert_eq!(command.wait().unwrap().code(), Some(130));
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE model_key = 'tester'").await, 1);
}
