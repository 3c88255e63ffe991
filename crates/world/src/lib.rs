//! A deterministic block world that programs see and act in, step by step, 20 steps to a second.
//!
//! A [`World`] begins in a [`Scene`] and goes on by [`World::step`], with an [`Action`] each. [`World::view`] draws what
//! the player sees. The same scene, seed and actions give the same states and the same pictures, bit for bit, on every
//! machine and in every build: numbers are only added, subtracted, multiplied, divided and rooted, sines come from a
//! table, and dice depend on what they are thrown for and not on when.
//!
//! It follows the rules of Minecraft 1.16.5 as far as they are known and has its ids, and is not Minecraft: there is less
//! in it, and what is drawn is drawn by us.
//!
//! The crate has no input or output, no clock and no threads.

pub mod action;
pub mod aim;
mod angle;
mod atlas;
pub mod block;
pub mod body;
pub mod carve;
pub mod containers;
mod episode;
mod events;
pub mod food;
mod grid;
mod hands;
mod hash;
pub mod interact;
pub mod inventory;
pub mod item;
mod light;
mod noise;
pub mod place;
pub mod player;
mod pocket;
pub mod record;
mod save;
mod scene;
pub mod screen;
mod spill;
mod support;
pub mod task;
pub mod things;
pub mod throw;
pub mod view;
mod volume;
mod world;

pub use action::{Action, SentAction, StepInput};
pub use craft::{ItemId, ItemStack};
pub use episode::{Batch, Episode, Lane, RunHelp, StepOutcome};
pub use events::{Event, EventKind};
pub use inventory::Inventory;
pub use save::SaveError;
pub use scene::{Scene, TERRAINS, Terrain, Terrains, UnknownScene};
pub use screen::{CraftProblem, Screen, ScreenKind, ScreenSlot};
pub use task::{TaskProgress, WorldTask};
pub use things::{ItemBody, Things};
pub use throw::{ThrownBody, ThrownKind};
pub use view::{Frame, Simd};
pub use volume::{Cell, Light, SIZE, Volume};
pub use world::{Body, World};

/// The engine, which names what recordings were made with. What changes a state, a picture or
/// [`Volume::grid`] raises its number.
pub const ENGINE: &str = "buildoff-1.1";

/// The beginning of a text from a file of others, without what a terminal would obey.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(40).collect()
}
