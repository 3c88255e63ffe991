"""The action spaces, and the seven bytes that an action is for the world."""

import struct
from collections.abc import Mapping
from typing import Any, Literal, Protocol

import numpy as np
from gymnasium import spaces

ActionSpaceName = Literal["multi", "compact", "minerl"]

BUTTONS = (
    "attack",
    "back",
    "forward",
    "jump",
    "left",
    "right",
    "sneak",
    "sprint",
    "use",
    "drop",
    "inventory",
    "swap_hands",
    "pick_block",
)
_BIT = {name: 1 << place for place, name in enumerate(BUTTONS)}

# How far the eleven places of a camera axis turn, in hundredths of a degree: close ones near the middle.
CAMERA_BINS = (-1000, -581, -322, -161, -62, 0, 62, 161, 322, 581, 1000)

_ACTION = struct.Struct("<HBhh")

# The parts of the default space: what its numbers from 1 press.
_MULTI: tuple[tuple[str, ...], ...] = (
    ("forward", "back"),
    ("left", "right"),
    ("sprint", "sneak"),
    ("jump",),
    ("attack",),
    ("use",),
    ("drop",),
    ("inventory",),
)
_MULTI_BITS = tuple((0, *(_BIT[name] for name in names)) for names in _MULTI)

# The compact space counts in mixed places, the last one fastest.
_COMPACT: tuple[tuple[str, ...], ...] = (
    ("forward", "back"),
    ("left", "right"),
    ("sprint", "sneak"),
    ("use",),
    ("drop",),
    ("attack",),
    ("jump",),
)
COMPACT_BUTTONS = 8641
COMPACT_CAMERA = 121
_COMPACT_INVENTORY = 8640


class Encoder(Protocol):
    """An action space, and how its actions become bytes."""

    space: spaces.Space[Any]

    def encode(self, action: Any) -> bytes: ...


class MultiEncoder:
    """The default: a number for each pair of keys that exclude each other, the hot bar, and the two camera axes."""

    def __init__(self) -> None:
        self.space = spaces.MultiDiscrete([len(bits) for bits in _MULTI_BITS] + [10, 11, 11])

    def encode(self, action: Any) -> bytes:
        *keys, hotbar, pitch, yaw = action.tolist() if isinstance(action, np.ndarray) else action
        buttons = 0
        for bits, key in zip(_MULTI_BITS, keys, strict=True):
            buttons |= bits[key]
        return _ACTION.pack(buttons, hotbar, CAMERA_BINS[pitch], CAMERA_BINS[yaw])

    def decode(self, action: bytes) -> list[int]:
        """The numbers of an action that this space has."""
        buttons, hotbar, *turn = _ACTION.unpack(action)
        keys = [next((key for key, bit in enumerate(bits) if bit & buttons), 0) for bits in _MULTI_BITS]
        return _checked(self, [*keys, hotbar, *(_bin(part) for part in turn)], action)


class CompactEncoder:
    """The pair of numbers that agents of the MCU benchmark answer with."""

    def __init__(self) -> None:
        self.space = spaces.MultiDiscrete([COMPACT_BUTTONS, COMPACT_CAMERA])

    def encode(self, action: Any) -> bytes:
        number, camera = (int(part) for part in action)
        pitch, yaw = (CAMERA_BINS[place] for place in divmod(camera, 11))
        if number == _COMPACT_INVENTORY:
            return _ACTION.pack(_BIT["inventory"], 0, pitch, yaw)
        number, has_camera = divmod(number, 2)
        buttons = 0
        for names in reversed(_COMPACT):
            number, key = divmod(number, len(names) + 1)
            if key:
                buttons |= _BIT[names[key - 1]]
        return _ACTION.pack(buttons, number, pitch, yaw) if has_camera else _ACTION.pack(buttons, number, 0, 0)

    def decode(self, action: bytes) -> list[int]:
        """The two numbers of an action that this space has."""
        buttons, number, *turn = _ACTION.unpack(action)
        pitch, yaw = (_bin(part) for part in turn)
        camera = pitch * 11 + yaw
        if buttons & _BIT["inventory"]:
            return _checked(self, [_COMPACT_INVENTORY, camera], action)
        for names in _COMPACT:
            key = next((place for place, name in enumerate(names, 1) if buttons & _BIT[name]), 0)
            number = number * (len(names) + 1) + key
        return _checked(self, [number * 2 + any(turn), camera], action)


def _bin(turn: int) -> int:
    """The place of a turn on an axis of the camera, or that of no turn."""
    return CAMERA_BINS.index(turn if turn in CAMERA_BINS else 0)


def _checked(encoder: Encoder, numbers: list[int], action: bytes) -> list[int]:
    if encoder.encode(numbers) != action:
        raise ValueError(f"the action {action.hex()} is none of this space")
    return numbers


class MineRLEncoder:
    """The dictionary of MineRL: a 0 or 1 for each key, and the camera as degrees down and to the right."""

    def __init__(self) -> None:
        keys = [*(name for name in BUTTONS if name not in ("swap_hands", "pick_block"))]
        keys += ["swapHands", "pickItem", "ESC", *(f"hotbar.{slot}" for slot in range(1, 10))]
        self.space = spaces.Dict(
            {
                **{key: spaces.Discrete(2) for key in keys},
                "camera": spaces.Box(-180.0, 180.0, (2,), np.float32),
            }
        )

    def encode(self, action: Mapping[str, Any]) -> bytes:
        buttons = sum(bit for name, bit in _BIT.items() if action.get(name))
        buttons |= _BIT["swap_hands"] if action.get("swapHands") else 0
        buttons |= _BIT["pick_block"] if action.get("pickItem") else 0
        slot = next((slot for slot in range(1, 10) if action.get(f"hotbar.{slot}")), 0)
        turns = [round(max(-180.0, min(180.0, float(part))) * 100) for part in action.get("camera", (0.0, 0.0))]
        return _ACTION.pack(buttons, slot, *turns)


def encoder(name: ActionSpaceName) -> Encoder:
    encoders = {"multi": MultiEncoder, "compact": CompactEncoder, "minerl": MineRLEncoder}
    if name not in encoders:
        raise ValueError(f"action_space is one of {', '.join(encoders)}, and not {name!r}")
    return encoders[name]()
