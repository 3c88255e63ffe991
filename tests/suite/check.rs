//! `buildoff check` and `POST /api/check` give the same verdicts.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use flate2::{Compression, write::GzEncoder};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::TestServer;

/// A valid build.
fn sample_spec() -> Value {
    json!({ "version": "1.0", "boxes": [
        { "x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": 5, "z2": 27, "type": "minecraft:oak_planks" },
    ] })
}

fn check(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_buildoff"))
        .arg("check")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command may have ended without reading its input, which breaks the pipe.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

async fn post(server: &TestServer, query: &str, body: Vec<u8>) -> (StatusCode, Value) {
    let answer = server.post(&format!("/api/check{query}")).body(body).send().await.unwrap();
    (answer.status(), answer.json().await.unwrap())
}

#[tokio::test]
async fn the_command_and_the_api_give_the_same_object() {
    let server = TestServer::start().await;
    for (text, arguments, query, exit, status) in [
        (sample_spec().to_string(), vec!["-"], "", 0, 200),
        (sample_spec().to_string(), vec!["-", "--cells"], "?cells=1", 0, 200),
        (
            sample_spec().to_string(),
            vec!["-", "--grid", "64", "--palette", "advanced"],
            "?gridSize=64&palette=advanced&cells=0",
            1,
            200,
        ),
        ("{}".to_owned(), vec!["-", "--cells"], "?cells=true", 1, 200),
        ("no spec".to_owned(), vec!["-"], "", 1, 400),
        (r#"{"boxes":[{"x1":3.5}]}"#.to_owned(), vec!["-"], "", 1, 400),
    ] {
        let printed = check(&arguments, text.as_bytes());
        let report: Value = serde_json::from_slice(&printed.stdout).unwrap();
        assert_eq!(printed.status.code(), Some(exit), "{report}");
        let (answered, answer) = post(&server, query, text.clone().into_bytes()).await;
        assert_eq!((answered.as_u16(), &answer), (status, &report));
        let (_, zipped) = post(&server, query, gzip(text.as_bytes())).await;
        assert_eq!(zipped, report);
    }
}

#[test]
fn files_are_read_and_unreadable_ones_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hut.json.gz");
    std::fs::write(&file, gzip(sample_spec().to_string().as_bytes())).unwrap();
    let good = check(&[file.to_str().unwrap()], b"");
    let report: Value = serde_json::from_slice(&good.stdout).unwrap();
    assert_eq!((good.status.code(), &report["blockCount"]), (Some(0), &json!(24 * 6 * 24)));

    for arguments in
        [vec!["/no/such/file"], vec!["/"], vec!["-", "--grid", "33"], vec!["-", "--palette", "x"], vec![]]
    {
        let output = check(&arguments, b"{}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}

#[tokio::test]
async fn invalid_requests_do_not_affect_the_next_one() {
    let server = TestServer::start().await;
    let bomb = gzip(&vec![b' '; 300 << 20]);
    let deep = format!(r#"{{"a":{}"#, "[".repeat(200_000));
    let boxes = r#"{"x1":0,"y1":0,"z1":0,"x2":31,"y2":31,"z2":31,"type":"stone"},"#.repeat(100_000);
    let many = format!(r#"{{"version":"1.0","boxes":[{}]}}"#, boxes.trim_end_matches(','));
    for (body, status, code) in [
        (vec![b' '; (32 << 20) + 1], 413, "too_large"),
        (bomb, 413, "too_large"),
        (deep.into_bytes(), 400, "bad_json"),
        (many.into_bytes(), 400, "too_much_work"),
        (b"\xff\xfe\x00".to_vec(), 400, "bad_json"),
        (Vec::new(), 400, "bad_json"),
    ] {
        let (answered, report) = post(&server, "", body).await;
        assert_eq!((answered.as_u16(), report["error"]["code"].as_str()), (status, Some(code)));
        assert_eq!((&report["ok"], &report["blockCount"]), (&json!(false), &json!(0)));
        let (next, report) = post(&server, "", sample_spec().to_string().into_bytes()).await;
        assert_eq!((next.as_u16(), &report["ok"]), (200, &json!(true)));
    }
}

#[tokio::test]
async fn a_body_without_a_length_is_bounded_too() {
    let server = TestServer::start().await;
    let chunks = (0..40).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1 << 20]));
    let stream = reqwest::Body::wrap_stream(futures_util::stream::iter(chunks));
    let answer = server.post("/api/check").body(stream).send().await.unwrap();
    assert_eq!(answer.status(), 413);
    let report: Value = answer.json().await.unwrap();
    assert_eq!(report["error"], json!({ "code": "too_large", "message": "the input is larger than 32 MiB" }));
}

#[tokio::test]
async fn invalid_parameters_are_explained() {
    let server = TestServer::start().await;
    for (query, printed) in [
        ("?gridSize=33", "gridSize: expected 32, 64, 128 or 256"),
        ("?palette=oak", "palette: “oak” is not possible; possible: simple, advanced"),
        ("?cells=maybe", "cells: \"maybe\" is neither 1 nor 0"),
        ("?grid=32", "grid is not known here; possible: gridSize"),
        ("?gridSize=32&gridSize=64", "gridSize is there twice"),
    ] {
        let (status, answer) = post(&server, query, sample_spec().to_string().into_bytes()).await;
        assert_eq!(status, 400, "{query}");
        assert!(answer["error"].as_str().unwrap().contains(printed), "{query}: {answer}");
        assert_eq!(answer["code"], "bad_request");
    }
    let answer = server.post("/api/check").header("content-encoding", "br").body("{}").send().await.unwrap();
    assert_eq!(answer.status(), 415);
    let solid = json!({ "version": "1.0", "boxes": [
        { "x1": 0, "y1": 0, "z1": 0, "x2": 255, "y2": 255, "z2": 255, "type": "stone" },
    ] });
    let (status, answer) = post(&server, "?gridSize=256&cells=1", solid.to_string().into_bytes()).await;
    assert_eq!((status.as_u16(), &answer["code"]), (400, &json!("too_many_cells")));
}

#[tokio::test]
async fn the_schema_is_served() {
    let server = TestServer::start().await;
    let schema: Value =
        server.get("/api/schema?gridSize=64&palette=advanced").send().await.unwrap().json().await.unwrap();
    assert_eq!(schema["$defs"]["coordinate"]["maximum"], 63);
    assert_eq!(schema["$defs"]["type"]["enum"].as_array().unwrap().len(), 77);
}

/// The examples on the site's pages are valid builds.
#[tokio::test]
async fn the_examples_on_the_pages_are_valid_builds() {
    let server = TestServer::start().await;
    let html = server.get("/format").send().await.unwrap().text().await.unwrap();
    let example = html.split("<code>").find(|code| code.starts_with('{')).unwrap();
    let example = example.split("</code>").next().unwrap().replace("&quot;", "\"");
    let (status, report) = post(&server, "", example.into_bytes()).await;
    assert_eq!(
        (status.as_u16(), &report["ok"], &report["warnings"]),
        (200, &json!(true), &json!([])),
        "{report}"
    );
}

/// Memory is reserved for bytes that have arrived, so announcing a large body takes nothing from others.
#[tokio::test]
async fn announcing_large_bodies_without_sending_them_blocks_nobody() {
    let server = TestServer::start().await;
    let mut idle = Vec::new();
    for _ in 0..16 {
        let mut stream = TcpStream::connect(server.url.trim_start_matches("http://")).await.unwrap();
        let head = b"POST /api/check HTTP/1.1\r\nhost: x\r\ncontent-length: 33554432\r\n\r\n ";
        stream.write_all(head).await.unwrap();
        idle.push(stream);
    }
    let (status, report) = post(&server, "", sample_spec().to_string().into_bytes()).await;
    assert_eq!((status.as_u16(), &report["ok"]), (200, &json!(true)));
}

#[tokio::test]
async fn a_gzip_file_may_have_trailing_bytes() {
    let server = TestServer::start().await;
    let mut zipped = gzip(sample_spec().to_string().as_bytes());
    zipped.extend(b"\n");
    let (status, report) = post(&server, "", zipped).await;
    assert_eq!((status.as_u16(), &report["ok"]), (200, &json!(true)));
}

#[tokio::test]
async fn large_responses_are_complete_plain_and_compressed() {
    let server = TestServer::start().await;
    let full = json!({ "version": "1.0", "boxes": [
        { "x1": 0, "y1": 0, "z1": 0, "x2": 63, "y2": 63, "z2": 63, "type": "stone" },
    ] });
    for encoding in ["br", "gzip", "identity"] {
        let request = server.post("/api/check?gridSize=64&cells=1").header("accept-encoding", encoding);
        let answer: Value = request.body(full.to_string()).send().await.unwrap().json().await.unwrap();
        assert_eq!(answer["cells"].as_array().unwrap().len(), 64 * 64 * 64, "{encoding}");
    }
}

/// Checking a file uses only its size limit of the configuration, so other invalid settings do not matter.
#[test]
fn a_check_ignores_invalid_settings_it_does_not_use() {
    let run = |name: &str, value: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_buildoff"));
        command.args(["check", "/no/such/file"]).env(name, value);
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    assert!(run("PORT", "abc").contains("cannot read /no/such/file"));
    assert!(run("IMPORT_MAX_MIB", "none").contains("IMPORT_MAX_MIB"));
}
