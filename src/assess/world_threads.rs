//! The threads on which the worlds of runs are stepped and drawn.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use tokio::sync::oneshot;

/// How much voters come before worlds: the threads' nice value.
const NICENESS: i32 = 10;

type Piece = Box<dyn FnOnce() + Send>;

/// A few threads of low priority. Runs take turns step by step, so each goes on whatever the others do. Cheap to clone.
#[derive(Clone)]
pub struct WorldThreads {
    queue: mpsc::Sender<Piece>,
}

/// The piece of work panicked, which takes its world with it.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the world broke down")]
pub struct WorldPanicked;

impl WorldThreads {
    /// Half as many threads as there are cores, so that the rest is left to voters.
    pub fn new() -> std::io::Result<Self> {
        Self::with_threads((thread::available_parallelism().map_or(1, usize::from) / 2).max(1))
    }

    fn with_threads(count: usize) -> std::io::Result<Self> {
        let (queue, pieces) = mpsc::channel::<Piece>();
        let pieces = Arc::new(Mutex::new(pieces));
        for number in 0..count {
            let pieces = Arc::clone(&pieces);
            thread::Builder::new().name(format!("world-{number}")).spawn(move || {
                // On Linux, a nice value is a thread's own. Elsewhere, or if it is refused, the thread works as it is.
                let _ = rustix::process::setpriority_process(None, NICENESS);
                loop {
                    let next = pieces.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(piece) = next else { return };
                    piece();
                }
            })?;
        }
        Ok(Self { queue })
    }

    /// Runs a piece of work. A caller that is dropped does not stop it.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorldPanicked> {
        let (sender, result) = oneshot::channel();
        let piece = Box::new(move || {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            if let Ok(outcome) = outcome {
                // Whoever waited may have left.
                let _ = sender.send(outcome);
            }
        });
        self.queue.send(piece).map_err(|_| WorldPanicked)?;
        result.await.map_err(|_| WorldPanicked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_piece_that_panics_takes_nothing_else_with_it() {
        let threads = WorldThreads::with_threads(1).unwrap();
        let panicked = threads.run(|| panic!("a broken world")).await;
        assert!(panicked.is_err());
        assert_eq!(threads.run(|| 7).await.unwrap(), 7);
    }
}
