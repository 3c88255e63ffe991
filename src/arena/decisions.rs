//! Decisions of admins about votes: votes are withdrawn, set aside as suspect, or counted again.
//!
//! No vote is deleted. A decision marks votes and computes everything again that follows from them, in one
//! transaction, as if the votes had never counted: ratings are replayed from the first of these votes, and tallies
//! change by the votes of their voters. Judgements of the same people go the same way, in the same transaction.
//! Decisions are public, so nothing moves in secret.

mod judgements;
mod selection;

pub use self::selection::{MAX_SELECTED, MatchingVote, SelectedVotes, VoteSelection};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::audit::{self, Admin};
use super::{person_checks, replay, tallies};

/// The longest reason, in characters.
pub const MAX_REASON: usize = 500;

/// What an admin decides about votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VoteVerdict {
    Withdrawn,
    Suspect,
    /// Takes an earlier decision back.
    Counted,
}

/// A decision, as everybody can read it.
#[derive(Clone, Debug)]
pub struct Decision {
    pub id: i64,
    pub decided_at: OffsetDateTime,
    pub decided_by: String,
    pub verdict: VoteVerdict,
    pub reason: String,
    pub votes: i32,
    pub judgements: i32,
    /// When the first of these votes was cast; none without votes.
    pub first_at: Option<OffsetDateTime>,
}

#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    #[error("no vote or judgement matches, or all that match are so already")]
    NoVotes,
    #[error("more than {MAX_VOTES} votes match; choose a shorter time")]
    TooManyVotes,
    #[error("a reason has 1 to {MAX_REASON} characters")]
    BadReason,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The most votes of one decision.
pub const MAX_VOTES: usize = 500_000;

impl VoteVerdict {
    pub const ALL: [Self; 3] = [Self::Withdrawn, Self::Suspect, Self::Counted];

    pub fn name(self) -> &'static str {
        match self {
            Self::Withdrawn => "withdrawn",
            Self::Suspect => "suspect",
            Self::Counted => "counted",
        }
    }
}

impl FromStr for VoteVerdict {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|verdict| verdict.name() == text);
        found.ok_or_else(|| format!("{text:?} is not withdrawn, suspect or counted"))
    }
}

impl fmt::Display for VoteVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Voters whose votes no longer count have to show again that they are people before they can go on.
///
/// Votes wait while this works, and it replays every vote that was cast since the first of those decided about.
pub async fn decide(
    pool: &PgPool,
    selection: &VoteSelection,
    verdict: VoteVerdict,
    reason: &str,
    admin: Admin,
) -> Result<Decision, DecisionError> {
    let reason = reason.trim();
    if reason.is_empty() || reason.chars().count() > MAX_REASON {
        return Err(DecisionError::BadReason);
    }
    let mut transaction = pool.begin().await?;
    replay::lock_ratings(&mut transaction).await?;
    let votes = selection.votes(&mut transaction, verdict, MAX_VOTES + 1).await?;
    let judgements = selection.judgements(&mut transaction, verdict, MAX_VOTES + 1).await?;
    if votes.len() > MAX_VOTES || judgements.len() > MAX_VOTES {
        return Err(DecisionError::TooManyVotes);
    }
    if votes.is_empty() && judgements.is_empty() {
        return Err(DecisionError::NoVotes);
    }
    let decision = insert(&mut transaction, admin, verdict, reason, &votes, judgements.len()).await?;
    let mut voters = decide_votes(&mut transaction, &votes, verdict, decision.id).await?;
    voters.extend(judgements::mark(&mut transaction, &judgements, verdict, decision.id).await?);
    voters.sort_unstable();
    voters.dedup();
    if verdict != VoteVerdict::Counted {
        person_checks::ask_again(&mut *transaction, &voters).await?;
    }
    let detail = json!({
        "votes": votes.len(), "judgements": judgements.len(), "reason": reason, "selection": selection,
    });
    audit::record(&mut transaction, admin, verdict.name(), &format!("decision {}", decision.id), detail)
        .await?;
    transaction.commit().await?;
    Ok(decision)
}

/// Marks votes, and corrects all that follows from them. Returns their voters.
async fn decide_votes(
    connection: &mut PgConnection,
    votes: &[i64],
    verdict: VoteVerdict,
    decision: i64,
) -> sqlx::Result<Vec<Uuid>> {
    let Some(first) = votes.first().copied() else { return Ok(Vec::new()) };
    let replay = replay::replay_before(&mut *connection, first).await?;
    let voters = voters_of(&mut *connection, votes).await?;
    tallies::subtract_voters(&mut *connection, &voters).await?;
    mark(&mut *connection, votes, verdict, decision).await?;
    tallies::add_voters(&mut *connection, &voters).await?;
    replay::correct(connection, replay).await?;
    Ok(voters)
}

async fn voters_of(connection: &mut PgConnection, votes: &[i64]) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar!(
        "SELECT DISTINCT voter_id FROM votes JOIN matchups ON matchups.id = matchup_id WHERE votes.id = ANY($1)",
        votes,
    )
    .fetch_all(connection)
    .await
}

async fn insert(
    connection: &mut PgConnection,
    admin: Admin,
    verdict: VoteVerdict,
    reason: &str,
    votes: &[i64],
    judgements: usize,
) -> sqlx::Result<Decision> {
    sqlx::query_as!(
        Decision,
        r#"
        INSERT INTO vote_decisions (decided_by, verdict, reason, votes, judgements, first_vote, first_at)
        SELECT $1, $2, $3, cardinality($4::bigint[]), $5, votes.id, votes.at
        FROM (SELECT) one
        LEFT JOIN votes ON votes.id = ($4::bigint[])[1]
        RETURNING
            id, decided_at, decided_by, verdict AS "verdict: VoteVerdict", reason, votes, judgements, first_at
        "#,
        admin.via as _,
        verdict as _,
        reason,
        votes,
        judgements as i32,
    )
    .fetch_one(connection)
    .await
}

async fn mark(
    connection: &mut PgConnection,
    votes: &[i64],
    verdict: VoteVerdict,
    decision: i64,
) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE votes SET exclusion = nullif($2, 'counted'), decision = $3 WHERE id = ANY($1)",
        votes,
        verdict as _,
        decision,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The latest first; with `before`, only those before the decision with that id.
pub async fn list(
    executor: impl PgExecutor<'_>,
    before: Option<i64>,
    limit: i64,
) -> sqlx::Result<Vec<Decision>> {
    sqlx::query_as!(
        Decision,
        r#"
        SELECT
            id, decided_at, decided_by, verdict AS "verdict: VoteVerdict", reason, votes, judgements, first_at
        FROM vote_decisions
        WHERE $1::bigint IS NULL OR id < $1
        ORDER BY id DESC
        LIMIT $2
        "#,
        before,
        limit,
    )
    .fetch_all(executor)
    .await
}
