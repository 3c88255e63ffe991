//! `/api/judgements.csv` and `/api/judgements.jsonl`: the whole log of judgements, as a stream.

use std::io::Write;
use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde::Deserialize;
use time::format_description::well_known::Rfc3339;
use tokio::sync::Semaphore;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::arena::Exclusion;
use crate::judge::criteria::Criterion;
use crate::judge::log::{JudgementContent, LoggedBuild, LoggedJudgement, LoggedPair, LoggedScores};
use crate::web::Error;

/// Bounds how many pages are read at once, for all visitors together, as with the vote log.
static PAGE_READERS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(2));

/// Writes a judgement as a line.
type JudgementWriter = fn(&mut Vec<u8>, &LoggedJudgement) -> anyhow::Result<()>;

const COLUMNS: [&str; 30] = [
    "id",
    "at",
    "kind",
    "judge_kind",
    "judge",
    "judge_provider",
    "prompt_id",
    "settings",
    "criteria",
    "build",
    "model",
    "provider",
    "blocks",
    "other_build",
    "other_model",
    "other_provider",
    "other_blocks",
    "choice",
    "task_progress",
    "material_usage",
    "action_control",
    "efficiency",
    "error_recognition",
    "creative_attempts",
    "overall",
    "tokens_in",
    "tokens_out",
    "cost_micro_dollars",
    "exclusion",
    "decision",
];

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(csv)).routes(routes!(json_lines))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct JudgementsQuery {
    /// Only judgements after the one with this ID, to continue a download that was cut off.
    #[param(example = 17)]
    after: Option<i64>,
}

/// Download the judgements as CSV
///
/// What the JSON Lines version has, except for sentences: what a score rests on, notes and reasons are only there. Of a
/// choice between two builds, `build` is the left one and `other_build` the right one.
#[utoipa::path(
    get, path = "/api/judgements.csv", tag = "Results", operation_id = "judgementsCsv", params(JudgementsQuery),
    responses((status = OK, description = "A line of column names, then one line per judgement, as a stream.",
        content(("text/csv")))),
)]
async fn csv(
    State(app): State<App>,
    Query(JudgementsQuery { after }): Query<JudgementsQuery>,
) -> Result<Response, Error> {
    let columns = format!("{}\n", COLUMNS.join(","));
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8; header=present"),
        (CONTENT_DISPOSITION, "attachment; filename=\"judgements.csv\""),
    ];
    Ok((headers, body(&app, after, Some(columns.into()), write_csv_row).await?).into_response())
}

/// Download the judgements as JSON Lines
///
/// Every judgement of a build by the criteria, and every choice of a judge between two builds, in the order in which
/// they were stored. People are one judge, and nothing tells them apart. Builds have their ids of the vote log, and
/// builds of held-out prompts follow once they are released. With the vote log, this is all that is needed to compute
/// how good the judges are: `buildoff judges --from judgements.jsonl votes.jsonl`.
#[utoipa::path(
    get, path = "/api/judgements.jsonl", tag = "Results", operation_id = "judgementsJsonLines",
    params(JudgementsQuery),
    responses((status = OK, description = "One JSON object per line and judgement, as a stream.",
        content((LoggedJudgement = "application/jsonl")))),
)]
async fn json_lines(
    State(app): State<App>,
    Query(JudgementsQuery { after }): Query<JudgementsQuery>,
) -> Result<Response, Error> {
    let headers = [
        (CONTENT_TYPE, "application/jsonl"),
        (CONTENT_DISPOSITION, "attachment; filename=\"judgements.jsonl\""),
    ];
    Ok((headers, body(&app, after, None, write_json_line).await?).into_response())
}

/// The log, after a first line. When reading fails, the response is aborted, so that a client sees that it is
/// incomplete.
async fn body(
    app: &App,
    after: Option<i64>,
    head: Option<Bytes>,
    write: JudgementWriter,
) -> Result<Body, Error> {
    let pool = app.replica.clone();
    let log = app.arena.judgement_log(after.unwrap_or(0).max(0)).await?;
    let pages = stream::try_unfold(log, move |mut log| {
        let pool = pool.clone();
        async move {
            let permit = PAGE_READERS.acquire().await?;
            let judgements = log.next(&mut *pool.acquire().await?).await?;
            drop(permit);
            let mut page = Vec::new();
            for judgement in &judgements {
                write(&mut page, judgement)?;
            }
            anyhow::Ok((!judgements.is_empty()).then(|| (Bytes::from(page), log)))
        }
    });
    let pages = pages.inspect_err(|error: &anyhow::Error| {
        tracing::warn!("the download of the judgements was cut off: {error:#}");
    });
    Ok(Body::from_stream(stream::iter(head.map(Ok)).chain(pages)))
}

fn write_json_line(out: &mut Vec<u8>, judgement: &LoggedJudgement) -> anyhow::Result<()> {
    Ok(judgement.write_json_line(out)?)
}

/// No value needs quotes: all are slugs, digests, ids and numbers.
fn write_csv_row(out: &mut Vec<u8>, judgement: &LoggedJudgement) -> anyhow::Result<()> {
    let LoggedJudgement { id, judge, prompt_id, settings, criteria, content, .. } = judgement;
    let at = judgement.at.format(&Rfc3339)?;
    let kind = match content {
        JudgementContent::Scores(_) => "scores",
        JudgementContent::Pair(_) => "pair",
    };
    let provider = judge.provider.as_deref().unwrap_or_default();
    write!(
        out,
        "{id},{at},{kind},{},{},{provider},{prompt_id},{settings},{criteria},",
        judge.kind, judge.key
    )?;
    match content {
        JudgementContent::Scores(LoggedScores { build, scores, overall, .. }) => {
            write_build(out, build)?;
            write!(out, ",,,,,")?;
            for criterion in Criterion::ALL {
                write!(out, "{},", field(scores.get(criterion)))?;
            }
            write!(out, "{},", field(*overall))?;
        }
        JudgementContent::Pair(LoggedPair { left, right, choice, .. }) => {
            write_build(out, left)?;
            write_build(out, right)?;
            write!(out, "{choice},,,,,,,,")?;
        }
    }
    let exclusion = judgement.exclusion.map(Exclusion::name).unwrap_or_default();
    let LoggedJudgement { tokens_in, tokens_out, cost_micro_dollars, decision, .. } = judgement;
    let [tokens_in, tokens_out, cost, decision] =
        [tokens_in, tokens_out, cost_micro_dollars, decision].map(|number| field(*number));
    writeln!(out, "{tokens_in},{tokens_out},{cost},{exclusion},{decision}")?;
    Ok(())
}

fn write_build(out: &mut Vec<u8>, build: &LoggedBuild) -> anyhow::Result<()> {
    let LoggedBuild { id, model, provider, blocks } = build;
    Ok(write!(out, "{id},{model},{provider},{blocks},")?)
}

fn field(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
