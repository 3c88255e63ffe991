//! What is the same whoever is asked: ask, hear the answer as it streams, step down where the provider wants
//! it, ask again where it is busy, and give up in time.

mod complaint;
mod events;
mod heard;
mod steps;
mod wire;

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::header::HeaderName;
use reqwest::{StatusCode, Url};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::warn;

use super::{
    Answer, Delta, Endpoint, EndpointError, Failure, FailureKind, Note, Patience, Provider, Question, Secret,
};
pub(super) use complaint::Complaint;
pub(super) use events::Event;
use events::Events;
pub(super) use heard::Heard;
pub(super) use steps::Wishes;
use wire::{Reply, Wire};

/// Of a refusal.
const REFUSAL: usize = 4 << 10;

/// Of an answer in the log, its beginning and its end.
const LOGGED: usize = 8 << 10;

const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How one provider speaks.
pub(super) trait Dialect: Send + Sync {
    /// As people know it.
    fn name(&self) -> &'static str;
    /// Where to ask, from the base address, whose path may or may not end in a version.
    fn url(&self, base: &Url, model: &str) -> Url;
    /// The header that carries the key, and what stands before it.
    fn key_header(&self) -> (HeaderName, &'static str);
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// Whether the protocol tells the whole text once more in a single event.
    fn repeats_text(&self) -> bool {
        false
    }
    fn wishes(&self, question: &Question) -> Wishes;
    fn body(&self, question: &Question, wishes: &Wishes) -> serde_json::Result<Vec<u8>>;
    fn ear(&self) -> Box<dyn Ear>;
}

/// Hears one answer, event by event.
pub(super) trait Ear: Send {
    fn hear(&mut self, event: &Event, heard: &mut Heard<'_>) -> Result<Flow, Trouble>;
    /// Whether the model has said that it is done, so that nothing of worth can follow.
    fn is_complete(&self) -> bool;
    /// Judges what was heard, once the stream is over.
    fn end(&mut self, heard: &mut Heard<'_>) -> Result<(), Trouble>;
    /// An answer in one piece, from a provider that does not stream.
    fn whole(&mut self, body: String, heard: &mut Heard<'_>) -> Result<(), Trouble> {
        Err(no_answer(&body, heard))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    More,
    Over,
}

/// What went wrong in one go. The message may still hold what a provider repeated of the key.
#[derive(Debug)]
pub(super) struct Trouble {
    pub kind: FailureKind,
    pub message: String,
    pub status: Option<StatusCode>,
    /// The parameter that the provider complains of.
    pub param: Option<String>,
    pub retry: Retry,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Retry {
    /// As the kind of the trouble suggests.
    #[default]
    Unsaid,
    After(Duration),
    Never,
}

impl Trouble {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), status: None, param: None, retry: Retry::Unsaid }
    }

    pub fn cut_off() -> Self {
        Self::new(FailureKind::CutOff, "the stream ended before the answer did")
    }

    /// Nothing like an answer: the same would come again.
    pub fn no_answer(message: impl Into<String>) -> Self {
        Self { retry: Retry::Never, ..Self::new(FailureKind::BadAnswer, message) }
    }

    pub fn truncated() -> Self {
        Self::new(FailureKind::Truncated, "the model reached its limit of tokens before it was done")
    }

    fn told(&self) -> String {
        match self.status {
            Some(status) => format!("{} ({status})", self.message),
            None => self.message.clone(),
        }
    }

    fn passes(&self) -> bool {
        let passing = [FailureKind::RateLimited, FailureKind::Overloaded, FailureKind::Unreachable];
        passing.contains(&self.kind) && self.retry != Retry::Never
    }
}

pub(super) struct Talk {
    dialect: Box<dyn Dialect>,
    wire: Wire,
    patience: Patience,
    key: Option<Secret>,
    log_raw: bool,
}

impl Provider for Talk {
    fn ask<'a>(
        &'a self,
        question: &'a Question,
        listen: &'a mut (dyn FnMut(Delta<'_>) + Send),
    ) -> BoxFuture<'a, Result<Answer, Failure>> {
        async move {
            let deadline = Instant::now() + self.patience.total;
            let mut heard = Heard::new(listen, self.patience.max_bytes, self.log_raw);
            let mut notes = Vec::new();
            let result = timeout_at(deadline, self.talk(question, deadline, &mut heard, &mut notes)).await;
            let result = result.unwrap_or_else(|_| Err(self.clean(self.took_too_long(), &heard)));
            let (usage, began) = (heard.used(), heard.began());
            let text = heard.text;
            match result {
                Ok(()) => Ok(Answer { text, usage, notes }),
                Err(trouble) => {
                    let message = format!("{}: {}", self.dialect.name(), trouble.told());
                    let is_final = trouble.kind.is_final() || trouble.retry == Retry::Never;
                    Err(Failure { kind: trouble.kind, message, is_final, began, partial: text, usage, notes })
                }
            }
        }
        .boxed()
    }

    fn log_refused(&self, answer: &str, why: &str) {
        if self.log_raw {
            let (provider, why, raw) = (self.dialect.name(), self.scrub(why), ends(&self.scrub(answer)));
            warn!(provider, why, raw, "an answer that is no build");
        }
    }
}

impl Talk {
    pub fn new(
        endpoint: &Endpoint,
        dialect: Box<dyn Dialect>,
        patience: Patience,
        log_raw: bool,
    ) -> Result<Self, EndpointError> {
        let wire = Wire::new(endpoint, dialect.as_ref(), patience)?;
        Ok(Self { dialect, wire, patience, key: endpoint.key.clone(), log_raw })
    }

    async fn talk(
        &self,
        question: &Question,
        deadline: Instant,
        heard: &mut Heard<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<(), Trouble> {
        let mut wishes = self.dialect.wishes(question);
        let mut attempt = 1;
        loop {
            let trouble = match self.once(question, &wishes, deadline, heard).await {
                Ok(()) => return Ok(()),
                Err(trouble) => self.clean(trouble, heard),
            };
            // From here on tokens were paid for: whoever asked decides whether to pay again.
            if heard.began() {
                return Err(trouble);
            }
            if let Some(note) = wishes.step_down(&trouble, &question.model) {
                notes.push(note);
                continue;
            }
            if !trouble.passes() || attempt >= self.patience.tries {
                return Err(trouble);
            }
            self.wait(trouble, attempt, deadline, heard).await?;
            attempt += 1;
        }
    }

    async fn once(
        &self,
        question: &Question,
        wishes: &Wishes,
        deadline: Instant,
        heard: &mut Heard<'_>,
    ) -> Result<(), Trouble> {
        let body = self.dialect.body(question, wishes).map_err(|error| {
            Trouble::new(FailureKind::BadRequest, format!("the request cannot be written: {error}"))
        })?;
        let url = self.dialect.url(self.wire.base(), &question.model);
        let mut ear = self.dialect.ear();
        match self.wire.post(url, body, heard).await? {
            Reply::Whole(body) => ear.whole(body, heard)?,
            Reply::Stream(events) => self.hear_out(*events, ear.as_mut(), deadline, heard).await?,
        }
        ear.end(heard)?;
        if heard.text.trim().is_empty() {
            return Err(Trouble::new(FailureKind::Empty, "the model finished without writing anything"));
        }
        Ok(())
    }

    /// Hears a stream to its end. Once the model is done, nothing that follows can spoil its answer.
    async fn hear_out(
        &self,
        mut events: Events,
        ear: &mut dyn Ear,
        deadline: Instant,
        heard: &mut Heard<'_>,
    ) -> Result<(), Trouble> {
        loop {
            let is_complete = ear.is_complete();
            let next = timeout_at(deadline, events.next(heard)).await;
            let flow = match next.unwrap_or_else(|_| Err(self.took_too_long())) {
                Ok(Some(event)) => ear.hear(&event, heard),
                Ok(None) => Ok(Flow::Over),
                Err(trouble) => Err(trouble),
            };
            match flow {
                Ok(Flow::More) => {}
                Ok(Flow::Over) => return Ok(()),
                Err(_) if is_complete => return Ok(()),
                Err(trouble) => return Err(trouble),
            }
        }
    }

    /// Waits until the provider may be asked again, or tells why that is too long.
    async fn wait(
        &self,
        trouble: Trouble,
        attempt: u32,
        deadline: Instant,
        heard: &mut Heard<'_>,
    ) -> Result<(), Trouble> {
        let doubled = self.patience.backoff.saturating_mul(2_u32.saturating_pow(attempt - 1));
        // Spread, so that not all who were turned away come back at once.
        let wait = match trouble.retry {
            Retry::After(wished) => wished.min(A_DAY).mul_f64(rand::random_range(1.0..1.1)),
            Retry::Unsaid | Retry::Never => doubled.min(A_DAY).mul_f64(rand::random_range(0.5..1.0)),
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if wait > self.patience.longest_wait.min(left) {
            let message = format!("{} (asks to wait for {} s)", trouble.message, wait.as_secs());
            return Err(Trouble { message, ..trouble });
        }
        heard.tell(Delta::Waiting { attempt, reason: trouble.told(), seconds: wait.as_secs_f64() });
        sleep(wait).await;
        Ok(())
    }

    /// Takes the key out of what goes on to people and logs.
    fn clean(&self, mut trouble: Trouble, heard: &Heard<'_>) -> Trouble {
        trouble.message = clip(&self.scrub(&trouble.message), 800);
        if let Some(raw) = heard.raw() {
            let (provider, kind) = (self.dialect.name(), trouble.kind.code());
            warn!(provider, kind, why = trouble.message, raw = self.scrub(&raw), "an answer of no use");
        }
        trouble
    }

    fn scrub(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text))
    }

    fn took_too_long(&self) -> Trouble {
        let message = format!("the answer took longer than {} s", self.patience.total.as_secs_f64());
        Trouble::new(FailureKind::TimedOut, message)
    }
}

/// An address below the base. A version is added unless the base has one already.
pub(super) fn join<'a>(base: &Url, version: Option<&str>, path: impl IntoIterator<Item = &'a str>) -> Url {
    let mut url = base.clone();
    let is_versioned = version.is_some_and(|version| base.path().trim_end_matches('/').ends_with(version));
    // Only addresses that can be no base have no segments, and `Wire` takes none of those.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(version.filter(|_| !is_versioned)).extend(path);
    }
    url
}

/// A field of a JSON object, if there is something to put into it.
pub(super) fn put(object: &mut Value, field: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object[field] = value.into();
    }
}

/// Adds to what a model says instead of an answer, of which the beginning is enough.
pub(super) fn add(refusal: &mut String, piece: &str) {
    if refusal.len() < REFUSAL {
        refusal.push_str(&clip(piece, REFUSAL));
    }
}

/// What is made of a document that is no answer: a complaint, or else something that is kept as it is.
pub(super) fn no_answer(body: &str, heard: &mut Heard<'_>) -> Trouble {
    if let Some(complaint) = Complaint::read(body) {
        return complaint.into_trouble(None);
    }
    let other = Trouble::no_answer("the answer is one JSON document, and not of the kind that was asked for");
    heard.text(body).err().unwrap_or(other)
}

/// The beginning and the end of a long text.
fn ends(text: &str) -> String {
    if text.len() <= 2 * LOGGED {
        return text.to_owned();
    }
    let (head, tail) = (text.floor_char_boundary(LOGGED), text.ceil_char_boundary(text.len() - LOGGED));
    format!("{}\n[…]\n{}", &text[..head], &text[tail..])
}

/// The beginning of a long text.
fn clip(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes)])
}
