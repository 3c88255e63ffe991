"""What several builds of reference_architect share: mixes of stone, and small parts."""

from math import atan2, hypot, pi

from voxels import mix

MASONRY = mix(("stone", 3), ("cobblestone", 2))
ROCK = mix(("stone", 5), ("cobblestone", 3))


def octagon(dx, dz):
    """The distance of a place from the middle, measured so that equal distances make an octagon."""
    across, along = abs(dx), abs(dz)
    return max(across, along, (across + along) * 0.7071)


def sector(dx, dz, count):
    """The index of the slice in which a place lies, of `count` equal slices around the middle; one is centred on +z."""
    return int(((atan2(dx, dz) + 2 * pi) / (2 * pi) * count + 0.5) % count)


def tree(b, x, y, z, h, r, leaves="oak_leaves", wood="oak_log"):
    """A trunk that stands at y with a round crown on it."""
    b.ellipsoid(x, y + h, z, r, r * 0.9, r, leaves)
    b.box(round(x), y, round(z), round(x), y + h, round(z), wood)


def cypress(b, x, y, z, h, leaves="oak_leaves", wood="oak_log"):
    """A slim, upright cypress."""
    b.put(x, y, z, wood)
    b.box(x, y + 1, z, x, y + h, z, leaves)
    for i, k in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        b.box(x + i, y + 1, z + k, x + i, y + h - 3, z + k, leaves)


def lamp(b, x, y, z, h=3, post="oak_log", cap="iron_block"):
    b.box(x, y, z, x, y + h - 1, z, post)
    b.put(x, y + h, z, "glowstone")
    if cap:
        b.put(x, y + h + 1, z, cap)


def hip(b, x1, x2, y, z1, z2, kind, top=None, rise=1):
    """A roof that slopes on all four sides, filled; `rise` rows a step."""
    while x1 <= x2 and z1 <= z2:
        last = x1 + 1 >= x2 or z1 + 1 >= z2
        b.box(x1, y, z1, x2, y + rise - 1, z2, top if last and top else kind)
        x1, x2, y, z1, z2 = x1 + 1, x2 - 1, y + rise, z1 + 1, z2 - 1


def crenels(b, x1, z1, x2, z2, y, kind, every=2):
    """Merlons around the edge of a rectangle, the same from both ends of a side."""
    for x in range(x1, x2 + 1):
        if min(x - x1, x2 - x) % every == 0:
            b.put(x, y, z1, kind)
            b.put(x, y, z2, kind)
    for z in range(z1, z2 + 1):
        if min(z - z1, z2 - z) % every == 0:
            b.put(x1, y, z, kind)
            b.put(x2, y, z, kind)


def ring_crenels(b, cx, y, cz, r, kind, count):
    """Merlons on a round tower: every other slice of its edge."""
    for x in range(int(cx - r), int(cx + r) + 2):
        for z in range(int(cz - r), int(cz + r) + 2):
            if r - 1.1 < hypot(x - cx, z - cz) <= r and sector(x - cx, z - cz, count) % 2 == 0:
                b.put(x, y, z, kind)


def far(x, z, cx=15.5, cz=15.5):
    return hypot(x - cx, z - cz)


def round_tower(b, cx, cz, y1, y2, r, wall, trim, roof=None, high=7, slit="black_wool"):
    """A tower with a foot, slits, a corbelled parapet and an optional pointed roof."""
    b.cylinder(cx, cz, y1, y2, r, wall)
    b.cylinder(cx, cz, y1, y1 + 2, r + 0.6, trim)
    b.disc(cx, (y1 + y2) // 2 + 1, cz, r + 0.1, trim)
    b.disc(cx, y2 - 1, cz, r + 0.8, trim)
    b.disc(cx, y2, cz, r + 0.8, wall)
    b.disc(cx, y2 + 1, cz, r + 0.8, wall, hole=r - 0.2)
    ring_crenels(b, cx, y2 + 2, cz, r + 0.8, wall, 16)
    for y in range(y1 + 5, y2 - 3, 5):
        for i, k in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            for level in (y, y + 1):
                for out in range(int(r) + 1, 0, -1):
                    cell = (round(cx + i * out), level, round(cz + k * out))
                    if b.at(*cell):
                        b.put(*cell, slit)
                        break
    if roof:
        b.cylinder(cx, cz, y2 + 1, y2 + 2, r - 0.3, wall)
        b.cone(cx, cz, y2 + 3, y2 + 3 + high, r + 0.3, 0.5, roof)
        b.box(round(cx), y2 + 4 + high, round(cz), round(cx), y2 + 5 + high, round(cz), "gold_block")


def rod(b, start, end, kind):
    """A thin straight line whose cells all share a side with the next."""
    n = 3 * max(abs(q - p) for p, q in zip(start, end))
    last = start
    for i in range(n + 1):
        cell = tuple(round(p + (q - p) * i / n) for p, q in zip(start, end))
        for axis in range(3):
            if cell[axis] != last[axis]:
                last = last[:axis] + (cell[axis],) + last[axis + 1:]
                b.put(*last, kind)
    b.put(*start, kind)
