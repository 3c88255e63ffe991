//! How things are crafted.

use super::demos::check_solution;

#[test]
fn craft_oak_planks() {
    check_solution("craft_oak_planks", |solver| solver.craft("oak_planks", None));
}
