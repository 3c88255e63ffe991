//! Things that stand around the start of a task, each at a place that the seed draws.

use std::collections::BTreeMap;
use std::fmt;

use craft::{ItemId, ItemStack};
use serde::{Deserialize, Deserializer, de};

use super::block_text::{NoBlock, read_block};
use crate::block::WorldBlock;
use crate::containers::CHEST_SLOTS;

/// Something to be put up at a drawn place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place {
    Block(BlockPlace),
    Scatter(ScatterPlace),
    Patch(PatchPlace),
    Trees(TreesPlace),
    Outcrop(OutcropPlace),
    Bank(BankPlace),
    Pool(PoolPlace),
    Huts(HutsPlace),
    Shaft(ShaftPlace),
    Vein(VeinPlace),
}

/// From how far to how far away, in cells.
pub(super) type Away = [u8; 2];

/// One block on the ground, which faces the player if it faces anywhere, with what is in it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BlockPlace {
    pub of: PlacedBlock,
    pub away: Away,
    #[serde(default)]
    pub content: BTreeMap<ItemId, u8>,
}

/// Blocks on the ground, each at a place of its own all around.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScatterPlace {
    pub of: PlacedBlock,
    pub count: u16,
    pub away: Away,
}

/// Blocks close together; with `sunk`, in the ground instead of on it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatchPlace {
    pub of: PlacedBlock,
    pub count: u16,
    pub away: Away,
    #[serde(default)]
    pub sunk: bool,
    /// Whether a rise of earth hides it.
    #[serde(default)]
    pub behind_rise: bool,
}

/// Trees of a kind of wood.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TreesPlace {
    pub log: PlacedBlock,
    pub leaves: PlacedBlock,
    pub count: u16,
    pub away: Away,
}

/// A rock, with an ore in the face that the player sees.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutcropPlace {
    pub of: PlacedBlock,
    pub ore: Option<PlacedBlock>,
    pub away: Away,
}

/// A bank with a steep face and level ground on top.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BankPlace {
    pub of: PlacedBlock,
    pub away: Away,
}

/// A pool of a liquid in the ground.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PoolPlace {
    pub of: PlacedBlock,
    pub away: Away,
    #[serde(default)]
    pub behind_rise: bool,
}

/// Huts with a way in; something stands in one of them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HutsPlace {
    pub of: PlacedBlock,
    pub count: u16,
    pub away: Away,
    pub hold: PlacedBlock,
}

/// A shaft with ladders that ends two cells above the world's bottom.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShaftPlace {
    pub away: Away,
}

/// Ore in a wall that one can walk to, so far on foot.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VeinPlace {
    pub of: PlacedBlock,
    pub count: u16,
    pub away: Away,
}

/// A block that the file names. None if this world does not have it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlacedBlock {
    pub id: String,
    pub block: Option<WorldBlock>,
}

impl Place {
    pub const NAMES: [&str; 10] =
        ["block", "scatter", "patch", "trees", "outcrop", "bank", "pool", "huts", "shaft", "vein"];

    pub fn away(&self) -> Away {
        match self {
            Self::Block(place) => place.away,
            Self::Scatter(place) => place.away,
            Self::Patch(place) => place.away,
            Self::Trees(place) => place.away,
            Self::Outcrop(place) => place.away,
            Self::Bank(place) => place.away,
            Self::Pool(place) => place.away,
            Self::Huts(place) => place.away,
            Self::Shaft(place) => place.away,
            Self::Vein(place) => place.away,
        }
    }

    pub fn count(&self) -> u16 {
        match self {
            Self::Scatter(place) => place.count,
            Self::Patch(place) => place.count,
            Self::Trees(place) => place.count,
            Self::Huts(place) => place.count,
            Self::Vein(place) => place.count,
            _ => 1,
        }
    }

    /// The blocks it is made of.
    pub fn blocks(&self) -> Vec<&PlacedBlock> {
        match self {
            Self::Block(place) => vec![&place.of],
            Self::Scatter(place) => vec![&place.of],
            Self::Patch(place) => vec![&place.of],
            Self::Trees(place) => vec![&place.log, &place.leaves],
            Self::Outcrop(place) => [&place.of].into_iter().chain(&place.ore).collect(),
            Self::Bank(place) => vec![&place.of],
            Self::Pool(place) => vec![&place.of],
            Self::Huts(place) => vec![&place.of, &place.hold],
            Self::Shaft(_) => Vec::new(),
            Self::Vein(place) => vec![&place.of],
        }
    }

    /// What lies in the block, by slots.
    pub fn content(&self) -> Vec<(u8, ItemStack)> {
        let Self::Block(place) = self else { return Vec::new() };
        let stacks = place.content.iter().map(|(item, count)| ItemStack::new(*item, *count));
        (0..CHEST_SLOTS as u8).zip(stacks).collect()
    }

    /// What cannot be, in words.
    pub fn check(&self) -> Result<(), String> {
        let [least, most] = self.away();
        if least > most || !(2..=60).contains(&least) || !(2..=60).contains(&most) {
            return Err("away goes from 2 to 60, the smaller number first".to_owned());
        }
        let most = match self {
            Self::Trees(_) => 8,
            Self::Huts(_) => 6,
            _ => 64,
        };
        if !(1..=most).contains(&self.count()) {
            return Err(format!("count goes from 1 to {most}"));
        }
        if let Self::Block(place) = self
            && place.content.len() > CHEST_SLOTS
        {
            return Err(format!("content has at most {CHEST_SLOTS} items"));
        }
        for (_, stack) in self.content() {
            if !(1..=stack.item.stack_size()).contains(&stack.count) {
                return Err(format!("a stack of {} has 1 to {}", stack.item, stack.item.stack_size()));
            }
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for PlacedBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let block = match read_block(&text) {
            Ok(block) => Some(block),
            Err(NoBlock::NotBuilt(_)) => None,
            Err(NoBlock::Wrong(words)) => return Err(de::Error::custom(words)),
        };
        let id = text.split('[').next().unwrap_or_default();
        Ok(Self { id: id.strip_prefix("minecraft:").unwrap_or(id).to_owned(), block })
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PlaceVisitor;

        impl<'de> de::Visitor<'de> for PlaceVisitor {
            type Value = Place;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one thing by its name")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Place, A::Error> {
                let known = || Place::NAMES.join(", ");
                let name: String = map
                    .next_key()?
                    .ok_or_else(|| de::Error::custom(format_args!("it is one of {}", known())))?;
                let place = match &name[..] {
                    "block" => Place::Block(map.next_value()?),
                    "scatter" => Place::Scatter(map.next_value()?),
                    "patch" => Place::Patch(map.next_value()?),
                    "trees" => Place::Trees(map.next_value()?),
                    "outcrop" => Place::Outcrop(map.next_value()?),
                    "bank" => Place::Bank(map.next_value()?),
                    "pool" => Place::Pool(map.next_value()?),
                    "huts" => Place::Huts(map.next_value()?),
                    "shaft" => Place::Shaft(map.next_value()?),
                    "vein" => Place::Vein(map.next_value()?),
                    other => {
                        let other: String = other.chars().take(40).collect();
                        return Err(de::Error::custom(format_args!(
                            "there is no place {other:?}; there are {}",
                            known()
                        )));
                    }
                };
                match map.next_key::<String>()? {
                    None => Ok(place),
                    Some(_) => Err(de::Error::custom("each place is an entry of the list of its own")),
                }
            }
        }

        deserializer.deserialize_map(PlaceVisitor)
    }
}
