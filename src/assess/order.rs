//! Orders: which agent is assessed, with which tasks and settings.
//!
//! An order is JSON as this family of benchmarks writes it. Names of categories that others use are understood. What is
//! wrong is refused with what would be right, before anything begins.

mod names;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use world::WorldTask;
use world::task::find_task;

use self::names::{LONG_CATEGORY, chosen_tasks, count_available, narrow};
use crate::judge::scores::{Revision, TaskLength};

/// The steps of a run for which nothing else is said.
const SHORT_STEPS: u64 = 600;
const LONG_STEPS: u64 = 12_000;
const SHORT_STEPS_MCU_0: u64 = 900;

/// The most steps of a run.
pub const MAX_STEPS: u64 = 12_000;

/// The edges that a picture may have, in pixels. The renderer wants multiples of four.
const EDGES: std::ops::RangeInclusive<u64> = 16..=1024;

const DEFAULT_SIZE: [usize; 2] = [128, 128];

/// The most names in a list of an order.
const MAX_NAMES: usize = 200;

/// Seeds are up to the largest whole number that JSON carries everywhere. The recordings that ship are of seeds 1 to 3,
/// which are never drawn.
const MAX_SEED: u64 = (1 << 53) - 1;
const FIRST_DRAWN_SEED: u64 = 1000;

/// What is ordered, understood and checked.
#[derive(Clone, Debug)]
pub struct AssessmentOrder {
    /// A key or an address.
    pub agent: String,
    /// The categories as they were asked for.
    pub asked: Vec<String>,
    /// Our own names of the categories of the tasks.
    pub categories: Vec<String>,
    pub tasks: Vec<OrderedTask>,
    /// Tasks of the categories that this installation cannot run.
    pub unavailable: Vec<String>,
    pub revision: Revision,
    pub judge: Option<String>,
    /// None if it is drawn.
    pub seed: Option<u64>,
    /// Width and height of the pictures.
    pub size: [usize; 2],
    pub stops_when_done: bool,
}

#[derive(Clone, Debug)]
pub struct OrderedTask {
    pub task: Arc<WorldTask>,
    pub length: TaskLength,
    pub max_steps: u64,
    /// Whether this is how many steps the task has if nobody says otherwise.
    pub has_usual_steps: bool,
}

/// What is wrong with an order, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OrderProblem(String);

/// An order. Only `participants.agent` must be there.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AssessmentOrder)]
pub struct OrderBody {
    participants: OrderedParticipants,
    #[serde(default)]
    config: ConfigBody,
}

#[derive(Deserialize, ToSchema)]
#[schema(as = AssessmentParticipants)]
struct OrderedParticipants {
    /// The key of an agent, or its address.
    #[schema(example = "http://127.0.0.1:9019")]
    agent: String,
}

/// What an order may say besides the agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = AssessmentConfig)]
pub struct ConfigBody {
    /// Categories, or the name of one; all short tasks if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, example = json!(["crafting"]))]
    pub task_category: Option<NameList>,
    /// Tasks of these categories, with or without their category; all if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, example = json!(["craft_ladder"]))]
    pub tasks: Option<NameList>,
    /// Steps of each run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 600, minimum = 1, maximum = 12000)]
    pub max_steps: Option<u64>,
    /// How scores are put together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Revision>)]
    pub revision: Option<String>,
    /// The model that judges the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// The seed of the worlds. With one that was asked for, the result is not ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 7)]
    pub seed: Option<u64>,
    /// Width and height of the pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = json!([128, 128]))]
    pub obs_size: Option<[u64; 2]>,
    /// Whether a run ends as soon as everything in it has been paid.
    pub stop_when_done: bool,
}

/// A list of names, or a single one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "a name or a list of names")]
pub enum NameList {
    One(String),
    Many(Vec<String>),
}

impl NameList {
    fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }
}

/// A seed that nobody knows before.
pub fn draw_seed() -> u64 {
    rand::random_range(FIRST_DRAWN_SEED..=MAX_SEED)
}

impl AssessmentOrder {
    /// The categories that are ordered as their boards want them: all tasks that can be run here, at their usual number
    /// of steps and size of pictures, with a seed that is drawn.
    pub fn whole_categories(&self) -> Vec<&str> {
        let is_drawn = self.seed.is_none() && self.size == DEFAULT_SIZE;
        let ordered = |category: &str| {
            let of_category = self.tasks.iter().filter(|task| task.task.category() == category);
            of_category.filter(|task| task.has_usual_steps).count()
        };
        let is_whole = |category: &&String| ordered(category) == count_available(category);
        self.categories.iter().filter(|_| is_drawn).filter(is_whole).map(String::as_str).collect()
    }

    pub fn read(body: &Value) -> Result<Self, OrderProblem> {
        if !body.is_object() {
            let example = r#"{"participants": {"agent": "https://agents.example"}}"#;
            return Err(OrderProblem(format!("An order is an object such as {example}.")));
        }
        let order = OrderBody::deserialize(with_whole_numbers(body))
            .map_err(|error| OrderProblem(format!("The order: {error}.")))?;
        Self::new(order.participants.agent, &order.config)
    }

    pub fn new(agent: String, config: &ConfigBody) -> Result<Self, OrderProblem> {
        let revision = match &config.revision {
            None => Revision::default(),
            Some(name) => name.parse().map_err(|error| OrderProblem(format!("The revision {error}.")))?,
        };
        let max_steps = config.max_steps.map(checked_steps).transpose()?;
        let names = |list: &Option<NameList>| list.as_ref().map(|list| list.names().to_vec());
        let (asked, narrowed) = (names(&config.task_category).unwrap_or_default(), names(&config.tasks));
        if asked.len().max(narrowed.as_ref().map_or(0, Vec::len)) > MAX_NAMES {
            return Err(OrderProblem(format!("A list has at most {MAX_NAMES} names.")));
        }
        let mut chosen = chosen_tasks(&asked, narrowed.is_some())?;
        if let Some(narrowed) = &narrowed {
            chosen = narrow(&chosen, narrowed)?;
        }
        let mut unavailable = Vec::new();
        let mut tasks = Vec::new();
        for (category, name) in chosen {
            match find_task(&format!("{category}/{name}")) {
                Some(task) => tasks.push(OrderedTask::new(task, max_steps, revision)),
                None => unavailable.push(name.to_owned()),
            }
        }
        if tasks.is_empty() {
            let missing = unavailable.join(", ");
            return Err(OrderProblem(format!("This world cannot run any of these tasks yet: {missing}.")));
        }
        let mut categories: Vec<String> = Vec::new();
        for task in &tasks {
            let category = task.task.category();
            if !categories.iter().any(|known| known == category) {
                categories.push(category.to_owned());
            }
        }
        Ok(Self {
            agent,
            asked,
            categories,
            tasks,
            unavailable,
            revision,
            judge: config.judge.clone().filter(|judge| !judge.is_empty()),
            seed: config.seed.map(checked_seed).transpose()?,
            size: config.obs_size.map_or(Ok(DEFAULT_SIZE), checked_size)?,
            stops_when_done: config.stop_when_done,
        })
    }
}

impl OrderedTask {
    /// A task of a run. None if this version does not have it.
    pub fn named(category: &str, name: &str, max_steps: u64) -> Option<Self> {
        let task = find_task(&format!("{category}/{name}"))?;
        Some(Self::new(task, Some(max_steps), Revision::default()))
    }

    fn new(task: Arc<WorldTask>, max_steps: Option<u64>, revision: Revision) -> Self {
        let length = if task.category() == LONG_CATEGORY { TaskLength::Long } else { TaskLength::Short };
        let usual = match (length, revision) {
            (TaskLength::Long, _) => LONG_STEPS,
            (TaskLength::Short, Revision::Mcu0) => SHORT_STEPS_MCU_0,
            (TaskLength::Short, _) => SHORT_STEPS,
        };
        let max_steps = max_steps.unwrap_or(usual);
        Self { length, max_steps, has_usual_steps: max_steps == usual, task }
    }
}

/// The same with whole numbers for floats without a fraction: programs that know nothing but floats, such as all that
/// send data by protocol buffers, write 600 as 600.0.
fn with_whole_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float)
                if number.is_f64() && float.fract() == 0.0 && (0.0..=MAX_SEED as f64).contains(&float) =>
            {
                Value::from(float as u64)
            }
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(with_whole_numbers).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), with_whole_numbers(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

fn checked_steps(steps: u64) -> Result<u64, OrderProblem> {
    if (1..=MAX_STEPS).contains(&steps) {
        return Ok(steps);
    }
    Err(OrderProblem(format!("The number of steps, max_steps, goes from 1 to {MAX_STEPS}.")))
}

fn checked_seed(seed: u64) -> Result<u64, OrderProblem> {
    if seed <= MAX_SEED {
        return Ok(seed);
    }
    Err(OrderProblem(format!("The seed goes from 0 to {MAX_SEED}.")))
}

fn checked_size(size: [u64; 2]) -> Result<[usize; 2], OrderProblem> {
    if size.iter().all(|edge| EDGES.contains(edge) && edge % 4 == 0) {
        return Ok(size.map(|edge| edge as usize));
    }
    let (least, most) = (EDGES.start(), EDGES.end());
    Err(OrderProblem(format!(
        "The size of the pictures, obs_size, is width and height, from {least} to {most} in steps of 4."
    )))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn order(config: &Value) -> Result<AssessmentOrder, OrderProblem> {
        AssessmentOrder::read(
            &json!({ "participants": { "agent": "http://127.0.0.1:9019" }, "config": config }),
        )
    }

    fn names(order: &AssessmentOrder) -> Vec<&str> {
        order.tasks.iter().map(|task| task.task.name()).collect()
    }

    #[test]
    fn only_the_agent_must_be_named_and_all_short_tasks_are_run_then() {
        let order = AssessmentOrder::read(&json!({ "participants": { "agent": "noop" } })).unwrap();
        assert_eq!(order.agent, "noop");
        assert!(order.tasks.len() >= 46);
        assert!(order.tasks.iter().all(|task| task.max_steps == 600));
        assert!(order.tasks.iter().all(|task| task.task.category() != LONG_CATEGORY));
    }

    #[test]
    fn categories_are_a_list_or_one_name_and_others_names_are_understood() {
        let crafting = order(&json!({ "task_category": "crafting" })).unwrap();
        assert_eq!(names(&order(&json!({ "task_category": ["craft"] })).unwrap()), names(&crafting));
        let misc = order(&json!({ "task_category": ["misc"] })).unwrap();
        assert_eq!(misc.asked, ["misc"]);
        assert_eq!(misc.categories, ["decoration", "motion"]);
        let overall = order(&json!({ "task_category": "overall" })).unwrap();
        assert_eq!(names(&overall), names(&order(&json!({})).unwrap()));
    }

    #[test]
    fn tasks_narrow_a_category_and_may_be_named_without_one() {
        let both = order(&json!({ "task_category": ["crafting"], "tasks": ["craft_ladder"] })).unwrap();
        assert_eq!(names(&both), ["craft_ladder"]);
        let alone = order(&json!({ "tasks": ["crafting/craft_ladder"] })).unwrap();
        assert_eq!(names(&alone), ["craft_ladder"]);
    }

    #[test]
    fn what_cannot_be_run_is_not_available_and_never_scored() {
        let crafting = order(&json!({ "task_category": "crafting" })).unwrap();
        assert!(crafting.unavailable.contains(&"craft_to_cake".to_owned()));
        let problem = order(&json!({ "task_category": "combat" })).unwrap_err().to_string();
        assert!(problem.contains("cannot run any of these tasks yet: combat_enderman"), "{problem}");
    }

    #[test]
    fn the_older_revision_has_more_steps() {
        let steps = |config: Value| order(&config).unwrap().tasks[0].max_steps;
        assert_eq!(steps(json!({ "revision": "mcu-0" })), 900);
        assert_eq!(steps(json!({ "revision": "mcu-1-code" })), 600);
        assert_eq!(steps(json!({ "max_steps": 12_000 })), 12_000);
    }

    #[test]
    fn floats_without_a_fraction_are_whole_numbers() {
        let ordered = order(&json!({ "max_steps": 7.0, "seed": 9.0, "obs_size": [64.0, 32.0] })).unwrap();
        assert_eq!((ordered.tasks[0].max_steps, ordered.seed, ordered.size), (7, Some(9), [64, 32]));
        assert!(order(&json!({ "max_steps": 7.5 })).is_err());
        assert!(order(&json!({ "max_steps": -7.0 })).is_err());
    }

    #[test]
    fn what_is_wrong_is_refused_with_what_would_be_right() {
        for (config, words) in [
            (json!({ "task_category": "cooking" }), "Categories are building, combat, crafting"),
            (json!({ "task_category": 7 }), "a name or a list of names"),
            (json!({ "tasks": [] }), "Leave it out"),
            (json!({ "tasks": ["fly"] }), "no task \"fly\""),
            (json!({ "task_category": "motion", "tasks": ["craft_ladder"] }), "but in crafting"),
            (json!({ "max_steps": 0 }), "from 1 to 12000"),
            (json!({ "max_steps": 12_001 }), "from 1 to 12000"),
            (json!({ "revision": "mcu-2" }), "mcu-1, mcu-0, mcu-1-code"),
            (json!({ "obs_size": [128, 127] }), "in steps of 4"),
            (json!({ "obs_size": [128] }), "length 2"),
            (json!({ "max_step": 7 }), "max_steps"),
        ] {
            let problem = order(&config).unwrap_err().to_string();
            assert!(problem.contains(words), "{config}: {problem}");
        }
        let problem = AssessmentOrder::read(&json!({ "participants": {} })).unwrap_err().to_string();
        assert!(problem.contains("agent"), "{problem}");
    }
}
