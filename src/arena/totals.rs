//! The totals of a ladder, the advantage of the left side, and how frequent ties are.

use std::collections::BTreeSet;

use super::Arena;
use super::leaderboard::LadderAgreement;
use super::skill::{EqualSizeFit, SideAdvantage, TieFrequency};
use super::status::{self, ExcludedVotes};

/// The totals of one ladder.
#[derive(Clone, Debug, PartialEq)]
pub struct LadderTotals {
    pub votes: i64,
    pub matchups: i64,
    /// On all ladders.
    pub excluded: ExcludedVotes,
    /// Voters with at least one vote.
    pub voters: i64,
    /// Prompts with something to compare, and the models that take part in them.
    pub prompts: usize,
    pub models: usize,
    /// How many of the models are references.
    pub references: usize,
    /// The advantage of the left side, if there are enough votes to tell.
    pub side: Option<SideAdvantageSummary>,
    /// How frequent ties are, if there are enough votes to tell.
    pub ties: Option<TieFrequency>,
    /// What size is worth, if there are enough votes to tell.
    pub equal_size: Option<EqualSizeFit>,
    /// Whether prompts are held out.
    pub has_held_out: bool,
    /// Of the ladders over held-out and over public prompts, if there are enough votes on both.
    pub agreement: Option<LadderAgreement>,
}

/// In rating points, with a 95 % interval if there is one, and the number of votes behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct SideAdvantageSummary {
    pub points: f64,
    pub interval: Option<(f64, f64)>,
    pub votes: i64,
}

impl Arena {
    pub async fn totals(&self) -> sqlx::Result<LadderTotals> {
        let lineup = self.lineup().await?;
        let entrants = || lineup.contests().flat_map(|contest| &contest.entrants);
        let references = entrants().filter(|entrant| entrant.is_reference);
        let stats = self.stats().await?;
        Ok(LadderTotals {
            votes: stats.votes,
            excluded: status::excluded_votes(&self.replica).await?,
            voters: stats.voters,
            matchups: self.matchups_served().await?,
            prompts: lineup.contests().count(),
            models: entrants().map(|entrant| &entrant.model).collect::<BTreeSet<_>>().len(),
            references: references.map(|entrant| &entrant.model).collect::<BTreeSet<_>>().len(),
            has_held_out: lineup.has_held_out,
            agreement: self.ladder_agreement().await?,
            side: stats.fit.side.as_ref().map(|effect| SideAdvantageSummary::of(effect, stats.fit.votes)),
            ties: stats.fit.ties.clone(),
            equal_size: stats.fit.equal_size.clone(),
        })
    }

    async fn matchups_served(&self) -> sqlx::Result<i64> {
        let shown = sqlx::query_scalar!(
            r#"
            SELECT coalesce(sum(CASE WHEN $2 THEN public ELSE times END), 0)::bigint AS "served!"
            FROM shown
            WHERE settings = $1
            "#,
            self.settings as _,
            !self.results_delay.is_zero(),
        )
        .fetch_one(&self.replica)
        .await?;
        Ok(shown / 2)
    }
}

impl SideAdvantageSummary {
    fn of(effect: &SideAdvantage, votes: u64) -> Self {
        let votes = i64::try_from(votes).unwrap_or(i64::MAX);
        Self { points: effect.points, interval: effect.low.zip(effect.high), votes }
    }
}
