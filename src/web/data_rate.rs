//! The least rate at which a client must send and receive.

use std::time::Duration;

/// The slowest that a client may be. Without such a bound, a client that sends or reads a byte now and then keeps a
/// connection and the memory of its bodies for as long as it likes.
#[derive(Clone, Copy, Debug)]
pub struct MinDataRate {
    pub bytes_per_second: u32,
    /// How long a client may be slower than that. It may also pause for as long.
    pub grace_period: Duration,
}

impl Default for MinDataRate {
    /// A quarter of what the slowest mobile connections reach.
    fn default() -> Self {
        Self { bytes_per_second: 4 << 10, grace_period: Duration::from_secs(10) }
    }
}

/// Measures one client against a [`MinDataRate`]. Only the time counts in which the server waits for the client: what
/// the server itself takes for an answer or between two events of a stream is not the client's fault.
pub(super) struct DataRateMonitor {
    rate: MinDataRate,
    remaining: Duration,
}

impl DataRateMonitor {
    pub fn new(rate: MinDataRate) -> Self {
        Self { rate, remaining: rate.grace_period }
    }

    /// How long the client may now be waited for.
    pub fn remaining(&self) -> Duration {
        self.remaining
    }

    pub fn waited(&mut self, duration: Duration) {
        self.remaining = self.remaining.saturating_sub(duration);
    }

    /// Each byte earns the time that it may take. No more than the grace period can be saved up, so a client that was
    /// fast at first is not waited for longer than others.
    pub fn transferred(&mut self, bytes: usize) {
        let earned = Duration::from_secs_f64(bytes as f64 / f64::from(self.rate.bytes_per_second.max(1)));
        self.remaining = self.remaining.saturating_add(earned).min(self.rate.grace_period);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: MinDataRate = MinDataRate { bytes_per_second: 1000, grace_period: Duration::from_secs(10) };

    /// How long a client is kept that transfers so many bytes each second, up to an hour.
    fn seconds_until_dropped(bytes_per_second: usize) -> u64 {
        let mut monitor = DataRateMonitor::new(RATE);
        for second in 0..3600 {
            monitor.waited(Duration::from_secs(1));
            if monitor.remaining().is_zero() {
                return second + 1;
            }
            monitor.transferred(bytes_per_second);
        }
        3600
    }

    #[test]
    fn a_client_at_the_least_rate_is_kept_and_a_slower_one_is_not() {
        for (rate, seconds) in [(0, 10), (1, 11), (500, 19), (1000, 3600), (1_000_000, 3600)] {
            assert_eq!(seconds_until_dropped(rate), seconds, "{rate} bytes per second");
        }
    }

    #[test]
    fn fast_bytes_do_not_buy_a_long_pause() {
        let mut monitor = DataRateMonitor::new(RATE);
        monitor.transferred(1 << 30);
        assert_eq!(monitor.remaining(), RATE.grace_period);
    }
}
