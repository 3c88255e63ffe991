"""A great viaduct with a town at its foot, on a grid of 128, by reference_architect.

The railway runs along x, the river along z under the middle arch; the town stands on both
banks before the viaduct, fields and a mill lie behind it.
"""

from math import exp, hypot, sin

from architect_kit import hip, octagon
from voxels import Build, grain

SIZE = 128
M = 63.5            # the middle, in x
ROW = 40            # the middle of the viaduct, in z
BANK = 8            # the height of the valley floor
WATER = 5
TIER, DECK = 35, 60  # the top rows of the two tiers
BAY = 16            # from pier to pier


def viaduct():
    b = Build(SIZE)
    valley(b)
    river(b)
    arches(b)
    deck(b)
    train(b)
    town(b)
    fields(b)
    woods(b)
    return b


def ground(x, z):
    """The valley floor, and hills that reach the deck where the viaduct ends."""
    side = abs(x - M + 3 * sin(z / 19))
    near = exp(-((z - ROW) / 34) ** 2)
    hill = max(0, side - 40) ** 1.35 * (0.28 + 0.55 * near)
    rough = 2.2 * sin(x / 7 + z / 11) * sin(z / 6 - x / 13) * min(1, max(0, side - 40) / 12)
    return int(min(DECK - 1, BANK + hill + rough))


def valley(b):
    """Rock below, earth and grass on it; bare rock where it is steep."""
    heights = {(x, z): ground(x, z) for x in range(-1, SIZE + 1) for z in range(-1, SIZE + 1)}
    for x in range(SIZE):
        for z in range(SIZE):
            top = heights[x, z]
            low = min(heights[x + 1, z], heights[x - 1, z], heights[x, z + 1], heights[x, z - 1])
            if x in (0, 127) or z in (0, 127):
                strata(b, x, z, top)
            else:
                b.box(x, 0, z, x, top, z, "stone")
            if top - low >= 4:
                b.box(x, low, z, x, top, z, "andesite" if grain(x // 3, top // 3, z // 3) > 0.5 else "stone")
            else:
                b.box(x, max(0, top - 3), z, x, top - 1, z, "dirt")
                b.put(x, top, z, "grass_block")


LAYERS = ("stone", "stone", "andesite", "stone", "granite", "stone", "stone", "diorite", "andesite")


def strata(b, x, z, top):
    """The layers that show at the edge of the block."""
    wave = 2.5 * sin(x / 17 + z / 23) + (x - z) / 40
    for y in range(top + 1):
        layer = int((y + wave + 8) / 3.4)
        b.put(x, y, z, "deepslate" if y < 3 else LAYERS[layer % 9])


def river(b):
    """Between walls of stone; a weir above the viaduct, two footbridges in the town."""
    b.box(58, 2, 0, 69, SIZE, 127, lambda x, y, z: None if y > 2 else "gravel")
    for z in range(SIZE):
        b.box(58, 3, z, 69, WATER - (z > 24), z, "water")
        for x in (57, 70):
            b.box(x, 2, z, x, BANK, z, "stone_bricks" if grain(x, 2, z // 3) > 0.3 else "mossy_stone_bricks")
            if z > 50 and z % 6 < 4:
                b.put(x, BANK + 1, z, "stone_bricks")
    b.box(58, 3, 24, 69, WATER, 24, "smooth_stone")
    b.box(58, 4, 25, 69, 4, 26, "white_wool")
    for z in (70, 104):
        for x in range(54, 74):
            y = BANK + 1 + round(3.2 * (1 - ((x - M) / 9.5) ** 2))
            inside = hypot((x - M) / 5.6, 1) if abs(x - M) <= 5 else 9
            low = WATER + 1 + round(4 * max(0, 1 - ((x - M) / 6) ** 2) ** 0.5)
            b.box(x, low if inside < 9 else BANK, z, x, y, z + 5, "sandstone")
            b.box(x, y, z + 1, x, y, z + 4, "cobblestone")
            b.put(x, y + 1, z, "stone_bricks")
            b.put(x, y + 1, z + 5, "stone_bricks")
        for x in (56, 71):
            for k in (z, z + 5):
                b.box(x, BANK + 1, k, x, BANK + 5, k, "stone_bricks")
                b.put(x, BANK + 6, k, "sea_lantern")


def masonry(x, y, z):
    """Mostly dressed stone; darker towards the ground."""
    g = grain(x // 4, y // 3, z // 4)
    if g > 0.9:
        return "andesite"
    return "mossy_stone_bricks" if y < 16 and g < 0.3 - y * 0.015 else "stone_bricks"


def tier(b, y1, y2, half, opening, crown, deep):
    """One row of arches: y1 to y2, `half` the thickness, with rings that stand out."""
    spring = round(crown - opening)
    for x in range(SIZE):
        off = (x - M + BAY / 2) % BAY - BAY / 2  # from the middle of the nearest opening
        for y in range(y1, y2 + 1):
            if y < spring:
                out = abs(off) - opening
            else:
                out = hypot(off, y - spring) - opening
            if out <= 0:
                continue
            ring = out <= 1.6 and y >= spring
            taper = deep if y < spring - 2 else 0
            thick = half + max(0, (spring - y)) * 0.07 * taper
            for z in range(round(ROW - thick), round(ROW + thick) + 1):
                b.put(x, y, z, "bricks" if ring and out <= 0.9 else masonry)
            if ring:
                for z in (round(ROW - half) - 1, round(ROW + half) + 1):
                    b.put(x, y, z, "sandstone")
    # Each pier: a foot, an impost where the arches spring, a pilaster up to the cornice.
    for n in range(-4, 5):
        middle = M + BAY / 2 + n * BAY
        x1, x2 = round(middle - BAY / 2 + opening + 0.5), round(middle + BAY / 2 - opening - 0.5)
        b.box(x1 - 1, spring - 1, ROW - half - 1, x2 + 1, spring, ROW + half + 1, "smooth_stone")
        for z in (ROW - half - 1, ROW + half + 1):
            b.box(x1 + 2, spring, z, x2 - 2, y2, z, "stone_bricks")
        if y1 < 10:
            reach = round(half + 1 + (spring - y1) * 0.07 * deep)
            b.box(x1 - 1, 3, ROW - reach - 1, x2 + 1, BANK + 3, ROW + reach + 1, "andesite")
            b.box(x1 - 1, BANK + 4, ROW - reach - 1, x2 + 1, BANK + 4, ROW + reach + 1, "smooth_stone")


def arches(b):
    tier(b, 3, TIER, 6, 5.6, TIER - 4, 1)
    b.box(0, TIER - 1, ROW - 8, 127, TIER, ROW + 8,
          lambda x, y, z: b.at(x, y, z) or ("smooth_stone" if ground(x, z) < TIER else None))
    for x in range(0, SIZE):
        for z in (ROW - 8, ROW + 8):
            if b.at(x, TIER, z) == "smooth_stone":
                if x % 2:
                    b.put(x, TIER - 2, z + (1 if z < ROW else -1), "sandstone")
                b.put(x, TIER + 1, z, "stone_bricks" if x % 4 < 3 else None)
                b.put(x, TIER + 2, z, "smooth_stone" if x % 8 == 1 else None)
    tier(b, TIER + 1, DECK - 1, 4, 5.6, DECK - 5, 0)
    # The hills close in on the ends again.
    for x in range(SIZE):
        for z in range(ROW - 9, ROW + 10):
            if abs(x - M) > 40:
                top = ground(x, z)
                for y in range(BANK, top + 1):
                    if b.at(x, y, z) is None:
                        b.put(x, y, z, "grass_block" if y == top else "stone")
                if x in (0, 127):
                    strata(b, x, z, min(top, DECK - 6))


def deck(b):
    """A cornice on brackets, parapets with refuges over the piers, two tracks."""
    b.box(0, DECK - 1, ROW - 5, 127, DECK, ROW + 5, "smooth_stone")
    for x in range(SIZE):
        if x % 2:
            for z in (ROW - 5, ROW + 5):
                b.put(x, DECK - 2, z, "sandstone")
        for z in (ROW - 5, ROW + 5):
            b.put(x, DECK + 1, z, "stone_bricks")
            if x % 3:
                b.put(x, DECK + 2, z, "stone_bricks")
            b.put(x, DECK + 3, z, "smooth_stone")
    b.box(0, DECK, ROW - 4, 127, DECK, ROW + 4, "gravel")
    for x in range(0, SIZE, 2):
        b.box(x, DECK, ROW - 3, x, DECK, ROW + 3, "spruce_planks")
    for z in (ROW - 2, ROW + 2):
        b.box(0, DECK + 1, z, 127, DECK + 1, z, "iron_block")
    for n in range(-4, 4):
        x = round(M + BAY / 2 + n * BAY)
        for z, out in ((ROW - 6, -1), (ROW + 6, 1)):
            b.box(x - 2, DECK - 3, z, x + 1, DECK + 3, z, "stone_bricks")
            b.box(x - 2, DECK + 3, z, x + 1, DECK + 3, z, "smooth_stone")
            b.box(x - 1, DECK - 6, z, x, DECK - 4, z, "sandstone")
            b.box(x - 1, DECK + 4, z, x, DECK + 6, z, "gray_wool")
            b.box(x - 1, DECK + 7, z, x, DECK + 7, z, "glowstone")
            b.box(x - 1, DECK + 8, z, x, DECK + 8, z, "gray_wool")


def train(b):
    """An express that crosses towards high x, with a long plume."""
    y = DECK + 2
    for x in (80, 85, 89):
        for z in (ROW - 2, ROW + 2):
            b.box(x, y, z, x + 2, y + 2, z, "red_concrete")
            b.put(x + 1, y + 1, z, "iron_block")
    b.box(78, y + 1, ROW - 1, 95, y + 2, ROW + 1, "black_concrete")
    b.box(78, y + 3, ROW - 2, 95, y + 3, ROW + 2, "black_concrete")
    b.barrel(84, 94, y + 5, ROW, 2.3, "green_concrete")
    for x in (86, 89):
        b.barrel(x, x, y + 5, ROW, 2.5, "gold_block")
    b.barrel(92, 95, y + 5, ROW, 2.3, "black_concrete")
    b.put(96, y + 5, ROW, "sea_lantern")
    b.box(93, y + 7, ROW - 1, 94, y + 10, ROW, "black_concrete")
    b.box(92, y + 11, ROW - 1, 95, y + 11, ROW, "black_concrete")
    b.box(89, y + 8, ROW, 90, y + 9, ROW, "gold_block")
    b.box(79, y + 4, ROW - 2, 83, y + 8, ROW + 2, "green_concrete")
    for z in (ROW - 2, ROW + 2):
        b.box(80, y + 6, z, 82, y + 7, z, "glass")
    b.box(80, y + 6, ROW - 1, 82, y + 7, ROW + 1, "glowstone")
    b.box(78, y + 9, ROW - 3, 84, y + 9, ROW + 3, "black_concrete")
    b.box(96, y, ROW - 2, 96, y + 2, ROW + 2, "red_concrete")
    b.box(71, y + 1, ROW - 2, 77, y + 6, ROW + 2, "green_concrete")
    b.box(71, y + 7, ROW - 1, 77, y + 7, ROW + 1, "black_concrete")
    b.box(71, y, ROW - 1, 77, y, ROW + 1, "black_concrete")
    b.box(70, y + 1, ROW, 78, y + 1, ROW, "black_concrete")
    # Four carriages in two colours.
    for i, x in enumerate((56, 41, 26, 11)):
        b.box(x, y + 1, ROW - 2, x + 12, y + 7, ROW + 2, "red_concrete")
        b.box(x, y + 4, ROW - 2, x + 12, y + 7, ROW + 2, "birch_planks")
        b.box(x, y + 8, ROW - 2, x + 12, y + 8, ROW + 2, "light_gray_wool")
        b.box(x + 1, y + 9, ROW - 1, x + 11, y + 9, ROW + 1, "light_gray_wool")
        b.box(x + 1, y + 5, ROW - 1, x + 11, y + 6, ROW + 1, "glowstone")
        for k in range(1, 12):
            if k % 3:
                for z in (ROW - 2, ROW + 2):
                    b.box(x + k, y + 5, z, x + k, y + 6, z, "glass")
        b.box(x + 1, y, ROW - 2, x + 3, y, ROW + 2, "black_concrete")
        b.box(x + 9, y, ROW - 2, x + 11, y, ROW + 2, "black_concrete")
        b.box(x + 13, y + 1, ROW, x + 14, y + 1, ROW, "black_concrete")
    for x, up, r in ((93, 14, 2), (90, 17, 2.6), (85, 19.5, 3.2), (79, 21, 3.6),
                     (72, 22, 3.4), (66, 23.5, 2.8), (60, 24.5, 2)):
        b.ellipsoid(x, y + up, ROW + 0.5, r * 1.4, r, r, "white_wool")


def windows(b, x1, x2, z1, z2, y, high, kind="glass"):
    """Lights in all four walls of a box, spaced evenly, some of them lit."""
    for x in range(x1 + 2, x2 - 1, 3):
        for z, inner in ((z1, z1 + 1), (z2, z2 - 1)):
            b.box(x, y, z, x, y + high - 1, z, kind)
            b.put(x, y, inner, "glowstone")
    for z in range(z1 + 2, z2 - 1, 3):
        for x, inner in ((x1, x1 + 1), (x2, x2 - 1)):
            b.box(x, y, z, x, y + high - 1, z, kind)
            b.put(inner, y, z, "glowstone")


def pitched(b, x1, x2, y, z1, z2, axis, kind, wall, edge="dark_oak_planks"):
    """A gabled roof with its ridge along an axis, its gables filled and edged."""
    if axis == "z":
        b.gable(x1 - 1, x2 + 1, y, z1 - 1, z2 + 1, kind, (z1, z2), wall)
        for z in (z1 - 1, z2 + 1):
            b.gable(x1 - 1, x2 + 1, y, z, z, edge)
        return
    for step in range((z2 - z1 + 2) // 2 + 1):
        low, high = z1 - 1 + step, z2 + 1 - step
        if low + 1 < high:
            for x in (x1, x2):
                b.box(x, y + step, low + 1, x, y + step, high - 1, wall)
        for z in (low, high):
            b.box(x1 - 1, y + step, z, x2 + 1, y + step, z, kind)
            b.put(x1 - 1, y + step, z, edge)
            b.put(x2 + 1, y + step, z, edge)


WALLS = ("white_concrete", "sandstone", "white_concrete", "yellow_wool", "smooth_stone",
         "pink_wool", "white_concrete", "light_blue_wool")
ROOFS = ("terracotta", "bricks", "terracotta", "granite", "terracotta", "dark_oak_planks")


def house(b, x, z, wide, deep, storeys, axis, n, door):
    """A townhouse; `door` is the side it faces: 1 for high x, -1 for low x, 2 for high z."""
    y = BANK + 1
    x2, z2 = x + wide - 1, z + deep - 1
    wall, tile = WALLS[n % len(WALLS)], ROOFS[n * 5 % len(ROOFS)]
    b.box(x, y - 1, z, x2, y, z2, "cobblestone")
    top = y + 5 * storeys
    b.box(x, y + 1, z, x2, top, z2, wall)
    ground_kind = "stone_bricks" if n % 3 == 0 else wall
    b.box(x, y + 1, z, x2, y + 4, z2, ground_kind)
    timber = "dark_oak_planks" if n % 2 else "spruce_planks"
    for floor in range(storeys):
        row = y + 5 * floor
        if floor:
            b.box(x, row, z, x2, row, z2, timber)
        windows(b, x, x2, z, z2, row + 2, 2)
    for i in (x, x2):
        for k in (z, z2):
            b.box(i, y + 1, k, i, top, k, "spruce_log" if n % 3 else "stone_bricks")
    pitched(b, x, x2, top, z, z2, axis, tile, wall)
    b.box(x, top, z, x2, top, z2, lambda i, j, k: b.at(i, j, k) or wall)
    high = top + (wide if axis == "z" else deep) // 2 + 2
    cx, cz = (x + 2, z + deep // 2) if axis == "x" else (x + wide // 2, z + 2)
    b.box(cx, top, cz, cx + 1, high + 1, cz, "bricks")
    middle_x, middle_z = x + wide // 2, z + deep // 2
    if door == 2:
        b.box(middle_x, y + 1, z2, middle_x + 1, y + 3, z2, "dark_oak_planks")
        b.box(middle_x - 1, y + 4, z2 + 1, middle_x + 2, y + 4, z2 + 1, tile)
    else:
        face = x2 if door > 0 else x
        b.box(face, y + 1, middle_z, face, y + 3, middle_z + 1, "dark_oak_planks")
        b.box(face + door, y + 4, middle_z - 1, face + door, y + 4, middle_z + 2, tile)


def town(b):
    """Quays with rows of houses, a church on one bank, a hall with a clock on the other."""
    b.box(24, BANK, 56, 56, BANK, 124, lambda x, y, z: paving(b, x, y, z))
    b.box(71, BANK, 56, 103, BANK, 124, lambda x, y, z: paving(b, x, y, z))
    n = 0
    for z, wide, deep, storeys in ((56, 9, 9, 2), (66, 9, 8, 3), (84, 9, 8, 3), (93, 9, 9, 2), (112, 9, 8, 3)):
        for side in (-1, 1):
            x = 52 - wide if side < 0 else 76
            house(b, x, z, wide, deep, storeys, "x" if (n // 2) % 2 else "z", n, -side)
            n += 1
    for z, wide, deep, storeys in ((58, 10, 8, 2), (69, 8, 10, 2), (112, 10, 9, 2)):
        for side in (-1, 1):
            x = 39 - wide if side < 0 else 89
            house(b, x, z, wide, deep, storeys, "z" if (n // 2) % 2 else "x", n + 3, -side)
            n += 1
    for z, wide, deep in ((60, 8, 8), (78, 8, 9), (106, 8, 8)):
        for side in (-1, 1):
            x = 27 - wide if side < 0 else 101
            if max(ground(i, k) for i in (x, x + wide - 1) for k in (z, z + deep - 1)) <= BANK + 3:
                house(b, x, z, wide, deep, 2, "x", n + 1, -side)
            n += 1
    church(b)
    town_hall(b)
    market(b)
    for z in range(58, 124, 9):
        for x in (54, 73):
            if b.at(x, BANK + 1, z) is None:
                b.box(x, BANK + 1, z, x, BANK + 4, z, "gray_wool")
                b.put(x, BANK + 5, z, "glowstone")
    for x, z, hull in ((60, 62, "spruce_planks"), (65, 84, "dark_oak_planks"), (60, 92, "birch_planks"),
                       (65, 116, "spruce_planks")):
        b.box(x, WATER, z, x + 2, WATER, z + 6, hull)
        b.put(x + 1, WATER, z - 1, hull)
        b.put(x + 1, WATER, z + 7, hull)
        b.box(x + 1, WATER + 1, z + 1, x + 1, WATER + 2, z + 3, ("red_wool", "white_wool", "blue_wool")[z % 3])


def paving(b, x, y, z):
    """Stone by the river, then grass and paths; only where the valley is flat."""
    if ground(x, z) != BANK:
        return b.at(x, y, z)
    side = abs(x - M)
    if side < 12.5:
        return "cobblestone" if grain(x // 2, 1, z // 2) > 0.3 else "andesite"
    if 24.5 < side < 26.5 or (78 <= z <= 81 and side < 36):
        return "gravel"
    return b.at(x, y, z)


def church(b):
    """On the low bank: a nave with buttresses and tall lights, a tower with a copper spire."""
    y, x1, x2 = BANK + 1, 30, 41
    b.box(x1, y, 84, x2, y + 12, 108, "sandstone")
    b.box(x1 - 1, y, 83, x2 + 1, y + 1, 109, "stone_bricks")
    for z in range(86, 108, 4):
        for x, inner in ((x1, x1 + 1), (x2, x2 - 1)):
            b.box(x, y + 4, z, x, y + 9, z + 1, "glass")
            b.put(x, y + 10, z, "glass")
            b.box(inner, y + 4, z, inner, y + 9, z + 1, ("cyan_wool", "magenta_wool", "yellow_wool")[z // 4 % 3])
            out = x - 1 if x == x1 else x + 1
            b.box(out, y, z - 1, out, y + 9, z - 1, "stone_bricks")
            b.put(out + (out - x), y, z - 1, "stone_bricks")
            b.box(out + (out - x), y, z - 1, out + (out - x), y + 5, z - 1, "stone_bricks")
    pitched(b, x1, x2, y + 12, 84, 108, "z", "deepslate", "sandstone", "smooth_stone")
    b.box(x1 + 1, y + 13, 85, x2 - 1, y + 13, 107, "sandstone")
    # The tower, at the end towards the viewer.
    b.box(31, y, 108, 40, y + 32, 117, "sandstone")
    for x in (31, 40):
        for z in (108, 117):
            b.box(x - (x < 35), y, z - (z < 112), x + (x > 35), y + 24, z + (z > 112), "stone_bricks")
    for level in (12, 24, 32):
        b.box(30, y + level, 107, 41, y + level, 118, "smooth_stone")
    for a, c in ((34, 117), (34, 108)):
        b.box(a, y + 26, c, a, y + 30, c, "black_concrete")
        b.box(a + 3, y + 26, c, a + 3, y + 30, c, "black_concrete")
    for x in (31, 40):
        for z in (111, 114):
            b.box(x, y + 26, z, x, y + 30, z, "black_concrete")
    b.box(33, y + 15, 117, 38, y + 20, 117,
          lambda i, j, k: "quartz_block" if hypot(i - 35.5, j - y - 17.5) <= 3 else "sandstone")
    b.box(35, y + 17, 117, 35, y + 19, 117, "black_concrete")
    b.put(36, y + 17, 117, "black_concrete")
    b.box(34, y + 1, 118, 37, y + 6, 118, "smooth_stone")
    b.box(35, y + 1, 118, 36, y + 5, 118, "dark_oak_planks")
    for level in range(33, 58):
        r = 6.2 * (1 - (level - 33) / 25)
        b.solid(lambda i, j, k: octagon(i - 35.5, k - 112.5) <= max(r, 0.8),
                "copper_block" if level in (33, 40, 47) else "oxidized_copper",
                (28, y + level, 105, 44, y + level, 120))
    b.box(35, y + 58, 112, 36, y + 62, 112, "gold_block")
    b.box(34, y + 60, 112, 37, y + 60, 112, "gold_block")


def town_hall(b):
    """On the high bank: an arcade, two rows of windows, a steep roof, a tower with a clock."""
    y, x1, x2 = BANK + 1, 85, 98
    b.box(x1, y, 86, x2, y + 14, 108, "quartz_block")
    b.box(x1, y, 86, x2, y, 108, "stone_bricks")
    b.box(x1 - 1, y + 6, 85, x2 + 1, y + 6, 109, "smooth_stone")
    b.box(x1 - 1, y + 14, 85, x2 + 1, y + 14, 109, "smooth_stone")
    for z in range(88, 107, 4):
        for x, inner, out in ((x1, x1 + 1, x1 - 1), (x2, x2 - 1, x2 + 1)):
            b.box(x, y + 1, z, x, y + 4, z + 1, "dark_oak_planks")
            b.box(x, y + 8, z, x, y + 12, z + 1, "glass")
            b.box(inner, y + 9, z, inner, y + 12, z + 1, "glowstone")
            b.box(out, y, z - 1, out, y + 13, z - 1, "red_sandstone")
    for x in range(x1 + 2, x2 - 1, 4):
        for z, inner in ((86, 87), (108, 107)):
            b.box(x, y + 8, z, x + 1, y + 12, z, "glass")
            b.box(x, y + 9, inner, x + 1, y + 12, inner, "glowstone")
            b.box(x, y + 1, z, x + 1, y + 4, z, "dark_oak_planks")
    hip(b, x1 - 1, x2 + 1, y + 15, 85, 109, "deepslate", "oxidized_copper", rise=1)
    b.box(88, y + 14, 94, 95, y + 34, 101, "quartz_block")
    b.box(87, y + 27, 93, 96, y + 27, 102, "smooth_stone")
    b.box(87, y + 35, 93, 96, y + 35, 102, "smooth_stone")
    for a, c in ((88, "x"), (95, "x"), (94, "z"), (101, "z")):
        for i in range(6):
            for j in range(6):
                if hypot(i - 2.5, j - 2.5) <= 3:
                    hand = (i == 2 and 2 <= j <= 4) or (j == 2 and 2 <= i <= 4)
                    kind = "black_concrete" if hand else "yellow_concrete"
                    b.put(*((a, y + 28 + j, 95 + i) if c == "x" else (89 + i, y + 28 + j, a)), kind)
    for x in (88, 95):
        for z in (94, 101):
            b.box(x, y + 15, z, x, y + 34, z, "red_sandstone")
    hip(b, 88, 95, y + 36, 94, 101, "oxidized_copper", "copper_block", rise=3)
    b.box(91, y + 48, 97, 91, y + 54, 97, "spruce_log")
    b.box(92, y + 51, 97, 96, y + 54, 97, "blue_concrete")
    b.box(92, y + 52, 97, 96, y + 52, 97, "yellow_concrete")


def market(b):
    """Stalls under striped cloth along both squares, a fountain on each."""
    y = BANK + 1
    for side in (-1, 1):
        cx = 47 if side < 0 else 80
        b.disc(cx, y, 79, 2.6, "smooth_stone")
        b.disc(cx, y + 1, 79, 2.6, "smooth_stone", hole=1.6)
        b.disc(cx, y + 1, 79, 1.6, "water")
        b.box(cx, y + 1, 79, cx, y + 5, 79, "quartz_block")
        b.put(cx, y + 6, 79, "sea_lantern")
    for i, (x, z) in enumerate(((30, 80), (36, 77), (92, 77), (98, 80), (46, 106), (79, 106))):
        cloth = ("red_wool", "blue_wool", "green_wool", "orange_wool")[i % 4]
        for k in (0, 3):
            for j in (0, 3):
                b.box(x + k, y, z + j, x + k, y + 3, z + j, "spruce_log")
        for k in range(-1, 5):
            b.box(x + k, y + 4, z - 1, x + k, y + 4, z + 4, cloth if k % 2 else "white_wool")
        b.box(x, y, z + 1, x + 3, y + 1, z + 2, "oak_planks")
        b.box(x, y + 2, z + 1, x + 3, y + 2, z + 1, ("orange_wool", "lime_wool", "red_wool")[i % 3])


def fields(b):
    """Behind the viaduct: strips of crops, a water mill by the weir, sheep."""
    for i, (x1, x2) in enumerate(((28, 34), (36, 42), (44, 50), (77, 83), (85, 91), (93, 99))):
        for x in range(x1, x2 + 1):
            for z in range(3, 26):
                if ground(x, z) == BANK and b.at(x, BANK, z) == "grass_block":
                    b.put(x, BANK, z, "dirt")
                    if x % 2 == 0:
                        b.put(x, BANK + 1, z, ("yellow_wool", "lime_wool", "oak_leaves")[i % 3])
    y = BANK + 1
    b.box(71, y - 1, 14, 76, y + 10, 23, "white_concrete")
    b.box(71, y - 1, 14, 76, y + 3, 23, "stone_bricks")
    b.box(71, y + 7, 14, 76, y + 7, 23, "dark_oak_planks")
    windows(b, 71, 76, 14, 23, y + 4, 2)
    pitched(b, 71, 76, y + 10, 14, 23, "z", "terracotta", "white_concrete")
    for x in (68, 69):  # the wheel
        for k in range(-6, 7):
            for j in range(-6, 7):
                out = hypot(k, j)
                if 4.4 < out <= 5.8 or (out <= 5 and (k == 0 or j == 0)):
                    b.put(x, WATER + 4 + j, 19 + k, "spruce_planks" if out > 4.4 else "dark_oak_planks")
    b.box(67, WATER + 4, 19, 72, WATER + 4, 19, "spruce_log")
    for x, z in ((53, 10), (55, 14), (52, 19), (54, 27), (75, 28)):
        b.box(x, BANK + 1, z, x + 1, BANK + 2, z, "white_wool")
        b.put(x + 2, BANK + 2, z, "black_wool")


def woods(b):
    """Conifers on the slopes, round trees in gardens and along the water."""
    for x in range(3, 125, 5):
        for z in range(3, 125, 5):
            i, k = x + int(grain(x, 1, z) * 5) - 2, z + int(grain(x, 2, z) * 5) - 2
            i, k = min(124, max(3, i)), min(124, max(3, k))
            y = ground(i, k)
            if abs(k - ROW) < 12 or b.at(i, y, k) != "grass_block" or b.at(i, y + 1, k):
                continue
            if any(b.at(i + p, y + 4, k + q) not in (None, "grass_block", "dirt", "stone", "andesite")
                   for p in (-3, 0, 3) for q in (-3, 0, 3)):
                continue
            pick = grain(i, 5, k)
            if y > BANK + 4 and pick > 0.15:
                conifer(b, i, y + 1, k, 8 + int(pick * 7))
            elif y <= BANK + 4 and pick > 0.62:
                leaves = "flowering_azalea_leaves" if pick > 0.9 else "oak_leaves"
                b.ellipsoid(i, y + 6, k, 2.8, 2.6, 2.8, leaves)
                b.box(i, y + 1, k, i, y + 5, k, "oak_log")


def conifer(b, x, y, z, high):
    b.box(x, y, z, x, y + high - 2, z, "spruce_log")
    for j in range(2, high + 1):
        r = 2.7 * (1 - (j - 2) / (high - 1)) + (0.5 if j % 2 else 0)
        b.disc(x, y + j, z, max(r, 0.5), lambda i, _, k: b.at(i, y + j, k) or "oak_leaves")
