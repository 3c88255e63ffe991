"""Houses and towers, by reference_architect: a lighthouse, a treehouse, a windmill, a café."""

from math import cos, hypot, radians, sin

from architect_kit import MASONRY, ROCK, cypress, far, lamp, octagon, rod, sector
from voxels import Build, grain


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
        rod(b, (12, 4, z), (7, 9, z), "oak_log")
    rod(b, (14, 4, 14), (14, 9, 19), "oak_log")
    for z in (20, 24):
        b.box(8, 2, z, 8, 9, z, "oak_log")
    rod(b, (8, 6, 20), (8, 9, 23), "oak_log")
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


def windmill():
    """An eight-sided mill with a stage, facing high z, its sails at rest in a cross."""
    b = Build()
    hill(b)
    m, c = 15.5, 13
    # Brick base, a stage on struts, a boarded body that narrows.
    for y in range(4, 10):
        r = 5.8 - (y - 4) * 0.1
        b.solid(lambda x, _, z: octagon(x - m, z - c) <= r,
                lambda x, _, z: "stone" if mill_corner(x - m, z - c, r) else "bricks", (0, y, 0, 31, y, 31))
    for y in range(10, 21):
        r = 5.1 - (y - 10) * 0.13
        b.solid(lambda x, _, z: octagon(x - m, z - c) <= r,
                "oak_log" if y == 19 else "white_wool", (0, y, 0, 31, y, 31))
    b.solid(lambda x, y, z: octagon(x - m, z - c) <= 6.8, "oak_planks", (0, 10, 0, 31, 10, 31))
    b.solid(lambda x, y, z: 5.8 < octagon(x - m, z - c) <= 6.8,
            lambda x, y, z: ("oak_planks", "oak_log")[sector(x - m, z - c, 24) % 2], (0, 11, 0, 31, 11, 31))
    for i in range(8):
        angle = radians(45 * i + 22.5)
        b.line((round(m + 5.4 * sin(angle)), 7, round(c + 5.4 * cos(angle))),
               (round(m + 6.6 * sin(angle)), 9, round(c + 6.6 * cos(angle))), "oak_log")
    mill_window(b, 14, c + 4, 1)
    mill_window(b, 14, c - 4, -1)
    b.box(11, 13, 12, 11, 16, 14, "blue_wool")
    b.box(11, 14, 13, 11, 15, 13, "glass")
    b.box(10, 13, 12, 10, 13, 14, "oak_log")
    b.put(12, 14, 13, "glowstone")
    mill_cap(b)
    # Door, lamp, steps.
    b.box(13, 5, 19, 15, 9, 19, "oak_log")
    b.box(15, 6, 20, 15, 9, 20, None)
    b.box(15, 5, 19, 15, 8, 19, "oak_planks")
    b.put(13, 8, 20, "glowstone")
    b.box(10, 6, 13, 10, 8, 13, None)
    b.box(9, 6, 12, 9, 8, 14, "bricks")
    b.box(9, 6, 13, 9, 7, 13, "glass")
    b.mirror_x()
    b.put(16, 6, 19, "gold_block")
    sails(b)
    tailpole(b)
    farm(b)
    return b


def mill_corner(dx, dz, r):
    """Is a place on one of the eight edges of the tower?"""
    across, along = max(abs(dx), abs(dz)), min(abs(dx), abs(dz))
    return across > r - 1 and along > r * 0.4142 - 0.6 and octagon(dx, dz) > r - 1.2


def hill(b):
    for x in range(32):
        for z in range(32):
            out = max(abs(x - 15.5), abs(z - 14.5)) * 0.4 + far(x, z, 15.5, 14.5) * 0.6
            top = int(min(5, 1.3 + (15.5 - out) * 0.5 + grain(x // 3, 2, z // 3) * 0.5))
            b.box(x, 0, z, x, max(top, 1) - 1, z, "dirt")
            b.box(x, max(1, top - 1), z, x, max(top, 1), z, "grass_block")


def mill_window(b, y, z, out):
    """A pair of panes with a frame, on a face that looks along z; the low half."""
    z = int(z)
    b.box(14, y - 1, z, 15, y + 2, z, "blue_wool")
    b.box(15, y, z, 15, y + 1, z, "glass")
    b.put(15, y, z - out, "glowstone")
    b.put(14, y - 1, z + out, "oak_log")
    b.put(15, y - 1, z + out, "oak_log")


def mill_cap(b):
    """Like an upturned boat, boarded in rows, with a ridge and a beard above the shaft."""
    m, c = 15.5, 13
    b.solid(lambda x, y, z: octagon(x - m, z - c) <= 4.7, "oak_log", (0, 20, 0, 31, 20, 31))
    for y in range(21, 27):
        for z in range(6, 20):
            across = 4.8 * (1 - ((y - 20.5) / 6.4) ** 2.2) * (1 - max(0, 10 - z) * 0.07)
            if 8 + (y - 21) * 0.5 <= z <= 18:
                for x in range(8, 16):
                    if m - x <= across:
                        b.put(x, y, z, "oak_log" if z == 18 or (m - x > across - 1 and y == 21)
                              else ("bricks", "oak_planks")[z == 17 or z == 12])
    b.box(15, 26, 10, 15, 27, 19, "oak_log")
    b.box(13, 22, 18, 15, 24, 18, "white_wool")
    b.put(12, 22, 18, "white_wool")
    b.put(15, 28, 19, "gold_block")


def sails(b):
    """Four frames with cloth at z 21, all turned the same way."""
    cx, cy = 15.5, 21.5
    b.box(15, 21, 18, 16, 22, 21, "oak_log")
    for i in range(4):
        turn = radians(45 + 90 * i)
        for x in range(32):
            for y in range(4, 32):
                dx, dy = x - cx, y - cy
                u, v = dx * cos(turn) + dy * sin(turn), dy * cos(turn) - dx * sin(turn)
                if not 0 <= u <= 12.4:
                    continue
                if abs(v) <= 0.8:
                    b.put(x, y, 21, "oak_log")
                elif 3.4 <= u and -1.6 <= v < 0:
                    b.put(x, y, 21, "red_wool")
                elif 3.4 <= u and 0 < v <= 3.6:
                    edge = u < 4.2 or u > 11.7
                    b.put(x, y, 21, "oak_log" if edge else "white_wool")
    b.box(15, 21, 22, 16, 22, 22, "iron_block")


def tailpole(b):
    """Turns the cap: a pole and two braces at the back, down to a winch."""
    for x in (15, 16):
        rod(b, (x, 21, 9), (x, 6, 2), "oak_log")
    for side, x in ((-1, 15), (1, 16)):
        rod(b, (x + side * 4, 20, 11), (x + side, 8, 3), "oak_log")
    b.box(14, 8, 3, 17, 8, 3, "oak_log")
    b.box(13, 5, 2, 18, 5, 2, "oak_log")
    for x in (13, 18):
        b.box(x, b.surface(x, 2) + 1, 2, x, 6, 2, "oak_planks")


def farm(b):
    """Steps and a path, two fields of wheat, a fence, sacks and a cart, cypresses at the back."""
    for z in range(20, 32):
        for x in range(14, 18):
            y = b.surface(x, z) if z > 21 else 5
            if y <= 5:
                b.put(x, y, z, MASONRY)
    for x in (13, 18):
        for z in (24, 29):
            y = b.surface(x, z)
            lamp(b, x, y + 1, z, 2)
    for x in range(1, 31):
        for z in range(22, 31):
            y = b.surface(x, z)
            if 2 < x < 11 and z > 22 and y < 5:
                b.put(x, y, z, "dirt")
                if x % 2:
                    b.put(x, y + 1, z, "yellow_wool")
            if 20 < x < 29 and z > 22 and y < 5:
                b.put(x, y, z, "dirt")
                if x % 2 == 0:
                    b.put(x, y + 1, z, ("oak_leaves", "oak_leaves", "orange_wool")[(z + x // 2) % 3])
    for n in range(0, 32):
        for x, z in ((0, n), (31, n), (n, 0)):
            y = b.surface(x, z)
            b.put(x, y + 1, z, "oak_log" if n % 4 in (0, 3) else "oak_planks")
            if n in (0, 31):
                b.put(x, y + 2, z, "oak_log")
    for x in (3, 28):
        for z in (3, 10):
            cypress(b, x, b.surface(x, z) + 1, z, 8 if z == 3 else 6)
    for x, z in ((10, 19), (9, 18), (21, 19)):
        b.put(x, b.surface(x, z) + 1, z, "sand")
    b.put(10, b.surface(10, 19) + 1, 19, "sand")
    # The cart, loaded.
    y = b.surface(25, 18) + 1
    b.box(23, y + 1, 17, 27, y + 1, 19, "oak_planks")
    b.box(23, y + 2, 17, 27, y + 2, 19, "yellow_wool")
    b.box(24, y + 3, 18, 26, y + 3, 18, "yellow_wool")
    for x in (24, 26):
        b.put(x, y, 20, "oak_log")
        b.put(x, y, 16, "oak_log")
        b.box(x, y, 17, x, y, 19, "oak_log")


def corner_cafe():
    """A house that turns the corner with a chamfer and a turret; both streets are alike."""
    b = Build()
    # Road, kerb and pavement, drawn for one street and mirrored about the diagonal.
    b.box(0, 0, 0, 31, 0, 31, "stone")
    b.box(0, 0, 30, 31, 0, 31, "black_wool")
    for x in range(2, 28, 6):
        b.box(x, 0, 31, x + 2, 0, 31, "white_wool")
    b.box(0, 1, 0, 29, 1, 29, lambda x, y, z: "stone" if (x // 2 + z // 2) % 2 else "cobblestone")
    b.box(0, 1, 29, 29, 1, 29, "stone")
    facade(b)
    mansard(b)
    back_wall(b)
    pavement(b)
    b.mirror(lambda x, y, z: (z, y, x), lambda x, y, z: x <= z)
    turret(b)
    # The grandest lamp stands on the corner itself.
    lamp(b, 28, 2, 28, 7, "black_wool", "gold_block")
    for x, z in ((27, 28), (28, 27)):
        b.put(x, 8, z, "black_wool")
        b.put(x, 7, z, "glowstone")
    return b


def facade(b):
    """Shop front, one floor of tall windows, a cornice; the front looks along high z."""
    b.walls(0, 2, 0, 21, 14, 21, "sand")
    for y in (1, 8, 14):
        b.box(1, y, 1, 20, y, 20, "oak_planks")
    b.box(0, 9, 22, 22, 13, 22, "sand")
    b.box(0, 8, 22, 22, 8, 22, "stone")
    b.box(0, 14, 22, 22, 14, 23, "stone")
    b.box(0, 13, 23, 22, 13, 23, lambda x, y, z: "sand" if x % 2 == 0 else None)
    b.box(0, 2, 21, 21, 7, 21, "green_wool")
    for x in (0, 5, 10, 15):
        b.box(x, 2, 22, x, 7, 22, "green_wool")
        b.put(x, 2, 22, "stone")
        b.put(x, 7, 22, "gold_block")
        b.box(x, 9, 23, x, 12, 23, "sand")
    for x in (1, 6, 11):
        b.box(x, 3, 21, x + 3, 6, 21, "glass")
        b.box(x, 2, 21, x + 3, 2, 21, "oak_planks")
        b.box(x, 7, 20, x + 3, 7, 20, "glowstone")
        # An awning on each bay.
        for i in range(-1, 5):
            kind = "red_wool" if i % 2 else "white_wool"
            b.put(x + i, 7, 23, kind)
            b.put(x + i, 6, 24, kind)
        # The tall windows above, with shutters, a railing, flowers.
        b.box(x + 1, 9, 22, x + 2, 12, 22, None)
        b.box(x + 1, 9, 21, x + 2, 12, 21, "glass")
        b.box(x, 9, 23, x, 12, 23, "blue_wool")
        b.box(x + 3, 9, 23, x + 3, 12, 23, "blue_wool")
        b.box(x + 1, 8, 23, x + 2, 8, 24, "stone")
        b.box(x + 1, 9, 24, x + 2, 9, 24, "black_wool")
        b.put(x + 1, 12, 20, "glowstone")
        b.put(x + 1, 9, 23, "oak_leaves")
        b.put(x + 2, 9, 23, "red_wool")


def mansard(b):
    """Steep slates with dormers, a flat top with chimneys."""
    for y in range(15, 21):
        edge = 22 - (y - 14) // 2
        for x in range(0, edge + 1):
            for z in range(0, edge + 1):
                b.put(x, y, z, "stone" if (y + (x + z) // 3) % 3 else "cobblestone")
    b.box(0, 20, 0, 19, 20, 19, "stone")
    b.box(0, 21, 19, 19, 21, 19, "iron_block")
    b.box(1, 16, 1, 17, 20, 17, None)
    b.box(0, 20, 0, 18, 20, 18, "cobblestone")
    for x in (1, 6, 11):
        b.box(x, 15, 20, x + 3, 18, 22, "white_wool")
        b.box(x + 1, 16, 22, x + 2, 17, 22, "glass")
        b.box(x + 1, 16, 21, x + 2, 17, 21, "glowstone")
        b.box(x, 15, 22, x, 17, 22, "stone")
        b.box(x + 3, 15, 22, x + 3, 17, 22, "stone")
        b.box(x, 18, 20, x + 3, 18, 23, "bricks")
        b.box(x + 1, 19, 20, x + 2, 19, 23, "bricks")
    for x, z in ((1, 14), (1, 6)):
        b.box(x, 20, z, x + 1, 24, z + 2, "bricks")
        b.box(x, 24, z, x + 1, 24, z + 2, "stone")
        b.put(x, 25, z, "orange_wool")
        b.put(x, 25, z + 2, "orange_wool")
    # A roof garden behind the balustrade.
    b.box(8, 21, 12, 11, 21, 16, "oak_planks")
    b.box(8, 21, 13, 11, 22, 15, "oak_leaves")


def back_wall(b):
    """The party wall on the low x side: brick, with a painted sign of a cup."""
    b.box(0, 2, 0, 0, 21, 21, "bricks")
    b.box(0, 2, 21, 0, 14, 21, "stone")
    cup = ("  X  X   ", "   X  X  ", "  X  X   ", "         ", "XXXXXXX  ", "XXXXXXXXX", "XXXXXXX X", "XXXXXXXXX",
           "XXXXXXX  ", " XXXXX   ", "         ", "XXXXXXXXX")
    for down, row in enumerate(cup):
        for k, mark in enumerate(row):
            if mark == "X":
                b.put(0, 17 - down, 7 + k, "white_wool")
    b.box(0, 22, 0, 0, 22, 19, "stone")
    for z in (3, 18):
        b.box(0, 10, z, 0, 12, z + 1, "glass")
        b.box(0, 9, z, 0, 9, z + 1, "stone")
    b.box(0, 2, 3, 0, 5, 4, "oak_log")


def pavement(b):
    """Tables with chairs under parasols, planters, a small tree."""
    for x, kind in ((4, "red_wool"), (13, "yellow_wool")):
        z = 27
        b.box(x, 2, z, x, 6, z, "oak_log")
        b.disc(x, 3, z, 1.1, "white_wool")
        b.put(x, 4, z, "oak_log")
        b.disc(x, 6, z, 2.3, lambda i, j, k: kind if hypot(i - x, k - z) > 1.5 else "white_wool")
        b.put(x, 7, z, kind)
        for side in (-2, 2):
            b.put(x + side, 2, z, "oak_planks")
            b.put(x + side + (1 if side > 0 else -1), 2, z, "oak_planks")
            b.put(x + side + (1 if side > 0 else -1), 3, z, "oak_planks")
    for x in (9, 19):
        b.put(x, 2, 28, "oak_planks")
        b.box(x, 3, 28, x, 4, 28, "oak_leaves")
        b.put(x, 5, 28, "oak_leaves" if x == 9 else "red_wool")
    b.put(9, 4, 28, "yellow_wool")


def turret(b):
    """On the chamfered corner: the door, a bay of windows, a copper-coloured dome."""
    c = 18
    b.solid(lambda x, y, z: x + z > 39 and x > 15 and z > 15, None, (16, 2, 16, 24, 31, 24))
    for y in range(2, 22):
        r = 4.4
        for x in range(12, 24):
            for z in range(12, 24):
                d = octagon(x - c, z - c)
                if d > r or (x < c and z < c):
                    continue
                corner = mill_corner(x - c, z - c, r)
                if y < 8:
                    kind = "green_wool"
                elif y in (8, 14, 21):
                    kind = "stone"
                elif corner:
                    kind = "sand"
                elif 9 <= y <= 12 or 17 <= y <= 19:
                    kind = "glass"
                else:
                    kind = "sand"
                b.put(x, y, z, kind if d > r - 1 else "glowstone" if y in (11, 18) else None)
    for y, r in ((8, 5.2), (14, 5.4), (21, 5.4)):
        b.solid(lambda x, _, z: octagon(x - c, z - c) <= r and (x >= c - 3 or z >= c - 3) and x + z > 30,
                lambda x, _, z: "stone", (0, y, 0, 31, y, 31))
    # The door.
    for n in range(2, 7):
        for x in range(18, 24):
            for z in range(18, 24):
                if x + z == 42 and abs(x - z) <= 2:
                    b.put(x, n, z, "gold_block" if n == 6 else "oak_planks" if x == z else "glass")
    # Dome, lantern, finial.
    for y in range(22, 28):
        r = 4.7 * (1 - ((y - 22) / 6.6) ** 2) ** 0.5
        b.solid(lambda x, _, z: octagon(x - c, z - c) <= r,
                lambda x, _, z: "gold_block" if mill_corner(x - c, z - c, r) and y < 26 else "green_wool",
                (0, y, 0, 31, y, 31))
    b.box(c, 28, c, c, 28, c, "glowstone")
    b.box(c, 29, c, c, 31, c, "gold_block")
    b.put(c + 1, 30, c - 1, None)
