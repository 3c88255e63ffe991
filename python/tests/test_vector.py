"""Many worlds in one process."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

NAME = "buildoff/World-v0"


@pytest.fixture
def make():
    made = []

    def make(count, mode="vector_entry_point", **options):
        made.append(gymnasium.make_vec(NAME, count, vectorization_mode=mode, **options))
        return made[-1]

    yield make
    for envs in made:
        envs.close()


def test_worlds_side_by_side_are_those_one_by_one(make):
    together, apart = make(3, scene="house"), make(3, "sync", scene="house")
    pictures, infos = together.reset(seed=4)
    others, other_infos = apart.reset(seed=4)
    assert np.array_equal(pictures, others)
    assert list(infos["seed"]) == list(other_infos["seed"]) == [4, 5, 6]
    together.action_space.seed(0)
    for _ in range(20):
        actions = together.action_space.sample()
        (pictures, rewards, *ends, infos), (others, *_, other_infos) = together.step(actions), apart.step(actions)
        assert np.array_equal(pictures, others)
        assert list(infos["hash"]) == list(other_infos["hash"])
    assert rewards.shape == (3,) and rewards.dtype == np.float64


def test_threads_change_nothing(make):
    one, many = make(5, threads=1), make(5, threads=3)
    one.reset(seed=0)
    many.reset(seed=0)
    one.action_space.seed(0)
    for _ in range(10):
        actions = one.action_space.sample()
        assert np.array_equal(one.step(actions)[0], many.step(actions)[0])


def test_an_ended_world_begins_anew_with_the_next_step(make):
    envs = make(2, max_steps=3)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    envs.reset(seed=[1, 2])
    steps, ends = [], []
    for _ in range(5):
        *_, truncated, infos = envs.step(envs.action_space.sample())
        steps.append(list(infos["step"]))
        ends.append(bool(truncated[0]))
    assert steps == [[1, 1], [2, 2], [3, 3], [0, 0], [1, 1]]
    assert ends == [False, False, True, False, False]
    assert infos["seed"][0] != 1


def test_a_mask_leaves_worlds_as_they_are(make):
    envs = make(2)
    envs.reset(seed=0)
    envs.step(envs.action_space.sample())
    _, infos = envs.reset(seed=[9, 9], options={"reset_mask": np.array([False, True])})
    assert list(infos["step"]) == [1, 0]
    assert list(infos["seed"]) == [0, 9]


def test_spaces_hold_what_comes(make):
    envs = make(2, observation="dict", size=64, action_space="compact")
    pictures, _ = envs.reset(seed=0)
    assert envs.observation_space.contains(pictures)
    pictures, *_ = envs.step(envs.action_space.sample())
    assert envs.observation_space.contains(pictures)


def test_worlds_can_be_made_in_processes_of_gymnasiums_own(make):
    envs = make(2, "async", max_steps=5)
    envs.reset(seed=0)
    pictures, *_ = envs.step(envs.action_space.sample())
    assert pictures.shape == (2, 128, 128, 3)
