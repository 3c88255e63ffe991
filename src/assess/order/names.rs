//! The names in an order: which tasks they mean.

use world::task::{catalogue, find_task};

use super::OrderProblem;

/// The longest name in an order that is repeated to whoever sent it.
const MAX_NAME: usize = 60;

/// The category of long tasks, which must be named.
pub(super) const LONG_CATEGORY: &str = "long_horizon";

/// Names that stand for other names: `*` at the end stands for all tasks that begin so, a name with a slash for one task.
const SYNONYMS: [(&str, &[&str]); 9] = [
    ("build", &["building"]),
    ("craft", &["crafting"]),
    ("mine", &["mining_and_collecting"]),
    ("collect", &["mining_and_collecting"]),
    ("hunt", &["combat/hunt_*"]),
    ("use", &["tool_use"]),
    ("misc", &["decoration", "motion", "trapping"]),
    ("ender_dragon", &["long_horizon/ender_dragon"]),
    ("mine_diamond_from_scratch", &["long_horizon/mine_diamond_from_scratch"]),
];

/// The category and the name of a task.
type TaskName = (&'static str, &'static str);

fn all_tasks() -> impl Iterator<Item = TaskName> {
    catalogue().iter().map(|facts| (facts.category.as_str(), facts.name.as_str()))
}

/// How many tasks of a category can be run here.
pub(super) fn count_available(category: &str) -> usize {
    let of_category = catalogue().iter().filter(|facts| facts.category == category);
    of_category.filter(|facts| find_task(&format!("{category}/{}", facts.name)).is_some()).count()
}

/// All tasks of categories, in the order of the catalogue. Without a category these are all short tasks; those to choose
/// from by name are all.
pub(super) fn chosen_tasks(asked: &[String], are_named: bool) -> Result<Vec<TaskName>, OrderProblem> {
    if asked.is_empty() && are_named {
        return Ok(all_tasks().collect());
    }
    let mut patterns: Vec<&str> = Vec::new();
    let mut has_all = asked.is_empty();
    for name in asked {
        match name.as_str() {
            "overall" => has_all = true,
            name => match SYNONYMS.iter().find(|(synonym, _)| *synonym == name) {
                Some((_, meant)) => patterns.extend(*meant),
                None if all_tasks().any(|(category, _)| category == name) => patterns.push(name),
                None => return Err(unknown_category(name)),
            },
        }
    }
    let is_chosen = |(category, name): &TaskName| {
        has_all && *category != LONG_CATEGORY
            || patterns.iter().any(|pattern| match pattern.split_once('/') {
                None => pattern == category,
                Some((of, wanted)) => {
                    of == *category
                        && wanted
                            .strip_suffix('*')
                            .map_or(wanted == *name, |beginning| name.starts_with(beginning))
                }
            })
    };
    Ok(all_tasks().filter(is_chosen).collect())
}

/// Those of the tasks that are named, with or without their category, in the order of the catalogue.
pub(super) fn narrow(tasks: &[TaskName], names: &[String]) -> Result<Vec<TaskName>, OrderProblem> {
    if names.is_empty() {
        return Err(OrderProblem(
            "The list of tasks is empty. Leave it out to run all of the category.".to_owned(),
        ));
    }
    let is_named = |(category, task): &TaskName, name: &str| match name.split_once('/') {
        Some((of, name)) => of == *category && name == *task,
        None => name == *task,
    };
    for name in names {
        if tasks.iter().any(|task| is_named(task, name)) {
            continue;
        }
        let name: String = name.chars().take(MAX_NAME).collect();
        return Err(OrderProblem(match all_tasks().find(|task| is_named(task, &name)) {
            Some((category, _)) => {
                format!("The task {name:?} is not in the categories that were asked for, but in {category}.")
            }
            None => format!("There is no task {name:?}. `buildoff tasks list` has all names."),
        }));
    }
    Ok(tasks.iter().copied().filter(|task| names.iter().any(|name| is_named(task, name))).collect())
}

fn unknown_category(name: &str) -> OrderProblem {
    let mut known: Vec<&str> = Vec::new();
    for (category, _) in all_tasks() {
        if !known.contains(&category) {
            known.push(category);
        }
    }
    let name: String = name.chars().take(MAX_NAME).collect();
    OrderProblem(format!("There is no category {name:?}. Categories are {}, and overall.", known.join(", ")))
}
