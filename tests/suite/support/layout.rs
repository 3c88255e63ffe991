//! Assertions that every page must pass in every size and theme.

use super::{BrowserPage, Theme};

/// A name, a width and a height.
pub const SIZES: [(&str, i64, i64); 3] = [("desk", 1440, 900), ("phone", 390, 844), ("narrow", 320, 640)];
pub const THEMES: [(&str, Theme); 2] = [("light", Theme::Light), ("dark", Theme::Dark)];

/// Loads the page in every size and theme, opens its details, and checks it with [`assert_fits`].
pub async fn assert_fits_everywhere(page: &mut BrowserPage, name: &str) {
    for (size, width, height) in SIZES {
        page.set_size(width, height).await;
        for (theme, preference) in THEMES {
            page.set_theme(preference).await;
            page.reload().await;
            page.run("document.querySelectorAll('details').forEach(details => details.open = true)").await;
            assert_fits(page, &format!("{name}-{size}-{theme}"), width).await;
        }
    }
}

/// Saves `target/shots/<name>.png`; then asserts that the console is silent, that the page is no wider than
/// its window, and that its text has enough contrast.
pub async fn assert_fits(page: &mut BrowserPage, name: &str, width: i64) {
    assert!(page.eval::<bool>(TRANSITIONS_END).await);
    page.screenshot(name).await;
    assert_eq!(page.take_console_errors().await, Vec::<String>::new(), "{name}: console errors");
    let needed: i64 = page.eval("document.documentElement.scrollWidth").await;
    assert!(
        needed <= width,
        "{name} scrolls sideways: it needs {needed} px for {:#?}",
        page.eval::<Vec<String>>(&past_the_edge(width)).await
    );
    let faint: Vec<String> = page.eval(LOW_CONTRAST_TEXT).await;
    assert_eq!(faint, Vec::<String>::new(), "{name} has text with too little contrast");
}

/// A script that lists the visible elements that reach further right than the window. It needs the width, as
/// an overflowing page on a phone reports a larger `innerWidth`.
fn past_the_edge(width: i64) -> String {
    format!(
        r#"[...document.querySelectorAll("body *")]
            .filter((e) => e.getBoundingClientRect().right > {width} && e.checkVisibility())
            .map((e) => e.outerHTML.slice(0, 120))"#
    )
}

/// In the middle of a transition, a colour may pass that of its background. Animations without an end are left out.
const TRANSITIONS_END: &str = r#"Promise.allSettled(
  document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < Infinity).map((one) => one.finished),
).then(() => true)"#;

/// Visible text whose contrast with its background is below level AA of WCAG.
const LOW_CONTRAST_TEXT: &str = r#"(() => {
  const paint = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const over = (colours) => {
    paint.clearRect(0, 0, 1, 1);
    for (const colour of colours) { paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1); }
    return [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
    if (!own || !element.checkVisibility() || element.closest(":disabled, option")) continue;
    const style = getComputedStyle(element);
    const grounds = [];
    for (let e = element; e; e = e.parentElement) grounds.unshift(getComputedStyle(e).backgroundColor);
    const [ground, ink] = [light(over(grounds)), light(over([...grounds, style.color]))];
    const ratio = (Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) faint.push(`${ratio.toFixed(2)} ${element.tagName} ${own.slice(0, 40)}`);
  }
  return faint;
})()"#;
