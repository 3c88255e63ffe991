//! Exports over HTTP and from the command line: statuses, headers and file names. The contents of the files
//! are tested in `tests/python` and `tests/node`.

use std::fs;
use std::path::Path;
use std::process::Command;

use buildoff::arena::builds;
use reqwest::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
};
use serde_json::{Value, json};
use uuid::Uuid;
use voxel::codec::{decode, unpack};
use voxel::{Format, Palette, check};

use crate::support::db::TestDb;
use crate::support::{TestServer, sample_spec, server_with_builds};

async fn locomotive(db: &TestDb) -> Uuid {
    let id = sqlx::query_scalar(
        "SELECT id FROM builds WHERE prompt_id = 'steam-locomotive' AND model_key = 'reference_architect'",
    );
    id.fetch_one(&db.pool).await.unwrap()
}

#[tokio::test]
async fn every_format_is_served_with_a_descriptive_file_name() {
    let (db, server) = server_with_builds().await;
    let id = locomotive(&db).await;
    for (format, file, kind, magic) in [
        ("schem", "schem", "application/octet-stream", &b"\x1f\x8b"[..]),
        ("litematic", "litematic", "application/octet-stream", b"\x1f\x8b"),
        ("nbt", "nbt", "application/octet-stream", b"\x1f\x8b"),
        ("vox", "vox", "application/octet-stream", b"VOX "),
        ("glb", "glb", "model/gltf-binary", b"glTF"),
        ("obj", "zip", "application/zip", b"PK\x03\x04"),
        ("stl", "stl", "model/stl", b"    "),
        ("json", "json", "application/json", b"{\"version\":\"1.0\""),
    ] {
        let path = format!("/api/builds/{id}/export?format={format}");
        let answer = server.get(&path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{format}");
        let headers = answer.headers().clone();
        let named = format!("attachment; filename=\"steam-locomotive-reference_architect.{file}\"");
        assert_eq!(headers[CONTENT_DISPOSITION], named);
        assert_eq!(headers[CONTENT_TYPE], kind);
        assert_eq!(headers[CACHE_CONTROL], "public, max-age=31536000, immutable");
        assert!(headers.get(CONTENT_ENCODING).is_none());
        let length: usize = headers[CONTENT_LENGTH].to_str().unwrap().parse().unwrap();
        let bytes = answer.bytes().await.unwrap();
        assert!(bytes.starts_with(magic) && bytes.len() == length, "{format}");

        let tag = &headers[ETAG];
        assert!(tag.to_str().unwrap().starts_with('"'), "{tag:?} is strong");
        let known = server.get(&path).header(IF_NONE_MATCH, tag).send().await.unwrap();
        assert_eq!(known.status(), 304, "{format}");
    }
}

#[tokio::test]
async fn an_exported_spec_gives_the_stored_grid_and_a_solid_its_volume() {
    let (db, server) = server_with_builds().await;
    let id = locomotive(&db).await;
    let stored = builds::grid(&db.pool, id).await.unwrap().unwrap();
    let grid = decode(&unpack(&stored.packed).unwrap()).unwrap();

    let get = async |format: &str| {
        let answer = server.get(&format!("/api/builds/{id}/export?format={format}")).send().await.unwrap();
        answer.bytes().await.unwrap()
    };
    let verdict = check(&get("json").await, grid.size(), Palette::Simple, 1 << 20);
    assert_eq!(verdict.grid(), Some(&grid));
    assert!(verdict.rejection().is_none() && verdict.warnings().is_empty());
    assert_eq!(volume(&get("stl").await), f64::from(grid.stats().block_count));
}

/// The volume of a closed mesh: the signed sum of the tetrahedra between its triangles and the origin.
fn volume(stl: &[u8]) -> f64 {
    let number = |bytes: &[u8]| f64::from(f32::from_le_bytes(bytes.try_into().unwrap()));
    let of = |triangle: &[u8]| {
        let numbers: Vec<f64> = triangle[12..48].chunks(4).map(number).collect();
        let [a, b, c] = [0, 3, 6].map(|at| &numbers[at..at + 3]);
        a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    stl[84..].chunks(50).map(of).sum::<f64>() / 6.0
}

#[tokio::test]
async fn an_unavailable_export_is_refused_with_a_reason() {
    let db = TestDb::seeded().await;
    let server =
        TestServer::start_with_worker(db.pool.clone(), &[("ADMIN_TOKEN", crate::support::admin::TOKEN)])
            .await;
    let id = locomotive(&db).await;
    let refused = async |path: &str| {
        let answer = server.get(path).send().await.unwrap();
        assert!(answer.headers().get(CONTENT_DISPOSITION).is_none());
        assert_eq!(answer.headers()[CACHE_CONTROL], "no-store");
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    for query in ["?format=gltf", "?format=", "?format=GLB", "", "?format=glb&size=2"] {
        let (status, reply) = refused(&format!("/api/builds/{id}/export{query}")).await;
        assert_eq!((status, &reply["code"]), (400, &json!("bad_request")), "{query}");
    }
    let (_, reply) = refused(&format!("/api/builds/{id}/export?format=gltf")).await;
    let formats = "expected one of schem, litematic, nbt, vox, glb, obj, stl, json";
    assert!(reply["error"].as_str().unwrap().contains(formats), "{reply}");
    for id in ["x", "00000000-0000-0000-0000-000000000000"] {
        let (status, reply) = refused(&format!("/api/builds/{id}/export?format=glb")).await;
        assert_eq!((status, &reply["code"]), (404, &json!("not_found")));
    }

    let wide = json!({ "version": "1.0", "boxes": [
        { "x1": 0, "y1": 0, "z1": 0, "x2": 48, "y2": 9, "z2": 20, "type": "stone" }] });
    let place = "modelKey=reference_architect&promptId=lighthouse&gridSize=64";
    let import = format!("/api/admin/import-build?{place}");
    let wide: Value =
        serde_json::from_slice(&server.admin().post(&import, wide.to_string()).await.bytes).unwrap();
    let id = wide["buildId"].as_str().unwrap();
    let (status, reply) = refused(&format!("/api/builds/{id}/export?format=nbt")).await;
    let reason = "A structure block holds at most 48 blocks per side, but this build is 49 by 10 by 21: \
                  use a schem or a litematic.";
    assert_eq!((status, reply), (422, json!({ "error": reason, "code": "not_exported" })));
    let page = server.get(&format!("/builds/{id}")).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("export?format=schem") && !page.contains("export?format=nbt"));
}

#[tokio::test]
async fn a_builds_page_links_to_every_format_and_the_arena_to_none() {
    let (db, server) = server_with_builds().await;
    let id = locomotive(&db).await;
    let page = server.get(&format!("/builds/{id}")).send().await.unwrap().text().await.unwrap();
    for format in Format::ALL {
        assert!(page.contains(&format!("href=\"/api/builds/{id}/export?format={format}\"")), "{format}");
        assert!(page.contains(format.title()), "{format}");
    }
    let arena = server.get("/").send().await.unwrap().text().await.unwrap();
    assert!(!arena.contains("/export"));
}

/// Runs `buildoff export` in a folder. Returns the exit code and what it printed as errors.
fn run_export(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_buildoff"))
        .current_dir(folder)
        .arg("export")
        .args(arguments)
        .output()
        .unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The input is protected under every spelling of its path, and behind links.
#[test]
fn an_export_never_overwrites_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |arguments: &[&str]| run_export(folder.path(), arguments);
    fs::write(at("hut.json"), sample_spec(5)).unwrap();
    assert_eq!(run(&["hut.json", "--format", "schem"]), (0, String::new()));
    let schem = fs::read(at("hut.schem")).unwrap();
    std::os::unix::fs::symlink("hut.schem", at("link.schem")).unwrap();
    let whole = at("hut.schem").to_str().unwrap().to_owned();
    for arguments in [
        vec!["hut.schem", "--format", "schem"],
        vec!["./hut.schem", "--format", "schem"],
        vec![&whole, "--format", "schem"],
        vec!["link.schem", "--format", "schem", "-o", "hut.schem"],
        vec!["hut.schem", "--format", "schem", "-o", "link.schem"],
        vec!["hut.schem", "--format", "vox", "-o", &whole],
    ] {
        let (code, printed) = run(&arguments);
        assert!(code == 2 && printed.contains("would be overwritten"), "{arguments:?}: {code} {printed}");
        assert!(fs::read(at("hut.schem")).unwrap() == schem, "{arguments:?}");
    }
    // Other files are replaced, links stay links, and no temporary file remains.
    fs::write(at("other.vox"), "other").unwrap();
    std::os::unix::fs::symlink("other.vox", at("way.vox")).unwrap();
    assert_eq!(run(&["hut.schem", "--format", "vox", "-o", "way.vox"]), (0, String::new()));
    assert!(fs::read(at("other.vox")).unwrap().starts_with(b"VOX ") && at("way.vox").is_symlink());
    assert_eq!(run(&["hut.schem", "--format", "vox", "-o", "/dev/null"]), (0, String::new()));
    let (code, printed) = run(&["hut.schem", "--format", "vox", "-o", "nowhere/hut.vox"]);
    assert!(code == 2 && printed.contains("cannot write nowhere/hut.vox"), "{code} {printed}");
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["hut.json", "hut.schem", "link.schem", "other.vox", "way.vox"]);
}

#[test]
fn a_spec_is_exported_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| run_export(folder.path(), arguments);
    fs::write(folder.path().join("hut.json"), sample_spec(5)).unwrap();
    fs::write(folder.path().join("none.json"), "{\"version\": \"1.0\", \"boxes\": []}").unwrap();
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Json) {
        assert_eq!(run(&["hut.json", "--format", format.name()]), (0, String::new()));
        assert!(folder.path().join("hut").with_extension(format.extension()).exists(), "{format}");
    }
    assert_eq!(run(&["hut.json", "--format", "json", "-o", "again.json"]).0, 0);
    assert_eq!(run(&["again.json", "--format", "schem", "-o", "hut2.schem"]).0, 0);
    assert_eq!(run(&["hut.json", "-o", "named.GLB"]).0, 0);
    assert!(fs::read(folder.path().join("named.GLB")).unwrap().starts_with(b"glTF"));
    for (arguments, part) in [
        (vec!["hut.json"], "choose a format"),
        (vec!["hut.json", "-o", "hut.foo"], "choose a format"),
        (vec!["hut.json", "--format", "json"], "would be overwritten"),
        (vec!["hut.json", "--format", "gltf"], "expected one of"),
        (vec!["none.json", "--format", "stl"], "the build has no blocks to export"),
        (vec!["nowhere.json", "--format", "stl"], "cannot read nowhere.json"),
    ] {
        let (code, printed) = run(&arguments);
        assert!(code == 2 && printed.contains(part), "{arguments:?}: {code} {printed}");
    }
}
