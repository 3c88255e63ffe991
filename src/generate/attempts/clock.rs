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

    /// The provider will be asked again in so many seconds.
    pub fn waits(&mut self, seconds: f64) {
        let wait = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let now = Instant::now();
        self.sent = now.checked_add(wait).unwrap_or(now);
    }

    pub fn stop(self) -> Times {
        let now = Instant::now();
        Times { whole: now - self.started, last_request: now.saturating_duration_since(self.sent) }
    }
}
