//! Lists the task files in `tasks/<category>/<name>.yaml` at the top of the repository, which are part of the crate.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../tasks");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for category in entries(&folder)?.into_iter().filter(|path| path.is_dir()) {
        println!("cargo::rerun-if-changed={}", category.display());
        files.extend(
            entries(&category)?.into_iter().filter(|path| path.extension().is_some_and(|e| e == "yaml")),
        );
    }
    let mut list = String::from("[\n");
    for file in files {
        let name = file.with_extension("");
        let name = name.strip_prefix(&folder).map_err(io::Error::other)?;
        let name: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        let path = file.display().to_string();
        writeln!(list, "    ({:?}, include_str!({path:?})),", name.join("/")).map_err(io::Error::other)?;
    }
    list.push(']');
    fs::write(Path::new(&variable("OUT_DIR")?).join("shipped_tasks.rs"), list)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths: io::Result<Vec<PathBuf>> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths?;
    paths.sort();
    Ok(paths)
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(io::Error::other)
}
