//! Dropping, looking, stacking and throwing.

use super::compact::CompactKeys;
use super::demos::check_solution;
use super::look::HALF_BIN;

#[test]
fn drop_an_item() {
    check_solution("drop_an_item", |solver| {
        solver.step(CompactKeys { drop: true, ..CompactKeys::default() })
    });
}

#[test]
fn look_at_the_sky() {
    check_solution("look_at_the_sky", |solver| {
        let yaw = solver.world().player().yaw;
        solver.turn_to([-75_000, yaw], HALF_BIN)?;
        solver.wait(25)
    });
}

#[test]
fn stacking_acacia_fence() {
    check_solution("stacking_acacia_fence", |solver| {
        // The upper side of the second fence must be lower than the eyes.
        let [x, y, z] = solver.dig_hole_nearby()?;
        (0..3).try_for_each(|up| solver.go_and_put("acacia_fence", [x, y + up, z]))
    });
}

#[test]
fn throw_a_snowball() {
    check_solution("throw_a_snowball", |solver| {
        solver.select("snowball")?;
        solver.click(CompactKeys { uses: true, ..CompactKeys::default() })
    });
}
