//! `/leaderboard/pairs`: how every two models fared, or, of two that are named, the votes.

use askama::Template;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;

use super::board;
use crate::app::App;
use crate::arena::leaderboard::{JudgedVote, ModelProfile, PAGE, Record};
use crate::arena::{Choice, ModelKey};
use crate::web::query::{PageNumber, PageQuery, escaped};
use crate::web::{Error, Page, filters};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PairsQuery {
    a: String,
    b: String,
    tag: String,
    page: PageNumber,
}

#[derive(Template)]
#[template(path = "pairs.html")]
struct PairsPage {
    page: Page,
    tag: String,
    /// Why these are all pairs, where one was asked for.
    notice: Option<&'static str>,
    votes: i64,
    pairs: Vec<PairView>,
}

struct PairView {
    names: [String; 2],
    record: Record,
    votes: String,
}

#[derive(Template)]
#[template(path = "pair.html")]
struct PairPage {
    page: Page,
    tag: String,
    models: [ModelProfile; 2],
    record: Record,
    votes: Vec<JudgedVote>,
    pages: Vec<PairPageLink>,
}

struct PairPageLink {
    number: i64,
    address: String,
    current: bool,
}

pub(super) async fn page(
    State(app): State<App>,
    PageQuery(mut query): PageQuery<PairsQuery>,
) -> Result<Response, Error> {
    if !app.arena.lineup().await?.tags().contains(&query.tag) {
        query.tag.clear();
    }
    let html = match pair(&app, &query).await? {
        Ok(models) => one(&app, models, query).await?.render(),
        Err(notice) => all(&app, query.tag, notice).await?.render(),
    };
    Ok(Html(html.map_err(anyhow::Error::from)?).into_response())
}

/// The two models that are asked for, or what to say if there are no two.
async fn pair(
    app: &App,
    query: &PairsQuery,
) -> Result<Result<[ModelProfile; 2], Option<&'static str>>, Error> {
    if query.a.is_empty() && query.b.is_empty() {
        return Ok(Err(None));
    }
    Ok(match (model(app, &query.a).await?, model(app, &query.b).await?) {
        (Some(a), Some(b)) if a.key == b.key => Err(Some("A model is not compared with itself.")),
        (Some(a), Some(b)) => Ok([a, b]),
        _ => Err(Some("This pair is not on the leaderboard.")),
    })
}

async fn all(app: &App, tag: String, notice: Option<&'static str>) -> Result<PairsPage, Error> {
    let board = board(app, &tag).await?;
    let stats = &board.stats;
    let mut pairs = Vec::new();
    for (above, one) in board.rows.iter().enumerate() {
        for other in &board.rows[above + 1..] {
            let [one, other] = [&one.model, &other.model];
            if let Some(record) = stats.duel(&one.key, &other.key) {
                pairs.push(PairView {
                    names: [one.display_name.clone(), other.display_name.clone()],
                    record,
                    votes: address(Some((one.key.as_str(), other.key.as_str())), &tag, 1),
                });
            }
        }
    }
    Ok(PairsPage { page: Page::at("/leaderboard"), votes: stats.votes, pairs, notice, tag })
}

async fn one(app: &App, [a, b]: [ModelProfile; 2], query: PairsQuery) -> Result<PairPage, Error> {
    let tag = (!query.tag.is_empty()).then_some(query.tag.as_str());
    let number = query.page.get();
    let record = app.arena.duel(&a.key, &b.key, tag).await?;
    let votes = app.arena.votes_on_pair(&a.key, &b.key, tag, number - 1).await?;
    Ok(PairPage {
        page: Page::at("/leaderboard"),
        pages: pages([&a.key, &b.key], &query.tag, number, record.votes()),
        tag: query.tag,
        models: [a, b],
        record,
        votes,
    })
}

async fn model(app: &App, key: &str) -> Result<Option<ModelProfile>, Error> {
    let Ok(key) = key.parse::<ModelKey>() else { return Ok(None) };
    Ok(app.arena.model(&key).await?)
}

/// The pages around this one, and the ends.
fn pages([a, b]: [&ModelKey; 2], tag: &str, current: i64, votes: i64) -> Vec<PairPageLink> {
    let last = (votes + PAGE - 1) / PAGE;
    let near = |number: &i64| *number == 1 || *number == last || (*number - current).abs() <= 2;
    let link = |number| PairPageLink {
        address: address(Some((a.as_str(), b.as_str())), tag, number),
        current: number == current,
        number,
    };
    (1..=last).filter(near).map(link).collect()
}

/// Of the votes on a pair, or of all pairs.
pub(super) fn address(pair: Option<(&str, &str)>, tag: &str, page: i64) -> String {
    let mut fields = Vec::new();
    if let Some((a, b)) = pair {
        fields.extend([format!("a={a}"), format!("b={b}")]);
    }
    if !tag.is_empty() {
        fields.push(format!("tag={}", escaped(tag)));
    }
    if page > 1 {
        fields.push(format!("page={page}"));
    }
    let question = if fields.is_empty() { "" } else { "?" };
    format!("/leaderboard/pairs{question}{}", fields.join("&"))
}

impl PairPage {
    /// The newest votes on the pair.
    fn start(&self) -> String {
        let [a, b] = &self.models;
        address(Some((a.key.as_str(), b.key.as_str())), &self.tag, 1)
    }

    fn verdict(&self, vote: &JudgedVote) -> String {
        match vote.choice {
            Choice::A => format!("{} is better", self.models[0].display_name),
            Choice::B => format!("{} is better", self.models[1].display_name),
            Choice::Tie => "Tie".to_owned(),
            Choice::BothBad => "Both bad".to_owned(),
        }
    }
}
