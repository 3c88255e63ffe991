//! Sets of blocks and items, as task files name them: one id, a list, and groups such as `#planks`.

use std::collections::BTreeSet;
use std::fmt;

use craft::ItemId;
use serde::{Deserialize, Deserializer, de};

use crate::block::{BlockKind, WorldBlock, table};

/// Kinds of blocks. A torch or a sign on a wall counts as a torch or a sign too, and a plant in a pot as a flower pot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSet {
    ids: BTreeSet<String>,
    /// For each kind of the table, whether it counts: goals ask of many cells.
    kinds: Vec<bool>,
}

impl BlockSet {
    fn of(ids: BTreeSet<String>) -> Self {
        let counts = |kind: &BlockKind| ids.contains(kind.id) || ids.contains(common_id(kind.id).as_ref());
        Self { kinds: table().kinds.iter().map(counts).collect(), ids }
    }

    pub fn has(&self, block: WorldBlock) -> bool {
        self.kinds[block.state().kind]
    }

    pub fn has_id(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Whether this world has any of them. Groups may have members that it lacks.
    pub(super) fn check_is_built(&self, predicate: &str) -> Result<(), String> {
        match self.ids.first() {
            Some(first) if !self.ids.iter().any(|id| WorldBlock::of(id).is_some()) => {
                let others = if self.ids.len() > 1 { " and the others" } else { "" };
                Err(format!("{predicate} never holds: the world does not have {first}{others}"))
            }
            _ => Ok(()),
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(String::as_str)
    }
}

/// The id of the item that a block is put down as, for blocks that have another one.
pub(super) fn common_id(id: &str) -> std::borrow::Cow<'_, str> {
    if id.ends_with("wall_torch") || id.ends_with("_wall_sign") {
        id.replace("wall_", "").into()
    } else if id.starts_with("potted_") {
        "flower_pot".into()
    } else {
        id.into()
    }
}

/// The ids that a name stands for: those of a group, or the one itself.
pub(super) fn ids_of(name: &str) -> Result<Vec<&str>, String> {
    let Some(group) = name.strip_prefix('#') else {
        return Ok(vec![name.strip_prefix("minecraft:").unwrap_or(name)]);
    };
    let items = craft::group(group).ok_or_else(|| {
        let known: Vec<&str> = craft::groups().collect();
        format!("there is no group {name:?}; there are {}", known.join(", "))
    })?;
    Ok(items.iter().copied().map(ItemId::id).collect())
}

impl<'de> Deserialize<'de> for BlockSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BlockSetVisitor;

        impl<'de> de::Visitor<'de> for BlockSetVisitor {
            type Value = BTreeSet<String>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the id of a block, a group, or a list of them")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
                let mut ids = BTreeSet::new();
                for id in ids_of(name).map_err(E::custom)? {
                    if !craft::is_block(id) && WorldBlock::of(id).is_none() {
                        let shown: String = id.chars().take(60).collect();
                        return Err(E::custom(format_args!("there is no block {shown:?}")));
                    }
                    ids.insert(id.to_owned());
                }
                Ok(ids)
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut names: A) -> Result<Self::Value, A::Error> {
                let mut ids = BTreeSet::new();
                while let Some(name) = names.next_element::<String>()? {
                    ids.extend(BlockSetVisitor.visit_str::<A::Error>(&name)?);
                }
                if ids.is_empty() {
                    return Err(de::Error::custom("a list of blocks has at least one"));
                }
                Ok(ids)
            }
        }

        deserializer.deserialize_any(BlockSetVisitor).map(Self::of)
    }
}
