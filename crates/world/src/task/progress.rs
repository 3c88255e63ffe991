//! How far a run has come in its task.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::WorldTask;
use super::goal::{GOAL_REWARD, GoalState, Situation, StepChanges};
use super::marks::Marks;
use super::metrics::TravelLog;
use crate::events::Event;
use crate::player::Player;
use crate::world::World;

/// A reward that is not given in full yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenReward {
    pub identity: String,
    pub event: &'static str,
    pub times: u32,
    pub max_times: u32,
    pub reward: f64,
    #[serde(rename = "goal", skip_serializing_if = "is_false")]
    pub is_goal: bool,
    /// The predicates of a goal that do not hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<&'static str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// What has been counted, and what has been paid for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskProgress {
    /// How often each object of each event was counted.
    counters: BTreeMap<String, BTreeMap<String, u64>>,
    /// How often each reward was given.
    times: Vec<u32>,
    goal: GoalState,
    marks: Marks,
    /// Where the player's feet were at the start, and the look of the step before.
    origin: [f64; 3],
    position: [f64; 3],
    look: [i32; 2],
    #[serde(default)]
    pub(super) travel: TravelLog,
}

impl TaskProgress {
    pub(crate) fn new(task: &WorldTask, world: &World) -> Self {
        let player = &world.player;
        Self {
            counters: BTreeMap::new(),
            times: vec![0; task.rewards.len()],
            goal: GoalState::default(),
            marks: Marks::default(),
            origin: player.position,
            position: player.position,
            look: [player.yaw, player.pitch],
            travel: TravelLog::default(),
        }
    }

    /// Counts what a step has brought. Returns what it pays: each reward once at most, however many objects have risen.
    pub(crate) fn note(&mut self, task: &WorldTask, world: &World, events: &[Event]) -> f64 {
        for event in events.iter().filter(|event| event.count > 0) {
            let objects = self.counters.entry(event.kind.name().to_owned()).or_default();
            let count = objects.entry(event.object.to_owned()).or_default();
            *count = count.saturating_add(u64::from(event.count));
        }
        let mut paid = 0.0;
        for (reward, times) in task.rewards.iter().zip(&mut self.times) {
            let rises = events.iter().any(|event| event.count > 0 && reward.counts(event.kind, event.object));
            if rises && *times < reward.max_times {
                *times += 1;
                paid += reward.reward;
            }
        }
        self.marks.note(world, events);
        let from = self.position;
        let changes = self.changes(world);
        if let Some(goal) = &task.goal {
            let situation = Situation { world, marks: &self.marks, origin: self.origin };
            if goal.update(&mut self.goal, changes, &situation) {
                paid += GOAL_REWARD;
            }
        }
        self.note_travel(world, from);
        if paid > 0.0 {
            self.travel.note_payment(world.tick());
        }
        paid
    }

    /// Notes how far the player has come in a step, and how deep.
    fn note_travel(&mut self, world: &World, from: [f64; 3]) {
        let height = self.origin[1];
        self.travel.note_way(from, self.position);
        self.travel.note_depth(height - self.position[1]);
        for (cell, _) in world.volume.changed().iter().filter(|(cell, _)| self.marks.dug().contains(cell)) {
            self.travel.note_depth(height - f64::from(cell[1]));
        }
    }

    fn changes(&mut self, world: &World) -> StepChanges {
        let Player { position, yaw, pitch, .. } = world.player;
        let changes = StepChanges {
            blocks: !world.volume.changed().is_empty(),
            position: position != self.position,
            look: [yaw, pitch] != self.look,
        };
        (self.position, self.look) = (position, [yaw, pitch]);
        changes
    }

    /// Whether the goal holds in a world that has just begun.
    pub(crate) fn is_met_at_start(task: &WorldTask, world: &World) -> bool {
        let mut progress = Self::new(task, world);
        let everything = StepChanges { blocks: true, position: true, look: true };
        let situation = Situation { world, marks: &progress.marks, origin: progress.origin };
        task.goal.as_ref().is_some_and(|goal| goal.update(&mut progress.goal, everything, &situation))
    }

    /// How often each object of each event was counted.
    pub fn counters(&self) -> &BTreeMap<String, BTreeMap<String, u64>> {
        &self.counters
    }

    pub fn count(&self, event: &str, object: &str) -> u64 {
        self.counters.get(event).and_then(|objects| objects.get(object)).copied().unwrap_or_default()
    }

    /// How often a reward of the task was given, by its place.
    pub fn times(&self, reward: usize) -> u32 {
        self.times.get(reward).copied().unwrap_or_default()
    }

    pub fn is_goal_met(&self) -> bool {
        self.goal.is_met
    }

    /// Which cells the player has filled and dug.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// What has been paid so far.
    pub fn given(&self, task: &WorldTask) -> f64 {
        let rewards = task.rewards.iter().zip(&self.times);
        let rewards: f64 = rewards.map(|(reward, times)| reward.reward * f64::from(*times)).sum();
        rewards + if self.goal.is_met { GOAL_REWARD } else { 0.0 }
    }

    /// The score of the run: 10 if everything was paid that can be, 50 in tasks that are long.
    pub fn score(&self, task: &WorldTask) -> f64 {
        let payable = task.payable();
        if payable > 0.0 { task.max_score() * self.given(task) / payable } else { 0.0 }
    }

    /// Whether everything has been paid. A task without rewards is never done.
    pub fn is_done(&self, task: &WorldTask) -> bool {
        let is_paid = task.rewards.iter().zip(&self.times).all(|(reward, times)| *times >= reward.max_times);
        is_paid && task.payable() > 0.0 && (task.goal.is_none() || self.goal.is_met)
    }

    /// The rewards and the goal that are not paid in full yet.
    pub fn open(&self, task: &WorldTask) -> Vec<OpenReward> {
        let rewards = task.rewards.iter().zip(&self.times);
        let open = rewards.filter(|(reward, times)| **times < reward.max_times);
        let mut open: Vec<OpenReward> = open
            .map(|(reward, times)| OpenReward {
                identity: reward.identity.clone(),
                event: reward.event.name(),
                times: *times,
                max_times: reward.max_times,
                reward: reward.reward,
                is_goal: false,
                unmet: Vec::new(),
            })
            .collect();
        if let Some(goal) = task.goal.as_ref().filter(|_| !self.goal.is_met) {
            open.push(OpenReward {
                identity: "goal".to_owned(),
                event: "goal",
                times: 0,
                max_times: 1,
                reward: GOAL_REWARD,
                is_goal: true,
                unmet: goal.open(&self.goal).collect(),
            });
        }
        open
    }

    /// Whether progress that was read from a file could be one in this task.
    pub(crate) fn is_possible(&self, task: &WorldTask) -> bool {
        let times = self.times.iter().zip(&task.rewards);
        self.times.len() == task.rewards.len()
            && times.into_iter().all(|(times, reward)| *times <= reward.max_times)
            && self.marks.are_possible()
            && self.origin.iter().chain(&self.position).all(|part| part.abs() <= 1e4)
            && (task.goal.is_some() || !self.goal.is_met)
    }
}
