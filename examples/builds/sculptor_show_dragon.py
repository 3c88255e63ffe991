"""A sleeping dragon, for grid 128 and the advanced palette."""

from math import atan2, cos, hypot, pi, sin

from sculptor_large import limb, sheet, smooth_noise
from voxels import Build, grain

MIDDLE = 63.5


def masonry(x, y, z):
    """Patches of moss and of cracks."""
    n = smooth_noise(x, y, z, 11)
    return "mossy_stone_bricks" if n > 0.64 else "cracked_stone_bricks" if n < 0.33 else "stone_bricks"


def ring(degrees, r, y):
    """A place on a circle about the middle; 0 is towards high x, 90 towards high z."""
    a = degrees * pi / 180
    return MIDDLE + r * cos(a), y, MIDDLE + r * sin(a)


def sleeping_dragon():
    """Nose to tail around what is left of a tower, its chin on the gold, one wing thrown over itself."""
    b = Build(128)
    plateau(b)
    tower(b)
    hoard(b)
    body(b)
    folded_wing(b)
    open_wing(b)
    head(b)
    surroundings(b)
    return b


def plateau(b):
    for x in range(128):
        for z in range(128):
            angle = atan2(z - MIDDLE, x - MIDDLE)
            far = hypot(x - MIDDLE, z - MIDDLE)
            edge = 60.5 + 1.6 * sin(3 * angle + 0.6) + 1.2 * sin(7 * angle) + 0.6 * sin(13 * angle)
            if far > edge:
                continue
            n = smooth_noise(x, 1, z, 18)
            top = int(4 + 3 * n + max(0, far - 53) * 0.7 * smooth_noise(x, 4, z, 8))
            low = max(0, int(3 * (far - edge + 5) / 5)) if far > edge - 5 else 0
            b.box(x, low, z, x, top, z, "deepslate" if n < 0.55 else "andesite")
            cover = smooth_noise(x, 9, z, 18)
            if far > 18:
                b.put(x, top, z, "moss_block" if cover > 0.62 else "grass_block" if cover > 0.44 else
                      "gravel" if cover < 0.22 else "stone" if cover < 0.34 else "andesite")
            else:
                b.put(x, top, z, masonry)


def tower_middle(y):
    t = (y - 4) / 80
    return MIDDLE - 1 - 5 * t * t, MIDDLE - 1 - 2 * t


def tower(b):
    """It leans; its top is torn off askew, its floors show through the gap."""
    for y in range(3, 86):
        cx, cz = tower_middle(y)
        r = 12.5 - 2.6 * min(1, max(0, y - 6) / 22) + (1.6 if 58 <= y <= 62 else 0)
        for x in range(int(cx - 16), int(cx + 17)):
            for z in range(int(cz - 16), int(cz + 17)):
                far, angle = hypot(x - cx, z - cz), atan2(z - cz, x - cx)
                if far > r:
                    continue
                # Torn along a slope, with teeth.
                tear = 70 + 10 * cos(angle - 3.6) + 3.5 * sin(angle * 5) + 3 * grain(int(angle * 9), 3, 3)
                gap = abs(((angle - 0.5 + pi) % (2 * pi)) - pi) < 0.16 + 0.55 * max(0, (y - 44) / 34) and y > 42
                if y > tear or gap and far > r - 4.5 and grain(x // 2, y // 3, z // 2) > 0.1:
                    continue
                if far > r - 3:
                    course = y in (20, 36, 52, 58, 62) and far > r - 1.4
                    b.put(x, y, z, "smooth_stone" if course else masonry)
                elif y in (20, 36, 52) and not (gap and grain(x, y, z) > 0.5):
                    if y < 50 or x < cx + 3:
                        b.put(x, y, z, "dark_oak_planks" if x % 4 else "spruce_planks")
        if 6 < y < 70 and y % 2 == 0:
            # A stair that winds up inside.
            a = y * 0.23
            for out in (4, 5, 6, 7):
                b.put(round(cx + out * cos(a)), y, round(cz + out * sin(a)), "stone_bricks")
    # Windows with arches, on all sides, some of them still lit.
    for n, (a, y, tall) in enumerate(((0.9, 26, 6), (2.4, 26, 5), (4.0, 30, 6), (5.4, 27, 5), (1.6, 42, 6),
                                      (3.1, 44, 5), (4.8, 43, 6), (2.3, 55, 4), (4.1, 66, 5), (3.2, 64, 6),
                                      (2.2, 64, 4))):
        cx, cz = tower_middle(y)
        for up in range(-1, tall + 1):
            half = 1.6 if up < tall - 1 else 0.9
            for w in range(-6, 7):
                side = w / 2
                for out in range(12, 28):
                    x, z = cx + out / 2 * cos(a) - side * sin(a), cz + out / 2 * sin(a) + side * cos(a)
                    cell = round(x), y + up, round(z)
                    if not b.at(*cell):
                        continue
                    if 0 <= up < tall and abs(side) <= half:
                        b.put(*cell, None if out > 15 else "glowstone" if n in (0, 4, 6) and up < 3 else None)
                    elif abs(side) <= half + 1.1 and out > 18:
                        b.put(*cell, "smooth_stone")
    # The door towards the gold, and the arms above it.
    for x in range(128):
        for y in range(5, 19):
            for z in range(60, 82):
                side = (x - MIDDLE) * -sin(1.15) + (z - MIDDLE) * cos(1.15)
                out = (x - MIDDLE) * cos(1.15) + (z - MIDDLE) * sin(1.15)
                if 6 < out < 16 and hypot(side / 3.6, max(0, y - 10) / 5) <= 1 and b.at(x, y, z):
                    b.put(x, y, z, None)
    # Ivy in curtains, moss on the sills.
    for n in range(46):
        a, start = n * 2.399, 26 + int(44 * grain(n, 1, 1))
        for drop in range(6 + int(14 * grain(n, 2, 1))):
            y = start - drop
            cx, cz = tower_middle(y)
            turn = a + 0.08 * sin(drop * 0.6)
            for out in range(30, 16, -1):
                x, z = round(cx + out / 2 * cos(turn)), round(cz + out / 2 * sin(turn))
                if b.at(x, y, z):
                    ox, oz = round(cx + (out / 2 + 1) * cos(turn)), round(cz + (out / 2 + 1) * sin(turn))
                    b.put(ox, y, oz, "oak_leaves" if n % 4 else "flowering_azalea_leaves")
                    b.put(x, y, z, "moss_block")
                    break
    # A torn banner still hangs from the corbels.
    cx, cz = tower_middle(57)
    for a, colour, trim in ((0.15, "blue_concrete", "yellow_concrete"), (1.35, "blue_concrete", "yellow_concrete")):
        for drop in range(24):
            for w in range(-2, 3):
                x, z = cx + 12.2 * cos(a) - w * sin(a), cz + 12.2 * sin(a) + w * cos(a)
                if drop < 17 + 5 * grain(w, 5, int(a * 10)):
                    bright = abs(w) == 2 or w == 0 and 8 <= drop <= 11
                    b.put(round(x), 58 - drop, round(z), trim if bright else colour)


def hoard(b):
    """A slope of gold from the door to the chin, with crowns, chests and gems."""
    def top(x, z):
        return 19.7 - 0.46 * hypot((x - 72) * 0.8, (z - 88) * 1.05) + 2.4 * smooth_noise(x, 3, z, 5)

    for x in range(128):
        for z in range(128):
            ground = b.surface(x, z)
            high = int(top(x, z))
            if ground < 0 or ground > 20 or high <= 4:
                continue
            if high > ground and hypot(x - MIDDLE, z - MIDDLE) < 53:
                b.box(x, 5, z, x, high, z, "gold_block")
    gems = ("diamond_block", "emerald_block", "redstone_block", "lapis_block", "amethyst_block", "sea_lantern")
    for n in range(90):
        a, far = n * 2.399, 5 + 27 * grain(n, 1, 5) ** 0.7
        x, z = round(71 + far * cos(a)), round(86 + far * sin(a) * 0.8)
        y = b.surface(x, z)
        if 5 < y < 22 and b.at(x, y, z) in ("gold_block", "yellow_concrete"):
            if n % 3 == 0:
                b.box(x, y, z, x + 1, y + 1, z + 1, gems[n % 6])
            else:
                b.put(x, y + 1, z, gems[n % 6])
    for x, z in ((58, 84), (93, 84), (84, 76), (55, 98)):
        y = b.surface(x, z)
        b.box(x, y - 1, z, x + 7, y + 3, z + 4, "dark_oak_planks")
        for end in (0, 3, 7):
            b.walls(x + end, y - 1, z, x + end, y + 3, z + 4, "iron_block")
        b.box(x + 1, y + 3, z + 1, x + 6, y + 4, z + 3, "gold_block")
        b.box(x + 3, y + 5, z + 2, x + 4, y + 5, z + 2, gems[x % 5])
        b.box(x, y + 4, z - 1, x + 7, y + 7, z - 1, "dark_oak_planks")
        b.box(x, y + 7, z - 1, x + 7, y + 7, z, "iron_block")
    # A great crown and a goblet, half sunk; a sword and a shield.
    y = b.surface(80, 84)
    for n in range(48):
        a = n * pi / 24
        x, z = round(80 + 3.6 * cos(a)), round(84 + 3.6 * sin(a))
        b.box(x, y - 1, z, x, y + 2 + (n % 8 < 2) * 3, z, "gold_block")
        if n % 8 == 0:
            b.put(x, y + 6, z, "redstone_block")
            b.put(x, y + 1, z, "lapis_block")
    x, z = 62, 92
    y = b.surface(x, z)
    b.cylinder(x, z, y, y + 3, 1, "gold_block")
    b.cone(x, z, y + 4, y + 8, 1.5, 3, "gold_block")
    b.disc(x, y + 8, z, 2, "redstone_block")
    x, z = 88, 92
    y = b.surface(x, z)
    b.line((x, y, z), (x + 3, y + 13, z - 2), "iron_block")
    b.line((x + 1, y, z), (x + 4, y + 13, z - 2), "iron_block")
    b.line((x - 1, y + 10, z - 4), (x + 7, y + 10, z + 1), "gold_block")


SPINE = [ring(208, 55, 8), ring(190, 54, 7), ring(165, 53.5, 7), ring(135, 53.5, 7.5), ring(100, 53.5, 8),
         ring(65, 52, 9), ring(35, 48.5, 12), ring(10, 43.5, 18), ring(-25, 39.5, 24), ring(-60, 38, 27),
         ring(-95, 38, 28), ring(-130, 38.5, 29), ring(-160, 39, 34), ring(-185, 39, 43), ring(-208, 37.5, 48),
         ring(-228, 34.5, 45), ring(-246, 31.5, 38), ring(-258, 30, 33)]
THICK = [0.8, 1.6, 2.6, 3.4, 4.2, 5.4, 7.8, 11.5, 15.5, 17, 16.6, 16, 14, 11, 9.2, 8.6, 8.8, 8.2]


def scales(s, up, side, deep, long, number):
    """Rows of shields, each with a lighter rim; what lies deep inside is plain."""
    if deep > 1.2:
        return "red_concrete"
    row = int(s / long)
    turn = (atan2(side, up) / (2 * pi) * number + 0.5 * (row % 2)) % 1
    return "red_wool" if s % long > long - 1.3 or turn < 0.16 else "red_concrete"


def hide(s, up, side, deep, cell):
    """Scales, dark plates on the back, gold below."""
    if up < -0.42 and deep < 1.5 and cell[1] > (12 if up > -0.72 else 22):
        return "yellow_concrete" if s % 11 < 9 else "orange_wool"
    if up > 0.87 and deep < 2.5:
        return "nether_bricks"
    return scales(s, up, side, deep, 8.4, 12)


def body(b):
    places = limb(b, SPINE, THICK, hide)
    ridge(b, places)
    # The hind leg at the right, the fore leg at the left, both folded, claws in the ground.
    leg(b, [ring(-22, 44, 31), ring(2, 53, 27), ring(-6, 57, 14), ring(14, 57.5, 8)], [12, 8.4, 5, 4.2], 100)
    leg(b, [ring(-172, 43, 38), ring(-192, 52, 30), ring(-176, 56, 17), ring(-202, 52, 10)], [10, 6.8, 4.6, 3.8], 235)
    leg(b, [ring(-200, 30, 30), ring(-214, 24, 20), ring(-232, 24, 17)], [7, 5, 4], 60)
    # A blade at the end of the tail.
    x, y, z = SPINE[0]
    for n in range(15):
        half = 5.5 * sin(pi * min(1, n / 14 * 0.86 + 0.14)) ** 0.8
        px, _, pz = ring(206 + n * 0.95, 55, 0)
        px, pz = round(px), round(pz)
        b.box(px, round(y - half * 0.5), pz, px, round(y + half), pz, "nether_bricks")
        b.box(px + 1, round(y - half * 0.4), pz, px + 1, round(y + half * 0.8), pz, "black_concrete")


def ridge(b, places):
    """Plates along the back, tallest over the shoulders, a little to the outside of each other."""
    last = None
    for x, y, z, r in places:
        if last and hypot(x - last[0], y - last[1], z - last[2]) < max(3.2, r * 0.46):
            continue
        last = x, y, z
        out = hypot(x - MIDDLE, z - MIDDLE)
        i, k = (x - MIDDLE) / out, (z - MIDDLE) / out
        tall = 0.9 + 0.38 * r
        for step in range(int(tall * 3) + 1):
            t = step / (tall * 3)
            half = (0.9 + 0.15 * r) * (1 - t) ** 0.9
            cx, cz = x + i * r * 0.12, z + k * r * 0.12
            for w in range(-8, 9):
                side = w / 8 * half
                back = side - t * tall * 0.35
                px, py, pz = cx - k * back, y + r * 0.96 + t * tall, cz + i * back
                for d in (0, 0.8):
                    b.put(round(px + i * d), round(py), round(pz + k * d),
                          "black_concrete" if t > 0.55 else "nether_bricks")


def leg(b, points, radii, toward):
    def thigh(s, up, side, deep, cell):
        return scales(s, up, side, deep, 6.4, 9)
    limb(b, points, radii, thigh)
    x, y, z = points[-1]
    a = toward * pi / 180
    for n in (-1, 0, 1):
        i, k = cos(a + n * 0.5), sin(a + n * 0.5)
        toe = x + 6 * i, y - 1.5, z + 6 * k
        b.tube([(x, y, z), (x + 3.5 * i, y + 0.8, z + 3.5 * k), toe], [radii[-1] * 0.7, 2.2, 1.7], "red_concrete")
        b.tube([toe, (x + 8.5 * i, y - 1.4, z + 8.5 * k), (x + 10.4 * i, y - 4, z + 10.4 * k)], [1.5, 1.2, 0.8],
               "black_concrete")


def membrane(u, v):
    """Purple, brighter towards its hollow edge."""
    wave = 0.05 * sin(u * 19)
    return "magenta_wool" if v + wave > 0.88 else "purple_wool"


def finger(b, root, tip, lift, r1, r2, kind="nether_bricks"):
    mid = tuple((p + q) / 2 + (lift if k == 1 else 0) for k, (p, q) in enumerate(zip(root, tip)))
    b.tube([root, mid, tip], [r1, (r1 + r2) / 2, r2], kind)


def web(b, root, tip_a, tip_b, lift, sag):
    """The skin between two fingers, hollow at its edge."""
    def on(tip, t):
        return [p + (q - p) * t + (4 * lift * t * (1 - t) if k == 1 else 0) for k, (p, q) in enumerate(zip(root, tip))]
    rows = []
    for n in range(13):
        t = n / 12
        a, c = on(tip_a, t), on(tip_b, t)
        row = []
        for m in range(13):
            u = m / 12
            p = [v + (w - v) * u for v, w in zip(a, c)]
            pull = 4 * u * (1 - u) * sag * t ** 3
            row.append([v + (w - v) * pull - (1.5 * 4 * u * (1 - u) * t if k == 1 else 0)
                        for k, (v, w) in enumerate(zip(p, root))])
        rows.append(row)
    sheet(b, rows, membrane, 2)


def open_wing(b):
    """Thrown up from the left shoulder and let down over the back like a tent."""
    shoulder, elbow, wrist = ring(-168, 40, 47), ring(-160, 52, 70), ring(-138, 53, 96)
    tips = [ring(-188, 58, 44), ring(-172, 60.5, 16), ring(-150, 61, 8), ring(-124, 61, 8), ring(-98, 58, 22),
            ring(-84, 46, 52)]
    for p, q in zip(tips, tips[1:]):
        web(b, wrist, p, q, 3, 0.26)
    b.tube([shoulder, elbow, wrist], [5.2, 3.8, 3.0], "red_concrete")
    for tip in tips:
        finger(b, wrist, tip, 3.6, 1.7, 0.9)
    x, y, z = wrist
    b.tube([wrist, (x - 1, y + 6, z - 1), (x + 3, y + 11, z + 2)], [2.2, 1.4, 0.8], "black_concrete")
    # Skin from the elbow to the body.
    web(b, elbow, tips[0], ring(-176, 40, 44), 0, 0.1)


def folded_wing(b):
    """The other lies along the right flank, fingers together."""
    shoulder, wrist = ring(-112, 32, 46), ring(-34, 50, 50)
    elbow = ring(-78, 47, 53)
    tips = [ring(-8, 55, 38), ring(-22, 60, 24), ring(-44, 61, 14), ring(-68, 60.5, 14), ring(-90, 57, 26)]
    for p, q in zip(tips, tips[1:]):
        web(b, wrist, p, q, 2, 0.2)
    web(b, wrist, tips[-1], elbow, 1, 0.05)
    b.tube([shoulder, elbow, wrist], [4.6, 3.6, 2.8], "red_concrete")
    for tip in tips:
        finger(b, wrist, tip, 2.6, 1.6, 0.9)
    x, y, z = wrist
    b.tube([wrist, (x + 3, y + 5, z + 2), (x + 7, y + 5, z + 6)], [2, 1.4, 0.8], "black_concrete")


def head(b):
    """On the gold in front, its nose towards high x, a thread of smoke at the nostril."""
    def face(s, up, side, deep, cell):
        return "orange_wool" if up < -0.45 else scales(s, up, side, deep, 6.4, 9)

    cz = 97.0
    limb(b, [(57, 29, 92.5), (62, 27, 95), (67, 25.5, cz)], [8.2, 8.6, 9.6], face)
    limb(b, [(66, 25.5, cz), (76, 24, cz), (88, 21.6, cz), (95, 21.2, cz)], [9.8, 8.4, 6.4, 5.6], face, 0.92)
    b.ellipsoid(94, 23, cz, 4.6, 4.4, 6, "red_concrete")
    # The jaw, a paler lip, teeth that show.
    b.ellipsoid(80, 17.4, cz, 17, 3.4, 6.2, "orange_wool")
    b.ellipsoid(72, 17, cz, 9, 4.6, 7.4, "orange_wool")
    b.solid(lambda x, y, z: b.at(x, y, z) in ("red_concrete", "red_wool", "orange_wool")
            and round(y + (x - 72) * 0.02) == 19, "nether_bricks", (71, 17, 86, 100, 21, 108))
    for x in range(76, 98, 4):
        for way in (-1, 1):
            z = next((z for z in (range(110, 97, -1) if way > 0 else range(84, 97)) if b.at(x, 20, z)), None)
            if z is not None:
                b.box(x, 18, z, x + 1, 20, z, "quartz_block")
                b.put(x, 17, z, "quartz_block")
    # Closed eyes: a heavy lid, a dark curved line, a brow of horn.
    for way in (-1, 1):
        def side_of(x, y):
            zs = [z for z in range(80, 115) if b.at(x, y, z) in ("red_concrete", "red_wool")]
            return (max(zs) if way > 0 else min(zs)) if zs else None
        b.ellipsoid(73.5, 27.5, cz + way * 6.6, 5, 3.2, 2.6, "red_concrete")
        for x in range(69, 79):
            y = 26 + round(((x - 73.5) / 4.5) ** 2 * 1.8)
            z = side_of(x, y)
            if z is not None:
                b.put(x, y, z, "black_concrete")
                b.put(x, y - 1, z, "black_concrete")
        b.tube([(66, 31, cz + way * 6), (72, 31.5, cz + way * 7.6), (79, 29, cz + way * 6.8)], [1.5, 1.7, 1.0],
               "nether_bricks")
        # Horns that sweep back and up, cheek spikes, a nostril.
        b.tube([(64, 33, cz + way * 5), (57, 40, cz + way * 9), (49, 46, cz + way * 10.5), (44, 54, cz + way * 8.5),
                (44, 61, cz + way * 6)], [3, 2.7, 2.2, 1.6, 0.8],
               lambda x, y, z: "quartz_block" if (x + y) % 6 else "sandstone")
        b.tube([(63, 29, cz + way * 8), (57, 31, cz + way * 13), (51, 36, cz + way * 15)], [2, 1.5, 0.8],
               "quartz_block")
        b.tube([(65, 22, cz + way * 9), (60, 21, cz + way * 13), (55, 23, cz + way * 15.5)], [1.8, 1.3, 0.8],
               "nether_bricks")
        b.tube([(70, 17, cz + way * 7), (66, 15, cz + way * 11), (62, 16, cz + way * 13)], [1.6, 1.1, 0.8],
               "nether_bricks")
        b.ball(96, 25.4, cz + way * 3, 1.9, "red_concrete")
        b.ball(97.6, 25.2, cz + way * 3.2, 1.2, "black_concrete")
    # Plates up the snout and a small horn.
    for x in (71, 76, 81, 86):
        y = max((y for y in range(60) if b.at(x, y, 97) in ("red_concrete", "red_wool")), default=28)
        b.cone(x, cz, y, y + 3, 1.7, 0.4, "nether_bricks")
    b.tube([(92, 26, cz), (94, 30, cz), (93.4, 34, cz)], [2, 1.3, 0.7], "quartz_block")
    for x, y, z, r in ((99.5, 26.5, 100.5, 1.2), (101, 29, 101, 1.6), (101, 32.5, 100, 2), (99.5, 36.5, 100.5, 2.2),
                       (100.5, 40.5, 102, 1.7), (101.5, 43.5, 102, 1.1)):
        b.ball(x, y, z, r, lambda i, j, k: "light_gray_wool" if grain(i, j, k) > 0.4 else "white_wool")


def surroundings(b):
    """Stones of the fallen top, dead trees, crystals, mushrooms, bones; fires that still burn."""
    for n in range(60):
        a, far = n * 2.399, 18 + 40 * grain(n, 1, 8)
        x, z = round(MIDDLE + far * cos(a)), round(MIDDLE + far * sin(a))
        y = b.surface(x, z)
        if not 3 <= y <= 10 or b.at(x, y, z) in ("gold_block", "yellow_concrete"):
            continue
        kind = n % 7
        if kind in (0, 3):
            size = 1 + int(2 * grain(n, 3, 1))
            b.box(x, y, z, x + size + 1, y + size, z + size, masonry)
        elif kind == 1:
            b.tube([(x, y, z), (x + 1, y + 3, z), (x + 0.4, y + 6 + 4 * grain(n, 4, 4), z + 1)], [1.7, 1.1, 0.7],
                   lambda i, j, k: "amethyst_block" if grain(i, j, k) > 0.25 else "magenta_wool")
            b.tube([(x, y, z), (x - 2, y + 4, z + 1)], [1.2, 0.7], "amethyst_block")
        elif kind == 2:
            b.ellipsoid(x, y + 0.4, z, 2.4, 1.9, 2.4, lambda i, j, k: b.at(i, j, k) or
                        ("flowering_azalea_leaves" if grain(i, j, k) > 0.4 else "oak_leaves"))
        elif kind == 4:
            b.box(x, y + 1, z, x, y + 3, z, "white_concrete")
            b.disc(x, y + 4, z, 2.4, "cyan_wool")
            b.disc(x, y + 5, z, 1.3, "light_blue_wool")
            b.put(x, y + 3, z, "sea_lantern")
        elif kind == 5:
            b.ball(x, y + 0.6, z, 1.8 + 1.4 * grain(n, 6, 6), "andesite")
    for degrees, far, tall, lean in ((118, 59, 15, 3), (150, 59, 12, -3), (-14, 61, 13, 2)):
        x, _, z = ring(degrees, far, 0)
        y = b.surface(round(x), round(z))
        if 3 <= y <= 12:
            b.tube([(x, y - 1, z), (x + lean, y + tall * 0.5, z), (x + lean * 0.4, y + tall, z + 2)], [2.2, 1.6, 0.8],
                   "spruce_log")
            b.tube([(x + lean, y + tall * 0.5, z), (x + lean + 5, y + tall * 0.8, z - 3)], [1.2, 0.7], "spruce_log")
            b.tube([(x + lean * 0.8, y + tall * 0.65, z), (x - 4, y + tall * 0.95, z + 3)], [1.1, 0.7], "spruce_log")
    # Lanterns on broken posts where the road once came up.
    for degrees, far in ((75, 59), (58, 60), (112, 59), (30, 60)):
        x, _, z = ring(degrees, far, 0)
        x, z = round(x), round(z)
        y = b.surface(x, z)
        if 3 <= y <= 12:
            b.box(x, y + 1, z, x + 1, y + 4, z + 1, masonry)
            b.box(x, y + 5, z, x + 1, y + 6, z + 1, "glowstone")
            b.box(x, y + 7, z, x + 1, y + 7, z + 1, "dark_oak_planks")
