//! `buildoff seed`: prompts and models into the database, then the builds that are missing, asked of their models.

use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::api::{AdminApi, ApiArgs};
use crate::web::{SeedEstimate, SeedResponse};

#[derive(clap::Args)]
pub(super) struct SeedArgs {
    /// Tell what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// Bring in prompts and models alone.
    #[arg(long)]
    catalog: bool,
    /// How many builds are asked for at a time, 1 to 3.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3))]
    batch: u8,
    /// Leave all of it to a running Buildoff, and do not wait.
    #[arg(long)]
    background: bool,
    /// Try again what has failed or was cancelled.
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    connection: ApiArgs,
}

/// Success if nothing has failed.
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
    loop {
        let ended = seeded.jobs.iter().filter(|job| job.state != "running");
        for job in ended {
            bar.suspend(|| println!("{job}"));
        }
        bar.set_position(seeded.existing_builds as u64);
        if seeded.done {
            break;
        }
        // The first call has made what had failed missing again; what fails from now on has failed.
        seeded = api.post(&arguments.path(false), "").await?;
    }
    bar.finish_and_clear();
    print_summary(&seeded, arguments);
    Ok(if seeded.failed_builds == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_summary(seeded: &SeedResponse, arguments: &SeedArgs) {
    let SeedResponse {
        prompt_count, model_count, existing_builds, total_expected_builds, failed_builds, ..
    } = seeded;
    println!(
        "{prompt_count} prompts, {model_count} models that can be asked: \
         {existing_builds} of {total_expected_builds} builds, {failed_builds} failed"
    );
    for next in &seeded.next {
        println!("would ask {} for {}", next.model_key, next.prompt_id);
    }
    if let Some(SeedEstimate { dollars, unknown }) = &seeded.estimate {
        let besides =
            if *unknown > 0 { format!(", beside {unknown} at unknown prices") } else { String::new() };
        println!("that may cost about ${dollars:.2}{besides}");
    }
    if arguments.background {
        println!("{} wanted; a running Buildoff makes them", seeded.jobs.len());
    }
    if *model_count == 0 {
        println!("No model can be asked: no key of a provider is set. .env.example names them.");
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
