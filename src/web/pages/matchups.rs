//! `/matchups/{id}`: voting without JavaScript; after the vote, a page to share.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Form, Path, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use uuid::Uuid;

use crate::app::App;
use crate::arena::builds::{self, Build};
use crate::arena::{ChoiceCounts, Reveal, RevealedSide, ServedMatchup, SkipError};
use crate::limits::LimitedAction;
use crate::web::api::arena::{VoteRejection, cast_vote, open_matchup, parse_id};
use crate::web::derived::NO_STORE;
use crate::web::filters::capitalised;
use crate::web::pages::arena::{CHOICES, choice_label};
use crate::web::pages::builds::formats_of_grid;
use crate::web::query::PageQuery;
use crate::web::voter::Visitor;
use crate::web::{Error, ErrorCode, Page, ShareCard, filters};
use voxel::Format;

/// The names of the angles of pictures, by their number.
const ANGLES: [&str; 8] =
    ["front", "front right", "right", "back right", "back", "back left", "left", "front left"];

pub(in crate::web) fn routes() -> Router<App> {
    Router::new()
        .route("/matchup", post(start))
        .route("/matchups/{id}", get(matchup))
        .route("/matchups/{id}/vote", post(vote))
        .route("/matchups/{id}/skip", post(skip))
}

/// Before the vote: only for its voter, and without names.
#[derive(Template, WebTemplate)]
#[template(path = "voting.html")]
struct VotingPage {
    page: Page,
    id: Uuid,
    served: ServedMatchup,
    angle: usize,
    notice: Option<&'static str>,
    /// Whether the voter has to pass the check that only the arena's script can do.
    needs_script: bool,
}

/// After the vote: for everybody; for its voter alone while a build of it is withheld.
#[derive(Template, WebTemplate)]
#[template(path = "matchup.html")]
struct MatchupPage {
    page: Page,
    /// One of the builds, for the prompt and the settings of both.
    build: Build,
    verdict: &'static str,
    sides: [MatchupSideView; 2],
    /// The formats in which both can be downloaded.
    formats: Vec<Format>,
    votes: i64,
    tally: [TallyBar; 4],
    /// Whether this is the visitor's own vote.
    own: bool,
}

struct MatchupSideView {
    name: &'static str,
    model: RevealedSide,
    /// Where its grid and its picture are. A withheld build has them in the matchup alone.
    address: String,
    chosen: bool,
}

/// A part of the tally, in percent of its length.
struct TallyBar {
    words: &'static str,
    count: i64,
    start: f64,
    length: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StartMatchupForm {
    prompt_id: Option<String>,
}

async fn start(
    State(app): State<App>,
    visitor: Visitor,
    Form(form): Form<StartMatchupForm>,
) -> Result<Redirect, Error> {
    let prompt = form.prompt_id.filter(|id| !id.is_empty());
    let matchup = open_matchup(&app, &visitor, prompt.as_deref()).await?;
    Ok(redirect_to(matchup.id))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MatchupPageQuery {
    angle: usize,
}

async fn matchup(
    State(app): State<App>,
    Path(matchup): Path<String>,
    visitor: Visitor,
    PageQuery(query): PageQuery<MatchupPageQuery>,
) -> Result<Response, Error> {
    let id = parse_id(&matchup)?;
    let served = served(&app, &visitor, id).await?;
    if let Some(reveal) = app.arena.reveal(id).await?
        && (served.is_some() || reveal.is_public())
    {
        return Ok(([NO_STORE], MatchupPage::of(&app, reveal, served.is_some()).await?).into_response());
    }
    let served = served.ok_or(ErrorCode::NoSuchMatchup)?;
    let needs_script = visitor.person_check(&app).await?.is_some();
    let page = VotingPage { needs_script, ..VotingPage::new(id, served, query.angle) };
    Ok(([NO_STORE], page).into_response())
}

#[derive(Deserialize)]
struct VoteForm {
    choice: String,
}

async fn vote(
    State(app): State<App>,
    Path(matchup): Path<String>,
    visitor: Visitor,
    Form(form): Form<VoteForm>,
) -> Result<Response, Error> {
    let choice = form.choice.parse().map_err(|_| ErrorCode::BadChoice)?;
    let id = parse_id(&matchup)?;
    match cast_vote(&app, &visitor, &matchup, choice).await? {
        Ok(_) | Err(VoteRejection::Already(_)) => Ok(redirect_to(id).into_response()),
        Err(VoteRejection::PersonCheck(_)) => {
            let served = served(&app, &visitor, id).await?.ok_or(ErrorCode::NoSuchMatchup)?;
            let page = VotingPage { needs_script: true, ..VotingPage::new(id, served, 0) };
            Ok((StatusCode::FORBIDDEN, [NO_STORE], page).into_response())
        }
        Err(VoteRejection::TooSoon(wait)) => {
            let served = served(&app, &visitor, id).await?.ok_or(ErrorCode::NoSuchMatchup)?;
            let page =
                VotingPage { notice: Some(ErrorCode::TooSoon.sentence()), ..VotingPage::new(id, served, 0) };
            let seconds = HeaderValue::from(wait.as_secs() + 1);
            Ok((StatusCode::TOO_MANY_REQUESTS, [NO_STORE], [(RETRY_AFTER, seconds)], page).into_response())
        }
    }
}

async fn skip(
    State(app): State<App>,
    Path(matchup): Path<String>,
    visitor: Visitor,
) -> Result<Redirect, Error> {
    let id = parse_id(&matchup)?;
    let voter = visitor.voter().await?.ok_or(ErrorCode::NoSuchMatchup)?;
    visitor.check_limit(&app, LimitedAction::Skip, Some(voter))?;
    match app.arena.skip(voter, id).await {
        Ok(()) => Ok(redirect_to(open_matchup(&app, &visitor, None).await?.id)),
        Err(SkipError::AlreadyVoted) => Ok(redirect_to(id)),
        Err(error) => Err(error.into()),
    }
}

fn redirect_to(matchup: Uuid) -> Redirect {
    Redirect::to(&format!("/matchups/{matchup}"))
}

/// The matchup, if it was served to this visitor; before or after the vote.
async fn served(app: &App, visitor: &Visitor, id: Uuid) -> Result<Option<ServedMatchup>, Error> {
    match visitor.voter().await? {
        Some(voter) => Ok(app.arena.served(voter, id).await?),
        None => Ok(None),
    }
}

impl VotingPage {
    fn new(id: Uuid, served: ServedMatchup, angle: usize) -> Self {
        Self {
            page: Page::at("/"),
            id,
            served,
            angle: angle % ANGLES.len(),
            notice: None,
            needs_script: false,
        }
    }
}

impl MatchupPage {
    async fn of(app: &App, reveal: Reveal, own: bool) -> Result<Self, Error> {
        let build = builds::find(&app.pool, reveal.a.build).await?.ok_or(ErrorCode::NoSuchMatchup)?;
        let all = reveal.others.with(reveal.choice);
        let words = choice_label(reveal.choice);
        let prompt = capitalised(&build.prompt_text);
        let title = format!("{prompt}: {} against {}", reveal.a.display_name, reveal.b.display_name);
        let alt = format!("{title}. The vote: {words}.");
        let page = match reveal.is_public() {
            true => Page::at("/").with_card(ShareCard::of("matchups", reveal.matchup, title, alt)),
            false => Page::at("/"),
        };
        let matchup = reveal.matchup;
        let side = |name: &'static str, model: RevealedSide| MatchupSideView {
            name,
            address: match model.withheld {
                true => format!("/api/arena/matchup/{matchup}/{}", name.to_ascii_lowercase()),
                false => format!("/api/builds/{}", model.build),
            },
            chosen: reveal.choice.name() == name,
            model,
        };
        Ok(Self {
            page,
            formats: formats_of_grid(build.settings.grid.get() as u16),
            build,
            verdict: words,
            sides: [side("A", reveal.a), side("B", reveal.b)],
            votes: all.sum(),
            tally: tally(&all),
            own,
        })
    }
}

impl MatchupSideView {
    fn grid(&self) -> String {
        if self.model.withheld { self.address.clone() } else { format!("{}/grid", self.address) }
    }

    fn change(&self) -> f64 {
        self.model.elo_after - self.model.elo_before
    }

    fn tone(&self) -> &'static str {
        if self.change() < 0.0 { "bad" } else { "good" }
    }

    /// How long the model took; none for an imported build.
    fn made(&self) -> Option<String> {
        self.model.generation_time_ms.map(|ms| format!("made in {:.1} s", ms as f64 / 1000.0))
    }
}

fn tally(all: &ChoiceCounts) -> [TallyBar; 4] {
    let mut start = 0.0;
    [("A", all.a), ("Tie", all.tie), ("Both bad", all.both_bad), ("B", all.b)].map(|(words, count)| {
        let length = 100.0 * count as f64 / all.sum().max(1) as f64;
        start += length;
        TallyBar { words, count, start: start - length, length }
    })
}
