"""A castle in its moat on a grid of 64, by reference_architect."""

from math import cos, hypot, radians, sin

from architect_kit import hip, rod, sector
from voxels import Build, grain

SIZE = 64
M = 31.5  # the middle, in x


def wall(x, y, z):
    """Dressed stone; mossy near the water, cracked here and there."""
    g = grain(x // 2, y // 2, z // 2)
    if y < 9 and g > 0.25 + y * 0.07:
        return "mossy_stone_bricks"
    return "cracked_stone_bricks" if g > 0.93 else "stone_bricks"


def foot(x, y, z):
    if y >= 4:
        return "andesite"
    return ("cobblestone", "mossy_stone_bricks", "andesite")[int(grain(x // 2, y, z // 2) * 3) % 3]


def moated_castle():
    """A square of walls with towers, a keep behind, a gatehouse before; left and right are alike."""
    b = Build(SIZE)
    ground(b)
    island(b)
    curtain(b)
    keep(b)
    ranges(b)
    gatehouse(b)
    b.mirror_x()
    bridge(b)
    court(b)
    country(b)
    return b


def moat_edge(x, z, rx, rz, corner):
    """Below 0 inside a rounded rectangle around the castle."""
    return hypot(max(abs(x - M) - rx + corner, 0), max(abs(z - 29.5) - rz + corner, 0)) - corner


def ground(b):
    """Meadow around, water in the ring, gravel below it."""
    b.box(0, 0, 0, 63, 0, 63, "stone")
    for x in range(SIZE):
        for z in range(SIZE):
            edge = moat_edge(x, z, 27.6, 26.6, 9)
            if edge <= 0:
                b.put(x, 0, z, "gravel" if grain(x // 3, 0, z // 3) > 0.5 else "sand")
                b.box(x, 1, z, x, 2, z, "water")
            elif edge <= 1.2:
                b.box(x, 1, z, x, 3, z, "cobblestone" if grain(x // 2, 1, z // 2) > 0.4 else "mossy_stone_bricks")
                b.put(x, 4, z, "stone_bricks")
            else:
                b.box(x, 1, z, x, 3, z, "dirt")
                b.put(x, 4, z, "grass_block")


def island(b):
    """A base that leans inwards; the court on top of it."""
    for y in range(1, 7):
        inset = y // 2
        b.box(11 + inset, y, 9 + inset, 52 - inset, y, 50 - inset, foot)
    b.box(16, 6, 14, 47, 6, 46, "grass_block")


def merlons(b, x1, z1, x2, z2, y, kind):
    """A parapet and its merlons, two wide, around a rectangle; equal from both ends."""
    b.walls(x1, y, z1, x2, y, z2, kind)
    for x in range(x1, x2 + 1):
        if min(x - x1, x2 - x) // 2 % 2 == 0:
            for z in (z1, z2):
                b.box(x, y + 1, z, x, y + 2, z, kind)
    for z in range(z1, z2 + 1):
        if min(z - z1, z2 - z) // 2 % 2 == 0:
            for x in (x1, x2):
                b.box(x, y + 1, z, x, y + 2, z, kind)


def curtain(b):
    """Walls with a walk behind merlons, corbels, loops, flat buttresses, and towers."""
    b.box(13, 6, 11, 50, 17, 48, wall)
    b.box(16, 7, 14, 47, 20, 45, None)
    b.box(13, 17, 11, 15, 17, 48, "smooth_stone")
    b.box(13, 17, 11, 50, 17, 13, "smooth_stone")
    b.box(13, 17, 46, 50, 17, 48, "smooth_stone")
    b.walls(12, 17, 10, 51, 17, 49, "stone_bricks")
    merlons(b, 12, 10, 51, 49, 18, wall)
    for n in range(11, 49):
        if n % 2 == 0:
            for y, out in ((16, 1), (15, 1)):
                b.put(13 - out, y, n, "andesite" if y == 15 else "stone_bricks")
                b.put(n + 3, y, 11 - out, "andesite" if y == 15 else "stone_bricks")
                b.put(n + 3, y, 48 + out, "andesite" if y == 15 else "stone_bricks")
    b.walls(13, 9, 11, 50, 9, 48, "smooth_stone")
    for n in range(19, 45, 4):
        b.box(12, 6, n, 12, 14, n, "stone_bricks")
        b.put(12, 14, n, "andesite")
        loop(b, 13, 11, n + 2, "x")
        b.box(n + 1, 6, 10, n + 1, 14, 10, "stone_bricks")
        if n + 3 < 32:
            loop(b, n + 3, 11, 11, "z")
            loop(b, n + 3, 11, 48, "z")
    for z in (11, 48):
        tower(b, 13, z, 5.4, 27, 13)
    tower(b, 13, 29.5, 4.2, 23, 0)
    tower(b, 31.5, 11, 4.2, 23, 0)


def loop(b, x, y, z, axis):
    """A slit with a sill, cut into the face of a wall."""
    b.box(x, y, z, x, y + 3, z, "black_concrete")
    if axis == "x":
        b.put(x, y + 1, z - 1, "black_concrete")
        b.put(x, y + 1, z + 1, "black_concrete")
    else:
        b.put(x - 1, y + 1, z, "black_concrete")
        b.put(x + 1, y + 1, z, "black_concrete")


def tower(b, cx, cz, r, top, high):
    """Round: a spread foot, bands, slits, a corbelled crown; a copper roof if it is `high`."""
    for y in range(1, top + 1):
        b.disc(cx, y, cz, r + max(0, 5 - y) * 0.35, foot if y < 6 else wall)
    for y in (9, top - 7):
        b.disc(cx, y, cz, r + 0.3, "smooth_stone")
    for y, out in ((top - 2, 0.5), (top - 1, 1), (top, 1.4)):
        b.disc(cx, y, cz, r + out, "andesite" if y == top - 2 else wall)
    for y in (top + 1, top + 2, top + 3):
        b.disc(cx, y, cz, r + 1.4, lambda x, j, z: wall(x, j, z) if y == top + 1
               or sector(x - cx, z - cz, 20) % 2 == 0 else None, hole=r + 0.3)
    for y in range(11, top - 3, 6):
        for i in range(8):
            x, z = cx + r * sin(radians(45 * i)), cz + r * cos(radians(45 * i))
            x, z = round(x - 0.3 * sin(radians(45 * i))), round(z - 0.3 * cos(radians(45 * i)))
            for level in range(y, y + 3):
                if b.at(x, level, z):
                    b.put(x, level, z, "black_concrete")
    if high:
        b.cylinder(cx, cz, top + 1, top + 3, r - 0.8, "stone_bricks")
        for i in range(8):
            x, z = round(cx + (r - 0.9) * sin(radians(45 * i))), round(cz + (r - 0.9) * cos(radians(45 * i)))
            b.put(x, top + 2, z, "glowstone")
        for y in range(top + 4, top + 5 + high):
            out = (r + 0.9) * (1 - (y - top - 4) / (high + 0.5)) ** 0.9 + 0.3
            b.disc(cx, y, cz, out, lambda x, j, z: "copper_block"
                   if sector(x - cx, z - cz, 16) % 4 == 0 or j == top + 4 else "oxidized_copper")
        y = top + 5 + high
        b.box(round(cx), y, round(cz), round(cx), y + 2, round(cz), "gold_block")


def window(b, x, y, z, wide, high, face, lit=1):
    """A tall pointed light in a wall that looks along z; `face` is the way it looks."""
    b.box(x - 1, y - 1, z, x + wide, y + high, z, "smooth_stone")
    b.box(x, y, z, x + wide - 1, y + high - 1, z, "glass")
    b.box(x - 1, y - 1, z + face, x + wide, y - 1, z + face, "smooth_stone")
    b.box(x, y + high, z + face, x + wide - 1, y + high, z + face, "smooth_stone")
    if lit:
        b.box(x, y + high // 2, z - face, x + wide - 1, y + high - 1, z - face, "glowstone")


def keep(b):
    """A great house of stone with corner turrets, three rows of windows and a slate roof."""
    b.box(21, 6, 15, 42, 35, 31, wall)
    b.box(20, 6, 14, 43, 9, 32, foot)
    b.box(20, 10, 14, 43, 10, 32, "smooth_stone")
    for y in (18, 27):
        b.box(20, y, 14, 43, y, 32, lambda x, j, z: "smooth_stone")
    b.box(21, 19, 15, 42, 26, 31, wall)
    for x in (26, 31):
        for z in (14, 32):
            b.box(x, 6, z, x, 33, z, "stone_bricks")
    for z in (20, 26):
        b.box(20, 6, z, 20, 33, z, "stone_bricks")
    for y, high in ((12, 4), (20, 5), (29, 4)):
        for x in (23, 28):
            window(b, x, y, 31, 2, high, 1)
            window(b, x, y, 15, 2, high, -1)
        for z in (17, 22, 28):
            b.box(21, y - 1, z - 1, 21, y + high, z + 2, "smooth_stone")
            b.box(21, y, z, 21, y + high - 1, z + 1, "glass")
            b.box(22, y + 2, z, 22, y + high - 1, z + 1, "glowstone")
            b.box(20, y - 1, z - 1, 20, y - 1, z + 2, "smooth_stone")
    # Crown.
    for n in range(20, 32, 2):
        for z in (14, 32):
            b.put(n, 34, z, "andesite")
    for n in range(14, 33, 2):
        b.put(20, 34, n, "andesite")
    b.box(20, 35, 14, 43, 36, 32, "stone_bricks")
    merlons(b, 20, 14, 43, 32, 37, wall)
    hip(b, 22, 41, 37, 16, 30, "deepslate", "dark_oak_planks", rise=2)
    for x in (24, 28):
        b.box(x, 39, 29, x + 1, 42, 31, "stone_bricks")
        b.box(x, 40, 31, x + 1, 41, 31, "glass")
        b.box(x, 40, 30, x + 1, 41, 30, "glowstone")
        b.box(x - 1, 43, 28, x + 2, 43, 32, "deepslate")
        b.box(x, 44, 28, x + 1, 44, 32, "deepslate")
    b.box(28, 40, 21, 29, 54, 22, "stone_bricks")
    b.walls(27, 53, 20, 30, 53, 23, "smooth_stone")
    b.box(28, 54, 21, 29, 55, 22, "black_concrete")
    for x, z in ((21, 15), (21, 31)):
        turret(b, x, z)


def turret(b, x, z):
    """At a corner of the keep, from the ground to above its roof's foot."""
    b.cylinder(x, z, 6, 42, 2.6, wall)
    b.cylinder(x, z, 6, 10, 3.3, foot)
    for y in (18, 27, 36):
        b.disc(x, y, z, 3, "smooth_stone")
    b.disc(x, 42, z, 3.4, "andesite")
    b.disc(x, 43, z, 3.4, "stone_bricks")
    for y in (44, 45):
        b.disc(x, y, z, 2.4, "glowstone")
        b.disc(x, y, z, 3.4, lambda i, _, k: "stone_bricks" if sector(i - x, k - z, 8) % 2 else None, hole=2.4)
    for y in range(46, 55):
        b.disc(x, y, z, 3.9 * (1 - (y - 46) / 9) + 0.3, "copper_block" if y == 46 else "oxidized_copper")
    b.box(x, 55, z, x, 57, z, "gold_block")
    for y in (14, 23, 32, 38):
        for i, k in ((-3, 0), (0, -3), (0, 3), (3, 0)):
            for step in (1, 0):
                i2, k2 = i - (i > 0) * step + (i < 0) * step, k - (k > 0) * step + (k < 0) * step
                if b.at(x + i2, y, z + k2):
                    b.box(x + i2, y, z + k2, x + i2, y + 1, z + k2, "black_concrete")
                    break


def ranges(b):
    """Timbered houses against the side walls: stables below, lodgings above."""
    b.box(16, 7, 34, 21, 15, 45, "stone_bricks")
    b.box(16, 11, 34, 22, 15, 45, "white_concrete")
    for z in (34, 37, 40, 43, 45):
        b.box(22, 11, z, 22, 15, z, "spruce_log")
        b.box(21, 7, z, 21, 10, z, "spruce_log")
    for y in (11, 15):
        b.box(22, y, 34, 22, y, 45, "spruce_log")
    for z in (35, 38, 41):
        b.box(22, 12, z, 22, 14, z + 1, "glass")
        b.box(21, 12, z, 21, 14, z + 1, "glowstone")
        b.box(21, 7, z, 21, 9, z + 1, "spruce_planks")
    for step in range(4):
        b.box(16, 16 + step, 33, 23 - 2 * step, 16 + step, 45, "terracotta")
    b.box(17, 20, 38, 18, 22, 39, "bricks")


def gatehouse(b):
    """Two round towers, a deep arch with its portcullis, a chamber above it."""
    b.box(22, 6, 43, 41, 25, 52, wall)
    b.box(22, 18, 42, 41, 18, 52, "smooth_stone")
    b.box(22, 25, 42, 41, 25, 53, "stone_bricks")
    merlons(b, 22, 42, 41, 53, 26, wall)
    hip(b, 26, 37, 26, 44, 51, "deepslate", "dark_oak_planks", rise=2)
    for x in range(27, 32):
        rise = 16 - max(0, 29 - x) ** 2
        b.box(x, 7, 42, x, rise, 54, None)
        b.put(x, rise + 1, 53, "smooth_stone")
    b.box(26, 7, 42, 26, 12, 53, "smooth_stone")
    b.box(27, 6, 42, 36, 6, 54, "cobblestone")
    for x in range(27, 32):
        if x % 2:
            b.box(x, 12, 50, x, 16, 50, "iron_block")
        b.put(x, 13, 50, "iron_block")
    tower(b, 23, 51, 4.4, 27, 0)
    for y in range(7, 17):
        b.box(28, y, 53, 31, y, 58, None)
    b.box(27, 7, 55, 31, 13, 60, None)
    window(b, 29, 20, 52, 2, 4, 1)
    window(b, 29, 20, 43, 2, 4, -1)
    # Banners on the towers, fire baskets beside the gate.
    for y in range(12, 22):
        for x in (22, 23, 24):
            kind = "yellow_concrete" if x == 23 and 15 <= y <= 19 else "blue_concrete"
            b.put(x, y, 56, kind if y > 12 or x != 23 else None)
    b.put(26, 12, 54, "sea_lantern")
    b.put(26, 11, 54, "iron_block")
    b.box(23, 30, 51, 23, 38, 51, "spruce_log")
    b.box(18, 34, 51, 22, 37, 51, "red_concrete")
    b.box(18, 35, 51, 22, 35, 51, "yellow_concrete")


def bridge(b):
    """The drawbridge on its chains, a fixed half on a pier, a gate on the far bank."""
    b.box(27, 6, 54, 36, 6, 58, "dark_oak_planks")
    for x in (27, 36):
        b.box(x, 6, 54, x, 6, 58, "spruce_log")
        rod(b, (x, 15, 54), (x, 7, 58), "iron_block")
    for z in (55, 57):
        b.box(28, 6, z, 35, 6, z, "spruce_planks")
    b.box(26, 1, 57, 37, 5, 60, foot)
    b.box(26, 4, 59, 37, 6, 63, "cobblestone")
    b.box(28, 5, 60, 35, 6, 63, lambda x, y, z: "gravel" if grain(x, 1, z) > 0.4 else "andesite")
    b.box(28, 6, 62, 35, 6, 63, None)
    for x in (25, 37):
        b.box(x, 4, 59, x + 1, 12, 61, "stone_bricks")
        b.box(x, 12, 58, x + 1, 12, 62, "smooth_stone")
        b.box(x, 13, 59, x + 1, 13, 61, "stone_bricks")
        b.box(x, 14, 60, x + 1, 14, 60, "sea_lantern")
        b.box(x, 15, 59, x + 1, 15, 61, "deepslate")
        b.box(x, 16, 60, x + 1, 16, 60, "deepslate")


def court(b):
    """Paths in a cross, a well under a roof, a tree on each side, hay, a smithy's fire."""
    b.box(29, 6, 32, 34, 6, 43, lambda x, y, z: ("gravel", "andesite", "cobblestone")[int(grain(x, 2, z) * 3) % 3])
    b.box(23, 6, 37, 40, 6, 40, lambda x, y, z: ("gravel", "andesite", "cobblestone")[int(grain(x, 3, z) * 3) % 3])
    b.box(30, 7, 37, 33, 8, 40, "stone_bricks")
    b.box(31, 8, 38, 32, 8, 39, "water")
    for x in (30, 33):
        for z in (37, 40):
            b.box(x, 9, z, x, 11, z, "spruce_log")
    hip(b, 29, 34, 12, 36, 41, "terracotta", "terracotta")
    b.box(29, 7, 33, 34, 10, 33, "stone_bricks")
    b.box(30, 7, 33, 33, 9, 33, "dark_oak_planks")
    b.box(31, 7, 33, 32, 9, 33, "spruce_planks")
    b.put(29, 11, 34, "sea_lantern")
    b.put(34, 11, 34, "sea_lantern")
    b.box(29, 11, 33, 34, 11, 34, "smooth_stone")
    b.put(29, 10, 34, "sea_lantern")
    b.put(34, 10, 34, "sea_lantern")
    for x in (25, 38):
        b.box(x, 7, 35, x, 10, 35, "oak_log")
        b.ellipsoid(x, 12, 35, 2.6, 2.3, 2.6, lambda i, j, k: b.at(i, j, k)
                    or ("flowering_azalea_leaves" if grain(i, j, k) > 0.6 else "oak_leaves"))
    b.box(23, 7, 42, 24, 8, 43, "yellow_wool")
    b.box(39, 7, 42, 40, 7, 43, "spruce_log")
    # Flags on the keep's chimneys' side: one pole on the ridge.
    b.box(31, 51, 23, 32, 57, 23, "spruce_log")
    b.box(32, 51, 23, 32, 57, 23, None)
    b.box(32, 54, 23, 37, 57, 23, "blue_concrete")
    b.box(32, 55, 23, 37, 55, 23, "yellow_concrete")


def country(b):
    """Lilies and a boat on the water; trees, hedges and flowers on the meadow."""
    for x, z in ((6, 15), (8, 24), (7, 40), (57, 12), (56, 33), (55, 45), (20, 55), (44, 54), (18, 5), (40, 6)):
        if b.at(x, 2, z) == "water":
            b.put(x, 3, z, "lime_wool")
            if b.at(x + 1, 2, z) == "water":
                b.put(x + 1, 3, z, "pink_wool" if z % 2 else "lime_wool")
    b.box(42, 2, 54, 48, 2, 55, "spruce_planks")
    b.box(42, 3, 53, 48, 3, 56, "spruce_planks")
    b.box(43, 3, 54, 47, 3, 55, None)
    b.box(49, 3, 54, 49, 3, 55, "spruce_planks")
    b.box(45, 3, 54, 45, 3, 55, "oak_planks")
    for x, z, h in ((2, 2, 14), (61, 2, 14), (2, 61, 12), (61, 61, 12),
                    (6, 61, 9), (57, 61, 9), (2, 57, 9), (61, 57, 9)):
        b.box(x, 5, z, x, 5 + int(h * 0.65), z, "spruce_log")
        for y in range(7, 8 + h):
            r = 2.6 * (1 - (y - 7) / (h + 1)) + 0.5 * (y % 2)
            b.disc(x, y, z, max(0.5, r), lambda i, j, k: b.at(i, j, k) or "oak_leaves")
    for x, z in ((12, 61), (14, 62), (18, 61), (45, 62), (49, 61), (52, 62)):
        b.box(x, 5, z, x + 1, 6, z, "oak_leaves" if x in (14, 49) else "flowering_azalea_leaves")
    for x, z, kind in ((10, 62, "red_wool"), (16, 60, "yellow_wool"), (21, 62, "pink_wool"),
                       (43, 61, "yellow_wool"), (47, 60, "red_wool"), (55, 62, "pink_wool")):
        if b.at(x, 4, z) == "grass_block":
            b.put(x, 5, z, kind)
