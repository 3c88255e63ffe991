//! Which voters have passed the check that they are a person.

use std::time::Duration;

use sqlx::{PgExecutor, PgPool};
use uuid::Uuid;

use super::Voter;

/// How far a voter has come.
pub struct PersonCheckState {
    /// The installation's key for challenges.
    pub key: Vec<u8>,
    /// How often the voter has been asked again.
    pub round: i32,
    pub has_passed: bool,
}

pub async fn state(pool: &PgPool, voter: Voter) -> sqlx::Result<PersonCheckState> {
    sqlx::query_as!(
        PersonCheckState,
        r#"
        SELECT person_check_key AS key, coalesce(round, 0) AS "round!",
               coalesce(passed_until > now(), false) AS "has_passed!"
        FROM installation
        LEFT JOIN person_checks ON voter_id = $1
        "#,
        voter.0,
    )
    .fetch_one(pool)
    .await
}

/// Lets the voter pass for this long. Returns false if the voter has been asked again since `round`, so that another
/// answer is due.
pub async fn pass(pool: &PgPool, voter: Voter, round: i32, lifetime: Duration) -> sqlx::Result<bool> {
    let passed = sqlx::query!(
        "
        INSERT INTO person_checks (voter_id, round, passed_until)
        VALUES ($1, $2, now() + make_interval(secs => $3))
        ON CONFLICT (voter_id) DO UPDATE
        SET passed_until = greatest(person_checks.passed_until, excluded.passed_until)
        WHERE person_checks.round = excluded.round
        ",
        voter.0,
        round,
        lifetime.as_secs_f64(),
    )
    .execute(pool)
    .await?;
    Ok(passed.rows_affected() == 1)
}

/// Asks voters again before their next votes, whatever they have passed so far. For a vote that is under way, this may
/// come too late. See `PersonChecks::ask_again` for a way that also tells this server's cache.
pub async fn ask_again(executor: impl PgExecutor<'_>, voters: &[Uuid]) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO person_checks (voter_id, round, passed_until)
        SELECT voter_id, 1, now()
        FROM unnest($1::uuid[]) AS asked (voter_id)
        ON CONFLICT (voter_id) DO UPDATE
        SET round = person_checks.round + 1, passed_until = excluded.passed_until
        ",
        voters,
    )
    .execute(executor)
    .await?;
    Ok(())
}

/// Drops rows that ended a day ago. No challenge is valid for so long, so that a round may begin at 0 again.
pub async fn purge(pool: &PgPool) -> sqlx::Result<()> {
    sqlx::query!("DELETE FROM person_checks WHERE passed_until < now() - interval '1 day'")
        .execute(pool)
        .await?;
    Ok(())
}
