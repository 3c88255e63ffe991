//! Before the vote, nothing identifies the models of a matchup.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use buildoff::arena::builds;
use serde_json::Value;
use voxel::codec::Digest;

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::voter::TestResponse;
use crate::support::{TestServer, server_with_builds};

/// A response as text: its headers, its body, and the uncompressed body.
fn response_bytes(answer: &TestResponse) -> Vec<u8> {
    let headers = answer
        .headers
        .iter()
        .flat_map(|(name, value)| [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\n"].concat());
    headers.chain(answer.bytes.iter().copied()).collect()
}

fn contains_ignoring_case(haystack: &[u8], needle: &str) -> bool {
    let haystack = haystack.to_ascii_lowercase();
    let needle = needle.to_ascii_lowercase();
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}

#[tokio::test]
async fn before_the_vote_no_byte_identifies_the_models() {
    let (db, server) = server_with_builds().await;
    db.run("UPDATE models SET model_id = 'made-by-' || model_id").await;
    let secrets: Vec<String> = sqlx::query_scalar(
        "WITH makers AS (SELECT * FROM models WHERE key IN (SELECT model_key FROM builds))
         SELECT key FROM makers UNION SELECT display_name FROM makers UNION SELECT provider FROM makers
         UNION SELECT model_id FROM makers UNION SELECT id::text FROM builds UNION SELECT encode(digest, 'hex') FROM builds",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert_eq!(secrets.len(), 2 + 2 + 1 + 2 + 10 + 10);

    let voter = server.voter();
    let matchup = voter.matchup().await;
    let id = matchup["id"].as_str().unwrap();
    let mut paths = vec!["/".to_owned(), "/api/arena/prompts".to_owned(), "/api/arena/matchup".to_owned()];
    for side in ["a", "b"] {
        let url = matchup[side]["build"]["url"].as_str().unwrap();
        paths.push(url.to_owned());
        paths.extend((0..8).map(|angle| format!("{url}/image?angle={angle}&size=96")));
        paths.push(format!("{url}/image?size=64&format=png"));
    }
    let pages = [format!("/matchups/{id}"), format!("/matchups/{id}?angle=3"), "/me".to_owned()];
    paths.extend(pages.into_iter().chain(["/metrics".to_owned()]));
    for path in paths {
        let answer = voter.get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(
            !path.contains("/matchup/") || answer.header("cache-control") == "no-store",
            "{path} may be cached"
        );
        assert_eq!(answer.header("etag"), "", "{path} has an ETag, which identifies the build");
        let found: Vec<_> = secrets
            .iter()
            .filter(|secret| contains_ignoring_case(&response_bytes(&answer), secret))
            .collect();
        assert_eq!(found, Vec::<&String>::new(), "{path} tells");
    }
    for (path, body) in [("/api/arena/vote", r#"{"matchupId":"x","choice":"A"}"#), ("/api/arena/vote", "{}")]
    {
        let answer = voter.post(path, &serde_json::from_str::<Value>(body).unwrap()).await;
        assert!(
            secrets.iter().all(|secret| !contains_ignoring_case(&response_bytes(&answer), secret)),
            "{path} {body}"
        );
    }
    let found = voter.vote(&matchup, "A").await;
    assert!(
        secrets.iter().filter(|secret| contains_ignoring_case(&response_bytes(&found), secret)).count() >= 7,
        "after the vote the response names the models"
    );
}

#[tokio::test]
async fn a_matchups_builds_are_served_unchanged_and_only_to_its_voter() {
    let (db, server) = server_with_builds().await;
    let (voter, stranger) = (server.voter(), server.voter());
    let matchup = voter.matchup().await;
    stranger.matchup().await;
    for side in ["a", "b"] {
        let url = matchup[side]["build"]["url"].as_str().unwrap();
        for path in [url.to_owned(), format!("{url}/image?size=64")] {
            assert_eq!(stranger.get(&path).await.status, 404);
            assert_eq!(server.voter().get(&path).await.status, 404);
        }
        let answer = voter.get(url).await;
        let digest = Digest::of(&answer.bytes);
        let sql = format!(
            "SELECT count(*) FROM matchups JOIN builds ON builds.id = build_{side} WHERE digest = decode('{digest}', 'hex') AND matchups.id = '{}'",
            matchup["id"].as_str().unwrap()
        );
        assert_eq!(db.number(&sql).await, 1, "side {side} must serve the bytes of its build");
    }
    assert_eq!(voter.get("/api/arena/matchup/nonsense/a").await.status, 404);
    let third = format!("/api/arena/matchup/{}/c", matchup["id"].as_str().unwrap());
    assert_eq!(voter.get(&third).await.status, 404);
}

#[tokio::test]
async fn nothing_public_has_the_digest_of_a_build_that_can_be_in_a_matchup() {
    let db = TestDb::seeded().await;
    let variables = [("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0"), ("ADMIN_TOKEN", TOKEN)];
    let server = TestServer::start_with_env(db.pool.clone(), &variables).await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;
    assert_eq!(voter.vote(&matchup, "TIE").await.status, 200);
    let mut hashes = Vec::new();
    for id in builds::ids(&db.pool).await.unwrap() {
        let grid = builds::grid(&db.pool, id).await.unwrap().unwrap();
        for digest in [grid.digest, Digest::of(&grid.packed).0.to_vec()] {
            hashes.extend([hex::encode(&digest[..8]), BASE64_STANDARD.encode(&digest[..15])]);
        }
    }
    let id = builds::ids(&db.pool).await.unwrap()[0];
    let parts = ["", "/grid", "/spec", "/image?size=64", "/export?format=json", "/export?format=schem"];
    let mut paths: Vec<_> = parts.iter().map(|part| format!("/api/builds/{id}{part}")).collect();
    paths.extend([format!("/builds/{id}"), format!("/cards/builds/{id}.png")]);
    paths.extend(["/", "/builds", "/prompts", "/prompts/lighthouse", "/sandbox/compare"].map(str::to_owned));
    paths.extend(["/models/reference_architect", "/api/models/reference_architect"].map(str::to_owned));
    paths.extend(["/api/votes.jsonl", "/api/votes.csv", "/leaderboard", "/me"].map(str::to_owned));
    paths.extend(
        ["/judges", "/api/judges", "/api/judgements.jsonl", "/api/judgements.csv"].map(str::to_owned),
    );
    paths.push(format!("/matchups/{}", matchup["id"].as_str().unwrap()));
    for path in paths {
        let answer = voter.get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        let text = response_bytes(&answer);
        let found: Vec<_> = hashes.iter().filter(|hash| contains_ignoring_case(&text, hash)).collect();
        assert_eq!(found, Vec::<&String>::new(), "{path} names a grid by its hash");
    }
    let facts = async || voter.get(&format!("/api/builds/{id}")).await.json();
    assert_eq!(facts().await["digest"], Value::Null);
    let seen_by_admin = server.admin().get(&format!("/api/builds/{id}")).await;
    assert!(hashes.contains(&seen_by_admin.json()["digest"].as_str().unwrap()[..16].to_owned()));
    assert_eq!(seen_by_admin.header("cache-control"), "no-store");
    assert_eq!(server.admin().delete(&format!("/api/admin/builds/{id}")).await.status, 204);
    assert_eq!(facts().await["digest"].as_str().unwrap().len(), 64, "a retired build is in no matchup");
}

/// Damages the stored grids after a picture was drawn: then only a cache can answer.
#[tokio::test]
async fn pictures_of_matchups_and_of_builds_share_no_cache() {
    let (db, server) = server_with_builds().await;
    let damage = "UPDATE builds SET grid = decode('00', 'hex')";
    let voter = server.voter();
    let matchup = voter.matchup_on("lighthouse").await.json();
    let of_matchup =
        ["a", "b"].map(|side| format!("{}/image?size=64", matchup[side]["build"]["url"].as_str().unwrap()));
    let sql = "SELECT '/api/builds/' || id || '/image?size=64' FROM builds WHERE prompt_id = 'lighthouse'";
    let of_builds: Vec<String> = sqlx::query_scalar(sql).fetch_all(&db.pool).await.unwrap();

    assert_eq!(voter.get(&of_matchup[0]).await.status, 200);
    assert_eq!(voter.get(&of_builds[0]).await.status, 200);
    assert_eq!(voter.get(&of_builds[1]).await.status, 200);
    db.run(damage).await;
    assert_eq!(voter.get(&of_builds[0]).await.status, 200, "from the cache of builds");
    assert_eq!(voter.get(&of_matchup[0]).await.status, 200, "from the cache of matchups");
    let other = voter.get(&of_matchup[1]).await;
    assert_eq!(other.code(), "build_damaged", "the pictures of both builds are in the cache of builds alone");
}
