//! `/sandbox/compare`: stored builds side by side.

use buildoff::arena::catalog::Catalog;
use buildoff::arena::shipped_builds;
use uuid::Uuid;

use crate::support::db::TestDb;
use crate::support::{BrowserPage, TestServer, Theme, open_page};

/// A database with all shipped builds.
async fn db_with_shipped_builds() -> TestDb {
    let db = TestDb::new().await;
    shipped_builds::install(&db.pool, &Catalog::load(None).unwrap()).await.unwrap();
    db
}

/// The builds of one prompt, by model.
async fn of_one_prompt(db: &TestDb) -> Vec<Uuid> {
    let of = "SELECT id FROM builds WHERE grid_size = 32 AND prompt_id =
        (SELECT prompt_id FROM builds GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1) ORDER BY model_key";
    sqlx::query_scalar(of).fetch_all(&db.pool).await.unwrap()
}

fn query(builds: &[Uuid]) -> String {
    builds.iter().map(|id| format!("build={id}")).collect::<Vec<_>>().join("&")
}

async fn wait_for_viewers(page: &BrowserPage, viewers: usize) {
    super::run_page::wait_until(
        page,
        &format!("document.querySelectorAll('build-viewer[data-state=live]').length === {viewers}"),
    )
    .await;
}

#[tokio::test]
async fn four_builds_turn_together_and_the_url_reopens_them() {
    let db = db_with_shipped_builds().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let builds = of_one_prompt(&db).await;
    assert_eq!(builds.len(), 4);
    let tab = open_page(&server.url_for("/sandbox/compare")).await;
    tab.run("document.getElementById('prompt').selectedIndex = 1").await;
    tab.click("#pick button").await;
    super::run_page::wait_until(&tab, "document.getElementById('builds')").await;
    assert!(tab.holds("document.getElementById('compare').disabled").await);
    tab.goto(&server.url_for(&format!("/sandbox/compare?{}", query(&builds[..1])))).await;
    for build in &builds[1..] {
        tab.click(&format!("[value='{build}']")).await;
    }
    assert_eq!(tab.text("#chosen").await, "Four of four chosen.");
    tab.click("#compare").await;
    wait_for_viewers(&tab, 4).await;
    let address: String = tab.eval("location.href").await;
    assert!(builds.iter().all(|id| address.contains(&id.to_string())), "{address}");
    assert!(
        tab.holds(
            "new Set([...document.querySelectorAll('build-viewer')].map(one => one.camera)).size === 1"
        )
        .await
    );
    tab.run("document.querySelector('build-viewer canvas').scrollIntoView()").await;
    let turns = "[...document.querySelectorAll('build-viewer')].map(one => one.viewer.camera.turn)";
    let before: Vec<f64> = tab.eval(turns).await;
    tab.drag("build-viewer canvas", 80.0, 10.0).await;
    super::run_page::wait_until(
        &tab,
        &format!("{turns}.every(turn => Math.abs(turn - {}) > 0.05)", before[0]),
    )
    .await;
    for (name, width, height, theme) in
        [("desk-light", 1440, 900, Theme::Light), ("phone-dark", 390, 844, Theme::Dark)]
    {
        tab.set_size(width, height).await;
        tab.set_theme(theme).await;
        tab.screenshot(&format!("sandbox-compare-{name}")).await;
        assert!(tab.holds("document.documentElement.scrollWidth <= innerWidth").await, "{name}");
    }
    let shared = open_page(&address).await;
    wait_for_viewers(&shared, 4).await;
    assert_eq!(shared.text("#compared").await, tab.text("#compared").await);
}

#[tokio::test]
async fn without_script_builds_are_compared_as_pictures() {
    let db = db_with_shipped_builds().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let builds = of_one_prompt(&db).await;
    let answer = server.get(&format!("/sandbox/compare?{}", query(&builds[1..3]))).send().await.unwrap();
    let text = answer.text().await.unwrap();
    for build in &builds[1..3] {
        assert!(text.contains(&format!("<img src=\"/api/builds/{build}/image")), "{build}");
    }
    assert_eq!(text.matches("checked").count(), 2);
}

#[tokio::test]
async fn builds_that_cannot_be_compared_are_left_out_with_a_reason() {
    let db = db_with_shipped_builds().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let all: Vec<Uuid> = sqlx::query_scalar("SELECT DISTINCT ON (prompt_id) id FROM builds")
        .fetch_all(&db.pool)
        .await
        .unwrap();
    let nobody = Uuid::from_u128(7);
    for (query, shown, words) in [
        (query(&all[..2]), 1, "Builds of other prompts are left out"),
        (query(&all[..5]), 1, "Only four builds fit side by side"),
        (format!("build={nobody}"), 0, "Some of these builds could not be found"),
        (format!("build=x&{}", query(&all[..1])), 1, "Some of these builds could not be found"),
        ("prompt=nothing".to_owned(), 0, "Choose builds to compare"),
    ] {
        let answer = server.get(&format!("/sandbox/compare?{query}")).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{query}");
        let html = answer.text().await.unwrap();
        assert_eq!(html.matches("<build-viewer").count(), shown, "{query}");
        assert!(html.contains(words), "{query}");
    }
    db.run("UPDATE builds SET retired_at = now()").await;
    let retired = server.get(&format!("/sandbox/compare?{}", query(&all[..1]))).send().await.unwrap();
    assert!(retired.text().await.unwrap().contains("retired"));
    let empty = server.get("/sandbox/compare").send().await.unwrap();
    assert!(empty.text().await.unwrap().contains("No builds yet"));
}
