//! Scenes: the lands in which worlds begin. Each scene has 16 terrains, which are made from their number alone.

mod cave;
mod house;
mod meadow;

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::light::light_all;
use crate::volume::Volume;

/// How many terrains a scene has.
pub const TERRAINS: u64 = 16;

/// A land.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scene {
    /// Grass with trees, a hill and a pond.
    #[default]
    Meadow,
    /// Halls and tunnels under a mountain, with torches at the start.
    Cave,
    /// A furnished house on a meadow.
    House,
}

/// A land as it is at the start.
#[derive(Clone)]
pub struct Terrain {
    pub volume: Volume,
    /// Where the player's feet are.
    pub start: [f64; 3],
    /// Where the player looks, in thousandths of a degree.
    pub yaw: i32,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no scene {0:?}; there are meadow, cave and house")]
pub struct UnknownScene(String);

impl Scene {
    pub const ALL: [Self; 3] = [Self::Meadow, Self::Cave, Self::House];

    pub fn name(self) -> &'static str {
        match self {
            Self::Meadow => "meadow",
            Self::Cave => "cave",
            Self::House => "house",
        }
    }

    /// A place on the slope of a hill with the look to its top, if the scene has one.
    pub(crate) fn hillside(self, terrain: &Terrain, seed: u64) -> Option<([f64; 3], i32)> {
        match self {
            Self::Meadow => meadow::hillside(&terrain.volume, seed % TERRAINS),
            Self::Cave | Self::House => None,
        }
    }

    /// Where the player's feet are in one of the scene's terrains at the start, and where the player looks. It is known
    /// without making the terrain.
    pub fn start(self, number: u64) -> ([f64; 3], i32) {
        let number = number % TERRAINS;
        match self {
            Self::Meadow => meadow::start(number),
            Self::Cave => cave::start(number),
            Self::House => house::start(),
        }
    }

    /// Makes one of the scene's terrains, which takes a second.
    pub fn make(self, number: u64) -> Terrain {
        let number = number % TERRAINS;
        let mut volume = match self {
            Self::Meadow => meadow::make(number),
            Self::Cave => cave::make(number),
            Self::House => house::make(number),
        };
        volume.finish();
        light_all(&mut volume);
        let (start, yaw) = self.start(number);
        Terrain { volume, start, yaw }
    }
}

/// Terrains that have been made, the latest first. Making one takes a second, and beginning on one that is kept takes less
/// than a millisecond.
#[derive(Default)]
pub struct Terrains {
    kept: Mutex<Vec<(Scene, u64, Arc<Terrain>)>>,
}

impl Terrains {
    /// How many terrains are kept.
    pub const KEPT: usize = 8;

    /// The terrain on which worlds with a seed begin.
    pub fn get(&self, scene: Scene, seed: u64) -> Arc<Terrain> {
        let number = seed % TERRAINS;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().position(|(made, with, _)| (*made, *with) == (scene, number));
        let place = found.unwrap_or_else(|| {
            kept.truncate(Self::KEPT - 1);
            kept.push((scene, number, Arc::new(scene.make(number))));
            kept.len() - 1
        });
        kept[..=place].rotate_right(1);
        Arc::clone(&kept[0].2)
    }
}

impl FromStr for Scene {
    type Err = UnknownScene;

    fn from_str(name: &str) -> Result<Self, UnknownScene> {
        let found = Self::ALL.into_iter().find(|scene| scene.name() == name);
        found.ok_or_else(|| UnknownScene(name.chars().take(40).collect()))
    }
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The block with an id that `data/blocks.toml` has.
fn block(id: &str) -> crate::block::WorldBlock {
    let found = crate::block::WorldBlock::of(id);
    debug_assert!(found.is_some(), "{id} is not in data/blocks.toml");
    found.unwrap_or_default()
}
