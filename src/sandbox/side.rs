//! One side of a run.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::ensure;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;
use sqlx::PgPool;
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::{READER_TIMEOUT, SIDE_TIMEOUT, SandboxSlot, SandboxTarget, SandboxTask, TargetError};
use crate::arena::builds::{GenerationInfo, PackedBuild};
use crate::arena::drafts::{self, DraftOrigin, StoreDraftError};
use crate::generate::Delta;
use crate::generate::attempts::{
    Attempt, AttemptListener, BuildFailure, BuildRequest, FailureReason, GeneratedBuild,
};
use crate::work::{WorkClient, WorkPool};
use voxel::Warning;

/// Between words of progress.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// A spec beyond this is not sent along; its grid is.
const MAX_SPEC_BYTES: usize = 8 << 20;

/// What is told of a run, as one line of JSON.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum RunEvent {
    Hello,
    /// Its place among those who wait; 1 comes next.
    Queue {
        position: usize,
    },
    Start {
        slot: SandboxSlot,
        model_key: String,
    },
    Progress {
        slot: SandboxSlot,
        model_key: String,
        /// Of the answer so far, and about how many tokens that is.
        chars: usize,
        tokens: u64,
        /// What has come since the last time.
        delta: String,
        /// What it is doing while nothing comes.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    Retry {
        slot: SandboxSlot,
        model_key: String,
        attempt: u32,
        reason: String,
    },
    Result {
        slot: SandboxSlot,
        model_key: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        voxel_build: Option<Box<RawValue>>,
        metrics: BuildMetrics,
        grid_url: String,
        draft_id: Uuid,
    },
    Error {
        slot: SandboxSlot,
        model_key: String,
        code: String,
        message: String,
        /// What was answered last, where it was no build.
        #[serde(skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
    },
    Ping,
    Done,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BuildMetrics {
    pub block_count: u32,
    pub warnings: Vec<Warning>,
    pub generation_time_ms: u64,
    pub attempts: u32,
}

pub(super) struct SideRunner {
    pub slot: SandboxSlot,
    pub name: String,
    pub task: SandboxTask,
    pub pool: PgPool,
    pub work: WorkPool,
    /// Whoever watches.
    pub client: WorkClient,
    pub sender: mpsc::Sender<RunEvent>,
}

impl SideRunner {
    pub async fn run(self, target: Result<SandboxTarget, TargetError>) {
        self.send(RunEvent::Start { slot: self.slot, model_key: self.name.clone() }).await;
        let end = match target {
            Ok(target) => self.ask(target).await,
            Err(TargetError { code, message }) => Some(self.error(code, message, None)),
        };
        if let Some(end) = end {
            self.send(end).await;
        }
    }

    /// Asks, tells how it goes, and returns how it ends; none if nobody listens any more.
    async fn ask(&self, target: SandboxTarget) -> Option<RunEvent> {
        let SandboxTarget { provider, model, options } = target;
        let SandboxTask { prompt, settings, max_bytes, attempts } = &self.task;
        let mut build_request =
            BuildRequest::new(provider, model, prompt, settings.clone()).with_options(options);
        build_request.attempts = *attempts;
        build_request.max_bytes = *max_bytes;
        let progress = ProgressBuffer::default();
        let mut listener =
            ProgressListener { side: self, progress: progress.clone(), last_rejected: String::new() };
        let (work, client) = (self.work.clone(), self.client);
        let off_thread = move |check| {
            let work = work.clone();
            async move { Ok(work.run(client, check).await?) }
        };
        let result = tokio::select! {
            result = build_request.run(off_thread, &mut listener) => result,
            () = self.stream_progress(&progress) => return None,
            () = sleep(SIDE_TIMEOUT) => {
                let message = format!("It took longer than {} minutes.", SIDE_TIMEOUT.as_secs() / 60);
                return Some(self.error("timed_out", message, (!listener.last_rejected.is_empty()).then_some(listener.last_rejected)));
            }
        };
        match result {
            Ok(generated) => Some(self.store_draft(generated).await),
            Err(BuildFailure { reason: FailureReason::ListenerFailed(_), .. }) => None,
            Err(BuildFailure { reason, .. }) => {
                let raw = (!listener.last_rejected.is_empty()).then_some(listener.last_rejected);
                Some(self.error(reason.code(), reason.to_string(), raw))
            }
        }
    }

    /// Tells what has come in, a few times a second, or as often as the reader takes it. Ends when nobody does.
    async fn stream_progress(&self, progress: &ProgressBuffer) {
        loop {
            progress.changed.notified().await;
            if !progress.flush(self).await {
                return;
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    async fn store_draft(&self, generated: GeneratedBuild) -> RunEvent {
        let GeneratedBuild { build, spec, warnings, attempts, generation_time, .. } = generated;
        let raw = clip(&spec);
        let generation_time_ms = u64::try_from(generation_time.as_millis()).unwrap_or(u64::MAX);
        let packing = self.work.run(self.client, move || {
            let packed = PackedBuild::new(&build, &spec, warnings);
            let sent = (spec.len() <= MAX_SPEC_BYTES).then(|| strip_line_breaks(spec)).flatten();
            (packed, sent)
        });
        let Ok((packed, voxel_build)) = packing.await else {
            return self.error("busy", "There is too much to do here just now.".to_owned(), Some(raw));
        };
        let origin = DraftOrigin {
            prompt: self.task.prompt.clone(),
            settings: self.task.settings.clone(),
            model: self.name.clone(),
            generation: GenerationInfo {
                attempts: i32::try_from(attempts).ok(),
                generation_time_ms: i64::try_from(generation_time_ms).ok(),
            },
        };
        let stored = drafts::store(&self.pool, &origin, &packed).await;
        let id = match stored {
            Ok(id) => id,
            Err(StoreDraftError::Full) => {
                return self.error("busy", "The sandbox is full just now.".to_owned(), Some(raw));
            }
            Err(StoreDraftError::Database(error)) => {
                tracing::error!(%error, "a draft could not be stored");
                return self.error("internal", "The build could not be stored here.".to_owned(), Some(raw));
            }
        };
        RunEvent::Result {
            slot: self.slot,
            model_key: self.name.clone(),
            voxel_build,
            metrics: BuildMetrics {
                block_count: packed.block_count,
                warnings: packed.warnings,
                generation_time_ms,
                attempts,
            },
            grid_url: format!("/api/sandbox/drafts/{id}/grid"),
            draft_id: id,
        }
    }

    fn error(&self, code: &str, message: String, raw: Option<String>) -> RunEvent {
        RunEvent::Error { slot: self.slot, model_key: self.name.clone(), code: code.to_owned(), message, raw }
    }

    /// Returns whether somebody has taken it, or will.
    async fn send(&self, event: RunEvent) -> bool {
        timeout(READER_TIMEOUT, self.sender.send(event)).await.is_ok_and(|sent| sent.is_ok())
    }
}

/// What has come in and is not told yet.
#[derive(Clone, Default)]
struct ProgressBuffer {
    current: Arc<Mutex<SideProgress>>,
    changed: Arc<Notify>,
    /// Who tells something finishes before the next one does.
    flush_lock: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct SideProgress {
    delta: String,
    chars: usize,
    tokens: Option<u64>,
    note: Option<String>,
    is_new: bool,
}

/// About so many characters are a token of such a text.
const CHARS_PER_TOKEN: usize = 3;

impl ProgressBuffer {
    fn update(&self, update: impl FnOnce(&mut SideProgress)) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        update(&mut current);
        current.is_new = true;
        drop(current);
        self.changed.notify_one();
    }

    /// Tells what is new, if anything is. Returns whether somebody listens.
    async fn flush(&self, side: &SideRunner) -> bool {
        let _flushing = self.flush_lock.lock().await;
        match self.take_event(side) {
            Some(event) => side.send(event).await,
            None => true,
        }
    }

    fn take_event(&self, side: &SideRunner) -> Option<RunEvent> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::take(&mut current.is_new) {
            return None;
        }
        Some(RunEvent::Progress {
            slot: side.slot,
            model_key: side.name.clone(),
            chars: current.chars,
            tokens: current.tokens.unwrap_or((current.chars / CHARS_PER_TOKEN) as u64),
            delta: std::mem::take(&mut current.delta),
            note: current.note.clone(),
        })
    }
}

struct ProgressListener<'a> {
    side: &'a SideRunner,
    progress: ProgressBuffer,
    /// The latest answer that was no build.
    last_rejected: String,
}

/// What is repeated of an answer that was no build.
const MAX_RAW_CHARS: usize = 256 << 10;

impl AttemptListener for ProgressListener<'_> {
    fn on_attempt_start(&mut self, _: u32) -> BoxFuture<'_, anyhow::Result<()>> {
        self.progress.update(|current| *current = SideProgress::default());
        Box::pin(std::future::ready(Ok(())))
    }

    fn on_delta(&mut self, _: u32, delta: Delta<'_>) {
        self.progress.update(|current| match delta {
            Delta::Text(text) => {
                current.delta.push_str(text);
                current.chars += text.chars().count();
                current.note = None;
            }
            Delta::Sent => current.note = None,
            Delta::Thinking { .. } => current.note = Some("thinking".to_owned()),
            Delta::Usage(usage) => current.tokens = usage.output.or(current.tokens),
            Delta::Waiting { reason, seconds, .. } => {
                current.note = Some(format!("asking again in {seconds:.0} s: {reason}"));
            }
        });
    }

    fn on_attempt_end<'a>(&'a mut self, attempt: &'a Attempt) -> BoxFuture<'a, anyhow::Result<()>> {
        Box::pin(async move {
            ensure!(self.progress.flush(self.side).await, "nobody listens");
            let Some(reason) = attempt.outcome.message() else { return Ok(()) };
            self.last_rejected = clip(&attempt.text);
            if attempt.again {
                let (slot, model_key) = (self.side.slot, self.side.name.clone());
                let attempt = attempt.number + 1;
                self.side.send(RunEvent::Retry { slot, model_key, attempt, reason: reason.to_owned() }).await;
            }
            Ok(())
        })
    }
}

/// An event is a line, so what is in it has none of its own. In JSON, only white space holds line breaks.
fn strip_line_breaks(spec: String) -> Option<Box<RawValue>> {
    let line = if spec.contains(['\n', '\r']) { spec.replace(['\n', '\r'], "") } else { spec };
    RawValue::from_string(line).ok()
}

fn clip(text: &str) -> String {
    text.chars().take(MAX_RAW_CHARS).collect()
}
