//! Votes: taken once, and what they tell.

pub(super) mod counting;
pub(super) mod reveals;

use std::time::Duration;

use uuid::Uuid;

use self::counting::Ballot;
use super::{Arena, Choice, ModelKey, Verdicts, Voter};
use voxel::Warning;

/// What a vote brings to light.
#[derive(Clone, Debug)]
pub struct Reveal {
    pub matchup: Uuid,
    pub choice: Choice,
    pub a: Revealed,
    pub b: Revealed,
    /// All other votes on these two builds, as if they had stood on these sides.
    pub others: Verdicts,
}

/// One side of a matchup, and what the vote did to its model.
#[derive(Clone, Debug)]
pub struct Revealed {
    pub key: ModelKey,
    pub provider: String,
    pub display_name: String,
    pub elo_before: f64,
    pub elo_after: f64,
    pub build: Uuid,
    pub block_count: i32,
    pub generation_time_ms: Option<i64>,
    pub warnings: Vec<Warning>,
}

#[derive(Debug, thiserror::Error)]
pub enum NoVote {
    /// To this voter, at least.
    #[error("there is no such matchup")]
    Unknown,
    #[error("the matchup is over")]
    Gone,
    #[error("both builds are to be looked at first")]
    TooSoon(Duration),
    #[error("there is a vote already")]
    Already(Box<Reveal>),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl Arena {
    pub async fn vote(&self, voter: Voter, matchup: Uuid, choice: Choice) -> Result<Reveal, NoVote> {
        if !self.count_votes.submit(Ballot { voter, matchup, choice }).await? {
            return Err(self.why_not(voter, matchup).await?);
        }
        self.reveal(matchup).await?.ok_or(NoVote::Unknown)
    }

    async fn why_not(&self, voter: Voter, matchup: Uuid) -> sqlx::Result<NoVote> {
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
        let Some(row) = row else { return Ok(NoVote::Unknown) };
        if row.voted {
            let reveal = self.reveal(matchup).await?;
            return Ok(reveal.map_or(NoVote::Unknown, |reveal| NoVote::Already(Box::new(reveal))));
        }
        if row.open != Some(true) {
            return Ok(NoVote::Gone);
        }
        let looked = Duration::try_from_secs_f64(row.looked.unwrap_or_default()).unwrap_or_default();
        Ok(NoVote::TooSoon(self.min_dwell.saturating_sub(looked)))
    }

    /// What a vote on this matchup brought to light; none without one.
    pub async fn reveal(&self, matchup: Uuid) -> sqlx::Result<Option<Reveal>> {
        Ok(self.read_reveals.submit(matchup).await?.map(|reveal| *reveal))
    }
}
