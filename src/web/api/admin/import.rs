//! `POST /api/admin/import-build`: a build that somebody brings.

use std::net::Ipv4Addr;

use axum::Json;
use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::RequireAdmin;
use crate::app::App;
use crate::arena::builds::{PackedBuild, StoreError};
use crate::arena::catalog::{self, REFERENCE};
use crate::arena::imports::{self, ImportTarget, ImportedBuild, PromptRef};
use crate::arena::{self, Mode, ModelKey, PromptId, ReferencePolicy};
use crate::web::Error;
use crate::web::api::leaderboard::SettingsView;
use crate::web::body::{self, rejection_error, too_large};
use crate::web::openapi::shapes;
use crate::web::query::flag;
use crate::work::WorkClient;
use voxel::{GridSize, Palette, Warning};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(import))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ImportQuery {
    /// Who built it, by the model's key.
    #[param(example = "openai_gpt_5_2_pro")]
    model_key: String,
    /// One of the two says what was asked.
    prompt_id: Option<String>,
    /// A text that nobody knows makes an inactive prompt.
    prompt_text: Option<String>,
    /// The arena's own unless said otherwise, as are palette and mode.
    #[param(inline)]
    grid_size: Option<GridSize>,
    /// The blocks it may use.
    #[param(inline)]
    palette: Option<Palette>,
    /// A short slug.
    mode: Option<String>,
    /// 1 retires the build that is there.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    overwrite: bool,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Imported)]
struct ImportResponse {
    ok: bool,
    build_id: Uuid,
    prompt: ImportedPromptView,
    model: ImportedModelView,
    settings: SettingsView,
    block_count: u32,
    #[schema(value_type = Vec<shapes::WarningSchema>)]
    warnings: Vec<Warning>,
    overwritten: bool,
    /// Whether voters may be shown it.
    in_arena: bool,
    /// Why, or why not yet.
    hint: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportedPrompt)]
struct ImportedPromptView {
    id: String,
    text: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportedModel)]
struct ImportedModelView {
    key: String,
    provider: String,
    display_name: String,
}

/// Import a build
///
/// The body is a spec, plain or gzipped, with prose around it or not, or a .schem, a .litematic or a .vox, and passes
/// the same rules as any other.
#[utoipa::path(
    post, path = "/api/admin/import-build", tag = "Admin", operation_id = "importBuild",
    security(("adminToken" = [])),
    params(ImportQuery),
    request_body(
        description = "The text or the file. Its content type does not matter; what it is shows by its first bytes.",
        content(
            (shapes::SpecSchema = "application/json"), (String = "text/plain"), ("application/gzip"),
            ("application/octet-stream"),
        ),
    ),
    responses(
        (status = OK, description = "It is stored.", body = ImportResponse),
        (status = BAD_REQUEST, description = "bad_request, bad_json, bad_spec, bad_file, does_not_fit, too_much_work, body_cut_off"),
        (status = NOT_FOUND, description = "no_model, no_prompt"),
        (status = REQUEST_TIMEOUT, description = "body_stalled"),
        (status = CONFLICT, description = "exists"),
        (status = PAYLOAD_TOO_LARGE, description = "too_large"),
        (status = UNSUPPORTED_MEDIA_TYPE, description = "unsupported_encoding"),
        (status = UNPROCESSABLE_ENTITY, description = "no_blocks, too_many_blocks, too_few_blocks, footprint_too_small, height_too_small"),
    ),
)]
async fn import(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Query(parameters): Query<ImportQuery>,
    request: Request,
) -> Result<Json<ImportResponse>, Error> {
    let destination = parameters.destination(&app.arena.settings)?;
    let limit = app.config.import_max_bytes;
    let large = body::read(&app.memory, request, limit).await?.ok_or_else(|| too_large(limit))?;
    let settings = destination.settings.clone();
    // The body's share of the memory goes with it.
    let read = move || {
        let whole = &large;
        PackedBuild::read(&whole.bytes, &settings, limit)
    };
    // On the command line there is nobody else.
    let address = admin.address.unwrap_or(Ipv4Addr::LOCALHOST.into());
    let build = app.work.run(WorkClient::visitor(address), read).await?.map_err(rejection_error)?;
    let imported = imports::import(&app.pool, admin, &destination, &build, parameters.overwrite)
        .await
        .map_err(|reason| store_error(reason, &destination))?;
    app.worker.wake();
    let (in_arena, hint) = arena_status(&app, &destination, &imported).await?;
    Ok(Json(ImportResponse {
        ok: true,
        build_id: imported.stored.id,
        prompt: ImportedPromptView { id: imported.prompt.to_string(), text: imported.prompt_text },
        model: ImportedModelView {
            key: destination.model.to_string(),
            provider: imported.provider,
            display_name: imported.model_name,
        },
        settings: SettingsView::of(&destination.settings),
        block_count: build.block_count,
        warnings: build.warnings,
        overwritten: imported.stored.overwritten,
        in_arena,
        hint,
    }))
}

impl ImportQuery {
    fn destination(&self, usual: &arena::Settings) -> Result<ImportTarget, Error> {
        let prompt = match (self.prompt_id.as_deref(), self.prompt_text.as_deref().map(str::trim)) {
            (Some(id), None) => PromptRef::Id(id.parse::<PromptId>().map_err(bad_request)?),
            (None, Some(text)) => match catalog::prompt_problem(text) {
                None => PromptRef::Text(text.to_owned()),
                Some(problem) => return Err(bad_request(problem)),
            },
            _ => return Err(bad_request("Either promptId or promptText says what was asked.".to_owned())),
        };
        let mode = self.mode.as_deref().map(str::parse::<Mode>).transpose().map_err(bad_request)?;
        let settings = arena::Settings {
            grid: self.grid_size.unwrap_or(usual.grid),
            palette: self.palette.unwrap_or(usual.palette),
            mode: mode.unwrap_or_else(|| usual.mode.clone()),
        };
        Ok(ImportTarget { prompt, model: self.model_key.parse::<ModelKey>().map_err(bad_request)?, settings })
    }
}

/// Whether the build takes part now, in a sentence as well.
async fn arena_status(
    app: &App,
    destination: &ImportTarget,
    imported: &ImportedBuild,
) -> Result<(bool, String), Error> {
    let arena = &app.arena.settings;
    let no = |why: String| Ok((false, why));
    if destination.settings != *arena {
        return no(format!("The arena compares builds at {arena}; this one is in the gallery."));
    }
    if !imported.is_active {
        return no(format!(
            "Its prompt is not active yet: PATCH /api/admin/prompts/{} with {{\"active\": true}}.",
            imported.prompt
        ));
    }
    if !imported.is_enabled {
        return no(format!(
            "Its model is disabled: PATCH /api/admin/models/{} with {{\"enabled\": true}}.",
            destination.model
        ));
    }
    if imported.provider == REFERENCE && app.config.references == ReferencePolicy::Off {
        return no("Reference models take no part, since REFERENCE_MODELS is off.".to_owned());
    }
    let lineup = app.arena.lineup().await?;
    let contest = lineup.contest(&imported.prompt);
    let meets =
        contest.map(|contest| contest.entrants.iter().any(|entrant| entrant.build == imported.stored.id));
    Ok(match meets {
        Some(true) => (true, "Voters may meet it from now on.".to_owned()),
        Some(false) => {
            (false, "Reference models make room here: two others have built this prompt.".to_owned())
        }
        None => (
            false,
            "It is the only one of its prompt so far; voters meet it once another model has built."
                .to_owned(),
        ),
    })
}

fn store_error(reason: StoreError, destination: &ImportTarget) -> Error {
    match reason {
        StoreError::Exists => Error::new(
            StatusCode::CONFLICT,
            "exists",
            "There is a build of this prompt by this model at these settings already; overwrite=1 retires it.",
        ),
        StoreError::NoPrompt => {
            Error::not_found("There is no such prompt; promptText= brings one along.").with_code("no_prompt")
        }
        StoreError::NoModel => Error::not_found(format!(
            "There is no model {}; PUT /api/admin/models/{} adds it.",
            destination.model, destination.model
        ))
        .with_code("no_model"),
        StoreError::Database(error) => error.into(),
    }
}

fn bad_request(message: String) -> Error {
    Error::bad_request("bad_request", message)
}
