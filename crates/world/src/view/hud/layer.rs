//! The layer over the view in the size of the frame, made of a canvas in the size of the window.

use super::canvas::{Canvas, PixelRect};
use crate::view::WINDOW;

/// The pixels over a frame. Of each row it knows the part that may not be clear.
#[derive(Clone, Debug)]
pub(super) struct HudLayer {
    size: [usize; 2],
    /// Red, green, blue and alpha in 256ths, times alpha, row by row.
    pixels: Vec<[u16; 4]>,
    /// From where to where a row is not clear.
    spans: Vec<[usize; 2]>,
}

impl HudLayer {
    pub fn new(size: [usize; 2]) -> Self {
        let [width, height] = size;
        Self { size, pixels: vec![[0; 4]; width * height], spans: vec![[0; 2]; height] }
    }

    pub fn clear(&mut self) {
        self.pixels.fill([0; 4]);
        self.spans.fill([0; 2]);
    }

    /// Paints all pixels that show any of a part of the window. Those need a little more of the window.
    pub fn paint(&mut self, area: PixelRect, paint: impl FnOnce(PixelRect) -> Canvas) {
        let [columns, rows] =
            [0, 1].map(|axis| pixels_of([area.low[axis], area.high[axis]], self.size[axis], axis));
        if columns[0] >= columns[1] || rows[0] >= rows[1] {
            return;
        }
        let [across, down] = [columns, rows].map(|range| [range[0], range[1] - 1]);
        let from = [covered(across[0], self.size[0], 0)[0], covered(down[0], self.size[1], 1)[0]];
        let to = [covered(across[1], self.size[0], 0)[1], covered(down[1], self.size[1], 1)[1]];
        self.squeeze(&paint(PixelRect { low: from, high: to }), columns, rows);
    }

    /// Makes a canvas as small, or as large, as some columns and rows of the frame: a pixel is the mean of those that it
    /// covers.
    fn squeeze(&mut self, canvas: &Canvas, [left, right]: [usize; 2], [top, bottom]: [usize; 2]) {
        let edge = canvas.area().low[0];
        let columns: Vec<[usize; 2]> = (left..right)
            .map(|x| covered(x, self.size[0], 0).map(|at| (at - edge).max(0) as usize))
            .collect();
        let mut sums = vec![[0; 2]; columns.last().map_or(0, |last| last[1])];
        for y in top..bottom {
            let [first, end] = covered(y, self.size[1], 1);
            sums.fill([0; 2]);
            for row in canvas.rows(first, end) {
                add_row(&mut sums, row);
            }
            let row = &mut self.pixels[y * self.size[0]..(y + 1) * self.size[0]];
            for (pixel, [from, to]) in row[left..right].iter_mut().zip(&columns) {
                let count = ((to - from) as i32 * (end - first)) as u64;
                let [red_blue, green_alpha] = sums[*from..*to]
                    .iter()
                    .fold([0, 0], |sum: [u64; 2], column| [sum[0] + column[0], sum[1] + column[1]]);
                *pixel = if green_alpha >> 32 == 0 {
                    [0; 4]
                } else {
                    let sum = [red_blue, green_alpha, red_blue >> 32, green_alpha >> 32];
                    sum.map(|part| ((part & 0xffff_ffff) * 256 / 255 / count) as u16)
                };
            }
            self.spans[y] = trimmed(row, self.spans[y], [left, right]);
        }
    }

    /// Lays the layer over a picture.
    pub fn cover(&self, rgb: &mut [u8]) {
        let width = self.size[0];
        for (y, [from, to]) in self.spans.iter().enumerate() {
            let (from, to) = (y * width + from, y * width + to);
            let below = rgb[from * 3..to * 3].chunks_exact_mut(3);
            for (bytes, [r, g, b, alpha]) in below.zip(&self.pixels[from..to]) {
                for (byte, over) in bytes.iter_mut().zip([r, g, b]) {
                    *byte =
                        ((u32::from(*byte) * u32::from(256 - alpha) + u32::from(*over)) >> 8).min(255) as u8;
                }
            }
        }
    }
}

/// Adds a row of pixels, times their alpha, to sums. Each number holds two of them, in 32 bits: red and blue, green and
/// alpha. The part of the window that a pixel covers is far too small to
/// fill these.
fn add_row(sums: &mut [[u64; 2]], row: &[[u8; 4]]) {
    for (sum, pixel) in sums.iter_mut().zip(row) {
        let parts = u64::from(u32::from_le_bytes(*pixel));
        let alpha = parts >> 24;
        sum[0] += (parts & 0xff | (parts & 0xff_0000) << 16) * alpha;
        sum[1] += (parts >> 8 & 0xff | 1 << 32) * alpha;
    }
}

/// The part of a row that is not clear, within two parts outside of which it is.
fn trimmed(row: &[[u16; 4]], one: [usize; 2], other: [usize; 2]) -> [usize; 2] {
    let [mut from, mut to] =
        if one[0] < one[1] { [one[0].min(other[0]), one[1].max(other[1])] } else { other };
    while from < to && row[from] == [0; 4] {
        from += 1;
    }
    while from < to && row[to - 1] == [0; 4] {
        to -= 1;
    }
    [from, to]
}

/// Which pixels of the window a frame's pixel covers, along an axis.
fn covered(at: usize, edge: usize, axis: usize) -> [i32; 2] {
    let window = WINDOW[axis] as usize;
    let low = at * window / edge;
    [low as i32, ((at + 1) * window / edge).max(low + 1) as i32]
}

/// The pixels of a frame that cover any of a part of the window, along an axis, from and to.
fn pixels_of(part: [i32; 2], edge: usize, axis: usize) -> [usize; 2] {
    let window = WINDOW[axis] as usize;
    let [low, high] = part.map(|at| at.clamp(0, WINDOW[axis]) as usize);
    // One more on each side costs little, and none is left out where numbers are rounded.
    let first = (low * edge / window).saturating_sub(1);
    [first, ((high * edge).div_ceil(window) + 1).min(edge)]
}
