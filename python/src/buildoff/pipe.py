"""The protocol of `buildoff-world serve`: messages of a length, a kind and a body over two pipes."""

import json
import struct
import subprocess
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .binary import serve_command

PROTOCOL = 1

_HEAD = struct.Struct("<IB")
_OUTCOME = struct.Struct("<fBBI")
_SOLUTION = struct.Struct("<QI")


class WorldError(RuntimeError):
    """The world refused something, or its process has ended."""


class Kind(IntEnum):
    HELLO = 1
    MAKE = 2
    RESET = 3
    STEP = 4
    FRAMES = 5
    SAVE = 6
    LOAD = 7
    CLOSE = 8
    ERROR = 9
    RECORDING = 10
    SOLUTIONS = 11


@dataclass(slots=True)
class Outcome:
    """What a step has brought."""

    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class Worlds:
    """Worlds in a process of their own."""

    def __init__(self, binary: str | None, count: int, size: tuple[int, int], **options: Any) -> None:
        self.count = count
        self.height, self.width = size
        command = serve_command(binary)
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        try:
            hello = json.loads(bytes(self._receive(Kind.HELLO)))
            if hello["protocol"] != PROTOCOL:
                raise WorldError(f"{command[0]} speaks protocol {hello['protocol']}, and this package {PROTOCOL}")
            self.engine: str = hello["engine"]
            self.camera_bins: list[int] = hello["cameraBins"]
            self.tasks: list[str] = hello["tasks"]
            made = {"count": count, "width": self.width, "height": self.height, **options}
            self.text: str = json.loads(bytes(self._ask(Kind.MAKE, json.dumps(made).encode(), Kind.MAKE)))["text"]
        except BaseException:
            self.close()
            raise

    def reset(self, seeds: list[int | None], pictures: NDArray[np.uint8]) -> list[Outcome]:
        """Begins an episode in each world that has a seed. The pictures are written into the given array."""
        body = json.dumps({"seeds": seeds}).encode()
        return self._read_frames(self._ask(Kind.RESET, body, Kind.FRAMES), pictures)

    def step(self, actions: bytes, pictures: NDArray[np.uint8]) -> list[Outcome]:
        return self._read_frames(self._ask(Kind.STEP, actions, Kind.FRAMES), pictures)

    def save(self, place: int) -> bytes:
        return bytes(self._ask(Kind.SAVE, struct.pack("<I", place), Kind.SAVE))

    def load(self, place: int, save: bytes, pictures: NDArray[np.uint8]) -> Outcome:
        body = self._ask(Kind.LOAD, struct.pack("<I", place) + save, Kind.FRAMES)
        return self._read_frames(body, pictures)[0]

    def recording(self, place: int) -> bytes:
        return bytes(self._ask(Kind.RECORDING, struct.pack("<I", place), Kind.RECORDING))

    def solutions(self, task: str) -> dict[int, bytes]:
        """The recorded solutions of a task by their seeds."""
        body = self._ask(Kind.SOLUTIONS, json.dumps({"task": task}).encode(), Kind.SOLUTIONS)
        found = {}
        at = 0
        while at < len(body):
            seed, length = _SOLUTION.unpack_from(body, at)
            at += _SOLUTION.size
            found[seed] = bytes(body[at : at + length])
            at += length
        return found

    def close(self) -> None:
        """Ends the process, which also ends when this one does."""
        process = self._process
        if process.stdin is None or process.stdin.closed:
            return
        try:
            process.stdin.write(_HEAD.pack(0, Kind.CLOSE))
        except OSError:
            pass
        process.stdin.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.close()

    def _read_frames(self, body: memoryview, pictures: NDArray[np.uint8]) -> list[Outcome]:
        outcomes = []
        at = 0
        size = pictures[0].size
        for picture in pictures:
            reward, terminated, truncated, length = _OUTCOME.unpack_from(body, at)
            at += _OUTCOME.size
            info = json.loads(bytes(body[at : at + length]))
            at += length
            picture.reshape(-1)[:] = np.frombuffer(body, np.uint8, size, at)
            at += size
            outcomes.append(Outcome(reward, bool(terminated), bool(truncated), info))
        return outcomes

    def _ask(self, kind: Kind, body: bytes, expected: Kind) -> memoryview:
        stream = self._process.stdin
        if stream is None or stream.closed:
            raise WorldError("this world is closed")
        try:
            message = memoryview(_HEAD.pack(len(body), kind) + body)
            while message:
                message = message[stream.write(message) :]
        except OSError as error:
            raise self._ended() from error
        return self._receive(expected)

    def _receive(self, expected: Kind) -> memoryview:
        length, kind = _HEAD.unpack(self._read(_HEAD.size))
        body = self._read(length)
        if kind == Kind.ERROR:
            raise WorldError(json.loads(bytes(body))["error"])
        if kind != expected:
            raise WorldError(f"the world answered with a message of kind {kind}, and not {int(expected)}")
        return body

    def _read(self, length: int) -> memoryview:
        stream = self._process.stdout
        assert stream is not None
        body = memoryview(bytearray(length))
        at = 0
        while at < length:
            count = stream.readinto(body[at:])  # type: ignore[attr-defined]
            if not count:
                raise self._ended()
            at += count
        return body

    def _ended(self) -> WorldError:
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return WorldError("the process of the world has closed its output")
        return WorldError(f"the process of the world has ended with code {code}; it may have written why to stderr")
