//! Agents in the console and in the sandbox, in the browser.

use reqwest::Method;
use serde_json::{Value, json};

use super::{AGENTS, AgentsFixture, builder, says};
use crate::support::admin::TOKEN;
use crate::support::fake_agent::{AgentStep, FakeAgent};
use crate::support::{BrowserPage, assert_fits_everywhere, open_page, sample_spec};

impl AgentsFixture {
    async fn open_signed_in(&self, path: &str) -> BrowserPage {
        let page = open_page(&self.server.url_for("/admin")).await;
        page.run(&format!("document.getElementById('token').value = {TOKEN:?}")).await;
        page.click("main [type=submit]").await;
        page.wait_until("document.querySelector('nav.console')").await;
        page.goto(&self.server.url_for(path)).await;
        page
    }
}

async fn fill(page: &BrowserPage, id: &str, text: &str) {
    page.run(&format!(
        "{{ const field = document.getElementById({id:?}); field.value = {text:?}; field.dispatchEvent(new Event('input', {{ bubbles: true }})); field.dispatchEvent(new Event('change', {{ bubbles: true }})) }}"
    ))
    .await;
}

async fn confirm(page: &BrowserPage) {
    page.wait_until("document.getElementById('sure').open").await;
    page.click("#sure [data-yes]").await;
}

#[tokio::test]
async fn an_agent_is_entered_in_the_console_builds_and_is_voted_on() {
    let fixture = AgentsFixture::with_worker("", &[("MIN_DWELL_MS", "0")]).await;
    let agent = builder().await;
    let mut page = fixture.open_signed_in("/admin/agents").await;
    page.click("[data-add]").await;
    fill(&page, "url", &agent.url).await;
    assert!(page.eval::<String>("document.getElementById('key').value").await.starts_with("127_0_0_1_"));
    fill(&page, "key", "tower").await;
    page.click("#edit [type=submit]").await;
    page.wait_until("document.querySelector('tr[data-saved]')").await;
    assert!(page.text("tr[data-saved] th").await.starts_with("Fake"));
    assert!(page.text("tr[data-saved]").await.contains("A2A 1.0"));

    page.goto(&fixture.server.url_for("/admin")).await;
    page.click("[data-order=missing]").await;
    confirm(&page).await;
    page.wait_until("document.querySelectorAll('#matrix img').length === 1").await;

    // Another contestant, so that there is something to choose from.
    let model = json!({ "provider": "somebody", "modelId": "x", "displayName": "Model X" });
    fixture.admin.json(Method::PUT, "/api/admin/models/x", &model).await;
    let import = "/api/admin/import-build?modelKey=x&promptId=shed";
    assert_eq!(fixture.admin.post(import, sample_spec(9)).await.status, 200);
    page.goto(&fixture.server.low_quality_url("/")).await;
    page.wait_until("document.querySelector('main')?.dataset.phase === 'ready'").await;
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
    page.click("[data-choice=A]").await;
    page.wait_until("document.querySelector('main')?.dataset.phase === 'revealed'").await;
    let names = [page.text("[data-of=a] h2 a").await, page.text("[data-of=b] h2 a").await];
    assert!(names.contains(&"Fake".to_owned()), "{names:?}");

    page.goto(&fixture.server.url_for("/leaderboard?kind=agents")).await;
    assert_eq!(page.text(".ladder tbody .mark").await, "Agent");
}

#[tokio::test]
async fn what_is_wrong_is_said_at_its_field_and_a_card_that_cannot_be_read_in_its_row() {
    let fixture = AgentsFixture::new().await;
    let agent = builder().await;
    agent.change_card(|card| *card = json!("no card"));
    let page = fixture.open_signed_in("/admin/agents").await;
    assert!(page.text(".empty").await.contains("No agents yet."));
    page.click("[data-add]").await;
    page.click("#edit [type=submit]").await;
    page.wait_until("document.getElementById('url-trouble')").await;
    fill(&page, "url", "https://agents.example/?x").await;
    fill(&page, "key", "tower").await;
    page.click("#edit [type=submit]").await;
    page.wait_until("document.getElementById('url-trouble')?.textContent.includes('without ?')").await;
    fill(&page, "url", &agent.url).await;
    fill(&page, "variable", "HOME").await;
    page.click("#edit [type=submit]").await;
    page.wait_until("document.getElementById('variable-trouble')?.textContent.includes('AGENT')").await;
    fill(&page, "variable", "").await;
    page.click("#edit [type=submit]").await;
    page.wait_until("document.querySelector('tr[data-saved] .problem')").await;
    assert!(page.text("tr[data-saved] .problem").await.contains("card"));

    let mended = builder().await;
    page.click("[data-edit]").await;
    fill(&page, "url", &mended.url).await;
    page.click("#edit [type=submit]").await;
    page.wait_until("document.querySelector('tr[data-saved]')?.textContent.includes('A2A 1.0')").await;
    page.click("[data-edit]").await;
    page.click("#remove").await;
    confirm(&page).await;
    page.wait_until("document.querySelector('.empty')").await;
}

#[tokio::test]
async fn tokens_are_made_shown_once_and_revoked_in_the_console() {
    let fixture = AgentsFixture::new().await;
    let agent = builder().await;
    fixture.add_builder("tower", &agent).await;
    let mut page = fixture.open_signed_in("/admin/agents").await;
    page.click("[data-tokens]").await;
    page.wait_until("document.getElementById('tokens').open").await;
    assert_eq!(page.text("#token-list").await, "No tokens yet.");
    page.click("#make [type=submit]").await;
    page.wait_until("document.getElementById('token-trouble').checkVisibility()").await;
    fill(&page, "token-name", "Ada").await;
    page.click("#make [type=submit]").await;
    page.wait_until("document.getElementById('made').checkVisibility()").await;
    assert!(page.text("#token-text").await.starts_with("buildoff_"));
    page.wait_until("document.getElementById('token-list').textContent.includes('Ada: 20 runs a day')").await;
    page.click("#token-list button").await;
    page.wait_until("document.getElementById('token-list').textContent.includes('Ada: revoked')").await;
    let listed = fixture.admin.get(&format!("{AGENTS}/tower/tokens")).await.json();
    assert!(listed["tokens"][0]["revokedAt"].is_string());

    // The browser logged that a token without a name was refused.
    page.take_console_errors().await;
    page.goto(&fixture.server.url_for("/admin/agents")).await;
    assert_fits_everywhere(&mut page, "admin-agents").await;
}

#[tokio::test]
async fn two_agents_build_side_by_side_in_the_sandbox_and_say_how_it_goes() {
    let fixture = AgentsFixture::new().await;
    let task =
        json!({ "task": { "id": "t1", "contextId": "c1", "status": { "state": "TASK_STATE_SUBMITTED" } } });
    let working = json!({ "statusUpdate": { "taskId": "t1", "contextId": "c1", "status": {
        "state": "TASK_STATE_WORKING",
        "message": { "messageId": "s", "role": "ROLE_AGENT", "parts": [{ "text": "laying the floor" }] },
    } } });
    let slow = FakeAgent::start([AgentStep::StreamThenSilence(vec![task, working])]).await;
    let quick = FakeAgent::start([says(&sample_spec(4))]).await;
    let page = open_page(&fixture.server.low_quality_url("/sandbox")).await;
    page.wait_until("document.getElementById('ask').checkVisibility()").await;
    for (side, agent) in [("a", &quick), ("b", &slow)] {
        page.run(&format!(
            "{{ const models = document.getElementById('model-{side}'); models.value = ''; models.selectedIndex = [...models.options].findIndex((option) => option.dataset.kind === 'agent'); models.dispatchEvent(new Event('change', {{ bubbles: true }})) }}"
        ))
        .await;
        fill(&page, &format!("agent-{side}"), &agent.url).await;
    }
    fill(&page, "words", "a shed").await;
    page.click("#go").await;
    page.wait_until("document.querySelector('[data-side=a] [data-slot=state]').textContent === 'Done'").await;
    page.wait_until(
        "document.querySelector('[data-side=b] [data-slot=more]').textContent.includes('laying the floor')",
    )
    .await;
    assert!(page.text("#who-a").await.contains(quick.url.strip_prefix("http://").unwrap()));
    page.click("#stop").await;
    slow.wait_for_method("CancelTask").await;
}

#[tokio::test]
async fn agents_of_the_sandbox_are_public_for_visitors_from_elsewhere() {
    let fixture = AgentsFixture::new().await;
    let agent = builder().await;
    let run = json!({
        "prompt": "a shed", "gridSize": 32, "palette": "simple", "only": "a",
        "models": [{ "agent": agent.url }, { "agent": "https://agents.example" }],
    });
    let events = async |from: Option<&str>| {
        let mut request = fixture.server.post("/api/generate").json(&run);
        if let Some(from) = from {
            request = request.header("x-forwarded-for", from);
        }
        let text = request.send().await.unwrap().text().await.unwrap();
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
    };
    let has = |events: &[Value], kind: &str, code: Option<&str>| {
        events.iter().any(|event| event["type"] == kind && event["code"].as_str() == code)
    };
    let here = events(None).await;
    assert!(has(&here, "result", None), "{here:?}");
    let elsewhere = events(Some("192.0.2.7")).await;
    assert!(has(&elsewhere, "error", Some("address_refused")), "{elsewhere:?}");
    assert_eq!(agent.requests().len(), 1);

    for choice in [json!({ "agent": agent.url, "model": "x" }), json!({ "agent": " " })] {
        let run = json!({
            "prompt": "a shed", "gridSize": 32, "palette": "simple", "models": [choice, { "agent": "https://x.example" }],
        });
        assert_eq!(
            fixture.server.post("/api/generate").json(&run).send().await.unwrap().status(),
            400,
            "{choice}"
        );
    }
}
