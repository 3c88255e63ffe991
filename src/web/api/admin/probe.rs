//! `/api/admin/models/{key}/probe`: whether a model can be asked for builds.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::RequireAdmin;
use super::catalog::model;
use super::jobs::dollars;
use crate::app::App;
use crate::arena::ModelKey;
use crate::arena::audit;
use crate::arena::jobs::attempts::SentOptions;
use crate::web::openapi::{codes, shapes};
use crate::web::views::unavailable_reason;
use crate::web::{Error, ErrorCode};
use crate::worker::probe::ModelProbe;

/// Longer than a probe waits for an answer.
pub(super) const PROBE_DEADLINE: Duration = Duration::from_secs(80);

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(probe))
}

/// What a model did with a tiny request.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModelProbe)]
struct ModelProbeView {
    /// Whether builds can be requested.
    ok: bool,
    /// The provider that was asked; null if there is a key for none.
    #[schema(required, example = "openai")]
    provider: Option<String>,
    /// The provider’s name for the model.
    #[schema(required, example = "gpt-5.2-pro")]
    model_id: Option<String>,
    /// What is wrong, such as bad_key, no_credit, no_such_model or bad_request; null if nothing is.
    #[schema(required, example = json!(null))]
    code: Option<&'static str>,
    #[schema(required, example = json!(null))]
    message: Option<String>,
    #[schema(example = 1200)]
    ms: u64,
    /// In dollars; null if it is unknown.
    #[schema(required, example = 0.0004)]
    cost: Option<f64>,
    /// The options that were sent last; null if no answer ended in time.
    #[schema(required, value_type = Option<shapes::SentOptionsSchema>)]
    sent: Option<SentOptions>,
    /// Options that the provider rejected, and what was sent instead.
    #[schema(value_type = Vec<Value>)]
    notes: Value,
}

/// Probe a model
///
/// Sends one tiny request with the options and the schema of builds, and waits up to a minute for the answer. The next
/// builds begin with the options that were accepted.
#[utoipa::path(
    post, path = "/api/admin/models/{key}/probe", tag = "Admin", operation_id = "probeModel",
    params(("key" = String, Path, description = "The model's key.", example = "openai_gpt_5_2_pro")),
    responses((status = OK, description = "What came of it.", body = ModelProbeView)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoModel])))),
)]
async fn probe(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(key): Path<String>,
) -> Result<Json<ModelProbeView>, Error> {
    let key: ModelKey = key.parse().map_err(|_| ErrorCode::NoModel)?;
    let model = model(&app, &key).await?.model;
    let mut connection = app.pool.acquire().await?;
    audit::record(&mut connection, admin, "probe model", key.as_str(), json!({})).await?;
    drop(connection);
    Ok(Json(match app.worker.probe(&model).await {
        Some(probe) => ModelProbeView::of(probe),
        None => ModelProbeView::without_key(unavailable_reason(&model, &app.worker.providers())),
    }))
}

impl ModelProbeView {
    fn of(ModelProbe { provider, model_id, failure, time, response, cost }: ModelProbe) -> Self {
        let (code, message) = failure.map(|failure| (failure.code, failure.message)).unzip();
        Self {
            ok: code.is_none(),
            provider: Some(provider),
            model_id: Some(model_id),
            code,
            message,
            ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            cost: cost.and_then(|cost| i64::try_from(cost.0).ok()).map(dollars),
            sent: response.as_ref().map(|response| response.sent.clone()),
            notes: response.map_or_else(|| json!([]), |response| json!(response.notes)),
        }
    }

    fn without_key(message: Option<String>) -> Self {
        Self {
            ok: false,
            provider: None,
            model_id: None,
            code: Some("no_provider"),
            message,
            ms: 0,
            cost: None,
            sent: None,
            notes: json!([]),
        }
    }
}
