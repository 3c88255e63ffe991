//! Turntables over HTTP, on their page, and from the command line. The contents of the files are tested in
//! `voxel::turntable` and `tests/python`.

use std::fs;
use std::process::Command;
use std::time::Duration;

use reqwest::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RETRY_AFTER};
use serde_json::Value;
use uuid::Uuid;

use crate::support::db::TestDb;
use crate::support::{TestServer, open_page, server_with_builds};

async fn locomotive(db: &TestDb) -> Uuid {
    let id = sqlx::query_scalar(
        "SELECT id FROM builds WHERE prompt_id = 'steam-locomotive' AND model_key = 'reference_architect'",
    );
    id.fetch_one(&db.pool).await.unwrap()
}

/// Polls until the turntable is ready, and returns the response.
async fn wait_until_made(server: &TestServer, path: &str) -> reqwest::Response {
    loop {
        let answer = server.get(path).send().await.unwrap();
        if answer.status() != 202 {
            return answer;
        }
    }
}

#[tokio::test]
async fn a_turntable_is_rendered_once_and_cached_for_ever() {
    let (db, server) = server_with_builds().await;
    let id = locomotive(&db).await;
    db.run("UPDATE builds SET retired_at = now() WHERE prompt_id = 'steam-locomotive'").await;
    for (query, kind, end, magic) in [
        ("", "image/webp", "webp", &b"RIFF"[..]),
        ("?format=webp", "image/webp", "webp", b"RIFF"),
        ("?format=gif", "image/gif", "gif", b"GIF89a"),
    ] {
        let path = format!("/api/builds/{id}/turntable{query}");
        let answer = wait_until_made(&server, &path).await;
        assert_eq!(answer.status(), 200, "{query}");
        let headers = answer.headers().clone();
        assert_eq!(headers[CONTENT_TYPE], kind);
        assert_eq!(headers[CACHE_CONTROL], "public, max-age=31536000, immutable");
        let named = format!("inline; filename=\"steam-locomotive-reference_architect.{end}\"");
        assert_eq!(headers[CONTENT_DISPOSITION], named);
        let bytes = answer.bytes().await.unwrap();
        assert!(bytes.starts_with(magic), "{query}");

        let tag = &headers[ETAG];
        assert!(tag.to_str().unwrap().starts_with('"'), "{tag:?} is strong");
        let known = server.get(&path).header(IF_NONE_MATCH, tag).send().await.unwrap();
        assert_eq!(known.status(), 304);
        let at_once = server.get(&path).header("prefer", "respond-async").send().await.unwrap();
        assert_eq!((at_once.status().as_u16(), at_once.bytes().await.unwrap()), (200, bytes));
    }
}

#[tokio::test]
async fn an_early_request_gets_the_progress_and_rendering_continues() {
    let (db, server) = server_with_builds().await;
    let path = format!("/api/builds/{}/turntable", locomotive(&db).await);

    let first = server.get(&path).header("prefer", "respond-async, wait=10").send().await.unwrap();
    assert_eq!(first.status(), 202);
    assert_eq!(first.headers()[RETRY_AFTER], "1");
    assert_eq!(first.headers()[CACHE_CONTROL], "no-store");
    let reply: Value = first.json().await.unwrap();
    assert_eq!(reply["of"], 36);

    let mut frames = vec![reply["frame"].as_u64().unwrap()];
    loop {
        let next = server.get(&path).header("prefer", "respond-async").send().await.unwrap();
        if next.status() == 200 {
            break;
        }
        frames.push(next.json::<Value>().await.unwrap()["frame"].as_u64().unwrap());
    }
    assert!(frames.is_sorted(), "{frames:?}");
    assert!(frames.iter().any(|frame| (1..36).contains(frame)), "no response had a progress: {frames:?}");
}

#[tokio::test]
async fn a_rendering_outlives_its_visitors_and_is_shared_by_new_ones() {
    let (db, server) = server_with_builds().await;
    let path = format!("/api/builds/{}/turntable", locomotive(&db).await);
    let gone = server.get(&path).timeout(Duration::from_millis(50)).send().await;
    assert!(
        gone.is_err_and(|error| error.is_timeout()),
        "the request must be aborted before the turntable is ready"
    );

    let (one, other) = tokio::join!(wait_until_made(&server, &path), wait_until_made(&server, &path));
    assert_eq!((one.status().as_u16(), other.status().as_u16()), (200, 200));
    assert_eq!(one.bytes().await.unwrap(), other.bytes().await.unwrap());
}

#[tokio::test]
async fn too_many_turntables_at_once_are_refused_with_retry_after() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("RATE_LIMITS", "off")]).await;
    let ids: Vec<Uuid> = sqlx::query_scalar("SELECT id FROM builds").fetch_all(&db.pool).await.unwrap();
    let mut refused = Vec::new();
    for (id, format) in ids.iter().flat_map(|id| [(id, "webp"), (id, "gif")]) {
        let path = format!("/api/builds/{id}/turntable?format={format}");
        let answer = server.get(&path).header("prefer", "respond-async").send().await.unwrap();
        match answer.status().as_u16() {
            202 => {}
            503 => refused.push(answer),
            status => panic!("{path} gave {status}"),
        }
    }
    let refused = refused.pop().expect("some requests must be refused");
    assert!(refused.headers().contains_key(RETRY_AFTER));
    assert_eq!(refused.json::<Value>().await.unwrap()["code"], "busy");
}

#[tokio::test]
async fn one_visitor_can_start_only_a_few_and_finished_ones_do_not_count() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("RATE_LIMITS", "on")]).await;
    let ids: Vec<Uuid> = sqlx::query_scalar("SELECT id FROM builds").fetch_all(&db.pool).await.unwrap();
    let ask = async |id: &Uuid| {
        let asked = server.get(&format!("/api/builds/{id}/turntable")).header("prefer", "respond-async");
        asked.send().await.unwrap().status().as_u16()
    };
    for _ in 0..10 {
        assert!(
            [200, 202].contains(&ask(&ids[0]).await),
            "repeated requests for one turntable must not be limited"
        );
    }
    let mut reply = Vec::new();
    for id in &ids[1..] {
        reply.push(ask(id).await);
    }
    assert_eq!(reply[..3], [202; 3]);
    assert!(reply.contains(&429), "{reply:?}");
}

#[tokio::test]
async fn a_turntable_that_cannot_be_made_is_refused_with_a_message() {
    let (db, server) = server_with_builds().await;
    let id = locomotive(&db).await;
    for (path, status) in [
        ("nothing/turntable".to_owned(), 404),
        (format!("{}/turntable", Uuid::nil()), 404),
        (format!("{id}/turntable?format=png"), 400),
        (format!("{id}/turntable?speed=2"), 400),
    ] {
        let answer = server.get(&format!("/api/builds/{path}")).send().await.unwrap();
        assert_eq!(answer.status(), status, "{path}");
        assert!(answer.json::<Value>().await.unwrap()["error"].is_string(), "{path}");
    }
    db.run("UPDATE builds SET grid = '\\x00' WHERE prompt_id = 'steam-locomotive'").await;
    let answer = wait_until_made(&server, &format!("/api/builds/{id}/turntable")).await;
    assert_eq!(answer.status(), 500);
    assert_eq!(answer.json::<Value>().await.unwrap()["code"], "build_damaged");
    let path = format!("/api/builds/{id}/turntable?format=gif");
    let polled = async {
        loop {
            let answer = server.get(&path).header("prefer", "respond-async").send().await.unwrap();
            if answer.status() != 202 {
                return answer.status().as_u16();
            }
        }
    };
    let polled = tokio::time::timeout(Duration::from_secs(60), polled).await;
    assert_eq!(polled.expect("polling must report the failure too"), 500);
}

#[tokio::test]
async fn a_build_page_makes_a_turntable_on_request() {
    let (db, server) = server_with_builds().await;
    let mut page = open_page(&server.url_for(&format!("/builds/{}", locomotive(&db).await))).await;
    assert!(
        page.holds("!document.querySelector('#turntable img')").await,
        "the turntable must load only on request"
    );

    // Progress may come and go between two looks at the page.
    page.run(
        r"window.seen = new Set();
         new MutationObserver(() => {
           const part = (selector) => document.querySelector(`#turntable ${selector}`);
           if (part('progress')?.hidden === false) seen.add('progress');
           if (/Frame \d+ of 36/.test(part('[role=status]')?.textContent)) seen.add('frames');
         }).observe(document.body, { attributes: true, childList: true, characterData: true, subtree: true });",
    )
    .await;
    page.click("#turntable a").await;
    page.wait_until("document.querySelector('#turntable img')?.naturalWidth === 320").await;
    assert!(page.holds("seen.has('progress') && seen.has('frames')").await, "progress must be shown");
    assert_eq!(page.text("#turntable [role=status]").await, "Done.");
    let file: String = page.eval("document.querySelector('#turntable a[download]').download").await;
    assert_eq!(file, "steam-locomotive-reference_architect.webp");
    page.screenshot("turntable").await;
    page.click("#turntable button").await;
    assert!(
        page.holds("!document.querySelector('#turntable img')").await,
        "closing must remove the turntable"
    );
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}

#[test]
fn the_command_line_makes_turntables_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let spec =
        concat!(env!("CARGO_MANIFEST_DIR"), "/builds/32-simple/steam-locomotive/reference_architect.json");
    let render = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        let mut command = Command::new(env!("CARGO_BIN_EXE_buildoff"));
        let output = command.args(["render", spec, "-o"]).arg(&out).args(more).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap(), fs::read(out).unwrap_or_default())
    };
    let animated = |file: &[u8]| file.windows(4).any(|chunk| chunk == b"ANMF");

    let (code, _, gif) = render("a.gif", &[]);
    assert!(code == Some(0) && gif.starts_with(b"GIF89a"));
    let (code, _, webp) = render("a.webp", &[]);
    assert!(code == Some(0) && animated(&webp));
    let (code, _, still) = render("still.webp", &["--size", "64"]);
    assert!(code == Some(0) && still.starts_with(b"RIFF") && !animated(&still));
    let (code, printed, nothing) = render("b.gif", &["--angle", "3"]);
    assert!(
        code != Some(0) && printed.contains("a .gif is always an animation") && nothing.is_empty(),
        "{printed}"
    );
}
