//! The arena as voters meet it: by mouse, by key, by touch, and without script.

use std::time::{Duration, Instant};

use crate::pages::FAINT_TEXT;
use crate::support::db::TestDb;
use crate::support::{Page, Site, Theme, page};

const SIZES: [(&str, i64, i64); 3] = [("desk", 1440, 900), ("phone", 390, 844), ("narrow", 320, 800)];
const THEMES: [(&str, Theme); 2] = [("light", Theme::Light), ("dark", Theme::Dark)];

/// For what a page does by itself; one without a graphics card takes its time.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs the page's timers so much faster.
const HASTE: &str = "const slow = setInterval; window.setInterval = (what, every) => slow(what, every / 40)";

/// Answers in the server's place where `answers` holds something for an address.
const ANSWERS: &str = r#"
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

/// An arena with the shipped builds, and its database.
struct Hall {
    site: Site,
    db: TestDb,
}

impl Hall {
    async fn open() -> Self {
        let db = TestDb::seeded().await;
        Self { site: Site::open_on(db.pool.clone()).await, db }
    }

    /// Without shadows, which come when they are done.
    fn at(&self, path: &str) -> String {
        let and = if path.contains('?') { "&" } else { "?" };
        self.site.at(&format!("{path}{and}q=low"))
    }

    /// The arena, with a matchup to vote on.
    async fn ready(&self) -> Page {
        self.prepared("", "/").await
    }

    async fn prepared(&self, script: &str, path: &str) -> Page {
        let page = page("about:blank").await;
        page.before_load(&format!("{{ {ANSWERS} }} {script}")).await;
        page.goto(&self.at(path)).await;
        until(&page, "ready").await;
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
async fn a_vote_by_mouse_brings_the_names_to_light_where_the_buttons_were() {
    const PLACES: &str = "[...document.querySelectorAll('.side canvas')].map(c => (r => [r.x, r.y, r.width, r.height].map(Math.round).join())(c.getBoundingClientRect()))";
    let hall = Hall::open().await;
    let mut page = hall.ready().await;
    assert_tells_nothing(&page).await;
    let before: Vec<String> = page.eval(PLACES).await;

    page.click("[data-choice=A]").await;
    until(&page, "revealed").await;

    assert_eq!(hall.choices().await, ["A"]);
    let mut names = [page.text("[data-of=a] h2 a").await, page.text("[data-of=b] h2 a").await];
    assert_eq!(page.text("[data-of=a] .rating").await, "Elo 1508 +8");
    assert_eq!(page.text("[data-of=b] .rating").await, "Elo 1492 −8");
    let said = page.text("#said").await;
    let wanted = format!(
        "Voted: A is better. A is {}, now at 1508, up 8. B is {}, now at 1492, down 8. The first vote on this pair.",
        names[0], names[1]
    );
    assert_eq!(said, wanted, "for those who listen");
    names.sort();
    assert_eq!(names, ["The Architect", "The Sculptor"]);
    assert!(page.text("[data-of=a]").await.contains(" blocks · imported"));
    assert_eq!(page.eval::<Vec<String>>(PLACES).await, before, "the builds stay where they are");
    assert_eq!(page.eval::<String>("document.activeElement.id").await, "next");
    let chosen: Vec<String> = page
        .eval("[...document.querySelectorAll('.side[data-chosen]')].map(side => side.dataset.side)")
        .await;
    assert_eq!(chosen, ["a"]);
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn builds_can_be_taken_away_after_the_vote_and_not_before() {
    const FILES: &str = "[...document.querySelectorAll('#away-a a, #away-b a')].filter(a => a.hasAttribute('href')).map(a => a.getAttribute('href'))";
    let hall = Hall::open().await;
    let mut page = hall.ready().await;
    assert_eq!(page.eval::<Vec<String>>(FILES).await, Vec::<String>::new(), "before the vote");
    assert_eq!(
        page.eval::<u32>("document.querySelectorAll('[data-tool=replay]').length").await,
        0,
        "replays"
    );
    assert_eq!(page.eval::<u32>("document.querySelectorAll('[data-tool=walk]').length").await, 2, "walks");

    page.click("[data-choice=TIE]").await;
    until(&page, "revealed").await;
    page.click("[data-of=b] .away").await;
    let files: Vec<String> = page.eval(FILES).await;
    assert_eq!(files.len(), 16, "eight formats a side: {files:#?}");
    assert!(page.eval::<bool>("document.querySelector('#away-b').matches(':popover-open')").await);
    let answer = reqwest::get(hall.site.at(&files[8])).await.unwrap();
    assert_eq!(answer.status(), 200, "{}", files[8]);
    page.shot("arena-away").await;

    let share: String = page.eval("new URL(document.querySelector('#share').href).pathname").await;
    page.goto(&hall.at(&share)).await;
    let shared: Vec<String> =
        page.eval("[...document.querySelectorAll('[data-format]')].map(a => a.getAttribute('href'))").await;
    assert_eq!(shared, files, "on the page to share");
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn the_four_keys_vote_and_enter_goes_on() {
    let hall = Hall::open().await;
    let page = hall.ready().await;
    for (key, choice) in [("1", "A"), ("2", "B"), ("3", "TIE"), ("0", "BOTH_BAD")] {
        let prompt = page.text("#asked").await;
        page.press(key).await;
        until(&page, "revealed").await;
        assert_eq!(hall.choices().await.last().unwrap(), choice, "after {key}");
        page.press("Enter").await;
        until(&page, "ready").await;
        assert_ne!(page.text("#asked").await, prompt, "the next one");
        assert_eq!(page.eval::<String>("document.activeElement.id").await, "asked");
    }
    page.press("n").await;
    until_true(&page, "document.querySelector('main').dataset.phase === 'closed'", "All is seen").await;
    assert_eq!(hall.choices().await.len(), 4, "N skips");
}

#[tokio::test]
async fn keys_are_not_the_arenas_while_something_else_has_them() {
    let hall = Hall::open().await;
    let page = hall.ready().await;
    for place in [".side canvas", "#prompt", ".side input[type=range]"] {
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
        assert_eq!(phase(&page).await, "ready", "keys are switched off");
        assert!(!page.eval::<bool>("document.getElementById('help').open").await);
        page.reload().await;
        until(&page, "ready").await;
    }
    page.click("#ask").await;
    page.click("#use-keys").await;
    page.press("Escape").await;
    page.press("2").await;
    until(&page, "revealed").await;
}

#[tokio::test]
async fn l_links_the_cameras_and_what_was_chosen_holds_for_the_next() {
    let hall = Hall::open().await;
    let page = hall.ready().await;
    let linked = "[...document.querySelectorAll('.side > :not([inert]) [data-tool=link]')].map(b => b.ariaPressed).join()";
    assert_eq!(page.eval::<String>(linked).await, "true,true");
    page.press("l").await;
    assert_eq!(page.eval::<String>(linked).await, "false,false");
    assert_eq!(page.text("#said").await, "Each build turns by itself.");
    page.press("1").await;
    until(&page, "revealed").await;
    page.press("Enter").await;
    until(&page, "ready").await;
    assert_eq!(page.eval::<String>(linked).await, "false,false", "in the next matchup");
}

#[tokio::test]
async fn on_a_phone_both_builds_are_a_swipe_or_a_tap_away_and_a_tap_votes() {
    const FRONT: &str =
        "[...document.querySelectorAll('.tabs [aria-pressed=true]')].map(tab => tab.dataset.show).join()";
    let hall = Hall::open().await;
    let page = page("about:blank").await;
    page.size(390, 844).await;
    page.goto(&hall.at("/")).await;
    until(&page, "ready").await;
    let lowest: f64 =
        page.eval("Math.max(...[...document.querySelectorAll('#ballot button')].map(b => b.getBoundingClientRect().bottom))").await;
    assert!(lowest <= 844.0, "the buttons end at {lowest}");
    until_true(&page, &format!("{FRONT} === 'a'"), "A is in front").await;

    page.tap(".tabs [data-show=b]").await;
    until_true(&page, &format!("{FRONT} === 'b'"), "B is in front after a tap").await;
    page.swipe("[data-side=a] .veil", 250.0).await;
    until_true(&page, &format!("{FRONT} === 'a'"), "A is in front after a swipe at its edge").await;
    page.swipe("[data-side=a] canvas", 100.0).await;
    until_true(
        &page,
        "Math.abs(document.querySelector('build-viewer').camera.turn * 180 / Math.PI - 30) > 20",
        "A swipe on the build turns it",
    )
    .await;
    assert_eq!(page.eval::<String>(FRONT).await, "a", "and leaves it in front");

    page.tap("[data-choice=BOTH_BAD]").await;
    until(&page, "revealed").await;
    assert_eq!(hall.choices().await, ["BOTH_BAD"]);
    let lowest: f64 = page.eval("document.getElementById('next').getBoundingClientRect().bottom").await;
    assert!(lowest <= 844.0, "Next ends at {lowest}");
    page.tap("#next").await;
    until(&page, "ready").await;
}

#[tokio::test]
async fn the_next_builds_are_fetched_during_the_reveal_and_not_before() {
    const FETCHED: &str =
        "performance.getEntriesByType('resource').filter(e => /matchup\\?|matchup$/.test(e.name)).length";
    let hall = Hall::open().await;
    let page = hall.ready().await;
    assert_eq!((page.eval::<u32>(FETCHED).await, hall.count("matchups").await), (1, 1), "before the vote");

    page.press("1").await;
    until(&page, "revealed").await;
    let drawn = "[...document.querySelectorAll('.side > [inert]')].filter(v => v.dataset.state === 'live').length === 2";
    until_true(&page, drawn, "The next builds are drawn behind the scenes").await;
    assert_eq!(hall.count("matchups").await, 2);
    assert_eq!(page.eval::<u32>("document.querySelectorAll('build-viewer').length").await, 4);

    page.run("document.getElementById('next').click()").await;
    let soon =
        "new Promise(r => requestAnimationFrame(() => r(document.querySelector('main').dataset.phase)))";
    assert_eq!(page.eval::<String>(soon).await, "ready", "a frame later");
    assert_eq!(page.eval::<u32>("document.querySelectorAll('build-viewer').length").await, 2);
    assert_eq!(hall.count("matchups").await, 2, "none was asked for twice");
    assert_tells_nothing(&page).await;
}

#[tokio::test]
async fn it_goes_on_by_itself_unless_it_was_stopped() {
    let hall = Hall::open().await;
    let page = hall.prepared(HASTE, "/").await;
    let prompt = page.text("#asked").await;
    page.press("1").await;
    until_true(&page, &format!("document.getElementById('asked').innerText !== {prompt:?}"), "It goes on")
        .await;
    until(&page, "ready").await;

    // At its own pace, so that there is time to stop it.
    let page = hall.prepared("", "/").await;
    page.press("1").await;
    until(&page, "revealed").await;
    assert!(page.eval::<u32>("Number(document.getElementById('next').dataset.left)").await > 5);
    page.point(".side canvas").await;
    page.point("[data-side=b] canvas").await;
    until_true(&page, "document.getElementById('next').dataset.left === 'paused'", "It waits for who looks")
        .await;
    page.click("#stay").await;
    let counting = "document.getElementById('next').dataset.left !== undefined";
    assert!(!page.eval::<bool>(counting).await, "stopped");
    page.press("Enter").await;
    until(&page, "ready").await;
    page.press("2").await;
    until(&page, "revealed").await;
    assert!(!page.eval::<bool>(counting).await, "still stopped");
    assert!(!page.eval::<bool>("document.getElementById('stay').checkVisibility()").await);
}

#[tokio::test]
async fn with_less_motion_it_does_not_go_on_by_itself() {
    let hall = Hall::open().await;
    let page = page("about:blank").await;
    page.calm().await;
    page.goto(&hall.at("/")).await;
    until(&page, "ready").await;
    page.press("1").await;
    until(&page, "revealed").await;
    assert!(page.eval::<bool>("document.getElementById('next').dataset.left === undefined").await);
}

#[tokio::test]
async fn a_vote_that_fails_keeps_the_matchup_and_can_be_sent_again() {
    let hall = Hall::open().await;
    let page = hall.ready().await;
    let builds: String = page.eval("document.querySelector('build-viewer').getAttribute('src')").await;
    for (answer, words) in [
        (r#""lost""#, "The server cannot be reached."),
        (
            r#"[500, { error: "Something broke on our side.", code: "internal" }]"#,
            "Something broke on our side.",
        ),
        (r#"[502, "not from us"]"#, "The server answered 502."),
        (
            r#"[429, { error: "That was a little fast. Please wait 7 seconds and go on.", code: "rate_limited" }, { "retry-after": "7" }]"#,
            "That was a little fast. Please wait 7 seconds and go on.",
        ),
    ] {
        page.run(&format!("answers = {{ '/vote': {answer} }}")).await;
        page.press("2").await;
        until_true(
            &page,
            &format!("document.getElementById('note').innerText.startsWith({words:?})"),
            &format!("It says: {words}"),
        )
        .await;
        assert_eq!(phase(&page).await, "ready", "{answer}");
        let same = "document.querySelector('build-viewer').getAttribute('src')";
        assert_eq!(page.eval::<String>(same).await, builds, "{answer}");
        assert_eq!(page.eval::<String>("document.activeElement.innerText").await, "Send it again");
        page.run("document.activeElement.blur()").await;
    }
    page.shot("arena-failed").await;
    page.run("answers = {}").await;
    page.click("#note button").await;
    until(&page, "revealed").await;
    assert_eq!(hall.choices().await, ["B"]);
}

#[tokio::test]
async fn a_vote_that_cannot_count_leads_to_a_matchup_that_can() {
    let hall = Hall::open().await;
    let page = hall.ready().await;
    let id = "(document.querySelector('build-viewer').getAttribute('src').split('/')[4])";

    let first: String = page.eval(id).await;
    sqlx::query("UPDATE open_matchups SET expires_at = now() - interval '1 minute'")
        .execute(&hall.db.pool)
        .await
        .unwrap();
    page.press("1").await;
    until_true(
        &page,
        "document.getElementById('note').innerText.startsWith('This matchup is over')",
        "It is over",
    )
    .await;
    page.click("#note button").await;
    until(&page, "ready").await;
    let second: String = page.eval(id).await;
    assert_ne!(second, first);

    sqlx::raw_sql("DELETE FROM open_matchups; UPDATE matchups SET voter_id = gen_random_uuid()")
        .execute(&hall.db.pool)
        .await
        .unwrap();
    page.press("1").await;
    until_true(&page, &format!("{id} !== {second:?}"), "Another matchup comes").await;
    until(&page, "ready").await;
    assert!(page.text("#note").await.contains("was not yours any more"));
    assert_eq!(hall.choices().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_vote_that_another_tab_was_faster_with_shows_what_that_one_said() {
    let hall = Hall::open().await;
    let page = hall.ready().await;
    page.run(
        "var src = document.querySelector('build-viewer').getAttribute('src');
         (async () => { window.other = (await fetch('/api/arena/vote', {
             method: 'POST', headers: { 'content-type': 'application/json' },
             body: JSON.stringify({ matchupId: src.split('/')[4], choice: 'TIE' }),
         })).status })()",
    )
    .await;
    until_true(&page, "window.other === 200", "The other tab votes").await;
    page.press("1").await;
    until(&page, "revealed").await;
    assert_eq!(page.text("[data-slot=choice]").await, "A tie.");
    assert_eq!(hall.choices().await, ["TIE"]);
}

#[tokio::test]
async fn a_vote_that_comes_too_soon_waits_and_goes_out_by_itself() {
    let db = TestDb::seeded().await;
    let site = Site::open_as(db.pool.clone(), &[("MIN_DWELL_MS", "3000")]).await;
    let page = page(&site.at("/?q=low")).await;
    until(&page, "ready").await;
    page.press("1").await;
    until_true(
        &page,
        "document.getElementById('note').innerText.includes('look at both builds')",
        "It says that it waits",
    )
    .await;
    assert_eq!(phase(&page).await, "sending");
    until(&page, "revealed").await;
}

#[tokio::test]
async fn without_webgl_voting_opens_with_the_pictures() {
    let hall = Hall::open().await;
    let page = hall.prepared("HTMLCanvasElement.prototype.getContext = () => null", "/").await;
    let pictures: Vec<u32> = page
        .eval("[...document.querySelectorAll('.side img')].map(img => img.complete && img.naturalWidth)")
        .await;
    assert_eq!(pictures, [768, 768]);
    page.shot("arena-without-webgl").await;
    page.press("1").await;
    until(&page, "revealed").await;
}

#[tokio::test]
async fn a_prompt_can_be_picked_and_stays_in_the_address() {
    let hall = Hall::open().await;
    let page = hall.ready().await;
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
    // The first one is skipped, and not served again.
    others.retain(|(_, text)| *text != first);
    let last = others[1].1;
    for (id, text) in others.into_iter().take(2) {
        page.run(&pick(id)).await;
        until_true(&page, &format!("document.getElementById('asked').textContent === {text:?}"), text).await;
        until(&page, "ready").await;
        assert!(page.eval::<bool>(&format!("new URL(location).searchParams.get('prompt') === {id:?}")).await);
    }
    page.reload().await;
    until(&page, "ready").await;
    assert_eq!(page.eval::<String>(asked).await, last);

    page.press("1").await;
    until(&page, "revealed").await;
    page.press("Enter").await;
    until(&page, "closed").await;
    assert_eq!(page.text("#asked").await, "You have seen this prompt’s pairs");
    page.click("#all_voted button").await;
    until(&page, "ready").await;
    assert!(page.eval::<bool>("!new URL(location).searchParams.has('prompt')").await);

    page.goto(&hall.at("/?prompt=no-such-thing")).await;
    until(&page, "ready").await;
}

#[tokio::test]
async fn the_page_is_light_before_its_builds() {
    let hall = Hall::open().await;
    let page = hall.ready().await;
    let bytes: u32 = page
        .eval(
            "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
                .filter(entry => !entry.name.includes('/api/arena/matchup/'))
                .reduce((sum, entry) => sum + entry.encodedBodySize, 0)",
        )
        .await;
    // The worker's four modules, some 6 kB, are not among them.
    assert!((20_000..90_000).contains(&bytes), "{bytes} bytes");
}

#[tokio::test]
async fn where_there_is_nothing_to_compare_it_says_what_to_do() {
    let db = TestDb::new().await;
    let site = Site::open_on(db.pool.clone()).await;
    let page = page(&site.url).await;
    until(&page, "closed").await;
    assert_eq!(page.text("#asked").await, "Nothing to compare yet");
    assert!(page.text("main").await.contains("buildoff import"));
}

#[tokio::test]
async fn an_arena_that_does_not_answer_can_be_asked_again() {
    let hall = Hall::open().await;
    let page = page("about:blank").await;
    page.before_load(&format!("{ANSWERS} answers = {{ '/api/arena/matchup': 'lost' }}")).await;
    page.goto(&hall.at("/")).await;
    until(&page, "closed").await;
    assert_eq!(page.text("#why").await, "The server cannot be reached.");
    page.run("answers = {}").await;
    page.click("#again").await;
    until(&page, "ready").await;
}

#[tokio::test]
async fn looking_at_the_page_without_its_script_creates_nothing() {
    let hall = Hall::open().await;
    let answer = hall.site.get("/").send().await.unwrap();
    assert!(answer.headers().get("set-cookie").is_none());
    assert_eq!(hall.count("matchups").await, 0);
}

#[tokio::test]
async fn without_script_one_starts_looks_around_votes_and_goes_on() {
    let hall = Hall::open().await;
    let mut page = page("about:blank").await;
    page.without_script().await;
    page.goto(&hall.site.url).await;
    assert!(!page.eval::<bool>("document.getElementById('stage').checkVisibility()").await);
    page.shot("arena-without-script").await;
    page.click_plainly("#pick button").await;
    until_true(&page, "location.pathname.startsWith('/matchups/')", "Start leads to a matchup").await;
    assert_tells_nothing(&page).await;
    let asked = page.text("h1").await;

    page.click_plainly(".angles li:nth-child(4) a").await;
    let there = "location.search === '?angle=3' && [...document.querySelectorAll('.pictures img')].every(img => img.complete && img.naturalWidth === 512 && img.src.includes('angle=3'))";
    until_true(&page, there, "Both pictures are seen from the fourth angle").await;
    page.shot("voting-without-script").await;
    assert_tells_nothing(&page).await;

    page.click_plainly(".ballot button[value=B]").await;
    until_true(&page, "document.querySelectorAll('.who').length === 2", "The names come").await;
    assert_eq!(hall.choices().await, ["B"]);
    assert!(page.text("header + section, main").await.contains("The Architect"));
    assert!(page.text(".lede").await.contains("Your blind vote: B is better."));
    page.shot("revealed-without-script").await;

    page.click_plainly("noscript button").await;
    until_true(&page, &format!("location.pathname.startsWith('/matchups/') && document.querySelector('h1').innerText !== {asked:?}"), "Next leads to another").await;
    let here: String = page.eval("location.pathname").await;
    page.click_plainly(".skipping button").await;
    let further = format!("location.pathname.startsWith('/matchups/') && location.pathname !== {here:?}");
    until_true(&page, &further, "Skip leads to the next one").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_form_sent_too_soon_keeps_the_matchup_and_says_so() {
    let db = TestDb::seeded().await;
    let site = Site::open_as(db.pool.clone(), &[("MIN_DWELL_MS", "600000")]).await;
    let page = page("about:blank").await;
    page.without_script().await;
    page.goto(&site.url).await;
    page.click_plainly("#pick button").await;
    // Pictures that are still coming would push the button away from under the click.
    let is_there = "!!document.querySelector('.ballot') && document.readyState === 'complete'";
    until_true(&page, is_there, "Start leads to a matchup").await;
    page.click_plainly(".ballot button").await;
    until_true(&page, "!!document.querySelector('.notice')", "A notice").await;
    assert_eq!(page.text(".notice").await, "Please look at both builds for a moment first.");
    assert_eq!(page.eval::<u32>("document.querySelectorAll('.ballot button').length").await, 4);
}

#[tokio::test]
async fn a_matchup_is_its_voters_until_the_vote_and_everybodys_after_it() {
    let hall = Hall::open().await;
    let voter = hall.site.voter();
    let matchup = voter.matchup().await;
    let path = format!("/matchups/{}", matchup["id"].as_str().unwrap());
    let strangers = || async { hall.site.get(&path).send().await.unwrap().status().as_u16() };
    assert_eq!((voter.get(&path).await.status, strangers().await), (200, 404), "before the vote");
    assert_eq!(hall.site.get("/matchups/nonsense").send().await.unwrap().status(), 404);
    voter.skip(&matchup).await;
    assert_eq!((voter.get(&path).await.status, strangers().await), (200, 404), "skipped");
    assert!(voter.get(&path).await.text().contains("This matchup is over"));

    let matchup = voter.matchup().await;
    let path = format!("/matchups/{}", matchup["id"].as_str().unwrap());
    voter.vote(&matchup, "TIE").await;
    let page = page(&hall.at(&path)).await;
    until_true(
        &page,
        "[...document.querySelectorAll('build-viewer')].every(v => v.dataset.state === 'live')",
        "Both builds are live",
    )
    .await;
    assert!(page.text(".lede").await.contains("A blind vote said: Tie."));
    assert_eq!(page.text(".outcome h2").await, "The only vote on this pair so far");
    assert_eq!(
        page.text(".counts").await.split_whitespace().collect::<Vec<_>>().join(" "),
        "A 0 Tie 1 Both bad 0 B 0"
    );
}

#[tokio::test]
async fn the_arena_fits_every_size_and_theme_in_every_state() {
    let hall = Hall::open().await;
    let shared = hall.site.voter();
    let matchup = shared.matchup().await;
    shared.vote(&matchup, "A").await;
    let share = format!("/matchups/{}", matchup["id"].as_str().unwrap());
    for (size, width, height) in SIZES {
        let mut page = page("about:blank").await;
        page.size(width, height).await;
        page.before_load(&format!(
            "{ANSWERS} if (location.search.includes('wait')) answers = {{ '/api/arena/matchup': 'never' }}"
        ))
        .await;
        page.goto(&hall.at("/?wait=1")).await;
        fits(&mut page, "arena-loading", size, width).await;
        page.goto(&hall.at("/")).await;
        until(&page, "ready").await;
        fits(&mut page, "arena-ready", size, width).await;
        let bottom: f64 = page.eval("document.getElementById('desk').getBoundingClientRect().bottom").await;
        assert!(bottom <= height as f64, "{size}: the buttons end at {bottom}");
        page.press("1").await;
        until(&page, "revealed").await;
        page.run("document.getElementById('stay').click()").await;
        fits(&mut page, "arena-revealed", size, width).await;
        page.run("document.getElementById('help').showModal()").await;
        fits(&mut page, "arena-help", size, width).await;
        page.goto(&hall.at(&share)).await;
        fits(&mut page, "share", size, width).await;
        hall.see_all(&page).await;
        page.goto(&hall.at("/")).await;
        until(&page, "closed").await;
        page.run("answers = {}").await;
        let refusal = "409 (Conflict)";
        let complaints = page.complaints().await;
        assert!(complaints.iter().all(|complaint| complaint.contains(refusal)), "{complaints:?}");
        fits(&mut page, "arena-all-voted", size, width).await;
    }
}

impl Hall {
    /// Votes on all that the page's own voter has not seen.
    async fn see_all(&self, page: &Page) {
        let vote = r#"(async () => {
            const post = (path, body) => fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
            for (;;) {
              const response = await fetch("/api/arena/matchup");
              if (response.status === 409) return true;
              await post("/api/arena/vote", { matchupId: (await response.json()).id, choice: "A" });
            }
        })()"#;
        assert!(page.eval::<bool>(vote).await);
    }
}

/// In both themes: a picture, nothing to complain about, nothing that sticks out or is hard to read.
async fn fits(page: &mut Page, name: &str, size: &str, width: i64) {
    for (theme, preference) in THEMES {
        page.theme(preference).await;
        let still = "Promise.all(document.getAnimations().map(one => one.finished)).then(() => true)";
        page.eval::<bool>(still).await;
        page.shot(&format!("{name}-{size}-{theme}")).await;
        let place = format!("{name} ({size}, {theme})");
        assert_eq!(page.complaints().await, Vec::<String>::new(), "{place}");
        let needed: i64 = page.eval("document.documentElement.scrollWidth").await;
        assert!(needed <= width, "{place} scrolls sideways: it needs {needed} px");
        let faint: Vec<String> = page.eval(FAINT_TEXT).await;
        assert_eq!(faint, Vec::<String>::new(), "{place} has text that is hard to read");
    }
}

/// No word of the page tells who built what.
async fn assert_tells_nothing(page: &Page) {
    let html: String = page.eval("document.documentElement.outerHTML.toLowerCase()").await;
    for secret in ["architect", "sculptor", "reference", "/builds/", "/models/"] {
        let place = html.find(secret).and_then(|at| html.get(at.saturating_sub(60)..at + 40));
        assert_eq!(place, None, "{secret} is on the page before the vote");
    }
}

async fn phase(page: &Page) -> String {
    page.eval("document.querySelector('main').dataset.phase").await
}

pub async fn until(page: &Page, phase: &str) {
    let there = format!("document.querySelector('main')?.dataset.phase === {phase:?}");
    until_true(page, &there, &format!("The arena is {phase}")).await;
}

/// Asks the page until it agrees.
async fn until_true(page: &Page, condition: &str, what: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !page.agrees(condition).await {
        if Instant::now() > deadline {
            page.shot("arena-stuck").await;
            let state = page.text("main").await;
            panic!("{what}: not within {PATIENCE:?}. Asked: {condition}\nThe page says: {state}");
        }
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
}
