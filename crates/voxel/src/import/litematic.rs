//! Litematica's files: several regions, each with its own palette.

use super::nbt::{Compound, NbtList, Tag};
use super::region::{CellNumbers, Region};
use super::{ForeignScene, MAX_KINDS, ScenePart, bad_file, block_kind};
use crate::diagnostics::Rejection;

/// The largest number of regions in a file.
const MAX_REGIONS: usize = 4096;

/// Reads the compound `Regions`.
pub fn read(mut regions: Compound<'_>, is_own_file: bool) -> Result<ForeignScene<'_>, Rejection> {
    let mut scene = ForeignScene { kinds: Vec::new(), parts: Vec::new(), is_placed: is_own_file };
    while let Some((_, tag)) = regions.next()? {
        let region = tag.compound().ok_or_else(|| bad_file("an entry of Regions is not a region"))?;
        if scene.parts.len() == MAX_REGIONS {
            return Err(bad_file(format!("it has more than {MAX_REGIONS} regions")));
        }
        add(region, &mut scene)?;
    }
    if scene.parts.is_empty() {
        return Err(bad_file("it has no regions"));
    }
    Ok(scene)
}

/// Whether `Metadata` is that of our own files, which have no author and no time of creation. Litematica writes both.
pub fn is_own_file(about: Compound<'_>) -> Result<bool, Rejection> {
    let found = about.find([b"Author", b"TimeCreated"])?;
    Ok(matches!(found, [Some(Tag::Text(b"")), Some(Tag::Number(0))]))
}

fn add<'a>(region: Compound<'a>, scene: &mut ForeignScene<'a>) -> Result<(), Rejection> {
    let [position, size, palette, states] =
        region.find([b"Position", b"Size", b"BlockStatePalette", b"BlockStates"])?;
    let point = |tag: Option<Tag<'a>>| tag.and_then(Tag::compound).map(point).transpose();
    let (Some(position), Some(size), Some(Tag::List(palette)), Some(Tag::Longs(states))) =
        (point(position)?, point(size)?, palette, states)
    else {
        return Err(bad_file("a region has no Position, Size, BlockStatePalette or BlockStates"));
    };
    // A negative size extends from the position in the other direction. The position is inside in both cases.
    let low = std::array::from_fn(|axis| position[axis] + (size[axis] + 1).min(0));
    let size = size.map(|side| side.unsigned_abs() as u32);
    let first = scene.kinds.len() as u32;
    let known = add_kinds(palette, scene)?;
    let bits = (u32::BITS - known.saturating_sub(1).leading_zeros()).max(2);
    let numbers = CellNumbers::packed(states, bits, first..first + known);
    scene.parts.push(ScenePart::Region(Region { low, size, numbers }));
    Ok(())
}

fn add_kinds(mut palette: NbtList<'_>, scene: &mut ForeignScene<'_>) -> Result<u32, Rejection> {
    let known = palette.len();
    if scene.kinds.len() + known > MAX_KINDS {
        return Err(bad_file(format!("its palettes have more than {MAX_KINDS} entries")));
    }
    while let Some(entry) = palette.next()? {
        let entry = entry.compound().ok_or_else(|| bad_file("a palette entry is not a compound"))?;
        let [Some(Tag::Text(name))] = entry.find([b"Name"])? else {
            return Err(bad_file("a palette entry has no Name"));
        };
        scene.kinds.push(Some(block_kind(name)?));
    }
    Ok(known as u32)
}

fn point(at: Compound<'_>) -> Result<[i64; 3], Rejection> {
    let int = |tag: Option<Tag<'_>>| tag?.number().filter(|number| i32::try_from(*number).is_ok());
    let [Some(x), Some(y), Some(z)] = at.find([b"x", b"y", b"z"])?.map(int) else {
        return Err(bad_file("a Position or Size has no x, y or z"));
    };
    Ok([x, y, z])
}
