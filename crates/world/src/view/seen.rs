//! The small things that are seen: what lies about and what flies, as boxes of a colour.

use std::sync::LazyLock;

use craft::ItemId;

use super::hud::item_texel;
use crate::hash::mix;
use crate::world::{Body, World};

/// The most small things that are drawn: those that are nearest.
const MAX_SEEN: usize = 64;

impl World {
    /// The bodies that can be seen: all that stand in the world, and the nearest of what lies about and flies.
    pub(crate) fn seen_bodies(&self) -> impl Iterator<Item = Body> {
        let eyes = self.player.eyes();
        let things = self.things();
        let items = things.items().iter().map(|item| (item.bounds(), Some(item.stack.item)));
        let thrown = things.thrown().iter().map(|thrown| (thrown.bounds(), ItemId::of(thrown.kind.id())));
        let small = items.chain(thrown).map(|(bounds, item)| {
            let away = [0, 1, 2].map(|axis| bounds.low[axis] - eyes[axis]);
            let distance: f64 = away.iter().map(|part| part * part).sum();
            (distance, Body { bounds, colour: item.map_or([255; 3], colour_of) })
        });
        let mut small: Vec<(f64, Body)> = small.collect();
        // Equally near ones keep their order, so that the picture depends on the state alone.
        small.sort_by(|one, other| one.0.total_cmp(&other.0));
        small.truncate(MAX_SEEN);
        self.bodies.iter().cloned().chain(small.into_iter().map(|(_, body)| body))
    }
}

/// The mean colour of an item's picture.
fn colour_of(item: ItemId) -> [u8; 3] {
    static COLOURS: LazyLock<Vec<[u8; 3]>> = LazyLock::new(|| ItemId::all().map(mean_colour).collect());
    COLOURS.get(item.index()).copied().unwrap_or([255; 3])
}

fn mean_colour(item: ItemId) -> [u8; 3] {
    let texels = (0..256).map(|place| item_texel(item, place % 16, place / 16));
    let there = texels.filter(|texel| texel[3] >= 128);
    let (sum, count) = there.fold(([0_u32; 3], 0_u32), |(sum, count), texel| {
        ([0, 1, 2].map(|part| sum[part] + u32::from(texel[part])), count + 1)
    });
    if count > 0 {
        return sum.map(|part| (part / count) as u8);
    }
    // What has no picture has a colour of its own, neither dark nor bright.
    let number = item.id().bytes().fold(0, |number, byte| mix(number ^ u64::from(byte)));
    [0, 8, 16].map(|shift| 80 + (number >> shift & 127) as u8)
}
