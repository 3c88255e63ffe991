//! How jobs end that bring no build: each by itself, and legibly.

use std::time::Duration;

use buildoff::arena::jobs::attempts;
use buildoff::arena::jobs::claims::{self, ModelRoute};
use buildoff::arena::jobs::{self, AnswerProgress};
use serde_json::{Value, json};

use super::{Scene, begins, outcomes, says};
use crate::support::db::TestDb;
use crate::support::provider::KEY;
use crate::support::{Beat, Provider, Say, Script, Site, Voice, catalog, hut};

#[tokio::test]
async fn whatever_a_provider_does_wrong_ends_as_one_legible_failure() {
    let error = |status, kind: &str, message: &str| {
        Script::error(status, &json!({ "error": { "message": message, "type": kind, "code": kind } }))
    };
    let cases: [(&str, Vec<Script>, &str); 8] = [
        ("a wrong key", vec![error(401, "invalid_api_key", "Incorrect API key")], "bad_key"),
        ("no credit", vec![error(402, "insufficient_quota", "No balance left")], "no_credit"),
        ("no such model", vec![error(404, "model_not_found", "There is no such model")], "no_such_model"),
        ("a refusal", vec![Voice::Compatible.says(&[Say::Refused("I would rather not.")])], "refused"),
        ("a filter", vec![Voice::Compatible.says(&[Say::Text("{"), Say::Filtered])], "filtered"),
        (
            "an HTML page",
            vec![Script::new(200, "text/html").send("<html><h1>Sign in</h1></html>")],
            "bad_answer",
        ),
        ("nothing, three times", (0..3).map(|_| Voice::Compatible.says(&[Say::Done])).collect(), "empty"),
        ("rubbish, three times", (0..3).map(|_| says("I built it in my mind.")).collect(), "bad_json"),
    ];
    for (case, scripts, code) in cases {
        let scene = Scene::with(scripts).await;
        let job = scene.outcome().await;
        assert_eq!((&job["state"], &job["code"]), (&json!("failed"), &json!(code)), "{case}: {job}");
        assert!(job["error"].as_str().is_some_and(|message| message.len() > 10), "{case}: {job}");
        assert_eq!(scene.db.number("SELECT count(*) FROM builds").await, 0, "{case}");
        assert_eq!(
            scene.db.number("SELECT count(*) FROM attempts WHERE ended_at IS NULL").await,
            0,
            "{case}"
        );
    }
}

#[tokio::test]
async fn cancelling_ends_the_request_at_the_provider_and_keeps_what_had_come() {
    let begun = Voice::Compatible.stream(&[Say::Ponder, Say::Text("{ \"boxes\": [")]);
    let scene = Scene::with([Script::stream().send(begun).beat(Beat::Stall), says(&hut(4))]).await;
    let job = scene.admin.want("shed", "tester").await;
    // Whatever has streamed in is stored with the next sign of life.
    scene.admin.job_when(&job, |job| job["attempts"][0]["tokensOut"] == 50).await;

    let cancelled = scene.admin.delete(&format!("/api/admin/jobs/{job}")).await;
    assert_eq!(cancelled.status, 204);
    scene.provider.hung_up().await;

    let job_now = scene.admin.job(&job).await;
    assert_eq!((&job_now["state"], outcomes(&job_now)), (&json!("cancelled"), vec!["cancelled"]));
    assert!(job_now["cost"].as_f64().is_some_and(|cost| cost > 0.0), "what it took is paid for: {job_now}");
    let answer = scene.admin.get(job_now["attempts"][0]["answerUrl"].as_str().unwrap()).await;
    assert_eq!(answer.text(), "{ \"boxes\": [");
    assert_eq!(scene.admin.delete(&format!("/api/admin/jobs/{job}")).await.status, 409);

    // Seeding leaves it alone, and an admin does not.
    let seeded = scene.admin.post("/api/admin/seed", "").await.json();
    assert_eq!((&seeded["done"], &seeded["remainingBuilds"]), (&json!(true), &json!(1)), "{seeded}");
    assert_eq!(scene.outcome().await["state"], "ready");
}

#[tokio::test]
async fn all_that_is_under_way_can_be_cancelled_at_once() {
    let provider = Provider::improvising(Voice::Compatible, |_| begins(" ").beat(Beat::Stall)).await;
    let catalog = catalog(&provider, &["one", "two"], &["shed", "barn"]);
    let db = TestDb::new().await;
    let site = Site::open_working(db.pool.clone(), &catalog.variables(&[("AI_AT_ONCE", "2")])).await;
    let scene = Scene::open(db, provider, site).await;
    scene.admin.post("/api/admin/seed?background=1", "").await;
    let running = "SELECT count(*) FROM attempts WHERE ended_at IS NULL";
    while scene.db.number(running).await < 2 {}

    let told = scene.admin.delete("/api/admin/jobs").await.json();

    assert_eq!(told, json!({ "ok": true, "cancelled": 4 }));
    for _ in 0..2 {
        scene.provider.hung_up().await;
    }
    assert_eq!(scene.db.number(running).await, 0);
    let seeded = scene.admin.post("/api/admin/seed", "").await.json();
    assert_eq!((&seeded["done"], &seeded["jobs"]), (&json!(true), &json!([])), "nobody is asked by itself");
    let told = scene.admin.delete("/api/admin/jobs").await.json();
    assert_eq!(told["cancelled"], 0);
    assert_eq!(scene.db.number("SELECT count(*) FROM audit WHERE action = 'cancel'").await, 1);
}

#[tokio::test]
async fn a_failed_job_is_tried_again_only_when_an_admin_says_so() {
    let scene = Scene::with((0..3).map(|_| says("no")).chain([says(&hut(5))])).await;
    let seed = async |query: &str| scene.admin.post(&format!("/api/admin/seed{query}"), "").await.json();
    let first = seed("").await;
    assert_eq!(
        (&first["jobs"][0]["state"], &first["failedBuilds"]),
        (&json!("failed"), &json!(1)),
        "{first}"
    );
    assert_eq!(first["jobs"][0]["attempts"], 3);
    assert_eq!(first["done"], true, "nothing is left that could run: {first}");
    assert_eq!(seed("").await["jobs"], json!([]));
    let again = seed("?retryFailed=1").await;
    assert_eq!((&again["jobs"][0]["state"], &again["failedBuilds"]), (&json!("ready"), &json!(0)), "{again}");
}

#[tokio::test]
async fn said_once_that_failed_builds_are_to_be_tried_again_holds_until_all_of_them_are() {
    let provider = Provider::improvising(Voice::Compatible, |request| {
        if request.body.to_string().contains("it fails") { says("no") } else { says(&hut(4)) }
    })
    .await;
    let catalog = catalog(&provider, &["one", "two", "three", "four"], &["shed"]);
    let db = TestDb::new().await;
    let site = Site::open_working(db.pool.clone(), &catalog.variables(&[("AI_ATTEMPTS", "1")])).await;
    let scene = Scene::open(db, provider, site).await;
    scene.db.run("UPDATE prompts SET text = 'it fails', edited_at = now()").await;
    let seed = async |query: &str| scene.admin.post(&format!("/api/admin/seed{query}"), "").await.json();
    while seed("").await["done"] != true {}
    assert_eq!(scene.db.number("SELECT count(*) FROM jobs WHERE state = 'failed'").await, 4);
    scene.db.run("UPDATE prompts SET text = 'it works'").await;

    let dry = seed("?dryRun=1&retryFailed=1").await;
    assert_eq!((dry["next"].as_array().unwrap().len(), &dry["done"]), (4, &json!(false)), "{dry}");
    assert_eq!(seed("").await["done"], true, "a dry run forgives nothing");
    let first = seed("?retryFailed=1&batchSize=1").await;
    assert_eq!(
        (&first["existingBuilds"], &first["failedBuilds"], &first["done"]),
        (&json!(1), &json!(0), &json!(false)),
        "{first}"
    );
    let mut last = first;
    while last["done"] != true {
        last = seed("?batchSize=1").await;
    }
    assert_eq!(last["existingBuilds"], 4, "{last}");
}

#[tokio::test]
async fn a_parser_that_has_learned_something_finds_what_was_paid_for() {
    let scene = Scene::with((0..3).map(|_| says("not yet"))).await;
    let job = scene.outcome().await;
    let path = format!("/api/admin/jobs/{}/reparse", job["id"].as_str().unwrap());
    let reread = scene.admin.post(&path, "").await.json();
    assert_eq!((&reread["ok"], reread["error"].is_string()), (&json!(false), true), "{reread}");

    // As if the text had been one that only a better parser can read.
    let learned = format!("UPDATE attempts SET answer = convert_to('{}', 'UTF8') WHERE number = 2", hut(6));
    scene.db.run(&learned).await;
    let reread = scene.admin.post(&path, "").await.json();
    assert_eq!((&reread["ok"], &reread["attempt"]), (&json!(true), &json!(2)), "{reread}");
    let now = scene.admin.job(job["id"].as_str().unwrap()).await;
    assert_eq!((&now["state"], &now["buildId"]), (&json!("ready"), &reread["buildId"]));
    assert_eq!(scene.admin.post(&path, "").await.code(), "nothing_to_read");
    assert_eq!(scene.provider.requests().len(), 3, "nobody is asked again");
}

#[tokio::test]
async fn an_import_is_not_asked_for_any_more() {
    let scene = Scene::with([begins(" ").beat(Beat::Stall)]).await;
    let job = scene.admin.want("shed", "tester").await;
    scene.admin.job_when(&job, |job| job["state"] == "running").await;
    let import = "/api/admin/import-build?modelKey=tester&promptId=shed";
    assert_eq!(scene.admin.post(import, hut(7)).await.status, 200);
    scene.provider.hung_up().await;
    let ended = scene.admin.job_ended(&job).await;
    assert_eq!((&ended["state"], &ended["code"]), (&json!("cancelled"), &json!("exists")), "{ended}");
    assert_eq!(outcomes(&ended), ["cancelled"]);
    assert_eq!(scene.db.number("SELECT count(*) FROM builds").await, 1);
}

#[tokio::test]
async fn a_providers_key_reaches_no_table_and_no_answer() {
    let repeats = json!({ "error": { "message": format!("Incorrect API key provided: {KEY}"), "code": "invalid_api_key" } });
    let scene = Scene::with([Script::error(401, &repeats)]).await;
    let job = scene.outcome().await;
    assert_eq!(job["code"], "bad_key", "{job}");
    assert!(!job.to_string().contains(KEY), "{job}");
    let stored = scene.db.dump().await;
    assert!(stored.contains("bad_key") && !stored.contains(KEY));
    let Value::Array(entries) = scene.admin.get("/api/admin/audit").await.json()["entries"].take() else {
        panic!("no entries")
    };
    assert!(!entries.is_empty());
}

#[tokio::test]
async fn an_answer_with_characters_that_no_table_takes_is_put_away_all_the_same() {
    let odd = hut(4)
        .replace("\"boxes\"", "\"blocks\":[{\"x\":1,\"y\":1,\"z\":1,\"type\":\"a\\u0000b\"}],\"boxes\"");
    let scene = Scene::with([says("{\"boxes\": [{\"x1\": \"\\u0000\"}]}"), says(&odd)]).await;
    let job = scene.outcome().await;
    assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), vec!["refused", "accepted"]), "{job}");
    let build = scene.site.get(&format!("/api/builds/{}", job["buildId"].as_str().unwrap()));
    let build: Value = build.send().await.unwrap().json().await.unwrap();
    assert_eq!(build["warnings"][0]["type"], "a\u{fffd}b", "{build}");
}

#[tokio::test]
async fn what_is_switched_off_is_not_asked_for_any_more() {
    let scene = Scene::asleep().await;
    let job = scene.admin.want("shed", "tester").await;
    let off = json!({ "enabled": false });
    scene.admin.json(reqwest::Method::PATCH, "/api/admin/models/tester", &off).await;
    let job = scene.admin.job(&job).await;
    assert_eq!((&job["state"], &job["code"]), (&json!("cancelled"), &json!("switched_off")), "{job}");

    // Wanted all the same, it costs what others do.
    let again = scene.admin.want("shed", "tester").await;
    let coverage = scene.admin.get("/api/admin/coverage").await.json();
    assert_eq!((&coverage["sum"]["underWay"], &coverage["sum"]["expected"]), (&json!(1), &json!(0)));
    let metrics = scene.admin.get("/metrics").await.text();
    let states: Vec<_> = metrics.lines().filter(|line| line.starts_with("buildoff_jobs{")).collect();
    assert_eq!(states, ["buildoff_jobs{state=\"queued\"} 1"], "only the latest counts");
    scene.admin.json(reqwest::Method::PATCH, "/api/admin/models/tester", &off).await;
    assert_eq!(scene.admin.job(&again).await["code"], "switched_off");

    // What was in the way is gone, and nobody has decided against the build itself.
    let on = json!({ "enabled": true });
    scene.admin.json(reqwest::Method::PATCH, "/api/admin/models/tester", &on).await;
    let dry = scene.admin.post("/api/admin/seed?dryRun=1", "").await.json();
    assert_eq!((&dry["done"], dry["next"].as_array().unwrap().len()), (&json!(false), 1), "{dry}");
}

#[tokio::test]
async fn an_older_answer_that_turns_out_to_be_a_build_ends_the_asking() {
    let learned = format!("UPDATE attempts SET answer = convert_to('{}', 'UTF8') WHERE number = 1", hut(6));
    let scripts = (0..3).map(|_| says("not yet")).chain([begins(" ").beat(Beat::Stall)]);
    let scene = Scene::with(scripts).await;
    let first = scene.outcome().await["id"].as_str().unwrap().to_owned();
    let second = scene.admin.want("shed", "tester").await;
    scene.admin.job_when(&second, |job| job["state"] == "running").await;
    scene.db.run(&learned).await;

    let unread = scene.admin.get("/api/admin/jobs/unread").await.json();
    let listed = json!({ "jobs": [{ "id": first, "promptId": "shed", "modelKey": "tester" }] });
    assert_eq!(unread, listed, "a job under way is not read");
    let reread = scene.admin.post(&format!("/api/admin/jobs/{first}/reparse"), "").await.json();

    assert_eq!(reread["ok"], true, "{reread}");
    scene.provider.hung_up().await;
    let second = scene.admin.job_ended(&second).await;
    assert_eq!((&second["state"], &second["code"]), (&json!("cancelled"), &json!("exists")), "{second}");
    assert_eq!(second["attempts"][0]["message"], "A build was brought in meanwhile.");
    assert_eq!(scene.admin.get("/api/admin/jobs/unread").await.json(), json!({ "jobs": [] }));
}

#[tokio::test]
async fn a_piece_that_is_stored_twice_is_there_once_and_the_last_one_comes_after_cancelling() {
    let scene = Scene::asleep().await;
    let id = scene.admin.want("shed", "tester").await;
    let pool = &scene.db.pool;
    let routes = [ModelRoute { model: "tester".parse().unwrap(), provider: "somebody".to_owned() }];
    let claim = claims::claim(pool, &routes, 4, Duration::from_secs(30)).await.unwrap().unwrap();
    let attempt = attempts::begin(pool, &claim.lease).await.unwrap();
    let progress =
        |offset, text: &str| AnswerProgress { attempt, offset, text: text.to_owned(), chars: 0, note: None };
    for piece in [progress(0, "{ "), progress(0, "{ "), progress(0, "{ \"box"), progress(6, "es")] {
        claim.lease.renew(pool, Duration::from_secs(30), &piece).await.unwrap();
    }
    assert_eq!(scene.admin.delete(&format!("/api/admin/jobs/{id}")).await.status, 204);
    for piece in [progress(8, "\": ["), progress(8, "\": ["), progress(2, "lost")] {
        attempts::append_to_cancelled(pool, claim.lease.job, &piece).await.unwrap();
    }

    let answer = scene.admin.get(&format!("/api/admin/jobs/{id}/attempts/1")).await.text();
    assert_eq!(answer, "{ \"boxes\": [");
}

#[tokio::test]
async fn a_prompt_keeps_its_text_from_the_first_time_that_somebody_is_asked() {
    let scene = Scene::asleep().await;
    scene.admin.want("shed", "tester").await;
    let change = json!({ "text": "a palace" });
    let refused = scene.admin.json(reqwest::Method::PATCH, "/api/admin/prompts/shed", &change).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "text_is_fixed"));
}

#[tokio::test]
async fn what_was_spent_is_kept_in_step_with_the_attempts() {
    let db = TestDb::seeded().await;
    db.run(
        "INSERT INTO jobs (id, prompt_id, model_key, grid_size, palette, mode, state, ended_at)
         SELECT gen_random_uuid(), prompt_id, model_key, 32, 'simple', 'precise', 'cancelled', now() FROM builds",
    )
    .await;
    let in_step = async || {
        let summed: (i64, i64) = sqlx::query_as(
            "SELECT coalesce(sum(cost), 0)::bigint, count(*) FILTER (WHERE cost IS NULL AND ended_at IS NOT NULL)
             FROM attempts",
        )
        .fetch_one(&db.pool)
        .await
        .unwrap();
        assert_eq!(jobs::total_spent(&db.pool).await.unwrap(), summed);
        summed
    };
    let jobs = "(SELECT id FROM jobs ORDER BY prompt_id, model_key LIMIT 4)";
    assert_eq!(in_step().await, (0, 0));
    for (step, expected) in [
        ("INSERT INTO attempts (job_id, number) SELECT id, 1 FROM jobs".to_owned(), (0, 0)),
        (format!("UPDATE attempts SET cost = 7 WHERE job_id IN {jobs}"), (28, 0)),
        (format!("UPDATE attempts SET cost = 9 WHERE job_id IN {jobs}"), (36, 0)),
        (
            "UPDATE attempts SET ended_at = now(), outcome = 'cancelled', code = 'cancelled'".to_owned(),
            (36, 6),
        ),
        ("UPDATE attempts SET cost = 100 WHERE cost IS NULL".to_owned(), (636, 0)),
        (
            "BEGIN; UPDATE attempts SET cost = NULL; UPDATE attempts SET cost = 1; ROLLBACK".to_owned(),
            (636, 0),
        ),
        ("BEGIN; UPDATE attempts SET cost = NULL; UPDATE attempts SET cost = 1; COMMIT".to_owned(), (10, 0)),
        (format!("DELETE FROM attempts WHERE job_id IN {jobs}"), (6, 0)),
    ] {
        db.run(&step).await;
        assert_eq!(in_step().await, expected, "{step}");
    }
    buildoff::db::empty(&db.pool).await.unwrap();
    assert_eq!(in_step().await, (0, 0));
}
