use std::process::ExitCode;
use std::time::Instant;

use buildoff::cli;

fn main() -> ExitCode {
    let started = Instant::now();
    cli::run(started).unwrap_or_else(|error| {
        eprintln!("buildoff: {error:#}");
        ExitCode::from(2)
    })
}
