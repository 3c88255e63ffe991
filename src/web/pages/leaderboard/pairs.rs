//! `/leaderboard/pairs`: the records of all pairs of models, or the votes on one pair.

use askama::Template;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;

use crate::app::App;
use crate::arena::Choice;
use crate::arena::leaderboard::{JudgedVote, ModelProfile, PAGE, Record};
use crate::web::api::leaderboard::{PromptGroup, board, on_prompts};
use crate::web::api::models::find_profile;
use crate::web::pager::{PageLink, page_count, page_links};
use crate::web::query::{self, PageNumber, PageQuery};
use crate::web::{Error, Page, filters};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PairsQuery {
    a: String,
    b: String,
    tag: String,
    prompts: PromptGroup,
    page: PageNumber,
}

#[derive(Template)]
#[template(path = "pairs.html")]
struct PairsPage {
    page: Page,
    on_prompts: String,
    /// Why all pairs are shown instead of the requested one.
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
    prompts: PromptGroup,
    on_prompts: String,
    models: [ModelProfile; 2],
    record: Record,
    votes: Vec<JudgedVote>,
    pages: Vec<PageLink>,
}

pub(super) async fn page(
    State(app): State<App>,
    PageQuery(mut query): PageQuery<PairsQuery>,
) -> Result<Response, Error> {
    let lineup = app.arena.lineup().await?;
    if !lineup.tags.contains(&query.tag) {
        query.tag.clear();
    }
    if !lineup.has_held_out {
        query.prompts = PromptGroup::All;
    }
    let html = match pair(&app, &query).await? {
        Ok(models) => one(&app, models, query).await?.render(),
        Err(notice) => all(&app, &query, notice).await?.render(),
    };
    Ok(Html(html.map_err(anyhow::Error::from)?).into_response())
}

/// The two requested models. If there are no two, all pairs are shown, perhaps with a notice.
async fn pair(
    app: &App,
    query: &PairsQuery,
) -> Result<Result<[ModelProfile; 2], Option<&'static str>>, Error> {
    if query.a.is_empty() && query.b.is_empty() {
        return Ok(Err(None));
    }
    Ok(match (find_profile(app, &query.a).await?, find_profile(app, &query.b).await?) {
        (Some(a), Some(b)) if a.key == b.key => Err(Some("A model cannot be compared with itself.")),
        (Some(a), Some(b)) => Ok([a, b]),
        _ => Err(Some("This pair is not on the leaderboard.")),
    })
}

async fn all(app: &App, query: &PairsQuery, notice: Option<&'static str>) -> Result<PairsPage, Error> {
    let filter = query.prompts.with_tag(&query.tag);
    let board = board(app, &filter).await?;
    let stats = &board.stats;
    let mut pairs = Vec::new();
    for (above, one) in board.rows.iter().enumerate() {
        for other in &board.rows[above + 1..] {
            let [one, other] = [&one.model, &other.model];
            if let Some(record) = stats.duel(&one.key, &other.key) {
                pairs.push(PairView {
                    names: [one.display_name.clone(), other.display_name.clone()],
                    record,
                    votes: address(
                        Some((one.key.as_str(), other.key.as_str())),
                        &query.tag,
                        query.prompts,
                        1,
                    ),
                });
            }
        }
    }
    let on_prompts = on_prompts(&filter);
    Ok(PairsPage { page: Page::at("/leaderboard"), votes: stats.votes, pairs, notice, on_prompts })
}

async fn one(app: &App, [a, b]: [ModelProfile; 2], query: PairsQuery) -> Result<PairPage, Error> {
    let filter = query.prompts.with_tag(&query.tag);
    let number = query.page.get();
    let record = app.arena.duel(&a.key, &b.key, &filter).await?;
    let votes = app.arena.votes_on_pair(&a.key, &b.key, &filter, number - 1).await?;
    Ok(PairPage {
        page: Page::at("/leaderboard"),
        pages: page_links(number, page_count(record.votes(), PAGE), |number| {
            address(Some((a.key.as_str(), b.key.as_str())), &query.tag, query.prompts, number)
        }),
        on_prompts: on_prompts(&filter),
        prompts: query.prompts,
        tag: query.tag,
        models: [a, b],
        record,
        votes,
    })
}

/// The address of the votes on a pair, or of all pairs.
pub(super) fn address(pair: Option<(&str, &str)>, tag: &str, prompts: PromptGroup, page: i64) -> String {
    let (a, b) = pair.unwrap_or_default();
    let page = if page > 1 { page.to_string() } else { String::new() };
    let fields = [("a", a), ("b", b), ("tag", tag), ("prompts", prompts.in_address()), ("page", &page)];
    query::address("/leaderboard/pairs", &fields)
}

impl PairPage {
    /// The address of the newest votes.
    fn start(&self) -> String {
        let [a, b] = &self.models;
        address(Some((a.key.as_str(), b.key.as_str())), &self.tag, self.prompts, 1)
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
