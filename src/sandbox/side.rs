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

use super::{Asked, LONGEST, Problem, SLOWEST, Slot, Task};
use crate::arena::builds::{GenerationInfo, PackedBuild};
use crate::arena::drafts::{self, DraftOrigin, StoreDraftError};
use crate::generate::Delta;
use crate::generate::attempts::{Attempt, Commission, Listener, Made, NotMade, Reason};
use crate::work::{WorkClient, WorkPool};
use voxel::Warning;

/// Between words of progress.
const BREATH: Duration = Duration::from_millis(250);

/// A spec beyond this is not sent along; its grid is.
const LARGEST_SPEC: usize = 8 << 20;

/// What is told of a run, as one line of JSON.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Event {
    Hello,
    /// Its place among those who wait; 1 comes next.
    Queue {
        position: usize,
    },
    Start {
        slot: Slot,
        model_key: String,
    },
    Progress {
        slot: Slot,
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
        slot: Slot,
        model_key: String,
        attempt: u32,
        reason: String,
    },
    Result {
        slot: Slot,
        model_key: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        voxel_build: Option<Box<RawValue>>,
        metrics: Metrics,
        grid_url: String,
        draft_id: Uuid,
    },
    Error {
        slot: Slot,
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
pub struct Metrics {
    pub block_count: u32,
    pub warnings: Vec<Warning>,
    pub generation_time_ms: u64,
    pub attempts: u32,
}

pub(super) struct Side {
    pub slot: Slot,
    pub name: String,
    pub task: Task,
    pub pool: PgPool,
    pub work: WorkPool,
    /// Whoever watches.
    pub client: WorkClient,
    pub tell: mpsc::Sender<Event>,
}

impl Side {
    pub async fn play(self, asked: Result<Asked, Problem>) {
        self.say(Event::Start { slot: self.slot, model_key: self.name.clone() }).await;
        let end = match asked {
            Ok(asked) => self.ask(asked).await,
            Err(Problem { code, message }) => Some(self.error(code, message, None)),
        };
        if let Some(end) = end {
            self.say(end).await;
        }
    }

    /// Asks, tells how it goes, and returns how it ends; none if nobody listens any more.
    async fn ask(&self, asked: Asked) -> Option<Event> {
        let Asked { provider, model, options } = asked;
        let Task { prompt, settings, max_bytes, attempts } = &self.task;
        let mut commission = Commission::new(provider, model, prompt, settings.clone()).with(options);
        commission.attempts = *attempts;
        commission.max_bytes = *max_bytes;
        let heard = Heard::default();
        let mut ears = Ears { side: self, heard: heard.clone(), last: String::new() };
        let (work, client) = (self.work.clone(), self.client);
        let off_thread = move |look| {
            let work = work.clone();
            async move { Ok(work.run(client, look).await?) }
        };
        let result = tokio::select! {
            result = commission.carry_out(off_thread, &mut ears) => result,
            () = self.report(&heard) => return None,
            () = sleep(LONGEST) => {
                let message = format!("It took longer than {} minutes.", LONGEST.as_secs() / 60);
                return Some(self.error("timed_out", message, (!ears.last.is_empty()).then_some(ears.last)));
            }
        };
        match result {
            Ok(made) => Some(self.keep(made).await),
            Err(NotMade { reason: Reason::Unheard(_), .. }) => None,
            Err(NotMade { reason, .. }) => {
                let raw = (!ears.last.is_empty()).then_some(ears.last);
                Some(self.error(reason.code(), reason.to_string(), raw))
            }
        }
    }

    /// Tells what has come in, a few times a second, or as often as the reader takes it. Ends when nobody does.
    async fn report(&self, heard: &Heard) {
        loop {
            heard.new.notified().await;
            if !heard.tell(self).await {
                return;
            }
            sleep(BREATH).await;
        }
    }

    async fn keep(&self, made: Made) -> Event {
        let Made { build, spec, warnings, attempts, generation_time, .. } = made;
        let raw = clip(&spec);
        let generation_time_ms = u64::try_from(generation_time.as_millis()).unwrap_or(u64::MAX);
        let packing = self.work.run(self.client, move || {
            let packed = PackedBuild::new(&build, &spec, warnings);
            let sent = (spec.len() <= LARGEST_SPEC).then(|| in_one_line(spec)).flatten();
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
        Event::Result {
            slot: self.slot,
            model_key: self.name.clone(),
            voxel_build,
            metrics: Metrics {
                block_count: packed.block_count,
                warnings: packed.warnings,
                generation_time_ms,
                attempts,
            },
            grid_url: format!("/api/sandbox/drafts/{id}/grid"),
            draft_id: id,
        }
    }

    fn error(&self, code: &str, message: String, raw: Option<String>) -> Event {
        Event::Error { slot: self.slot, model_key: self.name.clone(), code: code.to_owned(), message, raw }
    }

    /// Returns whether somebody has taken it, or will.
    async fn say(&self, event: Event) -> bool {
        timeout(SLOWEST, self.tell.send(event)).await.is_ok_and(|sent| sent.is_ok())
    }
}

/// What has come in and is not told yet.
#[derive(Clone, Default)]
struct Heard {
    so_far: Arc<Mutex<SoFar>>,
    new: Arc<Notify>,
    /// Who tells something finishes before the next one does.
    turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct SoFar {
    delta: String,
    chars: usize,
    tokens: Option<u64>,
    note: Option<String>,
    is_new: bool,
}

/// About so many characters are a token of such a text.
const CHARS_A_TOKEN: usize = 3;

impl Heard {
    fn change(&self, change: impl FnOnce(&mut SoFar)) {
        let mut so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut so_far);
        so_far.is_new = true;
        drop(so_far);
        self.new.notify_one();
    }

    /// Tells what is new, if anything is. Returns whether somebody listens.
    async fn tell(&self, side: &Side) -> bool {
        let _turn = self.turn.lock().await;
        match self.take(side) {
            Some(event) => side.say(event).await,
            None => true,
        }
    }

    fn take(&self, side: &Side) -> Option<Event> {
        let mut so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::take(&mut so_far.is_new) {
            return None;
        }
        Some(Event::Progress {
            slot: side.slot,
            model_key: side.name.clone(),
            chars: so_far.chars,
            tokens: so_far.tokens.unwrap_or((so_far.chars / CHARS_A_TOKEN) as u64),
            delta: std::mem::take(&mut so_far.delta),
            note: so_far.note.clone(),
        })
    }
}

struct Ears<'a> {
    side: &'a Side,
    heard: Heard,
    /// The latest answer that was no build.
    last: String,
}

/// What is repeated of an answer that was no build.
const LONGEST_RAW: usize = 256 << 10;

impl Listener for Ears<'_> {
    fn begins(&mut self, _: u32) -> BoxFuture<'_, anyhow::Result<()>> {
        self.heard.change(|so_far| *so_far = SoFar::default());
        Box::pin(std::future::ready(Ok(())))
    }

    fn delta(&mut self, _: u32, delta: Delta<'_>) {
        self.heard.change(|so_far| match delta {
            Delta::Text(text) => {
                so_far.delta.push_str(text);
                so_far.chars += text.chars().count();
                so_far.note = None;
            }
            Delta::Sent => so_far.note = None,
            Delta::Thinking { .. } => so_far.note = Some("thinking".to_owned()),
            Delta::Usage(usage) => so_far.tokens = usage.output.or(so_far.tokens),
            Delta::Waiting { reason, seconds, .. } => {
                so_far.note = Some(format!("asking again in {seconds:.0} s: {reason}"));
            }
        });
    }

    fn ended<'a>(&'a mut self, attempt: &'a Attempt) -> BoxFuture<'a, anyhow::Result<()>> {
        Box::pin(async move {
            ensure!(self.heard.tell(self.side).await, "nobody listens");
            let Some(reason) = attempt.outcome.message() else { return Ok(()) };
            self.last = clip(&attempt.text);
            if attempt.again {
                let (slot, model_key) = (self.side.slot, self.side.name.clone());
                let attempt = attempt.number + 1;
                self.side.say(Event::Retry { slot, model_key, attempt, reason: reason.to_owned() }).await;
            }
            Ok(())
        })
    }
}

/// An event is a line, so what is in it has none of its own. In JSON, only white space holds line breaks.
fn in_one_line(spec: String) -> Option<Box<RawValue>> {
    let line = if spec.contains(['\n', '\r']) { spec.replace(['\n', '\r'], "") } else { spec };
    RawValue::from_string(line).ok()
}

fn clip(text: &str) -> String {
    text.chars().take(LONGEST_RAW).collect()
}
