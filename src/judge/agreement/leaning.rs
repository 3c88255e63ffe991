//! Leanings towards one kind of build.

use uuid::Uuid;

use super::estimates::{PairSample, interval};
use super::verdicts::VerdictCounts;
use super::{Leaning, MeasuredValue, SharedPair};

/// With fewer pairs that have two votes or more, no line is fitted.
const MIN_FITTED_PAIRS: usize = 20;

/// The spread of the voters' opinions must be so many times its standard error.
const MIN_SPREAD: f64 = 3.0;

/// A pair with the build of the kind as the first.
#[derive(Clone, Copy)]
struct TurnedPair {
    pair: (Uuid, Uuid),
    judge: VerdictCounts,
    voters: VerdictCounts,
}

/// `is_first` says whether the first build of a pair is of the kind; None if neither or both are.
pub(super) fn measure(shared: &[SharedPair], is_first: impl Fn((Uuid, Uuid)) -> Option<bool>) -> Leaning {
    let turned = shared.iter().filter_map(|SharedPair { pair, judge, voters }| {
        Some(match is_first(*pair)? {
            true => TurnedPair { pair: *pair, judge: *judge, voters: *voters },
            false => TurnedPair { pair: *pair, judge: judge.mirrored(), voters: voters.mirrored() },
        })
    });
    let pairs: Vec<TurnedPair> = turned.collect();
    let values = |of: fn(&TurnedPair) -> f64| PairSample::new(pairs.iter().map(|pair| (pair.pair, of(pair))));
    Leaning {
        judge: values(|pair| share(pair.judge)).mean(0.0, 1.0),
        voters: values(|pair| share(pair.voters)).mean(0.0, 1.0),
        beyond_voters: values(|pair| share(pair.judge) - share(pair.voters)).mean(-1.0, 1.0),
        when_voters_split: when_voters_split(&pairs),
    }
}

/// Of verdicts for the first build; one for neither is half.
fn share(verdicts: VerdictCounts) -> f64 {
    f64::midpoint(1.0, verdicts.margin())
}

/// Fits judge = bias + slope × voters to the margins of pairs, and returns the bias as a share. With x the voters'
/// margin, y the judge's, and w the unbiased square of x, the fit solves
///
/// ```text
/// mean(y)  = bias + slope mean(x)
/// mean(xy) = bias mean(x) + slope mean(w)
/// ```
fn when_voters_split(pairs: &[TurnedPair]) -> Option<MeasuredValue> {
    struct Margins {
        pair: (Uuid, Uuid),
        x: f64,
        y: f64,
        w: f64,
    }
    let margins = pairs.iter().filter_map(|TurnedPair { pair, judge, voters }| {
        Some(Margins { pair: *pair, x: voters.margin(), y: judge.margin(), w: voters.squared_margin()? })
    });
    let margins: Vec<Margins> = margins.collect();
    let count = margins.len();
    if count < MIN_FITTED_PAIRS {
        return None;
    }
    let mean = |of: &dyn Fn(&Margins) -> f64| margins.iter().map(of).sum::<f64>() / count as f64;
    let (x, y, w, xy) = (mean(&|m| m.x), mean(&|m| m.y), mean(&|m| m.w), mean(&|m| m.x * m.y));
    let spread = w - x * x;
    let spread_variance = mean(&|m| (m.w - w - 2.0 * x * (m.x - x)).powi(2)) / (count as f64 - 1.0);
    if spread <= MIN_SPREAD * spread_variance.sqrt() || spread <= 0.0 {
        return None;
    }
    let slope = (xy - x * y) / spread;
    let bias = y - slope * x;
    // The first-order effect of each pair on the bias.
    let effects = margins.iter().map(|m| {
        let line = m.y - bias - slope * m.x;
        let product = (m.y - bias) * m.x - slope * m.w;
        (m.pair, (w * line - x * product) / spread)
    });
    let fitted = PairSample::new(effects).around(bias, [-1.0 - bias, 1.0 - bias], [-1.0, 1.0])?;
    let as_share = |margin: f64| f64::midpoint(1.0, margin);
    let bounds = [as_share(fitted.low), as_share(fitted.high)];
    interval(as_share(bias), bounds, [0.0, 1.0], count)
}
