//! The account that owns the cluster's files and runs its server.
//!
//! Postgres refuses to run as root, so root runs it under an unprivileged account; other users run it under their own.

use std::{
    env,
    fs::{self, DirBuilder, File, Permissions},
    io,
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{getegid, geteuid};

/// The accounts under which root may run it, the preferred one first.
const SERVER_ACCOUNTS: [&str; 2] = ["postgres", "nobody"];

/// The environment variables that the server gets. It needs no API keys, and `PG…` variables configure other servers.
const INHERITED: [&str; 4] = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    pub uid: u32,
    gid: u32,
}

impl Account {
    /// The account of this process.
    pub fn own() -> Self {
        Self { uid: geteuid().as_raw(), gid: getegid().as_raw() }
    }

    /// The account that runs the server of the data directory `data`. Where this process is root, that is the
    /// directory's owner, whichever accounts were added since.
    pub fn for_server(data: &Path) -> Result<Self> {
        if !geteuid().is_root() {
            return Ok(Self::own());
        }
        match fs::symlink_metadata(data) {
            Ok(metadata) if metadata.uid() == 0 => bail!(
                "{} belongs to root, and Postgres does not run as root: give it to another account (chown -R postgres) or choose another DATA_DIR.",
                data.display()
            ),
            Ok(metadata) => Ok(Self { uid: metadata.uid(), gid: metadata.gid() }),
            Err(_) => Self::unprivileged(),
        }
    }

    fn unprivileged() -> Result<Self> {
        let accounts = fs::read_to_string("/etc/passwd").context("Cannot read /etc/passwd")?;
        SERVER_ACCOUNTS.iter()
            .find_map(|name| Self::named(name, &accounts))
            .context("Postgres does not run as root, and this system has neither an account postgres nor nobody to run it. Run Buildoff as another user, or set DATABASE_URL.")
    }

    fn named(name: &str, passwd: &str) -> Option<Self> {
        let mut fields = passwd
            .lines()
            .map(|line| line.split(':'))
            .find_map(|mut fields| (fields.next() == Some(name)).then_some(fields))?
            .skip(1);
        Some(Self { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    }

    /// Whether the server runs under another account than this process.
    pub fn is_other_user(self) -> bool {
        self != Self::own()
    }

    /// A command that runs under this account, by default in the root directory.
    pub fn command(self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir("/")
            .stdin(Stdio::null())
            .env_clear()
            .envs(INHERITED.iter().filter_map(|key| Some((key, env::var_os(key)?))))
            .env("LC_ALL", "C");
        if self.is_other_user() {
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Fails where this account cannot enter `dir`, and names the first folder that it cannot enter. The test enters
    /// the folder, since the mode does not show access control lists.
    pub fn check_entry(self, dir: &Path) -> Result<()> {
        let entered = self.command("/bin/sh").args(["-c", ":"]).current_dir(dir).status();
        match entered {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => bail!(
                "Postgres runs as the account with uid {}, which cannot enter {}: choose a DATA_DIR that it can enter, let it in (chmod o+x), or set DATABASE_URL.",
                self.uid,
                self.first_inaccessible(dir).display(),
            ),
            Err(error) => Err(error).with_context(|| format!("Cannot enter {}", dir.display())),
            Ok(_) => Ok(()),
        }
    }

    fn first_inaccessible(self, dir: &Path) -> PathBuf {
        let mut from_the_top: Vec<&Path> = dir.ancestors().collect();
        from_the_top.reverse();
        let closed = from_the_top.into_iter().find(|ancestor| !self.may_search(ancestor));
        closed.unwrap_or(dir).to_owned()
    }

    fn may_search(self, dir: &Path) -> bool {
        let Ok(metadata) = fs::metadata(dir) else {
            return false;
        };
        let bit = if metadata.uid() == self.uid {
            0o100
        } else if metadata.gid() == self.gid {
            0o010
        } else {
            0o001
        };
        metadata.mode() & bit != 0
    }

    /// Creates `dir` with exactly this owner and mode, whatever the umask. Fails where another account has created it.
    pub fn make_dir(self, dir: &Path, mode: u32) -> Result<()> {
        match DirBuilder::new().mode(0o700).create(dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(error).with_context(|| format!("Cannot create {}", dir.display()));
            }
            _ => {}
        }
        // A link is not followed, since other accounts may be able to write to the parent folder.
        let metadata = fs::symlink_metadata(dir)?;
        ensure!(metadata.is_dir(), "{} is in the way: it is not a folder.", dir.display());
        if metadata.uid() == Self::own().uid && self.is_other_user() {
            self.take_ownership(dir)?;
        } else {
            ensure!(
                metadata.uid() == self.uid,
                "{} belongs to uid {} instead of {}: run Buildoff as the account that made it, or choose another DATA_DIR.",
                dir.display(),
                metadata.uid(),
                self.uid,
            );
        }
        set_mode(dir, mode)
    }

    /// Creates a file of this account that only it can read, unless the file exists.
    pub fn create_file(self, path: &Path) -> Result<()> {
        File::options()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(path)
            .with_context(|| format!("Cannot write {}", path.display()))?;
        self.take_ownership(path)
    }

    fn take_ownership(self, path: &Path) -> Result<()> {
        if !self.is_other_user() {
            return Ok(());
        }
        chown(path, Some(self.uid), Some(self.gid))
            .with_context(|| format!("Cannot give {} to uid {}", path.display(), self.uid))
    }
}

pub fn set_mode(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
        .with_context(|| format!("Cannot set the mode of {}", path.display()))
}
