//! Jobs that end without a build: each fails by itself, with a readable error.

use std::time::Duration;

use buildoff::arena::budgets::SpendingLimits;
use buildoff::arena::jobs::attempts;
use buildoff::arena::jobs::claims::{self, ModelRoute};
use buildoff::arena::jobs::{self, AnswerProgress};
use serde_json::{Value, json};

use super::{JobsFixture, as_build, full_answer, outcomes, partial_answer, request_setup};
use crate::support::db::TestDb;
use crate::support::fake_provider::API_KEY;
use crate::support::{
    FakeBodyStep, FakePart, FakeProtocol, FakeProvider, FakeResponse, TestCatalog, TestServer, sample_spec,
};

#[tokio::test]
async fn every_provider_failure_ends_the_job_with_a_readable_error() {
    let error = |status, kind: &str, message: &str| {
        FakeResponse::json(status, &json!({ "error": { "message": message, "type": kind, "code": kind } }))
    };
    let cases: [(&str, Vec<FakeResponse>, &str); 6] = [
        ("no such model", vec![error(404, "model_not_found", "There is no such model")], "no_such_model"),
        (
            "a refusal",
            vec![FakeProtocol::Compatible.answer(&[FakePart::Refused("I would rather not.")])],
            "refused",
        ),
        (
            "a filter",
            vec![FakeProtocol::Compatible.answer(&[FakePart::Text("{"), FakePart::Filtered])],
            "filtered",
        ),
        (
            "an HTML page",
            vec![FakeResponse::new(200, "text/html").send("<html><h1>Sign in</h1></html>")],
            "bad_answer",
        ),
        (
            "nothing, three times",
            (0..3).map(|_| FakeProtocol::Compatible.answer(&[FakePart::Done])).collect(),
            "empty",
        ),
        ("rubbish, three times", (0..3).map(|_| full_answer("I built it in my mind.")).collect(), "bad_json"),
    ];
    for (case, responses, code) in cases {
        let fixture = JobsFixture::with_responses(responses).await;
        let job = fixture.run_job().await;
        assert_eq!((&job["state"], &job["code"]), (&json!("failed"), &json!(code)), "{case}: {job}");
        assert!(job["error"].as_str().is_some_and(|message| message.len() > 10), "{case}: {job}");
        assert_eq!(fixture.db.number("SELECT count(*) FROM builds").await, 0, "{case}");
        assert_eq!(
            fixture.db.number("SELECT count(*) FROM attempts WHERE ended_at IS NULL").await,
            0,
            "{case}"
        );
    }
}

#[tokio::test]
async fn cancelling_ends_the_provider_request_and_keeps_the_partial_answer() {
    let begun =
        FakeProtocol::Compatible.stream(&[FakePart::HiddenThinking, FakePart::Text("{ \"boxes\": [")]);
    let fixture = JobsFixture::with_responses([
        FakeResponse::stream().send(begun).then(FakeBodyStep::Stall),
        full_answer(&sample_spec(4)),
    ])
    .await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    // The partial answer is stored with the next heartbeat.
    fixture.admin.wait_for_job(&job, |job| job["attempts"][0]["tokensOut"] == 50).await;

    let cancelled = fixture.admin.delete(&format!("/api/admin/jobs/{job}")).await;
    assert_eq!(cancelled.status, 204);
    fixture.provider.wait_for_disconnect().await;

    let job_now = fixture.admin.job(&job).await;
    assert_eq!((&job_now["state"], outcomes(&job_now)), (&json!("cancelled"), vec!["cancelled"]));
    assert!(
        job_now["cost"].as_f64().is_some_and(|cost| cost > 0.0),
        "the tokens used must be counted: {job_now}"
    );
    let answer = fixture.admin.get(job_now["attempts"][0]["answerUrl"].as_str().unwrap()).await;
    assert_eq!(answer.text(), "{ \"boxes\": [");
    assert_eq!(fixture.admin.delete(&format!("/api/admin/jobs/{job}")).await.status, 409);

    // Seeding does not retry the cancelled job; an admin can.
    let seeded = fixture.admin.post("/api/admin/seed", "").await.json();
    assert_eq!((&seeded["done"], &seeded["remainingBuilds"]), (&json!(true), &json!(1)), "{seeded}");
    assert_eq!(fixture.run_job().await["state"], "ready");
}

#[tokio::test]
async fn all_queued_and_running_jobs_can_be_cancelled_at_once() {
    let provider = FakeProvider::with_handler(FakeProtocol::Compatible, |_| {
        partial_answer(" ").then(FakeBodyStep::Stall)
    })
    .await;
    let catalog = TestCatalog::new(&provider, &["one", "two"], &["shed", "barn"]);
    let db = TestDb::new().await;
    let server =
        TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[("AI_AT_ONCE", "2")])).await;
    let fixture = JobsFixture::from_parts(db, provider, server).await;
    fixture.admin.post("/api/admin/seed?background=1", "").await;
    let running = "SELECT count(*) FROM attempts WHERE ended_at IS NULL";
    while fixture.db.number(running).await < 2 {}

    let reply = fixture.admin.delete("/api/admin/jobs").await.json();

    assert_eq!(reply, json!({ "ok": true, "cancelled": 4 }));
    for _ in 0..2 {
        fixture.provider.wait_for_disconnect().await;
    }
    assert_eq!(fixture.db.number(running).await, 0);
    let seeded = fixture.admin.post("/api/admin/seed", "").await.json();
    assert_eq!(
        (&seeded["done"], &seeded["jobs"]),
        (&json!(true), &json!([])),
        "no further request may be sent without an admin"
    );
    let reply = fixture.admin.delete("/api/admin/jobs").await.json();
    assert_eq!(reply["cancelled"], 0);
    assert_eq!(fixture.db.number("SELECT count(*) FROM audit WHERE action = 'cancel'").await, 1);
}

#[tokio::test]
async fn a_failed_job_is_retried_only_by_an_admin() {
    let fixture =
        JobsFixture::with_responses((0..3).map(|_| full_answer("no")).chain([full_answer(&sample_spec(5))]))
            .await;
    let seed = async |query: &str| fixture.admin.post(&format!("/api/admin/seed{query}"), "").await.json();
    let first = seed("").await;
    assert_eq!(
        (&first["jobs"][0]["state"], &first["failedBuilds"]),
        (&json!("failed"), &json!(1)),
        "{first}"
    );
    assert_eq!(first["jobs"][0]["attempts"], 3);
    assert_eq!(first["done"], true, "no job must be left to run: {first}");
    assert_eq!(seed("").await["jobs"], json!([]));
    let again = seed("?retryFailed=1").await;
    assert_eq!((&again["jobs"][0]["state"], &again["failedBuilds"]), (&json!("ready"), &json!(0)), "{again}");
}

#[tokio::test]
async fn a_retry_of_failed_builds_continues_until_all_were_retried() {
    let provider = FakeProvider::with_handler(FakeProtocol::Compatible, |request| {
        if request.body.to_string().contains("it fails") {
            full_answer("no")
        } else {
            full_answer(&sample_spec(4))
        }
    })
    .await;
    let catalog = TestCatalog::new(&provider, &["one", "two", "three", "four"], &["shed"]);
    let db = TestDb::new().await;
    let server =
        TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[("AI_ATTEMPTS", "1")])).await;
    let fixture = JobsFixture::from_parts(db, provider, server).await;
    fixture.db.run("UPDATE prompts SET text = 'it fails', edited_at = now()").await;
    let seed = async |query: &str| fixture.admin.post(&format!("/api/admin/seed{query}"), "").await.json();
    while seed("").await["done"] != true {}
    assert_eq!(fixture.db.number("SELECT count(*) FROM jobs WHERE state = 'failed'").await, 4);
    fixture.db.run("UPDATE prompts SET text = 'it works'").await;

    let dry = seed("?dryRun=1&retryFailed=1").await;
    assert_eq!((dry["next"].as_array().unwrap().len(), &dry["done"]), (4, &json!(false)), "{dry}");
    assert_eq!(seed("").await["done"], true, "a dry run must not mark failed builds for a retry");
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
async fn a_better_parser_finds_builds_in_stored_answers() {
    let fixture = JobsFixture::with_responses((0..3).map(|_| full_answer("not yet"))).await;
    let job = fixture.run_job().await;
    let path = format!("/api/admin/jobs/{}/reparse", job["id"].as_str().unwrap());
    let reread = fixture.admin.post(&path, "").await.json();
    assert_eq!((&reread["ok"], reread["error"].is_string()), (&json!(false), true), "{reread}");

    // Stands for an answer that an older parser rejected and the current one accepts.
    let learned =
        format!("UPDATE attempts SET answer = convert_to('{}', 'UTF8') WHERE number = 2", sample_spec(6));
    fixture.db.run(&learned).await;
    let reread = fixture.admin.post(&path, "").await.json();
    assert_eq!((&reread["ok"], &reread["attempt"]), (&json!(true), &json!(2)), "{reread}");
    let now = fixture.admin.job(job["id"].as_str().unwrap()).await;
    assert_eq!((&now["state"], &now["buildId"]), (&json!("ready"), &reread["buildId"]));
    assert_eq!(fixture.admin.post(&path, "").await.code(), "nothing_to_read");
    assert_eq!(fixture.provider.requests().len(), 3, "no further request may be sent");
}

#[tokio::test]
async fn an_imported_build_is_no_longer_generated() {
    let fixture = JobsFixture::with_responses([partial_answer(" ").then(FakeBodyStep::Stall)]).await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    fixture.wait_for_requests(1).await;
    let import = "/api/admin/import-build?modelKey=tester&promptId=shed";
    assert_eq!(fixture.admin.post(import, sample_spec(7)).await.status, 200);
    fixture.provider.wait_for_disconnect().await;
    let ended = fixture.admin.wait_for_job_end(&job).await;
    assert_eq!((&ended["state"], &ended["code"]), (&json!("cancelled"), &json!("exists")), "{ended}");
    assert_eq!(outcomes(&ended), ["cancelled"]);
    assert_eq!(fixture.db.number("SELECT count(*) FROM builds").await, 1);
}

#[tokio::test]
async fn a_providers_key_reaches_no_table_and_no_answer() {
    let repeats = json!({ "error": { "message": format!("Incorrect API key provided: {API_KEY}"), "code": "invalid_api_key" } });
    let fixture = JobsFixture::with_responses([FakeResponse::json(401, &repeats)]).await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    let job = fixture.admin.wait_for_job(&job, |job| job["attempts"][0]["code"] == "bad_key").await;
    assert!(!job.to_string().contains(API_KEY), "{job}");
    while fixture.db.number("SELECT count(*) FROM provider_pauses").await == 0 {}
    let status = fixture.admin.get("/api/admin/status").await.json();
    assert!(!status.to_string().contains(API_KEY), "{status}");
    let stored = fixture.db.dump().await;
    assert!(stored.contains("bad_key") && !stored.contains(API_KEY));
    let Value::Array(entries) = fixture.admin.get("/api/admin/audit").await.json()["entries"].take() else {
        panic!("no entries")
    };
    assert!(!entries.is_empty());
}

#[tokio::test]
async fn an_answer_with_null_characters_is_stored_with_replacements() {
    let odd = sample_spec(4)
        .replace("\"boxes\"", "\"blocks\":[{\"x\":1,\"y\":1,\"z\":1,\"type\":\"a\\u0000b\"}],\"boxes\"");
    let fixture =
        JobsFixture::with_responses([full_answer("{\"boxes\": [{\"x1\": \"\\u0000\"}]}"), full_answer(&odd)])
            .await;
    let job = fixture.run_job().await;
    assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), vec!["refused", "accepted"]), "{job}");
    let build = fixture.server.get(&format!("/api/builds/{}", job["buildId"].as_str().unwrap()));
    let build: Value = build.send().await.unwrap().json().await.unwrap();
    assert_eq!(build["warnings"][0]["type"], "a\u{fffd}b", "{build}");
}

#[tokio::test]
async fn disabling_a_model_cancels_its_queued_jobs() {
    let fixture = JobsFixture::without_worker().await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    let off = json!({ "enabled": false });
    fixture.admin.json(reqwest::Method::PATCH, "/api/admin/models/tester", &off).await;
    let job = fixture.admin.job(&job).await;
    assert_eq!((&job["state"], &job["code"]), (&json!("cancelled"), &json!("switched_off")), "{job}");

    // An admin can still enqueue it for the disabled model, and it counts as a job like any other.
    let again = fixture.admin.enqueue("shed", "tester").await;
    let coverage = fixture.admin.get("/api/admin/coverage").await.json();
    assert_eq!((&coverage["sum"]["underWay"], &coverage["sum"]["expected"]), (&json!(1), &json!(0)));
    let metrics = fixture.admin.get("/metrics").await.text();
    let states: Vec<_> = metrics.lines().filter(|line| line.starts_with("buildoff_jobs{")).collect();
    assert_eq!(states, ["buildoff_jobs{state=\"queued\"} 1"], "only the latest job of a slot counts");
    fixture.admin.json(reqwest::Method::PATCH, "/api/admin/models/tester", &off).await;
    assert_eq!(fixture.admin.job(&again).await["code"], "switched_off");

    // The job was cancelled only because its model was disabled, so seeding enqueues it again.
    let on = json!({ "enabled": true });
    fixture.admin.json(reqwest::Method::PATCH, "/api/admin/models/tester", &on).await;
    let dry = fixture.admin.post("/api/admin/seed?dryRun=1", "").await.json();
    assert_eq!((&dry["done"], dry["next"].as_array().unwrap().len()), (&json!(false), 1), "{dry}");
}

#[tokio::test]
async fn an_older_answer_that_is_a_build_ends_the_job() {
    let learned =
        format!("UPDATE attempts SET answer = convert_to('{}', 'UTF8') WHERE number = 1", sample_spec(6));
    let responses =
        (0..3).map(|_| full_answer("not yet")).chain([partial_answer(" ").then(FakeBodyStep::Stall)]);
    let fixture = JobsFixture::with_responses(responses).await;
    let first = fixture.run_job().await["id"].as_str().unwrap().to_owned();
    let second = fixture.admin.enqueue("shed", "tester").await;
    fixture.wait_for_requests(4).await;
    fixture.db.run(&learned).await;

    let unread = fixture.admin.get("/api/admin/jobs/unread").await.json();
    let listed = json!({ "jobs": [{ "id": first, "promptId": "shed", "modelKey": "tester" }] });
    assert_eq!(unread, listed, "the answers of a running job must not be parsed again");
    let reread = fixture.admin.post(&format!("/api/admin/jobs/{first}/reparse"), "").await.json();

    assert_eq!(reread["ok"], true, "{reread}");
    fixture.provider.wait_for_disconnect().await;
    let second = fixture.admin.wait_for_job_end(&second).await;
    assert_eq!((&second["state"], &second["code"]), (&json!("cancelled"), &json!("exists")), "{second}");
    assert_eq!(second["attempts"][0]["message"], "A build was imported in the meantime.");
    assert_eq!(fixture.admin.get("/api/admin/jobs/unread").await.json(), json!({ "jobs": [] }));
}

#[tokio::test]
async fn a_segment_stored_twice_is_kept_once_and_the_last_one_may_follow_cancelling() {
    let fixture = JobsFixture::without_worker().await;
    let id = fixture.admin.enqueue("shed", "tester").await;
    let pool = &fixture.db.pool;
    let routes = [ModelRoute { model: "tester".parse().unwrap(), provider: "somebody".to_owned() }];
    let claim = as_build(
        claims::claim(pool, &routes, 4, &SpendingLimits::default(), Duration::from_secs(30))
            .await
            .unwrap()
            .unwrap(),
    );
    let attempt = attempts::begin(pool, &claim.claim.lease, &request_setup()).await.unwrap();
    let progress = |offset, text: &str| AnswerProgress {
        attempt,
        offset,
        text: text.to_owned(),
        ..AnswerProgress::default()
    };
    for piece in [progress(0, "{ "), progress(0, "{ "), progress(0, "{ \"box"), progress(6, "es")] {
        claim.claim.lease.renew(pool, Duration::from_secs(30), &piece).await.unwrap();
    }
    assert_eq!(fixture.admin.delete(&format!("/api/admin/jobs/{id}")).await.status, 204);
    for piece in [progress(8, "\": ["), progress(8, "\": ["), progress(2, "lost")] {
        attempts::append_to_cancelled(pool, claim.claim.lease.job, &piece).await.unwrap();
    }

    let answer = fixture.admin.get(&format!("/api/admin/jobs/{id}/attempts/1")).await.text();
    assert_eq!(answer, "{ \"boxes\": [");
}

#[tokio::test]
async fn a_prompts_text_is_fixed_from_the_first_request_on() {
    let fixture = JobsFixture::without_worker().await;
    fixture.admin.enqueue("shed", "tester").await;
    let change = json!({ "text": "a palace" });
    let refused = fixture.admin.json(reqwest::Method::PATCH, "/api/admin/prompts/shed", &change).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "text_is_fixed"));
}

#[tokio::test]
async fn the_spend_is_the_sum_of_the_attempts() {
    let db = TestDb::seeded().await;
    db.run(
        "INSERT INTO jobs (id, kind, model_key, subject, state, ended_at)
         SELECT gen_random_uuid(), 'build', model_key, prompt_id || '@' || settings, 'cancelled', now() FROM builds;
         INSERT INTO build_jobs (job_id, prompt_id, settings)
         SELECT id, split_part(subject, '@', 1), split_part(subject, '@', 2) FROM jobs",
    )
    .await;
    let in_step = async || {
        let summed: (i64, i64) = sqlx::query_as(
            "SELECT coalesce(sum(cost), 0)::bigint, count(*) FILTER (
                 WHERE (cost IS NULL OR cost_is_minimum) AND ended_at IS NOT NULL)
             FROM attempts",
        )
        .fetch_one(&db.pool)
        .await
        .unwrap();
        assert_eq!(jobs::total_spent(&db.pool).await.unwrap(), summed);
        summed
    };
    let jobs = "(SELECT id FROM jobs ORDER BY subject, model_key LIMIT 4)";
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
        (format!("UPDATE attempts SET cost_is_minimum = true WHERE job_id IN {jobs}"), (636, 4)),
        ("UPDATE attempts SET cost_is_minimum = false".to_owned(), (636, 0)),
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

#[tokio::test]
async fn a_job_is_ready_exactly_when_it_has_its_build() {
    let db = TestDb::seeded().await;
    let refused = async |rows: &str| {
        let job = "00000000-0000-0000-0000-000000000001";
        let sql = rows.replace("JOB", &format!("'{job}'"));
        let error = sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&db.pool).await.err();
        let constraint = error.as_ref().and_then(|error| error.as_database_error()?.constraint());
        assert_eq!(constraint, Some("build_job"), "{rows}: {error:?}");
    };
    let job = |state: &str| {
        format!(
            "INSERT INTO jobs (id, kind, model_key, subject, state, ended_at)
             SELECT JOB, 'build', model_key, 'arch@32-simple-precise', '{state}', now() FROM builds LIMIT 1"
        )
    };
    let row = |build: &str| {
        format!(
            "INSERT INTO build_jobs (job_id, prompt_id, settings, build_id)
             SELECT JOB, prompt_id, settings, {build} FROM builds LIMIT 1"
        )
    };
    refused(&job("failed")).await;
    refused(&format!("{}; {}", job("ready"), row("NULL"))).await;
    refused(&format!("{}; {}", job("failed"), row("id"))).await;
    assert_eq!(db.number("SELECT count(*) FROM jobs").await, 0);
}
