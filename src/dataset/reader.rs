//! Reading a dataset that anybody may have made: nothing in it is believed before it is checked.
//!
//! The tar may hold regular files with the paths that a dataset has, and nothing else: no links, no folders, no other
//! names. Nothing is unpacked to the disk. Every file is compared with the manifest before anything of it is read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;

use flate2::bufread::GzDecoder;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tar::{Archive, EntryType};
use uuid::Uuid;

use super::{
    BUILDS, DECISIONS, DatasetManifest, FORMAT, FORMAT_VERSION, LADDERS, MANIFEST, MODELS, PROMPTS, README,
    VOTES,
};

/// Two for each build.
const MAX_FILES: usize = 1_000_000;

/// A manifest needs 150 bytes for each file.
const MAX_MANIFEST_BYTES: u64 = 256 << 20;

/// The longest record; a build may have many warnings.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// The most that is read of the ladders: some 200 bytes per model.
const MAX_LADDERS_BYTES: u64 = 64 << 20;

#[derive(Debug, thiserror::Error)]
pub enum DatasetReaderError {
    #[error("this is not a dataset: {0}")]
    NotADataset(String),
    #[error("this dataset has version {0}, which this Buildoff does not know; use a newer one")]
    Version(u32),
    #[error("the dataset is damaged: {0}")]
    Damaged(String),
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// A dataset whose files are those of its manifest, byte by byte. Cheap to clone.
#[derive(Clone)]
pub struct DatasetReader {
    file: Arc<File>,
    /// Where the content of each file begins, and how long it is.
    entries: Arc<BTreeMap<String, (u64, u64)>>,
    pub manifest: Arc<DatasetManifest>,
}

impl DatasetReader {
    /// Reads the whole file once. `progress` gets the number of bytes that were compared.
    pub fn open(file: File, progress: impl Fn(u64)) -> Result<Self, DatasetReaderError> {
        let entries = index(&file)?;
        let mut reader = Self {
            file: Arc::new(file),
            entries: Arc::new(entries),
            manifest: Arc::new(DatasetManifest::default()),
        };
        reader.manifest = Arc::new(reader.read_manifest()?);
        reader.verify(progress)?;
        Ok(reader)
    }

    fn read_manifest(&self) -> Result<DatasetManifest, DatasetReaderError> {
        let not_one = DatasetReaderError::NotADataset;
        let text = self.read(MANIFEST, MAX_MANIFEST_BYTES)?;
        let manifest: DatasetManifest = serde_json::from_slice(&text)
            .map_err(|error| not_one(format!("its manifest cannot be read ({error})")))?;
        match (manifest.format.as_str(), manifest.version) {
            (FORMAT, FORMAT_VERSION) => Ok(manifest),
            (FORMAT, other) => Err(DatasetReaderError::Version(other)),
            (other, _) => Err(not_one(format!("its manifest names the format {other:?}"))),
        }
    }

    fn verify(&self, progress: impl Fn(u64)) -> Result<(), DatasetReaderError> {
        let damaged = DatasetReaderError::Damaged;
        let listed: BTreeMap<&str, _> =
            self.manifest.files.iter().map(|file| (file.path.as_str(), file)).collect();
        let unlisted =
            self.entries.keys().find(|path| *path != MANIFEST && !listed.contains_key(path.as_str()));
        if let Some(path) = unlisted {
            return Err(damaged(format!("the manifest does not list {path}")));
        }
        let mut done = 0;
        let mut piece = vec![0; 1 << 18];
        for (path, listed) in listed {
            let mut content = self.entry(path)?;
            let mut digest = Sha256::new();
            let mut bytes = 0;
            loop {
                let read = content.read(&mut piece)?;
                if read == 0 {
                    break;
                }
                digest.update(&piece[..read]);
                bytes += read as u64;
            }
            if bytes != listed.bytes || hex::encode(digest.finalize()) != listed.sha256 {
                return Err(damaged(format!("{path} is not what the manifest lists")));
            }
            done += bytes;
            progress(done);
        }
        Ok(())
    }

    fn entry(&self, path: &str) -> Result<EntryReader, DatasetReaderError> {
        let found = self.entries.get(path).copied();
        let (offset, bytes) =
            found.ok_or_else(|| DatasetReaderError::Damaged(format!("{path:?} is missing")))?;
        Ok(EntryReader { file: Arc::clone(&self.file), offset, left: bytes })
    }

    /// The content of a file, if it has at most so many bytes.
    fn read(&self, path: &str, max: u64) -> Result<Vec<u8>, DatasetReaderError> {
        read_within(self.entry(path)?, max, path)
    }

    /// The content of a compressed file, if it has at most so many bytes.
    pub fn unpack(&self, path: &str, max: u64) -> Result<Vec<u8>, DatasetReaderError> {
        read_within(GzDecoder::new(BufReader::new(self.entry(path)?)), max, path)
    }

    /// The ladders of the file.
    pub(super) fn ladders<T: DeserializeOwned>(&self) -> Result<T, DatasetReaderError> {
        let text = self.read(LADDERS, MAX_LADDERS_BYTES)?;
        serde_json::from_slice(&text)
            .map_err(|error| DatasetReaderError::Damaged(format!("{LADDERS}: {error}")))
    }

    /// The records of a file, read one by one.
    pub fn records<T: DeserializeOwned>(&self, path: &'static str) -> Result<Records<T>, DatasetReaderError> {
        let content = self.entry(path)?;
        let lines: Box<dyn BufRead + Send> = match path.ends_with(".gz") {
            true => Box::new(BufReader::new(GzDecoder::new(BufReader::new(content)))),
            false => Box::new(BufReader::new(content)),
        };
        Ok(Records { lines, path, line: 0, of: std::marker::PhantomData })
    }
}

/// The places of all files. Refuses whatever else a tar can hold.
fn index(file: &File) -> Result<BTreeMap<String, (u64, u64)>, DatasetReaderError> {
    let not_one = DatasetReaderError::NotADataset;
    let size = file.metadata()?.size();
    let mut archive = Archive::new(file);
    let mut entries = BTreeMap::new();
    // Raw, so that a long name or a comment, which are entries before the one that they belong to, is seen as such.
    let all = archive.entries_with_seek().map_err(|error| not_one(error.to_string()))?.raw(true);
    for entry in all {
        let entry = entry.map_err(|error| not_one(error.to_string()))?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if entry.header().entry_type() != EntryType::Regular || !is_known(&path) {
            return Err(not_one(format!("it has an entry {path:?}, which no dataset has")));
        }
        let (offset, bytes) = (entry.raw_file_position(), entry.size());
        if offset.checked_add(bytes).is_none_or(|end| end > size) {
            return Err(DatasetReaderError::Damaged(format!("it was cut off in {path}")));
        }
        if entries.len() >= MAX_FILES || entries.insert(path.clone(), (offset, bytes)).is_some() {
            return Err(not_one(format!("it has too many files, or {path} twice")));
        }
    }
    match entries.contains_key(MANIFEST) {
        true => Ok(entries),
        false => Err(not_one(format!("it has no {MANIFEST} at its end"))),
    }
}

fn is_known(path: &str) -> bool {
    let is_build = |path: &str| {
        let (id, ending) = path.split_once('.').unwrap_or_default();
        let has_plain_id = Uuid::try_parse(id).is_ok_and(|uuid| uuid.to_string() == id);
        has_plain_id && matches!(ending, "json.gz" | "grid.gz")
    };
    [VOTES, PROMPTS, MODELS, BUILDS, DECISIONS, LADDERS, README, MANIFEST].contains(&path)
        || path.strip_prefix("builds/").is_some_and(is_build)
}

fn read_within(content: impl Read, max: u64, path: &str) -> Result<Vec<u8>, DatasetReaderError> {
    let mut bytes = Vec::new();
    let read = content.take(max + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() as u64 <= max => Ok(bytes),
        Ok(_) => Err(DatasetReaderError::Damaged(format!("{path} has more than {max} bytes"))),
        Err(error) => Err(DatasetReaderError::Damaged(format!("{path}: {error}"))),
    }
}

/// The content of one file. Several can be read at the same time.
struct EntryReader {
    file: Arc<File>,
    offset: u64,
    left: u64,
}

impl Read for EntryReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.file.read_at(&mut buffer[..most], self.offset)?;
        self.offset += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}

/// The records of a file, one per line.
pub struct Records<T> {
    lines: Box<dyn BufRead + Send>,
    path: &'static str,
    line: u64,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Iterator for Records<T> {
    type Item = Result<T, DatasetReaderError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        self.line += 1;
        let damaged = |line: u64, path, problem: &dyn std::fmt::Display| {
            Some(Err(DatasetReaderError::Damaged(format!("line {line} of {path}: {problem}"))))
        };
        match (&mut self.lines).take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) => None,
            Ok(_) if line.last() != Some(&b'\n') => {
                damaged(self.line, self.path, &"it is too long or cut off")
            }
            Ok(_) => match serde_json::from_slice(&line) {
                Ok(record) => Some(Ok(record)),
                Err(error) => damaged(self.line, self.path, &error),
            },
            Err(error) => damaged(self.line, self.path, &error),
        }
    }
}
