//! The matrix of a large installation: 34 models by 44 prompts, most of them built.

use super::{TOKEN, open_signed_in, wait_until};
use crate::support::TestServer;
use crate::support::db::TestDb;
use crate::support::layout::{THEMES, assert_fits};

/// Fills every state in: about half are ready, others failed for different reasons, run, wait or are missing.
const FILL: &str = "
    INSERT INTO models (key, provider, model_id, display_name)
    SELECT 'openrouter_more_' || n, 'openrouter', 'vendor/more-' || n, 'Another Large Model ' || n || '.5'
    FROM generate_series(1, 34 - (SELECT count(*)::integer FROM models)) AS n;
    INSERT INTO prompts (id, text)
    SELECT 'more-' || n, (ARRAY['a small harbour at low tide', 'a clock tower with four faces', 'an orchard in spring',
        'a suspension bridge between two cliffs, with a train that crosses it at night', 'a windmill', 'a red dragon'])
        [1 + n % 6] || ', number ' || n
    FROM generate_series(1, 44 - (SELECT count(*)::integer FROM prompts)) AS n;

    CREATE TEMPORARY TABLE slots AS
    SELECT prompts.id AS prompt, models.key AS model, abs(hashtext(prompts.id || models.key)) AS chance
    FROM prompts, models
    WHERE NOT EXISTS (SELECT FROM builds WHERE prompt_id = prompts.id AND model_key = models.key);

    CREATE TEMPORARY TABLE more_builds AS
    SELECT (jsonb_populate_record(build, jsonb_build_object(
        'id', gen_random_uuid(), 'log_id', gen_random_uuid(), 'prompt_id', prompt, 'model_key', model))).*
    FROM (SELECT *, row_number() OVER (ORDER BY id) - 1 AS n FROM builds) AS numbered
    JOIN builds AS build ON build.id = numbered.id
    JOIN slots ON chance / 100 % 10 = n
    WHERE chance % 20 < 11;
    DO $$
    DECLARE stored text := (
        SELECT string_agg(column_name, ', ') FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name = 'builds' AND is_generated = 'NEVER'
    );
    BEGIN
        EXECUTE format('INSERT INTO builds (%1$s) SELECT %1$s FROM more_builds', stored);
    END
    $$;

    INSERT INTO jobs (id, kind, model_key, subject, state, wanted_at, started_at, ended_at, leased_until, chars, error_code, error)
    SELECT gen_random_uuid(), 'build', model, prompt || '@32-simple-precise', state, now(),
        CASE WHEN state <> 'queued' THEN now() - interval '3 minutes' END,
        CASE WHEN state IN ('failed', 'cancelled') THEN now() END,
        CASE WHEN state = 'running' THEN now() + interval '1 hour' END, chance % 9000,
        CASE WHEN state = 'failed' THEN (ARRAY['refused', 'truncated', 'too_few_blocks', 'bad_request'])[1 + chance / 20 % 4] END,
        CASE WHEN state = 'failed' THEN 'The model reached its token limit before it was done.' END
    FROM (
        SELECT *, (ARRAY['queued', 'queued', 'running', 'failed', 'failed', 'cancelled'])[chance % 20 - 13] AS state
        FROM slots
        WHERE chance % 20 > 13
    ) AS slots;
    INSERT INTO build_jobs (job_id, prompt_id, settings)
    SELECT jobs.id, split_part(subject, '@', 1), split_part(subject, '@', 2) FROM jobs;
";

#[tokio::test]
async fn thirty_four_models_by_forty_four_prompts_fit_in_every_theme() {
    let db = TestDb::seeded().await;
    let key = "sk-planted-for-the-large-matrix";
    let variables = [
        ("ADMIN_TOKEN", TOKEN),
        ("RATE_LIMITS", "off"),
        ("OPENAI_API_KEY", key),
        ("ANTHROPIC_API_KEY", key),
        ("OPENROUTER_API_KEY", key),
    ];
    let server = TestServer::start_with_env(db.pool.clone(), &variables).await;
    assert_eq!(server.admin().post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
    db.run(FILL).await;

    let mut page = open_signed_in(&server, "/admin").await;
    for (size, width, height) in [("desk", 1440, 900), ("phone", 390, 844)] {
        page.set_size(width, height).await;
        for (theme, preference) in THEMES {
            page.set_theme(preference).await;
            page.reload().await;
            wait_until(&page, "document.querySelectorAll('#matrix a').length === 34 * 44").await;
            wait_until(&page, "document.querySelectorAll('#reasons button').length === 4").await;
            page.run("document.querySelector('.matrix').scrollIntoView()").await;
            let in_view = "[...document.querySelectorAll('#matrix img')].filter(image => { const { top, left } = image.getBoundingClientRect(); return top < innerHeight && left < innerWidth })";
            wait_until(&page, &format!("{in_view}.every(image => image.complete)")).await;
            assert_fits(&mut page, &format!("admin-large-{size}-{theme}"), width).await;
        }
        page.click("#compact").await;
        assert_fits(&mut page, &format!("admin-large-{size}-compact"), width).await;
        page.click("#matrix thead th button").await;
        assert_fits(&mut page, &format!("admin-large-{size}-line"), width).await;
    }
    // The address of a matrix with a filter shows little of it.
    page.goto(&server.url_for("/admin?show=running")).await;
    wait_until(&page, "document.querySelector('#matrix [data-empty]')").await;
    let rest = "document.querySelectorAll('#matrix tbody tr').length - [...document.querySelectorAll('#matrix tbody tr')].filter(row => row.checkVisibility()).length";
    assert!(page.eval::<usize>(rest).await > 0, "some rows have no running job");
    assert_fits(&mut page, "admin-large-phone-running", 390).await;
}
