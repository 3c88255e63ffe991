"""A deterministic block world for agents, as Gymnasium environments.

    import gymnasium, buildoff
    env = gymnasium.make("buildoff/CraftOakPlanks-v0")
    picture, info = env.reset(seed=7)
    picture, reward, terminated, truncated, info = env.step(env.action_space.sample())

Importing this package registers the environments and starts no process.
"""

import gymnasium as _gymnasium

from ._tasks import TASKS
from .binary import BinaryNotFound
from .env import WorldEnv
from .pipe import WorldError
from .recording import demos, replay
from .vector import WorldVectorEnv

__all__ = ["TASKS", "BinaryNotFound", "WorldEnv", "WorldError", "WorldVectorEnv", "demos", "replay"]


def _register(name: str, **keywords: str) -> None:
    _gymnasium.register(
        id=f"buildoff/{name}-v0",
        entry_point="buildoff.env:WorldEnv",
        vector_entry_point="buildoff.vector:WorldVectorEnv",
        kwargs=keywords,
    )


_register("World")
for _task in TASKS:
    _register("".join(word.capitalize() for word in _task.split("/")[1].split("_")), task=_task)
