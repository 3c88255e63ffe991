//! Kinds of items, and what is known of each.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::data::{alternatives, broken, extra, item, number, rows, starred};
use crate::tool::Tool;

/// A kind of item, such as `iron_pickaxe`. Its number is its place among all ids in their order. Numbers are the same on
/// every machine, but not between versions of this crate, so files have ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(u16);

/// Some of one kind, as they lie in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ItemStack {
    pub item: ItemId,
    pub count: u8,
    /// How often a tool has been used.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wear: u16,
}

/// What eating one gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Food {
    pub points: u8,
    pub saturation: f64,
}

struct ItemFacts {
    id: &'static str,
    name: &'static str,
    stack_size: u8,
    durability: Option<u16>,
    food: Option<Food>,
    tool: Option<Tool>,
    /// The tag, if it is one of the kinds of `potion`.
    potion: Option<&'static str>,
}

/// All items, in the order of their ids.
fn items() -> &'static [ItemFacts] {
    static ITEMS: LazyLock<Vec<ItemFacts>> = LazyLock::new(|| {
        let foods: BTreeMap<&str, Food> = rows(include_str!("../data/food.tsv"))
            .map(|[id, points, saturation]| {
                (id, Food { points: number(points), saturation: number(saturation) })
            })
            .collect();
        let from_package =
            rows(include_str!("../data/items.tsv")).map(|[id, name, stack_size, durability]| ItemFacts {
                id,
                name,
                stack_size: number(stack_size),
                durability: (durability != "-").then(|| number(durability)),
                food: foods.get(id).copied(),
                tool: Tool::of(id),
                potion: None,
            });
        let potions = extra().potions.iter().map(|(id, (tag, name, _))| ItemFacts {
            id,
            name,
            stack_size: 1,
            durability: None,
            food: None,
            tool: None,
            potion: Some(tag),
        });
        let mut items: Vec<ItemFacts> = from_package.chain(potions).collect();
        items.sort_unstable_by_key(|facts| facts.id);
        items
    });
    &ITEMS
}

impl ItemStack {
    pub fn new(item: ItemId, count: u8) -> Self {
        Self { item, count, wear: 0 }
    }

    /// Takes from another stack of the same kind as many as there is room for.
    pub fn merge(&mut self, other: &mut Self) {
        if (self.item, self.wear) == (other.item, other.wear) {
            let moved = other.count.min(self.item.stack_size().saturating_sub(self.count));
            self.count += moved;
            other.count -= moved;
        }
    }

    /// Takes away up to so many, and may leave none.
    pub fn split(&mut self, count: u8) -> Option<Self> {
        let taken = Self { count: count.min(self.count), ..*self };
        self.count -= taken.count;
        Some(taken).filter(|taken| taken.count > 0)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(wear: &u16) -> bool {
    *wear == 0
}

impl ItemId {
    /// The kind with an id, with or without `minecraft:` before it.
    pub fn of(id: &str) -> Option<Self> {
        let id = id.strip_prefix("minecraft:").unwrap_or(id);
        let place = items().binary_search_by_key(&id, |facts| facts.id).ok()?;
        u16::try_from(place).ok().map(Self)
    }

    /// The kind of potion that the game's tag `Potion` tells, such as `fire_resistance`, with or without `minecraft:`.
    pub fn of_potion(tag: &str) -> Option<Self> {
        let tag = tag.strip_prefix("minecraft:").unwrap_or(tag);
        Self::all().find(|item| item.potion() == Some(tag))
    }

    /// All kinds, in the order of their ids.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..).map(Self).take(items().len())
    }

    /// Its place among [`ItemId::all`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    pub fn id(self) -> &'static str {
        self.facts().id
    }

    /// Its id in the game, where all potions have the same.
    pub fn game_id(self) -> &'static str {
        if self.potion().is_some() { "potion" } else { self.id() }
    }

    /// What the game's tag `Potion` would say, if it is a kind of potion.
    pub fn potion(self) -> Option<&'static str> {
        self.facts().potion
    }

    /// For how many ticks its effect lasts on who drinks it. None if it is no potion, has no effect, or acts at once.
    pub fn effect_ticks(self) -> Option<u32> {
        let (_, _, ticks) = extra().potions.get(self.id())?;
        (*ticks > 0).then_some(*ticks)
    }

    /// Its name for people, in English.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// How many fit into one slot.
    pub fn stack_size(self) -> u8 {
        self.facts().stack_size
    }

    /// How often it can be used before it breaks, if it wears out.
    pub fn durability(self) -> Option<u16> {
        self.facts().durability
    }

    pub fn food(self) -> Option<Food> {
        self.facts().food
    }

    pub fn tool(self) -> Option<Tool> {
        self.facts().tool
    }

    /// How long one burns in a furnace.
    pub fn fuel_ticks(self) -> Option<u32> {
        static FUELS: LazyLock<BTreeMap<ItemId, u32>> = LazyLock::new(fuels);
        FUELS.get(&self).copied()
    }

    /// What stays behind when one is used up in a crafting grid, in a furnace or by drinking.
    pub fn remainder(self) -> Option<Self> {
        static REMAINDERS: LazyLock<BTreeMap<ItemId, ItemId>> = LazyLock::new(|| {
            extra().remainder.iter().map(|(used, remainder)| (item(used), item(remainder))).collect()
        });
        REMAINDERS.get(&self).copied()
    }

    fn facts(self) -> &'static ItemFacts {
        // Only this file makes them, from places in the table.
        &items()[self.index()]
    }
}

fn fuels() -> BTreeMap<ItemId, u32> {
    let mut fuels = BTreeMap::new();
    // What is said later goes before what is said earlier: an item before a pattern before a group.
    let rank = |key: &str| if key.starts_with('#') { 0 } else { 1 + u8::from(!key.contains('*')) };
    let mut lines: Vec<_> = extra().fuel.iter().collect();
    lines.sort_by_key(|(key, _)| rank(key));
    for (key, &ticks) in lines {
        let burning = if key.contains('*') {
            ItemId::all().filter(|item| starred(key, item.id()).is_some()).collect()
        } else {
            alternatives(key)
        };
        fuels.extend(burning.iter().map(|&item| (item, ticks)));
    }
    fuels.retain(|_, ticks| *ticks > 0);
    fuels
}

/// The items of a group, such as `planks` or `#planks`, in order.
pub fn group(name: &str) -> Option<&'static [ItemId]> {
    let name = name.strip_prefix('#').unwrap_or(name);
    all_groups().get(name).map(Vec::as_slice)
}

/// The names of all groups, without `#`, in order.
pub fn groups() -> impl Iterator<Item = &'static str> {
    all_groups().keys().copied()
}

fn all_groups() -> &'static BTreeMap<&'static str, Vec<ItemId>> {
    static GROUPS: LazyLock<BTreeMap<&'static str, Vec<ItemId>>> = LazyLock::new(|| {
        rows(include_str!("../data/groups.tsv"))
            .map(|[name, members]| {
                let members: Vec<ItemId> = members.split(' ').map(item).collect();
                if members.is_sorted() { (name, members) } else { broken(name) }
            })
            .collect()
    });
    &GROUPS
}

impl fmt::Debug for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

impl Serialize for ItemId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl<'de> Deserialize<'de> for ItemId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;
        impl de::Visitor<'_> for IdVisitor {
            type Value = ItemId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the id of an item")
            }

            fn visit_str<E: de::Error>(self, id: &str) -> Result<ItemId, E> {
                ItemId::of(id).ok_or_else(|| E::custom(format_args!("there is no item {id:?}")))
            }
        }
        deserializer.deserialize_str(IdVisitor)
    }
}
