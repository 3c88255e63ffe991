//! What asking models may cost, beside what it has cost.

use serde_json::json;

use super::{ConsoleFixture, cell, valid_response, wait_until};
use crate::support::assert_fits_everywhere;

#[tokio::test]
async fn a_budget_has_a_bar_and_is_told_at_the_top_once_it_is_used_up() {
    let fixture = ConsoleFixture::with_responses([valid_response()]).await;
    let path = "/api/admin/models/mason/budget";
    let set = fixture.api("PUT", path).json(&json!({ "dollars": 0.15 })).send().await.unwrap();
    assert_eq!(set.status(), 200);
    let mut page = fixture.open_signed_in("/admin").await;
    assert!(page.text("#budgets").await.contains("$0.00 of $0.15"));
    page.click(&cell("blue-door", "mason")).await;
    page.click("#panel [data-does=generate]").await;
    wait_until(&page, "document.querySelector('#pauses li')").await;
    assert_eq!(
        page.text("#pauses").await.trim(),
        "The budget of $0.15 for Mason 1 is used up. Jobs wait until you raise it."
    );
    assert!(page.text("#budgets").await.contains("Mason 1"));
    wait_until(&page, "document.querySelector('#budgets meter').value === 100").await;
    page.press("Escape").await;

    page.click(&cell("stone-bridge", "mason")).await;
    page.click("#panel [data-does=generate]").await;
    wait_until(
        &page,
        "document.querySelector('#panel [data-slot=state]').textContent === 'queued' \
         && document.querySelector('#panel [data-slot=more]').textContent === 'The model’s budget is used up.'",
    )
    .await;
    page.press("Escape").await;
    assert_eq!(fixture.provider.requests().len(), 1);
    page.reload().await;
    assert!(page.text("#pauses").await.contains("The budget of $0.15 for Mason 1 is used up."));
    assert_fits_everywhere(&mut page, "admin-budget").await;
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}
