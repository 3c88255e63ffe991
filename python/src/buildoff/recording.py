"""Recordings: gzipped lines of JSON with the actions and hashes of an episode."""

import gzip
import json
import os
import struct
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .pipe import WorldError, Worlds

_ACTION = struct.Struct("<HBhh")


def replay(
    file: str | os.PathLike[str], *, size: int | tuple[int, int] = 128, binary: str | None = None
) -> Iterator[tuple[NDArray[np.uint8], bytes]]:
    """Runs a recording again, and yields what was seen before each action, and the action as its seven bytes.

    Raises `WorldError` if a state is not the recorded one.
    """
    height, width = (size, size) if isinstance(size, int) else size
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        first = json.loads(next(lines))
        begun = first["task"]
        options = {"task": begun["file"]} if "file" in begun else {"scene": begun["scene"]}
        worlds = Worlds(binary, 1, (height, width), maxSteps=1_000_000, **options)
        try:
            if worlds.engine != first["engine"]:
                raise WorldError(f"it was made with {first['engine']}, and this is {worlds.engine}")
            pictures = np.empty((1, height, width, 3), np.uint8)
            [outcome] = worlds.reset([first["seed"]], pictures)
            for line in lines:
                part = json.loads(line)
                if isinstance(part, list):
                    action = _ACTION.pack(*part[1:])
                    for _ in range(part[0]):
                        yield pictures[0].copy(), action
                        [outcome] = worlds.step(action, pictures)
                elif part.get("hash", part.get("final")) != outcome.info["hash"]:
                    step = outcome.info["step"]
                    raise WorldError(f"after step {step} the world is another one than in the recording")
        finally:
            worlds.close()
