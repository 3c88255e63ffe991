//! Voters who fetch a matchup and both its builds and vote, as fast as they can.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::figures::{Times, Troubles, own_time};

/// Between tries of a voter whose server has gone.
const PAUSE: Duration = Duration::from_millis(50);

/// After the end, for a vote whose answer was lost.
const GRACE: Duration = Duration::from_secs(30);

const CHOICES: [&str; 4] = ["A", "B", "TIE", "BOTH_BAD"];

pub struct Matchup {
    pub id: String,
    builds: [String; 2],
}

/// An acknowledged vote.
pub struct Ballot {
    pub matchup: String,
    pub choice: &'static str,
    pub time: Duration,
}

#[derive(Default)]
pub struct Cast {
    matchups: Times,
    builds: Times,
    ballots: Times,
    troubles: Troubles,
    elapsed: Duration,
    own: Option<f64>,
    pub votes: Vec<(String, &'static str)>,
}

pub fn choose() -> &'static str {
    CHOICES[rand::random_range(0..CHOICES.len())]
}

/// What came instead is told by its status and code.
pub async fn matchup(client: &mut Client) -> Result<Matchup, String> {
    #[derive(Deserialize)]
    struct Served {
        id: String,
        a: Side,
        b: Side,
    }
    #[derive(Deserialize)]
    struct Side {
        build: Address,
    }
    #[derive(Deserialize)]
    struct Address {
        url: String,
    }
    let answer = client.get("/api/arena/matchup").await.map_err(lost)?;
    if answer.status != 200 {
        return Err(answer.name());
    }
    let Served { id, a, b } = answer.json().map_err(|error| format!("not a matchup: {error:#}"))?;
    Ok(Matchup { id, builds: [a.build.url, b.build.url] })
}

/// That an earlier answer was lost shows when the server has the vote already.
pub async fn cast(client: &mut Client, matchup: &str, choice: &'static str) -> Result<Ballot, String> {
    #[derive(Deserialize)]
    struct Told {
        choice: String,
    }
    let begun = Instant::now();
    let body = json!({ "matchupId": matchup, "choice": choice }).to_string();
    let answer = client.post("/api/arena/vote", body).await.map_err(lost)?;
    let name = answer.name();
    if answer.status != 200 && name != "409 already_voted" {
        return Err(name);
    }
    let told: Told = answer.json().map_err(|error| format!("not a reveal: {error:#}"))?;
    if told.choice != choice {
        return Err(format!("{name}, with {} for {choice}", told.choice));
    }
    Ok(Ballot { matchup: matchup.to_owned(), choice, time: begun.elapsed() })
}

const LOST: &str = "no answer";

fn lost(_: anyhow::Error) -> String {
    LOST.to_owned()
}

pub async fn as_fast_as_they_can(address: SocketAddr, voters: usize, time: Duration) -> Cast {
    let own = own_time();
    let begun = Instant::now();
    let mut set: JoinSet<Cast> = (0..voters).map(|_| vote(address, begun + time)).collect();
    let mut all = Cast::default();
    while let Some(Ok(cast)) = set.join_next().await {
        all.take(cast);
    }
    let elapsed = begun.elapsed();
    all.own =
        own.zip(own_time()).map(|(before, after)| (after - before).as_secs_f64() / elapsed.as_secs_f64());
    all.elapsed = elapsed;
    all
}

/// One voter, until `end`; then somebody else's turn, as when all pairs have been seen.
async fn vote(address: SocketAddr, end: Instant) -> Cast {
    let mut mine = Cast::default();
    let mut client = Client::new(address);
    while Instant::now() < end {
        let begun = Instant::now();
        let matchup = match matchup(&mut client).await {
            Ok(matchup) => matchup,
            Err(trouble) => {
                mine.troubles.add("matchup", &trouble);
                pause_after(&trouble).await;
                if trouble == "409 all_voted" {
                    client.cookie = None;
                }
                continue;
            }
        };
        mine.matchups.add(begun.elapsed());
        if mine.look(&mut client, &matchup).await {
            mine.decide(&mut client, &matchup, end + GRACE).await;
        }
    }
    mine
}

async fn pause_after(trouble: &str) {
    if trouble == LOST {
        tokio::time::sleep(PAUSE).await;
    }
}

impl Cast {
    /// Fetches both builds.
    async fn look(&mut self, client: &mut Client, matchup: &Matchup) -> bool {
        for url in &matchup.builds {
            let begun = Instant::now();
            let trouble = match client.get(url).await {
                Ok(answer) if answer.status == 200 => {
                    self.builds.add(begun.elapsed());
                    continue;
                }
                Ok(answer) => answer.name(),
                Err(error) => lost(error),
            };
            self.troubles.add("build", &trouble);
            pause_after(&trouble).await;
            return false;
        }
        true
    }

    /// Votes, and says so again until there is an answer.
    async fn decide(&mut self, client: &mut Client, matchup: &Matchup, give_up: Instant) {
        let choice = choose();
        while Instant::now() < give_up {
            match cast(client, &matchup.id, choice).await {
                Ok(ballot) => {
                    self.ballots.add(ballot.time);
                    self.votes.push((ballot.matchup, ballot.choice));
                    return;
                }
                Err(trouble) => {
                    self.troubles.add("vote", &trouble);
                    if trouble != LOST {
                        return;
                    }
                    pause_after(&trouble).await;
                }
            }
        }
    }

    fn take(&mut self, other: Self) {
        self.matchups.extend(other.matchups);
        self.builds.extend(other.builds);
        self.ballots.extend(other.ballots);
        self.troubles.extend(other.troubles);
        self.votes.extend(other.votes);
    }

    pub fn votes_a_second(&self) -> f64 {
        self.votes.len() as f64 / self.elapsed.as_secs_f64()
    }

    pub fn print(&self) {
        self.matchups.print("matchup");
        self.builds.print("build");
        self.ballots.print("vote");
        self.troubles.print();
        if let Some(own) = self.own {
            println!("  this program took {own:.2} cores of them");
        }
    }
}
