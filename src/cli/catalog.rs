//! What `buildoff models` and `buildoff prompts` share: listing, changing and adding entries of the catalog.

use std::fmt::Display;

use anyhow::{Context, anyhow, bail};
use axum::http::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::api::{AdminApi, AdminApiError};

/// A model or a prompt as the API describes it, displayed as one line.
pub(super) trait CatalogEntry: DeserializeOwned + Display {
    /// What it is, in the singular. The plural is its address in the API.
    const KIND: &'static str;

    fn key(&self) -> &str;
}

#[derive(Deserialize)]
struct CatalogList<T> {
    #[serde(alias = "models", alias = "prompts")]
    entries: Vec<T>,
}

pub(super) async fn list<T: CatalogEntry>(api: &AdminApi) -> anyhow::Result<()> {
    entries::<T>(api).await?.iter().for_each(|entry| println!("{entry}"));
    Ok(())
}

/// Changes entries one after the other, and prints each as it is then.
pub(super) async fn patch_each<T: CatalogEntry>(
    api: &AdminApi,
    keys: &[impl Display],
    change: &Value,
) -> anyhow::Result<()> {
    for key in keys {
        patch::<T>(api, key, change, "").await?;
    }
    Ok(())
}

/// Changes an entry, and prints it as it is then.
pub(super) async fn patch<T: CatalogEntry>(
    api: &AdminApi,
    key: &impl Display,
    change: &Value,
    query: &str,
) -> anyhow::Result<()> {
    let changed = api.send::<T>(Method::PATCH, &format!("{}{query}", path::<T>(key)), change).await;
    println!("{}", changed.map_err(name_option).with_context(|| key.to_string())?);
    Ok(())
}

/// Deletes entries one after the other.
pub(super) async fn delete_each<T: CatalogEntry>(
    api: &AdminApi,
    keys: &[impl Display],
) -> anyhow::Result<()> {
    for key in keys {
        api.delete(&path::<T>(key)).await.with_context(|| key.to_string())?;
        println!("{key} is deleted");
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
) -> anyhow::Result<()> {
    let name = key.to_string();
    if !replace && entries::<T>(api).await?.iter().any(|entry| entry.key() == name) {
        bail!("{} {key} exists; --replace overwrites it", T::KIND);
    }
    let added = api.send::<T>(Method::PUT, &format!("{}{query}", path::<T>(key)), entry).await;
    println!("{}", added.map_err(name_option)?);
    Ok(())
}

/// Names the option that allows what was refused.
fn name_option(error: anyhow::Error) -> anyhow::Error {
    let is_fixed = error.downcast_ref::<AdminApiError>().is_some_and(|error| error.code == "model_is_fixed");
    if is_fixed { anyhow!("{error} With --retire-builds, they are retired.") } else { error }
}

pub(super) async fn entries<T: CatalogEntry>(api: &AdminApi) -> anyhow::Result<Vec<T>> {
    Ok(api.get::<CatalogList<T>>(&format!("/api/admin/{}s", T::KIND)).await?.entries)
}

pub(super) fn path<T: CatalogEntry>(key: &impl Display) -> String {
    format!("/api/admin/{}s/{key}", T::KIND)
}
