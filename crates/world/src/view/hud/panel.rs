//! The screen that is open: its window with slots and stacks, and the pointer.

use craft::ItemStack;

use super::canvas::{Canvas, PixelRect, opaque};
use super::icons::paint_stack;
use super::letters::paint_text;
use crate::containers::Container;
use crate::screen::{SLOT, ScreenKind, ScreenLayout, ScreenSlot};
use crate::world::World;

/// What is shown of a screen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Panel {
    pub kind: ScreenKind,
    pub pointer: [i32; 2],
    pub carried: Option<ItemStack>,
    /// The stacks, in the order of the layout.
    pub stacks: Vec<Option<ItemStack>>,
    /// How high a furnace's fire is, and how long its arrow, in pixels.
    pub gauges: [i32; 2],
}

/// What covers the view behind a screen.
const DIM: [u8; 4] = [16, 16, 16, 200];

const PLATE: [u8; 3] = [198, 198, 198];
const BRIGHT: [u8; 3] = [255, 255, 255];
const SHADE: [u8; 3] = [85, 85, 85];
const WELL: [u8; 3] = [139, 139, 139];
const WELL_EDGE: [u8; 3] = [55, 55, 55];
const UNDER_POINTER: [u8; 3] = [197, 197, 197];
const INK: [u8; 3] = [64, 64, 64];

/// The places of a furnace's fire and arrow, and their sizes.
const FIRE: ([i32; 2], [i32; 2]) = ([56, 36], [14, 14]);
const ARROW: ([i32; 2], [i32; 2]) = ([79, 34], [24, 17]);

const FLAME: [&str; 14] = [
    "......#.......",
    ".....##.......",
    ".....###...#..",
    "..#..####..#..",
    "..#.#####.##..",
    ".##.##o##.###.",
    ".#####oo#####.",
    "###o##oo##o##.",
    "##oo#oooo#oo##",
    "##ooooooooo###",
    "###ooo..ooo##.",
    ".###o....o##..",
    "..###....###..",
    "....##..##....",
];

/// The pointer: black with a white edge.
const POINTER: [&str; 12] = [
    "w.......", "ww......", "wkw.....", "wkkw....", "wkkkw...", "wkkkkw..", "wkkkkkw.", "wkkkkkkw",
    "wkkkkwww", "wkwkkw..", "ww.wkkw.", "....www.",
];

impl Panel {
    pub fn of(world: &World) -> Option<Self> {
        let screen = world.screen()?;
        let slots = screen.layout().slots.iter();
        let furnace = match screen.kind() {
            ScreenKind::Furnace(cell) => world.containers().get(cell),
            _ => None,
        };
        let gauges = match furnace {
            Some(Container::Furnace(furnace)) => {
                [furnace.flame(14), furnace.arrow(24)].map(|part| part as i32)
            }
            _ => [0; 2],
        };
        Some(Self {
            kind: screen.kind(),
            pointer: screen.pointer(),
            carried: screen.carried(),
            stacks: slots.map(|place| world.screen_slot(place.slot)).collect(),
            gauges,
        })
    }

    fn layout(&self) -> &'static ScreenLayout {
        ScreenLayout::of(self.kind)
    }

    /// What has to be painted again after another panel was shown. None if that is all.
    pub fn changes_since(&self, other: &Self) -> Option<Vec<PixelRect>> {
        if self.kind != other.kind {
            return None;
        }
        let layout = self.layout();
        let mut changes = Vec::new();
        if (self.pointer, self.carried) != (other.pointer, other.carried) {
            changes.extend([self.pointer_area(), other.pointer_area()]);
        }
        let [hovered, before] = [self, other].map(|panel| layout.slot_at(panel.pointer));
        let stacks = self.stacks.iter().zip(&other.stacks);
        for (place, (stack, known)) in layout.slots.iter().zip(stacks) {
            let is_hovered_anew = hovered != before && [hovered, before].contains(&Some(place.slot));
            if stack != known || is_hovered_anew {
                changes.push(self.area([place.at[0] - 1, place.at[1] - 1], [SLOT + 1; 2]));
            }
        }
        if self.gauges != other.gauges {
            changes.extend([self.area(FIRE.0, FIRE.1), self.area(ARROW.0, ARROW.1)]);
        }
        Some(changes)
    }

    /// What the pointer and the stack that it carries cover.
    fn pointer_area(&self) -> PixelRect {
        let [x, y] = self.pointer;
        PixelRect { low: [x - 8, y - 8], high: [x + 12, y + 13] }
    }

    /// A rectangle of the window, from one of the screen.
    fn area(&self, at: [i32; 2], size: [i32; 2]) -> PixelRect {
        let corner = self.layout().corner();
        PixelRect::new([corner[0] + at[0], corner[1] + at[1]], size)
    }

    pub fn paint(&self, canvas: &mut Canvas) {
        canvas.cover(PixelRect::WINDOW, DIM);
        self.paint_plate(canvas);
        let layout = self.layout();
        let hovered = layout.slot_at(self.pointer);
        for (place, stack) in layout.slots.iter().zip(&self.stacks) {
            let well = if hovered == Some(place.slot) { UNDER_POINTER } else { WELL };
            let is_large = place.slot == ScreenSlot::Result && self.kind != ScreenKind::Inventory
                || place.slot == ScreenSlot::Container(2) && matches!(self.kind, ScreenKind::Furnace(_));
            self.paint_well(canvas, place.at, if is_large { 5 } else { 1 });
            canvas.fill(self.area(place.at, [16; 2]), opaque(well));
            if let Some(stack) = stack {
                paint_stack(canvas, *stack, self.area(place.at, [16; 2]).low);
            }
        }
        let [x, y] = self.pointer;
        if let Some(stack) = self.carried {
            paint_stack(canvas, stack, [x - 8, y - 8]);
        }
        paint_marks(canvas, &POINTER, self.pointer, |mark| match mark {
            b'w' => Some(BRIGHT),
            b'k' => Some([20, 20, 20]),
            _ => None,
        });
    }

    /// The window without its slots.
    fn paint_plate(&self, canvas: &mut Canvas) {
        let size = self.layout().size;
        let plate = self.area([0, 0], size);
        let [width, height] = size;
        canvas.fill(plate, opaque(PLATE));
        canvas.frame(plate, opaque([0; 3]), opaque([0; 3]));
        for inset in 1..3 {
            let edge = self.area([inset; 2], [width - 2 * inset, height - 2 * inset]);
            canvas.frame(edge, opaque(BRIGHT), opaque(SHADE));
        }
        let write = |canvas: &mut Canvas, text: &str, at| {
            paint_text(canvas, text, self.area(at, [0; 2]).low, opaque(INK));
        };
        match self.kind {
            ScreenKind::Inventory => {
                write(canvas, "CRAFTING", [97, 8]);
                self.paint_figure(canvas);
                self.paint_arrow(canvas, [135, 28], 0);
            }
            ScreenKind::CraftingTable(_) => {
                write(canvas, "CRAFTING", [29, 8]);
                self.paint_arrow(canvas, [90, 35], 0);
            }
            ScreenKind::Chest(_) => write(canvas, "CHEST", [8, 8]),
            ScreenKind::Furnace(_) => {
                write(canvas, "FURNACE", [74, 8]);
                self.paint_arrow(canvas, ARROW.0, self.gauges[1]);
                let high = 14 - self.gauges[0];
                paint_marks(canvas, &FLAME, self.area(FIRE.0, [0; 2]).low, |mark| {
                    (mark != b'.').then_some(WELL)
                });
                let burning: Vec<&str> = FLAME[high as usize..].to_vec();
                paint_marks(canvas, &burning, self.area([FIRE.0[0], FIRE.0[1] + high], [0; 2]).low, |mark| {
                    match mark {
                        b'#' => Some([232, 110, 24]),
                        b'o' => Some([252, 214, 84]),
                        _ => None,
                    }
                });
            }
        }
        if self.kind != ScreenKind::Inventory {
            write(canvas, "INVENTORY", [8, height - 90]);
        }
    }

    /// The hollow of a slot, which is so much larger than its stack on each side.
    fn paint_well(&self, canvas: &mut Canvas, [x, y]: [i32; 2], margin: i32) {
        let hollow = self.area([x - margin, y - margin], [16 + 2 * margin; 2]);
        canvas.fill(hollow, opaque(WELL));
        canvas.frame(hollow, opaque(WELL_EDGE), opaque(BRIGHT));
    }

    /// An arrow to the right, of which some pixels are filled.
    fn paint_arrow(&self, canvas: &mut Canvas, at: [i32; 2], filled: i32) {
        let length = if self.kind == ScreenKind::Inventory { 16 } else { 22 };
        let [x, y] = self.area(at, [0; 2]).low;
        for column in 0..length {
            let colour = if column < filled { BRIGHT } else { WELL };
            let half = if column < length - 8 { 1 } else { length - 1 - column };
            canvas.fill(PixelRect::new([x + column, y + 8 - half], [1, 2 * half + 1]), opaque(colour));
        }
    }

    /// Whoever carries all this.
    fn paint_figure(&self, canvas: &mut Canvas) {
        canvas.fill(self.area([26, 8], [49, 70]), opaque([0; 3]));
        let (skin, hair, shirt, trousers) = ([206, 160, 128], [74, 50, 30], [40, 148, 156], [58, 62, 140]);
        for (at, size, colour) in [
            ([42, 14], [16, 16], skin),
            ([42, 14], [16, 4], hair),
            ([45, 21], [2, 2], [240, 240, 240]),
            ([53, 21], [2, 2], [240, 240, 240]),
            ([34, 30], [8, 8], shirt),
            ([34, 38], [8, 14], skin),
            ([58, 30], [8, 8], shirt),
            ([58, 38], [8, 14], skin),
            ([42, 30], [16, 23], shirt),
            ([42, 53], [8, 21], trousers),
            ([50, 53], [8, 21], trousers.map(|part: u8| part / 5 * 4)),
        ] {
            canvas.fill(self.area(at, size), opaque(colour));
        }
    }
}

fn paint_marks(canvas: &mut Canvas, rows: &[&str], [x, y]: [i32; 2], colour: impl Fn(u8) -> Option<[u8; 3]>) {
    for (row, line) in rows.iter().enumerate() {
        for (column, mark) in line.bytes().enumerate() {
            if let Some(colour) = colour(mark) {
                canvas.dot(x + column as i32, y + row as i32, opaque(colour));
            }
        }
    }
}
