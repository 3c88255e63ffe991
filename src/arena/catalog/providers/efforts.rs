//! How hard a model thinks, and which of several efforts is the nearest.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How hard a model thinks. A provider that does not know this effort gets the nearest one that it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingEffort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// Some of the efforts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<ThinkingEffort>", into = "Vec<ThinkingEffort>")]
pub struct EffortSet(u8);

impl ThinkingEffort {
    pub const ALL: [Self; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// Whether a model that is asked to think like this may be told `other` instead. A model that is to think never
    /// gets `none`, and one that is not to think gets at most `low`: anything else is the opposite of what was asked.
    fn may_become(self, other: Self) -> bool {
        match (self, other) {
            (Self::None, other) => other <= Self::Low,
            (_, other) => other != Self::None,
        }
    }
}

impl EffortSet {
    pub const ALL: Self = Self((1 << ThinkingEffort::ALL.len()) - 1);

    pub const fn of(efforts: &[ThinkingEffort]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < efforts.len() {
            bits |= 1 << efforts[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    pub fn contains(self, effort: ThinkingEffort) -> bool {
        self.0 & Self::of(&[effort]).0 != 0
    }

    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub fn without(self, effort: ThinkingEffort) -> Self {
        Self(self.0 & !Self::of(&[effort]).0)
    }

    pub fn iter(self) -> impl Iterator<Item = ThinkingEffort> {
        ThinkingEffort::ALL.into_iter().filter(move |effort| self.contains(*effort))
    }

    /// The effort that is nearest to the one that was asked for; of two that are equally near, the one that costs less.
    pub fn nearest(self, asked: ThinkingEffort) -> Option<ThinkingEffort> {
        let distance = |other: &ThinkingEffort| (asked as u8).abs_diff(*other as u8);
        self.iter().filter(|other| asked.may_become(*other)).min_by_key(distance)
    }
}

impl From<Vec<ThinkingEffort>> for EffortSet {
    fn from(efforts: Vec<ThinkingEffort>) -> Self {
        Self::of(&efforts)
    }
}

impl From<EffortSet> for Vec<ThinkingEffort> {
    fn from(efforts: EffortSet) -> Self {
        efforts.iter().collect()
    }
}

/// `low, medium, high`
impl fmt::Display for EffortSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.iter().map(ThinkingEffort::name).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::ThinkingEffort::*;
    use super::*;

    #[test]
    fn the_nearest_effort_is_never_the_opposite_of_what_was_asked() {
        for (asked, known, nearest) in [
            (Max, &[Low, Medium, High][..], Some(High)),
            (Minimal, &[None, Low, High], Some(Low)),
            (Medium, &[Low, High], Some(Low)),
            (Xhigh, &[High, Max], Some(High)),
            (Low, &[High, Max], Some(High)),
            (None, &[Minimal, Low, Medium, High], Some(Minimal)),
            (None, &[Low, High], Some(Low)),
            (None, &[Medium, High], Option::None),
            (Minimal, &[None], Option::None),
            (High, &[], Option::None),
            (High, &[None, High], Some(High)),
        ] {
            assert_eq!(EffortSet::of(known).nearest(asked), nearest, "{asked:?} of {known:?}");
        }
    }

    #[test]
    fn a_set_is_written_as_a_list_in_order() {
        let set: EffortSet = serde_json::from_str(r#"["high", "none", "low", "high"]"#).unwrap();
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["none","low","high"]"#);
        assert_eq!(set.to_string(), "none, low, high");
        assert_eq!(EffortSet::ALL.iter().collect::<Vec<_>>(), ThinkingEffort::ALL);
    }
}
