//! Crafting without the pointer.

use std::collections::BTreeMap;

use craft::{Ingredient, ItemId, ItemStack, Recipe, group, groups, recipes_for};

use super::ScreenKind;
use crate::aim::REACH;
use crate::events::{Event, EventKind};
use crate::inventory::Inventory;
use crate::player::cell_of;
use crate::world::World;

/// Why something cannot be crafted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CraftProblem {
    #[error("{0} cannot be crafted")]
    NoRecipe(ItemId),
    #[error("{item} needs a crafting table within reach")]
    NoTable { item: ItemId },
    #[error("{item} cannot be crafted: missing {missing}")]
    Missing { item: ItemId, missing: String },
    #[error("the inventory has no room for {item}")]
    NoRoom { item: ItemId },
}

impl World {
    /// Crafts by one recipe from the inventory, without a screen.
    ///
    /// # Errors
    /// If no recipe makes the item, something is missing, or there is no room for what is made.
    pub fn craft_directly(&mut self, item: ItemId) -> Result<Vec<Event>, CraftProblem> {
        let has_table = self.has_crafting_table();
        let mut problem = CraftProblem::NoRecipe(item);
        for recipe in recipes_for(item) {
            match crafted(recipe, &self.inventory, has_table) {
                Ok(inventory) => {
                    self.inventory = inventory;
                    let count = u32::from(recipe.result().count);
                    return Ok(vec![Event { count, ..Event::new(EventKind::CraftItem, item.id()) }]);
                }
                // The first recipe tells what is missing, unless another one lacks only the table or room.
                Err(other) => {
                    if matches!(problem, CraftProblem::NoRecipe(_))
                        || !matches!(other, CraftProblem::Missing { .. })
                    {
                        problem = other;
                    }
                }
            }
        }
        Err(problem)
    }

    /// Whether a crafting table is open or within reach.
    fn has_crafting_table(&self) -> bool {
        if matches!(self.screen().map(super::Screen::kind), Some(ScreenKind::CraftingTable(_))) {
            return true;
        }
        let eyes = self.player.eyes();
        let [x, y, z] = cell_of(eyes);
        let reach = REACH.ceil() as i32;
        let range = |middle: i32| middle - reach..=middle + reach;
        let is_near = |cell: [i32; 3]| {
            // The nearest point of the cell counts.
            let away = [0, 1, 2].map(|axis| {
                let low = f64::from(cell[axis]);
                eyes[axis] - eyes[axis].clamp(low, low + 1.0)
            });
            away.iter().map(|part| part * part).sum::<f64>() <= REACH * REACH
        };
        let mut cells = range(y)
            .flat_map(|y| range(z).map(move |z| [y, z]))
            .flat_map(|[y, z]| range(x).map(move |x| [x, y, z]));
        cells.any(|cell| self.volume.block(cell).id() == "crafting_table" && is_near(cell))
    }
}

/// The inventory after a recipe has been made from it.
fn crafted(recipe: &Recipe, inventory: &Inventory, has_table: bool) -> Result<Inventory, CraftProblem> {
    let item = recipe.result().item;
    let wanted: Vec<&Ingredient> = recipe.ingredients().iter().flatten().collect();
    let used = choose(&wanted, inventory).map_err(|missing| {
        let mut counts = BTreeMap::<String, u32>::new();
        for ingredient in missing {
            *counts.entry(described(ingredient)).or_default() += 1;
        }
        let words: Vec<String> = counts.iter().map(|(words, count)| format!("{count} × {words}")).collect();
        CraftProblem::Missing { item, missing: words.join(" and ") }
    })?;
    if recipe.needs_table() && !has_table {
        return Err(CraftProblem::NoTable { item });
    }
    let mut inventory = inventory.clone();
    for &used in &used {
        inventory.remove(used, 1);
    }
    let remainders = used.iter().filter_map(|used| used.remainder()).map(|item| ItemStack::new(item, 1));
    for stack in remainders.chain([recipe.result()]) {
        if inventory.add(stack).is_some() {
            return Err(CraftProblem::NoRoom { item });
        }
    }
    Ok(inventory)
}

/// An item for each ingredient, or the ingredients for which there is none. An item may serve for several ingredients, so
/// the first that fits is not always the right one: each ingredient in turn takes one, and whoever had it moves on if it
/// can.
fn choose<'a>(wanted: &[&'a Ingredient], inventory: &Inventory) -> Result<Vec<ItemId>, Vec<&'a Ingredient>> {
    // As many of each item as there are and could be used.
    let mut items: Vec<ItemId> = Vec::new();
    for stack in inventory.slots().iter().flatten() {
        let known = items.iter().filter(|item| **item == stack.item).count();
        let count = usize::from(stack.count).min(wanted.len().saturating_sub(known));
        items.extend(std::iter::repeat_n(stack.item, count));
    }
    let mut taken_by = vec![None; items.len()];
    let find = |taken_by: &mut Vec<_>, at| take(at, wanted, &items, taken_by, &mut vec![false; items.len()]);
    let missing: Vec<_> =
        (0..wanted.len()).filter(|at| !find(&mut taken_by, *at)).map(|at| wanted[at]).collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let taken = taken_by.iter().zip(&items).filter(|(owner, _)| owner.is_some());
    Ok(taken.map(|(_, item)| *item).collect())
}

fn take(
    ingredient: usize,
    wanted: &[&Ingredient],
    items: &[ItemId],
    taken_by: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for place in 0..items.len() {
        if seen[place] || !wanted[ingredient].contains(items[place]) {
            continue;
        }
        seen[place] = true;
        if taken_by[place].is_none_or(|owner| take(owner, wanted, items, taken_by, seen)) {
            taken_by[place] = Some(ingredient);
            return true;
        }
    }
    false
}

/// An ingredient in words: an id, or a group.
fn described(ingredient: &Ingredient) -> String {
    let all = ingredient.alternatives();
    if let [only] = all {
        return only.to_string();
    }
    let named = groups().find(|name| group(name) == Some(all)).map(|name| format!("#{name}"));
    named.unwrap_or_else(|| all.iter().map(ItemId::to_string).collect::<Vec<_>>().join(" or "))
}
