//! The sandbox: two models side by side on any prompt, streamed as it happens. Nothing of it enters the arena.
//!
//! A run is at most two requests at once. It lives exactly as long as whoever watches it: dropping the [`SandboxRun`]
//! ends the requests at the providers. How many runs there are at a time is bounded, for an address and for all; later
//! ones wait in the [`SandboxQueue`] and know their place.

mod events;
mod key_loan;
pub mod queue;
mod side;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use utoipa::ToSchema;

pub use self::events::RunEvent;
pub use self::key_loan::KeyLoan;
pub use self::queue::{QueueFull, SandboxQueue, Ticket};
use crate::arena::Settings;
use crate::arena::catalog::ModelOptions;
use crate::generate::ModelProvider;
use crate::work::{WorkClient, WorkPool};

/// A reader who takes nothing for so long is treated as gone.
pub const READER_TIMEOUT: Duration = Duration::from_secs(60);

/// A side that takes longer has failed.
const SIDE_TIMEOUT: Duration = Duration::from_secs(20 * 60);

/// Estimates tokens until the provider reports them.
const CHARS_PER_TOKEN: usize = 3;

/// How many events wait for a slow reader. What streams in meanwhile becomes one event.
const EVENT_BUFFER: usize = 8;

// A side of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SandboxSlot {
    A,
    B,
}

/// Who builds on a side.
pub struct SandboxContestant {
    /// For people: a key of the catalog, or the provider or host with the model's name there.
    pub name: String,
    /// Where requests go, or why this side cannot generate.
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

/// What both sides build.
#[derive(Clone, Debug)]
pub struct SandboxTask {
    pub prompt: String,
    pub settings: Settings,
    pub max_bytes: usize,
    pub attempts: u32,
    /// This server's address, for agents.
    pub site: Arc<str>,
}

/// A run under way. Dropping it ends its sides.
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

    /// The next event, or none when both sides have ended.
    pub async fn next(&mut self) -> Option<RunEvent> {
        self.events.recv().await
    }
}
