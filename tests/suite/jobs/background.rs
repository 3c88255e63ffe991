//! Answers that OpenAI makes in the background: they go on without us, and are fetched by their id.

use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use super::outcomes;
use crate::support::db::TestDb;
use crate::support::{
    FakeBodyStep, FakePart, FakeProtocol, FakeProvider, FakeResponse, TestAdmin, TestCatalog,
    TestServerProcess, sample_spec,
};

const STORED_IDS: &str = "SELECT count(*) FROM attempts WHERE remote_id = 'resp_1' AND ended_at IS NULL";

fn begun() -> FakeResponse {
    FakeResponse::stream().send(FakeProtocol::OpenAi.stream(&[FakePart::Text("{ \"boxes\": [")]))
}

fn whole() -> FakeResponse {
    FakeProtocol::OpenAi.answer(&[FakePart::Text(&sample_spec(4)), FakePart::Done])
}

/// A server in a process of its own, whose only model answers in the background.
struct BackgroundFixture {
    db: TestDb,
    provider: FakeProvider,
    catalog: TestCatalog,
    process: TestServerProcess,
    admin: TestAdmin,
    job: String,
}

impl BackgroundFixture {
    /// With a job that has been asked for.
    async fn start(responses: Vec<FakeResponse>) -> Self {
        let provider = FakeProvider::with_responses(FakeProtocol::OpenAi, responses).await;
        let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
        let db = TestDb::new().await;
        let process = TestServerProcess::start(&db, &catalog.variables(&[]));
        let admin = TestAdmin::new(&process.url);
        admin.post("/api/admin/seed?generateBuilds=0", "").await;
        db.run(r#"UPDATE models SET options = '{"background": true}', edited_at = now()"#).await;
        let job = admin.enqueue("shed", "tester").await;
        Self { db, provider, catalog, process, admin, job }
    }

    async fn until(&self, sql: &str) {
        while self.db.number(sql).await != 1 {
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Kills the server, and lets another finish the job some time later.
    async fn finish_elsewhere(&mut self) -> Value {
        self.process.kill();
        self.process = TestServerProcess::start(&self.db, &self.catalog.variables(&[]));
        self.admin = TestAdmin::new(&self.process.url);
        self.db.run("UPDATE jobs SET leased_until = now() WHERE state = 'running'").await;
        self.admin.wait_for_job_end(&self.job).await
    }

    fn paths(&self) -> Vec<String> {
        self.provider.requests().into_iter().map(|request| request.path).collect()
    }
}

#[tokio::test]
async fn an_answer_whose_server_was_killed_is_fetched_by_its_id_and_paid_for_once() {
    let mut fixture = BackgroundFixture::start(vec![begun().then(FakeBodyStep::Stall), whole()]).await;
    fixture.until(STORED_IDS).await;
    let job = fixture.finish_elsewhere().await;
    assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), vec!["interrupted", "accepted"]), "{job}");
    assert_eq!(fixture.paths(), ["/v1/responses", "/v1/responses/resp_1?stream=true"]);
    let sent = &fixture.provider.requests()[0].body;
    assert_eq!((&sent["background"], &sent["store"]), (&json!(true), &json!(true)), "{sent}");
    assert_eq!(job["cost"], job["attempts"][1]["cost"], "{job}");
    assert_eq!(job["costIsMinimum"], false, "{job}");
}

#[tokio::test]
async fn an_answer_that_is_not_kept_any_longer_is_asked_for_again() {
    let gone = json!({ "error": { "message": "Response with id 'resp_1' not found.", "type": "invalid_request_error" } });
    let responses = vec![begun().then(FakeBodyStep::Stall), FakeResponse::json(404, &gone), whole()];
    let mut fixture = BackgroundFixture::start(responses).await;
    fixture.until(STORED_IDS).await;
    let job = fixture.finish_elsewhere().await;
    assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), vec!["interrupted", "accepted"]), "{job}");
    let expected = ["/v1/responses", "/v1/responses/resp_1?stream=true", "/v1/responses"];
    assert_eq!(fixture.paths(), expected);
}

#[tokio::test]
async fn an_answer_whose_connection_broke_is_fetched_by_its_id() {
    let fixture = BackgroundFixture::start(vec![begun().then(FakeBodyStep::Disconnect), whole()]).await;
    let job = fixture.admin.wait_for_job_end(&fixture.job).await;
    assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), vec!["interrupted", "accepted"]), "{job}");
    assert_eq!(fixture.paths(), ["/v1/responses", "/v1/responses/resp_1?stream=true"]);
}

#[tokio::test]
async fn an_answer_whose_connection_breaks_again_and_again_is_not_asked_for_twice() {
    let broken = || FakeResponse::stream().then(FakeBodyStep::Disconnect);
    let responses = vec![begun().then(FakeBodyStep::Stall), broken(), whole()];
    let mut fixture = BackgroundFixture::start(responses).await;
    fixture.until(STORED_IDS).await;
    let job = fixture.finish_elsewhere().await;
    let expected = ["interrupted", "interrupted", "accepted"];
    assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), expected.to_vec()), "{job}");
    let again = "/v1/responses/resp_1?stream=true";
    assert_eq!(fixture.paths(), ["/v1/responses", again, again]);
}

#[tokio::test]
async fn a_cancelled_job_cancels_its_answer_at_the_provider() {
    let cancelled = json!({ "id": "resp_1", "object": "response", "status": "cancelled" });
    let responses = vec![begun().then(FakeBodyStep::Stall), FakeResponse::json(200, &cancelled)];
    let fixture = BackgroundFixture::start(responses).await;
    fixture.until(STORED_IDS).await;
    assert_eq!(fixture.admin.delete(&format!("/api/admin/jobs/{}", fixture.job)).await.status, 204);
    while fixture.provider.requests().len() < 2 {
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(fixture.paths(), ["/v1/responses", "/v1/responses/resp_1/cancel"]);
}

#[tokio::test]
async fn a_model_without_background_mode_is_asked_without_it() {
    let message = "Background mode is not supported with this model.";
    let refused = FakeResponse::json(400, &json!({ "error": { "message": message, "param": "background" } }));
    let fixture = BackgroundFixture::start(vec![refused, whole()]).await;
    let job = fixture.admin.wait_for_job_end(&fixture.job).await;
    assert_eq!(job["attempts"][0]["notes"][0]["step"], "no_background", "{job}");
    let sent = &fixture.provider.requests()[1].body;
    assert_eq!((sent.get("background"), &sent["store"]), (None, &json!(false)), "{sent}");
}
