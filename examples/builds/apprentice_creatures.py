"""The apprentice's creatures."""

from math import atan2, hypot, pi

from apprentice_parts import drawing, flower, puff, quilt, rod, stamp
from voxels import Build, grain


def snail():
    """Half of it is shell, and a good part of the rest is eyes."""
    b = Build()
    quilt(b, ("........", "..gggg..", ".ggggggg", "gggggggg", "gggggggg", ".ggggggg", "..ggggg.", "....g..."))
    b.box(0, 2, 14, 5, 2, 17, "iron_block")
    puff(b, 15, 4, 15.5, 13.5, 3, 5, "yellow_wool")
    puff(b, 3.5, 3, 15.5, 3.4, 1.7, 3, "yellow_wool")
    b.tube([(21, 5, 15.5), (25, 9, 15.5), (25.5, 13, 15.5)], [4.5, 3.9, 3.8], "yellow_wool")
    puff(b, 25.5, 15, 15.5, 5.3, 4.8, 5.8, "yellow_wool")
    b.repaint(lambda x, y, z, old: old == "yellow_wool" and y <= 2, "orange_wool")

    cx, cy = 12.2, 17

    def shell(x, y, z):
        beside = abs(z - 15.5 - (y - cy) * 0.14)
        return (hypot(x - cx, y - cy) / 12.9) ** 2.6 + (beside / 7.6) ** 2.2 <= 1 and y > 4

    def stripes(x, y, z):
        turn = (atan2(y - cy, x - cx) / (2 * pi) + hypot(x - cx, y - cy) / 8.6) % 1
        return ("red_wool", "white_wool", "blue_wool", "white_wool")[int(turn * 4)]

    b.solid(shell, stripes)
    # Eyes on stalks that do not match, a smile, red cheeks.
    for k in (0, 1):
        rod(b, (27, 18, 12 + k), (28, 24, 10 + k), "yellow_wool")
        rod(b, (27, 18, 18 + k), (27, 21, 20 + k), "yellow_wool")
    puff(b, 28, 26, 10.5, 3, 3.2, 3.2, "white_wool", 2.8)
    puff(b, 27, 22.5, 21, 2.2, 2.2, 2.2, "white_wool", 2.8)
    stamp(b, ("KK", "KK", "KK"), 11, 27, "+x")
    stamp(b, ("KK", "KK"), 21, 23, "+x")
    stamp(b, ("R       R", "RK     KR", "  KK KK  ", "   KKK   "), 19, 15, "+x")
    # A leaf to eat, flowers that look over its back, someone who rides along.
    b.box(30, 2, 20, 30, 7, 20, "green_wool")
    b.box(29, 7, 19, 31, 7, 22, "oak_leaves")
    flower(b, 18, 2, 26, 9, "red_wool")
    flower(b, 23, 2, 24, 5, "purple_wool")
    flower(b, 9, 2, 25, 4, "orange_wool")
    flower(b, 9, 2, 6, 6, "white_wool")
    flower(b, 20, 2, 7, 8, "blue_wool")
    for x, z, kind in ((13, 27, "stone"), (25, 7, "cobblestone"), (14, 6, "stone")):
        puff(b, x, 2, z, 1.9, 1.7, 1.6, kind)
    return b


def octopus():
    """A head with arms; two of them hold the chest, one a sword, one a cup of tea."""
    b = Build()
    quilt(b, ("..ssss..", ".ssssss.", "ssssssss", "ssssssss", "ssssssss", "ssssssss", ".ssssss.", "..ssss.."))
    arms = (([(11, 4, 17), (6, 4, 22), (6, 3, 27), (10, 3, 30)], 2.3),
            ([(20, 4, 17), (25, 4, 22), (25, 3, 26), (21, 3, 30)], 2.3),
            ([(21, 5, 14), (27, 3, 15), (29, 5, 16), (29, 10, 15)], 2.1),
            ([(10, 5, 13), (4, 3, 15), (2, 6, 15), (3, 12, 16)], 2.1),
            ([(20, 4, 10), (26, 3, 6), (29, 3, 4), (29, 6, 3)], 2.0),
            ([(11, 4, 10), (5, 3, 6), (3, 3, 5), (2, 7, 4)], 2.4),
            ([(13, 4, 8), (11, 3, 3), (9, 4, 2), (8, 8, 3)], 1.9),
            ([(18, 4, 8), (20, 3, 3), (21, 3, 2), (23, 6, 2)], 2.2))
    for points, r in arms:
        b.tube(points, [r + 0.6, r, r - 0.4, r - 0.9], "purple_wool")
    puff(b, 15.5, 6, 12.5, 7, 4.5, 6, "purple_wool", 2.6)
    puff(b, 15.5, 17.5, 11.5, 10, 10, 8.6, "purple_wool", 3)
    b.repaint(lambda x, y, z, old: old == "purple_wool" and y < 9 and (x + 2 * z) % 5 == 0 and y % 2 == 0
              and b.at(x, y + 1, z) is None, "orange_wool")
    for x, y, z, r in ((8, 25, 9, 1), (25, 15, 8, 1), (6, 15, 10, 1), (25, 21, 10, 1), (24, 19, 14, 1),
                       (6, 21, 14, 1)):
        b.repaint(lambda i, j, k, old: old == "purple_wool" and max(abs(i - x), abs(j - y), abs(k - z)) <= r,
                  "red_wool")
    # One eye has seen more than the other.
    puff(b, 10.5, 18, 19, 3.6, 4, 2.4, "white_wool")
    puff(b, 20, 17, 19.5, 2.9, 3, 2, "white_wool")
    stamp(b, ("KKK", "KKK", "KKK"), 11, 18, "+z")
    stamp(b, ("KK", "KK"), 20, 17, "+z")
    stamp(b, ("K    K", "KKKKKK"), 13, 13, "+z", 24)
    stamp(b, ("    O    ",
              "    O    ",
              "   OOO   ",
              "OOOOYOOOO",
              " OOYOYOO ",
              "  OOOOO  ",
              "  OO OO  ",
              " OO   OO ",
              " O     O "), 19, 22, "-z", out=1)
    captains_hat(b)
    chest(b)
    # The sword, the tea.
    b.box(29, 10, 13, 29, 10, 17, "gold_block")
    b.box(29, 11, 15, 29, 19, 15, "iron_block")
    b.box(29, 11, 16, 29, 17, 16, "iron_block")
    b.box(1, 13, 14, 4, 16, 18, "white_wool")
    b.box(2, 16, 15, 3, 16, 17, "orange_wool")
    b.box(2, 14, 19, 3, 15, 19, "white_wool")
    # Corals and someone who would rather be elsewhere.
    for x, z, high, kind in ((29, 22, 8, "red_wool"), (2, 22, 6, "orange_wool"), (27, 10, 4, "yellow_wool")):
        b.box(x, 2, z, x, 1 + high, z, kind)
        b.box(x - 1, high - 1, z, x + 1, high - 1, z, kind)
        b.box(x - 1, high - 1, z, x - 1, high + 1, z, kind)
        b.box(x + 1, high - 1, z, x + 1, high, z, kind)
    b.box(27, 2, 25, 27, 6, 25, "green_wool")
    b.box(4, 2, 24, 4, 5, 24, "green_wool")
    return b


def captains_hat(b):
    b.box(8, 26, 7, 22, 27, 17, "black_wool")
    puff(b, 15, 28.5, 12, 5.4, 3, 4, "black_wool")
    drawing(b, ("   KKKKKKK   ",
                " KKKWWWWWKKK ",
                "KKKWKWWKWWKKK",
                "KKKWWWWWWWKKK",
                "KKKKKWWWKKKKK",
                "AAAAAAAAAAAAA"), 9, 31, 17, deep=2)


def chest(b):
    """Bigger than any treasure could need; its lid is open."""
    b.box(10, 2, 22, 21, 7, 28, lambda x, y, z: "oak_log" if x in (13, 18) else "oak_planks")
    for x in (10, 21):
        for z in (22, 28):
            b.box(x, 2, z, x, 7, z, "gold_block")
    b.walls(10, 7, 22, 21, 7, 28, "gold_block")
    puff(b, 15.5, 7.5, 25, 4.8, 2.2, 2.6, "gold_block", 2.2)
    b.put(13, 9, 26, "red_wool")
    b.put(18, 9, 25, "blue_wool")
    b.put(16, 9, 27, "green_wool")
    b.box(10, 7, 21, 21, 10, 21, "oak_planks")
    b.box(10, 11, 21, 21, 11, 21, "gold_block")
    stamp(b, (" AA ", "AKKA", "AKKA", " AA "), 14, 7, "+z", 29)
    for x, z in ((8, 31), (23, 31), (14, 30), (17, 31), (12, 31)):
        b.put(x, 2, z, "gold_block")


def sleeping_dragon():
    """In bed under a patchwork blanket; the bed is too short and the snore is in letters."""
    b = Build()
    b.box(0, 0, 1, 30, 0, 31, "red_wool")
    b.walls(0, 0, 1, 30, 0, 31, "white_wool")
    bed(b)
    # Body, tail and toes over the end; the blanket covers what it can.
    b.tube([(24, 8, 14), (28, 8, 11), (29, 5, 7), (26, 3, 3), (21, 2, 2), (16, 2, 2)],
           [4, 3.2, 2.6, 2.2, 1.6, 1.2], "orange_wool")
    b.repaint(lambda x, y, z, old: old == "orange_wool" and x % 4 == 0 and b.at(x, y + 1, z) is None,
              "yellow_wool")
    b.box(12, 1, 1, 15, 3, 3, "purple_wool")
    b.put(11, 2, 2, "purple_wool")
    puff(b, 18.5, 9, 16, 9, 7.4, 9.4, lambda x, y, z: blanket(x, y, z) if x >= 13 and y >= 3 else b.at(x, y, z), 2.8)
    for z in (12, 20):
        puff(b, 27.5, 7.5, z, 2.6, 3.4, 2.9, "orange_wool")
        for k in (-2, 0, 2):
            b.box(29, 10, z + k, 30, 10, z + k, "white_wool")
        stamp(b, (" YY ", "YYYY", " YY "), z + 2, 9, "+x")
    # Spikes and wings poke through.
    for x in (15, 18, 21, 24):
        b.box(x, 14, 16, x + 1, 17, 16, "purple_wool")
        b.put(x, 18, 16, "purple_wool")
    wing = ("      P    ",
            "    PPYP   ",
            "  PPYYYYPP ",
            " PYYYYYYYYP",
            "PYYYYYYYYPP",
            "PYYPYYYPYP ",
            "PPP PYP PP ",
            "P    P     ")
    for z, way in ((8, -1), (24, 1)):
        for down, row in enumerate(wing):
            out = max(0, down - 3)
            drawing(b, (row,), 17, 18 - down, z + way * out)
            drawing(b, (row,), 17, 18 - down, z + way * (out - 1))
        b.line((22, 13, z - 3 * way), (22, 17, z), "purple_wool")
    dragon_head(b)
    # Snoring.
    zed = ("WWWWW", "   WW", "  WW ", " WW  ", "WWWWW")
    drawing(b, zed, 16, 26, 12, deep=2)
    drawing(b, ("WWWWWWW", "    WWW", "   WWW ", "  WWW  ", " WWW   ", "WWWWWWW"), 23, 31, 13, deep=2)
    # Slippers, a candle, a bear.
    for z in (22, 25):
        b.box(26, 1, z, 29, 1, z + 1, "blue_wool")
        b.box(26, 2, z, 27, 2, z + 1, "blue_wool")
    b.box(1, 1, 28, 3, 4, 30, "oak_planks")
    b.box(2, 5, 29, 2, 7, 29, "white_wool")
    b.put(2, 8, 29, "glowstone")
    for y, r in ((2, 2.2), (5.5, 1.9)):
        puff(b, 20, y, 28, r, r, 1.8, "oak_log", 2.4)
    for x in (18, 22):
        b.box(x, 7, 28, x, 8, 28, "oak_log")
        b.box(x, 1, 28, x, 1, 30, "oak_log")
    stamp(b, ("K K", " S ", "SRS"), 19, 6, "+z", 31)
    return b


def blanket(x, y, z):
    if x <= 14:
        return "white_wool"
    rags = ("blue_wool", "white_wool", "purple_wool", "blue_wool", "green_wool", "red_wool")
    return rags[int(grain(x // 3, 5, (z - y if z > 20 else z) // 3) * 5.99)]


def bed(b):
    """Legs of unlike thickness, a high board, a pillow."""
    for x, z, wide in ((3, 7, 1), (3, 23, 2), (22, 7, 2), (23, 24, 1)):
        b.box(x, 1, z, x + wide, 3, z + wide, "oak_log")
    b.box(2, 4, 7, 24, 4, 25, "oak_planks")
    b.box(3, 5, 8, 24, 6, 24, "white_wool")
    b.box(0, 2, 6, 1, 16, 26, "oak_planks")
    for z, top in ((6, 18), (26, 20)):
        b.box(0, 1, z, 1, top, z, "oak_log")
        b.box(0, top + 1, z, 1, top + 1, z, "gold_block")
    stamp(b, (" RR RR ", "RRRRRRR", "RRRRRRR", " RRRRR ", "  RRR  ", "   R   "), 13, 13, "-x")
    puff(b, 7.5, 8.5, 17, 5.6, 2.6, 8.8, "white_wool")


def dragon_head(b):
    """Bigger than its body, on the pillow, its nose towards high z."""
    puff(b, 7.5, 16, 13.5, 6.4, 6.2, 6.6, "orange_wool", 2.8)
    puff(b, 7.5, 13.5, 22, 5.4, 4, 4.6, "orange_wool", 2.8)
    b.repaint(lambda x, y, z, old: old == "orange_wool" and x < 15 and y <= 11 and z > 8, "yellow_wool")
    stamp(b, ("K        K", "KK      KK", " KKKKKKKK "), 3, 12, "+z", 30)
    for x in (4, 9):
        b.box(x, 16, 26, x + 1, 17, 26, "red_wool")
        b.put(x + (x == 9), 16, 27, "black_wool")
    # Eyes shut, lashes and all.
    for left in (3, 9):
        stamp(b, ("K  K", " KK "), left, 19 + (left == 9), "+z", 24)
    stamp(b, ("K   K", " KKK "), 17, 18, "+x", 15)
    stamp(b, ("K   K", " KKK "), 13, 18, "-x", 0)
    for x, way in ((3, -1), (12, 1)):
        b.tube([(x, 20, 11), (x + way, 24, 10), (x + way * 1.5, 28, 11)], [1.7, 1.3, 0.9], "yellow_wool")
    for z in (8, 11, 14):
        b.box(7, 20, z, 8, 24 - z // 7, z + 1, "purple_wool")
        b.box(7, 24, 8, 8, 25, 8, "purple_wool")
