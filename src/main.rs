use std::process::ExitCode;
use std::time::Instant;

use buildoff::cli;

fn main() -> ExitCode {
    let started = Instant::now();
    cli::run(started).unwrap_or_else(|error| {
        // The reader of the output, such as `head`, has read enough.
        if cli::is_closed_output(&error) {
            return ExitCode::SUCCESS;
        }
        cli::note(format_args!("buildoff: {error:#}"));
        ExitCode::from(2)
    })
}
