//! The small things that are seen: what lies about and what flies, as boxes of a colour.

use std::sync::{LazyLock, OnceLock};

use craft::ItemId;

use super::hud::icon;
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
    // Few of the kinds are ever seen.
    static COLOURS: LazyLock<Vec<OnceLock<[u8; 3]>>> =
        LazyLock::new(|| ItemId::all().map(|_| OnceLock::new()).collect());
    *COLOURS[item.index()].get_or_init(|| mean_colour(item))
}

fn mean_colour(item: ItemId) -> [u8; 3] {
    let there = icon(item).iter().filter(|texel| texel[3] >= 128);
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

#[cfg(test)]
mod tests {
    use craft::ItemStack;

    use super::*;
    use crate::body::Aabb;
    use crate::{Terrain, Volume};

    #[test]
    fn bodies_and_the_nearest_64_small_things_are_seen() {
        let terrain = Terrain { volume: Volume::empty(), start: [10.5, 10.0, 10.5], yaw: 0 };
        let mut world = World::new(&terrain, 0);
        world.add_body(Body { bounds: Aabb::standing([200.0, 10.0, 10.0], 1.0, 1.0), colour: [1, 2, 3] });
        let planks = ItemId::of("oak_planks").unwrap();
        for x in (20..120).rev() {
            world.spill([x, 10, 10], ItemStack::new(planks, 1));
        }
        let seen: Vec<Body> = world.seen_bodies().collect();
        assert_eq!((seen.len(), seen[0].colour), (65, [1, 2, 3]));
        let places: Vec<i32> = seen[1..].iter().map(|body| body.bounds.low[0].floor() as i32).collect();
        assert_eq!(places, (20..84).collect::<Vec<_>>());
    }

    #[test]
    fn an_item_has_the_mean_colour_of_its_picture() {
        let colour = |id| colour_of(ItemId::of(id).unwrap());
        let [r, g, b] = colour("oak_planks");
        assert!(r > g && g > b, "planks are brown");
        assert_ne!(colour("apple"), colour("bread"));
    }
}
