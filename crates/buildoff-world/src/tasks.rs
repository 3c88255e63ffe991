//! `tasks`: what there is to do, and whether task files are in order.

mod baseline;
mod solve;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde::Serialize;
use serde_json::json;
use world::task::{
    MAX_FILE, Need, TaskError, TaskFacts, TaskProblem, TaskStage, catalogue, find_task, shipped_tasks,
};
use world::{Terrains, WorldTask};

/// The most files of a folder that are looked at.
const MAX_FILES: usize = 2000;

#[derive(clap::Subcommand)]
pub enum TasksCommand {
    /// List all tasks, also those that this world cannot run.
    List {
        #[command(flatten)]
        own: OwnTasks,
        #[arg(long)]
        json: bool,
    },
    /// Show a task: what is wanted, what is paid, and its file.
    Show {
        /// Its name, with or without its category.
        name: String,
        #[command(flatten)]
        own: OwnTasks,
        #[arg(long)]
        json: bool,
    },
    /// Check task files, or all in a folder, and say what is wrong with which line.
    ///
    /// Exit codes: 0 if all are in order, 1 if something is wrong, 2 if a file cannot be read.
    Check {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Leave out what is not understood, with a warning, as for files of others.
        #[arg(long)]
        lenient: bool,
        /// On how many seeds the starts are checked.
        #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1000))]
        seeds: u64,
        #[arg(long)]
        json: bool,
    },
    /// Run the recorded solutions of a task again, compare every hash and the score, and say when what was paid.
    ///
    /// Exit codes: 0 if each is a solution still, 1 if one is not, 2 if there is none.
    Solve(solve::SolveArgs),
    /// Play the tasks with an agent that does nothing and with one that does anything, and print their mean scores.
    Baseline(baseline::BaselineArgs),
}

#[derive(clap::Args)]
pub struct OwnTasks {
    /// A folder with task files of your own; the folder `tasks` in DATA_DIR if nothing is said.
    #[arg(long, value_name = "FOLDER", env = "BUILDOFF_TASKS")]
    dir: Option<PathBuf>,
}

impl OwnTasks {
    /// A folder that was named has to be there.
    fn folder(&self) -> Option<PathBuf> {
        let usual = || Some(PathBuf::from(std::env::var_os("DATA_DIR")?).join("tasks"));
        self.dir.clone().or_else(|| usual().filter(|folder| folder.is_dir()))
    }

    /// The tasks in the folder that are in order. Of the others, it is said what is wrong.
    fn load(&self) -> anyhow::Result<Vec<WorldTask>> {
        let Some(folder) = self.folder() else { return Ok(Vec::new()) };
        let mut tasks = Vec::new();
        for file in task_files(&folder)? {
            let text = read(&file)?;
            match WorldTask::parse(&name_of(&file, Some(&folder)), &text) {
                Ok(task) => tasks.push(task),
                Err(error) => {
                    // The list goes on, also if nobody reads what is said beside it.
                    let _ = writeln!(std::io::stderr(), "{} is left out: {error}", file.display());
                }
            }
        }
        Ok(tasks)
    }
}

/// A line of the list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskEntry {
    category: String,
    name: String,
    stage: Option<TaskStage>,
    /// Whether this world can run it.
    available: bool,
    /// What this world lacks for it, or what was left out.
    warnings: Vec<TaskProblem>,
    needs: Vec<Need>,
    difficulty: Option<u8>,
    max_steps: Option<u64>,
    payable: Option<f64>,
    text: Option<String>,
    upstream: Option<String>,
}

impl TaskEntry {
    fn of(facts: Option<&TaskFacts>, task: Option<&WorldTask>) -> Self {
        let text = |of: fn(&WorldTask) -> &str, or: Option<&String>| {
            task.map(|task| of(task).to_owned()).or_else(|| or.cloned()).unwrap_or_default()
        };
        Self {
            category: text(WorldTask::category, facts.map(|facts| &facts.category)),
            name: text(WorldTask::name, facts.map(|facts| &facts.name)),
            stage: facts.map(|facts| facts.stage),
            available: task.is_some(),
            warnings: task.map(|task| task.warnings().to_vec()).unwrap_or_default(),
            needs: facts
                .map(|facts| facts.needs.clone())
                .or(task.map(|task| task.needs().to_vec()))
                .unwrap_or_default(),
            difficulty: task.and_then(WorldTask::difficulty),
            max_steps: task.map(WorldTask::max_steps),
            payable: task.map(WorldTask::payable),
            text: task.map(|task| task.text().to_owned()),
            upstream: facts.and_then(|facts| facts.upstream.clone()),
        }
    }
}

/// What is wrong with a file.
#[derive(Serialize)]
struct FileReport {
    file: String,
    problems: Vec<TaskProblem>,
    warnings: Vec<TaskProblem>,
}

pub fn run(command: &TasksCommand) -> anyhow::Result<ExitCode> {
    match command {
        TasksCommand::List { own, json } => list(own, *json),
        TasksCommand::Show { name, own, json } => show(name, own, *json),
        TasksCommand::Check { files, lenient, seeds, json } => check(files, *lenient, *seeds, *json),
        TasksCommand::Solve(args) => solve::run(args),
        TasksCommand::Baseline(args) => baseline::run(args),
    }
}

fn list(own: &OwnTasks, json: bool) -> anyhow::Result<ExitCode> {
    let known = catalogue().iter().map(|facts| {
        let task = find_task(&format!("{}/{}", facts.category, facts.name));
        TaskEntry::of(Some(facts), task.as_deref())
    });
    let own = own.load()?;
    let entries: Vec<TaskEntry> =
        known.chain(own.iter().map(|task| TaskEntry::of(None, Some(task)))).collect();
    let mut output = std::io::stdout();
    if json {
        serde_json::to_writer_pretty(&mut output, &entries)?;
        writeln!(output)?;
        return Ok(ExitCode::SUCCESS);
    }
    let width =
        entries.iter().map(|entry| entry.category.len() + entry.name.len() + 1).max().unwrap_or_default();
    for entry in &entries {
        let name = format!("{}/{}", entry.category, entry.name);
        let stage = entry.stage.map_or_else(|| "-".to_owned(), |stage| format!("{stage:?}"));
        let stars = "*".repeat(entry.difficulty.unwrap_or_default().into());
        let text = entry.text.as_deref().unwrap_or("not available");
        writeln!(output, "{name:width$}  {stage}  {stars:3}  {text}")?;
    }
    writeln!(
        output,
        "\nThe letter is the stage: A for this world, B with creatures, C with a wild world, X for never; the stars \
         are the difficulty. `tasks show NAME` says what a task needs."
    )?;
    writeln!(output, "{} tasks can be run.", entries.iter().filter(|entry| entry.available).count())?;
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str, own: &OwnTasks, json: bool) -> anyhow::Result<ExitCode> {
    let own = own.load()?;
    let is_it = |category: &str, known: &str| name == known || name == format!("{category}/{known}");
    let found = own.iter().find(|task| is_it(task.category(), task.name()));
    let shipped = find_task(name);
    let task = found.or(shipped.as_deref());
    let facts = catalogue().iter().find(|facts| is_it(&facts.category, &facts.name));
    if task.is_none() && facts.is_none() {
        bail!("there is no task {name:?}; `tasks list` has all");
    }
    let entry = TaskEntry::of(facts, task);
    let mut output = std::io::stdout();
    if json {
        let mut value = serde_json::to_value(&entry)?;
        value["file"] = json!(task.and_then(WorldTask::source));
        writeln!(output, "{value:#}")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(output, "{}/{}", entry.category, entry.name)?;
    match task {
        Some(task) => {
            writeln!(output, "{}", task.text())?;
            writeln!(
                output,
                "{} steps in the scene {}, up to {} points",
                task.max_steps(),
                task.scene(),
                task.payable()
            )?;
        }
        None => {
            let needs: Vec<&str> = entry.needs.iter().map(|need| need.words()).collect();
            writeln!(output, "It cannot be run in this world yet. It needs {}.", needs.join(", "))?;
        }
    }
    if let Some(upstream) = &entry.upstream {
        writeln!(output, "In the benchmark's own file: {upstream}.")?;
    }
    for warning in &entry.warnings {
        writeln!(output, "Warning: {warning}")?;
    }
    if let Some(source) = task.and_then(WorldTask::source) {
        write!(output, "\n{source}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check(files: &[PathBuf], lenient: bool, seeds: u64, json: bool) -> anyhow::Result<ExitCode> {
    let terrains = Terrains::default();
    let mut reports = Vec::new();
    for place in files {
        let folder = place.is_dir().then_some(place.as_path());
        let found = if let Some(folder) = folder { task_files(folder)? } else { vec![place.clone()] };
        for file in found {
            let text = read(&file)?;
            let name = name_of(&file, folder);
            let parsed = if lenient {
                WorldTask::parse_leniently(&name, &text)
            } else {
                WorldTask::parse(&name, &text)
            };
            let (problems, warnings) = match parsed {
                Ok(task) => (task.check_start(1..=seeds, &terrains), task.warnings().to_vec()),
                Err(TaskError { problems }) => (problems, Vec::new()),
            };
            reports.push(FileReport { file: file.display().to_string(), problems, warnings });
        }
    }
    let wrong = reports.iter().filter(|report| !report.problems.is_empty()).count();
    let mut output = std::io::stdout();
    if json {
        serde_json::to_writer_pretty(&mut output, &reports)?;
        writeln!(output)?;
    } else {
        for report in &reports {
            for problem in &report.problems {
                writeln!(output, "{}: {problem}", report.file)?;
            }
            for warning in &report.warnings {
                writeln!(output, "{}: warning: {warning}", report.file)?;
            }
        }
        writeln!(output, "{} of {} files are in order.", reports.len() - wrong, reports.len())?;
    }
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The task files of a folder and of its folders, in order.
fn task_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let name = folder.display();
        for entry in fs::read_dir(&folder).with_context(|| format!("{name} cannot be read"))? {
            let path = entry.with_context(|| format!("{name} cannot be read"))?.path();
            if path.is_dir() && depth < 4 {
                folders.push((path, depth + 1));
            } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
                files.push(path);
            }
            if files.len() > MAX_FILES {
                bail!("a folder has at most {MAX_FILES} task files");
            }
        }
    }
    files.sort();
    Ok(files)
}

/// `category/name`, by the file's folder.
fn name_of(file: &Path, root: Option<&Path>) -> String {
    let part = |path: Option<&std::ffi::OsStr>| path.map(|part| part.to_string_lossy().into_owned());
    let name = part(file.file_stem()).unwrap_or_default();
    let folder = file.parent().filter(|folder| Some(*folder) != root);
    match part(folder.and_then(Path::file_name)) {
        Some(category) => format!("{category}/{name}"),
        None => format!("custom/{name}"),
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    let name = file.display();
    let opened = fs::File::open(file).with_context(|| format!("{name} cannot be read"))?;
    let mut bytes = Vec::new();
    // A byte more than the longest file tells that it is too long.
    opened
        .take(MAX_FILE as u64 + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("{name} cannot be read"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The names of all tasks that this world can run.
pub fn available_names() -> Vec<String> {
    shipped_tasks().iter().map(|task| format!("{}/{}", task.category(), task.name())).collect()
}
