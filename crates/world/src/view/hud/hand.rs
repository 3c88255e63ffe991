//! The hand, with what it holds.

use craft::ItemStack;

use super::HudState;
use super::canvas::{Canvas, PixelRect};
use super::icons::paint_icon;
use crate::atlas::Atlas;
use crate::block::{Shape, WorldBlock};
use crate::hands::SWING;
use crate::view::WINDOW;

/// An arm, or what it holds, at the right below. A swing takes it to the middle and back.
pub(super) fn paint_hand(canvas: &mut Canvas, state: &HudState) {
    let swung = match state.swing.min(SWING) {
        0 | SWING => 0,
        tick @ 1..=3 => i32::from(tick) * 26,
        tick => i32::from(SWING - tick) * 26,
    };
    let (x, y) = (430 - swung, 190 + swung / 3);
    // Neither an arm nor a cube reaches farther to the left or up.
    if !canvas.shows(PixelRect { low: [x, y - 30], high: WINDOW }) {
        return;
    }
    let Some(ItemStack { item, .. }) = state.items[state.slot] else {
        paint_arm(canvas, x, y, state.light);
        return;
    };
    match WorldBlock::of(item.id()) {
        Some(block) if block.state().shape == Shape::Cube => paint_cube(canvas, block.0, x, y, state.light),
        _ => paint_icon(canvas, item, [x, y - 30], 11, state.light),
    }
}

fn paint_arm(canvas: &mut Canvas, x: i32, y: i32, light: u16) {
    for row in 0..200 {
        for column in 0..74 {
            let shade = if column < 44 { 256 } else { 190 };
            let skin = [206, 160, 128].map(|part: u32| (part * u32::from(light) / 256 * shade / 256) as u8);
            canvas.dot(
                x + 40 + column + row / 2,
                y + 30 + row - column / 3,
                [skin[0], skin[1], skin[2], 255],
            );
        }
    }
}

/// A cube, seen with its top and two sides.
fn paint_cube(canvas: &mut Canvas, state: u16, x: i32, y: i32, light: u16) {
    const EDGE: i32 = 84;
    let atlas = Atlas::get();
    let faces = atlas.states[usize::from(state)].faces;
    for v in 0..EDGE {
        for u in 0..EDGE {
            let at = (v * 16 / EDGE * 16 + u * 16 / EDGE) as usize;
            for (face, shade, place) in [
                (3, 256, [x + u + EDGE - v, y + (u + v) / 3]),
                (5, 200, [x + u, y + (EDGE + u) / 3 + v]),
                (1, 150, [x + EDGE + u, y + (2 * EDGE - u) / 3 + v]),
            ] {
                let [r, g, b, alpha] = atlas.tiles[usize::from(faces[face].first)][at];
                let lit =
                    [r, g, b].map(|part| (u32::from(part) * u32::from(light) / 256 * shade / 256) as u8);
                if alpha >= 128 {
                    canvas.dot(place[0], place[1], [lit[0], lit[1], lit[2], 255]);
                    canvas.dot(place[0] + 1, place[1], [lit[0], lit[1], lit[2], 255]);
                }
            }
        }
    }
}
