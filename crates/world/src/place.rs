//! Where and how blocks are put: which state an item's block takes, against which face, with which look.

use crate::aim::Target;
use crate::block::{Axis, BlockSupport, Facing, Shape, Turned, WorldBlock};
use crate::support::{add, has_support, partner};
use crate::volume::{Cell, Volume, contains};

/// Where a block is put.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacementContext {
    pub target: Target,
    /// The look of whoever puts it, in thousandths of a degree, and as a direction.
    pub yaw: i32,
    pub look: [f64; 3],
}

/// The cell that a block is put into, with what decides on its state there.
struct PlacementCell<'a> {
    volume: &'a Volume,
    cell: Cell,
    /// Whether it is the cell that is looked at, and not the one beside it.
    is_replaced: bool,
    context: &'a PlacementContext,
}

/// The block that an item puts. None if it puts none.
pub fn block_of_item(id: &str) -> Option<WorldBlock> {
    let id = id.strip_prefix("minecraft:").unwrap_or(id);
    let of = match id {
        "wheat_seeds" => "wheat",
        "flint_and_steel" | "fire_charge" => return None,
        // No item has the name of what stands for it.
        "wheat" | "air" | "water" | "lava" | "fire" | "nether_portal" => return None,
        _ if id.contains("wall_") || id.starts_with("potted_") => return None,
        _ => id,
    };
    WorldBlock::of(of)
}

/// The cells that a block fills when it is put somewhere, with their states. None if it cannot be put there.
pub(crate) fn placement(
    volume: &Volume,
    block: WorldBlock,
    context: &PlacementContext,
) -> Option<Vec<(Cell, WorldBlock)>> {
    let Target { cell: aimed, face, .. } = context.target;
    if let Some(joined) = added(volume.block(aimed), block, Some(context)) {
        return Some(vec![(aimed, joined)]);
    }
    let is_replaced = can_replace(volume.block(aimed), block);
    let cell = if is_replaced { aimed } else { add(aimed, face) };
    if !contains(cell) {
        return None;
    }
    if let Some(joined) = added(volume.block(cell), block, None) {
        return Some(vec![(cell, joined)]);
    }
    if !can_replace(volume.block(cell), block) {
        return None;
    }
    let state = PlacementCell { volume, cell, is_replaced, context }.state_of(block)?;
    let mut cells = vec![(cell, state)];
    if let Some((at, other)) = partner(cell, state) {
        if !contains(at) || !can_replace(volume.block(at), block) {
            return None;
        }
        cells.push((at, other));
    }
    Some(cells)
}

/// Whether a block may be put in place of another one.
fn can_replace(old: WorldBlock, block: WorldBlock) -> bool {
    let is_thin = old.property("layers").is_none_or(|layers| layers == "1");
    old.kind().replaceable && is_thin && (old.is_liquid() || old.is_air() || old.id() != block.id())
}

/// A block that takes up another one of its kind: a slab or layers of snow. With a context, if it is looked at where the
/// other one fits.
fn added(old: WorldBlock, block: WorldBlock, context: Option<&PlacementContext>) -> Option<WorldBlock> {
    if old.id() != block.id() {
        return None;
    }
    let up = context.map(|context| context.target.face[1]);
    if let Some(filled) = old.property("type") {
        let fits = match (filled, up) {
            ("double", _) => false,
            (_, None) => true,
            ("bottom", Some(up)) => up == 1 || up == 0 && context.is_some_and(is_high),
            (_, Some(up)) => up == -1 || up == 0 && !context.is_some_and(is_high),
        };
        return fits.then(|| old.with("type", "double"));
    }
    let layers: u8 = old.property("layers")?.parse().ok()?;
    (layers < 8 && up.is_none_or(|up| up == 1)).then(|| old.with("layers", &(layers + 1).to_string()))
}

/// Whether the point that is looked at lies in the upper half of its cell.
fn is_high(context: &PlacementContext) -> bool {
    let height = context.target.point[1];
    height - height.floor() > 0.5
}

impl PlacementCell<'_> {
    /// The state that a block takes. None if nothing supports it.
    fn state_of(&self, block: WorldBlock) -> Option<WorldBlock> {
        let Self { volume, cell, is_replaced, context } = *self;
        let face = context.target.face;
        let ahead = Facing::of_yaw(context.yaw);
        let outward = Facing::of_step(face);
        let kind = block.kind();
        if kind.support == BlockSupport::Wall {
            return self.at_wall(block);
        }
        if let Some(wall) = kind.on_wall.and_then(WorldBlock::of) {
            let standing = standing(block, context.yaw);
            let stands = || has_support(volume, cell, standing).then_some(standing);
            let hangs = || self.at_wall(wall);
            let prefers_floor = if is_replaced { context.look[1] < -0.7 } else { face == [0, 1, 0] };
            return if prefers_floor { stands().or_else(hangs) } else { hangs().or_else(stands) };
        }
        if kind.support == BlockSupport::Lantern {
            let hanging = block.with("hanging", "true");
            let prefers_ceiling =
                if face[1] == 0 || is_replaced { context.look[1] > 0.0 } else { face[1] < 0 };
            let order = if prefers_ceiling { [hanging, block] } else { [block, hanging] };
            return order.into_iter().find(|state| has_support(volume, cell, *state));
        }
        let mut state = match kind.turned {
            Turned::Back => block.facing(ahead.opposite()),
            Turned::Ahead => block.facing(ahead),
            Turned::Right => block.facing(ahead.right()),
            Turned::Outward => block.facing(outward.unwrap_or(ahead.opposite())),
        };
        if block.property("facing").is_some() && block.with("facing", "up") != block {
            state = block.with("facing", directed(kind.turned, context));
        }
        let is_upper = face[1] < 0 || face[1] == 0 && is_high(context);
        let half = if is_upper { "top" } else { "bottom" };
        state = match block.property("type") {
            Some(_) => state.with("type", half),
            None => state.with("half", half),
        };
        state = state.along(match face {
            [0, _, 0] => Axis::Y,
            [_, 0, 0] => Axis::X,
            _ => Axis::Z,
        });
        if block.property("hinge").is_some() {
            state = state.with("hinge", hinge_of(volume, cell, ahead, context.target.point));
        }
        state = state.with("face", ["ceiling", "wall", "floor"][(face[1] + 1).clamp(0, 2) as usize]);
        state = standing(state, context.yaw);
        has_support(volume, cell, state).then_some(state)
    }

    /// What hangs on a wall: at the face that is looked at, or else at the one that the look is nearest to.
    fn at_wall(&self, block: WorldBlock) -> Option<WorldBlock> {
        let Self { volume, cell, is_replaced, context } = *self;
        let ahead = Facing::of_yaw(context.yaw);
        let [x, _, z] = context.look;
        let turns_right = match ahead {
            Facing::North => x > 0.0,
            Facing::South => x < 0.0,
            Facing::West => z < 0.0,
            Facing::East => z > 0.0,
        };
        let aside = if turns_right { ahead.right() } else { ahead.left() };
        let looked_at = if is_replaced { None } else { Facing::of_step(context.target.face) };
        let towards = [ahead, aside, aside.opposite(), ahead.opposite()].map(Facing::opposite);
        let order = looked_at.into_iter().chain(towards);
        order.map(|facing| block.facing(facing)).find(|state| has_support(volume, cell, *state))
    }
}

/// The value of a facing that may be up or down.
fn directed(turned: Turned, context: &PlacementContext) -> &'static str {
    let ahead = Facing::of_yaw(context.yaw);
    let (up, level) = match turned {
        Turned::Outward => {
            (context.target.face[1], Facing::of_step(context.target.face).unwrap_or(ahead.opposite()))
        }
        _ if context.look[1].abs() > 0.707 => (if context.look[1] > 0.0 { -1 } else { 1 }, ahead),
        _ => (0, ahead.opposite()),
    };
    match up {
        1 => "up",
        -1 => "down",
        _ => level.name(),
    }
}

/// A sign or a banner, turned to whoever puts it.
fn standing(block: WorldBlock, yaw: i32) -> WorldBlock {
    let rotation = ((yaw + 180_000).rem_euclid(360_000) * 2 + 22_500) / 45_000 % 16;
    block.with("rotation", &rotation.to_string())
}

/// At which side a door has its hinge: beside another door, away from it; else at the side with more walls; else where it
/// is looked at.
fn hinge_of(volume: &Volume, cell: Cell, ahead: Facing, point: [f64; 3]) -> &'static str {
    let upper = add(cell, [0, 1, 0]);
    let beside = |to: Facing| [cell, upper].map(|cell| volume.block(add(cell, to.step())));
    let walls = |to| beside(to).into_iter().filter(|block| is_wall(*block)).count() as i32;
    let is_door = |to| beside(to)[0].is("half", "lower") && beside(to)[0].property("hinge").is_some();
    let (left, right) = (ahead.left(), ahead.right());
    let lean = walls(right) - walls(left);
    match (is_door(left), is_door(right)) {
        (true, false) => return "right",
        (false, true) => return "left",
        _ if lean > 0 => return "right",
        _ if lean < 0 => return "left",
        _ => {}
    }
    let step = right.step();
    let to_right: f64 =
        [0, 2].map(|axis| (point[axis] - f64::from(cell[axis]) - 0.5) * f64::from(step[axis])).iter().sum();
    if to_right > 0.0 { "right" } else { "left" }
}

fn is_wall(block: WorldBlock) -> bool {
    block.state().shape == Shape::Cube && block.state().solid
}

#[cfg(test)]
mod tests;
