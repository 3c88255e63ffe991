//! The arena in the browser: by mouse, keyboard and touch, and without script.

mod countdown;
mod errors;
mod layout;
mod person_check;
mod without_script;

use crate::support::db::TestDb;
use crate::support::{BrowserPage, TestServer, open_page, server_with_builds};

/// Replaces `fetch` by one that takes responses from `answers`, by a part of the URL.
const FAKE_FETCH: &str = r#"
    window.answers = {};
    const ask = window.fetch;
    window.fetch = (address, options) => {
      const name = Object.keys(answers).find((name) => String(address).includes(name));
      const answer = answers[name];
      if (!answer) return ask(address, options);
      if (answer === "never") return new Promise(() => {});
      if (answer === "lost") return Promise.reject(new TypeError("Failed to fetch"));
      const [status, body, headers] = answer;
      return Promise.resolve(new Response(JSON.stringify(body), { status, headers }));
    };
"#;

/// A server with shipped builds, and its database.
struct ArenaFixture {
    server: TestServer,
    db: TestDb,
}

impl ArenaFixture {
    async fn new() -> Self {
        let (db, server) = server_with_builds().await;
        Self { server, db }
    }

    fn url_for(&self, path: &str) -> String {
        self.server.low_quality_url(path)
    }

    /// Opens the arena, and waits for a matchup that can be voted on.
    async fn open_ready_page(&self) -> BrowserPage {
        self.open_page_with_script("", "/").await
    }

    async fn open_page_with_script(&self, script: &str, path: &str) -> BrowserPage {
        let page = open_page("about:blank").await;
        page.add_init_script(&format!("{{ {FAKE_FETCH} }} {script}")).await;
        page.goto(&self.url_for(path)).await;
        wait_until(&page, "ready").await;
        page
    }

    async fn choices(&self) -> Vec<String> {
        sqlx::query_scalar("SELECT choice FROM votes ORDER BY id").fetch_all(&self.db.pool).await.unwrap()
    }

    async fn count(&self, table: &str) -> i64 {
        let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
        sqlx::query_scalar(sql).fetch_one(&self.db.pool).await.unwrap()
    }
}

#[tokio::test]
async fn a_vote_by_mouse_shows_the_names_in_place_of_the_buttons() {
    const PLACES: &str = "[...document.querySelectorAll('.side > :not([inert]) canvas')].map(c => (r => [r.x, r.y, r.width, r.height].map(Math.round).join())(c.getBoundingClientRect()))";
    let fixture = ArenaFixture::new().await;
    let mut page = fixture.open_ready_page().await;
    assert_no_model_names(&page).await;
    let before: Vec<String> = page.eval(PLACES).await;

    page.click("[data-choice=A]").await;
    wait_until(&page, "revealed").await;

    assert_eq!(fixture.choices().await, ["A"]);
    let mut names = [page.text("[data-of=a] h2 a").await, page.text("[data-of=b] h2 a").await];
    assert_eq!(page.text("[data-of=a] .rating").await, "Elo 1508 +8");
    assert_eq!(page.text("[data-of=b] .rating").await, "Elo 1492 −8");
    let announcement = page.text("#said").await;
    let expected = format!(
        "Voted: A is better. A is {}, now at 1508, up 8. B is {}, now at 1492, down 8. The first vote on this pair.",
        names[0], names[1]
    );
    assert_eq!(announcement, expected, "the status for screen readers");
    names.sort();
    assert_eq!(names, ["The Architect", "The Sculptor"]);
    assert!(
        page.text("[data-of=a] [data-slot=facts]").await.ends_with(" blocks"),
        "an unknown time must not be shown"
    );
    let own: String =
        page.eval("document.querySelector('[data-of=a] [data-own]').getAttribute('href')").await;
    assert!(own.starts_with("/builds/"), "a name must link to the build's page, not {own}");
    assert_eq!(reqwest::get(fixture.server.url_for(&own)).await.unwrap().status(), 200, "{own}");
    assert_eq!(page.eval::<Vec<String>>(PLACES).await, before, "the builds must not move");
    assert_eq!(page.eval::<String>("document.activeElement.id").await, "next");
    assert_eq!(chosen(&page).await, ["a", "a"], "the build and its name are marked");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn builds_can_be_downloaded_only_after_the_vote() {
    const FILES: &str = "[...document.querySelectorAll('#away-a a, #away-b a')].filter(a => a.hasAttribute('href')).map(a => a.getAttribute('href'))";
    let fixture = ArenaFixture::new().await;
    let mut page = fixture.open_ready_page().await;
    assert_eq!(
        page.eval::<Vec<String>>(FILES).await,
        Vec::<String>::new(),
        "there must be no downloads before the vote"
    );
    assert_eq!(
        page.eval::<u32>("document.querySelectorAll('[data-tool=replay]').length").await,
        0,
        "replays"
    );
    assert_eq!(page.eval::<u32>("document.querySelectorAll('[data-tool=walk]').length").await, 2, "walks");

    page.click("[data-choice=TIE]").await;
    wait_until(&page, "revealed").await;
    page.click("[data-of=b] .away").await;
    let files: Vec<String> = page.eval(FILES).await;
    assert_eq!(files.len(), 16, "eight formats a side: {files:#?}");
    assert!(page.eval::<bool>("document.querySelector('#away-b').matches(':popover-open')").await);
    let answer = reqwest::get(fixture.server.url_for(&files[8])).await.unwrap();
    assert_eq!(answer.status(), 200, "{}", files[8]);
    page.screenshot("arena-away").await;

    let share: String = page.eval("new URL(document.querySelector('#share').href).pathname").await;
    page.goto(&fixture.url_for(&share)).await;
    let shared: Vec<String> =
        page.eval("[...document.querySelectorAll('[data-format]')].map(a => a.getAttribute('href'))").await;
    assert_eq!(shared, files, "on the page to share");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn the_four_keys_vote_and_enter_continues() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    for (key, choice) in [("1", "A"), ("2", "B"), ("3", "TIE"), ("0", "BOTH_BAD")] {
        let prompt = page.text("#asked").await;
        page.press(key).await;
        wait_until(&page, "revealed").await;
        assert_eq!(fixture.choices().await.last().unwrap(), choice, "after {key}");
        page.press("Enter").await;
        wait_until(&page, "ready").await;
        assert_ne!(page.text("#asked").await, prompt, "the next one");
        assert_eq!(page.eval::<String>("document.activeElement.id").await, "asked");
    }
    page.press("n").await;
    wait_for_condition(&page, "document.querySelector('main').dataset.phase === 'closed'", "All is seen")
        .await;
    assert_eq!(fixture.choices().await.len(), 4, "N skips");
}

#[tokio::test]
async fn an_unchanged_rating_has_no_colour_and_a_tie_marks_both_builds() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    page.press("3").await;
    wait_until(&page, "revealed").await;
    assert_eq!(page.text("[data-of=a] .rating").await, "Elo 1500 0");
    let tone = "document.querySelector('[data-of=b] [data-slot=change]').className";
    assert_eq!(page.eval::<String>(tone).await, "soft");
    assert_eq!(chosen(&page).await, ["a", "b", "a", "b"], "both builds and both names");
    page.press("Enter").await;
    wait_until(&page, "ready").await;
    assert_eq!(chosen(&page).await, Vec::<String>::new(), "in the next matchup");
}

#[tokio::test]
async fn after_turning_a_build_by_pointer_the_keys_still_vote() {
    const HINT: &str = "document.querySelector('.coax').checkVisibility()";
    const AWAY: &str = "document.getElementById('away').checkVisibility()";
    const ZOOM: &str = "document.querySelector('build-viewer').camera.zoom";
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    assert!(page.eval::<bool>(HINT).await, "at first it says that builds can be turned");
    page.drag("[data-side=a] canvas", 90.0, 0.0).await;
    let turned = "Math.abs(document.querySelector('build-viewer').camera.turn * 180 / Math.PI - 30) > 10";
    assert!(page.eval::<bool>(turned).await, "dragging must turn the build");
    assert!(!page.eval::<bool>(HINT).await, "the hint must disappear once a build was turned");
    assert_eq!(page.eval::<String>("document.activeElement.localName").await, "body");
    assert!(!page.eval::<bool>(AWAY).await, "turning by pointer must not show the hint about keys");
    let before: f64 = page.eval(ZOOM).await;
    page.run("document.querySelector('[data-side=a] canvas').dispatchEvent(new WheelEvent('wheel', { deltaY: -200, cancelable: true }))").await;
    wait_for_condition(&page, &format!("{ZOOM} > {before}"), "The wheel zooms what was touched").await;

    page.run("document.querySelector('.side canvas').focus()").await;
    assert!(page.eval::<bool>(AWAY).await, "keyboard focus on a viewer must show a hint about its keys");
    page.press("Escape").await;

    page.click("[data-side=a] input[type=range]").await;
    let layers = "document.querySelector('[data-side=a] input[type=range]').valueAsNumber";
    let cut: f64 = page.eval(layers).await;
    page.press("ArrowLeft").await;
    assert!(page.eval::<f64>(layers).await < cut, "arrow keys must move the focused slider");
    page.press("2").await;
    wait_until(&page, "revealed").await;
    assert_eq!(fixture.choices().await, ["B"]);
    page.reload().await;
    wait_until(&page, "ready").await;
    assert!(!page.eval::<bool>(HINT).await, "the hint must not return after a reload");
}

#[tokio::test]
async fn input_meant_for_the_last_pair_cannot_vote_on_the_next() {
    /// The page's delay of 800 ms ends when the test calls `settle()`.
    const HOLD: &str = "const soon = setTimeout; window.setTimeout = (what, after) => after === 800 ? void (window.settle = what) : soon(what, after)";
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_page_with_script(HOLD, "/").await;
    page.press("1").await;
    wait_until(&page, "revealed").await;
    page.press("n").await;
    wait_until(&page, "settling").await;
    for key in ["1", "0", "n"] {
        page.press(key).await;
    }
    page.click_without_script("[data-choice=A]").await;
    page.click_without_script("#skip").await;
    assert_eq!(phase(&page).await, "settling");
    assert_eq!(page.text("#note").await, "", "ignored input must show no message");
    assert_eq!((fixture.count("votes").await, fixture.count("matchups").await), (1, 2));

    page.run("settle()").await;
    wait_until(&page, "ready").await;
    page.press("2").await;
    wait_until(&page, "revealed").await;
    assert_eq!(fixture.choices().await, ["A", "B"]);
}

#[tokio::test]
async fn the_arena_ignores_keys_while_another_element_uses_them() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    for place in [".side canvas", "#prompt"] {
        page.run(&format!("document.querySelector('{place}').focus()")).await;
        page.press("2").await;
        page.press("n").await;
        assert_eq!(phase(&page).await, "ready", "2 and N while {place} has the focus");
    }
    page.run("document.querySelector('.side canvas').focus()").await;
    page.press("Escape").await;
    assert_eq!(page.eval::<String>("document.activeElement.localName").await, "body", "after Escape");
    for held in ["ctrlKey", "metaKey", "altKey"] {
        page.run(&format!(
            "document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key: '2', {held}: true, bubbles: true }}))"
        ))
        .await;
        assert_eq!(phase(&page).await, "ready", "2 with {held}");
    }

    page.press("?").await;
    assert!(page.eval::<bool>("document.getElementById('help').open").await);
    page.press("2").await;
    page.click("#use-keys").await;
    page.press("Escape").await;
    for _ in 0..2 {
        page.press("2").await;
        page.press("?").await;
        assert_eq!(phase(&page).await, "ready", "keys must do nothing while they are switched off");
        assert!(!page.eval::<bool>("document.getElementById('help').open").await);
        page.reload().await;
        wait_until(&page, "ready").await;
    }
    page.click("#ask").await;
    page.click("#use-keys").await;
    page.press("Escape").await;
    page.press("2").await;
    wait_until(&page, "revealed").await;
}

#[tokio::test]
async fn l_unlinks_the_cameras_also_for_the_next_pair() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    let linked = "[...document.querySelectorAll('.side > :not([inert]) [data-tool=link]')].map(b => b.ariaPressed).join()";
    assert_eq!(page.eval::<String>(linked).await, "true,true");
    page.press("l").await;
    assert_eq!(page.eval::<String>(linked).await, "false,false");
    assert_eq!(page.text("#said").await, "Each build turns by itself.");
    page.press("1").await;
    wait_until(&page, "revealed").await;
    page.press("Enter").await;
    wait_until(&page, "ready").await;
    assert_eq!(page.eval::<String>(linked).await, "false,false", "in the next matchup");
}

#[tokio::test]
async fn the_next_builds_are_fetched_during_the_reveal_and_not_before() {
    const FETCHED: &str =
        "performance.getEntriesByType('resource').filter(e => /matchup\\?|matchup$/.test(e.name)).length";
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    assert_eq!(
        (page.eval::<u32>(FETCHED).await, fixture.count("matchups").await),
        (1, 1),
        "before the vote only one matchup must be fetched"
    );

    page.press("1").await;
    wait_until(&page, "revealed").await;
    let drawn = "[...document.querySelectorAll('.side > [inert]')].filter(v => v.dataset.state === 'live').length === 2";
    wait_for_condition(&page, drawn, "The next builds are drawn behind the scenes").await;
    assert_eq!(fixture.count("matchups").await, 2);
    assert_eq!(page.eval::<u32>("document.querySelectorAll('build-viewer').length").await, 4);

    page.run("document.getElementById('next').click()").await;
    let soon =
        "new Promise(r => requestAnimationFrame(() => r(document.querySelector('main').dataset.phase)))";
    assert_eq!(page.eval::<String>(soon).await, "settling", "a frame later");
    assert_eq!(page.eval::<u32>("document.querySelectorAll('build-viewer').length").await, 2);
    assert_eq!(fixture.count("matchups").await, 2, "nothing must be fetched twice");
    wait_until(&page, "ready").await;
    assert_no_model_names(&page).await;
}

#[tokio::test]
async fn a_chosen_prompt_stays_in_the_url() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    let pick = |id: &str| {
        format!(
            "var select = document.getElementById('prompt'); select.value = {id:?}; select.dispatchEvent(new Event('change'))"
        )
    };
    let asked = "document.getElementById('asked').textContent";
    let first: String = page.eval(asked).await;
    let mut others = vec![
        ("pirate-ship", "a pirate ship under full sail"),
        ("treehouse", "a treehouse in an old oak"),
        ("sleeping-dragon", "a sleeping dragon"),
    ];
    // The first matchup is skipped, and its pair is not served again.
    others.retain(|(_, text)| *text != first);
    let last = others[1].1;
    for (id, text) in others.into_iter().take(2) {
        page.run(&pick(id)).await;
        wait_for_condition(
            &page,
            &format!("document.getElementById('asked').textContent === {text:?}"),
            text,
        )
        .await;
        wait_until(&page, "ready").await;
        assert!(page.eval::<bool>(&format!("new URL(location).searchParams.get('prompt') === {id:?}")).await);
    }
    page.reload().await;
    wait_until(&page, "ready").await;
    assert_eq!(page.eval::<String>(asked).await, last);

    page.press("1").await;
    wait_until(&page, "revealed").await;
    page.press("Enter").await;
    wait_until(&page, "closed").await;
    assert_eq!(page.text("#asked").await, "You have seen this prompt’s pairs");
    page.click("#all_voted button").await;
    wait_until(&page, "ready").await;
    assert!(page.eval::<bool>("!new URL(location).searchParams.has('prompt')").await);

    page.goto(&fixture.url_for("/?prompt=no-such-thing")).await;
    wait_until(&page, "ready").await;
}

#[tokio::test]
async fn after_the_last_pair_other_prompts_are_offered_until_all_are_seen() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    fixture.vote_on_every_pair(&page).await;
    page.goto(&fixture.url_for("/?prompt=treehouse")).await;
    wait_until(&page, "closed").await;
    assert!(page.text("#all_voted").await.contains("Other prompts may still have new pairs."));
    page.click("#all_voted button").await;
    let every = "document.getElementById('asked').textContent === 'You have seen every pair'";
    wait_for_condition(&page, every, "All is seen").await;
    assert!(
        !page.eval::<bool>("document.querySelector('#all_voted button').checkVisibility()").await,
        "no other prompt must be offered"
    );
    for place in ["/me", "/builds?grid=64"] {
        let shown = format!("document.querySelector('#all_voted a[href={place:?}]').checkVisibility()");
        assert!(page.eval::<bool>(&shown).await, "the notice must link to {place}");
    }
}

/// The sides of all elements marked as chosen: builds first, then names.
async fn chosen(page: &BrowserPage) -> Vec<String> {
    page.eval(
        "[...document.querySelectorAll('[data-chosen]')].map(one => one.dataset.side ?? one.dataset.of)",
    )
    .await
}

/// Asserts that nothing on the page identifies the models.
async fn assert_no_model_names(page: &BrowserPage) {
    let html: String = page.eval("document.documentElement.outerHTML.toLowerCase()").await;
    for secret in ["architect", "sculptor", "reference", "/builds/", "/models/"] {
        let place = html.find(secret).and_then(|at| html.get(at.saturating_sub(60)..at + 40));
        assert_eq!(place, None, "{secret} is on the page before the vote");
    }
}

async fn phase(page: &BrowserPage) -> String {
    page.eval("document.querySelector('main').dataset.phase").await
}

pub async fn wait_until(page: &BrowserPage, phase: &str) {
    let there = format!("document.querySelector('main')?.dataset.phase === {phase:?}");
    wait_for_condition(page, &there, &format!("The arena is {phase}")).await;
}

async fn wait_for_condition(page: &BrowserPage, condition: &str, what: &str) {
    page.wait_until_described(condition, what).await;
}
