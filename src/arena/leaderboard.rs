//! The leaderboard: models by rating, how certain their skill is, and the statistics of the votes.
//!
//! It lists the enabled models that have votes, or a build in force in an active prompt. A reference model without
//! votes is only listed if it can meet another model, and none is listed where references never take part. Votes on
//! models that are not listed still count for the models that they met.

mod agreement;
mod computation;
mod expenses;
mod history;
mod published;
mod record;
mod refreshing_cache;
mod stats;

pub use agreement::{LadderAgreement, MIN_AGREEING_MODELS};
pub(super) use computation::StatsVersion;
pub use expenses::{BuildExpenses, MeanExpense};
pub use history::{RatingHistory, RatingPoint, last_per_slot};
pub(super) use published::LadderStandings;
pub use published::{Published, publish_shown_counts};
pub use record::{JudgedVote, ModelProfile, ModelRecord, OpponentRecord, PAGE, PromptRecord};
pub use refreshing_cache::{Computed, RefreshingCache};
pub use stats::{LadderStats, PairRecords, Record};

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use sqlx::{PgConnection, Postgres, Transaction};
use time::OffsetDateTime;

use self::history::DAY;
use super::catalog::{AGENT, REFERENCE};
use super::elo::Standing;
use super::sampling::TimesShown;
use super::skill::Skill;
use super::{Arena, Lineup, ModelKey, ReferencePolicy};

/// The models, best first.
#[derive(Clone, Debug)]
pub struct Leaderboard {
    pub as_of: OffsetDateTime,
    /// All votes on this ladder.
    pub votes: i64,
    pub rows: Vec<LadderEntry>,
    /// May be based on fewer votes than `votes`.
    pub stats: Arc<LadderStats>,
}

#[derive(Clone, Debug)]
pub struct LadderEntry {
    pub rank: usize,
    pub model: LadderModel,
    pub standing: Standing,
    pub shown: i64,
    /// None without enough votes.
    pub skill: Option<Skill>,
    /// None where the votes do not tell what size is worth, too.
    pub equal_size: Option<Skill>,
    pub expenses: BuildExpenses,
}

struct LadderCandidate {
    model: LadderModel,
    standing: Standing,
    shown: i64,
    /// Whether it has a build in force of an active prompt.
    has_build: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LadderModel {
    pub key: ModelKey,
    pub provider: String,
    pub display_name: String,
}

/// How a model's place has changed within a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StandingChange {
    /// It had no votes a day ago.
    New,
    /// By rating points, and by ranks, where a positive number is a rise.
    Moved { elo: f64, ranks: i64 },
}

impl LadderModel {
    pub fn is_agent(&self) -> bool {
        self.provider == AGENT
    }

    pub fn is_reference(&self) -> bool {
        self.provider == REFERENCE
    }
}

impl LadderCandidate {
    /// Replaces the counts of the whole ladder, as by those of some prompts.
    fn set_counts(&mut self, record: Record) {
        self.standing = Standing {
            elo: self.standing.elo,
            wins: record.won,
            losses: record.losses(),
            ties: record.tied,
            both_bad: record.both_bad,
        };
    }
}

impl Leaderboard {
    fn by_elo(
        as_of: OffsetDateTime,
        votes: i64,
        mut entries: Vec<LadderCandidate>,
        stats: Arc<LadderStats>,
    ) -> Self {
        entries
            .sort_by(|a, b| by_rating_desc((a.standing.elo, &a.model.key), (b.standing.elo, &b.model.key)));
        Self::ranked(as_of, votes, entries, stats)
    }

    /// Models without a skill come last, by the share of votes that they won.
    fn by_skill(as_of: OffsetDateTime, mut entries: Vec<LadderCandidate>, stats: Arc<LadderStats>) -> Self {
        let skill = |entry: &LadderCandidate| {
            stats.fit.models.get(&entry.model.key).map_or(f64::NEG_INFINITY, |skill| skill.rating)
        };
        entries.sort_by(|a, b| {
            let by_elo = || by_rating_desc((a.standing.elo, &a.model.key), (b.standing.elo, &b.model.key));
            let by_share = b.standing.share().total_cmp(&a.standing.share());
            skill(b).total_cmp(&skill(a)).then(by_share).then_with(by_elo)
        });
        Self::ranked(as_of, stats.votes, entries, stats)
    }

    fn ranked(
        as_of: OffsetDateTime,
        votes: i64,
        entries: Vec<LadderCandidate>,
        stats: Arc<LadderStats>,
    ) -> Self {
        let row = |(rank, LadderCandidate { model, standing, shown, .. }): (usize, LadderCandidate)| {
            let skill = stats.fit.models.get(&model.key).cloned();
            let equal_size =
                stats.fit.equal_size.as_ref().and_then(|fit| fit.models.get(&model.key).cloned());
            let expenses = stats.expenses.get(&model.key).cloned().unwrap_or_default();
            LadderEntry { rank, model, standing, shown, skill, equal_size, expenses }
        };
        Self { as_of, votes, rows: (1..).zip(entries).map(row).collect(), stats }
    }

    pub fn row(&self, model: &ModelKey) -> Option<&LadderEntry> {
        self.rows.iter().find(|row| row.model.key == *model)
    }

    /// The rows in their order at the time of the statistics. Unlike the order of the leaderboard, it does not change
    /// with every vote, but only when the statistics do.
    pub fn rows_as_of_stats(&self) -> Vec<LadderEntry> {
        let mut rows = self.rows.clone();
        let elo = |row: &LadderEntry| self.stats.history.latest(&row.model.key).unwrap_or(row.standing.elo);
        if !self.stats.history.lines.is_empty() {
            rows.sort_by(|a, b| by_rating_desc((elo(a), &a.model.key), (elo(b), &b.model.key)));
        }
        (1..).zip(&mut rows).for_each(|(rank, row)| row.rank = rank);
        rows
    }

    /// The change of each row, in the order of rows.
    pub fn changes(&self) -> Vec<StandingChange> {
        let history = &self.stats.history;
        let day_ago = |row: &LadderEntry| history.rating_at(&row.model.key, self.as_of - DAY);
        let elo = |row: &LadderEntry| day_ago(row).unwrap_or(row.standing.elo);
        let mut then: Vec<_> = self.rows.iter().map(|row| (elo(row), &row.model.key)).collect();
        then.sort_by(|one, other| by_rating_desc(*one, *other));
        let rank: BTreeMap<_, _> = then.iter().zip(1..).map(|((_, key), rank)| (*key, rank)).collect();
        let change = |row: &LadderEntry| match day_ago(row) {
            None if history.lines.contains_key(&row.model.key) => StandingChange::New,
            _ => StandingChange::Moved {
                elo: row.standing.elo - elo(row),
                ranks: rank.get(&row.model.key).map_or(0, |then: &i64| then - row.rank as i64),
            },
        };
        self.rows.iter().map(change).collect()
    }
}

/// By rating, highest first, and then by key.
fn by_rating_desc(one: (f64, &ModelKey), other: (f64, &ModelKey)) -> Ordering {
    other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1))
}

impl Arena {
    pub async fn leaderboard(&self) -> sqlx::Result<Leaderboard> {
        let lineup = self.lineup().await?;
        let stats = self.stats().await?;
        let shown = self.shown.latest(&self.pool, &self.settings).await?;
        let mut connection = self.replica.acquire().await?;
        let published = self.published(&mut *connection).await?;
        let (entries, votes) =
            self.entries(&mut connection, published, &lineup.builders, shown.to_show(published)).await?;
        let entries = entries.into_iter().filter(|entry| self.is_listed(&lineup, entry)).collect();
        let as_of = OffsetDateTime::now_utc() - self.results_delay;
        Ok(Leaderboard::by_elo(as_of, votes, entries, stats))
    }

    /// A transaction that reads the state of one moment.
    pub(super) async fn snapshot(&self) -> sqlx::Result<Transaction<'static, Postgres>> {
        self.replica.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    /// Every enabled model with its standing on the whole ladder, and the number of votes there. Each vote counts for
    /// two models, so the sum over models is halved. `builders` and `shown` may be limited to some prompts.
    async fn entries(
        &self,
        connection: &mut PgConnection,
        published: Published,
        builders: &HashSet<ModelKey>,
        shown: &TimesShown,
    ) -> sqlx::Result<(Vec<LadderCandidate>, i64)> {
        let standings = self.standings(&mut *connection, published).await?;
        let rows =
            sqlx::query!(r#"SELECT key AS "key: ModelKey", provider, display_name, enabled FROM models"#)
                .fetch_all(connection)
                .await?;
        let (mut entries, mut votes) = (Vec::new(), 0);
        for row in rows {
            let standing = standings.get(&row.key).copied().unwrap_or(Standing::NEW);
            votes += standing.votes();
            if !row.enabled {
                continue;
            }
            entries.push(LadderCandidate {
                shown: shown.get(&row.key).copied().unwrap_or(0),
                has_build: builders.contains(&row.key),
                model: LadderModel { key: row.key, provider: row.provider, display_name: row.display_name },
                standing,
            });
        }
        Ok((entries, votes / 2))
    }

    fn is_listed(
        &self,
        lineup: &Lineup,
        LadderCandidate { model, standing, has_build, .. }: &LadderCandidate,
    ) -> bool {
        let has_votes = standing.votes() > 0;
        let may_meet = || {
            let mut entrants = lineup.contests().flat_map(|contest| &contest.entrants);
            entrants.any(|entrant| entrant.model == model.key)
        };
        match self.lineup.references {
            _ if !has_build && !has_votes => false,
            _ if !model.is_reference() => true,
            ReferencePolicy::Off => false,
            ReferencePolicy::Auto | ReferencePolicy::On => has_votes || may_meet(),
        }
    }
}
