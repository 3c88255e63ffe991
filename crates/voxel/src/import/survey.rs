//! What there is in a file: seen before any of it is drawn, and no further than somebody would draw it.

use std::collections::HashMap;

use super::{
    Kind, Part, Scene, bad,
    nearest::{Fate, Nearest},
    work,
};
use crate::{
    expand::MAX_OVERDRAW,
    grid::GridSize,
    refusal::{Code, Refusal},
};

/// Different blocks and colours, of those that there are cells of.
const MOST_DIFFERENT: usize = 4096;

pub struct Survey {
    /// By the kinds' numbers. None where no cell is of a kind.
    pub met: Vec<Option<Met>>,
    /// The lowest and the highest corner of what is not empty.
    pub extent: Option<Extent>,
}

pub type Extent = ([i64; 3], [i64; 3]);

/// A kind that there are cells of.
#[derive(Clone, Copy)]
pub struct Met {
    pub fate: Fate,
    pub count: u64,
}

/// Cells that are not empty, as many as a spec for a grid may write.
pub const fn most_blocks(size: GridSize) -> u64 {
    MAX_OVERDRAW * size.volume() as u64
}

impl Survey {
    pub fn of(scene: &Scene<'_>, size: GridSize, nearest: &Nearest) -> Result<Self, Refusal> {
        suit(scene)?;
        let most = most_blocks(size);
        let mut survey = Self { met: vec![None; scene.kinds.len()], extent: None };
        let mut fates = Fates { nearest, known: HashMap::new() };
        let mut blocks = 0;
        scene.each(|at, len, kind| {
            let met = match survey.met.get_mut(kind as usize) {
                Some(Some(met)) => met,
                Some(new) => {
                    new.insert(Met { fate: fates.of(scene.kinds[kind as usize].as_ref(), kind)?, count: 0 })
                }
                None => return Err(lacking(kind)),
            };
            met.count += len;
            if met.fate != Fate::Empty {
                blocks += len;
            }
            if met.fate.block().is_some() {
                include(&mut survey.extent, at, len);
            }
            if blocks > most { Err(too_many(most, survey.extent, size)) } else { Ok(()) }
        })?;
        Ok(survey)
    }
}

/// Whether the regions have as many cells as they say, and not too many, empty ones included.
fn suit(scene: &Scene<'_>) -> Result<(), Refusal> {
    let mut volume = 0;
    for part in &scene.parts {
        if let Part::Region(region) = part {
            volume += u128::from(region.volume()?);
            work(volume, most_blocks(GridSize::G256))?;
        }
    }
    Ok(())
}

/// What becomes of kinds, each name and colour looked up once: many kinds are states of one block.
struct Fates<'a> {
    nearest: &'a Nearest,
    known: HashMap<&'a Kind, Fate>,
}

impl<'a> Fates<'a> {
    fn of(&mut self, kind: Option<&'a Kind>, number: u32) -> Result<Fate, Refusal> {
        let kind = kind.ok_or_else(|| lacking(number))?;
        if let Some(&fate) = self.known.get(kind) {
            return Ok(fate);
        }
        if self.known.len() == MOST_DIFFERENT {
            let told = format!("the file has more than {MOST_DIFFERENT} different blocks");
            return Err(Refusal::new(Code::TooMuchWork, told));
        }
        let fate = self.nearest.of(kind);
        self.known.insert(kind, fate);
        Ok(fate)
    }
}

/// Takes in a run along x.
fn include(extent: &mut Option<Extent>, at: [i64; 3], len: u64) {
    let end = [at[0] + len as i64 - 1, at[1], at[2]];
    let (low, high) = extent.get_or_insert((at, end));
    for axis in 0..3 {
        low[axis] = low[axis].min(at[axis]);
        high[axis] = high[axis].max(end[axis]);
    }
}

fn lacking(kind: u32) -> Refusal {
    bad(format!("a cell is of kind {kind}, which its palette lacks"))
}

/// Most that have so many are for a larger grid, which shows by how far the first of them reach.
fn too_many(most: u64, extent: Option<Extent>, size: GridSize) -> Refusal {
    let reaches = |(low, high): Extent| (0..3).any(|axis| high[axis] - low[axis] >= size.get() as i64);
    if extent.is_some_and(reaches) {
        let told = format!("the build is larger than the grid, which is {size}³");
        return Refusal::new(Code::DoesNotFit, told);
    }
    let told = format!("the file has more than {most} blocks, eight times the cells of a {size}³ grid");
    Refusal::new(Code::TooMuchWork, told)
}
