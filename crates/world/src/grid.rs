//! A world as the grid of a build, so that what shows builds can show worlds.

use std::sync::LazyLock;

use voxel::{AIR, Grid, GridSize, Palette};

use crate::block::{Shape, WorldBlock, table};
use crate::volume::{SIZE, Volume};

/// As wide as a world.
const GRID: GridSize = GridSize::G256;
const _: () = assert!(GRID as i32 == SIZE[0] && GRID as i32 == SIZE[2] && GRID as i32 >= SIZE[1]);

impl Volume {
    /// The same cells with the blocks of builds. What their palette lacks is replaced as `data/blocks.toml` says, or left
    /// out, and so are the layers below all that can be seen.
    pub fn grid(&self) -> Grid {
        let numbers = &*NUMBERS;
        let bottom = (0..SIZE[1]).find(|&y| !self.is_filled(y)).map_or(0, |lowest| lowest - 1);
        Grid::from_fn(GRID, |cell| match cell.map(|at| at as i32) {
            [_, y, _] if y < bottom => AIR,
            cell => numbers[usize::from(self.block(cell).0)],
        })
    }

    /// Whether nobody can see into a layer.
    fn is_filled(&self, y: i32) -> bool {
        let is_dark = |block: WorldBlock| block.state().shape == Shape::Cube && block.state().filter == 15;
        (0..SIZE[2]).all(|z| (0..SIZE[0]).all(|x| is_dark(self.block([x, y, z]))))
    }
}

/// The number in the palette of builds for each state.
static NUMBERS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let table = table();
    let of_kind = |kind: usize| {
        let same = palette_number(table.kinds[kind].id);
        same.or_else(|| table.looks[kind].build.as_deref().and_then(palette_number)).unwrap_or(AIR)
    };
    table.states.iter().map(|state| of_kind(state.kind)).collect()
});

/// The number that the palette of builds has for a block with an id of Minecraft.
pub(crate) fn palette_number(id: &str) -> Option<u8> {
    let is_it = |block: &voxel::Block| {
        let name = block.minecraft();
        name.strip_prefix("minecraft:").and_then(|name| name.split('[').next()) == Some(id)
    };
    let place = Palette::Advanced.blocks().iter().position(is_it)?;
    u8::try_from(place + 1).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::scene::Scene;

    #[test]
    fn a_block_is_shown_as_itself_as_another_or_not_at_all() {
        for (id, shown) in [
            ("air", None),
            ("grass_block", Some("grass_block")),
            ("oak_log", Some("oak_log")),
            ("snow_block", Some("snow")),
            ("water", Some("water")),
            ("redstone_ore", Some("stone")),
            ("bedrock", Some("stone")),
            ("crafting_table", Some("oak_planks")),
            ("birch_leaves", Some("oak_leaves")),
            ("torch", None),
            ("poppy", None),
        ] {
            let number = NUMBERS[usize::from(WorldBlock::of(id).unwrap().0)];
            assert_eq!(voxel::Block::by_number(number).map(|block| block.id.as_str()), shown, "{id}");
        }
        assert!(NUMBERS.len() == table().states.len());
    }

    #[test]
    fn a_scene_has_its_cells_where_the_world_has_them_and_nothing_below_what_can_be_seen() {
        let mut left_out = BTreeSet::new();
        for scene in Scene::ALL {
            let volume = scene.make(0).volume;
            let grid = volume.grid();
            let bounds = grid.stats().bounds.unwrap();
            assert_eq!([bounds.spans()[0], bounds.spans()[2]], [256, 256], "{scene} is as wide as its world");
            let bottom = usize::from(bounds.min[1]);
            let (mut below, mut holes) = (0, 0);
            for (y, z, row) in grid.rows().filter(|(y, ..)| *y < 128) {
                for (x, &number) in row.iter().enumerate() {
                    let block = volume.block([x, y, z].map(|at| at as i32));
                    let shown = NUMBERS[usize::from(block.0)];
                    assert!(
                        number == if y < bottom { AIR } else { shown },
                        "{scene}: {block:?} at {x} {y} {z}"
                    );
                    below += usize::from(y < bottom && shown == AIR);
                    if shown == AIR && !block.is_air() {
                        left_out.insert(block.id());
                    }
                    holes += usize::from(y == bottom && shown == AIR);
                }
            }
            assert_eq!(
                (below, holes),
                (0, 0),
                "{scene}: its lowest layer is closed, and so is what is below"
            );
        }
    }
}
