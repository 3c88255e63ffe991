use craft::{ItemId, Smelting, brewing, smelting, smithing, stonecutting};

use crate::item;

#[test]
fn a_furnace_makes_what_it_makes_in_the_game() {
    for (input, result, experience) in [
        ("iron_ore", "iron_ingot", 70),
        ("gold_ore", "gold_ingot", 100),
        ("beef", "cooked_beef", 35),
        ("potato", "baked_potato", 35),
        ("sand", "glass", 10),
        ("red_sand", "glass", 10),
        ("cobblestone", "stone", 10),
        ("stone", "smooth_stone", 10),
        ("birch_log", "charcoal", 15),
        ("stripped_oak_wood", "charcoal", 15),
        ("clay_ball", "brick", 30),
        ("kelp", "dried_kelp", 10),
        ("cactus", "green_dye", 100),
        ("ancient_debris", "netherite_scrap", 200),
        ("golden_sword", "gold_nugget", 10),
    ] {
        assert_eq!(smelting(item(input)), Some(Smelting { result: item(result), experience }), "{input}");
    }
    for input in ["dirt", "oak_planks", "crimson_stem", "cooked_beef", "iron_ingot", "diamond_sword"] {
        assert_eq!(smelting(item(input)), None, "{input}");
    }
    // Every line of the table, with its groups: 26 single ores, stones and others, 2 sands, 24 logs, 7 raw foods and the
    // potato, 16 terracottas, 24 pieces of metal.
    assert_eq!(ItemId::all().filter(|item| smelting(*item).is_some()).count(), 100);
}

#[test]
fn a_stonecutter_offers_what_it_offers_in_the_game() {
    let offers = |input: &str| -> Vec<(u8, &str)> {
        stonecutting(item(input)).iter().map(|stack| (stack.count, stack.item.id())).collect()
    };
    assert_eq!(
        offers("stone"),
        [
            (1, "chiseled_stone_bricks"),
            (2, "stone_brick_slab"),
            (1, "stone_brick_stairs"),
            (1, "stone_brick_wall"),
            (1, "stone_bricks"),
            (2, "stone_slab"),
            (1, "stone_stairs"),
        ]
    );
    assert_eq!(offers("smooth_stone"), [(2, "smooth_stone_slab")]);
    assert_eq!(offers("oak_planks"), []);
    for stack in ItemId::all().flat_map(stonecutting) {
        let expected = if stack.item.id().ends_with("_slab") { 2 } else { 1 };
        assert_eq!(stack.count, expected, "{}", stack.item);
    }
}

#[test]
fn a_brewing_stand_makes_potions_step_by_step() {
    for (bottle, ingredient, result) in [
        ("water_bottle", "nether_wart", Some("awkward_potion")),
        ("awkward_potion", "magma_cream", Some("fire_resistance_potion")),
        ("awkward_potion", "glistering_melon_slice", Some("healing_potion")),
        ("healing_potion", "fermented_spider_eye", Some("harming_potion")),
        ("poison_potion", "fermented_spider_eye", Some("harming_potion")),
        ("water_bottle", "magma_cream", Some("mundane_potion")),
        ("awkward_potion", "nether_wart", None),
        ("glass_bottle", "nether_wart", None),
        ("potion", "nether_wart", None),
    ] {
        let made = brewing(item(bottle), item(ingredient));
        assert_eq!(made.map(ItemId::id), result, "{bottle} + {ingredient}");
    }
    // Every potion but water can be brewed, and nothing else.
    let potions: Vec<ItemId> = ItemId::all().filter(|item| item.potion().is_some()).collect();
    for wanted in ItemId::all() {
        let is_made =
            potions.iter().any(|&bottle| ItemId::all().any(|with| brewing(bottle, with) == Some(wanted)));
        assert_eq!(is_made, wanted.potion().is_some_and(|tag| tag != "water"), "{wanted}");
    }
}

#[test]
fn a_smithing_table_makes_netherite_of_diamond() {
    for item in ItemId::all() {
        let is_upgraded = item.id().starts_with("diamond_") && item.durability().is_some();
        assert_eq!(smithing(item).is_some(), is_upgraded, "{item}");
        if let Some(result) = smithing(item) {
            assert_eq!(result.id(), item.id().replace("diamond", "netherite"));
        }
    }
}
