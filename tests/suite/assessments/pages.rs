//! The pages of agents, assessments and runs.

use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

use super::{AssessmentFixture, WALK, short, sleeper, walker};
use crate::support::fake_agent::{AgentStep, FakeAgent};
use crate::support::{assert_fits_everywhere, open_page};

impl AssessmentFixture {
    /// The text of a page, with each run of white space as one space.
    async fn page(&self, path: &str) -> (u16, String) {
        let answer = self.server.get(path).send().await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        (status, text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    async fn assert_page_says(&self, path: &str, expected: &[&str]) {
        let (status, page) = self.page(path).await;
        assert_eq!(status, 200, "{path}");
        for words in expected {
            assert!(page.contains(words), "{path} does not say {words:?}: {page}");
        }
    }

    async fn cancel(&self, id: &str) {
        let cancelled = self.admin().delete(&format!("/api/assessments/{id}")).await;
        assert_eq!(cancelled.status, 204, "{}", cancelled.text());
    }
}

/// Crafts planks past the pointer.
const CRAFT: &str = r#"{"craft": "oak_planks"}"#;

async fn crafter() -> FakeAgent {
    FakeAgent::start([AgentStep::Act(CRAFT)]).await
}

fn planks() -> Value {
    json!({ "tasks": ["craft_oak_planks", "craft_ladder"], "max_steps": 6, "seed": 7 })
}

fn run_ids(assessment: &Value) -> Vec<String> {
    let runs = assessment["runs"].as_array().unwrap();
    runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn without_agents_the_boards_say_how_to_take_part() {
    let fixture = AssessmentFixture::new(&[]).await;
    let empty = ["No agent stands on this board yet.", "not Minecraft", "href=\"/agents/connect\""];
    fixture.assert_page_says("/agents", &empty).await;
    fixture.assert_page_says("/agents?category=motion&utm_source=x", &empty).await;
    fixture
        .assert_page_says("/agents", &["href=\"/agents?category=tool_use\"", "Nothing has been assessed"])
        .await;
    let current = "href=\"/agents?category=motion\" aria-current=\"page\"";
    fixture.assert_page_says("/agents?category=motion", &[current]).await;
    let all = "href=\"/agents\" aria-current=\"page\"";
    fixture.assert_page_says("/agents?category=flying&revision=mcu-9", &[all]).await;
    fixture.assert_page_says("/agents?revision=mcu-0", &["No results match these filters."]).await;
    for (path, words) in [
        ("/agents/nobody", "This agent does not exist."),
        ("/agents/No%20Key", "This agent does not exist."),
        ("/assessments/7", "This assessment does not exist."),
        ("/runs/00000000-0000-0000-0000-000000000000", "This run does not exist."),
    ] {
        let (status, page) = fixture.page(path).await;
        assert!(status == 404 && page.contains(words) && page.contains("href=\"/agents\""), "{path}: {page}");
    }
}

#[tokio::test]
async fn a_result_of_a_whole_category_stands_on_the_board_and_on_the_agents_page() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = FakeAgent::start([AgentStep::Error(-32603, "not today")]).await;
    fixture.add_agent("refuser", &agent).await;
    fixture.add_agent("idle", &walker().await).await;
    let id = fixture.ordered("refuser", &json!({ "task_category": ["motion"] })).await;
    fixture.finished(&id).await;
    let link = format!("href=\"/assessments/{id}\"");
    for board in ["/agents", "/agents?category=motion"] {
        let (_, page) = fixture.page(board).await;
        let (rows, others) = page.split_once("Not on this board yet").unwrap();
        assert!(rows.contains("href=\"/agents/refuser\"") && rows.contains(&link), "{page}");
        assert!(rows.contains("Struggling") && rows.contains("version 1"), "{page}");
        assert!(others.contains("href=\"/agents/idle\"") && others.contains("Finished"), "{page}");
        assert!(!rows.contains("/agents/idle"), "{page}");
    }
    let (_, other) = fixture.page("/agents?category=crafting").await;
    assert!(other.contains("No agent stands on this board yet.") && other.contains("/agents/refuser"));

    let host = agent.url.strip_prefix("http://").unwrap();
    fixture
        .assert_page_says(
            "/agents/refuser",
            &[
                host,
                "All categories",
                "href=\"/agents?category=motion\"",
                "of 1",
                &link,
                "does not build",
                "Fake",
            ],
        )
        .await;
    fixture.assert_page_says("/agents/idle", &["On no board yet.", "It has not been assessed yet."]).await;
    let boards = "href=\"/agents?category=motion\">motion</a>";
    fixture.assert_page_says(&format!("/assessments/{id}"), &[boards, "The agent would not begin"]).await;
}

#[tokio::test]
async fn the_list_of_an_agents_assessments_has_pages() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = sleeper().await;
    fixture.add_agent("sleeper", &agent).await;
    let mut ids = Vec::new();
    for _ in 0..22 {
        ids.push(fixture.ordered("sleeper", &short()).await);
    }
    let (_, newest) = fixture.page("/agents/sleeper").await;
    assert_eq!(newest.matches("href=\"/assessments/").count(), 20);
    let (_, after) = newest.split_once("href=\"/agents/sleeper?before=").unwrap();
    let (_, older) = fixture.page(&format!("/agents/sleeper?before={}", &after[..36])).await;
    for id in &ids[..2] {
        assert!(older.contains(id) && !newest.contains(id), "{id}");
    }
    assert!(older.contains("Newest") && !older.contains("?before="), "{older}");
}

#[tokio::test]
async fn a_finished_assessment_and_its_runs_say_what_the_score_is_made_of() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = crafter().await;
    let id = fixture.ordered(&agent.url, &planks()).await;
    let ended = fixture.finished(&id).await;
    // In the order of the catalogue.
    let [ladder, planks] = run_ids(&ended).try_into().unwrap();
    let results = format!("href=\"/api/assessments/{id}/results.json\"");
    fixture
        .assert_page_says(
            &format!("/assessments/{id}"),
            &[
                "Finished with 10.0 of 20 points.",
                "no, since no agent of the register has this address",
                "7, as asked for",
                "href=\"/tasks/crafting/craft_oak_planks\"",
                &format!("href=\"/runs/{planks}\""),
                &results,
                "not Minecraft",
                ended["card"]["digest"].as_str().unwrap(),
            ],
        )
        .await;
    fixture
        .assert_page_says(
            &format!("/runs/{planks}"),
            &[
                "<strong>Paid</strong> <span>10 points for crafting oak planks, once.",
                "All steps were taken",
                "assisted",
                "and that is the score",
                "<dt>Crafted</dt>",
                &format!("/api/runs/{planks}/recording"),
                "buildoff world replay craft_oak_planks-",
                "Our own solution takes",
            ],
        )
        .await;
    fixture.assert_page_says(&format!("/runs/{ladder}"), &["<strong>Not paid</strong>", "paid 0 of"]).await;
    let (_, page) = fixture.page(&format!("/runs/{planks}")).await;
    assert_eq!(page.matches("/frames/").count(), 7, "the view before each step, and the end");
    assert_eq!(page.matches("loading=\"lazy\"").count(), 7);
}

#[tokio::test]
async fn what_is_secret_until_the_end_is_on_no_page_before() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = sleeper().await;
    let id = fixture.ordered(&agent.url, &json!({ "tasks": ["craft_ladder"] })).await;
    let running = fixture.wait_for(&id, |assessment| assessment["runs"][0]["state"] == "running").await;
    let run = run_ids(&running).remove(0);
    let path = format!("/assessments/{id}");
    fixture.assert_page_says(&path, &["drawn, and secret until the end", "Running. 0 of 1 task done."]).await;
    let (_, page) = fixture.page(&format!("/runs/{run}")).await;
    assert!(page.contains("when the whole assessment has ended") && !page.contains("/frames/"), "{page}");

    fixture.cancel(&id).await;
    fixture.assert_page_says(&path, &["Cancelled. There is no result.", "has cancelled it", ", drawn"]).await;
    fixture.assert_page_says(&format!("/runs/{run}"), &["There is no recording of this run."]).await;
}

#[tokio::test]
async fn a_failed_assessment_says_why() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = walker().await;
    agent.change_card(|card| card["supportedInterfaces"] = json!([]));
    let id = fixture.ordered(&agent.url, &short()).await;
    let failed = fixture.wait_for(&id, |assessment| assessment["state"] == "failed").await;
    let why = failed["problem"].as_str().unwrap();
    assert!(!why.is_empty());
    let shown = &why[1..why.len().min(20)];
    fixture.assert_page_says(&format!("/assessments/{id}"), &["Failed. There is no result.", shown]).await;
}

#[tokio::test]
async fn the_page_of_an_assessment_shows_its_end_without_being_loaded_again() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = sleeper().await;
    // An agent is assessed once at a time, so the second one waits for the first one.
    let first = fixture.ordered(&agent.url, &short()).await;
    fixture.wait_for(&first, |assessment| assessment["runs"][0]["state"] == "running").await;
    let second = fixture.ordered(&agent.url, &short()).await;
    let mut page = open_page(&fixture.server.url_for(&format!("/assessments/{second}"))).await;
    assert_eq!(page.text("#state").await, "Waiting for its turn.");
    page.run("window.same = true; document.querySelector('.runs tbody th a').focus()").await;

    agent.replace_script([AgentStep::Act(WALK)]);
    fixture.cancel(&first).await;
    page.wait_until("document.querySelector('#state').innerText.startsWith('Finished')").await;
    page.wait_until("!!document.querySelector('#results a')").await;
    assert!(page.holds("window.same && document.querySelector('#lost').hidden").await);
    assert!(page.holds("document.activeElement.innerText === 'Craft ladder'").await, "the focus stays");
    assert!(page.text("#steps-1").await.contains("4 of 4"));
    assert_eq!(page.text("#ending-1").await, "All steps were taken");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn the_pages_fit_every_size_and_theme() {
    let fixture = AssessmentFixture::new(&[]).await;
    let mut page = open_page(&fixture.server.url_for("/agents")).await;
    assert_fits_everywhere(&mut page, "agents-none").await;
    // A whole category is quick if the agent refuses.
    let agent = FakeAgent::start([AgentStep::Error(-32603, "not today")]).await;
    let slow = sleeper().await;
    fixture.add_agent("crafter", &agent).await;
    let id = fixture.ordered("crafter", &json!({ "task_category": ["motion"] })).await;
    fixture.finished(&id).await;
    agent.replace_script([AgentStep::Act(CRAFT)]);
    let short = fixture.ordered("crafter", &planks()).await;
    let run = run_ids(&fixture.finished(&short).await).remove(0);
    let running = fixture.ordered(&slow.url, &json!({ "task_category": ["crafting"] })).await;
    fixture.wait_for(&running, |assessment| assessment["runs"][0]["state"] == "running").await;
    for (name, path) in [
        ("agents", "/agents".to_owned()),
        ("agents-empty-board", "/agents?category=crafting&assisted=1".to_owned()),
        ("agent", "/agents/crafter".to_owned()),
        ("assessment", format!("/assessments/{short}")),
        ("assessment-running", format!("/assessments/{running}")),
        ("run", format!("/runs/{run}")),
    ] {
        page.goto(&fixture.server.url_for(&path)).await;
        assert_fits_everywhere(&mut page, name).await;
        let landmarks: Vec<usize> = page
            .eval("['body > header', 'nav[aria-label=Main]', 'main', 'body > footer', 'h1'].map(css => document.querySelectorAll(css).length)")
            .await;
        assert_eq!(landmarks, [1, 1, 1, 1, 1], "{path}: header, nav, main, footer, h1");
    }
}

#[tokio::test]
async fn agents_and_assessments_have_a_card_for_sharing() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = crafter().await;
    fixture.add_agent("crafter", &agent).await;
    let id = fixture.ordered("crafter", &planks()).await;
    let ended = fixture.finished(&id).await;
    let run = run_ids(&ended).remove(0);
    let card = format!("/cards/assessments/{id}.png");
    for (page, card) in [
        ("/agents/crafter".to_owned(), "/cards/agents/crafter.png".to_owned()),
        (format!("/assessments/{id}"), card.clone()),
        (format!("/runs/{run}"), card),
    ] {
        let meta = format!("property=\"og:image\" content=\"{}\"", fixture.server.url_for(&card));
        fixture.assert_page_says(&page, &[&meta]).await;
        let answer = fixture.server.get(&card).send().await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()[CONTENT_TYPE]),
            (200, &"image/png".parse().unwrap())
        );
    }
    for missing in ["/cards/agents/nobody.png", "/cards/assessments/7.png", "/cards/agents/crafter.gif"] {
        assert_eq!(fixture.page(missing).await.0, 404, "{missing}");
    }
}

#[tokio::test]
async fn the_examples_are_served_as_they_stand() {
    let fixture = AssessmentFixture::new(&[]).await;
    let (_, page) = fixture.page("/agents/connect").await;
    let mut links = Vec::new();
    for link in page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        if link.starts_with("/agents/examples/") && !links.contains(&link) {
            links.push(link);
        }
    }
    assert_eq!(links.len(), 5, "{links:?}");
    for link in links {
        let answer = fixture.server.get(link).send().await.unwrap();
        assert_eq!(answer.headers()[CONTENT_TYPE], "text/x-python; charset=utf-8", "{link}");
    }
    assert_eq!(fixture.page("/agents/examples/Dockerfile").await.0, 404);
}
