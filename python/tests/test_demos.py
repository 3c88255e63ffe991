"""Solutions as people who train agents to imitate them use them."""

import gymnasium
import numpy as np
import pytest

import buildoff
from buildoff import actions


@pytest.mark.parametrize("space", ["multi", "compact"])
def test_the_actions_of_a_solution_do_the_task_with_the_same_pictures(space):
    [(observations, taken)] = buildoff.demos("craft_oak_planks", seed=2, size=(36, 64), action_space=space)
    env = gymnasium.make("buildoff/CraftOakPlanks-v0", size=(36, 64), action_space=space)
    assert (observations.dtype, observations.shape) == (np.uint8, (len(taken), 36, 64, 3))
    assert taken.shape[1:] == env.action_space.shape
    picture, _ = env.reset(seed=2)
    for seen, action in zip(observations, taken, strict=True):
        assert np.array_equal(seen, picture) and env.action_space.contains(action)
        picture, _, terminated, _, info = env.step(action)
    assert terminated and info["score"] == 10.0
    env.close()


def test_without_a_seed_there_are_all_solutions():
    pairs = buildoff.demos("crafting/craft_oak_planks", size=16)
    assert len(pairs) == 3 and all(len(seen) == len(taken) > 0 for seen, taken in pairs)


def test_what_there_is_not_is_an_error_in_words():
    with pytest.raises(buildoff.WorldError, match="no task"):
        buildoff.demos("craft_nothing", size=16)
    with pytest.raises(KeyError, match="no solution on the seed 9"):
        buildoff.demos("craft_oak_planks", seed=9, size=16)
    with pytest.raises(ValueError, match="multi, compact"):
        buildoff.demos("craft_oak_planks", action_space="minerl")


@pytest.mark.parametrize("space", ["multi", "compact"])
def test_actions_come_back_from_their_bytes(space):
    encoder = actions.encoder(space)
    encoder.space.seed(0)
    for _ in range(300):
        encoded = encoder.encode(encoder.space.sample())
        assert encoder.encode(encoder.decode(encoded)) == encoded
    with pytest.raises(ValueError, match="none of this space"):
        encoder.decode(bytes([6, 0, 0, 0, 0, 0, 0]))
