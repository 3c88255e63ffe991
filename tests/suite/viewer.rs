//! The viewer in the browser: in three dimensions and in pictures, by mouse and by keyboard.

mod bundle_size;
mod grow;
mod tools;

use buildoff::arena::gallery::{self, GalleryFilter};
use uuid::Uuid;

use crate::support::db::TestDb;
use crate::support::layout::{SIZES, THEMES};
use crate::support::{BrowserPage, TestServer, assert_fits, open_page, server_with_builds};

/// The first angle of the camera, and the angle by which an arrow key turns it, in degrees.
const FIRST_TURN: f64 = 30.0;
const KEY_TURN: f64 = 15.0;

/// A server with shipped builds, and its database.
struct ViewerFixture {
    server: TestServer,
    db: TestDb,
}

impl ViewerFixture {
    async fn new() -> Self {
        let (db, server) = server_with_builds().await;
        Self { server, db }
    }

    async fn builds(&self) -> Vec<Uuid> {
        let (cards, _) = gallery::page(&self.db.pool, &GalleryFilter::default(), 0).await.unwrap();
        cards.iter().map(|card| card.id).collect()
    }

    async fn build_of(&self, prompt: &str) -> Uuid {
        gallery::of_prompt(&self.db.pool, prompt).await.unwrap()[0].id
    }

    fn url_for(&self, path: &str) -> String {
        self.server.low_quality_url(path)
    }

    async fn open_build_page(&self) -> BrowserPage {
        self.open_live(&format!("/builds/{}", self.build_of("lighthouse").await)).await
    }

    /// Opens a page in a small window, since drawing in software is slow.
    async fn open_live(&self, path: &str) -> BrowserPage {
        let page = open_page("about:blank").await;
        page.set_size(390, 1000).await;
        page.goto(&self.url_for(path)).await;
        wait_until_live(&page).await;
        page
    }
}

#[tokio::test]
async fn a_build_page_goes_live_without_errors_and_draws_only_during_motion() {
    let fixture = ViewerFixture::new().await;
    let mut page = fixture.open_build_page().await;
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
    wait_until_idle(&page).await;

    let before: u32 = page.eval(&of_first_viewer("v.stats.frames")).await;
    page.eval::<bool>(&animation_frames(30)).await;
    let after: u32 = page.eval(&of_first_viewer("v.stats.frames")).await;
    assert_eq!(after, before, "frames drawn, before and after 30 turns of the browser in which nobody moved");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn every_shipped_build_is_drawn_in_few_calls() {
    let fixture = ViewerFixture::new().await;
    let page = fixture.open_build_page().await;
    let builds = fixture.builds().await;
    assert_eq!(builds.len(), 10);
    for build in builds {
        replace_first_viewer(&page, build).await;
        let (quads, calls): (u32, u32) =
            page.eval(&of_first_viewer("[v.stats.quads, v.stats.drawCalls]")).await;
        assert!(quads > 0, "build {build} is live, but has no quads");
        assert!((1..=20).contains(&calls), "build {build} takes {calls} draw calls a frame; see renderer.js");
    }
}

#[tokio::test]
async fn the_viewer_and_the_servers_pictures_show_the_same_outline() {
    let fixture = ViewerFixture::new().await;
    let page = fixture.open_build_page().await;
    for prompt in ["lighthouse", "treehouse"] {
        let build = fixture.build_of(prompt).await;
        replace_first_viewer(&page, build).await;
        page.run(&of_first_viewer(
            "(({ style }) => { style.width = '512px'; style.setProperty('--aspect', '1'); })(v.canvas.parentElement)",
        ))
        .await;
        let square = of_first_viewer("v.canvas.width === 512 && v.canvas.height === 512");
        wait_until(&page, &square, "The canvas is 512 by 512").await;

        for angle in [0, 3] {
            let address =
                format!("/api/builds/{build}/image?size=512&angle={angle}&background=transparent&format=png");
            let script = OVERLAP.replace("ANGLE", &angle.to_string()).replace("ADDRESS", &address);
            let common: f64 = page.eval(&script).await;
            assert!(
                common >= 0.97,
                "{prompt} at angle {angle}: of what viewer and {address} cover, only {common:.4} is common to \
                 both; compare aim() in camera.js with the server's camera"
            );
        }
    }
}

#[tokio::test]
async fn a_build_turns_by_mouse_and_by_keyboard_and_back() {
    let fixture = ViewerFixture::new().await;
    let page = fixture.open_build_page().await;
    assert_turned(&page, FIRST_TURN, "at first").await;

    page.drag("build-viewer canvas", 120.0, 40.0).await;
    let height: f64 = page.eval(&of_first_viewer("v.canvas.clientHeight")).await;
    let dragged = FIRST_TURN - (3.6 * 120.0 / height).to_degrees();
    assert_turned(&page, dragged, "after dragging it 120 px to the right").await;
    let tilt: f64 = page.eval(&of_first_viewer("v.camera.tilt * 180 / Math.PI")).await;
    assert!(tilt > 28.0, "dragging down must raise the camera, but the tilt is {tilt}");
    assert_eq!(page.eval::<String>("document.activeElement.localName").await, "canvas", "has the focus");

    page.press("r").await;
    assert_turned(&page, FIRST_TURN, "after R").await;
    page.press("ArrowRight").await;
    assert_turned(&page, FIRST_TURN + KEY_TURN, "after ArrowRight").await;
    page.press("3").await;
    assert_turned(&page, FIRST_TURN + 90.0, "after 3, the third angle").await;
    page.press("Home").await;
    assert_turned(&page, FIRST_TURN, "after Home").await;
}

#[tokio::test]
async fn layers_are_hidden_from_the_top_with_their_number() {
    const SLIDER: &str = "build-viewer .cut input[type=range]";
    let fixture = ViewerFixture::new().await;
    let page = fixture.open_build_page().await;
    let slider_text = format!("document.querySelector({SLIDER:?}).getAttribute('aria-valuetext')");
    let whole: u32 = page.eval(&of_first_viewer("v.stats.quads")).await;
    let layers: u32 = page.eval(&of_first_viewer("v.height")).await;
    assert_eq!(page.text("build-viewer .cut").await, "Cut from the top");
    assert_eq!(page.eval::<String>(&slider_text).await, "nothing hidden");

    page.run(&format!("document.querySelector({SLIDER:?}).focus()")).await;
    for _ in 0..6 {
        page.press("ArrowLeft").await;
    }
    assert_eq!(page.eval::<String>(&slider_text).await, format!("layer {} of {layers}", layers - 6));
    wait_until(
        &page,
        &of_first_viewer(&format!("v.stats.quads > 0 && v.stats.quads < {whole}")),
        "Six layers less are fewer quads",
    )
    .await;

    page.press("End").await;
    assert_eq!(page.eval::<String>(&slider_text).await, "nothing hidden");
    wait_until(&page, &of_first_viewer(&format!("v.stats.quads === {whole}")), "The whole build is back")
        .await;
}

#[tokio::test]
async fn a_lost_context_comes_back_with_the_same_picture() {
    let fixture = ViewerFixture::new().await;
    let page = fixture.open_build_page().await;
    wait_until_idle(&page).await;
    page.run(&of_first_viewer("window.before = v.readPixels()")).await;
    assert!(page.eval::<bool>("before.data.some(Boolean)").await, "the picture before is empty");

    // The browser restores a context only after it has reported its loss.
    page.run(
        "const { gl } = document.querySelector('build-viewer').viewer.renderer;
         const lost = gl.getExtension('WEBGL_lose_context');
         gl.canvas.addEventListener('webglcontextlost', () => setTimeout(() => lost.restoreContext()), { once: true });
         gl.canvas.addEventListener('webglcontextrestored', () => (window.restored = true), { once: true });
         lost.loseContext()",
    )
    .await;
    wait_until(&page, "window.restored === true", "The browser gives the context back").await;
    wait_until_idle(&page).await;

    assert_eq!(state(&page).await, "live");
    let different: u32 = page
        .eval(&of_first_viewer(
            "v.readPixels().data.reduce((sum, byte, index) => sum + (byte !== before.data[index]), 0)",
        ))
        .await;
    assert_eq!(different, 0, "bytes of the picture that differ from before; see restore() in renderer.js");
}

#[tokio::test]
async fn without_webgl_the_servers_pictures_turn() {
    const PICTURE: &str = "document.querySelector('build-viewer > img')";
    let fixture = ViewerFixture::new().await;
    let mut page = open_page("about:blank").await;
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null").await;
    page.goto(&fixture.url_for(&format!("/builds/{}", fixture.build_of("lighthouse").await))).await;
    wait_until(
        &page,
        "document.querySelector('build-viewer').dataset.state === 'flat'",
        "The viewer is flat",
    )
    .await;
    assert!(page.eval::<bool>(&format!("{PICTURE}.checkVisibility({{ visibilityProperty: true }})")).await);
    assert_eq!(
        page.eval::<u32>("document.querySelectorAll('build-viewer canvas').length").await,
        0,
        "canvases"
    );

    for (tool, angle, from) in
        [("right", 1, "front right"), ("left", 0, "front"), ("left", 7, "front left"), ("right", 0, "front")]
    {
        page.click(&format!("[data-tool={tool}]")).await;
        let there = format!(
            "{PICTURE}.complete && {PICTURE}.naturalWidth === 768 && new URL({PICTURE}.src).searchParams.get('angle') === '{angle}'"
        );
        wait_until(&page, &there, &format!("After {tool} the picture is the one of angle {angle}")).await;
        let alt: String = page.eval(&format!("{PICTURE}.alt")).await;
        assert!(
            alt.ends_with(&format!(" Seen from the {from}.")),
            "after {tool} the picture is called {alt}"
        );
        assert_eq!(page.text("build-viewer .said-angle").await, format!("Seen from the {from}"));
    }
    page.screenshot("build-without-webgl").await;
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn without_script_a_build_is_a_picture_and_facts() {
    let fixture = ViewerFixture::new().await;
    let mut page = open_page("about:blank").await;
    page.disable_scripts().await;
    page.goto(&fixture.url_for(&format!("/builds/{}", fixture.build_of("lighthouse").await))).await;
    page.screenshot("build-without-script").await;

    let (complete, width, alt): (bool, u32, String) = page
        .eval("(picture => [picture.complete, picture.naturalWidth, picture.alt])(document.querySelector('build-viewer > img'))")
        .await;
    assert!(complete && width > 0, "the server's picture is not there: complete {complete}, {width} px wide");
    assert!(alt.contains("lighthouse") && alt.contains("blocks"), "the picture is called {alt:?}");
    assert_eq!(page.eval::<u32>("document.querySelectorAll('canvas, button.start').length").await, 0);
    let facts = page.text(".exhibit-one dl").await;
    for fact in ["Model", "Settings", "32 · simple · precise", "Blocks", "Size", "Made"] {
        assert!(facts.contains(fact), "{fact} is missing from the facts:\n{facts}");
    }
    assert!(
        !facts.contains("Digest"),
        "the digest of a build that can be in a matchup is not public:\n{facts}"
    );
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_build_that_does_not_load_says_so_and_can_be_tried_again() {
    let fixture = ViewerFixture::new().await;
    let page = fixture.open_build_page().await;
    page.run(
        "var old = document.querySelector('build-viewer');
         window.good = old.getAttribute('src');
         var fresh = document.createElement('build-viewer');
         fresh.setAttribute('src', '/api/builds/none/grid');
         old.replaceWith(fresh)",
    )
    .await;
    wait_until(&page, "!!document.querySelector('build-viewer > .failed')", "The viewer says that it failed")
        .await;
    assert_eq!(state(&page).await, "error");
    let role: String = page.eval("document.querySelector('.failed').getAttribute('role')").await;
    assert_eq!(role, "alert");
    assert_eq!(page.text(".failed p").await, "The server answered 404.");
    assert_eq!(page.text(".failed button").await, "Retry");

    page.run("window.first = document.querySelector('.failed')").await;
    page.click(".failed button").await;
    let again = "![null, first].includes(document.querySelector('build-viewer > .failed'))";
    wait_until(&page, again, "A second try fails like the first").await;
    page.run("document.querySelector('build-viewer').setAttribute('src', good)").await;
    page.click(".failed button").await;
    wait_until_live(&page).await;
    assert!(page.eval::<bool>("!document.querySelector('.failed')").await, "the failure is still shown");
}

#[tokio::test]
async fn builds_of_a_prompt_turn_together_until_they_are_unlinked() {
    let fixture = ViewerFixture::new().await;
    let page = fixture.open_live("/prompts/lighthouse").await;
    wait_until_idle(&page).await;
    let frames: Vec<u32> = of_each_viewer(&page, "v.viewer.stats.frames").await;
    assert_eq!(frames.len(), 2, "viewers on the page");
    assert_eq!(links(&page).await, ["true", "true"]);

    focus(&page, 0).await;
    page.press("ArrowRight").await;
    assert_turns(&page, [45.0, 45.0], "the first one was turned, linked").await;
    wait_until_idle(&page).await;
    let after: Vec<u32> = of_each_viewer(&page, "v.viewer.stats.frames").await;
    assert!(
        after[1] > frames[1],
        "the other turned, but was not drawn again: {frames:?}, then {after:?} frames"
    );

    page.click("[data-tool=link]").await;
    assert_eq!(links(&page).await, ["false", "false"]);
    focus(&page, 0).await;
    page.press("ArrowRight").await;
    assert_turns(&page, [60.0, 45.0], "the first one was turned, unlinked").await;
    focus(&page, 1).await;
    page.press("ArrowLeft").await;
    assert_turns(&page, [60.0, 30.0], "the second one was turned, unlinked").await;

    page.click("[data-tool=link]").await;
    assert_eq!(links(&page).await, ["true", "true"]);
    assert_turns(&page, [60.0, 60.0], "linked again to the first").await;
}

#[tokio::test]
async fn all_build_pages_fit_every_size_and_theme_without_errors() {
    let fixture = ViewerFixture::new().await;
    let build = format!("/builds/{}", fixture.build_of("lighthouse").await);
    for (name, path) in [
        ("builds", "/builds"),
        ("build", &build),
        ("prompts", "/prompts"),
        ("prompt", "/prompts/lighthouse"),
        ("blocks", "/blocks"),
    ] {
        // The gallery refuses unknown query parameters, so it is opened without `q=low`.
        let low = path == build || name == "prompt";
        let mut page =
            open_page(&if low { fixture.url_for(path) } else { fixture.server.url_for(path) }).await;
        for (size, width, height) in SIZES {
            page.set_size(width, height).await;
            page.reload().await;
            for (theme, preference) in THEMES {
                page.set_theme(preference).await;
                let place = format!("{path} ({size}, {theme})");
                wait_until(&page, IN_VIEW_DONE, &format!("{place}: pictures and viewers in view are there"))
                    .await;
                assert_fits(&mut page, &format!("{name}-{size}-{theme}"), width).await;
                let outside: Vec<String> = page.eval(OUT_OF_VIEWER).await;
                assert_eq!(outside, Vec::<String>::new(), "{place}: controls reach out of their viewer");
                assert_eq!(
                    page.eval::<u32>("document.querySelectorAll('h1').length").await,
                    1,
                    "h1 in {place}"
                );
            }
        }
    }
}

#[tokio::test]
async fn blocks_can_be_filtered_by_a_word() {
    const SHOWN: &str = "[...document.querySelectorAll('[data-words] code')].filter(e => e.checkVisibility()).map(e => e.innerText)";
    let fixture = ViewerFixture::new().await;
    let page = open_page(&fixture.server.url_for("/blocks")).await;
    let all: Vec<String> = page.eval(SHOWN).await;
    assert_eq!(all.len(), 77, "blocks at first");

    page.click("#word").await;
    for letter in ["w", "o", "o", "l"] {
        page.press(letter).await;
    }
    let wools: Vec<String> = all.iter().filter(|id| id.ends_with("_wool")).cloned().collect();
    assert_eq!(page.eval::<Vec<String>>(SHOWN).await, wools, "blocks shown for wool");
    assert_eq!(page.text("#found").await, format!("{} of 77 blocks", wools.len()));

    for letter in ["q", "q"] {
        page.press(letter).await;
    }
    assert_eq!(page.eval::<Vec<String>>(SHOWN).await, Vec::<String>::new(), "blocks shown for woolqq");
    assert_eq!(page.text("#found").await, "No blocks match this filter.");
    let headings: u32 =
        page.eval("[...document.querySelectorAll('h2')].filter(e => e.checkVisibility()).length").await;
    assert_eq!(headings, 0, "headings over nothing");
}

async fn wait_until(page: &BrowserPage, condition: &str, what: &str) {
    page.wait_until_described(condition, what).await;
}

async fn wait_until_live(page: &BrowserPage) {
    let live = "[...document.querySelectorAll('build-viewer')].every(v => v.dataset.state === 'live')";
    wait_until(page, live, "All viewers are live").await;
}

/// Replaces the first viewer by a new one of this build.
async fn replace_first_viewer(page: &BrowserPage, build: Uuid) {
    page.run(&format!(
        "var fresh = document.createElement('build-viewer');
         fresh.setAttribute('src', '/api/builds/{build}/grid');
         document.querySelector('build-viewer').replaceWith(fresh)"
    ))
    .await;
    wait_until_live(page).await;
}

/// Waits until no frame is drawn any more: each observer of a new canvas may request a further one.
async fn wait_until_idle(page: &BrowserPage) {
    let same = format!(
        "(async () => {{
            const frames = () => [...document.querySelectorAll('build-viewer')].map(v => v.viewer.stats.frames).join();
            const before = frames();
            await {};
            return frames() === before;
        }})()",
        animation_frames(4)
    );
    wait_until(page, &same, "No viewer draws any more").await;
}

/// Waits for this many animation frames of the browser.
fn animation_frames(count: u32) -> String {
    format!(
        "(async () => {{ for (let n = 0; n < {count}; n++) await new Promise(requestAnimationFrame); return true; }})()"
    )
}

/// A script that evaluates an expression in `v`, the renderer of the first viewer.
fn of_first_viewer(expression: &str) -> String {
    format!("(v => {expression})(document.querySelector('build-viewer').viewer)")
}

/// Evaluates an expression in `v` for each viewer.
async fn of_each_viewer<T: serde::de::DeserializeOwned>(page: &BrowserPage, expression: &str) -> Vec<T> {
    page.eval(&format!("[...document.querySelectorAll('build-viewer')].map(v => {expression})")).await
}

async fn state(page: &BrowserPage) -> String {
    page.eval("document.querySelector('build-viewer').dataset.state").await
}

async fn links(page: &BrowserPage) -> Vec<String> {
    of_each_viewer(page, "v.querySelector('[data-tool=link]').ariaPressed").await
}

async fn focus(page: &BrowserPage, viewer: usize) {
    page.run(&format!("document.querySelectorAll('build-viewer canvas')[{viewer}].focus()")).await;
}

async fn assert_turned(page: &BrowserPage, degrees: f64, when: &str) {
    assert_turns(page, [degrees], when).await;
}

/// Waits until the cameras have stopped moving.
async fn assert_turns<const N: usize>(page: &BrowserPage, degrees: [f64; N], when: &str) {
    let still = "[...document.querySelectorAll('build-viewer')].every(v => !v.camera.moving)";
    wait_until(page, still, &format!("All cameras stand still {when}")).await;
    let turns: Vec<f64> = of_each_viewer(page, "v.camera.turn * 180 / Math.PI").await;
    let near =
        turns.len() == N && turns.iter().zip(degrees).all(|(turn, wanted)| (turn - wanted).abs() < 0.01);
    assert!(near, "turned by {turns:?} degrees, not {degrees:?}, {when}; see camera.js and input.js");
}

/// The intersection of the two outlines over their union.
const OVERLAP: &str = r#"(async () => {
  const { viewer, camera } = document.querySelector("build-viewer");
  camera.look(ANGLE, true);
  camera.step(performance.now());
  const { width, height, data } = viewer.readPixels();
  const picture = await createImageBitmap(await (await fetch("ADDRESS")).blob());
  const paper = new OffscreenCanvas(width, height).getContext("2d");
  paper.drawImage(picture, 0, 0, width, height);
  const theirs = paper.getImageData(0, 0, width, height).data;
  let [both, either] = [0, 0];
  for (let at = 3; at < data.length; at += 4) {
    const row = Math.floor(at / (4 * width));
    const ours = data[at + 4 * width * (height - 1 - 2 * row)] > 128;
    const served = theirs[at] > 128;
    both += ours && served;
    either += ours || served;
  }
  return both / either;
})()"#;

/// Whether all pictures and viewers in the visible part of the page have loaded.
const IN_VIEW_DONE: &str = r#"(() => {
  const seen = (element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  const done = (element) => (element.localName === "img" ? element.complete : element.dataset.state === "live");
  return [...document.querySelectorAll("build-viewer, img")].filter(seen).every(done);
})()"#;

/// Controls that reach below the bottom edge of their viewer.
const OUT_OF_VIEWER: &str = r#"[...document.querySelectorAll("build-viewer > .bar > *")]
  .filter((e) => e.getBoundingClientRect().bottom > e.closest("build-viewer").getBoundingClientRect().bottom + 1)
  .map((e) => e.outerHTML.slice(0, 80))"#;
