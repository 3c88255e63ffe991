//! Reading a dataset into this installation: first prompts and models, then builds one by one, then all votes at once.
//! What is there already is left as it is, so an import that was stopped can be repeated.

use std::collections::HashSet;
use std::fmt;

use futures_util::StreamExt;
use futures_util::stream;
use sqlx::PgPool;
use voxel::codec::{self, Digest};
use voxel::{ValidGrid, check};

use super::reader::{DatasetReader, DatasetReaderError};
use super::{BUILDS, DECISIONS, MODELS, PROMPTS, VOTES, grid_path, ladders_of, spec_path};
use crate::arena::audit::Admin;
use crate::arena::builds::PackedBuild;
use crate::arena::dataset::{
    self, DatasetBuild, DatasetDecision, DatasetModel, DatasetPrompt, ImportedBuilds, RecordError,
    StoredRecord, VoteImport, VoteImportError,
};
use crate::arena::vote_log::LoggedVote;
use crate::arena::{PromptId, Settings};
use crate::work::{WorkClient, WorkError, WorkPool};

/// The longest encoding of a grid.
const MAX_GRID_BYTES: u64 = 34 << 20;

/// Builds that are checked at a time, at most. Each takes several times as much memory as its spec is long.
const MAX_CHECKING: usize = 3;

/// Votes that are stored at a time.
const VOTES_PER_INSERT: usize = 1000;

/// Records of which the report says why they were left out.
const MAX_REASONS: usize = 20;

/// Where a dataset is read into.
pub struct DatasetImport {
    pub pool: PgPool,
    pub work: WorkPool,
    /// The longest spec.
    pub max_spec_bytes: usize,
}

/// How far an import is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportStep {
    Builds(u64),
    Votes(u64),
}

/// What an import has done.
#[derive(Debug, Default)]
pub struct ImportReport {
    /// Of each kind, how many were stored, were here already, and were left out.
    pub prompts: RecordCounts,
    pub models: RecordCounts,
    pub builds: RecordCounts,
    /// The votes that were stored, or why none was.
    pub votes: Option<Result<u64, VoteImportError>>,
    /// Why records were left out: the first ones.
    pub reasons: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    pub stored: u64,
    pub present: u64,
    pub left_out: u64,
}

/// Why a build of a dataset was left out.
#[derive(Debug, thiserror::Error)]
enum BuildError {
    #[error("its prompt was left out")]
    NoPrompt,
    #[error("{0}")]
    Unsound(String),
    #[error(transparent)]
    Reader(#[from] DatasetReaderError),
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl ImportReport {
    /// Whether everything in the file is in this installation now.
    pub fn is_complete(&self) -> bool {
        let left_out = self.prompts.left_out + self.models.left_out + self.builds.left_out;
        left_out == 0 && matches!(self.votes, None | Some(Ok(_)))
    }

    fn leave_out(&mut self, what: impl fmt::Display, why: impl fmt::Display) {
        if self.reasons.len() < MAX_REASONS {
            self.reasons.push(format!("{what}: {why}"));
        }
    }
}

impl RecordCounts {
    fn count(&mut self, stored: StoredRecord) {
        match stored {
            StoredRecord::Stored => self.stored += 1,
            StoredRecord::Present => self.present += 1,
        }
    }
}

impl DatasetImport {
    /// # Errors
    /// If the file is damaged or the database fails. What was stored until then stays.
    pub async fn run(
        &self,
        reader: &DatasetReader,
        admin: Admin,
        progress: &(dyn Fn(ImportStep) + Sync),
    ) -> anyhow::Result<ImportReport> {
        let mut report = ImportReport::default();
        let prompts = self.import_prompts(reader, &mut report).await?;
        self.import_models(reader, &mut report).await?;
        let builds = self.import_builds(reader, &prompts, &mut report, progress).await?;
        if reader.manifest.counts.votes > 0 {
            report.votes = Some(match self.import_votes(reader, &builds, progress).await? {
                Err(VoteImportError::HasVotes) => self.compare_votes(reader).await?,
                imported => imported,
            });
        }
        let votes = report.votes.as_ref().map_or(0, |votes| *votes.as_ref().unwrap_or(&0));
        if report.builds.stored + votes > 0 {
            dataset::record_import(&self.pool, admin, report.builds.stored, votes).await?;
        }
        Ok(report)
    }

    /// Returns the prompts whose builds can be stored.
    async fn import_prompts(
        &self,
        reader: &DatasetReader,
        report: &mut ImportReport,
    ) -> anyhow::Result<HashSet<PromptId>> {
        let mut sound = HashSet::new();
        for prompt in reader.records::<DatasetPrompt>(PROMPTS)? {
            let prompt = prompt?;
            if prompt.text.is_none() {
                // Held out: the file has neither its text nor any of its builds.
                continue;
            }
            match dataset::store_prompt(&self.pool, &prompt).await {
                Ok(stored) => {
                    report.prompts.count(stored);
                    sound.insert(prompt.id);
                }
                Err(RecordError::Database(error)) => return Err(error.into()),
                Err(why) => {
                    report.prompts.left_out += 1;
                    report.leave_out(format_args!("prompt {}", prompt.id), why);
                }
            }
        }
        Ok(sound)
    }

    async fn import_models(&self, reader: &DatasetReader, report: &mut ImportReport) -> anyhow::Result<()> {
        for model in reader.records::<DatasetModel>(MODELS)? {
            let model = model?;
            match dataset::store_model(&self.pool, &model).await {
                Ok(stored) => report.models.count(stored),
                Err(RecordError::Database(error)) => return Err(error.into()),
                Err(why) => {
                    report.models.left_out += 1;
                    report.leave_out(format_args!("model {}", model.key), why);
                }
            }
        }
        Ok(())
    }

    async fn import_builds(
        &self,
        reader: &DatasetReader,
        prompts: &HashSet<PromptId>,
        report: &mut ImportReport,
        progress: &(dyn Fn(ImportStep) + Sync),
    ) -> anyhow::Result<ImportedBuilds> {
        let mut imported = ImportedBuilds::new();
        let checked = stream::iter(reader.records::<DatasetBuild>(BUILDS)?).map(|record| async move {
            let record = record?;
            let checked = match prompts.contains(&record.prompt_id) {
                true => self.check_build(reader, &record).await,
                false => Err(BuildError::NoPrompt),
            };
            Ok::<_, DatasetReaderError>((record, checked))
        });
        let mut checked = std::pin::pin!(checked.buffered(MAX_CHECKING));
        let mut done = 0;
        while let Some(next) = checked.next().await {
            let (record, checked) = next?;
            let stored = match checked {
                Ok((settings, build)) => dataset::store_build(&self.pool, &record, &settings, &build)
                    .await
                    .map_err(BuildError::Record),
                Err(why) => Err(why),
            };
            match stored {
                Ok((stored, slot)) => {
                    report.builds.count(stored);
                    imported.insert(record.log_id, slot);
                }
                Err(BuildError::Record(RecordError::Database(error))) if !is_constraint(&error) => {
                    return Err(error.into());
                }
                Err(BuildError::Work(error)) => return Err(error.into()),
                Err(why) => {
                    report.builds.left_out += 1;
                    report.leave_out(format_args!("build {}", record.id), why);
                }
            }
            done += 1;
            progress(ImportStep::Builds(done));
        }
        Ok(imported)
    }

    /// Checks a build as any other that is imported: nothing but the rules makes a grid that can be stored.
    async fn check_build(
        &self,
        reader: &DatasetReader,
        record: &DatasetBuild,
    ) -> Result<(Settings, PackedBuild), BuildError> {
        let settings: Settings = record.settings.parse().map_err(BuildError::Unsound)?;
        let (reader, record, max) = (reader.clone(), record.clone(), self.max_spec_bytes);
        let of = settings.clone();
        let build = self.work.run(WorkClient::BACKGROUND, move || read_build(&reader, &record, &of, max));
        Ok((settings, build.await??))
    }

    async fn import_votes(
        &self,
        reader: &DatasetReader,
        builds: &ImportedBuilds,
        progress: &(dyn Fn(ImportStep) + Sync),
    ) -> anyhow::Result<Result<u64, VoteImportError>> {
        let decisions: Vec<DatasetDecision> = reader.records(DECISIONS)?.collect::<Result<_, _>>()?;
        let ladders = ladders_of(reader.ladders()?);
        let mut votes = reader.records::<LoggedVote>(VOTES)?;
        let mut done = 0;
        let imported = async {
            let mut import = VoteImport::begin(&self.pool).await?;
            import.add_decisions(&decisions).await?;
            loop {
                let page: Vec<_> = votes.by_ref().take(VOTES_PER_INSERT).collect::<Result<_, _>>()?;
                if page.is_empty() {
                    return Ok(import.finish(&ladders).await?);
                }
                import.add_votes(&page, builds).await?;
                done += page.len() as u64;
                progress(ImportStep::Votes(done));
            }
        };
        let imported: anyhow::Result<u64> = imported.await;
        match imported.map_err(anyhow::Error::downcast::<VoteImportError>) {
            Ok(votes) => Ok(Ok(votes)),
            Err(Ok(VoteImportError::Database(error))) if !is_constraint(&error) => Err(error.into()),
            Err(Ok(why)) => Ok(Err(why)),
            Err(Err(other)) => Err(other),
        }
    }

    /// Stores nothing, and succeeds if all votes of the file are here, as after an earlier import.
    async fn compare_votes(&self, reader: &DatasetReader) -> anyhow::Result<Result<u64, VoteImportError>> {
        let mut votes = reader.records::<LoggedVote>(VOTES)?;
        let (mut present, mut in_file) = (0, 0);
        loop {
            let page: Vec<_> = votes.by_ref().take(VOTES_PER_INSERT).collect::<Result<_, _>>()?;
            if page.is_empty() {
                break;
            }
            in_file += page.len() as u64;
            present += dataset::count_present(&self.pool, &page).await?;
        }
        Ok(match present {
            0 => Err(VoteImportError::HasVotes),
            present if present < in_file => Err(VoteImportError::HasSome { present, in_file }),
            _ => Ok(0),
        })
    }
}

/// A rule of the tables, which says that a record is wrong. Anything else is trouble with the database.
fn is_constraint(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.constraint().is_some())
}

fn read_build(
    reader: &DatasetReader,
    record: &DatasetBuild,
    settings: &Settings,
    max_spec_bytes: usize,
) -> Result<PackedBuild, BuildError> {
    let unsound = |problem: &str| BuildError::Unsound(problem.to_owned());
    let encoded = reader.unpack(&grid_path(record.id), MAX_GRID_BYTES)?;
    if Digest::of(&encoded).to_string() != record.digest {
        return Err(unsound("its grid does not match its digest"));
    }
    let grid = codec::decode(&encoded).map_err(|error| BuildError::Unsound(error.to_string()))?;
    let foreign =
        || grid.stats().blocks().into_iter().any(|(block, _)| settings.palette.find(&block.id).is_none());
    if grid.size() != settings.grid || foreign() {
        return Err(unsound("its grid does not fit its settings"));
    }
    let build = ValidGrid::new(grid)
        .map_err(|(_, _, rejection)| BuildError::Unsound(format!("its grid breaks a rule: {rejection}")))?;
    let spec = reader.unpack(&spec_path(record.id), max_spec_bytes as u64)?;
    let spec = String::from_utf8(spec).map_err(|_| unsound("its spec is not text"))?;
    let verdict = check(spec.as_bytes(), settings.grid, settings.palette, max_spec_bytes);
    if verdict.grid() != Some(build.grid()) {
        return Err(unsound("its spec does not make its grid"));
    }
    Ok(PackedBuild::new(&build, &spec, record.warnings.clone()))
}
