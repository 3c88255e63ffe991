//! `/runs/{id}`: an agent at one task: its score, what it is made of, and what the agent saw.

use std::collections::BTreeMap;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::HeaderName;
use axum::routing::get;
use buildoff_world::ENGINE;
use serde::Deserialize;
use world::record::Recording;
use world::task::{GOAL_REWARD, Metric, find_task, metrics_told};

use super::tasks::{solution_steps, words_of};
use crate::app::App;
use crate::arena::assessments::{self, RunState};
use crate::judge::scores::Revision;
use crate::web::api::assessments::AssessmentView;
use crate::web::api::runs::RunView;
use crate::web::derived::NO_STORE;
use crate::web::filters::format_names;
use crate::web::voter::ClientAddress;
use crate::web::{Error, Page, ShareCard, filters};

/// The most pictures on the page.
const FRAMES: u64 = 12;

/// Steps in a second of the world's time.
const STEPS_PER_SECOND: f64 = 20.0;

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/runs/{id}", get(page))
}

#[derive(Template, WebTemplate)]
#[template(path = "run.html")]
struct AgentRunPage {
    page: Page,
    run: RunView,
    assessment: AssessmentView,
    /// What is wanted, if this version has the task.
    text: String,
    payments: Vec<TaskPayment>,
    /// None if there is no recording, or it is not public yet.
    recorded: Option<RecordedRun>,
    /// The steps of our own solution.
    solution: Option<u64>,
}

/// A reward of the task, and what the run was paid of it.
#[derive(Debug, PartialEq)]
struct TaskPayment {
    words: String,
    paid: f64,
    payable: f64,
    /// What of a goal did not hold at the end.
    unmet: Vec<String>,
}

/// What a recording says about a run.
struct RecordedRun {
    /// What happened, and to what.
    events: Vec<(&'static str, String)>,
    /// What was measured beside the score, as the end of a sentence.
    measured: Option<String>,
    /// Whether this version has the engine of the recording, so that it can draw it.
    can_be_drawn: bool,
}

/// A reward that was not given in full, as it is stored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenPayment {
    identity: String,
    event: String,
    times: u32,
    #[serde(default)]
    goal: bool,
    #[serde(default)]
    unmet: Vec<String>,
}

async fn page(
    State(app): State<App>,
    address: ClientAddress,
    Path(id): Path<String>,
) -> Result<([(HeaderName, &'static str); 1], AgentRunPage), Error> {
    let (run, assessment) = RunView::find(&app, &id).await?;
    let is_public = assessment.state.is_over() && run.state == RunState::Ended;
    let recorded = if is_public { RecordedRun::load(&app, address, &run).await? } else { None };
    let assessment = AssessmentView::find(&app, &run.assessment.to_string()).await?;
    let alt = format!("{}: the scores of its tasks.", assessment.contestant());
    let title = format!("{}: {}", assessment.contestant(), run.title().to_lowercase());
    let card = ShareCard::of("assessments", assessment.id, title, alt);
    let task = find_task(&format!("{}/{}", run.category, run.task));
    let view = AgentRunPage {
        page: Page::at("/agents").with_card(card),
        text: task.map(|task| task.text().to_owned()).unwrap_or_default(),
        payments: TaskPayment::of(&run),
        solution: solution_steps(&run.category, &run.task),
        recorded,
        run,
        assessment,
    };
    Ok(([NO_STORE], view))
}

impl TaskPayment {
    /// All rewards of the task in its order, and its goal. None of them if this version does not have the task.
    fn of(run: &RunView) -> Vec<Self> {
        let Some(task) = find_task(&format!("{}/{}", run.category, run.task)) else { return Vec::new() };
        let open: Vec<OpenPayment> = Vec::deserialize(&run.open).unwrap_or_default();
        let mut open = open.into_iter().peekable();
        let rewards = task.rewards().iter().map(|reward| {
            let is_this =
                |open: &OpenPayment| open.identity == reward.identity && open.event == reward.event.name();
            let times = open.next_if(|open| !open.goal && is_this(open)).map(|open| open.times);
            let times = times.unwrap_or(reward.max_times);
            (f64::from(times) * reward.reward, reward.payable(), Vec::new())
        });
        let mut amounts: Vec<_> = rewards.collect();
        if task.goal().is_some() {
            let unmet = open.find(|open| open.goal).map(|open| open.unmet);
            let paid = if unmet.is_some() { 0.0 } else { GOAL_REWARD };
            let unmet = unmet.unwrap_or_default();
            amounts.push((paid, GOAL_REWARD, unmet.iter().map(|name| name.replace('_', " ")).collect()));
        }
        let payments = task.payments().into_iter().zip(amounts);
        payments.map(|(words, (paid, payable, unmet))| Self { words, paid, payable, unmet }).collect()
    }

    fn verdict(&self) -> String {
        if self.paid >= self.payable {
            "Paid".to_owned()
        } else if self.paid > 0.0 {
            format!("Paid {} of {}", self.paid, self.payable)
        } else {
            "Not paid".to_owned()
        }
    }
}

impl RecordedRun {
    /// None if there is no recording, or this version cannot read it.
    async fn load(app: &App, address: ClientAddress, run: &RunView) -> Result<Option<Self>, Error> {
        let Some(bytes) = assessments::recording(&app.pool, run.id).await? else { return Ok(None) };
        let read = move || Recording::read(&bytes).ok().map(|recording| Self::of(&recording));
        Ok(app.work.run(address.client(), read).await?)
    }

    fn of(recording: &Recording) -> Self {
        let end = recording.end();
        let has_more = |metric: &Metric| *metric != Metric::Steps;
        let metrics = end.metrics.as_ref().filter(|metrics| metrics.keys().any(has_more));
        let events = end.counters.iter().map(|(event, objects)| (event_in_words(event), counted(objects)));
        Self {
            events: events.collect(),
            measured: metrics.map(metrics_told),
            can_be_drawn: recording.beginning.engine == ENGINE,
        }
    }
}

impl AgentRunPage {
    fn is_over(&self) -> bool {
        self.assessment.state.is_over()
    }

    /// What all of the task may pay.
    fn payable(&self) -> f64 {
        self.payments.iter().map(|payment| payment.payable).sum()
    }

    fn paid(&self) -> f64 {
        // The sum of nothing is -0.
        self.run.paid.iter().fold(0.0, |sum, payment| sum + payment.points)
    }

    /// How the score follows from what was paid.
    fn score_sentence(&self) -> String {
        let RunView { sim_score, max_score, .. } = self.run;
        let (paid, payable) = (self.paid(), self.payable());
        let points = if payable == 1.0 { "point" } else { "points" };
        match sim_score {
            Some(_) if self.assessment.revision == Revision::Mcu0 => {
                format!(
                    "The world paid {paid} of {payable} {points}. Under mcu-0, a judge alone gives the score, \
                     and none has."
                )
            }
            Some(_) if payable == max_score => {
                format!("The world paid {paid} of {payable} {points}, and that is the score.")
            }
            Some(score) => format!(
                "The world paid {paid} of {payable} {points}, which is a score of {score:.1} out of {max_score}."
            ),
            None => "The world pays nothing in this task; a judge alone gives the score.".to_owned(),
        }
    }

    /// Steps of the pictures: the first, the last, and what lies evenly between them.
    fn frames(&self) -> Vec<u64> {
        evenly_spaced(u64::try_from(self.run.steps).unwrap_or_default(), FRAMES)
    }

    /// The name of the recording as it is downloaded.
    fn file(&self) -> String {
        format!("{}-{}.run", self.run.task, &self.run.id.to_string()[..8])
    }
}

/// At most `most` numbers from 0 to `last`, both included.
fn evenly_spaced(last: u64, most: u64) -> Vec<u64> {
    let gaps = last.min(most - 1).max(1);
    let mut all: Vec<u64> = (0..=gaps).map(|gap| (2 * gap * last + gaps) / (2 * gaps)).collect();
    all.dedup();
    all
}

/// The time of a step in the world, in seconds.
fn seconds(step: &u64) -> String {
    format!("{:.1}\u{a0}s", *step as f64 / STEPS_PER_SECOND)
}

fn event_in_words(event: &str) -> &'static str {
    match event {
        "craft_item" => "Crafted",
        "mine_block" => "Mined",
        "pickup_item" => "Picked up",
        "use_item" => "Used or placed",
        "kill_entity" => "Killed",
        "drop_item" => "Dropped",
        "open" => "Opened",
        "sleep" => "Slept in",
        "leash" => "Leashed",
        "hook" => "Hooked",
        "ride" => "Rode",
        "smelt" => "Smelted",
        "brew" => "Brewed",
        "enchant" => "Enchanted",
        "mobs" => "Met",
        _ => "Other",
    }
}

/// "3 oak planks and 1 chest", the most frequent first.
fn counted(objects: &BTreeMap<String, u64>) -> String {
    let mut objects: Vec<_> = objects.iter().collect();
    objects.sort_by(|(_, a), (_, b)| b.cmp(a));
    let words = objects.iter().map(|(object, count)| format!("{count} {}", words_of(object).to_lowercase()));
    format_names(&words.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_evenly_spaced_with_the_first_and_the_last() {
        assert_eq!(evenly_spaced(0, 12), [0]);
        assert_eq!(evenly_spaced(1, 12), [0, 1]);
        assert_eq!(evenly_spaced(4, 12), [0, 1, 2, 3, 4]);
        assert_eq!(evenly_spaced(600, 5), [0, 150, 300, 450, 600]);
        let all = evenly_spaced(12_000, 12);
        assert_eq!((all.len(), all[0], all[11]), (12, 0, 12_000));
    }

    #[test]
    fn objects_are_counted_with_the_most_frequent_first() {
        let objects = [("chest".to_owned(), 1), ("oak_planks".to_owned(), 8)].into();
        assert_eq!(counted(&objects), "8 oak planks and 1 chest");
        assert_eq!(event_in_words("mine_block"), "Mined");
    }
}
