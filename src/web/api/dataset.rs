//! `/api/dataset.tar`: the whole public benchmark as one file.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, IF_RANGE, RANGE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use futures_util::stream;
use tokio::time::timeout;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::dataset::DatasetFile;
use crate::limits::LimitedAction;
use crate::web::derived::Representation;
use crate::web::encoding::Encoding;
use crate::web::openapi::codes;
use crate::web::voter::ClientAddress;
use crate::web::{Error, ErrorCode};

/// How long a request waits for the file to be written.
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

const RETRY_SECONDS: u64 = 10;

/// How much is read from the disk at once, and so held in memory for a download.
const PIECE_BYTES: u64 = 128 << 10;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(dataset))
}

/// Download the dataset
///
/// The whole public benchmark as a tar: prompts, models, builds with their specs and grids, votes, decisions about votes,
/// and the ratings that follow. It is described in docs/dataset.md of the source. Writing it takes up to minutes on a
/// large site: a request that has waited for 20 seconds is answered `busy`; send it again. After that the file is the
/// same for up to an hour, so that an interrupted download can be continued, with `Range` and `If-Range`.
#[utoipa::path(
    get, path = "/api/dataset.tar", tag = "Results", operation_id = "dataset",
    params(
        ("range" = Option<String>, Header, description = "One range of bytes.", example = "bytes=0-1023"),
        ("if-range" = Option<String>, Header, description = "The tag of the file that the range is for."),
    ),
    responses(
        (status = OK, description = "The file.", content(("application/x-tar"))),
        (status = PARTIAL_CONTENT, description = "The range.", content(("application/x-tar"))),
        (status = NOT_MODIFIED, description = "The cached copy is current."),
    ),
    extensions(("x-errors" = json!(codes([ErrorCode::NoSuchRange, ErrorCode::RateLimited, ErrorCode::Busy])))),
)]
async fn dataset(
    State(app): State<App>,
    client: ClientAddress,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Error> {
    if method != Method::HEAD {
        client.check_limit(&app, LimitedAction::Dataset)?;
    }
    let file = timeout(WAIT_TIMEOUT, app.dataset.get()).await.map_err(|_| being_written())??;
    let representation = Representation {
        kind: "application/x-tar",
        name: &file.tag,
        encoding: Encoding::Identity,
        cache_control: "no-cache",
    };
    if let Some(known) = representation.not_modified(&headers) {
        return Ok(known);
    }
    let range = match requested_range(&headers, &file) {
        RequestedRange::All => None,
        RequestedRange::Part(range) => Some(range),
        RequestedRange::Outside => {
            let message = format!("The file has {} bytes.", file.bytes);
            return Err(Error::new(ErrorCode::NoSuchRange, message));
        }
    };
    let sent = range.clone().unwrap_or(0..file.bytes);
    let mut response = representation.answer(body(&file, sent.clone()));
    let headers = response.headers_mut();
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(
        CONTENT_DISPOSITION,
        HeaderValue::from_static("attachment; filename=\"buildoff-dataset.tar\""),
    );
    headers.insert(CONTENT_LENGTH, (sent.end - sent.start).into());
    if range.is_some() {
        let part = format!("bytes {}-{}/{}", sent.start, sent.end - 1, file.bytes);
        headers.insert(CONTENT_RANGE, HeaderValue::try_from(part).map_err(Error::internal)?);
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

fn being_written() -> Error {
    let message = format!("The dataset is being written. Try again in {RETRY_SECONDS} seconds.");
    Error::new(ErrorCode::Busy, message).with_retry_after(RETRY_SECONDS)
}

/// Reads the file piece by piece, each when the client has taken the one before.
fn body(file: &Arc<DatasetFile>, sent: Range<u64>) -> Body {
    let file = Arc::clone(file);
    Body::from_stream(stream::try_unfold(sent, move |left| {
        let file = Arc::clone(&file);
        async move {
            if left.is_empty() {
                return Ok(None);
            }
            let next = left.end.min(left.start + PIECE_BYTES);
            let bytes = (next - left.start) as usize;
            let read = tokio::task::spawn_blocking(move || file.read(left.start, bytes));
            let piece: Bytes = read.await.map_err(io::Error::other)??;
            io::Result::Ok(Some((piece, next..left.end)))
        }
    }))
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RequestedRange {
    All,
    Part(Range<u64>),
    /// Bytes that the file does not have.
    Outside,
}

/// Several ranges at once, and what is no range of bytes, are answered with the whole file.
fn requested_range(headers: &HeaderMap, file: &DatasetFile) -> RequestedRange {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let is_other_file = text(IF_RANGE).is_some_and(|tag| tag != format!("\"{}\"", file.tag));
    match text(RANGE) {
        Some(range) if !is_other_file => parse_range(range, file.bytes),
        _ => RequestedRange::All,
    }
}

fn parse_range(text: &str, bytes: u64) -> RequestedRange {
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return RequestedRange::All;
    };
    let range = match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => first..last.saturating_add(1).min(bytes),
        (Ok(first), _) if last.trim().is_empty() => first..bytes,
        (_, Ok(count)) if first.trim().is_empty() => bytes.saturating_sub(count)..bytes,
        _ => return RequestedRange::All,
    };
    if range.is_empty() { RequestedRange::Outside } else { RequestedRange::Part(range) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        for (text, expected) in [
            ("bytes=0-0", RequestedRange::Part(0..1)),
            ("bytes=10-19", RequestedRange::Part(10..20)),
            ("bytes=90-", RequestedRange::Part(90..100)),
            ("bytes=90-1000", RequestedRange::Part(90..100)),
            ("bytes=-10", RequestedRange::Part(90..100)),
            ("bytes=-1000", RequestedRange::Part(0..100)),
            ("bytes=100-", RequestedRange::Outside),
            ("bytes=-0", RequestedRange::Outside),
            ("bytes=0-18446744073709551615", RequestedRange::Part(0..100)),
            ("bytes=5-4", RequestedRange::All),
            ("bytes=0-1,5-6", RequestedRange::All),
            ("bytes=x-", RequestedRange::All),
            ("lines=0-1", RequestedRange::All),
            ("", RequestedRange::All),
        ] {
            assert_eq!(parse_range(text, 100), expected, "{text}");
        }
    }
}
