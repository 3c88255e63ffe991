//! The files of the embedded database, and the locks that guard them.
//!
//! Everything is in the data directory, except the socket, whose path must be short:
//!
//! ```text
//! postgres/data           Postgres' own data directory
//! postgres/users.lock     held shared by every process that uses the server
//! postgres/starting.lock  held by the process that is starting or stopping it
//! postgres/*.log          output of the server and its tools
//! cache/                  a downloaded Postgres, where none was installed
//! ```

use std::{
    fs::{self, DirBuilder, File, TryLockError},
    os::unix::{fs::MetadataExt, net::UnixStream},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use super::account::{Account, set_mode};

/// Only names the socket; the server listens on no network.
pub const PORT: u16 = 5432;

#[derive(Debug)]
pub struct DataDir {
    pub account: Account,
    pub cache: PathBuf,
    /// Named after the data directory, so that all processes that use it agree.
    pub socket_dir: PathBuf,
    /// The folder `postgres`.
    pub postgres: PathBuf,
}

impl DataDir {
    /// Creates the folders under `dir`, and makes sure that the server's account can enter them.
    pub fn prepare(dir: &Path) -> Result<Self> {
        let dir = std::path::absolute(dir)?;
        let account = Account::for_server(&dir.join("postgres/data"))?;
        make_dirs(&dir, account)?;
        let dir = dir.canonicalize()?;
        let postgres = dir.join("postgres");
        Ok(Self { account, cache: dir.join("cache"), socket_dir: socket_dir(&postgres, account), postgres })
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.postgres.join(name)
    }

    pub fn data(&self) -> PathBuf {
        self.file("data")
    }

    pub fn pid_file(&self) -> PathBuf {
        self.file("data/postmaster.pid")
    }

    /// The lock file that the server keeps beside its socket.
    pub fn socket_lock(&self) -> PathBuf {
        self.socket_dir.join(format!(".s.PGSQL.{PORT}.lock"))
    }

    pub fn socket_answers(&self) -> bool {
        UnixStream::connect(self.socket_dir.join(format!(".s.PGSQL.{PORT}"))).is_ok()
    }

    /// The major version that created the data directory, if it exists.
    pub fn data_version(&self) -> Result<Option<u32>> {
        let path = self.file("data/PG_VERSION");
        if !path.exists() {
            return Ok(None);
        }
        let version = fs::read_to_string(&path)?;
        let major = version.trim().parse();
        Ok(Some(major.with_context(|| format!("{} holds no version", path.display()))?))
    }

    /// Becomes the only process that may start or stop the server.
    pub fn lock_starting(&self, max_wait: Duration) -> Result<File> {
        let path = self.file("starting.lock");
        let file = open_lock(&path)?;
        let begun = Instant::now();
        let mut announced = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("Cannot lock {}", path.display()));
                }
                Err(TryLockError::WouldBlock) if begun.elapsed() > max_wait => {
                    bail!(
                        "Another process is still starting or stopping this database (it holds {}). Try again later.",
                        path.display()
                    )
                }
                Err(TryLockError::WouldBlock) => {}
            }
            if !announced && begun.elapsed() > Duration::from_secs(2) {
                tracing::info!("waiting for another process that is starting the database");
                announced = true;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Becomes one of the server's users.
    pub fn lock_users(&self) -> Result<File> {
        let users = open_lock(&self.file("users.lock"))?;
        users.lock_shared()?;
        Ok(users)
    }
}

fn make_dirs(dir: &Path, account: Account) -> Result<()> {
    let (traversable, open) = if account.is_other_user() { (0o711, 0o755) } else { (0o700, 0o700) };
    make_path(dir, open)?;
    let metadata = fs::metadata(dir)?;
    // This program may open the folder itself to the account, but not the folders above it.
    if account.is_other_user() && metadata.uid() == 0 && metadata.mode() & 0o011 != 0o011 {
        set_mode(dir, metadata.mode() & 0o7777 | 0o011)?;
    }
    let own = Account::own();
    own.make_dir(&dir.join("postgres"), traversable)?;
    own.make_dir(&dir.join("cache"), open)?;
    if account.is_other_user() {
        account.check_entry(&dir.join("postgres"))?;
    }
    Ok(())
}

/// Creates a folder and its parents with this mode, whatever the umask.
fn make_path(dir: &Path, mode: u32) -> Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent() {
        make_path(parent, mode)?;
    }
    match DirBuilder::new().create(dir) {
        Err(_) if dir.is_dir() => Ok(()), // another process has created it
        Err(error) => Err(error).with_context(|| format!("Cannot create {}", dir.display())),
        Ok(()) => set_mode(dir, mode),
    }
}

fn socket_dir(postgres: &Path, account: Account) -> PathBuf {
    let digest = Sha256::digest(postgres.as_os_str().as_encoded_bytes());
    let name = hex::encode(&digest[..8]);
    PathBuf::from(format!("/tmp/buildoff-{}-{name}", account.uid))
}

fn open_lock(path: &Path) -> Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .with_context(|| format!("Cannot open {}", path.display()))
}
