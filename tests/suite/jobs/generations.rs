//! How a model was asked stands with each build.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::{JobsFixture, TESTER, full_answer};
use crate::support::db::TestDb;
use crate::support::fake_protocol::MODEL;
use crate::support::{
    FakeProtocol, FakeProvider, FakeResponse, TestCatalog, TestServer, assert_fits_everywhere, open_page,
    sample_spec, server_with_builds,
};

async fn get(server: &TestServer, path: &str) -> (StatusCode, String) {
    let answer = server.get(path).send().await.unwrap();
    (answer.status(), answer.text().await.unwrap())
}

/// A build as the API describes it.
pub(super) async fn build(server: &TestServer, id: &Value) -> Value {
    let (_, text) = get(server, &format!("/api/builds/{}", id.as_str().unwrap())).await;
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_build_says_how_its_model_was_asked_and_what_that_cost() {
    let complaint = "Unsupported value: 'max' is not supported for reasoning_effort. Supported values are: 'low', 'high'. (org-42)";
    let refused = FakeResponse::json(400, &json!({ "error": { "message": complaint } }));
    let fixture =
        JobsFixture::with_responses([refused, full_answer("no"), full_answer(&sample_spec(4))]).await;
    let options = json!({ "effort": "max", "temperature": null, "maxOutputTokens": 9000 });
    let changed = fixture.admin.json(Method::PATCH, TESTER, &json!({ "options": options })).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    let job = fixture.run_job().await;
    let sum = |name: &str| {
        let attempts = job["attempts"].as_array().unwrap();
        attempts.iter().map(|attempt| attempt[name].as_i64().unwrap()).sum::<i64>()
    };
    let build = build(&fixture.server, &job["buildId"]).await;
    let template = build["generation"]["template"].as_str().unwrap();
    assert!(template.len() == 64 && template.chars().all(|digit| digit.is_ascii_hexdigit()), "{build}");
    let generation = json!({
        "provider": "somebody", "modelId": MODEL, "options": options,
        "sent": { "effort": "high", "temperature": null, "maxOutputTokens": 9000, "schema": true },
        "template": template,
        "tokensIn": sum("tokensIn"), "tokensCached": null, "tokensOut": sum("tokensOut"), "tokensReasoning": sum("tokensReasoning"),
        "cost": job["cost"], "costIsMinimum": false,
        "changes": [{ "effort": { "from": "max", "to": "high" } }],
    });
    assert_eq!((&build["origin"], &build["attempts"]), (&json!("generated"), &json!(2)));
    assert_eq!(build["generation"], generation);
    let (_, page) = get(&fixture.server, &format!("/builds/{}", job["buildId"].as_str().unwrap())).await;
    for part in [
        &format!("somebody, as <code>{MODEL}</code>"),
        "effort max, at most 9,000 output tokens<",
        "effort high, at most 9,000 output tokens, JSON schema<",
        "effort (max → high)",
        template,
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(!page.contains("org-42") && !build.to_string().contains("org-42"), "words of the provider");
}

#[tokio::test]
async fn imported_and_shipped_builds_say_that_they_were_imported() {
    let fixture = JobsFixture::without_worker().await;
    let import = "/api/admin/import-build?modelKey=tester&promptId=shed";
    let imported = fixture.admin.post(import, sample_spec(4)).await.json()["buildId"].clone();
    let imported = build(&fixture.server, &imported).await;
    assert_eq!((&imported["origin"], &imported["generation"]), (&json!("imported"), &Value::Null));
    let (db, server) = server_with_builds().await;
    assert_eq!(db.number("SELECT count(*) FROM generations").await, 0);
    let shipped = sqlx::query_scalar::<_, uuid::Uuid>("SELECT id FROM builds").fetch_one(&db.pool).await;
    let shipped = build(&server, &json!(shipped.unwrap().to_string())).await;
    assert_eq!((&shipped["origin"], &shipped["generation"]), (&json!("imported"), &Value::Null));
}

#[tokio::test]
async fn a_build_that_is_found_in_an_old_answer_says_how_that_answer_was_asked_for() {
    let fixture = JobsFixture::with_responses((0..3).map(|_| full_answer("nothing"))).await;
    let job = fixture.run_job().await;
    assert_eq!(job["state"], "failed");
    let answer =
        format!("UPDATE attempts SET answer = convert_to('{}', 'UTF8') WHERE number = 2", sample_spec(4));
    fixture.db.run(&answer).await;
    fixture.db.run("UPDATE attempts SET template = sha256(number::text::bytea)").await;
    let path = format!("/api/admin/jobs/{}/reparse", job["id"].as_str().unwrap());
    let reread = fixture.admin.post(&path, "").await.json();
    assert_eq!(reread["attempt"], 2, "{reread}");
    let build = build(&fixture.server, &reread["buildId"]).await;
    let template = "d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35";
    assert_eq!(build["generation"]["template"], template, "the SHA-256 of 2: {build}");
}

#[tokio::test]
async fn before_a_vote_nothing_says_how_the_builds_were_asked_for() {
    let provider = FakeProvider::with_responses(
        FakeProtocol::Compatible,
        (3..5).map(|storeys| full_answer(&sample_spec(storeys))),
    )
    .await;
    let catalog = TestCatalog::new(&provider, &["one", "two"], &["shed"]);
    let db = TestDb::new().await;
    let server = TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[])).await;
    let admin = server.admin();
    assert_eq!(admin.post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
    for model in ["one", "two"] {
        let job = admin.enqueue("shed", model).await;
        assert_eq!(admin.wait_for_job_end(&job).await["state"], "ready");
    }
    let matchup = server.voter().matchup().await.to_string();
    for telling in ["generation", "somebody", MODEL, "tokens", "cost", "template"] {
        assert!(!matchup.contains(telling), "{telling}: {matchup}");
    }
    let hidden = admin.json(Method::PATCH, "/api/admin/prompts/shed", &json!({ "heldOut": true })).await;
    assert_eq!(hidden.status, 200);
    let id: uuid::Uuid =
        sqlx::query_scalar("SELECT id FROM builds LIMIT 1").fetch_one(&db.pool).await.unwrap();
    for path in [format!("/api/builds/{id}"), format!("/builds/{id}")] {
        assert_eq!(get(&server, &path).await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn the_page_of_a_generated_build_fits_every_size_and_theme() {
    let complaint = "Unsupported value: 'max' is not supported for reasoning_effort. Supported values are: 'low', 'high'.";
    let refused = FakeResponse::json(400, &json!({ "error": { "message": complaint } }));
    let fixture = JobsFixture::with_responses([refused, full_answer(&sample_spec(4))]).await;
    let options = json!({ "options": { "effort": "max", "maxOutputTokens": 32000, "temperature": 0.7 } });
    assert_eq!(fixture.admin.json(Method::PATCH, TESTER, &options).await.status, 200);
    let job = fixture.run_job().await;
    let path = format!("/builds/{}", job["buildId"].as_str().unwrap());
    let mut page = open_page(&fixture.server.url_for(&path)).await;
    assert_fits_everywhere(&mut page, "build-generated").await;
}
