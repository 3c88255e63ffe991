//! Jobs in which a model builds a prompt.

use sqlx::PgPool;
use voxel::codec::Digest;

use super::{JobTaskError, WorkerJob};
use crate::arena::builds::BuildSlot;
use crate::arena::jobs::{Claim, ClaimedBuild, LeaseError};
use crate::generate::attempts::Generated;
use crate::generate::build::{BuildAnswer, BuildTask};
use crate::worker::Worker;

impl WorkerJob for ClaimedBuild {
    type Task = BuildTask;

    fn claim(&self) -> &Claim {
        &self.claim
    }

    fn about(&self) -> String {
        format!("{} by {}", self.slot.prompt, self.slot.model)
    }

    fn template(&self) -> Digest {
        BuildTask::template_digest(&self.slot.settings)
    }

    async fn task(&self, worker: &Worker) -> Result<BuildTask, JobTaskError> {
        Ok(worker.build_task(&self.slot, &self.prompt_text))
    }

    async fn finish(&self, pool: &PgPool, generated: &Generated<BuildAnswer>) -> Result<(), LeaseError> {
        Self::finish(self, pool, &generated.output.build, generated.info()).await
    }
}

impl Worker {
    pub(in crate::worker) fn build_task(&self, slot: &BuildSlot, prompt: &str) -> BuildTask {
        BuildTask {
            prompt: prompt.to_owned(),
            settings: slot.settings.clone(),
            max_bytes: self.config.generation.answer_max_bytes,
            site: Some(self.config.site_url().into()),
        }
    }
}
