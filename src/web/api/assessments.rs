//! `/api/assessments`: agents are put through tasks of the block world, and what came of it.

mod listing;

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use moka::future::Cache;
use serde::Serialize;
use serde_json::Value;
use time::OffsetDateTime;
use tokio::time::sleep;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(in crate::web) use self::listing::ListedAssessmentView;
use super::runs::RunView;
use crate::app::App;
use crate::arena::ModelKey;
use crate::arena::assessments::{self, Assessment, AssessmentState, OrderRefused};
use crate::assess::order::OrderBody;
use crate::assess::report::{AssessmentResult, ResultFile, ResultParticipants};
use crate::assessor::PlaceError;
use crate::judge::scores::Revision;
use crate::outbound;
use crate::web::derived::NO_STORE;
use crate::web::filters::capitalised;
use crate::web::openapi::codes;
use crate::web::order_rights::MayOrder;
use crate::web::{Error, ErrorCode};

/// How often a watched assessment is looked at, for all who watch it together.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(order, listing::list))
        .routes(routes!(show, cancel))
        .routes(routes!(events))
        .routes(routes!(results))
}

/// An assessment that was ordered.
#[derive(Serialize, ToSchema)]
#[schema(as = OrderedAssessment)]
struct OrderedView {
    id: Uuid,
    /// Its page.
    #[schema(example = "/assessments/0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70")]
    url: String,
    state: AssessmentState,
}

/// An assessment as it is now.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Assessment)]
pub(in crate::web) struct AssessmentView {
    pub id: Uuid,
    pub state: AssessmentState,
    /// Why it failed.
    #[schema(required)]
    pub problem: Option<String>,
    /// Null for an address that no agent of the register has.
    #[schema(required)]
    pub agent: Option<AssessedAgentView>,
    /// Where the agent is asked.
    #[schema(example = "agents.example")]
    pub host: String,
    /// What its card said at the start.
    #[schema(required)]
    pub card: Option<AssessedCardView>,
    /// As it was ordered.
    #[schema(value_type = Object)]
    pub config: Value,
    /// The engine of the world: our own simulator, and not Minecraft.
    #[schema(example = "buildoff-1.1")]
    pub world: String,
    pub revision: Revision,
    /// A seed that was drawn is null until the assessment has ended.
    #[schema(required)]
    pub seed: Option<i64>,
    pub seed_is_drawn: bool,
    #[serde(with = "time::serde::rfc3339")]
    pub wanted_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required)]
    pub started_at: Option<OffsetDateTime>,
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required)]
    pub ended_at: Option<OffsetDateTime>,
    /// The sum of the scores of all runs so far.
    pub score: f64,
    /// The most that all runs together can score.
    pub max_score: f64,
    /// In the order in which they are run.
    pub runs: Vec<RunView>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AssessedAgent)]
pub(in crate::web) struct AssessedAgentView {
    #[schema(example = "tower_bot")]
    pub key: String,
    #[schema(example = "Tower Bot")]
    pub name: String,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AssessedCard)]
pub(in crate::web) struct AssessedCardView {
    pub name: String,
    pub version: String,
    /// The version of the A2A protocol.
    #[schema(example = "1.0")]
    pub protocol: String,
    /// The SHA-256 of the card, in hexadecimal.
    pub digest: String,
}

/// Order an assessment
///
/// An agent is put through tasks of the block world. Owners of agents order them with their token, and admins with theirs.
/// Without a token, whoever sits at this machine can have an agent at this machine assessed, unless the installation says
/// otherwise.
#[utoipa::path(
    post, path = "/api/assessments", tag = "Agents", operation_id = "orderAssessment",
    request_body = OrderBody,
    responses((status = ACCEPTED, description = "The assessment waits for its turn.", body = OrderedView)),
    security((), ("agentToken" = []), ("adminToken" = [])),
    extensions(("x-errors" = json!(codes([
        ErrorCode::BadOrder, ErrorCode::MayNotAssess, ErrorCode::NoAgent, ErrorCode::AddressRefused,
        ErrorCode::TooManyAssessments, ErrorCode::BadAgentToken, ErrorCode::RateLimited,
    ])))),
)]
async fn order(
    State(app): State<App>,
    MayOrder(rights): MayOrder,
    Json(order): Json<Value>,
) -> Result<(StatusCode, Json<OrderedView>), Error> {
    let id = app.assessor.place(&order, &rights, None).await?;
    let view = OrderedView { id, url: format!("/assessments/{id}"), state: AssessmentState::Queued };
    Ok((StatusCode::ACCEPTED, Json(view)))
}

/// Get an assessment
///
/// How it goes, or what came of it, with its runs.
#[utoipa::path(
    get, path = "/api/assessments/{id}", tag = "Agents", operation_id = "assessment",
    params(("id" = Uuid, Path, description = "The assessment's id.")),
    responses((status = OK, description = "The assessment.", body = AssessmentView)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoAssessment])))),
)]
async fn show(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Error> {
    let view = AssessmentView::find(&app, &id).await?;
    Ok(([NO_STORE], Json(view)).into_response())
}

/// Watch an assessment
///
/// Server-sent events named `assessment`, each with the assessment as `GET /api/assessments/{id}` answers it, whenever it
/// has changed. The stream ends with the assessment.
#[utoipa::path(
    get, path = "/api/assessments/{id}/events", tag = "Agents", operation_id = "assessmentEvents",
    params(("id" = Uuid, Path, description = "The assessment's id.")),
    responses((status = OK, description = "Events until the assessment has ended.",
        content((String = "text/event-stream")))),
    extensions(("x-errors" = json!(codes([ErrorCode::NoAssessment])))),
)]
async fn events(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Error> {
    let id = AssessmentView::find(&app, &id).await?.id;
    let closing = app.shutdown.clone();
    let watch = (app, String::new(), false);
    let events = stream::unfold(watch, move |(app, seen, is_over)| {
        let closing = closing.clone();
        async move {
            if is_over {
                return None;
            }
            let mut pause = Duration::ZERO;
            loop {
                tokio::select! {
                    () = sleep(pause) => {}
                    () = closing.cancelled() => return None,
                }
                pause = LOOK_INTERVAL;
                let Ok(watched) = watched(&app, id).await else { continue };
                if watched.text != seen {
                    let event = Event::default().event("assessment").data(&watched.text);
                    return Some((Ok::<_, Infallible>(event), (app, watched.text.clone(), watched.is_over)));
                }
            }
        }
    });
    // Asks proxies not to buffer events.
    Ok(([("x-accel-buffering", "no")], Sse::new(events).keep_alive(KeepAlive::default())).into_response())
}

/// Get the results of an assessment
///
/// In the shape in which this family of benchmarks publishes results: one element for the scores without a judge, and one
/// for each judge.
#[utoipa::path(
    get, path = "/api/assessments/{id}/results.json", tag = "Agents", operation_id = "assessmentResults",
    params(("id" = Uuid, Path, description = "The assessment's id.")),
    responses((status = OK, description = "The results.", body = ResultFile)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoAssessment, ErrorCode::NotPublished])))),
)]
async fn results(State(app): State<App>, Path(id): Path<String>) -> Result<Json<ResultFile>, Error> {
    let assessment = find(&app, &id).await?;
    let stored = assessments::results(&app.pool, assessment.id).await?;
    if stored.is_empty() {
        return Err(ErrorCode::NotPublished.into());
    }
    let results: Result<Vec<AssessmentResult>, _> =
        stored.into_iter().map(|stored| serde_json::from_value(stored.result)).collect();
    let agent = match &assessment.agent {
        Some(key) => key.to_string(),
        None => outbound::host_and_port(&assessment.url).unwrap_or_default(),
    };
    let results = results.map_err(Error::internal)?;
    Ok(Json(ResultFile { participants: ResultParticipants { agent }, results }))
}

/// Cancel an assessment
///
/// Whoever ordered it can, and admins; visitors without a token are not told apart. There is no result then.
#[utoipa::path(
    delete, path = "/api/assessments/{id}", tag = "Agents", operation_id = "cancelAssessment",
    params(("id" = Uuid, Path, description = "The assessment's id.")),
    responses((status = NO_CONTENT, description = "It is cancelled.")),
    security((), ("agentToken" = []), ("adminToken" = [])),
    extensions(("x-errors" = json!(codes([
        ErrorCode::NoAssessment, ErrorCode::AssessmentOver, ErrorCode::MayNotAssess, ErrorCode::BadAgentToken,
    ])))),
)]
async fn cancel(
    State(app): State<App>,
    MayOrder(rights): MayOrder,
    Path(id): Path<String>,
) -> Result<StatusCode, Error> {
    let assessment = find(&app, &id).await?;
    if !rights.may_cancel(assessment.ordered_by) {
        return Err(Error::new(ErrorCode::MayNotAssess, "Somebody else has ordered this assessment."));
    }
    if !assessments::cancel(&app.pool, assessment.id).await? {
        return Err(ErrorCode::AssessmentOver.into());
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn find(app: &App, id: &str) -> Result<Assessment, Error> {
    let id: Uuid = id.parse().map_err(|_| ErrorCode::NoAssessment)?;
    Ok(assessments::find(&app.pool, id).await?.ok_or(ErrorCode::NoAssessment)?)
}

/// An assessment that somebody watches, as JSON.
struct WatchedAssessment {
    text: String,
    is_over: bool,
}

/// The assessment as it was a moment ago at most.
async fn watched(app: &App, id: Uuid) -> Result<Arc<WatchedAssessment>, Arc<Error>> {
    static LATEST: LazyLock<Cache<Uuid, Arc<WatchedAssessment>>> =
        LazyLock::new(|| Cache::builder().max_capacity(1000).time_to_live(LOOK_INTERVAL / 2).build());
    let look = async {
        let view = AssessmentView::find(app, &id.to_string()).await?;
        let text = serde_json::to_string(&view).map_err(Error::internal)?;
        Ok(Arc::new(WatchedAssessment { text, is_over: view.state.is_over() }))
    };
    LATEST.try_get_with(id, look).await
}

impl AssessmentView {
    /// # Errors
    /// If there is no such assessment.
    pub async fn find(app: &App, id: &str) -> Result<Self, Error> {
        let assessment = find(app, id).await?;
        let runs = assessments::runs(&app.pool, assessment.id).await?;
        let runs: Vec<RunView> = runs.iter().map(|run| RunView::of(run, &assessment)).collect();
        let Assessment { id, agent, agent_name, url, .. } = &assessment;
        Ok(Self {
            id: *id,
            state: assessment.state,
            agent: AssessedAgentView::of(agent.as_ref(), agent_name.as_deref()),
            host: outbound::host_and_port(url).unwrap_or_default(),
            seed: assessment.shown_seed(),
            seed_is_drawn: assessment.seed_is_drawn,
            card: assessment.card.map(|card| AssessedCardView {
                name: card.name,
                version: card.version,
                protocol: card.protocol,
                digest: card.digest,
            }),
            problem: assessment.problem,
            config: assessment.config,
            world: assessment.world,
            revision: assessment.revision,
            wanted_at: assessment.wanted_at,
            started_at: assessment.started_at,
            ended_at: assessment.ended_at,
            // The sum of nothing is −0.
            score: runs.iter().filter_map(|run| run.score).sum::<f64>() + 0.0,
            max_score: runs.iter().map(|run| run.max_score).sum(),
            runs,
        })
    }
}

impl AssessedAgentView {
    fn of(key: Option<&ModelKey>, name: Option<&str>) -> Option<Self> {
        Some(Self { key: key?.to_string(), name: name?.to_owned() })
    }
}

impl From<PlaceError> for Error {
    fn from(problem: PlaceError) -> Self {
        let words = capitalised(&problem.to_string());
        match problem {
            PlaceError::Order(_) => Self::new(ErrorCode::BadOrder, words),
            PlaceError::NotAllowed(_) => Self::new(ErrorCode::MayNotAssess, words),
            PlaceError::NoAgent(_) => Self::new(ErrorCode::NoAgent, words),
            PlaceError::Address(_) => Self::new(ErrorCode::AddressRefused, words + "."),
            PlaceError::Refused(OrderRefused::Database(error)) => error.into(),
            PlaceError::Refused(OrderRefused::NoToken) => ErrorCode::BadAgentToken.into(),
            PlaceError::Refused(_) => Self::new(ErrorCode::TooManyAssessments, words + "."),
        }
    }
}
