//! Which votes a decision is about. Judgements that meet the same conditions go with them.

use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgExecutor};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::VoteVerdict;
use crate::arena::{Choice, Exclusion, ModelKey, PromptId};

/// The most networks, and the most voters, of a selection.
pub const MAX_SELECTED: usize = 1000;

/// Votes and judgements that meet every condition that is set. The time is always bounded, so that nothing older is hit by accident.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VoteSelection {
    #[serde(with = "time::serde::rfc3339")]
    pub from: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    pub until: OffsetDateTime,
    /// Networks by the ids that alerts show; none stands for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 1000)]
    pub networks: Vec<String>,
    /// Voters by the ids that alerts show; none stands for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 1000)]
    pub voters: Vec<Uuid>,
    /// Only votes on this model, and judgements of its builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub model: Option<ModelKey>,
    /// Only votes of voters who looked for no longer than this, and no judgements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_dwell_ms: Option<i64>,
}

/// A vote that a decision may be about.
#[derive(Clone, Debug)]
pub struct MatchingVote {
    pub at: OffsetDateTime,
    pub matchup: Uuid,
    pub prompt: PromptId,
    pub names: [String; 2],
    pub choice: Choice,
    pub dwell_ms: Option<i64>,
    pub exclusion: Option<Exclusion>,
    pub voter: Uuid,
    pub network: Option<Vec<u8>>,
}

/// What a decision would be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectedVotes {
    pub votes: i64,
    pub judgements: i64,
    /// Of both.
    pub voters: i64,
    pub networks: i64,
}

impl VoteSelection {
    /// The ids of votes that the verdict would change, in order. Votes over a budget stay so, whatever is decided.
    pub(super) async fn votes(
        &self,
        connection: &mut PgConnection,
        verdict: VoteVerdict,
        limit: usize,
    ) -> sqlx::Result<Vec<i64>> {
        sqlx::query_scalar!(
            "
            SELECT votes.id
            FROM votes
            JOIN matchups ON matchups.id = matchup_id
            WHERE at >= $1 AND at < $2
              AND ($3::bytea[] = '{}' OR network = ANY($3))
              AND ($4::uuid[] = '{}' OR voter_id = ANY($4))
              AND ($5::text IS NULL OR $5 IN (model_a, model_b))
              AND ($6::bigint IS NULL OR dwell_ms <= $6)
              AND CASE $7::text
                    WHEN 'withdrawn' THEN exclusion IS NULL OR exclusion = 'suspect'
                    WHEN 'suspect' THEN exclusion IS NULL
                    ELSE exclusion IN ('withdrawn', 'suspect')
                  END
            ORDER BY votes.id
            LIMIT $8
            ",
            self.from,
            self.until,
            &self.network_digests(),
            &self.voters,
            self.model.as_ref() as _,
            self.max_dwell_ms,
            verdict as _,
            limit as i64,
        )
        .fetch_all(connection)
        .await
    }

    /// How many votes a decision would be about.
    pub async fn count(
        &self,
        connection: &mut PgConnection,
        verdict: VoteVerdict,
    ) -> sqlx::Result<SelectedVotes> {
        let votes = self.votes(&mut *connection, verdict, super::MAX_VOTES + 1).await?;
        let judgements = self.judgements(&mut *connection, verdict, super::MAX_VOTES + 1).await?;
        sqlx::query_as!(
            SelectedVotes,
            r#"
            SELECT
                count(*) FILTER (WHERE is_vote) AS "votes!", count(*) FILTER (WHERE NOT is_vote) AS "judgements!",
                count(DISTINCT voter_id) AS "voters!", count(DISTINCT network) AS "networks!"
            FROM (
                SELECT true AS is_vote, voter_id, network
                FROM votes
                JOIN matchups ON matchups.id = matchup_id
                WHERE votes.id = ANY($1)
                UNION ALL
                SELECT false, voter_id, network FROM judgements WHERE id = ANY($2)
            ) selected
            "#,
            &votes,
            &judgements,
        )
        .fetch_one(connection)
        .await
    }

    /// The latest votes that match, whether or not they count.
    pub async fn latest(&self, executor: impl PgExecutor<'_>, limit: i64) -> sqlx::Result<Vec<MatchingVote>> {
        let rows = sqlx::query!(
            r#"
            SELECT
                at, matchup_id, prompt_id AS "prompt: PromptId", a.display_name AS name_a, b.display_name AS name_b,
                choice AS "choice: Choice", dwell_ms, exclusion AS "exclusion: Exclusion", voter_id, network
            FROM votes
            JOIN matchups ON matchups.id = matchup_id
            JOIN models a ON a.key = model_a
            JOIN models b ON b.key = model_b
            WHERE at >= $1 AND at < $2
              AND ($3::bytea[] = '{}' OR network = ANY($3))
              AND ($4::uuid[] = '{}' OR voter_id = ANY($4))
              AND ($5::text IS NULL OR $5 IN (model_a, model_b))
              AND ($6::bigint IS NULL OR dwell_ms <= $6)
            ORDER BY at DESC
            LIMIT $7
            "#,
            self.from,
            self.until,
            &self.network_digests(),
            &self.voters,
            self.model.as_ref() as _,
            self.max_dwell_ms,
            limit,
        )
        .fetch_all(executor)
        .await?;
        let votes = rows.into_iter().map(|row| MatchingVote {
            at: row.at,
            matchup: row.matchup_id,
            prompt: row.prompt,
            names: [row.name_a, row.name_b],
            choice: row.choice,
            dwell_ms: row.dwell_ms,
            exclusion: row.exclusion,
            voter: row.voter_id,
            network: row.network,
        });
        Ok(votes.collect())
    }

    /// Whether the lists are no longer than they may be.
    pub fn is_bounded(&self) -> bool {
        self.networks.len() <= MAX_SELECTED && self.voters.len() <= MAX_SELECTED
    }

    /// An id that is none matches no vote.
    pub(super) fn network_digests(&self) -> Vec<Vec<u8>> {
        self.networks.iter().map(|id| hex::decode(id).unwrap_or_default()).collect()
    }
}
