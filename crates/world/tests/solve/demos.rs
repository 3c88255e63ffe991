//! Recordings of what solvers do. They are made again from what was pressed, in an episode of their own, so that a
//! recording never depends on how it was found.

use std::path::PathBuf;

use world::action::Action;
use world::record::{Recorder, Recording};
use world::{Episode, Scene, Terrains};

/// Where recordings are kept, seen from this crate: `<category>/<name>.<seed>.run`, beside the tasks.
const DEMOS: &str = "../../tasks";

/// If it is set to 1, recordings are written.
const WRITE: &str = "WRITE_DEMOS";

/// A run that a solver has played.
pub struct Demo<'a> {
    pub category: &'a str,
    pub name: &'a str,
    pub scene: Scene,
    pub seed: u64,
    pub pressed: &'a [[u64; 2]],
}

impl Demo<'_> {
    /// The recording, which runs again to its own hashes.
    ///
    /// # Panics
    /// If it does not.
    pub fn record(&self, terrains: &Terrains) -> Vec<u8> {
        let mut episode = Episode::new(self.scene, self.seed, u64::MAX, terrains);
        let mut recorder = Recorder::new(self.scene, self.seed);
        for [buttons, camera] in self.pressed {
            let action = Action::from_compact(*buttons, *camera).unwrap_or_default();
            episode.step(&action);
            recorder.note(action, episode.world());
        }
        let bytes = recorder.finish(episode.world());
        let again = Recording::read(&bytes)
            .and_then(|recording| recording.replay(&terrains.get(self.scene, self.seed), |_| ()));
        match again {
            Ok(world) => assert_eq!(world.hash(), episode.world().hash()),
            Err(error) => panic!("{}/{}: {error}", self.category, self.name),
        }
        if std::env::var(WRITE).is_ok_and(|value| value == "1") {
            self.write(&bytes);
        }
        bytes
    }

    fn write(&self, bytes: &[u8]) {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(DEMOS).join(self.category);
        let file = folder.join(format!("{}.{}.run", self.name, self.seed));
        if let Err(error) = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, bytes)) {
            panic!("{}: {error}", file.display());
        }
    }
}
