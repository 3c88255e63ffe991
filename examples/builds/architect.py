"""The reference builds of reference_architect: symmetry, structure, honest materials.

    python3 architect.py FOLDER

writes FOLDER/<prompt>/reference_architect.json for every prompt.
"""

import sys
from math import hypot
from pathlib import Path

from voxels import Build, grain, mix

MASONRY = mix(("stone", 3), ("cobblestone", 2))
ROCK = mix(("stone", 5), ("cobblestone", 3))


def steam_locomotive():
    """A tank engine on its track, facing high x; its middle is z = 15."""
    b = Build()
    track(b)

    # Frames between the wheels, and the running board above them.
    b.box(1, 5, 13, 28, 9, 17, "black_wool")
    b.box(1, 9, 12, 28, 9, 12, "black_wool")
    b.box(1, 10, 10, 28, 10, 20, "black_wool")
    for x in (8, 16):
        driver(b, x)
    for x in (2, 23, 28):
        small_wheel(b, x)

    # Cylinder, piston rod, connecting rod and coupling rod.
    b.box(23, 7, 9, 27, 9, 10, "green_wool")
    b.box(23, 7, 9, 23, 9, 10, "gold_block")
    b.box(27, 7, 9, 27, 9, 10, "gold_block")
    b.box(16, 8, 10, 22, 8, 10, "iron_block")
    b.box(7, 5, 10, 17, 5, 10, "iron_block")
    b.put(16, 6, 10, "iron_block")
    b.put(16, 7, 10, "iron_block")

    # Boiler in bands, smokebox with a studded door.
    b.barrel(10, 22, 14, 15, 4.3, "green_wool")
    for x in (11, 16, 21):
        b.barrel(x, x, 14, 15, 4.3, "gold_block")
    b.barrel(23, 28, 14, 15, 4.3, "black_wool")
    b.barrel(23, 23, 14, 15, 4.5, "iron_block")
    b.barrel(28, 28, 14, 15, 4.3, "iron_block", hole=3.3)
    b.barrel(29, 29, 14, 15, 2.3, "black_wool")
    b.put(30, 14, 15, "gold_block")
    b.box(24, 10, 12, 28, 10, 18, "black_wool")

    # Chimney, sand dome, steam dome, bell, whistle.
    b.cylinder(26, 15, 18, 22, 1.5, "black_wool")
    b.cylinder(26, 15, 18, 18, 2.3, "black_wool")
    b.cone(26, 15, 22, 24, 1.5, 2.3, "black_wool")
    b.disc(26, 24, 15, 2.3, "gold_block", hole=1.5)
    b.put(26, 24, 15, None)
    b.cylinder(21, 15, 18, 19, 1.5, "green_wool")
    b.cylinder(21, 15, 20, 20, 1, "gold_block")
    b.cylinder(16.5, 15, 18, 20, 1.6, "gold_block")
    b.box(16, 21, 15, 17, 21, 15, "gold_block")
    b.box(13, 18, 15, 13, 20, 15, "iron_block")
    b.put(13, 20, 15, "gold_block")

    # Headlamp on a bracket, buffer beam, buffers, cowcatcher.
    b.box(28, 18, 14, 28, 20, 16, "black_wool")
    b.put(29, 19, 15, "glowstone")
    b.put(28, 21, 15, "gold_block")
    b.put(28, 19, 14, "gold_block")
    b.box(29, 8, 10, 29, 9, 20, "red_wool")
    b.box(30, 8, 11, 30, 9, 12, "iron_block")
    b.put(31, 8, 11, "black_wool")
    for step, y in enumerate((3, 4, 5, 6, 7)):
        for z in range(10 + step // 2, 16):
            reach = 31 - abs(z - 15) // 3 - step // 2
            b.box(29, y, z, reach, y, z, "red_wool" if (z + 1) % 2 else "iron_block")

    # Cab: panelled sides, windows front, side and back, an arched roof that overhangs.
    b.walls(3, 11, 10, 9, 19, 20, "green_wool")
    b.box(3, 11, 11, 3, 15, 19, None)
    b.box(3, 11, 11, 8, 11, 19, "oak_planks")
    b.box(4, 14, 10, 8, 14, 10, "gold_block")
    b.box(5, 15, 10, 7, 18, 10, "glass")
    b.box(4, 15, 10, 4, 18, 10, "oak_log")
    b.box(8, 15, 10, 8, 18, 10, "oak_log")
    b.box(6, 12, 10, 6, 12, 10, "gold_block")
    b.box(9, 17, 11, 9, 18, 12, "glass")
    b.box(3, 17, 12, 3, 18, 14, "glass")
    b.box(9, 11, 12, 9, 16, 18, "black_wool")
    b.box(8, 12, 14, 8, 13, 16, "orange_wool")  # the fire door
    b.put(8, 13, 15, "glowstone")
    b.box(2, 20, 9, 10, 20, 21, "black_wool")
    b.box(2, 21, 11, 10, 21, 19, "black_wool")
    b.box(3, 22, 13, 9, 22, 17, "black_wool")
    b.box(2, 20, 9, 10, 20, 9, "red_wool")
    b.box(5, 23, 14, 7, 23, 16, "green_wool")
    b.put(6, 19, 15, "glowstone")

    # Coal bunker, low enough to look over.
    b.box(0, 10, 10, 0, 10, 20, "red_wool")
    b.box(0, 11, 11, 2, 14, 19, "green_wool")
    b.box(0, 14, 11, 2, 14, 11, "gold_block")
    b.box(0, 15, 12, 2, 15, 18, "black_wool")
    b.box(1, 16, 13, 2, 16, 17, "black_wool")
    b.box(0, 12, 11, 0, 12, 13, "gold_block")
    b.put(0, 12, 15, "red_wool")

    # A toolbox on the running board.
    b.box(18, 11, 10, 20, 11, 10, "oak_planks")
    b.mirror_z(15)

    # A short exhaust beat, drifting back.
    for x, y, z, r in ((26, 25.5, 15, 1.3), (25.5, 27.5, 15.3, 1.8), (23, 29, 15.6, 2.3),
                       (19.5, 29.3, 15, 2.0), (16.5, 30, 15.4, 1.3)):
        b.ball(x, y, z, r, "white_wool")
    trackside(b)
    return b


def track(b):
    b.box(0, 0, 4, 31, 0, 26, "grass_block")
    b.box(0, 0, 7, 31, 0, 23, mix(("cobblestone", 3), ("stone", 2)))
    b.box(0, 1, 8, 31, 1, 22, mix(("cobblestone", 3), ("stone", 2)))
    for x in range(1, 32, 3):
        b.box(x, 1, 8, x, 1, 22, "oak_log")
    for z in (11, 19):
        b.box(0, 2, z, 31, 2, z, "iron_block")


def driver(b, x):
    """A driving wheel of seven with spokes, standing out from the frames."""
    b.wheel(x, 6, 12, 3.3, "black_wool")
    b.wheel(x, 6, 11, 3.3, "black_wool", hole=2.4)
    b.wheel(x, 6, 11, 2.4, "red_wool")
    for across, up in ((-1, 2), (1, 2), (-1, -2), (1, -2), (-2, 1), (-2, -1), (2, 1), (2, -1)):
        b.put(x + across, 6 + up, 11, None)
    b.put(x, 6, 11, "gold_block")


def small_wheel(b, x):
    b.wheel(x, 5, 12, 2.3, "black_wool")
    b.wheel(x, 5, 11, 2.3, "black_wool", hole=1.5)
    b.wheel(x, 5, 11, 1.5, "red_wool")
    b.put(x, 5, 11, "gold_block")


def trackside(b):
    """A signal, a lamp, a stack of sleepers, a fence."""
    b.box(29, 1, 5, 29, 12, 5, "oak_log")
    b.box(29, 0, 5, 29, 0, 5, "cobblestone")
    b.box(29, 13, 5, 29, 13, 5, "iron_block")
    b.box(25, 12, 5, 28, 12, 5, "red_wool")
    b.put(26, 12, 5, "white_wool")
    b.put(30, 11, 5, "glowstone")
    for x in (2, 15):
        b.box(x, 1, 25, x, 4, 25, "oak_log")
        b.put(x, 5, 25, "glowstone")
        b.put(x, 6, 25, "iron_block")
    b.box(20, 1, 25, 25, 1, 26, "oak_log")
    b.box(21, 2, 25, 24, 2, 26, "oak_log")
    for x in range(0, 24, 4):
        b.box(x, 1, 4, x, 2, 4, "oak_log")
    b.box(0, 2, 4, 23, 2, 4, "oak_planks")
    for x in range(0, 24, 4):
        b.put(x, 2, 4, "oak_log")
    for x, kind in ((5, "red_wool"), (8, "yellow_wool"), (10, "red_wool"), (12, "white_wool")):
        b.put(x, 1, 26, "oak_leaves")
        b.put(x + 1, 1, 26, kind)


def lighthouse():
    """A round tower on a rock in a square sea, the keeper's house before it."""
    b = Build()
    b.box(0, 0, 0, 31, 0, 31, "sand")
    b.box(0, 1, 0, 31, 1, 31, "water")
    cx, cz = 15.5, 12.5

    def height(x, z):
        far = hypot((x - 15.5) * 0.98, z - 14.5)
        ledges = grain(x // 3, 7, z // 3) * 2.4 + grain(x, 3, z) * 1.2
        return 7 if far < 9 else min(7, 7 + (11.6 - far) * 1.6 - ledges)

    for x in range(32):
        for z in range(32):
            top = int(height(x, z))
            if top >= 1 and 0 < x < 31 and 0 < z < 31:
                b.box(x, 0, z, x, top, z, ROCK)
            if top == 7 and grain(x // 2, 1, z // 2) > 0.15:
                b.put(x, 7, z, "grass_block")
                b.put(x, 6, z, "dirt")
    for x, z, r in ((3, 6, 2.2), (28, 20, 1.8), (26, 3, 2.4), (2, 25, 1.4)):
        b.ellipsoid(x, 1, z, r, r, r, ROCK)

    # Tower: a plinth, bands of red and white, a cornice on corbels.
    b.cylinder(cx, cz, 6, 8, 5.2, MASONRY)
    b.cylinder(cx, cz, 9, 9, 4.7, "stone")
    for y in range(10, 24):
        r = 4.3 - (y - 10) * 0.07
        b.disc(cx, y, cz, r, "red_wool" if (y - 10) // 3 % 2 else "white_wool")
    b.disc(cx, 23, cz, 3.8, "stone")
    for across in (13, 18):
        for out in (-4.5, 4.5):
            b.put(across, 23, int(cz + out), "oak_log")
            b.put(int(cx + out), 23, across - 3, "oak_log")
    b.disc(cx, 24, cz, 5.2, "stone")
    b.disc(cx, 25, cz, 5.2, "iron_block", hole=4.4)

    # Lantern: mullions, glass, the light, a roof with a finial.
    b.disc(cx, 25, cz, 3.2, "stone")
    for y in (26, 27, 28):
        b.disc(cx, y, cz, 3.2, "glass", hole=2.2)
        b.disc(cx, y, cz, 1.6, "glowstone")
        for i, k in ((-2.5, -1.5), (-1.5, -2.5)):
            for x in (cx + i, cx - i):
                for z in (cz + k, cz - k):
                    b.put(int(x), y, int(z), "black_wool")
    b.disc(cx, 29, cz, 4.3, "red_wool")
    b.disc(cx, 30, cz, 2.6, "red_wool")
    b.disc(cx, 31, cz, 0.8, "gold_block")

    # Windows that climb around the tower, each with a sill and a hood.
    for y, side in ((11, 1), (11, 3), (14, 2), (17, 1), (17, 3), (17, 0), (20, 2), (21, 0)):
        window(b, cx, cz, y, side)
    keepers_house(b)
    garden_wall(b)
    landing(b)
    return b


def window(b, cx, cz, y, side):
    """Two panes on one of the tower's four sides."""
    for across in (-0.5, 0.5):
        for level, kind in ((y - 1, "stone"), (y, "glass"), (y + 1, "glass"), (y + 2, "stone")):
            for out in (4.5, 3.5):
                i, k = ((across, out), (out, across), (across, -out), (-out, across))[side]
                x, z = int(cx + i), int(cz + k)
                if b.at(x, level, z):
                    b.put(x, level, z, kind)
                    break


def keepers_house(b):
    """Joined to the tower's front; white walls between posts, a brick roof."""
    b.box(10, 7, 16, 21, 7, 23, MASONRY)
    b.walls(11, 8, 16, 20, 11, 22, "white_wool")
    b.walls(11, 8, 16, 20, 8, 22, "cobblestone")
    for x in (11, 20):
        for z in (16, 19, 22):
            b.box(x, 8, z, x, 11, z, "oak_log")
        b.box(x, 9, 20, x, 10, 21, "glass")
        b.box(x, 9, 17, x, 10, 18, "glass")
    # Roof, its ridge along z, and the gable with a round window.
    b.gable(10, 21, 12, 16, 23, "bricks", (22,), "white_wool")
    b.box(11, 12, 22, 20, 12, 22, "oak_log")
    b.box(10, 12, 16, 10, 12, 23, "oak_log")
    b.box(21, 12, 16, 21, 12, 23, "oak_log")
    b.box(15, 17, 24, 16, 17, 24, "oak_log")
    b.box(15, 14, 22, 16, 15, 22, "glass")
    # Door, windows with shutters, flower boxes, lamps.
    b.box(14, 8, 22, 17, 11, 22, "oak_log")
    b.box(15, 8, 22, 16, 10, 22, "oak_planks")
    b.put(16, 9, 22, "gold_block")
    for x in (12, 19):
        b.box(x, 9, 22, x, 10, 22, "glass")
        b.put(x, 8, 23, "oak_leaves")
    b.box(13, 9, 22, 13, 10, 22, "blue_wool")
    b.box(18, 9, 22, 18, 10, 22, "blue_wool")
    b.put(13, 11, 23, "glowstone")
    b.put(18, 11, 23, "glowstone")
    b.box(15, 8, 18, 16, 9, 18, "glowstone")
    # Chimney.
    b.box(19, 13, 18, 19, 17, 18, "cobblestone")
    b.put(19, 18, 18, "black_wool")


def garden_wall(b):
    """A low wall along the cliff, lamps on its piers, vegetables and flowers behind."""
    for x in range(32):
        for z in range(32):
            far = hypot(x - 15.5, z - 14.5)
            if 8.4 < far < 9.2 and z < 17 and b.at(x, 7, z):
                b.put(x, 8, z, "cobblestone")
    for x, z in ((7, 15), (24, 15), (9, 8), (22, 8)):
        b.box(x, 8, z, x, 9, z, "stone")
        b.put(x, 10, z, "glowstone")
    for x, z, kind in ((9, 12, "red_wool"), (22, 12, "yellow_wool"), (9, 13, "yellow_wool"),
                       (22, 13, "red_wool"), (9, 14, "oak_leaves"), (22, 14, "oak_leaves")):
        b.put(x, 8, z, kind)


def landing(b):
    """Steps from the door down to a jetty, a boat, two lamps."""
    for step in range(6):
        y, z = 7 - step, 23 + step
        b.box(13, y + 1, z + 1, 18, 7, 31, None)
        b.box(13, 0, z, 18, y, z, ROCK)
        b.box(15, y, z, 16, y, z, "oak_planks")
        for x in (14, 17):
            b.put(x, y + 1, z, "cobblestone")
    b.box(13, 8, 23, 18, 8, 23, None)
    b.box(13, 1, 29, 18, 1, 31, "water")
    b.box(13, 2, 29, 18, 2, 31, None)
    b.box(12, 2, 29, 19, 2, 30, "oak_planks")
    for x in (12, 19):
        b.box(x, 0, 30, x, 3, 30, "oak_log")
        b.put(x, 4, 30, "glowstone")
    # The boat, moored beside the jetty.
    b.box(22, 1, 28, 27, 1, 29, "oak_planks")
    b.box(22, 2, 27, 26, 2, 30, "oak_planks")
    b.box(21, 2, 28, 28, 2, 29, "oak_planks")
    b.box(22, 2, 28, 26, 2, 29, None)
    b.box(24, 2, 28, 24, 2, 29, "oak_log")
    b.put(20, 2, 29, "oak_log")


def treehouse():
    """A gabled house on a braced deck before the trunk; left and right are alike."""
    b = Build()
    b.box(0, 0, 0, 31, 0, 31, "dirt")
    b.box(0, 1, 0, 31, 1, 31, "grass_block")

    # Trunk with buttress roots, and boughs that carry the crown.
    b.cone(15.5, 11.5, 2, 6, 4.4, 3.1, "oak_log")
    b.cylinder(15.5, 11.5, 7, 25, 2.6, "oak_log")
    for x, z in ((9, 9), (10, 15), (12, 5), (8, 12), (14, 18)):
        b.tube([(14, 5, 11), ((x + 14) / 2, 3.5, (z + 11) / 2), (x, 1.6, z)],
               [1.5, 1.3, 0.9], "oak_log")
    for tip in ((4, 23, 12), (7, 24, 5), (9, 26, 17), (14, 22, 3), (5, 19, 7)):
        b.tube([(15, 17, 11.5), ((tip[0] + 15) / 2, 19.5, (tip[2] + 11.5) / 2), tip],
               [1.7, 1.4, 1.0], "oak_log")
    crown(b)
    deck(b)
    cabin(b)
    # Lanterns under the leaves.
    for x, z in ((4, 15), (7, 18), (11, 19), (3, 9), (8, 3)):
        low = min((y for y in range(18, 32) if b.at(x, y, z) == "oak_leaves"), default=0)
        b.put(x, low - 1, z, "glowstone")
    b.mirror_x()
    entrance(b)
    garden(b)
    return b


def crown(b):
    """Heaps of leaves, flat below, lobed above, open to the front."""
    def leaves(x, y, z):
        return b.at(x, y, z) or "oak_leaves"

    for x, y, z, r, h in ((15.5, 27, 12, 8, 5), (5.5, 24, 12, 5.4, 4.4), (8, 25, 5, 5.5, 4.2),
                          (15, 24, 3.5, 4.5, 4), (9.5, 27.5, 16.5, 5.5, 3.6), (3.5, 21.5, 14, 3, 2.6),
                          (4, 19.5, 7, 4, 3.4), (11.5, 29.5, 10, 4, 2.6)):
        b.solid(lambda i, j, k: ((i - x) / r) ** 2 + ((j - y) / h) ** 2 + ((k - z) / r) ** 2
                + grain(i, j, k) * 0.3 <= 1.1 and j >= y - h * 0.55, leaves)


def deck(b):
    """Planks on log beams at y 10, with braces, posts and a railing."""
    b.box(6, 10, 7, 15, 10, 26, "oak_planks")
    b.box(6, 10, 7, 6, 10, 26, "oak_log")
    b.box(6, 10, 7, 15, 10, 7, "oak_log")
    b.box(6, 10, 26, 15, 10, 26, "oak_log")
    b.cylinder(15.5, 11.5, 10, 10, 2.6, "oak_log")
    for z in (9, 14, 20, 24):
        b.box(6, 9, z, 15, 9, z, "oak_log")
    for z in (9, 14):
        b.line((12, 4, z), (7, 9, z), "oak_log")
    b.line((14, 4, 14), (14, 9, 19), "oak_log")
    for z in (20, 24):
        b.box(8, 2, z, 8, 9, z, "oak_log")
    b.line((8, 6, 21), (8, 8, 23), "oak_log")
    b.box(6, 11, 7, 6, 11, 26, "oak_planks")
    b.box(6, 11, 7, 15, 11, 7, "oak_planks")
    b.box(6, 11, 26, 15, 11, 26, "oak_planks")
    for z in (7, 10, 13, 16, 19, 22):
        b.put(6, 11, z, "oak_log")
    for x in (9, 12):
        b.put(x, 11, 7, "oak_log")
        b.put(x, 11, 26, "oak_log")
    for z in (7, 26):
        b.box(6, 9, z, 6, 12, z, "oak_log")
        b.put(6, 13, z, "glowstone")
    b.put(6, 8, 26, "glowstone")


def cabin(b):
    b.walls(10, 11, 15, 21, 14, 22, "oak_planks")
    b.box(10, 11, 15, 10, 11, 22, "cobblestone")
    b.box(10, 11, 22, 15, 11, 22, "cobblestone")
    for z in (15, 19, 22):
        b.box(10, 11, z, 10, 14, z, "oak_log")
    b.box(10, 12, 16, 10, 13, 18, "white_wool")
    b.box(10, 12, 17, 10, 13, 17, "glass")
    b.box(10, 12, 20, 10, 13, 21, "glass")
    b.box(9, 11, 20, 9, 11, 21, "oak_leaves")
    b.box(11, 12, 22, 12, 13, 22, "glass")
    b.box(13, 11, 22, 13, 14, 22, "oak_log")
    b.box(11, 11, 23, 12, 11, 23, "oak_leaves")
    # A steep brick roof, edged with logs at the eaves and down the front gable.
    b.gable(9, 22, 14, 15, 23, "bricks", (15, 22), "oak_planks")
    for z in (14, 24):
        b.gable(9, 22, 14, z, z, "oak_log")
    b.box(9, 14, 14, 9, 14, 24, "oak_log")
    b.box(11, 15, 22, 15, 15, 22, "oak_log")
    b.box(15, 16, 22, 15, 17, 22, "glass")
    b.box(14, 16, 22, 14, 17, 22, "white_wool")
    b.box(15, 18, 22, 15, 18, 22, "white_wool")
    b.box(15, 15, 18, 15, 19, 18, "oak_log")
    b.put(15, 14, 18, "glowstone")
    b.put(11, 12, 17, "glowstone")
    b.put(11, 11, 17, "oak_log")
    b.put(15, 19, 25, "oak_log")
    b.put(15, 20, 25, "oak_log")


def entrance(b):
    """The door, and a stair that climbs across the front to the deck."""
    b.box(14, 11, 22, 17, 14, 22, "oak_log")
    b.box(15, 11, 22, 16, 13, 22, None)
    b.put(14, 13, 23, "glowstone")
    b.put(17, 13, 23, "glowstone")
    b.box(14, 11, 26, 17, 11, 26, None)
    b.box(13, 10, 27, 18, 10, 29, "oak_planks")
    b.walls(13, 10, 27, 18, 10, 29, "oak_log")
    b.box(13, 11, 27, 13, 11, 29, "oak_planks")
    b.box(13, 11, 29, 18, 11, 29, "oak_planks")
    for x in (13, 18):
        b.box(x, 2, 29, x, 9, 29, "oak_log")
        b.box(x, 11, 29, x, 12, 29, "oak_log")
    for step in range(8):
        x, y = 19 + step, 9 - step
        b.box(x, y, 27, x, y, 28, "oak_planks")
        b.box(x, max(y - 1, 2), 27, x, max(y - 1, 2), 28, "oak_log")
        b.put(x, y + 1, 29, "oak_planks")
        b.put(x, y, 29, "oak_log")
    b.box(23, 2, 28, 23, 4, 28, "oak_log")
    b.box(18, 13, 29, 18, 13, 29, "glowstone")
    b.box(26, 2, 29, 26, 3, 29, "oak_log")
    b.put(26, 4, 29, "glowstone")


def garden(b):
    """A path, a pond with a stone edge, beds of flowers, a fence with gaps."""
    for x in range(27, 32):
        b.box(x, 1, 26, x, 1, 29, MASONRY)
    b.box(28, 1, 14, 30, 1, 26, MASONRY)
    b.box(2, 1, 18, 8, 1, 27, "stone")
    b.box(1, 1, 20, 9, 1, 25, "stone")
    b.box(3, 1, 19, 7, 1, 26, "water")
    b.box(2, 1, 21, 8, 1, 24, "water")
    b.put(4, 2, 21, "oak_leaves")
    b.put(6, 2, 24, "oak_leaves")
    for n in range(0, 32, 4):
        for x, z in ((n, 0), (0, n)):
            b.box(x, 2, z, x, 3, z, "oak_log")
    b.box(0, 2, 0, 28, 2, 0, "oak_log")
    b.box(0, 2, 0, 0, 2, 28, "oak_log")
    for i, x in enumerate(range(20, 27)):
        b.put(x, 2, 3, ("red_wool", "oak_leaves", "yellow_wool", "oak_leaves")[i % 4])
        b.put(x, 2, 4, ("oak_leaves", "white_wool", "oak_leaves", "purple_wool")[i % 4])
    for i, z in enumerate(range(15, 24)):
        b.put(26, 2, z, ("oak_leaves", "red_wool", "oak_leaves", "orange_wool")[i % 4])
    # A bench under the deck, a wood pile at the back, a lamp by the path.
    b.box(12, 2, 24, 12, 2, 24, "oak_log")
    b.box(4, 2, 4, 4, 3, 8, "oak_log")
    b.box(5, 2, 4, 5, 2, 8, "oak_log")
    b.box(31, 2, 13, 31, 4, 13, "oak_log")
    b.put(31, 5, 13, "glowstone")


def sleeping_dragon():
    """Asleep before a ruined temple, its head on its paws; left and right are alike."""
    b = Build()
    m = 15.5
    # Body, haunches, forelegs, neck and head: one half, then its mirror image.
    b.ellipsoid(m, 8, 12.5, 6.2, 5.6, 7.6, "green_wool")
    b.ellipsoid(m, 8.8, 16, 5.4, 4.8, 4, "green_wool")
    b.ellipsoid(8.6, 6.5, 9.5, 3.2, 4, 4.4, "green_wool")
    b.tube([(8, 4.6, 10), (6.6, 4, 15)], [2.2, 1.5], "green_wool")
    b.tube([(10, 9, 19), (7.6, 6, 20.5), (8.4, 4.2, 26)], [2.8, 2.3, 1.6], "green_wool")
    for x in (7, 8, 9):
        b.box(x, 3, 27, x, 3, 28, "white_wool")
        b.put(x - 2, 3, 17, "white_wool")
    b.tube([(m, 10.5, 17), (m, 8.5, 21), (m, 7, 25)], [4.2, 2.9, 2.4], "green_wool")
    head(b)
    wing(b)
    b.mirror_x()
    # Plates down the throat and chest, spines down the middle of the back.
    b.repaint(lambda x, y, z, kind: kind == "green_wool" and 13 <= x <= 18 and y <= 8 and 17 <= z <= 23,
              "yellow_wool")
    b.repaint(lambda x, y, z, kind: kind == "green_wool" and y <= 5 and 11 <= x <= 20, "yellow_wool")
    tail(b)
    for z in range(6, 24, 3):
        top = max((y for y in range(32) if b.at(15, y, z) == "green_wool"), default=0)
        high = 3 if z < 19 else 2
        b.box(15, top - 1, z, 16, top + high - 1, z, "yellow_wool")
        b.box(15, top + 1, z - 1, 16, top + high, z - 1, "yellow_wool")
    temple(b)
    hoard(b)
    return b


def head(b):
    """On the paws, eyes shut; the low half only."""
    b.ellipsoid(15.5, 6.8, 25, 4.2, 3.2, 3.2, "green_wool")
    b.box(12, 5, 26, 15, 7, 29, "green_wool")
    b.box(13, 5, 30, 15, 6, 31, "green_wool")
    b.box(13, 7, 30, 13, 7, 31, "green_wool")  # the nostril
    b.put(13, 6, 31, "black_wool")
    b.box(12, 3, 26, 15, 4, 30, "yellow_wool")
    b.box(12, 4, 27, 12, 4, 27, "white_wool")
    b.box(12, 4, 29, 12, 4, 29, "white_wool")
    b.put(14, 4, 31, "white_wool")
    b.box(11, 7, 26, 11, 7, 28, "black_wool")  # the closed eye
    b.box(11, 8, 25, 11, 8, 28, "orange_wool")  # the brow
    b.box(12, 8, 27, 12, 8, 29, "orange_wool")
    b.tube([(12.5, 9.5, 24.5), (11.5, 11.5, 23), (10.5, 14, 22.5)], [1.1, 0.9, 0.5], "white_wool")
    b.box(10, 14, 22, 10, 15, 22, "white_wool")
    b.line((11, 7, 24), (9, 8, 22), "white_wool")


def wing(b):
    """Folded along the flank: a wrist above the shoulder, fingers raked back; the low half."""
    wrist = (7, 17, 18)
    tips = ((6, 7, 17), (4, 5, 12), (4, 4, 6), (8, 7, 4), (11, 12, 5))
    for first, second in zip(tips, tips[1:]):
        for i in range(61):
            t = i / 60
            reach = 1 - 0.14 * (1 - abs(2 * t - 1) ** 2)
            tip = tuple(w + (p + (q - p) * t - w) * reach for w, p, q in zip(wrist, first, second))
            for j in range(61):
                b.put(*(round(w + (p - w) * j / 60) for w, p in zip(wrist, tip)), "orange_wool")
    # The fingers show as a frame at the front and as claws along the hem.
    b.line((wrist[0] - 1, *wrist[1:]), (5, 7, 17), "green_wool")
    for x, y, z in tips[1:4]:
        b.put(x, y, z, "white_wool")
    b.tube([(11, 12, 17), (8, 15, 19), wrist], [1.8, 1.5, 1.2], "green_wool")
    b.box(7, 18, 18, 7, 19, 18, "white_wool")


def tail(b):
    """Around the right side to the front, with a spade at its end."""
    path = [(15.5, 6, 7), (20, 5, 5), (25.5, 4.4, 6.5), (28, 4, 12), (28, 4, 19), (25.5, 4, 24.5)]
    b.tube(path, [3, 2.4, 2, 1.7, 1.5, 1], "green_wool")
    for z, x1, x2 in ((24, 24, 27), (25, 23, 27), (26, 23, 26), (27, 23, 25), (28, 23, 24)):
        b.box(x1, 3, z, x2, 3, z, "orange_wool")
        b.box(x1 + 1, 4, z, x2 - 1, 4, z, "orange_wool")
    for x, y, z in ((29, 6, 19), (29, 6, 16), (29, 6, 13), (28, 6, 10), (26, 7, 7)):
        b.put(x, y, z, "orange_wool")


def temple(b):
    """Steps, a paved floor, a front of four columns with a pediment, two broken ones."""
    floor = mix(("stone", 4), ("cobblestone", 1))
    for y, edge in ((0, 0), (1, 1), (2, 2)):
        b.box(edge, y, 0, 31 - edge, y, 31 - edge, floor if y < 2 else "stone")
    b.repaint(lambda x, y, z, kind: y == 2 and (x // 2 + z // 2) % 2 == 0 and kind == "stone"
              and 3 < x < 28 and 4 < z < 29, "cobblestone")
    for x in (2, 10, 20, 28):
        b.box(x - 1, 2, 0, x + 2, 3, 3, "stone")
        b.box(x, 4, 1, x + 1, 18, 2, "white_wool")
        b.walls(x, 4, 1, x + 1, 4, 2, "stone")
        b.box(x - 1, 18, 0, x + 2, 18, 3, "stone")
        b.put(x + (x > 15), 17, 3, "glowstone")
    b.box(1, 19, 1, 30, 19, 2, "stone")
    b.box(1, 20, 1, 30, 20, 2, "white_wool")
    for x in range(2, 31, 3):
        b.box(x, 20, 1, x, 20, 2, "gold_block")
    b.mirror(lambda x, y, z: (31 - x, y, z), lambda x, y, z: x < 16 and y == 20)
    b.box(0, 21, 0, 31, 21, 3, "stone")
    for step in range(6):
        b.box(1 + 2 * step, 22 + step, 0, 2 + 2 * step, 22 + step, 3, "bricks")
        b.box(29 - 2 * step, 22 + step, 0, 30 - 2 * step, 22 + step, 3, "bricks")
        b.box(3 + 2 * step, 22 + step, 1, 28 - 2 * step, 22 + step, 2, MASONRY)
    b.box(13, 28, 0, 18, 28, 3, "bricks")
    b.box(15, 29, 1, 16, 30, 2, "gold_block")
    b.box(14, 23, 1, 17, 25, 2, "gold_block")
    b.box(15, 24, 1, 16, 24, 2, "glowstone")
    # Two columns before the steps, broken off, now holding fires.
    for x, top in ((1, 9), (29, 7)):
        b.box(x, 2, 28, x + 1, 3, 29, "stone")
        b.box(x - (x == 1), 1, 27, x + 1 + (x == 29), 2, 30, "stone")
        b.box(x, 4, 28, x + 1, top, 29, "white_wool")
        b.box(x, top, 28, x + 1, top, 29, "stone")
        b.put(x, top + 1, 28, "glowstone")
        b.put(x + 1, top + 1, 29, "cobblestone")


def hoard(b):
    """Coins in drifts, a chest, a few gems."""
    for x, z, r, h in ((4, 24, 3.2, 2.6), (26, 28, 2.6, 1.6), (3, 18, 2, 1.2), (24, 10, 2, 1.6), (4, 11, 2, 1.4)):
        b.solid(lambda i, j, k: hypot(i - x, k - z) <= r - (j - 3) * r / (h + 0.6)
                and b.at(i, j, k) is None, "gold_block",
                (int(x - r), 3, int(z - r), int(x + r) + 1, 6, int(z + r) + 1))
    b.box(20, 3, 29, 21, 3, 29, "oak_planks")
    b.box(20, 4, 29, 21, 4, 29, "oak_log")
    b.put(23, 3, 29, "gold_block")
    for x, z, kind in ((4, 27, "red_wool"), (25, 29, "blue_wool"), (5, 20, "purple_wool")):
        b.put(x, max(3, b.surface(x, z) + 1), z, kind)


def pirate_ship():
    """A three-master on a straight course to high x; its middle is z = 15."""
    b = Build()
    b.box(0, 0, 3, 31, 1, 27, "water")
    hull(b)
    wake(b)
    superstructure(b)
    for x, foot, top in ((22, 7, 26), (14, 7, 30), (6, 11, 23)):
        b.box(x, foot, 15, x, top, 15, "oak_log")
    # x, lowest and highest row, half width at the foot and at the head
    for x, y1, y2, w1, w2 in ((22, 11, 17, 7, 6), (22, 19, 24, 5, 4), (14, 11, 18, 8, 7),
                              (14, 20, 26, 6, 5), (6, 15, 21, 5, 4)):
        square_sail(b, x, y1, y2, w1, w2)
    skull(b)
    tops(b)
    bowsprit(b)
    rigging(b)
    return b


def beam(x, y):
    """Half the hull's width: full amidships, narrow at the bow, fuller above."""
    if x < 2 or x > 28:
        return -1
    plan = 4.6 - 0.9 * max(0, 6 - x) / 4 if x < 18 else 4.6 * max(0, 1 - ((x - 18) / 10.6) ** 2) ** 0.6
    flare = min(1, 0.62 + 0.12 * y)
    return plan * flare - (max(0, x - 22) * (7 - y) * 0.10 if y < 7 else 0)


def hull(b):
    def top(x):
        return 7 + (x > 23) + (x > 25)

    for x in range(2, 29):
        for y in range(0, top(x) + 1):
            for z in range(10, 21):
                if abs(z - 15) <= beam(x, y):
                    b.put(x, y, z, "oak_log" if y <= 3 else "oak_planks")
    # The deck lies below the bulwark.
    for x in range(3, 28):
        for z in range(10, 21):
            if abs(z - 15) <= beam(x, 7) - 1:
                b.box(x, 7, z, x, 9, z, None)
                b.put(x, 6, z, "oak_planks")
    # Wales, a black gun strake, ports with muzzles.
    for z in (-1, 1):
        for x in range(2, 29):
            for y, kind in ((4, "oak_log"), (5, "black_wool"), (7, "red_wool"), (8, "red_wool"), (9, "red_wool")):
                edge = int(beam(x, y))
                if beam(x, y) >= 0 and b.at(x, y, 15 + z * edge):
                    if y == 7 or (y > 7 and b.at(x, y + 1, 15 + z * edge) is None):
                        b.put(x, y, 15 + z * edge, "red_wool")
                    elif y < 7:
                        b.put(x, y, 15 + z * edge, kind)
        for x in (9, 12, 16, 19):
            edge = int(beam(x, 5))
            b.put(x, 5, 15 + z * edge, "iron_block")
            b.put(x, 5, 15 + z * (edge + 1), "black_wool")


def wake(b):
    """A bow wave that opens on both sides, and a broken line astern."""
    for x in range(8, 29):
        for z in range(3, 28):
            off = abs(z - 15) - (29 - x) * 0.5 - 1.5
            if 0 <= off < 1.2 and b.at(x, 2, z) is None and (x > 20 or grain(x, 1, z) > 0.45):
                b.put(x, 1, z, "white_wool")
                if x > 25:
                    b.put(x, 2, z, "white_wool")
    for x in (0, 1):
        for z in range(12, 19):
            if grain(x, 8, z) > 0.4:
                b.put(x, 1, z, "white_wool")


def superstructure(b):
    """The stern castle with its gallery, the forecastle, hatches and lamps."""
    b.box(2, 7, 12, 8, 11, 18, "oak_planks")
    b.box(1, 7, 12, 1, 9, 18, "oak_planks")
    b.box(1, 6, 12, 1, 6, 18, "oak_log")
    for z in (11, 19):
        b.box(2, 7, z, 8, 11, z, "oak_planks")
        b.box(2, 9, z, 8, 9, z, "oak_log")
        for x in (3, 5, 7):
            b.put(x, 10, z, "glass")
            b.put(x, 8, z, "glass")
        b.box(1, 12, z, 8, 12, z, "red_wool")
        b.box(1, 13, z, 1, 13, z, "gold_block")
        b.put(8, 13, z, "gold_block")
    b.box(1, 10, 11, 1, 12, 19, "red_wool")
    b.box(1, 13, 14, 1, 13, 16, "gold_block")
    b.box(1, 11, 12, 1, 11, 18, "oak_planks")
    for z in (12, 14, 16, 18):
        b.box(1, 8, z, 1, 9, z, "glass")
        b.put(1, 11, z, "glass")
        b.put(0, 7, z, "gold_block")
    b.box(0, 7, 13, 0, 7, 17, "gold_block")
    b.box(3, 8, 13, 7, 8, 17, "glowstone")
    b.box(8, 7, 14, 8, 9, 16, "oak_log")
    b.box(8, 7, 15, 8, 8, 15, "black_wool")
    for z in (12, 18):
        b.box(9, 7, z, 9, 9, z, "oak_planks")
        b.box(10, 7, z, 10, 8, z, "oak_planks")
        b.put(11, 7, z, "oak_planks")
    for z in (11, 19):
        b.put(0, 12, z, "glowstone")
        b.put(0, 11, z, "gold_block")
    b.box(8, 12, 12, 8, 12, 18, "oak_log")
    b.put(4, 12, 15, "oak_log")
    b.put(4, 13, 15, "oak_planks")
    b.box(17, 7, 14, 19, 7, 16, "oak_log")
    b.put(18, 7, 15, "iron_block")
    for x in (22, 23, 24):
        b.box(x, 7, 13, x, 7, 17, "oak_planks")


def square_sail(b, x, y1, y2, w1, w2):
    """Filled from behind: deepest low in the middle, between two yards."""
    for y in range(y1, y2 + 1):
        up = (y - y1) / (y2 - y1)
        half = round(w1 + (w2 - w1) * up)
        for k in range(-half, half + 1):
            belly = 2.4 * (1 - (k / (half + 1)) ** 2) * (1 - (up * 1.15 - 0.15) ** 2) + 1
            for i in range(1, int(belly) + 1):
                if i == int(belly) or y == y2:
                    b.put(x + i, y, 15 + k, "white_wool")
    half = w2 + 1
    b.box(x + 1, y2 + 1, 15 - half, x + 1, y2 + 1, 15 + half, "oak_log")


def skull(b):
    """The main topsail is black, with a white skull."""
    b.repaint(lambda x, y, z, kind: kind == "white_wool" and 14 <= x <= 18 and 20 <= y <= 26, "black_wool")
    rows = (" XXXXX ", "XXXXXXX", "X  X  X", "X  X  X", "XXXXXXX", " X X X ")
    for down, row in enumerate(rows):
        for k, mark in enumerate(row):
            if mark == "X":
                for x in range(14, 19):
                    y, z = 25 - down, 12 + k
                    if b.at(x, y, z) == "black_wool":
                        b.put(x, y, z, "white_wool")


def tops(b):
    for x, y in ((22, 18), (14, 19), (6, 22)):
        b.disc(x, y, 15, 1.5, "oak_planks")
    b.disc(14, 27, 15, 1.5, "oak_planks")
    b.box(12, 28, 15, 12, 28, 15, "oak_log")
    b.disc(14, 28, 15, 2.3, "oak_log", hole=1.5)
    b.box(9, 29, 15, 13, 31, 15, "black_wool")
    b.put(11, 30, 15, "white_wool")
    b.box(19, 26, 15, 21, 26, 15, "red_wool")
    b.box(3, 23, 15, 5, 24, 15, "red_wool")


def bowsprit(b):
    b.line((25, 8, 15), (31, 12, 15), "oak_log")
    b.put(29, 8, 15, "gold_block")
    b.put(29, 9, 15, "gold_block")
    b.put(30, 9, 15, "gold_block")
    # Two jibs in the middle plane.
    for x in range(24, 31):
        for y in range(10, 26):
            on = (31 - x) / 8
            if 11 + (31 - x) * 0.15 <= y <= 12 + on * 12.5 and x > 25 - (y < 18):
                if b.at(x, y, 15) is None:
                    b.put(x, y, 15, "white_wool")


def rigging(b):
    """Shrouds from the bulwarks to the tops."""
    for x, y in ((22, 18), (14, 19), (6, 22)):
        for z in (-1, 1):
            foot = 8 if x > 8 else 13
            edge = int(beam(x - 2, 7)) if x > 8 else 4
            for lean in (-3, -1):
                b.line((x + lean, foot, 15 + z * edge), (x, y - 1, 15 + z), "oak_log")




PROMPTS = {
    "steam-locomotive": steam_locomotive,
    "lighthouse": lighthouse,
    "treehouse": treehouse,
    "sleeping-dragon": sleeping_dragon,
    "pirate-ship": pirate_ship,
}

if __name__ == "__main__":
    for prompt, build in PROMPTS.items():
        build().save(Path(sys.argv[1]) / prompt / "reference_architect.json")
