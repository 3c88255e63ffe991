"""Files of independent writers, imported by Buildoff and compared cell by cell."""

import json
import os
import subprocess

import litemapy
import numpy as np
import pytest
from midvoxio.writer import ArrayWriter
from nbtlib import ByteArray, Compound, File, Int, IntArray, List, Short, String

KINDS = ["stone", "oak_planks", "glass", "red_wool", "water", "oak_log"]
# A Minecraft block for each of these, some of which the simple palette lacks.
FOREIGN = {"stone": "andesite", "oak_planks": "spruce_stairs[facing=east,half=bottom,shape=straight]",
           "glass": "blue_stained_glass", "red_wool": "red_concrete", "water": "water[level=3]",
           "oak_log": "stripped_birch_log[axis=z]"}


def check(file, grid=32, palette="simple"):
    asked = [os.environ["BUILDOFF"], "check", str(file), "--cells", "--grid", str(grid), "--palette", palette]
    done = subprocess.run(asked, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def cells(told):
    return {(x, y, z): block for x, y, z, block in told["cells"]}


def some(size, kinds=KINDS, seed=1):
    """Random blocks, including two opposite corners."""
    dice = np.random.default_rng(seed)
    places = {tuple(int(dice.integers(side)) for side in size) for _ in range(200)}
    places |= {(0, 0, 0), tuple(side - 1 for side in size)}
    return {at: kinds[int(dice.integers(len(kinds)))] for at in places}


def centred(found, grid=32):
    """The cells moved to the middle of the floor, where imports are placed."""
    low, high = ([side(axis) for axis in zip(*found)] for side in (min, max))
    west, north = ((grid - (high[axis] - low[axis] + 1)) // 2 for axis in (0, 2))
    return {(x - low[0] + west, y - low[1], z - low[2] + north): kind for (x, y, z), kind in found.items()}


def varint(number):
    low, rest = number & 0x7f, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def sponge(found, size, step=1):
    """The palette and the block data, with palette indices that are `step` apart."""
    names = {"minecraft:air": 0} | {f"minecraft:{FOREIGN[kind]}": step * i for i, kind in enumerate(KINDS, 1)}
    number = lambda at: names[f"minecraft:{FOREIGN[found[at]]}"] if at in found else 0
    width, height, length = size
    data = b"".join(varint(number((x, y, z))) for y in range(height) for z in range(length) for x in range(width))
    palette = Compound({name: Int(number) for name, number in names.items()})
    return palette, ByteArray(np.frombuffer(data, dtype=np.int8))


def sides(size):
    return dict(zip(("Width", "Height", "Length"), map(Short, size)))


@pytest.mark.parametrize("step", [1, 60, 9000])
def test_sponge_2(tmp_path, step):
    size = (9, 7, 12)
    found = some(size)
    palette, data = sponge(found, size, step)
    cow = Compound({"Id": String("minecraft:cow"), "Pos": List([Int(1), Int(2), Int(3)])})
    root = {"Version": Int(2), "DataVersion": Int(2975), **sides(size), "Offset": IntArray([4, 1, 8]),
            "Metadata": Compound({"WEOffsetX": Int(-3), "WEOffsetY": Int(0), "WEOffsetZ": Int(9)}),
            "PaletteMax": Int(len(palette)), "Palette": palette, "BlockData": data,
            "BlockEntities": List([]), "Entities": List[Compound]([cow])}
    File(root, gzipped=True, root_name="Schematic").save(tmp_path / "two.schem")
    told = check(tmp_path / "two.schem")
    # The file has an offset in a world, which must not move the build.
    assert cells(told) == {(x + 11, y, z + 10): kind for (x, y, z), kind in found.items()}
    replaced = {w["type"]: w["count"] for w in told["warnings"]}
    assert {w["code"] for w in told["warnings"]} == {"replaced_block"}
    kinds = list(found.values())
    assert replaced == {FOREIGN[kind].split("[")[0]: kinds.count(kind) for kind in set(kinds) - {"water"}}


def test_sponge_3_at_a_large_offset_is_centred_on_the_floor(tmp_path):
    size = (6, 5, 11)
    found = some(size)
    palette, data = sponge(found, size)
    blocks = Compound({"Palette": palette, "Data": data, "BlockEntities": List([])})
    root = {"Schematic": Compound({"Version": Int(3), "DataVersion": Int(3700), **sides(size),
                                   "Offset": IntArray([-120, 64, 7]), "Blocks": blocks})}
    File(root, gzipped=True).save(tmp_path / "three.schem")
    assert cells(check(tmp_path / "three.schem")) == {(x + 13, y, z + 10): kind for (x, y, z), kind in found.items()}
    assert cells(check(tmp_path / "three.schem", 64))[(29, 0, 26)] == found[(0, 0, 0)]


def test_litematic_with_regions_of_negative_size(tmp_path):
    first = litemapy.Region(2, 1, 3, 5, 6, 4)
    second = litemapy.Region(20, 9, 25, -7, -4, -6)
    expected = {}
    for region, seed in ((first, 2), (second, 3)):
        dice = np.random.default_rng(seed)
        for x in region.range_x():
            for y in region.range_y():
                for z in region.range_z():
                    if dice.random() < 0.4:
                        kind = KINDS[int(dice.integers(len(KINDS)))]
                        region[x, y, z] = litemapy.BlockState(f"minecraft:{kind}")
                        expected[(region.x + x, region.y + y, region.z + z)] = kind
    schematic = litemapy.Schematic(name="two", author="x", regions={"first": first, "second": second})
    schematic.save(str(tmp_path / "two.litematic"))
    told = check(tmp_path / "two.litematic")
    assert cells(told) == centred(expected) and told["warnings"] == []


def test_litematic_with_a_wide_palette(tmp_path):
    """The palette is so large that entries cross the boundary between two longs."""
    region = litemapy.Region(0, 0, 0, 16, 9, 8)
    colours = ["white", "black", "red", "blue", "green", "yellow", "orange", "purple"]
    whats = ("wool", "concrete", "glazed_terracotta", "terracotta", "bed")
    kinds = [f"{colour}_{what}" for what in whats for colour in colours]
    expected = {}
    for i, (y, z, x) in enumerate(np.ndindex(9, 8, 16)):
        kind = kinds[i * 7 % len(kinds)]
        region[x, y, z] = litemapy.BlockState(f"minecraft:{kind}")
        expected[(x, y, z)] = f"{kind.split('_')[0]}_wool"
    region.as_schematic(name="wide").save(str(tmp_path / "wide.litematic"))
    assert cells(check(tmp_path / "wide.litematic")) == centred(expected)


def test_partial_blocks_are_left_out(tmp_path):
    size = (20, 6, 20)
    found = dict.fromkeys(np.ndindex(20, 5, 20), "stone")
    names = {"minecraft:air": 0, "minecraft:stone": 1, "minecraft:snow[layers=1]": 2, "minecraft:red_carpet": 3}
    number = lambda x, y, z: 1 if y < 5 else 2 + x % 2
    data = [number(x, y, z) for y in range(6) for z in range(20) for x in range(20)]
    palette = Compound({name: Int(number) for name, number in names.items()})
    root = {"Version": Int(2), **sides(size), "Palette": palette, "BlockData": ByteArray(data)}
    File(root, gzipped=True, root_name="Schematic").save(tmp_path / "snowed.schem")
    told = check(tmp_path / "snowed.schem")
    assert cells(told) == centred(found)
    left_out = {(w["code"], w["type"], w["count"]) for w in told["warnings"]}
    assert left_out == {("unknown_block", "snow", 200), ("unknown_block", "red_carpet", 200)}


def test_vox(tmp_path):
    colours = np.full((256, 4), 255, dtype=np.uint8)
    colours[:3] = [[230, 235, 235, 255], [160, 35, 30, 255], [20, 20, 25, 255]]
    blocks = ["white_wool", "red_wool", "black_wool"]
    found = some((8, 6, 10), range(3))
    voxels = np.zeros((8, 6, 10, 4))
    for (x, y, z), number in found.items():
        voxels[x, y, z] = colours[number] / 255
    ArrayWriter(voxels, palette_arr=colours).write(tmp_path / "some.vox")
    assert cells(check(tmp_path / "some.vox")) == {(x, z, 31 - y): blocks[n] for (x, y, z), n in found.items()}


@pytest.mark.parametrize("edge", [0, 100])
def test_an_invalid_file_is_refused_with_a_reason(tmp_path, edge):
    size = (40, 3, 3)
    palette, data = sponge(some(size), size)
    root = {"Version": Int(2), **sides(size), "Palette": palette, "BlockData": ByteArray(data[:len(data) - edge])}
    File(root, gzipped=True, root_name="Schematic").save(tmp_path / "bad.schem")
    told = check(tmp_path / "bad.schem")
    assert (told["ok"], told["blockCount"], told["cells"]) == (False, 0, [])
    assert told["error"]["code"] == ("bad_file" if edge else "does_not_fit")
