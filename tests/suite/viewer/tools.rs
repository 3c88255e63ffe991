//! The viewer's tools: walking, night, replay, pictures and clips.

use crate::support::{BrowserPage, open_page};

use super::grow::REPLACE_WITH_EMPTY_VIEWER;
use super::{ViewerFixture, of_first_viewer, state, wait_until, wait_until_idle};

/// A plain with a wall across it, and a plain without a wall but with a lamp.
const WALL: &str = r#"{"boxes":[{"x1":0,"y1":0,"z1":8,"x2":31,"y2":9,"z2":10,"type":"stone"}]}"#;
const LAMP: &str = r#"{"boxes":[{"x1":0,"y1":0,"z1":0,"x2":31,"y2":0,"z2":31,"type":"stone"}],"blocks":[{"x":16,"y":1,"z":16,"type":"glowstone"}]}"#;

/// The number of pixels that are clearly warmer than grey, and the brightness of the picture.
const LIGHT: &str = "(({ data }) => {
    let [warm, sum] = [0, 0];
    for (let at = 0; at < data.length; at += 4) {
        warm += data[at] > 60 && data[at] > 1.2 * data[at + 2];
        sum += data[at] + data[at + 1] + data[at + 2];
    }
    return [warm, sum / data.length];
})(v.readPixels())";

const FOCUSED: &str = "document.activeElement.dataset.tool ?? document.activeElement.localName";

async fn open_with_spec(fixture: &ViewerFixture, spec: &str) -> BrowserPage {
    let page = fixture.open_build_page().await;
    assert!(page.eval::<bool>(REPLACE_WITH_EMPTY_VIEWER).await);
    page.run(&format!("growth.feed({spec:?})")).await;
    wait_until(&page, "fresh.dataset.state === 'live'", "The spec is drawn").await;
    page
}

async fn click_tool(page: &BrowserPage, name: &str) {
    page.click(&format!("[data-tool={name}]")).await;
}

/// Presses a key without releasing it, or releases it.
async fn dispatch_key(page: &BrowserPage, kind: &str, code: &str) {
    page.run(&format!(
        "document.querySelector('build-viewer canvas').dispatchEvent(new KeyboardEvent({kind:?}, {{ code: {code:?}, bubbles: true }}))"
    ))
    .await;
}

#[tokio::test]
async fn walking_stops_at_walls_and_escape_ends_it() {
    let fixture = ViewerFixture::new().await;
    let mut page = open_with_spec(&fixture, WALL).await;
    wait_until_idle(&page).await;
    click_tool(&page, "walk").await;
    wait_until(&page, "fresh.hasAttribute('data-walking')", "The visitor stands in front of the build").await;
    assert_eq!(page.eval::<String>(FOCUSED).await, "canvas");
    assert_eq!(page.eval::<String>("fresh.querySelector('[data-tool=walk]').ariaPressed").await, "true");
    let description: String = page
        .eval("document.getElementById(fresh.viewer.canvas.getAttribute('aria-describedby')).textContent")
        .await;
    assert!(
        description.contains("Space jumps") && description.contains("Escape leaves"),
        "the description is {description:?}"
    );

    page.run(
        "window.body = fresh.viewer.camera.body; fresh.viewer.camera.turn = 0; window.start = [...body.at]",
    )
    .await;
    dispatch_key(&page, "keydown", "KeyW").await;
    wait_until(&page, "body.at[2] < start[2] - 1", "W walks").await;
    wait_until(&page, "Math.abs(body.at[2] - 11.3) < 0.01", "The wall, which ends at 11, stops the walk")
        .await;
    page.eval::<bool>(&super::animation_frames(10)).await;
    let at: [f64; 3] = page.eval("body.at").await;
    assert!(
        (at[2] - 11.3).abs() < 0.01 && at[1].abs() < 0.01,
        "still before the wall, on the ground: {at:?}"
    );
    dispatch_key(&page, "keyup", "KeyW").await;
    page.screenshot("viewer-walk").await;

    page.press("f").await;
    dispatch_key(&page, "keydown", "Space").await;
    wait_until(&page, "body.flying && body.at[1] > 10.5", "Flying leads over the wall").await;
    dispatch_key(&page, "keyup", "Space").await;
    dispatch_key(&page, "keydown", "ArrowUp").await;
    wait_until(&page, "body.at[2] < 7", "and over it").await;
    dispatch_key(&page, "keyup", "ArrowUp").await;
    wait_until_idle(&page).await;

    page.press("Escape").await;
    wait_until(&page, "!fresh.hasAttribute('data-walking')", "Escape leaves").await;
    assert_eq!(page.eval::<String>(FOCUSED).await, "walk", "has the focus again");
    assert!(
        page.eval::<bool>("fresh.viewer.camera === fresh.camera").await,
        "the camera is the one from before"
    );
    assert_eq!(
        page.eval::<u32>("fresh.querySelectorAll('.sight, .pad, .keys, .stick, :disabled').length").await,
        0
    );
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn at_night_a_lamp_lights_only_its_surroundings() {
    let fixture = ViewerFixture::new().await;
    let mut page = open_with_spec(&fixture, LAMP).await;
    let (_, day): (u32, f64) = page.eval(&of_first_viewer(LIGHT)).await;
    click_tool(&page, "night").await;
    wait_until(&page, &of_first_viewer("v.renderer.build.glow?.lit === true"), "The light is spread").await;
    wait_until_idle(&page).await;
    let (warm, night): (u32, f64) = page.eval(&of_first_viewer(LIGHT)).await;
    assert!(night < 0.7 * day, "brightness by day {day:.1}, at night {night:.1}");
    assert!(warm > 500, "{warm} warm pixels around the lamp");
    assert_eq!(page.text("build-viewer > [role=status]").await, "Night. Lit by the glowing blocks.");
    page.screenshot("viewer-night").await;

    // The lamp is in the second layer.
    page.run(&of_first_viewer("v.cut(1)")).await;
    wait_until(
        &page,
        &of_first_viewer("v.renderer.build.glow?.lit === false"),
        "A hidden lamp gives no light",
    )
    .await;
    wait_until_idle(&page).await;
    let (warm, dark): (u32, f64) = page.eval(&of_first_viewer(LIGHT)).await;
    assert!(warm == 0 && dark > 3.0, "{warm} warm pixels, brightness {dark:.1} by the moon alone");

    page.run(&of_first_viewer("v.cut(2)")).await;
    wait_until(&page, &of_first_viewer("v.renderer.build.glow?.lit === true"), "The lamp is back").await;
    wait_until_idle(&page).await;
    page.run(&of_first_viewer("window.before = v.readPixels()")).await;
    lose_context(&page).await;
    let different: u32 = page
        .eval(&of_first_viewer(
            "v.readPixels().data.reduce((sum, byte, at) => sum + (byte !== before.data[at]), 0)",
        ))
        .await;
    assert_eq!(different, 0, "bytes of the night that differ after the context was lost");

    click_tool(&page, "night").await;
    wait_until(
        &page,
        "!document.querySelector('build-viewer').hasAttribute('data-night')",
        "It is day again",
    )
    .await;
    wait_until_idle(&page).await;
    let (_, again): (u32, f64) = page.eval(&of_first_viewer(LIGHT)).await;
    assert!((again - day).abs() < 0.5, "brightness by day {day:.1}, and then {again:.1}");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

async fn lose_context(page: &BrowserPage) {
    page.run(
        "const { gl } = document.querySelector('build-viewer').viewer.renderer;
         const lost = gl.getExtension('WEBGL_lose_context');
         gl.canvas.addEventListener('webglcontextlost', () => setTimeout(() => lost.restoreContext()), { once: true });
         gl.canvas.addEventListener('webglcontextrestored', () => (window.restored = true), { once: true });
         lost.loseContext()",
    )
    .await;
    wait_until(page, "window.restored === true", "The browser gives the context back").await;
    wait_until_idle(page).await;
}

#[tokio::test]
async fn linked_viewers_share_night_mode() {
    let fixture = ViewerFixture::new().await;
    let page = fixture.open_live("/prompts/lighthouse").await;
    click_tool(&page, "night").await;
    let both = "[...document.querySelectorAll('build-viewer')].every(v => v.hasAttribute('data-night') && v.viewer.renderer.build.glow)";
    wait_until(&page, both, "Night on both sides").await;
    assert_eq!(
        page.eval::<u32>("document.querySelectorAll('[data-tool=replay]').length").await,
        0,
        "without a spec"
    );
}

#[tokio::test]
async fn the_order_of_building_is_replayed_and_can_be_scrubbed() {
    const SLIDER: &str = "document.querySelector('.replay input')";
    let fixture = ViewerFixture::new().await;
    let mut page = fixture.open_build_page().await;
    let whole: u32 = page.eval(&of_first_viewer("v.stats.quads")).await;
    click_tool(&page, "replay").await;
    wait_until(&page, &format!("{SLIDER}?.max > 0 && {SLIDER}.valueAsNumber > 3"), "It plays").await;
    assert_eq!(page.eval::<String>("document.activeElement.ariaLabel").await, "Pause");
    page.press("Enter").await;
    assert_eq!(page.eval::<String>("document.activeElement.ariaLabel").await, "Play");
    // The replay may have finished before it was paused, so the slider is set to a known entry.
    page.run(&format!("{SLIDER}.value = 7; {SLIDER}.dispatchEvent(new Event('input'))")).await;
    page.eval::<bool>(&super::animation_frames(10)).await;
    assert_eq!(page.eval::<u32>(&format!("{SLIDER}.valueAsNumber")).await, 7, "entries, while it is stopped");
    page.screenshot("viewer-replay").await;
    page.run(&format!(
        "document.activeElement.click(); {SLIDER}.dispatchEvent(new PointerEvent('pointerdown'))"
    ))
    .await;
    assert_eq!(
        page.eval::<String>("document.activeElement.ariaLabel").await,
        "Play",
        "moving the slider must pause the replay"
    );

    page.run(&format!("{SLIDER}.focus()")).await;
    page.press("Home").await;
    wait_until(&page, &of_first_viewer("v.stats.quads === 0"), "Nothing is built yet").await;
    page.press("ArrowRight").await;
    wait_until(&page, &of_first_viewer("v.stats.quads > 0"), "The first entry").await;
    let caption = page.text(".replay .caption").await;
    assert!(caption.to_lowercase().starts_with("box 1 of "), "the caption is {caption:?}");
    page.press("End").await;
    wait_until(&page, &of_first_viewer(&format!("v.stats.quads === {whole}")), "All of it is built").await;

    page.press("Escape").await;
    wait_until(&page, "!document.querySelector('.replay')", "It is closed").await;
    assert_eq!(page.eval::<String>(FOCUSED).await, "replay", "has the focus again");
    wait_until(
        &page,
        &of_first_viewer(&format!("v.frame === undefined && v.stats.quads === {whole}")),
        "The build is back",
    )
    .await;
    assert_eq!(state(&page).await, "live");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn with_reduced_motion_a_replay_does_not_start_by_itself() {
    let fixture = ViewerFixture::new().await;
    let page = fixture.open_build_page().await;
    page.reduce_motion().await;
    click_tool(&page, "replay").await;
    wait_until(&page, "document.activeElement.matches('.replay input')", "The slider has the focus").await;
    page.eval::<bool>(&super::animation_frames(10)).await;
    assert_eq!(page.eval::<u32>("document.activeElement.valueAsNumber").await, 0, "entries, without a touch");
    page.press("ArrowRight").await;
    wait_until(&page, &of_first_viewer("v.stats.quads > 0"), "The first entry").await;
}

#[tokio::test]
async fn a_spec_that_does_not_load_says_so() {
    let fixture = ViewerFixture::new().await;
    let page = fixture.open_build_page().await;
    page.run("document.querySelector('build-viewer').setAttribute('spec', '/api/builds/none/spec')").await;
    click_tool(&page, "replay").await;
    wait_until(
        &page,
        "document.querySelector('.replay .caption')?.textContent === 'The spec could not be loaded.'",
        "It says so",
    )
    .await;
    page.click("[data-tool=replay-close]").await;
    assert_eq!(page.eval::<u32>("document.querySelectorAll('.replay').length").await, 0);
}

#[tokio::test]
async fn a_turn_is_recorded_as_a_video() {
    let fixture = ViewerFixture::new().await;
    let mut page = fixture.open_build_page().await;
    page.run(
        "HTMLAnchorElement.prototype.click = function () {
            fetch(this.href).then((film) => film.blob()).then(({ size, type }) => (window.saved = [this.download, type, size]));
         }",
    )
    .await;
    click_tool(&page, "more").await;
    wait_until(&page, "!!document.querySelector('.menu')", "The menu is open").await;
    assert_eq!(page.eval::<String>(FOCUSED).await, "shot", "the first entry has the focus");
    page.screenshot("viewer-menu").await;
    click_tool(&page, "clip").await;
    wait_until(&page, "document.querySelector('.recording progress')?.value > 0.1", "It records").await;
    page.click(".recording button").await;
    wait_until(&page, "!!window.saved", "It is saved").await;
    let (name, kind, size): (String, String, u32) = page.eval("saved").await;
    assert!(name.ends_with(".webm") && name.contains("lighthouse"), "it is called {name}");
    assert!(kind == "video/webm" && size > 1000, "{size} bytes of {kind}");
    assert_eq!(page.eval::<String>(FOCUSED).await, "more", "has the focus again");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn the_menu_closes_by_escape_and_hides_unsupported_tools() {
    let fixture = ViewerFixture::new().await;
    let page = open_page("about:blank").await;
    page.add_init_script("delete window.MediaRecorder").await;
    page.goto(&fixture.url_for(&format!("/builds/{}", fixture.build_of("lighthouse").await))).await;
    super::wait_until_live(&page).await;
    click_tool(&page, "more").await;
    wait_until(&page, "!!document.querySelector('.menu')", "The menu is open").await;
    assert_eq!(
        page.eval::<Vec<String>>("[...document.querySelectorAll('.menu button')].map(b => b.textContent)")
            .await,
        ["Save a picture"]
    );
    page.press("Escape").await;
    assert_eq!(page.eval::<u32>("document.querySelectorAll('.menu').length").await, 0);
    assert_eq!(page.eval::<String>(FOCUSED).await, "more");
}

#[tokio::test]
async fn a_replay_has_one_animation_loop_and_closes_from_anywhere_in_the_viewer() {
    let fixture = ViewerFixture::new().await;
    let mut page = fixture.open_build_page().await;
    click_tool(&page, "replay").await;
    wait_until(&page, "document.querySelector('.replay input')?.valueAsNumber > 0", "It plays").await;
    page.run(
        "window.steps = 0;
         const ask = window.requestAnimationFrame.bind(window);
         window.requestAnimationFrame = (step) => ask((time) => { steps += /isPlaying/.test(step); step(time); });
         for (let times = 0; times < 6; times++) document.querySelector('.replay button').click()",
    )
    .await;
    let steps: u32 = page
        .eval("(async () => { steps = 0; for (let n = 0; n < 10; n++) await new Promise(requestAnimationFrame); return steps; })()")
        .await;
    assert!(steps <= 11, "{steps} steps in ten frames");

    page.run(&of_first_viewer("v.canvas.focus()")).await;
    page.press("Escape").await;
    wait_until(&page, "!document.querySelector('.replay')", "It is closed").await;
    assert_eq!(page.eval::<String>(FOCUSED).await, "canvas", "keeps the focus");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn walking_continues_while_the_other_viewer_is_linked_or_uses_the_mouse() {
    const LINK: &str = "second.querySelector('[data-tool=link]').click()";
    let fixture = ViewerFixture::new().await;
    let mut page = fixture.open_live("/prompts/lighthouse").await;
    page.run("var [first, second] = document.querySelectorAll('build-viewer')").await;
    for viewer in ["first", "second"] {
        wait_until(&page, &format!("{viewer}.dataset.state === 'live'"), "Both are live").await;
    }
    page.run("first.querySelector('[data-tool=walk]').click()").await;
    wait_until(&page, "first.hasAttribute('data-walking')", "The viewer walks").await;
    page.run(&format!("{LINK}; {LINK}")).await;
    assert!(page.eval::<bool>("'body' in first.viewer.camera").await, "the camera is still that of the walk");

    page.run("second.querySelector('[data-tool=walk]').click()").await;
    wait_until(&page, "second.hasAttribute('data-walking')", "The other viewer walks too").await;
    page.run(
        "document.hasFocus = () => true;
         var owner = second.viewer.canvas;
         Object.defineProperty(document, 'pointerLockElement', { get: () => owner });
         document.dispatchEvent(new Event('pointerlockchange'));
         owner = null;
         document.dispatchEvent(new Event('pointerlockchange'))",
    )
    .await;
    assert_eq!(
        page.eval::<[bool; 2]>("[first, second].map((viewer) => viewer.hasAttribute('data-walking'))").await,
        [true, false],
        "only the one that had the mouse is left"
    );
    page.run("first.viewer.canvas.focus()").await;
    page.press("Escape").await;
    assert!(
        page.eval::<bool>("first.viewer.camera === first.camera && first.camera === second.camera").await
    );
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn while_walking_the_menu_closes_by_itself_and_offers_no_clip() {
    let fixture = ViewerFixture::new().await;
    let page = fixture.open_build_page().await;
    click_tool(&page, "walk").await;
    wait_until(&page, &of_first_viewer("v.canvas.closest('[data-walking]') !== null"), "The viewer walks")
        .await;
    click_tool(&page, "night").await;
    wait_until(&page, "document.querySelector('build-viewer').hasAttribute('data-night')", "It is night")
        .await;
    assert_eq!(page.eval::<String>(FOCUSED).await, "canvas", "the walk must continue after a click");
    click_tool(&page, "more").await;
    wait_until(&page, "!!document.querySelector('.menu')", "The menu is open").await;
    assert_eq!(page.eval::<u32>("document.querySelectorAll('.menu button').length").await, 1);
    page.press("Escape").await;
    assert_eq!(
        page.eval::<[u32; 2]>(
            "['.menu', '[data-walking]'].map((css) => document.querySelectorAll(css).length)"
        )
        .await,
        [0, 1],
        "open menus and walking viewers"
    );
    page.run("document.querySelector('build-viewer').showPoster()").await;
    assert_eq!(
        page.eval::<u32>(
            "document.querySelectorAll('[data-walking], build-viewer > [role=status], .sight').length"
        )
        .await,
        0,
        "what is left once the viewer rests"
    );
}

#[tokio::test]
async fn walk_and_replay_exclude_each_other() {
    let fixture = ViewerFixture::new().await;
    let mut page = fixture.open_build_page().await;
    page.run("for (const name of ['walk', 'replay']) document.querySelector(`[data-tool=${name}]`).click()")
        .await;
    let begun = "document.querySelectorAll('[data-walking], [data-replaying]').length > 0";
    wait_until(&page, begun, "One of them begins").await;
    page.eval::<bool>(&super::animation_frames(20)).await;
    assert_eq!(
        page.eval::<u32>("document.querySelectorAll('[data-walking][data-replaying]').length").await,
        0
    );
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn night_mode_set_while_the_context_is_lost_is_applied_afterwards() {
    let fixture = ViewerFixture::new().await;
    let page = open_with_spec(&fixture, LAMP).await;
    wait_until_idle(&page).await;
    page.run(
        "var { gl } = fresh.viewer.renderer;
         var lost = gl.getExtension('WEBGL_lose_context');
         gl.canvas.addEventListener('webglcontextlost', () => (window.gone = true), { once: true });
         gl.canvas.addEventListener('webglcontextrestored', () => (window.restored = true), { once: true });
         lost.loseContext()",
    )
    .await;
    wait_until(&page, "window.gone === true", "The context is lost").await;
    page.run("fresh.querySelector('[data-tool=night]').click()").await;
    wait_until(&page, "!!fresh.viewer.renderer.build.glow", "The light is spread").await;
    page.run("lost.restoreContext()").await;
    wait_until(&page, "window.restored === true", "The browser gives the context back").await;
    wait_until_idle(&page).await;
    let (warm, _): (u32, f64) = page.eval(&of_first_viewer(LIGHT)).await;
    assert!(warm > 500, "{warm} warm pixels around the lamp");
}
