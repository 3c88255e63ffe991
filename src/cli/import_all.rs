//! `buildoff import-all`: reads a dataset into the database.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use super::{open_database, output, until_stopped};
use crate::arena::audit::Admin;
use crate::config::Config;
use crate::dataset::{DatasetImport, DatasetReader, ImportReport, ImportStep, RecordCounts};
use crate::db::Database;
use crate::work::WorkPool;

#[derive(clap::Args)]
pub(super) struct ImportAllArgs {
    /// A file that `buildoff export-all` has written, or that a site has offered at /api/dataset.tar.
    file: PathBuf,
    /// Only compare the file with its checksums and print what it holds. Needs no database.
    #[arg(long)]
    check: bool,
}

pub(super) fn run(arguments: &ImportAllArgs) -> anyhow::Result<ExitCode> {
    let name = arguments.file.display();
    let file = File::open(&arguments.file).with_context(|| format!("Cannot read {name}"))?;
    let bar =
        ProgressBar::new(file.metadata()?.len()).with_style(style("{bar:30} {bytes} checked, {elapsed}"));
    let reader = DatasetReader::open(file, |bytes| bar.set_position(bytes));
    bar.finish_and_clear();
    let reader = reader.with_context(|| name.to_string())?;
    if arguments.check {
        let counts = &reader.manifest.counts;
        output::line(format_args!(
            "{name}: {} votes, {} builds, {} prompts and {} models, undamaged",
            counts.votes, counts.builds, counts.prompts, counts.models
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let config = Config::load()?;
    crate::logging::start(&config.logging)?;
    open_database(&config, async |database| until_stopped(import(&config, database, &reader)).await)
}

async fn import(config: &Config, database: &Database, reader: &DatasetReader) -> anyhow::Result<ExitCode> {
    let import = DatasetImport {
        pool: database.pool().clone(),
        work: WorkPool::per_core(),
        max_spec_bytes: config.import_max_bytes,
    };
    let bar = ProgressBar::new_spinner().with_style(style("{spinner} {msg}, {elapsed}"));
    bar.enable_steady_tick(Duration::from_millis(200));
    let counts = reader.manifest.counts;
    let progress = |step| {
        bar.set_message(match step {
            ImportStep::Builds(done) => {
                format!("{} of {} builds", HumanCount(done), HumanCount(counts.builds))
            }
            ImportStep::Votes(done) => format!("{} of {} votes", HumanCount(done), HumanCount(counts.votes)),
        });
    };
    let report = import.run(reader, Admin::COMMAND_LINE, &progress).await;
    bar.finish_and_clear();
    let report = report?;
    print(&report)?;
    Ok(if report.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(report: &ImportReport) -> io::Result<()> {
    let mut out = output::stdout();
    for (what, counts) in [("prompts", report.prompts), ("models", report.models), ("builds", report.builds)]
    {
        let RecordCounts { stored, present, left_out } = counts;
        writeln!(out, "{what}: {stored} imported, {present} here already, {left_out} left out")?;
    }
    for reason in &report.reasons {
        writeln!(out, "left out: {reason}")?;
    }
    match &report.votes {
        None => writeln!(out, "votes: the file has none"),
        Some(Ok(0)) => writeln!(out, "votes: here already"),
        Some(Ok(votes)) => writeln!(
            out,
            "votes: {votes} imported. The file does not say who voted, so each counts as another voter's."
        ),
        Some(Err(why)) => writeln!(out, "votes: not imported, because {why}"),
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
