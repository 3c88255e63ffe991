//! `buildoff jobs`: what models are being asked for, and were asked for.

use std::fmt;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::api::{AdminApi, ApiArgs, CommandWork};
use super::output::{self, OutputArgs};
use super::selection::{AddressQuery, SelectionArgs};
use crate::web::JudgedView;

#[derive(clap::Args)]
pub(super) struct JobsArgs {
    /// Only jobs of this kind: builds, or what judges are asked about.
    #[arg(long, value_name = "KIND", value_parser = ["build", "judge"])]
    kind: Option<String>,
    /// Only jobs in this state; can be repeated.
    #[arg(long = "state", value_name = "STATE", value_parser = ["queued", "running", "ready", "failed", "cancelled"])]
    states: Vec<String>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Only jobs at this provider, such as openai.
    #[arg(long, value_name = "KEY")]
    provider: Option<String>,
    /// Only jobs that failed or were cancelled for this reason, such as refused.
    #[arg(long, value_name = "CODE")]
    reason: Option<String>,
    /// Only jobs that are older than this one.
    #[arg(long, value_name = "JOB")]
    before: Option<Uuid>,
    /// At most so many, the newest first, up to 1000.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    connection: ApiArgs,
}

#[derive(Serialize, Deserialize)]
struct CliJobs {
    jobs: Vec<CliJob>,
    more: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliJob {
    id: Uuid,
    kind: String,
    prompt_id: String,
    model_key: String,
    state: String,
    provider: Option<String>,
    wanted_at: String,
    ms: Option<i64>,
    attempts: i32,
    note: Option<String>,
    build_id: Option<Uuid>,
    block_count: Option<i32>,
    judged: Option<JudgedView>,
    code: Option<String>,
    error: Option<String>,
    cost: Option<f64>,
    cost_is_minimum: bool,
}

pub(super) fn run(arguments: &JobsArgs) -> anyhow::Result<ExitCode> {
    arguments.connection.run(CommandWork::Nothing, async |api| list(api, arguments).await)
}

async fn list(api: &AdminApi, arguments: &JobsArgs) -> anyhow::Result<ExitCode> {
    let JobsArgs { kind, states, selection, provider, reason, before, limit, .. } = arguments;
    let query = AddressQuery::of(selection).value("kind", kind.as_ref()).names("state", states);
    let query = query.value("provider", provider.as_ref()).value("reason", reason.as_ref());
    let query = query.value("before", before.as_ref()).value("limit", Some(limit));
    let found: CliJobs = api.get(&query.address("/api/admin/jobs")).await?;
    if arguments.output.json {
        output::json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    for job in &found.jobs {
        output::line(job)?;
    }
    match found.jobs.last() {
        None => output::line("No jobs match.")?,
        Some(last) if found.more => output::line(format_args!("There are more: --before {}", last.id))?,
        Some(_) => {}
    }
    Ok(ExitCode::SUCCESS)
}

impl fmt::Display for CliJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, prompt_id, model_key, state, .. } = self;
        write!(f, "{id}  {state:9}  ")?;
        match &self.judged {
            Some(judged) => write!(f, "{model_key} judges {prompt_id}, {}", judged.makers())?,
            None => write!(f, "{prompt_id} by {model_key}")?,
        }
        if let Some(code) = &self.code {
            write!(f, "  {code}")?;
        }
        let detail = self.error.clone().or_else(|| self.note.clone().filter(|note| !note.is_empty()));
        let blocks = self.block_count.map(|blocks| format!("{blocks} blocks"));
        let verdict = self.judged.as_ref().and_then(JudgedView::verdict);
        if let Some(detail) = detail.or(blocks).or(verdict) {
            write!(f, "  {detail}")?;
        }
        if self.attempts > 0 {
            let attempts = if self.attempts == 1 { "attempt" } else { "attempts" };
            let least = if self.cost_is_minimum { "≥ " } else { "" };
            let cost = self.cost.map_or("—".to_owned(), |cost| format!("{least}${cost:.4}"));
            write!(f, "  ({} {attempts}, {} s, {cost})", self.attempts, self.ms.unwrap_or_default() / 1000)?;
        }
        Ok(())
    }
}
