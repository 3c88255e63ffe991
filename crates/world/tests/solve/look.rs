//! Turning and aiming.

use world::aim::{REACH, Target, aim};
use world::block::Shape;
use world::player::constants::STANDING;
use world::{Cell, Volume};

use crate::compact::{CompactKeys, steps_of, sums, turns};
use crate::solver::{Solved, Solver};
use crate::walk::NEAR;

/// The directions out of the faces of a block, the upper one first.
pub const FACES: [[i32; 3]; 6] = [[0, 1, 0], [0, 0, -1], [0, 0, 1], [-1, 0, 0], [1, 0, 0], [0, -1, 0]];

/// Half of the finest turn, in hundredths of a degree: every angle comes this near in few steps.
pub const HALF_BIN: i32 = 31;

/// How many points there are along the edge of a face that is aimed at.
const POINTS: i32 = 7;

impl Solver<'_> {
    /// Turns to a point, to within half of the finest turn.
    pub fn look_at(&mut self, point: [f64; 3]) -> Solved {
        let look = angles_to(self.world().player().eyes(), point);
        self.doing(format!("look at {point:.2?}"), |solver| solver.turn_to(look, HALF_BIN))
    }

    /// Turns to a pitch and a yaw in thousandths of a degree, to within hundredths of a degree.
    pub fn turn_to(&mut self, look: [i32; 2], tolerance: i32) -> Solved {
        // The zenith may have stopped a turn; then there is a second round.
        for _ in 0..3 {
            let away = self.away_from(look);
            if away.iter().all(|part| part.abs() <= tolerance) {
                return Ok(());
            }
            self.turn_by(sums(away, tolerance))?;
        }
        self.fail("the look does not come near enough")
    }

    fn turn_by(&mut self, sums: [i32; 2]) -> Solved {
        let pitch = self.world().player().pitch / 10;
        turns(sums, pitch).into_iter().try_for_each(|turn| self.step(CompactKeys::turn(turn)))
    }

    /// How far a look is away, down and to the right, in hundredths of a degree.
    pub fn away_from(&self, [pitch, yaw]: [i32; 2]) -> [i32; 2] {
        let player = self.world().player();
        let around = (yaw - player.yaw + 180_000).rem_euclid(360_000) - 180_000;
        [pitch - player.pitch, around].map(|part| (f64::from(part) / 10.0).round() as i32)
    }

    /// Turns so that a cell's block is what the hand reaches, at one of its faces if one is named. Returns what is met.
    pub fn aim_at(&mut self, cell: Cell, face: Option<[i32; 3]>) -> Solved<Target> {
        let id = self.world().volume().block(cell).id();
        self.doing(format!("aim at {id} {cell:?} {face:?}"), |solver| {
            solver.settle()?;
            let Some(sums) = solver.find_aim(cell, face) else {
                return solver.fail("it is out of reach or hidden");
            };
            solver.turn_by(sums)?;
            match solver.world().target() {
                Some(target) if is_met(target, cell, face) => Ok(target),
                other => solver.fail(format!("the look meets {other:?}")),
            }
        })
    }

    /// The sums of turns, fewest steps first, after which a cell is what the hand reaches.
    fn find_aim(&self, cell: Cell, face: Option<[i32; 3]>) -> Option<[i32; 2]> {
        let player = self.world().player();
        let eyes = player.eyes();
        let points: Vec<_> = visible_points(self.world().volume(), eyes, cell, face).collect();
        [HALF_BIN, 12, 4, 0].into_iter().find_map(|tolerance| {
            let met = points.iter().filter_map(|(point, met_face)| {
                let sums = sums(self.away_from(angles_to(eyes, *point)), tolerance);
                let pitch = (player.pitch + sums[0] * 10).clamp(-90_000, 90_000);
                let look = direction_of([pitch, player.yaw + sums[1] * 10]);
                let target = aim(self.world().volume(), eyes, look, REACH)?;
                is_met(target, cell, Some(*met_face)).then_some(sums)
            });
            met.min_by_key(|sums| steps_of(*sums))
        })
    }

    /// Whether a cell's block could be aimed at by one who stands with the feet at a place, or as near to it as walks end.
    pub fn could_aim(&self, [x, y, z]: [f64; 3], cell: Cell, face: Option<[i32; 3]>) -> bool {
        let around = [[-NEAR, -NEAR], [-NEAR, NEAR], [NEAR, -NEAR], [NEAR, NEAR]];
        around.iter().all(|[dx, dz]| self.can_aim_from([x + dx, y + STANDING.1, z + dz], cell, face))
    }

    pub fn can_aim_from(&self, eyes: [f64; 3], cell: Cell, face: Option<[i32; 3]>) -> bool {
        visible_points(self.world().volume(), eyes, cell, face).next().is_some()
    }
}

fn is_met(target: Target, cell: Cell, face: Option<[i32; 3]>) -> bool {
    target.cell == cell && face.is_none_or(|face| target.face == face)
}

/// The points of a block's faces that the hand reaches from the eyes, those in the middle first, with their faces.
fn visible_points(
    volume: &Volume,
    eyes: [f64; 3],
    cell: Cell,
    face: Option<[i32; 3]>,
) -> impl Iterator<Item = ([f64; 3], [i32; 3])> {
    let is_met_at = move |point: [f64; 3], out: [i32; 3]| {
        let length = distance(eyes, point).max(1e-9);
        let way = [0, 1, 2].map(|axis| (point[axis] - eyes[axis]) / length);
        length < REACH - 0.02
            && aim(volume, eyes, way, REACH).is_some_and(|target| is_met(target, cell, Some(out)))
    };
    let faces = FACES.into_iter().filter(move |out| face.is_none_or(|face| face == *out));
    let points =
        faces.flat_map(move |out| points_on(volume, cell, out).into_iter().map(move |point| (point, out)));
    points.filter(move |(point, out)| is_met_at(*point, *out))
}

/// A grid of points on the faces of a block's boxes that look a way, those in the middle first.
pub fn points_on(volume: &Volume, cell: Cell, out: [i32; 3]) -> Vec<[f64; 3]> {
    let boxes = match &volume.block(cell).state().shape {
        Shape::Boxes(boxes) => boxes.clone(),
        Shape::Cross => vec![[2, 0, 2, 14, 13, 14]],
        _ => vec![[0, 0, 0, 16, 16, 16]],
    };
    let mut points = Vec::new();
    for edges in boxes {
        for row in 0..POINTS {
            for column in 0..POINTS {
                let mut parts = [row, column].into_iter();
                let mut away = 0;
                let point = [0, 1, 2].map(|axis| {
                    let (low, high) = (f64::from(edges[axis]), f64::from(edges[axis + 3]));
                    let part = match out[axis] {
                        0 => {
                            let part = parts.next().unwrap_or(0) * 2 + 1;
                            away += (part - POINTS).pow(2);
                            f64::from(part) / f64::from(POINTS * 2)
                        }
                        side => f64::from(i32::from(side > 0)),
                    };
                    f64::from(cell[axis]) + (low + (high - low) * part) / 16.0
                });
                points.push((away, point));
            }
        }
    }
    points.sort_by_key(|(away, _)| *away);
    points.into_iter().map(|(_, point)| point).collect()
}

pub fn distance(one: [f64; 3], other: [f64; 3]) -> f64 {
    let [x, y, z] = [0, 1, 2].map(|axis| one[axis] - other[axis]);
    (x * x + y * y + z * z).sqrt()
}

/// The pitch and the yaw of the look from the eyes to a point, in thousandths of a degree.
pub fn angles_to(eyes: [f64; 3], point: [f64; 3]) -> [i32; 2] {
    let [x, y, z] = [0, 1, 2].map(|axis| point[axis] - eyes[axis]);
    let level = (x * x + z * z).sqrt();
    [libm::atan2(-y, level), libm::atan2(-x, z)].map(|angle| (angle.to_degrees() * 1000.0).round() as i32)
}

/// The direction of a pitch and a yaw in thousandths of a degree.
pub fn direction_of(look: [i32; 2]) -> [f64; 3] {
    let [pitch, yaw] = look.map(|angle| (f64::from(angle) / 1000.0).to_radians());
    let level = libm::cos(pitch);
    [-libm::sin(yaw) * level, -libm::sin(pitch), libm::cos(yaw) * level]
}
