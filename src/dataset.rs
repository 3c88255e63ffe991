//! The dataset: the whole public benchmark in one file, which anybody can download, read and import.
//!
//! ```text
//! votes.jsonl.gz         the vote log
//! builds/<id>.json.gz    the spec of a build, as its model gave it
//! builds/<id>.grid.gz    its grid, as `voxel::codec` encodes it
//! prompts.jsonl  models.jsonl  builds.jsonl  decisions.jsonl
//! ladders.json           the ratings that follow from the votes
//! README.md              the same for people
//! manifest.json          the size and the SHA-256 of every other file
//! ```
//!
//! It is a tar of regular files, written from front to back, so the manifest comes last. The same state of the database
//! makes the same bytes: all times in it are those of the content. `docs/dataset.md` describes every field.
//!
//! Writing one holds no transaction while it packs. Votes are read page by page as the log is, builds never change, and
//! everything else is read at one moment after the votes; ladders are replayed from the votes that were written. Only a
//! decision about votes changes what was read before, and then the file is written again from the beginning.

mod archive;
mod cache;
mod export;
mod import;
mod reader;
mod readme;

pub use cache::{DatasetCache, DatasetFile};
pub use export::{DatasetExport, DatasetProgress};
pub use import::{DatasetImport, ImportReport, ImportStep, RecordCounts};
pub use reader::{DatasetReader, DatasetReaderError};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::arena::ModelKey;
use crate::arena::elo::Standing;
use crate::arena::replay::Ladders;

/// What the manifest calls the format.
const FORMAT: &str = "buildoff-dataset";
/// Raised when an older Buildoff could not read the file any more.
const FORMAT_VERSION: u32 = 1;

const VOTES: &str = "votes.jsonl.gz";
const PROMPTS: &str = "prompts.jsonl";
const MODELS: &str = "models.jsonl";
const BUILDS: &str = "builds.jsonl";
const DECISIONS: &str = "decisions.jsonl";
const LADDERS: &str = "ladders.json";
const README: &str = "README.md";
const MANIFEST: &str = "manifest.json";

fn spec_path(build: Uuid) -> String {
    format!("builds/{build}.json.gz")
}

fn grid_path(build: Uuid) -> String {
    format!("builds/{build}.grid.gz")
}

/// What is in a dataset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DatasetManifest {
    pub format: String,
    pub version: u32,
    /// The address of the site that it comes from.
    pub source: Option<String>,
    pub license: Option<String>,
    /// When the latest thing in it happened; null if there is nothing.
    #[serde(with = "time::serde::rfc3339::option")]
    pub as_of: Option<OffsetDateTime>,
    pub counts: DatasetCounts,
    pub files: Vec<ManifestFile>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DatasetCounts {
    pub prompts: u64,
    pub models: u64,
    pub builds: u64,
    pub votes: u64,
    /// Of the votes, those that count.
    pub counted_votes: u64,
    pub decisions: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFile {
    pub path: String,
    pub bytes: u64,
    /// In hexadecimal digits.
    pub sha256: String,
}

/// The ratings on one ladder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct DatasetLadder {
    settings: String,
    /// The highest rating first.
    models: Vec<DatasetRating>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DatasetRating {
    key: ModelKey,
    elo: f64,
    votes: i64,
    wins: i64,
    losses: i64,
    ties: i64,
    both_bad: i64,
}

fn ladder_records(ladders: &Ladders) -> Vec<DatasetLadder> {
    let rating = |(key, standing): (&ModelKey, &Standing)| DatasetRating {
        key: key.clone(),
        elo: standing.elo,
        votes: standing.votes(),
        wins: standing.wins,
        losses: standing.losses,
        ties: standing.ties,
        both_bad: standing.both_bad,
    };
    let ladder = |(settings, ladder): (&String, _)| {
        let mut models: Vec<_> = BTreeMap::iter(ladder).map(rating).collect();
        // Stable, so models with the same rating stay in the order of their keys.
        models.sort_by(|a, b| b.elo.total_cmp(&a.elo));
        DatasetLadder { settings: settings.clone(), models }
    };
    ladders.iter().map(ladder).collect()
}

fn ladders_of(records: Vec<DatasetLadder>) -> Ladders {
    let standing = |rating: DatasetRating| {
        let DatasetRating { key, elo, wins, losses, ties, both_bad, .. } = rating;
        (key, Standing { elo, wins, losses, ties, both_bad })
    };
    let ladder = |ladder: DatasetLadder| (ladder.settings, ladder.models.into_iter().map(standing).collect());
    records.into_iter().map(ladder).collect()
}
