//! Goals: what must be so in the world, by named predicates with numbers. All predicates of a goal must hold at the same
//! time; once they did, the goal is met for good.

mod check;
mod dig;
mod looking;
mod plan;
mod read;
mod room;
mod scene;
mod stacks;

use serde::{Deserialize, Serialize};

use super::marks::Marks;
use super::sets::BlockSet;
use crate::world::World;

/// What a goal pays, once.
pub const GOAL_REWARD: f64 = 10.0;

/// All of these must hold at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    pub(super) predicates: Vec<Predicate>,
}

/// Something that can be so in a world. Where it speaks of blocks, it speaks of those that the player has placed.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    CountPlaced(CountPlaced),
    Column(Column),
    Wall(Wall),
    Tower(Tower),
    Maze(Maze),
    Ring(Ring),
    Room(Room),
    Open(Open),
    Lit(Lit),
    Tunnel(Tunnel),
    DigAndFill(DigAndFill),
    LookAt(LookAt),
    LookUp(LookUp),
    Above(Above),
    InScene(InScene),
}

/// So many placed blocks, of at least so many kinds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountPlaced {
    pub of: BlockSet,
    pub count: u32,
    #[serde(default = "one")]
    pub kinds: u32,
}

/// Placed blocks on top of each other.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub of: BlockSet,
    pub height: u32,
}

/// A straight wall of placed blocks without holes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wall {
    pub length: u32,
    pub height: u32,
}

/// Placed blocks that hang together, so high and no wider than `base`, on whose top the player stands.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tower {
    pub height: u32,
    pub base: u32,
}

/// Placed walls two blocks high or more, at half of the rim or more, and a way through between two openings that cannot be
/// gone with fewer bends.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Maze {
    pub bends: u32,
}

/// Placed blocks around an area, without a gap; with `around`, what must have been placed inside.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    pub of: BlockSet,
    pub area: u32,
    pub around: Option<CountPlaced>,
}

/// Air that is enclosed on all sides and above, mostly by placed blocks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Room {
    /// The least number of cells of air.
    pub air: u32,
    /// Whether it must have a door.
    #[serde(default)]
    pub door: bool,
    /// The least light of lamps in each cell.
    #[serde(default)]
    pub light: u8,
    /// What must stand in it or in its walls.
    pub with: Option<CountPlaced>,
}

/// A placed door, gate or trapdoor that stands open.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    pub of: BlockSet,
}

/// Cells that one can stand in, lit by lamps.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lit {
    pub cells: u32,
    pub light: u8,
    /// How far from the start.
    #[serde(default = "sixteen")]
    pub within: u32,
}

/// A straight, level passage of cells that the player has dug, with something above it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tunnel {
    pub length: u32,
}

/// A hole so deep that the player has dug, of which cells were filled afterwards.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DigAndFill {
    pub depth: u32,
    pub fill: u32,
}

/// A look at a block, from no further away, for so many steps.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookAt {
    pub of: BlockSet,
    pub within: f64,
    #[serde(default = "one")]
    pub ticks: u32,
}

/// A look up by so many degrees, for so many steps.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookUp {
    pub degrees: f64,
    #[serde(default = "one")]
    pub ticks: u32,
}

/// Standing on ground so much higher than the start.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Above {
    pub cells: u32,
}

/// Being among so many such blocks of the land, of at least so many kinds. What the player has placed does not count.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InScene {
    pub of: BlockSet,
    pub count: u32,
    #[serde(default = "one")]
    pub kinds: u32,
    /// How far they are from the feet at most, along each axis.
    #[serde(default = "eight")]
    pub within: u32,
}

fn one() -> u32 {
    1
}

fn eight() -> u32 {
    8
}

fn sixteen() -> u32 {
    16
}

/// What a predicate is asked about.
pub(super) struct Situation<'a> {
    pub world: &'a World,
    pub marks: &'a Marks,
    /// Where the player's feet were at the start.
    pub origin: [f64; 3],
}

/// What has changed in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepChanges {
    pub blocks: bool,
    pub position: bool,
    pub look: bool,
}

/// How far a goal has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct GoalState {
    pub is_met: bool,
    /// For each predicate, for how many steps it has held without a break.
    held: Vec<u32>,
}

impl Goal {
    /// Looks again at what may have changed, and remembers for how long each predicate has held. Returns whether the
    /// goal is met now for the first time.
    pub(super) fn update(
        &self,
        state: &mut GoalState,
        changes: StepChanges,
        situation: &Situation<'_>,
    ) -> bool {
        if state.is_met {
            return false;
        }
        state.held.resize(self.predicates.len(), 0);
        for (predicate, held) in self.predicates.iter().zip(&mut state.held) {
            let holds = if predicate.asks_after(changes) { predicate.holds(situation) } else { *held > 0 };
            *held = if holds { held.saturating_add(1) } else { 0 };
        }
        let lasts = |(predicate, held): (&Predicate, &u32)| *held >= predicate.ticks();
        state.is_met = self.predicates.iter().zip(&state.held).all(lasts);
        state.is_met
    }

    /// Whether all predicates hold in a world at this moment, whatever has been before. `origin` is where the player's
    /// feet were at the start.
    pub fn holds(&self, world: &World, marks: &Marks, origin: [f64; 3]) -> bool {
        let situation = Situation { world, marks, origin };
        self.predicates.iter().all(|predicate| predicate.holds(&situation))
    }

    /// The predicates that do not hold, by their names.
    pub(super) fn open<'a>(&'a self, state: &'a GoalState) -> impl Iterator<Item = &'static str> + 'a {
        let held = state.held.iter().copied().chain(std::iter::repeat(0));
        let open = self.predicates.iter().zip(held).filter(|(predicate, held)| *held < predicate.ticks());
        open.map(|(predicate, _)| predicate.name()).filter(|_| !state.is_met)
    }
}

impl Predicate {
    pub const NAMES: [&str; 15] = [
        "count_placed",
        "column",
        "wall",
        "tower",
        "maze",
        "ring",
        "room",
        "open",
        "lit",
        "tunnel",
        "dig_and_fill",
        "look_at",
        "look_up",
        "above",
        "in_scene",
    ];

    pub fn name(&self) -> &'static str {
        match self {
            Self::CountPlaced(_) => "count_placed",
            Self::Column(_) => "column",
            Self::Wall(_) => "wall",
            Self::Tower(_) => "tower",
            Self::Maze(_) => "maze",
            Self::Ring(_) => "ring",
            Self::Room(_) => "room",
            Self::Open(_) => "open",
            Self::Lit(_) => "lit",
            Self::Tunnel(_) => "tunnel",
            Self::DigAndFill(_) => "dig_and_fill",
            Self::LookAt(_) => "look_at",
            Self::LookUp(_) => "look_up",
            Self::Above(_) => "above",
            Self::InScene(_) => "in_scene",
        }
    }

    fn ticks(&self) -> u32 {
        match self {
            Self::LookAt(look) => look.ticks,
            Self::LookUp(look) => look.ticks,
            _ => 1,
        }
    }

    /// Whether its answer may be another one after such changes.
    fn asks_after(&self, changes: StepChanges) -> bool {
        match self {
            Self::LookAt(_) => changes.blocks || changes.position || changes.look,
            Self::LookUp(_) => changes.look,
            Self::Above(_) => changes.position,
            Self::Tower(_) | Self::InScene(_) => changes.blocks || changes.position,
            _ => changes.blocks,
        }
    }

    fn holds(&self, situation: &Situation<'_>) -> bool {
        let Situation { world, marks, origin } = *situation;
        match self {
            Self::CountPlaced(count) => count.holds(world, marks.placed().iter().copied()),
            Self::Column(column) => column.holds(world, marks),
            Self::Wall(wall) => wall.holds(world, marks),
            Self::Tower(tower) => tower.holds(world, marks),
            Self::Maze(maze) => maze.holds(world, marks),
            Self::Ring(ring) => ring.holds(world, marks),
            Self::Room(room) => room.holds(world, marks),
            Self::Open(open) => open.holds(world, marks),
            Self::Lit(lit) => lit.holds(world, origin),
            Self::Tunnel(tunnel) => tunnel.holds(world, marks),
            Self::DigAndFill(dig) => dig.holds(world, marks),
            Self::LookAt(look) => look.holds(world),
            Self::LookUp(look) => f64::from(world.player.pitch) <= -look.degrees * 1000.0,
            Self::Above(above) => {
                let player = &world.player;
                player.is_on_ground && player.position[1] - origin[1] >= f64::from(above.cells)
            }
            Self::InScene(scene) => scene.holds(world, marks),
        }
    }
}
