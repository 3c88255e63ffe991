//! Rewards: an event, the objects that count, how much it pays, and how often.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use craft::{ItemId, ToolKind};

use super::file::RewardFile;
use super::sets::ids_of;
use crate::block::{WorldBlock, table};
use crate::events::EventKind;
use crate::place::block_of_item;
use crate::screen::ScreenKind;
use crate::throw::ThrownKind;

/// The most that a reward pays at once, and how often it may be paid.
const MAX_REWARD: f64 = 1000.0;
const MAX_TIMES: u32 = 10_000;

/// Pays when a counter rises.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskReward {
    pub event: EventKind,
    /// What it is called in the file.
    pub identity: String,
    /// What counts; empty if everything does.
    pub objects: BTreeSet<String>,
    pub reward: f64,
    pub max_times: u32,
}

impl TaskReward {
    /// All that it may pay.
    pub fn payable(&self) -> f64 {
        self.reward * f64::from(self.max_times)
    }

    pub fn counts(&self, kind: EventKind, object: &str) -> bool {
        self.event == kind && (self.objects.is_empty() || self.objects.contains(object))
    }

    pub(super) fn of(file: &RewardFile) -> Result<Self, String> {
        let event = EventKind::of(&file.event).ok_or_else(|| {
            let known = EventKind::ALL.map(EventKind::name).join(", ");
            let shown: String = file.event.chars().take(40).collect();
            format!("there is no event {shown:?}; there are {known}")
        })?;
        let mut objects = BTreeSet::new();
        let names: BTreeSet<&String> = file.objects.iter().flatten().collect();
        for name in names {
            for id in ids_of(name)? {
                check_object(event, id)?;
                objects.insert(id.to_owned());
                if event == EventKind::MineBlock {
                    objects.extend(blocks_that_drop(id).iter().map(|block| (*block).to_owned()));
                }
            }
        }
        check_some_happen(event, &objects)?;
        if objects.is_empty() && event != EventKind::DropItem && event != EventKind::Sleep {
            return Err(format!("{} needs objects that count", event.name()));
        }
        let reward = file.reward.unwrap_or(1.0);
        if !(reward > 0.0 && reward <= MAX_REWARD) {
            return Err(format!("a reward is above 0 and at most {MAX_REWARD}"));
        }
        let max_times = file.max_reward_times.unwrap_or(1);
        if !(1..=MAX_TIMES).contains(&max_times) {
            return Err(format!("max_reward_times goes from 1 to {MAX_TIMES}"));
        }
        let identity: String = match &file.identity {
            Some(identity) => identity.trim().chars().take(80).collect(),
            None => event.name().to_owned(),
        };
        Ok(Self { event, identity, objects, reward, max_times })
    }
}

/// Whether something of that id can ever be counted for an event.
fn check_object(event: EventKind, id: &str) -> Result<(), String> {
    let shown: String = id.chars().take(60).collect();
    let is_block = craft::is_block(id) || WorldBlock::of(id).is_some();
    let item = ItemId::of(id);
    match event {
        EventKind::MineBlock | EventKind::Open | EventKind::Sleep if !is_block => {
            Err(format!("there is no block {shown:?}"))
        }
        EventKind::MineBlock if WorldBlock::of(id).is_some_and(|block| block.kind().hardness.is_none()) => {
            Err(format!("{shown} cannot be mined"))
        }
        EventKind::CraftItem => match item {
            None => Err(format!("there is no item {shown:?}")),
            Some(item) if craft::recipes_for(item).next().is_none() && !is_cut(item) => {
                Err(format!("{shown} cannot be crafted"))
            }
            Some(_) => Ok(()),
        },
        EventKind::Smelt => match item {
            None => Err(format!("there is no item {shown:?}")),
            Some(item) if !is_smelted(item) => Err(format!("{shown} does not come out of a furnace")),
            Some(_) => Ok(()),
        },
        EventKind::UseItem
        | EventKind::PickupItem
        | EventKind::DropItem
        | EventKind::Brew
        | EventKind::Enchant
            if item.is_none() =>
        {
            Err(format!("there is no item {shown:?}"))
        }
        EventKind::KillEntity | EventKind::Leash | EventKind::Hook | EventKind::Ride | EventKind::Mobs
            if !id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') =>
        {
            Err(format!("there is no entity {shown:?}"))
        }
        _ => Ok(()),
    }
}

/// Whether this world has any of the objects of an event. Groups may have members that it lacks.
fn check_some_happen(event: EventKind, objects: &BTreeSet<String>) -> Result<(), String> {
    let (can_happen, lack): (fn(&str) -> bool, _) = match event {
        EventKind::MineBlock => (|id| WorldBlock::of(id).is_some(), "the world does not have"),
        EventKind::UseItem => (is_used, "the world has no use for"),
        EventKind::Open => (|id| ScreenKind::of_block(id, [0; 3]).is_some(), "no screen opens at"),
        _ => return Ok(()),
    };
    match objects.first() {
        Some(first) if !objects.iter().any(|id| can_happen(id)) => {
            let others = if objects.len() > 1 { " and the others" } else { "" };
            Err(format!("{} cannot be paid: {lack} {first}{others}", event.name()))
        }
        _ => Ok(()),
    }
}

/// Whether the button for use does something with an item that counts: places it, eats it, throws it or cuts with it.
fn is_used(id: &str) -> bool {
    let is_tool = |item: ItemId| item.tool().is_some_and(|tool| tool.kind == ToolKind::Shears);
    let is_used = |item: ItemId| item.food().is_some() || ThrownKind::of(item).is_some() || is_tool(item);
    block_of_item(id).is_some() || ItemId::of(id).is_some_and(is_used)
}

fn is_cut(item: ItemId) -> bool {
    static CUT: LazyLock<BTreeSet<ItemId>> = LazyLock::new(|| {
        ItemId::all().flat_map(|input| craft::stonecutting(input).iter().map(|cut| cut.item)).collect()
    });
    CUT.contains(&item)
}

fn is_smelted(item: ItemId) -> bool {
    static SMELTED: LazyLock<BTreeSet<ItemId>> =
        LazyLock::new(|| ItemId::all().filter_map(craft::smelting).map(|made| made.result).collect());
    SMELTED.contains(&item)
}

/// The blocks of this world out of which an item always falls: cobblestone out of stone.
fn blocks_that_drop(id: &str) -> &'static [&'static str] {
    static BLOCKS: LazyLock<BTreeMap<ItemId, Vec<&'static str>>> = LazyLock::new(|| {
        let mut blocks = BTreeMap::<ItemId, Vec<&'static str>>::new();
        for block in table().kinds.iter().map(|kind| kind.id) {
            let drops = craft::block_drops(block, None, false).iter();
            for drop in drops.filter(|drop| drop.one_in == 1 && !drop.instead) {
                blocks.entry(drop.item).or_default().push(block);
            }
        }
        blocks
    });
    ItemId::of(id).and_then(|item| BLOCKS.get(&item)).map_or(&[], Vec::as_slice)
}
