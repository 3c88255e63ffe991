//! The A2A tasks of this installation's own agent, in the database: any server answers for all of them, also after a
//! restart.

use std::sync::Arc;
use std::time::Duration;

use a2a::wire::{read_task, write_message, write_task};
use a2a::{
    A2aTask, A2aTaskState, ListTasksQuery, Message, MessageRole, Part, PartContent, ProtocolVersion,
    StoredTask, TaskChange, TaskPage, TaskStore, TaskStoreError,
};
use async_trait::async_trait;
use moka::sync::Cache;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tokio::sync::Notify;
use tokio::time::timeout;
use uuid::Uuid;

/// How long an anonymous task is kept, and how long an admin's.
const ANONYMOUS_LIFETIME: time::Duration = time::Duration::HOUR;
const OWNED_LIFETIME: time::Duration = time::Duration::days(30);

/// Work that has not been heard of for so long is lost with its server.
const WORK_LEASE: time::Duration = time::Duration::minutes(5);

/// Larger parts of anonymous tasks are not kept, and no history that is larger as a whole.
pub const MAX_ANONYMOUS_PART: usize = 64 << 10;

/// How often a task is looked at that another server works on.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Whom an A2A task belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskOwner {
    /// May see all tasks.
    Admin,
    /// Whoever has this token of an agent. May see its own, and what nobody owns by ids and contexts.
    Token(Uuid),
    /// May see the tasks of nobody, by their ids and contexts.
    Nobody,
}

impl TaskOwner {
    /// As it is stored.
    fn name(self) -> Option<String> {
        match self {
            Self::Admin => Some("admin".to_owned()),
            Self::Token(token) => Some(token.to_string()),
            Self::Nobody => None,
        }
    }
}

/// Cheap to clone.
#[derive(Clone)]
pub struct PgTaskStore {
    pool: PgPool,
    /// The last changes that were made here, so that those who wait here need not ask the database.
    changed_here: Cache<Uuid, i64>,
    changed: Arc<Notify>,
}

struct A2aTaskRow {
    task: String,
    revision: i64,
    is_lost: bool,
}

impl PgTaskStore {
    pub fn new(pool: PgPool) -> Self {
        let changed_here =
            Cache::builder().max_capacity(10_000).time_to_live(Duration::from_secs(600)).build();
        Self { pool, changed_here, changed: Arc::default() }
    }

    async fn find(&self, id: Uuid, owner: TaskOwner) -> Result<Option<A2aTaskRow>, sqlx::Error> {
        sqlx::query_as!(
            A2aTaskRow,
            r#"
            SELECT
                task, revision,
                worked_until < now() AND state IN ('submitted', 'working') AND NOT EXISTS (
                    SELECT FROM assessments
                    WHERE a2a_task = a2a_tasks.id AND assessments.state IN ('queued', 'running')
                ) AS "is_lost!"
            FROM a2a_tasks
            WHERE id = $1 AND (owner IS NULL OR owner = $3 OR $2) AND (
                expires_at > now() OR EXISTS (
                    SELECT FROM assessments
                    WHERE a2a_task = a2a_tasks.id AND assessments.state IN ('queued', 'running')
                )
            )
            "#,
            id,
            owner == TaskOwner::Admin,
            owner.name(),
        )
        .fetch_optional(&self.pool)
        .await
    }

    /// In a task of its own, because the client who cancels a task may leave in the middle.
    async fn change_row(&self, id: Uuid, change: TaskChange) -> Result<Option<StoredTask>, TaskStoreError> {
        let (pool, changed_here, changed) =
            (self.pool.clone(), self.changed_here.clone(), Arc::clone(&self.changed));
        let work = tokio::spawn(async move {
            let stored = apply(&pool, id, change).await?;
            if let Some(stored) = &stored {
                changed_here.insert(id, stored.revision);
            }
            changed.notify_waiters();
            Ok(stored)
        });
        work.await.map_err(failed)?
    }
}

#[async_trait]
impl TaskStore for PgTaskStore {
    type Owner = TaskOwner;

    async fn create(&self, task: &A2aTask, owner: &TaskOwner) -> Result<StoredTask, TaskStoreError> {
        let id = Uuid::parse_str(&task.id).map_err(failed)?;
        let is_owned = *owner != TaskOwner::Nobody;
        let kept = kept(task.clone(), is_owned);
        let now = OffsetDateTime::now_utc();
        sqlx::query!(
            "
            INSERT INTO a2a_tasks (id, context_id, owner, state, task, worked_until, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ",
            id,
            kept.context_id,
            owner.name(),
            kept.status.state.name(ProtocolVersion::V0_3),
            written(&kept),
            now + WORK_LEASE,
            now + lifetime(is_owned),
        )
        .execute(&self.pool)
        .await
        .map_err(failed)?;
        Ok(StoredTask { task: kept, revision: 0 })
    }

    async fn load(&self, id: &str, owner: &TaskOwner) -> Result<Option<StoredTask>, TaskStoreError> {
        let Ok(id) = Uuid::parse_str(id) else { return Ok(None) };
        let Some(row) = self.find(id, *owner).await.map_err(failed)? else { return Ok(None) };
        if row.is_lost {
            let words = "The server that worked on this was stopped. Send the message again.";
            let message = Message::new(MessageRole::Agent, vec![Part::text(words)]);
            let change = TaskChange::Status { state: A2aTaskState::Failed, message: Some(message) };
            if let Some(failed) = self.change_row(id, change).await? {
                return Ok(Some(failed));
            }
        }
        Ok(Some(StoredTask { task: read_task(&row.task).map_err(failed)?, revision: row.revision }))
    }

    async fn change(&self, id: &str, change: TaskChange) -> Result<Option<StoredTask>, TaskStoreError> {
        match Uuid::parse_str(id) {
            Ok(id) => self.change_row(id, change).await,
            Err(_) => Ok(None),
        }
    }

    async fn list(&self, query: &ListTasksQuery, owner: &TaskOwner) -> Result<TaskPage, TaskStoreError> {
        // A context's id is the only thing that ties anonymous tasks together.
        if *owner == TaskOwner::Nobody && query.context_id.is_none() {
            return Ok(TaskPage::default());
        }
        let before = match &query.page_token {
            None => None,
            Some(token) => match Uuid::parse_str(token) {
                Ok(id) => Some(id),
                Err(_) => return Ok(TaskPage::default()),
            },
        };
        let mut connection = self.pool.acquire().await.map_err(failed)?;
        let total = count(&mut connection, query, *owner).await.map_err(failed)?;
        let rows = page(&mut connection, query, *owner, before).await.map_err(failed)?;
        let mut tasks = Vec::new();
        for row in rows {
            tasks.push(read_task(&row).map_err(failed)?);
        }
        let has_more = tasks.len() > query.page_size;
        tasks.truncate(query.page_size);
        let next_token = tasks.last().filter(|_| has_more).map(|task| task.id.clone());
        Ok(TaskPage { tasks, next_token, total: usize::try_from(total).unwrap_or_default() })
    }

    async fn wait_for_change(&self, id: &str, revision: i64) {
        let changed = self.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        let known = Uuid::parse_str(id).ok().and_then(|id| self.changed_here.get(&id));
        if known.is_none_or(|known| known <= revision) {
            let _ = timeout(POLL_INTERVAL, changed).await;
        }
    }
}

async fn apply(pool: &PgPool, id: Uuid, made: TaskChange) -> Result<Option<StoredTask>, TaskStoreError> {
    let mut transaction = pool.begin().await.map_err(failed)?;
    let stored = change(&mut transaction, id, made).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(stored)
}

/// Changes a task, and returns it. None if it is gone or had ended before.
pub(in crate::arena) async fn change(
    connection: &mut PgConnection,
    id: Uuid,
    change: TaskChange,
) -> sqlx::Result<Option<StoredTask>> {
    let row = sqlx::query!(
        r#"SELECT task, revision, owner IS NOT NULL AS "is_owned!" FROM a2a_tasks WHERE id = $1 FOR UPDATE"#,
        id
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let mut task = read_task(&row.task).map_err(|error| sqlx::Error::Decode(error.into()))?;
    let now = OffsetDateTime::now_utc();
    if !task.apply(change, now) {
        return Ok(None);
    }
    let task = kept(task, row.is_owned);
    let revision = row.revision + 1;
    sqlx::query!(
        "
        UPDATE a2a_tasks
        SET task = $2, state = $3, revision = $4, worked_until = $5, changed_at = $6,
            expires_at = greatest(expires_at, $7)
        WHERE id = $1
        ",
        id,
        written(&task),
        task.status.state.name(ProtocolVersion::V0_3),
        revision,
        now + WORK_LEASE,
        now,
        now + lifetime(row.is_owned),
    )
    .execute(&mut *connection)
    .await?;
    Ok(Some(StoredTask { task, revision }))
}

async fn count(connection: &mut PgConnection, query: &ListTasksQuery, owner: TaskOwner) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"
        SELECT count(*) AS "count!"
        FROM a2a_tasks
        WHERE expires_at > now()
          AND ($1::text IS NULL OR context_id = $1)
          AND (CASE WHEN $2 THEN owner IS NOT NULL OR $1 IS NOT NULL
               ELSE owner IS NOT DISTINCT FROM $5 OR (owner IS NULL AND $1 IS NOT NULL) END)
          AND ($3::text IS NULL OR state = $3)
          AND ($4::timestamptz IS NULL OR changed_at > $4)
        "#,
        query.context_id,
        owner == TaskOwner::Admin,
        query.state.map(|state| state.name(ProtocolVersion::V0_3)),
        query.updated_after,
        owner.name(),
    )
    .fetch_one(connection)
    .await
}

/// One more than fits on the page, which shows whether there is another.
async fn page(
    connection: &mut PgConnection,
    query: &ListTasksQuery,
    owner: TaskOwner,
    before: Option<Uuid>,
) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar!(
        "
        SELECT task
        FROM a2a_tasks
        WHERE expires_at > now()
          AND ($1::text IS NULL OR context_id = $1)
          AND (CASE WHEN $2 THEN owner IS NOT NULL OR $1 IS NOT NULL
               ELSE owner IS NOT DISTINCT FROM $7 OR (owner IS NULL AND $1 IS NOT NULL) END)
          AND ($3::text IS NULL OR state = $3)
          AND ($4::timestamptz IS NULL OR changed_at > $4)
          AND ($5::uuid IS NULL OR id < $5)
        ORDER BY id DESC
        LIMIT $6
        ",
        query.context_id,
        owner == TaskOwner::Admin,
        query.state.map(|state| state.name(ProtocolVersion::V0_3)),
        query.updated_after,
        before,
        query.page_size as i64 + 1,
        owner.name(),
    )
    .fetch_all(connection)
    .await
}

/// Deletes tasks whose time is over.
pub async fn purge(pool: &PgPool) -> sqlx::Result<()> {
    sqlx::query!(
        "
        DELETE FROM a2a_tasks
        WHERE expires_at < now() AND NOT EXISTS (
            SELECT FROM assessments WHERE a2a_task = a2a_tasks.id AND assessments.state IN ('queued', 'running')
        )
        "
    )
    .execute(pool)
    .await?;
    Ok(())
}

fn lifetime(is_owned: bool) -> time::Duration {
    if is_owned { OWNED_LIFETIME } else { ANONYMOUS_LIFETIME }
}

fn written(task: &A2aTask) -> String {
    write_task(task, ProtocolVersion::V1_0).get().to_owned()
}

/// As much of a task as is kept: what is large in anonymous ones is left out.
fn kept(mut task: A2aTask, is_owned: bool) -> A2aTask {
    if !is_owned {
        let in_history = task.history.iter_mut().map(|message| &mut message.parts);
        let in_artifacts = task.artifacts.iter_mut().map(|artifact| &mut artifact.parts);
        for part in in_history.chain(in_artifacts).flatten() {
            let bytes = match &part.content {
                PartContent::Text(text) | PartContent::Url(text) => text.len(),
                PartContent::Data(data) => data.get().len(),
                PartContent::Raw(bytes) => bytes.len(),
            };
            if bytes > MAX_ANONYMOUS_PART {
                *part = Part::text(format!("[{bytes} bytes that are not kept]"));
            }
        }
        let history = task.history.iter().map(|message| write_message(message, ProtocolVersion::V1_0));
        if history.map(|message| message.get().len()).sum::<usize>() > MAX_ANONYMOUS_PART {
            task.history.clear();
        }
    }
    task
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> TaskStoreError {
    tracing::error!(%error, "an A2A task could not be read or stored");
    TaskStoreError(Box::new(error))
}
