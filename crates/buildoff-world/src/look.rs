//! `look`: what a player sees in a scene.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use world::{Frame, Scene, World};

use crate::pictures::{numbers, picture_of};

#[derive(clap::Args)]
pub struct LookArgs {
    /// meadow, cave or house.
    scene: Scene,
    /// What is left to chance; it also chooses one of the scene's 16 terrains.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Where the feet are, instead of at the scene's start.
    #[arg(long, value_name = "X,Y,Z", value_parser = numbers::<f64, 3>)]
    at: Option<[f64; 3]>,
    /// Degrees to the right of the scene's first look.
    #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
    turn: f64,
    /// Degrees below the horizon.
    #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
    pitch: f64,
    /// The time of day, from 0 to 23999; 6000 is noon.
    #[arg(long, default_value_t = 6000)]
    time: u64,
    /// Width and height in pixels, from 16 to 1024.
    #[arg(long, value_name = "W,H", value_parser = numbers::<usize, 2>, default_value = "640,360")]
    size: [usize; 2],
    /// The PNG file.
    #[arg(short, long, default_value = "view.png")]
    output: PathBuf,
}

pub fn run(args: &LookArgs) -> anyhow::Result<()> {
    let terrain = args.scene.make(args.seed);
    let mut world = World::new(&terrain, args.seed);
    world.set_time(args.time);
    let place = args.at.unwrap_or(terrain.start);
    ensure!(place.iter().all(|part| part.abs() <= 1e4), "--at is too far away");
    let thousandths = |degrees: f64| (degrees.clamp(-3600.0, 3600.0) * 1000.0) as i32;
    world.place_player(place, terrain.yaw + thousandths(args.turn), thousandths(args.pitch));
    let mut frame = Frame::new(args.size[0], args.size[1]);
    world.view(&mut frame);
    let name = args.output.display();
    fs::write(&args.output, picture_of(&frame).opaque_png())
        .with_context(|| format!("{name} cannot be written"))
}
