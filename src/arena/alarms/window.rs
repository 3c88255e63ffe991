//! The recent votes, as the rules see them.

use std::collections::HashMap;

use sqlx::{PgConnection, PgExecutor};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::arena::elo::Standing;
use crate::arena::votes::network_keys::NetworkDigest;
use crate::arena::{Choice, ModelKey, Settings};

const DAY: Duration = Duration::DAY;

/// The most votes that are read. In a flood, these are the latest of them.
pub(super) const MAX_VOTES: i64 = 50_000;

#[derive(Clone, Debug)]
pub(super) struct RecentVote {
    pub at: OffsetDateTime,
    pub voter: Uuid,
    /// None of votes from before networks were noted.
    pub network: Option<NetworkDigest>,
    pub models: [ModelKey; 2],
    /// The ratings of both models before the vote.
    pub elo: [f64; 2],
    pub choice: Choice,
    pub dwell_ms: Option<i64>,
    /// Whether it counts.
    pub counts: bool,
    /// Whether an admin has decided about it.
    pub is_decided: bool,
}

/// The votes of the last day on one ladder, in their order.
pub(super) struct VoteWindow {
    pub now: OffsetDateTime,
    pub min_dwell_ms: i64,
    pub votes: Vec<RecentVote>,
    /// All models that have ever been voted on.
    pub models: HashMap<ModelKey, WindowModel>,
}

/// Where a model stands by all votes that count, the recent ones included.
pub(super) struct WindowModel {
    pub name: String,
    pub standing: Standing,
}

impl RecentVote {
    pub fn is_on(&self, model: &ModelKey) -> bool {
        self.models.contains(model)
    }

    /// Whether the two models were compared.
    pub fn compares(&self) -> bool {
        self.choice != Choice::BothBad
    }

    /// The model that was preferred.
    pub fn preferred(&self) -> Option<&ModelKey> {
        match self.choice {
            Choice::A => Some(&self.models[0]),
            Choice::B => Some(&self.models[1]),
            Choice::Tie | Choice::BothBad => None,
        }
    }

    /// What a side scored: 1, a half, or 0.
    pub fn score(&self, side: usize) -> f64 {
        match (self.choice, side) {
            (Choice::Tie, _) => 0.5,
            (Choice::A, 0) | (Choice::B, 1) => 1.0,
            _ => 0.0,
        }
    }
}

impl VoteWindow {
    pub async fn read(
        connection: &mut PgConnection,
        settings: &Settings,
        min_dwell: std::time::Duration,
        now: OffsetDateTime,
    ) -> sqlx::Result<Self> {
        let min_dwell_ms = i64::try_from(min_dwell.as_millis()).unwrap_or(i64::MAX);
        let models = read_models(connection, settings).await?;
        Ok(Self { now, min_dwell_ms, votes: read_votes(connection, settings, now - DAY).await?, models })
    }

    pub fn from(&self) -> OffsetDateTime {
        self.now - DAY
    }

    /// A model's name; its key, if it has no votes that count.
    pub fn name<'a>(&'a self, model: &'a ModelKey) -> &'a str {
        self.models.get(model).map_or(model.as_str(), |rated| &rated.name)
    }

    pub fn standing(&self, model: &ModelKey) -> Standing {
        self.models.get(model).map_or(Standing::NEW, |rated| rated.standing)
    }
}

async fn read_votes(
    connection: &mut PgConnection,
    settings: &Settings,
    from: OffsetDateTime,
) -> sqlx::Result<Vec<RecentVote>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            at, choice AS "choice: Choice", dwell_ms, network, exclusion IS NULL AS "counts!",
            decision IS NOT NULL AS "is_decided!", elo_a_before, elo_b_before, voter_id,
            model_a AS "model_a: ModelKey", model_b AS "model_b: ModelKey"
        FROM (SELECT * FROM votes WHERE at >= $1 ORDER BY at DESC LIMIT $2) votes
        JOIN matchups ON matchups.id = matchup_id
        WHERE settings = $3
        ORDER BY votes.id
        "#,
        from,
        MAX_VOTES,
        settings as _,
    )
    .fetch_all(connection)
    .await?;
    let votes = rows.into_iter().map(|row| RecentVote {
        at: row.at,
        voter: row.voter_id,
        network: row.network.and_then(|digest| digest.try_into().ok()).map(NetworkDigest),
        models: [row.model_a, row.model_b],
        elo: [row.elo_a_before, row.elo_b_before],
        choice: row.choice,
        dwell_ms: row.dwell_ms,
        counts: row.counts,
        is_decided: row.is_decided,
    });
    Ok(votes.collect())
}

async fn read_models(
    connection: &mut PgConnection,
    settings: &Settings,
) -> sqlx::Result<HashMap<ModelKey, WindowModel>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            model_key AS "key: ModelKey", display_name,
            (elo, wins, losses, ties, both_bad) AS "standing!: Standing"
        FROM ratings
        JOIN models ON key = model_key
        WHERE settings = $1
        "#,
        settings as _,
    )
    .fetch_all(connection)
    .await?;
    let models =
        rows.into_iter().map(|row| (row.key, WindowModel { name: row.display_name, standing: row.standing }));
    Ok(models.collect())
}

pub(super) async fn latest_decision(executor: impl PgExecutor<'_>) -> sqlx::Result<i64> {
    sqlx::query_scalar!(r#"SELECT coalesce(max(id), 0) AS "latest!" FROM vote_decisions"#)
        .fetch_one(executor)
        .await
}
