//! A type's name is unique in the workspace, so that a search for it finds one definition.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const SOURCE_FOLDERS: [&str; 5] = ["src", "crates", "tests", "benches", "examples"];
/// Folders of other languages' packages and of build output.
const SKIPPED_FOLDERS: [&str; 2] = ["node_modules", "target"];

#[test]
fn every_type_name_is_defined_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut definitions = BTreeMap::<String, Vec<String>>::new();
    for file in SOURCE_FOLDERS.iter().flat_map(|folder| rust_files(&root.join(folder))) {
        let source = fs::read_to_string(&file).unwrap();
        for (line, name) in defined_types(&source) {
            let place = format!("{}:{line}", file.strip_prefix(root).unwrap().display());
            definitions.entry(name.to_owned()).or_default().push(place);
        }
    }
    assert!(definitions.len() > 300, "only {} types were found", definitions.len());

    definitions.retain(|_, places| places.len() > 1);
    let duplicates: Vec<String> =
        definitions.iter().map(|(name, places)| format!("{name}: {}", places.join(", "))).collect();
    assert!(
        duplicates.is_empty(),
        "these type names are defined more than once; rename all but one of each:\n{}",
        duplicates.join("\n")
    );
}

#[test]
fn associated_types_and_comments_are_not_definitions() {
    // The margin keeps these lines from being taken for definitions of this file.
    let source = "
        |/// struct Comment
        |pub struct Plain;
        |pub(crate) enum Choice<T> {
        |impl<T> Iterator for Plain
        |where
        |    T: Copy,
        |{
        |    type Item = T;
        |}
        |pub trait Source {
        |    type Output;
        |}
        |unsafe trait Marker {}
        |mod tests {
        |    type Alias = u8;
        |    fn test() {
        |        struct Local(u8);
        |    }
        |}
        |type r#lower = u8;
    "
    .lines()
    .filter_map(|line| line.split_once('|'))
    .map(|(_, line)| format!("{line}\n"))
    .collect::<String>();
    let names: Vec<&str> = defined_types(&source).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["Plain", "Choice", "Source", "Marker", "Alias", "Local"]);
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !SKIPPED_FOLDERS.iter().any(|skipped| path.ends_with(skipped)) {
                files.extend(rust_files(&path));
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The line number and name of each struct, enum, union, trait and type alias. Associated types are none.
fn defined_types(source: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = source.lines().collect();
    lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| {
            let (keyword, name) = type_definition(line)?;
            (keyword != "type" || !is_associated(&lines[..=at])).then_some((at + 1, name))
        })
        .collect()
}

/// The keyword and name of the type that a line begins to define.
fn type_definition(line: &str) -> Option<(&str, &str)> {
    let is_visibility = |word: &&str| word.starts_with("pub") || *word == "unsafe" || *word == "in";
    let mut words = line.split_whitespace().skip_while(is_visibility);
    let keyword = words.next().filter(|word| ["struct", "enum", "union", "trait", "type"].contains(word))?;
    let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    name.starts_with(char::is_uppercase).then_some((keyword, name))
}

/// Whether the last line is directly in an `impl` or a `trait`, going by the indentation that rustfmt gives.
fn is_associated(lines: &[&str]) -> bool {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let (last, before) = lines.split_last().unwrap();
    let outer = before
        .iter()
        .rev()
        .find(|line| indentation(line) < indentation(last) && !["", "{", "where"].contains(&line.trim()));
    outer.is_some_and(|line| {
        line.split(|c: char| !c.is_alphanumeric()).any(|word| word == "impl" || word == "trait")
    })
}
