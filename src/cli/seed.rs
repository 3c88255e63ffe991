//! `buildoff seed`: adds the prompts and models of the catalog, then generates the missing builds.

mod follow;

use std::process::ExitCode;

use super::api::{AdminApi, ApiArgs, CommandWork};
use super::job_progress::JobWords;
use super::output::{self, OutputArgs};
use super::selection::{AddressQuery, SelectionArgs};
use crate::web::{LeftOutView, SeedEstimate, SeedResponse};

const PATH: &str = "/api/admin/seed";

const BUILDS: JobWords = JobWords { one: "build", several: "builds", verb: "generate" };

#[derive(clap::Args)]
pub(super) struct SeedArgs {
    /// Show what would be generated and what it may cost, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Only add prompts and models.
    #[arg(long)]
    catalog: bool,
    /// Queue the builds for a running Buildoff, and do not wait.
    #[arg(long)]
    background: bool,
    /// Queue all missing builds for the batch APIs of their providers, which answer within a day at a lower price. A
    /// running Buildoff sends them.
    #[arg(long)]
    batch_api: bool,
    /// Also generate builds that failed or were cancelled.
    #[arg(long)]
    retry_failed: bool,
    /// Only generate builds that failed or were cancelled.
    #[arg(long)]
    only_failed: bool,
    /// Only generate builds that failed for this reason, such as refused; can be repeated.
    #[arg(long = "reason", value_name = "CODE")]
    reasons: Vec<String>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Only builds of prompts with this tag; can be repeated.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Queue only as many builds as this allows by the estimate, prompt by prompt; none of unknown price.
    #[arg(long, value_name = "DOLLARS", value_parser = amount)]
    max_cost: Option<f64>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    connection: ApiArgs,
}

/// Success if models could be asked, and each build that the command waited for is ready.
pub(super) fn run(arguments: &SeedArgs) -> anyhow::Result<ExitCode> {
    arguments
        .connection
        .run(CommandWork::jobs_if(arguments.follows()), async |api| seed(api, arguments).await)
}

async fn seed(api: &AdminApi, arguments: &SeedArgs) -> anyhow::Result<ExitCode> {
    let seeded: SeedResponse = api.post(&arguments.query().address(PATH), "").await?;
    let nobody_can_be_asked = seeded.model_count == 0 && !arguments.catalog;
    if arguments.follows() && !nobody_can_be_asked {
        return follow::follow(api, arguments, seeded).await;
    }
    match arguments.output.json {
        true => output::json(&seeded)?,
        false => print_result(&seeded, arguments)?,
    }
    Ok(if nobody_can_be_asked { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print_result(seeded: &SeedResponse, arguments: &SeedArgs) -> anyhow::Result<()> {
    print_totals(seeded)?;
    for next in &seeded.next {
        output::line(format_args!("would generate {} by {}", next.prompt_id, next.model_key))?;
    }
    if let Some(estimate) = &seeded.estimate {
        output::line(format_args!("estimated cost: {estimate}"))?;
    }
    if let Some(left) = &seeded.left {
        print_left(left, arguments)?;
    }
    if !seeded.without_batch_api.is_empty() {
        output::line(format_args!("left out, without a batch API: {}", seeded.without_batch_api.join(", ")))?;
    }
    for line in seeded.pauses.lines() {
        output::line(line)?;
    }
    if (arguments.background || arguments.batch_api) && !arguments.dry_run && !arguments.catalog {
        output::line(format_args!("{} builds queued; a running Buildoff generates them", seeded.jobs.len()))?;
    }
    if seeded.model_count == 0 {
        let which = if arguments.selection.models.is_empty() { "No model" } else { "None of these models" };
        output::line(format_args!(
            "{which} can generate: set the key of a provider. .env.example lists them."
        ))?;
    }
    Ok(())
}

fn print_totals(seeded: &SeedResponse) -> anyhow::Result<()> {
    let SeedResponse {
        prompt_count, model_count, existing_builds, total_expected_builds, failed_builds, ..
    } = seeded;
    output::line(format_args!(
        "{prompt_count} prompts, {model_count} models that can generate: \
         {existing_builds} of {total_expected_builds} builds, {failed_builds} failed"
    ))?;
    Ok(())
}

/// What `--max-cost` left out.
fn print_left(left: &LeftOutView, arguments: &SeedArgs) -> anyhow::Result<()> {
    let Some(max_cost) = arguments.max_cost.filter(|_| left.builds > 0) else { return Ok(()) };
    output::line(format_args!(
        "left out because of --max-cost {max_cost}: {}, {}",
        builds(left.builds),
        left.estimate
    ))?;
    Ok(())
}

fn builds(count: usize) -> String {
    BUILDS.count(count)
}

fn amount(text: &str) -> Result<f64, String> {
    let amount: Option<f64> = text.parse().ok();
    amount
        .filter(|dollars| (0.0..=1e6).contains(dollars))
        .ok_or_else(|| "it is an amount in dollars, such as 12.5".to_owned())
}

impl std::fmt::Display for SeedEstimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { dollars, unknown } = self;
        // Nothing is known of the cost if no price is.
        match *dollars == 0.0 && *unknown > 0 {
            true => f.write_str("—")?,
            false => write!(f, "${dollars:.2}")?,
        }
        if *unknown > 0 { write!(f, ", plus {unknown} with unknown prices") } else { Ok(()) }
    }
}

impl SeedArgs {
    /// Whether the command waits for what it queues.
    fn follows(&self) -> bool {
        !(self.dry_run || self.catalog || self.background || self.batch_api)
    }

    /// Whether something beside models and prompts narrows down what is queued.
    fn is_narrow(&self) -> bool {
        !self.tags.is_empty() || !self.reasons.is_empty() || self.only_failed || self.max_cost.is_some()
    }

    fn query(&self) -> AddressQuery {
        self.selected()
            .flag("dryRun", self.dry_run)
            .flag("background", !self.dry_run && !self.catalog && !self.batch_api)
            .flag("batchApi", self.batch_api)
            .flag("retryFailed", self.retry_failed)
            .flag("onlyFailed", self.only_failed)
            .names("reason", &self.reasons)
            .value("maxCost", self.max_cost.filter(|_| !self.catalog))
            .value("generateBuilds", self.catalog.then_some(0))
    }

    /// The query for the state of what is selected.
    fn selected(&self) -> AddressQuery {
        AddressQuery::of(&self.selection).names("tag", &self.tags)
    }
}
