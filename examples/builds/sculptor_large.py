"""Shapes for large builds: limbs that know their own length and girth, sheets, kinds by noise."""

from math import cos, floor, hypot, pi, sin, sqrt

from voxels import along, grain


def smooth_noise(x, y, z, scale):
    """From 0 to 1, changing softly over `scale` blocks."""
    x, y, z = x / scale, y / scale, z / scale
    i, j, k = floor(x), floor(y), floor(z)
    u, v, w = (t * t * (3 - 2 * t) for t in (x - i, y - j, z - k))
    total = 0
    for a, p in ((0, 1 - u), (1, u)):
        for c, q in ((0, 1 - v), (1, v)):
            for d, r in ((0, 1 - w), (1, w)):
                total += p * q * r * grain(i + a, j + c, k + d)
    return total


def limb(b, points, radii, paint, flat=1.0):
    """A smooth limb; paint(s, up, side, deep, cell) gives the kind, or None to leave the cell.

    s is how far along it is, up and side lie across, from -1 to 1, deep is how many blocks it lies
    below the surface. `flat` squeezes it from above.
    """
    places, last = [], None
    for x, y, z, r in along(points, radii):
        if last is None or hypot(x - last[0], y - last[1], z - last[2]) > max(0.5, 0.16 * r):
            places.append((x, y, z, max(r, 0.75)))
            last = x, y, z
    best, s = {}, 0
    for n, (x, y, z, r) in enumerate(places):
        before, after = places[max(n - 2, 0)], places[min(n + 2, len(places) - 1)]
        way = [after[k] - before[k] for k in range(3)]
        size = sqrt(sum(v * v for v in way)) or 1
        way = [v / size for v in way]
        if n:
            s += hypot(*(places[n][k] - places[n - 1][k] for k in range(3)))
        # Across and up, as seen by something that walks along the limb.
        across = (-way[2], 0, way[0])
        size = hypot(*across) or 1
        across = [v / size for v in across] if size > 0.05 else [1, 0, 0]
        up = (across[1] * way[2] - across[2] * way[1], across[2] * way[0] - across[0] * way[2],
              across[0] * way[1] - across[1] * way[0])
        if up[1] < 0:
            up = [-v for v in up]
        for i in range(floor(x - r), floor(x + r) + 2):
            for j in range(floor(y - r), floor(y + r) + 2):
                for k in range(floor(z - r), floor(z + r) + 2):
                    p, q, o = i - x, (j - y) / flat, k - z
                    out = sqrt(p * p + q * q + o * o) / r
                    if out <= 1 and (i, j, k) not in best or out < best.get((i, j, k), (9,))[0]:
                        if out <= 1:
                            best[i, j, k] = (out, (1 - out) * r, s, (p * up[0] + q * up[1] + o * up[2]) / r,
                                             (p * across[0] + q * across[1] + o * across[2]) / r)
    for cell, (_, deep, s, up, side) in best.items():
        kind = paint(s, up, side, deep, cell)
        if kind:
            b.put(*cell, kind)
    return places


def sheet(b, rows, paint, thick=1):
    """A skin through rows of points, every row as long as the others; paint(u, v) gives the kind."""
    def at(v, u):
        def pick(row, t):
            t *= len(row) - 1
            n = min(int(t), len(row) - 2)
            t -= n
            return [p + (q - p) * t for p, q in zip(row[n], row[n + 1])]
        return pick([pick(row, u) for row in rows], v)

    wide = max(hypot(*(p - q for p, q in zip(row[0], row[-1]))) for row in rows)
    tall = sum(max(hypot(*(p - q for p, q in zip(a, c))) for a, c in zip(r1, r2)) for r1, r2 in zip(rows, rows[1:]))
    wide = max(wide, max(sum(hypot(*(p - q for p, q in zip(a, c))) for a, c in zip(row, row[1:])) for row in rows))
    nu, nv = int(wide * 1.6) + 2, int(tall * 1.6) + 2
    for i in range(nu + 1):
        for j in range(nv + 1):
            x, y, z = at(j / nv, i / nu)
            kind = paint(i / nu, j / nv)
            if kind:
                for d in range(thick):
                    b.put(round(x), round(y) - d, round(z), kind)


def frond_tree(b, x, y, z, tall, lean, trunk, leaf, reach=5):
    """A palm that leans."""
    tip = (x + lean[0], y + tall, z + lean[1])
    b.tube([(x, y, z), (x + lean[0] * 0.35, y + tall * 0.55, z + lean[1] * 0.35), tip], [1.1, 0.9, 0.8], trunk)
    for n in range(8):
        a = n * pi / 4 + x
        far = reach * (0.85 + 0.2 * (n % 2))
        b.tube([tip, (tip[0] + far * 0.5 * cos(a), tip[1] + 1.6, tip[2] + far * 0.5 * sin(a)),
                (tip[0] + far * cos(a), tip[1] - 1.8, tip[2] + far * sin(a))], [0.9, 0.9, 0.6], leaf)
