//! `buildoff reset`: empties an installation, after asking.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use super::open_database;
use crate::arena::status;
use crate::config::Config;
use crate::db::{self, Database};

/// What has to be typed.
const CONFIRMATION: &str = "empty it";

#[derive(clap::Args)]
pub(super) struct ResetArgs {
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(arguments: &ResetArgs) -> anyhow::Result<ExitCode> {
    let config = Config::load()?;
    crate::logging::start(&config.logging)?;
    if !config.database.is_initialised()? {
        println!("There is nothing to empty in {}.", config.database);
        return Ok(ExitCode::FAILURE);
    }
    open_database(&config, async |database| reset(&config, database, arguments.yes).await)
}

async fn reset(config: &Config, database: &Database, yes: bool) -> anyhow::Result<ExitCode> {
    let counts = status::counts(database.pool()).await?;
    let (builds, votes) = (counts.builds + counts.retired_builds, counts.votes);
    let name = db::name(database.pool()).await?;
    println!(
        "This deletes everything of Buildoff in the database {name}, of {}: {builds} builds, {votes} votes, all jobs with their answers, \
         all models and prompts, all sessions. There is no way back.",
        config.database
    );
    if !yes && !is_confirmed()? {
        println!("Nothing was deleted.");
        return Ok(ExitCode::FAILURE);
    }
    db::empty(database.pool()).await?;
    println!("It is empty. The next start hangs the builds that are shipped.");
    Ok(ExitCode::SUCCESS)
}

fn is_confirmed() -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        println!("To go on without being asked, say --yes.");
        return Ok(false);
    }
    print!("Type \"{CONFIRMATION}\" to go on: ");
    io::stdout().flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    Ok(typed.trim() == CONFIRMATION)
}
