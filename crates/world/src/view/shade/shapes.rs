//! What a ray meets in a cell that no cube fills.

use super::{Pixel, Shader, Spot, UP, across, ray};
use crate::atlas::Drawn;
use crate::block::{BoxEdges, Look, Shape, WorldBlock, form_at};
use crate::view::march::Packet;
use crate::volume::Cell;

/// How high water stands in its cell.
const WATER_LEVEL: f32 = 8.0 / 9.0;

impl Shader<'_> {
    /// As [`Self::meets`], for what does not fill its cell.
    #[inline(never)]
    pub(super) fn meets_shape(
        &self,
        packet: &Packet,
        lane: usize,
        drawn: &Drawn,
        cell: Cell,
        pixel: &mut Pixel,
    ) -> bool {
        let direction = ray(packet, lane);
        let local = [0, 1, 2].map(|axis| self.origin[axis] - cell[axis] as f32);
        let at = |distance: f32| [0, 1, 2].map(|axis| local[axis] + direction[axis] * distance);
        let distance = packet.distance[lane];
        let light = self.volume.light(cell);
        match &drawn.shape {
            Shape::None | Shape::Cube => false,
            Shape::Liquid => {
                let is_top = !WorldBlock(self.volume.block([cell[0], cell[1] + 1, cell[2]]).0).is_liquid();
                let point = at(distance);
                if is_top && point[1] > WATER_LEVEL {
                    let down = ((WATER_LEVEL - local[1]) / direction[1]).max(distance);
                    let point = at(down);
                    let is_here = |part: f32| (-0.001..=1.001).contains(&part);
                    let meets_surface = direction[1] < 0.0 && is_here(point[0]) && is_here(point[2]);
                    return meets_surface && self.show_face(drawn, cell, UP, down, point, pixel);
                }
                let face = packet.face(lane);
                face.is_some_and(|face| self.show_face(drawn, cell, face, distance, point, pixel))
            }
            Shape::Cross => {
                // A plant is as bright from everywhere.
                let tile = self.variant(drawn.faces[UP], cell);
                let spot = Spot { drawn, cell, face: UP, tile, distance, place: (0.0, 0.0), light };
                self.meets_cross(packet, lane, spot, 0.0, pixel)
            }
            Shape::Boxes(boxes) => self.meets_boxes(packet, lane, drawn, cell, boxes, pixel),
            Shape::Joined => {
                let block = WorldBlock(self.volume.state_inside(cell));
                match &form_at(self.volume, cell, block).drawn {
                    Shape::Boxes(boxes) => self.meets_boxes(packet, lane, drawn, cell, boxes, pixel),
                    _ => false,
                }
            }
        }
    }

    /// Shows the boxes that a ray meets, from near to far, until one is there.
    fn meets_boxes(
        &self,
        packet: &Packet,
        lane: usize,
        drawn: &Drawn,
        cell: Cell,
        boxes: &[BoxEdges],
        pixel: &mut Pixel,
    ) -> bool {
        let direction = ray(packet, lane);
        let local = [0, 1, 2].map(|axis| self.origin[axis] - cell[axis] as f32);
        let light = self.volume.light(cell);
        let mut last = -1.0;
        loop {
            let mut nearest: Option<(f32, usize)> = None;
            for edges in boxes {
                let edge = |index: usize| f32::from(edges[index]) / 16.0;
                let (low, high) = ([edge(0), edge(1), edge(2)], [edge(3), edge(4), edge(5)]);
                let met = enter(local, direction, low, high).filter(|met| met.0 > last);
                nearest = match (nearest, met) {
                    (Some(one), Some(other)) if one.0 <= other.0 => Some(one),
                    (one, other) => other.or(one),
                };
            }
            let Some((distance, face)) = nearest.filter(|(distance, _)| *distance < packet.limit[lane])
            else {
                break;
            };
            let point = [0, 1, 2].map(|axis| local[axis] + direction[axis] * distance);
            let (place, tile) = (across(face, point), self.variant(drawn.faces[face % 6], cell));
            if self.show(&Spot { drawn, cell, face, tile, distance, place, light }, pixel) {
                return true;
            }
            if drawn.look == Look::Translucent {
                break;
            }
            last = distance;
        }
        drawn.cross.is_some_and(|(cross, from)| {
            let tile = self.variant(cross, cell);
            let spot = Spot { drawn, cell, face: UP, tile, distance: 0.0, place: (0.0, 0.0), light };
            self.meets_cross(packet, lane, spot, from, pixel)
        })
    }

    /// Shows what stands from corner to corner, from a height on.
    fn meets_cross(&self, packet: &Packet, lane: usize, spot: Spot, from: f32, pixel: &mut Pixel) -> bool {
        let direction = ray(packet, lane);
        let local = [0, 1, 2].map(|axis| self.origin[axis] - spot.cell[axis] as f32);
        let planes = [
            (local[2] - local[0]) / (direction[0] - direction[2]),
            (1.0 - local[0] - local[2]) / (direction[0] + direction[2]),
        ];
        let order = if planes[0] <= planes[1] { [0, 1] } else { [1, 0] };
        let mut spot = spot;
        for plane in order {
            let distance = planes[plane];
            let x = local[0] + direction[0] * distance;
            let y = (local[1] + direction[1] * distance - from) / (1.0 - from);
            spot.distance = distance;
            spot.place = (x, 1.0 - y);
            let is_here = distance > 0.0 && (0.0..1.0).contains(&x) && (0.0..1.0).contains(&y);
            if is_here && distance < packet.limit[lane] && self.show(&spot, pixel) {
                return true;
            }
        }
        false
    }

    /// Shows a face of a full cell, which is lit from the cell before it.
    #[inline(always)]
    fn show_face(
        &self,
        drawn: &Drawn,
        cell: Cell,
        face: usize,
        distance: f32,
        point: [f32; 3],
        pixel: &mut Pixel,
    ) -> bool {
        let mut before = cell;
        before[face / 2] += if face % 2 == 1 { 1 } else { -1 };
        let light = self.volume.light(before);
        let tile = self.tile(drawn, cell, face);
        self.show(&Spot { drawn, cell, face, tile, distance, place: across(face, point), light }, pixel)
    }
}

/// Where a ray enters a box from outside, and at which face.
#[inline(always)]
fn enter(origin: [f32; 3], direction: [f32; 3], low: [f32; 3], high: [f32; 3]) -> Option<(f32, usize)> {
    let (mut near, mut far, mut face) = (0.0_f32, f32::INFINITY, None);
    for axis in 0..3 {
        let along = if direction[axis].abs() < 1e-7 { 1e-7 } else { direction[axis] };
        let (one, other) = ((low[axis] - origin[axis]) / along, (high[axis] - origin[axis]) / along);
        if one.min(other) > near {
            near = one.min(other);
            face = Some(axis * 2 + usize::from(along < 0.0));
        }
        far = far.min(one.max(other));
    }
    face.filter(|_| near <= far).map(|face| (near, face))
}
