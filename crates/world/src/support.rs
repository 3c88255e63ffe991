//! What blocks need to stay where they are, and what happens when they lose it.

use std::collections::VecDeque;

use crate::block::{BlockSupport, Facing, Shape, WorldBlock};
use crate::light::relight;
use crate::volume::{Cell, Volume};

/// The faces to -y and +y.
const BOTTOM: usize = 2;
const TOP: usize = 3;

const AROUND: [[i32; 3]; 6] = [[0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1], [-1, 0, 0], [1, 0, 0]];

/// Puts a block into a cell and corrects the light. What has lost its support by that breaks, and what falls falls.
/// Returns what has broken, with its cells, in the order in which it broke.
pub(crate) fn change(volume: &mut Volume, cell: Cell, block: WorldBlock) -> Vec<(Cell, WorldBlock)> {
    change_all(volume, &[(cell, block)])
}

/// As [`change`], for blocks that need each other, such as the halves of a door.
pub(crate) fn change_all(volume: &mut Volume, changes: &[(Cell, WorldBlock)]) -> Vec<(Cell, WorldBlock)> {
    let mut broken = Vec::new();
    let mut touched = VecDeque::new();
    for (cell, block) in changes {
        set(volume, *cell, *block);
        touched.push_back(*cell);
    }
    while let Some(origin) = touched.pop_front() {
        let around = AROUND.map(|step| add(origin, step));
        for cell in [origin].into_iter().chain(around) {
            let block = volume.block(cell);
            if block.is_air() || block.state().shape == Shape::Cube && !block.kind().falls {
                continue;
            }
            // What a command puts where nothing holds it stays until something changes beside it.
            if cell != origin && !stays(volume, cell, block) {
                set(volume, cell, WorldBlock::AIR);
                broken.push((cell, block));
                touched.push_back(cell);
            } else if block.kind().falls {
                fall(volume, cell, block, &mut touched);
            }
        }
    }
    broken
}

fn set(volume: &mut Volume, cell: Cell, block: WorldBlock) {
    let old = volume.replace(cell, block);
    relight(volume, cell, old, block);
}

/// Lets sand fall to the next block that it cannot replace, all the way at once. Below the world, it is gone.
fn fall(volume: &mut Volume, cell: Cell, block: WorldBlock, touched: &mut VecDeque<Cell>) {
    let mut to = cell;
    while to[1] > 0 && volume.block(below(to)).kind().replaceable {
        to = below(to);
    }
    if to == cell {
        return;
    }
    set(volume, cell, WorldBlock::AIR);
    touched.push_back(cell);
    if to[1] > 0 {
        set(volume, to, block);
        touched.push_back(to);
    }
}

/// Whether a block that stands in a cell has what it needs.
pub(crate) fn stays(volume: &Volume, cell: Cell, block: WorldBlock) -> bool {
    if let Some((partner, wanted)) = partner(cell, block)
        && volume.block(partner) != wanted
    {
        // Halves open and turn together, so that another state is another block.
        return false;
    }
    let is_upper = block.is("half", "upper");
    is_upper || has_support(volume, cell, block)
}

/// The other half of a block that fills two cells, and where it is.
pub(crate) fn partner(cell: Cell, block: WorldBlock) -> Option<(Cell, WorldBlock)> {
    if let Some(half) = block.property("half")
        && let Some((step, other)) = [("lower", (1, "upper")), ("upper", (-1, "lower"))]
            .into_iter()
            .find_map(|(name, other)| (name == half).then_some(other))
    {
        return Some((add(cell, [0, step, 0]), block.with("half", other)));
    }
    let facing = block.state().facing?;
    match block.property("part")? {
        "foot" => Some((add(cell, facing.step()), block.with("part", "head"))),
        _ => Some((add(cell, facing.opposite().step()), block.with("part", "foot"))),
    }
}

/// Whether a block that is put into a cell holds there. Of two halves, it is the lower one.
pub(crate) fn has_support(volume: &Volume, cell: Cell, block: WorldBlock) -> bool {
    let ground = volume.block(below(cell));
    let is_one_of = |ids: &[&str]| ids.contains(&ground.id());
    match block.kind().support {
        BlockSupport::Nothing => true,
        BlockSupport::Below => !ground.is_air() && !ground.is_liquid(),
        BlockSupport::Floor => ground.has_whole_face(TOP),
        BlockSupport::Post => ground.has_middle_of_face(TOP),
        BlockSupport::Lantern if block.is("hanging", "true") => {
            volume.block(add(cell, [0, 1, 0])).has_middle_of_face(BOTTOM)
        }
        BlockSupport::Lantern => ground.has_middle_of_face(TOP),
        BlockSupport::Wall => block.state().facing.is_some_and(|facing| {
            volume.block(add(cell, facing.opposite().step())).has_whole_face(facing.face())
        }),
        BlockSupport::Soil => is_soil(ground) || ground.id() == "farmland",
        BlockSupport::Desert => {
            is_soil(ground) || is_one_of(&["sand", "red_sand"]) || ground.id().ends_with("terracotta")
        }
        BlockSupport::Farmland => ground.id() == "farmland",
        BlockSupport::SoulSand => ground.id() == "soul_sand",
        BlockSupport::Cane => {
            let is_wet = |to: Facing| is_water(volume.block(add(below(cell), to.step())));
            let is_shore = is_soil(ground) || is_one_of(&["sand", "red_sand"]);
            ground.id() == block.id() || is_shore && Facing::ALL.into_iter().any(is_wet)
        }
        BlockSupport::Cactus => {
            let is_open = |to: Facing| !volume.block(add(cell, to.step())).state().solid;
            (ground.id() == block.id() || is_one_of(&["sand", "red_sand"]))
                && Facing::ALL.into_iter().all(is_open)
        }
        BlockSupport::Water => is_water(ground) && volume.block(cell).id() != "water",
    }
}

fn is_soil(block: WorldBlock) -> bool {
    ["grass_block", "dirt", "coarse_dirt", "podzol"].contains(&block.id())
}

fn is_water(block: WorldBlock) -> bool {
    block.id() == "water"
}

fn below([x, y, z]: Cell) -> Cell {
    [x, y - 1, z]
}

pub(crate) fn add(cell: Cell, step: [i32; 3]) -> Cell {
    [cell[0] + step[0], cell[1] + step[1], cell[2] + step[2]]
}
