//! The result: who built the build, and the visitor's scores beside those of models and other people.

use askama::Template;
use askama_web::WebTemplate;

use crate::app::App;
use crate::arena::Voter;
use crate::arena::builds::Build;
use crate::arena::judgements::{BuildJudgements, OwnJudgement, ScoreSpread};
use crate::judge::criteria::{CriteriaText, Criterion};
use crate::web::api::judge::JudgedBuildParts;
use crate::web::{Error, Page, filters};

#[derive(Template, WebTemplate)]
#[template(path = "judge/result.html")]
pub(super) struct JudgedPage {
    page: Page,
    build: Build,
    own: OwnJudgement,
    others: BuildJudgements,
    rows: Vec<ScoreRow>,
    judged_today: i64,
}

/// The scores for a criterion, or overall.
struct ScoreRow {
    title: &'static str,
    own: Option<f64>,
    people: Option<ScoreSpread>,
    /// In the order of the models.
    models: Vec<Option<f64>>,
}

impl JudgedPage {
    pub async fn of(app: &App, voter: Voter, judged: JudgedBuildParts) -> Result<Self, Error> {
        let JudgedBuildParts { build, own, others } = judged;
        let overall = ScoreRow {
            title: "Overall",
            own: Some(own.overall),
            people: others.people.overall,
            models: others.models.iter().map(|model| Some(model.overall)).collect(),
        };
        let row = |criterion: Criterion| ScoreRow {
            title: criterion.title(),
            own: own.said.scores.get(criterion),
            people: others.people.scores.get(&criterion).copied(),
            models: others.models.iter().map(|model| model.scores.get(criterion)).collect(),
        };
        Ok(Self {
            page: Page::at("/judge"),
            rows: [overall].into_iter().chain(CriteriaText::build().applicable().iter().map(row)).collect(),
            judged_today: app.arena.own_judgement_counts(voter).await?.today,
            build,
            own,
            others,
        })
    }

    fn is_alone(&self) -> bool {
        self.others.models.is_empty() && self.others.people.count == 0
    }

    fn has_model_evidence(&self) -> bool {
        self.others.models.iter().any(|model| !model.evidence.is_empty() || model.note.is_some())
    }
}

impl ScoreRow {
    /// A place on the scale of the picture, which has ten units a point.
    fn x(score: &f64) -> f64 {
        (200.0 * score).round() / 10.0
    }

    /// Where the band of people's scores starts, and its length.
    fn band(spread: &ScoreSpread) -> (f64, f64) {
        let from = (spread.mean - spread.spread).max(0.0);
        let to = (spread.mean + spread.spread).min(10.0);
        (Self::x(&from), Self::x(&(to - from)))
    }
}

/// 7, 7.5 or 6.4: with at most one decimal.
pub(super) fn format_score(score: &f64) -> String {
    let text = format!("{score:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// 12 people, or One person.
fn format_people(count: &i64) -> String {
    if *count == 1 { "One person".to_owned() } else { format!("{} people", filters::format_count(*count)) }
}
