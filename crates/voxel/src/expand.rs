//! Expands a spec into a grid: exactly, in integers, and with the number of writes checked before any is made.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::diagnostics::{Rejection, RejectionCode, Warning, printable};
use super::grid::{Grid, GridSize};
use super::palette::{AIR, Palette};
use super::rasterise::SegmentRaster;
use super::spec::{Cuboid, Spec};

/// The largest count in a warning: the largest whole number that every JSON reader keeps exact.
const MAX_COUNT: u64 = (1 << 53) - 1;

/// A spec may write this many times the number of cells in the grid.
pub const MAX_OVERDRAW: u64 = 8;

/// The number of unknown types that get warnings of their own.
const MAX_NAMED_KINDS: usize = 5;

/// Expands boxes, then lines, then blocks; the last write to a cell wins.
pub(super) fn expand(
    spec: &Spec,
    size: GridSize,
    palette: Palette,
) -> Result<(Grid, Vec<Warning>), Rejection> {
    let kinds: Vec<u8> = spec.kinds.iter().map(|name| palette.find(name).unwrap_or(AIR)).collect();
    let writes = WriteCounts::of(spec, size, &kinds);
    let limit = MAX_OVERDRAW * size.volume() as u64;
    if writes.inside > limit {
        let message = format!(
            "the spec writes {} cells, but a {size}³ grid allows at most {limit} writes: use fewer and larger boxes",
            writes.inside
        );
        return Err(Rejection::new(RejectionCode::TooMuchWork, message));
    }
    let mut grid = Grid::empty(size);
    draw(spec, &kinds, &mut grid);
    Ok((grid, writes.warnings(spec, palette)))
}

fn draw(spec: &Spec, kinds: &[u8], grid: &mut Grid) {
    let edge = grid.size().get() as i64;
    for cuboid in &spec.boxes {
        let block = kinds[usize::from(cuboid.kind)];
        let Some(([x1, y1, z1], [x2, y2, z2])) = clip(cuboid, edge).filter(|_| block != AIR) else {
            continue;
        };
        for y in y1..=y2 {
            for z in z1..=z2 {
                grid.fill_row(x1, y, z, x2 - x1 + 1, block);
            }
        }
    }
    for segment in &spec.lines {
        let block = kinds[usize::from(segment.kind)];
        if block != AIR {
            let line = SegmentRaster::new(segment.from, segment.to);
            line.walk(line.inside(edge)).for_each(|[x, y, z]| grid.fill_row(x, y, z, 1, block));
        }
    }
    for dot in &spec.blocks {
        let block = kinds[usize::from(dot.kind)];
        if block != AIR && dot.is_inside(edge) {
            let [x, y, z] = dot.at.map(|v| v as usize);
            grid.fill_row(x, y, z, 1, block);
        }
    }
}

/// The number of writes of a spec, counted without making them.
struct WriteCounts {
    inside: u64,
    outside: u64,
    /// By kind, for kinds that are not in the palette.
    unknown: Vec<u64>,
}

impl WriteCounts {
    fn of(spec: &Spec, size: GridSize, kinds: &[u8]) -> Self {
        let edge = size.get() as i64;
        let mut writes = Self { inside: 0, outside: 0, unknown: vec![0; kinds.len()] };
        let mut add = |kind: u16, inside: u64, all: u128| {
            let kind = usize::from(kind);
            if kinds[kind] == AIR {
                writes.unknown[kind] = saturate(all.saturating_add(writes.unknown[kind].into()));
            } else {
                writes.inside = writes.inside.saturating_add(inside);
                writes.outside = saturate((all - u128::from(inside)).saturating_add(writes.outside.into()));
            }
        };
        for cuboid in &spec.boxes {
            let span = |axis: usize| u128::from(cuboid.from[axis].abs_diff(cuboid.to[axis])) + 1;
            let all = span(0).saturating_mul(span(1)).saturating_mul(span(2));
            let inside =
                clip(cuboid, edge).map_or(0, |(low, high)| (0..3).map(|a| high[a] - low[a] + 1).product());
            add(cuboid.kind, inside as u64, all);
        }
        for segment in &spec.lines {
            let line = SegmentRaster::new(segment.from, segment.to);
            let inside = line.inside(edge);
            add(segment.kind, (inside.end - inside.start) as u64, line.points());
        }
        for dot in &spec.blocks {
            add(dot.kind, u64::from(dot.is_inside(edge)), 1);
        }
        writes
    }

    fn warnings(self, spec: &Spec, palette: Palette) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if !spec.has_version {
            let message = "version is missing: add \"version\": \"1.0\"".to_owned();
            warnings.push(Warning::MissingVersion { message });
        }
        if self.outside > 0 {
            let count = self.outside;
            let dropped = pluralise(count, "write outside the grid was", "writes outside the grid were");
            let message = format!("{dropped} dropped");
            warnings.push(Warning::OutOfBounds { count, message });
        }
        warnings.extend(unknown_blocks(&spec.kinds, &self.unknown, palette));
        warnings
    }
}

/// Names the most frequent unknown blocks and counts the rest.
fn unknown_blocks(kinds: &[String], counts: &[u64], palette: Palette) -> Vec<Warning> {
    let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, &count) in kinds.iter().zip(counts).filter(|&(_, &count)| count > 0) {
        let sum = by_name.entry(name).or_default();
        *sum = saturate(u128::from(*sum) + u128::from(count));
    }
    let (named, rest) = most_frequent(by_name, |&count| count);
    let mut warnings: Vec<Warning> = named
        .into_iter()
        .map(|(name, count)| {
            let name = &*printable(name);
            let dropped = pluralise(count, "write was", "writes were");
            let message = match name {
                "air" => {
                    format!("air does not remove blocks: {dropped} dropped; leave the space empty instead")
                }
                "" => format!("the type is empty: {dropped} dropped"),
                _ => format!("{name} is not in the {palette} palette: {dropped} dropped"),
            };
            Warning::UnknownBlock { r#type: name.to_owned(), count, message }
        })
        .collect();
    if let Some((kinds, count)) = rest {
        let more = pluralise(kinds as u64, "more unknown type", "more unknown types");
        let message = format!("{more}: {} dropped", pluralise(count, "write was", "writes were"));
        warnings.push(Warning::MoreUnknownBlocks { kinds, count, message });
    }
    warnings
}

/// The number of kinds that are not named, and how often they occur.
type UnnamedKinds = Option<(usize, u64)>;

/// The most frequent kinds, which are named, and the others. Equally frequent ones stay in their order.
pub(super) fn most_frequent<N, T>(
    all: BTreeMap<N, T>,
    count: impl Fn(&T) -> u64,
) -> (Vec<(N, T)>, UnnamedKinds) {
    let mut named: Vec<_> = all.into_iter().collect();
    named.sort_by_key(|(_, one)| Reverse(count(one)));
    let rest = named.split_off(named.len().min(MAX_NAMED_KINDS));
    let beyond = saturate(rest.iter().map(|(_, one)| u128::from(count(one))).sum());
    (named, (!rest.is_empty()).then_some((rest.len(), beyond)))
}

type Corner = [usize; 3];

/// The lowest and the highest cell of the part of a box that is inside the grid.
fn clip(cuboid: &Cuboid, edge: i64) -> Option<(Corner, Corner)> {
    let low = [0, 1, 2].map(|axis| cuboid.from[axis].min(cuboid.to[axis]).max(0));
    let high = [0, 1, 2].map(|axis| cuboid.from[axis].max(cuboid.to[axis]).min(edge - 1));
    let touches = (0..3).all(|axis| low[axis] <= high[axis]);
    touches.then(|| (low.map(|v| v as usize), high.map(|v| v as usize)))
}

fn saturate(count: u128) -> u64 {
    count.min(MAX_COUNT.into()) as u64
}

pub(super) fn pluralise(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
