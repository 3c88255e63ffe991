//! Backups: everything that Buildoff has stored, in one file, and back.
//!
//! The dump is our own. `pg_dump` is not part of the Postgres that Buildoff may download, and refuses servers that are
//! newer than itself, whereas `COPY` in its text format reads the same in every version of Postgres. So a backup of
//! the embedded database can be restored into a server elsewhere, and the other way around.
//!
//! Reading and writing the file blocks the thread. Only commands do this, and they have nothing else to do meanwhile.

mod dump;
mod file;
mod restore;

use std::fmt;
use std::io::Read;

use anyhow::Result;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

pub use self::dump::dump;
use self::file::{BackupEntry, BackupReader};
pub use self::restore::{RestoreMode, restore};

/// What a backup holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupSummary {
    pub created_at: OffsetDateTime,
    /// Each table with the number of its rows, in the order of the file.
    pub tables: Vec<(String, u64)>,
}

impl BackupSummary {
    fn rows_of(&self, table: &str) -> u64 {
        self.tables.iter().filter(|(name, _)| name == table).map(|(_, rows)| rows).sum()
    }
}

impl fmt::Display for BackupSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let created_at = self.created_at.format(&Rfc3339).map_err(|_| fmt::Error)?;
        let rows: u64 = self.tables.iter().map(|(_, rows)| rows).sum();
        write!(
            f,
            "{} votes, {} builds, {} prompts and {} models ({rows} rows in {} tables) as of {created_at}",
            self.rows_of("votes"),
            self.rows_of("builds"),
            self.rows_of("prompts"),
            self.rows_of("models"),
            self.tables.len(),
        )
    }
}

/// Reads a whole backup and compares it with its checksum, without a database.
pub fn verify(input: impl Read) -> Result<BackupSummary> {
    let (mut reader, header) = BackupReader::open(input)?;
    let mut tables = Vec::new();
    let mut chunk = Vec::new();
    while let Some(entry) = reader.next_entry()? {
        let BackupEntry::Table(table) = entry else { continue };
        while reader.read_rows(&mut chunk)? {}
        tables.push((table.name, reader.rows()));
    }
    Ok(BackupSummary { created_at: header.created_at, tables })
}
