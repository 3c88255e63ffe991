//! The state of reading: the spec so far, the current place, and the error found there.

use std::{collections::HashMap, fmt};

use serde::de::Error;

use crate::diagnostics::{Position, Rejection, RejectionCode, printable};
use crate::palette::normalise;
use crate::spec::Spec;

/// The number of characters of an unexpected value that a message repeats.
const MAX_EXCERPT: usize = 60;

/// The spec as far as it was read, and the current place.
#[derive(Default)]
pub(super) struct SpecReader {
    pub spec: Spec,
    kinds: HashMap<Box<str>, u16>,
    /// The last spelling, which is often the next one, too.
    last_kind: Option<(Box<str>, u16)>,
    pub path: SpecPath,
    failure: Option<(RejectionCode, String)>,
}

/// A place in a spec, such as `boxes[3].x2`.
#[derive(Clone, Copy, Default)]
pub(super) struct SpecPath {
    pub list: &'static str,
    pub index: Option<usize>,
    pub field: &'static str,
}

/// A value that was read, but not judged yet.
pub(super) enum SpecValue {
    Missing,
    Integer(i64),
    Name(u16),
    /// Any other value, as a message shows it.
    Other(String),
}

impl SpecReader {
    /// Keeps the reason. The error that is returned only ends the reading.
    pub fn fail<E: Error>(&mut self, code: RejectionCode, message: String) -> E {
        self.failure = Some((code, message));
        E::custom("")
    }

    pub fn expected<E: Error>(&mut self, wanted: &str, got: &SpecValue) -> E {
        let message = format!("{}expected {wanted}, got {got}", self.path);
        self.fail(RejectionCode::BadSpec, message)
    }

    pub fn rejection(self, error: &serde_json::Error, start: Position) -> Rejection {
        let position = start.offset_by(error.line(), error.column());
        let text = error.to_string();
        let reason = text.rsplit_once(" at line ").map_or(&*text, |(reason, _)| reason);
        let (code, message) = match self.failure {
            Some(failure) => failure,
            None if reason == "number out of range" => (
                RejectionCode::BadSpec,
                format!("{}expected a whole number, got a number that is out of range", self.path),
            ),
            None if error.is_data() => {
                (RejectionCode::BadSpec, format!("{}{}", self.path, rephrase_serde_error(reason)))
            }
            None if error.is_eof() => {
                (RejectionCode::BadJson, format!("the JSON ends too early at {position}: it may be cut off"))
            }
            None => (RejectionCode::BadJson, format!("invalid JSON at {position}: {reason}")),
        };
        Rejection::new(code, message).at(position)
    }

    /// The index of a spelling, which is stored once. None if there are too many.
    pub fn kind(&mut self, raw: &str) -> Option<u16> {
        if let Some((last, kind)) = &self.last_kind
            && **last == *raw
        {
            return Some(*kind);
        }
        let kind = match self.kinds.get(raw) {
            Some(&kind) => kind,
            None => {
                let kind = u16::try_from(self.spec.kinds.len()).ok()?;
                self.spec.kinds.push(normalise(raw));
                self.kinds.insert(raw.into(), kind);
                kind
            }
        };
        self.last_kind = Some((raw.into(), kind));
        Some(kind)
    }
}

/// Turns serde's "invalid type: map, expected a list" into "expected a list, got an object".
fn rephrase_serde_error(reason: &str) -> String {
    let Some((got, wanted)) =
        reason.strip_prefix("invalid type: ").and_then(|rest| rest.rsplit_once(", expected "))
    else {
        return excerpt(reason);
    };
    let kinds = ["integer ", "floating point ", "boolean ", "string "];
    let bare = kinds.iter().find_map(|kind| got.strip_prefix(kind)).unwrap_or(got);
    let got = match bare.trim_matches('`') {
        "map" => "an object",
        "sequence" => "a list",
        other => other,
    };
    format!("expected {wanted}, got {}", excerpt(got))
}

pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(MAX_EXCERPT) {
        Some((end, _)) => format!("{}…", printable(&text[..end])),
        None => printable(text),
    }
}

impl fmt::Display for SpecPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.list)?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        match (self.list, self.field) {
            ("", "") => Ok(()),
            ("", field) => write!(f, "{field}: "),
            (_, "") => f.write_str(": "),
            (_, field) => write!(f, ".{field}: "),
        }
    }
}

impl fmt::Display for SpecValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("nothing"),
            Self::Integer(number) => number.fmt(f),
            Self::Name(_) => f.write_str("a name"),
            Self::Other(text) => f.write_str(text),
        }
    }
}
