//! What a ray shows of what it meets.

use super::march::{Floats, LANES, Packet};
use super::sky::{LinearColour, Sky, UNDER_WATER, byte};
use super::{ASPECT, HALF_VIEW, Lens, Window};
use crate::angle::{cosine, sine};
use crate::atlas::{Atlas, Drawn, FaceTiles, STARTS, Texels};
use crate::block::{Look, Shape, WorldBlock};
use crate::hash::mix;
use crate::player::is_water_at;
use crate::volume::{Cell, Light, Volume};
use crate::world::{Body, World};

/// How far one sees. Fog hides the edge.
const FAR: f32 = 128.0;

/// How far one sees under water.
const FAR_UNDER_WATER: f32 = 28.0;

/// How bright the faces to -x, +x, -y, +y, -z and +z are, in 256ths.
const FACES: [u32; 6] = [154, 154, 128, 256, 205, 205];

/// The face that looks up, as bright as what shines by itself.
const UP: usize = 3;

/// How high water stands in its cell.
const WATER_LEVEL: f32 = 8.0 / 9.0;

/// The alpha from which a texel that is there or not is there.
const THERE: u8 = 128;

/// How wide the line around the block is that the player looks at, as a part of its edge.
const OUTLINE: f32 = 0.012;

/// The steps in which fog grows with the distance.
const FOG_STEPS: usize = 256;

/// Draws what rays meet in a world.
pub(super) struct Shader<'a> {
    volume: &'a Volume,
    bodies: Vec<SeenBody>,
    tiles: &'static [Texels],
    states: &'static [Drawn],
    sky: Sky,
    origin: [f32; 3],
    /// The kind of what the eyes are in: water or nothing.
    medium: u16,
    /// How far one sees.
    pub far: f32,
    haze: [u8; 3],
    /// How much of a colour is fog, in 256ths, by the distance.
    fog: [u16; FOG_STEPS + 1],
    /// How many texels a pixel covers at the distance 1.
    texels: f32,
    /// The block that the player looks at, and one that is being broken with how much of it is.
    target: Option<Cell>,
    cracks: Option<(Cell, f32)>,
}

/// A body, and the part of the picture that it lies in.
struct SeenBody {
    low: [f32; 3],
    high: [f32; 3],
    colour: [u8; 3],
    light: Light,
    window: Window,
}

/// What is known of a pixel so far.
#[derive(Clone, Copy)]
struct Pixel {
    /// What has been added by what one can look through, from 0 to 255.
    veil: LinearColour,
    /// How much of what lies behind is seen.
    through: f32,
    /// The kind of the last thing that one can look through.
    medium: u16,
    /// What cannot be looked through, if anything.
    met: Option<[u8; 3]>,
}

/// Where a ray is on the surface of a block.
#[derive(Clone, Copy)]
struct Spot<'a> {
    drawn: &'a Drawn,
    cell: Cell,
    /// Of -x, +x, -y, +y, -z and +z.
    face: usize,
    tile: &'a Texels,
    distance: f32,
    /// The place on the tile, from its top left corner.
    place: (f32, f32),
    light: Light,
}

/// A face that a ray has met, with what is needed to draw it.
#[derive(Clone, Copy)]
struct LastFace<'a> {
    cell: Cell,
    face: Option<usize>,
    drawn: &'a Drawn,
    tile: &'a Texels,
    /// The light before it.
    light: Light,
}

impl SeenBody {
    fn new(body: &Body, volume: &Volume, lens: &Lens) -> Self {
        let (low, high) = (body.bounds.low.map(|at| at as f32), body.bounds.high.map(|at| at as f32));
        let middle = [0, 1, 2].map(|axis| ((low[axis] + high[axis]) / 2.0).floor() as i32);
        let window = lens.window_of(low, high);
        Self { low, high, colour: body.colour, light: volume.light(middle), window }
    }
}

impl<'a> Shader<'a> {
    pub fn new(world: &'a World, lens: &Lens, height: usize) -> Self {
        let origin = lens.origin;
        let is_under_water = is_water_at(&world.volume, world.player.eyes());
        let sky = Sky::new(world.time());
        let here = world.volume.light(world.player.eyes().map(|at| at.floor() as i32));
        let brightness = f32::from(sky.light[usize::from(here.0)][2]) / 256.0;
        let haze = if is_under_water { UNDER_WATER.map(|part| part * brightness) } else { sky.haze() };
        let tangent = (sine(HALF_VIEW) / cosine(HALF_VIEW)) as f32;
        let fog = std::array::from_fn(|step| {
            let far = step as f32 / FOG_STEPS as f32;
            let share = if is_under_water { far * (2.0 - far) } else { far * far * far };
            (share * 256.0) as u16
        });
        let atlas = Atlas::get();
        let water = WorldBlock::of("water").map_or(0, |water| atlas.states[usize::from(water.0)].kind);
        Self {
            volume: &world.volume,
            bodies: world.seen_bodies().map(|body| SeenBody::new(&body, &world.volume, lens)).collect(),
            tiles: &atlas.tiles,
            states: &atlas.states,
            sky,
            origin,
            medium: if is_under_water { water } else { 0 },
            far: if is_under_water { FAR_UNDER_WATER } else { FAR },
            haze: haze.map(byte),
            fog,
            texels: 2.0 * tangent * ASPECT.sqrt() * 16.0 / height as f32,
            target: world.target().map(|target| target.cell),
            cracks: world.hands.cracks().map(|(cell, part)| (cell, part as f32)),
        }
    }

    /// The colours of a packet's pixels.
    #[inline(always)]
    pub fn colours(&self, packet: &mut Packet, window: Window) -> [[u8; 3]; LANES] {
        // Rays that are close together often meet the same face.
        let mut last = None;
        let mut pixels = [Pixel { veil: [0.0; 3], through: 1.0, medium: self.medium, met: None }; LANES];
        for (number, body) in self.bodies.iter().enumerate() {
            if body.window.overlaps(window) {
                packet.stop_at(number, body.low, body.high);
            }
        }
        packet
            .run(self.volume.skips(), |packet, lane| self.meets(packet, lane, &mut pixels[lane], &mut last));
        let lengths = lengths(packet);
        let mut colours = [[0; 3]; LANES];
        for (lane, colour) in colours.iter_mut().enumerate() {
            let pixel = &pixels[lane];
            let behind = pixel.met.unwrap_or_else(|| {
                if let Some((body, face)) = packet.stop(lane) {
                    let body = &self.bodies[body];
                    return self.fogged(self.lit(body.colour, body.light, face), packet.limit[lane]);
                }
                let [x, y, z] = ray(packet, lane);
                let direction = [x / lengths[lane], y / lengths[lane], z / lengths[lane]];
                if self.medium == 0 { self.sky.towards(direction) } else { self.haze }
            });
            *colour = if pixel.through == 1.0 {
                behind
            } else {
                std::array::from_fn(|part| {
                    (pixel.veil[part] + f32::from(behind[part]) * pixel.through + 0.5) as u8
                })
            };
        }
        colours
    }

    fn fogged(&self, colour: [u32; 3], distance: f32) -> [u8; 3] {
        let step = (distance * (FOG_STEPS as f32 / self.far)) as usize;
        let share = u32::from(self.fog[step.min(FOG_STEPS)]);
        let mix = |part: usize| (colour[part] * (256 - share) + u32::from(self.haze[part]) * share) >> 8;
        [mix(0) as u8, mix(1) as u8, mix(2) as u8]
    }

    /// Whether a ray ends in its cell. What it sees there goes into the pixel.
    #[inline(always)]
    fn meets(
        &self,
        packet: &Packet,
        lane: usize,
        pixel: &mut Pixel,
        last: &mut Option<LastFace<'a>>,
    ) -> bool {
        let cell = packet.cell(lane);
        let face = packet.face(lane);
        let LastFace { drawn, tile, light, .. } = match last {
            Some(known) if known.cell == cell && known.face == face => *known,
            _ => {
                let number = usize::from(self.volume.state_inside(cell));
                let Some(drawn) = self.states.get(number) else { return false };
                let mut before = cell;
                if let Some(face) = face {
                    before[face / 2] += if face % 2 == 1 { 1 } else { -1 };
                }
                let tile = self.tile(drawn, cell, face.unwrap_or(UP));
                *last.insert(LastFace { cell, face, drawn, tile, light: self.volume.light(before) })
            }
        };
        if let Some(face) = face
            && drawn.shape == Shape::Cube
        {
            let distance = packet.distance[lane];
            let on =
                |axis: usize| self.origin[axis] + packet.direction[axis][lane] * distance - cell[axis] as f32;
            let place = across(face, [on(0), on(1), on(2)]);
            return self.show(&Spot { drawn, cell, face, tile, distance, place, light }, pixel);
        }
        self.meets_shape(packet, lane, drawn, cell, pixel)
    }

    /// As [`Self::meets`], for what does not fill its cell.
    #[inline(never)]
    fn meets_shape(
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
                let planes = [
                    (local[2] - local[0]) / (direction[0] - direction[2]),
                    (1.0 - local[0] - local[2]) / (direction[0] + direction[2]),
                ];
                let order = if planes[0] <= planes[1] { [0, 1] } else { [1, 0] };
                order.into_iter().any(|plane| {
                    let distance = planes[plane];
                    let [x, y, _] = at(distance);
                    let is_here = distance > 0.0 && (0.0..1.0).contains(&x) && (0.0..1.0).contains(&y);
                    // A plant is as bright from everywhere.
                    let tile = self.tile(drawn, cell, UP);
                    let spot = Spot { drawn, cell, face: UP, tile, distance, place: (x, 1.0 - y), light };
                    is_here && distance < packet.limit[lane] && self.show(&spot, pixel)
                })
            }
            Shape::Boxes(boxes) => {
                let mut nearest: Option<(f32, usize)> = None;
                for edges in boxes {
                    let edge = |index: usize| f32::from(edges[index]) / 16.0;
                    let (low, high) = ([edge(0), edge(1), edge(2)], [edge(3), edge(4), edge(5)]);
                    let met = enter(local, direction, low, high);
                    nearest = match (nearest, met) {
                        (Some(one), Some(other)) if one.0 <= other.0 => Some(one),
                        (one, other) => other.or(one),
                    };
                }
                nearest.is_some_and(|(distance, face)| {
                    let (place, tile) = (across(face, at(distance)), self.tile(drawn, cell, face));
                    distance < packet.limit[lane]
                        && self.show(&Spot { drawn, cell, face, tile, distance, place, light }, pixel)
                })
            }
        }
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

    #[inline(always)]
    fn show(&self, spot: &Spot, pixel: &mut Pixel) -> bool {
        let Spot { drawn, distance, place: (u, v), light, .. } = *spot;
        if drawn.look == Look::Translucent && pixel.medium == drawn.kind {
            return false;
        }
        let [r, g, b, alpha] = self.texel(spot);
        if drawn.look == Look::Cutout && alpha < THERE {
            return false;
        }
        let mut colour = if drawn.light > 0 {
            self.lit([r, g, b], Light::new(light.sky(), drawn.light), UP)
        } else {
            self.lit([r, g, b], light, spot.face)
        };
        if self.target == Some(spot.cell) {
            let is_dark = self.cracks.is_some_and(|(cell, part)| cell == spot.cell && is_cracked(u, v, part));
            let is_edge = u.min(v).min(1.0 - u).min(1.0 - v) < OUTLINE;
            if is_dark || is_edge {
                colour = [colour[0] * 2 / 5, colour[1] * 2 / 5, colour[2] * 2 / 5];
            }
        }
        let colour = self.fogged(colour, distance);
        if drawn.look != Look::Translucent {
            pixel.met = Some(colour);
            return true;
        }
        let share = f32::from(alpha) / 255.0 * pixel.through;
        for (veil, part) in pixel.veil.iter_mut().zip(colour) {
            *veil += f32::from(part) * share;
        }
        pixel.through -= share;
        pixel.medium = drawn.kind;
        false
    }

    /// The tile that a face of a cell shows.
    fn tile(&self, drawn: &Drawn, cell: Cell, face: usize) -> &'a Texels {
        let FaceTiles { first, variants, .. } = drawn.faces[face % 6];
        let variant = if variants > 1 {
            voxel::textures::variant_hash(cell.map(|at| at as u32)) % u32::from(variants)
        } else {
            0
        };
        &self.tiles[usize::from(first) + variant as usize]
    }

    #[inline(always)]
    fn texel(&self, spot: &Spot) -> [u8; 4] {
        let is_turned = spot.drawn.faces[spot.face].turned;
        let (u, v) = if is_turned { (spot.place.1, spot.place.0) } else { spot.place };
        let covered = spot.distance * self.texels;
        let level = usize::from(covered > 1.6) + usize::from(covered > 3.2) + usize::from(covered > 6.4);
        let edge = 16 >> level;
        let at = |part: f32| ((part * edge as f32) as i32).clamp(0, edge - 1) as usize;
        spot.tile[STARTS[level] + at(v) * edge as usize + at(u)]
    }

    #[inline(always)]
    fn lit(&self, colour: [u8; 3], light: Light, face: usize) -> [u32; 3] {
        let light = &self.sky.light[usize::from(light.0)];
        let part = |part: usize| (u32::from(colour[part]) * u32::from(light[part]) * FACES[face]) >> 16;
        [part(0), part(1), part(2)]
    }
}

fn ray(packet: &Packet, lane: usize) -> [f32; 3] {
    [packet.direction[0][lane], packet.direction[1][lane], packet.direction[2][lane]]
}

#[inline(always)]
fn lengths(packet: &Packet) -> Floats {
    let mut lengths = [0.0; LANES];
    for (lane, length) in lengths.iter_mut().enumerate() {
        let [x, y, z] = ray(packet, lane);
        *length = (x * x + y * y + z * z).sqrt();
    }
    lengths
}

/// The place on a tile of a point on a face.
#[inline(always)]
fn across(face: usize, [x, y, z]: [f32; 3]) -> (f32, f32) {
    match face {
        0 => (z, 1.0 - y),
        1 => (1.0 - z, 1.0 - y),
        2 => (x, 1.0 - z),
        3 => (x, z),
        4 => (1.0 - x, 1.0 - y),
        _ => (x, 1.0 - y),
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

/// Whether a texel is dark in a block of which a part is broken.
fn is_cracked(u: f32, v: f32, part: f32) -> bool {
    let (column, row) = ((u * 16.0) as u64, (v * 16.0) as u64);
    let near = (column / 3 + row / 3 * 7) ^ (column / 2 + row);
    (mix(near * 31 + column * 17 + row * 131) % 100) as f32 <= part * 42.0
}
