"""Recordings: gzipped lines of JSON with the actions and hashes of an episode."""

import gzip
import json
import os
import struct
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .actions import CompactEncoder, MultiEncoder
from .observations import edges
from .pipe import WorldError, Worlds

_ACTION = struct.Struct("<HBhh")


def replay(
    file: str | os.PathLike[str], *, size: int | tuple[int, int] = 128, binary: str | None = None
) -> Iterator[tuple[NDArray[np.uint8], bytes]]:
    """Runs a recording again, and yields what was seen before each action, and the action as its seven bytes.

    Raises `WorldError` if a state is not the recorded one, or if something was crafted without the pointer.
    """
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        first = json.loads(next(lines))
        begun = first["task"]
        options = {"task": begun["file"]} if "file" in begun else {"scene": begun["scene"]}
        worlds = Worlds(binary, 1, edges(size), maxSteps=1_000_000, **options)
        try:
            yield from _run(worlds, first, lines)
        finally:
            worlds.close()


def demos(
    task: str,
    seed: int | None = None,
    size: int | tuple[int, int] = (128, 128),
    *,
    action_space: Literal["multi", "compact"] = "multi",
    binary: str | None = None,
) -> list[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    """The solutions of a task that come with the world, or the one on a seed, run again for an agent to imitate.

    Each is a pair of arrays, with an entry for each step: `observations[i]`, of the shape (height, width, 3), is what was
    seen before `actions[i]` was taken, and the actions are those of the action space. A task without solutions has an
    empty list.

    Raises `WorldError` if a state is not the recorded one, and `KeyError` if there is no solution on the seed.
    """
    encoders = {"multi": MultiEncoder, "compact": CompactEncoder}
    if action_space not in encoders:
        raise ValueError(f"action_space is one of {', '.join(encoders)}, and not {action_space!r}")
    encoder: MultiEncoder | CompactEncoder = encoders[action_space]()
    worlds = Worlds(binary, 1, edges(size), maxSteps=1_000_000, task=task)
    try:
        solutions = worlds.solutions(task)
        if seed is not None and seed not in solutions:
            raise KeyError(f"{task} has no solution on the seed {seed}, but on {sorted(solutions)}")
        pairs = []
        for recording in solutions.values() if seed is None else [solutions[seed]]:
            first, *lines = gzip.decompress(recording).decode().splitlines()
            steps = list(_run(worlds, json.loads(first), iter(lines)))
            observations = np.stack([picture for picture, _ in steps])
            pairs.append((observations, np.array([encoder.decode(action) for _, action in steps], np.int64)))
        return pairs
    finally:
        worlds.close()


def _run(worlds: Worlds, first: dict[str, Any], lines: Iterator[str]) -> Iterator[tuple[NDArray[np.uint8], bytes]]:
    if worlds.engine != first["engine"]:
        raise WorldError(f"it was made with {first['engine']}, and this is {worlds.engine}")
    pictures = np.empty((1, worlds.height, worlds.width, 3), np.uint8)
    [outcome] = worlds.reset([first["seed"]], pictures)
    for line in lines:
        part = json.loads(line)
        if isinstance(part, list):
            if len(part) > 5:
                raise WorldError("it crafts without the pointer, which actions cannot; `buildoff-world replay` runs it")
            action = _ACTION.pack(*part[1:])
            for _ in range(part[0]):
                yield pictures[0].copy(), action
                [outcome] = worlds.step(action, pictures)
        elif part.get("hash", part.get("final")) != outcome.info["hash"]:
            step = outcome.info["step"]
            raise WorldError(f"after step {step} the world is another one than in the recording")
