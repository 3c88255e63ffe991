//! The arena without script, and what is shared after a vote.

use super::*;

#[tokio::test]
async fn looking_at_the_page_without_its_script_creates_nothing() {
    let hall = Hall::open().await;
    let answer = hall.site.get("/").send().await.unwrap();
    assert!(answer.headers().get("set-cookie").is_none());
    assert_eq!(hall.count("matchups").await, 0);
}

#[tokio::test]
async fn without_script_one_starts_looks_around_votes_and_goes_on() {
    let hall = Hall::open().await;
    let mut page = page("about:blank").await;
    page.without_script().await;
    page.goto(&hall.site.url).await;
    assert!(!page.eval::<bool>("document.getElementById('stage').checkVisibility()").await);
    page.shot("arena-without-script").await;
    assert!(!page.text("main").await.contains("AI model"), "only the house's own builders take part");
    page.click_plainly("#pick button").await;
    until_true(&page, "location.pathname.startsWith('/matchups/')", "Start leads to a matchup").await;
    assert_tells_nothing(&page).await;
    let asked = page.text("h1").await;

    page.click_plainly(".angles li:nth-child(4) a").await;
    let there = "location.search === '?angle=3' && [...document.querySelectorAll('.pictures img')].every(img => img.complete && img.naturalWidth === 512 && img.src.includes('angle=3'))";
    until_true(&page, there, "Both pictures are seen from the fourth angle").await;
    page.shot("voting-without-script").await;
    assert_tells_nothing(&page).await;

    page.click_plainly(".ballot button[value=B]").await;
    until_true(&page, "document.querySelectorAll('.who').length === 2", "The names come").await;
    assert_eq!(hall.choices().await, ["B"]);
    assert!(page.text("header + section, main").await.contains("The Architect"));
    assert!(page.text(".lede").await.contains("Your blind vote: B is better."));
    page.shot("revealed-without-script").await;

    page.click_plainly("noscript button").await;
    until_true(&page, &format!("location.pathname.startsWith('/matchups/') && document.querySelector('h1').innerText !== {asked:?}"), "Next leads to another").await;
    let here: String = page.eval("location.pathname").await;
    page.click_plainly(".skipping button").await;
    let further = format!("location.pathname.startsWith('/matchups/') && location.pathname !== {here:?}");
    until_true(&page, &further, "Skip leads to the next one").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_form_sent_too_soon_keeps_the_matchup_and_says_so() {
    let db = TestDb::seeded().await;
    let site = Site::open_as(db.pool.clone(), &[("MIN_DWELL_MS", "600000")]).await;
    let page = page("about:blank").await;
    page.without_script().await;
    page.goto(&site.url).await;
    page.click_plainly("#pick button").await;
    // Pictures that are still coming would push the button away from under the click.
    let is_there = "!!document.querySelector('.ballot') && document.readyState === 'complete'";
    until_true(&page, is_there, "Start leads to a matchup").await;
    page.click_plainly(".ballot button").await;
    until_true(&page, "!!document.querySelector('.notice')", "A notice").await;
    assert_eq!(page.text(".notice").await, "Please look at both builds for a moment first.");
    assert_eq!(page.eval::<u32>("document.querySelectorAll('.ballot button').length").await, 4);
}

#[tokio::test]
async fn a_matchup_is_its_voters_until_the_vote_and_everybodys_after_it() {
    let hall = Hall::open().await;
    let voter = hall.site.voter();
    let matchup = voter.matchup().await;
    let path = format!("/matchups/{}", matchup["id"].as_str().unwrap());
    let strangers = || async { hall.site.get(&path).send().await.unwrap().status().as_u16() };
    assert_eq!((voter.get(&path).await.status, strangers().await), (200, 404), "before the vote");
    assert_eq!(hall.site.get("/matchups/nonsense").send().await.unwrap().status(), 404);
    voter.skip(&matchup).await;
    assert_eq!((voter.get(&path).await.status, strangers().await), (200, 404), "skipped");
    assert!(voter.get(&path).await.text().contains("This matchup is over"));

    let matchup = voter.matchup().await;
    let path = format!("/matchups/{}", matchup["id"].as_str().unwrap());
    voter.vote(&matchup, "TIE").await;
    let page = page(&hall.at(&path)).await;
    until_true(
        &page,
        "[...document.querySelectorAll('build-viewer')].every(v => v.dataset.state === 'live')",
        "Both builds are live",
    )
    .await;
    assert!(page.text(".lede").await.contains("A blind vote said: Tie."));
    assert_eq!(page.text(".outcome h2").await, "The only vote on this pair so far");
    assert_eq!(
        page.text(".counts").await.split_whitespace().collect::<Vec<_>>().join(" "),
        "A 0 Tie 1 Both bad 0 B 0"
    );
}
