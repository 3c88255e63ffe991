//! `buildoff queue`: what is paused, and pausing and resuming by an admin.

use std::process::ExitCode;

use clap::Subcommand;

use super::api::{AdminApi, ApiArgs, CommandWork};
use super::output;
use crate::web::PausesView;

#[derive(clap::Args)]
pub(super) struct QueueArgs {
    #[command(subcommand)]
    change: Option<QueueChange>,
    #[command(flatten)]
    connection: ApiArgs,
}

#[derive(Subcommand)]
enum QueueChange {
    /// Start no further jobs; those that run go on.
    Pause,
    /// Start jobs again. With a provider, end its pause: one job tries it first.
    Resume {
        /// Such as openai; the whole queue if it is left out.
        provider: Option<String>,
    },
}

pub(super) fn run(arguments: &QueueArgs) -> anyhow::Result<ExitCode> {
    arguments.connection.run(CommandWork::Nothing, async |api| queue(api, arguments.change.as_ref()).await)
}

async fn queue(api: &AdminApi, change: Option<&QueueChange>) -> anyhow::Result<ExitCode> {
    let pauses: PausesView = match change {
        None => api.get("/api/admin/queue").await?,
        Some(QueueChange::Pause) => api.post("/api/admin/queue/pause", "").await?,
        Some(QueueChange::Resume { provider: None }) => api.post("/api/admin/queue/resume", "").await?,
        Some(QueueChange::Resume { provider: Some(key) }) => {
            api.post(&format!("/api/admin/providers/{key}/resume"), "").await?
        }
    };
    if pauses.is_empty() {
        output::line("Nothing is paused.")?;
    }
    for line in pauses.lines() {
        output::line(line)?;
    }
    Ok(ExitCode::SUCCESS)
}
