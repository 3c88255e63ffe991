//! The boxes of blocks: what is drawn, what bodies stop at, and what a look meets.
//!
//! Boxes are written as they stand when the block faces north, and turned from there.

use serde::Deserialize;

use super::{Axis, Facing, Joint, Shape};

/// Two corners of a box, in sixteenths of a cell.
pub(crate) type BoxEdges = [u8; 6];

pub(crate) const CUBE: BoxEdges = [0, 0, 0, 16, 16, 16];

/// The outline of a plant.
const PLANT: BoxEdges = [2, 0, 2, 14, 13, 14];

/// How high bodies find a fence, which nobody jumps over.
const FENCE_HEIGHT: u8 = 24;

/// The boxes of a state in one of its surroundings.
#[derive(Clone, Debug)]
pub(crate) struct BlockForm {
    pub drawn: Shape,
    pub collision: Vec<BoxEdges>,
    pub outline: Vec<BoxEdges>,
    /// The faces that are whole: a bit for each of -x, +x, -y, +y, -z and +z.
    pub whole: u8,
    /// The faces whose middle is there, likewise.
    pub middle: u8,
}

impl BlockForm {
    pub fn new(drawn: Shape, collision: Vec<BoxEdges>, outline: Vec<BoxEdges>) -> Self {
        let mut form = Self { drawn, collision, outline, whole: 0, middle: 0 };
        for face in 0..6 {
            form.whole |= u8::from(form.covers(face, 0, 16)) << face;
            form.middle |= u8::from(form.covers(face, 7, 9)) << face;
        }
        form
    }

    pub fn of_shape(shape: Shape) -> Self {
        let (collision, outline) = match &shape {
            Shape::None | Shape::Liquid | Shape::Joined => (vec![], vec![]),
            Shape::Cube => (vec![CUBE], vec![CUBE]),
            Shape::Cross => (vec![], vec![PLANT]),
            Shape::Boxes(boxes) => (boxes.clone(), boxes.clone()),
        };
        Self::new(shape, collision, outline)
    }

    fn of_boxes(boxes: Vec<BoxEdges>) -> Self {
        Self::of_shape(Shape::Boxes(boxes))
    }

    /// Whether the boxes that bodies stop at cover a square in the middle of a face.
    fn covers(&self, face: usize, from: u8, to: u8) -> bool {
        let axis = face / 2;
        let (one, other) = ((axis + 1) % 3, (axis + 2) % 3);
        let touches =
            |edges: &&BoxEdges| if face.is_multiple_of(2) { edges[axis] == 0 } else { edges[axis + 3] >= 16 };
        // A bit for each sixteenth of a row.
        let mut rows = [0_u16; 16];
        for edges in self.collision.iter().filter(touches) {
            let bits = row_bits(edges[other], edges[other + 3]);
            let end = usize::from(edges[one + 3]).min(16);
            rows[usize::from(edges[one]).min(end)..end].iter_mut().for_each(|row| *row |= bits);
        }
        let wanted = row_bits(from, to);
        rows[usize::from(from)..usize::from(to)].iter().all(|row| row & wanted == wanted)
    }
}

/// The bits of a part of a row of sixteen, as far as it lies in the row.
fn row_bits(from: u8, to: u8) -> u16 {
    let below = |end: u8| (1_u32 << end.min(16)) - 1;
    (below(to) & !below(from)) as u16
}

/// A box as it stands when the block faces north, turned to where it faces.
pub(super) fn turn([x1, y1, z1, x2, y2, z2]: BoxEdges, facing: Option<Facing>) -> BoxEdges {
    match facing {
        None | Some(Facing::North) => [x1, y1, z1, x2, y2, z2],
        Some(Facing::South) => [16 - x2, y1, 16 - z2, 16 - x1, y2, 16 - z1],
        Some(Facing::West) => [z1, y1, 16 - x2, z2, y2, 16 - x1],
        Some(Facing::East) => [16 - z2, y1, x1, 16 - z1, y2, x2],
    }
}

/// A box as it stands along y, laid along an axis.
pub(super) fn lay([x1, y1, z1, x2, y2, z2]: BoxEdges, axis: Axis) -> BoxEdges {
    match axis {
        Axis::Y => [x1, y1, z1, x2, y2, z2],
        Axis::X => [y1, x1, z1, y2, x2, z2],
        Axis::Z => [x1, z1, y1, x2, z2, y2],
    }
}

fn turned(boxes: &[BoxEdges], facing: Option<Facing>) -> Vec<BoxEdges> {
    boxes.iter().map(|edges| turn(*edges, facing)).collect()
}

/// The shapes that blocks can have in `data/blocks.toml`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ShapeName {
    #[default]
    Cube,
    None,
    Liquid,
    Cross,
    Slab,
    Stairs,
    Door,
    Trapdoor,
    Fence,
    FenceGate,
    Pane,
    Wall,
    Bed,
    Cake,
    Snow,
    Lantern,
    Sign,
}

impl ShapeName {
    pub fn joint(self) -> Option<Joint> {
        match self {
            Self::Fence => Some(Joint::Fence),
            Self::Pane => Some(Joint::Pane),
            Self::Wall => Some(Joint::Wall),
            Self::Stairs => Some(Joint::Stairs),
            _ => None,
        }
    }

    /// The forms of a state whose properties have these values.
    pub fn forms(self, facing: Option<Facing>, value: &dyn Fn(&str) -> &'static str) -> Vec<BlockForm> {
        let is = |name: &str, wanted: &str| value(name) == wanted;
        let number = |name: &str| value(name).parse::<u8>().unwrap_or(0);
        let boxes = |boxes: &[BoxEdges]| vec![BlockForm::of_boxes(turned(boxes, facing))];
        match self {
            Self::Cube => vec![BlockForm::of_shape(Shape::Cube)],
            Self::None => vec![BlockForm::of_shape(Shape::None)],
            Self::Liquid => vec![BlockForm::of_shape(Shape::Liquid)],
            Self::Cross => vec![BlockForm::of_shape(Shape::Cross)],
            Self::Slab if is("type", "double") => vec![BlockForm::of_shape(Shape::Cube)],
            Self::Slab if is("type", "top") => boxes(&[[0, 8, 0, 16, 16, 16]]),
            Self::Slab => boxes(&[[0, 0, 0, 16, 8, 16]]),
            Self::Stairs => stairs(facing, is("half", "top")),
            Self::Door if is("open", "false") => boxes(&[[0, 0, 13, 16, 16, 16]]),
            Self::Door if is("hinge", "left") => boxes(&[[0, 0, 0, 3, 16, 16]]),
            Self::Door => boxes(&[[13, 0, 0, 16, 16, 16]]),
            Self::Trapdoor if is("open", "true") => boxes(&[[0, 0, 13, 16, 16, 16]]),
            Self::Trapdoor if is("half", "top") => boxes(&[[0, 13, 0, 16, 16, 16]]),
            Self::Trapdoor => boxes(&[[0, 0, 0, 16, 3, 16]]),
            Self::Fence => (0..16).map(fence).collect(),
            Self::FenceGate => vec![fence_gate(facing, is("open", "true"))],
            Self::Pane => (0..16).map(pane).collect(),
            Self::Wall => (0..32).map(wall).collect(),
            Self::Bed if is("part", "head") => {
                boxes(&[[0, 3, 0, 16, 9, 16], [0, 0, 0, 3, 3, 3], [13, 0, 0, 16, 3, 3]])
            }
            Self::Bed => boxes(&[[0, 3, 0, 16, 9, 16], [0, 0, 13, 3, 3, 16], [13, 0, 13, 16, 3, 16]]),
            Self::Cake => boxes(&[[1 + 2 * number("bites"), 0, 1, 15, 8, 15]]),
            Self::Snow if is("layers", "8") => vec![BlockForm::of_shape(Shape::Cube)],
            Self::Snow => {
                // Bodies sink a layer deep.
                let layer = |layers: u8| vec![[0, 0, 0, 16, 2 * layers, 16]];
                let layers = number("layers");
                let stops = if layers > 1 { layer(layers - 1) } else { vec![] };
                vec![BlockForm::new(Shape::Boxes(layer(layers)), stops, layer(layers))]
            }
            Self::Lantern if is("hanging", "true") => {
                let solid = vec![[5, 1, 5, 11, 8, 11], [6, 8, 6, 10, 10, 10]];
                let mut drawn = solid.clone();
                drawn.push([7, 10, 7, 9, 16, 9]);
                vec![BlockForm::new(Shape::Boxes(drawn), solid.clone(), solid)]
            }
            Self::Lantern => boxes(&[[5, 0, 5, 11, 7, 11], [6, 7, 6, 10, 9, 10]]),
            Self::Sign => {
                let board = if (number("rotation") + 2) / 4 % 2 == 0 {
                    [0, 8, 7, 16, 16, 9]
                } else {
                    [7, 8, 0, 9, 16, 16]
                };
                let drawn = Shape::Boxes(vec![board, [7, 0, 7, 9, 8, 9]]);
                vec![BlockForm::new(drawn, vec![], vec![[4, 0, 4, 12, 16, 12]])]
            }
        }
    }
}

/// Straight stairs, and the four kinds of corners: outer left and right, inner left and right.
fn stairs(facing: Option<Facing>, is_upside_down: bool) -> Vec<BlockForm> {
    const BASE: BoxEdges = [0, 0, 0, 16, 8, 16];
    let ahead = [0, 8, 0, 16, 16, 8];
    let steps: [&[BoxEdges]; 5] = [
        &[ahead],
        &[[0, 8, 0, 8, 16, 8]],
        &[[8, 8, 0, 16, 16, 8]],
        &[ahead, [0, 8, 8, 8, 16, 16]],
        &[ahead, [8, 8, 8, 16, 16, 16]],
    ];
    let upside_down = |[x1, y1, z1, x2, y2, z2]: BoxEdges| [x1, 16 - y2, z1, x2, 16 - y1, z2];
    let form = |steps: &[BoxEdges]| {
        let mut boxes = turned(&[&[BASE], steps].concat(), facing);
        if is_upside_down {
            boxes = boxes.into_iter().map(upside_down).collect();
        }
        BlockForm::of_boxes(boxes)
    };
    steps.map(form).into()
}

/// The directions that are joined, by a bit for each.
fn arms(joined: usize) -> impl Iterator<Item = Option<Facing>> {
    Facing::ALL.into_iter().enumerate().filter(move |(bit, _)| joined >> bit & 1 == 1).map(|(_, to)| Some(to))
}

fn fence(joined: usize) -> BlockForm {
    let mut drawn = vec![[6, 0, 6, 10, 16, 10]];
    let mut outline = drawn.clone();
    for to in arms(joined) {
        drawn.extend([turn([7, 6, 0, 9, 9, 6], to), turn([7, 12, 0, 9, 15, 6], to)]);
        outline.push(turn([6, 0, 0, 10, 16, 6], to));
    }
    let tall = |[x1, _, z1, x2, _, z2]: BoxEdges| [x1, 0, z1, x2, FENCE_HEIGHT, z2];
    let collision = outline.iter().map(|edges| tall(*edges)).collect();
    BlockForm::new(Shape::Boxes(drawn), collision, outline)
}

fn fence_gate(facing: Option<Facing>, is_open: bool) -> BlockForm {
    let posts = [[0, 5, 7, 2, 16, 9], [14, 5, 7, 16, 16, 9]];
    let wings: &[BoxEdges] = if is_open {
        &[
            [0, 6, 1, 2, 9, 7],
            [0, 12, 1, 2, 15, 7],
            [0, 9, 1, 2, 12, 3],
            [14, 6, 1, 16, 9, 7],
            [14, 12, 1, 16, 15, 7],
            [14, 9, 1, 16, 12, 3],
        ]
    } else {
        &[[2, 6, 7, 14, 9, 9], [2, 12, 7, 14, 15, 9], [6, 9, 7, 10, 12, 9]]
    };
    let drawn = turned(&[&posts[..], wings].concat(), facing);
    let collision = if is_open { vec![] } else { turned(&[[0, 0, 6, 16, FENCE_HEIGHT, 10]], facing) };
    BlockForm::new(Shape::Boxes(drawn), collision, turned(&[[0, 0, 6, 16, 16, 10]], facing))
}

fn pane(joined: usize) -> BlockForm {
    let mut boxes = vec![[7, 0, 7, 9, 16, 9]];
    boxes.extend(arms(joined).map(|to| turn([7, 0, 0, 9, 16, 7], to)));
    BlockForm::of_boxes(boxes)
}

/// A wall, whose arms are taller if there is something above it, which is the fifth bit.
fn wall(joined: usize) -> BlockForm {
    let height = if joined & 16 == 0 { 14 } else { 16 };
    // A straight wall needs no post.
    let has_post = !matches!(joined, 3 | 12 | 19 | 28);
    let mut boxes = if has_post { vec![[4, 0, 4, 12, 16, 12]] } else { vec![] };
    boxes.extend(arms(joined).map(|to| turn([5, 0, 0, 11, height, 8], to)));
    let tall = |[x1, _, z1, x2, _, z2]: BoxEdges| [x1, 0, z1, x2, FENCE_HEIGHT, z2];
    let collision = boxes.iter().map(|edges| tall(*edges)).collect();
    BlockForm::new(Shape::Boxes(boxes.clone()), collision, boxes)
}
