//! Who beats whom, as a square of coloured cells: rows against columns.

use super::shortened;
use crate::arena::ModelKey;
use crate::arena::leaderboard::{LadderEntry, PairRecords};

/// Models that have room, with numbers that can be read; the table of pairs has all.
const MOST: usize = 26;

/// Longer names are cut.
const LONGEST: usize = 24;

/// About what a character of a label takes.
const CHARACTER: usize = 8;

/// Above the first row, for the columns' numbers.
const HEAD: usize = 24;

pub(in crate::web) struct Heatmap {
    pub players: Vec<Player>,
    pub cells: Vec<Cell>,
    /// How many more models there are.
    pub leaves_out: usize,
    /// Of a cell's side.
    pub side: usize,
    /// Where the cells begin.
    pub left: usize,
    pub width: usize,
    pub height: usize,
    /// Whether there is room for the number of votes in a cell.
    pub tells_votes: bool,
}

/// A row, and the column of the same number.
pub(in crate::web) struct Player {
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
pub(in crate::web) struct Cell {
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
        let rows = &rows[..all.min(MOST)];
        let side = match rows.len() {
            0..=8 => 60,
            9..=14 => 52,
            _ => 34,
        };
        let names: Vec<_> = rows.iter().map(|row| shortened(&row.model.display_name, LONGEST)).collect();
        let longest = names.iter().map(|name| name.chars().count()).max()?;
        let left = 44 + longest * CHARACTER;
        let player = |(index, (row, name)): (usize, (&LadderEntry, String))| Player {
            rank: row.rank,
            name,
            full_name: row.model.display_name.clone(),
            key: row.model.key.clone(),
            y: HEAD + index * side + side / 2,
            x: left + index * side + side / 2,
        };
        let mut cells = Vec::new();
        for (row, one) in rows.iter().enumerate() {
            for (column, other) in rows.iter().enumerate() {
                let met = duels.get(&one.model.key).and_then(|duels| duels.get(&other.model.key));
                let Some(record) = met else { continue };
                cells.push(Cell {
                    x: left + column * side,
                    y: HEAD + row * side,
                    row,
                    column,
                    share: record.share().map(|share| (share * 100.0).round() as u8),
                    votes: record.votes(),
                });
            }
        }
        (!cells.is_empty()).then(|| Self {
            leaves_out: all - rows.len(),
            players: rows.iter().zip(names).enumerate().map(player).collect(),
            cells,
            side,
            left,
            width: left + rows.len() * side + 1,
            height: HEAD + rows.len() * side + 1,
            tells_votes: side > 50,
        })
    }

    pub fn top(&self) -> usize {
        HEAD
    }
}

impl Cell {
    /// One of eleven shades, from always lost to always won.
    pub fn shade(&self) -> Option<u8> {
        self.share.map(|share| (share + 5) / 10)
    }
}
