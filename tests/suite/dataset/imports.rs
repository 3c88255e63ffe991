//! `buildoff import-all`: a dataset in another installation.

use std::path::PathBuf;

use buildoff::arena::replay;
use tempfile::TempDir;

use super::{TestDataset, cast_votes, generate_one_build, run, server_with_votes, withdraw_first_voter};
use crate::support::TestServer;
use crate::support::db::TestDb;

/// A dataset in a file.
pub(super) struct TestDatasetFile {
    _folder: TempDir,
    pub path: PathBuf,
}

impl TestDatasetFile {
    pub fn of(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dataset.tar");
        std::fs::write(&path, bytes).unwrap();
        Self { _folder: folder, path }
    }

    /// Imports it: the exit code, and what was printed.
    pub async fn import(&self, db: &TestDb) -> (i32, String) {
        let (code, out, err) = run(db, &["import-all", self.path.to_str().unwrap()]).await;
        (code, format!("{}{err}", String::from_utf8(out).unwrap()))
    }
}

/// What must be the same where a dataset came from and where it went.
async fn ladder(db: &TestDb) -> String {
    let sql = "SELECT jsonb_agg(to_jsonb(ratings) ORDER BY settings, model_key)::text FROM ratings";
    sqlx::query_scalar(sql).fetch_one(&db.pool).await.unwrap()
}

#[tokio::test]
async fn an_import_into_an_empty_installation_gives_the_same_ladder_and_exports_to_the_same_bytes() {
    let (db, server) = server_with_votes().await;
    withdraw_first_voter(&db).await;
    generate_one_build(&db).await;
    db.run(
        r#"UPDATE models SET via = '{"openrouter": "acme/architect"}', options = '{"effort": "high"}'
           WHERE key = 'reference_architect'"#,
    )
    .await;
    db.run("UPDATE builds SET retired_at = now() WHERE id = (SELECT build_a FROM matchups JOIN votes ON matchup_id = matchups.id ORDER BY votes.id LIMIT 1)").await;
    cast_votes(&server, 1).await;
    let dataset = TestDataset::from_command(&db).await;

    let target = TestDb::new().await;
    let (code, printed) = TestDatasetFile::of(&dataset.bytes).import(&target).await;
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("builds: 10 imported, 0 here already, 0 left out"), "{printed}");
    assert!(printed.contains("votes: 16 imported."), "{printed}");
    assert_eq!(ladder(&target).await, ladder(&db).await);
    let report = replay::verify(&target.pool).await.unwrap();
    assert!(report.is_clean(), "{:?}", report.first);
    assert_eq!(TestDataset::from_command(&target).await.bytes, dataset.bytes);
    let asked = "SELECT count(*) FROM models WHERE via ->> 'openrouter' = 'acme/architect' AND options ->> 'effort' = 'high'";
    assert_eq!(target.number(asked).await, 1, "models must be asked as where they come from");

    // Votes go on from there.
    let there = TestServer::start_with_db(target.pool.clone()).await;
    cast_votes(&there, 2).await;
    assert!(replay::verify(&target.pool).await.unwrap().is_clean());
    assert_eq!(target.number("SELECT count(*) FROM votes").await, 24);
}

#[tokio::test]
async fn an_import_can_be_repeated_and_then_changes_nothing() {
    let (db, _server) = server_with_votes().await;
    let file = TestDatasetFile::of(&TestDataset::from_command(&db).await.bytes);
    let target = TestDb::new().await;
    assert_eq!(file.import(&target).await.0, 0);
    let before = target.dump().await;
    let (code, printed) = file.import(&target).await;
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("builds: 0 imported, 10 here already"), "{printed}");
    assert!(printed.contains("votes: here already"), "{printed}");
    assert_eq!(target.dump().await, before);
}

#[tokio::test]
async fn a_newer_file_says_how_many_of_its_votes_are_here_and_adds_none() {
    let (db, server) = server_with_votes().await;
    let target = TestDb::new().await;
    assert_eq!(TestDatasetFile::of(&TestDataset::from_command(&db).await.bytes).import(&target).await.0, 0);
    let before = ladder(&target).await;
    cast_votes(&server, 1).await;
    let (code, printed) =
        TestDatasetFile::of(&TestDataset::from_command(&db).await.bytes).import(&target).await;
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("has votes already, 12 of the 16 in the file among them"), "{printed}");
    assert_eq!((ladder(&target).await, target.number("SELECT count(*) FROM votes").await), (before, 12));
}

#[tokio::test]
async fn an_interrupted_import_is_completed_by_the_next_one() {
    let (db, _server) = server_with_votes().await;
    let dataset = TestDataset::from_command(&db).await;
    let file = TestDatasetFile::of(&dataset.bytes);
    let target = TestDb::new().await;
    assert_eq!(file.import(&target).await.0, 0);
    // As if it had been stopped after some of the builds.
    target.run("TRUNCATE votes, matchups, ratings, tallies, voter_totals, shown; DELETE FROM builds WHERE prompt_id > 'm'").await;
    let (code, printed) = file.import(&target).await;
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("votes: 12 imported"), "{printed}");
    assert_eq!(TestDataset::from_command(&target).await.bytes, dataset.bytes);
}

#[tokio::test]
async fn votes_are_not_imported_where_there_are_votes_of_its_own() {
    let (db, _server) = server_with_votes().await;
    let file = TestDatasetFile::of(&TestDataset::from_command(&db).await.bytes);
    let (other, _server) = server_with_votes().await;
    let before = ladder(&other).await;
    let (code, printed) = file.import(&other).await;
    assert_eq!(code, 1, "{printed}");
    assert!(
        printed.contains("votes: not imported, because this installation has votes already, and"),
        "{printed}"
    );
    assert_eq!((ladder(&other).await, other.number("SELECT count(*) FROM votes").await), (before, 12));
}

#[tokio::test]
async fn builds_that_are_here_under_other_ids_stand_for_those_of_the_file() {
    let (db, _server) = server_with_votes().await;
    db.run("UPDATE builds SET log_id = gen_random_uuid()").await;
    let dataset = TestDataset::from_command(&db).await;
    let target = TestDb::seeded().await;
    target.run("UPDATE builds SET id = gen_random_uuid(), log_id = gen_random_uuid()").await;
    let (code, printed) = TestDatasetFile::of(&dataset.bytes).import(&target).await;
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("builds: 0 imported, 10 here already, 0 left out"), "{printed}");
    assert_eq!(ladder(&target).await, ladder(&db).await);
    assert!(replay::verify(&target.pool).await.unwrap().is_clean());
}

#[tokio::test]
async fn a_build_whose_place_is_taken_is_left_out_and_so_are_the_votes() {
    let (db, _server) = server_with_votes().await;
    let file = TestDatasetFile::of(&TestDataset::from_command(&db).await.bytes);
    let target = TestDb::seeded().await;
    target
        .run(
            "UPDATE builds SET id = gen_random_uuid(), log_id = gen_random_uuid(), digest = sha256('another')
             WHERE prompt_id = 'lighthouse'",
        )
        .await;
    let (code, printed) = file.import(&target).await;
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("another build is in force in its place"), "{printed}");
    assert!(printed.contains("builds: 0 imported, 8 here already, 2 left out"), "{printed}");
}

#[tokio::test]
async fn votes_on_builds_of_held_out_prompts_cannot_be_imported_and_builds_still_are() {
    let (db, _server) = server_with_votes().await;
    db.run("UPDATE prompts SET held_out = true").await;
    db.run("UPDATE builds SET withheld = false WHERE prompt_id <> 'lighthouse' AND id NOT IN (SELECT build_a FROM matchups LIMIT 1)").await;
    let dataset = TestDataset::from_command(&db).await;
    let target = TestDb::new().await;
    let (code, printed) = TestDatasetFile::of(&dataset.bytes).import(&target).await;
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("which no file has"), "{printed}");
    assert_eq!(target.number("SELECT count(*) FROM votes").await, 0);
    let builds = target.number("SELECT count(*) FROM builds WHERE NOT withheld").await;
    assert_eq!(builds as usize, dataset.builds().len());
}
