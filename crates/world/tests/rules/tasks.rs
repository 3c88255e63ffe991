//! Tasks: what their files may say, how they begin, and what runs at them pay.

mod files;
mod measures;

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use world::action::Button::*;
use world::record::{Recorder, Recording, RecordingError};
use world::task::{TaskStage, catalogue, find_task, shipped_files, shipped_tasks, solutions};
use world::{Action, Episode, EventKind, Terrains, WorldTask};

use super::press;

static TERRAINS: LazyLock<Terrains> = LazyLock::new(Terrains::default);

fn parse(text: &str) -> Arc<WorldTask> {
    Arc::new(WorldTask::parse("test", text).unwrap_or_else(|error| panic!("{error}")))
}

fn begin(name: &str) -> Episode {
    let task = find_task(name).unwrap_or_else(|| panic!("there is no {name}"));
    Episode::new(&task, 1, &TERRAINS)
}

/// Digs what lies before the feet.
fn dig(episode: &mut Episode, steps: usize) -> f32 {
    episode.step(&Action::default().look(70.0, 0.0));
    (0..steps).map(|_| episode.step(&press(&[Attack])).reward).sum()
}

#[test]
fn every_shipped_file_is_a_task_of_the_catalogue() {
    let mut names = BTreeSet::new();
    for (name, text) in shipped_files() {
        let task = WorldTask::parse(name, text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(names.insert(task.name().to_owned()), "{name} is there twice");
        assert!(task.payable() > 0.0 && (1..=3).contains(&task.difficulty().unwrap()), "{name}");
        assert_eq!(task.warnings(), [], "{name}");
        let is_in_catalogue =
            |facts: &world::task::TaskFacts| format!("{}/{}", facts.category, facts.name) == name;
        let facts = catalogue().iter().find(|facts| is_in_catalogue(facts));
        assert_eq!(facts.unwrap_or_else(|| panic!("{name}")).stage, TaskStage::A, "{name}");
    }
    assert_eq!(shipped_tasks().len(), shipped_files().len());
    let stages = [TaskStage::A, TaskStage::B, TaskStage::C, TaskStage::X];
    let counts = stages.map(|stage| catalogue().iter().filter(|facts| facts.stage == stage).count());
    assert_eq!(counts, [61, 17, 7, 1]);
}

#[test]
fn tasks_are_found_by_their_names_with_and_without_categories() {
    let name = |name: &str| find_task(name).map(|task| format!("{}/{}", task.category(), task.name()));
    assert_eq!(name("craft_ladder").unwrap(), "crafting/craft_ladder");
    assert_eq!(name("crafting/craft_ladder").unwrap(), "crafting/craft_ladder");
    assert_eq!((name("building/craft_ladder"), name("kill_ender_dragon")), (None, None));
}

#[test]
fn every_solution_is_a_recording_of_its_task_and_its_seed() {
    for task in shipped_tasks() {
        let shipped = solutions(task.name());
        assert!(shipped.is_sorted_by_key(|solution| solution.seed), "{}", task.name());
        for solution in shipped {
            let recording = Recording::read(solution.recording).unwrap();
            let beginning = &recording.beginning;
            assert_eq!((&beginning.task, beginning.seed), (task, solution.seed), "{}", task.name());
            assert_eq!(recording.end().score, task.max_score(), "{}", task.name());
        }
    }
    let seeds: Vec<u64> =
        solutions("crafting/craft_oak_planks").iter().map(|solution| solution.seed).collect();
    assert_eq!((seeds, solutions("kill_ender_dragon")), (vec![1, 2, 3], &[][..]));
}

#[test]
fn players_begin_free_and_with_everything_to_do() {
    for task in shipped_tasks() {
        // Seeds of few terrains, since making one takes long.
        let seeds = (1..=20).map(|seed| seed / 4 * 16 + seed % 4);
        assert_eq!(task.check_start(seeds, &TERRAINS), [], "{}", task.name());
    }
}

#[test]
fn who_does_nothing_gets_nothing() {
    for task in shipped_tasks() {
        let mut episode = Episode::new(task, 1, &TERRAINS);
        for step in 0..600 {
            let outcome = episode.step(&Action::default());
            assert_eq!((outcome.reward, outcome.truncated), (0.0, step == 599), "{}", task.name());
        }
        assert_eq!((episode.score(), episode.is_done()), (0.0, false), "{}", task.name());
        assert_eq!(episode.world().player().health, 20, "{}", task.name());
    }
}

#[test]
fn a_task_begins_with_what_it_gives_and_free_play_with_the_kit() {
    let episode = begin("build_pillar");
    let stacks = episode.world().inventory().slots().iter().flatten().count();
    assert_eq!((stacks, episode.world().held().unwrap().item.id()), (1, "cobblestone"));
    let free = Episode::free_play(world::Scene::Meadow, 1, &TERRAINS);
    assert!(free.world().inventory().slots().iter().flatten().count() > 5);
    assert!(!free.is_done() && free.score() == 0.0);
}

#[test]
fn light_at_the_start_is_as_if_blocks_were_put_up_one_by_one() {
    let task = parse(
        "text: A.\ngoal: {look_up: {degrees: 90}}\nplaces:\n- huts: {of: oak_planks, count: 3, away: [8, 14], hold: glowstone}\n\
         - trees: {log: oak_log, leaves: oak_leaves, count: 2, away: [8, 14]}\n\
         custom_init_commands: ['/fill ~3 ~ ~3 ~6 ~3 ~6 stone hollow', '/setblock ~4 ~ ~4 torch']\n",
    );
    let episode = Episode::new(&task, 1, &TERRAINS);
    let plain = Episode::new(&parse("text: A.\ngoal: {look_up: {degrees: 90}}\n"), 1, &TERRAINS);
    let (volume, mut world) = (episode.world().volume(), plain.world().clone());
    let cells = |reach: i32| {
        (30..80).flat_map(move |y| {
            (128 - reach..128 + reach).flat_map(move |z| (128 - reach..128 + reach).map(move |x| [x, y, z]))
        })
    };
    for cell in cells(22) {
        if volume.block(cell) != world.volume().block(cell) {
            world.set_block(cell, volume.block(cell));
        }
    }
    assert_eq!(world.volume().hash(), volume.hash());
    for cell in cells(36) {
        assert_eq!(world.volume().light(cell), volume.light(cell), "{cell:?}");
    }
}

#[test]
fn the_seed_decides_where_things_stand() {
    let task = find_task("mine_iron_ore").unwrap();
    let hashes: BTreeSet<u64> = [1, 17, 33, 17]
        .into_iter()
        .map(|seed| Episode::new(&task, seed, &TERRAINS).world().volume().hash())
        .collect();
    assert_eq!(hashes.len(), 3);
}

#[test]
fn each_reward_is_given_once_a_step_until_its_times_are_over() {
    let task = parse(
        "text: Dig.\nreward_cfg:\n- {event: mine_block, objects: [dirt], reward: 2, max_reward_times: 2}\n\
         - {event: mine_block, identity: any, objects: [stone, grass_block], reward: 3}\n\
         custom_init_commands: ['/give @s iron_shovel']\n",
    );
    let mut episode = Episode::new(&task, 1, &TERRAINS);
    assert_eq!(task.payable(), 7.0);
    // Grass drops dirt, so that it counts as both.
    episode.step(&Action::default().look(70.0, 0.0));
    let first = (0..30).map(|_| episode.step(&press(&[Attack])).reward).find(|reward| *reward > 0.0);
    assert_eq!(first, Some(5.0));
    assert_eq!(episode.progress().count("mine_block", "grass_block"), 1);
    let open = episode.progress().open(&task);
    assert_eq!((open.len(), open[0].times, open[0].max_times), (1, 1, 2));
    assert!((episode.score() - 50.0 / 7.0).abs() < 1e-9 && !episode.is_done());
    let rest: f32 = (0..200).map(|_| episode.step(&press(&[Attack])).reward).sum();
    assert_eq!((rest, episode.score(), episode.is_done()), (2.0, 10.0, true));
}

#[test]
fn objects_may_be_groups_and_cobblestone_falls_out_of_stone() {
    let counts = |event: &str, objects: &str, kind: EventKind, object: &str| {
        let task = parse(&format!("text: A.\nreward_cfg: [{{event: {event}, objects: [{objects}]}}]\n"));
        task.rewards()[0].counts(kind, object)
    };
    for (event, objects, kind, object, expected) in [
        ("mine_block", "cobblestone", EventKind::MineBlock, "stone", true),
        ("mine_block", "cobblestone", EventKind::MineBlock, "cobblestone", true),
        ("mine_block", "stone", EventKind::MineBlock, "cobblestone", false),
        ("mine_block", "oak_sapling", EventKind::MineBlock, "oak_leaves", false),
        ("pickup", "'#logs'", EventKind::PickupItem, "birch_log", true),
        ("pickup", "'#logs'", EventKind::PickupItem, "oak_planks", false),
        ("craft_item", "'#carpets'", EventKind::CraftItem, "red_carpet", true),
        ("open_chest", "chest", EventKind::Open, "chest", true),
        ("drop", "dirt", EventKind::PickupItem, "dirt", false),
        ("drop", "", EventKind::DropItem, "anything", true),
        ("mine_block", "torch", EventKind::MineBlock, "wall_torch", true),
        ("mine_block", "wall_torch", EventKind::MineBlock, "torch", false),
    ] {
        assert_eq!(counts(event, objects, kind, object), expected, "{event} {objects} {object}");
    }
}

#[test]
fn a_reward_for_using_something_needs_a_use_for_it() {
    for (object, is_payable) in [
        ("torch", true),
        ("bread", true),
        ("snowball", true),
        ("shears", true),
        ("wheat_seeds", true),
        ("'#carpets'", true),
        ("stick", false),
        ("iron_ingot", false),
        ("'#dyes'", false),
    ] {
        let text = format!("text: A.\nreward_cfg: [{{event: use_item, objects: [{object}]}}]\n");
        let found = WorldTask::parse("test", &text).map(drop);
        assert_eq!(found.is_ok(), is_payable, "{object}");
        if let Err(error) = found {
            let words = "line 2: use_item cannot be paid: the world has no use for";
            assert!(error.to_string().starts_with(words), "{error}");
        }
    }
}

#[test]
fn what_a_world_lacks_for_a_command_is_told() {
    let text = "text: A.\ngoal: {look_up: {degrees: 90}}\ncustom_init_commands:\n- /summon pig\n\
                - /effect give @s speed\n- /experience add @s 3\n- /weather rain\n";
    let words: Vec<String> = parse(text).warnings().iter().map(ToString::to_string).collect();
    let known = [
        "line 4: the world has no pig yet",
        "line 5: the world has no effect speed yet",
        "line 6: the world has no experience yet",
    ];
    assert_eq!(words, known);
}

#[test]
fn a_goal_is_paid_once_and_stays_met() {
    let task = parse("text: Look up.\ngoal: {look_up: {degrees: 60, ticks: 3}}\n");
    let mut episode = Episode::new(&task, 1, &TERRAINS);
    assert_eq!(episode.progress().open(&task)[0].unmet, ["look_up"]);
    let mut look = |pitch: f64| episode.step(&Action::default().look(pitch, 0.0)).reward;
    assert_eq!([look(-70.0), look(0.0), look(20.0)], [0.0; 3]);
    assert_eq!([look(-20.0), look(0.0), look(0.0), look(0.0), look(70.0)], [0.0, 0.0, 10.0, 0.0, 0.0]);
    assert_eq!(
        (episode.score(), episode.is_done(), episode.progress().open(&task)),
        (10.0, true, Vec::new())
    );
}

#[test]
fn pumpkins_are_carved_with_shears() {
    let mut episode = begin("carve_pumpkins");
    episode.step(&Action::default().look(60.0, 0.0).choose(1).press(Use));
    let target = episode.world().target().unwrap();
    assert_eq!(episode.world().volume().block(target.cell).id(), "pumpkin");
    episode.step(&Action::default().choose(2));
    let outcome = episode.step(&press(&[Use]));
    assert_eq!((outcome.reward, outcome.events[0].object), (5.0, "shears"));
    assert_eq!(episode.world().volume().block(target.cell).id(), "carved_pumpkin");
    assert_eq!(episode.world().things().items()[0].stack.count, world::carve::CARVED_SEEDS);
    assert_eq!(episode.step(&press(&[Use])).reward, 0.0);
}

#[test]
fn an_episode_ends_when_all_is_done_if_it_is_told_to() {
    for stops in [false, true] {
        let task = find_task("look_at_the_sky").unwrap();
        let mut episode = Episode::new(&task, 1, &TERRAINS).stopping_when_done(stops);
        episode.step(&Action::default().look(-70.0, 0.0));
        let steps = (1..).find(|_| episode.step(&Action::default()).is_end()).unwrap();
        assert_eq!(steps, if stops { 19 } else { 599 });
        let next = episode.next(&TERRAINS);
        assert_eq!((next.task().name(), next.score()), ("look_at_the_sky", 0.0));
    }
}

#[test]
fn a_recording_has_the_task_and_runs_again_to_the_same_score() {
    let mut episode = begin("dig_three_down_and_fill_one_up");
    let mut recorder = Recorder::new(&episode);
    for step in 0..50 {
        let action = press(&[Attack]).look(if step == 0 { 70.0 } else { 0.0 }, 0.0);
        episode.step(&action);
        recorder.note(action, episode.world());
    }
    let recording = Recording::read(&recorder.finish(&episode)).unwrap();
    assert_eq!(recording.beginning.task.source(), episode.task().source());
    assert_eq!(recording.end().counters, *episode.progress().counters());
    let again = recording.replay(&TERRAINS, |_| ()).unwrap();
    assert_eq!(again.progress(), episode.progress());
    // A recording that claims another score is not believed.
    let other = Episode::new(&find_task("mine_iron_ore").unwrap(), 1, &TERRAINS);
    let forged = Recorder::new(&other).finish(&episode);
    let error = Recording::read(&forged).unwrap().replay(&TERRAINS, |_| ()).err().unwrap();
    assert!(matches!(error, RecordingError::Differs { .. }), "{error}");
}

#[test]
fn a_save_keeps_the_progress() {
    let task = parse(
        "text: Dig.\nreward_cfg: [{event: mine_block, objects: [dirt], max_reward_times: 9}]\n\
         goal: {dig_and_fill: {depth: 2, fill: 1}}\ncustom_init_commands: ['/give @s iron_shovel']\n",
    );
    let mut episode = Episode::new(&task, 1, &TERRAINS).with_max_steps(77).stopping_when_done(true);
    dig(&mut episode, 40);
    let mut loaded = Episode::load(&episode.save(), &TERRAINS).unwrap();
    assert_eq!((loaded.progress(), loaded.task()), (episode.progress(), episode.task()));
    assert_eq!(loaded.max_steps(), 77);
    for _ in 0..30 {
        assert_eq!(episode.step(&press(&[Attack])), loaded.step(&press(&[Attack])));
    }
    assert_eq!((loaded.score(), loaded.world().hash()), (episode.score(), episode.world().hash()));
}
