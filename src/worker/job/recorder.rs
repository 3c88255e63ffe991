//! Stores a job's attempts as they are made.

use std::future::pending;

use async_trait::async_trait;

use super::{JobRun, RequestPhase, WorkerJob, with_retries};
use crate::arena::agents;
use crate::arena::jobs::AnswerProgress;
use crate::arena::jobs::attempts::{self, Attempt, Outcome};
use crate::arena::jobs::pauses::ProviderTrouble;
use crate::generate::attempts::AttemptListener;
use crate::generate::cost::attempt_cost;
use crate::generate::{Delta, GenerateErrorKind, Progress, Usage};

/// What has streamed in of the attempt under way and is not known to be stored. The attempt loop fills it while the
/// heartbeat empties it.
#[derive(Default)]
pub(super) struct StreamBuffer {
    attempt: i32,
    /// Where in the answer the text of `progress` begins, in bytes.
    offset: i32,
    progress: Progress,
    stored_usage: UsedSoFar,
    remote_id: Option<String>,
}

/// What an answer under way has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UsedSoFar {
    pub reported: Usage,
    /// Characters that have streamed in, thoughts included.
    pub chars: usize,
}

impl StreamBuffer {
    /// What is to be stored; what was used only if that has changed.
    pub fn snapshot(&self) -> (AnswerProgress, Option<UsedSoFar>) {
        let Self { attempt, offset, progress, stored_usage, remote_id } = self;
        let answer = AnswerProgress {
            attempt: *attempt,
            offset: *offset,
            text: progress.text.clone(),
            chars: i64::try_from(progress.chars).unwrap_or(i64::MAX),
            note: progress.note.clone(),
            remote_id: remote_id.clone(),
        };
        let used = UsedSoFar { reported: progress.usage, chars: progress.chars + progress.thought_chars };
        (answer, Some(used).filter(|used| used != stored_usage))
    }

    /// Removes what is stored. More text may have come since the snapshot, or another attempt may have begun.
    pub fn mark_stored(&mut self, stored: &AnswerProgress) {
        if self.attempt == stored.attempt {
            let bytes = stored.text.len();
            self.progress.text.drain(..bytes);
            self.offset = self.offset.saturating_add(i32::try_from(bytes).unwrap_or(i32::MAX));
        }
    }

    pub fn mark_usage_stored(&mut self, attempt: i32, usage: UsedSoFar) {
        if self.attempt == attempt {
            self.stored_usage = usage;
        }
    }
}

#[async_trait]
impl<J: WorkerJob> AttemptListener for &JobRun<'_, J> {
    async fn on_attempt_start(&mut self) -> anyhow::Result<()> {
        // When the server is stopping, an attempt would be interrupted as soon as it has begun to cost something.
        if self.worker.is_draining() {
            pending::<()>().await;
        }
        self.enter(RequestPhase::Sent);
        let attempt =
            with_retries(|| attempts::begin(&self.worker.pool, &self.claim.lease, self.setup)).await?;
        *self.buffer() = StreamBuffer { attempt, ..StreamBuffer::default() };
        Ok(())
    }

    fn on_delta(&mut self, delta: Delta<'_>) {
        match delta {
            Delta::Sent => self.enter(RequestPhase::Sent),
            Delta::Waiting { .. } => self.enter(RequestPhase::Waiting),
            // Both go on without us: answers in the background, and tasks of agents.
            Delta::Remote { id } if self.model.options.background || self.model.is_agent() => {
                self.buffer().remote_id = Some(id.to_owned());
                self.remote_known.notify_one();
            }
            _ => {}
        }
        self.buffer().progress.apply(&delta);
    }

    /// After silence, each further attempt would hold the provider's place for as long again.
    fn goes_on_after(&self, kind: GenerateErrorKind) -> bool {
        kind != GenerateErrorKind::Stalled
    }

    async fn on_attempt_end(&mut self, attempt: &Attempt, _next: Option<u32>) -> anyhow::Result<()> {
        let (pool, lease) = (&self.worker.pool, &self.claim.lease);
        let cost = attempt_cost(self.model.prices, attempt);
        let trouble = attempt.code.and_then(ProviderTrouble::from_code);
        let outcome = if trouble.is_some() { Outcome::Interrupted } else { attempt.outcome };
        let attempt = Attempt { outcome, ..attempt.clone() };
        let remote_id = self.buffer().remote_id.clone();
        with_retries(|| attempts::end(pool, lease, &attempt, cost, remote_id.as_deref())).await?;
        if let Some(source) = &attempt.sent.agent {
            agents::saw_card(pool, &self.model.key, source).await?;
        }
        self.enter(RequestPhase::Between);
        Ok(())
    }
}
