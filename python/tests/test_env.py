"""The environments, as users of Gymnasium use them."""

import gzip
import json
import os
import struct
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FrameStackObservation, GrayscaleObservation, RecordEpisodeStatistics, TimeLimit

import buildoff
from buildoff import actions
from buildoff.pipe import Worlds

NAME = "buildoff/World-v0"


@pytest.fixture
def make():
    """Makes environments that are closed after the test."""
    made = []

    def make(**options):
        made.append(gymnasium.make(NAME, **options))
        return made[-1]

    yield make
    for env in made:
        env.close()


def test_the_default_passes_gymnasiums_checks_without_a_warning():
    env = gymnasium.make(NAME, max_steps=20, render_mode="rgb_array", disable_env_checker=True).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The check goes through all ways of rendering.
        warnings.filterwarnings("ignore", message="pygame is not installed")
        check_env(env)


def test_importing_starts_no_process():
    program = "import subprocess; subprocess.Popen = None; import buildoff; print('ok')"
    path = os.path.dirname(os.path.dirname(buildoff.__file__))
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert printed.stdout == "ok\n", printed.stderr


def test_the_same_seed_and_actions_give_the_same_pictures(make):
    one, two = make(scene="house"), make(scene="house")
    first, info = one.reset(seed=7)
    again, info_again = two.reset(seed=7)
    assert np.array_equal(first, again) and info == info_again and info["seed"] == 7
    one.action_space.seed(1)
    for _ in range(50):
        action = one.action_space.sample()
        (seen, *_, info), (seen_again, *_, info_again) = one.step(action), two.step(action)
        assert info["hash"] == info_again["hash"]
        assert np.array_equal(seen, seen_again)


def test_a_reset_without_a_seed_goes_on_from_the_last_one(make):
    env, other = make(), make()
    env.reset(seed=3)
    other.reset(seed=3)
    _, info = env.reset()
    assert info["seed"] != 3
    assert other.reset()[1]["seed"] == info["seed"]


def test_observations_are_arrays_of_their_own(make):
    env = make()
    first, _ = env.reset(seed=1)
    kept = first.copy()
    env.step(np.array([1, 0, 0, 0, 0, 0, 0, 0, 0, 10, 10]))
    assert np.array_equal(first, kept)


def test_an_episode_is_truncated_after_its_steps(make):
    env = make(max_steps=3)
    env.reset(seed=0)
    ends = [env.step(env.action_space.sample())[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]


def test_keys_and_camera_do_what_they_say(make):
    env = make()
    _, start = env.reset(seed=0)
    ahead = np.array([1, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5])
    for _ in range(20):
        *_, info = env.step(ahead)
    assert np.hypot(info["position"][0] - start["position"][0], info["position"][2] - start["position"][2]) > 2
    *_, turned = env.step(np.array([0, 0, 0, 0, 0, 0, 0, 0, 4, 7, 10]))
    assert turned["yaw"] == pytest.approx((info["yaw"] + 10) % 360)
    assert turned["pitch"] == pytest.approx(1.61)
    assert turned["inventory"][turned["slot"]] == {"item": "cobblestone", "count": 64}
    assert (len(turned["inventory"]), turned["screen"], turned["pointer"]) == (36, None, None)


def test_the_three_action_spaces_say_the_same():
    multi, compact, minerl = (actions.encoder(name) for name in ("multi", "compact", "minerl"))
    # Forward, left, sneak, jump, attack, slot 3; the camera up and to the right.
    expected = struct.pack("<HBhh", sum(actions._BIT[key] for key in ("forward", "left", "sneak", "jump", "attack")), 3, -161, 581)
    assert multi.encode([1, 1, 2, 1, 1, 0, 0, 0, 3, 3, 9]) == expected
    number = 0
    for digit, radix in [(3, 10), (1, 3), (1, 3), (2, 3), (0, 2), (0, 2), (1, 2), (1, 2), (1, 2)]:
        number = number * radix + digit
    assert compact.encode([number, 3 * 11 + 9]) == expected
    named = {"forward": 1, "left": 1, "sneak": 1, "jump": 1, "attack": 1, "hotbar.3": 1, "camera": [-1.61, 5.81]}
    assert minerl.encode(named) == expected
    assert compact.encode([8640, 60]) == struct.pack("<HBhh", actions._BIT["inventory"], 0, 0, 0)


@pytest.mark.parametrize("space", ["multi", "compact", "minerl"])
def test_any_action_of_each_space_can_be_taken(make, space):
    env = make(action_space=space)
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(30):
        picture, *_ = env.step(env.action_space.sample())
    assert env.observation_space.contains(picture)


def test_the_cameras_places_are_those_of_the_world(make):
    env = make()
    assert tuple(env.unwrapped._worlds.camera_bins) == actions.CAMERA_BINS


def test_observations_can_be_dictionaries_and_of_other_sizes(make):
    env = make(observation="dict", size=(36, 64))
    picture, _ = env.reset(seed=0)
    assert picture["pov"].shape == (36, 64, 3)
    assert env.observation_space.contains(picture)


def test_a_saved_world_goes_on_as_it_would_have(make):
    env = make(scene="cave")
    env.reset(seed=5)
    act = [env.action_space.sample() for _ in range(40)]
    for action in act[:20]:
        env.step(action)
    save = env.unwrapped.save()
    ends = [env.step(action)[4]["hash"] for action in act[20:]]
    other = make(scene="meadow")
    other.reset(seed=0)
    picture, _ = other.unwrapped.restore(save)
    assert other.observation_space.contains(picture)
    assert [other.step(action)[4]["hash"] for action in act[20:]] == ends


def test_a_recording_is_replayed(make, tmp_path):
    env = make(record=True, scene="house")
    env.reset(seed=2)
    seen = []
    picture, _ = env.reset(seed=2)
    for _ in range(45):
        seen.append(picture)
        picture, *_ = env.step(env.action_space.sample())
    file = tmp_path / "house.run"
    file.write_bytes(env.unwrapped.recording())
    replayed = list(buildoff.replay(file))
    assert len(replayed) == 45
    assert all(np.array_equal(one, other) for one, (other, _) in zip(seen, replayed))
    program = actions_command(["replay", str(file), "--sheet", str(tmp_path / "sheet.png"), "--webp", str(tmp_path / "run.webp")])
    printed = subprocess.run(program, capture_output=True, text=True)
    assert printed.stdout.startswith("45 steps, all as recorded"), printed
    from PIL import Image

    assert Image.open(tmp_path / "sheet.png").size == (8 * 128, 3 * 128)
    film = Image.open(tmp_path / "run.webp")
    assert film.size == (128, 128) and film.n_frames > 20


def test_a_recording_that_crafts_without_the_pointer_is_refused_in_words(make, tmp_path):
    env = make(record=True, size=16)
    env.reset(seed=2)
    env.step(env.action_space.sample())
    first, _, end = gzip.decompress(env.unwrapped.recording()).decode().splitlines()
    file = tmp_path / "assisted.run"
    file.write_bytes(gzip.compress("\n".join([first, '[1,0,0,0,0,"stick"]', end]).encode()))
    with pytest.raises(buildoff.WorldError, match="without the pointer"):
        list(buildoff.replay(file, size=16))


def actions_command(arguments):
    from buildoff.binary import serve_command

    return [*serve_command(None)[:-1], *arguments]


def test_wrappers_work(make):
    env = FrameStackObservation(GrayscaleObservation(RecordEpisodeStatistics(TimeLimit(make(), 5))), 4)
    env.reset(seed=0)
    for _ in range(5):
        picture, _, _, truncated, info = env.step(env.action_space.sample())
    assert picture.shape == (4, 128, 128) and truncated and info["episode"]["l"] == 5


def test_what_the_world_refuses_is_an_error_in_words(make):
    with pytest.raises(buildoff.WorldError, match="no scene"):
        make(scene="moon")
    with pytest.raises(buildoff.WorldError, match="16 to 1024"):
        make(size=10)
    with pytest.raises(ValueError, match="multi, compact, minerl"):
        make(action_space="keys")
    env = make()
    env.reset(seed=0)
    with pytest.raises(buildoff.WorldError, match="not a save"):
        env.unwrapped.restore(b"nothing")
    env.step(env.action_space.sample())
    with pytest.raises(buildoff.WorldError, match="not recorded"):
        env.unwrapped.recording()


def test_without_a_program_the_error_says_how_to_get_one(monkeypatch):
    monkeypatch.delenv("BUILDOFF")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(buildoff.BinaryNotFound, match="cargo build"):
        gymnasium.make(NAME)


def test_a_world_that_is_killed_is_an_error(make):
    env = make()
    env.reset(seed=0)
    env.unwrapped._worlds._process.kill()
    with pytest.raises(buildoff.WorldError, match="has ended|closed"):
        for _ in range(2):
            env.step(env.action_space.sample())


def test_the_process_ends_with_the_environment():
    worlds = Worlds(None, 1, (16, 16))
    process = worlds._process
    worlds.close()
    assert process.poll() == 0
    worlds.close()


def test_human_mode_without_pygame_warns_once(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    env = make(render_mode="human")
    with pytest.warns(UserWarning, match="pygame"):
        env.reset(seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.step(env.action_space.sample())


def test_every_task_of_the_program_has_an_environment():
    command = [os.environ["BUILDOFF"], "tasks", "list", "--json"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    names = sorted(f"{task['category']}/{task['name']}" for task in json.loads(listed.stdout) if task["available"])
    assert names == sorted(buildoff.TASKS)
    for name in ("BuildPillar", "LookAtTheSky", "DigThreeDownAndFillOneUp"):
        assert f"buildoff/{name}-v0" in gymnasium.registry


def test_a_task_pays_its_goal_and_ends_then():
    for stop_when_done in (True, False):
        env = gymnasium.make("buildoff/LookAtTheSky-v0", stop_when_done=stop_when_done, size=32)
        _, info = env.reset(seed=1)
        assert env.unwrapped.text.startswith("Look up") and info["progress"][0]["goal"]
        up = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5])
        paid = []
        for _ in range(60):
            _, reward, terminated, _, info = env.step(up)
            paid.append(reward)
            if terminated:
                break
        assert sum(paid) == 10.0 and info["score"] == 10.0 and info["progress"] == []
        assert terminated == stop_when_done
        env.close()


def test_a_task_may_be_a_whole_file(make):
    env = make(task="text: Look down.\ngoal:\n  look_up: {degrees: 10}\n", size=32)
    assert env.unwrapped.text == "Look down."
    with pytest.raises(buildoff.WorldError, match="line 3"):
        make(task="text: Look down.\ngoal:\n  look_down: {}\n")
    with pytest.raises(buildoff.WorldError, match="no task"):
        make(task="craft_nothing")


def test_tasks_tell_what_they_measure(make):
    env = make(task="explore_climb", size=32)
    _, info = env.reset(seed=1)
    assert info["metrics"] == {"steps": 0, "distance": 0}
    for _ in range(60):
        _, _, _, _, info = env.step(np.array([1, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5]))
    assert info["metrics"]["steps"] == 60 and info["metrics"]["distance"] > 0
    assert "metrics" not in make(size=32).reset(seed=1)[1]
