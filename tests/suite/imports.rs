//! Files of other tools, imported through the API and every command. Their contents are tested in
//! `voxel::import` and `tests/python`.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use voxel::{Format, GridSize, Palette, check, export};

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::{TestServer, sample_spec};

/// A hut in the format of another tool.
fn file(format: Format) -> Vec<u8> {
    let verdict = check(sample_spec(5).as_bytes(), GridSize::G32, Palette::Simple, 1 << 20);
    export(verdict.grid().unwrap(), format, "hut").unwrap()
}

#[tokio::test]
async fn a_schematic_is_imported_and_its_spec_gives_the_same_build() {
    let db = TestDb::new().await;
    let server =
        TestServer::start_with_env(db.pool.clone(), &[("ADMIN_TOKEN", TOKEN), ("RATE_LIMITS", "off")]).await;
    let admin = server.admin();
    admin.post("/api/admin/seed?generateBuilds=0", "").await;
    let to = |model: &str| format!("/api/admin/import-build?modelKey={model}&promptId=lighthouse");
    let plain = admin.post(&to("openai_gpt_5_5"), sample_spec(5)).await.json();
    let foreign = admin.post(&to("gemini_3_1_pro"), file(Format::Schem)).await;
    assert_eq!(foreign.status, 200, "{}", foreign.text());
    let foreign = foreign.json();
    assert_eq!((&foreign["blockCount"], &foreign["warnings"]), (&plain["blockCount"], &json!([])));

    let get = async |id: &Value, what: &str| {
        let path = format!("/api/builds/{}/{what}", id.as_str().unwrap());
        server.get(&path).send().await.unwrap().bytes().await.unwrap()
    };
    let (plain, foreign) = (&plain["buildId"], &foreign["buildId"]);
    assert_eq!(get(plain, "grid").await, get(foreign, "grid").await);
    let spec = get(foreign, "spec").await;
    assert!(spec.starts_with(b"{\"version\":\"1.0\""), "{}", String::from_utf8_lossy(&spec));
    let again = admin.post(&format!("{}&overwrite=1", to("gemini_3_1_pro")), spec).await.json();
    assert_eq!(get(&again["buildId"], "grid").await, get(plain, "grid").await);

    let mut broken = file(Format::Vox);
    broken.truncate(500);
    let refused = admin.post(&to("xai_grok_4_3"), broken).await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "bad_file"), "{}", refused.text());
}

#[tokio::test]
async fn files_of_other_tools_are_checked_over_http() {
    let server = TestServer::start().await;
    let ask = async |query: &str, body: Vec<u8>| {
        let answer = server.post(&format!("/api/check?{query}")).body(body).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    let (_, expected) = ask("cells=1", sample_spec(5).into_bytes()).await;
    assert_eq!(expected["ok"], true);
    for format in [Format::Schem, Format::Litematic, Format::Vox] {
        assert_eq!(ask("cells=1", file(format)).await, (200, expected.clone()), "{format}");
    }
    // A hut of 32 cells keeps its position in a larger grid.
    let (status, larger) = ask("gridSize=64", file(Format::Schem)).await;
    assert_eq!((status, &larger["bounds"]), (200, &expected["bounds"]));

    let row = [
        b"VOX \x96\0\0\0MAIN\0\0\0\0\x2c\0\0\0SIZE\x0c\0\0\0\0\0\0\0".to_vec(),
        vec![40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0],
    ];
    let voxels = b"XYZI\x0c\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\x01\x27\0\0\x01";
    let mut wide = row.concat();
    wide.extend(voxels);
    wide[16] = (wide.len() - 20) as u8;
    let (status, report) = ask("", wide).await;
    let message = "the build is 40 wide, 1 high and 1 deep, too large for a 32³ grid: use a 64³ grid";
    assert_eq!((status, &report["error"]), (400, &json!({ "code": "does_not_fit", "message": message })));
}

#[tokio::test]
async fn a_folder_of_files_is_imported_and_every_command_accepts_such_files() {
    let db = TestDb::new().await;
    let folder = tempfile::tempdir().unwrap();
    let prompt = folder.path().join("lighthouse");
    fs::create_dir(&prompt).unwrap();
    fs::write(prompt.join("reference_architect.litematic"), file(Format::Litematic)).unwrap();
    fs::write(prompt.join("reference_sculptor.vox"), file(Format::Vox)).unwrap();
    fs::write(prompt.join("notes.txt"), "not a build").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_buildoff"));
        let output =
            command.current_dir(&prompt).args(arguments).env("DATABASE_URL", db.url()).output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&printed).into_owned())
    };
    let (code, printed) = run(&["import", folder.path().to_str().unwrap()]);
    assert!(code == Some(0) && printed.contains("2 imported, 0 failed"), "{printed}");
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE prompt_id = 'lighthouse'").await, 2);
    let digests = "SELECT count(DISTINCT digest) FROM builds WHERE prompt_id = 'lighthouse'";
    assert_eq!(db.number(digests).await, 1);

    // Two files for one slot are both refused, since either could be meant; the other files are imported.
    fs::write(prompt.join("reference_sculptor.json"), sample_spec(6)).unwrap();
    let (code, printed) = run(&["import", folder.path().to_str().unwrap(), "--overwrite"]);
    assert!(code == Some(1) && printed.contains("1 imported, 2 failed"), "{printed}");
    for (file, rival) in [("sculptor.json", "sculptor.vox"), ("sculptor.vox", "sculptor.json")] {
        let named = |line: &str| line.contains(&format!("{file}: failed")) && line.contains(rival);
        assert!(printed.lines().any(named), "{file}: {printed}");
    }
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE prompt_id = 'lighthouse'").await, 3);
    assert_eq!(db.number(digests).await, 1);
    fs::remove_file(prompt.join("reference_sculptor.json")).unwrap();

    for arguments in [
        vec!["check", "reference_sculptor.vox"],
        vec!["render", "reference_sculptor.vox", "-o", "hut.png", "--size", "64"],
        vec!["export", "reference_architect.litematic", "--format", "schem"],
        vec!["check", "reference_architect.schem"],
    ] {
        let (code, printed) = run(&arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {printed}");
    }
}
