//! The embedded Postgres server, and the tools that create, start and stop it.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process, test_kill_process},
};

use super::{
    binaries::Binaries,
    data_dir::{DataDir, PORT},
};

/// A log with more bytes is rotated.
const MAX_LOG_BYTES: u64 = 8 << 20;

/// The first version that can sync a whole file system.
const SYNCFS_SINCE: u32 = 14;

/// How long a killed server may still hold its lock on the data directory.
const KILLED_SERVER_TIMEOUT: Duration = Duration::from_secs(20);
const ORPHAN_TIMEOUT: Duration = Duration::from_secs(10);

/// What a crash of the machine may lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Nothing that is committed.
    Full,
    /// Everything: for tests.
    None,
}

/// The caller makes sure that only one process at a time starts or stops the server.
#[derive(Debug)]
pub struct PostgresServer {
    pub data_dir: DataDir,
    pub binaries: Binaries,
}

impl PostgresServer {
    pub fn ensure_running(&self, durability: Durability) -> Result<()> {
        self.data_dir.account.make_dir(&self.data_dir.socket_dir, 0o700)?;
        if !self.data_dir.data().exists() {
            self.init(durability)?;
        }
        if !self.is_running() {
            self.stop_orphan()?;
            for lock in [self.data_dir.pid_file(), self.data_dir.socket_lock()] {
                self.disown_zombie(&lock)?;
            }
            self.launch(durability)?;
        }
        Ok(())
    }

    /// Whether a server answers and is the one of this data directory.
    pub fn is_running(&self) -> bool {
        self.data_dir.pid_file().exists() && self.data_dir.socket_answers()
    }

    /// Whether its process has ended. This is cheap, whereas every connection costs the server a process. It may miss
    /// an end, since another process may have got the same number.
    pub fn has_died(&self) -> bool {
        let pid = process_in(&self.data_dir.pid_file());
        pid.is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH) || is_zombie(pid))
    }

    /// Makes Postgres start although a lock file names a server that was killed and whose parent does not collect it,
    /// as in a container whose first process collects nothing. Postgres would take it for a running server. It knows,
    /// however, that the process that runs pg_ctl is none, so the lock file names this process in its place. Everything
    /// else in the file stays, above all the shared memory that children of the killed server may still use.
    fn disown_zombie(&self, lock: &Path) -> Result<()> {
        if !process_in(lock).is_some_and(is_zombie) {
            return Ok(());
        }
        let text = fs::read_to_string(lock)?;
        let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
        let new = lock.with_extension("new");
        self.data_dir.account.create_file(&new)?;
        fs::write(&new, format!("{}\n{rest}", std::process::id()))?;
        fs::rename(&new, lock).with_context(|| format!("Cannot replace {}", lock.display()))
    }

    /// Creates the data directory under another name first, so that what an interrupted `initdb` leaves behind is not
    /// mistaken for a finished one.
    fn init(&self, durability: Durability) -> Result<()> {
        tracing::info!(
            data = %self.data_dir.data().display(),
            postgres = self.binaries.major,
            "creating the database"
        );
        self.remove_unfinished()?;
        // An initdb whose parent was killed may still be running.
        let name = format!("data.unfinished.{}", std::process::id());
        let unfinished = self.data_dir.file(&name);
        self.data_dir.account.make_dir(&unfinished, 0o700)?;
        let mut initdb = self.tool("initdb");
        initdb.args([
            &format!("--pgdata={name}"),
            "--username=postgres",
            "--auth=trust", // access is controlled by the socket's folder
            "--encoding=UTF8",
            "--locale=C",
            "--no-instructions",
        ]);
        if durability == Durability::None {
            initdb.arg("--no-sync");
        }
        self.run(&mut initdb)?;
        fs::rename(&unfinished, self.data_dir.data()).context("Cannot rename the new data directory")
    }

    fn remove_unfinished(&self) -> Result<()> {
        for entry in fs::read_dir(&self.data_dir.postgres)? {
            let entry = entry?;
            let name = entry.file_name();
            if name.to_string_lossy().starts_with("data.unfinished") {
                // Deleting may fail while an orphaned initdb still writes there.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(())
    }

    fn launch(&self, durability: Durability) -> Result<()> {
        let log = self.data_dir.file("server.log");
        rotate_log(&log)?;
        self.data_dir.account.create_file(&log)?;
        let mut start = self.tool("pg_ctl");
        // The names are relative, since pg_ctl passes them to a shell, which would expand special characters in the
        // path of a folder.
        start
            .args(["start", "--pgdata=data", "--log=server.log"])
            .args(["--wait", "--silent", "--timeout=60"])
            .arg(format!("--options={}", self.settings(durability)));
        let logged_before = fs::metadata(&log).map_or(0, |log| log.len());
        let begun = Instant::now();
        let mut announced = false;
        while let Err(error) = self.run(&mut start) {
            if self.is_running() {
                break; // it is recovering; connecting waits for that
            }
            // A server that is stopping holds the data directory or the socket a little longer.
            let is_held = self.data_dir.pid_file().exists() || self.data_dir.socket_lock().exists();
            if !is_held || begun.elapsed() > KILLED_SERVER_TIMEOUT {
                let _ = fs::remove_dir(&self.data_dir.socket_dir);
                let reason = fatal_message(&log, logged_before);
                return Err(error.context(format!("Postgres does not start; see {}{reason}", log.display())));
            }
            if !announced {
                tracing::info!("waiting for a killed server to release the database");
                announced = true;
            }
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    fn settings(&self, durability: Durability) -> String {
        let sockets = format!("unix_socket_directories={}", self.data_dir.socket_dir.display());
        let port = format!("port={PORT}");
        let mut settings = vec!["listen_addresses=", &sockets, &port, "max_connections=200"];
        if cfg!(target_os = "linux") && self.binaries.major >= SYNCFS_SINCE {
            // After a crash the whole data directory is synced: one call for the file system in place of one
            // for each of some thousand files, which takes seconds.
            settings.push("recovery_init_sync_method=syncfs");
        }
        if durability == Durability::None {
            settings.extend(["fsync=off", "synchronous_commit=off", "full_page_writes=off"]);
        }
        settings.iter().map(|setting| format!("-c {setting} ")).collect()
    }

    /// Stops a server whose data directory was deleted while it ran: it would hold the socket until it notices.
    fn stop_orphan(&self) -> Result<()> {
        if !self.data_dir.socket_answers() {
            return Ok(());
        }
        let lock = self.data_dir.socket_lock();
        let pid = process_in(&lock).context("Another server holds the socket of this database")?;
        tracing::info!(pid = pid.as_raw_nonzero(), "stopping the server of a deleted database");
        kill_process(pid, Signal::QUIT).context("Cannot stop the server of a deleted database")?;
        let begun = Instant::now();
        while lock.exists() {
            if begun.elapsed() > ORPHAN_TIMEOUT {
                bail!("The server of a deleted database (process {}) does not stop.", pid.as_raw_nonzero());
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    pub fn stop(&self) -> Result<()> {
        // A fast stop waits for a checkpoint; an immediate one leaves recovery to the next start.
        self.stop_by("fast", 20).or_else(|_| self.stop_by("immediate", 5))?;
        let _ = fs::remove_dir(&self.data_dir.socket_dir);
        tracing::info!("database stopped");
        Ok(())
    }

    fn stop_by(&self, mode: &str, seconds: u32) -> Result<()> {
        let mode = format!("--mode={mode}");
        let timeout = format!("--timeout={seconds}");
        self.run(self.tool("pg_ctl").args(["stop", "--pgdata=data", "--wait", "--silent", &mode, &timeout]))
    }

    fn tool(&self, name: &str) -> Command {
        let mut command = self.data_dir.account.command(self.binaries.dir.join(name));
        command.current_dir(&self.data_dir.postgres);
        // Ctrl-C is for this program; a tool must finish what it has begun.
        command.process_group(0);
        command
    }

    /// Runs a tool. Its output goes to a file: the server would inherit a pipe, and reading would wait for the server.
    fn run(&self, command: &mut Command) -> Result<()> {
        let path = self.data_dir.file("tool.log");
        let log = File::create(&path)?;
        let program = PathBuf::from(command.get_program());
        let status = command
            .stdout(log.try_clone()?)
            .stderr(log)
            .status()
            .with_context(|| format!("Cannot run {}", program.display()))?;
        if !status.success() {
            bail!("{} failed ({status}): {}", program.display(), fs::read_to_string(&path)?.trim());
        }
        Ok(())
    }
}

/// The process in the first line of a lock file of Postgres.
fn process_in(lock: &Path) -> Option<Pid> {
    let number: i32 = fs::read_to_string(lock).ok()?.lines().next()?.parse().ok()?;
    Pid::from_raw(number.max(0))
}

/// Whether a process has ended and only its parent's notice is missing. Only Linux tells; elsewhere, parents notice.
fn is_zombie(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    // The name before the state may itself contain parentheses.
    stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('Z'))
}

/// Rotates a large log; the previous one is kept.
fn rotate_log(log: &Path) -> Result<()> {
    if fs::metadata(log).is_ok_and(|log| log.len() > MAX_LOG_BYTES) {
        let rotated = log.with_extension("log.1");
        fs::rename(log, &rotated).with_context(|| format!("Cannot rename {}", log.display()))?;
    }
    Ok(())
}

/// Why a server gave up, from what it has logged since.
fn fatal_message(log: &Path, since: u64) -> String {
    let text = fs::read(log).unwrap_or_default();
    let new = text.get(since as usize..).map(String::from_utf8_lossy).unwrap_or_default();
    let fatal = new.lines().rev().find_map(|line| line.split_once("FATAL:"));
    fatal.map_or_else(String::new, |(_, reason)| format!(" ({})", reason.trim()))
}
