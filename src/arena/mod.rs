//! The benchmark: models build prompts, people vote on pairs of builds, and the votes rank the models.
//!
//! These are the arena's rules. The modules below implement them, and nothing outside of them writes what they protect.
//!
//! **Settings.** A grid size, a palette and a mode make settings. Builds, matchups, ratings and votes belong to settings,
//! and only builds of the same settings are compared. An [`Arena`] is the ladder of one settings.
//!
//! **Who meets whom** ([`lineup`], [`sampling`]). An active prompt takes part with the builds in force of enabled models,
//! if there are at least two. Reference models, which ship with the program, take part always, never, or, by default,
//! only in prompts that fewer than two other models have built. Other models wait until they have built a share of the
//! active prompts, half by default; once one of their builds was voted on, they stay. A matchup is drawn in three steps:
//! 1. A prompt, with equal chances, of those in which the voter has a pair left to see. A voter may name the prompt.
//! 2. A first model, of those with an unseen partner, with a weight of 1 / (times shown + 1); then, with the same weights,
//!    a second one of its unseen partners. So models that were shown less often catch up.
//! 3. Their sides, by a fair coin. A is on the left.
//!
//! The probability of the pair, given the prompt and what the voter had seen, is stored with the matchup, so that
//! whoever analyses the votes can weigh them. A voter is never served the same two models on the same prompt and
//! settings twice, whether the first matchup ended with a vote, a skip or nothing. A pair counts as shown once the
//! voter has fetched both of its builds: asking and skipping alone must not influence who is drawn.
//!
//! **A matchup** ([`matchups`]). A voter has one open matchup at a time. It is open for thirty minutes, until it is voted
//! on or skipped, or until another one replaces it. An open matchup is returned to its voter as it is, unless the voter
//! names another prompt.
//!
//! **What is hidden before the vote.** Nothing that a voter can read before the vote depends on who built the two builds:
//! no model, provider, build id, digest, rating, warning or generation time. The two grids are fetched through the
//! matchup, by its voter alone. Published counts leave open matchups out, so that watching them reveals nobody.
//!
//! **What is hidden from everybody but voters.** The builds of a held-out prompt are withheld: matchups serve them, and
//! nothing else shows them, until enough votes on a build are counted or it is retired. A voter's own matchups go on
//! showing them. Whoever votes on prompts whose builds they have seen with names can be told by the ladder of held-out
//! prompts, which is computed beside the whole one ([`PromptFilter`]).
//!
//! **A vote** ([`votes`]). A choice is A, B, a tie, or both bad. It counts if its voter has the matchup open and has had
//! both builds for a minimum time. There is one vote on a matchup; of several at the same time, the first counts. One
//! transaction closes the matchup, locks the ratings of both models, updates them, adds the vote with the Elo of both
//! before and after, and adds it to the tally of the two builds: all of it or nothing. The reveal comes after that.
//!
//! **Elo** ([`elo`]). A rating begins at 1500, and K is 16. A win counts 1, a tie ½, a loss 0, against the rating of the
//! other model. Both bad is a loss of each against 1500, whatever the other has. The ladder's order is by Elo. Every
//! rating follows from the votes in the order of their ids: replaying them yields the same bits on every machine
//! ([`replay`]).
//!
//! **Skill** ([`skill`]). Elo depends on the order of votes; skill is one fit of Davidson's model to all of them, which is
//! Bradley and Terry's with ties. Both bad compares nobody, so it stays out. A model has a skill from thirty votes on.
//! Its 95 % interval does not take votes as independent, since all votes on a prompt judge the same builds, and a voter
//! with many votes is one person ([`heavy_voters`]).
//!
//! **Judgements** ([`judgements`]). A person can also score a build by the criteria, without knowing who built it until
//! the judgement is sent. It has the budgets of votes, and it never changes a rating.
//!
//! **What never changes.** A stored build: a new one for the same prompt, model and settings retires it, and votes on it
//! still count. A prompt's text, once a build was asked for or stored. A served matchup, and a vote: only repairing the
//! ratings that a replay finds wrong rewrites numbers. A matchup without a vote is dropped after a day; that its voter
//! has seen the pair is kept ([`cleanup`]).

pub mod a2a_tasks;
pub mod agents;
pub mod alarms;
pub mod assessments;
pub mod audit;
mod batcher;
pub mod budgets;
pub mod builds;
pub mod catalog;
mod choice;
pub mod cleanup;
mod columns;
pub mod coverage;
pub mod dataset;
pub mod decisions;
pub mod drafts;
pub mod elo;
pub mod gallery;
pub mod generations;
mod heavy_voters;
pub mod imports;
pub mod jobs;
pub mod judgement_log;
pub mod judgements;
pub mod judges;
pub mod kept_runs;
pub mod leaderboard;
pub mod lent_keys;
mod lineup;
mod matchups;
mod names;
pub mod person_checks;
mod prompt_filter;
pub mod replay;
pub mod sampling;
mod settings;
pub mod shipped_builds;
mod shown;
pub mod skill;
pub mod status;
mod tallies;
pub mod totals;
pub mod vote_log;
pub mod voter_history;
mod votes;

pub use choice::{Choice, ChoiceCounts, Side};
pub use lineup::{Lineup, ReferencePolicy, WaitingModel};
pub use matchups::{Matchup, MatchupError, MatchupPrompt, ServedMatchup, SkipError, Voter};
pub use names::{ModelKey, PromptId};
pub use prompt_filter::PromptFilter;
pub use settings::{Mode, Settings};
pub use votes::{Exclusion, Reveal, RevealedSide, VoteBudgets, VoteError};

pub use tallies::{Pace, TallyMismatch};

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use sqlx::PgPool;
use tokio::sync::Semaphore;

use alarms::{ReportVersion, VoteReport};
use batcher::Batcher;
use judges::{JudgeStats, JudgesVersion};
use leaderboard::{LadderStandings, LadderStats, Leaderboard, Published, RefreshingCache, StatsVersion};
use lineup::LineupCache;
use matchups::batches::{FetchBuilds, ReadVoterStates, ServeMatchups};
use matchups::grids::VoterGrids;
use matchups::seen::SeenCache;
use shown::ShownCache;
use votes::counting::CountVotes;
use votes::network_keys::NetworkKeys;
use votes::reveals::ReadReveals;

/// Statistics that are computed at a time. Voters keep the other connections to the database, and a core.
const MAX_REFRESHES: usize = 1;

/// Ladders of some of the prompts that are cached.
const MAX_FILTERED_LADDERS: u64 = 64;

/// States of the votes whose late standings are cached. There is a new one each minute at most.
const MAX_LATE_STANDINGS: u64 = 4;

/// Two, so that the next batch of votes is prepared while one waits for the disk.
const MAX_VOTE_BATCHES: usize = 2;

/// The arena of one ladder. Clones are cheap and share their caches.
#[derive(Clone)]
pub struct Arena {
    pool: PgPool,
    /// Answers what may lag behind: standings, statistics, votes on a pair.
    replica: PgPool,
    pub settings: Settings,
    /// A vote that comes sooner than this after both builds were fetched is rejected.
    pub min_dwell: Duration,
    /// How late results are shown.
    pub results_delay: Duration,
    lineup: Arc<LineupCache>,
    shown: Arc<ShownCache>,
    read_voters: Batcher<ReadVoterStates>,
    seen: SeenCache,
    serve: Batcher<ServeMatchups>,
    fetch: Batcher<FetchBuilds>,
    count_votes: Batcher<CountVotes>,
    read_reveals: Batcher<ReadReveals>,
    grids: VoterGrids,
    vote_budgets: VoteBudgets,
    /// For judgements; votes have their own.
    network_keys: Arc<NetworkKeys>,
    refresh_permits: Arc<Semaphore>,
    stats: Arc<RefreshingCache<StatsVersion, LadderStats>>,
    /// Late standings by the state of the votes that they follow from.
    standings: Cache<Published, LadderStandings>,
    vote_report: Arc<RefreshingCache<ReportVersion, VoteReport>>,
    judges: Arc<RefreshingCache<JudgesVersion, JudgeStats>>,
    filtered_ladders: Cache<PromptFilter, Arc<RefreshingCache<StatsVersion, Leaderboard>>>,
}

impl Arena {
    pub fn new(pool: PgPool, settings: Settings, references: ReferencePolicy, min_dwell: Duration) -> Self {
        let refresh_permits = Arc::new(Semaphore::new(MAX_REFRESHES));
        Self {
            read_voters: Batcher::new(pool.clone(), ReadVoterStates { settings: settings.clone() }, 1),
            seen: SeenCache::new(),
            serve: Batcher::new(pool.clone(), ServeMatchups { settings: settings.clone() }, 1),
            fetch: Batcher::new(pool.clone(), FetchBuilds, 1),
            count_votes: vote_counter(pool.clone(), min_dwell, VoteBudgets::default()),
            read_reveals: Batcher::new(pool.clone(), ReadReveals, 1),
            grids: VoterGrids::new(pool.clone()),
            vote_budgets: VoteBudgets::default(),
            network_keys: Arc::default(),
            replica: pool.clone(),
            pool,
            settings,
            min_dwell,
            results_delay: Duration::ZERO,
            standings: Cache::new(MAX_LATE_STANDINGS),
            lineup: Arc::new(LineupCache::new(references, 0)),
            shown: Arc::default(),
            stats: Arc::new(RefreshingCache::new(&refresh_permits)),
            vote_report: Arc::new(RefreshingCache::new(&refresh_permits)),
            judges: Arc::new(RefreshingCache::new(&refresh_permits)),
            filtered_ladders: Cache::new(MAX_FILTERED_LADDERS),
            refresh_permits,
        }
    }

    /// Limits how much a voter and a network can count for.
    #[must_use]
    pub fn with_vote_budgets(self, budgets: VoteBudgets) -> Self {
        let count_votes = vote_counter(self.pool.clone(), self.min_dwell, budgets);
        Self { count_votes, vote_budgets: budgets, ..self }
    }

    /// Shows results this much later. A voter's own reveal is not delayed.
    #[must_use]
    pub fn with_results_delay(self, results_delay: Duration) -> Self {
        Self { results_delay, ..self }
    }

    /// Leaves models to wait that have built less than so many percent of the active prompts.
    #[must_use]
    pub fn with_cohort_percent(self, percent: u32) -> Self {
        let lineup = LineupCache::new(self.lineup.references, percent);
        Self { lineup: Arc::new(lineup), ..self }
    }

    #[must_use]
    pub fn with_replica(self, replica: PgPool) -> Self {
        Self { replica, ..self }
    }
}

fn vote_counter(pool: PgPool, min_dwell: Duration, budgets: VoteBudgets) -> Batcher<CountVotes> {
    let job = CountVotes { min_dwell, budgets, network_keys: NetworkKeys::default() };
    Batcher::new(pool, job, MAX_VOTE_BATCHES)
}
