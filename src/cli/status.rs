//! `buildoff status`: what the installation has, does and waits for.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Value;

use super::api::{AdminApi, ApiArgs, CommandWork};
use super::output::{self, OutputArgs};
use crate::web::PausesView;

#[derive(clap::Args)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    connection: ApiArgs,
}

#[derive(Deserialize)]
struct CliInstallation {
    version: String,
    counts: CliCounts,
    coverage: CliCoverageSum,
    queue: Vec<CliQueuedBuild>,
    pauses: PausesView,
    waiting: Vec<CliWaitingModel>,
    providers: Vec<CliProvider>,
    #[serde(rename = "catalogNote")]
    catalog_note: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliCounts {
    active_prompts: i64,
    enabled_models: i64,
    builds: i64,
    votes: i64,
    running_judging: i64,
    queued_judging: i64,
}

#[derive(Deserialize)]
struct CliCoverageSum {
    expected: usize,
    existing: usize,
    failed: usize,
    cancelled: usize,
    spent: f64,
    unpriced: i64,
}

#[derive(Deserialize)]
struct CliQueuedBuild {
    state: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliWaitingModel {
    display_name: String,
    builds: usize,
    needed: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliProvider {
    display_name: String,
    has_key: bool,
    running: usize,
}

pub(super) fn run(arguments: &StatusArgs) -> anyhow::Result<ExitCode> {
    arguments.connection.run(CommandWork::Nothing, async |api| status(api, arguments.output.json).await)
}

async fn status(api: &AdminApi, json: bool) -> anyhow::Result<ExitCode> {
    let status: Value = api.get("/api/admin/status").await?;
    if json {
        output::json(&status)?;
        return Ok(ExitCode::SUCCESS);
    }
    for line in serde_json::from_value::<CliInstallation>(status)?.lines() {
        output::line(line)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl CliInstallation {
    fn lines(&self) -> Vec<String> {
        let Self { version, counts, coverage, .. } = self;
        let running = self.queue.iter().filter(|job| job.state == "running").count();
        let queued = self.queue.len() - running;
        let least = if coverage.unpriced > 0 { "at least " } else { "" };
        let ready: Vec<_> = self.providers.iter().filter(|provider| provider.has_key).collect();
        let provider = |provider: &&CliProvider| match provider.running {
            0 => provider.display_name.clone(),
            running => format!("{} ({running} running)", provider.display_name),
        };
        let ready: Vec<_> = ready.iter().map(provider).collect();
        let mut lines = vec![
            format!(
                "Buildoff {version}: {} active prompts, {} enabled models, {} builds, {} votes",
                counts.active_prompts, counts.enabled_models, counts.builds, counts.votes
            ),
            format!(
                "{} of {} builds, {running} running, {queued} queued, {} failed, {} cancelled, {least}${:.2} spent",
                coverage.existing, coverage.expected, coverage.failed, coverage.cancelled, coverage.spent
            ),
            match ready.is_empty() {
                true => "No provider has a key.".to_owned(),
                false => format!("Providers that can be asked: {}", ready.join(", ")),
            },
        ];
        let CliCounts { running_judging, queued_judging, .. } = counts;
        if running_judging + queued_judging > 0 {
            lines.push(format!("Judging: {running_judging} running, {queued_judging} queued"));
        }
        lines.extend(self.pauses.lines());
        lines.extend(self.waiting.iter().map(|model| {
            format!("{} is not voted on yet: {} of {} builds", model.display_name, model.builds, model.needed)
        }));
        lines.extend(self.catalog_note.clone());
        lines
    }
}
