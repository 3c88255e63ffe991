//! `/api/votes.csv` and `/api/votes.jsonl`: the whole vote log, as a stream.

use std::io::Write;
use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use time::format_description::well_known::Rfc3339;
use tokio::sync::Semaphore;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::arena::Exclusion;
use crate::arena::vote_log::{LoggedVote, VoteLog};
use crate::web::Error;

/// Bounds how many pages are read at once, for all visitors together. A visitor holds a permit only while a page is
/// read from the database, and nothing while it is sent.
static PAGE_READERS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(2));

/// Writes a vote as a line.
type VoteWriter = fn(&mut Vec<u8>, &LoggedVote) -> anyhow::Result<()>;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(csv)).routes(routes!(json_lines))
}

/// Download the vote log as CSV
///
/// Every vote with everything needed to recompute the leaderboard, and nothing about the voter, in the order in which
/// the votes were counted. The columns are the fields of the JSON Lines version.
#[utoipa::path(
    get, path = "/api/votes.csv", tag = "Results", operation_id = "votesCsv",
    responses((status = OK, description = "A line of column names, then one line per vote, as a stream.",
        content(("text/csv")))),
)]
async fn csv(State(app): State<App>) -> Result<Response, Error> {
    let columns = format!("{}\n", LoggedVote::COLUMNS.join(","));
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8; header=present"),
        (CONTENT_DISPOSITION, "attachment; filename=\"votes.csv\""),
    ];
    Ok((headers, body(&app, Some(columns.into()), write_csv_row).await?).into_response())
}

/// Download the vote log as JSON Lines
///
/// Every vote with everything needed to recompute the leaderboard, and nothing about the voter, in the order in which
/// the votes were counted.
#[utoipa::path(
    get, path = "/api/votes.jsonl", tag = "Results", operation_id = "votesJsonLines",
    responses((status = OK, description = "One JSON object per line and vote, as a stream.",
        content((LoggedVote = "application/jsonl")))),
)]
async fn json_lines(State(app): State<App>) -> Result<Response, Error> {
    let headers =
        [(CONTENT_TYPE, "application/jsonl"), (CONTENT_DISPOSITION, "attachment; filename=\"votes.jsonl\"")];
    Ok((headers, body(&app, None, write_json_line).await?).into_response())
}

/// The log, after a first line. When reading fails, the response is aborted, so that a client sees that it is
/// incomplete.
async fn body(app: &App, head: Option<Bytes>, write: VoteWriter) -> Result<Body, Error> {
    let pool = app.replica.clone();
    let published = app.arena.published(&pool).await?;
    let log = VoteLog::open(&pool, 0, published.through).await?;
    let pages = stream::try_unfold(log, move |mut log| {
        let pool = pool.clone();
        async move {
            let permit = PAGE_READERS.acquire().await?;
            let votes = log.next(&pool).await?;
            drop(permit);
            let mut page = Vec::new();
            for vote in &votes {
                write(&mut page, vote)?;
            }
            anyhow::Ok((!votes.is_empty()).then(|| (Bytes::from(page), log)))
        }
    });
    let pages = pages.inspect_err(|error: &anyhow::Error| {
        tracing::warn!("the download of the vote log was cut off: {error:#}");
    });
    Ok(Body::from_stream(stream::iter(head.map(Ok)).chain(pages)))
}

fn write_json_line(out: &mut Vec<u8>, vote: &LoggedVote) -> anyhow::Result<()> {
    Ok(vote.write_json_line(out)?)
}

/// No value needs quotes: all are slugs, digests, ids and numbers. Numbers have the fewest digits that
/// parse back to the same value.
fn write_csv_row(out: &mut Vec<u8>, vote: &LoggedVote) -> anyhow::Result<()> {
    let LoggedVote {
        id,
        at,
        matchup_id,
        prompt_id,
        model_a,
        model_b,
        build_a,
        build_b,
        choice,
        side,
        settings,
        elo_a_before,
        elo_a_after,
        elo_b_before,
        elo_b_after,
        probability,
        dwell_ms,
        exclusion,
        decision,
    } = vote;
    let at = at.format(&Rfc3339)?;
    let dwell_ms = dwell_ms.map(|ms| ms.to_string()).unwrap_or_default();
    write!(
        out,
        "{id},{at},{matchup_id},{prompt_id},{model_a},{model_b},{build_a},{build_b},{choice},{side},"
    )?;
    write!(out, "{settings},{elo_a_before},{elo_a_after},{elo_b_before},{elo_b_after},")?;
    let exclusion = exclusion.map(Exclusion::name).unwrap_or_default();
    let decision = decision.map(|decision| decision.to_string()).unwrap_or_default();
    writeln!(out, "{probability},{dwell_ms},{exclusion},{decision}")?;
    Ok(())
}
