//! The hand, with what it holds.

use std::sync::LazyLock;

use craft::{ItemId, ItemStack};

use super::HudState;
use super::canvas::{Canvas, PixelRect};
use super::icons::paint_icon;
use crate::atlas::Atlas;
use crate::block::{Shape, WorldBlock};
use crate::hands::SWING;
use crate::view::WINDOW;

/// What is seen at the right below.
enum Hand {
    Arm,
    Cube(WorldBlock),
    Icon(ItemId),
}

/// How large a texel of an icon is.
const SCALE: i32 = 11;

/// The height of an icon's corner over that of an arm or a cube.
const RAISED: i32 = 30;

impl Hand {
    fn of(state: &HudState) -> Self {
        let Some(ItemStack { item, .. }) = state.held() else { return Self::Arm };
        match WorldBlock::of(item.id()) {
            Some(block) if block.state().shape == Shape::Cube => Self::Cube(block),
            _ => Self::Icon(item),
        }
    }

    /// What is painted, from the place of the hand.
    fn area(&self) -> PixelRect {
        match self {
            // It goes on below the window.
            Self::Arm => PixelRect::new([ARM_AT[0], ARM_AT[1] - ARM_WIDTH / 3], [ARM_WIDTH + 100, WINDOW[1]]),
            Self::Cube(_) => CUBE,
            Self::Icon(_) => PixelRect::new([0, -RAISED], [16 * SCALE; 2]),
        }
    }
}

/// Where the hand is. A swing takes it to the middle and back.
fn hand_at(swing: u8) -> [i32; 2] {
    let swung = match swing.min(SWING) {
        0 | SWING => 0,
        tick @ 1..=3 => i32::from(tick) * 26,
        tick => i32::from(SWING - tick) * 26,
    };
    [430 - swung, 190 + swung / 3]
}

/// What the hand covers of the window, and perhaps a little more.
pub(super) fn hand_area(state: &HudState) -> PixelRect {
    let PixelRect { low, high } = Hand::of(state).area();
    let [x, y] = hand_at(state.swing);
    PixelRect { low: [low[0] + x, low[1] + y], high: [high[0] + x, high[1] + y] }.and(PixelRect::WINDOW)
}

/// An arm, or what it holds, at the right below. Nothing else has been painted there yet.
pub(super) fn paint_hand(canvas: &mut Canvas, state: &HudState) {
    if !canvas.shows(hand_area(state)) {
        return;
    }
    let at = hand_at(state.swing);
    match Hand::of(state) {
        Hand::Arm => paint_arm(canvas, at, state.light),
        Hand::Cube(block) => paint_cube(canvas, block, at, state.light),
        Hand::Icon(item) => paint_icon(canvas, item, [at[0], at[1] - RAISED], SCALE, state.light),
    }
}

/// Where the arm begins, from the place of the hand.
const ARM_AT: [i32; 2] = [40, 30];

const ARM_WIDTH: i32 = 74;

/// An arm, whose rows rise by a pixel in three and go to the right by one in two.
fn paint_arm(canvas: &mut Canvas, [x, y]: [i32; 2], light: u16) {
    let [bright, dark] = [256, 190].map(|shade| {
        let [r, g, b] = [206, 160, 128].map(|part| shaded(part, light, shade));
        [r, g, b, 255]
    });
    // A line of pixels has three of each row. Lines two apart are alike, but for a pixel to the right.
    let lines = [0, 1].map(|odd| {
        let mut line = [[0; 4]; 88];
        for column in 0..ARM_WIDTH {
            line[(column + (odd + column / 3) / 2) as usize] = if column < 44 { bright } else { dark };
        }
        line
    });
    for down in -ARM_WIDTH / 3..WINDOW[1] - y - ARM_AT[1] {
        // The lines at the top have no rows before the first.
        let missing = (-down).max(0);
        let odd = down & 1;
        let begin = 3 * missing + (odd + missing) / 2;
        let at = [x + ARM_AT[0] + (down >> 1) + begin, y + ARM_AT[1] + down];
        canvas.set_row(at, &lines[odd as usize][begin as usize..]);
    }
}

/// How long the edges of a cube are.
const EDGE: i32 = 84;

/// What a cube covers, from the place of the hand.
const CUBE: PixelRect = PixelRect { low: [0, 0], high: [2 * EDGE + 1, EDGE * 5 / 3] };

/// The faces of a cube that are seen, and how bright they are.
const CUBE_FACES: [(usize, u32); 3] = [(3, 256), (5, 200), (1, 150)];

/// No texel of a cube.
const CLEAR: u16 = 3 * 256;

/// A cube, seen with its top and two sides.
fn paint_cube(canvas: &mut Canvas, block: WorldBlock, [x, y]: [i32; 2], light: u16) {
    let atlas = Atlas::get();
    let faces = atlas.states[usize::from(block.0)].faces;
    let mut texels = [[0; 4]; CLEAR as usize + 1];
    for ((face, shade), texels) in CUBE_FACES.into_iter().zip(texels.chunks_exact_mut(256)) {
        for (texel, [r, g, b, alpha]) in texels.iter_mut().zip(atlas.tiles[usize::from(faces[face].first)]) {
            if alpha >= 128 {
                let [r, g, b] = [r, g, b].map(|part| shaded(part, light, shade));
                *texel = [r, g, b, 255];
            }
        }
    }
    let is_whole = texels[..usize::from(CLEAR)].iter().all(|texel| texel[3] != 0);
    if is_whole {
        let mut colours = [[0; 4]; CUBE.high[0] as usize];
        for (down, line) in cube_lines().chunks_exact(colours.len()).enumerate() {
            for (colour, texel) in colours.iter_mut().zip(line) {
                *colour = texels[usize::from(*texel)];
            }
            canvas.set_row([x, y + down as i32], &colours);
        }
        return;
    }
    // One sees the far texels through the holes of the near ones.
    each_texel_of_cube(|[across, down], texel| {
        let colour = texels[usize::from(texel)];
        if colour[3] != 0 {
            canvas.dot(x + across, y + down, colour);
        }
    });
}

/// Which texel each pixel of a cube without holes shows.
fn cube_lines() -> &'static [u16] {
    static LINES: LazyLock<Vec<u16>> = LazyLock::new(|| {
        let [width, height] = CUBE.high.map(|edge| edge as usize);
        let mut lines = vec![CLEAR; width * height];
        each_texel_of_cube(|[across, down], texel| lines[down as usize * width + across as usize] = texel);
        lines
    });
    &LINES
}

/// Calls back with all pixels of a cube and the texels that they show: 256 for each face. The later ones cover the
/// earlier ones.
fn each_texel_of_cube(mut each: impl FnMut([i32; 2], u16)) {
    for v in 0..EDGE {
        for u in 0..EDGE {
            let at = (v * 16 / EDGE * 16 + u * 16 / EDGE) as u16;
            for (face, [x, y]) in [
                (0, [u + EDGE - v, (u + v) / 3]),
                (1, [u, (EDGE + u) / 3 + v]),
                (2, [EDGE + u, (2 * EDGE - u) / 3 + v]),
            ] {
                each([x, y], face * 256 + at);
                each([x + 1, y], face * 256 + at);
            }
        }
    }
}

/// A part of a colour in some light, both in 256ths.
fn shaded(part: u8, light: u16, shade: u32) -> u8 {
    (u32::from(part) * u32::from(light) / 256 * shade / 256) as u8
}
