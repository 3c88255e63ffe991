//! The tasks that come with the crate, and what is known of all tasks of the benchmark.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use super::{Need, WorldTask};

/// The files by `category/name`, in this order, with the solutions by their seeds.
static FILES: &[(&str, &str, &[TaskSolution])] = &include!(concat!(env!("OUT_DIR"), "/shipped_tasks.rs"));

/// A recording that solves a shipped task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSolution {
    pub seed: u64,
    /// A file for [`Recording::read`](crate::record::Recording::read).
    pub recording: &'static [u8],
}

/// What is known of a task of the benchmark, whether it can be run here or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskFacts {
    #[serde(default)]
    pub category: String,
    #[serde(default)]
    pub name: String,
    pub stage: TaskStage,
    pub needs: Vec<Need>,
    /// What is wrong with the benchmark's own file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
}

/// When a task can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TaskStage {
    /// Without creatures that have a will.
    A,
    /// With creatures.
    B,
    /// In a wild world.
    C,
    /// Never.
    X,
}

/// The tasks that come with the crate, by category and name.
pub fn shipped_tasks() -> &'static [Arc<WorldTask>] {
    static TASKS: LazyLock<Vec<Arc<WorldTask>>> = LazyLock::new(|| {
        // A test reads every file, so none is left out.
        FILES.iter().filter_map(|(name, text, _)| WorldTask::parse(name, text).ok().map(Arc::new)).collect()
    });
    &TASKS
}

/// The files of the tasks that come with the crate, by `category/name`.
pub fn shipped_files() -> impl ExactSizeIterator<Item = (&'static str, &'static str)> {
    FILES.iter().map(|(name, text, _)| (*name, *text))
}

/// The recorded solutions of the shipped task with a name, or with a category and a name, by their seeds. None are shipped
/// for some tasks.
pub fn solutions(name: &str) -> &'static [TaskSolution] {
    let is_it = |known: &str| known == name || known.rsplit_once('/').is_some_and(|(_, known)| known == name);
    FILES.iter().find(|(known, ..)| is_it(known)).map_or(&[], |(.., solutions)| *solutions)
}

/// The shipped task with a name, or with a category and a name.
pub fn find_task(name: &str) -> Option<Arc<WorldTask>> {
    let is_it = |task: &WorldTask| match name.rsplit_once('/') {
        Some((category, name)) => task.category() == category && task.name() == name,
        None => task.name() == name,
    };
    shipped_tasks().iter().find(|task| is_it(task)).cloned()
}

/// All tasks of the benchmark, in the order of its categories.
pub fn catalogue() -> &'static [TaskFacts] {
    static CATALOGUE: LazyLock<Vec<TaskFacts>> = LazyLock::new(|| {
        #[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
        let categories: BTreeMap<String, BTreeMap<String, TaskFacts>> =
            toml::from_str(include_str!("../../../../tasks/catalogue.toml")).expect("the catalogue is sound");
        let all = categories.into_iter().flat_map(|(category, tasks)| {
            let named = move |(name, facts)| TaskFacts { category: category.clone(), name, ..facts };
            tasks.into_iter().map(named)
        });
        all.collect()
    });
    &CATALOGUE
}
