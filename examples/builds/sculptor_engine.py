"""The locomotive."""

from math import hypot, sin

from sculptor_ground import ROCK, inside_shore
from voxels import Build, along, grain, mix


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
            # The mountain is a ridge over the tunnel, with crags.
            peak = 23.4 - 0.1 * (z - 15) ** 2 + 1.5 * sin(z * 0.8 + x * 0.7) - 0.3 * (x - 6) ** 2 * (x > 6)
            top = int(max(1.2 + rough * (bank < 2), bank, peak + 1.5 * grain(x, 7, z) if x < 12 else 0))
            b.box(x, 0, z, x, top, z, "dirt" if top < 8 else ROCK)
            if top < 8:
                b.put(x, top, z, "grass_block")
            elif top < 20 and grain(x, 5, z) > 0.3:
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
    # The bank goes on behind the mountain, as wide as the track.
    b.box(0, 0, 8, 3, 2, 22, "dirt")
    # Track: sleepers and two rails on the bank.
    for x in range(0, 32):
        b.box(x, 3, 8, x, 3, 22, mix(("cobblestone", 2), ("stone", 1)) if b.at(x, 1, 15) else None)
        if x % 3 == 0:
            b.box(x, 3, 7, x, 3, 23, "oak_log")
        for z in (9, 21):
            b.put(x, 4, z, "iron_block")


def tunnel(b):
    """Through the whole mountain, with a portal on both sides, so that the train shows from behind."""
    def far(y, z):
        return hypot((y - 11) * 0.92, z - 15)

    # The cutting behind the mountain, the hole, the portals.
    b.solid(lambda x, y, z: abs(z - 15) < 9.7, None, (0, 4, 0, 1, 31, 31))
    b.solid(lambda x, y, z: far(y, z) <= 8.2, None, (0, 4, 5, 15, 21, 25))
    for x, outside in ((10, 12), (4, 2)):
        b.solid(lambda x, y, z: 8.2 < far(y, z) <= 9.7, "bricks", (min(x, outside), 3, 4, max(x, outside), 22, 26))
        b.box(outside, 20, 14, outside, 21, 16, "gold_block")
        for z in (6, 24):
            b.put(outside + (1 if outside > x else -1), 12, z, "glowstone")
    for x in range(16):
        for z in (9, 21):
            b.put(x, 4, z, "iron_block")


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
    # Its back: two windows, a band, lamps.
    for z in (12, 17):
        b.box(7, 12, z, 7, 15, z + 1, "glass")
    b.box(7, 10, 10, 7, 10, 20, "gold_block")
    for z in (10, 20):
        b.put(6, 9, z, "glowstone")
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
