//! Assessments: who may order them, how they are run and published, whatever stops in the middle.

mod boards;
mod commands;
mod orders;
mod over_a2a;
mod pages;
mod running;

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::fake_agent::{AgentStep, FakeAgent};
use crate::support::{TestAdmin, TestServer};

const ASSESSMENTS: &str = "/api/assessments";

/// Steps forward.
const WALK: &str = r#"{"type": "action", "keys": ["forward"]}"#;

const LIMIT: Duration = Duration::from_secs(60);

struct AssessmentFixture {
    db: TestDb,
    server: TestServer,
}

impl AssessmentFixture {
    /// A server that runs assessments.
    async fn new(variables: &[(&str, &str)]) -> Self {
        let db = TestDb::new().await;
        let server = start_server(&db, variables).await;
        Self { db, server }
    }

    /// A server that shows assessments and leaves them to others.
    async fn without_assessor() -> Self {
        let db = TestDb::new().await;
        let server = TestServer::start_with_env(db.pool.clone(), &[("RATE_LIMITS", "off")]).await;
        Self { db, server }
    }

    fn admin(&self) -> TestAdmin {
        self.server.admin()
    }

    /// Orders as somebody who sits at this machine.
    async fn order(&self, agent: &str, config: &Value) -> (u16, Value) {
        let order = json!({ "participants": { "agent": agent }, "config": config });
        let answer = self.server.post(ASSESSMENTS).json(&order).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// Orders what is in order, and returns the id.
    async fn ordered(&self, agent: &str, config: &Value) -> String {
        let (status, ordered) = self.order(agent, config).await;
        assert_eq!((status, &ordered["state"]), (202, &json!("queued")), "{ordered}");
        ordered["id"].as_str().unwrap().to_owned()
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let answer = self.server.get(path).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn assessment(&self, id: &str) -> Value {
        self.get(&format!("{ASSESSMENTS}/{id}")).await.1
    }

    async fn wait_for(&self, id: &str, condition: impl Fn(&Value) -> bool) -> Value {
        let waiting = async {
            loop {
                let assessment = self.assessment(id).await;
                if condition(&assessment) {
                    return assessment;
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        match timeout(LIMIT, waiting).await {
            Ok(assessment) => assessment,
            Err(_) => panic!("not in time: {:#}", self.assessment(id).await),
        }
    }

    /// Waits until the assessment is finished.
    async fn finished(&self, id: &str) -> Value {
        let ended = self.wait_for(id, |assessment| assessment["endedAt"].is_string()).await;
        assert_eq!(ended["state"], "finished", "{ended:#}");
        ended
    }

    async fn result(&self, id: &str) -> Value {
        let (status, file) = self.get(&format!("{ASSESSMENTS}/{id}/results.json")).await;
        assert_eq!(status, 200, "{file}");
        file
    }

    /// Adds an agent to the register.
    async fn add_agent(&self, key: &str, agent: &FakeAgent) {
        let new = json!({ "key": key, "url": agent.url, "name": "Walker" });
        let added = self.admin().json(Method::POST, "/api/admin/agents", &new).await;
        assert_eq!(added.status, 201, "{}", added.text());
    }

    /// Makes a token for the owner of an agent.
    async fn make_token(&self, key: &str, runs_per_day: u32) -> String {
        let wanted = json!({ "name": "Ada", "runsPerDay": runs_per_day });
        let made = self.admin().json(Method::POST, &format!("/api/admin/agents/{key}/tokens"), &wanted).await;
        made.json()["token"].as_str().unwrap().to_owned()
    }
}

async fn start_server(db: &TestDb, variables: &[(&str, &str)]) -> TestServer {
    let defaults = [("RATE_LIMITS", "off"), ("ADMIN_TOKEN", TOKEN)];
    let variables: Vec<_> = defaults.into_iter().chain(variables.iter().copied()).collect();
    TestServer::start_with_worker(db.pool.clone(), &variables).await
}

/// An agent that does the same in every step.
async fn walker() -> FakeAgent {
    FakeAgent::start([AgentStep::Act(WALK)]).await
}

/// An agent that is ready and then never answers.
async fn sleeper() -> FakeAgent {
    FakeAgent::start([AgentStep::Act(WALK), AgentStep::Never]).await
}

/// A few steps of one task.
fn short() -> Value {
    json!({ "tasks": ["craft_ladder"], "max_steps": 4, "seed": 7 })
}
