//! The console's other pages: models, prompts, a job, the log.

use serde_json::{Value, json};

use super::matrix::halting;
use super::{BUILD, House, TOKEN, build, cell, until, wrong_key};
use crate::pages::FAINT_TEXT;
use crate::support::{Say, Theme, Voice};

impl House {
    async fn told(&self, path: &str) -> Value {
        self.api("GET", path).send().await.unwrap().json().await.unwrap()
    }

    /// Wants a build, and returns the job's address once it has ended.
    async fn asked(&self, prompt: &str, model: &str) -> String {
        let wanted = json!({ "promptId": prompt, "modelKey": model });
        let job: Value =
            self.api("POST", "/api/admin/jobs").json(&wanted).send().await.unwrap().json().await.unwrap();
        let path = format!("/jobs/{}", job["id"].as_str().unwrap());
        while ["queued", "running"]
            .contains(&self.told(&format!("/api/admin{path}")).await["state"].as_str().unwrap())
        {
            tokio::task::yield_now().await;
        }
        format!("/admin{path}")
    }

    async fn model(&self, key: &str) -> Value {
        let told = self.told("/api/admin/models").await;
        told["models"].as_array().unwrap().iter().find(|model| model["key"] == key).unwrap().clone()
    }
}

#[tokio::test]
async fn a_job_shows_every_attempt_and_what_was_answered() {
    let empty = Voice::Compatible.says(&[Say::Text("I would rather not <b>."), Say::Done]);
    let house = House::with([empty, build()]).await;
    let path = house.asked("blue-door", "mason").await;
    let mut page = house.open(&path).await;
    until(&page, "document.getElementById('state').textContent === 'ready'").await;
    assert_eq!(page.eval::<usize>("document.querySelectorAll('[data-attempt]').length").await, 2);
    page.click("[data-attempt='1'] summary").await;
    until(
        &page,
        "document.querySelector('[data-attempt=\"1\"] pre').textContent === 'I would rather not <b>.'",
    )
    .await;
    page.click("[data-attempt='2'] summary").await;
    until(&page, &format!("document.querySelector('[data-attempt=\"2\"] pre').textContent === {BUILD:?}"))
        .await;
    assert!(page.text("[data-attempt='2'] .facts").await.contains("100"));
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_failed_job_is_retried_from_its_own_page_and_followed_to_its_end() {
    let house = House::with([wrong_key(), build()]).await;
    let path = house.asked("blue-door", "mason").await;
    let page = house.open(&path).await;
    until(&page, "!document.getElementById('acts').hidden").await;
    assert!(page.text("#job").await.contains("That key is not known here."));
    page.click("[data-does=reread]").await;
    until(&page, "document.getElementById('told').textContent.includes('No answer holds a build')").await;
    page.click("[data-does=retry]").await;
    until(
        &page,
        &format!(
            "location.pathname !== {path:?} && document.getElementById('state')?.textContent === 'ready'"
        ),
    )
    .await;
}

#[tokio::test]
async fn models_are_switched_renamed_and_added() {
    let house = House::with([]).await;
    let page = house.open("/admin/models").await;
    let row = |key: &str| format!("tr:has(a[href='/models/{key}'])");
    page.click(&format!("{} [data-switch]", row("mason"))).await;
    while house.model("mason").await["enabled"] != false {
        tokio::task::yield_now().await;
    }
    assert!(page.text(&row("potter")).await.contains("OPENAI_API_KEY is not set."));

    page.click(&format!("{} [data-edit]", row("mason"))).await;
    page.run("document.getElementById('display-name').value = 'Mason the First'").await;
    page.click("#edit [type=submit]").await;
    until(
        &page,
        "document.querySelector('#list + *') && document.body.innerText.includes('Mason the First')",
    )
    .await;
    let mason = house.model("mason").await;
    assert_eq!((&mason["displayName"], &mason["enabled"]), (&json!("Mason the First"), &json!(false)));
    assert_eq!(mason["prices"], json!({ "input": 1000.0, "output": 2000.0 }));

    page.click("[data-add]").await;
    page.click("#edit [type=submit]").await;
    let marked = "[...document.querySelectorAll('#edit [aria-invalid]')].map(e => e.id).join(' ')";
    until(&page, &format!("{marked} === 'display-name model-id key'")).await;
    assert_eq!(page.text("#display-name-trouble").await, "This is wanted.");
    assert_eq!(page.eval::<String>("document.activeElement.id").await, "display-name");
    page.run("for (const [id, value] of [['display-name', 'New'], ['model-id', 'vendor/new-1.5'], ['input-price', '3']]) { const field = document.getElementById(id); field.value = value; field.dispatchEvent(new Event('input')); }").await;
    page.run("document.getElementById('provider').value = 'local'; document.getElementById('provider').dispatchEvent(new Event('input'))").await;
    assert_eq!(page.eval::<String>("document.getElementById('key').value").await, "local_new_1_5");
    page.click("#edit [type=submit]").await;
    until(&page, "document.getElementById('edit-trouble').textContent.includes('both prices')").await;
    page.run("document.getElementById('output-price').value = '15'").await;
    page.click("#edit [type=submit]").await;
    until(&page, &format!("document.querySelector({:?})", row("local_new_1_5"))).await;
    assert_eq!(house.model("local_new_1_5").await["prices"], json!({ "input": 3.0, "output": 15.0 }));
    until(
        &page,
        &format!("document.querySelector({:?}).contains(document.activeElement)", row("local_new_1_5")),
    )
    .await;
    assert!(page.text(&row("local_new_1_5")).await.contains("Added just now"));
    assert_eq!(page.text("#said").await, "local_new_1_5: added just now.");
    page.reload().await;
    until(&page, "!document.getElementById('orders').hidden").await;
    assert!(!page.text(&row("local_new_1_5")).await.contains("just now"));

    house.import("blue-door", "house").await;
    house.import("blue-door", "potter").await;
    page.click("#references").await;
    until(&page, "document.getElementById('references').textContent === 'Enable all reference models'").await;
    assert_eq!(house.model("house").await["enabled"], false);
    until(&page, "document.getElementById('outcome').textContent === 'Disabled: one reference model. Nothing can be voted on: of 2 active prompts, none has two builds.'").await;
    assert!(page.text("header .soft").await.contains("All reference models are disabled"));
    page.click("#references").await;
    until(
        &page,
        "document.getElementById('outcome').textContent.includes('Of 2 active prompts, 1 can be voted on')",
    )
    .await;
    assert!(page.text("header .soft").await.contains("while fewer than two others"));
}

#[tokio::test]
async fn a_model_is_shown_by_the_name_that_is_sent() {
    let house = House::with([]).await;
    let clay = json!({ "provider": "openai", "modelId": "clay-1", "displayName": "Clay", "via": { "local": "vendor/clay" } });
    assert_eq!(house.api("PUT", "/api/admin/models/clay").json(&clay).send().await.unwrap().status(), 201);
    let page = house.open("/admin/models").await;
    assert_eq!(page.text("tr:has(a[href='/models/clay']) code").await, "vendor/clay");
    assert_eq!(page.text("tr:has(a[href='/models/potter']) code").await, "potter");
}

#[tokio::test]
async fn a_model_whose_jobs_are_queued_is_switched_off_after_a_question() {
    let house = House::improvising(|_| halting().0).await;
    for number in 0..4 {
        let path = format!("/api/admin/prompts/more-{number}");
        let body = json!({ "text": format!("a prompt with the number {number}") });
        assert_eq!(house.api("PUT", &path).json(&body).send().await.unwrap().status(), 201);
    }
    assert_eq!(house.api("POST", "/api/admin/seed?background=1").send().await.unwrap().status(), 200);
    let running = async || {
        let told = house.told("/api/admin/status").await;
        told["queue"].as_array().unwrap().iter().filter(|job| job["state"] == "running").count()
    };
    while running().await < 4 {
        tokio::task::yield_now().await;
    }
    let page = house.open("/admin/models").await;
    let switch = "tr:has(a[href='/models/mason']) [data-switch]";
    page.click(switch).await;
    until(&page, "document.getElementById('sure').open").await;
    let words = page.text("#sure [data-slot=words]").await;
    assert_eq!(
        words,
        "What is queued, 2 builds, will be cancelled. What is running, 4 builds, goes on: it is paid for."
    );
    page.click("#sure [data-no]").await;
    until(&page, &format!("document.querySelector({switch:?}).checked")).await;
    assert_eq!(house.model("mason").await["enabled"], true);

    page.click(switch).await;
    until(&page, "document.getElementById('sure').open").await;
    page.click("#sure [data-yes]").await;
    while house.model("mason").await["enabled"] != false {
        tokio::task::yield_now().await;
    }
    assert!(page.agrees(&format!("!document.querySelector({switch:?}).checked")).await);
    assert_eq!(running().await, 4);
}

#[tokio::test]
async fn a_retired_build_is_still_found_from_its_place() {
    let house = House::with([build()]).await;
    house.asked("blue-door", "mason").await;
    let cells = house.told("/api/admin/coverage").await;
    let build = cells["cells"][0]["buildId"].as_str().unwrap();
    let retired = house.api("DELETE", &format!("/api/admin/builds/{build}")).send().await.unwrap();
    assert_eq!(retired.status(), 204);
    let page = house.open("/admin/places/blue-door/mason").await;
    assert!(page.text("#now + p").await.starts_with("What was made here is retired."));
    let ways = format!("document.querySelectorAll('main a[href=\"/builds/{build}\"]').length");
    assert_eq!(page.eval::<usize>(&ways).await, 2, "beside the state, and beside the job");

    page.goto(&house.site.at("/admin#blue-door/mason")).await;
    until(&page, "document.getElementById('panel').open").await;
    assert_eq!(page.text("#panel [data-slot=more]").await, "What was made here is retired.");
    assert!(page.agrees("document.querySelector('#panel [data-slot=job]').checkVisibility()").await);
}

#[tokio::test]
async fn a_text_with_builds_stays_and_says_so_at_its_field() {
    let house = House::with([]).await;
    let page = house.open("/admin/prompts").await;
    page.click("tr:has(a[href='/prompts/blue-door']) [data-edit]").await;
    house.import("blue-door", "house").await;
    page.run("document.getElementById('text').value = 'a red door'").await;
    page.click("#edit [type=submit]").await;
    until(&page, "document.getElementById('text-trouble').textContent.includes('make another prompt')").await;
    page.run("document.getElementById('text').value = 'a blue door'; document.getElementById('tags').value = 'doors, blue'").await;
    page.click("#edit [type=submit]").await;
    until(
        &page,
        "document.body.innerText.includes('blue, doors') || document.body.innerText.includes('doors, blue')",
    )
    .await;

    until(
        &page,
        "document.querySelector(\"tr:has(a[href='/prompts/blue-door'])\").contains(document.activeElement)",
    )
    .await;
    page.press("Enter").await;
    until(&page, "document.getElementById('edit').open").await;
    assert!(page.agrees("document.getElementById('text').readOnly").await);
    assert!(page.text("#text-hint").await.starts_with("It stays as it is: one build was made for it."));
    page.click("#edit [data-close]").await;

    page.click("[data-add]").await;
    assert!(page.agrees("!document.getElementById('text').readOnly").await);
    page.run("document.getElementById('text').value = 'the Café on a corner'; document.getElementById('text').dispatchEvent(new Event('input'))").await;
    assert_eq!(page.eval::<String>("document.getElementById('slug').value").await, "cafe-on-a-corner");
    page.click("#edit [type=submit]").await;
    until(&page, "document.querySelector('a[href=\"/prompts/cafe-on-a-corner\"]')").await;
}

#[tokio::test]
async fn the_log_tells_who_did_what_page_by_page() {
    let house = House::with([]).await;
    for number in 0..55 {
        let body = json!({ "displayName": format!("Potter {number}") });
        let answer = house.api("PATCH", "/api/admin/models/potter").json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    }
    let page = house.open("/admin/audit").await;
    assert_eq!(page.eval::<usize>("document.querySelectorAll('tbody tr').length").await, 50);
    assert!(page.text("tbody tr").await.contains("sign in"));
    let first = page.text("tbody tr:nth-child(2)").await;
    assert!(
        first.contains("change model") && first.contains("potter") && first.contains("Potter 54"),
        "{first}"
    );
    page.click("main .actions a").await;
    until(&page, "document.querySelectorAll('tbody tr').length === 7").await;
    assert!(page.text("tbody tr:last-child").await.contains("seed"));
    assert!(!page.text("main").await.contains(TOKEN));
}

#[tokio::test]
async fn every_page_fits_every_size_and_theme_without_complaint() {
    let house = House::with([wrong_key()]).await;
    house.import("stone-bridge", "house").await;
    let job = house.asked("blue-door", "mason").await;
    let mut page = house.open("/admin").await;
    for path in
        ["/admin", "/admin/models", "/admin/prompts", "/admin/audit", "/admin/places/blue-door/mason", &job]
    {
        for (size, width, height) in [("desk", 1440, 900), ("phone", 390, 844), ("narrow", 320, 640)] {
            page.size(width, height).await;
            for theme in [Theme::Light, Theme::Dark] {
                page.theme(theme).await;
                page.goto(&house.site.at(path)).await;
                let place = format!("{path} ({size}, {theme:?})");
                assert_eq!(page.complaints().await, Vec::<String>::new(), "{place}");
                let needed: i64 = page.eval("document.documentElement.scrollWidth").await;
                assert!(needed <= width, "{place} needs {needed} px");
                assert_eq!(page.eval::<Vec<String>>(FAINT_TEXT).await, Vec::<String>::new(), "{place}");
            }
        }
    }
    page.goto(&house.site.at("/admin")).await;
    page.click(&cell("blue-door", "mason")).await;
    until(&page, "document.getElementById('panel').open").await;
    let nameless: Vec<String> = page
        .eval("[...document.querySelectorAll('main :is(a, button, input, select, textarea)')].filter(e => e.checkVisibility() && !(e.innerText || e.labels?.length || e.ariaLabel)).map(e => e.outerHTML)")
        .await;
    assert_eq!(nameless, Vec::<String>::new());
    assert_eq!(page.complaints().await, Vec::<String>::new());
}
