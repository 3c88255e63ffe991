//! The database: connecting to it or starting it, its schema, and its health.

mod access;
mod account;
pub mod backup;
mod binaries;
mod cluster;
mod data_dir;
mod npm;
mod outage;
mod schema;
mod server;
mod sessions;

use std::{env, fmt, future::pending, path::PathBuf, sync::Arc, time::Instant};

use anyhow::{Context, Result};
use rustix::process::geteuid;
use sqlx::{AssertSqlSafe, PgConnection, PgPool};
use tokio::{
    sync::Notify,
    task::spawn_blocking,
    time::{Duration, sleep, timeout},
};

use self::access::Access;
pub use self::{
    access::{has_sqlstate, pool_options},
    binaries::PostgresSearch,
    cluster::Cluster,
    outage::{DatabaseHealth, DatabaseOutage, duplicate_error},
    schema::{MIGRATOR, ReadinessError, check_ready},
    server::Durability,
    sessions::{Sessions, with_session_error},
};

const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Between checks of the embedded server.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// One check of so many connects to the server; the others only look for its process.
const FULL_CHECK_EVERY: u32 = 10;

/// Before the next try to start it.
const RETRY_DELAY: Duration = Duration::from_secs(2);

/// Where the database is.
#[derive(Clone)]
pub enum DatabaseSource {
    Url {
        url: String,
        /// For migrations, where `url` leads to a pooler.
        direct_url: Option<String>,
        /// A replica, for what may lag behind.
        replica_url: Option<String>,
    },
    Embedded {
        /// [`default_data_dir`], unless given.
        data_dir: Option<PathBuf>,
        /// The folder of Postgres' programs; searched for unless given.
        pg_bin: Option<PathBuf>,
    },
}

/// Hides the URLs, since they may hold passwords and debug output may end up in a log.
impl fmt::Debug for DatabaseSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url { .. } => f.debug_struct("Url").finish_non_exhaustive(),
            Self::Embedded { data_dir, pg_bin } => {
                f.debug_struct("Embedded").field("data_dir", data_dir).field("pg_bin", pg_bin).finish()
            }
        }
    }
}

/// Names the database for people, without its URL for the same reason.
impl fmt::Display for DatabaseSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Embedded { data_dir, .. } = self else {
            return f.write_str("the database of DATABASE_URL");
        };
        match data_dir.clone().or_else(|| default_data_dir().ok()) {
            Some(dir) => write!(f, "{}", dir.display()),
            None => f.write_str("Buildoff's own database"),
        }
    }
}

impl DatabaseSource {
    /// Whether a database exists. For an external one that is only known once it is opened.
    pub fn is_initialised(&self) -> Result<bool> {
        match self {
            Self::Url { .. } => Ok(true),
            Self::Embedded { data_dir, .. } => {
                let dir = data_dir.clone().map_or_else(default_data_dir, Ok)?;
                Ok(dir.join("postgres/data").exists())
            }
        }
    }
}

/// The default data directory. An unprivileged server cannot enter root's home, so root uses the system's directory for
/// state.
pub fn default_data_dir() -> Result<PathBuf> {
    if geteuid().is_root() {
        return Ok("/var/lib/buildoff".into());
    }
    let xdg = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let data = match xdg {
        Some(dir) => dir,
        None => env::home_dir()
            .filter(|home| home.is_absolute())
            .context("No home directory was found. Set DATA_DIR or DATABASE_URL.")?
            .join(".local/share"),
    };
    Ok(data.join("buildoff"))
}

/// The database's name on its server.
pub async fn name(pool: &PgPool) -> sqlx::Result<String> {
    sqlx::query_scalar!(r#"SELECT current_database()::text AS "name!""#).fetch_one(pool).await
}

/// The tables that [`empty`] empties: all but `installation`. The database may hold others, which are left alone.
pub const TABLES: [&str; 44] = [
    "a2a_tasks",
    "agent_tokens",
    "agents",
    "answer_parts",
    "assessment_results",
    "assessments",
    "attempts",
    "audit",
    "batches",
    "board_entries",
    "budget_alarms",
    "build_jobs",
    "builds",
    "daily_votes",
    "drafts",
    "generations",
    "jobs",
    "judge_jobs",
    "judge_votes",
    "judgements",
    "kept_runs",
    "ladder_stats",
    "lent_key_days",
    "lent_key_runs",
    "matchups",
    "model_budgets",
    "models",
    "network_influence",
    "network_keys",
    "open_judgings",
    "open_matchups",
    "person_checks",
    "prompts",
    "provider_pauses",
    "ratings",
    "runs",
    "seen_pairs",
    "sessions",
    "shown",
    "spending_days",
    "tallies",
    "vote_decisions",
    "voter_totals",
    "votes",
];

/// Deletes every row of every table, and leaves the tables.
pub async fn empty(pool: &PgPool) -> sqlx::Result<()> {
    let mut transaction = pool.begin().await?;
    let truncate = format!("TRUNCATE {} RESTART IDENTITY", TABLES.join(", "));
    sqlx::query(AssertSqlSafe(truncate)).execute(&mut *transaction).await?;
    sqlx::query!(
        "
        UPDATE installation
        SET id = gen_random_uuid(), catalog_revision = catalog_revision + 1, spent = 0, unpriced_attempts = 0,
            queue_paused_at = NULL
        "
    )
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

/// A database that is reachable and migrated.
#[derive(Debug)]
pub struct Database {
    pool: PgPool,
    replica: Option<PgPool>,
    /// Not through a pooler, and without limits on the time that statements take.
    direct: Access,
    cluster: Option<Arc<Cluster>>,
    /// Told whenever a connection of the pool turns out to be lost.
    lost_connection: Arc<Notify>,
}

impl Database {
    pub async fn open(source: &DatabaseSource) -> Result<Self> {
        let begun = Instant::now();
        let database = match source {
            DatabaseSource::Url { url, direct_url, replica_url } => {
                Self::open_external(url, direct_url.as_deref(), replica_url.as_deref()).await?
            }
            DatabaseSource::Embedded { data_dir, pg_bin } => {
                Self::embedded(data_dir.clone(), pg_bin.clone()).await?
            }
        };
        match database.announce(begun).await {
            Ok(()) => Ok(database),
            Err(error) => {
                database.close().await;
                Err(error)
            }
        }
    }

    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// For reading what may lag behind; the same as [`Self::pool`] without a replica.
    pub fn replica(&self) -> &PgPool {
        self.replica.as_ref().unwrap_or(&self.pool)
    }

    /// A connection for commands whose statements may take any time.
    pub async fn connect_directly(&self) -> Result<PgConnection> {
        self.direct.connect().await.map_err(|error| self.direct.explain(&error))
    }

    /// Starts the embedded server again whenever it is gone. Never returns.
    pub async fn supervise(&self) {
        let Some(cluster) = &self.cluster else { return pending().await };
        for poll in (0..FULL_CHECK_EVERY).cycle() {
            let is_quick = tokio::select! {
                () = self.lost_connection.notified() => false,
                () = sleep(POLL_INTERVAL) => poll > 0,
            };
            let cluster = Arc::clone(cluster);
            match spawn_blocking(move || cluster.revive(is_quick)).await {
                Ok(Ok(true)) => tracing::warn!("the database was gone and was started again"),
                Ok(Err(error)) => {
                    tracing::error!(error = format!("{error:#}"), "the database is gone and does not start");
                    sleep(RETRY_DELAY).await;
                }
                Ok(Ok(false)) | Err(_) => {}
            }
        }
    }

    /// Closes the connections, then stops the server unless another process uses it.
    pub async fn close(self) {
        if let Some(replica) = self.replica {
            let _ = timeout(CLOSE_TIMEOUT, replica.close()).await;
        }
        if timeout(CLOSE_TIMEOUT, self.pool.close()).await.is_err() {
            tracing::warn!("some database connections were still in use");
        }
        if let Some(cluster) = self.cluster {
            leave(cluster).await;
        }
    }

    async fn open_external(url: &str, direct_url: Option<&str>, replica_url: Option<&str>) -> Result<Self> {
        let access = Access::by_url("DATABASE_URL", url)?;
        let (access, direct) = match direct_url {
            Some(direct) => (access, Access::by_url("DIRECT_URL", direct)?),
            None => (access.clone().with_session_settings(), access),
        };
        migrate(&direct).await?;
        let lost_connection = Arc::default();
        let replica = replica_url.map(|url| Access::by_url("DATABASE_REPLICA_URL", url)).transpose()?;
        let replica = replica.map(|access| access.with_session_settings().pool(&lost_connection));
        let pool = access.pool(&lost_connection);
        Ok(Self { pool, replica, direct, cluster: None, lost_connection })
    }

    async fn embedded(data_dir: Option<PathBuf>, pg_bin: Option<PathBuf>) -> Result<Self> {
        let cluster = spawn_blocking(move || {
            let dir = data_dir.map_or_else(default_data_dir, Ok)?;
            Cluster::start(&dir, &PostgresSearch::detect(pg_bin), Durability::Full)
        })
        .await??;
        let access = Access::embedded(&cluster, "buildoff");
        if let Err(error) = migrate_embedded(&cluster, &access).await {
            leave(cluster).await;
            return Err(error);
        }
        let lost_connection = Arc::default();
        let pool = access.clone().with_session_settings().pool(&lost_connection);
        Ok(Self { pool, replica: None, direct: access, cluster: Some(Arc::new(cluster)), lost_connection })
    }

    async fn announce(&self, begun: Instant) -> Result<()> {
        let installation = sqlx::query!(
            r#"
            SELECT id, current_setting('server_version') AS "postgres!"
            FROM installation
            "#
        )
        .fetch_one(&self.pool)
        .await
        .context("The database was migrated, but cannot be read")?;
        tracing::info!(
            installation = %installation.id,
            postgres = installation.postgres,
            ms = begun.elapsed().as_millis() as u64,
            "database ready"
        );
        Ok(())
    }
}

async fn leave(cluster: impl Send + 'static) {
    // A panic in the task was already reported on stderr.
    let _ = spawn_blocking(move || drop(cluster)).await;
}

async fn migrate_embedded(cluster: &Cluster, access: &Access) -> Result<()> {
    const NO_SUCH_DATABASE: &str = "3D000";
    match access.connect().await {
        Ok(mut connection) => schema::migrate(&mut connection).await,
        Err(error) if has_sqlstate(&error, &[NO_SUCH_DATABASE]) => {
            create_database(&Access::embedded(cluster, "postgres")).await?;
            migrate(access).await
        }
        Err(error) => Err(access.explain(&error)),
    }
}

async fn migrate(access: &Access) -> Result<()> {
    let mut connection = access.connect().await.map_err(|error| access.explain(&error))?;
    schema::migrate(&mut connection).await
}

async fn create_database(access: &Access) -> Result<()> {
    // The second code is what one of two processes gets that create it at the same time.
    const EXISTS: [&str; 2] = ["42P04", "23505"];
    let mut connection = access.connect().await.map_err(|error| access.explain(&error))?;
    match sqlx::query!("CREATE DATABASE buildoff").execute(&mut connection).await {
        Err(error) if !has_sqlstate(&error, &EXISTS) => Err(access.explain(&error)),
        _ => Ok(()),
    }
}
