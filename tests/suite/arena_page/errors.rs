//! Errors around a vote, and how the page recovers.

use super::*;

#[tokio::test]
async fn a_failed_vote_keeps_the_matchup_and_can_be_sent_again() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    let builds: String = page.eval("document.querySelector('build-viewer').getAttribute('src')").await;
    for (answer, words) in [
        (r#""lost""#, "The server cannot be reached."),
        (
            r#"[500, { error: "Something broke on our side.", code: "internal" }]"#,
            "Something broke on our side.",
        ),
        (r#"[502, "not from us"]"#, "The server answered 502."),
        (
            r#"[429, { error: "Too many requests. Try again in 7 seconds.", code: "rate_limited" }, { "retry-after": "7" }]"#,
            "Too many requests. Try again in 7 seconds.",
        ),
    ] {
        page.run(&format!("answers = {{ '/vote': {answer} }}")).await;
        page.press("2").await;
        wait_for_condition(
            &page,
            &format!("document.getElementById('note').innerText.startsWith({words:?})"),
            &format!("It says: {words}"),
        )
        .await;
        assert_eq!(phase(&page).await, "ready", "{answer}");
        let same = "document.querySelector('build-viewer').getAttribute('src')";
        assert_eq!(page.eval::<String>(same).await, builds, "{answer}");
        assert_eq!(page.eval::<String>("document.activeElement.innerText").await, "Send again");
        page.run("document.activeElement.blur()").await;
    }
    page.screenshot("arena-failed").await;
    page.run("answers = {}").await;
    page.click("#note button").await;
    wait_until(&page, "revealed").await;
    assert_eq!(fixture.choices().await, ["B"]);
}

#[tokio::test]
async fn a_vote_on_a_closed_matchup_leads_to_a_new_one() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    let id = "(document.querySelector('build-viewer').getAttribute('src').split('/')[4])";

    let first: String = page.eval(id).await;
    sqlx::query("UPDATE open_matchups SET expires_at = now() - interval '1 minute'")
        .execute(&fixture.db.pool)
        .await
        .unwrap();
    page.press("1").await;
    wait_for_condition(
        &page,
        "document.getElementById('note').innerText.startsWith('This matchup has ended')",
        "It is over",
    )
    .await;
    page.click("#note button").await;
    wait_until(&page, "ready").await;
    let second: String = page.eval(id).await;
    assert_ne!(second, first);

    sqlx::raw_sql("DELETE FROM open_matchups; UPDATE matchups SET voter_id = gen_random_uuid()")
        .execute(&fixture.db.pool)
        .await
        .unwrap();
    page.press("1").await;
    wait_for_condition(&page, &format!("{id} !== {second:?}"), "Another matchup comes").await;
    wait_until(&page, "ready").await;
    assert!(page.text("#note").await.contains("is no longer yours"));
    assert_eq!(fixture.choices().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_vote_already_cast_in_another_tab_shows_that_vote() {
    let fixture = ArenaFixture::new().await;
    let page = fixture.open_ready_page().await;
    page.run(
        "var src = document.querySelector('build-viewer').getAttribute('src');
         (async () => { window.other = (await fetch('/api/arena/vote', {
             method: 'POST', headers: { 'content-type': 'application/json' },
             body: JSON.stringify({ matchupId: src.split('/')[4], choice: 'TIE' }),
         })).status })()",
    )
    .await;
    wait_for_condition(&page, "window.other === 200", "The other tab votes").await;
    page.press("1").await;
    wait_until(&page, "revealed").await;
    assert_eq!(page.text("[data-slot=choice]").await, "A tie.");
    assert_eq!(fixture.choices().await, ["TIE"]);
}

#[tokio::test]
async fn a_vote_that_comes_too_soon_waits_and_goes_out_by_itself() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("MIN_DWELL_MS", "3000")]).await;
    let page = open_page(&server.url_for("/?q=low")).await;
    wait_until(&page, "ready").await;
    page.press("1").await;
    wait_for_condition(
        &page,
        "document.getElementById('note').innerText.includes('look at both builds')",
        "It says that it waits",
    )
    .await;
    assert_eq!(phase(&page).await, "sending");
    wait_until(&page, "revealed").await;
}

#[tokio::test]
async fn without_webgl_voting_opens_with_the_pictures() {
    let fixture = ArenaFixture::new().await;
    let page =
        fixture.open_page_with_script("HTMLCanvasElement.prototype.getContext = () => null", "/").await;
    let pictures: Vec<u32> = page
        .eval("[...document.querySelectorAll('.side img')].map(img => img.complete && img.naturalWidth)")
        .await;
    assert_eq!(pictures, [768, 768]);
    page.screenshot("arena-without-webgl").await;
    page.press("1").await;
    wait_until(&page, "revealed").await;
}

#[tokio::test]
async fn without_pairs_the_page_says_what_to_do() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let page = open_page(&server.url).await;
    wait_until(&page, "closed").await;
    assert_eq!(page.text("#asked").await, "Nothing to compare yet");
    assert!(page.text("main").await.contains("buildoff import"));
}

#[tokio::test]
async fn a_failed_request_for_a_matchup_can_be_retried() {
    let fixture = ArenaFixture::new().await;
    let page = open_page("about:blank").await;
    page.add_init_script(&format!("{FAKE_FETCH} answers = {{ '/api/arena/matchup': 'lost' }}")).await;
    page.goto(&fixture.url_for("/")).await;
    wait_until(&page, "closed").await;
    assert_eq!(page.text("#why").await, "The server cannot be reached.");
    page.run("answers = {}").await;
    page.click("#again").await;
    wait_until(&page, "ready").await;
}
