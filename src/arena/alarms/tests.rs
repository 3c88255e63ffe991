//! The rules, on simulated votes.

use std::collections::{BTreeSet, HashMap};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::window::{RecentVote, VoteWindow, WindowModel};
use super::*;
use crate::arena::elo::{self, Standing};
use crate::arena::votes::network_keys::NetworkDigest;
use crate::arena::{Choice, ModelKey};

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

/// The models' true ratings.
const MODELS: [(&str, f64); 5] =
    [("elm", 1700.0), ("fir", 1300.0), ("ash", 1500.0), ("oak", 1600.0), ("yew", 1400.0)];

fn key(name: &str) -> ModelKey {
    name.parse().unwrap()
}

fn network(number: u32) -> NetworkDigest {
    let mut digest = [0; 16];
    digest[..4].copy_from_slice(&number.to_be_bytes());
    NetworkDigest(digest)
}

/// Votes that are made up one after another.
struct Electorate {
    random: StdRng,
    votes: Vec<RecentVote>,
    /// The votes on each model before the window.
    earlier: i64,
}

impl Electorate {
    fn new(seed: u64, earlier: i64) -> Self {
        Self { random: StdRng::seed_from_u64(seed), votes: Vec::new(), earlier }
    }

    fn vote(&mut self, from: u32, minutes_ago: i64, choose: impl Fn(&mut StdRng, [usize; 2]) -> Choice) {
        let a = self.random.random_range(0..MODELS.len());
        let b = (a + self.random.random_range(1..MODELS.len())) % MODELS.len();
        let choice = choose(&mut self.random, [a, b]);
        self.votes.push(RecentVote {
            at: NOW - Duration::minutes(minutes_ago),
            voter: Uuid::from_u128(from.into()),
            network: Some(network(from)),
            models: [key(MODELS[a].0), key(MODELS[b].0)],
            elo: [MODELS[a].1, MODELS[b].1],
            choice,
            dwell_ms: Some(self.random.random_range(2_500..20_000)),
            counts: true,
            is_decided: false,
        });
    }

    /// Networks with one to twelve votes of people.
    fn people(mut self, networks: std::ops::Range<u32>) -> Self {
        for from in networks {
            for _ in 0..self.random.random_range(1..=12) {
                let minutes = self.random.random_range(0..24 * 60);
                self.vote(from, minutes, honest);
            }
        }
        self
    }

    /// Networks that vote whenever the model comes up, each this often.
    fn flood(mut self, networks: std::ops::Range<u32>, votes: usize, model: &str, besides: bool) -> Self {
        let model = MODELS.iter().position(|(name, _)| *name == model).unwrap();
        for from in networks {
            let mut cast = 0;
            while cast < votes {
                self.vote(from, 5, |random, pair| match pair.iter().position(|&shown| shown == model) {
                    Some(0) => Choice::A,
                    Some(_) => Choice::B,
                    None => honest(random, pair),
                });
                let is_on = self.votes.last().unwrap().is_on(&key(MODELS[model].0));
                cast += usize::from(is_on);
                if !is_on && !besides {
                    self.votes.pop();
                }
            }
        }
        self
    }

    fn window(&self) -> VoteWindow {
        let models = MODELS.iter().map(|(name, rating)| {
            let others = MODELS.iter().filter(|(other, _)| other != name);
            let share = others.map(|(_, other)| elo::expected(*rating, *other)).sum::<f64>() / 4.0;
            let model = key(name);
            let recent = || self.votes.iter().filter(|vote| vote.counts && vote.is_on(&model));
            let wins = recent().filter(|vote| vote.preferred() == Some(&model)).count() as i64
                + (self.earlier as f64 * share) as i64;
            let losses = recent().count() as i64 + self.earlier - wins;
            let standing = Standing { elo: *rating, wins, losses, ties: 0, both_bad: 0 };
            (model, WindowModel { name: (*name).to_owned(), standing })
        });
        let models: HashMap<_, _> = models.collect();
        VoteWindow { now: NOW, min_dwell_ms: 1500, votes: self.votes.clone(), models }
    }

    fn alarms(&self) -> Vec<VoteAlarm> {
        rules::alarms(&self.window())
    }

    /// The alarms that say more than that somebody votes much.
    fn warnings(&self) -> Vec<VoteAlarm> {
        self.alarms().into_iter().filter(|alarm| alarm.severity > AlarmSeverity::Notice).collect()
    }
}

fn honest(random: &mut StdRng, [a, b]: [usize; 2]) -> Choice {
    if random.random_bool(0.1) {
        return if random.random_bool(0.5) { Choice::Tie } else { Choice::BothBad };
    }
    if random.random_bool(elo::expected(MODELS[a].1, MODELS[b].1)) { Choice::A } else { Choice::B }
}

fn ids(networks: std::ops::Range<u32>) -> BTreeSet<String> {
    networks.map(|number| VoteSource::Network(network(number)).id()).collect()
}

fn kinds(alarms: &[VoteAlarm]) -> Vec<AlarmKind> {
    alarms.iter().map(|alarm| alarm.kind).collect()
}

#[test]
fn votes_of_people_raise_no_alarm() {
    for seed in 0..12 {
        for earlier in [0, 1000] {
            let people = Electorate::new(seed, earlier).people(0..150);
            let warnings = people.warnings();
            assert!(warnings.is_empty(), "seed {seed}, {earlier} earlier votes: {warnings:#?}");
        }
    }
}

#[test]
fn a_flood_from_fifty_networks_is_one_alarm_that_selects_just_the_flood() {
    for seed in 0..6 {
        for earlier in [0, 1000] {
            let flooded = Electorate::new(seed, earlier).people(0..100).flood(900..950, 3, "fir", false);
            let alarms = flooded.alarms();
            let crowd = &alarms[0];
            assert_eq!((crowd.kind, crowd.severity), (AlarmKind::Crowd, AlarmSeverity::Critical));
            let selected: BTreeSet<_> = crowd.selection.networks.iter().cloned().collect();
            let missed: Vec<_> = ids(900..950).difference(&selected).cloned().collect();
            assert!(missed.is_empty(), "seed {seed}: {missed:?}");
            assert!(selected.len() <= 52, "seed {seed}: {} networks of people", selected.len() - 50);
            assert_eq!(crowd.selection.model, Some(key("fir")));
            assert_eq!(alarms.iter().filter(|alarm| alarm.kind == AlarmKind::Crowd).count(), 1);
        }
    }
}

#[test]
fn a_flood_that_hides_among_other_votes_is_an_alarm_too() {
    let flooded = Electorate::new(1, 1000).people(0..100).flood(900..950, 4, "fir", true);
    let crowd = flooded.alarms().into_iter().find(|alarm| alarm.kind == AlarmKind::Crowd).unwrap();
    let selected: BTreeSet<_> = crowd.selection.networks.iter().cloned().collect();
    assert!(ids(900..950).is_subset(&selected), "{selected:?}");
}

#[test]
fn a_flood_of_single_votes_shows_in_the_models_win_rate() {
    let flooded = Electorate::new(1, 1000).people(0..100).flood(900..1000, 1, "fir", false);
    let warnings = flooded.warnings();
    let alarm = warnings.iter().find(|alarm| alarm.kind == AlarmKind::WinRate && alarm.subject == "fir");
    let alarm = alarm.unwrap_or_else(|| panic!("{warnings:#?}"));
    assert_eq!(alarm.severity, AlarmSeverity::Critical);
    assert!(ids(900..1000).is_subset(&alarm.selection.networks.iter().cloned().collect()));
}

#[test]
fn a_new_models_rating_predicts_nothing() {
    let flooded = Electorate::new(1, 0).flood(900..1000, 1, "fir", false);
    assert!(!kinds(&flooded.alarms()).contains(&AlarmKind::WinRate), "{:#?}", flooded.alarms());
}

#[test]
fn a_voter_with_one_favourite_is_an_alarm() {
    let flooded = Electorate::new(1, 1000).people(0..100).flood(900..901, 25, "fir", false);
    let warnings = flooded.warnings();
    let found: Vec<_> = warnings.iter().filter(|alarm| alarm.kind == AlarmKind::OneModel).collect();
    // The voter has a network of its own, which stands for both.
    assert_eq!(found.len(), 1, "{warnings:#?}");
    assert_eq!(found[0].selection.networks, Vec::from_iter(ids(900..901)));
    assert_eq!((found[0].votes, &found[0].selection.model), (25, &Some(key("fir"))));
    assert!(found[0].sentence.contains("prefers fir in 25 of 25 votes"), "{}", found[0].sentence);
}

#[test]
fn a_voter_who_always_chooses_the_same_side_is_an_alarm() {
    let mut people = Electorate::new(1, 1000).people(0..100);
    for minute in 0..30 {
        people.vote(900, minute, |_, _| Choice::B);
    }
    let warnings = people.warnings();
    assert_eq!(kinds(&warnings), [AlarmKind::OneSide], "{warnings:#?}");
    assert_eq!(warnings[0].sentence, "Network 00000384 chose the right side 30 times out of 30.");
}

#[test]
fn a_voter_who_barely_looks_is_noticed_and_only_the_fast_votes_are_selected() {
    let mut people = Electorate::new(1, 1000).people(0..100);
    for number in 0..30 {
        people.vote(900, number, honest);
        people.votes.last_mut().unwrap().dwell_ms = Some(if number < 3 { 9_000 } else { 1_520 });
    }
    let fast = people.alarms().into_iter().find(|alarm| alarm.kind == AlarmKind::Fast).unwrap();
    assert_eq!((fast.votes, fast.selection.max_dwell_ms), (27, Some(1_800)));
    assert_eq!(fast.severity, AlarmSeverity::Notice);
}

#[test]
fn a_class_that_votes_together_is_noticed_and_no_more() {
    let mut people = Electorate::new(2, 1000).people(0..40);
    for number in 0..200 {
        people.vote(900, number, honest);
        people.votes.last_mut().unwrap().voter = Uuid::from_u128(u128::from(number as u64 % 25) + 5_000);
    }
    let alarms = people.alarms();
    assert_eq!(kinds(&alarms), [AlarmKind::Busy], "{alarms:#?}");
    assert!(alarms[0].sentence.ends_with("as 25 voters."), "{}", alarms[0].sentence);
}

#[test]
fn votes_that_were_decided_about_raise_no_alarm() {
    let mut flooded = Electorate::new(1, 1000).people(0..100).flood(900..950, 3, "fir", false);
    for vote in flooded.votes.iter_mut().filter(|vote| vote.network >= Some(network(900))) {
        vote.is_decided = true;
    }
    assert!(flooded.warnings().is_empty(), "{:#?}", flooded.warnings());
}

#[test]
fn a_report_lists_alarmed_networks_first() {
    let flooded = Electorate::new(1, 1000).people(0..100).flood(900..910, 3, "fir", false);
    let report = VoteReport::of(&flooded.window(), ExcludedVotes::default());
    // The win rate's alarm may have a network of people, too.
    let first: BTreeSet<_> = report.networks.iter().take(12).map(|network| network.source.id()).collect();
    assert!(ids(900..910).is_subset(&first), "{:#?}", report.alarms);
    assert_eq!(report.networks.len(), MAX_SUMMARIES);
    assert_eq!(report.totals.networks, 110);
}
