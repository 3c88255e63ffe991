//! Saves: an episode as bytes, from which it goes on exactly as it would have gone on.
//!
//! A save is the gzip of JSON. It holds the task, how far it has come, and what is not as it was at the start: the player,
//! what lies about and what is in containers, and the blocks that were changed.
//! Light and skips follow from the blocks.

use std::io::{Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use crate::ENGINE;
use crate::block::{WorldBlock, table};
use crate::episode::{Episode, RunHelp};
use crate::light::relight;
use crate::scene::Terrains;
use crate::task::{TaskProgress, WorldTask};
use crate::volume::{Cell, contains};
use crate::world::{Body, DAY, World};

/// The most bytes of an unpacked save.
const MAX_BYTES: u64 = 64 << 20;

/// The most blocks that may have been changed, and the most bodies.
const MAX_CHANGES: usize = 1 << 20;
const MAX_BODIES: usize = 1024;

/// The most steps that a world has gone.
const MAX_TICK: u64 = 1 << 40;

#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    #[error("it is not a save: {0}")]
    Unreadable(String),
    #[error("it was made with {0}, and this is {ENGINE}; other engines cannot go on with it")]
    OtherEngine(String),
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
}

/// A save, which is written from a world that is borrowed, and read into one of its own.
#[derive(Serialize, Deserialize)]
struct Save<W> {
    engine: String,
    /// None in free play.
    task: Option<SavedTask>,
    scene: String,
    max_steps: u64,
    stops_when_done: bool,
    #[serde(default)]
    help: RunHelp,
    progress: TaskProgress,
    world: W,
    changes: Vec<(Cell, u16)>,
    hash: u64,
}

#[derive(Serialize, Deserialize)]
struct SavedTask {
    category: String,
    name: String,
    file: String,
}

impl SavedTask {
    fn of(task: &WorldTask) -> Option<Self> {
        let file = task.source()?.to_owned();
        Some(Self { category: task.category().to_owned(), name: task.name().to_owned(), file })
    }
}

impl Episode {
    pub fn save(&self) -> Vec<u8> {
        let changes = self.world.volume.changes(&self.terrain.volume).map(|(cell, block)| (cell, block.0));
        let save = Save {
            engine: ENGINE.to_owned(),
            task: SavedTask::of(&self.task),
            scene: self.scene().name().to_owned(),
            max_steps: self.max_steps,
            stops_when_done: self.stops_when_done,
            help: self.help,
            progress: self.progress.clone(),
            world: &self.world,
            changes: changes.collect(),
            hash: self.world.hash(),
        };
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        // Writing into memory does not fail.
        let _ = serde_json::to_writer(&mut packed, &save).map(|()| packed.flush());
        packed.finish().unwrap_or_default()
    }

    /// # Errors
    /// If the bytes are no save, were made by another engine, or are damaged.
    pub fn load(bytes: &[u8], terrains: &Terrains) -> Result<Self, SaveError> {
        let mut text = Vec::new();
        let unreadable = |error: &dyn ToString| SaveError::Unreadable(error.to_string());
        let read = GzDecoder::new(bytes).take(MAX_BYTES).read_to_end(&mut text);
        read.map_err(|error| unreadable(&error))?;
        let save: Save<World> = serde_json::from_slice(&text).map_err(|error| unreadable(&error))?;
        if save.engine != ENGINE {
            return Err(SaveError::OtherEngine(crate::printable(&save.engine)));
        }
        save.check()?;
        let scene = save.scene.parse().map_err(|error| unreadable(&error))?;
        let task = match &save.task {
            Some(SavedTask { category, name, file }) => {
                WorldTask::parse_leniently(&format!("{category}/{name}"), file)
                    .map_err(|error| unreadable(&error))?
            }
            None => WorldTask::free_play(scene),
        };
        if task.scene() != scene || !save.progress.is_possible(&task) {
            return Err(SaveError::Damaged("its progress is not that of its task"));
        }
        let terrain = terrains.get(scene, save.world.seed);
        let mut world = save.world;
        world.volume = terrain.volume.clone();
        for (cell, state) in save.changes {
            let block = WorldBlock(state);
            let old = world.volume.replace(cell, block);
            relight(&mut world.volume, cell, old, block);
        }
        world.volume.forget_changes();
        if world.hash() != save.hash {
            return Err(SaveError::Damaged("its parts do not belong together"));
        }
        Ok(Self {
            task: Arc::new(task),
            terrain,
            world,
            progress: save.progress,
            max_steps: save.max_steps,
            stops_when_done: save.stops_when_done,
            help: save.help,
        })
    }
}

impl Save<World> {
    fn check(&self) -> Result<(), SaveError> {
        let is_state = |state: u16| usize::from(state) < table().states.len();
        let is_place =
            |body: &Body| body.bounds.low.iter().chain(&body.bounds.high).all(|part| part.abs() <= 1e4);
        if self.changes.len() > MAX_CHANGES || self.world.bodies.len() > MAX_BODIES {
            return Err(SaveError::Damaged("it has too many parts"));
        }
        if !self.changes.iter().all(|(cell, state)| contains(*cell) && is_state(*state)) {
            return Err(SaveError::Damaged("it has blocks that do not exist"));
        }
        let World { player, inventory, hands, bodies, things, hunger, containers, .. } = &self.world;
        let is_possible = player.is_possible()
            && inventory.is_possible()
            && hands.are_possible()
            && things.are_possible()
            && hunger.is_possible()
            && containers.are_possible()
            && self.world.is_screen_possible();
        let has_time = self.world.tick <= MAX_TICK && self.world.dawn < DAY;
        if !is_possible || !has_time || !bodies.iter().all(is_place) {
            return Err(SaveError::Damaged("nobody can be in such a state"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use craft::{ItemId, ItemStack};

    use super::*;
    use crate::Scene;
    use crate::action::{Action, Button};
    use crate::throw::{ThrownBody, ThrownKind};
    use crate::view::Frame;

    fn busy(terrains: &Terrains) -> Episode {
        let mut episode = Episode::free_play(Scene::House, 3, terrains);
        let action = Action::default().press(Button::Forward).press(Button::Attack);
        for step in 0..250 {
            episode.step(
                &action.look(if step < 5 { 12.0 } else { 0.0 }, if step % 50 == 0 { 70.0 } else { 0.0 }),
            );
        }
        episode.world.set_block([130, 80, 130], WorldBlock::of("torch").unwrap());
        let sticks = ItemStack::new(ItemId::of("stick").unwrap(), 21);
        episode.world.spill([130, 80, 130], sticks);
        let id = episode.world.things.new_id();
        let (position, velocity) = ([130.5, 100.0, 130.5], [0.0, 1.0, 0.0]);
        episode.world.things.thrown.push(ThrownBody { id, kind: ThrownKind::Snowball, position, velocity });
        episode
    }

    #[test]
    fn an_episode_goes_on_from_its_save_as_it_would_have_gone_on() {
        let terrains = Terrains::default();
        let mut one = busy(&terrains);
        let mut two = Episode::load(&one.save(), &terrains).unwrap();
        let (mut seen, mut seen_again) = (Frame::new(64, 64), Frame::new(64, 64));
        for step in 0..100 {
            let action =
                Action::default().press(Button::Jump).press(Button::Attack).look(0.3, f64::from(step));
            assert_eq!(one.step(&action), two.step(&action));
            assert_eq!(one.world.hash(), two.world.hash());
            one.world.view(&mut seen);
            two.world.view(&mut seen_again);
            assert!(seen.rgb() == seen_again.rgb(), "step {step}");
        }
    }

    #[test]
    fn what_is_no_save_is_refused_in_words() {
        let terrains = Terrains::default();
        let save = busy(&terrains).save();
        let mut text = String::new();
        GzDecoder::new(&save[..]).read_to_string(&mut text).unwrap();
        let load = |text: &str| {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(text.as_bytes()).unwrap();
            Episode::load(&packed.finish().unwrap(), &terrains).map(drop).unwrap_err().to_string()
        };
        for (part, other, words) in [
            (ENGINE, "buildoff-0.1", "made with buildoff-0.1"),
            ("\"seed\":3", "\"seed\":19", "do not belong together"),
            ("\"house\"", "\"moon\"", "no scene \"moon\""),
            ("\"slot\":0", "\"slot\":10", "such a state"),
            ("\"delay\":10", "\"delay\":41", "such a state"),
            ("\"tick\":250", "\"tick\":18446744073709551615", "such a state"),
            ("\"dawn\":6000", "\"dawn\":24000", "such a state"),
            ("\"count\":21", "\"count\":65", "such a state"),
            ("\"next\":", "\"next\":0,\"other\":", "such a state"),
            ("\"saturation\":", "\"saturation\":200001,\"other\":", "such a state"),
            ("\"kind\":\"snowball\"", "\"kind\":\"snowman\"", "unknown variant"),
            ("\"item\":\"stick\"", "\"item\":\"sick\"", "no item"),
            ("[130,80,130]", "[130,80,1300]", "do not exist"),
            (
                "\"screen\":null",
                "\"screen\":{\"kind\":{\"Chest\":[1,2,3]},\"pointer\":[0,0],\"carried\":null,\"grid\":[]}",
                "such a state",
            ),
            (
                "\"screen\":null",
                "\"screen\":{\"kind\":\"Inventory\",\"pointer\":[-1,0],\"carried\":null,\"grid\":[null,null,null,null]}",
                "such a state",
            ),
            (
                "\"screen\":null",
                "\"screen\":{\"kind\":\"Inventory\",\"pointer\":[1,1],\"carried\":null,\"grid\":[]}",
                "such a state",
            ),
            (
                "\"screen\":null",
                "\"screen\":{\"kind\":\"Inventory\",\"pointer\":[1,1],\"carried\":{\"item\":\"egg\",\"count\":17},\"grid\":[null,null,null,null]}",
                "such a state",
            ),
            ("\"containers\":[]", "\"containers\":[[[1,2,3],{\"Chest\":[null]}]]", "such a state"),
            (
                "\"containers\":[]",
                "\"containers\":[[[1,2,300],{\"Furnace\":{\"slots\":[null,null,null],\"burn\":0,\"whole_burn\":0,\"cooking\":null,\"progress\":0}}]]",
                "such a state",
            ),
            (
                "\"containers\":[]",
                "\"containers\":[[[1,2,3],{\"Furnace\":{\"slots\":[null,null,null],\"burn\":9,\"whole_burn\":0,\"cooking\":null,\"progress\":0}}]]",
                "such a state",
            ),
            (
                "\"containers\":[]",
                "\"containers\":[[[1,2,3],{\"Furnace\":{\"slots\":[null,null,null],\"burn\":0,\"whole_burn\":0,\"cooking\":null,\"progress\":200}}]]",
                "such a state",
            ),
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
            let error = load(&text.replacen(part, other, 1));
            assert!(error.contains(words), "{other}: {error}");
        }
        assert!(Episode::load(b"BAD", &terrains).is_err());
        assert!(Episode::load(&save[..save.len() / 2], &terrains).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_save_with_other_bytes_is_an_episode_or_an_error(place: usize, byte: u8) {
            static TERRAINS: LazyLock<Terrains> = LazyLock::new(Terrains::default);
            let mut save = Episode::free_play(Scene::House, 0, &TERRAINS).save();
            let place = place % save.len();
            save[place] = byte;
            let _ = Episode::load(&save, &TERRAINS);
        }
    }
}
