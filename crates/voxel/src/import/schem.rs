//! Sponge schematics, versions 1 to 3, as written by WorldEdit and others.

use std::array;

use super::nbt::{Compound, Tag, number};
use super::region::{CellNumbers, Region};
use super::{AUTHOR, CellKind, ForeignScene, MAX_KINDS, ScenePart, bad_file, block_kind};
use crate::diagnostics::Rejection;

/// The tags that are needed. Version 3 has some of them in `Blocks`; versions 1 and 2 have all of them in one compound.
const TAGS: [&[u8]; 9] =
    [b"Width", b"Height", b"Length", b"Offset", b"Metadata", b"Palette", b"BlockData", b"Data", b"Blocks"];

/// Reads the compound that has `Version`.
pub fn read(schematic: Compound<'_>) -> Result<ForeignScene<'_>, Rejection> {
    let mut found = schematic.find(TAGS)?;
    if let [.., Some(Tag::Compound(blocks))] = found {
        let inside = blocks.find(TAGS)?;
        found = array::from_fn(|i| inside[i].or(found[i]));
    }
    let [width, height, length, offset, about, palette, block_data, data, _] = found;
    let [Some(Tag::Number(width)), Some(Tag::Number(height)), Some(Tag::Number(length))] =
        [width, height, length]
    else {
        return Err(bad_file("it has no Width, Height or Length"));
    };
    // They are stored as shorts, but have no sign.
    let size = [width, height, length].map(|side| u32::from(side as u16));
    let Some(Tag::Compound(palette)) = palette else { return Err(bad_file("it has no Palette")) };
    let Some(Tag::Bytes(data)) = block_data.or(data) else { return Err(bad_file("it has no block data")) };
    let kinds = kinds(palette)?;
    let offset = if let Some(Tag::Ints(offset)) = offset { offset } else { &[] };
    let mut offset = offset.chunks_exact(4).map(number);
    let low = array::from_fn(|_| offset.next().unwrap_or(0));
    let region = Region { low, size, numbers: CellNumbers::Varints(data) };
    let is_placed = if let Some(Tag::Compound(about)) = about { is_own_file(about)? } else { false };
    Ok(ForeignScene { kinds, parts: vec![ScenePart::Region(region)], is_placed })
}

fn kinds(mut palette: Compound<'_>) -> Result<Vec<Option<CellKind>>, Rejection> {
    let mut kinds = Vec::new();
    while let Some((name, tag)) = palette.next()? {
        let place = tag.number().and_then(|number| usize::try_from(number).ok());
        let place = place
            .filter(|&place| place < MAX_KINDS)
            .ok_or_else(|| bad_file(format!("its palette has a number outside 0 to {}", MAX_KINDS - 1)))?;
        if kinds.len() <= place {
            kinds.resize_with(place + 1, || None);
        }
        kinds[place] = Some(block_kind(name)?);
    }
    Ok(kinds)
}

fn is_own_file(about: Compound<'_>) -> Result<bool, Rejection> {
    let [author] = about.find([b"Author"])?;
    Ok(matches!(author, Some(Tag::Text(author)) if author == AUTHOR.as_bytes()))
}
