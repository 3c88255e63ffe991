//! What the six scores make together, and what a run's reward and a judge's scores make together.
//!
//! Criteria that do not apply, and those that a judge left out, have no part in a mean; the weights of the others are
//! divided by their sum.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserializer, Error as _};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::criteria::{Criterion, CriterionSet};

/// The best score for one criterion.
pub const MAX_SCORE: f64 = 10.0;

/// A judge's scores, each from 0 to 10, by criterion. As JSON, an object with the criteria's keys.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores([Option<f64>; 6]);

/// How scores are put together. Results of different revisions cannot be compared.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
pub enum Revision {
    /// The mean of the reward and of the judge's weighted scores.
    #[default]
    #[serde(rename = "mcu-1")]
    Mcu1,
    /// The plain mean of the judge's scores, without the reward.
    #[serde(rename = "mcu-0")]
    Mcu0,
    /// Like `mcu-1`, but 0 for whoever earned no reward.
    #[serde(rename = "mcu-1-code")]
    Mcu1Code,
}

/// Long tasks are scored out of 50, all others out of 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskLength {
    Short,
    Long,
}

/// What a judge made of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VideoScore {
    /// No judge was asked for.
    NoJudge,
    /// The judge has failed or not answered yet. Such a run has no score, and never 0.
    Missing,
    /// Out of the task's maximum, as [`TaskLength::video_score`] gives it.
    Scored(f64),
}

impl Scores {
    pub fn get(&self, criterion: Criterion) -> Option<f64> {
        self.0[criterion.index()]
    }

    /// Scores beyond the scale are moved to its end. NaN is no score.
    pub fn set(&mut self, criterion: Criterion, score: f64) {
        self.0[criterion.index()] = (!score.is_nan()).then(|| score.clamp(0.0, MAX_SCORE));
    }

    pub fn with(mut self, criterion: Criterion, score: f64) -> Self {
        self.set(criterion, score);
        self
    }

    /// The criteria that have a score.
    pub fn given(&self) -> CriterionSet {
        Criterion::ALL.into_iter().filter(|criterion| self.get(*criterion).is_some()).collect()
    }

    /// The criteria that apply and have no score.
    pub fn missing(&self, applicable: CriterionSet) -> Vec<Criterion> {
        applicable.iter().filter(|criterion| self.get(*criterion).is_none()).collect()
    }

    /// The scores of the criteria that apply, without all others.
    pub fn only(&self, applicable: CriterionSet) -> Self {
        let mut scores = Self::default();
        for criterion in applicable.iter() {
            scores.0[criterion.index()] = self.get(criterion);
        }
        scores
    }

    /// From 0 to 10. None if no criterion that applies has a score.
    pub fn overall(&self, applicable: CriterionSet, revision: Revision) -> Option<f64> {
        let weighted = applicable
            .iter()
            .filter_map(|criterion| Some((revision.weight(criterion), self.get(criterion)?)));
        let (weights, sum) = weighted
            .fold((0.0, 0.0), |(weights, sum), (weight, score)| (weights + weight, sum + weight * score));
        (weights > 0.0).then(|| (sum / weights).clamp(0.0, MAX_SCORE))
    }
}

impl FromIterator<(Criterion, f64)> for Scores {
    fn from_iter<I: IntoIterator<Item = (Criterion, f64)>>(given: I) -> Self {
        given.into_iter().fold(Self::default(), |scores, (criterion, score)| scores.with(criterion, score))
    }
}

impl Serialize for Scores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for criterion in self.given().iter() {
            map.serialize_entry(criterion.key(), &self.get(criterion))?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Scores {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = std::collections::BTreeMap::<String, Option<f64>>::deserialize(deserializer)?;
        let mut scores = Self::default();
        for (key, score) in given {
            let criterion: Criterion = key.parse().map_err(D::Error::custom)?;
            if let Some(score) = score {
                scores.set(criterion, score);
            }
        }
        Ok(scores)
    }
}

impl Revision {
    pub const ALL: [Self; 3] = [Self::Mcu1, Self::Mcu0, Self::Mcu1Code];

    pub fn name(self) -> &'static str {
        match self {
            Self::Mcu1 => "mcu-1",
            Self::Mcu0 => "mcu-0",
            Self::Mcu1Code => "mcu-1-code",
        }
    }

    /// The score of a run, out of the task's maximum; None while it cannot be known. `sim` is the reward's score, as
    /// [`TaskLength::sim_score`] gives it: None if the task pays nothing, and then the judge's counts alone.
    pub fn run_score(self, sim: Option<f64>, video: VideoScore) -> Option<f64> {
        let video = match (self, video) {
            (_, VideoScore::Missing) | (Self::Mcu0, VideoScore::NoJudge) => return None,
            (Self::Mcu0, VideoScore::Scored(video)) => return Some(video),
            (_, VideoScore::NoJudge) => None,
            (_, VideoScore::Scored(video)) => Some(video),
        };
        match (sim, video) {
            (Some(sim), _) if sim <= 0.0 && self == Self::Mcu1Code => Some(0.0),
            (Some(sim), Some(video)) => Some(f64::midpoint(sim, video)),
            (sim, video) => sim.or(video),
        }
    }

    fn weight(self, criterion: Criterion) -> f64 {
        match self {
            Self::Mcu1 | Self::Mcu1Code => criterion.weight(),
            Self::Mcu0 => 1.0,
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Revision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|revision| revision.name() == text);
        found.ok_or_else(|| format!("{text:?} is not one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

impl TaskLength {
    pub fn max_score(self) -> f64 {
        match self {
            Self::Short => 10.0,
            Self::Long => 50.0,
        }
    }

    /// The share of the payable reward that was given, on the task's scale. None if nothing is payable.
    pub fn sim_score(self, given: f64, payable: f64) -> Option<f64> {
        let share = given / payable;
        (payable > 0.0 && share.is_finite()).then(|| self.max_score() * share.clamp(0.0, 1.0))
    }

    /// A judge's overall score, which is out of 10, on the task's scale.
    pub fn video_score(self, overall: f64) -> f64 {
        overall * self.max_score() / MAX_SCORE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Criterion::{
        ActionControl, CreativeAttempts, Efficiency, ErrorRecognition, MaterialUsage, TaskProgress,
    };

    const SIX: [f64; 6] = [8.0, 6.0, 4.0, 10.0, 2.0, 0.0];

    fn scores(values: [f64; 6]) -> Scores {
        Criterion::ALL.into_iter().zip(values).collect()
    }

    fn all_but(left_out: &[Criterion]) -> CriterionSet {
        Criterion::ALL.into_iter().filter(|criterion| !left_out.contains(criterion)).collect()
    }

    #[track_caller]
    fn assert_close(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?}, not {expected}");
    }

    /// A criterion's share of the overall score: what 10 points in it alone earn, out of 10.
    #[test]
    fn weights_are_renormalised_over_the_criteria_that_apply() {
        for (left_out, weights) in [
            (&[][..], [0.4, 0.15, 0.15, 0.15, 0.1, 0.05]),
            (&[MaterialUsage], [0.470_588, 0.0, 0.176_471, 0.176_471, 0.117_647, 0.058_824]),
            (&[ActionControl, ErrorRecognition], [0.533_333, 0.2, 0.0, 0.2, 0.0, 0.066_667]),
            (
                &[MaterialUsage, ActionControl, Efficiency, ErrorRecognition, CreativeAttempts],
                [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            ),
        ] {
            for (criterion, weight) in Criterion::ALL.into_iter().zip(weights) {
                let alone = scores([0.0; 6]).with(criterion, 10.0);
                let overall = alone.overall(all_but(left_out), Revision::Mcu1).unwrap();
                assert!((overall / 10.0 - weight).abs() < 1e-6, "{left_out:?} {criterion}: {overall}");
            }
        }
    }

    #[test]
    fn worked_examples() {
        let all = CriterionSet::ALL;
        // .4 × 8 + .15 × (6 + 4 + 10) + .1 × 2 + .05 × 0
        assert_close(scores(SIX).overall(all, Revision::Mcu1), 6.4);
        assert_close(scores(SIX).overall(all, Revision::Mcu1Code), 6.4);
        // (8 + 6 + 4 + 10 + 2 + 0) / 6
        assert_close(scores(SIX).overall(all, Revision::Mcu0), 5.0);
        // (.4 × 8 + .15 × (4 + 10) + .1 × 2) / .85
        assert_close(scores(SIX).overall(all_but(&[MaterialUsage]), Revision::Mcu1), 5.5 / 0.85);
        // A build: (.4 × 8 + .15 × 6 + .15 × 10) / .75
        let of_build = all_but(&[ActionControl, ErrorRecognition]);
        assert_close(scores(SIX).overall(of_build, Revision::Mcu1), 5.6 / 0.75);
        assert_close(scores(SIX).overall(of_build, Revision::Mcu0), 6.0);
    }

    #[test]
    fn what_was_not_answered_is_left_out_and_reported() {
        let some: Scores = [(TaskProgress, 8.0), (CreativeAttempts, 2.0)].into_iter().collect();
        let of_build = all_but(&[ActionControl, ErrorRecognition]);
        assert_close(some.overall(of_build, Revision::Mcu1), (0.4 * 8.0 + 0.05 * 2.0) / 0.45);
        assert_eq!(some.missing(of_build), [MaterialUsage, Efficiency]);
        assert_eq!(Scores::default().overall(of_build, Revision::Mcu1), None);
        assert_eq!(some.overall(CriterionSet::default(), Revision::Mcu1), None);
        // Scores for what does not apply do not count.
        assert_eq!(Scores::default().with(ActionControl, 9.0).overall(of_build, Revision::Mcu1), None);
    }

    #[test]
    fn scores_stay_on_the_scale() {
        for (given, kept) in [
            (-3.0, Some(0.0)),
            (70.0, Some(10.0)),
            (f64::INFINITY, Some(10.0)),
            (f64::NEG_INFINITY, Some(0.0)),
            (f64::NAN, None),
            (7.25, Some(7.25)),
        ] {
            assert_eq!(Scores::default().with(Efficiency, given).get(Efficiency), kept, "{given}");
        }
    }

    #[test]
    fn runs_are_scored_by_their_revision() {
        use Revision::{Mcu0, Mcu1, Mcu1Code};
        use VideoScore::{Missing, NoJudge, Scored};
        for (revision, sim, video, score) in [
            (Mcu1, Some(10.0), Scored(8.4), Some(9.2)),
            (Mcu1, Some(0.0), Scored(8.4), Some(4.2)),
            (Mcu1Code, Some(0.0), Scored(8.4), Some(0.0)),
            (Mcu1Code, Some(2.5), Scored(8.4), Some(5.45)),
            (Mcu0, Some(10.0), Scored(8.4), Some(8.4)),
            // Without a judge.
            (Mcu1, Some(7.5), NoJudge, Some(7.5)),
            (Mcu1Code, Some(0.0), NoJudge, Some(0.0)),
            (Mcu0, Some(7.5), NoJudge, None),
            // A judge that failed.
            (Mcu1, Some(7.5), Missing, None),
            (Mcu0, Some(7.5), Missing, None),
            (Mcu1Code, Some(0.0), Missing, None),
            // A task that pays nothing.
            (Mcu1, None, Scored(6.0), Some(6.0)),
            (Mcu1, None, NoJudge, None),
        ] {
            let found = revision.run_score(sim, video);
            let same = match (found, score) {
                (Some(found), Some(score)) => (found - score).abs() < 1e-9,
                (found, score) => found == score,
            };
            assert!(same, "{revision} {sim:?} {video:?}: {found:?}, not {score:?}");
        }
    }

    #[test]
    fn long_tasks_are_scored_out_of_fifty() {
        let (short, long) = (TaskLength::Short, TaskLength::Long);
        assert_eq!([short.sim_score(30.0, 40.0), long.sim_score(30.0, 40.0)], [Some(7.5), Some(37.5)]);
        assert_eq!([long.sim_score(50.0, 40.0), long.sim_score(-1.0, 40.0)], [Some(50.0), Some(0.0)]);
        for payable in [0.0, -1.0, f64::NAN] {
            assert_eq!(short.sim_score(1.0, payable), None);
        }
        let video = VideoScore::Scored(long.video_score(8.4));
        assert_close(Revision::Mcu1.run_score(long.sim_score(30.0, 40.0), video), 39.75);
        assert_close(Revision::Mcu0.run_score(Some(37.5), video), 42.0);
    }

    #[test]
    fn scores_are_an_object_by_key() {
        let given = Scores::default().with(TaskProgress, 7.0).with(Efficiency, 5.5);
        let json = serde_json::to_string(&given).unwrap();
        assert_eq!(json, r#"{"task_progress":7.0,"efficiency":5.5}"#);
        assert_eq!(serde_json::from_str::<Scores>(&json).unwrap(), given);
        assert!(serde_json::from_str::<Scores>(r#"{"beauty":7}"#).is_err());
        let with_null = r#"{"task_progress":7,"efficiency":5.5,"action_control":null}"#;
        assert_eq!(serde_json::from_str::<Scores>(with_null).unwrap(), given);
    }

    #[test]
    fn revisions_are_known_by_their_names() {
        for revision in Revision::ALL {
            assert_eq!(revision.name().parse(), Ok(revision));
            assert_eq!(serde_json::to_value(revision).unwrap(), revision.name());
        }
        assert_eq!(Revision::default().name(), "mcu-1");
        assert_eq!(
            "mcu-2".parse::<Revision>(),
            Err("\"mcu-2\" is not one of mcu-1, mcu-0, mcu-1-code".to_owned())
        );
    }
}
