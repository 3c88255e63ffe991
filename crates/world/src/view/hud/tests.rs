//! The layer is equal to one that is painted in the simplest way.

use std::collections::BTreeSet;

use craft::ItemId;
use proptest::prelude::*;

use super::*;
use crate::atlas::Atlas;
use crate::block::{Shape, WorldBlock};
use crate::screen::{ScreenKind, ScreenLayout};

/// Every pixel of a frame, as the mean of the pixels of the window that it covers.
fn plain_layer(state: &HudState, size: [usize; 2]) -> Vec<[u16; 4]> {
    let canvas = state.paint(PixelRect::WINDOW);
    let pixels: Vec<&[[u8; 4]]> = canvas.rows(0, WINDOW[1]).collect();
    let covered = |at: usize, axis: usize| {
        let (window, edge) = (WINDOW[axis] as usize, size[axis]);
        let low = at * window / edge;
        low..((at + 1) * window / edge).max(low + 1)
    };
    let mut layer = Vec::new();
    for (row, column) in (0..size[1]).flat_map(|row| (0..size[0]).map(move |column| (row, column))) {
        let (mut sum, mut count) = ([0; 4], 0);
        for (y, x) in covered(row, 1).flat_map(|y| covered(column, 0).map(move |x| (y, x))) {
            let [r, g, b, alpha] = pixels[y][x].map(u64::from);
            sum = [sum[0] + r * alpha, sum[1] + g * alpha, sum[2] + b * alpha, sum[3] + alpha];
            count += 1;
        }
        layer.push(sum.map(|part| (part * 256 / 255 / count) as u16));
    }
    layer
}

/// Lays a layer over a picture, every pixel of it.
fn laid_over(layer: &[[u16; 4]], rgb: &mut [u8]) {
    for (bytes, [parts @ .., alpha]) in rgb.chunks_exact_mut(3).zip(layer) {
        for (byte, part) in bytes.iter_mut().zip(parts) {
            let under = u32::from(*byte) * (256 - u32::from(*alpha));
            *byte = ((under + u32::from(*part)) >> 8).min(255) as u8;
        }
    }
}

/// Some things to hold: nothing, tools, food, cubes with and without holes, and other blocks.
fn stack() -> impl Strategy<Value = Option<ItemStack>> {
    let ids = ["iron_pickaxe", "apple", "stone", "oak_leaves", "glass", "torch", "oak_stairs", "grass_block"];
    let item = prop::sample::select(ids.to_vec()).prop_map(|id| ItemId::of(id).unwrap());
    prop::option::of((item, 1..3_u8).prop_map(|(item, count)| ItemStack::new(item, count)))
}

fn panel() -> impl Strategy<Value = Option<Panel>> {
    let kinds = [ScreenKind::Inventory, ScreenKind::Furnace([1, 2, 3])];
    let open = (prop::sample::select(kinds.to_vec()), [0..640, 0..360], stack(), stack(), [0..15, 0..25]);
    let panel = open.prop_map(|(kind, pointer, carried, stack, gauges)| {
        let mut stacks = vec![None; ScreenLayout::of(kind).slots.len()];
        stacks[3] = stack;
        Panel { kind, pointer, carried, stacks, gauges }
    });
    prop_oneof![4 => Just(None), 1 => panel.prop_map(Some)]
}

/// What may change from one picture to the next.
#[derive(Clone, Debug)]
enum HudChange {
    Slot(usize),
    Item(usize, Option<ItemStack>),
    Health(i32),
    Food(i32),
    Air(i32),
    Swing(u8),
    Light(u16),
    Panel(Option<Panel>),
}

fn change() -> impl Strategy<Value = HudChange> {
    prop_oneof![
        (0..HOTBAR).prop_map(HudChange::Slot),
        (0..HOTBAR, stack()).prop_map(|(slot, stack)| HudChange::Item(slot, stack)),
        (0..21).prop_map(HudChange::Health),
        (0..21).prop_map(HudChange::Food),
        (0..11).prop_map(HudChange::Air),
        (0..=SWING).prop_map(HudChange::Swing),
        (80..=256_u16).prop_map(HudChange::Light),
        panel().prop_map(HudChange::Panel),
    ]
}

impl HudChange {
    fn apply(self, state: &mut HudState) {
        match self {
            Self::Slot(slot) => state.slot = slot,
            Self::Item(slot, stack) => state.items[slot] = stack,
            Self::Health(health) => state.health = health,
            Self::Food(food) => state.food = food,
            Self::Air(air) => state.air = air,
            Self::Swing(swing) => state.swing = swing,
            Self::Light(light) => state.light = light,
            Self::Panel(panel) => state.panel = panel,
        }
    }
}

fn first_state() -> HudState {
    HudState {
        slot: 0,
        items: [None; HOTBAR],
        health: 20,
        food: 20,
        air: 10,
        swing: 0,
        light: 256,
        panel: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_layer_of_which_parts_are_painted_again_is_as_if_all_were(
        size in prop::sample::select(
            &[[16, 16], [64, 64], [128, 128], [160, 120], [100, 36], [640, 360], [644, 720], [1024, 16]][..]
        ),
        changes in prop::collection::vec(prop::collection::vec(change(), 1..4), 1..12),
    ) {
        let mut hud = Hud::new(size[0], size[1]);
        let mut state = first_state();
        let below: Vec<u8> = (0..size[0] * size[1] * 3).map(|at| (at * 7 % 256) as u8).collect();
        for changes in changes {
            for change in changes {
                change.apply(&mut state);
            }
            hud.show(state.clone());
            let (mut shown, mut expected) = (below.clone(), below.clone());
            hud.layer.cover(&mut shown);
            laid_over(&plain_layer(&state, size), &mut expected);
            prop_assert!(shown == expected, "{state:?}");
        }
    }
}

/// The hand of a state, pixel by pixel.
fn plain_hand(state: &HudState) -> Canvas {
    let mut canvas = Canvas::new(PixelRect::WINDOW);
    let swung = [0, 26, 52, 78, 52, 26, 0][usize::from(state.swing)];
    let (x, y) = (430 - swung, 190 + swung / 3);
    let lit = |[r, g, b]: [u8; 3], shade: u32| {
        let [r, g, b] =
            [r, g, b].map(|part| (u32::from(part) * u32::from(state.light) / 256 * shade / 256) as u8);
        [r, g, b, 255]
    };
    let Some(ItemStack { item, .. }) = state.items[state.slot] else {
        for (row, column) in (0..200).flat_map(|row| (0..74).map(move |column| (row, column))) {
            let colour = lit([206, 160, 128], if column < 44 { 256 } else { 190 });
            canvas.dot(x + 40 + column + row / 2, y + 30 + row - column / 3, colour);
        }
        return canvas;
    };
    let block = WorldBlock::of(item.id()).filter(|block| block.state().shape == Shape::Cube).unwrap();
    let atlas = Atlas::get();
    let faces = atlas.states[usize::from(block.0)].faces;
    for (v, u) in (0..84).flat_map(|v| (0..84).map(move |u| (v, u))) {
        for (face, shade, place) in [
            (3, 256, [x + u + 84 - v, y + (u + v) / 3]),
            (5, 200, [x + u, y + (84 + u) / 3 + v]),
            (1, 150, [x + 84 + u, y + (168 - u) / 3 + v]),
        ] {
            let texel =
                atlas.tiles[usize::from(faces[face].first)][(v * 16 / 84 * 16 + u * 16 / 84) as usize];
            if texel[3] >= 128 {
                let colour = lit([texel[0], texel[1], texel[2]], shade);
                canvas.dot(place[0], place[1], colour);
                canvas.dot(place[0] + 1, place[1], colour);
            }
        }
    }
    canvas
}

#[test]
fn an_arm_and_cubes_are_painted_as_pixel_by_pixel() {
    let mut state = first_state();
    for id in [None, Some("stone"), Some("grass_block"), Some("oak_leaves"), Some("glass"), Some("spawner")] {
        state.items[0] = id.and_then(ItemId::of).map(|item| ItemStack::new(item, 1));
        for (swing, light) in (0..=SWING).flat_map(|swing| [80, 133, 256].map(|light| (swing, light))) {
            (state.swing, state.light) = (swing, light);
            let mut canvas = Canvas::new(PixelRect::WINDOW);
            paint_hand(&mut canvas, &state);
            let expected = plain_hand(&state);
            // Each part of it by itself is as in the whole.
            for (x, y) in (0..WINDOW[0]).step_by(40).flat_map(|x| [(x, 180), (x, 260), (x, 330)]) {
                let area = PixelRect::new([x, y], [25, 30]);
                let mut part = Canvas::new(area);
                paint_hand(&mut part, &state);
                let whole = canvas.rows(y, y + 30).map(|row| &row[x as usize..x as usize + 25]);
                assert!(part.rows(y, y + 30).eq(whole), "{id:?}, {swing}, {light}, {area:?}");
            }
            assert!(canvas.rows(0, WINDOW[1]).eq(expected.rows(0, WINDOW[1])), "{id:?}, {swing}, {light}");
        }
    }
}

#[test]
fn nothing_is_painted_outside_of_the_hand_and_the_bars() {
    let mut seen = BTreeSet::new();
    for item in ItemId::all().filter(|item| item.index() % 7 == 0) {
        let mut state = first_state();
        (state.items[0], state.air) = (Some(ItemStack::new(item, 1)), 9);
        for (slot, swing) in [(0, 0), (8, 2), (0, 3)] {
            (state.slot, state.swing) = (slot, swing);
            let canvas = state.paint(PixelRect::WINDOW);
            for (y, row) in canvas.rows(0, WINDOW[1]).enumerate() {
                for x in (0..row.len()).filter(|x| row[*x] != [0; 4]) {
                    let areas = state.painted();
                    let area = areas.iter().position(|area| area.contains([x as i32, y as i32]));
                    seen.insert(area);
                    assert!(area.is_some(), "{item} at {x}, {y}");
                }
            }
        }
    }
    assert_eq!(seen, [Some(0), Some(1)].into());
}
