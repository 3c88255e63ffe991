//! `buildoff seed`: adds the prompts and models of the catalog, then generates the missing builds.

use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::api::{AdminApi, ApiArgs};
use crate::web::{SeedEstimate, SeedResponse};

#[derive(clap::Args)]
pub(super) struct SeedArgs {
    /// Show what would be generated and what it may cost, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Only add prompts and models.
    #[arg(long)]
    catalog: bool,
    /// Builds to generate at the same time, 1 to 3.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3))]
    batch: u8,
    /// Queue all missing builds for a running Buildoff, and do not wait.
    #[arg(long)]
    background: bool,
    /// Also generate builds that failed or were cancelled.
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    connection: ApiArgs,
}

/// Success if no build has failed.
pub(super) fn run(arguments: &SeedArgs) -> anyhow::Result<ExitCode> {
    arguments.connection.run(arguments.waits(), async |api| seed(api, arguments).await)
}

async fn seed(api: &AdminApi, arguments: &SeedArgs) -> anyhow::Result<ExitCode> {
    if !arguments.waits() {
        let seeded = api.post(&arguments.path(arguments.retry_failed), "").await?;
        print_summary(&seeded, arguments);
        return Ok(ExitCode::SUCCESS);
    }
    let before: SeedResponse = api.post("/api/admin/seed?dryRun=1", "").await?;
    let bar = bar(before.total_expected_builds);
    bar.set_position(before.existing_builds as u64);
    let mut seeded: SeedResponse = api.post(&arguments.path(arguments.retry_failed), "").await?;
    let mut told = Vec::new();
    loop {
        let pauses = seeded.pauses.lines();
        if pauses != told {
            bar.suspend(|| pauses.iter().for_each(|line| eprintln!("{line}")));
            told = pauses;
        }
        let ended = seeded.jobs.iter().filter(|job| job.state != "running");
        for job in ended {
            bar.suspend(|| println!("{job}"));
        }
        bar.set_position(seeded.existing_builds as u64);
        if seeded.done || seeded.waits_for_admin {
            break;
        }
        // The first call has queued the failed builds again. A build that fails from now on stays failed.
        seeded = api.post(&arguments.path(false), "").await?;
    }
    bar.finish_and_clear();
    print_summary(&seeded, arguments);
    if seeded.waits_for_admin {
        let is_paused = seeded.pauses.queue_paused_at.is_some() || !seeded.pauses.providers.is_empty();
        let what = if is_paused { "you resume what is paused" } else { "a budget allows it" };
        println!("Nothing can be generated before {what}.");
    }
    let is_complete = seeded.done && seeded.failed_builds == 0;
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_summary(seeded: &SeedResponse, arguments: &SeedArgs) {
    let SeedResponse {
        prompt_count, model_count, existing_builds, total_expected_builds, failed_builds, ..
    } = seeded;
    println!(
        "{prompt_count} prompts, {model_count} models that can generate: \
         {existing_builds} of {total_expected_builds} builds, {failed_builds} failed"
    );
    for next in &seeded.next {
        println!("would generate {} by {}", next.prompt_id, next.model_key);
    }
    if let Some(SeedEstimate { dollars, unknown }) = &seeded.estimate {
        let unpriced =
            if *unknown > 0 { format!(", plus {unknown} with unknown prices") } else { String::new() };
        // Nothing is known of the cost if no price is.
        let known = if *dollars == 0.0 && *unknown > 0 { "—".to_owned() } else { format!("${dollars:.2}") };
        println!("estimated cost: {known}{unpriced}");
    }
    if !arguments.waits() {
        seeded.pauses.lines().iter().for_each(|line| println!("{line}"));
    }
    if arguments.background {
        println!("{} builds queued; a running Buildoff generates them", seeded.jobs.len());
    }
    if *model_count == 0 {
        println!("No model can generate: set the key of a provider. .env.example lists them.");
    }
}

fn bar(total: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} builds, {elapsed}");
    let bar =
        ProgressBar::new(total as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

impl SeedArgs {
    fn waits(&self) -> bool {
        !(self.dry_run || self.catalog || self.background)
    }

    fn path(&self, retry_failed: bool) -> String {
        let flags = [
            ("dryRun", self.dry_run),
            ("background", self.background && !self.dry_run),
            ("retryFailed", retry_failed),
        ];
        let flags = flags.into_iter().filter(|(_, on)| *on).map(|(name, _)| format!("&{name}=1"));
        let generate = u8::from(!self.catalog);
        format!(
            "/api/admin/seed?generateBuilds={generate}&batchSize={}{}",
            self.batch,
            flags.collect::<String>()
        )
    }
}
