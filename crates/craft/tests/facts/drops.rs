use std::collections::BTreeSet;

use craft::{Drop, ItemId, ToolKind, block_drops, is_block};

use crate::item;

const BLOCKS: &str = include_str!("../../data/blocks.tsv");
const EXTRA: &str = include_str!("../../data/extra.toml");

fn written(drops: &[Drop]) -> String {
    let one = |drop: &Drop| {
        let instead = if drop.instead { "or " } else { "" };
        let (least, most) = drop.count.clone().into_inner();
        let count = if least == most { least.to_string() } else { format!("{least}-{most}") };
        let chance = if drop.one_in == 1 { String::new() } else { format!(" 1/{}", drop.one_in) };
        format!("{instead}{count} {}{chance}", drop.item)
    };
    drops.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn blocks_drop_what_they_drop_in_the_game() {
    for (block, drops) in [
        ("stone", "1 cobblestone"),
        ("cobblestone", "1 cobblestone"),
        ("grass_block", "1 dirt"),
        ("farmland", "1 dirt"),
        ("iron_ore", "1 iron_ore"),
        ("coal_ore", "1 coal"),
        ("diamond_ore", "1 diamond"),
        ("redstone_ore", "4-5 redstone"),
        ("lapis_ore", "4-9 lapis_lazuli"),
        ("gravel", "1 flint 1/10, or 1 gravel"),
        ("grass", "1 wheat_seeds 1/8"),
        ("tall_grass", "1 wheat_seeds 1/8"),
        ("oak_leaves", "1 oak_sapling 1/20, 1-2 stick 1/50, 1 apple 1/200"),
        ("birch_leaves", "1 birch_sapling 1/20, 1-2 stick 1/50"),
        ("jungle_leaves", "1 jungle_sapling 1/40, 1-2 stick 1/50"),
        ("glass", ""),
        ("red_stained_glass_pane", ""),
        ("ice", ""),
        ("packed_ice", ""),
        ("glowstone", "2-4 glowstone_dust"),
        ("sea_lantern", "2-3 prismarine_crystals"),
        ("clay", "4 clay_ball"),
        ("snow_block", "4 snowball"),
        ("bookshelf", "3 book"),
        ("melon", "3-7 melon_slice"),
        ("pumpkin", "1 pumpkin"),
        ("wall_torch", "1 torch"),
        ("redstone_wall_torch", "1 redstone_torch"),
        ("oak_wall_sign", "1 oak_sign"),
        ("white_bed", "1 white_bed"),
        ("oak_door", "1 oak_door"),
        ("potted_red_tulip", "1 flower_pot, 1 red_tulip"),
        ("cobweb", "1 string"),
        ("ender_chest", "8 obsidian"),
        ("dead_tube_coral_block", "1 dead_tube_coral_block"),
        ("fire_coral_block", "1 dead_fire_coral_block"),
        ("water", ""),
        ("air", ""),
        ("bedrock", ""),
        ("stick", ""),
        ("nothing at all", ""),
    ] {
        for held in [None, Some(item("iron_pickaxe")), Some(item("diamond"))] {
            assert_eq!(written(block_drops(block, held, false)), drops, "{block}");
            assert_eq!(written(block_drops(&format!("minecraft:{block}"), held, false)), drops, "{block}");
        }
    }
}

#[test]
fn what_is_ripe_or_double_drops_more() {
    for (block, young, full) in [
        ("wheat", "1 wheat_seeds", "1 wheat, 1-4 wheat_seeds"),
        ("carrots", "1 carrot", "2-5 carrot"),
        ("potatoes", "1 potato", "2-5 potato, 1 poisonous_potato 1/50"),
        ("beetroots", "1 beetroot_seeds", "1 beetroot, 1-4 beetroot_seeds"),
        ("nether_wart", "1 nether_wart", "2-4 nether_wart"),
        ("cocoa", "1 cocoa_beans", "3 cocoa_beans"),
        ("sweet_berry_bush", "", "2-3 sweet_berries"),
        ("stone_slab", "1 stone_slab", "2 stone_slab"),
        ("oak_slab", "1 oak_slab", "2 oak_slab"),
        ("stone", "1 cobblestone", "1 cobblestone"),
    ] {
        assert_eq!(written(block_drops(block, None, false)), young, "{block}");
        assert_eq!(written(block_drops(block, None, true)), full, "{block}");
    }
}

#[test]
fn shears_keep_what_a_hand_destroys() {
    for (block, drops) in [
        ("grass", "1 grass"),
        ("tall_grass", "2 grass"),
        ("fern", "1 fern"),
        ("large_fern", "2 fern"),
        ("oak_leaves", "1 oak_leaves"),
        ("acacia_leaves", "1 acacia_leaves"),
        ("cobweb", "1 cobweb"),
        ("vine", "1 vine"),
        ("dead_bush", "1 dead_bush"),
        ("wheat", "1 wheat, 1-4 wheat_seeds"),
    ] {
        assert_eq!(written(block_drops(block, Some(item("shears")), true)), drops, "{block}");
    }
}

#[test]
fn every_block_has_its_drops() {
    let blocks: Vec<&str> = BLOCKS.lines().collect();
    assert_eq!(blocks.len(), 763);
    for block in blocks {
        assert!(is_block(block));
        for held in [None, Some(item("shears"))] {
            for is_full in [false, true] {
                let drops = block_drops(block, held, is_full);
                assert!(!drops.first().is_some_and(|drop| drop.instead), "{block}: instead of what?");
                for drop in drops {
                    assert!(drop.one_in >= 1 && !drop.count.is_empty(), "{block}: {drop:?}");
                    assert!(*drop.count.end() <= drop.item.stack_size(), "{block}: {drop:?}");
                }
            }
        }
    }
    assert!(!is_block("stick") && !is_block("awkward_potion") && !is_block(""));
}

/// A pattern that matches nothing is misspelt, and of two that match one block it would depend on their order which goes.
#[test]
fn every_line_about_drops_is_about_a_block() {
    let mut table = "";
    let mut seen = BTreeSet::new();
    for line in EXTRA.lines() {
        if line.starts_with('[') {
            table = line;
            seen.clear();
        }
        let Some((key, _)) = line.split_once(" = ") else { continue };
        if !table.contains("drops") || line.starts_with('#') {
            continue;
        }
        let key = key.trim_matches('"');
        let matched: Vec<&str> = match key.split_once('*') {
            Some((before, after)) => BLOCKS
                .lines()
                .filter(|id| id.strip_prefix(before).is_some_and(|rest| rest.ends_with(after)))
                .collect(),
            None => BLOCKS.lines().filter(|id| *id == key).collect(),
        };
        assert!(!matched.is_empty(), "{table} {key} is about nothing");
        for block in matched.into_iter().filter(|_| key.contains('*')) {
            assert!(seen.insert(block), "two lines with a star in {table} are about {block}");
        }
    }
}

#[test]
fn only_shears_shear() {
    for tool in ItemId::all().filter(|item| item.tool().is_some_and(|tool| tool.kind != ToolKind::Shears)) {
        assert_eq!(written(block_drops("grass", Some(tool), false)), "1 wheat_seeds 1/8", "{tool}");
    }
}
