//! Backups: whatever was stored is in the file, and comes back from it.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use buildoff::db::backup::{self, BackupSummary, RestoreMode};
use buildoff::db::{MIGRATOR, check_ready};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::support::db::TestDb;
use crate::support::{CHOICES, TestServer, TestServerProcess, TestVoter};

/// A command with its output.
fn command(database: &TestDb, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_buildoff"));
    command.args(arguments).env("DATABASE_URL", database.url()).env("LOG", "warn");
    command
}

/// Runs a command, and returns its exit code and what it has printed.
async fn run(database: &TestDb, arguments: &[&str]) -> (i32, String) {
    let mut command = command(database, arguments);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(printed).unwrap())
}

async fn run_successfully(database: &TestDb, arguments: &[&str]) -> String {
    let (code, printed) = run(database, arguments).await;
    assert_eq!(code, 0, "{arguments:?}: {printed}");
    printed
}

/// A folder with the path of a backup that does not exist yet.
struct TestBackup {
    folder: TempDir,
    file: PathBuf,
}

impl TestBackup {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("buildoff.backup");
        Self { folder, file }
    }

    async fn of(database: &TestDb) -> Self {
        let backup = Self::new();
        run_successfully(database, &["backup", backup.path()]).await;
        backup
    }

    fn path(&self) -> &str {
        self.file.to_str().unwrap()
    }

    fn files(&self) -> usize {
        fs::read_dir(self.folder.path()).unwrap().count()
    }
}

fn unpacked(file: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

fn packed(text: &str) -> Vec<u8> {
    let mut file = GzEncoder::new(Vec::new(), Compression::fast());
    file.write_all(text.as_bytes()).unwrap();
    file.finish().unwrap()
}

/// The text of a backup with the digest that fits it.
fn signed(text: &str) -> Vec<u8> {
    let content = &text[..text.rfind("{\"sha256\"").unwrap()];
    packed(&format!("{content}{{\"sha256\":\"{}\"}}\n", hex::encode(Sha256::digest(content))))
}

/// All rows of all tables, sorted; without the number by which servers notice that a database was replaced.
async fn content(database: &TestDb) -> Vec<String> {
    let mut connection = database.pool.acquire().await.unwrap();
    let mut file = Vec::new();
    backup::dump(&mut connection, &mut file).await.unwrap();
    let text = unpacked(&file);
    let installation: String =
        sqlx::query_scalar("SELECT id::text FROM installation").fetch_one(&database.pool).await.unwrap();
    let revision = database.number("SELECT catalog_revision FROM installation").await;
    let without_revision = |line: &str| match line.contains(&installation) {
        true => line.replace(&format!("\t{revision}\t"), "\trevision\t"),
        false => line.to_owned(),
    };
    let lines = text.lines().filter(|line| !line.starts_with("{\"header\"") && !line.contains("sha256"));
    let mut lines: Vec<_> = lines.map(without_revision).collect();
    lines.sort();
    lines
}

/// Votes until the server is gone, and returns the matchups whose votes were acknowledged.
async fn vote_until_the_server_is_gone(voter: TestVoter) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for choice in CHOICES.into_iter().cycle() {
        let Ok(served) = voter.send(reqwest::Method::GET, "/api/arena/matchup", None).await else { break };
        if served.status != 200 {
            break;
        }
        let matchup = served.json();
        for side in ["a", "b"] {
            let url = matchup[side]["build"]["url"].as_str().unwrap();
            let _ = voter.send(reqwest::Method::GET, url, None).await;
        }
        let vote = serde_json::json!({ "matchupId": matchup["id"], "choice": choice });
        match voter.send(reqwest::Method::POST, "/api/arena/vote", Some(&vote)).await {
            Ok(answer) if answer.status == 200 => {
                acknowledged.push(matchup["id"].as_str().unwrap().to_owned());
            }
            Ok(answer) => panic!("{}", answer.text()),
            Err(_) => break,
        }
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread")]
async fn votes_of_a_server_that_was_killed_in_the_middle_come_back_from_a_backup_to_the_last_bit() {
    let db = TestDb::seeded().await;
    let mut server = TestServerProcess::start(&db, &[]);
    let mut voters = JoinSet::new();
    for _ in 0..6 {
        // A voter sees five pairs, so there is one after the other.
        let url = server.url.clone();
        voters.spawn(async move {
            let mut acknowledged = Vec::new();
            loop {
                let voted = vote_until_the_server_is_gone(TestVoter::new(&url)).await;
                if voted.is_empty() {
                    return acknowledged;
                }
                acknowledged.extend(voted);
            }
        });
    }
    let votes = async || db.number("SELECT count(*) FROM votes").await;
    while votes().await < 40 {
        sleep(Duration::from_millis(5)).await;
    }
    // While people vote, a backup is one moment, in which votes, ratings and tallies agree.
    let before = votes().await;
    let live = TestBackup::of(&db).await;
    server.kill();
    let mut acknowledged = Vec::new();
    while let Some(voted) = voters.join_next().await {
        acknowledged.extend(voted.unwrap());
    }
    let from_live = TestDb::new().await;
    run_successfully(&from_live, &["restore", live.path()]).await;
    let replayed = run_successfully(&from_live, &["recompute", "--verify"]).await;
    assert!(replayed.contains("identical, bit for bit"), "{replayed}");
    assert!(from_live.number("SELECT count(*) FROM votes").await >= before);

    // What the killed server left behind comes back completely.
    let backup = TestBackup::of(&db).await;
    let restored = TestDb::new().await;
    let printed = run_successfully(&restored, &["restore", backup.path()]).await;
    assert!(printed.contains(&format!("{} votes", votes().await)), "{printed}");
    assert_eq!(content(&restored).await, content(&db).await);
    assert_eq!(check_ready(&restored.pool).await, Ok(()));
    let replayed = run_successfully(&restored, &["recompute", "--verify"]).await;
    assert!(replayed.contains("identical, bit for bit"), "{replayed}");
    for matchup in acknowledged {
        let known = format!("SELECT count(*) FROM votes WHERE matchup_id = '{matchup}'");
        assert_eq!(restored.number(&known).await, 1, "the acknowledged vote on {matchup} is missing");
    }

    // Votes continue where they were, with new numbers.
    let server = TestServer::start_with_db(restored.pool.clone()).await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
    run_successfully(&restored, &["recompute", "--verify"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_moves_between_the_embedded_database_and_another() {
    let (db, home) = (TestDb::seeded().await, tempfile::tempdir().unwrap());
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (there, back) = (TestBackup::of(&db).await, TestBackup::new());
    for arguments in [["restore", there.path()], ["backup", back.path()]] {
        let mut embedded = command(&db, &arguments);
        embedded.env_remove("DATABASE_URL").env("DATA_DIR", home.path());
        let output = tokio::task::spawn_blocking(move || embedded.output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let returned = TestDb::new().await;
    run_successfully(&returned, &["restore", back.path()]).await;
    assert_eq!(content(&returned).await, content(&db).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_its_owner_can_read_a_backup_and_an_existing_file_stays() {
    let db = TestDb::seeded().await;
    let backup = TestBackup::of(&db).await;
    assert_eq!(fs::metadata(&backup.file).unwrap().permissions().mode() & 0o777, 0o600);
    let first = fs::read(&backup.file).unwrap();

    let (code, printed) = run(&db, &["backup", backup.path()]).await;
    assert!(code == 2 && printed.contains("exists already"), "{printed}");
    assert!(fs::read(&backup.file).unwrap() == first, "the existing file must not change");
    db.run("UPDATE models SET about = 'changed'").await;
    run_successfully(&db, &["backup", backup.path(), "--overwrite"]).await;
    assert!(fs::read(&backup.file).unwrap() != first, "the file must be replaced");
    assert_eq!(backup.files(), 1);
    let printed = run_successfully(&db, &["restore", "--check", backup.path()]).await;
    assert!(printed.contains("0 votes, 10 builds") && printed.contains("undamaged"), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_holds_something_is_only_replaced_on_request() {
    let (db, used) = (TestDb::seeded().await, TestDb::seeded().await);
    let backup = TestBackup::of(&db).await;
    let server = TestServer::start_with_db(used.pool.clone()).await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
    let before = content(&used).await;

    let (code, printed) = run(&used, &["restore", backup.path()]).await;
    assert!(code == 2 && printed.contains("votes: 1"), "{printed}");
    assert_eq!(content(&used).await, before);

    let revision = "SELECT catalog_revision FROM installation";
    let remembered = used.number(revision).await;
    run_successfully(&used, &["restore", backup.path(), "--replace"]).await;
    assert_eq!(content(&used).await, content(&db).await);
    assert!(used.number(revision).await > remembered, "running servers must notice the change");
}

/// Restores the bytes of a file, and returns why that failed.
async fn refusal(database: &TestDb, file: &[u8]) -> String {
    let mut connection = database.pool.acquire().await.unwrap();
    let restored = backup::restore(&mut connection, Cursor::new(file), RestoreMode::IntoFresh).await;
    format!("{:#}", restored.expect_err("it was to fail"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_or_one_of_another_version_is_refused_and_changes_nothing() {
    let (db, target) = (TestDb::seeded().await, TestDb::seeded().await);
    let backup = TestBackup::of(&db).await;
    let bytes = fs::read(&backup.file).unwrap();
    let text = unpacked(&bytes);
    let before = content(&target).await;

    let without_table = {
        let begin = text.find("{\"table\":{\"name\":\"votes\"").unwrap();
        let end = begin + text[begin..].find("{\"rows\"").unwrap();
        let end = end + text[end..].find('\n').unwrap() + 1;
        text[..begin].to_owned() + &text[end..]
    };
    let half = bytes.len() / 2;
    let mut flipped = bytes.clone();
    flipped[half] ^= 1;
    for (file, reason) in [
        (Vec::new(), "not a backup of Buildoff"),
        (b"PGDMP".to_vec(), "not a backup of Buildoff"),
        (packed("something else\n"), "not a backup of Buildoff"),
        (packed(&text.replacen("backup 1", "backup 2", 1)), "Use a newer Buildoff"),
        (bytes[..half].to_vec(), "ends in the middle"),
        (bytes[..bytes.len() - 1].to_vec(), "The backup is"),
        (flipped, "The backup is"),
        ([bytes.as_slice(), b"more"].concat(), "something follows its end"),
        (
            packed(&text.replacen("lighthouse", "lightmouse", 1)),
            "The backup is damaged: its checksum differs",
        ),
        (packed(&text[..text.rfind("{\"sha256\"").unwrap()]), "ends in the middle"),
        (signed(&without_table), "lacks the tables"),
        (signed(&text.replacen("\"name\":\"votes\"", "\"name\":\"votes; --\"", 1)), "no table"),
        (signed(&text.replacen("\"version\":1,", "\"version\":9999,", 1)), "made by a newer Buildoff"),
        (signed(&text.replacen("\"checksum\":\"", "\"checksum\":\"0", 1)), "differs from this Buildoff's"),
    ] {
        let message = refusal(&target, &file).await;
        assert!(message.contains(reason), "{reason:?} was expected: {message}");
    }
    assert_eq!(content(&target).await, before);
    for length in (0..bytes.len()).step_by(bytes.len() / 40) {
        assert!(backup::verify(&bytes[..length]).is_err(), "cut off at {length}");
    }
    let summary: BackupSummary = backup::verify(bytes.as_slice()).unwrap();
    let mut connection = target.pool.acquire().await.unwrap();
    let restored =
        backup::restore(&mut connection, Cursor::new(&bytes), RestoreMode::IntoFresh).await.unwrap();
    assert_eq!(restored, summary);
}

/// The last migration of a version from before votes were tallied, seen pairs were kept and jobs had kinds.
const OLDER_VERSION: i64 = 7;

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_an_older_version_is_brought_up_to_date() {
    let (old, fresh) = (TestDb::new().await, TestDb::seeded().await);
    old.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public").await;
    let mut connection = old.pool.acquire().await.unwrap();
    MIGRATOR.run_to(OLDER_VERSION, &mut *connection).await.unwrap();
    old.run(
        "INSERT INTO models (key, provider, model_id, display_name)
         VALUES ('elm', 'north', 'e', 'Elm'), ('fir', 'south', 'f', 'Fir');
         INSERT INTO prompts (id, text) VALUES ('castle', E'a castle\twith a \\\\ and a\nnew line');
         INSERT INTO builds (id, prompt_id, model_key, grid_size, palette, mode, digest, grid, grid_is_best, spec,
                             warnings, block_count)
         SELECT ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'castle', key, 32, 'simple', 'precise',
                sha256('grid'), 'grid', true, 'spec', '[]', n
         FROM (VALUES (1, 'elm'), (2, 'fir')) build (n, key);
         INSERT INTO matchups (id, voter_id, settings, prompt_id, model_a, model_b, build_a, build_b, probability)
         SELECT gen_random_uuid(), gen_random_uuid(), '32-simple-precise', 'castle', 'elm', 'fir',
                '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002', 0.1 + n / 7.0
         FROM generate_series(1, 3) n;
         INSERT INTO votes (matchup_id, choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after)
         SELECT id, 'A', 1500, 1500 + 1 / 3.0, 1500, 1e-300 FROM matchups;
         INSERT INTO audit (via, action, subject) VALUES ('cli', 'test', 'elm');
         INSERT INTO jobs (id, prompt_id, model_key, grid_size, palette, mode, state, ended_at, build_id)
         VALUES ('00000000-0000-0000-0000-000000000004', 'castle', 'elm', 32, 'simple', 'precise', 'ready', now(),
                 '00000000-0000-0000-0000-000000000001');
         INSERT INTO attempts (job_id, number, ended_at, outcome, cost)
         VALUES ('00000000-0000-0000-0000-000000000004', 1, now(), 'accepted', 7)",
    )
    .await;
    let mut file = Vec::new();
    backup::dump(&mut connection, &mut file).await.unwrap();
    let mut into = fresh.pool.acquire().await.unwrap();
    backup::restore(&mut into, Cursor::new(&file), RestoreMode::IntoFresh).await.unwrap();

    // The same as if the old database had been migrated where it is.
    MIGRATOR.run(&mut *connection).await.unwrap();
    // Each migration draws ids for the vote log.
    for database in [&old, &fresh] {
        database.run("UPDATE builds SET log_id = id").await;
    }
    let except_installation = async |database: &TestDb| {
        // Its row holds the time of one of the migrations.
        let lines = content(database).await.into_iter();
        lines.filter(|line| !line.contains("\trevision\t")).collect::<Vec<_>>()
    };
    assert_eq!(except_installation(&fresh).await, except_installation(&old).await);
    assert_eq!(check_ready(&fresh.pool).await, Ok(()));
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'buildoff%'";
    assert_eq!(fresh.number(schemas).await, 0);
    assert_eq!(fresh.number("SELECT spent FROM installation").await, 7, "triggers must not count twice");
    let next = fresh.number("SELECT nextval('vote_ids')").await;
    assert!(next > fresh.number("SELECT max(id) FROM votes").await, "{next}");
    fresh.run("INSERT INTO audit (via, action, subject) VALUES ('cli', 'test', 'fir')").await;
}

/// Starts a command, waits until it waits for a lock, and stops it as Ctrl-C does.
async fn stop_while_waiting(database: &TestDb, arguments: &[&str]) -> Option<i32> {
    let mut blocking = database.pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE votes IN ACCESS EXCLUSIVE MODE").execute(&mut *blocking).await.unwrap();
    let mut child: Child = command(database, arguments).stdout(Stdio::null()).spawn().unwrap();
    let waiting = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'LOCK TABLE%'";
    while database.number(waiting).await == 0 {
        sleep(Duration::from_millis(5)).await;
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let status = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
    blocking.rollback().await.unwrap();
    status.code()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_stopped_leaves_nothing_half_written() {
    let db = TestDb::seeded().await;
    let backup = TestBackup::new();
    assert_eq!(stop_while_waiting(&db, &["backup", backup.path()]).await, Some(130));
    assert_eq!(backup.files(), 0);

    let (backup, before) = (TestBackup::of(&TestDb::new().await).await, content(&db).await);
    assert_eq!(stop_while_waiting(&db, &["restore", backup.path(), "--replace"]).await, Some(130));
    assert_eq!(content(&db).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_holds_no_session_but_its_digest() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let voter = server.voter();
    voter.matchup().await;
    let cookie = voter.cookie().unwrap();
    let id = cookie.split_once('=').unwrap().1;
    let backup = TestBackup::of(&db).await;
    assert!(!unpacked(&fs::read(&backup.file).unwrap()).contains(id));
    let restored = TestDb::new().await;
    run_successfully(&restored, &["restore", backup.path()]).await;
    let elsewhere = TestServer::start_with_db(restored.pool.clone()).await;
    let me: Value = voter.with_base_url(&elsewhere.url).get("/api/arena/matchup").await.json();
    assert!(me["id"].is_string(), "{me}");
    assert_eq!(restored.number("SELECT count(*) FROM sessions").await, 1, "the voter is still the same");
}
