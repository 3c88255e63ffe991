//! What `buildoff agents`, `buildoff models` and `buildoff prompts` share: listing, changing and adding entries of the catalog.

use std::fmt::Display;

use anyhow::{Context, anyhow, bail};
use axum::http::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::api::{AdminApi, AdminApiError};
use super::output;

/// An agent, a model or a prompt as the API describes it, displayed as one line.
pub(super) trait CatalogEntry: DeserializeOwned + Display {
    /// What it is, in the singular. The plural is its address in the API.
    const KIND: &'static str;

    fn key(&self) -> &str;
}

#[derive(Deserialize)]
struct CatalogList<T> {
    #[serde(alias = "agents", alias = "models", alias = "prompts")]
    entries: Vec<T>,
}

pub(super) async fn list<T: CatalogEntry>(api: &AdminApi, json: bool) -> anyhow::Result<()> {
    if json {
        let list: Value = api.get(&list_path::<T>()).await?;
        return Ok(output::json(&list)?);
    }
    for entry in entries::<T>(api).await? {
        output::line(entry)?;
    }
    Ok(())
}

/// Changes entries one after the other, and prints each as it is then.
pub(super) async fn patch_each<T: CatalogEntry>(
    api: &AdminApi,
    keys: &[impl Display],
    change: &Value,
    json: bool,
) -> anyhow::Result<()> {
    for key in keys {
        patch::<T>(api, key, change, "", json).await?;
    }
    Ok(())
}

/// Changes an entry, and prints it as it is then.
pub(super) async fn patch<T: CatalogEntry>(
    api: &AdminApi,
    key: &impl Display,
    change: &Value,
    query: &str,
    json: bool,
) -> anyhow::Result<()> {
    let changed = api.send(Method::PATCH, &format!("{}{query}", path::<T>(key)), change).await;
    print::<T>(changed.map_err(name_option).with_context(|| key.to_string())?, json)
}

/// Deletes entries one after the other.
pub(super) async fn delete_each<T: CatalogEntry>(
    api: &AdminApi,
    keys: &[impl Display],
    json: bool,
) -> anyhow::Result<()> {
    for key in keys {
        api.delete(&path::<T>(key)).await.with_context(|| key.to_string())?;
        match json {
            true => output::json(&serde_json::json!({ "deleted": key.to_string() }))?,
            false => output::line(format_args!("{key} is deleted"))?,
        }
    }
    Ok(())
}

pub(super) async fn find<T: CatalogEntry>(api: &AdminApi, key: &impl Display) -> anyhow::Result<T> {
    let name = key.to_string();
    let found = entries::<T>(api).await?.into_iter().find(|entry| entry.key() == name);
    found.with_context(|| format!("{} {key} does not exist", T::KIND))
}

/// Adds an entry, or with `replace` overwrites the one with its key.
pub(super) async fn add<T: CatalogEntry>(
    api: &AdminApi,
    key: &impl Display,
    entry: &Value,
    replace: bool,
    query: &str,
    json: bool,
) -> anyhow::Result<()> {
    let name = key.to_string();
    if !replace && entries::<T>(api).await?.iter().any(|entry| entry.key() == name) {
        bail!("{} {key} exists; --replace overwrites it", T::KIND);
    }
    let added = api.send(Method::PUT, &format!("{}{query}", path::<T>(key)), entry).await;
    print::<T>(added.map_err(name_option)?, json)
}

/// Names the option that allows what was refused.
fn name_option(error: anyhow::Error) -> anyhow::Error {
    let is_fixed = error.downcast_ref::<AdminApiError>().is_some_and(|error| error.code == "model_is_fixed");
    if is_fixed { anyhow!("{error} With --retire-builds, they are retired.") } else { error }
}

pub(super) async fn entries<T: CatalogEntry>(api: &AdminApi) -> anyhow::Result<Vec<T>> {
    Ok(api.get::<CatalogList<T>>(&list_path::<T>()).await?.entries)
}

fn print<T: CatalogEntry>(entry: Value, json: bool) -> anyhow::Result<()> {
    match json {
        true => output::json(&entry)?,
        false => output::line(serde_json::from_value::<T>(entry)?)?,
    }
    Ok(())
}

fn list_path<T: CatalogEntry>() -> String {
    format!("/api/admin/{}s", T::KIND)
}

pub(super) fn path<T: CatalogEntry>(key: &impl Display) -> String {
    format!("/api/admin/{}s/{key}", T::KIND)
}
