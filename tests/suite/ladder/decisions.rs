//! Decisions about votes: what they withdraw, and that nothing else changes.

use std::net::IpAddr;

use buildoff::arena::Choice;
use buildoff::arena::audit::Admin;
use buildoff::arena::decisions::{self, DecisionError, VoteSelection, VoteVerdict};
use buildoff::arena::replay;
use time::{Duration, OffsetDateTime};

use super::{LadderFixture, small_ladder};

const PAIRS: [(&str, &str, &str); 4] =
    [("castle", "elm", "fir"), ("owl", "fir", "ash"), ("castle", "ash", "elm"), ("owl", "ash", "fir")];

fn homes() -> IpAddr {
    [192, 0, 2, 1].into()
}

fn flood() -> IpAddr {
    [198, 51, 100, 1].into()
}

impl LadderFixture {
    async fn vote_from(&self, number: usize, address: IpAddr) {
        let (prompt, a, b) = PAIRS[number % PAIRS.len()];
        let (voter, matchup) = self.serve(prompt, a, b).await;
        self.arena.vote(voter, matchup, Choice::ALL[number % 3], address).await.unwrap();
    }

    /// Everything that follows from the votes, without what names a single vote.
    pub(super) async fn consequences(&self) -> String {
        sqlx::query_scalar(
            "
            SELECT jsonb_build_array(
                (SELECT jsonb_agg(to_jsonb(ratings) ORDER BY settings, model_key) FROM ratings),
                (
                    SELECT jsonb_agg(
                        jsonb_build_array(one.model_key, other.model_key, one.prompt_id, a, b, tie, both_bad, first_votes)
                        ORDER BY one.prompt_id, one.model_key, other.model_key
                    )
                    FROM tallies JOIN builds one ON one.id = build_a JOIN builds other ON other.id = build_b
                ),
                (SELECT jsonb_build_array(count(*), sum(votes)) FROM voter_totals)
            )::text
            ",
        )
        .fetch_one(&self.db.pool)
        .await
        .unwrap()
    }

    async fn decide(&self, verdict: VoteVerdict) -> Result<decisions::Decision, DecisionError> {
        decisions::decide(&self.db.pool, &self.flood_votes().await, verdict, "A flood.", Admin::COMMAND_LINE)
            .await
    }

    async fn flood_votes(&self) -> VoteSelection {
        let (networks,): (Vec<String>,) = sqlx::query_as(
            "SELECT array_agg(DISTINCT encode(network, 'hex')) FROM votes WHERE network <> (SELECT network FROM votes ORDER BY id LIMIT 1)",
        )
        .fetch_one(&self.db.pool)
        .await
        .unwrap();
        let now = OffsetDateTime::now_utc();
        VoteSelection {
            from: now - Duration::HOUR,
            until: now + Duration::HOUR,
            networks,
            voters: Vec::new(),
            model: None,
            max_dwell_ms: None,
        }
    }

    pub(super) async fn assert_verified(&self) {
        let report = replay::verify(&self.db.pool).await.unwrap();
        assert!(report.is_clean(), "{:?}", report.first);
    }
}

#[tokio::test]
async fn withdrawing_a_flood_leaves_what_would_be_without_it_to_the_last_bit() {
    let (flooded, untouched) = (small_ladder().await, small_ladder().await);
    for number in 0..24 {
        flooded.vote_from(number, homes()).await;
        untouched.vote_from(number, homes()).await;
        if number > 6 {
            flooded.vote_from(2 * number, flood()).await;
        }
    }
    let with_flood = flooded.consequences().await;
    assert_ne!(with_flood, untouched.consequences().await);

    let decision = flooded.decide(VoteVerdict::Withdrawn).await.unwrap();
    assert_eq!(decision.votes, 17);
    assert_eq!(flooded.consequences().await, untouched.consequences().await);
    flooded.assert_verified().await;
    assert_eq!(flooded.db.number("SELECT count(*) FROM votes").await, 24 + 17);

    flooded.decide(VoteVerdict::Counted).await.unwrap();
    assert_eq!(flooded.consequences().await, with_flood);
    flooded.assert_verified().await;
}

#[tokio::test]
async fn suspects_do_not_count_until_they_are_cleared_or_withdrawn() {
    let ladder = small_ladder().await;
    for number in 0..8 {
        ladder.vote_from(number, homes()).await;
        ladder.vote_from(number, flood()).await;
    }
    ladder.decide(VoteVerdict::Suspect).await.unwrap();
    assert_eq!(ladder.db.number("SELECT count(*) FROM votes WHERE exclusion = 'suspect'").await, 8);
    assert!(matches!(ladder.decide(VoteVerdict::Suspect).await, Err(DecisionError::NoVotes)));
    assert_eq!(
        ladder.db.number("SELECT count(*) FROM person_checks WHERE round = 1").await,
        8,
        "asked again"
    );
    ladder.decide(VoteVerdict::Withdrawn).await.unwrap();
    ladder.assert_verified().await;
    let decisions = decisions::list(&ladder.db.pool, None, 10).await.unwrap();
    let verdicts: Vec<_> = decisions.iter().map(|decision| decision.verdict).collect();
    assert_eq!(verdicts, [VoteVerdict::Withdrawn, VoteVerdict::Suspect]);
    assert!(decisions.iter().all(|decision| decision.votes == 8 && decision.decided_by == "cli"));
}

#[tokio::test]
async fn votes_that_come_in_during_a_decision_are_all_counted() {
    let ladder = small_ladder().await;
    for number in 0..6 {
        ladder.vote_from(number, homes()).await;
        ladder.vote_from(number, flood()).await;
    }
    let voting = async {
        for number in 0..40 {
            ladder.vote_from(number, homes()).await;
        }
    };
    let deciding = async {
        for verdict in [VoteVerdict::Withdrawn, VoteVerdict::Counted, VoteVerdict::Withdrawn] {
            ladder.decide(verdict).await.unwrap();
        }
    };
    tokio::join!(voting, deciding);
    assert_eq!(ladder.db.number("SELECT sum(wins + losses + ties)::bigint FROM ratings").await, 2 * 46);
    ladder.assert_verified().await;
}

#[tokio::test]
async fn a_withdrawn_flood_leaves_the_chart_of_ratings_too() {
    let ladder = small_ladder().await;
    for number in 0..4 {
        ladder.vote_from(number, homes()).await;
    }
    let points = async || {
        let stats = ladder.arena.stats().await.unwrap();
        stats.history.lines.values().map(Vec::len).sum::<usize>()
    };
    assert_eq!(points().await, 8);
    for number in 0..4 {
        ladder.vote_from(number, flood()).await;
    }
    assert_eq!(points().await, 16);
    ladder.decide(VoteVerdict::Withdrawn).await.unwrap();
    assert_eq!(points().await, 8);
}

#[tokio::test]
async fn a_decision_needs_votes_and_a_reason() {
    let ladder = small_ladder().await;
    ladder.vote_from(0, homes()).await;
    ladder.vote_from(0, flood()).await;
    let selection = ladder.flood_votes().await;
    for reason in ["", "  ", &"x".repeat(501)] {
        let decided = decisions::decide(
            &ladder.db.pool,
            &selection,
            VoteVerdict::Withdrawn,
            reason,
            Admin::COMMAND_LINE,
        )
        .await;
        assert!(matches!(decided, Err(DecisionError::BadReason)), "{reason:?}");
    }
    let nobody = VoteSelection { networks: vec!["00".to_owned()], ..selection };
    let decided =
        decisions::decide(&ladder.db.pool, &nobody, VoteVerdict::Withdrawn, "None.", Admin::COMMAND_LINE)
            .await;
    assert!(matches!(decided, Err(DecisionError::NoVotes)));
    assert_eq!(ladder.db.number("SELECT count(*) FROM vote_decisions").await, 0);
}
