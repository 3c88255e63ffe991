//! What `buildoff models` and `buildoff prompts` share: listing, changing and adding entries of the catalog.

use std::fmt::Display;

use anyhow::{Context, bail};
use axum::http::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::api::AdminApi;

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
        let changed = api.send::<T>(Method::PATCH, &path::<T>(key), change).await;
        println!("{}", changed.with_context(|| key.to_string())?);
    }
    Ok(())
}

/// Adds an entry, or with `replace` overwrites the one with its key.
pub(super) async fn add<T: CatalogEntry>(
    api: &AdminApi,
    key: &impl Display,
    entry: &Value,
    replace: bool,
) -> anyhow::Result<()> {
    let name = key.to_string();
    if !replace && entries::<T>(api).await?.iter().any(|entry| entry.key() == name) {
        bail!("{} {key} exists; --replace overwrites it", T::KIND);
    }
    println!("{}", api.send::<T>(Method::PUT, &path::<T>(key), entry).await?);
    Ok(())
}

pub(super) async fn entries<T: CatalogEntry>(api: &AdminApi) -> anyhow::Result<Vec<T>> {
    Ok(api.get::<CatalogList<T>>(&format!("/api/admin/{}s", T::KIND)).await?.entries)
}

pub(super) fn path<T: CatalogEntry>(key: &impl Display) -> String {
    format!("/api/admin/{}s/{key}", T::KIND)
}
