//! Agents in `models.toml`.

use std::fs;

use axum::http::Method;
use buildoff::arena::catalog::Catalog;
use serde_json::{Value, json};

use super::{AGENTS, AgentsFixture, builder};
use crate::support::TestServer;

fn entry(url: &str) -> String {
    format!("[[provider]]\nkey = \"tower\"\ndisplayName = \"Tower\"\nkind = \"a2a\"\nbaseUrl = \"{url}\"\n")
}

/// What is wrong with a models.toml.
fn problem(models: &str) -> String {
    let data_dir = tempfile::tempdir().unwrap();
    fs::write(data_dir.path().join("models.toml"), models).unwrap();
    format!("{:#}", Catalog::load(Some(data_dir.path())).unwrap_err())
}

#[tokio::test]
async fn an_entry_of_the_kind_a2a_is_an_agent_of_the_register_that_builds() {
    let agent = builder().await;
    let fixture = AgentsFixture::with_worker(&entry(&agent.url), &[]).await;
    let listed = fixture.admin.get(AGENTS).await.json();
    let tower = &listed["agents"][0];
    assert_eq!(
        (&tower["key"], &tower["name"], &tower["builds"]),
        (&json!("tower"), &json!("Tower"), &json!(true))
    );
    assert_eq!(fixture.build("tower").await["state"], "ready");
}

#[tokio::test]
async fn an_agents_secret_is_sent_to_it_and_shown_nowhere() {
    let agent = builder().await;
    agent.change_card(|card| {
        card["securitySchemes"] =
            json!({ "key": { "apiKeySecurityScheme": { "location": "header", "name": "X-Key" } } });
    });
    let models = format!("{}keyVariable = \"TOWER_SECRET\"\n", entry(&agent.url));
    let fixture = AgentsFixture::with_worker(&models, &[("TOWER_SECRET", "a-secret-of-the-agent")]).await;
    assert_eq!(fixture.build("tower").await["state"], "ready");
    let headers = &agent.requests()[0].headers;
    assert_eq!(headers["x-key"], "a-secret-of-the-agent");
    assert!(!fixture.admin.get(AGENTS).await.text().contains("a-secret-of-the-agent"));
}

/// The agent as it is listed after a restart with another models.toml.
async fn after_restart(fixture: &AgentsFixture, models: String) -> Value {
    fs::write(fixture.data_dir.path().join("models.toml"), models).unwrap();
    let settings = super::settings(&fixture.data_dir, &[]);
    let server = TestServer::start_with_env(fixture.db.pool.clone(), &settings).await;
    assert_eq!(server.admin().post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
    server.admin().get(AGENTS).await.json()["agents"][0].clone()
}

#[tokio::test]
async fn files_change_an_agent_until_an_admin_does() {
    let (agent, other) = (builder().await, builder().await);
    let fixture = AgentsFixture::with_models(&entry(&agent.url), &[]).await;
    assert_eq!(after_restart(&fixture, entry(&other.url)).await["url"], json!(other.url));
    fixture.change("tower", &json!({ "note": "Mine now." })).await;
    assert_eq!(after_restart(&fixture, entry(&agent.url)).await["url"], json!(other.url));
}

#[tokio::test]
async fn an_agent_whose_model_an_admin_has_disabled_builds_no_more_after_a_restart() {
    let (agent, other) = (builder().await, builder().await);
    let fixture = AgentsFixture::with_models(&entry(&agent.url), &[]).await;
    let disabled =
        fixture.admin.json(Method::PATCH, "/api/admin/models/tower", &json!({ "enabled": false })).await;
    assert_eq!(disabled.status, 200);
    let tower = after_restart(&fixture, entry(&other.url)).await;
    assert_eq!((&tower["url"], &tower["builds"]), (&json!(other.url), &json!(false)));
}

#[test]
fn a_model_of_an_agent_gives_it_name_and_text_and_must_have_its_key() {
    let agent = entry("https://agents.example");
    let model = |key: &str, provider: &str| {
        format!(
            "{agent}\n[[model]]\nkey = \"{key}\"\nprovider = \"{provider}\"\nmodelId = \"any\"\ndisplayName = \"Bot\"\nabout = \"Builds.\"\n"
        )
    };
    let data_dir = tempfile::tempdir().unwrap();
    fs::write(data_dir.path().join("models.toml"), model("tower", "tower")).unwrap();
    let catalog = Catalog::load(Some(data_dir.path())).unwrap();
    let ([agent], [model_of_it]) = (&catalog.agents[..], &catalog.models[..]) else { panic!("{catalog:?}") };
    assert_eq!((agent.name.as_str(), agent.note.as_str()), ("Bot", "Builds."));
    assert!(model_of_it.is_agent());
    assert_eq!(model_of_it.model_id, "tower");

    assert!(problem(&model("bot", "tower")).contains("must have the same key as the agent"));
    assert!(problem(&model("tower", "openai")).contains("another provider"));
}

#[test]
fn what_cannot_be_an_agent_is_a_problem_of_the_file() {
    let agent = entry("https://agents.example");
    assert!(problem(&format!("{agent}batchPrice = 0.5\n")).contains("batchPrice"));
    assert!(problem(&agent.replace("tower", "agent")).contains("reserved"));
    assert!(problem(&agent.replace("https://", "ftp://")).contains("http"));
}
