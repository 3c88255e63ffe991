//! Jobs in which a model judges a build, or says which of two is better.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sqlx::PgPool;
use uuid::Uuid;
use voxel::GridSize;
use voxel::codec::Digest;

use super::{JobTaskError, WorkerJob};
use crate::arena::builds::{self, CorruptGridError, StoredGrid};
use crate::arena::jobs::judgements::{ClaimedJudging, JudgedBuilds, NewJudgeVote, NewJudgement};
use crate::arena::jobs::{Claim, JobFailure, LeaseError};
use crate::generate::attempts::{Generated, RejectedAnswer, Task};
use crate::generate::{ChatPrompt, PictureLimits, PromptPicture};
use crate::judge::answer::{JudgeAnswer, PairAnswer, UnreadableJudgement, pair_schema, score_schema};
use crate::judge::criteria::CriteriaText;
use crate::judge::prompting::{self, JudgedBuild};
use crate::judge::scores::Revision;
use crate::judge_views::{JudgeViewsError, judge_views};
use crate::work::WorkClient;
use crate::worker::Worker;

/// A question to a judge, with its pictures. Every request shows them again, since each stands alone.
pub(in crate::worker) struct JudgeTask {
    question: ChatPrompt,
    pairwise: bool,
}

pub(in crate::worker) enum JudgeOutput {
    Judgement(NewJudgement),
    Vote(NewJudgeVote),
}

/// What a judge is shown and told of a build.
struct ShownBuild {
    pictures: Vec<PromptPicture>,
    labels: Vec<String>,
    block_count: u64,
    kinds: Vec<(String, u64)>,
}

/// How long counting blocks waits for memory.
const MAX_MEMORY_WAIT: Duration = Duration::from_secs(60);

const NO_PICTURES: JobFailure<'static> = JobFailure {
    code: "no_pictures",
    message: "The stored build is damaged, so no pictures of it can be drawn.",
};

const CRITERIA_CHANGED: JobFailure<'static> = JobFailure {
    code: "criteria_changed",
    message: "The criteria have changed since the job was queued. Ask again to have it judged by the new ones.",
};

impl WorkerJob for ClaimedJudging {
    type Task = JudgeTask;

    fn claim(&self) -> &Claim {
        &self.claim
    }

    fn about(&self) -> String {
        let what = if self.is_pair() { "a pair of " } else { "" };
        format!("{} judges {what}{}", self.claim.model, self.prompt)
    }

    fn template(&self) -> Digest {
        JudgeTask::template_digest(self.is_pair())
    }

    async fn task(&self, worker: &Worker) -> Result<JudgeTask, JobTaskError> {
        let pairwise = self.is_pair();
        if self.criteria != JudgeTask::criteria_digest(pairwise) {
            return Err(JobTaskError::Failed(CRITERIA_CHANGED));
        }
        let question = match self.builds {
            JudgedBuilds::One(build) => {
                let shown = worker.show_build(self, build).await?;
                let question =
                    prompting::score_prompt(&self.prompt_text, shown.described(), CriteriaText::build());
                question.with_pictures(shown.pictures)
            }
            JudgedBuilds::Pair { left, right } => {
                let a = worker.show_build(self, left).await?;
                let b = worker.show_build(self, right).await?;
                let question = prompting::pair_prompt(&self.prompt_text, a.described(), b.described());
                let pictures: Vec<_> = a.pictures_of("A").chain(b.pictures_of("B")).collect();
                question.with_pictures(pictures)
            }
        };
        Ok(JudgeTask { question, pairwise })
    }

    async fn finish(&self, pool: &PgPool, generated: &Generated<JudgeOutput>) -> Result<(), LeaseError> {
        match &generated.output {
            JudgeOutput::Judgement(judgement) => self.finish_judgement(pool, judgement).await,
            JudgeOutput::Vote(vote) => self.finish_vote(pool, vote).await,
        }
    }
}

impl Task for JudgeTask {
    type Output = JudgeOutput;

    fn schema(&self) -> Option<Arc<Value>> {
        Some(Arc::new(Self::answer_schema(self.pairwise)))
    }

    fn first_prompt(&self) -> ChatPrompt {
        self.question.clone()
    }

    fn shorter_prompt(&self) -> ChatPrompt {
        prompting::shorter_prompt(&self.question)
    }

    fn read(&self, answer: &str) -> Result<JudgeOutput, RejectedAnswer> {
        let read = if self.pairwise { read_vote(answer) } else { read_scores(answer) };
        read.map_err(|problem| RejectedAnswer {
            code: problem.code,
            repair: prompting::repair_prompt(&self.question, answer, &problem),
            message: problem.message,
        })
    }
}

impl JudgeTask {
    /// What judgements are told apart by: the criteria, or what is said of the choice between two builds.
    pub fn criteria_digest(pairwise: bool) -> Digest {
        match pairwise {
            false => CriteriaText::build().digest(),
            true => Digest::of(Self::example_question("", true).system.as_bytes()),
        }
    }

    /// The digest of what models are told beside the prompt and the pictures. It changes with the criteria and with the
    /// program.
    pub fn template_digest(pairwise: bool) -> Digest {
        let ChatPrompt { system, user, .. } = Self::example_question("the prompt", pairwise);
        let schema = Self::answer_schema(pairwise).to_string();
        // The lengths keep texts apart that would be one when they are put together.
        let parts = [system, user, schema].map(|text| format!("{}\n{text}\n", text.len()));
        Digest::of(parts.concat().as_bytes())
    }

    /// About how many characters a question has, beside its pictures.
    pub fn question_chars(prompt: &str, pairwise: bool) -> usize {
        let ChatPrompt { system, user, .. } = Self::example_question(prompt, pairwise);
        system.len() + user.len() + Self::answer_schema(pairwise).to_string().len()
    }

    fn example_question(prompt: &str, pairwise: bool) -> ChatPrompt {
        let build = JudgedBuild { pictures: &[], block_count: 0, kinds: &[] };
        match pairwise {
            false => prompting::score_prompt(prompt, build, CriteriaText::build()),
            true => prompting::pair_prompt(prompt, build, build),
        }
    }

    fn answer_schema(pairwise: bool) -> Value {
        if pairwise { pair_schema() } else { score_schema(CriteriaText::build().applicable()) }
    }
}

fn read_scores(answer: &str) -> Result<JudgeOutput, UnreadableJudgement> {
    let applicable = CriteriaText::build().applicable();
    let JudgeAnswer { scores, evidence, note, .. } = JudgeAnswer::read(answer, applicable)?;
    let overall = scores.overall(applicable, Revision::default()).ok_or_else(|| UnreadableJudgement {
        code: "no_scores",
        message: "it has no score for any of the criteria".to_owned(),
    })?;
    Ok(JudgeOutput::Judgement(NewJudgement { scores, overall, evidence, note }))
}

fn read_vote(answer: &str) -> Result<JudgeOutput, UnreadableJudgement> {
    let PairAnswer { choice, reason } = PairAnswer::read(answer)?;
    Ok(JudgeOutput::Vote(NewJudgeVote { choice, reason }))
}

impl Worker {
    /// Draws a build that is judged, in files that the provider of the claim takes.
    async fn show_build(&self, job: &ClaimedJudging, build: Uuid) -> Result<ShownBuild, JobTaskError> {
        let stored = builds::grid(&self.pool, build).await.map_err(JobTaskError::Database)?;
        let providers = self.providers();
        let provider = providers.known().iter().find(|known| known.key == job.claim.provider);
        let (Some(stored), Some(provider)) = (stored, provider) else {
            return Err(JobTaskError::Failed(NO_PICTURES));
        };
        let size = job.settings.grid;
        let (block_count, kinds) = self.count_blocks(build, stored.clone(), size).await?;
        let memory = self.picture_memory.of_admin();
        let limits = PictureLimits::of(provider.kind);
        let drawn = judge_views(&self.work, WorkClient::BACKGROUND, memory, stored, size, limits).await;
        let pictures = drawn.map_err(|error| match error {
            JudgeViewsError::Corrupt(error) => damaged(build, &error),
            JudgeViewsError::Work(error) => busy(error),
            JudgeViewsError::Memory(error) => busy(error),
            JudgeViewsError::View(error) => damaged(build, &error),
        })?;
        let labels = pictures.iter().map(|picture| picture.label.clone()).collect();
        Ok(ShownBuild { pictures, labels, block_count, kinds })
    }

    /// The number of blocks, and of each kind, the most frequent first.
    async fn count_blocks(
        &self,
        build: Uuid,
        stored: StoredGrid,
        size: GridSize,
    ) -> Result<(u64, Vec<(String, u64)>), JobTaskError> {
        let mut memory = self.picture_memory.of_admin();
        // The encoding and the grid.
        memory.grow(2 * size.volume(), MAX_MEMORY_WAIT).await.map_err(busy)?;
        let count = move || {
            let _held = memory;
            let stats = stored.open()?.stats();
            let kinds = stats.blocks().into_iter().map(|(block, count)| (block.id.clone(), count.into()));
            Ok((stats.block_count.into(), kinds.collect()))
        };
        let counted: Result<_, CorruptGridError> =
            self.work.run(WorkClient::BACKGROUND, count).await.map_err(busy)?;
        counted.map_err(|error| damaged(build, &error))
    }
}

impl ShownBuild {
    fn described(&self) -> JudgedBuild<'_> {
        JudgedBuild { pictures: &self.labels, block_count: self.block_count, kinds: &self.kinds }
    }

    /// The pictures as those of a side of a pair.
    fn pictures_of(self, side: &'static str) -> impl Iterator<Item = PromptPicture> {
        let of_side = move |picture: PromptPicture| PromptPicture {
            label: format!("Build {side}: {}", picture.label),
            ..picture
        };
        self.pictures.into_iter().map(of_side)
    }
}

fn busy(reason: impl Display) -> JobTaskError {
    JobTaskError::Busy(reason.to_string())
}

fn damaged(build: Uuid, error: &dyn Display) -> JobTaskError {
    tracing::error!(%build, %error, "a build cannot be judged");
    JobTaskError::Failed(NO_PICTURES)
}
