//! What has come of an answer so far.

use std::mem;

use super::super::{Delta, FailureKind, Usage};
use super::Trouble;

/// Of what a provider sent, the end is kept for the log.
const RAW: usize = 16 << 10;

pub(in super::super) struct Heard<'a> {
    pub(super) text: String,
    usage: Usage,
    /// By the requests before.
    spent: Usage,
    limit: usize,
    began: bool,
    raw: Option<Vec<u8>>,
    listen: &'a mut (dyn FnMut(Delta<'_>) + Send),
}

impl<'a> Heard<'a> {
    pub(super) fn new(listen: &'a mut (dyn FnMut(Delta<'_>) + Send), limit: usize, keep_raw: bool) -> Self {
        let raw = keep_raw.then(Vec::new);
        let (usage, spent) = (Usage::default(), Usage::default());
        Self { text: String::new(), usage, spent, limit, began: false, raw, listen }
    }

    /// A request goes out.
    pub(super) fn sent(&mut self) {
        if let Some(raw) = &mut self.raw {
            raw.clear();
        }
        self.spent = self.spent.plus(&mem::take(&mut self.usage));
        self.tell(Delta::Sent);
    }

    /// The model is at work, though there may be nothing to see of it.
    pub fn begins(&mut self) {
        self.began = true;
    }

    pub fn text(&mut self, piece: &str) -> Result<(), Trouble> {
        if piece.is_empty() {
            return Ok(());
        }
        if self.text.len() + piece.len() > self.limit {
            let message = format!("the answer is longer than {} bytes", self.limit);
            return Err(Trouble::new(FailureKind::TooLarge, message));
        }
        self.text.push_str(piece);
        self.tell(Delta::Text(piece));
        Ok(())
    }

    /// Puts right what was heard from `start` on; listeners are not told twice.
    pub fn correct(&mut self, start: usize, right: &str) -> Result<(), Trouble> {
        if self.text.get(start..) == Some(right) {
            return Ok(());
        }
        self.text.truncate(start);
        let room = self.limit.saturating_sub(self.text.len());
        if right.len() > room {
            return self.text(right);
        }
        self.text.push_str(right);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn thinking(&mut self, thought: &str) {
        if !thought.is_empty() {
            self.began = true;
            self.tell(Delta::Thinking { chars: thought.chars().count() });
        }
    }

    pub fn usage(&mut self, told: Usage) {
        let before = self.usage;
        self.usage.update(told);
        if self.usage != before {
            let used = self.used();
            self.tell(Delta::Usage(&used));
        }
    }

    /// By all requests.
    pub(super) fn used(&self) -> Usage {
        self.spent.plus(&self.usage)
    }

    /// Whether the model has started to answer or to think. Anthropic counts a token before it has.
    pub(super) fn began(&self) -> bool {
        self.began || !self.text.is_empty() || self.usage.output.max(self.usage.reasoning) > Some(1)
    }

    pub(super) fn tell(&mut self, delta: Delta<'_>) {
        (self.listen)(delta);
    }

    pub(super) fn keep_raw(&mut self, bytes: &[u8]) {
        let Some(raw) = &mut self.raw else { return };
        raw.extend_from_slice(&bytes[bytes.len().saturating_sub(RAW)..]);
        raw.drain(..raw.len().saturating_sub(RAW));
    }

    /// What the provider sent last, from the first whole line if its beginning is lost: a key that was cut in
    /// half could not be found in it.
    pub(super) fn raw(&self) -> Option<String> {
        let raw = self.raw.as_deref()?;
        let whole = if raw.len() < RAW { raw } else { raw.splitn(2, |byte| *byte == b'\n').nth(1)? };
        Some(String::from_utf8_lossy(whole).into_owned())
    }
}
