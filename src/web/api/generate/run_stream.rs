//! A run of the sandbox as a stream of events, from the queue to its end.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderName;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use crate::app::App;
use crate::sandbox::{
    READER_TIMEOUT, RunEvent, SandboxContestant, SandboxRun, SandboxSlot, SandboxTask, Ticket,
};
use crate::web::derived::NO_STORE;
use crate::work::WorkClient;

/// Proxies close connections that are silent for longer.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Dropping it gives back the place in the queue and ends all requests to providers.
pub(super) struct RunStream {
    pub app: App,
    pub client: WorkClient,
    pub ticket: Ticket,
    pub stage: RunStage,
    pub last_ping: Instant,
}

/// What to build, and the model of each side.
type PendingRun = Box<(SandboxTask, Vec<(SandboxSlot, SandboxContestant)>)>;

pub(super) enum RunStage {
    Starting(PendingRun),
    /// With the last position that was sent.
    Queued(PendingRun, Option<usize>),
    Running(SandboxRun),
    Ended,
}

impl RunStream {
    /// The stream runs in a task of its own, and not while its body is polled: a client that stops reading would
    /// otherwise keep its place in the queue for ever.
    pub fn into_response(self) -> Response {
        let (sender, events) = mpsc::channel(1);
        tokio::spawn(self.forward(sender));
        let lines = stream::unfold(events, |mut events| async move {
            let event = events.recv().await?;
            let mut line = serde_json::to_vec(&event).unwrap_or_default();
            line.push(b'\n');
            Some((Ok::<_, Infallible>(Bytes::from(line)), events))
        });
        let headers = [
            (CONTENT_TYPE, "application/x-ndjson"),
            NO_STORE,
            (HeaderName::from_static("x-accel-buffering"), "no"),
        ];
        (headers, Body::from_stream(lines)).into_response()
    }

    /// Sends events until the run ends, or the client disconnects or stops reading.
    async fn forward(mut self, sender: mpsc::Sender<RunEvent>) {
        loop {
            let event = tokio::select! {
                event = self.next() => event,
                () = sender.closed() => return,
            };
            let Some(event) = event else { return };
            if !timeout(READER_TIMEOUT, sender.send(event)).await.is_ok_and(|sent| sent.is_ok()) {
                return;
            }
        }
    }

    async fn next(&mut self) -> Option<RunEvent> {
        loop {
            match std::mem::replace(&mut self.stage, RunStage::Ended) {
                RunStage::Starting(pending) => {
                    self.stage = RunStage::Queued(pending, None);
                    return Some(RunEvent::Hello);
                }
                RunStage::Queued(pending, last_position) => match self.ticket.position() {
                    None => self.stage = RunStage::Running(self.start(*pending)),
                    Some(position) if last_position != Some(position) => {
                        self.stage = RunStage::Queued(pending, Some(position));
                        return Some(RunEvent::Queue { position });
                    }
                    Some(_) => {
                        self.stage = RunStage::Queued(pending, last_position);
                        let ping_due = self.last_ping + HEARTBEAT;
                        tokio::select! {
                            () = self.ticket.changed() => {}
                            () = self.app.shutdown.cancelled() => {
                                self.stage = RunStage::Ended;
                                return Some(RunEvent::Done);
                            }
                            () = sleep_until(ping_due) => return Some(self.ping()),
                        }
                    }
                },
                RunStage::Running(mut run) => {
                    let ping_due = self.last_ping + HEARTBEAT;
                    let event = tokio::select! {
                        event = run.next() => event,
                        () = sleep_until(ping_due) => Some(self.ping()),
                        () = self.app.shutdown.cancelled() => None,
                    };
                    if event.is_some() {
                        self.stage = RunStage::Running(run);
                    }
                    return Some(event.unwrap_or(RunEvent::Done));
                }
                RunStage::Ended => return None,
            }
        }
    }

    fn start(&self, (task, contestants): (SandboxTask, Vec<(SandboxSlot, SandboxContestant)>)) -> SandboxRun {
        SandboxRun::start(&self.app.pool, &self.app.work, self.client, &task, contestants)
    }

    fn ping(&mut self) -> RunEvent {
        self.last_ping = Instant::now();
        RunEvent::Ping
    }
}
