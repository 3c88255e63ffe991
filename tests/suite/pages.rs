//! The pages as a visitor meets them: in a browser, at several sizes, in both themes, by keyboard.

use axum::Router;
use axum::routing::get;
use buildoff::web::{self, ErrorCode};

use crate::style_guide;
use crate::support::db::TestDb;
use crate::support::{BrowserPage, TestServer, Theme, open_page};

const SIZES: [(&str, i64, i64); 3] = [("desk", 1440, 900), ("phone", 390, 844), ("narrow", 320, 640)];
const THEMES: [(&str, Theme); 2] = [("light", Theme::Light), ("dark", Theme::Dark)];

async fn server() -> TestServer {
    let broken = get(|| async { Err::<(), _>(web::Error::internal(anyhow::anyhow!("broken on purpose"))) });
    let failing = FAILURES.into_iter().fold(Router::new(), |routes, (path, code, message)| {
        let error = move || async move { Err::<(), _>(web::Error::new(code, message)) };
        routes.route(path, get(error))
    });
    let routes = web::routes().merge(style_guide::routes()).merge(failing).route("/broken", broken);
    TestServer::start_with_routes(routes).await
}

/// Addresses, and the errors they answer with.
const FAILURES: [(&str, ErrorCode, &str); 6] = [
    ("/sandbox/failing/403", ErrorCode::NotYours, "Only the browser that keeps this run can delete it."),
    ("/models/failing/404", ErrorCode::NotFound, "This model does not exist."),
    ("/failing/409", ErrorCode::AllVoted, "You have seen all pairs. Come back when there are new builds."),
    ("/failing/410", ErrorCode::MatchupOver, "It was skipped, or 30 minutes have passed."),
    ("/failing/429", ErrorCode::RateLimited, "Too many requests. Try again in 12 seconds."),
    ("/failing/503", ErrorCode::Busy, "The server is busy. Try again in a moment."),
];

#[tokio::test]
async fn every_page_fits_every_size_and_theme_without_complaint() {
    let server = server().await;
    for (name, path) in [
        ("format", "/format"),
        ("api", "/api"),
        ("specimen", "/specimen"),
        ("missing", "/no/such/page"),
        ("broken", "/broken"),
        ("failing-403", "/sandbox/failing/403"),
        ("failing-404", "/models/failing/404"),
        ("failing-409", "/failing/409"),
        ("failing-410", "/failing/410"),
        ("failing-429", "/failing/429"),
        ("failing-503", "/failing/503"),
    ] {
        let mut page = open_page(&server.url_for(path)).await;
        for (size, width, height) in SIZES {
            page.set_size(width, height).await;
            for (theme, preference) in THEMES {
                page.set_theme(preference).await;
                page.reload().await;
                page.screenshot(&format!("{name}-{size}-{theme}")).await;

                let place = format!("{path} ({size}, {theme})");
                assert_eq!(page.take_console_errors().await, Vec::<String>::new(), "{place}");
                let needed: i64 = page.eval("document.documentElement.scrollWidth").await;
                assert!(
                    needed <= width,
                    "{place} scrolls sideways: it needs {needed} px, {}",
                    widest_element(&page).await
                );
                let faint: Vec<String> = page.eval(LOW_CONTRAST_TEXT).await;
                assert_eq!(faint, Vec::<String>::new(), "{place} has text that is hard to read");
            }
        }
    }
}

#[tokio::test]
async fn every_page_has_its_landmarks_and_names_what_it_shows() {
    let server = server().await;
    for path in ["/", "/format", "/api", "/specimen", "/no/such/page", "/broken"] {
        let page = open_page(&server.url_for(path)).await;
        let landmarks: Vec<usize> = page
            .eval("['body > header', 'nav[aria-label=Main]', 'main', 'body > footer', 'h1'].map(css => document.querySelectorAll(css).length)")
            .await;
        assert_eq!(landmarks, [1, 1, 1, 1, 1], "{path}: header, nav, main, footer, h1");
        let nameless: Vec<String> = page
            .eval("[...document.querySelectorAll('a, button, img:not([alt]), input, select, textarea')].filter(e => e.matches('img') || !(e.innerText || e.labels?.length || e.ariaLabel)).filter(e => e.checkVisibility()).map(e => e.outerHTML)")
            .await;
        assert_eq!(nameless, Vec::<String>::new(), "{path} has elements without a name");
    }
}

#[tokio::test]
async fn links_and_files_of_the_front_page_all_lead_somewhere() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let page = open_page(&server.url).await;
    let addresses: Vec<String> = page
        .eval("[...document.querySelectorAll('[href], [src]')].map(e => e.href || e.src || '').filter(a => a.startsWith(location.origin))")
        .await;
    assert!(addresses.len() > 8, "{addresses:?}");
    for address in addresses {
        let status = server.client.get(&address).send().await.unwrap().status();
        // Without a token the console says that it is closed.
        let expected = if address.ends_with("/admin") { 403 } else { 200 };
        assert_eq!(status, expected, "{address}");
    }
}

#[tokio::test]
async fn the_theme_button_cycles_and_is_remembered() {
    let server = server().await;
    let page = open_page(&server.url_for("/format")).await;
    page.set_theme(Theme::Dark).await;
    let light = "rgb(246, 245, 241)";
    let dark = "rgb(22, 22, 20)";

    for (name, wall) in
        [("System", dark), ("Light", light), ("Dark", dark), ("System", dark), ("Light", light)]
    {
        assert_eq!(page.text("#theme-name").await, name);
        assert_eq!(background_colour(&page).await, wall, "in {name}, while the system prefers dark");
        page.reload().await;
        assert_eq!(page.text("#theme-name").await, name, "after a reload");
        assert_eq!(background_colour(&page).await, wall, "in {name}, after a reload");
        page.click("#theme").await;
    }
}

#[tokio::test]
async fn the_keyboard_reaches_everything_in_reading_order() {
    let server = server().await;
    let page = open_page(&server.url_for("/format")).await;
    let mut order = Vec::new();
    let menu = ["Arena", "Leaderboard", "Builds", "Prompts", "Sandbox", "Blocks", "Format", "About"];
    for _ in 0..menu.len() + 3 {
        page.press("Tab").await;
        order.push(focused(&page).await);
    }
    assert_eq!(order[..2], ["Skip to content", "Buildoff"]);
    assert_eq!(order[2..10], menu);
    assert_eq!(order[10], "Theme: System");
}

#[tokio::test]
async fn the_skip_link_shows_itself_and_leads_past_the_header() {
    let server = server().await;
    let page = open_page(&server.url_for("/specimen")).await;
    page.press("Tab").await;
    page.screenshot("skip-link").await;
    let top: f64 = page.eval("document.querySelector('.skip').getBoundingClientRect().top").await;
    assert!(top >= 0.0, "the skip link is still off the page, at {top}");

    page.press("Enter").await;
    assert_eq!(page.eval::<String>("document.activeElement.id").await, "main");
    page.press("Tab").await;
    assert_eq!(focused(&page).await, "A link in a lede");
}

#[tokio::test]
async fn without_script_the_page_is_whole_and_offers_nothing_that_needs_it() {
    let server = server().await;
    let mut page = open_page(&server.url_for("/format")).await;
    page.disable_scripts().await;
    page.set_theme(Theme::Dark).await;
    page.reload().await;
    page.screenshot("format-without-script").await;

    assert_eq!(background_colour(&page).await, "rgb(22, 22, 20)", "the system's preference still holds");
    let button: String = page.eval("getComputedStyle(document.getElementById('theme')).display").await;
    assert_eq!(button, "none");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_failure_shows_the_number_it_was_logged_under() {
    let server = server().await;
    let page = open_page(&server.url_for("/broken")).await;

    assert_eq!(page.text("h1").await, "Something went wrong");
    let id = page.text("#request-id").await;
    assert_eq!(uuid::Uuid::parse_str(&id).unwrap().get_version_num(), 7);
    assert!(!page.text("body").await.contains("on purpose"), "the cause is for the log");
}

#[tokio::test]
async fn a_dialog_opens_over_the_page() {
    let server = server().await;
    let page = open_page(&server.url_for("/specimen")).await;
    page.run("document.getElementById('dialog').showModal()").await;
    page.set_size(390, 844).await;
    page.screenshot("specimen-dialog").await;

    assert_eq!(focused(&page).await, "Retire");
}

async fn background_colour(page: &BrowserPage) -> String {
    page.eval("getComputedStyle(document.body).backgroundColor").await
}

async fn focused(page: &BrowserPage) -> String {
    page.eval("document.activeElement.innerText.trim().replace(/\\s+/g, ' ')").await
}

pub async fn widest_element(page: &BrowserPage) -> String {
    page.eval(
        "[...document.querySelectorAll('body *')].reduce((a, b) => b.getBoundingClientRect().right > a.getBoundingClientRect().right ? b : a).outerHTML.slice(0, 200)",
    )
    .await
}

/// Visible words whose contrast with what is painted under them is less than WCAG's AA asks.
pub const LOW_CONTRAST_TEXT: &str = r#"(() => {
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
