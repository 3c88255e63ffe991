//! `bench`: how many steps and pictures a second there are on one core.
//!
//! Pictures are taken in 44 poses: on a meadow, high above it, in a cave and in a house, each with ten bodies about. A run
//! goes through all of them again and again, with a step before each picture. Nothing of their hands and bars changes, as
//! it does in play: that is measured on the meadow, with an agent that does anything but open its inventory.

use std::io::Write;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

use anyhow::{Context, bail};
use serde::Serialize;
use serde_json::{Value, json};
use world::body::Aabb;
use world::{Action, Body, ENGINE, Frame, Scene, Simd, Terrain, Terrains, World};

use crate::pipe::{Kind, PipeMessage};

#[derive(clap::Args)]
pub struct BenchArgs {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// How often each figure is measured; the median counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100))]
    runs: u64,
    /// How long each run lasts, in seconds.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BenchReport {
    engine: &'static str,
    machine: String,
    simd: &'static str,
    cores: usize,
    suites: Suites,
    reset_milliseconds: f64,
    bytes_per_world: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Suites {
    rgb128: Suite,
    /// With the instructions that every processor of this kind has.
    rgb128_baseline: Suite,
    rgb64: Suite,
    /// Random actions, with a picture of 128 by 128 after each.
    played128: Suite,
    none: Suite,
    pipe: Suite,
    reset: Suite,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Suite {
    steps_per_second: f64,
    runs: Vec<f64>,
}

pub fn run(args: &BenchArgs, prefix: &[&str]) -> anyhow::Result<()> {
    let report = measure(args, prefix)?;
    let mut output = io::stdout();
    if args.json {
        writeln!(output, "{}", serde_json::to_string(&report)?)?;
        return Ok(());
    }
    let BenchReport { machine, simd, cores, suites, .. } = &report;
    writeln!(output, "{ENGINE} on {machine}, {cores} cores, {simd}; one core is used\n")?;
    for (name, Suite { steps_per_second, runs }) in [
        ("128 × 128 RGB", &suites.rgb128),
        ("128 × 128 RGB, baseline", &suites.rgb128_baseline),
        ("64 × 64 RGB", &suites.rgb64),
        ("128 × 128 RGB, played", &suites.played128),
        ("128 × 128 RGB over a pipe", &suites.pipe),
        ("no picture", &suites.none),
        ("resets", &suites.reset),
    ] {
        let (least, most) =
            (runs.iter().copied().fold(f64::MAX, f64::min), runs.iter().copied().fold(0.0, f64::max));
        writeln!(output, "{name:<26} {steps_per_second:>11.0} a second ({least:.0} to {most:.0})")?;
    }
    writeln!(
        output,
        "\n{:.2} ms a reset, {:.1} MiB for each further world",
        report.reset_milliseconds,
        report.bytes_per_world as f64 / 1_048_576.0
    )?;
    Ok(())
}

fn measure(args: &BenchArgs, prefix: &[&str]) -> anyhow::Result<BenchReport> {
    let time = Duration::from_secs_f64(args.seconds.clamp(0.01, 60.0));
    let terrains = Terrains::default();
    let mut worlds = poses(&terrains);
    let suite = |measure: &mut dyn FnMut() -> anyhow::Result<f64>| {
        let mut runs = Vec::new();
        for _ in 0..args.runs {
            runs.push(measure()?);
        }
        let mut sorted = runs.clone();
        sorted.sort_by(f64::total_cmp);
        anyhow::Ok(Suite { steps_per_second: sorted[sorted.len() / 2], runs })
    };
    let mut pictures = |edge: usize, simd: Simd| {
        let mut frame = Frame::new(edge, edge);
        suite(&mut || Ok(per_second(time, |step| show(&mut worlds, step, &mut frame, simd))))
    };
    let (rgb128, rgb128_baseline) = (pictures(128, Simd::Detected)?, pictures(128, Simd::Baseline)?);
    let rgb64 = pictures(64, Simd::Detected)?;
    let terrain = terrains.get(Scene::Meadow, 0);
    let played128 = suite(&mut || Ok(played(&terrain, time)))?;
    let mut world = World::new(&terrain, 0);
    let none = suite(&mut || Ok(per_second(time, |step| drop(world.step(&wandering(step))))))?;
    let reset = suite(&mut || Ok(per_second(time, |step| drop(World::new(&terrain, step * 16)))))?;
    let mut server = Server::start(prefix)?;
    let pipe = suite(&mut || server.steps_per_second(time))?;
    let suites = Suites { rgb128, rgb128_baseline, rgb64, played128, none, pipe, reset };
    Ok(BenchReport {
        engine: ENGINE,
        machine: machine(),
        simd: Simd::detected(),
        cores: thread::available_parallelism().map_or(1, usize::from),
        reset_milliseconds: 1000.0 / suites.reset.steps_per_second,
        bytes_per_world: world.volume().own_bytes(&terrain.volume),
        suites,
    })
}

/// How many steps are made in a pose before the next one.
const STAY: u64 = 16;

/// How often something can be done in a second.
fn per_second(time: Duration, mut act: impl FnMut(u64)) -> f64 {
    let started = Instant::now();
    let mut count = 0;
    // The clock is asked seldom enough not to be what is measured.
    while started.elapsed() < time {
        for _ in 0..STAY {
            act(count);
            count += 1;
        }
    }
    count as f64 / started.elapsed().as_secs_f64()
}

/// A step and a picture in one of the poses.
fn show(worlds: &mut [World], step: u64, frame: &mut Frame, simd: Simd) {
    let count = worlds.len() as u64;
    // As an agent, it stays in a world for a while.
    let world = &mut worlds[(step / STAY % count) as usize];
    // Each pose nods, so that no two pictures are the same.
    let nod = if step.is_multiple_of(2) { 0.5 } else { -0.5 };
    world.step(&Action::default().look(nod, nod));
    world.view_with(frame, simd);
}

/// How many random steps a second there are, each with its picture. Every run is the same.
fn played(terrain: &Terrain, time: Duration) -> f64 {
    let (mut world, mut frame) = (World::new(terrain, 0), Frame::new(128, 128));
    let mut number = 0;
    per_second(time, |step| {
        if step.is_multiple_of(EPISODE) {
            world = World::new(terrain, step);
        }
        world.step(&random(&mut number));
        world.view(&mut frame);
    })
}

/// After how many random steps a world begins anew.
const EPISODE: u64 = 2_000;

/// Any action of the compact form but the last, which opens the inventory.
fn random(number: &mut u64) -> Action {
    let mut below = |most: u64| {
        *number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*number >> 33) % most
    };
    Action::from_compact(below(8640), below(121)).unwrap_or_default()
}

/// Walking about, with turns.
fn wandering(step: u64) -> Action {
    let turn = if step % 40 < 10 { 9.0 } else { 0.0 };
    Action::default().press(world::action::Button::Forward).look(0.0, turn)
}

/// Worlds with a player in each of the 44 poses.
fn poses(terrains: &Terrains) -> Vec<World> {
    let mut poses = Vec::new();
    for (scene, count, lift, pitch) in [
        (Scene::Meadow, 12, 0.0, 0),
        (Scene::Meadow, 8, 24.0, 30_000),
        (Scene::Cave, 12, 0.0, 5_000),
        (Scene::House, 12, 0.0, 5_000),
    ] {
        for number in 0..count {
            let terrain = terrains.get(scene, number % 2);
            let mut world = World::new(&terrain, number % 2);
            let [x, y, z] = terrain.start;
            if lift > 0.0 {
                // Glass to stand on.
                let under = [x, y + lift - 1.0, z].map(|at| at.floor() as i32);
                world.set_block(under, world::block::WorldBlock::of("glass").unwrap_or_default());
            }
            let yaw = terrain.yaw + (number as i32) * 360_000 / count as i32;
            world.place_player([x, y + lift, z], yaw, pitch + (number as i32 % 3 - 1) * 10_000);
            for body in 0..10 {
                let at = [x + f64::from(body % 5) * 3.0 - 6.0, y, z + f64::from(body / 5) * 8.0 - 4.0];
                world.add_body(Body { bounds: Aabb::standing(at, 0.6, 1.8), colour: [200, 150, 110] });
            }
            poses.push(world);
        }
    }
    poses
}

/// This program, serving over a pipe.
struct Server {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Server {
    fn start(prefix: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(prefix).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("the server does not start")?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the server has no streams");
        };
        let mut server = Self { child, input, output };
        server.receive()?;
        server.ask(&PipeMessage::json(Kind::Make, &json!({ "maxSteps": 1_000_000 })))?;
        Ok(server)
    }

    fn steps_per_second(&mut self, time: Duration) -> anyhow::Result<f64> {
        self.ask(&PipeMessage::json(Kind::Reset, &json!({ "seeds": [0] })))?;
        let mut failure = Ok(());
        let rate = per_second(time, |step| {
            if failure.is_ok() {
                let action = wandering(step).to_bytes().to_vec();
                failure = self.ask(&PipeMessage::new(Kind::Step, action)).map(drop);
            }
        });
        failure.map(|()| rate)
    }

    fn ask(&mut self, message: &PipeMessage) -> anyhow::Result<PipeMessage> {
        message.write(&mut self.input)?;
        self.receive()
    }

    fn receive(&mut self) -> anyhow::Result<PipeMessage> {
        let message = PipeMessage::read(&mut self.output)?.context("the server has ended")?;
        if message.kind == Kind::Error as u8 {
            let words: Value = serde_json::from_slice(&message.body)?;
            bail!("the server says {words}");
        }
        Ok(message)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = PipeMessage::new(Kind::Close, Vec::new()).write(&mut self.input);
        let _ = self.child.wait();
    }
}

/// The name of the processor.
fn machine() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}
