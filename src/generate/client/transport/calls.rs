//! Calls of a provider's API beside requests to models: documents, uploads, and files of JSON lines.

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{RequestBuilder, Response, Url};
use serde_json::Value;

use super::super::super::{Delta, GenerateError, GenerateErrorKind, Result};
use super::super::body::next_chunk;
use super::super::received::ReceivedAnswer;
use super::HttpTransport;

/// How many bytes a document may have.
const MAX_DOCUMENT: usize = 1 << 20;

/// How many bytes one line may have. Longer ones are skipped.
const MAX_LINE: usize = 16 << 20;

/// How many bytes the files with the results of a batch may have together.
const MAX_RESULTS: usize = 256 << 20;

/// How many bytes a document with results may have, which is read as a whole.
const MAX_RESULTS_DOCUMENT: usize = 64 << 20;

impl HttpTransport {
    pub async fn get(&self, url: Url) -> Result<Value> {
        self.document(self.client.get(url), MAX_DOCUMENT).await
    }

    /// A document as it was sent.
    pub async fn get_text(&self, url: Url) -> Result<String> {
        let body = self.bytes(self.client.get(url), MAX_DOCUMENT).await?;
        String::from_utf8(body).map_err(|_| GenerateError::unusable("the answer is not valid UTF-8"))
    }

    /// A document that may hold all results of a batch.
    pub async fn get_with_results(&self, url: Url) -> Result<Value> {
        self.document(self.client.get(url), MAX_RESULTS_DOCUMENT).await
    }

    pub async fn post_json(&self, url: Url, body: &Value) -> Result<Value> {
        self.document(self.client.post(url).body(body.to_string()), MAX_DOCUMENT).await
    }

    pub async fn upload(&self, url: Url, content_type: &str, body: Vec<u8>) -> Result<Value> {
        let request = self.client.post(url).header(CONTENT_TYPE, content_type).body(body);
        self.document(request, MAX_DOCUMENT).await
    }

    /// Opens a file of JSON lines, after `bytes` of others were read.
    pub async fn json_lines(&self, url: Url, bytes: usize) -> Result<JsonLines> {
        let request = self.client.get(url).header(ACCEPT, "*/*");
        let mut ignore = |_: Delta<'_>| {};
        let response = self.send(request, &mut nothing_kept(&mut ignore)).await?;
        Ok(JsonLines {
            response,
            idle: self.limits.idle,
            buffer: Vec::new(),
            searched: 0,
            bytes,
            skips: false,
            ended: false,
        })
    }

    async fn document(&self, request: RequestBuilder, limit: usize) -> Result<Value> {
        let body = self.bytes(request, limit).await?;
        serde_json::from_slice(&body)
            .map_err(|_| GenerateError::unusable("the answer is not the JSON that was requested"))
    }

    async fn bytes(&self, request: RequestBuilder, limit: usize) -> Result<Vec<u8>> {
        let mut ignore = |_: Delta<'_>| {};
        let mut received = nothing_kept(&mut ignore);
        let response = self.send(request.header(ACCEPT, "application/json"), &mut received).await?;
        let body = self.body(response, Vec::new(), limit, &mut received).await?;
        if body.len() > limit {
            return Err(too_large(limit));
        }
        Ok(body)
    }
}

fn nothing_kept<'a>(ignore: &'a mut (dyn FnMut(Delta<'_>) + Send)) -> ReceivedAnswer<'a> {
    ReceivedAnswer::new(ignore, 0, false)
}

fn too_large(limit: usize) -> GenerateError {
    GenerateError::new(GenerateErrorKind::TooLarge, format!("the answer is longer than {limit} bytes"))
}

/// An id that a provider has given to something, if it is one that can stand in an address.
pub(in crate::generate) fn remote_id(id: Option<&Value>) -> Result<String> {
    let id = id.and_then(Value::as_str).unwrap_or_default();
    if is_plain_id(id) {
        return Ok(id.to_owned());
    }
    Err(GenerateError::unusable("the answer has no usable id"))
}

pub(in crate::generate) fn is_plain_id(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=200).contains(&id.len()) && id.chars().all(is_plain)
}

/// A file of JSON lines as it arrives. No more than one line is kept.
pub(in crate::generate) struct JsonLines {
    response: Response,
    idle: std::time::Duration,
    buffer: Vec<u8>,
    /// How much of the buffer is known to hold no end of a line.
    searched: usize,
    /// How much was read, other files included.
    bytes: usize,
    /// Whether the line that is arriving is too long.
    skips: bool,
    ended: bool,
}

impl JsonLines {
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The next line. One that is too long or no JSON is skipped.
    pub async fn next(&mut self) -> Result<Option<Value>> {
        loop {
            let unsearched = &self.buffer[self.searched..];
            if let Some(end) = unsearched.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=self.searched + end).collect();
                self.searched = 0;
                if !std::mem::take(&mut self.skips)
                    && let Ok(line) = serde_json::from_slice(&line)
                {
                    return Ok(Some(line));
                }
                continue;
            }
            self.searched = self.buffer.len();
            if self.ended {
                let line = std::mem::take(&mut self.buffer);
                self.searched = 0;
                return Ok(if self.skips { None } else { serde_json::from_slice(&line).ok() });
            }
            self.read_more().await?;
        }
    }

    async fn read_more(&mut self) -> Result<()> {
        let mut ignore = |_: Delta<'_>| {};
        let mut received = nothing_kept(&mut ignore);
        match next_chunk(&mut self.response, self.idle, &mut received).await? {
            None => self.ended = true,
            Some(chunk) => {
                self.bytes = self.bytes.saturating_add(chunk.len());
                if self.bytes > MAX_RESULTS {
                    return Err(too_large(MAX_RESULTS));
                }
                if self.buffer.len() + chunk.len() > MAX_LINE {
                    self.skips = true;
                    self.buffer.clear();
                    self.searched = 0;
                }
                self.buffer.extend_from_slice(&chunk);
            }
        }
        Ok(())
    }
}
