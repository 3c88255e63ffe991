"""The reference builds of reference_minimalist: few shapes, few colours, one telling detail.

    python3 minimalist.py FOLDER

writes FOLDER/<prompt>/reference_minimalist.json for every prompt. No build uses more than
five kinds of blocks.
"""

import sys
from math import atan2, cos, hypot, pi, sin
from pathlib import Path

from minimalist_scenes import SCENES, drums
from voxels import Build

MIDDLE = 15.5


def giant_mushroom():
    """A dome with round spots on a waisted stem; at its foot a child of the same shape."""
    b = Build()
    b.disc(MIDDLE, 0, MIDDLE, 14.6, "grass_block")
    drums(b, MIDDLE, MIDDLE, 1, "white_wool", (1, 6.6), (2, 5.6), (3, 4.6), (8, 3.6), (3, 4.6), (2, 6.6))
    cap(b, MIDDLE, 16, MIDDLE, 15.9)
    # A collar on the stem.
    b.disc(MIDDLE, 11, MIDDLE, 5.6, "white_wool")
    # Spots: one on top, six around it, six low between those.
    for up, around, count, wide in ((90, 0, 1, 17), (43, 15, 6, 14), (11, 45, 6, 13)):
        for i in range(count):
            spot(b, MIDDLE, 16, MIDDLE, 15.9, up, around + 360 / count * i, wide)
    # The child.
    drums(b, 9.5, 25.5, 1, "white_wool", (4, 1.2))
    cap(b, 9.5, 5, 25.5, 3.8)
    b.box(9, 8, 25, 10, 8, 26, "white_wool")
    return b


def cap(b, x, y, z, r):
    """The upper half of a ball, hollowed below down to its white gills."""
    b.solid(lambda i, j, k: hypot(i - x, j - y, k - z) <= r and j >= y, "red_wool")
    if r > 6:
        b.disc(x, y, z, r - 1.2, None)
        b.disc(x, y + 1, z, r - 1.6, "white_wool")
        b.disc(x, y, z, 6.6, "white_wool")


def spot(b, x, y, z, r, up, around, wide):
    """Round as seen from the middle of the ball; angles in degrees."""
    up, around = up * pi / 180, around * pi / 180
    to = cos(up) * cos(around), sin(up), cos(up) * sin(around)

    def seen(i, j, k, kind):
        far = hypot(i - x, j - y, k - z)
        near = ((i - x) * to[0] + (j - y) * to[1] + (k - z) * to[2]) / max(far, 1)
        return kind == "red_wool" and j > y and near >= cos(wide * pi / 180)

    b.repaint(seen, "white_wool")


def birthday_cake():
    """A drum of a cake; a quarter is eaten, and the fork lies where it was."""
    b = Build()
    b.disc(MIDDLE, 0, MIDDLE, 15.9, "blue_wool")
    b.disc(MIDDLE, 1, MIDDLE, 15.9, "blue_wool", hole=14.6)

    def layers(x, y, z):
        if y > 12 or hypot(x - 15.5, z - 15.5) > 11.7:
            return "white_wool"
        return "red_wool" if y in (4, 5, 9, 10) else "sand"

    b.cylinder(MIDDLE, MIDDLE, 1, 14, 12.6, layers)
    b.box(16, 2, 16, 31, 14, 31, None)
    b.cylinder(MIDDLE, MIDDLE, 1, 1, 12.6, lambda x, y, z: None if min(x, z) > 15 else layers(x, y, z))
    # Six candles of eight; two went with the quarter.
    for n in range(6):
        angle = pi / 8 * (2 * n + 5)
        x, z = round(15 + 8.4 * cos(angle)), round(15 + 8.4 * sin(angle))
        b.box(x, 15, z, x + 1, 22, z + 1, "red_wool")
        b.box(x, 23, z, x + 1, 24, z + 1, "glowstone")
        b.put(x + 1, 25, z, "glowstone")
    # The fork.
    b.box(21, 1, 20, 21, 1, 24, "white_wool")
    for z, far in ((20, 21), (22, 29), (24, 21)):
        b.box(18, 1, z, far, 1, z, "white_wool")
    return b


def snail():
    """A shell that is one spiral, on a leaf with one bite gone."""
    b = Build()

    def leaf(x, y, z):
        wide = hypot(x - 15.5, z + 2) <= 24.3 and hypot(x - 15.5, z - 33) <= 24.3
        return wide and hypot(x - 20, z - 24.5) > 4

    # Foot, neck and head in one line, then the two horns.
    b.tube([(1, 2, 15.5), (6, 2.4, 15.5), (15, 3.2, 15.5), (22, 3.6, 15.5), (26, 6.5, 15.5), (26.8, 11, 15.5)],
           [0.8, 2.2, 3.6, 3.7, 3.4, 2.9], "sand")
    b.box(0, 0, 0, 31, 0, 31, lambda x, y, z: "green_wool" if leaf(x, y, z) else None)
    for z, way in ((14, -1), (17, 1)):
        b.tube([(27, 13, z), (28, 16, z + way), (29, 19, z + 2 * way)], [1, 0.9, 0.9], "sand")
        eye = min(z + way, z + 2 * way)
        b.box(29, 19, eye, 30, 20, eye + 1, "black_wool")
    cx, cy = 13, 17

    def stripe(x, y, z):
        # How far from the middle of the side, measured along the curve of the shell.
        far = atan2(hypot(x - cx, y - cy), abs(z - 15.5) * 2) * 2 / pi
        turn = atan2(y - cy, x - cx) / (2 * pi)
        return "white_wool" if (far * 2.6 - turn) % 1 < 0.42 else "orange_wool"

    b.ellipsoid(cx, cy, 15.5, 12.6, 12.6, 6.6, stripe)
    return b


def lighthouse():
    """A white tower with one red ring; its light turns over the empty sea, above a boat."""
    b = Build()
    b.box(0, 0, 5, 31, 1, 26, "water")
    # The rock: upright blocks, no two of the same height side by side.
    for x1, z1, x2, z2, top in ((4, 10, 15, 21, 8), (2, 12, 3, 18, 6), (2, 19, 6, 23, 3), (2, 8, 6, 11, 4),
                                (7, 8, 11, 9, 6), (12, 8, 16, 12, 4), (16, 13, 18, 18, 6), (19, 14, 20, 17, 3),
                                (15, 19, 18, 22, 3), (11, 22, 14, 23, 5)):
        b.box(x1, 0, z1, x2, top, z2, "stone")
    x, z = 9.5, MIDDLE
    drums(b, x, z, 9, "white_wool", (2, 5.6), (4, 4.6), (9, 3.6))
    drums(b, x, z, 17, "red_wool", (3, 3.6))
    b.box(9, 9, 20, 10, 12, 21, "red_wool")
    # Gallery, light and roof.
    b.disc(x, 24, z, 4.6, "red_wool")
    drums(b, x, z, 25, "glowstone", (3, 2.6))
    drums(b, x, z, 28, "red_wool", (1, 3.6), (1, 2.6), (1, 1.6))
    # Two beams, flat as paper, as the lamp turns past.
    for i in range(32):
        for k in range(32):
            along, across = (i - x) * 0.85 - (k - z) * 0.5, (i - x) * 0.5 + (k - z) * 0.85
            if abs(across) < abs(along) * 0.17 + 0.5:
                b.put(i, 26, k, "glowstone")
    # The boat.
    b.box(25, 2, 15, 29, 2, 16, "red_wool")
    for y in range(3, 8):
        b.box(26, y, 15, 29 - (y - 3) // 2, y, 15, "white_wool")
    return b


def hot_air_balloon():
    """One great drop in bands of blue and white; far off, the same drop again."""
    b = Build()
    for y in range(8, 32):
        if y >= 20:
            r = (11.9 ** 2 - (y - 19.5) ** 2) ** 0.5
        else:
            r = 11.9 - 8.6 * ((20 - y) / 12) ** 1.7
        b.disc(MIDDLE, y, MIDDLE, r, "white_wool" if (31 - y) // 5 % 2 else "blue_wool")
    # The basket hangs by its four corners, under the fire.
    b.box(13, 1, 13, 18, 4, 18, "oak_log")
    b.box(14, 3, 14, 17, 4, 17, None)
    for x in (14, 17):
        for z in (14, 17):
            b.box(x, 3, z, x, 7, z, "oak_log")
    b.box(15, 6, 15, 16, 7, 16, "glowstone")
    cloud(b, 8, 2, 25, 8)
    cloud(b, 24, 5, 6, 7.6)
    # The other one.
    b.ball(3.5, 20.5, 27.5, 2.9, lambda x, y, z: "white_wool" if y in (20, 21) else "blue_wool")
    b.box(3, 17, 27, 4, 17, 28, "blue_wool")
    b.box(3, 15, 27, 4, 16, 28, "oak_log")
    return b


def cloud(b, x, y, z, r):
    """A flat one with a round back."""
    b.ellipsoid(x, y + 0.5, z, r, 1.4, r * 0.6, "white_wool")
    b.ellipsoid(x - r * 0.15, y + 1.5, z, r * 0.52, r * 0.42, r * 0.45,
                lambda i, j, k: "white_wool" if j > y else b.at(i, j, k))


def windmill():
    """A hill, a tower, a cross: sails as wide as the picture, and one sheep."""
    b = Build()
    drums(b, MIDDLE, MIDDLE, 0, "grass_block", (2, 15.9), (2, 13.6), (2, 10.6))
    drums(b, MIDDLE, 11.5, 4, "white_wool", (6, 5.6), (6, 4.6), (6, 3.6))
    drums(b, MIDDLE, 11.5, 22, "red_wool", (2, 4.6), (2, 3.6), (1, 1.6))
    b.box(15, 19, 15, 16, 20, 18, "oak_log")
    for x in range(32):
        for y in range(32):
            i, j = x - 15.5, y - 19.5
            for _ in range(4):
                i, j = j, -i
                along, across = (i + j) / 2 ** 0.5, (i - j) / 2 ** 0.5
                if 0 <= along <= 16.5 and abs(across) < 0.75:
                    b.put(x, y, 17, "oak_log")
                    b.put(x, y, 18, "oak_log")
                elif 4.5 <= along <= 16.5 and 0 < across < 4.6:
                    b.put(x, y, 17, "red_wool")
    # The door, lit from inside.
    b.box(15, 6, 17, 16, 9, 17, "glowstone")
    # The sheep.
    b.box(8, 7, 20, 12, 9, 23, "white_wool")
    b.box(13, 8, 21, 14, 9, 22, "oak_log")
    b.box(12, 10, 21, 13, 10, 22, "white_wool")
    for x in (8, 12):
        for z in (20, 23):
            b.put(x, 6, z, "oak_log")
    return b


def steam_locomotive():
    """Cylinders, discs and a cube, like the first toy; the steam is three balls."""
    b = Build()
    # Rails, frame, buffer beam, wheels.
    for z in (9, 10, 21, 22):
        b.box(0, 0, z, 31, 0, z, "black_wool")
    b.box(1, 5, 12, 30, 8, 19, "black_wool")
    b.box(30, 5, 9, 31, 7, 22, "red_wool")
    for z in (9, 10, 21, 22):
        for x, y, r in ((5.5, 5.5, 4.6), (16.5, 5.5, 4.6), (26.5, 3.5, 2.6)):
            b.wheel(x, y, z, r, "black_wool")
            b.wheel(x, y, z, r - 1, "red_wool")
    # A rod from crank to crank.
    for z in (8, 23):
        b.box(5, 5, z, 17, 5, z, "gold_block")
        b.box(5, 6, z, 6, 6, z, "gold_block")
        b.box(16, 6, z, 17, 6, z, "gold_block")
    # Boiler, smokebox, lamp, cab, chimney, dome.
    b.barrel(9, 29, 12.5, 15.5, 5.2, "blue_wool")
    b.barrel(27, 30, 12.5, 15.5, 4.6, "black_wool")
    b.box(31, 12, 15, 31, 13, 16, "gold_block")
    b.box(0, 8, 10, 9, 19, 21, "blue_wool")
    b.box(0, 13, 12, 0, 17, 19, None)
    b.box(3, 13, 10, 7, 17, 21, None)
    b.box(1, 9, 11, 8, 18, 20, None)
    b.box(0, 20, 9, 10, 21, 22, "black_wool")
    drums(b, 25.5, 15.5, 17, "black_wool", (4, 2.6), (2, 3.6))
    b.disc(25.5, 22, 15.5, 1.6, None)
    b.ellipsoid(17.5, 17.5, 15.5, 2.6, 3.6, 2.6, "gold_block")
    # The steam.
    b.ball(25.5, 23.5, 15.5, 2.2, "white_wool")
    b.ball(20.5, 27.5, 15.5, 2.6, "white_wool")
    b.ball(13.5, 27.5, 15.5, 3.6, "white_wool")
    return b


def sleeping_dragon():
    """It lies over its heap of gold as a cat lies over a cushion; only the head has come round."""
    b = Build()
    b.ellipsoid(MIDDLE, -1, MIDDLE, 16.4, 8, 13.4, "gold_block")
    # From the hips to the shoulders; then everything that comes in pairs, on one side.
    b.tube([(4, 6.4, 15.5), (7, 8.5, 15.5), (12, 10.4, 15.5), (18, 10.4, 15.5), (22, 9.4, 15.5)],
           [2.4, 3.6, 5, 5, 3.8], "white_wool")
    b.tube([(8, 9, 19), (8, 7.4, 23), (9, 4, 26)], [2.8, 2.4, 1.6], "white_wool")
    b.box(8, 1, 28, 8, 2, 28, "black_wool")
    b.box(10, 1, 28, 10, 2, 28, "black_wool")
    wing(b)
    b.mirror(lambda x, y, z: (x, y, 31 - z), lambda x, y, z: z > MIDDLE)
    for x in (7, 10, 13, 16, 19):
        top = b.surface(x, 15)
        b.box(x, top + 1, 15, x + 1, top + 1, 16, "purple_wool")
        b.box(x, top + 2, 15, x, top + 2, 16, "purple_wool")
    # The neck comes round to the front, the tail round the other end.
    b.tube([(21, 9.8, 15.5), (25.5, 9.6, 15.5), (27, 7.6, 18), (25.5, 6.5, 21)], [4, 3.6, 3.2, 3], "white_wool")
    b.tube([(5, 6.6, 15.5), (2.4, 4.4, 17), (2.6, 2.4, 22), (6, 1, 28), (12, 0.6, 30.4)],
           [2.5, 2, 1.6, 1.2, 0.7], "white_wool")
    head(b, 21, 1, 18)
    return b


def head(b, x, y, z):
    """Its chin on the gold, eyes shut, horns laid back; eight wide, from a corner towards high z."""
    b.box(x, y, z, x + 7, y + 6, z + 6, "white_wool")
    b.box(x + 1, y, z + 7, x + 6, y + 3, z + 12, "white_wool")
    b.box(x + 3, y + 4, z + 7, x + 4, y + 4, z + 9, "white_wool")
    for side, out in ((x, -1), (x + 7, 1)):
        b.box(side, y + 4, z + 3, side, y + 4, z + 6, "black_wool")
        b.box(side - 2 * out, y + 4, z + 6, side, y + 4, z + 6, "black_wool")
        b.put(side - out, y + 4, z + 11, "white_wool")
        b.put(side - out, y + 4, z + 12, "black_wool")
        b.tube([(side, y + 7, z + 4), (side + out, y + 10, z + 2), (side + 2 * out, y + 14, z - 1)],
               [1.5, 1.2, 0.7], "purple_wool")


def wing(b):
    """Folded: three fingers from the wrist, and the skin hangs in arcs between them."""
    wrist = 15, 23
    tips = (19, 12), (13, 7), (7, 7), (1, 12)
    for (x1, y1), (x2, y2) in zip(tips, tips[1:]):
        for i in range(41):
            t = i / 40
            reach = 1 - 0.2 * (1 - (2 * t - 1) ** 2)
            x, y = x1 + (x2 - x1) * t - wrist[0], y1 + (y2 - y1) * t - wrist[1]
            for n in range(41):
                b.put(round(wrist[0] + x * reach * n / 40), round(wrist[1] + y * reach * n / 40), 21, "purple_wool")
    for x, y in tips:
        b.line((*wrist, 22), (x, y, 22), "white_wool")


PROMPTS = {
    "giant-mushroom": giant_mushroom,
    "birthday-cake": birthday_cake,
    "snail": snail,
    "lighthouse": lighthouse,
    "hot-air-balloon": hot_air_balloon,
    "windmill": windmill,
    "steam-locomotive": steam_locomotive,
    "sleeping-dragon": sleeping_dragon,
} | SCENES

if __name__ == "__main__":
    for prompt, build in PROMPTS.items():
        build().save(Path(sys.argv[1]) / prompt / "reference_minimalist.json")
