//! The pipeline from any input to a verdict, which generated, imported and pasted builds all go through.

use super::diagnostics::{Rejection, Warning};
use super::expand::expand;
use super::grid::{Grid, GridSize, GridStats};
use super::import::{self, ForeignFormat};
use super::input::{inflate, text, too_large};
use super::palette::Palette;
use super::prose::find_spec;
use super::rules::ValidGrid;

/// The result of checking an input.
#[derive(Debug)]
pub enum Verdict {
    /// A valid build.
    Accepted {
        build: ValidGrid,
        /// The JSON that the build was read from. None for a file of another tool: see [`ValidGrid::write_spec`].
        spec: Option<String>,
        warnings: Vec<Warning>,
    },
    /// A build that was read and expanded, but breaks a rule.
    Rejected { grid: Grid, stats: GridStats, warnings: Vec<Warning>, rejection: Rejection },
    /// Not a build, or one that cannot be expanded.
    Unreadable(Rejection),
}

/// Reads a spec from any text, or a file of another tool, either of them plain or gzipped, expands it and checks the
/// rules. Input that is larger than `max_bytes` after unpacking is rejected unread.
pub fn check(input: &[u8], size: GridSize, palette: Palette, max_bytes: usize) -> Verdict {
    let read = || {
        let input = inflate(input, max_bytes)?;
        if let Some(format) = ForeignFormat::of(&input) {
            let (grid, warnings) = import::read(&input, format, size, palette)?;
            return Ok((ValidGrid::new(grid).map(|build| (build, None)), warnings));
        }
        let found = find_spec(text(&input)?)?;
        let (grid, warnings) = expand(&found.spec, size, palette)?;
        // A spec may take as much memory as its text, which is copied next.
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

impl Verdict {
    /// For input that was not read to its end because it was too large.
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

    /// The grid, whether it keeps the rules or not.
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
