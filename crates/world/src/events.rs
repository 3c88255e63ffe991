//! What happens in a world that tasks may count.

/// Something that a player has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    pub kind: EventKind,
    /// The id of the block or item that it was done to.
    pub object: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    MineBlock,
    UseItem,
}

impl EventKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::MineBlock => "mine_block",
            Self::UseItem => "use_item",
        }
    }
}
