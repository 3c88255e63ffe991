//! What is scored in a task, and what the player begins with, in words for people.

use std::collections::BTreeSet;

use craft::ItemId;

use super::command::TaskCommand;
use super::goal::{CountPlaced, GOAL_REWARD, Goal, Predicate};
use super::reward::TaskReward;
use super::sets::BlockSet;
use super::{Metric, Need, TaskMetrics, WorldTask};
use crate::events::EventKind;

/// The most things that a sentence lists.
const MAX_LISTED: usize = 6;

/// A group of blocks is named instead of them if it has at least so many.
const MIN_GROUP: usize = 3;

impl WorldTask {
    /// What is paid, a phrase for each reward and for the goal: "10 points for crafting oak planks, once".
    pub fn payments(&self) -> Vec<String> {
        let goal = self.goal.iter().map(Goal::payment);
        self.rewards.iter().map(TaskReward::payment).chain(goal).collect()
    }

    /// The items that the player is given at the start, with how many of each, in the order of the file.
    pub fn kit(&self) -> Vec<(ItemId, u32)> {
        let mut kit: Vec<(ItemId, u32)> = Vec::new();
        for command in &self.commands {
            let (item, count) = match command {
                TaskCommand::Give(item, count) => (*item, *count),
                TaskCommand::ReplaceItem(_, Some(stack)) => (stack.item, u32::from(stack.count)),
                TaskCommand::Clear => {
                    kit.clear();
                    continue;
                }
                _ => continue,
            };
            match kit.iter_mut().find(|(known, _)| *known == item) {
                Some((_, known)) => *known += count,
                None => kit.push((item, count)),
            }
        }
        kit
    }
}

impl TaskReward {
    fn payment(&self) -> String {
        let ids: BTreeSet<&str> = self.objects.iter().map(String::as_str).collect();
        let are_blocks = !ids.is_empty() && ids.iter().all(|id| craft::is_block(id));
        let doing = match self.event {
            EventKind::CraftItem => "crafting",
            EventKind::MineBlock => "mining",
            EventKind::PickupItem => "picking up",
            EventKind::UseItem if are_blocks => "placing",
            EventKind::UseItem => "using",
            EventKind::KillEntity => "killing",
            EventKind::DropItem => "dropping",
            EventKind::Open => "opening",
            EventKind::Sleep => "sleeping in",
            EventKind::Leash => "leashing",
            EventKind::Hook => "hooking",
            EventKind::Ride => "riding",
            EventKind::Smelt => "smelting",
            EventKind::Brew => "brewing",
            EventKind::Enchant => "enchanting",
            EventKind::Mobs => "meeting",
        };
        let what = if ids.is_empty() { "anything".to_owned() } else { listed(&ids, true) };
        let times = if self.max_times == 1 {
            "once".to_owned()
        } else {
            format!("each time, up to {} times", self.max_times)
        };
        format!("{} for {doing} {what}, {times}", points(self.reward))
    }
}

impl Goal {
    fn payment(&self) -> String {
        let wanted: Vec<String> = self.predicates.iter().map(Predicate::wanted).collect();
        format!("{}, once, as soon as {}", points(GOAL_REWARD), wanted.join(", and at the same time "))
    }
}

impl Predicate {
    /// What must be so.
    fn wanted(&self) -> String {
        match self {
            Self::CountPlaced(count) => format!("{} stand where the player has placed them", count.wanted()),
            Self::Column(column) => {
                format!("a column of placed {} is {} blocks high", blocks(&column.of), column.height)
            }
            Self::Wall(wall) => format!(
                "a straight wall of placed blocks without holes is {} blocks long and {} high",
                wall.length, wall.height
            ),
            Self::Tower(tower) => format!(
                "a tower of placed blocks is {} blocks high and no wider than {}, and the player stands on top",
                tower.height, tower.base
            ),
            Self::Maze(maze) => format!(
                "between placed walls, two blocks high, a way leads from one opening to another with {} bends \
                 or more",
                maze.bends
            ),
            Self::Ring(ring) => {
                let inside = ring.around.as_ref().map(|around| format!(", with {} inside", around.wanted()));
                format!(
                    "placed {} enclose {} cells of ground or more without a gap{}",
                    blocks(&ring.of),
                    ring.area,
                    inside.unwrap_or_default()
                )
            }
            Self::Room(room) => {
                let door = if room.door { ", with a door" } else { "" };
                let with = room.with.as_ref().map(|with| format!(", with {} in it", with.wanted()));
                let light = match room.light {
                    0 => String::new(),
                    light => format!(", and lamps light each of them with {light} or more of 15"),
                };
                format!(
                    "{} cells of air or more are enclosed, mostly by placed blocks{door}{}{light}",
                    room.air,
                    with.unwrap_or_default()
                )
            }
            Self::Open(open) => format!("one of the placed {} stands open", blocks(&open.of)),
            Self::Lit(lit) => format!(
                "{} cells to stand in, at most {} from the start, are lit by lamps with {} or more of 15",
                lit.cells, lit.within, lit.light
            ),
            Self::Tunnel(tunnel) => format!(
                "the player has dug a straight and level passage of {} cells with something above it",
                tunnel.length
            ),
            Self::DigAndFill(dig) => format!(
                "the player has dug a hole {} cells deep and then filled {} of them",
                dig.depth, dig.fill
            ),
            Self::LookAt(look) => {
                let ids: BTreeSet<&str> = look.of.ids().collect();
                format!(
                    "the player looks at {} from no more than {} blocks away{}",
                    listed(&ids, true),
                    look.within,
                    lasting(look.ticks)
                )
            }
            Self::LookUp(look) => {
                format!("the player looks up by {}° or more{}", look.degrees, lasting(look.ticks))
            }
            Self::Above(above) => {
                format!("the player stands on ground {} cells higher than the start", above.cells)
            }
            Self::InScene(scene) => {
                let kinds =
                    if scene.kinds > 1 { format!(" of {} kinds", scene.kinds) } else { String::new() };
                let blocks = blocks(&scene.of);
                format!(
                    "{} or more {blocks}{kinds}, none placed by the player, are at most {} blocks from the player",
                    scene.count, scene.within
                )
            }
        }
    }
}

impl CountPlaced {
    fn wanted(&self) -> String {
        let kinds = if self.kinds > 1 { format!(" of {} kinds or more", self.kinds) } else { String::new() };
        format!("{} or more of {}{kinds}", self.count, blocks(&self.of))
    }
}

impl Metric {
    /// What is shown beside a score.
    pub fn words(self) -> &'static str {
        match self {
            Self::Steps => "the steps taken",
            Self::Depth => "how deep the player got",
            Self::Distance => "how far the player went",
            Self::Placed => "the blocks placed",
            Self::Light => "the light of lamps at the player’s feet",
        }
    }

    /// What a run has done, by the value: "took 84 steps", "got 3 blocks deep".
    pub fn told(self, value: u64) -> String {
        let counted = |what: &str| format!("{value} {what}{}", if value == 1 { "" } else { "s" });
        match self {
            Self::Steps => format!("took {}", counted("step")),
            Self::Depth => format!("got {} deep", counted("block")),
            Self::Distance => format!("covered {}", counted("block")),
            Self::Placed => format!("left {} standing", counted("placed block")),
            Self::Light => format!("ended with light {value} of 15 at the feet"),
        }
    }
}

/// Metrics as the end of a sentence: "took 84 steps, got 12 blocks deep and left 1 placed block standing".
pub fn metrics_told(metrics: &TaskMetrics) -> String {
    let parts: Vec<String> = metrics.iter().map(|(metric, value)| metric.told(*value)).collect();
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

impl Need {
    /// The part of the world.
    pub fn words(self) -> &'static str {
        match self {
            Self::Move => "moving",
            Self::Dig => "breaking blocks",
            Self::Place => "placing blocks",
            Self::Craft => "crafting",
            Self::Screens => "screens of chests, furnaces and the like",
            Self::Items => "items that lie about",
            Self::Throw => "throwing and shooting",
            Self::Light => "light",
            Self::Fluids => "liquids",
            Self::Fire => "fire",
            Self::Crops => "plants that grow",
            Self::Health => "health and food",
            Self::Animals => "animals",
            Self::Monsters => "monsters",
            Self::Tether => "leads, boats and fishing rods",
            Self::Wild => "a wild world",
            Self::Sleep => "sleep",
            Self::Frames => "item frames",
        }
    }
}

fn points(number: f64) -> String {
    if (number - 1.0).abs() < 1e-9 { "1 point".to_owned() } else { format!("{number} points") }
}

fn lasting(ticks: u32) -> String {
    if ticks > 1 { format!(", for {ticks} steps on end") } else { String::new() }
}

fn blocks(set: &BlockSet) -> String {
    listed(&set.ids().collect(), false)
}

/// Things with commas and "or" between them. Groups that are there as a whole stand for their members.
fn listed(ids: &BTreeSet<&str>, has_article: bool) -> String {
    let mut left = ids.clone();
    let mut groups: Vec<(&str, Vec<&str>)> = craft::groups()
        .filter_map(|name| Some((name, craft::group(name)?.iter().map(|item| item.id()).collect())))
        .collect();
    groups.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    let mut names = Vec::new();
    for (name, members) in groups {
        if members.len() >= MIN_GROUP && members.iter().all(|member| left.contains(member)) {
            left.retain(|id| !members.contains(id));
            names.push(spaced(name));
        }
    }
    names.extend(left.iter().map(|id| if has_article { with_article(id) } else { spaced(id) }));
    let more = names.len().saturating_sub(MAX_LISTED);
    if more > 0 {
        names.truncate(MAX_LISTED - 1);
        names.push(format!("one of {} others", more + 1));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "anything".to_owned(),
    }
}

fn spaced(id: &str) -> String {
    id.replace('_', " ")
}

/// With "a" or "an", if it is something that one counts.
fn with_article(id: &str) -> String {
    const UNCOUNTED: [&str; 20] = [
        "andesite",
        "basalt",
        "beef",
        "bedrock",
        "blackstone",
        "chicken",
        "clay",
        "cobblestone",
        "diorite",
        "dirt",
        "glass",
        "glowstone",
        "granite",
        "grass",
        "gravel",
        "lava",
        "obsidian",
        "sand",
        "stone",
        "wool",
    ];
    let words = spaced(id);
    let last = words.rsplit(' ').next().unwrap_or_default();
    if last == "ore" || last == "water" || UNCOUNTED.contains(&last) || last.ends_with('s') {
        words
    } else if words.starts_with(['a', 'e', 'i', 'o']) {
        format!("an {words}")
    } else {
        format!("a {words}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{find_task, shipped_tasks};

    #[test]
    fn payments_and_kits_are_told_in_words() {
        for (name, payments) in [
            ("craft_oak_planks", &["10 points for crafting oak planks, once"][..]),
            ("throw_a_snowball", &["10 points for using a snowball, once"]),
            (
                "build_pillar",
                &["10 points, once, as soon as a column of placed cobblestone is 8 blocks high"],
            ),
            (
                "look_at_the_sky",
                &["10 points, once, as soon as the player looks up by 60° or more, for 20 steps on end"],
            ),
        ] {
            assert_eq!(find_task(name).unwrap().payments(), payments, "{name}");
        }
        let kit = find_task("craft_oak_planks").unwrap().kit();
        assert_eq!(kit, [(ItemId::of("oak_log").unwrap(), 10)]);
    }

    #[test]
    fn metrics_are_told_in_a_sentence() {
        let told = |metrics: &[(Metric, u64)]| metrics_told(&metrics.iter().copied().collect());
        assert_eq!(told(&[(Metric::Steps, 1)]), "took 1 step");
        assert_eq!(told(&[(Metric::Steps, 84), (Metric::Depth, 12)]), "took 84 steps and got 12 blocks deep");
        assert_eq!(
            told(&[(Metric::Light, 9), (Metric::Placed, 1), (Metric::Steps, 7)]),
            "took 7 steps, left 1 placed block standing and ended with light 9 of 15 at the feet"
        );
        assert_eq!(told(&[]), "");
    }

    #[test]
    fn every_shipped_task_says_what_it_pays_without_ids() {
        for task in shipped_tasks() {
            let payments = task.payments();
            assert_eq!(payments.len(), task.rewards().len() + usize::from(task.goal().is_some()));
            for words in payments {
                assert!(!words.contains(['_', '#']) && words.len() < 260, "{}: {words}", task.name());
            }
        }
    }
}
