//! The arena's layout in every size, theme and state, and the size of its files.

use super::*;
use crate::support::assert_fits;
use crate::support::layout::THEMES;

const ARENA_SIZES: [(&str, i64, i64); 5] = [
    ("desk", 1440, 900),
    ("phone", 390, 844),
    ("narrow", 320, 800),
    ("aside", 844, 390),
    ("small-aside", 667, 375),
];

#[tokio::test]
async fn on_a_phone_both_builds_are_a_swipe_or_a_tap_away_and_a_tap_votes() {
    const FRONT: &str =
        "[...document.querySelectorAll('.tabs [aria-pressed=true]')].map(tab => tab.dataset.show).join()";
    let fixture = ArenaFixture::new().await;
    let page = open_page("about:blank").await;
    page.set_size(390, 844).await;
    page.goto(&fixture.url_for("/")).await;
    wait_until(&page, "ready").await;
    let lowest: f64 =
        page.eval("Math.max(...[...document.querySelectorAll('#ballot button')].map(b => b.getBoundingClientRect().bottom))").await;
    assert!(lowest <= 844.0, "the buttons end at {lowest}");
    wait_for_condition(&page, &format!("{FRONT} === 'a'"), "A is in front").await;

    page.tap(".tabs [data-show=b]").await;
    wait_for_condition(&page, &format!("{FRONT} === 'b'"), "B is in front after a tap").await;
    page.swipe("[data-side=a] .veil", 250.0).await;
    wait_for_condition(&page, &format!("{FRONT} === 'a'"), "A is in front after a swipe at its edge").await;
    page.swipe("[data-side=a] canvas", 100.0).await;
    wait_for_condition(
        &page,
        "Math.abs(document.querySelector('build-viewer').camera.turn * 180 / Math.PI - 30) > 20",
        "A swipe on the build turns it",
    )
    .await;
    assert_eq!(page.eval::<String>(FRONT).await, "a", "a swipe on the build must leave it in front");

    page.tap("[data-choice=BOTH_BAD]").await;
    wait_until(&page, "revealed").await;
    assert_eq!(fixture.choices().await, ["BOTH_BAD"]);
    let lowest: f64 = page.eval("document.getElementById('next').getBoundingClientRect().bottom").await;
    assert!(lowest <= 844.0, "Next ends at {lowest}");
    page.tap("#next").await;
    wait_until(&page, "ready").await;
}

#[tokio::test]
async fn on_a_phone_the_names_identify_the_builds_and_the_chosen_one_is_shown() {
    let fixture = ArenaFixture::new().await;
    let page = open_page("about:blank").await;
    page.set_size(390, 844).await;
    page.goto(&fixture.url_for("/")).await;
    wait_until(&page, "ready").await;
    let covered = "[...document.querySelectorAll('.side')].filter(side => side.querySelector('canvas').getBoundingClientRect().bottom > side.querySelector('.bar').getBoundingClientRect().top).length";
    assert_eq!(page.eval::<u32>(covered).await, 0, "the controls must cover no build");
    page.tap("[data-choice=B]").await;
    wait_until(&page, "revealed").await;
    wait_for_condition(
        &page,
        "document.querySelector('.tabs [aria-pressed=true]').dataset.show === 'b'",
        "B comes to the front",
    )
    .await;
    let letters: Vec<String> = page
        .eval("[...document.querySelectorAll('.letter')].map(one => one.checkVisibility() && one.innerText)")
        .await;
    assert_eq!(letters, ["A", "B"]);
    assert_eq!(chosen(&page).await, ["b", "b"]);
}

#[tokio::test]
async fn on_a_phone_on_its_side_both_builds_and_all_buttons_are_there() {
    let fixture = ArenaFixture::new().await;
    let page = open_page("about:blank").await;
    for (width, height) in [(844, 390), (667, 375)] {
        page.set_size(width, height).await;
        page.goto(&fixture.url_for("/")).await;
        wait_until(&page, "ready").await;
        let builds: Vec<[f64; 4]> = page.eval("[...document.querySelectorAll('.side canvas')].map(c => (r => [r.left, r.top, r.right, r.bottom])(c.getBoundingClientRect()))").await;
        let [a, b] = builds[..] else { panic!("{builds:?}") };
        assert!(a[1] == b[1] && a[2] <= b[0] && b[2] <= width as f64, "side by side: {builds:?}");
        assert!(a[3] - a[1] >= 170.0, "{width}: a build is only {} px high", a[3] - a[1]);
        let lowest: f64 = page.eval("Math.max(...[...document.querySelectorAll('#ballot button')].map(b => b.getBoundingClientRect().bottom))").await;
        assert!(lowest <= height as f64, "{width}: the buttons end at {lowest}");
    }
}

#[tokio::test]
async fn the_next_button_does_not_move() {
    const PLACE: &str =
        "(r => [r.x, r.y, r.width].map(Math.round))(document.getElementById('next').getBoundingClientRect())";
    const CLIPBOARD: &str =
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async () => {} } })";
    let fixture = ArenaFixture::new().await;
    let mut places = Vec::new();
    for others in ["The first vote on this pair.", "One other agrees."] {
        let page = fixture.open_page_with_script(CLIPBOARD, "/?prompt=treehouse").await;
        // The share page may show the two builds on the other sides.
        page.press("3").await;
        wait_until(&page, "revealed").await;
        assert_eq!(page.text("[data-slot=others]").await, others);
        places.push(page.eval::<[i64; 3]>(PLACE).await);
        page.click("#copy").await;
        wait_for_condition(&page, "document.getElementById('copy').innerText === 'Copied'", "It is copied")
            .await;
        places.push(page.eval::<[i64; 3]>(PLACE).await);
    }
    places.dedup();
    assert_eq!(places.len(), 1, "{places:?}");
}

#[tokio::test]
async fn the_page_is_small_without_its_builds() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    let bytes: u32 = page
        .eval(
            "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
                .filter(entry => !entry.name.includes('/api/arena/matchup/'))
                .reduce((sum, entry) => sum + entry.encodedBodySize, 0)",
        )
        .await;
    // Resource timing does not list the worker's four modules (about 6 kB).
    assert!((20_000..90_000).contains(&bytes), "{bytes} bytes");
}

#[tokio::test]
async fn the_arena_fits_every_size_and_theme_in_every_state() {
    let fixture = ArenaFixture::new().await;
    let shared = fixture.server.voter();
    let matchup = shared.matchup().await;
    shared.vote(&matchup, "A").await;
    let share = format!("/matchups/{}", matchup["id"].as_str().unwrap());
    for (size, width, height) in ARENA_SIZES {
        let mut page = open_page("about:blank").await;
        page.set_size(width, height).await;
        page.add_init_script(&format!(
            "{FAKE_FETCH} if (location.search.includes('wait')) answers = {{ '/api/arena/matchup': 'never' }}"
        ))
        .await;
        page.goto(&fixture.url_for("/?wait=1")).await;
        assert_layout(&mut page, "arena-loading", size, width).await;
        page.goto(&fixture.url_for("/")).await;
        wait_until(&page, "ready").await;
        assert_layout(&mut page, "arena-ready", size, width).await;
        let bottom: f64 = page.eval("document.getElementById('desk').getBoundingClientRect().bottom").await;
        assert!(bottom <= height as f64, "{size}: the buttons end at {bottom}");
        page.press("1").await;
        wait_until(&page, "revealed").await;
        let bottom: f64 = page.eval("document.getElementById('next').getBoundingClientRect().bottom").await;
        assert!(bottom <= height as f64, "{size}: Next ends at {bottom}");
        page.run("document.getElementById('stay').click()").await;
        assert_layout(&mut page, "arena-revealed", size, width).await;
        page.run("document.getElementById('help').showModal()").await;
        assert_layout(&mut page, "arena-help", size, width).await;
        page.goto(&fixture.url_for(&share)).await;
        assert_layout(&mut page, "share", size, width).await;
        fixture.vote_on_every_pair(&page).await;
        page.goto(&fixture.url_for("/")).await;
        wait_until(&page, "closed").await;
        page.run("answers = {}").await;
        let refusal = "409 (Conflict)";
        let complaints = page.take_console_errors().await;
        assert!(complaints.iter().all(|complaint| complaint.contains(refusal)), "{complaints:?}");
        assert_layout(&mut page, "arena-all-voted", size, width).await;
    }
}

impl ArenaFixture {
    /// Votes on every pair that the page's own voter has not seen.
    pub(super) async fn vote_on_every_pair(&self, page: &BrowserPage) {
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

/// In both themes, once all animations have ended.
async fn assert_layout(page: &mut BrowserPage, name: &str, size: &str, width: i64) {
    for (theme, preference) in THEMES {
        page.set_theme(preference).await;
        let still = "Promise.all(document.getAnimations().map(one => one.finished)).then(() => true)";
        page.eval::<bool>(still).await;
        assert_fits(page, &format!("{name}-{size}-{theme}"), width).await;
    }
}
