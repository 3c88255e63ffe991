//! `buildoff judge`: has a vision model judge builds, or compare pairs of them.

use std::process::ExitCode;

use serde::Serialize;

use super::api::{AdminApi, ApiArgs, CommandWork};
use super::following::{FollowedJobs, JobsCost, exit_code, needed};
use super::job_progress::JobWords;
use super::output::{self, OutputArgs};
use super::selection::AddressQuery;
use crate::arena::{ModelKey, PromptId};
use crate::web::{JobsProgressResponse, JudgeEstimateView, JudgeResponse};

const PATH: &str = "/api/admin/judge";

const BUILDS: JobWords = JobWords { one: "build", several: "builds", verb: "judge" };
const QUESTIONS: JobWords =
    JobWords { one: "question about a pair", several: "questions about pairs", verb: "answer" };

#[derive(clap::Args)]
pub(super) struct JudgeArgs {
    /// The judge: a model that sees pictures (`vision = true` in models.toml).
    #[arg(long, value_name = "KEY")]
    model: ModelKey,
    /// Have pairs compared that voters have voted on, each in both orders, those with the most votes first.
    #[arg(long)]
    pairwise: bool,
    /// Only builds of this prompt; can be repeated.
    #[arg(long = "prompt", value_name = "ID")]
    prompts: Vec<PromptId>,
    /// Only builds by this model; can be repeated. Of a pair, one build has to be by one of them.
    #[arg(long = "of", value_name = "KEY")]
    makers: Vec<ModelKey>,
    /// At most so many builds or pairs, those in progress included.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    limit: Option<u16>,
    /// Also ask again where a job has failed or was cancelled.
    #[arg(long)]
    retry_failed: bool,
    /// Show what would be judged and what it may cost; ask nobody and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Queue the jobs for a running Buildoff, and do not wait.
    #[arg(long)]
    background: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    connection: ApiArgs,
}

/// What came of it, as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JudgeSummary {
    /// Its `jobs` are those that have ended.
    #[serde(flatten)]
    state: JudgeResponse,
    /// Whether a signal ended it.
    stopped: bool,
    waits_for_admin: bool,
    still_queued: usize,
    still_running: usize,
    #[serde(flatten)]
    cost: JobsCost,
}

/// Success if everything that the command waited for was judged.
pub(super) fn run(arguments: &JudgeArgs) -> anyhow::Result<ExitCode> {
    arguments
        .connection
        .run(CommandWork::jobs_if(arguments.follows()), async |api| judge(api, arguments).await)
}

async fn judge(api: &AdminApi, arguments: &JudgeArgs) -> anyhow::Result<ExitCode> {
    let queued: JudgeResponse = api.post(&arguments.query().address(PATH), "").await?;
    if arguments.follows() {
        return follow(api, arguments, queued).await;
    }
    match arguments.output.json {
        true => output::json(&queued)?,
        false => print_queued(&queued, arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn follow(api: &AdminApi, arguments: &JudgeArgs, queued: JudgeResponse) -> anyhow::Result<ExitCode> {
    let ids = queued.jobs.iter().map(|job| job.id.clone()).collect();
    let followed = FollowedJobs::follow(api, arguments.words(), arguments.output.json, ids).await?;
    let state_path = arguments.selected().flag("dryRun", true).address(PATH);
    let state: JudgeResponse = followed.retry(api, async || api.post(&state_path, "").await).await?;
    let FollowedJobs { ended, progress, stopped, .. } = followed;
    let result = JudgeSummary {
        stopped,
        waits_for_admin: progress.waits_for_admin,
        still_queued: progress.under_way.iter().map(|provider| provider.queued).sum(),
        still_running: progress.under_way.iter().map(|provider| provider.running).sum(),
        cost: JobsCost::of(&ended),
        state: JudgeResponse { next: Vec::new(), estimate: None, jobs: ended, ..state },
    };
    match arguments.output.json {
        true => output::json(&result)?,
        false => print_summary(&result, &progress, arguments)?,
    }
    let is_complete = !progress.waits_for_admin && result.state.jobs.iter().all(|job| job.state == "ready");
    Ok(exit_code(api, is_complete))
}

fn print_queued(queued: &JudgeResponse, arguments: &JudgeArgs) -> anyhow::Result<()> {
    print_totals(queued)?;
    for next in &queued.next {
        output::line(format_args!("would judge {next}"))?;
    }
    if let Some(estimate) = queued.estimate.as_ref().filter(|_| !queued.next.is_empty()) {
        print_estimate(estimate)?;
    }
    for line in queued.pauses.lines() {
        output::line(line)?;
    }
    if !arguments.dry_run {
        let queued = arguments.words().count(queued.jobs.len());
        output::line(format_args!("{queued} in the queue; a running Buildoff asks the judge"))?;
    }
    Ok(())
}

fn print_totals(state: &JudgeResponse) -> anyhow::Result<()> {
    let JudgeResponse { model_key, targets, judged, failed, .. } = state;
    let what = if state.pairwise { "questions about pairs" } else { "builds" };
    output::line(format_args!("{model_key} has judged {judged} of {targets} {what}, {failed} failed"))?;
    Ok(())
}

fn print_estimate(estimate: &JudgeEstimateView) -> anyhow::Result<()> {
    let JudgeEstimateView { pictures, picture_tokens, text_tokens, answer_tokens, total } = estimate;
    output::line(format_args!(
        "each request: {pictures} pictures (about {picture_tokens} tokens), about {text_tokens} tokens of text, and an answer of \
         about {answer_tokens}"
    ))?;
    output::line(format_args!("estimated cost: {total}"))?;
    Ok(())
}

fn print_summary(
    result: &JudgeSummary,
    progress: &JobsProgressResponse,
    arguments: &JudgeArgs,
) -> anyhow::Result<()> {
    let JudgeSummary { state, stopped, still_queued, still_running, cost, .. } = result;
    let words = arguments.words();
    print_totals(state)?;
    if !state.jobs.is_empty() {
        output::line(format_args!("{} ended, which cost {cost}", words.count(state.jobs.len())))?;
    }
    for provider in progress.under_way.iter().filter(|provider| provider.queued > 0) {
        if let Some(reason) = &provider.waits_for {
            let queued = words.count(provider.queued);
            output::line(format_args!("{queued} at {}: {reason}", provider.display_name))?;
        }
    }
    if progress.waits_for_admin && !stopped {
        output::line(format_args!("Nothing can be judged before {}.", needed(&progress.pauses)))?;
    }
    if *stopped {
        let still = words.count(still_queued + still_running);
        let server = arguments.connection.server.as_ref();
        let who = match server {
            Some(_) => "The server goes on with them.",
            None => "A running Buildoff goes on with them, or else the next that starts.",
        };
        let server = server.map(|server| format!(" --server {server}")).unwrap_or_default();
        let cancel = format!("buildoff cancel --kind judge --model {}{server}", arguments.model);
        output::line(format_args!("Stopped. {still} still queued or running. {who} To drop them: {cancel}"))?;
    }
    Ok(())
}

impl JudgeArgs {
    /// Whether the command waits for what it queues.
    fn follows(&self) -> bool {
        !(self.dry_run || self.background)
    }

    fn words(&self) -> JobWords {
        if self.pairwise { QUESTIONS } else { BUILDS }
    }

    fn query(&self) -> AddressQuery {
        self.selected()
            .flag("dryRun", self.dry_run)
            .flag("retryFailed", self.retry_failed)
            .value("limit", self.limit)
    }

    /// The query for the state of what is selected.
    fn selected(&self) -> AddressQuery {
        AddressQuery::default()
            .value("model", Some(&self.model))
            .flag("pairwise", self.pairwise)
            .names("prompt", &self.prompts)
            .names("of", &self.makers)
    }
}
