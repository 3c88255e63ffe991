//! `/api/admin/agents`.

use reqwest::Method;
use serde_json::{Value, json};

use super::{AGENTS, AgentsFixture, builder};
use crate::support::TestServer;
use crate::support::fake_agent::FakeAgent;

#[tokio::test]
async fn an_agent_is_added_with_what_its_card_says_and_is_a_model_if_it_builds() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    let (status, added) = fixture.add(&json!({ "key": "tower", "url": agent.url, "builds": true })).await;
    assert_eq!(status, 201, "{added}");
    assert_eq!((&added["name"], &added["url"]), (&json!("Fake"), &json!(agent.url)));
    assert_eq!(
        (&added["enabled"], &added["builds"], &added["canAsk"]),
        (&json!(true), &json!(true), &json!(true))
    );
    assert_eq!((&added["card"]["version"], &added["card"]["protocol"]), (&json!("1"), &json!("1.0")));
    assert_eq!(added["card"]["digest"].as_str().map(str::len), Some(64));

    let models = fixture.admin.get("/api/admin/models").await.json();
    let model = &models["models"][0];
    assert_eq!((&model["key"], &model["provider"]), (&json!("tower"), &json!("agent")));
    assert_eq!((&model["canGenerate"], &model["askedAt"]), (&json!(true), &json!("tower")));
    assert_eq!(fixture.add(&json!({ "key": "tower", "url": agent.url })).await.0, 409);

    // Everybody sees it, without its address.
    let seen: Value = fixture.server.get("/api/agents/tower").send().await.unwrap().json().await.unwrap();
    let host = agent.url.strip_prefix("http://").unwrap();
    assert_eq!((&seen["host"], &seen["card"]["name"]), (&json!(host), &json!("Fake")));
    assert!(seen.get("url").is_none() && seen.get("keyVariable").is_none(), "{seen}");
}

#[tokio::test]
async fn an_agent_may_be_named_by_the_address_of_its_card_and_by_an_older_cards_address() {
    let fixture = AgentsFixture::new().await;
    for (key, ending) in [("new", "/.well-known/agent-card.json"), ("old", "/.well-known/agent.json/")] {
        let agent = builder().await;
        let (_, added) = fixture.add(&json!({ "key": key, "url": format!("{}{ending}", agent.url) })).await;
        assert_eq!(added["url"], json!(agent.url));
    }
}

#[tokio::test]
async fn an_agent_whose_card_cannot_be_read_is_kept_with_the_reason_until_it_can() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    agent.change_card(|card| {
        card["supportedInterfaces"][0]["protocolBinding"] = json!("GRPC");
    });
    let (status, added) = fixture.add(&json!({ "key": "tower", "url": agent.url, "name": "Tower" })).await;
    assert_eq!((status, &added["card"]), (201, &Value::Null));
    assert!(added["cardProblem"].as_str().unwrap().contains("JSON-RPC"), "{added}");

    agent.change_card(|card| card["supportedInterfaces"][0]["protocolBinding"] = json!("JSONRPC"));
    let again = fixture.admin.post(&format!("{AGENTS}/tower/card"), "").await.json();
    assert_eq!((&again["cardProblem"], &again["card"]["name"]), (&Value::Null, &json!("Fake")));
    assert_eq!(again["name"], "Tower");
}

#[tokio::test]
async fn what_cannot_be_an_agent_is_refused_and_nothing_is_stored() {
    let fixture = AgentsFixture::new().await;
    for (agent, code) in [
        (json!({ "key": "Tower", "url": "https://agents.example" }), "bad_request"),
        (json!({ "key": "tower", "url": "agents.example" }), "address_refused"),
        (json!({ "key": "tower", "url": "https://agents.example/?key=1" }), "address_refused"),
        (json!({ "key": "tower", "url": "https://me:secret@agents.example" }), "address_refused"),
        (json!({ "key": "tower", "url": "https://agents.example", "name": " " }), "bad_request"),
        (json!({ "key": "tower", "url": "https://agents.example", "keyVariable": "HOME" }), "bad_request"),
        (
            json!({ "key": "tower", "url": "https://agents.example", "keyVariable": "my_agent" }),
            "bad_request",
        ),
        (json!({ "key": "connect", "url": "https://agents.example" }), "bad_request"),
        (json!({ "key": "openai", "url": "https://agents.example" }), "agent_exists"),
    ] {
        let (_, answer) = fixture.add(&agent).await;
        assert_eq!(answer["code"], code, "{agent}: {answer}");
    }
    assert_eq!(fixture.admin.get(AGENTS).await.json(), json!({ "agents": [] }));
}

#[tokio::test]
async fn private_addresses_are_for_admins_at_this_machine_only() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    let add = async |headers: &[(&str, &str)]| {
        let mut request = fixture.server.post(AGENTS).bearer_auth(crate::support::admin::TOKEN);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.json(&json!({ "key": "tower", "url": agent.url })).send().await.unwrap();
        answer.json::<Value>().await.unwrap()["code"].clone()
    };
    for headers in [
        [("x-forwarded-for", "192.0.2.7")],
        [("via", "1.1 proxy")],
        [("host", "buildoff.example")],
        [("origin", "https://elsewhere.example")],
    ] {
        assert_ne!(add(&headers).await, Value::Null, "{headers:?}");
    }
    assert_eq!(add(&[("x-forwarded-for", "192.0.2.7")]).await, "address_refused");
    assert_eq!(add(&[]).await, Value::Null);

    let public = [("PUBLIC_URL", "https://buildoff.example")];
    let elsewhere = AgentsFixture::with_models("", &public).await;
    assert_eq!(
        elsewhere.add(&json!({ "key": "tower", "url": agent.url })).await.1["code"],
        "address_refused"
    );
}

#[tokio::test]
async fn a_disabled_agent_is_not_asked_and_its_model_is_disabled_with_it() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    fixture.add_builder("tower", &agent).await;
    let model = async || {
        let models = fixture.admin.get("/api/admin/models").await.json();
        (models["models"][0]["enabled"].clone(), models["models"][0]["canGenerate"].clone())
    };
    let job = fixture.admin.enqueue("shed", "tower").await;
    let (_, changed) = fixture.change("tower", &json!({ "enabled": false })).await;
    assert_eq!(
        (&changed["enabled"], &changed["builds"], &changed["canAsk"]),
        (&json!(false), &json!(true), &json!(false))
    );
    assert_eq!(model().await, (json!(false), json!(false)));
    assert_eq!(fixture.admin.job(&job).await["state"], "cancelled");

    fixture.change("tower", &json!({ "enabled": true })).await;
    assert_eq!(model().await, (json!(true), json!(true)));
    fixture.change("tower", &json!({ "builds": false })).await;
    assert_eq!(model().await.0, json!(false));
    // The model's own switch says the same.
    fixture.admin.json(Method::PATCH, "/api/admin/models/tower", &json!({ "enabled": true })).await;
    assert_eq!(fixture.admin.get(AGENTS).await.json()["agents"][0]["builds"], json!(true));
}

#[tokio::test]
async fn an_agent_is_added_as_a_model_by_its_key_as_the_provider() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    fixture.add(&json!({ "key": "tower", "url": agent.url })).await;
    let put = async |key: &str, provider: &str| {
        let model = json!({ "provider": provider, "modelId": "any", "displayName": "Bot", "enabled": true });
        let answer = fixture.admin.json(Method::PUT, &format!("/api/admin/models/{key}"), &model).await;
        (answer.status, answer.json())
    };
    for provider in ["tower", "agent"] {
        let (_, model) = put("tower", provider).await;
        assert_eq!((&model["provider"], &model["modelId"]), (&json!("agent"), &json!("tower")), "{model}");
        assert_eq!(model["canGenerate"], json!(true));
    }
    assert_eq!(fixture.admin.get(AGENTS).await.json()["agents"][0]["builds"], json!(true));
    assert_eq!(put("other", "tower").await.0, 400);
    assert_eq!(put("other", "agent").await.0, 400);
    assert_eq!(fixture.admin.delete("/api/admin/models/tower").await.status, 204);
    assert_eq!(fixture.admin.get(AGENTS).await.json()["agents"][0]["builds"], json!(false));
}

#[tokio::test]
async fn an_agents_name_and_note_are_those_of_its_model() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    fixture.add_builder("tower", &agent).await;
    fixture.change("tower", &json!({ "name": "Tower Bot", "note": "Builds towers." })).await;
    let model = fixture.admin.get("/api/models/tower").await.json();
    assert_eq!((&model["displayName"], &model["about"]), (&json!("Tower Bot"), &json!("Builds towers.")));
    assert_eq!(model["agent"], json!(true));
}

#[tokio::test]
async fn a_secret_is_not_taken_along_to_another_origin() {
    let fixture = AgentsFixture::with_models("", &[("TOWER_AGENT_KEY", "a-secret-of-the-agent")]).await;
    let (agent, other) = (builder().await, builder().await);
    let new = json!({ "key": "tower", "url": agent.url, "keyVariable": "TOWER_AGENT_KEY" });
    assert_eq!(fixture.add(&new).await.1["canAsk"], json!(true));
    let (_, same) = fixture.change("tower", &json!({ "url": format!("{}/deeper", agent.url) })).await;
    assert_eq!(same["keyVariable"], "TOWER_AGENT_KEY");
    let (_, moved) = fixture.change("tower", &json!({ "url": other.url })).await;
    assert_eq!((&moved["keyVariable"], &moved["canAsk"]), (&Value::Null, &json!(true)));
    let named = json!({ "url": agent.url, "keyVariable": "TOWER_AGENT_KEY" });
    assert_eq!(fixture.change("tower", &named).await.1["keyVariable"], "TOWER_AGENT_KEY");
}

#[tokio::test]
async fn an_agent_whose_variable_is_not_set_is_not_asked_and_the_console_says_why() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    let new = json!({ "key": "tower", "url": agent.url, "keyVariable": "TOWER_AGENT_KEY", "builds": true });
    assert_eq!(fixture.add(&new).await.1["canAsk"], json!(false));
    let job = json!({ "promptId": "shed", "modelKey": "tower" });
    let refused = fixture.admin.json(Method::POST, "/api/admin/jobs", &job).await;
    assert!(refused.text().contains("TOWER_AGENT_KEY is not set"), "{}", refused.text());
}

#[tokio::test]
async fn an_agent_with_builds_is_disabled_rather_than_removed() {
    let (fixture, agent) = (AgentsFixture::with_worker("", &[]).await, builder().await);
    fixture.add_builder("tower", &agent).await;
    assert_eq!(fixture.build("tower").await["state"], "ready");
    let path = format!("{AGENTS}/tower");
    let refused = fixture.admin.delete(&path).await;
    assert_eq!((refused.status, refused.json()["code"].as_str()), (409, Some("agent_in_use")));

    fixture.add(&json!({ "key": "idle", "url": agent.url, "builds": true })).await;
    assert_eq!(fixture.admin.delete(&format!("{AGENTS}/idle")).await.status, 204);
    assert_eq!(fixture.admin.get("/api/models/idle").await.status, 404);
    assert_eq!(fixture.admin.delete(&format!("{AGENTS}/idle")).await.status, 404);
}

#[tokio::test]
async fn another_server_asks_an_agent_that_was_entered_here() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    let settings = super::settings(&fixture.data_dir, &[]);
    let _other = TestServer::start_with_worker(fixture.db.pool.clone(), &settings).await;
    fixture.add_builder("tower", &agent).await;
    assert_eq!(fixture.build("tower").await["state"], "ready");

    // It has moved, and the other server finds it where it is now.
    let build = fixture.admin.get("/api/models/tower").await.json()["builds"][0]["id"].clone();
    let retired = fixture.admin.delete(&format!("/api/admin/builds/{}", build.as_str().unwrap())).await;
    assert_eq!(retired.status, 204, "{}", retired.text());
    let moved: FakeAgent = builder().await;
    fixture.change("tower", &json!({ "url": moved.url })).await;
    fixture.build("tower").await;
    assert_eq!((agent.requests().len(), moved.requests().len()), (1, 1));
}
