"""A mushroom and a cake."""

from math import atan2, cos, hypot, pi, sin

from sculptor_ground import inside_shore
from voxels import Build, grain


def giant_mushroom():
    """Swaying under a cap like a wet hat, its young around its foot."""
    b = Build()
    forest_floor(b)
    for x, z, tall, r, lean, colour in ((26, 23, 6, 3.6, (0.3, 0.2), "red_wool"),
                                        (5, 25, 7, 3.2, (-0.2, 0.3), "purple_wool"),
                                        (3.5, 12, 4, 2.4, (-0.3, -0.1), "orange_wool"),
                                        (22, 28, 2, 1.9, (0, 0.3), "orange_wool"),
                                        (26, 8, 5, 2.9, (0.3, -0.3), "purple_wool")):
        young(b, x, z, tall, r, lean, colour)
    stem(b)
    cap(b, (16.8, 22.2, 14.9), (-0.13, -0.07), 14.2, 8, SPOTS)
    return b


# Where the spots are: how far round, how far out, how big.
SPOTS = [(0.3, 0.05, 2.6)] + [(i * 2 * pi / 5 + 0.5, 0.52, 2 + 0.6 * (i % 2)) for i in range(5)] + [
    (i * 2 * pi / 7 + 0.2, 0.86, 1.5 + 0.7 * (i % 3 == 0)) for i in range(7)]


def forest_floor(b):
    for x in range(32):
        for z in range(32):
            if inside_shore(x, z):
                far = hypot(x - 13, z - 16)
                top = int(1.2 + 2.8 * max(0, 1 - far / 10) + 0.9 * sin(x * 0.45 + 1) * sin(z * 0.4))
                b.box(x, 0, z, x, max(0, top), z, "dirt")
                b.put(x, max(0, top), z, "grass_block" if grain(x // 2, 3, z // 2) > 0.12 else "green_wool")
    # A path of flat stones that winds to the door.
    for i in range(40):
        t = i / 39
        x, z = round(14 + 5 * t + 2.2 * sin(pi * 1.6 * t)), round(21 + 9 * t)
        top = b.surface(x, z)
        if top >= 0 and i % 4 != 3:
            b.put(x, top, z, "sand")
            b.put(x + 1, b.surface(x + 1, z), z, "sand")
    for x, z, kind in ((9, 28, "yellow_wool"), (28, 17, "white_wool"), (14, 4, "yellow_wool"), (4, 19, "white_wool"),
                       (23, 12, "blue_wool"), (10, 7, "blue_wool"), (28, 13, "yellow_wool"), (13, 27, "blue_wool")):
        top = b.surface(x, z)
        if top >= 0:
            b.put(x, top + 1, z, kind)
            b.put(x + 1, b.surface(x + 1, z) + 1, z, "oak_leaves")


def stem(b):
    b.tube([(12.5, 0, 16.5), (12.2, 4, 16.3), (13.2, 9, 15.2), (15.2, 14, 14.2), (16.6, 18, 14.2), (17.5, 21.5, 14.5)],
           [6.2, 5.2, 3.9, 3.2, 3.4, 4.4], lambda x, y, z: "white_wool")
    # A torn skirt half way up.
    for i in range(120):
        angle = i * 2 * pi / 120
        long = 2.4 + 1.3 * sin(5 * angle) + 0.7 * sin(3 * angle + 1)
        for s in range(12):
            u = s / 11
            r = 3.2 + 2.6 * u ** 0.7
            b.put(round(15.4 + r * cos(angle)), round(15.6 - long * u * u - 0.22 * r * cos(angle)),
                  round(14.2 + r * sin(angle)), "yellow_wool" if u > 0.8 else "white_wool")
    # Stripes of shade that follow its twist, and roots.
    b.repaint(lambda x, y, z, kind: kind == "white_wool" and 1 < y < 13
              and sin(5 * atan2(z - 16, x - 12.5 - max(0, y - 5) * 0.3) + y * 0.25) > 0.86, "yellow_wool")
    for path in ([(8, 4, 18), (5, 3.5, 20), (2, 1, 20)], [(17, 4, 14), (20, 3, 12), (22, 1, 9)],
                 [(8, 4, 13), (5, 3, 9), (4, 1, 7)]):
        b.tube(path, [2.2, 1.3, 0.8], "white_wool")
    # Somebody lives here: a round door and two windows.
    face(b, 14, 6, 2.3, "oak_planks", "oak_log")
    face(b, 14, 12, 1.2, "glowstone", "oak_log")
    b.put(15, 6, b_front(b, 15, 6) + 1, "gold_block")
    for x in (11, 18):
        y = b.surface(x, 24)
        b.box(x, y + 1, 24, x, y + 2, 24, "oak_log")
        b.put(x, y + 3, 24, "glowstone")


def b_front(b, x, y):
    """The block nearest to high z in a row along z."""
    return max((z for z in range(32) if (x, y, z) in b.cells and b.at(x, y, z) not in ("grass_block", "dirt")),
               default=-1)


def face(b, cx, cy, r, kind, frame):
    """A round opening on the side towards high z, in a frame that stands out."""
    front = b_front(b, cx, cy)
    for x in range(int(cx - r - 2), int(cx + r + 3)):
        for y in range(int(cy - r - 2), int(cy + r + 3)):
            far = hypot(x - cx, y - cy)
            if far <= r + 1.1:
                if b.at(x, y, front - 1):
                    b.box(x, y, front + 1, x, y, front + 3, None)
                    b.put(x, y, front, kind if far <= r else frame)


def cap(b, centre, slope, wide, tall, spots, colour="red_wool"):
    """A bell that droops at its brim, its gills lit from within."""
    cx, cy, cz = centre

    def heights(i, k):
        """Under and upper side, and how far out towards the brim."""
        angle = atan2(k, i)
        brim = wide * (1 + 0.05 * sin(3 * angle + 0.5) + 0.03 * sin(7 * angle))
        out = hypot(i, k) / brim
        lie = cy - slope[0] * i - slope[1] * k - wide * (0.1 + 0.07 * sin(2 * angle + 1)) * out ** 4
        return lie + wide * 0.26 * max(0, 1 - out) - 0.6, lie + tall * max(0, 1 - out ** 2.1) ** 0.62, out

    places = []
    for angle, far, size in spots:
        i, k = far * wide * cos(angle), far * wide * sin(angle)
        places.append((i, heights(i, k)[1], k, size * wide / 13.6))
    for x in range(32):
        for z in range(32):
            i, k = x - cx, z - cz
            low, top, out = heights(i, k)
            if out > 1:
                continue
            gill = wide < 6 or sin(atan2(k, i) * (22 if out > 0.5 else 11)) > 0
            for y in range(max(0, round(low)), round(top) + 1):
                near = min(hypot(i - p, y - q, k - r) - size for p, q, r, size in places)
                kind = "white_wool" if near < 0.3 and y > low + 1.5 else colour
                if y < low + 1.6 and out < 0.9:
                    kind = "white_wool" if gill else "yellow_wool"
                    if wide > 6 and not gill and y < low + 0.6:
                        continue
                    if wide > 6 and gill and 0.6 < out < 0.68:
                        kind = "glowstone"
                b.put(x, y, z, kind)
    # The big spots stand out a little.
    for p, q, r, size in places:
        if size > 1.4 and wide > 6:
            b.ellipsoid(cx + p, q, cz + r, size - 0.5, 1.4, size - 0.5, lambda x, y, z: "white_wool")


def young(b, x, z, tall, r, lean, colour):
    ground = b.surface(round(x), round(z))
    tip = (x + lean[0] * tall, ground + tall, z + lean[1] * tall)
    b.tube([(x, ground, z), (x + lean[0], ground + tall * 0.5, z + lean[1]), tip], [r * 0.42, r * 0.3, r * 0.34],
           "white_wool")
    spots = [(0, 0.1, 3.6)] + [(n * 2 * pi / 3 + 0.6, 0.8, 2.4) for n in range(3)]
    cap(b, tip, (lean[0] * 0.5, lean[1] * 0.5), r, r * 0.85, spots, colour)


def birthday_cake():
    """Three tiers that lean like a dancer, icing that runs, a slice already cut."""
    b = Build()
    plate(b)
    for tier in TIERS:
        layer(b, *tier)
    slice_out(b)
    candles(b)
    sweets(b)
    return b


# Middle of the foot, its height, how high, how wide below and above, slope of the top, sponge and icing.
TIERS = (((15.5, 2, 15.5), 8.5, 11.4, 12.4, (0.13, 0.03), "purple_wool", "white_wool"),
         ((14.8, 10, 15.2), 7, 8.0, 8.9, (-0.16, 0.06), "yellow_wool", "red_wool"),
         ((16, 16, 15), 6.2, 4.8, 5.7, (0.14, -0.05), "blue_wool", "orange_wool"))


def plate(b):
    for x in range(32):
        for z in range(32):
            i, k = x - 15.5, z - 15.5
            wave = 0.35 * sin(8 * atan2(k, i))
            far = hypot(i, k)
            if far <= 15.6 + wave - 0.3:
                b.put(x, 1, z, "gold_block" if far > 13.6 + wave else "blue_wool" if far > 12.6 else "white_wool")
                if far > 14.4 + wave:
                    b.put(x, 2, z, "gold_block")
            if far <= 8.5:
                b.put(x, 0, z, "gold_block")


def top_of(tier, x, z):
    (cx, cy, cz), tall, _, _, slope, _, _ = tier
    return cy + tall + slope[0] * (x - cx) + slope[1] * (z - cz)


def layer(b, foot, tall, r1, r2, slope, sponge, icing):
    cx, cy, cz = foot
    for x in range(32):
        for z in range(32):
            i, k = x - cx, z - cz
            angle, far = atan2(k, i), hypot(i, k)
            top = cy + tall + slope[0] * i + slope[1] * k
            for y in range(cy, round(top) + 1):
                t = min(1, (y - cy) / tall)
                r = r1 + (r2 - r1) * t + 0.9 * sin(pi * t) ** 0.8
                if y > top - 1.2:
                    r -= 0.8
                # Ribs that turn as they rise.
                rib = sin(10 * angle + 2.2 * t * pi * 0.5)
                if far <= r - 0.4 * (rib < -0.3):
                    b.put(x, y, z, sponge if rib > -0.3 else icing)
            # Icing on top, running down in tongues.
            run = (tall / 7) * (1.3 + 1.5 * sin(7 * angle + r1) + 1.1 * sin(4 * angle + 1 + r1) + 0.5 * sin(11 * angle))
            run = min(run, tall * 0.55)
            for y in range(round(top - max(0.8, run) - 1), round(top) + 1):
                r = r2 + (0.6 if y < top - 0.6 else -0.4)
                if r2 - 1.5 < far <= r or y > top - 1 and far <= r:
                    b.put(x, y, z, icing)


def slice_out(b):
    """A wedge gone from the lowest tier at the front: sponge, cream and jam."""
    cx, cz = 15.5, 15.5
    for x in range(32):
        for z in range(32):
            i, k = x - cx, z - cz
            angle, far = atan2(k, i), hypot(i, k)
            if not (0.42 < angle < 1.12 and 5.6 < far < 15):
                continue
            for y in range(2, 17):
                if b.at(x, y, z) and not (far < 9.6 and y >= 10):
                    b.put(x, y, z, None)
    for x, y, z in list(b.cells):
        i, k = x - cx, z - cz
        angle, far = atan2(k, i), hypot(i, k)
        if 0.25 < angle < 1.3 and 4 < far < 11.6 and 2 <= y <= 10:
            open_side = any(b.at(x + p, y, z + q) is None for p, q in ((1, 0), (0, 1), (-1, 0), (0, -1)))
            if open_side and far < 11.3 and y < top_of(TIERS[0], x, z) - 1.2:
                b.put(x, y, z, ("sand", "sand", "red_wool", "sand", "sand", "white_wool")[y % 6])


def candles(b):
    """A fan of twisted candles, their flames blown to one side."""
    tops = [(16.6, 15, 0.0, 0.0, 6)]
    tops += [(16.4 + 3.4 * cos(a), 15 + 3.4 * sin(a), cos(a), sin(a), 4) for a in (0.4, 1.66, 2.92, 4.18, 5.44)]
    colours = ("red_wool", "green_wool", "orange_wool", "purple_wool", "red_wool", "green_wool")
    for (x, z, i, k, tall), colour in zip(tops, colours):
        foot = round(top_of(TIERS[2], x, z))
        for s in range(tall + 1):
            bend = 1.1 * (s / 5) ** 1.6
            px, pz = round(x + i * bend), round(z + k * bend)
            b.put(px, foot + s, pz, "white_wool" if s % 2 else colour)
            b.put(round(x + i * 1.1 * ((s + 1) / 5) ** 1.6), foot + s, round(z + k * 1.1 * ((s + 1) / 5) ** 1.6),
                  "white_wool" if s % 2 else colour)
        b.put(px, foot + tall + 1, pz, "glowstone")
        b.put(px, foot + tall + 2, pz, "orange_wool" if i or k else "glowstone")
        if not (i or k):
            b.put(px, foot + tall + 3, pz, "orange_wool")


def sweets(b):
    """Balls of sugar along the ledges, cherries, crumbs."""
    for tier, number, r, kinds in ((TIERS[0], 9, 10.6, ("red_wool", "yellow_wool", "green_wool")),
                                   (TIERS[1], 7, 7.2, ("white_wool", "orange_wool"))):
        (cx, _, cz) = tier[0]
        for n in range(number):
            a = n * 2 * pi / number + 0.2
            x, z = cx + r * cos(a), cz + r * sin(a)
            y = b.surface(round(x), round(z))
            if y > top_of(tier, x, z) - 2:
                b.ball(x, y + 1, z, 1.1, kinds[n % len(kinds)])
    for x, z, kind in ((26, 26, "sand"), (24, 27, "red_wool"), (27, 24, "sand"), (23, 25, "sand")):
        b.put(x, 2, z, kind)
