//! A minimal browser: one persistent connection and one cookie.

use std::io::Read;
use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, COOKIE, HOST, HeaderValue, SET_COOKIE};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;

/// A client that opens its connection when it needs one.
pub struct LoadClient {
    address: SocketAddr,
    connection: Option<SendRequest<Full<Bytes>>>,
    pub cookie: Option<String>,
}

pub struct LoadResponse {
    pub status: u16,
    pub body: Vec<u8>,
}

impl LoadResponse {
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.body).with_context(|| String::from_utf8_lossy(&self.body).into_owned())
    }

    /// The status, and the code if it is an error.
    pub fn status_and_code(&self) -> String {
        let error: Option<serde_json::Value> = serde_json::from_slice(&self.body).ok();
        let code = error.as_ref().and_then(|error| error["code"].as_str()).unwrap_or("");
        format!("{} {code}", self.status).trim_end().to_owned()
    }
}

impl LoadClient {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, connection: None, cookie: None }
    }

    pub async fn get(&mut self, path: &str) -> Result<LoadResponse> {
        self.request(Method::GET, path, None).await
    }

    pub async fn post(&mut self, path: &str, json: String) -> Result<LoadResponse> {
        self.request(Method::POST, path, Some(json)).await
    }

    async fn request(&mut self, method: Method, path: &str, json: Option<String>) -> Result<LoadResponse> {
        let mut request =
            Request::builder().method(method).uri(path).header(HOST, "load").header(ACCEPT_ENCODING, "br");
        if let Some(cookie) = &self.cookie {
            request = request.header(COOKIE, cookie);
        }
        if json.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request.body(Full::from(json.unwrap_or_default()))?;
        let answer = self.send(request).await;
        if answer.is_err() {
            self.connection = None;
        }
        answer
    }

    async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<LoadResponse> {
        let connection = self.connection().await?;
        connection.ready().await?;
        let response = connection.send_request(request).await?;
        let (head, body) = response.into_parts();
        let mut body = body.collect().await?.to_bytes().to_vec();
        match head.headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes) {
            None => {}
            Some(b"br") => body = decompress(&body)?,
            Some(other) => bail!("a response has the unknown encoding {}", String::from_utf8_lossy(other)),
        }
        if let Some(cookie) = head.headers.get(SET_COOKIE) {
            self.cookie = cookie.to_str()?.split(';').next().map(str::to_owned);
        }
        Ok(LoadResponse { status: head.status.as_u16(), body })
    }

    async fn connection(&mut self) -> Result<&mut SendRequest<Full<Bytes>>> {
        if self.connection.as_ref().is_none_or(SendRequest::is_closed) {
            let stream = TcpStream::connect(self.address).await?;
            stream.set_nodelay(true)?;
            let (sender, connection) = handshake(TokioIo::new(stream)).await?;
            tokio::spawn(connection);
            self.connection = Some(sender);
        }
        self.connection.as_mut().context("no connection")
    }
}

fn decompress(compressed: &[u8]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    brotli::Decompressor::new(compressed, compressed.len().min(1 << 16)).read_to_end(&mut body)?;
    Ok(body)
}
