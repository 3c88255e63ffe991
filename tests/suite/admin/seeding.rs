//! Seeding, jobs, status and events, with a fake provider.

use std::process::Command;

use buildoff::db::TABLES;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::db::TestDb;
use crate::support::{
    FakePart, FakeProtocol, FakeProvider, TestAdmin, TestCatalog, TestServer, TestServerProcess, sample_spec,
};

pub(super) struct SeedingFixture {
    pub db: TestDb,
    pub server: TestServer,
    pub admin: TestAdmin,
    pub provider: FakeProvider,
    pub catalog: TestCatalog,
}

/// Two models that can generate, and two prompts.
pub(super) async fn seeding_fixture() -> SeedingFixture {
    let db = TestDb::new().await;
    let provider = FakeProvider::with_handler(FakeProtocol::Compatible, |_| {
        FakeProtocol::Compatible.answer(&[FakePart::Text(&sample_spec(4)), FakePart::Done])
    })
    .await;
    let catalog = TestCatalog::new(&provider, &["one", "two"], &["arch", "barn"]);
    let server = TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[])).await;
    let admin = server.admin();
    SeedingFixture { db, server, admin, provider, catalog }
}

fn numbers(seeded: &Value) -> [i64; 6] {
    ["promptCount", "modelCount", "totalExpectedBuilds", "existingBuilds", "remainingBuilds", "failedBuilds"]
        .map(|name| seeded[name].as_i64().unwrap_or_else(|| panic!("{name} in {seeded}")))
}

#[tokio::test]
async fn seeding_shows_its_plan_then_imports_the_catalog_and_generates_the_builds() {
    let fixture = seeding_fixture().await;
    let SeedingFixture { db, admin, provider, .. } = &fixture;
    let seed = async |query: &str| {
        let answer = admin.post(&format!("/api/admin/seed{query}"), "").await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        answer.json()
    };
    let before = db.dump().await;
    let dry = seed("?dryRun=1").await;
    assert_eq!((numbers(&dry), &dry["done"], &dry["jobs"]), ([2, 2, 4, 0, 4, 0], &json!(false), &json!([])));
    assert_eq!(dry["next"].as_array().unwrap().len(), 4);
    assert_eq!(
        dry["estimate"],
        json!({ "dollars": 0.136, "unknown": 0 }),
        "the estimate follows from prices and a typical answer"
    );
    let bare = seed("?dryRun=1&generateBuilds=0").await;
    assert_eq!(
        (numbers(&bare), &bare["next"]),
        ([2, 2, 4, 0, 4, 0], &Value::Null),
        "a dry run without builds must plan no jobs"
    );
    assert_eq!(db.dump().await, before, "a dry run writes nothing");

    let bare = seed("?generateBuilds=0").await;
    assert_eq!((numbers(&bare), &bare["jobs"]), ([2, 2, 4, 0, 4, 0], &json!([])));
    assert!(provider.requests().is_empty());

    let first = seed("").await;
    assert_eq!(
        (numbers(&first), &first["ok"], &first["done"]),
        ([2, 2, 4, 2, 2, 0], &json!(true), &json!(false))
    );
    for job in first["jobs"].as_array().unwrap() {
        assert_eq!(
            (&job["promptId"], &job["state"], &job["attempts"]),
            (&json!("arch"), &json!("ready"), &json!(1))
        );
        assert!(
            job["blockCount"].as_i64() > Some(1000)
                && job["ms"].as_i64() >= Some(0)
                && job["error"].is_null()
        );
    }
    let usual = &seed("?dryRun=1").await["estimate"]["dollars"];
    assert!(
        (0.0..0.01).contains(&usual.as_f64().unwrap()),
        "the estimate follows from the cost of earlier builds: {usual}"
    );
    let second = seed("?batchSize=1").await;
    assert_eq!((numbers(&second), second["jobs"].as_array().unwrap().len()), ([2, 2, 4, 3, 1, 0], 1));
    let third = seed("?batchSize=3").await;
    assert_eq!((numbers(&third), &third["done"]), ([2, 2, 4, 4, 0, 0], &json!(true)));
    let idle = seed("").await;
    assert_eq!((&idle["done"], &idle["jobs"]), (&json!(true), &json!([])));
    assert_eq!(provider.requests().len(), 4);
    for query in ["?batchSize=0", "?batchSize=4", "?batchSize=x", "?dryRun=maybe", "?surprise=1"] {
        let answer = admin.post(&format!("/api/admin/seed{query}"), "").await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "bad_request"), "{query}");
    }
}

#[tokio::test]
async fn only_active_prompts_and_enabled_models_that_can_generate_are_expected() {
    let fixture = seeding_fixture().await;
    let SeedingFixture { admin, .. } = &fixture;
    admin.post("/api/admin/seed?generateBuilds=0", "").await;
    let keyless = json!({ "provider": "nobody", "modelId": "x", "displayName": "X" });
    admin.json(Method::PUT, "/api/admin/models/keyless", &keyless).await;
    let dry = async || numbers(&admin.post("/api/admin/seed?dryRun=1", "").await.json());
    assert_eq!(dry().await, [2, 2, 4, 0, 4, 0]);
    admin.json(Method::PATCH, "/api/admin/models/two", &json!({ "enabled": false })).await;
    assert_eq!(dry().await, [2, 1, 2, 0, 2, 0]);
    admin.json(Method::PATCH, "/api/admin/prompts/barn", &json!({ "active": false })).await;
    assert_eq!(dry().await, [1, 1, 1, 0, 1, 0]);
}

#[tokio::test]
async fn a_dry_run_without_a_key_shows_the_catalog_it_would_import() {
    let db = TestDb::new().await;
    let server =
        TestServer::start_with_env(db.pool.clone(), &[("ADMIN_TOKEN", crate::support::admin::TOKEN)]).await;
    let dry = server.admin().post("/api/admin/seed?dryRun=1", "").await.json();
    assert_eq!((numbers(&dry), &dry["done"]), ([20, 0, 0, 0, 0, 0], &json!(true)), "{dry}");
}

#[tokio::test]
async fn seeding_in_the_background_does_not_wait() {
    let fixture = seeding_fixture().await;
    let SeedingFixture { admin, .. } = &fixture;
    let seeded = admin.post("/api/admin/seed?background=1", "").await.json();
    assert_eq!(seeded["jobs"].as_array().unwrap().len(), 4, "{seeded}");
    loop {
        let status = admin.get("/api/admin/status").await.json();
        if status["coverage"]["existing"] == 4 {
            break;
        }
    }
}

#[tokio::test]
async fn a_build_is_enqueued_once() {
    let fixture = seeding_fixture().await;
    let SeedingFixture { admin, .. } = &fixture;
    admin.post("/api/admin/seed?generateBuilds=0", "").await;
    let enqueue = async |prompt: &str, model: &str| {
        let request = json!({ "promptId": prompt, "modelKey": model });
        let answer = admin.json(Method::POST, "/api/admin/jobs", &request).await;
        (answer.status, answer.code())
    };
    let job = admin.enqueue("arch", "one").await;
    assert_eq!(admin.wait_for_job_end(&job).await["state"], "ready");
    assert_eq!(enqueue("arch", "one").await, (409, "exists".to_owned()));
    assert_eq!(enqueue("nowhere", "one").await, (404, "no_prompt".to_owned()));
    assert_eq!(enqueue("arch", "nobody").await, (404, "no_model".to_owned()));
    let keyless = json!({ "provider": "nobody", "modelId": "x", "displayName": "X" });
    admin.json(Method::PUT, "/api/admin/models/keyless", &keyless).await;
    assert_eq!(enqueue("arch", "keyless").await, (409, "no_key".to_owned()));
    for path in ["/api/admin/jobs/x", "/api/admin/jobs/00000000-0000-0000-0000-000000000000"] {
        assert_eq!(admin.get(path).await.code(), "no_job");
        assert_eq!(admin.delete(path).await.code(), "no_job");
    }
    let gone = admin.get(&format!("/api/admin/jobs/{job}/attempts/9")).await;
    assert_eq!((gone.status, gone.code().as_str()), (404, "not_found"));
}

#[tokio::test]
async fn the_status_has_counts_coverage_queue_and_available_models() {
    let fixture = seeding_fixture().await;
    let SeedingFixture { admin, .. } = &fixture;
    admin.post("/api/admin/seed", "").await;
    let status = admin.get("/api/admin/status").await.json();
    assert_eq!(status["settings"], json!({ "gridSize": 32, "palette": "simple", "mode": "precise" }));
    assert_eq!(
        status["counts"],
        json!({ "prompts": 2, "activePrompts": 2, "models": 2, "enabledModels": 2, "builds": 2,
                "retiredBuilds": 0, "matchups": 0, "votes": 0,
                "runningJudging": 0, "queuedJudging": 0 })
    );
    assert_eq!((&status["coverage"]["expected"], &status["coverage"]["existing"]), (&json!(4), &json!(2)));
    assert_eq!(status["queue"], json!([]));
    let provider = |key: &str| {
        status["providers"]
            .as_array()
            .unwrap()
            .iter()
            .find(|provider| provider["key"] == key)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (&provider("somebody")["hasKey"], &provider("openai")["hasKey"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(provider("openai")["keyVariable"], "OPENAI_API_KEY");
}

#[tokio::test]
async fn events_are_sent_as_changes_happen() {
    let fixture = seeding_fixture().await;
    let SeedingFixture { server, admin, .. } = &fixture;
    admin.post("/api/admin/seed?generateBuilds=0", "").await;
    let events =
        server.get("/api/admin/events").bearer_auth(crate::support::admin::TOKEN).send().await.unwrap();
    assert_eq!(events.headers()["content-type"], "text/event-stream");
    assert_eq!(events.headers()["x-accel-buffering"], "no");
    let mut events = events;
    let mut received = String::new();
    let job = admin.enqueue("arch", "one").await;
    while !received.contains("\"state\":\"ready\"") {
        received += &String::from_utf8_lossy(&events.chunk().await.unwrap().unwrap());
    }
    assert!(received.starts_with("event: matrix\ndata: {\"whole\":true"), "{received}");
    assert!(
        received.contains("\nretry: 500\n"),
        "the stream tells browsers to reconnect at once: {received}"
    );
    assert!(received.contains(&job) && received.contains("\"existing\":1"), "{received}");
}

/// Runs a command in a directory of its own, either on the database or through a server.
fn run_command(fixture: &SeedingFixture, arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_buildoff"))
        .args(arguments)
        .env("DATABASE_URL", fixture.db.url())
        .envs(fixture.catalog.variables(&[]))
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), printed)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_does_the_same_directly_and_through_a_server() {
    let fixture = seeding_fixture().await;
    let server = fixture.server.url.clone();
    let here: &[&str] = &[];
    let there: &[&str] = &["--server", &server];
    let run = |arguments: &[&str], how: &[&str]| run_command(&fixture, &[arguments, how].concat());
    for how in [here, there] {
        let (code, printed) = run(&["seed", "--dry-run"], how);
        assert!(
            code == 0 && printed.contains("0 of 4 builds") && printed.contains("would generate arch by one"),
            "{printed}"
        );
    }
    let (code, printed) = run(&["seed", "--catalog"], here);
    assert!(
        code == 0 && printed.contains("2 prompts, 2 models that can generate: 0 of 4 builds"),
        "{printed}"
    );
    for how in [here, there] {
        for (arguments, part) in [
            (&["models"][..], "via somebody"),
            (&["models", "disable", "two"], "disabled"),
            (&["models", "rename", "two", "The Second"], "The Second"),
            (&["models", "enable", "two"], "enabled"),
            (
                &[
                    "models",
                    "add",
                    "three",
                    "--provider",
                    "nobody",
                    "--id",
                    "x",
                    "--name",
                    "Three",
                    "--replace",
                ],
                "no key",
            ),
            (&["prompts"], "a barn"),
            (&["prompts", "disable", "barn"], "inactive"),
            (&["prompts", "enable", "barn"], "active"),
            (&["prompts", "add", "cave", "a cave", "--tag", "nature", "--replace"], "[nature]"),
            (&["prompts", "disable", "cave"], "inactive"),
        ] {
            let (code, printed) = run(arguments, how);
            assert!(code == 0 && printed.contains(part), "{arguments:?} {how:?}: {printed}");
        }
        for (arguments, part) in [
            (&["models", "enable", "nobody"][..], "nobody: This model does not exist"),
            (&["models", "add", "one", "--provider", "somebody", "--id", "x", "--name", "One"], "--replace"),
            (&["prompts", "add", "barn", "another barn"], "--replace"),
        ] {
            let (code, printed) = run(arguments, how);
            assert!(code == 2 && printed.contains(part), "{arguments:?} {how:?}: {printed}");
        }
    }
    for how in [here, there] {
        let (code, printed) = run(&["seed"], how);
        assert!(code == 0 && printed.contains("4 of 4 builds"), "{how:?}: {printed}");
    }
    assert_eq!(fixture.provider.requests().len(), 4);
    for how in [here, there] {
        let (code, printed) = run(&["models", "probe", "--all"], how);
        assert!(code == 0 && printed.matches(" ok ").count() == 2, "{how:?}: {printed}");
        let (code, printed) = run(&["models", "probe", "three"], how);
        assert!(code == 1 && printed.contains("is not known here"), "{how:?}: {printed}");
    }
    let (code, printed) = run(&["reparse"], there);
    assert!(code == 0 && printed.contains("0 of 0"), "{printed}");
    for nobody in [&["models", "enable"][..], &["prompts", "disable"], &["seed", "--max-cost", "much"]] {
        let (code, printed) = run(nobody, there);
        assert!(
            code == 2 && (printed.contains("Usage") || printed.contains("an amount in dollars")),
            "{nobody:?}: {printed}"
        );
    }

    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("arch")).unwrap();
    std::fs::write(folder.path().join("arch/one.json"), sample_spec(9)).unwrap();
    std::fs::write(folder.path().join("arch/two.json"), "nothing").unwrap();
    std::fs::write(folder.path().join("arch.json"), sample_spec(9)).unwrap();
    let (code, printed) = run(&["import", folder.path().to_str().unwrap(), "--overwrite"], there);
    assert!(
        code == 1 && printed.contains("replaced: ") && printed.contains("1 imported, 2 failed"),
        "{printed}"
    );
    let (code, printed) = run(&["import", "no-such-folder"], there);
    assert!(code == 2 && printed.contains("cannot read no-such-folder"), "{printed}");
    let vias = fixture.db.number("SELECT count(DISTINCT via) FROM audit").await;
    assert_eq!(vias, 2, "the audit names the admin of each way");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_server_needs_a_token() {
    let fixture = seeding_fixture().await;
    let refused = |arguments: &[&str], token: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_buildoff"))
            .args(arguments)
            .env("ADMIN_TOKEN", token)
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let server = fixture.server.url.as_str();
    for (arguments, token, part) in [
        (["models", "--server", server], "", "ADMIN_TOKEN is not set"),
        (["models", "--server", server], "wrong", "admin token is wrong"),
        (["models", "--server", "ftp://example"], "x", "--server must be an address"),
        (
            ["models", "--server", "http://127.0.0.1:1"],
            "x",
            "cannot reach http://127.0.0.1:1/: Connection refused",
        ),
    ] {
        let (code, printed) = refused(&arguments, token);
        assert!(code == 2 && printed.contains(part), "{arguments:?}: {printed}");
        assert!(!printed.contains("wrong\""), "{printed}");
    }
}

#[test]
fn resetting_a_missing_installation_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("mistyped");
    let output = Command::new(env!("CARGO_BIN_EXE_buildoff"))
        .args(["reset", "--yes"])
        .current_dir(&folder)
        .env_remove("DATABASE_URL")
        .env("DATA_DIR", &nowhere)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(1) && printed.contains("Nothing to delete in"), "{printed}");
    assert!(!nowhere.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installation_is_reset_after_confirmation_and_starts_anew() {
    let fixture = seeding_fixture().await;
    fixture.admin.post("/api/admin/seed", "").await;
    let mut known: Vec<String> = sqlx::query_scalar(
        "SELECT tablename::text FROM pg_tables
         WHERE schemaname = 'public' AND tablename NOT IN ('_sqlx_migrations', 'installation')
         ORDER BY tablename COLLATE \"C\"",
    )
    .fetch_all(&fixture.db.pool)
    .await
    .unwrap();
    known.sort();
    assert_eq!(known, TABLES, "TABLES must list every table");
    let (code, printed) = run_command(&fixture, &["reset"]);
    assert!(code == 1 && printed.contains("2 builds") && printed.contains("--yes"), "{printed}");
    assert_eq!(fixture.db.number("SELECT count(*) FROM builds").await, 2);
    let (code, printed) = run_command(&fixture, &["reset", "--yes"]);
    assert!(code == 0 && printed.contains("All data was deleted"), "{printed}");
    for table in ["builds", "jobs", "attempts", "models", "prompts", "audit", "sessions", "votes"] {
        assert_eq!(fixture.db.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
    let anew = TestServerProcess::start(&fixture.db, &fixture.catalog.variables(&[]));
    let page = reqwest::get(&anew.url).await.unwrap();
    assert_eq!(page.status(), 200);
}

/// The totals in the next event.
async fn next_sum(events: &mut reqwest::Response) -> Value {
    let mut received = String::new();
    while !received.ends_with("\n\n") || !received.contains("event: matrix") {
        received += &String::from_utf8_lossy(&events.chunk().await.unwrap().unwrap());
    }
    let data = received.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    serde_json::from_str::<Value>(data).unwrap()["sum"].clone()
}

#[tokio::test]
async fn a_status_read_after_an_action_includes_it_for_everyone() {
    let SeedingFixture { server, admin, .. } = &seeding_fixture().await;
    admin.post("/api/admin/seed?generateBuilds=0", "").await;
    let look = async || {
        server.get("/api/admin/events").bearer_auth(crate::support::admin::TOKEN).send().await.unwrap()
    };
    let mut first = look().await;
    let all = next_sum(&mut first).await["expected"].as_i64().unwrap();
    for enabled in [false, true, false] {
        let change = json!({ "enabled": enabled });
        let changed = admin.json(Method::PATCH, "/api/admin/models/one", &change).await;
        assert_eq!(changed.status, 200, "{}", changed.text());
        let mut next = look().await;
        let expected = next_sum(&mut next).await["expected"].as_i64().unwrap();
        assert_eq!(
            expected == all,
            enabled,
            "{expected} of {all} builds are expected right after enabled = {enabled}"
        );
        assert_eq!(
            next_sum(&mut first).await["expected"],
            expected,
            "an open event stream gets the same number"
        );
    }
}
