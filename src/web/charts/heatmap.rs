//! The heatmap of the leaderboard: rows against columns, with the share of votes that the row won.

use super::truncated;
use crate::arena::ModelKey;
use crate::arena::leaderboard::{LadderEntry, PairRecords};

/// More models would not leave room for readable numbers. The table of pairs shows all.
const MAX_MODELS: usize = 26;

/// Longer names are cut.
const MAX_NAME_CHARS: usize = 24;

/// The approximate width of a character of a label.
const CHAR_WIDTH: usize = 8;

/// The height above the first row, for the numbers of the columns.
const HEADER_HEIGHT: usize = 24;

pub(in crate::web) struct Heatmap {
    pub players: Vec<HeatmapModel>,
    pub cells: Vec<HeatmapCell>,
    /// The number of models left out.
    pub omitted_models: usize,
    /// The side of a cell.
    pub side: usize,
    /// The left edge of the cells.
    pub left: usize,
    pub width: usize,
    pub height: usize,
    /// Whether a cell has room for the number of votes.
    pub shows_votes: bool,
}

/// A row, and the column of the same number.
pub(in crate::web) struct HeatmapModel {
    pub rank: usize,
    pub name: String,
    pub full_name: String,
    pub key: ModelKey,
    /// The centre of its row.
    pub y: usize,
    /// The centre of its column.
    pub x: usize,
}

/// The record of a row's model against a column's.
pub(in crate::web) struct HeatmapCell {
    pub x: usize,
    pub y: usize,
    pub row: usize,
    pub column: usize,
    /// In percent; none if no vote compares the two.
    pub share: Option<u8>,
    pub votes: i64,
}

impl Heatmap {
    /// The heatmap of the first rows; none if no two of them have met.
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
