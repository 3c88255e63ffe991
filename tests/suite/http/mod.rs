//! The HTTP behaviour that all responses share, over a real connection.

mod addresses;
mod assets;
mod compression;
mod failures;
mod headers;
mod health;
mod queries;
mod server;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use axum::Json;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, Query};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use buildoff::app::App;
use buildoff::web::{Error, layers};
use reqwest::header::HeaderMap;
use reqwest::{Method, Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use uuid::Uuid;

use crate::support::db::TestDb;
use crate::support::{TestLogBuffer, TestServer, TestServerProcess};

fn header(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

/// Sends bytes that an HTTP client would refuse to send, and returns everything that comes back.
async fn raw_request(server: &TestServer, request: &str) -> String {
    let mut stream = TcpStream::connect(server.url.trim_start_matches("http://")).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut reply)).await;
    String::from_utf8_lossy(&reply).into_owned()
}

/// The log of the whole test process. Tests run concurrently, so each looks for the id of its own request.
struct TestProcessLog(TestLogBuffer);

impl TestProcessLog {
    fn capture() -> &'static Self {
        static LOG: LazyLock<TestProcessLog> = LazyLock::new(|| {
            let log = TestLogBuffer::default();
            tracing_subscriber::fmt().json().with_writer(log.clone()).init();
            TestProcessLog(log)
        });
        &LOG
    }

    fn lines_with(&self, word: &str) -> Vec<Value> {
        self.0
            .text()
            .lines()
            .filter(|line| line.contains(word))
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

async fn panics() {
    panic!("the crane fell over")
}
