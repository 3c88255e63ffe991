//! `/tasks`: what there is to do in the block world, a page for each task, and the pictures on them.

mod pictures;

use std::sync::{Arc, LazyLock};

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::Path;
use axum::routing::get;
use buildoff_world::ENGINE;
use sha2::{Digest, Sha256};
use world::WorldTask;
use world::record::Recording;
use world::task::{Metric, TaskFacts, TaskMetrics, TaskStage, catalogue, find_task, metrics_told, solutions};

use crate::app::App;
use crate::web::filters::{self, capitalised};
use crate::web::{Error, Page};

/// The seed of the pictures and of the solutions on the pages.
const SEED: u64 = 1;

pub(in crate::web) fn routes() -> Router<App> {
    Router::new()
        .route("/tasks", get(index))
        .route("/tasks/{category}/{name}", get(task))
        .merge(pictures::routes())
}

/// A task as the pages show it, whether it can be run here or not.
struct ShownTask {
    facts: &'static TaskFacts,
    task: Option<Arc<WorldTask>>,
    solution: Option<ShownSolution>,
    /// Changes with all that the task's pictures depend on.
    version: String,
}

struct ShownSolution {
    file: &'static [u8],
    steps: u64,
    score: f64,
    metrics: TaskMetrics,
}

struct TaskCategory {
    name: &'static str,
    tasks: Vec<ShownTask>,
}

/// All tasks of the benchmark, by category. None of it changes while the server runs.
static CATEGORIES: LazyLock<Vec<TaskCategory>> = LazyLock::new(|| {
    let mut categories: Vec<TaskCategory> = Vec::new();
    for facts in catalogue() {
        let task = ShownTask::new(facts);
        match categories.last_mut() {
            Some(category) if category.name == facts.category => category.tasks.push(task),
            _ => categories.push(TaskCategory { name: &facts.category, tasks: vec![task] }),
        }
    }
    categories
});

impl TaskCategory {
    fn title(&self) -> String {
        words_of(self.name)
    }

    fn available(&self) -> impl Iterator<Item = &ShownTask> {
        self.tasks.iter().filter(|task| task.task.is_some())
    }

    fn missing(&self) -> impl Iterator<Item = &ShownTask> {
        self.tasks.iter().filter(|task| task.task.is_none())
    }
}

impl ShownTask {
    fn new(facts: &'static TaskFacts) -> Self {
        let name = format!("{}/{}", facts.category, facts.name);
        let task = find_task(&name);
        let solution = solutions(&name).iter().find(|solution| solution.seed == SEED);
        let solution = solution.and_then(|solution| ShownSolution::read(solution.recording));
        let mut hash = Sha256::new_with_prefix(ENGINE);
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update(task.as_ref().and_then(|task| task.source()).unwrap_or_default());
        hash.update(solution.as_ref().map(|solution| solution.file).unwrap_or_default());
        let version = hex::encode(&hash.finalize()[..6]);
        Self { facts, task, solution, version }
    }

    fn find(category: &str, name: &str) -> Result<&'static Self, Error> {
        let mut all = CATEGORIES.iter().flat_map(|category| &category.tasks);
        let found = all.find(|task| task.facts.category == category && task.facts.name == name);
        found.ok_or_else(|| Error::not_found("There is no such task."))
    }

    fn title(&self) -> String {
        words_of(&self.facts.name)
    }

    fn category_title(&self) -> String {
        words_of(&self.facts.category)
    }

    /// From 1, the easiest, to 3.
    fn difficulty(&self) -> u8 {
        self.task.as_ref().and_then(|task| task.difficulty()).unwrap_or(1).clamp(1, 3)
    }

    fn stars(&self) -> &'static str {
        ["★☆☆", "★★☆", "★★★"][usize::from(self.difficulty()) - 1]
    }

    /// How points become a score.
    fn score_words(&self) -> String {
        let Some(task) = &self.task else { return String::new() };
        let (points, score) = (task.payable(), task.max_score());
        if (points - score).abs() < 1e-9 {
            format!("The points are the score, which is {score} at most.")
        } else {
            format!("The score is {score} for all {points} points, and that share of it for some of them.")
        }
    }

    /// What is measured beside the score, as the end of a sentence.
    fn metrics(&self) -> String {
        let metrics = self.task.iter().flat_map(|task| task.metrics());
        let words: Vec<&str> = metrics.map(|metric| metric.words()).collect();
        match words.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => String::new(),
        }
    }

    fn address(&self) -> String {
        format!("/tasks/{}/{}", self.facts.category, self.facts.name)
    }

    /// The address of a picture, or of another file about it.
    fn file(&self, name: &str) -> String {
        format!("{}/{name}?v={}", self.address(), self.version)
    }

    /// Why it cannot be run here.
    fn obstacle(&self) -> &'static str {
        match self.facts.stage {
            TaskStage::A => "parts of the world that it needs are still missing",
            TaskStage::B => "it needs creatures with a will of their own, which this world does not have yet",
            TaskStage::C => "it needs a wild world, which goes on beyond the three scenes",
            TaskStage::X => "it takes hours and other dimensions, and is not planned",
        }
    }

    fn needs(&self) -> String {
        let needs: Vec<&str> = self.facts.needs.iter().map(|need| need.words()).collect();
        needs.join(", ")
    }

    /// Its environment in Python.
    fn environment(&self) -> String {
        let words = self.facts.name.split('_').map(capitalised);
        format!("buildoff/{}-v0", words.collect::<String>())
    }
}

impl ShownSolution {
    /// None if this engine cannot run the recording again.
    fn read(file: &'static [u8]) -> Option<Self> {
        let recording = Recording::read(file).ok()?;
        let end = recording.end();
        let metrics = end.metrics.clone().unwrap_or_default();
        (recording.beginning.engine == ENGINE).then_some(Self {
            file,
            steps: end.steps,
            score: end.score,
            metrics,
        })
    }

    /// What was measured, as a sentence about it; none if nothing but its steps was.
    fn measured(&self) -> Option<String> {
        let has_more = self.metrics.keys().any(|metric| *metric != Metric::Steps);
        has_more.then(|| format!("The reference solution {}.", metrics_told(&self.metrics)))
    }

    /// How long it takes in the world's own time.
    fn seconds(&self) -> f64 {
        self.steps as f64 / 20.0
    }
}

/// The categories of which any task can be run here.
pub(super) fn available_categories() -> impl Iterator<Item = &'static str> {
    CATEGORIES.iter().filter(|category| category.available().next().is_some()).map(|category| category.name)
}

/// The steps of our own solution of a task, if there is one.
pub(super) fn solution_steps(category: &str, name: &str) -> Option<u64> {
    Some(ShownTask::find(category, name).ok()?.solution.as_ref()?.steps)
}

/// "Build a wall", of `build_a_wall`.
pub(super) fn words_of(name: &str) -> String {
    capitalised(&name.replace('_', " "))
}

#[derive(Template, WebTemplate)]
#[template(path = "tasks.html")]
struct TasksPage {
    page: Page,
    categories: &'static [TaskCategory],
    total: usize,
    available: usize,
}

async fn index() -> TasksPage {
    let categories = CATEGORIES.as_slice();
    TasksPage {
        page: Page::at("/tasks"),
        categories,
        total: categories.iter().map(|category| category.tasks.len()).sum(),
        available: categories.iter().map(|category| category.available().count()).sum(),
    }
}

#[derive(Template, WebTemplate)]
#[template(path = "task.html")]
struct WorldTaskPage {
    page: Page,
    shown: &'static ShownTask,
}

async fn task(Path((category, name)): Path<(String, String)>) -> Result<WorldTaskPage, Error> {
    Ok(WorldTaskPage { page: Page::at("/tasks"), shown: ShownTask::find(&category, &name)? })
}
