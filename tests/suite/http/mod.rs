//! What every answer of the site has in common, asked over a real connection.

mod addresses;
mod assets;
mod compression;
mod failures;
mod headers;
mod health;
mod queries;
mod server;

use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex};
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

use crate::support::TestServer;

fn header(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

/// What a client would not send: the bytes as they are, and all that comes back.
async fn raw_request(server: &TestServer, request: &str) -> String {
    let mut stream = TcpStream::connect(server.url.trim_start_matches("http://")).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut reply)).await;
    String::from_utf8_lossy(&reply).into_owned()
}

/// What the whole test process has logged. Tests run side by side, so each looks for its own request's number.
#[derive(Clone, Default)]
struct TestProcessLog(Arc<Mutex<Vec<u8>>>);

impl TestProcessLog {
    fn capture() -> &'static Self {
        static LOG: LazyLock<TestProcessLog> = LazyLock::new(|| {
            let log = TestProcessLog::default();
            let writer = log.clone();
            tracing_subscriber::fmt().json().with_writer(move || writer.clone()).init();
            log
        });
        &LOG
    }

    fn lines_with(&self, word: &str) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines()
            .filter(|line| line.contains(word))
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

impl Write for TestProcessLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Write::write(&mut *self.0.lock().unwrap(), bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn panics() {
    panic!("the crane fell over")
}
