//! `buildoff models budget`: what a model may cost in all.

use reqwest::Method;
use serde_json::{Value, json};

use crate::arena::ModelKey;
use crate::cli::api::AdminApi;
use crate::cli::output;

/// A number of dollars, or none.
#[derive(Clone, Copy, Debug)]
pub(super) struct DollarLimit(Option<f64>);

pub(super) fn parse_limit(text: &str) -> Result<DollarLimit, String> {
    if text == "none" {
        return Ok(DollarLimit(None));
    }
    let dollars: Option<f64> = text.trim_start_matches('$').parse().ok();
    let dollars = dollars.filter(|dollars| dollars.is_finite());
    dollars.map(|dollars| DollarLimit(Some(dollars))).ok_or_else(|| "a number of dollars, or none".to_owned())
}

pub(super) async fn run(
    api: &AdminApi,
    key: &ModelKey,
    limit: DollarLimit,
    json: bool,
) -> anyhow::Result<()> {
    let path = format!("/api/admin/models/{key}/budget");
    let set: Value = api.send(Method::PUT, &path, &json!({ "dollars": limit.0 })).await?;
    match (json, set["dollars"].as_f64()) {
        (true, _) => output::json(&set)?,
        (false, Some(dollars)) => output::line(format_args!("{key} may cost ${dollars:.2} in all."))?,
        (false, None) => output::line(format_args!("{key} has no budget of its own."))?,
    }
    Ok(())
}
