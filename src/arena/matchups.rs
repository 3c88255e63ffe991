//! Matchups: served, fetched, skipped. A voter has one open at a time.

pub(super) mod batches;
pub(super) mod grids;
pub(super) mod seen;

use std::sync::Arc;

use rand::rngs::StdRng;
use serde::Serialize;
use sqlx::PgPool;
use sqlx::error::DatabaseError;
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use self::batches::{FetchRequest, NewMatchup, StateRequest};
use super::builds::StoredGrid;
use super::lineup::{self, Lineup};
use super::sampling::{self, Contest};
use super::{Arena, PromptId, Side};

/// How often a request is tried when other requests of the same voter get in its way.
const MAX_TRIES: usize = 5;

/// The id of a voter, which a session contains. Matchups and votes refer to the voter, never to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Voter(pub Uuid);

/// A matchup as its voter sees it. It contains nothing about who built the builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matchup {
    pub id: Uuid,
    pub prompt: PromptId,
    pub text: String,
    pub expires_at: OffsetDateTime,
    /// Whether only reference models take part in the prompt. The page mentions it without that word, since it is also
    /// the name of their provider.
    pub only_references: bool,
}

/// A matchup that its voter asks for again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedMatchup {
    pub prompt: PromptId,
    pub text: String,
    /// Whether it was voted on or skipped, or has expired.
    pub over: bool,
}

// A prompt that a voter may ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Prompt)]
pub struct MatchupPrompt {
    /// The prompt’s slug.
    #[schema(value_type = String, example = "steam-locomotive")]
    pub id: PromptId,
    /// What models build.
    #[schema(example = "a steam locomotive")]
    pub text: String,
    #[schema(example = json!(["vehicle"]))]
    pub tags: Vec<String>,
    /// Whether at least two models in the arena have built it, so that it has matchups.
    pub eligible: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum MatchupError {
    #[error("this prompt does not exist")]
    NoPrompt,
    #[error("nothing can be compared yet")]
    NotSeeded,
    #[error("this voter has seen every pair")]
    AllVoted,
    #[error("this voter sent several requests at the same time")]
    Conflict,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum SkipError {
    #[error("this matchup does not exist")]
    Unknown,
    #[error("this matchup was already voted on")]
    AlreadyVoted,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl Arena {
    /// The voter's open matchup, if it is of the requested prompt; otherwise a new one.
    pub async fn matchup(&self, voter: Voter, requested: Option<&PromptId>) -> Result<Matchup, MatchupError> {
        let mut tries = 1;
        loop {
            match self.open_or_new(voter, requested).await {
                Err(reason) if is_conflict(&reason) && tries < MAX_TRIES => tries += 1,
                other => return other,
            }
        }
    }

    /// All active prompts, by text.
    pub async fn prompts(&self) -> sqlx::Result<Vec<MatchupPrompt>> {
        let lineup = self.lineup().await?;
        let rows = sqlx::query!(
            r#"SELECT id AS "id: PromptId", text, tags FROM prompts WHERE active ORDER BY text, id"#
        )
        .fetch_all(&self.pool)
        .await?;
        let prompts = rows.into_iter().map(|row| MatchupPrompt {
            eligible: lineup.contest(&row.id).is_some(),
            id: row.id,
            text: row.text,
            tags: row.tags,
        });
        Ok(prompts.collect())
    }

    /// Whether there is something to compare.
    pub async fn is_eligible(&self, prompt: &str) -> sqlx::Result<bool> {
        let lineup = self.lineup().await?;
        Ok(prompt.parse().is_ok_and(|id| lineup.contest(&id).is_some()))
    }

    /// The current lineup.
    pub async fn lineup(&self) -> sqlx::Result<Arc<Lineup>> {
        let revision = lineup::revision(&self.pool).await?;
        self.lineup.at_revision(revision, &self.pool, &self.settings).await
    }

    /// The prompt of the voter's open matchup.
    pub async fn open_prompt(&self, voter: Voter) -> sqlx::Result<Option<PromptId>> {
        sqlx::query_scalar!(
            r#"
            SELECT prompt_id AS "prompt_id: PromptId"
            FROM open_matchups
            JOIN matchups ON matchups.id = matchup_id
            WHERE open_matchups.voter_id = $1 AND settings = $2 AND expires_at > now()
            "#,
            voter.0,
            self.settings as _,
        )
        .fetch_optional(&self.pool)
        .await
    }

    async fn open_or_new(&self, voter: Voter, requested: Option<&PromptId>) -> Result<Matchup, MatchupError> {
        let known = self.seen.get(voter).await;
        let known_until = known.as_ref().map(|known| known.until);
        let request = StateRequest { voter, prompt: requested.cloned(), known_until };
        let state = self.read_voters.submit(request).await?;
        let lineup = self.lineup.at_revision(state.revision, &self.pool, &self.settings).await?;
        if let Some(open) = state.open
            && requested.is_none_or(|requested| *requested == open.prompt)
        {
            let only_references = lineup.contest(&open.prompt).is_some_and(Contest::only_references);
            return Ok(Matchup { only_references, ..open });
        }
        let contests: Vec<_> = match requested {
            None => lineup.contests().collect(),
            Some(prompt) => match lineup.contest(prompt) {
                Some(contest) => vec![contest],
                None if is_active(&self.pool, prompt).await? => return Err(MatchupError::NotSeeded),
                None => return Err(MatchupError::NoPrompt),
            },
        };
        if contests.is_empty() {
            return Err(MatchupError::NotSeeded);
        }
        let shown = self.shown.latest(&self.pool, &self.settings).await?;
        let seen = state.seen.or_else(|| known.map(|known| known.pairs.clone())).unwrap_or_default();
        let mut rng: StdRng = rand::make_rng();
        let drawn = sampling::draw(&mut rng, contests, &shown.all, &seen).ok_or(MatchupError::AllVoted)?;
        let Contest { prompt, text, .. } = drawn.contest;
        let new = NewMatchup {
            voter,
            last: state.last,
            prompt: prompt.clone(),
            models: [drawn.a.model.clone(), drawn.b.model.clone()],
            builds: [drawn.a.build, drawn.b.build],
            probability: drawn.probability,
            pair: drawn.pair,
        };
        let (id, expires_at) = self.serve.submit(new).await?.ok_or(MatchupError::Conflict)?;
        self.seen.add(voter, seen, drawn.pair, id).await;
        let only_references = drawn.contest.only_references();
        Ok(Matchup { id, prompt: prompt.clone(), text: text.clone(), expires_at, only_references })
    }

    /// A matchup that was served to this voter, open or not.
    pub async fn served(&self, voter: Voter, matchup: Uuid) -> sqlx::Result<Option<ServedMatchup>> {
        let row = sqlx::query!(
            r#"
            SELECT
                prompt_id AS "prompt_id: PromptId", text,
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
        Ok(row.map(|row| ServedMatchup { prompt: row.prompt_id, text: row.text, over: row.over }))
    }

    /// The grid of one side of a matchup, for its voter. `is_view` is false where only the header is requested: then
    /// the build does not count as seen.
    pub async fn fetch(
        &self,
        voter: Voter,
        matchup: Uuid,
        side: Side,
        is_view: bool,
    ) -> sqlx::Result<Option<Arc<StoredGrid>>> {
        let Some(build) = self.fetch.submit(FetchRequest { voter, matchup, side, is_view }).await? else {
            return Ok(None);
        };
        self.grids.get(build).await
    }

    /// Closes a matchup without a vote. Skipping it again changes nothing.
    pub async fn skip(&self, voter: Voter, matchup: Uuid) -> Result<(), SkipError> {
        let voted = sqlx::query_scalar!(
            r#"
            WITH skipped AS (
                UPDATE open_matchups
                SET expires_at = clock_timestamp()
                WHERE voter_id = $2 AND matchup_id = $1 AND expires_at > clock_timestamp()
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
            None => Err(SkipError::Unknown),
            Some(true) => Err(SkipError::AlreadyVoted),
            Some(false) => Ok(()),
        }
    }
}

async fn is_active(pool: &PgPool, prompt: &PromptId) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM prompts WHERE id = $1 AND active) AS "active!""#,
        prompt as _,
    )
    .fetch_one(pool)
    .await
}

/// Whether another request of the same voter was faster.
fn is_conflict(reason: &MatchupError) -> bool {
    match reason {
        MatchupError::Conflict => true,
        MatchupError::Database(error) => {
            let constraint = error.as_database_error().and_then(DatabaseError::constraint);
            constraint == Some("no_pair_twice")
        }
        _ => false,
    }
}
