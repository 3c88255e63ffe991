//! Load on a server of its own, and whether every vote it took is kept: see `scripts/load --help`.

mod client;
mod matchups;
mod measurements;
mod pages;
mod prefill;
mod server;
mod voting;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde::Deserialize;

use client::LoadClient;
use server::{LoadDataset, LoadServer};

/// Starts a release server on a new, temporary data directory, lets voters at it, and compares what it
/// acknowledged with what it kept.
///
/// First, matchups are asked for at a constant rate; each is timed from when it should have been sent,
/// whether or not the one before had come back. Then a number of voters fetch a matchup and both its builds
/// and vote, as fast as they can. Exits 0 if every acknowledged vote is kept once and as it was cast, and
/// the replay equals the ratings.
#[derive(Parser)]
#[command(name = "scripts/load")]
struct LoadArgs {
    /// Models that take part. Votes on the same two wait for each other, so this decides how many there can be.
    #[arg(long, default_value_t = 12)]
    models: usize,
    #[arg(long, default_value_t = 12)]
    prompts: usize,
    /// Matchups asked for in a second, in the first part.
    #[arg(long, default_value_t = 200)]
    rate: u32,
    /// How long each part takes.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Voters at once, in the second part.
    #[arg(long, default_value_t = 32)]
    voters: usize,
    /// Servers on the one database, behind nginx if there are several.
    #[arg(long, default_value_t = 1)]
    servers: usize,
    /// Votes that are there before it begins, written straight into the tables; then pages are timed as well.
    #[arg(long, default_value_t = 0)]
    votes: usize,
    /// Kill the server in the middle of the second part, and start it again.
    #[arg(long)]
    kill: bool,
    /// Where the temporary data directory is made.
    #[arg(long, default_value = "/var/tmp")]
    dir: PathBuf,
    /// The server to be tried.
    #[arg(long, default_value = "target/release/buildoff")]
    program: PathBuf,
}

/// Asked of both the fixed rate and the voters.
const MATCHUP_P99: Duration = Duration::from_millis(25);
const VOTES_A_SECOND: f64 = 700.0;

fn main() -> Result<ExitCode> {
    let args = LoadArgs::parse();
    ensure!(args.models > 1 && args.prompts > 0, "a matchup needs two models and a prompt");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(run(&args))
}

async fn run(args: &LoadArgs) -> Result<ExitCode> {
    let LoadArgs { models, prompts, rate, seconds, voters, votes, .. } = *args;
    let time = Duration::from_secs(seconds);
    println!("{models} models, {prompts} prompts, every model with a build of every prompt");
    if args.servers > 1 {
        println!("{} servers behind nginx", args.servers);
    }
    let dataset = LoadDataset { models, prompts };
    let mut server = LoadServer::start(&args.program, &args.dir, dataset, votes, args.servers).await?;
    println!("switched off: {}", server::DISABLED_SETTINGS.join(", "));
    if let Some(load) = measurements::load_average() {
        println!("load of the machine before: {load}");
    }

    if votes > 0 {
        println!("\nPages, with votes coming in");
        for page in pages::measure_pages(&mut server).await?.iter().take(2) {
            let (cold, warm) = (page.cold.quantile(0.5), page.warm.quantile(0.5));
            print_target(
                &format!("{} cold", page.path),
                cold <= pages::COLD_TARGET,
                &format_ms(cold),
                &format_ms(pages::COLD_TARGET),
            );
            print_target(
                &format!("{} warm", page.path),
                warm <= pages::WARM_TARGET,
                &format_ms(warm),
                &format_ms(pages::WARM_TARGET),
            );
        }
    }

    println!("\nMatchups at {rate} a second for {seconds} s");
    let matchup_stats = matchups::run_at_constant_rate(server.address, rate, time).await?;
    matchup_stats.print();
    print_target(
        "matchup p99",
        matchup_stats.new_p99() <= MATCHUP_P99,
        &format!("{:.1} ms", ms(matchup_stats.new_p99())),
        "25 ms",
    );

    println!(
        "\n{voters} voters for {seconds} s, as fast as they can{}",
        if args.kill { ", through a kill -9" } else { "" }
    );
    let (voting_stats, killed) = tokio::join!(voting::run_voters(server.address, voters, time), async {
        if args.kill {
            tokio::time::sleep(time / 2).await;
            return server.kill_and_restart().await;
        }
        Ok(())
    });
    killed?;
    voting_stats.print();
    let each_second = voting_stats.votes_a_second();
    print_target("votes a second", each_second >= VOTES_A_SECOND, &format!("{each_second:.0}"), "700");

    let acknowledged: HashMap<_, _> = matchup_stats.votes.into_iter().chain(voting_stats.votes).collect();
    let kept = match votes {
        0 => verify_votes(&server, &acknowledged).await?,
        // The log of millions would take its time, and tells nothing new of those.
        _ => prefill::verify_votes(&server.dir, votes, &acknowledged).await?,
    };
    let equal = server.run_command(&["recompute", "--verify"])?;
    println!("\nrecompute --verify\n{}", indented(&equal.output));
    server.stop()?;
    let passed = kept && equal.succeeded;
    println!("{}", if passed { "passed" } else { "FAILED" });
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn format_ms(time: Duration) -> String {
    format!("{:.0} ms", ms(time))
}

/// Told, and no more: it depends on the machine.
fn print_target(what: &str, reached: bool, is: &str, asked: &str) {
    println!("  {what}: {is}, {asked} asked for, {}", if reached { "reached" } else { "MISSED" });
}

#[derive(Deserialize)]
struct LoadLoggedVote {
    matchup_id: String,
    choice: String,
}

/// Whether every acknowledged vote is in the log, once, as it was cast.
async fn verify_votes(server: &LoadServer, acknowledged: &HashMap<String, &'static str>) -> Result<bool> {
    let log = LoadClient::new(server.address).get("/api/votes.jsonl").await?;
    ensure!(log.status == 200, "the log answers {}", log.status);
    let mut kept: HashMap<String, Vec<String>> = HashMap::new();
    for line in log.body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let LoadLoggedVote { matchup_id, choice } =
            serde_json::from_slice(line).context("a line of the log")?;
        kept.entry(matchup_id).or_default().push(choice);
    }
    let stored: usize = kept.values().map(Vec::len).sum();
    let doubled = kept.values().filter(|votes| votes.len() > 1).count();
    let missing = acknowledged.keys().filter(|id| !kept.contains_key(*id)).count();
    let changed =
        acknowledged.iter().filter(|(id, choice)| kept.get(*id).is_some_and(|votes| votes[0] != **choice));
    let changed = changed.count();
    println!("\n{} votes acknowledged, {stored} in the log", acknowledged.len());
    println!("  {missing} missing, {doubled} twice, {changed} with another choice");
    let unacknowledged = kept.keys().filter(|id| !acknowledged.contains_key(*id)).count();
    println!("  {unacknowledged} kept of which nobody heard");
    let replayed = server.replay(&log.body)?;
    println!("\nrecompute --from votes.jsonl\n{}", indented(&replayed.output));
    Ok(missing + doubled + changed == 0 && replayed.succeeded)
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
