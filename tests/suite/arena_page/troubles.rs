//! What goes wrong around a vote, and how the page gets over it.

use super::*;

#[tokio::test]
async fn a_vote_that_fails_keeps_the_matchup_and_can_be_sent_again() {
    let hall = Hall::open().await;
    let page = hall.ready().await;
    let builds: String = page.eval("document.querySelector('build-viewer').getAttribute('src')").await;
    for (answer, words) in [
        (r#""lost""#, "The server cannot be reached."),
        (
            r#"[500, { error: "Something broke on our side.", code: "internal" }]"#,
            "Something broke on our side.",
        ),
        (r#"[502, "not from us"]"#, "The server answered 502."),
        (
            r#"[429, { error: "That was a little fast. Please wait 7 seconds and go on.", code: "rate_limited" }, { "retry-after": "7" }]"#,
            "That was a little fast. Please wait 7 seconds and go on.",
        ),
    ] {
        page.run(&format!("answers = {{ '/vote': {answer} }}")).await;
        page.press("2").await;
        until_true(
            &page,
            &format!("document.getElementById('note').innerText.startsWith({words:?})"),
            &format!("It says: {words}"),
        )
        .await;
        assert_eq!(phase(&page).await, "ready", "{answer}");
        let same = "document.querySelector('build-viewer').getAttribute('src')";
        assert_eq!(page.eval::<String>(same).await, builds, "{answer}");
        assert_eq!(page.eval::<String>("document.activeElement.innerText").await, "Send it again");
        page.run("document.activeElement.blur()").await;
    }
    page.shot("arena-failed").await;
    page.run("answers = {}").await;
    page.click("#note button").await;
    until(&page, "revealed").await;
    assert_eq!(hall.choices().await, ["B"]);
}

#[tokio::test]
async fn a_vote_that_cannot_count_leads_to_a_matchup_that_can() {
    let hall = Hall::open().await;
    let page = hall.ready().await;
    let id = "(document.querySelector('build-viewer').getAttribute('src').split('/')[4])";

    let first: String = page.eval(id).await;
    sqlx::query("UPDATE open_matchups SET expires_at = now() - interval '1 minute'")
        .execute(&hall.db.pool)
        .await
        .unwrap();
    page.press("1").await;
    until_true(
        &page,
        "document.getElementById('note').innerText.startsWith('This matchup is over')",
        "It is over",
    )
    .await;
    page.click("#note button").await;
    until(&page, "ready").await;
    let second: String = page.eval(id).await;
    assert_ne!(second, first);

    sqlx::raw_sql("DELETE FROM open_matchups; UPDATE matchups SET voter_id = gen_random_uuid()")
        .execute(&hall.db.pool)
        .await
        .unwrap();
    page.press("1").await;
    until_true(&page, &format!("{id} !== {second:?}"), "Another matchup comes").await;
    until(&page, "ready").await;
    assert!(page.text("#note").await.contains("was not yours any more"));
    assert_eq!(hall.choices().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_vote_that_another_tab_was_faster_with_shows_what_that_one_said() {
    let hall = Hall::open().await;
    let page = hall.ready().await;
    page.run(
        "var src = document.querySelector('build-viewer').getAttribute('src');
         (async () => { window.other = (await fetch('/api/arena/vote', {
             method: 'POST', headers: { 'content-type': 'application/json' },
             body: JSON.stringify({ matchupId: src.split('/')[4], choice: 'TIE' }),
         })).status })()",
    )
    .await;
    until_true(&page, "window.other === 200", "The other tab votes").await;
    page.press("1").await;
    until(&page, "revealed").await;
    assert_eq!(page.text("[data-slot=choice]").await, "A tie.");
    assert_eq!(hall.choices().await, ["TIE"]);
}

#[tokio::test]
async fn a_vote_that_comes_too_soon_waits_and_goes_out_by_itself() {
    let db = TestDb::seeded().await;
    let site = Site::open_as(db.pool.clone(), &[("MIN_DWELL_MS", "3000")]).await;
    let page = page(&site.at("/?q=low")).await;
    until(&page, "ready").await;
    page.press("1").await;
    until_true(
        &page,
        "document.getElementById('note').innerText.includes('look at both builds')",
        "It says that it waits",
    )
    .await;
    assert_eq!(phase(&page).await, "sending");
    until(&page, "revealed").await;
}

#[tokio::test]
async fn without_webgl_voting_opens_with_the_pictures() {
    let hall = Hall::open().await;
    let page = hall.prepared("HTMLCanvasElement.prototype.getContext = () => null", "/").await;
    let pictures: Vec<u32> = page
        .eval("[...document.querySelectorAll('.side img')].map(img => img.complete && img.naturalWidth)")
        .await;
    assert_eq!(pictures, [768, 768]);
    page.shot("arena-without-webgl").await;
    page.press("1").await;
    until(&page, "revealed").await;
}

#[tokio::test]
async fn where_there_is_nothing_to_compare_it_says_what_to_do() {
    let db = TestDb::new().await;
    let site = Site::open_on(db.pool.clone()).await;
    let page = page(&site.url).await;
    until(&page, "closed").await;
    assert_eq!(page.text("#asked").await, "Nothing to compare yet");
    assert!(page.text("main").await.contains("buildoff import"));
}

#[tokio::test]
async fn an_arena_that_does_not_answer_can_be_asked_again() {
    let hall = Hall::open().await;
    let page = page("about:blank").await;
    page.before_load(&format!("{ANSWERS} answers = {{ '/api/arena/matchup': 'lost' }}")).await;
    page.goto(&hall.at("/")).await;
    until(&page, "closed").await;
    assert_eq!(page.text("#why").await, "The server cannot be reached.");
    page.run("answers = {}").await;
    page.click("#again").await;
    until(&page, "ready").await;
}
