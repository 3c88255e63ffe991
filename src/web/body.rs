//! Large request and response bodies, within a memory budget that all of them share.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, EXPECT};
use axum::http::{HeaderMap, HeaderValue};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::{Error, ErrorCode};
use crate::app::App;
use crate::arena::Settings;
use crate::arena::builds::PackedBuild;
use crate::work::{MemoryBudget, WorkClient};
use voxel::Rejection;

/// For reading a large body, and for the work on it.
pub(super) const BODY_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a request waits for memory.
const MEMORY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a body may pause.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// A body holds this much without a share of the memory, and then reserves one share at a time.
const UNMETERED_BYTES: usize = 1 << 16;
const SHARE_BYTES: usize = 1 << 20;

/// How much of a body that is too large is read and dropped.
const DRAIN_BYTES: usize = 64 << 20;

/// A whole body, with its share of the memory.
pub(super) struct LargeBody {
    pub bytes: Vec<u8>,
    _share: OwnedSemaphorePermit,
}

/// Reads a body, still gzipped if it was sent so. None if it is larger than `limit` bytes.
pub(super) async fn read(
    memory: &MemoryBudget,
    request: Request,
    limit: usize,
) -> Result<Option<LargeBody>, Error> {
    refuse_other_encodings(request.headers())?;
    let announced = announced_length(request.headers()).unwrap_or(limit);
    if announced > limit {
        // A client that expects a `100 Continue` has not begun to send its body.
        if !request.headers().contains_key(EXPECT) {
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
        // Memory is reserved only for bytes that have arrived: announcing a large body must not keep others out.
        while shared < bytes.len() + data.len() {
            share.merge(memory.reserve(SHARE_BYTES, MEMORY_TIMEOUT).await.ok_or_else(busy)?);
            shared += SHARE_BYTES;
        }
        bytes.extend(data);
    }
    Ok(Some(LargeBody { bytes, _share: share }))
}

/// Reads on without keeping anything, because many clients read no answer while they are still sending.
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
    let frame = timeout(IDLE_TIMEOUT, body.frame()).await.map_err(|_| ErrorCode::BodyStalled)?;
    let frame = frame.transpose().map_err(|_| ErrorCode::BodyCutOff)?;
    Ok(frame.map(|frame| frame.into_data().unwrap_or_default()))
}

/// Reads a body as a build, and checks it.
pub(super) async fn read_build(
    app: &App,
    client: WorkClient,
    request: Request,
    settings: &Settings,
    limit: usize,
) -> Result<PackedBuild, Error> {
    let body = read(&app.memory, request, limit).await?.ok_or_else(|| too_large(limit))?;
    let settings = settings.clone();
    let parse = move || {
        // All of the body moves into the closure, so that its share of the memory is kept until it is parsed.
        let body = &body;
        PackedBuild::read(&body.bytes, &settings, limit)
    };
    let build = app.work.run(client, parse).await?;
    build.map_err(|Rejection { code, message, .. }| Error::new(code.into(), message))
}

fn too_large(limit: usize) -> Error {
    Error::new(ErrorCode::TooLarge, format!("A build can have at most {} MiB, uncompressed.", limit >> 20))
}

fn busy() -> Error {
    Error::from(ErrorCode::Busy).with_retry_after(5)
}

fn announced_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Gzip is recognised by its first bytes, announced or not. Other encodings cannot be read.
fn refuse_other_encodings(headers: &HeaderMap) -> Result<(), Error> {
    let encoding = headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
    let is_known = |name: &[u8]| {
        ["gzip", "x-gzip", "identity"].iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
    };
    if encoding.is_none_or(is_known) { Ok(()) } else { Err(ErrorCode::UnsupportedEncoding.into()) }
}

/// A large response body, which keeps its share of the memory until it is sent.
pub(super) struct MeteredBody {
    bytes: Bytes,
    _share: OwnedSemaphorePermit,
}

/// How much is handed to the connection at a time. The rest stays here while the visitor does not read.
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
