//! Requests that change something are carried out even when nobody waits for the answer any more.
//!
//! hyper drops a handler when its visitor leaves, wherever it stands. What one transaction does is then done or
//! not done, but a handler often does several things: it renews a session's id, notes it in the log, and the
//! layer of sessions saves the session on the way out. [`run_to_end`] runs all of that in a task of its own, so
//! that it is done together. It belongs around the sessions for that reason.
//!
//! What only reads, or only works for its visitor, ends with them as before: see [`is_mutating`].

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::{io, panic};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tracing::Instrument;

use crate::metrics::InFlight;
use crate::web::{Error, page};

/// Asked for with GET, although it opens a matchup.
const MUTATING_GET_ROUTES: [&str; 1] = ["/api/arena/matchup"];

/// Asked for with POST, although they are work for whoever asks: checks, and the sandbox's runs, which end with
/// their stream. What is brought into the sandbox is read and checked first, then stored by one statement.
/// Seeding has a task of its own for what it changes, and then only waits.
const CANCELLABLE_ROUTES: [&str; 4] =
    ["/api/check", "/api/generate", "/api/sandbox/drafts", "/api/admin/seed"];

/// Rides on a request that runs to its end. The deadline cancels it instead of dropping the handler.
#[derive(Clone)]
pub(super) struct Deadline(pub CancellationToken);

/// Runs what is inside in a task of its own if it may change something. A deadline that passes inside is
/// answered at once; the handler goes on, but reads no more of the body.
pub(in crate::web) async fn run_to_end(mut request: Request, next: Next) -> Response {
    if !is_mutating(&request) {
        return next.run(request).await;
    }
    let timed_out = CancellationToken::new();
    request.extensions_mut().insert(Deadline(timed_out.clone()));
    let in_flight = request.extensions().get::<Arc<InFlight>>().cloned();
    let request = request.map(|body| Body::new(CancellableBody::new(body, timed_out.clone())));
    let response = async move {
        let answer = next.run(request).await;
        drop(in_flight);
        answer
    };
    let task = tokio::spawn(page::inherit_location(response).in_current_span());
    tokio::select! {
        biased;
        // First: a body that breaks off for this reason has the handler answer at the same moment.
        () = timed_out.cancelled() => {
            let message = "This takes longer than usual and goes on. Please look again in a moment.";
            Error::unavailable("timed_out", message).into_response()
        }
        ended = task => ended.unwrap_or_else(|lost| match lost.try_into_panic() {
            // For the layer that catches panics.
            Ok(reason) => panic::resume_unwind(reason),
            Err(lost) => Error::internal(lost).into_response(),
        }),
    }
}

fn is_mutating(request: &Request) -> bool {
    let route = super::route(request);
    match *request.method() {
        Method::GET | Method::HEAD => MUTATING_GET_ROUTES.contains(&&*route),
        _ => !CANCELLABLE_ROUTES.contains(&&*route),
    }
}

/// A body that breaks off when its request is overdue: a handler that nobody drops must not wait for ever for
/// a visitor who sends a byte now and then.
struct CancellableBody {
    body: Body,
    timed_out: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl CancellableBody {
    fn new(body: Body, timed_out: CancellationToken) -> Self {
        Self { body, timed_out: Box::pin(timed_out.cancelled_owned()) }
    }
}

impl HttpBody for CancellableBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        ready!(self.timed_out.as_mut().poll(context));
        Poll::Ready(Some(Err(axum::Error::new(io::Error::from(io::ErrorKind::TimedOut)))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
