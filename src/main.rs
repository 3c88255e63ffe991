use std::io;
use std::process::ExitCode;
use std::time::Instant;

use buildoff::cli;

fn main() -> ExitCode {
    let started = Instant::now();
    cli::run(started).unwrap_or_else(|error| {
        // Whoever reads our output has read enough.
        let is_closed = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
        if error.chain().filter_map(|cause| cause.downcast_ref()).any(is_closed) {
            return ExitCode::SUCCESS;
        }
        eprintln!("buildoff: {error:#}");
        ExitCode::from(2)
    })
}
