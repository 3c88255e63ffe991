//! What votes reveal, read for many voters at once.

use std::collections::HashMap;

use sqlx::types::Json;
use uuid::Uuid;

use super::{Reveal, RevealedSide};
use crate::arena::batcher::{BatchConnection, BatchJob};
use crate::arena::{Choice, ChoiceCounts, ModelKey};
use voxel::Warning;

pub struct ReadReveals;

impl BatchJob for ReadReveals {
    /// A matchup.
    type Request = Uuid;
    /// None without a vote on it.
    type Answer = Option<Box<Reveal>>;

    async fn run(
        &self,
        connection: &mut BatchConnection,
        matchups: &[Uuid],
    ) -> sqlx::Result<Vec<Self::Answer>> {
        let rows = sqlx::query!(
            r#"
            SELECT revealed.*
            FROM unnest((SELECT $1::uuid[])) AS asked (matchup)
            CROSS JOIN LATERAL (
                SELECT
                    matchup_id, choice AS "choice: Choice", elo_a_before, elo_a_after, elo_b_before, elo_b_after,
                    here.build_a, here.build_b, a.key AS "key_a: ModelKey", a.provider AS provider_a, a.display_name AS name_a,
                    b.key AS "key_b: ModelKey", b.provider AS provider_b, b.display_name AS name_b,
                    left_build.block_count AS blocks_a, left_build.generation_time_ms AS time_a,
                    left_build.withheld AS withheld_a, right_build.withheld AS withheld_b,
                    left_build.warnings AS "warnings_a: Json<Vec<Warning>>",
                    right_build.block_count AS blocks_b, right_build.generation_time_ms AS time_b,
                    right_build.warnings AS "warnings_b: Json<Vec<Warning>>",
                    coalesce(straight.a, 0) + coalesce(turned.b, 0) - (own = 'A')::int AS "others_a!",
                    coalesce(straight.b, 0) + coalesce(turned.a, 0) - (own = 'B')::int AS "others_b!",
                    coalesce(straight.tie, 0) + coalesce(turned.tie, 0) - (own = 'TIE')::int AS "others_tie!",
                    coalesce(straight.both_bad, 0) + coalesce(turned.both_bad, 0) - (own = 'BOTH_BAD')::int
                        AS "others_both_bad!"
                FROM votes
                JOIN matchups here ON here.id = matchup_id
                JOIN models a ON a.key = model_a
                JOIN models b ON b.key = model_b
                JOIN builds left_build ON left_build.id = here.build_a
                JOIN builds right_build ON right_build.id = here.build_b
                -- The vote is in the tallies only if it counts.
                CROSS JOIN LATERAL (SELECT CASE WHEN exclusion IS NULL THEN choice ELSE '' END AS own) counted
                LEFT JOIN tallies straight ON straight.build_a = here.build_a AND straight.build_b = here.build_b
                LEFT JOIN tallies turned ON turned.build_a = here.build_b AND turned.build_b = here.build_a
                WHERE matchup_id = asked.matchup
                OFFSET 0
            ) revealed
            "#,
            matchups,
        )
        .fetch_all(connection.get().await?)
        .await?;
        let mut revealed = HashMap::with_capacity(rows.len());
        for row in rows {
            let reveal = Reveal {
                matchup: row.matchup_id,
                choice: row.choice,
                others: ChoiceCounts {
                    a: row.others_a.into(),
                    b: row.others_b.into(),
                    tie: row.others_tie.into(),
                    both_bad: row.others_both_bad.into(),
                },
                a: RevealedSide {
                    key: row.key_a,
                    provider: row.provider_a,
                    display_name: row.name_a,
                    elo_before: row.elo_a_before,
                    elo_after: row.elo_a_after,
                    build: row.build_a,
                    withheld: row.withheld_a,
                    block_count: row.blocks_a,
                    generation_time_ms: row.time_a,
                    warnings: row.warnings_a.0,
                },
                b: RevealedSide {
                    key: row.key_b,
                    provider: row.provider_b,
                    display_name: row.name_b,
                    elo_before: row.elo_b_before,
                    elo_after: row.elo_b_after,
                    build: row.build_b,
                    withheld: row.withheld_b,
                    block_count: row.blocks_b,
                    generation_time_ms: row.time_b,
                    warnings: row.warnings_b.0,
                },
            };
            revealed.insert(reveal.matchup, Box::new(reveal));
        }
        Ok(matchups.iter().map(|matchup| revealed.get(matchup).cloned()).collect())
    }
}
