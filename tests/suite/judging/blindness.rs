//! Before a judgement is sent, nothing tells who built the build; before a vote, no judgement is shown.

use serde_json::json;

use super::{CRITERIA, builds_of, judge, judge_build, next, scores, start};
use crate::support::db::TestDb;
use crate::support::voter::TestResponse;

/// Everything that names a maker or a build.
async fn secrets(db: &TestDb) -> Vec<String> {
    db.run("UPDATE models SET model_id = 'made-by-' || model_id").await;
    sqlx::query_scalar(
        "WITH makers AS (SELECT * FROM models WHERE key IN (SELECT model_key FROM builds))
         SELECT key FROM makers UNION SELECT display_name FROM makers UNION SELECT provider FROM makers
         UNION SELECT model_id FROM makers UNION SELECT id::text FROM builds UNION SELECT log_id::text FROM builds
         UNION SELECT encode(digest, 'hex') FROM builds",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap()
}

fn assert_tells_nothing(answer: &TestResponse, path: &str, secrets: &[String]) {
    let headers =
        answer.headers.iter().flat_map(|(name, value)| [name.as_str().as_bytes(), value.as_bytes()].concat());
    let bytes: Vec<u8> =
        headers.chain(answer.bytes.iter().copied()).map(|byte| byte.to_ascii_lowercase()).collect();
    for secret in secrets {
        let needle = secret.to_ascii_lowercase();
        let is_told = bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
        assert!(!is_told, "{path} tells {secret}");
    }
    assert_eq!(answer.header("cache-control"), "no-store", "{path}");
    assert_eq!(answer.header("etag"), "", "{path}");
}

#[tokio::test]
async fn before_a_judgement_no_byte_tells_who_built_the_build() {
    let (db, server) = start(&[]).await;
    let secrets = secrets(&db).await;
    let voter = server.voter();
    let start_page = voter.get("/judge").await;
    assert_tells_nothing(&start_page, "/judge", &secrets);
    assert_eq!(start_page.header("set-cookie"), "", "opening the page stores nothing");
    assert_eq!(db.number("SELECT count(*) FROM open_judgings").await, 0);

    let judging = next(&voter).await;
    let id = judging["id"].as_str().unwrap();
    let mut paths = vec!["/api/judge/next".to_owned(), "/judge".to_owned(), "/judge?angle=3".to_owned()];
    paths.push(format!("/api/judge/{id}/grid"));
    paths.extend((0..8).map(|angle| format!("/api/judge/{id}/image?angle={angle}&size=64")));
    for path in &paths {
        let answer = voter.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_tells_nothing(&answer, path, &secrets);
    }
    for body in [json!({ "id": id, "scores": {} }), json!({ "id": "x", "scores": scores(5.0) })] {
        let answer = voter.post("/api/judge", &body).await;
        assert!(answer.status >= 400);
        assert!(secrets.iter().all(|secret| !answer.text().contains(secret)), "{body}");
    }
    for path in [format!("/api/judge/{id}/grid"), format!("/api/judge/{id}/image?size=64")] {
        assert_eq!(server.voter().get(&path).await.status, 404);
        let stranger = server.voter();
        next(&stranger).await;
        assert_eq!(stranger.get(&path).await.status, 404, "{path} is for its judge alone");
    }
    assert!(judge(&voter, &judging, 5.0).await.text().contains("reference"), "afterwards it is told");
}

/// The page of a chosen build has its id in its address, and nothing else about it.
#[tokio::test]
async fn the_page_of_a_chosen_build_does_not_name_its_maker_before_the_judgement() {
    let (db, server) = start(&[]).await;
    let build = &builds_of(&db, "lighthouse").await[0];
    let secrets: Vec<_> = secrets(&db).await.into_iter().filter(|secret| secret != build).collect();
    let voter = server.voter();
    let page = format!("/judge/builds/{build}");
    assert_tells_nothing(&voter.get(&page).await, &page, &secrets);
    voter.get(&format!("/api/judge/next?build={build}")).await;
    assert_tells_nothing(&voter.get(&page).await, &page, &secrets);
    assert_tells_nothing(&voter.get("/judge").await, "/judge", &secrets);
    judge_build(&voter, build, 5.0).await;
    assert!(voter.get(&page).await.text().contains("Built by"));
    let stranger = server.voter();
    let seen = stranger.get(&page).await;
    assert_tells_nothing(&seen, &page, &secrets);
    assert!(!seen.text().contains("judged this build"), "others' scores come after one's own");
}

#[tokio::test]
async fn no_judgement_can_be_reached_from_a_matchup_before_the_vote() {
    let (db, server) = start(&[]).await;
    for build in builds_of(&db, "lighthouse").await {
        judge_build(&server.voter(), &build, 8.5).await;
    }
    let voter = server.voter();
    let matchup = voter.matchup_on("lighthouse").await.json();
    let id = matchup["id"].as_str().unwrap();
    let urls = ["a", "b"].map(|side| matchup[side]["build"]["url"].as_str().unwrap().to_owned());
    for path in ["/api/arena/matchup".to_owned(), format!("/matchups/{id}"), urls[0].clone(), urls[1].clone()]
    {
        let text = voter.get(&path).await.text();
        assert!(!text.contains("8.5") && !text.contains("judgement"), "{path}");
    }
    for _ in 0..8 {
        let judging = next(&voter).await;
        assert_ne!(
            judging["prompt"]["id"], "lighthouse",
            "the builds of an open matchup are not judged meanwhile"
        );
        judge(&voter, &judging, 5.0).await;
    }
    assert_eq!(voter.get("/api/judge/next").await.code(), "all_judged");
}

#[tokio::test]
async fn a_build_that_comes_up_in_a_matchup_is_judged_after_the_vote() {
    let (db, server) = start(&[]).await;
    let builds = builds_of(&db, "lighthouse").await;
    assert_eq!(builds.len(), 2, "both are in every matchup of this prompt");
    let voter = server.voter();
    let judging = voter.get(&format!("/api/judge/next?build={}", builds[0])).await.json();
    let matchup = voter.matchup_on("lighthouse").await.json();
    voter.fetch_builds(&matchup).await;
    let secrets = secrets(&db).await;
    let form = format!("/judge/{}", judging["id"].as_str().unwrap());
    let refused = judge(&voter, &judging, 5.0).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "vote_first"));
    let fields: Vec<(String, &str)> = CRITERIA.iter().map(|key| (format!("score-{key}"), "6.5")).collect();
    let again = voter.post_form(&form, &fields).await;
    assert_eq!(again.status, 409);
    assert!(
        again.text().contains("Vote or skip there") && again.text().contains("value=\"6.5\""),
        "nothing is lost"
    );
    assert_tells_nothing(&again, &form, &secrets);
    assert!(secrets.iter().all(|secret| !refused.text().contains(secret)), "{}", refused.text());
    assert_eq!(db.number("SELECT count(*) FROM judgements").await, 0);

    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
    assert_eq!(judge(&voter, &judging, 5.0).await.status, 200);
}
