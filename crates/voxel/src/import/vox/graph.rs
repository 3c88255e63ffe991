//! The scene graph of a .vox file: transforms, groups and shapes, which name each other by numbers.

use std::collections::HashMap;

use super::{Cursor, MOST, bad};
use crate::refusal::Refusal;

const MAX_NODES: usize = 1 << 16;
const DEEPEST: usize = 64;

/// A quarter turn or several, mirrored or not: where each axis is taken from, and which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    axes: [usize; 3],
    ways: [i64; 3],
}

#[derive(Default)]
pub struct Graph(HashMap<i32, Node>);

pub enum Node {
    Transform {
        child: i32,
        layer: i32,
        hidden: bool,
        turn: Turn,
        by: [i64; 3],
    },
    Group(Vec<i32>),
    /// The first model; others are its frames.
    Shape(Option<i32>),
}

impl Turn {
    pub const NONE: Self = Self { axes: [0, 1, 2], ways: [1, 1, 1] };

    /// The rows of a matrix in a byte: in the first two, the column that is not zero, two bits each; then a sign
    /// for each row.
    fn read(packed: u8) -> Option<Self> {
        let (first, second) = (usize::from(packed & 3), usize::from(packed >> 2 & 3));
        let third = 3_usize.checked_sub(first + second)?;
        let axes = [first, second, third];
        let is_whole = (0..3).all(|axis| axes.contains(&axis));
        let way = |row: u8| if packed >> (4 + row) & 1 == 0 { 1 } else { -1 };
        is_whole.then_some(Self { axes, ways: [way(0), way(1), way(2)] })
    }

    pub fn of(self, at: [i64; 3]) -> [i64; 3] {
        std::array::from_fn(|row| self.ways[row] * at[self.axes[row]])
    }

    /// The other one first, then this.
    fn after(self, other: Self) -> Self {
        Self {
            axes: self.axes.map(|axis| other.axes[axis]),
            ways: std::array::from_fn(|row| self.ways[row] * other.ways[self.axes[row]]),
        }
    }
}

impl Node {
    pub(super) fn read(kind: &[u8], at: &mut Cursor<'_>) -> Option<(i32, Self)> {
        let id = at.i32()?;
        let hidden = at.entry(b"_hidden")?.is_some_and(|hidden| hidden == b"1");
        let node = match kind {
            b"nTRN" => {
                let (child, _reserved, layer) = (at.i32()?, at.i32()?, at.i32()?);
                let [turn, by] = if at.u32()? > 0 { at.entries([b"_r", b"_t"])? } else { [None; 2] };
                let turn = turn.map_or(Some(Turn::NONE), |text| Turn::read(parsed(text)?))?;
                let by = by.map_or(Some([0; 3]), point)?;
                Self::Transform { child, layer, hidden, turn, by }
            }
            b"nGRP" => {
                let count = at.u32()? as usize;
                let children = at.take(count.checked_mul(4)?)?.as_chunks().0;
                Self::Group(children.iter().map(|child| i32::from_le_bytes(*child)).collect())
            }
            _ => Self::Shape(if at.u32()? > 0 { Some(at.i32()?) } else { None }),
        };
        Some((id, node))
    }
}

fn parsed<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

fn point(text: &[u8]) -> Option<[i64; 3]> {
    let mut parts = std::str::from_utf8(text).ok()?.split_ascii_whitespace();
    let mut part = || parts.next()?.parse::<i32>().ok().map(i64::from);
    Some([part()?, part()?, part()?])
}

impl Graph {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn keep(&mut self, id: i32, node: Node) -> Result<(), Refusal> {
        if self.0.len() == MAX_NODES && !self.0.contains_key(&id) {
            return Err(bad(format!("its scene has more than {MAX_NODES} nodes")));
        }
        self.0.insert(id, node);
        Ok(())
    }

    /// The models that can be seen, and how each is turned and where its middle comes to lie.
    pub fn shown(&self, is_hidden: impl Fn(i32) -> bool) -> Result<Vec<(i32, Turn, [i64; 3])>, Refusal> {
        let mut shown = Vec::new();
        let mut visited = 0;
        let mut open = vec![(0, 0, Turn::NONE, [0; 3])];
        while let Some((id, depth, turn, at)) = open.pop() {
            visited += 1;
            if depth > DEEPEST {
                return Err(bad(format!("its scene is nested deeper than {DEEPEST} levels, or in a circle")));
            }
            if visited > MAX_NODES {
                return Err(too_many());
            }
            let node = self.0.get(&id);
            match node.ok_or_else(|| bad(format!("its scene names the node {id}, which there is not")))? {
                Node::Transform { hidden: true, .. } => {}
                Node::Transform { layer, .. } if is_hidden(*layer) => {}
                Node::Transform { child, turn: own, by, .. } => {
                    let way = turn.of(*by);
                    let at = std::array::from_fn(|axis| at[axis] + way[axis]);
                    open.push((*child, depth + 1, turn.after(*own), at));
                }
                // What stands later in the list is shown over what stands before.
                Node::Group(children) if children.len() > MAX_NODES - open.len().min(MAX_NODES) => {
                    return Err(too_many());
                }
                Node::Group(children) => {
                    open.extend(children.iter().rev().map(|&child| (child, depth + 1, turn, at)));
                }
                Node::Shape(model) => {
                    if shown.len() == MOST {
                        return Err(bad(format!("its scene shows models in more than {MOST} places")));
                    }
                    shown.extend(model.map(|model| (model, turn, at)));
                }
            }
        }
        Ok(shown)
    }
}

fn too_many() -> Refusal {
    bad(format!("its scene shows its nodes more than {MAX_NODES} times"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_full_graph_nodes_are_replaced_and_none_added() {
        let mut graph = Graph::default();
        for id in 0..MAX_NODES as i32 {
            graph.keep(id, Node::Shape(None)).unwrap();
        }
        graph.keep(0, Node::Shape(Some(1))).unwrap();
        assert_eq!(graph.shown(|_| false).unwrap().len(), 1);
        let refusal = graph.keep(-1, Node::Shape(None)).unwrap_err();
        assert_eq!(refusal.message, "the file cannot be read: its scene has more than 65536 nodes");
    }

    #[test]
    fn turns_are_read_as_published_and_follow_each_other() {
        // The example of the format's description: (0, 1, 0), (0, 0, -1), (-1, 0, 0).
        let turn = Turn::read(1 | 2 << 2 | 1 << 5 | 1 << 6).unwrap();
        assert_eq!(turn.of([1, 2, 3]), [2, -3, -1]);
        assert_eq!(Turn::read(1 << 2), Some(Turn::NONE));
        assert_eq!([0b0000, 0b1111, 0b0011, 0b1001 | 1 << 1].map(Turn::read), [None; 4]);
        let around = Turn::read(1 | 1 << 4).unwrap();
        for at in [[1, 2, 3], [-4, 0, 9]] {
            assert_eq!(turn.after(around).of(at), turn.of(around.of(at)));
        }
        assert_eq!(around.after(around).of([1, 2, 3]), [-1, -2, 3]);
    }
}
