//! Voters who fetch a matchup and both its builds and vote, as fast as they can.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinSet;

use crate::client::LoadClient;
use crate::measurements::{LoadErrors, LoadLatencies, own_cpu_time};

/// The delay between attempts if the server does not answer.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// The time after the end in which votes whose answer was lost are sent again.
const ANSWER_GRACE: Duration = Duration::from_secs(30);

const CHOICES: [&str; 4] = ["A", "B", "TIE", "BOTH_BAD"];

pub struct LoadMatchup {
    pub id: String,
    builds: [String; 2],
}

/// An acknowledged vote.
pub struct LoadVote {
    pub matchup: String,
    pub choice: &'static str,
    pub time: Duration,
}

#[derive(Default)]
pub struct LoadVotingStats {
    matchups: LoadLatencies,
    builds: LoadLatencies,
    vote_times: LoadLatencies,
    errors: LoadErrors,
    elapsed: Duration,
    own_cores: Option<f64>,
    pub votes: Vec<(String, &'static str)>,
}

pub fn random_choice() -> &'static str {
    CHOICES[rand::random_range(0..CHOICES.len())]
}

/// Requests a matchup.
///
/// # Errors
/// The status and code of any other response.
pub async fn request_matchup(client: &mut LoadClient) -> Result<LoadMatchup, String> {
    #[derive(Deserialize)]
    struct LoadMatchupResponse {
        id: String,
        a: LoadSide,
        b: LoadSide,
    }
    #[derive(Deserialize)]
    struct LoadSide {
        build: LoadBuildUrl,
    }
    #[derive(Deserialize)]
    struct LoadBuildUrl {
        url: String,
    }
    let answer = client.get("/api/arena/matchup").await.map_err(no_answer)?;
    if answer.status != 200 {
        return Err(answer.status_and_code());
    }
    let LoadMatchupResponse { id, a, b } =
        answer.json().map_err(|error| format!("not a matchup: {error:#}"))?;
    Ok(LoadMatchup { id, builds: [a.build.url, b.build.url] })
}

/// Casts a vote. If the server has it already, the answer to an earlier attempt was lost, and the vote counts as cast.
pub async fn cast_vote(
    client: &mut LoadClient,
    matchup: &str,
    choice: &'static str,
) -> Result<LoadVote, String> {
    #[derive(Deserialize)]
    struct LoadVoteResponse {
        choice: String,
    }
    let begun = Instant::now();
    let body = json!({ "matchupId": matchup, "choice": choice }).to_string();
    let answer = client.post("/api/arena/vote", body).await.map_err(no_answer)?;
    let name = answer.status_and_code();
    if answer.status != 200 && name != "409 already_voted" {
        return Err(name);
    }
    let revealed: LoadVoteResponse = answer.json().map_err(|error| format!("not a reveal: {error:#}"))?;
    if revealed.choice != choice {
        return Err(format!("{name}, with {} for {choice}", revealed.choice));
    }
    Ok(LoadVote { matchup: matchup.to_owned(), choice, time: begun.elapsed() })
}

const NO_ANSWER: &str = "no answer";

fn no_answer(_: anyhow::Error) -> String {
    NO_ANSWER.to_owned()
}

pub async fn run_voters(address: SocketAddr, voters: usize, time: Duration) -> LoadVotingStats {
    let cpu_before = own_cpu_time();
    let begun = Instant::now();
    let mut set: JoinSet<LoadVotingStats> = (0..voters).map(|_| run_voter(address, begun + time)).collect();
    let mut all = LoadVotingStats::default();
    while let Some(Ok(stats)) = set.join_next().await {
        all.merge(stats);
    }
    let elapsed = begun.elapsed();
    all.own_cores = cpu_before
        .zip(own_cpu_time())
        .map(|(before, after)| (after - before).as_secs_f64() / elapsed.as_secs_f64());
    all.elapsed = elapsed;
    all
}

/// Votes as one voter until `end`. When all pairs are seen, a new voter continues.
async fn run_voter(address: SocketAddr, end: Instant) -> LoadVotingStats {
    let mut mine = LoadVotingStats::default();
    let mut client = LoadClient::new(address);
    while Instant::now() < end {
        let begun = Instant::now();
        let matchup = match request_matchup(&mut client).await {
            Ok(matchup) => matchup,
            Err(error) => {
                mine.errors.add("matchup", &error);
                pause_after(&error).await;
                if error == "409 all_voted" {
                    client.cookie = None;
                }
                continue;
            }
        };
        mine.matchups.add(begun.elapsed());
        if mine.fetch_builds(&mut client, &matchup).await {
            mine.vote_until_acknowledged(&mut client, &matchup, end + ANSWER_GRACE).await;
        }
    }
    mine
}

async fn pause_after(error: &str) {
    if error == NO_ANSWER {
        tokio::time::sleep(RETRY_DELAY).await;
    }
}

impl LoadVotingStats {
    /// Fetches both builds, and returns whether that succeeded.
    async fn fetch_builds(&mut self, client: &mut LoadClient, matchup: &LoadMatchup) -> bool {
        for url in &matchup.builds {
            let begun = Instant::now();
            let error = match client.get(url).await {
                Ok(answer) if answer.status == 200 => {
                    self.builds.add(begun.elapsed());
                    continue;
                }
                Ok(answer) => answer.status_and_code(),
                Err(error) => no_answer(error),
            };
            self.errors.add("build", &error);
            pause_after(&error).await;
            return false;
        }
        true
    }

    /// Votes, and repeats the request until there is an answer.
    async fn vote_until_acknowledged(
        &mut self,
        client: &mut LoadClient,
        matchup: &LoadMatchup,
        give_up: Instant,
    ) {
        let choice = random_choice();
        while Instant::now() < give_up {
            match cast_vote(client, &matchup.id, choice).await {
                Ok(vote) => {
                    self.vote_times.add(vote.time);
                    self.votes.push((vote.matchup, vote.choice));
                    return;
                }
                Err(error) => {
                    self.errors.add("vote", &error);
                    if error != NO_ANSWER {
                        return;
                    }
                    pause_after(&error).await;
                }
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.matchups.extend(other.matchups);
        self.builds.extend(other.builds);
        self.vote_times.extend(other.vote_times);
        self.errors.extend(other.errors);
        self.votes.extend(other.votes);
    }

    pub fn votes_a_second(&self) -> f64 {
        self.votes.len() as f64 / self.elapsed.as_secs_f64()
    }

    pub fn print(&self) {
        self.matchups.print("matchup");
        self.builds.print("build");
        self.vote_times.print("vote");
        self.errors.print();
        if let Some(own_cores) = self.own_cores {
            println!("  this program took {own_cores:.2} cores of them");
        }
    }
}
