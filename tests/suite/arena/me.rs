//! `/me` and `/about`.

use buildoff::arena::voter_history::PAGE;
use serde_json::{Value, json};
use sqlx::types::Uuid;

use super::insert_identical_builds;
use crate::support::db::TestDb;
use crate::support::{TestServer, TestVoter, assert_fits_everywhere, open_page, server_with_builds};

const ARCHITECT: &str = "reference_architect";
const SCULPTOR: &str = "reference_sculptor";

/// Votes on a prompt for this model, on whichever side it is, or votes `TIE` or `BOTH_BAD`.
async fn vote_for(db: &TestDb, voter: &TestVoter, prompt: &str, verdict: &str) -> Value {
    let matchup = voter.matchup_on(prompt).await.json();
    let id: Uuid = matchup["id"].as_str().unwrap().parse().unwrap();
    let left: String = sqlx::query_scalar("SELECT model_a FROM matchups WHERE id = $1")
        .bind(id)
        .fetch_one(&db.pool)
        .await
        .unwrap();
    let choice = match verdict {
        "TIE" | "BOTH_BAD" => verdict,
        model if model == left => "A",
        _ => "B",
    };
    assert_eq!(voter.vote(&matchup, choice).await.status, 200);
    matchup
}

#[tokio::test]
async fn a_visitor_without_votes_is_sent_to_the_arena_without_a_session() {
    let (_db, server) = server_with_builds().await;
    let stranger = server.voter();
    let looking = server.voter();
    looking.matchup().await;
    for visitor in [&stranger, &looking] {
        let answer = visitor.get("/me").await;
        assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"));
        let html = answer.text();
        assert!(html.contains("You have not voted yet") && html.contains("href=\"/\">Go to the arena</a>"));
    }
    assert_eq!(stranger.cookie(), None);
}

/// Counted by hand: the voter agrees with the others on the treehouse (2 of 3 for the Architect) and on the
/// ship (one tie and one for the Sculptor, so no choice is more frequent), and disagrees on the dragon (twice
/// both bad). Nobody else voted on the lighthouse.
#[tokio::test]
async fn the_me_page_shows_choices_and_agreement_with_others() {
    let (db, server) = server_with_builds().await;
    let (me, others) = (server.voter(), [server.voter(), server.voter(), server.voter()]);
    for (prompt, mine, theirs) in [
        ("treehouse", ARCHITECT, vec![ARCHITECT, ARCHITECT, SCULPTOR]),
        ("pirate-ship", "TIE", vec!["TIE", SCULPTOR]),
        ("sleeping-dragon", SCULPTOR, vec!["BOTH_BAD", "BOTH_BAD", SCULPTOR]),
        ("lighthouse", "BOTH_BAD", vec![]),
    ] {
        for (other, verdict) in others.iter().zip(theirs) {
            vote_for(&db, other, prompt, verdict).await;
        }
        vote_for(&db, &me, prompt, mine).await;
    }
    let html = me.get("/me").await.text();
    let text = main_text(&html);
    for part in [
        "4 votes since",
        "2 of 3 times you agreed with the others.",
        "The Architect over The Sculptor",
        "A tie of ",
        "The Sculptor over The Architect",
        "Neither The ",
        // The columns: seen, preferred, not preferred, tie, both bad.
        "The Architect 4 1 1 1 1",
        "The Sculptor 4 1 1 1 1",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let order: Vec<usize> = ["lighthouse", "dragon", "pirate ship", "treehouse"]
        .map(|prompt| html.rfind(prompt).unwrap_or_else(|| panic!("no {prompt}")))
        .into();
    assert!(order.is_sorted(), "the newest vote must come first");
    let matchups: Vec<Uuid> = sqlx::query_scalar(
        "SELECT matchups.id FROM matchups JOIN votes ON matchup_id = matchups.id ORDER BY votes.id DESC LIMIT 1",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert!(html.contains(&format!("href=\"/matchups/{}\"", matchups[0])));
    let other = main_text(&others[2].get("/me").await.text());
    assert!(other.contains("2 votes since") && other.contains("0 of 2 times"), "{other}");
}

#[tokio::test]
async fn older_votes_are_on_further_pages() {
    let db = TestDb::seeded().await;
    insert_identical_builds(&db, 4, 8).await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let me = server.voter();
    for _ in 0..PAGE + 2 {
        assert_eq!(me.vote(&me.matchup().await, "A").await.status, 200);
    }
    let first = me.get("/me").await.text();
    assert_eq!(first.matches("<time").count() as i64, PAGE);
    let link = first.split("href=\"/me?before=").nth(1).unwrap().split('"').next().unwrap();
    let third = db.number("SELECT id FROM votes ORDER BY id OFFSET 2 LIMIT 1").await;
    assert_eq!(link, third.to_string());
    let second = me.get(&format!("/me?before={third}")).await.text();
    assert_eq!(second.matches("<time").count(), 2);
    assert!(!second.contains("before=") && !second.contains("You and the others"));
    assert!(me.get("/me?before=1").await.text().contains("No older votes"));
    for query in ["before=x", "before=-1", "before=99999999999999999999"] {
        assert_eq!(me.get(&format!("/me?{query}")).await.text(), first, "{query}");
    }
}

#[tokio::test]
async fn about_shows_the_numbers_of_this_installation() {
    let (db, server) = server_with_builds().await;
    let empty = main_text(&server.get("/about").send().await.unwrap().text().await.unwrap());
    for part in [
        "votes 0",
        "models 2",
        "prompts 5",
        "32 · simple · precise",
        "all 2 models are references",
        "not enough votes yet",
    ] {
        assert!(empty.contains(part), "{part:?} is not in {empty}");
    }
    let voter = server.voter();
    vote_for(&db, &voter, "treehouse", ARCHITECT).await;
    voter.fetch_builds(&voter.matchup().await).await;
    // The first server caches its counts for a while, so a second one is needed. It finds stored statistics.
    let later = TestServer::start_with_env(db.pool.clone(), &[("MIN_DWELL_MS", "2500")]).await;
    later.get("/about").send().await.unwrap();
    let side = json!({ "points": -12.34, "low": -30.0, "high": 5.26 });
    let ties = json!({ "nu": 0.5, "low": 0.25, "high": 0.862 });
    db.run(&format!(
        "
        UPDATE ladder_stats
        SET stats = jsonb_set(jsonb_set(stats::jsonb, '{{fit,side}}', '{side}'), '{{fit,ties}}', '{ties}')::json
        "
    ))
    .await;
    let later = TestServer::start_with_env(db.pool.clone(), &[("MIN_DWELL_MS", "2500")]).await;
    let text = main_text(&later.get("/about").send().await.unwrap().text().await.unwrap());
    for part in [
        "vote 1",
        "voter 1",
        "matchups shown 1",
        "for 2.5 seconds",
        "−12.3 points",
        "from −30.0 to +5.3",
        "may well be chance",
        "20 % of votes are ties, with a 95 % interval from 11 % to 30 %",
        "ν = 0.50, from 0.25 to 0.86",
        // By the formula: 16 against an equal, 16 × 10/11 against a model 400 below, and the baseline for both bad.
        "A is better 1,500 1,500 +8.0 −8.0",
        "A is better 1,700 1,300 +1.5 −1.5",
        "B is better 1,700 1,300 −14.5 +14.5",
        "Both bad 1,700 1,300 −12.2 −3.8",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert_eq!(db.number("SELECT count(*) FROM sessions").await, 1, "reading must create no session");
}

#[tokio::test]
async fn about_works_without_the_database() {
    let server = TestServer::start().await;
    let answer = server.get("/about").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let text = main_text(&answer.text().await.unwrap());
    assert!(text.contains("Vote counts are unavailable") && text.contains("Why the two differ"), "{text}");
}

#[tokio::test]
async fn every_link_of_about_works() {
    let (_db, server) = server_with_builds().await;
    let page = open_page(&server.url_for("/about")).await;
    let broken: Vec<String> = page
        .eval("[...document.querySelectorAll('main a[href^=\"#\"]')].map(a => a.hash.slice(1)).filter(id => !document.getElementById(id))")
        .await;
    assert_eq!(broken, Vec::<String>::new());
    let files: Vec<String> = page
        .eval("[...document.querySelectorAll('main a[href^=\"/api/\"]')].map(a => a.getAttribute('href'))")
        .await;
    assert_eq!(files, ["/api/votes.csv", "/api/votes.jsonl", "/api/dataset.tar"]);
}

#[tokio::test]
async fn both_pages_fit_every_size_and_theme_without_errors() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let voter = server.voter();
    for (prompt, verdict) in [
        ("treehouse", ARCHITECT),
        ("pirate-ship", "TIE"),
        ("sleeping-dragon", SCULPTOR),
        ("lighthouse", "BOTH_BAD"),
        ("steam-locomotive", SCULPTOR),
    ] {
        let other = server.voter();
        vote_for(&db, &other, prompt, ARCHITECT).await;
        vote_for(&db, &voter, prompt, verdict).await;
    }
    let mut page = open_page(&server.url_for("/me")).await;
    assert_fits_everywhere(&mut page, "me-empty").await;
    page.run(&format!("document.cookie = {:?}", voter.cookie().unwrap())).await;
    page.reload().await;
    assert!(page.text("h2").await.contains("You and the others"));
    assert_fits_everywhere(&mut page, "me").await;
    page.goto(&server.url_for("/about")).await;
    assert_fits_everywhere(&mut page, "about").await;
}

/// The text between the tags, with single spaces.
fn main_text(html: &str) -> String {
    let main = html.split("<main").nth(1).unwrap();
    let text = main.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
    text.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}
