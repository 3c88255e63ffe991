//! `/sandbox`: a run in the browser.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{SandboxFixture, stalled_response, valid_response};
use crate::support::fake_protocol::MODEL;
use crate::support::fake_provider::API_KEY;
use crate::support::{
    BrowserPage, FakeBodyStep, FakePart, FakeProtocol, FakeResponse, Theme, open_page, sample_spec,
};

/// Waits until the condition holds.
pub async fn wait_until(page: &BrowserPage, condition: &str) {
    page.wait_until(condition).await;
}

/// Waits until a side is in this state.
async fn wait_for_state(page: &BrowserPage, side: &str, state: &str) {
    wait_until(page, &format!("document.querySelector('[data-side={side}]').dataset.state === '{state}'"))
        .await;
}

async fn submit_prompt(page: &BrowserPage, prompt: &str) {
    page.run(&format!("document.getElementById('words').value = {prompt:?}")).await;
    page.click("#go").await;
}

/// Selects on a side the first model of this kind whose key contains the text.
async fn choose(page: &BrowserPage, side: &str, kind: &str, model: &str) {
    page.run(&format!(
        "{{ const list = document.getElementById('model-{side}');
            list.selectedIndex = [...list.options].findIndex(one => one.dataset.kind === '{kind}' && one.value.includes('{model}'));
            list.dispatchEvent(new Event('change', {{ bubbles: true }})); }}"
    ))
    .await;
}

async fn fill(page: &BrowserPage, id: &str, text: &str) {
    page.run(&format!(
        "{{ const field = document.getElementById({id:?}); field.value = {text:?};
            for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {{ bubbles: true }})); }}"
    ))
    .await;
}

async fn value_of(page: &BrowserPage, id: &str) -> String {
    page.eval(&format!("document.getElementById({id:?}).value")).await
}

/// From now on the page records its requests in `asked`.
async fn record_requests(page: &BrowserPage) {
    page.run(
        "const real = fetch; globalThis.asked = []; globalThis.fetch = (address, options) => {
            if (String(address).includes('/api/generate')) asked.push(JSON.parse(options.body));
            return real(address, options);
        }",
    )
    .await;
}

/// An answer whose second half is sent when the test notifies it.
fn paused_between(first: &str, second: &str, release: &Arc<Notify>) -> FakeResponse {
    let text = |text: &str| FakeProtocol::Compatible.stream(&[FakePart::Text(text)]);
    let end = FakeProtocol::Compatible.stream(&[FakePart::Done]);
    FakeResponse::stream()
        .send(text(first))
        .then(FakeBodyStep::WaitFor(Arc::clone(release)))
        .send(text(second))
        .send(end)
}

/// The answers of the first run stall, and those of later runs are valid.
async fn fixture_with_stalled_first_run() -> SandboxFixture {
    let request_count = AtomicUsize::new(0);
    SandboxFixture::new(&[], move |_| match request_count.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => stalled_response(0),
        _ => valid_response(0),
    })
    .await
}

#[tokio::test]
async fn two_builds_grow_while_they_stream_and_are_saved_under_a_link() {
    let release = Arc::new(Notify::new());
    let (hold, request_count) = (Arc::clone(&release), AtomicUsize::new(0));
    let tower = r#"{"x1":4,"y1":13,"z1":4,"x2":12,"y2":16,"z2":12,"type":"gold_block"}]}"#;
    let fixture = SandboxFixture::new(&[], move |_| match request_count.fetch_add(1, Ordering::SeqCst) {
        0 => paused_between(&sample_spec(9).replace("]}", ","), tower, &hold),
        _ => valid_response(0),
    })
    .await;
    let tab = open_page(&fixture.server.url_for("/sandbox?words=a+barn&q=low")).await;
    wait_until(&tab, "!document.getElementById('ask').hidden").await;
    assert_eq!(tab.eval::<String>("document.getElementById('words').value").await, "a barn");
    tab.click("#go").await;
    wait_until(&tab, "document.querySelector('build-viewer[data-growing][data-state=live]')").await;
    wait_until(
        &tab,
        "document.querySelector('[data-state=building] [data-slot=more]').textContent.includes('box')",
    )
    .await;
    wait_until(&tab, "document.querySelector('[data-state=ready]')").await;
    assert!(
        tab.holds("document.getElementById('keeping').hidden").await,
        "a run must not be saved while one side is running"
    );
    tab.screenshot("sandbox-growing").await;
    release.notify_one();
    wait_until(&tab, "document.querySelectorAll('[data-state=ready]').length === 2").await;
    wait_until(
        &tab,
        "document.querySelectorAll('build-viewer[data-state=live]:not([data-growing])').length === 2",
    )
    .await;
    assert!(tab.text("[data-side=a] [data-slot=facts]").await.contains("blocks"));
    assert!(
        tab.holds("document.querySelector('[data-format=schem]').href.includes('/api/sandbox/drafts/')")
            .await
    );
    for (name, width, height, theme) in [
        ("desk-light", 1440, 900, Theme::Light),
        ("desk-dark", 1440, 900, Theme::Dark),
        ("phone-light", 390, 844, Theme::Light),
    ] {
        tab.set_size(width, height).await;
        tab.set_theme(theme).await;
        tab.screenshot(&format!("sandbox-ready-{name}")).await;
        assert!(tab.holds("document.documentElement.scrollWidth <= innerWidth").await, "{name}");
    }
    tab.click("#keep").await;
    wait_until(&tab, "document.querySelector('#kept a')").await;
    let link: String = tab.eval("document.querySelector('#kept a').href").await;
    let other = open_page(&format!("{link}?q=low")).await;
    wait_until(&other, "document.querySelectorAll('build-viewer[data-state=live]').length === 2").await;
    assert_eq!(other.text("#compared").await, "A barn");
    assert!(
        other.holds("!document.getElementById('forget')").await,
        "other visitors must not be offered to delete the run"
    );
    other.screenshot("sandbox-kept").await;
    tab.goto(&link).await;
    wait_until(&tab, "document.querySelectorAll('build-viewer[data-state=live]').length === 2").await;
    tab.click("#forget button").await;
    tab.click("#sure [autofocus]").await;
    wait_until(&tab, "!document.getElementById('sure').open && document.activeElement.closest('#forget')")
        .await;
    tab.click("#forget button").await;
    tab.click("#sure [value=yes]").await;
    wait_until(&tab, "location.pathname === '/sandbox'").await;
    other.goto(&link).await;
    assert!(other.text("main").await.contains("This run does not exist"));
}

#[tokio::test]
async fn stopping_cancels_both_requests_and_each_side_can_be_retried() {
    let fixture = fixture_with_stalled_first_run().await;
    let tab = open_page(&fixture.server.url_for("/sandbox?q=low")).await;
    submit_prompt(&tab, "a shed").await;
    wait_until(&tab, "document.querySelectorAll('.side[data-state=building]').length === 2").await;
    assert!(tab.holds("document.getElementById('go').disabled").await);
    tab.click("#stop").await;
    fixture.provider.wait_for_disconnect().await;
    fixture.provider.wait_for_disconnect().await;
    wait_for_state(&tab, "a", "stopped").await;
    wait_for_state(&tab, "b", "stopped").await;
    wait_until(&tab, "document.getElementById('stop').hidden && !document.getElementById('go').disabled")
        .await;
    tab.click("[data-side=b] [data-does=retry]").await;
    wait_for_state(&tab, "b", "ready").await;
    assert!(tab.holds("document.querySelector('[data-side=a]').dataset.state === 'stopped'").await);
    assert_eq!(fixture.provider.requests().len(), 3);
}

#[tokio::test]
async fn a_failed_side_shows_its_answer_and_the_other_side_continues() {
    let request_count = AtomicUsize::new(0);
    let fixture = SandboxFixture::new(&[("AI_ATTEMPTS", "2")], move |_| {
        match request_count.fetch_add(1, Ordering::SeqCst) {
            0 => valid_response(0),
            _ => FakeProtocol::Compatible
                .answer(&[FakePart::Text("I would rather <b>sing</b>."), FakePart::Done]),
        }
    })
    .await;
    let tab = open_page(&fixture.server.url_for("/sandbox?q=low")).await;
    submit_prompt(&tab, "a shed").await;
    wait_until(&tab, "document.querySelector('.side[data-state=ready]') && document.querySelector('.side[data-state=failed]')").await;
    let failed = "document.querySelector('.side[data-state=failed]')";
    assert!(
        tab.holds(&format!(
            "{failed}.querySelector('[data-slot=notes]').textContent.includes('Attempt 2, because')"
        ))
        .await
    );
    tab.run(&format!("{failed}.querySelector('details').open = true")).await;
    wait_until(
        &tab,
        &format!("{failed}.querySelector('[data-slot=raw]').textContent.includes('<b>sing</b>')"),
    )
    .await;
    assert!(tab.holds(&format!("!{failed}.querySelector('[data-does=retry]').hidden")).await);
    tab.screenshot("sandbox-failed").await;
}

#[tokio::test]
async fn a_broken_stream_does_not_leave_the_page_waiting() {
    let fixture = SandboxFixture::new(&[], stalled_response).await;
    let tab = open_page(&fixture.server.url_for("/sandbox?q=low")).await;
    // The connection breaks after the first bytes, so that neither side gets a last event.
    tab.run(
        "const real = fetch; globalThis.fetch = async (...asked) => {
            const answer = await real(...asked);
            if (!String(asked[0]).includes('/api/generate')) return answer;
            const reader = answer.body.getReader();
            let left = 1;
            return new Response(new ReadableStream({ async pull(to) {
                if (!left--) return to.error(new TypeError('network error'));
                to.enqueue((await reader.read()).value);
            } }));
        }",
    )
    .await;
    submit_prompt(&tab, "a shed").await;
    for side in ["a", "b"] {
        wait_for_state(&tab, side, "failed").await;
    }
    assert!(tab.text("[data-side=a] .state").await.contains("The connection was lost."));
    assert!(tab.holds("document.getElementById('stop').hidden").await);
}

#[tokio::test]
async fn an_invalid_field_shows_its_error_and_nothing_is_sent() {
    let fixture = SandboxFixture::new(&[("SANDBOX_SERVER_KEYS", "off")], valid_response).await;
    let tab = open_page(&fixture.server.url_for("/sandbox?q=low")).await;
    let wrong = "document.activeElement.getAttribute('aria-invalid') === 'true' && document.activeElement.id";
    tab.click("#go").await;
    wait_until(&tab, &format!("({wrong}) === 'words'")).await;
    fill(&tab, "words", "a").await;
    assert!(tab.holds("document.getElementById('words-problem').textContent === '' && !document.getElementById('words').hasAttribute('aria-invalid')").await);
    submit_prompt(&tab, "a shed").await;
    wait_until(&tab, &format!("({wrong}) === 'key-a'")).await;
    assert!(tab.text("#problem-a").await.contains("Enter your key"));
    fill(&tab, "key-a", API_KEY).await;
    choose(&tab, "b", "endpoint", "").await;
    tab.click("#go").await;
    wait_until(&tab, &format!("({wrong}) === 'base-b'")).await;
    fill(&tab, "base-b", "https://127.0.0.1/v1").await;
    tab.click("#go").await;
    wait_until(&tab, &format!("({wrong}) === 'name-b'")).await;
    tab.set_size(390, 844).await;
    tab.screenshot("sandbox-wrong-phone").await;
    tab.set_size(1440, 900).await;
    choose(&tab, "b", "catalog", "one").await;
    choose(&tab, "a", "catalog", "one").await;
    tab.click("#go").await;
    wait_until(&tab, "document.getElementById('problem-b').textContent.includes('same model')").await;
    assert!(fixture.provider.requests().is_empty());
    choose(&tab, "b", "endpoint", "").await;
    fill(&tab, "name-b", MODEL).await;
    tab.click("#go").await;
    wait_for_state(&tab, "b", "failed").await;
    assert!(tab.text("[data-side=b] .state").await.contains("public internet"));
}

#[tokio::test]
async fn a_key_stays_in_the_page_unless_the_visitor_saves_it() {
    let fixture = SandboxFixture::new(&[("SANDBOX_SERVER_KEYS", "off")], valid_response).await;
    let tab = open_page(&fixture.server.url_for("/sandbox?q=low")).await;
    let stored = "JSON.stringify({ ...localStorage, ...sessionStorage })";
    fill(&tab, "key-a", API_KEY).await;
    assert!(!tab.eval::<String>(stored).await.contains(API_KEY));
    tab.reload().await;
    wait_until(&tab, "!document.getElementById('ask').hidden").await;
    assert_eq!(value_of(&tab, "key-a").await, "");
    fill(&tab, "key-a", API_KEY).await;
    tab.click("#keep-keys").await;
    assert!(tab.eval::<String>(stored).await.contains(API_KEY));
    tab.reload().await;
    wait_until(&tab, "!document.getElementById('ask').hidden").await;
    assert_eq!(value_of(&tab, "key-a").await, API_KEY);
    tab.click("#keep-keys").await;
    assert!(!tab.eval::<String>(stored).await.contains(API_KEY));
}

#[tokio::test]
async fn a_typed_key_serves_both_sides_but_no_model_with_a_shared_server_key() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let tab = open_page(&fixture.server.url_for("/sandbox?q=low")).await;
    record_requests(&tab).await;
    choose(&tab, "a", "provider", "somebody").await;
    choose(&tab, "b", "provider", "somebody").await;
    fill(&tab, "key-b", API_KEY).await;
    assert_eq!(value_of(&tab, "key-a").await, API_KEY);
    fill(&tab, "name-b", MODEL).await;
    choose(&tab, "a", "catalog", "one").await;
    assert!(!tab.holds("document.getElementById('key-a').checkVisibility()").await);
    submit_prompt(&tab, "a shed").await;
    wait_for_state(&tab, "a", "ready").await;
    wait_for_state(&tab, "b", "ready").await;
    let models = json!([{ "key": "one" }, { "provider": "somebody", "model": MODEL, "apiKey": API_KEY }]);
    assert_eq!(tab.eval::<Value>("asked[0].models").await, models);
    let keys: Vec<_> =
        fixture.provider.requests().iter().map(|request| request.headers["authorization"].clone()).collect();
    assert_eq!(keys, [format!("Bearer {API_KEY}"), format!("Bearer {API_KEY}")]);
}

#[tokio::test]
async fn a_key_typed_for_an_endpoint_stays_when_its_url_is_corrected() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let tab = open_page(&fixture.server.url_for("/sandbox?q=low")).await;
    choose(&tab, "a", "endpoint", "").await;
    fill(&tab, "key-a", API_KEY).await;
    fill(&tab, "base-a", "https://models.example.con/v1").await;
    fill(&tab, "base-a", "https://models.example.com/v1").await;
    assert_eq!(value_of(&tab, "key-a").await, API_KEY);
}

#[tokio::test]
async fn an_invalid_hidden_field_does_not_block_the_form() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let tab = open_page(&fixture.server.url_for("/sandbox?q=low")).await;
    choose(&tab, "a", "endpoint", "").await;
    fill(&tab, "base-a", "nonsense").await;
    choose(&tab, "a", "catalog", "one").await;
    submit_prompt(&tab, "a shed").await;
    wait_for_state(&tab, "a", "ready").await;
    wait_for_state(&tab, "b", "ready").await;
}

#[tokio::test]
async fn a_retry_uses_the_model_shown_even_if_the_form_has_changed() {
    let fixture = fixture_with_stalled_first_run().await;
    let tab = open_page(&fixture.server.url_for("/sandbox?q=low")).await;
    record_requests(&tab).await;
    submit_prompt(&tab, "a shed").await;
    wait_until(&tab, "document.querySelectorAll('.side[data-state=building]').length === 2").await;
    tab.click("#stop").await;
    wait_for_state(&tab, "b", "stopped").await;
    wait_until(
        &tab,
        "document.getElementById('said').textContent.match(/Model one stopped.*Model two stopped/)",
    )
    .await;
    choose(&tab, "b", "endpoint", "").await;
    fill(&tab, "words", "a barn").await;
    tab.click("[data-side=b] [data-does=retry]").await;
    assert!(tab.holds("document.activeElement.matches('[data-side=b]')").await);
    wait_for_state(&tab, "b", "ready").await;
    let again = json!({
        "prompt": "a shed", "gridSize": 32, "palette": "simple",
        "models": [{ "key": "one" }, { "key": "two" }], "only": "b",
    });
    assert_eq!(tab.eval::<Value>("asked[1]").await, again);
    assert_eq!(tab.text("[data-side=b] [data-slot=who]").await, "Model two");
}

#[tokio::test]
async fn each_side_shows_its_position_in_the_queue() {
    let fixture = SandboxFixture::new(&[("SANDBOX_AT_ONCE", "1")], stalled_response).await;
    let first = open_page(&fixture.server.url_for("/sandbox?q=low")).await;
    submit_prompt(&first, "a shed").await;
    wait_until(&first, "document.querySelectorAll('.side[data-state=building]').length === 2").await;
    let second = open_page(&fixture.server.url_for("/sandbox?q=low")).await;
    submit_prompt(&second, "a barn").await;
    for side in ["a", "b"] {
        wait_until(&second, &format!("document.querySelector('[data-side={side}] .state').innerText.includes('You are next in line.')")).await;
    }
    wait_until(&second, "document.getElementById('said').textContent.includes('You are next in line.')")
        .await;
    first.click("#stop").await;
    wait_until(&second, "document.querySelectorAll('.side[data-state=building]').length === 2").await;
}

#[tokio::test]
async fn the_link_to_the_chat_prompt_carries_the_request() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let tab = open_page(&fixture.server.url_for("/sandbox?grid=64&palette=advanced&q=low")).await;
    wait_until(&tab, "!document.getElementById('ask').hidden").await;
    tab.run("{ const words = document.getElementById('words'); words.value = 'a bridge & a boat'; words.dispatchEvent(new Event('input', { bubbles: true })); }").await;
    tab.click("#chat").await;
    wait_until(&tab, "location.pathname === '/prompts/chat'").await;
    assert_eq!(tab.text("#phrase").await, "A bridge & a boat");
    assert!(tab.text(".handout").await.contains("Grid 64, advanced palette"));
}

#[tokio::test]
async fn without_script_the_sandbox_says_what_still_works() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let tab = open_page(&fixture.server.url_for("/healthz")).await;
    tab.disable_scripts().await;
    tab.goto(&fixture.server.url_for("/sandbox")).await;
    assert!(tab.text("main").await.contains("This needs JavaScript"));
    assert!(!tab.holds("document.getElementById('ask').checkVisibility()").await);
    tab.screenshot("sandbox-without-script").await;
}
