//! Being in a part of a scene, which is known by the blocks of the land that lie around.

use super::InScene;
use super::stacks::has_enough;
use crate::player::cell_of;
use crate::task::marks::Marks;
use crate::world::World;

impl InScene {
    /// Whether enough such blocks, which the player has not placed, lie within so many cells of the feet along each axis.
    pub fn holds(&self, world: &World, marks: &Marks) -> bool {
        let [x, y, z] = cell_of(world.player.position);
        let range = |middle: i32| middle - self.within as i32..=middle + self.within as i32;
        let cells = range(y)
            .flat_map(|y| range(z).map(move |z| [y, z]))
            .flat_map(|[y, z]| range(x).map(move |x| [x, y, z]))
            .filter(|cell| !marks.placed().contains(cell));
        has_enough(&self.of, [self.count, self.kinds], world, cells)
    }
}
