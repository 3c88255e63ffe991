//! What is made in a crafting grid.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::data::{alternatives, broken, item, number, rows};
use crate::item::{ItemId, ItemStack};

/// What has to lie in a cell: any one of these items, in the order of their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingredient(Cow<'static, [ItemId]>);

/// One way to make something in a crafting grid.
#[derive(Debug)]
pub struct Recipe {
    id: &'static str,
    result: ItemStack,
    /// Row by row, with empty cells. Without a shape: all of them, with no empty one.
    cells: Vec<Option<Ingredient>>,
    width: usize,
}

impl Ingredient {
    /// What can lie there; never empty.
    pub fn alternatives(&self) -> &[ItemId] {
        &self.0
    }

    pub fn contains(&self, item: ItemId) -> bool {
        self.0.binary_search(&item).is_ok()
    }
}

impl Recipe {
    /// What it makes, and where several recipes make the same, also what it alone is made from: `stick_from_bamboo`.
    pub fn id(&self) -> &'static str {
        self.id
    }

    pub fn result(&self) -> ItemStack {
        self.result
    }

    /// How many columns its shape has; 0 if it has no shape.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many rows its shape has; 0 if it has no shape.
    pub fn height(&self) -> usize {
        self.cells.len().checked_div(self.width).unwrap_or(0)
    }

    pub fn is_shapeless(&self) -> bool {
        self.width == 0
    }

    /// The cells of its shape, row by row. Without a shape, what has to lie anywhere in the grid.
    pub fn ingredients(&self) -> &[Option<Ingredient>] {
        &self.cells
    }

    /// Whether it does not fit into the four cells that a player always has.
    pub fn needs_table(&self) -> bool {
        if self.is_shapeless() { self.cells.len() > 4 } else { self.width > 2 || self.height() > 2 }
    }

    fn matches(&self, shape: &GridShape) -> bool {
        if self.is_shapeless() {
            return self.matches_in_any_order(shape);
        }
        if (self.width, self.height()) != (shape.width, shape.height) {
            return false;
        }
        let fits = |mirrored: bool| {
            self.cells.iter().enumerate().all(|(at, wanted)| {
                let (x, y) = (at % self.width, at / self.width);
                let x = if mirrored { self.width - 1 - x } else { x };
                match (wanted, shape.cells[y * self.width + x]) {
                    (Some(wanted), Some(item)) => wanted.contains(item),
                    (None, None) => true,
                    _ => false,
                }
            })
        };
        fits(false) || fits(true)
    }

    /// Whether each item can be given an ingredient of its own. An item may serve for several, so the first that fits is
    /// not always the right one: each item in turn takes one, and whoever had it moves on if it can.
    fn matches_in_any_order(&self, shape: &GridShape) -> bool {
        let items: Vec<ItemId> = shape.cells.iter().copied().flatten().collect();
        let wanted: Vec<&Ingredient> = self.cells.iter().flatten().collect();
        if items.len() != wanted.len() {
            return false;
        }
        let mut taken_by = vec![None; wanted.len()];
        (0..items.len())
            .all(|item| take(item, &items, &wanted, &mut taken_by, &mut vec![false; wanted.len()]))
    }
}

fn take(
    item: usize,
    items: &[ItemId],
    wanted: &[&Ingredient],
    taken_by: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for place in 0..wanted.len() {
        if seen[place] || !wanted[place].contains(items[item]) {
            continue;
        }
        seen[place] = true;
        if taken_by[place].is_none_or(|owner| take(owner, items, wanted, taken_by, seen)) {
            taken_by[place] = Some(item);
            return true;
        }
    }
    false
}

/// All recipes, in the order of their ids.
pub fn recipes() -> &'static [Recipe] {
    static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| {
        rows(include_str!("../data/recipes.tsv"))
            .map(|[id, result, count, shape]| {
                let (cells, width) = parse(shape);
                Recipe { id, result: ItemStack::new(item(result), number(count)), cells, width }
            })
            .collect()
    });
    &RECIPES
}

/// `#planks . / stick #planks` has a shape, `+ bone_meal #sand` has none.
fn parse(shape: &str) -> (Vec<Option<Ingredient>>, usize) {
    let cell = |text: &str| (text != ".").then(|| Ingredient(alternatives(text)));
    if let Some(all) = shape.strip_prefix("+ ") {
        return (all.split(' ').map(cell).collect(), 0);
    }
    let rows: Vec<Vec<Option<Ingredient>>> =
        shape.split(" / ").map(|row| row.split(' ').map(cell).collect()).collect();
    let width = rows[0].len();
    if rows.iter().any(|row| row.len() != width) {
        broken(shape);
    }
    (rows.into_iter().flatten().collect(), width)
}

/// The recipe that a grid holds, whose cells are given row by row. A shape may lie anywhere in it and may be mirrored;
/// without a shape, any order does.
///
/// Making it takes one item from every cell that is not empty; [`ItemId::remainder`] says what is put there instead.
pub fn find_recipe(grid: &[Option<ItemId>], width: usize) -> Option<&'static Recipe> {
    let shape = GridShape::of(grid, width)?;
    // The lookup by one item in the grid leaves a handful to compare.
    let first = shape.cells.iter().copied().flatten().next()?;
    by_ingredient().of(first).iter().copied().find(|recipe| recipe.matches(&shape))
}

/// The recipes that make an item, in the order of their ids.
pub fn recipes_for(item: ItemId) -> impl Iterator<Item = &'static Recipe> {
    static BY_RESULT: LazyLock<RecipeIndex> = LazyLock::new(|| {
        let mut index = RecipeIndex::new();
        for recipe in recipes() {
            index.add(recipe.result.item, recipe);
        }
        index
    });
    BY_RESULT.of(item).iter().copied()
}

/// For each item, the recipes that can use it.
fn by_ingredient() -> &'static RecipeIndex {
    static BY_INGREDIENT: LazyLock<RecipeIndex> = LazyLock::new(|| {
        let mut index = RecipeIndex::new();
        for recipe in recipes() {
            for &item in recipe.cells.iter().flatten().flat_map(Ingredient::alternatives) {
                index.add(item, recipe);
            }
        }
        index
    });
    &BY_INGREDIENT
}

/// Some recipes of each item, in the order of their ids.
struct RecipeIndex(Vec<Vec<&'static Recipe>>);

impl RecipeIndex {
    fn new() -> Self {
        Self(vec![Vec::new(); ItemId::all().count()])
    }

    fn of(&self, item: ItemId) -> &[&'static Recipe] {
        &self.0[item.index()]
    }

    /// Recipes are added in their order, so one that is there already is the last.
    fn add(&mut self, item: ItemId, recipe: &'static Recipe) {
        let recipes = &mut self.0[item.index()];
        if recipes.last().is_none_or(|last| last.id != recipe.id) {
            recipes.push(recipe);
        }
    }
}

/// What lies in a grid, without the empty rows and columns around it.
struct GridShape {
    cells: Vec<Option<ItemId>>,
    width: usize,
    height: usize,
}

impl GridShape {
    /// None if nothing lies there.
    fn of(grid: &[Option<ItemId>], width: usize) -> Option<Self> {
        if width == 0 {
            return None;
        }
        let used = || grid.iter().enumerate().filter(|(_, cell)| cell.is_some()).map(|(at, _)| at);
        let (left, right) = (used().map(|at| at % width).min()?, used().map(|at| at % width).max()?);
        let (top, bottom) = (used().map(|at| at / width).min()?, used().map(|at| at / width).max()?);
        let cells = (top..=bottom)
            .flat_map(|y| (left..=right).map(move |x| grid.get(y * width + x).copied().flatten()))
            .collect();
        Some(Self { cells, width: right + 1 - left, height: bottom + 1 - top })
    }
}
