//! What happens in a world that tasks may count.

/// Something that a player has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    pub kind: EventKind,
    /// The id of the block or item that it was done to.
    pub object: &'static str,
    /// How often, or to how many.
    pub count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    CraftItem,
    MineBlock,
    PickupItem,
    /// Also placing a block.
    UseItem,
    KillEntity,
    DropItem,
    Open,
    Sleep,
    Leash,
    Hook,
    Ride,
    Smelt,
    Brew,
    Enchant,
    Mobs,
}

impl Event {
    pub fn new(kind: EventKind, object: &'static str) -> Self {
        Self { kind, object, count: 1 }
    }
}

impl EventKind {
    pub const ALL: [Self; 15] = [
        Self::CraftItem,
        Self::MineBlock,
        Self::PickupItem,
        Self::UseItem,
        Self::KillEntity,
        Self::DropItem,
        Self::Open,
        Self::Sleep,
        Self::Leash,
        Self::Hook,
        Self::Ride,
        Self::Smelt,
        Self::Brew,
        Self::Enchant,
        Self::Mobs,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::CraftItem => "craft_item",
            Self::MineBlock => "mine_block",
            Self::PickupItem => "pickup_item",
            Self::UseItem => "use_item",
            Self::KillEntity => "kill_entity",
            Self::DropItem => "drop_item",
            Self::Open => "open",
            Self::Sleep => "sleep",
            Self::Leash => "leash",
            Self::Hook => "hook",
            Self::Ride => "ride",
            Self::Smelt => "smelt",
            Self::Brew => "brew",
            Self::Enchant => "enchant",
            Self::Mobs => "mobs",
        }
    }

    /// The kind with a name, or with one of its other names: `pickup`, `drop`, `open_chest`.
    pub fn of(name: &str) -> Option<Self> {
        let name = match name {
            "pickup" => "pickup_item",
            "drop" => "drop_item",
            "open_chest" => "open",
            name => name,
        };
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
