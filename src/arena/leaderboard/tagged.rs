//! The ladder of one tag's prompts: Elo replayed over their votes, skill fitted to them, as if there were no
//! others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sqlx::PgConnection;
use time::OffsetDateTime;

use super::super::elo::{self, Standing};
use super::super::field::known;
use super::super::skill::{self, Tally};
use super::super::{Arena, Choice, ModelKey, PromptId};
use super::chronicle::{DAY, SLOTS, Then, count_duel};
use super::fits::PRIOR;
use super::{Chronicle, Contestant, DayAgo, Duels, Entry, History, Leaderboard, Point};

#[derive(Clone, Debug)]
pub struct Tagged {
    pub board: Leaderboard,
    pub chronicle: Arc<Chronicle>,
}

/// All that the ladder of a tag follows from.
pub struct Cast {
    as_of: OffsetDateTime,
    /// In the order in which they counted.
    votes: Vec<Vote>,
    /// Who is on the ladder, as before the first vote.
    entries: Vec<Entry>,
}

struct Vote {
    at: OffsetDateTime,
    prompt: PromptId,
    a: ModelKey,
    b: ModelKey,
    choice: Choice,
}

struct Candidate {
    model: Contestant,
    shown: i64,
    has_build: bool,
}

impl Arena {
    /// `judge` is to run [`Cast::judge`] wherever heavy work is done.
    pub async fn tagged<E, F>(&self, tag: &str, judge: impl FnOnce(Cast) -> F) -> Result<Arc<Tagged>, E>
    where
        E: From<sqlx::Error>,
        F: Future<Output = Result<Tagged, E>>,
    {
        if !self.tags().await?.iter().any(|known| known == tag) {
            let nobody = Cast { as_of: OffsetDateTime::now_utc(), votes: Vec::new(), entries: Vec::new() };
            return Ok(Arc::new(nobody.judge()));
        }
        let now = async { Ok(self.votes_now().await?) };
        let make = async {
            let (votes, cast) = self.cast(tag).await?;
            Ok((votes, judge(cast).await?))
        };
        self.kept.tagged.get(tag.to_owned(), now, make).await
    }

    async fn cast(&self, tag: &str) -> sqlx::Result<(i64, Cast)> {
        let field = self.field().await?;
        let mut snapshot = self.snapshot().await?;
        let votes = self.votes_on(&mut snapshot, tag).await?;
        let voted: BTreeSet<_> = votes.iter().flat_map(|vote| [&vote.a, &vote.b]).collect();
        let candidates = self.candidates(&mut snapshot, tag).await?.into_iter();
        let on_ladder = candidates.filter(|Candidate { model, has_build, .. }| {
            let has_votes = voted.contains(&model.key);
            (*has_build || has_votes) && self.admits(&field, model, has_votes)
        });
        let entry = |Candidate { model, shown, .. }| Entry { model, standing: Standing::NEW, shown };
        let entries = on_ladder.map(entry).collect();
        let now = self.votes_in(&mut snapshot).await?;
        Ok((now, Cast { as_of: OffsetDateTime::now_utc(), votes, entries }))
    }

    async fn votes_on(&self, connection: &mut PgConnection, tag: &str) -> sqlx::Result<Vec<Vote>> {
        let rows = sqlx::query!(
            "
            SELECT at, prompt_id, model_a, model_b, choice
            FROM votes
            JOIN matchups ON matchups.id = matchup_id
            JOIN prompts ON prompts.id = prompt_id
            WHERE settings = $1 AND $2 = ANY(tags)
            ORDER BY votes.id
            ",
            self.ladder,
            tag,
        )
        .fetch_all(connection)
        .await?;
        let mut votes = Vec::with_capacity(rows.len());
        for row in rows {
            votes.push(Vote {
                at: row.at,
                prompt: known(&row.prompt_id)?,
                a: known(&row.model_a)?,
                b: known(&row.model_b)?,
                choice: known(&row.choice)?,
            });
        }
        Ok(votes)
    }

    /// Who may be on the ladder: whoever has a build to show, or a vote.
    async fn candidates(&self, connection: &mut PgConnection, tag: &str) -> sqlx::Result<Vec<Candidate>> {
        let rows = sqlx::query!(
            r#"
            WITH closed AS (
                SELECT model, count(*) AS matchups
                FROM matchups
                JOIN prompts ON prompts.id = prompt_id
                CROSS JOIN LATERAL (VALUES (model_a), (model_b)) AS side (model)
                WHERE settings = $1 AND $2 = ANY(tags)
                  AND NOT EXISTS (
                      SELECT FROM open_matchups
                      WHERE open_matchups.voter_id = matchups.voter_id AND matchup_id = matchups.id
                        AND expires_at > now()
                  )
                GROUP BY model
            )
            SELECT
                key, provider, display_name,
                coalesce(closed.matchups, 0) AS "shown!",
                EXISTS (
                    SELECT FROM builds
                    JOIN prompts ON prompts.id = prompt_id
                    WHERE model_key = key AND retired_at IS NULL AND active AND $2 = ANY(tags)
                      AND grid_size = $3 AND palette = $4 AND mode = $5
                ) AS "has_build!"
            FROM models
            LEFT JOIN closed ON model = key
            WHERE enabled
            "#,
            self.ladder,
            tag,
            self.settings.grid.get() as i16,
            self.settings.palette.name(),
            self.settings.mode.as_str(),
        )
        .fetch_all(connection)
        .await?;
        let mut candidates = Vec::with_capacity(rows.len());
        for row in rows {
            let key = known(&row.key)?;
            let model = Contestant { key, provider: row.provider, display_name: row.display_name };
            candidates.push(Candidate { model, shown: row.shown, has_build: row.has_build });
        }
        Ok(candidates)
    }
}

impl Cast {
    /// Heavy work.
    pub fn judge(self) -> Tagged {
        let votes = self.votes.len() as i64;
        let (standings, chronicle) = replay(&self.votes, self.as_of - DAY);
        let mut entries = self.entries;
        for Entry { model, standing, .. } in &mut entries {
            *standing = standings.get(&model.key).copied().unwrap_or(Standing::NEW);
        }
        let ranked = entries.iter().map(|entry| entry.model.key.clone()).collect();
        let fit = skill::fit(&tallies(&self.votes), PRIOR, &ranked);
        let board = Leaderboard::of(self.as_of, votes, entries, fit);
        Tagged { board, chronicle: Arc::new(chronicle) }
    }
}

fn replay(votes: &[Vote], day_ago: OffsetDateTime) -> (BTreeMap<ModelKey, Standing>, Chronicle) {
    let mut standings = BTreeMap::new();
    let (mut duels, mut then, mut lines) = (Duels::new(), DayAgo::new(), Lines::over(votes));
    for vote in votes {
        let standing = |model| standings.get(model).copied().unwrap_or(Standing::NEW);
        let before = (standing(&vote.a), standing(&vote.b));
        let after = elo::judge(before.0, before.1, vote.choice);
        for (model, before, after) in [(&vote.a, before.0, after.0), (&vote.b, before.1, after.1)] {
            if vote.at > day_ago {
                let then = then.entry(model.clone()).or_insert(Then { elo: before.elo, votes_since: 0 });
                then.votes_since += 1;
            }
            lines.add(model, Point { at: vote.at, elo: after.elo });
            standings.insert(model.clone(), after);
        }
        count_duel(&mut duels, &vote.a, &vote.b, vote.choice, 1);
    }
    let history = lines.history();
    (standings, Chronicle { votes: votes.len() as i64, duels, history, day_ago: then })
}

fn tallies(votes: &[Vote]) -> Vec<Tally> {
    let mut counts = BTreeMap::new();
    for vote in votes {
        *counts.entry((&vote.prompt, &vote.a, &vote.b, vote.choice)).or_insert(0) += 1;
    }
    let tally = |((prompt, a, b, choice), count): ((&PromptId, &ModelKey, &ModelKey, Choice), u32)| Tally {
        prompt: prompt.clone(),
        a: a.clone(),
        b: b.clone(),
        choice,
        count,
    };
    counts.into_iter().map(tally).collect()
}

/// The last point of each slot, as the query for the whole ladder picks them.
struct Lines {
    began: Option<OffsetDateTime>,
    seconds: f64,
    slots: BTreeMap<(ModelKey, i32), Point>,
}

impl Lines {
    fn over(votes: &[Vote]) -> Self {
        let began = votes.iter().map(|vote| vote.at).min();
        let ended = votes.iter().map(|vote| vote.at).max();
        let span = began.zip(ended).map_or(0.0, |(began, ended)| (ended - began).as_seconds_f64());
        Self { began, seconds: span.max(1.0), slots: BTreeMap::new() }
    }

    fn add(&mut self, model: &ModelKey, point: Point) {
        let since = self.began.map_or(0.0, |began| (point.at - began).as_seconds_f64());
        let slot = (f64::from(SLOTS - 1) * since / self.seconds) as i32;
        self.slots.insert((model.clone(), slot), point);
    }

    fn history(self) -> History {
        let mut history = History::default();
        for ((model, _), point) in self.slots {
            history.lines.entry(model).or_default().push(point);
        }
        history
    }
}
