//! A build that grows in the viewer while its spec streams in.

use crate::support::{BrowserPage, open_page};

use super::{ViewerFixture, of_first_viewer, state, wait_until};

/// Replaces the first viewer by an empty one, and defines `feed(from, to)`, which gives it a part of the
/// lighthouse's spec.
pub(super) const REPLACE_WITH_EMPTY_VIEWER: &str = r#"(async () => {
  const old = document.querySelector("build-viewer");
  const src = old.getAttribute("src");
  window.spec = await (await fetch(src.replace("/grid", "/spec"))).text();
  window.grid = URL.createObjectURL(await (await fetch(src)).blob());
  const script = document.querySelector("script[src$='viewer/viewer.js']").src;
  const { grow } = await import(script.replace("viewer.js", "grow.js"));
  window.fresh = document.createElement("build-viewer");
  fresh.setAttribute("name", "A lighthouse");
  old.replaceWith(fresh);
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  window.before = [fresh.dataset.state ?? "none", fresh.querySelectorAll("canvas, .failed").length];
  window.said = { counts: [0, 0, 0] };
  window.growth = grow(fresh, { size: 32, palette: "simple", grown: (now) => (window.said = now) });
  window.feed = (from, to) => growth.feed(spec.slice(from * spec.length, to * spec.length));
  return true;
})()"#;

const ENTRY_COUNT: &str = "said.counts.reduce((a, b) => a + b)";

async fn open_with_empty_viewer(fixture: &ViewerFixture, page: &BrowserPage) {
    page.goto(&fixture.url_for(&format!("/builds/{}", fixture.build_of("lighthouse").await))).await;
    assert!(page.eval::<bool>(REPLACE_WITH_EMPTY_VIEWER).await);
}

#[tokio::test]
async fn a_build_grows_with_its_text_and_settles_into_the_finished_grid() {
    let fixture = ViewerFixture::new().await;
    let mut page = fixture.open_build_page().await;
    open_with_empty_viewer(&fixture, &page).await;
    assert_eq!(
        page.eval::<(String, u32)>("before").await,
        ("none".to_owned(), 0),
        "before there is anything"
    );

    page.run("feed(0, 0.4)").await;
    wait_until(&page, "fresh.dataset.state === 'live' && fresh.viewer.stats.quads > 0", "A part is drawn")
        .await;
    wait_until(&page, &format!("{ENTRY_COUNT} > 2"), "Entries are counted").await;
    let part: u32 = page.eval(&of_first_viewer("v.stats.quads")).await;
    page.screenshot("viewer-growing").await;

    page.run("feed(0.4, 1)").await;
    let whole = "(s => s.boxes.length + (s.lines ?? []).length + (s.blocks ?? []).length)(JSON.parse(spec))";
    wait_until(&page, &format!("{ENTRY_COUNT} === {whole}"), "All entries are there").await;
    let drawn: u32 = page.eval(&of_first_viewer("v.stats.quads")).await;
    assert!(drawn > part, "{part} quads of a part, {drawn} of all");

    page.run("fresh.camera.orbit(0.5, 0, true); window.view = fresh.viewer; growth.settle(grid).then(() => (window.settled = true))")
        .await;
    wait_until(&page, "window.settled === true", "The finished grid is there").await;
    let (same_view, quads, framed, turn): (bool, u32, bool, f64) = page
        .eval("[fresh.viewer === view, view.stats.quads, view.frame !== undefined, fresh.camera.turn * 180 / Math.PI]")
        .await;
    assert!(same_view && !framed, "the camera must keep its view of the build's own bounds");
    assert_eq!(quads, drawn, "quads of the finished grid, drawn from its spec before");
    assert!((turn - 58.6).abs() < 0.1, "the camera stays as it was turned, but is at {turn}");
    assert_eq!(state(&page).await, "live");
    assert_eq!(page.eval::<u32>("fresh.querySelectorAll('.bar').length").await, 1, "bars");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn an_answer_that_starts_over_replaces_the_first() {
    let fixture = ViewerFixture::new().await;
    let page = fixture.open_build_page().await;
    open_with_empty_viewer(&fixture, &page).await;
    page.run("feed(0, 0.7)").await;
    wait_until(&page, &format!("{ENTRY_COUNT} > 4"), "A part is drawn").await;
    let part: u32 = page.eval(&of_first_viewer("v.stats.quads")).await;

    page.run(r#"growth.restart(); growth.feed('{"boxes":[{"x1":1,"y1":0,"z1":1,"x2":9,"y2":9,"z2":9,"type":"stone"}')"#)
        .await;
    wait_until(&page, &of_first_viewer("v.stats.quads === 6"), "Only the second answer's box is left").await;
    assert!(part > 6);
}

#[tokio::test]
async fn without_webgl_a_growing_build_ends_as_a_picture() {
    let fixture = ViewerFixture::new().await;
    let mut page = open_page("about:blank").await;
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null").await;
    open_with_empty_viewer(&fixture, &page).await;
    wait_until(&page, "fresh.dataset.state === 'flat'", "The viewer is flat").await;
    page.run("feed(0, 1); fresh.setAttribute('angles', '/logo'); growth.settle(grid).then(() => (window.settled = true))")
        .await;
    wait_until(&page, "window.settled === true", "It is over").await;
    assert_eq!(state(&page).await, "flat");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}
