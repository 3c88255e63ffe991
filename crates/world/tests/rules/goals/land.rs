//! Goals about the land, and about where the player is and looks.

use world::Cell;

use super::{Yard, cells, check};
use crate::FLOOR;

#[test]
fn light_counts_where_one_can_stand() {
    let torches =
        |away: i32| Yard::new().put("torch", &[[-4 + away, 0, -4], [-4, 0, -4 + away], [-4 - away, 0, -4]]);
    check(
        "lit: {cells: 100, light: 8, within: 8}",
        &[torches(4), torches(3), Yard::new().put("glowstone", &[[-8, 0, -4], [0, 0, -4], [-4, 0, 0]])],
        &[
            Yard::new(),
            Yard::new().put("torch", &[[-4, 0, -4]]),
            torches(20),
            Yard::new().put("torch", &[[-4, 5, -4]]),
        ],
    );
}

#[test]
fn tunnels_are_straight_level_and_covered() {
    let rock = || Yard::new().found("stone", &cells([0, 0, 0], [4, 3, 6]));
    let way = cells([2, 1, 0], [2, 1, 3]);
    check(
        "tunnel: {length: 4}",
        &[
            rock().dig(&way),
            rock().dig(&cells([0, 1, 3], [4, 1, 3])),
            rock().dig(&cells([2, 0, 0], [2, 1, 4])),
        ],
        &[
            rock().dig(&way[..3]),
            rock().dig(&cells([2, 3, 0], [2, 3, 6])),
            rock().dig(&[[2, 1, 0], [2, 1, 1], [2, 2, 2], [2, 2, 3]]),
            rock().dig(&way).put("stone", &way[1..2]),
            Yard::new().found("bricks", &cells([2, 4, 0], [2, 4, 3])),
        ],
    );
}

#[test]
fn holes_are_dug_before_they_are_filled() {
    let yard = || Yard::new().found("dirt", &cells([0, -6, 0], [2, -1, 2]));
    let hole = [[1, -1, 1], [1, -2, 1], [1, -3, 1]];
    check(
        "dig_and_fill: {depth: 3, fill: 1}",
        &[
            yard().dig(&hole).put("dirt", &hole[2..]),
            yard().dig(&hole).put("dirt", &hole[..1]),
            yard().dig(&hole).dig(&[[1, -4, 1]]).put("stone", &[[1, -4, 1]]),
        ],
        &[
            yard().dig(&hole),
            yard().dig(&hole[..2]).put("dirt", &hole[1..2]),
            yard().dig(&hole[..2]).put("dirt", &hole[1..2]).dig(&hole[1..2]),
            yard().dig(&[[1, -1, 1], [1, -1, 2], [1, -2, 2]]).put("dirt", &[[1, -1, 1]]),
            yard().dig(&hole).put("dirt", &[[1, 0, 1]]),
            // What grows on the ground is no part of a hole.
            yard().found("grass", &[[1, 0, 1]]).dig(&[[1, 0, 1], hole[0], hole[1]]).put("dirt", &hole[1..2]),
        ],
    );
}

#[test]
fn looks_meet_what_is_near_enough() {
    // The player looks to +z, and the corner of the yard is four cells off in x and z.
    let at = |id: &'static str, cell: Cell| Yard::new().found(id, &[cell]);
    check(
        "look_at: {of: [bricks, water], within: 6}",
        &[
            at("bricks", [-4, 1, 0]),
            at("water", [-4, 1, 0]),
            Yard::new().found("bricks", &[[-4, -1, -2]]).look(40.0),
        ],
        &[
            at("stone", [-4, 1, 0]),
            at("bricks", [-4, 1, 5]),
            at("bricks", [-4, 1, 0]).found("glass", &[[-4, 1, -1]]),
            at("water", [-4, 1, 0]).found("glass", &[[-4, 1, -1]]),
            at("bricks", [-4, 1, 0]).look(60.0),
        ],
    );
    check(
        "look_up: {degrees: 60}",
        &[Yard::new().look(-60.0), Yard::new().look(-80.0), Yard::new().look(-90.0)],
        &[Yard::new(), Yard::new().look(-59.9), Yard::new().look(60.0)],
    );
}

#[test]
fn above_is_higher_ground_than_the_start() {
    let hill =
        |height: i32| Yard::new().found("dirt", &cells([0, 0, 0], [0, height - 1, 0])).stand([0, height, 0]);
    let mut leaping = Yard::new();
    leaping.world.place_player([128.5, f64::from(FLOOR) + 9.0, 128.5], 0, 0);
    check("above: {cells: 5}", &[hill(5), hill(6), hill(20)], &[Yard::new(), hill(4), leaping]);
}

#[test]
fn a_part_of_a_scene_is_known_by_the_land_around() {
    // The player stands four cells off in x and z.
    let trunks = |count: i32, id: &str| Yard::new().found(id, &cells([0, 0, 0], [count - 1, 2, 0]));
    check(
        "in_scene: {of: '#logs', count: 12, within: 7}",
        &[
            trunks(4, "oak_log"),
            trunks(2, "oak_log").found("birch_log", &cells([0, 0, -2], [1, 2, -2])),
            trunks(5, "birch_log").put("oak_log", &[[0, 4, 0]]),
        ],
        &[
            Yard::new(),
            trunks(3, "oak_log"),
            trunks(4, "oak_planks"),
            trunks(3, "oak_log").put("oak_log", &cells([3, 0, 0], [3, 2, 0])),
            trunks(4, "oak_log").stand([-12, 0, 0]),
            trunks(4, "oak_log").dig(&[[0, 0, 0]]),
        ],
    );
    check(
        "in_scene: {of: [stone, torch, bricks], count: 3, kinds: 2, within: 3}",
        &[
            Yard::new().found("torch", &[[-4, 0, -2]]),
            Yard::new().found("bricks", &[[-2, 0, -4]]),
            Yard::new().found("bricks", &[[0, 0, 0]]).stand([0, 1, 0]),
        ],
        &[Yard::new(), Yard::new().found("torch", &[[-4, 0, 2]]), Yard::new().put("torch", &[[-4, 0, -2]])],
    );
}
