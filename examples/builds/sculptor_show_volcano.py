"""A large volcano above a fishing village, for grid 64 and the advanced palette."""

from math import atan2, cos, exp, hypot, pi, sin

from sculptor_large import frond_tree, smooth_noise
from voxels import Build, along, grain, mix

TOP = (20.0, 20.0)  # the middle of the crater


def volcano_village():
    """The mountain opens; lava finds the sea on both sides of a village that goes on hanging out its nets."""
    b = Build(64)
    land(b)
    rivers(b)
    eruption(b)
    village(b)
    harbour(b)
    jungle(b)
    return b


def height(x, z):
    far = hypot(x - TOP[0], z - TOP[1])
    turn = atan2(z - TOP[1], x - TOP[0])
    cone = 44 * exp(-((far / 17.5) ** 1.25))
    ribs = 3.2 * sin(turn * 8 + far * 0.14 + 1.2 * sin(far * 0.2)) * exp(-((far - 14) / 10) ** 2)
    plain = 5.6 - 0.24 * max(0, far - 24) + 1.6 * (smooth_noise(x, 1, z, 8) - 0.5)
    return cone * 0.88 + ribs + plain - 1.8


def land(b):
    for x in range(64):
        for z in range(64):
            angle = atan2(z - 31.5, x - 31.5)
            if hypot(x - 31.5, z - 31.5) > 30.6 + 0.8 * sin(5 * angle):
                continue
            top = height(x, z)
            far = hypot(x - TOP[0], z - TOP[1])
            if top < 3:
                depth = 3 - top
                floor = ("sand" if depth < 0.9 else "light_blue_wool" if depth < 1.8 else
                         "cyan_wool" if depth < 2.8 else "blue_wool")
                b.box(x, 0, z, x, 1, z, floor)
                b.put(x, 2, z, "water")
                b.put(x, 1, z, "water" if depth < 0.9 else floor)
                foam = top + 0.5 * sin(x * 0.5 + z * 0.3) + 0.5 * smooth_noise(x, 3, z, 3)
                if 2.7 < foam < 3.1 and depth > 0.1:
                    b.put(x, 2, z, "white_wool")
                continue
            top = int(min(top + 0.5 * grain(x, 2, z), 35))
            if far < 5.4:
                top = 31
            for y in range(0, top + 1):
                band = (y + 2 * sin(x * 0.2) + 1.6 * sin(z * 0.26) + grain(x, y, z)) % 9
                if y > 26:
                    n = grain(x, y, z)
                    kind = "obsidian" if n > 0.7 else "nether_bricks" if n > 0.3 else "netherrack"
                elif y > 13 + 3 * smooth_noise(x, 5, z, 6):
                    kind = "deepslate" if band < 5 else "black_wool" if band < 7 else "nether_bricks"
                else:
                    kind = "andesite" if band < 4 else "granite" if band < 5 else "stone"
                b.put(x, y, z, kind)
            if top <= 4:
                b.put(x, top, z, "sand" if smooth_noise(x, 8, z, 5) < 0.7 else "gravel")
                b.put(x, top - 1, z, "sandstone")
            elif top <= 13 + 3 * smooth_noise(x, 6, z, 5) and far > 9:
                b.put(x, top, z, "moss_block" if smooth_noise(x, 9, z, 5) > 0.5 else "grass_block")
                if top < 9:
                    b.box(x, top - 2, z, x, top - 1, z, "dirt")


def rivers(b):
    """Lava in beds of dark crust; where it meets the sea there is steam."""
    bed, mouths = {}, []
    for start, bend, wide, reach in ((0.20, 0.28, 2.0, 36), (1.42, -0.30, 1.8, 36), (0.82, 0.35, 1.5, 15.5),
                                     (-0.85, -0.35, 1.7, 30), (2.5, 0.45, 1.7, 28), (3.9, 0.4, 1.8, 28),
                                     (5.0, -0.3, 1.4, 22)):
        mouth = None
        for n in range(700):
            t = n / 699
            far = 3 + reach * t
            a = start + bend * sin(t * 4) * 0.8 + 0.07 * sin(t * 17)
            for w in range(-14, 15):
                side = w / 14 * (wide + 1) * (0.75 + 0.35 * t)
                x, z = round(TOP[0] + far * cos(a) - side * sin(a)), round(TOP[1] + far * sin(a) + side * cos(a))
                bed[x, z] = min(abs(w) / 14, bed.get((x, z), 1))
            x, z = TOP[0] + far * cos(a), TOP[1] + far * sin(a)
            if not mouth and b.at(round(x), 2, round(z)) == "water" and height(x, z) < 2.6:
                mouth = x, z
        if mouth:
            mouths.append(mouth)
    for (x, z), across in bed.items():
        y = b.surface(x, z)
        if y < 0:
            continue
        crust = "obsidian" if grain(x, y, z) > 0.5 else "nether_bricks"
        kind = crust if across > 0.75 else "orange_wool" if across > 0.55 and grain(x, 4, z) > 0.5 else "lava"
        if b.at(x, y, z) in ("water", "white_wool"):
            b.box(x, 1, z, x, 3 if across > 0.6 else 2, z, kind)
            continue
        b.box(x, max(0, y - 1), z, x, y, z, kind)
        if across > 0.75:
            b.put(x, y + 1, z, crust if grain(x, 6, z) > 0.5 else None)
        # Over the cliff at the back it falls in threads.
        if hypot(x - 31.5, z - 31.5) > 29.2 and across < 0.3:
            b.box(x, 0, z, x, y, z, "lava")
    for x, z in mouths:
        for i, j, k, r in ((0, 3, 0, 2.2), (1.6, 5, -1, 1.9), (-1, 7, 1.2, 2.2), (0.6, 9.6, 0, 1.6),
                           (-0.8, 11.6, 0.4, 1.1)):
            b.ball(x + i, 2 + j, z + k, r, mix(("white_wool", 3), ("light_gray_wool", 1)))


def eruption(b):
    cx, cz = TOP
    b.disc(cx, 32, cz, 5.6, "lava")
    b.disc(cx, 33, cz, 4.2, "lava")
    b.tube([(cx, 31, cz), (cx, 40, cz), (cx + 0.5, 46, cz + 0.5)], [3.8, 2.2, 3.0],
           lambda x, y, z: ("lava", "orange_wool", "lava", "yellow_concrete")[
               int((atan2(z - cz, x - cx) * 2 / pi + y * 0.16) % 4)])
    # Smoke that boils up, leans away and is lit from below.
    puffs = ((19, 46, 17, 4.4), (15, 49, 13.5, 5.6), (21, 51.5, 11.5, 5), (9.5, 50.5, 11, 5.2), (14, 55, 8.5, 6),
             (22.5, 56, 15.5, 4.8), (8, 55.5, 17, 5), (16, 58, 17, 4.6), (6.5, 53, 22.5, 3.6), (27, 53, 9, 3.6),
             (26, 57, 21, 3.2), (11.5, 58.6, 13, 4.2))
    for x, y, z, r in puffs:
        def smoke(i, j, k, x=x, y=y, z=z, r=r):
            low = (y - j) / r + 0.5 * (grain(i, j, k) - 0.5)
            near = hypot(i - cx, k - cz)
            if low > 0.5 and near < 9:
                return "orange_wool" if near < 6 and low > 0.75 else "red_concrete"
            return "black_wool" if low > 0.25 else "gray_wool" if low > -0.35 else "light_gray_wool"
        b.ball(x, y, z, r, smoke)
    # Bombs on curved trails of fire.
    for n in range(10):
        a = n * 2 * pi / 10 + 0.35
        far, up = 9 + 4 * grain(n, 1, 1), 6 + 5 * grain(n, 2, 1)
        if -2.9 < (a if a < pi else a - 2 * pi) < -1.7:
            continue
        for s in range(70):
            t = s / 69
            x, z = cx + 0.5 + far * t * cos(a), cz + 0.5 + far * t * sin(a)
            y = 44 + up * sin(pi * t * 0.8) - 7 * t * t
            b.ball(x, y, z, 1.5 - 0.6 * t, "glowstone" if t < 0.12 else "yellow_concrete" if t < 0.35 else
                   "orange_wool" if t < 0.7 else "red_concrete")
        b.ball(x, y, z, 1.5, "netherrack")
        b.put(round(x), round(y), round(z) + 1, "lava")


WALLS = ("white_concrete", "birch_planks", "terracotta", "sandstone")


def hut(b, x, z, deck, r, roof, trim, wall, door):
    """Round, on legs, under a straw hat that droops."""
    for n in range(6):
        a = n * pi / 3 + 0.3
        px, pz = round(x + (r - 0.3) * cos(a)), round(z + (r - 0.3) * sin(a))
        b.box(px, 1, pz, px, deck, pz, "spruce_log")
    b.disc(x, deck, z, r + 1.6, "spruce_planks")
    b.disc(x, deck + 1, z, r + 1.6, "dark_oak_planks", hole=r + 0.7)
    b.cylinder(x, z, deck + 1, deck + 5, r, wall)
    b.cylinder(x, z, deck + 1, deck + 4, r - 1, None)
    b.disc(x, deck + 1, z, r - 1, "glowstone")
    for n in range(5):
        a = door + n * 2 * pi / 5
        for w in (-0.16, 0.16):
            px, pz = round(x + (r - 0.3) * cos(a + w)), round(z + (r - 0.3) * sin(a + w))
            if n:
                b.box(px, deck + 3, pz, px, deck + 4, pz, "glass")
                b.put(px, deck + 5, pz, trim)
            else:
                b.box(px, deck + 1, pz, px, deck + 4, pz, "dark_oak_planks")
                qx, qz = round(x + (r + 1.2) * cos(a)), round(z + (r + 1.2) * sin(a))
                b.put(qx, deck + 1, qz, None)
    tall = round(r * 1.9)
    for step in range(tall + 1):
        t = step / tall
        lean = 1.3 * t * t
        wide = (r + 2) * (1 - t) ** 1.1 + 0.5
        b.disc(x + lean, deck + 5 + step, z - lean * 0.5, wide, trim if step % 4 == 1 else roof)
        if step == 0:
            b.disc(x, deck + 4, z, r + 2.4, roof, hole=r + 1)
    b.put(round(x + 1.3), deck + 6 + tall, round(z - 0.6), "gold_block")


HUTS = ((39, 34, 7, 3.6, "yellow_wool", "orange_wool", "white_concrete", 0.8),
        (31, 43, 6, 4.2, "red_concrete", "orange_wool", "birch_planks", 1.2),
        (48, 35, 4, 3.4, "lapis_block", "light_blue_wool", "white_concrete", 1.4),
        (45, 45, 5, 4.4, "purple_wool", "magenta_wool", "sandstone", 0.9),
        (34, 54, 4, 3.4, "cyan_wool", "light_blue_wool", "white_concrete", 0.2),
        (22, 47, 5, 3.2, "orange_wool", "yellow_wool", "terracotta", 1.0),
        (51, 26, 4, 3.2, "green_concrete", "lime_wool", "birch_planks", 1.2),
        (24, 55, 4, 2.8, "magenta_wool", "pink_wool", "white_concrete", 0.2))


def village(b):
    for place in HUTS:
        hut(b, *place)
    # Walks on posts that join the decks, with rails and lanterns.
    ways = (((48, 35, 4), (47, 40, 4), (45, 45, 5)), ((45, 45, 5), (40, 51, 4), (34, 54, 4), (24, 55, 4)),
            ((39, 34, 7), (35, 39, 7), (31, 43, 6), (22, 47, 5)), ((51, 26, 4), (52, 31, 4), (48, 35, 4)),
            ((45, 45, 5), (38, 45, 6), (31, 43, 6)), ((40, 51, 4), (44, 55, 3), (49, 57, 3)))
    for way in ways:
        points = [(x, y, z) for x, z, y in way]
        for n, (x, y, z, _) in enumerate(along(points, [1] * len(points))):
            for i in (0, 1):
                for k in (0, 1):
                    cell = int(x) + i, round(y), int(z) + k
                    if b.at(*cell) in (None, "grass_block", "moss_block", "sand", "gravel"):
                        b.put(*cell, "oak_planks" if grain(*cell) > 0.3 else "spruce_planks")
            if n % 14 == 7:
                x, y, z = int(x), round(y), int(z)
                if not b.at(x, y - 1, z) or b.at(x, y - 1, z) == "water":
                    b.box(x, 1, z, x, y - 1, z, "spruce_log")
            if n % 42 == 20 and not b.at(int(x) + 2, round(y) + 1, int(z)):
                px, py, pz = int(x) + 2, round(y), int(z)
                b.box(px, min(py, 2), pz, px, py + 2, pz, "dark_oak_planks")
                b.put(px, py + 3, pz, "glowstone")
    # Fish hung out to dry.
    for x, z, way in ((28, 49, 1), (41, 40, 0)):
        y = b.surface(x, z) + 1
        if y > 12:
            continue
        for end in (0, 6):
            b.box(x + end * way, y - 3, z + end * (1 - way), x + end * way, y + 3, z + end * (1 - way), "spruce_log")
        for n in range(7):
            b.put(x + n * way, y + 3, z + n * (1 - way), "birch_log")
            if n % 2:
                b.box(x + n * way, y + 1, z + n * (1 - way), x + n * way, y + 2, z + n * (1 - way),
                      ("light_blue_wool", "orange_wool", "cyan_wool")[n % 3])


def boat(b, x, z, long, wide, way, hull, stripe, sail=None):
    """Like a slice of melon; the sail is a belly full of wind. `way` is the direction of its bow."""
    i, k = cos(way), sin(way)
    for n in range(long * 3 + 1):
        t = n / (long * 3) * 2 - 1
        half = wide * (1 - abs(t) ** 2.4) + 0.3
        up = 2.6 * abs(t) ** 2.6
        for w in range(-12, 13):
            side = w / 12 * half
            px, pz = x + t * long / 2 * i - side * k, z + t * long / 2 * k + side * i
            b.put(round(px), round(2 + up), round(pz), hull)
            if abs(w) >= 11:
                b.put(round(px), round(3 + up), round(pz), stripe)
    if sail:
        tall = round(long * 1.15)
        b.box(round(x), 2, round(z), round(x), 3 + tall, round(z), "spruce_log")
        for n in range(tall * 2):
            v = n / (tall * 2)
            half = (0.95 * long * 0.5) * (1 - v) ** 0.8 + 0.6
            for w in range(-20, 21):
                u = w / 20
                push = 2.6 * (1 - u * u) ** 0.6 * sin(pi * (0.15 + 0.8 * v))
                px, pz = x + (0.7 + push) * i - u * half * k, z + (0.7 + push) * k + u * half * i
                b.put(round(px), round(5 + v * (tall - 3)), round(pz), sail if int(v * 6) % 2 else "white_wool")


def harbour(b):
    boat(b, 53, 50, 12, 2.2, 0.4, "oak_planks", "red_concrete", "orange_wool")
    boat(b, 43, 59, 8, 1.7, 0.9, "spruce_planks", "cyan_wool")
    boat(b, 58, 40, 8, 1.7, 1.9, "oak_planks", "yellow_concrete")
    boat(b, 33, 60, 7, 1.5, 0.1, "dark_oak_planks", "magenta_wool")
    # A small beacon on the end of a mole of boulders.
    for x, z in ((56, 27), (59, 29), (60, 32), (61, 34)):
        b.ball(x, 2, z, 2.3, lambda i, j, k: "andesite" if grain(i, j, k) > 0.4 else "cobblestone")
    for y in range(3, 14):
        b.disc(60, y, 32, 2.3 - 0.07 * (y - 3), "white_concrete" if (y // 3) % 2 else "red_concrete")
    b.disc(60, 14, 32, 2.6, "dark_oak_planks")
    b.box(59, 15, 31, 61, 16, 33, "glass")
    b.box(60, 15, 32, 60, 16, 32, "sea_lantern")
    for step, r in enumerate((2.6, 1.8, 0.8)):
        b.disc(60, 17 + step, 32, r, "oxidized_copper")


def jungle(b):
    """Palms that lean to the water, flowering bushes, terraces of green below the ash."""
    for x, z, tall, i, k in ((43, 28, 9, 3, 1), (37, 39, 9, 2, 3), (27, 40, 9, -1, 3), (17, 49, 8, -1, 3),
                             (55, 20, 8, 3, 0), (14, 54, 7, -2, 2), (46, 19, 10, 3, -2), (51, 12, 7, 2, -2),
                             (36, 31, 9, 2, 0), (6, 44, 8, -2, 2), (41, 10, 8, 1, -2)):
        y = b.surface(x, z)
        if 3 <= y <= 16 and b.at(x, y, z) in ("grass_block", "moss_block", "sand", "gravel"):
            frond_tree(b, x, y, z, tall, (i, k), "oak_log", "oak_leaves" if x % 2 else "green_wool")
            b.put(x + i, y + tall - 1, z + k + 1, "orange_wool")
    for n in range(170):
        a, far = n * 2.399, 14 + 20 * grain(n, 2, 7)
        x, z = round(TOP[0] + far * cos(a)), round(TOP[1] + far * sin(a))
        if not (0 <= x < 64 and 0 <= z < 64):
            continue
        y = b.surface(x, z)
        if y > 4 and b.at(x, y, z) in ("grass_block", "moss_block"):
            r = 1 + 0.9 * grain(n, 1, 3)
            b.ellipsoid(x, y + 0.6, z, r, r * 0.9, r, lambda i, j, k: b.at(i, j, k) or
                        ("flowering_azalea_leaves" if n % 3 == 0 else "oak_leaves" if n % 3 == 1 else "green_wool"))
