//! `POST /api/admin/import-build`: adds a build from a file.

use std::net::Ipv4Addr;

use axum::Json;
use axum::extract::{Query, Request, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::RequireAdmin;
use crate::app::App;
use crate::arena::builds::StoreError;
use crate::arena::catalog::{self, REFERENCE};
use crate::arena::imports::{self, ImportTarget, ImportedBuild, PromptRef};
use crate::arena::{Mode, ModelKey, PromptId, ReferencePolicy, Settings, WaitingModel};
use crate::web::body::read_build;
use crate::web::openapi::{codes, shapes};
use crate::web::query::flag;
use crate::web::views::SettingsView;
use crate::web::{Error, ErrorCode};
use crate::work::WorkClient;
use voxel::{GridSize, Palette, Warning};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(import))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ImportQuery {
    /// The key of the model that built it.
    #[param(example = "openai_gpt_5_2_pro")]
    model_key: String,
    /// The prompt’s slug. Either this or promptText is required.
    prompt_id: Option<String>,
    /// The prompt’s text. A new text adds an inactive prompt.
    prompt_text: Option<String>,
    /// The grid to build in. Default: the arena’s.
    #[param(inline)]
    grid_size: Option<GridSize>,
    /// The blocks to build with. Default: the arena’s.
    #[param(inline)]
    palette: Option<Palette>,
    /// A short slug. Default: the arena’s.
    mode: Option<String>,
    /// 1 retires the existing build.
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
    /// Whether the build can appear in matchups.
    in_arena: bool,
    /// Why, or why not.
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
/// The body is a spec, plain or gzipped, with or without prose around it, or a .schem, .litematic or .vox file. The same
/// rules apply as to any other build.
#[utoipa::path(
    post, path = "/api/admin/import-build", tag = "Admin", operation_id = "importBuild",
    params(ImportQuery),
    request_body(
        description = "The text or the file. The content type is ignored; the first bytes decide.",
        content(
            (shapes::SpecSchema = "application/json"), (String = "text/plain"), ("application/gzip"),
            ("application/octet-stream"),
        ),
    ),
    responses((status = OK, description = "The build is imported.", body = ImportResponse)),
    extensions(("x-errors" = json!(codes([
        ErrorCode::BadRequest, ErrorCode::BadJson, ErrorCode::BadSpec, ErrorCode::BadFile,
        ErrorCode::DoesNotFit, ErrorCode::TooMuchWork, ErrorCode::BodyCutOff, ErrorCode::NoModel,
        ErrorCode::NoPrompt, ErrorCode::BodyStalled, ErrorCode::Exists, ErrorCode::TooLarge,
        ErrorCode::UnsupportedEncoding, ErrorCode::NoBlocks, ErrorCode::TooManyBlocks,
        ErrorCode::TooFewBlocks, ErrorCode::FootprintTooSmall, ErrorCode::HeightTooSmall,
    ])))),
)]
async fn import(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Query(query): Query<ImportQuery>,
    request: Request,
) -> Result<Json<ImportResponse>, Error> {
    let target = query.target(&app.arena.settings)?;
    // The command line has no address.
    let client = WorkClient::visitor(admin.address.unwrap_or(Ipv4Addr::LOCALHOST.into()));
    let memory = app.memory.of_admin();
    let limit = app.config.import_max_bytes;
    let build = read_build(&app, client, memory, request, &target.settings, limit).await?;
    let imported = imports::import(&app.pool, admin, &target, &build, query.overwrite)
        .await
        .map_err(|reason| store_error(reason, &target))?;
    app.worker.wake();
    let (in_arena, hint) = arena_status(&app, &target, &imported).await?;
    Ok(Json(ImportResponse {
        ok: true,
        build_id: imported.stored.id,
        prompt: ImportedPromptView { id: imported.prompt.to_string(), text: imported.prompt_text },
        model: ImportedModelView {
            key: target.model.to_string(),
            provider: imported.provider,
            display_name: imported.model_name,
        },
        settings: SettingsView::of(&target.settings),
        block_count: build.block_count,
        warnings: build.warnings,
        overwritten: imported.stored.overwritten,
        in_arena,
        hint,
    }))
}

impl ImportQuery {
    fn target(&self, arena: &Settings) -> Result<ImportTarget, Error> {
        let prompt = match (self.prompt_id.as_deref(), self.prompt_text.as_deref().map(str::trim)) {
            (Some(id), None) => PromptRef::Id(id.parse::<PromptId>().map_err(Error::bad_request)?),
            (None, Some(text)) => match catalog::prompt_problem(text) {
                None => PromptRef::Text(text.to_owned()),
                Some(problem) => return Err(Error::bad_request(problem)),
            },
            _ => return Err(Error::bad_request("Send either promptId or promptText.")),
        };
        let mode = self.mode.as_deref().map(str::parse::<Mode>).transpose().map_err(Error::bad_request)?;
        let mut settings = arena.with(self.grid_size, self.palette);
        settings.mode = mode.unwrap_or(settings.mode);
        let model = self.model_key.parse::<ModelKey>().map_err(Error::bad_request)?;
        Ok(ImportTarget { prompt, model, settings })
    }
}

/// Whether the build can appear in matchups, and why or why not.
async fn arena_status(
    app: &App,
    target: &ImportTarget,
    imported: &ImportedBuild,
) -> Result<(bool, String), Error> {
    let arena = &app.arena.settings;
    let no = |why: String| Ok((false, why));
    if target.settings != *arena {
        return no(format!("The arena compares builds at {arena}, so this build is only in the gallery."));
    }
    if !imported.is_active {
        return no(format!(
            "Its prompt is inactive. To activate it, PATCH /api/admin/prompts/{} with {{\"active\": true}}.",
            imported.prompt
        ));
    }
    if !imported.is_enabled {
        return no(format!(
            "Its model is disabled. To enable it, PATCH /api/admin/models/{} with {{\"enabled\": true}}.",
            target.model
        ));
    }
    if imported.provider == REFERENCE && app.config.references == ReferencePolicy::Off {
        return no("Reference models are not in the arena, because REFERENCE_MODELS is off.".to_owned());
    }
    let lineup = app.arena.lineup().await?;
    if let Some(WaitingModel { builds, needed, .. }) =
        lineup.waiting.iter().find(|waiting| waiting.model == target.model)
    {
        return no(format!(
            "Its model has built {builds} of the active prompts. Its builds are voted on once it has built {needed} \
             (COHORT_PERCENT)."
        ));
    }
    let contest = lineup.contest(&imported.prompt);
    let meets =
        contest.map(|contest| contest.entrants.iter().any(|entrant| entrant.build == imported.stored.id));
    Ok(match meets {
        Some(true) => (true, "The build can appear in matchups.".to_owned()),
        Some(false) => {
            (false, "Two other models have built this prompt, so reference models step aside.".to_owned())
        }
        None => {
            (false, "It is the first build of its prompt. Matchups need a build by another model.".to_owned())
        }
    })
}

fn store_error(reason: StoreError, target: &ImportTarget) -> Error {
    let model = &target.model;
    match reason {
        StoreError::Exists => {
            let message = "This model already has a build of this prompt at these settings. \
                           Use overwrite=1 to retire it.";
            Error::new(ErrorCode::Exists, message)
        }
        StoreError::NoPrompt => {
            Error::new(ErrorCode::NoPrompt, "This prompt does not exist. Use promptText to add it.")
        }
        StoreError::NoModel => {
            let message =
                format!("The model {model} does not exist. To add it, PUT /api/admin/models/{model}.");
            Error::new(ErrorCode::NoModel, message)
        }
        StoreError::Database(error) => error.into(),
    }
}
