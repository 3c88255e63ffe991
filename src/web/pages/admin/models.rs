//! `/admin/models`: all models, and whether they are enabled and can generate builds.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;

use super::session::SignedIn;
use crate::app::App;
use crate::arena::catalog::{self, ListedModel, Provider, REFERENCE};
use crate::arena::{ReferencePolicy, budgets};
use crate::generate::Providers;
use crate::web::views::{AdminModelView, unavailable_reason};
use crate::web::{Error, Page, filters};

/// The levels of thinking, as in the API.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/models", get(models))
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/models.html")]
struct ModelsPage {
    page: Page,
    rows: Vec<ModelsPageRow>,
    providers: Vec<Provider>,
    references: ReferencePolicy,
    /// Whether any reference model is enabled; none without reference models.
    references_on: Option<bool>,
}

struct ModelsPageRow {
    model: AdminModelView,
    unavailable_reason: Option<String>,
    /// The model id that would be sent to the provider.
    sent: String,
    /// In dollars.
    budget: Option<f64>,
}

async fn models(State(app): State<App>, _: SignedIn) -> Result<ModelsPage, Error> {
    let listed = catalog::models(&app.pool).await?;
    let budgets = budgets::model_budgets(&app.pool).await?;
    let providers = app.worker.providers();
    let references = listed.iter().filter(|listed| listed.model.provider == REFERENCE);
    let references_on = references.map(|listed| listed.enabled).reduce(|any, one| any || one);
    let row = |listed: &ListedModel| ModelsPageRow {
        model: AdminModelView::of(listed, &providers),
        unavailable_reason: unavailable_reason(&listed.model, &providers),
        sent: providers.route(&listed.model).map_or(&*listed.model.model_id, |(_, name)| name).to_owned(),
        budget: budgets.get(&listed.model.key).map(|micros| *micros as f64 / 1e6),
    };
    Ok(ModelsPage {
        page: Page::at("/admin/models"),
        rows: sorted_for_display(&listed, &providers).into_iter().map(row).collect(),
        providers: providers.known().to_vec(),
        references: app.config.references,
        references_on,
    })
}

/// Models that can generate builds come first, references last.
pub(super) fn sorted_for_display<'a>(
    listed: &'a [ListedModel],
    providers: &Providers,
) -> Vec<&'a ListedModel> {
    let mut models: Vec<_> = listed.iter().collect();
    models.sort_by_key(|listed| (listed.model.provider == REFERENCE, !providers.can_generate(&listed.model)));
    models
}

impl ModelsPageRow {
    fn is_reference(&self) -> bool {
        self.model.provider == REFERENCE
    }

    /// The provider that requests go to, if it is not the model's own.
    fn through(&self) -> Option<&str> {
        self.model.asked_at.as_deref().filter(|asked| *asked != self.model.provider)
    }
}

impl ModelsPage {
    fn are_barred(&self) -> bool {
        self.references == ReferencePolicy::Off
    }

    fn none_enabled(&self) -> bool {
        self.references_on == Some(false)
    }

    fn rule(&self) -> &'static str {
        match self.references {
            ReferencePolicy::Auto => {
                "Reference models take part in a prompt until two other models have built it \
                 (REFERENCE_MODELS is auto)."
            }
            ReferencePolicy::On => "Reference models always take part (REFERENCE_MODELS is on).",
            ReferencePolicy::Off => {
                "Reference models do not take part, even if they are enabled (REFERENCE_MODELS is off)."
            }
        }
    }
}
