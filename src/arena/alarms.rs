//! Alarms about recent votes: what looks as if somebody wanted to move the ladder.
//!
//! The rules are statistics, so they name what is unlikely and prove nothing. An alarm withdraws nothing by itself. It
//! carries the selection of its votes, and an admin looks at them and decides ([`super::decisions`]). Votes that an
//! admin has decided about raise no alarm any more.
//!
//! The cost is bounded: at most every [`REFRESH_INTERVAL`], the votes of the last day are read, and of these no more
//! than the latest [`window::MAX_VOTES`].

mod crowd;
mod rules;
mod sources;
#[cfg(test)]
mod tests;
mod thresholds;
mod win_rate;
mod window;

pub use self::sources::{SourceSummary, VoteSource};

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use time::OffsetDateTime;
use tokio::task::spawn_blocking;
use utoipa::ToSchema;

use self::window::VoteWindow;
use super::decisions::VoteSelection;
use super::leaderboard::Computed;
use super::status::{self, ExcludedVotes};
use super::{Arena, ModelKey};

/// A report is computed at most once in this time, and after each decision about votes.
pub const REFRESH_INTERVAL: Duration = Duration::from_secs(20);

/// The longest list of networks, and of voters.
const MAX_SUMMARIES: usize = 20;

/// A voter or a network with fewer votes is listed only if it is in an alarm.
const MIN_LISTED_VOTES: i64 = 3;

/// The recent votes of a ladder, and what is unusual about them.
#[derive(Clone, Debug)]
pub struct VoteReport {
    pub computed_at: OffsetDateTime,
    /// Votes since then were read.
    pub from: OffsetDateTime,
    pub totals: WindowTotals,
    /// The most severe first.
    pub alarms: Vec<VoteAlarm>,
    /// Those in alarms first, then those with most votes.
    pub networks: Vec<SourceSummary>,
    pub voters: Vec<SourceSummary>,
    /// On all ladders, of all times.
    pub excluded: ExcludedVotes,
}

/// The votes that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowTotals {
    pub votes: usize,
    pub voters: usize,
    pub networks: usize,
}

#[derive(Clone, Debug)]
pub struct VoteAlarm {
    pub kind: AlarmKind,
    pub severity: AlarmSeverity,
    /// Whom or what it is about: a model, a voter or a network.
    pub subject: String,
    pub sentence: String,
    /// How many votes the selection has.
    pub votes: usize,
    /// Withdraws just these votes.
    pub selection: VoteSelection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlarmKind {
    /// Many networks vote for one model and for nothing else.
    Crowd,
    /// A model wins much more, or much less, than its rating says.
    WinRate,
    /// A voter or a network prefers one model more than others do.
    OneModel,
    /// A voter or a network nearly always chooses the same side.
    OneSide,
    /// A voter or a network votes as soon as that is possible.
    Fast,
    /// A large share of all votes comes from one network.
    Busy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlarmSeverity {
    /// May be a class that votes together.
    Notice,
    /// Hardly by chance.
    Warning,
    /// The ladder is being moved.
    Critical,
}

/// Changes when a report is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReportVersion {
    interval: i64,
    decision: i64,
}

impl AlarmKind {
    pub const ALL: [Self; 6] =
        [Self::Crowd, Self::WinRate, Self::OneModel, Self::OneSide, Self::Fast, Self::Busy];

    pub fn name(self) -> &'static str {
        match self {
            Self::Crowd => "crowd",
            Self::WinRate => "win_rate",
            Self::OneModel => "one_model",
            Self::OneSide => "one_side",
            Self::Fast => "fast",
            Self::Busy => "busy",
        }
    }
}

impl AlarmSeverity {
    pub const ALL: [Self; 3] = [Self::Notice, Self::Warning, Self::Critical];

    pub fn name(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

impl VoteAlarm {
    /// Stays the same while the alarm lasts.
    pub fn id(&self) -> String {
        format!("{}-{}", self.kind.name(), self.subject)
    }
}

impl VoteReport {
    /// Heavy work.
    fn of(window: &VoteWindow, excluded: ExcludedVotes) -> Self {
        let alarms = rules::alarms(window);
        let alarmed: HashSet<&str> = alarms
            .iter()
            .flat_map(|alarm| alarm.selection.networks.iter().map(String::as_str).chain([&*alarm.subject]))
            .collect();
        let summaries = |sources: Vec<sources::SourceVotes<'_>>| {
            let mut summaries: Vec<_> =
                sources.iter().map(|source| SourceSummary::of(source, window)).collect();
            let is_alarmed = |summary: &SourceSummary| alarmed.contains(&*summary.source.id());
            summaries.retain(|summary| summary.choices.sum() >= MIN_LISTED_VOTES || is_alarmed(summary));
            summaries
                .sort_by_cached_key(|summary| (!is_alarmed(summary), -summary.choices.sum(), summary.source));
            summaries.truncate(MAX_SUMMARIES);
            summaries
        };
        let votes: Vec<_> = window.votes.iter().collect();
        let (networks, voters) = (sources::by_network(&votes), sources::by_voter(&votes));
        let totals = WindowTotals { votes: votes.len(), voters: voters.len(), networks: networks.len() };
        Self {
            computed_at: window.now,
            from: window.from(),
            totals,
            networks: summaries(networks),
            voters: summaries(voters),
            alarms,
            excluded,
        }
    }

    pub fn alarm(&self, id: &str) -> Option<&VoteAlarm> {
        self.alarms.iter().find(|alarm| alarm.id() == id)
    }

    pub fn count(&self, kind: AlarmKind, severity: AlarmSeverity) -> usize {
        self.alarms.iter().filter(|alarm| (alarm.kind, alarm.severity) == (kind, severity)).count()
    }
}

impl Arena {
    /// What is unusual about recent votes; up to [`REFRESH_INTERVAL`] late.
    pub async fn vote_report(&self) -> sqlx::Result<Arc<VoteReport>> {
        let decision = window::latest_decision(&self.replica).await?;
        let interval = OffsetDateTime::now_utc().unix_timestamp() / REFRESH_INTERVAL.as_secs() as i64;
        let version = ReportVersion { interval, decision };
        let make = |_| {
            let arena = self.clone();
            async move { arena.compute_vote_report(version).await }
        };
        self.vote_report.get(version, make).await
    }

    async fn compute_vote_report(
        &self,
        version: ReportVersion,
    ) -> sqlx::Result<Computed<ReportVersion, VoteReport>> {
        let mut snapshot = self.snapshot().await?;
        let now = OffsetDateTime::now_utc();
        let window = VoteWindow::read(&mut snapshot, &self.settings, self.min_dwell, now).await?;
        let excluded = status::excluded_votes(&mut *snapshot).await?;
        snapshot.commit().await?;
        let computing = spawn_blocking(move || VoteReport::of(&window, excluded));
        let value = computing.await.map_err(|error| sqlx::Error::Protocol(error.to_string()))?;
        Ok(Computed { version: Some(version), value, stored: None })
    }
}

/// Selects the votes of a rule.
fn selection(
    votes: &[&window::RecentVote],
    networks: Vec<String>,
    voters: Vec<uuid::Uuid>,
    model: Option<&ModelKey>,
) -> VoteSelection {
    let times = || votes.iter().map(|vote| vote.at);
    let (first, last) =
        times().min().zip(times().max()).unwrap_or((OffsetDateTime::UNIX_EPOCH, OffsetDateTime::UNIX_EPOCH));
    VoteSelection {
        from: first,
        // The end is exclusive, and the database knows microseconds.
        until: last + time::Duration::MICROSECOND,
        networks,
        voters,
        model: model.cloned(),
        max_dwell_ms: None,
    }
}
