"""The observation spaces."""

from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

ObservationName = Literal["rgb", "dict"]


def observation_space(name: ObservationName, size: tuple[int, int]) -> spaces.Space[Any]:
    picture = spaces.Box(0, 255, (*size, 3), np.uint8)
    if name == "rgb":
        return picture
    if name == "dict":
        return spaces.Dict({"pov": picture})
    raise ValueError(f"observation is one of rgb and dict, and not {name!r}")


def observe(name: ObservationName, picture: NDArray[np.uint8]) -> Any:
    return picture if name == "rgb" else {"pov": picture}


def edges(size: int | tuple[int, int]) -> tuple[int, int]:
    """Height and width of the pictures."""
    return (size, size) if isinstance(size, int) else (int(size[0]), int(size[1]))
