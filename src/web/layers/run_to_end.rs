//! Requests that change something are carried out even when nobody waits for the answer any more.
//!
//! hyper drops a handler when its visitor leaves, wherever it stands. What one transaction does is then done or
//! not done, but a handler often does several things: it renews a session's id, notes it in the log, and the
//! layer of sessions saves the session on the way out. [`run_to_end`] runs all of that in a task of its own, so
//! that it is done together. It belongs around the sessions for that reason.
//!
//! What only reads, or only works for its visitor, ends with them as before: see [`changes_something`].

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
const CHANGED_BY_GET: [&str; 1] = ["/api/arena/matchup"];

/// Asked for with POST, although they are work for whoever asks: checks, and the sandbox's runs, which end with
/// their stream. What is brought into the sandbox is read and checked first, then stored by one statement.
/// Seeding has a task of its own for what it changes, and then only waits.
const DROPPED_WITH_VISITOR: [&str; 4] =
    ["/api/check", "/api/generate", "/api/sandbox/drafts", "/api/admin/seed"];

/// Rides on a request that runs to its end. The deadline cancels it instead of dropping the handler.
#[derive(Clone)]
pub(super) struct Overdue(pub CancellationToken);

/// Runs what is inside in a task of its own if it may change something. A deadline that passes inside is
/// answered at once; the handler goes on, but reads no more of the body.
pub(in crate::web) async fn run_to_end(mut request: Request, next: Next) -> Response {
    if !changes_something(&request) {
        return next.run(request).await;
    }
    let overdue = CancellationToken::new();
    request.extensions_mut().insert(Overdue(overdue.clone()));
    let in_flight = request.extensions().get::<Arc<InFlight>>().cloned();
    let request = request.map(|body| Body::new(UntilOverdue::new(body, overdue.clone())));
    let answering = async move {
        let response = next.run(request).await;
        drop(in_flight);
        response
    };
    let task = tokio::spawn(page::carried_over(answering).in_current_span());
    tokio::select! {
        biased;
        // First: a body that breaks off for this reason has the handler answer at the same moment.
        () = overdue.cancelled() => {
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

fn changes_something(request: &Request) -> bool {
    let route = super::route(request);
    match *request.method() {
        Method::GET | Method::HEAD => CHANGED_BY_GET.contains(&&*route),
        _ => !DROPPED_WITH_VISITOR.contains(&&*route),
    }
}

/// A body that breaks off when its request is overdue: a handler that nobody drops must not wait for ever for
/// a visitor who sends a byte now and then.
struct UntilOverdue {
    body: Body,
    overdue: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl UntilOverdue {
    fn new(body: Body, overdue: CancellationToken) -> Self {
        Self { body, overdue: Box::pin(overdue.cancelled_owned()) }
    }
}

impl HttpBody for UntilOverdue {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        ready!(self.overdue.as_mut().poll(context));
        Poll::Ready(Some(Err(axum::Error::new(io::Error::from(io::ErrorKind::TimedOut)))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
