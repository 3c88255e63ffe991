//! When goals are met, and when they are not.

mod land;

use std::sync::LazyLock;

use world::block::WorldBlock;
use world::task::Marks;
use world::{Action, Cell, Event, EventKind, World, WorldTask};

use super::{FLOOR, block, floor, rest};

/// A player on a stone floor, and what the player has done there.
struct Yard {
    world: World,
    marks: Marks,
    origin: [f64; 3],
}

impl Yard {
    fn new() -> Self {
        // Worlds that are copied share their blocks.
        static YARD: LazyLock<World> = LazyLock::new(floor);
        let world = YARD.clone();
        let origin = world.player().position;
        Self { world, marks: Marks::default(), origin }
    }

    /// The player places blocks. Coordinates count from a corner near the player, at the floor.
    fn put(mut self, id: &'static str, cells: &[Cell]) -> Self {
        self.world.step(&Action::default());
        for cell in cells {
            self.world.set_block(place(*cell), block(id));
        }
        self.marks.note(&self.world, &[Event::new(EventKind::UseItem, id)]);
        self
    }

    /// Blocks that were there before the player.
    fn found(mut self, id: &str, cells: &[Cell]) -> Self {
        for cell in cells {
            self.world.set_block(place(*cell), block(id));
        }
        self
    }

    /// The player puts in a door, which takes two cells.
    fn put_door(mut self, id: &'static str, cell: Cell) -> Self {
        self.world.step(&Action::default());
        for (up, half) in ["lower", "upper"].into_iter().enumerate() {
            let state = WorldBlock::parse(&format!("{id}[half={half}]")).unwrap_or_default();
            self.world.set_block(place([cell[0], cell[1] + up as i32, cell[2]]), state);
        }
        self.marks.note(&self.world, &[Event::new(EventKind::UseItem, id)]);
        self
    }

    /// A block gets another state.
    fn turn(mut self, state: &str, cell: Cell) -> Self {
        self.world.step(&Action::default());
        self.world.set_block(place(cell), WorldBlock::parse(state).unwrap_or_default());
        self.marks.note(&self.world, &[]);
        self
    }

    /// The player digs blocks out, one after the other.
    fn dig(mut self, cells: &[Cell]) -> Self {
        for cell in cells {
            self.world.step(&Action::default());
            let old = self.world.volume().block(place(*cell)).id();
            self.world.set_block(place(*cell), block("air"));
            self.marks.note(&self.world, &[Event::new(EventKind::MineBlock, old)]);
        }
        self
    }

    fn stand(mut self, cell: Cell) -> Self {
        let [x, y, z] = place(cell).map(f64::from);
        self.world.place_player([x + 0.5, y, z + 0.5], 0, 0);
        rest(&mut self.world, 5);
        self
    }

    fn look(mut self, pitch: f64) -> Self {
        self.world.step(&Action::default().look(pitch, 0.0));
        self
    }

    fn meets(&self, goal: &str) -> bool {
        let file = format!("text: Do it.\ngoal: {{{goal}}}\n");
        let task = WorldTask::parse("test", &file).unwrap_or_else(|error| panic!("{goal}: {error}"));
        task.goal().is_some_and(|goal| goal.holds(&self.world, &self.marks, self.origin))
    }
}

fn place([x, y, z]: Cell) -> Cell {
    [x + 132, y + FLOOR, z + 132]
}

fn cells(from: Cell, to: Cell) -> Vec<Cell> {
    let [x, y, z] = [0, 1, 2].map(|axis| from[axis]..=to[axis]);
    let mut cells = Vec::new();
    for x in x {
        for y in y.clone() {
            cells.extend(z.clone().map(|z| [x, y, z]));
        }
    }
    cells
}

/// The shell of a box without its floor.
fn shell(to: Cell) -> Vec<Cell> {
    let is_shell = |cell: &Cell| {
        cell[0] == 0 || cell[0] == to[0] || cell[2] == 0 || cell[2] == to[2] || cell[1] == to[1]
    };
    cells([0, 0, 0], to).into_iter().filter(is_shell).collect()
}

/// The cells of a plan with a `#`, from the floor up.
fn plan(rows: &[&str], height: i32) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (z, row) in rows.iter().enumerate() {
        for (x, _) in row.match_indices('#') {
            cells.extend((0..height).map(|y| [x as i32, y, z as i32]));
        }
    }
    cells
}

fn check(goal: &str, met: &[Yard], unmet: &[Yard]) {
    assert!(met.len() >= 3 && unmet.len() >= 3, "{goal}");
    for (number, yard) in met.iter().enumerate() {
        assert!(yard.meets(goal), "{goal}: number {number} of those that meet it");
    }
    for (number, yard) in unmet.iter().enumerate() {
        assert!(!yard.meets(goal), "{goal}: number {number} of those that do not");
    }
}

#[test]
fn counts_are_of_what_was_placed_and_still_stands() {
    let some = cells([0, 0, 0], [3, 0, 0]);
    check(
        "count_placed: {of: [glass, torch, '#planks'], count: 4, kinds: 2}",
        &[
            Yard::new().put("glass", &some[..2]).put("oak_planks", &some[2..]),
            Yard::new().put("oak_planks", &some[..1]).put("birch_planks", &some[1..]),
            Yard::new().put("glass", &some).put("torch", &[[0, 0, 2]]),
        ],
        &[
            Yard::new().put("glass", &some),
            Yard::new().found("glass", &some[..2]).put("oak_planks", &some[2..]),
            Yard::new().put("glass", &some[..2]).put("oak_planks", &some[2..]).dig(&some[..1]),
            Yard::new().put("stone", &some[..2]).put("bricks", &some[2..]),
        ],
    );
    let doors = |count: i32| (0..count).fold(Yard::new(), |yard, x| yard.put_door("oak_door", [x * 2, 0, 0]));
    check(
        "count_placed: {of: [oak_door, glass], count: 2}",
        &[doors(2), doors(3), doors(1).put("glass", &[[5, 0, 0]])],
        &[doors(1), doors(0), doors(1).put("stone", &[[5, 0, 0]])],
    );
}

#[test]
fn what_hangs_on_a_wall_counts_as_what_it_was_put_up_as_and_as_itself() {
    let (one, other) = ([[0, 0, 0]], [[3, 0, 0]]);
    check(
        "count_placed: {of: [torch, oak_sign, potted_poppy], count: 2, kinds: 2}",
        &[
            Yard::new().put("wall_torch", &one).put("oak_wall_sign", &other),
            Yard::new().put("torch", &one).put("oak_sign", &other),
            Yard::new().put("potted_poppy", &one).put("oak_wall_sign", &other),
        ],
        &[
            Yard::new().put("wall_torch", &one).put("torch", &other),
            Yard::new().put("oak_sign", &one).put("birch_wall_sign", &other),
            Yard::new().put("flower_pot", &one).put("torch", &other),
        ],
    );
    check(
        "count_placed: {of: [wall_torch, flower_pot], count: 2}",
        &[
            Yard::new().put("wall_torch", &one).put("potted_poppy", &other),
            Yard::new().put("flower_pot", &one).put("potted_fern", &other),
            Yard::new().put("wall_torch", &[one[0], other[0]]),
        ],
        &[
            Yard::new().put("torch", &one).put("flower_pot", &other),
            Yard::new().put("soul_wall_torch", &one).put("flower_pot", &other),
            Yard::new().put("wall_torch", &one),
        ],
    );
}

#[test]
fn columns_go_straight_up() {
    let three = cells([0, 0, 0], [0, 2, 0]);
    check(
        "column: {of: cobblestone, height: 3}",
        &[
            Yard::new().put("cobblestone", &three),
            Yard::new().put("cobblestone", &cells([0, 0, 0], [0, 6, 0])),
            Yard::new().put("bricks", &[[0, 0, 0]]).put("cobblestone", &cells([0, 1, 0], [0, 3, 0])),
        ],
        &[
            Yard::new().put("cobblestone", &three[..2]),
            Yard::new().found("cobblestone", &three),
            Yard::new().put("cobblestone", &cells([0, 0, 0], [2, 0, 0])),
            Yard::new().put("cobblestone", &cells([0, 0, 0], [0, 3, 0])).dig(&[[0, 1, 0]]),
            Yard::new().put("bricks", &three),
        ],
    );
}

#[test]
fn walls_have_no_holes() {
    check(
        "wall: {length: 4, height: 2}",
        &[
            Yard::new().put("bricks", &cells([0, 0, 0], [3, 1, 0])),
            Yard::new().put("bricks", &cells([0, 0, 0], [0, 2, 5])),
            Yard::new()
                .put("bricks", &cells([0, 0, 0], [2, 1, 0]))
                .put("glass", &cells([3, 0, 0], [3, 1, 0])),
        ],
        &[
            Yard::new().put("bricks", &cells([0, 0, 0], [2, 1, 0])),
            Yard::new().put("bricks", &cells([0, 0, 0], [3, 1, 0])).dig(&[[1, 1, 0]]),
            Yard::new().put("bricks", &cells([0, 0, 0], [7, 0, 0])),
            Yard::new().found("bricks", &cells([0, 0, 0], [3, 1, 0])),
            Yard::new().put("torch", &cells([0, 0, 0], [3, 1, 0])),
        ],
    );
}

#[test]
fn towers_are_slim_and_stood_upon() {
    check(
        "tower: {height: 4, base: 2}",
        &[
            Yard::new().put("stone", &cells([0, 0, 0], [0, 3, 0])).stand([0, 4, 0]),
            Yard::new().put("stone", &cells([0, 0, 0], [1, 5, 1])).stand([1, 6, 0]),
            Yard::new()
                .put("stone", &cells([0, 0, 0], [1, 0, 0]))
                .put("bricks", &cells([1, 1, 0], [1, 4, 0]))
                .stand([1, 5, 0]),
        ],
        &[
            Yard::new().put("stone", &cells([0, 0, 0], [0, 3, 0])),
            Yard::new().put("stone", &cells([0, 0, 0], [0, 2, 0])).stand([0, 3, 0]),
            Yard::new().put("stone", &cells([0, 0, 0], [2, 3, 0])).stand([0, 4, 0]),
            Yard::new().found("stone", &cells([0, 0, 0], [0, 3, 0])).stand([0, 4, 0]),
            Yard::new()
                .found("stone", &[[0, 0, 0]])
                .put("stone", &cells([0, 1, 0], [0, 3, 0]))
                .stand([0, 4, 0]),
        ],
    );
}

#[test]
fn mazes_have_a_way_through_with_bends() {
    let bent = ["#.###", "#...#", "###.#"];
    check(
        "maze: {bends: 2}",
        &[
            Yard::new().put("bricks", &plan(&bent, 2)),
            Yard::new().put("bricks", &plan(&bent, 3)),
            Yard::new().put("bricks", &plan(&["#.#####", "#.....#", "#####.#", "#.....#", "#.#####"], 2)),
        ],
        &[
            Yard::new().put("bricks", &plan(&bent, 1)),
            Yard::new().put("bricks", &plan(&["#.#", "#.#", "#.#"], 2)),
            Yard::new().put("bricks", &plan(&["#.###", "#...#", "#####"], 2)),
            Yard::new().put("bricks", &plan(&["#.###", "#...#", "#.###"], 2)),
            Yard::new().put("bricks", &plan(&["#.", "..", ".#", "..", "#."], 2)),
            Yard::new().found("bricks", &plan(&bent, 2)),
        ],
    );
}

#[test]
fn rings_are_closed() {
    let ring = plan(&["####", "#..#", "####"], 1);
    check(
        "ring: {of: cobblestone, area: 2}",
        &[
            Yard::new().put("cobblestone", &ring),
            Yard::new().put("cobblestone", &plan(&[".##.", "#..#", ".##."], 1)),
            Yard::new().put("cobblestone", &plan(&["#####", "#...#", "#...#", "#####"], 2)),
        ],
        &[
            Yard::new().put("cobblestone", &ring).dig(&ring[..2]),
            Yard::new().put("cobblestone", &plan(&["###", "#.#", "###"], 1)),
            Yard::new().put("bricks", &ring),
            Yard::new().found("cobblestone", &ring),
        ],
    );
    let inside = [[1, 0, 1], [2, 0, 1]];
    let yard = || Yard::new().put("cobblestone", &ring);
    let goal = "ring: {of: cobblestone, area: 2, around: {of: [glass, torch], count: 2, kinds: 2}}";
    check(
        goal,
        &[
            yard().put("glass", &inside[..1]).put("torch", &inside[1..]),
            yard().put("torch", &inside[..1]).put("glass", &inside[1..]),
            yard().put("glass", &inside).put("torch", &[[1, 1, 1]]),
        ],
        &[yard(), yard().put("glass", &inside), yard().put("glass", &inside[..1]).put("torch", &[[6, 0, 6]])],
    );
}

#[test]
fn rooms_are_closed_and_built() {
    let walls = shell([3, 2, 3]);
    let house = || Yard::new().put("oak_planks", &walls);
    let hole = [[1, 2, 1]];
    check(
        "room: {air: 8}",
        &[
            house(),
            Yard::new().put("glass", &shell([4, 3, 3])),
            house().dig(&[[0, 1, 1]]).put("glass", &[[0, 1, 1]]),
        ],
        &[
            house().dig(&hole),
            house().dig(&[[0, 0, 1]]),
            Yard::new().found("oak_planks", &walls),
            Yard::new().put("oak_planks", &shell([2, 2, 3])),
            // A hole in a rock with a lid.
            Yard::new().found("stone", &walls).dig(&hole).put("oak_planks", &hole),
        ],
    );
    check(
        "room: {air: 7, light: 8}",
        &[
            house().put("torch", &[[1, 0, 1]]),
            house().dig(&hole).put("glowstone", &hole),
            house().put("torch", &[[2, 0, 2]]),
        ],
        &[house(), house().put("torch", &[[5, 0, 1]]), house().put("torch", &[[1, 0, 1]]).dig(&[[1, 0, 1]])],
    );
    check(
        "room: {air: 6, with: {of: bricks, count: 2}}",
        &[
            house().put("bricks", &[[1, 0, 1], [2, 0, 1]]),
            house().dig(&[[0, 0, 1], [0, 0, 2]]).put("bricks", &[[0, 0, 1], [0, 0, 2]]),
            house().put("bricks", &[[1, 0, 1], [1, 1, 1]]),
            // What stands in the room does not hide its walls.
            house()
                .dig(&[[0, 0, 1], [0, 0, 2]])
                .put("bricks", &[[0, 0, 1], [0, 0, 2]])
                .put("lantern", &[[1, 0, 1]]),
        ],
        &[
            house().put("bricks", &[[1, 0, 1]]),
            house().put("bricks", &[[6, 0, 1], [6, 1, 1]]),
            house().found("bricks", &[[1, 0, 1], [1, 1, 1]]),
        ],
    );
}

#[test]
fn gates_stand_open_and_houses_have_doors() {
    let at = [[0, 0, 0]];
    check(
        "open: {of: ['#wooden_fence_gates', oak_trapdoor]}",
        &[
            Yard::new().put("oak_fence_gate", &at).turn("oak_fence_gate[open=true]", at[0]),
            Yard::new().put("oak_trapdoor", &at).turn("oak_trapdoor[open=true]", at[0]),
            Yard::new().put("birch_fence_gate", &at).turn("birch_fence_gate[open=true,facing=east]", at[0]),
        ],
        &[
            Yard::new().put("oak_fence_gate", &at),
            Yard::new().turn("oak_fence_gate[open=true]", at[0]),
            Yard::new().put("oak_door", &at).turn("oak_door[open=true]", at[0]),
        ],
    );
    let way_in = cells([1, 0, 0], [1, 1, 0]);
    let house = || Yard::new().put("oak_planks", &shell([3, 2, 3])).dig(&way_in);
    check(
        "room: {air: 8, door: true}",
        &[
            house().put_door("oak_door", way_in[0]),
            house().put_door("iron_door", way_in[0]),
            house().put_door("birch_door", way_in[0]).put("torch", &[[1, 0, 1]]).dig(&[[1, 0, 1]]),
        ],
        &[house(), house().put("oak_planks", &way_in), house().put("oak_planks", &way_in[..1])],
    );
}
