//! Writing a dataset.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use super::archive::{ArchiveEntry, ArchiveWriter};
use super::{
    BUILDS, DECISIONS, DatasetCounts, DatasetManifest, FORMAT, FORMAT_VERSION, LADDERS, MANIFEST, MODELS,
    PROMPTS, README, VOTES, grid_path, ladder_records, readme, spec_path,
};
use crate::arena::builds::{self, StoredGrid};
use crate::arena::dataset::{self, DatasetRecords};
use crate::arena::leaderboard::Published;
use crate::arena::replay::Replay;
use crate::arena::vote_log::{LoggedVote, VoteLog};
use crate::arena::{Arena, Pace};
use crate::work::{WorkClient, WorkPool};

/// How often a file is begun because of decisions about votes.
const MAX_TRIES: usize = 5;

/// Where a dataset comes from.
#[derive(Clone)]
pub struct DatasetExport {
    pub arena: Arc<Arena>,
    /// The database that is read. It may lag behind.
    pub pool: PgPool,
    pub work: WorkPool,
    pub pace: Pace,
    /// The address of the site.
    pub source: Option<String>,
    pub license: Option<String>,
}

/// How far the writing is.
#[derive(Clone, Copy, Debug, Default)]
pub struct DatasetProgress {
    pub votes: u64,
    pub builds: u64,
}

impl DatasetExport {
    /// Writes a dataset over what the file holds. Heavy pieces run on the work pool, so that visitors come first.
    pub async fn write(
        &self,
        file: &File,
        progress: &(dyn Fn(DatasetProgress) + Sync),
    ) -> Result<DatasetManifest> {
        for _ in 0..MAX_TRIES {
            let published = self.arena.published(&self.pool).await?;
            let manifest = self.write_once(file.try_clone()?, published, progress).await?;
            if self.arena.published(&self.pool).await?.decision == published.decision {
                return Ok(manifest);
            }
        }
        bail!("Admins decided about votes again and again while the dataset was written. Try again.")
    }

    async fn write_once(
        &self,
        file: File,
        published: Published,
        progress: &(dyn Fn(DatasetProgress) + Sync),
    ) -> Result<DatasetManifest> {
        let mut done = DatasetProgress::default();
        let mut log = VoteLog::open(&self.pool, 0, published.through).await?;
        let mut votes = VotesEntry::begin(ArchiveWriter::new(file)?)?;
        loop {
            let started = Instant::now();
            let page = log.next(&self.pool).await?;
            if page.is_empty() {
                break;
            }
            done.votes += page.len() as u64;
            votes = self.work.run(WorkClient::BACKGROUND, move || votes.add(&page)).await??;
            progress(done);
            self.pace.pause_since(started).await;
        }
        let VotesEntry { entry, replay, voted, latest } = votes;
        let mut archive = entry.finish()?;
        let voted: Vec<_> = voted.into_iter().collect();
        let records = dataset::read(&self.pool, &voted).await?;
        for build in &records.builds {
            let started = Instant::now();
            archive = self.add_build(archive, build.id).await?;
            done.builds += 1;
            progress(done);
            self.pace.pause_since(started).await;
        }
        let counts = DatasetCounts {
            prompts: records.prompts.len() as u64,
            models: records.models.len() as u64,
            builds: records.builds.len() as u64,
            votes: replay.votes + replay.excluded,
            counted_votes: replay.votes,
            decisions: records.decisions.len() as u64,
        };
        let mut manifest = DatasetManifest {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            source: self.source.clone(),
            license: self.license.clone(),
            as_of: records.as_of().max(latest),
            counts,
            files: Vec::new(),
        };
        let finish = move || {
            let files = add_records(archive, &records, &replay, &manifest)?;
            manifest.files = files;
            anyhow::Ok(manifest)
        };
        self.work.run(WorkClient::BACKGROUND, finish).await?
    }

    async fn add_build(&self, archive: ArchiveWriter, id: Uuid) -> Result<ArchiveWriter> {
        let grid = builds::grid(&self.pool, id).await?;
        let spec = builds::spec(&self.pool, id).await?;
        let (Some(grid), Some(spec)) = (grid, spec) else { bail!("Build {id} is not there any more.") };
        let pack = move || pack_build(archive, id, &grid, &spec);
        let packed = self.work.run(WorkClient::BACKGROUND, pack).await?;
        packed.with_context(|| format!("Build {id} cannot be exported; buildoff doctor looks for damage"))
    }
}

fn pack_build(archive: ArchiveWriter, id: Uuid, grid: &StoredGrid, spec: &[u8]) -> Result<ArchiveWriter> {
    let mut entry = archive.begin(&spec_path(id))?;
    io::copy(&mut builds::spec_reader(spec), &mut entry)?;
    let mut entry = entry.finish()?.begin(&grid_path(id))?;
    io::copy(&mut &grid.encoding()?[..], &mut entry)?;
    Ok(entry.finish()?)
}

/// The entry of the votes, and what follows from those that are in it.
struct VotesEntry {
    entry: ArchiveEntry,
    replay: Replay,
    /// The builds that they refer to, by their names in the log.
    voted: BTreeSet<Uuid>,
    latest: Option<OffsetDateTime>,
}

impl VotesEntry {
    fn begin(archive: ArchiveWriter) -> Result<Self> {
        let entry = archive.begin(VOTES)?;
        Ok(Self { entry, replay: Replay::default(), voted: BTreeSet::new(), latest: None })
    }

    fn add(mut self, votes: &[LoggedVote]) -> Result<Self> {
        for vote in votes {
            vote.write_json_line(&mut self.entry)?;
            self.replay.next(vote)?;
            self.voted.extend([vote.build_a.parse::<Uuid>()?, vote.build_b.parse()?]);
            self.latest = self.latest.max(Some(vote.at));
        }
        Ok(self)
    }
}

/// Writes everything after the builds. Returns the files that the manifest lists.
fn add_records(
    archive: ArchiveWriter,
    records: &DatasetRecords,
    replay: &Replay,
    manifest: &DatasetManifest,
) -> Result<Vec<super::ManifestFile>> {
    let mut ladders = serde_json::to_vec_pretty(&ladder_records(&replay.ladders))?;
    ladders.push(b'\n');
    let archive = archive
        .add(PROMPTS, &json_lines(&records.prompts)?)?
        .add(MODELS, &json_lines(&records.models)?)?
        .add(BUILDS, &json_lines(&records.builds)?)?
        .add(DECISIONS, &json_lines(&records.decisions)?)?
        .add(LADDERS, &ladders)?
        .add(README, readme::text(manifest)?.as_bytes())?;
    let files = archive.files().to_vec();
    let mut text = serde_json::to_vec_pretty(&DatasetManifest { files: files.clone(), ..manifest.clone() })?;
    text.push(b'\n');
    archive.add(MANIFEST, &text)?.finish()?;
    Ok(files)
}

fn json_lines<T: Serialize>(records: &[T]) -> serde_json::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record)?;
        lines.push(b'\n');
    }
    Ok(lines)
}
