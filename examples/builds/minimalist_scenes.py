"""Scenes of reference_minimalist: more places, and what is at home in them."""

from math import atan2, cos, hypot, pi, sin

from voxels import Build

MIDDLE = 15.5


def drums(b, x, z, y, kind, *steps):
    """Discs on top of each other: (height, radius) from the lowest to the highest."""
    for height, r in steps:
        b.cylinder(x, z, y, y + height - 1, r, kind)
        y += height


def stone_bridge():
    """A moon bridge: one ring that dips into the water, and a way that leans on it from both banks."""
    b = Build()
    b.cylinder(MIDDLE, MIDDLE, 0, 2, 15.9, "grass_block")
    b.cylinder(MIDDLE, MIDDLE, 1, 2, 13.9, None)

    def way(x):
        return 2 + round(16.4 * cos(pi * (x - MIDDLE) / 31) ** 0.95)

    for x in range(32):
        for y in range(1, 24):
            # The ring stands out by one from the way, whose two outer rows are the parapet.
            if 7.9 < hypot(x - MIDDLE, y - 8.5) <= 10.2 and y <= way(x):
                b.box(x, y, 11, x, y, 20, "stone")
            elif max(2, way(x) - 3) < y <= way(x):
                b.box(x, y, 12, x, y, 19, "stone")
        for z in (12, 19):
            b.box(x, way(x), z, x, way(x) + 1, z, "stone")
    b.cylinder(MIDDLE, MIDDLE, 1, 1, 13.9, lambda x, y, z: b.at(x, y, z) or "water")
    # The boat, and its lantern on a pole.
    b.box(14, 2, 16, 17, 3, 25, "oak_planks")
    b.box(15, 3, 14, 16, 3, 27, "oak_planks")
    b.box(15, 4, 13, 16, 4, 14, "oak_planks")
    b.box(15, 4, 27, 16, 4, 28, "oak_planks")
    b.box(15, 3, 17, 16, 3, 24, None)
    b.box(15, 5, 28, 15, 6, 28, "oak_planks")
    b.box(15, 7, 28, 15, 8, 28, "glowstone")
    return b


def fire_engine():
    """Two red blocks on four discs, and a ladder as long as the whole picture."""
    b = Build()
    b.box(0, 3, 10, 31, 4, 21, "black_wool")
    b.box(0, 4, 9, 19, 9, 22, "red_wool")
    b.box(21, 4, 9, 31, 13, 22, "red_wool")
    b.box(20, 4, 10, 20, 9, 21, "black_wool")
    for z in (8, 9, 22, 23):
        for x in (6, 25):
            b.wheel(x, 3, z, 3.3, "black_wool")
            b.wheel(x, 3, z, 1.2, "iron_block")
    # One band all the way round, glass around the cab.
    for z in (9, 22):
        b.box(0, 7, z, 31, 7, z, "iron_block")
    b.box(0, 7, 9, 0, 7, 22, "iron_block")
    b.box(31, 7, 9, 31, 7, 22, "iron_block")
    b.box(24, 9, 9, 31, 12, 22, "glass")
    b.box(24, 9, 10, 30, 12, 21, "black_wool")
    b.box(23, 14, 12, 26, 14, 13, "blue_wool")
    b.box(23, 14, 18, 26, 14, 19, "blue_wool")
    for z in (10, 20):
        b.box(31, 5, z, 31, 6, z + 1, "iron_block")
    # Turntable and ladder.
    b.cylinder(6.5, MIDDLE, 10, 11, 4.6, "black_wool")
    y = 12
    for x in range(4, 30):
        low, y = y, 12 + (x - 4) * 12 // 24
        for z in (13, 18):
            b.box(x, low, z, x, y, z, "iron_block")
            b.box(x, low + 3, z, x, y + 3, z, "iron_block")
            if x % 4 == 0:
                b.box(x, low, z, x, y + 3, z, "iron_block")
        if x % 2 == 0:
            b.box(x, y, 14, x, y, 17, "iron_block")
    # Whom it is for: the cat.
    b.box(27, 25, 13, 31, 25, 18, "iron_block")
    b.box(28, 26, 15, 30, 27, 16, "black_wool")
    b.box(29, 28, 15, 30, 28, 16, "black_wool")
    b.box(29, 29, 14, 31, 30, 17, "black_wool")
    for z in (14, 17):
        b.put(30, 31, z, "black_wool")
        b.put(31, 30, z - (z > 15) + (z < 15), "iron_block")
    b.box(27, 26, 17, 29, 26, 17, "black_wool")
    return b


def treehouse():
    """The first house a child draws, up in a round oak; from the one straight bough hangs a swing."""
    b = Build()
    b.disc(MIDDLE, 0, MIDDLE, 15.9, "grass_block")
    drums(b, 12.5, MIDDLE, 1, "oak_log", (1, 6.6), (2, 5.6), (3, 4.6), (14, 3.6))
    b.ellipsoid(12.9, 24.4, MIDDLE, 12.9, 7.4, 12.9, "oak_leaves")
    # The bough and the swing.
    b.box(0, 14, 15, 12, 15, 16, "oak_log")
    for x in (1, 5):
        b.box(x, 5, 15, x, 13, 15, "oak_log")
    b.box(1, 4, 15, 5, 4, 16, "white_wool")
    # The floor, held by braces from the trunk.
    b.box(11, 11, 9, 29, 11, 22, "oak_log")
    for step in range(7):
        b.box(16 + step, 4 + step, 15, 17 + step, 4 + step, 16, "oak_log")
    # The house: windows in the gable and at the back, a door and a ladder on the side.
    b.box(17, 12, 11, 26, 17, 20, "white_wool")
    for step in range(6):
        b.box(16, 17 + step, 10 + step, 27, 17 + step, 21 - step, "white_wool")
    b.box(26, 13, 14, 26, 16, 17, "glowstone")
    b.box(27, 19, 15, 27, 20, 16, "glowstone")
    b.box(20, 13, 11, 23, 15, 11, "glowstone")
    b.box(21, 12, 20, 22, 15, 20, "oak_log")
    b.box(24, 13, 20, 25, 15, 20, "glowstone")
    for x in (20, 23):
        b.box(x, 1, 23, x, 12, 23, "oak_log")
    for y in range(2, 12, 2):
        b.box(21, y, 23, 22, y, 23, "oak_log")
    return b


def octopus():
    """Seven arms close towards the chest; behind its back the eighth holds up what it took out."""
    b = Build()
    b.disc(MIDDLE, 0, MIDDLE, 15.9, "sand")
    for n in range(4):
        for side in (1, -1):
            if (n, side) != (3, 1):
                limb(b, 45 + side * (32 + 42 * n), side,
                     (3, 0, 8, 3.2), (7.4, 0, 5, 2.6), (10.6, 5, 2.4, 2.0), (13.6, 14, 1.8, 1.5),
                     (14.6, 26, 1.8, 1.2), (13.2, 34, 2.4, 0.9))
    limb(b, 204, 1, (3, 0, 8, 3.2), (8, 0, 5, 2.6), (13.5, -4, 3, 2.0), (17, -13, 7.5, 1.7), (15.6, -16, 14, 1.5),
         (14.8, -10, 18.5, 1.3), (16.4, -13, 22, 1.1), (17.5, -21, 22.6, 0.9))
    b.ball(3.5, 25.5, 4.5, 1.8, "gold_block")
    b.ellipsoid(MIDDLE, 9, MIDDLE, 6.6, 6, 6.6, "purple_wool")
    b.ellipsoid(14.5, 20, 14.5, 9.9, 11.4, 9.9, "purple_wool")
    # A golden eye with a slit on each of the two sides that see the chest.
    for z in (22, 23, 24):
        b.wheel(15, 17, z, 3.3, "purple_wool" if z < 24 else "gold_block")
        for x in range(11, 20):
            for y in range(13, 22):
                if b.at(x, y, z):
                    b.put(z, y, x, b.at(x, y, z))
    b.box(13, 17, 24, 17, 17, 24, "black_wool")
    b.box(24, 17, 13, 24, 17, 17, "black_wool")
    # The chest.
    b.box(20, 1, 20, 26, 6, 26, "oak_planks")
    b.box(21, 7, 21, 25, 7, 25, "oak_planks")
    b.box(20, 4, 20, 26, 4, 26, "gold_block")
    for x, z in ((21, 20), (25, 20), (20, 21), (20, 25)):
        b.box(x, 1, z, 26 if z > 20 else x, 6, 26 if x > 20 else z, "gold_block")
    b.box(23, 3, 27, 23, 4, 27, "gold_block")
    b.box(27, 3, 23, 27, 4, 23, "gold_block")
    return b


def limb(b, degrees, side, *places):
    """An arm from (radius, turn against `degrees`, height, thickness); it turns to its `side`."""
    turns = [(degrees - side * turn) * pi / 180 for _, turn, _, _ in places]
    b.tube([(MIDDLE + r * cos(a), y, MIDDLE + r * sin(a)) for a, (r, _, y, _) in zip(turns, places)],
           [thick for _, _, _, thick in places], "purple_wool")


def moated_castle():
    """Rings in rings: grass, water, grass, wall; one tower that is as tall as all that is wide."""
    b = Build()
    b.cylinder(MIDDLE, MIDDLE, 0, 1, 15.9, "grass_block")
    b.disc(MIDDLE, 1, MIDDLE, 13.6, None)
    b.disc(MIDDLE, 0, MIDDLE, 13.6, "water")
    b.cylinder(MIDDLE, MIDDLE, 0, 1, 10.5, "grass_block")
    for y in range(1, 11):
        b.disc(MIDDLE, y, MIDDLE, 9.6, "white_wool", hole=7.5)
    # Twelve merlons, two round towers.
    for x in range(32):
        for z in range(32):
            r, a = hypot(x - MIDDLE, z - MIDDLE), atan2(z - MIDDLE, x - MIDDLE)
            if 8.5 < r <= 9.6 and (a * 12 / pi) % 2 < 1.1:
                b.box(x, 11, z, x, 12, z, "white_wool")
    drums(b, 12.5, 12.5, 2, "white_wool", (18, 4.6), (2, 5.6))
    b.cone(12.5, 12.5, 22, 31, 5.6, 0.8, "blue_wool")
    drums(b, 22.5, 18.5, 2, "white_wool", (13, 2.6), (1, 3.6))
    b.cone(22.5, 18.5, 16, 22, 3.6, 0.8, "blue_wool")
    # Gate and bridge.
    b.box(14, 2, 22, 17, 7, 26, None)
    b.box(15, 8, 22, 16, 8, 26, None)
    b.box(13, 1, 25, 18, 1, 30, "oak_planks")
    for x in (13, 18):
        for z in range(25, 31):
            b.box(x, 32 - z, z, x, 33 - z, z, "oak_planks")
    return b


def pirate_ship():
    """One mast, one sail as full as a lung; its flag is the sail itself."""
    b = Build()
    b.box(0, 0, 6, 31, 0, 25, "water")
    for x in range(32):
        for z in range(32):
            for y in range(0, 14):
                if in_hull(x, y, z):
                    edge = not all(in_hull(x + i, y, z + k) for i, k in ((1, 0), (-1, 0), (0, 1), (0, -1)))
                    if y <= 5 or edge or x < 7:
                        b.put(x, y, z, "black_wool" if edge and y in (3, 4) else "oak_planks")
    b.box(2, 9, 12, 2, 10, 19, "glowstone")
    # The mast, its sail, and the skull that shows on both faces.
    b.box(13, 5, 15, 14, 31, 16, "oak_planks")
    for z in range(4, 28):
        for y in range(11, 30):
            deep = round(6 * (1 - ((z - MIDDLE) / 12.5) ** 2) * sin(pi * (y - 8) / 24))
            mark = skull(z, y)
            for i in range(0 if y == 29 else max(0, deep - 1), deep + 1):
                b.put(15 + i, y, z, "black_wool" if mark else "white_wool")
    b.box(14, 30, 4, 15, 30, 27, "oak_planks")
    # Bowsprit and jib, and a small sail at the stern.
    for x in range(26, 32):
        b.box(x, x - 17, 15, x, x - 16, 16, "oak_planks")
    for y in range(16, 29):
        b.box(round(25 - (y - 16) * 0.25), y, 15, round(31 - (y - 16) * 0.75), y, 15, "white_wool")
    b.box(6, 9, 15, 6, 23, 15, "oak_planks")
    for y in range(13, 22):
        b.box(round((y - 13) * 0.6), y, 15, 5, y, 15, "white_wool")
    return b


def skull(z, y):
    """Whether the skull covers this place of the sail."""
    rows = ("..XXXXXXXX..", ".XXXXXXXXXX.", "XXXXXXXXXXXX", "XX...XX...XX", "XX...XX...XX", "XX...XX...XX",
            "XXXXX..XXXXX", ".XXXXXXXXXX.", "...XXXXXX...", "...X.XX.X...", "...X.XX.X...")
    return 15 <= y <= 25 and 10 <= z <= 21 and rows[25 - y][z - 10] == "X"


def in_hull(x, y, z):
    """A crescent seen from the side, a leaf seen from above, its stern cut off."""
    s = (x - 13.5) / 15.5
    if not -0.75 <= s < 1:
        return False
    rail = 7 + 4 * max(0, s) ** 3 + 7 * max(0, -s) ** 2
    keel = 7 * max(0, s - 0.35) ** 2
    wide = 7 * (1 - abs(s) ** 2.6) ** 0.8
    return keel <= y <= rail and abs(z - MIDDLE) <= wide * (0.66 + 0.34 * min(1, (y - keel) / 6))


def corner_cafe():
    """A white block with one round corner, a striped awning, and the cup it is all about."""
    b = Build()

    def out(x, z):
        """How far before the two fronts a place is."""
        return hypot(x - 12, z - 12) - 8 if x > 12 and z > 12 else max(x, z) - 20

    def around(x, z):
        """How far along the fronts, from the left end to the right end."""
        if z > 12 and x > 12:
            return 12 + atan2(x - 12, z - 12) * 10
        return x if z > x else 12 + 5 * pi + 12 - z

    for x in range(32):
        for z in range(32):
            far, along = out(x, z), around(x, z)
            if far <= 11.4:
                b.put(x, 0, z, "stone")
            if x < 2 or z < 2:
                continue
            if far <= 0.5:
                b.box(x, 1, z, x, 17, z, "white_wool")
                if far > -0.6 or 2 in (x, z):
                    b.box(x, 13, z, x, 15, z, "black_wool")
                    b.put(x, 18, z, "white_wool")
                if far > -0.6 and min(x, z) > 3:
                    b.box(x, 2, z, x, 8, z, "glowstone")
                    if min(x, z) % 4 == 0:
                        b.box(x, 2, z, x, 8, z, "white_wool")
            elif far <= 4.4:
                b.put(x, 10, z, "red_wool" if int(along) % 4 < 2 else "white_wool")
                if far > 3.4:
                    b.put(x, 9, z, b.at(x, 10, z))
    # Two back doors, and a light in the windows beside them.
    b.box(9, 1, 2, 10, 5, 2, "red_wool")
    b.box(2, 1, 9, 2, 5, 10, "red_wool")
    for along in (4, 13):
        b.box(along, 4, 2, along + 3, 8, 2, "glowstone")
        b.box(2, 4, along, 2, 8, along + 3, "glowstone")
    # The cup on its saucer, a heart in the milk.
    b.cylinder(11.5, 11.5, 18, 18, 7.6, "white_wool")
    drums(b, 11.5, 11.5, 19, "red_wool", (1, 3.6), (1, 4.6), (2, 5.6), (5, 6.6))
    b.disc(11.5, 27, 11.5, 5.6, "black_wool")
    # Its handle points along the front, so that it shows from both streets.
    b.solid(lambda x, y, z: abs(x + z - 23) <= 1 and x - z > 9
            and 1.6 < hypot((x - z) / 2 ** 0.5 - 7.2, y - 23.5) <= 3.7, "red_wool")
    for low, high, a, c in ((10, 14, 10, 14), (10, 14, 9, 9), (11, 13, 8, 8)):
        b.box(low, 27, a, high, 27, c, "white_wool")
        b.box(a, 27, low, c, 27, high, "white_wool")
    # Tables and stools.
    for x, z in ((28, 5), (28, 14), (5, 28), (14, 28)):
        b.box(x, 1, z, x, 2, z, "black_wool")
        b.box(x - 1, 3, z - 1, x + 1, 3, z + 1, "white_wool")
        for i, k in ((0, 3), (0, -3)) if x > z else ((3, 0), (-3, 0)):
            b.box(x + i, 1, z + k, x + i, 2, z + k, "red_wool")
    return b


def volcano_village():
    """One cone and one plume of smoke; seven white houses stay where they are."""
    b = Build()
    b.box(0, 0, 0, 31, 0, 31, "water")
    b.cylinder(14.5, 14.5, 0, 1, 13.6, "stone")
    for y in range(2, 20):
        b.disc(14.5, y, 14.5, 2.9 + 7.5 * (1 - (y - 2) / 18) ** 1.5, "stone")
    # The fire: a basin, two streams that reach the sea, one that has stopped, and the smoke on the wind.
    b.disc(14.5, 19, 14.5, 1.9, "orange_wool")
    for degrees, end in ((45, 14.4), (230, 14.4), (300, 7)):
        for i in range(200):
            r = 2 + (end - 2) * i / 199
            a = degrees * pi / 180 + 0.4 * sin((r - 2) / 2)
            x, z = 14.5 + r * cos(a), 14.5 + r * sin(a)
            for side in (-0.8, 0, 0.8):
                p, q = round(x - side * sin(a)), round(z + side * cos(a))
                b.put(p, b.surface(p, q), q, "orange_wool")
    for x, y, z, r in ((14.5, 20.5, 14.5, 1.6), (14.5, 23.5, 14.5, 2.4), (12.5, 26.5, 13.5, 4), (8.5, 28.3, 10.5, 6.2)):
        b.ellipsoid(x, y, z, r, min(r, 1.4 + r * 0.4), r, "white_wool")
    # Houses on the shore.
    for x, z in ((25, 8), (26, 14), (25, 19), (19, 25), (14, 26), (8, 25), (3, 9)):
        b.box(x - 1, 2, z - 1, x + 1, 3, z + 1, "white_wool")
        b.box(x - 1, 4, z - 1, x + 1, 4, z + 1, "red_wool")
        b.box(x, 5, z - 1, x, 5, z + 1, "red_wool")
    # Boats that have left, and a jetty.
    for x, z in ((28, 28), (22, 30), (30, 3)):
        b.box(x - 1, 1, z, x + 1, 1, z, "red_wool")
        b.box(x, 2, z, x, 4, z, "white_wool")
        b.put(x - 1, 2, z, "white_wool")
    b.box(11, 1, 27, 11, 1, 30, "stone")
    return b


SCENES = {
    "stone-bridge": stone_bridge,
    "fire-engine": fire_engine,
    "treehouse": treehouse,
    "octopus": octopus,
    "moated-castle": moated_castle,
    "pirate-ship": pirate_ship,
    "corner-cafe": corner_cafe,
    "volcano-village": volcano_village,
}
