//! Reading a backup into a database, in one transaction.
//!
//! A backup of the same schema is read into the tables as they are. An older one is read into a schema beside them,
//! which the first migrations make and the others bring up to date; its rows are moved over at the end. Either way
//! nothing but rows and sequences of Buildoff's own tables changes, and nothing at all unless the whole file is sound.

use std::collections::BTreeSet;
use std::io::{Read, Seek};

use anyhow::{Context, Result, anyhow, bail, ensure};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use super::dump::{COPY_SETTINGS, columns, sequences, tables_in_order, with_columns};
use super::file::{BackupEntry, BackupHeader, BackupReader, BackupSequence, BackupTable, identifier};
use super::{BackupSummary, verify};
use crate::db::{MIGRATOR, has_sqlstate};

/// The schema that an older backup is read into.
const OLDER_SCHEMA: &str = "buildoff_older_backup";

/// What may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreMode {
    /// Nothing: the database must be empty, or as Buildoff makes it at its first start.
    IntoFresh,
    /// Whatever the database holds.
    Replace,
}

/// Reads a backup into the tables of the connection's database, which has all migrations. The file is read twice: a
/// damaged one is refused before anything is locked.
pub async fn restore(
    connection: &mut PgConnection,
    mut input: impl Read + Seek,
    mode: RestoreMode,
) -> Result<BackupSummary> {
    verify(&mut input)?;
    input.rewind()?;
    let (mut reader, header) = BackupReader::open(input)?;
    let older_version = older_version(&header)?;
    let mut transaction = connection.begin().await?;
    transaction.execute(COPY_SETTINGS).await?;
    let tables = tables_in_order(&mut transaction).await?;
    lock(&mut transaction, &tables).await?;
    if mode == RestoreMode::IntoFresh {
        check_fresh(&mut transaction).await?;
    }
    let revision = sqlx::query_scalar!("SELECT catalog_revision FROM installation");
    let revision = revision.fetch_one(&mut *transaction).await?;
    let loaded = match older_version {
        None => load(&mut transaction, &mut reader, &tables).await?,
        Some(version) => load_older(&mut transaction, &mut reader, &tables, version).await?,
    };
    // Running servers notice by this number that what they remember is out of date.
    sqlx::query!("UPDATE installation SET catalog_revision = greatest(catalog_revision, $1) + 1", revision)
        .execute(&mut *transaction)
        .await?;
    transaction.execute(AssertSqlSafe(format!("ANALYZE {}", names(&tables)?))).await?;
    transaction.commit().await?;
    Ok(BackupSummary { created_at: header.created_at, tables: loaded })
}

/// The version of the backup's last migration, if this program has later ones.
fn older_version(header: &BackupHeader) -> Result<Option<i64>> {
    let mut known = MIGRATOR.iter();
    for migration in &header.migrations {
        let Some(own) = known.next().filter(|own| own.version == migration.version) else {
            bail!(
                "This backup was made by a newer Buildoff: its database has migration {}, which this version does not know. Use the newer Buildoff.",
                migration.version
            );
        };
        ensure!(
            hex::encode(&own.checksum) == migration.checksum,
            "Migration {} of this backup differs from this Buildoff's: the backup was made by a changed Buildoff. Use that one.",
            migration.version
        );
    }
    let Some(last) = header.migrations.last() else { bail!("The backup is damaged: it has no version.") };
    Ok(known.next().map(|_| last.version))
}

async fn lock(connection: &mut PgConnection, tables: &[BackupTable]) -> Result<()> {
    const LOCK_NOT_AVAILABLE: &str = "55P03";
    let lock = format!("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", names(tables)?);
    match connection.execute(AssertSqlSafe(lock)).await {
        Err(error) if has_sqlstate(&error, &[LOCK_NOT_AVAILABLE]) => {
            bail!("The database is in use. Stop all servers of this installation, and try again.")
        }
        done => done.map(drop).context("The tables could not be locked"),
    }
}

/// Fails if there is anything that somebody would miss. Buildoff itself adds models, prompts and builds to an empty
/// database, and sessions come by themselves.
async fn check_fresh(connection: &mut PgConnection) -> Result<()> {
    let counts = sqlx::query!(
        r#"
        SELECT
            (SELECT count(*) FROM votes) AS "votes!",
            (SELECT count(*) FROM jobs) AS "jobs!",
            (SELECT count(*) FROM kept_runs) AS "kept_runs!",
            (SELECT count(*) FROM audit) AS "changes!"
        "#
    )
    .fetch_one(connection)
    .await?;
    ensure!(
        (counts.votes, counts.jobs, counts.kept_runs, counts.changes) == (0, 0, 0, 0),
        "The database is not empty (votes: {}, jobs: {}, kept runs: {}, changes by admins: {}). Restore into another database, or use --replace to delete everything in this one.",
        counts.votes,
        counts.jobs,
        counts.kept_runs,
        counts.changes,
    );
    Ok(())
}

/// Replaces the content of `tables`, which are those of the current schema, by the file's.
async fn load(
    connection: &mut PgConnection,
    reader: &mut BackupReader<impl Read>,
    tables: &[BackupTable],
) -> Result<Vec<(String, u64)>> {
    empty(connection, tables).await?;
    let mut loaded = Vec::with_capacity(tables.len());
    let mut missing: BTreeSet<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    let mut chunk = Vec::new();
    while let Some(entry) = reader.next_entry()? {
        match entry {
            BackupEntry::Table(table) => {
                ensure!(
                    missing.remove(&*table.name),
                    "The backup is damaged: its schema has no table {:?}.",
                    table.name
                );
                let copy = format!("COPY {} FROM STDIN", with_columns(&table)?);
                let refused = || format!("The database does not accept the rows of {}", table.name);
                let mut rows = connection.copy_in_raw(&copy).await.with_context(refused)?;
                loop {
                    let more = reader.read_rows(&mut chunk)?;
                    rows.send(chunk.as_slice()).await.with_context(refused)?;
                    if !more {
                        break;
                    }
                }
                let stored = rows.finish().await.with_context(refused)?;
                ensure!(stored == reader.rows(), refused());
                loaded.push((table.name, stored));
            }
            BackupEntry::Sequence(sequence) => set_sequence(connection, &sequence).await?,
            _ => {}
        }
    }
    ensure!(missing.is_empty(), "The backup is damaged: it lacks the tables {missing:?}.");
    switch_triggers(connection, tables, "ENABLE").await?;
    Ok(loaded)
}

/// Reads a backup of the schema as it was at `version`.
async fn load_older(
    connection: &mut PgConnection,
    reader: &mut BackupReader<impl Read>,
    tables: &[BackupTable],
    version: i64,
) -> Result<Vec<(String, u64)>> {
    let home = sqlx::query_scalar!(r#"SELECT quote_ident(current_schema()) AS "schema!""#);
    let home = home.fetch_one(&mut *connection).await?;
    let enter = format!("CREATE SCHEMA {OLDER_SCHEMA}; SET LOCAL search_path = {OLDER_SCHEMA}");
    sqlx::raw_sql(AssertSqlSafe(enter)).execute(&mut *connection).await?;
    migrate_to(connection, version).await?;
    let older_tables = tables_in_order(connection).await?;
    let loaded = load(connection, reader, &older_tables).await?;
    migrate_to(connection, i64::MAX).await?;
    let sequences = sequences(connection).await?;

    let leave = format!("SET LOCAL search_path = {home}");
    connection.execute(AssertSqlSafe(leave)).await?;
    empty(connection, tables).await?;
    for table in tables {
        let (into, columns, name) = (with_columns(table)?, columns(table)?, identifier(&table.name)?);
        let insert =
            format!("INSERT INTO {into} OVERRIDING SYSTEM VALUE SELECT {columns} FROM {OLDER_SCHEMA}.{name}");
        connection.execute(AssertSqlSafe(insert)).await?;
    }
    for sequence in &sequences {
        set_sequence(connection, sequence).await?;
    }
    switch_triggers(connection, tables, "ENABLE").await?;
    connection.execute(AssertSqlSafe(format!("DROP SCHEMA {OLDER_SCHEMA} CASCADE"))).await?;
    Ok(loaded)
}

/// Applies the migrations up to `version` in the current schema. Each finds the checks of the one before done, as if it
/// had been committed: a table with checks that are put off cannot be altered.
async fn migrate_to(connection: &mut PgConnection, version: i64) -> Result<()> {
    for migration in MIGRATOR.iter().filter(|migration| migration.version <= version) {
        MIGRATOR
            .run_direct(Some(migration.version), connection, false)
            .await
            .map_err(|error| anyhow!("The backup cannot be brought up to date: {error}."))?;
        let check = "SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED";
        sqlx::raw_sql(check).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Deletes all rows, also of tables that refer to these but are left out of backups. What triggers do to other rows is in the backup already, so they must not do it again.
async fn empty(connection: &mut PgConnection, tables: &[BackupTable]) -> Result<()> {
    switch_triggers(connection, tables, "DISABLE").await?;
    let truncate = format!("TRUNCATE {} RESTART IDENTITY CASCADE", names(tables)?);
    connection.execute(AssertSqlSafe(truncate)).await.context("The tables could not be emptied")?;
    Ok(())
}

async fn switch_triggers(connection: &mut PgConnection, tables: &[BackupTable], to: &str) -> Result<()> {
    for table in tables {
        let alter = format!("ALTER TABLE {} {to} TRIGGER USER", identifier(&table.name)?);
        connection.execute(AssertSqlSafe(alter)).await?;
    }
    Ok(())
}

async fn set_sequence(connection: &mut PgConnection, sequence: &BackupSequence) -> Result<()> {
    let table = identifier(&sequence.table)?;
    let set = sqlx::query_scalar!(
        "SELECT setval(pg_get_serial_sequence($1, $2)::regclass, $3)",
        table,
        sequence.column,
        sequence.last_value
    );
    set.fetch_one(connection).await?;
    Ok(())
}

fn names(tables: &[BackupTable]) -> Result<String> {
    let names: Vec<_> = tables.iter().map(|table| identifier(&table.name)).collect::<Result<_>>()?;
    Ok(names.join(", "))
}
