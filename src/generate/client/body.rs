//! The bytes of a response as they arrive.

use std::time::Duration;

use axum::body::Bytes;
use reqwest::Response;
use tokio::time::timeout;

use super::super::{GenerateError, GenerateErrorKind, Result};
use super::received::ReceivedAnswer;
use super::text::error_chain;

/// The next piece of a body, or none at its end.
pub(super) async fn next_chunk(
    response: &mut Response,
    idle: Duration,
    received: &mut ReceivedAnswer<'_>,
) -> Result<Option<Bytes>> {
    let chunk = timeout(idle, response.chunk()).await.map_err(|_| GenerateError::stalled(idle))?;
    let chunk = chunk.map_err(|error| {
        let message = format!("the connection ended in the middle of the answer: {}", error_chain(error));
        GenerateError::new(GenerateErrorKind::CutOff, message)
    })?;
    received.keep_raw(chunk.as_deref().unwrap_or_default());
    Ok(chunk)
}
