//! The sandbox: two models side by side on any prompt, told as it happens, without a trace in the arena.
//!
//! A run is at most two questions at once. It lives exactly as long as whoever watches it: dropping the
//! [`Run`] ends the requests at the providers. How many run at a time is bounded, for one address and for
//! all; who comes later waits in line and is told the place.

pub mod doors;
pub mod line;
mod side;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use self::line::{Line, Ticket, TooMany};
pub use self::side::Event;
use crate::arena::Settings;
use crate::arena::catalog::ModelOptions;
use crate::generate::Provider;
use crate::work::{WorkClient, WorkPool};
use sqlx::PgPool;

/// Whoever takes nothing for so long has gone.
pub const SLOWEST: Duration = Duration::from_secs(60);

/// No side takes longer.
const LONGEST: Duration = Duration::from_secs(20 * 60);

/// Events that wait for a slow reader; what streams in meanwhile is told in one piece.
const WAITING: usize = 8;

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Slot {
    A,
    B,
}

/// Who builds on a side.
pub struct Contestant {
    /// As it is shown: a key of the catalog, or where it was asked and as what.
    pub name: String,
    /// None where nobody can be asked, and why.
    pub asked: Result<Asked, Problem>,
}

pub struct Asked {
    pub provider: Arc<dyn Provider>,
    /// The provider's name for the model.
    pub model: String,
    pub options: ModelOptions,
}

/// Why a side cannot begin.
#[derive(Clone, Debug)]
pub struct Problem {
    pub code: &'static str,
    pub message: String,
}

/// What two are asked to build.
#[derive(Clone, Debug)]
pub struct Task {
    pub prompt: String,
    pub settings: Settings,
    pub max_bytes: usize,
    pub attempts: u32,
}

/// A run under way. Its sides end with it.
pub struct Run {
    events: mpsc::Receiver<Event>,
    _sides: JoinSet<()>,
}

impl Run {
    pub fn begin(
        pool: &PgPool,
        work: &WorkPool,
        client: WorkClient,
        task: &Task,
        contestants: Vec<(Slot, Contestant)>,
    ) -> Self {
        let (tell, events) = mpsc::channel(WAITING);
        let mut sides = JoinSet::new();
        for (slot, contestant) in contestants {
            let side = side::Side {
                slot,
                name: contestant.name,
                task: task.clone(),
                pool: pool.clone(),
                work: work.clone(),
                client,
                tell: tell.clone(),
            };
            sides.spawn(side.play(contestant.asked));
        }
        Self { events, _sides: sides }
    }

    /// What happens next; none when both sides have ended.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }
}
