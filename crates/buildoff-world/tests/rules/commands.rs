//! The commands, as people type them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use image_webp::WebPDecoder;
use serde_json::Value;
use world::action::Button;
use world::record::Recorder;
use world::{Action, Episode, Scene, Terrains};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_buildoff-world")).args(arguments).output().unwrap()
}

fn words(output: &Output) -> (Option<i32>, String) {
    let words = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8(words).unwrap())
}

/// A recording of a short walk.
fn record(file: &Path) {
    let mut episode = Episode::free_play(Scene::House, 1, &Terrains::default());
    let mut recorder = Recorder::new(&episode);
    for step in 0..100 {
        let action = Action::default().look(0.0, if step < 60 { 3.0 } else { 0.0 }).press(Button::Sneak);
        episode.step(&action);
        recorder.note(action, episode.world());
    }
    fs::write(file, recorder.finish(&episode)).unwrap();
}

#[test]
fn a_recording_becomes_pictures_a_sheet_and_a_film() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    record(Path::new(&place("walk.run")));
    let arguments =
        ["--frames", &place("frames"), "--sheet", &place("sheet.png"), "--webp", &place("walk.webp")];
    let output = run(&[&["replay", &place("walk.run"), "--size", "64,36"][..], &arguments].concat());
    let (code, told) = words(&output);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.starts_with("100 steps, all as recorded; the last hash is "), "{told}");
    assert_eq!(fs::read_dir(place("frames")).unwrap().count(), 101);

    let file = fs::read(place("walk.webp")).unwrap();
    let mut film = WebPDecoder::new(std::io::Cursor::new(&file)).unwrap();
    assert_eq!((film.dimensions(), film.is_animated()), ((64, 36), true));
    let (mut milliseconds, mut last) = (0, Vec::new());
    let mut pixels = vec![0; film.output_buffer_size().unwrap()];
    for _ in 0..film.num_frames() {
        milliseconds += film.read_frame(&mut pixels).unwrap();
        assert_ne!(pixels, last, "a frame that stays the same only lasts longer");
        last.clone_from(&pixels);
    }
    assert_eq!(milliseconds, 101 * 50);
}

#[test]
fn a_recording_with_another_step_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("walk.run");
    let mut other = Episode::free_play(Scene::House, 0, &Terrains::default());
    let mut recorder = Recorder::new(&other);
    for _ in 0..30 {
        other.step(&Action::default().press(Button::Forward));
        recorder.note(Action::default(), other.world());
    }
    fs::write(&file, recorder.finish(&other)).unwrap();
    let (code, told) = words(&run(&["replay", file.to_str().unwrap()]));
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("after step 20 the world is another one"), "{told}");
}

#[test]
fn what_is_no_recording_is_an_error_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("walk.run");
    fs::write(&file, "walk").unwrap();
    let (code, told) = words(&run(&["replay", file.to_str().unwrap()]));
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("it is not a recording"), "{told}");
}

#[test]
fn a_look_is_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("view.png");
    let (code, told) = words(&run(&["look", "house", "--size", "64,36", "-o", file.to_str().unwrap()]));
    assert_eq!((code, &told[..]), (Some(0), ""));
    assert_eq!(fs::read(&file).unwrap()[..4], *b"\x89PNG");
    let (code, told) = words(&run(&["look", "house", "--size", "64", "-o", "none/view.png"]));
    assert_eq!(code, Some(2));
    assert!(told.contains("2 numbers with commas"), "{told}");
}

#[test]
fn the_bench_measures_every_suite() {
    let output = run(&["bench", "--json", "--runs", "1", "--seconds", "0.02"]);
    assert!(output.status.success(), "{}", words(&output).1);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for suite in ["rgb128", "rgb128Baseline", "rgb64", "played128", "none", "pipe", "reset"] {
        let suite = &report["suites"][suite];
        assert!(suite["stepsPerSecond"].as_f64().unwrap() > 0.0, "{report}");
        assert_eq!(suite["runs"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn tasks_are_listed_shown_and_checked() {
    let listed = run(&["tasks", "list", "--json"]);
    let entries: Vec<Value> = serde_json::from_slice(&listed.stdout).unwrap();
    let available = entries.iter().filter(|entry| entry["available"] == true).count();
    assert_eq!((entries.len(), available), (86, 46));
    let (code, told) = words(&run(&["tasks", "show", "building/build_pillar"]));
    assert_eq!(code, Some(0), "{told}");
    assert!(
        told.contains("Build a pillar") && told.contains("column: {of: cobblestone, height: 8}"),
        "{told}"
    );
    let (code, told) = words(&run(&["tasks", "show", "build_castle"]));
    assert_eq!((code, told.contains("no task \"build_castle\"")), (Some(2), true), "{told}");

    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::create_dir(place("own")).unwrap();
    fs::write(place("own/good.yaml"), "text: Look.\ngoal: {look_up: {degrees: 10}}\n").unwrap();
    let own = folder.path().to_str().unwrap();
    let (_, told) = words(&run(&["tasks", "show", "own/good", "--dir", own]));
    assert!(told.contains("Look."), "{told}");
    assert_eq!(words(&run(&["tasks", "check", own])), (Some(0), "1 of 1 files are in order.\n".to_owned()));
    fs::write(
        place("own/stuck.yaml"),
        "text: Dig.\ncustom_init_commands:\n- /setblock ~ ~ ~ stone\ngoal: {tunnel: {length: 1}}\n",
    )
    .unwrap();
    fs::write(place("own/wrong.yaml"), "text: Dig.\ngoal:\n  dance: {}\n").unwrap();
    let (code, told) = words(&run(&["tasks", "check", own]));
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("stuck.yaml: with seed 1, the player is stuck") && told.contains("wrong.yaml: line 3:"),
        "{told}"
    );
    let (code, told) = words(&run(&["tasks", "list", "--dir", own]));
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("own/good") && told.contains("wrong.yaml is left out: line 3:"), "{told}");
}

#[test]
fn a_shipped_solution_is_run_again_and_filmed() {
    let solved = run(&["tasks", "solve", "craft_oak_planks", "--json"]);
    assert!(solved.status.success(), "{}", words(&solved).1);
    let reports: Vec<Value> = serde_json::from_slice(&solved.stdout).unwrap();
    for (report, seed) in reports.iter().zip(1..) {
        assert_eq!(
            (&report["seed"], &report["score"], &report["problem"]),
            (&seed.into(), &10.0.into(), &Value::Null)
        );
        let rewards = report["rewards"].as_array().unwrap();
        assert_eq!(rewards.last().unwrap()["step"], report["steps"], "it ends with its last reward");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("planks.webp");
    let arguments = ["tasks", "solve", "crafting/craft_oak_planks", "--seed", "2", "--size", "64,36", "-o"];
    let (code, told) = words(&run(&[&arguments[..], &[file.to_str().unwrap()]].concat()));
    assert_eq!(code, Some(0), "{told}");
    assert!(told.starts_with("crafting/craft_oak_planks, seed 2: 10 of 10 points in "), "{told}");
    assert_eq!(fs::read(file).unwrap()[8..12], *b"WEBP");
    let (_, told) = words(&run(&["tasks", "solve", "dig_three_down_and_fill_one_up", "--seed", "1"]));
    assert!(told.contains("\n  The run took ") && told.contains(" and got 3 blocks deep.\n"), "{told}");
    for (arguments, error) in
        [(["craft_oak_planks", "--seed=9"], "no such solution"), (["build_castle", "--json"], "no task")]
    {
        let (code, told) = words(&run(&[&["tasks", "solve"], &arguments[..]].concat()));
        assert_eq!((code, told.contains(error)), (Some(2), true), "{told}");
    }
}

#[test]
fn agents_that_do_not_look_are_scored() {
    let names = ["craft_oak_planks", "look_at_the_sky"];
    let played = run(&[&["tasks", "baseline", "--seeds", "1", "--json"], &names[..]].concat());
    let played: Vec<Value> = serde_json::from_slice(&played.stdout).unwrap();
    assert_eq!(played.len(), 2);
    for (played, task) in played.iter().zip(["crafting/craft_oak_planks", "motion/look_at_the_sky"]) {
        assert_eq!((&played["task"], &played["noop"]), (&task.into(), &0.0.into()));
        assert!((0.0..=10.0).contains(&played["random"].as_f64().unwrap()), "{played}");
    }
}

#[test]
fn the_table_of_the_documentation_has_the_tasks_of_the_catalogue() {
    let text = include_str!("../../../../docs/tasks.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let rows = rows.filter(|(name, _)| name.contains('/') && !name.contains(':')).collect::<Vec<_>>();
    let catalogue = world::task::catalogue();
    assert_eq!(rows.len(), catalogue.len());
    for ((name, rest), facts) in rows.into_iter().zip(catalogue) {
        assert_eq!(name, format!("{}/{}", facts.category, facts.name));
        let cells: Vec<&str> = rest.trim_end_matches(" |").split(" | ").map(str::trim).collect();
        assert_eq!(cells[0] == "yes", world::task::find_task(name).is_some(), "{name}: {rest}");
        assert_eq!(cells.get(1).copied().unwrap_or_default(), facts.upstream.as_deref().unwrap_or_default());
    }
}
