//! Files that look like a dataset and are none. Whatever is in them, nothing but checked builds is stored.

use std::fs::File;
use std::io::Write;

use buildoff::dataset::{DatasetManifest, DatasetReader};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use super::imports::TestDatasetFile;
use super::{TestDataset, server_with_votes};
use crate::support::db::TestDb;

/// A tar of these entries: their paths, kinds and contents.
fn tar_of<'a>(entries: impl IntoIterator<Item = (&'a str, EntryType, &'a [u8])>) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    for (path, kind, content) in entries {
        let mut header = Header::new_ustar();
        // Not `set_path`, which refuses what these tests are about.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        if kind == EntryType::Symlink {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        tar.append(&header, content).unwrap();
    }
    tar.into_inner().unwrap()
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut file = GzEncoder::new(Vec::new(), Compression::fast());
    file.write_all(text).unwrap();
    file.finish().unwrap()
}

impl TestDataset {
    /// The same dataset with another file, and a manifest that fits it.
    fn with(&self, path: &str, text: &[u8]) -> Vec<u8> {
        let mut files = self.files.clone();
        files.insert(path.to_owned(), if path.ends_with(".gz") { packed(text) } else { text.to_vec() });
        let mut manifest: DatasetManifest = self.manifest();
        for file in &mut manifest.files {
            let content = &files[&file.path];
            file.bytes = content.len() as u64;
            file.sha256 = hex::encode(Sha256::digest(content));
        }
        files.insert("manifest.json".to_owned(), serde_json::to_vec(&manifest).unwrap());
        tar_of(files.iter().map(|(path, content)| (path.as_str(), EntryType::Regular, &content[..])))
    }

    /// With changed records in one of its files.
    fn with_records(&self, path: &str, change: impl Fn(usize, &mut Value)) -> Vec<u8> {
        let mut text = String::new();
        for (number, mut record) in self.records(path).into_iter().enumerate() {
            change(number, &mut record);
            text += &format!("{record}\n");
        }
        self.with(path, text.as_bytes())
    }
}

fn refusal(bytes: &[u8]) -> String {
    let file = TestDatasetFile::of(bytes);
    match DatasetReader::open(File::open(&file.path).unwrap(), |_| ()) {
        Ok(_) => "it was read".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_tar_with_anything_but_the_files_of_a_dataset_is_refused() {
    let (db, _server) = server_with_votes().await;
    let dataset = TestDataset::from_command(&db).await;
    let entry = |path: &'static str, kind| {
        let more = (path, kind, &b""[..]);
        let own =
            dataset.files.iter().map(|(path, content)| (path.as_str(), EntryType::Regular, &content[..]));
        tar_of(own.chain([more]))
    };
    for (bytes, expected) in [
        (entry("README.md", EntryType::Symlink), "which no dataset has"),
        (entry("README.md", EntryType::Link), "which no dataset has"),
        (entry("builds", EntryType::Directory), "which no dataset has"),
        (entry("README.md", EntryType::Char), "which no dataset has"),
        (entry("README.md", EntryType::GNULongName), "which no dataset has"),
        (entry("README.md", EntryType::XHeader), "which no dataset has"),
        (entry("README.md", EntryType::GNUSparse), "which no dataset has"),
        (entry("../README.md", EntryType::Regular), "which no dataset has"),
        (entry("/README.md", EntryType::Regular), "which no dataset has"),
        (entry("builds/../README.md", EntryType::Regular), "which no dataset has"),
        (
            entry("builds/00000000000000000000000000000000.json.gz", EntryType::Regular),
            "which no dataset has",
        ),
        (entry("README.md", EntryType::Regular), "twice"),
        (entry("builds/00000000-0000-0000-0000-000000000000.json.gz", EntryType::Regular), "does not list"),
        (dataset.bytes[..700].to_vec(), "it was cut off in"),
        (b"PK\x03\x04 is no tar".repeat(100), "this is not a dataset"),
        (Vec::new(), "it has no manifest.json"),
        (tar_of([("manifest.json", EntryType::Regular, &b"{}"[..])]), "its manifest cannot be read"),
    ] {
        let refused = refusal(&bytes);
        assert!(refused.contains(expected), "{refused}, not {expected}");
    }
    assert_eq!(refusal(&dataset.bytes), "it was read");
}

#[tokio::test]
async fn a_changed_byte_or_a_missing_file_is_noticed_before_anything_is_stored() {
    let (db, _server) = server_with_votes().await;
    let dataset = TestDataset::from_command(&db).await;
    let manifest = dataset.manifest();
    let empty = TestDb::new().await;
    let before = empty.dump().await;
    for file in &manifest.files {
        let mut files = dataset.files.clone();
        match files.get_mut(&file.path).unwrap() {
            empty if empty.is_empty() => empty.push(1),
            content => content[0] ^= 1,
        }
        let changed =
            tar_of(files.iter().map(|(path, content)| (path.as_str(), EntryType::Regular, &content[..])));
        assert!(refusal(&changed).contains("is not what the manifest lists"), "{}", file.path);
        files.remove(&file.path);
        let missing =
            tar_of(files.iter().map(|(path, content)| (path.as_str(), EntryType::Regular, &content[..])));
        assert!(refusal(&missing).contains("is missing"), "{}", file.path);
    }
    let mut changed = dataset.bytes.clone();
    changed[600] ^= 1;
    let (code, printed) = TestDatasetFile::of(&changed).import(&empty).await;
    assert_eq!(code, 2, "{printed}");
    assert_eq!(empty.dump().await, before);

    let later = DatasetManifest { version: 2, ..manifest };
    let later = dataset.files.iter().map(|(path, content)| match path.as_str() {
        "manifest.json" => (path.as_str(), serde_json::to_vec(&later).unwrap()),
        _ => (path.as_str(), content.clone()),
    });
    let later: Vec<_> = later.collect();
    let later = tar_of(later.iter().map(|(path, content)| (*path, EntryType::Regular, &content[..])));
    assert!(refusal(&later).contains("use a newer one"));
}

#[tokio::test]
async fn only_builds_that_keep_the_rules_and_fit_their_records_are_stored() {
    let (db, _server) = server_with_votes().await;
    let dataset = TestDataset::from_command(&db).await;
    let id = dataset.builds()[0];
    let (other, grid_path, spec_path) =
        (dataset.builds()[1], format!("builds/{id}.grid.gz"), format!("builds/{id}.json.gz"));
    let other_grid = dataset.text(&format!("builds/{other}.grid.gz"));
    let other_spec = dataset.text(&format!("builds/{other}.json.gz"));
    let bomb = vec![b' '; 260 << 20];
    let record = |change: fn(&mut Value)| {
        dataset.with_records("builds.jsonl", move |number, build| {
            if number == 0 {
                change(build);
            }
        })
    };
    for (bytes, expected) in [
        (dataset.with(&grid_path, &other_grid), "its grid does not match its digest"),
        (dataset.with(&grid_path, b"nonsense"), "its grid does not match its digest"),
        (dataset.with(&grid_path, &bomb[..40 << 20]), "more than"),
        (dataset.with(&spec_path, &other_spec), "its spec does not make its grid"),
        (dataset.with(&spec_path, b"{}"), "its spec does not make its grid"),
        (dataset.with(&spec_path, &[0xff; 9]), "its spec is not text"),
        (dataset.with(&spec_path, &bomb), "more than"),
        (
            record(|build| build["settings"] = json!("64-simple-precise")),
            "its grid does not fit its settings",
        ),
        (record(|build| build["settings"] = json!("33-simple-precise")), "expected 32, 64, 128 or 256"),
        (record(|build| build["promptId"] = json!("no-such-prompt")), "its prompt was left out"),
        (record(|build| build["modelKey"] = json!("nobody")), "builds_model_key_fkey"),
    ] {
        let target = TestDb::new().await;
        let (code, printed) = TestDatasetFile::of(&bytes).import(&target).await;
        assert_eq!(code, 1, "{printed}");
        assert!(
            printed.contains(&format!("build {id}: ")) && printed.contains(expected),
            "{expected}: {printed}"
        );
        assert!(printed.contains("builds: 9 imported, 0 here already, 1 left out"), "{printed}");
        assert_eq!(target.number("SELECT count(*) FROM builds").await, 9);
    }
}

#[tokio::test]
async fn votes_that_do_not_lead_to_their_ratings_are_refused_all_together() {
    let (db, _server) = server_with_votes().await;
    let dataset = TestDataset::from_command(&db).await;
    let third = |change: fn(&mut Value)| {
        dataset.with_records("votes.jsonl.gz", move |number, vote| {
            if number == 2 {
                change(vote);
            }
        })
    };
    let better =
        String::from_utf8(dataset.text("ladders.json")).unwrap().replacen("\"wins\": ", "\"wins\": 1", 1);
    for (bytes, expected) in [
        (
            third(|vote| vote["choice"] = json!(if vote["choice"] == "A" { "B" } else { "A" })),
            "the ratings do not follow",
        ),
        (third(|vote| vote["elo_a_after"] = json!(1600.0)), "the ratings do not follow"),
        (third(|vote| vote["exclusion"] = json!("over_budget")), "the ratings do not follow"),
        (third(|vote| vote["exclusion"] = json!("withdrawn")), "check constraint"),
        (third(|vote| vote["id"] = json!(1)), "out of order"),
        (third(|vote| vote["id"] = json!(i64::MAX)), "out of range"),
        (third(|vote| vote["build_a"] = vote["build_b"].clone()), "does not fit its builds"),
        (third(|vote| vote["prompt_id"] = json!("castle")), "does not fit its builds"),
        (third(|vote| vote["settings"] = json!("64-simple-precise")), "does not fit its builds"),
        (third(|vote| vote["probability"] = json!(2.0)), "check constraint"),
        (third(|vote| vote["decision"] = json!(7)), "foreign key"),
        (
            dataset.with("ladders.json", better.as_bytes()),
            "the ladders of the file do not follow from its votes",
        ),
    ] {
        let target = TestDb::new().await;
        let (code, printed) = TestDatasetFile::of(&bytes).import(&target).await;
        assert_eq!(code, 1, "{expected}: {printed}");
        assert!(
            printed.contains("votes: not imported, because") && printed.contains(expected),
            "{expected}: {printed}"
        );
        for table in ["votes", "matchups", "ratings", "tallies", "vote_decisions"] {
            assert_eq!(target.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
        }
        assert_eq!(target.number("SELECT count(*) FROM builds").await, 10);
    }
}

#[tokio::test]
async fn unsound_prompts_and_models_are_left_out_with_their_builds() {
    let (db, _server) = server_with_votes().await;
    let dataset = TestDataset::from_command(&db).await;
    let bytes = dataset.with_records("prompts.jsonl", |_, prompt| {
        if prompt["id"] == "lighthouse" {
            prompt["text"] = json!("a\u{7}bell");
        }
    });
    let target = TestDb::new().await;
    let (code, printed) = TestDatasetFile::of(&bytes).import(&target).await;
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("builds: 8 imported, 0 here already, 2 left out"), "{printed}");

    let bytes = dataset.with_records("models.jsonl", |_, model| model["displayName"] = json!(""));
    let target = TestDb::new().await;
    let (code, printed) = TestDatasetFile::of(&bytes).import(&target).await;
    assert_eq!(code, 1, "{printed}");
    assert_eq!(target.number("SELECT count(*) FROM models").await, 0);
    let bytes = dataset.with("builds.jsonl", &b"x".repeat(3 << 20));
    let (code, printed) = TestDatasetFile::of(&bytes).import(&TestDb::new().await).await;
    assert_eq!((code, printed.contains("too long or cut off")), (2, true), "{printed}");
}
