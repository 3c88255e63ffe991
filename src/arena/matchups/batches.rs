//! The statements behind every matchup, each for many voters at once.

use std::collections::HashMap;

use time::OffsetDateTime;
use uuid::Uuid;

use super::{Matchup, Voter};
use crate::arena::batcher::{BatchConnection, BatchJob, is_one_requests_fault};
use crate::arena::sampling::SeenPairs;
use crate::arena::{ModelKey, PromptId, Settings, Side};
use crate::db::has_sqlstate;

/// The code of a row that stayed locked for too long, most likely by another request of the same voter.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// How long a batch waits for a locked row of a voter. In a batch, others would wait for it too, so that is short; the
/// voter's request then runs alone, with more time.
fn lock_timeout(requests: usize) -> &'static str {
    if requests > 1 { "50ms" } else { "500ms" }
}

/// Reads the state of voters who ask for a matchup.
pub struct ReadVoterStates {
    pub settings: Settings,
}

pub struct StateRequest {
    pub voter: Voter,
    /// The requested prompt, if the voter named one.
    pub prompt: Option<PromptId>,
    /// The last matchup that the known pairs include. While it is the last one, they need not be read.
    pub known_until: Option<Uuid>,
}

pub struct VoterState {
    /// Of the catalog.
    pub revision: i64,
    /// The voter's last matchup, open or not.
    pub last: Option<Uuid>,
    /// The same matchup, if it is open.
    pub open: Option<Matchup>,
    /// None where no new matchup will be drawn, or where the known pairs are all.
    pub seen: Option<SeenPairs>,
}

impl BatchJob for ReadVoterStates {
    type Request = StateRequest;
    type Answer = VoterState;

    /// Reads the state of one moment. The pairs that a voter has seen are only read where a new matchup will be drawn
    /// and they are not known.
    async fn run(
        &self,
        connection: &mut BatchConnection,
        requests: &[StateRequest],
    ) -> sqlx::Result<Vec<VoterState>> {
        let voters: Vec<_> = requests.iter().map(|request| request.voter.0).collect();
        let prompts: Vec<_> = requests.iter().map(|request| request.prompt.as_ref()).collect();
        let known_until: Vec<_> = requests.iter().map(|request| request.known_until).collect();
        let rows = sqlx::query!(
            r#"
            SELECT
                (SELECT catalog_revision FROM installation) AS "catalog_revision!",
                matchup_id AS "matchup_id?", prompt_id AS "prompt_id?: PromptId", text AS "text?",
                expires_at AS "expires_at?",
                votable AS "votable!",
                CASE WHEN (NOT votable OR prompt_id <> asked.prompt)
                    AND (matchup_id = asked.known_until) IS NOT TRUE
                THEN
                    ARRAY(SELECT pair FROM matchups WHERE voter_id = asked.voter)
                    || coalesce((SELECT pairs FROM seen_pairs WHERE voter_id = asked.voter), '{}')
                END AS seen
            FROM unnest((SELECT $1::uuid[]), (SELECT $2::text[]), (SELECT $4::uuid[]))
                WITH ORDINALITY AS asked (voter, prompt, known_until, number)
            LEFT JOIN LATERAL (
                SELECT matchup_id, prompt_id, text, settings, expires_at
                FROM open_matchups
                LEFT JOIN matchups ON matchups.id = matchup_id
                LEFT JOIN prompts ON prompts.id = prompt_id
                WHERE open_matchups.voter_id = asked.voter
                OFFSET 0
            ) latest ON true
            CROSS JOIN LATERAL (SELECT coalesce(settings = $3 AND expires_at > now(), false) AS votable) state
            ORDER BY number
            "#,
            &voters,
            prompts as _,
            self.settings as _,
            known_until as _,
        )
        .fetch_all(connection.get().await?)
        .await?;
        let states = rows.into_iter().map(|row| {
            let open = match (row.matchup_id, row.prompt_id, row.text, row.expires_at) {
                (Some(id), Some(prompt), Some(text), Some(expires_at)) if row.votable => {
                    Some(Matchup { id, prompt, text, expires_at, only_references: false })
                }
                _ => None,
            };
            let seen = row.seen.map(SeenPairs::from_iter);
            VoterState { revision: row.catalog_revision, last: row.matchup_id, open, seen }
        });
        Ok(states.collect())
    }
}

/// Adds new matchups, each in place of its voter's last one.
pub struct ServeMatchups {
    pub settings: Settings,
}

pub struct NewMatchup {
    pub voter: Voter,
    pub last: Option<Uuid>,
    pub prompt: PromptId,
    pub models: [ModelKey; 2],
    pub builds: [Uuid; 2],
    pub probability: f64,
    pub pair: i64,
}

impl BatchJob for ServeMatchups {
    type Request = NewMatchup;
    /// None where another request has served a matchup since `last` was read. So a new one is only served if the pairs
    /// that were read are still all that the voter has seen.
    type Answer = Option<(Uuid, OffsetDateTime)>;

    /// Commits without waiting for the disk, since losing the latest matchups in a crash does no harm. A voter's row
    /// that is locked, as while a vote is counted, delays others only briefly.
    async fn run(
        &self,
        connection: &mut BatchConnection,
        matchups: &[NewMatchup],
    ) -> sqlx::Result<Vec<Self::Answer>> {
        // Ids begin with the time, so that new index entries are next to each other.
        let ids: Vec<_> = matchups.iter().map(|_| Uuid::now_v7()).collect();
        let voters: Vec<_> = matchups.iter().map(|matchup| matchup.voter.0).collect();
        let last: Vec<_> = matchups.iter().map(|matchup| matchup.last).collect();
        let prompts: Vec<_> = matchups.iter().map(|matchup| &matchup.prompt).collect();
        let models = |side: usize| -> Vec<&ModelKey> {
            matchups.iter().map(|matchup| &matchup.models[side]).collect()
        };
        let builds =
            |side: usize| -> Vec<Uuid> { matchups.iter().map(|matchup| matchup.builds[side]).collect() };
        let probabilities: Vec<_> = matchups.iter().map(|matchup| matchup.probability).collect();
        let pairs: Vec<_> = matchups.iter().map(|matchup| matchup.pair).collect();
        let rows = sqlx::query!(
            "
            WITH drawn AS (
                SELECT DISTINCT ON (voter_id) *
                FROM unnest(
                    (SELECT $1::uuid[]), (SELECT $2::uuid[]), (SELECT $3::uuid[]), (SELECT $4::text[]),
                    (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::uuid[]), (SELECT $8::uuid[]),
                    (SELECT $9::float8[]), (SELECT $10::bigint[])
                ) AS drawn
                    (id, voter_id, last, prompt_id, model_a, model_b, build_a, build_b, probability, pair)
                ORDER BY voter_id
            ),
            opened AS (
                INSERT INTO open_matchups (voter_id, matchup_id, expires_at)
                SELECT voter_id, id, now() + interval '30 minutes'
                FROM drawn
                CROSS JOIN set_config('synchronous_commit', 'off', true) AS commit
                CROSS JOIN set_config('lock_timeout', $12, true) AS wait
                ON CONFLICT (voter_id) DO UPDATE
                SET matchup_id = excluded.matchup_id, expires_at = excluded.expires_at,
                    fetched_a = NULL, fetched_b = NULL
                WHERE open_matchups.matchup_id = (SELECT last FROM drawn WHERE id = excluded.matchup_id)
                RETURNING matchup_id, expires_at
            ),
            served AS (
                INSERT INTO matchups
                    (id, voter_id, settings, prompt_id, model_a, model_b, build_a, build_b, probability, pair)
                SELECT id, voter_id, $11, prompt_id, model_a, model_b, build_a, build_b, probability, pair
                FROM drawn
                JOIN opened ON matchup_id = id
            )
            SELECT matchup_id, expires_at
            FROM opened
            ",
            &ids,
            &voters,
            last as _,
            prompts as _,
            models(0) as _,
            models(1) as _,
            &builds(0),
            &builds(1),
            &probabilities,
            &pairs,
            self.settings as _,
            lock_timeout(matchups.len()),
        )
        .fetch_all(connection.get().await?)
        .await?;
        let served: HashMap<_, _> = rows.into_iter().map(|row| (row.matchup_id, row.expires_at)).collect();
        Ok(ids.into_iter().map(|id| served.get(&id).map(|expires_at| (id, *expires_at))).collect())
    }

    fn may_be_one_request(error: &sqlx::Error) -> bool {
        is_one_requests_fault(error) || has_sqlstate(error, &[LOCK_NOT_AVAILABLE])
    }
}

/// Finds builds of matchups for their voters, and records that they were fetched.
pub struct FetchBuilds;

pub struct FetchRequest {
    pub voter: Voter,
    pub matchup: Uuid,
    pub side: Side,
    /// False where only the header is requested.
    pub is_view: bool,
}

impl BatchJob for FetchBuilds {
    type Request = FetchRequest;
    /// The build's id.
    type Answer = Option<Uuid>;

    /// Records when each build was first fetched, without waiting for the disk. Once both builds of an open matchup
    /// were fetched, their models count as shown: asking and skipping alone must not influence who is drawn. A locked
    /// row of one voter delays others only briefly.
    async fn run(
        &self,
        connection: &mut BatchConnection,
        requests: &[FetchRequest],
    ) -> sqlx::Result<Vec<Option<Uuid>>> {
        let voters: Vec<_> = requests.iter().map(|request| request.voter.0).collect();
        let matchups: Vec<_> = requests.iter().map(|request| request.matchup).collect();
        let on_a: Vec<_> = requests.iter().map(|request| request.side == Side::A).collect();
        let is_view: Vec<_> = requests.iter().map(|request| request.is_view).collect();
        sqlx::query_scalar!(
            r#"
            WITH asked AS (
                SELECT *
                FROM unnest((SELECT $1::uuid[]), (SELECT $2::uuid[]), (SELECT $3::bool[]), (SELECT $4::bool[]))
                    WITH ORDINALITY AS asked (voter, matchup, on_a, looks, number)
            ),
            looked AS (
                SELECT voter, matchup, bool_or(on_a) AS a, bool_or(NOT on_a) AS b
                FROM asked
                WHERE looks
                GROUP BY voter, matchup
            ),
            sent AS (
                UPDATE open_matchups
                SET fetched_a = CASE WHEN a THEN coalesce(fetched_a, clock_timestamp()) ELSE fetched_a END,
                    fetched_b = CASE WHEN b THEN coalesce(fetched_b, clock_timestamp()) ELSE fetched_b END
                FROM looked
                CROSS JOIN set_config('synchronous_commit', 'off', true) AS commit
                CROSS JOIN set_config('lock_timeout', $5, true) AS wait
                WHERE voter_id = voter AND matchup_id = matchup AND expires_at > clock_timestamp()
                  AND (a AND fetched_a IS NULL OR b AND fetched_b IS NULL)
                RETURNING matchup, num_nulls(fetched_a, fetched_b) = 0 AS both_sent
            ),
            counted AS (
                INSERT INTO shown (settings, prompt_id, model_key, times)
                SELECT settings, prompt_id, model_key, count(*)
                FROM sent
                CROSS JOIN LATERAL (SELECT * FROM matchups WHERE id = matchup OFFSET 0) matchups
                CROSS JOIN LATERAL (VALUES (model_a), (model_b)) AS side (model_key)
                WHERE both_sent
                GROUP BY settings, prompt_id, model_key
                ORDER BY settings, prompt_id, model_key
                ON CONFLICT (settings, prompt_id, model_key) DO UPDATE SET times = shown.times + excluded.times
            )
            SELECT CASE WHEN on_a THEN build_a ELSE build_b END AS build
            FROM asked
            LEFT JOIN LATERAL (SELECT * FROM matchups WHERE id = matchup OFFSET 0) matchups ON voter_id = voter
            ORDER BY number
            "#,
            &voters,
            &matchups,
            &on_a,
            &is_view,
            lock_timeout(requests.len()),
        )
        .fetch_all(connection.get().await?)
        .await
    }

    fn may_be_one_request(error: &sqlx::Error) -> bool {
        is_one_requests_fault(error) || has_sqlstate(error, &[LOCK_NOT_AVAILABLE])
    }
}
