//! `tasks baseline`: what agents score that do not look.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{anyhow, bail};
use serde::Serialize;
use world::task::{TaskFacts, TaskStage, catalogue, find_task, shipped_tasks};
use world::{Action, Episode, Scene, TERRAINS, Terrains, WorldTask};

/// A score above which a task asks for nothing.
const TRIVIAL: f64 = 5.0;

#[derive(clap::Args)]
pub struct BaselineArgs {
    /// The names of tasks; all if none is named.
    #[arg(value_name = "TASK")]
    names: Vec<String>,
    /// On how many seeds each task is played, from 1 on.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    #[arg(long)]
    json: bool,
    /// Print the table in docs/tasks.md, with the tasks that cannot be run.
    #[arg(long, conflicts_with_all = ["json", "names"])]
    markdown: bool,
}

/// The mean scores of a task.
#[derive(Serialize)]
struct TaskBaseline {
    task: String,
    /// Of an agent that does nothing.
    noop: f64,
    /// Of one that takes each action of the compact form as often as any other.
    random: f64,
}

pub fn run(args: &BaselineArgs) -> anyhow::Result<ExitCode> {
    let mut tasks = Vec::new();
    for name in &args.names {
        match find_task(name) {
            Some(task) => tasks.push(task),
            None => bail!("there is no task {name:?} that can be run; `tasks list` has all"),
        }
    }
    if tasks.is_empty() {
        tasks = shipped_tasks().to_vec();
    }
    let played = play_all(&tasks, args.seeds)?;
    let mut output = std::io::stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut output, &played)?;
        writeln!(output)?;
    } else if args.markdown {
        writeln!(
            output,
            "| task | here | in the benchmark's own file | no-op | random |\n|---|---|---|---|---|"
        )?;
        for facts in catalogue() {
            let name = format!("{}/{}", facts.category, facts.name);
            write_row(&mut output, facts, played.iter().find(|one| one.task == name))?;
        }
    } else {
        let width = played.iter().map(|one| one.task.len()).max().unwrap_or_default();
        writeln!(output, "{:width$}  no-op  random", "")?;
        for TaskBaseline { task, noop, random } in &played {
            writeln!(output, "{task:width$}  {noop:5.2}  {random:6.2}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write_row(
    output: &mut impl Write,
    facts: &TaskFacts,
    played: Option<&TaskBaseline>,
) -> std::io::Result<()> {
    let here = match (played, facts.stage) {
        (Some(_), _) => "yes",
        (None, TaskStage::A) => "not yet",
        (None, TaskStage::B) => "not yet: creatures",
        (None, TaskStage::C) => "not yet: a wild world",
        (None, TaskStage::X) => "no",
    };
    let score = |score: f64| format!("{score:.2}{}", if score > TRIVIAL { " *trivial*" } else { "" });
    let [noop, random] =
        played.map_or_else(Default::default, |played| [score(played.noop), score(played.random)]);
    let upstream = facts.upstream.as_deref().unwrap_or_default();
    writeln!(output, "| `{}/{}` | {here} | {upstream} | {noop} | {random} |", facts.category, facts.name)
}

/// The scores of a task on a seed: its place, the seed, and the scores of the two agents.
type SeedScores = (usize, u64, [f64; 2]);

/// Plays all tasks on all cores. Making a terrain takes longer than all episodes on it, so each is made only once.
fn play_all(tasks: &[Arc<WorldTask>], seeds: u64) -> anyhow::Result<Vec<TaskBaseline>> {
    let terrains: Vec<(Scene, u64)> =
        Scene::ALL.into_iter().flat_map(|scene| (0..TERRAINS).map(move |number| (scene, number))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let (kept, mut played) = (Terrains::default(), Vec::new());
        while let Some((scene, number)) = terrains.get(next.fetch_add(1, Ordering::Relaxed)) {
            for (place, task) in tasks.iter().enumerate().filter(|(_, task)| task.scene() == *scene) {
                let seeds = (1..=seeds).filter(|seed| seed % TERRAINS == *number);
                played.extend(seeds.map(|seed| (place, seed, play(task, seed, &kept))));
            }
        }
        played
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut played: Vec<SeedScores> = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut played = Vec::new();
        for thread in threads {
            played.extend(thread.join().map_err(|_| anyhow!("a task could not be played"))?);
        }
        anyhow::Ok(played)
    })?;
    // Sums of the same numbers in another order may differ.
    played.sort_by_key(|(place, seed, _)| (*place, *seed));
    let baselines = tasks.iter().enumerate().map(|(place, task)| {
        let mean = |agent: usize| {
            let scores = played.iter().filter(|(of, ..)| *of == place).map(|(.., scores)| scores[agent]);
            scores.sum::<f64>() / seeds as f64
        };
        let task = format!("{}/{}", task.category(), task.name());
        TaskBaseline { task, noop: mean(0), random: mean(1) }
    });
    Ok(baselines.collect())
}

/// The scores of the agent that does nothing and of the one that does anything.
fn play(task: &Arc<WorldTask>, seed: u64, terrains: &Terrains) -> [f64; 2] {
    let mut numbers = ActionNumbers(seed);
    [
        score(Episode::new(task, seed, terrains), Action::default),
        score(Episode::new(task, seed, terrains), || numbers.action()),
    ]
}

fn score(mut episode: Episode, mut act: impl FnMut() -> Action) -> f64 {
    while !episode.step(&act()).is_end() {}
    episode.score()
}

/// A row of numbers that a seed begins, and that are the same on every machine: SplitMix64.
struct ActionNumbers(u64);

impl ActionNumbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((mixed ^ (mixed >> 31)) >> 32) * bound) >> 32
    }

    /// Any action of the compact form.
    fn action(&mut self) -> Action {
        Action::from_compact(self.below(8641), self.below(121)).unwrap_or_default()
    }
}
