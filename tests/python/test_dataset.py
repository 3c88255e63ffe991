"""A dataset that tests/suite/dataset.rs has saved, read with the standard library alone."""

import gzip
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import tarfile
import zlib

import pytest

WRITTEN = pathlib.Path(os.environ["BUILDOFF"]).parent.parent / "tmp" / "dataset" / "dataset.tar"


@pytest.fixture(scope="module")
def files():
    with tarfile.open(WRITTEN) as tar:
        members = tar.getmembers()
        assert all(member.isreg() and member.mtime == 0 and member.mode == 0o644 for member in members)
        return {member.name: tar.extractfile(member).read() for member in members}


def records(files, name):
    text = gzip.decompress(files[name]) if name.endswith(".gz") else files[name]
    return [json.loads(line) for line in text.splitlines()]


def decode(encoded):
    """The blocks of an encoded grid by their cells; see crates/voxel/src/codec.rs."""
    assert encoded[:5] == b"BOGR\x01"
    assert struct.unpack("<I", encoded[-4:]) == (zlib.crc32(encoded[:-4]),)
    at, kinds = 8, ["air"]
    for _ in range(encoded[7]):
        length = encoded[at]
        kinds.append(encoded[at + 1:at + 1 + length].decode())
        at += 1 + length
    low, spans = encoded[at:at + 3], [span + 1 for span in encoded[at + 3:at + 6]]
    (size,) = struct.unpack("<I", encoded[at + 6:at + 10])
    lengths, values = encoded[at + 10:at + 10 + size], encoded[at + 10 + size:-4]
    runs, run, shift = [], 0, 0
    for byte in lengths:
        run |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            runs.append(run + 1)
            run = shift = 0
    assert len(runs) == len(values) and sum(runs) == spans[0] * spans[1] * spans[2]
    cells, cell = {}, 0
    for run, value in zip(runs, values):
        for place in range(cell, cell + run) if value else ():
            x, rest = place % spans[0], place // spans[0]
            z, y = rest % spans[2], rest // spans[2]
            cells[low[0] + x, low[1] + y, low[2] + z] = kinds[value]
        cell += run
    return cells


def test_the_manifest_lists_every_other_file_with_its_size_and_digest(files):
    manifest = json.loads(files["manifest.json"])

    assert (manifest["format"], manifest["version"]) == ("buildoff-dataset", 1)
    listed = {file["path"]: (file["bytes"], file["sha256"]) for file in manifest["files"]}
    assert listed == {name: (len(content), hashlib.sha256(content).hexdigest())
                      for name, content in files.items() if name != "manifest.json"}
    counts = manifest["counts"]
    for name in ("prompts", "models", "builds", "decisions"):
        assert len(records(files, f"{name}.jsonl")) == counts[name]
    votes = records(files, "votes.jsonl.gz")
    assert (len(votes), sum(not vote["exclusion"] for vote in votes)) == (counts["votes"], counts["countedVotes"])


def test_records_refer_to_each_other(files):
    prompts = {prompt["id"] for prompt in records(files, "prompts.jsonl")}
    models = {model["key"] for model in records(files, "models.jsonl")}
    builds = {build["logId"]: build for build in records(files, "builds.jsonl")}

    assert builds and all(build["promptId"] in prompts and build["modelKey"] in models for build in builds.values())
    for vote in records(files, "votes.jsonl.gz"):
        for side in ("a", "b"):
            build = builds[vote[f"build_{side}"]]
            assert (build["promptId"], build["modelKey"]) == (vote["prompt_id"], vote[f"model_{side}"])


def test_a_spec_makes_the_grid_beside_it(files, tmp_path):
    for build in records(files, "builds.jsonl"):
        encoded = gzip.decompress(files[f"builds/{build['id']}.grid.gz"])
        assert hashlib.sha256(encoded).hexdigest() == build["digest"]
        spec = tmp_path / "spec.json"
        spec.write_bytes(gzip.decompress(files[f"builds/{build['id']}.json.gz"]))
        grid, palette, _ = build["settings"].split("-", 2)
        checked = subprocess.run([os.environ["BUILDOFF"], "check", spec, "--cells", "--grid", grid, "--palette", palette],
                                 capture_output=True, check=True)
        cells = {(x, y, z): block for x, y, z, block in json.loads(checked.stdout)["cells"]}
        assert decode(encoded) == cells
        assert len(cells) == build["blockCount"]


def test_ladders_follow_from_the_votes(files):
    counted = [vote for vote in records(files, "votes.jsonl.gz") if not vote["exclusion"]]
    (ladder,) = json.loads(files["ladders.json"])

    for model in ladder["models"]:
        sides = [(vote, side) for vote in counted for side in "ab" if vote[f"model_{side}"] == model["key"]]
        assert model["votes"] == len(sides)
        assert model["wins"] == sum(vote["choice"] == side.upper() for vote, side in sides)
        vote, side = sides[-1]
        assert model["elo"] == vote[f"elo_{side}_after"]
