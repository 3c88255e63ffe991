//! The command line. One file per command; `serve` is what happens when none is named.

mod api;
mod check;
mod doctor;
mod export;
mod import;
mod models;
mod prompts;
mod recompute;
mod render;
mod reparse;
mod reset;
mod schema;
mod seed;
mod serve;

use std::process::{self, ExitCode};
use std::time::Instant;

use anyhow::Context;
use clap::{Parser, Subcommand};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tracing::info;

use crate::config::Config;
use crate::db::Database;

/// A voxel build arena: AI models answer the same prompt with blocks, people vote blind on pairs of builds.
///
/// Without a command, Buildoff serves. Its settings come from the environment and from a .env file in the
/// working directory; .env.example explains each of them.
#[derive(Parser)]
#[command(
    version,
    arg_required_else_help = false,
    after_help = "With no DATABASE_URL, Buildoff starts a Postgres of its own."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
}

#[derive(Subcommand)]
enum CliCommand {
    /// Serve the site and its API (the default).
    Serve,
    /// Tell whether a spec is a valid build, as JSON. Exits 0 if it is, 1 if not, 2 if that could not be told.
    Check(check::CheckArgs),
    /// Bring in prompts and models, and have the missing builds made. Exits 1 if some could not be.
    Seed(seed::SeedArgs),
    /// List, enable, rename and add models.
    Models(models::ModelsArgs),
    /// List, enable and add prompts.
    Prompts(prompts::PromptsArgs),
    /// Read again what models have answered in vain, without asking anybody.
    Reparse(reparse::ReparseArgs),
    /// Delete everything in an installation, after asking.
    Reset(reset::ResetArgs),
    /// Import builds from files. Goes on after a bad one, and exits 1 if there was any.
    Import(import::ImportArgs),
    /// Hold every stored build against its digest. Exits 1 if one is damaged.
    Doctor,
    /// Replay all votes and compare bit for bit. Exits 0 if all is equal, 1 if not, 2 if that could not be told.
    Recompute(recompute::RecomputeArgs),
    /// Draw a spec as a picture.
    Render(render::RenderArgs),
    /// Draw many specs on one sheet.
    ContactSheet(render::ContactSheetArgs),
    /// Turn a spec into a file for Minecraft, for 3D programs or for printing.
    Export(export::ExportArgs),
    /// Draw the textures of all blocks on one sheet.
    Textures(render::TexturesArgs),
    /// Print the JSON Schema of specs for a grid and a palette.
    Schema(schema::SchemaArgs),
}

/// `started` is when the process began, so that a cold start can be told in milliseconds.
pub fn run(started: Instant) -> anyhow::Result<ExitCode> {
    match Cli::parse().command.unwrap_or(CliCommand::Serve) {
        CliCommand::Serve => serve::run(started),
        CliCommand::Check(arguments) => check::run(&arguments),
        CliCommand::Seed(arguments) => seed::run(&arguments),
        CliCommand::Models(arguments) => models::run(&arguments),
        CliCommand::Prompts(arguments) => prompts::run(&arguments),
        CliCommand::Reparse(arguments) => reparse::run(&arguments),
        CliCommand::Reset(arguments) => reset::run(&arguments),
        CliCommand::Import(arguments) => import::run(&arguments),
        CliCommand::Doctor => doctor::run(),
        CliCommand::Recompute(arguments) => recompute::run(&arguments),
        CliCommand::Render(arguments) => render::run(&arguments),
        CliCommand::ContactSheet(arguments) => render::contact_sheet(&arguments),
        CliCommand::Export(arguments) => export::run(&arguments),
        CliCommand::Textures(arguments) => render::textures(&arguments),
        CliCommand::Schema(arguments) => schema::run(&arguments),
    }
}

/// Runs a command that needs the database, and leaves the database as it was found.
fn open_database(
    config: &Config,
    command: impl AsyncFnOnce(&Database) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    runtime()?.block_on(async {
        let database = Database::open(&config.database).await?;
        let result = command(&database).await;
        database.close().await;
        result
    })
}

fn runtime() -> anyhow::Result<Runtime> {
    Builder::new_multi_thread().enable_all().build().context("the async runtime could not start")
}

/// Resolves at the first SIGINT or SIGTERM; the second one ends the process at once.
fn stop_signal() -> anyhow::Result<oneshot::Receiver<()>> {
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be watched")?;
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be watched")?;
    let (send, receive) = oneshot::channel();
    tokio::spawn(async move {
        either_signal(&mut interrupt, &mut terminate).await;
        info!("stopping; a second signal stops at once");
        let _ = send.send(());
        either_signal(&mut interrupt, &mut terminate).await;
        process::exit(130);
    });
    Ok(receive)
}

async fn either_signal(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_well_formed() {
        Cli::command().debug_assert();
    }
}
