//! The hot bar, hearts, food and breath.

use super::HudState;
use super::canvas::{Canvas, PixelRect};
use super::icons::paint_stack;
use crate::inventory::HOTBAR;
use crate::view::WINDOW;

/// The left edge of the hot bar, which is 182 pixels wide.
const LEFT: i32 = WINDOW[0] / 2 - 91;

/// All that is painted here.
pub(super) const BARS: PixelRect =
    PixelRect { low: [LEFT - 2, WINDOW[1] - 49], high: [LEFT + 184, WINDOW[1]] };

/// The corner of a slot of the hot bar.
fn slot_at(slot: usize) -> [i32; 2] {
    [LEFT + 1 + slot as i32 * 20, WINDOW[1] - 21]
}

/// What a slot of the hot bar covers.
pub(super) fn slot_area(slot: usize) -> PixelRect {
    PixelRect::new(slot_at(slot), [20, 20])
}

pub(super) fn paint_bars(canvas: &mut Canvas, state: &HudState) {
    canvas.fill(PixelRect::new([LEFT, WINDOW[1] - 22], [182, 22]), [0, 0, 0, 130]);
    for (slot, stack) in state.items.iter().enumerate().take(HOTBAR) {
        canvas.frame(slot_area(slot), [140, 140, 140, 170], [140, 140, 140, 170]);
        if let Some(stack) = stack {
            let [x, y] = slot_at(slot);
            paint_stack(canvas, *stack, [x + 2, y + 2]);
        }
    }
    let [x, y] = slot_at(state.slot);
    for inset in 0..2 {
        let corner = [x - 2 + inset, y - 2 + inset];
        let chosen = PixelRect::new(corner, [24 - 2 * inset; 2]);
        canvas.frame(chosen, [240, 240, 240, 255], [240, 240, 240, 255]);
    }
    let y = WINDOW[1] - 39;
    for place in 0..10 {
        let value = place * 2;
        paint_sign(canvas, &HEART, [LEFT + place * 8, y], state.health - value, [220, 30, 30]);
        let right = LEFT + 182 - 9 - place * 8;
        paint_sign(canvas, &DRUMSTICK, [right, y], state.food - value, [176, 112, 56]);
        if state.air < 10 && place < state.air {
            paint_sign(canvas, &BUBBLE, [right, y - 10], 2, [110, 170, 250]);
        }
    }
}

const HEART: [&str; 8] =
    [".##.##..", "#######.", "#######.", "#######.", ".#####..", "..###...", "...#....", "........"];
const DRUMSTICK: [&str; 8] =
    ["...###..", "..#####.", "..#####.", "..####..", "..###...", ".##.....", "##......", "#......."];
const BUBBLE: [&str; 8] =
    ["..###...", ".#...#..", "#.#...#.", "#.....#.", "#.....#.", ".#...#..", "..###...", "........"];

/// A sign of which two points, one or none are left.
fn paint_sign(canvas: &mut Canvas, sign: &[&str; 8], [x, y]: [i32; 2], points: i32, colour: [u8; 3]) {
    if !canvas.shows(PixelRect::new([x, y], [8, 8])) {
        return;
    }
    for (row, line) in sign.iter().enumerate() {
        for (column, mark) in line.bytes().enumerate() {
            if mark != b'#' {
                continue;
            }
            let is_there = points >= 2 || (points == 1 && column < 4);
            let [r, g, b] = if is_there { colour } else { [40, 40, 40] };
            canvas.dot(x + column as i32, y + row as i32, [r, g, b, 235]);
        }
    }
}
