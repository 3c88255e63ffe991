//! Matchups at a constant rate, timed from when each should have been sent.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::client::LoadClient;
use crate::measurements::{LoadErrors, LoadLatencies, own_cpu_time};
use crate::voting::{LoadVote, cast_vote, random_choice, request_matchup};

/// Voters who come back. Fewer would soon have seen every pair.
const RETURNING_VOTERS: usize = 200;

/// Voters with a matchup open, who ask again.
const VOTERS_WITH_OPEN_MATCHUP: usize = 64;

/// Before anything is counted.
const WARM_UP: Duration = Duration::from_secs(3);

/// Who asks.
#[derive(Clone, Copy)]
enum LoadVoterKind {
    /// Somebody new: a session, a voter and a matchup are made.
    New,
    /// A voter whose last matchup is closed, and who gets a new one.
    Returning,
    /// A voter with an open matchup, who gets it again.
    Repeating,
}

/// Four of ten are new here, four have just voted, two ask again.
const VOTER_MIX: [LoadVoterKind; 10] = {
    use LoadVoterKind::{New, Repeating, Returning};
    [New, Returning, New, Returning, Repeating, New, Returning, New, Returning, Repeating]
};

#[derive(Default)]
pub struct LoadMatchupStats {
    new_voter: LoadLatencies,
    returning_voter: LoadLatencies,
    repeated: LoadLatencies,
    voted: LoadLatencies,
    errors: LoadErrors,
    /// The most that a request was sent late by this program.
    late: Duration,
    own_cores: Option<f64>,
    pub votes: Vec<(String, &'static str)>,
}

/// A client with the matchup it has open, if any.
struct LoadVoter {
    client: LoadClient,
    open: Option<String>,
}

/// Voters between two requests.
#[derive(Default)]
struct LoadVoterPool {
    voted: VecDeque<LoadVoter>,
    with_open_matchup: VecDeque<LoadVoter>,
    /// Connections that somebody new can take.
    idle: Vec<LoadClient>,
}

struct LoadSample {
    kind: LoadVoterKind,
    time: Duration,
    counts: bool,
    error: Option<String>,
    vote: Option<Result<LoadVote, String>>,
}

pub async fn run_at_constant_rate(
    address: SocketAddr,
    rate: u32,
    time: Duration,
) -> Result<LoadMatchupStats> {
    let (send, mut receive) = mpsc::unbounded_channel();
    let pool = Arc::new(Mutex::new(LoadVoterPool::default()));
    let handle = Handle::current();
    let cpu_before = own_cpu_time();
    let begun = Instant::now();
    // A thread sleeps more precisely than a timer of tokio's.
    let clock = thread::spawn(move || {
        let start = Instant::now();
        let mut late = Duration::ZERO;
        for number in 0.. {
            let offset = Duration::from_secs(1) * number / rate;
            if offset >= WARM_UP + time {
                break;
            }
            thread::sleep((start + offset).saturating_duration_since(Instant::now()));
            let counts = offset >= WARM_UP;
            if counts {
                late = late.max((start + offset).elapsed());
            }
            let kind = VOTER_MIX[number as usize % VOTER_MIX.len()];
            handle.spawn(request_and_vote(
                address,
                kind,
                start + offset,
                counts,
                Arc::clone(&pool),
                send.clone(),
            ));
        }
        late
    });
    let mut stats = LoadMatchupStats::default();
    while let Some(sample) = receive.recv().await {
        stats.record(sample);
    }
    stats.late = clock.join().unwrap_or_default();
    let elapsed = begun.elapsed().as_secs_f64();
    stats.own_cores =
        cpu_before.zip(own_cpu_time()).map(|(before, after)| (after - before).as_secs_f64() / elapsed);
    Ok(stats)
}

/// One matchup; a known voter goes on to vote on it, which is not what is timed.
async fn request_and_vote(
    address: SocketAddr,
    kind: LoadVoterKind,
    intended: Instant,
    counts: bool,
    pool: Arc<Mutex<LoadVoterPool>>,
    send: mpsc::UnboundedSender<LoadSample>,
) {
    let goes_on_to_vote = matches!(kind, LoadVoterKind::Returning);
    let (kind, mut voter) = LoadVoterPool::take(&pool, kind, address);
    let answer = request_matchup(&mut voter.client).await;
    let mut sample = LoadSample { kind, time: intended.elapsed(), counts, error: None, vote: None };
    match answer {
        Ok(matchup) => voter.open = Some(matchup.id),
        Err(error) => {
            sample.error = Some(error);
            voter = LoadVoter { client: LoadClient::new(address), open: None };
        }
    }
    if goes_on_to_vote && let Some(id) = voter.open.take() {
        sample.vote = Some(cast_vote(&mut voter.client, &id, random_choice()).await);
    }
    LoadVoterPool::put_back(&pool, voter);
    let _ = send.send(sample);
}

impl LoadVoterPool {
    /// Whoever is there; where nobody is, somebody new.
    fn take(pool: &Mutex<Self>, kind: LoadVoterKind, address: SocketAddr) -> (LoadVoterKind, LoadVoter) {
        let mut pool = pool.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match kind {
            LoadVoterKind::New => None,
            LoadVoterKind::Returning if pool.voted.len() < RETURNING_VOTERS => None,
            LoadVoterKind::Returning => pool.voted.pop_front(),
            LoadVoterKind::Repeating => pool.with_open_matchup.pop_front(),
        };
        match found {
            Some(voter) => (kind, voter),
            None => {
                let mut client = pool.idle.pop().unwrap_or_else(|| LoadClient::new(address));
                client.cookie = None;
                (LoadVoterKind::New, LoadVoter { client, open: None })
            }
        }
    }

    fn put_back(pool: &Mutex<Self>, voter: LoadVoter) {
        let mut pool = pool.lock().unwrap_or_else(PoisonError::into_inner);
        match voter.open {
            None => pool.voted.push_back(voter),
            Some(_) if pool.with_open_matchup.len() < VOTERS_WITH_OPEN_MATCHUP => {
                pool.with_open_matchup.push_back(voter)
            }
            Some(_) => pool.idle.push(voter.client),
        }
    }
}

impl LoadMatchupStats {
    fn record(&mut self, sample: LoadSample) {
        match (sample.error, sample.kind) {
            (Some(error), _) => self.errors.add("matchup", &error),
            (None, _) if !sample.counts => {}
            (None, LoadVoterKind::New) => self.new_voter.add(sample.time),
            (None, LoadVoterKind::Returning) => self.returning_voter.add(sample.time),
            (None, LoadVoterKind::Repeating) => self.repeated.add(sample.time),
        }
        match sample.vote {
            Some(Ok(vote)) => {
                if sample.counts {
                    self.voted.add(vote.time);
                }
                self.votes.push((vote.matchup, vote.choice));
            }
            Some(Err(error)) => self.errors.add("vote", &error),
            None => {}
        }
    }

    /// Of those who got a new matchup, the slower kind.
    pub fn new_p99(&self) -> Duration {
        self.new_voter.quantile(0.99).max(self.returning_voter.quantile(0.99))
    }

    pub fn print(&self) {
        self.new_voter.print("new, for a new voter");
        self.returning_voter.print("new, for a known voter");
        self.repeated.print("the open one again");
        self.voted.print("votes beside them");
        self.errors.print();
        println!("  sent at most {:.2} ms late, which counts as waiting", crate::ms(self.late));
        if let Some(own_cores) = self.own_cores {
            println!("  this program took {own_cores:.2} cores of them");
        }
    }
}
