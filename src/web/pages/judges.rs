//! `/judges`: how good the judges are.

use std::cmp::Reverse;
use std::sync::Arc;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;

use crate::app::App;
use crate::arena::judges::{JudgeStats, MAX_JUDGEMENTS, MeasuredJudge, ReportedBuild};
use crate::judge::JudgeKind;
use crate::judge::agreement::{BuildDisagreement, MeasuredValue, PairDisagreement};
use crate::judge::criteria::Criterion;
use crate::web::pages::judge::{CRITERIA, CriterionHelp};
use crate::web::{Error, Page, filters};

/// At most this many disagreements of each kind are shown, and of one judge.
const MAX_SHOWN: usize = 6;
const MAX_SHOWN_OF_JUDGE: usize = 3;

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/judges", get(page))
}

#[derive(Template, WebTemplate)]
#[template(path = "judges.html")]
struct JudgesPage {
    page: Page,
    stats: Arc<JudgeStats>,
    criteria: &'static [CriterionHelp],
}

async fn page(State(app): State<App>) -> Result<JudgesPage, Error> {
    Ok(JudgesPage { page: Page::at("/judges"), stats: app.arena.judges().await?, criteria: &CRITERIA })
}

/// A pair of builds on which a judge and most voters have opposite verdicts.
struct DisputedPair<'a> {
    judge: &'a MeasuredJudge,
    preferred: &'a ReportedBuild,
    other: &'a ReportedBuild,
    found: &'a PairDisagreement,
}

/// A build that a judge scores much higher, or much lower, than voters rank it.
struct DisputedBuild<'a> {
    judge: &'a MeasuredJudge,
    build: &'a ReportedBuild,
    found: &'a BuildDisagreement,
}

impl JudgesPage {
    /// Those that compare builds. People only score them.
    fn comparing(&self) -> Vec<&MeasuredJudge> {
        self.stats.judges.iter().filter(|judge| judge.votes > 0).collect()
    }

    /// The share of a criterion in the overall score of a build.
    fn weight(&self, criterion: Criterion) -> String {
        let all = self.criteria.iter().map(|help| help.criterion.weight()).sum::<f64>();
        format!("{:.0}\u{a0}%", 100.0 * criterion.weight() / all)
    }

    fn has_agreement(&self) -> bool {
        self.stats.judges.iter().any(|judge| judge.report.agreement.share.is_some())
    }

    /// The strongest first.
    fn disputed_pairs(&self) -> Vec<DisputedPair<'_>> {
        let mut pairs = Vec::new();
        for judge in &self.stats.judges {
            let found = judge.report.pair_disagreements.iter().filter_map(|found| {
                let build = |id| self.stats.builds.get(id);
                let (preferred, other) = (build(&found.preferred)?, build(&found.other)?);
                Some(DisputedPair { judge, preferred, other, found })
            });
            pairs.extend(found.take(MAX_SHOWN_OF_JUDGE));
        }
        let lead =
            |pair: &DisputedPair| pair.found.votes_for_other.saturating_sub(pair.found.votes_for_preferred);
        pairs.sort_by_key(|pair| Reverse(lead(pair)));
        pairs.truncate(MAX_SHOWN);
        pairs
    }

    /// The strongest first.
    fn disputed_builds(&self) -> Vec<DisputedBuild<'_>> {
        let mut builds = Vec::new();
        for judge in &self.stats.judges {
            let found = judge.report.build_disagreements.iter().filter_map(|found| {
                let build = self.stats.builds.get(&found.build)?;
                // A standard deviation is not much.
                (found.difference.abs() > 1.0).then_some(DisputedBuild { judge, build, found })
            });
            builds.extend(found.take(MAX_SHOWN_OF_JUDGE));
        }
        builds.sort_by(|a, b| b.found.difference.abs().total_cmp(&a.found.difference.abs()));
        builds.truncate(MAX_SHOWN);
        builds
    }
}

/// What is known about a leaning, where there is none at one half.
fn leaning(
    measured: Option<&MeasuredValue>,
    toward: &'static str,
    away: &'static str,
) -> Option<&'static str> {
    let measured = measured?;
    if measured.low > 0.5 {
        Some(toward)
    } else if measured.high < 0.5 {
        Some(away)
    } else {
        None
    }
}

/// The interval of a share: `55–69 %`.
fn share_interval(measured: &MeasuredValue) -> String {
    format!("{:.0}–{:.0}\u{a0}%", 100.0 * measured.low, 100.0 * measured.high)
}

/// The interval of a number that may be negative: `0.40 to 0.71`.
fn number_interval(measured: &MeasuredValue) -> String {
    format!("{} to {}", number(&measured.low), number(&measured.high))
}

/// With two digits, and a real minus. Adding zero turns −0 into 0.
fn number(value: &f64) -> String {
    format!("{:.2}", (100.0 * value).round() / 100.0 + 0.0).replace('-', "−")
}

/// Where an interval starts on a scale of 100 units, and its length.
fn band(measured: &MeasuredValue) -> (f64, f64) {
    let place = |share: f64| (1000.0 * share.clamp(0.0, 1.0)).round() / 10.0;
    (place(measured.low), (place(measured.high) - place(measured.low)).max(0.4))
}

fn place(share: &f64) -> f64 {
    (1000.0 * share.clamp(0.0, 1.0)).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaning_is_named_only_if_its_interval_excludes_one_half() {
        let measured = |low, high| MeasuredValue { value: f64::midpoint(low, high), low, high, count: 9 };
        for (low, high, expected) in
            [(0.4, 0.6, None), (0.51, 0.7, Some("left")), (0.2, 0.49, Some("right")), (0.5, 0.9, None)]
        {
            assert_eq!(leaning(Some(&measured(low, high)), "left", "right"), expected, "{low} to {high}");
        }
        assert_eq!(leaning(None, "left", "right"), None);
    }

    #[test]
    fn numbers_have_two_digits_and_a_real_minus() {
        assert_eq!(
            [0.617, -0.204, -0.001, 1.0].map(|value| number(&value)),
            ["0.62", "−0.20", "0.00", "1.00"]
        );
    }
}
