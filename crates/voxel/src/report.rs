//! A verdict as a JSON object.

use serde::{Serialize, Serializer};

use super::check::Verdict;
use super::diagnostics::{Rejection, Warning};
use super::grid::{Bounds, Grid, GridSize, GridStats};
use super::palette::{Block, Palette};

/// A verdict as JSON: whether the input is a valid build, its blocks and bounds, the warnings and the error.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
    ok: bool,
    grid_size: GridSize,
    palette: Palette,
    block_count: u32,
    bounds: Option<Bounds>,
    blocks: BlockCounts<'a>,
    warnings: &'a [Warning],
    error: Option<&'a Rejection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<CellList<'a>>,
}

impl<'a> Report<'a> {
    /// `with_cells` adds every block with its position.
    pub fn new(verdict: &'a Verdict, size: GridSize, palette: Palette, with_cells: bool) -> Self {
        let stats = verdict.stats();
        Self {
            ok: verdict.rejection().is_none(),
            grid_size: size,
            palette,
            block_count: stats.map_or(0, |stats| stats.block_count),
            bounds: stats.and_then(|stats| stats.bounds),
            blocks: BlockCounts(stats),
            warnings: verdict.warnings(),
            error: verdict.rejection(),
            cells: with_cells.then(|| CellList(verdict.grid())),
        }
    }
}

/// The number of blocks of each kind, the most frequent first.
struct BlockCounts<'a>(Option<&'a GridStats>);

impl Serialize for BlockCounts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let blocks = self.0.map(GridStats::blocks).unwrap_or_default();
        serializer.collect_map(blocks.iter().map(|(block, count)| (&block.id, count)))
    }
}

/// Every block with its position, ordered by y, then z, then x. There may be millions, so they are serialized
/// without being collected first.
struct CellList<'a>(Option<&'a Grid>);

impl Serialize for CellList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.into_iter().flat_map(Grid::rows).flat_map(|(y, z, row)| {
            let blocks = row.iter().enumerate().filter_map(|(x, &cell)| Some((x, Block::by_number(cell)?)));
            blocks.map(move |(x, block)| (x, y, z, &*block.id))
        }))
    }
}
