//! Builds: shipped, imported, shown, overwritten, damaged.

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
use voxel::{Digest, GridSize, Palette, check, decode, encode};

use crate::support::Site;
use crate::support::db::TestDb;

/// A site with some of the builds that are shipped.
async fn exhibition() -> (TestDb, Site) {
    let db = TestDb::seeded().await;
    let site = Site::open_on(db.pool.clone()).await;
    (db, site)
}

async fn ids(db: &TestDb) -> Vec<Uuid> {
    builds::ids(&db.pool).await.unwrap()
}

async fn json(site: &Site, path: &str) -> (u16, Value) {
    let answer = site.get(path).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

fn slot() -> BuildSlot {
    shipped_builds::slot_for_path("32-simple/lighthouse/reference_architect.json").unwrap()
}

fn hut(height: usize) -> String {
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
async fn pages_of_prompts_and_builds_lead_to_one_another_to_models_and_to_the_vote() {
    let (db, site) = exhibition().await;
    let page = async |site: &Site, path: &str| site.get(path).send().await.unwrap().text().await.unwrap();
    let id: Uuid = sqlx::query_scalar(
        "SELECT id FROM builds WHERE prompt_id = 'lighthouse' AND model_key = 'reference_architect'",
    )
    .fetch_one(&db.pool)
    .await
    .unwrap();
    let build = page(&site, &format!("/builds/{id}")).await;
    for address in ["/prompts/lighthouse", "/models/reference_architect"] {
        assert!(build.contains(&format!("href=\"{address}\"")), "{address} is not in {build}");
    }
    let prompt = page(&site, "/prompts/lighthouse").await;
    for address in ["/prompts", "/models/reference_architect", "/?prompt=lighthouse"] {
        assert!(prompt.contains(&format!("href=\"{address}\"")), "{address} is not in {prompt}");
    }
    assert!(prompt.contains(&format!("href=\"/builds/{id}\"")), "{prompt}");

    let without = Site::open_as(db.pool.clone(), &[("REFERENCE_MODELS", "off")]).await;
    assert!(
        !page(&without, "/prompts/lighthouse").await.contains("/?prompt="),
        "there is nothing to vote on"
    );
    let model = page(&without, "/models/reference_architect").await;
    assert!(model.contains("Not on the ladder: it takes no part."), "{model}");
    assert!(!model.contains("<a class=\"button\" href=\"/\""), "it leads to no vote: {model}");
}

#[tokio::test]
async fn a_builds_facts_are_told_whole() {
    let (db, site) = exhibition().await;
    let stored = store(&db, &hut(5), true).await.unwrap();
    assert!(stored.overwritten);
    let (status, mut facts) = json(&site, &format!("/api/builds/{}", stored.id)).await;
    assert!(facts["createdAt"].take().is_string() && facts["digest"].take().as_str().unwrap().len() == 64);
    let expected = json!({
        "id": stored.id.to_string(),
        "prompt": { "id": "lighthouse", "text": "a lighthouse on a rocky island" },
        "model": { "key": "reference_architect", "provider": "reference", "displayName": "The Architect" },
        "settings": { "gridSize": 32, "palette": "simple", "mode": "precise" },
        "blockCount": 24 * 24 * 6,
        "bounds": { "min": [4, 0, 4], "max": [27, 5, 27] },
        "blocks": { "bricks": 24 * 24 * 6 },
        "warnings": [{ "code": "out_of_bounds", "count": 1, "message": "1 write was outside the grid and dropped" }],
        "digest": null, "attempts": null, "generationTimeMs": null, "createdAt": null, "retiredAt": null,
    });
    assert_eq!((status, facts), (200, expected));
    let (_, spec) = json(&site, &format!("/api/builds/{}/spec", stored.id)).await;
    assert_eq!(spec, serde_json::from_str::<Value>(&hut(5)).unwrap());
}

/// The stored bytes are the served bytes, under a name that never stands for others.
#[tokio::test]
async fn a_grid_is_immutable_and_named_by_its_digest() {
    let (db, site) = exhibition().await;
    let path = format!("/api/builds/{}/grid", ids(&db).await[0]);
    let (_, facts) = json(&site, path.trim_end_matches("/grid")).await;
    // One that shows what is sent.
    let client = reqwest::Client::builder().no_brotli().no_gzip().build().unwrap();
    let mut tags = BTreeSet::new();
    for encoding in ["br", "gzip", "identity"] {
        let answer = client.get(site.at(&path)).header(ACCEPT_ENCODING, encoding).send().await.unwrap();
        let headers = answer.headers().clone();
        assert_eq!(headers[CACHE_CONTROL], "public, max-age=31536000, immutable");
        assert_eq!(headers.get(CONTENT_ENCODING).is_some(), encoding == "br");
        let raw = answer.bytes().await.unwrap();
        let bytes = if encoding == "br" { voxel::unpack(&raw).unwrap() } else { raw.to_vec() };
        assert_eq!(Digest::of(&bytes).to_string(), facts["digest"]);
        assert_eq!(decode(&bytes).unwrap().stats().block_count, facts["blockCount"]);

        let known = client
            .get(site.at(&path))
            .header(ACCEPT_ENCODING, encoding)
            .header(IF_NONE_MATCH, &headers[ETAG]);
        assert_eq!(known.send().await.unwrap().status(), 304);
        tags.insert(headers[ETAG].to_str().unwrap().to_owned());
    }
    assert_eq!(tags.len(), 2, "a strong tag for each encoding: {tags:?}");
    assert!(tags.iter().all(|tag| !tag.starts_with("W/")));
}

#[tokio::test]
async fn pictures_come_in_two_formats_and_odd_wishes_are_told_what_is_allowed() {
    let (db, site) = exhibition().await;
    let path = format!("/api/builds/{}/image", ids(&db).await[0]);
    for (query, kind, magic) in [
        ("?size=64&format=png", "image/png", &b"\x89PNG"[..]),
        ("?size=64&angle=7&background=transparent", "image/webp", b"RIFF"),
    ] {
        let answer = site.get(&format!("{path}{query}")).send().await.unwrap();
        assert_eq!(answer.headers()[CONTENT_TYPE], kind);
        let tag = answer.headers()[ETAG].clone();
        assert!(answer.bytes().await.unwrap().starts_with(magic));
        let known = site.get(&format!("{path}{query}")).header(IF_NONE_MATCH, tag).send().await.unwrap();
        assert_eq!(known.status(), 304);
    }
    let [odd, even] = ["?size=65&format=png", "?size=128&format=png"].map(|query| format!("{path}{query}"));
    let (odd, even) = (site.get(&odd).send().await.unwrap(), site.get(&even).send().await.unwrap());
    assert_eq!(odd.headers()[ETAG], even.headers()[ETAG]);
    let png = odd.bytes().await.unwrap();
    assert_eq!(png[16..24], [0, 0, 0, 128, 0, 0, 0, 128], "rounded up to a size that is made");
    for (query, allowed) in [
        ("?angle=8", "0 to 7"),
        ("?angle=-1", "invalid digit"),
        ("?size=63", "64 to 1024"),
        ("?size=5000", "64 to 1024"),
        ("?format=gif", "`png` or `webp`"),
        ("?background=red", "`sky` or `transparent`"),
        ("?width=5", "`size`, `angle`, `format`, `background`"),
    ] {
        let (status, answer) = json(&site, &format!("{path}{query}")).await;
        assert_eq!(status, 400, "{query}");
        assert!(answer["error"].as_str().unwrap().contains(allowed), "{query}: {answer}");
    }
}

#[tokio::test]
async fn unknown_builds_and_prompts_are_not_found() {
    let (_db, site) = exhibition().await;
    for id in ["x", "00000000-0000-0000-0000-000000000000", "%00", "..%2f"] {
        for rest in ["", "/grid", "/image", "/spec", "/export?format=glb"] {
            let (status, answer) = json(&site, &format!("/api/builds/{id}{rest}")).await;
            assert_eq!((status, &answer["code"]), (404, &json!("not_found")), "{id}{rest}");
        }
        assert_eq!(site.get(&format!("/builds/{id}")).send().await.unwrap().status(), 404);
    }
    assert_eq!(site.get("/prompts/nothing").send().await.unwrap().status(), 404);
    assert_eq!(site.get("/textures/x/nothing.png").send().await.unwrap().status(), 404);
}

/// Votes go on pointing at what was judged.
#[tokio::test]
async fn overwriting_retires_and_without_it_a_second_build_is_refused() {
    let (db, site) = exhibition().await;
    assert!(matches!(store(&db, &hut(5), false).await, Err(builds::StoreError::Exists)));
    let first = store(&db, &hut(5), true).await.unwrap();
    let second = store(&db, &hut(6), true).await.unwrap();
    assert!(first.overwritten && second.overwritten && first.id != second.id);

    let (status, facts) = json(&site, &format!("/api/builds/{}", first.id)).await;
    assert!(status == 200 && facts["retiredAt"].is_string());
    assert_eq!(site.get(&format!("/api/builds/{}/grid", first.id)).send().await.unwrap().status(), 200);
    let page = site.get(&format!("/builds/{}", first.id)).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("Retired."));
    let prompt = site.get("/prompts/lighthouse").send().await.unwrap().text().await.unwrap();
    assert!(prompt.contains(&second.id.to_string()) && !prompt.contains(&first.id.to_string()));
}

#[tokio::test]
async fn a_prompts_text_stays_once_it_has_builds_and_seeding_enables_nothing_again() {
    let (db, _site) = exhibition().await;
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
    let (_db, site) = exhibition().await;
    let shown = async |query: &str| {
        let html = site.get(&format!("/builds{query}")).send().await.unwrap().text().await.unwrap();
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
    let site = Site::open_on(db.pool.clone()).await;
    let builds = site.get("/builds").send().await.unwrap().text().await.unwrap();
    assert!(builds.contains("There are no builds yet") && builds.contains("buildoff import"));
    let prompts = site.get("/prompts").send().await.unwrap().text().await.unwrap();
    assert!(prompts.contains("There are no prompts yet"));
    assert_eq!(site.get("/").send().await.unwrap().status(), 200);
}

/// A hundred wishes for pictures wait in line; everybody else is served.
#[tokio::test]
async fn many_pictures_at_once_do_not_starve_the_site() {
    let (db, site) = exhibition().await;
    let ids = ids(&db).await;
    let wish = |n: usize| {
        let path = format!("/api/builds/{}/image?size={}&angle={}", ids[n % 10], 64 + n / 10, n % 8);
        let request = site.get(&path);
        tokio::spawn(async move { request.send().await.unwrap().status().as_u16() })
    };
    let wishes: Vec<_> = (0..100).map(wish).collect();
    assert_eq!(site.get("/healthz").send().await.unwrap().status(), 200);
    assert!(
        wishes.iter().any(|wish| !wish.is_finished()),
        "somebody is still waiting while the site answers"
    );
    for wish in wishes {
        assert_eq!(wish.await.unwrap(), 200);
    }
}

fn buildoff(db: &TestDb, arguments: &[&str]) -> (i32, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_buildoff"))
        .args(arguments)
        .env("DATABASE_URL", db.url())
        .env("LOG", "error")
        .output()
        .unwrap();
    let said = [stdout, stderr].map(|said| String::from_utf8(said).unwrap()).concat();
    (status.code().unwrap(), said)
}

#[tokio::test]
async fn damage_is_told_breaks_nothing_else_and_is_found_by_the_doctor() {
    let (db, site) = exhibition().await;
    let ids = ids(&db).await;
    let (code, said) = buildoff(&db, &["doctor"]);
    assert_eq!((code, said.as_str()), (0, "10 builds, 0 damaged\n"));

    let (damaged, foreign) = (ids[0], ids[1]);
    sqlx::query!("UPDATE builds SET grid = '\\x00' WHERE id = $1", damaged).execute(&db.pool).await.unwrap();
    let swap = "UPDATE builds SET grid = (SELECT grid FROM builds WHERE id = $2) WHERE id = $1";
    sqlx::query(swap).bind(foreign).bind(ids[2]).execute(&db.pool).await.unwrap();
    for id in [damaged, foreign] {
        for path in [format!("/api/builds/{id}"), format!("/api/builds/{id}/image")] {
            let (status, answer) = json(&site, &path).await;
            assert_eq!((status, &answer["code"]), (500, &json!("build_damaged")), "{path}");
        }
        let page = site.get(&format!("/builds/{id}")).send().await.unwrap();
        assert_eq!(page.status(), 500);
        assert!(page.text().await.unwrap().contains("stored data is damaged"));
    }
    assert_eq!(site.get(&format!("/builds/{}", ids[3])).send().await.unwrap().status(), 200);
    assert_eq!(site.get("/builds").send().await.unwrap().status(), 200);

    let (code, said) = buildoff(&db, &["doctor"]);
    assert_eq!(code, 1);
    assert!(
        said.contains(&format!("build {damaged} is damaged")) && said.contains("10 builds, 2 damaged"),
        "{said}"
    );
}

#[tokio::test]
async fn a_folder_is_imported_file_by_file_and_goes_on_after_a_bad_one() {
    let (db, _site) = exhibition().await;
    let folder = tempfile::tempdir().unwrap();
    let file = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("64-advanced/lighthouse/reference_sculptor.json", "{\"version\":\"1.0\"}");
    file("32-simple/treehouse/reference_architect.json", &hut(5));
    file("32-simple/nowhere/reference_architect.json", &hut(5));
    file("32-simple/treehouse/nobody.json", &hut(5));
    file("lighthouse/reference_architect.json", &format!("Here it is: {}", hut(7)));
    file("notes.txt", "not a build");
    let path = folder.path().to_str().unwrap();

    let (code, said) = buildoff(&db, &["import", path]);
    assert_eq!(code, 1, "{said}");
    for part in
        ["there are no blocks", "--overwrite", "no prompt nowhere", "no model nobody", "0 imported, 5 failed"]
    {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    let (code, said) = buildoff(&db, &["import", path, "--overwrite"]);
    assert!(
        code == 1 && said.contains("2 imported, 3 failed") && said.contains("1 write was outside"),
        "{said}"
    );

    let one = folder.path().join("lighthouse/reference_architect.json");
    let one = one.to_str().unwrap();
    let (code, said) = buildoff(&db, &["import", one]);
    assert!(code == 2 && said.contains("needs --model and --prompt"), "{said}");
    let new = ["import", one, "--model", "reference_sculptor", "--prompt", "treehouse", "--mode", "fast"];
    let (code, said) = buildoff(&db, &new);
    assert!(code == 0 && said.contains("1 imported, 0 failed"), "{said}");
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
    fs::write(folder.path().join("hut.json"), hut(5)).unwrap();
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
        (vec!["render", "hut.json", "-o", "hut.bmp"], "is no .png, .webp or .gif"),
        (vec!["render", "hut.json", "-o", "hut.png", "--angle", "8"], "0 to 7"),
        (vec!["render", "bad.json", "-o", "bad.png"], "boxes: expected a list"),
    ] {
        let (code, said) = run(&arguments);
        assert!(code == 2 && said.contains(part), "{arguments:?}: {said}");
    }
}

/// What the browser's decoder is tested on is what this encoder makes.
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
