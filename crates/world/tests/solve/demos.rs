//! Solutions of tasks: how they are checked, and their recordings, which are made again from what was pressed in an episode
//! of their own, so that a recording never depends on how it was found.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use world::action::Action;
use world::record::{Recorder, Recording};
use world::task::find_task;
use world::{Episode, Terrains, WorldTask};

use super::solver::{Solved, Solver};

/// Where recordings are kept, seen from this crate: `<category>/<name>.<seed>.run`, beside the tasks.
const DEMOS: &str = "../../tasks";

/// If it is set to 1, recordings are written.
const WRITE: &str = "WRITE_DEMOS";

/// The seeds on which each task is solved. Ranked assessments never have them.
const SEEDS: [u64; 3] = [1, 2, 3];

/// The part of a task's steps within which it is solved, in hundredths.
const SHARE: u64 = 60;

static TERRAINS: LazyLock<Terrains> = LazyLock::new(Terrains::default);

/// Solves a task on each of its seeds, within a part of its steps, and checks that nothing less than the whole solution has
/// the full score.
pub fn check_solution(name: &str, solve: impl Fn(&mut Solver) -> Solved) {
    let Some(task) = find_task(name) else { panic!("there is no task {name}") };
    for seed in SEEDS {
        let mut episode = Episode::new(&task, seed, &TERRAINS);
        let steps = (task.max_steps() * SHARE / 100) as usize;
        let mut solver = Solver::new(&mut episode, steps);
        if let Err(error) = solve(&mut solver) {
            panic!("{name} on seed {seed}: {error}");
        }
        let mut pressed = solver.pressed;
        assert!(episode.is_done(), "{name} on seed {seed}: {} of 10, open: {:?}", episode.score(), {
            episode.progress().open(&task)
        });
        // What was done after the last reward is no part of the solution.
        let done = play(&task, seed, &pressed);
        pressed.truncate(done.unwrap_or_default());
        let less = &pressed[..pressed.len() - 1];
        assert_eq!(play(&task, seed, less), None, "{name} on seed {seed} is done before it is");
        record(&task, seed, &pressed);
    }
}

/// After how many steps a task is done.
fn play(task: &Arc<WorldTask>, seed: u64, pressed: &[[u64; 2]]) -> Option<usize> {
    let mut episode = Episode::new(task, seed, &TERRAINS);
    let place = pressed.iter().position(|keys| {
        episode.step(&action(*keys));
        episode.is_done()
    });
    place.map(|place| place + 1)
}

fn action([buttons, camera]: [u64; 2]) -> Action {
    Action::from_compact(buttons, camera).unwrap_or_default()
}

/// Records a solution. The recording runs again to its own hashes, and is the one that ships.
fn record(task: &Arc<WorldTask>, seed: u64, pressed: &[[u64; 2]]) {
    let mut episode = Episode::new(task, seed, &TERRAINS);
    let mut recorder = Recorder::new(&episode);
    for keys in pressed {
        episode.step(&action(*keys));
        recorder.note(action(*keys), episode.world());
    }
    let bytes = recorder.finish(&episode);
    let name = format!("{}/{}", task.category(), task.name());
    let again = Recording::read(&bytes).and_then(|recording| recording.replay(&TERRAINS, |_| ()));
    match again {
        Ok(again) => {
            assert_eq!((again.world().hash(), again.score()), (episode.world().hash(), 10.0), "{name}");
        }
        Err(error) => panic!("{name} on seed {seed}: {error}"),
    }
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(DEMOS).join(format!("{name}.{seed}.run"));
    if std::env::var(WRITE).is_ok_and(|value| value == "1") {
        if let Err(error) = std::fs::write(&file, bytes) {
            panic!("{}: {error}", file.display());
        }
        return;
    }
    // The bytes of an archive may differ between versions of what packs it.
    let shipped = std::fs::read(&file).ok().and_then(|bytes| Recording::read(&bytes).ok());
    let made = Recording::read(&bytes).ok();
    assert!(shipped == made, "{} is another solution; make them again with {WRITE}=1", file.display());
}
