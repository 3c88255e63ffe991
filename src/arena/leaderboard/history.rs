//! The history of ratings, thinned to what a chart can show.
//!
//! A history continues after the latest vote that it has read and reads no vote twice, so keeping it up to date costs
//! only what the new votes cost. Votes get their ids under the locks of both models' ratings, but votes on different
//! models may be committed out of order: one that is committed late is skipped. Then a point is missing where many are
//! left out anyway, and [`RatingHistory::align_with_ratings`] makes every line end at its model's current rating.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};

use super::super::{ModelKey, Settings};
use super::Published;

/// The span over which changes are shown.
pub(super) const DAY: Duration = Duration::DAY;

/// Votes that are read at a time.
const BATCH: i64 = 20_000;

/// A line with more points than this is thinned.
const MAX_POINTS: usize = 600;

/// The number of points that thinning leaves of the part of a line before the last day.
const SLOTS: i64 = 200;

/// Of the last day and a little more, thinning leaves a point for each of these, so that the change within a day stays
/// accurate.
const FINE_SLOT: Duration = Duration::minutes(10);
const FINE_PART: Duration = Duration::hours(25);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RatingHistory {
    /// The id of the latest vote that was read.
    through: i64,
    /// The latest decision about votes that the history follows.
    #[serde(default)]
    decision: i64,
    /// Whether all votes were read by then.
    pub is_whole: bool,
    pub lines: BTreeMap<ModelKey, Vec<RatingPoint>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(i64, f64)", into = "(i64, f64)")]
pub struct RatingPoint {
    pub at: OffsetDateTime,
    pub elo: f64,
}

/// A vote's time, and the ratings of both models after it.
#[derive(Clone, Debug)]
pub(super) struct RatedVote {
    at: OffsetDateTime,
    models: [(ModelKey, f64); 2],
}

/// The next votes that a history has not read yet.
pub(super) struct UnreadVotes {
    votes: Vec<RatedVote>,
    through: i64,
    /// Whether there are no more.
    is_all: bool,
}

impl RatingHistory {
    /// A model's rating at a moment; none before its first vote.
    pub fn rating_at(&self, model: &ModelKey, at: OffsetDateTime) -> Option<f64> {
        let line = self.lines.get(model)?;
        line[..line.partition_point(|point| point.at <= at)].last().map(|point| point.elo)
    }

    /// A model's latest rating; none before its first vote.
    pub fn latest(&self, model: &ModelKey) -> Option<f64> {
        self.lines.get(model)?.last().map(|point| point.elo)
    }

    pub(super) fn extend(&mut self, unread: UnreadVotes, now: OffsetDateTime) {
        (self.through, self.is_whole) = (unread.through, unread.is_all);
        for RatedVote { at, models } in unread.votes {
            for (model, elo) in models {
                let line = self.lines.entry(model).or_default();
                line.push(RatingPoint { at, elo });
                if line.len() > MAX_POINTS {
                    *line = downsampled(line, now);
                }
            }
        }
    }

    /// Forgets what later decisions have changed: everything since the first vote that one was about.
    pub(super) async fn follow_decisions(&mut self, connection: &mut PgConnection) -> sqlx::Result<()> {
        let row = sqlx::query!(
            "
            SELECT max(id) AS latest, min(first_vote) AS first_vote, min(first_at) AS first_at
            FROM vote_decisions
            WHERE id > $1
            ",
            self.decision,
        )
        .fetch_one(connection)
        .await?;
        self.decision = row.latest.unwrap_or(self.decision);
        // Without a vote, they are about judgements alone, which change no rating.
        if let (Some(vote), Some(at)) = (row.first_vote, row.first_at)
            && vote <= self.through
        {
            self.rewind(vote, at);
        }
        Ok(())
    }

    fn rewind(&mut self, vote: i64, at: OffsetDateTime) {
        // Stored points are exact to the millisecond.
        let at = at.truncate_to_millisecond();
        (self.through, self.is_whole) = (vote - 1, false);
        for line in self.lines.values_mut() {
            line.truncate(line.partition_point(|point| point.at < at));
        }
        self.lines.retain(|_, line| !line.is_empty());
    }

    /// Makes every line end at its model's current rating. Only correct once all votes are read.
    pub(super) fn align_with_ratings<'a>(
        &mut self,
        ratings: impl Iterator<Item = (&'a ModelKey, f64)>,
        now: OffsetDateTime,
    ) {
        for (model, elo) in ratings {
            let line = self.lines.entry(model.clone()).or_default();
            if line.last().is_none_or(|last| last.elo.to_bits() != elo.to_bits()) {
                line.push(RatingPoint { at: now, elo });
            }
        }
    }

    pub(super) async fn unread(
        &self,
        connection: &mut PgConnection,
        settings: &Settings,
        published: Published,
    ) -> sqlx::Result<UnreadVotes> {
        let rows = sqlx::query!(
            r#"
            SELECT
                votes.id, at, model_a AS "model_a: ModelKey", model_b AS "model_b: ModelKey",
                elo_a_after, elo_b_after, exclusion IS NULL AS "counts!", settings AS "settings: Settings"
            FROM (
                SELECT id, at, matchup_id, elo_a_after, elo_b_after, exclusion
                FROM votes
                WHERE id > $1 AND id <= $3
                ORDER BY id
                LIMIT $2
            ) votes
            JOIN matchups ON matchups.id = matchup_id
            ORDER BY votes.id
            "#,
            self.through,
            BATCH,
            published.through,
        )
        .fetch_all(connection)
        .await?;
        let is_all = rows.len() < BATCH as usize;
        let through = rows.last().map_or(self.through, |row| row.id);
        let votes = rows.into_iter().filter(|row| row.counts && row.settings == *settings).map(|row| {
            RatedVote { at: row.at, models: [(row.model_a, row.elo_a_after), (row.model_b, row.elo_b_after)] }
        });
        Ok(UnreadVotes { votes: votes.collect(), through, is_all })
    }
}

/// Keeps the last point in each slot of time. Slots are short for the last day, and long before.
fn downsampled(line: &[RatingPoint], now: OffsetDateTime) -> Vec<RatingPoint> {
    let (Some(first), Some(last)) = (line.first(), line.last()) else { return Vec::new() };
    let fine_from = now - FINE_PART;
    let span = (fine_from.min(last.at) - first.at).whole_milliseconds().max(1);
    last_per_slot(line, |at| match at > fine_from {
        true => (true, (at - fine_from).whole_milliseconds() / FINE_SLOT.whole_milliseconds()),
        false => (false, i128::from(SLOTS) * (at - first.at).whole_milliseconds() / span),
    })
}

/// The last point in each slot, of points in the order of time.
pub fn last_per_slot<K: PartialEq>(
    line: &[RatingPoint],
    slot: impl Fn(OffsetDateTime) -> K,
) -> Vec<RatingPoint> {
    let is_last = |index: usize| line.get(index + 1).is_none_or(|next| slot(next.at) != slot(line[index].at));
    (0..line.len()).filter(|&index| is_last(index)).map(|index| line[index]).collect()
}

impl From<(i64, f64)> for RatingPoint {
    fn from((milliseconds, elo): (i64, f64)) -> Self {
        let at = OffsetDateTime::UNIX_EPOCH.saturating_add(Duration::milliseconds(milliseconds));
        Self { at, elo }
    }
}

impl From<RatingPoint> for (i64, f64) {
    fn from(point: RatingPoint) -> Self {
        let milliseconds = point.at.unix_timestamp_nanos() / 1_000_000;
        (i64::try_from(milliseconds).unwrap_or_default(), point.elo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn model() -> ModelKey {
        "elm".parse().unwrap()
    }

    fn votes(count: i64, apart: Duration) -> UnreadVotes {
        let vote = |index: i64| RatedVote {
            at: NOON + apart * i32::try_from(index).unwrap(),
            models: [(model(), 1500.0 + index as f64), ("fir".parse().unwrap(), 1500.0 - index as f64)],
        };
        UnreadVotes { votes: (0..count).map(vote).collect(), through: count, is_all: true }
    }

    #[test]
    fn a_long_line_is_thinned_and_keeps_its_end_and_the_last_day_by_ten_minutes() {
        let now = NOON + Duration::days(100);
        let mut history = RatingHistory::default();
        history.extend(votes(100 * 24 * 60, Duration::minutes(1)), now);

        let line = &history.lines[&model()];
        assert!(line.len() <= MAX_POINTS, "{}", line.len());
        assert!(line.is_sorted_by_key(|point| point.at));
        assert_eq!(line.last().unwrap().elo, 1500.0 + (100.0 * 24.0 * 60.0 - 1.0));
        let yesterday = history.rating_at(&model(), now - DAY).unwrap();
        let exact = 1500.0 + 99.0 * 24.0 * 60.0;
        assert!(
            (exact - 10.0..=exact).contains(&yesterday),
            "{yesterday} is not within ten minutes of {exact}"
        );
    }

    #[test]
    fn a_short_line_keeps_every_vote() {
        let mut history = RatingHistory::default();
        history.extend(votes(300, Duration::SECOND), NOON + Duration::HOUR);
        assert_eq!(history.lines[&model()].len(), 300);
        assert_eq!(history.through, 300);
        assert_eq!(history.rating_at(&model(), NOON + Duration::seconds(7)), Some(1507.0));
        assert_eq!(history.rating_at(&model(), NOON - Duration::SECOND), None);
    }

    #[test]
    fn a_decision_about_votes_takes_a_history_back_to_before_the_first_of_them() {
        let mut history = RatingHistory::default();
        history.extend(votes(300, Duration::SECOND), NOON + Duration::HOUR);
        history.rewind(101, NOON + Duration::seconds(100));
        assert_eq!(history.latest(&model()), Some(1599.0));
        assert_eq!((history.through, history.is_whole), (100, false));
        history.rewind(1, NOON);
        assert_eq!(history.latest(&model()), None);
    }

    #[test]
    fn a_settled_line_ends_where_its_model_stands() {
        let mut history = RatingHistory::default();
        history.extend(votes(3, Duration::SECOND), NOON);
        let now = NOON + Duration::MINUTE;
        history.align_with_ratings([(&model(), 1502.0)].into_iter(), now);
        assert_eq!(history.lines[&model()].len(), 3, "it does already");
        history.align_with_ratings([(&model(), 1510.0)].into_iter(), now);
        assert_eq!(history.lines[&model()].last(), Some(&RatingPoint { at: now, elo: 1510.0 }));
    }

    #[test]
    fn a_history_survives_json_to_the_last_bit() {
        let mut history = RatingHistory::default();
        let mut odd = votes(2, Duration::MILLISECOND * 7);
        odd.votes[1].models[0].1 = 1500.0 + 1.0 / 3.0;
        history.extend(odd, NOON);
        let json = serde_json::to_string(&history).unwrap();
        assert_eq!(serde_json::from_str::<RatingHistory>(&json).unwrap(), history);
    }
}
