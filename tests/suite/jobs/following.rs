//! `buildoff seed`: it queues everything, follows it, and says what is left when it is stopped.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::StatusCode;
use reqwest::Client;
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::full_answer;
use crate::support::db::TestDb;
use crate::support::{
    FakeBodyStep, FakePart, FakeProtocol, FakeProvider, FakeResponse, TestCatalog, TestServerProcess,
    sample_spec,
};

const MODELS: [&str; 3] = ["one", "two", "three"];
const PROMPTS: [&str; 4] = ["arch", "barn", "cave", "dock"];

/// Long enough for any machine: it only ends a test that would hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// A command that follows jobs, `buildoff seed` or `buildoff judge`, in a process of its own.
pub(super) struct FollowingCommand {
    process: Child,
    output: JoinHandle<String>,
    log: Arc<Mutex<String>>,
}

impl FollowingCommand {
    pub fn start(command: &str, db: &TestDb, variables: &[(&str, &str)], arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_buildoff"))
            .arg(command)
            .args(arguments)
            .env("DATABASE_URL", db.url())
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = process.stdout.take().unwrap();
        let output = thread::spawn(move || {
            let mut printed = String::new();
            stdout.read_to_string(&mut printed).unwrap();
            printed
        });
        let lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        let log = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&log);
        thread::spawn(move || lines.for_each(|line| *written.lock().unwrap() += &line));
        Self { process, output, log }
    }

    pub fn interrupt(&self) {
        kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
    }

    pub async fn until_logged(&self, words: &str) {
        let logged = async {
            while !self.log.lock().unwrap().contains(words) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        let in_time = timeout(PATIENCE, logged).await;
        assert!(in_time.is_ok(), "{words:?} must be logged: {}", self.log.lock().unwrap());
    }

    /// The exit code, and what was printed.
    pub async fn end(self) -> (i32, String) {
        let Self { mut process, output, .. } = self;
        let ended = spawn_blocking(move || (process.wait().unwrap().code().unwrap(), output.join().unwrap()));
        timeout(PATIENCE, ended).await.expect("the command must end").unwrap()
    }
}

/// Answers wait until so many requests are there at the same time.
async fn provider_that_waits_for(count: usize) -> FakeProvider {
    let gates: Arc<Mutex<Vec<Arc<Notify>>>> = Arc::default();
    FakeProvider::with_handler(FakeProtocol::Compatible, move |_| {
        let gate = Arc::new(Notify::new());
        let mut gates = gates.lock().unwrap();
        gates.push(Arc::clone(&gate));
        if gates.len() == count {
            gates.drain(..).for_each(|gate| gate.notify_one());
        }
        gated_answer(gate)
    })
    .await
}

fn gated_answer(gate: Arc<Notify>) -> FakeResponse {
    gated(&sample_spec(4), gate)
}

/// The answer waits until the gate is opened.
pub(super) fn gated(answer: &str, gate: Arc<Notify>) -> FakeResponse {
    let rest = FakeProtocol::Compatible.stream(&[FakePart::Text(answer), FakePart::Done]);
    FakeResponse::stream()
        .send(FakeProtocol::Compatible.stream(&[FakePart::Text("Here it is: ")]))
        .then(FakeBodyStep::WaitFor(gate))
        .send(rest)
}

#[tokio::test(flavor = "multi_thread")]
async fn twelve_answers_are_asked_for_as_wide_as_the_places_allow() {
    // With twelve places all twelve come at once; with four, they come four by four. Fewer would wait for ever.
    for places in ["12", "4"] {
        let provider = provider_that_waits_for(places.parse().unwrap()).await;
        let (db, catalog) = (TestDb::new().await, TestCatalog::new(&provider, &MODELS, &PROMPTS));
        let seed = FollowingCommand::start("seed", &db, &catalog.variables(&[("AI_AT_ONCE", places)]), &[]);
        let (code, printed) = seed.end().await;
        assert_eq!(code, 0, "{printed}");
        assert!(
            printed.contains("12 builds to generate: 12 at Somebody")
                && printed.contains("12 of 12 builds, 0 failed"),
            "{printed}"
        );
        assert_eq!(printed.matches("blocks (1 attempt").count(), 12, "{printed}");
        assert_eq!(provider.requests().len(), 12);
    }
}

/// A provider whose answers wait until the test opens their gate.
async fn slow_provider() -> (FakeProvider, Arc<Notify>) {
    let gate = Arc::new(Notify::new());
    let opened = Arc::clone(&gate);
    let handler = move |_: &_| gated_answer(Arc::clone(&gate));
    (FakeProvider::with_handler(FakeProtocol::Compatible, handler).await, opened)
}

pub(super) async fn until_asked(provider: &FakeProvider) {
    let asked = async {
        while provider.requests().is_empty() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, asked).await.expect("the provider must be asked");
}

const QUEUED: &str = "SELECT count(*) FROM jobs WHERE state = 'queued'";

#[tokio::test(flavor = "multi_thread")]
async fn seed_that_is_stopped_keeps_the_answer_that_streams_and_says_what_stays_queued() {
    let (provider, gate) = slow_provider().await;
    let (db, catalog) = (TestDb::new().await, TestCatalog::new(&provider, &["one"], &PROMPTS));
    let seed = FollowingCommand::start("seed", &db, &catalog.variables(&[("AI_AT_ONCE", "1")]), &[]);
    until_asked(&provider).await;
    seed.interrupt();
    seed.until_logged("waiting for an answer to end").await;
    gate.notify_one();
    let (code, printed) = seed.end().await;
    assert_eq!(code, 130, "{printed}");
    for part in [
        "1 of 4 builds, 0 failed",
        "1 build ended, which cost $",
        "Stopped. 3 builds stay queued. A running Buildoff goes on with them, or else the next that starts.",
        "To drop them: buildoff cancel --kind build",
    ] {
        assert!(printed.contains(part), "{part:?} in {printed}");
    }
    assert_eq!((db.number(QUEUED).await, provider.requests().len()), (3, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn seed_that_follows_a_server_stops_alone_and_the_server_goes_on() {
    let (provider, gate) = slow_provider().await;
    let (db, catalog) = (TestDb::new().await, TestCatalog::new(&provider, &["one"], &PROMPTS[..2]));
    let variables = catalog.variables(&[("AI_AT_ONCE", "1")]);
    let server = TestServerProcess::start(&db, &variables);
    let seed = FollowingCommand::start("seed", &db, &variables, &["--server", &server.url]);
    until_asked(&provider).await;
    seed.interrupt();
    let (code, printed) = seed.end().await;
    assert_eq!(code, 130, "{printed}");
    assert!(
        printed.contains("Stopped. 2 builds still queued or running.")
            && printed.contains("The server goes on with them."),
        "{printed}"
    );
    assert!(printed.contains(&format!("buildoff cancel --kind build --server {}", server.url)), "{printed}");
    while db.number("SELECT count(*) FROM builds WHERE model_key = 'one'").await < 2 {
        gate.notify_one();
        sleep(Duration::from_millis(20)).await;
    }
}

/// A proxy before a server that fails the first two times that somebody asks for the progress of jobs.
async fn flaky_proxy(server: &str) -> String {
    let failures = Arc::new(AtomicUsize::new(0));
    let server = server.to_owned();
    let forward = move |request: Request| async move {
        let (parts, body) = request.into_parts();
        if parts.uri.path() == "/api/admin/jobs/progress" && failures.fetch_add(1, Ordering::SeqCst) < 2 {
            return (StatusCode::BAD_GATEWAY, "restarting".into());
        }
        let body = to_bytes(body, usize::MAX).await.unwrap();
        let mut request = Client::new().request(parts.method, format!("{server}{}", parts.uri)).body(body);
        for name in ["authorization", "content-type"] {
            if let Some(value) = parts.headers.get(name) {
                request = request.header(name, value);
            }
        }
        let answer = request.send().await.unwrap();
        (answer.status(), answer.bytes().await.unwrap())
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(forward)).await });
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn seed_goes_on_following_a_server_that_does_not_answer_for_a_while() {
    let provider =
        FakeProvider::with_handler(FakeProtocol::Compatible, |_| full_answer(&sample_spec(4))).await;
    let (db, catalog) = (TestDb::new().await, TestCatalog::new(&provider, &["one"], &["arch", "barn"]));
    let server = TestServerProcess::start(&db, &catalog.variables(&[]));
    let proxy = flaky_proxy(&server.url).await;
    let seed = FollowingCommand::start("seed", &db, &catalog.variables(&[]), &["--server", &proxy]);
    seed.until_logged("asking again for up to 10 minutes").await;
    let log = Arc::clone(&seed.log);
    let (code, printed) = seed.end().await;
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("2 of 2 builds, 0 failed"), "{printed}");
    assert_eq!(log.lock().unwrap().matches("asking again").count(), 1, "it is told once");
}

#[tokio::test(flavor = "multi_thread")]
async fn seed_ends_with_1_when_nobody_can_be_asked() {
    let (provider, _gate) = slow_provider().await;
    let (db, catalog) = (TestDb::new().await, TestCatalog::new(&provider, &["one"], &["arch"]));
    let keyless = catalog.variables(&[("SOMEBODY_API_KEY", "")]);
    for arguments in [&[][..], &["--background"], &["--dry-run"], &["--json"], &["--model", "one"]] {
        let (code, printed) = FollowingCommand::start("seed", &db, &keyless, arguments).end().await;
        assert_eq!(code, 1, "{arguments:?}: {printed}");
        assert!(
            printed.contains("can generate") || printed.contains("\"modelCount\": 0"),
            "{arguments:?}: {printed}"
        );
    }
    let (code, printed) = FollowingCommand::start("seed", &db, &keyless, &["--catalog"]).end().await;
    assert_eq!(code, 0, "{printed}");
    assert!(provider.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn seed_prints_one_json_object_with_what_has_ended_and_what_is_left() {
    let spec = FakeProtocol::Compatible.answer(&[FakePart::Text(&sample_spec(4)), FakePart::Done]);
    let provider = FakeProvider::with_responses(FakeProtocol::Compatible, [spec]).await;
    let (db, catalog) = (TestDb::new().await, TestCatalog::new(&provider, &["one"], &PROMPTS));
    let arguments = ["--json", "--max-cost", "0.05"];
    let (code, printed) =
        FollowingCommand::start("seed", &db, &catalog.variables(&[]), &arguments).end().await;
    assert_eq!(code, 0, "{printed}");
    let result: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let jobs: Vec<_> = result["jobs"].as_array().unwrap().iter().map(|job| &job["state"]).collect();
    assert_eq!(jobs, ["ready"], "{result}");
    assert_eq!((&result["existingBuilds"], &result["left"]["builds"]), (&1.into(), &3.into()), "{result}");
    assert_eq!((&result["stopped"], &result["stillQueued"]), (&false.into(), &0.into()), "{result}");
    assert!(result["cost"].as_f64() > Some(0.0), "{result}");
}
