//! What lies over the view: the hand, the crosshair, the hot bar, hearts and food.
//!
//! It is painted for a window of 640 by 360 and then made as small as the frame. That is kept until something of it
//! changes.

use craft::{ItemId, ItemStack};

use crate::atlas::Atlas;
use crate::block::{Shape, WorldBlock};
use crate::hands::SWING;
use crate::inventory::HOTBAR;
use crate::item::{Tool, ToolKind, ToolMaterial};
use crate::world::World;

const WIDTH: usize = 640;
const HEIGHT: usize = 360;

/// A picture of the window's size with straight alpha.
struct Canvas(Vec<[u8; 4]>);

/// What is painted, as long as nothing changes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct HudState {
    slot: usize,
    items: [Option<ItemStack>; HOTBAR],
    health: i32,
    food: i32,
    air: i32,
    swing: u8,
    /// How bright the hand is, in 256ths.
    light: u16,
}

/// The layer over the view, in the frame's size.
#[derive(Clone, Debug)]
pub(super) struct Hud {
    width: usize,
    height: usize,
    shown: Option<HudState>,
    /// The pixels that are not clear: their place, and red, green, blue and alpha in 256ths, times alpha.
    layer: Vec<(u32, [u16; 4])>,
}

impl Hud {
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, shown: None, layer: Vec::new() }
    }

    pub fn draw(&mut self, world: &World, rgb: &mut [u8]) {
        let state = HudState::of(world);
        if self.shown != Some(state) {
            self.layer = shrink(&paint(&state), self.width, self.height);
            self.shown = Some(state);
        }
        for (at, [r, g, b, alpha]) in &self.layer {
            let at = *at as usize * 3;
            for (byte, over) in rgb[at..at + 3].iter_mut().zip([r, g, b]) {
                *byte = ((u32::from(*byte) * u32::from(256 - alpha) + u32::from(*over)) >> 8).min(255) as u8;
            }
        }
        self.draw_crosshair(rgb);
    }

    /// The crosshair shows the opposite of what is behind it.
    fn draw_crosshair(&self, rgb: &mut [u8]) {
        let (middle, centre) = (self.width / 2, self.height / 2);
        // Nine pixels of the window.
        let (wide, high) = ((self.width * 9 / WIDTH / 2).max(1), (self.height * 9 / HEIGHT / 2).max(1));
        let across = (middle - wide..=middle + wide).map(|x| (x, centre));
        let down = (centre - high..=centre + high).filter(|y| *y != centre).map(|y| (middle, y));
        for (x, y) in across.chain(down) {
            let at = (y * self.width + x) * 3;
            for byte in &mut rgb[at..at + 3] {
                // Grey stays visible, too.
                *byte = if (96..160).contains(byte) { 240 } else { 255 - *byte };
            }
        }
    }
}

impl HudState {
    fn of(world: &World) -> Self {
        let player = world.player();
        let light = world.volume().light(player.eyes().map(|at| at.floor() as i32));
        let open = u16::from(light.sky()) * if (13_000..23_000).contains(&world.time()) { 4 } else { 11 };
        let lamp = u16::from(light.block()) * 11;
        Self {
            slot: player.slot,
            items: std::array::from_fn(|slot| world.inventory().slot(slot)),
            health: player.health,
            food: player.food,
            air: if player.air < 300 { player.air.max(0) / 30 } else { 10 },
            swing: world.hands.swing.min(SWING),
            light: (open.max(lamp) + 80).min(256),
        }
    }
}

fn paint(state: &HudState) -> Canvas {
    let mut canvas = Canvas(vec![[0; 4]; WIDTH * HEIGHT]);
    paint_hand(&mut canvas, state);
    let left = WIDTH / 2 - 91;
    canvas.fill(left, HEIGHT - 22, 182, 22, [0, 0, 0, 130]);
    for slot in 0..HOTBAR {
        let x = left + 1 + slot * 20;
        canvas.frame(x, HEIGHT - 21, 20, 20, [140, 140, 140, 170]);
        if let Some(stack) = state.items[slot] {
            paint_item(&mut canvas, stack.item, x as i32 + 2, HEIGHT as i32 - 19, 1, 256);
        }
    }
    let chosen = left + state.slot * 20;
    for inset in 0..2 {
        canvas.frame(
            chosen - 1 + inset,
            HEIGHT - 23 + inset,
            24 - 2 * inset,
            24 - 2 * inset,
            [240, 240, 240, 255],
        );
    }
    for place in 0..10 {
        let value = place as i32 * 2;
        let y = HEIGHT - 39;
        paint_sign(&mut canvas, &HEART, left + place * 8, y, state.health - value, [220, 30, 30]);
        paint_sign(
            &mut canvas,
            &DRUMSTICK,
            left + 182 - 9 - place * 8,
            y,
            state.food - value,
            [176, 112, 56],
        );
        if state.air < 10 && (place as i32) < state.air {
            paint_sign(&mut canvas, &BUBBLE, left + 182 - 9 - place * 8, y - 10, 2, [110, 170, 250]);
        }
    }
    canvas
}

const HEART: [&str; 8] =
    [".##.##..", "#######.", "#######.", "#######.", ".#####..", "..###...", "...#....", "........"];
const DRUMSTICK: [&str; 8] =
    ["...###..", "..#####.", "..#####.", "..####..", "..###...", ".##.....", "##......", "#......."];
const BUBBLE: [&str; 8] =
    ["..###...", ".#...#..", "#.#...#.", "#.....#.", "#.....#.", ".#...#..", "..###...", "........"];

/// A sign of which two points, one or none are left.
fn paint_sign(canvas: &mut Canvas, sign: &[&str; 8], x: usize, y: usize, points: i32, colour: [u8; 3]) {
    for (row, line) in sign.iter().enumerate() {
        for (column, mark) in line.bytes().enumerate() {
            if mark != b'#' {
                continue;
            }
            let is_there = points >= 2 || (points == 1 && column < 4);
            let [r, g, b] = if is_there { colour } else { [40, 40, 40] };
            canvas.fill(x + column, y + row, 1, 1, [r, g, b, 235]);
        }
    }
}

/// An arm, or what it holds, at the right below. A swing takes it to the middle and back.
fn paint_hand(canvas: &mut Canvas, state: &HudState) {
    let swung = match state.swing.min(SWING) {
        0 | SWING => 0,
        tick @ 1..=3 => i32::from(tick) * 26,
        tick => i32::from(SWING - tick) * 26,
    };
    let (x, y) = (430 - swung, 190 + swung / 3);
    let Some(ItemStack { item, .. }) = state.items[state.slot] else {
        paint_arm(canvas, x, y, state.light);
        return;
    };
    match WorldBlock::of(item.id()) {
        Some(block) if block.state().shape == Shape::Cube => paint_cube(canvas, block.0, x, y, state.light),
        _ => paint_item(canvas, item, x, y - 30, 11, state.light),
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

/// The picture of an item: the side of a block, or a drawing of a tool.
fn paint_item(canvas: &mut Canvas, item: ItemId, x: i32, y: i32, scale: i32, light: u16) {
    for row in 0..16 {
        for column in 0..16 {
            let [r, g, b, alpha] = item_texel(item, column, row);
            if alpha < 128 {
                continue;
            }
            let [r, g, b] = [r, g, b].map(|part| (u32::from(part) * u32::from(light) / 256) as u8);
            for dy in 0..scale {
                for dx in 0..scale {
                    let at = [x + column as i32 * scale + dx, y + row as i32 * scale + dy];
                    canvas.dot(at[0], at[1], [r, g, b, 255]);
                }
            }
        }
    }
}

pub(super) fn item_texel(item: ItemId, column: usize, row: usize) -> [u8; 4] {
    if let Some(block) = WorldBlock::of(item.id()) {
        let atlas = Atlas::get();
        let face = atlas.states[usize::from(block.0)].faces[5];
        return atlas.tiles[usize::from(face.first)][row * 16 + column];
    }
    let Some(Tool { kind, material }) = item.tool() else { return [0; 4] };
    let head = match material {
        ToolMaterial::Wood => [139, 108, 62],
        ToolMaterial::Stone => [137, 137, 137],
        ToolMaterial::Iron => [216, 216, 216],
        ToolMaterial::Diamond => [74, 222, 205],
        ToolMaterial::Netherite => [76, 66, 70],
        ToolMaterial::Gold => [246, 221, 72],
    };
    match tool_drawing(kind)[row].as_bytes()[column] {
        b'#' => [head[0], head[1], head[2], 255],
        b'+' => [head[0] / 2, head[1] / 2, head[2] / 2, 255],
        b'/' => [122, 88, 44, 255],
        _ => [0; 4],
    }
}

#[rustfmt::skip]
fn tool_drawing(kind: ToolKind) -> &'static [&'static str; 16] {
    match kind {
        ToolKind::Pickaxe => &[
            "................", "....+++++.......", "...+#####++.....", "....+++###++/...", ".......++##/+...", "........//##+...",
            ".......///+##+..", "......///.+##+..", ".....///...+#+..", "....///....+#+..", "...///.....+#+..", "..///.......+...",
            ".///............", ".//.............", "................", "................",
        ],
        ToolKind::Axe => &[
            "................", "........++......", ".......+##+.....", "......+####//...", ".....+#####/....", ".....+###///....",
            "......+#//##+...", ".......//+##+...", "......//..++....", ".....///........", "....///.........", "...///..........",
            "..///...........", ".///............", ".//.............", "................",
        ],
        ToolKind::Shovel => &[
            "................", "..........+++...", ".........+###+..", "........+####+..", "........+####+..", "........//##+...",
            ".......///++....", "......///.......", ".....///........", "....///.........", "...///..........", "..///...........",
            ".///............", ".//.............", "................", "................",
        ],
        ToolKind::Hoe => &[
            "................", ".......++++.....", "......+####+....", ".......++##//...", ".........//#+...", "........//.+....",
            ".......//.......", "......//........", ".....///........", "....///.........", "...///..........", "..///...........",
            ".///............", ".//.............", "................", "................",
        ],
        ToolKind::Sword => &[
            "............+++.", "...........+##+.", "..........+##+..", ".........+##+...", "........+##+....", ".......+##+.....",
            "......+##+......", ".....+##+.......", ".++.+##+........", "..++##+.........", "..+++...........", ".//+++..........",
            "//...++.........", "/...............", "................", "................",
        ],
        ToolKind::Shears => &[
            "................", ".........++.....", "........+##+....", "........+##+....", "..++....+##+....", ".+##+..+##+.....",
            ".+###++##+......", "..++####+.......", "....+###++......", "....//+####+....", "...//..++##+....", "..//.....++.....",
            ".//./...........", ".///............", "................", "................",
        ],
    }
}

impl Canvas {
    fn dot(&mut self, x: i32, y: i32, colour: [u8; 4]) {
        if (0..WIDTH as i32).contains(&x) && (0..HEIGHT as i32).contains(&y) {
            self.0[y as usize * WIDTH + x as usize] = colour;
        }
    }

    fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, colour: [u8; 4]) {
        for row in y..y + height {
            for column in x..x + width {
                self.dot(column as i32, row as i32, colour);
            }
        }
    }

    fn frame(&mut self, x: usize, y: usize, width: usize, height: usize, colour: [u8; 4]) {
        self.fill(x, y, width, 1, colour);
        self.fill(x, y + height - 1, width, 1, colour);
        self.fill(x, y, 1, height, colour);
        self.fill(x + width - 1, y, 1, height, colour);
    }
}

/// Makes the canvas as small, or as large, as the frame: each pixel is the mean of what it covers.
fn shrink(canvas: &Canvas, width: usize, height: usize) -> Vec<(u32, [u16; 4])> {
    let mut layer = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let rows = y * HEIGHT / height..((y + 1) * HEIGHT / height).max(y * HEIGHT / height + 1);
            let columns = x * WIDTH / width..((x + 1) * WIDTH / width).max(x * WIDTH / width + 1);
            let mut sum = [0_u32; 4];
            let mut count = 0;
            for row in rows.clone() {
                for column in columns.clone() {
                    let [r, g, b, alpha] = canvas.0[row.min(HEIGHT - 1) * WIDTH + column.min(WIDTH - 1)];
                    for (sum, part) in sum.iter_mut().zip([r, g, b]) {
                        *sum += u32::from(part) * u32::from(alpha);
                    }
                    sum[3] += u32::from(alpha);
                    count += 1;
                }
            }
            if sum[3] > 0 {
                let over = [sum[0], sum[1], sum[2], sum[3]];
                let [r, g, b, alpha] = over.map(|part| u64::from(part) * 256 / 255 / count);
                let place = (y * width + x) as u32;
                layer.push((place, [r as u16, g as u16, b as u16, alpha.min(256) as u16].map(|part| part)));
            }
        }
    }
    layer
}
