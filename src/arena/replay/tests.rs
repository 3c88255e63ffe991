use proptest::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

use super::*;
use crate::arena::vote_log::LoggedSide;
use crate::arena::{Choice, Exclusion};

const LADDERS: [&str; 2] = ["32-simple-precise", "64-advanced-precise"];

fn model(number: usize) -> ModelKey {
    format!("m{number}").parse().unwrap()
}

/// Votes as they would have been kept, each with the ladder after it: plain loops over plain numbers, in
/// which only the formula is shared.
fn history(votes: &[(usize, usize, usize, usize)]) -> (Vec<LoggedVote>, Ladders) {
    let mut ladders = Ladders::new();
    let mut log = Vec::new();
    for (id, &(ladder, a, step, choice)) in (1..).zip(votes) {
        let (settings, choice) = (LADDERS[ladder], Choice::ALL[choice]);
        let (model_a, model_b) = (model(a), model((a + 1 + step) % 5));
        let standings = ladders.entry(settings.to_owned()).or_default();
        let a = *standings.entry(model_a.clone()).or_insert(Standing::NEW);
        let b = *standings.entry(model_b.clone()).or_insert(Standing::NEW);
        let (after_a, after_b) = apply_vote(a, b, choice);
        standings.insert(model_a.clone(), after_a);
        standings.insert(model_b.clone(), after_b);
        log.push(LoggedVote {
            id: 3 * id,
            at: OffsetDateTime::UNIX_EPOCH,
            matchup_id: Uuid::nil(),
            prompt_id: "castle".parse().unwrap(),
            model_a,
            model_b,
            build_a: String::new(),
            build_b: String::new(),
            choice,
            side: LoggedSide::Left,
            settings: settings.to_owned(),
            elo_a_before: a.elo,
            elo_a_after: after_a.elo,
            elo_b_before: b.elo,
            elo_b_after: after_b.elo,
            probability: 1.0,
            dwell_ms: None,
            exclusion: None,
            decision: None,
        });
    }
    (log, ladders)
}

fn report(log: &[LoggedVote], stored: &Ladders) -> ReplayReport {
    let mut report = ReplayReport::default();
    for vote in log {
        report.next(vote).unwrap();
    }
    report.add_ratings(stored);
    report
}

fn number(vote: &mut LoggedVote, which: usize) -> &mut f64 {
    match which {
        0 => &mut vote.elo_a_before,
        1 => &mut vote.elo_b_before,
        2 => &mut vote.elo_a_after,
        _ => &mut vote.elo_b_after,
    }
}

fn votes() -> impl Strategy<Value = Vec<(usize, usize, usize, usize)>> {
    prop::collection::vec((0..2usize, 0..5usize, 0..4usize, 0..4usize), 1..60)
}

proptest! {
    #[test]
    fn any_votes_replay_to_themselves(votes in votes()) {
        let (log, ladders) = history(&votes);
        let report = report(&log, &ladders);
        prop_assert_eq!(report.first, None);
        prop_assert_eq!((report.differing_votes, report.differing_ratings), (0, 0));
        prop_assert_eq!(&report.replay.ladders, &ladders);
        prop_assert_eq!(report.replay.votes, votes.len() as u64);
    }

    #[test]
    fn one_flipped_bit_is_found_where_it_is(
        votes in votes(), at in any::<prop::sample::Index>(), which in 0..4usize, bit in 0..64u32,
    ) {
        let (mut log, ladders) = history(&votes);
        let vote = at.get_mut(&mut log);
        let models = [vote.model_a.clone(), vote.model_b.clone()];
        let logged = number(vote, which);
        let right = *logged;
        *logged = f64::from_bits(right.to_bits() ^ (1 << bit));
        let id = vote.id;
        let report = report(&log, &ladders);
        prop_assert_eq!(report.differing_votes, 1);
        let Some(Difference::Vote { vote, model, when, replayed, .. }) = report.first else {
            return Err(TestCaseError::fail("not found"));
        };
        prop_assert_eq!((vote, model, replayed.to_bits()), (id, models[which % 2].clone(), right.to_bits()));
        prop_assert_eq!(when, if which < 2 { "before" } else { "after" });
    }

    #[test]
    fn a_changed_choice_is_found(votes in votes(), at in any::<prop::sample::Index>()) {
        let (mut log, ladders) = history(&votes);
        let vote = at.get_mut(&mut log);
        vote.choice = if vote.choice == Choice::A { Choice::B } else { Choice::A };
        let id = vote.id;
        let report = report(&log, &ladders);
        let found = matches!(report.first, Some(Difference::Vote { vote, .. }) if vote == id);
        prop_assert!(found, "{:?}", report.first);
    }

    #[test]
    fn a_vote_that_is_missing_is_missed(votes in votes(), at in any::<prop::sample::Index>()) {
        let (mut log, ladders) = history(&votes);
        log.remove(at.index(log.len()));
        prop_assert!(!report(&log, &ladders).is_clean());
    }
}

#[test]
fn differences_are_told_in_words() {
    let (log, ladders) = history(&[(0, 0, 0, 0)]);
    let (m0, m1) = (model(0), model(1));
    let changed = |change: fn(&mut Standing)| {
        let mut ladders = ladders.clone();
        change(ladders.get_mut(LADDERS[0]).unwrap().get_mut(&m0).unwrap());
        ladders
    };
    let mut without = ladders.clone();
    without.get_mut(LADDERS[0]).unwrap().remove(&m1);
    let mut beyond = ladders.clone();
    beyond.entry(LADDERS[1].to_owned()).or_default().insert(m1, Standing { ties: 1, ..Standing::NEW });
    for (stored, words) in [
        (
            changed(|standing| standing.elo = standing.elo.next_up()),
            "m0 (32-simple-precise) is stored with Elo 1508.0000000000002; by its votes, that is 1508.0",
        ),
        (
            changed(|standing| standing.both_bad = 2),
            "m0 (32-simple-precise) is stored with both bad 2; by its votes, that is 0",
        ),
        (without, "m1 (32-simple-precise) has votes, but no stored rating"),
        (beyond, "m1 (64-advanced-precise) has a stored rating, but no votes"),
    ] {
        let report = report(&log, &stored);
        assert_eq!(report.differing_ratings, 1);
        assert_eq!(report.first.unwrap().to_string(), words);
    }

    let mut wrong = log.clone();
    wrong[0].elo_a_after = 1507.5;
    assert_eq!(
        report(&wrong, &ladders).first.unwrap().to_string(),
        "vote 3 is stored with an Elo of 1507.5 for m0 after it; by the votes up to it, that is 1508.0"
    );
}

#[test]
fn votes_that_do_not_count_change_nothing() {
    let (mut log, ladders) = history(&[(0, 0, 0, 0)]);
    let excluded = LoggedVote { id: 7, exclusion: Some(Exclusion::Withdrawn), ..log[0].clone() };
    log.push(excluded);
    let report = report(&log, &ladders);
    assert!(report.is_clean(), "{:?}", report.first);
    assert_eq!((report.replay.votes, report.replay.excluded), (1, 1));
}

#[test]
fn votes_out_of_order_and_of_one_model_are_refused() {
    let (log, _) = history(&[(0, 0, 0, 0), (0, 1, 0, 1)]);
    let mut replay = Replay::default();
    replay.next(&log[1]).unwrap();
    assert_eq!(replay.next(&log[0]).unwrap_err(), ReplayError::OutOfOrder { id: 3, latest: 6 });
    assert_eq!(replay.next(&log[1]).unwrap_err(), ReplayError::OutOfOrder { id: 6, latest: 6 });
    let alone = LoggedVote { id: 9, model_b: log[1].model_a.clone(), ..log[1].clone() };
    assert_eq!(replay.next(&alone).unwrap_err(), ReplayError::SameModel { id: 9, model: model(1) });
    assert_eq!(replay.votes, 1, "what was refused did not count");
}
