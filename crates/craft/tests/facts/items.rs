use craft::{Food, ItemId, ItemStack, Tool, ToolKind, ToolMaterial, group, groups};

use crate::item;

#[test]
fn every_item_is_found_by_its_id() {
    assert_eq!(ItemId::all().filter(|item| item.potion().is_none()).count(), 975);
    for (index, item) in ItemId::all().enumerate() {
        assert_eq!(item.index(), index);
        assert_eq!(ItemId::of(item.id()), Some(item));
        assert_eq!(ItemId::of(&format!("minecraft:{}", item.id())), Some(item));
        assert!(!item.name().is_empty() && item.stack_size() >= 1, "{item}");
    }
    assert!(ItemId::all().map(ItemId::id).is_sorted());
    for unknown in ["", "minecraft:", "Stone", "stone ", "wool", "minecraft:minecraft:stone"] {
        assert_eq!(ItemId::of(unknown), None, "{unknown:?}");
    }
}

#[test]
fn an_item_is_written_as_its_id() {
    let stack = ItemStack::new(item("oak_planks"), 4);
    let json = r#"{"item":"oak_planks","count":4}"#;
    assert_eq!(serde_json::to_string(&stack).unwrap(), json);
    assert_eq!(serde_json::from_str::<ItemStack>(json).unwrap(), stack);
    assert_eq!(serde_json::from_str::<ItemId>(r#""minecraft:dirt""#).unwrap(), item("dirt"));
    assert_eq!(format!("{:?}", item("dirt")), "dirt");
    let error = serde_json::from_str::<ItemId>(r#""dirty""#).unwrap_err().to_string();
    assert!(error.starts_with(r#"there is no item "dirty""#), "{error}");
}

#[test]
fn names_stacks_and_durability_are_those_of_the_game() {
    for (id, name, stack_size, durability) in [
        ("stone", "Stone", 64, None),
        ("ender_pearl", "Ender Pearl", 16, None),
        ("egg", "Egg", 16, None),
        ("snowball", "Snowball", 16, None),
        ("oak_sign", "Oak Sign", 16, None),
        ("bucket", "Bucket", 16, None),
        ("water_bucket", "Water Bucket", 1, None),
        ("white_bed", "White Bed", 1, None),
        ("cake", "Cake", 1, None),
        ("iron_pickaxe", "Iron Pickaxe", 1, Some(250)),
        ("wooden_axe", "Wooden Axe", 1, Some(59)),
        ("golden_hoe", "Golden Hoe", 1, Some(32)),
        ("stone_sword", "Stone Sword", 1, Some(131)),
        ("diamond_shovel", "Diamond Shovel", 1, Some(1561)),
        ("netherite_sword", "Netherite Sword", 1, Some(2031)),
        ("shears", "Shears", 1, Some(238)),
        ("flint_and_steel", "Flint and Steel", 1, Some(64)),
        ("bow", "Bow", 1, Some(384)),
        ("shield", "Shield", 1, Some(336)),
        ("water_bottle", "Water Bottle", 1, None),
        ("fire_resistance_potion", "Potion of Fire Resistance", 1, None),
    ] {
        let item = item(id);
        assert_eq!(
            (item.name(), item.stack_size(), item.durability()),
            (name, stack_size, durability),
            "{id}"
        );
    }
}

#[test]
fn food_is_that_of_the_game() {
    assert_eq!(ItemId::all().filter(|item| item.food().is_some()).count(), 40);
    for (id, points, saturation) in [
        ("apple", 4, 2.4),
        ("bread", 5, 6.0),
        ("cooked_beef", 8, 12.8),
        ("beef", 3, 1.8),
        ("golden_carrot", 6, 14.4),
        ("rotten_flesh", 4, 0.8),
        ("melon_slice", 2, 1.2),
        ("cooked_salmon", 6, 9.6),
        ("honey_bottle", 6, 1.2),
    ] {
        assert_eq!(item(id).food(), Some(Food { points, saturation }), "{id}");
    }
    for id in ["stone", "wheat", "egg", "sugar"] {
        assert_eq!(item(id).food(), None, "{id}");
    }
}

#[test]
fn fuel_burns_as_long_as_in_the_game() {
    for (id, ticks) in [
        ("lava_bucket", 20_000),
        ("coal_block", 16_000),
        ("blaze_rod", 2_400),
        ("coal", 1_600),
        ("charcoal", 1_600),
        ("birch_boat", 1_200),
        ("oak_log", 300),
        ("stripped_spruce_wood", 300),
        ("jungle_planks", 300),
        ("crafting_table", 300),
        ("chest", 300),
        ("oak_slab", 150),
        ("wooden_pickaxe", 200),
        ("oak_door", 200),
        ("stick", 100),
        ("acacia_sapling", 100),
        ("red_wool", 100),
        ("red_carpet", 67),
        ("bamboo", 50),
    ] {
        assert_eq!(item(id).fuel_ticks(), Some(ticks), "{id}");
    }
    for id in [
        "stone",
        "coal_ore",
        "water_bucket",
        "white_bed",
        "stone_pickaxe",
        "warped_stem",
        "crimson_planks",
        "warped_door",
        "crimson_slab",
        "petrified_oak_slab",
    ] {
        assert_eq!(item(id).fuel_ticks(), None, "{id}");
    }
}

#[test]
fn buckets_and_bottles_stay_behind() {
    let kept: Vec<_> = ItemId::all().filter_map(|item| Some((item.id(), item.remainder()?.id()))).collect();
    assert_eq!(
        kept,
        [
            ("dragon_breath", "glass_bottle"),
            ("honey_bottle", "glass_bottle"),
            ("lava_bucket", "bucket"),
            ("milk_bucket", "bucket"),
            ("water_bucket", "bucket"),
        ]
    );
}

#[test]
fn tools_are_known_by_kind_and_material() {
    assert_eq!(ItemId::all().filter(|item| item.tool().is_some()).count(), 5 * 6 + 1);
    for kind in ToolKind::ALL.into_iter().filter(|kind| *kind != ToolKind::Shears) {
        for material in ToolMaterial::ALL {
            let tool = item(&format!("{}_{}", material.prefix(), kind.name()));
            assert_eq!(tool.tool(), Some(Tool { kind, material }));
            assert!(tool.durability().is_some());
        }
    }
    assert_eq!(item("shears").tool().map(|tool| tool.kind), Some(ToolKind::Shears));
    for (material, speed, tier) in [
        (ToolMaterial::Wood, 2.0, 0),
        (ToolMaterial::Stone, 4.0, 1),
        (ToolMaterial::Iron, 6.0, 2),
        (ToolMaterial::Diamond, 8.0, 3),
        (ToolMaterial::Netherite, 9.0, 3),
        (ToolMaterial::Gold, 12.0, 0),
    ] {
        assert_eq!((material.speed(), material.tier()), (speed, tier));
    }
    assert_eq!(serde_json::to_string(&ToolKind::Pickaxe).unwrap(), r#""pickaxe""#);
}

#[test]
fn groups_hold_what_their_names_say() {
    for (name, count, member, stranger) in [
        ("logs", 32, "stripped_warped_hyphae", "oak_planks"),
        ("planks", 8, "crimson_planks", "oak_slab"),
        ("wool", 16, "light_blue_wool", "red_carpet"),
        ("carpets", 16, "black_carpet", "black_wool"),
        ("beds", 16, "white_bed", "bedrock"),
        ("boats", 6, "dark_oak_boat", "minecart"),
        ("oak_logs", 4, "stripped_oak_wood", "dark_oak_log"),
        ("coals", 2, "charcoal", "coal_block"),
    ] {
        let members = group(name).unwrap();
        assert_eq!(members.len(), count, "{name}");
        assert!(members.is_sorted(), "{name}");
        assert!(members.contains(&item(member)) && !members.contains(&item(stranger)), "{name}");
        assert_eq!(group(&format!("#{name}")), Some(members));
    }
    assert_eq!(group("stone"), None);
    assert!(groups().all(|name| group(name).is_some_and(|members| members.len() > 1)));
    assert!(groups().all(|name| ItemId::of(name).is_none() || name == "sand"));
}

#[test]
fn a_potion_is_the_games_potion_with_a_tag() {
    for (id, tag) in [
        ("water_bottle", "water"),
        ("awkward_potion", "awkward"),
        ("fire_resistance_potion", "fire_resistance"),
        ("harming_potion", "harming"),
    ] {
        assert_eq!((item(id).game_id(), item(id).potion()), ("potion", Some(tag)));
        assert_eq!(ItemId::of_potion(tag), Some(item(id)));
        assert_eq!(ItemId::of_potion(&format!("minecraft:{tag}")), Some(item(id)));
    }
    for (id, ticks) in [
        ("fire_resistance_potion", Some(3 * 60 * 20)),
        ("slowness_potion", Some(90 * 20)),
        ("harming_potion", None),
        ("water_bottle", None),
        ("stone", None),
    ] {
        assert_eq!(item(id).effect_ticks(), ticks, "{id}");
    }
    assert_eq!((item("potion").game_id(), item("potion").potion()), ("potion", None));
    assert_eq!(item("stone").game_id(), "stone");
    assert_eq!(ItemId::of_potion("stone"), None);
}
