//! The driver: what presses keys in a run, notes them, and says what has failed.

use world::{Action, Cell, Episode, Event, ItemId, StepOutcome, World};

use crate::compact::CompactKeys;

/// A run that a solver plays.
pub trait SolverRun {
    fn world(&self) -> &World;
    fn step(&mut self, action: &Action) -> StepOutcome;
}

impl SolverRun for Episode {
    fn world(&self) -> &World {
        Self::world(self)
    }

    fn step(&mut self, action: &Action) -> StepOutcome {
        Self::step(self, action)
    }
}

impl SolverRun for World {
    fn world(&self) -> &World {
        self
    }

    fn step(&mut self, action: &Action) -> StepOutcome {
        let events = Self::step(self, action);
        StepOutcome { terminated: !self.player().is_alive(), events, ..StepOutcome::default() }
    }
}

/// Plays a run: sees all of the world, and acts by compact actions alone.
pub struct Solver<'run> {
    run: &'run mut dyn SolverRun,
    /// The numbers of the buttons and of the camera, of all steps so far.
    pub pressed: Vec<[u64; 2]>,
    pub events: Vec<Event>,
    pub score: f32,
    max_steps: usize,
    is_over: bool,
    /// What is being done, from the outermost on.
    doing: Vec<String>,
    /// Whether the player sneaks, which stops at edges, also while walking.
    pub is_careful: bool,
}

/// What a solver could not do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{tried}: {why}; at {position:.2?}, looking {look:.2?} (pitch, yaw), after {steps} steps")]
pub struct SolveError {
    /// What was being done, from the outermost on.
    pub tried: String,
    pub why: String,
    pub position: [f64; 3],
    /// Pitch and yaw, in degrees.
    pub look: [f64; 2],
    pub steps: usize,
}

pub type Solved<T = ()> = Result<T, SolveError>;

impl<'run> Solver<'run> {
    /// A solver that gives up after so many steps.
    pub fn new(run: &'run mut dyn SolverRun, max_steps: usize) -> Self {
        Self {
            run,
            pressed: Vec::new(),
            events: Vec::new(),
            score: 0.0,
            max_steps,
            is_over: false,
            doing: Vec::new(),
            is_careful: false,
        }
    }

    pub fn world(&self) -> &World {
        self.run.world()
    }

    pub fn steps(&self) -> usize {
        self.pressed.len()
    }

    pub fn position(&self) -> [f64; 3] {
        self.world().player().position
    }

    /// Goes on by a step. One who is careful sneaks.
    pub fn step(&mut self, keys: CompactKeys) -> Solved {
        self.press(CompactKeys { sneak: keys.sneak || self.is_careful, ..keys })
    }

    /// Goes on by a step with just these keys.
    pub fn press(&mut self, keys: CompactKeys) -> Solved {
        if self.is_over {
            return self.fail("the run is over");
        }
        if self.steps() >= self.max_steps {
            return self.fail(format!("{} steps are not enough", self.max_steps));
        }
        let outcome = self.run.step(&keys.action());
        self.pressed.push(keys.numbers());
        self.score += outcome.reward;
        self.is_over = outcome.is_end();
        self.events.extend(outcome.events);
        Ok(())
    }

    /// Does something under a name that errors tell.
    pub fn doing<T>(&mut self, what: String, act: impl FnOnce(&mut Self) -> Solved<T>) -> Solved<T> {
        self.doing.push(what);
        let done = act(self)?;
        self.doing.pop();
        Ok(done)
    }

    /// The error that what is being done does not work.
    pub fn fail<T>(&self, why: impl Into<String>) -> Solved<T> {
        let player = self.world().player();
        Err(SolveError {
            tried: self.doing.join(", "),
            why: why.into(),
            position: player.position,
            look: [player.pitch, player.yaw].map(|angle| f64::from(angle) / 1000.0),
            steps: self.steps(),
        })
    }

    pub fn wait(&mut self, steps: usize) -> Solved {
        (0..steps).try_for_each(|_| self.step(CompactKeys::default()))
    }

    /// Holds keys until something holds, for at most so many steps. Returns how many it took.
    pub fn hold_until(
        &mut self,
        keys: CompactKeys,
        bound: usize,
        holds: impl Fn(&Self) -> bool,
    ) -> Solved<usize> {
        for steps in 0..=bound {
            if holds(self) {
                return Ok(steps);
            }
            if steps < bound {
                self.step(keys)?;
            }
        }
        self.fail(format!("it has not come about in {bound} steps"))
    }

    /// Waits until something holds, for at most so many steps.
    pub fn wait_until(&mut self, bound: usize, holds: impl Fn(&Self) -> bool) -> Solved<usize> {
        self.hold_until(CompactKeys::default(), bound, holds)
    }

    /// Waits until the player stands still, so that what is aimed at stays where it is.
    pub fn settle(&mut self) -> Solved {
        self.wait_until(60, |solver| {
            let player = solver.world().player();
            let [x, _, z] = player.velocity;
            let is_held = player.is_on_ground || !solver.is_in_air();
            is_held && x.abs() < 0.003 && z.abs() < 0.003
        })?;
        Ok(())
    }

    /// Whether neither ground, ladder nor water bears the player.
    pub fn is_in_air(&self) -> bool {
        let block = self.world().volume().block(self.feet());
        !self.world().player().is_on_ground && !block.kind().climbable && !block.is_liquid()
    }

    /// The cell of the feet. Who stands on a part of a block is in its cell.
    pub fn feet(&self) -> Cell {
        let [x, y, z] = self.position();
        [x.floor() as i32, (y + 1e-3).floor() as i32, z.floor() as i32]
    }

    /// Takes an item from the hot bar into the hand.
    pub fn select(&mut self, id: &str) -> Solved {
        let Some(item) = ItemId::of(id) else { return self.fail(format!("there is no item {id}")) };
        let slots = self.world().inventory().slots();
        let found = slots.iter().take(9).position(|stack| stack.is_some_and(|stack| stack.item == item));
        match found {
            Some(slot) => self.select_slot(slot),
            None => self.fail(format!("there is no {id} in the hot bar")),
        }
    }

    /// Chooses a slot of the hot bar, from 0.
    pub fn select_slot(&mut self, slot: usize) -> Solved {
        if self.world().player().slot == slot {
            return Ok(());
        }
        self.step(CompactKeys { hotbar: slot as u8 + 1, ..CompactKeys::default() })
    }
}
