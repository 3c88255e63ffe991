//! Imports: reads files of other programs into grids.
//!
//! Sponge schematics, Litematica's files and MagicaVoxel's are read as a [`ForeignScene`], which has kinds of cells and
//! the positions of cells. The scene is walked twice: first to count blocks and find their extent, then to draw them.
//! Only the kinds are copied from the file. [`mapping`] replaces kinds that the palette does not have.
//!
//! A build from our own export or from MagicaVoxel keeps its position if it is inside the grid. Any other build is
//! placed in the middle of the floor, because positions in files for Minecraft are positions in a larger world.

mod litematic;
mod mapping;
mod nbt;
mod region;
mod replacements;
mod scan;
mod schem;
mod vox;

use self::mapping::{BlockMapper, BlockMapping};
use self::nbt::{Compound, Tag};
use self::region::Region;
use self::replacements::ReplacementSummary;
use self::scan::{CellBounds, SceneScan};
use self::vox::PlacedModel;
use super::diagnostics::{Rejection, RejectionCode, Warning};
use super::grid::{Grid, GridSize};
use super::palette::{MAX_NAME, Palette, normalise};

/// The largest number of kinds of cells in a file, and the end of their numbers.
const MAX_KINDS: usize = 1 << 16;

/// The author of schematics that this crate writes, by which it knows them again.
pub const AUTHOR: &str = "Buildoff";

/// The container of a file, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignFormat {
    Nbt,
    Vox,
}

/// A kind of cell.
#[derive(PartialEq, Eq, Hash)]
pub enum CellKind {
    /// A block of Minecraft with its normalised name.
    Block(String),
    Colour([u8; 3]),
}

/// The content of a file of any format.
struct ForeignScene<'a> {
    /// The kinds by their numbers, some of which may be unused.
    kinds: Vec<Option<CellKind>>,
    /// The parts in drawing order; later ones replace earlier ones.
    parts: Vec<ScenePart<'a>>,
    /// Whether its positions can be positions in a grid.
    is_placed: bool,
}

enum ScenePart<'a> {
    Region(Region<'a>),
    PlacedModel(PlacedModel<'a>),
}

impl ForeignFormat {
    /// Recognises a format by bytes with which no text begins.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            // A compound whose name is shorter than 256 bytes.
            [nbt::COMPOUND, 0, ..] => Some(Self::Nbt),
            // The name and a version below 65,536.
            [b'V', b'O', b'X', b' ', _, _, 0, 0, ..] => Some(Self::Vox),
            _ => None,
        }
    }
}

/// Reads a file of another program into a grid.
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

/// Reads a file for Minecraft. The names in it tell which format it has.
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
    /// Visits all cells, as runs of one kind along x with their lengths.
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

/// The offset that moves the build into the grid.
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

/// The number of cells, if there are no more than `most`.
fn check_cell_count(cells: u128, most: u64) -> Result<u64, Rejection> {
    let message = || format!("the file has {cells} cells, but at most {most} are allowed");
    let fitting = u64::try_from(cells).ok().filter(|&cells| cells <= most);
    fitting.ok_or_else(|| Rejection::new(RejectionCode::TooMuchWork, message()))
}

#[cfg(test)]
mod tests;
