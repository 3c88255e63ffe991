//! How long a model took.

use std::time::Duration;

use tokio::time::Instant;

pub(super) struct Stopwatch {
    started: Instant,
    /// When the request went out that is under way.
    sent: Instant,
}

pub(super) struct AttemptTimes {
    pub total: Duration,
    pub last_request: Duration,
}

impl Stopwatch {
    pub fn start() -> Self {
        let now = Instant::now();
        Self { started: now, sent: now }
    }

    /// A request goes out.
    pub fn sent(&mut self) {
        self.sent = Instant::now();
    }

    pub fn stop(self) -> AttemptTimes {
        let now = Instant::now();
        AttemptTimes { total: now - self.started, last_request: now - self.sent }
    }
}
