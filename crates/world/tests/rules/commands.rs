//! What the commands do with which tasks begin.

use std::sync::{Arc, LazyLock};

use world::{Cell, Episode, Terrains, WorldTask};

use super::block;

static TERRAINS: LazyLock<Terrains> = LazyLock::new(Terrains::default);

fn file(commands: &[&str]) -> String {
    let commands: String =
        commands.iter().map(|command| format!("- '{}'\n", command.replace('\'', "''"))).collect();
    format!("text: Do it.\ncustom_init_commands:\n{commands}goal:\n  look_up: {{degrees: 90}}\n")
}

/// The start of a meadow on which commands were carried out.
fn begun(commands: &[&str]) -> Episode {
    let task = WorldTask::parse("test", &file(commands)).unwrap_or_else(|error| panic!("{error}"));
    Episode::new(&Arc::new(task), 1, &TERRAINS)
}

/// A cell counted from the one in which the player stands.
fn id_at(episode: &Episode, by: Cell) -> &'static str {
    let [x, y, z] = episode.world().player().position.map(|at| at.floor() as i32);
    episode.world().volume().block([x + by[0], y + by[1], z + by[2]]).id()
}

#[test]
fn items_are_given_and_put_into_slots() {
    let episode = begun(&[
        "/give @s minecraft:oak_log 70",
        "give @p diamond_sword{Enchantments:[{id:\"sharpness\",lvl:5}]}",
        "/give @a minecraft:potion{Potion:\"minecraft:water\"}",
        "/replaceitem entity @s weapon.offhand minecraft:shield",
        "/replaceitem entity @s hotbar.8 bread 5",
        "/replaceitem entity @s inventory.26 apple",
        "/replaceitem entity @s hotbar.0 air",
    ]);
    let inventory = episode.world().inventory();
    let found: Vec<(usize, &str, u8)> = (0..36)
        .filter_map(|slot| inventory.slot(slot).map(|stack| (slot, stack.item.id(), stack.count)))
        .collect();
    let expected = [
        (1, "oak_log", 6),
        (2, "diamond_sword", 1),
        (3, "water_bottle", 1),
        (8, "bread", 5),
        (35, "apple", 1),
    ];
    assert_eq!(found, expected);
    assert_eq!(inventory.off_hand.unwrap().item.id(), "shield");
}

#[test]
fn blocks_are_set_from_where_the_player_is() {
    let episode = begun(&[
        "/setblock ~1 ~ ~ stone",
        "/execute as @s at @s run setblock ~-1 ~ ~0.2 minecraft:ladder[facing=east]",
        "/setblock ~1 ~ ~ bricks keep",
        "/setblock ~1 ~1 ~ bricks keep",
        "/setblock 10 100 12 glass",
    ]);
    assert_eq!([id_at(&episode, [1, 0, 0]), id_at(&episode, [1, 1, 0])], ["stone", "bricks"]);
    let facing = world::block::Facing::East;
    let [x, y, z] = episode.world().player().position.map(|at| at.floor() as i32);
    assert_eq!(episode.world().volume().block([x - 1, y, z]), block("ladder").facing(facing));
    assert_eq!(episode.world().volume().block([10, 100, 12]), block("glass"));
}

#[test]
fn boxes_are_filled_whole_hollow_or_as_outlines() {
    let episode = begun(&[
        "/fill ~2 ~ ~ ~4 ~2 ~2 stone",
        "/fill ~2 ~ ~ ~4 ~2 ~2 glass hollow",
        "/fill ~2 ~4 ~ ~4 ~6 ~2 dirt",
        "/fill ~4 ~6 ~2 ~2 ~4 ~ glass outline",
        "/fill ~2 ~ ~ ~4 ~2 ~2 bricks keep",
    ]);
    let found = [[2, 0, 0], [3, 1, 1], [3, 5, 1], [2, 4, 0]].map(|cell| id_at(&episode, cell));
    assert_eq!(found, ["glass", "bricks", "dirt", "glass"]);
}

#[test]
fn carets_go_along_the_look() {
    // To the left of a look to +z is +x.
    let episode = begun(&["/tp @s ~ ~ ~ 0 0", "/setblock ^2 ^1 ^3 glass"]);
    assert_eq!(id_at(&episode, [2, 1, 3]), "glass");
}

#[test]
fn time_and_place_are_set() {
    for (command, time) in [
        ("/time set night", 13_000),
        ("/time set 18000", 18_000),
        ("/time set noon", 6000),
        ("/time add 2s", 6040),
    ] {
        assert_eq!(begun(&[command]).world().time(), time, "{command}");
    }
    let episode = begun(&["/tp @s 130.5 ~2 131 90 ~-30"]);
    let player = episode.world().player();
    assert_eq!((player.position, player.yaw, player.pitch), ([130.5, 50.0, 131.0], 90_000, -30_000));
}

#[test]
fn whoever_is_put_far_away_can_be_saved() {
    let commands = ["/tp @s ~ 99999 ~", "/summon item 99999 99999 99999 {Item:{id:\"bread\"}}"];
    let episode = begun(&commands);
    assert_eq!(episode.world().player().position[1], 1000.0);
    assert_eq!(episode.world().things().items().len(), 1);
    assert!(Episode::load(&episode.save(), &TERRAINS).is_ok());
}

#[test]
fn items_lie_about_and_in_chests() {
    let episode = begun(&[
        "/summon item ~2 ~1 ~ {Item:{id:\"minecraft:bread\",Count:3b}}",
        "/setblock ~3 ~ ~ minecraft:chest[facing=west]{Items:[{Slot:4b,id:\"minecraft:apple\",Count:2b}]}",
    ]);
    let world = episode.world();
    assert_eq!((world.things().items().len(), world.things().items()[0].stack.count), (1, 3));
    let [x, y, z] = world.player().position.map(|at| at.floor() as i32);
    let chest = world.containers().get([x + 3, y, z]).unwrap();
    assert_eq!(chest.slots()[4].unwrap().item.id(), "apple");
}

#[test]
fn what_the_world_does_not_have_yet_changes_nothing() {
    let plain = begun(&["/gamemode survival"]).world().hash();
    for command in [
        "/weather rain",
        "/effect give @s minecraft:night_vision 99999 250 true",
        "/effect clear @s",
        "/experience add @s 30 levels",
        "/summon minecraft:cow ~2 ~ ~2 {Age:0}",
        "/gamerule doMobSpawning false",
        "/kill @e[type=!player]",
    ] {
        assert_eq!(begun(&[command]).world().hash(), plain, "{command}");
    }
}

#[test]
fn an_item_that_is_summoned_lies_about() {
    let episode = begun(&["/summon item ~ ~1 ~ {Item:{id:\"minecraft:bread\",Count:1b}}"]);
    let lying = episode.world().things().items().iter().map(|body| body.stack.item.id());
    assert_eq!(lying.collect::<Vec<_>>(), ["bread"]);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let deep = format!("/{}give @s stone", "execute as @s run ".repeat(20));
    for (command, words) in [
        ("/dance", "there is no command \"dance\""),
        ("/", "a command is missing"),
        ("/give stone", "\"stone\" is not @s, @p or @a"),
        ("/give @s", "an id is missing"),
        ("/give @s raw_beef 15", "there is no item \"raw_beef\""),
        ("/give @s stone 0", "\"0\" is not a count from 1 to 2304"),
        ("/give @s stone 5 5", "\"5\" is too much"),
        ("/give @s stone{a", "data ends too early"),
        ("/give @s potion{Potion:\"joy\"}", "there is no potion \"joy\""),
        ("/replaceitem entity @s hotbar.9 stone", "there is no slot \"hotbar.9\""),
        ("/replaceitem entity @s hotbar.1 bread 65", "\"65\" is not a count from 1 to 64"),
        ("/replaceitem block ~ ~ ~ x", "only entity"),
        ("/setblock ~ ~ stone", "is no coordinate"),
        ("/setblock ~ ~ ~ wool", "there is no block \"wool\""),
        ("/setblock ~ ~ ~ ladder[facing=east", "[ has no ]"),
        ("/setblock ~ 1e9 ~ stone", "is no coordinate"),
        ("/setblock ~ NaN ~ stone", "is no coordinate"),
        ("/fill ~ ~ ~ ~99 ~99 ~99 stone", "at most 32768"),
        ("/fill ~ ~ ~ ~1 ~1 ~1 stone loudly", "no way \"loudly\""),
        ("/time set soon", "\"soon\" is no time"),
        ("/weather sunny", "no weather \"sunny\""),
        ("/gamemode creative", "only survival"),
        ("/execute if block", "as, at and run"),
        (&deep, "too deep"),
        ("/summon Cow!", "no entity"),
    ] {
        let error = WorldTask::parse("test", &file(&["/give @s stone", command])).unwrap_err();
        assert_eq!(error.problems[0].line, Some(4), "{command}: {error}");
        assert!(error.to_string().contains(words), "{command}: {error}");
    }
}
