//! Skill against what a build takes: a point for each model, on a logarithmic axis of costs or times. A line goes through
//! the models that no other beats on both.
//!
//! Names keep their size on every screen, and where they fit depends on the width. So each chart is laid out twice, and
//! the stylesheet shows one of the two.

mod labels;

use std::fmt::Write as _;

use self::labels::{LabelPlacer, PointLabel};
use super::round_steps;
use crate::arena::ModelKey;
use crate::arena::leaderboard::{LadderEntry, MeanExpense};
use crate::arena::skill::Skill;
use crate::web::filters::{format_cost, format_ms, format_names};

/// With fewer points there is nothing to compare.
const MIN_MODELS: usize = 2;

/// Room for the ratings on the left, and for the axis below.
const LEFT: f64 = 48.0;
const BOTTOM: f64 = 30.0;
const TOP: f64 = 8.0;
const RIGHT: f64 = 8.0;

/// The least distance of a point from the frame.
const INSET: f64 = 14.0;

/// The width of the axis for each tick.
const TICK_ROOM: f64 = 72.0;

const LAYOUTS: [PlotLayout; 2] = [
    PlotLayout { name: "wide", width: 960.0, height: 420.0, name_chars: 26 },
    PlotLayout { name: "narrow", width: 340.0, height: 400.0, name_chars: 18 },
];

/// What builds take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::web) enum Expense {
    Cost,
    Time,
}

pub(in crate::web) struct TradeoffChart {
    pub expense: Expense,
    /// The least expensive first.
    pub models: Vec<TradeoffModel>,
    pub plots: Vec<TradeoffPlot>,
    /// The names of models with a skill of which the expense is not known.
    pub unknown: Vec<String>,
}

pub(in crate::web) struct TradeoffModel {
    pub key: ModelKey,
    pub name: String,
    /// In dollars or milliseconds.
    amount: f64,
    pub text: String,
    pub builds: i64,
    pub skill: Skill,
    /// Whether no other model is both better and less expensive.
    pub on_front: bool,
}

#[derive(Clone, Copy)]
struct PlotLayout {
    name: &'static str,
    width: f64,
    height: f64,
    name_chars: usize,
}

pub(in crate::web) struct TradeoffPlot {
    pub name: &'static str,
    pub width: f64,
    pub height: f64,
    pub frame: PlotEdges,
    pub amounts: Vec<PlotTick>,
    pub ratings: Vec<PlotTick>,
    /// In the order of [`TradeoffChart::models`]; without those that take nothing, which have no place on the axis.
    pub points: Vec<PlottedModel>,
    /// The line through the best, for SVG.
    pub front: String,
}

pub(in crate::web) struct PlotEdges {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

pub(in crate::web) struct PlotTick {
    pub place: f64,
    pub text: String,
}

pub(in crate::web) struct PlottedModel {
    pub x: f64,
    pub y: f64,
    /// The lower and the upper end of the interval.
    pub interval: Option<(f64, f64)>,
    /// The index of the model in the chart.
    pub model: usize,
    /// None where there is no room.
    pub label: Option<PointLabel>,
}

impl Expense {
    pub const ALL: [Self; 2] = [Self::Cost, Self::Time];

    pub fn id(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::Time => "time",
        }
    }

    fn of(self, row: &LadderEntry) -> Option<MeanExpense> {
        match self {
            Self::Cost => row.expenses.cost.map(|cost| MeanExpense { mean: cost.mean / 1e6, ..cost }),
            Self::Time => row.expenses.generation_time_ms,
        }
    }

    fn text(self, amount: f64) -> String {
        match self {
            Self::Cost => format_cost(Some(amount), false),
            Self::Time => format_ms(amount as i64),
        }
    }

    /// Round amounts with their texts, in ascending order, from fine to coarse.
    fn scales(self) -> [Vec<(f64, String)>; 2] {
        match self {
            Self::Cost => [&[1.0, 2.0, 5.0][..], &[1.0]].map(|digits| {
                let powers = -6..=6_i32;
                let steps = powers.flat_map(|power| digits.iter().map(move |digit| (power, *digit)));
                steps.map(|(power, digit)| dollar_tick(digit, power)).collect()
            }),
            Self::Time => [FINE_TIMES, COARSE_TIMES].map(|(seconds, minutes, hours)| {
                let unit = |ms: f64, name: &'static str| {
                    move |count: &f64| (count * ms, format!("{count}\u{a0}{name}"))
                };
                let seconds = seconds.iter().map(unit(1e3, "s"));
                let minutes = minutes.iter().map(unit(6e4, "min"));
                seconds.chain(minutes).chain(hours.iter().map(unit(3.6e6, "h"))).collect()
            }),
        }
    }
}

/// Ticks in seconds, minutes and hours.
type TimeTicks = (&'static [f64], &'static [f64], &'static [f64]);

const FINE_TIMES: TimeTicks = (
    &[0.001, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0],
    &[1.0, 2.0, 5.0, 10.0, 20.0, 30.0],
    &[1.0, 2.0, 5.0, 10.0, 24.0, 100.0, 1000.0],
);
const COARSE_TIMES: TimeTicks = (&[0.001, 0.01, 0.1, 1.0, 10.0], &[1.0, 10.0], &[1.0, 10.0, 100.0, 1000.0]);

fn dollar_tick(digit: f64, power: i32) -> (f64, String) {
    let amount = digit * 10_f64.powi(power);
    let decimals = usize::try_from(-power).unwrap_or(0);
    // Cents have two digits.
    (amount, format!("${amount:.0$}", if decimals == 1 { 2 } else { decimals }))
}

impl TradeoffChart {
    /// Of the rows with a skill. None if the expense of fewer than two is known.
    pub fn of(expense: Expense, rows: &[LadderEntry]) -> Option<Self> {
        let (mut models, mut unknown) = (Vec::new(), Vec::new());
        for row in rows {
            let Some(skill) = row.skill.clone() else { continue };
            let Some(MeanExpense { mean, builds }) = expense.of(row).filter(|known| known.mean >= 0.0) else {
                unknown.push(row.model.display_name.clone());
                continue;
            };
            models.push(TradeoffModel {
                key: row.model.key.clone(),
                name: row.model.display_name.clone(),
                amount: mean,
                text: expense.text(mean),
                builds,
                skill,
                on_front: false,
            });
        }
        models.sort_by(|a, b| {
            a.amount.total_cmp(&b.amount).then_with(|| b.skill.rating.total_cmp(&a.skill.rating))
        });
        let mut best = f64::NEG_INFINITY;
        for model in &mut models {
            model.on_front = model.skill.rating > best;
            best = best.max(model.skill.rating);
        }
        let is_comparable = models.iter().filter(|model| model.amount > 0.0).count() >= MIN_MODELS;
        let plots = LAYOUTS.iter().filter_map(|layout| layout.plot(expense, &models)).collect();
        is_comparable.then_some(Self { expense, models, plots, unknown })
    }

    /// The models on the front, the least expensive first.
    pub fn front(&self) -> impl Iterator<Item = &TradeoffModel> {
        self.models.iter().filter(|model| model.on_front)
    }

    pub fn names<T: AsRef<str>>(&self, names: &[T]) -> String {
        format_names(names)
    }

    /// The names of models that take nothing, and so have no place on a logarithmic axis.
    pub fn free(&self) -> Vec<&str> {
        let free = self.models.iter().filter(|model| model.amount <= 0.0);
        free.map(|model| model.name.as_str()).collect()
    }
}

impl TradeoffModel {
    /// Half the width of the interval.
    pub fn margin(&self) -> Option<f64> {
        self.skill.high.map(|high| high - self.skill.rating)
    }
}

impl PlotLayout {
    /// None if no model takes anything.
    fn plot(&self, expense: Expense, models: &[TradeoffModel]) -> Option<TradeoffPlot> {
        let drawn = || models.iter().enumerate().filter(|(_, model)| model.amount > 0.0);
        let amounts = || drawn().map(|(_, model)| model.amount);
        let skills = || drawn().map(|(_, model)| &model.skill);
        let lowest = skills().map(|skill| skill.low.unwrap_or(skill.rating)).min_by(f64::total_cmp)?;
        let highest = skills().map(|skill| skill.high.unwrap_or(skill.rating)).max_by(f64::total_cmp)?;
        let ratings = round_steps(lowest, highest, 6);
        let (low, high) = (*ratings.first()?, *ratings.last()?);

        let frame =
            PlotEdges { left: LEFT, right: self.width - RIGHT, top: TOP, bottom: self.height - BOTTOM };
        let (least, most) = (amounts().min_by(f64::total_cmp)?, amounts().max_by(f64::total_cmp)?);
        let [fine, coarse] = expense.scales();
        let from = fine.iter().rev().map(|(tick, _)| *tick).find(|tick| *tick <= least).unwrap_or(least);
        let to = fine.iter().map(|(tick, _)| *tick).find(|tick| *tick >= most).unwrap_or(most);
        let span = (to.ln() - from.ln()).max(1e-9);
        let x = |amount: f64| {
            let share = ((amount.ln() - from.ln()) / span).clamp(0.0, 1.0);
            tenth(frame.left + INSET + share * (frame.right - frame.left - 2.0 * INSET))
        };
        let y = |rating: f64| {
            let share = (high - rating) / (high - low);
            tenth(frame.top + share.clamp(0.0, 1.0) * (frame.bottom - frame.top))
        };

        let mut points: Vec<PlottedModel> = drawn()
            .map(|(index, model)| PlottedModel {
                x: x(model.amount),
                y: y(model.skill.rating),
                interval: model.skill.low.zip(model.skill.high).map(|(low, high)| (y(low), y(high))),
                model: index,
                label: None,
            })
            .collect();
        let mut front = String::new();
        for point in points.iter().filter(|point| models[point.model].on_front) {
            let _ = write!(front, "{},{} ", point.x, point.y);
        }
        let mut placer = LabelPlacer::new(&frame, points.iter().map(|point| (point.x, point.y)));
        // Names of the models on the front come first, and then those of the best.
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&models[points[a].model], &models[points[b].model]);
            b.on_front.cmp(&a.on_front).then_with(|| b.skill.rating.total_cmp(&a.skill.rating))
        });
        for index in order {
            let point = &mut points[index];
            point.label = placer.place((point.x, point.y), &models[point.model].name, self.name_chars);
        }

        let most_ticks = ((frame.right - frame.left) / TICK_ROOM) as usize;
        let inside = |scale: Vec<(f64, String)>| -> Vec<(f64, String)> {
            scale.into_iter().filter(|(tick, _)| (from..=to).contains(tick)).collect()
        };
        let (fine, coarse) = (inside(fine), inside(coarse));
        let ticks = if fine.len() <= most_ticks || coarse.len() < 2 { fine } else { coarse };
        let stride = ticks.len().div_ceil(most_ticks.max(1)).max(1);
        let amounts =
            ticks.into_iter().step_by(stride).map(|(tick, text)| PlotTick { place: x(tick), text }).collect();
        let ratings =
            ratings.into_iter().map(|rating| PlotTick { place: y(rating), text: format!("{rating:.0}") });
        Some(TradeoffPlot {
            name: self.name,
            width: self.width,
            height: self.height,
            amounts,
            ratings: ratings.collect(),
            points,
            front,
            frame,
        })
    }
}

/// More digits would only make the page larger.
fn tenth(place: f64) -> f64 {
    (place * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests;
