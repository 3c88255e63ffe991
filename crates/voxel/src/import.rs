//! Imports: grids out of files that other tools write.
//!
//! Sponge schematics, Litematica's files and MagicaVoxel's become a [`Scene`], kinds of cells and places of them,
//! which goes through twice: once to see what there is and how far it reaches, once to draw it. Nothing of a file
//! is copied but its kinds. What a palette lacks becomes its [`nearest`] block.
//!
//! A build that fits into the grid where our own export or a MagicaVoxel scene says it lies, stays there. Any other
//! is put on the floor, in the middle: the places in files for Minecraft are places in somebody's world.

mod litematic;
mod nbt;
mod nearest;
mod region;
mod schem;
mod survey;
mod told;
mod vox;

use self::{
    nbt::{Compound, Tag},
    nearest::{Fate, Nearest},
    region::Region,
    survey::{Extent, Survey},
    told::Told,
    vox::Placed,
};
use super::{
    grid::{Grid, GridSize},
    palette::{Palette, normalise},
    refusal::{Code, Refusal, Warning},
};

/// Kinds of cells in a file, and the numbers it may give them.
const MAX_KINDS: usize = 1 << 16;

/// Bytes of a block's name, as in a spec.
const MAX_NAME: usize = 256;

/// The author of schematics that we wrote.
pub const OURS: &str = "Buildoff";

/// A file of another tool, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    Nbt,
    Vox,
}

/// What a cell is.
#[derive(PartialEq, Eq, Hash)]
pub enum Kind {
    /// A block of Minecraft, by its normalised name.
    Block(String),
    Colour([u8; 3]),
}

/// A file as what all of them are.
struct Scene<'a> {
    /// By their numbers, of which some may not be given out.
    kinds: Vec<Option<Kind>>,
    /// In order: what comes later is drawn over what came before.
    parts: Vec<Part<'a>>,
    /// Whether its places can be places in a grid.
    is_placed: bool,
}

enum Part<'a> {
    Region(Region<'a>),
    Placed(Placed<'a>),
}

impl Foreign {
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
    foreign: Foreign,
    size: GridSize,
    palette: Palette,
) -> Result<(Grid, Vec<Warning>), Refusal> {
    let scene = match foreign {
        Foreign::Nbt => minecraft(file)?,
        Foreign::Vox => vox::read(file, size)?,
    };
    let survey = Survey::of(&scene, size, &Nearest::new(palette))?;
    let grid = match survey.extent {
        Some(extent) => draw(&scene, &survey, shift(extent, size, scene.is_placed)?, size)?,
        None => Grid::empty(size),
    };
    let mut told = Told::default();
    for (kind, met) in scene.kinds.iter().zip(&survey.met) {
        if let (Some(kind), Some(met)) = (kind, met) {
            told.add(kind, met.fate, met.count);
        }
    }
    Ok((grid, told.warnings()))
}

fn draw(scene: &Scene<'_>, survey: &Survey, shift: [i64; 3], size: GridSize) -> Result<Grid, Refusal> {
    let mut grid = Grid::empty(size);
    let numbers: Vec<_> = survey.met.iter().map(|met| met.and_then(|met| met.fate.block())).collect();
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
fn minecraft(file: &[u8]) -> Result<Scene<'_>, Refusal> {
    let mut root = Compound::root(file)?;
    let whole = root;
    let (mut regions, mut is_ours) = (None, false);
    let mut is_sponge = false;
    let mut other = None;
    while let Some((name, tag)) = root.next()? {
        match (name, tag) {
            (b"Schematic", Tag::Compound(inner)) => return schem::read(inner),
            (b"Regions", Tag::Compound(all)) => regions = Some(all),
            (b"Metadata", Tag::Compound(about)) => is_ours = litematic::is_ours(about)?,
            (b"Palette" | b"BlockData", _) => is_sponge = true,
            (b"Materials", _) => other = Some("a schematic from before Minecraft 1.13"),
            (b"palette" | b"blocks", Tag::List(_)) => other = Some("what a structure block saves"),
            _ => {}
        }
    }
    if let Some(regions) = regions {
        return litematic::read(regions, is_ours);
    }
    match other {
        _ if is_sponge => schem::read(whole),
        Some(other) => Err(bad(format!("it is {other}: save it as a .schem or a .litematic"))),
        None => Err(bad("it is neither a .schem nor a .litematic")),
    }
}

impl Scene<'_> {
    /// Runs along x, with their lengths.
    fn each(&self, mut visit: impl FnMut([i64; 3], u64, u32) -> Result<(), Refusal>) -> Result<(), Refusal> {
        self.parts.iter().try_for_each(|part| match part {
            Part::Region(region) => region.each(&mut visit),
            Part::Placed(placed) => placed.each(|at, kind| visit(at, 1, kind)),
        })
    }
}

/// How far everything is moved, so that it lies in the grid.
fn shift((low, high): Extent, size: GridSize, is_placed: bool) -> Result<[i64; 3], Refusal> {
    let edge = size.get() as i64;
    let spans = [0, 1, 2].map(|axis| high[axis] - low[axis] + 1);
    let longest = spans.into_iter().max().unwrap_or_default();
    if longest > edge {
        let [width, height, depth] = spans;
        let fitting = GridSize::ALL.into_iter().find(|size| longest <= size.get() as i64);
        let advice = match fitting {
            Some(size) => format!("a {size}³ grid takes it"),
            None => format!("no grid takes it, the largest being {}³", GridSize::G256),
        };
        let told = format!(
            "the build is {width} wide, {height} high and {depth} deep, and the grid {size}³: {advice}"
        );
        return Err(Refusal::new(Code::DoesNotFit, told));
    }
    if is_placed && (0..3).all(|axis| low[axis] >= 0 && high[axis] < edge) {
        return Ok([0; 3]);
    }
    let middle = |axis: usize| (edge - spans[axis]) / 2 - low[axis];
    Ok([middle(0), -low[1], middle(2)])
}

fn kind(name: &[u8]) -> Result<Kind, Refusal> {
    if name.len() > MAX_NAME {
        return Err(bad(format!("a block's name is longer than {MAX_NAME} bytes")));
    }
    Ok(Kind::Block(normalise(&String::from_utf8_lossy(name))))
}

fn bad(why: impl std::fmt::Display) -> Refusal {
    Refusal::new(Code::BadFile, format!("the file cannot be read: {why}"))
}

/// So many cells are walked over, unless they are too many.
fn work(cells: u128, most: u64) -> Result<u64, Refusal> {
    let told = || format!("the file has {cells} cells, and at most {most} are read");
    let fitting = u64::try_from(cells).ok().filter(|&cells| cells <= most);
    fitting.ok_or_else(|| Refusal::new(Code::TooMuchWork, told()))
}

#[cfg(test)]
mod tests;
