//! The command line. One file per command; `serve` is what happens when none is named.

mod check;
mod schema;
mod serve;

use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};

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
    /// Print the JSON Schema of specs for a grid and a palette.
    Schema(schema::Arguments),
}

/// `started` is when the process began, so that a cold start can be told in milliseconds.
pub fn run(started: Instant) -> anyhow::Result<ExitCode> {
    match Arguments::parse().command.unwrap_or(Command::Serve) {
        Command::Serve => serve::run(started),
        Command::Check(arguments) => check::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
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
