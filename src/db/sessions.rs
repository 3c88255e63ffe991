//! Sessions in Postgres, under a digest of their ids, so that reading the table is not enough to take one over.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use moka::future::Cache;
use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use sqlx::types::Json;
use time::OffsetDateTime;
use tower_sessions::SessionStore;
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store::{Error, Result};

type Data = HashMap<String, Value>;

/// How late a change that another server made to a session is noticed.
const CACHE_TTL: Duration = Duration::from_secs(10);
/// After this, every server knows that a session was renewed.
const RENEWAL_TTL: Duration = Duration::from_secs(60);
const MAX_CACHED: u64 = 20_000;

#[derive(Clone, Debug)]
pub struct Sessions {
    pool: PgPool,
    /// Every vote takes a voter several requests.
    recent: Cache<Id, Record>,
    /// Sessions that are being renewed or were just renewed.
    renewing: Cache<Id, ()>,
}

impl Sessions {
    pub fn new(pool: PgPool) -> Self {
        Self {
            pool,
            recent: Cache::builder().max_capacity(MAX_CACHED).time_to_live(CACHE_TTL).build(),
            renewing: Cache::builder().max_capacity(MAX_CACHED).time_to_live(RENEWAL_TTL).build(),
        }
    }

    /// Whether the caller should renew a session that was just read: it lasts for less than this, and no other request
    /// was told so in the last minute. So of several requests at the same time, one renews it.
    pub async fn is_due_for_renewal(&self, id: &Id, left: time::Duration) -> bool {
        let Some(record) = self.recent.get(id).await else { return false };
        record.expiry_date - OffsetDateTime::now_utc() < left
            && self.renewing.entry(*id).or_insert(()).await.is_fresh()
    }

    /// Deletes expired sessions.
    pub async fn purge(&self) -> sqlx::Result<u64> {
        let purged =
            sqlx::query!("DELETE FROM sessions WHERE expires_at <= now()").execute(&self.pool).await?;
        Ok(purged.rows_affected())
    }
}

#[async_trait]
impl SessionStore for Sessions {
    /// An id has 128 random bits, so one that exists already means a broken generator and is an error.
    async fn create(&self, record: &mut Record) -> Result<()> {
        sqlx::query!(
            "INSERT INTO sessions (id, data, expires_at) VALUES ($1, $2, $3)",
            hashed_id(&record.id),
            Json(&record.data) as _,
            record.expiry_date,
        )
        .execute(&self.pool)
        .await
        .map_err(backend)?;
        self.recent.insert(record.id, record.clone()).await;
        Ok(())
    }

    /// A session that was deleted meanwhile stays deleted.
    async fn save(&self, record: &Record) -> Result<()> {
        sqlx::query!(
            "UPDATE sessions SET data = $2, expires_at = $3 WHERE id = $1",
            hashed_id(&record.id),
            Json(&record.data) as _,
            record.expiry_date,
        )
        .execute(&self.pool)
        .await
        .map_err(backend)?;
        self.recent.invalidate(&record.id).await;
        Ok(())
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        if let Some(record) = self.recent.get(id).await {
            return Ok((record.expiry_date > OffsetDateTime::now_utc()).then_some(record));
        }
        let row = sqlx::query!(
            r#"
            SELECT data AS "data: Json<Data>", expires_at
            FROM sessions
            WHERE id = $1 AND expires_at > now()
            "#,
            hashed_id(id),
        )
        .fetch_optional(&self.pool)
        .await
        .map_err(backend)?;
        let Some(row) = row else { return Ok(None) };
        let record = Record { id: *id, data: row.data.0, expiry_date: row.expires_at };
        self.recent.insert(*id, record.clone()).await;
        Ok(Some(record))
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        sqlx::query!("DELETE FROM sessions WHERE id = $1", hashed_id(id))
            .execute(&self.pool)
            .await
            .map_err(backend)?;
        self.recent.invalidate(id).await;
        Ok(())
    }
}

fn hashed_id(id: &Id) -> Vec<u8> {
    Sha256::digest(id.0.to_be_bytes()).to_vec()
}

tokio::task_local! {
    /// The last error of the store in a task. The trait of the store passes on only its text.
    static SESSION_ERROR: RefCell<Option<sqlx::Error>>;
}

/// Does some work, and returns with its result the last error that its sessions met.
pub async fn with_session_error<T>(work: impl Future<Output = T>) -> (T, Option<sqlx::Error>) {
    let work = async {
        let result = work.await;
        (result, SESSION_ERROR.with(RefCell::take))
    };
    SESSION_ERROR.scope(RefCell::default(), work).await
}

fn backend(error: sqlx::Error) -> Error {
    let text = error.to_string();
    // Outside of a request, nobody asks for it.
    let _ = SESSION_ERROR.try_with(|last| last.replace(Some(error)));
    Error::Backend(text)
}
