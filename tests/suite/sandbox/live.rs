//! `/sandbox`: a run as somebody sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{Scene, builds, stalls};
use crate::support::provider::KEY;
use crate::support::voice::MODEL;
use crate::support::{Beat, Page, Say, Script, Theme, Voice, hut, page};

/// Returns once it is so.
pub async fn until(page: &Page, condition: &str) {
    page.until(condition).await;
}

/// What a side is doing.
async fn becomes(page: &Page, side: &str, state: &str) {
    until(page, &format!("document.querySelector('[data-side={side}]').dataset.state === '{state}'")).await;
}

async fn ask(page: &Page, prompt: &str) {
    page.run(&format!("document.getElementById('words').value = {prompt:?}")).await;
    page.click("#go").await;
}

/// The first model of a kind on a side, of those whose key contains this.
async fn choose(page: &Page, side: &str, kind: &str, model: &str) {
    page.run(&format!(
        "{{ const list = document.getElementById('model-{side}');
            list.selectedIndex = [...list.options].findIndex(one => one.dataset.kind === '{kind}' && one.value.includes('{model}'));
            list.dispatchEvent(new Event('change', {{ bubbles: true }})); }}"
    ))
    .await;
}

async fn fill(page: &Page, id: &str, text: &str) {
    page.run(&format!(
        "{{ const field = document.getElementById({id:?}); field.value = {text:?};
            for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {{ bubbles: true }})); }}"
    ))
    .await;
}

async fn holds(page: &Page, id: &str) -> String {
    page.eval(&format!("document.getElementById({id:?}).value")).await
}

/// From now on `asked` is what the page asks the server for.
async fn overhear(page: &Page) {
    page.run(
        "const real = fetch; globalThis.asked = []; globalThis.fetch = (address, options) => {
            if (String(address).includes('/api/generate')) asked.push(JSON.parse(options.body));
            return real(address, options);
        }",
    )
    .await;
}

/// An answer whose second half waits for the test's leave.
fn in_halves(first: &str, second: &str, leave: &Arc<Notify>) -> Script {
    let text = |text: &str| Voice::Compatible.stream(&[Say::Text(text)]);
    let end = Voice::Compatible.stream(&[Say::Done]);
    Script::stream().send(text(first)).beat(Beat::Hold(Arc::clone(leave))).send(text(second)).send(end)
}

#[tokio::test]
async fn two_builds_grow_while_they_are_written_and_are_kept_under_a_link() {
    let leave = Arc::new(Notify::new());
    let (hold, asked) = (Arc::clone(&leave), AtomicUsize::new(0));
    let tower = r#"{"x1":4,"y1":13,"z1":4,"x2":12,"y2":16,"z2":12,"type":"gold_block"}]}"#;
    let scene = Scene::with(&[], move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => in_halves(&hut(9).replace("]}", ","), tower, &hold),
        _ => builds(0),
    })
    .await;
    let tab = page(&scene.site.at("/sandbox?words=a+barn&q=low")).await;
    until(&tab, "!document.getElementById('ask').hidden").await;
    assert_eq!(tab.eval::<String>("document.getElementById('words').value").await, "a barn");
    tab.click("#go").await;
    until(&tab, "document.querySelector('build-viewer[data-growing][data-state=live]')").await;
    until(
        &tab,
        "document.querySelector('[data-state=building] [data-slot=more]').textContent.includes('box')",
    )
    .await;
    until(&tab, "document.querySelector('[data-state=ready]')").await;
    assert!(tab.agrees("document.getElementById('keeping').hidden").await, "one side is still at it");
    tab.shot("sandbox-growing").await;
    leave.notify_one();
    until(&tab, "document.querySelectorAll('[data-state=ready]').length === 2").await;
    until(
        &tab,
        "document.querySelectorAll('build-viewer[data-state=live]:not([data-growing])').length === 2",
    )
    .await;
    assert!(tab.text("[data-side=a] [data-slot=facts]").await.contains("blocks"));
    assert!(
        tab.agrees("document.querySelector('[data-format=schem]').href.includes('/api/sandbox/drafts/')")
            .await
    );
    for (name, width, height, theme) in [
        ("desk-light", 1440, 900, Theme::Light),
        ("desk-dark", 1440, 900, Theme::Dark),
        ("phone-light", 390, 844, Theme::Light),
    ] {
        tab.size(width, height).await;
        tab.theme(theme).await;
        tab.shot(&format!("sandbox-ready-{name}")).await;
        assert!(tab.agrees("document.documentElement.scrollWidth <= innerWidth").await, "{name}");
    }
    tab.click("#keep").await;
    until(&tab, "document.querySelector('#kept a')").await;
    let link: String = tab.eval("document.querySelector('#kept a').href").await;
    let other = page(&format!("{link}?q=low")).await;
    until(&other, "document.querySelectorAll('build-viewer[data-state=live]').length === 2").await;
    assert_eq!(other.text("#compared").await, "A barn");
    assert!(other.agrees("!document.getElementById('forget')").await, "it is not theirs to delete");
    other.shot("sandbox-kept").await;
    tab.goto(&link).await;
    until(&tab, "document.querySelectorAll('build-viewer[data-state=live]').length === 2").await;
    tab.click("#forget button").await;
    tab.click("#sure [autofocus]").await;
    until(&tab, "!document.getElementById('sure').open && document.activeElement.closest('#forget')").await;
    tab.click("#forget button").await;
    tab.click("#sure [value=yes]").await;
    until(&tab, "location.pathname === '/sandbox'").await;
    other.goto(&link).await;
    assert!(other.text("main").await.contains("There is no such run"));
}

#[tokio::test]
async fn stopping_ends_the_questions_and_each_side_is_tried_again_by_itself() {
    let asked = AtomicUsize::new(0);
    let scene = Scene::with(&[], move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => stalls(0),
        _ => builds(0),
    })
    .await;
    let tab = page(&scene.site.at("/sandbox?q=low")).await;
    ask(&tab, "a shed").await;
    until(&tab, "document.querySelectorAll('.side[data-state=building]').length === 2").await;
    assert!(tab.agrees("document.getElementById('go').disabled").await);
    tab.click("#stop").await;
    scene.provider.hung_up().await;
    scene.provider.hung_up().await;
    becomes(&tab, "a", "stopped").await;
    becomes(&tab, "b", "stopped").await;
    until(&tab, "document.getElementById('stop').hidden && !document.getElementById('go').disabled").await;
    tab.click("[data-side=b] [data-does=retry]").await;
    becomes(&tab, "b", "ready").await;
    assert!(tab.agrees("document.querySelector('[data-side=a]').dataset.state === 'stopped'").await);
    assert_eq!(scene.provider.requests().len(), 3);
}

#[tokio::test]
async fn one_sides_failure_is_told_with_what_it_answered_and_leaves_the_other_alone() {
    let asked = AtomicUsize::new(0);
    let scene = Scene::with(&[("AI_ATTEMPTS", "2")], move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => builds(0),
        _ => Voice::Compatible.says(&[Say::Text("I would rather <b>sing</b>."), Say::Done]),
    })
    .await;
    let tab = page(&scene.site.at("/sandbox?q=low")).await;
    ask(&tab, "a shed").await;
    until(&tab, "document.querySelector('.side[data-state=ready]') && document.querySelector('.side[data-state=failed]')").await;
    let failed = "document.querySelector('.side[data-state=failed]')";
    assert!(
        tab.agrees(&format!(
            "{failed}.querySelector('[data-slot=notes]').textContent.includes('Attempt 2, because')"
        ))
        .await
    );
    tab.run(&format!("{failed}.querySelector('details').open = true")).await;
    until(&tab, &format!("{failed}.querySelector('[data-slot=raw]').textContent.includes('<b>sing</b>')"))
        .await;
    assert!(tab.agrees(&format!("!{failed}.querySelector('[data-does=retry]').hidden")).await);
    tab.shot("sandbox-failed").await;
}

#[tokio::test]
async fn half_a_stream_never_leaves_the_page_waiting() {
    let scene = Scene::with(&[], stalls).await;
    let tab = page(&scene.site.at("/sandbox?q=low")).await;
    // The connection breaks after the first words, whatever else the server would say.
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
    ask(&tab, "a shed").await;
    for side in ["a", "b"] {
        becomes(&tab, side, "failed").await;
    }
    assert!(tab.text("[data-side=a] .state").await.contains("The connection was lost."));
    assert!(tab.agrees("document.getElementById('stop').hidden").await);
}

#[tokio::test]
async fn what_was_typed_wrongly_is_said_where_it_was_typed_and_nobody_is_asked() {
    let scene = Scene::with(&[("SANDBOX_SERVER_KEYS", "off")], builds).await;
    let tab = page(&scene.site.at("/sandbox?q=low")).await;
    let wrong = "document.activeElement.getAttribute('aria-invalid') === 'true' && document.activeElement.id";
    tab.click("#go").await;
    until(&tab, &format!("({wrong}) === 'words'")).await;
    fill(&tab, "words", "a").await;
    assert!(tab.agrees("document.getElementById('words-problem').textContent === '' && !document.getElementById('words').hasAttribute('aria-invalid')").await);
    ask(&tab, "a shed").await;
    until(&tab, &format!("({wrong}) === 'key-a'")).await;
    assert!(tab.text("#problem-a").await.contains("It takes your key"));
    fill(&tab, "key-a", KEY).await;
    choose(&tab, "b", "endpoint", "").await;
    tab.click("#go").await;
    until(&tab, &format!("({wrong}) === 'base-b'")).await;
    fill(&tab, "base-b", "https://127.0.0.1/v1").await;
    tab.click("#go").await;
    until(&tab, &format!("({wrong}) === 'name-b'")).await;
    tab.size(390, 844).await;
    tab.shot("sandbox-wrong-phone").await;
    tab.size(1440, 900).await;
    choose(&tab, "b", "catalog", "one").await;
    choose(&tab, "a", "catalog", "one").await;
    tab.click("#go").await;
    until(&tab, "document.getElementById('problem-b').textContent.includes('same model')").await;
    assert!(scene.provider.requests().is_empty());
    choose(&tab, "b", "endpoint", "").await;
    fill(&tab, "name-b", MODEL).await;
    tab.click("#go").await;
    becomes(&tab, "b", "failed").await;
    assert!(tab.text("[data-side=b] .state").await.contains("public internet"));
}

#[tokio::test]
async fn a_key_stays_in_the_page_unless_the_visitor_has_it_kept() {
    let scene = Scene::with(&[("SANDBOX_SERVER_KEYS", "off")], builds).await;
    let tab = page(&scene.site.at("/sandbox?q=low")).await;
    let stored = "JSON.stringify({ ...localStorage, ...sessionStorage })";
    fill(&tab, "key-a", KEY).await;
    assert!(!tab.eval::<String>(stored).await.contains(KEY));
    tab.reload().await;
    until(&tab, "!document.getElementById('ask').hidden").await;
    assert_eq!(holds(&tab, "key-a").await, "");
    fill(&tab, "key-a", KEY).await;
    tab.click("#keep-keys").await;
    assert!(tab.eval::<String>(stored).await.contains(KEY));
    tab.reload().await;
    until(&tab, "!document.getElementById('ask').hidden").await;
    assert_eq!(holds(&tab, "key-a").await, KEY);
    tab.click("#keep-keys").await;
    assert!(!tab.eval::<String>(stored).await.contains(KEY));
}

#[tokio::test]
async fn a_typed_key_serves_both_sides_and_never_a_model_that_the_server_lends_its_own_for() {
    let scene = Scene::with(&[], builds).await;
    let tab = page(&scene.site.at("/sandbox?q=low")).await;
    overhear(&tab).await;
    choose(&tab, "a", "provider", "somebody").await;
    choose(&tab, "b", "provider", "somebody").await;
    fill(&tab, "key-b", KEY).await;
    assert_eq!(holds(&tab, "key-a").await, KEY);
    fill(&tab, "name-b", MODEL).await;
    choose(&tab, "a", "catalog", "one").await;
    assert!(!tab.agrees("document.getElementById('key-a').checkVisibility()").await);
    ask(&tab, "a shed").await;
    becomes(&tab, "a", "ready").await;
    becomes(&tab, "b", "ready").await;
    let models = json!([{ "key": "one" }, { "provider": "somebody", "model": MODEL, "apiKey": KEY }]);
    assert_eq!(tab.eval::<Value>("asked[0].models").await, models);
    let keys: Vec<_> =
        scene.provider.requests().iter().map(|asked| asked.headers["authorization"].clone()).collect();
    assert_eq!(keys, [format!("Bearer {KEY}"), format!("Bearer {KEY}")]);
}

#[tokio::test]
async fn a_key_typed_for_an_endpoint_stays_when_its_address_is_mended() {
    let scene = Scene::with(&[], builds).await;
    let tab = page(&scene.site.at("/sandbox?q=low")).await;
    choose(&tab, "a", "endpoint", "").await;
    fill(&tab, "key-a", KEY).await;
    fill(&tab, "base-a", "https://models.example.con/v1").await;
    fill(&tab, "base-a", "https://models.example.com/v1").await;
    assert_eq!(holds(&tab, "key-a").await, KEY);
}

#[tokio::test]
async fn what_is_wrong_in_a_field_out_of_sight_holds_nothing_up() {
    let scene = Scene::with(&[], builds).await;
    let tab = page(&scene.site.at("/sandbox?q=low")).await;
    choose(&tab, "a", "endpoint", "").await;
    fill(&tab, "base-a", "nonsense").await;
    choose(&tab, "a", "catalog", "one").await;
    ask(&tab, "a shed").await;
    becomes(&tab, "a", "ready").await;
    becomes(&tab, "b", "ready").await;
}

#[tokio::test]
async fn trying_again_asks_whoever_is_on_stage_whatever_the_form_says_since() {
    let asked = AtomicUsize::new(0);
    let scene = Scene::with(&[], move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => stalls(0),
        _ => builds(0),
    })
    .await;
    let tab = page(&scene.site.at("/sandbox?q=low")).await;
    overhear(&tab).await;
    ask(&tab, "a shed").await;
    until(&tab, "document.querySelectorAll('.side[data-state=building]').length === 2").await;
    tab.click("#stop").await;
    becomes(&tab, "b", "stopped").await;
    until(&tab, "document.getElementById('said').textContent.match(/Model one stopped.*Model two stopped/)")
        .await;
    choose(&tab, "b", "endpoint", "").await;
    fill(&tab, "words", "a barn").await;
    tab.click("[data-side=b] [data-does=retry]").await;
    assert!(tab.agrees("document.activeElement.matches('[data-side=b]')").await);
    becomes(&tab, "b", "ready").await;
    let again = json!({
        "prompt": "a shed", "gridSize": 32, "palette": "simple",
        "models": [{ "key": "one" }, { "key": "two" }], "only": "b",
    });
    assert_eq!(tab.eval::<Value>("asked[1]").await, again);
    assert_eq!(tab.text("[data-side=b] [data-slot=who]").await, "Model two");
}

#[tokio::test]
async fn each_side_says_its_place_in_line() {
    let scene = Scene::with(&[("SANDBOX_AT_ONCE", "1")], stalls).await;
    let first = page(&scene.site.at("/sandbox?q=low")).await;
    ask(&first, "a shed").await;
    until(&first, "document.querySelectorAll('.side[data-state=building]').length === 2").await;
    let second = page(&scene.site.at("/sandbox?q=low")).await;
    ask(&second, "a barn").await;
    for side in ["a", "b"] {
        until(&second, &format!("document.querySelector('[data-side={side}] .state').innerText.includes('You are next in line.')")).await;
    }
    until(&second, "document.getElementById('said').textContent.includes('You are next in line.')").await;
    first.click("#stop").await;
    until(&second, "document.querySelectorAll('.side[data-state=building]').length === 2").await;
}

#[tokio::test]
async fn the_way_to_a_chat_window_takes_the_request_along() {
    let scene = Scene::with(&[], builds).await;
    let tab = page(&scene.site.at("/sandbox?grid=64&palette=advanced&q=low")).await;
    until(&tab, "!document.getElementById('ask').hidden").await;
    tab.run("{ const words = document.getElementById('words'); words.value = 'a bridge & a boat'; words.dispatchEvent(new Event('input', { bubbles: true })); }").await;
    tab.click("#chat").await;
    until(&tab, "location.pathname === '/prompts/chat'").await;
    assert_eq!(tab.text("#phrase").await, "A bridge & a boat");
    assert!(tab.text(".handout").await.contains("Grid 64, advanced palette"));
}

#[tokio::test]
async fn without_script_it_says_what_can_be_done() {
    let scene = Scene::with(&[], builds).await;
    let tab = page(&scene.site.at("/healthz")).await;
    tab.without_script().await;
    tab.goto(&scene.site.at("/sandbox")).await;
    assert!(tab.text("main").await.contains("This needs JavaScript"));
    assert!(!tab.agrees("document.getElementById('ask').checkVisibility()").await);
    tab.shot("sandbox-without-script").await;
}
