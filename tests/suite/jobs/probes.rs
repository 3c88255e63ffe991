//! Probing models: one tiny request tells whether builds can be requested.

use serde_json::{Value, json};

use super::JobsFixture;
use crate::support::{FakePart, FakeProtocol, FakeResponse, TestCatalog, sample_spec};
use crate::support::{FakeProvider, TestServer, db::TestDb};

const PROBE: &str = "/api/admin/models/tester/probe";

fn short_answer() -> FakeResponse {
    FakeProtocol::Compatible.answer(&[FakePart::Text("{}"), FakePart::Done])
}

fn refusal(status: u16, message: &str) -> FakeResponse {
    FakeResponse::json(status, &json!({ "error": { "message": message } }))
}

impl JobsFixture {
    async fn probe(&self) -> Value {
        let answer = self.admin.post(PROBE, "").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }
}

#[tokio::test]
async fn a_probe_is_one_request_with_the_options_and_the_schema_of_builds_and_is_no_build() {
    let fixture = JobsFixture::with_responses([short_answer()]).await;
    let options = json!({ "temperature": 0.5, "maxOutputTokens": 4096 });
    fixture.db.run(&format!("UPDATE models SET options = '{options}', edited_at = now()")).await;
    let probe = fixture.probe().await;
    assert_eq!(
        (&probe["ok"], &probe["code"], &probe["provider"]),
        (&json!(true), &Value::Null, &json!("somebody"))
    );
    assert_eq!(probe["sent"]["maxOutputTokens"], 4096, "{probe}");
    let requests = fixture.provider.requests();
    assert_eq!(requests.len(), 1);
    let body = &requests[0].body;
    assert_eq!((&body["temperature"], body["response_format"].is_object()), (&json!(0.5), true), "{body}");
    assert!(body["messages"].to_string().len() < 400, "it is tiny: {body}");
    assert_eq!(fixture.db.number("SELECT count(*) FROM jobs").await, 0);
    assert_eq!(fixture.db.number("SELECT count(*) FROM audit WHERE action = 'probe model'").await, 1);
}

#[tokio::test]
async fn a_probe_tells_what_is_wrong_with_key_and_id() {
    for (status, message, code) in
        [(401, "That key is not known here.", "bad_key"), (404, "There is no such model.", "no_such_model")]
    {
        let fixture = JobsFixture::with_responses([refusal(status, message)]).await;
        let probe = fixture.probe().await;
        assert_eq!((&probe["ok"], &probe["code"]), (&json!(false), &json!(code)), "{probe}");
        assert!(probe["message"].as_str().unwrap().contains(message), "{probe}");
        assert_eq!(probe["cost"], 0.0, "{probe}");
    }
}

#[tokio::test]
async fn builds_begin_with_the_options_that_a_probe_found_to_be_accepted() {
    let answer = FakeProtocol::Compatible.answer(&[FakePart::Text(&sample_spec(4)), FakePart::Done]);
    let fixture =
        JobsFixture::with_responses([refusal(400, "temperature is not supported"), short_answer(), answer])
            .await;
    fixture.db.run("UPDATE models SET options = '{\"temperature\": 0.5}', edited_at = now()").await;
    let probe = fixture.probe().await;
    assert_eq!(
        (&probe["ok"], &probe["notes"][0]["step"]),
        (&json!(true), &json!("no_temperature")),
        "{probe}"
    );
    assert_eq!(fixture.run_job().await["state"], "ready");
    let requests = fixture.provider.requests();
    assert_eq!(requests.len(), 3, "the build's request is not refused again");
    assert_eq!(requests[2].body["temperature"], Value::Null);
}

#[tokio::test]
async fn an_answer_that_is_cut_off_or_declined_means_that_the_request_was_accepted() {
    let cut = FakeResponse::stream().send(FakeProtocol::Compatible.stream(&[FakePart::Text("{")]));
    let fixture = JobsFixture::with_responses([cut]).await;
    assert_eq!(fixture.probe().await["ok"], true);
}

#[tokio::test]
async fn a_model_without_a_key_says_which_is_missing_and_nobody_is_asked() {
    let provider = FakeProvider::with_responses(FakeProtocol::Compatible, []).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
    let db = TestDb::new().await;
    let mut variables = catalog.variables(&[]);
    variables.retain(|(name, _)| *name != "SOMEBODY_API_KEY");
    let server = TestServer::start_with_env(db.pool.clone(), &variables).await;
    let fixture = JobsFixture::from_parts(db, provider, server).await;
    let probe = fixture.probe().await;
    assert_eq!(
        (&probe["code"], &probe["message"]),
        (&json!("no_provider"), &json!("SOMEBODY_API_KEY is not set."))
    );
    assert_eq!(fixture.admin.post("/api/admin/models/nobody/probe", "").await.status, 404);
    assert_eq!(fixture.provider.requests().len(), 0);
}
