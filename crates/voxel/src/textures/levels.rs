//! The output of patterns: a level for every texel of a tile.

use super::noise::EDGE;

/// A level for each texel; none for texels that are not painted.
pub type Levels = [Option<f32>; 256];

pub fn by_texel(level: impl Fn(i32, i32) -> Option<f32>) -> Levels {
    std::array::from_fn(|i| level(i as i32 % EDGE, i as i32 / EDGE))
}

pub fn index(x: i32, y: i32) -> usize {
    (y.rem_euclid(EDGE) * EDGE + x.rem_euclid(EDGE)) as usize
}

/// Spreads the levels evenly from 0 to 1, so that every colour of a ramp is used equally often.
pub fn equalise(levels: &mut Levels) {
    let mut order: Vec<usize> = (0..levels.len()).filter(|&i| levels[i].is_some()).collect();
    order.sort_by(|&a, &b| levels[a].unwrap_or(0.0).total_cmp(&levels[b].unwrap_or(0.0)));
    for (rank, &i) in order.iter().enumerate() {
        levels[i] = Some((rank as f32 + 0.5) / order.len() as f32);
    }
}
