"""A castle, a café, a village below a volcano."""

from math import atan2, cos, exp, hypot, pi, sin

from voxels import Build, grain

GATE = 0.95  # the direction of the castle's gate


def moated_castle():
    """As if poured from wet sand: towers that swell and lean around one that turns."""
    b = Build()
    moat(b)
    curtain(b)
    for angle, far, tall, r, roof in ((2.35, 8.6, 8, 2.6, 6), (3.5, 8.8, 11, 2.9, 7), (4.6, 8.8, 8, 2.5, 6),
                                      (5.75, 8.8, 10, 2.8, 7)):
        round_tower(b, 15.5 + far * cos(angle), 15.5 + far * sin(angle), 3, 6 + tall, r, roof,
                    0.9 * cos(angle), 0.9 * sin(angle))
    keep(b)
    gatehouse(b)
    drawbridge(b)
    courtyard(b)
    return b


def moat(b):
    for x in range(32):
        for z in range(32):
            far, angle = hypot(x - 15.5, z - 15.5), atan2(z - 15.5, x - 15.5)
            if far > 15.8:
                continue
            inner = 10.2 + 0.5 * sin(3 * angle) + 0.3 * sin(7 * angle)
            outer = 13.9 + 0.5 * sin(2 * angle + 1)
            if far < inner:
                top = int(min(5, 2.6 + (inner - far) * 1.6))
                b.box(x, 0, z, x, top, z, lambda i, j, k: "cobblestone" if grain(i, j, k) > 0.4 else "stone")
                b.put(x, top, z, "grass_block")
            elif far < outer:
                b.put(x, 0, z, "blue_wool")
                b.put(x, 1, z, "water")
                if sin(angle * 9 + far * 1.5) > 0.9:
                    b.put(x, 1, z, "white_wool")
            else:
                top = int(2.2 + 0.9 * sin(angle * 5))
                b.box(x, 0, z, x, top, z, "dirt")
                b.put(x, top, z, "grass_block")
    # Reeds, lilies, bushes on the outer bank.
    for n in range(11):
        a = GATE + 0.55 + n * 0.5
        x, z = round(15.5 + 14.7 * cos(a)), round(15.5 + 14.7 * sin(a))
        y = b.surface(x, z)
        if n % 3 == 0:
            b.box(x, y + 1, z, x, y + 3, z, "oak_log")
            b.ball(x, y + 4.6, z, 1.6, "oak_leaves")
        else:
            b.put(x, y + 1, z, ("red_wool", "yellow_wool", "purple_wool")[n % 3])
        b.put(round(15.5 + 12.3 * cos(a + 0.2)), 1, round(15.5 + 12.3 * sin(a + 0.2)), "green_wool")


def masonry(x, y, z):
    """Dark and rough at the foot, warm above."""
    n = grain(x, y, z)
    if y < 6 + n * 2:
        return "cobblestone" if n > 0.5 else "stone"
    return "stone" if n > 0.94 else "sand"


def curtain(b):
    for x in range(32):
        for z in range(32):
            far, angle = hypot(x - 15.5, z - 15.5), atan2(z - 15.5, x - 15.5)
            middle = 8.4 + 0.5 * sin(3 * angle)
            for y in range(4, 12):
                # Thick at the foot, thin at the top, flaring under the battlements.
                half = 1.5 - 0.11 * (y - 4) + (0.5 if y >= 10 else 0)
                if abs(far - middle) <= half:
                    tooth = y < 11 or (angle * 18 / pi) % 2 < 1.1
                    if tooth:
                        b.put(x, y, z, masonry)
            if abs(far - middle) < 0.8:
                b.put(x, 10, z, "oak_planks")
                b.put(x, 11, z, None)


def round_tower(b, cx, cz, low, high, r, roof, lean_x=0, lean_z=0, colour="blue_wool"):
    for y in range(low, high + 1):
        t = (y - low) / (high - low)
        swell = r * (1.15 - 0.55 * t + 0.42 * t * t) + (0.7 if y >= high - 2 else 0)
        b.disc(cx + lean_x * t * t, y, cz + lean_z * t * t, swell, masonry)
    x, z = cx + lean_x, cz + lean_z
    for n in range(12):
        a = n * pi / 6
        if n % 2:
            b.put(round(x + (r + 0.9) * cos(a)), high, round(z + (r + 0.9) * sin(a)), None)
    for step in range(roof + 1):
        t = step / roof
        # A hat, wide at the brim, its point bent outwards.
        wide = (r + 1.3) * (1 - t) ** 1.25 + 0.3
        b.disc(x + lean_x * 1.2 * t * t, high + 1 + step, z + lean_z * 1.2 * t * t, wide, colour)
        if step == 0:
            b.disc(x, high + 1, z, wide, "orange_wool", hole=wide - 1)
    x1, z1 = round(x + lean_x * 1.2), round(z + lean_z * 1.2)
    b.put(x1, high + 1 + roof, z1, colour)
    b.put(x1, high + 2 + roof, z1, "gold_block")
    # Slits with light behind them.
    for n, y in enumerate(range(low + 5, high - 1, 3)):
        for turn in (0, pi):
            a = n * 2.1 + atan2(lean_z, lean_x) + turn
            for out in range(60, 10, -1):
                px, pz = round(x - lean_x * 0.5 + out / 10 * cos(a)), round(z - lean_z * 0.5 + out / 10 * sin(a))
                if b.at(px, y, pz):
                    b.put(px, y, pz, "glowstone")
                    b.put(px, y + 1, pz, "oak_log")
                    break


def keep(b):
    """The tall one: a band of red winds up it, small turrets grow from it."""
    for y in range(5, 24):
        t = (y - 5) / 18
        r = 4.6 - 2.2 * t + 1.2 * t * t + (0.9 if y >= 21 else 0)
        cx, cz = 14.2 + 1.6 * sin(pi * t * 0.9), 14.2 - 0.8 * sin(pi * t)

        def band(x, y, z, cx=cx, cz=cz):
            turn = (atan2(z - cz, x - cx) / (2 * pi) - y / 11) % 1
            return "red_wool" if turn < 0.17 and 7 < y < 21 else masonry(x, y, z)
        b.disc(cx, y, cz, r, band)
    cx, cz = 14.6, 14
    for n in range(14):
        if n % 2:
            a = n * pi / 7
            b.put(round(cx + 4.1 * cos(a)), 23, round(cz + 4.1 * sin(a)), None)
    for step in range(8):
        t = step / 7
        b.disc(cx - 1.3 * t * t, 24 + step, cz - 0.6 * t * t, 4.9 * (1 - t) ** 1.15 + 0.4, "blue_wool")
    b.disc(cx, 24, cz, 5.3, "orange_wool", hole=4.2)
    for a, y, tall in ((0.3, 13, 6), (2.6, 15, 5), (4.5, 12, 6)):
        x, z = 14.6 + 4.0 * cos(a), 13.8 + 4.0 * sin(a)
        for step in range(tall):
            b.disc(x, y + step, z, min(1.7, 0.6 + step * 0.5), masonry)
        for step, r in enumerate((2.3, 1.8, 1.2, 0.6, 0.3)):
            b.disc(x, y + tall + step, z, r, "purple_wool")
        b.put(round(x + 1.4 * cos(a)), y + tall - 2, round(z + 1.4 * sin(a)), "glowstone")
    for a, y in ((0.95, 10), (0.95, 17), (2.4, 11), (3.6, 18), (5.4, 10), (5.4, 18), (1.7, 20)):
        for out in range(70, 10, -1):
            x, z = round(14.6 + out / 10 * cos(a)), round(13.8 + out / 10 * sin(a))
            if b.at(x, y, z) in ("sand", "red_wool", "stone"):
                b.put(x, y, z, "glowstone")
                b.put(x, y + 1, z, "glowstone")
                b.put(x, y + 2, z, "oak_log")
                break


def polar(far, side):
    """A place seen from the middle towards the gate."""
    return 15.5 + far * cos(GATE) - side * sin(GATE), 15.5 + far * sin(GATE) + side * cos(GATE)


def gatehouse(b):
    for side in (-3.4, 3.4):
        x, z = polar(9, side)
        round_tower(b, x, z, 2, 13, 2.2, 6, 0.5 * cos(GATE), 0.5 * sin(GATE), "purple_wool")
    for x in range(32):
        for z in range(32):
            far = (x - 15.5) * cos(GATE) + (z - 15.5) * sin(GATE)
            side = -(x - 15.5) * sin(GATE) + (z - 15.5) * cos(GATE)
            if abs(side) < 3 and 6.8 < far < 10.4:
                b.box(x, 4, z, x, 12 - (int(side * 2) % 3 == 0), z, masonry)
                b.put(x, 5, z, "oak_planks")
                top = 6 + 3.4 * max(0, 1 - (side / 2.3) ** 2) ** 0.5
                if abs(side) < 2.2:
                    b.box(x, 6, z, x, int(top), z, None)
                    if 8.6 < far < 9.6 and int(side * 1.5 + 30) % 2:
                        b.box(x, 8, z, x, int(top), z, "iron_block")
                if abs(side) < 1.2 and far > 9.5:
                    b.box(x, 10, z, x, 12, z, "red_wool" if abs(side) > 0.5 else "yellow_wool")


def drawbridge(b):
    """Let down like a tongue, on two chains."""
    for n in range(200):
        t = n / 199
        for s in range(-9, 10):
            side = s / 4
            x, z = polar(9.5 + 5.6 * t, side * (1 - 0.15 * t))
            y = round(5 - 2.4 * t ** 0.8)
            b.put(round(x), y, round(z), "oak_log" if abs(side) > 1.9 or int(t * 6) % 3 == 2 else "oak_planks")
    for side in (-2.4, 2.4):
        low, high = polar(14.4, side), polar(10.6, side)
        b.line((round(low[0]), 3, round(low[1])), (round(high[0]), 10, round(high[1])), "iron_block")
    for side in (-3.4, 3.4):
        x, z = (round(v) for v in polar(14.6, side))
        y = b.surface(x, z)
        b.box(x, y + 1, z, x, y + 2, z, "oak_log")
        b.put(x, y + 3, z, "glowstone")


def courtyard(b):
    for angle, far, kind in ((2.0, 5.4, "red_wool"), (3.3, 5.8, "orange_wool"), (5.2, 5.6, "green_wool")):
        x, z = 15.5 + far * cos(angle), 15.5 + far * sin(angle)
        b.cylinder(x, z, 6, 7, 1.5, "oak_planks")
        b.disc(x, 8, z, 2, kind)
        b.disc(x, 9, z, 1, kind)
    b.box(13, 31, 13, 14, 31, 14, "gold_block")


def corner_cafe():
    """A house like a cake in the sun, waves for walls, a cup steaming on its corner."""
    b = Build()
    pavement(b)
    house(b)
    roof(b)
    windows(b)
    awning(b)
    cup(b)
    tables(b)
    back_garden(b)
    return b


HOUSE = (12.0, 12.0)


def wall_distance(x, z, y=0):
    """How far outside the wall a place is; the wall waves in and out as it rises."""
    i, k = (x - HOUSE[0]) / 10.2, (z - HOUSE[1]) / 10.2
    far = (abs(i) ** 3.2 + abs(k) ** 3.2) ** (1 / 3.2)
    wave = 0.5 * sin(6 * atan2(k, i) + y * 0.12) + 0.35 * sin(y * 0.42)
    return (far - 1) * 10.2 - wave


def pavement(b):
    for x in range(32):
        for z in range(32):
            if ((abs(x - 15.5) / 15.9) ** 6 + (abs(z - 15.5) / 15.9) ** 6) > 1:
                continue
            edge = max(x, z) + 0.6 * sin(min(x, z) * 0.5) + max(0, min(x, z) - 22) * 0.6
            if edge > 30.4:
                b.put(x, 0, z, "black_wool")
            else:
                swirl = sin(hypot(x - 26, z - 26) * 1.2 + 1.5 * atan2(z - 26, x - 26))
                b.put(x, 0, z, "stone")
                b.put(x, 1, z, "stone" if edge > 29.3 else "sand" if swirl > 0.2 else "bricks")


def house(b):
    for x in range(32):
        for z in range(32):
            for y in range(2, 22):
                out = wall_distance(x, z, y)
                if out <= 0:
                    band = y in (8, 9, 15)
                    n = grain(x // 2, y // 2, z // 2)
                    kind = "orange_wool" if n > 0.86 - 0.02 * (10 - y) else "yellow_wool"
                    b.put(x, y, z, "white_wool" if band else kind)
                    if out < -1.5 and y not in (2, 9, 15):
                        b.put(x, y, z, "glowstone" if out > -2.6 and y in (5, 12, 18) else None)
                elif out <= 0.9 and y in (9, 15, 21):
                    b.put(x, y, z, "white_wool")
    # A fat round corner towards the crossing.
    for y in range(2, 23):
        b.disc(19.5, y, 19.5, 3.9 + 0.35 * sin(y * 0.5) + (0.8 if y in (9, 15, 21) else 0),
               "white_wool" if y in (8, 9, 15, 21) else "orange_wool")


def roof(b):
    """A dragon's back: scales in blue and green, a crest along it."""
    for x in range(32):
        for z in range(32):
            out = wall_distance(x, z, 21)
            if out > 0.6:
                continue
            ridge = 5.6 * (1 - exp(min(0, out - 0.6) / 3.6)) + 1.1 * sin((x - z) * 0.42)
            top = 22 + int(max(0, ridge))
            scale = "purple_wool" if (ridge + 0.5 * sin((x - z) * 1.6)) % 2.6 < 0.9 else "blue_wool"
            b.box(x, max(22, top - 2), z, x, top, z, scale)
            if abs(x + z - 22.5) < 1.3 and out < -2.5:
                b.put(x, top + 1, z, "orange_wool")
                if (x - z) % 4 == 0:
                    b.put(x, top + 2, z, "red_wool")
    for x, z in ((5, 14), (13, 5)):
        y = b.surface(x, z)
        b.tube([(x, y, z), (x, y + 2, z), (x + 0.6, 30, z)], [1.2, 1.0, 1.2], "red_wool")
        b.disc(x + 0.6, 31, z, 1.7, "white_wool")


def windows(b):
    """Ovals upstairs with balconies like masks; tall bays below between bones."""
    ring = []
    for n in range(1440):
        a = n * pi / 720
        i, k = cos(a), sin(a)
        r = 10.2 / (abs(i) ** 3.2 + abs(k) ** 3.2) ** (1 / 3.2)
        ring.append((HOUSE[0] + r * i, HOUSE[1] + r * k))
    lengths = [0]
    for p, q in zip(ring, ring[1:]):
        lengths.append(lengths[-1] + hypot(q[0] - p[0], q[1] - p[1]))
    gap = lengths[-1] / 12
    for (x, y, z), kind in list(b.cells.items()):
        out = wall_distance(x, z, y)
        if not -1.6 < out <= 1 or not 2 <= y <= 21 or hypot(x - 19.5, z - 19.5) < 5:
            continue
        s = lengths[int(atan2(z - HOUSE[1], x - HOUSE[0]) % (2 * pi) / (2 * pi) * 1439)] % gap - gap / 2
        for middle, tall, wide in ((12, 2.5, 1.9), (18, 2.1, 1.5)):
            far = hypot(s / wide, (y - middle) / tall)
            if far <= 1 and out <= 0:
                b.put(x, y, z, None if out < -0.9 else "glass")
            elif far <= 1.5 and -1 < out <= 0.1:
                b.put(x, y, z, "purple_wool")
        if 3 <= y <= 7 and abs(s) < 1.9 - (y == 7) and out <= 0:
            b.put(x, y, z, None if out < -0.9 else "glass")
    # Balconies.
    for n in range(12):
        a_len = (n + 0.5) * gap
        spot = min(range(1440), key=lambda m: abs(lengths[m] - a_len))
        x, z = ring[spot]
        if hypot(x - 19.5, z - 19.5) < 6.4 or max(x, z) > 20:
            continue
        i, k = (x - HOUSE[0]) / 10, (z - HOUSE[1]) / 10
        size = hypot(i, k)
        b.ellipsoid(x + i / size * 0.6, 10, z + k / size * 0.6, 1.9, 1.3, 1.9,
                    lambda p, q, r: b.at(p, q, r) if q > 10 or b.at(p, q, r) in ("glass", "purple_wool")
                    else "red_wool")
    # The corner: three tall panes and a door.
    for a in (-0.15, 0.785, 1.72):
        for y in (11, 12, 13, 17, 18, 19):
            for w in (-0.16, 0.16):
                for out in (5, 4.5, 4, 3.5):
                    x, z = round(19.5 + out * cos(a + w)), round(19.5 + out * sin(a + w))
                    if b.at(x, y, z) in ("orange_wool", "glass"):
                        b.put(x, y, z, "glass")
                        x, z = 19.5 + (out - 1) * cos(a + w), 19.5 + (out - 1) * sin(a + w)
                        b.put(round(x), y, round(z), "glowstone")
                        break
    for x in range(18, 26):
        for z in range(18, 26):
            if abs(x - z) < 2 and x + z > 43:
                b.box(x, 2, z, x, 5, z, lambda i, j, k: "oak_log" if b.at(i, j, k) else None)
                if b.at(x, 2, z) and x == z:
                    b.put(x, 4, z, "glowstone")


def awning(b):
    """A wave of cloth around the front."""
    for x in range(32):
        for z in range(32):
            out = min(wall_distance(x, z, 8), hypot(x - 19.5, z - 19.5) - 4)
            angle = atan2(z - HOUSE[1], x - HOUSE[0])
            if 0 < out <= 3.6 and -0.85 < angle < 2.4:
                y = 8.6 - 0.5 * out + 0.5 * sin(angle * 14)
                stripe = int(angle * 11) % 2
                b.put(x, round(y), z, "white_wool" if stripe else "red_wool")
                if out > 2.7:
                    b.put(x, round(y) - 1, z, "white_wool" if stripe else "red_wool")


def cup(b):
    """Saucer, cup, coffee, a handle towards the street, steam."""
    cx, cz = 19.5, 19.5
    b.disc(cx, 22, cz, 4.4, "orange_wool")
    b.disc(cx, 23, cz, 5.6, "red_wool")
    b.disc(cx, 23, cz, 4.6, "white_wool")
    for y, r in ((24, 2.4), (25, 3.4), (26, 3.9), (27, 4.2), (28, 4.3)):
        b.disc(cx, y, cz, r, "red_wool" if y == 26 else "white_wool")
    b.disc(cx, 28, cz, 3.3, "oak_log")
    for out, y in ((4, 28), (5, 28), (6, 28), (6, 27), (6, 26), (5, 25), (4, 25)):
        b.box(19 + out, y, 19, 19 + out, y, 20, "white_wool")
    for x, y, z in ((18, 29, 19), (18, 30, 19), (19, 30, 19), (19, 31, 20), (20, 29, 21), (21, 29, 21), (21, 30, 20),
                    (21, 31, 20), (20, 29, 18), (20, 30, 18)):
        b.put(x, y, z, "white_wool")


def tables(b):
    """Round tables under parasols like flowers, stools, a lamp that bows."""
    for x, z, colour in ((28, 22, "green_wool"), (21, 28, "blue_wool"), (28, 10, "orange_wool"),
                         (10, 28, "purple_wool")):
        b.disc(x, 3, z, 1.5, "white_wool")
        b.put(x, 2, z, "oak_log")
        b.box(x, 4, z, x, 6, z, "oak_log")
        for step, r in ((0, 2.7), (1, 1.7), (2, 0.4)):
            for i in range(-3, 4):
                for k in range(-3, 4):
                    if hypot(i, k) <= r + 0.3 * sin(5 * atan2(k, i)):
                        b.put(x + i, 6 + step, z + k, "yellow_wool" if step == 1 else colour)
        b.put(x + 1, 4, z, "gold_block")
        for i, k in ((3, 0), (0, 3), (-3, 0), (0, -3)):
            if b.at(x + i, 1, z + k) and not b.at(x + i, 2, z + k) and x + i < 31 and z + k < 31:
                b.put(x + i, 2, z + k, "red_wool")
    for i, k in ((1, 0), (0, 1)):
        b.tube([(28 if i else 16, 1, 28 if k else 16), (28 if i else 16, 8, 28 if k else 16),
                (28 if i else 14, 11, 28 if k else 14), (28 if i else 12, 11, 28 if k else 12)],
               [0.6] * 4, "black_wool")
        b.ball(28 if i else 12, 10, 28 if k else 12, 1.1, "glowstone")
    for x, z in ((25, 29), (29, 26), (29, 15), (15, 29)):
        b.put(x, 2, z, "bricks")
        b.put(x, 3, z, "oak_leaves")
        b.put(x, 4, z, "red_wool")


def back_garden(b):
    """Ivy, a tree that leans on the house, bins of herbs."""
    for x in range(32):
        for z in range(32):
            for y in range(2, 20):
                out = wall_distance(x, z, y)
                angle = atan2(z - HOUSE[1], x - HOUSE[0])
                if 0 < out <= 1 and -2.9 < angle < -1.9 and y < 12 + 6 * sin(angle * 9) and grain(x, y, z) > 0.35:
                    b.put(x, y, z, "oak_leaves")
    b.tube([(28, 1, 4), (27.5, 5, 4), (25.5, 9, 4), (25, 13, 4)], [1.5, 1.1, 0.9, 0.8], "oak_log")
    for cx, cy, cz, r in ((25, 14, 4, 4), (27.5, 12, 5.5, 2.8), (24, 16.5, 3.5, 2.6)):
        b.ellipsoid(cx, cy, cz, r, r * 0.8, r, lambda x, y, z: b.at(x, y, z) or
                    ("green_wool" if grain(x, y, z) > 0.75 else "oak_leaves"))
    b.tube([(3, 1, 28), (3.5, 5, 28), (4.5, 8, 27)], [1.4, 1.0, 0.8], "oak_log")
    b.ball(4.5, 10, 27, 3.2, lambda x, y, z: "orange_wool" if grain(x, y, z) > 0.3 else "yellow_wool")


def volcano_village():
    """Fire runs down to the bay, where round huts stand on legs and boats make off."""
    b = Build()
    mountain(b)
    lava(b)
    eruption(b)
    village(b)
    boats(b)
    return b


PEAK = 12  # where the volcano stands, in x and in z


def slope(x, z):
    far = hypot(x - PEAK, z - PEAK)
    turn = atan2(z - PEAK, x - PEAK)
    ribs = 1.3 * sin(turn * 7 + far * 0.25) * min(1, far / 6)
    cone = 22.5 * exp(-((far / 8.4) ** 1.3)) + ribs * exp(-((far - 7) / 6) ** 2)
    return cone - 0.17 * max(0, far - 12)


def mountain(b):
    for x in range(32):
        for z in range(32):
            if hypot(x - 15.5, z - 15.5) > 16.2:
                continue
            top = slope(x, z) + 0.7 * grain(x, 2, z) + 1.2
            far = hypot(x - PEAK, z - PEAK)
            if top < 2.6:
                b.put(x, 0, z, "blue_wool")
                b.put(x, 1, z, "water")
                if 2.2 < top + 0.5 * sin(x * 0.9 + z):
                    b.put(x, 1, z, "white_wool")
                continue
            top = int(min(top, 20))
            if far < 2.6:
                top = 17
            for y in range(0, top + 1):
                n = grain(x, y, z)
                glow = y > 14 and n > 0.86
                kind = ("black_wool" if y > 9 + 3 * n else "stone" if n > 0.4 else "cobblestone")
                b.put(x, y, z, "red_wool" if glow else kind)
            if top <= 3:
                b.put(x, top, z, "sand")
            elif top <= 7:
                b.put(x, top, z, "grass_block")
                if grain(x, 8, z) > 0.86 and far > 8:
                    b.box(x, top + 1, z, x, top + 2, z, "oak_leaves")


def lava(b):
    """Rivers that wind between the ribs; bright in the middle, dark at the banks."""
    for start, bend, wide, reach in ((0.42, 0.55, 1.5, 15), (1.45, -0.5, 1.2, 10), (-0.75, -0.35, 1.2, 14),
                                     (2.75, 0.5, 1.2, 12), (4.0, 0.4, 1.2, 12)):
        for n in range(300):
            t = n / 299
            far = 1.5 + reach * t
            a = start + bend * sin(t * 3.4) + 0.12 * sin(t * 14)
            for w in range(-8, 9):
                side = w / 8 * wide * (0.7 + 0.5 * t)
                x, z = round(PEAK + far * cos(a) - side * sin(a)), round(PEAK + far * sin(a) + side * cos(a))
                y = b.surface(x, z)
                if y < 0:
                    continue
                if b.at(x, y, z) == "oak_leaves":
                    while b.at(x, y, z) == "oak_leaves":
                        b.put(x, y, z, None)
                        y -= 1
                middle = abs(side) < wide * 0.5
                if b.at(x, y, z) in ("water", "white_wool", "blue_wool"):
                    b.put(x, 1, z, "black_wool" if not middle else "orange_wool")
                else:
                    kind = ("glowstone" if (n // 9) % 4 == 0 and middle else "orange_wool" if middle else "red_wool")
                    b.put(x, y, z, kind)
                    b.put(x, y - 1, z, kind)
                    # Over the cliff at the back it falls.
                    if hypot(x - 15.5, z - 15.5) > 14.9:
                        b.box(x, 0, z, x, y, z, kind)


def eruption(b):
    """A fountain of fire that opens like a flower, smoke that leans away from it."""
    b.disc(PEAK, 18, PEAK, 2.8, "orange_wool")
    b.disc(PEAK, 18, PEAK, 1.7, "yellow_wool")
    b.tube([(PEAK, 17, PEAK), (PEAK, 21, PEAK), (12.3, 24, 12.2)], [1.9, 1.3, 1.7], "yellow_wool")
    for x, y, z, r in ((11, 25, 10.5, 2.0), (9.5, 26.5, 8.5, 2.7), (6.6, 27.5, 7.4, 3.2), (11.5, 28.5, 6.6, 2.9),
                       (5.4, 26, 11, 2.5), (8.6, 28.6, 11.6, 2.6), (15, 28, 8.2, 2.4)):
        b.ball(x, y, z, r, lambda i, j, k: "black_wool" if j < y - 0.3 * r else
               "stone" if j < y + 0.45 * r else "white_wool")
    for n in range(7):
        a = n * 2 * pi / 7 + 0.4
        far, up = 4.6 + 1.4 * (n % 2), 4.2 + 1.4 * (n % 3 == 0)
        for s in range(40):
            t = s / 39
            x, z = PEAK + far * t * cos(a), PEAK + far * t * sin(a)
            y = 21 + up * sin(pi * t * 0.75) * 1.25 - 1.5 * t
            r = 0.9 - 0.35 * t
            b.ball(x, y, z, max(r, 0.71), "glowstone" if t < 0.15 else "yellow_wool" if t < 0.4 else
                   "orange_wool" if t < 0.75 else "red_wool")


def stilt_hut(b, x, z, deck, r, roof):
    """A round hut on legs, its hat tipped."""
    for i, k in ((r - 0.4, 0), (-r + 0.4, 0), (0, r - 0.4), (0, -r + 0.4)):
        b.box(round(x + i), 0, round(z + k), round(x + i), deck, round(z + k), "oak_log")
    b.disc(x, deck, z, r + 1, "oak_planks")
    b.cylinder(x, z, deck + 1, deck + 3, r, "white_wool")
    for a in (0.3, 1.9, 3.4, 5.0):
        px, pz = round(x + r * 0.9 * cos(a)), round(z + r * 0.9 * sin(a))
        b.put(px, deck + 2, pz, "glowstone")
    px, pz = round(x + r * 0.9 * cos(0.95)), round(z + r * 0.9 * sin(0.95))
    b.box(px, deck + 1, pz, px, deck + 2, pz, "oak_log")
    for step in range(5):
        t = step / 4
        b.disc(x + 0.8 * t * t, deck + 4 + step, z, (r + 1.2) * (1 - t) ** 1.2 + 0.3, roof)


def village(b):
    for x, z, deck, r, roof in ((25, 14, 4, 2.2, "red_wool"), (21.5, 20.5, 5, 2.6, "blue_wool"),
                                (14, 25.5, 4, 2.2, "yellow_wool"), (27, 20.5, 3, 1.8, "purple_wool"),
                                (20, 27.5, 3, 1.8, "green_wool"), (8, 27, 4, 1.9, "red_wool")):
        stilt_hut(b, x, z, deck, r, roof)
    # Walkways from hut to hut on posts, lamps on some.
    way = [(25, 3, 11), (26, 3, 17), (24, 4, 20), (22, 4, 24), (19, 3, 26), (15, 3, 28), (9, 3, 29)]
    for (x1, y1, z1), (x2, y2, z2) in zip(way, way[1:]):
        n = max(abs(x2 - x1), abs(z2 - z1)) * 2
        for i in range(n + 1):
            t = i / n
            x, y, z = round(x1 + (x2 - x1) * t), round(y1 + (y2 - y1) * t), round(z1 + (z2 - z1) * t)
            for p, q in ((x, z), (x + 1, z)):
                if b.at(p, y, q) in (None, "sand", "grass_block"):
                    b.put(p, y, q, "oak_planks")
            if i % 6 == 3 and b.at(x, 1, z) in ("water", "white_wool"):
                b.box(x, 0, z, x, y - 1, z, "oak_log")
    for x, y, z in ((23, 5, 23), (26, 4, 17), (16, 4, 28), (11, 4, 29)):
        b.put(x, y, z, "oak_log")
        b.put(x, y + 1, z, "glowstone")
    # Palms, and nets hung out to dry.
    for x, z, i, k in ((24, 8, 1, -0.5), (6, 23, -0.5, 1), (16, 21.5, 0.3, 0.6)):
        y = b.surface(round(x), round(z))
        tip = (x + 2.4 * i, y + 6, z + 2.4 * k)
        b.tube([(x, y, z), (x + i, y + 3, z + k), tip], [0.6] * 3, "oak_log")
        for n in range(6):
            a = n * pi / 3 + x
            b.tube([tip, (tip[0] + 1.6 * cos(a), tip[1] + 1, tip[2] + 1.6 * sin(a)),
                    (tip[0] + 3 * cos(a), tip[1] - 0.7, tip[2] + 3 * sin(a))], [0.6] * 3, "green_wool")


def boats(b):
    """Curved like slices of melon, their sails full."""
    for x, z, long, sail, way in ((26, 26, 7, "orange_wool", 1), (16, 30, 5, None, 1), (30, 15, 5, None, 0)):
        for n in range(long):
            t = n / (long - 1)
            up = round(1.3 * (2 * t - 1) ** 2)
            wide = 1 if 0 < n < long - 1 else 0
            for w in range(-wide, wide + 1):
                px, pz = (x - long // 2 + n, z + w) if way else (x + w, z - long // 2 + n)
                b.put(px, 2 + up, pz, "oak_log" if abs(w) == wide else "oak_planks")
                if abs(w) == 1:
                    b.put(px, 3 + up, pz, "red_wool" if sail else "blue_wool")
        if sail:
            b.box(x, 2, z, x, 12, z, "oak_log")
            for y in range(5, 12):
                half = round((12 - y) * 0.55) + 1
                for k in range(-half, half + 1):
                    push = round(2.1 * max(0, 1 - (k / (half + 0.5)) ** 2) ** 0.5 * sin(pi * (y - 4) / 9))
                    b.put(x + push, y, z + k, "white_wool" if y % 3 == 0 else sail)
