//! A database that is full, lost or restarting: what visitors, monitoring and the log are told.

use std::time::Duration;

use buildoff::db::{Cluster, Durability, MIGRATOR, PostgresSearch, pool_options};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep, timeout};

use crate::support::db::TestDb;
use crate::support::{TestServer, TestServerProcess, server_with_builds};

const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

const FORM: &str = "application/x-www-form-urlencoded";

/// Has Postgres refuse all rows of these tables as it does when a disk is full, or for another reason.
async fn refuse_rows(db: &TestDb, tables: &[&str], reason: &str) {
    db.run(&format!(
        "CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'could not extend file: {reason}' USING ERRCODE = '{reason}'; END $$"
    ))
    .await;
    for table in tables {
        db.run(&format!(
            "CREATE TRIGGER refuse_row BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_row()"
        ))
        .await;
    }
}

async fn accept_rows(db: &TestDb) {
    db.run("DROP FUNCTION refuse_row CASCADE").await;
}

fn header(response: &Response, name: &str) -> String {
    response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

/// Repeats a request until its answer has this status. All answers before must be honest: 503 with `Retry-After`.
async fn wait_for_status(server: &TestServer, path: &str, status: u16) {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    loop {
        let response = server.get(path).send().await.unwrap();
        if response.status() == status {
            return;
        }
        let retry_after = header(&response, "retry-after");
        assert_eq!((response.status().as_u16(), retry_after.is_empty()), (503, false), "{path}");
        assert!(Instant::now() < deadline, "{path} is still answered {}", response.text().await.unwrap());
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn while_nothing_can_be_saved_reading_works_and_writing_is_answered_503_with_retry_after() {
    for reason in ["disk_full", "read_only_sql_transaction"] {
        let (db, server) = server_with_builds().await;
        refuse_rows(&db, &["matchups", "sessions"], reason).await;

        for path in ["/leaderboard", "/builds", "/api/leaderboard"] {
            assert_eq!(server.get(path).send().await.unwrap().status(), 200, "{path} with {reason}");
        }
        let answer = server.get("/api/arena/matchup").send().await.unwrap();
        assert_eq!((answer.status().as_u16(), header(&answer, "retry-after").as_str()), (503, "30"));
        let expected = json!({
            "error": "Nothing can be saved right now. Try again in a minute.", "code": "not_writable",
        });
        assert_eq!(answer.json::<Value>().await.unwrap(), expected);
        let page = server.post("/matchup").header("content-type", FORM).send().await.unwrap();
        assert_eq!((page.status().as_u16(), header(&page, "retry-after").as_str()), (503, "30"));
        let html = page.text().await.unwrap();
        assert!(html.contains(">Nothing can be saved right now</h1>"), "{html}");
    }
}

#[tokio::test]
async fn a_session_that_cannot_be_saved_is_answered_503_and_not_500() {
    let (db, server) = server_with_builds().await;
    refuse_rows(&db, &["sessions"], "disk_full").await;
    let answer = server.get("/api/arena/matchup").send().await.unwrap();
    assert_eq!((answer.status().as_u16(), header(&answer, "retry-after").as_str()), (503, "30"));
    assert_eq!(answer.json::<Value>().await.unwrap()["code"], "not_writable");
}

#[tokio::test]
async fn a_server_whose_last_write_failed_is_not_ready_until_a_write_succeeds() {
    let (db, server) = server_with_builds().await;
    assert_eq!(server.get("/readyz").send().await.unwrap().status(), 200);
    refuse_rows(&db, &["matchups", "sessions"], "disk_full").await;
    assert_eq!(server.get("/api/arena/matchup").send().await.unwrap().status(), 503);

    let readyz = server.get("/readyz").send().await.unwrap();
    assert_eq!((readyz.status().as_u16(), header(&readyz, "retry-after").as_str()), (503, "2"));
    let expected = json!({
        "error": "The last write to the database failed because its disk is full.", "code": "not_ready",
    });
    assert_eq!(readyz.json::<Value>().await.unwrap(), expected);
    let metrics = server.get("/metrics").send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("buildoff_database_writable 0"), "{metrics}");
    assert_eq!(server.get("/healthz").send().await.unwrap().status(), 200);

    accept_rows(&db).await;
    let sessions = db.number("SELECT count(*) FROM sessions").await;
    wait_for_status(&server, "/readyz", 200).await;
    assert_eq!(db.number("SELECT count(*) FROM sessions").await, sessions, "trying to write leaves nothing");
    assert_eq!(server.get("/api/arena/matchup").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_connection_that_is_lost_in_the_middle_of_a_request_is_answered_503_and_not_500() {
    let (db, server) = server_with_builds().await;
    let mut blocking = db.pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE matchups IN ACCESS EXCLUSIVE MODE").execute(&mut *blocking).await.unwrap();
    let request = tokio::spawn(server.get("/api/arena/matchup").send());
    let waiting = "FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while db.number(&format!("SELECT count(*) {waiting}")).await == 0 {
        sleep(Duration::from_millis(5)).await;
    }
    db.number(&format!("SELECT count(pg_terminate_backend(pid)) {waiting}")).await;

    let answer = timeout(WAIT_TIMEOUT, request).await.unwrap().unwrap().unwrap();
    assert_eq!((answer.status().as_u16(), header(&answer, "retry-after").as_str()), (503, "2"));
    assert_eq!(answer.json::<Value>().await.unwrap()["code"], "database_unavailable");
    blocking.rollback().await.unwrap();
    assert_eq!(server.get("/api/arena/matchup").send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_database_is_answered_503_with_retry_after_everywhere_until_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let start = {
        let dir = dir.path().to_owned();
        move || Cluster::start(&dir, &PostgresSearch::detect(None), Durability::None).unwrap()
    };
    let cluster = spawn_blocking(start.clone()).await.unwrap();
    let options = cluster.options();
    let pool = pool_options().acquire_timeout(Duration::from_millis(500)).connect_lazy_with(options);
    MIGRATOR.run(&pool).await.unwrap();
    let server = TestServer::start_with_db(pool).await;
    assert_eq!(server.get("/readyz").send().await.unwrap().status(), 200);
    spawn_blocking(move || drop(cluster)).await.unwrap();

    for (method, path) in [
        (Method::GET, "/leaderboard"),
        (Method::GET, "/builds"),
        (Method::POST, "/matchup"),
        (Method::GET, "/api/leaderboard"),
        (Method::GET, "/api/arena/matchup"),
        (Method::GET, "/readyz"),
    ] {
        let request = server.request(method, path).header("content-type", FORM);
        let answer = request.header("cookie", "session=AAAAAAAAAAAAAAAAAAAAAA").send().await.unwrap();
        let retry_after = header(&answer, "retry-after");
        assert_eq!((answer.status().as_u16(), retry_after.as_str()), (503, "2"), "{path}");
    }
    let cluster = spawn_blocking(start).await.unwrap();
    for path in ["/leaderboard", "/api/leaderboard", "/readyz"] {
        wait_for_status(&server, path, 200).await;
    }
    drop(server);
    spawn_blocking(move || drop(cluster)).await.unwrap();
}

#[tokio::test]
async fn an_outage_that_every_request_meets_is_logged_once_a_second() {
    let db = TestDb::seeded().await;
    refuse_rows(&db, &["matchups", "sessions"], "disk_full").await;
    let server = TestServerProcess::start(&db, &[]);
    let begun = Instant::now();
    let mut requests = JoinSet::new();
    for path in ["/api/arena/matchup", "/readyz"] {
        for _ in 0..200 {
            requests.spawn(reqwest::get(format!("{}{path}", server.url)));
        }
        while let Some(answer) = requests.join_next().await {
            assert_eq!(answer.unwrap().unwrap().status(), 503, "{path}");
        }
    }
    let (seconds, log) = (begun.elapsed().as_secs() as usize, server.log());
    let lines = log.matches("\"level\":\"ERROR\"").count() + log.matches("\"level\":\"WARN\"").count();
    assert!((1..=seconds + 2).contains(&lines), "{lines} lines in {seconds} s: {log}");
    assert!(log.contains("the database's disk is full"), "{log}");
}
