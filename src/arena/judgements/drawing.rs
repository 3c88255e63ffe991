//! Which build a person judges next: opening a judging, looking at its build, skipping it.

use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::{Judging, JudgingError};
use crate::arena::builds::StoredGrid;
use crate::arena::{Arena, PromptId, Settings, Voter};
use crate::judge::criteria::CriteriaText;

/// How long a judging is open. Writing takes longer than choosing.
const OPEN_FOR: Duration = Duration::from_hours(2);

/// How often a request is tried when other requests of the same voter get in its way.
const MAX_TRIES: usize = 5;

/// A draw looks at so many prompts first, and at all of them only if these have nothing left for the voter.
const DRAWN_PROMPTS: i64 = 64;

/// The voter's open judging and what a draw leaves out.
struct JudgingState {
    /// The latest judging, open or not.
    last: Option<Uuid>,
    open: Option<Judging>,
    /// Skipped builds, and those of the open matchup: its voter would be told who built them.
    avoided: Vec<Uuid>,
}

impl Arena {
    /// The voter's open judging, if it is of the requested build; otherwise a new one, of any build unless one is named.
    pub async fn open_judging(&self, voter: Voter, requested: Option<Uuid>) -> Result<Judging, JudgingError> {
        if let Some(build) = requested {
            self.check_judgeable(voter, build).await?;
        }
        for _ in 0..MAX_TRIES {
            let state = self.judging_state(voter).await?;
            if let Some(open) = state.open
                && requested.is_none_or(|build| build == open.build)
            {
                return Ok(open);
            }
            let build = match requested {
                Some(build) => build,
                None => self.draw_build(voter, &state.avoided).await?.ok_or(JudgingError::AllJudged)?,
            };
            if self.replace_judging(voter, state.last, build).await? {
                let opened = self.judging(voter).await?.filter(|open| open.build == build);
                return opened.ok_or(JudgingError::Conflict);
            }
        }
        Err(JudgingError::Conflict)
    }

    /// The voter's open judging.
    pub async fn judging(&self, voter: Voter) -> sqlx::Result<Option<Judging>> {
        Ok(self.judging_state(voter).await?.open)
    }

    /// Whether a build can be judged by this voter.
    async fn check_judgeable(&self, voter: Voter, build: Uuid) -> Result<(), JudgingError> {
        let row = sqlx::query!(
            r#"
            SELECT
                withheld, retired_at IS NOT NULL AS "retired!",
                EXISTS (
                    SELECT FROM judgements WHERE build_id = $1 AND criteria = $2 AND voter_id = $3
                ) AS "judged!"
            FROM builds
            WHERE id = $1
            "#,
            build,
            &CriteriaText::build().digest().0[..],
            voter.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        match row {
            None => Err(JudgingError::NoBuild),
            Some(row) if row.withheld => Err(JudgingError::NoBuild),
            Some(row) if row.judged => Err(JudgingError::AlreadyJudged(build)),
            Some(row) if row.retired => Err(JudgingError::Retired),
            Some(_) => Ok(()),
        }
    }

    async fn judging_state(&self, voter: Voter) -> sqlx::Result<JudgingState> {
        let row = sqlx::query!(
            r#"
            SELECT
                asked.id AS "last?", asked.build_id AS "build?", asked.expires_at AS "expires_at?",
                prompts.id AS "prompt?: PromptId", prompts.text AS "text?", builds.settings AS "settings?: Settings",
                asked.expires_at > clock_timestamp() AND asked.criteria = $2 AND retired_at IS NULL AND NOT withheld
                    AS is_open,
                coalesce(skipped, '{}') || coalesce(ARRAY[build_a, build_b], '{}') AS "avoided!"
            FROM (SELECT $1::uuid AS voter) one
            LEFT JOIN open_judgings asked ON asked.voter_id = voter
            LEFT JOIN builds ON builds.id = asked.build_id
            LEFT JOIN prompts ON prompts.id = builds.prompt_id
            LEFT JOIN open_matchups ON open_matchups.voter_id = voter AND open_matchups.expires_at > clock_timestamp()
            LEFT JOIN matchups ON matchups.id = matchup_id
            "#,
            voter.0,
            &CriteriaText::build().digest().0[..],
        )
        .fetch_one(&self.pool)
        .await?;
        let open = match (row.last, row.build, row.prompt, row.text, row.settings, row.expires_at) {
            (Some(id), Some(build), Some(prompt), Some(text), Some(settings), Some(expires_at))
                if row.is_open == Some(true) =>
            {
                Some(Judging { id, prompt, text, settings, expires_at, build })
            }
            _ => None,
        };
        Ok(JudgingState { last: row.last, open, avoided: row.avoided })
    }

    /// Every prompt has the same chance among those whose builds were judged by equally few people. The cost depends on
    /// the number of prompts looked at, and not on how many builds, judgements or visitors there are.
    async fn draw_build(&self, voter: Voter, avoided: &[Uuid]) -> sqlx::Result<Option<Uuid>> {
        match self.draw_among(voter, avoided, Some(DRAWN_PROMPTS)).await? {
            Some(build) => Ok(Some(build)),
            None => self.draw_among(voter, avoided, None).await,
        }
    }

    async fn draw_among(
        &self,
        voter: Voter,
        avoided: &[Uuid],
        prompts: Option<i64>,
    ) -> sqlx::Result<Option<Uuid>> {
        sqlx::query_scalar!(
            "
            SELECT candidates.id
            FROM (SELECT id FROM prompts WHERE active ORDER BY random() LIMIT $5) drawn
            CROSS JOIN LATERAL (
                SELECT id, people_judgements
                FROM builds
                WHERE prompt_id = drawn.id AND settings = $4 AND retired_at IS NULL AND NOT withheld
                  AND id <> ALL($3)
                  AND NOT EXISTS (
                      SELECT FROM judgements WHERE build_id = builds.id AND criteria = $2 AND voter_id = $1
                  )
                ORDER BY people_judgements
                LIMIT 8
            ) candidates
            ORDER BY people_judgements, random()
            LIMIT 1
            ",
            voter.0,
            &CriteriaText::build().digest().0[..],
            avoided,
            self.settings as _,
            prompts,
        )
        .fetch_optional(&self.pool)
        .await
    }

    /// Opens a judging in the place of the last one. Returns false if another request of the voter was faster.
    async fn replace_judging(&self, voter: Voter, last: Option<Uuid>, build: Uuid) -> sqlx::Result<bool> {
        let replaced = sqlx::query!(
            "
            INSERT INTO open_judgings (voter_id, id, build_id, criteria, expires_at)
            VALUES ($1, gen_random_uuid(), $2, $3, clock_timestamp() + make_interval(secs => $4))
            ON CONFLICT (voter_id) DO UPDATE
            SET id = excluded.id, build_id = excluded.build_id, criteria = excluded.criteria,
                expires_at = excluded.expires_at, fetched_at = NULL
            WHERE open_judgings.id = $5
            ",
            voter.0,
            build,
            &CriteriaText::build().digest().0[..],
            OPEN_FOR.as_secs_f64(),
            last,
        )
        .execute(&self.pool)
        .await?;
        Ok(replaced.rows_affected() == 1)
    }

    /// The grid of an open judging's build, for its voter. `is_view` is false where only the header is requested: then
    /// the build does not count as seen.
    pub async fn judging_grid(
        &self,
        voter: Voter,
        judging: Uuid,
        is_view: bool,
    ) -> sqlx::Result<Option<Arc<StoredGrid>>> {
        let build = sqlx::query_scalar!(
            r#"
            WITH seen AS (
                UPDATE open_judgings
                SET fetched_at = clock_timestamp()
                WHERE voter_id = $1 AND id = $2 AND $3 AND fetched_at IS NULL
            )
            SELECT build_id
            FROM open_judgings
            JOIN builds ON builds.id = build_id
            WHERE voter_id = $1 AND open_judgings.id = $2 AND NOT withheld
            "#,
            voter.0,
            judging,
            is_view,
        )
        .fetch_optional(&self.pool)
        .await?;
        match build {
            Some(build) => self.grids.get(build).await,
            None => Ok(None),
        }
    }

    /// Closes a judging without a judgement. Skipping it again changes nothing.
    pub async fn skip_judging(&self, voter: Voter, judging: Uuid) -> Result<(), JudgingError> {
        let known = sqlx::query_scalar!(
            r#"
            WITH skipped_one AS (
                UPDATE open_judgings
                SET expires_at = clock_timestamp(),
                    skipped = skipped[greatest(1, cardinality(skipped) - 198):] || build_id
                WHERE voter_id = $1 AND id = $2 AND expires_at > clock_timestamp()
            )
            SELECT true AS "known!"
            FROM open_judgings
            WHERE voter_id = $1 AND id = $2
            "#,
            voter.0,
            judging,
        )
        .fetch_optional(&self.pool)
        .await?;
        known.map(drop).ok_or(JudgingError::Unknown)
    }
}
