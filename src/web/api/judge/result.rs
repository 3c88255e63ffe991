//! What a judgement reveals: who built the build, and what models and other people say of it.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::app::App;
use crate::arena::Voter;
use crate::arena::builds::{self, Build};
use crate::arena::judgements::{
    BuildJudgements, ModelJudgement, OwnJudgement, PeopleJudgements, ScoreSpread,
};
use crate::judge::criteria::Criterion;
use crate::judge::scores::Scores;
use crate::web::Error;

/// A build that its visitor has judged.
#[derive(Serialize, ToSchema)]
#[schema(as = JudgedBuild)]
pub(in crate::web) struct JudgedBuildView {
    build: Uuid,
    model: MakerView,
    own: OwnScoresView,
    others: OthersView,
    /// The page with the same.
    #[schema(example = "/judge/builds/0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70")]
    url: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Maker)]
struct MakerView {
    #[schema(example = "reference_architect")]
    key: String,
    #[schema(example = "reference")]
    provider: String,
    #[schema(example = "Architect")]
    display_name: String,
}

/// Your judgement.
#[derive(Serialize, ToSchema)]
#[schema(as = OwnScores)]
struct OwnScoresView {
    #[schema(value_type = BTreeMap<String, f64>, example = json!({ "task_progress": 7.5 }))]
    scores: Scores,
    /// The weighted mean of those that you gave.
    #[schema(example = 7.5)]
    overall: f64,
}

/// What models and other people say of the build.
#[derive(Serialize, ToSchema)]
#[schema(as = OtherJudgements)]
struct OthersView {
    models: Vec<ModelScoresView>,
    people: PeopleScoresView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModelScores)]
struct ModelScoresView {
    #[schema(example = "openai_gpt_5_5")]
    key: String,
    #[schema(example = "GPT-5.5")]
    display_name: String,
    #[schema(value_type = BTreeMap<String, f64>, example = json!({ "task_progress": 8.0 }))]
    scores: Scores,
    #[schema(example = 8.0)]
    overall: f64,
    /// What each score rests on.
    #[schema(value_type = BTreeMap<String, String>)]
    evidence: BTreeMap<Criterion, String>,
}

/// Other people’s judgements that count, together.
#[derive(Serialize, ToSchema)]
#[schema(as = PeopleScores)]
struct PeopleScoresView {
    #[schema(example = 12)]
    count: i64,
    /// Null if nobody else has judged the build.
    #[schema(required)]
    overall: Option<ScoreSpreadView>,
    #[schema(value_type = BTreeMap<String, ScoreSpreadView>)]
    scores: BTreeMap<Criterion, ScoreSpreadView>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ScoreSpread)]
struct ScoreSpreadView {
    count: i64,
    #[schema(example = 6.4)]
    mean: f64,
    /// The standard deviation; 0 for a single score.
    #[schema(example = 1.2)]
    spread: f64,
}

/// The same for pages.
pub(in crate::web) struct JudgedBuildParts {
    pub build: Build,
    pub own: OwnJudgement,
    pub others: BuildJudgements,
}

impl JudgedBuildParts {
    /// None if this voter has not judged the build, or it is withheld.
    pub async fn read(app: &App, voter: Voter, build: Uuid) -> Result<Option<Self>, Error> {
        let Some(own) = app.arena.own_judgement(voter, build).await? else { return Ok(None) };
        let Some(found) = builds::find(&app.pool, build).await?.filter(|build| !build.withheld) else {
            return Ok(None);
        };
        let others = app.arena.others_judgements(voter, build).await?;
        Ok(Some(Self { build: found, own, others }))
    }
}

impl JudgedBuildView {
    pub async fn read(app: &App, voter: Voter, build: Uuid) -> Result<Option<Self>, Error> {
        Ok(JudgedBuildParts::read(app, voter, build).await?.map(Self::from))
    }
}

impl From<JudgedBuildParts> for JudgedBuildView {
    fn from(JudgedBuildParts { build, own, others }: JudgedBuildParts) -> Self {
        Self {
            build: build.id,
            model: MakerView {
                key: build.model_key.to_string(),
                provider: build.provider,
                display_name: build.model_name,
            },
            own: OwnScoresView { scores: own.said.scores, overall: own.overall },
            others: OthersView {
                models: others.models.into_iter().map(ModelScoresView::from).collect(),
                people: others.people.into(),
            },
            url: format!("/judge/builds/{}", build.id),
        }
    }
}

impl From<ModelJudgement> for ModelScoresView {
    fn from(judgement: ModelJudgement) -> Self {
        let ModelJudgement { key, name, at: _, scores, overall, evidence, note: _ } = judgement;
        Self { key: key.to_string(), display_name: name, scores, overall, evidence }
    }
}

impl From<PeopleJudgements> for PeopleScoresView {
    fn from(people: PeopleJudgements) -> Self {
        let scores = people.scores.into_iter().map(|(criterion, spread)| (criterion, spread.into()));
        Self {
            count: people.count,
            overall: people.overall.map(ScoreSpreadView::from),
            scores: scores.collect(),
        }
    }
}

impl From<ScoreSpread> for ScoreSpreadView {
    fn from(ScoreSpread { count, mean, spread }: ScoreSpread) -> Self {
        Self { count, mean, spread }
    }
}
