//! Large bodies, read within the memory that all of them share.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::Error;
use crate::work::MemoryBudget;
use voxel::{Rejection, RejectionCode};

/// How long a large body and the work on it may take.
pub(super) const BODY_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a request waits for its share of memory.
const MEMORY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the next piece of a body may take.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// What a body may hold without a share of the memory, and the share it takes at a time.
const UNMETERED_BYTES: usize = 1 << 16;
const SHARE_BYTES: usize = 1 << 20;

/// How much of a body that is too large is read all the same.
const DRAIN_BYTES: usize = 64 << 20;

/// A body that was read whole, and its share of the memory.
pub(super) struct LargeBody {
    pub bytes: Vec<u8>,
    _share: OwnedSemaphorePermit,
}

/// Reads a body, gzipped or plain; none if it is larger than `limit` bytes.
pub(super) async fn read(
    memory: &MemoryBudget,
    request: Request,
    limit: usize,
) -> Result<Option<LargeBody>, Error> {
    refuse_other_encodings(request.headers())?;
    let announced = announced_length(request.headers()).unwrap_or(limit);
    if announced > limit {
        if !expects_continue(request.headers()) {
            drain(request.into_body()).await?;
        }
        return Ok(None);
    }
    let mut body = request.into_body();
    let mut bytes = Vec::new();
    let mut share = memory.reserve(0, MEMORY_TIMEOUT).await.ok_or_else(busy)?;
    let mut shared = UNMETERED_BYTES;
    while let Some(data) = next(&mut body).await? {
        if bytes.len() + data.len() > limit {
            drop((bytes, share));
            drain(body).await?;
            return Ok(None);
        }
        // Only for what has arrived: announcing a lot must not keep others out.
        while shared < bytes.len() + data.len() {
            share.merge(memory.reserve(SHARE_BYTES, MEMORY_TIMEOUT).await.ok_or_else(busy)?);
            shared += SHARE_BYTES;
        }
        bytes.extend(data);
    }
    Ok(Some(LargeBody { bytes, _share: share }))
}

/// Reads on without keeping anything: a client that is still sending would not hear the answer.
async fn drain(mut body: Body) -> Result<(), Error> {
    let mut remaining = DRAIN_BYTES;
    while let Some(data) = next(&mut body).await? {
        match remaining.checked_sub(data.len()) {
            Some(left) => remaining = left,
            None => break,
        }
    }
    Ok(())
}

async fn next(body: &mut Body) -> Result<Option<Bytes>, Error> {
    let cut_off = |_| Error::bad_request("body_cut_off", "The body ended before it was whole.");
    let frame =
        timeout(IDLE_TIMEOUT, body.frame()).await.map_err(|_| stalled())?.transpose().map_err(cut_off)?;
    Ok(frame.map(|frame| frame.into_data().unwrap_or_default()))
}

/// A client that announces its body and sends it only when asked to.
fn expects_continue(headers: &HeaderMap) -> bool {
    headers.contains_key(EXPECT)
}

/// What was refused is its sender's to mend.
pub(super) fn rejection_error(rejection: Rejection) -> Error {
    let status = match rejection.code {
        RejectionCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        code if code.is_rule() => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::BAD_REQUEST,
    };
    Error::new(status, rejection.code.name(), rejection.message)
}

pub(super) fn too_large(limit: usize) -> Error {
    let message = format!("A build has at most {} MiB here, inflated.", limit >> 20);
    Error::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
}

fn stalled() -> Error {
    Error::new(StatusCode::REQUEST_TIMEOUT, "body_stalled", "The body stopped coming.")
}

fn busy() -> Error {
    Error::unavailable("busy", "Many large bodies are being read. Please try again in a moment.")
        .with_header(RETRY_AFTER, HeaderValue::from_static("5"))
}

fn announced_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Gzip shows by its first bytes; nothing else can be read.
fn refuse_other_encodings(headers: &HeaderMap) -> Result<(), Error> {
    let encoding = headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
    let is_known = |said: &[u8]| {
        ["gzip", "x-gzip", "identity"].iter().any(|known| said.eq_ignore_ascii_case(known.as_bytes()))
    };
    match encoding {
        None => Ok(()),
        Some(said) if is_known(said) => Ok(()),
        Some(_) => {
            let message = "A body may be plain or gzipped, not encoded otherwise.";
            Err(Error::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_encoding", message))
        }
    }
}

/// An answer that is large, and its share of the memory until it is sent.
pub(super) struct MeteredBody {
    bytes: Bytes,
    _share: OwnedSemaphorePermit,
}

/// What is handed on at a time: while the visitor does not read, the rest stays here.
const CHUNK_BYTES: usize = 1 << 16;

impl MeteredBody {
    pub async fn new(memory: &MemoryBudget, bytes: Bytes) -> Result<Self, Error> {
        let share = memory.reserve(bytes.len(), MEMORY_TIMEOUT).await.ok_or_else(busy)?;
        Ok(Self { bytes, _share: share })
    }
}

impl HttpBody for MeteredBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.bytes.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.bytes.len().min(CHUNK_BYTES);
        let chunk = self.bytes.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}
