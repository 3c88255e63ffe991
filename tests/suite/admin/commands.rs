//! What the commands print: for people, for programs, and for readers that go away.

use std::io;
use std::process::{Command, Output};

use reqwest::Method;
use serde_json::{Value, json};

use super::seeding::{SeedingFixture, seeding_fixture};
use crate::support::sample_spec;

fn command(fixture: &SeedingFixture, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_buildoff"));
    command.args(arguments).env("DATABASE_URL", fixture.db.url()).envs(fixture.catalog.variables(&[]));
    command
}

/// The exit code, and standard output.
fn run(fixture: &SeedingFixture, arguments: &[&str]) -> (i32, String) {
    let Output { status, stdout, stderr } = command(fixture, arguments).output().unwrap();
    assert!(!String::from_utf8_lossy(&stderr).contains("panicked"), "{arguments:?}");
    (status.code().unwrap(), String::from_utf8(stdout).unwrap())
}

/// Two builds, a failed job, and a prompt that one model was not asked for.
async fn fixture_with_jobs() -> SeedingFixture {
    let fixture = seeding_fixture().await;
    let seeded = fixture.admin.post("/api/admin/seed?batchSize=2", "").await.json();
    assert_eq!(seeded["existingBuilds"], 2, "{seeded}");
    fixture
        .db
        .run(
            "INSERT INTO jobs (id, kind, model_key, subject, state, ended_at, error_code, error)
             VALUES ('00000000-0000-0000-0000-000000000001', 'build', 'one', 'barn@32-simple-precise', 'failed', now(),
                     'refused', 'I would rather not.');
             INSERT INTO build_jobs (job_id, prompt_id, settings)
             VALUES ('00000000-0000-0000-0000-000000000001', 'barn', '32-simple-precise')",
        )
        .await;
    fixture
}

#[tokio::test(flavor = "multi_thread")]
async fn no_command_panics_when_nobody_reads_its_output() {
    let fixture = fixture_with_jobs().await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (build, saved) = (path("build.json"), path("saved"));
    std::fs::write(&build, sample_spec(4)).unwrap();
    let backup = run(&fixture, &["backup", &saved]);
    assert_eq!(backup.0, 0, "{}", backup.1);
    let (imported, other) = (path("arch"), path("other"));
    std::fs::create_dir(&imported).unwrap();
    std::fs::write(path("arch/one.json"), sample_spec(9)).unwrap();
    for arguments in [
        &["models"][..],
        &["models", "--json"],
        &["models", "disable", "two"],
        &["models", "enable", "two"],
        &["models", "probe", "one"],
        &["prompts"],
        &["prompts", "disable", "barn"],
        &["prompts", "enable", "barn"],
        &["status"],
        &["jobs"],
        &["queue"],
        &["reparse"],
        &["doctor"],
        &["recompute", "--verify"],
        &["schema"],
        &["check", &build, "--cells"],
        &["seed", "--dry-run"],
        &["seed", "--catalog"],
        &["seed"],
        &["cancel", "--all"],
        &["import", &imported, "--overwrite"],
        &["backup", &other],
        &["restore", &saved, "--check"],
        &["retire", "--model", "one", "--prompt", "arch"],
        &["reset"],
        &["--help"],
    ] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let ended = command(&fixture, arguments).stdout(writer).output().unwrap();
        let log = String::from_utf8_lossy(&ended.stderr);
        assert!(!log.contains("panicked") && !log.contains("Broken pipe"), "{arguments:?}: {log}");
        assert_eq!(ended.status.code(), Some(0), "{arguments:?}: {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_print_json_that_programs_can_read() {
    let fixture = fixture_with_jobs().await;
    let json = |arguments: &[&str], expected: i32| -> Value {
        let (code, printed) = run(&fixture, &[arguments, &["--json"]].concat());
        assert_eq!(code, expected, "{arguments:?}: {printed}");
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {printed}"))
    };
    assert_eq!(json(&["models"], 0)["models"][0]["key"], "one");
    assert_eq!(json(&["models", "rename", "one", "First"], 0)["displayName"], "First");
    assert_eq!(json(&["models", "probe", "one"], 0)["models"][0]["probe"]["ok"], true);
    assert_eq!(json(&["prompts"], 0)["prompts"][0]["id"], "arch");
    assert_eq!(json(&["prompts", "disable", "barn"], 0)["active"], false);
    assert_eq!(json(&["prompts", "enable", "barn"], 0)["active"], true);
    assert_eq!(json(&["status"], 0)["coverage"]["existing"], 2);
    assert_eq!(json(&["jobs", "--state", "failed"], 0)["jobs"][0]["code"], "refused");
    assert_eq!(json(&["reparse"], 0), json!({ "found": 0, "jobs": [] }));
    assert_eq!(json(&["doctor"], 0), json!({ "ok": true, "builds": 2, "damaged": [], "catalogNote": null }));
    assert_eq!(json(&["seed", "--dry-run"], 0)["next"], json!([{ "promptId": "barn", "modelKey": "two" }]));
    assert_eq!(json(&["seed", "--catalog"], 0)["existingBuilds"], 2);
    let seeded = json(&["seed"], 0);
    assert_eq!(
        (&seeded["existingBuilds"], &seeded["failedBuilds"]),
        (&json!(3), &json!(1)),
        "one failed before, which is not about this command"
    );
    assert_eq!(json(&["seed", "--reason", "refused"], 0)["existingBuilds"], 4);
    assert_eq!(json(&["cancel", "--model", "one"], 0), json!({ "ok": true, "cancelled": 0 }));
    let retired = json(&["retire", "--model", "one", "--prompt", "arch"], 0);
    assert_eq!(retired["retired"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_listed_and_cancelled_and_builds_retired_from_the_command_line() {
    let fixture = fixture_with_jobs().await;
    let server = fixture.server.url.as_str();
    for how in [&[][..], &["--server", server]] {
        let run = |arguments: &[&str]| run(&fixture, &[arguments, how].concat());
        let (code, printed) = run(&["jobs", "--reason", "refused"]);
        assert!(
            code == 0 && printed.contains("failed     barn by one  refused  I would rather not."),
            "{printed}"
        );
        let (code, printed) = run(&["jobs", "--model", "two", "--state", "queued"]);
        assert!(code == 0 && printed.contains("No jobs match."), "{printed}");
        let (code, printed) = run(&["jobs", "--limit", "1"]);
        assert!(code == 0 && printed.contains("There are more: --before "), "{printed}");
        let (code, printed) = run(&["status"]);
        assert!(code == 0 && printed.contains("2 of 4 builds, 0 running, 0 queued, 1 failed"), "{printed}");
        assert!(printed.contains("Providers that can be asked: Somebody, Nearby"), "{printed}");
        for nothing in [
            &["cancel"][..],
            &["retire"],
            &["retire", "--model", "one"],
            &["cancel", "--all", "--model", "one"],
        ] {
            assert_eq!(run(nothing).0, 2, "{nothing:?} must ask what is meant");
        }
    }

    // The queue is paused, so that the worker of the server starts nothing.
    fixture.admin.post("/api/admin/queue/pause", "").await;
    let job = fixture.admin.enqueue("barn", "two").await;
    let (code, printed) = run(&fixture, &["cancel", &job]);
    assert!(code == 0 && printed.contains("1 job cancelled."), "{printed}");
    assert_eq!(run(&fixture, &["cancel", &job]).0, 2, "it has ended already");
    fixture.admin.enqueue("barn", "two").await;
    let (code, printed) = run(&fixture, &["cancel", "--prompt", "barn", "--server", server]);
    assert!(code == 0 && printed.contains("1 job cancelled."), "{printed}");

    let build = fixture.admin.get("/api/admin/coverage").await.json()["cells"][0]["buildId"].clone();
    let (code, printed) = run(&fixture, &["retire", build.as_str().unwrap(), "--server", server]);
    assert!(code == 0 && printed.contains("retired: "), "{printed}");
    assert_eq!(run(&fixture, &["retire", "--model", "two", "--prompt", "arch"]).0, 0);
    assert_eq!(run(&fixture, &["retire", "--model", "two", "--prompt", "arch"]).0, 2);
    assert_eq!(fixture.db.number("SELECT count(*) FROM builds WHERE retired_at IS NULL").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_catalog_is_noted_by_doctor_and_status_and_a_recent_one_is_not() {
    let fixture = seeding_fixture().await;
    assert_eq!(fixture.admin.get("/api/admin/status").await.json()["catalogNote"], Value::Null);
    let variables = fixture.catalog.variables(&[]);
    let (_, folder) = variables.iter().find(|(name, _)| *name == "DATA_DIR").unwrap();
    let models = std::path::Path::new(folder).join("models.toml");
    let list = std::fs::read_to_string(&models).unwrap();
    std::fs::write(&models, format!("updated = \"2025-01-31\"\n{list}")).unwrap();
    for command in ["doctor", "status"] {
        let (code, printed) = run(&fixture, &[command]);
        assert!(
            code == 0 && printed.contains("The list of models is from 2025-01-31, "),
            "{command}: {printed}"
        );
    }
    std::fs::write(&models, format!("updated = \"soon\"\n{list}")).unwrap();
    let refused = command(&fixture, &["doctor"]).output().unwrap();
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && told.contains("\"soon\" is not a date such as"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn probing_all_models_ends_with_1_when_nobody_can_be_asked() {
    let fixture = seeding_fixture().await;
    for model in ["one", "two"] {
        let path = format!("/api/admin/models/{model}");
        fixture.admin.post("/api/admin/seed?generateBuilds=0", "").await;
        fixture.admin.json(Method::PATCH, &path, &json!({ "enabled": false })).await;
    }
    let (code, printed) = run(&fixture, &["models", "probe", "--all"]);
    assert!(code == 1 && printed.contains("No model can be asked"), "{printed}");
}
