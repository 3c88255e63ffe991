"""Exports, read by independent readers and compared cell by cell, or by volume and bounds."""

import gzip
import json
import os
import pathlib
import struct
import subprocess
import tomllib
import zipfile

import litemapy
import nbtlib
import numpy as np
import pytest
import trimesh
from midvoxio.parser import Parser

ROOT = pathlib.Path(__file__).parent.parent.parent
SAMPLES = {
    "homestead": (ROOT / "crates/voxel/tests/data/homestead.json", 32),
    "lighthouse": (ROOT / "builds/32-simple/lighthouse/reference_architect.json", 32),
    "noise": (ROOT / "crates/voxel/tests/data/grids/noise.json", 32),
}
CLASSES = {block["id"]: block["class"] for palette in ("simple", "advanced")
           for block in tomllib.loads((ROOT / f"palettes/{palette}.toml").read_text())["block"]}
SIDES = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
# The directions of a texture's columns and rows on a face, by its normal; see crates/voxel/src/textures.rs.
COLUMNS = dict(zip(SIDES, [(0, 0, -1), (0, 0, 1), (1, 0, 0), (1, 0, 0), (1, 0, 0), (-1, 0, 0)]))
ROWS = dict(zip(SIDES, [(0, -1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1), (0, -1, 0), (0, -1, 0)]))
FACES = ("top", "side", "bottom")
STATES = {"oak_log": "axis", "spruce_log": "axis", "birch_log": "axis", "deepslate": "axis",
          "water": "level", "lava": "level", "grass_block": "snowy", "oak_leaves": "persistent",
          "flowering_azalea_leaves": "persistent"}


def buildoff(*arguments):
    return subprocess.run([os.environ["BUILDOFF"], *map(str, arguments)], capture_output=True, text=True)


class Sample:
    """The cells of a build according to `buildoff check`, and its exports."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.file, self.grid = SAMPLES[name]
        self.settings = ["--grid", self.grid, "--palette", "advanced"]
        told = json.loads(buildoff("check", self.file, "--cells", *self.settings).stdout)
        self.cells = {(x, y, z): block for x, y, z, block in told["cells"]}
        self.low, self.high = (np.array(told["bounds"][end]) for end in ("min", "max"))
        self.spans = self.high - self.low + 1

    def export(self, form):
        out = self.folder / f"{self.name}.{'zip' if form == 'obj' else form}"
        done = buildoff("export", self.file, "--format", form, "-o", out, *self.settings)
        assert done.returncode == 0, done.stderr
        return out

    def all_places(self):
        width, height, depth = self.spans
        return ((x, y, z) for y in range(height) for z in range(depth) for x in range(width))

    def block(self, at):
        return self.cells.get(tuple(int(v) for v in self.low + at), "air")

    def faces(self, shown):
        """The number of faces for which `shown(block, neighbour)` is true."""
        return sum(shown(block, self.cells.get((x + a, y + b, z + c)))
                   for (x, y, z), block in self.cells.items() for a, b, c in SIDES)


@pytest.fixture(scope="module", params=SAMPLES)
def sample(request, tmp_path_factory):
    return Sample(request.param, tmp_path_factory.mktemp("exports"))


def ours(state):
    """The block for a Minecraft id with its properties."""
    name, _, properties = state.removesuffix("]").partition("[")
    assert name.startswith("minecraft:")
    block = name.removeprefix("minecraft:")
    keys = {pair.split("=")[0] for pair in properties.split(",") if pair}
    assert (STATES[block] in keys) if block in STATES else not keys, state
    return "snow" if block == "snow_block" else block


def text(entry):
    """An entry of a palette as text."""
    properties = entry.get("Properties", {})
    return str(entry["Name"]) + (f"[{','.join(f'{k}={v}' for k, v in properties.items())}]" if properties else "")


def test_schem(sample):
    root = nbtlib.load(sample.export("schem"))["Schematic"]
    assert (root["Version"], root["Metadata"]["Name"]) == (3, sample.name)
    assert [root["Width"], root["Height"], root["Length"]] == list(sample.spans)
    assert list(root["Offset"]) == list(sample.low)
    names = {int(number): ours(str(state)) for state, number in root["Blocks"]["Palette"].items()}
    data = bytes(np.array(root["Blocks"]["Data"], dtype=np.int8))
    assert len(names) < 128, "the test reads one byte per block, which allows up to 127 names"
    assert [names[number] for number in data] == [sample.block(at) for at in sample.all_places()]


def test_litematic(sample):
    schematic = litemapy.Schematic.load(str(sample.export("litematic")))
    assert schematic.name == sample.name
    region = schematic.regions[sample.name]
    assert [region.x, region.y, region.z] == list(sample.low)
    assert [region.width, region.height, region.length] == list(sample.spans)
    for x, y, z in sample.all_places():
        assert ours(region[x, y, z].to_block_state_identifier()) == sample.block((x, y, z))
    about = nbtlib.load(sample.export("litematic"))["Metadata"]
    assert about["TotalBlocks"] == len(sample.cells) and about["TimeCreated"] == about["TimeModified"] == 0


def test_structure(sample):
    root = nbtlib.load(sample.export("nbt"))
    assert list(root["size"]) == list(sample.spans)
    names = [ours(text(entry)) for entry in root["palette"]]
    placed = {tuple(int(v) for v in block["pos"]): names[block["state"]] for block in root["blocks"]}
    assert placed == {at: sample.block(at) for at in sample.all_places()}


def test_json_gives_the_same_grid(sample):
    again = buildoff("check", sample.export("json"), "--cells", *sample.settings)
    told = json.loads(again.stdout)
    assert {(x, y, z): block for x, y, z, block in told["cells"]} == sample.cells
    assert told["warnings"] == []


def test_vox(sample):
    file = Vox(sample.export("vox").read_bytes())
    width, height, depth = (int(v) for v in sample.spans)
    assert file.size == (width, depth, height)
    assert file.translation == (sample.low[0] + width // 2, sample.grid - 1 - sample.high[2] + depth // 2,
                                sample.low[1] + height // 2)
    found = {(int(sample.low[0]) + x, int(sample.low[1]) + z, int(sample.high[2]) - y): colour
             for x, y, z, colour in file.voxels}
    assert len(found) == len(file.voxels) and found.keys() == sample.cells.keys()
    pairs = {(block, found[at]) for at, block in sample.cells.items()}
    assert len(pairs) == len(set(sample.cells.values())), "each block must have exactly one colour"
    assert all(file.palette[colour - 1][3] == 255 for _, colour in pairs)


def test_vox_with_an_independent_reader(sample):
    dense = Parser(str(sample.export("vox"))).parse().to_list(0)
    depth = int(sample.spans[2])
    found = {tuple(int(v) for v in (sample.low + (x, z, depth - 1 - y))) for x, y, z in np.argwhere(dense[..., 3])}
    assert found == sample.cells.keys()


class Vox:
    """A reader written from the published description of the format."""

    def __init__(self, data):
        assert struct.unpack_from("<4si4sii", data) == (b"VOX ", 200, b"MAIN", 0, len(data) - 20)
        at, chunks = 20, {}
        while at < len(data):
            kind, length, children = struct.unpack_from("<4sii", data, at)
            assert children == 0
            chunks.setdefault(kind, []).append(data[at + 12:at + 12 + length])
            at += 12 + length
        assert at == len(data)
        self.size = struct.unpack("<3i", chunks[b"SIZE"][0])
        (content,) = chunks[b"XYZI"]
        self.voxels = list(struct.iter_unpack("4B", content[4:]))
        assert len(self.voxels) == struct.unpack_from("<i", content)[0]
        self.palette = list(struct.iter_unpack("4B", chunks[b"RGBA"][0]))
        assert len(self.palette) == 256
        root, placed = (self.transform(chunk) for chunk in chunks[b"nTRN"])
        assert root == (0, 1, {}) and placed[:2] == (2, 3)
        assert struct.unpack("<4i", chunks[b"nGRP"][0]) == (1, 0, 1, 2)
        assert struct.unpack("<5i", chunks[b"nSHP"][0]) == (3, 0, 1, 0, 0)
        self.translation = tuple(int(v) for v in placed[2]["_t"].split())

    def transform(self, chunk):
        node, attributes, child, reserved, layer, frames = struct.unpack_from("<6i", chunk)
        assert (attributes, reserved, layer, frames) == (0, -1, -1, 1)
        at, found = 24, {}
        (entries,) = struct.unpack_from("<i", chunk, at)
        at += 4
        for _ in range(entries):
            pair = []
            for _ in "kv":
                (length,) = struct.unpack_from("<i", chunk, at)
                pair.append(chunk[at + 4:at + 4 + length].decode())
                at += 4 + length
            found[pair[0]] = pair[1]
        assert at == len(chunk)
        return node, child, found


def test_stl_is_a_solid(sample):
    mesh = trimesh.load(sample.export("stl"))
    assert mesh.is_watertight and mesh.is_winding_consistent
    assert mesh.volume == pytest.approx(len(sample.cells), rel=1e-6)
    assert mesh.area == pytest.approx(sample.faces(lambda _, beside: beside is None), rel=1e-6)
    (x1, y1, z1), (x2, y2, z2) = sample.low, sample.high + 1
    assert mesh.bounds.tolist() == [[x1, sample.grid - z2, y1], [x2, sample.grid - z1, y2]]


def surface(loaded):
    return loaded.to_mesh() if isinstance(loaded, trimesh.Scene) else loaded


def seen(block, beside):
    return block != beside and CLASSES.get(beside) not in ("opaque", "emissive")


def test_models(sample):
    expected = [sample.low.tolist(), (sample.high + 1).tolist()]
    glb = surface(trimesh.load(sample.export("glb")))
    assert glb.bounds.tolist() == expected

    with zipfile.ZipFile(sample.export("obj")) as archive:
        assert archive.testzip() is None
        folder = sample.folder / f"{sample.name}-obj"
        archive.extractall(folder)
    obj = surface(trimesh.load(folder / f"{sample.name}.obj"))
    assert obj.bounds.tolist() == expected
    assert obj.area == pytest.approx(glb.area) == pytest.approx(sample.faces(seen))
    named = {line.split()[1] for line in (folder / f"{sample.name}.mtl").read_text().splitlines()
             if line.startswith("map_")}
    assert named and named <= {str(path.relative_to(folder)) for path in folder.glob("textures/*.png")}
    # Every face is perpendicular to an axis.
    normals = np.round(trimesh.load(folder / f"{sample.name}.obj", force="mesh").face_normals)
    assert set(np.abs(normals).sum(axis=1)) == {1}


def test_textures_have_the_documented_orientation(sample):
    scene = trimesh.load(sample.export("glb"))
    modes = {"cutout": "MASK", "transparent": "BLEND", "liquid": "BLEND"}
    for part in scene.geometry.values():
        material = part.visual.material
        block = next(name for name in CLASSES if material.name in (name, *(f"{name}_{face}" for face in FACES)))
        assert (material.alphaMode or "OPAQUE") == modes.get(CLASSES[block], "OPAQUE")
        repeat = material.baseColorTexture.width / 16
        # trimesh counts texture rows from the bottom.
        places = part.visual.uv * [1, -1] + [0, 1]
        corners, places = part.vertices[part.faces], places[part.faces]
        for side in SIDES:
            chosen = (np.round(part.face_normals) == side).all(axis=1)
            edges, moved = (points[chosen, 1:] - points[chosen, :1] for points in (corners, places))
            axes = np.transpose([COLUMNS[side], ROWS[side]])
            assert np.allclose(moved * repeat, edges @ axes), (material.name, side)


def test_names_come_from_the_file_and_gzip_has_no_date(sample):
    packed = sample.export("schem").read_bytes()
    assert packed[4:8] == b"\0\0\0\0" and gzip.decompress(packed)[:3] == b"\n\0\0"
