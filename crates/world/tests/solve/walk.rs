//! Walking: finds a way and follows it.

use world::{Cell, player::constants::DRAG};

use crate::compact::CompactKeys;
use crate::look::distance;
use crate::path::{Foothold, Passage, Waypoint, find_way, foothold, is_straight, least_cost, place_in};
use crate::solver::{Solved, Solver};
use world::action::CAMERA_BINS;

/// How far from the middle of its last cell a walk may end.
pub const NEAR: f64 = 0.2;

/// How often a way is looked for anew before a walk fails.
const ATTEMPTS: usize = 8;

/// The steps without coming nearer after which the way is looked for anew.
const PATIENCE: usize = 25;

/// The pitch of a walker's look, in thousandths of a degree.
const LEVEL: i32 = 12_000;

impl Solver<'_> {
    /// Walks into a cell, and stands still in its middle.
    pub fn walk_to(&mut self, cell: Cell) -> Solved {
        self.doing(format!("walk to {cell:?}"), |solver| {
            solver.walk_where(|from| least_cost(from, cell), |_, waypoint| waypoint.cell == cell)
        })
    }

    /// Walks to where a cell is at most so far from the feet.
    pub fn walk_near(&mut self, cell: Cell, most: f64) -> Solved {
        let middle = cell.map(|at| f64::from(at) + 0.5);
        let cost = move |from: Cell| least_cost(from, cell).saturating_sub((most * 14.0) as u32 + 14);
        self.doing(format!("walk near {cell:?}"), |solver| {
            solver.walk_where(cost, |_, waypoint| distance(waypoint.place, middle) <= most)
        })
    }

    /// Walks to where the hand reaches a cell's block, at one of its faces if one is named.
    pub fn approach(&mut self, cell: Cell, face: Option<[i32; 3]>) -> Solved {
        let front = face.map_or(cell, |face| [0, 1, 2].map(|axis| cell[axis] + face[axis]));
        self.doing(format!("approach {cell:?} {face:?}"), |solver| {
            solver.walk_to_reach(front, |solver, place| solver.could_aim(place, cell, face))
        })
    }

    /// Walks to a place from which something about a cell can be reached, and where the body is neither in the cell nor
    /// above it.
    pub fn walk_to_reach(&mut self, cell: Cell, reaches: impl Fn(&Self, [f64; 3]) -> bool) -> Solved {
        let cost = |from: Cell| least_cost(from, cell).saturating_sub(70);
        self.walk_where(cost, |solver, waypoint| {
            let [x, y, z] = waypoint.cell;
            let is_near = (0..3).all(|axis| waypoint.cell[axis].abs_diff(cell[axis]) <= 6);
            let is_aside = [x, z] != [cell[0], cell[2]] || !(y - 1..=y + 1).contains(&cell[1]);
            let foothold = foothold(solver.world().volume(), waypoint.cell);
            is_near && is_aside && foothold != Some(Foothold::Water) && reaches(solver, waypoint.place)
        })
    }

    /// Walks the shortest way to a place that is wanted.
    pub fn walk_where(
        &mut self,
        estimate: impl Fn(Cell) -> u32,
        is_goal: impl Fn(&Self, &Waypoint) -> bool,
    ) -> Solved {
        for _ in 0..ATTEMPTS {
            let Some(start) = self.standing_cell() else {
                // Whoever falls lands somewhere.
                self.wait(5)?;
                continue;
            };
            let way = find_way(self.world().volume(), start, &estimate, |waypoint| is_goal(self, waypoint));
            let Some(way) = way else { return self.fail("there is no way") };
            if self.follow(&way)? {
                return self.settle();
            }
        }
        self.fail(format!("no way of {ATTEMPTS} has led there"))
    }

    /// The cell in which the player stands; beside an edge, the one that bears the player.
    pub fn standing_cell(&self) -> Option<Cell> {
        let volume = self.world().volume();
        let (position, [x, y, z]) = (self.position(), self.feet());
        if volume.block([x, y, z]).is_liquid() {
            // Whoever is under water comes up first.
            return (y..y + 20).map(|y| [x, y, z]).find(|cell| foothold(volume, *cell).is_some());
        }
        let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dz| [dx, dz]));
        let cells = around.flat_map(|[dx, dz]| [0, -1, 1].map(|dy| [x + dx, y + dy, z + dz]));
        let held = cells.filter_map(|cell| Some((cell, place_in(cell, foothold(volume, cell)?))));
        let near = held.map(|(cell, place)| {
            let height = (place[1] - position[1]).abs() * 2.0;
            (cell, height + (place[0] - position[0]).abs().max((place[2] - position[2]).abs()))
        });
        near.filter(|(_, away)| *away < 2.0)
            .min_by(|one, other| one.1.total_cmp(&other.1))
            .map(|(cell, _)| cell)
    }

    /// Follows a way to its end. False if it was left.
    fn follow(&mut self, way: &[Waypoint]) -> Solved<bool> {
        let mut at = 0;
        let (mut nearest, mut since) = (f64::INFINITY, 0);
        loop {
            let before = at;
            while at + 1 < way.len() && self.has_reached(way, at) {
                at += 1;
            }
            let is_walk = |at: usize| way[at].passage == Passage::Walk;
            if at + 1 < way.len()
                && (at == 0 || is_walk(at))
                && is_walk(at + 1)
                && (way[at + 1].place[1] - self.position()[1]).abs() < 0.01
                && is_straight(self.world().volume(), self.position(), way[at + 1].place)
            {
                at += 1;
            }
            if at != before {
                (nearest, since) = (f64::INFINITY, 0);
            }
            let is_last = at + 1 == way.len();
            if is_last && self.has_arrived(way[at]) {
                return Ok(true);
            }
            let away = distance(self.position(), way[at].place);
            if away < nearest - 0.05 {
                (nearest, since) = (away, 0);
            }
            since += 1;
            let lowest = way[at].place[1].min(way[at.saturating_sub(1)].place[1]);
            let has_fallen = self.world().player().is_on_ground && self.position()[1] < lowest - 0.7;
            if since > PATIENCE || has_fallen {
                return Ok(false);
            }
            let keys = self.steer(way, at);
            self.press(keys)?;
        }
    }

    /// Whether a waypoint is behind the player.
    fn has_reached(&self, way: &[Waypoint], at: usize) -> bool {
        let Waypoint { cell, passage, place } = way[at];
        let [x, y, z] = self.position();
        let away = (x - place[0]).abs().max((z - place[2]).abs());
        let is_floating = foothold(self.world().volume(), cell) == Some(Foothold::Water);
        if is_floating {
            return away < 0.5 && (y - place[1]).abs() < 1.0;
        }
        let is_next_plain = way.get(at + 1).is_some_and(|next| next.passage == Passage::Walk);
        let wide = if is_next_plain { 0.4 } else { 0.25 };
        let is_level = match passage {
            Passage::Climb => y > place[1] - 0.1,
            Passage::Descend => y < place[1] + 0.3,
            _ => (y - place[1]).abs() < 0.3 && !self.is_in_air(),
        };
        away < wide && is_level
    }

    /// Whether the player comes to rest in the middle of the last waypoint.
    fn has_arrived(&self, last: Waypoint) -> bool {
        let [x, z] = self.resting_place();
        let is_near = (x - last.place[0]).abs().max((z - last.place[2]).abs()) < NEAR;
        let most = if self.world().player().is_on_ground { 0.1 } else { 0.6 };
        is_near && (self.position()[1] - last.place[1]).abs() < most && !self.is_in_air()
    }

    /// Where the player comes to rest if nothing is pressed any more.
    fn resting_place(&self) -> [f64; 2] {
        let player = self.world().player();
        let [x, y, z] = player.position;
        let glide = if player.is_on_ground {
            let below = [x, y - 0.5, z].map(|at| at.floor() as i32);
            1.0 / (1.0 - self.world().volume().block(below).kind().slip * DRAG)
        } else {
            // In the air, about as long as a small fall takes.
            3.5
        };
        [x + player.velocity[0] * glide, z + player.velocity[2] * glide]
    }

    /// The keys that lead to a waypoint.
    fn steer(&self, way: &[Waypoint], at: usize) -> CompactKeys {
        let Waypoint { place, passage, .. } = way[at];
        let player = self.world().player();
        let [x, y, z] = player.position;
        let (away, is_in_air) = ([place[0] - x, place[2] - z], self.is_in_air());
        let length = (away[0] * away[0] + away[1] * away[1]).sqrt();
        let next = way.get(at + 1);
        let is_passed = next.is_some_and(|next| next.passage == Passage::Walk) && !is_in_air;
        // What is only passed needs no braking.
        let rest = self.resting_place();
        let missing = [place[0] - rest[0], place[2] - rest[1]];
        let left = (missing[0] * missing[0] + missing[1] * missing[1]).sqrt();
        let push = if is_passed { away } else { missing };
        let is_pushing = if is_passed { length > 0.05 } else { left > 0.12 };
        let yaw = |[x, z]: [f64; 2]| (libm::atan2(-x, z).to_degrees() * 1000.0).round() as i32;
        let ahead =
            if length > 0.6 { Some(away) } else { next.map(|next| [next.place[0] - x, next.place[2] - z]) };
        let ahead = ahead.filter(|[x, z]| x * x + z * z > 0.3);
        let wanted = [LEVEL, ahead.map_or(player.yaw, yaw)];
        let [down, right] = self.away_from(wanted);
        let turn = [if down.abs() > 300 { nearest_bin(down) } else { 0 }, nearest_bin(right)];
        let mut keys = CompactKeys::turn(turn);
        let is_ladder = self.world().volume().block(self.feet()).kind().climbable;
        let is_swimming = self.world().volume().block(self.feet()).is_liquid();
        let rises = place[1] > y + if is_swimming || is_ladder { 0.0 } else { 0.61 };
        keys.jump = match passage {
            _ if is_swimming => true,
            Passage::Climb => true,
            Passage::Jump => rises && (is_ladder || (length < 1.4 && self.is_lined_up(away))),
            _ => rises && length < 1.2,
        };
        if is_pushing {
            let after = player.yaw + i32::from(turn[1]) * 10;
            let around = (yaw(push) - after).rem_euclid(360_000);
            let eighth = (around + 22_500) / 45_000 % 8;
            (keys.forward, keys.right) =
                [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)][eighth as usize];
        }
        let is_far = passage == Passage::Walk && length > if is_passed { 2.0 } else { 3.0 };
        keys.sprint = is_far && keys.forward > 0 && keys.right == 0 && right.abs() < 1500 && !self.is_careful;
        keys.sneak = self.is_careful && !keys.sprint && !matches!(passage, Passage::Drop | Passage::Descend);
        keys
    }

    /// Whether a jump to what is beside leads there straight.
    fn is_lined_up(&self, away: [f64; 2]) -> bool {
        away[0].abs().min(away[1].abs()) < 0.3
    }
}

/// The turn that comes nearest to one that is wanted, in hundredths of a degree.
pub fn nearest_bin(wanted: i32) -> i16 {
    CAMERA_BINS.into_iter().min_by_key(|bin| (i32::from(*bin) - wanted).abs()).unwrap_or(0)
}
