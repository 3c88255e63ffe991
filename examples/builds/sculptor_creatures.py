"""Animals."""

from math import atan2, cos, exp, floor, hypot, log, pi, sin, sqrt

from sculptor_ground import ROCK, inside_shore
from voxels import Build, along, grain


def snail():
    """Over a fallen log, its neck stretched to see what comes next."""
    b = Build()
    fallen_log(b)
    foot(b)
    shell(b, 11.8, 18.2, 15.5)
    snail_head(b)
    return b


def fallen_log(b):
    """A trunk that lies askew on moss, with toadstools and ferns."""
    for x in range(32):
        for z in range(32):
            if inside_shore(x, z, 16.4, 14.5):
                top = int(0.6 + 1.1 * sin(x * 0.3) * sin(z * 0.35) + grain(x // 2, 2, z // 2))
                b.box(x, 0, z, x, max(0, top), z, "dirt")
                b.put(x, max(0, top), z, "grass_block")
    b.tube([(1, 2.5, 17.5), (8, 3.6, 16), (16, 4, 15.5), (24, 3.6, 15), (30.5, 2.4, 13.5)], [4.0, 4.6, 5, 4.4, 3.5],
           "oak_log")
    b.repaint(lambda x, y, z, kind: kind == "oak_log" and y >= 5 and grain(x // 3, y, z // 2) > 0.5, "green_wool")
    b.solid(lambda x, y, z: hypot(y - 2.5, z - 17.5) < 3 and b.at(x, y, z) == "oak_log",
            "oak_planks", (0, 0, 12, 1, 8, 22))
    b.tube([(20, 4, 19), (22, 5, 22.5), (21, 8, 25.5)], [1.7, 1.2, 0.9], "oak_log")
    b.ball(21, 9.5, 26, 2.2, "oak_leaves")
    b.tube([(9, 4, 12), (8, 4, 8), (9, 6, 5)], [1.7, 1.2, 0.9], "oak_log")
    b.ball(9, 7.5, 4.6, 1.9, "oak_leaves")
    for x, z, h, r, kind in ((26, 24, 3, 2.3, "red_wool"), (28, 21, 2, 1.5, "orange_wool"),
                             (5, 25, 3, 2.2, "orange_wool"), (24, 6, 3, 2.3, "red_wool"),
                             (3, 9, 2, 1.7, "orange_wool"), (14, 27, 1, 1.4, "red_wool")):
        y = b.surface(x, z)
        b.box(x, y + 1, z, x, y + h, z, "white_wool")
        b.disc(x, y + h + 1, z, r, kind)
        b.disc(x, y + h + 2, z, r - 1, kind)
        b.put(x + 1, y + h + 1, z + 1, "white_wool")
        b.put(x - 1, y + h + 2, z, "white_wool")
    for x, z in ((11, 26), (18, 28), (30, 17), (15, 5), (20, 4), (28, 9)):
        y = b.surface(x, z)
        if y >= 0:
            b.put(x, y + 1, z, "oak_leaves")
            b.put(x + 1, y + 1, z, ("yellow_wool", "blue_wool")[x % 2])


def skin_tone(x, y, z):
    return "orange_wool" if grain(x, y, z) > 0.9 else "yellow_wool"


def foot(b):
    """A wave of muscle: a wide sole, a pointed tail, a neck."""
    for x in range(1, 29):
        t = (x - 1) / 27
        half = 4.6 * min(1, (t * 2.6) ** 0.7) * (1 - 0.35 * t)
        base = 7.2 + 1.1 * sin(pi * t) - 4.4 * max(0, 0.25 - t)
        for z in range(32):
            side = abs(z - 15.5 - 0.8 * sin(x * 0.3)) / max(half + 0.35 * sin(x * 1.6), 0.5)
            if side <= 1:
                top = base + (1.2 + 3.2 * min(1, t * 2)) * (1 - side ** 2) ** 0.6
                for y in range(round(base), round(top) + 1):
                    b.put(x, y, z, "orange_wool" if y == round(base) else skin_tone)
                b.box(x, round(base) - 2, z, x, round(base) - 1, z, lambda i, j, k: b.at(i, j, k) or "orange_wool")
    b.tube([(19, 9, 15.5), (24, 11, 15.5), (26.5, 15, 15.5), (27, 18, 15.5)], [3.4, 3.2, 2.8, 2.7], skin_tone)
    b.tube([(23.5, 7.5, 15.5), (27, 9, 15.5), (29, 13.5, 15.5)], [2.6, 2.2, 1.2], "orange_wool")


def shell(b, cx, cy, cz):
    """A spiral that rises to both sides, striped across, a line between its whorls."""
    shrink = 0.092

    def place(x, y):
        """How far along the spiral, how far across its whorl, and the whorl's width."""
        a = (atan2(y - cy, x - cx) + 0.75) % (2 * pi)
        out = max(hypot(x - cx, y - cy), 0.4)
        edge = 11.8 * exp(-shrink * a)
        if out > edge:
            return None
        turn = int(log(edge / out) / (2 * pi * shrink))
        outer = edge * exp(-2 * pi * shrink * turn)
        width = outer * (1 - exp(-2 * pi * shrink))
        return a + 2 * pi * turn, (outer - out) / width, width

    for x in range(32):
        for y in range(32):
            here = place(x, y)
            if not here:
                continue
            a, across, width = here
            rise = 1.1 + 0.28 * a if a < 15 else 5.3
            deep = rise + 0.85 * width * max(0, 1 - (2 * across - 1) ** 2) ** 0.5
            for z in range(32):
                if abs(z - cz) <= deep:
                    b.put(x, y, z, stripe(a, across))
    # A lip where the body comes out.
    for x in range(32):
        for y in range(32):
            out, a = hypot(x - cx, y - cy), (atan2(y - cy, x - cx) + 0.75) % (2 * pi)
            if 4.6 < out < 12.2 and (a < 0.14 or a > 6.2):
                for z in range(32):
                    if hypot((out - 8.3) / 4.3, (z - cz) / 5.2) <= 1:
                        b.put(x, y, z, "white_wool")


def stripe(a, across):
    """Bands across the widest whorl, one line along the next, a bright middle."""
    if a > 11.8:
        return "yellow_wool"
    if a > 2 * pi - 0.2:
        return "blue_wool" if across > 0.3 or a < 2 * pi else "white_wool"
    return "white_wool" if (a * 6.5 / (2 * pi) + 0.1) % 1 < 0.42 else "purple_wool"


def snail_head(b):
    b.ellipsoid(28, 18.5, 15.5, 3.2, 2.9, 3.2, skin_tone)
    for z, out in ((13.5, -1), (17.5, 1)):
        b.tube([(27.5, 20, z), (27.5, 24, z + out * 1.6), (28.5, 27.5, z + out * 2.8)], [1.2, 0.9, 0.9], "yellow_wool")
        b.ball(28.7, 28.6, z + out * 3.0, 1.9, "white_wool")
        b.box(30, 28, round(z + out * 3 - 0.5), 31, 29, round(z + out * 3 + 0.4), "black_wool")
        b.tube([(30, 17.5, z), (31, 16, z + out * 0.8)], [0.8, 0.7], "orange_wool")
    # A small, pleased mouth and rosy cheeks.
    for z, y in ((14, 17), (15, 16), (16, 16), (17, 17)):
        x = max((x for x in range(32) if b.at(x, y, z)), default=30)
        b.put(x, y, z, "black_wool")
    for z in (12, 13, 18, 19):
        x = max((x for x in range(25, 32) if b.at(x, 18, z)), default=30)
        b.put(x, 18, z, "red_wool")


def arm(b, path, radii, flip=1):
    """A limb with suckers on the inside of its bends."""
    steps = list(along(path, radii))
    b.tube(path, radii, octopus_skin)
    last = None
    for n in range(6, len(steps) - 6):
        x, y, z, r = steps[n]
        if last and sqrt(sum((p - q) ** 2 for p, q in zip((x, y, z), last))) < max(1.6, r * 1.1):
            continue
        last = x, y, z
        a, c = steps[n - 6], steps[n + 6]
        bend = [a[k] + c[k] - 2 * steps[n][k] for k in range(3)]
        size = sqrt(sum(v * v for v in bend))
        bend = [v / size for v in bend] if size > 0.05 else [0, -1, 0]
        bend[1] -= 0.35
        px, py, pz = (p + flip * v * r for p, v in zip((x, y, z), bend))
        if py > 1.5:
            b.ball(px, py, pz, max(0.7, r * 0.5), "white_wool")


def octopus_skin(x, y, z):
    blotch = sin(x * 0.7 + 1.3 * sin(z * 0.5)) * sin(y * 0.6 + 1) * sin(z * 0.75 + x * 0.2)
    return "red_wool" if blotch > 0.5 else "orange_wool"


def octopus():
    """All arms and temper: one hugs the chest, one lifts a sword, one a pearl."""
    b = Build()
    seabed(b)
    chest(b)
    arms(b)
    mantle(b)
    return b


def seabed(b):
    for x in range(32):
        for z in range(32):
            if inside_shore(x, z, 16.6, 16.6):
                ripple = 1.5 + 0.5 * sin(x * 0.9 + 1.2 * sin(z * 0.4)) + 1.6 * max(0, 1 - hypot(x - 12, z - 12) / 9)
                b.box(x, 0, z, x, int(ripple), z, "sand")
    b.ellipsoid(12, 1, 12, 8, 4.2, 7.5, ROCK)
    b.ellipsoid(3.5, 1, 22, 3, 2.6, 2.6, ROCK)
    # Corals like hands and fans, weed that sways.
    for x, z, h, kind in ((27, 6, 9, "red_wool"), (4, 5, 8, "yellow_wool"), (5, 23, 6, "purple_wool")):
        for side in range(5):
            a = side * 1.3 + x
            b.tube([(x, 1, z), (x + 1.2 * cos(a), 1 + h * 0.5, z + 1.2 * sin(a)),
                    (x + 2.6 * cos(a), 1 + h * (0.7 + 0.08 * side), z + 2.6 * sin(a))], [1, 0.8, 0.7], kind)
    for x, z, h in ((29, 12, 8), (16, 2, 9), (2, 15, 7), (10, 29, 6), (30, 18, 5), (8, 3, 6)):
        for y in range(1, h + 2):
            b.put(x + round(0.9 * sin(y * 0.8 + x)), y, z + round(0.5 * cos(y * 0.7 + z)), "green_wool")
            b.put(x + round(0.9 * sin((y + 1) * 0.8 + x)), y, z + round(0.5 * cos(y * 0.7 + z)), "green_wool")
    for x, z in ((27, 27), (6, 27), (20, 4)):
        y = b.surface(x, z)
        if y >= 0:
            for i, k in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)):
                b.put(x + i, y + 1, z + k, "red_wool")


def chest(b):
    """Fat and open, its lid like a wave, coins spilling to the front."""
    b.solid(lambda x, y, z: y <= 4.2 - 0.32 * hypot(x - 23, (z - 25) * 1.1) + grain(x, 2, z) * 0.8 and b.at(x, 0, z),
            "gold_block", (14, 1, 16, 31, 5, 31))
    b.box(18, 1, 18, 27, 6, 23, "oak_planks")
    for x in (18, 22, 23, 27):
        b.box(x, 1, 18, x, 6, 23, "iron_block")
    b.box(18, 6, 18, 27, 6, 23, "oak_log")
    b.box(19, 6, 19, 26, 7, 22, "gold_block")
    b.box(20, 8, 20, 25, 8, 21, "gold_block")
    b.box(22, 4, 24, 23, 5, 24, "gold_block")
    b.put(22, 4, 24, "black_wool")
    for x, y, z, kind in ((20, 8, 22, "red_wool"), (24, 9, 20, "blue_wool"), (25, 8, 22, "green_wool"),
                          (22, 9, 21, "glowstone"), (21, 9, 20, "purple_wool"), (19, 8, 21, "glowstone")):
        b.put(x, y, z, kind)
    for x in range(18, 28):
        for z, y in ((17, 7), (17, 8), (16, 8), (16, 9), (16, 10), (15, 10), (15, 11), (15, 12), (16, 12), (16, 13),
                     (17, 13)):
            b.put(x, y, z, "iron_block" if x in (18, 22, 23, 27) else "oak_planks")


def arms(b):
    # Round the chest from both sides.
    arm(b, [(17, 7, 15), (20, 10, 17), (27, 11, 17), (30, 7, 21), (28, 4, 27), (22, 2.6, 28.5), (18, 3.5, 27)],
        [3, 2.6, 2.2, 1.9, 1.6, 1.3, 0.9])
    arm(b, [(12, 7, 18), (13, 5, 23), (15, 4, 26), (16.5, 7, 24.5), (19, 9.5, 23), (21, 9, 22)],
        [3, 2.4, 2, 1.6, 1.3, 1.1])
    # Lifted high, with a sword; out to the side, so that it does not cross the face.
    arm(b, [(18, 8, 11), (24, 8, 6.5), (28.5, 12, 4), (28, 19, 3.5), (24.5, 23, 5), (25.5, 27, 6), (28.5, 26.5, 7)],
        [3, 2.6, 2.2, 1.8, 1.5, 1.2, 1.0])
    b.line((25, 22, 7), (31, 31, 7), "iron_block")
    b.line((26, 22, 7), (31, 30, 7), "iron_block")
    b.box(24, 24, 7, 29, 25, 7, lambda x, y, z: "gold_block" if x + y in (50, 51) else b.at(x, y, z))
    # Lifted and curled round a pearl, on the other side.
    arm(b, [(7, 8, 15), (2.5, 8, 18.5), (1.5, 13, 21.5), (2.5, 18, 23), (6.2, 19, 23.5), (7.4, 15.8, 23),
            (4.8, 14.4, 22.5)], [3, 2.4, 1.9, 1.6, 1.4, 1.2, 0.9])
    b.ball(4.6, 17, 23.5, 1.6, "glowstone")
    # Creeping away over the rock, curling at the tips.
    arm(b, [(6, 6, 10), (2.5, 5, 10), (1.8, 2.5, 13.5), (2, 2.4, 18), (3.5, 4, 19.5)], [2.8, 2.2, 1.7, 1.3, 0.8])
    arm(b, [(9, 6, 7), (7, 5, 3), (11, 2.5, 1.6), (16, 2.5, 1.5), (18, 4.5, 2), (16.5, 6, 2.5)],
        [2.8, 2.2, 1.8, 1.5, 1.2, 0.8])
    arm(b, [(14, 6, 7), (19, 5, 5.5), (23, 2.8, 3), (27, 3.2, 4), (28, 6, 5.5), (26.5, 7.5, 5)],
        [2.9, 2.3, 1.8, 1.5, 1.2, 0.8])
    arm(b, [(12, 5, 17), (8, 4, 22), (7.5, 2.5, 26), (11, 2.5, 29), (14, 4.5, 29), (13, 6.5, 28)],
        [2.6, 2.1, 1.7, 1.5, 1.2, 0.8])


def mantle(b):
    """The head leans back, brows knitted, eyes on whoever comes near."""
    b.tube([(12.5, 7, 12.5), (12.5, 12, 12.5), (11, 18, 11), (8, 24, 8.2), (6.5, 26, 7)], [6.4, 5.6, 6.8, 5.4, 3.6],
           octopus_skin)
    for n in range(14):
        a, t = n * 2.4, (n % 5) / 5
        cx, cy, cz = 11 - 4 * t, 17 + 8 * t, 11 - 4 * t
        r = 6.6 - 1.4 * t
        b.solid(lambda x, y, z: hypot(x - cx - r * cos(a), y - cy - 1.5, z - cz - r * sin(a)) < 1.5
                and b.at(x, y, z) == "orange_wool", "red_wool")
    for x, z, i, k in ((17.6, 11.4, 1, 0.3), (11.4, 17.6, 0.3, 1)):
        eye(b, x, 14.2, z, i, k)


def eye(b, cx, cy, cz, i, k):
    """Wide awake under a heavy brow; it looks towards (i, k)."""
    b.ball(cx, cy, cz, 3.5, "white_wool")

    def look(x, y, z):
        """How far from the middle of its gaze a cell of the eye is."""
        return hypot(x - cx - 3.2 * i, y - cy + 0.2, z - cz - 3.2 * k)

    b.repaint(lambda x, y, z, kind: kind == "white_wool" and look(x, y, z) < 2.6, "yellow_wool")
    b.repaint(lambda x, y, z, kind: kind == "yellow_wool" and look(x, y, z) < 1.9, "black_wool")

    def brow(x, y, z):
        """A cap over the ball that hangs lower on one side."""
        side = (z - cz) * i - (x - cx) * k
        return hypot(x - cx, y - cy, z - cz) < 4.3 and y > cy + 1.6 + side * (0.3 if side > 0 else 0.09)

    b.solid(brow, "red_wool", (floor(cx) - 5, floor(cy), floor(cz) - 5, floor(cx) + 5, floor(cy) + 5, floor(cz) + 5))
    b.put(round(cx + 3.4 * i + k), round(cy) + 1, round(cz + 3.4 * k - i), "white_wool")


def sleeping_dragon():
    """Curled up nose to tail around its gold, one wing thrown over itself."""
    b = Build()
    lair(b)

    def ring(degrees, r, y):
        a = degrees * pi / 180
        return 15.5 + r * cos(a), y, 15.5 + r * sin(a)

    spine = [ring(165, 14, 3.6), ring(135, 13.6, 3.4), ring(95, 13.3, 3.4), ring(55, 12.8, 3.8),
             ring(15, 11.6, 5), ring(-30, 10, 7.2), ring(-75, 9.8, 8.2), ring(-120, 10, 8.4),
             ring(-160, 10, 9.5), ring(-190, 10, 12), ring(-218, 9.6, 13.2), ring(-245, 8.6, 11.5),
             (14, 9, 24.5)]
    thick = [0.7, 1.1, 1.4, 1.9, 2.9, 4.4, 4.9, 4.7, 4.0, 3.0, 2.5, 2.3, 2.4]

    def scales(x, y, z):
        return "red_wool" if grain(x, y, z) < 0.93 else "orange_wool"
    b.tube(spine, thick, scales)
    # A paler belly on the inside of the curl.
    b.repaint(lambda x, y, z, kind: kind in ("red_wool", "orange_wool") and y < 8
              and hypot(x - 15.5, z - 15.5) < 7.2 and z < 19, "yellow_wool")
    spines(b, spine, thick)
    legs(b)
    dragon_head(b)
    wing(b)
    # The tail ends in a blade.
    for x, z, h in ((3, 21, 1), (2, 20, 2), (2, 19, 2), (1, 19, 1), (3, 19, 1), (2, 18, 1)):
        b.box(x, 3, z, x, 3 + h, z, "black_wool")
    return b


def spines(b, spine, thick):
    places = list(along(spine, thick))
    last = None
    for x, y, z, r in places[: int(len(places) * 0.93)]:
        if last and hypot(x - last[0], z - last[1]) < (1.8 if r < 2 else 2.8):
            continue
        last = x, z
        out = hypot(x - 15.5, z - 15.5)
        x, z = x + (x - 15.5) / out * r * 0.2, z + (z - 15.5) / out * r * 0.2
        x, z = round(x), round(z)
        top = max((n for n in range(32) if b.at(x, n, z) in ("red_wool", "orange_wool")), default=0)
        if not top or z > 25:
            continue
        b.box(x, top + 1, z, x, top + (1 if r < 2 else 2), z, "black_wool")
        if r > 3.5:
            for i, k in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                if b.at(x + i, top, z + k):
                    b.put(x + i, top + 1, z + k, "black_wool")
            b.put(x, top + 3, z, "black_wool")


def legs(b):
    b.tube([(25, 8, 11), (28, 6, 15), (27, 4, 19)], [3.4, 2.4, 1.5], "red_wool")
    b.tube([(5, 9, 17), (3, 6, 20), (7, 4, 25)], [2.8, 2.0, 1.5], "red_wool")
    for x, z in ((26, 21), (27, 21), (28, 21), (9, 27), (10, 26), (8, 27)):
        b.put(x, 3, z, "black_wool")


def dragon_head(b):
    """Paler than the coil it lies on, turned so that the snout comes towards whoever looks in."""
    along_x, along_z = cos(0.5), sin(0.5)

    def place(u, y, v):
        """A cell from how far along the head, how high and how far to its left side."""
        return 12.5 + u * along_x - v * along_z, y, 23 + u * along_z + v * along_x

    def shape(x, y, z):
        """How far along the head a cell is, how far to the side, and how wide the head is there."""
        u, v = (x - 12.5) * along_x + (z - 23) * along_z, (z - 23) * along_x - (x - 12.5) * along_z
        skull = 5 * sqrt(max(0, 1 - (u / 5.4) ** 2 - ((y - 9) / 4.6) ** 2))
        nose = exp(-(u - 11) ** 2 / 3)
        snout = (3.5 - 0.1 * u + 0.6 * nose) * (0 <= u <= 12.4 and 4.6 < y < 10.4 - 0.12 * u + nose)
        return u, v, max(skull, snout)

    def kind(x, y, z):
        u, v, wide = shape(x, y, z)
        outside = abs(v) > wide - 1.1
        if outside and (y == 7 and u > 1 or y == 9 and 1.2 < u < 4.4 or y == 10 and 0.4 < u <= 1.2):
            return "black_wool"  # the mouth, and the eye that is shut
        if y < 7 and u > -1:
            return "yellow_wool"
        return "red_wool" if abs(v) < 1 and u < 9 or y >= 11 and outside and u > 0 else "orange_wool"

    b.solid(lambda x, y, z: abs(shape(x, y, z)[1]) <= shape(x, y, z)[2], kind, (4, 5, 15, 31, 15, 31))
    for side in (1, -1):
        b.tube([place(-1.5, 12.5, 2.8 * side), place(-5, 15, 5 * side), place(-7.5, 19.5, 6 * side)],
               [1.5, 1.1, 0.7], "white_wool")
        b.put(*(round(n) for n in place(11.6, 10, 1.6 * side)), "black_wool")
        for u in (3, 6, 9):
            x, y, z = place(u, 6, side * (3.6 - 0.1 * u))
            b.put(round(x), y, round(z), "white_wool")


def skin(b, root, curve, kind):
    """A curved sheet from one point to a curve."""
    for x, y, z, _ in along(curve, [1] * len(curve)):
        n = 90
        for i in range(n + 1):
            t = i / n
            bulge = 1.6 * sin(pi * t)
            b.put(round(root[0] + (x - root[0]) * t), round(root[1] + (y - root[1]) * t + bulge),
                  round(root[2] + (z - root[2]) * t), kind)


def wing(b):
    wrist = (6, 24, 6)
    shoulder = (6, 12, 14)
    tips = [(2, 9, 17), (1, 5, 8), (7, 5, 1), (17, 8, 1), (25, 14, 3), (24, 19, 9)]
    edge = []
    for p, q in zip(tips, tips[1:]):
        mid = [(u + v) / 2 for u, v in zip(p, q)]
        edge += [p, tuple(m + (w - m) * 0.16 for m, w in zip(mid, wrist))]
    edge.append(tips[-1])
    skin(b, wrist, edge, "purple_wool")
    for tip in tips:
        n = 60
        for i in range(n + 1):
            t = i / n
            b.put(*(round(w + (p - w) * t + (1.6 * sin(pi * t) + 0.4 if k == 1 else 0))
                    for k, (w, p) in enumerate(zip(wrist, tip))), "black_wool")
    b.tube([shoulder, (4, 18, 11), wrist], [1.9, 1.5, 1.3], "red_wool")
    b.line(wrist, (7, 26, 6), "black_wool")


def lair(b):
    for x in range(32):
        for z in range(32):
            if not inside_shore(x, z, 16.6, 16.6):
                continue
            far = hypot(x - 15.5, z - 15.5)
            top = 1.6 + 0.8 * grain(x // 2, 1, z // 2) + (1.6 * grain(x // 3, 5, z // 3) if far > 12 else 0)
            b.box(x, 0, z, x, int(top), z, ROCK)
    b.solid(lambda x, y, z: y >= 1 and y <= 6.5 - 0.09 * hypot(x - 15.5, z - 17) ** 1.8 + grain(x, 3, z),
            "gold_block", (7, 1, 7, 24, 9, 27))
    for x, z, kind in ((13, 17, "blue_wool"), (17, 15, "green_wool"), (19, 18, "purple_wool"), (15, 20, "blue_wool"),
                       (11, 19, "green_wool")):
        b.put(x, b.surface(x, z) + 1, z, kind)
    b.box(16, b.surface(16, 17), 17, 18, b.surface(16, 17) + 1, 18, "oak_planks")
    b.put(17, b.surface(17, 18), 18, "glowstone")
    for x, z, h, r in ((29, 26, 9, 2.1), (26, 29, 5, 1.5), (30, 22, 4, 1.2), (4, 28, 7, 1.9), (29, 5, 11, 2.3),
                       (27, 3, 6, 1.6)):
        b.cone(x, z, 0, h, r, 0.4, ROCK)
    for x, z in ((25, 27), (3, 24), (28, 8), (29, 23)):
        b.put(x, b.surface(x, z) + 1, z, "glowstone")
