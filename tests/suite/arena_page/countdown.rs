//! The countdown to the next matchup after a vote.

use super::*;

/// Replaces the page's timers, so that time passes only by `pass(seconds)`.
const CLOCK: &str = "
    const slow = setInterval;
    window.setInterval = (what, every) => {
      if (every === 100) window.tick = what;
      return slow(every === 100 ? () => {} : what, every);
    };
    window.pass = (seconds) => {
      for (let left = 10 * seconds; left > 0 && counting(); left--) tick();
    };
    window.counting = () => document.getElementById('next').dataset.left !== undefined;
";
const LEFT: &str = "Number(document.getElementById('next').dataset.left)";

#[tokio::test]
async fn the_countdown_continues_without_input() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_page_with_script(CLOCK, "/").await;
    let prompt = page.text("#asked").await;
    page.press("1").await;
    wait_until(&page, "revealed").await;
    page.run("pass(3)").await;
    assert_eq!((page.eval::<u32>(LEFT).await, phase(&page).await), (5, "revealed".to_owned()));
    page.run("pass(5)").await;
    wait_until(&page, "ready").await;
    assert_ne!(page.text("#asked").await, prompt);
}

#[tokio::test]
async fn the_countdown_restarts_on_input() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_page_with_script(CLOCK, "/").await;
    page.press("1").await;
    wait_until(&page, "revealed").await;
    for (what, script) in [
        ("scrolls", "document.dispatchEvent(new Event('scroll'))"),
        (
            "touches a name",
            "document.querySelector('.who').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))",
        ),
        (
            "zooms",
            "document.querySelector('.side canvas').dispatchEvent(new WheelEvent('wheel', { bubbles: true }))",
        ),
    ] {
        page.run("pass(3)").await;
        assert_eq!(page.eval::<u32>(LEFT).await, 5, "before the visitor {what}");
        page.run(script).await;
        assert_eq!(page.eval::<u32>(LEFT).await, 8, "after the visitor {what}");
    }
    page.hover(".side canvas").await;
    for place in ["[data-side=b] canvas", ".who h2"] {
        page.run("pass(3)").await;
        page.hover(place).await;
        wait_for_condition(
            &page,
            &format!("{LEFT} === 8"),
            &format!("It starts over when the mouse goes to {place}"),
        )
        .await;
    }
    page.run("document.querySelector('.who h2 a').focus(); pass(30)").await;
    assert_eq!((page.eval::<u32>(LEFT).await, phase(&page).await), (8, "revealed".to_owned()), "on a link");
    page.run("document.activeElement.blur(); pass(8)").await;
    wait_until(&page, "ready").await;
}

#[tokio::test]
async fn the_countdown_can_be_stopped_permanently() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    page.press("1").await;
    wait_until(&page, "revealed").await;
    assert_eq!(page.text("#stay").await, "Stay here");
    page.click("#stay").await;
    let counting = "document.getElementById('next').dataset.left !== undefined";
    assert!(!page.eval::<bool>(counting).await, "stopped");
    page.press("Enter").await;
    wait_until(&page, "ready").await;
    page.press("2").await;
    wait_until(&page, "revealed").await;
    assert!(!page.eval::<bool>(counting).await, "still stopped");
    assert!(!page.eval::<bool>("document.getElementById('stay').checkVisibility()").await);
}

#[tokio::test]
async fn with_reduced_motion_there_is_no_countdown() {
    let fixture = ArenaFixture::new().await;
    let page = open_page("about:blank").await;
    page.reduce_motion().await;
    page.goto(&fixture.url_for("/")).await;
    wait_until(&page, "ready").await;
    assert!(
        !page.eval::<bool>("document.querySelector('.coax').checkVisibility()").await,
        "the moving hint must be hidden too"
    );
    page.press("1").await;
    wait_until(&page, "revealed").await;
    assert!(page.eval::<bool>("document.getElementById('next').dataset.left === undefined").await);
}
