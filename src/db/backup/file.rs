//! The file of a backup: gzipped lines, which `zcat` shows.
//!
//! ```text
//! buildoff-backup 1
//! {"header":{"createdAt":"…","migrations":[{"version":1,"checksum":"…"}]}}
//! {"table":{"name":"models","columns":["key","provider"]}}
//! oak\tnorth
//! \.
//! {"rows":1}
//! {"sequence":{"table":"votes","column":"id","lastValue":640}}
//! {"sha256":"…"}
//! ```
//!
//! Rows have the text format of `COPY`, in which no row can be the line `\.`. The last line is the digest of all lines
//! before it, so a file that was cut off or changed is never taken for a complete one.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};

use anyhow::{Context, Result, anyhow, bail, ensure};
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

/// Changes when an older Buildoff could not read the file any more.
const FORMAT_LINE: &str = "buildoff-backup 1\n";
const FORMAT_NAME: &str = "buildoff-backup ";

const END_OF_ROWS: &[u8] = b"\\.\n";

/// Grids and pictures are compressed already, so a higher level takes much longer and saves little.
const COMPRESSION: Compression = Compression::fast();

/// The longest line that is not a row.
const MAX_ENTRY_BYTES: usize = 1 << 20;
/// About how many bytes of rows are read at once. A longer row is read in pieces.
const CHUNK_BYTES: usize = 64 << 10;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BackupEntry {
    Header(BackupHeader),
    /// The rows of this table follow.
    Table(BackupTable),
    /// How many rows there were.
    Rows(u64),
    Sequence(BackupSequence),
    Sha256(String),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupHeader {
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// The version of Buildoff, for people.
    pub program: String,
    /// The version of the Postgres that was read, for people.
    pub postgres: String,
    /// All migrations of the database, in order.
    pub migrations: Vec<BackupMigration>,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct BackupMigration {
    pub version: i64,
    /// In hexadecimal digits.
    pub checksum: String,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct BackupTable {
    pub name: String,
    pub columns: Vec<String>,
}

/// The last value that the sequence of a column has given out.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupSequence {
    pub table: String,
    pub column: String,
    pub last_value: i64,
}

pub struct BackupWriter<W: Write> {
    out: GzEncoder<W>,
    digest: Sha256,
    /// Rows of the current table.
    rows: u64,
}

impl<W: Write> BackupWriter<W> {
    pub fn new(out: W, header: &BackupHeader) -> Result<Self> {
        let mut writer = Self { out: GzEncoder::new(out, COMPRESSION), digest: Sha256::new(), rows: 0 };
        writer.write(FORMAT_LINE.as_bytes())?;
        writer.write_entry(&BackupEntry::Header(header.clone()))?;
        Ok(writer)
    }

    pub fn begin_table(&mut self, table: BackupTable) -> Result<()> {
        self.rows = 0;
        self.write_entry(&BackupEntry::Table(table))
    }

    /// Writes whole rows, or pieces of rows, as they come from `COPY`.
    pub fn write_rows(&mut self, bytes: &[u8]) -> Result<()> {
        self.rows += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.write(bytes)
    }

    /// Returns the number of rows.
    pub fn end_table(&mut self) -> Result<u64> {
        self.write(END_OF_ROWS)?;
        self.write_entry(&BackupEntry::Rows(self.rows))?;
        Ok(self.rows)
    }

    pub fn write_sequence(&mut self, sequence: BackupSequence) -> Result<()> {
        self.write_entry(&BackupEntry::Sequence(sequence))
    }

    pub fn finish(mut self) -> Result<()> {
        let digest = hex::encode(self.digest.clone().finalize());
        self.write_entry(&BackupEntry::Sha256(digest))?;
        self.out.finish().and_then(|mut out| out.flush()).context("The backup cannot be written")
    }

    fn write_entry(&mut self, entry: &BackupEntry) -> Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.write(&line)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.digest.update(bytes);
        self.out.write_all(bytes).context("The backup cannot be written")
    }
}

pub struct BackupReader<R: Read> {
    lines: BufReader<GzDecoder<BufReader<R>>>,
    digest: Sha256,
    /// Rows of the current table so far.
    rows: u64,
    at_line_start: bool,
}

impl<R: Read> BackupReader<R> {
    pub fn open(input: R) -> Result<(Self, BackupHeader)> {
        let lines = BufReader::new(GzDecoder::new(BufReader::new(input)));
        let mut reader = Self { lines, digest: Sha256::new(), rows: 0, at_line_start: true };
        let mut line = Vec::new();
        let begun = reader.read_piece(&mut line, FORMAT_LINE.len());
        ensure!(
            begun.is_ok() && line.starts_with(FORMAT_NAME.as_bytes()),
            "This file is not a backup of Buildoff."
        );
        ensure!(
            line == FORMAT_LINE.as_bytes(),
            "This backup has a format that this version of Buildoff cannot read. Use a newer Buildoff."
        );
        reader.digest.update(&line);
        match reader.read_entry()? {
            BackupEntry::Header(header) => Ok((reader, header)),
            _ => Err(damaged("it has no header")),
        }
    }

    /// The next table or sequence; none at the end, once the whole file was found to be undamaged.
    pub fn next_entry(&mut self) -> Result<Option<BackupEntry>> {
        match self.read_entry()? {
            BackupEntry::Sha256(digest) => {
                ensure!(
                    digest == hex::encode(self.digest.clone().finalize()),
                    damaged("its checksum differs")
                );
                // Reading to the end has the decoder compare its own checksum, too.
                ensure!(self.read_piece(&mut Vec::new(), 1)? == 0, damaged("something follows its end"));
                let rest = self.lines.get_mut().get_mut().fill_buf().context("The backup cannot be read")?;
                ensure!(rest.is_empty(), damaged("something follows its end"));
                Ok(None)
            }
            BackupEntry::Header(_) | BackupEntry::Rows(_) => Err(damaged("its lines are out of order")),
            entry => {
                self.rows = 0;
                self.at_line_start = true;
                Ok(Some(entry))
            }
        }
    }

    /// Reads more rows of the table that [`Self::next_entry`] returned. After the last ones it returns false, and has
    /// compared their number with the file's.
    pub fn read_rows(&mut self, chunk: &mut Vec<u8>) -> Result<bool> {
        chunk.clear();
        while chunk.len() < CHUNK_BYTES {
            let begin = chunk.len();
            ensure!(self.read_piece(chunk, CHUNK_BYTES)? > 0, incomplete());
            let piece = &chunk[begin..];
            self.digest.update(piece);
            if self.at_line_start && piece == END_OF_ROWS {
                chunk.truncate(begin);
                return match self.read_entry()? {
                    BackupEntry::Rows(rows) if rows == self.rows => Ok(false),
                    _ => Err(damaged("rows are missing")),
                };
            }
            self.at_line_start = piece.ends_with(b"\n");
            self.rows += u64::from(self.at_line_start);
        }
        Ok(true)
    }

    /// Rows of the current table so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn read_entry(&mut self) -> Result<BackupEntry> {
        let mut line = Vec::new();
        self.read_piece(&mut line, MAX_ENTRY_BYTES)?;
        ensure!(line.ends_with(b"\n") || line.len() == MAX_ENTRY_BYTES, incomplete());
        let entry = serde_json::from_slice(&line).map_err(|_| damaged("a line cannot be read"))?;
        if !matches!(entry, BackupEntry::Sha256(_)) {
            self.digest.update(&line);
        }
        Ok(entry)
    }

    /// Appends a line, or as much of it as fits into `max` bytes. Returns how much was read.
    fn read_piece(&mut self, piece: &mut Vec<u8>, max: usize) -> Result<usize> {
        self.lines.by_ref().take(max as u64).read_until(b'\n', piece).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => incomplete(),
            ErrorKind::InvalidData | ErrorKind::InvalidInput => damaged("it cannot be unpacked"),
            _ => anyhow!(error).context("The backup cannot be read"),
        })
    }
}

fn damaged(why: &str) -> anyhow::Error {
    anyhow!("The backup is damaged: {why}.")
}

fn incomplete() -> anyhow::Error {
    anyhow!("The backup is incomplete: it ends in the middle.")
}

/// A name as an SQL identifier. Names come from a file, so anything unusual is refused.
pub fn identifier(name: &str) -> Result<String> {
    let usual = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || !name.chars().all(usual) {
        bail!("The backup is damaged: {name:?} is not the name of a table or column.");
    }
    Ok(format!("\"{name}\""))
}
