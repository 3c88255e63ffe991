//! `buildoff recompute`: replays votes, and compares or corrects what is stored.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde::Serialize;

use super::{open_database, output};
use crate::arena::ModelKey;
use crate::arena::audit::Admin;
use crate::arena::elo::Standing;
use crate::arena::replay::{self, Ladders, Replay, ReplayReport};
use crate::arena::vote_log::LoggedVote;
use crate::config::Config;
use crate::db::Database;

/// The longest line of a log that is read.
const MAX_LINE_BYTES: u64 = 1 << 16;

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub(super) struct RecomputeArgs {
    /// Compare all votes and ratings in the database with a replay, and change nothing.
    #[arg(long, group = "what")]
    verify: bool,
    /// Like --verify, but correct whatever differs. New votes wait meanwhile.
    #[arg(long, group = "what")]
    write: bool,
    /// Replay a vote log without a database, and print its leaderboard. "-" reads standard input.
    #[arg(long, group = "what", value_name = "FILE")]
    from: Option<PathBuf>,
    /// Print the leaderboard as JSON, with --from.
    // `requires` would not do: clap ignores it for an argument that conflicts with one of the group.
    #[arg(long, conflicts_with_all = ["verify", "write"])]
    json: bool,
}

/// Success if nothing differs, or if it was corrected.
pub(super) fn run(arguments: &RecomputeArgs) -> anyhow::Result<ExitCode> {
    if let Some(file) = &arguments.from {
        return from_file(file, arguments.json);
    }
    let config = Config::load()?;
    crate::logging::start(&config.logging)?;
    match arguments.write {
        true => open_database(&config, async |database| repair(database).await),
        false => open_database(&config, async |database| verify(database).await),
    }
}

async fn verify(database: &Database) -> anyhow::Result<ExitCode> {
    let report = replay::verify(database.pool()).await?;
    let mut out = output::stdout();
    writeln!(out, "{}", replayed(&report.replay))?;
    let Some(first) = &report.first else {
        writeln!(out, "identical, bit for bit")?;
        return Ok(ExitCode::SUCCESS);
    };
    writeln!(out, "{} differ; the first: {first}", differences(&report))?;
    writeln!(out, "recompute --write corrects this")?;
    Ok(ExitCode::FAILURE)
}

async fn repair(database: &Database) -> anyhow::Result<ExitCode> {
    let report = replay::repair(database.pool(), Admin::COMMAND_LINE).await?;
    let mut out = output::stdout();
    writeln!(out, "{}", replayed(&report.replay))?;
    match &report.first {
        None => writeln!(out, "identical, bit for bit; nothing was changed")?,
        Some(first) => writeln!(out, "{} corrected; the first: {first}", differences(&report))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn from_file(file: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let open = || File::open(file).with_context(|| format!("cannot read {}", file.display()));
    let report = match file == Path::new("-") {
        true => replay_lines(io::stdin().lock())?,
        false => replay_lines(BufReader::new(open()?))?,
    };
    let mut out = output::stdout();
    if json {
        output::json(&ladders_output(&report))?;
    } else {
        print_ladders(&mut out, &report.replay.ladders)?;
        writeln!(out, "{}", replayed(&report.replay))?;
    }
    out.flush()?;
    if let Some(first) = &report.first {
        let votes = plural(report.differing_votes, "vote");
        output::note(format_args!("{votes} in this log cannot be right: {first}"));
        return Ok(ExitCode::FAILURE);
    }
    if !json {
        writeln!(out, "identical to the log, bit for bit")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Replays a log of any length with only one line and the ladders in memory.
fn replay_lines(mut log: impl BufRead) -> anyhow::Result<ReplayReport> {
    let mut report = ReplayReport::default();
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        let read =
            log.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).context("cannot read the log")?;
        if read == 0 {
            break;
        }
        if read as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
            bail!("line {number} is longer than {MAX_LINE_BYTES} bytes and cannot be a vote");
        }
        let vote: LoggedVote =
            serde_json::from_slice(&line).with_context(|| format!("line {number} is not a vote"))?;
        report.next(&vote).with_context(|| format!("line {number}"))?;
    }
    Ok(report)
}

fn print_ladders(out: &mut impl Write, ladders: &Ladders) -> io::Result<()> {
    for (settings, ladder) in ladders {
        let width = ladder.keys().map(|model| model.as_str().len()).max().unwrap_or(0).max(5);
        writeln!(out, "{settings}")?;
        let (model, elo) = ("model", "Elo");
        writeln!(
            out,
            "{:>4}  {model:width$}  {elo:>8}  {:>7}  {:>7}  {:>7}  {:>7}  {:>8}",
            "rank", "votes", "wins", "losses", "ties", "both bad"
        )?;
        for RecomputedRow { rank, key, elo, votes, wins, losses, ties, both_bad } in ranked(ladder) {
            let key = key.as_str();
            writeln!(
                out,
                "{rank:>4}  {key:width$}  {elo:>8.2}  {votes:>7}  {wins:>7}  {losses:>7}  {ties:>7}  {both_bad:>8}"
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Models by rating, then by key. Models with the same rating share a rank.
fn ranked(ladder: &BTreeMap<ModelKey, Standing>) -> Vec<RecomputedRow<'_>> {
    let mut models: Vec<_> = ladder.iter().collect();
    models.sort_by(|a, b| b.1.elo.total_cmp(&a.1.elo).then(a.0.cmp(b.0)));
    let rank = |elo: f64| 1 + models.iter().filter(|(_, other)| other.elo > elo).count();
    let row = |&(key, standing): &(_, &Standing)| RecomputedRow {
        rank: rank(standing.elo),
        key,
        elo: standing.elo,
        votes: standing.votes(),
        wins: standing.wins,
        losses: standing.losses,
        ties: standing.ties,
        both_bad: standing.both_bad,
    };
    models.iter().map(row).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecomputedRow<'a> {
    rank: usize,
    key: &'a ModelKey,
    elo: f64,
    votes: i64,
    wins: i64,
    losses: i64,
    ties: i64,
    both_bad: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecomputeOutput<'a> {
    votes: u64,
    equal: bool,
    ladders: Vec<RecomputedLadder<'a>>,
}

#[derive(Serialize)]
struct RecomputedLadder<'a> {
    settings: &'a str,
    models: Vec<RecomputedRow<'a>>,
}

fn ladders_output(report: &ReplayReport) -> RecomputeOutput<'_> {
    let Replay { ladders, votes, .. } = &report.replay;
    let ladders =
        ladders.iter().map(|(settings, ladder)| RecomputedLadder { settings, models: ranked(ladder) });
    RecomputeOutput { votes: *votes, equal: report.is_clean(), ladders: ladders.collect() }
}

/// A count of things, such as "1 vote" or "3000 votes".
fn plural(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// How much was replayed.
fn replayed(replay: &Replay) -> String {
    let votes = plural(replay.votes, "vote");
    let models = plural(replay.models() as u64, "rating");
    let ladders = plural(replay.ladders.len() as u64, "leaderboard");
    let replayed = format!("{votes} replayed, {models} on {ladders}");
    match replay.excluded {
        0 => replayed,
        excluded => format!("{replayed}; {excluded} more do not count"),
    }
}

/// How much differed.
fn differences(report: &ReplayReport) -> String {
    let mut parts = vec![plural(report.differing_votes, "vote"), plural(report.differing_ratings, "rating")];
    match report.differing_tallies {
        0 => {}
        1 => parts.push("1 tally".to_owned()),
        tallies => parts.push(format!("{tallies} tallies")),
    }
    if report.differing_voters > 0 {
        parts.push(plural(report.differing_voters, "voter"));
    }
    let last = parts.pop().unwrap_or_default();
    format!("{} and {last}", parts.join(", "))
}
