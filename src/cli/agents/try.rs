//! `buildoff agents try`: one task, message by message, without a database.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::json;
use world::Terrains;

use crate::assess::WorldThreads;
use crate::assess::order::{AssessmentOrder, ConfigBody, NameList};
use crate::assess::report::{ScoredRun, TaskScores};
use crate::assess::run::{RunEnding, RunExchange, RunListener, RunOutcome, RunSetup, RunTimes, run_task};
use crate::cli::{output, runtime, until_stopped};
use crate::generate::a2a::agent_address;
use crate::generate::{AgentSecrets, Endpoint, ProviderKind, agent_provider};
use crate::judge::scores::VideoScore;

/// How much of an answer is printed.
const MAX_SHOWN: usize = 160;

#[derive(clap::Args)]
pub(super) struct TryArgs {
    /// Where the agent is, or its card, such as http://127.0.0.1:9019.
    url: String,
    /// Name of the task, with or without its category.
    #[arg(long, default_value = "craft_ladder")]
    task: String,
    /// Steps of the run.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=crate::assess::order::MAX_STEPS))]
    steps: u64,
    /// Seed of the world.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Environment variable that holds the agent's secret.
    #[arg(long, value_name = "NAME")]
    key_variable: Option<String>,
    /// File for the recording of the run.
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,
}

pub(super) fn run(arguments: &TryArgs, json: bool) -> anyhow::Result<ExitCode> {
    let config = ConfigBody {
        tasks: Some(NameList::One(arguments.task.clone())),
        max_steps: Some(arguments.steps),
        seed: Some(arguments.seed),
        ..ConfigBody::default()
    };
    let order = AssessmentOrder::new(arguments.url.clone(), &config)?;
    let times = RunTimes::default();
    let secrets = AgentSecrets::new(|name| std::env::var_os(name));
    let key = match &arguments.key_variable {
        None => None,
        Some(name) => Some(secrets.get(name).ok_or_else(|| anyhow::anyhow!("{name} is not set"))?),
    };
    let base_url = agent_address(&arguments.url)?;
    let endpoint = Endpoint { provider: ProviderKind::A2a, base_url, key, pinned: None };
    // Whoever uses the command line may name addresses of their own network.
    let agent = agent_provider(&endpoint, true, times.limits(), false)?;
    let setup = RunSetup {
        seed: arguments.seed,
        size: order.size,
        stops_when_done: false,
        times,
        terrains: Arc::new(Terrains::default()),
        threads: WorldThreads::new()?,
    };
    let Some(task) = order.tasks.first() else { anyhow::bail!("there is no such task") };
    runtime()?.block_on(until_stopped(async {
        if !json {
            output::line(format_args!("{}/{}: {}", task.task.category(), task.task.name(), task.task.text()))?;
        }
        let mut printer = ExchangePrinter { json, result: Ok(()) };
        let outcome = run_task(task, &setup, &*agent, &mut printer).await?;
        printer.result?;
        if let Some(file) = &arguments.recording {
            std::fs::write(file, &outcome.recording)?;
        }
        let metrics = ScoredRun::new(task, &outcome, VideoScore::NoJudge).scores(order.revision);
        if json {
            output::json(&json!({ "ending": outcome.ending.to_string(), "steps": outcome.steps, "noOps": outcome.no_ops(), "metrics": metrics }))?;
        } else {
            explain(&outcome, &metrics)?;
        }
        let took_part = !matches!(outcome.ending, RunEnding::Refused(_) | RunEnding::Silent(_));
        Ok(if took_part { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }))
}

/// Prints each exchange as it happens.
struct ExchangePrinter {
    json: bool,
    /// The first error of the output.
    result: std::io::Result<()>,
}

impl RunListener for ExchangePrinter {
    fn on_exchange(&mut self, exchange: &RunExchange<'_>) {
        if self.json || self.result.is_err() {
            return;
        }
        let answer: String = exchange.answer.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut shown: String = output::printable(&answer).chars().take(MAX_SHOWN).collect();
        if answer.chars().count() > MAX_SHOWN {
            shown.push('…');
        }
        let milliseconds = exchange.took.as_secs_f64() * 1000.0;
        let sent = match exchange.jpeg {
            None => "the text".to_owned(),
            Some(jpeg) => format!("step {}, a picture of {} bytes", exchange.step, jpeg.len()),
        };
        let paid = if exchange.reward == 0.0 {
            String::new()
        } else {
            format!("; paid {} (score {:.2})", exchange.reward, exchange.score)
        };
        let problem = exchange.problem.map(output::printable);
        let problem = problem.map_or(String::new(), |problem| format!("\n  no action: {problem}"));
        self.result = output::line(format_args!("{sent} → {shown} ({milliseconds:.0} ms){paid}{problem}"));
    }
}

/// Says why the score is what it is.
fn explain(outcome: &RunOutcome, metrics: &TaskScores) -> std::io::Result<()> {
    let score = metrics.total_score.map_or("none".to_owned(), |score| score.to_string());
    output::line(format_args!(
        "\nThe run: {} after {} steps. Score: {score}",
        output::printable(&outcome.ending.to_string()),
        outcome.steps
    ))?;
    output::line(format_args!("  paid: {} of {}", outcome.given, outcome.payable))?;
    for (step, reward) in &outcome.paid {
        output::line(format_args!("  {reward} in step {step}"))?;
    }
    for open in &outcome.open {
        let unmet =
            if open.unmet.is_empty() { String::new() } else { format!(": {}", open.unmet.join(", ")) };
        output::line(format_args!(
            "  still open: {} of {} × {} {}{unmet}",
            open.max_times - open.times,
            open.max_times,
            open.reward,
            if open.is_goal { "goal" } else { &open.identity },
        ))?;
    }
    output::line(format_args!(
        "  {} answers that were no action, {} messages without an answer",
        outcome.unreadable, outcome.unanswered
    ))?;
    if outcome.assisted {
        output::line("  assisted: something was crafted past the pointer")?;
    }
    if outcome.held {
        output::line("  held: an action was held for several steps")?;
    }
    Ok(())
}
