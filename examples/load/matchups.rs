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

/// Returning voters. Fewer of them would soon have seen every pair.
const RETURNING_VOTERS: usize = 200;

/// Voters with an open matchup, who request it again.
const VOTERS_WITH_OPEN_MATCHUP: usize = 64;

/// Time before measuring starts.
const WARM_UP: Duration = Duration::from_secs(3);

/// The kind of voter that requests a matchup.
#[derive(Clone, Copy)]
enum LoadVoterKind {
    /// A new voter: the server creates a session, a voter and a matchup.
    New,
    /// A voter whose last matchup is closed, who gets a new one.
    Returning,
    /// A voter with an open matchup, who gets the same one.
    Repeating,
}

/// Of ten voters, four are new, four have just voted, and two request their open matchup again.
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
    /// The longest delay of a request by this program itself.
    late: Duration,
    own_cores: Option<f64>,
    pub votes: Vec<(String, &'static str)>,
}

/// A client with the matchup it has open, if any.
struct LoadVoter {
    client: LoadClient,
    open: Option<String>,
}

/// Voters who are between two requests.
#[derive(Default)]
struct LoadVoterPool {
    voted: VecDeque<LoadVoter>,
    with_open_matchup: VecDeque<LoadVoter>,
    /// Connections for new voters.
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
    // A thread sleeps more precisely than a timer of tokio.
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

/// Requests and times a matchup. A returning voter also votes on it, after the measurement.
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
    /// Takes a voter of a kind, or a new one if there is none.
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
                pool.with_open_matchup.push_back(voter);
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

    /// The slower of new and returning voters, who both get a new matchup.
    pub fn new_p99(&self) -> Duration {
        self.new_voter.quantile(0.99).max(self.returning_voter.quantile(0.99))
    }

    pub fn print(&self) {
        self.new_voter.print("new, for a new voter");
        self.returning_voter.print("new, for a known voter");
        self.repeated.print("the open one again");
        self.voted.print("votes beside them");
        self.errors.print();
        println!("  sent at most {:.2} ms late, included in the times", crate::ms(self.late));
        if let Some(own_cores) = self.own_cores {
            println!("  this program used {own_cores:.2} cores");
        }
    }
}
