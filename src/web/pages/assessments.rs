//! `/assessments/{id}`: how an agent is put through its tasks, while it goes on and afterwards.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use serde::Deserialize;
use serde_json::Value;
use time::OffsetDateTime;

use super::tasks::words_of;
use crate::app::App;
use crate::arena::assessments::{AssessmentState, RunState};
use crate::assess::order::{AssessmentOrder, ConfigBody};
use crate::assess::report::Band;
use crate::web::api::assessments::AssessmentView;
use crate::web::api::runs::RunView;
use crate::web::derived::NO_STORE;
use crate::web::filters::{capitalised, format_ms, format_names};
use crate::web::{Error, Page, ShareCard, filters};

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/assessments/{id}", get(page))
}

#[derive(Template, WebTemplate)]
#[template(path = "assessment.html")]
struct AssessmentPage {
    page: Page,
    view: AssessmentView,
    order: Option<AssessmentOrder>,
}

async fn page(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<([(axum::http::HeaderName, &'static str); 1], AssessmentPage), Error> {
    let view = AssessmentView::find(&app, &id).await?;
    let alt = format!("{}: the scores of its tasks.", view.contestant());
    let card = ShareCard::of("assessments", view.id, view.title(), alt);
    let config = ConfigBody::deserialize(&view.config).ok();
    let order = config.and_then(|config| AssessmentOrder::new(String::new(), &config).ok());
    Ok(([NO_STORE], AssessmentPage { page: Page::at("/agents").with_card(card), view, order }))
}

impl AssessmentView {
    /// The agent's name, or its host if it is not in the register.
    pub fn contestant(&self) -> &str {
        self.agent.as_ref().map_or(&self.host, |agent| &agent.name)
    }

    pub fn title(&self) -> String {
        format!("{}: {}", self.contestant(), asked_in_words(&self.config))
    }

    pub fn ended_runs(&self) -> usize {
        self.runs.iter().filter(|run| run.state == RunState::Ended).count()
    }

    /// From 0 to 100.
    fn percent_done(&self) -> f64 {
        100.0 * self.ended_runs() as f64 / self.runs.len().max(1) as f64
    }

    /// What is the case now, as a sentence.
    fn state_sentence(&self) -> String {
        match self.state {
            AssessmentState::Queued => "Waiting for its turn.".to_owned(),
            AssessmentState::Running => {
                let now = self.runs.iter().find(|run| run.state == RunState::Running);
                let now = now.map(|run| format!(" Now: {}.", words_of(&run.task).to_lowercase()));
                let count = self.runs.len();
                let tasks = if count == 1 { "task" } else { "tasks" };
                format!("Running. {} of {count} {tasks} done.{}", self.ended_runs(), now.unwrap_or_default())
            }
            AssessmentState::Finished => {
                format!("Finished with {:.1} of {} points.", self.score, self.max_score)
            }
            AssessmentState::Failed => "Failed. There is no result.".to_owned(),
            AssessmentState::Cancelled => "Cancelled. There is no result.".to_owned(),
        }
    }

    /// Why there is no result.
    fn failure(&self) -> Option<String> {
        match self.state {
            AssessmentState::Failed => self.problem.as_deref().map(sentence_of),
            AssessmentState::Cancelled => {
                Some("Whoever ordered it has cancelled it, or an admin has.".to_owned())
            }
            _ => None,
        }
    }

    fn is_finished(&self) -> bool {
        self.state == AssessmentState::Finished
    }

    /// The mean score of a task, out of 10.
    pub fn mean(&self) -> f64 {
        if self.max_score > 0.0 { 10.0 * self.score / self.max_score } else { 0.0 }
    }

    fn band(&self) -> Band {
        Band::of(self.mean())
    }

    fn no_ops(&self) -> i64 {
        self.runs.iter().map(RunView::no_ops).sum()
    }

    fn messages(&self) -> i64 {
        self.runs.iter().map(|run| i64::from(run.messages)).sum()
    }

    /// How long the agent takes for an answer, over all runs.
    fn answer_time(&self) -> Option<String> {
        let sum: f64 =
            self.runs.iter().filter_map(|run| Some(run.answer_ms? * f64::from(run.messages))).sum();
        let messages = self.messages();
        (messages > 0).then(|| format_answer_ms(sum / messages as f64))
    }

    /// How long it has taken, from its start to its end.
    fn duration(&self) -> Option<String> {
        let taken = self.ended_at.unwrap_or_else(OffsetDateTime::now_utc) - self.started_at?;
        Some(format_ms(i64::try_from(taken.whole_milliseconds()).unwrap_or(i64::MAX)))
    }

    /// A setting of the order, if it was given.
    fn asked(&self, name: &str) -> Option<&Value> {
        self.config.get(name).filter(|value| !value.is_null())
    }

    fn config_text(&self) -> String {
        serde_json::to_string_pretty(&self.config).unwrap_or_default()
    }
}

impl AssessmentPage {
    /// The categories on whose boards the result counts.
    fn board_categories(&self) -> Vec<&str> {
        let can_count = self.view.is_finished() || !self.view.state.is_over();
        let order = self.order.as_ref().filter(|_| can_count && self.view.agent.is_some());
        order.map(AssessmentOrder::whole_categories).unwrap_or_default()
    }

    /// Why it does not count on any board.
    fn unranked(&self) -> &'static str {
        if self.view.state.is_over() && !self.view.is_finished() {
            "no, since there is no result"
        } else if self.view.agent.is_none() {
            "no, since no agent of the register has this address"
        } else if !self.view.seed_is_drawn {
            "no, since the seed was asked for"
        } else {
            "no, since it is not a whole category with the usual steps and pictures"
        }
    }

    fn judge(&self) -> &str {
        self.order.as_ref().and_then(|order| order.judge.as_deref()).unwrap_or("none")
    }

    /// Tasks that were asked for and cannot be run here.
    fn unavailable(&self) -> String {
        let names = self.order.as_ref().map(|order| order.unavailable.as_slice()).unwrap_or_default();
        format_names(&names.iter().map(|name| words_of(name).to_lowercase()).collect::<Vec<_>>())
    }

    fn size(&self) -> String {
        self.order.as_ref().map(|order| format!("{} × {}", order.size[0], order.size[1])).unwrap_or_default()
    }
}

impl RunView {
    pub fn title(&self) -> String {
        words_of(&self.task)
    }

    pub fn task_address(&self) -> String {
        format!("/tasks/{}/{}", self.category, self.task)
    }

    /// Steps in which nothing was pressed, since the agent did not answer or its answer was no action.
    pub fn no_ops(&self) -> i64 {
        i64::from(self.unanswered) + i64::from(self.unreadable)
    }

    /// How much of its steps it has taken, from 0 to 100.
    pub fn percent(&self) -> f64 {
        (100.0 * f64::from(self.steps) / f64::from(self.max_steps.max(1))).clamp(0.0, 100.0)
    }

    /// The share of its score, from 0 to 1.
    pub fn share(&self) -> f64 {
        let share = self.score.unwrap_or_default() / self.max_score;
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    pub fn answer_time(&self) -> Option<String> {
        self.answer_ms.map(format_answer_ms)
    }

    /// How it goes, or how it came to its end.
    pub fn ending_words(&self, is_over: bool) -> String {
        match (self.state, self.ending) {
            (RunState::Waiting, _) if is_over => "Not run".to_owned(),
            (RunState::Running, _) if is_over => "Stopped in the middle".to_owned(),
            (RunState::Waiting, _) => "Waiting".to_owned(),
            (RunState::Running, _) => "Running".to_owned(),
            (RunState::Ended, Some("finished")) if self.steps < self.max_steps => {
                "Everything was done".to_owned()
            }
            (RunState::Ended, Some("finished")) => "All steps were taken".to_owned(),
            (RunState::Ended, Some("died")) => "The player died".to_owned(),
            (RunState::Ended, _) => capitalised(self.problem.as_deref().unwrap_or("Ended early")),
        }
    }

    /// The same in the room that a table has.
    pub fn short_ending(&self, is_over: bool) -> String {
        const MOST: usize = 90;
        let words = self.ending_words(is_over);
        match words.char_indices().nth(MOST) {
            Some((end, _)) => format!("{} …", words[..end].trim_end()),
            None => words,
        }
    }
}

pub(super) fn state_in_words(state: AssessmentState) -> &'static str {
    match state {
        AssessmentState::Queued => "Waiting",
        AssessmentState::Running => "Running",
        AssessmentState::Finished => "Finished",
        AssessmentState::Failed => "Failed",
        AssessmentState::Cancelled => "Cancelled",
    }
}

/// What an order asks for: "crafting and motion", "craft ladder", or "all short tasks".
pub(in crate::web) fn asked_in_words(config: &Value) -> String {
    let names = |name: &str| -> Vec<String> {
        let plain =
            |value: &Value| value.as_str().map(|name| words_of(name.rsplit('/').next().unwrap_or(name)));
        match config.get(name) {
            Some(Value::Array(names)) => names.iter().filter_map(plain).collect(),
            Some(name) => plain(name).into_iter().collect(),
            None => Vec::new(),
        }
    };
    let tasks = names("tasks");
    let asked = if tasks.is_empty() { names("task_category") } else { tasks };
    let asked: Vec<String> = asked.iter().map(|name| name.to_lowercase()).collect();
    if asked.is_empty() { "all short tasks".to_owned() } else { format_names(&asked) }
}

/// The same as a title.
pub(super) fn asked_title(config: &Value) -> String {
    capitalised(&asked_in_words(config))
}

/// A sentence of words that may be one already.
fn sentence_of(words: &str) -> String {
    let words = capitalised(words.trim());
    if words.ends_with(['.', '!', '?']) { words } else { words + "." }
}

/// Times of agents go from below a millisecond to a minute.
fn format_answer_ms(ms: f64) -> String {
    match ms {
        ..1.0 => "under 1\u{a0}ms".to_owned(),
        1.0..1000.0 => format!("{ms:.0}\u{a0}ms"),
        _ => format_ms(ms as i64),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_order_is_told_in_words() {
        for (config, words) in [
            (json!({}), "all short tasks"),
            (json!({ "task_category": "tool_use" }), "tool use"),
            (json!({ "task_category": ["crafting", "motion"] }), "crafting and motion"),
            (json!({ "task_category": ["crafting"], "tasks": ["crafting/craft_ladder"] }), "craft ladder"),
        ] {
            assert_eq!(asked_in_words(&config), words, "{config}");
        }
    }

    #[test]
    fn times_of_answers_have_a_unit_that_fits() {
        let words = [0.4, 12.3, 999.0, 2400.0].map(|ms| format_answer_ms(ms).replace('\u{a0}', " "));
        assert_eq!(words, ["under 1 ms", "12 ms", "999 ms", "2.4 s"]);
    }
}
