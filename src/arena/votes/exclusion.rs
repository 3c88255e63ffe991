//! Whether a vote counts. A vote is kept in any case; this says why it does not count.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a vote does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Exclusion {
    /// An admin has withdrawn it.
    Withdrawn,
    /// It is unusual, and an admin has set it aside until that is clear.
    Suspect,
    /// Its voter or network had voted so often, or moved a model so far, that no more counted.
    OverBudget,
}

impl Exclusion {
    pub const ALL: [Self; 3] = [Self::Withdrawn, Self::Suspect, Self::OverBudget];

    pub fn name(self) -> &'static str {
        match self {
            Self::Withdrawn => "withdrawn",
            Self::Suspect => "suspect",
            Self::OverBudget => "over_budget",
        }
    }
}

impl FromStr for Exclusion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|exclusion| exclusion.name() == text);
        found.ok_or_else(|| format!("{text:?} is not withdrawn, suspect or over_budget"))
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
