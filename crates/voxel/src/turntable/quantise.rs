//! A palette for many frames, by median cut.
//!
//! Colours are counted as shades with six bits per channel. The box of shades with the largest weighted variance is
//! split at its median, until there are as many boxes as colours.

/// Colours in a palette. One more index is left for transparency.
pub const MAX_COLOURS: usize = 255;

/// Bits per channel of a shade.
const BITS: u32 = 6;
/// The weight of differences in a channel, about as the eye sees them.
const WEIGHTS: [u64; 3] = [3, 5, 2];

/// A colour, rounded to [`BITS`] per channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shade(u32);

/// The count of each shade and the sum of its colours.
pub struct ColourCounts(Vec<(u32, [u32; 3])>);

pub struct GifPalette {
    colours: Vec<[u8; 3]>,
    /// The index of the nearest colour, by shade.
    nearest: Vec<u8>,
}

impl Shade {
    fn of(colour: [u8; 3]) -> Self {
        Self(colour.into_iter().fold(0, |shade, channel| shade << BITS | u32::from(channel) >> (8 - BITS)))
    }
}

impl ColourCounts {
    pub fn new() -> Self {
        Self(vec![(0, [0; 3]); 1 << (3 * BITS)])
    }

    pub fn add(&mut self, colour: [u8; 3]) -> Shade {
        let shade = Shade::of(colour);
        let (count, sums) = &mut self.0[shade.0 as usize];
        *count += 1;
        for (sum, channel) in sums.iter_mut().zip(colour) {
            *sum += u32::from(channel);
        }
        shade
    }

    pub fn palette(&self) -> GifPalette {
        let mut boxes = vec![ColourBox::new(self.0.iter().filter_map(WeightedColour::mean).collect())];
        while boxes.len() < MAX_COLOURS {
            let Some(widest) = (0..boxes.len()).max_by_key(|&i| boxes[i].split_gain) else { break };
            if boxes[widest].split_gain == 0 {
                break;
            }
            let [low, high] = boxes.swap_remove(widest).halves();
            boxes.extend([low, high]);
        }
        let colours: Vec<_> = boxes.iter().map(ColourBox::mean).collect();
        let means = self.0.iter().map(WeightedColour::mean);
        let nearest = means.map(|mean| mean.map_or(0, |shade| nearest(&colours, shade.colour))).collect();
        GifPalette { nearest, colours }
    }
}

impl GifPalette {
    pub fn nearest(&self, shade: Shade) -> u8 {
        self.nearest[shade.0 as usize]
    }

    /// All entries as a GIF has them, padded with black.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.colours.as_flattened().to_vec();
        bytes.resize((MAX_COLOURS + 1) * 3, 0);
        bytes
    }
}

#[derive(Clone, Copy)]
struct WeightedColour {
    colour: [u8; 3],
    count: u64,
}

impl WeightedColour {
    fn mean(&(count, sums): &(u32, [u32; 3])) -> Option<Self> {
        (count > 0)
            .then(|| Self { colour: sums.map(|sum| ((sum + count / 2) / count) as u8), count: count.into() })
    }
}

struct ColourBox {
    shades: Vec<WeightedColour>,
    axis: usize,
    /// How much a split along the axis would gain.
    split_gain: u64,
}

impl ColourBox {
    fn new(shades: Vec<WeightedColour>) -> Self {
        let total: u64 = shades.iter().map(|shade| shade.count).sum();
        let spread = |axis: usize| {
            let at = |shade: &WeightedColour| u64::from(shade.colour[axis]);
            let mean = shades.iter().map(|shade| at(shade) * shade.count).sum::<u64>() / total.max(1);
            let squares = shades.iter().map(|shade| at(shade).abs_diff(mean).pow(2) * shade.count);
            squares.sum::<u64>() * WEIGHTS[axis]
        };
        // Of equal gains the last one counts, so that green is before red, and red before blue.
        let gains = [2, 0, 1].map(|axis| (spread(axis), axis));
        let (split_gain, axis) = gains.into_iter().max_by_key(|&(gain, _)| gain).unwrap_or_default();
        // The square root keeps the wall, which fills most of every frame, from taking most of the colours.
        Self { split_gain: if shades.len() < 2 { 0 } else { split_gain.isqrt().max(1) }, shades, axis }
    }

    /// Splits a box that has at least two shades, so that neither half is empty.
    fn halves(mut self) -> [Self; 2] {
        self.shades.sort_by_key(|shade| shade.colour[self.axis]);
        let total: u64 = self.shades.iter().map(|shade| shade.count).sum();
        let mut sum = 0;
        let below = self.shades.iter().take_while(|shade| {
            sum += shade.count;
            sum * 2 <= total
        });
        let middle = below.count().clamp(1, self.shades.len() - 1);
        let high = self.shades.split_off(middle);
        [Self::new(self.shades), Self::new(high)]
    }

    fn mean(&self) -> [u8; 3] {
        let total: u64 = self.shades.iter().map(|shade| shade.count).sum();
        [0, 1, 2].map(|channel| {
            let sum: u64 =
                self.shades.iter().map(|shade| u64::from(shade.colour[channel]) * shade.count).sum();
            ((sum + total / 2) / total.max(1)) as u8
        })
    }
}

fn nearest(colours: &[[u8; 3]], wanted: [u8; 3]) -> u8 {
    let off = |colour: &[u8; 3]| -> u64 {
        (0..3).map(|i| u64::from(colour[i].abs_diff(wanted[i])).pow(2) * WEIGHTS[i]).sum()
    };
    let nearest = (0_u8..).zip(colours).min_by_key(|(_, colour)| off(colour));
    nearest.map_or(0, |(number, _)| number)
}
