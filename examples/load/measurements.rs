//! Latencies and errors.

use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Default)]
pub struct LoadLatencies(Vec<Duration>);

impl LoadLatencies {
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The latency that a share of all requests did not exceed.
    pub fn quantile(&self, share: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (share * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }

    pub fn print(&self, what: &str) {
        let [p50, p95, p99, most] = [0.5, 0.95, 0.99, 1.0].map(|share| crate::ms(self.quantile(share)));
        let count = self.len();
        println!(
            "  {what:<22} {count:>7}   p50 {p50:>7.2}   p95 {p95:>7.2}   p99 {p99:>7.2}   max {most:>8.2} ms"
        );
    }
}

/// Errors, counted by request and response.
#[derive(Default)]
pub struct LoadErrors(BTreeMap<String, u64>);

impl LoadErrors {
    pub fn add(&mut self, what: &str, answer: &str) {
        *self.0.entry(format!("{what}: {answer}")).or_default() += 1;
    }

    pub fn extend(&mut self, other: Self) {
        for (what, count) in other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    pub fn print(&self) {
        if self.0.is_empty() {
            println!("  no errors");
        }
        for (what, count) in &self.0 {
            println!("  {count} × {what}");
        }
    }
}

/// The CPU time of this process, if the system reports it.
pub fn own_cpu_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // Linux reports hundredths of a second here, whatever the clock rate of the kernel.
    Some(Duration::from_millis(ticks * 10))
}

/// The load of the machine. If other processes use the CPU, the measurements are worse.
pub fn load_average() -> Option<String> {
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    let cores = std::thread::available_parallelism().ok()?;
    Some(format!("{} on {cores} cores", load.split(' ').next()?))
}
