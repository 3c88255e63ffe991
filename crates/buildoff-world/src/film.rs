//! A run as a moving picture of few bytes, for pages.

use anyhow::Context;
use voxel::image::Picture;
use world::record::Recording;
use world::{Frame, Terrains};

use crate::animation::WebpAnimation;
use crate::pictures::picture_of;
use crate::replay::STEP_MILLISECONDS;

/// How long the last picture stays, beyond its own time, before the film begins again.
const LAST_MILLISECONDS: u32 = 2000;

/// How a recording is filmed.
#[derive(Clone, Copy, Debug)]
pub struct RunFilm {
    /// Width and height, in steps of 4 pixels.
    pub size: [usize; 2],
    /// The fewest steps between two pictures. There are more in runs that would need more than `max_pictures`.
    pub every: u64,
    pub max_pictures: u64,
    /// While it is larger, every other picture is left out.
    pub max_bytes: usize,
}

/// A picture of a film, as a WebP file.
struct FilmStill {
    file: Vec<u8>,
    milliseconds: u32,
}

impl RunFilm {
    /// Runs a recording again and films it. `encode` makes a WebP file of a picture, which may have losses.
    ///
    /// # Errors
    /// If the recording cannot be run again, or a picture cannot be encoded.
    pub fn shoot(
        &self,
        recording: &Recording,
        terrains: &Terrains,
        mut encode: impl FnMut(&Picture) -> anyhow::Result<Vec<u8>>,
    ) -> anyhow::Result<Vec<u8>> {
        let every = recording.steps().div_ceil(self.max_pictures.max(1)).max(self.every).max(1);
        let milliseconds = u64::from(STEP_MILLISECONDS).saturating_mul(every).min(60_000) as u32;
        let mut frame = Frame::new(self.size[0], self.size[1]);
        let mut last = Vec::new();
        let mut stills: Vec<FilmStill> = Vec::new();
        let mut trouble = Ok(());
        let ran = recording.replay(terrains, |episode| {
            let step = episode.world().tick();
            let is_seen = step.is_multiple_of(every) || step == recording.steps();
            if trouble.is_err() || !is_seen {
                return;
            }
            episode.world().view(&mut frame);
            match stills.last_mut() {
                Some(still) if last == frame.rgb() => still.milliseconds += milliseconds,
                _ => match encode(&picture_of(&frame)) {
                    Ok(file) => stills.push(FilmStill { file, milliseconds }),
                    Err(error) => trouble = Err(error),
                },
            }
            last.clear();
            last.extend_from_slice(frame.rgb());
        });
        trouble?;
        ran.context("the recording cannot be run again")?;
        while stills.len() > 2 && stills.iter().map(|still| still.file.len()).sum::<usize>() > self.max_bytes
        {
            stills = thinned(stills);
        }
        if let Some(still) = stills.last_mut() {
            still.milliseconds += LAST_MILLISECONDS;
        }
        let mut animation = WebpAnimation::new(frame.width(), frame.height());
        for still in stills {
            animation.add_still(&still.file, still.milliseconds)?;
        }
        animation.finish()
    }
}

/// Without every other picture but the last, which shows what was reached. The pictures before take their time.
fn thinned(stills: Vec<FilmStill>) -> Vec<FilmStill> {
    let last = stills.len() - 1;
    let mut kept: Vec<FilmStill> = Vec::with_capacity(stills.len() / 2 + 1);
    for (place, still) in stills.into_iter().enumerate() {
        match kept.last_mut() {
            Some(before) if place % 2 == 1 && place < last => before.milliseconds += still.milliseconds,
            _ => kept.push(still),
        }
    }
    kept
}
