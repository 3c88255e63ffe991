//! What lies about and what flies: items that can be picked up, and what is thrown. The numbers are those of Minecraft
//! 1.16.5 as far as they are known.

use craft::ItemStack;
use serde::{Deserialize, Serialize};

use crate::body::{Aabb, is_free, sweep_level};
use crate::events::{Event, EventKind};
use crate::hash::Mixer;
use crate::inventory::{is_possible, mix_stack};
use crate::player::{cell_of, depth_in_water, is_lava_at};
use crate::throw::ThrownBody;
use crate::volume::Volume;
use crate::world::{Body, World};

/// Numbers of the game, which tests name.
pub mod constants {
    /// The edge of an item's box, and of what is thrown.
    pub const EDGE: f64 = 0.25;
    pub const GRAVITY: f64 = 0.04;
    /// What remains of the speed in a tick; on ground, this times how slippery it is.
    pub const DRAG: f64 = 0.98;
    /// Items rise in water as long as they are slower than [`FLOAT_SPEED`]; to the sides, it slows them down.
    pub const FLOAT: f64 = 0.000_5;
    pub const FLOAT_SPEED: f64 = 0.06;
    pub const WATER_DRAG: f64 = 0.99;
    /// How deep an item is in water that carries it.
    pub const FLOAT_DEPTH: f64 = 0.1;
    /// How far around the player's box items are picked up.
    pub const REACH: [f64; 3] = [1.0, 0.5, 1.0];
    /// The ticks until something can be picked up: what has fallen out of a block, and what a player has thrown.
    pub const DROP_DELAY: u8 = 10;
    pub const THROW_DELAY: u8 = 40;
    /// How many ticks an item lies about.
    pub const LIFE: u16 = 6_000;
    /// How far apart the boxes of equal items are that become one.
    pub const MERGE_RANGE: f64 = 0.5;
    /// After how many ticks an item looks for others, while it moves and while it rests.
    pub const MERGE_MOVING: u16 = 2;
    pub const MERGE_RESTING: u16 = 40;
    /// The speed of what falls out of a block: at most this to the sides, and this upwards.
    pub const DROP_ASIDE: f64 = 0.1;
    pub const DROP_UP: f64 = 0.2;
    /// The speed of what a player throws away: along the look, and more upwards.
    pub const THROW: f64 = 0.3;
    pub const THROW_UP: f64 = 0.1;
    /// How far below the eyes it begins.
    pub const THROW_BELOW_EYES: f64 = 0.3;
    /// How fast an item leaves a block that was put over it.
    pub const PUSH: f64 = 0.2;
    /// The most that lies about. The oldest goes for the newest.
    pub const MAX_ITEMS: usize = 512;
}

use constants::*;

/// A slower item on the ground rests, and moves only in every fourth tick.
const REST: f64 = 1e-5;

/// No item and nothing that is thrown is faster along an axis, so that a tick meets few cells.
pub(crate) const MAX_SPEED: f64 = 8.0;

/// An item that lies about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemBody {
    pub(crate) id: u64,
    pub stack: ItemStack,
    /// The middle of its box's bottom.
    pub position: [f64; 3],
    pub velocity: [f64; 3],
    /// Its age in ticks.
    pub age: u16,
    /// The ticks until it can be picked up.
    pub delay: u8,
    pub is_on_ground: bool,
}

/// All that lies about and flies, each in the order of the ids, which are never given twice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Things {
    items: Vec<ItemBody>,
    pub(crate) thrown: Vec<ThrownBody>,
    next: u64,
}

impl ItemBody {
    pub fn bounds(&self) -> Aabb {
        Aabb::standing(self.position, EDGE, EDGE)
    }

    /// Moves for a tick.
    fn advance(&mut self, volume: &Volume) {
        self.delay = self.delay.saturating_sub(1);
        self.age += 1;
        // What rests need not be looked at in every tick: it falls a little later when its ground is gone.
        if self.is_at_rest() && !(u64::from(self.age) + self.id).is_multiple_of(4) {
            return;
        }
        if depth_in_water(volume, self.bounds()) > FLOAT_DEPTH {
            self.velocity[0] *= WATER_DRAG;
            self.velocity[2] *= WATER_DRAG;
            if self.velocity[1] < FLOAT_SPEED {
                self.velocity[1] += FLOAT;
            }
        } else {
            self.velocity[1] -= GRAVITY;
        }
        if is_free(volume, self.bounds()) {
            self.glide(volume);
        } else {
            self.leave_block(volume);
        }
    }

    fn is_at_rest(&self) -> bool {
        let [x, _, z] = self.velocity;
        self.is_on_ground && x * x + z * z <= REST
    }

    /// Goes where the velocity leads, until something stops it.
    fn glide(&mut self, volume: &Volume) {
        let moved = sweep_level(volume, self.bounds(), self.velocity);
        self.is_on_ground = moved.stopped[1] && self.velocity[1] < 0.0;
        for axis in 0..3 {
            self.position[axis] += moved.by[axis];
            if moved.stopped[axis] {
                self.velocity[axis] = 0.0;
            }
        }
        let [x, y, z] = self.position;
        let slip = if self.is_on_ground { volume.block(cell_of([x, y - 0.5, z])).kind().slip } else { 1.0 };
        self.velocity[0] *= slip * DRAG;
        self.velocity[1] *= DRAG;
        self.velocity[2] *= slip * DRAG;
    }

    /// Moves towards the nearest free cell beside the block that it is in, or rests if there is none.
    fn leave_block(&mut self, volume: &Volume) {
        self.is_on_ground = true;
        self.velocity = [0.0; 3];
        let [x, y, z] = self.position;
        let middle = [x, y + EDGE / 2.0, z];
        let cell = cell_of(middle);
        let sides = [(0, -1), (0, 1), (2, -1), (2, 1), (1, 1)].into_iter().filter_map(|(axis, step)| {
            let mut beside = cell;
            beside[axis] += step;
            let inside = middle[axis] - f64::from(cell[axis]);
            let way = if step < 0 { inside } else { 1.0 - inside };
            (!volume.is_solid(beside)).then_some((way, axis, step))
        });
        if let Some((_, axis, step)) = sides.min_by(|one, other| one.0.total_cmp(&other.0)) {
            self.is_on_ground = false;
            self.velocity[axis] = PUSH * f64::from(step);
            self.position[axis] += self.velocity[axis];
        }
    }

    /// Whether lava has destroyed it. Netherite and what it is made from do not burn.
    fn is_burnt(&self, volume: &Volume) -> bool {
        let id = self.stack.item.id();
        is_lava_at(volume, self.position) && !id.starts_with("netherite_") && id != "ancient_debris"
    }

    fn looks_for_others(&self) -> bool {
        let every = if self.is_at_rest() { MERGE_RESTING } else { MERGE_MOVING };
        self.age.is_multiple_of(every)
    }

    /// Whether both are equal, near, and fit into one stack.
    fn can_merge(&self, other: &Self) -> bool {
        let (one, two) = (self.stack, other.stack);
        let Aabb { low, high } = self.bounds();
        let near = Aabb {
            low: [low[0] - MERGE_RANGE, low[1], low[2] - MERGE_RANGE],
            high: [high[0] + MERGE_RANGE, high[1], high[2] + MERGE_RANGE],
        };
        (one.item, one.wear) == (two.item, two.wear)
            && one.count > 0
            && two.count > 0
            && u16::from(one.count) + u16::from(two.count) <= u16::from(one.item.stack_size())
            && near.overlaps(other.bounds())
    }

    fn is_possible(&self) -> bool {
        is_possible(self.stack)
            && is_place(self.position, self.velocity)
            && self.age < LIFE
            && self.delay <= THROW_DELAY
    }
}

impl Things {
    /// The items that lie about, the oldest first.
    pub fn items(&self) -> &[ItemBody] {
        &self.items
    }

    /// What has been thrown and flies.
    pub fn thrown(&self) -> &[ThrownBody] {
        &self.thrown
    }

    /// An id that nothing has had.
    pub(crate) fn new_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Lets an item lie about.
    pub(crate) fn add_item(&mut self, stack: ItemStack, position: [f64; 3], velocity: [f64; 3], delay: u8) {
        if stack.count == 0 {
            return;
        }
        if self.items.len() >= MAX_ITEMS {
            self.items.remove(0);
        }
        let id = self.new_id();
        self.items.push(ItemBody { id, stack, position, velocity, age: 0, delay, is_on_ground: false });
    }

    /// Moves everything for a tick.
    pub(crate) fn advance(&mut self, volume: &Volume, bodies: &[Body]) {
        for item in &mut self.items {
            item.advance(volume);
        }
        self.items.retain(|item| item.age < LIFE && !item.is_burnt(volume));
        self.merge();
        self.thrown.retain_mut(|thrown| thrown.advance(volume, bodies));
    }

    /// Makes one of equal items that are near each other: the older one takes all.
    fn merge(&mut self) {
        let mut is_merged = false;
        for one in 0..self.items.len() {
            if !self.items[one].looks_for_others() {
                continue;
            }
            for other in (0..self.items.len()).filter(|other| *other != one) {
                if !self.items[one].can_merge(&self.items[other]) {
                    continue;
                }
                let (older, younger) = (one.min(other), one.max(other));
                let ItemBody { stack, age, delay, .. } = self.items[younger];
                let kept = &mut self.items[older];
                kept.stack.count += stack.count;
                kept.age = kept.age.min(age);
                kept.delay = kept.delay.max(delay);
                self.items[younger].stack.count = 0;
                is_merged = true;
            }
        }
        if is_merged {
            self.items.retain(|item| item.stack.count > 0);
        }
    }

    /// Whether things that were read from a file could be some.
    pub(crate) fn are_possible(&self) -> bool {
        let mut last = [0; 2];
        let mut is_new = |kind: usize, id| std::mem::replace(&mut last[kind], id) < id && id <= self.next;
        self.next <= 1 << 40
            && self.items.len() <= MAX_ITEMS
            && self.thrown.len() <= crate::throw::constants::MAX_THROWN
            && self.items.iter().all(|item| is_new(0, item.id))
            && self.thrown.iter().all(|thrown| is_new(1, thrown.id))
            && self.items.iter().all(ItemBody::is_possible)
            && self.thrown.iter().all(ThrownBody::is_possible)
    }

    pub(crate) fn mix_into(&self, mixer: &mut Mixer) {
        mixer.add(self.next);
        mixer.add((self.items.len() as u64) << 32 | self.thrown.len() as u64);
        for item in &self.items {
            mixer.add(item.id);
            mix_stack(Some(item.stack), mixer);
            for part in item.position.iter().chain(&item.velocity) {
                mixer.add_f64(*part);
            }
            mixer.add(u64::from(item.age) << 16 | u64::from(item.delay) << 8 | u64::from(item.is_on_ground));
        }
        for thrown in &self.thrown {
            thrown.mix_into(mixer);
        }
    }
}

impl World {
    /// What lies about and flies.
    pub fn things(&self) -> &Things {
        &self.things
    }

    /// Lets the player take what is near, as far as there is room.
    pub(crate) fn pick_up(&mut self, events: &mut Vec<Event>) {
        if self.things.items.is_empty() {
            return;
        }
        let Aabb { low, high } = self.player.bounds();
        let near = Aabb {
            low: [0, 1, 2].map(|axis| low[axis] - REACH[axis]),
            high: [0, 1, 2].map(|axis| high[axis] + REACH[axis]),
        };
        let inventory = &mut self.inventory;
        self.things.items.retain_mut(|item| {
            if item.delay > 0 || !near.overlaps(item.bounds()) {
                return true;
            }
            let left = inventory.add(item.stack).map_or(0, |left| left.count);
            let count = u32::from(item.stack.count - left);
            if count > 0 {
                events.push(Event { count, ..Event::new(EventKind::PickupItem, item.stack.item.id()) });
            }
            item.stack.count = left;
            left > 0
        });
    }
}

/// Whether a body that was read from a file could be there, and so fast.
pub(crate) fn is_place(position: [f64; 3], velocity: [f64; 3]) -> bool {
    position.iter().all(|part| part.abs() <= 1e4) && velocity.iter().all(|part| part.abs() <= MAX_SPEED)
}
