//! Rewards: an event, the objects that count, how much it pays, and how often.

use std::collections::BTreeSet;

use craft::ItemId;

use super::file::RewardFile;
use super::sets::ids_of;
use crate::block::WorldBlock;
use crate::events::EventKind;

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
        for name in file.objects.iter().flatten() {
            for id in ids_of(name)? {
                check_object(event, id)?;
                objects.insert(id.to_owned());
                if event == EventKind::MineBlock {
                    objects.extend(blocks_that_drop(id).map(str::to_owned));
                }
            }
        }
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
            Some(item) if !ItemId::all().any(|input| is_smelted(input, item)) => {
                Err(format!("{shown} does not come out of a furnace"))
            }
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

fn is_cut(item: ItemId) -> bool {
    ItemId::all().any(|input| craft::stonecutting(input).iter().any(|cut| cut.item == item))
}

fn is_smelted(input: ItemId, result: ItemId) -> bool {
    craft::smelting(input).is_some_and(|smelting| smelting.result == result)
}

/// The other blocks out of which a block always falls: cobblestone out of stone.
fn blocks_that_drop(id: &str) -> impl Iterator<Item = &'static str> {
    let wanted = ItemId::of(id);
    let blocks = ItemId::all().map(ItemId::id).filter(|block| craft::is_block(block));
    blocks.filter(move |block| {
        let drops = craft::block_drops(block, None, false);
        drops.iter().any(|drop| Some(drop.item) == wanted && drop.one_in == 1 && !drop.instead)
    })
}
