//! What commands print.
//!
//! The reader of a pipe may go before everything is written, as `head` does once it has its lines. `println!` panics
//! then, and `eprintln!` if the reader of the notes is gone. What is here fails instead, so that the command closes the
//! database and waits for answers as after any other error; `main` recognises the error, and says nothing about it.

use std::fmt::Display;
use std::io::{self, StdoutLock, Write};

use serde::Serialize;

#[derive(clap::Args)]
pub(super) struct OutputArgs {
    /// Print JSON.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Nobody reads the output any more.
#[derive(Debug, thiserror::Error)]
#[error("nobody reads the output any more")]
struct ClosedOutput;

/// Standard output. Its errors tell a closed pipe from those of connections.
pub(super) struct Output(StdoutLock<'static>);

pub(super) fn stdout() -> Output {
    Output(io::stdout().lock())
}

pub(super) fn line(line: impl Display) -> io::Result<()> {
    writeln!(stdout(), "{line}")
}

/// Words of others, without what a terminal would obey.
pub(super) fn printable(words: &str) -> String {
    words.chars().filter(|letter| !letter.is_control()).collect()
}

/// Writes a line for people to standard error. The command goes on although nobody may read it.
pub fn note(line: impl Display) {
    note_part(format_args!("{line}\n"));
}

/// The same without the end of the line.
pub(super) fn note_part(text: impl Display) {
    let _ = write!(io::stderr(), "{text}");
}

/// One value, on as many lines as it takes.
pub(super) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut out = stdout();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)
}

/// Whether a command ended because nobody reads its output any more.
pub(super) fn is_closed(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()?.get_ref());
    causes.any(|inner| inner.downcast_ref::<ClosedOutput>().is_some())
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(mark_closed)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(mark_closed)
    }
}

fn mark_closed(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => io::Error::new(io::ErrorKind::BrokenPipe, ClosedOutput),
        _ => error,
    }
}
