//! `/prompts/chat`, with and without script.

use buildoff::arena::{Mode, Settings};
use buildoff::generate::prompting;
use voxel::{GridSize, Palette};

use crate::support::db::TestDb;
use crate::support::{BrowserPage, TestServer, assert_fits_everywhere, open_page, server_with_builds};

fn expected(prompt: &str, grid: GridSize, palette: Palette) -> String {
    prompting::chat_text(prompt, &Settings { grid, palette, mode: Mode::precise() })
}

/// The status of the page, and the text that it offers to copy.
async fn chat_text(server: &TestServer, query: &str) -> (u16, String) {
    let answer = server.get(&format!("/prompts/chat{query}")).send().await.unwrap();
    let status = answer.status().as_u16();
    let html = answer.text().await.unwrap();
    let text = html.split_once("rows=\"24\"").and_then(|(_, rest)| {
        let (text, _) = rest.split_once(">\n")?.1.split_once("</textarea>")?;
        Some(unescaped(text))
    });
    (status, text.unwrap_or(html))
}

fn unescaped(html: &str) -> String {
    let named = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    named.into_iter().fold(html.to_owned(), |text, (name, character)| text.replace(name, character))
}

#[tokio::test]
async fn the_page_holds_the_text_for_the_chosen_prompt_grid_and_palette() {
    let (_db, server) = server_with_builds().await;
    for (query, prompt, grid, palette) in [
        ("?prompt=windmill", "a windmill on a grassy hill", GridSize::G32, Palette::Simple),
        (
            "?prompt=corner-cafe&words=&grid=256&palette=advanced",
            "a corner café with tables on the pavement",
            GridSize::G256,
            Palette::Advanced,
        ),
        ("?words=a+blue+door&prompt=windmill&grid=64", "a blue door", GridSize::G64, Palette::Simple),
        (
            "?words=%3C/textarea%3E%3Cscript%3E+%7B%7B+edge+%7D%7D+%26+%22",
            "</textarea><script> {{ edge }} & \"",
            GridSize::G32,
            Palette::Simple,
        ),
    ] {
        assert_eq!(chat_text(&server, query).await, (200, expected(prompt, grid, palette)), "{query}");
    }
    let (status, text) = chat_text(&server, "").await;
    assert!(status == 200 && text.contains("whole numbers from 0 to 31"), "a prompt must be chosen at first");
}

#[tokio::test]
async fn invalid_chat_parameters_are_ignored() {
    let (_db, server) = server_with_builds().await;
    let usual = chat_text(&server, "").await;
    for query in ["?prompt=nowhere", "?grid=33", "?palette=oak", "?colour=red", "?words=%00"] {
        assert_eq!(chat_text(&server, query).await, usual, "{query}");
    }
    let (long, longest) = ("a".repeat(900), "a".repeat(800));
    let cut = expected(&longest, GridSize::G32, Palette::Simple);
    assert_eq!(chat_text(&server, &format!("?words={long}")).await, (200, cut));
}

#[tokio::test]
async fn without_prompts_there_is_still_something_to_copy() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let (status, text) = chat_text(&server, "").await;
    assert_eq!((status, text), (200, expected("a garden shed", GridSize::G32, Palette::Simple)));
}

#[tokio::test]
async fn the_prompt_and_format_pages_link_to_it() {
    let (_db, server) = server_with_builds().await;
    for path in ["/prompts", "/format"] {
        let html = server.get(path).send().await.unwrap().text().await.unwrap();
        assert!(html.contains("href=\"/prompts/chat\""), "{path}");
    }
}

/// Waits until the page shows this message.
async fn wait_until_copied(page: &BrowserPage, message: &str) {
    let there: bool = page
        .eval(&format!(
            "(async () => {{ while (!document.getElementById('copied').textContent.includes({message:?})) await new Promise(requestAnimationFrame); return true; }})()"
        ))
        .await;
    assert!(there);
}

#[tokio::test]
async fn the_button_copies_the_text_and_says_so() {
    let (_db, server) = server_with_builds().await;
    let mut page = open_page(&server.url_for("/prompts/chat?prompt=lighthouse")).await;
    assert_eq!(page.text("#copied").await, "");
    page.run("navigator.clipboard.writeText = async (said) => { window.said = said; }").await;
    page.click("#copy").await;
    wait_until_copied(&page, "Copied.").await;
    let copied: String = page.eval("window.said").await;
    assert_eq!(copied, expected("a lighthouse on a rocky island", GridSize::G32, Palette::Simple));
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn without_clipboard_access_the_text_is_selected() {
    let (_db, server) = server_with_builds().await;
    let page = open_page(&server.url_for("/prompts/chat?prompt=lighthouse")).await;
    page.run("navigator.clipboard.writeText = () => Promise.reject(); document.execCommand = () => false")
        .await;
    page.click("#copy").await;
    wait_until_copied(&page, "copy it manually").await;
    let selected: usize = page.eval("document.getElementById('text').selectionEnd").await;
    assert!(selected > 7000, "{selected}");
}

#[tokio::test]
async fn it_fits_every_size_and_theme_and_names_its_fields() {
    let (_db, server) = server_with_builds().await;
    let mut page = open_page(&server.url_for("/prompts/chat?prompt=lighthouse")).await;
    assert_fits_everywhere(&mut page, "chat").await;
    let nameless: Vec<String> = page
        .eval("[...document.querySelectorAll('main :is(a, button, input, select, textarea)')].filter(e => !(e.innerText || e.labels?.length || e.ariaLabel)).map(e => e.outerHTML)")
        .await;
    assert_eq!(nameless, Vec::<String>::new());
}

#[tokio::test]
async fn without_script_the_text_is_there_and_the_button_is_not() {
    let (_db, server) = server_with_builds().await;
    let mut page = open_page("about:blank").await;
    page.disable_scripts().await;
    page.goto(&server.url_for("/prompts/chat?prompt=lighthouse")).await;
    page.screenshot("chat-without-script").await;
    let text: String = page.eval("document.getElementById('text').value").await;
    assert_eq!(text, expected("a lighthouse on a rocky island", GridSize::G32, Palette::Simple));
    assert!(page.text("#copied").await.contains("select all and copy"));
    let button: String = page.eval("getComputedStyle(document.getElementById('copy')).display").await;
    assert_eq!(button, "none");
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}
