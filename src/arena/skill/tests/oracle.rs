//! Votes on four models as two public implementations of the fit rated them, without phantoms: ratings about
//! a mean of 1000, and the covariance if each vote is drawn by itself.

use super::*;

pub const MODELS: [&str; 4] = ["a", "b", "c", "d"];
const OUTCOMES: [(&str, &str, [u32; 3]); 6] = [
    ("a", "b", [14, 4, 6]),
    ("a", "c", [11, 2, 5]),
    ("a", "d", [17, 3, 2]),
    ("b", "c", [9, 5, 8]),
    ("b", "d", [12, 2, 6]),
    ("c", "d", [10, 6, 7]),
];
pub const RATINGS: [f64; 4] = [1_129.616_177, 1_000.567_395, 974.656_724, 895.159_704];
pub const COVARIANCE: [[f64; 4]; 4] = [
    [1_093.795_767, -297.289_327, -446.821_684, -349.684_756],
    [-297.289_327, 921.511_256, -264.583_449, -359.638_48],
    [-446.821_684, -264.583_449, 964.016_586, -252.611_453],
    [-349.684_756, -359.638_48, -252.611_453, 961.934_689],
];
pub const RANKS: [(u32, u32); 4] = [(1, 1), (2, 3), (2, 4), (3, 4)];

/// Each vote on a prompt of its own, so that none hangs together with another.
pub fn votes() -> Vec<PairTally> {
    let kinds = OUTCOMES.iter().flat_map(|(a, b, counts)| {
        [A, Tie, B].into_iter().zip(counts).map(move |(choice, &count)| (a, b, choice, count))
    });
    let single = kinds.flat_map(|(a, b, choice, count)| (0..count).map(move |_| (a, b, choice)));
    let numbered = single.zip(0..);
    numbered.map(|((a, b, choice), vote)| super::votes(&format!("vote-{vote}"), a, b, choice, 1)).collect()
}
