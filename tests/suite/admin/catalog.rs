//! Models and prompts: added, renamed, enabled, and left alone by seeding.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::{TestAdmin, TestServer, sample_spec};

async fn start_server() -> (TestDb, TestServer, TestAdmin) {
    let db = TestDb::new().await;
    let server =
        TestServer::start_with_env(db.pool.clone(), &[("ADMIN_TOKEN", TOKEN), ("RATE_LIMITS", "off")]).await;
    let admin = server.admin();
    assert_eq!(admin.post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
    (db, server, admin)
}

fn new_model() -> Value {
    json!({ "provider": "openai", "modelId": "gpt-9", "displayName": "GPT 9", "prices": { "input": 1.0, "output": 2.5 } })
}

#[tokio::test]
async fn an_admins_changes_to_a_model_survive_seeding() {
    let (_db, _server, admin) = start_server().await;
    let path = "/api/admin/models/openai_gpt_9";
    let put = admin.json(Method::PUT, path, &new_model()).await;
    assert_eq!((put.status, &put.json()["enabled"]), (201, &json!(true)), "{}", put.text());
    assert_eq!(admin.json(Method::PUT, path, &new_model()).await.status, 200);

    let renamed = json!({ "displayName": "The Ninth", "enabled": false });
    let patched = admin.json(Method::PATCH, path, &renamed).await;
    assert_eq!((patched.status, &patched.json()["displayName"]), (200, &json!("The Ninth")));

    let shipped = "/api/admin/models/reference_architect";
    admin.json(Method::PATCH, shipped, &json!({ "enabled": false, "displayName": "A" })).await;
    admin.json(Method::PUT, "/api/admin/models/openai_gpt_5_5", &new_model()).await;
    admin.post("/api/admin/seed?generateBuilds=0", "").await;
    let models = admin.get("/api/admin/models").await.json();
    let model = |key: &str| {
        models["models"].as_array().unwrap().iter().find(|model| model["key"] == key).unwrap().clone()
    };
    assert_eq!(
        (&model("reference_architect")["enabled"], &model("reference_architect")["displayName"]),
        (&json!(false), &json!("A"))
    );
    assert_eq!(model("openai_gpt_5_5")["modelId"], "gpt-9", "seeding must keep what an admin has edited");
    assert_eq!(model("openai_gpt_9")["enabled"], false);
    assert_eq!(model("openai_gpt_9")["canGenerate"], false, "without a key the model cannot generate");
}

#[tokio::test]
async fn a_prompt_is_added_and_its_text_stays_once_it_has_builds() {
    let (_db, server, admin) = start_server().await;
    let path = "/api/admin/prompts/tree-house";
    let put = admin.json(Method::PUT, path, &json!({ "text": " a tree house ", "tags": ["nature"] })).await;
    assert_eq!((put.status, &put.json()["text"]), (201, &json!("a tree house")), "{}", put.text());
    let change = json!({ "text": "a house in a tree", "tags": ["nature", "architecture"] });
    assert_eq!(admin.json(Method::PATCH, path, &change).await.json()["text"], "a house in a tree");

    let import = "/api/admin/import-build?modelKey=reference_architect&promptId=tree-house";
    assert_eq!(admin.post(import, sample_spec(4)).await.status, 200);
    for method in [Method::PUT, Method::PATCH] {
        let refused = admin.json(method, path, &json!({ "text": "another" })).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "text_is_fixed"));
    }
    let same = admin.json(Method::PUT, path, &json!({ "text": "a house in a tree", "tags": [] })).await;
    assert_eq!((same.status, &same.json()["tags"]), (200, &json!([])));
    let off = admin.json(Method::PATCH, path, &json!({ "active": false })).await;
    assert_eq!((off.status, &off.json()["active"]), (200, &json!(false)));
    let active = server.get("/api/arena/prompts").send().await.unwrap().text().await.unwrap();
    assert!(!active.contains("tree-house"));
}

#[tokio::test]
async fn invalid_models_and_prompts_are_refused_with_a_reason() {
    let (db, _server, admin) = start_server().await;
    let before = db.dump().await;
    let with = |field: &str, value: Value| {
        let mut model = new_model();
        model[field] = value;
        model
    };
    let cases = [
        (Method::PUT, "/api/admin/models/Upper", new_model(), 400, "a model's key"),
        (Method::PUT, "/api/admin/models/a", json!({ "provider": "openai" }), 422, "modelId"),
        (Method::PUT, "/api/admin/models/a", with("displayName", json!(" ")), 400, "displayName"),
        (Method::PUT, "/api/admin/models/a", with("displayName", json!("x".repeat(81))), 400, "displayName"),
        (Method::PUT, "/api/admin/models/a", with("provider", json!("Open AI")), 400, "provider"),
        (
            Method::PUT,
            "/api/admin/models/a",
            with("prices", json!({ "input": -1.0, "output": 1.0 })),
            400,
            "prices",
        ),
        (
            Method::PUT,
            "/api/admin/models/a",
            with("options", json!({ "temperature": 9.0 })),
            400,
            "temperature",
        ),
        (Method::PUT, "/api/admin/models/a", with("colour", json!("red")), 422, "colour"),
        (
            Method::PATCH,
            "/api/admin/models/nobody",
            json!({ "enabled": true }),
            404,
            "This model does not exist",
        ),
        (
            Method::PATCH,
            "/api/admin/models/reference_architect",
            json!({ "displayName": "" }),
            400,
            "displayName",
        ),
        (Method::PUT, "/api/admin/prompts/Not%20a%20slug", json!({ "text": "x" }), 400, "slug"),
        (Method::PUT, "/api/admin/prompts/a", json!({ "text": "x".repeat(801) }), 400, "800"),
        (Method::PUT, "/api/admin/prompts/a", json!({ "text": "x", "tags": ["No Tag"] }), 400, "tags"),
        (
            Method::PATCH,
            "/api/admin/prompts/nowhere",
            json!({ "active": true }),
            404,
            "This prompt does not exist",
        ),
    ];
    for (method, path, body, status, part) in cases {
        let answer = admin.json(method.clone(), path, &body).await;
        let reply = answer.json()["error"].as_str().unwrap_or_default().to_owned();
        assert_eq!(answer.status, status, "{method} {path} {body}: {reply}");
        assert!(reply.contains(part), "{method} {path} {body}: {reply:?} does not say {part:?}");
    }
    assert_eq!(db.dump().await, before, "a refused change must write nothing");
}

#[tokio::test]
async fn a_build_is_retired_once_and_its_votes_keep_referring_to_it() {
    let (db, _server, admin) = start_server().await;
    let import = "/api/admin/import-build?modelKey=reference_architect&promptId=lighthouse";
    let build = admin.post(import, sample_spec(4)).await.json()["buildId"].as_str().unwrap().to_owned();
    let path = format!("/api/admin/builds/{build}");
    assert_eq!(admin.delete(&path).await.status, 204);
    assert_eq!(admin.delete(&path).await.code(), "retired");
    for unknown in ["/api/admin/builds/00000000-0000-0000-0000-000000000000", "/api/admin/builds/x"] {
        let answer = admin.delete(unknown).await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "no_build"));
    }
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE retired_at IS NOT NULL").await, 1);
}

#[tokio::test]
async fn every_change_is_in_the_audit_log() {
    let (_db, _server, admin) = start_server().await;
    admin.json(Method::PUT, "/api/admin/models/newcomer", &new_model()).await;
    admin.json(Method::PATCH, "/api/admin/models/newcomer", &json!({ "enabled": false })).await;
    admin.json(Method::PUT, "/api/admin/prompts/shed", &json!({ "text": "a shed" })).await;
    admin.json(Method::PATCH, "/api/admin/prompts/shed", &json!({ "active": false })).await;
    let import = "/api/admin/import-build?modelKey=newcomer&promptId=shed";
    let build = admin.post(import, sample_spec(4)).await.json()["buildId"].as_str().unwrap().to_owned();
    admin.delete(&format!("/api/admin/builds/{build}")).await;
    // Repeating the current values is no change, so none of these is in the audit log.
    admin.json(Method::PATCH, "/api/admin/models/nobody", &json!({ "enabled": false })).await;
    admin.post("/api/admin/seed?dryRun=1", "").await;
    admin.get("/api/admin/status").await;

    let entries = admin.get("/api/admin/audit").await.json();
    let entries = entries["entries"].as_array().unwrap();
    let reply: Vec<_> = entries
        .iter()
        .rev()
        .map(|entry| format!("{} {}", entry["action"].as_str().unwrap(), entry["subject"].as_str().unwrap()))
        .collect();
    assert_eq!(
        reply,
        [
            "seed 32-simple-precise",
            "add model newcomer",
            "change model newcomer",
            "add prompt shed",
            "change prompt shed",
            "import shed by newcomer",
            "retire shed by newcomer",
        ]
    );
    assert!(entries.iter().all(|entry| entry["via"] == "api" && entry["address"] == "127.0.0.1"));
    let before = admin.get(&format!("/api/admin/audit?before={}", entries[5]["id"])).await.json();
    assert_eq!(before["entries"].as_array().unwrap().len(), 1);
}
