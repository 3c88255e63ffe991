//! The schema, readiness, and databases that are given by URL.

use std::{fs, time::Duration};

use buildoff::arena::gallery::{self, GalleryFilter};
use buildoff::arena::jobs::{self, EnqueueError, JobState};
use buildoff::arena::{builds, drafts};
use buildoff::db::{
    Cluster, Database, DatabaseSource, Durability, MIGRATOR, PostgresSearch, ReadinessError, check_ready,
    pool_options,
};
use sqlx::PgPool;
use tokio::{
    task::spawn_blocking,
    time::{sleep, timeout},
};
use uuid::Uuid;
use voxel::GridSize;

use crate::support::db::TestDb;

fn url_source(url: impl Into<String>) -> DatabaseSource {
    DatabaseSource::Url { url: url.into(), direct_url: None, replica_url: None }
}

async fn open_error(source: &DatabaseSource) -> String {
    let error = Database::open(source).await.expect_err("it was to fail");
    format!("{error:#}\n{error:?}\n{source:?}")
}

/// A database that a newer program has migrated.
async fn apply_newer_migration(pool: &PgPool) {
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'the future', true, '', 0)",
    )
    .execute(pool)
    .await
    .unwrap();
}

#[tokio::test]
async fn a_database_given_by_url_is_opened_and_ready() {
    let db = TestDb::new().await;
    let database = Database::open(&url_source(db.url())).await.unwrap();
    assert_eq!(check_ready(database.pool()).await, Ok(()));
    database.close().await;
    assert_eq!(check_ready(&db.pool).await, Ok(()), "closing must not stop the server");
}

#[tokio::test]
async fn migrations_use_the_direct_url() {
    let db = TestDb::new().await;
    let source = |direct_url: String| DatabaseSource::Url {
        url: db.url(),
        direct_url: Some(direct_url),
        replica_url: None,
    };
    Database::open(&source(db.url())).await.unwrap().close().await;
    let message = open_error(&source("postgres://admin@nowhere:hunter2/".into())).await;
    assert!(message.starts_with("DIRECT_URL is not the URL"), "{message}");
}

#[tokio::test]
async fn there_is_exactly_one_installation_row() {
    let db = TestDb::new().await;
    let count = sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM installation"#);
    assert_eq!(count.fetch_one(&db.pool).await.unwrap(), 1);
    for row in ["DEFAULT VALUES", "(only_row) VALUES (false)"] {
        let insert = sqlx::AssertSqlSafe(format!("INSERT INTO installation {row}"));
        sqlx::query(insert).execute(&db.pool).await.expect_err(row);
    }
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let db = TestDb::new().await;
    apply_newer_migration(&db.pool).await;
    assert_eq!(check_ready(&db.pool).await, Err(ReadinessError::OtherMigrations));
    let message = open_error(&url_source(db.url())).await;
    assert!(message.contains("newer than this Buildoff"), "{message}");
}

#[tokio::test]
async fn a_database_without_migrations_is_behind() {
    let db = TestDb::new().await;
    sqlx::query("DROP TABLE _sqlx_migrations").execute(&db.pool).await.unwrap();
    assert_eq!(check_ready(&db.pool).await, Err(ReadinessError::MissingMigrations));
}

#[tokio::test]
async fn a_changed_migration_is_noticed() {
    let db = TestDb::new().await;
    sqlx::query("UPDATE _sqlx_migrations SET checksum = 'other'").execute(&db.pool).await.unwrap();
    assert_eq!(check_ready(&db.pool).await, Err(ReadinessError::OtherMigrations));
    let message = open_error(&url_source(db.url())).await;
    assert!(message.contains("changed afterwards"), "{message}");
}

#[tokio::test]
async fn a_lost_database_soon_makes_the_server_not_ready() {
    // The listener accepts connections and never sends anything.
    let mute = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgres://postgres@{}/buildoff", mute.local_addr().unwrap());
    let pool = PgPool::connect_lazy(&url).unwrap();
    let answer = timeout(Duration::from_secs(4), check_ready(&pool)).await;
    assert_eq!(answer, Ok(Err(ReadinessError::Unreachable)));
}

#[tokio::test]
async fn startup_waits_for_a_database_that_starts_late() {
    let dir = tempfile::tempdir().unwrap();
    let start = {
        let dir = dir.path().to_owned();
        move || Cluster::start(&dir, &PostgresSearch::detect(None), Durability::None).unwrap()
    };
    let first = spawn_blocking(start.clone()).await.unwrap();
    let socket = first.options().get_socket().unwrap().display().to_string();
    spawn_blocking(move || drop(first)).await.unwrap();

    let source = url_source(format!("postgres://postgres@localhost/postgres?host={socket}"));
    let opening = tokio::spawn(async move { Database::open(&source).await });
    sleep(Duration::from_millis(300)).await;
    assert!(!opening.is_finished(), "the database must not be reachable yet");
    let late = spawn_blocking(start).await.unwrap();
    opening.await.unwrap().unwrap().close().await;
    spawn_blocking(move || drop(late)).await.unwrap();
}

#[tokio::test]
async fn database_passwords_are_never_shown() {
    for url in [
        "hunter2",
        "mysql://me:hunter2@localhost/db",
        "postgres://me:hunter2@localhost:port/db",
        "postgres://me:hunter2/x@localhost/db",
        "postgres://me:hun#ter2@[::1/hunter2",
        "postgres://localhost/db?port=hunter2",
        "postgres://me:hunter2@localhost/db?sslmode=hunter2",
    ] {
        let message = open_error(&url_source(url)).await;
        assert!(message.starts_with("DATABASE_URL is not the URL"), "{message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[tokio::test]
async fn errors_of_the_database_server_are_shown() {
    let db = TestDb::new().await;
    let server = db.url();
    let message = open_error(&url_source(server.replace("/test_", "/untest_"))).await;
    assert!(message.starts_with("The database of DATABASE_URL says: database \"untest_"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_database_connection_has_timeouts() {
    let (db, home) = (TestDb::new().await, tempfile::tempdir().unwrap());
    let embedded = DatabaseSource::Embedded { data_dir: Some(home.path().to_owned()), pg_bin: None };
    let patient = format!("{}&options=-c%20statement_timeout%3D20s", db.url());
    for (source, statement) in
        [(url_source(db.url()), "30s"), (url_source(patient), "20s"), (embedded, "30s")]
    {
        let database = Database::open(&source).await.unwrap();
        for (name, expected) in [
            ("statement_timeout", statement),
            ("idle_in_transaction_session_timeout", "15s"),
            ("lock_timeout", "10s"),
        ] {
            let set: String = sqlx::query_scalar("SELECT current_setting($1)")
                .bind(name)
                .fetch_one(database.pool())
                .await
                .unwrap();
            assert_eq!(set, expected, "{name} at {source:?}");
        }
        database.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reusing_a_connection_logs_nothing_at_the_database() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_owned();
    let start = move || Cluster::start(&path, &PostgresSearch::detect(None), Durability::None).unwrap();
    let cluster = spawn_blocking(start).await.unwrap();
    let pool = pool_options().max_connections(1).connect_lazy_with(cluster.options());
    let log = || fs::read_to_string(dir.path().join("postgres/server.log")).unwrap();
    // After the first query the server has logged everything about its start.
    sqlx::query("SELECT 1").execute(&pool).await.unwrap();
    let before = log();
    for _ in 0..20 {
        sqlx::query("SELECT 1").execute(&pool).await.unwrap();
        pool.begin().await.unwrap().commit().await.unwrap();
    }
    // The pool tests a connection before use only if it was idle for this long.
    sleep(Duration::from_millis(200)).await;
    sqlx::query("SELECT 1").execute(&pool).await.unwrap();
    pool.close().await;
    assert_eq!(log().strip_prefix(&before), Some(""));
    spawn_blocking(move || drop(cluster)).await.unwrap();
}

/// Threads that create test databases at the same time get different ones.
#[test]
fn test_databases_are_isolated() {
    let threads: Vec<_> = (0..8)
        .map(|_| {
            std::thread::spawn(|| {
                let runtime = tokio::runtime::Runtime::new().unwrap();
                runtime.block_on(async {
                    let db = TestDb::new().await;
                    let id = sqlx::query_scalar!("SELECT id FROM installation");
                    let alone = "DELETE FROM installation";
                    id.fetch_one(&db.pool).await.unwrap();
                    sqlx::query(alone).execute(&db.pool).await.unwrap().rows_affected()
                })
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), 1);
    }
}

/// Before settings had one spelling and jobs had kinds.
const MIGRATION_BEFORE_SETTINGS: i64 = 10;

#[tokio::test]
async fn builds_jobs_and_drafts_survive_that_settings_get_one_spelling_and_jobs_kinds() {
    let db = TestDb::new().await;
    db.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public").await;
    let mut connection = db.pool.acquire().await.unwrap();
    MIGRATOR.run_to(MIGRATION_BEFORE_SETTINGS, &mut *connection).await.unwrap();
    db.run(
        "INSERT INTO models (key, provider, model_id, display_name) VALUES ('elm', 'north', 'e', 'Elm');
         INSERT INTO prompts (id, text) VALUES ('castle', 'a castle');
         INSERT INTO builds (id, prompt_id, model_key, grid_size, palette, mode, digest, grid, grid_is_best, spec,
                             warnings, block_count, retired_at)
         SELECT ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'castle', 'elm', grid, palette, mode,
                sha256('grid'), 'grid', true, 'spec', '[]', n, retired_at
         FROM (VALUES (1, 32, 'simple', 'precise', now()), (2, 32, 'simple', 'precise', NULL),
                      (3, 256, 'advanced', 'loose-and-quick', NULL)) build (n, grid, palette, mode, retired_at);
         INSERT INTO jobs (id, prompt_id, model_key, grid_size, palette, mode, state, ended_at, build_id, error_code)
         SELECT ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'castle', 'elm', grid, 'advanced',
                'loose-and-quick', state, ended_at, build::uuid, code
         FROM (VALUES (4, 256, 'ready', now(), '00000000-0000-0000-0000-000000000003', NULL),
                      (5, 64, 'failed', now(), NULL, 'no_blocks'), (6, 64, 'queued', NULL, NULL, NULL))
              job (n, grid, state, ended_at, build, code);
         INSERT INTO attempts (job_id, number, ended_at, outcome, cost)
         VALUES ('00000000-0000-0000-0000-000000000004', 1, now(), 'accepted', 7);
         INSERT INTO drafts (id, prompt, grid_size, palette, model, digest, grid, warnings, block_count, expires_at)
         VALUES ('00000000-0000-0000-0000-000000000007', 'a castle', 128, 'simple', 'elm', sha256('grid'), 'grid',
                 '[]', 1, now() + interval '1 hour')",
    )
    .await;
    MIGRATOR.run(&mut *connection).await.unwrap();

    assert_eq!(check_ready(&db.pool).await, Ok(()));
    let id = |number: u128| Uuid::from_u128(number);
    for (number, settings, retired) in [
        (1, "32-simple-precise", true),
        (2, "32-simple-precise", false),
        (3, "256-advanced-loose-and-quick", false),
    ] {
        let build = builds::find(&db.pool, id(number)).await.unwrap().unwrap();
        assert_eq!((build.settings.slug().as_str(), build.retired_at.is_some()), (settings, retired));
        assert_eq!((build.prompt_id.as_str(), build.block_count), ("castle", number as i32));
        assert_eq!(builds::grid(&db.pool, id(number)).await.unwrap().unwrap().packed, b"grid");
    }
    let filter = GalleryFilter { grid_size: Some(GridSize::G256), ..GalleryFilter::default() };
    let (cards, total) = gallery::page(&db.pool, &filter, 0).await.unwrap();
    assert_eq!((cards[0].id, total), (id(3), 1));
    for (number, settings, state, build, cost) in [
        (4, "256-advanced-loose-and-quick", JobState::Ready, Some(id(3)), Some(7)),
        (5, "64-advanced-loose-and-quick", JobState::Failed, None, Some(0)),
        (6, "64-advanced-loose-and-quick", JobState::Queued, None, Some(0)),
    ] {
        let job = jobs::find(&db.pool, &[id(number)]).await.unwrap().remove(0);
        assert_eq!((job.settings.slug().as_str(), job.state), (settings, state));
        assert_eq!((job.prompt_id.as_str(), job.build_id, job.cost), ("castle", build, cost));
    }
    let queued = jobs::find(&db.pool, &[id(6)]).await.unwrap().remove(0).slot();
    let again = jobs::enqueue(&mut connection, &queued).await;
    assert!(matches!(again, Err(EnqueueError::InProgress(job)) if job == id(6)), "{again:?}");
    let draft = drafts::find(&db.pool, id(7)).await.unwrap().unwrap();
    assert_eq!(draft.settings.slug(), "128-simple-precise");
}

#[test]
fn every_migration_is_embedded() {
    let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).unwrap();
    assert_eq!(files.count(), MIGRATOR.iter().count());
}
