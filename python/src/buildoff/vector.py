"""Many worlds in one process, as a vector environment: a message for all of them together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray

from .actions import ActionSpaceName, encoder
from .observations import ObservationName, edges, observation_space, observe
from .pipe import Outcome, Worlds


class WorldVectorEnv(VectorEnv[Any, Any, Any]):
    """As `WorldEnv`, many times. A world whose episode has ended begins the next one with the next step, whose action
    does nothing there."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20, "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        scene: str | None = None,
        *,
        task: str | None = None,
        max_steps: int | None = None,
        stop_when_done: bool = True,
        action_space: ActionSpaceName = "multi",
        observation: ObservationName = "rgb",
        size: int | tuple[int, int] = 128,
        record: bool = False,
        threads: int | None = None,
        binary: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode is rgb_array or None, and not {render_mode!r}")
        self.num_envs = num_envs
        self.render_mode = render_mode
        self._encoder = encoder(action_space)
        self._observation: ObservationName = observation
        height, width = edges(size)
        self.single_action_space = self._encoder.space
        self.single_observation_space = observation_space(observation, (height, width))
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        options = {
            "task": task,
            "scene": scene,
            "maxSteps": max_steps,
            "stopWhenDone": stop_when_done,
            "record": record,
            "threads": threads,
        }
        self._worlds = Worlds(binary, num_envs, (height, width), **options)
        self._pictures = np.zeros((num_envs, height, width, 3), np.uint8)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begins episodes. One seed is that of the first world, and the others have those that follow it; a list has one
        for each world. `options={"reset_mask": …}` leaves worlds as they are."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        drawn = [int(number) for number in self.np_random.integers(1 << 53, size=self.num_envs)]
        if seed is None:
            seeds: list[int | None] = [*drawn]
        elif isinstance(seed, int):
            seeds = [seed + place for place in range(self.num_envs)]
        else:
            seeds = [one if other is None else other for one, other in zip(drawn, seed, strict=True)]
        if options and "reset_mask" in options:
            seeds = [seed if begins else None for seed, begins in zip(seeds, options["reset_mask"], strict=True)]
        pictures = np.empty_like(self._pictures)
        return self._show(pictures), self._infos(self._worlds.reset(seeds, pictures))

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        encoded = b"".join(self._encoder.encode(action) for action in iterate(self.action_space, actions))
        pictures = np.empty_like(self._pictures)
        outcomes = self._worlds.step(encoded, pictures)
        return (
            self._show(pictures),
            np.array([outcome.reward for outcome in outcomes], np.float64),
            np.array([outcome.terminated for outcome in outcomes], np.bool_),
            np.array([outcome.truncated for outcome in outcomes], np.bool_),
            self._infos(outcomes),
        )

    def save(self, place: int) -> bytes:
        """The state of a world, for `restore`."""
        return self._worlds.save(place)

    def restore(self, place: int, save: bytes) -> None:
        """Lets a world go on from a save. Its picture comes with the next step."""
        self._worlds.load(place, save, self._pictures[place : place + 1].copy())

    def recording(self, place: int) -> bytes:
        """The episode of a world so far as a `.run` file."""
        return self._worlds.recording(place)

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        return tuple(self._pictures.copy()) if self.render_mode == "rgb_array" else None

    def close_extras(self, **kwargs: Any) -> None:
        self._worlds.close()

    def _show(self, pictures: NDArray[np.uint8]) -> Any:
        self._pictures = pictures
        return observe(self._observation, pictures)

    def _infos(self, outcomes: list[Outcome]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for place, outcome in enumerate(outcomes):
            infos = self._add_info(infos, outcome.info, place)
        return infos
