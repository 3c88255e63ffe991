//! Requests that change something run to their end, even if the visitor leaves.
//!
//! hyper drops a handler at whatever `.await` it has reached when its visitor leaves. A transaction is atomic, but a
//! handler often does several things: it renews a session's id and writes to the audit log, and then the session
//! layer saves the session. [`run_to_end`] runs all of this in a task of its own, so that a visitor who
//! leaves cannot stop it halfway. The layer therefore has to be outside the session layer.
//!
//! Requests that only read or compute end with their visitor: see [`is_mutating`].

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
use crate::web::{Error, ErrorCode, page};

/// GETs, although they open a matchup or a judging.
const MUTATING_GET_ROUTES: [&str; 2] = ["/api/arena/matchup", "/api/judge/next"];

/// POSTs that may be dropped at any point. Checks store nothing, and a run of the sandbox ends with its stream. A
/// draft is read and checked first, then stored by a single statement. Seeding makes its changes in a task of its
/// own, and then only waits, and so does whatever an agent is asked for.
const CANCELLABLE_ROUTES: [&str; 5] =
    ["/api/check", "/api/generate", "/api/sandbox/drafts", "/api/admin/seed", "/a2a"];

/// Travels with a request that runs to its end. The deadline cancels it instead of dropping the handler.
#[derive(Clone)]
pub(super) struct Deadline(pub CancellationToken);

/// Runs the routes inside in a task of their own if they may change something. When the deadline inside passes, the
/// visitor is answered at once; the handler continues, but reads no more of the body.
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
        // The deadline goes first: it also cuts off the body, so the handler may answer at the same moment.
        () = timed_out.cancelled() => {
            let message = "This takes longer than usual and continues in the background. Check again in a moment.";
            Error::new(ErrorCode::TimedOut, message).into_response()
        }
        ended = task => ended.unwrap_or_else(|lost| match lost.try_into_panic() {
            // The layer that catches panics logs it.
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

/// A body that ends with an error once the deadline has passed. Nobody drops this handler, so it must not wait for
/// ever for a visitor who sends a byte now and then.
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
