//! What is paused, at the top of the console.

use serde_json::json;

use super::{ConsoleFixture, cell, valid_response, wait_until};
use crate::support::{FakeResponse, assert_fits_everywhere};

#[tokio::test]
async fn a_paused_provider_is_told_at_the_top_and_resumed_there() {
    let refusal = json!({ "error": { "message": "That key is not known here.", "code": "invalid_api_key" } });
    let fixture = ConsoleFixture::with_responses([FakeResponse::json(401, &refusal), valid_response()]).await;
    let mut page = fixture.open_signed_in("/admin").await;
    page.click(&cell("blue-door", "mason")).await;
    page.click("#panel [data-does=generate]").await;
    wait_until(&page, "document.querySelector('#pauses button')").await;
    let said = page.text("#pauses").await;
    assert!(
        said.contains("Local is paused until you resume it: it does not accept the API key. One job waits.")
            && said.contains("That key is not known here."),
        "{said}"
    );
    wait_until(
        &page,
        "document.querySelector('#panel [data-slot=state]').textContent === 'queued' \
         && document.querySelector('#panel [data-slot=more]').textContent === 'Local is paused.'",
    )
    .await;
    page.press("Escape").await;
    assert_fits_everywhere(&mut page, "admin-paused").await;

    page.click("#pauses button").await;
    wait_until(&page, &format!("document.querySelector({:?} + ' img')", cell("blue-door", "mason"))).await;
    wait_until(&page, "document.getElementById('pauses').hidden").await;
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn the_queue_is_paused_and_resumed_with_a_button() {
    let fixture = ConsoleFixture::with_responses([valid_response()]).await;
    let page = fixture.open_signed_in("/admin").await;
    page.click("[data-order=pause]").await;
    wait_until(&page, "document.querySelector('#pauses button')").await;
    assert!(page.text("#pauses").await.contains("The queue is paused."));
    page.click(&cell("blue-door", "mason")).await;
    page.click("#panel [data-does=generate]").await;
    wait_until(
        &page,
        "document.querySelector('#panel [data-slot=more]').textContent === 'The queue is paused.'",
    )
    .await;
    assert!(fixture.provider.requests().is_empty());
    page.press("Escape").await;

    page.click("#pauses button").await;
    wait_until(&page, &format!("document.querySelector({:?} + ' img')", cell("blue-door", "mason"))).await;
    assert!(page.holds("document.getElementById('pauses').hidden").await);
}
