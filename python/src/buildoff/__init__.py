"""A deterministic block world for agents, as Gymnasium environments.

    import gymnasium, buildoff
    env = gymnasium.make("buildoff/World-v0")
    picture, info = env.reset(seed=7)
    picture, reward, terminated, truncated, info = env.step(env.action_space.sample())

Importing this package registers the environments and starts no process.
"""

import gymnasium as _gymnasium

from .binary import BinaryNotFound
from .env import WorldEnv
from .pipe import WorldError
from .recording import replay
from .vector import WorldVectorEnv

__all__ = ["BinaryNotFound", "WorldEnv", "WorldError", "WorldVectorEnv", "replay"]

_gymnasium.register(
    id="buildoff/World-v0",
    entry_point="buildoff.env:WorldEnv",
    vector_entry_point="buildoff.vector:WorldVectorEnv",
)
