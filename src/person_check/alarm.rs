//! When a repeated warning is due.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_secs(60);

/// Sounds at once, and then at most once a minute, however often it is asked.
#[derive(Default)]
pub(super) struct Alarm(Mutex<Option<Instant>>);

impl Alarm {
    pub fn is_due(&self) -> bool {
        self.is_due_at(Instant::now())
    }

    fn is_due_at(&self, now: Instant) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.is_none_or(|last| now.saturating_duration_since(last) >= INTERVAL);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_sounds_at_once_and_then_at_most_once_a_minute() {
        let alarm = Alarm::default();
        let start = Instant::now();
        let after = |seconds| alarm.is_due_at(start + Duration::from_secs(seconds));
        let sounded: Vec<_> =
            [0, 0, 1, 59, 60, 61, 119, 120, 500].into_iter().filter(|at| after(*at)).collect();
        assert_eq!(sounded, [0, 60, 120, 500]);
    }
}
