//! Writing a backup.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anyhow::{Context, Result, ensure};
use futures_util::TryStreamExt;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use time::OffsetDateTime;

use super::BackupSummary;
use super::file::{BackupHeader, BackupMigration, BackupSequence, BackupTable, BackupWriter, identifier};
use crate::db::TABLES;

/// Text of `COPY` depends on these. A backup takes as long as it takes, and waits for a lock only for a while.
pub(super) const COPY_SETTINGS: &str = "
    SET LOCAL DateStyle = 'ISO, YMD';
    SET LOCAL TimeZone = 'UTC';
    SET LOCAL bytea_output = 'hex';
    SET LOCAL extra_float_digits = 3;
    SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL lock_timeout = '10s'";

/// Writes all tables as they are at one moment, while others may go on reading and writing.
pub async fn dump(connection: &mut PgConnection, out: impl Write) -> Result<BackupSummary> {
    let tables = tables_in_order(connection).await?;
    ensure!(!tables.is_empty(), "The database has no tables of Buildoff.");
    let mut transaction = connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").await?;
    transaction.execute(COPY_SETTINGS).await?;
    // The first query freezes what is seen. It comes after the locks, since a table that is truncated in between would
    // seem empty.
    let names: Vec<_> = tables.iter().map(|table| identifier(&table.name)).collect::<Result<_>>()?;
    let lock = format!("LOCK TABLE {} IN ACCESS SHARE MODE", names.join(", "));
    transaction.execute(AssertSqlSafe(lock)).await.context("The database could not be locked for reading")?;

    let created_at = OffsetDateTime::now_utc().replace_nanosecond(0)?;
    let header = header(&mut transaction, created_at).await?;
    let mut writer = BackupWriter::new(out, &header)?;
    let mut counts = Vec::with_capacity(tables.len());
    for table in tables {
        let name = table.name.clone();
        let copy = format!("COPY {} TO STDOUT", with_columns(&table)?);
        writer.begin_table(table)?;
        let mut rows = transaction.copy_out_raw(&copy).await?;
        while let Some(bytes) = rows.try_next().await? {
            writer.write_rows(&bytes)?;
        }
        drop(rows);
        counts.push((name, writer.end_table()?));
    }
    // Sequences do not wait for commits, so what they say now is at least what the rows above have used.
    for sequence in sequences(&mut transaction).await? {
        writer.write_sequence(sequence)?;
    }
    writer.finish()?;
    transaction.rollback().await?;
    Ok(BackupSummary { created_at, tables: counts })
}

async fn header(connection: &mut PgConnection, created_at: OffsetDateTime) -> Result<BackupHeader> {
    let postgres = sqlx::query_scalar!(r#"SELECT current_setting('server_version') AS "version!""#);
    let postgres = postgres.fetch_one(&mut *connection).await?;
    let migrations: Vec<(i64, Vec<u8>)> =
        sqlx::query_as("SELECT version, checksum FROM _sqlx_migrations WHERE success ORDER BY version")
            .fetch_all(&mut *connection)
            .await?;
    let migration =
        |(version, checksum): (i64, Vec<u8>)| BackupMigration { version, checksum: hex::encode(checksum) };
    Ok(BackupHeader {
        created_at,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        postgres,
        migrations: migrations.into_iter().map(migration).collect(),
    })
}

/// What must not outlive its day, and the keys of network digests, which a backup would keep for ever.
const LEFT_OUT: [&str; 5] =
    ["daily_votes", "lent_key_days", "lent_key_runs", "network_influence", "network_keys"];

/// Buildoff's tables in the current schema, except those that are left out, each after those that it refers to, with the columns that can be written.
pub(super) async fn tables_in_order(connection: &mut PgConnection) -> Result<Vec<BackupTable>> {
    let known = TABLES.into_iter().chain(["installation"]).filter(|table| !LEFT_OUT.contains(table));
    let known: Vec<String> = known.map(str::to_owned).collect();
    let columns = sqlx::query!(
        r#"
        SELECT relname::text AS "table!", array_agg(attname::text ORDER BY attnum) AS "columns!"
        FROM pg_class
        JOIN pg_namespace ON pg_namespace.oid = relnamespace
        JOIN pg_attribute ON attrelid = pg_class.oid
        WHERE nspname = current_schema() AND relname = ANY ($1)
          AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
        GROUP BY relname
        "#,
        &known as &[String],
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut waiting: BTreeMap<String, Vec<String>> =
        columns.into_iter().map(|row| (row.table, row.columns)).collect();
    let references = sqlx::query!(
        r#"
        SELECT referring.relname::text AS "table!", referred.relname::text AS "refers_to!"
        FROM pg_constraint
        JOIN pg_class referring ON referring.oid = conrelid
        JOIN pg_class referred ON referred.oid = confrelid
        JOIN pg_namespace ON pg_namespace.oid = referring.relnamespace
        WHERE contype = 'f' AND nspname = current_schema() AND conrelid <> confrelid
        "#
    )
    .fetch_all(&mut *connection)
    .await?;
    let references: BTreeSet<_> = references.into_iter().map(|row| (row.table, row.refers_to)).collect();

    let mut ordered = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let is_free = |table: &String| {
            !references
                .iter()
                .any(|(referring, referred)| referring == table && waiting.contains_key(referred))
        };
        let free: Vec<String> = waiting.keys().filter(|table| is_free(table)).cloned().collect();
        ensure!(!free.is_empty(), "The tables refer to each other in a circle.");
        for name in free {
            let columns = waiting.remove(&name).unwrap_or_default();
            ordered.push(BackupTable { name, columns });
        }
    }
    Ok(ordered)
}

/// The sequences of the current schema's columns that have given out a value.
pub(super) async fn sequences(connection: &mut PgConnection) -> Result<Vec<BackupSequence>> {
    let sequences = sqlx::query!(
        r#"
        SELECT
            owner.relname::text AS "table!", attname::text AS "column!",
            pg_sequence_last_value(sequence.oid::regclass) AS last_value
        FROM pg_class sequence
        JOIN pg_depend ON classid = 'pg_class'::regclass AND objid = sequence.oid
        JOIN pg_class owner ON refclassid = 'pg_class'::regclass AND owner.oid = refobjid
        JOIN pg_attribute ON attrelid = owner.oid AND attnum = refobjsubid
        JOIN pg_namespace ON pg_namespace.oid = owner.relnamespace
        WHERE sequence.relkind = 'S' AND deptype IN ('a', 'i')
          AND nspname = current_schema() AND owner.relname = ANY ($1)
        ORDER BY owner.relname, attname
        "#,
        &TABLES.map(str::to_owned) as &[String],
    )
    .fetch_all(connection)
    .await?;
    let sequences = sequences.into_iter().filter_map(|row| {
        Some(BackupSequence { table: row.table, column: row.column, last_value: row.last_value? })
    });
    Ok(sequences.collect())
}

/// The table and its columns, for `COPY` and `INSERT`.
pub(super) fn with_columns(table: &BackupTable) -> Result<String> {
    Ok(format!("{} ({})", identifier(&table.name)?, columns(table)?))
}

pub(super) fn columns(table: &BackupTable) -> Result<String> {
    let columns: Vec<_> = table.columns.iter().map(|column| identifier(column)).collect::<Result<_>>()?;
    Ok(columns.join(", "))
}
