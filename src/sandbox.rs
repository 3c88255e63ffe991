//! The sandbox: two models side by side on any prompt, told as it happens, without a trace in the arena.
//!
//! A run is at most two questions at once. It lives exactly as long as whoever watches it: dropping the
//! [`SandboxRun`] ends the requests at the providers. How many run at a time is bounded, for one address and for
//! all; who comes later waits in line and is told the place.

pub mod outbound;
pub mod queue;
mod side;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use self::queue::{QueueFull, SandboxQueue, Ticket};
pub use self::side::RunEvent;
use crate::arena::Settings;
use crate::arena::catalog::ModelOptions;
use crate::generate::ModelProvider;
use crate::work::{WorkClient, WorkPool};
use sqlx::PgPool;

/// Whoever takes nothing for so long has gone.
pub const READER_TIMEOUT: Duration = Duration::from_secs(60);

/// No side takes longer.
const SIDE_TIMEOUT: Duration = Duration::from_secs(20 * 60);

/// Events that wait for a slow reader; what streams in meanwhile is told in one piece.
const EVENT_BUFFER: usize = 8;

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxSlot {
    A,
    B,
}

/// Who builds on a side.
pub struct SandboxContestant {
    /// As it is shown: a key of the catalog, or where it was asked and as what.
    pub name: String,
    /// None where nobody can be asked, and why.
    pub target: Result<SandboxTarget, TargetError>,
}

pub struct SandboxTarget {
    pub provider: Arc<dyn ModelProvider>,
    /// The provider's name for the model.
    pub model: String,
    pub options: ModelOptions,
}

/// Why a side cannot begin.
#[derive(Clone, Debug)]
pub struct TargetError {
    pub code: &'static str,
    pub message: String,
}

/// What two are asked to build.
#[derive(Clone, Debug)]
pub struct SandboxTask {
    pub prompt: String,
    pub settings: Settings,
    pub max_bytes: usize,
    pub attempts: u32,
}

/// A run under way. Its sides end with it.
pub struct SandboxRun {
    events: mpsc::Receiver<RunEvent>,
    _sides: JoinSet<()>,
}

impl SandboxRun {
    pub fn start(
        pool: &PgPool,
        work: &WorkPool,
        client: WorkClient,
        task: &SandboxTask,
        contestants: Vec<(SandboxSlot, SandboxContestant)>,
    ) -> Self {
        let (sender, events) = mpsc::channel(EVENT_BUFFER);
        let mut sides = JoinSet::new();
        for (slot, contestant) in contestants {
            let side = side::SideRunner {
                slot,
                name: contestant.name,
                task: task.clone(),
                pool: pool.clone(),
                work: work.clone(),
                client,
                sender: sender.clone(),
            };
            sides.spawn(side.run(contestant.target));
        }
        Self { events, _sides: sides }
    }

    /// What happens next; none when both sides have ended.
    pub async fn next(&mut self) -> Option<RunEvent> {
        self.events.recv().await
    }
}
