//! `buildoff results`: reads what others have published, whatever its shape.

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::output::{self, OutputArgs};
use crate::assess::reported::{MAX_REPORT_BYTES, ReportedResult, ReportedTask, read_report};

#[derive(clap::Args)]
pub(super) struct ResultsArgs {
    /// Files of results, such as results.json.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(arguments: &ResultsArgs) -> anyhow::Result<ExitCode> {
    let mut all = Vec::new();
    for path in &arguments.files {
        let name = path.display();
        let mut bytes = Vec::new();
        let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
        file.take(MAX_REPORT_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
            .with_context(|| format!("cannot read {name}"))?;
        all.extend(read_report(&bytes).with_context(|| format!("{name} holds no results"))?);
    }
    if arguments.output.json {
        output::json(&all)?;
    } else {
        let mut out = output::stdout();
        for result in &all {
            print(&mut out, result)?;
        }
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(out: &mut impl Write, result: &ReportedResult) -> std::io::Result<()> {
    let ReportedResult { agent, categories, total, max, revision, world, tasks, .. } = result;
    let of = max.map_or(String::new(), |max| format!(" of {max:?}"));
    let world = world.as_deref().unwrap_or("an unnamed world");
    let revision = revision.as_deref().unwrap_or("unnamed rules");
    writeln!(out, "{agent}: {total:?}{of} in {} (reported; {world}, {revision})", categories.join(", "))?;
    for ReportedTask { name, sim, video, score, error } in tasks {
        let shown = |score: Option<f64>| score.map_or("–".to_owned(), |score| format!("{score:.1}"));
        let error = error.as_ref().map_or(String::new(), |error| format!("  {error}"));
        writeln!(
            out,
            "  {name:40} {:>5}  world {:>5}  judge {:>5}{error}",
            shown(*score),
            shown(*sim),
            shown(*video)
        )?;
    }
    Ok(())
}
