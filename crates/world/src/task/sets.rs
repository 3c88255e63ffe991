//! Sets of blocks and items, as task files name them: one id, a list, and groups such as `#planks`.

use std::collections::BTreeSet;
use std::fmt;

use craft::ItemId;
use serde::{Deserialize, Deserializer, de};

use crate::block::WorldBlock;

/// Kinds of blocks. A torch on a wall counts as a torch, and a plant in a pot as a flower pot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSet(BTreeSet<String>);

impl BlockSet {
    pub fn has(&self, block: WorldBlock) -> bool {
        self.0.contains(common_id(block.id()).as_ref())
    }

    pub fn has_id(&self, id: &str) -> bool {
        self.0.contains(id)
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// The id of the item that a block is put down as, for blocks that have another one.
pub(super) fn common_id(id: &str) -> std::borrow::Cow<'_, str> {
    if id.contains("wall_torch") {
        id.replace("wall_torch", "torch").into()
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

        deserializer.deserialize_any(BlockSetVisitor).map(Self)
    }
}
