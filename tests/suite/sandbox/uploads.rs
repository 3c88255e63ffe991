//! `/api/sandbox/drafts`: uploaded builds.

use serde_json::{Value, json};

use crate::support::db::TestDb;
use crate::support::{TestServer, sample_spec};

#[tokio::test]
async fn an_upload_can_be_downloaded_and_enters_no_arena() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let text = format!("Here it is:\n```json\n{}\n```", sample_spec(4));
    let bring = server.post("/api/sandbox/drafts?gridSize=32&palette=simple&prompt=a+barn").body(text);
    let reply: Value = bring.send().await.unwrap().json().await.unwrap();
    assert_eq!(reply["blockCount"], json!(2888));
    let draft = reply["draftId"].as_str().unwrap();
    let file = server.get(&format!("/api/sandbox/drafts/{draft}/export?format=glb")).send().await.unwrap();
    assert_eq!(file.headers()["content-disposition"], "attachment; filename=\"a-barn-pasted.glb\"");
    let known = file.headers()["etag"].clone();
    let again =
        server.get(&format!("/api/sandbox/drafts/{draft}/export?format=glb")).header("if-none-match", known);
    assert_eq!(again.send().await.unwrap().status(), 304);
    assert_eq!(db.number("SELECT count(*) FROM builds").await, 0);

    for (query, body, status, code) in [
        ("", "nothing of the kind", 400, "bad_json"),
        ("", r#"{"version":"1.0","boxes":[{"x1":1.5}]}"#, 400, "bad_spec"),
        ("", r#"{"version":"1.0","blocks":[{"x":1,"y":1,"z":1,"type":"stone"}]}"#, 422, "too_few_blocks"),
        ("?gridSize=33", "", 400, "bad_request"),
        ("?prompt=%00", "{}", 400, "bad_request"),
    ] {
        let answer = server.post(&format!("/api/sandbox/drafts{query}")).body(body).send().await.unwrap();
        let status_is = answer.status().as_u16();
        let reply: Value = answer.json().await.unwrap();
        assert_eq!((status_is, reply["code"].as_str().unwrap()), (status, code), "{query} {body}: {reply}");
    }
    assert_eq!(db.number("SELECT count(*) FROM drafts").await, 1);
}

#[tokio::test]
async fn a_check_returns_the_grid_on_request_for_valid_and_invalid_builds() {
    use base64::Engine;
    let server = TestServer::start().await;
    let check = async |query: &str, body: &str| {
        let answer = server.post(&format!("/api/check{query}")).body(body.to_owned()).send().await.unwrap();
        answer.json::<Value>().await.unwrap()
    };
    let small = r#"{"version":"1.0","blocks":[{"x":1,"y":1,"z":1,"type":"stone"}]}"#;
    for (body, ok, count) in [(&*sample_spec(4), true, 2888), (small, false, 1)] {
        let reply = check("?gridSize=32&palette=simple&encoded=1", body).await;
        assert_eq!(reply["ok"], json!(ok));
        let bytes =
            base64::engine::general_purpose::STANDARD.decode(reply["grid"].as_str().unwrap()).unwrap();
        assert_eq!(voxel::codec::decode(&bytes).unwrap().stats().block_count, count);
        assert_eq!(check("", body).await.get("grid"), None);
    }
    assert_eq!(check("?encoded=1", "nothing").await.get("grid"), None);
}
