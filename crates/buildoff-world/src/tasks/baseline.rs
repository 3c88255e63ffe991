//! `tasks baseline`: what agents score that do not look.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{anyhow, bail};
use serde::Serialize;
use world::task::{TaskFacts, TaskStage, catalogue, find_task, shipped_tasks};
use world::{Action, Episode, Terrains, WorldTask};

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

/// Plays all tasks on all cores.
fn play_all(tasks: &[Arc<WorldTask>], seeds: u64) -> anyhow::Result<Vec<TaskBaseline>> {
    let terrains = Terrains::default();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut played = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(place) else { return played };
            played.push((place, play(task, seeds, &terrains)));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut played = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut played = Vec::new();
        for thread in threads {
            played.extend(thread.join().map_err(|_| anyhow!("a task could not be played"))?);
        }
        anyhow::Ok(played)
    })?;
    played.sort_by_key(|(place, _)| *place);
    Ok(played.into_iter().map(|(_, played)| played).collect())
}

fn play(task: &Arc<WorldTask>, seeds: u64, terrains: &Terrains) -> TaskBaseline {
    let mean = |random: bool| {
        let scores = (1..=seeds).map(|seed| {
            let mut numbers = ActionNumbers(seed);
            score(Episode::new(task, seed, terrains), || {
                if random { numbers.action() } else { Action::default() }
            })
        });
        scores.sum::<f64>() / seeds as f64
    };
    let task = format!("{}/{}", task.category(), task.name());
    TaskBaseline { task, noop: mean(false), random: mean(true) }
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
