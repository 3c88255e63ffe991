//! What falls out of blocks.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use crate::data::{broken, extra, item, number, rows, starred};
use crate::item::ItemId;
use crate::tool::ToolKind;

/// Something that may fall out of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drop {
    pub item: ItemId,
    /// How many, each number as likely as the others.
    pub count: RangeInclusive<u8>,
    /// It falls once in so many times: 1 is always.
    pub one_in: u32,
    /// It can only fall if the drop before it in the list did not.
    pub instead: bool,
}

/// What falls out of a block that is broken with what is held, if that gets anything out of it at all, which depends on the
/// tool's material and is not decided here. Empty if the block drops nothing or there is no such block.
///
/// `is_full` is whether a crop is ripe, or a slab fills its cell. A block of two cells (a bed, a door, tall grass) is asked
/// for once. The list is in the order in which dice should be thrown.
pub fn block_drops(block: &str, held: Option<ItemId>, is_full: bool) -> &'static [Drop] {
    let Some(rules) = all_rules().get(plain_id(block)) else { return &[] };
    let is_sheared = held.and_then(ItemId::tool).is_some_and(|tool| tool.kind == ToolKind::Shears);
    match (&rules.sheared, &rules.full) {
        (Some(sheared), _) if is_sheared => sheared,
        (_, Some(full)) if is_full => full,
        _ => &rules.usual,
    }
}

/// Whether the game has a block with this id.
pub fn is_block(id: &str) -> bool {
    all_rules().contains_key(plain_id(id))
}

fn plain_id(id: &str) -> &str {
    id.strip_prefix("minecraft:").unwrap_or(id)
}

struct DropRules {
    usual: Vec<Drop>,
    full: Option<Vec<Drop>>,
    sheared: Option<Vec<Drop>>,
}

fn all_rules() -> &'static BTreeMap<&'static str, DropRules> {
    static RULES: LazyLock<BTreeMap<&'static str, DropRules>> = LazyLock::new(|| {
        let usual = DropLines::new(&extra().drops);
        let full = DropLines::new(&extra().full_drops);
        let sheared = DropLines::new(&extra().sheared_drops);
        rows(include_str!("../data/blocks.tsv"))
            .map(|[block]| {
                let itself = || ItemId::of(block).map(always).into_iter().collect();
                let rules = DropRules {
                    usual: usual.find(block).unwrap_or_else(itself),
                    full: full.find(block),
                    sheared: sheared.find(block),
                };
                (block, rules)
            })
            .collect()
    });
    &RULES
}

fn always(item: ItemId) -> Drop {
    Drop { item, count: 1..=1, one_in: 1, instead: false }
}

/// Lines about single blocks, and those with a star.
struct DropLines {
    all: &'static BTreeMap<String, Vec<String>>,
    starred: Vec<(&'static str, &'static [String])>,
}

impl DropLines {
    fn new(all: &'static BTreeMap<String, Vec<String>>) -> Self {
        let starred = all.iter().filter(|(block, _)| block.contains('*'));
        Self { all, starred: starred.map(|(block, drops)| (block.as_str(), drops.as_slice())).collect() }
    }

    /// What the block's own line says, or else the one with a star that matches it.
    fn find(&self, block: &str) -> Option<Vec<Drop>> {
        let (star, drops) = match self.all.get(block) {
            Some(drops) => ("", drops.as_slice()),
            None => {
                self.starred.iter().find_map(|(pattern, drops)| Some((starred(pattern, block)?, *drops)))?
            }
        };
        Some(drops.iter().map(|text| parse(text, star)).collect())
    }
}

/// Reads `or flint 1-2 1 in 10`, of which only the item must be there.
fn parse(text: &str, star: &str) -> Drop {
    let mut words: Vec<&str> = text.split(' ').collect();
    let instead = words.first() == Some(&"or");
    if instead {
        words.remove(0);
    }
    let one_in = match words[..] {
        [.., "1", "in", times] => {
            words.truncate(words.len() - 3);
            number(times)
        }
        _ => 1,
    };
    let (id, count) = match words[..] {
        [id] => (id, 1..=1),
        [id, count] => match count.split_once('-') {
            Some((least, most)) => (id, number(least)..=number(most)),
            None => (id, number(count)..=number(count)),
        },
        _ => broken(text),
    };
    Drop { item: item(&id.replace('*', star)), count, one_in, instead }
}
