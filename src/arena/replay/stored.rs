//! Replaying the votes in the database, and correcting what differs.

use serde_json::json;
use sqlx::{PgConnection, PgPool};

use super::{Ladders, RatingChange, Replay, ReplayReport};
use crate::arena::audit::{self, Admin};
use crate::arena::elo::Standing;
use crate::arena::vote_log::VoteLog;
use crate::arena::{ModelKey, tallies};

/// Compares all votes, ratings and tallies of one moment with a replay.
pub async fn verify(pool: &PgPool) -> sqlx::Result<ReplayReport> {
    let mut snapshot = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    disable_statement_timeout(&mut snapshot).await?;
    let mut report = compare(&mut snapshot, Replay::default(), false).await?;
    compare_counts(&mut snapshot, &mut report).await?;
    Ok(report)
}

/// Does the same, and corrects what differs. Votes wait meanwhile.
pub async fn repair(pool: &PgPool, admin: Admin) -> sqlx::Result<ReplayReport> {
    let mut transaction = pool.begin().await?;
    lock_ratings(&mut transaction).await?;
    let mut report = correct(&mut transaction, Replay::default()).await?;
    compare_counts(&mut transaction, &mut report).await?;
    if report.differing_tallies + report.differing_voters > 0 {
        tallies::rewrite(&mut transaction).await?;
    }
    if !report.is_clean() {
        // The statistics were computed from what was wrong.
        sqlx::query!("DELETE FROM ladder_stats").execute(&mut *transaction).await?;
        let detail = json!({
            "votes": report.differing_votes,
            "ratings": report.differing_ratings,
            "tallies": report.differing_tallies,
            "voters": report.differing_voters,
        });
        audit::record(&mut transaction, admin, "recompute", "ladders", detail).await?;
    }
    transaction.commit().await?;
    Ok(report)
}

/// Lets no vote be counted until the transaction ends. A vote in progress has locked its models' rows, so this waits
/// for it; the next vote waits for this.
pub(in crate::arena) async fn lock_ratings(connection: &mut PgConnection) -> sqlx::Result<()> {
    disable_statement_timeout(connection).await?;
    sqlx::query!("LOCK TABLE ratings IN EXCLUSIVE MODE").execute(connection).await?;
    Ok(())
}

/// Replays the votes that follow, and corrects what is stored of them and of the ratings.
pub(in crate::arena) async fn correct(
    connection: &mut PgConnection,
    replay: Replay,
) -> sqlx::Result<ReplayReport> {
    let report = compare(connection, replay, true).await?;
    if report.differing_ratings > 0 {
        rewrite_ratings(connection, &report.replay.ladders).await?;
    }
    Ok(report)
}

/// Replays the stored votes that follow. With `rewrites`, votes that differ are corrected.
async fn compare(
    connection: &mut PgConnection,
    replay: Replay,
    rewrites: bool,
) -> sqlx::Result<ReplayReport> {
    let mut log = VoteLog::open(&mut *connection, replay.latest.unwrap_or(0), i64::MAX).await?;
    let mut report = ReplayReport { replay, ..ReplayReport::default() };
    loop {
        let votes = log.next(&mut *connection).await?;
        if votes.is_empty() {
            break;
        }
        let mut wrong = Vec::new();
        for vote in &votes {
            wrong.extend(report.next(vote)?.map(|change| (vote.id, change)));
        }
        if rewrites {
            rewrite_votes(connection, &wrong).await?;
        }
    }
    report.add_ratings(&stored(connection).await?);
    Ok(report)
}

/// Compares what is counted for each pair of builds and for each voter with the votes.
async fn compare_counts(connection: &mut PgConnection, report: &mut ReplayReport) -> sqlx::Result<()> {
    report.add_tallies(tallies::mismatches(&mut *connection).await?);
    report.add_voters(tallies::mismatched_voters(connection).await?);
    Ok(())
}

/// The ladders as they were before a vote.
pub(in crate::arena) async fn replay_before(
    connection: &mut PgConnection,
    vote: i64,
) -> sqlx::Result<Replay> {
    let rows = sqlx::query!(
        r#"
        SELECT
            settings AS "settings!", model_key AS "model!: ModelKey",
            (elo, wins, losses, ties, both_bad) AS "standing!: Standing"
        FROM standings_before($1)
        "#,
        vote,
    )
    .fetch_all(connection)
    .await?;
    let mut replay = Replay { latest: Some(vote - 1), ..Replay::default() };
    for row in rows {
        replay.ladders.entry(row.settings).or_default().insert(row.model, row.standing);
    }
    Ok(replay)
}

/// Counting all votes may take longer than statements are usually allowed to.
async fn disable_statement_timeout(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query!("SET LOCAL statement_timeout = 0").execute(connection).await?;
    Ok(())
}

async fn stored(connection: &mut PgConnection) -> sqlx::Result<Ladders> {
    let rows = sqlx::query!(
        r#"
        SELECT
            settings, model_key AS "model_key: ModelKey",
            (elo, wins, losses, ties, both_bad) AS "standing!: Standing"
        FROM ratings
        "#
    )
    .fetch_all(connection)
    .await?;
    let mut ladders = Ladders::new();
    for row in rows {
        ladders.entry(row.settings).or_default().insert(row.model_key, row.standing);
    }
    Ok(ladders)
}

async fn rewrite_votes(connection: &mut PgConnection, wrong: &[(i64, RatingChange)]) -> sqlx::Result<()> {
    if wrong.is_empty() {
        return Ok(());
    }
    let column =
        |of: fn(&RatingChange) -> f64| wrong.iter().map(|(_, change)| of(change)).collect::<Vec<_>>();
    sqlx::query!(
        "
        UPDATE votes
        SET elo_a_before = right_one.a_before, elo_a_after = right_one.a_after,
            elo_b_before = right_one.b_before, elo_b_after = right_one.b_after
        FROM unnest($1::bigint[], $2::float8[], $3::float8[], $4::float8[], $5::float8[])
            AS right_one (id, a_before, a_after, b_before, b_after)
        WHERE votes.id = right_one.id
        ",
        &wrong.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        &column(|change| change.before[0]),
        &column(|change| change.after[0]),
        &column(|change| change.before[1]),
        &column(|change| change.after[1]),
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn rewrite_ratings(connection: &mut PgConnection, ladders: &Ladders) -> sqlx::Result<()> {
    let rows: Vec<_> = ladders
        .iter()
        .flat_map(|(settings, ladder)| {
            ladder.iter().map(move |(model, standing)| (settings, model, standing))
        })
        .collect();
    let column = |of: fn(&Standing) -> i64| rows.iter().map(|row| of(row.2)).collect::<Vec<_>>();
    let (settings, models): (Vec<_>, Vec<_>) =
        rows.iter().map(|(settings, model, _)| ((*settings).clone(), *model)).unzip();
    sqlx::query!(
        "
        DELETE FROM ratings
        WHERE (settings, model_key) NOT IN (SELECT * FROM unnest($1::text[], $2::text[]))
        ",
        &settings,
        models as _,
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "
        INSERT INTO ratings (settings, model_key, elo, wins, losses, ties, both_bad)
        SELECT *
        FROM unnest($1::text[], $2::text[], $3::float8[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
        ON CONFLICT (settings, model_key) DO UPDATE
        SET elo = excluded.elo, wins = excluded.wins, losses = excluded.losses,
            ties = excluded.ties, both_bad = excluded.both_bad
        ",
        &settings,
        models as _,
        &rows.iter().map(|row| row.2.elo).collect::<Vec<_>>(),
        &column(|standing| standing.wins),
        &column(|standing| standing.losses),
        &column(|standing| standing.ties),
        &column(|standing| standing.both_bad),
    )
    .execute(connection)
    .await?;
    Ok(())
}
