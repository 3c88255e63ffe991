//! Ratings with their intervals, as bars on a common scale.

use super::round_steps;
use crate::arena::leaderboard::LadderEntry;
use crate::arena::skill::Skill;

/// The width of the scale.
const WIDTH: f64 = 160.0;

/// The scale that all bars share.
#[derive(Clone, Copy)]
pub(in crate::web) struct RatingAxis {
    low: f64,
    high: f64,
}

#[derive(Clone, Copy)]
pub(in crate::web) struct IntervalBar {
    pub dot: f64,
    /// The start and the width of the interval, if there is one.
    pub bar: Option<(f64, f64)>,
}

impl RatingAxis {
    /// None if no row has a skill.
    pub fn over(rows: &[LadderEntry]) -> Option<Self> {
        let skills = || rows.iter().filter_map(|row| row.skill.as_ref());
        let lows = skills().map(|skill| skill.low.unwrap_or(skill.rating));
        let highs = skills().map(|skill| skill.high.unwrap_or(skill.rating));
        let (low, high) = (lows.min_by(f64::total_cmp)?, highs.max_by(f64::total_cmp)?);
        let steps = round_steps(low, high, 6);
        Some(Self { low: *steps.first()?, high: *steps.last()? })
    }

    pub fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The place of the mean of all models.
    pub fn mean(&self) -> f64 {
        self.place(1500.0)
    }

    pub fn interval(&self, skill: &Skill) -> IntervalBar {
        let bar = skill.low.zip(skill.high).map(|(low, high)| {
            let (from, to) = (self.place(low), self.place(high));
            (from, (to - from).max(1.0))
        });
        IntervalBar { dot: self.place(skill.rating), bar }
    }

    fn place(&self, rating: f64) -> f64 {
        let share = (rating - self.low) / (self.high - self.low);
        (share.clamp(0.0, 1.0) * WIDTH * 10.0).round() / 10.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rating_keeps_its_place_on_the_scale() {
        let axis = RatingAxis { low: 1400.0, high: 1600.0 };
        let skill =
            Skill { rating: 1550.0, low: Some(1500.0), high: Some(1600.0), rank_best: 1, rank_worst: 2 };
        let interval = axis.interval(&skill);
        assert_eq!((axis.mean(), interval.dot, interval.bar), (80.0, 120.0, Some((80.0, 80.0))));
        assert!(axis.interval(&Skill { low: None, ..skill }).bar.is_none());
    }
}
