//! Faces that are drawn sixteen at a time.

use super::{FOG_STEPS, Shader};
use crate::atlas::{TEXELS, Texels};
use crate::view::march::{Floats, Ints, LANES, Packet, floor};

/// The rays of a packet that have ended at plain faces, which are drawn together at the end.
pub(super) struct PlainHits<'a> {
    /// A bit for each ray.
    pub lanes: u32,
    pub face: Ints,
    pub tile: [&'a Texels; LANES],
    pub is_turned: Ints,
    pub bright: [[u32; LANES]; 3],
    pub distance: Floats,
    /// Where the rays begin, from the corner of the cell.
    pub from: [Floats; 3],
}

impl<'a> PlainHits<'a> {
    pub(super) fn none(tile: &'a Texels) -> Self {
        Self {
            lanes: 0,
            face: [0; LANES],
            tile: [tile; LANES],
            is_turned: [0; LANES],
            bright: [[0; LANES]; 3],
            distance: [0.0; LANES],
            from: [[0.0; LANES]; 3],
        }
    }
}

impl Shader<'_> {
    /// The colours of the rays that have ended at plain faces, and of the others something. As in [`march`](super::march),
    /// the loops over lanes become vector instructions, but for those that look something up.
    #[inline(always)]
    pub(super) fn plain_colours(&self, packet: &Packet, hits: &PlainHits) -> [[u8; 3]; LANES] {
        let (mut texel, mut fog): (Ints, Ints) = ([0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let distance = hits.distance[lane];
            let at = |axis: usize| hits.from[axis][lane] + packet.direction[axis][lane] * distance;
            let (x, y, z) = (at(0), at(1), at(2));
            // As in `across`.
            let face = hits.face[lane];
            let u = if face < 2 { z } else { x };
            let u = if face == 1 || face == 4 { 1.0 - u } else { u };
            let v = if face == 2 || face == 3 { z } else { y };
            let v = if face == 3 { v } else { 1.0 - v };
            let is_turned = hits.is_turned[lane] != 0;
            let (u, v) = if is_turned { (v, u) } else { (u, v) };
            let covered = distance * self.texels;
            let [small, smaller, smallest] = [1.6, 3.2, 6.4].map(|least| i32::from(covered > least));
            let edge = 16 - 8 * small - 4 * smaller - 2 * smallest;
            let start = 256 * small + 64 * smaller + 16 * smallest;
            let within = |part: f32| {
                let at = floor(part * edge as f32);
                let at = if at < 0 { 0 } else { at };
                if at < edge { at } else { edge - 1 }
            };
            texel[lane] = start + within(v) * edge + within(u);
            let step = floor(distance * (FOG_STEPS as f32 / self.far));
            fog[lane] = if step < FOG_STEPS as i32 { step } else { FOG_STEPS as i32 };
        }
        let mut parts = [[0_u32; LANES]; 3];
        let mut share = [0_u32; LANES];
        for lane in 0..LANES {
            // Lanes without a hit have any numbers.
            let at = (texel[lane] as usize).min(TEXELS - 1);
            let colour = hits.tile[lane][at];
            for (part, of) in parts.iter_mut().zip(colour) {
                part[lane] = u32::from(of);
            }
            share[lane] = u32::from(self.fog[(fog[lane] as usize).min(FOG_STEPS)]);
        }
        let mut colours = [[0; 3]; LANES];
        for (number, part) in parts.iter_mut().enumerate() {
            let haze = u32::from(self.haze[number]);
            for lane in 0..LANES {
                let lit = (part[lane] * hits.bright[number][lane]) >> 16;
                part[lane] = (lit * (256 - share[lane]) + haze * share[lane]) >> 8;
            }
        }
        for (lane, colour) in colours.iter_mut().enumerate() {
            *colour = [0, 1, 2].map(|part| parts[part][lane] as u8);
        }
        colours
    }
}
