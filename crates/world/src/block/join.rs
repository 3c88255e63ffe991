//! How blocks join with those around them. It is worked out whenever it is needed, so that a state says nothing of it.

use super::{BlockForm, Facing, Joint, WorldBlock};
use crate::volume::{Cell, Volume};

/// The boxes of a block that stands in a cell.
pub(crate) fn form_at(volume: &Volume, cell: Cell, block: WorldBlock) -> &'static BlockForm {
    let forms = &block.state().forms;
    let number = match block.kind().joint {
        None => 0,
        Some(Joint::Stairs) => corner(volume, cell, block),
        Some(joint) => {
            let mut joined = 0;
            for (bit, to) in Facing::ALL.into_iter().enumerate() {
                joined |= usize::from(joins(joint, block, volume.block(beside(cell, to)), to)) << bit;
            }
            let is_covered = joint == Joint::Wall && !volume.block([cell[0], cell[1] + 1, cell[2]]).is_air();
            joined | usize::from(is_covered) << 4
        }
    };
    &forms[number.min(forms.len() - 1)]
}

fn beside(cell: Cell, to: Facing) -> Cell {
    let step = to.step();
    [cell[0] + step[0], cell[1], cell[2] + step[2]]
}

/// Whether a block joins another one in a direction.
fn joins(joint: Joint, block: WorldBlock, other: WorldBlock, to: Facing) -> bool {
    let kind = other.kind();
    if other.is_air() {
        return false;
    }
    if let (Joint::Fence | Joint::Wall, Some(facing)) = (joint, other.state().facing)
        && kind.id.ends_with("_fence_gate")
    {
        return facing.is_along_x() != to.is_along_x();
    }
    let is_stone = |block: WorldBlock| block.kind().tool == Some(super::ToolKind::Pickaxe);
    let is_alike = match (joint, kind.joint) {
        (Joint::Fence, Some(Joint::Fence)) => is_stone(block) == is_stone(other),
        (Joint::Pane | Joint::Wall, Some(Joint::Pane | Joint::Wall)) => true,
        _ => false,
    };
    let towards = to.opposite().face();
    is_alike
        || (kind.joins
            && kind.joint.is_none_or(|joint| joint == Joint::Stairs)
            && other.has_whole_face(towards))
}

/// Which of the five forms stairs have between others.
fn corner(volume: &Volume, cell: Cell, block: WorldBlock) -> usize {
    let Some(facing) = block.state().facing else { return 0 };
    let half = block.property("half");
    let stairs = |to: Facing| {
        let other = volume.block(beside(cell, to));
        let is_alike = other.kind().joint == Some(Joint::Stairs) && other.property("half") == half;
        if is_alike { other.state().facing } else { None }
    };
    let across = |to: Facing| stairs(to).filter(|other| other.is_along_x() != facing.is_along_x());
    // Stairs that go on beside it keep it straight.
    let may = |to: Facing| stairs(to) != Some(facing);
    if let Some(other) = across(facing)
        && may(other.opposite())
    {
        return if other == facing.left() { 1 } else { 2 };
    }
    if let Some(other) = across(facing.opposite())
        && may(other)
    {
        return if other == facing.left() { 3 } else { 4 };
    }
    0
}
