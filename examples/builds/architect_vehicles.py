"""Things that move, by reference_architect: a locomotive, a ship, a balloon, a fire engine."""

from math import atan2, cos, pi, sin, sqrt

from architect_kit import far, lamp, rod
from voxels import Build, grain, mix


def steam_locomotive():
    """A tank engine on its track, facing high x; its middle is z = 15."""
    b = Build()
    track(b)

    # Frames between the wheels, and the running board above them.
    b.box(1, 5, 13, 28, 9, 17, "black_wool")
    b.box(1, 9, 12, 28, 9, 12, "black_wool")
    b.box(1, 10, 10, 28, 10, 20, "black_wool")
    for x in (8, 16):
        driver(b, x)
    for x in (2, 23, 28):
        small_wheel(b, x)

    # Cylinder, piston rod, connecting rod and coupling rod.
    b.box(23, 7, 9, 27, 9, 10, "green_wool")
    b.box(23, 7, 9, 23, 9, 10, "gold_block")
    b.box(27, 7, 9, 27, 9, 10, "gold_block")
    b.box(16, 8, 10, 22, 8, 10, "iron_block")
    b.box(7, 5, 10, 17, 5, 10, "iron_block")
    b.put(16, 6, 10, "iron_block")
    b.put(16, 7, 10, "iron_block")

    # Boiler in bands, smokebox with a studded door.
    b.barrel(10, 22, 14, 15, 4.3, "green_wool")
    for x in (11, 16, 21):
        b.barrel(x, x, 14, 15, 4.3, "gold_block")
    b.barrel(23, 28, 14, 15, 4.3, "black_wool")
    b.barrel(23, 23, 14, 15, 4.5, "iron_block")
    b.barrel(28, 28, 14, 15, 4.3, "iron_block", hole=3.3)
    b.barrel(29, 29, 14, 15, 2.3, "black_wool")
    b.put(30, 14, 15, "gold_block")
    b.box(24, 10, 12, 28, 10, 18, "black_wool")

    # Chimney, sand dome, steam dome, bell, whistle.
    b.cylinder(26, 15, 18, 22, 1.5, "black_wool")
    b.cylinder(26, 15, 18, 18, 2.3, "black_wool")
    b.cone(26, 15, 22, 24, 1.5, 2.3, "black_wool")
    b.disc(26, 24, 15, 2.3, "gold_block", hole=1.5)
    b.put(26, 24, 15, None)
    b.cylinder(21, 15, 18, 19, 1.5, "green_wool")
    b.cylinder(21, 15, 20, 20, 1, "gold_block")
    b.cylinder(16.5, 15, 18, 20, 1.6, "gold_block")
    b.box(16, 21, 15, 17, 21, 15, "gold_block")
    b.box(13, 18, 15, 13, 20, 15, "iron_block")
    b.put(13, 20, 15, "gold_block")

    # Headlamp on a bracket, buffer beam, buffers, cowcatcher.
    b.box(28, 18, 14, 28, 20, 16, "black_wool")
    b.put(29, 19, 15, "glowstone")
    b.put(28, 21, 15, "gold_block")
    b.put(28, 19, 14, "gold_block")
    b.box(29, 8, 10, 29, 9, 20, "red_wool")
    b.box(30, 8, 11, 30, 9, 12, "iron_block")
    b.put(31, 8, 11, "black_wool")
    for step, y in enumerate((3, 4, 5, 6, 7)):
        for z in range(10 + step // 2, 16):
            reach = 31 - abs(z - 15) // 3 - step // 2
            b.box(29, y, z, reach, y, z, "red_wool" if (z + 1) % 2 else "iron_block")

    # Cab: panelled sides, windows front, side and back, an arched roof that overhangs.
    b.walls(3, 11, 10, 9, 19, 20, "green_wool")
    b.box(3, 11, 11, 3, 15, 19, None)
    b.box(3, 11, 11, 8, 11, 19, "oak_planks")
    b.box(4, 14, 10, 8, 14, 10, "gold_block")
    b.box(5, 15, 10, 7, 18, 10, "glass")
    b.box(4, 15, 10, 4, 18, 10, "oak_log")
    b.box(8, 15, 10, 8, 18, 10, "oak_log")
    b.box(6, 12, 10, 6, 12, 10, "gold_block")
    b.box(9, 17, 11, 9, 18, 12, "glass")
    b.box(3, 17, 12, 3, 18, 14, "glass")
    b.box(9, 11, 12, 9, 16, 18, "black_wool")
    b.box(8, 12, 14, 8, 13, 16, "orange_wool")  # the fire door
    b.put(8, 13, 15, "glowstone")
    b.box(2, 20, 9, 10, 20, 21, "black_wool")
    b.box(2, 21, 11, 10, 21, 19, "black_wool")
    b.box(3, 22, 13, 9, 22, 17, "black_wool")
    b.box(2, 20, 9, 10, 20, 9, "red_wool")
    b.box(5, 23, 14, 7, 23, 16, "green_wool")
    b.put(6, 19, 15, "glowstone")

    # Coal bunker, low enough to look over.
    b.box(0, 10, 10, 0, 10, 20, "red_wool")
    b.box(0, 11, 11, 2, 14, 19, "green_wool")
    b.box(0, 14, 11, 2, 14, 11, "gold_block")
    b.box(0, 15, 12, 2, 15, 18, "black_wool")
    b.box(1, 16, 13, 2, 16, 17, "black_wool")
    b.box(0, 12, 11, 0, 12, 13, "gold_block")
    b.put(0, 12, 15, "red_wool")

    # A toolbox on the running board.
    b.box(18, 11, 10, 20, 11, 10, "oak_planks")
    b.mirror_z(15)

    # A short exhaust beat, drifting back.
    for x, y, z, r in ((26, 25.5, 15, 1.3), (25.5, 27.5, 15.3, 1.8), (23, 29, 15.6, 2.3),
                       (19.5, 29.3, 15, 2.0), (16.5, 30, 15.4, 1.3)):
        b.ball(x, y, z, r, "white_wool")
    trackside(b)
    return b


def track(b):
    b.box(0, 0, 4, 31, 0, 26, "grass_block")
    b.box(0, 0, 7, 31, 0, 23, mix(("cobblestone", 3), ("stone", 2)))
    b.box(0, 1, 8, 31, 1, 22, mix(("cobblestone", 3), ("stone", 2)))
    for x in range(1, 32, 3):
        b.box(x, 1, 8, x, 1, 22, "oak_log")
    for z in (11, 19):
        b.box(0, 2, z, 31, 2, z, "iron_block")


def driver(b, x):
    """A driving wheel of seven with spokes, standing out from the frames."""
    b.wheel(x, 6, 12, 3.3, "black_wool")
    b.wheel(x, 6, 11, 3.3, "black_wool", hole=2.4)
    b.wheel(x, 6, 11, 2.4, "red_wool")
    for across, up in ((-1, 2), (1, 2), (-1, -2), (1, -2), (-2, 1), (-2, -1), (2, 1), (2, -1)):
        b.put(x + across, 6 + up, 11, None)
    b.put(x, 6, 11, "gold_block")


def small_wheel(b, x):
    b.wheel(x, 5, 12, 2.3, "black_wool")
    b.wheel(x, 5, 11, 2.3, "black_wool", hole=1.5)
    b.wheel(x, 5, 11, 1.5, "red_wool")
    b.put(x, 5, 11, "gold_block")


def trackside(b):
    """A signal, a lamp, a stack of sleepers, a fence."""
    b.box(29, 1, 5, 29, 12, 5, "oak_log")
    b.box(29, 0, 5, 29, 0, 5, "cobblestone")
    b.box(29, 13, 5, 29, 13, 5, "iron_block")
    b.box(25, 12, 5, 28, 12, 5, "red_wool")
    b.put(26, 12, 5, "white_wool")
    b.put(30, 11, 5, "glowstone")
    for x in (2, 15):
        b.box(x, 1, 25, x, 4, 25, "oak_log")
        b.put(x, 5, 25, "glowstone")
        b.put(x, 6, 25, "iron_block")
    b.box(20, 1, 25, 25, 1, 26, "oak_log")
    b.box(21, 2, 25, 24, 2, 26, "oak_log")
    for x in range(0, 24, 4):
        b.box(x, 1, 4, x, 2, 4, "oak_log")
    b.box(0, 2, 4, 23, 2, 4, "oak_planks")
    for x in range(0, 24, 4):
        b.put(x, 2, 4, "oak_log")
    for x, kind in ((5, "red_wool"), (8, "yellow_wool"), (10, "red_wool"), (12, "white_wool")):
        b.put(x, 1, 26, "oak_leaves")
        b.put(x + 1, 1, 26, kind)


def pirate_ship():
    """A three-master on a straight course to high x; its middle is z = 15."""
    b = Build()
    b.box(0, 0, 3, 31, 1, 27, "water")
    hull(b)
    wake(b)
    superstructure(b)
    for x, foot, top in ((22, 7, 26), (14, 7, 30), (6, 11, 23)):
        b.box(x, foot, 15, x, top, 15, "oak_log")
    # x, lowest and highest row, half width at the foot and at the head
    for x, y1, y2, w1, w2 in ((22, 11, 17, 7, 6), (22, 19, 24, 5, 4), (14, 11, 18, 8, 7),
                              (14, 20, 26, 6, 5), (6, 15, 21, 5, 4)):
        square_sail(b, x, y1, y2, w1, w2)
    skull(b)
    tops(b)
    bowsprit(b)
    rigging(b)
    return b


def beam(x, y):
    """Half the hull's width: full amidships, narrow at the bow, fuller above."""
    if x < 2 or x > 28:
        return -1
    plan = 4.6 - 0.9 * max(0, 6 - x) / 4 if x < 18 else 4.6 * max(0, 1 - ((x - 18) / 10.6) ** 2) ** 0.6
    flare = min(1, 0.62 + 0.12 * y)
    return plan * flare - (max(0, x - 22) * (7 - y) * 0.10 if y < 7 else 0)


def hull(b):
    def top(x):
        return 7 + (x > 23) + (x > 25)

    for x in range(2, 29):
        for y in range(0, top(x) + 1):
            for z in range(10, 21):
                if abs(z - 15) <= beam(x, y):
                    b.put(x, y, z, "oak_log" if y <= 3 else "oak_planks")
    # The deck lies below the bulwark.
    for x in range(3, 28):
        for z in range(10, 21):
            if abs(z - 15) <= beam(x, 7) - 1:
                b.box(x, 7, z, x, 9, z, None)
                b.put(x, 6, z, "oak_planks")
    # Wales, a black gun strake, ports with muzzles.
    for z in (-1, 1):
        for x in range(2, 29):
            for y, kind in ((4, "oak_log"), (5, "black_wool"), (7, "red_wool"), (8, "red_wool"), (9, "red_wool")):
                edge = int(beam(x, y))
                if beam(x, y) >= 0 and b.at(x, y, 15 + z * edge):
                    if y == 7 or (y > 7 and b.at(x, y + 1, 15 + z * edge) is None):
                        b.put(x, y, 15 + z * edge, "red_wool")
                    elif y < 7:
                        b.put(x, y, 15 + z * edge, kind)
        for x in (9, 12, 16, 19):
            edge = int(beam(x, 5))
            b.put(x, 5, 15 + z * edge, "iron_block")
            b.put(x, 5, 15 + z * (edge + 1), "black_wool")


def wake(b):
    """A bow wave that opens on both sides, and a broken line astern."""
    for x in range(8, 29):
        for z in range(3, 28):
            off = abs(z - 15) - (29 - x) * 0.5 - 1.5
            if 0 <= off < 1.2 and b.at(x, 2, z) is None and (x > 20 or grain(x, 1, z) > 0.45):
                b.put(x, 1, z, "white_wool")
                if x > 25:
                    b.put(x, 2, z, "white_wool")
    for x in (0, 1):
        for z in range(12, 19):
            if grain(x, 8, z) > 0.4:
                b.put(x, 1, z, "white_wool")


def superstructure(b):
    """The stern castle with its gallery, the forecastle, hatches and lamps."""
    b.box(2, 7, 12, 8, 11, 18, "oak_planks")
    b.box(1, 7, 12, 1, 9, 18, "oak_planks")
    b.box(1, 6, 12, 1, 6, 18, "oak_log")
    for z in (11, 19):
        b.box(2, 7, z, 8, 11, z, "oak_planks")
        b.box(2, 9, z, 8, 9, z, "oak_log")
        for x in (3, 5, 7):
            b.put(x, 10, z, "glass")
            b.put(x, 8, z, "glass")
        b.box(1, 12, z, 8, 12, z, "red_wool")
        b.box(1, 13, z, 1, 13, z, "gold_block")
        b.put(8, 13, z, "gold_block")
    b.box(1, 10, 11, 1, 12, 19, "red_wool")
    b.box(1, 13, 14, 1, 13, 16, "gold_block")
    b.box(1, 11, 12, 1, 11, 18, "oak_planks")
    for z in (12, 14, 16, 18):
        b.box(1, 8, z, 1, 9, z, "glass")
        b.put(1, 11, z, "glass")
        b.put(0, 7, z, "gold_block")
    b.box(0, 7, 13, 0, 7, 17, "gold_block")
    b.box(3, 8, 13, 7, 8, 17, "glowstone")
    b.box(8, 7, 14, 8, 9, 16, "oak_log")
    b.box(8, 7, 15, 8, 8, 15, "black_wool")
    for z in (12, 18):
        b.box(9, 7, z, 9, 9, z, "oak_planks")
        b.box(10, 7, z, 10, 8, z, "oak_planks")
        b.put(11, 7, z, "oak_planks")
    for z in (11, 19):
        b.put(0, 12, z, "glowstone")
        b.put(0, 11, z, "gold_block")
    b.box(8, 12, 12, 8, 12, 18, "oak_log")
    b.put(4, 12, 15, "oak_log")
    b.put(4, 13, 15, "oak_planks")
    b.box(17, 7, 14, 19, 7, 16, "oak_log")
    b.put(18, 7, 15, "iron_block")
    for x in (22, 23, 24):
        b.box(x, 7, 13, x, 7, 17, "oak_planks")


def square_sail(b, x, y1, y2, w1, w2):
    """Filled from behind: deepest low in the middle, between two yards."""
    for y in range(y1, y2 + 1):
        up = (y - y1) / (y2 - y1)
        half = round(w1 + (w2 - w1) * up)
        for k in range(-half, half + 1):
            belly = 2.4 * (1 - (k / (half + 1)) ** 2) * (1 - (up * 1.15 - 0.15) ** 2) + 1
            for i in range(1, int(belly) + 1):
                if i >= int(belly) - 1 or y == y2:
                    b.put(x + i, y, 15 + k, "white_wool")
    half = w2 + 1
    b.box(x + 1, y2 + 1, 15 - half, x + 1, y2 + 1, 15 + half, "oak_log")


def skull(b):
    """The main topsail is black, with a white skull."""
    b.repaint(lambda x, y, z, kind: kind == "white_wool" and 14 <= x <= 18 and 20 <= y <= 26, "black_wool")
    rows = (" XXXXX ", "XXXXXXX", "X  X  X", "X  X  X", "XXXXXXX", " X X X ")
    for down, row in enumerate(rows):
        for k, mark in enumerate(row):
            if mark == "X":
                for x in range(14, 19):
                    y, z = 25 - down, 12 + k
                    if b.at(x, y, z) == "black_wool":
                        b.put(x, y, z, "white_wool")


def tops(b):
    for x, y in ((22, 18), (14, 19), (6, 22)):
        b.disc(x, y, 15, 1.5, "oak_planks")
    b.disc(14, 27, 15, 2.3, "oak_planks")
    b.box(12, 28, 15, 12, 28, 15, "oak_log")
    b.disc(14, 28, 15, 2.3, "oak_log", hole=1.5)
    b.box(9, 29, 15, 13, 31, 15, "black_wool")
    b.put(11, 30, 15, "white_wool")
    b.box(19, 26, 15, 21, 26, 15, "red_wool")
    b.box(3, 23, 15, 5, 24, 15, "red_wool")


def bowsprit(b):
    rod(b, (25, 8, 15), (31, 12, 15), "oak_log")
    b.put(29, 8, 15, "gold_block")
    b.put(29, 9, 15, "gold_block")
    b.put(30, 9, 15, "gold_block")
    # Two jibs in the middle plane.
    for x in range(24, 31):
        for y in range(10, 26):
            on = (31 - x) / 8
            if 11 + (31 - x) * 0.15 <= y <= 12 + on * 12.5 and x > 25 - (y < 18):
                if b.at(x, y, 15) is None:
                    b.put(x, y, 15, "white_wool")


def rigging(b):
    """Shrouds from the bulwarks to the tops."""
    for x, y in ((22, 18), (14, 19), (6, 22)):
        for z in (-1, 1):
            foot = 8 if x > 8 else 13
            edge = int(beam(x - 2, 7)) if x > 8 else 4
            for lean in (-3, -1):
                rod(b, (x + lean, foot, 15 + z * edge), (x, y - 1, 15 + z), "oak_log")


def hot_air_balloon():
    """Sixteen gores over a wicker car, just above a sea of clouds."""
    b = Build()
    m = 15.5
    inside = set()
    for y in range(9, 32):
        for x in range(32):
            for z in range(32):
                gore = (atan2(x - m, z - m) / (2 * pi) * 16 + 0.5) % 1
                seam = 0.55 * (abs(gore - 0.5) * 2) ** 3
                if far(x, z) <= envelope(y) - seam:
                    inside.add((x, y, z))
    for x, y, z in inside:
        buried = all((x + i, y + j, z + k) in inside for i in (-1, 0, 1) for j in (-1, 0, 1)
                     for k in (-1, 0, 1) if abs(i) + abs(j) + abs(k) < 3)
        if y > 9 and buried:
            continue
        if y > 9 or far(x, z) > envelope(9) - 1:
            b.put(x, y, z, cloth(x, y, z))
    car(b)
    clouds(b)
    return b


def envelope(y):
    """The radius at a height: a ball above, drawn in below to a mouth."""
    if y >= 20:
        return min(11.7, sqrt(max(0, 12 ** 2 - (y - 20) ** 2)))
    return 3.9 + 7.8 * sin((y - 9) / 11 * pi / 2) ** 1.1


def cloth(x, y, z):
    turn = (atan2(x - 15.5, z - 15.5) / (2 * pi) * 16 + 0.5) % 16
    across = abs(turn % 1 - 0.5) * 2  # 0 in the middle of a gore
    if y in (18, 22) or y == 10:
        return "gold_block"
    if y in (19, 21):
        return "yellow_wool" if across < 0.3 else "blue_wool"
    if y == 20:
        return "yellow_wool" if across < 0.6 else "blue_wool"
    if y >= 30 or y == 9 or (y < 13 and 13 - y > 3 * across):
        return "blue_wool"
    return ("red_wool", "white_wool")[int(turn) % 2]


def car(b):
    """Wicker on a log frame, sandbags, ropes to the mouth, the burner lit."""
    b.box(12, 1, 12, 19, 1, 19, "oak_log")
    b.walls(12, 2, 12, 19, 3, 19, "oak_planks")
    b.box(13, 1, 13, 18, 1, 18, "oak_planks")
    b.walls(12, 4, 12, 19, 4, 19, "oak_log")
    for x in (12, 19):
        for z in (12, 19):
            b.box(x, 1, z, x, 8, z, "oak_log")
    for n in (14, 17):
        for edge in (11, 20):
            b.box(n, 2, edge, n, 3, edge, "sand")
            b.box(edge, 2, n, edge, 3, n, "sand")
            b.put(n, 4, edge, "oak_log")
            b.put(edge, 4, n, "oak_log")
    # The ring below the mouth, and the burner that hangs in it.
    b.walls(12, 8, 12, 19, 8, 19, "oak_log")
    b.box(12, 8, 15, 19, 8, 16, "iron_block")
    b.box(14, 7, 14, 17, 7, 17, "iron_block")
    b.box(15, 6, 15, 16, 6, 16, "iron_block")
    b.box(15, 8, 15, 16, 9, 16, "orange_wool")
    b.box(15, 9, 15, 16, 11, 16, "glowstone")
    # Two aeronauts and a flag.
    for x, z, coat in ((14, 17, "green_wool"), (17, 14, "purple_wool")):
        b.box(x, 2, z, x, 4, z, coat)
        b.put(x, 5, z, "sand")
        b.put(x, 6, z, "black_wool")
    b.box(20, 4, 19, 22, 4, 19, "oak_log")
    b.box(22, 4, 19, 22, 6, 19, "oak_log")
    b.box(22, 5, 16, 22, 6, 18, "red_wool")
    b.box(22, 5, 17, 22, 6, 17, "white_wool")


def clouds(b):
    """A broken ring below, flat underneath, and two drifting higher up."""
    def cloud(x, y, z, r, h):
        b.solid(lambda i, j, k: j >= y and ((i - x) / r) ** 2 + ((j - y) / h) ** 2 + ((k - z) / r) ** 2 <= 1
                and b.at(i, j, k) is None, "white_wool",
                (int(x - r), y, int(z - r), int(x + r) + 1, int(y + h) + 1, int(z + r) + 1))

    for i in range(10):
        angle = 2 * pi * (i + 0.5) / 10
        big = (3.6, 2.6, 4.2, 3.0, 3.9)[i % 5]
        cloud(15.5 + 12.2 * sin(angle), 0, 15.5 + 12.2 * cos(angle), big, big)
        cloud(15.5 + 9.3 * sin(angle + 0.3), 0, 15.5 + 9.3 * cos(angle + 0.3), big * 0.6, 1.9)
    for x, y, z, r in ((4, 8, 26.5, 3.4), (7.5, 8, 28, 2.4), (2.5, 8, 23, 2.2),
                       (27.5, 11, 4.5, 3.2), (24, 11, 3, 2.3), (29, 11, 8, 2.2)):
        cloud(x, y, z, r, r * 0.85)


def fire_engine():
    """Parked on its stabilisers, facing high x, the ladder fully out; its middle is z = 15."""
    b = Build()
    b.box(0, 0, 3, 31, 0, 27, "cobblestone")
    b.box(0, 0, 6, 31, 0, 24, "stone")
    b.box(0, 1, 2, 31, 1, 3, "stone")
    b.box(0, 0, 2, 31, 0, 3, "cobblestone")
    for x in range(1, 32, 6):
        b.box(x, 0, 15, x + 2, 0, 15, "white_wool")

    rear_body(b)
    cab(b)
    for x in (4, 9, 25):
        b.wheel(x, 3, 11, 2.6, "black_wool")
        b.wheel(x, 3, 10, 2.6, "black_wool", hole=1.5)
        b.wheel(x, 3, 10, 1.5, "iron_block")
        b.put(x, 3, 10, "red_wool")
    # Stabilisers on pads.
    for x in (1, 14):
        b.box(x, 4, 7, x, 4, 10, "iron_block")
        b.box(x, 1, 7, x, 4, 7, "iron_block")
        b.box(x, 2, 7, x, 3, 7, "yellow_wool")
        b.box(x - 1, 1, 6, x + 1, 1, 8, "oak_planks")
    ladder(b)
    b.mirror_z(15)
    street(b)
    return b


def rear_body(b):
    """Lockers with roller shutters, a stripe, the pump panel, the deck; the low half."""
    b.box(1, 2, 12, 30, 3, 15, "black_wool")
    b.box(1, 4, 10, 17, 11, 15, "red_wool")
    b.box(1, 3, 10, 17, 3, 15, "black_wool")
    for x1, x2 in ((2, 5), (7, 10), (12, 13)):
        b.box(x1, 7, 10, x2, 10, 10, "iron_block")
        b.box(x1, 8, 10, x2, 8, 10, "white_wool")
        b.box(x1, 10, 10, x2, 10, 10, "white_wool")
    b.box(1, 6, 10, 17, 6, 10, "yellow_wool")
    b.box(15, 4, 10, 17, 10, 10, "iron_block")
    for x, y, kind in ((15, 9, "white_wool"), (17, 9, "white_wool"), (16, 9, "black_wool"), (15, 7, "red_wool"),
                       (17, 7, "blue_wool"), (16, 5, "black_wool"), (16, 7, "gold_block")):
        b.put(x, y, 10, kind)
    b.box(15, 11, 10, 17, 12, 10, "red_wool")
    # Arches over the wheels.
    for x in (4, 9):
        b.wheel(x, 3, 10, 3.6, None)
        b.wheel(x, 3, 11, 3.6, "black_wool")
        b.wheel(x, 3, 10, 3.6, lambda i, j, k: "white_wool" if j > 3 else None, hole=2.8)
    b.box(6, 4, 10, 7, 5, 10, "red_wool")
    b.box(1, 4, 10, 1, 5, 10, "red_wool")
    # Deck with a rail; hoses in beds.
    b.box(1, 12, 10, 14, 12, 10, "iron_block")
    b.box(2, 12, 11, 14, 12, 15, None)
    b.box(11, 12, 12, 14, 12, 15, "yellow_wool")
    b.box(11, 12, 13, 14, 12, 13, "white_wool")
    # Tail: a hose reel, lamps, a chequer.
    for y in range(4, 12):
        for z in range(10, 16):
            if 7 <= y <= 9:
                b.put(1, y, z, "yellow_wool" if (y + z) % 2 else "red_wool")
    b.box(0, 5, 13, 0, 8, 15, "iron_block")
    b.box(0, 6, 14, 0, 7, 15, "yellow_wool")
    b.put(0, 10, 11, "glowstone")
    b.put(0, 4, 11, "glowstone")
    b.box(0, 3, 11, 0, 3, 15, "iron_block")


def cab(b):
    """A long crew cab with four doors, all glass in front; the low half."""
    b.box(18, 4, 10, 29, 14, 15, "red_wool")
    b.box(30, 4, 11, 30, 13, 15, "red_wool")
    b.box(18, 3, 10, 30, 3, 15, "black_wool")
    b.box(19, 9, 11, 29, 12, 15, None)
    b.box(19, 8, 11, 28, 8, 15, "black_wool")
    for x1, x2 in ((19, 22), (24, 28)):
        b.box(x1, 9, 10, x2, 12, 10, "glass")
        b.put(x1, 8, 10, "gold_block")
    b.box(30, 9, 12, 30, 12, 15, "glass")
    b.box(30, 13, 11, 30, 13, 15, "white_wool")
    b.box(18, 15, 11, 29, 15, 15, "white_wool")
    b.box(18, 14, 10, 30, 14, 15, "white_wool")
    b.box(18, 6, 10, 29, 6, 10, "yellow_wool")
    b.box(23, 7, 10, 23, 12, 10, "white_wool")
    b.box(18, 7, 10, 18, 12, 10, "white_wool")
    b.wheel(25, 3, 10, 3.6, None)
    b.wheel(25, 3, 11, 3.6, "black_wool")
    b.wheel(25, 3, 10, 3.6, lambda i, j, k: "white_wool" if j > 3 else None, hole=2.8)
    b.box(18, 4, 10, 21, 4, 10, "iron_block")
    # Face: grille, lamps, bumper, mirror.
    b.box(30, 4, 13, 30, 7, 15, "iron_block")
    b.box(30, 5, 13, 30, 5, 15, "black_wool")
    b.box(30, 7, 11, 30, 8, 15, "white_wool")
    b.box(30, 5, 11, 30, 6, 11, "glowstone")
    b.box(30, 5, 12, 30, 6, 12, "orange_wool")
    b.box(31, 3, 10, 31, 4, 15, "iron_block")
    b.put(31, 4, 11, "red_wool")
    b.put(31, 4, 13, "white_wool")
    b.put(31, 4, 14, "red_wool")
    b.box(30, 10, 9, 30, 12, 9, "black_wool")
    b.put(30, 12, 10, "black_wool")
    # Lights on the roof.
    b.box(26, 16, 11, 28, 16, 15, "iron_block")
    b.box(26, 17, 11, 28, 17, 13, "blue_wool")
    b.put(27, 17, 12, "glowstone")
    b.box(26, 17, 14, 28, 17, 15, "glowstone")
    b.box(20, 16, 12, 22, 16, 14, "black_wool")
    b.put(19, 16, 14, "iron_block")


def ladder(b):
    """A turntable and two sections with rails, rungs and a man-basket; the low half."""
    b.disc(6, 12, 15, 3.6, "iron_block")
    b.disc(6, 13, 15, 3, "black_wool")
    b.box(4, 14, 12, 8, 15, 13, "red_wool")
    b.box(2, 14, 13, 3, 16, 15, "white_wool")
    b.box(8, 14, 11, 9, 16, 11, "yellow_wool")
    for x in range(3, 32):
        y = 14 + round((x - 3) * 0.62)
        if x <= 21:
            b.box(x, y, 12, x, y + 1, 12, "iron_block")
            if x % 3 == 0:
                b.box(x, y, 12, x, y, 15, "white_wool")
                b.box(x, y + 2, 12, x, y + 3, 12, "iron_block")
            if x > 5:
                b.put(x, y + 3, 12, "red_wool")
                if 14 + round((x - 4) * 0.62) < y:
                    b.put(x, y + 2, 12, "red_wool")
        if x >= 14:
            b.box(x, y + 1, 13, x, y + 2, 13, "iron_block")
            if x % 2 == 0:
                b.box(x, y + 1, 13, x, y + 1, 15, "white_wool")
    for step in range(5):
        b.box(8 + step, 14 + step, 13, 9 + step, 14 + step, 13, "gold_block")
    # The basket at the tip.
    b.box(27, 29, 12, 31, 29, 15, "iron_block")
    b.walls(28, 30, 12, 31, 30, 15, "red_wool")
    b.box(28, 30, 13, 30, 30, 15, None)
    b.put(31, 31, 12, "glowstone")


def street(b):
    """A hydrant with its hose on the far pavement, cones, a lamp on each side."""
    b.box(19, 1, 27, 19, 3, 27, "red_wool")
    b.put(19, 4, 27, "gold_block")
    for x in (18, 20):
        b.put(x, 2, 27, "iron_block")
    for x1, z1, x2, z2 in ((19, 24, 19, 26), (12, 24, 19, 24), (12, 22, 12, 24), (12, 22, 16, 22)):
        b.box(x1, 1, z1, x2, 1, z2, "white_wool")
    b.box(16, 1, 21, 16, 5, 21, "white_wool")
    for x, z in ((30, 26), (26, 26), (1, 26)):
        b.put(x, 1, z, "orange_wool")
        b.put(x, 2, z, "white_wool")
        b.put(x, 3, z, "orange_wool")
    for x in (6, 25):
        lamp(b, x, 2, 2, 9, "iron_block", "black_wool")
    b.box(10, 2, 2, 14, 2, 3, "oak_planks")
