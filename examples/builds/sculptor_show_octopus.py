"""A large octopus in a drowned temple, for grid 64 and the advanced palette."""

from math import atan2, cos, hypot, sin

from sculptor_large import limb, smooth_noise
from voxels import Build, grain, mix

BRICKS = mix(("stone_bricks", 4), ("mossy_stone_bricks", 3), ("cracked_stone_bricks", 2), ("prismarine", 2))


def octopus():
    """It has broken out of the temple where the chest was hidden, and takes it back."""
    b = Build(64)
    seabed(b)
    temple(b)
    reef(b)
    wreckage(b)
    chest(b)
    arms(b)
    head(b)
    return b


def seabed(b):
    for x in range(64):
        for z in range(64):
            angle = atan2(z - 31.5, x - 31.5)
            far = hypot(x - 31.5, z - 31.5)
            if far > 30.4 + 1.2 * sin(3 * angle + 1) + 0.8 * sin(7 * angle):
                continue
            dune = 2.6 + 1.2 * smooth_noise(x, 0, z, 9) + 0.5 * sin(x * 0.5 + 1.6 * sin(z * 0.2))
            rise = 6.5 * max(0, 1 - hypot(x - 25, z - 25) / 17) ** 1.2
            top = int(dune + rise)
            b.box(x, 0, z, x, top, z, "clay" if top < 3 else "sandstone")
            n = smooth_noise(x, 7, z, 6)
            b.put(x, top, z, "gravel" if n > 0.66 else "clay" if n < 0.26 else "sand")
            if rise > 1 and grain(x // 2, 4, z // 2) > 0.45:
                b.box(x, top - 1, z, x, top, z, "andesite" if grain(x, 1, z) > 0.4 else "prismarine")


def column(b, x, z, high, broken=True):
    ground = b.surface(x, z)
    b.box(x - 3, ground - 2, z - 3, x + 3, ground + 1, z + 3, BRICKS)
    b.box(x - 2, ground + 2, z - 2, x + 2, ground + 2, z + 2, "prismarine")
    for y in range(ground + 3, high + 1):
        for i in range(-2, 3):
            for k in range(-2, 3):
                if abs(i) + abs(k) <= 3 and (y < high - 2 or not broken or grain(x + i, y // 2, z + k) > 0.45):
                    flute = (abs(i) == 2 or abs(k) == 2) and (i + k) % 2
                    b.put(x + i, y, z + k, "prismarine" if flute else BRICKS)
    if not broken:
        b.box(x - 3, high + 1, z - 3, x + 3, high + 1, z + 3, "prismarine")
        b.box(x - 3, high + 2, z - 3, x + 3, high + 2, z + 3, BRICKS)


def temple(b):
    """Two columns still carry their beam; the others are stumps, one lies where it fell."""
    column(b, 8, 22, 30, False)
    column(b, 8, 38, 30, False)
    for z in range(17, 44):
        for x in range(5, 12):
            for y in (33, 34, 35):
                if grain(x // 2, y, z // 2) > 0.12 or 8 < z < 40:
                    b.put(x, y, z, "oxidized_copper" if y == 34 and x in (5, 11) and z % 4 < 2 else BRICKS)
    for z in range(22, 39):
        rise = 5 - abs(z - 30) * 0.6
        b.box(6, 36, z, 10, 36 + int(max(0, rise)), z, BRICKS)
    b.ball(8, 39, 30, 2.2, "sea_lantern")
    for z in range(29, 32):
        b.put(11, 39, z, "oxidized_copper")
    column(b, 22, 8, 22)
    column(b, 38, 7, 15)
    column(b, 52, 14, 10)
    # The fallen one, in drums.
    for n in range(5):
        x, z, y = 45 + n * 3.4, 26 - n * 2.2, 4 - 0.3 * n
        limb(b, [(x, y + 1, z), (x + 2.4, y + 1, z - 1.6)], [2.5, 2.5], lambda s, up, side, deep, cell: BRICKS)


def reef(b):
    def fan(x, z, tall, kind, tip, turn):
        y = b.surface(x, z)
        for n in range(9):
            a = (n - 4) * 0.2
            reach = tall * (1 - 0.05 * abs(n - 4) ** 1.3)
            end = (x + reach * sin(a) * cos(turn), y + reach * cos(a), z + reach * sin(a) * sin(turn))
            mid = (x + reach * 0.4 * sin(a) * cos(turn), y + reach * 0.55 * cos(a),
                   z + reach * 0.4 * sin(a) * sin(turn))
            b.tube([(x, y - 1, z), mid, end], [1.2, 0.8, 0.8], kind)
            b.ball(*end, 0.9, tip)

    fan(55, 24, 12, "magenta_wool", "pink_wool", 0.4)
    fan(12, 50, 11, "yellow_concrete", "white_concrete", -0.6)
    fan(45, 54, 8, "red_concrete", "orange_wool", 0.5)
    fan(30, 4, 9, "purple_wool", "magenta_wool", 0.1)
    fan(4, 30, 8, "lime_wool", "yellow_wool", 1.5)
    for x, z, r in ((56, 34, 2.6), (18, 56, 3), (48, 8, 2.6), (9, 13, 3), (27, 58, 2), (58, 27, 1.8)):
        y = b.surface(x, z)
        b.ball(x, y + 0.5, z, r, lambda i, j, k: "pink_wool" if sin(i * 1.9) * sin(k * 1.9) + sin(j * 2) > 0 else
               "magenta_wool")
    # Tube sponges, weed, anemones with lights.
    for x, z, kind in ((52, 44, "orange_wool"), (6, 44, "cyan_wool"), (44, 3, "yellow_concrete"),
                       (15, 6, "orange_wool")):
        for i, k, tall in ((0, 0, 6), (2, 1, 4), (-1, 2, 5), (1, -2, 3)):
            y = b.surface(x + i, z + k)
            if 0 < y < 9:
                b.box(x + i, y, z + k, x + i + 1, y + tall, z + k + 1, kind)
                b.put(x + i, y + tall, z + k, "black_concrete")
    for n in range(26):
        a = n * 2.399
        far = 19 + 10 * grain(n, 3, 1)
        x, z = round(31.5 + far * cos(a)), round(31.5 + far * sin(a))
        y = b.surface(x, z)
        if 0 < y < 9 and b.at(x, y, z) in ("sand", "gravel", "clay") and not (x > 34 and z > 34):
            for up in range(5 + int(11 * grain(n, 9, 2))):
                px, pz = x + round(1.1 * sin(up * 0.5 + n)), z + round(0.8 * cos(up * 0.4 + n))
                b.box(px, y + up, pz, px, y + up + 1, pz, "green_concrete" if up % 4 else "lime_wool")


def chest(b):
    """Carved dark oak with iron and gold; its lid is up and its light is on."""
    b.solid(lambda x, y, z: y <= 8.2 - 0.33 * hypot(x - 46, (z - 50) * 1.05) + 0.9 * grain(x, 2, z) and b.at(x, 1, z),
            mix(("gold_block", 20), ("yellow_concrete", 3)), (26, 2, 32, 63, 10, 63))
    x1, x2, z1, z2 = 37, 54, 36, 47
    b.box(x1, 3, z1, x2, 12, z2, lambda x, y, z: "dark_oak_planks" if y % 3 else "spruce_planks")
    for x in (x1, x1 + 5, x2 - 5, x2):
        b.walls(x, 3, z1, x, 12, z2, "iron_block")
    b.walls(x1, 12, z1, x2, 12, z2, "gold_block")
    b.walls(x1, 4, z1, x2, 4, z2, "gold_block")
    b.box(x1 + 1, 11, z1 + 1, x2 - 1, 12, z2 - 1, "gold_block")
    b.solid(lambda x, y, z: y <= 16 - 0.42 * hypot(x - 45.5, (z - 41.5) * 1.2) + grain(x, 5, z),
            mix(("gold_block", 12), ("yellow_concrete", 2)), (x1 + 1, 12, z1 + 1, x2 - 1, 17, z2 - 1))
    b.box(44, 9, 48, 47, 12, 48, "gold_block")
    b.box(45, 9, 48, 46, 10, 48, "black_concrete")
    # The lid, curved, thrown back.
    for x in range(x1, x2 + 1):
        band = x in (x1, x1 + 5, x2 - 5, x2)
        for n in range(40):
            a = 0.25 + 2.3 * n / 39
            for out in (0, 1):
                b.put(x, round(13.5 + (8 + out) * sin(a)), round(35.5 - (3.5 + out) * (1 - cos(a)) * 0.9 - out * 0.5),
                      "iron_block" if band else "dark_oak_planks")
    for x, y, z, kind in ((41, 15, 42, "diamond_block"), (50, 14, 40, "emerald_block"), (46, 17, 41, "sea_lantern"),
                          (43, 14, 45, "redstone_block"), (49, 14, 44, "lapis_block"), (39, 13, 39, "amethyst_block"),
                          (52, 13, 43, "diamond_block"), (36, 5, 52, "emerald_block"), (52, 6, 53, "redstone_block"),
                          (44, 8, 52, "diamond_block"), (56, 5, 46, "lapis_block"), (41, 6, 56, "amethyst_block"),
                          (48, 6, 56, "emerald_block"), (33, 4, 47, "diamond_block")):
        b.box(x, y, z, x + 1, y + 1, z + 1, kind)
    # A crown on the heap.
    b.walls(43, 17, 39, 46, 18, 42, "gold_block")
    for x in (43, 46):
        for z in (39, 42):
            b.put(x, 19, z, "redstone_block")


def skin(s, up, side, deep, cell):
    """Deep red above, paler below, with rings and freckles."""
    x, y, z = cell
    n = smooth_noise(x, y, z, 4.5)
    if up < -0.42:
        return "pink_wool" if n > 0.35 else "orange_wool"
    if n > 0.73:
        return "magenta_wool"
    if up < -0.05:
        return "orange_wool" if n > 0.36 else "red_wool"
    return "red_concrete" if n > 0.3 else "red_wool"


def arm(b, points, radii, inner=1):
    """Suckers in two rows on the inside of its bends."""
    places = limb(b, points, radii, skin)
    last = None
    for n in range(4, len(places) - 4):
        x, y, z, r = places[n]
        if last and hypot(x - last[0], y - last[1], z - last[2]) < max(1.7, 1.05 * r):
            continue
        last = x, y, z
        a, c = places[n - 4], places[n + 4]
        way = [c[k] - a[k] for k in range(3)]
        bend = [a[k] + c[k] - 2 * places[n][k] for k in range(3)]
        size = hypot(*bend)
        bend = [inner * v / size for v in bend] if size > 0.12 else [0, -1, 0]
        bend[1] -= 0.3
        size = hypot(*bend) or 1
        bend = [v / size for v in bend]
        cross = [bend[1] * way[2] - bend[2] * way[1], bend[2] * way[0] - bend[0] * way[2],
                 bend[0] * way[1] - bend[1] * way[0]]
        size = hypot(*cross) or 1
        for sign in (-1, 1):
            px, py, pz = (p + v * r * 0.9 + sign * w / size * r * 0.42
                          for p, v, w in zip((x, y, z), bend, cross))
            if py > 3:
                b.ball(px, py, pz, max(0.7, r * 0.34), "white_concrete")


def arms(b):
    arm(b, [(34, 13, 30), (41, 21, 31), (53, 22, 32), (60, 15, 38), (59, 8, 48), (52, 5.5, 57), (42, 5, 59),
            (35, 6, 56)], [5.6, 5, 4.4, 3.9, 3.3, 2.8, 2.2, 1.4])
    arm(b, [(25, 13, 35), (26, 9, 45), (29, 8, 53), (32, 13, 51), (36, 17, 47), (41, 18.5, 46)],
        [5.6, 4.8, 4, 3.4, 2.8, 2.0])
    # One holds a trident high.
    arm(b, [(35, 14, 23), (46, 16, 17), (54, 26, 13), (53, 38, 14), (47, 45, 18), (48, 52, 21), (54, 53.5, 23),
            (56, 49.5, 22)], [5.6, 5, 4.3, 3.7, 3.1, 2.6, 2.1, 1.4])
    for n in range(44):
        t = n / 43
        b.ball(46 + 13 * t, 44 + 16 * t, 24 - 1 * t, 0.8, "oxidized_copper")
    for i, k in ((-3, 2), (0, 0), (3, -2)):
        b.tube([(57 + i * 0.6, 57 + k * 0.6, 23), (58.5 + i, 60 + k, 23), (60.5 + i, 62.5 + k, 23)], [0.9, 0.8, 0.6],
               "copper_block")
    # One through the temple, its tip round the column.
    arm(b, [(18, 14, 29), (10, 16, 31), (3.5, 20, 33), (3, 24, 38), (7, 26.5, 42.5), (12, 28, 40), (12.5, 29.5, 35)],
        [5.2, 4.4, 3.6, 3, 2.5, 2.0, 1.4])
    # One raised with a pearl in a spiral.
    arm(b, [(20, 13, 35), (12, 12, 44), (8, 20, 50), (11, 30, 53), (17, 34, 54), (20, 30.5, 54.5), (17, 27, 54),
            (14.5, 29, 54)], [5.4, 4.6, 3.8, 3.2, 2.6, 2.2, 1.7, 1.2])
    b.ball(17, 30.5, 54, 1.8, "sea_lantern")
    # Three that creep.
    arm(b, [(19, 12, 20), (11, 10, 14), (8, 5.5, 8), (15, 5, 5), (21, 7, 4), (19, 9.5, 6)],
        [5.2, 4.3, 3.3, 2.8, 2.2, 1.4])
    arm(b, [(27, 12, 18), (29, 9, 10), (37, 5, 5), (46, 5, 6), (51, 8, 9), (47, 10.5, 10)],
        [5.2, 4.3, 3.5, 2.9, 2.2, 1.4])
    arm(b, [(33, 12, 22), (43, 9, 21), (52, 5.5, 23), (58, 6.5, 19), (57, 10.5, 15.5), (54, 10, 17)],
        [5, 4.2, 3.4, 2.7, 2, 1.4])


def head(b):
    """It leans back, brows drawn together; the eyes look at whoever comes for the gold."""
    def mantle(s, up, side, deep, cell):
        x, y, z = cell
        n = smooth_noise(x, y, z, 6)
        rings = sin(hypot(x - 15, y - 50, z - 15) * 0.62)
        if n > 0.72:
            return "magenta_wool"
        if rings > 0.72 and y > 34:
            return "orange_wool"
        return "red_wool" if n < 0.36 else "red_concrete"
    limb(b, [(25, 12, 25), (25, 22, 25), (23, 34, 23), (18, 46, 18), (14, 53, 14)], [12, 10.5, 13, 11, 6.5], mantle)
    # Veins on the crown and a siphon at the side.
    limb(b, [(28, 16, 34), (25, 17, 38), (22, 20, 40)], [3, 2.6, 2.4], lambda s, up, side, deep, cell: "orange_wool")
    b.ball(21.5, 20.5, 40.5, 1.5, "black_concrete")
    for x, z, i, k in ((34.5, 22.5, 1, 0.2), (22.5, 34.5, 0.2, 1)):
        limb(b, [(x - 3 * i, 26, z - 3 * k), (x, 26.5, z)], [6, 5.4], lambda s, up, side, deep, cell: "red_concrete")
        b.ball(x + 1.6 * i, 26, z + 1.6 * k, 4.6, "yellow_concrete")
        look = (i + 0.55 * k, k + 0.55 * i)
        size = hypot(*look)
        for cell in [c for c, kind in b.cells.items() if kind == "yellow_concrete" and hypot(
                c[0] - x - 1.6 * i, c[1] - 26, c[2] - z - 1.6 * k) < 5]:
            p = (cell[0] - x - 1.6 * i, cell[1] - 26, cell[2] - z - 1.6 * k)
            turn = (p[0] * look[0] + p[2] * look[1]) / size
            across = (-p[0] * look[1] + p[2] * look[0]) / size
            if turn > 2 and abs(p[1] + 0.3) < 1.3 and abs(across) < 3:
                b.put(*cell, "black_concrete")
            elif turn > 2 and abs(p[1] + 0.3) < 2.3 and abs(across) < 3.6:
                b.put(*cell, "orange_wool")
            # A lid that slopes down towards the middle.
            inner = across * (1 if x > z else -1)
            if p[1] > 2.1 - 0.35 * inner:
                b.put(*cell, "red_concrete")
            elif turn > 2.6 and 0.4 < p[1] < 1.6 and 0.6 < across < 2:
                b.put(*cell, "white_concrete")


def wreckage(b):
    """An anchor, the ribs of a boat, a helmet somebody left."""
    y = b.surface(55, 52)
    b.tube([(58, y, 40), (59, y + 7, 40)], [0.8, 0.8], "iron_block")
    for n in range(5):
        px = 12 + n * 3
        pz = 44 + n * 3
        y = b.surface(px, pz)
        for side in (-1, 1):
            b.tube([(px, y, pz), (px + 2.6 * side, y + 2.2, pz - 2.6 * side),
                    (px + 3.2 * side, y + 5 - n * 0.4, pz - 3.2 * side)], [0.9, 0.8, 0.7], "spruce_log")
    b.tube([(9, 4, 41), (17, 4, 49), (26, 4.6, 58)], [1, 1, 1], "dark_oak_planks")
    y = b.surface(33, 60)
    if y > 0:
        b.ball(33, y + 2, 59, 2.2, "copper_block")
        b.box(33, y + 2, 61, 34, y + 3, 61, "tinted_glass")
