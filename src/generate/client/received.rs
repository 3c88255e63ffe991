//! What has come of an answer so far.

use std::mem;

use super::super::{Delta, GenerateErrorKind, Usage};
use super::RequestError;

/// Of what a provider sent, the end is kept for the log.
const MAX_RAW: usize = 16 << 10;

pub(in super::super) struct ReceivedAnswer<'a> {
    pub(super) text: String,
    usage: Usage,
    /// By the requests before.
    spent: Usage,
    limit: usize,
    began: bool,
    raw: Option<Vec<u8>>,
    on_delta: &'a mut (dyn FnMut(Delta<'_>) + Send),
}

impl<'a> ReceivedAnswer<'a> {
    pub(super) fn new(on_delta: &'a mut (dyn FnMut(Delta<'_>) + Send), limit: usize, keep_raw: bool) -> Self {
        let raw = keep_raw.then(Vec::new);
        let (usage, spent) = (Usage::default(), Usage::default());
        Self { text: String::new(), usage, spent, limit, began: false, raw, on_delta }
    }

    /// A request goes out.
    pub(super) fn start_request(&mut self) {
        if let Some(raw) = &mut self.raw {
            raw.clear();
        }
        self.spent = self.spent.plus(&mem::take(&mut self.usage));
        self.emit(Delta::Sent);
    }

    /// The model is at work, though there may be nothing to see of it.
    pub fn mark_started(&mut self) {
        self.began = true;
    }

    pub fn push_text(&mut self, piece: &str) -> Result<(), RequestError> {
        if piece.is_empty() {
            return Ok(());
        }
        if self.text.len() + piece.len() > self.limit {
            let message = format!("the answer is longer than {} bytes", self.limit);
            return Err(RequestError::new(GenerateErrorKind::TooLarge, message));
        }
        self.text.push_str(piece);
        self.emit(Delta::Text(piece));
        Ok(())
    }

    /// Puts right what was heard from `start` on; listeners are not told twice.
    pub fn replace_from(&mut self, start: usize, replacement: &str) -> Result<(), RequestError> {
        if self.text.get(start..) == Some(replacement) {
            return Ok(());
        }
        self.text.truncate(start);
        let room = self.limit.saturating_sub(self.text.len());
        if replacement.len() > room {
            return self.push_text(replacement);
        }
        self.text.push_str(replacement);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn thinking(&mut self, thought: &str) {
        if !thought.is_empty() {
            self.began = true;
            self.emit(Delta::Thinking { chars: thought.chars().count() });
        }
    }

    pub fn update_usage(&mut self, reported: Usage) {
        let before = self.usage;
        self.usage.update(reported);
        if self.usage != before {
            let used = self.total_usage();
            self.emit(Delta::Usage(&used));
        }
    }

    /// By all requests.
    pub(super) fn total_usage(&self) -> Usage {
        self.spent.plus(&self.usage)
    }

    /// Whether the model has started to answer or to think. Anthropic counts a token before it has.
    pub(super) fn began(&self) -> bool {
        self.began || !self.text.is_empty() || self.usage.output.max(self.usage.reasoning) > Some(1)
    }

    pub(super) fn emit(&mut self, delta: Delta<'_>) {
        (self.on_delta)(delta);
    }

    pub(super) fn keep_raw(&mut self, bytes: &[u8]) {
        let Some(raw) = &mut self.raw else { return };
        raw.extend_from_slice(&bytes[bytes.len().saturating_sub(MAX_RAW)..]);
        raw.drain(..raw.len().saturating_sub(MAX_RAW));
    }

    /// What the provider sent last, from the first whole line if its beginning is lost: a key that was cut in
    /// half could not be found in it.
    pub(super) fn raw(&self) -> Option<String> {
        let raw = self.raw.as_deref()?;
        let whole = if raw.len() < MAX_RAW { raw } else { raw.splitn(2, |byte| *byte == b'\n').nth(1)? };
        Some(String::from_utf8_lossy(whole).into_owned())
    }
}
