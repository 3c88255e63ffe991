//! Logs go to stderr: as readable lines on a terminal, as JSON lines otherwise.

use std::io::{self, IsTerminal};
use std::panic::{self, PanicHookInfo};

use anyhow::Context;
use tracing::Level;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt};

use crate::config::{LogFormat, LoggingConfig};

const SILENT: [&str; 2] = ["tower_sessions", "tower_sessions_core"];

pub fn start(logging: &LoggingConfig) -> anyhow::Result<()> {
    let json = match logging.format {
        LogFormat::Auto => !on_a_terminal(),
        LogFormat::Pretty => false,
        LogFormat::Json => true,
    };
    // Errors of the session store are answered and logged with the request; its own lines would come for each one.
    let filter = logging.filter.clone().with_targets(SILENT.map(|target| (target, LevelFilter::OFF)));
    let lines = if json { json_lines() } else { pretty_lines() };
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .try_init()
        .context("logging is already set up")?;
    panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// Starts logging for commands, which print their results themselves: only warnings of the modules they use.
pub fn start_quietly(logging: &LoggingConfig) -> anyhow::Result<()> {
    let filter = logging.filter.clone().with_target("buildoff::web", Level::WARN);
    let filter = filter.with_target("buildoff::db", Level::WARN);
    let filter = filter.with_target("buildoff::worker", Level::WARN);
    start(&LoggingConfig { filter, format: logging.format })
}

pub fn on_a_terminal() -> bool {
    io::stderr().is_terminal()
}

fn pretty_lines() -> Box<dyn Layer<Registry> + Send + Sync> {
    let colour = on_a_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    fmt::layer().compact().with_target(false).with_ansi(colour).with_writer(io::stderr).boxed()
}

fn json_lines() -> Box<dyn Layer<Registry> + Send + Sync> {
    fmt::layer().json().flatten_event(true).with_span_list(false).with_writer(io::stderr).boxed()
}

/// Logs a panic like other errors, so that it has the request id of its span.
fn log_panic(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, "panicked: {}", info.payload_as_str().unwrap_or("no message"));
}
