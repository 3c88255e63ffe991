"""Turntables, read by an independent reader."""

import os
import pathlib
import subprocess

import pytest
from PIL import Image

ROOT = pathlib.Path(__file__).parent.parent.parent
SPEC = ROOT / "builds/32-simple/treehouse/reference_architect.json"


@pytest.mark.parametrize("name, size", [("turned.webp", 320), ("turned.gif", 288)])
def test_a_turntable_is_a_whole_turn_that_loops(tmp_path, name, size):
    out = tmp_path / name
    subprocess.run([os.environ["BUILDOFF"], "render", SPEC, "-o", out], check=True)
    with Image.open(out) as picture:
        assert picture.n_frames == 36
        assert picture.info["loop"] == 0
        frames = []
        for number in range(picture.n_frames):
            picture.seek(number)
            picture.load()
            assert picture.size == (size, size)
            assert picture.info["duration"] == 80
            frames.append(picture.convert("RGB").tobytes())
    assert len(set(frames)) == 36
    if name.endswith(".webp"):
        assert out.stat().st_size <= 300_000
