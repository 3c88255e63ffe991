"""The attacks of scripts/attack. Each is a coroutine that starts a server, attacks it, and returns an Outcome."""

from dataclasses import dataclass


@dataclass
class Options:
    """What every attack is told."""

    program: str
    # How long an attack that could go on for ever does.
    seconds: float


@dataclass
class Outcome:
    held: bool
    figure: str
