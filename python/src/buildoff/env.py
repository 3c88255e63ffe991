"""One world as an environment."""

import warnings
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from .actions import ActionSpaceName, encoder
from .observations import ObservationName, edges, observation_space, observe
from .pipe import Outcome, Worlds


class WorldEnv(gymnasium.Env[Any, Any]):
    """A task in the block world, or free play in a scene, where there is no reward.

    An episode is truncated after its steps, and terminated by death and when everything is done. `info["metrics"]` has what
    a task shows beside the score, such as `{"steps": 84, "depth": 12}`; tasks that name nothing have none.

    Args:
        task: the name of a task, with or without its category, or the text of a whole task file; None for free play.
        scene: where free play is: meadow, cave or house.
        max_steps: the steps of an episode, if not as many as the task says; 20 are a second.
        stop_when_done: whether an episode ends as soon as all rewards have been given.
        action_space: multi (a MultiDiscrete of keys), compact (the pair of numbers of the MCU benchmark) or minerl.
        observation: rgb (the picture) or dict (the picture as "pov").
        size: the pictures' edge, or height and width: from 16 to 1024 in steps of 4.
        record: keep a recording of each episode for `recording()`.
        binary: the program that runs the world; it is looked for if none is named.
        render_mode: rgb_array or human.
    """

    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 20}

    def __init__(
        self,
        scene: str | None = None,
        *,
        task: str | None = None,
        max_steps: int | None = None,
        stop_when_done: bool = True,
        action_space: ActionSpaceName = "multi",
        observation: ObservationName = "rgb",
        size: int | tuple[int, int] = 128,
        record: bool = False,
        binary: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode is rgb_array, human or None, and not {render_mode!r}")
        self.render_mode = render_mode
        self._encoder = encoder(action_space)
        self._observation: ObservationName = observation
        height, width = edges(size)
        self.action_space = self._encoder.space
        self.observation_space = observation_space(observation, (height, width))
        options = {"task": task, "scene": scene, "maxSteps": max_steps, "stopWhenDone": stop_when_done}
        self._worlds = Worlds(binary, 1, (height, width), record=record, **options)
        self._picture = np.zeros((height, width, 3), np.uint8)
        self._window: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode: on the world of this seed, or on one that the last seed leads to."""
        super().reset(seed=seed)
        world = int(self.np_random.integers(1 << 53)) if seed is None else seed
        picture = self._new_picture()
        [outcome] = self._worlds.reset([world], picture[np.newaxis])
        return self._show(picture), outcome.info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        picture = self._new_picture()
        [outcome] = self._worlds.step(self._encoder.encode(action), picture[np.newaxis])
        return self._result(picture, outcome)

    def save(self) -> bytes:
        """The state of the world, for `restore` in this or in another environment."""
        return self._worlds.save(0)

    def restore(self, save: bytes) -> tuple[Any, dict[str, Any]]:
        """Goes on from a save exactly as the saved world would have gone on."""
        picture = self._new_picture()
        outcome = self._worlds.load(0, save, picture[np.newaxis])
        return self._show(picture), outcome.info

    def recording(self) -> bytes:
        """The episode so far as a `.run` file, which `buildoff-world replay` and `buildoff.replay` read."""
        return self._worlds.recording(0)

    def render(self) -> NDArray[np.uint8] | None:
        if self.render_mode == "rgb_array":
            return self._picture.copy()
        return None

    def close(self) -> None:
        self._worlds.close()
        if self._window is not None:
            self._window.close()
            self._window = None

    @property
    def engine(self) -> str:
        """The name and version of the engine; results of different engines are not compared."""
        return self._worlds.engine

    @property
    def text(self) -> str:
        """What is wanted, in a sentence."""
        return self._worlds.text

    def _new_picture(self) -> NDArray[np.uint8]:
        # Observations are kept by replay buffers, so each has an array of its own.
        return np.empty_like(self._picture)

    def _show(self, picture: NDArray[np.uint8]) -> Any:
        self._picture = picture
        if self.render_mode == "human":
            if self._window is None:
                self._window = _open_window(picture.shape)
            self._window.show(picture)
        return observe(self._observation, picture)

    def _result(self, picture: NDArray[np.uint8], outcome: Outcome) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self._show(picture), outcome.reward, outcome.terminated, outcome.truncated, outcome.info


class _NoWindow:
    def show(self, picture: NDArray[np.uint8]) -> None:
        pass

    def close(self) -> None:
        pass


class _Window:
    """A window that shows pictures, four times enlarged where they are small."""

    def __init__(self, shape: tuple[int, ...], pygame: Any) -> None:
        self._pygame = pygame
        height, width = shape[:2]
        scale = max(1, 512 // max(height, width))
        pygame.display.init()
        pygame.display.set_caption("Buildoff")
        self._screen = pygame.display.set_mode((width * scale, height * scale))

    def show(self, picture: NDArray[np.uint8]) -> None:
        surface = self._pygame.surfarray.make_surface(picture.swapaxes(0, 1))
        self._screen.blit(self._pygame.transform.scale(surface, self._screen.get_size()), (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()

    def close(self) -> None:
        self._pygame.display.quit()


def _open_window(shape: tuple[int, ...]) -> _Window | _NoWindow:
    try:
        import pygame
    except ImportError:
        warnings.warn("pygame is not installed, so nothing is shown: pip install buildoff[human]", stacklevel=3)
        return _NoWindow()
    return _Window(shape, pygame)
