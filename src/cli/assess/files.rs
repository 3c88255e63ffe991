//! The folder that an assessment leaves behind, in the shape in which others of this family write it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use buildoff_world::RunFilm;
use world::Terrains;
use world::record::Recording;

use crate::assess::report::{AssessmentResult, ResultFile};

/// The film of a run: every step, 20 a second.
const FILM: RunFilm = RunFilm { size: [640, 360], every: 1, max_pictures: 12_000, max_bytes: usize::MAX };

/// Of the pictures of a film, of 100.
const FILM_QUALITY: f32 = 75.0;

pub(super) struct OutputFolder(PathBuf);

impl OutputFolder {
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        create_folder(path)?;
        Ok(Self(path.to_owned()))
    }

    pub fn write_results(&self, file: &ResultFile) -> anyhow::Result<()> {
        let texts: Vec<String> = file.results.iter().map(AssessmentResult::text).collect();
        write(&self.0.join("result.txt"), texts.join("\n"))?;
        write(&self.0.join("results.json"), serde_json::to_string_pretty(file)?)
    }

    /// Writes the recording of a run, and the film of it.
    ///
    /// # Errors
    /// Also if the recording is of another world than this one, which cannot play it. It is written nevertheless.
    pub fn write_run(&self, task: &str, recording: &[u8], terrains: &Terrains) -> anyhow::Result<()> {
        let folder = self.0.join(task);
        create_folder(&folder)?;
        write(&folder.join("episode_1.run"), recording)?;
        let recording = Recording::read(recording)
            .with_context(|| format!("the recording of {task} cannot be read, so there is no film of it"))?;
        let film = FILM
            .shoot(&recording, terrains, |picture| Ok(picture.lossy_webp(FILM_QUALITY)?))
            .with_context(|| format!("the recording of {task} cannot be filmed"))?;
        write(&folder.join("episode_1.webp"), film)
    }
}

fn create_folder(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))
}

fn write(path: &Path, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}
