//! What is measured beside the score.

use world::action::Button::*;
use world::record::{Recorder, Recording};
use world::{Action, Episode};

use super::{TERRAINS, begin, parse};
use crate::press;

const MEASURED: &str = "text: A.\nmetrics: [steps, depth, distance, placed, light]\n\
                        goal: {dig_and_fill: {depth: 2, fill: 1}}\n\
                        custom_init_commands: ['/give @s diamond_shovel', '/give @s torch 9', '/give @s dirt 9']\n";

/// The steps, depth, distance, blocks placed and light of a run.
fn measured(episode: &Episode) -> [u64; 5] {
    let metrics = episode.metrics();
    let mut values = metrics.values();
    [0; 5].map(|_: u64| values.next().copied().unwrap_or_default())
}

#[test]
fn metrics_are_those_of_the_run_so_far() {
    let mut episode = Episode::new(&parse(MEASURED), 1, &TERRAINS);
    assert_eq!(measured(&episode), [0; 5]);
    let start = episode.world().player().position;
    for _ in 0..20 {
        episode.step(&press(&[Back]));
    }
    for _ in 0..20 {
        episode.step(&press(&[Forward]));
    }
    let away = |place: [f64; 3]| (place[0] - start[0]).hypot(place[2] - start[2]);
    let [steps, depth, distance, placed, light] = measured(&episode);
    assert!(distance >= 7 && away(episode.world().player().position) < 2.0, "there and back: {distance}");
    assert_eq!([steps, depth, placed, light], [40, 0, 0, 0]);
}

#[test]
fn depth_is_dug_or_gone_light_is_at_the_feet_and_steps_end_with_the_last_payment() {
    let mut episode = Episode::new(&parse(MEASURED), 1, &TERRAINS);
    episode.step(&Action::default().look(90.0, 0.0));
    let mut depths = Vec::new();
    for _ in 0..40 {
        episode.step(&press(&[Attack]));
        depths.push(measured(&episode)[1]);
    }
    let depth = depths[39];
    assert!(depths.is_sorted() && depths[0] == 0 && depth >= 2, "{depths:?}");
    // What was dug counts before anybody stands there.
    let below = episode.world().player().position[1];
    episode.step(&Action::default().choose(2).press(Use));
    let [_, _, _, placed, light] = measured(&episode);
    assert_eq!((placed, light), (1, 14), "a torch at the feet, at {below}");
    // The torch is what fills the hole, and nothing after that payment counts.
    assert!(episode.is_done());
    let steps = episode.world().tick();
    episode.step(&Action::default());
    assert_eq!(measured(&episode)[0], steps);
    let mut recorder = Recorder::new(&episode);
    recorder.note(Action::default(), episode.world());
    let recording = Recording::read(&recorder.finish(&episode)).unwrap();
    assert_eq!(recording.end().metrics.as_ref(), Some(&episode.metrics()));
    let loaded = Episode::load(&episode.save(), &TERRAINS).unwrap();
    assert_eq!(loaded.metrics(), episode.metrics());
}

#[test]
fn a_task_without_metrics_has_none_and_its_recording_neither() {
    let episode = begin("craft_oak_planks");
    assert!(episode.metrics().is_empty());
    let recording = Recording::read(&Recorder::new(&episode).finish(&episode)).unwrap();
    assert_eq!(recording.end().metrics, None);
}
