//! A request over its own connection, which a test can abort at any moment.

use std::fmt;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use reqwest::header::SET_COOKIE;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::voter::TestResponse;

#[derive(Clone, Debug)]
pub struct AbortableRequest {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl fmt::Display for AbortableRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

impl AbortableRequest {
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), headers: Vec::new(), body: Vec::new() }
    }

    pub fn post(path: impl Into<String>, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type", kind.to_owned())];
        Self { method: Method::POST, path: path.into(), headers, body: body.into() }
    }

    pub fn json(path: impl Into<String>, body: &serde_json::Value) -> Self {
        Self::post(path, "application/json", body.to_string())
    }

    pub fn form(path: impl Into<String>, body: &str) -> Self {
        Self::post(path, "application/x-www-form-urlencoded", body)
    }

    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    pub fn header(mut self, header: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((header, value.into()));
        self
    }

    /// The complete response, or `None` if the connection ends early. Dropping the future closes the connection.
    pub async fn send(self, base_url: &str) -> Option<TestResponse> {
        let host = base_url.trim_start_matches("http://");
        let stream = TcpStream::connect(host).await.ok()?;
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
        let mut request = Request::builder()
            .method(self.method)
            .uri(self.path)
            .header("host", host)
            .header("connection", "close");
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(self.body))).unwrap();
        let answer = async move {
            let response = sender.send_request(request).await.ok()?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let bytes = response.into_body().collect().await.ok()?.to_bytes().to_vec();
            Some(TestResponse { status, headers, bytes })
        };
        tokio::join!(answer, connection).0
    }

    /// Sends the request, and closes the connection if there is no complete response within the limit.
    pub async fn send_with_timeout(self, base_url: &str, limit: Duration) -> Option<TestResponse> {
        timeout(limit, self.send(base_url)).await.ok()?
    }
}

impl TestResponse {
    /// The cookie that the response sets, in the form for a `Cookie` header.
    pub fn cookie(&self) -> Option<String> {
        let set = self.headers.get(SET_COOKIE)?.to_str().unwrap();
        Some(set.split(';').next().unwrap().to_owned())
    }
}
