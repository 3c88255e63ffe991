//! The spec: boxes, lines and blocks as they were written, in a few bytes per entry.

/// A spec as it was read. Its types are not looked up in a palette yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Spec {
    pub boxes: Vec<Cuboid>,
    pub lines: Vec<Segment>,
    pub blocks: Vec<SingleBlock>,
    /// The normalised names of types. Entries have an index into them. A name is there twice if it was spelled in two
    /// ways.
    pub kinds: Vec<String>,
    pub has_version: bool,
    /// Whether any of `boxes`, `lines` and `blocks` was there, even if it was empty.
    pub has_list: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cuboid {
    pub from: [i64; 3],
    pub to: [i64; 3],
    pub kind: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub from: [i64; 3],
    pub to: [i64; 3],
    pub kind: u16,
}

/// A single block. Coordinates far outside are clamped, which keeps them outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SingleBlock {
    pub at: [i16; 3],
    pub kind: u16,
}

impl Spec {
    /// The number of boxes, lines and blocks together.
    pub fn entries(&self) -> usize {
        self.boxes.len() + self.lines.len() + self.blocks.len()
    }
}

impl SingleBlock {
    pub fn new(at: [i64; 3], kind: u16) -> Self {
        let near = |v: i64| v.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        Self { at: at.map(near), kind }
    }

    pub fn is_inside(self, edge: i64) -> bool {
        self.at.iter().all(|&v| (0..edge).contains(&i64::from(v)))
    }
}
