//! How far jobs are: a bar for each provider on a terminal, and a line for each job that has ended.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::output;
use crate::web::{JobsProgressResponse, ProviderProgressView};

const TICK: Duration = Duration::from_millis(500);

/// What the jobs are called that a command follows.
#[derive(Clone, Copy)]
pub(super) struct JobWords {
    /// One of them, such as "build", and several.
    pub one: &'static str,
    pub several: &'static str,
    /// What is done to them, such as "generate".
    pub verb: &'static str,
}

pub(super) struct ProgressDisplay {
    words: JobWords,
    /// Nothing but the result is printed to standard output.
    json: bool,
    bars: MultiProgress,
    providers: BTreeMap<String, ProviderBar>,
    has_begun: bool,
    is_cleared: bool,
    /// The pauses that were told last.
    pauses: Vec<String>,
}

struct ProviderBar {
    bar: ProgressBar,
    failed: usize,
}

impl JobWords {
    /// Such as "1 build", "3 builds".
    pub fn count(self, count: usize) -> String {
        format!("{count} {}", if count == 1 { self.one } else { self.several })
    }
}

impl ProgressDisplay {
    pub fn new(words: JobWords, json: bool) -> Self {
        Self {
            words,
            json,
            bars: MultiProgress::new(),
            providers: BTreeMap::new(),
            has_begun: false,
            is_cleared: false,
            pauses: Vec::new(),
        }
    }

    /// Prints what is new. What an earlier call has shown as ended must not be in `progress` again.
    pub fn show(&mut self, progress: &JobsProgressResponse) -> io::Result<()> {
        let pauses = progress.pauses.lines();
        if pauses != self.pauses {
            self.bars.suspend(|| pauses.iter().for_each(output::note));
            self.pauses = pauses;
        }
        if !self.has_begun {
            self.has_begun = true;
            self.begin(progress)?;
        }
        for job in &progress.ended {
            if !self.json {
                self.bars.suspend(|| output::line(job))?;
            }
            let provider = job.provider.as_ref().and_then(|key| self.providers.get_mut(key));
            if let Some(provider) = provider.filter(|_| job.state == "failed") {
                provider.failed += 1;
            }
        }
        for (key, provider) in &self.providers {
            provider.update(progress.under_way.iter().find(|view| view.key == *key));
        }
        Ok(())
    }

    /// Tells something on standard error, above the bars.
    pub fn note(&self, line: &str) {
        self.bars.suspend(|| output::note(line));
    }

    pub fn clear(&mut self) {
        if !self.is_cleared {
            self.is_cleared = true;
            self.providers.values().for_each(|provider| provider.bar.finish_and_clear());
        }
    }

    fn begin(&mut self, progress: &JobsProgressResponse) -> io::Result<()> {
        let mut totals: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
        for view in &progress.under_way {
            totals.insert(&view.key, (&view.display_name, view.queued + view.running));
        }
        for key in progress.ended.iter().filter_map(|job| job.provider.as_deref()) {
            totals.entry(key).or_insert((key, 0)).1 += 1;
        }
        let each: Vec<_> = totals.values().map(|(name, total)| format!("{total} at {name}")).collect();
        let all = totals.values().map(|(_, total)| total).sum();
        let verb = self.words.verb;
        if !self.json {
            match all {
                0 => output::line(format_args!("Nothing to {verb}."))?,
                all => {
                    output::line(format_args!("{} to {verb}: {}", self.words.count(all), each.join(", ")))?;
                }
            }
        }
        if io::stderr().is_terminal() {
            for (key, (name, total)) in totals {
                self.providers.insert(key.to_owned(), ProviderBar::new(&self.bars, name, total));
            }
        }
        Ok(())
    }
}

impl ProviderBar {
    fn new(bars: &MultiProgress, name: &str, total: usize) -> Self {
        let style = ProgressStyle::with_template("{prefix:16!} {bar:24} {pos:>5} of {len}, {elapsed} {msg}");
        let bar = ProgressBar::new(total as u64)
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
            .with_prefix(name.to_owned());
        let bar = bars.add(bar);
        bar.enable_steady_tick(TICK);
        Self { bar, failed: 0 }
    }

    /// The jobs that are not under way any more have ended.
    fn update(&self, now: Option<&ProviderProgressView>) {
        let (queued, running) = now.map_or((0, 0), |now| (now.queued, now.running));
        let total = self.bar.length().unwrap_or_default();
        self.bar.set_position(total.saturating_sub((queued + running) as u64));
        let waits_for = now.filter(|_| queued > 0).and_then(|now| now.waits_for.clone());
        let parts = [
            (running > 0).then(|| format!("{running} running")),
            (self.failed > 0).then(|| format!("{} failed", self.failed)),
            waits_for,
        ];
        self.bar.set_message(parts.into_iter().flatten().collect::<Vec<_>>().join(", "));
    }
}
