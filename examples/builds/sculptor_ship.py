"""The pirate ship."""

from math import cos, hypot, pi, sin

from voxels import Build, grain

MIDDLE = 15.5
BRACED = 0.6  # how far the yards are turned: the sails look between the bow and the side


def pirate_ship():
    """A fat galleon that climbs a sea, every sail drawing, her stern lit like a ballroom."""
    b = Build()
    sea_way(b)
    hull(b)
    decks(b)
    stern(b)
    guns(b)
    bow(b)
    rig(b)
    return b


def lift(x):
    """How high the ship rides at x: the bow is up."""
    return 3.0 + 0.17 * (x - 12)


def rail(x):
    """The top of the hull's side above the keel; it rises in steps to the stern."""
    return 7.6 + (2.6 if x < 10 else 0) + (2.6 if x < 6 else 0) + max(0, x - 19) * 0.45


def half_width(x, up):
    """Wide at the gun deck, drawn in above it; the stern hangs over, the stem is raked."""
    start = 3.4 - 0.34 * up
    end = 23.5 + 0.42 * up
    if not start <= x <= end or not 0 <= up <= rail(x):
        return -1
    t = (x - start) / (end - start)
    plan = 6.6 * (0.80 + 0.2 * min(1, t * 3)) * max(0, 1 - max(0, (t - 0.5) / 0.5) ** 2.3) ** 0.8
    belly = 0.42 + 0.62 * min(1, up / 4.2) ** 0.7 - 0.030 * max(0, up - 5)
    return plan * belly


def hull(b):
    for x in range(0, 30):
        for y in range(0, 20):
            up = y - lift(x)
            half = half_width(x, up)
            for z in range(32):
                if abs(z - MIDDLE) <= half:
                    kind = ("oak_log" if up < 2.6 else "oak_planks" if up < 4.2 else "black_wool" if up < 6.4
                            else "oak_planks" if up < 7.2 else "red_wool")
                    b.put(x, y, z, kind)


def decks(b):
    """Hollow above the planks, so that the sides stand as a rail."""
    for x in range(0, 28):
        floor = round(rail(x) - 1.6 + lift(x))
        for z in range(32):
            if abs(z - MIDDLE) <= half_width(x, rail(x) - 0.6) - 1.2:
                b.box(x, floor + 1, z, x, 24, z, None)
                b.put(x, floor, z, "oak_planks" if x % 4 else "oak_log")
        edge = [z for z in range(32) if b.surface(x, z) > floor]
        for z in edge:
            if x % 4 == 0:
                b.put(x, b.surface(x, z), z, "gold_block")
    # A hatch, steps, a wheel on the poop, barrels.
    y = round(rail(14) - 1.6 + lift(14)) + 1
    b.box(14, y, 14, 17, y, 17, "oak_log")
    b.box(15, y, 15, 16, y, 16, "glowstone")
    for x in (10, 6):
        y = round(rail(x) - 1.6 + lift(x)) + 1
        for z in (13, 18):
            b.box(x, y, z, x, y + 1, z, "oak_planks")
            b.put(x + 1, y, z, "oak_planks")
    y = round(rail(7) - 1.6 + lift(7)) + 1
    for step in (-1, 0, 1):
        b.put(8, y + 1 + (step == 0), 15 + step, "oak_log")
    b.box(8, y, 15, 8, y + 1, 15, "gold_block")


def stern(b):
    """Two rows of lit windows between gold, side galleries, three lanterns."""
    for y in range(5, 19):
        for z in range(32):
            x = next((x for x in range(8) if b.at(x, y, z)), None)
            if x is None or x > 3 or abs(z - MIDDLE) > 6:
                continue
            pane = int(abs(z - MIDDLE)) % 2 == 0
            if y in (7, 11):
                b.put(x, y, z, "gold_block")
            elif y in (8, 9) or y in (12, 13) and abs(z - MIDDLE) < 4:
                b.put(x, y, z, "glowstone" if pane else "oak_log")
            elif y > 9:
                b.put(x, y, z, "red_wool")
    for z in (9, 22):
        b.ellipsoid(3.4, 9.5, z, 2.2, 2.6, 1.3, lambda x, y, k: b.at(x, y, k) or
                    ("gold_block" if y in (8, 12) else "glowstone" if x % 2 and y in (9, 10) else "red_wool"))
    for z, tall in ((11, 1), (15, 2), (16, 2), (20, 1)):
        x = 0 if b.surface(0, z) > 8 else 1
        y = b.surface(x, z)
        b.box(x, y + 1, z, x, y + tall, z, "gold_block")
        b.put(x, y + tall + 1, z, "glowstone")


def guns(b):
    for x in (8, 11, 14, 17, 20):
        y = round(5.2 + lift(x))
        for way in (-1, 1):
            z = 15 if way < 0 else 16
            while b.at(x, y, z) or b.at(x, y, z + way) or b.at(x, y, z + 2 * way):
                z += way
            b.box(x, y, z, x, y, z + way, "iron_block")


def bow(b):
    """A bowsprit and a golden beast under it."""
    y = round(rail(26) + lift(26))
    for z in (15, 16):
        b.line((24, y - 2, z), (31, y + 4, z), "oak_log")
    b.tube([(27, y - 4, MIDDLE), (29, y - 2.4, MIDDLE), (30.4, y - 0.6, MIDDLE)], [1.2, 1.1, 1.3], "gold_block")
    b.put(31, y - 1, 15, "red_wool")
    b.put(31, y - 1, 16, "red_wool")


SKULL = ("  #####  ",
         " ####### ",
         "#########",
         "#..###..#",
         "#...#...#",
         "#..###..#",
         "####.####",
         " ### ### ",
         "  #####  ",
         "  # # #  ")


def rig(b):
    """One great sail to a mast, the black one before the red one, so that each shows its own shape."""
    for x, top in ((19, 28), (8, 31)):
        foot = round(4 + lift(x))
        b.box(x, foot, 15, x, top, 16, "oak_log")
    sail(b, 19, 12.5, 26, 8.2, 7.0, 4.6, "black_wool", SKULL)
    sail(b, 8, 15, 29, 8.8, 7.0, 4.6, "red_wool")
    for x, y, reach, colour in ((7, 31, 7, "orange_wool"), (18, 28, 5, "orange_wool")):
        for n in range(reach):
            top = y - round(0.8 - 0.8 * sin(n * 1.1 + 1.5))
            z = 15 + round(0.6 * sin(n * 0.9))
            b.box(x - n, top - (n < reach - 2), z, x - n, top, z, colour)


def sail(b, mast, y1, y2, w1, w2, deep, colour, emblem=None):
    """A full belly that hangs from one yard, its corners drawn back; all yards are braced towards high z."""
    def braced(ahead, aside):
        return (round(mast + ahead * cos(BRACED) - aside * sin(BRACED)),
                round(MIDDLE + ahead * sin(BRACED) + aside * cos(BRACED)))

    for n in range(121):
        v = n / 120
        half = w1 + (w2 - w1) * v
        bulge = deep * (0.32 + 0.95 * sin(pi * (0.12 + 0.88 * v)) - 0.32 * v * v) * (1 - v ** 6)
        for m in range(-90, 91):
            u = m / 90
            x, z = braced(1.6 + bulge * (1 - u * u) ** 0.75, half * u)
            foot = 1.3 * (1 - u * u) * (1 - v)  # the lower edge is cut like an arch
            y = y1 + foot + (y2 - y1 - foot) * v
            cell = x, round(y), z
            if b.at(*cell) == "oak_log":
                continue
            kind = "white_wool" if not emblem and abs(v - 0.5) < 0.12 else colour
            if emblem and (abs(u) > 0.88 or v < 0.1):
                kind = "gold_block"  # so that the black has an edge on any background
            if emblem:
                row = round((y2 - 2 - y) * len(emblem) / (y2 - y1 - 3.5))
                column = round(half * u + len(emblem[0]) / 2 - 0.5)
                if 0 <= row < len(emblem) and 0 <= column < len(emblem[0]):
                    kind = {"#": "white_wool"}.get(emblem[row][column], kind)
            b.put(*cell, kind)
    y = round(y2)
    (x1, z1), (x2, z2) = braced(1, -w2 - 1), braced(1, w2 + 1)
    b.line((x1, y, z1), (x2, y, z2), "oak_log")


def sea_way(b):
    """Swell, a bow wave that breaks, a wake."""
    for x in range(32):
        for z in range(32):
            if hypot((x - 15.5) / 16.2, (z - 15.5) / 14.6) > 1:
                continue
            side = abs(z - MIDDLE)
            swell = 1.9 + 0.05 * x + 0.9 * sin(x * 0.45 + z * 0.22) + 0.6 * sin(z * 0.5 + x * 0.1)
            crest = (5.0 - 0.3 * side) * max(0, 1 - ((x - 25 + 0.5 * side) / 4.2) ** 2)
            top = max(1, int(swell + crest))
            b.box(x, 0, z, x, top, z, "water")
            b.box(x, 0, z, x, max(0, top - 2), z, "blue_wool")
            wake = x < 4 and side < 5 or abs(side - 7.4 - 0.09 * (24 - x)) < 0.7 and x < 22
            if crest > 2.6 or wake and grain(x, 2, z) > 0.35 or (
                    sin(x * 0.45 + z * 0.22) > 0.95 and grain(x // 2, 2, z // 3) > 0.5):
                b.put(x, top, z, "white_wool")
