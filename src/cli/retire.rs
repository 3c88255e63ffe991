//! `buildoff retire`: removes builds from the arena.

use std::process::ExitCode;

use anyhow::{Context, bail};
use axum::http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::api::{AdminApi, ApiArgs, CommandWork};
use super::output::{self, OutputArgs};
use crate::arena::{ModelKey, PromptId};

#[derive(clap::Args)]
pub(super) struct RetireArgs {
    /// Ids of builds; they are at the end of the addresses of their pages.
    #[arg(value_name = "BUILD", required_unless_present_all = ["model", "prompt"], conflicts_with_all = ["model", "prompt"])]
    builds: Vec<Uuid>,
    /// Retire the build by this model of the prompt.
    #[arg(long, value_name = "KEY", requires = "prompt")]
    model: Option<ModelKey>,
    /// Retire the build of this prompt by the model.
    #[arg(long, value_name = "ID", requires = "model")]
    prompt: Option<PromptId>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    connection: ApiArgs,
}

#[derive(Deserialize)]
struct CliCoverage {
    cells: Vec<CliCell>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliCell {
    prompt_id: String,
    model_key: String,
    build_id: Option<Uuid>,
}

pub(super) fn run(arguments: &RetireArgs) -> anyhow::Result<ExitCode> {
    arguments.connection.run(CommandWork::Nothing, async |api| retire(api, arguments).await)
}

async fn retire(api: &AdminApi, arguments: &RetireArgs) -> anyhow::Result<ExitCode> {
    let builds = match (&arguments.model, &arguments.prompt) {
        (Some(model), Some(prompt)) => vec![build_in_force(api, model, prompt).await?],
        _ => arguments.builds.clone(),
    };
    for build in &builds {
        let path = format!("/api/admin/builds/{build}");
        api.send::<()>(Method::DELETE, &path, &Value::Null).await.with_context(|| build.to_string())?;
        if !arguments.output.json {
            output::line(format_args!("retired: {build}"))?;
        }
    }
    if arguments.output.json {
        output::json(&json!({ "ok": true, "retired": builds }))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn build_in_force(api: &AdminApi, model: &ModelKey, prompt: &PromptId) -> anyhow::Result<Uuid> {
    let CliCoverage { cells } = api.get("/api/admin/coverage").await?;
    let mut cells = cells.into_iter();
    let cell = cells.find(|cell| cell.prompt_id == prompt.as_str() && cell.model_key == model.as_str());
    match cell.and_then(|cell| cell.build_id) {
        Some(build) => Ok(build),
        None => bail!("{model} has no build of {prompt} at the arena's settings"),
    }
}
