//! How a model is asked does not change while it has builds. Models are changed field by field, and deleted.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use buildoff::arena::budgets::SpendingLimits;
use buildoff::arena::jobs::attempts::{self, Attempt, Billing, Outcome, SentOptions, Usage};
use buildoff::arena::jobs::claims::{self, ModelRoute};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::generations::build;
use super::{JobsFixture, TESTER, as_build, full_answer, partial_answer, request_setup};
use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::fake_protocol::MODEL;
use crate::support::voter::TestResponse;
use crate::support::{
    FakeBodyStep, FakePart, FakeProtocol, FakeProvider, TestAdmin, TestCatalog, TestServer,
    TestServerProcess, sample_spec,
};

fn change_effort(effort: &str) -> Value {
    json!({ "options": { "effort": effort } })
}

/// Changes the model, whatever it takes.
async fn force(admin: &TestAdmin, change: &Value) -> TestResponse {
    admin.json(Method::PATCH, &format!("{TESTER}?retireBuilds=1"), change).await
}

/// A fixture whose model has a generated build, and the id of the build.
async fn with_build() -> (JobsFixture, Value) {
    let fixture = JobsFixture::with_responses((3..9).map(|storeys| full_answer(&sample_spec(storeys)))).await;
    let job = fixture.run_job().await;
    assert_eq!(job["state"], "ready", "{job}");
    (fixture, job["buildId"].clone())
}

#[tokio::test]
async fn how_a_model_is_asked_is_fixed_while_it_has_builds_in_force() {
    let (fixture, build) = with_build().await;
    let via = json!({ "via": { "nearby": "m" } });
    assert_eq!(fixture.admin.json(Method::PATCH, TESTER, &via).await.status, 200, "nobody was asked there");
    let changes = [
        change_effort("low"),
        json!({ "modelId": "another" }),
        json!({ "provider": "nearby" }),
        json!({ "via": { "nearby": "another" } }),
    ];
    for change in changes {
        let refused = fixture.admin.json(Method::PATCH, TESTER, &change).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "model_is_fixed"), "{change}");
        assert!(refused.text().contains("another key"), "{}", refused.text());
    }
    let whole = json!({ "provider": "nearby", "modelId": MODEL, "displayName": "T" });
    assert_eq!(fixture.admin.json(Method::PUT, TESTER, &whole).await.code(), "model_is_fixed");
    // What does not change how it is asked can be changed.
    let allowed = json!({
        "about": "A model.", "prices": null, "via": { "nearby": "m", "else": "n" }, "options": { "efforts": ["low", "high"] },
        "vision": true,
    });
    let changed = fixture.admin.json(Method::PATCH, TESTER, &allowed).await;
    assert_eq!((changed.status, &changed.json()["prices"]), (200, &Value::Null), "{}", changed.text());
    let retired = format!("/api/admin/builds/{}", build.as_str().unwrap());
    assert_eq!(fixture.admin.delete(&retired).await.status, 204);
    assert_eq!(fixture.admin.json(Method::PATCH, TESTER, &change_effort("low")).await.status, 200);
}

#[tokio::test]
async fn an_id_at_another_provider_cannot_be_changed_by_removing_it_first() {
    let (fixture, _) = with_build().await;
    // The build was asked for there.
    fixture.db.run("UPDATE generations SET provider = 'nearby', model_id = 'm'").await;
    let via =
        async |ids: Value| fixture.admin.json(Method::PATCH, TESTER, &json!({ "via": ids })).await.status;
    assert_eq!(via(json!({ "nearby": "m" })).await, 200);
    assert_eq!(via(json!({})).await, 200);
    assert_eq!(via(json!({ "nearby": "another" })).await, 409);
    assert_eq!(via(json!({ "nearby": "m" })).await, 200);
}

#[tokio::test]
async fn a_forced_change_retires_the_builds_and_the_next_ones_are_asked_for_anew() {
    let (fixture, first) = with_build().await;
    let forced = force(&fixture.admin, &change_effort("low")).await;
    assert_eq!((forced.status, &forced.json()["builds"]), (200, &json!(0)), "{}", forced.text());
    assert!(build(&fixture.server, &first).await["retiredAt"].is_string());
    let second = fixture.run_job().await["buildId"].clone();
    assert_eq!(build(&fixture.server, &second).await["generation"]["options"]["effort"], "low");
    assert_eq!(build(&fixture.server, &first).await["generation"]["options"]["effort"], Value::Null);
    let entry = fixture
        .db
        .number("SELECT (detail->>'retiredBuilds')::bigint FROM audit ORDER BY id DESC OFFSET 1 LIMIT 1");
    assert_eq!(entry.await, 1);
}

#[tokio::test]
async fn a_model_that_is_being_asked_is_fixed_too_and_a_forced_change_cancels_the_job() {
    let begun = partial_answer("{").then(FakeBodyStep::Stall);
    let fixture = JobsFixture::with_responses([begun, full_answer(&sample_spec(4))]).await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    fixture.wait_for_requests(1).await;
    assert_eq!(
        fixture.admin.json(Method::PATCH, TESTER, &change_effort("low")).await.code(),
        "model_is_fixed"
    );
    let forced = force(&fixture.admin, &change_effort("low")).await;
    assert_eq!(forced.status, 200, "{}", forced.text());
    let ended = fixture.admin.wait_for_job_end(&job).await;
    assert_eq!((&ended["state"], &ended["code"]), (&json!("cancelled"), &json!("model_changed")), "{ended}");
    let seeded = fixture.admin.post("/api/admin/seed?dryRun=1", "").await.json();
    assert_eq!(seeded["next"].as_array().unwrap().len(), 1, "seeding asks again: {seeded}");
}

#[tokio::test(flavor = "multi_thread")]
async fn seeding_keeps_how_a_model_with_builds_is_asked_and_the_start_warns_of_it() {
    let (fixture, _) = with_build().await;
    let catalog = TestCatalog::new(&fixture.provider, &["tester", "other"], &["shed"]);
    let variables = catalog.variables(&[]);
    let warning = "models.toml asks this model differently";
    let mut unchanged = TestServerProcess::start(&fixture.db, &variables);
    unchanged.kill();
    assert!(!unchanged.log().contains(warning), "{}", unchanged.log());

    let (_, folder) = variables.iter().find(|(name, _)| *name == "DATA_DIR").unwrap();
    let file = Path::new(folder).join("models.toml");
    let newer = "modelId = \"newer\"\nabout = \"Newer.\"";
    let text = fs::read_to_string(&file).unwrap().replace(&format!("modelId = \"{MODEL}\""), newer);
    fs::write(&file, text).unwrap();
    let mut changed = TestServerProcess::start(&fixture.db, &variables);
    let seeded = TestAdmin::new(&changed.url).post("/api/admin/seed?generateBuilds=0", "").await;
    assert_eq!(seeded.status, 200, "{}", seeded.text());
    changed.kill();
    let warnings: Vec<_> =
        changed.log().lines().filter(|line| line.contains(warning)).map(str::to_owned).collect();
    assert!(warnings.len() == 1 && warnings[0].contains("\"tester\""), "{}", changed.log());
    let models = fixture.admin.get("/api/admin/models").await.json();
    let models = models["models"].as_array().unwrap().iter();
    let stored: Vec<_> = models.map(|model| (model["modelId"].as_str(), model["about"].as_str())).collect();
    assert_eq!(stored, [(Some("newer"), Some("Newer.")), (Some(MODEL), Some("Newer."))]);
}

#[tokio::test]
async fn a_model_is_deleted_unless_it_has_builds_or_jobs() {
    let (fixture, build) = with_build().await;
    let refused = fixture.admin.delete(TESTER).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "model_in_use"));
    fixture.admin.delete(&format!("/api/admin/builds/{}", build.as_str().unwrap())).await;
    assert_eq!(
        fixture.admin.delete(TESTER).await.code(),
        "model_in_use",
        "votes may refer to retired builds"
    );
    let spare = "/api/admin/models/spare";
    let model = json!({ "provider": "somebody", "modelId": "m", "displayName": "Spare" });
    assert_eq!(fixture.admin.json(Method::PUT, spare, &model).await.status, 201);
    assert_eq!(fixture.admin.delete(spare).await.status, 204);
    assert_eq!(fixture.admin.delete(spare).await.code(), "no_model");
}

#[tokio::test]
async fn a_job_that_has_begun_is_not_continued_after_its_model_was_changed() {
    let fixture = JobsFixture::without_worker().await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    let changed = fixture.admin.json(Method::PATCH, TESTER, &change_effort("high")).await;
    assert_eq!(changed.status, 200, "nobody was asked yet: {}", changed.text());
    let routes = [ModelRoute { model: "tester".parse().unwrap(), provider: "somebody".to_owned() }];
    let pool = &fixture.db.pool;
    let claimed =
        claims::claim(pool, &routes, 4, &SpendingLimits::default(), Duration::from_secs(30)).await.unwrap();
    let claim = as_build(claimed.unwrap());
    attempts::begin(pool, &claim.claim.lease, &request_setup()).await.unwrap();
    let refused = Attempt {
        outcome: Outcome::Refused,
        code: Some("no_blocks"),
        message: None,
        answer: "a first answer".into(),
        answer_time: Duration::from_millis(1),
        usage: Usage::default(),
        billing: Billing::Reported,
        sent: SentOptions::default(),
        notes: json!([]),
    };
    attempts::end(pool, &claim.claim.lease, &refused, None, None).await.unwrap();
    claim.claim.lease.release(pool).await.unwrap();
    assert_eq!(fixture.admin.job(&job).await["state"], "queued");

    assert_eq!(
        fixture.admin.json(Method::PATCH, TESTER, &change_effort("low")).await.code(),
        "model_is_fixed"
    );
    assert_eq!(force(&fixture.admin, &change_effort("low")).await.status, 200);
    let ended = fixture.admin.job(&job).await;
    assert_eq!((&ended["state"], &ended["code"]), (&json!("cancelled"), &json!("model_changed")), "{ended}");
}

#[tokio::test]
async fn a_build_in_an_answer_that_was_asked_for_differently_is_not_stored() {
    let fixture = JobsFixture::with_responses((0..3).map(|_| full_answer("nothing"))).await;
    let job = fixture.run_job().await;
    assert_eq!(job["state"], "failed");
    let answer = format!("UPDATE attempts SET answer = convert_to('{}', 'UTF8')", sample_spec(4));
    fixture.db.run(&answer).await;
    assert_eq!(fixture.admin.json(Method::PATCH, TESTER, &change_effort("low")).await.status, 200);
    let reparse = format!("/api/admin/jobs/{}/reparse", job["id"].as_str().unwrap());
    let reread = fixture.admin.post(&reparse, "").await.json();
    let problem = "This answer holds a build, but the model is asked differently now.";
    assert_eq!((&reread["ok"], &reread["error"]), (&json!(false), &json!(problem)), "{reread}");
    let back = json!({ "options": {} });
    assert_eq!(fixture.admin.json(Method::PATCH, TESTER, &back).await.status, 200);
    assert_eq!(fixture.admin.post(&reparse, "").await.json()["ok"], true);
}

#[tokio::test]
async fn a_change_over_one_server_discards_what_another_server_is_being_answered() {
    let release = Arc::new(Notify::new());
    let rest = FakeProtocol::Compatible.stream(&[FakePart::Text(&sample_spec(4)), FakePart::Done]);
    let slow = partial_answer(" ").then(FakeBodyStep::WaitFor(Arc::clone(&release))).send(rest);
    let provider =
        FakeProvider::with_responses(FakeProtocol::Compatible, [slow, full_answer(&sample_spec(5))]).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
    let db = TestDb::new().await;
    let other = TestServer::start_with_env(db.pool.clone(), &catalog.variables(&[])).await;
    let working = TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[])).await;
    let fixture = JobsFixture::from_parts(db, provider, working).await;
    let first = fixture.admin.enqueue("shed", "tester").await;
    fixture.wait_for_requests(1).await;
    assert_eq!(force(&other.admin(), &change_effort("low")).await.status, 200);
    release.notify_one();
    assert_eq!(fixture.admin.wait_for_job_end(&first).await["code"], "model_changed");

    let second = fixture.run_job().await;
    assert_eq!(second["state"], "ready", "{second}");
    assert_eq!(fixture.db.number("SELECT count(*) FROM builds").await, 1, "the first answer is no build");
    let requests = fixture.provider.requests();
    let efforts: Vec<_> = requests.iter().map(|request| &request.body["reasoning_effort"]).collect();
    assert_eq!(efforts, [&Value::Null, &json!("low")]);
}

#[tokio::test]
async fn whatever_runs_meanwhile_no_build_in_force_was_asked_for_with_other_options() {
    let provider =
        FakeProvider::with_handler(FakeProtocol::Compatible, |_| full_answer(&sample_spec(4))).await;
    let prompts: Vec<_> = (0..12).map(|number| format!("prompt-{number}")).collect();
    let prompts: Vec<_> = prompts.iter().map(String::as_str).collect();
    let catalog = TestCatalog::new(&provider, &["tester"], &prompts);
    let db = TestDb::new().await;
    let one = TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[])).await;
    let other = TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[])).await;
    let differing =
        "SELECT count(*) FROM builds JOIN generations ON build_id = id JOIN models ON key = model_key
        WHERE retired_at IS NULL
          AND generations.options->>'effort' IS DISTINCT FROM models.options->>'effort'";
    for round in 0..8 {
        let (seeding, changing) = if round % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let effort = change_effort(["low", "high"][round % 2]);
        let (admin, seeder) = (changing.admin(), seeding.admin());
        assert_eq!(seeder.post("/api/admin/seed?background=1", "").await.status, 200);
        // The change comes while some builds are stored, some are being asked for, and some are queued.
        db.wait_until("count(*) >= 3 FROM builds WHERE retired_at IS NULL").await;
        assert_eq!(force(&admin, &effort).await.status, 200);
        assert_eq!(db.number(differing).await, 0, "round {round}");
    }
    let mut done = json!(null);
    while done["done"] != true {
        done = one.admin().post("/api/admin/seed?batchSize=3", "").await.json();
    }
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE retired_at IS NULL").await, 12);
    assert_eq!(db.number(differing).await, 0);
}

#[tokio::test]
async fn every_field_of_a_model_can_be_changed_alone() {
    let fixture = JobsFixture::without_worker().await;
    let mut expected = fixture.admin.get("/api/admin/models").await.json()["models"][0].clone();
    for (field, value) in [
        ("displayName", json!("The Tester")),
        ("about", json!("It tests.")),
        ("vision", json!(true)),
        ("enabled", json!(false)),
        ("modelId", json!("m-2")),
        ("via", json!({ "nearby": "n" })),
        ("prices", json!({ "input": 3.0, "cachedInput": 0.5, "output": 4.0 })),
        ("prices", Value::Null),
        ("options", json!({ "effort": "low", "temperature": 0.5, "maxOutputTokens": 9000 })),
    ] {
        expected[field] = value.clone();
        let changed = fixture.admin.json(Method::PATCH, TESTER, &json!({ field: value })).await;
        assert_eq!((changed.status, changed.json()), (200, expected.clone()), "{field}");
    }
    for (change, status) in [
        (json!({ "options": { "temperature": 9.0 } }), 400),
        (json!({ "provider": "Some Body" }), 400),
        (json!({ "via": { "nearby": "" } }), 400),
        (json!({ "colour": "red" }), 422),
    ] {
        assert_eq!(fixture.admin.json(Method::PATCH, TESTER, &change).await.status, status, "{change}");
    }
    assert_eq!(fixture.admin.get("/api/admin/models").await.json()["models"][0], expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_change_and_delete_models() {
    let (fixture, _) = with_build().await;
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_buildoff"));
        command
            .arg("models")
            .args(arguments)
            .args(["--server", &fixture.server.url])
            .env("ADMIN_TOKEN", TOKEN);
        let output = command.output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(printed).unwrap())
    };
    let add = [
        "add",
        "spare",
        "--provider",
        "somebody",
        "--id",
        "m",
        "--name",
        "Spare",
        "--input-price",
        "1",
        "--output-price",
        "2",
        "--via",
        "nearby=n",
        "--effort",
        "high",
    ];
    for (arguments, code, part) in [
        (&add[..], 0, "Spare"),
        (&["change", "spare", "--cached-price", "0.5", "--temperature", "0.5"], 0, "Spare"),
        (&["change", "spare"], 2, "nothing to change"),
        (&["change", "spare", "--via", "nearby"], 2, "PROVIDER=ID"),
        (&["change", "spare", "--temperature", "7"], 2, "from 0 to 2"),
        (&["change", "nobody", "--effort", "low"], 2, "nobody does not exist"),
        (&["change", "tester", "--effort", "low"], 2, "--retire-builds"),
        (&["change", "tester", "--output-price", "7"], 0, "1 builds"),
        (&["change", "tester", "--effort", "low", "--retire-builds"], 0, "0 builds"),
        (&["delete", "tester"], 2, "tester: This model has builds or jobs"),
    ] {
        let (ended, printed) = run(arguments);
        assert!(ended == code && printed.contains(part), "{arguments:?}: {ended} {printed}");
    }
    let models = fixture.admin.get("/api/admin/models").await.json();
    let models = models["models"].as_array().unwrap();
    let model = |key: &str| models.iter().find(|model| model["key"] == key).unwrap().clone();
    let spare = model("spare");
    assert_eq!(spare["prices"], json!({ "input": 1.0, "cachedInput": 0.5, "output": 2.0 }));
    assert_eq!(spare["options"], json!({ "effort": "high", "temperature": 0.5, "maxOutputTokens": null }));
    assert_eq!(spare["via"], json!({ "nearby": "n" }));
    assert_eq!(model("tester")["prices"], json!({ "input": 1.0, "output": 7.0 }));
    assert_eq!(run(&["change", "spare", "--default-options"]).0, 0);
    let (code, printed) = run(&["delete", "spare", "spare"]);
    assert!(
        code == 2 && printed.contains("spare is deleted") && printed.contains("does not exist"),
        "{printed}"
    );
}
