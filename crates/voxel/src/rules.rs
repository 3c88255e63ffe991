//! The rules: how many blocks a build needs and may have, and how far it must spread.

use super::{
    grid::{Census, Grid, GridSize},
    refusal::{Code, Refusal},
};

/// What a build in a grid of one size must keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    pub min_blocks: usize,
    pub max_blocks: usize,
    /// The least span along x or z, whichever is larger.
    pub min_footprint: usize,
    /// The least span along y.
    pub min_height: usize,
}

/// A grid that keeps the rules. There is no other way to get one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    grid: Grid,
    census: Census,
}

impl Rules {
    pub const fn of(size: GridSize) -> Self {
        let edge = size.get();
        let min_blocks = match size {
            GridSize::G32 => 80,
            GridSize::G64 => 200,
            GridSize::G128 => 300,
            GridSize::G256 => 500,
        };
        Self {
            min_blocks,
            max_blocks: size.volume() / 4 * 3,
            min_footprint: at_least(6, edge * 55 / 100),
            min_height: at_least(4, edge * 14 / 100),
        }
    }

    /// The first rule that is broken, in the order that is told to people.
    fn broken(self, census: &Census) -> Option<Refusal> {
        let Some(bounds) = census.bounds else {
            return Some(Refusal::new(Code::NoBlocks, "there are no blocks in the grid"));
        };
        let count = census.block_count as usize;
        let blocks = if count == 1 { "1 block".to_owned() } else { format!("{count} blocks") };
        let [x_span, height, z_span] = bounds.spans();
        let footprint = x_span.max(z_span);
        let (code, message) = if count > self.max_blocks {
            let message = format!("{blocks}, where at most {} are allowed: hollow it out", self.max_blocks);
            (Code::TooManyBlocks, message)
        } else if count < self.min_blocks {
            let message = format!("{blocks}, where at least {} are needed: add detail", self.min_blocks);
            (Code::TooFewBlocks, message)
        } else if footprint < self.min_footprint {
            let message = format!(
                "it is {x_span} wide along x and {z_span} along z, where at least one must be {}: use more of the grid",
                self.min_footprint
            );
            (Code::FootprintTooSmall, message)
        } else if height < self.min_height {
            let message =
                format!("it is {height} high, where at least {} are needed: build upwards", self.min_height);
            (Code::HeightTooSmall, message)
        } else {
            return None;
        };
        Some(Refusal::new(code, message))
    }
}

impl Checked {
    /// Holds a grid to the rules of its size.
    ///
    /// # Errors
    /// The grid and its census again, with the rule it breaks.
    pub fn new(grid: Grid) -> Result<Self, (Grid, Census, Refusal)> {
        let census = grid.census();
        match Rules::of(grid.size()).broken(&census) {
            Some(refusal) => Err((grid, census, refusal)),
            None => Ok(Self { grid, census }),
        }
    }

    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    pub fn census(&self) -> &Census {
        &self.census
    }
}

const fn at_least(least: usize, value: usize) -> usize {
    if value < least { least } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_design() {
        let table = [
            (GridSize::G32, 80, 24_576, 17, 4),
            (GridSize::G64, 200, 196_608, 35, 8),
            (GridSize::G128, 300, 1_572_864, 70, 17),
            (GridSize::G256, 500, 12_582_912, 140, 35),
        ];
        for (size, min_blocks, max_blocks, min_footprint, min_height) in table {
            assert_eq!(
                Rules::of(size),
                Rules { min_blocks, max_blocks, min_footprint, min_height },
                "{size}"
            );
        }
    }
}
