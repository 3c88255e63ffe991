//! The choices that a voter has in a matchup.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Choice {
    A,
    B,
    Tie,
    BothBad,
}

// A side of a matchup. A is shown on the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub enum Side {
    #[serde(rename = "a")]
    A,
    #[serde(rename = "b")]
    B,
}

// How often each choice was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Verdicts)]
pub struct ChoiceCounts {
    pub a: i64,
    pub b: i64,
    pub tie: i64,
    pub both_bad: i64,
}

impl ChoiceCounts {
    pub fn of(choice: Choice, votes: i64) -> Self {
        let mut counts = Self::default();
        *counts.count_mut(choice) = votes;
        counts
    }

    pub fn with(mut self, choice: Choice) -> Self {
        *self.count_mut(choice) += 1;
        self
    }

    pub fn sum(&self) -> i64 {
        self.a + self.b + self.tie + self.both_bad
    }

    /// The same choices with the sides of the builds exchanged.
    pub fn mirrored(self) -> Self {
        Self { a: self.b, b: self.a, ..self }
    }

    fn count_mut(&mut self, choice: Choice) -> &mut i64 {
        match choice {
            Choice::A => &mut self.a,
            Choice::B => &mut self.b,
            Choice::Tie => &mut self.tie,
            Choice::BothBad => &mut self.both_bad,
        }
    }
}

impl Choice {
    pub const ALL: [Self; 4] = [Self::A, Self::Tie, Self::BothBad, Self::B];

    pub fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::Tie => "TIE",
            Self::BothBad => "BOTH_BAD",
        }
    }

    /// The same choice with the sides of the builds exchanged.
    pub fn mirrored(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
            other => other,
        }
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|choice| choice.name() == text);
        found.ok_or_else(|| format!("{text:?} is not A, B, TIE or BOTH_BAD"))
    }
}

impl FromStr for Side {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "a" => Ok(Self::A),
            "b" => Ok(Self::B),
            other => Err(format!("{other:?} is not a or b")),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
