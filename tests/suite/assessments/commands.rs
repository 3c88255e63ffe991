//! `buildoff assess`: stored here, at a server, in memory, and by another assessor.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{ASSESSMENTS, AssessmentFixture, sleeper, walker};
use crate::support::TestServerProcess;
use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::fake_agent::{AgentStep, FakeAgent};

/// Where no database is.
const NOWHERE: &str = "postgres://nobody@127.0.0.1:1/none";

const RUN: [&str; 6] = ["--task", "craft_ladder", "--max-steps", "4", "--seed", "7"];

const SAID: &str = "\
Starting MCU evaluation with 1 tasks from crafting
Running task: craft ladder (category: crafting)
Task 'craft_ladder': 0.0

MCU Evaluation Result
Categories: crafting
Number of Tasks: 1
Total Score: 0.0

Task Results:
Task 'craft_ladder': 0.0

The world is";

/// What a command has left behind.
#[derive(Debug)]
struct EndedCommand {
    code: i32,
    stdout: String,
    stderr: String,
}

/// A folder in which a command runs, with the folder of its installation.
struct CommandFolder(TempDir);

impl CommandFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    fn start(&self, database: &str, arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_buildoff"));
        command.arg("assess").args(arguments).current_dir(self.0.path());
        command.env("DATABASE_URL", database).env("DATA_DIR", self.0.path()).env_remove("ADMIN_TOKEN");
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    async fn run(&self, database: &str, arguments: &[&str]) -> EndedCommand {
        ended(self.start(database, arguments)).await
    }
}

async fn ended(process: Child) -> EndedCommand {
    let output = tokio::task::spawn_blocking(move || process.wait_with_output().unwrap()).await.unwrap();
    let Output { status, stdout, stderr } = output;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    EndedCommand { code: status.code().unwrap(), stdout: text(stdout), stderr: text(stderr) }
}

fn read_json(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The arguments for an agent, with a few steps of one task.
fn with_run<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &RUN].concat()
}

/// Checks that a folder holds the results, and the recording and the film of the run.
fn assert_is_complete(folder: &str, results: &Value) {
    let folder = Path::new(folder);
    assert_eq!(&read_json(folder.join("results.json")), results);
    let text = fs::read_to_string(folder.join("result.txt")).unwrap();
    assert!(text.starts_with("MCU Evaluation Result\nCategories: crafting\n"), "{text}");
    let recording = fs::read(folder.join("craft_ladder/episode_1.run")).unwrap();
    assert_eq!(world::record::Recording::read(&recording).unwrap().steps(), 4);
    assert_eq!(&fs::read(folder.join("craft_ladder/episode_1.webp")).unwrap()[8..12], b"WEBP");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assessment_is_stored_and_carried_out_by_the_command() {
    let fixture = AssessmentFixture::without_assessor().await;
    let (folder, agent) = (CommandFolder::new(), walker().await);
    let output = folder.path("results");
    let arguments = with_run(&["--agent", &agent.url, "--output", &output]);
    let ended = folder.run(&fixture.db.url(), &arguments).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.starts_with(SAID), "{ended:?}");

    let listed = fixture.get(ASSESSMENTS).await.1;
    assert_eq!(listed["assessments"].as_array().unwrap().len(), 1, "{listed}");
    let stored = &listed["assessments"][0];
    assert_eq!(stored["state"], "finished");
    assert!(ended.stderr.contains(stored["id"].as_str().unwrap()), "{ended:?}");
    let file = fixture.result(stored["id"].as_str().unwrap()).await;
    assert_is_complete(&output, &file);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_entered_in_the_register_under_a_key() {
    let fixture = AssessmentFixture::without_assessor().await;
    let (folder, agent) = (CommandFolder::new(), walker().await);
    let database = fixture.db.url();
    for _ in 0..2 {
        let ended =
            folder.run(&database, &with_run(&["--agent", &agent.url, "--as", "walker", "--json"])).await;
        assert_eq!(ended.code, 0, "{ended:?}");
        let file: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(file["participants"], json!({ "agent": "walker" }));
        assert!(ended.stderr.contains("Running task: craft ladder"), "{ended:?}");
    }
    let other = walker().await;
    let ended = folder.run(&database, &with_run(&["--agent", &other.url, "--as", "walker"])).await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("agents change walker"), "{ended:?}");

    // An id of AgentBeats is a key of the register.
    let scenario = "[[participants]]\nrole = \"agent\"\nagentbeats_id = \"walker\"\n\n[config]\ntasks = [\"craft_ladder\"]\nmax_steps = 4\n";
    let scenario = folder.write("scenario.toml", scenario);
    let ended = folder.run(&database, &[&scenario, &folder.path("results.json")]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(read_json(folder.path("results.json"))["participants"], json!({ "agent": "walker" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn in_memory_nothing_is_stored_but_the_files_that_are_named() {
    let (folder, agent) = (CommandFolder::new(), walker().await);
    let output = folder.path("results");
    let arguments = with_run(&["--no-store", "--agent", &agent.url, "--output", &output]);
    let ended = folder.run(NOWHERE, &arguments).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.starts_with(SAID), "{ended:?}");
    let file = read_json(folder.path("results/results.json"));
    assert_eq!(file["participants"], json!({ "agent": agent.url }));
    assert_eq!(file["results"][0]["seed"], 7);
    assert_is_complete(&output, &file);
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_tell_what_was_rejected_from_what_could_not_run() {
    let fixture = AssessmentFixture::without_assessor().await;
    let (folder, agent) = (CommandFolder::new(), walker().await);
    let database = fixture.db.url();
    let lost = "http://127.0.0.1:1";
    for (code, words, arguments) in [
        (1, "Rejected: ", vec!["--agent", &agent.url, "--task", "craft_moon"]),
        (1, "Rejected: ", vec!["--agent", &agent.url, "--judge", "seer"]),
        (1, "Failed: The agent cannot be asked", with_run(&["--agent", lost])),
        (1, "no agent", with_run(&["--agent", "nobody"])),
        (1, "Rejected: ", vec!["--no-store", "--agent", &agent.url, "--category", "flying"]),
        (1, "Rejected: judges", vec!["--no-store", "--agent", &agent.url, "--judge", "seer"]),
        (1, "Failed: ", with_run(&["--no-store", "--agent", lost])),
        (2, "cannot read", vec!["missing.toml"]),
        (2, "cannot reach", with_run(&["--agent", &agent.url, "--server", lost, "--token", "x"])),
        (2, "ADMIN_TOKEN", with_run(&["--agent", &agent.url, "--server", lost])),
    ] {
        let ended = folder.run(&database, &arguments).await;
        assert_eq!(ended.code, code, "{arguments:?}: {ended:?}");
        assert!(ended.stderr.to_lowercase().contains(&words.to_lowercase()), "{arguments:?}: {ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_submits_to_a_server_with_a_token() {
    let fixture = AssessmentFixture::new(&[("ASSESS", "tokens")]).await;
    let (folder, agent) = (CommandFolder::new(), walker().await);
    fixture.add_agent("walker", &agent).await;
    let token = fixture.make_token("walker", 5).await;
    let (server, output) = (fixture.server.url.as_str(), folder.path("results"));
    let ended = folder
        .run(
            NOWHERE,
            &with_run(&["--agent", "walker", "--server", server, "--token", &token, "--output", &output]),
        )
        .await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.starts_with(SAID), "{ended:?}");
    let listed = fixture.get(&format!("{ASSESSMENTS}?agent=walker")).await.1;
    let id = listed["assessments"][0]["id"].as_str().unwrap();
    assert!(ended.stderr.contains(&format!("Ordered: {server}/assessments/{id}")), "{ended:?}");
    let file = fixture.result(id).await;
    assert_eq!(file["participants"], json!({ "agent": "walker" }));
    assert_is_complete(&output, &file);

    for (code, words, agent, token) in [
        (1, "for another agent", "http://127.0.0.1:1", token.as_str()),
        (2, "token", "walker", "not-a-token"),
    ] {
        let arguments = with_run(&["--agent", agent, "--server", server, "--token", token]);
        let ended = folder.run(NOWHERE, &arguments).await;
        assert_eq!(ended.code, code, "{ended:?}");
        assert!(ended.stderr.contains(words), "{ended:?}");
    }
    let arguments =
        with_run(&["--agent", &agent.url, "--server", server, "--token", &token, "--as", "other"]);
    let ended = folder.run(NOWHERE, &arguments).await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("--as is for admins"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_on_at_a_server_survives_the_command_and_can_be_cancelled() {
    let fixture = AssessmentFixture::new(&[]).await;
    let (folder, agent) = (CommandFolder::new(), sleeper().await);
    let arguments = with_run(&["--agent", &agent.url, "--server", &fixture.server.url, "--token", TOKEN]);
    let command = folder.start(NOWHERE, &arguments);
    fixture.db.wait_until("EXISTS (SELECT FROM runs WHERE state = 'running')").await;
    interrupt(&command);
    let stopped = ended(command).await;
    assert_eq!(stopped.code, 130, "{stopped:?}");
    assert!(stopped.stderr.contains("The server goes on with it"), "{stopped:?}");
    assert_eq!(fixture.db.number("SELECT count(*) FROM assessments WHERE state = 'running'").await, 1);
    // The agent is being assessed, so this one waits.
    let command = folder.start(NOWHERE, &arguments);
    fixture.db.wait_until("(SELECT count(*) FROM assessments) = 2").await;
    let id = fixture.get(ASSESSMENTS).await.1["assessments"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(fixture.admin().delete(&format!("{ASSESSMENTS}/{id}")).await.status, 204);
    let cancelled = ended(command).await;
    assert_eq!(cancelled.code, 1, "{cancelled:?}");
    assert!(cancelled.stderr.contains("Cancelled."), "{cancelled:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_command_gives_its_assessment_back_to_the_queue() {
    let fixture = AssessmentFixture::without_assessor().await;
    let (folder, agent) = (CommandFolder::new(), sleeper().await);
    let command = folder.start(&fixture.db.url(), &with_run(&["--agent", &agent.url]));
    fixture.db.wait_until("EXISTS (SELECT FROM runs WHERE state = 'running')").await;
    interrupt(&command);
    let stopped = ended(command).await;
    assert_eq!(stopped.code, 130, "{stopped:?}");
    assert!(stopped.stderr.contains("waits in the queue"), "{stopped:?}");
    assert_eq!(fixture.db.number("SELECT count(*) FROM assessments WHERE state = 'queued'").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scenario_may_name_another_assessor() {
    // Its card has to name where it is.
    let db = TestDb::new().await;
    let server = TestServerProcess::start(&db, &[]);
    let folder = CommandFolder::new();
    let agent = FakeAgent::start([AgentStep::Act(r#"{"craft": "oak_planks"}"#)]).await;
    let scenario = |tasks: &str| {
        let (green, purple) = (&server.url, &agent.url);
        format!(
            "[green_agent]\nendpoint = \"{green}\"\n\n[[participants]]\nrole = \"agent\"\nendpoint = \"{purple}\"\n\n\
             [config]\ntasks = [\"{tasks}\"]\nmax_steps = 4\n"
        )
    };
    let file = folder.write("scenario.toml", &scenario("craft_oak_planks"));
    let ended = folder.run(NOWHERE, &[&file, "results.json", "--output", "results"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("Task 'craft_oak_planks': 10.0"), "{ended:?}");
    let results = read_json(folder.path("results.json"));
    assert_eq!(results["results"][0]["task_metrics"]["craft_oak_planks"]["total_score"], 10.0);
    assert_eq!(read_json(folder.path("results/results.json")), results);
    assert!(fs::read_to_string(folder.path("results/result.txt")).unwrap().contains("Total Score: 10.0"));

    let file = folder.write("scenario.toml", &scenario("craft_moon"));
    let ended = folder.run(NOWHERE, &[&file]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("craft_moon"), "{ended:?}");
    assert_eq!(folder.run(NOWHERE, &[&file, "--no-store"]).await.code, 2);
}

#[test]
fn the_example_of_a_scenario_is_sound() {
    let scenario = include_str!("../../../examples/agentbeats/scenario.toml");
    let scenario = buildoff::assess::scenario::Scenario::parse(scenario).unwrap();
    assert_eq!(scenario.green_endpoint.as_deref(), Some("http://green-agent:9009"));
    let order = json!({ "participants": { "agent": "http://agent:9009" }, "config": scenario.config });
    buildoff::assess::order::AssessmentOrder::read(&order).unwrap();
}

fn interrupt(process: &Child) {
    let pid = rustix::process::Pid::from_child(process);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}
