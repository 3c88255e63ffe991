//! `buildoff reset`: deletes all data of an installation, after asking.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use super::{open_database, output};
use crate::arena::status;
use crate::config::Config;
use crate::db::{self, Database};

/// The words that have to be typed.
const CONFIRMATION: &str = "empty it";

#[derive(clap::Args)]
pub(super) struct ResetArgs {
    /// Skip the confirmation.
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(arguments: &ResetArgs) -> anyhow::Result<ExitCode> {
    let config = Config::load()?;
    crate::logging::start(&config.logging)?;
    if !config.database.is_initialised()? {
        output::line(format_args!("Nothing to delete in {}.", config.database))?;
        return Ok(ExitCode::FAILURE);
    }
    open_database(&config, async |database| reset(&config, database, arguments.yes).await)
}

async fn reset(config: &Config, database: &Database, yes: bool) -> anyhow::Result<ExitCode> {
    let counts = status::counts(database.pool()).await?;
    let (builds, votes) = (counts.builds + counts.retired_builds, counts.votes);
    let name = db::name(database.pool()).await?;
    output::line(format_args!(
        "This deletes all data of Buildoff in the database {name} of {}: {builds} builds, {votes} votes, all jobs \
         with their answers, all models and prompts, and all sessions. It cannot be undone.",
        config.database
    ))?;
    if !yes && !is_confirmed()? {
        output::line("Nothing was deleted.")?;
        return Ok(ExitCode::FAILURE);
    }
    db::empty(database.pool()).await?;
    output::line("All data was deleted. The next start imports the builds that come with Buildoff.")?;
    Ok(ExitCode::SUCCESS)
}

fn is_confirmed() -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        output::line("The confirmation needs a terminal. Use --yes to skip it.")?;
        return Ok(false);
    }
    let mut out = output::stdout();
    write!(out, "Type \"{CONFIRMATION}\" to continue: ")?;
    out.flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    Ok(typed.trim() == CONFIRMATION)
}
