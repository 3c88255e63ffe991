//! The console's other pages: models, prompts, jobs and the audit log.

use serde_json::{Value, json};

use super::matrix::paused_response;
use super::{BUILD, ConsoleFixture, TOKEN, cell, confirm, unknown_model, valid_response, wait_until};
use crate::support::{BrowserPage, FakePart, FakeProtocol, Theme, assert_fits_everywhere};

impl ConsoleFixture {
    async fn get_json(&self, path: &str) -> Value {
        self.api("GET", path).send().await.unwrap().json().await.unwrap()
    }

    /// Enqueues a build, waits until its job has ended, and returns the path of the job's page.
    async fn run_job(&self, prompt: &str, model: &str) -> String {
        let request = json!({ "promptId": prompt, "modelKey": model });
        let job: Value =
            self.api("POST", "/api/admin/jobs").json(&request).send().await.unwrap().json().await.unwrap();
        self.wait_for_jobs_to_end().await;
        format!("/admin/jobs/{}", job["id"].as_str().unwrap())
    }

    async fn model(&self, key: &str) -> Value {
        let reply = self.get_json("/api/admin/models").await;
        reply["models"].as_array().unwrap().iter().find(|model| model["key"] == key).unwrap().clone()
    }
}

#[tokio::test]
async fn a_job_shows_every_attempt_and_its_answer() {
    let empty = FakeProtocol::Compatible.answer(&[FakePart::Text("I would rather not <b>."), FakePart::Done]);
    let fixture = ConsoleFixture::with_responses([empty, valid_response()]).await;
    let path = fixture.run_job("blue-door", "mason").await;
    let mut page = fixture.open_signed_in(&path).await;
    wait_until(&page, "document.getElementById('state').textContent === 'ready'").await;
    assert_eq!(page.eval::<usize>("document.querySelectorAll('[data-attempt]').length").await, 2);
    page.click("[data-attempt='1'] summary").await;
    wait_until(
        &page,
        "document.querySelector('[data-attempt=\"1\"] pre').textContent === 'I would rather not <b>.'",
    )
    .await;
    page.click("[data-attempt='2'] summary").await;
    wait_until(
        &page,
        &format!("document.querySelector('[data-attempt=\"2\"] pre').textContent === {BUILD:?}"),
    )
    .await;
    assert!(page.text("[data-attempt='2'] .facts").await.contains("100"));
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_failed_job_is_retried_from_its_own_page_and_followed_to_its_end() {
    let fixture = ConsoleFixture::with_responses([unknown_model(), valid_response()]).await;
    let path = fixture.run_job("blue-door", "mason").await;
    let page = fixture.open_signed_in(&path).await;
    wait_until(&page, "!document.getElementById('acts').hidden").await;
    assert!(page.text("#job").await.contains("There is no such model here."));
    page.click("[data-does=reread]").await;
    wait_until(
        &page,
        "document.getElementById('told').textContent.includes('No answer contained a valid build')",
    )
    .await;
    page.click("[data-does=retry]").await;
    wait_until(
        &page,
        &format!(
            "location.pathname !== {path:?} && document.getElementById('state')?.textContent === 'ready'"
        ),
    )
    .await;
}

#[tokio::test]
async fn models_are_enabled_renamed_and_added() {
    let fixture = ConsoleFixture::with_responses([]).await;
    let page = fixture.open_signed_in("/admin/models").await;
    let row = |key: &str| format!("tr:has(a[href='/models/{key}'])");
    page.click(&format!("{} [data-switch]", row("mason"))).await;
    fixture.db.wait_until("NOT enabled FROM models WHERE key = 'mason'").await;
    assert!(page.text(&row("potter")).await.contains("OPENAI_API_KEY is not set."));

    page.click(&format!("{} [data-edit]", row("mason"))).await;
    page.run("document.getElementById('display-name').value = 'Mason the First'").await;
    page.click("#edit [type=submit]").await;
    wait_until(
        &page,
        "document.querySelector('#list + *') && document.body.innerText.includes('Mason the First')",
    )
    .await;
    let mason = fixture.model("mason").await;
    assert_eq!((&mason["displayName"], &mason["enabled"]), (&json!("Mason the First"), &json!(false)));
    assert_eq!(mason["prices"], json!({ "input": 1000.0, "output": 2000.0 }));

    page.click("[data-add]").await;
    page.click("#edit [type=submit]").await;
    let marked = "[...document.querySelectorAll('#edit [aria-invalid]')].map(e => e.id).join(' ')";
    wait_until(&page, &format!("{marked} === 'display-name model-id key'")).await;
    assert_eq!(page.text("#display-name-trouble").await, "Required.");
    assert_eq!(page.eval::<String>("document.activeElement.id").await, "display-name");
    page.run("for (const [id, value] of [['display-name', 'New'], ['model-id', 'vendor/new-1.5'], ['input-price', '3']]) { const field = document.getElementById(id); field.value = value; field.dispatchEvent(new Event('input')); }").await;
    page.run("document.getElementById('provider').value = 'local'; document.getElementById('provider').dispatchEvent(new Event('input'))").await;
    assert_eq!(page.eval::<String>("document.getElementById('key').value").await, "local_new_1_5");
    page.click("#edit [type=submit]").await;
    wait_until(&page, "document.getElementById('edit-trouble').textContent.includes('both prices')").await;
    page.run("document.getElementById('output-price').value = '15'").await;
    page.click("#edit [type=submit]").await;
    wait_until(&page, &format!("document.querySelector({:?})", row("local_new_1_5"))).await;
    assert_eq!(fixture.model("local_new_1_5").await["prices"], json!({ "input": 3.0, "output": 15.0 }));
    wait_until(
        &page,
        &format!("document.querySelector({:?}).contains(document.activeElement)", row("local_new_1_5")),
    )
    .await;
    assert!(page.text(&row("local_new_1_5")).await.contains("Added just now"));
    assert_eq!(page.text("#said").await, "local_new_1_5: added just now.");
    page.reload().await;
    wait_until(&page, "!document.getElementById('orders').hidden").await;
    assert!(!page.text(&row("local_new_1_5")).await.contains("just now"));

    fixture.import("blue-door", "house").await;
    fixture.import("blue-door", "potter").await;
    page.click("#references").await;
    wait_until(&page, "document.getElementById('references').textContent === 'Enable all reference models'")
        .await;
    assert_eq!(fixture.model("house").await["enabled"], false);
    wait_until(&page, "document.getElementById('outcome').textContent === 'Disabled: one reference model. Nothing can be voted on: none of 2 active prompts has two builds.'").await;
    assert!(page.text("header .soft").await.contains("All reference models are disabled"));
    page.click("#references").await;
    wait_until(
        &page,
        "document.getElementById('outcome').textContent.includes('Of 2 active prompts, 1 can be voted on')",
    )
    .await;
    assert!(page.text("header .soft").await.contains("until two other models have built it"));
}

#[tokio::test]
async fn the_options_of_a_model_with_builds_change_once_retiring_them_is_confirmed() {
    let fixture = ConsoleFixture::with_responses([]).await;
    fixture.import("blue-door", "mason").await;
    let mut page = fixture.open_signed_in("/admin/models").await;
    page.click("tr:has(a[href='/models/mason']) [data-edit]").await;
    assert!(page.holds("document.getElementById('delete').hidden").await);
    page.run("document.getElementById('effort').value = 'high'").await;
    page.click("#edit [type=submit]").await;
    wait_until(&page, "document.getElementById('sure').open").await;
    page.screenshot("admin-retire-builds").await;
    page.click("#sure [data-no]").await;
    wait_until(
        &page,
        "document.getElementById('edit-trouble').textContent.includes('This model has builds')",
    )
    .await;
    assert_eq!(fixture.model("mason").await["options"]["effort"], Value::Null);

    page.click("#edit [type=submit]").await;
    confirm(&page).await;
    wait_until(&page, "document.body.innerText.includes('Saved just now')").await;
    let mason = fixture.model("mason").await;
    assert_eq!((&mason["options"]["effort"], &mason["builds"]), (&json!("high"), &json!(0)));
    assert_eq!(mason["prices"], json!({ "input": 1000.0, "output": 2000.0 }));
    // The refusals are logged by the browser.
    page.take_console_errors().await;
}

#[tokio::test]
async fn a_model_without_builds_is_deleted_after_a_confirmation() {
    let fixture = ConsoleFixture::with_responses([]).await;
    let page = fixture.open_signed_in("/admin/models").await;
    page.click("tr:has(a[href='/models/potter']) [data-edit]").await;
    page.screenshot("admin-delete-model").await;
    page.click("#delete").await;
    wait_until(&page, "document.getElementById('sure').open").await;
    assert!(page.text("#sure [data-slot=words]").await.starts_with("Potter has no builds."));
    confirm(&page).await;
    wait_until(&page, "!document.querySelector(\"a[href='/models/potter']\")").await;
    let reply = fixture.get_json("/api/admin/models").await;
    assert_eq!(reply["models"].as_array().unwrap().len(), 2, "{reply}");
}

#[tokio::test]
async fn a_model_is_shown_with_the_id_sent_to_the_provider() {
    let fixture = ConsoleFixture::with_responses([]).await;
    let clay = json!({ "provider": "openai", "modelId": "clay-1", "displayName": "Clay", "via": { "local": "vendor/clay" } });
    assert_eq!(fixture.api("PUT", "/api/admin/models/clay").json(&clay).send().await.unwrap().status(), 201);
    let page = fixture.open_signed_in("/admin/models").await;
    assert_eq!(page.text("tr:has(a[href='/models/clay']) code").await, "vendor/clay");
    assert_eq!(page.text("tr:has(a[href='/models/potter']) code").await, "potter");
}

#[tokio::test]
async fn a_models_budget_is_set_changed_and_removed_in_its_form() {
    let fixture = ConsoleFixture::with_responses([]).await;
    let page = fixture.open_signed_in("/admin/models").await;
    let edit = "tr:has(a[href='/models/mason']) [data-edit]";
    let budget = "budget IS NOT DISTINCT FROM";
    let save = async |page: &BrowserPage, dollars: &str| {
        page.click(edit).await;
        wait_until(page, "document.getElementById('edit').open").await;
        page.run("document.querySelector('#edit details').open = true").await;
        page.run(&format!("document.getElementById('budget').value = {dollars:?}")).await;
        page.click("#edit [type=submit]").await;
    };
    save(&page, "-1").await;
    wait_until(&page, "document.getElementById('budget-trouble')?.textContent === 'Enter 0 or more.'").await;
    page.screenshot("admin-model-budget-desk").await;
    page.set_theme(Theme::Dark).await;
    page.set_size(390, 844).await;
    page.screenshot("admin-model-budget-phone").await;
    page.click("#edit [data-close]").await;
    for (dollars, micros) in [("12.5", "12500000"), ("3", "3000000"), ("", "NULL")] {
        save(&page, dollars).await;
        wait_until(&page, "document.querySelector('.saved')").await;
        fixture
            .db
            .wait_until(&format!("{budget} {micros} FROM model_budgets WHERE model_key = 'mason'"))
            .await;
        page.click(edit).await;
        assert_eq!(page.eval::<String>("document.getElementById('budget').value").await, dollars);
        page.click("#edit [data-close]").await;
        page.run("document.querySelector('.saved').remove()").await;
    }
}

#[tokio::test]
async fn disabling_a_model_with_queued_jobs_needs_confirmation() {
    let fixture = ConsoleFixture::with_handler(|_| paused_response().0).await;
    for number in 0..4 {
        let path = format!("/api/admin/prompts/more-{number}");
        let body = json!({ "text": format!("a prompt with the number {number}") });
        assert_eq!(fixture.api("PUT", &path).json(&body).send().await.unwrap().status(), 201);
    }
    assert_eq!(fixture.api("POST", "/api/admin/seed?background=1").send().await.unwrap().status(), 200);
    fixture.db.wait_until("count(*) = 4 FROM jobs WHERE state = 'running'").await;
    let page = fixture.open_signed_in("/admin/models").await;
    let switch = "tr:has(a[href='/models/mason']) [data-switch]";
    page.click(switch).await;
    wait_until(&page, "document.getElementById('sure').open").await;
    let words = page.text("#sure [data-slot=words]").await;
    assert_eq!(words, "This cancels 2 queued builds. It lets 4 running builds finish, billed in any case.");
    page.click("#sure [data-no]").await;
    wait_until(&page, &format!("document.querySelector({switch:?}).checked")).await;
    assert_eq!(fixture.model("mason").await["enabled"], true);

    page.click(switch).await;
    confirm(&page).await;
    fixture.db.wait_until("NOT enabled FROM models WHERE key = 'mason'").await;
    assert!(page.holds(&format!("!document.querySelector({switch:?}).checked")).await);
    assert_eq!(fixture.db.number("SELECT count(*) FROM jobs WHERE state = 'running'").await, 4);
}

#[tokio::test]
async fn a_retired_build_is_still_linked_from_its_slot() {
    let fixture = ConsoleFixture::with_responses([valid_response()]).await;
    fixture.run_job("blue-door", "mason").await;
    let cells = fixture.get_json("/api/admin/coverage").await;
    let build = cells["cells"][0]["buildId"].as_str().unwrap();
    let retired = fixture.api("DELETE", &format!("/api/admin/builds/{build}")).send().await.unwrap();
    assert_eq!(retired.status(), 204);
    let page = fixture.open_signed_in("/admin/places/blue-door/mason").await;
    assert!(page.text("#now + p").await.starts_with("The build was retired."));
    let ways = format!("document.querySelectorAll('main a[href=\"/builds/{build}\"]').length");
    assert_eq!(
        page.eval::<usize>(&ways).await,
        2,
        "the build must be linked beside the state and beside the job"
    );

    page.goto(&fixture.server.url_for("/admin#blue-door/mason")).await;
    wait_until(&page, "document.getElementById('panel').open").await;
    assert_eq!(page.text("#panel [data-slot=more]").await, "The build was retired.");
    assert!(page.holds("document.querySelector('#panel [data-slot=job]').checkVisibility()").await);
}

#[tokio::test]
async fn a_prompt_with_builds_keeps_its_text_and_the_field_says_so() {
    let fixture = ConsoleFixture::with_responses([]).await;
    let page = fixture.open_signed_in("/admin/prompts").await;
    page.click("tr:has(a[href='/prompts/blue-door']) [data-edit]").await;
    fixture.import("blue-door", "house").await;
    page.run("document.getElementById('text').value = 'a red door'").await;
    page.click("#edit [type=submit]").await;
    wait_until(&page, "document.getElementById('text-trouble').textContent.includes('Add another prompt')")
        .await;
    page.run("document.getElementById('text').value = 'a blue door'; document.getElementById('tags').value = 'doors, blue'").await;
    page.click("#edit [type=submit]").await;
    wait_until(
        &page,
        "document.body.innerText.includes('blue, doors') || document.body.innerText.includes('doors, blue')",
    )
    .await;

    wait_until(
        &page,
        "document.querySelector(\"tr:has(a[href='/prompts/blue-door'])\").contains(document.activeElement)",
    )
    .await;
    page.press("Enter").await;
    wait_until(&page, "document.getElementById('edit').open").await;
    assert!(page.holds("document.getElementById('text').readOnly").await);
    assert!(
        page.text("#text-hint")
            .await
            .starts_with("The text cannot change any more: one build was made for it.")
    );
    page.click("#edit [data-close]").await;

    page.click("[data-add]").await;
    assert!(page.holds("!document.getElementById('text').readOnly").await);
    page.run("document.getElementById('text').value = 'the Café on a corner'; document.getElementById('text').dispatchEvent(new Event('input'))").await;
    assert_eq!(page.eval::<String>("document.getElementById('slug').value").await, "cafe-on-a-corner");
    page.click("#edit [type=submit]").await;
    wait_until(&page, "document.querySelector('a[href=\"/prompts/cafe-on-a-corner\"]')").await;
}

#[tokio::test]
async fn the_audit_log_lists_every_action_in_pages() {
    let fixture = ConsoleFixture::with_responses([]).await;
    for number in 0..55 {
        let body = json!({ "displayName": format!("Potter {number}") });
        let answer = fixture.api("PATCH", "/api/admin/models/potter").json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    }
    let page = fixture.open_signed_in("/admin/audit").await;
    assert_eq!(page.eval::<usize>("document.querySelectorAll('tbody tr').length").await, 50);
    assert!(page.text("tbody tr").await.contains("sign in"));
    let first = page.text("tbody tr:nth-child(2)").await;
    assert!(
        first.contains("change model") && first.contains("potter") && first.contains("Potter 54"),
        "{first}"
    );
    page.click("main .actions a").await;
    wait_until(&page, "document.querySelectorAll('tbody tr').length === 7").await;
    assert!(page.text("tbody tr:last-child").await.contains("seed"));
    assert!(!page.text("main").await.contains(TOKEN));
}

#[tokio::test]
async fn every_page_fits_every_size_and_theme_without_errors() {
    let fixture = ConsoleFixture::with_responses([unknown_model()]).await;
    fixture.import("stone-bridge", "house").await;
    let job = fixture.run_job("blue-door", "mason").await;
    let mut page = fixture.open_signed_in("/admin").await;
    for (name, path) in [
        ("admin", "/admin"),
        ("admin-models", "/admin/models"),
        ("admin-prompts", "/admin/prompts"),
        ("admin-audit", "/admin/audit"),
        ("admin-place", "/admin/places/blue-door/mason"),
        ("admin-job", &job),
    ] {
        page.goto(&fixture.server.url_for(path)).await;
        assert_fits_everywhere(&mut page, name).await;
    }
    page.goto(&fixture.server.url_for("/admin")).await;
    page.click(&cell("blue-door", "mason")).await;
    wait_until(&page, "document.getElementById('panel').open").await;
    let nameless: Vec<String> = page
        .eval("[...document.querySelectorAll('main :is(a, button, input, select, textarea)')].filter(e => e.checkVisibility() && !(e.innerText || e.labels?.length || e.ariaLabel)).map(e => e.outerHTML)")
        .await;
    assert_eq!(nameless, Vec::<String>::new());
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}
