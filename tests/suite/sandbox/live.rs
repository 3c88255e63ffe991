//! `/sandbox`: a run as somebody sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::Notify;

use super::{Scene, builds, stalls};
use crate::support::provider::KEY;
use crate::support::voice::MODEL;
use crate::support::{Beat, Page, Say, Script, Theme, Voice, hut, page};

const PATIENCE: Duration = Duration::from_secs(40);

/// Asks the page until it agrees.
pub async fn until(page: &Page, condition: &str) {
    let begun = Instant::now();
    while !page.agrees(&format!("document.readyState === 'complete' && !!({condition})")).await {
        if begun.elapsed() > PATIENCE {
            page.shot("sandbox-stuck").await;
            panic!("it never came to be that {condition}: {}", page.text("main").await);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What a side is doing.
async fn becomes(page: &Page, side: &str, state: &str) {
    until(page, &format!("document.querySelector('[data-side={side}]').dataset.state === '{state}'")).await;
}

async fn ask(page: &Page, prompt: &str) {
    page.run(&format!("document.getElementById('words').value = {prompt:?}")).await;
    page.click("#go").await;
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
    tab.click("#forget button").await;
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
            let left = 3;
            return new Response(new ReadableStream({ async pull(to) {
                const { value, done } = await reader.read();
                if (done || !left--) return to.error(new TypeError('network error'));
                to.enqueue(value);
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
    let choose = async |side: &str, kind: &str, model: &str| {
        tab.run(&format!(
            "{{ const list = document.getElementById('model-{side}');
                list.selectedIndex = [...list.options].findIndex(one => one.dataset.kind === '{kind}' && one.value.includes('{model}'));
                list.dispatchEvent(new Event('change', {{ bubbles: true }})); }}"
        ))
        .await;
    };
    let fill = async |id: &str, text: &str| {
        tab.run(&format!(
            "{{ const field = document.getElementById({id:?}); field.value = {text:?};
                for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {{ bubbles: true }})); }}"
        ))
        .await;
    };
    tab.click("#go").await;
    until(&tab, &format!("({wrong}) === 'words'")).await;
    ask(&tab, "a shed").await;
    until(&tab, &format!("({wrong}) === 'key-a'")).await;
    assert!(tab.text("#problem-a").await.contains("It takes your key"));
    fill("key-a", KEY).await;
    choose("b", "endpoint", "").await;
    tab.click("#go").await;
    until(&tab, &format!("({wrong}) === 'base-b'")).await;
    fill("base-b", "https://127.0.0.1/v1").await;
    tab.click("#go").await;
    until(&tab, &format!("({wrong}) === 'name-b'")).await;
    tab.size(390, 844).await;
    tab.shot("sandbox-wrong-phone").await;
    tab.size(1440, 900).await;
    choose("b", "catalog", "one").await;
    choose("a", "catalog", "one").await;
    tab.click("#go").await;
    until(&tab, "document.getElementById('problem-b').textContent.includes('same model')").await;
    assert!(scene.provider.requests().is_empty());
    choose("b", "endpoint", "").await;
    fill("name-b", MODEL).await;
    tab.click("#go").await;
    becomes(&tab, "b", "failed").await;
    assert!(tab.text("[data-side=b] .state").await.contains("public internet"));
}

#[tokio::test]
async fn a_key_stays_in_the_page_unless_the_visitor_has_it_kept() {
    let scene = Scene::with(&[("SANDBOX_SERVER_KEYS", "off")], builds).await;
    let tab = page(&scene.site.at("/sandbox?q=low")).await;
    let type_key = format!(
        "{{ const key = document.getElementById('key-a'); key.value = {KEY:?}; key.dispatchEvent(new Event('input', {{ bubbles: true }})); }}"
    );
    let stored = "JSON.stringify({ ...localStorage, ...sessionStorage })";
    tab.run(&type_key).await;
    assert!(!tab.eval::<String>(stored).await.contains(KEY));
    tab.reload().await;
    until(&tab, "!document.getElementById('ask').hidden").await;
    assert_eq!(tab.eval::<String>("document.getElementById('key-a').value").await, "");
    tab.run(&type_key).await;
    tab.click("#keep-keys").await;
    assert!(tab.eval::<String>(stored).await.contains(KEY));
    tab.reload().await;
    until(&tab, "!document.getElementById('ask').hidden").await;
    assert_eq!(tab.eval::<String>("document.getElementById('key-a').value").await, KEY);
    tab.click("#keep-keys").await;
    assert!(!tab.eval::<String>(stored).await.contains(KEY));
    let dump = scene.db.dump().await;
    assert!(!dump.contains(KEY) && json!(dump).is_string());
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
    let text = scene.site.get("/sandbox").send().await.unwrap().text().await.unwrap();
    assert!(
        text.contains("This needs JavaScript")
            && text.contains("id=\"ask\" class=\"ask\" autocomplete=\"off\" hidden")
    );
    tab.shot("sandbox-without-script").await;
}
