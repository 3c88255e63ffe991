//! Held-out prompts: matchups show their builds, and nothing else does until enough votes are counted.

use buildoff::app::App;
use buildoff::arena::builds;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::{TestServer, TestVoter, sample_spec};

/// Two builds of each of five prompts; the lighthouse is held out.
async fn start_server(more: &[(&str, &str)]) -> (TestDb, TestServer, App) {
    let db = TestDb::seeded().await;
    let mut variables = vec![("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0"), ("ADMIN_TOKEN", TOKEN)];
    variables.extend(more);
    let (server, app) = TestServer::start_with_app(db.pool.clone(), &variables).await;
    hold_out(&server, true).await;
    (db, server, app)
}

async fn hold_out(server: &TestServer, held_out: bool) {
    let change = json!({ "heldOut": held_out });
    let patched = server.admin().json(Method::PATCH, "/api/admin/prompts/lighthouse", &change).await;
    assert_eq!((patched.status, &patched.json()["heldOut"]), (200, &json!(held_out)));
}

async fn lighthouses(db: &TestDb) -> Vec<Uuid> {
    let sql = "SELECT id FROM builds WHERE prompt_id = 'lighthouse' AND retired_at IS NULL ORDER BY id";
    sqlx::query_scalar(sql).fetch_all(&db.pool).await.unwrap()
}

async fn vote(server: &TestServer) -> (TestVoter, Value, Value) {
    let voter = server.voter();
    let matchup = voter.matchup_on("lighthouse").await.json();
    voter.fetch_builds(&matchup).await;
    let answer = voter.vote(&matchup, "A").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    (voter, matchup, answer.json())
}

/// Everything that is made of one build.
fn addresses(build: Uuid) -> Vec<String> {
    let parts = ["", "/grid", "/spec", "/image?size=64", "/export?format=json", "/turntable"];
    let mut addresses = parts.map(|part| format!("/api/builds/{build}{part}")).to_vec();
    addresses.extend([format!("/builds/{build}"), format!("/cards/builds/{build}.png")]);
    addresses
}

/// The pages and lists on which builds appear.
fn lists(build: Uuid) -> Vec<String> {
    let mut lists: Vec<_> = [
        "/",
        "/builds",
        "/builds?prompt=lighthouse",
        "/builds?sort=oldest",
        "/prompts",
        "/prompts/lighthouse",
        "/models/reference_architect",
        "/models/reference_sculptor",
        "/api/models/reference_architect",
        "/api/models/reference_sculptor",
        "/api/arena/prompts",
        "/leaderboard",
        "/sandbox/compare?prompt=lighthouse",
        "/api/votes.jsonl",
        "/api/judgements.jsonl",
        "/api/judges",
        "/judges",
    ]
    .map(str::to_owned)
    .into();
    lists.push(format!("/sandbox/compare?build={build}"));
    lists
}

async fn status(server: &TestServer, path: &str) -> u16 {
    server.get(path).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn builds_of_a_held_out_prompt_appear_in_matchups_alone() {
    let (db, server, _app) = start_server(&[]).await;
    let builds = lighthouses(&db).await;
    assert_eq!(builds.len(), 2);
    let (_, matchup, _) = vote(&server).await;
    for &build in &builds {
        for address in addresses(build) {
            assert_eq!(status(&server, &address).await, 404, "{address}");
        }
        for list in lists(build) {
            let answer = server.get(&list).send().await.unwrap();
            assert_eq!(answer.status(), 200, "{list}");
            let text = answer.text().await.unwrap();
            assert!(!text.contains(&build.to_string()), "{list} names a withheld build");
        }
    }
    let id = matchup["id"].as_str().unwrap();
    for address in [format!("/matchups/{id}"), format!("/cards/matchups/{id}.png")] {
        assert_eq!(status(&server, &address).await, 404, "{address} is for its voter alone");
    }
    let pairs = "/leaderboard/pairs?a=reference_architect&b=reference_sculptor";
    let pairs = server.get(pairs).send().await.unwrap().text().await.unwrap();
    assert!(pairs.contains("1 vote<") && !pairs.contains(id), "{pairs}");
    let others = "SELECT count(*) FROM builds WHERE withheld AND prompt_id <> 'lighthouse'";
    assert_eq!(db.number(others).await, 0);
}

#[tokio::test]
async fn a_voter_goes_on_seeing_the_withheld_builds_of_their_own_matchups() {
    let (db, server, _app) = start_server(&[]).await;
    let (voter, matchup, reply) = vote(&server).await;
    assert_eq!(reply["reveal"]["a"]["build"]["withheld"], true);
    let id = matchup["id"].as_str().unwrap();
    let own = voter.get(&format!("/matchups/{id}")).await;
    assert_eq!(own.status, 200, "{}", own.text());
    let me = voter.get("/me").await;
    for (page, picture) in [(&own, "image?size=768"), (&me, "image?size=128")] {
        let text = page.text();
        for side in ["a", "b"] {
            let address = format!("/api/arena/matchup/{id}/{side}/{picture}");
            assert!(text.contains(&address), "{address} is not in {text}");
            assert_eq!(voter.get(&address.replace("768", "64")).await.status, 200);
        }
        for build in lighthouses(&db).await {
            assert!(!text.contains(&build.to_string()), "a link to a build without a page: {text}");
        }
    }
}

#[tokio::test]
async fn admins_see_withheld_builds_and_no_cache_keeps_them() {
    let (db, server, _app) = start_server(&[]).await;
    let build = lighthouses(&db).await[0];
    let is_drawn_for_all =
        |address: &&String| address.starts_with("/cards") || address.ends_with("turntable");
    for address in addresses(build).iter().filter(|address| !is_drawn_for_all(address)) {
        let answer = server.admin().get(address).await;
        assert_eq!(answer.status, 200, "{address}: {}", answer.text());
        assert_eq!(answer.header("cache-control"), "no-store", "{address}");
    }
    assert!(server.admin().get(&format!("/api/builds/{build}")).await.json()["digest"].is_string());
    let wrong =
        server.get(&format!("/api/builds/{build}")).bearer_auth("not-the-token").send().await.unwrap();
    assert_eq!(wrong.status(), 404);
}

#[tokio::test]
async fn a_build_is_shown_once_enough_votes_on_it_are_counted() {
    // With a budget of two votes, the third does not count.
    let (db, server, app) = start_server(&[("NETWORK_VOTES_PER_DAY", "2"), ("HELD_OUT_VOTES", "3")]).await;
    assert_eq!(app.config.held_out_votes, 3);
    let build = lighthouses(&db).await[0];
    let mut last = Value::Null;
    for _ in 0..3 {
        (_, last, _) = vote(&server).await;
    }
    assert_eq!(db.number("SELECT count(*) FROM votes WHERE exclusion IS NULL").await, 2);
    assert_eq!(builds::show_judged(&db.pool, 3).await.unwrap(), 0, "only counted votes count");
    assert_eq!(status(&server, &format!("/builds/{build}")).await, 404);
    assert_eq!(builds::show_judged(&db.pool, 2).await.unwrap(), 2);
    for address in addresses(build).iter().filter(|address| !address.contains("turntable")) {
        assert_eq!(status(&server, address).await, 200, "{address}");
    }
    let shared = format!("/matchups/{}", last["id"].as_str().unwrap());
    assert_eq!(status(&server, &shared).await, 200, "{shared}");
    assert_eq!(builds::show_judged(&db.pool, 1000).await.unwrap(), 0, "what was shown stays shown");
    assert_eq!(status(&server, &format!("/builds/{build}")).await, 200);
}

#[tokio::test]
async fn a_retired_build_is_shown_and_the_one_that_replaces_it_is_withheld() {
    let (db, server, _app) = start_server(&[]).await;
    let old = lighthouses(&db).await[0];
    let model: String = sqlx::query_scalar("SELECT model_key FROM builds WHERE id = $1")
        .bind(old)
        .fetch_one(&db.pool)
        .await
        .unwrap();
    let import = format!("/api/admin/import-build?modelKey={model}&promptId=lighthouse&overwrite=1");
    let imported = server.admin().post(&import, sample_spec(3)).await;
    assert_eq!(imported.status, 200, "{}", imported.text());
    let new = imported.json()["buildId"].as_str().unwrap().to_owned();
    assert_eq!(status(&server, &format!("/api/builds/{new}")).await, 404);
    let facts: Value = server.get(&format!("/api/builds/{old}")).send().await.unwrap().json().await.unwrap();
    assert!(facts["retiredAt"].is_string() && facts["digest"].is_string(), "{facts}");
}

#[tokio::test]
async fn builds_are_shown_when_their_prompt_is_not_held_out_any_more() {
    let (db, server, _app) = start_server(&[]).await;
    let build = lighthouses(&db).await[0];
    assert_eq!(status(&server, &format!("/builds/{build}")).await, 404);
    hold_out(&server, false).await;
    assert_eq!(status(&server, &format!("/builds/{build}")).await, 200);
}

#[tokio::test]
async fn an_admins_choice_to_hold_a_prompt_out_survives_seeding() {
    let (db, server, _app) = start_server(&[]).await;
    assert_eq!(server.admin().post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
    assert_eq!(db.number("SELECT count(*) FROM prompts WHERE held_out").await, 1);
    let same = json!({ "text": "a lighthouse on a rocky island", "tags": [] });
    let put = server.admin().json(Method::PUT, "/api/admin/prompts/lighthouse", &same).await;
    assert_eq!((put.status, &put.json()["heldOut"]), (200, &json!(true)), "a missing field changes nothing");
}

#[tokio::test]
async fn a_share_of_new_prompts_is_held_out_if_nothing_says_whether_they_are() {
    let (_db, server, _) = start_server(&[("HELD_OUT_PERCENT", "100")]).await;
    let put = async |id: &str, more: Value| {
        let mut prompt = json!({ "text": "a small shed" });
        prompt.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = server.admin().json(Method::PUT, &format!("/api/admin/prompts/{id}"), &prompt).await;
        answer.json()["heldOut"].clone()
    };
    assert_eq!(put("shed", json!({})).await, true);
    assert_eq!(put("open-shed", json!({ "heldOut": false })).await, false);
    assert_eq!(put("open-shed", json!({ "tags": ["house"] })).await, false, "it is not new any more");
    assert_eq!(
        put("carousel", json!({ "text": "a carousel with galloping horses" })).await,
        false,
        "nor is this"
    );
}
