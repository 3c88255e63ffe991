//! The arena without script, and the share page after a vote.

use super::*;

#[tokio::test]
async fn looking_at_the_page_without_its_script_creates_nothing() {
    let fixture = ArenaFixture::new().await;
    let answer = fixture.server.get("/").send().await.unwrap();
    assert!(answer.headers().get("set-cookie").is_none());
    assert_eq!(fixture.count("matchups").await, 0);
}

#[tokio::test]
async fn without_script_a_visitor_can_start_turn_vote_and_continue() {
    let fixture = ArenaFixture::new().await;
    let mut page = open_page("about:blank").await;
    page.disable_scripts().await;
    page.goto(&fixture.server.url).await;
    assert!(!page.eval::<bool>("document.getElementById('stage').checkVisibility()").await);
    page.screenshot("arena-without-script").await;
    assert!(!page.text("main").await.contains("AI model"), "a new installation has only reference builders");
    page.click_without_script("#pick button").await;
    wait_for_condition(&page, "location.pathname.startsWith('/matchups/')", "Start leads to a matchup").await;
    assert_no_model_names(&page).await;
    let asked = page.text("h1").await;

    page.click_without_script(".angles li:nth-child(4) a").await;
    let there = "location.search === '?angle=3' && [...document.querySelectorAll('.pictures img')].every(img => img.complete && img.naturalWidth === 512 && img.src.includes('angle=3'))";
    wait_for_condition(&page, there, "Both pictures are seen from the fourth angle").await;
    page.screenshot("voting-without-script").await;
    assert_no_model_names(&page).await;

    page.click_without_script(".ballot button[value=B]").await;
    wait_for_condition(&page, "document.querySelectorAll('.who').length === 2", "The names come").await;
    assert_eq!(fixture.choices().await, ["B"]);
    assert!(page.text("header + section, main").await.contains("The Architect"));
    assert!(page.text(".lede").await.contains("Your blind vote: B is better."));
    page.screenshot("revealed-without-script").await;

    page.click_without_script("noscript button").await;
    wait_for_condition(&page, &format!("location.pathname.startsWith('/matchups/') && document.querySelector('h1').innerText !== {asked:?}"), "Next leads to another").await;
    let here: String = page.eval("location.pathname").await;
    page.click_without_script(".skipping button").await;
    let further = format!("location.pathname.startsWith('/matchups/') && location.pathname !== {here:?}");
    wait_for_condition(&page, &further, "Skip leads to the next one").await;
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_form_sent_too_soon_keeps_the_matchup_and_says_so() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("MIN_DWELL_MS", "600000")]).await;
    let page = open_page("about:blank").await;
    page.disable_scripts().await;
    page.goto(&server.url).await;
    page.click_without_script("#pick button").await;
    // Pictures that load later would move the button before it is clicked.
    let is_there = "!!document.querySelector('.ballot') && document.readyState === 'complete'";
    wait_for_condition(&page, is_there, "Start leads to a matchup").await;
    page.click_without_script(".ballot button").await;
    wait_for_condition(&page, "!!document.querySelector('.notice')", "A notice").await;
    assert_eq!(page.text(".notice").await, "Please look at both builds for a moment first.");
    assert_eq!(page.eval::<u32>("document.querySelectorAll('.ballot button').length").await, 4);
}

#[tokio::test]
async fn a_matchup_is_private_until_the_vote_and_public_afterwards() {
    let fixture = ArenaFixture::new().await;
    let voter = fixture.server.voter();
    let matchup = voter.matchup().await;
    let path = format!("/matchups/{}", matchup["id"].as_str().unwrap());
    let strangers = || async { fixture.server.get(&path).send().await.unwrap().status().as_u16() };
    assert_eq!((voter.get(&path).await.status, strangers().await), (200, 404), "before the vote");
    assert_eq!(fixture.server.get("/matchups/nonsense").send().await.unwrap().status(), 404);
    voter.skip(&matchup).await;
    assert_eq!((voter.get(&path).await.status, strangers().await), (200, 404), "skipped");
    assert!(voter.get(&path).await.text().contains("This matchup is over"));

    let matchup = voter.matchup().await;
    let path = format!("/matchups/{}", matchup["id"].as_str().unwrap());
    voter.vote(&matchup, "TIE").await;
    let page = open_page(&fixture.url_for(&path)).await;
    wait_for_condition(
        &page,
        "[...document.querySelectorAll('build-viewer')].every(v => v.dataset.state === 'live')",
        "Both builds are live",
    )
    .await;
    assert!(page.text(".lede").await.contains("Result of a blind vote: Tie."));
    assert_eq!(page.text(".outcome h2").await, "The only vote on this pair so far");
    assert_eq!(
        page.text(".counts").await.split_whitespace().collect::<Vec<_>>().join(" "),
        "A 0 Tie 1 Both bad 0 B 0"
    );
}
