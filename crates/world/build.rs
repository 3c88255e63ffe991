//! Lists the task files in `tasks/<category>/<name>.yaml` at the top of the repository, and the recordings of their solutions
//! beside them, in `<name>.<seed>.run`. All are part of the crate.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../tasks");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut list = String::from("[\n");
    for category in entries(&folder)?.into_iter().filter(|path| path.is_dir()) {
        println!("cargo::rerun-if-changed={}", category.display());
        let files = entries(&category)?;
        for file in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        {
            let name = file.with_extension("");
            let short = name.strip_prefix(&folder).map_err(io::Error::other)?;
            let short: Vec<_> = short.iter().map(|part| part.to_string_lossy()).collect();
            let path = file.display().to_string();
            let mut solutions: Vec<(u64, &PathBuf)> =
                files.iter().filter_map(|file| Some((seed_of(file, &name)?, file))).collect();
            solutions.sort();
            write!(list, "    ({:?}, include_str!({path:?}), &[", short.join("/"))
                .map_err(io::Error::other)?;
            for (seed, recording) in solutions {
                let path = recording.display().to_string();
                write!(list, "TaskSolution {{ seed: {seed}, recording: include_bytes!({path:?}) }}, ")
                    .map_err(io::Error::other)?;
            }
            list.push_str("]),\n");
        }
    }
    list.push(']');
    fs::write(Path::new(&variable("OUT_DIR")?).join("shipped_tasks.rs"), list)
}

/// The seed of a recording of a task, or none if the file is something else.
fn seed_of(file: &Path, name: &Path) -> Option<u64> {
    let is_recording = file.extension()? == "run";
    let numbered = file.file_stem()?.to_str()?;
    let seed = numbered.strip_prefix(name.file_name()?.to_str()?)?.strip_prefix('.')?;
    if is_recording { seed.parse().ok() } else { None }
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
