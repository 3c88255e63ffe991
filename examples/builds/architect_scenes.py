"""Scenes, by reference_architect: a bridge, a castle, a village below a volcano."""

from math import atan2, cos, hypot, radians, sin

from architect_kit import MASONRY, ROCK, crenels, cypress, far, hip, round_tower, tree
from voxels import Build, grain, mix

WALL = mix(("stone", 5), ("cobblestone", 2))


def stone_bridge():
    """One great arch from rock to rock; the river runs along z, the road along x."""
    b = Build()
    river(b)
    span(b)
    abutment(b)
    pavilion(b)
    b.mirror_x()
    b.mirror(lambda x, y, z: (x, y, 31 - z), lambda x, y, z: z >= 16)
    toll_houses(b)
    traffic(b)
    return b


def deck_height(x):
    """The road rises steeply to the middle."""
    return 18 - round(((x - 15.5) / 15.5) ** 2 * 7)


def river(b):
    """Water between two banks of rock and grass."""
    b.box(0, 0, 0, 31, 0, 31, "dirt")
    b.box(2, 1, 0, 29, 1, 31, "water")
    for x in range(0, 9):
        for z in range(32):
            off = abs(z - 15.5)
            edge = 4.6 + 1.5 * sin(off * 0.55 - 1.4) - 0.7 * max(0, 5 - abs(off - 3)) * 0.2
            if x <= edge + grain(x, 2, z):
                top = int(min(7, 2.2 + (edge - x) * 1.7) - max(0, off - 9) * 0.3 + grain(x // 2, 4, z // 2) * 0.9)
                top = max(top, 2)
                b.box(x, 1, z, x, top, z, ROCK)
                if top > 3 or grain(x, 7, z) > 0.4:
                    b.put(x, top, z, "grass_block")
                    # At the cut edge the rock shows below the soil.
                    b.box(x, 1, z, x, top - 1, z, lambda x, y, z: ROCK(x, y, z)
                          if x > 1 or y < 2.4 + 1.4 * sin(z * 0.45 + 0.8) else "dirt")
    for z in (23, 30):
        b.ellipsoid(7, 1, z, 1.6, 1.2, 1.2, ROCK)


def span(b):
    """Spandrels of rubble, a ring of cut stone that stands out, parapets with a coping."""
    for x in range(0, 32):
        top = deck_height(x)
        for y in range(1, top + 1):
            arch, hole = hypot((x - 15.5) / 10.6, (y - 2) / 12.4), hypot(x - 3.4, y - 8.6)
            if arch <= 1 or hole <= 1.75:
                if y > 1:
                    b.box(x, y, 10, x, y, 21, None)
                continue
            ring = arch <= 1.1 or hole <= 2.9
            b.box(x, y, 11, x, y, 20, MASONRY)
            if ring:
                b.box(x, y, 10, x, y, 11, "sand")
                b.box(x, y, 20, x, y, 21, "sand")
        b.box(x, top, 10, x, top, 21, "stone")
        for z in (10, 21):
            b.put(x, top + 1, z, "cobblestone" if x % 3 else "stone")
            b.put(x, top + 2, z, "sand" if x % 3 else "stone")
        b.box(x, top, 12, x, top, 19, "cobblestone" if x % 3 else "stone")
    # The keystone; abutments on steps in the water; lamps on the parapet.
    b.box(15, 14, 22, 16, 17, 22, "stone")
    b.box(15, 15, 22, 16, 16, 22, "gold_block")
    b.box(3, 1, 21, 5, 3, 22, "stone")
    b.box(3, 1, 9, 5, 1, 22, "stone")
    for x in (0, 9):
        y = deck_height(x)
        b.box(x, y - 3, 22, x, y + 3, 22, "stone")
        b.box(x, y + 1, 21, x, y + 3, 21, "stone")
        b.put(x, y + 4, 21, "glowstone")
        b.put(x, y - 4, 22, "sand")


def abutment(b):
    """The end wall, which would be blank: corner stones, a course below the road, a cellar door in an arch."""
    for y in range(1, 11):
        b.box(0, y, 21 - (y % 4 == 1), 0, y, 21, "sand")
    b.box(0, 10, 16, 0, 10, 21, "sand")
    for y in range(1, 8):
        for z in range(16, 20):
            away = hypot(z - 15.5, max(0, y - 4))
            if away <= 2.6:
                b.put(0, y, z, None)
                b.put(1, y, z, "oak_planks" if z < 17 or y < 6 else "oak_log")
            elif away <= 3.6:
                b.put(0, y, z, "sand")
    b.put(0, 8, 18, "glowstone")


def pavilion(b):
    """On the crown: four pairs of posts under a steep brick roof with a lantern."""
    for x in (12, 19):
        for z in (11, 20):
            b.box(x, 18, z, x, 24, z, "oak_log")
    b.box(12, 18, 20, 19, 20, 20, None)
    for x in (12, 15):
        b.box(x, 18, 20, x, 24, 20, "oak_log")
    b.box(11, 24, 10, 20, 24, 21, "oak_planks")
    for x in (13, 14):
        b.put(x, 23, 20, "oak_planks")
    b.box(12, 23, 11, 12, 23, 12, "oak_planks")
    b.walls(11, 24, 10, 20, 24, 21, "oak_log")
    hip(b, 10, 21, 25, 9, 22, "bricks", "oak_log")
    b.box(15, 30, 13, 16, 30, 18, "oak_log")
    b.box(15, 31, 18, 15, 31, 18, "gold_block")
    b.put(15, 23, 15, "glowstone")
    b.put(14, 23, 20, "glowstone")


def toll_houses(b):
    """One at each end, on opposite sides; trees on the other two banks."""
    for turn in (False, True):
        part = Build()
        part.box(0, 5, 24, 5, 12, 29, MASONRY)
        part.box(0, 8, 24, 5, 12, 29, "white_wool")
        for x in (0, 5):
            for z in (24, 29):
                part.box(x, 5, z, x, 12, z, "stone")
        part.box(0, 8, 29, 5, 8, 29, "oak_log")
        part.box(5, 8, 24, 5, 8, 29, "oak_log")
        part.box(2, 9, 29, 3, 11, 29, "glass")
        part.box(2, 9, 28, 3, 11, 28, "glowstone")
        part.box(5, 9, 26, 5, 11, 27, "glass")
        part.box(0, 9, 26, 0, 11, 27, "glass")
        part.box(1, 9, 26, 1, 11, 27, "glowstone")
        part.box(0, 8, 24, 0, 8, 29, "oak_log")
        part.box(4, 9, 26, 4, 11, 27, "glowstone")
        part.box(5, 5, 26, 5, 7, 27, "oak_planks")
        hip(part, 0, 6, 13, 23, 30, "bricks")
        part.box(0, 13, 23, 3, 16, 30, lambda x, y, z: part.at(x, y, z) or
                 ("bricks" if z - 23 >= y - 13 and 30 - z >= y - 13 else None))
        part.box(1, 14, 24, 1, 18, 24, "cobblestone")
        tree(part, 2, 5, 4, 6, 3)
        tree(part, 1, 5, 9, 4, 2.2)
        for (x, y, z), kind in part.cells.items():
            i, k = (31 - x, 31 - z) if turn else (x, z)
            if b.at(i, y, k) is None or y > 6:
                b.put(i, y, k, kind)


def traffic(b):
    """A barge that comes out of the arch, foam on the water."""
    b.box(14, 1, 21, 17, 1, 29, "oak_planks")
    b.box(13, 2, 22, 18, 2, 28, "oak_log")
    b.box(14, 2, 22, 17, 2, 28, "oak_planks")
    b.box(14, 2, 29, 17, 2, 29, "oak_log")
    b.box(15, 2, 30, 16, 3, 30, "oak_log")
    b.box(14, 3, 23, 17, 4, 26, "white_wool")
    b.box(15, 5, 23, 16, 5, 26, "white_wool")
    b.box(14, 3, 24, 17, 4, 24, "red_wool")
    b.put(15, 5, 24, "red_wool")
    b.put(16, 5, 24, "red_wool")
    b.put(15, 4, 30, "glowstone")
    for x in range(5, 27):
        for z in range(32):
            if b.at(x, 1, z) == "water" and b.at(x, 2, z) is None and grain(x, 3, z // 3) > 0.93:
                b.put(x, 1, z, "white_wool")


def moated_castle():
    """Square on its island: four towers, a keep, a gatehouse and the bridge let down."""
    b = Build()
    moat(b)
    curtain(b)
    keep(b)
    gatehouse(b)
    b.mirror_x()
    drawbridge(b)
    court(b)
    return b


def moat(b):
    b.box(0, 0, 0, 31, 0, 31, "stone")
    b.box(0, 1, 0, 31, 1, 31, "dirt")
    b.box(0, 2, 0, 31, 2, 31, "grass_block")
    for x in range(32):
        for z in range(32):
            if max(abs(x - 15.5) - 11, 0) ** 2 + max(abs(z - 14) - 10.5, 0) ** 2 <= 12:
                b.put(x, 2, z, None)
                b.put(x, 1, z, "water")
    b.box(5, 1, 4, 26, 1, 23, "cobblestone")
    b.box(6, 2, 5, 25, 3, 22, "cobblestone")


def curtain(b):
    """Walls with a walk, pilasters and loops; a tower with a pointed roof at each corner."""
    b.box(6, 3, 5, 15, 11, 22, WALL)
    b.box(8, 4, 7, 15, 13, 20, None)
    b.box(8, 3, 7, 15, 3, 20, "grass_block")
    b.box(5, 10, 4, 15, 10, 23, "stone")
    b.box(8, 10, 7, 15, 10, 20, None)
    b.walls(5, 11, 4, 26, 11, 23, WALL)
    crenels(b, 5, 4, 26, 23, 12, WALL)
    for z in (11, 13, 15, 17):
        b.box(5, 3, z, 5, 9, z, "stone")
        if z in (11, 15):
            b.box(6, 6, z + 1, 6, 8, z + 1, "black_wool")
    for x in (11, 14):
        b.box(x, 3, 4, x, 9, 4, "stone")
        b.box(x + 2, 6, 5, x + 2, 8, 5, "black_wool")
    for z in (6, 21):
        round_tower(b, 7, z, 1, 15, 3.3, WALL, "stone", "blue_wool", 6)
        b.put(7, 12, z + (4 if z > 15 else -4), "red_wool")
        b.put(7, 13, z + (4 if z > 15 else -4), "red_wool")


def keep(b):
    """A great tower at the back with buttresses, tall windows and a steep roof."""
    b.box(10, 3, 6, 15, 19, 14, WALL)
    b.box(9, 3, 5, 11, 6, 15, "stone")
    for z in (5, 15):
        b.box(9, 3, z, 10, 17, z, "stone")
        b.box(14, 3, z, 14, 15, z, "stone")
    b.box(9, 3, 6, 9, 17, 6, "stone")
    b.box(9, 3, 14, 9, 17, 14, "stone")
    b.box(9, 12, 5, 15, 12, 15, lambda x, y, z: b.at(x, y, z) and "stone")
    for y in (8, 14):
        for z, light in ((14, 13), (6, 7)):
            b.box(12, y, z, 12, y + 2, z, "glass")
            b.box(12, y, light, 12, y + 2, light, "glowstone")
        b.box(10, y, 10, 10, y + 2, 10, "glass")
        b.put(11, y + 1, 10, "glowstone")
    b.box(15, 14, 14, 15, 16, 14, "glass")
    b.box(15, 14, 13, 15, 16, 13, "glowstone")
    b.box(9, 18, 5, 15, 18, 15, "stone")
    b.box(9, 19, 5, 15, 19, 15, WALL)
    crenels(b, 9, 5, 22, 15, 20, WALL)
    hip(b, 10, 21, 20, 7, 13, "blue_wool", "oak_log", rise=2)
    # The stair to its door.
    for step in range(4):
        b.box(13, 4, 16 + step, 15, 7 - step, 16 + step, "stone")
    b.box(14, 8, 15, 14, 11, 15, "oak_log")
    b.box(15, 11, 15, 15, 11, 15, "oak_log")
    b.box(15, 8, 14, 15, 10, 14, "oak_planks")
    b.put(13, 10, 16, "glowstone")
    b.put(13, 9, 16, "stone")
    b.box(13, 8, 16, 13, 8, 16, "stone")


def gatehouse(b):
    """Two round towers with the arch between them, portcullis up, banners out."""
    b.box(11, 3, 19, 15, 13, 24, WALL)
    b.box(11, 12, 19, 15, 12, 24, "stone")
    b.box(14, 4, 19, 15, 8, 25, None)
    b.box(14, 3, 19, 15, 3, 25, "cobblestone")
    b.box(15, 9, 19, 15, 9, 24, None)
    b.put(14, 9, 24, "stone")
    b.box(15, 10, 24, 15, 10, 25, "stone")
    round_tower(b, 11.5, 24, 1, 15, 2.5, WALL, "stone")
    b.box(14, 4, 19, 15, 8, 26, None)
    b.box(14, 7, 23, 14, 9, 23, "iron_block")
    b.box(15, 8, 23, 15, 9, 23, "iron_block")
    b.box(14, 13, 25, 15, 14, 25, WALL)
    b.put(14, 15, 25, WALL)
    b.box(11, 9, 27, 12, 12, 27, "red_wool")
    b.put(11, 11, 27, "gold_block")
    b.put(12, 11, 27, "gold_block")
    b.put(11, 8, 27, "red_wool")
    b.put(14, 8, 25, "stone")
    b.put(13, 7, 26, "glowstone")


def drawbridge(b):
    """Lowered onto a stone abutment, on two chains."""
    b.box(13, 3, 25, 18, 3, 28, "oak_planks")
    for x in (13, 18):
        b.box(x, 3, 25, x, 3, 28, "oak_log")
        b.line((x, 9, 25), (x, 4, 28), "iron_block")
    b.box(12, 1, 29, 19, 2, 31, "cobblestone")
    b.box(13, 3, 29, 18, 3, 29, "stone")
    b.box(14, 2, 30, 17, 2, 31, MASONRY)
    for x in (12, 19):
        b.box(x, 2, 29, x, 4, 29, "stone")
        b.put(x, 5, 29, "glowstone")


def court(b):
    """A well, a stable, flags on the keep, lilies on the moat."""
    b.box(15, 28, 10, 15, 31, 10, "oak_log")
    b.box(16, 30, 10, 19, 31, 10, "red_wool")
    b.box(17, 30, 10, 18, 31, 10, "yellow_wool")
    b.box(9, 3, 18, 11, 4, 20, "cobblestone")
    b.put(10, 4, 19, "water")
    for z in (18, 20):
        b.box(10, 5, z, 10, 6, z, "oak_log")
    b.box(9, 7, 18, 11, 7, 20, "bricks")
    b.box(20, 4, 17, 22, 6, 20, "oak_planks")
    b.box(20, 4, 18, 20, 5, 19, "black_wool")
    b.box(19, 7, 16, 23, 7, 20, "bricks")
    b.box(20, 8, 17, 22, 8, 20, "bricks")
    b.box(14, 3, 18, 17, 3, 20, MASONRY)
    for x, z in ((2, 8), (29, 15), (3, 26), (28, 3), (22, 27), (9, 28)):
        if b.at(x, 1, z) == "water":
            b.put(x, 2, z, "oak_leaves")
    for x, z in ((1, 1), (30, 1), (1, 30), (30, 30)):
        cypress(b, x, 3, z, 6)
    for x, z, kind in ((4, 30, "red_wool"), (6, 31, "yellow_wool"), (25, 31, "red_wool"), (27, 30, "yellow_wool")):
        b.put(x, 3, z, kind)


def volcano_village():
    """The cone stands over the harbour; quay, chapel and houses keep to one axis."""
    b = Build()
    b.box(0, 0, 0, 31, 0, 31, "sand")
    b.box(0, 1, 0, 31, 1, 31, "water")
    cone(b)
    quay(b)
    b.mirror_x()
    for turn in (38, -38, 180, 100, -100):
        lava(b, radians(turn))
    eruption(b)
    chapel(b)
    harbour(b)
    return b


def slope(x, z):
    """The height of the mountain, ribbed by old flows."""
    out = hypot(x - 15.5, (z - 12) * (1.2 if z < 12 else 1))
    turn = atan2(x - 15.5, z - 12)
    out += 0.55 * cos(turn * 9) * min(1, max(0, out - 4) / 4)
    if out > 14.8:
        return 0
    return min(19, 1.5 + 18.5 * max(0, (14.8 - out) / 11.6) ** 1.55)


def cone(b):
    for x in range(32):
        for z in range(32):
            top = int(slope(x, z))
            if top < 1:
                continue
            rough = top + grain(x // 2, 8, z // 2) * 4
            for y in range(1, top + 1):
                kind = "black_wool" if rough > 17 else ROCK if rough > 7.5 else "dirt"
                b.put(x, y, z, kind)
            if rough <= 7.5:
                b.put(x, top, z, "grass_block" if top > 1 else "sand")
    # The crater.
    b.solid(lambda x, y, z: far(x, z, 15.5, 12) <= 3.2 - (19 - y) * 0.3 and y > 15, None)
    b.disc(15.5, 17, 12, 3, "orange_wool")
    b.disc(15.5, 17, 12, 1.8, "glowstone")
    for x, z, h in ((5, 8, 3), (3, 12, 3), (8, 3, 3), (6, 17, 3), (11, 2, 2)):
        top = b.surface(x, z)
        if top >= 2:
            b.box(x, top + 1, z, x, top + 2, z, "oak_log")
            b.cone(x, z, top + 3, top + 3 + h, 1.6, 0.4, "oak_leaves")


SLOPE = ("stone", "cobblestone", "dirt", "grass_block", "black_wool", "red_wool", "orange_wool")


def lava(b, turn):
    """From the rim down to the sea, bright in the middle."""
    for step in range(0, 62):
        out = 2 + step * 0.25
        bend = turn + 0.12 * sin(out * 0.7)
        x, z = 15.5 + out * sin(bend), 12 + out * cos(bend)
        for side in (-1.2, -0.6, 0, 0.6, 1.2):
            i, k = round(x + side * cos(bend)), round(z - side * sin(bend))
            y = b.surface(i, k) if 0 <= i < 32 and 0 <= k < 32 else -1
            kind = "red_wool" if abs(side) > 1 else "orange_wool" if abs(side) > 0.3 or step % 5 else "glowstone"
            if y > 1 and b.at(i, y, k) in SLOPE:
                if b.at(i, y, k) != "orange_wool" or kind == "glowstone":
                    b.put(i, y, k, kind)
                    if y > 3 and b.at(i, y - 1, k):
                        b.put(i, y - 1, k, kind)
            elif y == 1 and b.at(i, 1, k) == "water" and out < 15.6:
                b.put(i, 1, k, "black_wool")
                b.put(i, 2, k, "white_wool" if abs(side) < 1 else None)


def eruption(b):
    """A fountain that falls to all sides under a column of ash."""
    b.cylinder(15.5, 12, 17, 24, 1, "orange_wool")
    b.cylinder(15.5, 12, 17, 25, 0.8, "yellow_wool")
    for i in range(8):
        a = radians(45 * i + 22.5)
        for y, out in ((21, 1.3), (22, 1.9), (23, 2.6), (23, 3.3), (22, 3.3), (22, 4.1), (21, 4.1), (20, 4.7)):
            b.put(round(15.5 + out * sin(a)), y, round(12 + out * cos(a)), "orange_wool" if y > 21 else "red_wool")
    for x, y, z, r, kind in ((15.5, 25.5, 12, 2.3, "black_wool"), (14, 26.5, 11.5, 2.2, "black_wool"),
                             (17.3, 27, 11.2, 2.6, "stone"), (12.5, 28.2, 11, 3, "stone"),
                             (18.5, 28.6, 10.5, 3, "cobblestone"), (15.5, 29, 10.5, 3.6, "stone"),
                             (9.5, 29.6, 9.5, 2.5, "cobblestone"), (21.8, 29.8, 9.8, 2.4, "stone"),
                             (15.5, 29.6, 7.5, 2.8, "cobblestone")):
        b.ellipsoid(x, y, z, r * 1.1, r * 0.9, r * 1.1, kind)


def cottage(b, x, y, z, wide, deep, wall, roof):
    """A gable to the sea, a door, a window, a chimney; x and z are its low corner."""
    b.box(x, y, z, x + wide - 1, y + 2, z + deep - 1, wall)
    for i in (x, x + wide - 1):
        b.box(i, y, z + deep - 1, i, y + 2, z + deep - 1, "oak_log")
    b.gable(x - 1, x + wide, y + 2, z, z + deep, roof, (z, z + deep - 1), wall)
    for step in range(wide // 2):
        b.box(x + step, y + 2 + step, z + 1, x + wide - 1 - step, y + 2 + step, z + deep - 2, wall)
    b.box(x + 1, y, z + deep - 1, x + 1, y + 1, z + deep - 1, "oak_planks")
    b.put(x + wide - 2, y + 1, z + deep - 1, "glowstone")
    b.put(x, y + 1, z + deep // 2, "glowstone")
    b.put(x + wide - 1, y + 1, z + deep // 2, "glowstone")


def quay(b):
    """A paved quay with steps, houses on it, houses on stilts before it; the low half."""
    b.box(3, 1, 21, 15, 3, 25, MASONRY)
    b.box(3, 3, 21, 15, 3, 25, "stone")
    b.box(9, 4, 21, 15, 8, 22, lambda x, y, z: None if b.at(x, y, z) != "stone" else b.at(x, y, z))
    cottage(b, 9, 4, 20, 4, 4, "white_wool", "bricks")
    cottage(b, 3, 4, 20, 4, 4, "yellow_wool", "blue_wool")
    # On stilts over the water.
    b.box(1, 3, 26, 7, 3, 31, "oak_planks")
    for x in (1, 7):
        for z in (26, 28, 31):
            b.box(x, 0, z, x, 3, z, "oak_log")
    cottage(b, 2, 4, 26, 4, 4, "oak_planks", "red_wool")
    b.put(7, 4, 31, "oak_log")
    b.put(7, 5, 31, "glowstone")
    b.box(8, 4, 25, 8, 5, 25, "oak_log")
    b.put(8, 6, 25, "glowstone")
    # The pier on the axis.
    b.box(14, 3, 26, 15, 3, 31, "oak_planks")
    for z in (27, 31):
        b.box(13, 0, z, 13, 4, z, "oak_log")
    b.put(13, 5, 31, "glowstone")


def chapel(b):
    """White, at the foot of the mountain, its tower on the axis."""
    b.box(13, 4, 17, 18, 8, 24, None)
    b.box(13, 3, 15, 18, 3, 23, "stone")
    b.box(13, 4, 16, 18, 7, 21, "white_wool")
    b.gable(12, 19, 7, 16, 21, "bricks", (16, 21), "white_wool")
    b.box(14, 4, 20, 17, 12, 23, "white_wool")
    b.walls(14, 9, 20, 17, 9, 23, "stone")
    b.box(15, 10, 20, 16, 11, 23, "black_wool")
    b.box(14, 10, 21, 17, 11, 22, "black_wool")
    b.box(15, 10, 21, 16, 10, 22, "gold_block")
    b.box(13, 13, 19, 18, 13, 24, "bricks")
    b.box(14, 14, 20, 17, 14, 23, "bricks")
    b.box(15, 15, 21, 16, 16, 22, "bricks")
    b.box(15, 17, 21, 15, 18, 21, "gold_block")
    b.box(15, 4, 23, 16, 6, 23, "oak_planks")
    b.put(15, 8, 23, "glowstone")
    b.put(16, 8, 23, "glowstone")


def harbour(b):
    """Two boats with sails at the pier, nets on a rack, barrels, gulls' rocks."""
    for x, sail in ((9, "white_wool"), (20, "red_wool")):
        b.box(x, 1, 27, x + 2, 1, 30, "oak_planks")
        b.box(x, 2, 27, x + 2, 2, 30, "oak_planks")
        b.box(x + 1, 2, 28, x + 1, 2, 29, None)
        b.put(x + 1, 2, 31, "oak_planks")
        b.box(x + 1, 2, 29, x + 1, 8, 29, "oak_log")
        for y in range(4, 8):
            b.box(x + 1, y, 28 - (7 - y), x + 1, y, 28, sail)
    for x in (12, 19):
        b.put(x, 4, 25, "oak_log")
    b.box(14, 4, 28, 14, 4, 28, "oak_log")
    b.box(17, 4, 29, 17, 4, 29, "sand")
