//! The judgements that a decision is about.

use sqlx::PgConnection;
use uuid::Uuid;

use super::{VoteSelection, VoteVerdict};

impl VoteSelection {
    /// The ids of people's judgements that the verdict would change, in order. Those over a budget stay so. Nobody knows
    /// how long people looked before they judged, so a selection by that has none.
    pub(super) async fn judgements(
        &self,
        connection: &mut PgConnection,
        verdict: VoteVerdict,
        limit: usize,
    ) -> sqlx::Result<Vec<i64>> {
        sqlx::query_scalar!(
            "
            SELECT judgements.id
            FROM judgements
            JOIN builds ON builds.id = build_id
            WHERE voter_id IS NOT NULL AND $6::bigint IS NULL
              AND at >= $1 AND at < $2
              AND ($3::bytea[] = '{}' OR network = ANY($3))
              AND ($4::uuid[] = '{}' OR voter_id = ANY($4))
              AND ($5::text IS NULL OR $5 = builds.model_key)
              AND CASE $7::text
                    WHEN 'withdrawn' THEN exclusion IS NULL OR exclusion = 'suspect'
                    WHEN 'suspect' THEN exclusion IS NULL
                    ELSE exclusion IN ('withdrawn', 'suspect')
                  END
            ORDER BY judgements.id
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
}

/// Marks judgements, and counts those of their builds again. Returns their voters.
///
/// The builds are locked first, in the order of their ids, as whoever stores a judgement locks its build before.
pub(super) async fn mark(
    connection: &mut PgConnection,
    judgements: &[i64],
    verdict: VoteVerdict,
    decision: i64,
) -> sqlx::Result<Vec<Uuid>> {
    if judgements.is_empty() {
        return Ok(Vec::new());
    }
    let builds = sqlx::query_scalar!(
        "
        SELECT id
        FROM builds
        WHERE id IN (SELECT build_id FROM judgements WHERE judgements.id = ANY($1))
        ORDER BY id
        FOR NO KEY UPDATE
        ",
        judgements,
    )
    .fetch_all(&mut *connection)
    .await?;
    let voters = sqlx::query_scalar!(
        r#"
        UPDATE judgements
        SET exclusion = nullif($2, 'counted'), decision = $3
        WHERE id = ANY($1)
        RETURNING voter_id AS "voter_id!"
        "#,
        judgements,
        verdict as _,
        decision,
    )
    .fetch_all(&mut *connection)
    .await?;
    sqlx::query!(
        "
        UPDATE builds
        SET people_judgements = (
            SELECT count(*)
            FROM judgements
            WHERE build_id = builds.id AND voter_id IS NOT NULL AND exclusion IS NULL
        )
        WHERE id = ANY($1)
        ",
        &builds,
    )
    .execute(connection)
    .await?;
    Ok(voters)
}
