//! The matrix: live, and without script.

use std::sync::Arc;

use tokio::sync::Notify;

use super::{BUILD, House, TOKEN, build, cell, until, visit, wrong_key};
use crate::support::{Beat, Provider, Say, Script, Voice, page};

const STATE: &str = "document.querySelector('#panel [data-slot=state]').textContent";

/// A sound answer that pauses in its middle until leave is given.
fn halting() -> (Script, Arc<Notify>) {
    let leave = Arc::new(Notify::new());
    let (first, second) = BUILD.split_at(40);
    let events = Voice::Compatible.events(&[Say::Text(first), Say::Text(second), Say::Done]);
    let frames: Vec<_> = events.iter().map(|event| Voice::Compatible.frame(event)).collect();
    let script = Script::stream()
        .send(frames[..2].concat())
        .beat(Beat::Hold(Arc::clone(&leave)))
        .send(frames[2..].concat() + "data: [DONE]\n\n");
    (script, leave)
}

#[tokio::test]
async fn a_wanted_build_is_seen_running_and_then_ready_while_the_focus_stays() {
    let (script, leave) = halting();
    let house = House::with([script]).await;
    let mut page = house.open("/admin").await;
    let cell = cell("blue-door", "mason");
    page.run(&format!("document.querySelector({cell:?}).focus()")).await;
    page.press("Enter").await;
    until(&page, "document.getElementById('panel').open").await;
    assert_eq!(page.text("#panel h2").await, "A blue door");
    page.click("#panel [data-does=generate]").await;

    until(&page, &format!("document.querySelector({cell:?}).innerText.includes('40 chars')")).await;
    until(&page, &format!("{STATE} === 'running'")).await;
    assert_eq!(page.text("[data-sum=underWay]").await, "1");
    page.press("Escape").await;
    until(&page, &format!("document.activeElement === document.querySelector({cell:?})")).await;

    leave.notify_one();
    until(&page, &format!("document.querySelector({cell:?} + ' img')?.complete")).await;
    assert!(page.agrees(&format!("document.activeElement === document.querySelector({cell:?})")).await);
    assert_eq!(page.text("[data-sum=existing]").await, "1");
    assert_eq!(page.text("[data-sum=spent]").await, "$0.2000");
    until(&page, "document.getElementById('said').textContent === 'a blue door by Mason 1: ready.'").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_failure_says_why_and_can_be_tried_again() {
    let house = House::with([wrong_key(), build()]).await;
    let page = house.open("/admin").await;
    page.click(&cell("blue-door", "mason")).await;
    page.click("#panel [data-does=generate]").await;
    until(&page, &format!("{STATE} === 'failed'")).await;
    assert!(page.text("#panel [data-slot=error]").await.contains("That key is not known here."));
    assert_eq!(page.text("[data-sum=failed]").await, "1");

    page.click("#panel [data-does=retry]").await;
    until(&page, &format!("{STATE} === 'ready'")).await;
    assert_eq!(page.text("[data-sum=failed]").await, "0");
}

#[tokio::test]
async fn what_runs_can_be_cancelled() {
    let (script, _leave) = halting();
    let house = House::with([script]).await;
    let page = house.open("/admin").await;
    page.click(&cell("blue-door", "mason")).await;
    page.click("#panel [data-does=generate]").await;
    until(&page, &format!("{STATE} === 'running'")).await;
    page.click("#panel [data-does=cancel]").await;
    until(&page, &format!("{STATE} === 'cancelled'")).await;
    house.provider.hung_up().await;
    assert!(page.agrees("!document.querySelector('#panel [data-does=retry]').hidden").await);
}

#[tokio::test]
async fn all_that_is_missing_is_asked_for_once_it_is_said_what_that_means() {
    let house = House::improvising(|_| build()).await;
    let page = house.open("/admin").await;
    page.click("[data-order=missing]").await;
    until(&page, "document.getElementById('sure').open").await;
    assert_eq!(page.text("#sure-title").await, "Ask for 2 builds?");
    assert_eq!(page.text("#sure li").await, "Local: 2 builds, at most 6 requests");
    page.click("#sure [data-no]").await;
    assert_eq!(house.provider.requests().len(), 0);

    page.click("[data-order=missing]").await;
    until(&page, "document.getElementById('sure').open").await;
    page.click("#sure [data-yes]").await;
    until(&page, "document.querySelectorAll('#matrix img').length === 2").await;
    assert_eq!(page.text("[data-sum=remaining]").await, "0");

    page.click("[data-order=missing]").await;
    until(&page, "document.getElementById('outcome').textContent === 'Nothing is missing.'").await;
}

#[tokio::test]
async fn a_build_is_brought_by_pasting_it_and_retired_after_a_question() {
    let house = House::with([]).await;
    let page = house.open("/admin").await;
    let cell = cell("stone-bridge", "potter");
    page.click(&cell).await;
    let paste = async |text: &str| {
        page.run(&format!("document.getElementById('pasted').value = {text:?}")).await;
        page.click(".bring [type=submit]").await;
    };
    paste("no build at all").await;
    until(&page, "!document.getElementById('bring-trouble').hidden").await;
    assert_eq!(page.text("[data-sum=existing]").await, "0");

    let with_a_warning = BUILD.replace(
        "\"boxes\"",
        "\"blocks\": [{ \"x\": 99, \"y\": 0, \"z\": 0, \"type\": \"stone\" }], \"boxes\"",
    );
    paste(&format!("Here it is: {with_a_warning}")).await;
    until(&page, "document.querySelector('#panel [data-slot=told]').textContent.includes('It is in')").await;
    assert!(page.text("#panel [data-slot=told]").await.contains("It is in, with 3,200 blocks."));
    assert!(page.agrees(&format!("{STATE} === 'ready'")).await);
    assert!(page.text("#panel [data-slot=brought] li").await.contains("outside"));
    assert!(page.agrees("document.getElementById('bring-trouble').hidden").await);

    paste(BUILD).await;
    until(&page, "document.getElementById('bring-trouble').textContent.includes('already')").await;
    page.click("#over").await;
    paste(BUILD).await;
    until(&page, "document.querySelector('#panel [data-slot=told]').textContent.includes('is retired')")
        .await;

    page.click("#panel [data-does=retire]").await;
    page.click("#sure [data-yes]").await;
    let trouble = "!document.querySelector('#panel [data-slot=trouble]').hidden";
    until(&page, &format!("{STATE} === 'missing' || {trouble}")).await;
    assert!(!page.agrees(trouble).await, "{}", page.text("#panel [data-slot=trouble]").await);
    until(&page, &format!("document.querySelector({cell:?}).dataset.state === 'missing'")).await;
}

#[tokio::test]
async fn a_lost_connection_is_told_and_so_is_a_session_that_has_ended() {
    let house = House::with([]).await;
    let page = house.open("/admin").await;
    page.run("fetch('/admin/sign-out', { method: 'POST' })").await;
    page.click(&cell("blue-door", "mason")).await;
    until(&page, "document.getElementById('panel').open").await;
    page.click("#panel [data-does=generate]").await;
    until(&page, "document.querySelector('#panel [data-slot=trouble] a')?.pathname === '/admin'").await;
    assert!(page.text("#panel [data-slot=trouble]").await.starts_with("Your session has ended."));

    house.site.close();
    until(&page, "!document.getElementById('line').hidden").await;
    assert!(page.agrees("document.getElementById('line').textContent.includes('lost')").await);
}

#[tokio::test]
async fn arrows_lead_from_cell_to_cell_and_one_is_in_the_order_of_tabs() {
    let house = House::with([]).await;
    let page = house.open("/admin").await;
    let here = "document.activeElement.pathname";
    page.run(&format!("document.querySelector({:?}).focus()", cell("blue-door", "mason"))).await;
    for (key, place) in [
        ("ArrowRight", "blue-door/potter"),
        ("ArrowDown", "stone-bridge/potter"),
        ("End", "stone-bridge/house"),
        ("ArrowRight", "stone-bridge/house"),
        ("Home", "stone-bridge/mason"),
    ] {
        page.press(key).await;
        assert_eq!(page.eval::<String>(here).await, format!("/admin/places/{place}"), "{key}");
    }
    assert_eq!(page.eval::<usize>("document.querySelectorAll('#matrix a[tabindex=\"0\"]').length").await, 1);
}

#[tokio::test]
async fn without_script_every_state_is_told_and_leads_somewhere() {
    let house = House::with([wrong_key()]).await;
    house.import("stone-bridge", "house").await;
    let wanted = serde_json::json!({ "promptId": "blue-door", "modelKey": "mason" });
    let job: serde_json::Value =
        house.api("POST", "/api/admin/jobs").json(&wanted).send().await.unwrap().json().await.unwrap();
    let job = format!("/api/admin/jobs/{}", job["id"].as_str().unwrap());
    while !house.api("GET", &job).send().await.unwrap().text().await.unwrap().contains("\"failed\"") {
        tokio::task::yield_now().await;
    }
    let mut page = page("about:blank").await;
    page.without_script().await;
    page.goto(&house.site.at("/admin")).await;
    page.run(&format!("document.getElementById('token').value = {TOKEN:?}")).await;
    page.click_plainly("main [type=submit]").await;
    until(&page, "document.getElementById('matrix')").await;
    for (prompt, model, said) in [
        ("blue-door", "mason", "failed"),
        ("blue-door", "potter", "missing"),
        ("stone-bridge", "mason", "missing"),
        ("stone-bridge", "house", "ready"),
    ] {
        let cell = cell(prompt, model);
        let told: String = page.eval(&format!("document.querySelector({cell:?}).textContent.trim()")).await;
        assert!(told.starts_with(said), "{prompt} by {model}: {told}");
        let leads: String = page.eval(&format!("document.querySelector({cell:?}).pathname")).await;
        assert_eq!(visit(&house.site, &leads, &house.cookie().await).await.0, 200, "{leads}");
    }
    assert!(page.text(&cell("blue-door", "mason")).await.contains("bad key"));
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn sixty_prompts_by_thirty_models_fit_and_stay_quick() {
    let house = House::of(Provider::with(Voice::Compatible, []).await).await;
    for number in 0..58 {
        let path = format!("/api/admin/prompts/more-{number}");
        let body = serde_json::json!({ "text": format!("a prompt with the number {number}") });
        assert_eq!(house.api("PUT", &path).json(&body).send().await.unwrap().status(), 201);
    }
    for number in 0..27 {
        let path = format!("/api/admin/models/more_{number}");
        let body = serde_json::json!({ "provider": "local", "modelId": "more", "displayName": format!("Another Model {number}") });
        assert_eq!(house.api("PUT", &path).json(&body).send().await.unwrap().status(), 201);
    }
    let page = house.open("/admin").await;
    for (width, height) in [(1440, 900), (390, 844)] {
        page.size(width, height).await;
        page.reload().await;
        until(&page, "document.querySelectorAll('#matrix a').length === 1800").await;
        assert!(page.agrees("document.documentElement.scrollWidth <= innerWidth").await, "{width}");
        page.run("document.querySelector('.matrix').scrollTo(600, 600)").await;
        let stays = "(() => { const box = document.querySelector('.matrix').getBoundingClientRect(); const head = document.querySelector('#m20').getBoundingClientRect(); const side = document.querySelector('#p20').getBoundingClientRect(); return Math.abs(head.top - box.top) < 2 && Math.abs(side.left - box.left) < 2; })()";
        assert!(page.agrees(stays).await, "the names go away at {width}");
    }
}
