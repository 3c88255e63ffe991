"""Trees, islands and villages."""

from math import atan2, cos, hypot, pi, sin

from sculptor_ground import inside_shore, strata
from voxels import Build, grain


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
    for path, radii in (([(15, 13, 14), (21, 15, 16), (26.5, 21, 15)], [2.4, 1.8, 1.2]),
                        ([(15, 16, 13), (20, 20, 9), (22, 24, 7)], [2.2, 1.6, 1.1]),
                        ([(12, 18, 14), (6, 20, 18), (4, 23, 20)], [2.0, 1.5, 1.0]),
                        ([(13, 14, 14), (8, 13, 10), (5, 15, 7)], [1.9, 1.4, 0.9])):
        b.tube(path, radii, "oak_log")


def foliage(b):
    lobes = ((9, 26, 12, 7, 5, "orange_wool"), (22, 26.5, 7.5, 6, 4.6, "red_wool"),
             (26.6, 24.5, 16, 4.8, 3.4, "yellow_wool"), (4.5, 24.5, 20, 4.6, 3.8, "yellow_wool"),
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
    """White walls on a terrace with a rail; a door, lit windows, a roof like a bell and a chimney."""
    floor, eaves = round(cy - r * 0.75), round(cy + r * 0.75)
    b.disc(cx, floor, cz, r + 1.6, "oak_planks")
    b.disc(cx, floor + 1, cz, r + 1.6, lambda x, y, z: "oak_log" if (x + z) % 2 else b.at(x, y, z),
           hole=r + 0.7)
    b.cylinder(cx, cz, floor + 1, eaves, r, "white_wool")
    for i in range(4):
        angle = door + i * pi / 2
        x, z = cx + r * cos(angle), cz + r * sin(angle)
        low, high = (floor + 1, floor + 3) if i == 0 else (floor + 2, eaves - 1)
        b.solid(lambda i, j, k: max(abs(i - x), abs(k - z)) < 1.1 and b.at(i, j, k) == "white_wool",
                "oak_log" if i == 0 else "glowstone", (0, low, 0, 31, high, 31))
    tall = round(r * 1.9)
    for step in range(tall + 1):
        t = step / tall
        b.disc(cx + 1.2 * t * t, eaves + 1 + step, cz, max(0.6, (r + 0.9) * (1 - t) ** 1.3), roof)
    x, z = round(cx - r * 0.6), round(cz - r * 0.5)
    b.box(x, eaves + 1, z, x, eaves + tall - 1, z, "cobblestone")


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
