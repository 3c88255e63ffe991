//! Imports: grids out of files that other tools write.
//!
//! Sponge schematics, Litematica's files and MagicaVoxel's become a [`ForeignScene`], kinds of cells and places of them,
//! which goes through twice: once to see what there is and how far it reaches, once to draw it. Nothing of a file
//! is copied but its kinds. What a palette lacks becomes its [`nearest`] block.
//!
//! A build that fits into the grid where our own export or a MagicaVoxel scene says it lies, stays there. Any other
//! is put on the floor, in the middle: the places in files for Minecraft are places in somebody's world.

mod litematic;
mod mapping;
mod nbt;
mod region;
mod replacements;
mod scan;
mod schem;
mod vox;

use self::{
    mapping::{BlockMapper, BlockMapping},
    nbt::{Compound, Tag},
    region::Region,
    replacements::ReplacementSummary,
    scan::{CellBounds, SceneScan},
    vox::PlacedModel,
};
use super::{
    diagnostics::{Rejection, RejectionCode, Warning},
    grid::{Grid, GridSize},
    palette::{Palette, normalise},
};

/// Kinds of cells in a file, and the numbers it may give them.
const MAX_KINDS: usize = 1 << 16;

/// Bytes of a block's name, as in a spec.
const MAX_NAME: usize = 256;

/// The author of schematics that we wrote.
pub const AUTHOR: &str = "Buildoff";

/// A file of another tool, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignFormat {
    Nbt,
    Vox,
}

/// What a cell is.
#[derive(PartialEq, Eq, Hash)]
pub enum CellKind {
    /// A block of Minecraft, by its normalised name.
    Block(String),
    Colour([u8; 3]),
}

/// A file as what all of them are.
struct ForeignScene<'a> {
    /// By their numbers, of which some may not be given out.
    kinds: Vec<Option<CellKind>>,
    /// In order: what comes later is drawn over what came before.
    parts: Vec<ScenePart<'a>>,
    /// Whether its places can be places in a grid.
    is_placed: bool,
}

enum ScenePart<'a> {
    Region(Region<'a>),
    PlacedModel(PlacedModel<'a>),
}

impl ForeignFormat {
    /// No text begins like one of these.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            // A compound with a short name.
            [nbt::COMPOUND, 0, ..] => Some(Self::Nbt),
            // The name and a small number.
            [b'V', b'O', b'X', b' ', _, _, 0, 0, ..] => Some(Self::Vox),
            _ => None,
        }
    }
}

/// Reads a file of another tool into a grid.
///
/// # Errors
/// `bad_file`, `too_much_work` or `does_not_fit`.
pub fn read(
    file: &[u8],
    format: ForeignFormat,
    size: GridSize,
    palette: Palette,
) -> Result<(Grid, Vec<Warning>), Rejection> {
    let scene = match format {
        ForeignFormat::Nbt => minecraft(file)?,
        ForeignFormat::Vox => vox::read(file, size)?,
    };
    let scan = SceneScan::of(&scene, size, &BlockMapper::new(palette))?;
    let grid = match scan.extent {
        Some(extent) => draw(&scene, &scan, placement_offset(extent, size, scene.is_placed)?, size)?,
        None => Grid::empty(size),
    };
    let mut summary = ReplacementSummary::default();
    for (kind, usage) in scene.kinds.iter().zip(&scan.usage) {
        if let (Some(kind), Some(usage)) = (kind, usage) {
            summary.add(kind, usage.mapping, usage.count);
        }
    }
    Ok((grid, summary.warnings()))
}

fn draw(
    scene: &ForeignScene<'_>,
    scan: &SceneScan,
    shift: [i64; 3],
    size: GridSize,
) -> Result<Grid, Rejection> {
    let mut grid = Grid::empty(size);
    let numbers: Vec<_> =
        scan.usage.iter().map(|usage| usage.and_then(|usage| usage.mapping.block())).collect();
    scene.each(|at, len, kind| {
        if let Some(block) = numbers.get(kind as usize).copied().flatten() {
            let [x, y, z] = [0, 1, 2].map(|axis| (at[axis] + shift[axis]) as usize);
            grid.fill_row(x, y, z, len as usize, block);
        }
        Ok(())
    })?;
    Ok(grid)
}

/// Which of Minecraft's files it is shows by what it holds.
fn minecraft(file: &[u8]) -> Result<ForeignScene<'_>, Rejection> {
    let mut root = Compound::root(file)?;
    let whole = root;
    let (mut regions, mut is_own_file) = (None, false);
    let mut is_sponge = false;
    let mut other = None;
    while let Some((name, tag)) = root.next()? {
        match (name, tag) {
            (b"Schematic", Tag::Compound(inner)) => return schem::read(inner),
            (b"Regions", Tag::Compound(all)) => regions = Some(all),
            (b"Metadata", Tag::Compound(about)) => is_own_file = litematic::is_own_file(about)?,
            (b"Palette" | b"BlockData", _) => is_sponge = true,
            (b"Materials", _) => other = Some("a schematic from before Minecraft 1.13"),
            (b"palette" | b"blocks", Tag::List(_)) => other = Some("a structure block file"),
            _ => {}
        }
    }
    if let Some(regions) = regions {
        return litematic::read(regions, is_own_file);
    }
    match other {
        _ if is_sponge => schem::read(whole),
        Some(other) => Err(bad_file(format!("it is {other}: save it as a .schem or a .litematic"))),
        None => Err(bad_file("it is neither a .schem nor a .litematic")),
    }
}

impl ForeignScene<'_> {
    /// Runs along x, with their lengths.
    fn each(
        &self,
        mut visit: impl FnMut([i64; 3], u64, u32) -> Result<(), Rejection>,
    ) -> Result<(), Rejection> {
        self.parts.iter().try_for_each(|part| match part {
            ScenePart::Region(region) => region.each(&mut visit),
            ScenePart::PlacedModel(placed) => placed.each(|at, kind| visit(at, 1, kind)),
        })
    }
}

/// How far everything is moved, so that it lies in the grid.
fn placement_offset((low, high): CellBounds, size: GridSize, is_placed: bool) -> Result<[i64; 3], Rejection> {
    let edge = size.get() as i64;
    let spans = [0, 1, 2].map(|axis| high[axis] - low[axis] + 1);
    let longest = spans.into_iter().max().unwrap_or_default();
    if longest > edge {
        let [width, height, depth] = spans;
        let fitting = GridSize::ALL.into_iter().find(|size| longest <= size.get() as i64);
        let advice = match fitting {
            Some(size) => format!("use a {size}³ grid"),
            None => format!("no grid is large enough (the largest is {}³)", GridSize::G256),
        };
        let message = format!(
            "the build is {width} wide, {height} high and {depth} deep, too large for a {size}³ grid: {advice}"
        );
        return Err(Rejection::new(RejectionCode::DoesNotFit, message));
    }
    if is_placed && (0..3).all(|axis| low[axis] >= 0 && high[axis] < edge) {
        return Ok([0; 3]);
    }
    let middle = |axis: usize| (edge - spans[axis]) / 2 - low[axis];
    Ok([middle(0), -low[1], middle(2)])
}

fn block_kind(name: &[u8]) -> Result<CellKind, Rejection> {
    if name.len() > MAX_NAME {
        return Err(bad_file(format!("a block name is longer than {MAX_NAME} bytes")));
    }
    Ok(CellKind::Block(normalise(&String::from_utf8_lossy(name))))
}

fn bad_file(why: impl std::fmt::Display) -> Rejection {
    Rejection::new(RejectionCode::BadFile, format!("the file cannot be read: {why}"))
}

/// So many cells are walked over, unless they are too many.
fn check_cell_count(cells: u128, most: u64) -> Result<u64, Rejection> {
    let message = || format!("the file has {cells} cells, but at most {most} are allowed");
    let fitting = u64::try_from(cells).ok().filter(|&cells| cells <= most);
    fitting.ok_or_else(|| Rejection::new(RejectionCode::TooMuchWork, message()))
}

#[cfg(test)]
mod tests;
