//! The rules of a build: its number of blocks and its least spans.

use super::diagnostics::{Rejection, RejectionCode};
use super::export::boxes;
use super::grid::{Grid, GridSize, GridStats};

/// The rules for builds in a grid of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    pub min_blocks: usize,
    pub max_blocks: usize,
    /// The least span along x or z; one of them has to reach it.
    pub min_footprint: usize,
    /// The least span along y.
    pub min_height: usize,
}

/// A grid that keeps the rules of its size. [`ValidGrid::new`] is the only way to make one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidGrid {
    grid: Grid,
    stats: GridStats,
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
            min_footprint: edge * 55 / 100,
            min_height: edge * 14 / 100,
        }
    }

    /// The first rule that the grid breaks.
    fn first_violation(self, stats: &GridStats) -> Option<Rejection> {
        let Some(bounds) = stats.bounds else {
            return Some(Rejection::new(RejectionCode::NoBlocks, "the grid contains no blocks"));
        };
        let count = stats.block_count as usize;
        let blocks = if count == 1 { "1 block".to_owned() } else { format!("{count} blocks") };
        let [x_span, height, z_span] = bounds.spans();
        let footprint = x_span.max(z_span);
        let Self { min_blocks, max_blocks, min_footprint, min_height } = self;
        let (code, message) = if count > max_blocks {
            let message =
                format!("the build has {blocks}, but at most {max_blocks} are allowed: hollow it out");
            (RejectionCode::TooManyBlocks, message)
        } else if count < min_blocks {
            let message =
                format!("the build has {blocks}, but at least {min_blocks} are required: add detail");
            (RejectionCode::TooFewBlocks, message)
        } else if footprint < min_footprint {
            let message = format!(
                "the build spans {x_span} cells along x and {z_span} along z, but one of them must be at least {min_footprint}: use more of the grid"
            );
            (RejectionCode::FootprintTooSmall, message)
        } else if height < min_height {
            let required = format!("at least {min_height} are required: build upwards");
            (RejectionCode::HeightTooSmall, format!("the build is {height} cells high, but {required}"))
        } else {
            return None;
        };
        Some(Rejection::new(code, message))
    }
}

impl ValidGrid {
    /// Checks the rules.
    ///
    /// # Errors
    /// The grid, its counts, and the rule that it breaks.
    pub fn new(grid: Grid) -> Result<Self, (Grid, GridStats, Rejection)> {
        let stats = grid.stats();
        match Rules::of(grid.size()).first_violation(&stats) {
            Some(rejection) => Err((grid, stats, rejection)),
            None => Ok(Self { grid, stats }),
        }
    }

    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    pub fn stats(&self) -> &GridStats {
        &self.stats
    }

    /// Writes a spec that expands to this grid.
    ///
    /// # Errors
    /// `too_large` if the spec is longer than `max_bytes`.
    pub fn write_spec(&self, max_bytes: usize) -> Result<String, Rejection> {
        let spec = self.stats.bounds.and_then(|bounds| boxes::write(&self.grid, bounds, max_bytes));
        spec.and_then(|spec| String::from_utf8(spec).ok()).ok_or_else(|| {
            let most = max_bytes.div_ceil(1 << 20);
            let message = format!("as a spec, the build would be larger than {most} MiB");
            Rejection::new(RejectionCode::TooLarge, message)
        })
    }
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
            let rules = Rules { min_blocks, max_blocks, min_footprint, min_height };
            assert_eq!(Rules::of(size), rules, "{size}");
        }
    }
}
