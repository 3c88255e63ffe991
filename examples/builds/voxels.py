"""Builds of blocks, and their conversion to specs.

A Build is a dict from cells to block types. Coordinates are whole numbers, and y is up.
Blocks outside the grid are dropped, so that shapes may extend beyond the edge. Wherever
a shape takes a block type, it also takes a function of the cell that returns a type, or
None to clear the cell.
"""

import json
from math import floor, sqrt


class Build:
    def __init__(self, size=32):
        self.size = size
        self.cells = {}

    def put(self, x, y, z, kind):
        if not all(0 <= n < self.size for n in (x, y, z)):
            return
        if callable(kind):
            kind = kind(x, y, z)
        if kind is None:
            self.cells.pop((x, y, z), None)
        else:
            self.cells[x, y, z] = kind

    def at(self, x, y, z):
        return self.cells.get((x, y, z))

    def box(self, x1, y1, z1, x2, y2, z2, kind):
        for x in range(min(x1, x2), max(x1, x2) + 1):
            for y in range(min(y1, y2), max(y1, y2) + 1):
                for z in range(min(z1, z2), max(z1, z2) + 1):
                    self.put(x, y, z, kind)

    def walls(self, x1, y1, z1, x2, y2, z2, kind):
        """Fills the four upright sides of a box."""
        self.box(x1, y1, z1, x2, y2, z1, kind)
        self.box(x1, y1, z2, x2, y2, z2, kind)
        self.box(x1, y1, z1, x1, y2, z2, kind)
        self.box(x2, y1, z1, x2, y2, z2, kind)

    def solid(self, inside, kind, where=None):
        """Fills each cell of the grid, or of the box `where`, for which `inside` is true."""
        x1, y1, z1, x2, y2, z2 = where or (0, 0, 0) + (self.size - 1,) * 3
        for x in range(max(x1, 0), min(x2, self.size - 1) + 1):
            for y in range(max(y1, 0), min(y2, self.size - 1) + 1):
                for z in range(max(z1, 0), min(z2, self.size - 1) + 1):
                    if inside(x, y, z):
                        self.put(x, y, z, kind)

    def ellipsoid(self, cx, cy, cz, rx, ry, rz, kind):
        around = (floor(cx - rx), floor(cy - ry), floor(cz - rz),
                  floor(cx + rx) + 1, floor(cy + ry) + 1, floor(cz + rz) + 1)
        self.solid(lambda x, y, z: ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2
                   + ((z - cz) / rz) ** 2 <= 1, kind, around)

    def ball(self, cx, cy, cz, r, kind):
        self.ellipsoid(cx, cy, cz, r, r, r, kind)

    def cone(self, cx, cz, y1, y2, r1, r2, kind):
        """An upright cone or frustum with radius r1 at y1 and r2 at y2."""
        for y in range(y1, y2 + 1):
            r = r1 + (r2 - r1) * (y - y1) / max(y2 - y1, 1)
            self.disc(cx, y, cz, r, kind)

    def cylinder(self, cx, cz, y1, y2, r, kind):
        self.cone(cx, cz, y1, y2, r, r, kind)

    def disc(self, cx, y, cz, r, kind, hole=-1):
        for x in range(floor(cx - r), floor(cx + r) + 2):
            for z in range(floor(cz - r), floor(cz + r) + 2):
                if hole < sqrt((x - cx) ** 2 + (z - cz) ** 2) <= r:
                    self.put(x, y, z, kind)

    def wheel(self, cx, cy, z, r, kind, hole=-1):
        """An upright disc with its axle along z."""
        for x in range(floor(cx - r), floor(cx + r) + 2):
            for y in range(floor(cy - r), floor(cy + r) + 2):
                if hole < sqrt((x - cx) ** 2 + (y - cy) ** 2) <= r:
                    self.put(x, y, z, kind)

    def barrel(self, x1, x2, cy, cz, r, kind, hole=-1):
        """A cylinder that lies along x."""
        for x in range(x1, x2 + 1):
            for y in range(floor(cy - r), floor(cy + r) + 2):
                for z in range(floor(cz - r), floor(cz + r) + 2):
                    if hole < sqrt((y - cy) ** 2 + (z - cz) ** 2) <= r:
                        self.put(x, y, z, kind)

    def line(self, a, b, kind):
        n = max(abs(q - p) for p, q in zip(a, b))
        for i in range(n + 1):
            self.put(*(p + ((q - p) * 2 * i + n) // (2 * n) if n else p
                       for p, q in zip(a, b)), kind)

    def tube(self, points, radii, kind):
        """A smooth tube through the points, with these radii."""
        for x, y, z, r in along(points, radii):
            if r <= 0.6:
                self.put(round(x), round(y), round(z), kind)
            else:
                self.ball(x, y, z, r, kind)

    def gable(self, x1, x2, y, z1, z2, kind, ends=(), wall=None):
        """A roof with its ridge along z. At each z in `ends` the triangle below is filled with `wall`."""
        for step in range((x2 - x1) // 2 + 1):
            left, right = x1 + step, x2 - step
            for z in ends:
                if left + 1 < right:
                    self.box(left + 1, y + step, z, right - 1, y + step, z, wall)
            for x in (left, right):
                self.box(x, y + step, z1, x, y + step, z2, kind)

    def mirror_x(self):
        """Replaces the half with high x by a mirror image of the other half."""
        self.mirror(lambda x, y, z: (self.size - 1 - x, y, z))

    def mirror_z(self, middle):
        """Replaces the part beyond the middle row by a mirror image of the part with low z."""
        self.mirror(lambda x, y, z: (x, y, 2 * middle - z), lambda x, y, z: z < middle)

    def mirror(self, other, low=None):
        low = low or (lambda x, y, z: x < self.size / 2)
        half = {cell: kind for cell, kind in self.cells.items() if low(*cell)}
        for cell in [cell for cell in self.cells if low(*other(*cell))]:
            del self.cells[cell]
        for cell, kind in half.items():
            self.put(*other(*cell), kind)

    def repaint(self, chosen, kind):
        """Changes the type of existing cells, and not the shape."""
        for cell, old in list(self.cells.items()):
            if chosen(*cell, old):
                self.put(*cell, kind)

    def surface(self, x, z):
        """The y of the highest block of a column, or -1."""
        return max((y for y in range(self.size) if (x, y, z) in self.cells), default=-1)

    def save(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(to_json(self.cells))


def along(points, radii):
    """Yields closely spaced positions with a radius on a smooth (Catmull-Rom) curve through the points."""
    rows = [(*point, r) for point, r in zip(points, radii)]
    rows = [rows[0], *rows, rows[-1]]
    for before, a, b, after in zip(rows, rows[1:], rows[2:], rows[3:]):
        steps = int(3 * max(abs(q - p) for p, q in zip(a, b))) + 2
        for i in range(steps + 1):
            t = i / steps
            yield tuple(
                (2 * a[k] + (b[k] - before[k]) * t
                 + (2 * before[k] - 5 * a[k] + 4 * b[k] - after[k]) * t * t
                 + (3 * a[k] - before[k] - 3 * b[k] + after[k]) * t ** 3) / 2
                for k in range(4))


def grain(x, y, z):
    """A number from 0 to 1 that looks random and depends only on the cell."""
    n = (x * 73856093 ^ y * 19349663 ^ z * 83492791) & 0xFFFFFFFF
    n = (n ^ n >> 13) * 1274126177 & 0xFFFFFFFF
    return ((n ^ n >> 16) & 0xFFFF) / 0xFFFF


def mix(*shares):
    """A block type that varies from cell to cell, by shares: mix(("stone", 3), ("cobblestone", 1))."""
    total = sum(share for _, share in shares)

    def kind(x, y, z):
        at = grain(x, y, z) * total
        for name, share in shares:
            at -= share
            if at <= 0:
                return name
        return shares[-1][0]

    return kind


def merge(cells):
    """A short list of boxes that give the cells when drawn in order.

    The boxes of a type may cover cells of types that are drawn later. The most common types
    come first, so that single blocks of another type do not split a wall into many boxes.
    """
    counts = {}
    for kind in cells.values():
        counts[kind] = counts.get(kind, 0) + 1
    kinds = sorted(counts, key=lambda kind: (-counts[kind], kind))
    boxes = []
    for i, kind in enumerate(kinds):
        later = set(kinds[i:])
        free = {cell for cell, k in cells.items() if k in later}
        missing = {cell for cell, k in cells.items() if k == kind}
        for start in sorted(missing, key=lambda cell: (cell[1], cell[2], cell[0])):
            if start in missing:
                best = max((grow(start, free, missing, order) for order in ORDERS),
                           key=lambda found: found[0])
                _, low, high = best
                missing -= set(within(low, high))
                boxes.append((shrink(low, high, cells, kind), kind))
    return boxes


ORDERS = ((0, 2, 1), (2, 0, 1), (0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0))


def grow(start, free, missing, order):
    """Extends a box from a cell along one axis after the other. Returns the number of missing cells in it, and the box."""
    low, high = list(start), list(start)
    for axis in order:
        for end, way in ((high, 1), (low, -1)):
            while True:
                a, b = list(low), list(high)
                a[axis] = b[axis] = end[axis] + way
                if not all(cell in free for cell in within(a, b)):
                    break
                end[axis] += way
    return sum(cell in missing for cell in within(low, high)), low, high


def shrink(low, high, cells, kind):
    """The smallest box around the cells of its own type."""
    own = [cell for cell in within(low, high) if cells[cell] == kind]
    return (tuple(min(cell[k] for cell in own) for k in range(3)),
            tuple(max(cell[k] for cell in own) for k in range(3)))


def within(low, high):
    return ((x, y, z) for x in range(low[0], high[0] + 1)
            for y in range(low[1], high[1] + 1) for z in range(low[2], high[2] + 1))


def to_json(cells):
    """The cells as a spec in JSON, with one entry per line."""
    boxes, blocks, drawn = [], [], {}
    for (low, high), kind in merge(cells):
        drawn.update(dict.fromkeys(within(low, high), kind))
        if low == high:
            blocks.append(dict(zip("xyz", low)) | {"type": kind})
        else:
            (x1, y1, z1), (x2, y2, z2) = low, high
            boxes.append({"x1": x1, "y1": y1, "z1": z1, "x2": x2, "y2": y2, "z2": z2, "type": kind})
    assert drawn == cells
    lists = []
    for name, entries in (("boxes", boxes), ("blocks", blocks)):
        lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
        lists.append(f'"{name}":[\n{lines}\n]')
    return '{"version":"1.0",\n' + ",\n".join(lists) + "}\n"
