//! The ladder as people see it: who stands where, how sure that is, and what the votes behind it say.
//!
//! On the ladder are the enabled models that have been voted on, or have a build in force in an active prompt.
//! A reference model without votes must have somebody to meet, and none is on it where references never take
//! part. The votes on those who are not on it still count for those whom they met.

mod history;
mod reading;
mod record;
mod refreshed;
mod stats;

pub use history::{Point, RatingHistory, last_of_each};
pub(super) use reading::Moment;
pub use record::{Facts, JudgedVote, ModelRecord, Opponent, PAGE, PromptRecord};
pub(super) use refreshed::Refreshed;
pub use stats::{Duels, LadderStats, Record};

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use sqlx::{PgExecutor, Postgres, Transaction};
use time::OffsetDateTime;

use self::history::DAY;
use super::elo::{self, Standing};
use super::field::known;
use super::sampling::Shown;
use super::skill::Skill;
use super::{Arena, Field, ModelKey, References};

/// Who stands where, best first.
#[derive(Clone, Debug)]
pub struct Leaderboard {
    pub as_of: OffsetDateTime,
    /// All there are on this ladder.
    pub votes: i64,
    pub rows: Vec<Row>,
    /// What the votes say together; it may have seen fewer than there are by now.
    pub stats: Arc<LadderStats>,
}

#[derive(Clone, Debug)]
pub struct Row {
    pub rank: usize,
    pub model: Contestant,
    pub standing: Standing,
    pub shown: i64,
    /// None while there are not enough votes.
    pub skill: Option<Skill>,
}

struct Entry {
    model: Contestant,
    standing: Standing,
    shown: i64,
    /// In force, of an active prompt.
    has_build: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contestant {
    pub key: ModelKey,
    pub provider: String,
    pub display_name: String,
}

/// What became of a model since a day ago.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// It had no vote then.
    New,
    /// In points, and in ranks that it climbed.
    Moved { elo: f64, ranks: i64 },
}

impl Contestant {
    pub fn is_reference(&self) -> bool {
        self.provider == "reference"
    }
}

impl Entry {
    /// In place of all votes.
    fn count(&mut self, record: Record) {
        let Standing { elo, .. } = self.standing;
        self.standing = Standing {
            elo,
            wins: record.won,
            losses: record.losses(),
            ties: record.tied,
            both_bad: record.both_bad,
        };
    }
}

impl Leaderboard {
    fn by_elo(as_of: OffsetDateTime, votes: i64, mut entries: Vec<Entry>, stats: Arc<LadderStats>) -> Self {
        entries.sort_by(|a, b| higher((a.standing.elo, &a.model.key), (b.standing.elo, &b.model.key)));
        Self::ranked(as_of, votes, entries, stats)
    }

    /// Those without a skill come last, by the share of votes that they won.
    fn by_skill(as_of: OffsetDateTime, mut entries: Vec<Entry>, stats: Arc<LadderStats>) -> Self {
        let skill = |entry: &Entry| {
            stats.fit.models.get(&entry.model.key).map_or(f64::NEG_INFINITY, |skill| skill.rating)
        };
        entries.sort_by(|a, b| {
            let by_elo = || higher((a.standing.elo, &a.model.key), (b.standing.elo, &b.model.key));
            let by_share = b.standing.share().total_cmp(&a.standing.share());
            skill(b).total_cmp(&skill(a)).then(by_share).then_with(by_elo)
        });
        Self::ranked(as_of, stats.votes, entries, stats)
    }

    fn ranked(as_of: OffsetDateTime, votes: i64, entries: Vec<Entry>, stats: Arc<LadderStats>) -> Self {
        let row = |(rank, Entry { model, standing, shown, .. }): (usize, Entry)| {
            let skill = stats.fit.models.get(&model.key).cloned();
            Row { rank, model, standing, shown, skill }
        };
        Self { as_of, votes, rows: (1..).zip(entries).map(row).collect(), stats }
    }

    pub fn row(&self, model: &ModelKey) -> Option<&Row> {
        self.rows.iter().find(|row| row.model.key == *model)
    }

    /// The rows in the order that they had when the statistics were worked out, which stays until they are again,
    /// while the board itself moves with every vote.
    pub fn rows_as_of_stats(&self) -> Vec<Row> {
        let mut rows = self.rows.clone();
        let elo = |row: &Row| self.stats.history.latest(&row.model.key).unwrap_or(row.standing.elo);
        if !self.stats.history.lines.is_empty() {
            rows.sort_by(|a, b| higher((elo(a), &a.model.key), (elo(b), &b.model.key)));
        }
        (1..).zip(&mut rows).for_each(|(rank, row)| row.rank = rank);
        rows
    }

    /// For each row, in their order.
    pub fn changes(&self) -> Vec<Change> {
        let history = &self.stats.history;
        let day_ago = |row: &Row| history.rating_at(&row.model.key, self.as_of - DAY);
        let elo = |row: &Row| day_ago(row).unwrap_or(row.standing.elo);
        let mut then: Vec<_> = self.rows.iter().map(|row| (elo(row), &row.model.key)).collect();
        then.sort_by(|one, other| higher(*one, *other));
        let rank: BTreeMap<_, _> = then.iter().zip(1..).map(|((_, key), rank)| (*key, rank)).collect();
        let change = |row: &Row| match day_ago(row) {
            None if history.knows(&row.model.key) => Change::New,
            _ => Change::Moved {
                elo: row.standing.elo - elo(row),
                ranks: rank.get(&row.model.key).map_or(0, |then: &i64| then - row.rank as i64),
            },
        };
        self.rows.iter().map(change).collect()
    }
}

/// By rating; of equals, by key.
fn higher(one: (f64, &ModelKey), other: (f64, &ModelKey)) -> Ordering {
    other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1))
}

impl Arena {
    pub async fn leaderboard(&self) -> sqlx::Result<Leaderboard> {
        let field = self.field().await?;
        let stats = self.stats().await?;
        let shown = self.shown.latest(&self.pool, &self.ladder).await?;
        let (entries, votes) = self.entries(&self.replica, field.builders(), &shown.closed).await?;
        let entries = entries.into_iter().filter(|entry| self.admits(&field, entry)).collect();
        Ok(Leaderboard::by_elo(OffsetDateTime::now_utc(), votes, entries, stats))
    }

    /// All that is read in it belongs together.
    async fn snapshot(&self) -> sqlx::Result<Transaction<'static, Postgres>> {
        self.replica.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    /// Every enabled model with its standing on the whole ladder, and how many votes there are on it: each counts for
    /// two models. Who has built something, and how often each was shown, may be of a tag's prompts alone.
    async fn entries(
        &self,
        executor: impl PgExecutor<'_>,
        builders: &HashSet<ModelKey>,
        shown: &Shown,
    ) -> sqlx::Result<(Vec<Entry>, i64)> {
        let rows = sqlx::query!(
            r#"
            SELECT
                key, provider, display_name, enabled,
                coalesce(elo, $2) AS "elo!",
                coalesce(wins, 0) AS "wins!",
                coalesce(losses, 0) AS "losses!",
                coalesce(ties, 0) AS "ties!",
                coalesce(both_bad, 0) AS "both_bad!"
            FROM models
            LEFT JOIN ratings ON ratings.settings = $1 AND ratings.model_key = key
            "#,
            self.ladder,
            elo::START,
        )
        .fetch_all(executor)
        .await?;
        let (mut entries, mut votes) = (Vec::new(), 0);
        for row in rows {
            let standing = Standing {
                elo: row.elo,
                wins: row.wins,
                losses: row.losses,
                ties: row.ties,
                both_bad: row.both_bad,
            };
            votes += standing.votes();
            if !row.enabled {
                continue;
            }
            let key: ModelKey = known(&row.key)?;
            entries.push(Entry {
                shown: shown.get(&key).copied().unwrap_or(0),
                has_build: builders.contains(&key),
                model: Contestant { key, provider: row.provider, display_name: row.display_name },
                standing,
            });
        }
        Ok((entries, votes / 2))
    }

    fn admits(&self, field: &Field, Entry { model, standing, has_build, .. }: &Entry) -> bool {
        let has_votes = standing.votes() > 0;
        let may_meet = || {
            let mut entrants = field.contests().flat_map(|contest| &contest.entrants);
            entrants.any(|entrant| entrant.model == model.key)
        };
        match self.field.references {
            _ if !has_build && !has_votes => false,
            _ if !model.is_reference() => true,
            References::Off => false,
            References::Auto | References::On => has_votes || may_meet(),
        }
    }
}
