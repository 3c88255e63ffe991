//! Storing the votes of a dataset. Ratings depend on the order of all votes, so they are only imported where there are
//! none yet, all of them or none.

use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{DatasetDecision, ImportedBuilds, ImportedSlot};
use crate::arena::replay::{self, Difference, Ladders, Replay};
use crate::arena::vote_log::LoggedVote;
use crate::arena::{ModelKey, tallies};

/// The largest id of a vote or a decision, so that later ones still have room.
const MAX_ID: i64 = 1 << 53;

/// Why votes were not imported; none of them was.
#[derive(Debug, thiserror::Error)]
pub enum VoteImportError {
    #[error("this installation has votes already, and votes of two installations have no common order")]
    HasVotes,
    #[error(
        "this installation has votes already, {present} of the {in_file} in the file among them; the rest cannot be added, \
         since every rating depends on the order of all votes"
    )]
    HasSome { present: u64, in_file: u64 },
    #[error(
        "vote {0} is on a build that was not imported, such as one of a held-out prompt, which no file has"
    )]
    NoBuild(i64),
    #[error("vote {0} does not fit its builds")]
    WrongBuild(i64),
    #[error("vote {0} has an id that is out of range or out of order")]
    WrongId(i64),
    #[error("decision {0} has an id that is out of range")]
    WrongDecision(i64),
    #[error("the ratings do not follow from the votes: {0}")]
    WrongRatings(Difference),
    #[error("the ladders of the file do not follow from its votes")]
    WrongLadders,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The import of all votes, in one transaction. Nobody can vote meanwhile.
pub struct VoteImport {
    transaction: Transaction<'static, Postgres>,
    latest: i64,
}

impl VoteImport {
    pub async fn begin(pool: &PgPool) -> Result<Self, VoteImportError> {
        let mut transaction = pool.begin().await?;
        replay::lock_ratings(&mut transaction).await?;
        // Reading the file may take longer than a transaction may usually wait for its next statement.
        sqlx::query!("SET LOCAL idle_in_transaction_session_timeout = 0").execute(&mut *transaction).await?;
        let has_votes = sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM votes) AS "has_votes!""#);
        match has_votes.fetch_one(&mut *transaction).await? {
            true => Err(VoteImportError::HasVotes),
            false => Ok(Self { transaction, latest: 0 }),
        }
    }

    pub async fn add_decisions(&mut self, decisions: &[DatasetDecision]) -> Result<(), VoteImportError> {
        for decision in decisions {
            let DatasetDecision { id, decided_at, verdict, votes, judgements, first_vote, first_at, reason } =
                decision;
            if !(1..=MAX_ID).contains(id) {
                return Err(VoteImportError::WrongDecision(*id));
            }
            sqlx::query!(
                "
                INSERT INTO vote_decisions (
                    id, decided_at, decided_by, verdict, votes, judgements, first_vote, first_at, reason
                )
                OVERRIDING SYSTEM VALUE
                VALUES ($1, $2, 'import', $3, $4, $5, $6, $7, $8)
                ",
                id,
                decided_at,
                verdict as _,
                votes,
                judgements,
                *first_vote,
                *first_at,
                reason,
            )
            .execute(&mut *self.transaction)
            .await?;
        }
        if let Some(latest) = decisions.iter().map(|decision| decision.id).max() {
            sqlx::query_scalar!("SELECT setval(pg_get_serial_sequence('vote_decisions', 'id'), $1)", latest)
                .fetch_one(&mut *self.transaction)
                .await?;
        }
        Ok(())
    }

    /// Adds votes, which must follow those before. The file does not say whose they are, so each gets a voter of its own.
    pub async fn add_votes(
        &mut self,
        votes: &[LoggedVote],
        builds: &ImportedBuilds,
    ) -> Result<(), VoteImportError> {
        let (mut left, mut right) = (Vec::with_capacity(votes.len()), Vec::with_capacity(votes.len()));
        for vote in votes {
            if vote.id <= self.latest || vote.id > MAX_ID {
                return Err(VoteImportError::WrongId(vote.id));
            }
            self.latest = vote.id;
            left.push(find_side(vote, &vote.build_a, &vote.model_a, builds)?);
            right.push(find_side(vote, &vote.build_b, &vote.model_b, builds)?);
        }
        insert_matchups(&mut self.transaction, votes, &left, &right).await?;
        insert_votes(&mut self.transaction, votes).await?;
        Ok(())
    }

    /// Replays the votes, and computes everything again that follows from them. `expected` are the ladders of the file.
    /// Returns how many votes there are.
    pub async fn finish(self, expected: &Ladders) -> Result<u64, VoteImportError> {
        let Self { mut transaction, latest } = self;
        let report = replay::correct(&mut transaction, Replay::default()).await?;
        match report.first {
            Some(difference) if report.differing_votes > 0 => {
                return Err(VoteImportError::WrongRatings(difference));
            }
            _ if !report.replay.differences(expected).is_empty() => {
                return Err(VoteImportError::WrongLadders);
            }
            _ => {}
        }
        tallies::rewrite(&mut transaction).await?;
        sqlx::query!(
            "
            INSERT INTO shown (settings, prompt_id, model_key, times, held, public)
            SELECT settings, prompt_id, side.model_key, count(*), count(*), count(*)
            FROM votes
            JOIN matchups ON matchups.id = matchup_id
            CROSS JOIN LATERAL (VALUES (model_a), (model_b)) AS side (model_key)
            GROUP BY settings, prompt_id, side.model_key
            ON CONFLICT (settings, prompt_id, model_key) DO UPDATE
            SET times = shown.times + excluded.times, held = shown.held + excluded.held,
                public = shown.public + excluded.public
            "
        )
        .execute(&mut *transaction)
        .await?;
        if latest > 0 {
            sqlx::query_scalar!("SELECT setval('vote_ids', $1)", latest).fetch_one(&mut *transaction).await?;
        }
        sqlx::query!("DELETE FROM ladder_stats").execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(report.replay.votes + report.replay.excluded)
    }
}

/// How many of these votes are here, as they are in the file.
pub async fn count_present(pool: &PgPool, votes: &[LoggedVote]) -> sqlx::Result<u64> {
    let count = sqlx::query_scalar!(
        r#"
        SELECT count(*) AS "count!"
        FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::bigint[])
            AS logged (id, matchup_id, choice, exclusion, decision)
        JOIN votes USING (id, matchup_id, choice)
        WHERE votes.exclusion IS NOT DISTINCT FROM logged.exclusion
          AND votes.decision IS NOT DISTINCT FROM logged.decision
        "#,
        &votes.iter().map(|vote| vote.id).collect::<Vec<_>>(),
        &votes.iter().map(|vote| vote.matchup_id).collect::<Vec<_>>(),
        &votes.iter().map(|vote| vote.choice.name().to_owned()).collect::<Vec<_>>(),
        &votes.iter().map(exclusion_name).collect::<Vec<_>>() as &[Option<String>],
        &votes.iter().map(|vote| vote.decision).collect::<Vec<_>>() as &[Option<i64>],
    )
    .fetch_one(pool)
    .await?;
    Ok(count.unsigned_abs())
}

fn exclusion_name(vote: &LoggedVote) -> Option<String> {
    vote.exclusion.map(|why| why.name().to_owned())
}

/// The build here that is on one side of a vote.
fn find_side(
    vote: &LoggedVote,
    log_id: &str,
    model: &ModelKey,
    builds: &ImportedBuilds,
) -> Result<Uuid, VoteImportError> {
    let found = log_id.parse().ok().and_then(|log_id: Uuid| builds.get(&log_id));
    let ImportedSlot { id, slot } = found.ok_or(VoteImportError::NoBuild(vote.id))?;
    let fits = slot.prompt == vote.prompt_id && slot.model == *model && slot.settings.slug() == vote.settings;
    if fits { Ok(*id) } else { Err(VoteImportError::WrongBuild(vote.id)) }
}

async fn insert_matchups(
    connection: &mut PgConnection,
    votes: &[LoggedVote],
    left: &[Uuid],
    right: &[Uuid],
) -> sqlx::Result<()> {
    let names =
        |of: fn(&LoggedVote) -> &str| votes.iter().map(|vote| of(vote).to_owned()).collect::<Vec<_>>();
    sqlx::query!(
        "
        INSERT INTO matchups (
            id, voter_id, settings, prompt_id, model_a, model_b, build_a, build_b, probability, served_at, pair
        )
        SELECT
            id, gen_random_uuid(), settings, prompt_id, model_a, model_b, build_a, build_b, probability, at,
            pair_code(settings, prompt_id, model_a, model_b)
        FROM unnest(
            $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::uuid[], $8::float8[],
            $9::timestamptz[]
        ) AS logged (id, settings, prompt_id, model_a, model_b, build_a, build_b, probability, at)
        ",
        &votes.iter().map(|vote| vote.matchup_id).collect::<Vec<_>>(),
        &names(|vote| &vote.settings),
        &names(|vote| vote.prompt_id.as_str()),
        &names(|vote| vote.model_a.as_str()),
        &names(|vote| vote.model_b.as_str()),
        left,
        right,
        &votes.iter().map(|vote| vote.probability).collect::<Vec<_>>(),
        &votes.iter().map(|vote| vote.at).collect::<Vec<OffsetDateTime>>(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn insert_votes(connection: &mut PgConnection, votes: &[LoggedVote]) -> sqlx::Result<()> {
    let ratings = |of: fn(&LoggedVote) -> f64| votes.iter().map(of).collect::<Vec<_>>();
    sqlx::query!(
        "
        INSERT INTO votes (
            id, matchup_id, at, choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after, dwell_ms,
            exclusion, decision
        )
        SELECT *
        FROM unnest(
            $1::bigint[], $2::uuid[], $3::timestamptz[], $4::text[],
            $5::float8[], $6::float8[], $7::float8[], $8::float8[], $9::bigint[], $10::text[], $11::bigint[]
        )
        ",
        &votes.iter().map(|vote| vote.id).collect::<Vec<_>>(),
        &votes.iter().map(|vote| vote.matchup_id).collect::<Vec<_>>(),
        &votes.iter().map(|vote| vote.at).collect::<Vec<OffsetDateTime>>(),
        &votes.iter().map(|vote| vote.choice.name().to_owned()).collect::<Vec<_>>(),
        &ratings(|vote| vote.elo_a_before),
        &ratings(|vote| vote.elo_a_after),
        &ratings(|vote| vote.elo_b_before),
        &ratings(|vote| vote.elo_b_after),
        &votes.iter().map(|vote| vote.dwell_ms).collect::<Vec<_>>() as &[Option<i64>],
        &votes.iter().map(exclusion_name).collect::<Vec<_>>() as &[Option<String>],
        &votes.iter().map(|vote| vote.decision).collect::<Vec<_>>() as &[Option<i64>],
    )
    .execute(connection)
    .await?;
    Ok(())
}
