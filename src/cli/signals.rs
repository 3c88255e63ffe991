//! SIGINT and SIGTERM: how often they came, and what a process with jobs does about them.

use std::convert::Infallible;
use std::future::pending;
use std::process;
use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::worker::Worker;

/// How long giving the jobs back and closing the database may take after the second signal.
const EXIT_GRACE: Duration = Duration::from_secs(10);

/// How often the terminal is told of answers that are still waited for.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Both are cancelled once and for all.
#[derive(Clone, Default)]
pub(super) struct StopSignals {
    pub first: CancellationToken,
    /// The process ends soon after this by itself, and at once after a third signal.
    pub second: CancellationToken,
}

/// Watches for signals from now on.
pub(super) fn watch() -> anyhow::Result<StopSignals> {
    let mut signals = ProcessSignals::new()?;
    let stop = StopSignals::default();
    let StopSignals { first, second } = stop.clone();
    tokio::spawn(async move {
        signals.next().await;
        info!("stopping; a second signal stops immediately");
        first.cancel();
        signals.next().await;
        second.cancel();
        let _ = timeout(EXIT_GRACE, signals.next()).await;
        process::exit(130);
    });
    Ok(stop)
}

/// Resolves at the first signal, for work that has nothing to give back. The second ends the process immediately.
pub(super) async fn first_signal() -> anyhow::Result<()> {
    let mut signals = ProcessSignals::new()?;
    signals.next().await;
    info!("stopping; a second signal stops immediately");
    tokio::spawn(async move {
        signals.next().await;
        process::exit(130);
    });
    Ok(())
}

/// Claims no further jobs, and waits until the worker has ended: for the answers that stream until the second signal,
/// and for nothing after that. Tells what it waits for.
pub(super) async fn drain<T>(
    worker: &Worker,
    ended: impl Future<Output = T>,
    second: &CancellationToken,
) -> T {
    worker.drain();
    tokio::select! {
        ended = ended => ended,
        never = report(worker) => match never {},
        never = stop_after(worker, second) => match never {},
    }
}

async fn report(worker: &Worker) -> Infallible {
    let mut told = Vec::new();
    loop {
        sleep(REPORT_INTERVAL).await;
        let running = worker.running();
        if running != told && !running.is_empty() {
            let answers = if running.len() == 1 { "an answer" } else { "answers" };
            let (jobs, at_most) = (running.join(", "), minutes(worker.stop_wait()));
            info!(jobs, at_most, "waiting for {answers} to end; a second signal stops at once");
        }
        told = running;
    }
}

async fn stop_after(worker: &Worker, second: &CancellationToken) -> Infallible {
    second.cancelled().await;
    worker.stop();
    pending().await
}

fn minutes(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 120.. => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{seconds} s"),
    }
}

struct ProcessSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl ProcessSignals {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).context("cannot watch for SIGINT")?,
            terminate: signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
