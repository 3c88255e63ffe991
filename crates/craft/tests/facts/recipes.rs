use std::collections::BTreeSet;

use craft::{ItemId, Recipe, find_recipe, recipes, recipes_for};
use proptest::prelude::*;

use crate::item;

type TestGrid = Vec<Option<ItemId>>;

/// A recipe laid out in a grid of `size` × `size` with its corner at a cell, each ingredient as chosen.
fn laid_out(
    recipe: &Recipe,
    size: usize,
    (left, top): (usize, usize),
    mirrored: bool,
    choose: impl Fn(&[ItemId]) -> ItemId,
) -> TestGrid {
    let mut grid = vec![None; size * size];
    let width = if recipe.is_shapeless() { size } else { recipe.width() };
    for (at, ingredient) in recipe.ingredients().iter().enumerate() {
        let (x, y) = (at % width, at / width);
        let x = if mirrored { width - 1 - x } else { x };
        grid[(top + y) * size + left + x] = ingredient.as_ref().map(|any| choose(any.alternatives()));
    }
    grid
}

fn found(grid: &[Option<ItemId>], width: usize) -> Option<&'static str> {
    find_recipe(grid, width).map(Recipe::id)
}

fn first(alternatives: &[ItemId]) -> ItemId {
    alternatives[0]
}

fn last(alternatives: &[ItemId]) -> ItemId {
    alternatives[alternatives.len() - 1]
}

/// `oak_planks . / stick` is two rows; cells are parted by spaces, rows may end early.
fn grid(text: &str, width: usize) -> TestGrid {
    let mut grid = Vec::new();
    for row in text.split('/') {
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert!(cells.len() <= width);
        grid.extend(cells.iter().map(|cell| (*cell != ".").then(|| item(cell))));
        grid.resize(grid.len().next_multiple_of(width), None);
    }
    grid
}

#[test]
fn worked_examples_make_what_they_make_in_the_game() {
    for (width, cells, made) in [
        (2, "oak_log", "4 oak_planks"),
        (2, ". ./. warped_hyphae", "4 warped_planks"),
        (2, "oak_planks/birch_planks", "4 stick"),
        (3, ". . ./. . oak_planks/. . oak_planks", "4 stick"),
        (2, "oak_planks oak_planks", "1 oak_pressure_plate"),
        (2, "oak_planks birch_planks", "nothing"),
        (2, "oak_planks birch_planks/crimson_planks oak_planks", "1 crafting_table"),
        (2, "charcoal/stick", "4 torch"),
        (2, "stick/coal", "nothing"),
        (2, "cobblestone quartz/quartz cobblestone", "2 diorite"),
        (2, "quartz cobblestone/cobblestone quartz", "2 diorite"),
        (2, "cobblestone cobblestone/quartz quartz", "nothing"),
        (2, "flint iron_ingot", "1 flint_and_steel"),
        (2, "iron_ingot ./. flint", "1 flint_and_steel"),
        (2, "carved_pumpkin/torch", "1 jack_o_lantern"),
        (
            3,
            "cobblestone cobblestone cobblestone/cobblestone . cobblestone/cobblestone blackstone cobblestone",
            "1 furnace",
        ),
        (3, "stick . stick/stick stick stick/stick . stick", "3 ladder"),
        (3, ". book ./diamond obsidian diamond/obsidian obsidian obsidian", "1 enchanting_table"),
        (3, "iron_ingot iron_ingot/iron_ingot stick/. stick", "1 iron_axe"),
        (3, "iron_ingot iron_ingot/stick iron_ingot/stick", "1 iron_axe"),
        (3, ". iron_ingot iron_ingot/. stick iron_ingot/. stick", "1 iron_axe"),
        (3, "iron_ingot iron_ingot/. stick/iron_ingot stick", "nothing"),
        (3, "milk_bucket milk_bucket milk_bucket/sugar egg sugar/wheat wheat wheat", "1 cake"),
        (3, ". gold_ingot ./gold_ingot redstone gold_ingot/. gold_ingot .", "1 clock"),
        (3, ". iron_ingot ./stone stone stone", "1 stonecutter"),
        (
            3,
            "oak_planks oak_planks oak_planks/honeycomb honeycomb honeycomb/oak_planks oak_planks oak_planks",
            "1 beehive",
        ),
        (3, "stick oak_planks stick/stick oak_planks stick", "1 oak_fence_gate"),
        (3, "oak_planks . oak_planks/oak_planks oak_planks oak_planks", "1 oak_boat"),
        (3, "oak_planks . birch_planks/oak_planks oak_planks oak_planks", "nothing"),
        (3, "red_wool red_wool red_wool/oak_planks birch_planks oak_planks", "1 red_bed"),
        (3, "red_wool red_wool white_wool/oak_planks birch_planks oak_planks", "nothing"),
        (2, "white_wool white_wool", "3 white_carpet"),
        (3, "stick stick stick/stick lime_wool stick/stick stick stick", "1 painting"),
        (2, "sugar_cane", "1 sugar"),
        (2, "honey_bottle", "3 sugar"),
        (2, "blue_dye white_dye", "2 light_blue_dye"),
        (2, "white_dye red_dye/blue_dye red_dye", "4 magenta_dye"),
        (3, "baked_potato cooked_rabbit bowl/carrot red_mushroom", "1 rabbit_stew"),
        (2, "dirt", "nothing"),
        (3, "oak_log . oak_log", "nothing"),
    ] {
        let found = find_recipe(&grid(cells, width), width).map(Recipe::result);
        let text = found.map_or("nothing".to_owned(), |stack| format!("{} {}", stack.count, stack.item));
        assert_eq!(text, made, "{cells}");
    }
}

#[test]
fn an_empty_or_odd_grid_makes_nothing() {
    let log = Some(item("oak_log"));
    assert_eq!(found(&[], 0), None);
    assert_eq!(found(&[], 3), None);
    assert_eq!(found(&[None; 9], 3), None);
    assert_eq!(found(&[log], 0), None);
    assert_eq!(found(&[log], 3), Some("oak_planks"));
    assert_eq!(found(&[None, None, None, None, log], 3), Some("oak_planks"));
    assert_eq!(found(&[log], usize::MAX), Some("oak_planks"));
}

#[test]
fn recipes_are_as_many_as_there_are_ways() {
    // The package has 1,198 for 562 results. Those that differ by what serves equally, such as woods, are one.
    assert_eq!(recipes().len(), 634);
    assert_eq!(recipes().iter().map(|recipe| recipe.result().item).collect::<BTreeSet<_>>().len(), 562);
    let ids: Vec<&str> = recipes().iter().map(Recipe::id).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    for (id, count) in
        [("stick", 2), ("chest", 1), ("white_bed", 1), ("red_bed", 2), ("magenta_dye", 5), ("stone", 0)]
    {
        assert_eq!(recipes_for(item(id)).count(), count, "{id}");
    }
    for item in ItemId::all() {
        assert!(recipes_for(item).all(|recipe| recipe.result().item == item));
    }
    assert_eq!(ItemId::all().flat_map(recipes_for).count(), recipes().len());
}

#[test]
fn every_recipe_is_sound() {
    for recipe in recipes() {
        let (id, result) = (recipe.id(), recipe.result());
        assert!(id == result.item.id() || id.starts_with(&format!("{}_from_", result.item)), "{id}");
        assert!((1..=result.item.stack_size()).contains(&result.count), "{id}");
        assert!(recipe.width() <= 3 && recipe.height() <= 3, "{id}");
        let cells = recipe.ingredients();
        if recipe.is_shapeless() {
            assert!((1..=9).contains(&cells.len()) && cells.iter().all(Option::is_some), "{id}");
        } else {
            assert_eq!(cells.len(), recipe.width() * recipe.height(), "{id}");
            // A shape has no empty edge, else it would not be found where it lies.
            let (width, height) = (recipe.width(), recipe.height());
            for y in [0, height - 1] {
                assert!(cells[y * width..][..width].iter().any(Option::is_some), "{id}");
            }
            for x in [0, width - 1] {
                assert!(cells[x..].iter().step_by(width).any(Option::is_some), "{id}");
            }
        }
        for ingredient in cells.iter().flatten() {
            let alternatives = ingredient.alternatives();
            assert!(
                alternatives.windows(2).all(|pair| pair[0] < pair[1]) && !alternatives.is_empty(),
                "{id}"
            );
            assert!(alternatives.iter().all(|item| ingredient.contains(*item)), "{id}");
            assert!(!ingredient.contains(result.item), "{id} makes what it takes");
        }
    }
}

#[test]
fn a_table_is_needed_for_what_does_not_fit_into_four_cells() {
    for (id, needs_table) in [
        ("oak_planks", false),
        ("crafting_table", false),
        ("torch", false),
        ("flint_and_steel", false),
        ("magenta_dye_from_white_dye", false),
        ("white_carpet", false),
        ("ladder", true),
        ("iron_sword", true),
        ("bread", true),
        ("rabbit_stew_from_red_mushroom", true),
    ] {
        let recipe =
            recipes().iter().find(|recipe| recipe.id() == id).unwrap_or_else(|| panic!("no recipe {id}"));
        assert_eq!(recipe.needs_table(), needs_table, "{id}");
    }
}

#[test]
fn every_recipe_is_found_wherever_it_lies() {
    for recipe in recipes() {
        for size in if recipe.needs_table() { 3..=3 } else { 2..=3 } {
            let (width, height) =
                if recipe.is_shapeless() { (size, size) } else { (recipe.width(), recipe.height()) };
            for corner in (0..=size - width).flat_map(|x| (0..=size - height).map(move |y| (x, y))) {
                for mirrored in if recipe.is_shapeless() { vec![false] } else { vec![false, true] } {
                    for choose in [first, last] {
                        let grid = laid_out(recipe, size, corner, mirrored, choose);
                        assert_eq!(found(&grid, size), Some(recipe.id()), "{grid:?}");
                    }
                }
            }
        }
        if recipe.is_shapeless() {
            let mut grid = laid_out(recipe, 3, (0, 0), false, first);
            grid.reverse();
            assert_eq!(found(&grid, 3), Some(recipe.id()), "{grid:?}");
        }
    }
}

/// A second, slow implementation: lays every recipe out in every way and compares.
fn matches_naively(recipe: &Recipe, grid: &[Option<ItemId>], size: usize) -> bool {
    if recipe.is_shapeless() {
        let mut left: Vec<_> = recipe.ingredients().iter().flatten().collect();
        let items: Vec<ItemId> = grid.iter().copied().flatten().collect();
        return items.len() == left.len() && assigned(&items, &mut left);
    }
    if recipe.width() > size || recipe.height() > size {
        return false;
    }
    let corners = (0..=size - recipe.width()).flat_map(|x| (0..=size - recipe.height()).map(move |y| (x, y)));
    corners.flat_map(|corner| [(corner, false), (corner, true)]).any(|((left, top), mirrored)| {
        (0..size * size).all(|at| {
            let (x, y) = ((at % size).wrapping_sub(left), (at / size).wrapping_sub(top));
            let ingredient = (x < recipe.width() && y < recipe.height()).then(|| {
                let x = if mirrored { recipe.width() - 1 - x } else { x };
                recipe.ingredients()[y * recipe.width() + x].as_ref()
            });
            match (ingredient.flatten(), grid[at]) {
                (None, None) => true,
                (Some(any), Some(item)) => any.alternatives().contains(&item),
                _ => false,
            }
        })
    })
}

fn assigned(items: &[ItemId], left: &mut Vec<&craft::Ingredient>) -> bool {
    let Some((item, rest)) = items.split_first() else { return true };
    (0..left.len()).any(|at| {
        let ingredient = left.remove(at);
        let fits = ingredient.alternatives().contains(item) && assigned(rest, left);
        left.insert(at, ingredient);
        fits
    })
}

fn any_item() -> impl Strategy<Value = ItemId> {
    any::<prop::sample::Index>().prop_map(|index| {
        let items: Vec<ItemId> = ItemId::all().collect();
        items[index.index(items.len())]
    })
}

proptest! {
    #[test]
    fn any_grid_of_any_width_is_answered(
        grid in prop::collection::vec(prop::option::of(any_item()), 0..20),
        width in 0_usize..12,
    ) {
        if let Some(recipe) = find_recipe(&grid, width) {
            prop_assert!(recipe.ingredients().iter().flatten().count() <= grid.iter().flatten().count());
        }
    }

    /// Grids that are nearly a recipe: one is laid out, shuffled if it has no shape, and a cell or two are changed.
    #[test]
    fn what_is_found_is_what_a_naive_search_finds(
        at in 0..recipes().len(),
        mirrored: bool,
        seeds in prop::collection::vec(any::<prop::sample::Index>(), 9),
        changed in prop::collection::vec((0_usize..9, prop::option::of(any_item())), 0..3),
        copied in prop::collection::vec((0_usize..9, 0_usize..9), 0..3),
    ) {
        let recipe = &recipes()[at];
        let mut grid = laid_out(recipe, 3, (0, 0), mirrored && !recipe.is_shapeless(), |any| any[seeds[0].index(any.len())]);
        if recipe.is_shapeless() {
            for (cell, seed) in seeds.iter().enumerate() {
                grid.swap(cell, seed.index(9));
            }
        }
        for (cell, item) in changed {
            grid[cell] = item;
        }
        for (from, to) in copied {
            grid[to] = grid[from];
        }
        let naive: Vec<&str> =
            recipes().iter().filter(|recipe| matches_naively(recipe, &grid, 3)).map(Recipe::id).collect();
        prop_assert!(naive.len() <= 1, "several recipes match: {naive:?}");
        prop_assert_eq!(found(&grid, 3), naive.first().copied());
    }
}
