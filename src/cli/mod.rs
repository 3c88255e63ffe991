//! The command line. One file per command; `serve` is what happens when none is named.

mod check;
mod doctor;
mod import;
mod recompute;
mod render;
mod schema;
mod serve;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use clap::{Parser, Subcommand};
use tokio::runtime::Builder;

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
    /// Import builds from files. Goes on after a bad one, and exits 1 if there was any.
    Import(import::Arguments),
    /// Hold every stored build against its digest. Exits 1 if one is damaged.
    Doctor,
    /// Replay all votes and compare bit for bit. Exits 0 if all is equal, 1 if not, 2 if that could not be told.
    Recompute(recompute::Arguments),
    /// Draw a spec as a picture.
    Render(render::Arguments),
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
        Command::Import(arguments) => import::run(&arguments),
        Command::Doctor => doctor::run(),
        Command::Recompute(arguments) => recompute::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::Textures(arguments) => render::textures(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
    }
}

/// Runs a command that needs the database, and leaves the database as it was found.
fn open_database(
    config: &Config,
    command: impl AsyncFnOnce(&Database) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let runtime =
        Builder::new_multi_thread().enable_all().build().context("the async runtime could not start")?;
    runtime.block_on(async {
        let database = Database::open(&config.database).await?;
        let result = command(&database).await;
        database.close().await;
        result
    })
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
