//! Tasks from their files: what is read, and what is said of what is wrong.

use super::command::TaskCommand;
use super::file::TaskFile;
use super::reward::TaskReward;
use super::{LONG, LONG_STEPS, MAX_STEPS, TaskError, TaskProblem, USUAL_STEPS, WorldTask};
use crate::events::EventKind;
use crate::scene::Scene;

/// The most commands, rewards and places of a task.
const MAX_ENTRIES: usize = 200;

/// The most things that all places of a task put up, which are looked for one after the other.
const MAX_THINGS: u32 = 400;

impl WorldTask {
    /// Reads a task file. Its name is `category/name`, or a name alone.
    ///
    /// # Errors
    /// With all that is wrong, in words, and the lines.
    pub fn parse(name: &str, text: &str) -> Result<Self, TaskError> {
        let (task, problems) = Self::read(name, text)?;
        if problems.is_empty() { Ok(task) } else { Err(TaskError { problems }) }
    }

    /// Reads a task file of somebody else's: what is not understood in it is left out, with a warning each.
    ///
    /// # Errors
    /// If it is not a task file at all.
    pub fn parse_leniently(name: &str, text: &str) -> Result<Self, TaskError> {
        let (mut task, problems) = Self::read(name, text)?;
        task.warnings.extend(problems);
        Ok(task)
    }

    fn read(name: &str, text: &str) -> Result<(Self, Vec<TaskProblem>), TaskError> {
        let file = TaskFile::read(text)?;
        let (category, name) = name.rsplit_once('/').unwrap_or(("custom", name));
        let mut task = Self {
            name: name.to_owned(),
            category: category.to_owned(),
            source: Some(text.into()),
            max_steps: if category == LONG { LONG_STEPS } else { USUAL_STEPS },
            ..Self::free_play(Scene::Meadow)
        };
        let mut reading = TaskReading { task: &mut task, problems: Vec::new() };
        reading.take(file);
        let problems = reading.problems;
        Ok((task, problems))
    }
}

/// A task while its file is read, with all that is wrong with it.
struct TaskReading<'a> {
    task: &'a mut WorldTask,
    problems: Vec<TaskProblem>,
}

impl TaskReading<'_> {
    fn take(&mut self, file: TaskFile) {
        match file.text {
            Some(text) if text.value.contains(|letter: char| letter.is_control() && letter != '\n') => {
                self.problems.push(TaskProblem::at(&text, "text has letters that cannot be seen".to_owned()));
            }
            Some(text) if !text.value.trim().is_empty() && text.value.chars().count() <= 2000 => {
                self.task.text = text.value.trim().to_owned();
            }
            Some(text) => self.problems.push(TaskProblem::at(&text, "text has 1 to 2000 letters".to_owned())),
            None => self.note(None, "text is missing: it says what is wanted"),
        }
        if let Some(scene) = file.scene {
            match scene.value.scene() {
                Ok((scene, start)) => (self.task.scene, self.task.start) = (scene, start),
                Err(words) => self.problems.push(TaskProblem::at(&scene, words)),
            }
        }
        let mut things = 0;
        for place in self.bounded(file.places, "places") {
            things += u32::from(place.value.count());
            match place.value.check() {
                Ok(()) if things > MAX_THINGS => {
                    let words = format!("all places together put up at most {MAX_THINGS} things");
                    self.problems.push(TaskProblem::at(&place, words));
                }
                Ok(()) => {
                    for block in place.value.blocks().into_iter().filter(|block| block.block.is_none()) {
                        let words = format!("the world has no {} yet", block.id);
                        self.task.warnings.push(TaskProblem::at(&place, words));
                    }
                    self.task.places.push(place.value);
                }
                Err(words) => self.problems.push(TaskProblem::at(&place, words)),
            }
        }
        for command in self.bounded(file.custom_init_commands, "commands") {
            match TaskCommand::parse(&command.value) {
                Ok(parsed) => {
                    if let Some(words) = parsed.lack() {
                        self.task.warnings.push(TaskProblem::at(&command, words));
                    }
                    self.task.commands.push(parsed);
                }
                Err(error) if error.is_missing => {
                    self.task.warnings.push(TaskProblem::at(&command, error.words));
                }
                Err(error) => self.problems.push(TaskProblem::at(&command, error.words)),
            }
        }
        let mut rewards = self.bounded(file.reward_cfg, "rewards");
        rewards.extend(self.bounded(file.milestone_reward_cfg, "rewards"));
        for reward in rewards {
            match TaskReward::of(&reward.value) {
                Ok(parsed) => self.task.rewards.push(parsed),
                Err(words) => self.problems.push(TaskProblem::at(&reward, words)),
            }
        }
        if let Some(goal) = file.goal {
            match goal.value.check().and_then(|()| goal.value.check_blocks()) {
                Ok(()) => self.task.goal = Some(goal.value),
                Err(words) => self.problems.push(TaskProblem::at(&goal, words)),
            }
        }
        if let Some(steps) = file.max_steps {
            self.number(&steps, 1..=MAX_STEPS, "max_steps");
            self.task.max_steps = steps.value.clamp(1, MAX_STEPS);
        }
        if let Some(difficulty) = file.difficulty {
            let number = serde_saphyr::Spanned::new(
                u64::from(difficulty.value),
                difficulty.referenced,
                difficulty.defined,
            );
            self.number(&number, 1..=3, "difficulty");
            self.task.difficulty = Some(difficulty.value.clamp(1, 3));
        }
        (self.task.metrics, self.task.needs) = (file.metrics, file.needs);
        if self.task.payable() <= 0.0 && self.problems.is_empty() {
            self.note(None, "nothing is paid: a task has rewards or a goal");
        }
        self.note_unpayable();
    }

    /// Notes rewards for what never happens here.
    fn note_unpayable(&mut self) {
        for reward in &self.task.rewards {
            let why = match reward.event {
                EventKind::KillEntity
                | EventKind::Leash
                | EventKind::Hook
                | EventKind::Ride
                | EventKind::Mobs => "this world has no creatures with a will",
                EventKind::Sleep => "nobody sleeps in this world yet",
                EventKind::Brew => "nothing is brewed in this world yet",
                EventKind::Enchant => "nothing is enchanted in this world yet",
                _ => continue,
            };
            let words = format!("{} cannot be paid: {why}", reward.event.name());
            self.problems.push(TaskProblem { line: None, words });
        }
    }

    fn bounded<T>(&mut self, list: Option<Vec<T>>, what: &str) -> Vec<T> {
        let mut list = list.unwrap_or_default();
        if list.len() > MAX_ENTRIES {
            self.note(None, &format!("a task has at most {MAX_ENTRIES} {what}"));
            list.truncate(MAX_ENTRIES);
        }
        list
    }

    fn number(
        &mut self,
        number: &serde_saphyr::Spanned<u64>,
        range: std::ops::RangeInclusive<u64>,
        what: &str,
    ) {
        if !range.contains(&number.value) {
            let words = format!("{what} goes from {} to {}", range.start(), range.end());
            self.problems.push(TaskProblem::at(number, words));
        }
    }

    fn note(&mut self, line: Option<u64>, words: &str) {
        self.problems.push(TaskProblem { line, words: words.to_owned() });
    }
}
