"""A house cut open like an architect's section, on a grid of 64, by reference_architect.

The cut is the plane z = CUT; what it cuts is black. Behind it lie a cellar, two storeys
and an attic; the walls, the roof and the garden at the back are whole.
"""

from math import hypot

from architect_kit import rod
from voxels import Build, grain

SIZE = 64
CUT = 47          # the front plane
BACK = 29         # the outer face of the back wall
LEFT, RIGHT = 10, 53
GROUND = 12       # the grass
FLOORS = (13, 26, 39)  # the floors' top rows, of the two storeys and of the attic


def open_house():
    b = Build(SIZE)
    earth(b)
    shell(b)
    roof(b)
    partitions(b)
    stairs(b)
    cellar(b)
    kitchen(b)
    hall(b)
    living_room(b)
    bedroom(b)
    bathroom(b)
    study(b)
    attic(b)
    back(b)
    garden(b)
    section(b)
    return b


def earth(b):
    """A block of ground in layers, seen in the cut."""
    for x in range(1, 63):
        wave = 0.8 * (grain(x // 5, 1, 0) - 0.5)
        for y, kind in ((0, "deepslate"), (1, "deepslate"), (2, "stone"), (3, "stone"), (4, "andesite"),
                        (5, "gravel"), (6, "clay"), (7, "clay"), (8, "dirt"), (9, "dirt"), (10, "dirt"), (11, "dirt")):
            b.box(x, max(0, round(y + (wave if 1 < y < 9 else 0))), 4, x, y, CUT, kind)
        b.box(x, GROUND, 4, x, GROUND, CUT, "grass_block")
    for x, y, kind in ((4, 3, "emerald_block"), (58, 2, "diamond_block"), (6, 1, "ancient_debris"),
                       (57, 7, "amethyst_block"), (5, 7, "gold_block"), (60, 4, "iron_block")):
        b.box(x, y, CUT - 1, x, y, CUT, kind)
        b.put(x + 1, y, CUT, kind)


def shell(b):
    """Plinth, brick ground floor, plastered upper floor between timbers, two slabs."""
    b.box(LEFT - 1, 11, BACK - 1, RIGHT + 1, 14, CUT, "stone_bricks")
    b.box(LEFT, 13, BACK, RIGHT, 25, CUT, "bricks")
    b.box(LEFT, 26, BACK, RIGHT, 39, CUT, "white_concrete")
    for y in (26, 32, 38):
        b.box(LEFT, y, BACK, RIGHT, y, CUT, "dark_oak_planks")
    for z in (29, 37, 44, 47):
        for x in (LEFT, RIGHT):
            b.box(x, 26, z, x, 38, z, "dark_oak_planks")
    for x in (LEFT, 18, 25, 31, 32, 38, 45, RIGHT):
        b.box(x, 26, BACK, x, 38, BACK, "dark_oak_planks")
    b.box(LEFT - 1, 25, BACK - 1, RIGHT + 1, 25, CUT, "smooth_stone")
    b.box(LEFT - 1, 13, BACK - 1, RIGHT + 1, 14, CUT, "stone_bricks")
    b.box(LEFT - 1, 15, BACK - 1, RIGHT + 1, 15, CUT, "smooth_stone")
    for y in range(16, 25):
        if y % 2 == 0:
            for x in (LEFT, RIGHT):
                b.put(x, y, BACK, "smooth_stone")
    # Hollow rooms.
    b.box(LEFT + 2, 14, BACK + 2, RIGHT - 2, 24, CUT, None)
    b.box(LEFT + 2, 27, BACK + 2, RIGHT - 2, 37, CUT, None)
    b.box(24, 3, BACK + 2, 39, 11, CUT, None)
    # Side windows, with deep reveals.
    for y in (17, 29):
        for z in (32, 39):
            for x, inner in ((LEFT, LEFT + 1), (RIGHT, RIGHT - 1)):
                b.box(x, y - 1, z - 1, x, y + 5, z + 4, "smooth_stone" if y < 20 else "dark_oak_planks")
                b.box(x, y, z, inner, y + 4, z + 3, "glass")
                b.box(x, y + 2, z, x, y + 2, z + 3, "birch_planks")
                b.box(x, y, z + (1 if x == LEFT else 2), x, y + 4, z + (1 if x == LEFT else 2), "birch_planks")
                out = x - 1 if x == LEFT else x + 1
                b.box(out, y - 1, z - 1, out, y - 1, z + 4, "smooth_stone" if y < 20 else "spruce_planks")
                if y > 20:
                    b.box(out, y, z, out, y, z + 3,
                          lambda i, j, k: "flowering_azalea_leaves" if k % 2 else "oak_leaves")


def roof_edge(y):
    """How far the roof's left slope lies from x = 0 at a height."""
    return 7 + (y - 38)


def roof(b):
    """Tiles in two tones on a steep roof; it overhangs on three sides."""
    for y in range(38, 63):
        x = roof_edge(y)
        if x > 31:
            break
        for side in (x, 63 - x):
            inward = 1 if side < 32 else -1
            kind = "terracotta" if y % 4 else "bricks"
            b.box(side, y, BACK - 2, side, y, CUT, kind)
            b.box(side + inward, y, BACK - 2, side + inward, y, CUT, kind)
            b.box(side + 2 * inward, y, BACK - 1, side + 2 * inward, y, CUT, "spruce_planks")
        if x + 3 <= 60 - x:
            b.box(x + 3, y, BACK, 60 - x, y, BACK + 1, "white_concrete")
    for y in range(38, 63):  # the back gable's boards
        x = roof_edge(y)
        if x <= 31:
            b.put(x, y, BACK - 2, "dark_oak_planks")
            b.put(63 - x, y, BACK - 2, "dark_oak_planks")
            b.put(x + 1, y, BACK - 2, "dark_oak_planks")
            b.put(62 - x, y, BACK - 2, "dark_oak_planks")
    b.box(31, 62, BACK - 2, 32, 63, CUT, "dark_oak_planks")
    for y in (44, 50):
        b.box(roof_edge(y) + 3, y, BACK, 60 - roof_edge(y), y, BACK, "dark_oak_planks")
    for x in (20, 26, 37, 43):
        b.box(x, 39, BACK, x, 44 if x in (20, 43) else 50, BACK, "dark_oak_planks")
    b.box(31, 50, BACK, 32, 60, BACK, "dark_oak_planks")
    # Dormers on both slopes.
    for side in (1, -1):
        def at(x):
            return x if side > 0 else 63 - x
        for z in (32, 40):
            b.box(at(10), 42, z, at(15), 47, z + 4, "white_concrete")
            b.box(at(12), 43, z + 1, at(16), 46, z + 3, None)
            b.box(at(10), 43, z + 1, at(10), 46, z + 3, "glass")
            b.box(at(11), 43, z + 1, at(11), 43, z + 3, "sea_lantern")
            for step in range(3):
                b.box(at(9), 47 + step, z - 1 + step, at(16 + step), 47 + step, z + 5 - step, "terracotta")
    # The chimney, which the kitchen's stove and the fireplace share.
    b.box(45, 40, 32, 48, 60, 34, "bricks")
    b.box(44, 60, 31, 49, 60, 35, "smooth_stone")
    b.box(45, 61, 32, 48, 61, 34, "bricks")
    b.box(46, 61, 33, 47, 61, 33, "black_concrete")


def partitions(b):
    """Inner walls and what covers floors and walls, room by room."""
    rooms = (  # x1, x2, y1, y2, floor, paper, lower wall
        (12, 24, 13, 24, "checker", "light_gray_wool", "prismarine"),
        (26, 37, 13, 24, "granite", "sandstone", "birch_planks"),
        (39, 51, 13, 24, "spruce_planks", "green_concrete", "dark_oak_planks"),
        (12, 24, 26, 37, "birch_planks", "light_blue_wool", "white_concrete"),
        (26, 37, 26, 37, "tiles", "quartz_block", "cyan_wool"),
        (39, 51, 26, 37, "dark_oak_planks", "red_sandstone", "spruce_planks"),
    )
    for x1, x2, y1, y2, floor, paper, lower in rooms:
        for x in range(x1, x2 + 1):
            for z in range(BACK + 2, CUT + 1):
                kind = floor
                if floor == "checker":
                    kind = "white_concrete" if (x // 2 + z // 2) % 2 else "black_concrete"
                elif floor == "tiles":
                    kind = "quartz_block" if (x + z) % 2 else "cyan_wool"
                b.put(x, y1, z, kind)
        b.box(x1, y1 + 1, BACK + 1, x2, y2, BACK + 1, paper)
        b.box(x1, y1 + 1, BACK + 1, x2, y1 + 3, BACK + 1, lower)
        for x in (x1 - 1, x2 + 1):
            b.box(x, y1 + 1, BACK + 2, x, y2, CUT, lambda i, j, k: b.at(i, j, k)
                  if b.at(i, j, k) in ("glass", "birch_planks") else lower if j < y1 + 4 else paper)
        b.box(x1, y2, BACK + 2, x2, y2, CUT, None)
    for y in (14, 27):
        for x in (25, 38):
            b.box(x, y, BACK + 2, x, y + 10, CUT, "white_concrete")
            b.box(x, y, 37, x, y + 7, 42, None)
            b.box(x, y, 36, x, y + 8, 36, "spruce_planks")
            b.box(x, y, 43, x, y + 8, 43, "spruce_planks")
            b.box(x, y + 8, 36, x, y + 8, 43, "spruce_planks")
    # The attic's boards.
    b.box(12, 39, BACK + 2, 51, 39, CUT, "oak_planks")


def stairs(b):
    """Along the back of the hall, up to the right; above, up to the left to the attic."""
    for floor, top, way in ((13, 26, 1), (26, 39, -1)):
        start = 26 if way > 0 else 37
        b.box(start + way * 2, top - 1, 32, start + way * 11, top, 36, None)
        b.box(26, top, 37, 37, top, 37, "dark_oak_planks")
        for step in range(12):
            x, y = start + way * step, floor + 1 + step
            b.box(x, y, 32, x, y, 36, "spruce_planks")
            b.box(x, max(floor + 1, y - 1), 32, x, y - 1, 36, "dark_oak_planks")
            if step % 2 == 0:
                b.box(x, y + 1, 36, x, y + 2, 36, "dark_oak_planks")
            b.put(x, y + 3, 36, "spruce_planks")
            b.put(x, y, 34, "red_wool")
            b.put(x, y, 33, "red_wool")
            b.put(x, y, 35, "red_wool")
        # A railing around the opening.
        if top == 39:
            for x in range(26, 36, 3):
                b.box(x, 40, 37, x, 42, 37, "dark_oak_planks")
            b.box(26, 42, 37, 35, 42, 37, "spruce_planks")


def cellar(b):
    """Under a vault: barrels on a rack, crates, a shelf of bottles, a lamp."""
    b.box(22, 2, BACK, 41, 11, CUT, lambda x, y, z: None if 24 <= x <= 39 and y >= 3 and z >= BACK + 2
          and y <= 11 - max(0, abs(x - 31.5) - 4) ** 2 * 0.16
          else "stone_bricks" if grain(x, y, z // 2) > 0.15 else "cracked_stone_bricks")
    b.box(24, 2, BACK + 2, 39, 2, CUT, "cobblestone")
    for z in (38, 45):
        for x in (25, 30):
            for i in range(4):
                for j in range(4):
                    if (i in (1, 2) or j in (1, 2)):
                        b.box(x + i, 3 + j, z - 4, x + i, 3 + j, z, "spruce_planks")
                        b.put(x + i, 3 + j, z - 1, "iron_block")
                        b.put(x + i, 3 + j, z - 3, "iron_block")
            b.put(x + 1, 4, z + (1 if z < 46 else 0), "gold_block")
    for x, y, z, n in ((36, 3, 40, 4), (36, 3, 45, 3), (36, 5, 45, 2), (35, 3, 35, 4)):
        b.box(x, y, z - 1, x + n - 1, y + n - 2, z + 1, "oak_planks")
        b.box(x, y + n - 2, z - 1, x + n - 1, y + n - 2, z + 1, "birch_planks")
    b.box(31, 10, 39, 32, 11, 40, "sea_lantern")
    b.box(26, 8, BACK + 2, 37, 8, BACK + 2, "spruce_planks")
    for x in range(26, 38, 2):
        b.put(x, 9, BACK + 2, ("green_concrete", "red_concrete", "lime_wool")[x // 2 % 3])


def lamp(b, x, y, z, shade="yellow_wool"):
    """Hung from a ceiling; y is the row below it."""
    b.put(x, y, z, "iron_block")
    b.box(x - 1, y - 1, z - 1, x + 1, y - 1, z + 1, shade)
    b.put(x, y - 2, z, "glowstone")


def chair(b, x, y, z, back, kind="oak_planks"):
    """Two by two; `back` is the step from the seat to its back."""
    b.box(x, y + 2, z, x + 1, y + 2, z + 1, kind)
    for i in (0, 1):
        for k in (0, 1):
            b.box(x + i, y, z + k, x + i, y + 1, z + k, "spruce_planks")
    i, k = back
    if i:
        at = x + (1 if i > 0 else 0)
        b.box(at, y + 3, z, at, y + 5, z + 1, kind)
    else:
        at = z + (1 if k > 0 else 0)
        b.box(x, y + 3, at, x + 1, y + 5, at, kind)


def kitchen(b):
    """A range with a hood, worktops, a sink, a table laid for two."""
    y = 14
    b.box(12, y, 31, 24, y + 2, 33, "white_concrete")
    b.box(12, y + 3, 31, 24, y + 3, 33, "smooth_stone")
    for x in range(13, 24, 2):
        b.put(x, y + 1, 34, "iron_block")
    b.box(12, y, 34, 13, y + 2, 39, "white_concrete")
    b.box(12, y + 3, 34, 13, y + 3, 39, "smooth_stone")
    b.box(16, y, 31, 20, y + 3, 34, "black_concrete")
    b.box(17, y + 1, 34, 19, y + 1, 34, "orange_wool")
    b.put(18, y + 1, 34, "glowstone")
    for x in (16, 20):
        b.put(x, y + 4, 32, "iron_block")
    b.box(19, y + 4, 33, 20, y + 5, 33, "copper_block")
    b.box(15, y + 8, 31, 21, y + 8, 34, "copper_block")
    b.box(16, y + 9, 31, 20, y + 9, 33, "copper_block")
    b.box(17, y + 10, 31, 19, y + 10, 32, "copper_block")
    b.box(12, y + 4, 36, 12, y + 4, 36, "iron_block")
    b.box(13, y + 3, 36, 13, y + 3, 38, "water")
    b.box(22, y + 7, 31, 24, y + 10, 32, "birch_planks")
    b.box(12, y + 7, 31, 14, y + 10, 32, "birch_planks")
    b.put(14, y + 8, 33, "iron_block")
    b.put(22, y + 8, 33, "iron_block")
    # Table and chairs.
    b.box(17, y + 3, 38, 22, y + 3, 43, "oak_planks")
    b.box(18, y + 3, 38, 21, y + 3, 43, "white_concrete")
    for x in (17, 22):
        for z in (38, 43):
            b.box(x, y, z, x, y + 2, z, "spruce_log")
    for z in (39, 42):
        b.put(18, y + 4, z, "light_blue_wool")
        b.put(21, y + 4, z, "light_blue_wool")
    b.put(19, y + 4, 41, "red_concrete")
    b.put(19, y + 5, 41, "flowering_azalea_leaves")
    chair(b, 15, y, 40, (-1, 0))
    chair(b, 23, y, 40, (1, 0))
    lamp(b, 19, 24, 40, "red_concrete")
    # A cold store with its door, by the cut.
    b.box(12, y, 42, 13, y + 7, 45, "light_gray_wool")
    b.box(14, y + 2, 42, 14, y + 6, 42, "iron_block")


def hall(b):
    """A runner, a clock, a coat stand, a chest, a mirror, a chandelier."""
    y = 14
    b.box(29, 13, 38, 34, 13, 46, "red_wool")
    b.box(30, 13, 38, 33, 13, 46, "brown_wool")
    for z in range(39, 47, 3):
        b.box(31, 13, z, 32, 13, z, "yellow_wool")
    b.box(26, y, 38, 27, y + 8, 39, "dark_oak_planks")
    b.box(26, y + 6, 40, 27, y + 7, 40, "white_concrete")
    b.put(26, y + 6, 40, "gold_block")
    b.box(36, y, 44, 37, y + 2, 46, "spruce_planks")
    b.box(36, y + 3, 44, 37, y + 3, 46, "dark_oak_planks")
    b.put(36, y + 4, 45, "lapis_block")
    b.put(36, y + 5, 45, "pink_wool")
    b.box(37, y, 38, 37, y + 6, 38, "spruce_log")
    b.box(36, y + 5, 38, 36, y + 6, 38, "green_concrete")
    b.box(37, y + 4, 39, 37, y + 6, 39, "blue_concrete")
    b.box(31, 24, 40, 32, 24, 40, "gold_block")
    b.box(31, 23, 40, 32, 23, 40, "gold_block")
    b.box(29, 22, 40, 34, 22, 40, "gold_block")
    b.box(31, 22, 39, 32, 22, 42, "gold_block")
    for x, z in ((29, 40), (34, 40), (31, 39), (32, 42), (31, 42), (32, 39)):
        b.put(x, 23, z, "glowstone")
    b.box(26, y, 45, 27, y, 46, "clay")
    b.box(26, y + 1, 45, 27, y + 3, 46, "oak_leaves")


def living_room(b):
    """A fireplace under the chimney; a sofa, a table and a round rug before it."""
    y = 14
    b.box(42, y, 31, 50, y + 6, 33, "quartz_block")
    b.box(42, y + 5, 31, 50, y + 5, 34, "smooth_stone")
    b.box(44, y + 7, 31, 48, 24, 32, "bricks")
    b.box(44, y, 32, 48, y + 3, 33, "black_concrete")
    b.box(45, y, 33, 47, y, 33, "spruce_log")
    b.box(45, y + 1, 33, 47, y + 1, 33, "glowstone")
    b.put(46, y + 2, 33, "orange_wool")
    b.put(43, y + 6, 34, "gold_block")
    b.put(49, y + 6, 34, "sea_lantern")
    b.box(45, y + 7, 33, 47, y + 9, 33, "gold_block")
    b.put(46, y + 8, 33, "light_blue_wool")
    b.disc(46, 13, 40, 5.3, "red_wool")
    b.disc(46, 13, 40, 4.3, "yellow_concrete")
    b.disc(46, 13, 40, 3.3, "blue_wool")
    # A sofa along the inner wall, a low table, a bookcase across, a plant.
    b.box(39, y, 36, 42, y + 1, 44, "brown_wool")
    b.box(39, y + 2, 36, 39, y + 4, 44, "brown_wool")
    for z in (36, 44):
        b.box(39, y + 2, z, 42, y + 2, z, "brown_wool")
    b.put(40, y + 2, 38, "orange_wool")
    b.put(40, y + 2, 42, "cyan_wool")
    b.box(45, y + 2, 38, 48, y + 2, 42, "dark_oak_planks")
    for z in (38, 42):
        b.box(46, y, z, 47, y + 1, z, "dark_oak_planks")
    b.put(46, y + 3, 40, "white_concrete")
    b.put(47, y + 3, 40, "red_concrete")
    b.box(50, y, 44, 51, y + 7, 46, "spruce_planks")
    for j in (1, 3, 5):
        for k in (44, 45, 46):
            b.put(50, y + j, k, ("red_concrete", "blue_concrete", "green_concrete", "yellow_concrete")[(j + k) % 4])
    b.box(51, y, 36, 51, y, 37, "clay")
    b.box(50, y + 1, 36, 51, y + 4, 37, "oak_leaves")
    b.box(50, y, 36, 51, y, 37, "clay")
    lamp(b, 46, 24, 40, "orange_wool")


def bedroom(b):
    """A bed with four posts, a wardrobe, a bedside lamp, a teddy bear."""
    y = 27
    b.box(15, y, 32, 22, y + 1, 43, "dark_oak_planks")
    b.box(15, y + 2, 32, 22, y + 2, 43, "white_wool")
    b.box(15, y + 3, 36, 22, y + 3, 43, "blue_wool")
    b.box(15, y + 2, 36, 15, y + 3, 43, "blue_wool")
    b.box(22, y + 2, 36, 22, y + 3, 43, "blue_wool")
    b.box(15, y + 3, 37, 22, y + 3, 38, "white_wool")
    b.box(16, y + 3, 33, 18, y + 3, 34, "pink_wool")
    b.box(20, y + 3, 33, 21, y + 3, 34, "pink_wool")
    b.box(15, y, 31, 22, y + 5, 31, "dark_oak_planks")
    for x in (15, 22):
        for z in (32, 43):
            b.box(x, y, z, x, y + (7 if z < 40 else 5), z, "spruce_log")
            b.put(x, y + (8 if z < 40 else 6), z, "gold_block")
    b.box(15, y + 6, 31, 22, y + 7, 31, "pink_wool")
    b.box(17, y + 8, 31, 20, y + 8, 31, "pink_wool")
    b.box(12, y, 32, 13, y + 2, 34, "spruce_planks")
    b.put(12, y + 3, 33, "glowstone")
    b.put(12, y + 4, 33, "yellow_wool")
    b.box(14, 26, 44, 23, 26, 46, "magenta_wool")
    b.box(15, 26, 44, 22, 26, 46, "pink_wool")
    b.box(12, y, 38, 13, y + 7, 42, "birch_planks")
    b.put(14, y + 4, 40, "gold_block")
    b.box(24, y, 44, 24, y + 1, 45, "brown_wool")
    b.put(24, y + 2, 45, "brown_wool")
    lamp(b, 18, 37, 42, "light_blue_wool")


def bathroom(b):
    """A tub full of water, a basin under a mirror, a plant; it is also the landing."""
    y = 27
    b.box(27, y, 39, 32, y + 2, 44, "quartz_block")
    b.box(28, y + 2, 40, 31, y + 2, 43, "water")
    b.put(29, y + 3, 41, "white_wool")
    b.put(30, y + 3, 42, "white_wool")
    b.put(31, y + 3, 41, "yellow_wool")
    b.box(26, y + 4, 42, 27, y + 4, 42, "gold_block")
    b.box(26, y + 4, 42, 26, y + 8, 42, "gold_block")
    b.box(27, y + 8, 42, 28, y + 8, 42, "gold_block")
    b.box(36, y, 44, 37, y + 2, 46, "white_concrete")
    b.box(35, y + 3, 44, 37, y + 3, 46, "quartz_block")
    b.put(36, y + 3, 45, "water")
    b.put(37, y + 4, 45, "gold_block")
    b.box(33, 26, 40, 35, 26, 43, "lime_wool")
    b.box(36, y, 38, 37, y, 39, "clay")
    b.box(36, y + 1, 38, 37, y + 3, 39, "oak_leaves")
    lamp(b, 31, 37, 42, "white_wool")


def study(b):
    """Books to the ceiling, a desk with a globe, an armchair, a ladder."""
    y = 27
    kinds = ("red_concrete", "blue_concrete", "green_concrete", "yellow_concrete", "brown_wool",
             "black_concrete", "white_concrete")
    for x in range(39, 52):
        for j in range(11):
            if x in (39, 45, 51) or j in (0, 4, 8):
                b.box(x, y + j, 31, x, y + j, 32, "dark_oak_planks")
            else:
                b.put(x, y + j, 31, "spruce_planks")
                if j % 4 != 3 or grain(x, j, 3) > 0.5:
                    b.put(x, y + j, 32, kinds[int(grain(x, j // 4, 1) * 7) % 7])
    for x in (41, 43):
        rod(b, (x, y, 35), (x, y + 9, 33), "oak_planks")
    for j in range(1, 9, 2):
        b.put(42, y + j, round(35 - j * 2 / 9), "oak_planks")
    # Desk, lamp, globe, chair.
    b.box(43, y + 3, 36, 50, y + 3, 39, "dark_oak_planks")
    for x in (43, 44, 49, 50):
        b.box(x, y, 36, x, y + 2, 39, "spruce_planks")
    b.put(44, y + 4, 37, "emerald_block")
    b.put(44, y + 5, 37, "glowstone")
    b.box(46, y + 4, 38, 47, y + 4, 38, "white_concrete")
    b.put(49, y + 4, 37, "gold_block")
    b.box(49, y + 5, 37, 50, y + 6, 38, "blue_concrete")
    b.put(49, y + 6, 38, "green_concrete")
    b.put(50, y + 5, 38, "green_concrete")
    chair(b, 46, y, 34, (0, -1), "red_concrete")
    b.box(39, y, 40, 42, y + 1, 43, "red_concrete")
    b.box(39, y + 2, 40, 39, y + 4, 43, "red_concrete")
    b.box(39, y + 2, 40, 42, y + 2, 40, "red_concrete")
    b.box(39, y + 2, 43, 42, y + 2, 43, "red_concrete")
    b.box(44, 26, 41, 50, 26, 45, "green_concrete")
    b.box(45, 26, 42, 49, 26, 44, "lime_wool")
    b.box(51, y, 42, 51, y + 5, 45, "spruce_planks")
    b.put(51, y + 6, 44, "amethyst_block")
    lamp(b, 46, 37, 41, "green_concrete")


def attic(b):
    """Trusses of dark oak, trunks, a telescope at the gable, a toy railway, an easel."""
    for z in (33, 40, CUT):
        b.box(roof_edge(48) + 3, 48, z, 60 - roof_edge(48), 48, z, "dark_oak_planks")
        b.box(31, 48, z, 32, 60, z, "dark_oak_planks")
        rod(b, (31, 56, z), (24, 49, z), "dark_oak_planks")
        rod(b, (32, 56, z), (39, 49, z), "dark_oak_planks")
    b.box(31, 48, BACK, 32, 48, CUT, "dark_oak_planks")
    y = 40
    b.box(14, y, 32, 19, y + 2, 35, "spruce_planks")
    b.box(14, y + 3, 32, 19, y + 3, 35, "brown_wool")
    b.box(16, y + 1, 36, 17, y + 2, 36, "gold_block")
    b.box(15, y, 42, 18, y + 1, 45, "oak_planks")
    b.box(15, y + 2, 43, 17, y + 3, 45, "red_concrete")
    b.box(19, y, 44, 20, y + 1, 45, "light_gray_wool")
    # The round window in the back gable, and the telescope that looks through it.
    for i in range(-3, 5):
        for j in range(-3, 5):
            if hypot(i - 0.5, j - 0.5) <= 3.6:
                b.box(31 + i, 54 + j, BACK - 1, 31 + i, 54 + j, BACK + 1, "dark_oak_planks")
            if hypot(i - 0.5, j - 0.5) <= 2.6:
                b.box(31 + i, 54 + j, BACK, 31 + i, 54 + j, BACK + 1, "glass")
                b.put(31 + i, 54 + j, BACK - 1, None)
    for x, z in ((30, 37), (34, 37), (32, 34)):
        rod(b, (x, y, z), (32, y + 4, 36), "spruce_planks")
    b.box(32, y + 5, 36, 32, y + 5, 38, "gold_block")
    rod(b, (32, y + 5, 36), (32, y + 8, 32), "copper_block")
    # Toy railway in an oval.
    for x in range(38, 50):
        for z in range(36, 46):
            e = hypot((x - 43.5) / 6, (z - 40.5) / 5)
            if 0.8 < e <= 1.02:
                b.put(x, y, z, "gray_wool" if (x + z) % 2 else "spruce_planks")
    for x, kind in ((41, "red_concrete"), (43, "blue_concrete"), (45, "black_concrete")):
        b.box(x, y + 1, 45, x + (x == 45), y + 1, 45, kind)
    b.put(46, y + 2, 45, "gold_block")
    b.box(43, y, 40, 44, y + 1, 41, "white_concrete")
    b.box(43, y + 2, 40, 44, y + 2, 41, "red_concrete")
    # Easel with a painting, a rocking chair, a bare bulb in each bay.
    b.box(24, y, 43, 24, y + 5, 43, "oak_planks")
    b.box(28, y, 43, 28, y + 5, 43, "oak_planks")
    b.box(24, y + 2, 44, 28, y + 6, 44, "birch_planks")
    paints = {"y": "yellow_concrete", "l": "light_blue_wool", "g": "green_concrete", "c": "cyan_wool"}
    for i, row in enumerate(("yllll", "lllgg", "ggggg", "ccccc")):
        for k, mark in enumerate(row):
            b.put(24 + k, y + 6 - i, 44, paints[mark])
    chair(b, 32, y, 42, (1, 0), "red_wool")
    for z in (36, 44):
        b.box(31, 46, z, 31, 47, z, "iron_block")
        b.put(31, 45, z, "glowstone")
    b.box(20, y, 34, 20, y + 3, 34, "spruce_log")
    b.box(19, y + 4, 33, 21, y + 6, 35, "light_gray_wool")
    b.box(40, y, 34, 43, y + 4, 36, "white_wool")
    b.box(45, y, 32, 48, 60, 34, "bricks")


def back(b):
    """The garden front: a door under a porch, windows in pairs, flowers."""
    z = BACK
    for y, xs in ((17, (14, 19, 42, 47)), (29, (13, 20, 27, 35, 42, 48))):
        for x in xs:
            b.box(x - 1, y - 1, z, x + 3, y + 5, z, "smooth_stone" if y < 20 else "dark_oak_planks")
            b.box(x, y, z, x + 2, y + 4, z + (0 if y < 20 or x in (13, 20, 42, 48) else 1), "glass")
            b.box(x, y + 2, z, x + 2, y + 2, z, "birch_planks")
            b.box(x - 1, y - 1, z - 1, x + 3, y - 1, z - 1, "smooth_stone" if y < 20 else "spruce_planks")
            for i in range(x, x + 3):
                b.put(i, y, z - 1, "flowering_azalea_leaves" if i % 2 else "oak_leaves")
            for side in (x - 2, x + 4):
                b.box(side, y, z - 1, side, y + 4, z - 1, "oxidized_copper")
    b.box(28, 14, z, 35, 23, z, "smooth_stone")
    b.box(30, 14, z, 33, 21, z, "dark_oak_planks")
    b.box(30, 20, z, 33, 21, z, "glass")
    b.put(33, 17, z - 1, "gold_block")
    b.box(30, 14, z - 1, 33, 22, z - 1, None)
    b.put(33, 17, z - 1, "gold_block")
    b.box(28, 13, z - 4, 35, 13, z - 1, "stone_bricks")
    for x in (27, 36):
        b.box(x, 13, z - 4, x, 22, z - 4, "spruce_log")
    for step in range(3):
        b.box(26 + step, 23 + step, z - 5, 37 - step, 23 + step, z - 1, "terracotta")
    for x in (29, 34):
        b.put(x, 21, z - 1, "sea_lantern")


def garden(b):
    """Behind the house: a path, beds, a pond, trees, hedges; grass beside it."""
    y = GROUND
    b.box(30, y, 4, 33, y, BACK - 5, lambda i, j, k: "gravel" if grain(i, 1, k) > 0.3 else "andesite")
    b.box(1, y + 1, 4, 1, y + 3, CUT, "oak_leaves")
    b.box(62, y + 1, 4, 62, y + 3, CUT, "oak_leaves")
    b.box(1, y + 1, 4, 28, y + 3, 4, "oak_leaves")
    b.box(35, y + 1, 4, 62, y + 3, 4, "oak_leaves")
    for x in (28, 35):
        b.box(x, y + 1, 4, x, y + 6, 4, "stone_bricks")
        b.put(x, y + 7, 4, "sea_lantern")
    for x in range(SIZE):
        for z in range(4, BACK):
            d = hypot((x - 46) / 8, (z - 12) / 5)
            if d <= 1.15 and b.at(x, y, z):
                b.put(x, y, z, "water" if d <= 0.95 else "smooth_stone")
                if d <= 0.95:
                    b.put(x, y - 1, z, "clay")
    for x, z in ((43, 11), (48, 14), (50, 10)):
        b.put(x, y + 1, z, "lime_wool")
    for x, z, r in ((10, 11, 5), (57, 19, 4), (5, 36, 3), (58, 38, 3)):
        high = 9 if r > 3 else 6
        b.box(x, y + 1, z, x, y + high, z, "oak_log")
        b.ellipsoid(x, y + high + 2, z, min(r, 63 - x, x), r * 0.9, r, lambda i, j, k: b.at(i, j, k) or
                    ("flowering_azalea_leaves" if r == 4 and grain(i, j, k) > 0.4 else "oak_leaves"))
    for x in range(16, 28, 2):
        for z in range(7, 20, 3):
            b.put(x, y, z, "dirt")
            b.put(x + 1, y, z, "dirt")
            crop = ("oak_leaves", "red_wool", "oak_leaves", "orange_wool", "lime_wool")[(x // 2 + z) % 5]
            b.put(x, y + 1, z, crop)
            b.put(x + 1, y + 1, z, "oak_leaves")
    # A bench by the pond.
    b.box(43, y + 1, 19, 49, y + 2, 20, "spruce_planks")
    b.box(43, y + 3, 20, 49, y + 4, 20, "spruce_planks")


def section(b):
    """What the plane cuts: walls, slabs and roof turn black; the ground keeps its layers."""
    solid = {"bricks", "white_concrete", "stone_bricks", "cracked_stone_bricks", "smooth_stone"}
    for y in range(2, 63):
        for x in range(LEFT - 1, RIGHT + 2):
            kind = b.at(x, y, CUT)
            wall = x <= LEFT + 1 or x >= RIGHT - 1 or x in (25, 38)
            slab = y in (12, 13, 25, 26, 38, 39)
            vault = y <= 12 and 22 <= x <= 41 and kind in solid
            if kind and ((wall or slab) and y >= 12 or vault):
                b.put(x, y, CUT, "black_concrete")
    for y in range(38, 63):
        x = roof_edge(y)
        if x <= 31:
            b.box(x, y, CUT, x + 2, y, CUT, "black_concrete")
            b.box(61 - x, y, CUT, 63 - x, y, CUT, "black_concrete")
    b.box(31, 62, CUT, 32, 63, CUT, "black_concrete")
