//! Warnings about blocks and colours that are not in the palette.

use std::collections::BTreeMap;

use super::{BlockMapping, CellKind, mapping};
use crate::diagnostics::{Warning, printable};
use crate::expand::{most_frequent, pluralise};

/// The counts of replaced and dropped kinds by name.
#[derive(Default)]
pub struct ReplacementSummary {
    replaced: BTreeMap<String, (u64, u8)>,
    dropped: BTreeMap<String, u64>,
}

impl ReplacementSummary {
    pub fn add(&mut self, kind: &CellKind, mapping: BlockMapping, count: u64) {
        match mapping {
            BlockMapping::Empty | BlockMapping::Same(_) => {}
            BlockMapping::Replaced(block) => {
                self.replaced.entry(kind.display_name()).or_insert((0, block)).0 += count;
            }
            BlockMapping::Dropped => *self.dropped.entry(kind.display_name()).or_default() += count,
        }
    }

    /// Warnings for the most frequent kinds, and one for the others together.
    pub fn warnings(self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let (named, rest) = most_frequent(self.replaced, |(count, _)| *count);
        for (r#type, (count, block)) in named {
            let replaced = pluralise(count, "block was replaced", "blocks were replaced");
            let block = mapping::name(block);
            let message = format!("{type} is not in the palette: {replaced} with {block}");
            warnings.push(Warning::ReplacedBlock { r#type, count, message });
        }
        if let Some((kinds, count)) = rest {
            let more = pluralise(kinds as u64, "more type is", "more types are");
            let replaced = pluralise(count, "block was replaced", "blocks were replaced");
            let message = format!("{more} not in the palette: {replaced} with the nearest block");
            warnings.push(Warning::MoreReplacedBlocks { kinds, count, message });
        }
        let (named, rest) = most_frequent(self.dropped, |count| *count);
        for (r#type, count) in named {
            let dropped = pluralise(count, "block was dropped", "blocks were dropped");
            let message = format!("{type} is not a full block: {dropped}");
            warnings.push(Warning::UnknownBlock { r#type, count, message });
        }
        if let Some((kinds, count)) = rest {
            let more =
                pluralise(kinds as u64, "more type is not a full block", "more types are not full blocks");
            let dropped = pluralise(count, "block was dropped", "blocks were dropped");
            let message = format!("{more}: {dropped}");
            warnings.push(Warning::MoreUnknownBlocks { kinds, count, message });
        }
        warnings
    }
}

impl CellKind {
    fn display_name(&self) -> String {
        match self {
            Self::Block(name) => printable(name),
            Self::Colour([r, g, b]) => format!("#{r:02x}{g:02x}{b:02x}"),
        }
    }
}
