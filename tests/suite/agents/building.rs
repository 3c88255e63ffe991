//! Agents that build: what they are sent, repair, provenance, and what their owners read where something goes wrong.

use std::time::Duration;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{AgentsFixture, builder, says};
use crate::support::fake_agent::{AgentStep, FakeAgent};
use crate::support::{TestServerProcess, sample_spec};

#[tokio::test]
async fn an_agent_is_asked_in_words_and_as_data_and_its_build_keeps_who_it_said_it_was() {
    let (fixture, agent) = (AgentsFixture::with_worker("", &[]).await, builder().await);
    fixture.add_builder("tower", &agent).await;
    let job = fixture.build("tower").await;
    assert_eq!(job["state"], "ready", "{job}");
    let sent = &agent.requests()[0].body["params"]["message"];
    assert_eq!(sent["contextId"], Value::Null);
    assert!(sent["parts"][0]["text"].as_str().unwrap().contains("a shed"));
    let data = &sent["parts"][1]["data"];
    assert_eq!((&data["type"], &data["prompt"]), (&json!("build"), &json!("a shed")));
    assert_eq!(
        (&data["gridSize"], &data["palette"], &data["mode"]),
        (&json!(32), &json!("simple"), &json!("precise"))
    );
    assert!(data["limits"].is_object(), "{data}");
    for address in ["schemaUrl", "checkUrl"] {
        assert!(data[address].as_str().unwrap().starts_with("http"), "{data}");
    }

    let build = job["buildId"].as_str().unwrap();
    let generation = &fixture.admin.get(&format!("/api/builds/{build}")).await.json()["generation"];
    let source = &generation["sent"]["agent"];
    assert_eq!(
        (&source["name"], &source["version"], &source["protocol"]),
        (&json!("Fake"), &json!("1"), &json!("1.0"))
    );
    assert_eq!(source["host"].as_str(), agent.url.strip_prefix("http://"));
    assert_eq!(source["digest"].as_str().map(str::len), Some(64));
    assert_eq!((&generation["cost"], &generation["tokensOut"]), (&Value::Null, &Value::Null), "{generation}");
}

#[tokio::test]
async fn a_wrong_answer_is_sent_back_in_the_same_context_with_what_was_wrong() {
    let fixture = AgentsFixture::with_worker("", &[]).await;
    let wrong = sample_spec(4).replace("bricks", "cheese");
    let agent = FakeAgent::start([says(&wrong), says(&sample_spec(4))]).await;
    fixture.add_builder("tower", &agent).await;
    let job = fixture.build("tower").await;
    assert_eq!(job["state"], "ready", "{job}");
    let requests = agent.requests();
    let second = &requests[1].body["params"]["message"];
    assert_eq!(second["contextId"], "c1");
    assert!(second["parts"][0]["text"].as_str().unwrap().contains("cheese"), "{second}");
}

#[tokio::test]
async fn progress_is_shown_while_the_agent_works_and_a_cancelled_job_is_cancelled_at_the_agent() {
    let fixture = AgentsFixture::with_worker("", &[]).await;
    let task =
        json!({ "task": { "id": "t1", "contextId": "c1", "status": { "state": "TASK_STATE_SUBMITTED" } } });
    let working = json!({ "statusUpdate": { "taskId": "t1", "contextId": "c1", "status": {
        "state": "TASK_STATE_WORKING",
        "message": { "messageId": "s", "role": "ROLE_AGENT", "parts": [{ "text": "laying the floor" }] },
    } } });
    let agent = FakeAgent::start([AgentStep::StreamThenSilence(vec![task, working])]).await;
    fixture.add_builder("tower", &agent).await;
    let job = fixture.admin.enqueue("shed", "tower").await;
    let seen = fixture.admin.wait_for_job(&job, |job| job["note"] == "laying the floor");
    tokio::time::timeout(Duration::from_secs(20), seen).await.expect("the agent's words are shown");
    assert!(matches!(fixture.admin.delete(&format!("/api/admin/jobs/{job}")).await.status, 200 | 204));
    agent.wait_for_method("CancelTask").await;
    assert_eq!(fixture.admin.wait_for_job_end(&job).await["state"], "cancelled");
}

#[tokio::test]
async fn what_an_agent_does_wrong_is_said_at_its_job_and_the_worker_is_free_again() {
    let fixture = AgentsFixture::with_worker("", &[("AI_ATTEMPTS", "1")]).await;
    let state = |state: &str, words: &str| {
        AgentStep::Result(
            json!({ "task": { "id": "t1", "contextId": "c1", "status": { "state": state, "message": {
            "messageId": "s", "role": "ROLE_AGENT", "parts": [{ "text": words }],
        } } } }),
        )
    };
    let html = "<html><title>Welcome</title></html>";
    for (index, (step, code, words)) in [
        (state("TASK_STATE_INPUT_REQUIRED", "Which colour?"), "needs_input", "Which colour?"),
        (state("TASK_STATE_AUTH_REQUIRED", "Log in."), "needs_input", "Log in."),
        (state("TASK_STATE_REJECTED", "No sheds."), "refused", "No sheds."),
        (state("TASK_STATE_FAILED", "Out of bricks."), "bad_answer", "Out of bricks."),
        (AgentStep::Raw(StatusCode::OK, "text/html", html), "bad_answer", "Welcome"),
        (AgentStep::Redirect("http://169.254.169.254/"), "bad_answer", "redirect"),
        (AgentStep::Error(-32602, "No such field."), "bad_request", "No such field."),
        (says("I would rather not."), "bad_json", "JSON"),
    ]
    .into_iter()
    .enumerate()
    {
        let agent = FakeAgent::start([step]).await;
        let key = format!("agent_{index}");
        fixture.add_builder(&key, &agent).await;
        let job = fixture.build(&key).await;
        let attempt = &job["attempts"][0];
        assert_eq!(attempt["code"], code, "{key}: {job}");
        assert!(attempt["message"].as_str().unwrap().contains(words), "{key} should say {words}: {attempt}");
    }
    let agent = builder().await;
    fixture.add_builder("last", &agent).await;
    assert_eq!(fixture.build("last").await["state"], "ready");
}

#[tokio::test]
async fn a_card_that_has_changed_is_kept_with_the_build_and_in_the_register() {
    let fixture = AgentsFixture::with_worker("", &[]).await;
    let agent = builder().await;
    fixture.add_builder("tower", &agent).await;
    agent.change_card(|card| card["version"] = json!("2"));
    let job = fixture.build("tower").await;
    let build = fixture.admin.get(&format!("/api/builds/{}", job["buildId"].as_str().unwrap())).await.json();
    let listed = fixture.admin.get(super::AGENTS).await.json();
    assert_eq!(build["generation"]["sent"]["agent"]["version"], "2");
    assert_eq!(listed["agents"][0]["card"]["version"], "2");
    assert_eq!(build["generation"]["sent"]["agent"]["digest"], listed["agents"][0]["card"]["digest"]);
}

#[tokio::test]
async fn a_task_that_a_killed_server_began_is_taken_up_again_by_the_next() {
    let task =
        json!({ "task": { "id": "t1", "contextId": "c1", "status": { "state": "TASK_STATE_WORKING" } } });
    let end = json!({ "statusUpdate": {
        "taskId": "t1", "contextId": "c1", "status": { "state": "TASK_STATE_COMPLETED" },
    } });
    let artifact = json!({ "artifactUpdate": { "taskId": "t1", "contextId": "c1", "artifact": {
        "artifactId": "a", "parts": [{ "text": sample_spec(4) }],
    } } });
    let script =
        [AgentStep::StreamThenSilence(vec![task.clone()]), AgentStep::Stream(vec![task, artifact, end])];
    let agent = FakeAgent::start(script).await;
    let fixture = AgentsFixture::new().await;
    fixture.add_builder("tower", &agent).await;
    let settings = super::settings(&fixture.data_dir, &[]);
    let mut first = TestServerProcess::start(&fixture.db, &settings);
    let job = fixture.admin.enqueue("shed", "tower").await;
    fixture.db.wait_until("EXISTS (SELECT FROM attempts WHERE remote_id = 't1')").await;
    first.kill();

    let _second = TestServerProcess::start(&fixture.db, &settings);
    fixture.db.run("UPDATE jobs SET leased_until = now() WHERE state = 'running'").await;
    assert_eq!(fixture.admin.wait_for_job_end(&job).await["state"], "ready");
    assert_eq!(agent.methods(), ["SendStreamingMessage", "SubscribeToTask"]);
}

#[tokio::test]
async fn a_card_that_leads_to_a_private_address_is_refused_at_a_public_agent() {
    let fixture = AgentsFixture::with_worker("", &[("AI_ATTEMPTS", "1")]).await;
    let agent = builder().await;
    fixture.add_builder("tower", &agent).await;
    // As if somebody elsewhere had entered it.
    fixture.db.run("UPDATE agents SET allows_private = false").await;
    let job = fixture.build("tower").await;
    assert_ne!(job["state"], "ready");
    assert!(job.to_string().contains("public internet") || job.to_string().contains("https"), "{job}");
    assert_eq!(agent.requests().len(), 0);
}

#[tokio::test]
async fn the_ladder_and_the_gallery_mark_agents_and_are_narrowed_to_them_or_to_models() {
    let (fixture, agent) = (AgentsFixture::with_worker("", &[]).await, builder().await);
    fixture.add_builder("tower", &agent).await;
    fixture.build("tower").await;
    let model = json!({ "provider": "somebody", "modelId": "x", "displayName": "Model X" });
    fixture.admin.json(reqwest::Method::PUT, "/api/admin/models/x", &model).await;
    let import = "/api/admin/import-build?modelKey=x&promptId=shed";
    assert_eq!(fixture.admin.post(import, sample_spec(9)).await.status, 200);

    let keys = async |kind: &str| {
        let board = fixture.admin.get(&format!("/api/leaderboard{kind}")).await.json();
        let rows = board["models"].as_array().unwrap().clone();
        let mut keys: Vec<_> =
            rows.iter().map(|row| (row["key"].as_str().unwrap().to_owned(), row["agent"] == true)).collect();
        keys.sort();
        keys
    };
    let (tower, x) = (("tower".to_owned(), true), ("x".to_owned(), false));
    assert_eq!(keys("").await, [tower.clone(), x.clone()]);
    assert_eq!(keys("?kind=agents").await, [tower]);
    assert_eq!(keys("?kind=models").await, [x]);
    assert_eq!(fixture.admin.get("/api/leaderboard?kind=cats").await.status, 400);

    let mark = "<span class=\"mark\">Agent</span>";
    for (path, shown, hidden) in [
        ("/leaderboard?kind=agents", "/models/tower", Some("/models/x\"")),
        ("/leaderboard?kind=models", "/models/x", Some("/models/tower\"")),
        ("/builds?kind=agents", mark, None),
        ("/models/tower", "An agent.", None),
    ] {
        let page = fixture.admin.get(path).await.text();
        assert!(page.contains(shown), "{path} lacks {shown}");
        assert!(hidden.is_none_or(|hidden| !page.contains(hidden)), "{path} has {hidden:?}");
    }
    assert!(!fixture.admin.get("/builds?kind=models").await.text().contains(mark));
}
