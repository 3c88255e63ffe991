//! The command line, one file per command. `serve` is the default.

// `println!` and `eprintln!` panic when the output is closed; `output` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod agents;
mod api;
mod assess;
mod backup;
mod cancel;
mod catalog;
mod check;
mod doctor;
mod export;
mod export_all;
mod following;
mod import;
mod import_all;
mod input;
mod job_progress;
mod jobs;
mod judge;
mod judges;
mod models;
mod output;
mod prompts;
mod queue;
mod recompute;
mod render;
mod reparse;
mod reset;
mod restore;
mod results;
mod retire;
mod schema;
mod seed;
mod selection;
mod serve;
mod signals;
mod status;

pub use self::output::note;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use clap::{Parser, Subcommand};
use tokio::runtime::{Builder, Runtime};

use crate::config::Config;
use crate::db::Database;

/// A voxel build arena: AI models answer the same prompts with blocks, and people vote blind on pairs of builds.
///
/// Without a command, Buildoff serves the site. Settings are environment variables, or lines of a .env file in the
/// working directory; .env.example explains them. Without DATABASE_URL, Buildoff starts a Postgres of its own.
#[derive(Parser)]
#[command(
    version,
    max_term_width = 120,
    arg_required_else_help = false,
    after_help = "Use 'buildoff COMMAND --help' for the options and exit codes of a command.

Examples:
  buildoff                                      serve on http://127.0.0.1:3000
  buildoff check hut.json --grid 64             check a build
  buildoff export hut.json -o hut.schem         convert it for Minecraft
  buildoff import builds/ --overwrite           import a folder of builds
  buildoff seed --dry-run                       see which builds are missing, and what they may cost"
)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
    #[command(flatten)]
    serve: serve::ServeArgs,
}

#[derive(Subcommand)]
enum CliCommand {
    /// Serve the site and its API (default).
    Serve(serve::ServeArgs),
    /// Check whether a file is a valid build, and print the result as JSON.
    ///
    /// Exit codes: 0 if the build is valid, 1 if it is not, 2 if the file cannot be read.
    Check(check::CheckArgs),
    /// Add prompts and models, and generate the missing builds.
    ///
    /// Queues all missing builds, or those that the options select, and follows them until the last one has ended. Ctrl-C
    /// stops following; what is queued stays queued. Exit codes: 0 if all these builds are ready, 1 if some failed or wait
    /// for an admin or no model can be asked, 2 on any other error, 130 if the command was stopped.
    Seed(seed::SeedArgs),
    /// Have a model that sees pictures judge builds, or compare pairs of them.
    ///
    /// Queues what the judge has not judged by the current criteria, and follows it until the last answer has come. Ctrl-C
    /// stops following; what is queued stays queued. No judgement changes a rating. Exit codes: 0 if everything was judged, 1
    /// if something failed or waits for an admin, 2 on any other error, 130 if the command was stopped.
    Judge(judge::JudgeArgs),
    /// List, enable, disable, rename and add models.
    Models(models::ModelsArgs),
    /// List, add, enable and disable agents, check their cards, and make tokens for their owners.
    Agents(agents::AgentsArgs),
    /// Put an agent through tasks of the block world, and score it.
    ///
    /// Stores the assessment in this installation and carries it out, or orders it at a server with --server. With
    /// --no-store, everything happens in memory. With a scenario that names another assessor, orders it there. Ctrl-C stops
    /// following; what is stored goes on in a running Buildoff. Exit codes: 0 if it is finished, 1 if it was rejected,
    /// cancelled or failed, 2 if it could not run, 130 if the command was stopped.
    Assess(assess::AssessArgs),
    /// Read results of assessments that others have published, in any of the shapes in use.
    ///
    /// What is read is reported: nothing of it is checked. Exit codes: 0 if all files were read, 2 if one was not.
    Results(results::ResultsArgs),
    /// List, enable, disable and add prompts.
    Prompts(prompts::PromptsArgs),
    /// Show what this installation has, does and waits for.
    Status(status::StatusArgs),
    /// Compute how good judges are from downloaded logs, without a database.
    ///
    /// Prints how often each judge agrees with the voters, whether it keeps its verdict when the sides are swapped, and
    /// whether it favours the left, larger builds or its own provider. Ranges are 95 % intervals.
    Judges(judges::JudgesArgs),
    /// List jobs: what models are being asked for, and were asked for.
    Jobs(jobs::JobsArgs),
    /// Cancel jobs that are queued or running, by their ids, or by model and prompt.
    Cancel(cancel::CancelArgs),
    /// Remove builds from the arena; their pages and votes stay.
    Retire(retire::RetireArgs),
    /// Show what is paused; pause and resume the queue, and resume a provider.
    Queue(queue::QueueArgs),
    /// Re-parse stored failed answers; sends no requests.
    ///
    /// Exit codes: 0 if all of them are builds now, 1 if some are not, 2 on any other error.
    Reparse(reparse::ReparseArgs),
    /// Delete all data of this installation, after asking.
    Reset(reset::ResetArgs),
    /// Write all data of this installation into one file, also while it is in use.
    ///
    /// The file holds voters, digests of sessions and all answers of models: keep it private. Exit codes: 0 if the file
    /// is complete and verified, 2 if there is none, 130 if the command was stopped.
    Backup(backup::BackupArgs),
    /// Read a backup into an empty or new database, after comparing it with its checksum.
    ///
    /// A backup of an older version is brought up to date. Whatever goes wrong, the database stays as it was. Exit codes:
    /// 0 if everything was restored, 2 if nothing was, 130 if the command was stopped.
    Restore(restore::RestoreArgs),
    /// Write the whole public benchmark into one file: prompts, models, builds and votes.
    ///
    /// The file is the one that the site offers at /api/dataset.tar. It says nothing about voters and holds no secrets. Exit
    /// codes: 0 if the file is complete, 2 if there is none, 130 if the command was stopped.
    ExportAll(export_all::ExportAllArgs),
    /// Import a file that export-all has written.
    ///
    /// What is here already stays as it is, so the command can be repeated. Votes are only imported where there are none
    /// yet. Exit codes: 0 if everything in the file is here now, 1 if something was left out, 2 on any other error, 130 if
    /// the command was stopped.
    ImportAll(import_all::ImportAllArgs),
    /// Import builds from files.
    ///
    /// A bad file does not stop the others. Exit codes: 0 if all files were imported, 1 if some were not, 2 on any
    /// other error.
    Import(import::ImportArgs),
    /// Check all stored builds for damage.
    ///
    /// Exit codes: 0 if no build is damaged, 1 if some are, 2 on any other error.
    Doctor(doctor::DoctorArgs),
    /// Replay all votes and compare the ratings, bit for bit.
    ///
    /// Exit codes: 0 if everything is identical or was corrected, 1 if something differs, 2 on any other error.
    Recompute(recompute::RecomputeArgs),
    /// Draw a build as a picture or an animation.
    Render(render::RenderArgs),
    /// Draw many builds in one picture.
    ContactSheet(render::ContactSheetArgs),
    /// Convert a build to a file for Minecraft, 3D programs or printing.
    Export(export::ExportArgs),
    /// Draw the textures of all blocks in one picture.
    Textures(render::TexturesArgs),
    /// Print the JSON Schema of specs for a grid and a palette.
    Schema(input::GridArgs),
    /// Serve, look at, replay and measure the block world in which agents act.
    #[command(subcommand)]
    World(buildoff_world::Command),
    /// List, show and check the tasks of the block world.
    #[command(subcommand)]
    Tasks(buildoff_world::TasksCommand),
}

/// `started` is when the process began, so that `serve` can print how long the start took.
pub fn run(started: Instant) -> anyhow::Result<ExitCode> {
    let Cli { command, serve } = Cli::parse();
    match command.unwrap_or(CliCommand::Serve(serve)) {
        CliCommand::Serve(arguments) => serve::run(arguments, started),
        CliCommand::Check(arguments) => check::run(&arguments),
        CliCommand::Seed(arguments) => seed::run(&arguments),
        CliCommand::Judge(arguments) => judge::run(&arguments),
        CliCommand::Models(arguments) => models::run(&arguments),
        CliCommand::Agents(arguments) => agents::run(&arguments),
        CliCommand::Assess(arguments) => assess::run(&arguments),
        CliCommand::Results(arguments) => results::run(&arguments),
        CliCommand::Prompts(arguments) => prompts::run(&arguments),
        CliCommand::Status(arguments) => status::run(&arguments),
        CliCommand::Judges(arguments) => judges::run(&arguments),
        CliCommand::Jobs(arguments) => jobs::run(&arguments),
        CliCommand::Cancel(arguments) => cancel::run(&arguments),
        CliCommand::Retire(arguments) => retire::run(&arguments),
        CliCommand::Queue(arguments) => queue::run(&arguments),
        CliCommand::Reparse(arguments) => reparse::run(&arguments),
        CliCommand::Reset(arguments) => reset::run(&arguments),
        CliCommand::Backup(arguments) => backup::run(&arguments),
        CliCommand::Restore(arguments) => restore::run(&arguments),
        CliCommand::ExportAll(arguments) => export_all::run(&arguments),
        CliCommand::ImportAll(arguments) => import_all::run(&arguments),
        CliCommand::Import(arguments) => import::run(&arguments),
        CliCommand::Doctor(arguments) => doctor::run(&arguments),
        CliCommand::Recompute(arguments) => recompute::run(&arguments),
        CliCommand::Render(arguments) => render::run(&arguments),
        CliCommand::ContactSheet(arguments) => render::contact_sheet(&arguments),
        CliCommand::Export(arguments) => export::run(&arguments),
        CliCommand::Textures(arguments) => render::textures(&arguments),
        CliCommand::Schema(arguments) => schema::run(&arguments),
        CliCommand::World(command) => buildoff_world::run(command, &["world"]),
        CliCommand::Tasks(command) => {
            buildoff_world::run(buildoff_world::Command::Tasks(command), &["world"])
        }
    }
}

/// Whether a command ended because nobody reads its output any more.
pub fn is_closed_output(error: &anyhow::Error) -> bool {
    output::is_closed(error)
}

/// Runs a command that needs the database, and closes the database afterwards, also after an error.
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
    Builder::new_multi_thread().enable_all().build().context("cannot start the async runtime")
}

/// Runs until `work` is done, or gives it up at the first SIGINT or SIGTERM.
async fn until_stopped(work: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    tokio::select! {
        done = work => done,
        stopped = signals::first_signal() => stopped.map(|()| ExitCode::from(130)),
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
