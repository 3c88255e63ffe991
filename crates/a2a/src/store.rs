//! Where A2A tasks are kept.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use time::OffsetDateTime;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::changes::TaskChange;
use crate::rpc::ListTasksQuery;
use crate::types::A2aTask;

/// A store that cannot be used. The cause is for logs; clients learn only that something went wrong.
#[derive(Debug, thiserror::Error)]
#[error("the store of A2A tasks failed: {0}")]
pub struct TaskStoreError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// An A2A task as it is now.
#[derive(Clone, Debug)]
pub struct StoredTask {
    pub task: A2aTask,
    /// Grows with each change.
    pub revision: i64,
}

/// A page of a list of A2A tasks, newest first.
#[derive(Debug, Default)]
pub struct TaskPage {
    pub tasks: Vec<A2aTask>,
    /// Where the next page begins.
    pub next_token: Option<String>,
    /// How many there are on all pages.
    pub total: usize,
}

/// Keeps A2A tasks, each for its owner.
///
/// Several servers may share what a store keeps; each of them then answers for all tasks. A task of another owner is
/// treated like one that does not exist.
#[async_trait]
pub trait TaskStore: Send + Sync + 'static {
    /// Whom a task belongs to.
    type Owner: Send + Sync + 'static;

    async fn create(&self, task: &A2aTask, owner: &Self::Owner) -> Result<StoredTask, TaskStoreError>;

    async fn load(&self, id: &str, owner: &Self::Owner) -> Result<Option<StoredTask>, TaskStoreError>;

    /// Changes a task, and returns it. None if it is gone or had ended before, so that whoever works on it can stop.
    async fn change(&self, id: &str, change: TaskChange) -> Result<Option<StoredTask>, TaskStoreError>;

    /// The tasks of an owner, or those in one of its contexts.
    async fn list(&self, query: &ListTasksQuery, owner: &Self::Owner) -> Result<TaskPage, TaskStoreError>;

    /// Returns when the task may have changed since the revision, or after a while.
    async fn wait_for_change(&self, id: &str, revision: i64);
}

/// A store in memory, for a single process. The oldest tasks make room for new ones.
pub struct MemoryTaskStore {
    tasks: Mutex<BTreeMap<String, StoredTask>>,
    capacity: usize,
    changed: Notify,
}

impl MemoryTaskStore {
    pub fn new(capacity: usize) -> Self {
        Self { tasks: Mutex::default(), capacity, changed: Notify::new() }
    }

    fn with<R>(&self, look: impl FnOnce(&mut BTreeMap<String, StoredTask>) -> R) -> R {
        look(&mut self.tasks.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl TaskStore for MemoryTaskStore {
    type Owner = ();

    async fn create(&self, task: &A2aTask, (): &()) -> Result<StoredTask, TaskStoreError> {
        let stored = StoredTask { task: task.clone(), revision: 0 };
        self.with(|tasks| {
            // Ids begin with the time, so the first is the oldest.
            while tasks.len() >= self.capacity.max(1) && tasks.pop_first().is_some() {}
            tasks.insert(task.id.clone(), stored.clone());
        });
        Ok(stored)
    }

    async fn load(&self, id: &str, (): &()) -> Result<Option<StoredTask>, TaskStoreError> {
        Ok(self.with(|tasks| tasks.get(id).cloned()))
    }

    async fn change(&self, id: &str, change: TaskChange) -> Result<Option<StoredTask>, TaskStoreError> {
        let changed = self.with(|tasks| {
            let stored = tasks.get_mut(id)?;
            stored.task.apply(change, OffsetDateTime::now_utc()).then(|| {
                stored.revision += 1;
                stored.clone()
            })
        });
        self.changed.notify_waiters();
        Ok(changed)
    }

    async fn list(&self, query: &ListTasksQuery, (): &()) -> Result<TaskPage, TaskStoreError> {
        let matches = |task: &A2aTask| {
            query.context_id.as_ref().is_none_or(|context| task.context_id == *context)
                && query.state.is_none_or(|state| task.status.state == state)
                && query.updated_after.is_none_or(|after| task.status.timestamp > Some(after))
        };
        let found: Vec<A2aTask> = self.with(|tasks| {
            tasks.values().rev().map(|stored| &stored.task).filter(|task| matches(task)).cloned().collect()
        });
        let total = found.len();
        let is_on_page = |task: &A2aTask| query.page_token.as_ref().is_none_or(|token| task.id < *token);
        let mut page: Vec<A2aTask> = found.into_iter().filter(is_on_page).take(query.page_size + 1).collect();
        let has_more = page.len() > query.page_size;
        page.truncate(query.page_size);
        let next_token = page.last().filter(|_| has_more).map(|task| task.id.clone());
        Ok(TaskPage { tasks: page, next_token, total })
    }

    async fn wait_for_change(&self, id: &str, revision: i64) {
        let changed = self.changed.notified();
        tokio::pin!(changed);
        // Whoever changes the task after this is noticed, whoever did before is seen.
        changed.as_mut().enable();
        if self.with(|tasks| tasks.get(id).is_none_or(|stored| stored.revision > revision)) {
            return;
        }
        let _ = timeout(Duration::from_secs(10), changed).await;
    }
}
