//! Before the vote, nothing identifies the models of a matchup.

use serde_json::Value;

use crate::support::server_with_builds;
use crate::support::voter::TestResponse;

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
        let digest = voxel::codec::Digest::of(&answer.bytes);
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
