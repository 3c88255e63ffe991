//! `/leaderboard/pairs`: how every two models fared, or, of two that are named, the votes.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;

use super::super::query::escaped;
use super::super::{Error, Page, filters};
use super::Ladder;
use crate::app::App;
use crate::arena::leaderboard::{Facts, JudgedVote, PAGE, Record};
use crate::arena::{Choice, ModelKey};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    a: String,
    b: String,
    tag: String,
    page: Option<u32>,
}

#[derive(Template)]
#[template(path = "pairs.html")]
struct PairsPage {
    page: Page,
    tag: String,
    votes: i64,
    pairs: Vec<Pair>,
}

struct Pair {
    names: [String; 2],
    record: Record,
    votes: String,
}

#[derive(Template)]
#[template(path = "pair.html")]
struct PairPage {
    page: Page,
    tag: String,
    models: [Facts; 2],
    record: Record,
    votes: Vec<JudgedVote>,
    pages: Vec<PageLink>,
}

struct PageLink {
    number: i64,
    address: String,
    current: bool,
}

pub(super) async fn page(State(app): State<App>, Query(wanted): Query<Wanted>) -> Result<Response, Error> {
    let html = if wanted.a.is_empty() && wanted.b.is_empty() {
        all(&app, wanted.tag).await?.render()
    } else {
        one(&app, wanted).await?.render()
    };
    Ok(Html(html.map_err(anyhow::Error::from)?).into_response())
}

async fn all(app: &App, tag: String) -> Result<PairsPage, Error> {
    let Ladder { board, stats } = Ladder::of(app, &tag).await?;
    let mut pairs = Vec::new();
    for (above, one) in board.rows.iter().enumerate() {
        for other in &board.rows[above + 1..] {
            let [one, other] = [&one.model, &other.model];
            if let Some(record) = stats.duel(&one.key, &other.key) {
                pairs.push(Pair {
                    names: [one.display_name.clone(), other.display_name.clone()],
                    record,
                    votes: address(Some((one.key.as_str(), other.key.as_str())), &tag, 1),
                });
            }
        }
    }
    Ok(PairsPage { page: Page::at("/leaderboard"), votes: stats.votes, pairs, tag })
}

async fn one(app: &App, wanted: Wanted) -> Result<PairPage, Error> {
    let [a, b] = [model(app, &wanted.a).await?, model(app, &wanted.b).await?];
    if a.key == b.key {
        return Err(Error::bad_request("bad_request", "A model is not compared with itself."));
    }
    let tag = (!wanted.tag.is_empty()).then_some(wanted.tag.as_str());
    let number = i64::from(wanted.page.unwrap_or(1).max(1));
    let record = app.arena.duel(&a.key, &b.key, tag).await?;
    let votes = app.arena.votes_on_pair(&a.key, &b.key, tag, number - 1).await?;
    Ok(PairPage {
        page: Page::at("/leaderboard"),
        pages: pages([&a.key, &b.key], &wanted.tag, number, record.votes()),
        tag: wanted.tag,
        models: [a, b],
        record,
        votes,
    })
}

async fn model(app: &App, key: &str) -> Result<Facts, Error> {
    let missing = || Error::not_found("There is no such model.");
    let key: ModelKey = key.parse().map_err(|_| missing())?;
    app.arena.model(&key).await?.ok_or_else(missing)
}

/// The pages around this one, and the ends.
fn pages([a, b]: [&ModelKey; 2], tag: &str, current: i64, votes: i64) -> Vec<PageLink> {
    let last = (votes + PAGE - 1) / PAGE;
    let near = |number: &i64| *number == 1 || *number == last || (*number - current).abs() <= 2;
    let link = |number| PageLink {
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
