//! One side of a run.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::ensure;
use async_trait::async_trait;
use serde_json::value::RawValue;
use sqlx::PgPool;
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};

use super::events::{BuildMetrics, RunEvent};
use super::{
    CHARS_PER_TOKEN, READER_TIMEOUT, SIDE_TIMEOUT, SandboxSlot, SandboxTarget, SandboxTask, TargetError,
};
use crate::arena::drafts::{self, DraftOrigin, StoreDraftError};
use crate::arena::jobs::attempts::{Attempt, PastAttempts};
use crate::generate::attempts::{AttemptListener, AttemptLoop, Generated};
use crate::generate::build::{BuildAnswer, BuildTask};
use crate::generate::{Delta, Progress};
use crate::work::{WorkClient, WorkPool};

/// How often progress is sent at most.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// A longer spec is not sent. Its grid can still be fetched.
const MAX_SPEC_BYTES: usize = 8 << 20;

/// How much of a rejected answer is sent.
const MAX_RAW_CHARS: usize = 256 << 10;

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
            Ok(target) => self.generate(target).await,
            Err(TargetError { code, message }) => Some(self.error(code, message, None)),
        };
        if let Some(end) = end {
            self.send(end).await;
        }
    }

    /// Generates a build, and returns the last event; none if the reader has gone.
    async fn generate(&self, target: SandboxTarget) -> Option<RunEvent> {
        let attempt_loop = self.attempt_loop(target);
        let progress = ProgressBuffer::default();
        let mut listener = ProgressListener { side: self, progress: &progress, last_rejected: None };
        let result = tokio::select! {
            result = attempt_loop.run(&mut listener) => result,
            () = self.stream_progress(&progress) => return None,
            () = sleep(SIDE_TIMEOUT) => {
                let message = format!("The model took longer than {} minutes.", SIDE_TIMEOUT.as_secs() / 60);
                return Some(self.error("timed_out", message, listener.last_rejected));
            }
        };
        match result {
            Ok(generated) => Some(self.store_draft(generated).await),
            Err(error) if error.cancelled_by.is_some() => None,
            Err(error) => Some(self.error(error.kind.code(), error.message, listener.last_rejected)),
        }
    }

    fn attempt_loop(&self, target: SandboxTarget) -> AttemptLoop<BuildTask> {
        let SandboxTask { prompt, settings, max_bytes, attempts, site } = self.task.clone();
        AttemptLoop {
            task: Arc::new(BuildTask { prompt, settings, max_bytes, site: Some(site) }),
            provider: target.provider,
            model: target.model,
            // Builds are asked for in words.
            vision: false,
            options: target.options,
            max_attempts: attempts,
            past: PastAttempts::default(),
            work: self.work.clone(),
            work_client: self.client,
        }
    }

    /// Sends what has come in, a few times a second or as often as the reader takes it. Ends when the reader has gone.
    async fn stream_progress(&self, progress: &ProgressBuffer) {
        loop {
            progress.changed.notified().await;
            if !progress.flush(self).await {
                return;
            }
            sleep(PROGRESS_INTERVAL).await;
        }
    }

    async fn store_draft(&self, generated: Generated<BuildAnswer>) -> RunEvent {
        let origin = DraftOrigin {
            prompt: self.task.prompt.clone(),
            settings: self.task.settings.clone(),
            model: self.name.clone(),
            generation: generated.info(),
        };
        let Generated { output: BuildAnswer { build, spec }, attempts, generation_time } = generated;
        let raw = clip(&spec);
        let sent = (spec.len() <= MAX_SPEC_BYTES).then_some(spec);
        let Ok(voxel_build) = self.work.run(self.client, || sent.and_then(strip_line_breaks)).await else {
            let message = "Too many builds are being processed. Try again in a moment.".to_owned();
            return self.error("busy", message, Some(raw));
        };
        let id = match drafts::store(&self.pool, &origin, &build).await {
            Ok(id) => id,
            Err(StoreDraftError::Full) => {
                let message = "The sandbox has no room for more builds. Try again in an hour.".to_owned();
                return self.error("busy", message, Some(raw));
            }
            Err(StoreDraftError::Database(error)) => {
                tracing::error!(%error, "a draft could not be stored");
                return self.error("internal", "The build could not be stored.".to_owned(), Some(raw));
            }
        };
        RunEvent::Result {
            slot: self.slot,
            model_key: self.name.clone(),
            voxel_build,
            metrics: BuildMetrics {
                block_count: build.block_count,
                warnings: build.warnings,
                generation_time_ms: u64::try_from(generation_time.as_millis()).unwrap_or(u64::MAX),
                attempts,
            },
            grid_url: format!("/api/sandbox/drafts/{id}/grid"),
            draft_id: id,
        }
    }

    fn error(&self, code: &str, message: String, raw: Option<String>) -> RunEvent {
        RunEvent::Error { slot: self.slot, model_key: self.name.clone(), code: code.to_owned(), message, raw }
    }

    /// Returns whether the reader is still there.
    async fn send(&self, event: RunEvent) -> bool {
        timeout(READER_TIMEOUT, self.sender.send(event)).await.is_ok_and(|sent| sent.is_ok())
    }
}

/// What has come in and was not sent yet.
#[derive(Default)]
struct ProgressBuffer {
    /// The progress, and whether it has changed since the last event.
    current: Mutex<(Progress, bool)>,
    changed: Notify,
    /// Held while an event is sent, so that events leave in the order in which they were made.
    flush_lock: tokio::sync::Mutex<()>,
}

impl ProgressBuffer {
    fn update(&self, update: impl FnOnce(&mut Progress)) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        update(&mut current.0);
        current.1 = true;
        drop(current);
        self.changed.notify_one();
    }

    /// Sends what is new, if anything is. Returns whether the reader is still there.
    async fn flush(&self, side: &SideRunner) -> bool {
        let _flushing = self.flush_lock.lock().await;
        match self.take_event(side) {
            Some(event) => side.send(event).await,
            None => true,
        }
    }

    fn take_event(&self, side: &SideRunner) -> Option<RunEvent> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let (progress, is_new) = &mut *current;
        mem::take(is_new).then(|| RunEvent::Progress {
            slot: side.slot,
            model_key: side.name.clone(),
            chars: progress.chars,
            tokens: progress.usage.output.unwrap_or((progress.chars / CHARS_PER_TOKEN) as u64),
            delta: mem::take(&mut progress.text),
            note: progress.note.clone(),
        })
    }
}

struct ProgressListener<'a> {
    side: &'a SideRunner,
    progress: &'a ProgressBuffer,
    /// The beginning of the last answer, if it was not accepted.
    last_rejected: Option<String>,
}

#[async_trait]
impl AttemptListener for ProgressListener<'_> {
    async fn on_attempt_start(&mut self) -> anyhow::Result<()> {
        self.progress.update(|progress| *progress = Progress::default());
        Ok(())
    }

    fn on_delta(&mut self, delta: Delta<'_>) {
        self.progress.update(|progress| progress.apply(&delta));
    }

    async fn on_attempt_end(&mut self, attempt: &Attempt, next: Option<u32>) -> anyhow::Result<()> {
        ensure!(self.progress.flush(self.side).await, "the reader has gone");
        let Some(reason) = attempt.message.clone() else { return Ok(()) };
        self.last_rejected = Some(clip(&attempt.answer)).filter(|answer| !answer.is_empty());
        if let Some(attempt) = next {
            let (slot, model_key) = (self.side.slot, self.side.name.clone());
            self.side.send(RunEvent::Retry { slot, model_key, attempt, reason }).await;
        }
        Ok(())
    }
}

/// Puts a spec on one line, because an event is a line. In JSON, line breaks are only between tokens.
fn strip_line_breaks(spec: String) -> Option<Box<RawValue>> {
    let line = if spec.contains(['\n', '\r']) { spec.replace(['\n', '\r'], "") } else { spec };
    RawValue::from_string(line).ok()
}

fn clip(text: &str) -> String {
    text.chars().take(MAX_RAW_CHARS).collect()
}
