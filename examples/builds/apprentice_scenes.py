"""The apprentice's houses and landscapes."""

from math import atan2, cos, hypot, pi, sin

from apprentice_parts import (drawing, fat_chimney, fish, flower, pal, paste, puff, quilt, ripples, rod,
                              sheep, stamp,
                              tall_door)
from voxels import Build, grain


def lighthouse():
    """Drums stacked like cups, a little askew each; two crutches hold them up."""
    b = Build()
    quilt(b, (".wwwww..", ".wwwwww.", "wwwwwwww", "wwwwwwww", "wwwwwwww", "wwwwwwww", ".wwwwww.", "..wwwww."))
    ripples(b, 0, (4, 2), (1, 14), (24, 5), (27, 18), (20, 28), (6, 26), (14, 2), (1, 20))
    for x, y, z, rx, ry, rz, kind in ((12, 1, 14, 9.5, 4, 8.5, "stone"),
                                      (9, 3, 12, 5.5, 4.4, 5.5, "cobblestone"),
                                      (21, 1, 19, 5.5, 3, 4.6, "cobblestone"),
                                      (15, 3, 15, 5.5, 3.5, 6, "stone"),
                                      (24, 1, 10, 3.4, 3.4, 3, "stone"),
                                      (5, 1, 20, 3, 2.5, 3, "cobblestone")):
        puff(b, x, y, z, rx, ry, rz, kind)
    for x in range(5, 20):
        for z in range(6, 22):
            if b.surface(x, z) in (5, 6) and (x // 3 + z // 3) % 3:
                b.put(x, b.surface(x, z), z, "grass_block")
    # The drums. The red ran out, so one is orange.
    drums = ((11, 14, 5.6, "red_wool"), (11.5, 14.5, 5.0, "white_wool"), (13, 14, 4.9, "red_wool"),
             (14, 14.5, 4.2, "white_wool"), (16, 14, 4.5, "orange_wool"), (17.5, 14.5, 4.0, "white_wool"))
    for n, (x, z, r, kind) in enumerate(drums):
        b.cylinder(x, z, 5 + 3 * n, 7 + 3 * n, r, kind)
    tall_door(b, 9, 13, 7, "+z", "blue_wool", 24)
    stamp(b, ("BBB", "BLB", "BBB"), 15, 19, "+z", 24)
    stamp(b, ("BBB", "BLB", "BBB"), 15, 12, "+x", 24)
    stamp(b, ("BBB", "BLB", "BBB"), 15, 20, "+x", 24)
    stamp(b, ("BBB", "BLB", "BBB"), 16, 17, "-z", 4)
    stamp(b, ("BBB", "BLB", "BBB"), 13, 15, "-x", 4)
    b.box(8, 5, 20, 12, 5, 21, "oak_planks")
    b.box(8, 4, 22, 12, 4, 22, "oak_planks")
    b.box(8, 3, 23, 12, 3, 23, "oak_planks")
    b.box(8, 2, 24, 12, 2, 25, "oak_planks")
    for x in (8, 12):
        b.box(x, 0, 25, x, 2, 25, "oak_log")
    # A lantern much too big for it, and the light one can see.
    b.disc(18, 23, 14, 7.2, "blue_wool")
    b.disc(18, 24, 14, 7.2, "yellow_wool", hole=6.2)
    b.cylinder(18, 14, 24, 27, 5.4, "glass")
    b.cylinder(18, 14, 24, 27, 4.3, "glowstone")
    for i, k in ((4, 4), (-4, 4), (4, -4), (-4, -4)):
        b.box(18 + i, 24, 14 + k, 18 + i, 27, 14 + k, "black_wool")
    for y, r in ((28, 7.2), (29, 5.6), (30, 3.8)):
        b.disc(18, y, 14, r, "red_wool" if y % 2 == 0 else "purple_wool")
    b.disc(18, 31, 14, 1.2, "gold_block")
    # Rays, long and short, as on a drawing of the sun.
    for n in range(10):
        a = 2 * pi * n / 10 + 0.16
        far = 13.5 if n % 2 else 11
        rod(b, (round(18 + 7 * cos(a)), 25, round(14 + 7 * sin(a))),
            (round(18 + far * cos(a)), 26 - n % 2 * 2, round(14 + far * sin(a))), "yellow_wool")
    # Crutches.
    for a, c in (((26, 1, 10), (20, 21, 13)), ((24, 2, 19), (19, 21, 16))):
        rod(b, a, c, "oak_log")
        rod(b, (a[0], a[1], a[2] + 1), (c[0], c[1], c[2] + 1), "oak_log")
    # Row, row.
    puff(b, 26, 1.4, 26, 4, 1.6, 2.6, "orange_wool")
    b.box(24, 2, 25, 28, 3, 27, None)
    pal(b, 26, 2, 26, "+z", "yellow_wool", "white_wool", "up", "yellow_wool")
    fish(b, 4, 3, 28, "+x", "purple_wool", "yellow_wool")
    return b


def windmill():
    """Wider at the top than at the foot; its four sails are of four minds and three lengths."""
    b = Build()
    quilt(b, (".gggggg.", "ggggggg.", "gggggggg", "gggggggg", "gggggggg", "gggggggg", ".ggggggg", "..ggggg."))
    for y, r in ((2, 13), (3, 11.6), (4, 10.2), (5, 8.6)):
        puff(b, 15.5, y, 12, r, 0.9, r - 0.6, "grass_block" if y % 2 else "green_wool")
    for y in range(6, 23):
        r = 5.0 + (y - 6) * 0.15
        x = 15.5 + 0.7 * sin(y * 0.45)
        puff(b, x, y, 11.5, r, 0.9, r, "white_wool" if y > 8 else "cobblestone", 5)
        if y in (11, 16, 21):
            puff(b, x, y, 11.5, r + 0.4, 0.9, r + 0.4, "orange_wool", 5)
    puff(b, 15.5, 23, 11.5, 8.4, 7, 8.2, lambda x, y, z: "purple_wool" if y >= 22 else b.at(x, y, z), 2.5)
    b.repaint(lambda x, y, z, old: old == "purple_wool" and (x // 2 + 2 * (z // 2) + y // 2) % 7 == 0,
              "yellow_wool")
    b.box(15, 30, 11, 16, 31, 12, "gold_block")
    b.box(12, 31, 11, 14, 31, 11, "gold_block")
    tall_door(b, 13, 15, 9, "+z", "red_wool", 22)
    for side, left, top in (("+x", 13, 15), ("-x", 10, 19), ("-z", 17, 14), ("-z", 20, 20), ("+x", 11, 20)):
        stamp(b, ("BBBB", "BLLB", "BLLB", "BBBB"), left, top, side)
    for y in (2, 3, 4, 5):
        b.box(14, y, 18, 17, y, 31 - 2 * y, "cobblestone" if y % 2 else "stone")
    sails(b)
    sheep(b, 27, 2, 22, "+x")
    sheep(b, 5, 2, 25, "+z")
    for x, z, tall in ((29, 12, 9), (27, 8, 6), (3, 14, 7), (28, 15, 5)):
        flower(b, x, 2, z, tall, "yellow_wool")
        for i, k in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
            b.put(x + i, 2 + tall, z + k, "yellow_wool")
    pal(b, 21, 2, 27, "+z", "red_wool", hat="white_wool")
    return b


def sails(b):
    """Crossed spars with a cloth on one side of each."""
    cx, cy = 15, 20
    b.box(15, 19, 17, 16, 20, 23, "black_wool")
    for i, j, long, kind in ((1, 1, 11, "red_wool"), (-1, 1, 11, "yellow_wool"), (-1, -1, 13, "blue_wool"),
                             (1, -1, 9, "green_wool")):
        x0, y0 = cx + (i > 0), cy - (j < 0)
        for n in range(1, long + 1):
            x, y = x0 + i * n, y0 + j * n
            b.put(x, y, 22, "oak_log")
            b.put(x + i, y, 22, "oak_log")
            if n < 4:
                continue
            # The cloth hangs off to one side, square to the spar.
            for wide in range(1, 5):
                p, q = x + wide * j, y - wide * i
                edge = wide == 4 or n in (4, long) or n % 4 == 0
                b.put(p, q, 22, "white_wool" if edge else kind)
                b.put(p + i, q, 22, "white_wool" if edge else kind)
    puff(b, 15.5, 19.5, 23.5, 2, 2, 1.4, "red_wool")
    b.put(15, 20, 25, "gold_block")


def stone_bridge():
    """As steep as a slide, of every stone there was and some that are none."""
    b = Build()
    quilt(b, ("gggwww.g", "ggwwwwgg", "ggwwwwgg", "ggwwwwgg", "ggwwwwgg", "ggwwwwgg", "ggwwwwwg", "g.wwwwgg"))
    ripples(b, 0, (13, 2), (18, 6), (11, 26), (19, 29), (15, 22), (21, 24))
    for x in range(0, 8):
        for z in range(32):
            if b.at(x, 1, z) and b.at(x, 1, z) != "water":
                b.box(x, 1, z, x, 2, z, "dirt")
                b.put(x, 2, z, b.at(x, 1, z) and ("grass_block" if (x // 4 + z // 4) % 2 == 0
                                                  else "green_wool"))

    def way(x):
        """The height of the road."""
        return 4 + 16.5 * max(0, sin(pi * (x + 1) / 33)) ** 1.15

    def stones(x, y, z):
        n = grain((x + (y // 2 % 2) * 2) // 4, y // 2, z // 16 + 3)
        return ("stone" if n < 0.42 else "cobblestone" if n < 0.78 else "bricks" if n < 0.88 else
                "iron_block" if n < 0.92 else "purple_wool" if n < 0.955 else "blue_wool")

    def opening(x, y):
        big = ((x - 17.5) / 8.6) ** 2 + (y / 15.5) ** 2 < 1
        small = ((x - 4.5) / 2.3) ** 2 + ((y - 1) / 5.2) ** 2 < 1
        return big or small

    def ring(x, y):
        return ((x - 17.5) / 10.2) ** 2 + (y / 17.3) ** 2 < 1

    for x in range(32):
        top = int(way(x))
        for y in range(0, top + 1):
            if opening(x, y):
                continue
            for z in range(11, 21):
                b.put(x, y, z, "stone" if ring(x, y) and z in (11, 20) else stones)
            if ring(x, y):
                for z in (10, 21):
                    b.put(x, y, z, "bricks" if (x + y) % 3 else "white_wool")
        b.box(x, top, 12, x, top, 19, "oak_planks" if x % 5 == 2 else "cobblestone")
        for z in (11, 20):
            b.box(x, top, z, x, top + 1, z, "stone" if x % 4 < 2 else "bricks")
            if x % 4 < 2:
                b.put(x, top + 2, z, "stone")
    # The keystone is a heart.
    for side, left in (("+z", 14), ("-z", 20)):
        stamp(b, (" RR RR ", "RRRRRRR", "RRRRRRR", " RRRRR ", "  RRR  ", "   R   "), left, 21, side, out=1)
    # Lamps for giants.
    for x, z, tall in ((2, 11, 8), (29, 11, 7), (2, 20, 4), (29, 20, 2)):
        y = int(way(x)) + 2
        b.box(x, y - 1, z, x, y + tall, z, "iron_block")
        puff(b, x, y + tall + 2, z, 2, 2, 2, "glowstone")
        b.box(x - 1, y + tall + 4, z - 1, x + 1, y + tall + 4, z + 1, "black_wool")
    # Somebody fishes; somebody bites.
    pal(b, 3, 3, 26, "+z", "yellow_wool", arms="wide")
    rod(b, (6, 5, 26), (11, 11, 26), "oak_log")
    b.box(11, 4, 26, 11, 10, 26, "white_wool")
    fish(b, 14, 3, 26, "-x", "orange_wool", "red_wool")
    duck(b)
    flower(b, 29, 2, 27, 5, "purple_wool")
    flower(b, 29, 2, 5, 7, "orange_wool")
    flower(b, 3, 3, 4, 4, "yellow_wool")
    return b


def duck(b):
    puff(b, 21, 2.5, 4.5, 4.6, 2.8, 3.6, "yellow_wool", 2.4)
    b.box(25, 4, 3, 26, 5, 6, "yellow_wool")
    puff(b, 18.5, 7, 4.5, 3, 3, 3, "yellow_wool", 2.4)
    b.box(14, 6, 3, 15, 6, 6, "orange_wool")
    for z in (2, 7):
        b.put(17, 8, z, "black_wool")


def treehouse():
    """A house bigger than its tree, hung on one side; the oak bears it with patience."""
    b = Build()
    quilt(b, (".ggggg..", "ggggggg.", "gggggggg", "gggggggg", "gggggggg", "gggggggg", "gggggggg", ".gggggg."))
    b.tube([(9, 1, 12), (8, 8, 12.5), (10.5, 15, 13), (13, 23, 13)], [5.6, 4.2, 3.8, 3.2], "oak_log")
    for foot in ((2, 1, 10), (5, 1, 19), (14, 1, 17), (9, 1, 4), (15, 1, 9)):
        b.tube([(9, 4, 12), ((foot[0] + 9) / 2, 3, (foot[2] + 12) / 2), foot], [2.2, 1.7, 1.0], "oak_log")
    b.tube([(9, 14, 12), (5, 17, 9), (4, 21, 7)], [1.8, 1.4, 1.2], "oak_log")
    b.tube([(10, 10, 14), (14, 10, 17), (20, 10, 18)], [1.8, 1.5, 1.2], "oak_log")
    for x, y, z, rx, ry, rz, kind in ((12, 26, 12, 9, 5.4, 8.5, "oak_leaves"),
                                      (4.5, 23, 7, 4.6, 4.4, 5, "green_wool"),
                                      (19, 28, 7, 5, 3.8, 5, "green_wool"),
                                      (6, 25, 19, 5, 4, 4.4, "oak_leaves"),
                                      (11, 27, 3.5, 4, 3.6, 3.6, "oak_leaves")):
        puff(b, x, y, z, rx, ry, rz, kind)
    for x, y, z in ((3, 22, 12), (12, 24, 20), (20, 27, 12), (5, 20, 4), (8, 29, 20), (15, 30, 8),
                    (0, 24, 7), (24, 28, 7), (21, 26, 4)):
        puff(b, x, y, z, 1.1, 1.1, 1.1, "red_wool", 2)
    # The oak's old face, on the side without the house.
    stamp(b, ("WWW   WWW",
              "WKK   KKW",
              "WKK   KKW",
              "    S    ",
              "    S    ",
              "  SSSSS  ",
              " SSKKKSS "), 5, 11, "+z", 20)
    house(b)
    # A ladder that goes up crookedly, a swing, a slide to get down.
    for y in range(1, 12):
        x = 22 + (y // 4) % 2
        b.box(x, y, 27, x + 3, y, 27, "oak_planks" if y % 2 else None)
        b.put(x, y, 27, "oak_log")
        b.put(x + 3, y, 27, "oak_log")
    for step in range(14):
        y = 12 - step * 10 // 13
        b.box(29, y, 14 - step, 31, y, 14 - step, "yellow_wool")
        b.box(28, y, 14 - step, 28, y + 1, 14 - step, "red_wool")
    b.box(2, 6, 4, 2, 20, 4, "oak_planks")
    b.box(5, 6, 4, 5, 20, 4, "oak_planks")
    b.box(1, 5, 3, 6, 5, 5, "red_wool")
    pal(b, 14, 2, 27, "+z", "green_wool", arms="up")
    flower(b, 18, 2, 28, 5, "yellow_wool")
    flower(b, 2, 2, 21, 7, "purple_wool")
    flower(b, 20, 2, 5, 4, "white_wool")
    return b


def house(b):
    """On a deck that sags towards high x, with one thin leg and one thick one."""
    part = Build()
    part.box(14, 11, 12, 31, 11, 26, "oak_planks")
    part.walls(14, 12, 12, 31, 12, 26, "white_wool")
    part.box(24, 12, 26, 26, 12, 26, None)
    part.box(29, 12, 12, 31, 12, 14, None)
    part.walls(16, 12, 14, 28, 19, 23, lambda x, y, z: "orange_wool" if y < 15 else "yellow_wool")
    for x in (16, 28):
        for z in (14, 23):
            part.box(x, 12, z, x, 19, z, "oak_log")
    tall_door(part, 22, 19, 6, "+z", "blue_wool", 24)
    for side, left in (("+z", 17), ("-z", 24), ("+x", 20)):
        stamp(part, ("RRRR",
                     "RFFR",
                     "RLFR",
                     "RRRR"), left, 17, side, 25 if side == "+z" else 12 if side == "-z" else 29)
    # A roof in two halves: the red did not reach.
    for step in range(6):
        part.box(15, 20 + step, 12 + step, 30, 20 + step, 13 + step, "red_wool")
        part.box(15, 20 + step, 24 - step, 30, 20 + step, 25 - step, "purple_wool")
        if step:
            part.box(16, 19 + step, 13 + step, 16, 19 + step, 24 - step, "white_wool")
            part.box(28, 19 + step, 13 + step, 28, 19 + step, 24 - step, "white_wool")
    fat_chimney(part, 24, 22, 19, 7)
    paste(b, part, lambda x, y, z: (x, y - (1 if x > 20 else 0) - (1 if x > 27 else 0), z))
    rod(b, (30, 9, 25), (29, 1, 27), "oak_log")
    b.box(26, 1, 14, 28, 9, 16, "oak_log")
    b.box(17, 4, 24, 17, 10, 24, "oak_log")
    b.box(17, 1, 24, 18, 4, 25, "bricks")


def moated_castle():
    """Four towers of four heights; the gate is a mouth and the drawbridge its tongue."""
    b = Build()
    quilt(b, ("gggggggg", "gwwwwwwg", "gwggggwg", "gwggggwg", "gwggggwg", "gwggggwg", "gwwwwwwg", "ggggggg."))
    ripples(b, 0, (5, 6), (25, 12), (8, 26), (24, 22), (18, 5), (5, 15))

    def wall(x, y, z):
        n = grain((x + (y // 2 % 2) * 2) // 3, y // 2, z // 3)
        return "stone" if n < 0.55 else "cobblestone" if n < 0.9 else "blue_wool" if n < 0.95 else "orange_wool"

    for x1, z1, x2, z2, top in ((9, 20, 22, 22, 14), (9, 9, 22, 11, 11), (9, 9, 11, 22, 12),
                                (20, 9, 22, 22, 10)):
        b.box(x1, 2, z1, x2, top, z2, wall)
        for x in range(x1, x2 + 1):
            for z in range(z1, z2 + 1):
                if (x + z) % 4 < 2 and (x in (x1, x2) or z in (z1, z2)):
                    b.put(x, top + 1, z, "stone")
    # Towers.
    for x, z, r, top, roof, tall in ((9, 21, 4.3, 19, "red_wool", 9), (22, 21, 3.6, 16, "yellow_wool", 11),
                                     (9.5, 10, 3.4, 21, "blue_wool", 8),
                                     (22, 10, 4.6, 13, "purple_wool", 10)):
        for y in range(2, top + 1):
            lean = max(0, y - 8) // 4 if roof == "blue_wool" else 0
            b.disc(x - lean, y, z, r, wall)
        lean = max(0, top - 8) // 4 if roof == "blue_wool" else 0
        b.disc(x - lean, top, z, r + 1, "white_wool")
        for up in range(tall):
            b.disc(x - lean, top + 1 + up, z, (r + 1.6) * (1 - up / tall), roof)
        b.box(round(x - lean), top + tall, round(z), round(x - lean), min(31, top + tall + 2), round(z),
              "oak_log")
        for side in ("+z", "-z", "+x", "-x"):
            across = round(x - lean) if side[1] == "z" else round(z)
            left = across - 1 if side in ("+z", "-x") else across + 1
            if top > 14 or side in ("-z", "+x"):
                stamp(b, ("KKK", "KLK", "KKK"), left, top - 3, side)
    # The face between the front towers.
    stamp(b, ("  RRRRRR  ",
              " RKKKKKKR ",
              "RKWKWKWKKR",
              "RKKKKKKKKR",
              "RKKKKKKKKR",
              "RKKKKKKKKR",
              "RKKKKKKKKR",
              "RKKKKKKKKR"), 11, 9, "+z", 24)
    stamp(b, ("WWW", "WKK", "WKK"), 12, 13, "+z", 24)
    stamp(b, ("WWW", "KKW", "KKW"), 17, 13, "+z", 24)
    b.box(12, 2, 23, 19, 2, 29, lambda x, y, z: "red_wool" if z % 3 else "oak_log")
    for x in (11, 20):
        rod(b, (x, 9, 23), (x, 3, 29), "iron_block")
        b.put(x, 2, 29, "iron_block")
    # A flag for a much larger castle.
    b.box(15, 10, 10, 15, 27, 10, "oak_log")
    drawing(b, ("PPPPPPPPP", "PPAPAPAPP", "PPAAAAAPP", "PPPPPPPPP", "PPPP PPPP"), 16, 27, 10)
    b.put(15, 28, 10, "gold_block")
    # The king in his yard; the beast in the moat.
    b.box(12, 2, 12, 19, 7, 19, "cobblestone")
    b.box(13, 8, 13, 17, 14, 17, wall)
    b.box(13, 15, 13, 17, 15, 17, "red_wool")
    pal(b, 15, 16, 15, "+z", "red_wool", "orange_wool", "up", "crown")
    crocodile(b)
    flower(b, 2, 2, 24, 5, "red_wool")
    flower(b, 29, 2, 3, 6, "orange_wool")
    flower(b, 30, 2, 16, 4, "yellow_wool")
    pal(b, 5, 2, 29, "+x", "green_wool", "yellow_wool", "up")
    return b


def crocodile(b):
    puff(b, 26, 1.4, 18, 1.8, 1.9, 8, "green_wool")
    b.box(24, 1, 23, 28, 1, 29, "green_wool")
    b.box(24, 2, 24, 28, 2, 29, lambda x, y, z: "white_wool" if (x + z) % 2 else "red_wool")
    b.box(24, 3, 23, 28, 4, 28, "green_wool")
    for x in (24, 28):
        b.box(x, 5, 24, x, 6, 25, "white_wool")
        b.put(x, 6, 25, "black_wool")
    for z in range(11, 23, 2):
        b.put(26, 4, z, "yellow_wool")


def corner_cafe():
    """Two walls of windows under one awning, and a cup on the roof as big as the café."""
    b = Build()
    quilt(b, (".bbbbbb.", "bbbbbbbb", "bbbbbbbb", "bbbbbbbb", "bbbbbbbb", "bbbbbbbb", "bbbbbbbb", "bbbbbbb."))
    # House, with its corner cut off for the door.
    b.box(3, 2, 3, 19, 17, 19, "yellow_wool")
    b.box(3, 2, 3, 19, 3, 19, "bricks")
    b.solid(lambda x, y, z: x + z > 33, None, (14, 2, 14, 20, 11, 20))
    b.solid(lambda x, y, z: x + z == 33, lambda x, y, z: "purple_wool", (14, 2, 14, 19, 11, 19))
    b.box(19, 2, 19, 19, 11, 19, lambda x, y, z: "red_wool" if y % 2 else "white_wool")
    for i in (14, 19):
        b.box(i, 2, 33 - i, i, 11, 33 - i, "oak_log")
    b.box(15, 2, 18, 18, 9, 18, None)
    for x in (15, 16, 17, 18):
        z = 33 - x
        b.box(x, 2, z, x, 10, z, "red_wool" if x in (16, 17) else "oak_log")
        b.put(x, 11, z, "oak_log")
    b.put(17, 6, 16, "gold_block")
    for side, first in (("+z", 4), ("+x", 12)):
        stamp(b, ("BBBBBBBBB",
                  "BFFFBFFFB",
                  "BFLFBFLFB",
                  "BFFFBFFFB",
                  "BFFFBFFFB",
                  "BBBBBBBBB"), first, 9, side, 20)
    for side, left in (("-z", 17), ("-x", 5)):
        stamp(b, ("BBBB   BBBB", "BFFB   BLFB", "BLFB   BFFB", "BBBB   BBBB"), left, 14, side)
        stamp(b, ("RRRR   OOOO", "RFFR   OFFO", "RFFR   OFFO", "RRRR   OOOO"), left, 8, side)
    # Awning.
    for out in range(5):
        y = 11 - out // 2
        for i in range(3, 20 + out):
            kind = "red_wool" if i // 2 % 2 else "white_wool"
            if i <= 18 + out:
                step = 1 if out % 2 == 0 and out else 0
                b.box(i, y, 20 + out, i, y + step, 20 + out, kind)
                b.box(20 + out, y, i, 20 + out, y + step, i, kind)
    # The name; the E would not stay up.
    for side, left in (("+z", 4), ("+x", 18)):
        stamp(b, ("BBB  B  BBB    ",
                  "B   B B B   BBB",
                  "B   BBB BB  B  ",
                  "B   B B B   BB ",
                  "BBB B B B   B  ",
                  "            BBB"), left, 17, side)
    # Roof edge, chimney, the cup.
    b.walls(2, 18, 2, 20, 18, 20, "red_wool")
    b.box(3, 18, 3, 19, 18, 19, "oak_planks")
    cup(b)
    fat_chimney(b, 4, 18, 4, 6, wide=3)
    tables(b)
    return b


def cup(b):
    b.disc(12.5, 19, 12.5, 7.4, "white_wool")
    for y in range(20, 28):
        b.disc(12.5, y, 12.5, 4.4 + (y - 20) * 0.22, "blue_wool" if y in (23, 24) else "white_wool")
    b.disc(12.5, 27, 12.5, 5, "oak_log")
    for x, y in ((18, 26), (19, 26), (20, 26), (20, 25), (20, 24), (20, 23), (19, 22), (18, 22), (17, 22)):
        b.box(x, y, 12, x, y, 13, "white_wool")
    for x, z, way in ((10, 13, 1), (14, 11, -1)):
        for up, side in ((28, 0), (29, 0), (29, 1), (30, 1), (31, 1), (31, 0)):
            b.put(x + side * way, up, z, "white_wool")


def tables(b):
    """Parasols of one size, far too large."""
    for x, z, kind, other in ((7, 27, "green_wool", "yellow_wool"), (27, 8, "purple_wool", "white_wool")):
        b.box(x, 2, z, x, 9, z, "oak_log")
        b.disc(x, 4, z, 2.3, "white_wool")
        for y, r in ((9, 4.6), (10, 3.4), (11, 1.6)):
            b.disc(x, y, z, r, lambda i, j, k: kind if int((atan2(k - z, i - x) / pi + 1) * 3.99) % 2
                   else other)
        b.put(x, 12, z, "gold_block")
        for i, k in ((4, 0), (-4, 0)):
            b.put(x + i, 2, z + k, "red_wool")
            b.box(x + i, 2, z + k, x + i, 3, z + k + 1, "red_wool")
        b.put(x + 1, 5, z + 1, "orange_wool")
        b.put(x - 1, 5, z + 1, "glowstone")
    pal(b, 22, 2, 22, "+z", "white_wool", "black_wool", "wide")
    pal(b, 15, 2, 28, "+x", "green_wool", "yellow_wool", "wave")
    # A lamp that nobody measured.
    b.box(28, 2, 27, 28, 9, 27, "black_wool")
    b.box(29, 9, 27, 29, 15, 27, "black_wool")
    puff(b, 29, 17, 27, 2.2, 2.2, 2.2, "glowstone")
    b.disc(29, 20, 27, 1.5, "black_wool")


def volcano_village():
    """A mountain like a party hat; one house is about to be sorry."""
    b = Build()
    quilt(b, ("gggggggg", "gggggggg", "gggggggg", "ggggggss", "sssssssw", "wssswwww", "wwwwwwww", ".wwwwww."))
    ripples(b, 0, (4, 27), (20, 22), (27, 24), (14, 29), (23, 28))

    def rock(x, y, z):
        return "cobblestone" if (y // 2 + x // 4) % 3 == 0 else "stone"

    for y in range(2, 24):
        b.disc(12.5 + (y - 2) * 0.1, y, 9, 11.6 - (y - 2) * 0.37, rock)
    b.disc(14.7, 23, 9, 2.8, "orange_wool")
    b.disc(14.7, 22, 9, 2.2, "orange_wool")
    # Lava, yellow in the middle and red at its edges, down every side.
    for way, last, broad in ((0.35, 4, 2.2), (1.4, 2, 3.2), (2.8, 6, 2.0), (4.1, 2, 2.6), (5.3, 8, 2.0)):
        for y in range(23, last - 1, -1):
            cx, r = 12.5 + (y - 2) * 0.1, 11.6 - (y - 2) * 0.37
            turn = way + 0.22 * sin(y * 0.55 + way)
            for x in range(32):
                for z in range(32):
                    far = hypot(x - cx, z - 9)
                    off = abs((atan2(z - 9, x - cx) - turn + pi) % (2 * pi) - pi) * far
                    if r - 1.4 < far <= r + 0.9 and off <= broad * (0.65 + (23 - y) / 40):
                        b.put(x, y, z, "yellow_wool" if off < 0.7 else "orange_wool" if off < 1.7
                              else "red_wool")
    # What comes out of it: a fountain, balls of fire, a cloud.
    b.cylinder(14.7, 9, 23, 26, 1.6, "orange_wool")
    b.cone(14.7, 9, 26, 28, 1.6, 3, "red_wool")
    for x, y, z, kind in ((20, 29, 9, "red_wool"), (5, 23, 18, "orange_wool"), (15, 30, 14, "yellow_wool"),
                          (15, 30, 9, "yellow_wool"),
                          (22, 25, 13, "orange_wool"), (23, 28, 3, "red_wool"), (6, 25, 6, "red_wool")):
        puff(b, x, y, z, 1.7, 1.7, 1.7, kind, 2.2)
    for x, y, z, r in ((12, 29, 7, 2.4), (8, 29, 5, 3.2), (3, 29, 3, 2.6), (11, 30, 2, 1.8)):
        puff(b, x, y, z, r, r * 0.7, r, "black_wool")
    hut(b, 26, 2, 12, "red_wool", "white_wool", 4)
    hut(b, 4, 2, 21, "purple_wool", "yellow_wool", 3)
    hut(b, 21, 2, 19, "blue_wool", "orange_wool", 3)
    # Pier, boats, a catch.
    b.box(13, 2, 19, 15, 2, 29, "oak_planks")
    for z in (22, 25, 28):
        for x in (12, 16):
            b.box(x, 0, z, x, 3, z, "oak_log")
    for x, z, kind in ((21, 27, "red_wool"), (7, 28, "yellow_wool")):
        puff(b, x, 1.4, z, 4, 1.6, 2, kind)
        b.box(x - 2, 2, z, x + 2, 3, z, None)
        b.box(x, 1, z, x, 9, z, "oak_log")
        for up in range(5):
            b.box(x + 1, 8 - up, z, x + 1 + up, 8 - up, z, "white_wool")
    fish(b, 28, 3, 28, "-x", "orange_wool", "yellow_wool")
    pal(b, 14, 3, 26, "+z", "green_wool", "black_wool", "up")
    pal(b, 10, 2, 21, "+z", "blue_wool", "orange_wool", "up")
    return b


def hut(b, x, y, z, roof, wall, half):
    """A door, a roof, and hardly a wall."""
    b.box(x - half + 1, y, z - half + 1, x + half - 1, y + 4, z + half - 1, wall)
    for step in range(half + 2):
        r = half + 1 - step
        b.box(x - r, y + 5 + step, z - r, x + r, y + 5 + step, z + r, roof if step % 2 == 0 else wall)
    b.box(x - 1, y, z + half - 1, x + 1, y + 4, z + half - 1, "oak_log")
    b.box(x, y, z + half - 1, x, y + 3, z + half - 1, "black_wool")
    stamp(b, ("KKK", "KLK", "KKK"), z + 1, y + 4, "+x", x + half)
    stamp(b, ("KKK", "KLK", "KKK"), z - 1, y + 4, "-x", x - half)
