//! What reading has brought so far, where it is, and what is wrong there.

use std::{collections::HashMap, fmt};

use serde::de::Error;

use crate::{
    palette::normalise,
    refusal::{Code, Position, Refusal, printable},
    spec::Spec,
};

/// How much of an unexpected value a message repeats, in characters.
const MAX_ECHO: usize = 60;

/// What reading has brought so far, and where it is.
#[derive(Default)]
pub(super) struct Reader {
    pub spec: Spec,
    kinds: HashMap<Box<str>, u16>,
    /// The spelling read last, which is often the next one too.
    last_kind: Option<(Box<str>, u16)>,
    pub place: Place,
    fault: Option<(Code, String)>,
}

/// Where the reader is, as `boxes[3].x2`.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    pub list: &'static str,
    pub index: Option<usize>,
    pub field: &'static str,
}

/// A value that was read, not judged yet.
pub(super) enum Value {
    Missing,
    Whole(i64),
    Name(u16),
    /// Something else, as a message repeats it.
    Other(String),
}

impl Reader {
    /// Notes what is wrong; the error made here only ends the reading.
    pub fn fault<E: Error>(&mut self, code: Code, message: String) -> E {
        self.fault = Some((code, message));
        E::custom("")
    }

    pub fn expected<E: Error>(&mut self, wanted: &str, got: &Value) -> E {
        let message = format!("{}expected {wanted}, got {got}", self.place);
        self.fault(Code::BadSpec, message)
    }

    pub fn refusal(self, error: &serde_json::Error, start: Position) -> Refusal {
        let position = start.then(error.line(), error.column());
        let text = error.to_string();
        let reason = text.rsplit_once(" at line ").map_or(&*text, |(reason, _)| reason);
        let (code, message) = match self.fault {
            Some(fault) => fault,
            None if reason == "number out of range" => {
                (Code::BadSpec, format!("{}expected a whole number, got one beyond all bounds", self.place))
            }
            None if error.is_data() => (Code::BadSpec, format!("{}{}", self.place, in_our_words(reason))),
            None if error.is_eof() => {
                (Code::BadJson, format!("the JSON ends too early, at {position}: is it cut off?"))
            }
            None => (Code::BadJson, format!("this is not JSON, at {position}: {reason}")),
        };
        Refusal::new(code, message).at(position)
    }

    /// The index of a block's name, which is stored once.
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

/// serde says "invalid type: map, expected a list".
fn in_our_words(reason: &str) -> String {
    let Some((got, wanted)) =
        reason.strip_prefix("invalid type: ").and_then(|rest| rest.rsplit_once(", expected "))
    else {
        return echo(reason);
    };
    let kinds = ["integer ", "floating point ", "boolean ", "string "];
    let bare = kinds.iter().find_map(|kind| got.strip_prefix(kind)).unwrap_or(got);
    let got = match bare.trim_matches('`') {
        "map" => "an object",
        "sequence" => "a list",
        other => other,
    };
    format!("expected {wanted}, got {}", echo(got))
}

pub(super) fn echo(text: &str) -> String {
    match text.char_indices().nth(MAX_ECHO) {
        Some((end, _)) => format!("{}…", printable(&text[..end])),
        None => printable(text),
    }
}

impl fmt::Display for Place {
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

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("nothing"),
            Self::Whole(number) => number.fmt(f),
            Self::Name(_) => f.write_str("a name"),
            Self::Other(text) => f.write_str(text),
        }
    }
}
