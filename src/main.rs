use std::io;
use std::process::ExitCode;
use std::time::Instant;

use buildoff::cli;

fn main() -> ExitCode {
    let started = Instant::now();
    cli::run(started).unwrap_or_else(|error| {
        // A closed pipe means that the reader of the output, such as `head`, has read enough.
        let is_closed = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
        if error.chain().filter_map(|cause| cause.downcast_ref()).any(is_closed) {
            return ExitCode::SUCCESS;
        }
        eprintln!("buildoff: {error:#}");
        ExitCode::from(2)
    })
}
