/** The light of glowing blocks against a spread that looks at every cell until nothing changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { glow } from "../../static/viewer/light-worker.js";
import { blocks, chance, index, inside, kinds, numbers, randomGrid } from "./samples.mjs";

const glows = Uint8Array.from({ length: 256 }, (_, number) => +(blocks[number - 1]?.class === "emissive"));
const lit = { ...kinds, glows };
const few = ["stone", "stone", "glass", "glowstone", "oak_leaves"].map((id) => numbers.get(id));

test("light spreads as far as it should, around walls and through glass", () => {
  const random = chance(6);
  for (let round = 0; round < 12; round++) {
    const span = [0, 0, 0].map(() => 1 + Math.floor(random() * 9));
    const grid = randomGrid(random, span, few);
    const top = 1 + Math.floor(random() * span[1]);
    compare(grid, top, glow(grid, lit, top, 2048));
  }
});

test("a lamp loses one level a step, and the cell says so", () => {
  const grid = randomGrid(() => 0, [1, 1, 1], [0]);
  grid.cells[index(grid, 0, 0, 0)] = numbers.get("glowstone");
  const { data, min, span, lit: any } = glow(grid, lit, 1, 2048);
  assert.equal(any, true);
  assert.deepEqual(min, [grid.min[0] - 14, grid.min[1] - 1, grid.min[2] - 14]);
  const at = (x, z) => data[(1 * span[2] + z + 14) * span[0] + x + 14];
  assert.deepEqual([at(0, 0), at(1, 0), at(3, -2), at(14, 0), at(0, 14)], [241, 225, 161, 17, 17]);
});

test("where nothing glows, all air is dark and open", () => {
  const grid = randomGrid(chance(2), [4, 4, 4], [numbers.get("stone")]);
  const { data, lit: any } = glow(grid, lit, 4, 2048);
  assert.equal(any, false);
  assert.ok(data.every((value) => value < 2));
});

test("light stays within what the graphics card takes", () => {
  const grid = { size: 256, min: [0, 0, 0], span: [254, 1, 20], dims: [256, 3, 22], cells: new Uint8Array(256 * 3 * 22) };
  assert.deepEqual(glow(grid, lit, 1, 256).span, [256, 3, 48]);
});

function compare(grid, top, { data, min, span }) {
  const block = (cell) => {
    const [x, y, z] = cell.map((part, axis) => part + min[axis] - grid.min[axis]);
    const within = x >= 0 && z >= 0 && y >= 0 && x < grid.span[0] && y < top && z < grid.span[2];
    return within ? grid.cells[index(grid, x, y, z)] : 0;
  };
  const cells = [...inside(span)];
  const key = ([x, y, z]) => (y * span[2] + z) * span[0] + x;
  const closed = cells.map((cell) => cell[1] === 0 || kinds.occludes[block(cell)] === 1);
  const levels = cells.map((cell) => (glows[block(cell)] ? 15 : 0));
  for (let changed = true; changed; ) {
    changed = false;
    cells.forEach((cell, at) => {
      if (closed[at]) return;
      for (const axis of [0, 1, 2]) {
        for (const way of [-1, 1]) {
          const other = [...cell];
          other[axis] += way;
          if (other[axis] < 0 || other[axis] >= span[axis]) continue;
          const level = levels[key(other)] - 1;
          if (level > levels[at]) [levels[at], changed] = [level, true];
        }
      }
    });
  }
  cells.forEach((cell, at) => {
    const expected = closed[at] && levels[at] < 15 ? 0 : 1 + 16 * levels[at];
    assert.equal(data[key(cell)], expected, `cell ${cell}`);
  });
}
