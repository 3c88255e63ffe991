//! An answer under way, as those who follow it see it.

use super::{Delta, Usage};

/// As much as fits on a line or two.
const MAX_NOTE_CHARS: usize = 200;

#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Text that has streamed in. Followers remove what they have passed on.
    pub text: String,
    /// Characters of the whole answer so far.
    pub chars: usize,
    /// Characters of what the model lets see of its thoughts.
    pub thought_chars: usize,
    pub usage: Usage,
    /// What happens while no text comes.
    pub note: Option<String>,
}

impl Progress {
    pub fn apply(&mut self, delta: &Delta<'_>) {
        match delta {
            Delta::Text(text) => {
                self.text.push_str(text);
                self.chars += text.chars().count();
                self.note = None;
            }
            Delta::Sent => self.note = None,
            Delta::Remote { .. } => {}
            Delta::Thinking { chars } => {
                self.thought_chars += chars;
                self.note = Some("thinking".to_owned());
            }
            Delta::Progress(words) => self.note = Some(words.chars().take(MAX_NOTE_CHARS).collect()),
            Delta::Usage(usage) => self.usage = **usage,
            Delta::Waiting { reason, seconds, .. } => {
                self.note = Some(format!("trying again in {seconds:.0} s: {reason}"));
            }
        }
    }
}
