//! What a ray shows of what it meets.

mod plain;
mod shapes;

use self::plain::PlainHits;
use super::march::{LANES, Packet};
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
const FAR: f32 = 96.0;

/// How far one sees under water.
const FAR_UNDER_WATER: f32 = 28.0;

/// How bright the faces to -x, +x, -y, +y, -z and +z are, in 256ths.
const FACES: [u32; 6] = [154, 154, 128, 256, 205, 205];

/// The face that looks up, as bright as what shines by itself.
const UP: usize = 3;

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
struct LastFace<'a> {
    /// As [`Packet::face_key`] has it; less than 0 if none has been met.
    key: i32,
    face: Option<usize>,
    drawn: &'a Drawn,
    tile: &'a Texels,
    /// The light before it.
    light: Light,
    /// How bright red, green and blue are, in 65,536ths, if all rays that meet it end there and are drawn alike.
    plain: Option<[u32; 3]>,
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
        let mut last = LastFace {
            key: -1,
            face: None,
            drawn: &self.states[0],
            tile: &self.tiles[0],
            light: Light::OPEN,
            plain: None,
        };
        let mut pixels = [Pixel { veil: [0.0; 3], through: 1.0, medium: self.medium, met: None }; LANES];
        let mut hits = PlainHits::none(&self.tiles[0]);
        for (number, body) in self.bodies.iter().enumerate() {
            if body.window.overlaps(window) {
                packet.stop_at(number, body.low, body.high);
            }
        }
        packet.run(self.volume.skips(), |packet, lane| {
            self.meets(packet, lane, &mut pixels[lane], &mut hits, &mut last)
        });
        let plain = if hits.lanes == 0 { [[0; 3]; LANES] } else { self.plain_colours(packet, &hits) };
        let is_plain = |lane: usize| hits.lanes >> lane & 1 == 1;
        let mut colours = [[0; 3]; LANES];
        for (lane, colour) in colours.iter_mut().enumerate() {
            let pixel = &pixels[lane];
            let behind = if is_plain(lane) {
                plain[lane]
            } else {
                pixel.met.unwrap_or_else(|| self.behind_blocks(packet, lane))
            };
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

    /// What a ray shows that no block has stopped.
    fn behind_blocks(&self, packet: &Packet, lane: usize) -> [u8; 3] {
        if let Some((body, face)) = packet.stop(lane) {
            let body = &self.bodies[body];
            let bright = self.brightness_in(body.light, face);
            return self.fogged(lit(body.colour, bright), packet.limit[lane]);
        }
        if self.medium != 0 {
            return self.haze;
        }
        let [x, y, z] = ray(packet, lane);
        let length = (x * x + y * y + z * z).sqrt();
        self.sky.towards([x / length, y / length, z / length])
    }

    fn fogged(&self, colour: [u32; 3], distance: f32) -> [u8; 3] {
        let step = (distance * (FOG_STEPS as f32 / self.far)) as usize;
        let share = u32::from(self.fog[step.min(FOG_STEPS)]);
        let mix = |part: usize| (colour[part] * (256 - share) + u32::from(self.haze[part]) * share) >> 8;
        [mix(0) as u8, mix(1) as u8, mix(2) as u8]
    }

    /// Whether a ray ends in its cell. What it sees there goes into the pixel, or is left to the end.
    #[inline(always)]
    fn meets(
        &self,
        packet: &Packet,
        lane: usize,
        pixel: &mut Pixel,
        hits: &mut PlainHits<'a>,
        last: &mut LastFace<'a>,
    ) -> bool {
        let key = packet.face_key(lane);
        if last.key != key {
            self.look_at(last, key, packet.cell(lane), packet.face(lane));
        }
        let known = &*last;
        if let (Some(bright), Some(face)) = (known.plain, known.face) {
            hits.lanes |= 1 << lane;
            hits.face[lane] = face as i32;
            hits.tile[lane] = known.tile;
            hits.is_turned[lane] = i32::from(known.drawn.faces[face].turned);
            hits.distance[lane] = packet.distance[lane];
            for (axis, bright) in bright.into_iter().enumerate() {
                hits.from[axis][lane] = self.origin[axis] - packet.cell_along(axis, lane) as f32;
                hits.bright[axis][lane] = bright;
            }
            return true;
        }
        let LastFace { drawn, tile, light, .. } = *known;
        let cell = packet.cell(lane);
        match known.face {
            Some(face) if drawn.shape == Shape::Cube => {
                let distance = packet.distance[lane];
                let on = |axis: usize| {
                    self.origin[axis] + packet.direction[axis][lane] * distance - cell[axis] as f32
                };
                let place = across(face, [on(0), on(1), on(2)]);
                self.show(&Spot { drawn, cell, face, tile, distance, place, light }, pixel)
            }
            _ => self.meets_shape(packet, lane, drawn, cell, pixel),
        }
    }

    /// Finds what is needed to draw the face of a cell by which a ray comes in. It is written in place, since a copy would
    /// wait for what has just been written.
    #[inline(never)]
    fn look_at(&self, last: &mut LastFace<'a>, key: i32, cell: Cell, face: Option<usize>) {
        let state = usize::from(self.volume.state_inside(cell));
        let drawn = self.states.get(state).unwrap_or(&self.states[0]);
        let mut before = cell;
        if let Some(face) = face {
            before[face / 2] += if face % 2 == 1 { 1 } else { -1 };
        }
        let light = self.volume.light(before);
        let is_plain = drawn.shape == Shape::Cube && drawn.look == Look::Opaque && self.target != Some(cell);
        last.key = key;
        last.face = face;
        last.drawn = drawn;
        last.light = light;
        last.tile = self.tile(drawn, cell, face.unwrap_or(UP));
        last.plain = face.filter(|_| is_plain).map(|face| self.brightness(drawn, light, face));
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
        let bright = self.brightness(drawn, light, spot.face);
        let mut colour = lit([r, g, b], bright);
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
        self.variant(drawn.faces[face % 6], cell)
    }

    fn variant(&self, tiles: FaceTiles, cell: Cell) -> &'a Texels {
        let FaceTiles { first, variants, .. } = tiles;
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

    /// How bright a face is: red, green and blue in 65,536ths.
    #[inline(always)]
    fn brightness(&self, drawn: &Drawn, light: Light, face: usize) -> [u32; 3] {
        let (light, face) =
            if drawn.light > 0 { (Light::new(light.sky(), drawn.light), UP) } else { (light, face) };
        self.brightness_in(light, face)
    }

    #[inline(always)]
    fn brightness_in(&self, light: Light, face: usize) -> [u32; 3] {
        self.sky.light[usize::from(light.0)].map(|part| u32::from(part) * FACES[face])
    }
}

/// A colour in some light.
#[inline(always)]
fn lit(colour: [u8; 3], bright: [u32; 3]) -> [u32; 3] {
    [0, 1, 2].map(|part| (u32::from(colour[part]) * bright[part]) >> 16)
}

fn ray(packet: &Packet, lane: usize) -> [f32; 3] {
    [packet.direction[0][lane], packet.direction[1][lane], packet.direction[2][lane]]
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

/// Whether a texel is dark in a block of which a part is broken.
fn is_cracked(u: f32, v: f32, part: f32) -> bool {
    let (column, row) = ((u * 16.0) as u64, (v * 16.0) as u64);
    let near = (column / 3 + row / 3 * 7) ^ (column / 2 + row);
    (mix(near * 31 + column * 17 + row * 131) % 100) as f32 <= part * 42.0
}
