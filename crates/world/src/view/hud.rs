//! What lies over the view: the hand, the crosshair, the hot bar, hearts and food, and the screen that is open.
//!
//! It is painted for the window and then made as small as the frame. That is kept, and only those parts of it that change
//! are painted again: the hand swings and the pointer moves in many steps.

mod bars;
mod canvas;
mod hand;
mod icons;
mod layer;
mod letters;
mod panel;
mod tools;

use craft::ItemStack;

use self::bars::{BARS, paint_bars, slot_area};
use self::canvas::{Canvas, PixelRect};
use self::hand::{hand_area, paint_hand};
pub(super) use self::icons::icon;
use self::layer::HudLayer;
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

/// The layer over the view, and what it shows.
#[derive(Clone, Debug)]
pub(super) struct Hud {
    size: [usize; 2],
    shown: Option<HudState>,
    layer: HudLayer,
}

impl Hud {
    pub fn new(width: usize, height: usize) -> Self {
        let size = [width, height];
        Self { size, shown: None, layer: HudLayer::new(size) }
    }

    pub fn draw(&mut self, world: &World, rgb: &mut [u8]) {
        self.show(HudState::of(world));
        self.layer.cover(rgb);
        if world.screen().is_none() {
            self.draw_crosshair(rgb);
        }
    }

    /// Paints what has changed.
    fn show(&mut self, state: HudState) {
        if self.shown.as_ref() == Some(&state) {
            return;
        }
        let changes = self.shown.as_ref().and_then(|shown| state.changes_since(shown));
        let changes = changes.unwrap_or_else(|| {
            self.layer.clear();
            state.painted()
        });
        for change in changes {
            self.layer.paint(change, |area| state.paint(area));
        }
        self.shown = Some(state);
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

    /// All that is painted.
    fn painted(&self) -> Vec<PixelRect> {
        if self.panel.is_some() { vec![PixelRect::WINDOW] } else { vec![hand_area(self), BARS] }
    }

    /// What has to be painted again, after another state was shown. None if that is all.
    fn changes_since(&self, other: &Self) -> Option<Vec<PixelRect>> {
        let mut changes = match (&self.panel, &other.panel) {
            (Some(panel), Some(before)) => panel.changes_since(before)?,
            (None, None) => Vec::new(),
            _ => return None,
        };
        let hand = |state: &Self| (state.held().map(|stack| stack.item), state.swing, state.light);
        if hand(self) != hand(other) {
            changes.push(hand_area(self).around(hand_area(other)));
        }
        let bars = |state: &Self| (state.slot, state.health, state.food, state.air);
        if bars(self) != bars(other) {
            changes.push(BARS);
            return Some(changes);
        }
        let items = self.items.iter().zip(&other.items).enumerate();
        changes.extend(items.filter(|(_, (one, other))| one != other).map(|(slot, _)| slot_area(slot)));
        Some(changes)
    }

    /// What the hand holds.
    fn held(&self) -> Option<ItemStack> {
        self.items.get(self.slot).copied().flatten()
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

#[cfg(test)]
mod tests;
