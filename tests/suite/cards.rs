//! Preview cards: the pictures and meta tags of shared links.

use serde_json::Value;
use uuid::Uuid;

use crate::support::db::TestDb;
use crate::support::{TestServer, TestVoter, server_with_builds};

async fn a_build(db: &TestDb) -> Uuid {
    let id =
        sqlx::query_scalar("SELECT id FROM builds WHERE prompt_id = 'steam-locomotive' ORDER BY model_key");
    id.fetch_one(&db.pool).await.unwrap()
}

async fn vote(voter: &TestVoter) -> String {
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
    matchup["id"].as_str().unwrap().to_owned()
}

/// The content of a page's meta tags, by property.
async fn meta_tags(server: &TestServer, path: &str) -> impl Fn(&str) -> String {
    let html = server.get(path).send().await.unwrap().text().await.unwrap();
    move |property| {
        let found = html.split_once(&format!("property=\"{property}\" content=\""));
        found
            .and_then(|(_, rest)| rest.split_once('"'))
            .map(|(content, _)| content.to_owned())
            .unwrap_or_default()
    }
}

fn size(png: &[u8]) -> (u32, u32) {
    let decoder = png::Decoder::new(std::io::Cursor::new(png));
    let info = decoder.read_info().unwrap();
    (info.info().width, info.info().height)
}

#[tokio::test]
async fn every_kind_of_page_has_a_card() {
    let (db, server) = server_with_builds().await;
    let build = a_build(&db).await;
    let matchup = vote(&server.voter()).await;
    for (path, card, title) in [
        (format!("/builds/{build}"), format!("/cards/builds/{build}.png"), "A steam locomotive by The "),
        (
            "/prompts/lighthouse".to_owned(),
            "/cards/prompts/lighthouse.png".to_owned(),
            "A lighthouse on a rocky island",
        ),
        (
            "/models/reference_architect".to_owned(),
            "/cards/models/reference_architect.png".to_owned(),
            "The Architect",
        ),
        (format!("/matchups/{matchup}"), format!("/cards/matchups/{matchup}.png"), " against "),
        ("/leaderboard".to_owned(), "/cards/leaderboard.png".to_owned(), "Which AI model"),
        ("/about".to_owned(), "/cards/buildoff.png".to_owned(), "Buildoff"),
        ("/".to_owned(), "/cards/buildoff.png".to_owned(), "Buildoff"),
    ] {
        let meta = meta_tags(&server, &path).await;
        assert_eq!(meta("og:image"), server.url_for(&card), "{path}");
        assert_eq!(meta("og:url"), "", "{path} has a canonical URL although no public URL is configured");
        assert!(meta("og:title").contains(title), "{path}: {}", meta("og:title"));
        assert!(!meta("og:description").is_empty() && !meta("og:image:alt").is_empty(), "{path}");

        let answer = server.get(&card).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{card}");
        assert_eq!(answer.headers()["content-type"], "image/png");
        let keep = answer.headers()["cache-control"].to_str().unwrap().to_owned();
        assert!(keep.starts_with("public, max-age="), "{card}: {keep}");
        let tag = answer.headers()["etag"].clone();
        let png = answer.bytes().await.unwrap();
        assert_eq!(size(&png), (1200, 630), "{card}");
        assert!(png.len() < 600_000, "{card} has {} bytes", png.len());
        assert!(!tag.to_str().unwrap().starts_with("W/"));
        let known = server.get(&card).header("if-none-match", tag).send().await.unwrap();
        assert_eq!(known.status(), 304, "{card}");
    }
}

#[tokio::test]
async fn card_urls_use_the_public_url_and_never_an_invalid_host() {
    let (db, plain) = server_with_builds().await;
    let server =
        TestServer::start_with_env(db.pool.clone(), &[("PUBLIC_URL", "https://buildoff.example")]).await;
    let meta = meta_tags(&server, "/about").await;
    assert_eq!(meta("og:image"), "https://buildoff.example/cards/buildoff.png");
    assert_eq!(meta("og:url"), "https://buildoff.example/about");
    assert_eq!(
        meta_tags(&server, "/leaderboard?sort=votes").await("og:url"),
        "",
        "a view of the page must have no canonical URL"
    );
    assert_eq!(
        meta_tags(&server, "/no/such/page").await("og:url"),
        "",
        "an unknown page must have no canonical URL"
    );

    for host in ["a\"><script>", "evil@example.org"] {
        let answer = plain.get("/about").header("host", host).send().await.unwrap();
        let html = answer.text().await.unwrap();
        assert!(!html.contains(host) && html.contains("http://localhost:3000/cards/buildoff.png"), "{host}");
    }
}

#[tokio::test]
async fn a_matchups_card_shows_the_outcome_only_after_the_vote() {
    let (_db, server) = server_with_builds().await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    let id = matchup["id"].as_str().unwrap();
    let card = format!("/cards/matchups/{id}.png");
    assert_eq!(voter.get(&card).await.status, 404, "before the vote not even its voter may see the card");
    let page = voter.get(&format!("/matchups/{id}")).await;
    let html = String::from_utf8_lossy(&page.bytes).into_owned();
    assert!(
        html.contains("/cards/buildoff.png") && !html.contains(&card),
        "before the vote the page must have the site's card"
    );

    voter.fetch_builds(&matchup).await;
    assert_eq!(voter.vote(&matchup, "B").await.status, 200);
    let shown = server.get(&card).send().await.unwrap();
    assert_eq!(shown.status(), 200);
    assert_eq!(size(&shown.bytes().await.unwrap()), (1200, 630));
}

#[tokio::test]
async fn a_cards_url_changes_with_its_content_and_any_name_can_be_drawn() {
    let (db, server) = server_with_builds().await;
    let tag = async |path: &str| {
        let answer = server.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
        assert_eq!(size(&answer.bytes().await.unwrap()), (1200, 630));
        tag
    };
    let paths = [
        "/cards/models/reference_architect.png".to_owned(),
        format!("/cards/builds/{}.png", a_build(&db).await),
    ];
    for path in &paths {
        let before = tag(path).await;
        let mut seen = vec![before];
        for name in ["<script>&amp;\"'", "\u{202e}שלום \u{7}\u{1b}", "🚒👩‍🚀 灯塔", &"long ".repeat(16)]
        {
            sqlx::query("UPDATE models SET display_name = $1").bind(name).execute(&db.pool).await.unwrap();
            let now = tag(path).await;
            seen.push(now);
        }
        seen.sort();
        seen.dedup();
        assert!(seen.len() >= 4, "the card of {path} must change with every name: {seen:?}");
        db.run("UPDATE models SET display_name = 'Somebody'").await;
    }
}

#[tokio::test]
async fn an_unknown_card_is_not_found() {
    let (_db, server) = server_with_builds().await;
    for path in [
        "/cards/builds/nothing.png",
        "/cards/builds/00000000-0000-0000-0000-000000000000.png",
        "/cards/models/nobody.png",
        "/cards/models/reference_architect.jpg",
        "/cards/prompts/nothing.png",
        "/cards/matchups/00000000-0000-0000-0000-000000000000.png",
        "/cards/nothing.png",
    ] {
        assert_eq!(server.get(path).send().await.unwrap().status(), 404, "{path}");
    }
}

#[tokio::test]
async fn an_empty_site_has_cards_too() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    for path in ["/cards/leaderboard.png", "/cards/buildoff.png"] {
        let answer = server.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(size(&answer.bytes().await.unwrap()), (1200, 630));
    }
    let board: Value = server.get("/api/leaderboard").send().await.unwrap().json().await.unwrap();
    assert_eq!(board["models"].as_array().map(Vec::len), Some(0));
}
