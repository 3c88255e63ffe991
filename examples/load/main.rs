//! Load on a server of its own, and whether every vote it took is kept: see `scripts/load --help`.

mod client;
mod figures;
mod matchups;
mod pages;
mod past;
mod server;
mod voting;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde::Deserialize;

use client::Client;
use server::{Field, Server};

/// Starts a release server on a new, temporary data directory, lets voters at it, and compares what it
/// acknowledged with what it kept.
///
/// First, matchups are asked for at a constant rate; each is timed from when it should have been sent,
/// whether or not the one before had come back. Then a number of voters fetch a matchup and both its builds
/// and vote, as fast as they can. Exits 0 if every acknowledged vote is kept once and as it was cast, and
/// the replay equals the ratings.
#[derive(Parser)]
#[command(name = "scripts/load")]
struct Arguments {
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
    let arguments = Arguments::parse();
    ensure!(arguments.models > 1 && arguments.prompts > 0, "a matchup needs two models and a prompt");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(run(&arguments))
}

async fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Arguments { models, prompts, rate, seconds, voters, votes, .. } = *arguments;
    let time = Duration::from_secs(seconds);
    println!("{models} models, {prompts} prompts, every model with a build of every prompt");
    if arguments.servers > 1 {
        println!("{} servers behind nginx", arguments.servers);
    }
    let field = Field { models, prompts };
    let mut server =
        Server::start(&arguments.program, &arguments.dir, field, votes, arguments.servers).await?;
    println!("switched off: {}", server::SWITCHED_OFF.join(", "));
    if let Some(load) = figures::load_average() {
        println!("load of the machine before: {load}");
    }

    if votes > 0 {
        println!("\nPages, with votes coming in");
        for page in pages::cold_and_warm(&mut server).await?.iter().take(2) {
            let (cold, warm) = (page.cold.within(0.5), page.warm.within(0.5));
            verdict(&format!("{} cold", page.path), cold <= pages::COLD, &told(cold), &told(pages::COLD));
            verdict(
                &format!("{} warm", page.path),
                warm <= pages::WARM_P50,
                &told(warm),
                &told(pages::WARM_P50),
            );
        }
    }

    println!("\nMatchups at {rate} a second for {seconds} s");
    let served = matchups::at_a_constant_rate(server.address, rate, time).await?;
    served.print();
    verdict(
        "matchup p99",
        served.new_p99() <= MATCHUP_P99,
        &format!("{:.1} ms", ms(served.new_p99())),
        "25 ms",
    );

    println!(
        "\n{voters} voters for {seconds} s, as fast as they can{}",
        if arguments.kill { ", through a kill -9" } else { "" }
    );
    let (cast, killed) = tokio::join!(voting::as_fast_as_they_can(server.address, voters, time), async {
        if arguments.kill {
            tokio::time::sleep(time / 2).await;
            return server.kill_and_restart().await;
        }
        Ok(())
    });
    killed?;
    cast.print();
    let each_second = cast.votes_a_second();
    verdict("votes a second", each_second >= VOTES_A_SECOND, &format!("{each_second:.0}"), "700");

    let acknowledged: HashMap<_, _> = served.votes.into_iter().chain(cast.votes).collect();
    let kept = match votes {
        0 => all_kept(&server, &acknowledged).await?,
        // The log of millions would take its time, and tells nothing new of those.
        _ => past::all_kept(&server.dir, votes, &acknowledged).await?,
    };
    let equal = server.buildoff(&["recompute", "--verify"])?;
    println!("\nrecompute --verify\n{}", indented(&equal.said));
    server.stop()?;
    let passed = kept && equal.succeeded;
    println!("{}", if passed { "passed" } else { "FAILED" });
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn told(time: Duration) -> String {
    format!("{:.0} ms", ms(time))
}

/// Told, and no more: it depends on the machine.
fn verdict(what: &str, reached: bool, is: &str, asked: &str) {
    println!("  {what}: {is}, {asked} asked for, {}", if reached { "reached" } else { "MISSED" });
}

#[derive(Deserialize)]
struct Kept {
    matchup_id: String,
    choice: String,
}

/// Whether every acknowledged vote is in the log, once, as it was cast.
async fn all_kept(server: &Server, acknowledged: &HashMap<String, &'static str>) -> Result<bool> {
    let log = Client::new(server.address).get("/api/votes.jsonl").await?;
    ensure!(log.status == 200, "the log answers {}", log.status);
    let mut kept: HashMap<String, Vec<String>> = HashMap::new();
    for line in log.body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let Kept { matchup_id, choice } = serde_json::from_slice(line).context("a line of the log")?;
        kept.entry(matchup_id).or_default().push(choice);
    }
    let stored: usize = kept.values().map(Vec::len).sum();
    let doubled = kept.values().filter(|votes| votes.len() > 1).count();
    let missing = acknowledged.keys().filter(|id| !kept.contains_key(*id)).count();
    let turned =
        acknowledged.iter().filter(|(id, choice)| kept.get(*id).is_some_and(|votes| votes[0] != **choice));
    let turned = turned.count();
    println!("\n{} votes acknowledged, {stored} in the log", acknowledged.len());
    println!("  {missing} missing, {doubled} twice, {turned} with another choice");
    let unheard = kept.keys().filter(|id| !acknowledged.contains_key(*id)).count();
    println!("  {unheard} kept of which nobody heard");
    let replayed = server.replay(&log.body)?;
    println!("\nrecompute --from votes.jsonl\n{}", indented(&replayed.said));
    Ok(missing + doubled + turned == 0 && replayed.succeeded)
}

fn indented(said: &str) -> String {
    said.lines().map(|line| format!("  {line}\n")).collect()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
