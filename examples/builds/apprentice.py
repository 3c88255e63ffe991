"""The reference builds of reference_apprentice: big heads, loud colours, one step too many.

    python3 apprentice.py FOLDER

writes FOLDER/<prompt>/reference_apprentice.json for every prompt. Vehicles and sweets are
here, the others in apprentice_creatures.py and apprentice_scenes.py.
"""

import sys
from math import atan2, cos, hypot, pi, sin
from pathlib import Path

import apprentice_creatures as creatures
import apprentice_scenes as scenes
from apprentice_parts import drawing, flower, pal, paste, puff, quilt, ripples, rod, stamp, tall_door
from voxels import Build, grain

RAINBOW = ("red_wool", "orange_wool", "yellow_wool", "green_wool", "blue_wool", "purple_wool")


def giant_mushroom():
    """A house of a mushroom: its stalk has a face, its hat has slipped to one side."""
    b = Build()
    quilt(b, ("...gg...", ".ggggg..", ".gggggg.", "gggggggg", ".ggggggg", ".gggggg.", "..gggg..", "...gg..."))
    b.tube([(13, 2, 17), (11.5, 8, 16.5), (14, 14, 15.5), (16, 20, 14)], [5.6, 4.8, 4.4, 4.4], "white_wool")

    def tilt(x):
        return (x - 16) * 0.2

    def cap(x, y, z):
        up = y + tilt(x) - 18
        return up >= 0 and (hypot(x - 16, z - 12.7) / 13.4) ** 3 + (up / 11.5) ** 2.4 <= 1

    b.solid(cap, "red_wool")
    for x in range(32):
        for z in range(32):
            low = next((y for y in range(12, 31) if b.at(x, y, z) == "red_wool"), None)
            if low and hypot(x - 16, z - 12.7) > 4:
                turn = atan2(z - 12.7, x - 16) * 12 / pi
                b.put(x, low, z, "yellow_wool" if int(turn + 20) % 2 else "white_wool")
    # Spots are squares, and no two are the same size.
    for x, y, z, r in ((17, 27, 15, 3), (8, 27, 9, 2), (23, 25, 7, 2), (16, 22, 25, 2), (27, 20, 17, 2),
                       (6, 24, 18, 2),
                       (14, 25, 1, 2), (3, 22, 11, 1), (28, 20, 9, 1), (9, 22, 23, 1), (24, 22, 22, 1),
                       (22, 21, 1, 1),
                       (6, 23, 4, 1), (17, 28, 7, 1), (11, 28, 17, 1), (21, 25, 20, 1)):
        b.repaint(lambda i, j, k, old: old == "red_wool" and max(abs(i - x), abs(j - y), abs(k - z)) <= r,
                  "white_wool")
    # Door and windows: the mouth and the eyes.
    tall_door(b, 10, 9, 7, "+z", near=24)
    stamp(b, ("BBBB", "BLKB", "BKKB", "BBBB"), 8, 14, "+z", 24)
    stamp(b, ("BBBB", "BLKB", "BKKB", "BBBB"), 13, 15, "+z", 24)
    stamp(b, ("YYY", "YLY", "YYY"), 15, 8, "+x", 20)
    b.box(10, 1, 22, 14, 1, 24, "cobblestone")
    for x, z in ((13, 26), (15, 28), (14, 30)):
        b.box(x, 1, z, x + 1, 1, z + 1, "cobblestone")
    # Little ones, in the colours that were left.
    for x, z, high, kind, dots in ((25, 20, 4, "blue_wool", "yellow_wool"),
                                   (5, 21, 3, "purple_wool", "white_wool"),
                                   (24, 8, 5, "orange_wool", "blue_wool")):
        b.box(x, 2, z, x + 1, 1 + high, z + 1, "white_wool")
        puff(b, x + 0.5, 2 + high, z + 0.5, 3, 2.4, 3,
             lambda i, j, k: kind if j >= 1 + high else b.at(i, j, k))
        b.repaint(lambda i, j, k, old: old == kind and (i + j + k) % 4 == 0 and j > 1 + high, dots)
    flower(b, 28, 2, 15, 5, "purple_wool")
    flower(b, 8, 2, 27, 4, "orange_wool")
    flower(b, 5, 2, 13, 6, "yellow_wool")
    pal(b, 20, 2, 25, "+z", "blue_wool")
    return b


def birthday_cake():
    """Three tiers, each a little beside the one below, and a five that is all candle."""
    b = Build()
    quilt(b, (".rrrrr..", "rrrrrrr.", "rrrrrrrr", "rrrrrrrr", "rrrrrrrr", ".rrrrrrr", ".rrrrrr.", "..rrr..."))
    b.disc(14.5, 2, 14.5, 14, "iron_block")

    def sponge(x, y, z):
        return "red_wool" if y % 3 == 2 else "yellow_wool"

    tiers = ((14.5, 14.5, 3, 9, 11.3, "purple_wool", "white_wool"),
             (15.5, 13.5, 10, 15, 8.2, "blue_wool", "yellow_wool"),
             (17.5, 13, 16, 20, 5.3, "orange_wool", "white_wool"))
    for cx, cz, y1, y2, r, side, icing in tiers:
        for y in range(y1, y2 + 1):
            b.disc(cx, y, cz, r, sponge)
            b.disc(cx, y, cz, r, side, hole=r - 1.3)
        b.disc(cx, y2, cz, r, icing)
        b.disc(cx, y1, cz, r + 0.6, icing, hole=r - 0.9)
        for x in range(32):
            for z in range(32):
                if r - 0.2 < hypot(x - cx, z - cz) <= r + 0.9:
                    turn = int((atan2(z - cz, x - cx) + pi) * r / 2)
                    b.box(x, y2 - int(grain(turn, y1, 3) * 4.2), z, x, y2, z, icing)
    # Somebody has had a slice already.
    def missing(x, y, z):
        return x > 15 and z > 15 and 0.55 < (z - 14) / (x - 12) < 1.6

    b.solid(missing, None, (15, 3, 15, 31, 9, 31))
    b.solid(lambda x, y, z: missing(x, y, z) and hypot(x - 15.5, z - 13.5) < 8.5,
            "yellow_wool", (15, 9, 15, 31, 9, 31))
    for turn in range(9):
        a = turn * 2 * pi / 9 + 0.5
        for far in (11, 10, 9):
            x, z = round(14.5 + far * cos(a)), round(14.5 + far * sin(a))
            if b.at(x, 5, z) and not (x > 17 and z > 17):
                out = (round(14.5 + (far + 1) * cos(a)), 5, round(14.5 + (far + 1) * sin(a)))
                rod(b, (x, 5, z), out, RAINBOW[turn % 6])
                break
    # Candles of many lengths; one has begun to lean.
    for x, z, y, high, kind in ((6, 20, 10, 7, "green_wool"), (8, 7, 10, 5, "red_wool"),
                                (23, 8, 10, 8, "yellow_wool"),
                                (13, 23, 10, 4, "blue_wool"), (22, 13, 16, 5, "red_wool"),
                                (11, 11, 16, 8, "purple_wool"),
                                (12, 18, 16, 6, "green_wool"), (4, 13, 10, 6, "orange_wool")):
        for up in range(high):
            lean = up // 3 if kind == "orange_wool" else 0
            foot = (up - 1) // 3 if lean else 0
            b.box(x - lean, y + up, z, x - foot, y + up, z + 1, kind if up % 2 else "white_wool")
        b.box(x - lean, y + high, z, x - lean, y + high, z + 1, "glowstone")
        b.put(x - lean, y + high + 1, z, "glowstone")
    drawing(b, ("RRRRR", "RR   ", "RRRR ", "   RR", "   RR", "RR RR", " RRR "), 15, 27, 14, deep=3)
    b.box(17, 28, 12, 18, 29, 13, "glowstone")
    b.put(17, 30, 13, "glowstone")
    # Strawberries, as big as heads.
    for x, z in ((21, 15), (18, 9)):
        puff(b, x, 22, z, 1.6, 1.8, 1.6, "red_wool", 2.4)
        b.put(x, 24, z, "green_wool")
    # The slice on its plate, the fork as tall as a person.
    b.disc(26, 2, 26.5, 4.6, "iron_block")
    for y in range(3, 8):
        b.solid(lambda x, y, z: abs(z - 26) <= (x - 21) * 0.5, "white_wool" if y == 7 else sponge,
                (22, y, 20, 28, y, 31))
    b.put(24, 8, 26, "red_wool")
    pal(b, 29, 2, 15, "+x", "yellow_wool", "black_wool", "up", "party")
    return b


def hot_air_balloon():
    """A rainbow with a patch; the basket is as big as a cottage and has windows."""
    b = Build()

    def middle(y):
        return 13.5 + (y - 4) * 0.11, 15.5

    for y in range(9, 32):
        cx, cz = middle(y)
        up = (y - 20) / 11.8
        r = 12.4 * max(0, 1 - abs(up) ** 2.3) ** 0.5 if y >= 17 else 12.1 - (17 - y) ** 1.35 * 0.62
        b.disc(cx, y, cz, r, lambda x, y, z: RAINBOW[int((atan2(z - cz, x - cx) / pi + 1) * 5.999) % 6])
    b.repaint(lambda x, y, z, old: y in (14, 15), "white_wool")
    b.repaint(lambda x, y, z, old: y == 9, "gold_block")
    b.put(16, 31, 15, "gold_block")
    # Where it was torn.
    stamp(b, ("K K K", "OOOOO", "OYYYO", "OYOYO", "OOOOO", "K K K"), 18, 24, "+z")
    stamp(b, ("W W W", "PPPPP", "PPPPP", "PPPPP", "W W W"), 14, 22, "+x")
    stamp(b, ("K K K K", "RR   RR", "RRRRRRR", " RRRRR ", "  RRR  ", "   R   "), 16, 24, "-z")
    # Basket, its ropes, and all who came along.
    b.box(9, 0, 11, 18, 4, 20, lambda x, y, z: "oak_planks" if (x + z + y) % 4 < 2 else "oak_log")
    b.box(10, 1, 12, 17, 5, 19, None)
    b.walls(8, 5, 10, 19, 5, 21, "orange_wool")
    for side, left in (("+z", 11), ("-z", 16), ("+x", 17), ("-x", 14)):
        stamp(b, ("WWW", "WBW", "WWW"), left, 3, side)
    for x, z in ((8, 10), (19, 10), (8, 21), (19, 21)):
        x, z = x + (1 if x == 8 else -1), z + (1 if z == 10 else -1)
        b.box(x, 5, z, x, 13, z, lambda i, j, k: b.at(i, j, k) or "oak_log")
    pal(b, 16, 3, 18, "+z", "red_wool", arms="wave")
    pal(b, 11, 2, 14, "+x", "green_wool", "black_wool", "wave")
    sheep_head(b, 11, 4, 18)
    for x, z, low, kind in ((8, 15, 1, "red_wool"), (20, 13, 2, "blue_wool"), (20, 18, 0, "yellow_wool"),
                            (12, 22, 1, "purple_wool")):
        if x in (8, 20):
            x = min(max(x, 7), 20)
        b.box(x, low + 2, z, x, 5, z, "oak_log")
        b.box(x, low, z, x, low + 2, z + 1, kind)
    # Clouds; one is glad to see them.
    for x, y, z, size in ((26, 5, 25, 1.2), (4, 8, 4, 1.0), (28, 13, 5, 0.8), (4, 15, 28, 0.7)):
        puff(b, x, y, z, 4.2 * size, 2.3 * size, 3.4 * size, "white_wool", 2.6)
        puff(b, x - 2 * size, y + 1.4 * size, z, 2.2 * size, 2 * size, 2.2 * size, "white_wool", 2.6)
        puff(b, x + 1.6 * size, y + 2 * size, z, 2.4 * size, 2.2 * size, 2.4 * size, "white_wool", 2.6)
    stamp(b, ("K  K", "    ", "K  K", " KK "), 24, 7, "+z")
    return b


def sheep_head(b, x, y, z):
    b.box(x - 1, y, z - 1, x + 1, y + 2, z + 1, "black_wool")
    b.box(x - 1, y + 3, z - 1, x + 1, y + 3, z + 1, "white_wool")
    for i in (-1, 1):
        b.put(x + i, y + 2, z + 1, "white_wool")


def steam_locomotive():
    """A toy engine with a face; no two wheels match and the driver does not fit inside."""
    b = Build()
    quilt(b, ("..ggg...", ".ggggg..", ".gggggg.", ".gggggg.", ".gggggg.", ".gggggg.", ".gggggg.", "..ggggg."))
    for z in range(0, 32):
        if z % 4 < 2:
            b.box(8 - z % 3, 2, z, 23 + z % 2, 2, z, "oak_log")
        for x in (10, 21):
            b.put(x, 3, z, "iron_block")
    part = Build()
    engine(part)
    paste(b, part, lambda x, y, z: (z, y, x))
    stamp(b, ("   WWW     WWW   ",
              "   WKW     WKW   ",
              "   WKW     WKW   ",
              "                 ",
              " RR     O     RR ",
              " RR K   O   K RR ",
              "    KK     KK    ",
              "     KKKKKKK     ",
              "       KKK       "), 8, 17, "+z", 31)
    for side, left in (("+x", 18), ("-x", 16)):
        stamp(b, ("YY ", " Y ", " Y ", " Y ", "YYY"), left, 16, side)
    pal(b, 15, 21, 5, "+z", "blue_wool", arms="wave", hat="black_wool")
    flower(b, 26, 2, 10, 6, "purple_wool")
    flower(b, 5, 2, 22, 5, "orange_wool")
    flower(b, 26, 2, 25, 4, "red_wool")
    return b


def engine(b):
    """Looks to high x; the middle is z = 15.5."""
    b.box(4, 6, 12, 27, 8, 19, "black_wool")
    for x, r, kind in ((5, 2.4, "yellow_wool"), (12, 3.4, "orange_wool"), (21, 4.6, "green_wool")):
        for z, out in ((9, -1), (22, 1)):
            cy = 4 + r - 0.4
            b.wheel(x, cy, z, r, "black_wool", hole=r - 1.2)
            b.wheel(x, cy, z, r - 1.2, kind)
            b.wheel(x, cy, z - out, r, kind)
            b.put(x, round(cy), z + out, "gold_block")
            b.put(x, round(cy), z - 2 * out, "black_wool")
    b.barrel(8, 27, 13.5, 15.5, 5.9, "red_wool")
    for x in (10, 18):
        b.barrel(x, x, 13.5, 15.5, 6.5, "yellow_wool")
    b.barrel(28, 28, 13.5, 15.5, 6.4, "yellow_wool")
    b.barrel(27, 27, 13.5, 15.5, 6.9, "black_wool")
    # A chimney as thick as a barrel.
    b.cylinder(22.5, 15.5, 18, 23, 3.0, "black_wool")
    b.cone(22.5, 15.5, 22, 25, 3.2, 4.6, "black_wool")
    b.disc(22.5, 25, 15.5, 4.6, "gold_block", hole=3.4)
    # The smoke goes sideways, so that it does not hide the driver.
    for x, y, z, r in ((22.5, 27, 14.5, 2.6), (22, 28.5, 9, 3), (20.5, 29, 4.3, 2.3)):
        puff(b, x, y, z, r, r * 0.85, r, "white_wool", 2.5)
    b.cylinder(14.5, 15.5, 18, 21, 2.2, "gold_block")
    b.put(14, 22, 15, "gold_block")
    # Cab, leaning back a little, its roof not quite on straight.
    for y in range(8, 22):
        back = -((y - 8) // 5)
        b.walls(3 + back, y, 9, 9 + back, y, 22, "blue_wool")
    b.box(3, 8, 10, 8, 8, 21, "oak_planks")
    for z in (9, 22):
        b.box(2, 13, z, 7, 18, z, "white_wool")
        b.box(3, 14, z, 6, 17, z, None)
    b.box(8, 19, 11, 8, 20, 13, "glass")
    for z in range(7, 25):
        b.box(0, 22 + (z - 7) // 9, z, 9, 22 + (z - 7) // 9, z, "orange_wool" if z % 4 < 2 else "yellow_wool")
    # Buffers.
    b.box(28, 5, 10, 29, 7, 21, "blue_wool")
    for z in (11, 19):
        b.box(30, 6, z, 30, 7, z + 1, "iron_block")


def fire_engine():
    """A fat engine with a grin; its ladder wobbles up towards a cat."""
    b = Build()
    quilt(b, ("..cccccc", ".ccccccc", "cccccccc", "cccccccc", "cccccccc", "ccccccc.", ".cccccc.", "...ccc.."))
    for x in range(1, 30, 5):
        b.box(x, 1, 26, x + 2, 1, 26, "white_wool")
    # Body and cab.
    puff(b, 12, 9, 15.5, 11, 5, 7, "red_wool", 6)
    puff(b, 23.5, 11, 15.5, 5.6, 7.6, 7.6, "red_wool", 5)
    b.repaint(lambda x, y, z, old: y in (7, 8) and x < 18, lambda x, y, z: "white_wool" if (x // 2 + y) % 2
              else "yellow_wool")
    b.repaint(lambda x, y, z, old: y == 4, "black_wool")
    # Wheels: the front ones were the only big ones left.
    for x, r in ((6, 3.0), (13, 2.6), (23, 4.2)):
        for z, out in ((8, -1), (23, 1)):
            cy = 1.6 + r
            b.wheel(x, cy, z, r, "black_wool")
            b.wheel(x, cy, z + out, r, "black_wool", hole=r - 1.4)
            b.wheel(x, cy, z + out, r - 1.4, "yellow_wool")
            b.put(x, round(cy), z + 2 * out, "gold_block")
            b.wheel(x, cy, z - out, r - 0.6, "black_wool")
    for side, left in (("+z", 4), ("-z", 15)):
        stamp(b, ("WWWW  YYYY  ",
                  "WBBW YKKKKY ",
                  "WBBW YKYYKY ",
                  "WWWW YKKKKY ",
                  "      YYYY  "), left, 13, side)
    # The face: windscreen, headlights, bumper.
    stamp(b, ("BBBBBB BBBBBB", "BWWWFB BFWWWB", "BWWFFB BFFWWB", "BBBBBB BBBBBB"), 22, 17, "+x")
    for left in (21, 13):
        stamp(b, ("LLLL", "LKKL", "LKKL", "LLLL"), left, 12, "+x", out=1)
    stamp(b, ("KK       KK", " KWKWWWKWK ", " KKWWWWWKK ", "   KKKKK   "), 21, 8, "+x")
    for side, left in (("+z", 21), ("-z", 26)):
        stamp(b, ("BBBBBB", "BWWWFB", "BWWFFB", "BBBBBB"), left, 16, side)
    # A blue light as big as a bathtub, a bell.
    b.box(21, 19, 13, 24, 19, 18, "iron_block")
    puff(b, 22.5, 21, 15.5, 2.4, 1.9, 3.4, "blue_wool")
    b.box(22, 21, 14, 23, 22, 14, "glowstone")
    b.box(22, 21, 17, 23, 22, 17, "glowstone")
    # The ladder on its turntable.
    b.cylinder(8.5, 15.5, 14, 15, 4.4, "iron_block")
    b.box(6, 16, 12, 10, 19, 19, "orange_wool")
    ladder(b)
    pal(b, 15, 24, 15, "+x", "blue_wool", "orange_wool", "up", "yellow_wool")
    cat_tree(b)
    bonfire(b)
    return b


def ladder(b):
    for x in range(4, 31):
        y = round(17 + (x - 4) * 0.52 + 0.9 * sin(x * 0.42))
        for z in (12, 19):
            b.box(x, y, z, x, y + 1, z, "yellow_wool")
        if x % 3 == 0:
            b.box(x, y, 12, x, y, 19, "white_wool")


def cat_tree(b):
    b.tube([(28, 1, 3), (27, 9, 4), (29, 16, 4)], [1.6, 1.1, 1.1], "oak_log")
    puff(b, 28, 20, 4.5, 3.6, 4, 4.4, "green_wool")
    puff(b, 26, 17, 6, 2.5, 2.2, 2.4, "oak_leaves")
    b.box(27, 24, 3, 29, 25, 6, "black_wool")
    b.box(27, 25, 6, 29, 27, 8, "black_wool")
    for x in (27, 29):
        b.put(x, 28, 7, "black_wool")
        b.put(x, 27, 8, "yellow_wool")
        b.put(26, 27, 7 - (x == 29), "yellow_wool")
    b.put(28, 26, 8, "orange_wool")
    b.box(28, 25, 2, 28, 29, 2, "black_wool")


def bonfire(b):
    """What it came for, and a hose that is more of a knot."""
    b.box(2, 2, 26, 6, 2, 27, "oak_log")
    b.box(3, 3, 26, 5, 3, 27, "oak_log")
    puff(b, 4, 4, 26.5, 1.8, 2.4, 1.6, "orange_wool", 2)
    b.box(4, 5, 26, 4, 7, 26, "yellow_wool")
    b.put(4, 4, 28, "glowstone")
    rod(b, (12, 2, 24), (13, 2, 28), "white_wool")
    rod(b, (13, 2, 28), (10, 3, 28), "white_wool")
    rod(b, (10, 4, 28), (7, 7, 27), "water")
    rod(b, (7, 7, 27), (5, 7, 27), "water")


def pirate_ship():
    """A tub with too much sail: the skull smiles, one mast leans, the cannon is enormous."""
    b = Build()
    quilt(b, ("..wwww..", ".wwwwww.", "wwwwwwww", "wwwwwwww", "wwwwwwww", "wwwwwwww", ".wwwwwww", "..wwww.."))
    ripples(b, 0, (3, 6), (2, 18), (26, 10), (25, 22), (6, 27), (20, 28), (27, 16), (9, 3), (20, 2))

    # Hull along z, its bow at high z.
    def hull(x, y, z):
        rail = 8 + (3.5 if z < 9 else 0) + max(0, z - 21) * 0.45
        wide = 7.2 * min(1, (30.5 - z) / 8) ** 0.6 * (0.7 + 0.3 * min(1, y / 5)) if z < 30.5 else 0
        return z >= 3 and y <= rail and abs(x - 15.5) <= wide and y >= max(0, z - 26) * 1.1

    def planks(x, y, z):
        return "oak_log" if y % 3 == 0 else "purple_wool" if y in (7, 8) else "oak_planks"

    b.solid(hull, planks)
    b.solid(lambda x, y, z: hull(x, y, z) and y > (9 if z < 9 else 6)
            and all(hull(x + i, y, z + k) for i, k in ((1, 0), (-1, 0), (0, 1), (0, -1))), None)
    for x in range(32):
        for z in range(32):
            top = b.surface(x, z)
            if top > 7 and b.at(x, top, z) and b.at(x, top, z) != "water":
                if b.at(x + 1, top, z) is None or b.at(x - 1, top, z) is None:
                    b.put(x, top, z, "gold_block" if (x + z) % 2 else "red_wool")
    # Portholes: yellow, blue, whatever there was.
    for n, z in enumerate((8, 13, 18)):
        ink = "YLR"[n]
        for side in ("+x", "-x"):
            left = z + 1 if side == "+x" else z - 1
            stamp(b, ("AAA", "A%sA" % ink, "AAA"), left, 6, side)
    for x in (11, 14, 17):
        b.box(x, 7, 2, x + 1, 9, 2, "glowstone")
        b.box(x, 7, 2, x, 7, 2, "gold_block")
    # Masts, sails, the skull.
    b.tube([(15.5, 3, 16), (15.5, 28, 16)], [1.2, 1.2], "oak_log")
    for y in range(5, 24):
        b.box(15, y, 5 - (y - 5) // 5, 16, y, 6 - (y - 5) // 5, "oak_log")
    sail(b, 11, 26, 12.6, 18, 4, "red_wool", "white_wool")
    sail(b, 13, 23, 7.5, 5, 3, "yellow_wool", "orange_wool")
    stamp(b, ("  WWWWWWWWW  ",
              " WWWWWWWWWWW ",
              " WWKKWWWKKWW ",
              " WWKKWWWKKWW ",
              " WWWWWKWWWWW ",
              "  WKWWWWWKW  ",
              "  WWKKKKKWW  ",
              "   WWWWWWW   "), 9, 24, "+z")
    stamp(b, ("KKK", "KPK", "KPK", "KKK"), 23, 15, "+z")
    # A flag that would do for a house, the crow's nest with somebody in it.
    b.box(15, 28, 16, 15, 31, 16, "oak_log")
    b.box(15, 27, 8, 15, 31, 15, "black_wool")
    for side, left in (("+x", 14), ("-x", 9)):
        stamp(b, (" WWWW ", "WKWWKW", "WWWWWW", " WKKW ", " WWWW "), left, 31, side)
    # Flags from mast to mast.
    rod(b, (15, 24, 2), (15, 25, 15), lambda x, y, z: RAINBOW[z % 6])
    for z in range(4, 15, 2):
        y = 24 if b.at(15, 24, z) else 25
        b.put(15, y - 1, z, RAINBOW[(z + 3) % 6])
    # Bowsprit, a cannon, captain and parrot, anchor.
    b.tube([(15.5, 10, 27), (15.5, 14, 31)], [1.2, 1.1], "oak_log")
    b.box(14, 9, 22, 17, 9, 26, "oak_log")
    for z in range(21, 29):
        for x in range(13, 19):
            for y in range(9, 15):
                if hypot(x - 15.5, y - 12.5) <= 2.2 + (z == 28) * 0.5:
                    b.put(x, y, z, "black_wool")
    b.box(15, 12, 28, 16, 13, 28, "orange_wool")
    pal(b, 11, 10, 6, "+x", "red_wool", "black_wool", "wave", "black_wool")
    for x in (8, 23):
        b.box(x, 3, 21, x, 8, 21, "iron_block")
        b.box(x, 3, 20, x, 3, 22, "iron_block")
    # Sharks.
    for x, z in ((3, 12), (28, 26)):
        b.box(x, 1, z, x, 1, z + 4, "iron_block")
        b.box(x, 2, z + 1, x, 2, z + 3, "iron_block")
        b.put(x, 3, z + 2, "iron_block")
    return b


def sail(b, low, high, half, z, deep, one, two):
    """A cushion of stripes in front of a mast."""
    for y in range(low, high + 1):
        up = (y - low) / (high - low)
        wide = half - 1.6 * sin(pi * up)
        for x in range(32):
            across = abs(x - 15.5) / wide
            if across <= 1:
                belly = z + round(deep * (1 - across ** 2) * sin(pi * (0.15 + 0.7 * up)))
                b.box(x, y, belly, x, y, belly + 1, one if (y - low) // 3 % 2 == 0 else two)
    for y in (low, high):
        b.box(round(15.5 - half - 1), y, z - 1, round(14.5 + half + 1), y, z, "oak_log")


PROMPTS = {
    "giant-mushroom": giant_mushroom,
    "birthday-cake": birthday_cake,
    "snail": creatures.snail,
    "lighthouse": scenes.lighthouse,
    "hot-air-balloon": hot_air_balloon,
    "windmill": scenes.windmill,
    "steam-locomotive": steam_locomotive,
    "stone-bridge": scenes.stone_bridge,
    "fire-engine": fire_engine,
    "treehouse": scenes.treehouse,
    "octopus": creatures.octopus,
    "moated-castle": scenes.moated_castle,
    "sleeping-dragon": creatures.sleeping_dragon,
    "pirate-ship": pirate_ship,
    "corner-cafe": scenes.corner_cafe,
    "volcano-village": scenes.volcano_village,
}

if __name__ == "__main__":
    for prompt, build in PROMPTS.items():
        build().save(Path(sys.argv[1]) / prompt / "reference_apprentice.json")
