"""A balloon, a mill, a bridge and a fire engine: things in wind, water and a hurry."""

from math import atan2, cos, exp, hypot, pi, sin

from sculptor_ground import ROCK, inside_shore, strata
from voxels import Build, grain, mix


def hot_air_balloon():
    """A fat drop with a twist, leaning on the wind over a sea of cloud."""
    b = Build()
    clouds(b)
    envelope(b)
    basket(b)
    return b


def clouds(b):
    """A floor of them, and one that comes by behind the balloon."""
    def cloud(x, y, z):
        return "white_wool"

    for x, z, r, y in ((7, 8, 6, -0.5), (19, 6, 5.2, -0.5), (26, 15, 5, -1.5), (21, 25, 5.4, -1.5), (9, 24, 5.6, -0.5),
                       (4, 16, 4.4, 0), (27, 24, 3.4, 0), (14, 29, 3, 0), (28, 8, 3.2, 0)):
        b.ellipsoid(x, y, z, r, r * 0.62, r, cloud)
        a = 2.4 * x
        b.ball(x + r * 0.4 * cos(a), y + r * 0.4, z + r * 0.4 * sin(a), r * 0.52, cloud)
    for x, y, z, r in ((3.5, 19, 5, 3), (6, 20, 3, 2.4), (1, 18.5, 8, 2)):
        b.ellipsoid(x, y, z, r, r * 0.7, r, cloud)


def girth(v):
    """The radius of the balloon at a height from 0 to 1: a drop, round above, drawn in below."""
    if v > 0.5:
        return 11.4 * (1 - ((v - 0.5) / 0.52) ** 2) ** 0.5
    return 3.4 + 8 * sin(pi * v) ** 0.85


def envelope(b):
    stripes = ("red_wool", "orange_wool", "yellow_wool", "white_wool", "blue_wool", "purple_wool")

    def lean(v):
        return 15.5 + 1.8 * v * v, 15.5 - 1.2 * v * v

    low, high = 10, 31
    for y in range(low, high + 1):
        v = (y - low) / (high - low)
        r = girth(v)
        cx, cz = lean(v)
        for x in range(32):
            for z in range(32):
                angle = atan2(z - cz, x - cx) + 1.5 * v
                gore = (angle * 12 / (2 * pi)) % 1
                bulge = r * (0.95 + 0.07 * sin(pi * gore))
                if max(0, bulge - 2.2) * (0 < v < 0.9) - (v >= 0.9) < hypot(x - cx, z - cz) <= bulge:
                    kind = stripes[int(angle * 12 / (2 * pi)) % 6]
                    b.put(x, y, z, kind)
    b.disc(lean(1)[0], 31, lean(1)[1], 2.4, "gold_block")
    b.disc(15.5, 10, 15.5, 4, "gold_block", hole=2.9)
    # A string of pennants around it, hanging in loops.
    for n in range(240):
        a = n * 2 * pi / 240
        drop = abs(sin(a * 4))
        v = 0.36 - 0.07 * drop
        r = girth(v) + 0.8
        cx, cz = lean(v)
        y = round(low + v * (high - low))
        b.put(round(cx + r * cos(a)), y, round(cz + r * sin(a)), "white_wool" if drop > 0.25 else "gold_block")


def basket(b):
    for y, r in ((2, 2.3), (3, 2.8), (4, 3.0), (5, 3.2)):
        b.disc(15.5, y, 15.5, r, "oak_planks" if y % 3 else "red_wool")
    b.disc(15.5, 5, 15.5, 2.2, None)
    b.disc(15.5, 6, 15.5, 3.6, "oak_log", hole=2.4)
    for i, k in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        x, z = 15 + (i > 0) + 2 * i, 15 + (k > 0) + 2 * k
        b.box(x, 6, z, x, 11, z, "oak_log")
        x, z = round(15.5 + 2.55 * i), round(15.5 + 2.55 * k)
        b.box(x + i, 3, z + k, x + i, 4, z + k, "sand")
        b.put(x + i, 5, z + k, "oak_log")
    # The burner and its flame; two travellers, one in a red cap.
    b.box(15, 9, 15, 16, 9, 16, "iron_block")
    b.line((13, 9, 13), (18, 9, 18), "iron_block")
    b.line((18, 9, 13), (13, 9, 18), "iron_block")
    b.box(15, 10, 15, 16, 12, 16, "glowstone")
    b.box(15, 13, 15, 15, 14, 15, "orange_wool")
    for x, z, coat, hat in ((14, 16, "green_wool", "red_wool"), (17, 15, "purple_wool", "black_wool")):
        b.put(x, 5, z, coat)
        b.put(x, 6, z, coat)
        b.put(x, 7, z, "sand")
        b.put(x, 8, z, hat)
    b.put(18, 7, 17, "yellow_wool")


MILL = 15.5, 11.5  # where the windmill stands
FACE = -0.42, 0.91  # which way its sails look


def windmill():
    """A bottle of a mill that bends to its sails, on a hill like a wave, in tulips."""
    b = Build()
    hill(b)
    mill(b)
    sails(b)
    return b


def hill_top(x, z):
    far = hypot((x - MILL[0]) * 0.95, z - MILL[1])
    turn = atan2(z - MILL[1], x - MILL[0])
    return 1.2 + 8.6 * exp(-(far / 9.2) ** 2.4) + 1.5 * sin(turn * 2 + far * 0.35) * exp(-((far - 8) / 5) ** 2)


def hill(b):
    flowers = ("red_wool", "yellow_wool", "purple_wool", "orange_wool", "white_wool")
    for x in range(32):
        for z in range(32):
            if not inside_shore(x, z):
                continue
            top = max(1, int(hill_top(x, z)))
            b.box(x, 0, z, x, top, z, "dirt")
            b.put(x, top, z, "grass_block")
            far, turn = hypot(x - MILL[0], z - MILL[1]), atan2(z - MILL[1], x - MILL[0])
            # Beds that run around the hill, with gaps where one walks.
            row = far + 1.4 * sin(turn * 2)
            if far > 10.2 and int(row * 0.72) % 2 and sin(turn * 3 + 0.6) > -0.75:
                kind = flowers[int(row / 2.8) % 5]
                b.put(x, top, z, "oak_leaves")
                if grain(x, 1, z) > 0.2:
                    b.put(x, top + 1, z, kind)
    # A path that winds up to the door.
    for n in range(160):
        t = n / 159
        a, r = 1.5 - 3.3 * (1 - t), 14.3 - 8.6 * t
        for wide in (0, 1):
            x, z = round(MILL[0] + (r + wide) * cos(a)), round(MILL[1] + (r + wide) * sin(a))
            top = b.surface(x, z)
            while top > 0 and b.at(x, top, z) not in ("grass_block", "sand", "dirt"):
                b.put(x, top, z, None)
                top -= 1
            if top >= 0:
                b.put(x, top, z, "sand")
    # A pond with a rim, and sheep like small clouds.
    b.solid(lambda x, y, z: y <= 2 and hypot((x - 25) / 3.4, (z - 8) / 2.6) <= 1 and b.at(x, 0, z),
            lambda x, y, z: None if y == 2 else "water", (20, 1, 4, 31, 6, 12))
    for x, z in ((6, 23), (2, 15), (15, 2)):
        top = b.surface(x, z)
        if top >= 0:
            b.box(x, top + 1, z, x + 2, top + 2, z + 1, "white_wool")
            b.box(x + 3, top + 2, z, x + 3, top + 3, z + 1, "black_wool")
            b.put(x + 1, top + 3, z, "white_wool")


def mill_axis(y):
    t = (y - 8) / 17
    return MILL[0] - 0.5 * t ** 2, MILL[1] - 1 + 3 * t ** 2


def mill(b):
    for y in range(7, 25):
        cx, cz = mill_axis(y)
        t = (y - 7) / 17
        r = 5.6 - 2.2 * t + 0.8 * sin(pi * t * 1.4 - 0.3)
        band = "bricks" if y < 10 else "white_wool"
        b.disc(cx, y, cz, r, lambda x, y, z: "cobblestone" if y < 10 and grain(x, y, z) > 0.6 else band)
        if y == 10:
            b.disc(cx, y, cz, r + 0.6, "bricks")
    # A gallery half way, on struts.
    cx, cz = mill_axis(15)
    b.disc(cx, 14, cz, 6.6, "oak_planks")
    b.disc(cx, 15, cz, 6.6, "oak_log", hole=5.9)
    for n in range(8):
        a = n * pi / 4
        i, k = cos(a), sin(a)
        b.line((round(cx + 4 * i), 11, round(cz + 4 * k)), (round(cx + 6 * i), 13, round(cz + 6 * k)), "oak_log")
        b.box(round(cx + 6 * cos(a)), 15, round(cz + 6 * sin(a)), round(cx + 6 * cos(a)), 16, round(cz + 6 * sin(a)),
              "oak_log")
    # Doors and windows, lit.
    for a, y, tall, kind in ((1.6, 9, 3, "oak_log"), (0.0, 12, 2, "glowstone"), (2.4, 18, 2, "glowstone"),
                             (-0.8, 17, 2, "glowstone"), (3.6, 12, 2, "glowstone"), (4.7, 18, 2, "glowstone")):
        for up in range(tall):
            cx, cz = mill_axis(y + up)
            for out in range(70, 20, -1):
                x, z = round(cx + out / 10 * cos(a)), round(cz + out / 10 * sin(a))
                if b.at(x, y + up, z) in ("white_wool", "bricks", "cobblestone", "oak_log"):
                    b.put(x, y + up, z, kind)
                    break
    # A cap like an onion, its tip blown back.
    for y in range(24, 32):
        cx, cz = mill_axis(24)
        t = (y - 24) / 7
        r = (4.6 * (1 - t) ** 0.75 + 0.9 * sin(pi * t)) if y > 24 else 5
        b.disc(cx - 2.2 * t * t, y, cz - 2.2 * t * t, max(0.6, r), "purple_wool" if y % 3 else "blue_wool")


def sails(b):
    """Four sails like petals, cupped against the wind; they face past the viewer, who sees the tower beside them."""
    cx, cy, cz = MILL[0] - 3, 20.0, MILL[1] + 8
    b.tube([(MILL[0], 22, MILL[1] + 2), (cx, cy, cz), (cx + 1.5 * FACE[0], cy, cz + 1.5 * FACE[1])],
           [1.6, 1.5, 1.2], "oak_log")
    for n in range(4):
        spin = 0.55 + n * pi / 2
        for i in range(150):
            t = i / 149
            reach = 1.5 + 12.2 * t
            bend = spin + 0.22 * t ** 1.5
            wide = 4 * min(1, t * 5) ** 0.6 * (1 - 0.25 * t) - 2.6 * max(0, t - 0.86) * 7
            for w in range(-3, 30):
                across = w / 6
                spar = across <= 0.5
                if across > max(wide, 0.5) or t < 0.14 and not spar:
                    continue
                u = reach * cos(bend) - across * sin(bend)
                v = reach * sin(bend) + across * cos(bend)
                cup = 1.5 * sin(pi * max(0, across) / 5) * t - 1.0 * t
                cell = (round(cx + u * FACE[1] + cup * FACE[0]), round(cy + v),
                        round(cz - u * FACE[0] + cup * FACE[1]))
                kind = "oak_log" if spar else "yellow_wool" if across > wide - 1.1 or t > 0.93 else "red_wool"
                if spar or b.at(*cell) != "oak_log":
                    b.put(*cell, kind)
    b.ball(cx + 2 * FACE[0], cy, cz + 2 * FACE[1], 1.5, "gold_block")


def stone_bridge():
    """It leaps from rock to rock like a cat, over water that will not keep still."""
    b = Build()
    gorge(b)
    span(b)
    willow(b)
    banks(b)
    return b


def river_x(z):
    return 15.5 + 3.2 * sin((z - 15) * 0.2)


def gorge(b):
    """Rock on both sides, the river from a fall at the back down to a pool in front."""
    for x in range(32):
        for z in range(32):
            if not inside_shore(x, z, 16.6, 15.8):
                continue
            side = abs(x - river_x(z))
            level = 6 if z < 6 else 5 if z < 8 else 2
            wide = 6.4 + 2 * max(0, (z - 20) / 12) - 2.2 * (z < 8) + 1.6 * exp(-((z - 15.5) / 5) ** 2)
            if side < wide:
                b.box(x, 0, z, x, level - 1, z, ROCK if level > 2 else "blue_wool")
                b.put(x, level, z, "water")
                if z in (5, 6, 7, 8) and grain(x, 2, z) > 0.3:
                    b.put(x, level, z, "white_wool" if z in (5, 8) else "water")
                current = sin(side * 1.3 + z * 0.9 + 2 * sin(z * 0.3))
                if level == 2 and current > 0.82 or level == 2 and z == 9:
                    b.put(x, 2, z, "white_wool")
            else:
                bank = (side - wide) * 1.5
                top = int(min(bank + 2.4, 6.8 + 1.6 * sin(x * 0.5 + z * 0.35) + (2 if z < 10 else 0)) + grain(x, 3, z))
                b.box(x, 0, z, x, top, z, strata)
                if top > 4:
                    b.put(x, top, z, "grass_block")
    for z in (6, 8):
        for x in range(32):
            if abs(x - river_x(z)) < 4.2:
                b.box(x, 2, z, x, 5, z, lambda i, j, k: "white_wool" if (i + j // 3) % 3 == 0 else "water")
    for x, z, r in ((12, 26, 1.6), (20, 22, 1.4), (19, 29, 1.7), (11, 12, 1.3)):
        b.ball(x, 2, z, r, ROCK)


def span(b):
    """A steep arch whose crown is thin, its way swaying a little from side to side."""
    for x in range(0, 32):
        t = (x - 15.5) / 15.5
        deck = 7 + 12 * max(0, cos(t * pi / 2)) ** 1.35
        middle = 15.5 + 1.6 * sin(t * pi)
        half = 3.4 + 0.9 * abs(t) ** 2
        for z in range(32):
            side = abs(z - middle)
            if side > half + 0.6:
                continue
            hollow = 1 + 14.6 * max(0, 1 - (abs(x - 15.5) / 11.4) ** 2.1) ** 0.62
            ring = 1 + 16.6 * max(0, 1 - (abs(x - 15.5) / 13.2) ** 2.1) ** 0.62
            for y in range(0, round(deck) + 1):
                if y < hollow and abs(x - 15.5) < 11.4:
                    continue
                face = side > half - 0.6
                if y <= ring and abs(x - 15.5) < 13.2:
                    # The ring of the arch: long stones and short ones by turns.
                    a = atan2(y - 1, (x - 15.5) * 1.3)
                    kind = "stone" if int(a * 8.5) % 2 else "bricks"
                else:
                    kind = strata(x, y, z)
                if face or side <= half:
                    b.put(x, y, z, kind)
            b.put(x, round(deck), z, "bricks" if side < 1 else "cobblestone")
            if side > half - 0.5:
                b.box(x, round(deck) + 1, z, x, round(deck) + 1 + (x % 3 != 1), z, "stone")
    # Lamps on the parapet, ivy down the sides.
    for x in (2, 9, 15, 22, 29):
        t = (x - 15.5) / 15.5
        middle, half = 15.5 + 1.6 * sin(t * pi), 3.4 + 0.9 * abs(t) ** 2
        for sign in (-1, 1):
            z = round(middle + sign * half)
            y = max((y for y in range(32) if b.at(x, y, z) == "stone"), default=0)
            b.box(x, y + 1, z, x, y + 2, z, "oak_log")
            b.put(x, y + 3, z, "glowstone")
    for x in (3, 5, 6, 8, 11, 18, 21, 24, 25, 27):
        for z in range(32):
            for out in (-1, 1):
                if b.at(x, 9, z) and not b.at(x, 9, z + out):
                    long = 2 + int(grain(x, 9, out) * 5)
                    top = b.surface(x, z) - 1
                    for y in range(top - long, top):
                        if b.at(x, y, z) and not b.at(x, y, z + out):
                            b.put(x, y, z + out, "oak_leaves")


def willow(b):
    """It hangs over the fall, behind the bridge and not higher than it needs to be."""
    b.tube([(5, 6, 4), (5, 11, 5), (7, 15, 5.5), (7, 20, 4.5)], [2.6, 1.9, 1.5, 1.1], "oak_log")
    b.tube([(7, 15, 5.5), (10.5, 18, 4.5), (13, 19, 4)], [1.3, 1.0, 0.8], "oak_log")
    b.tube([(6, 14, 5), (4, 16, 6.5), (3, 17, 8)], [1.2, 0.9, 0.8], "oak_log")
    for cx, cy, cz, r, h in ((7, 22, 4.5, 4.8, 3.2), (12.5, 19.5, 4.2, 3.6, 2.4), (3.4, 18, 7.5, 3, 2.2)):
        b.solid(lambda x, y, z: hypot((x - cx) / r, (y - cy) / h, (z - cz) / r) + 0.2 * grain(x, y, z) < 1.05,
                lambda x, y, z: b.at(x, y, z) or ("oak_leaves" if grain(x, y, z) > 0.25 else "green_wool"))
        for n in range(18):
            a, far = n * 2.4, r * (0.55 + 0.4 * grain(n, 1, int(cx)))
            x, z = round(cx + far * cos(a)), round(cz + far * sin(a))
            long = 3 + int(6 * grain(n, 5, int(cz)))
            start = round(cy - 0.3 * h)
            for y in range(start - long, start + 1):
                if not b.at(x, y, z) and y > 3:
                    b.put(x, y, z, "oak_leaves" if (y + n) % 5 else "green_wool")


def banks(b):
    """A red tree behind the other end, a boat below, flowers, someone fishing from the rocks."""
    b.tube([(26.5, 5, 6.5), (27, 10, 6), (26.5, 14, 6.5)], [1.5, 1.2, 0.9], "oak_log")
    for cx, cy, cz, r in ((26.2, 16, 6.5, 3.4), (28.4, 14, 7, 2.3), (24.4, 14.4, 5, 2.3)):
        b.ellipsoid(cx, cy, cz, r, r * 0.72, r, lambda x, y, z: b.at(x, y, z) or
                    ("red_wool" if grain(x, y, z) > 0.3 else "orange_wool"))
    for x, z, kind in ((4, 24, "yellow_wool"), (2, 20, "red_wool"), (7, 26, "purple_wool"), (28, 8, "yellow_wool"),
                       (26, 5, "purple_wool"), (30, 12, "red_wool"), (24, 29, "yellow_wool"), (4, 28, "yellow_wool")):
        y = b.surface(x, z)
        if b.at(x, y, z) == "grass_block":
            b.put(x, y + 1, z, kind)
    x, z = 15, 21
    b.box(x - 1, 3, z, x + 1, 3, z + 5, "oak_planks")
    b.box(x - 1, 4, z - 1, x + 1, 4, z + 6, "oak_log")
    b.box(x, 4, z, x, 4, z + 5, None)
    b.box(x, 3, z - 1, x, 4, z - 1, "oak_log")
    b.put(x, 5, z - 2, "oak_log")
    b.put(x, 4, z - 2, "oak_log")
    b.box(x, 4, z + 3, x, 5, z + 3, "red_wool")
    b.put(x, 6, z + 3, "sand")
    b.put(x, 7, z + 3, "yellow_wool")
    b.put(x, 6, z - 2, "glowstone")


def fire_engine():
    """Bounding up a steep street like a red bull, ladder flung out, water flying."""
    b = Build()
    street(b)
    engine_body(b)
    wheels(b)
    engine_face(b)
    ladder(b)
    return b


def rise(x):
    """How high the street is: it curls up like a wave."""
    return 1 + 0.0038 * x * x


def rounded(b, x1, x2, y1, y2, middle, half, kind, bend=True):
    """A swollen box that follows the street."""
    cx, rx = (x1 + x2) / 2, (x2 - x1) / 2 + 0.5
    cy, ry = (y1 + y2) / 2, (y2 - y1) / 2 + 0.5
    for x in range(x1, x2 + 1):
        lift = round(rise(x)) if bend else 0
        for y in range(y1, y2 + 1):
            for z in range(32):
                if (abs(x - cx) / rx) ** 4 + (abs(y - cy) / ry) ** 4 + (abs(z - middle) / (half + 0.5)) ** 4 <= 1:
                    b.put(x, y + lift, z, kind)


def street(b):
    for x in range(32):
        for z in range(32):
            if hypot((x - 15.5) / 16.4, (z - 15.5) / 15.2) ** 3 > 1:
                continue
            top = round(rise(x))
            edge = abs(z - 14) > 9.4
            paving = "stone" if edge else mix(("cobblestone", 5), ("stone", 1))
            b.box(x, 0, z, x, top + edge, z, lambda x, y, z: "bricks" if y else "stone")
            b.put(x, top + edge, z, paving)
            if 9.4 < abs(z - 14) < 10.6:
                b.put(x, top + 1, z, "yellow_wool" if x % 4 < 2 else "white_wool")
            elif not edge and abs(z - 14) < 0.6 and x % 5 < 3:
                b.put(x, top, z, "white_wool")
    # Street lamps that bow, and a hydrant.
    for x, z, way in ((5, 26, -1), (14, 2, 1)):
        y = b.surface(x, z)
        b.tube([(x, y, z), (x, y + 7, z), (x, y + 10, z + way), (x, y + 10, z + 3 * way)], [0.6] * 4, "oak_log")
        b.box(x, y + 8, z + 3 * way, x, y + 9, z + 3 * way, "glowstone")
    y = b.surface(8, 28) + 1
    b.box(8, y, 28, 8, y + 2, 28, "red_wool")
    b.box(7, y + 1, 28, 9, y + 1, 28, "gold_block")


def engine_body(b):
    rounded(b, 1, 27, 3, 6, 14, 5, "black_wool")
    rounded(b, 0, 18, 5, 12, 14, 6, "red_wool")
    rounded(b, 16, 28, 5, 16, 14, 6, "red_wool")
    # The cab: white roof, bulging windows all round.
    for x in range(16, 30):
        lift = round(rise(x))
        for y in range(11, 18):
            for z in range(32):
                if b.at(x, y + lift, z) != "red_wool":
                    continue
                if y >= 16:
                    b.put(x, y + lift, z, "white_wool")
                elif y >= 12 and x >= 26 or 12 <= y <= 14 and x in (19, 20, 21, 23, 24, 25) and abs(z - 14) > 4.4:
                    b.put(x, y + lift, z, "glass")
    # Dark inside, so that the windows show as windows.
    rounded(b, 18, 26, 12, 14, 14, 5, lambda x, y, z: "black_wool" if abs(z - 14) < 4.5 else b.at(x, y, z))
    rounded(b, 0, 27, 8, 8, 14, 7, lambda x, y, z: "yellow_wool" if b.at(x, y, z) else None)
    # Shutters, a hose reel, gauges of gold on both sides.
    for x in range(2, 16):
        lift = round(rise(x))
        for z in (8, 20):
            for y in (9, 10, 11):
                if b.at(x, y + lift, z) == "red_wool" and x not in (2, 9, 15):
                    b.put(x, y + lift, z, "iron_block" if x < 9 else "black_wool")
    for z in (8, 20):
        y = round(rise(12)) + 10
        b.wheel(12, y, z, 1.6, "yellow_wool")
        b.put(12, y, z, "gold_block")
    # Lights on the roof, a bell, a siren like a horn.
    y = round(rise(22)) + 17
    for z in (10, 11, 17, 18):
        b.box(22, y, z, 24, y, z, "blue_wool")
        b.put(23, y + 1, z, "glowstone")
    b.box(22, y, 12, 24, y, 16, "iron_block")
    b.ball(26, y + 1, 14, 1.2, "gold_block")


def wheels(b):
    """Fat and standing out, each under a fender like an eyebrow."""
    for x, r in ((6, 3.7), (22, 4.1)):
        y = rise(x) + r + 0.6
        for z, out in ((7, -1), (21, 1)):
            b.wheel(x, y, z, r + 1.3, lambda i, j, k, z=z: "red_wool" if j > y - 0.5 else b.at(i, j, k))
            for depth in (0, 1):
                b.wheel(x, y, z + out * depth, r, "black_wool")
            b.wheel(x, y, z + out, r - 1.5, "yellow_wool")
            b.wheel(x, y, z + out, 1.1, "red_wool")
            b.put(x, round(y), z + 2 * out, "gold_block")
            b.wheel(x, y, z + out, r + 1.3, lambda i, j, k: "red_wool" if j > y + 0.5 else b.at(i, j, k), hole=r + 0.1)


def engine_face(b):
    """Round eyes, a grille that grins, a bumper like a lip."""
    lift = round(rise(28))
    for z in (10, 18):
        b.ball(28, lift + 9, z, 2.1, "iron_block")
        b.ball(29, lift + 9, z, 1.5, "glowstone")
    for z in range(11, 18):
        dip = round(abs(z - 14) * 0.5)
        b.box(28, lift + 6 + dip, z, 29, lift + 8, z, "gold_block" if z % 2 else "black_wool")
    for z in range(8, 21):
        x = 30 - round((z - 14) ** 2 * 0.04)
        b.box(x - 1, lift + 4, z, x, lift + 5, z, "white_wool" if z % 4 < 2 else "red_wool")
        b.box(26, lift + 4, z, x - 1, lift + 5, z, "iron_block")


def ladder(b):
    """From a turntable at the back, in one sweep to the top; a jet that falls on a fire beside the street."""
    base = round(rise(6)) + 13
    b.disc(6, base, 14, 4.2, "iron_block")
    b.disc(6, base + 1, 14, 3.2, "yellow_wool")
    b.box(4, base + 2, 12, 7, base + 3, 16, "iron_block")
    b.box(3, base + 2, 17, 6, base + 4, 18, "red_wool")
    b.box(5, base + 3, 17, 6, base + 4, 18, "glass")
    for n in range(140):
        t = n / 139
        x, y = 5 + 19.5 * t, base + 3 + 11.2 * t ** 0.9
        wide = 2 if t < 0.55 else 1.6
        for z in (14 - wide, 14 + wide):
            b.box(round(x), round(y), round(z), round(x), round(y) + 1, round(z), "white_wool")
        if round(x) % 2 == 0:
            b.box(round(x), round(y), 13, round(x), round(y), 15, "iron_block")
    x, y = 25, 28
    b.box(x - 1, y, 12, x + 2, y, 16, "gold_block")
    b.walls(x - 1, y + 1, 12, x + 2, y + 1, 16, "red_wool")
    b.box(x, y + 1, 14, x, y + 2, 14, "blue_wool")
    b.put(x, y + 3, 14, "yellow_wool")
    b.box(x + 1, y + 2, 12, x + 1, y + 2, 13, "gold_block")
    fire(b, 22, 3)
    for n in range(120):
        t = n / 119
        px, py, pz = x + 1 - 3.5 * t, y + 2 + 1.6 * sin(pi * min(1, t * 2)) - 23 * t ** 2.4, 11 - 7.5 * t
        r = 0.55 + 0.7 * t
        kind = "water" if n % 9 < 6 else "white_wool"
        if r < 0.7:
            b.put(round(px), round(py), round(pz), kind)
        else:
            b.ball(px, py, pz, r, kind)


def fire(b, x, z):
    """A heap of old boards, in flames; steam where the water comes down."""
    y = b.surface(x, z)
    b.ellipsoid(x, y + 1, z, 3.4, 1.6, 2.4, "oak_log")
    for i, k, high, kind in ((-3, 0, 3, "red_wool"), (-2, 1, 5, "orange_wool"), (-1, -1, 4, "yellow_wool"),
                             (2, 1, 4, "red_wool"), (2, -1, 5, "orange_wool"), (1, 2, 3, "yellow_wool"),
                             (-1, 2, 3, "red_wool"), (3, 0, 3, "yellow_wool")):
        b.box(x + i, y + 1, z + k, x + i, y + high, z + k, kind)
    b.ellipsoid(x, y + 2, z, 1.8, 1.2, 1.6, "white_wool")
