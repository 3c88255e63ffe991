//! Matchups at a constant rate, timed from when each should have been sent.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::client::Client;
use crate::figures::{Times, Troubles, own_time};
use crate::voting::{Ballot, cast, choose, matchup};

/// Voters who come back. Fewer would soon have seen every pair.
const REGULARS: usize = 200;

/// Voters with a matchup open, who ask again.
const UNDECIDED: usize = 64;

/// Before anything is counted.
const WARMING_UP: Duration = Duration::from_secs(3);

/// Who asks.
#[derive(Clone, Copy)]
enum Asker {
    /// Somebody new: a session, a voter and a matchup are made.
    Fresh,
    /// A voter whose last matchup is closed, and who gets a new one.
    Known,
    /// A voter with an open matchup, who gets it again.
    Again,
}

/// Four of ten are new here, four have just voted, two ask again.
const MIX: [Asker; 10] = {
    use Asker::{Again, Fresh, Known};
    [Fresh, Known, Fresh, Known, Again, Fresh, Known, Fresh, Known, Again]
};

#[derive(Default)]
pub struct Served {
    fresh: Times,
    known: Times,
    again: Times,
    voted: Times,
    troubles: Troubles,
    /// The most that a request was sent late by this program.
    late: Duration,
    own: Option<f64>,
    pub votes: Vec<(String, &'static str)>,
}

/// A client with the matchup it has open, if any.
struct Voter {
    client: Client,
    open: Option<String>,
}

/// Voters between two requests.
#[derive(Default)]
struct Lounge {
    voted: VecDeque<Voter>,
    looking: VecDeque<Voter>,
    /// Connections that somebody new can take.
    idle: Vec<Client>,
}

struct Sent {
    asker: Asker,
    time: Duration,
    counts: bool,
    trouble: Option<String>,
    vote: Option<Result<Ballot, String>>,
}

pub async fn at_a_constant_rate(address: SocketAddr, rate: u32, time: Duration) -> Result<Served> {
    let (send, mut receive) = mpsc::unbounded_channel();
    let lounge = Arc::new(Mutex::new(Lounge::default()));
    let handle = Handle::current();
    let own = own_time();
    let begun = Instant::now();
    // A thread sleeps more precisely than a timer of tokio's.
    let clock = thread::spawn(move || {
        let start = Instant::now();
        let mut late = Duration::ZERO;
        for number in 0.. {
            let offset = Duration::from_secs(1) * number / rate;
            if offset >= WARMING_UP + time {
                break;
            }
            thread::sleep((start + offset).saturating_duration_since(Instant::now()));
            let counts = offset >= WARMING_UP;
            if counts {
                late = late.max((start + offset).elapsed());
            }
            let asker = MIX[number as usize % MIX.len()];
            handle.spawn(ask(address, asker, start + offset, counts, Arc::clone(&lounge), send.clone()));
        }
        late
    });
    let mut served = Served::default();
    while let Some(sent) = receive.recv().await {
        served.take(sent);
    }
    served.late = clock.join().unwrap_or_default();
    let elapsed = begun.elapsed().as_secs_f64();
    served.own = own.zip(own_time()).map(|(before, after)| (after - before).as_secs_f64() / elapsed);
    Ok(served)
}

/// One matchup; a known voter goes on to vote on it, which is not what is timed.
async fn ask(
    address: SocketAddr,
    asker: Asker,
    intended: Instant,
    counts: bool,
    lounge: Arc<Mutex<Lounge>>,
    send: mpsc::UnboundedSender<Sent>,
) {
    let goes_on_to_vote = matches!(asker, Asker::Known);
    let (asker, mut voter) = Lounge::pick(&lounge, asker, address);
    let answer = matchup(&mut voter.client).await;
    let mut sent = Sent { asker, time: intended.elapsed(), counts, trouble: None, vote: None };
    match answer {
        Ok(matchup) => voter.open = Some(matchup.id),
        Err(trouble) => {
            sent.trouble = Some(trouble);
            voter = Voter { client: Client::new(address), open: None };
        }
    }
    if goes_on_to_vote && let Some(id) = voter.open.take() {
        sent.vote = Some(cast(&mut voter.client, &id, choose()).await);
    }
    Lounge::leave(&lounge, voter);
    let _ = send.send(sent);
}

impl Lounge {
    /// Whoever is there; where nobody is, somebody new.
    fn pick(lounge: &Mutex<Self>, asker: Asker, address: SocketAddr) -> (Asker, Voter) {
        let mut lounge = lounge.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match asker {
            Asker::Fresh => None,
            Asker::Known if lounge.voted.len() < REGULARS => None,
            Asker::Known => lounge.voted.pop_front(),
            Asker::Again => lounge.looking.pop_front(),
        };
        match found {
            Some(voter) => (asker, voter),
            None => {
                let mut client = lounge.idle.pop().unwrap_or_else(|| Client::new(address));
                client.cookie = None;
                (Asker::Fresh, Voter { client, open: None })
            }
        }
    }

    fn leave(lounge: &Mutex<Self>, voter: Voter) {
        let mut lounge = lounge.lock().unwrap_or_else(PoisonError::into_inner);
        match voter.open {
            None => lounge.voted.push_back(voter),
            Some(_) if lounge.looking.len() < UNDECIDED => lounge.looking.push_back(voter),
            Some(_) => lounge.idle.push(voter.client),
        }
    }
}

impl Served {
    fn take(&mut self, sent: Sent) {
        match (sent.trouble, sent.asker) {
            (Some(trouble), _) => self.troubles.add("matchup", &trouble),
            (None, _) if !sent.counts => {}
            (None, Asker::Fresh) => self.fresh.add(sent.time),
            (None, Asker::Known) => self.known.add(sent.time),
            (None, Asker::Again) => self.again.add(sent.time),
        }
        match sent.vote {
            Some(Ok(ballot)) => {
                if sent.counts {
                    self.voted.add(ballot.time);
                }
                self.votes.push((ballot.matchup, ballot.choice));
            }
            Some(Err(trouble)) => self.troubles.add("vote", &trouble),
            None => {}
        }
    }

    /// Of those who got a new matchup, the slower kind.
    pub fn new_p99(&self) -> Duration {
        self.fresh.within(0.99).max(self.known.within(0.99))
    }

    pub fn print(&self) {
        self.fresh.print("new, for a new voter");
        self.known.print("new, for a known voter");
        self.again.print("the open one again");
        self.voted.print("votes beside them");
        self.troubles.print();
        println!("  sent at most {:.2} ms late, which counts as waiting", crate::ms(self.late));
        if let Some(own) = self.own {
            println!("  this program took {own:.2} cores of them");
        }
    }
}
