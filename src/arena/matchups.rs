//! Matchups: served, fetched, skipped. A voter has one open at a time.

use std::sync::Arc;

use rand::rngs::StdRng;
use time::OffsetDateTime;
use uuid::Uuid;

use super::builds::StoredGrid;
use super::field::{self, Field, known};
use super::sampling::{self, Contest, Drawn, Pair, Seen, Shown};
use super::{Arena, PromptId, Side};

/// Requests of one voter that get into each other's way are tried again.
const TRIES: usize = 5;

/// Whoever has a session. Matchups and votes refer to this, never to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Voter(pub Uuid);

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

/// A matchup as its voter finds it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    pub prompt: String,
    pub text: String,
    /// Voted on, skipped, or too old.
    pub over: bool,
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
    #[error("this voter asked many times at once")]
    Raced,
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
    /// The voter's open matchup if it is about what is asked for, else a new one.
    pub async fn matchup(&self, voter: Voter, asked: Option<&PromptId>) -> Result<Matchup, NoMatchup> {
        let mut tries = 1;
        loop {
            match self.open_or_new(voter, asked).await {
                Err(reason) if is_race(&reason) && tries < TRIES => tries += 1,
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

    /// Whether there is something to compare.
    pub async fn is_eligible(&self, prompt: &str) -> sqlx::Result<bool> {
        let field = self.field().await?;
        Ok(prompt.parse().is_ok_and(|id| field.contest(&id).is_some()))
    }

    /// Who takes part now.
    pub async fn field(&self) -> sqlx::Result<Arc<Field>> {
        let revision = field::revision(&self.pool).await?;
        self.field.at(revision, &self.pool, &self.settings).await
    }

    async fn open_or_new(&self, voter: Voter, asked: Option<&PromptId>) -> Result<Matchup, NoMatchup> {
        let look = self.look(voter).await?;
        let field = self.field.at(look.revision, &self.pool, &self.settings).await?;
        if let Some(open) = look.open
            && asked.is_none_or(|asked| *asked == open.prompt)
        {
            let house_only = field.contest(&open.prompt).is_some_and(Contest::only_references);
            return Ok(Matchup { house_only, ..open });
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
        let (seen, shown) = tokio::try_join!(self.seen(voter), self.shown())?;
        let mut rng: StdRng = rand::make_rng();
        let drawn = sampling::draw(&mut rng, contests, &shown, &seen).ok_or(NoMatchup::AllVoted)?;
        let served = self.serve(voter, look.left, &drawn).await?;
        served.ok_or(NoMatchup::Raced)
    }

    async fn look(&self, voter: Voter) -> sqlx::Result<Look> {
        let row = sqlx::query!(
            r#"
            SELECT
                catalog_revision,
                matchup_id AS "matchup_id?", prompt_id AS "prompt_id?", prompts.text AS "text?",
                expires_at AS "expires_at?",
                settings = $2 AND expires_at > now() AS votable
            FROM installation
            LEFT JOIN open_matchups ON open_matchups.voter_id = $1
            LEFT JOIN matchups ON matchups.id = matchup_id
            LEFT JOIN prompts ON prompts.id = prompt_id
            "#,
            voter.0,
            self.ladder,
        )
        .fetch_one(&self.pool)
        .await?;
        let open = match (row.matchup_id, row.prompt_id, row.text, row.expires_at) {
            (Some(id), Some(prompt), Some(text), Some(expires_at)) if row.votable == Some(true) => {
                Some(Matchup { id, prompt: known(&prompt)?, text, expires_at, house_only: false })
            }
            _ => None,
        };
        Ok(Look { revision: row.catalog_revision, left: row.matchup_id, open })
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

    /// In place of what the voter leaves; none where another request opened one meanwhile. Losing the latest of
    /// these in a crash would cost nothing, so nobody waits for the disk. The counts come in the order of keys,
    /// so that nobody waits in a circle.
    async fn serve(
        &self,
        voter: Voter,
        left: Option<Uuid>,
        drawn: &Drawn<'_>,
    ) -> sqlx::Result<Option<Matchup>> {
        let (id, Contest { prompt, text, .. }) = (Uuid::new_v4(), drawn.contest);
        let expires_at = sqlx::query_scalar!(
            "
            WITH opened AS (
                INSERT INTO open_matchups (voter_id, matchup_id, expires_at)
                SELECT $2, $1, now() + interval '30 minutes'
                FROM set_config('synchronous_commit', 'off', true)
                ON CONFLICT (voter_id) DO UPDATE
                SET matchup_id = excluded.matchup_id, expires_at = excluded.expires_at,
                    fetched_a = NULL, fetched_b = NULL
                WHERE open_matchups.matchup_id = $10 OR open_matchups.expires_at <= now()
                RETURNING expires_at
            ),
            matchup AS (
                INSERT INTO matchups
                    (id, voter_id, settings, prompt_id, model_a, model_b, build_a, build_b, probability)
                SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9
                FROM opened
            ),
            counted AS (
                INSERT INTO shown (settings, model_key, served)
                SELECT $3, model_key, 1
                FROM opened, (VALUES (least($5, $6)), (greatest($5, $6))) AS side (model_key)
                ON CONFLICT (settings, model_key) DO UPDATE SET served = shown.served + 1
            )
            SELECT expires_at
            FROM opened
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
            left,
        )
        .fetch_optional(&self.pool)
        .await?;
        let house_only = drawn.contest.only_references();
        let (prompt, text) = (prompt.clone(), text.clone());
        Ok(expires_at.map(|expires_at| Matchup { id, prompt, text, expires_at, house_only }))
    }

    /// A matchup that was served to this voter, whatever became of it.
    pub async fn served(&self, voter: Voter, matchup: Uuid) -> sqlx::Result<Option<Served>> {
        let row = sqlx::query!(
            r#"
            SELECT
                prompt_id, text,
                NOT EXISTS (
                    SELECT FROM open_matchups
                    WHERE open_matchups.voter_id = $2 AND matchup_id = $1 AND expires_at > now()
                ) AS "over!"
            FROM matchups
            JOIN prompts ON prompts.id = prompt_id
            WHERE matchups.id = $1 AND matchups.voter_id = $2
            "#,
            matchup,
            voter.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| Served { prompt: row.prompt_id, text: row.text, over: row.over }))
    }

    /// A build of a matchup, for the voter whom it was served to. When it first went out is kept, though not at
    /// the cost of waiting for the disk; whoever only has a look at the header is not `looking`.
    pub async fn fetch(
        &self,
        voter: Voter,
        matchup: Uuid,
        side: Side,
        looking: bool,
    ) -> sqlx::Result<Option<StoredGrid>> {
        sqlx::query_as!(
            StoredGrid,
            "
            WITH sent AS (
                UPDATE open_matchups
                SET fetched_a = CASE WHEN $3 THEN clock_timestamp() ELSE fetched_a END,
                    fetched_b = CASE WHEN $3 THEN fetched_b ELSE clock_timestamp() END
                FROM set_config('synchronous_commit', 'off', true)
                WHERE voter_id = $2 AND matchup_id = $1 AND $4
                  AND CASE WHEN $3 THEN fetched_a ELSE fetched_b END IS NULL
            )
            SELECT digest, grid AS packed
            FROM matchups
            JOIN builds ON builds.id = CASE WHEN $3 THEN build_a ELSE build_b END
            WHERE matchups.id = $1 AND voter_id = $2
            ",
            matchup,
            voter.0,
            side == Side::A,
            looking,
        )
        .fetch_optional(&self.pool)
        .await
    }

    /// Skipping twice is skipping.
    pub async fn skip(&self, voter: Voter, matchup: Uuid) -> Result<(), NotSkipped> {
        let voted = sqlx::query_scalar!(
            r#"
            WITH skipped AS (
                DELETE FROM open_matchups
                WHERE voter_id = $2 AND matchup_id = $1
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

    /// Forgets open matchups whose time is long over.
    pub async fn purge(&self) -> sqlx::Result<()> {
        sqlx::query!("DELETE FROM open_matchups WHERE expires_at < now() - interval '1 day'")
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}

/// What a voter finds on coming in.
struct Look {
    /// The catalog's.
    revision: i64,
    /// What is open in the books, whether or not it can still be voted on.
    left: Option<Uuid>,
    /// It, if it can.
    open: Option<Matchup>,
}

/// Another request of the same voter was faster, or two transactions waited for each other.
fn is_race(reason: &NoMatchup) -> bool {
    match reason {
        NoMatchup::Raced => true,
        NoMatchup::Database(sqlx::Error::Database(error)) => {
            error.constraint() == Some("no_pair_twice") || is_passing(&**error)
        }
        _ => false,
    }
}

/// Serialization failures and deadlocks, which another try gets past.
pub(super) fn is_passing(error: &dyn sqlx::error::DatabaseError) -> bool {
    matches!(error.code().as_deref(), Some("40001" | "40P01"))
}
