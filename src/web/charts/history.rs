//! Ratings over time: a line for each model. A few lines are highlighted and have names.
//!
//! The plot stretches to the available width. Its height is fixed, so that the axis and the names beside it keep their
//! size.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use time::{Duration, OffsetDateTime};

use super::{round_steps, truncated};
use crate::arena::ModelKey;
use crate::arena::leaderboard::{RatingPoint, last_per_slot};

pub(in crate::web) const HEIGHT: f64 = 360.0;
const WIDTH: f64 = 1000.0;
const MARGIN: f64 = 12.0;

/// The distance between two names.
const LABEL_HEIGHT: f64 = 20.0;

/// Up to this many lines all have names. The stylesheet has as many colours and dashes.
const ALL_NAMED: usize = 8;

/// If there are more lines, this many have names.
const MAX_NAMED: usize = 6;

const MAX_NAME_CHARS: usize = 22;

/// The number of points of a line at most.
const MAX_POINTS: f64 = 200.0;

/// Lines without names are drawn with every third point.
const COARSE_STRIDE: usize = 3;

pub(in crate::web) struct HistoryChart {
    pub ratings: Vec<RatingTick>,
    pub times: Vec<TimeTick>,
    /// Best first.
    pub named: Vec<ChartLine>,
    pub others: Vec<ChartLine>,
    pub from: String,
    pub to: String,
}

/// A rating on the axis.
pub(in crate::web) struct RatingTick {
    pub y: f64,
    pub rating: f64,
}

/// A moment on the axis.
pub(in crate::web) struct TimeTick {
    at: OffsetDateTime,
    pub percent: u8,
    pub text: String,
}

pub(in crate::web) struct ChartLine {
    pub key: ModelKey,
    pub name: String,
    pub short_name: String,
    /// The line's points, for SVG.
    pub points: String,
    /// The height of its end, and that of its name.
    pub end: f64,
    pub label: f64,
    pub elo: f64,
    /// Its rating at each of the times; none before its first vote.
    pub then: Vec<Option<f64>>,
}

struct RatedModel<'a> {
    key: &'a ModelKey,
    name: &'a str,
    points: &'a [RatingPoint],
}

struct PlotFrame {
    from: OffsetDateTime,
    to: OffsetDateTime,
    low: f64,
    high: f64,
}

impl HistoryChart {
    /// `models` are keys and names, best first. None if no rating has moved yet.
    pub fn of<'a>(
        history: &BTreeMap<ModelKey, Vec<RatingPoint>>,
        models: impl IntoIterator<Item = (&'a ModelKey, &'a str)>,
    ) -> Option<Self> {
        let rated = |(key, name)| Some(RatedModel { key, name, points: history.get(key)? });
        let models: Vec<_> = models.into_iter().filter_map(rated).collect();
        let points = || models.iter().flat_map(|model| model.points);
        let ratings = || points().map(|point| point.elo);
        let steps = round_steps(ratings().min_by(f64::total_cmp)?, ratings().max_by(f64::total_cmp)?, 5);
        let frame = PlotFrame {
            from: points().map(|point| point.at).min()?,
            to: points().map(|point| point.at).max()?,
            low: *steps.first()?,
            high: *steps.last()?,
        };
        let times = frame.times();
        let (named, others) =
            models.split_at(if models.len() <= ALL_NAMED { models.len() } else { MAX_NAMED });
        let lines = |models: &[RatedModel], stride| -> Vec<ChartLine> {
            models.iter().map(|model| frame.line(model, stride, &times)).collect()
        };
        let (mut named, others) = (lines(named, 1), lines(others, COARSE_STRIDE));
        spread(&mut named);
        Some(Self {
            ratings: steps.iter().map(|&rating| RatingTick { y: frame.y(rating), rating }).collect(),
            from: day(frame.from),
            to: day(frame.to),
            times,
            named,
            others,
        })
    }

    pub fn height(&self) -> f64 {
        HEIGHT
    }

    /// All lines, for the table.
    pub fn all(&self) -> impl Iterator<Item = &ChartLine> {
        self.named.iter().chain(&self.others)
    }
}

impl PlotFrame {
    fn x(&self, at: OffsetDateTime) -> f64 {
        let span = (self.to - self.from).as_seconds_f64().max(1e-3);
        WIDTH * (at - self.from).as_seconds_f64() / span
    }

    fn y(&self, rating: f64) -> f64 {
        let share = (self.high - rating) / (self.high - self.low);
        ((MARGIN + share * (HEIGHT - 2.0 * MARGIN)) * 10.0).round() / 10.0
    }

    fn times(&self) -> Vec<TimeTick> {
        let span = self.to - self.from;
        let time = |quarter: u8| {
            let at = self.from + span * f64::from(quarter) / 4.0;
            let text = if span < Duration::DAY * 3 { clock(at, span) } else { day(at) };
            TimeTick { at, percent: quarter * 25, text }
        };
        (0..=4).map(time).collect()
    }

    fn line(
        &self,
        &RatedModel { key, name, points }: &RatedModel,
        stride: usize,
        times: &[TimeTick],
    ) -> ChartLine {
        let mut path = String::new();
        let drawn = last_per_slot(points, |at| (self.x(at) / WIDTH * MAX_POINTS) as i64);
        for point in drawn.iter().step_by(stride) {
            let _ = write!(path, "{:.0},{:.0} ", self.x(point.at), self.y(point.elo));
        }
        let elo = points.last().map_or(0.0, |point| point.elo);
        let end = self.y(elo);
        // The rating has not changed since the last point.
        let _ = write!(path, "{WIDTH},{end}");
        let at = |time: &TimeTick| {
            points.iter().take_while(|point| point.at <= time.at).last().map(|point| point.elo)
        };
        ChartLine {
            key: key.clone(),
            name: name.to_owned(),
            short_name: truncated(name, MAX_NAME_CHARS),
            points: path,
            end,
            label: end,
            elo,
            then: times.iter().map(at).collect(),
        }
    }
}

/// Moves names apart where lines end close together.
fn spread(lines: &mut [ChartLine]) {
    let mut order: Vec<_> = (0..lines.len()).collect();
    order.sort_by(|&a, &b| lines[a].end.total_cmp(&lines[b].end));
    let mut least = LABEL_HEIGHT / 2.0;
    for &line in &order {
        lines[line].label = lines[line].label.max(least);
        least = lines[line].label + LABEL_HEIGHT;
    }
    let mut most = HEIGHT - LABEL_HEIGHT / 2.0;
    for &line in order.iter().rev() {
        lines[line].label = lines[line].label.min(most);
        most = lines[line].label - LABEL_HEIGHT;
    }
}

fn day(at: OffsetDateTime) -> String {
    let month = at.month().to_string();
    format!("{} {}", at.day(), month.get(..3).unwrap_or(&month))
}

fn clock(at: OffsetDateTime, span: Duration) -> String {
    let time = format!("{:02}:{:02}", at.hour(), at.minute());
    if span < Duration::MINUTE * 10 {
        return format!("{time}:{:02}", at.second());
    }
    if span < Duration::DAY { time } else { format!("{}, {time}", day(at)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(lines: &[(&str, &[(i64, f64)])]) -> BTreeMap<ModelKey, Vec<RatingPoint>> {
        let point = |&(at, elo): &(i64, f64)| RatingPoint {
            at: OffsetDateTime::UNIX_EPOCH + Duration::days(at),
            elo,
        };
        let line = |(key, points): &(&str, &[(i64, f64)])| {
            (key.parse().unwrap(), points.iter().map(point).collect())
        };
        lines.iter().map(line).collect()
    }

    fn lines(history: &BTreeMap<ModelKey, Vec<RatingPoint>>) -> Option<HistoryChart> {
        HistoryChart::of(history, history.keys().map(|key| (key, key.as_str())))
    }

    #[test]
    fn a_line_goes_from_its_first_vote_to_the_end_of_the_plot() {
        let history = history(&[("a", &[(0, 1508.0), (4, 1516.0)]), ("b", &[(2, 1492.0)])]);
        let lines = lines(&history).unwrap();
        assert_eq!((lines.from.as_str(), lines.to.as_str()), ("1 Jan", "5 Jan"));
        assert!(lines.named[1].points.starts_with("500,") && lines.named[1].points.contains("1000,"));
        assert_eq!(lines.named[1].then, [None, None, Some(1492.0), Some(1492.0), Some(1492.0)]);
        assert_eq!(lines.named[0].then[3], Some(1508.0));
    }

    #[test]
    fn one_moment_is_enough_and_none_is_no_chart() {
        let once = history(&[("a", &[(0, 1508.0)])]);
        assert!(!lines(&once).unwrap().named[0].points.contains("NaN"));
        assert!(lines(&BTreeMap::new()).is_none());
    }

    #[test]
    fn names_keep_their_distance_inside_the_plot() {
        let ratings: Vec<(String, [(i64, f64); 1])> =
            (0..6).map(|n| (format!("m{n}"), [(0, if n < 5 { 1500.0 } else { 1400.0 })])).collect();
        let borrowed: Vec<_> = ratings.iter().map(|(key, points)| (key.as_str(), &points[..])).collect();
        let lines = lines(&history(&borrowed)).unwrap();
        let mut labels: Vec<_> = lines.named.iter().map(|line| line.label).collect();
        labels.sort_by(f64::total_cmp);
        assert!(labels.windows(2).all(|pair| pair[1] - pair[0] >= LABEL_HEIGHT), "{labels:?}");
        assert!(labels[0] >= 0.0 && labels[5] <= HEIGHT, "{labels:?}");
    }

    #[test]
    fn of_many_lines_a_few_stand_out() {
        let points = [(0, 1500.0)];
        let keys: Vec<_> = (0..60).map(|n| format!("m{n}")).collect();
        let all: Vec<_> = keys.iter().map(|key| (key.as_str(), &points[..])).collect();
        let lines = lines(&history(&all)).unwrap();
        assert_eq!((lines.named.len(), lines.others.len()), (MAX_NAMED, 54));
    }
}
