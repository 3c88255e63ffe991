//! A database per test, cloned from a migrated template.
//!
//! `TEST_DATABASE_URL` names a server to use. Without it, all test processes share one in
//! `BUILDOFF_TEST_DIR` or under `/var/tmp`, which the last process stops.

use std::{
    env, fs,
    path::PathBuf,
    process, slice,
    str::FromStr,
    sync::{
        LazyLock, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use buildoff::arena::builds::{self, GenerationInfo, PackedBuild};
use buildoff::arena::catalog::Catalog;
use buildoff::arena::shipped_builds;
use buildoff::db::{Cluster, Durability, MIGRATOR, PostgresSearch, pool_options};
use rustix::process::{Pid, geteuid, test_kill_process};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::{runtime, task::spawn_blocking};

/// The advisory lock that guards the templates. All test processes use it.
const TEMPLATE_LOCK: i64 = 0x6275_696c_646f_6666;

static CLUSTER: Mutex<Option<Cluster>> = Mutex::new(None);

/// A fresh, migrated database, dropped with this value.
pub struct TestDb {
    pub pool: PgPool,
    server: PgConnectOptions,
    name: String,
}

/// The initial content of a database.
#[derive(Clone, Copy)]
enum TestDbContent {
    Empty,
    /// The catalog, and ten of the shipped builds: five prompts by two models.
    TenBuilds,
}

/// The ten builds: each of these prompts by each of these models.
const BUILDERS: [&str; 2] = ["reference_architect", "reference_sculptor"];
const PROMPTS: [&str; 5] = ["lighthouse", "pirate-ship", "sleeping-dragon", "steam-locomotive", "treehouse"];

impl TestDb {
    pub async fn new() -> Self {
        Self::with(TestDbContent::Empty).await
    }

    /// A database with the catalog and ten of the shipped builds.
    pub async fn seeded() -> Self {
        Self::with(TestDbContent::TenBuilds).await
    }

    async fn with(content: TestDbContent) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let server = spawn_blocking(server).await.unwrap();
        let name = format!("test_{}_{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut admin = server.connect().await.unwrap();
        clone_template(&mut admin, &server, content, &name).await;
        admin.close().await.unwrap();
        let pool = pool_options()
            .max_connections(8)
            .acquire_timeout(Duration::from_secs(10))
            .connect_lazy_with(server.clone().database(&name));
        Self { pool, server, name }
    }

    /// The options for connecting to this database.
    pub fn options(&self) -> PgConnectOptions {
        self.server.clone().database(&self.name)
    }

    pub async fn run(&self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&self.pool).await.unwrap();
    }

    /// The number that a query returns.
    pub async fn number(&self, sql: &str) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&self.pool).await.unwrap()
    }

    /// Waits until a condition in SQL holds.
    pub async fn wait_until(&self, condition: &str) {
        let sql = format!("SELECT {condition}");
        while !sqlx::query_scalar::<_, bool>(AssertSqlSafe(sql.clone())).fetch_one(&self.pool).await.unwrap()
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The content of all tables as text.
    pub async fn dump(&self) -> String {
        let tables: Vec<String> =
            sqlx::query_scalar("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
                .fetch_all(&self.pool)
                .await
                .unwrap();
        let mut dump = String::new();
        for table in tables {
            let rows = format!("SELECT coalesce(string_agg(row::text, ' '), '') FROM {table} AS row");
            let rows: String = sqlx::query_scalar(AssertSqlSafe(rows)).fetch_one(&self.pool).await.unwrap();
            dump += &rows;
        }
        dump
    }

    /// The URL of this database, for a program in another process.
    pub fn url(&self) -> String {
        self.options().to_url_lossy().into()
    }
}

impl Drop for TestDb {
    fn drop(&mut self) {
        // `drop` cannot block on the test's own runtime, so a thread with another one does the work.
        thread::scope(|scope| {
            scope.spawn(|| block_on(drop_databases(&self.server, slice::from_ref(&self.name))));
        });
    }
}

fn server() -> PgConnectOptions {
    if let Ok(url) = env::var("TEST_DATABASE_URL") {
        return PgConnectOptions::from_str(&url)
            .unwrap_or_else(|_| panic!("TEST_DATABASE_URL is not a Postgres URL"));
    }
    let mut cluster = CLUSTER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cluster) = &*cluster {
        return cluster.options();
    }
    let started = Cluster::start(
        &test_dir(),
        &PostgresSearch::detect(env::var_os("PG_BIN_DIR").map(PathBuf::from)),
        Durability::None,
    );
    let started = started.unwrap_or_else(|error| panic!("{error:#}"));
    let options = started.options();
    block_on(drop_leftovers(&options));
    *cluster = Some(started);
    options
}

fn test_dir() -> PathBuf {
    let own = || format!("/var/tmp/buildoff-test-{}", geteuid().as_raw()).into();
    env::var_os("BUILDOFF_TEST_DIR").map_or_else(own, PathBuf::from)
}

/// Statics are not dropped, so this destructor releases the server.
#[allow(unsafe_code)]
#[dtor::dtor(unsafe)]
fn leave_server() {
    drop(CLUSTER.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// Clones the template, and makes it first if there is none for these migrations. While it is cloned, the
/// shared lock keeps other processes from dropping it.
async fn clone_template(
    admin: &mut PgConnection,
    server: &PgConnectOptions,
    content: TestDbContent,
    name: &str,
) {
    let template = content.template();
    loop {
        sqlx::query!("SELECT pg_advisory_lock_shared($1)", TEMPLATE_LOCK).execute(&mut *admin).await.unwrap();
        let made = databases(admin, &template).await.contains(&template);
        if made {
            clone_database(admin, &template, name).await;
        }
        sqlx::query!("SELECT pg_advisory_unlock_all()").execute(&mut *admin).await.unwrap();
        if made {
            return;
        }
        make_template(admin, server, content).await;
    }
}

async fn make_template(admin: &mut PgConnection, server: &PgConnectOptions, content: TestDbContent) {
    sqlx::query!("SELECT pg_advisory_lock($1)", TEMPLATE_LOCK).execute(&mut *admin).await.unwrap();
    let templates = databases(admin, "template_").await;
    let template = content.template();
    if !templates.contains(&template) {
        let current = [TestDbContent::Empty, TestDbContent::TenBuilds].map(TestDbContent::template);
        for outdated in templates.iter().filter(|name| !current.contains(name)) {
            drop_database(admin, outdated).await.unwrap();
        }
        fill_template(admin, server, content, &template).await;
    }
    sqlx::query!("SELECT pg_advisory_unlock_all()").execute(&mut *admin).await.unwrap();
}

/// The template gets its name only at the end, so a template with that name is always complete.
async fn fill_template(
    admin: &mut PgConnection,
    server: &PgConnectOptions,
    content: TestDbContent,
    name: &str,
) {
    const UNFINISHED: &str = "unfinished_template";
    drop_database(admin, UNFINISHED).await.unwrap();
    sqlx::query!("CREATE DATABASE unfinished_template").execute(&mut *admin).await.unwrap();
    let mut inside = server.clone().database(UNFINISHED).connect().await.unwrap();
    MIGRATOR.run_direct(None, &mut inside, false).await.unwrap();
    inside.close().await.unwrap();
    if let TestDbContent::TenBuilds = content {
        import_ten_builds(server.clone().database(UNFINISHED)).await;
    }
    let rename = format!("ALTER DATABASE {UNFINISHED} RENAME TO {name}");
    sqlx::query(AssertSqlSafe(rename)).execute(&mut *admin).await.unwrap();
}

async fn import_ten_builds(inside: PgConnectOptions) {
    let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(inside);
    let catalog = Catalog::load(None).unwrap();
    let mut transaction = pool.begin().await.unwrap();
    catalog.seed(&mut transaction).await.unwrap();
    for path in ten_build_paths() {
        let slot = shipped_builds::slot_for_path(&path).unwrap();
        let text = fs::read(format!("{BUILDS_DIR}/{path}")).unwrap();
        let build = PackedBuild::read(&text, &slot.settings, text.len()).unwrap();
        builds::store(&mut transaction, &slot, &build, GenerationInfo::default(), false).await.unwrap();
    }
    transaction.commit().await.unwrap();
    pool.close().await;
}

const BUILDS_DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/builds");

fn ten_build_paths() -> impl Iterator<Item = String> {
    PROMPTS
        .into_iter()
        .flat_map(|prompt| BUILDERS.map(|builder| format!("32-simple/{prompt}/{builder}.json")))
}

impl TestDbContent {
    /// The name of the template, which changes with its content.
    fn template(self) -> String {
        let migrations = MIGRATOR.iter().flat_map(|migration| migration.checksum.to_vec());
        match self {
            Self::Empty => format!("template_{:016x}", fingerprint(migrations)),
            Self::TenBuilds => {
                static CONTENT_BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
                    let files =
                        ten_build_paths().flat_map(|path| fs::read(format!("{BUILDS_DIR}/{path}")).unwrap());
                    let catalog = format!("{:?}", Catalog::load(None).unwrap());
                    files.chain(catalog.into_bytes()).collect()
                });
                format!("template_ten_{:016x}", fingerprint(migrations.chain(CONTENT_BYTES.iter().copied())))
            }
        }
    }
}

fn fingerprint(bytes: impl Iterator<Item = u8>) -> u64 {
    // FNV-1a
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

async fn clone_database(admin: &mut PgConnection, template: &str, name: &str) {
    // Postgres 14 always copies files, and does not have the option.
    let strategy = if admin.server_version_num() >= Some(150_000) { "STRATEGY file_copy" } else { "" };
    drop_database(admin, name).await.unwrap();
    let create = format!("CREATE DATABASE {name} TEMPLATE {template} {strategy}");
    sqlx::query(AssertSqlSafe(create)).execute(admin).await.unwrap();
}

/// Drops the databases of test processes that were killed.
async fn drop_leftovers(server: &PgConnectOptions) {
    let mut admin = server.connect().await.unwrap();
    let mut leftovers = databases(&mut admin, "test_").await;
    leftovers.retain(|name| {
        let pid = name.split('_').nth(1).and_then(|pid| Pid::from_raw(pid.parse().ok()?));
        pid.is_none_or(|pid| test_kill_process(pid).is_err())
    });
    admin.close().await.unwrap();
    drop_databases(server, &leftovers).await;
}

async fn drop_databases(server: &PgConnectOptions, names: &[String]) {
    let Ok(mut admin) = server.connect().await else {
        return;
    };
    for name in names {
        // Another process may be dropping the same leftover.
        let _ = drop_database(&mut admin, name).await;
    }
}

async fn databases(admin: &mut PgConnection, prefix: &str) -> Vec<String> {
    sqlx::query_scalar!(
        r#"
        SELECT datname::text AS "name!"
        FROM pg_database
        WHERE starts_with(datname::text, $1)
        "#,
        prefix
    )
    .fetch_all(admin)
    .await
    .unwrap()
}

async fn drop_database(admin: &mut PgConnection, name: &str) -> sqlx::Result<()> {
    let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    sqlx::query(AssertSqlSafe(drop)).execute(admin).await?;
    Ok(())
}

fn block_on<F: Future>(future: F) -> F::Output {
    runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
