//! `/api/dataset.tar` and `buildoff export-all`: the whole public benchmark in one file.

mod hostile;
mod imports;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use buildoff::arena::audit::Admin;
use buildoff::arena::decisions::{self, VoteSelection, VoteVerdict};
use buildoff::dataset::{DatasetFile, DatasetManifest};
use flate2::read::GzDecoder;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use tokio::time::sleep;
use uuid::Uuid;

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::voter::TestResponse;
use crate::support::{AbortableRequest, CHOICES, TestServer, server_with_builds};

const PATH: &str = "/api/dataset.tar";

/// A dataset, taken apart.
struct TestDataset {
    bytes: Vec<u8>,
    files: BTreeMap<String, Vec<u8>>,
}

impl TestDataset {
    fn of(bytes: Vec<u8>) -> Self {
        let mut files = BTreeMap::new();
        for entry in tar::Archive::new(&bytes[..]).entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            files.insert(entry.path().unwrap().display().to_string(), content);
        }
        Self { bytes, files }
    }

    async fn from_server(server: &TestServer) -> Self {
        let answer = server.get(PATH).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        Self::of(answer.bytes().await.unwrap().to_vec())
    }

    async fn from_command(db: &TestDb) -> Self {
        let (code, out, err) = run(db, &["export-all", "-"]).await;
        assert_eq!(code, 0, "{err}");
        Self::of(out)
    }

    /// The content of a file, decompressed.
    fn text(&self, path: &str) -> Vec<u8> {
        let content = self.files.get(path).unwrap_or_else(|| panic!("no {path} in {:?}", self.files.keys()));
        if !path.ends_with(".gz") {
            return content.clone();
        }
        let mut text = Vec::new();
        GzDecoder::new(&content[..]).read_to_end(&mut text).unwrap();
        text
    }

    fn records(&self, path: &str) -> Vec<Value> {
        let text = String::from_utf8(self.text(path)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn manifest(&self) -> DatasetManifest {
        serde_json::from_slice(&self.text("manifest.json")).unwrap()
    }

    fn builds(&self) -> Vec<Uuid> {
        self.records("builds.jsonl")
            .iter()
            .map(|build| build["id"].as_str().unwrap().parse().unwrap())
            .collect()
    }
}

/// Runs a command on a database: its exit code, output and errors.
async fn run(db: &TestDb, arguments: &[&str]) -> (i32, Vec<u8>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_buildoff"));
    command.args(arguments).env("DATABASE_URL", db.url()).env("LOG", "warn");
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    (output.status.code().unwrap(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

async fn cast_votes(server: &TestServer, voters: usize) {
    for _ in 0..voters {
        let voter = server.voter();
        for choice in CHOICES {
            let matchup = voter.matchup().await;
            voter.fetch_builds(&matchup).await;
            assert_eq!(voter.vote(&matchup, choice).await.status, 200);
        }
    }
}

/// Ten builds and twelve votes by three voters.
async fn server_with_votes() -> (TestDb, TestServer) {
    let (db, server) = server_with_builds().await;
    cast_votes(&server, 3).await;
    (db, server)
}

/// Withdraws the votes of the voter who came first.
async fn withdraw_first_voter(db: &TestDb) {
    let voter = sqlx::query_scalar(
        "SELECT voter_id FROM matchups JOIN votes ON matchup_id = matchups.id ORDER BY votes.id LIMIT 1",
    );
    let now = OffsetDateTime::now_utc();
    let selection = VoteSelection {
        from: now - time::Duration::HOUR,
        until: now + time::Duration::HOUR,
        networks: Vec::new(),
        voters: vec![voter.fetch_one(&db.pool).await.unwrap()],
        model: None,
        max_dwell_ms: None,
    };
    decisions::decide(&db.pool, &selection, VoteVerdict::Withdrawn, "A flood.", Admin::COMMAND_LINE)
        .await
        .unwrap();
}

/// As if a model had been asked for one of the builds.
async fn generate_one_build(db: &TestDb) {
    db.run(
        r#"INSERT INTO generations (
               build_id, provider, model_id, options, template, sent, input_tokens, output_tokens, cost,
               cost_is_minimum, notes
           )
           SELECT id, 'openai', 'gpt-5.2-pro', '{"effort":"high","temperature":null,"maxOutputTokens":null}',
               sha256('template'), '{"effort":"medium","temperature":null,"maxOutputTokens":64000,"schema":true}',
               4100, 15200, 240000, false,
               '[{"step":{"effort":{"from":"high","to":"medium"}},"why":"org-secret must not"}]'
           FROM builds ORDER BY id LIMIT 1"#,
    )
    .await;
}

async fn get(server: &TestServer, path: &str) -> Vec<u8> {
    let answer = server.get(path).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    answer.bytes().await.unwrap().to_vec()
}

#[tokio::test]
async fn the_dataset_holds_what_the_site_shows_and_fits_its_manifest() {
    let (db, server) = server_with_votes().await;
    withdraw_first_voter(&db).await;
    generate_one_build(&db).await;
    let dataset = TestDataset::from_server(&server).await;

    let manifest = dataset.manifest();
    assert_eq!((manifest.format.as_str(), manifest.version), ("buildoff-dataset", 1));
    let counts = manifest.counts;
    assert_eq!(
        (counts.builds, counts.votes, counts.counted_votes, counts.decisions),
        (10, 12, 8, 1),
        "{counts:?}"
    );
    let mut listed: Vec<_> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    listed.sort_unstable();
    let there = dataset.files.keys().map(String::as_str).filter(|path| *path != "manifest.json");
    assert_eq!(listed, there.collect::<Vec<_>>());
    for file in &manifest.files {
        let content = &dataset.files[&file.path];
        assert_eq!(
            (content.len() as u64, hex::encode(Sha256::digest(content))),
            (file.bytes, file.sha256.clone())
        );
    }

    assert_eq!(dataset.text("votes.jsonl.gz"), get(&server, "/api/votes.jsonl").await);
    for build in dataset.records("builds.jsonl") {
        let id = build["id"].as_str().unwrap();
        let shown: Value = serde_json::from_slice(&get(&server, &format!("/api/builds/{id}")).await).unwrap();
        for field in ["id", "blockCount", "warnings", "createdAt", "retiredAt"] {
            assert_eq!(build[field], shown[field], "{field}");
        }
        assert_eq!(
            (&build["promptId"], &build["modelKey"]),
            (&shown["prompt"]["id"], &shown["model"]["key"])
        );
        assert_eq!(build["generation"]["attempts"], shown["attempts"]);
        let (asked, shown_request) = (&build["generation"]["asked"], &shown["generation"]);
        for field in ["provider", "modelId", "sent", "template", "tokensIn", "tokensOut", "changes"] {
            assert_eq!(asked[field], shown_request[field], "{field}");
        }
        let grid = dataset.text(&format!("builds/{id}.grid.gz"));
        assert_eq!(grid, get(&server, &format!("/api/builds/{id}/grid")).await);
        assert_eq!(build["digest"], hex::encode(Sha256::digest(&grid)));
        assert_eq!(
            dataset.text(&format!("builds/{id}.json.gz")),
            get(&server, &format!("/api/builds/{id}/spec")).await
        );
    }
    let asked =
        dataset.records("builds.jsonl").into_iter().filter(|build| !build["generation"]["asked"].is_null());
    assert_eq!(asked.count(), 1);
    assert!(!String::from_utf8(dataset.text("builds.jsonl")).unwrap().contains("org-secret"));
    let named: Vec<_> = dataset.records("builds.jsonl").iter().map(|build| build["logId"].clone()).collect();
    let votes = dataset.records("votes.jsonl.gz");
    assert!(votes.iter().all(|vote| named.contains(&vote["build_a"]) && named.contains(&vote["build_b"])));
    let decisions = dataset.records("decisions.jsonl");
    assert_eq!(
        (&decisions[0]["verdict"], &decisions[0]["reason"]),
        (&json!("withdrawn"), &json!("A flood."))
    );
    let withdrawn: Vec<_> = votes.iter().filter(|vote| vote["decision"] == decisions[0]["id"]).collect();
    assert_eq!(withdrawn.len(), 4);
    assert!(withdrawn.iter().all(|vote| vote["exclusion"] == "withdrawn"));

    let board: Value = serde_json::from_slice(&get(&server, "/api/leaderboard").await).unwrap();
    let ladders: Value = serde_json::from_slice(&dataset.text("ladders.json")).unwrap();
    assert_eq!(ladders[0]["settings"], "32-simple-precise");
    for model in ladders[0]["models"].as_array().unwrap() {
        let shown =
            board["models"].as_array().unwrap().iter().find(|row| row["key"] == model["key"]).unwrap();
        for field in ["elo", "votes", "wins", "losses", "ties", "bothBad"] {
            assert_eq!(model[field], shown[field], "{field}");
        }
    }
    let readme = String::from_utf8(dataset.text("README.md")).unwrap();
    assert!(readme.contains("- Votes: 12, of which 8 count"), "{readme}");
    assert!(readme.contains("The site that it comes from names none."), "{readme}");

    // For tests/python.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dataset");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("dataset.tar"), &dataset.bytes).unwrap();
}

#[tokio::test]
async fn the_same_state_makes_the_same_bytes_on_every_server_and_on_the_command_line() {
    let (db, server) = server_with_votes().await;
    let other = TestServer::start_with_db(db.pool.clone()).await;
    let (one, another) = (server.get(PATH).send().await.unwrap(), other.get(PATH).send().await.unwrap());
    assert_eq!(one.headers()["etag"], another.headers()["etag"]);
    let one = one.bytes().await.unwrap().to_vec();
    assert_eq!(one, another.bytes().await.unwrap());
    assert_eq!(one, TestDataset::from_command(&db).await.bytes);

    cast_votes(&server, 1).await;
    let third = TestServer::start_with_db(db.pool.clone()).await;
    assert_ne!(one, TestDataset::from_server(&third).await.bytes);
}

#[tokio::test]
async fn the_license_and_the_address_of_the_site_are_named() {
    let db = TestDb::seeded().await;
    let variables = [("PUBLIC_URL", "https://buildoff.example"), ("DATASET_LICENSE", "CC-BY-4.0")];
    let server = TestServer::start_with_env(db.pool.clone(), &variables).await;
    let dataset = TestDataset::from_server(&server).await;
    let manifest = dataset.manifest();
    assert_eq!(manifest.license.as_deref(), Some("CC-BY-4.0"));
    assert_eq!(manifest.source.as_deref(), Some("https://buildoff.example"));
    let readme = String::from_utf8(dataset.text("README.md")).unwrap();
    assert!(readme.contains("- License: CC-BY-4.0"), "{readme}");
}

#[tokio::test]
async fn votes_whose_results_are_not_shown_yet_are_left_out() {
    let (db, server) = server_with_votes().await;
    db.run("UPDATE votes SET at = at - interval '2 hours' WHERE id <= (SELECT min(id) FROM votes)").await;
    let late = TestServer::start_with_env(db.pool.clone(), &[("RESULTS_DELAY_MINUTES", "60")]).await;
    let dataset = TestDataset::from_server(&late).await;
    assert_eq!(dataset.manifest().counts.votes, 1);
    assert_eq!(dataset.text("votes.jsonl.gz"), get(&late, "/api/votes.jsonl").await);
    let ladders: Value = serde_json::from_slice(&dataset.text("ladders.json")).unwrap();
    assert_eq!(ladders[0]["models"][0]["votes"], 1);
    assert_eq!(TestDataset::from_server(&server).await.manifest().counts.votes, 12);
}

#[tokio::test]
async fn builds_of_held_out_prompts_are_left_out_also_of_a_file_that_had_them() {
    let db = TestDb::seeded().await;
    let variables = [("RATE_LIMITS", "off"), ("ADMIN_TOKEN", TOKEN)];
    let server = TestServer::start_with_env(db.pool.clone(), &variables).await;
    assert_eq!(TestDataset::from_server(&server).await.builds().len(), 10);

    let held_out = json!({ "heldOut": true });
    let path = "/api/admin/prompts/lighthouse";
    assert_eq!(server.admin().json(Method::PATCH, path, &held_out).await.status, 200);
    let dataset = TestDataset::from_server(&server).await;
    assert_eq!(dataset.builds().len(), 8);
    let lighthouses: Vec<Uuid> = sqlx::query_scalar("SELECT id FROM builds WHERE prompt_id = 'lighthouse'")
        .fetch_all(&db.pool)
        .await
        .unwrap();
    for build in lighthouses {
        assert!(!dataset.files.keys().any(|path| path.contains(&build.to_string())));
    }
    let prompts = dataset.records("prompts.jsonl");
    let lighthouse = prompts.iter().find(|prompt| prompt["id"] == "lighthouse").unwrap();
    assert_eq!((&lighthouse["heldOut"], &lighthouse["text"]), (&json!(true), &Value::Null));
}

#[tokio::test]
async fn a_retired_build_is_in_the_dataset_if_votes_refer_to_it() {
    let (db, server) = server_with_votes().await;
    let voted = "id IN (SELECT build_a FROM matchups UNION SELECT build_b FROM matchups)";
    let in_votes = db.number(&format!("SELECT count(*) FROM builds WHERE {voted}")).await;
    assert!((1..=10).contains(&in_votes), "{in_votes}");
    db.run(
        "INSERT INTO builds (id, prompt_id, model_key, settings, digest, grid, grid_is_best, spec, warnings, block_count, retired_at)
         SELECT gen_random_uuid(), prompt_id, model_key, settings, digest, grid, true, spec, warnings, block_count, now()
         FROM builds LIMIT 1",
    )
    .await;
    db.run("UPDATE builds SET retired_at = now()").await;
    let dataset = TestDataset::from_server(&server).await;
    assert_eq!(dataset.builds().len() as i64, in_votes);
    assert!(dataset.records("builds.jsonl").iter().all(|build| build["retiredAt"].is_string()));
}

#[tokio::test]
async fn an_interrupted_download_is_continued_and_a_known_one_is_not_sent() {
    let (_db, server) = server_with_votes().await;
    let all = server.get(PATH).send().await.unwrap();
    let tag = all.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(all.headers()["content-type"], "application/x-tar");
    assert_eq!(all.headers()["accept-ranges"], "bytes");
    assert_eq!(all.headers()["content-disposition"], "attachment; filename=\"buildoff-dataset.tar\"");
    let length = all.content_length().unwrap();
    let all = all.bytes().await.unwrap();
    assert_eq!(all.len() as u64, length);

    let part = async |range: &str, if_range: &str| {
        let request = server.get(PATH).header("range", range).header("if-range", if_range);
        let answer = request.send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        TestResponse { status, headers, bytes: answer.bytes().await.unwrap().to_vec() }
    };
    let (first, rest) = (part("bytes=0-999", &tag).await, part("bytes=1000-", &tag).await);
    assert_eq!((first.status, rest.status), (206, 206));
    assert_eq!(first.header("content-range"), format!("bytes 0-999/{length}"));
    assert_eq!([first.bytes, rest.bytes].concat(), all);
    let other = part("bytes=1000-", "\"another\"").await;
    assert_eq!(
        (other.status, other.bytes.len()),
        (200, all.len()),
        "the range of another file is not mixed in"
    );
    let outside = part(&format!("bytes={length}-"), &tag).await;
    assert_eq!((outside.status, outside.code().as_str()), (416, "no_such_range"));

    let known = server.get(PATH).header("if-none-match", &tag).send().await.unwrap();
    assert_eq!(known.status(), 304);
    let head = server.request(Method::HEAD, PATH).send().await.unwrap();
    assert_eq!(
        (head.status().as_u16(), &head.headers()["content-length"]),
        (200, &length.to_string().parse().unwrap())
    );
}

#[tokio::test]
async fn a_model_with_another_name_makes_another_file() {
    let (db, server) = server_with_votes().await;
    let name = async || {
        let models = TestDataset::from_server(&server).await.records("models.jsonl");
        models.iter().find(|model| model["key"] == "reference_architect").unwrap()["displayName"].clone()
    };
    assert_ne!(name().await, "The Builder");
    db.run("UPDATE models SET display_name = 'The Builder' WHERE key = 'reference_architect'").await;
    // The first visitor after a change may still get the earlier file, while the next one is written.
    while name().await != "The Builder" {
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn slow_downloads_hold_a_bounded_number_of_files() {
    let (db, _server) = server_with_votes().await;
    let app = TestServer::start_with_app(db.pool.clone(), &[]).await.1;
    // A download holds its file until it ends.
    let mut downloads: Vec<Arc<DatasetFile>> = vec![app.dataset.get().await.unwrap()];
    while downloads.len() < 8 {
        db.run(&format!("UPDATE models SET about = 'Version {}.'", downloads.len())).await;
        while downloads.last().unwrap().tag == app.dataset.get().await.unwrap().tag {
            sleep(Duration::from_millis(20)).await;
        }
        downloads.push(app.dataset.get().await.unwrap());
    }
    db.run("UPDATE models SET about = 'One too many.'").await;
    let latest = app.dataset.get().await.unwrap().tag.clone();
    assert_eq!(latest, downloads[7].tag, "everybody gets the latest file");
    downloads.clear();
    while app.dataset.get().await.unwrap().tag == latest {
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn downloads_are_limited_for_each_address() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[]).await;
    for _ in 0..10 {
        assert_eq!(server.get(PATH).send().await.unwrap().status(), 200);
    }
    let refused = server.get(PATH).send().await.unwrap();
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(server.request(Method::HEAD, PATH).send().await.unwrap().status(), 200);
}

/// How many sessions wait for a table.
async fn waiting(db: &TestDb) -> i64 {
    db.number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
        .await
}

async fn wait_until_one_waits(db: &TestDb) {
    while waiting(db).await == 0 {
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn visitors_who_ask_at_once_share_one_file_and_those_who_leave_take_nothing_away() {
    let (db, server) = server_with_votes().await;
    // Only whoever writes a dataset reads this table here.
    let mut lock = db.pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE generations IN ACCESS EXCLUSIVE MODE").execute(&mut *lock).await.unwrap();
    let leaves = AbortableRequest::get(PATH).send_with_timeout(&server.url, Duration::from_millis(100)).await;
    assert!(leaves.is_none());
    wait_until_one_waits(&db).await;
    let stay: Vec<_> = (0..3)
        .map(|_| {
            let url = server.url.clone();
            tokio::spawn(async move { AbortableRequest::get(PATH).send(&url).await.unwrap() })
        })
        .collect();
    sleep(Duration::from_millis(300)).await;
    assert_eq!(waiting(&db).await, 1, "one of them writes the file");
    lock.rollback().await.unwrap();
    let mut all = Vec::new();
    for visitor in stay {
        let answer = visitor.await.unwrap();
        assert_eq!(answer.status, 200);
        all.push(answer.bytes);
    }
    assert!(all.iter().all(|bytes| *bytes == all[0]));
    assert_eq!(TestDataset::of(all.remove(0)).manifest().counts.votes, 12);
}

#[tokio::test]
async fn a_client_that_hangs_up_in_mid_download_disturbs_nobody() {
    let (db, server) = server_with_votes().await;
    let whole = TestDataset::from_server(&server).await.bytes;
    let host = server.url.trim_start_matches("http://").to_owned();
    tokio::task::spawn_blocking(move || {
        for _ in 0..20 {
            let mut connection = TcpStream::connect(&host).unwrap();
            write!(connection, "GET {PATH} HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
            connection.read_exact(&mut [0; 700]).unwrap();
        }
    })
    .await
    .unwrap();
    assert_eq!(TestDataset::from_server(&server).await.bytes, whole);
    let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    assert_eq!(db.number(open).await, 0);
}

#[tokio::test]
async fn a_decision_that_is_made_meanwhile_is_in_all_parts_of_the_file() {
    let (db, server) = server_with_votes().await;
    let mut lock = db.pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE prompts IN ACCESS EXCLUSIVE MODE").execute(&mut *lock).await.unwrap();
    let url = server.url.clone();
    let download = tokio::spawn(async move { AbortableRequest::get(PATH).send(&url).await.unwrap() });
    wait_until_one_waits(&db).await;
    withdraw_first_voter(&db).await;
    lock.rollback().await.unwrap();
    let dataset = TestDataset::of(download.await.unwrap().bytes);
    assert_eq!(dataset.manifest().counts.counted_votes, 8);
    assert_eq!(dataset.records("decisions.jsonl").len(), 1);
    assert_eq!(dataset.text("votes.jsonl.gz"), get(&server, "/api/votes.jsonl").await);
}

#[tokio::test]
async fn pages_lead_to_the_dataset() {
    let (_db, server) = server_with_builds().await;
    for page in ["/about", "/leaderboard", "/api"] {
        let html = String::from_utf8(get(&server, page).await).unwrap();
        assert!(html.contains("/api/dataset.tar"), "{page}");
    }
}

#[tokio::test]
async fn the_command_replaces_no_file_unasked_and_leaves_no_half_of_one() {
    let (db, _server) = server_with_votes().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dataset.tar");
    let path = file.to_str().unwrap();
    let (code, out, err) = run(&db, &["export-all", path]).await;
    assert_eq!(code, 0, "{err}");
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("12 votes, 10 builds"), "{out}");
    let (code, _, err) = run(&db, &["export-all", path]).await;
    assert_eq!((code, err.contains("exists already")), (2, true), "{err}");
    assert_eq!(run(&db, &["export-all", "--overwrite", path]).await.0, 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let (code, out, err) = run(&db, &["import-all", "--check", path]).await;
    assert_eq!(code, 0, "{err}");
    assert!(String::from_utf8(out).unwrap().contains("undamaged"));
}
