//! The commands around the block world: to serve it to programs, to look at it, to replay recordings and to measure it.
//!
//! `buildoff-world` has them as its own, and `buildoff` under `buildoff world`.

// `println!` panics when the output is closed.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod animation;
mod bench;
mod film;
mod look;
mod pictures;
pub mod pipe;
mod replay;
mod tasks;

use std::process::ExitCode;

use clap::Subcommand;

pub use film::RunFilm;
pub use pictures::picture_of;
pub use tasks::TasksCommand;
pub use world::ENGINE;

#[derive(Subcommand)]
pub enum Command {
    /// Serve worlds over standard input and output, to the Python package or to a program of your own.
    ///
    /// Messages are a length in four bytes, a kind in one, and a body. The documentation of the crate has all of them.
    Serve,
    /// Run a recording again and compare its hashes.
    ///
    /// Exit codes: 0 if every state is the recorded one, 1 if one is not, 2 if the recording cannot be run.
    Replay(replay::ReplayArgs),
    /// Measure how many steps and pictures a second there are on one core.
    Bench(bench::BenchArgs),
    /// Draw what a player sees in a scene.
    Look(look::LookArgs),
    /// List, show and check tasks.
    #[command(subcommand)]
    Tasks(TasksCommand),
}

/// Runs a command. `prefix` stands before it when this program is started again by itself.
///
/// # Errors
/// If the command cannot be carried out.
pub fn run(command: Command, prefix: &[&str]) -> anyhow::Result<ExitCode> {
    let result = match command {
        Command::Serve => pipe::serve_standard_streams().map(|()| ExitCode::SUCCESS).map_err(Into::into),
        Command::Replay(args) => replay::run(&args),
        Command::Bench(args) => bench::run(&args, prefix).map(|()| ExitCode::SUCCESS),
        Command::Look(args) => look::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Tasks(command) => tasks::run(&command),
    };
    match result {
        // The reader of the output, such as `head`, has read enough.
        Err(error) if is_closed_output(&error) => Ok(ExitCode::SUCCESS),
        result => result,
    }
}

fn is_closed_output(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
