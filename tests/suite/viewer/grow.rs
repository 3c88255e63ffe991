//! A build that grows in the viewer while its spec is being written.

use crate::support::{Page, page};

use super::{Hall, of_first, state, until};

/// Puts an empty viewer in the place of the first, and has `feed(from, to)` give it parts of the lighthouse's spec.
pub(super) const EMPTY: &str = r#"(async () => {
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

const ENTRIES: &str = "said.counts.reduce((a, b) => a + b)";

async fn growing(hall: &Hall, page: &Page) {
    page.goto(&hall.at(&format!("/builds/{}", hall.build_of("lighthouse").await))).await;
    assert!(page.eval::<bool>(EMPTY).await);
}

#[tokio::test]
async fn a_build_grows_with_its_text_and_settles_into_the_finished_grid() {
    let hall = Hall::open().await;
    let mut page = hall.live_build().await;
    growing(&hall, &page).await;
    assert_eq!(
        page.eval::<(String, u32)>("before").await,
        ("none".to_owned(), 0),
        "before there is anything"
    );

    page.run("feed(0, 0.4)").await;
    until(&page, "fresh.dataset.state === 'live' && fresh.viewer.stats.quads > 0", "A part is drawn").await;
    until(&page, &format!("{ENTRIES} > 2"), "Entries are counted").await;
    let part: u32 = page.eval(&of_first("v.stats.quads")).await;
    page.shot("viewer-growing").await;

    page.run("feed(0.4, 1)").await;
    let whole = "(s => s.boxes.length + (s.lines ?? []).length + (s.blocks ?? []).length)(JSON.parse(spec))";
    until(&page, &format!("{ENTRIES} === {whole}"), "All entries are there").await;
    let drawn: u32 = page.eval(&of_first("v.stats.quads")).await;
    assert!(drawn > part, "{part} quads of a part, {drawn} of all");

    page.run("fresh.camera.orbit(0.5, 0, true); window.view = fresh.viewer; growth.settle(grid).then(() => (window.settled = true))")
        .await;
    until(&page, "window.settled === true", "The finished grid is there").await;
    let (same_view, quads, framed, turn): (bool, u32, bool, f64) = page
        .eval("[fresh.viewer === view, view.stats.quads, view.frame !== undefined, fresh.camera.turn * 180 / Math.PI]")
        .await;
    assert!(same_view && !framed, "the same view goes on, looking at the build's own bounds");
    assert_eq!(quads, drawn, "quads of the finished grid, drawn from its spec before");
    assert!((turn - 58.6).abs() < 0.1, "the camera stays as it was turned, but is at {turn}");
    assert_eq!(state(&page).await, "live");
    assert_eq!(page.eval::<u32>("fresh.querySelectorAll('.bar').length").await, 1, "bars");
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn an_answer_that_starts_over_takes_the_place_of_the_first() {
    let hall = Hall::open().await;
    let page = hall.live_build().await;
    growing(&hall, &page).await;
    page.run("feed(0, 0.7)").await;
    until(&page, &format!("{ENTRIES} > 4"), "A part is drawn").await;
    let part: u32 = page.eval(&of_first("v.stats.quads")).await;

    page.run(r#"growth.restart(); growth.feed('{"boxes":[{"x1":1,"y1":0,"z1":1,"x2":9,"y2":9,"z2":9,"type":"stone"}')"#)
        .await;
    until(&page, &of_first("v.stats.quads === 6"), "Only the second answer's box is left").await;
    assert!(part > 6);
}

#[tokio::test]
async fn without_webgl_a_growing_build_is_no_error_and_ends_as_a_picture() {
    let hall = Hall::open().await;
    let mut page = page("about:blank").await;
    page.before_load("HTMLCanvasElement.prototype.getContext = () => null").await;
    growing(&hall, &page).await;
    until(&page, "fresh.dataset.state === 'flat'", "The viewer is flat").await;
    page.run("feed(0, 1); fresh.setAttribute('angles', '/logo'); growth.settle(grid).then(() => (window.settled = true))")
        .await;
    until(&page, "window.settled === true", "It is over").await;
    assert_eq!(state(&page).await, "flat");
    assert_eq!(page.complaints().await, Vec::<String>::new());
}
