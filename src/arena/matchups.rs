//! Matchups: served, fetched, skipped. A voter has one open at a time.

use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use super::builds::StoredGrid;
use super::field::{self, Field, FieldCache, References, known};
use super::sampling::{self, Contest, Drawn, Pair, Seen, Shown};
use super::{PromptId, Settings, Side};

/// Requests of one voter that get into each other's way are tried again.
const TRIES: usize = 5;

/// Whoever has a session. Matchups and votes refer to this, never to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Voter(pub Uuid);

/// One ladder's arena.
pub struct Arena {
    pub(super) pool: PgPool,
    pub settings: Settings,
    /// The settings as the database names them.
    pub ladder: String,
    /// A vote sooner than this after both builds went out is none.
    pub min_dwell: Duration,
    field: FieldCache,
}

/// What a voter is told of a matchup: nothing about who built it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matchup {
    pub id: Uuid,
    pub prompt: PromptId,
    pub text: String,
    pub expires_at: OffsetDateTime,
    /// Whether all who take part in the prompt are references. The page says so, without that word: it is
    /// also their provider's name.
    pub house_only: bool,
}

/// A prompt that could be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Askable {
    pub id: String,
    pub text: String,
    pub tags: Vec<String>,
    /// Whether there is something to compare.
    pub eligible: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum NoMatchup {
    #[error("there is no such prompt")]
    NoPrompt,
    #[error("there is nothing to compare yet")]
    NotSeeded,
    #[error("this voter has seen it all")]
    AllVoted,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum NotSkipped {
    #[error("there is no such matchup")]
    Unknown,
    #[error("it was voted on")]
    Voted,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl Arena {
    pub fn new(pool: PgPool, settings: Settings, references: References, min_dwell: Duration) -> Self {
        let ladder = settings.slug();
        Self { pool, settings, ladder, min_dwell, field: FieldCache::new(references) }
    }

    /// The voter's open matchup if it is about what is asked for, else a new one.
    pub async fn matchup(&self, voter: Voter, asked: Option<&PromptId>) -> Result<Matchup, NoMatchup> {
        let mut tries = 1;
        loop {
            match self.open_or_new(voter, asked).await {
                Err(NoMatchup::Database(error)) if is_race(&error) && tries < TRIES => tries += 1,
                other => return other,
            }
        }
    }

    /// All active prompts, by their text.
    pub async fn prompts(&self) -> sqlx::Result<Vec<Askable>> {
        let field = self.field().await?;
        let rows = sqlx::query!("SELECT id, text, tags FROM prompts WHERE active ORDER BY text, id")
            .fetch_all(&self.pool)
            .await?;
        let eligible = |id: &str| id.parse().is_ok_and(|id| field.contest(&id).is_some());
        let askable = rows.into_iter().map(|row| Askable {
            eligible: eligible(&row.id),
            id: row.id,
            text: row.text,
            tags: row.tags,
        });
        Ok(askable.collect())
    }

    /// Who takes part now.
    pub async fn field(&self) -> sqlx::Result<Arc<Field>> {
        let revision = field::revision(&self.pool).await?;
        self.field.at(revision, &self.pool, &self.settings).await
    }

    async fn open_or_new(&self, voter: Voter, asked: Option<&PromptId>) -> Result<Matchup, NoMatchup> {
        let (revision, open) = self.look(voter).await?;
        let field = self.field.at(revision, &self.pool, &self.settings).await?;
        if let Some(open) = &open
            && asked.is_none_or(|asked| *asked == open.prompt)
        {
            let house_only = field.contest(&open.prompt).is_some_and(Contest::only_references);
            return Ok(Matchup { house_only, ..open.clone() });
        }
        let contests: Vec<_> = match asked {
            None => field.contests().collect(),
            Some(prompt) => match field.contest(prompt) {
                Some(contest) => vec![contest],
                None if self.is_active(prompt).await? => return Err(NoMatchup::NotSeeded),
                None => return Err(NoMatchup::NoPrompt),
            },
        };
        if contests.is_empty() {
            return Err(NoMatchup::NotSeeded);
        }
        let (seen, shown) = (self.seen(voter).await?, self.shown().await?);
        let mut rng: StdRng = rand::make_rng();
        let drawn = sampling::draw(&mut rng, contests, &shown, &seen).ok_or(NoMatchup::AllVoted)?;
        Ok(self.serve(voter, open.map(|open| open.id), &drawn).await?)
    }

    /// The catalog's revision, and the voter's open matchup on this ladder.
    async fn look(&self, voter: Voter) -> sqlx::Result<(i64, Option<Matchup>)> {
        let row = sqlx::query!(
            r#"
            SELECT
                catalog_revision,
                open.id AS "id?", open.prompt_id AS "prompt_id?", prompts.text AS "text?",
                open.expires_at AS "expires_at?"
            FROM installation
            LEFT JOIN matchups open
                ON open.voter_id = $1 AND open.closed_at IS NULL
               AND open.settings = $2 AND open.expires_at > now()
            LEFT JOIN prompts ON prompts.id = open.prompt_id
            "#,
            voter.0,
            self.ladder,
        )
        .fetch_one(&self.pool)
        .await?;
        let open = match (row.id, row.prompt_id, row.text, row.expires_at) {
            (Some(id), Some(prompt), Some(text), Some(expires_at)) => {
                Some(Matchup { id, prompt: known(&prompt)?, text, expires_at, house_only: false })
            }
            _ => None,
        };
        Ok((row.catalog_revision, open))
    }

    async fn is_active(&self, prompt: &PromptId) -> sqlx::Result<bool> {
        sqlx::query_scalar!(
            r#"SELECT EXISTS (SELECT FROM prompts WHERE id = $1 AND active) AS "active!""#,
            prompt.as_str(),
        )
        .fetch_one(&self.pool)
        .await
    }

    async fn seen(&self, voter: Voter) -> sqlx::Result<Seen> {
        let rows = sqlx::query!(
            "SELECT prompt_id, model_a, model_b FROM matchups WHERE voter_id = $1 AND settings = $2",
            voter.0,
            self.ladder,
        )
        .fetch_all(&self.pool)
        .await?;
        let mut seen = Seen::new();
        for row in rows {
            let pair = Pair::of(&known(&row.model_a)?, &known(&row.model_b)?);
            seen.entry(known(&row.prompt_id)?).or_default().insert(pair);
        }
        Ok(seen)
    }

    async fn shown(&self) -> sqlx::Result<Shown> {
        let rows = sqlx::query!("SELECT model_key, served FROM shown WHERE settings = $1", self.ladder)
            .fetch_all(&self.pool)
            .await?;
        rows.into_iter().map(|row| Ok((known(&row.model_key)?, row.served))).collect()
    }

    /// In place of what the voter has left; what another request opened meanwhile stays, and is in the way.
    /// Losing the latest of these in a crash would cost nothing, so nobody waits for the disk.
    async fn serve(&self, voter: Voter, left: Option<Uuid>, drawn: &Drawn<'_>) -> sqlx::Result<Matchup> {
        let mut transaction = self.pool.begin_with("BEGIN; SET LOCAL synchronous_commit = off").await?;
        sqlx::query!(
            "
            UPDATE matchups
            SET closed_at = least(now(), expires_at)
            WHERE voter_id = $1 AND closed_at IS NULL
              AND (id = $2 OR expires_at <= now() OR settings <> $3)
            ",
            voter.0,
            left,
            self.ladder,
        )
        .execute(&mut *transaction)
        .await?;
        let (id, Contest { prompt, text, .. }) = (Uuid::new_v4(), drawn.contest);
        let expires_at = sqlx::query_scalar!(
            "
            INSERT INTO matchups (
                id, voter_id, settings, prompt_id, model_a, model_b, build_a, build_b, probability, expires_at
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + interval '30 minutes')
            RETURNING expires_at
            ",
            id,
            voter.0,
            self.ladder,
            prompt.as_str(),
            drawn.a.model.as_str(),
            drawn.b.model.as_str(),
            drawn.a.build,
            drawn.b.build,
            drawn.probability,
        )
        .fetch_one(&mut *transaction)
        .await?;
        // Last, since others wait for these rows; in the order of keys, so that nobody waits in a circle.
        let mut models = [drawn.a.model.as_str(), drawn.b.model.as_str()].map(str::to_owned);
        models.sort_unstable();
        sqlx::query!(
            "
            INSERT INTO shown (settings, model_key, served)
            SELECT $1, model_key, 1
            FROM unnest($2::text[]) AS model_key
            ON CONFLICT (settings, model_key) DO UPDATE SET served = shown.served + 1
            ",
            self.ladder,
            &models,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(Matchup {
            id,
            prompt: prompt.clone(),
            text: text.clone(),
            expires_at,
            house_only: drawn.contest.only_references(),
        })
    }

    /// A build of a matchup, for the voter whom it was served to. When it first went out is kept.
    pub async fn fetch(&self, voter: Voter, matchup: Uuid, side: Side) -> sqlx::Result<Option<StoredGrid>> {
        sqlx::query_as!(
            StoredGrid,
            "
            WITH sent AS (
                UPDATE matchups
                SET fetched_a = CASE WHEN $3 THEN coalesce(fetched_a, clock_timestamp()) ELSE fetched_a END,
                    fetched_b = CASE WHEN $3 THEN fetched_b ELSE coalesce(fetched_b, clock_timestamp()) END
                WHERE id = $1 AND voter_id = $2
                RETURNING CASE WHEN $3 THEN build_a ELSE build_b END AS build
            )
            SELECT digest, grid AS packed
            FROM sent
            JOIN builds ON builds.id = sent.build
            ",
            matchup,
            voter.0,
            side == Side::A,
        )
        .fetch_optional(&self.pool)
        .await
    }

    /// Skipping twice is skipping.
    pub async fn skip(&self, voter: Voter, matchup: Uuid) -> Result<(), NotSkipped> {
        let voted = sqlx::query_scalar!(
            r#"
            WITH closed AS (
                UPDATE matchups
                SET closed_at = least(now(), expires_at)
                WHERE id = $1 AND voter_id = $2 AND closed_at IS NULL
            )
            SELECT EXISTS (SELECT FROM votes WHERE matchup_id = $1) AS "voted!"
            FROM matchups
            WHERE id = $1 AND voter_id = $2
            "#,
            matchup,
            voter.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        match voted {
            None => Err(NotSkipped::Unknown),
            Some(true) => Err(NotSkipped::Voted),
            Some(false) => Ok(()),
        }
    }
}

/// Another request of the same voter was faster, or two transactions waited for each other.
fn is_race(error: &sqlx::Error) -> bool {
    let Some(error) = error.as_database_error() else { return false };
    matches!(error.constraint(), Some("one_open_matchup" | "no_pair_twice")) || is_passing(error)
}

/// Serialization failures and deadlocks, which another try gets past.
pub(super) fn is_passing(error: &dyn sqlx::error::DatabaseError) -> bool {
    matches!(error.code().as_deref(), Some("40001" | "40P01"))
}
