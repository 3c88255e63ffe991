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
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the site and its API (the default).
    Serve,
    /// Tell whether a spec is a valid build, as JSON. Exits 0 if it is, 1 if not, 2 if that could not be told.
    Check(check::Arguments),
    /// Bring in prompts and models, and have the missing builds made. Exits 1 if some could not be.
    Seed(seed::Arguments),
    /// List, enable, rename and add models.
    Models(models::Arguments),
    /// List, enable and add prompts.
    Prompts(prompts::Arguments),
    /// Read again what models have answered in vain, without asking anybody.
    Reparse(reparse::Arguments),
    /// Delete everything in an installation, after asking.
    Reset(reset::Arguments),
    /// Import builds from files. Goes on after a bad one, and exits 1 if there was any.
    Import(import::Arguments),
    /// Hold every stored build against its digest. Exits 1 if one is damaged.
    Doctor,
    /// Replay all votes and compare bit for bit. Exits 0 if all is equal, 1 if not, 2 if that could not be told.
    Recompute(recompute::Arguments),
    /// Draw a spec as a picture.
    Render(render::Arguments),
    /// Draw many specs on one sheet.
    ContactSheet(render::ContactArguments),
    /// Turn a spec into a file for Minecraft, for 3D programs or for printing.
    Export(export::Arguments),
    /// Draw the textures of all blocks on one sheet.
    Textures(render::SheetArguments),
    /// Print the JSON Schema of specs for a grid and a palette.
    Schema(schema::Arguments),
}

/// `started` is when the process began, so that a cold start can be told in milliseconds.
pub fn run(started: Instant) -> anyhow::Result<ExitCode> {
    match Arguments::parse().command.unwrap_or(Command::Serve) {
        Command::Serve => serve::run(started),
        Command::Check(arguments) => check::run(&arguments),
        Command::Seed(arguments) => seed::run(&arguments),
        Command::Models(arguments) => models::run(&arguments),
        Command::Prompts(arguments) => prompts::run(&arguments),
        Command::Reparse(arguments) => reparse::run(&arguments),
        Command::Reset(arguments) => reset::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Doctor => doctor::run(),
        Command::Recompute(arguments) => recompute::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::ContactSheet(arguments) => render::contact_sheet(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Textures(arguments) => render::textures(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
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
        either(&mut interrupt, &mut terminate).await;
        info!("stopping; a second signal stops at once");
        let _ = send.send(());
        either(&mut interrupt, &mut terminate).await;
        process::exit(130);
    });
    Ok(receive)
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
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
        Arguments::command().debug_assert();
    }
}
