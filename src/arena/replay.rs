//! Replaying votes: the ratings that follow from them, compared with the stored ones.

use std::collections::BTreeMap;

use serde_json::json;
use sqlx::{PgConnection, PgPool};

use super::audit::{self, Admin};
use super::elo::{Standing, apply_vote};
use super::vote_log::{LoggedVote, VoteLog};
use super::{ModelKey, TallyMismatch, tallies};

/// The standings of all models, by settings.
pub type Ladders = BTreeMap<String, BTreeMap<ModelKey, Standing>>;

/// The ladders after the votes so far.
#[derive(Debug, Default)]
pub struct Replay {
    pub ladders: Ladders,
    pub votes: u64,
    latest: Option<i64>,
}

/// Both models' ratings before and after a vote: of A, then of B.
#[derive(Clone, Copy, Debug)]
pub struct RatingChange {
    pub before: [f64; 2],
    pub after: [f64; 2],
}

/// Why a vote cannot be the next one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("vote {id} comes after vote {latest}, but votes must be in the order of their ids")]
    OutOfOrder { id: i64, latest: i64 },
    #[error("vote {id} compares {model} with itself")]
    SameModel { id: i64, model: ModelKey },
}

impl From<ReplayError> for sqlx::Error {
    fn from(wrong: ReplayError) -> Self {
        Self::Decode(wrong.into())
    }
}

/// A difference between what is stored and what follows from the votes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Difference {
    #[error(
        "vote {vote} is stored with an Elo of {stored:?} for {model} {when} it; by the votes up to it, that is {replayed:?}"
    )]
    Vote { vote: i64, model: ModelKey, when: &'static str, stored: f64, replayed: f64 },
    #[error("{model} ({settings}) is stored with {column} {stored}; by its votes, that is {replayed}")]
    Standing { settings: String, model: ModelKey, column: &'static str, stored: String, replayed: String },
    #[error("{model} ({settings}) has votes, but no stored rating")]
    NoStanding { settings: String, model: ModelKey },
    #[error("{model} ({settings}) has a stored rating, but no votes")]
    NoVotes { settings: String, model: ModelKey },
    #[error(
        "the tally of builds {} and {} with {} votes does not match the {} votes on them",
        .0.build_a, .0.build_b, .0.stored, .0.counted
    )]
    Tally(TallyMismatch),
}

impl Replay {
    /// What the next vote changes, by the votes before it.
    pub fn next(&mut self, vote: &LoggedVote) -> Result<RatingChange, ReplayError> {
        let LoggedVote { id, model_a, model_b, .. } = vote;
        if let Some(latest) = self.latest.filter(|latest| id <= latest) {
            return Err(ReplayError::OutOfOrder { id: *id, latest });
        }
        if model_a == model_b {
            return Err(ReplayError::SameModel { id: *id, model: model_a.clone() });
        }
        let ladder = self.ladders.entry(vote.settings.clone()).or_default();
        let of = |model| ladder.get(model).copied().unwrap_or(Standing::NEW);
        let before = (of(model_a), of(model_b));
        let after = apply_vote(before.0, before.1, vote.choice);
        ladder.insert(model_a.clone(), after.0);
        ladder.insert(model_b.clone(), after.1);
        self.votes += 1;
        self.latest = Some(*id);
        Ok(RatingChange { before: [before.0.elo, before.1.elo], after: [after.0.elo, after.1.elo] })
    }

    pub fn models(&self) -> usize {
        self.ladders.values().map(BTreeMap::len).sum()
    }

    /// How the stored ladders differ, model by model.
    pub fn differences(&self, stored: &Ladders) -> Vec<Difference> {
        let replayed = self.ladders.iter().flat_map(|(settings, ladder)| {
            let stored = stored.get(settings);
            ladder.iter().filter_map(move |(model, standing)| {
                let (settings, model) = (settings.clone(), model.clone());
                match stored.and_then(|ladder| ladder.get(&model)) {
                    Some(stored) => differing(stored, standing).map(|(column, stored, replayed)| {
                        Difference::Standing { settings, model, column, stored, replayed }
                    }),
                    None => Some(Difference::NoStanding { settings, model }),
                }
            })
        });
        let voteless = stored.iter().flat_map(|(settings, ladder)| {
            let replayed = self.ladders.get(settings);
            let voteless =
                ladder.keys().filter(move |model| !replayed.is_some_and(|l| l.contains_key(*model)));
            voteless.map(|model| Difference::NoVotes { settings: settings.clone(), model: model.clone() })
        });
        replayed.chain(voteless).collect()
    }
}

impl RatingChange {
    /// As the log has it.
    pub fn logged(vote: &LoggedVote) -> Self {
        Self { before: [vote.elo_a_before, vote.elo_b_before], after: [vote.elo_a_after, vote.elo_b_after] }
    }

    /// How the log differs from this, if it does.
    pub fn difference(&self, vote: &LoggedVote) -> Option<Difference> {
        let logged = Self::logged(vote);
        let sides = |when, logged: [f64; 2], replayed: [f64; 2]| {
            let models = [&vote.model_a, &vote.model_b];
            (0..2).map(move |side| (when, models[side], logged[side], replayed[side]))
        };
        let (when, model, stored, replayed) = sides("before", logged.before, self.before)
            .chain(sides("after", logged.after, self.after))
            .find(|(_, _, stored, replayed)| stored.to_bits() != replayed.to_bits())?;
        Some(Difference::Vote { vote: vote.id, model: model.clone(), when, stored, replayed })
    }
}

/// The first column in which two standings differ, with both values.
fn differing(stored: &Standing, replayed: &Standing) -> Option<(&'static str, String, String)> {
    if stored.elo.to_bits() != replayed.elo.to_bits() {
        return Some(("Elo", format!("{:?}", stored.elo), format!("{:?}", replayed.elo)));
    }
    let counts =
        |s: &Standing| [("wins", s.wins), ("losses", s.losses), ("ties", s.ties), ("both bad", s.both_bad)];
    let mut pairs = counts(stored).into_iter().zip(counts(replayed));
    let ((column, stored), (_, replayed)) = pairs.find(|(stored, replayed)| stored != replayed)?;
    Some((column, stored.to_string(), replayed.to_string()))
}

/// The result of comparing everything that is stored with the votes.
#[derive(Debug, Default)]
pub struct ReplayReport {
    pub replay: Replay,
    pub differing_votes: u64,
    pub differing_ratings: u64,
    pub differing_tallies: u64,
    pub first: Option<Difference>,
}

impl ReplayReport {
    pub fn is_clean(&self) -> bool {
        self.first.is_none()
    }

    /// Replays the next vote. Returns what it changes, if that is stored differently.
    pub fn next(&mut self, vote: &LoggedVote) -> Result<Option<RatingChange>, ReplayError> {
        let change = self.replay.next(vote)?;
        let Some(difference) = change.difference(vote) else { return Ok(None) };
        self.differing_votes += 1;
        self.first.get_or_insert(difference);
        Ok(Some(change))
    }

    fn close(&mut self, stored: &Ladders, tallies: Vec<TallyMismatch>) {
        let differences = self.replay.differences(stored);
        self.differing_ratings = differences.len() as u64;
        self.differing_tallies = tallies.len() as u64;
        let mut all = differences.into_iter().chain(tallies.into_iter().map(Difference::Tally));
        self.first = self.first.take().or_else(|| all.next());
    }
}

/// Compares all votes, ratings and tallies of one moment with a replay.
pub async fn verify(pool: &PgPool) -> sqlx::Result<ReplayReport> {
    let mut snapshot = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    compare(&mut snapshot, false).await
}

/// Does the same, and corrects what differs. Votes wait meanwhile.
pub async fn repair(pool: &PgPool, admin: Admin) -> sqlx::Result<ReplayReport> {
    let mut transaction = pool.begin().await?;
    let report = compare(&mut transaction, true).await?;
    if report.differing_ratings > 0 {
        rewrite_ratings(&mut transaction, &report.replay.ladders).await?;
    }
    if report.differing_tallies > 0 {
        tallies::rewrite(&mut transaction).await?;
    }
    if !report.is_clean() {
        // The statistics were computed from what was wrong.
        sqlx::query!("DELETE FROM ladder_stats").execute(&mut *transaction).await?;
        let detail = json!({
            "votes": report.differing_votes,
            "ratings": report.differing_ratings,
            "tallies": report.differing_tallies,
        });
        audit::record(&mut transaction, admin, "recompute", "ladders", detail).await?;
    }
    transaction.commit().await?;
    Ok(report)
}

/// Replays the stored votes. With `rewrites`, votes that differ are corrected, and new ones wait.
async fn compare(connection: &mut PgConnection, rewrites: bool) -> sqlx::Result<ReplayReport> {
    // Counting all votes may take longer than statements are usually allowed to.
    sqlx::query!("SET LOCAL statement_timeout = 0").execute(&mut *connection).await?;
    if rewrites {
        // A vote in progress has locked its models' rows, so this waits for it; the next vote waits for this.
        sqlx::query!("LOCK TABLE ratings IN EXCLUSIVE MODE").execute(&mut *connection).await?;
    }
    let mut report = ReplayReport::default();
    let mut log = VoteLog::open(&mut *connection).await?;
    loop {
        let votes = log.next(&mut *connection).await?;
        if votes.is_empty() {
            break;
        }
        let mut wrong = Vec::new();
        for vote in &votes {
            wrong.extend(report.next(vote)?.map(|change| (vote.id, change)));
        }
        if rewrites {
            rewrite_votes(connection, &wrong).await?;
        }
    }
    report.close(&stored(connection).await?, tallies::mismatches(connection).await?);
    Ok(report)
}

async fn stored(connection: &mut PgConnection) -> sqlx::Result<Ladders> {
    let rows = sqlx::query!(
        r#"
        SELECT
            settings, model_key AS "model_key: ModelKey",
            (elo, wins, losses, ties, both_bad) AS "standing!: Standing"
        FROM ratings
        "#
    )
    .fetch_all(connection)
    .await?;
    let mut ladders = Ladders::new();
    for row in rows {
        ladders.entry(row.settings).or_default().insert(row.model_key, row.standing);
    }
    Ok(ladders)
}

async fn rewrite_votes(connection: &mut PgConnection, wrong: &[(i64, RatingChange)]) -> sqlx::Result<()> {
    if wrong.is_empty() {
        return Ok(());
    }
    let column =
        |of: fn(&RatingChange) -> f64| wrong.iter().map(|(_, change)| of(change)).collect::<Vec<_>>();
    sqlx::query!(
        "
        UPDATE votes
        SET elo_a_before = right_one.a_before, elo_a_after = right_one.a_after,
            elo_b_before = right_one.b_before, elo_b_after = right_one.b_after
        FROM unnest($1::bigint[], $2::float8[], $3::float8[], $4::float8[], $5::float8[])
            AS right_one (id, a_before, a_after, b_before, b_after)
        WHERE votes.id = right_one.id
        ",
        &wrong.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        &column(|change| change.before[0]),
        &column(|change| change.after[0]),
        &column(|change| change.before[1]),
        &column(|change| change.after[1]),
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn rewrite_ratings(connection: &mut PgConnection, ladders: &Ladders) -> sqlx::Result<()> {
    let rows: Vec<_> = ladders
        .iter()
        .flat_map(|(settings, ladder)| {
            ladder.iter().map(move |(model, standing)| (settings, model, standing))
        })
        .collect();
    let column = |of: fn(&Standing) -> i64| rows.iter().map(|row| of(row.2)).collect::<Vec<_>>();
    let (settings, models): (Vec<_>, Vec<_>) =
        rows.iter().map(|(settings, model, _)| ((*settings).clone(), *model)).unzip();
    sqlx::query!(
        "
        DELETE FROM ratings
        WHERE (settings, model_key) NOT IN (SELECT * FROM unnest($1::text[], $2::text[]))
        ",
        &settings,
        models as _,
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "
        INSERT INTO ratings (settings, model_key, elo, wins, losses, ties, both_bad)
        SELECT *
        FROM unnest($1::text[], $2::text[], $3::float8[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
        ON CONFLICT (settings, model_key) DO UPDATE
        SET elo = excluded.elo, wins = excluded.wins, losses = excluded.losses,
            ties = excluded.ties, both_bad = excluded.both_bad
        ",
        &settings,
        models as _,
        &rows.iter().map(|row| row.2.elo).collect::<Vec<_>>(),
        &column(|standing| standing.wins),
        &column(|standing| standing.losses),
        &column(|standing| standing.ties),
        &column(|standing| standing.both_bad),
    )
    .execute(connection)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests;
