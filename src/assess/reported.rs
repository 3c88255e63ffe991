//! Results that others have published, read whatever their shape.
//!
//! Three shapes are in use. Ours has `sim_score`, `video_score` and `total_score` for each task. The first text of the
//! family (`mcu-0`) has one number for each task. Its newest program (`mcu-head`) has `score` beside the criteria, and names
//! the sums `total_max_score` and `avg_…`. What is read is *reported*: nothing here has been run or checked by us.

use serde::Serialize;
use serde_json::{Map, Value};

/// The largest file.
pub const MAX_REPORT_BYTES: usize = 4 << 20;

const MAX_RESULTS: usize = 1000;
const MAX_TASKS: usize = 10_000;
const MAX_NAME: usize = 200;

/// A result as somebody has published it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportedResult {
    /// Whoever was assessed, in the words of the file.
    pub agent: String,
    pub shape: ReportedShape,
    pub categories: Vec<String>,
    /// How scores are put together, and the engine of the world, if the file says so.
    pub revision: Option<String>,
    pub world: Option<String>,
    pub total: f64,
    /// None if the file does not say it.
    pub max: Option<f64>,
    pub tasks: Vec<ReportedTask>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportedShape {
    /// With the scores of the world and of the judge.
    #[serde(rename = "mcu-1")]
    Mcu1,
    /// With one number for each task.
    #[serde(rename = "mcu-0")]
    Mcu0,
    /// As the newest program of the family writes it.
    McuHead,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportedTask {
    pub name: String,
    pub sim: Option<f64>,
    pub video: Option<f64>,
    pub score: Option<f64>,
    /// Why there is no score.
    pub error: Option<String>,
}

/// What cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ReportProblem {
    pub place: String,
    pub message: String,
}

/// Reads a file of results.
pub fn read_report(bytes: &[u8]) -> Result<Vec<ReportedResult>, ReportProblem> {
    if bytes.len() > MAX_REPORT_BYTES {
        return Err(problem("the file", format!("it is larger than {} MiB", MAX_REPORT_BYTES >> 20)));
    }
    let file: Value = serde_json::from_slice(bytes)
        .map_err(|error| problem("the file", format!("it is not JSON: {error}")))?;
    let agent = match &file["participants"] {
        Value::Object(participants) => participants.values().find_map(Value::as_str),
        _ => None,
    };
    let agent = short(agent.unwrap_or("unknown"));
    let Some(results) = file["results"].as_array() else {
        return Err(problem("results", "there is no list of results"));
    };
    if results.len() > MAX_RESULTS {
        return Err(problem("results", format!("there are more than {MAX_RESULTS}")));
    }
    // Some runners put the list of an agent into another list.
    let results = results.iter().flat_map(|result| match result {
        Value::Array(inner) => inner.iter().collect(),
        other => vec![other],
    });
    let mut count = 0;
    results.enumerate().map(|(at, result)| read_result(&agent, at, result, &mut count)).collect()
}

fn read_result(
    agent: &str,
    at: usize,
    result: &Value,
    count: &mut usize,
) -> Result<ReportedResult, ReportProblem> {
    let place = format!("results[{at}]");
    let Some(metrics) = result["task_metrics"].as_object() else {
        return Err(problem(place, "there are no task_metrics"));
    };
    *count += metrics.len();
    if *count > MAX_TASKS {
        return Err(problem(place, format!("the file has more than {MAX_TASKS} tasks")));
    }
    let mut shape = None;
    let mut tasks = Vec::with_capacity(metrics.len());
    for (name, scores) in metrics {
        let (of_task, task) = read_task(name, scores).ok_or_else(|| {
            problem(
                format!("{place}.task_metrics.{}", short(name)),
                "it is neither a number nor an object of scores",
            )
        })?;
        if *shape.get_or_insert(of_task) != of_task {
            return Err(problem(place, "its tasks are written in different shapes"));
        }
        tasks.push(task);
    }
    let total = result["total_score"].as_f64();
    let total = total
        .unwrap_or_else(|| tasks.iter().filter_map(|task| task.score).fold(0.0, |sum, score| sum + score));
    let text = |field: &str| result[field].as_str().map(short);
    Ok(ReportedResult {
        agent: agent.to_owned(),
        shape: shape.unwrap_or(ReportedShape::Mcu1),
        categories: categories(&result["task_category"]),
        revision: text("revision"),
        world: text("world"),
        total,
        max: result["max_score"].as_f64().or_else(|| result["total_max_score"].as_f64()),
        tasks,
    })
}

fn read_task(name: &str, scores: &Value) -> Option<(ReportedShape, ReportedTask)> {
    let task = ReportedTask { name: short(name), sim: None, video: None, score: None, error: None };
    if let Some(score) = scores.as_f64() {
        return Some((ReportedShape::Mcu0, ReportedTask { score: Some(score), ..task }));
    }
    let scores = scores.as_object()?;
    let number = |field: &str| scores.get(field).and_then(Value::as_f64);
    let error = scores.get("error").and_then(Value::as_str).map(short);
    let task = ReportedTask { sim: number("sim_score"), error, ..task };
    if scores.contains_key("total_score") {
        let task = ReportedTask { video: number("video_score"), score: number("total_score"), ..task };
        return Some((ReportedShape::Mcu1, task));
    }
    let is_head = scores.contains_key("score") || scores.contains_key("max_score");
    is_head.then(|| {
        (
            ReportedShape::McuHead,
            ReportedTask { video: mean_of_criteria(scores), score: number("score"), ..task },
        )
    })
}

/// The plain mean of the judge's criteria that apply; others are "N/A".
fn mean_of_criteria(scores: &Map<String, Value>) -> Option<f64> {
    const NO_CRITERIA: [&str; 4] = ["max_score", "sim_score", "score", "error"];
    let criteria = scores.iter().filter(|(name, _)| !NO_CRITERIA.contains(&name.as_str()));
    let given: Vec<f64> = criteria.filter_map(|(_, score)| score.as_f64()).collect();
    (!given.is_empty()).then(|| given.iter().sum::<f64>() / given.len() as f64)
}

fn categories(value: &Value) -> Vec<String> {
    match value {
        Value::String(name) => vec![short(name)],
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(short).collect(),
        _ => Vec::new(),
    }
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect()
}

fn problem(place: impl Into<String>, message: impl Into<String>) -> ReportProblem {
    ReportProblem { place: place.into(), message: message.into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(file: &Value) -> Vec<ReportedResult> {
        read_report(file.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn our_own_shape_is_read_with_what_it_says_of_itself() {
        let results = read(&json!({ "participants": { "agent": "tower" }, "results": [{
            "task_category": ["crafting"], "num_tasks": 2, "total_score": 9.2, "max_score": 20,
            "task_metrics": {
                "craft_oak_planks": { "sim_score": 10.0, "video_score": 8.4, "total_score": 9.2 },
                "craft_ladder": { "sim_score": 0.0, "video_score": null, "total_score": null, "error": "gone" },
            },
            "revision": "mcu-1", "world": "buildoff-1",
        }] }));
        let result = &results[0];
        assert_eq!((result.agent.as_str(), result.shape), ("tower", ReportedShape::Mcu1));
        assert_eq!(
            (result.total, result.max, result.world.as_deref()),
            (9.2, Some(20.0), Some("buildoff-1"))
        );
        assert_eq!((result.tasks[0].sim, result.tasks[0].video), (Some(10.0), Some(8.4)));
        assert_eq!((result.tasks[1].score, result.tasks[1].error.as_deref()), (None, Some("gone")));
    }

    #[test]
    fn the_first_text_has_one_number_for_each_task() {
        let results = read(&json!({ "participants": { "agent": "a" }, "results": [[{
            "task_category": "crafting", "num_tasks": 2, "total_score": 11.5,
            "task_metrics": { "craft_ladder": 4.5, "craft_clock": 7 },
        }]] }));
        assert_eq!(results[0].shape, ReportedShape::Mcu0);
        assert_eq!(results[0].categories, ["crafting"]);
        assert_eq!(
            results[0].tasks.iter().map(|task| task.score).collect::<Vec<_>>(),
            [Some(4.5), Some(7.0)]
        );
    }

    #[test]
    fn the_newest_program_has_a_score_beside_its_criteria() {
        let results = read(&json!({ "participants": {}, "results": [{
            "task_category": ["motion"], "total_max_score": 10, "avg_sim_score": 5.0,
            "task_metrics": { "drop_an_item": {
                "max_score": 10, "sim_score": 5.0, "score": 6.0, "Task Progress": 8.0, "Action Control": 6.0,
                "Material Selection and Usage": "N/A",
            } },
        }] }));
        let result = &results[0];
        assert_eq!((result.agent.as_str(), result.shape), ("unknown", ReportedShape::McuHead));
        assert_eq!((result.total, result.max), (6.0, Some(10.0)), "a total that is not there is the sum");
        assert_eq!(result.tasks[0].video, Some(7.0), "what is not applicable has no part in the mean");
    }

    #[test]
    fn what_is_no_report_is_told_with_its_place() {
        for (file, place) in [
            (json!([]), "results"),
            (json!({ "results": [{}] }), "results[0]"),
            (json!({ "results": [{ "task_metrics": { "a": "good" } }] }), "results[0].task_metrics.a"),
            (json!({ "results": [{ "task_metrics": { "a": 1, "b": { "total_score": 1 } } }] }), "results[0]"),
        ] {
            assert_eq!(read_report(file.to_string().as_bytes()).unwrap_err().place, place, "{file}");
        }
        assert!(read_report(b"{").unwrap_err().message.contains("not JSON"));
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in r#"[\[\]{}":,a-z0-9 ]{0,80}"#) {
            let _ = read_report(text.as_bytes());
        }
    }
}
