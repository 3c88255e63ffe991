//! Builds: stored, imported, shown, overwritten and damaged.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

use buildoff::arena::builds::{self, BuildSlot, GenerationInfo, PackedBuild};
use buildoff::arena::catalog::Catalog;
use buildoff::arena::shipped_builds;
use reqwest::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use serde_json::{Value, json};
use sqlx::Connection;
use uuid::Uuid;
use voxel::codec::{Digest, decode, encode};
use voxel::{GridSize, Palette, check};

use crate::support::db::TestDb;
use crate::support::{TestServer, server_with_builds};

async fn ids(db: &TestDb) -> Vec<Uuid> {
    builds::ids(&db.pool).await.unwrap()
}

async fn json(server: &TestServer, path: &str) -> (u16, Value) {
    let answer = server.get(path).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

fn slot() -> BuildSlot {
    shipped_builds::slot_for_path("32-simple/lighthouse/reference_architect.json").unwrap()
}

fn sample_spec(height: usize) -> String {
    let corner = json!({ "x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": height, "z2": 27, "type": "bricks" });
    json!({ "version": "1.0", "boxes": [corner], "blocks": [{ "x": 99, "y": 0, "z": 0, "type": "stone" }] })
        .to_string()
}

async fn store(db: &TestDb, text: &str, overwrite: bool) -> Result<builds::StoredBuild, builds::StoreError> {
    let packed = PackedBuild::read(text.as_bytes(), &slot().settings, 1 << 20).unwrap();
    let mut connection = db.pool.acquire().await.unwrap();
    let mut transaction = connection.begin().await.unwrap();
    let stored =
        builds::store(&mut transaction, &slot(), &packed, GenerationInfo::default(), overwrite).await?;
    transaction.commit().await.unwrap();
    Ok(stored)
}

#[tokio::test]
async fn pages_of_prompts_builds_models_and_votes_link_to_each_other() {
    let (db, server) = server_with_builds().await;
    let page =
        async |server: &TestServer, path: &str| server.get(path).send().await.unwrap().text().await.unwrap();
    let id: Uuid = sqlx::query_scalar(
        "SELECT id FROM builds WHERE prompt_id = 'lighthouse' AND model_key = 'reference_architect'",
    )
    .fetch_one(&db.pool)
    .await
    .unwrap();
    let build = page(&server, &format!("/builds/{id}")).await;
    for address in ["/prompts/lighthouse", "/models/reference_architect"] {
        assert!(build.contains(&format!("href=\"{address}\"")), "{address} is not in {build}");
    }
    let prompt = page(&server, "/prompts/lighthouse").await;
    for address in ["/prompts", "/models/reference_architect", "/?prompt=lighthouse"] {
        assert!(prompt.contains(&format!("href=\"{address}\"")), "{address} is not in {prompt}");
    }
    assert!(prompt.contains(&format!("href=\"/builds/{id}\"")), "{prompt}");

    let without = TestServer::start_with_env(db.pool.clone(), &[("REFERENCE_MODELS", "off")]).await;
    assert!(
        !page(&without, "/prompts/lighthouse").await.contains("/?prompt="),
        "a prompt with one build must offer no vote"
    );
    let model = page(&without, "/models/reference_architect").await;
    assert!(model.contains("Not on the leaderboard: reference models are switched off."), "{model}");
    assert!(
        !model.contains("<a class=\"button\" href=\"/\""),
        "a model without pairs must offer no vote: {model}"
    );
}

#[tokio::test]
async fn a_builds_facts_are_complete() {
    let (db, server) = server_with_builds().await;
    let stored = store(&db, &sample_spec(5), true).await.unwrap();
    assert!(stored.overwritten);
    let (status, mut facts) = json(&server, &format!("/api/builds/{}", stored.id)).await;
    assert!(facts["createdAt"].take().is_string());
    let expected = json!({
        "id": stored.id.to_string(),
        "prompt": { "id": "lighthouse", "text": "a lighthouse on a rocky island" },
        "model": { "key": "reference_architect", "provider": "reference", "displayName": "The Architect" },
        "settings": { "gridSize": 32, "palette": "simple", "mode": "precise" },
        "blockCount": 24 * 24 * 6,
        "bounds": { "min": [4, 0, 4], "max": [27, 5, 27] },
        "blocks": { "bricks": 24 * 24 * 6 },
        "warnings": [{ "code": "out_of_bounds", "count": 1, "message": "1 write outside the grid was dropped" }],
        "digest": null, "origin": "imported", "generation": null, "attempts": null, "generationTimeMs": null, "createdAt": null, "retiredAt": null,
    });
    assert_eq!((status, facts), (200, expected));
    let (_, spec) = json(&server, &format!("/api/builds/{}/spec", stored.id)).await;
    assert_eq!(spec, serde_json::from_str::<Value>(&sample_spec(5)).unwrap());
}

/// The stored bytes are served unchanged.
#[tokio::test]
async fn a_grid_is_immutable_and_named_by_its_build() {
    let (db, server) = server_with_builds().await;
    let id = ids(&db).await[0];
    let digest = builds::find(&db.pool, id).await.unwrap().unwrap().digest;
    let path = format!("/api/builds/{id}/grid");
    let (_, facts) = json(&server, path.trim_end_matches("/grid")).await;
    // This client does not decompress, so the test sees the bytes as sent.
    let client = reqwest::Client::builder().no_brotli().no_gzip().build().unwrap();
    let mut tags = BTreeSet::new();
    for encoding in ["br", "gzip", "identity"] {
        let answer =
            client.get(server.url_for(&path)).header(ACCEPT_ENCODING, encoding).send().await.unwrap();
        let headers = answer.headers().clone();
        assert_eq!(headers[CACHE_CONTROL], "public, max-age=31536000, immutable");
        assert_eq!(headers.get(CONTENT_ENCODING).is_some(), encoding == "br");
        let raw = answer.bytes().await.unwrap();
        let bytes = if encoding == "br" { voxel::codec::unpack(&raw).unwrap() } else { raw.to_vec() };
        assert_eq!(Digest::of(&bytes).0[..], digest);
        assert!(headers[ETAG].to_str().unwrap().starts_with(&format!("\"grid-{id}")), "{headers:?}");
        assert_eq!(decode(&bytes).unwrap().stats().block_count, facts["blockCount"]);

        let known = client
            .get(server.url_for(&path))
            .header(ACCEPT_ENCODING, encoding)
            .header(IF_NONE_MATCH, &headers[ETAG]);
        assert_eq!(known.send().await.unwrap().status(), 304);
        tags.insert(headers[ETAG].to_str().unwrap().to_owned());
    }
    assert_eq!(tags.len(), 2, "a strong tag for each encoding: {tags:?}");
    assert!(tags.iter().all(|tag| !tag.starts_with("W/")));
}

#[tokio::test]
async fn pictures_have_two_formats_and_invalid_options_are_explained() {
    let (db, server) = server_with_builds().await;
    let path = format!("/api/builds/{}/image", ids(&db).await[0]);
    for (query, kind, magic) in [
        ("?size=64&format=png", "image/png", &b"\x89PNG"[..]),
        ("?size=64&angle=7&background=transparent", "image/webp", b"RIFF"),
    ] {
        let answer = server.get(&format!("{path}{query}")).send().await.unwrap();
        assert_eq!(answer.headers()[CONTENT_TYPE], kind);
        let tag = answer.headers()[ETAG].clone();
        assert!(answer.bytes().await.unwrap().starts_with(magic));
        let known = server.get(&format!("{path}{query}")).header(IF_NONE_MATCH, tag).send().await.unwrap();
        assert_eq!(known.status(), 304);
    }
    let [odd, even] = ["?size=65&format=png", "?size=128&format=png"].map(|query| format!("{path}{query}"));
    let (odd, even) = (server.get(&odd).send().await.unwrap(), server.get(&even).send().await.unwrap());
    assert_eq!(odd.headers()[ETAG], even.headers()[ETAG]);
    let png = odd.bytes().await.unwrap();
    assert_eq!(png[16..24], [0, 0, 0, 128, 0, 0, 0, 128], "the size must be rounded up to a supported one");
    for (query, allowed) in [
        ("?angle=8", "0 to 7"),
        ("?angle=-1", "not a whole number"),
        ("?size=63", "64 to 1024"),
        ("?size=5000", "64 to 1024"),
        ("?format=gif", "png, webp"),
        ("?background=red", "sky, transparent"),
        ("?width=5", "size, angle, format, background"),
    ] {
        let (status, answer) = json(&server, &format!("{path}{query}")).await;
        assert_eq!(status, 400, "{query}");
        assert!(answer["error"].as_str().unwrap().contains(allowed), "{query}: {answer}");
    }
}

#[tokio::test]
async fn unknown_builds_and_prompts_are_not_found() {
    let (_db, server) = server_with_builds().await;
    for id in ["x", "00000000-0000-0000-0000-000000000000", "%00", "..%2f"] {
        for rest in ["", "/grid", "/image", "/spec", "/export?format=glb"] {
            let (status, answer) = json(&server, &format!("/api/builds/{id}{rest}")).await;
            assert_eq!((status, &answer["code"]), (404, &json!("not_found")), "{id}{rest}");
        }
        assert_eq!(server.get(&format!("/builds/{id}")).send().await.unwrap().status(), 404);
    }
    assert_eq!(server.get("/prompts/nothing").send().await.unwrap().status(), 404);
    assert_eq!(server.get("/textures/x/nothing.png").send().await.unwrap().status(), 404);
}

/// A vote keeps referring to the build that was shown.
#[tokio::test]
async fn overwriting_retires_and_without_it_a_second_build_is_refused() {
    let (db, server) = server_with_builds().await;
    assert!(matches!(store(&db, &sample_spec(5), false).await, Err(builds::StoreError::Exists)));
    let first = store(&db, &sample_spec(5), true).await.unwrap();
    let second = store(&db, &sample_spec(6), true).await.unwrap();
    assert!(first.overwritten && second.overwritten && first.id != second.id);

    let (status, facts) = json(&server, &format!("/api/builds/{}", first.id)).await;
    assert!(status == 200 && facts["retiredAt"].is_string());
    assert_eq!(server.get(&format!("/api/builds/{}/grid", first.id)).send().await.unwrap().status(), 200);
    let page = server.get(&format!("/builds/{}", first.id)).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("Retired."));
    let prompt = server.get("/prompts/lighthouse").send().await.unwrap().text().await.unwrap();
    assert!(prompt.contains(&second.id.to_string()) && !prompt.contains(&first.id.to_string()));
}

#[tokio::test]
async fn a_prompts_text_is_fixed_once_it_has_builds_and_seeding_reenables_nothing() {
    let (db, _server) = server_with_builds().await;
    let mut catalog = Catalog::load(None).unwrap();
    let mut fresh = catalog.prompts[0].clone();
    fresh.id = "fresh".parse().unwrap();
    catalog.prompts.push(fresh);
    let mut connection = db.pool.acquire().await.unwrap();
    catalog.seed(&mut connection).await.unwrap();
    sqlx::query!("UPDATE models SET enabled = false WHERE key = 'reference_architect'")
        .execute(&db.pool)
        .await
        .unwrap();
    catalog.prompts.iter_mut().for_each(|prompt| prompt.text = "changed".to_owned());
    catalog.seed(&mut connection).await.unwrap();

    let kept = sqlx::query_scalar!(
        "SELECT id FROM prompts WHERE text = 'changed' AND id IN (SELECT prompt_id FROM builds)"
    )
    .fetch_all(&db.pool)
    .await;
    assert_eq!(kept.unwrap(), Vec::<String>::new());
    let fresh = sqlx::query_scalar!("SELECT text FROM prompts WHERE id = 'fresh'").fetch_one(&db.pool).await;
    assert_eq!(fresh.unwrap(), "changed");
    let disabled = sqlx::query_scalar!("SELECT key FROM models WHERE NOT enabled").fetch_all(&db.pool).await;
    assert_eq!(disabled.unwrap(), ["reference_architect"]);
}

#[tokio::test]
async fn the_gallery_filters_sorts_and_says_when_nothing_matches() {
    let (_db, server) = server_with_builds().await;
    let shown = async |query: &str| {
        let html = server.get(&format!("/builds{query}")).send().await.unwrap().text().await.unwrap();
        (html.matches("/image?").count(), html)
    };
    assert_eq!(shown("?prompt=&model=&grid=&palette=&sort=oldest").await.0, 10);
    assert_eq!(shown("?prompt=lighthouse").await.0, 2);
    assert_eq!(shown("?model=reference_sculptor&grid=32&palette=simple").await.0, 5);
    assert!(shown("?grid=64").await.1.contains("No builds match these filters"));
    let unread =
        ["?grid=33", "?palette=oak", "?sort=best", "?page=x", "?page=9", "?colour=red", "?model=nobody"];
    for query in unread.into_iter().chain(["?prompt=%3Cscript%3E&page=2"]) {
        assert_eq!(shown(query).await.0, 10, "{query}");
    }
}

#[tokio::test]
async fn an_empty_installation_says_what_to_do_next() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let builds = server.get("/builds").send().await.unwrap().text().await.unwrap();
    assert!(builds.contains("No builds yet") && builds.contains("buildoff import"));
    let prompts = server.get("/prompts").send().await.unwrap().text().await.unwrap();
    assert!(prompts.contains("No prompts yet"));
    assert_eq!(server.get("/").send().await.unwrap().status(), 200);
}

/// A hundred requests for pictures wait in the queue while other requests are served.
#[tokio::test]
async fn many_pictures_at_once_do_not_starve_the_site() {
    let (db, server) = server_with_builds().await;
    let ids = ids(&db).await;
    let request = |n: usize| {
        let path = format!("/api/builds/{}/image?size={}&angle={}", ids[n % 10], 64 + n / 10, n % 8);
        let request = server.get(&path);
        tokio::spawn(async move { request.send().await.unwrap().status().as_u16() })
    };
    let requests: Vec<_> = (0..100).map(request).collect();
    assert_eq!(server.get("/healthz").send().await.unwrap().status(), 200);
    assert!(
        requests.iter().any(|request| !request.is_finished()),
        "pictures must still be queued when the page responds"
    );
    for request in requests {
        assert_eq!(request.await.unwrap(), 200);
    }
}

fn run_command(db: &TestDb, arguments: &[&str]) -> (i32, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_buildoff"))
        .args(arguments)
        .env("DATABASE_URL", db.url())
        .env("LOG", "error")
        .output()
        .unwrap();
    let printed = [stdout, stderr].map(|printed| String::from_utf8(printed).unwrap()).concat();
    (status.code().unwrap(), printed)
}

#[tokio::test]
async fn a_damaged_build_is_reported_isolated_and_found_by_the_doctor() {
    let (db, server) = server_with_builds().await;
    let ids = ids(&db).await;
    let (code, printed) = run_command(&db, &["doctor"]);
    assert_eq!((code, printed.as_str()), (0, "10 builds, 0 damaged\n"));

    let (damaged, foreign) = (ids[0], ids[1]);
    sqlx::query!("UPDATE builds SET grid = '\\x00' WHERE id = $1", damaged).execute(&db.pool).await.unwrap();
    let swap = "UPDATE builds SET grid = (SELECT grid FROM builds WHERE id = $2) WHERE id = $1";
    sqlx::query(swap).bind(foreign).bind(ids[2]).execute(&db.pool).await.unwrap();
    for id in [damaged, foreign] {
        for path in [format!("/api/builds/{id}"), format!("/api/builds/{id}/image")] {
            let (status, answer) = json(&server, &path).await;
            assert_eq!((status, &answer["code"]), (500, &json!("build_damaged")), "{path}");
        }
        let page = server.get(&format!("/builds/{id}")).send().await.unwrap();
        assert_eq!(page.status(), 500);
        assert!(page.text().await.unwrap().contains("The stored build cannot be read."));
    }
    assert_eq!(server.get(&format!("/builds/{}", ids[3])).send().await.unwrap().status(), 200);
    assert_eq!(server.get("/builds").send().await.unwrap().status(), 200);

    let (code, printed) = run_command(&db, &["doctor"]);
    assert_eq!(code, 1);
    assert!(
        printed.contains(&format!("build {damaged} is damaged")) && printed.contains("10 builds, 2 damaged"),
        "{printed}"
    );
}

#[tokio::test]
async fn a_folder_import_continues_after_an_invalid_file() {
    let (db, _server) = server_with_builds().await;
    let folder = tempfile::tempdir().unwrap();
    let file = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("64-advanced/lighthouse/reference_sculptor.json", "{\"version\":\"1.0\"}");
    file("32-simple/treehouse/reference_architect.json", &sample_spec(5));
    file("32-simple/nowhere/reference_architect.json", &sample_spec(5));
    file("32-simple/treehouse/nobody.json", &sample_spec(5));
    file("lighthouse/reference_architect.json", &format!("Here it is: {}", sample_spec(7)));
    file("notes.txt", "not a build");
    let path = folder.path().to_str().unwrap();

    let (code, printed) = run_command(&db, &["import", path]);
    assert_eq!(code, 1, "{printed}");
    for part in [
        "the grid contains no blocks",
        "--overwrite",
        "no prompt nowhere",
        "no model nobody",
        "0 imported, 5 failed",
    ] {
        assert!(printed.contains(part), "{part} is not in {printed}");
    }
    let (code, printed) = run_command(&db, &["import", path, "--overwrite"]);
    assert!(
        code == 1 && printed.contains("2 imported, 3 failed") && printed.contains("1 write outside the grid"),
        "{printed}"
    );

    let one = folder.path().join("lighthouse/reference_architect.json");
    let one = one.to_str().unwrap();
    let (code, printed) = run_command(&db, &["import", one]);
    assert!(code == 2 && printed.contains("needs --model and --prompt"), "{printed}");
    let new = ["import", one, "--model", "reference_sculptor", "--prompt", "treehouse", "--mode", "fast"];
    let (code, printed) = run_command(&db, &new);
    assert!(code == 0 && printed.contains("1 imported, 0 failed"), "{printed}");
}

#[test]
fn a_spec_is_rendered_and_so_are_the_textures() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_buildoff"))
            .current_dir(&folder)
            .args(arguments)
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    fs::write(folder.path().join("hut.json"), sample_spec(5)).unwrap();
    fs::write(folder.path().join("bad.json"), "{\"boxes\": 1}").unwrap();
    assert_eq!(run(&["render", "hut.json", "-o", "hut.png", "--size", "64"]).0, 0);
    assert_eq!(
        run(&["render", "hut.json", "-o", "hut.webp", "--size", "64", "--angle", "3", "--transparent"]).0,
        0
    );
    assert_eq!(run(&["textures"]).0, 0);
    for (file, magic) in [("hut.png", &b"\x89PNG"[..]), ("hut.webp", b"RIFF"), ("textures.png", b"\x89PNG")] {
        assert!(fs::read(folder.path().join(file)).unwrap().starts_with(magic), "{file}");
    }
    for (arguments, part) in [
        (vec!["render", "hut.json", "-o", "hut.bmp"], "must end in .png, .webp or .gif"),
        (vec!["render", "hut.json", "-o", "hut.png", "--angle", "8"], "0 to 7"),
        (vec!["render", "bad.json", "-o", "bad.png"], "boxes: expected a list"),
    ] {
        let (code, printed) = run(&arguments);
        assert!(code == 2 && printed.contains(part), "{arguments:?}: {printed}");
    }
}

/// The browser's decoder is tested with files that this encoder has written.
#[test]
fn the_grids_for_the_other_decoders_are_up_to_date() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/voxel/tests/data/grids");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "json") {
            let text = fs::read(&path).unwrap();
            let encoded = fs::read(path.with_extension("grid")).unwrap();
            let size = decode(&encoded).unwrap().size();
            let verdict = check(&text, size, Palette::Advanced, 1 << 20);
            assert_eq!(encode(verdict.grid().unwrap()), encoded, "{}", path.display());
            seen += 1;
        }
    }
    assert_eq!((seen, GridSize::ALL.len()), (5, 4));
}
