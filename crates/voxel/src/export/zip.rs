//! A zip archive, with only the features that a few small files need.

use std::io::{self, Write};
use std::mem;

use flate2::{Compression, CrcWriter, write::DeflateEncoder};

/// Version 2.0 of the format, which has deflate.
const VERSION: u16 = 20;
const DEFLATED: u16 = 8;
/// The first date of the format. A fixed date makes equal content give equal files.
const DOS_EPOCH: u16 = 1 << 5 | 1;

#[derive(Default)]
pub struct Zip {
    file: Vec<u8>,
    directory: Vec<u8>,
    entries: u16,
}

impl Zip {
    /// Adds a file, which is compressed as it is written. Returns errors of `write`.
    pub fn add(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let start = self.file.len();
        self.file.extend(b"PK\x03\x04");
        self.file.extend(common_header(0, 0, 0, name));
        self.file.extend(name.as_bytes());
        let data = self.file.len();
        let encoder = DeflateEncoder::new(mem::take(&mut self.file), Compression::fast());
        let mut writer = CrcWriter::new(encoder);
        write(&mut writer)?;
        let (checksum, plain) = (writer.crc().sum(), writer.crc().amount() as usize);
        self.file = writer.into_inner().finish()?;

        let header = common_header(checksum, self.file.len() - data, plain, name);
        self.file[start + 4..start + 4 + header.len()].copy_from_slice(&header);
        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(VERSION.to_le_bytes());
        self.directory.extend(header);
        // No comment, the first disk, no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend((start as u32).to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.entries += 1;
        Ok(())
    }

    pub fn finish(self) -> Vec<u8> {
        let Self { mut file, directory, entries } = self;
        let start = file.len() as u32;
        file.extend(&directory);
        file.extend(b"PK\x05\x06\0\0\0\0");
        file.extend(entries.to_le_bytes());
        file.extend(entries.to_le_bytes());
        file.extend((directory.len() as u32).to_le_bytes());
        file.extend(start.to_le_bytes());
        file.extend([0; 2]);
        file
    }
}

/// The part of a file's header that is the same before the file and in the directory.
fn common_header(checksum: u32, packed: usize, plain: usize, name: &str) -> Vec<u8> {
    let mut header = Vec::new();
    for short in [VERSION, 0, DEFLATED, 0, DOS_EPOCH] {
        header.extend(short.to_le_bytes());
    }
    for long in [checksum, packed as u32, plain as u32] {
        header.extend(long.to_le_bytes());
    }
    header.extend((name.len() as u16).to_le_bytes());
    header.extend([0; 2]);
    header
}
