//! `buildoff agents token`: tokens of owners.

use axum::http::Method;
use serde_json::{Map, Value, json};

use super::CliAgent;
use crate::arena::ModelKey;
use crate::cli::api::AdminApi;
use crate::cli::{catalog, output};

#[derive(clap::Args)]
pub(super) struct TokenArgs {
    /// Key of the agent.
    key: ModelKey,
    /// Make a token for somebody of this name, and print it. It is not shown again.
    #[arg(long, conflicts_with = "revoke")]
    name: Option<String>,
    /// How many assessments the new token may order in a day.
    #[arg(long, value_name = "N", requires = "name")]
    runs_per_day: Option<i32>,
    /// Revoke the token with this id.
    #[arg(long, value_name = "ID")]
    revoke: Option<uuid::Uuid>,
}

/// Without options, it lists the tokens.
pub(super) async fn run(api: &AdminApi, arguments: &TokenArgs, json: bool) -> anyhow::Result<()> {
    let TokenArgs { key, name, runs_per_day, revoke } = arguments;
    let path = format!("{}/tokens", catalog::path::<CliAgent>(key));
    if let Some(id) = revoke {
        api.delete(&format!("{path}/{id}")).await?;
        let done = if json {
            output::json(&json!({ "revoked": id }))
        } else {
            output::line(format_args!("{id} is revoked"))
        };
        return Ok(done?);
    }
    if let Some(name) = name {
        let mut wanted = Map::from_iter([("name".to_owned(), json!(name))]);
        super::set(&mut wanted, "runsPerDay", *runs_per_day);
        let made: Value = api.send(Method::POST, &path, &wanted.into()).await?;
        if json {
            return Ok(output::json(&made)?);
        }
        output::note("Give this token to the owner. It is not shown again.");
        return Ok(output::line(made["token"].as_str().unwrap_or_default())?);
    }
    let all: Value = api.get(&path).await?;
    if json {
        return Ok(output::json(&all)?);
    }
    for token in all["tokens"].as_array().into_iter().flatten() {
        let text = |field: &str| token[field].as_str().unwrap_or("never").to_owned();
        let state = if token["revokedAt"].is_null() { "valid" } else { "revoked" };
        let (id, name, runs) = (text("id"), text("name"), &token["runsPerDay"]);
        output::line(format_args!("{id}  {state:7}  {name} ({runs} a day, used: {})", text("usedAt")))?;
    }
    Ok(())
}
