//! `tasks solve`: the recorded solutions, run again.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use serde::Serialize;
use world::record::Recording;
use world::task::{
    GOAL_REWARD, TaskMetrics, TaskSolution, find_task, metrics_told, shipped_tasks, solutions,
};
use world::{Episode, Terrains, WorldTask};

use crate::pictures::numbers;
use crate::replay::{ReplayCamera, ReplayPictures};

#[derive(clap::Args)]
pub struct SolveArgs {
    /// The name of the task, with or without its category.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    name: Option<String>,
    /// Only the solution on this seed.
    #[arg(long)]
    seed: Option<u64>,
    /// All solutions of all tasks.
    #[arg(long, conflicts_with_all = ["seed", "output"])]
    all: bool,
    #[arg(long)]
    json: bool,
    /// Write what was seen as an animated WebP file: the first solution, if no seed is named.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Width and height of the pictures, from 16 to 1024.
    #[arg(long, value_name = "W,H", value_parser = numbers::<usize, 2>, default_value = "128,128")]
    size: [usize; 2],
}

/// How a solution has run again.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SolutionReport {
    task: String,
    seed: u64,
    steps: u64,
    max_steps: u64,
    score: f64,
    max_score: f64,
    rewards: Vec<GivenReward>,
    /// What the task shows beside the score.
    #[serde(skip_serializing_if = "TaskMetrics::is_empty")]
    metrics: TaskMetrics,
    /// Why it is no solution.
    problem: Option<String>,
}

/// What was paid in a step.
#[derive(Serialize)]
struct GivenReward {
    step: u64,
    identity: String,
    reward: f64,
}

pub fn run(args: &SolveArgs) -> anyhow::Result<ExitCode> {
    let tasks = match &args.name {
        None => shipped_tasks().to_vec(),
        Some(name) => match find_task(name) {
            Some(task) => vec![task],
            None => bail!("there is no task {name:?} that can be run; `tasks list` has all"),
        },
    };
    let terrains = Terrains::default();
    let mut reports = Vec::new();
    for task in &tasks {
        for solution in solutions(&format!("{}/{}", task.category(), task.name())) {
            if args.seed.is_some_and(|seed| seed != solution.seed) {
                continue;
            }
            let pictures = args.output.clone().filter(|_| reports.is_empty()).map(|output| ReplayPictures {
                frames: None,
                sheet: None,
                webp: Some(output),
                size: args.size,
                every: 1,
            });
            reports.push(check(task, *solution, pictures.as_ref(), &terrains)?);
        }
    }
    if reports.is_empty() {
        bail!("no such solution is shipped");
    }
    let mut output = std::io::stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut output, &reports)?;
        writeln!(output)?;
    } else {
        for report in &reports {
            write_report(&mut output, report)?;
        }
    }
    let is_sound = reports.iter().all(|report| report.problem.is_none());
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn check(
    task: &WorldTask,
    solution: TaskSolution,
    pictures: Option<&ReplayPictures>,
    terrains: &Terrains,
) -> anyhow::Result<SolutionReport> {
    let mut report = SolutionReport {
        task: format!("{}/{}", task.category(), task.name()),
        seed: solution.seed,
        steps: 0,
        max_steps: task.max_steps(),
        score: 0.0,
        max_score: task.max_score(),
        rewards: Vec::new(),
        metrics: TaskMetrics::new(),
        problem: None,
    };
    let recording = match Recording::read(solution.recording) {
        Ok(recording) => recording,
        Err(error) => return Ok(SolutionReport { problem: Some(error.to_string()), ..report }),
    };
    report.steps = recording.steps();
    let mut camera = pictures.map(|pictures| ReplayCamera::new(pictures, recording.steps())).transpose()?;
    let mut trouble = Ok(());
    let mut given = vec![0; task.rewards().len()];
    let mut is_goal_met = false;
    let replayed = recording.replay(terrains, |episode| {
        if let (Some(camera), true) = (&mut camera, trouble.is_ok()) {
            trouble = camera.look(episode.world());
        }
        report.rewards.extend(given_now(episode, &mut given, &mut is_goal_met));
    });
    trouble?;
    report.problem = match replayed {
        Err(error) => Some(error.to_string()),
        Ok(episode) => {
            report.score = episode.score();
            report.metrics = episode.metrics();
            problem_of(task, &recording, &episode)
        }
    };
    if let Some(camera) = camera {
        camera.finish()?;
    }
    Ok(report)
}

/// What the last step has paid, by how often each reward was given before it.
fn given_now(episode: &Episode, given: &mut [u32], is_goal_met: &mut bool) -> Vec<GivenReward> {
    let (progress, step) = (episode.progress(), episode.world().tick());
    let mut now = Vec::new();
    for (place, (reward, before)) in episode.task().rewards().iter().zip(given).enumerate() {
        let times = progress.times(place);
        if times > *before {
            *before = times;
            now.push(GivenReward { step, identity: reward.identity.clone(), reward: reward.reward });
        }
    }
    if progress.is_goal_met() && !*is_goal_met {
        *is_goal_met = true;
        now.push(GivenReward { step, identity: "goal".to_owned(), reward: GOAL_REWARD });
    }
    now
}

/// Why a run that is as it was recorded solves no task.
fn problem_of(task: &WorldTask, recording: &Recording, episode: &Episode) -> Option<String> {
    if recording.beginning.task.source() != task.source() {
        Some("the file of the task is another one than when it was recorded".to_owned())
    } else if !episode.is_done() {
        Some("not everything is done".to_owned())
    } else if recording.steps() > task.max_steps() {
        Some("it takes more steps than there are".to_owned())
    } else {
        None
    }
}

fn write_report(output: &mut impl Write, report: &SolutionReport) -> std::io::Result<()> {
    let SolutionReport { task, seed, steps, max_steps, score, max_score, .. } = report;
    write!(output, "{task}, seed {seed}: {score} of {max_score} points in {steps} of {max_steps} steps, ")?;
    match &report.problem {
        None => writeln!(output, "all as recorded")?,
        Some(problem) => writeln!(output, "but {problem}")?,
    }
    for GivenReward { step, identity, reward } in &report.rewards {
        writeln!(output, "  step {step}: {identity}, {reward}")?;
    }
    if !report.metrics.is_empty() {
        writeln!(output, "  The run {}.", metrics_told(&report.metrics))?;
    }
    Ok(())
}
