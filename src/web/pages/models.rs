//! `/models/{key}`: everything known about a model.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;

use crate::app::App;
use crate::arena::ReferencePolicy;
use crate::arena::agents::{self, RegisteredAgent};
use crate::arena::gallery::BuildCard;
use crate::arena::judges::{ProfileScore, ScoreProfile};
use crate::arena::leaderboard::{LadderEntry, ModelProfile, ModelRecord, PromptRecord, StandingChange};
use crate::judge::JudgeKind;
use crate::judge::criteria::Criterion;
use crate::outbound;
use crate::web::api::models::{ModelDetails, find};
use crate::web::charts::{HistoryChart, IntervalBar, RatingAxis};
use crate::web::pages::about;
use crate::web::{Error, Page, ShareCard, filters};

/// At most this many of the strongest prompts are shown, and as many of the weakest.
const MAX_PROMPTS: usize = 3;

/// Prompts with fewer votes count as neither strong nor weak.
const MIN_VOTES: i64 = 3;

/// The gallery shows the others.
const MAX_BUILDS: usize = 8;

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/models/{key}", get(page))
}

#[derive(Template, WebTemplate)]
#[template(path = "model.html")]
struct ModelPage {
    page: Page,
    settings: String,
    /// The end of a sentence about references.
    references: &'static str,
    /// Whether the model is a reference, and references are switched off.
    is_off: bool,
    facts: ModelProfile,
    /// The register's entry of an agent.
    agent: Option<RegisteredAgent>,
    /// The number of models on the leaderboard.
    field: usize,
    row: Option<LadderEntry>,
    change: Option<StandingChange>,
    axis: Option<RatingAxis>,
    interval: Option<IntervalBar>,
    history: Option<HistoryChart>,
    record: ModelRecord,
    cards: Vec<BuildCard>,
    builds: usize,
    /// How judges score its builds in force.
    profiles: Vec<ScoreProfile>,
}

async fn page(State(app): State<App>, Path(key): Path<String>) -> Result<ModelPage, Error> {
    let ModelDetails { board, facts, row, record, mut builds } = find(&app, &key).await?;
    let agent = if facts.is_agent() { agents::find(&app.replica, &facts.key).await? } else { None };
    let changes = board.changes();
    let axis = RatingAxis::over(&board.rows);
    let skill = row.as_ref().and_then(|row| row.skill.as_ref());
    let total = builds.len();
    builds.truncate(MAX_BUILDS);
    let alt = format!("{}: its place on the leaderboard, and one of its builds.", facts.display_name);
    let card = ShareCard::of("models", &facts.key, facts.display_name.clone(), alt);
    Ok(ModelPage {
        page: Page::at("/leaderboard").with_card(card),
        settings: app.arena.settings.to_string(),
        references: about::reference_policy(app.config.references),
        is_off: facts.is_reference() && app.config.references == ReferencePolicy::Off,
        field: board.rows.len(),
        change: row.as_ref().and_then(|row| changes.get(row.rank - 1).copied()),
        interval: axis.as_ref().zip(skill).map(|(axis, skill)| axis.interval(skill)),
        history: HistoryChart::of(&board.stats.history.lines, [(&facts.key, facts.display_name.as_str())]),
        cards: builds,
        builds: total,
        profiles: app.arena.judges().await?.profiles(&facts.key).to_vec(),
        facts,
        agent,
        row,
        axis,
        record,
    })
}

impl ModelPage {
    /// Overall, and the criteria that any judge has scored.
    fn scored(&self) -> Vec<Option<Criterion>> {
        let is_scored = |criterion: &Criterion| {
            self.profiles.iter().any(|profile| profile.criteria.contains_key(criterion))
        };
        let criteria = Criterion::ALL.into_iter().filter(is_scored).map(Some);
        [None].into_iter().chain(criteria).collect()
    }

    /// Where the agent is reached.
    fn host(&self) -> Option<String> {
        outbound::host_and_port(&self.agent.as_ref()?.entry.url)
    }

    /// Why it is not on the leaderboard.
    fn absence(&self) -> String {
        match (self.is_off, self.facts.enabled) {
            (true, _) => "Not on the leaderboard: reference models are switched off.".to_owned(),
            (_, false) => "Not on the leaderboard: this model is disabled.".to_owned(),
            _ => format!("Not on the leaderboard yet: no builds at {} and no votes.", self.settings),
        }
    }

    fn strongest(&self) -> Vec<&PromptRecord> {
        let mut judged = self.judged();
        judged.truncate(MAX_PROMPTS.min(judged.len() / 2));
        judged
    }

    /// The weakest first.
    fn weakest(&self) -> Vec<&PromptRecord> {
        let judged = self.judged();
        judged.iter().rev().take(MAX_PROMPTS.min(judged.len() / 2)).copied().collect()
    }

    /// The strongest first.
    fn judged(&self) -> Vec<&PromptRecord> {
        let is_judged =
            |prompt: &&PromptRecord| prompt.record.share().is_some() && prompt.record.votes() >= MIN_VOTES;
        self.record.prompts.iter().filter(is_judged).collect()
    }
}

/// A judge's score for a criterion, or overall.
fn profile_score<'a>(profile: &'a ScoreProfile, criterion: &Option<Criterion>) -> Option<&'a ProfileScore> {
    match criterion {
        Some(criterion) => profile.criteria.get(criterion),
        None => Some(&profile.overall),
    }
}

/// Where the scores of most builds start on a scale of 100 units, and the length: one standard deviation to each side.
fn profile_band(score: &ProfileScore) -> Option<(f64, f64)> {
    let deviation = score.deviation?;
    let from = 10.0 * (score.mean - deviation).max(0.0);
    Some((from, 10.0 * (score.mean + deviation).min(10.0) - from))
}
