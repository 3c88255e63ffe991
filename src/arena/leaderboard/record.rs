//! A model's record against every other model and on every prompt, and the votes on a pair of models.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::super::catalog::{AGENT, REFERENCE};
use super::super::gallery::{self, BuildCard};
use super::super::{Arena, Choice, ModelKey, PromptFilter, PromptId, tallies};
use super::{LadderStats, Record};

/// Votes per page of the votes on a pair.
pub const PAGE: i64 = 50;

/// A model, whether or not the leaderboard lists it.
#[derive(Clone, Debug)]
pub struct ModelProfile {
    pub key: ModelKey,
    pub provider: String,
    pub model_id: String,
    pub display_name: String,
    pub about: String,
    pub enabled: bool,
    pub created_at: OffsetDateTime,
}

#[derive(Clone, Debug, Default)]
pub struct ModelRecord {
    /// By name.
    pub opponents: Vec<OpponentRecord>,
    /// Its best prompts first; of equals, those with more votes.
    pub prompts: Vec<PromptRecord>,
}

#[derive(Clone, Debug)]
pub struct OpponentRecord {
    pub key: ModelKey,
    pub display_name: String,
    pub record: Record,
}

#[derive(Clone, Debug)]
pub struct PromptRecord {
    pub id: PromptId,
    pub text: String,
    pub record: Record,
    /// The build in force, if there still is one and it is not withheld.
    pub build: Option<Uuid>,
}

/// A vote on a pair of models, from the view of the first one.
#[derive(Clone, Debug)]
pub struct JudgedVote {
    pub at: OffsetDateTime,
    /// None while a build of it is withheld, since its page shows both.
    pub matchup: Option<Uuid>,
    pub prompt: PromptId,
    pub prompt_text: String,
    /// As if the first model had been on side A.
    pub choice: Choice,
    /// Before and after the vote, of both models.
    pub elo: [(f64, f64); 2],
}

impl ModelProfile {
    pub fn is_agent(&self) -> bool {
        self.provider == AGENT
    }

    pub fn is_reference(&self) -> bool {
        self.provider == REFERENCE
    }
}

impl Arena {
    pub async fn model(&self, key: &ModelKey) -> sqlx::Result<Option<ModelProfile>> {
        let row = sqlx::query!(
            "
            SELECT provider, model_id, display_name, about, enabled, created_at
            FROM models
            WHERE key = $1
            ",
            key as _,
        )
        .fetch_optional(&self.replica)
        .await?;
        Ok(row.map(|row| ModelProfile {
            key: key.clone(),
            provider: row.provider,
            model_id: row.model_id,
            display_name: row.display_name,
            about: row.about,
            enabled: row.enabled,
            created_at: row.created_at,
        }))
    }

    /// A model's builds in force, those of this ladder first.
    pub async fn builds_of(&self, model: &ModelKey) -> sqlx::Result<Vec<BuildCard>> {
        gallery::of_model(&self.replica, model, &self.settings).await
    }

    pub async fn record(&self, model: &ModelKey, stats: &LadderStats) -> sqlx::Result<ModelRecord> {
        let opponents = stats.duels.get(model).into_iter().flatten().map(|(key, record)| (key, *record));
        let prompts = stats.prompts.get(model).into_iter().flatten().map(|(id, record)| (id, *record));
        let mut connection = self.replica.acquire().await?;
        Ok(ModelRecord {
            opponents: opponents_by_name(&mut connection, opponents.collect()).await?,
            prompts: self.best_prompts(&mut connection, model, prompts.collect()).await?,
        })
    }

    async fn best_prompts(
        &self,
        connection: &mut PgConnection,
        model: &ModelKey,
        records: BTreeMap<&PromptId, Record>,
    ) -> sqlx::Result<Vec<PromptRecord>> {
        let ids: Vec<_> = records.keys().copied().collect();
        let rows = sqlx::query!(
            r#"
            SELECT prompts.id AS "id: PromptId", text, builds.id AS "build?"
            FROM prompts
            LEFT JOIN builds
                ON prompt_id = prompts.id AND model_key = $2 AND settings = $3
                AND retired_at IS NULL AND NOT withheld
            WHERE prompts.id = ANY($1)
            "#,
            ids as _,
            model as _,
            self.settings as _,
        )
        .fetch_all(connection)
        .await?;
        let prompts = rows.into_iter().map(|row| {
            let record = records.get(&row.id).copied().unwrap_or_default();
            PromptRecord { id: row.id, text: row.text, record, build: row.build }
        });
        let mut prompts: Vec<_> = prompts.collect();
        prompts.sort_by(|a, b| {
            let key = |prompt: &PromptRecord| (prompt.record.share().unwrap_or(-1.0), prompt.record.votes());
            let ((a_share, a_votes), (b_share, b_votes)) = (key(a), key(b));
            b_share.total_cmp(&a_share).then(b_votes.cmp(&a_votes)).then_with(|| a.id.cmp(&b.id))
        });
        Ok(prompts)
    }

    /// The record of the first model against the second, on some prompts.
    pub async fn duel(&self, a: &ModelKey, b: &ModelKey, filter: &PromptFilter) -> sqlx::Result<Record> {
        let mut connection = self.replica.acquire().await?;
        let published = self.published(&mut *connection).await?;
        Ok(tallies::on_pair(&mut connection, &self.settings, [a, b], filter, published).await?.into())
    }

    /// One page, counted from 0, of the votes behind [`Self::duel`], the newest first.
    pub async fn votes_on_pair(
        &self,
        a: &ModelKey,
        b: &ModelKey,
        filter: &PromptFilter,
        page: i64,
    ) -> sqlx::Result<Vec<JudgedVote>> {
        let published = self.published(&self.replica).await?;
        let rows = sqlx::query!(
            r#"
            SELECT
                at, prompt_id AS "prompt_id: PromptId", text, choice AS "choice: Choice", model_a = $2 AS "is_a!",
                CASE WHEN NOT EXISTS (SELECT FROM builds WHERE id IN (build_a, build_b) AND withheld)
                    THEN matchup_id END AS matchup_id,
                elo_a_before, elo_a_after, elo_b_before, elo_b_after
            FROM matchups
            JOIN votes ON matchup_id = matchups.id
            JOIN prompts ON prompts.id = prompt_id
            WHERE settings = $1 AND exclusion IS NULL AND votes.id <= $8
              AND least(model_a, model_b) = least($2::text, $3::text)
              AND greatest(model_a, model_b) = greatest($2::text, $3::text)
              AND ($4::text IS NULL OR $4 = ANY(tags))
              AND ($5::boolean IS NULL OR held_out = $5)
            ORDER BY votes.id DESC
            LIMIT $6
            OFFSET $7
            "#,
            self.settings as _,
            a as _,
            b as _,
            filter.tag,
            filter.held_out,
            PAGE,
            page.saturating_mul(PAGE),
            published.through,
        )
        .fetch_all(&self.replica)
        .await?;
        let votes = rows.into_iter().map(|row| {
            let elo = [(row.elo_a_before, row.elo_a_after), (row.elo_b_before, row.elo_b_after)];
            JudgedVote {
                at: row.at,
                matchup: row.matchup_id,
                prompt: row.prompt_id,
                prompt_text: row.text,
                choice: if row.is_a { row.choice } else { row.choice.mirrored() },
                elo: if row.is_a { elo } else { [elo[1], elo[0]] },
            }
        });
        Ok(votes.collect())
    }
}

async fn opponents_by_name(
    connection: &mut PgConnection,
    records: BTreeMap<&ModelKey, Record>,
) -> sqlx::Result<Vec<OpponentRecord>> {
    let keys: Vec<_> = records.keys().copied().collect();
    let rows = sqlx::query!(
        r#"SELECT key AS "key: ModelKey", display_name FROM models WHERE key = ANY($1)"#,
        keys as _
    )
    .fetch_all(connection)
    .await?;
    let opponents = rows.into_iter().map(|row| {
        let record = records.get(&row.key).copied().unwrap_or_default();
        OpponentRecord { key: row.key, display_name: row.display_name, record }
    });
    let mut opponents: Vec<_> = opponents.collect();
    opponents.sort_by(|a, b| (&a.display_name, &a.key).cmp(&(&b.display_name, &b.key)));
    Ok(opponents)
}
