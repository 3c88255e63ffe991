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
use tokio::time::{Instant, timeout};

use super::data_rate::{DataRateMonitor, MinDataRate};
use super::{Error, ErrorCode};
use crate::app::App;
use crate::arena::Settings;
use crate::arena::builds::PackedBuild;
use crate::work::{FREE_BYTES, MemoryError, MemoryReservation, WorkClient};
use voxel::Rejection;

/// For reading a large body, and for the work on it.
pub(super) const BODY_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a request waits for memory.
pub(super) const MEMORY_TIMEOUT: Duration = Duration::from_secs(5);

/// Memory is reserved in steps of this size.
const STEP_BYTES: usize = 1 << 18;

/// How much of a body that is too large is read and dropped.
const DRAIN_BYTES: usize = 64 << 20;

/// A whole body, with its memory.
pub(super) struct LargeBody {
    pub bytes: Vec<u8>,
    pub memory: MemoryReservation,
}

/// Reads a body, still gzipped if it was sent so. None if it is larger than `limit` bytes.
pub(super) async fn read(
    mut memory: MemoryReservation,
    request: Request,
    limit: usize,
) -> Result<Option<LargeBody>, Error> {
    refuse_other_encodings(request.headers())?;
    let announced = announced_length(request.headers()).unwrap_or(limit);
    // A client that expects a `100 Continue` has not begun to send its body.
    let waits_for_answer = request.headers().contains_key(EXPECT);
    let mut body = IncomingBody::new(request);
    if announced > limit {
        if !waits_for_answer {
            body.drain().await?;
        }
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut room = FREE_BYTES;
    while let Some(data) = body.next().await? {
        let length = bytes.len() + data.len();
        if length > limit {
            drop((bytes, memory));
            body.drain().await?;
            return Ok(None);
        }
        // Memory is reserved only for bytes that have arrived: announcing a large body must not keep others out.
        if length > room {
            room = length.next_multiple_of(STEP_BYTES);
            memory.grow(room, MEMORY_TIMEOUT).await?;
            bytes.reserve_exact(room - bytes.len());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Some(LargeBody { bytes, memory }))
}

/// A body that must arrive at the least rate.
struct IncomingBody {
    body: Body,
    pace: DataRateMonitor,
}

impl IncomingBody {
    fn new(request: Request) -> Self {
        let rate = request.extensions().get::<MinDataRate>().copied().unwrap_or_default();
        Self { body: request.into_body(), pace: DataRateMonitor::new(rate) }
    }

    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let begun = Instant::now();
        let frame = timeout(self.pace.remaining(), self.body.frame()).await;
        let frame = frame.map_err(|_| ErrorCode::BodyStalled)?;
        let data = frame.transpose().map_err(|_| ErrorCode::BodyCutOff)?;
        let data = data.map(|frame| frame.into_data().unwrap_or_default());
        self.pace.waited(begun.elapsed());
        self.pace.transferred(data.as_ref().map_or(0, Bytes::len));
        Ok(data)
    }

    /// Reads on without keeping anything, because many clients read no answer while they are still sending.
    async fn drain(mut self) -> Result<(), Error> {
        let mut remaining = DRAIN_BYTES;
        while let Some(data) = self.next().await? {
            match remaining.checked_sub(data.len()) {
                Some(left) => remaining = left,
                None => break,
            }
        }
        Ok(())
    }
}

/// Reads a body as a build, and checks it.
pub(super) async fn read_build(
    app: &App,
    client: WorkClient,
    memory: MemoryReservation,
    request: Request,
    settings: &Settings,
    limit: usize,
) -> Result<PackedBuild, Error> {
    let body = read(memory, request, limit).await?.ok_or_else(|| too_large(limit))?;
    let settings = settings.clone();
    let parse = move || {
        // All of the body moves into the closure, so that its memory is reserved until it is parsed.
        let body = &body;
        PackedBuild::read(&body.bytes, &settings, limit)
    };
    let build = app.work.run(client, parse).await?;
    build.map_err(|Rejection { code, message, .. }| Error::new(code.into(), message))
}

fn too_large(limit: usize) -> Error {
    Error::new(ErrorCode::TooLarge, format!("A build can have at most {} MiB, uncompressed.", limit >> 20))
}

impl From<MemoryError> for Error {
    fn from(reason: MemoryError) -> Self {
        match reason {
            MemoryError::Busy => Self::from(ErrorCode::Busy).with_retry_after(5),
            MemoryError::TooLarge => ErrorCode::TooLarge.into(),
        }
    }
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

/// A large response body, whose memory is reserved until it is sent.
pub(super) struct MeteredBody {
    bytes: Bytes,
    _memory: MemoryReservation,
}

/// How much is handed to the connection at a time. The rest stays here while the visitor does not read.
const CHUNK_BYTES: usize = 1 << 16;

impl MeteredBody {
    /// Reserve the memory before there are more bytes than one piece of work makes.
    pub fn new(bytes: impl Into<Bytes>, memory: MemoryReservation) -> Self {
        Self { bytes: bytes.into(), _memory: memory }
    }

    /// For bytes that are there already, such as those in a cache.
    pub async fn reserved(app: &App, client: WorkClient, bytes: impl Into<Bytes>) -> Result<Self, Error> {
        let bytes = bytes.into();
        let mut memory = app.memory.of_client(client);
        memory.grow(bytes.len(), MEMORY_TIMEOUT).await?;
        Ok(Self::new(bytes, memory))
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
