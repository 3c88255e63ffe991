//! The geometry of charts. `templates/charts.html` draws them as SVG.

mod heatmap;
mod history;
mod interval;
mod tradeoff;

pub(super) use heatmap::Heatmap;
pub(super) use history::HistoryChart;
pub(super) use interval::{IntervalBar, RatingAxis};
pub(super) use tradeoff::{Expense, TradeoffChart};

/// A name, cut to a number of characters.
fn truncated(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let kept: String = name.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Round numbers that divide a range into at most `most` steps. The first is not above the range, the last not below.
fn round_steps(low: f64, high: f64, most: usize) -> Vec<f64> {
    let span = (high - low).max(1.0);
    let sizes = (0..6).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
    let size = sizes.into_iter().find(|size| span / size <= most as f64).unwrap_or(span);
    let (first, last) = ((low / size).floor() as i64, (high / size).ceil() as i64);
    (first..=last.max(first + 1)).map(|step| step as f64 * size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_hold_the_whole_range() {
        assert_eq!(round_steps(1483.0, 1522.0, 5), [1480.0, 1490.0, 1500.0, 1510.0, 1520.0, 1530.0]);
        assert_eq!(round_steps(1100.0, 1900.0, 5), [1000.0, 1200.0, 1400.0, 1600.0, 1800.0, 2000.0]);
        assert_eq!(round_steps(1500.0, 1500.0, 5), [1500.0, 1501.0]);
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(truncated("Größe", 5), "Größe");
        assert_eq!(truncated("Großer Turm", 8), "Großer…");
    }
}
