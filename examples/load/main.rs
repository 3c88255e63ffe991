//! Puts load on a server of its own, and checks that every acknowledged vote is stored: see `scripts/load --help`.

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

/// Runs voters against a release server on a temporary data directory, and compares the votes that it acknowledged with
/// the votes that it stored.
///
/// First, matchups are requested at a constant rate. Each is timed from when it should have been sent, whether or not
/// the one before has been answered. Then voters fetch matchups and builds and vote, as fast as they can. Exit codes: 0
/// if every acknowledged vote is stored once, as it was cast, and the replay equals the ratings; 1 otherwise.
#[derive(Parser)]
#[command(name = "scripts/load")]
struct LoadArgs {
    /// Models. Votes on the same pair of models wait for each other, so this limits the votes per second.
    #[arg(long, default_value_t = 12)]
    models: usize,
    /// Prompts.
    #[arg(long, default_value_t = 12)]
    prompts: usize,
    /// Matchups per second in the first part.
    #[arg(long, default_value_t = 200)]
    rate: u32,
    /// Duration of each part, in seconds.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Voters at the same time in the second part.
    #[arg(long, default_value_t = 32)]
    voters: usize,
    /// Servers on one database, behind nginx if there are several.
    #[arg(long, default_value_t = 1)]
    servers: usize,
    /// Votes to write into the tables before the start. With this, pages are timed as well.
    #[arg(long, default_value_t = 0)]
    votes: usize,
    /// Kill the server in the middle of the second part, and restart it.
    #[arg(long)]
    kill: bool,
    /// Folder for the temporary data directory.
    #[arg(long, default_value = "/var/tmp")]
    dir: PathBuf,
    /// The server program.
    #[arg(long, default_value = "target/release/buildoff")]
    program: PathBuf,
}

/// The targets for the first and the second part.
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
    println!("{models} models, {prompts} prompts, a build of every prompt by every model");
    if args.servers > 1 {
        println!("{} servers behind nginx", args.servers);
    }
    let dataset = LoadDataset { models, prompts };
    let mut server = LoadServer::start(&args.program, &args.dir, dataset, votes, args.servers).await?;
    println!("switched off: {}", server::DISABLED_SETTINGS.join(", "));
    if let Some(load) = measurements::load_average() {
        println!("load of the machine before the start: {load}");
    }

    if votes > 0 {
        println!("\nPages, while votes come in");
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

    println!("\nMatchups at {rate} per second for {seconds} s");
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
        if args.kill { ", with a kill -9" } else { "" }
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
    print_target("votes per second", each_second >= VOTES_A_SECOND, &format!("{each_second:.0}"), "700");

    let acknowledged: HashMap<_, _> = matchup_stats.votes.into_iter().chain(voting_stats.votes).collect();
    let kept = match votes {
        0 => verify_votes(&server, &acknowledged).await?,
        // Reading the log of millions of old votes would take long and check nothing new.
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

/// Prints whether a target is reached. It does not change the exit code, because it depends on the machine.
fn print_target(what: &str, reached: bool, is: &str, asked: &str) {
    println!("  {what}: {is}, target {asked}, {}", if reached { "reached" } else { "MISSED" });
}

#[derive(Deserialize)]
struct LoadLoggedVote {
    matchup_id: String,
    choice: String,
}

/// Whether every acknowledged vote is in the log exactly once, as it was cast.
async fn verify_votes(server: &LoadServer, acknowledged: &HashMap<String, &'static str>) -> Result<bool> {
    let log = LoadClient::new(server.address).get("/api/votes.jsonl").await?;
    ensure!(log.status == 200, "the log has status {}", log.status);
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
    println!("  {unacknowledged} stored without an acknowledgement");
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
