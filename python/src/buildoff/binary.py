"""Finding the program that runs the worlds."""

import os
import shutil
from pathlib import Path


class BinaryNotFound(FileNotFoundError):
    """There is no program that runs the worlds."""


def serve_command(binary: str | os.PathLike[str] | None) -> list[str]:
    """The command that serves worlds over its standard streams."""
    program = _find(binary)
    # `buildoff` has the commands of `buildoff-world` under `buildoff world`.
    is_world = "world" in Path(program).name
    return [program, "serve"] if is_world else [program, "world", "serve"]


def _find(binary: str | os.PathLike[str] | None) -> str:
    named = binary or os.environ.get("BUILDOFF")
    if named:
        found = shutil.which(named)
        if found is None:
            raise BinaryNotFound(f"{os.fspath(named)} is no program that can be started")
        return found
    packed = Path(__file__).with_name("bin") / "buildoff-world"
    for place in (packed, "buildoff-world", "buildoff"):
        found = shutil.which(place)
        if found is not None:
            return found
    raise BinaryNotFound(
        "The program buildoff-world was not found. Build it with `cargo build --release -p buildoff-world`, and put it "
        "on the PATH, name it in the variable BUILDOFF, or pass binary=... to gymnasium.make."
    )
