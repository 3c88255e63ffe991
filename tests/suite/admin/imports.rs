//! Imported builds.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::{TestAdmin, TestServer, sample_spec};

async fn start_server() -> (TestDb, TestServer, TestAdmin) {
    let db = TestDb::new().await;
    let variables =
        [("ADMIN_TOKEN", TOKEN), ("RATE_LIMITS", "off"), ("IMPORT_MAX_MIB", "1"), ("COHORT_PERCENT", "0")];
    let server = TestServer::start_with_env(db.pool.clone(), &variables).await;
    let admin = server.admin();
    assert_eq!(admin.post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
    (db, server, admin)
}

fn import_path(query: &str) -> String {
    format!("/api/admin/import-build?{query}")
}

#[tokio::test]
async fn a_build_is_imported_plain_gzipped_and_from_prose() {
    let (_db, _server, admin) = start_server().await;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(sample_spec(5).as_bytes()).unwrap();
    let prose = format!("Of course! Here is your lighthouse:\n```json\n{}\n```\nEnjoy.", sample_spec(6));
    // A prompt with a single build has no pair.
    for (model, body, in_arena) in [
        ("openai_gpt_5_5", sample_spec(4).into_bytes(), false),
        ("gemini_3_1_pro", gzip.finish().unwrap(), true),
        ("xai_grok_4_3", prose.into_bytes(), true),
    ] {
        let answer = admin.post(&import_path(&format!("modelKey={model}&promptId=lighthouse")), body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let reply = answer.json();
        assert_eq!(
            (&reply["ok"], &reply["overwritten"], &reply["inArena"], &reply["warnings"]),
            (&json!(true), &json!(false), &json!(in_arena), &json!([])),
            "{reply}"
        );
        assert_eq!(reply["settings"], json!({ "gridSize": 32, "palette": "simple", "mode": "precise" }));
        assert_eq!(reply["prompt"]["id"], "lighthouse");
        assert_eq!(reply["model"]["key"], model);
        assert!(reply["blockCount"].as_u64().unwrap() > 1000 && reply["hint"].is_string());
    }
}

#[tokio::test]
async fn a_second_import_is_a_conflict_unless_it_overwrites() {
    let (db, _server, admin) = start_server().await;
    let path = import_path("modelKey=openai_gpt_5_5&promptId=lighthouse");
    let first = admin.post(&path, sample_spec(4)).await.json();
    let second = admin.post(&path, sample_spec(5)).await;
    assert_eq!((second.status, second.code().as_str()), (409, "exists"));
    let third = admin.post(&format!("{path}&overwrite=1"), sample_spec(5)).await.json();
    assert_eq!(third["overwritten"], true, "{third}");
    assert_ne!(third["buildId"], first["buildId"]);
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE retired_at IS NULL").await, 1);
    // Another palette is another slot.
    let elsewhere = admin.post(&format!("{path}&palette=advanced&mode=fast"), sample_spec(5)).await;
    assert_eq!(
        (elsewhere.status, &elsewhere.json()["inArena"]),
        (200, &json!(false)),
        "{}",
        elsewhere.text()
    );
}

#[tokio::test]
async fn concurrent_overwrites_each_replace_the_previous_build() {
    let (db, _server, admin) = start_server().await;
    let path = import_path("modelKey=openai_gpt_5_5&promptId=lighthouse&overwrite=1");
    let answers = join_all((3..9).map(|height| admin.post(&path, sample_spec(height)))).await;
    let mut overwritten = 0;
    for answer in answers {
        assert_eq!(answer.status, 200, "{}", answer.text());
        overwritten += usize::from(answer.json()["overwritten"] == true);
    }
    assert_eq!(overwritten, 5);
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE retired_at IS NULL").await, 1);
}

#[tokio::test]
async fn an_unknown_text_creates_one_inactive_prompt() {
    let (db, _server, admin) = start_server().await;
    let with = |model: &str, text: &str| {
        import_path(&format!("modelKey={model}&promptText={}", text.replace(' ', "%20")))
    };
    let first = admin.post(&with("openai_gpt_5_5", "a lamp post in snow"), sample_spec(4)).await.json();
    assert_eq!(
        (&first["prompt"]["id"], &first["inArena"]),
        (&json!("a-lamp-post-in-snow"), &json!(false)),
        "{first}"
    );
    assert!(first["hint"].as_str().unwrap().contains("active"), "{first}");
    let second = admin.post(&with("gemini_3_1_pro", " a lamp post in snow "), sample_spec(5)).await.json();
    assert_eq!(second["prompt"], first["prompt"]);
    // The texts give the same slug but differ, so they are two prompts.
    let third = admin.post(&with("gemini_3_1_pro", "A lamp post, in snow!"), sample_spec(6)).await.json();
    assert_eq!(third["prompt"]["id"], "a-lamp-post-in-snow-2", "{third}");
    // A prompt of the catalog is found by its text.
    let known = admin.post(&with("openai_gpt_5_5", "a steam locomotive"), sample_spec(7)).await.json();
    assert_eq!(known["prompt"]["id"], "steam-locomotive");
    assert_eq!(db.number("SELECT count(*) FROM prompts WHERE NOT active").await, 2);
    let on =
        admin.json(Method::PATCH, "/api/admin/prompts/a-lamp-post-in-snow", &json!({ "active": true })).await;
    assert_eq!(on.json()["active"], true);
}

#[tokio::test]
async fn the_hint_says_why_a_build_is_not_in_the_arena() {
    let (_db, _server, admin) = start_server().await;
    admin.json(Method::PATCH, "/api/admin/models/openai_gpt_5_5", &json!({ "enabled": false })).await;
    for (query, in_arena, part) in [
        ("modelKey=openai_gpt_5_5&promptId=lighthouse", false, "disabled"),
        ("modelKey=gemini_3_1_pro&promptId=lighthouse&palette=advanced", false, "gallery"),
        ("modelKey=reference_architect&promptId=treehouse", false, "first build"),
        ("modelKey=gemini_3_1_pro&promptId=treehouse", true, "can appear in matchups"),
        ("modelKey=xai_grok_4_3&promptId=treehouse", true, "can appear in matchups"),
        ("modelKey=reference_sculptor&promptId=treehouse", false, "step aside"),
    ] {
        let reply = admin.post(&import_path(query), sample_spec(5)).await.json();
        assert_eq!(reply["inArena"], in_arena, "{query}: {reply}");
        assert!(reply["hint"].as_str().unwrap().contains(part), "{query}: {reply}");
    }
}

#[tokio::test]
async fn an_invalid_build_is_refused_and_nothing_is_stored() {
    let (db, _server, admin) = start_server().await;
    let before = db.dump().await;
    let good = "modelKey=openai_gpt_5_5&promptId=lighthouse";
    let long = "x".repeat(801);
    let long = format!("modelKey=openai_gpt_5_5&promptText={long}");
    let cases: [(&str, Vec<u8>, u16, &str); 16] = [
        ("modelKey=openai_gpt_5_5&promptText=a%00b", sample_spec(4).into_bytes(), 400, "bad_request"),
        (good, Vec::new(), 400, "bad_json"),
        (good, b"no JSON at all".to_vec(), 400, "bad_json"),
        (good, vec![0xff, 0xfe, 0x00], 400, "bad_json"),
        (good, b"{\"boxes\": 7}".to_vec(), 400, "bad_spec"),
        (good, b"{\"version\": \"1.0\"}".to_vec(), 422, "no_blocks"),
        (
            good,
            b"{\"version\":\"1.0\",\"blocks\":[{\"x\":1,\"y\":1,\"z\":1,\"type\":\"stone\"}]}".to_vec(),
            422,
            "too_few_blocks",
        ),
        (good, vec![b' '; (1 << 20) + 1], 413, "too_large"),
        ("modelKey=nobody&promptId=lighthouse", sample_spec(4).into_bytes(), 404, "no_model"),
        ("modelKey=openai_gpt_5_5&promptId=nowhere", sample_spec(4).into_bytes(), 404, "no_prompt"),
        ("modelKey=openai_gpt_5_5", sample_spec(4).into_bytes(), 400, "bad_request"),
        (
            "modelKey=openai_gpt_5_5&promptId=lighthouse&promptText=x",
            sample_spec(4).into_bytes(),
            400,
            "bad_request",
        ),
        ("promptId=lighthouse", sample_spec(4).into_bytes(), 400, "bad_request"),
        (
            "modelKey=openai_gpt_5_5&promptId=lighthouse&gridSize=33",
            sample_spec(4).into_bytes(),
            400,
            "bad_request",
        ),
        ("modelKey=No%20Key&promptId=lighthouse", sample_spec(4).into_bytes(), 400, "bad_request"),
        (&long, sample_spec(4).into_bytes(), 400, "bad_request"),
    ];
    for (query, body, status, code) in cases {
        let answer = admin.post(&import_path(query), body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{query}: {}", answer.text());
        assert!(answer.json()["error"].as_str().is_some_and(|reply| reply.len() > 10));
    }
    assert_eq!(db.dump().await, before);
}
