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

    fn at(&self, x: i32, y: i32) -> [u8; 4] {
        self.pixels.get(self.place(x, y)).copied().unwrap_or_default()
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
        let PixelRect { low, high } = self.area.and(rect);
        for y in low[1]..high[1] {
            for x in low[0]..high[0] {
                let place = self.place(x, y);
                self.pixels[place] = colour;
            }
        }
    }

    /// Lays a colour over a rectangle.
    pub fn cover(&mut self, rect: PixelRect, [r, g, b, alpha]: [u8; 4]) {
        let PixelRect { low, high } = self.area.and(rect);
        let over = u32::from(alpha);
        for y in low[1]..high[1] {
            for x in low[0]..high[0] {
                let place = self.place(x, y);
                let [below @ .., below_alpha] = self.pixels[place];
                let under = u32::from(below_alpha) * (255 - over) / 255;
                let sum = (over + under).max(1);
                let mixed = |(below, part): (u8, u8)| {
                    ((u32::from(part) * over + u32::from(below) * under) / sum) as u8
                };
                let [r, g, b] = [(below[0], r), (below[1], g), (below[2], b)].map(mixed);
                self.pixels[place] = [r, g, b, (over + under).min(255) as u8];
            }
        }
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

/// A pixel of a frame, squeezed from those of the canvas that it covers: the mean of red, green, blue and alpha in 256ths,
/// times alpha. None if it is clear.
fn squeezed(canvas: &Canvas, covered: PixelRect) -> Option<[u16; 4]> {
    let mut sum = [0_u32; 4];
    let mut count = 0;
    for y in covered.low[1]..covered.high[1] {
        for x in covered.low[0]..covered.high[0] {
            let [r, g, b, alpha] = canvas.at(x, y);
            for (sum, part) in sum.iter_mut().zip([r, g, b]) {
                *sum += u32::from(part) * u32::from(alpha);
            }
            sum[3] += u32::from(alpha);
            count += 1;
        }
    }
    if sum[3] == 0 {
        return None;
    }
    Some(sum.map(|part| (u64::from(part) * 256 / 255 / count) as u16))
}

/// Which pixels of the window a frame's pixels cover, along an axis.
fn covered(at: usize, edge: usize, axis: usize) -> [i32; 2] {
    let window = WINDOW[axis] as usize;
    let low = at * window / edge;
    [low as i32, ((at + 1) * window / edge).max(low + 1) as i32]
}

/// The pixels of a frame that cover any of a rectangle, from and to.
pub(super) fn pixels_of(rect: PixelRect, size: [usize; 2]) -> [[usize; 2]; 2] {
    let ranges = [0, 1].map(|axis| {
        let window = WINDOW[axis] as usize;
        let [low, high] = [rect.low[axis], rect.high[axis]].map(|at| at.clamp(0, WINDOW[axis]) as usize);
        // One more on each side costs little, and none is left out where numbers are rounded.
        let first = (low * size[axis] / window).saturating_sub(1);
        let last = (high * size[axis]).div_ceil(window) + 1;
        [first, last.min(size[axis])]
    });
    [[ranges[0][0], ranges[1][0]], [ranges[0][1], ranges[1][1]]]
}

/// What some pixels of a frame cover.
pub(super) fn area_of(pixels: [[usize; 2]; 2], size: [usize; 2]) -> PixelRect {
    let [from, to] = pixels;
    PixelRect {
        low: [0, 1].map(|axis| covered(from[axis], size[axis], axis)[0]),
        high: [0, 1].map(|axis| covered(to[axis].max(1) - 1, size[axis], axis)[1]),
    }
}

/// Makes a part of the canvas as small, or as large, as the frame. Calls back with the place of each pixel that is not
/// clear, row by row.
pub(super) fn squeeze(
    canvas: &Canvas,
    [from, to]: [[usize; 2]; 2],
    size: [usize; 2],
    mut keep: impl FnMut(usize, [u16; 4]),
) {
    for y in from[1]..to[1] {
        let [top, bottom] = covered(y, size[1], 1);
        for x in from[0]..to[0] {
            let [left, right] = covered(x, size[0], 0);
            if let Some(pixel) = squeezed(canvas, PixelRect { low: [left, top], high: [right, bottom] }) {
                keep(y * size[0] + x, pixel);
            }
        }
    }
}
