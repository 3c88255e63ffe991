//! Names beside points, where they cover neither each other nor other points.

use super::PlotEdges;
use crate::web::charts::truncated;

/// The approximate width of a character of a name.
const CHAR_WIDTH: f64 = 7.2;

/// The height of a name.
const HEIGHT: f64 = 16.0;

/// The distance of a name from its point.
const GAP: f64 = 9.0;

/// Half the side of the square that a point needs.
const POINT: f64 = 6.0;

pub(in crate::web) struct PointLabel {
    pub x: f64,
    pub y: f64,
    pub text: String,
    /// The value of `text-anchor`.
    pub anchor: &'static str,
}

/// Remembers what is taken.
pub(super) struct LabelPlacer {
    frame: TextBox,
    points: Vec<TextBox>,
    names: Vec<TextBox>,
}

#[derive(Clone, Copy)]
struct TextBox {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl LabelPlacer {
    pub fn new(frame: &PlotEdges, points: impl Iterator<Item = (f64, f64)>) -> Self {
        let point = |(x, y)| TextBox { left: x - POINT, right: x + POINT, top: y - POINT, bottom: y + POINT };
        let &PlotEdges { left, right, top, bottom } = frame;
        Self {
            frame: TextBox { left, right, top, bottom },
            points: points.map(point).collect(),
            names: Vec::new(),
        }
    }

    /// Beside the point if possible, since intervals run above and below it. None if there is no room.
    pub fn place(&mut self, (x, y): (f64, f64), name: &str, most_chars: usize) -> Option<PointLabel> {
        let text = truncated(name, most_chars);
        let width = text.chars().count() as f64 * CHAR_WIDTH;
        let beside = [0.0, -HEIGHT, HEIGHT].map(|dy| [("start", GAP, dy), ("end", -GAP, dy)]);
        let above_and_below = [("middle", 0.0, -HEIGHT), ("middle", 0.0, HEIGHT)];
        for (anchor, dx, dy) in beside.into_iter().flatten().chain(above_and_below) {
            let left = match anchor {
                "start" => x + dx,
                "end" => x + dx - width,
                _ => x - width / 2.0,
            };
            let (top, bottom) = (y + dy - HEIGHT / 2.0, y + dy + HEIGHT / 2.0);
            let place = TextBox { left, right: left + width, top, bottom };
            let is_taken = self.points.iter().chain(&self.names).any(|other| other.overlaps(place));
            if self.frame.holds(place) && !is_taken {
                self.names.push(place);
                return Some(PointLabel { x: x + dx, y: y + dy, text, anchor });
            }
        }
        None
    }
}

impl TextBox {
    fn overlaps(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn holds(self, other: Self) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }
}
