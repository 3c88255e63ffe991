//! Reads stored answers again: an improved parser may find builds in answers that were rejected before.

use anyhow::Context;
use serde_json::json;
use uuid::Uuid;

use super::Worker;
use crate::arena::audit::{self, Admin};
use crate::arena::builds::{BuildSlot, GenerationInfo, PackedBuild, StoreError};
use crate::arena::jobs::attempts::{self, AttemptRow};
use crate::arena::jobs::{self, AttachBuildError, Job};
use crate::generate::attempts::Task;
use crate::generate::build::BuildTask;
use crate::work::WorkClient;

/// What reading a job's answers again has led to.
#[derive(Clone, Debug)]
pub struct ReparsedJob {
    pub job: Job,
    /// The build, and the number of the attempt that contains it.
    pub found: Option<(Uuid, i32)>,
    /// What is still wrong with the latest answer.
    pub last_error: Option<String>,
}

impl Worker {
    /// Reads the answers of a failed job again, the latest first. None if no such job exists, or if its slot has a
    /// build.
    pub async fn reparse(&self, admin: Admin, id: Uuid) -> anyhow::Result<Option<ReparsedJob>> {
        if jobs::reparsable(&self.pool, Some(id)).await?.is_empty() {
            return Ok(None);
        }
        let Some(job) = jobs::find(&self.pool, &[id]).await?.pop() else { return Ok(None) };
        let slot = job.slot();
        let mut last_error = None;
        for attempt in attempts::list(&self.pool, id).await?.into_iter().rev() {
            let Some(answer) = attempts::answer(&self.pool, id, attempt.number).await? else { continue };
            match self.check_stored_answer(answer, &job, &attempt).await? {
                Ok(build) => match self.attach_build(admin, &job, &slot, &build, &attempt).await {
                    Ok(id) => {
                        let found = Some((id, attempt.number));
                        return Ok(Some(ReparsedJob { job, found, last_error: None }));
                    }
                    // Another build was stored in the meantime.
                    Err(AttachBuildError::Store(StoreError::Exists)) => return Ok(None),
                    Err(AttachBuildError::AskedDifferently) => {
                        let problem = "This answer holds a build, but the model is asked differently now.";
                        last_error = last_error.or(Some(problem.to_owned()));
                    }
                    Err(reason) => return Err(reason).context("the build could not be stored"),
                },
                Err(problem) => last_error = last_error.or(Some(problem)),
            }
        }
        Ok(Some(ReparsedJob { job, found: None, last_error }))
    }

    async fn check_stored_answer(
        &self,
        answer: Vec<u8>,
        job: &Job,
        attempt: &AttemptRow,
    ) -> anyhow::Result<Result<PackedBuild, String>> {
        let task = BuildTask {
            prompt: job.prompt_text.clone(),
            settings: job.settings.clone(),
            max_bytes: self.config.generation.answer_max_bytes,
            site: None,
        };
        let is_whole = matches!(attempt.outcome.as_deref(), Some("accepted" | "refused" | "unread"));
        let read = move || {
            let text = String::from_utf8_lossy(&answer);
            let found = task.read(&text).map_err(|rejected| rejected.message)?;
            // If the end of an answer was lost, a sketch at its beginning could pass for the build.
            let found = if is_whole { Some(found) } else { task.read_interrupted(&text) };
            found.map(|answer| answer.build).ok_or_else(|| "the end of the answer is missing".to_owned())
        };
        Ok(self.work.run(WorkClient::BACKGROUND, read).await?)
    }

    async fn attach_build(
        &self,
        admin: Admin,
        job: &Job,
        slot: &BuildSlot,
        build: &PackedBuild,
        attempt: &AttemptRow,
    ) -> Result<Uuid, AttachBuildError> {
        let generation =
            GenerationInfo { attempts: Some(attempt.number), generation_time_ms: attempt.answer_ms };
        let number = attempt.number;
        let mut transaction = self.pool.begin().await?;
        let id = jobs::attach_build(&mut transaction, job.id, slot, build, generation, number).await?;
        let detail = json!({ "attempt": number, "build": id });
        let subject = format!("{} by {}", slot.prompt, slot.model);
        audit::record(&mut transaction, admin, "read again", &subject, detail).await?;
        transaction.commit().await?;
        Ok(id)
    }
}
