//! `/matchups/{id}`: voting without script; after the vote, a page to share.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Form, Path, State};
use axum::http::header::{CACHE_CONTROL, RETRY_AFTER};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use uuid::Uuid;

use super::arena::{Refusal, TOO_SOON, cast, id, no_matchup, open_matchup};
use super::arena_page::{BALLOT, words};
use super::filters::capitalised;
use super::gallery::formats_of_grid;
use super::query::PageQuery;
use super::voter::Visitor;
use super::{Card, Error, Page, filters};
use crate::app::App;
use crate::arena::builds::{self, Build};
use crate::arena::{ChoiceCounts, Reveal, RevealedSide, ServedMatchup, SkipError};
use crate::limits::LimitedAction;
use voxel::Format;

const NO_STORE: [(HeaderName, &str); 1] = [(CACHE_CONTROL, "no-store")];

/// Where a build is looked at from; the number of a picture is its place here.
const ANGLES: [&str; 8] =
    ["front", "front right", "right", "back right", "back", "back left", "left", "front left"];

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/matchup", post(start))
        .route("/matchups/{id}", get(matchup))
        .route("/matchups/{id}/vote", post(vote))
        .route("/matchups/{id}/skip", post(skip))
}

/// Before the vote: for its voter alone, and without a name.
#[derive(Template, WebTemplate)]
#[template(path = "voting.html")]
struct Voting {
    page: Page,
    id: Uuid,
    served: ServedMatchup,
    angle: usize,
    notice: Option<&'static str>,
}

/// After it: for everybody.
#[derive(Template, WebTemplate)]
#[template(path = "matchup.html")]
struct Judged {
    page: Page,
    /// Either build tells what was asked.
    asked: Build,
    verdict: &'static str,
    sides: [Side; 2],
    /// Both can be taken away as these.
    formats: Vec<Format>,
    votes: i64,
    tally: [Bar; 4],
    /// Whether it is the visitor's own vote.
    own: bool,
}

struct Side {
    name: &'static str,
    model: RevealedSide,
    chosen: bool,
}

/// A part of a tally, in hundredths of its length.
struct Bar {
    words: &'static str,
    count: i64,
    start: f64,
    length: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asking {
    prompt_id: Option<String>,
}

async fn start(
    State(app): State<App>,
    visitor: Visitor,
    Form(asking): Form<Asking>,
) -> Result<Redirect, Error> {
    let prompt = asking.prompt_id.filter(|id| !id.is_empty());
    let matchup = open_matchup(&app, &visitor, prompt.as_deref()).await?;
    Ok(back_to(matchup.id))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Looking {
    angle: usize,
}

async fn matchup(
    State(app): State<App>,
    Path(matchup): Path<String>,
    visitor: Visitor,
    PageQuery(looking): PageQuery<Looking>,
) -> Result<Response, Error> {
    let id = id(&matchup)?;
    let served = served(&app, &visitor, id).await?;
    if let Some(reveal) = app.arena.reveal(id).await? {
        return Ok((NO_STORE, Judged::of(&app, reveal, served.is_some()).await?).into_response());
    }
    let served = served.ok_or_else(no_matchup)?;
    Ok((NO_STORE, Voting::new(id, served, looking.angle)).into_response())
}

#[derive(Deserialize)]
struct Ballot {
    choice: String,
}

async fn vote(
    State(app): State<App>,
    Path(matchup): Path<String>,
    visitor: Visitor,
    Form(ballot): Form<Ballot>,
) -> Result<Response, Error> {
    let choice = ballot.choice.parse().map_err(|problem| Error::bad_request("bad_choice", problem))?;
    let id = id(&matchup)?;
    match cast(&app, &visitor, &matchup, choice).await? {
        Ok(_) | Err(Refusal::Already(_)) => Ok(back_to(id).into_response()),
        Err(Refusal::TooSoon(wait)) => {
            let served = served(&app, &visitor, id).await?.ok_or_else(no_matchup)?;
            let page = Voting { notice: Some(TOO_SOON), ..Voting::new(id, served, 0) };
            let seconds = HeaderValue::from(wait.as_secs() + 1);
            Ok((StatusCode::TOO_MANY_REQUESTS, NO_STORE, [(RETRY_AFTER, seconds)], page).into_response())
        }
    }
}

async fn skip(
    State(app): State<App>,
    Path(matchup): Path<String>,
    visitor: Visitor,
) -> Result<Redirect, Error> {
    let id = id(&matchup)?;
    let voter = visitor.voter().await?.ok_or_else(no_matchup)?;
    visitor.ask(&app, LimitedAction::Skip, Some(voter))?;
    match app.arena.skip(voter, id).await {
        Ok(()) => Ok(back_to(open_matchup(&app, &visitor, None).await?.id)),
        Err(SkipError::AlreadyVoted) => Ok(back_to(id)),
        Err(error) => Err(error.into()),
    }
}

fn back_to(matchup: Uuid) -> Redirect {
    Redirect::to(&format!("/matchups/{matchup}"))
}

/// None for whoever it was not served to.
async fn served(app: &App, visitor: &Visitor, id: Uuid) -> Result<Option<ServedMatchup>, Error> {
    match visitor.voter().await? {
        Some(voter) => Ok(app.arena.served(voter, id).await?),
        None => Ok(None),
    }
}

impl Voting {
    fn new(id: Uuid, served: ServedMatchup, angle: usize) -> Self {
        Self { page: Page::at("/"), id, served, angle: angle % ANGLES.len(), notice: None }
    }
}

impl Judged {
    async fn of(app: &App, reveal: Reveal, own: bool) -> Result<Self, Error> {
        let asked = builds::find(&app.pool, reveal.a.build).await?.ok_or_else(no_matchup)?;
        let all = reveal.others.with(reveal.choice);
        let words = words(reveal.choice);
        let prompt = capitalised(&asked.prompt_text);
        let title = format!("{prompt}: {} against {}", reveal.a.display_name, reveal.b.display_name);
        let alt = format!("{title}. The vote: {words}.");
        let card = Card::of("matchups", reveal.matchup, title, alt);
        let side = |name, model| Side { name, model, chosen: reveal.choice.name() == name };
        Ok(Self {
            page: Page::at("/").with_card(card),
            formats: formats_of_grid(asked.grid_size.unsigned_abs()),
            asked,
            verdict: words,
            sides: [side("A", reveal.a), side("B", reveal.b)],
            votes: all.sum(),
            tally: tally(&all),
            own,
        })
    }
}

impl Side {
    fn change(&self) -> f64 {
        self.model.elo_after - self.model.elo_before
    }

    fn tone(&self) -> &'static str {
        if self.change() < 0.0 { "bad" } else { "good" }
    }

    /// How long it took, where a model was asked for it.
    fn made(&self) -> Option<String> {
        self.model.generation_time_ms.map(|ms| format!("made in {:.1} s", ms as f64 / 1000.0))
    }
}

fn tally(all: &ChoiceCounts) -> [Bar; 4] {
    let mut start = 0.0;
    [("A", all.a), ("Tie", all.tie), ("Both bad", all.both_bad), ("B", all.b)].map(|(words, count)| {
        let length = 100.0 * count as f64 / all.sum().max(1) as f64;
        start += length;
        Bar { words, count, start: start - length, length }
    })
}
