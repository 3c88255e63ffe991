//! What lies over the view: the hand, the crosshair, the hot bar, hearts and food, and the screen that is open.
//!
//! It is painted for the window and then made as small as the frame. That is kept until something of it changes. While a
//! screen is open the layer covers all of the frame, and only those parts of it that change are painted again, since the
//! pointer moves in most steps.

mod bars;
mod canvas;
mod hand;
mod icons;
mod letters;
mod panel;
mod tools;

use craft::ItemStack;

use self::bars::{paint_bars, slot_area};
use self::canvas::{Canvas, PixelRect, area_of, pixels_of, squeeze};
use self::hand::paint_hand;
pub(super) use self::icons::icon;
use self::panel::Panel;
use crate::hands::SWING;
use crate::inventory::HOTBAR;
use crate::view::WINDOW;
use crate::world::World;

/// What is painted, as long as nothing changes.
#[derive(Clone, Debug, PartialEq)]
struct HudState {
    slot: usize,
    items: [Option<ItemStack>; HOTBAR],
    health: i32,
    food: i32,
    air: i32,
    swing: u8,
    /// How bright the hand is, in 256ths.
    light: u16,
    panel: Option<Panel>,
}

/// The layer over the view, in the frame's size.
#[derive(Clone, Debug)]
pub(super) struct Hud {
    size: [usize; 2],
    shown: Option<HudState>,
    /// The pixels that are not clear: their place, and red, green, blue and alpha in 256ths, times alpha.
    layer: Vec<(u32, [u16; 4])>,
}

impl Hud {
    pub fn new(width: usize, height: usize) -> Self {
        Self { size: [width, height], shown: None, layer: Vec::new() }
    }

    pub fn draw(&mut self, world: &World, rgb: &mut [u8]) {
        let state = HudState::of(world);
        if self.shown.as_ref() != Some(&state) {
            match self.shown.as_ref().and_then(|shown| state.changes_since(shown)) {
                Some(changes) => self.repaint(&state, &changes),
                None => self.paint(&state),
            }
            self.shown = Some(state);
        }
        for (at, [r, g, b, alpha]) in &self.layer {
            let at = *at as usize * 3;
            for (byte, over) in rgb[at..at + 3].iter_mut().zip([r, g, b]) {
                *byte = ((u32::from(*byte) * u32::from(256 - alpha) + u32::from(*over)) >> 8).min(255) as u8;
            }
        }
        if world.screen().is_none() {
            self.draw_crosshair(rgb);
        }
    }

    fn paint(&mut self, state: &HudState) {
        let canvas = state.paint(PixelRect::WINDOW);
        self.layer.clear();
        squeeze(&canvas, [[0, 0], self.size], self.size, |place, pixel| {
            self.layer.push((place as u32, pixel));
        });
    }

    /// Paints parts of the layer again, which covers all of the frame, so that each place is its own index.
    fn repaint(&mut self, state: &HudState, changes: &[PixelRect]) {
        for &change in changes {
            let pixels = pixels_of(change, self.size);
            let canvas = state.paint(area_of(pixels, self.size));
            squeeze(&canvas, pixels, self.size, |place, pixel| {
                if let Some(known) = self.layer.get_mut(place) {
                    known.1 = pixel;
                }
            });
        }
    }

    /// The crosshair shows the opposite of what is behind it.
    fn draw_crosshair(&self, rgb: &mut [u8]) {
        let [width, height] = self.size;
        let (middle, centre) = (width / 2, height / 2);
        // Nine pixels of the window.
        let nine = |axis: usize| (self.size[axis] * 9 / WINDOW[axis] as usize / 2).max(1);
        let (wide, high) = (nine(0), nine(1));
        let across = (middle - wide..=middle + wide).map(|x| (x, centre));
        let down = (centre - high..=centre + high).filter(|y| *y != centre).map(|y| (middle, y));
        for (x, y) in across.chain(down) {
            let at = (y * width + x) * 3;
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
            panel: Panel::of(world),
        }
    }

    /// What has to be painted again, after another state was shown. None if that is all.
    fn changes_since(&self, other: &Self) -> Option<Vec<PixelRect>> {
        let mut changes = self.panel.as_ref()?.changes_since(other.panel.as_ref()?)?;
        let held = |state: &Self| state.items.get(state.slot).copied().flatten().map(|stack| stack.item);
        let rest = |state: &Self| (state.slot, state.health, state.food, state.air, state.swing, state.light);
        if rest(self) != rest(other) || held(self) != held(other) {
            return None;
        }
        let items = self.items.iter().zip(&other.items).enumerate();
        changes.extend(items.filter(|(_, (one, other))| one != other).map(|(slot, _)| slot_area(slot)));
        Some(changes)
    }

    /// Paints a part of the window.
    fn paint(&self, area: PixelRect) -> Canvas {
        let mut canvas = Canvas::new(area);
        paint_hand(&mut canvas, self);
        paint_bars(&mut canvas, self);
        if let Some(panel) = &self.panel {
            panel.paint(&mut canvas);
        }
        canvas
    }
}
