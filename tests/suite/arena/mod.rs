//! The arena over HTTP: matchups, votes, and what stays secret before a vote.

mod anonymity;
mod cohorts;
mod concurrency;
mod held_out;
mod log;
mod matchups;
mod me;
mod person_checks;
mod sessions;
mod vote_budgets;
mod vote_limits;
mod votes;

use crate::support::db::TestDb;

/// Adds models and prompts with identical builds to a seeded database, for tests that only need many pairs.
async fn insert_identical_builds(db: &TestDb, models: u32, prompts: u32) {
    // Of the other prompts, these models have no builds, so they would wait.
    db.run("UPDATE models SET enabled = false; UPDATE prompts SET active = false").await;
    db.run(&format!(
            "INSERT INTO models (key, provider, model_id, display_name)
             SELECT 'model_' || n, 'someone', 'model-' || n, 'Model ' || n FROM generate_series(1, {models}) n"
        ),
    )
    .await;
    db.run(&format!(
        "INSERT INTO prompts (id, text)
             SELECT 'prompt-' || n, 'prompt ' || n FROM generate_series(1, {prompts}) n"
    ))
    .await;
    db.run(
        "INSERT INTO builds (id, prompt_id, model_key, settings, digest, grid, grid_is_best,
                             spec, warnings, block_count)
         SELECT gen_random_uuid(), prompts.id, key, '32-simple-precise', digest, grid, true,
                spec, warnings, block_count
         FROM models, prompts, (SELECT * FROM builds ORDER BY id LIMIT 1) one
         WHERE models.provider = 'someone' AND prompts.id LIKE 'prompt-%'",
    )
    .await;
}
