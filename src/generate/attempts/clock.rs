//! How long a model took.

use std::time::Duration;

use tokio::time::Instant;

pub(super) struct Clock {
    started: Instant,
    /// When the request went out that is under way.
    sent: Instant,
}

pub(super) struct Times {
    pub whole: Duration,
    pub last_request: Duration,
}

impl Clock {
    pub fn start() -> Self {
        let now = Instant::now();
        Self { started: now, sent: now }
    }

    /// A request goes out.
    pub fn sent(&mut self) {
        self.sent = Instant::now();
    }

    pub fn stop(self) -> Times {
        let now = Instant::now();
        Times { whole: now - self.started, last_request: now - self.sent }
    }
}
