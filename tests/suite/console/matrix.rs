//! The matrix of prompts and models, with live updates and without script.

use std::sync::Arc;

use tokio::sync::Notify;

use super::{BUILD, ConsoleFixture, TOKEN, cell, confirm, unknown_model, valid_response, visit, wait_until};
use crate::support::{FakeBodyStep, FakePart, FakeProtocol, FakeProvider, FakeResponse, open_page};

const STATE: &str = "document.querySelector('#panel [data-slot=state]').textContent";

/// A valid answer whose second half is sent when the test notifies it.
pub(super) fn paused_response() -> (FakeResponse, Arc<Notify>) {
    let release = Arc::new(Notify::new());
    let (first, second) = BUILD.split_at(40);
    let events =
        FakeProtocol::Compatible.events(&[FakePart::Text(first), FakePart::Text(second), FakePart::Done]);
    let frames: Vec<_> = events.iter().map(|event| FakeProtocol::Compatible.frame(event)).collect();
    let response = FakeResponse::stream()
        .send(frames[..2].concat())
        .then(FakeBodyStep::WaitFor(Arc::clone(&release)))
        .send(frames[2..].concat() + "data: [DONE]\n\n");
    (response, release)
}

#[tokio::test]
async fn a_generated_build_is_shown_running_then_ready_and_focus_stays() {
    let (response, release) = paused_response();
    let fixture = ConsoleFixture::with_responses([response]).await;
    let mut page = fixture.open_signed_in("/admin").await;
    let cell = cell("blue-door", "mason");
    page.run(&format!("document.querySelector({cell:?}).focus()")).await;
    page.press("Enter").await;
    wait_until(&page, "document.getElementById('panel').open").await;
    assert_eq!(page.text("#panel h2").await, "A blue door");
    page.click("#panel [data-does=generate]").await;

    wait_until(&page, &format!("document.querySelector({cell:?}).innerText.includes('40 chars')")).await;
    wait_until(&page, &format!("{STATE} === 'running'")).await;
    assert_eq!(page.text("[data-sum=underWay]").await, "1");
    page.press("Escape").await;
    wait_until(&page, &format!("document.activeElement === document.querySelector({cell:?})")).await;

    release.notify_one();
    wait_until(&page, &format!("document.querySelector({cell:?} + ' img')?.complete")).await;
    assert!(page.holds(&format!("document.activeElement === document.querySelector({cell:?})")).await);
    assert_eq!(page.text("[data-sum=existing]").await, "1");
    assert_eq!(page.text("[data-sum=spent]").await, "$0.20");
    wait_until(&page, "document.getElementById('said').textContent === 'a blue door by Mason 1: ready.'")
        .await;
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_failure_shows_its_reason_and_can_be_retried() {
    let (response, release) = paused_response();
    let fixture = ConsoleFixture::with_responses([unknown_model(), response]).await;
    let page = fixture.open_signed_in("/admin").await;
    page.click(&cell("blue-door", "mason")).await;
    page.click("#panel [data-does=generate]").await;
    wait_until(&page, &format!("{STATE} === 'failed'")).await;
    assert!(page.text("#panel [data-slot=error]").await.contains("There is no such model here."));
    assert_eq!(page.text("[data-sum=failed]").await, "1");

    page.run("document.querySelector('#panel [data-does=retry]').focus()").await;
    page.press("Enter").await;
    wait_until(&page, &format!("{STATE} === 'running'")).await;
    assert_eq!(page.eval::<String>("document.activeElement.textContent").await, "Cancel");
    release.notify_one();
    wait_until(&page, &format!("{STATE} === 'ready'")).await;
    assert_eq!(page.eval::<String>("document.activeElement.id").await, "panel-prompt");
    assert_eq!(page.text("[data-sum=failed]").await, "0");
}

#[tokio::test]
async fn a_running_job_can_be_cancelled() {
    let (response, _leave) = paused_response();
    let fixture = ConsoleFixture::with_responses([response]).await;
    let page = fixture.open_signed_in("/admin").await;
    page.click(&cell("blue-door", "mason")).await;
    page.click("#panel [data-does=generate]").await;
    wait_until(&page, &format!("{STATE} === 'running'")).await;
    page.click("#panel [data-does=cancel]").await;
    wait_until(&page, &format!("{STATE} === 'cancelled'")).await;
    fixture.provider.wait_for_disconnect().await;
    assert!(page.holds("!document.querySelector('#panel [data-does=retry]').hidden").await);
    page.press("Escape").await;
    wait_until(&page, "document.querySelector('[data-sum=cancelled]').checkVisibility()").await;
    assert_eq!(page.text("[data-sum=cancelled]").await, "1");
    assert_eq!(page.text("[data-order=failed]").await, "Retry failed and cancelled");
}

#[tokio::test]
async fn builds_of_models_that_cannot_generate_are_counted_separately() {
    let fixture = ConsoleFixture::with_responses([]).await;
    fixture.import("blue-door", "house").await;
    let page = fixture.open_signed_in("/admin").await;
    let there = "div:has(> [data-sum=existing])";
    assert_eq!(
        page.text(there).await.split_whitespace().collect::<Vec<_>>().join(" "),
        "Built 0 and 1 by references"
    );
    fixture.import("stone-bridge", "potter").await;
    wait_until(
        &page,
        &format!(
            "document.querySelector({there:?}).innerText.includes('and 1 by models that cannot generate')"
        ),
    )
    .await;
    assert!(page.text(there).await.contains("and 1 by references"));
    assert!(page.text(".key").await.contains("ready"));
}

#[tokio::test]
async fn filters_are_in_the_url_and_an_empty_result_says_so() {
    let fixture = ConsoleFixture::with_responses([unknown_model()]).await;
    let page = fixture.open_signed_in("/admin").await;
    page.run("document.getElementById('only').value = 'failed'; document.getElementById('only').dispatchEvent(new Event('change', { bubbles: true }))").await;
    assert_eq!(page.text("#none").await, "Nothing failed.");
    assert!(page.holds("!document.querySelector('.matrix').checkVisibility()").await);
    page.reload().await;
    wait_until(
        &page,
        "location.search === '?show=failed' && document.getElementById('only').value === 'failed'",
    )
    .await;
    wait_until(&page, "document.getElementById('none').checkVisibility()").await;

    let request = serde_json::json!({ "promptId": "blue-door", "modelKey": "mason" });
    assert_eq!(fixture.api("POST", "/api/admin/jobs").json(&request).send().await.unwrap().status(), 202);
    wait_until(&page, "document.querySelector('.matrix').checkVisibility()").await;
    assert!(page.holds("document.getElementById('none').hidden").await);
}

#[tokio::test]
async fn disabled_models_can_generate_with_a_note_about_the_arena() {
    let fixture = ConsoleFixture::with_responses([]).await;
    let off = serde_json::json!({ "enabled": false });
    assert_eq!(
        fixture.api("PATCH", "/api/admin/models/mason").json(&off).send().await.unwrap().status(),
        200
    );
    let page = fixture.open_signed_in("/admin").await;
    assert!(!page.text(".key").await.contains("off"));
    page.click("#all").await;
    assert!(page.text(".key").await.contains("off"));
    page.click(&cell("blue-door", "mason")).await;
    wait_until(&page, "document.getElementById('panel').open").await;
    let more = page.text("#panel [data-slot=more]").await;
    assert_eq!(more, "Switched off: builds here do not appear in the arena.");
}

#[tokio::test]
async fn a_file_can_be_dropped_on_a_cell_or_its_panel() {
    let fixture = ConsoleFixture::with_responses([]).await;
    let page = fixture.open_signed_in("/admin").await;
    let drop = async |css: &str| {
        let response = format!(
            "{{ const dropped = new DataTransfer(); dropped.items.add(new File([{BUILD:?}], 'door.json')); document.querySelector({css:?}).dispatchEvent(new DragEvent('drop', {{ dataTransfer: dropped, bubbles: true, cancelable: true }})) }}"
        );
        page.run(&response).await;
        wait_until(
            &page,
            "document.querySelector('#panel [data-slot=brought]').innerText.includes('door.json is ready to import')",
        )
        .await;
        assert_eq!(page.eval::<String>("document.activeElement.textContent").await, "Import");
        page.press("Enter").await;
        wait_until(&page, &format!("{STATE} === 'ready'")).await;
        page.press("Escape").await;
    };
    drop(&cell("blue-door", "potter")).await;
    page.click(&cell("stone-bridge", "potter")).await;
    wait_until(&page, "document.getElementById('panel').open").await;
    drop("#panel h2").await;
}

#[tokio::test]
async fn all_missing_builds_are_enqueued_after_confirmation() {
    let fixture = ConsoleFixture::with_handler(|_| valid_response()).await;
    let page = fixture.open_signed_in("/admin").await;
    page.click("[data-order=missing]").await;
    wait_until(&page, "document.getElementById('sure').open").await;
    assert_eq!(page.text("#sure-title").await, "Generate 2 builds?");
    assert_eq!(page.text("#sure li").await, "Local: 2 builds, at most 6 requests");
    assert!(page.text("#sure").await.contains("going by earlier builds: about $"));
    page.click("#sure [data-no]").await;
    assert_eq!(fixture.provider.requests().len(), 0);

    page.click("[data-order=missing]").await;
    confirm(&page).await;
    wait_until(&page, "document.querySelectorAll('#matrix img').length === 2").await;
    assert_eq!(page.text("[data-sum=remaining]").await, "0");

    page.click("[data-order=missing]").await;
    wait_until(&page, "document.getElementById('outcome').textContent === 'Nothing is missing.'").await;
}

#[tokio::test]
async fn all_jobs_are_cancelled_after_confirmation() {
    let fixture = ConsoleFixture::with_handler(|_| paused_response().0).await;
    let page = fixture.open_signed_in("/admin").await;
    wait_until(&page, "document.querySelector('[data-order=stop]').hidden").await;
    page.click("[data-order=missing]").await;
    confirm(&page).await;
    wait_until(&page, "!document.querySelector('[data-order=stop]').hidden").await;

    page.click("[data-order=stop]").await;
    wait_until(&page, "document.getElementById('sure').open").await;
    assert_eq!(page.text("#sure-title").await, "Stop all jobs?");
    confirm(&page).await;

    wait_until(&page, "document.getElementById('outcome').textContent === '2 jobs cancelled.'").await;
    wait_until(&page, "document.querySelector('[data-sum=underWay]').textContent === '0'").await;
}

#[tokio::test]
async fn a_build_is_imported_by_pasting_and_retired_after_confirmation() {
    let fixture = ConsoleFixture::with_responses([]).await;
    let page = fixture.open_signed_in("/admin").await;
    let cell = cell("stone-bridge", "potter");
    page.click(&cell).await;
    let paste = async |text: &str| {
        page.run(&format!("document.getElementById('pasted').value = {text:?}")).await;
        page.click(".bring [type=submit]").await;
    };
    paste("no build at all").await;
    wait_until(&page, "!document.getElementById('bring-trouble').hidden").await;
    assert_eq!(page.text("[data-sum=existing]").await, "0");

    let with_warnings = BUILD.replace(
        "\"boxes\"",
        "\"blocks\": [{ \"x\": 99, \"y\": 0, \"z\": 0, \"type\": \"stone\" }, { \"x\": 1, \"y\": 9, \"z\": 1, \"type\": \"cheese\" }], \"boxes\"",
    );
    paste(&format!("Here it is: {with_warnings}")).await;
    wait_until(&page, "document.querySelector('#panel [data-slot=told]').textContent.includes('Imported')")
        .await;
    let notice = page.text("#panel [data-slot=told]").await;
    assert!(
        notice.starts_with("Imported: 3,200 blocks, 2 warnings: ") && notice.contains("outside"),
        "{notice}"
    );
    assert!(page.holds(&format!("{STATE} === 'ready'")).await);
    assert_eq!(
        page.eval::<usize>("document.querySelectorAll('#panel [data-slot=brought] li').length").await,
        2
    );
    assert!(page.holds("document.getElementById('bring-trouble').hidden").await);

    paste(BUILD).await;
    wait_until(
        &page,
        "document.getElementById('bring-trouble').textContent.includes('tick “Retire the existing build')",
    )
    .await;
    assert!(
        page.holds("document.querySelector('#panel [data-slot=told]').hidden").await,
        "a refused import must not be reported as done"
    );
    page.click("#over").await;
    paste(BUILD).await;
    wait_until(
        &page,
        "document.querySelector('#panel [data-slot=told]').textContent.includes('was retired')",
    )
    .await;

    page.click("#panel [data-does=retire]").await;
    confirm(&page).await;
    let trouble = "!document.querySelector('#panel [data-slot=trouble]').hidden";
    wait_until(&page, &format!("{STATE} === 'missing' || {trouble}")).await;
    assert!(!page.holds(trouble).await, "{}", page.text("#panel [data-slot=trouble]").await);
    wait_until(&page, &format!("document.querySelector({cell:?}).dataset.state === 'missing'")).await;
    wait_until(&page, &format!("{STATE} === 'missing'")).await;
    assert!(page.text("#panel [data-slot=told]").await.starts_with("Retired."));
    let build: String = page.eval("document.querySelector('#panel [data-slot=told] a').pathname").await;
    let (status, html) = visit(&fixture.server, &build, "").await;
    assert!(status == 200 && html.contains("Retired."), "{build}: {status}");
}

#[tokio::test]
async fn a_lost_connection_and_an_ended_session_are_shown() {
    let fixture = ConsoleFixture::with_responses([]).await;
    let page = fixture.open_signed_in("/admin").await;
    page.run("fetch('/admin/sign-out', { method: 'POST' })").await;
    page.click(&cell("blue-door", "mason")).await;
    wait_until(&page, "document.getElementById('panel').open").await;
    page.click("#panel [data-does=generate]").await;
    wait_until(&page, "document.querySelector('#panel [data-slot=trouble] a')?.pathname === '/admin'").await;
    assert!(page.text("#panel [data-slot=trouble]").await.starts_with("Your session has ended."));

    fixture.server.shut_down();
    wait_until(&page, "!document.getElementById('line').hidden").await;
    assert!(page.holds("document.getElementById('line').textContent.includes('lost')").await);
}

#[tokio::test]
async fn arrow_keys_move_between_cells_and_headings_and_one_of_them_is_in_the_tab_order() {
    let fixture = ConsoleFixture::with_responses([]).await;
    let page = fixture.open_signed_in("/admin").await;
    let here = "(({ pathname, textContent }) => pathname?.replace('/admin/places/', '') ?? textContent.trim())(document.activeElement)";
    page.run(&format!("document.querySelector({:?}).focus()", cell("blue-door", "mason"))).await;
    for (key, place) in [
        ("ArrowRight", "blue-door/potter"),
        ("ArrowDown", "stone-bridge/potter"),
        ("End", "stone-bridge/house"),
        ("ArrowRight", "stone-bridge/house"),
        ("Home", "a bridge of stone"),
        ("ArrowUp", "a blue door"),
        ("ArrowUp", "a blue door"),
        ("ArrowRight", "blue-door/mason"),
        ("ArrowUp", "Mason 1"),
        ("ArrowLeft", "Mason 1"),
        ("ArrowRight", "Potter"),
        ("PageDown", "stone-bridge/potter"),
    ] {
        page.press(key).await;
        assert_eq!(page.eval::<String>(here).await, place, "{key}");
    }
    assert_eq!(page.eval::<usize>("document.querySelectorAll('#matrix [tabindex=\"0\"]').length").await, 1);
    page.run("document.activeElement.blur(); document.querySelector('#matrix [tabindex=\"0\"]').focus()")
        .await;
    assert_eq!(page.eval::<String>(here).await, "stone-bridge/potter", "Tab comes back to where it left");
}

#[tokio::test]
async fn the_focus_goes_to_a_neighbour_if_the_filter_hides_a_cell_that_changes() {
    let fixture = ConsoleFixture::with_responses([]).await;
    let page = fixture.open_signed_in("/admin?show=missing").await;
    page.run(&format!("document.querySelector({:?}).focus()", cell("blue-door", "mason"))).await;
    fixture.import("blue-door", "mason").await;
    wait_until(&page, "document.activeElement.pathname === '/admin/places/stone-bridge/mason'").await;
}

#[tokio::test]
async fn without_script_every_state_is_shown_with_a_link() {
    let fixture = ConsoleFixture::with_responses([unknown_model()]).await;
    fixture.import("stone-bridge", "house").await;
    let request = serde_json::json!({ "promptId": "blue-door", "modelKey": "mason" });
    assert!(
        fixture.api("POST", "/api/admin/jobs").json(&request).send().await.unwrap().status().is_success()
    );
    fixture.wait_for_jobs_to_end().await;
    let mut page = open_page("about:blank").await;
    page.disable_scripts().await;
    page.goto(&fixture.server.url_for("/admin")).await;
    page.run(&format!("document.getElementById('token').value = {TOKEN:?}")).await;
    page.click_without_script("main [type=submit]").await;
    wait_until(&page, "document.getElementById('matrix')").await;
    for (prompt, model, said) in [
        ("blue-door", "mason", "failed"),
        ("blue-door", "potter", "missing"),
        ("stone-bridge", "mason", "missing"),
        ("stone-bridge", "house", "ready"),
    ] {
        let cell = cell(prompt, model);
        let notice: String = page.eval(&format!("document.querySelector({cell:?}).textContent.trim()")).await;
        assert!(notice.starts_with(said), "{prompt} by {model}: {notice}");
        let leads: String = page.eval(&format!("document.querySelector({cell:?}).pathname")).await;
        assert_eq!(visit(&fixture.server, &leads, &fixture.cookie().await).await.0, 200, "{leads}");
    }
    assert!(page.text(&cell("blue-door", "mason")).await.contains("no such model"));
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn sixty_prompts_by_thirty_models_fit_and_stay_quick() {
    let fixture =
        ConsoleFixture::with_provider(FakeProvider::with_responses(FakeProtocol::Compatible, []).await).await;
    for number in 0..58 {
        let path = format!("/api/admin/prompts/more-{number}");
        let body = serde_json::json!({ "text": format!("a prompt with the number {number}") });
        assert_eq!(fixture.api("PUT", &path).json(&body).send().await.unwrap().status(), 201);
    }
    for number in 0..27 {
        let path = format!("/api/admin/models/more_{number}");
        let body = serde_json::json!({ "provider": "local", "modelId": "more", "displayName": format!("Another Model {number}") });
        assert_eq!(fixture.api("PUT", &path).json(&body).send().await.unwrap().status(), 201);
    }
    let page = fixture.open_signed_in("/admin").await;
    for (width, height) in [(1440, 900), (390, 844)] {
        page.set_size(width, height).await;
        page.reload().await;
        wait_until(&page, "document.querySelectorAll('#matrix a').length === 1800").await;
        assert!(page.holds("document.documentElement.scrollWidth <= innerWidth").await, "{width}");
        page.run("document.querySelector('.matrix').scrollTo(600, 600)").await;
        let stays = "(() => { const box = document.querySelector('.matrix').getBoundingClientRect(); const head = document.querySelector('#m20').getBoundingClientRect(); const side = document.querySelector('#p20').getBoundingClientRect(); return Math.abs(head.top - box.top) < 2 && Math.abs(side.left - box.left) < 2; })()";
        assert!(page.holds(stays).await, "the row and column names scroll out of view at {width}");
    }
}
