//! Matchups: served, fetched, skipped. A voter has one open at a time.

use std::sync::Arc;

use rand::rngs::StdRng;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::builds::StoredGrid;
use super::field::{self, Field, known};
use super::sampling::{self, Contest, Drawn, Seen};
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
        let mut connection = self.pool.acquire().await?;
        let revision = field::revision(&mut *connection).await?;
        self.field.at(revision, &mut connection, &self.settings).await
    }

    /// Of the matchup that this voter can vote on, if there is one.
    pub async fn open_prompt(&self, voter: Voter) -> sqlx::Result<Option<PromptId>> {
        let prompt = sqlx::query_scalar!(
            "
            SELECT prompt_id
            FROM open_matchups
            JOIN matchups ON matchups.id = matchup_id
            WHERE open_matchups.voter_id = $1 AND settings = $2 AND expires_at > now()
            ",
            voter.0,
            self.ladder,
        )
        .fetch_optional(&self.pool)
        .await?;
        prompt.as_deref().map(known).transpose()
    }

    async fn open_or_new(&self, voter: Voter, asked: Option<&PromptId>) -> Result<Matchup, NoMatchup> {
        let mut connection = self.pool.acquire().await?;
        let look = self.look(&mut connection, voter, asked).await?;
        let field = self.field.at(look.revision, &mut connection, &self.settings).await?;
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
                None if is_active(&mut connection, prompt).await? => return Err(NoMatchup::NotSeeded),
                None => return Err(NoMatchup::NoPrompt),
            },
        };
        if contests.is_empty() {
            return Err(NoMatchup::NotSeeded);
        }
        let shown = self.shown.latest(&mut connection, &self.ladder).await?;
        let mut rng: StdRng = rand::make_rng();
        let drawn = sampling::draw(&mut rng, contests, &shown, &look.seen).ok_or(NoMatchup::AllVoted)?;
        let served = self.serve(&mut connection, voter, look.last, &drawn).await?;
        served.ok_or(NoMatchup::Raced)
    }

    /// What this voter has, as of one moment. The pairs they have seen are only read where a new one is drawn.
    async fn look(
        &self,
        connection: &mut PgConnection,
        voter: Voter,
        asked: Option<&PromptId>,
    ) -> sqlx::Result<VoterState> {
        let row = sqlx::query!(
            r#"
            SELECT
                catalog_revision,
                matchup_id AS "matchup_id?", prompt_id AS "prompt_id?", prompts.text AS "text?",
                expires_at AS "expires_at?",
                votable AS "votable!",
                CASE WHEN NOT votable OR prompt_id <> $3 THEN
                    ARRAY(SELECT pair FROM matchups WHERE voter_id = $1)
                    || coalesce((SELECT pairs FROM seen_pairs WHERE voter_id = $1), '{}')
                END AS seen
            FROM installation
            LEFT JOIN open_matchups ON open_matchups.voter_id = $1
            LEFT JOIN matchups ON matchups.id = matchup_id
            LEFT JOIN prompts ON prompts.id = prompt_id
            CROSS JOIN LATERAL (SELECT coalesce(settings = $2 AND expires_at > now(), false) AS votable) state
            "#,
            voter.0,
            self.ladder,
            asked.map(PromptId::as_str),
        )
        .fetch_one(connection)
        .await?;
        let open = match (row.matchup_id, row.prompt_id, row.text, row.expires_at) {
            (Some(id), Some(prompt), Some(text), Some(expires_at)) if row.votable => {
                Some(Matchup { id, prompt: known(&prompt)?, text, expires_at, house_only: false })
            }
            _ => None,
        };
        let seen = row.seen.unwrap_or_default().into_iter().collect();
        Ok(VoterState { revision: row.catalog_revision, last: row.matchup_id, open, seen })
    }

    /// In place of the voter's last matchup; none where another request has served one meanwhile, so that the pairs
    /// that were read are all that the voter has seen. Losing the latest matchup in a crash would cost nothing, so
    /// nobody waits for the disk.
    async fn serve(
        &self,
        connection: &mut PgConnection,
        voter: Voter,
        last: Option<Uuid>,
        drawn: &Drawn<'_>,
    ) -> sqlx::Result<Option<Matchup>> {
        // In the order of time, so that new rows and their index entries lie side by side.
        let (id, Contest { prompt, text, .. }) = (Uuid::now_v7(), drawn.contest);
        let expires_at = sqlx::query_scalar!(
            "
            WITH opened AS (
                INSERT INTO open_matchups (voter_id, matchup_id, expires_at)
                SELECT $2, $1, now() + interval '30 minutes'
                FROM set_config('synchronous_commit', 'off', true)
                ON CONFLICT (voter_id) DO UPDATE
                SET matchup_id = excluded.matchup_id, expires_at = excluded.expires_at,
                    fetched_a = NULL, fetched_b = NULL
                WHERE open_matchups.matchup_id = $10
                RETURNING expires_at
            ),
            matchup AS (
                INSERT INTO matchups
                    (id, voter_id, settings, prompt_id, model_a, model_b, build_a, build_b, probability)
                SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9
                FROM opened
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
            last,
        )
        .fetch_optional(connection)
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
    /// the cost of waiting for the disk; whoever only has a look at the header is not `looking`. Once both builds of
    /// an open matchup are out, their models were shown: asking and skipping alone must not steer who is drawn. The
    /// counts come in the order of keys, so that nobody waits in a circle.
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
                WHERE voter_id = $2 AND matchup_id = $1 AND $4 AND expires_at > now()
                  AND CASE WHEN $3 THEN fetched_a ELSE fetched_b END IS NULL
                RETURNING num_nulls(fetched_a, fetched_b) = 0 AS both_sent
            ),
            counted AS (
                INSERT INTO shown (settings, prompt_id, model_key, times)
                SELECT settings, prompt_id, model_key, 1
                FROM sent
                JOIN matchups ON matchups.id = $1
                CROSS JOIN LATERAL (
                    VALUES (least(model_a, model_b)), (greatest(model_a, model_b))
                ) AS side (model_key)
                WHERE both_sent
                ON CONFLICT (settings, prompt_id, model_key) DO UPDATE SET times = shown.times + 1
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
                UPDATE open_matchups
                SET expires_at = now()
                WHERE voter_id = $2 AND matchup_id = $1 AND expires_at > now()
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

/// What a voter has, when they ask for a matchup.
struct VoterState {
    /// The catalog's.
    revision: i64,
    /// The last matchup, whether or not it can still be voted on.
    last: Option<Uuid>,
    /// It, if it can.
    open: Option<Matchup>,
    /// Empty where nothing new is to be drawn.
    seen: Seen,
}

async fn is_active(connection: &mut PgConnection, prompt: &PromptId) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM prompts WHERE id = $1 AND active) AS "active!""#,
        prompt.as_str(),
    )
    .fetch_one(connection)
    .await
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
