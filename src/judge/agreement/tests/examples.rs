//! Small cases that can be checked by hand.

use super::super::*;
use crate::judge::JudgeKind;

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn model_judge() -> Judge {
    Judge { kind: JudgeKind::Model, key: "one".to_owned() }
}

fn judge_vote(left: u128, right: u128, choice: Choice) -> JudgeVote {
    JudgeVote { judge: model_judge(), left: id(left), right: id(right), choice }
}

fn person_vote(left: u128, right: u128, choice: Choice) -> PersonVote {
    PersonVote::new(id(left), id(right), None, choice)
}

fn facts(build: u128, provider: &str, blocks: u64) -> BuildFacts {
    BuildFacts {
        build: id(build),
        model: format!("model_{build}"),
        provider: provider.to_owned(),
        blocks,
        skill: None,
    }
}

/// Ten pairs of builds that are in no other pair: 10 and 11, 20 and 21, …
fn ten_pairs() -> impl Iterator<Item = (u128, u128)> {
    (1..=10).map(|pair| (10 * pair, 10 * pair + 1))
}

fn only_report(data: &AgreementData) -> JudgeReport {
    let mut reports = judge_reports(data);
    assert_eq!(reports.len(), 1);
    reports.remove(0)
}

#[track_caller]
fn assert_value(measured: Option<MeasuredValue>, value: f64) {
    let measured = measured.expect("enough data");
    assert!((measured.value - value).abs() < 1e-9, "{measured:?}, not {value}");
    assert!(measured.low <= measured.value && measured.value <= measured.high, "{measured:?}");
}

#[test]
fn a_vote_is_on_a_pair_whichever_side_its_builds_were_on() {
    let vote = |left, right, choice| PersonVote::new(id(left), id(right), None, choice);
    assert_eq!(vote(1, 2, Choice::A), vote(2, 1, Choice::B));
    assert_eq!(vote(1, 2, Choice::Tie), vote(2, 1, Choice::Tie));
    assert_ne!(vote(1, 2, Choice::A), vote(2, 1, Choice::A));
}

#[test]
fn without_data_nothing_is_measured() {
    assert_eq!(judge_reports(&AgreementData::default()), []);
    // A few judgements, and no votes.
    let data = AgreementData {
        judge_votes: vec![
            judge_vote(1, 2, Choice::A),
            judge_vote(2, 1, Choice::A),
            judge_vote(3, 3, Choice::A),
        ],
        scores: vec![
            JudgeScore { judge: model_judge(), build: id(1), overall: 5.0 },
            JudgeScore { judge: model_judge(), build: id(2), overall: f64::NAN },
        ],
        builds: vec![facts(1, "here", 0)],
        ..AgreementData::default()
    };
    let nothing = JudgeReport {
        judge: model_judge(),
        provider: None,
        scored_builds: 1,
        compared_pairs: 1,
        shared_pairs: 0,
        agreement: VoterAgreement::default(),
        consistency: None,
        left: None,
        larger_build: Leaning::default(),
        own_provider: Leaning::default(),
        rank_correlation: None,
        build_disagreements: Vec::new(),
        pair_disagreements: Vec::new(),
    };
    assert_eq!(only_report(&data), nothing);
}

#[test]
fn a_judge_that_never_decides_has_no_side_and_no_kappa() {
    let data = AgreementData {
        votes: ten_pairs().map(|(a, b)| person_vote(a, b, Choice::BothBad)).collect(),
        judge_votes: ten_pairs()
            .flat_map(|(a, b)| [judge_vote(a, b, Choice::Tie), judge_vote(b, a, Choice::BothBad)])
            .collect(),
        ..AgreementData::default()
    };
    let report = only_report(&data);
    assert_eq!((report.left, report.agreement.kappa), (None, None));
    assert_value(report.agreement.share, 1.0);
    assert_value(report.consistency, 1.0);
}

#[test]
fn agreement_is_counted_by_pairs_and_both_orders() {
    // Seven pairs as the voter, two the other way round, and one by its place on the left.
    let judge_votes = ten_pairs().zip(0..).flat_map(|((a, b), number)| {
        let (straight, swapped) = match number {
            0..7 => (Choice::A, Choice::B),
            7..9 => (Choice::B, Choice::A),
            _ => (Choice::A, Choice::A),
        };
        [judge_vote(a, b, straight), judge_vote(b, a, swapped)]
    });
    let data = AgreementData {
        votes: ten_pairs().map(|(a, b)| person_vote(b, a, Choice::B)).collect(),
        judge_votes: judge_votes.collect(),
        ..AgreementData::default()
    };
    let report = only_report(&data);
    assert_value(report.agreement.share, 0.75);
    // Everything is decided, so chance agreement is one half.
    assert_value(report.agreement.kappa, 0.5);
    assert_value(report.consistency, 0.9);
    assert_value(report.left, 11.0 / 20.0);
    assert_eq!(report.agreement.voters_share, None);
}

#[test]
fn intervals_are_wider_where_pairs_share_a_build() {
    // Half of the verdicts change with the sides: those on one build's pairs, or on as many pairs of different builds.
    let votes = |pair: &dyn Fn(u128) -> (u128, u128)| {
        let of_pair = |number: u128| {
            let (a, b) = pair(number);
            let swapped = if number < 10 { Choice::A } else { Choice::B };
            [judge_vote(a, b, Choice::A), judge_vote(b, a, swapped)]
        };
        let judge_votes = (0..20).flat_map(of_pair).collect();
        only_report(&AgreementData { judge_votes, ..AgreementData::default() }).consistency.unwrap()
    };
    let apart = votes(&|number| (100 + number, 200 + number));
    let sharing = votes(&|number| (100 + number / 10, 200 + number));
    assert_eq!((apart.value, sharing.value), (0.5, 0.5));
    assert!(sharing.high - sharing.low > 1.5 * (apart.high - apart.low), "{sharing:?} and {apart:?}");
}

#[test]
fn voters_are_compared_with_each_other_and_each_voter_counts_once() {
    let voter = |number, choice, (a, b)| PersonVote::new(id(a), id(b), Some(id(number)), choice);
    let votes = ten_pairs().flat_map(|pair| {
        [
            voter(1, Choice::B, pair),
            // The last vote of a voter counts.
            voter(1, Choice::A, pair),
            voter(2, Choice::A, pair),
            voter(3, Choice::Tie, pair),
        ]
    });
    let data = AgreementData {
        votes: votes.collect(),
        judge_votes: ten_pairs().map(|(a, b)| judge_vote(a, b, Choice::A)).collect(),
        ..AgreementData::default()
    };
    let VoterAgreement { share, voters_share, voters_kappa, beyond_voters, .. } =
        only_report(&data).agreement;
    assert_value(share, 2.0 / 3.0);
    // Of three pairs of voters one agrees.
    assert_value(voters_share, 1.0 / 3.0);
    // Chance is (2/3)² / 2 + (1/3)², which is a third too.
    assert_value(voters_kappa, 0.0);
    assert_value(beyond_voters, 1.0 / 3.0);
}

#[test]
fn leanings_are_shares_on_the_pairs_where_the_builds_differ() {
    // The voters chose the larger build, and the one of the other provider, in four pairs; the judge in all.
    let mut builds: Vec<BuildFacts> =
        ten_pairs().flat_map(|(a, b)| [facts(a, "elsewhere", 900), facts(b, "here", 300)]).collect();
    let pair_of_equals = (1010, 1011);
    builds.extend([facts(1010, "here", 500), facts(1011, "here", 500)]);
    let votes = ten_pairs()
        .zip(0..)
        .map(|((a, b), number)| person_vote(a, b, if number < 4 { Choice::A } else { Choice::B }))
        .chain([person_vote(pair_of_equals.0, pair_of_equals.1, Choice::A)]);
    let judged = ten_pairs().chain([pair_of_equals]).map(|(a, b)| judge_vote(a, b, Choice::A));
    let data = AgreementData {
        votes: votes.collect(),
        judge_votes: judged.collect(),
        builds,
        providers: BTreeMap::from([(model_judge(), "here".to_owned())]),
        ..AgreementData::default()
    };
    let report = only_report(&data);
    assert_eq!(report.shared_pairs, 11);
    for (leaning, judge, voters) in [(report.larger_build, 1.0, 0.4), (report.own_provider, 0.0, 0.6)] {
        assert_value(leaning.judge, judge);
        assert_value(leaning.voters, voters);
        assert_value(leaning.beyond_voters, judge - voters);
        assert_eq!(leaning.when_voters_split, None);
        assert_eq!(leaning.judge.map(|measured| measured.count), Some(10));
    }
}

#[test]
fn a_judge_that_sees_more_sharply_than_voters_has_no_bias_where_they_are_split() {
    // A voter finds the better build three times in four, the judge always. The larger build is the better one on three
    // quarters of the pairs. Of four voters 4, 3, 2, 1 or 0 find it, just as often as chance would have it.
    let mut data = AgreementData::default();
    let mut pairs = (1..).map(|pair| (10 * pair, 10 * pair + 1));
    for (found, often) in [(4, 81), (3, 108), (2, 54), (1, 12), (0, 1)] {
        for (number, (better, worse)) in pairs.by_ref().take(4 * often).enumerate() {
            let blocks = if number % 4 < 3 { [900, 300] } else { [300, 900] };
            data.builds.extend([facts(better, "x", blocks[0]), facts(worse, "y", blocks[1])]);
            data.judge_votes.push(judge_vote(better, worse, Choice::A));
            let choices = (0..4).map(|voter| if voter < found { Choice::A } else { Choice::B });
            data.votes.extend(choices.map(|choice| person_vote(better, worse, choice)));
        }
    }
    let leaning = only_report(&data).larger_build;
    assert_value(leaning.judge, 0.75);
    assert_value(leaning.voters, 0.625);
    assert_value(leaning.when_voters_split, 0.5);
}

#[test]
fn builds_and_pairs_on_which_they_differ_most_come_first() {
    // Build b has b % of its votes, and the judge's score says the same, but for builds 2 and 9.
    let mut data = AgreementData::default();
    for build in 1..=10 {
        for vote in 0..10 {
            let choice = if vote < build { Choice::A } else { Choice::B };
            data.votes.push(person_vote(build, 1000 + build, choice));
        }
        let overall = match build {
            2 => 9.0,
            9 => 4.0,
            other => other as f64,
        };
        data.scores.push(JudgeScore { judge: model_judge(), build: id(build), overall });
    }
    // It prefers build 2 to 1002 in both orders, against eight of ten votes; build 9 only when it is on the left.
    data.judge_votes = vec![
        judge_vote(2, 1002, Choice::A),
        judge_vote(1002, 2, Choice::B),
        judge_vote(1009, 9, Choice::A),
        judge_vote(9, 1009, Choice::A),
        judge_vote(8, 1008, Choice::A),
        judge_vote(1008, 8, Choice::B),
    ];
    let report = only_report(&data);
    let listed: Vec<Uuid> = report.build_disagreements.iter().map(|differing| differing.build).collect();
    assert_eq!(listed[..2], [id(2), id(9)]);
    let first = &report.build_disagreements[0];
    assert_eq!((first.overall, first.voters_share, first.votes), (9.0, 0.2, 10));
    assert!(first.difference > 2.0 && report.build_disagreements[1].difference < -1.0);
    assert_eq!(
        report.pair_disagreements,
        [PairDisagreement {
            preferred: id(2),
            other: id(1002),
            votes_for_preferred: 2,
            votes_for_other: 8,
            votes: 10,
        }]
    );
}
