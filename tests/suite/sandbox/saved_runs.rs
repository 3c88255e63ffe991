//! Saved runs: reachable by their link for thirty days, deleted only by their owner.

use reqwest::Method;
use serde_json::{Value, json};

use super::{SandboxFixture, events_of, two_model_run, valid_response};
use crate::support::TestVoter;

/// The outcome of each side of a run.
async fn drafts(fixture: &SandboxFixture) -> [String; 2] {
    let events = fixture.run_events(&two_model_run()).await;
    ["a", "b"].map(|slot| events_of(&events, "result", slot)[0]["draftId"].as_str().unwrap().to_owned())
}

async fn keep(voter: &TestVoter, run: &Value) -> (u16, Value) {
    let answer = voter.post("/api/sandbox/runs", run).await;
    (answer.status, serde_json::from_slice(&answer.bytes).unwrap())
}

#[tokio::test]
async fn a_saved_run_lasts_thirty_days_and_only_its_owner_can_delete_it() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let [a, b] = drafts(&fixture).await;
    let (maker, other) = (fixture.server.voter(), fixture.server.voter());
    let (status, kept) = keep(&maker, &json!({ "a": a, "b": b })).await;
    assert_eq!(status, 200, "{kept}");
    assert_eq!(
        (&kept["prompt"], &kept["gridSize"], &kept["palette"]),
        (&json!("a shed"), &json!(32), &json!("simple"))
    );
    assert_eq!((&kept["a"]["modelKey"], &kept["b"]["modelKey"]), (&json!("one"), &json!("two")));
    let days = "SELECT extract(day FROM min(expires_at) - now())::int8 FROM drafts";
    assert_eq!(fixture.db.number(days).await, 29, "the run must expire in almost thirty days");

    let address = format!("/api/sandbox/runs/{}", kept["id"].as_str().unwrap());
    assert_eq!(serde_json::from_slice::<Value>(&other.get(&address).await.bytes).unwrap(), kept);
    let page = other.get(kept["url"].as_str().unwrap()).await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("A shared run") && !page.text().contains("Delete this run?"));
    assert!(page.text().contains("noindex") && page.text().contains("Model one"));
    assert!(maker.get(kept["url"].as_str().unwrap()).await.text().contains("Delete this run?"));
    assert!(maker.get("/sandbox").await.text().contains("Your kept runs"));
    assert!(!other.get("/sandbox").await.text().contains("Your kept runs"));
    let picture = other.get(&format!("/api/sandbox/drafts/{a}/image?size=128")).await;
    assert_eq!((picture.status, picture.header("content-type")), (200, "image/webp"));
    let file = other.get(&format!("/api/sandbox/drafts/{a}/export?format=schem")).await;
    assert_eq!(file.status, 200);
    assert!(file.header("content-disposition").contains("a-shed-one.schem"));

    let refused = other.send(Method::DELETE, &address, None).await.unwrap();
    assert_eq!((refused.status, refused.json()["code"].clone()), (403, json!("not_yours")));
    assert_eq!(maker.send(Method::DELETE, &address, None).await.unwrap().status, 204);
    for gone in [address, kept["url"].as_str().unwrap().to_owned(), format!("/api/sandbox/drafts/{a}/grid")] {
        assert_eq!(maker.get(&gone).await.status, 404, "{gone}");
    }
    assert_eq!(fixture.db.number("SELECT count(*) FROM drafts").await, 0);
}

#[tokio::test]
async fn saving_twice_makes_one_run_and_a_retry_replaces_its_side() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let [a, b] = drafts(&fixture).await;
    let [another, stranger] = drafts(&fixture).await;
    let maker = fixture.server.voter();
    let (_, first) = keep(&maker, &json!({ "a": a })).await;
    assert_eq!(first["b"], json!(null));
    let (_, again) = keep(&maker, &json!({ "a": a, "b": b })).await;
    let (_, later) = keep(&maker, &json!({ "a": another, "b": b })).await;
    assert_eq!((&again["id"], &later["id"]), (&first["id"], &first["id"]));
    assert_eq!(later["a"]["draftId"], json!(another));
    assert_eq!(later["expiresAt"], first["expiresAt"]);
    let gone = fixture.server.get(&format!("/api/sandbox/drafts/{a}/grid")).send().await.unwrap();
    assert_eq!(gone.status(), 404, "the replaced build must be deleted");
    let (status, reply) = keep(&fixture.server.voter(), &json!({ "a": stranger, "b": b })).await;
    assert_eq!((status, &reply["code"]), (403, &json!("not_yours")));
}

#[tokio::test]
async fn sides_saved_separately_become_one_run() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let [a, b] = drafts(&fixture).await;
    let maker = fixture.server.voter();
    let (_, first) = keep(&maker, &json!({ "a": a })).await;
    let (_, second) = keep(&maker, &json!({ "b": b })).await;
    let (status, both) = keep(&maker, &json!({ "a": a, "b": b })).await;
    assert_eq!((status, &both["id"]), (200, &first["id"]));
    assert_eq!(maker.get(second["url"].as_str().unwrap()).await.status, 404);
    assert_eq!(fixture.db.number("SELECT count(*) FROM drafts").await, 2);
}

#[tokio::test]
async fn an_invalid_run_is_not_saved() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let [a, _] = drafts(&fixture).await;
    let mut elsewhere = two_model_run();
    elsewhere["prompt"] = json!("a barn");
    let barn = fixture.run_events(&elsewhere).await;
    let barn = events_of(&barn, "result", "b")[0]["draftId"].clone();
    let voter = fixture.server.voter();
    let nobody = "00000000-0000-4000-8000-000000000000";
    for (run, status, code) in [
        (json!({}), 404, "gone"),
        (json!({ "a": nobody }), 404, "gone"),
        (json!({ "a": a, "b": nobody }), 404, "gone"),
        (json!({ "a": a, "b": a }), 404, "gone"),
        (json!({ "a": a, "b": barn }), 400, "not_one_run"),
        (json!({ "a": "x" }), 422, "bad_request"),
        (json!({ "c": a }), 422, "bad_request"),
    ] {
        let (status_is, reply) = keep(&voter, &run).await;
        assert_eq!((status_is, reply["code"].as_str().unwrap()), (status, code), "{run}: {reply}");
    }
    assert_eq!(fixture.db.number("SELECT count(*) FROM kept_runs").await, 0);
    fixture.db.run("UPDATE drafts SET expires_at = now()").await;
    assert_eq!(keep(&voter, &json!({ "a": a })).await.0, 404);
    for address in ["/sandbox/runs/x", &format!("/sandbox/runs/{nobody}")] {
        assert_eq!(voter.get(address).await.status, 404, "{address}");
    }
}

#[tokio::test]
async fn after_a_hundred_saved_runs_one_must_be_deleted_first() {
    let fixture = SandboxFixture::new(&[], valid_response).await;
    let [a, b] = drafts(&fixture).await;
    let voter = fixture.server.voter();
    keep(&voter, &json!({ "a": a })).await;
    fixture
        .db
        .run(
            "WITH more AS (
                INSERT INTO drafts (id, prompt, settings, model, digest, grid, warnings, block_count, expires_at)
                SELECT gen_random_uuid(), prompt, settings, model, digest, grid, warnings, block_count, expires_at
                FROM drafts, generate_series(1, 99) WHERE model = 'one' RETURNING id)
             INSERT INTO kept_runs (id, voter_id, a) SELECT gen_random_uuid(), voter_id, more.id FROM more, kept_runs",
        )
        .await;
    let (status, reply) = keep(&voter, &json!({ "a": b })).await;
    assert_eq!((status, &reply["code"]), (409, &json!("too_many_kept")));
}
