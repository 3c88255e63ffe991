//! Rows that judges leave, without asking any model.

use buildoff::judge::criteria::CriteriaText;
use sqlx::PgPool;
use uuid::Uuid;

const JOB: &str = "
    WITH job AS (
        INSERT INTO jobs (id, kind, subject, model_key, state, ended_at)
        VALUES (gen_random_uuid(), 'judge', 'test', $1, 'ready', now())
        RETURNING id
    ),
    target AS (
        INSERT INTO judge_jobs (job_id, build_id, right_build, criteria) SELECT id, $2, $4, $3 FROM job
    )
";

/// The scores that a model gives a build for the four criteria of builds, with a sentence for each.
pub async fn insert_scores(pool: &PgPool, judge: &str, build: Uuid, scores: [f64; 4], sentence: &str) {
    let sql = format!(
        "{JOB}
        INSERT INTO judgements (
            build_id, criteria, model_key, job_id, task_progress, material_usage, efficiency, creative_attempts,
            overall, evidence, note
        )
        SELECT
            $2, $3, $1, id, $5, $6, $7, $8, $9,
            jsonb_build_object('task_progress', $10::text, 'material_usage', $10::text), $10
        FROM job"
    );
    sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(judge)
        .bind(build)
        .bind(&CriteriaText::build().digest().0[..])
        .bind(None::<Uuid>)
        .bind(scores[0])
        .bind(scores[1])
        .bind(scores[2])
        .bind(scores[3])
        .bind(overall(scores))
        .bind(sentence)
        .execute(pool)
        .await
        .unwrap();
}

/// A model's choice between two builds.
pub async fn insert_judge_vote(pool: &PgPool, judge: &str, sides: [Uuid; 2], choice: &str, reason: &str) {
    let sql = format!(
        "{JOB}
        INSERT INTO judge_votes (model_key, job_id, left_build, right_build, criteria, choice, reason)
        SELECT $1, id, $2, $4, $3, $5, $6 FROM job"
    );
    sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(judge)
        .bind(sides[0])
        .bind(&CriteriaText::build().digest().0[..])
        .bind(sides[1])
        .bind(choice)
        .bind(reason)
        .execute(pool)
        .await
        .unwrap();
}

/// A person's judgement. It counts unless there is an exclusion.
pub async fn insert_person_scores(
    pool: &PgPool,
    voter: Uuid,
    build: Uuid,
    scores: [f64; 4],
    note: &str,
    exclusion: Option<&str>,
) {
    sqlx::query(
        "
        INSERT INTO judgements (
            build_id, criteria, voter_id, task_progress, material_usage, efficiency, creative_attempts, overall,
            evidence, note, network, exclusion
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, jsonb_build_object('task_progress', $9::text), $9, $10, $11)
        ",
    )
    .bind(build)
    .bind(&CriteriaText::build().digest().0[..])
    .bind(voter)
    .bind(scores[0])
    .bind(scores[1])
    .bind(scores[2])
    .bind(scores[3])
    .bind(overall(scores))
    .bind(note)
    .bind(&[7_u8; 16][..])
    .bind(exclusion)
    .execute(pool)
    .await
    .unwrap();
}

fn overall([progress, materials, efficiency, creativity]: [f64; 4]) -> f64 {
    (40.0 * progress + 15.0 * materials + 15.0 * efficiency + 5.0 * creativity) / 75.0
}
