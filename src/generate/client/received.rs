//! An answer as far as it has been received.

use std::mem;

use super::super::{Delta, GenerateError, GenerateErrorKind, Result, Usage};
use super::transport::is_plain_id;

/// How many bytes of what the provider sent last are kept for the log.
const MAX_RAW: usize = 16 << 10;

pub(in super::super) struct ReceivedAnswer<'a> {
    pub(in super::super) text: String,
    usage: Usage,
    /// What earlier requests used.
    spent: Usage,
    limit: usize,
    began: bool,
    raw: Option<Vec<u8>>,
    on_delta: &'a mut (dyn FnMut(Delta<'_>) + Send),
}

impl<'a> ReceivedAnswer<'a> {
    pub fn new(on_delta: &'a mut (dyn FnMut(Delta<'_>) + Send), limit: usize, keep_raw: bool) -> Self {
        let raw = keep_raw.then(Vec::new);
        let (usage, spent) = (Usage::default(), Usage::default());
        Self { text: String::new(), usage, spent, limit, began: false, raw, on_delta }
    }

    /// A request is about to be sent.
    pub(super) fn start_request(&mut self) {
        if let Some(raw) = &mut self.raw {
            raw.clear();
        }
        self.spent = self.spent.plus(&mem::take(&mut self.usage));
        self.emit(Delta::Sent);
    }

    /// The model is at work, even if no text has come.
    pub fn mark_started(&mut self) {
        self.began = true;
    }

    /// The provider's id of the answer.
    pub fn set_remote_id(&mut self, id: &str) {
        if is_plain_id(id) {
            self.emit(Delta::Remote { id });
        }
    }

    pub fn push_text(&mut self, piece: &str) -> Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        if self.text.len() + piece.len() > self.limit {
            let message = format!("the answer is longer than {} bytes", self.limit);
            return Err(GenerateError::new(GenerateErrorKind::TooLarge, message));
        }
        self.text.push_str(piece);
        self.emit(Delta::Text(piece));
        Ok(())
    }

    /// Corrects the text from `start` on. Listeners do not see it again.
    pub fn replace_from(&mut self, start: usize, replacement: &str) -> Result<()> {
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

    /// What all requests used.
    pub fn total_usage(&self) -> Usage {
        self.spent.plus(&self.usage)
    }

    /// Whether the model has started to answer or to think. Anthropic counts one output token before it has.
    pub fn began(&self) -> bool {
        self.began || !self.text.is_empty() || self.usage.output.max(self.usage.reasoning) > Some(1)
    }

    pub fn emit(&mut self, delta: Delta<'_>) {
        (self.on_delta)(delta);
    }

    pub(super) fn keep_raw(&mut self, bytes: &[u8]) {
        let Some(raw) = &mut self.raw else { return };
        raw.extend_from_slice(&bytes[bytes.len().saturating_sub(MAX_RAW)..]);
        raw.drain(..raw.len().saturating_sub(MAX_RAW));
    }

    /// What the provider sent last. If its beginning is lost, it starts at the first whole line, because a key that was
    /// cut in half could not be found and removed.
    pub(super) fn raw(&self) -> Option<String> {
        let raw = self.raw.as_deref()?;
        let whole = if raw.len() < MAX_RAW { raw } else { raw.splitn(2, |byte| *byte == b'\n').nth(1)? };
        Some(String::from_utf8_lossy(whole).into_owned())
    }
}
