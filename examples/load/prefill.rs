//! Writes millions of votes straight into the tables of an installation, as if voters had cast them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result};
use buildoff::arena::audit::Admin;
use buildoff::arena::elo::{Standing, apply_vote};
use buildoff::arena::sampling::pair_code;
use buildoff::arena::{Arena, Choice, Mode, ModelKey, PromptId, ReferencePolicy, Settings, replay};
use buildoff::db::{Database, DatabaseSource};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;
use voxel::{GridSize, Palette};

use crate::server::LoadDataset;

const LADDER: &str = "32-simple-precise";

/// Votes of each voter, each on another prompt, so that no voter sees a pair twice.
const VOTES_EACH: usize = 10;

/// The time over which the votes are spread, up to now.
const DAYS: i64 = 300;

/// Rows that are sent at once.
const BATCH: usize = 50_000;

/// Constraints and indexes are created again after the votes are written, which is several times as fast.
const WITHOUT_INDEXES: &str = "
    ALTER TABLE votes DROP CONSTRAINT votes_matchup_id_fkey, DROP CONSTRAINT votes_matchup_id_key;
    ALTER TABLE matchups DROP CONSTRAINT matchups_build_a_fkey, DROP CONSTRAINT matchups_build_b_fkey;
    DROP INDEX no_pair_twice, matchups_by_pair, votes_by_age;
    ALTER TABLE votes DROP CONSTRAINT votes_pkey;
    ALTER TABLE matchups DROP CONSTRAINT matchups_pkey;
";
const WITH_INDEXES: &str = "
    SET maintenance_work_mem = '1GB';
    ALTER TABLE matchups ADD PRIMARY KEY (id);
    ALTER TABLE votes ADD PRIMARY KEY (id), ADD UNIQUE (matchup_id);
    CREATE UNIQUE INDEX no_pair_twice ON matchups (voter_id, pair);
    CREATE INDEX matchups_by_pair ON matchups (settings, least(model_a, model_b), greatest(model_a, model_b));
    CREATE INDEX votes_by_age ON votes (at);
    ALTER TABLE matchups ADD FOREIGN KEY (build_a) REFERENCES builds (id) NOT VALID,
        ADD FOREIGN KEY (build_b) REFERENCES builds (id) NOT VALID;
    ALTER TABLE votes ADD FOREIGN KEY (matchup_id) REFERENCES matchups (id) NOT VALID;
    SELECT setval('vote_ids', (SELECT max(id) FROM votes));
";

/// Writes builds and votes into the installation in a data directory.
pub async fn write(dir: &Path, dataset: &LoadDataset, votes: usize) -> Result<()> {
    let source = DatabaseSource::Embedded { data_dir: Some(dir.to_owned()), pg_bin: None };
    let database = Database::open(&source).await?;
    let written = write_into(database.pool(), dataset, votes).await;
    database.close().await;
    written
}

async fn write_into(pool: &PgPool, dataset: &LoadDataset, votes: usize) -> Result<()> {
    let begun = Instant::now();
    let mut report = begun;
    let mut done = |what: &str| {
        println!("  {what}: {:.0} s", report.elapsed().as_secs_f64());
        report = Instant::now();
    };
    let builds = copy_builds(pool, dataset).await?;
    done("builds");
    sqlx::raw_sql(WITHOUT_INDEXES).execute(pool).await?;
    copy_votes(pool, dataset, &builds, votes).await?;
    done("votes");
    sqlx::raw_sql(WITH_INDEXES).execute(&mut *connection_without_timeout(pool).await?).await?;
    sqlx::raw_sql(
        "
        INSERT INTO shown (settings, prompt_id, model_key, times)
        SELECT settings, prompt_id, model_key, count(*)
        FROM matchups
        CROSS JOIN LATERAL (VALUES (model_a), (model_b)) AS side (model_key)
        GROUP BY settings, prompt_id, model_key
        ",
    )
    .execute(&mut *connection_without_timeout(pool).await?)
    .await?;
    sqlx::raw_sql("VACUUM ANALYZE").execute(&mut *connection_without_timeout(pool).await?).await?;
    done("indexes");
    let audit = replay::repair(pool, Admin::COMMAND_LINE).await?;
    anyhow::ensure!(audit.differing_votes == 0, "the votes do not match their replay");
    done("ratings and tallies");
    compute_stats(pool).await?;
    done("statistics");
    sqlx::raw_sql("VACUUM ANALYZE").execute(&mut *connection_without_timeout(pool).await?).await?;
    let size: i64 = sqlx::query_scalar("SELECT pg_database_size(current_database())").fetch_one(pool).await?;
    println!("  {votes} votes, {:.1} GB, in {:.0} s", size as f64 / 1e9, begun.elapsed().as_secs_f64());
    for table in ["votes", "matchups", "tallies"] {
        let (heap, all): (i64, i64) =
            sqlx::query_as("SELECT pg_relation_size($1::regclass), pg_total_relation_size($1::regclass)")
                .bind(table)
                .fetch_one(pool)
                .await?;
        let rows: i64 = sqlx::query_scalar("SELECT reltuples::bigint FROM pg_class WHERE oid = $1::regclass")
            .bind(table)
            .fetch_one(pool)
            .await?;
        let each = |bytes: i64| bytes / rows.max(1);
        println!("    {table}: {rows} rows of {} B, with indexes {} B", each(heap), each(all));
    }
    Ok(())
}

/// A connection without a timeout for statements.
async fn connection_without_timeout(pool: &PgPool) -> Result<sqlx::pool::PoolConnection<sqlx::Postgres>> {
    let mut connection = pool.acquire().await?;
    sqlx::raw_sql("SET statement_timeout = 0").execute(&mut *connection).await?;
    Ok(connection)
}

/// Creates models, prompts, and a build of every prompt by every model, which is a copy of an imported one.
async fn copy_builds(pool: &PgPool, dataset: &LoadDataset) -> Result<HashMap<(usize, usize), Uuid>> {
    sqlx::query(
        "
        INSERT INTO models (key, provider, model_id, display_name)
        SELECT 'model_' || m, 'load', m::text, 'Model ' || m FROM generate_series(0, $1 - 1) AS m
        ON CONFLICT DO NOTHING
        ",
    )
    .bind(dataset.models as i32)
    .execute(pool)
    .await?;
    sqlx::query(
        "
        INSERT INTO prompts (id, text, tags)
        SELECT 'prompt-' || p, 'prompt ' || p, ARRAY['tag-' || p % 10] FROM generate_series(0, $1 - 1) AS p
        ON CONFLICT (id) DO UPDATE SET tags = excluded.tags
        ",
    )
    .bind(dataset.prompts as i32)
    .execute(pool)
    .await?;
    let mut connection = connection_without_timeout(pool).await?;
    sqlx::query(
        "
        WITH imported AS (
            SELECT *, row_number() OVER (ORDER BY id) - 1 AS number, count(*) OVER () AS builds FROM builds
        )
        INSERT INTO builds
            (id, prompt_id, model_key, settings, digest, grid, grid_is_best, spec, warnings, block_count)
        SELECT
            gen_random_uuid(), 'prompt-' || p, 'model_' || m, settings, digest, grid, true, spec, warnings, block_count
        FROM generate_series(0, $1 - 1) AS m
        CROSS JOIN generate_series(0, $2 - 1) AS p
        JOIN imported ON number = (m * 7 + p) % builds
        ON CONFLICT DO NOTHING
        ",
    )
    .bind(dataset.models as i32)
    .bind(dataset.prompts as i32)
    .execute(&mut *connection)
    .await?;
    sqlx::raw_sql("UPDATE builds SET grid_is_best = true").execute(&mut *connection).await?;
    let rows: Vec<(Uuid, String, String)> =
        sqlx::query_as("SELECT id, model_key, prompt_id FROM builds").fetch_all(pool).await?;
    let number = |name: &str, prefix: &str| name.strip_prefix(prefix).and_then(|number| number.parse().ok());
    let builds = rows.into_iter().filter_map(|(id, model, prompt)| {
        Some(((number(&model, "model_")?, number(&prompt, "prompt-")?), id))
    });
    Ok(builds.collect())
}

/// Writes votes in the order of time, each with the ratings that follow from the votes before it.
async fn copy_votes(
    pool: &PgPool,
    dataset: &LoadDataset,
    builds: &HashMap<(usize, usize), Uuid>,
    votes: usize,
) -> Result<()> {
    let mut rng = StdRng::seed_from_u64(2);
    let mut standings = vec![Standing::NEW; dataset.models];
    let strengths: Vec<f64> = (0..dataset.models).map(|_| rng.random_range(-1.0..1.0)).collect();
    let models = named::<ModelKey>("model_", dataset.models)?;
    let prompts = named::<PromptId>("prompt-", dataset.prompts)?;
    let end = OffsetDateTime::now_utc();
    let apart = time::Duration::days(DAYS) / votes.max(1) as f64;
    let (mut matchup_rows, mut vote_rows) = (String::new(), String::new());
    for number in 0..votes {
        let at = end - apart * (votes - number) as f64;
        let (voter, turn) = (number % (votes / VOTES_EACH).max(1), number / (votes / VOTES_EACH).max(1));
        let prompt = (voter * 7 + turn * 13) % dataset.prompts;
        let a = rng.random_range(0..dataset.models);
        let b = (a + 1 + rng.random_range(0..dataset.models - 1)) % dataset.models;
        let chance = 1.0 / (1.0 + (strengths[b] - strengths[a]).exp());
        let choice = match rng.random::<f64>() {
            part if part < 0.1 => Choice::Tie,
            part if part < 0.18 => Choice::BothBad,
            _ if rng.random_bool(chance) => Choice::A,
            _ => Choice::B,
        };
        let before = (standings[a], standings[b]);
        let after = apply_vote(before.0, before.1, choice);
        (standings[a], standings[b]) = after;
        let milliseconds = (at.unix_timestamp_nanos() / 1_000_000).unsigned_abs();
        let matchup =
            uuid::Builder::from_unix_timestamp_millis(milliseconds as u64, &rng.random()).into_uuid();
        let voter = Uuid::from_u128(0x0b17_d0ff << 96 | voter as u128);
        let build = |model| builds.get(&(model, prompt)).context("a build is missing");
        let (model_a, model_b) = (&models[a], &models[b]);
        let slug = &prompts[prompt];
        writeln!(
            matchup_rows,
            "{matchup}\t{voter}\t{LADDER}\t{slug}\t{model_a}\t{model_b}\t{}\t{}\t0.5\t{}\t{at}",
            build(a)?,
            build(b)?,
            pair_code(LADDER, slug, model_a, model_b),
        )?;
        writeln!(
            vote_rows,
            "{}\t{matchup}\t{at}\t{choice}\t{:?}\t{:?}\t{:?}\t{:?}\t7000",
            number + 1,
            before.0.elo,
            after.0.elo,
            before.1.elo,
            after.1.elo,
        )?;
        if (number + 1) % BATCH == 0 || number + 1 == votes {
            let columns = "id, voter_id, settings, prompt_id, model_a, model_b, build_a, build_b, probability, pair, served_at";
            copy(pool, &format!("COPY matchups ({columns}) FROM STDIN"), &mut matchup_rows).await?;
            let columns =
                "id, matchup_id, at, choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after, dwell_ms";
            copy(pool, &format!("COPY votes ({columns}) FROM STDIN"), &mut vote_rows).await?;
        }
    }
    Ok(())
}

fn named<T: FromStr<Err = String>>(prefix: &str, count: usize) -> Result<Vec<T>> {
    (0..count).map(|number| format!("{prefix}{number}").parse().map_err(Error::msg)).collect()
}

async fn copy(pool: &PgPool, statement: &str, rows: &mut String) -> Result<()> {
    let mut connection = connection_without_timeout(pool).await?;
    let mut copy = connection.copy_in_raw(statement).await?;
    copy.send(std::mem::take(rows).into_bytes()).await?;
    copy.finish().await?;
    Ok(())
}

/// Computes statistics until they include every vote, as the background task of the server does.
async fn compute_stats(pool: &PgPool) -> Result<()> {
    let settings = Settings { grid: GridSize::G32, palette: Palette::Simple, mode: Mode::precise() };
    let arena = Arena::new(pool.clone(), settings, ReferencePolicy::Off, Duration::ZERO);
    while !arena.stats().await?.history.is_whole {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// Whether every acknowledged vote is stored, once, as it was cast.
pub async fn verify_votes(
    dir: &Path,
    earlier_votes: usize,
    acknowledged: &HashMap<String, &'static str>,
) -> Result<bool> {
    let source = DatabaseSource::Embedded { data_dir: Some(dir.to_owned()), pg_bin: None };
    let database = Database::open(&source).await?;
    let rows: Vec<(String, String)> =
        sqlx::query_as("SELECT matchup_id::text, choice FROM votes WHERE id > $1")
            .bind(earlier_votes as i64)
            .fetch_all(database.pool())
            .await?;
    database.close().await;
    let kept: HashMap<_, _> = rows.into_iter().collect();
    let lost = acknowledged.iter().filter(|(id, choice)| kept.get(*id).map(String::as_str) != Some(**choice));
    let lost = lost.count();
    println!("\n{} votes acknowledged, {} stored, {lost} missing or changed", acknowledged.len(), kept.len());
    Ok(lost == 0)
}
