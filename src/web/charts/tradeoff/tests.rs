use super::*;
use crate::arena::elo::Standing;
use crate::arena::leaderboard::{BuildExpenses, LadderModel};

/// A model of this rating, whose builds cost this many dollars.
fn row(name: &str, rating: f64, cost: Option<f64>) -> LadderEntry {
    let mean = |dollars| MeanExpense { mean: dollars * 1e6, builds: 4 };
    LadderEntry {
        rank: 1,
        model: LadderModel {
            key: name.parse().unwrap(),
            provider: "north".to_owned(),
            display_name: name.to_owned(),
        },
        standing: Standing::NEW,
        shown: 0,
        skill: Some(Skill {
            rating,
            low: Some(rating - 30.0),
            high: Some(rating + 30.0),
            rank_best: 1,
            rank_worst: 2,
        }),
        equal_size: None,
        expenses: BuildExpenses { cost: cost.map(mean), generation_time_ms: None },
    }
}

fn chart(rows: &[LadderEntry]) -> Option<TradeoffChart> {
    TradeoffChart::of(Expense::Cost, rows)
}

#[test]
fn the_line_goes_through_the_models_that_nobody_beats_on_both() {
    let rows = [
        row("dear_and_best", 1700.0, Some(1.0)),
        row("dear_and_beaten", 1590.0, Some(0.9)),
        row("middling", 1600.0, Some(0.1)),
        row("as_dear_and_worse", 1550.0, Some(0.1)),
        row("cheap", 1400.0, Some(0.01)),
        row("cheap_and_beaten", 1390.0, Some(0.02)),
        row("unknown", 1900.0, None),
    ];
    let chart = chart(&rows).unwrap();
    let front: Vec<&str> = chart.front().map(|model| model.name.as_str()).collect();
    assert_eq!(front, ["cheap", "middling", "dear_and_best"]);
    assert_eq!(chart.unknown, ["unknown"]);
    for plot in &chart.plots {
        let corners: Vec<f64> = plot
            .front
            .split([' ', ','])
            .filter(|text| !text.is_empty())
            .map(|text| text.parse().unwrap())
            .collect();
        assert_eq!(corners.len(), 6, "{}", plot.front);
        let (xs, ys): (Vec<f64>, Vec<f64>) = corners.chunks(2).map(|corner| (corner[0], corner[1])).unzip();
        assert!(xs.is_sorted() && ys.iter().rev().is_sorted(), "{}", plot.front);
        // A factor of ten is as far everywhere on the axis.
        assert!(((xs[1] - xs[0]) - (xs[2] - xs[1])).abs() < 0.3, "{xs:?}");
    }
}

#[test]
fn a_model_that_costs_nothing_is_named_and_beats_who_costs_more_and_is_worse() {
    let rows =
        [row("free", 1500.0, Some(0.0)), row("worse", 1450.0, Some(0.1)), row("better", 1600.0, Some(0.2))];
    let chart = chart(&rows).unwrap();
    assert_eq!(chart.free(), ["free"]);
    assert_eq!(chart.front().map(|model| model.name.as_str()).collect::<Vec<_>>(), ["free", "better"]);
    assert_eq!(chart.plots[0].points.len(), 2);
}

#[test]
fn one_known_expense_is_no_chart() {
    assert!(chart(&[]).is_none());
    assert!(chart(&[row("one", 1500.0, Some(0.1)), row("other", 1500.0, None)]).is_none());
    let newcomer = LadderEntry { skill: None, ..row("newcomer", 1500.0, Some(0.1)) };
    assert!(chart(&[row("one", 1500.0, Some(0.1)), newcomer]).is_none());
}

#[test]
fn everything_stands_inside_the_frame_and_names_cover_nothing() {
    let crowd: Vec<LadderEntry> = (0..60)
        .map(|n| {
            let cost = 0.002 * 1.13_f64.powi(n % 30 * 2);
            row(&format!("a_model_with_a_long_name_{n}"), 1300.0 + f64::from(n * 37 % 400), Some(cost))
        })
        .collect();
    let same = [row("one", 1500.0, Some(0.03)), row("other", 1500.0, Some(0.03))];
    let far = [row("cent", 1500.0, Some(1e-9)), row("fortune", 1500.0, Some(1e9))];
    for rows in [&crowd[..], &same, &far] {
        for plot in chart(rows).unwrap().plots {
            let frame = &plot.frame;
            assert!((2..=13).contains(&plot.amounts.len()), "{} ticks", plot.amounts.len());
            for point in &plot.points {
                assert!(frame.left < point.x && point.x < frame.right, "{}", point.x);
                assert!(frame.top <= point.y && point.y <= frame.bottom, "{}", point.y);
            }
            let labels = plot.points.iter().filter_map(|point| point.label.as_ref());
            let places: Vec<(f64, f64)> = labels.map(|label| (label.x, label.y)).collect();
            assert!(!places.is_empty());
            assert!(places.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
        }
    }
}

#[test]
fn amounts_on_the_axis_are_round() {
    let texts =
        |expense: Expense| expense.scales()[0].iter().map(|(_, text)| text.clone()).collect::<Vec<_>>();
    let costs = texts(Expense::Cost);
    for text in ["$0.0005", "$0.01", "$0.20", "$1", "$50", "$1000"] {
        assert!(costs.iter().any(|cost| cost == text), "{text} is not in {costs:?}");
    }
    let times: Vec<String> = texts(Expense::Time).iter().map(|text| text.replace('\u{a0}', " ")).collect();
    for text in ["0.5 s", "30 s", "1 min", "2 h"] {
        assert!(times.iter().any(|time| time == text), "{text} is not in {times:?}");
    }
    for expense in Expense::ALL {
        for scale in expense.scales() {
            assert!(scale.is_sorted_by(|one, next| one.0 < next.0), "{scale:?}");
        }
    }
}
