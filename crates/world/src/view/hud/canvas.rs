//! What the layer is painted on: the window, or a part of it.

use crate::view::WINDOW;

/// A rectangle of the window, in pixels: its corner at the top left, and the one that is just outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PixelRect {
    pub low: [i32; 2],
    pub high: [i32; 2],
}

impl PixelRect {
    pub const WINDOW: Self = Self { low: [0, 0], high: WINDOW };

    pub fn new([x, y]: [i32; 2], [width, height]: [i32; 2]) -> Self {
        Self { low: [x, y], high: [x + width, y + height] }
    }

    pub fn is_empty(self) -> bool {
        (0..2).any(|axis| self.low[axis] >= self.high[axis])
    }

    /// The smallest rectangle that holds two.
    pub fn around(self, other: Self) -> Self {
        Self {
            low: [0, 1].map(|axis| self.low[axis].min(other.low[axis])),
            high: [0, 1].map(|axis| self.high[axis].max(other.high[axis])),
        }
    }

    /// What two rectangles share.
    pub fn and(self, other: Self) -> Self {
        Self {
            low: [0, 1].map(|axis| self.low[axis].max(other.low[axis])),
            high: [0, 1].map(|axis| self.high[axis].min(other.high[axis])),
        }
    }

    pub fn contains(self, point: [i32; 2]) -> bool {
        (0..2).all(|axis| (self.low[axis]..self.high[axis]).contains(&point[axis]))
    }
}

/// Pixels of a part of the window, with straight alpha. What is painted outside of it is left out.
pub(super) struct Canvas {
    area: PixelRect,
    pixels: Vec<[u8; 4]>,
}

/// A colour that covers what is below it.
pub(super) fn opaque([r, g, b]: [u8; 3]) -> [u8; 4] {
    [r, g, b, 255]
}

impl Canvas {
    pub fn new(area: PixelRect) -> Self {
        let area = area.and(PixelRect::WINDOW);
        let [width, height] = [0, 1].map(|axis| (area.high[axis] - area.low[axis]).max(0) as usize);
        Self { area, pixels: vec![[0; 4]; width * height] }
    }

    /// Whether anything of a rectangle is on the canvas.
    pub fn shows(&self, rect: PixelRect) -> bool {
        !self.area.and(rect).is_empty()
    }

    fn place(&self, x: i32, y: i32) -> usize {
        let width = self.area.high[0] - self.area.low[0];
        ((y - self.area.low[1]) * width + x - self.area.low[0]) as usize
    }

    /// The pixels of rows, from the left edge of the canvas to the right one.
    pub fn rows(&self, top: i32, bottom: i32) -> impl Iterator<Item = &[[u8; 4]]> {
        let PixelRect { low, high } = self.area;
        let row = |y: i32| self.place(low[0], y.clamp(low[1], high[1]));
        let width = (high[0] - low[0]).max(1) as usize;
        self.pixels.get(row(top)..row(bottom)).unwrap_or_default().chunks_exact(width)
    }

    pub fn area(&self) -> PixelRect {
        self.area
    }

    /// Sets a pixel.
    pub fn dot(&mut self, x: i32, y: i32, colour: [u8; 4]) {
        if self.area.contains([x, y]) {
            let place = self.place(x, y);
            self.pixels[place] = colour;
        }
    }

    /// Sets all pixels of a rectangle.
    pub fn fill(&mut self, rect: PixelRect, colour: [u8; 4]) {
        for row in self.rows_of(rect) {
            row.fill(colour);
        }
    }

    /// Sets the pixels to the right of a place.
    pub fn set_row(&mut self, [x, y]: [i32; 2], colours: &[[u8; 4]]) {
        let shown = self.area.and(PixelRect::new([x, y], [colours.len() as i32, 1]));
        for row in self.rows_of(shown) {
            let from = (shown.low[0] - x) as usize;
            // None of them is on a canvas that lies beside them.
            if let Some(colours) = colours.get(from..from + row.len()) {
                row.copy_from_slice(colours);
            }
        }
    }

    /// Lays a colour over a rectangle.
    pub fn cover(&mut self, rect: PixelRect, [r, g, b, alpha]: [u8; 4]) {
        let over = u32::from(alpha);
        let mixed = |[below @ .., below_alpha]: [u8; 4]| {
            let under = u32::from(below_alpha) * (255 - over) / 255;
            let sum = (over + under).max(1);
            let mixed =
                |(below, part): (u8, u8)| ((u32::from(part) * over + u32::from(below) * under) / sum) as u8;
            let [r, g, b] = [(below[0], r), (below[1], g), (below[2], b)].map(mixed);
            [r, g, b, (over + under).min(255) as u8]
        };
        // Most pixels are like the one before.
        let mut last = ([0; 4], mixed([0; 4]));
        for pixel in self.rows_of(rect).flatten() {
            if *pixel != last.0 {
                last = (*pixel, mixed(*pixel));
            }
            *pixel = last.1;
        }
    }

    /// The rows of a rectangle, as far as they are on the canvas.
    fn rows_of(&mut self, rect: PixelRect) -> impl Iterator<Item = &mut [[u8; 4]]> {
        let shown = self.area.and(rect);
        let width = (self.area.high[0] - self.area.low[0]).max(1) as usize;
        let [from, to] = [shown.low[1], shown.high[1]].map(|y| (y - self.area.low[1]).max(0) as usize);
        let [left, right] = [shown.low[0], shown.high[0]].map(|x| (x - self.area.low[0]).max(0) as usize);
        let rows = self.pixels.chunks_exact_mut(width).take(to).skip(from);
        rows.filter_map(move |row| row.get_mut(left..right))
    }

    /// Draws the border of a rectangle, a pixel wide, with one colour at the top and left and another one below and right.
    pub fn frame(&mut self, rect: PixelRect, light: [u8; 4], dark: [u8; 4]) {
        let PixelRect { low: [x1, y1], high: [x2, y2] } = rect;
        let (width, height) = (x2 - x1, y2 - y1);
        self.fill(PixelRect::new([x1, y1], [width - 1, 1]), light);
        self.fill(PixelRect::new([x1, y1], [1, height - 1]), light);
        self.fill(PixelRect::new([x1 + 1, y2 - 1], [width - 1, 1]), dark);
        self.fill(PixelRect::new([x2 - 1, y1 + 1], [1, height - 1]), dark);
        // The other two corners are of both.
        self.dot(x2 - 1, y1, dark);
        self.dot(x1, y2 - 1, dark);
    }
}
