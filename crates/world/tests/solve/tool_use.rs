//! Carving and smelting.

use super::compact::CompactKeys;
use super::demos::check_solution;

/// How long a furnace takes for a thing, and some more.
const SMELTING: usize = 220;

#[test]
fn carve_pumpkins() {
    check_solution("carve_pumpkins", |solver| {
        let pumpkin = solver.put_nearby("pumpkin")?;
        solver.select("shears")?;
        solver.aim_at(pumpkin, None)?;
        solver.click(CompactKeys { uses: true, ..CompactKeys::default() })?;
        solver.dig(pumpkin)?;
        solver.pick_up("carved_pumpkin")?;
        solver.craft("jack_o_lantern", None)
    });
}

#[test]
fn smelt_beef() {
    check_solution("smelt_beef", |solver| {
        let furnace = solver.find_block("furnace")?;
        solver.put_in_furnace(furnace, "beef", 1, "coal", 1)?;
        solver.take_from_furnace(SMELTING)
    });
}
