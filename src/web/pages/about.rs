//! `/about`: how the benchmark works, with the settings and numbers of this installation.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use moka::future::Cache;
use tokio::time::timeout;

use crate::app::App;
use crate::arena::elo::{self, BASELINE, K, START, Standing};
use crate::arena::leaderboard::{LadderAgreement, MIN_AGREEING_MODELS};
use crate::arena::skill::{EqualSizeFit, MIN_VOTES_FOR_SKILL, TieFrequency};
use crate::arena::totals::{LadderTotals, SideAdvantageSummary};
use crate::arena::vote_log::LoggedVote;
use crate::arena::{Choice, ReferencePolicy, Settings, VoteBudgets};
use crate::config::PersonCheckConfig;
use crate::web::{Page, filters};

/// Counting gets slower with the number of votes, and numbers may be a minute old.
const TOTALS_TTL: Duration = Duration::from_secs(60);

/// After this time, the page is shown without its numbers.
const TOTALS_TIMEOUT: Duration = Duration::from_secs(2);

type TotalsCache = Cache<(), LadderTotals>;

pub(in crate::web) fn routes() -> Router<App> {
    let cache = TotalsCache::builder().max_capacity(1).time_to_live(TOTALS_TTL).build();
    Router::new().route("/about", get(move |app| about(app, cache)))
}

#[derive(Template, WebTemplate)]
#[template(path = "about.html")]
struct AboutPage {
    page: Page,
    settings: Settings,
    totals: Option<LadderTotals>,
    examples: Vec<RatingExample>,
    min_dwell: Option<String>,
    limited: bool,
    budgets: VoteBudgets,
    person_check: PersonCheckConfig,
    /// How late results are shown.
    delay: Duration,
    /// The end of a sentence about references.
    references: &'static str,
    /// The votes after which a build of a held-out prompt is shown.
    held_out_votes: u32,
}

async fn about(State(app): State<App>, cache: TotalsCache) -> AboutPage {
    let arena = Arc::clone(&app.arena);
    // In a task of its own, which fills the cache even if it takes longer than this visitor waits.
    let count = tokio::spawn(async move { cache.try_get_with((), arena.totals()).await });
    let totals = timeout(TOTALS_TIMEOUT, count).await.ok().and_then(Result::ok).and_then(|totals| {
        let is_noted = |error: &sqlx::Error| app.database_health.note(error);
        let failed = totals.as_ref().err().filter(|error| !is_noted(error));
        if let Some(error) = failed {
            tracing::warn!(%error, "/about is shown without its numbers");
        }
        totals.ok()
    });
    let dwell = app.arena.min_dwell;
    AboutPage {
        page: Page::at("/about"),
        settings: app.arena.settings.clone(),
        totals,
        examples: examples(),
        min_dwell: (!dwell.is_zero()).then(|| dwell.as_secs_f64().to_string()),
        limited: app.limits.is_enabled(),
        budgets: app.config.vote_budgets,
        person_check: app.config.person_check.clone(),
        delay: app.arena.results_delay,
        references: reference_policy(app.config.references),
        held_out_votes: app.config.held_out_votes,
    }
}

/// The end of a sentence about references, after a comma.
pub(in crate::web) fn reference_policy(policy: ReferencePolicy) -> &'static str {
    match policy {
        ReferencePolicy::Auto => "but step aside in each prompt once two other models have built it",
        ReferencePolicy::On => "and always take part here",
        ReferencePolicy::Off => "but take no part here",
    }
}

impl AboutPage {
    fn has_held_out(&self) -> bool {
        self.totals.as_ref().is_some_and(|totals| totals.has_held_out)
    }

    fn agreement(&self) -> Option<&LadderAgreement> {
        self.totals.as_ref()?.agreement.as_ref()
    }

    fn side(&self) -> Option<&SideAdvantageSummary> {
        self.totals.as_ref()?.side.as_ref()
    }

    fn equal_size(&self) -> Option<&EqualSizeFit> {
        self.totals.as_ref()?.equal_size.as_ref()
    }

    fn ties(&self) -> Option<&TieFrequency> {
        self.totals.as_ref()?.ties.as_ref()
    }
}

/// What a vote does to two ratings.
struct RatingExample {
    verdict: &'static str,
    before: [f64; 2],
    after: [f64; 2],
}

impl RatingExample {
    fn change(&self, side: usize) -> String {
        signed(self.after[side] - self.before[side])
    }
}

/// Calculated by the real rule, so that the page cannot contradict it.
fn examples() -> Vec<RatingExample> {
    let at = |elo| Standing { elo, ..Standing::NEW };
    let cases = [
        ("A is better", Choice::A, [1500.0, 1500.0]),
        ("A is better", Choice::A, [1700.0, 1300.0]),
        ("B is better", Choice::B, [1700.0, 1300.0]),
        ("Tie", Choice::Tie, [1700.0, 1300.0]),
        ("Both bad", Choice::BothBad, [1700.0, 1300.0]),
    ];
    let example = |(verdict, choice, before): (_, _, [f64; 2])| {
        let (a, b) = elo::apply_vote(at(before[0]), at(before[1]), choice);
        RatingExample { verdict, before, after: [a.elo, b.elo] }
    };
    cases.map(example).into()
}

/// With its sign, to a tenth.
fn signed(points: f64) -> String {
    let size = format!("{:.1}", points.abs());
    match size.as_str() {
        "0.0" => size,
        _ if points < 0.0 => format!("−{size}"),
        _ => format!("+{size}"),
    }
}

impl SideAdvantageSummary {
    fn worth(&self) -> String {
        signed(self.points)
    }

    fn range(&self) -> Option<(String, String)> {
        self.interval.map(|(low, high)| (signed(low), signed(high)))
    }

    /// Whether chance alone is an unlikely explanation.
    fn is_sure(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_written_with_their_sign() {
        for (points, text) in [(8.0, "+8.0"), (-14.55, "−14.6"), (0.04, "0.0"), (-0.04, "0.0")] {
            assert_eq!(signed(points), text);
        }
    }
}
