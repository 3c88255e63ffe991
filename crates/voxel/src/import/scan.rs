//! Scans a scene before it is drawn: counts its cells by kind, finds their extent, and stops at the limits.

use std::collections::HashMap;

use super::mapping::{BlockMapper, BlockMapping};
use super::{CellKind, ForeignScene, ScenePart, bad_file, check_cell_count};
use crate::diagnostics::{Rejection, RejectionCode};
use crate::expand::MAX_OVERDRAW;
use crate::grid::{GridSize, include};

/// The largest number of different blocks and colours in use.
const MAX_DISTINCT_KINDS: usize = 4096;

pub struct SceneScan {
    /// By the numbers of kinds. None for a kind without cells.
    pub usage: Vec<Option<KindUsage>>,
    /// The lowest and the highest cell with a block.
    pub extent: Option<CellBounds>,
}

pub type CellBounds = ([i64; 3], [i64; 3]);

/// A kind that has cells.
#[derive(Clone, Copy)]
pub struct KindUsage {
    pub mapping: BlockMapping,
    pub count: u64,
}

/// The largest number of cells that are not empty: as many as a spec for the grid may write.
pub const fn max_blocks(size: GridSize) -> u64 {
    MAX_OVERDRAW * size.volume() as u64
}

impl SceneScan {
    pub fn of(scene: &ForeignScene<'_>, size: GridSize, mapper: &BlockMapper) -> Result<Self, Rejection> {
        check_volumes(scene)?;
        let most = max_blocks(size);
        let mut scan = Self { usage: vec![None; scene.kinds.len()], extent: None };
        let mut known = HashMap::new();
        let mut blocks = 0;
        scene.each(|at, len, kind| {
            let usage = match scan.usage.get_mut(kind as usize) {
                Some(Some(usage)) => usage,
                Some(new) => {
                    let cell_kind = scene.kinds[kind as usize].as_ref().ok_or_else(|| unknown_kind(kind))?;
                    new.insert(KindUsage { mapping: known_mapping(&mut known, cell_kind, mapper)?, count: 0 })
                }
                None => return Err(unknown_kind(kind)),
            };
            usage.count += len;
            if usage.mapping != BlockMapping::Empty {
                blocks += len;
            }
            if usage.mapping.block().is_some() {
                let end = [at[0] + len as i64 - 1, at[1], at[2]];
                include(&mut scan.extent, at, end);
            }
            if blocks > most { Err(too_many(most, scan.extent, size)) } else { Ok(()) }
        })?;
        Ok(scan)
    }
}

/// Checks that each region has data for all its cells, and that all cells together are not too many.
fn check_volumes(scene: &ForeignScene<'_>) -> Result<(), Rejection> {
    let mut volume = 0;
    for part in &scene.parts {
        if let ScenePart::Region(region) = part {
            volume += u128::from(region.volume()?);
            check_cell_count(volume, max_blocks(GridSize::G256))?;
        }
    }
    Ok(())
}

/// The mapping of a name or colour. Each is looked up once; many kinds are states of one block.
fn known_mapping<'a>(
    known: &mut HashMap<&'a CellKind, BlockMapping>,
    kind: &'a CellKind,
    mapper: &BlockMapper,
) -> Result<BlockMapping, Rejection> {
    if let Some(&mapping) = known.get(kind) {
        return Ok(mapping);
    }
    if known.len() == MAX_DISTINCT_KINDS {
        let message = format!("the file has more than {MAX_DISTINCT_KINDS} different blocks");
        return Err(Rejection::new(RejectionCode::TooMuchWork, message));
    }
    let mapping = mapper.map_kind(kind);
    known.insert(kind, mapping);
    Ok(mapping)
}

fn unknown_kind(kind: u32) -> Rejection {
    bad_file(format!("a cell uses palette entry {kind}, which does not exist"))
}

/// A file with too many blocks is usually meant for a larger grid. Then the blocks so far already reach too far.
fn too_many(most: u64, extent: Option<CellBounds>, size: GridSize) -> Rejection {
    let reaches = |(low, high): CellBounds| (0..3).any(|axis| high[axis] - low[axis] >= size.get() as i64);
    if extent.is_some_and(reaches) {
        let message = format!("the build is larger than the {size}³ grid");
        return Rejection::new(RejectionCode::DoesNotFit, message);
    }
    let message = format!("the file has more than {most} blocks (8 times the cells of a {size}³ grid)");
    Rejection::new(RejectionCode::TooMuchWork, message)
}
