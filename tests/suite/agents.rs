//! The register of agents: entering them, letting them build, and their owners' tokens.

mod building;
mod catalog;
mod commands;
mod console;
mod owners;
mod register;
mod runs;

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::fake_agent::{AgentStep, FakeAgent};
use crate::support::{TestAdmin, TestServer, sample_spec};

const AGENTS: &str = "/api/admin/agents";

const PROMPTS: &str = "[[prompt]]\nslug = \"shed\"\ntext = \"a shed\"\n";

/// A server without models and with one prompt.
struct AgentsFixture {
    db: TestDb,
    server: TestServer,
    admin: TestAdmin,
    data_dir: TempDir,
}

impl AgentsFixture {
    /// A server that runs no jobs.
    async fn new() -> Self {
        Self::with_models("", &[]).await
    }

    async fn with_models(models: &str, variables: &[(&str, &str)]) -> Self {
        let (db, data_dir) = (TestDb::new().await, data_dir(models));
        let server = TestServer::start_with_env(db.pool.clone(), &settings(&data_dir, variables)).await;
        Self::seeded(db, server, data_dir).await
    }

    /// A server whose worker asks agents.
    async fn with_worker(models: &str, variables: &[(&str, &str)]) -> Self {
        let (db, data_dir) = (TestDb::new().await, data_dir(models));
        let server = TestServer::start_with_worker(db.pool.clone(), &settings(&data_dir, variables)).await;
        Self::seeded(db, server, data_dir).await
    }

    async fn seeded(db: TestDb, server: TestServer, data_dir: TempDir) -> Self {
        let admin = server.admin();
        assert_eq!(admin.post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
        Self { db, server, admin, data_dir }
    }

    async fn add(&self, agent: &Value) -> (u16, Value) {
        let answer = self.admin.json(Method::POST, AGENTS, agent).await;
        (answer.status, answer.json())
    }

    /// Adds an agent that builds.
    async fn add_builder(&self, key: &str, agent: &FakeAgent) {
        let (status, added) = self.add(&json!({ "key": key, "url": agent.url, "builds": true })).await;
        assert_eq!((status, &added["cardProblem"]), (201, &Value::Null), "{added}");
    }

    async fn change(&self, key: &str, change: &Value) -> (u16, Value) {
        let answer = self.admin.json(Method::PATCH, &format!("{AGENTS}/{key}"), change).await;
        (answer.status, answer.json())
    }

    /// Asks a contestant for the build, and waits for the end of the job.
    async fn build(&self, key: &str) -> Value {
        let job = self.admin.enqueue("shed", key).await;
        self.admin.wait_for_job_end(&job).await
    }
}

fn data_dir(models: &str) -> TempDir {
    let data_dir = tempfile::tempdir().unwrap();
    fs::write(data_dir.path().join("models.toml"), models).unwrap();
    fs::write(data_dir.path().join("prompts.toml"), PROMPTS).unwrap();
    data_dir
}

fn settings<'a>(data_dir: &'a TempDir, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let own =
        [("DATA_DIR", data_dir.path().to_str().unwrap()), ("ADMIN_TOKEN", TOKEN), ("RATE_LIMITS", "off")];
    own.into_iter().chain(more.iter().copied()).collect()
}

/// An answer in a message.
fn says(text: &str) -> AgentStep {
    AgentStep::Result(json!({ "message": {
        "messageId": "m", "contextId": "c1", "role": "ROLE_AGENT", "parts": [{ "text": text }],
    } }))
}

/// An agent that answers everything with a build.
async fn builder() -> FakeAgent {
    FakeAgent::start([says(&sample_spec(4))]).await
}
