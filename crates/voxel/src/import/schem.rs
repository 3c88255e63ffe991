//! Sponge schematics, versions 1 to 3, as written by WorldEdit and others.

use super::nbt::{Compound, Tag, number};
use super::region::{CellNumbers, Region};
use super::{AUTHOR, ForeignScene, MAX_KINDS, ScenePart, bad_file, block_kind};
use crate::diagnostics::Rejection;

/// The tags that are needed. Version 3 has some of them in `Blocks`; versions 1 and 2 have all of them in one compound.
#[derive(Default)]
struct SchemTags<'a> {
    size: [Option<i64>; 3],
    offset: Option<&'a [u8]>,
    about: Option<Compound<'a>>,
    palette: Option<Compound<'a>>,
    data: Option<&'a [u8]>,
}

/// Reads the compound that has `Version`.
pub fn read(mut schematic: Compound<'_>) -> Result<ForeignScene<'_>, Rejection> {
    let mut found = SchemTags::default();
    while let Some((name, tag)) = schematic.next()? {
        match (name, tag) {
            (b"Blocks", Tag::Compound(mut blocks)) => {
                while let Some((name, tag)) = blocks.next()? {
                    found.keep(name, tag);
                }
            }
            _ => found.keep(name, tag),
        }
    }
    found.scene()
}

impl<'a> SchemTags<'a> {
    fn keep(&mut self, name: &[u8], tag: Tag<'a>) {
        match (name, tag) {
            (b"Width", Tag::Number(width)) => self.size[0] = Some(width),
            (b"Height", Tag::Number(height)) => self.size[1] = Some(height),
            (b"Length", Tag::Number(length)) => self.size[2] = Some(length),
            (b"Offset", Tag::Ints(offset)) => self.offset = Some(offset),
            (b"Metadata", Tag::Compound(about)) => self.about = Some(about),
            (b"Palette", Tag::Compound(palette)) => self.palette = Some(palette),
            (b"BlockData" | b"Data", Tag::Bytes(data)) => self.data = Some(data),
            _ => {}
        }
    }

    fn scene(self) -> Result<ForeignScene<'a>, Rejection> {
        let [Some(width), Some(height), Some(length)] = self.size else {
            return Err(bad_file("it has no Width, Height or Length"));
        };
        // They are stored as shorts, but have no sign.
        let size = [width, height, length].map(|side| u32::from(side as u16));
        let mut palette = self.palette.ok_or_else(|| bad_file("it has no Palette"))?;
        let data = self.data.ok_or_else(|| bad_file("it has no block data"))?;
        let mut kinds = Vec::new();
        while let Some((name, tag)) = palette.next()? {
            let place = tag.number().and_then(|number| usize::try_from(number).ok());
            let place = place.filter(|&place| place < MAX_KINDS).ok_or_else(|| {
                bad_file(format!("its palette has a number outside 0 to {}", MAX_KINDS - 1))
            })?;
            if kinds.len() <= place {
                kinds.resize_with(place + 1, || None);
            }
            kinds[place] = Some(block_kind(name)?);
        }
        let mut offset = self.offset.unwrap_or_default().chunks_exact(4).map(number);
        let low = std::array::from_fn(|_| offset.next().unwrap_or(0));
        let region = Region { low, size, numbers: CellNumbers::varints(data) };
        let is_placed = self.about.map_or(Ok(false), is_own_file)?;
        Ok(ForeignScene { kinds, parts: vec![ScenePart::Region(region)], is_placed })
    }
}

fn is_own_file(mut about: Compound<'_>) -> Result<bool, Rejection> {
    while let Some((name, tag)) = about.next()? {
        if let (b"Author", Tag::Text(author)) = (name, tag) {
            return Ok(author == AUTHOR.as_bytes());
        }
    }
    Ok(false)
}
