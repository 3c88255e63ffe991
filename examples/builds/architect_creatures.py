"""Creatures and sweet things, by reference_architect: dragon, snail, octopus, mushroom, cake."""

from math import atan2, cos, hypot, pi, radians, sin, sqrt

from architect_kit import MASONRY, far, lamp, sector
from voxels import Build, grain, mix


def sleeping_dragon():
    """Asleep in the ruins of its temple, its head on its paws; left and right are alike."""
    b = Build()
    m = 15.5
    # Body, haunches, forelegs, neck and head: one half, then its mirror image.
    b.ellipsoid(m, 8, 12, 6.2, 5.6, 7.4, "blue_wool")
    b.ellipsoid(m, 8.8, 15, 5.4, 4.8, 4, "blue_wool")
    b.ellipsoid(8.6, 6.5, 9.5, 3.2, 4, 4.4, "blue_wool")
    b.tube([(8, 4.6, 10), (6.6, 4, 15)], [2.2, 1.5], "blue_wool")
    b.tube([(9.5, 8.5, 16), (6, 6, 18.5), (6.2, 4.2, 26)], [2.6, 2.1, 1.6], "blue_wool")
    for x in (5, 6, 7):
        b.box(x, 3, 28, x, 3, 29, "white_wool")
        b.put(x - 2, 3, 17, "white_wool")
    b.tube([(m, 10, 15), (m, 9, 19), (m, 8, 22)], [4, 3.2, 3], "blue_wool")
    head(b)
    wing(b)
    b.mirror_x()
    # Plates down the throat and chest, spines down the middle of the back.
    b.repaint(lambda x, y, z, kind: kind == "blue_wool" and y <= 5 and 11 <= x <= 20 and z < 26, "sand")
    tail(b)
    for z in (7, 10, 13, 16, 19):
        top = max((y for y in range(32) if b.at(15, y, z) == "blue_wool"), default=0)
        b.box(15, top + 1, z, 16, top + 2, z, "orange_wool")
        b.box(15, top + 1, z - 1, 16, top + (3 if 6 < z < 19 else 1), z - 1, "orange_wool")
    temple(b)
    hoard(b)
    return b


def head(b):
    """Chin on the floor, eyes shut, horns swept back over the neck; the low half only."""
    b.box(10, 5, 20, 15, 10, 25, "blue_wool")
    b.box(12, 11, 19, 15, 11, 24, "blue_wool")
    b.box(14, 12, 19, 15, 12, 22, "blue_wool")
    b.box(9, 5, 20, 9, 8, 23, "blue_wool")
    # A long snout over a pale jaw with fangs.
    b.box(12, 5, 26, 15, 7, 28, "blue_wool")
    b.box(13, 5, 29, 15, 7, 31, "blue_wool")
    b.box(12, 6, 29, 12, 7, 30, "blue_wool")
    b.box(13, 8, 26, 15, 8, 28, "blue_wool")
    b.box(13, 8, 30, 13, 8, 30, "blue_wool")
    b.put(13, 7, 31, "black_wool")
    b.box(11, 3, 22, 15, 4, 28, "sand")
    b.box(13, 3, 29, 15, 4, 30, "sand")
    for z in (26, 29):
        b.put(12, 5, z, "white_wool")
    # A pale mask around the eyes and down to the snout, whose ridge stays blue.
    b.repaint(lambda x, y, z, kind: kind == "blue_wool" and x > 8 and y < 10 and z > 23
              and (x < 14 or z > 29), "sand")
    # The closed eye curves round the corner of the skull, below a heavy brow.
    for x, y, z in ((12, 8, 25), (11, 7, 25), (10, 7, 25), (10, 7, 24), (10, 8, 23)):
        b.put(x, y, z, "black_wool")
    b.line((13, 10, 26), (10, 10, 25), "blue_wool")
    b.line((9, 10, 25), (9, 9, 22), "blue_wool")
    # Horns above, a spike behind the jaw.
    b.tube([(11.5, 12, 22), (10.5, 14.5, 20), (9.5, 18, 18.5)], [1.2, 1.0, 0.7], "white_wool")
    b.box(8, 6, 20, 8, 6, 22, "white_wool")
    b.put(7, 6, 20, "white_wool")


def wing(b):
    """Folded beside the flank: one flat sail from a high wrist; the low half."""
    wrist, tips = (15, 20), ((18, 8), (12, 4), (5, 4), (0, 11))

    def sail(z, y, raised, kind):
        b.put(4 - raised, round(y), round(z), kind)

    for (z1, y1), (z2, y2) in zip(tips, tips[1:]):
        for i in range(41):
            t = i / 40
            reach = 1 - 0.16 * (1 - (2 * t - 1) ** 2)
            z, y = (z1 + (z2 - z1) * t - wrist[0]) * reach, (y1 + (y2 - y1) * t - wrist[1]) * reach
            for n in range(41):
                sail(wrist[0] + z * n / 40, wrist[1] + y * n / 40, 0, "orange_wool")
    # The fingers lie on it; those that reach the floor end in claws.
    for z, y in tips:
        for n in range(41):
            sail(wrist[0] + (z - wrist[0]) * n / 40, wrist[1] + (y - wrist[1]) * n / 40, 1, "blue_wool")
        if y < 9:
            sail(z, y - 1, 1, "white_wool")
    b.tube([(11, 12, 14), (8, 16, 14), (5, 19.5, 15)], [1.8, 1.5, 1.1], "blue_wool")
    b.box(4, 20, 15, 4, 22, 15, "white_wool")


def tail(b):
    """Around the right side, with a spade at its end."""
    path = [(15.5, 6, 7), (20, 5, 5), (25.5, 4.4, 6.5), (28, 4, 12), (28, 4, 18), (27, 3.6, 22)]
    b.tube(path, [3, 2.4, 2, 1.7, 1.4, 0.9], "blue_wool")
    for z, half in ((22, 2), (23, 2), (24, 1), (25, 1), (26, 0)):
        b.box(26 - half, 3, z, 27 + half, 3, z, "orange_wool")
        b.box(26, 4, z, 27, 4, z, "orange_wool")


def temple(b):
    """Steps, a paved floor, two corners of a front whose middle has come down, two broken columns."""
    paving = mix(("stone", 4), ("cobblestone", 1))
    for y, edge in ((0, 0), (1, 1), (2, 2)):
        b.box(edge, y, 0, 31 - edge, y, 31 - edge, paving if y < 2 else "stone")
    b.repaint(lambda x, y, z, kind: y == 2 and (x // 2 + z // 2) % 2 == 0 and kind == "stone"
              and 3 < x < 28 and 4 < z < 29, "cobblestone")
    ruin = Build()
    for x in (1, 6):
        ruin.box(x - 1, 2, 0, x + 2, 3, 3, "stone")
        ruin.box(x, 4, 1, x + 1, 14, 2, "white_wool")
        ruin.box(x - 1, 15, 0, x + 2, 15, 3, "stone")
    ruin.box(0, 16, 0, 8, 16, 3, "stone")
    ruin.box(1, 17, 1, 8, 17, 2, "white_wool")
    for x in (2, 5):
        ruin.box(x, 17, 1, x, 17, 2, "gold_block")
    ruin.box(0, 18, 0, 9, 18, 3, "stone")
    # The gable rises to where it broke off.
    for step in range(5):
        ruin.box(2 * step, 19 + step, 0, 2 * step + 1, 19 + step, 3, "bricks")
        ruin.box(2 * step + 2, 19 + step, 1, 9 - step % 2, 19 + step, 2, MASONRY)
    ruin.put(9, 19, 2, None)
    # Before the steps, a column that holds a fire.
    ruin.box(0, 2, 27, 3, 3, 30, "stone")
    ruin.box(1, 4, 28, 2, 7, 29, "white_wool")
    ruin.box(1, 8, 28, 2, 8, 29, "stone")
    ruin.box(1, 9, 28, 2, 9, 29, "glowstone")
    ruin.mirror_x()
    for cell, kind in ruin.cells.items():
        b.put(*cell, kind)
    # What came down: the top of the gable and its sun.
    b.box(12, 3, 0, 19, 3, 2, MASONRY)
    b.box(13, 4, 0, 18, 4, 2, "bricks")
    b.box(15, 5, 0, 17, 5, 1, "bricks")
    b.box(15, 3, 0, 16, 4, 0, "gold_block")


def hoard(b):
    """Coins in drifts, a chest, a few gems."""
    for x, z, r, h in ((3, 21, 3.2, 2.4), (25, 29, 2.4, 1.6), (3.5, 12, 2, 1.4), (10, 30, 1.8, 0.8)):
        b.solid(lambda i, j, k: hypot(i - x, k - z) <= r - (j - 3) * r / (h + 0.6)
                and b.at(i, j, k) is None, "gold_block",
                (max(2, int(x - r)), 3, int(z - r), min(29, int(x + r) + 1), 6, min(29, int(z + r) + 1)))
    b.box(22, 3, 28, 23, 3, 29, "oak_planks")
    b.box(22, 4, 28, 23, 4, 29, "oak_log")
    b.put(22, 3, 29, "gold_block")
    for x, z, kind in ((4, 22, "red_wool"), (26, 29, "blue_wool"), (2, 23, "purple_wool")):
        b.put(x, b.surface(x, z) + 1, z, kind)


CAP = (14.7, 19, 10.8)  # of the mushroom: radius, foot, height


def giant_mushroom():
    """Grown so regularly that someone moved in: a balcony for a ring, a door, a round garden."""
    b = Build()
    m = 15.5
    lawn(b)

    # Stem: swelling at the foot, fluted like a column.
    for y in range(2, 21):
        r = 4.2 + max(0, 7 - y) ** 2 * 0.06 + max(0, y - 17) * 0.6
        b.disc(m, y, m, r, lambda x, _, z: "sand" if far(x, z) > r - 1.1
               and sector(x - m, z - m, 16) % 2 else "white_wool")
    cap(b)
    spots(b)

    # The ring of the stem is a balcony with a frayed hem and a railing.
    b.disc(m, 11, m, 6.8, "white_wool", hole=4)
    b.disc(m, 10, m, 6.8, lambda x, _, z: "white_wool" if sector(x - m, z - m, 20) % 2
           else b.at(x, 10, z), hole=5.7)
    b.disc(m, 12, m, 6.8, lambda x, _, z: "oak_log" if sector(x - m, z - m, 20) % 2
           else "oak_planks", hole=5.8)
    # A door below, a door on the balcony.
    for y, z in ((3, 21), (12, 20)):
        b.box(14, y, z - 2, 17, y + 4, z, "oak_log")
        b.box(15, y, z, 16, y + 3, z, None)
        b.box(15, y, z - 1, 16, y + 3, z - 1, "oak_planks")
        b.put(16, y + 1, z - 1, "gold_block")
        b.box(15, y + 3, z - 1, 16, y + 3, z - 1, "glass")
        for x in (13, 18):
            b.put(x, y + 3, z, "glowstone")
    b.box(13, 8, 20, 18, 8, 22, "bricks")
    b.box(14, 9, 20, 17, 9, 22, "bricks")
    # Windows to the sides and the back, with sills.
    for side in range(3):
        for across in range(-2, 2):
            for y in range(6, 10):
                edge = across in (-2, 1) or y in (6, 9)
                for out in (4, 5) if y == 6 else (4,):
                    cell = ((15 - out, y, 16 + across), (16 + out, y, 16 + across),
                            (16 + across, y, 15 - out))[side]
                    b.put(*cell, "oak_log" if edge else "glass")
    b.box(13, 7, 13, 18, 8, 18, "glowstone")
    return b


def lawn(b):
    """A round mound with a path, rings of stones, flowers and small mushrooms."""
    m = 15.5
    b.disc(m, 0, m, 15.6, "dirt")
    b.disc(m, 1, m, 15.6, "grass_block")
    b.disc(m, 1, m, 15.6, "cobblestone", hole=14.6)
    b.disc(m, 2, m, 9, "grass_block")
    b.disc(m, 2, m, 9, "stone", hole=8)
    b.box(14, 1, 24, 17, 1, 31, MASONRY)
    b.box(14, 2, 20, 17, 2, 24, MASONRY)
    for x, z in ((6, 6), (25, 6), (6, 25), (25, 25)):
        high = 4 if z < 15 else 3
        b.box(x, 2, z, x, 1 + high, z, "white_wool")
        b.box(x - 1, 2 + high, z - 1, x + 1, 2 + high, z + 1, "red_wool")
        b.put(x, 3 + high, z, "red_wool")
        for i, k in ((-1, 1), (1, -1)):
            b.put(x + i, 2 + high, z + k, "white_wool")
        out = 2 if x > 15 else -2
        b.put(x + out, 2, z - (1 if z > 15 else -1), "white_wool")
        b.put(x + out, 3, z - (1 if z > 15 else -1), "red_wool")
    for i in range(24):
        angle = radians(15 * i + 7.5)
        x, z = round(m + 11.4 * sin(angle)), round(m + 11.4 * cos(angle))
        if not 12 < x < 19 or z < 15:
            b.put(x, 2, z, ("oak_leaves", "yellow_wool", "oak_leaves", "blue_wool")[i % 4])
    for x in (12, 19):
        lamp(b, x, 2, 29, 2)


def cap(b):
    """A dome with a lip that curls in, gills in spokes below, lanterns between them."""
    m = 15.5
    for x in range(32):
        for z in range(32):
            out = far(x, z)
            spoke = sector(x - m, z - m, 36) % 2
            for y in range(17, 32):
                if hypot(out / CAP[0], (y - CAP[1]) / CAP[2]) > 1:
                    continue
                if out > 13 or y > 21:
                    b.put(x, y, z, "red_wool")
                elif y == 21 or (y == 20 and out < 12) or (y == 19 and spoke and out < 12.4):
                    b.put(x, y, z, "yellow_wool" if spoke else "sand")
    for i in range(8):
        angle = radians(45 * i + 22.5)
        x, z = round(m + 9.5 * sin(angle)), round(m + 9.5 * cos(angle))
        b.box(x, 18, z, x, 19, z, "oak_log")
        b.put(x, 17, z, "glowstone")


def spots(b):
    """One on top, rings of six and of eight, each a raised patch."""
    m, (wide, foot, high) = 15.5, CAP
    patches = [(0, 90, 3.8)]
    patches += [(60 * i, 45, 2.9) for i in range(6)]
    patches += [(45 * i + 22.5, 10, 2.3) for i in range(8)]
    for turn, up, r in patches:
        a, e = radians(turn), radians(up)
        px, py, pz = m + wide * cos(e) * sin(a), foot + high * sin(e), m + wide * cos(e) * cos(a)
        b.solid(lambda x, y, z: sqrt((x - px) ** 2 + (y - py) ** 2 + (z - pz) ** 2) <= r
                and 0.9 <= hypot(far(x, z) / wide, (y - foot) / high) <= 1.07, "white_wool")


def birthday_cake():
    """Three tiers in blue and white like old pottery; a missing slice shows the layers."""
    b = Build()
    m = 15.5
    b.box(0, 0, 0, 31, 0, 31, "oak_planks")
    b.walls(0, 0, 0, 31, 0, 31, "oak_log")
    b.disc(m, 0, m, 14.6, lambda x, _, z: "white_wool" if far(x, z) < 13.4
           or sector(x - m, z - m, 32) % 2 else "oak_planks")
    # The stand.
    b.disc(m, 1, m, 6.2, "iron_block")
    b.disc(m, 2, m, 3.6, "iron_block")
    b.disc(m, 3, m, 13.2, "iron_block")
    b.disc(m, 3, m, 13.2, "gold_block", hole=12.2)

    for y1, y2, r, drips in ((4, 10, 11.4, 16), (11, 16, 8, 12), (17, 21, 4.9, 8)):
        tier(b, y1, y2, r, drips)
    # The missing slice, towards the corner of high x and high z.
    b.solid(lambda x, y, z: far(x, z) > 1.5 and abs(atan2(x - m, z - m) - pi / 4) < 0.36, None,
            (16, 4, 16, 31, 22, 31))
    for x, y, z in ((26, 4, 22), (23, 4, 25), (22, 4, 22)):
        b.put(x, y, z, "sand")
    candles(b)
    for x, z, wide, high, paper, ribbon in ((1, 1, 6, 6, "red_wool", "white_wool"),
                                            (25, 1, 6, 4, "green_wool", "gold_block"),
                                            (1, 25, 6, 4, "purple_wool", "yellow_wool"),
                                            (26, 26, 4, 3, "yellow_wool", "red_wool")):
        gift(b, x, z, wide, high, paper, ribbon)
    return b


def tier(b, y1, y2, r, drips):
    """Sponge, jam and cream inside, white icing around, a blue glaze that runs down."""
    m = 15.5

    def kind(x, y, z):
        out = far(x, z)
        turn = (atan2(x - m, z - m) + pi) / (2 * pi) * drips
        hang = 0.6 + (0.8, 2.4, 1.4, 2.9)[int(turn) % 4] * (1 - (2 * (turn % 1) - 1) ** 2)
        if y == y2 or (out >= r - 1.05 and y > y2 - hang):
            return "blue_wool"
        if out >= r - 1.05:
            return "white_wool"
        return ("sand", "sand", "red_wool", "white_wool")[(y - y1) % 4]

    b.cylinder(m, m, y1, y2, r, kind)
    # Beads at the foot, berries on the rim.
    b.disc(m, y1, m, r + 1, lambda x, _, z: "yellow_wool" if (x + z) % 2 else "white_wool", hole=r)
    for i in range(drips):
        angle = 2 * pi * (i + 0.5) / drips
        x, z = round(m + (r - 0.7) * sin(angle)), round(m + (r - 0.7) * cos(angle))
        b.put(x, y2 + 1, z, "red_wool" if i % 2 else "white_wool")


def candles(b):
    m = 15.5
    for y, r, count, high in ((11, 9.6, 8, 3), (22, 3.2, 8, 4)):
        for i in range(count):
            angle = 2 * pi * (i + 0.5 * (y == 22)) / count
            x, z = round(m + r * sin(angle)), round(m + r * cos(angle))
            if i != 1 or y == 22:
                candle(b, x, y, z, high, ("red_wool", "yellow_wool")[i % 2])
    # The tall one in the middle, twice as thick.
    for y in range(22, 29):
        b.box(15, y, 15, 16, y, 16, "red_wool" if y % 2 else "white_wool")
    b.box(15, 29, 15, 16, 30, 16, "glowstone")
    b.put(15, 31, 15, "glowstone")
    b.box(14, 22, 14, 17, 22, 17, "gold_block")


def candle(b, x, y, z, high, kind):
    for step in range(high):
        b.put(x, y + step, z, "white_wool" if step % 2 else kind)
    b.put(x, y + high, z, "glowstone")


def gift(b, x, z, wide, high, paper, ribbon):
    """A box with a ribbon both ways and a bow."""
    b.box(x, 1, z, x + wide - 1, high, z + wide - 1, paper)
    a = wide // 2 - 1
    b.box(x + a, 1, z, x + a + 1, high, z + wide - 1, ribbon)
    b.box(x, 1, z + a, x + wide - 1, high, z + a + 1, ribbon)
    for i, k in ((-1, -1), (2, 2), (-1, 2), (2, -1)):
        b.put(x + a + i, high + 1, z + a + k, ribbon)


def snail():
    """On a garden wall, facing high x; the shell is a true spiral. Its middle is z = 15."""
    b = Build()
    garden_top(b)
    shell(b)
    # Foot with a pale hem, neck and head.
    for x in range(0, 28):
        wide = 4.6 * min(1, (x + 1) / 11) ** 0.7 * (1 if x < 24 else 1 - (x - 23) * 0.1)
        for z in range(31):
            if abs(z - 15) <= wide:
                b.put(x, 4, z, "yellow_wool" if abs(z - 15) > wide - 1 else "sand")
            if abs(z - 15) <= wide - 0.8:
                b.box(x, 5, z, x, 5 + min(2, x // 4), z, "sand")
    b.tube([(17, 7, 15), (23, 8, 15), (27, 12, 15)], [3.6, 3.8, 3.1], "sand")
    b.ellipsoid(27, 13, 15, 4.3, 3.4, 3.8, "sand")
    # Face: a smile and cheeks, painted on, and two horns that carry the eyes.
    for z, y in ((13, 13), (14, 12), (15, 12), (16, 12), (17, 13)):
        b.put(max(x for x in range(32) if b.at(x, y, z)), y, z, "black_wool")
    for side in (-1, 1):
        for x, y in ((28, 12), (29, 12), (28, 13), (29, 13)):
            z = max((z for z in range(31) if b.at(x, y, z) == "sand"), key=lambda z: side * z)
            b.put(x, y, z, "orange_wool")
        b.tube([(28, 15, 15 + side * 1.6), (28.6, 18, 15 + side * 2.4), (29, 21, 15 + side * 3.2)],
               [1.1, 0.9, 0.9], "sand")
        b.ball(29, 22, 15 + side * 3.4, 1.8, "white_wool")
        b.box(30, 21, 15 + side * 3, 31, 23, 15 + side * 4, None)
        b.box(30, 22, 15 + side * 3, 30, 23, 15 + side * 4, "black_wool")
        b.box(30, 21, 15 + side * 3, 30, 21, 15 + side * 4, "white_wool")
    return b


def shell(b):
    """Every whorl is half of the one outside it; a white stripe follows the whorls inwards."""
    cx, cy, widest, shrink = 13, 17, 13.6, 0.53
    for x in range(32):
        for y in range(5, 32):
            r = hypot(x - cx, y - cy)
            back = atan2(-(x - cx), -(y - cy)) % (2 * pi) / (2 * pi)  # turns back from the mouth
            outer = widest * shrink ** back
            if r > outer:
                continue
            turn = 0
            while r <= outer * shrink and turn < 3:
                outer *= shrink
                turn += 1
            inner = outer * shrink if turn < 3 else 0
            across = (2 * r - outer - inner) / (outer - inner)  # -1 at the inner edge, 1 at the outer
            thick = (3.4, 5.4, 6.4, 7)[turn] * (1 - 0.75 * max(0, across - 0.35) ** 2) - (across < -0.6)
            for z in range(31):
                if abs(z - 15) <= thick:
                    crest = turn == 0 and across > 0.5 and abs(z - 15) < thick - 1
                    stripe = abs(z - 15) <= 1 if crest else -0.3 < across < 0.36
                    b.put(x, y, z, "gold_block" if turn == 3 else ("bricks", "white_wool")[stripe])


def garden_top(b):
    """A dry stone wall with a coping, between two strips of flowers."""
    b.box(0, 0, 4, 31, 0, 26, "grass_block")
    b.box(0, 1, 8, 31, 2, 22, MASONRY)
    b.box(0, 3, 7, 31, 3, 23, "stone")
    for x in range(3, 32, 5):
        b.box(x, 3, 7, x, 3, 23, "cobblestone")
    for x in range(0, 32):
        for side in (-1, 1):
            z = 15 + side * 8
            if grain(x // 2, 5, side) > 0.6:
                b.box(x, 1, z, x, 2 if x % 3 else 1, z, "oak_leaves")
            flower = int(grain(x, 9, side) * 12)
            if flower < 4 and x % 2:
                b.put(x, 1, 15 + side * 10, ("red_wool", "yellow_wool", "purple_wool", "blue_wool")[flower])
                b.put(x, 1, 15 + side * 9, "oak_leaves")
    # Piers with flower bowls at the corners, moss on the coping.
    for x in (0, 30):
        for z in (5, 24):
            b.box(x, 1, z, x + 1, 4, z + 1, "stone")
            b.box(x, 5, z, x + 1, 5, z + 1, "bricks")
            b.put(x, 6, z, "oak_leaves")
            b.put(x + 1, 6, z + 1, "oak_leaves")
            b.put(x + 1, 6, z, "red_wool")
            b.put(x, 6, z + 1, "yellow_wool")
    for x, z in ((5, 8), (6, 8), (12, 22), (13, 22), (14, 22), (21, 8), (27, 22), (28, 22), (18, 21)):
        b.put(x, 4, z, "oak_leaves")


def octopus():
    """Its arms spring from the body like buttresses; the chest stands between the front two."""
    b = Build()
    m = 15.5
    seabed(b)
    radii = (2.4, 2, 1.7, 1.4, 1.1, 0.8)
    for points in (((13, 11, 18), (8.5, 12, 21), (5.5, 6.5, 25), (6, 3, 28.5), (9.5, 2.6, 30), (12, 4, 30.3)),
                   ((12, 11, 16), (6.5, 13, 18.5), (2.5, 8, 20.5), (2.2, 3, 23), (1.8, 3.5, 27), (2.4, 6, 28)),
                   ((12, 11, 14), (6, 13.5, 12.5), (2, 9, 11), (2, 3, 13), (3, 2.6, 16), (5, 4, 16.5)),
                   ((13, 11, 12), (9, 13, 7.5), (6.5, 8, 3.5), (5, 3, 2), (2, 3, 3.5), (1, 5, 5.5))):
        b.tube([(x, y - 0.9, z) for x, y, z in points], [r * 0.85 for r in radii],
               lambda x, y, z: "white_wool" if (x + y + z) % 3 else "orange_wool")
        b.tube(points, radii, "purple_wool")
    # Head and mantle.
    b.ellipsoid(m, 12, 15.5, 5.8, 5.5, 5.6, "purple_wool")
    b.ellipsoid(m, 21.5, 13, 7.7, 9.4, 7.4, "purple_wool")
    b.ellipsoid(m, 15.5, 14.5, 6.2, 4.5, 6, "purple_wool")
    # Eyes under heavy lids.
    b.ball(11, 15, 19, 2.7, "purple_wool")
    b.ball(11, 14.6, 19.8, 2.3, "white_wool")
    b.box(8, 16, 18, 13, 18, 22, lambda x, y, z: b.at(x, y, z) and "purple_wool")
    b.box(10, 13, 21, 11, 15, 23, None)
    b.box(10, 13, 21, 11, 15, 21, "white_wool")
    b.box(10, 14, 21, 12, 14, 22, "black_wool")
    # Rows of spots on the mantle.
    for turn, up in ((20, 35), (20, 62), (60, 20), (60, 48), (100, 5), (100, 35),
                     (140, 20), (140, 50), (180, 0), (180, 35), (180, 64)):
        a, e = radians(turn), radians(up)
        b.ball(m - 7.5 * cos(e) * sin(a), 21.5 + 9.2 * sin(e), 13 + 7.2 * cos(e) * cos(a), 1.2,
               lambda x, y, z: b.at(x, y, z) and "orange_wool")
    b.mirror_x()
    chest(b)
    return b


def seabed(b):
    """Sand, the ribs of a wreck in pairs, weed and coral; the low half only."""
    m = 15.5
    b.disc(m, 0, m, 15.9, "sand")
    b.disc(m, 1, m, 15.6, "sand")
    for z in (2, 6, 10):
        foot = m - sqrt(15.6 ** 2 - (z - m) ** 2) + 1
        b.tube([(m, 1.6, z), (foot + 3, 1.8, z), (foot, 7, z), (foot + 2.4, 15 - z // 3, z)],
               [0.8, 0.9, 0.9, 0.7], "oak_log")
    b.box(15, 2, 0, 15, 3, 9, "oak_log")
    for x, z, h in ((3, 25, 4), (8, 26, 3), (1, 18, 6), (9, 1, 5), (4, 8, 4)):
        for y in range(2, 2 + h):
            b.put(x + (y // 2) % 2, y, z, "oak_leaves")
            b.put(x, y, z, "oak_leaves")
    for x, z, kind in ((5, 22, "red_wool"), (9, 23, "yellow_wool"), (12, 2, "red_wool"), (3, 6, "yellow_wool")):
        b.box(x, 2, z, x, 3, z, kind)
        b.put(x + 1, 2, z, kind)
        b.put(x - 1, 3, z, kind)
    for x, z in ((7, 30), (13, 30), (4, 26), (10, 20)):
        b.put(x, 1, z, "stone")


def chest(b):
    """Open, on two steps, with iron bands and more gold than it holds."""
    b.box(10, 2, 22, 21, 2, 28, "stone")
    b.box(11, 3, 23, 20, 3, 27, "stone")
    b.box(12, 4, 23, 19, 7, 27, "oak_planks")
    for x in (12, 15, 16, 19):
        b.box(x, 4, 27, x, 7, 27, "oak_log" if x in (12, 19) else "iron_block")
        b.box(x, 4, 23, x, 7, 23, "oak_log")
    b.box(15, 5, 27, 16, 6, 27, "gold_block")
    b.box(13, 7, 24, 18, 7, 26, "gold_block")
    b.box(14, 8, 24, 17, 8, 26, "gold_block")
    b.box(15, 9, 24, 16, 9, 25, "glowstone")
    b.put(13, 8, 25, "red_wool")
    b.put(18, 8, 25, "blue_wool")
    # The lid leans back.
    b.box(12, 7, 22, 19, 10, 22, "oak_planks")
    b.box(12, 11, 21, 19, 11, 21, "oak_log")
    for x in (12, 19):
        b.box(x, 8, 22, x, 10, 22, "oak_log")
    for x, z in ((12, 29), (19, 29), (14, 30), (18, 30), (22, 27), (9, 27)):
        b.put(x, 2, z, "gold_block")
