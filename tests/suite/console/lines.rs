//! Actions on rows, columns and reasons of the matrix, and what its filter hides.

use super::{ConsoleFixture, cell, confirm, open_signed_in, unknown_model, valid_response, wait_until};
use crate::support::{BrowserPage, assert_fits_everywhere};

const COLUMN: &str = "#matrix th[data-model=mason] button";
const ROW: &str = "#matrix tr[data-prompt=blue-door] th button";

async fn choose(page: &BrowserPage, filter: &str) {
    let script = format!(
        "{{ const only = document.getElementById('only'); only.value = {filter:?}; only.dispatchEvent(new Event('change', {{ bubbles: true }})) }}"
    );
    page.run(&script).await;
}

#[tokio::test]
async fn a_column_generates_what_is_missing_and_a_row_only_its_own() {
    let fixture = ConsoleFixture::with_handler(|_| valid_response()).await;
    let mut page = fixture.open_signed_in("/admin").await;
    page.click(ROW).await;
    wait_until(&page, "document.getElementById('line-panel').open").await;
    assert_eq!(page.text("#line-title").await, "A blue door");
    assert_eq!(
        page.text("#line-panel [data-slot=counts]").await,
        "1 missing, 2 that cannot be generated or are switched off."
    );
    assert!(page.holds("document.querySelector('[data-line=failed]').hidden && document.querySelector('[data-line=cancel]').hidden").await);
    page.click("[data-line=missing]").await;
    wait_until(&page, "document.getElementById('sure').open").await;
    assert_eq!(page.text("#sure-title").await, "Generate one build?");
    confirm(&page).await;
    wait_until(&page, &format!("document.querySelector({:?} + ' img')", cell("blue-door", "mason"))).await;
    wait_until(&page, "!document.getElementById('line-panel').open").await;
    assert_eq!(fixture.provider.requests().len(), 1);

    page.click(COLUMN).await;
    wait_until(&page, "document.getElementById('line-panel').open").await;
    assert_eq!(page.text("#line-panel [data-slot=counts]").await, "1 ready, 1 missing.");
    page.click("[data-line=missing]").await;
    confirm(&page).await;
    wait_until(&page, &format!("document.querySelector({:?} + ' img')", cell("stone-bridge", "mason"))).await;
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn failed_builds_are_listed_by_reason_and_retried_by_it_or_by_their_column() {
    let fixture = ConsoleFixture::with_handler(|_| unknown_model()).await;
    let mut page = fixture.open_signed_in("/admin").await;
    assert!(page.holds("document.getElementById('reasons').hidden").await);
    page.click(COLUMN).await;
    page.click("[data-line=missing]").await;
    confirm(&page).await;
    wait_until(&page, "document.querySelector('#reasons b')?.textContent === '2'").await;
    assert!(page.text("#reasons li").await.contains("The provider does not know the model no_such_model"));
    assert_fits_everywhere(&mut page, "admin-reasons").await;

    page.click("#reasons button").await;
    wait_until(&page, "document.getElementById('sure').open").await;
    assert_eq!(page.text("#sure-title").await, "Generate 2 builds?");
    confirm(&page).await;
    fixture.provider.wait_for_requests(4).await;
    fixture.wait_for_jobs_to_end().await;
    // A page opened now shows the end, not a state on the way there.
    page.goto(&fixture.server.url_for("/admin")).await;
    page.click(COLUMN).await;
    assert_eq!(page.text("#line-panel [data-slot=counts]").await, "2 failed or cancelled.");
    assert_eq!(page.text("[data-line=failed]").await, "Retry failed (2)");
    page.click("[data-line=failed]").await;
    confirm(&page).await;
    fixture.provider.wait_for_requests(6).await;
}

#[tokio::test]
async fn a_column_cancels_what_is_in_progress() {
    let fixture = ConsoleFixture::with_responses([]).await;
    fixture.api("POST", "/api/admin/queue/pause").send().await.unwrap();
    fixture.api("POST", "/api/admin/seed?background=1").send().await.unwrap();
    let page = open_signed_in(&fixture.server, "/admin").await;
    page.click(COLUMN).await;
    wait_until(
        &page,
        "document.querySelector('#line-panel [data-slot=counts]').textContent === '2 in progress.'",
    )
    .await;
    page.click("[data-line=cancel]").await;
    wait_until(&page, "document.getElementById('sure').open").await;
    assert_eq!(page.text("#sure-title").await, "Stop these jobs?");
    confirm(&page).await;
    wait_until(&page, "document.getElementById('outcome').textContent === '2 builds cancelled.'").await;
    wait_until(&page, "document.querySelector('[data-sum=underWay]').textContent === '0'").await;
}

#[tokio::test]
async fn nothing_moves_when_the_notice_of_a_pause_gets_its_button() {
    let fixture = ConsoleFixture::with_responses([]).await;
    fixture.api("POST", "/api/admin/queue/pause").send().await.unwrap();
    let page = fixture.open_signed_in("/admin").await;
    let height = "document.getElementById('pauses').offsetHeight";
    wait_until(&page, "document.querySelector('#pauses button:not([disabled])')").await;
    let wide: i64 = page.eval(height).await;
    page.set_size(390, 844).await;
    let narrow: i64 = page.eval(height).await;
    page.disable_scripts().await;
    page.reload().await;
    assert_eq!(page.eval::<i64>(height).await, narrow);
    page.set_size(1440, 900).await;
    assert_eq!(page.eval::<i64>(height).await, wide);
}

#[tokio::test]
async fn a_filter_hides_the_rows_and_columns_that_it_empties() {
    let fixture = ConsoleFixture::with_responses([]).await;
    fixture.import("stone-bridge", "house").await;
    let page = fixture.open_signed_in("/admin").await;
    let shown = "[...document.querySelectorAll('#matrix :is(thead th, tbody tr)')].filter(line => line.checkVisibility()).map(line => line.dataset.model ?? line.dataset.prompt).join(' ')";
    let all = "mason potter house blue-door stone-bridge";
    assert_eq!(page.eval::<String>(shown).await, all);
    for (filter, left) in
        [("ready", "house stone-bridge"), ("missing", "mason blue-door stone-bridge"), ("", all)]
    {
        choose(&page, filter).await;
        assert_eq!(page.eval::<String>(shown).await, left, "{filter}");
    }
    // What appears while the filter is set appears with its row and column.
    choose(&page, "ready").await;
    fixture.import("blue-door", "potter").await;
    wait_until(&page, &format!("{shown} === 'potter house blue-door stone-bridge'")).await;
    assert_eq!(fixture.db.number("SELECT count(*) FROM builds").await, 2);
}
