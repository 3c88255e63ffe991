//! Votes: casting them, and what they reveal.

pub(super) mod budgets;
pub(super) mod counting;
mod exclusion;
pub(super) mod network_keys;
pub(super) mod reveals;

pub use self::budgets::VoteBudgets;
pub use self::exclusion::Exclusion;

use std::net::IpAddr;
use std::time::Duration;

use uuid::Uuid;

use self::counting::Ballot;
use super::{Arena, Choice, ChoiceCounts, ModelKey, Voter};
use voxel::Warning;

/// What a vote reveals.
#[derive(Clone, Debug)]
pub struct Reveal {
    pub matchup: Uuid,
    pub choice: Choice,
    pub a: RevealedSide,
    pub b: RevealedSide,
    /// All other votes on these two builds that count, as if the builds had been on these sides.
    pub others: ChoiceCounts,
}

impl Reveal {
    /// Whether others than its voter may see it: both builds are shown outside of matchups.
    pub fn is_public(&self) -> bool {
        !self.a.withheld && !self.b.withheld
    }
}

/// A side of a matchup, and how the vote changed its model's rating.
#[derive(Clone, Debug)]
pub struct RevealedSide {
    pub key: ModelKey,
    pub provider: String,
    pub display_name: String,
    pub elo_before: f64,
    pub elo_after: f64,
    pub build: Uuid,
    /// Whether the build has no page, since only matchups show it.
    pub withheld: bool,
    pub block_count: i32,
    pub generation_time_ms: Option<i64>,
    pub warnings: Vec<Warning>,
}

#[derive(Debug, thiserror::Error)]
pub enum VoteError {
    /// It does not exist, or it is another voter's.
    #[error("this matchup does not exist")]
    Unknown,
    #[error("this matchup is closed")]
    Closed,
    #[error("look at both builds before voting")]
    TooSoon(Duration),
    #[error("this matchup was already voted on")]
    AlreadyVoted(Box<Reveal>),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl Arena {
    /// Casts a vote. The answer is the same whether or not the vote counts.
    pub async fn vote(
        &self,
        voter: Voter,
        matchup: Uuid,
        choice: Choice,
        address: IpAddr,
    ) -> Result<Reveal, VoteError> {
        if !self.count_votes.submit(Ballot { voter, matchup, choice, address }).await? {
            return Err(self.vote_error(voter, matchup).await?);
        }
        self.reveal(matchup).await?.ok_or(VoteError::Unknown)
    }

    async fn vote_error(&self, voter: Voter, matchup: Uuid) -> sqlx::Result<VoteError> {
        let row = sqlx::query!(
            r#"
            SELECT
                open.expires_at > now() AS "open?",
                CASE WHEN num_nulls(fetched_a, fetched_b) = 0 THEN
                    extract(epoch FROM clock_timestamp() - greatest(fetched_a, fetched_b))::float8
                END AS looked,
                EXISTS (SELECT FROM votes WHERE votes.matchup_id = $1) AS "voted!"
            FROM matchups
            LEFT JOIN open_matchups open ON open.voter_id = $2 AND open.matchup_id = $1
            WHERE matchups.id = $1 AND matchups.voter_id = $2
            "#,
            matchup,
            voter.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(VoteError::Unknown) };
        if row.voted {
            let reveal = self.reveal(matchup).await?;
            return Ok(reveal.map_or(VoteError::Unknown, |reveal| VoteError::AlreadyVoted(Box::new(reveal))));
        }
        if row.open != Some(true) {
            return Ok(VoteError::Closed);
        }
        let looked = Duration::try_from_secs_f64(row.looked.unwrap_or_default()).unwrap_or_default();
        Ok(VoteError::TooSoon(self.min_dwell.saturating_sub(looked)))
    }

    /// What the vote on this matchup reveals; none without a vote.
    pub async fn reveal(&self, matchup: Uuid) -> sqlx::Result<Option<Reveal>> {
        Ok(self.read_reveals.submit(matchup).await?.map(|reveal| *reveal))
    }
}
