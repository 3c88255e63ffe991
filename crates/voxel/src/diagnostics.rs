//! Rejections and warnings: why an input is not a valid build, and what of it was dropped.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// The reason why an input is not a valid build, as a code and a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Rejection {
    pub code: RejectionCode,
    pub message: String,
    /// The place in the text that cannot be read, if there is one.
    #[serde(flatten)]
    pub position: Option<Position>,
}

/// The kind of a [`Rejection`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RejectionCode {
    BadJson,
    BadSpec,
    /// A file of another program that is damaged.
    BadFile,
    TooLarge,
    TooMuchWork,
    /// A file of another program with a build that is larger than the grid.
    DoesNotFit,
    NoBlocks,
    TooManyBlocks,
    TooFewBlocks,
    FootprintTooSmall,
    HeightTooSmall,
}

/// A place in a text; lines and columns are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    pub line: usize,
    /// In bytes.
    pub column: usize,
}

/// Something in an input that was dropped or replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Warning {
    /// The spec has no version.
    MissingVersion { message: String },
    /// So many writes were outside the grid.
    OutOfBounds { count: u64, message: String },
    /// A type that was dropped.
    UnknownBlock { r#type: String, count: u64, message: String },
    /// The remaining unknown types, after the most frequent ones.
    MoreUnknownBlocks { kinds: usize, count: u64, message: String },
    /// A block or colour in a file that was replaced with the nearest block of the palette.
    ReplacedBlock { r#type: String, count: u64, message: String },
    /// The remaining replaced types, after the most frequent ones.
    MoreReplacedBlocks { kinds: usize, count: u64, message: String },
}

/// A word of the input without control characters, some of which databases and terminals cannot take.
pub(super) fn printable(word: &str) -> String {
    word.replace(char::is_control, "\u{fffd}")
}

impl Rejection {
    pub(super) fn new(code: RejectionCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), position: None }
    }

    pub(super) fn at(mut self, position: Position) -> Self {
        self.position = Some(position);
        self
    }
}

impl Warning {
    pub fn message(&self) -> &str {
        match self {
            Self::MissingVersion { message }
            | Self::OutOfBounds { message, .. }
            | Self::UnknownBlock { message, .. }
            | Self::MoreUnknownBlocks { message, .. }
            | Self::ReplacedBlock { message, .. }
            | Self::MoreReplacedBlocks { message, .. } => message,
        }
    }
}

impl RejectionCode {
    /// The code as programs read it, such as `bad_json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::BadJson => "bad_json",
            Self::BadSpec => "bad_spec",
            Self::BadFile => "bad_file",
            Self::TooLarge => "too_large",
            Self::TooMuchWork => "too_much_work",
            Self::DoesNotFit => "does_not_fit",
            Self::NoBlocks => "no_blocks",
            Self::TooManyBlocks => "too_many_blocks",
            Self::TooFewBlocks => "too_few_blocks",
            Self::FootprintTooSmall => "footprint_too_small",
            Self::HeightTooSmall => "height_too_small",
        }
    }

    /// Whether the input was read and expanded, and then broke a rule.
    pub fn is_rule(self) -> bool {
        use RejectionCode::*;
        !matches!(self, BadJson | BadSpec | BadFile | TooLarge | TooMuchWork | DoesNotFit)
    }
}

impl Serialize for RejectionCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Position {
    pub(super) const START: Self = Self { line: 1, column: 1 };

    /// The place at a line and column of a text that starts here.
    pub(super) fn offset_by(self, line: usize, column: usize) -> Self {
        match line {
            0 | 1 => Self { line: self.line, column: self.column + column.saturating_sub(1) },
            _ => Self { line: self.line + line - 1, column: column.max(1) },
        }
    }

    /// The place of the byte at an offset.
    pub(super) fn of(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        Self { line, column: before.len() - line_start + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}
