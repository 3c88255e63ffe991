//! The dataset that visitors download: written once for all of them, into a file without a name, which goes when nobody
//! reads it any more.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use sqlx::PgPool;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use super::DatasetManifest;
use super::export::DatasetExport;
use crate::arena::dataset;
use crate::arena::leaderboard::{Computed, RefreshingCache};
use voxel::codec::Digest;

/// A dataset that was written faster than this is written again whenever the benchmark has changed.
const QUICK_EXPORT: Duration = Duration::from_secs(1);

/// Any other counts as having taken this long. The next one then comes after an hour: a download that is continued over
/// several connections finds the file that it began with.
const SLOW_EXPORT: Duration = Duration::from_secs(180);

/// How many files there are at a time, with those that slow downloads still read.
const MAX_FILES: usize = 8;

/// How many files in a row may turn out to hold withheld builds.
const MAX_TRIES: usize = 3;

type CachedDataset = RefreshingCache<dataset::DatasetVersion, DatasetFile>;

pub struct DatasetCache {
    export: DatasetExport,
    /// Where withheld builds are looked up, since a database that lags behind may not know of the latest.
    pool: PgPool,
    /// For files, if it can be written to. A system's own folder for them may be in memory.
    folder: Option<PathBuf>,
    permits: Arc<Semaphore>,
    /// One for each file on the disk.
    files: Arc<Semaphore>,
    current: RwLock<Arc<CachedDataset>>,
}

/// A dataset on the disk.
pub struct DatasetFile {
    file: File,
    pub bytes: u64,
    /// Another for any other content.
    pub tag: String,
    builds: HashSet<Uuid>,
    _permit: OwnedSemaphorePermit,
}

impl DatasetCache {
    pub fn new(export: DatasetExport, pool: PgPool, folder: Option<PathBuf>) -> Self {
        let permits = Arc::new(Semaphore::new(1));
        let files = Arc::new(Semaphore::new(MAX_FILES));
        let current = RwLock::new(Arc::new(RefreshingCache::new(&permits)));
        Self { export, pool, folder, permits, files, current }
    }

    /// The dataset, written if there is none yet. Writing goes on when the caller leaves, for the next one. While slow
    /// downloads hold too many files, everybody gets the latest of them, or an error if nobody may have that any more.
    pub async fn get(&self) -> sqlx::Result<Arc<DatasetFile>> {
        for _ in 0..MAX_TRIES {
            let current = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
            let published = self.export.arena.published(&self.export.pool).await?;
            let version = dataset::version(&self.export.pool, published).await?;
            let write = |_| {
                let (export, folder, version) = (self.export.clone(), self.folder.clone(), version.clone());
                let permit = Arc::clone(&self.files).try_acquire_owned();
                async move {
                    let permit = permit.map_err(|_| sqlx::Error::PoolTimedOut)?;
                    let started = Instant::now();
                    let value = DatasetFile::write(&export, folder, permit).await.map_err(into_sqlx)?;
                    let took = started.elapsed();
                    let stored = (took > QUICK_EXPORT).then(|| (took.max(SLOW_EXPORT), Duration::ZERO));
                    Ok(Computed { version: Some(version), value, stored })
                }
            };
            let file = current.get(version.clone(), write).await?;
            let withheld = dataset::withheld_builds(&self.pool).await?;
            if !withheld.iter().any(|build| file.builds.contains(build)) {
                return Ok(file);
            }
            // An admin has held out a prompt whose builds are in this file: nobody gets it any more.
            self.replace(&current);
        }
        // The database that is read lags behind and does not know of it yet.
        Err(sqlx::Error::PoolTimedOut)
    }

    /// Forgets a file, unless another caller has just done so.
    fn replace(&self, old: &Arc<CachedDataset>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current, old) {
            *current = Arc::new(RefreshingCache::new(&self.permits));
        }
    }
}

impl DatasetFile {
    async fn write(
        export: &DatasetExport,
        folder: Option<PathBuf>,
        permit: OwnedSemaphorePermit,
    ) -> anyhow::Result<Self> {
        let file = create(folder)?;
        let manifest = export.write(&file, &|_| ()).await?;
        Ok(Self {
            bytes: file.metadata()?.size(),
            tag: tag(&manifest)?,
            builds: manifest.files.iter().filter_map(|file| build_of(&file.path)).collect(),
            file,
            _permit: permit,
        })
    }

    /// Reads a piece. Waits for the disk.
    pub fn read(&self, offset: u64, bytes: usize) -> io::Result<Bytes> {
        let mut piece = vec![0; bytes];
        self.file.read_exact_at(&mut piece, offset)?;
        Ok(piece.into())
    }
}

fn create(folder: Option<PathBuf>) -> io::Result<File> {
    folder.and_then(|folder| tempfile::tempfile_in(folder).ok()).map_or_else(tempfile::tempfile, Ok)
}

/// The manifest names the digests of all other content.
fn tag(manifest: &DatasetManifest) -> serde_json::Result<String> {
    Ok(Digest::of(&serde_json::to_vec(manifest)?).to_string())
}

/// The build that a file belongs to.
fn build_of(path: &str) -> Option<Uuid> {
    path.strip_prefix("builds/")?.split('.').next()?.parse().ok()
}

/// What a cache hands to all who wait is an error of the database.
fn into_sqlx(error: anyhow::Error) -> sqlx::Error {
    match error.downcast() {
        Ok(error) => error,
        Err(error) => sqlx::Error::Protocol(format!("the dataset could not be written: {error:#}")),
    }
}
