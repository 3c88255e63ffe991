//! `buildoff models probe`: whether models can be asked for builds.

use std::fmt;
use std::process::ExitCode;

use anyhow::Context;
use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};

use super::CliModel;
use crate::arena::ModelKey;
use crate::cli::api::AdminApi;
use crate::cli::{catalog, output};

/// How many models are probed at a time.
const AT_ONCE: usize = 8;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliProbe {
    ok: bool,
    provider: Option<String>,
    model_id: Option<String>,
    message: Option<String>,
    ms: u64,
    cost: Option<f64>,
    notes: Vec<CliNote>,
}

/// How the request was changed because the provider did not take it as it was.
#[derive(Deserialize)]
struct CliNote {
    step: Value,
    why: String,
}

/// Probes models, and prints what came of each as soon as it is known.
pub(super) async fn run(
    api: &AdminApi,
    keys: &[ModelKey],
    all: bool,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let keys = if all { models_with_key(api).await? } else { keys.iter().map(ToString::to_string).collect() };
    if keys.is_empty() {
        let nobody = "No model can be asked: no enabled model has a provider with a key.";
        match json {
            true => output::json(&json!({ "ok": false, "models": [], "error": nobody }))?,
            false => output::line(nobody)?,
        }
        return Ok(ExitCode::FAILURE);
    }
    let probe = async |key: String| {
        let path = format!("{}/probe", catalog::path::<CliModel>(&key));
        let probed = api.post::<Value>(&path, "").await.with_context(|| key.clone());
        (key, probed)
    };
    let mut probes = stream::iter(keys).map(probe).buffer_unordered(AT_ONCE);
    let (mut failed, mut answers) = (false, Vec::new());
    while let Some((key, probed)) = probes.next().await {
        let answer = probed?;
        let probe: CliProbe = serde_json::from_value(answer.clone())?;
        failed |= !probe.ok;
        match json {
            true => answers.push(json!({ "key": key, "probe": answer })),
            false => output::line(format_args!("{key:40} {probe}"))?,
        }
    }
    if json {
        output::json(&json!({ "ok": !failed, "models": answers }))?;
    }
    Ok(ExitCode::from(u8::from(failed)))
}

async fn models_with_key(api: &AdminApi) -> anyhow::Result<Vec<String>> {
    let models = catalog::entries::<CliModel>(api).await?;
    Ok(models
        .into_iter()
        .filter(|model| model.enabled && model.asked_at.is_some())
        .map(|model| model.key)
        .collect())
}

impl fmt::Display for CliProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.ok { "ok    " } else { "failed" })?;
        if let (Some(provider), Some(id)) = (&self.provider, &self.model_id) {
            let cost = self.cost.map_or("—".to_owned(), |dollars| format!("${dollars:.4}"));
            write!(f, "  {id} via {provider}, {:.1} s, {cost}", self.ms as f64 / 1e3)?;
        }
        if let Some(message) = &self.message {
            write!(f, "\n    {message}")?;
        }
        for CliNote { step, why } in &self.notes {
            write!(f, "\n    {step}: {why}")?;
        }
        Ok(())
    }
}
