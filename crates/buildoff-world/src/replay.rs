//! `replay`: a recording run again, and what was seen in it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use voxel::image::Picture;
use world::record::{Recording, RecordingError};
use world::{Frame, Terrains, World};

use crate::animation::WebpAnimation;
use crate::pictures::{numbers, picture_of};

/// The most bytes of a recording's file.
const MAX_FILE: u64 = 16 << 20;

/// A step lasts a twentieth of a second.
pub const STEP_MILLISECONDS: u32 = 50;

/// How many pictures a contact sheet has, and how many stand beside each other.
const SHEET_PICTURES: u64 = 40;
const SHEET_COLUMNS: usize = 8;

/// The most pictures of an animation, which is kept in memory.
const MAX_PICTURES: u64 = 20_000;

#[derive(clap::Args)]
pub struct ReplayArgs {
    /// The recording.
    file: PathBuf,
    #[command(flatten)]
    pictures: ReplayPictures,
}

/// What a run is made into.
#[derive(clap::Args)]
pub struct ReplayPictures {
    /// Write each picture as a PNG file into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub frames: Option<PathBuf>,
    /// Write 40 pictures, spread over the run, as one PNG file.
    #[arg(long, value_name = "FILE")]
    pub sheet: Option<PathBuf>,
    /// Write the run as an animated WebP file.
    #[arg(long, value_name = "FILE")]
    pub webp: Option<PathBuf>,
    /// Width and height of the pictures, from 16 to 1024.
    #[arg(long, value_name = "W,H", value_parser = numbers::<usize, 2>, default_value = "128,128")]
    pub size: [usize; 2],
    /// Look only at every so many steps.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
}

pub fn run(args: &ReplayArgs) -> anyhow::Result<ExitCode> {
    let name = args.file.display();
    let file = File::open(&args.file).with_context(|| format!("{name} cannot be read"))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).with_context(|| format!("{name} cannot be read"))?;
    let recording = Recording::read(&bytes).with_context(|| name.to_string())?;
    let mut camera = ReplayCamera::new(&args.pictures, recording.steps())?;
    let mut trouble = Ok(());
    let replayed = recording.replay(&Terrains::default(), |episode| {
        if trouble.is_ok() {
            trouble = camera.look(episode.world());
        }
    });
    trouble?;
    let mut output = std::io::stdout();
    match replayed {
        Ok(episode) => {
            camera.finish()?;
            writeln!(
                output,
                "{} steps, all as recorded; the last hash is {:016x}",
                recording.steps(),
                episode.world().hash()
            )?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error @ (RecordingError::Differs { .. } | RecordingError::OtherScore)) => {
            writeln!(output, "{name}: {error}")?;
            Ok(ExitCode::from(1))
        }
        Err(error) => Err(error).with_context(|| name.to_string()),
    }
}

/// Looks at a run for the files that were asked for.
pub struct ReplayCamera<'a> {
    args: &'a ReplayPictures,
    frame: Frame,
    /// How many steps lie between two pictures of the sheet.
    apart: u64,
    sheet: Vec<Picture>,
    animation: Option<WebpAnimation>,
}

impl<'a> ReplayCamera<'a> {
    pub fn new(args: &'a ReplayPictures, steps: u64) -> anyhow::Result<Self> {
        if args.webp.is_some() && steps / args.every > MAX_PICTURES {
            bail!("an animation has at most {MAX_PICTURES} pictures; leave some out with --every");
        }
        let frame = Frame::new(args.size[0], args.size[1]);
        if let Some(folder) = &args.frames {
            let name = folder.display();
            fs::create_dir_all(folder).with_context(|| format!("{name} cannot be made"))?;
        }
        let animation = args.webp.is_some().then(|| WebpAnimation::new(frame.width(), frame.height()));
        let apart = steps.div_ceil(SHEET_PICTURES).max(1);
        Ok(Self { args, frame, apart, sheet: Vec::new(), animation })
    }

    pub fn look(&mut self, world: &World) -> anyhow::Result<()> {
        let step = world.tick();
        let is_one = step.is_multiple_of(self.args.every);
        let is_on_sheet = self.args.sheet.is_some() && step.is_multiple_of(self.apart);
        let frames = self.args.frames.as_ref().filter(|_| is_one);
        let animation = self.animation.as_mut().filter(|_| is_one);
        if frames.is_none() && animation.is_none() && !is_on_sheet {
            return Ok(());
        }
        world.view(&mut self.frame);
        if let Some(folder) = frames {
            write(&folder.join(format!("{step:06}.png")), &picture_of(&self.frame).png())?;
        }
        if let Some(animation) = animation {
            let milliseconds = u64::from(STEP_MILLISECONDS).saturating_mul(self.args.every);
            animation.add(&self.frame, milliseconds.min(60_000) as u32)?;
        }
        if is_on_sheet {
            self.sheet.push(picture_of(&self.frame));
        }
        Ok(())
    }

    pub fn finish(self) -> anyhow::Result<()> {
        if let Some(file) = &self.args.sheet {
            write(file, &Picture::sheet(&self.sheet, SHEET_COLUMNS).opaque_png())?;
        }
        if let (Some(file), Some(animation)) = (&self.args.webp, self.animation) {
            write(file, &animation.finish()?)?;
        }
        Ok(())
    }
}

fn write(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    fs::write(file, bytes).with_context(|| format!("{} cannot be written", file.display()))
}
