//! `/sandbox/paste`: pasted text is checked on the page.

use std::fs;

use super::run_page::wait_until;
use crate::support::db::TestDb;
use crate::support::{BrowserPage, TestServer, Theme, open_page, sample_spec};

async fn open_paste_page(server: &TestServer) -> BrowserPage {
    let tab = open_page(&server.url_for("/sandbox/paste?q=low")).await;
    wait_until(&tab, "!document.getElementById('paste').hidden").await;
    tab
}

async fn write(tab: &BrowserPage, text: &str) {
    tab.run(&format!(
        "{{ const text = document.getElementById('text'); text.value = {text:?}; text.dispatchEvent(new Event('input')); }}"
    ))
    .await;
}

async fn paste(tab: &BrowserPage, text: &str) {
    write(tab, text).await;
    tab.click("#check").await;
}

#[tokio::test]
async fn a_pasted_chat_answer_is_checked_shown_and_downloaded() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let tab = open_paste_page(&server).await;
    paste(&tab, &format!("Here you are:\n```json\n{}\n```\nEnjoy!", sample_spec(4))).await;
    wait_until(&tab, "document.getElementById('verdict').classList.contains('good')").await;
    assert!(tab.text("#verdict").await.contains("Valid build: 2,888 blocks, 19 wide, 8 high, 19 deep."));
    wait_until(&tab, "document.querySelector('build-viewer')?.dataset.state === 'live'").await;
    assert!(tab.holds("document.getElementById('problems').hidden").await);
    tab.click("#take").await;
    wait_until(&tab, "!document.getElementById('formats').hidden").await;
    let file: String = tab.eval("document.querySelector('[data-format=stl]').getAttribute('href')").await;
    assert_eq!(server.get(&file).send().await.unwrap().status(), 200);
    tab.screenshot("sandbox-paste-good").await;
    write(&tab, &sample_spec(5)).await;
    assert_eq!(tab.text("#verdict").await, "The text has changed since it was checked.");
    assert!(
        tab.holds("document.getElementById('bring').hidden && document.getElementById('formats').hidden")
            .await
    );
}

#[tokio::test]
async fn errors_and_warnings_are_marked_at_their_lines_and_link_to_them() {
    let server = TestServer::start().await;
    let tab = open_paste_page(&server).await;
    let lines = [
        r#"{ "version": "1.0", "boxes": ["#,
        r#"  { "x1": 2, "y1": 0, "z1": 2, "x2": 20, "y2": 7, "z2": 20, "type": "bricks" },"#,
        r#"  { "x1": 2, "y1": 8, "z1": 2, "x2": 40, "y2": 8, "z2": 20, "type": "bricks" },"#,
        r#"  { "x1": 3, "y1": 9, "z1": 3, "x2": 4, "y2": 9, "z2": 4, "type": "lava_lamp" }"#,
        "] }",
    ];
    paste(&tab, &lines.join("\n")).await;
    wait_until(&tab, "document.querySelectorAll('#problems button').length === 2").await;
    assert!(tab.text("#problems").await.contains("Line 3, column 3 Reaches outside the grid"));
    assert!(
        tab.text("#problems")
            .await
            .contains("Line 4, column 3 There is no block “lava_lamp” in this palette.")
    );
    wait_until(&tab, "document.querySelectorAll('.gutter .warn').length === 2").await;
    wait_until(&tab, "document.querySelector('build-viewer')?.dataset.state === 'live'").await;
    tab.click("#problems li:nth-last-child(1) button").await;
    let selected =
        "(text => text.value.slice(text.selectionStart, text.selectionEnd))(document.activeElement)";
    assert_eq!(tab.eval::<String>(selected).await, lines[3].trim());
    tab.screenshot("sandbox-paste-warnings").await;

    paste(&tab, &lines.join("\n").replace("\"y1\": 9", "\"y1\": 9.5")).await;
    wait_until(&tab, "document.querySelector('.gutter .bad')?.textContent === '4'").await;
    assert!(tab.text("#problems").await.contains("Line 4"));
    let verdict = tab.text("#verdict").await;
    assert!(verdict.starts_with("This build cannot be read") && verdict.contains("boxes[2].y1"), "{verdict}");
    paste(&tab, &lines.join("\n").replacen("},", "}", 1)).await;
    wait_until(&tab, "document.querySelector('.gutter .bad')?.textContent === '3'").await;
    assert!(tab.text("#problems").await.contains("Line 3, column 3"));
    for (name, width, height, theme) in
        [("desk-dark", 1440, 900, Theme::Dark), ("phone-light", 390, 844, Theme::Light)]
    {
        tab.set_size(width, height).await;
        tab.set_theme(theme).await;
        tab.screenshot(&format!("sandbox-paste-error-{name}")).await;
        assert!(tab.holds("document.documentElement.scrollWidth <= innerWidth").await, "{name}");
    }
}

#[tokio::test]
async fn a_build_that_breaks_a_rule_is_shown_and_other_text_is_an_error() {
    let server = TestServer::start().await;
    let tab = open_paste_page(&server).await;
    tab.click("#check").await;
    wait_until(&tab, "document.getElementById('verdict').textContent.includes('Nothing to check')").await;
    paste(&tab, r#"{"version":"1.0","boxes":[{"x1":0,"y1":0,"z1":0,"x2":5,"y2":5,"z2":5,"type":"stone"}]}"#)
        .await;
    wait_until(&tab, "document.getElementById('verdict').textContent.includes('would be rejected')").await;
    wait_until(&tab, "document.querySelector('build-viewer')?.dataset.state === 'live'").await;
    assert!(tab.holds("document.getElementById('bring').hidden").await);
    paste(&tab, "no build at all").await;
    wait_until(&tab, "document.getElementById('verdict').textContent.includes('This build cannot be read')")
        .await;
    assert!(tab.holds("!document.querySelector('build-viewer')").await);
}

#[tokio::test]
async fn a_dropped_file_is_checked_and_a_large_one_is_not_put_into_the_text_field() {
    let server = TestServer::start().await;
    let tab = open_paste_page(&server).await;
    let drop = async |name: &str, text: String| {
        tab.run(&format!(
            "{{ const bag = new DataTransfer(); bag.items.add(new File([{text}], {name:?}));
                window.dispatchEvent(new DragEvent('dragover', {{ dataTransfer: bag, cancelable: true }}));
                window.dispatchEvent(new DragEvent('drop', {{ dataTransfer: bag, cancelable: true }})); }}"
        ))
        .await;
    };
    let lighthouse = fs::read_to_string("builds/32-simple/lighthouse/reference_architect.json").unwrap();
    drop("lighthouse.json", format!("{lighthouse:?}")).await;
    wait_until(&tab, "document.getElementById('verdict').classList.contains('good')").await;
    wait_until(&tab, "document.querySelector('build-viewer')?.dataset.state === 'live'").await;
    assert!(tab.holds("document.getElementById('text').value.startsWith('{')").await);
    drop("large.json", format!("' '.repeat(1200000) + {:?}", sample_spec(4))).await;
    wait_until(&tab, "!document.getElementById('held').hidden").await;
    wait_until(&tab, "document.getElementById('verdict').textContent.includes('2,888 blocks')").await;
    assert!(tab.text("#held").await.contains("large.json"));
    tab.click("#put-away").await;
    assert!(tab.holds("document.activeElement.id === 'text'").await);
    tab.run("File.prototype.text = async () => { throw new DOMException('', 'NotFoundError'); }").await;
    drop("things", "''".to_owned()).await;
    wait_until(&tab, "document.getElementById('verdict').textContent.includes('“things” cannot be read')")
        .await;
}

#[tokio::test]
async fn text_dropped_from_outside_is_checked_and_drags_within_the_page_are_ignored() {
    let server = TestServer::start().await;
    let tab = open_paste_page(&server).await;
    paste(&tab, &sample_spec(4)).await;
    wait_until(&tab, "document.getElementById('verdict').classList.contains('good')").await;
    let is_taken = async |onto: &str| {
        tab.eval::<bool>(&format!(
            "(bag => {{
                bag.setData('text/plain', 'another');
                return !{onto}.dispatchEvent(new DragEvent('drop', {{ dataTransfer: bag, bubbles: true, cancelable: true }}));
            }})(new DataTransfer())"
        ))
        .await
    };
    assert!(!is_taken("document.getElementById('text')").await);
    tab.run("window.dispatchEvent(new DragEvent('dragstart'))").await;
    assert!(!is_taken("document.body").await);
    let value = "document.getElementById('text').value";
    assert_eq!(tab.eval::<String>(value).await, sample_spec(4));
    tab.run("window.dispatchEvent(new DragEvent('dragend'))").await;
    assert!(is_taken("document.body").await);
    assert_eq!(tab.eval::<String>(value).await, "another");
}
