//! Skill at equal size, and skill against what builds cost and how long they took.

use std::sync::Arc;

use buildoff::app::App;
use buildoff::background;
use buildoff::config::Config;
use serde_json::{Value, json};

use super::{LadderFixture, ladder, small_ladder};
use crate::support::{assert_fits_everywhere, open_page};

const PROMPTS: usize = 8;

/// What doublings are worth in the world of these votes, in rating points.
const BLOCKS: f64 = 60.0;
const KINDS: f64 = -20.0;

/// Of each pair of builds.
const VOTES: f64 = 60.0;

const NAMES: [&str; 8] = ["elm", "fir", "ash", "oak", "yew", "bay", "box", "fig"];

/// A build of the world: its model's rating, and its size in doublings of blocks and of kinds.
#[derive(Clone, Copy)]
struct SizedBuild {
    rating: f64,
    blocks: i32,
    kinds: i32,
}

/// Earlier models are better; every fifth builds much larger than the others.
fn sized_build(model: usize, models: usize, prompt: usize) -> SizedBuild {
    let scatter =
        |factor: usize, end: usize| ((model * 7 + prompt * factor + model * prompt * 3) % end) as i32;
    let large = if model % 5 == 4 { 3 } else { 0 };
    SizedBuild {
        rating: -160.0 * model as f64 / models as f64,
        blocks: 6 + scatter(5, 5) + large,
        kinds: 1 + scatter(11, 4),
    }
}

/// A ladder of so many models with a build of each prompt in sizes of its own, and votes as they are to be expected.
async fn sized_ladder(models: usize) -> LadderFixture {
    let keys: Vec<String> = (0..models)
        .map(|model| match model / NAMES.len() {
            0 => NAMES[model].to_owned(),
            round => format!("{}_of_the_north_{round}", NAMES[model % NAMES.len()]),
        })
        .collect();
    let prompts: Vec<String> = (0..PROMPTS).map(|prompt| format!("prompt-{prompt}")).collect();
    let contestants: Vec<_> = keys.iter().map(|key| (key.as_str(), "north")).collect();
    let tagged: Vec<_> = prompts.iter().map(|prompt| (prompt.as_str(), "house")).collect();
    let fixture = ladder(&contestants, &tagged).await;
    let mut votes = Vec::new();
    for (number, prompt) in prompts.iter().enumerate() {
        for (model, key) in keys.iter().enumerate() {
            let build = sized_build(model, models, number);
            sqlx::query("UPDATE builds SET block_count = $3, block_kinds = $4 WHERE prompt_id = $1 AND model_key = $2")
                .bind(prompt)
                .bind(key)
                .bind(1 << build.blocks)
                .bind((1 << build.kinds) as i16)
                .execute(&fixture.db.pool)
                .await
                .unwrap();
            for (other, rival) in keys.iter().enumerate().take(models).skip(model + 1) {
                let [won, tied, lost] = expected_votes(build, sized_build(other, models, number));
                votes.push(json!({
                    "prompt": prompt, "a": key, "b": rival, "won": won, "tied": tied, "lost": lost,
                }));
            }
        }
    }
    sqlx::query(
        "
        WITH cast_votes AS (
            SELECT *
            FROM jsonb_to_recordset($1) AS vote (prompt text, a text, b text, won int, tied int, lost int)
        ),
        counted AS (
            INSERT INTO tallies (build_a, build_b, a, b, tie)
            SELECT one.id, other.id, won, lost, tied
            FROM cast_votes
            JOIN builds one ON one.prompt_id = prompt AND one.model_key = a
            JOIN builds other ON other.prompt_id = prompt AND other.model_key = b
        )
        INSERT INTO ratings (settings, model_key, wins, losses, ties)
        SELECT '32-simple-precise', model, sum(won), sum(lost), sum(tied)
        FROM (
            SELECT a AS model, won, lost, tied FROM cast_votes
            UNION ALL
            SELECT b, lost, won, tied FROM cast_votes
        ) sides
        GROUP BY model
        ",
    )
    .bind(Value::Array(votes))
    .execute(&fixture.db.pool)
    .await
    .unwrap();
    fixture
}

/// How often the first build wins, ties and loses.
fn expected_votes(one: SizedBuild, other: SizedBuild) -> [i32; 3] {
    let lead = one.rating - other.rating
        + BLOCKS * f64::from(one.blocks - other.blocks)
        + KINDS * f64::from(one.kinds - other.kinds);
    let odds = 10_f64.powf(lead / 400.0);
    let tie = 0.4 * odds.sqrt();
    let [won, tied] = [odds, tie].map(|share| (VOTES * share / (odds + tie + 1.0)).round());
    [won as i32, tied as i32, (VOTES - won - tied) as i32]
}

/// Costs of all models but the last two, and times of all but the last. Better models take more, with exceptions.
async fn give_expenses(fixture: &LadderFixture) {
    fixture
        .execute(
            "
            WITH numbered AS (
                SELECT key, row_number() OVER (ORDER BY elo DESC, key) AS number, count(*) OVER () AS count
                FROM models JOIN ratings ON model_key = key
            ),
            timed AS (
                UPDATE builds
                SET generation_time_ms = 900000 / (number * number) + (number * 7919) % 40000 + 800
                FROM numbered
                WHERE model_key = key AND number < count
            )
            INSERT INTO generations (build_id, provider, cost, cost_is_minimum, notes)
            SELECT id, 'north', 3000000 / (number * number) + (number * 104729) % 90000 + 500, false, '[]'
            FROM builds JOIN numbered ON model_key = key
            WHERE number < count - 1
            ",
        )
        .await;
}

#[tokio::test]
async fn what_size_is_worth_is_found_and_skill_at_equal_size_is_shown() {
    let fixture = sized_ladder(6).await;

    let board = fixture.api("/api/leaderboard").await;

    let near = |effect: &Value, truth: f64| {
        let [points, low, high] = ["points", "low", "high"].map(|field| effect[field].as_f64().unwrap());
        assert!((points - truth).abs() < 6.0 && low < points && points < high, "{effect}, but {truth}");
    };
    near(&board["equalSize"]["doubledBlocks"], BLOCKS);
    near(&board["equalSize"]["doubledKinds"], KINDS);
    assert_eq!(board["equalSize"]["votes"], 6 * 5 / 2 * PROMPTS * VOTES as usize);
    let ratings = |field: &str| -> Vec<f64> {
        let models = board["models"].as_array().unwrap();
        let rating = |key: &&str| {
            let model = models.iter().find(|model| model["key"] == **key).unwrap();
            model[field]["rating"].as_f64().unwrap()
        };
        NAMES[..6].iter().map(rating).collect()
    };
    let (skill, equal_size) = (ratings("skill"), ratings("skillAtEqualSize"));
    assert!(skill[4] > skill[0], "the one with the largest builds wins most: {skill:?}");
    assert!(
        equal_size.is_sorted_by(|one, next| one > next),
        "at equal size the first is the best: {equal_size:?}"
    );

    let html = fixture.html("/leaderboard?sort=equal-size").await;
    let names: Vec<_> =
        NAMES[..6].iter().map(|name| html.find(&format!("\"/models/{name}\">")).unwrap()).collect();
    assert!(names.is_sorted(), "sorted by skill at equal size: {names:?}");
    assert!(
        html.contains("aria-sort=\"descending\"><a href=\"/leaderboard?sort=equal-size&#38;order=asc"),
        "{html}"
    );
    for part in [
        "Doubling the blocks is worth <strong>+6",
        "Doubling the kinds of blocks is worth <strong>−",
        "<span class=\"spoken\">up ",
        "<span class=\"spoken\">down ",
    ] {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
    let about = fixture.html("/about").await;
    assert!(about.contains("doubling the blocks is worth <b>+6"), "{about}");
}

#[tokio::test]
async fn without_enough_votes_nothing_is_said_about_size() {
    let fixture = small_ladder().await;
    let board = fixture.api("/api/leaderboard").await;
    assert_eq!(board["equalSize"], Value::Null);
    assert_eq!(board["models"][0]["skillAtEqualSize"], Value::Null);
    assert_eq!(board["models"][0].get("cost"), None);
    let html = fixture.html("/leaderboard?sort=equal-size").await;
    assert!(!html.contains("At equal size") && !html.contains("Skill against"), "{html}");
    assert!(fixture.html("/about").await.contains("not enough votes yet to tell what size is worth"));
}

#[tokio::test]
async fn kinds_of_blocks_are_counted_when_a_build_is_stored_and_afterwards_for_older_ones() {
    let fixture = small_ladder().await;
    let db = &fixture.db;
    let counted = "SELECT count(*) FROM builds WHERE block_kinds = 1";
    assert_eq!(db.number(counted).await, 6);
    db.run("UPDATE builds SET block_kinds = NULL").await;
    db.run("UPDATE builds SET grid = 'damaged' WHERE model_key = 'elm' AND prompt_id = 'owl'").await;

    let config = Config::from_lookup(|_| None).unwrap();
    let background = background::start(&App::new(Arc::new(config), db.pool.clone()).unwrap());
    db.wait_until("NOT EXISTS (SELECT FROM builds WHERE block_kinds IS NULL)").await;
    drop(background);
    assert_eq!(db.number(counted).await, 5);
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE block_kinds = 0").await, 1);
}

#[tokio::test]
async fn costs_and_times_are_means_over_what_is_known() {
    let fixture = sized_ladder(4).await;
    for (build, cost, is_minimum, time) in [
        ("prompt-0", 200_000, false, 10_000),
        ("prompt-1", 400_000, false, 30_000),
        ("prompt-2", 90_000, true, 50_000),
    ] {
        sqlx::query(
            "
            WITH timed AS (
                UPDATE builds SET generation_time_ms = $4 WHERE prompt_id = $1 AND model_key IN ('elm', 'fir')
                RETURNING id, model_key
            )
            INSERT INTO generations (build_id, provider, cost, cost_is_minimum, notes)
            SELECT id, 'north', CASE model_key WHEN 'elm' THEN $2 ELSE $2 / 10 END, $3, '[]' FROM timed
            ",
        )
        .bind(build)
        .bind(cost)
        .bind(is_minimum)
        .bind(time)
        .execute(&fixture.db.pool)
        .await
        .unwrap();
    }

    let board = fixture.api("/api/leaderboard").await;

    let model =
        |key: &str| board["models"].as_array().unwrap().iter().find(|model| model["key"] == key).unwrap();
    assert_eq!(
        model("elm")["cost"],
        json!({ "mean": 0.3, "builds": 2 }),
        "a cost that is a minimum is left out"
    );
    assert_eq!(model("elm")["generationTime"], json!({ "meanMs": 30_000.0, "builds": 3 }));
    assert_eq!(model("fir")["cost"]["mean"], 0.03);
    assert_eq!((model("ash").get("cost"), model("ash").get("generationTime")), (None, None));

    let html = fixture.html("/leaderboard").await;
    for part in
        ["Skill against cost", "Skill against generation time", "No cost is known of Ash and Oak.", "$0.0300"]
    {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
}

#[tokio::test]
async fn the_charts_fit_every_size_and_theme_with_few_and_many_models() {
    for (name, models) in [("tradeoff-few", 6), ("tradeoff-many", 44)] {
        let fixture = sized_ladder(models).await;
        give_expenses(&fixture).await;
        let mut page = open_page(&fixture.server.url_for("/leaderboard")).await;
        assert_fits_everywhere(&mut page, name).await;
        page.set_size(1440, 900).await;
        page.reload().await;
        let overlaps: Vec<String> = page
            .eval(
                "[...document.querySelectorAll('.tradeoff .wide')].flatMap(plot => {
                    const names = [...plot.querySelectorAll('a text')].map(e => [e.textContent, e.getBoundingClientRect()]);
                    return names.flatMap(([one, a], i) => names.slice(i + 1)
                        .filter(([, b]) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom - 2 && b.top + 2 < a.bottom - 2)
                        .map(([other]) => `${one} and ${other}`));
                })",
            )
            .await;
        assert_eq!(overlaps, Vec::<String>::new(), "{name}: names cover each other");
        let rows: usize = page.eval("document.querySelectorAll('#cost ~ details tbody tr').length").await;
        assert_eq!(rows, models - 2, "{name}: the table has all models with a cost");
    }
}
