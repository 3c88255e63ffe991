//! Where one can stand, and the ways between.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use world::block::Shape;
use world::body::{Aabb, is_free};
use world::player::constants::{STANDING, WIDTH};
use world::{Cell, SIZE, Volume};

/// What bears a player whose feet are in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Foothold {
    /// A floor, and how high in the cell it is.
    Floor(f64),
    Ladder,
    /// The surface of water.
    Water,
}

/// How one gets from a cell to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    Walk,
    Jump,
    Drop,
    /// Up a ladder.
    Climb,
    /// Down a ladder.
    Descend,
    Swim,
}

/// A cell of a way, and how one gets there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    pub cell: Cell,
    pub passage: Passage,
    /// Where the feet are then.
    pub place: [f64; 3],
}

/// How many cells a search looks at before it gives up.
const MOST_CELLS: usize = 40_000;

/// The deepest fall that a way has.
const DEEPEST: i32 = 3;

/// What hurts whoever stands in or on it.
const HARMFUL: [&str; 6] = ["lava", "fire", "soul_fire", "cactus", "magma_block", "sweet_berry_bush"];

fn add([x, y, z]: Cell, [dx, dy, dz]: [i32; 3]) -> Cell {
    [x + dx, y + dy, z + dz]
}

fn is_harmful(volume: &Volume, cell: Cell) -> bool {
    HARMFUL.contains(&volume.block(cell).id())
}

/// Whether a body can be in a cell at any height. A ladder leaves room for one in the middle.
fn is_open(volume: &Volume, cell: Cell) -> bool {
    let is_free = !volume.is_solid(cell) || volume.block(cell).kind().climbable;
    is_free && !is_harmful(volume, cell)
}

fn is_water(volume: &Volume, cell: Cell) -> bool {
    volume.block(cell).id() == "water"
}

/// What bears a player whose feet are in a cell; none if nothing does or there is no room.
pub fn foothold(volume: &Volume, cell: Cell) -> Option<Foothold> {
    let [x, y, z] = cell;
    if !(0..SIZE[0]).contains(&x) || !(0..SIZE[2]).contains(&z) || y < 1 {
        return None;
    }
    let (below, above) = (add(cell, [0, -1, 0]), add(cell, [0, 1, 0]));
    let feet = volume.block(cell);
    if is_harmful(volume, cell) || is_harmful(volume, below) {
        return None;
    }
    if feet.kind().climbable {
        return is_open(volume, above).then_some(Foothold::Ladder);
    }
    if is_water(volume, cell) {
        return (is_open(volume, above) && !is_water(volume, above)).then_some(Foothold::Water);
    }
    let height = match feet.state() {
        state if !state.solid => floor_of(volume, below).filter(|top| *top == 1.0)? - 1.0,
        _ => match floor_of(volume, cell) {
            Some(top) if top < 1.0 => top,
            Some(_) => return None,
            None => floor_of(volume, below).filter(|top| *top == 1.0)? - 1.0,
        },
    };
    let is_simple = !feet.state().solid && is_open(volume, above);
    let has_room = || is_free(volume, Aabb::standing(place_on(cell, height), WIDTH, STANDING.0));
    (is_simple || has_room()).then_some(Foothold::Floor(height))
}

/// How high in a cell its block bears what stands in the middle.
fn floor_of(volume: &Volume, cell: Cell) -> Option<f64> {
    let state = volume.block(cell).state();
    if !state.solid {
        return None;
    }
    let Shape::Boxes(boxes) = &state.shape else { return Some(1.0) };
    // Three sixteenths are left free at each side of one who stands in the middle.
    let is_under = |edges: &&[u8; 6]| [0, 2].iter().all(|axis| edges[*axis] < 12 && edges[axis + 3] > 4);
    boxes.iter().filter(is_under).map(|edges| f64::from(edges[4]) / 16.0).max_by(f64::total_cmp)
}

fn place_on([x, y, z]: Cell, height: f64) -> [f64; 3] {
    [f64::from(x) + 0.5, f64::from(y) + height, f64::from(z) + 0.5]
}

/// Where the feet are in a cell.
pub fn place_in(cell: Cell, foothold: Foothold) -> [f64; 3] {
    match foothold {
        Foothold::Floor(height) => place_on(cell, height),
        Foothold::Ladder => place_on(cell, 0.0),
        Foothold::Water => place_on(cell, 0.4),
    }
}

/// The cells that one gets to from a cell, with what they cost.
fn neighbours(volume: &Volume, cell: Cell, held: Foothold) -> Vec<(Waypoint, u32)> {
    let mut found = Vec::with_capacity(8);
    let from = place_in(cell, held);
    let mut reach = |to: Cell, foothold: Foothold, passage: Passage, cost: u32| {
        found.push((Waypoint { cell: to, passage, place: place_in(to, foothold) }, cost));
    };
    let (up, down) = (add(cell, [0, 1, 0]), add(cell, [0, -1, 0]));
    if held == Foothold::Ladder {
        if foothold(volume, up) == Some(Foothold::Ladder) {
            reach(up, Foothold::Ladder, Passage::Climb, 12);
        }
        if let Some(below) = foothold(volume, down) {
            reach(down, below, Passage::Descend, 12);
        }
    }
    let has_headroom = is_open(volume, add(cell, [0, 2, 0]));
    for step in [[0, 0, 1], [1, 0, 0], [0, 0, -1], [-1, 0, 0]] {
        let beside = add(cell, step);
        let level = foothold(volume, beside);
        match level {
            Some(Foothold::Water) => reach(beside, Foothold::Water, Passage::Swim, 30),
            Some(foothold) if place_in(beside, foothold)[1] - from[1] <= 0.6 => {
                reach(beside, foothold, Passage::Walk, 10);
            }
            Some(foothold) if has_headroom => reach(beside, foothold, Passage::Jump, 16),
            _ => {}
        }
        let higher = add(beside, [0, 1, 0]);
        if let Some(foothold @ Foothold::Floor(_)) = foothold(volume, higher)
            && has_headroom
        {
            let rise = place_in(higher, foothold)[1] - from[1];
            if rise <= 0.6 {
                reach(higher, foothold, Passage::Walk, 12);
            } else if rise <= 1.2 || held == Foothold::Water {
                reach(higher, foothold, Passage::Jump, if held == Foothold::Water { 40 } else { 18 });
            }
        }
        if level.is_none() && held != Foothold::Water && is_open(volume, higher) && is_open(volume, beside) {
            for depth in 1..=DEEPEST {
                let lower = add(beside, [0, -depth, 0]);
                if let Some(foothold) = foothold(volume, lower) {
                    let fall = from[1] - place_in(lower, foothold)[1];
                    let passage = if fall <= 0.6 { Passage::Walk } else { Passage::Drop };
                    reach(lower, foothold, passage, 12 + 3 * depth as u32);
                    break;
                }
                if !is_open(volume, lower) {
                    break;
                }
            }
        }
    }
    for step in [[1, 0, 1], [1, 0, -1], [-1, 0, 1], [-1, 0, -1]] {
        let corner = add(cell, step);
        let sides = [add(cell, [step[0], 0, 0]), add(cell, [0, 0, step[2]])];
        if foothold(volume, corner) == Some(held)
            && held != Foothold::Ladder
            && sides.iter().all(|side| foothold(volume, *side) == Some(held))
        {
            let is_water = held == Foothold::Water;
            let passage = if is_water { Passage::Swim } else { Passage::Walk };
            reach(corner, held, passage, if is_water { 42 } else { 14 });
        }
    }
    found
}

/// A way from a cell to one that is wanted. The estimate says at least what is left; ten is a cell.
pub fn find_way(
    volume: &Volume,
    from: Cell,
    estimate: impl Fn(Cell) -> u32,
    is_goal: impl Fn(&Waypoint) -> bool,
) -> Option<Vec<Waypoint>> {
    struct Reached {
        waypoint: Waypoint,
        before: Cell,
        cost: u32,
        is_done: bool,
    }
    let start =
        Waypoint { cell: from, passage: Passage::Walk, place: place_in(from, foothold(volume, from)?) };
    let mut reached =
        HashMap::from([(from, Reached { waypoint: start, before: from, cost: 0, is_done: false })]);
    let mut open = BinaryHeap::from([Reverse((estimate(from), 0_u32, from))]);
    let mut done = 0;
    let mut order = 0;
    while let Some(Reverse((_, _, cell))) = open.pop() {
        let here = reached.get_mut(&cell)?;
        if std::mem::replace(&mut here.is_done, true) {
            continue;
        }
        let (cost, waypoint) = (here.cost, here.waypoint);
        if is_goal(&waypoint) {
            let mut way = vec![waypoint];
            let mut cell = cell;
            while cell != from {
                cell = reached.get(&cell)?.before;
                way.push(reached.get(&cell)?.waypoint);
            }
            way.reverse();
            return Some(way);
        }
        done += 1;
        if done > MOST_CELLS {
            return None;
        }
        for (next, more) in neighbours(volume, cell, foothold(volume, cell)?) {
            let cost = cost + more;
            if reached.get(&next.cell).is_some_and(|known| known.cost <= cost) {
                continue;
            }
            order += 1;
            open.push(Reverse((cost + estimate(next.cell), order, next.cell)));
            reached.insert(next.cell, Reached { waypoint: next, before: cell, cost, is_done: false });
        }
    }
    None
}

/// What walking from a cell to another one costs at least.
pub fn least_cost(from: Cell, to: Cell) -> u32 {
    let (x, z) = (from[0].abs_diff(to[0]), from[2].abs_diff(to[2]));
    10 * x.max(z) + 4 * x.min(z)
}

/// Whether one can walk straight from a place to another one on the same height, and could not fall off on the way.
pub fn is_straight(volume: &Volume, from: [f64; 3], to: [f64; 3]) -> bool {
    const PART: f64 = 0.3;
    const BESIDE: f64 = 0.36;
    let (x, z) = (to[0] - from[0], to[2] - from[2]);
    let parts = ((x * x + z * z).sqrt() / PART).ceil().max(1.0) as i32;
    let is_floor = |x: f64, z: f64| {
        let cell = [x.floor() as i32, (to[1] + 1e-3).floor() as i32, z.floor() as i32];
        matches!(foothold(volume, cell), Some(Foothold::Floor(height))
            if (f64::from(cell[1]) + height - to[1]).abs() < 0.01)
    };
    (0..=parts).all(|part| {
        let part = f64::from(part) / f64::from(parts);
        let at = [from[0] + x * part, from[2] + z * part];
        let corners = [[-BESIDE, -BESIDE], [-BESIDE, BESIDE], [BESIDE, -BESIDE], [BESIDE, BESIDE]];
        corners.iter().all(|[dx, dz]| is_floor(at[0] + dx, at[1] + dz))
    })
}
