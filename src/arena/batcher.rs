//! Batching: requests of one kind that arrive while the database works on others like them run together.
//!
//! A single request runs at once, so batching adds no delay. Under load, a few statements serve many requests, and
//! votes on the same models do not wait for each other's commit. A batch runs in a task of its own, so it goes on when
//! the visitors who asked have left. Batches that follow one another closely share a connection, since taking one from
//! the pool and returning it costs as much as a small statement.
//!
//! Two patterns keep the plans of such statements stable. `(SELECT $1)` hides the length of an array from the planner,
//! which would otherwise make a plan for every length. `LATERAL (… OFFSET 0)` looks rows up by index, request by
//! request; a join would be planned as a scan while the tables are small, and that plan would be kept while they grow.

use std::future::Future;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::error::DatabaseError;
use sqlx::pool::PoolConnection;
use sqlx::{Error, PgConnection, PgPool, Postgres};
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use crate::db::{duplicate_error, has_sqlstate};

/// The largest batch. A batch of votes takes its ids from a block of this size, see `vote_ids` in the migrations.
pub(super) const MAX_BATCH: usize = 64;

/// How often a request is tried when other transactions get in its way.
const MAX_TRIES: usize = 5;

/// A request that has waited longer fails as if no connection were free.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// How long a connection is kept for the next batch. Within this time, the pool would not test it either.
const LINGER: Duration = Duration::from_millis(50);

pub(super) trait BatchJob: Send + Sync + 'static {
    type Request: Send + Sync;
    type Answer: Send;

    /// A batch that takes longer has lost its connection, or waits for a lock that will not be released.
    const TIMEOUT: Duration = Duration::from_secs(3);

    /// Returns an answer for each request, in order. After an error, no request has changed anything, unless the
    /// connection was lost during the commit.
    fn run(
        &self,
        connection: &mut BatchConnection,
        requests: &[Self::Request],
    ) -> impl Future<Output = sqlx::Result<Vec<Self::Answer>>> + Send;

    /// Whether a single request may have caused the error, so that the others should be tried without it.
    fn may_be_one_request(error: &Error) -> bool {
        is_one_requests_fault(error)
    }
}

/// The connection of a runner, taken from the pool when it is first needed.
pub(super) struct BatchConnection {
    pool: PgPool,
    connection: Option<PoolConnection<Postgres>>,
}

impl BatchConnection {
    pub async fn get(&mut self) -> sqlx::Result<&mut PgConnection> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.pool.acquire().await?,
        };
        Ok(self.connection.insert(connection))
    }

    /// Returns the connection to the pool, which resets it.
    fn release(&mut self) {
        self.connection = None;
    }
}

/// Cheap to clone.
pub(super) struct Batcher<J: BatchJob> {
    shared: Arc<BatcherShared<J>>,
}

struct BatcherShared<J: BatchJob> {
    job: J,
    pool: PgPool,
    max_runners: usize,
    queue: Mutex<BatchQueue<J>>,
    added: Notify,
}

struct BatchQueue<J: BatchJob> {
    waiting: Vec<PendingRequest<J>>,
    runners: usize,
    /// The runners that wait for requests.
    idle: usize,
}

struct PendingRequest<J: BatchJob> {
    request: J::Request,
    since: Instant,
    reply: ReplySender<J>,
}

type ReplySender<J> = oneshot::Sender<sqlx::Result<<J as BatchJob>::Answer>>;

impl<J: BatchJob> Batcher<J> {
    /// At most `max_runners` batches run at the same time.
    pub fn new(pool: PgPool, job: J, max_runners: usize) -> Self {
        let queue = Mutex::new(BatchQueue { waiting: Vec::new(), runners: 0, idle: 0 });
        Self { shared: Arc::new(BatcherShared { job, pool, max_runners, queue, added: Notify::new() }) }
    }

    pub async fn submit(&self, request: J::Request) -> sqlx::Result<J::Answer> {
        let (reply, answer) = oneshot::channel();
        if self.shared.enqueue(PendingRequest { request, since: Instant::now(), reply }) {
            let runner = BatchRunner { shared: Arc::clone(&self.shared), finished: false };
            tokio::spawn(runner.run());
        }
        answer.await.unwrap_or(Err(Error::WorkerCrashed))
    }
}

impl<J: BatchJob> Clone for Batcher<J> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<J: BatchJob> BatchQueue<J> {
    fn take_batch(&mut self) -> Option<Vec<PendingRequest<J>>> {
        if self.waiting.is_empty() {
            return None;
        }
        let rest = self.waiting.split_off(self.waiting.len().min(MAX_BATCH));
        Some(mem::replace(&mut self.waiting, rest))
    }
}

impl<J: BatchJob> BatcherShared<J> {
    /// Whether the caller has to start a runner.
    fn enqueue(&self, request: PendingRequest<J>) -> bool {
        let mut queue = self.queue();
        queue.waiting.push(request);
        if queue.idle > 0 {
            self.added.notify_one();
            return false;
        }
        let starts = queue.runners < self.max_runners;
        queue.runners += usize::from(starts);
        starts
    }

    /// None after no request has come for a while. The runner then counts as finished from this moment on, since the
    /// queue is locked: a request that is added later starts another runner.
    async fn next_batch(&self) -> Option<Vec<PendingRequest<J>>> {
        let mut is_late = false;
        loop {
            {
                let mut queue = self.queue();
                if let Some(batch) = queue.take_batch() {
                    return Some(batch);
                }
                if is_late {
                    queue.runners -= 1;
                    return None;
                }
                queue.idle += 1;
            }
            is_late = timeout(LINGER, self.added.notified()).await.is_err();
            self.queue().idle -= 1;
        }
    }

    fn queue(&self) -> MutexGuard<'_, BatchQueue<J>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run_batch(&self, connection: &mut BatchConnection, batch: Vec<PendingRequest<J>>) {
        // Sending a reply fails where the visitor has left, which is fine.
        let (batch, late): (Vec<_>, Vec<_>) =
            batch.into_iter().partition(|one| one.since.elapsed() < MAX_WAIT);
        for one in late {
            let _ = one.reply.send(Err(Error::PoolTimedOut));
        }
        let (requests, replies): (Vec<_>, Vec<_>) =
            batch.into_iter().map(|one| (one.request, one.reply)).unzip();
        for (reply, answer) in replies.into_iter().zip(self.answers(connection, &requests).await) {
            let _ = reply.send(answer);
        }
    }

    /// After an error that a single request may have caused, the halves of the batch are tried separately.
    async fn answers(
        &self,
        connection: &mut BatchConnection,
        requests: &[J::Request],
    ) -> Vec<sqlx::Result<J::Answer>> {
        let mut answers = Vec::with_capacity(requests.len());
        let mut parts = vec![requests];
        let mut tries = 0;
        while let Some(part) = parts.pop().filter(|part| !part.is_empty()) {
            let outcome = timeout(J::TIMEOUT, self.job.run(connection, part)).await;
            let outcome = outcome.unwrap_or(Err(Error::PoolTimedOut));
            if outcome.is_err() {
                connection.release();
            }
            match outcome {
                Ok(done) => {
                    answers.extend(done.into_iter().map(Ok));
                    tries = 0;
                }
                Err(error) if part.len() > 1 && J::may_be_one_request(&error) => {
                    let (first, rest) = part.split_at(part.len() / 2);
                    parts.extend([rest, first]);
                }
                Err(error) if is_transient(&error) && tries < MAX_TRIES => {
                    tries += 1;
                    parts.push(part);
                }
                Err(error) if part.len() == 1 => {
                    answers.push(Err(error));
                    tries = 0;
                }
                Err(error) => answers.extend(part.iter().map(|_| Err(duplicate_error(&error)))),
            }
        }
        answers
    }
}

/// Runs batches until no more requests come.
struct BatchRunner<J: BatchJob> {
    shared: Arc<BatcherShared<J>>,
    finished: bool,
}

impl<J: BatchJob> BatchRunner<J> {
    async fn run(mut self) {
        let mut connection = BatchConnection { pool: self.shared.pool.clone(), connection: None };
        while let Some(batch) = self.shared.next_batch().await {
            self.shared.run_batch(&mut connection, batch).await;
        }
        self.finished = true;
    }
}

/// After a panic of the last runner, the waiting requests are dropped, so that they fail instead of waiting for ever.
impl<J: BatchJob> Drop for BatchRunner<J> {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        let mut queue = self.shared.queue();
        queue.runners -= 1;
        if queue.runners == 0 {
            queue.waiting.clear();
        }
    }
}

/// Whether a single request may have caused an error: it conflicted with another transaction, violated a constraint, or
/// what was read for it could not be decoded.
pub(super) fn is_one_requests_fault(error: &Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    matches!(error, Error::Decode(_) | Error::ColumnDecode { .. })
        || is_transient(error)
        || code.is_some_and(|code| code.starts_with("22") || code.starts_with("23"))
}

/// Serialization failures and deadlocks, after which another try may succeed.
pub(super) fn is_transient(error: &Error) -> bool {
    has_sqlstate(error, &["40001", "40P01"])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::future::join_all;
    use sqlx::postgres::PgConnectOptions;
    use tokio::sync::Semaphore;

    use super::*;

    /// Doubles numbers once it has a permit; panics at 1313, and cannot store 666.
    struct FakeDoublingJob {
        may_run: Arc<Semaphore>,
        sizes: Arc<Mutex<Vec<usize>>>,
    }

    impl BatchJob for FakeDoublingJob {
        type Request = u32;
        type Answer = u32;

        async fn run(&self, _: &mut BatchConnection, numbers: &[u32]) -> sqlx::Result<Vec<u32>> {
            self.sizes.lock().unwrap().push(numbers.len());
            self.may_run.acquire().await.unwrap().forget();
            assert!(!numbers.contains(&1313), "a bug");
            match numbers.contains(&666) {
                true => Err(Error::Database(Box::new(Unstorable))),
                false => Ok(numbers.iter().map(|number| number * 2).collect()),
            }
        }
    }

    #[derive(Debug, thiserror::Error)]
    #[error("value out of range")]
    struct Unstorable;

    impl DatabaseError for Unstorable {
        fn message(&self) -> &str {
            "value out of range"
        }

        fn code(&self) -> Option<std::borrow::Cow<'_, str>> {
            Some("22003".into())
        }

        fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
            self
        }

        fn kind(&self) -> sqlx::error::ErrorKind {
            sqlx::error::ErrorKind::Other
        }
    }

    struct TestBatcher {
        batcher: Batcher<FakeDoublingJob>,
        may_run: Arc<Semaphore>,
        sizes: Arc<Mutex<Vec<usize>>>,
    }

    impl TestBatcher {
        fn new() -> Self {
            let (may_run, sizes) = (Arc::new(Semaphore::new(0)), Arc::default());
            let job = FakeDoublingJob { may_run: Arc::clone(&may_run), sizes: Arc::clone(&sizes) };
            let unused = PgPool::connect_lazy_with(PgConnectOptions::new());
            Self { batcher: Batcher::new(unused, job, 1), may_run, sizes }
        }

        fn submit(&self, numbers: &[u32]) -> Vec<tokio::task::JoinHandle<sqlx::Result<u32>>> {
            let submit = |&number: &u32| {
                let batcher = self.batcher.clone();
                tokio::spawn(async move { batcher.submit(number).await })
            };
            numbers.iter().map(submit).collect()
        }

        async fn until_under_way(&self) {
            while self.sizes.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
        }

        async fn until_waiting(&self, count: usize) {
            while self.batcher.shared.queue().waiting.len() < count {
                tokio::task::yield_now().await;
            }
        }

        fn sizes(&self) -> Vec<usize> {
            self.sizes.lock().unwrap().clone()
        }
    }

    #[tokio::test]
    async fn whoever_comes_while_a_batch_is_under_way_is_in_the_next_one_with_all_others() {
        let setup = TestBatcher::new();
        let mut answers = setup.submit(&[1]);
        setup.until_under_way().await;
        answers.extend(setup.submit(&(2..=100).collect::<Vec<_>>()));
        setup.until_waiting(99).await;
        setup.may_run.add_permits(100);
        let answers: Vec<_> =
            join_all(answers).await.into_iter().map(|answer| answer.unwrap().unwrap()).collect();
        assert_eq!(answers, (1..=100).map(|number| number * 2).collect::<Vec<_>>());
        assert_eq!(setup.sizes(), [1, MAX_BATCH, 35]);
    }

    #[tokio::test]
    async fn a_request_that_cannot_be_carried_out_does_not_keep_the_others_of_its_batch() {
        let setup = TestBatcher::new();
        let first = setup.submit(&[1]);
        setup.until_under_way().await;
        let rest = setup.submit(&[2, 666, 3]);
        setup.until_waiting(3).await;
        setup.may_run.add_permits(100);
        assert_eq!(join_all(first).await.remove(0).unwrap().unwrap(), 2);
        let answers: Vec<_> = join_all(rest).await.into_iter().map(|answer| answer.unwrap().ok()).collect();
        assert_eq!(answers, [Some(4), None, Some(6)]);
        assert_eq!(setup.sizes(), [1, 3, 1, 2, 1, 1]);
    }

    #[tokio::test]
    async fn a_request_is_carried_out_although_whoever_asked_has_left() {
        let setup = TestBatcher::new();
        let first = setup.submit(&[1]).remove(0);
        setup.until_under_way().await;
        let second = setup.submit(&[2]).remove(0);
        setup.until_waiting(1).await;
        first.abort();
        second.abort();
        setup.may_run.add_permits(100);
        assert_eq!(setup.batcher.submit(3).await.unwrap(), 6);
        assert_eq!(setup.sizes().iter().sum::<usize>(), 3);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_for_those_who_waited_and_nobody_after() {
        let setup = TestBatcher::new();
        let first = setup.submit(&[1313]).remove(0);
        setup.until_under_way().await;
        let second = setup.submit(&[2]).remove(0);
        setup.until_waiting(1).await;
        setup.may_run.add_permits(100);
        let soon = |answer| timeout(Duration::from_secs(10), answer);
        assert!(soon(first).await.unwrap().unwrap().is_err());
        assert!(soon(second).await.unwrap().unwrap().is_err());
        assert_eq!(setup.batcher.submit(4).await.unwrap(), 8);
    }
}
