use std::process::ExitCode;

use clap::Parser;

/// A block world that programs see and act in.
#[derive(Parser)]
#[command(version, max_term_width = 120)]
struct WorldCli {
    #[command(subcommand)]
    command: buildoff_world::Command,
}

fn main() -> ExitCode {
    buildoff_world::run(WorldCli::parse().command, &[]).unwrap_or_else(|error| {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "buildoff-world: {error:#}");
        ExitCode::from(2)
    })
}
