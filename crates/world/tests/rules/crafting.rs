//! Crafting, on the real screens with the pointer, and without.

use craft::{Recipe, find_recipe, recipes};
use world::action::Button::*;
use world::{Action, CraftProblem, EventKind, ItemId, ItemStack, ScreenSlot, World};

use super::screens::{click, item, open, open_inventory, stack, world_with};
use super::{FLOOR, block, press};

/// The items of a recipe in the cells of a grid, in the corner at the top left: of each ingredient the first alternative.
fn laid_out(recipe: &Recipe, edge: usize) -> Vec<(usize, ItemId)> {
    let width = if recipe.is_shapeless() { edge } else { recipe.width() };
    let cells = recipe.ingredients().iter().enumerate();
    let items = cells.filter_map(|(at, cell)| Some((at, cell.as_ref()?.alternatives()[0])));
    items.map(|(at, item)| (at / width * edge + at % width, item)).collect()
}

/// Gives a world, with a grid that is open, one item for each cell in a slot of its own, and lays them into the grid.
fn lay(world: &mut World, cells: &[(usize, ItemId)]) {
    for (slot, (_, item)) in cells.iter().enumerate() {
        world.set_slot(slot, Some(ItemStack::new(*item, 1)));
    }
    for (slot, (cell, _)) in cells.iter().enumerate() {
        click(world, ScreenSlot::Inventory(slot), press(&[Attack]));
        click(world, ScreenSlot::Grid(*cell), press(&[Attack]));
    }
}

#[test]
fn every_recipe_is_made_on_its_grid_with_the_pointer() {
    let [mut small, mut large] = [(), ()].map(|()| world_with(&[]));
    open_inventory(&mut small);
    open(&mut large, "crafting_table");
    for recipe in recipes() {
        let (world, edge) = if recipe.needs_table() { (&mut large, 3) } else { (&mut small, 2) };
        let cells = laid_out(recipe, edge);
        // Recipes may share a shape; then the first one counts.
        let mut grid = vec![None; edge * edge];
        for (cell, item) in &cells {
            grid[*cell] = Some(*item);
        }
        let made = find_recipe(&grid, edge).map(Recipe::result);
        assert_eq!(made.map(|made| made.item), Some(recipe.result().item), "{}", recipe.id());
        lay(world, &cells);
        assert_eq!(world.screen_slot(ScreenSlot::Result), made, "{}", recipe.id());
        let events = click(world, ScreenSlot::Result, press(&[Attack]));
        let told: Vec<_> = events.iter().map(|event| (event.kind, event.object, event.count)).collect();
        let result = made.unwrap();
        assert_eq!(told, [(EventKind::CraftItem, result.item.id(), u32::from(result.count))]);
        let screen = world.screen().unwrap();
        assert_eq!(screen.carried(), made, "{}", recipe.id());
        let mut left: Vec<ItemId> = screen.grid().iter().flatten().map(|stack| stack.item).collect();
        let mut remainders: Vec<ItemId> = cells.iter().filter_map(|(_, item)| item.remainder()).collect();
        left.sort_unstable();
        remainders.sort_unstable();
        assert_eq!(left, remainders, "{}", recipe.id());
        // Everything is put away for the next one.
        for cell in 0..edge * edge {
            if world.screen_slot(ScreenSlot::Grid(cell)).is_some() {
                click(world, ScreenSlot::Grid(cell), press(&[Sneak, Attack]));
            }
        }
        click(world, ScreenSlot::Inventory(35), press(&[Attack]));
        for slot in 0..36 {
            world.set_slot(slot, None);
        }
    }
}

#[test]
fn what_needs_a_table_is_not_made_on_the_small_grid() {
    let mut world = world_with(&[("oak_planks", 8)]);
    open_inventory(&mut world);
    click(&mut world, ScreenSlot::Inventory(0), press(&[Attack]));
    for cell in 0..4 {
        click(&mut world, ScreenSlot::Grid(cell), press(&[Use]));
    }
    assert_eq!(world.screen_slot(ScreenSlot::Result), stack("crafting_table", 1));
    assert_eq!(world.screen().unwrap().layout().middle_of(ScreenSlot::Grid(4)), None);
    for recipe in recipes().iter().filter(|recipe| recipe.needs_table()) {
        let cells: Vec<_> = laid_out(recipe, 3);
        let mut grid = [None; 4];
        for (cell, item) in cells {
            let (column, row) = (cell % 3, cell / 3);
            if column < 2 && row < 2 {
                grid[row * 2 + column] = Some(item);
            }
        }
        assert!(find_recipe(&grid, 2).is_none_or(|found| !found.needs_table()), "{}", recipe.id());
    }
}

#[test]
fn shift_crafts_as_often_as_there_are_ingredients_and_room() {
    let mut world = world_with(&[("oak_log", 5)]);
    open_inventory(&mut world);
    click(&mut world, ScreenSlot::Inventory(0), press(&[Attack]));
    click(&mut world, ScreenSlot::Grid(0), press(&[Attack]));
    let events = click(&mut world, ScreenSlot::Result, press(&[Sneak, Attack]));
    assert_eq!((events.len(), events[0].kind, events[0].count), (1, EventKind::CraftItem, 20));
    assert_eq!(world.inventory().slot(8), stack("oak_planks", 20), "the hot bar is filled from its end");
    assert_eq!(world.screen_slot(ScreenSlot::Grid(0)), None);

    let mut world = world_with(&[("oak_log", 5)]);
    for slot in 1..36 {
        world.set_slot(slot, stack("dirt", 64));
    }
    world.set_slot(10, stack("oak_planks", 55));
    open_inventory(&mut world);
    click(&mut world, ScreenSlot::Inventory(0), press(&[Attack]));
    click(&mut world, ScreenSlot::Grid(0), press(&[Attack]));
    world.set_slot(0, stack("dirt", 64));
    click(&mut world, ScreenSlot::Result, press(&[Sneak, Attack]));
    assert_eq!(world.inventory().count(item("oak_planks")), 63, "there is room for two times four");
    assert_eq!(world.screen_slot(ScreenSlot::Grid(0)), stack("oak_log", 3));
}

#[test]
fn results_come_to_what_is_carried_until_the_stack_is_full() {
    let mut world = world_with(&[("oak_log", 20)]);
    open_inventory(&mut world);
    click(&mut world, ScreenSlot::Inventory(0), press(&[Attack]));
    click(&mut world, ScreenSlot::Grid(3), press(&[Attack]));
    for times in 1..=17 {
        click(&mut world, ScreenSlot::Result, press(&[Attack]));
        assert_eq!(world.screen().unwrap().carried(), stack("oak_planks", (times * 4).min(64)));
    }
    assert_eq!(world.screen_slot(ScreenSlot::Grid(3)), stack("oak_log", 4));
}

#[test]
fn bottles_that_are_left_get_lost_nowhere() {
    let things = |events: &[world::Event]| -> u32 {
        let thrown = events.iter().filter(|event| event.kind == EventKind::DropItem);
        thrown.map(|event| event.count).sum()
    };
    for (key, free) in
        [(press(&[Sneak, Attack]), 1), (Action::default().choose(1), 1), (press(&[Sneak, Attack]), 3)]
    {
        let mut world = world_with(&[("dirt", 64); 36]);
        world.set_slot(9, stack("honey_bottle", 4));
        open_inventory(&mut world);
        click(&mut world, ScreenSlot::Inventory(9), press(&[Attack]));
        click(&mut world, ScreenSlot::Grid(0), press(&[Attack]));
        world.set_slot(9, stack("dirt", 64));
        (0..free).for_each(|slot| world.set_slot(slot, None));
        let events = click(&mut world, ScreenSlot::Result, key);
        let made =
            events.iter().find(|event| event.kind == EventKind::CraftItem).map_or(0, |event| event.count / 3);
        assert!(made > 0, "{events:?}");
        let left = ["sugar", "glass_bottle"].map(|id| world.inventory().count(item(id)));
        let grid = world.screen_slot(ScreenSlot::Grid(0)).map_or(0, |stack| u32::from(stack.count));
        let bottles = if made == 4 { 3 } else { made };
        assert_eq!(left[0] + left[1] + things(&events), made * 3 + bottles, "{events:?} {left:?} {grid}");
    }
}

#[test]
fn nothing_can_be_put_where_results_are() {
    let mut world = world_with(&[("oak_log", 2), ("dirt", 1)]);
    open_inventory(&mut world);
    click(&mut world, ScreenSlot::Inventory(0), press(&[Attack]));
    click(&mut world, ScreenSlot::Grid(0), press(&[Attack]));
    click(&mut world, ScreenSlot::Inventory(1), press(&[Attack]));
    for button in [Attack, Use] {
        click(&mut world, ScreenSlot::Result, press(&[button]));
        assert_eq!(world.screen().unwrap().carried(), stack("dirt", 1));
        assert_eq!(world.screen_slot(ScreenSlot::Grid(0)), stack("oak_log", 2));
    }
}

#[test]
fn crafting_directly_takes_the_ingredients_or_says_what_is_missing() {
    let mut world = world_with(&[("oak_log", 2)]);
    let events = world.craft_directly(item("oak_planks")).unwrap();
    assert_eq!((events[0].kind, events[0].object, events[0].count), (EventKind::CraftItem, "oak_planks", 4));
    assert_eq!(
        (world.inventory().count(item("oak_log")), world.inventory().count(item("oak_planks"))),
        (1, 4)
    );
    world.craft_directly(item("stick")).unwrap();
    assert_eq!(world.inventory().count(item("stick")), 4);

    let words = |world: &mut World, id: &str| world.craft_directly(item(id)).unwrap_err().to_string();
    assert_eq!(words(&mut world, "ladder"), "ladder cannot be crafted: missing 3 × stick");
    assert_eq!(
        words(&mut world, "bookshelf"),
        "bookshelf cannot be crafted: missing 4 × #planks and 3 × book"
    );
    assert_eq!(words(&mut world, "bedrock"), "bedrock cannot be crafted");

    world.set_slot(20, stack("stick", 7));
    let before = world.hash();
    assert_eq!(words(&mut world, "ladder"), "ladder needs a crafting table within reach");
    assert_eq!(world.hash(), before, "what fails changes nothing");
    for (z, is_near) in [(134, false), (132, true)] {
        world.set_block([128, FLOOR + 1, z], block("crafting_table"));
        assert_eq!(world.craft_directly(item("ladder")).is_ok(), is_near);
    }
    assert_eq!(world.inventory().count(item("ladder")), 3);
}

#[test]
fn crafting_directly_wants_room_and_leaves_buckets() {
    let mut world = world_with(&[("dirt", 64); 36]);
    world.set_slot(0, stack("oak_log", 2));
    let problem = CraftProblem::NoRoom { item: item("oak_planks") };
    assert_eq!(world.craft_directly(item("oak_planks")), Err(problem));
    let mut world = world_with(&[
        ("milk_bucket", 1),
        ("milk_bucket", 1),
        ("milk_bucket", 1),
        ("sugar", 2),
        ("egg", 1),
        ("wheat", 3),
    ]);
    world.set_block([128, FLOOR + 1, 130], block("crafting_table"));
    world.craft_directly(item("cake")).unwrap();
    let left = ["cake", "bucket", "milk_bucket", "sugar"].map(|id| world.inventory().count(item(id)));
    assert_eq!(left, [1, 3, 0, 0]);
}
