//! The arena over HTTP: matchups, votes, and what nobody may learn too early.

mod anonymity;
mod concurrency;
mod log;
mod matchups;
mod me;
mod sessions;
mod vote_limits;
mod votes;

use sqlx::AssertSqlSafe;

use crate::support::TestServer;
use crate::support::db::TestDb;

/// An arena with the shipped builds: two hands, five prompts.
async fn arena() -> (TestDb, TestServer) {
    let db = seeded().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    (db, server)
}

async fn seeded() -> TestDb {
    TestDb::seeded().await
}

/// Fills a seeded database with builds that all look the same: what they show does not matter.
async fn insert_identical_builds(db: &TestDb, models: u32, prompts: u32) {
    run(db, "UPDATE models SET enabled = false").await;
    run(
        db,
        &format!(
            "INSERT INTO models (key, provider, model_id, display_name)
             SELECT 'model_' || n, 'someone', 'model-' || n, 'Model ' || n FROM generate_series(1, {models}) n"
        ),
    )
    .await;
    run(
        db,
        &format!(
            "INSERT INTO prompts (id, text)
             SELECT 'prompt-' || n, 'prompt ' || n FROM generate_series(1, {prompts}) n"
        ),
    )
    .await;
    run(
        db,
        "INSERT INTO builds (id, prompt_id, model_key, settings, digest, grid, grid_is_best,
                             spec, warnings, block_count)
         SELECT gen_random_uuid(), prompts.id, key, '32-simple-precise', digest, grid, true,
                spec, warnings, block_count
         FROM models, prompts, (SELECT * FROM builds ORDER BY id LIMIT 1) one
         WHERE models.provider = 'someone' AND prompts.id LIKE 'prompt-%'",
    )
    .await;
}

async fn run(db: &TestDb, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&db.pool).await.unwrap();
}

/// A number that the database tells.
async fn number(db: &TestDb, sql: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&db.pool).await.unwrap()
}
