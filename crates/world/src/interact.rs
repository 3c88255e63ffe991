//! What blocks do when they are used.

use crate::block::{Facing, WorldBlock};
use crate::light::relight;
use crate::support::partner;
use crate::volume::{Cell, Volume};

/// What came of the use of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseOutcome {
    /// It has no use of its own.
    None,
    /// It is open now, or closed, as a door.
    Toggled(Cell),
    /// It shows a screen, as a chest.
    Opened(Cell),
    /// Somebody wants to sleep in it.
    Bed(Cell),
}

/// Uses the block of a cell, by somebody with this look.
pub(crate) fn interact(volume: &mut Volume, cell: Cell, yaw: i32) -> UseOutcome {
    let block = volume.block(cell);
    let kind = block.kind();
    if kind.opens {
        return UseOutcome::Opened(cell);
    }
    if block.property("part").is_some() {
        return UseOutcome::Bed(cell);
    }
    let Some(open) = block.property("open").filter(|_| kind.toggles) else { return UseOutcome::None };
    let toggled = |block: WorldBlock| block.with("open", if open == "true" { "false" } else { "true" });
    let mut now = toggled(block);
    let ahead = Facing::of_yaw(yaw);
    if open == "false" && kind.id.ends_with("_fence_gate") && block.state().facing == Some(ahead.opposite()) {
        // A gate opens away from whoever opens it.
        now = now.facing(ahead);
    }
    set(volume, cell, now);
    // A command may have set one half alone, and something else where the other one would be.
    if let Some((partner, other)) = partner(cell, block)
        && volume.block(partner) == other
    {
        set(volume, partner, toggled(other));
    }
    UseOutcome::Toggled(cell)
}

fn set(volume: &mut Volume, cell: Cell, block: WorldBlock) {
    let old = volume.replace(cell, block);
    relight(volume, cell, old, block);
}
