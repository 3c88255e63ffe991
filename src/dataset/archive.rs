//! Writing the tar. Its entries are written as they come; the header of an entry is filled in when its size is known.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use tar::{EntryType, Header};

use super::ManifestFile;

const BLOCK: u64 = 512;

/// Grids and specs repeat themselves so much that a higher level saves little, and takes several times as long.
const COMPRESSION: Compression = Compression::fast();

/// A tar that is being written into a file, from its beginning.
pub struct ArchiveWriter {
    file: BufWriter<File>,
    /// Where the next entry begins.
    position: u64,
    files: Vec<ManifestFile>,
}

/// An entry that is being written. It compresses what is written to it.
pub struct ArchiveEntry(GzEncoder<EntryFile>);

struct EntryFile {
    archive: ArchiveWriter,
    path: String,
    digest: Sha256,
    bytes: u64,
}

impl ArchiveWriter {
    /// Replaces what is in the file.
    pub fn new(mut file: File) -> io::Result<Self> {
        file.set_len(0)?;
        file.rewind()?;
        Ok(Self { file: BufWriter::new(file), position: 0, files: Vec::new() })
    }

    /// What was written so far.
    pub fn files(&self) -> &[ManifestFile] {
        &self.files
    }

    /// Writes an entry that is not compressed.
    pub fn add(self, path: &str, content: &[u8]) -> io::Result<Self> {
        let mut entry = self.begin_entry(path)?;
        entry.write_all(content)?;
        entry.finish()
    }

    /// Begins an entry that is compressed.
    pub fn begin(self, path: &str) -> io::Result<ArchiveEntry> {
        Ok(ArchiveEntry(GzEncoder::new(self.begin_entry(path)?, COMPRESSION)))
    }

    fn begin_entry(mut self, path: &str) -> io::Result<EntryFile> {
        self.file.write_all(&[0; BLOCK as usize])?;
        Ok(EntryFile { archive: self, path: path.to_owned(), digest: Sha256::new(), bytes: 0 })
    }

    /// Ends the tar. Returns its size.
    pub fn finish(mut self) -> io::Result<u64> {
        self.file.write_all(&[0; 2 * BLOCK as usize])?;
        self.file.flush()?;
        Ok(self.position + 2 * BLOCK)
    }
}

impl ArchiveEntry {
    pub fn finish(self) -> io::Result<ArchiveWriter> {
        self.0.finish()?.finish()
    }
}

impl Write for ArchiveEntry {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl EntryFile {
    fn finish(self) -> io::Result<ArchiveWriter> {
        let Self { mut archive, path, digest, bytes } = self;
        let padding = bytes.next_multiple_of(BLOCK) - bytes;
        archive.file.write_all(&[0; BLOCK as usize][..padding as usize])?;
        archive.file.seek(SeekFrom::Start(archive.position))?;
        archive.file.write_all(header(&path, bytes)?.as_bytes())?;
        archive.position += BLOCK + bytes + padding;
        archive.file.seek(SeekFrom::Start(archive.position))?;
        archive.files.push(ManifestFile { path, bytes, sha256: hex::encode(digest.finalize()) });
        Ok(archive)
    }
}

impl Write for EntryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.archive.file.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.archive.file.flush()
    }
}

/// Without owner and time, so that the same content makes the same bytes.
fn header(path: &str, bytes: u64) -> io::Result<Header> {
    let mut header = Header::new_ustar();
    header.set_path(path)?;
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(bytes);
    header.set_cksum();
    Ok(header)
}
