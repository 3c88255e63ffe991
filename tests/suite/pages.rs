//! The pages in the browser: in several sizes and both themes, by mouse and by keyboard.

use axum::Router;
use axum::routing::get;
use buildoff::web::{self, ErrorCode};

use crate::style_guide;
use crate::support::{BrowserPage, TestServer, Theme, assert_fits_everywhere, open_page, server_with_builds};

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
    (
        "/failing/410",
        ErrorCode::MatchupOver,
        "This matchup has ended: it was skipped, or 30 minutes have passed.",
    ),
    ("/failing/429", ErrorCode::RateLimited, "Too many requests. Try again in 12 seconds."),
    ("/failing/503", ErrorCode::Busy, "The server is busy. Try again in a moment."),
];

#[tokio::test]
async fn every_page_fits_every_size_and_theme_without_errors() {
    let server = server().await;
    for (name, path) in [
        ("format", "/format"),
        ("api", "/api"),
        ("agents-connect", "/agents/connect"),
        ("world", "/world"),
        ("tasks", "/tasks"),
        ("task", "/tasks/building/dig_three_down_and_fill_one_up"),
        ("task-missing", "/tasks/combat/combat_zombies"),
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
        assert_fits_everywhere(&mut page, name).await;
    }
}

#[tokio::test]
async fn every_page_has_landmarks_and_accessible_names() {
    let server = server().await;
    for path in [
        "/",
        "/format",
        "/api",
        "/agents/connect",
        "/world",
        "/tasks",
        "/tasks/crafting/craft_oak_planks",
        "/tasks/combat/combat_zombies",
        "/specimen",
        "/no/such/page",
        "/broken",
    ] {
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
async fn all_links_and_files_of_the_front_page_work() {
    let (_db, server) = server_with_builds().await;
    let page = open_page(&server.url).await;
    let addresses: Vec<String> = page
        .eval("[...document.querySelectorAll('[href], [src]')].map(e => e.href || e.src || '').filter(a => a.startsWith(location.origin))")
        .await;
    assert!(addresses.len() > 8, "{addresses:?}");
    for address in addresses {
        let status = server.client.get(&address).send().await.unwrap().status();
        // Without a configured token the console answers with an error page.
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
    let menu = ["Arena", "Agents", "Sandbox", "Docs", "How it works", "Format", "Blocks", "API"];
    for _ in 0..menu.len() + 3 {
        page.press("Tab").await;
        order.push(focused(&page).await);
    }
    assert_eq!(order[..2], ["Skip to content", "Buildoff"]);
    assert_eq!(order[2..10], menu);
    assert_eq!(order[10], "Theme: System");
}

#[tokio::test]
async fn the_skip_link_appears_on_focus_and_skips_the_header() {
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
async fn without_script_the_page_is_complete_and_hides_what_needs_script() {
    let server = server().await;
    let mut page = open_page(&server.url_for("/format")).await;
    page.disable_scripts().await;
    page.set_theme(Theme::Dark).await;
    page.reload().await;
    page.screenshot("format-without-script").await;

    assert_eq!(background_colour(&page).await, "rgb(22, 22, 20)", "the system's preference must still apply");
    let button: String = page.eval("getComputedStyle(document.getElementById('theme')).display").await;
    assert_eq!(button, "none");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn an_internal_error_shows_its_request_id() {
    let server = server().await;
    let page = open_page(&server.url_for("/broken")).await;

    assert_eq!(page.text("h1").await, "Something went wrong");
    let id = page.text("#request-id").await;
    assert_eq!(uuid::Uuid::parse_str(&id).unwrap().get_version_num(), 7);
    assert!(!page.text("body").await.contains("on purpose"), "the cause belongs into the log only");
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
