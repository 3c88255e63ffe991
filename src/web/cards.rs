//! `/cards/…`: pictures of pages, for links that are shared.

mod layouts;
mod lettering;
mod poster;

use std::fmt::Debug;
use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use uuid::Uuid;

use self::layouts::{CardScores, CardSide, CardStanding};
use self::poster::{PictureSource, Poster};
use super::Error;
use super::api::assessments::AssessmentView;
use super::api::builds::{BuildAccess, find_build, find_grid, parse_id};
use super::api::models::{find_profile, no_model};
use super::api::runs::RunView;
use super::derived::{ContentRequest, Representation};
use super::encoding::Encoding;
use super::filters::capitalised;
use super::pages::agents::profile;
use super::pages::assessments::asked_in_words;
use super::pictures::damaged_build;
use crate::app::App;
use crate::arena::assessments::AssessmentState;
use crate::arena::builds::{self, CorruptGridError, StoredGrid};
use crate::arena::leaderboard::{LadderEntry, Leaderboard};
use crate::arena::{ModelKey, Reveal, gallery, shipped_builds};
use crate::unpacked_grids::UnpackedGrids;
use crate::work::WorkClient;
use voxel::codec::Digest;
use voxel::{self, Grid, GridSize, Palette};

/// For cards on which only a name can change.
const ONE_DAY: &str = "public, max-age=86400";
/// For cards that change with votes and builds.
const FIVE_MINUTES: &str = "public, max-age=300";

/// No shipped build is larger.
const SHIPPED_MAX_BYTES: usize = 4 << 20;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/cards/builds/{file}", get(build))
        .route("/cards/models/{file}", get(model))
        .route("/cards/prompts/{file}", get(prompt))
        .route("/cards/matchups/{file}", get(matchup))
        .route("/cards/agents/{file}", get(agent))
        .route("/cards/assessments/{file}", get(assessment))
        .route("/cards/leaderboard.png", get(leaderboard))
        .route("/cards/buildoff.png", get(site))
}

async fn build(request: ContentRequest, Path(file): Path<String>) -> Result<Response, Error> {
    let id = parse_id(stem(&file)?)?;
    let (build, _) = find_build(&request.app, &BuildAccess::EVERYBODY, id).await?;
    let poster = layouts::build(&build.prompt_text, &build.model_name, id);
    answer(&request, poster, ONE_DAY).await
}

async fn prompt(request: ContentRequest, Path(file): Path<String>) -> Result<Response, Error> {
    let id = stem(&file)?;
    let prompt = gallery::prompt(&request.app.pool, id).await?;
    let prompt = prompt.ok_or_else(|| Error::not_found("This prompt does not exist."))?;
    let covers: Vec<_> =
        gallery::of_prompt(&request.app.pool, id).await?.iter().map(|card| card.id).collect();
    let poster = layouts::prompt(&prompt.text, prompt.builds, &covers);
    answer(&request, poster, FIVE_MINUTES).await
}

async fn model(request: ContentRequest, Path(file): Path<String>) -> Result<Response, Error> {
    let app = &request.app;
    let facts = find_profile(app, stem(&file)?).await?.ok_or_else(no_model)?;
    let board = app.arena.leaderboard().await?;
    let build = representative_build(app, &board, &facts.key).await?;
    let standing = board.row(&facts.key).map(|row| standing(row, build));
    let poster = layouts::model(&facts.display_name, standing.as_ref(), board.rows.len(), build);
    answer(&request, poster, FIVE_MINUTES).await
}

/// Exists only after the vote, because it reveals who built what.
async fn matchup(request: ContentRequest, Path(file): Path<String>) -> Result<Response, Error> {
    let missing = || Error::not_found("This matchup does not exist, or nobody has voted on it yet.");
    let id = Uuid::try_parse(stem(&file)?).map_err(|_| missing())?;
    let reveal = request.app.arena.reveal(id).await?.filter(Reveal::is_public).ok_or_else(missing)?;
    let build = builds::find(&request.app.pool, reveal.a.build).await?.ok_or_else(missing)?;
    let sides = [&reveal.a, &reveal.b].map(|side| CardSide { name: &side.display_name, build: side.build });
    let poster = layouts::matchup(&build.prompt_text, sides, reveal.choice);
    answer(&request, poster, ONE_DAY).await
}

/// Its place on the usual board of all categories, and how it does in each.
async fn agent(request: ContentRequest, Path(file): Path<String>) -> Result<Response, Error> {
    let agent = profile::find(&request.app, stem(&file)?).await?;
    let groups = profile::places(&request.app, &agent.entry.key).await?;
    let places = groups.first().map(|group| group.places.as_slice()).unwrap_or_default();
    let shares: Vec<f64> = places.iter().skip(1).map(|place| place.total / place.max).collect();
    let (score, subject) = match places.first() {
        Some(all) => (
            format!("Rank {} of {}", all.rank, all.agents),
            format!("{:.1} of {} points in a block world", all.total, all.max),
        ),
        None => ("No results yet".to_owned(), "An agent in a block world".to_owned()),
    };
    let scores = CardScores { name: &agent.entry.name, subject: &subject, score: &score, shares: &shares };
    answer(&request, layouts::agent(&scores), FIVE_MINUTES).await
}

async fn assessment(request: ContentRequest, Path(file): Path<String>) -> Result<Response, Error> {
    let view = AssessmentView::find(&request.app, stem(&file)?).await?;
    let shares: Vec<f64> = view.runs.iter().map(RunView::share).collect();
    let score = format!("{:.1} of {}", view.score, view.max_score);
    let score = match view.state {
        AssessmentState::Finished => score,
        AssessmentState::Running => format!("{score} so far"),
        AssessmentState::Queued => "Not begun yet".to_owned(),
        AssessmentState::Failed | AssessmentState::Cancelled => "No result".to_owned(),
    };
    let subject = capitalised(&asked_in_words(&view.config));
    let scores = CardScores { name: view.contestant(), subject: &subject, score: &score, shares: &shares };
    answer(&request, layouts::agent(&scores), FIVE_MINUTES).await
}

async fn leaderboard(request: ContentRequest) -> Result<Response, Error> {
    let app = &request.app;
    let board = app.arena.leaderboard().await?;
    let mut leaders = Vec::new();
    for row in board.rows.iter().take(if board.votes == 0 { 0 } else { 3 }) {
        leaders.push(standing(row, representative_build(app, &board, &row.model.key).await?));
    }
    answer(&request, layouts::leaderboard(&leaders), FIVE_MINUTES).await
}

async fn site(request: ContentRequest) -> Result<Response, Error> {
    answer(&request, layouts::site(), ONE_DAY).await
}

/// The name of a file without `.png`.
fn stem(file: &str) -> Result<&str, Error> {
    file.strip_suffix(".png").ok_or_else(|| Error::not_found("This card does not exist."))
}

/// The build of the prompt that a model does best on, or any of its builds.
async fn representative_build(app: &App, board: &Leaderboard, key: &ModelKey) -> Result<Option<Uuid>, Error> {
    let record = app.arena.record(key, &board.stats).await?;
    let best = record.prompts.iter().find_map(|prompt| prompt.record.share().and(prompt.build));
    match best {
        Some(build) => Ok(Some(build)),
        None => Ok(app.arena.builds_of(key).await?.first().map(|card| card.id)),
    }
}

fn standing(row: &LadderEntry, build: Option<Uuid>) -> CardStanding {
    CardStanding { name: row.model.display_name.clone(), rank: row.rank, elo: row.standing.elo, build }
}

/// Answers with a card. It is drawn once for all visitors, until its content changes.
async fn answer(
    ContentRequest { app, client, headers, .. }: &ContentRequest,
    poster: Poster,
    cache_control: &'static str,
) -> Result<Response, Error> {
    let name = name(&poster);
    let representation =
        Representation { kind: "image/png", name: &name, encoding: Encoding::Identity, cache_control };
    let drawn = app.pictures.get(*client, Arc::clone(&name), load(app, *client, poster));
    representation.respond(headers, drawn).await
}

/// Raised whenever the same card is drawn differently than before.
const RENDER_VERSION: u8 = 1;

/// Names a card by its content. That includes the ids of its builds, whose grids never change.
fn name(poster: &impl Debug) -> Arc<str> {
    format!("card-{RENDER_VERSION}-{}", hex::encode(&Digest::of(format!("{poster:?}").as_bytes()).0[..16]))
        .into()
}

/// Loads the builds of a card, and returns a closure that draws it.
async fn load(
    app: &App,
    client: WorkClient,
    poster: Poster,
) -> Result<impl FnOnce() -> Result<Vec<u8>, Error> + Send + use<>, Error> {
    let mut found = Vec::new();
    for placed in &poster.pictures {
        found.push(match placed.source {
            PictureSource::Stored(id) => LoadedPicture::Stored(find_grid(app, id).await?),
            PictureSource::Shipped(file) => LoadedPicture::Shipped(file),
        });
    }
    let unpacked = app.unpacked_grids.clone();
    Ok(move || {
        let grids = found.iter().map(|picture| picture.open(client, &unpacked));
        let grids = grids.collect::<Result<Vec<_>, _>>().map_err(damaged_build)?;
        poster.draw(&grids).map_err(Error::internal)
    })
}

enum LoadedPicture {
    Stored(StoredGrid),
    Shipped(&'static str),
}

impl LoadedPicture {
    fn open(&self, client: WorkClient, unpacked: &UnpackedGrids) -> Result<Grid, Arc<CorruptGridError>> {
        match self {
            Self::Stored(grid) => unpacked.open(client, grid),
            Self::Shipped(file) => Ok(shipped(file)),
        }
    }
}

/// An empty grid if the file does not exist, which a test notices.
fn shipped(file: &str) -> Grid {
    let text = shipped_builds::file_text(file).unwrap_or_default();
    let verdict = voxel::check(&text, GridSize::G32, Palette::Simple, SHIPPED_MAX_BYTES);
    verdict.grid().cloned().unwrap_or_else(|| Grid::empty(GridSize::G32))
}
