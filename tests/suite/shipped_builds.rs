//! The shipped builds: what visitors of a new installation vote on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use buildoff::arena::builds::{self, PackedBuild};
use buildoff::arena::catalog::Catalog;
use buildoff::arena::shipped_builds;
use serde_json::Value;

use crate::arena_page::wait_until;
use crate::support::db::TestDb;
use crate::support::{TestServer, open_page};

/// Every shipped build, with its path relative to `builds/`.
fn shipped() -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("builds");
    let mut found = Vec::new();
    walk(&root, &mut found);
    found.sort();
    found.iter().map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()).collect()
}

async fn server_with_shipped_builds() -> (TestDb, TestServer) {
    let db = TestDb::new().await;
    let imported = shipped_builds::install(&db.pool, &Catalog::load(None).unwrap()).await.unwrap();
    assert_eq!(imported, shipped().len());
    let server = TestServer::start_with_db(db.pool.clone()).await;
    (db, server)
}

#[test]
fn every_shipped_build_keeps_the_rules_without_a_warning_and_no_two_are_the_same() {
    let mut digests = BTreeMap::new();
    for path in shipped() {
        let slot = shipped_builds::slot_for_path(&path)
            .unwrap_or_else(|| panic!("{path} is no slot of the catalog"));
        let text = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("builds").join(&path)).unwrap();
        let build = PackedBuild::read(&text, &slot.settings, text.len())
            .unwrap_or_else(|rejection| panic!("{path}: {rejection}"));
        assert_eq!(build.warnings, [], "{path}");
        let twin = digests.insert(build.digest.0, path.clone());
        assert_eq!(twin, None, "{path} looks the same");
    }
}

#[test]
fn every_shipped_build_has_a_model_and_a_prompt_of_the_catalog() {
    let catalog = Catalog::load(None).unwrap();
    for path in shipped() {
        assert!(catalog.contains_slot(&shipped_builds::slot_for_path(&path).unwrap()), "{path}");
    }
}

#[tokio::test]
async fn a_new_installation_has_every_reference_build_and_serves_a_matchup() {
    let (db, server) = server_with_shipped_builds().await;
    let (mut prompts, mut builders) = (BTreeSet::new(), BTreeSet::new());
    let arena: Vec<_> = shipped().into_iter().filter(|path| path.starts_with("32-simple/")).collect();
    for path in &arena {
        let slot = shipped_builds::slot_for_path(path).unwrap();
        prompts.insert(slot.prompt);
        builders.insert(slot.model);
    }
    assert_eq!(
        arena.len(),
        prompts.len() * builders.len(),
        "every reference builder must have a build of every prompt"
    );
    let reply: Value = server.get("/api/arena/prompts").send().await.unwrap().json().await.unwrap();
    let eligible =
        reply["prompts"].as_array().unwrap().iter().filter(|prompt| prompt["eligible"] == true).count();
    assert_eq!(eligible, prompts.len());
    let voter = server.voter();
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
    assert_eq!(db.number("SELECT count(*) FROM votes").await, 1);
}

#[tokio::test]
async fn the_first_builds_are_imported_only_once() {
    let (db, _server) = server_with_shipped_builds().await;
    let catalog = Catalog::load(None).unwrap();
    assert_eq!(shipped_builds::install(&db.pool, &catalog).await.unwrap(), 0);
    // They are not imported again even if an admin has retired all of them.
    db.run("UPDATE builds SET retired_at = now()").await;
    assert_eq!(shipped_builds::install(&db.pool, &catalog).await.unwrap(), 0);
    assert_eq!(builds::ids(&db.pool).await.unwrap().len(), shipped().len());
}

#[tokio::test]
async fn an_installation_with_builds_gets_no_shipped_builds() {
    let db = TestDb::seeded().await;
    db.run("UPDATE prompts SET tags = '{}'; UPDATE models SET display_name = 'Mine', about = ''").await;
    let before = db.dump().await;
    assert_eq!(shipped_builds::install(&db.pool, &Catalog::load(None).unwrap()).await.unwrap(), 0);
    assert_eq!(db.dump().await, before);
}

#[tokio::test]
async fn a_custom_catalog_gets_only_builds_of_its_own_prompts_and_models() {
    let db = TestDb::new().await;
    let mut catalog = Catalog::load(None).unwrap();
    catalog.prompts.retain(|prompt| prompt.id.as_str() == "lighthouse");
    catalog.models.retain(|model| model.key.as_str() != "reference_sculptor");
    let imported = shipped_builds::install(&db.pool, &catalog).await.unwrap();
    let expected = shipped()
        .iter()
        .filter(|path| catalog.contains_slot(&shipped_builds::slot_for_path(path).unwrap()))
        .count();
    assert!(imported == expected && expected > 0, "{imported}");
    let none = shipped_builds::install(&TestDb::new().await.pool, &Catalog::default()).await.unwrap();
    assert_eq!(none, 0);
}

#[tokio::test]
async fn a_new_visitor_votes_on_five_matchups_and_sees_the_models() {
    let (db, server) = server_with_shipped_builds().await;
    let mut page = open_page(&server.url_for("/?q=low")).await;
    let mut judged = BTreeSet::new();
    for choice in ["A", "B", "TIE", "A", "BOTH_BAD"] {
        wait_until(&page, "ready").await;
        let reply = page.text("main").await;
        assert!(
            reply.contains("not AI models"),
            "the reveal must say that reference builders are no AI models: {reply}"
        );
        assert!(!reply.contains("The Architect") && !reply.contains("The Apprentice"), "blind: {reply}");
        page.click(&format!("[data-choice={choice}]")).await;
        wait_until(&page, "revealed").await;
        let names = [page.text("[data-of=a] h2 a").await, page.text("[data-of=b] h2 a").await];
        assert!(names[0] != names[1] && names.iter().all(|name| name.starts_with("The ")), "{names:?}");
        judged.insert((page.text("#asked").await, names));
        page.click("#next").await;
    }
    wait_until(&page, "ready").await;
    page.screenshot("newcomer").await;
    assert_eq!(judged.len(), 5);
    assert_eq!(db.number("SELECT count(*) FROM votes").await, 5);
    assert_eq!(page.take_console_errors().await, Vec::<String>::new());
}
