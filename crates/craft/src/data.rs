//! How the files in `data/` are read. They are part of the program, so a mistake in them is a mistake of ours: it panics,
//! and tests touch every line.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::item::{ItemId, group};

/// `data/extra.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtraFacts {
    pub fuel: BTreeMap<String, u32>,
    /// Result, and experience in hundredths.
    pub smelting: BTreeMap<String, (String, u16)>,
    pub smithing: BTreeMap<String, String>,
    pub stonecutting: BTreeMap<String, Vec<String>>,
    /// Tag, name, and ticks.
    pub potions: BTreeMap<String, (String, String, u32)>,
    /// From `bottle + ingredient`.
    pub brewing: BTreeMap<String, String>,
    pub remainder: BTreeMap<String, String>,
    pub drops: BTreeMap<String, Vec<String>>,
    pub full_drops: BTreeMap<String, Vec<String>>,
    pub sheared_drops: BTreeMap<String, Vec<String>>,
}

pub(crate) fn extra() -> &'static ExtraFacts {
    static EXTRA: LazyLock<ExtraFacts> = LazyLock::new(|| {
        #[expect(clippy::expect_used, reason = "the file is part of the program, and tests read it")]
        toml::from_str(include_str!("../data/extra.toml")).expect("data/extra.toml is sound")
    });
    &EXTRA
}

/// The lines of a table, each cut into its columns.
pub(crate) fn rows<const N: usize>(table: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    table.lines().map(|line| {
        let mut columns = line.split('\t');
        let row = std::array::from_fn(|_| columns.next().unwrap_or_else(|| broken(line)));
        if columns.next().is_some() { broken(line) } else { row }
    })
}

pub(crate) fn number<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| broken(text))
}

pub(crate) fn item(id: &str) -> ItemId {
    ItemId::of(id).unwrap_or_else(|| broken(id))
}

/// `oak_planks`, `coal|charcoal`, or `#planks`: items that serve equally.
pub(crate) fn alternatives(text: &str) -> Cow<'static, [ItemId]> {
    match text.strip_prefix('#') {
        Some(name) => Cow::Borrowed(group(name).unwrap_or_else(|| broken(text))),
        None => text.split('|').map(item).collect(),
    }
}

/// What the star of a pattern stands for in a text that it matches. A pattern without a star matches nothing.
pub(crate) fn starred<'a>(pattern: &str, text: &'a str) -> Option<&'a str> {
    let (before, after) = pattern.split_once('*')?;
    text.strip_prefix(before)?.strip_suffix(after)
}

#[expect(clippy::panic, reason = "tests read all data")]
pub(crate) fn broken(what: &str) -> ! {
    panic!("crates/craft/data is broken at {what:?}")
}
