//! The scene graph of a .vox file: transforms, groups and shapes, which refer to each other by numbers.

use std::collections::HashMap;

use super::{MAX_MODELS, VoxCursor, bad_file};
use crate::diagnostics::Rejection;

const MAX_NODES: usize = 1 << 16;
const MAX_DEPTH: usize = 64;

/// A rotation by quarter turns, mirrored or not: for each axis, the axis that it is taken from and its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    axes: [usize; 3],
    ways: [i64; 3],
}

#[derive(Default)]
pub struct Graph(HashMap<i32, Node>);

pub enum Node {
    /// Moves and rotates its child.
    Transform { child: i32, layer: i32, hidden: bool, rotation: Rotation, by: [i64; 3] },
    /// Later children are drawn over earlier ones.
    Group(Vec<i32>),
    /// The first model of the shape; the others are frames of an animation.
    Shape(Option<i32>),
}

impl Rotation {
    pub const NONE: Self = Self { axes: [0, 1, 2], ways: [1, 1, 1] };

    /// Unpacks a matrix from a byte: two bits each for the nonzero column of the first two rows, then a sign bit for
    /// each row.
    fn read(packed: u8) -> Option<Self> {
        let (first, second) = (usize::from(packed & 3), usize::from(packed >> 2 & 3));
        let third = 3_usize.checked_sub(first + second)?;
        let axes = [first, second, third];
        let is_whole = (0..3).all(|axis| axes.contains(&axis));
        let way = |row: u8| if packed >> (4 + row) & 1 == 0 { 1 } else { -1 };
        is_whole.then_some(Self { axes, ways: [way(0), way(1), way(2)] })
    }

    pub fn apply(self, at: [i64; 3]) -> [i64; 3] {
        std::array::from_fn(|row| self.ways[row] * at[self.axes[row]])
    }

    /// The rotation that applies `other` first, then `self`.
    fn after(self, other: Self) -> Self {
        Self {
            axes: self.axes.map(|axis| other.axes[axis]),
            ways: std::array::from_fn(|row| self.ways[row] * other.ways[self.axes[row]]),
        }
    }
}

impl Node {
    pub(super) fn read(kind: &[u8], at: &mut VoxCursor<'_>) -> Option<(i32, Self)> {
        let id = at.i32()?;
        let hidden = at.hidden()?;
        let node = match kind {
            b"nTRN" => {
                let (child, _reserved, layer) = (at.i32()?, at.i32()?, at.i32()?);
                let [rotation, by] = if at.u32()? > 0 { at.entries([b"_r", b"_t"])? } else { [None; 2] };
                let rotation = rotation.map_or(Some(Rotation::NONE), |text| Rotation::read(parsed(text)?))?;
                let by = by.map_or(Some([0; 3]), point)?;
                Self::Transform { child, layer, hidden, rotation, by }
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

    pub fn keep(&mut self, id: i32, node: Node) -> Result<(), Rejection> {
        if self.0.len() == MAX_NODES && !self.0.contains_key(&id) {
            return Err(bad_file(format!("its scene has more than {MAX_NODES} nodes")));
        }
        self.0.insert(id, node);
        Ok(())
    }

    /// The visible models, each with its rotation and the position of its middle.
    pub fn shown(
        &self,
        is_hidden: impl Fn(i32) -> bool,
    ) -> Result<Vec<(i32, Rotation, [i64; 3])>, Rejection> {
        let mut shown = Vec::new();
        let mut visited = 0;
        let mut open = vec![(0, 0, Rotation::NONE, [0; 3])];
        while let Some((id, depth, rotation, at)) = open.pop() {
            visited += 1;
            if depth > MAX_DEPTH {
                let why = format!("its scene is nested more than {MAX_DEPTH} levels deep or contains itself");
                return Err(bad_file(why));
            }
            if visited > MAX_NODES {
                return Err(too_many());
            }
            let missing = || bad_file(format!("its scene refers to node {id}, which does not exist"));
            match self.0.get(&id).ok_or_else(missing)? {
                Node::Transform { hidden: true, .. } => {}
                Node::Transform { layer, .. } if is_hidden(*layer) => {}
                Node::Transform { child, rotation: own, by, .. } => {
                    let way = rotation.apply(*by);
                    let at = std::array::from_fn(|axis| at[axis] + way[axis]);
                    open.push((*child, depth + 1, rotation.after(*own), at));
                }
                // Later children are drawn over earlier ones, so they are visited in the order of the list.
                Node::Group(children) if children.len() > MAX_NODES - open.len().min(MAX_NODES) => {
                    return Err(too_many());
                }
                Node::Group(children) => {
                    open.extend(children.iter().rev().map(|&child| (child, depth + 1, rotation, at)));
                }
                Node::Shape(model) => {
                    if shown.len() == MAX_MODELS {
                        let why = format!("its scene shows models in more than {MAX_MODELS} places");
                        return Err(bad_file(why));
                    }
                    shown.extend(model.map(|model| (model, rotation, at)));
                }
            }
        }
        Ok(shown)
    }
}

fn too_many() -> Rejection {
    bad_file(format!("its scene visits its nodes more than {MAX_NODES} times"))
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
        let rejection = graph.keep(-1, Node::Shape(None)).unwrap_err();
        assert_eq!(rejection.message, "the file cannot be read: its scene has more than 65536 nodes");
    }

    #[test]
    fn turns_are_read_as_published_and_follow_each_other() {
        // The example of the format's description: (0, 1, 0), (0, 0, -1), (-1, 0, 0).
        let rotation = Rotation::read(1 | 2 << 2 | 1 << 5 | 1 << 6).unwrap();
        assert_eq!(rotation.apply([1, 2, 3]), [2, -3, -1]);
        assert_eq!(Rotation::read(1 << 2), Some(Rotation::NONE));
        assert_eq!([0b0000, 0b1111, 0b0011, 0b1001 | 1 << 1].map(Rotation::read), [None; 4]);
        let around = Rotation::read(1 | 1 << 4).unwrap();
        for at in [[1, 2, 3], [-4, 0, 9]] {
            assert_eq!(rotation.after(around).apply(at), rotation.apply(around.apply(at)));
        }
        assert_eq!(around.after(around).apply([1, 2, 3]), [-1, -2, 3]);
    }
}
