//! Votes on four models as a general-purpose minimiser rated them, applied to the likelihood as Davidson published it and
//! without phantoms: ratings about a mean of 1000, ν, and the covariance if each vote is drawn by itself, with derivatives
//! by differences. A log-linear Poisson regression, with a constant for each pair, has the same ratings and ν.

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

/// With all votes.
pub const RATINGS: [f64; 4] = [1_160.632_624, 1_000.639_836, 968.567_316, 870.160_223];
pub const NU: f64 = 0.458_197_911;
/// With the ties left out, which makes it a Bradley-Terry model.
pub const RATINGS_WITHOUT_TIES: [f64; 4] = [1_156.016_692, 998.470_653, 974.070_919, 871.441_736];
pub const COVARIANCE: [[f64; 4]; 4] = [
    [1_792.731, -458.788_1, -721.425_0, -612.518_0],
    [-458.788_1, 1_413.663, -398.934_8, -555.940_5],
    [-721.425_0, -398.934_8, 1_485.456, -365.095_9],
    [-612.518_0, -555.940_5, -365.095_9, 1_533.554],
];
/// Of ln ν.
pub const VARIANCE_OF_LN_NU: f64 = 0.057_254_33;
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
