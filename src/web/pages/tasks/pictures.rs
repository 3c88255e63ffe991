//! The pictures of tasks: how each begins, and its solution as a moving picture. They are drawn when they are first
//! wanted, and kept among the other pictures.

use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::http::header::CONTENT_DISPOSITION;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use buildoff_world::{RunFilm, picture_of};
use serde::Deserialize;
use world::record::Recording;
use world::{Episode, Frame, Terrains, WorldTask};

use super::{SEED, ShownSolution, ShownTask};
use crate::app::App;
use crate::web::Error;
use crate::web::derived::{ContentRequest, IMMUTABLE, Representation};
use crate::web::encoding::Encoding;
use crate::web::query::PageQuery;
use crate::web::terrains::shared_terrains;

/// The sizes of the pictures of a start.
const START: [usize; 2] = [640, 360];
const THUMBNAIL: [usize; 2] = [320, 180];
const START_QUALITY: f32 = 85.0;

/// Solutions are pictures of their own size, at most 10 a second.
const FILM: RunFilm = RunFilm { size: [320, 180], every: 2, max_pictures: 120, max_bytes: 560_000 };
const FILM_QUALITY: f32 = 55.0;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/tasks/{category}/{name}/start.webp", get(start))
        .route("/tasks/{category}/{name}/thumbnail.webp", get(thumbnail))
        .route("/tasks/{category}/{name}/solution.webp", get(solution))
        .route("/tasks/{category}/{name}/solution.run", get(recording))
}

type TaskPath = Path<(String, String)>;

#[derive(Default, Deserialize)]
#[serde(default)]
struct TaskFileQuery {
    /// As in [`ShownTask::version`]: under an address with it, a file never changes.
    v: String,
}

async fn start(
    request: ContentRequest,
    path: TaskPath,
    query: PageQuery<TaskFileQuery>,
) -> Result<Response, Error> {
    draw_start(request, path, query, START).await
}

async fn thumbnail(
    request: ContentRequest,
    path: TaskPath,
    query: PageQuery<TaskFileQuery>,
) -> Result<Response, Error> {
    draw_start(request, path, query, THUMBNAIL).await
}

async fn draw_start(
    request: ContentRequest,
    Path((category, name)): TaskPath,
    PageQuery(query): PageQuery<TaskFileQuery>,
    size: [usize; 2],
) -> Result<Response, Error> {
    let shown = ShownTask::find(&category, &name)?;
    let Some(task) = shown.task.clone() else {
        return Err(Error::not_found("This task has no pictures: it cannot be run here."));
    };
    let draw = move |terrains: &Terrains| start_of(&task, terrains, size);
    answer(request, shown, &query, &format!("start-{}", size[0]), draw).await
}

async fn solution(
    request: ContentRequest,
    Path((category, name)): TaskPath,
    PageQuery(query): PageQuery<TaskFileQuery>,
) -> Result<Response, Error> {
    let shown = ShownTask::find(&category, &name)?;
    let file = solution_of(shown)?.file;
    answer(request, shown, &query, "solution", move |terrains| film_of(file, terrains)).await
}

async fn recording(
    ContentRequest { headers, .. }: ContentRequest,
    Path((category, name)): TaskPath,
    PageQuery(query): PageQuery<TaskFileQuery>,
) -> Result<Response, Error> {
    let shown = ShownTask::find(&category, &name)?;
    let file = solution_of(shown)?.file;
    let representation = Representation {
        kind: "application/gzip",
        name: &format!("task-recording-{}", shown.version),
        encoding: Encoding::Identity,
        cache_control: shown.cache_control(&query),
    };
    let response = representation.respond(&headers, async { Ok(file) }).await?;
    let disposition = format!("attachment; filename=\"{name}.{SEED}.run\"");
    Ok(([(CONTENT_DISPOSITION, disposition)], response).into_response())
}

fn solution_of(shown: &'static ShownTask) -> Result<&'static ShownSolution, Error> {
    shown.solution.as_ref().ok_or_else(|| Error::not_found("This task has no recorded solution."))
}

impl ShownTask {
    fn cache_control(&self, query: &TaskFileQuery) -> &'static str {
        if query.v == self.version { IMMUTABLE } else { "no-cache" }
    }
}

/// Answers with a picture of a task, which is drawn only for visitors who do not have it, and once for all of them.
async fn answer(
    ContentRequest { app, client, headers, .. }: ContentRequest,
    shown: &'static ShownTask,
    query: &TaskFileQuery,
    kind: &str,
    draw: impl FnOnce(&Terrains) -> anyhow::Result<Vec<u8>> + Send + 'static,
) -> Result<Response, Error> {
    let name = format!("task-{kind}-{}", shown.version);
    let bytes = async {
        let terrains = shared_terrains();
        let load = async { Ok::<_, Error>(move || draw(&terrains).map_err(Error::internal)) };
        app.pictures.get(client, format!("{name}-{}", shown.address()).into(), load).await.map(Body::from)
    };
    let representation = Representation {
        kind: "image/webp",
        name: &name,
        encoding: Encoding::Identity,
        cache_control: shown.cache_control(query),
    };
    representation.respond(&headers, bytes).await
}

fn start_of(
    task: &Arc<WorldTask>,
    terrains: &Terrains,
    [width, height]: [usize; 2],
) -> anyhow::Result<Vec<u8>> {
    let mut frame = Frame::new(width, height);
    Episode::new(task, SEED, terrains).world().view(&mut frame);
    Ok(picture_of(&frame).lossy_webp(START_QUALITY)?)
}

fn film_of(file: &[u8], terrains: &Terrains) -> anyhow::Result<Vec<u8>> {
    let recording = Recording::read(file).context("a shipped recording")?;
    FILM.shoot(&recording, terrains, |picture| Ok(picture.lossy_webp(FILM_QUALITY)?))
}
