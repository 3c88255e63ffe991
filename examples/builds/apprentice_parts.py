"""What the apprentice uses again and again: plump shapes, drawings, big-headed people."""

from math import floor

from voxels import Build

INKS = {"W": "white_wool", "K": "black_wool", "R": "red_wool", "B": "blue_wool", "G": "green_wool",
        "Y": "yellow_wool", "O": "orange_wool", "P": "purple_wool", "A": "gold_block",
        "L": "glowstone", "I": "iron_block", "S": "sand", "N": "oak_log", "M": "oak_planks",
        "C": "cobblestone", "T": "stone", "V": "oak_leaves", "F": "glass", "H": "bricks"}

# A quilt's letters: the two kinds of its squares.
CLOTHS = {"g": ("grass_block", "green_wool"), "w": ("water", "blue_wool"), "s": ("sand", "yellow_wool"),
          "c": ("stone", "cobblestone"), "r": ("red_wool", "white_wool"), "b": ("black_wool", "white_wool"),
          "o": ("oak_planks", "oak_log"), "d": ("cobblestone", "dirt")}

# Where hands and sleeves go: across, up.
ARMS = {"down": ((-2, 2), (2, 2), (-2, 1), (2, 1)),
        "up": ((-2, 2), (2, 2), (-3, 2), (3, 2), (-3, 3), (3, 3)),
        "wave": ((-2, 2), (2, 2), (2, 1), (-3, 2), (-3, 3)),
        "wide": ((-2, 2), (2, 2), (-3, 2), (3, 2))}

# How a thing that looks to a side turns: where its right hand and its nose point.
TURNS = {"+z": ((1, 0), (0, 1)), "-z": ((-1, 0), (0, -1)), "+x": ((0, -1), (1, 0)), "-x": ((0, 1), (-1, 0))}


def puff(b, cx, cy, cz, rx, ry, rz, kind, plump=3.2):
    """A ball that is nearly a box, like a cushion."""
    around = (floor(cx - rx), floor(cy - ry), floor(cz - rz), floor(cx + rx) + 1, floor(cy + ry) + 1,
              floor(cz + rz) + 1)
    b.solid(lambda x, y, z: (abs(x - cx) / rx) ** plump + (abs(y - cy) / ry) ** plump
            + (abs(z - cz) / rz) ** plump <= 1, kind, around)


def quilt(b, rows, y=0):
    """Ground in squares of four by four, two kinds in turn; water is one block lower."""
    for k, row in enumerate(rows):
        for i, cloth in enumerate(row):
            if cloth == ".":
                continue
            kind = CLOTHS[cloth][(i + k) % 2]
            x, z = 4 * i, 4 * k
            if cloth == "w":
                b.box(x, y, z, x + 3, y, z + 3, kind)
            else:
                b.box(x, y, z, x + 3, y, z + 3, "dirt" if cloth == "g" else kind)
                b.box(x, y + 1, z, x + 3, y + 1, z + 3, kind)


def ripples(b, y, *places):
    """Waves as children draw them."""
    for x, z in places:
        for i, k in ((0, 0), (1, 1), (2, 0), (3, 1)):
            if b.at(x + i, y, z + k) in ("water", "blue_wool"):
                b.put(x + i, y, z + k, "white_wool")


def paste(b, part, place):
    """Copies another build's blocks; `place` says where each cell goes."""
    for (x, y, z), kind in part.cells.items():
        b.put(*place(x, y, z), kind)


def stamp(b, rows, left, top, side, near=None, out=0):
    """Paints a drawing on what is seen from a side; left and top are its first cell's place.

    `near` is where the look starts; with `out` the drawing stands out that many cells.
    """
    (rx, rz), (nx, nz) = TURNS[side]
    start = (31 if nx + nz > 0 else 0) if near is None else near
    for down, row in enumerate(rows):
        for i, ink in enumerate(row):
            if ink == " ":
                continue
            across = left + i * (rx + rz)
            for far in range(32):
                depth = start - far * (nx + nz)
                x, z = (across, depth) if nx == 0 else (depth, across)
                if b.at(x, top - down, z):
                    for step in range(out + 1):
                        b.put(x + nx * step, top - down, z + nz * step, INKS[ink])
                    break


def drawing(b, rows, x, y, z, side="+z", deep=1):
    """Sets a drawing in the air, its upper left corner at x, y, z."""
    (rx, rz), (nx, nz) = TURNS[side]
    for down, row in enumerate(rows):
        for i, ink in enumerate(row):
            if ink != " ":
                for step in range(deep):
                    b.put(x + rx * i - nx * step, y - down, z + rz * i - nz * step, INKS[ink])


def rod(b, a, c, kind):
    """A line that turns no corner without a block in it."""
    x, y, z = a
    steps = max(abs(q - p) for p, q in zip(a, c))
    b.put(x, y, z, kind)
    for n in range(1, steps + 1):
        goal = [round(p + (q - p) * n / steps) for p, q in zip(a, c)]
        while [x, y, z] != goal:
            if y != goal[1]:
                y += 1 if goal[1] > y else -1
            elif x != goal[0]:
                x += 1 if goal[0] > x else -1
            else:
                z += 1 if goal[2] > z else -1
            b.put(x, y, z, kind)


def pal(b, x, y, z, side="+z", shirt="blue_wool", hair="orange_wool", arms="wave", hat=None):
    """Somebody with a head as big as the rest."""
    (rx, rz), (nx, nz) = TURNS[side]

    def put(across, up, ahead, kind):
        b.put(x + rx * across + nx * ahead, y + up, z + rz * across + nz * ahead, kind)

    for across in (-1, 1):
        put(across, 0, 0, "black_wool")
    for across in (-1, 0, 1):
        for up in (1, 2):
            put(across, up, 0, shirt)
        for ahead in (-1, 0, 1):
            for up in (3, 4, 5):
                put(across, up, ahead, hair if up == 5 or ahead == -1 else "sand")
    for across in (-1, 1):
        put(across, 4, 1, "black_wool")
    put(0, 3, 1, "red_wool")
    for across, up in ARMS[arms]:
        put(across, up, 0, "sand" if abs(across) == 3 or up == 1 else shirt)
    if hat == "party":
        for up, kind in ((6, "purple_wool"), (7, "yellow_wool"), (8, "purple_wool")):
            put(0, up, 0, kind)
    elif hat == "crown":
        for across in (-1, 0, 1):
            for ahead in (-1, 0, 1):
                put(across, 5, ahead, "gold_block")
                if (across + ahead) % 2 == 0 and (across or ahead):
                    put(across, 6, ahead, "gold_block")
    elif hat:
        for across in (-1, 0, 1):
            for ahead in (-1, 0, 1, 2):
                put(across, 5, ahead, hat)
            put(across, 6, 0, hat)


def flower(b, x, y, z, tall, kind):
    """As tall as a person, or taller."""
    b.box(x, y, z, x, y + tall, z, "green_wool")
    b.put(x + 1, y + tall // 2, z, "green_wool")
    for i, k in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        b.put(x + i, y + tall, z + k, kind)
    b.put(x, y + tall, z, "yellow_wool" if kind != "yellow_wool" else "orange_wool")
    b.put(x, y + tall + 1, z, "yellow_wool" if kind != "yellow_wool" else "orange_wool")


def tall_door(b, left, top, high, side, kind="red_wool", near=None):
    """Three wide, far too high, with a golden knob."""
    ink = next(ink for ink, name in INKS.items() if name == kind)
    rows = [" " + "N" * 3 + " "] + ["N" + ink * 3 + "N"] * high
    rows[high // 2 + 1] = "N" + ink * 2 + "A" + "N"
    stamp(b, rows, left, top, side, near)


def fat_chimney(b, x, y, z, high, kind="bricks", wide=4):
    """As thick as it is high, its smoke in balls."""
    b.box(x, y, z, x + wide - 1, y + high - 1, z + wide - 1, kind)
    b.walls(x - 1, y + high - 1, z - 1, x + wide, y + high - 1, z + wide, kind)
    b.box(x + 1, y + high - 1, z + 1, x + wide - 2, y + high - 1, z + wide - 2, "black_wool")


def sheep(b, x, y, z, side="+z"):
    """A cushion on four pegs."""
    part = Build()
    for i in (13, 17):
        for k in (13, 16):
            part.box(i, 0, k, i, 2, k, "black_wool")
    puff(part, 15, 3.4, 14.5, 3, 2.2, 2.6, "white_wool")
    part.box(14, 3, 17, 16, 5, 19, "black_wool")
    part.box(14, 6, 17, 16, 6, 18, "white_wool")
    part.put(14, 5, 19, "white_wool")
    part.put(16, 5, 19, "white_wool")
    (rx, rz), (nx, nz) = TURNS[side]
    paste(b, part, lambda i, j, k: (x + rx * (i - 15) + nx * (k - 15), y + j,
                                    z + rz * (i - 15) + nz * (k - 15)))


def fish(b, x, y, z, side="+x", kind="orange_wool", fin="red_wool", size=1.0):
    """All head and smile, nose to a side."""
    (rx, rz), (nx, nz) = TURNS[side]
    part = Build()
    puff(part, 15, 15, 15, 2.2 * size, 2.9 * size, 3.9 * size, kind, 2.4)
    long = round(3.5 * size)
    for i in range(3):
        part.box(15, 15 - i - 1, 15 - long - i, 15, 15 + i + 1, 15 - long - i, fin)
    part.box(15, 15 + round(2.9 * size), 14, 15, 16 + round(2.9 * size), 16, fin)
    for face in ("+x", "-x"):
        ahead = 15 + round(1.8 * size)
        stamp(part, ("WW", "WK") if face == "-x" else ("WW", "KW"), ahead if face == "-x" else ahead + 1,
              16 + (size > 1.2), face)
    stamp(part, ("RRR",), 14, 15 - round(0.9 * size), "+z")
    paste(b, part, lambda i, j, k: (x + rx * (i - 15) + nx * (k - 15), y + j - 15,
                                    z + rz * (i - 15) + nz * (k - 15)))
