"""The reference builds of reference_sculptor: curves, mass and gesture, strong colour.

    python3 sculptor.py FOLDER

writes FOLDER/<prompt>/reference_sculptor.json for every prompt.
"""

import sys
from math import atan2, cos, hypot, pi, sin
from pathlib import Path

from voxels import Build, along, grain, mix

ROCK = mix(("stone", 4), ("cobblestone", 3))


def inside_shore(x, z, rx=15.6, rz=15.6):
    """An island's outline: an ellipse with bays."""
    angle = atan2(z - 15.5, x - 15.5)
    bays = 0.05 * sin(3 * angle + 1) + 0.04 * sin(5 * angle)
    return hypot((x - 15.5) / rx, (z - 15.5) / rz) <= 0.94 + bays


def steam_locomotive():
    """Bursting out of a mountain towards high x, under a plume as big as itself."""
    b = Build()
    landscape(b)
    tunnel(b)
    engine(b)
    plume(b)
    return b


def landscape(b):
    for x in range(32):
        for z in range(32):
            if not inside_shore(x, z, 17.5, 15):
                continue
            bank = max(0, 3.4 - max(0, abs(z - 15) - 7) * 0.8)
            rough = 0.8 * sin(x / 3 + z / 4) + 0.5 * grain(x, 1, z)
            peak = 24 - 1.75 * hypot((x - 5) * 1.35, (z - 14) * 0.95) + 3.5 * sin(z * 0.8 + x * 0.5)
            top = int(max(1.2 + rough * (bank < 2), bank, peak if x < 14 else 0))
            b.box(x, 0, z, x, top, z, "dirt" if top < 8 else ROCK)
            if top < 8:
                b.put(x, top, z, "grass_block")
            elif top < 14 and grain(x, 5, z) > 0.3:
                b.put(x, top, z, "grass_block")
    # A brook in front that curves into a pool.
    for x, y, z, r in along([(12, 1, 31), (17, 1, 27), (24, 1, 26), (30, 1, 22)], [1.8, 1.8, 2.4, 2]):
        for i in range(int(x - r), int(x + r) + 2):
            for k in range(int(z - r), int(z + r) + 2):
                if hypot(i - x, k - z) <= r and b.surface(i, k) in (0, 1, 2):
                    b.box(i, 1, k, i, 3, k, None)
                    b.put(i, 1, k, "water")
    for x, z, h in ((16, 4, 6), (20, 2, 5), (24, 5, 7), (28, 8, 4), (18, 30, 4), (9, 29, 6), (12, 26, 5)):
        ground = b.surface(x, z)
        if ground >= 0:
            b.box(x, ground, z, x, ground + 2, z, "oak_log")
            b.cone(x, z, ground + 2, ground + 2 + h, 2.2, 0.3, "oak_leaves")
    # A waterfall down the back of the mountain.
    for z in (20, 21):
        edge = min((x for x in range(32) if b.surface(x, z) >= 0), default=0)
        b.box(edge, 0, z, edge, b.surface(edge + 1, z), z, "water")
        b.box(edge + 1, b.surface(edge + 1, z), z, edge + 4, b.surface(edge + 1, z), z, "water")
        b.box(edge, 0, z, edge, 1, z, "white_wool")
    # Track: sleepers and two rails on the bank.
    for x in range(4, 32):
        b.box(x, 3, 8, x, 3, 22, mix(("cobblestone", 2), ("stone", 1)) if b.at(x, 1, 15) else None)
        if x % 3 == 0:
            b.box(x, 3, 7, x, 3, 23, "oak_log")
        for z in (9, 21):
            b.put(x, 4, z, "iron_block")


def tunnel(b):
    def hole(x, y, z):
        return hypot((y - 11) * 0.92, z - 15) <= 8.2 and y >= 4
    for x in range(7, 16):
        b.solid(hole, None, (x, 4, 5, x, 21, 25))
        for z in (9, 21):
            b.put(x, 4, z, "iron_block")
    b.solid(lambda x, y, z: 8.2 < hypot((y - 11) * 0.92, z - 15) <= 9.7 and y >= 3, "bricks",
            (10, 3, 4, 12, 22, 26))
    b.box(12, 20, 14, 12, 21, 16, "gold_block")
    for z in (6, 24):
        b.put(13, 12, z, "glowstone")


def engine(b):
    """Fat at the front, tapering back, as if seen through a wide lens."""
    b.box(9, 6, 12, 28, 8, 18, "black_wool")
    for x in range(8, 30):
        r = 3.6 + (x - 8) * 0.085
        kind = "red_wool" if x < 23 else "black_wool"
        b.barrel(x, x, 13, 15, r, kind)
        if x in (12, 17, 22):
            b.barrel(x, x, 13, 15, r + 0.3, "gold_block")
    b.ellipsoid(29, 13, 15, 2.2, 4.3, 4.3, "black_wool")
    b.barrel(29, 29, 13, 15, 4.9, "red_wool", hole=4.2)
    b.ball(30, 14, 15, 1.5, "glowstone")
    b.barrel(30, 30, 14, 15, 2.3, "gold_block", hole=1.5)
    # A cowcatcher like a plough, from a curved running board.
    for y in range(4, 9):
        reach = 31.5 - (y - 4) * 0.55
        for z in range(9, 22):
            for x in range(27, 32):
                if x <= reach - (z - 15) ** 2 * 0.06 and abs(z - 15) <= 6:
                    b.put(x, y, z, "yellow_wool" if z % 2 else "orange_wool")
    for x in range(9, 29):
        y = 8 + (x > 24) - (x < 12)
        for z in (10, 11, 19, 20):
            b.put(x, y + 1, z, "blue_wool")
    # Wheels that grow towards the front, outside everything else.
    for x, r in ((10.5, 2.3), (16, 2.8), (23, 3.6)):
        for z, out in ((9, -1), (21, 1)):
            cy = 4.6 + r
            b.wheel(x, cy, z - out, r - 1, "black_wool")
            b.wheel(x, cy, z, r, "black_wool", hole=r - 1)
            b.wheel(x, cy, z, r - 1, "yellow_wool")
            b.wheel(x, cy, z, max(1, r - 2.4), "blue_wool")
            b.ball(x, cy, z + out, 0.8, "gold_block")
    for z in (8, 22):
        b.line((11, 7, z), (23, 8, z), "iron_block")
    # A chimney like a trumpet, a dome, a cab with a rolling roof.
    for y in range(17, 26):
        r = 1.7 + max(0, y - 20) ** 1.5 * 0.21
        b.disc(25, y, 15, r, "black_wool")
    b.disc(25, 25, 15, 4.2, "red_wool", hole=2.9)
    b.disc(25, 25, 15, 2.8, "orange_wool")
    b.ellipsoid(19.5, 17.5, 15, 1.9, 2.6, 1.9, "gold_block")
    b.ellipsoid(15, 17, 15, 1.4, 1.8, 1.4, "gold_block")
    b.box(7, 8, 10, 12, 16, 20, "blue_wool")
    b.box(8, 12, 10, 11, 15, 20, "glass")
    b.box(8, 12, 11, 11, 15, 19, None)
    b.box(12, 13, 11, 12, 15, 12, "glass")
    b.box(12, 13, 18, 12, 15, 19, "glass")
    b.put(9, 12, 15, "glowstone")
    b.put(9, 13, 15, "glowstone")
    for z in range(8, 23):
        y = 18 - round((z - 15) ** 2 * 0.035)
        b.box(7, y, z, 13, y, z, "red_wool")
        b.box(13, y, z, 13, y, z, "gold_block")
    b.box(8, 17, 12, 11, 17, 18, "blue_wool")


def plume(b):
    for x, y, z, r in ((25, 26, 15, 2.2), (24, 28, 14.5, 2.9), (20.5, 28, 16, 3.4), (17, 28.5, 13.5, 3.5),
                       (13, 28, 16.5, 3.9), (9.5, 28.5, 13, 3.4), (6.5, 27, 17.5, 3.7), (3.5, 28.5, 14, 2.8),
                       (2.5, 26, 20, 2.6)):
        b.ball(x, y, z, r, "white_wool")


def lighthouse():
    """Striped like a sweet, leaning into the wind on a crag that the sea is eating."""
    b = Build()
    sea(b)
    crag(b)
    tower(b)
    return b


def sea(b):
    """Swell, and one breaker that wraps around the front of the crag."""
    for x in range(32):
        for z in range(32):
            if hypot(x - 15.5, z - 15.5) > 15.7:
                continue
            swell = 2.2 + 0.9 * sin(x * 0.55 + z * 0.35) + 0.5 * sin(z * 0.9)
            b.box(x, 0, z, x, int(swell), z, "water")
            b.put(x, 0, z, "blue_wool")
            if swell > 3.35:
                b.put(x, int(swell), z, "white_wool")
    for i in range(60):
        t = i / 59
        angle = 1.75 + 2.3 * t
        height = 3 + 7.5 * sin(pi * t) ** 1.3
        for s in range(24):
            u = s / 23
            # The face leans towards the rock and curls over at the top.
            r = 14.6 - 1.2 * u - 3.2 * max(0, u - 0.55) ** 1.5 * 2.2
            y = height * (u if u < 0.85 else 0.85 + (u - 0.85) * 0.3)
            x, z = 15.5 + r * cos(angle), 15.5 + r * sin(angle)
            kind = "white_wool" if u > 0.8 else "water" if grain(i // 3, s, 4) > 0.25 else "blue_wool"
            for depth in (0, 0.9):
                cell = (round(x + depth * cos(angle)), max(1, round(y)), round(z + depth * sin(angle)))
                if hypot(cell[0] - 15.5, cell[2] - 15.5) < 15.8:
                    b.put(*cell, kind)


def strata(x, y, z):
    return "cobblestone" if (y + sin(x * 0.4) + sin(z * 0.3) + grain(x, y, z)) % 4 < 1.5 else "stone"


def crag(b):
    """A horn of rock, an arch that leaps from it into the sea, and a stack with a house."""
    b.tube([(10.5, 0, 18), (11.5, 4, 16.5), (13, 7, 15), (13.5, 9, 14.4)], [8.4, 7.0, 5.2, 4.4], strata)
    b.tube([(14, 6, 18), (17.5, 9.5, 21.5), (22, 8, 23.5), (24.5, 0, 24.5)], [3.4, 2.3, 2.0, 2.8], strata)
    b.tube([(21.5, 0, 9), (22.5, 4, 8.5), (22, 8, 8.5)], [5, 3.9, 3.4], strata)
    b.tube([(4, 0, 8), (5, 4, 8.5), (7, 8, 9)], [3.2, 2, 0.9], strata)
    b.tube([(28, 0, 16), (28, 3, 16), (27, 5, 16.5)], [2, 1.4, 0.7], strata)
    for x in range(32):
        for z in range(32):
            top = b.surface(x, z)
            if b.at(x, top, z) in ("stone", "cobblestone") and 5 < top < 12 and grain(x // 2, 4, z // 2) > 0.45:
                b.put(x, top, z, "grass_block")
    for (x, y, z), kind in list(b.cells.items()):
        if kind == "water" and y >= 1 and b.at(x, y + 1, z) is None:
            near = sum(b.at(x + i, y, z + k) in ("stone", "cobblestone") for i in (-1, 0, 1) for k in (-1, 0, 1))
            if near >= 1 and grain(x, y, z) > 0.3:
                b.put(x, y, z, "white_wool")
    # A plank bridge from the horn to the stack.
    for i in range(30):
        t = i / 29
        x, y, z = 15 + 6 * t, 10.5 - 1.6 * sin(pi * t) - 0.8 * t, 12.5 - 3.5 * t
        b.box(round(x), round(y) + 1, round(z), round(x), round(y) + 2, round(z), None)
        b.box(round(x), round(y), round(z), round(x), round(y), round(z) + 1, "oak_planks")
    for x, z in ((19, 22), (22, 23), (8, 20), (18, 10)):
        b.put(x, b.surface(x, z) + 1, z, "oak_log")
        b.put(x, b.surface(x, z) + 1, z, "glowstone")


def tower(b):
    def axis(y):
        t = (y - 11) / 13
        return 13.2 + 3.4 * t ** 1.6, 14.2 - 0.6 * t

    for y in range(8, 23):
        cx, cz = axis(max(y, 11))
        r = 3.0 + 1.7 * max(0, (15 - y) / 6) ** 1.4

        def stripe(x, y, z, cx=cx, cz=cz):
            turn = (atan2(z - cz, x - cx) / (2 * pi) + y / 8) % 1
            return "red_wool" if turn < 0.45 else "white_wool"
        b.disc(cx, y, cz, r, stripe)
    # Round windows and a door.
    for y, i, k in ((14, 0, 1), (18, 1, 0), (18, -1, 0), (21, 0, 1), (16, 0, -1), (21, 0, -1)):
        cx, cz = axis(y)
        for out in range(5, 1, -1):
            x, z = round(cx + i * out), round(cz + k * out)
            if b.at(x, y, z):
                b.put(x, y, z, "glowstone")
                b.put(x, y + 1, z, "glass")
                break
    cx, cz = axis(24)
    b.disc(cx, 23, cz, 3.4, "blue_wool")
    b.disc(cx, 24, cz, 4.3, "blue_wool")
    b.disc(cx, 24, cz, 3.3, "gold_block")
    for y in (25, 26, 27):
        b.disc(cx, y, cz, 3.0, "glass", hole=2.1)
        b.disc(cx, y, cz, 2.1, "glowstone")
        for i in range(6):
            b.put(round(cx + 2.8 * cos(i * pi / 3)), y, round(cz + 2.8 * sin(i * pi / 3)), "gold_block")
    for y, r in ((28, 4.0), (29, 3.0), (30, 1.8)):
        b.disc(cx, y, cz, r, "blue_wool")
    b.disc(cx, 31, cz, 0.8, "gold_block")
    # The keeper lives in a pebble of a house on the stack.
    x, z = 22, 8.5
    b.ellipsoid(x, 12.4, z, 3.2, 3.2, 3.2, "orange_wool")
    for step, r in enumerate((3.9, 3.3, 2.5, 1.6, 0.8)):
        b.disc(x - step * 0.25, 14 + step, z, r, "purple_wool")
    for i, k in ((3, 0), (0, 3), (-3, 0), (0, -3)):
        b.put(x + i, 12, round(z + k), "glowstone")
        b.put(x + i, 13, round(z + k), "glass")
    b.box(24, 14, 7, 24, 18, 7, "cobblestone")


def treehouse():
    """Round huts in the fork of a leaning oak, in autumn."""
    b = Build()
    for x in range(32):
        for z in range(32):
            if inside_shore(x, z):
                top = int(1.2 + 2.6 * max(0, 1 - hypot(x - 13, z - 14) / 13) + 0.7 * sin(x * 0.4) * sin(z * 0.5 + 1))
                b.box(x, 0, z, x, top, z, "dirt")
                b.put(x, top, z, "grass_block")
    pond(b)
    oak(b)
    foliage(b)
    huts(b)
    undergrowth(b)
    return b


def pond(b):
    for x in range(14, 31):
        for z in range(18, 32):
            far = hypot((x - 23) / 5.6, (z - 25) / 3.8) + 0.12 * sin(x)
            top = b.surface(x, z)
            if far < 1.25 and top >= 1:
                b.box(x, 1, z, x, 4, z, None)
                b.put(x, 0, z, "sand")
                b.put(x, 1, z, "water" if far < 1 else "sand")


def oak(b):
    b.tube([(12, 1, 16), (12, 5, 15), (14.5, 10, 14), (15, 15, 14), (11, 20, 13), (9, 24, 12)],
           [4.6, 3.8, 3.0, 2.9, 2.1, 1.4], "oak_log")
    # Roots that arch over the ground, one of them into the pond.
    for path in ([(13, 5, 16), (17, 5, 19), (20, 1, 22)], [(11, 5, 17), (8, 5, 21), (6, 1, 25)],
                 [(10, 5, 14), (5, 4, 13), (2, 1, 11)], [(13, 5, 13), (16, 4, 8), (19, 1, 5)],
                 [(11, 5, 13), (9, 3, 8), (9, 1, 5)]):
        b.tube(path, [2.2, 1.3, 0.9], "oak_log")
    for path, radii in (([(15, 13, 14), (21, 15, 16), (25, 19, 19)], [2.4, 1.8, 1.2]),
                        ([(15, 16, 13), (20, 20, 9), (22, 24, 7)], [2.2, 1.6, 1.1]),
                        ([(12, 18, 14), (6, 20, 18), (4, 23, 20)], [2.0, 1.5, 1.0]),
                        ([(13, 14, 14), (8, 13, 10), (5, 15, 7)], [1.9, 1.4, 0.9])):
        b.tube(path, radii, "oak_log")


def foliage(b):
    lobes = ((9, 26, 12, 7, 5, "orange_wool"), (22, 26.5, 7.5, 6, 4.6, "red_wool"),
             (25.5, 22, 19.5, 5.2, 3.9, "yellow_wool"), (4.5, 24.5, 20, 4.6, 3.8, "yellow_wool"),
             (15.5, 28, 15, 5.4, 3.6, "orange_wool"), (4.8, 17, 6.5, 3.8, 3, "red_wool"),
             (16, 26, 5, 4.5, 3.6, "orange_wool"))
    for cx, cy, cz, r, h, colour in lobes:
        def leaf(x, y, z, colour=colour):
            old = b.at(x, y, z)
            if old == "oak_log":
                return old
            n = grain(x, y, z)
            return "oak_leaves" if n < 0.16 else colour if n < 0.86 else "orange_wool"
        b.solid(lambda x, y, z: hypot((x - cx) / r, (y - cy) / h, (z - cz) / r) + 0.16 * grain(x, y + 50, z) <= 1.06,
                leaf)


def hut(b, cx, cy, cz, r, roof, door):
    """A ball of planks with a pointed cap; windows all round, a porch below."""
    b.disc(cx, round(cy - r * 0.75), cz, r + 1.2, "oak_planks")
    b.ellipsoid(cx, cy, cz, r, r * 0.95, r, "oak_planks")
    b.ellipsoid(cx, cy, cz, r - 1, r - 1.2, r - 1, "glowstone")
    for i in range(4):
        angle = door + i * pi / 2
        x, z = cx + r * cos(angle), cz + r * sin(angle)
        b.solid(lambda i, j, k: hypot(i - x, j - cy, k - z) < 1.25 and b.at(i, j, k) == "oak_planks",
                "glass" if i else "black_wool")
    start = round(cy + r * 0.66)
    tall = round(r * 1.6)
    for step in range(tall + 1):
        t = step / tall
        lean = 1.2 * t * t
        b.disc(cx + lean, start + step, cz, (r + 1.0) * (1 - t) ** 1.2, roof)


def huts(b):
    hut(b, 20, 13, 21, 3.6, "purple_wool", pi / 2)
    hut(b, 9.5, 11.5, 23.5, 2.8, "blue_wool", 0.6)
    hut(b, 25.5, 16.5, 12, 2.5, "blue_wool", pi / 2)
    # What they stand on: limbs from the trunk.
    b.tube([(14, 8, 15), (17, 8.5, 18), (20, 9.5, 21)], [1.6, 1.3, 1.2], "oak_log")
    b.tube([(12, 6, 16), (10.5, 7, 20), (9.5, 8.8, 23.5)], [1.6, 1.2, 1.1], "oak_log")
    b.tube([(15, 12, 14), (21, 12.5, 13), (25.5, 14, 12)], [1.6, 1.2, 1.0], "oak_log")
    # A hanging bridge between the two in front, and a rope ladder.
    for t in range(0, 25):
        u = t / 24
        x, z = 11.5 + 6 * u, 23.5 - 1.2 * u
        y = round(9.3 + 1.2 * u - 2.4 * sin(pi * u))
        b.box(round(x), y, round(z), round(x), y, round(z) + 1, "oak_planks")
    for x in (19, 21):
        b.box(x, 1, 26, x, 10, 26, "oak_log")
    for y in range(2, 11, 2):
        b.put(20, y, 26, "oak_planks")


def undergrowth(b):
    for x, z, h, r in ((6, 27, 3, 2.2), (27, 17, 3, 2.4), (29, 15, 1, 1.4), (22, 3, 3, 2), (10, 3, 2, 1.8),
                       (2, 16, 2, 1.5), (25, 6, 1, 1.4)):
        ground = b.surface(x, z)
        if ground < 0 or ground > 5:
            continue
        b.box(x, ground + 1, z, x, ground + h, z, "white_wool")
        b.ellipsoid(x, ground + h + 0.4, z, r, 1.2, r, lambda i, j, k: None if j < ground + h else
                    "white_wool" if grain(i, j, k) > 0.75 else "red_wool")
        b.put(x, ground + h, z, "white_wool")
    for x, z, kind in ((15, 28, "yellow_wool"), (17, 29, "purple_wool"), (8, 3, "red_wool"), (4, 22, "yellow_wool"),
                       (13, 26, "purple_wool"), (25, 5, "yellow_wool"), (28, 20, "purple_wool")):
        ground = b.surface(x, z)
        if 0 <= ground <= 4 and b.at(x, ground, z) == "grass_block":
            b.put(x, ground + 1, z, kind)
    for x, z in ((19, 26), (27, 24), (22, 28)):
        b.put(x, 2, z, "green_wool")


def sleeping_dragon():
    """Curled up nose to tail around its gold, one wing thrown over itself."""
    b = Build()
    lair(b)

    def ring(degrees, r, y):
        a = degrees * pi / 180
        return 15.5 + r * cos(a), y, 15.5 + r * sin(a)

    spine = [ring(165, 14, 3.6), ring(135, 13.6, 3.4), ring(95, 13.3, 3.4), ring(55, 12.8, 3.8),
             ring(15, 11.6, 5), ring(-30, 10, 7.2), ring(-75, 9.8, 8.2), ring(-120, 10, 8.4),
             ring(-160, 10, 9.5), ring(-190, 10, 12), ring(-218, 9.6, 13.2), ring(-245, 8.6, 11.5),
             (14, 9, 24.5)]
    thick = [0.7, 1.1, 1.4, 1.9, 2.9, 4.4, 4.9, 4.7, 4.0, 3.0, 2.5, 2.3, 2.4]

    def scales(x, y, z):
        return "red_wool" if grain(x, y, z) < 0.93 else "orange_wool"
    b.tube(spine, thick, scales)
    # A paler belly on the inside of the curl.
    b.repaint(lambda x, y, z, kind: kind in ("red_wool", "orange_wool") and y < 8
              and hypot(x - 15.5, z - 15.5) < 7.2 and z < 19, "yellow_wool")
    spines(b, spine, thick)
    legs(b)
    dragon_head(b)
    wing(b)
    # The tail ends in a blade.
    for x, z, h in ((3, 21, 1), (2, 20, 2), (2, 19, 2), (1, 19, 1), (3, 19, 1), (2, 18, 1)):
        b.box(x, 3, z, x, 3 + h, z, "black_wool")
    return b


def spines(b, spine, thick):
    places = list(along(spine, thick))
    last = None
    for x, y, z, r in places[: int(len(places) * 0.93)]:
        if last and hypot(x - last[0], z - last[1]) < (1.8 if r < 2 else 2.8):
            continue
        last = x, z
        out = hypot(x - 15.5, z - 15.5)
        x, z = x + (x - 15.5) / out * r * 0.2, z + (z - 15.5) / out * r * 0.2
        x, z = round(x), round(z)
        top = max((n for n in range(32) if b.at(x, n, z) in ("red_wool", "orange_wool")), default=0)
        if not top or z > 25:
            continue
        b.box(x, top + 1, z, x, top + (1 if r < 2 else 2), z, "black_wool")
        if r > 3.5:
            for i, k in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                if b.at(x + i, top, z + k):
                    b.put(x + i, top + 1, z + k, "black_wool")
            b.put(x, top + 3, z, "black_wool")


def legs(b):
    b.tube([(25, 8, 11), (28, 6, 15), (27, 4, 19)], [3.4, 2.4, 1.5], "red_wool")
    b.tube([(5, 9, 17), (3, 6, 20), (7, 4, 25)], [2.8, 2.0, 1.5], "red_wool")
    for x, z in ((26, 21), (27, 21), (28, 21), (9, 27), (10, 26), (8, 27)):
        b.put(x, 3, z, "black_wool")


def dragon_head(b):
    """Laid on the gold at the front, inside the tail, its nose towards high x."""
    b.ellipsoid(15.5, 8.4, 24, 3.8, 3.0, 3.2, "red_wool")
    b.ellipsoid(20.5, 7.4, 24.2, 4.6, 2.1, 2.5, "red_wool")
    b.ellipsoid(23.6, 7.6, 24.2, 2.0, 2.0, 2.6, "red_wool")
    b.box(14, 4, 22, 24, 5, 26, "yellow_wool")
    b.box(25, 5, 23, 25, 5, 25, "yellow_wool")
    b.solid(lambda x, y, z: b.at(x, y, z) == "red_wool" and y <= 5, "yellow_wool", (14, 4, 20, 26, 5, 28))
    for z in (22, 26):
        b.put(24, 10, z, "red_wool")
        b.put(25, 9, z, "black_wool")
    for z, out in ((27, 1), (21, -1)):
        b.box(15, 10, z, 18, 10, z, "orange_wool")  # the brow
        b.put(19, 9, z, "orange_wool")
        b.box(15, 8, z, 18, 8, z, "black_wool")  # the closed eye
        b.put(15, 9, z, "black_wool")
        b.box(15, 9, z - out, 18, 10, z - out, "red_wool")
        b.box(14, 8, z - out, 18, 8, z - out, "red_wool")
        b.put(19, 8, z - out, "red_wool")
        b.box(16, 9, z, 18, 9, z, "red_wool")
    for x in (18, 20, 22, 24):
        b.put(x, 5, 26, "white_wool")
        b.put(x, 5, 22, "white_wool")
    b.tube([(13.5, 11, 26), (10.5, 14, 27.5), (8, 17.5, 27.5)], [1.3, 1.0, 0.6], "black_wool")
    b.tube([(13.5, 11, 22), (11, 14.5, 21), (9, 18.5, 20.5)], [1.3, 1.0, 0.6], "black_wool")


def skin(b, root, curve, kind):
    """A curved sheet from one point to a curve."""
    for x, y, z, _ in along(curve, [1] * len(curve)):
        n = 90
        for i in range(n + 1):
            t = i / n
            bulge = 1.6 * sin(pi * t)
            b.put(round(root[0] + (x - root[0]) * t), round(root[1] + (y - root[1]) * t + bulge),
                  round(root[2] + (z - root[2]) * t), kind)


def wing(b):
    wrist = (6, 24, 6)
    shoulder = (6, 12, 14)
    tips = [(2, 9, 17), (1, 5, 8), (7, 5, 1), (17, 8, 1), (25, 14, 3), (24, 19, 9)]
    edge = []
    for p, q in zip(tips, tips[1:]):
        mid = [(u + v) / 2 for u, v in zip(p, q)]
        edge += [p, tuple(m + (w - m) * 0.16 for m, w in zip(mid, wrist))]
    edge.append(tips[-1])
    skin(b, wrist, edge, "purple_wool")
    for tip in tips:
        n = 60
        for i in range(n + 1):
            t = i / n
            b.put(*(round(w + (p - w) * t + (1.6 * sin(pi * t) + 0.4 if k == 1 else 0))
                    for k, (w, p) in enumerate(zip(wrist, tip))), "black_wool")
    b.tube([shoulder, (4, 18, 11), wrist], [1.9, 1.5, 1.3], "red_wool")
    b.line(wrist, (7, 26, 6), "black_wool")


def lair(b):
    for x in range(32):
        for z in range(32):
            if not inside_shore(x, z, 16.6, 16.6):
                continue
            far = hypot(x - 15.5, z - 15.5)
            top = 1.6 + 0.8 * grain(x // 2, 1, z // 2) + (1.6 * grain(x // 3, 5, z // 3) if far > 12 else 0)
            b.box(x, 0, z, x, int(top), z, ROCK)
    b.solid(lambda x, y, z: y >= 1 and y <= 6.5 - 0.09 * hypot(x - 15.5, z - 17) ** 1.8 + grain(x, 3, z),
            "gold_block", (7, 1, 7, 24, 9, 27))
    for x, z, kind in ((13, 17, "blue_wool"), (17, 15, "green_wool"), (19, 18, "purple_wool"), (15, 20, "blue_wool"),
                       (11, 19, "green_wool")):
        b.put(x, b.surface(x, z) + 1, z, kind)
    b.box(16, b.surface(16, 17), 17, 18, b.surface(16, 17) + 1, 18, "oak_planks")
    b.put(17, b.surface(17, 18), 18, "glowstone")
    for x, z, h, r in ((29, 26, 9, 2.1), (26, 29, 5, 1.5), (30, 22, 4, 1.2), (4, 28, 7, 1.9), (29, 5, 11, 2.3),
                       (27, 3, 6, 1.6)):
        b.cone(x, z, 0, h, r, 0.4, ROCK)
    for x, z in ((25, 27), (3, 24), (28, 8), (29, 23)):
        b.put(x, b.surface(x, z) + 1, z, "glowstone")


def pirate_ship():
    """Climbing out of a trough, every sail drawing."""
    b = Build()

    def lift(x):
        """How high the ship rides at x: the bow is up."""
        return 2.6 + 0.3 * (x - 13)

    waves(b)
    for x in range(1, 28):
        for z in range(32):
            for y in range(0, 20):
                if in_hull(x, y - lift(x), z - 15):
                    up = y - lift(x)
                    kind = ("oak_log" if up < 4.5 else "black_wool" if up < 6 else "red_wool" if up > 8.4 else
                            "oak_planks")
                    b.put(x, y, z, kind)
    decks(b, lift)
    for x, top, lean in ((20, 29, -1), (11, 31, -1), (4, 25, -1)):
        foot = round(5 + lift(x))
        b.line((x, foot, 15), (x + lean, top, 15), "oak_log")
        b.line((x, foot, 16), (x + lean, top, 16), "oak_log")
    for x, y1, y2, w1, w2, deep, kind in (
            (20, 15, 21, 8, 6.5, 4.2, "black_wool"), (19, 22, 27, 6, 4.5, 3.2, "red_wool"),
            (11, 13, 20, 9.5, 8, 5, "black_wool"), (10, 21, 28, 7.5, 5.5, 4, "red_wool"),
            (4, 16, 22, 6, 4.5, 3, "black_wool")):
        full_sail(b, x, y1, y2, w1, w2, deep, kind)
    skull(b)
    jib(b, lift)
    for x, y, reach in ((9, 30, 7), (18, 29, 4), (2, 24, 2)):
        colour = "black_wool" if x == 9 else "orange_wool"
        for i in range(reach):
            flutter = y + round(0.9 * sin(i * 1.1))
            b.box(x - i, flutter, 15, x - i, flutter + (i < reach - 2), 15, colour)
    return b


def in_hull(x, up, across):
    """A banana: the ends rise, the sides bulge out and come back in at the rail."""
    s = (x - 1) / 26
    rail = 7.6 + 5.2 * (1 - s) ** 3 + 4.5 * max(0, s - 0.55) ** 1.6 * 2
    keel = 0.4 + 7 * max(0, s - 0.7) ** 1.5 * 4
    if not keel <= up <= rail:
        return False
    plan = 5.4 * (1 - max(0, (s - 0.45) / 0.56) ** 2.2) * (0.8 + 0.2 * min(1, s * 4))
    t = (up - keel) / max(rail - keel, 1)
    return abs(across - 0.5) <= plan * (0.45 + 0.9 * t - 0.42 * t * t)


def decks(b, lift):
    for x in range(2, 26):
        deck = round(5.6 + lift(x) + (3 if x < 8 else 0))
        for z in range(8, 24):
            if in_hull(x, 7.5, abs(z - 15.5) + 1.6):
                b.box(x, deck, z, x, 24, z, None)
                b.put(x, deck, z, "oak_planks")
    # Gold along the rail, glowing ports, lanterns at the stern.
    for x in range(1, 28):
        for z in range(32):
            top = b.surface(x, z)
            if b.at(x, top, z) == "red_wool":
                b.put(x, top, z, "gold_block" if x % 2 or x < 9 else "red_wool")
    for x in (8, 11, 14, 17, 20):
        y = round(5 + lift(x))
        for step in (-1, 1):
            z = 15.5 + step * 7
            while 8 <= z <= 23 and b.at(x, y, int(z)) != "black_wool":
                z -= step
            if b.at(x, y, int(z)) == "black_wool":
                b.put(x, y, int(z), "iron_block")
                b.put(x, y, int(z) + step, "iron_block")
    for z in (12, 14, 17, 19):
        b.box(1, 8, z, 1, 9, z, "glowstone")
    for z in (13, 18):
        top = b.surface(1, z)
        b.put(1, top + 1, z, "gold_block")
        b.put(1, top + 2, z, "glowstone")


def full_sail(b, x, y1, y2, w1, w2, deep, kind):
    """A piece of a balloon between two yards."""
    for y in range(y1, y2 + 1):
        t = (y - y1) / (y2 - y1)
        half = w1 + (w2 - w1) * t - 0.8 * sin(pi * t)
        for z in range(32):
            k = (z - 15.5) / half
            if abs(k) > 1:
                continue
            def depth(k, t):
                return deep * max(0, 1 - k * k) ** 0.7 * max(0, 1 - (1.7 * t - 0.7) ** 2) ** 0.7
            here = depth(k, t)
            # As thick as it is steep, so that no gaps open.
            near = min(depth(min(1, abs(k) + 1 / half), t), depth(k, min(1, t + 1 / (y2 - y1))),
                       depth(k, max(0, t - 1 / (y2 - y1))))
            stripe = kind if kind == "black_wool" or int(abs(z - 15.5)) % 4 < 2 else "white_wool"
            for i in range(min(round(here), round(near) + 1), round(here) + 1):
                if b.at(x + 1 + i, y, z) != "oak_log":
                    b.put(x + 1 + i, y, z, stripe)
    for y, w in ((y1, w1), (y2, w2)):
        b.box(x, y, round(15.5 - w - 0.6), x, y, round(15.4 + w + 0.6), "oak_log")


def skull(b):
    rows = ("  XXXXXX  ", " XXXXXXXX ", " XX XX XX ", " X  XX  X ", "  XXXXXX  ", "   XXXX   ", "   X  X   ")
    for down, row in enumerate(rows):
        for k, mark in enumerate(row):
            if mark == "X":
                for x in range(21, 30):
                    y, z = 21 - down, 11 + k
                    if b.at(x, y, z) == "black_wool":
                        b.put(x, y, z, "white_wool")


def jib(b, lift):
    foot = (25, round(9 + lift(25)), 15)
    tip = (31, 21, 15)
    b.line(foot, tip, "oak_log")
    b.line((25, foot[1], 16), (31, 21, 16), "oak_log")
    b.ball(28, 15, 15.5, 1.3, "gold_block")


def waves(b):
    for x in range(32):
        for z in range(32):
            if hypot((x - 15.5) / 16.2, (z - 15.5) / 14) > 1:
                continue
            swell = 2.6 + 0.06 * x + 0.9 * sin(x * 0.45 + z * 0.2) + 0.7 * sin(z * 0.5 + x * 0.1)
            crest = (5.6 - 0.3 * abs(z - 15.5)) * max(0, 1 - ((x - 24 + 0.45 * abs(z - 15.5)) / 4.5) ** 2)
            top = max(1, int(swell + crest))
            b.box(x, 0, z, x, top, z, "water")
            if top > 2:
                b.box(x, 0, z, x, top - 2, z, "blue_wool")
            if crest > 2.5 or sin(x * 0.45 + z * 0.2) > 0.93 and grain(x // 2, 2, z // 3) > 0.45:
                b.put(x, top, z, "white_wool")


PROMPTS = {
    "steam-locomotive": steam_locomotive,
    "lighthouse": lighthouse,
    "treehouse": treehouse,
    "sleeping-dragon": sleeping_dragon,
    "pirate-ship": pirate_ship,
}

if __name__ == "__main__":
    for prompt, build in PROMPTS.items():
        build().save(Path(sys.argv[1]) / prompt / "reference_sculptor.json")
