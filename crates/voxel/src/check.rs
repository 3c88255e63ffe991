//! From any text to a verdict: the pipeline that generated, imported and pasted
//! builds all go through.

use std::{borrow::Cow, io::Read};

use flate2::read::GzDecoder;
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{
    diagnostics::{Position, Rejection, RejectionCode, Warning},
    expand::expand,
    export::boxes,
    grid::{Bounds, Grid, GridSize, GridStats},
    import::{self, ForeignFormat},
    palette::{Block, Palette},
    prose::find_spec,
    rules::ValidGrid,
};

/// What came of an input.
#[derive(Debug)]
pub enum Verdict {
    Accepted {
        build: ValidGrid,
        /// The JSON that it was read from. None for a file of another tool: see [`ValidGrid::write_spec`].
        spec: Option<String>,
        warnings: Vec<Warning>,
    },
    /// Expanded, but against the rules.
    Rejected { grid: Grid, stats: GridStats, warnings: Vec<Warning>, rejection: Rejection },
    /// Not even a spec that can be expanded.
    Unreadable(Rejection),
}

/// Reads a spec out of any text, or a file that another tool wrote, plain or gzipped, expands it and holds it to the
/// rules. Whatever is larger than `max_bytes`, inflated, is refused before it is read.
pub fn check(input: &[u8], size: GridSize, palette: Palette, max_bytes: usize) -> Verdict {
    let read = || {
        let input = inflate(input, max_bytes)?;
        if let Some(format) = ForeignFormat::of(&input) {
            let (grid, warnings) = import::read(&input, format, size, palette)?;
            return Ok((ValidGrid::new(grid).map(|build| (build, None)), warnings));
        }
        let found = find_spec(text(&input)?)?;
        let (grid, warnings) = expand(&found.spec, size, palette)?;
        drop(found.spec);
        Ok((ValidGrid::new(grid).map(|build| (build, Some(found.text.trim().to_owned()))), warnings))
    };
    match read() {
        Err(rejection) => Verdict::Unreadable(rejection),
        Ok((Ok((build, spec)), warnings)) => Verdict::Accepted { build, spec, warnings },
        Ok((Err((grid, stats, rejection)), warnings)) => {
            Verdict::Rejected { grid, stats, warnings, rejection }
        }
    }
}

impl ValidGrid {
    /// A spec that makes this grid.
    ///
    /// # Errors
    /// `too_large` beyond `max_bytes`.
    pub fn write_spec(&self, max_bytes: usize) -> Result<String, Rejection> {
        let spec = self.stats().bounds.and_then(|bounds| boxes::write(self.grid(), bounds, max_bytes));
        spec.and_then(|spec| String::from_utf8(spec).ok()).ok_or_else(|| {
            let most = max_bytes.div_ceil(1 << 20);
            Rejection::new(
                RejectionCode::TooLarge,
                format!("written as a spec, the build is larger than {most} MiB"),
            )
        })
    }
}

/// The text of an input, out of its gzip wrapper if it has one.
fn inflate(input: &[u8], max_bytes: usize) -> Result<Cow<'_, [u8]>, Rejection> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    if !input.starts_with(&GZIP) {
        return if input.len() > max_bytes { Err(too_large(max_bytes)) } else { Ok(input.into()) };
    }
    let mut inflated = Vec::new();
    let read = GzDecoder::new(input).take(max_bytes as u64 + 1).read_to_end(&mut inflated);
    if inflated.len() > max_bytes {
        return Err(too_large(max_bytes));
    }
    let code =
        if ForeignFormat::of(&inflated).is_some() { RejectionCode::BadFile } else { RejectionCode::BadJson };
    match read {
        Ok(_) => Ok(inflated.into()),
        Err(error) => Err(Rejection::new(code, format!("this is no whole gzip file: {error}"))),
    }
}

fn too_large(max_bytes: usize) -> Rejection {
    Rejection::new(
        RejectionCode::TooLarge,
        format!("the text is larger than {} MiB", max_bytes.div_ceil(1 << 20)),
    )
}

/// What people bring by mistake, by how it begins.
const OTHER_FILE_TYPES: [(&[u8], &str); 8] = [
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"RIFF", "a picture or a film"),
    (b"\x1aE\xdf\xa3", "a film"),
    (b"%PDF", "a PDF"),
    (b"PK", "a zip"),
    (b"glTF", "a glTF model"),
];

fn text(bytes: &[u8]) -> Result<&str, Rejection> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        if let Some((_, kind)) = OTHER_FILE_TYPES.iter().find(|(beginning, _)| bytes.starts_with(beginning)) {
            let advice = "bring a spec, or a .schem, .litematic or .vox";
            return Rejection::new(RejectionCode::BadFile, format!("this is {kind}, not a build: {advice}"));
        }
        let position = Position::of(bytes, error.valid_up_to());
        Rejection::new(RejectionCode::BadJson, format!("the text is not UTF-8, at {position}")).at(position)
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

impl Verdict {
    /// For an input that was not even taken in whole.
    pub fn too_large(max_bytes: usize) -> Self {
        Self::Unreadable(too_large(max_bytes))
    }

    pub fn rejection(&self) -> Option<&Rejection> {
        match self {
            Self::Accepted { .. } => None,
            Self::Rejected { rejection, .. } | Self::Unreadable(rejection) => Some(rejection),
        }
    }

    pub fn warnings(&self) -> &[Warning] {
        match self {
            Self::Accepted { warnings, .. } | Self::Rejected { warnings, .. } => warnings,
            Self::Unreadable(_) => &[],
        }
    }

    /// The grid, good or not.
    pub fn grid(&self) -> Option<&Grid> {
        match self {
            Self::Accepted { build, .. } => Some(build.grid()),
            Self::Rejected { grid, .. } => Some(grid),
            Self::Unreadable(_) => None,
        }
    }

    pub fn stats(&self) -> Option<&GridStats> {
        match self {
            Self::Accepted { build, .. } => Some(build.stats()),
            Self::Rejected { stats, .. } => Some(stats),
            Self::Unreadable(_) => None,
        }
    }
}

/// A verdict as the object that `buildoff check` prints.
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

/// How many there are of each block, most first.
struct BlockCounts<'a>(Option<&'a GridStats>);

impl Serialize for BlockCounts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let blocks = self.0.map(GridStats::blocks).unwrap_or_default();
        let mut map = serializer.serialize_map(Some(blocks.len()))?;
        for (block, count) in blocks {
            map.serialize_entry(&block.id, &count)?;
        }
        map.end()
    }
}

/// Every block with its place, ordered by y, then z, then x; written as they are
/// walked, as there may be millions.
struct CellList<'a>(Option<&'a Grid>);

impl Serialize for CellList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.into_iter().flat_map(Grid::rows).flat_map(|(y, z, row)| {
            let blocks = row.iter().enumerate().filter_map(|(x, &cell)| Some((x, Block::by_number(cell)?)));
            blocks.map(move |(x, block)| (x, y, z, &*block.id))
        }))
    }
}
