//! `/api/admin/models/{key}/budget`, and budgets as admins see them.

use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use serde_json::json;
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::RequireAdmin;
use super::catalog::model;
use super::jobs::dollars;
use crate::app::App;
use crate::arena::budgets::{self, Budget, BudgetScope};
use crate::arena::catalog::{ListedModel, Model, budget_problem};
use crate::arena::{ModelKey, audit};
use crate::web::openapi::codes;
use crate::web::{Error, ErrorCode, filters};

/// The share in percent from which a budget has a sentence.
const NOTICE_PERCENT: i64 = 80;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(set_model_budget))
}

/// What asking models may cost, and has cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Budget)]
pub struct BudgetView {
    /// day, month, sandbox or model. A day and a month are those of UTC; sandbox is what visitors may use of this server’s
    /// keys in a day; a model’s budget is for all times.
    #[schema(example = "day")]
    pub kind: String,
    /// The model of a budget for one.
    #[schema(required, example = json!(null))]
    pub model_key: Option<String>,
    #[schema(example = "Today")]
    pub name: String,
    /// In dollars.
    #[schema(example = 25.0)]
    pub limit: f64,
    /// In dollars, as far as known.
    #[schema(example = 4.2)]
    pub spent: f64,
    /// In dollars: what jobs under way are expected to cost beyond that.
    #[schema(example = 0.6)]
    pub reserved: f64,
    /// Requests that may have cost more than is known.
    #[schema(example = 0)]
    pub unpriced: i64,
    /// How much of it is spent, rounded down.
    #[schema(example = 16)]
    pub percent: i64,
    /// When it begins anew; null for a model’s.
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required)]
    pub until: Option<OffsetDateTime>,
    /// For people, once 80 percent are spent.
    #[schema(required, example = json!(null))]
    pub sentence: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ModelBudgetChange)]
struct ModelBudgetRequest {
    /// In dollars; null for no limit.
    #[schema(required, example = 25.0)]
    #[serde(deserialize_with = "Option::deserialize")]
    dollars: Option<f64>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModelBudget)]
struct ModelBudgetResponse {
    #[schema(example = "openai_gpt_5_2_pro")]
    model_key: String,
    /// In dollars; null for no limit.
    #[schema(required, example = 25.0)]
    dollars: Option<f64>,
}

/// Set the budget of a model
///
/// What requests to the model may cost in all. Once that is spent, its jobs wait in the queue. Seeding does not overwrite
/// it.
#[utoipa::path(
    put, path = "/api/admin/models/{key}/budget", tag = "Admin", operation_id = "setModelBudget",
    params(("key" = String, Path, description = "The model's key.", example = "openai_gpt_5_2_pro")),
    request_body = ModelBudgetRequest,
    responses((status = OK, description = "The budget now.", body = ModelBudgetResponse)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoModel])))),
)]
async fn set_model_budget(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(key): Path<String>,
    Json(ModelBudgetRequest { dollars: wanted }): Json<ModelBudgetRequest>,
) -> Result<Json<ModelBudgetResponse>, Error> {
    let key: ModelKey = key.parse().map_err(|_| ErrorCode::NoModel)?;
    Error::bad_request_if(budget_problem(wanted))?;
    model(&app, &key).await?;
    let mut transaction = app.pool.begin().await?;
    let budget = wanted.map(|dollars| (dollars * 1e6).round() as i64);
    budgets::set_model_budget(&mut transaction, &key, budget).await?;
    audit::record(&mut transaction, admin, "set budget", key.as_str(), json!({ "dollars": wanted })).await?;
    transaction.commit().await?;
    app.worker.wake();
    let stored = budgets::model_budget(&app.pool, &key).await?.map(dollars);
    Ok(Json(ModelBudgetResponse { model_key: key.to_string(), dollars: stored }))
}

impl BudgetView {
    pub(super) fn of(budget: &Budget, models: &[ListedModel]) -> Self {
        let name = match &budget.scope {
            BudgetScope::Day => "Today".to_owned(),
            BudgetScope::Month => "This month".to_owned(),
            BudgetScope::Sandbox => "Sandbox today".to_owned(),
            BudgetScope::Model(key) => {
                let listed = models.iter().find(|listed| listed.model.key == *key);
                listed.map_or_else(|| key.to_string(), |listed| listed.model.display_name.clone())
            }
        };
        Self {
            kind: budget.scope.name().to_owned(),
            model_key: budget.scope.model().map(ToString::to_string),
            sentence: sentence(budget, &name),
            name,
            limit: dollars(budget.limit),
            spent: dollars(budget.spent),
            reserved: dollars(budget.reserved),
            unpriced: budget.unpriced,
            percent: budget.percent(),
            until: budget.ends,
        }
    }

    /// Why no job of the model is started, if it is for this budget.
    pub(super) fn wait_reason(&self, model: &Model) -> Option<String> {
        let is_free = model.prices.is_some_and(|prices| prices.input == 0.0 && prices.output == 0.0);
        let pays = match self.kind.as_str() {
            "sandbox" => false,
            "model" => self.model_key.as_deref() == Some(model.key.as_str()),
            _ => true,
        };
        if is_free || !pays || self.spent + self.reserved < self.limit {
            return None;
        }
        let what = match self.kind.as_str() {
            "day" => "Today’s budget",
            "month" => "This month’s budget",
            _ => "The model’s budget",
        };
        Some(if self.spent >= self.limit {
            format!("{what} is used up.")
        } else {
            format!("{what} may be used up by jobs in progress.")
        })
    }

    pub(in crate::web) fn spent_text(&self) -> String {
        filters::format_cost(Some(self.spent), self.unpriced > 0)
    }

    /// A number from 0 to 100.
    pub(in crate::web) fn bar(&self) -> i64 {
        self.percent.min(100)
    }

    pub(in crate::web) fn limit_text(&self) -> String {
        filters::format_cost(Some(self.limit), false)
    }
}

/// Stays the same while a budget is being used up, so that it can be announced once.
fn sentence(budget: &Budget, name: &str) -> Option<String> {
    if budget.percent() < NOTICE_PERCENT {
        return None;
    }
    let limit = filters::format_cost(Some(dollars(budget.limit)), false);
    let what = match budget.scope {
        BudgetScope::Day => format!("today’s budget of {limit}"),
        BudgetScope::Month => format!("this month’s budget of {limit}"),
        BudgetScope::Sandbox => format!("today’s sandbox budget of {limit}"),
        BudgetScope::Model(_) => format!("the budget of {limit} for {name}"),
    };
    if !budget.is_used_up() {
        return Some(format!("{NOTICE_PERCENT} % or more of {what} is spent."));
    }
    let waiting =
        if budget.scope == BudgetScope::Sandbox { "Visitors need their own keys" } else { "Jobs wait" };
    let until = match budget.ends {
        Some(ends) => format!("until {} {} at 00:00 UTC, or until you raise it", ends.day(), ends.month()),
        None => "until you raise it".to_owned(),
    };
    let what = filters::capitalised(&what);
    Some(format!("{what} is used up. {waiting} {until}."))
}
