//! Who beats whom, as a square of coloured cells: rows against columns.

use super::truncated;
use crate::arena::ModelKey;
use crate::arena::leaderboard::{LadderEntry, PairRecords};

/// Models that have room, with numbers that can be read; the table of pairs has all.
const MAX_MODELS: usize = 26;

/// Longer names are cut.
const MAX_NAME_CHARS: usize = 24;

/// About what a character of a label takes.
const CHAR_WIDTH: usize = 8;

/// Above the first row, for the columns' numbers.
const HEADER_HEIGHT: usize = 24;

pub(in crate::web) struct Heatmap {
    pub players: Vec<HeatmapModel>,
    pub cells: Vec<HeatmapCell>,
    /// How many more models there are.
    pub omitted_models: usize,
    /// Of a cell's side.
    pub side: usize,
    /// Where the cells begin.
    pub left: usize,
    pub width: usize,
    pub height: usize,
    /// Whether there is room for the number of votes in a cell.
    pub shows_votes: bool,
}

/// A row, and the column of the same number.
pub(in crate::web) struct HeatmapModel {
    pub rank: usize,
    pub name: String,
    pub full_name: String,
    pub key: ModelKey,
    /// The middle of its row.
    pub y: usize,
    /// The middle of its column.
    pub x: usize,
}

/// How a row's model fared against a column's.
pub(in crate::web) struct HeatmapCell {
    pub x: usize,
    pub y: usize,
    pub row: usize,
    pub column: usize,
    /// In percent; none where no vote compares them.
    pub share: Option<u8>,
    pub votes: i64,
}

impl Heatmap {
    /// Of the first rows, in their order; none if no two of them have met.
    pub fn of(rows: &[LadderEntry], duels: &PairRecords) -> Option<Self> {
        let all = rows.len();
        let rows = &rows[..all.min(MAX_MODELS)];
        let side = match rows.len() {
            0..=8 => 60,
            9..=14 => 52,
            _ => 34,
        };
        let names: Vec<_> =
            rows.iter().map(|row| truncated(&row.model.display_name, MAX_NAME_CHARS)).collect();
        let longest = names.iter().map(|name| name.chars().count()).max()?;
        let left = 44 + longest * CHAR_WIDTH;
        let player = |(index, (row, name)): (usize, (&LadderEntry, String))| HeatmapModel {
            rank: row.rank,
            name,
            full_name: row.model.display_name.clone(),
            key: row.model.key.clone(),
            y: HEADER_HEIGHT + index * side + side / 2,
            x: left + index * side + side / 2,
        };
        let mut cells = Vec::new();
        for (row, one) in rows.iter().enumerate() {
            for (column, other) in rows.iter().enumerate() {
                let met = duels.get(&one.model.key).and_then(|duels| duels.get(&other.model.key));
                let Some(record) = met else { continue };
                cells.push(HeatmapCell {
                    x: left + column * side,
                    y: HEADER_HEIGHT + row * side,
                    row,
                    column,
                    share: record.share().map(|share| (share * 100.0).round() as u8),
                    votes: record.votes(),
                });
            }
        }
        (!cells.is_empty()).then(|| Self {
            omitted_models: all - rows.len(),
            players: rows.iter().zip(names).enumerate().map(player).collect(),
            cells,
            side,
            left,
            width: left + rows.len() * side + 1,
            height: HEADER_HEIGHT + rows.len() * side + 1,
            shows_votes: side > 50,
        })
    }

    pub fn top(&self) -> usize {
        HEADER_HEIGHT
    }
}

impl HeatmapCell {
    /// One of eleven shades, from always lost to always won.
    pub fn shade(&self) -> Option<u8> {
        self.share.map(|share| (share + 5) / 10)
    }
}
