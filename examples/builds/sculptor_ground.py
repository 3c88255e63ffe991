"""What several builds stand on, and shapes that several builds share."""

from math import atan2, hypot, sin

from voxels import grain, mix

ROCK = mix(("stone", 4), ("cobblestone", 3))


def inside_shore(x, z, rx=15.6, rz=15.6):
    """An island's outline: an ellipse with bays."""
    angle = atan2(z - 15.5, x - 15.5)
    bays = 0.05 * sin(3 * angle + 1) + 0.04 * sin(5 * angle)
    return hypot((x - 15.5) / rx, (z - 15.5) / rz) <= 0.94 + bays


def strata(x, y, z):
    """Rock in layers that are not quite level."""
    return "cobblestone" if (y + sin(x * 0.4) + sin(z * 0.3) + grain(x, y, z)) % 4 < 1.5 else "stone"


def pieces(cells):
    """The cells in groups that hang together by their sides, the largest first."""
    left, found = set(cells), []
    while left:
        start = left.pop()
        piece, edge = [start], [start]
        while edge:
            x, y, z = edge.pop()
            for cell in ((x + 1, y, z), (x - 1, y, z), (x, y + 1, z), (x, y - 1, z), (x, y, z + 1), (x, y, z - 1)):
                if cell in left:
                    left.remove(cell)
                    piece.append(cell)
                    edge.append(cell)
        found.append(sorted(piece))
    return sorted(found, key=lambda piece: (-len(piece), piece))


def knit(b, reach=2, rounds=4):
    """Fills the corners where a small piece touches the rest only by an edge, so that nothing hangs loose.

    What is further than `reach` from everything, like a cloud or a bird, stays as it is.
    """
    loose = pieces(b.cells)[1:]
    for piece in reversed(loose):
        own = set(piece)
        best = None
        for x, y, z in piece:
            for i in range(-reach, reach + 1):
                for j in range(-reach, reach + 1):
                    for k in range(-reach, reach + 1):
                        other = x + i, y + j, z + k
                        if other in b.cells and other not in own:
                            far = abs(i) + abs(j) + abs(k)
                            if best is None or far < best[0]:
                                best = far, (x, y, z), (i, j, k)
        if best:
            _, (x, y, z), steps = best
            kind = b.at(x, y, z)
            for axis in (1, 0, 2):
                for _ in range(abs(steps[axis])):
                    way = 1 if steps[axis] > 0 else -1
                    x, y, z = (x + way * (axis == 0), y + way * (axis == 1), z + way * (axis == 2))
                    if not b.at(x, y, z):
                        b.put(x, y, z, kind)
    if loose and rounds > 1:
        knit(b, reach, rounds - 1)
