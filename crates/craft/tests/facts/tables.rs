//! The files in `data/`, as they are kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn tables() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    files.map(|path| (name(&path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn tables_are_small_and_sorted_with_one_entry_a_line() {
    assert!(tables().iter().map(|(_, text)| text.len()).sum::<usize>() <= 400_000);
    let made: Vec<_> = tables().into_iter().filter(|(name, _)| name.ends_with(".tsv")).collect();
    assert_eq!(made.len(), 5);
    for (name, text) in made {
        let keys: Vec<&str> = text.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert!(keys.is_sorted(), "{name} is not sorted");
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "{name} says something twice");
        assert!(text.ends_with('\n'), "{name} does not end with its last line");
    }
}
