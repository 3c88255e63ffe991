//! Who may order what.

use reqwest::Method;
use reqwest::header::{HOST, ORIGIN};
use serde_json::{Value, json};

use super::{ASSESSMENTS, AssessmentFixture, short, sleeper, walker};
use crate::support::admin::TOKEN;

impl AssessmentFixture {
    /// Orders with a token.
    async fn order_with(&self, token: &str, agent: &str, config: &Value) -> (u16, Value) {
        let order = json!({ "participants": { "agent": agent }, "config": config });
        let request = self.server.post(ASSESSMENTS).bearer_auth(token).json(&order);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }
}

#[tokio::test]
async fn what_cannot_be_carried_out_is_refused_with_what_would_be_right() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = walker().await;
    for (config, words) in [
        (json!({ "task_category": ["flying"] }), "flying"),
        (json!({ "tasks": ["craft_moon"] }), "craft_moon"),
        (json!({ "tasks": [] }), "empty"),
        (json!({ "max_steps": 0 }), "1 to 12000"),
        (json!({ "revision": "mcu-7" }), "mcu-1"),
        (json!({ "obs_size": [127, 127] }), "obs_size"),
        (json!({ "seed": 9_007_199_254_740_993_u64 }), "seed"),
        (json!({ "speed": 3 }), "speed"),
        (json!({ "task_category": 3 }), "a list of names"),
    ] {
        let (status, refused) = fixture.order(&agent.url, &config).await;
        assert_eq!((status, &refused["code"]), (400, &json!("bad_order")), "{config}: {refused}");
        assert!(refused["error"].as_str().unwrap().contains(words), "{config}: {refused}");
    }
    for no_order in [json!([]), Value::Null, json!("crafting")] {
        let answer = fixture.server.post(ASSESSMENTS).json(&no_order).send().await.unwrap();
        let refused: Value = answer.json().await.unwrap();
        assert!(refused["error"].as_str().unwrap().starts_with("An order is an object"), "{refused}");
    }
    let (status, refused) = fixture.order("nobody", &short()).await;
    assert_eq!((status, &refused["code"]), (404, &json!("no_agent")));
    let (status, refused) = fixture.order("ftp://127.0.0.1/", &short()).await;
    assert_eq!((status, &refused["code"]), (400, &json!("address_refused")));
    assert_eq!(fixture.db.number("SELECT count(*) FROM assessments").await, 0);
}

#[tokio::test]
async fn whoever_sits_at_this_machine_may_have_agents_at_this_machine_assessed() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = walker().await;
    let order = json!({ "participants": { "agent": agent.url }, "config": short() });
    let post = || fixture.server.post(ASSESSMENTS).json(&order);
    for from_elsewhere in [
        post().header("x-forwarded-for", "192.0.2.1"),
        post().header("via", "1.1 proxy"),
        post().header(HOST, "buildoff.example"),
    ] {
        let answer = from_elsewhere.send().await.unwrap();
        assert_eq!(answer.status(), 403);
        assert_eq!(answer.json::<Value>().await.unwrap()["code"], "may_not_assess");
    }
    let (status, refused) = fixture.order("http://192.0.2.1", &short()).await;
    assert_eq!((status, &refused["code"]), (403, &json!("may_not_assess")));
    assert_eq!(fixture.order(&agent.url, &short()).await.0, 202);
}

#[tokio::test]
async fn a_page_of_another_site_can_order_and_cancel_nothing() {
    let fixture = AssessmentFixture::new(&[("ASSESS", "open")]).await;
    let agent = sleeper().await;
    let order = json!({ "participants": { "agent": agent.url }, "config": short() });
    let answer = fixture.server.post(ASSESSMENTS).header(ORIGIN, "https://evil.example").json(&order);
    let answer = answer.send().await.unwrap();
    assert_eq!(answer.status(), 403);
    assert_eq!(answer.json::<Value>().await.unwrap()["code"], "cross_site");
    let plain = fixture.server.post(ASSESSMENTS).header("content-type", "text/plain").body(order.to_string());
    assert!(plain.send().await.unwrap().status().is_client_error(), "a form cannot send JSON");
    let rpc = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": { "message": {
        "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": order.to_string() }] } } });
    let answer = fixture.server.post("/a2a").header(ORIGIN, "https://evil.example").json(&rpc);
    assert_eq!(answer.send().await.unwrap().status(), 403);
    assert_eq!(fixture.db.number("SELECT count(*) FROM assessments").await, 0);

    let id = fixture.ordered(&agent.url, &short()).await;
    let request = fixture.server.request(Method::DELETE, &format!("{ASSESSMENTS}/{id}"));
    let answer = request.header(ORIGIN, "https://evil.example").send().await.unwrap();
    assert_eq!(answer.status(), 403);
}

#[tokio::test]
async fn without_a_token_nothing_is_ordered_where_tokens_are_wanted() {
    let fixture = AssessmentFixture::new(&[("ASSESS", "tokens")]).await;
    let agent = walker().await;
    let (status, refused) = fixture.order(&agent.url, &short()).await;
    assert_eq!((status, &refused["code"]), (403, &json!("may_not_assess")));
    let (status, refused) = fixture.order_with("wrong", &agent.url, &short()).await;
    assert_eq!((status, &refused["code"]), (401, &json!("bad_token")));
    assert_eq!(fixture.order_with(TOKEN, &agent.url, &short()).await.0, 202);
}

#[tokio::test]
async fn an_owner_has_the_own_agent_assessed_by_key_or_address_as_often_as_the_token_allows() {
    let fixture = AssessmentFixture::new(&[("ASSESS", "tokens")]).await;
    let (agent, other) = (walker().await, walker().await);
    fixture.add_agent("walker", &agent).await;
    fixture.add_agent("other", &other).await;
    let token = fixture.make_token("walker", 2).await;
    for foreign in ["other", &other.url] {
        let (status, refused) = fixture.order_with(&token, foreign, &short()).await;
        assert_eq!((status, &refused["code"]), (403, &json!("may_not_assess")), "{foreign}");
    }
    let (status, by_key) = fixture.order_with(&token, "walker", &short()).await;
    assert_eq!(status, 202, "{by_key}");
    assert_eq!(fixture.order_with(&token, &agent.url, &short()).await.0, 202);
    let (status, refused) = fixture.order_with(&token, "walker", &short()).await;
    assert_eq!((status, &refused["code"]), (429, &json!("too_many_assessments")));
    let ended = fixture.finished(by_key["id"].as_str().unwrap()).await;
    assert_eq!(ended["agent"], json!({ "key": "walker", "name": "Walker" }));

    fixture.db.run("UPDATE agent_tokens SET revoked_at = now()").await;
    let (status, refused) = fixture.order_with(&token, "walker", &short()).await;
    assert_eq!((status, &refused["code"]), (401, &json!("bad_agent_token")));
}

#[tokio::test]
async fn only_whoever_ordered_an_assessment_cancels_it_and_admins() {
    let fixture = AssessmentFixture::new(&[("ASSESS", "tokens")]).await;
    let (agent, other) = (sleeper().await, sleeper().await);
    fixture.add_agent("sleeper", &agent).await;
    fixture.add_agent("other", &other).await;
    let (own, foreign) = (fixture.make_token("sleeper", 9).await, fixture.make_token("other", 9).await);
    let (_, ordered) = fixture.order_with(&own, "sleeper", &short()).await;
    let path = format!("{ASSESSMENTS}/{}", ordered["id"].as_str().unwrap());
    let delete = |token: Option<String>| {
        let request = fixture.server.request(Method::DELETE, &path);
        let request = token.map_or(request.try_clone().unwrap(), |token| request.bearer_auth(token));
        async move { request.send().await.unwrap().status().as_u16() }
    };
    assert_eq!(delete(None).await, 403);
    assert_eq!(delete(Some(foreign)).await, 403);
    assert_eq!(delete(Some(own.clone())).await, 204);
    assert_eq!(delete(Some(own)).await, 409, "it has ended");
    let (_, ordered) = fixture.order_with(&fixture.make_token("sleeper", 9).await, "sleeper", &short()).await;
    let path = format!("{ASSESSMENTS}/{}", ordered["id"].as_str().unwrap());
    assert_eq!(fixture.admin().delete(&path).await.status, 204);
}
