//! Owners' tokens.

use reqwest::Method;
use serde_json::{Value, json};

use super::{AGENTS, AgentsFixture, builder};

impl AgentsFixture {
    async fn make_token(&self, key: &str) -> Value {
        let wanted = json!({ "name": "Ada", "runsPerDay": 5 });
        let made = self.admin.json(Method::POST, &format!("{AGENTS}/{key}/tokens"), &wanted).await;
        assert_eq!(made.status, 201, "{}", made.text());
        made.json()
    }

    /// What an owner's change of an agent comes to: the status, and the answer.
    async fn change_own(&self, key: &str, token: &str, change: &Value) -> (u16, Value) {
        let request = self.server.request(Method::PATCH, &format!("/api/agents/{key}"));
        let answer = request.bearer_auth(token).json(change).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }
}

#[tokio::test]
async fn a_token_is_shown_once_and_stored_as_a_digest() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    fixture.add_builder("tower", &agent).await;
    let made = fixture.make_token("tower").await;
    let token = made["token"].as_str().unwrap();
    assert_eq!((token.len(), &made["name"], &made["runsPerDay"]), (73, &json!("Ada"), &json!(5)));
    let listed = fixture.admin.get(&format!("{AGENTS}/tower/tokens")).await;
    assert!(!listed.text().contains(token));
    assert_eq!(listed.json()["tokens"][0]["id"], made["id"]);
    let secret = token.strip_prefix("buildoff_").unwrap();
    assert!(!fixture.db.dump().await.contains(secret));
    assert!(!fixture.admin.get("/api/admin/audit").await.text().contains(secret));
}

#[tokio::test]
async fn an_owner_changes_address_and_note_of_the_own_agent_and_nothing_else() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    fixture.add_builder("tower", &agent).await;
    fixture.add_builder("other", &agent).await;
    let made = fixture.make_token("tower").await;
    let token = made["token"].as_str().unwrap();

    let (status, changed) = fixture.change_own("tower", token, &json!({ "note": "Mine." })).await;
    assert_eq!((status, &changed["note"], &changed["url"]), (200, &json!("Mine."), &json!(agent.url)));
    let (status, refused) = fixture.change_own("other", token, &json!({ "note": "Mine, too." })).await;
    assert_eq!((status, &refused["code"]), (403, &json!("not_your_agent")));
    for field in ["name", "keyVariable", "enabled", "builds"] {
        assert_eq!(fixture.change_own("tower", token, &json!({ field: "x" })).await.0, 422, "{field}");
    }
    let audit = fixture.admin.get("/api/admin/audit").await.text();
    assert!(audit.contains("Ada"), "{audit}");
    let tokens = fixture.admin.get(&format!("{AGENTS}/tower/tokens")).await.json();
    assert!(tokens["tokens"][0]["usedAt"].is_string());
}

#[tokio::test]
async fn an_owner_names_public_https_addresses_only_and_no_secret_goes_along() {
    let fixture = AgentsFixture::with_models("", &[("TOWER_AGENT_KEY", "a-secret-of-the-agent")]).await;
    let agent = builder().await;
    fixture.add(&json!({ "key": "tower", "url": agent.url, "keyVariable": "TOWER_AGENT_KEY" })).await;
    let made = fixture.make_token("tower").await;
    let token = made["token"].as_str().unwrap();
    let other = builder().await;
    for url in [&*other.url, "https://127.0.0.1:9", "https://[::1]:9", "http://192.0.2.7", "https://10.0.0.1"]
    {
        let (status, refused) = fixture.change_own("tower", token, &json!({ "url": url })).await;
        assert_eq!((status, &refused["code"]), (400, &json!("address_refused")), "{url}");
    }
    // A public address where nothing answers is kept, with the reason.
    let (status, moved) =
        fixture.change_own("tower", token, &json!({ "url": "https://no-such-host.invalid" })).await;
    assert_eq!(status, 200, "{moved}");
    assert!(moved["cardProblem"].as_str().unwrap().contains("host"), "{moved}");
    let listed = fixture.admin.get(AGENTS).await.json();
    assert_eq!(
        (&listed["agents"][0]["keyVariable"], &listed["agents"][0]["allowsPrivate"]),
        (&Value::Null, &json!(false))
    );
}

#[tokio::test]
async fn a_token_that_is_revoked_unknown_or_an_admins_does_nothing() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    fixture.add_builder("tower", &agent).await;
    let made = fixture.make_token("tower").await;
    let path = format!("{AGENTS}/tower/tokens/{}", made["id"].as_str().unwrap());
    assert_eq!(fixture.admin.delete(&path).await.status, 204);
    let unknown = format!("buildoff_{}", "0".repeat(64));
    for token in [made["token"].as_str().unwrap(), &unknown, "x", crate::support::admin::TOKEN] {
        let (status, refused) = fixture.change_own("tower", token, &json!({ "note": "x" })).await;
        assert_eq!((status, &refused["code"]), (401, &json!("bad_agent_token")), "{token}");
    }
    let nobody =
        fixture.server.request(Method::PATCH, "/api/agents/tower").json(&json!({})).send().await.unwrap();
    assert_eq!(nobody.status(), 401);
    assert_eq!(fixture.admin.delete(&path.replace("tower/", "nobody/")).await.status, 404);
}

#[tokio::test]
async fn what_is_no_token_is_refused() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    fixture.add_builder("tower", &agent).await;
    let path = format!("{AGENTS}/tower/tokens");
    for wanted in [
        json!({ "name": " " }),
        json!({ "name": "x".repeat(81) }),
        json!({ "name": "Ada", "runsPerDay": -1 }),
        json!({ "name": "Ada", "runsPerDay": 100_001 }),
    ] {
        assert_eq!(fixture.admin.json(Method::POST, &path, &wanted).await.status, 400, "{wanted}");
    }
    let nobody =
        fixture.admin.json(Method::POST, &path.replace("tower", "nobody"), &json!({ "name": "Ada" })).await;
    assert_eq!((nobody.status, nobody.json()["code"].as_str()), (404, Some("no_agent")));
}
