/** The mesher against a count of faces, one by one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decode } from "../../static/viewer/decode.js";
import { PASSES, mesh } from "../../static/viewer/mesher.js";
import { blocks, chance, index, inside, kinds, numbers, randomGrid, samples } from "./samples.mjs";

const DIRECTIONS = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
const all = blocks.map((_, index) => index + 1);
const palettes = {
  "few blocks": ["stone", "glass", "water", "oak_leaves", "glowstone"].map((id) => numbers.get(id)),
  "unlike transparent blocks": ["glass", "tinted_glass", "ice", "water"].map((id) => numbers.get(id)),
  "one block": [numbers.get("stone")],
  "all blocks": all,
};

for (const [name, palette] of Object.entries(palettes)) {
  test(`random grids of ${name} have each face once, with its light`, () => {
    const random = chance(name.length);
    for (let round = 0; round < 40; round++) {
      const span = [0, 0, 0].map(() => 1 + Math.floor(random() * 9));
      const grid = randomGrid(random, span, palette);
      compare(grid, mesh(grid, kinds));
    }
  });
}

for (const { name, bytes } of samples) {
  test(`${name} has each face once, with its light`, () => {
    const grid = decode(bytes, numbers);
    compare(grid, mesh(grid, kinds));
  });
}

test("a cut grid is meshed like one without what was cut, its bounds kept", () => {
  const random = chance(5);
  const grid = randomGrid(random, [6, 9, 7], all);
  for (let top = 1; top <= 9; top++) {
    const cells = grid.cells.map((block, at) => (Math.floor(at / (8 * 9)) <= top ? block : 0));
    assert.deepEqual(mesh(grid, kinds, top), mesh({ ...grid, cells }, kinds));
  }
});

test("a solid cube is six quads, whatever its place", () => {
  const dims = [258, 258, 258];
  const cells = new Uint8Array(258 ** 3);
  const grid = { size: 256, min: [0, 0, 0], span: [256, 256, 256], dims, cells };
  for (let y = 0; y < 256; y++) {
    for (let z = 0; z < 256; z++) cells.fill(1, index(grid, 0, y, z), index(grid, 256, y, z));
  }
  const { data, quads } = mesh(grid, kinds);
  assert.equal(quads, 6);
  for (let quad = 0; quad < 6; quad++) {
    const { width, height, light } = unpacked(data, quad);
    assert.deepEqual([width, height, light], [256, 256, [3, 3, 3, 3]]);
  }
});

/** Takes every quad apart and ticks its faces off the list of those that must be seen. */
function compare(grid, { data, ranges, quads }) {
  const expected = faces(grid);
  assert.equal(data.length, 2 * quads);
  assert.equal(ranges.length, 6 * PASSES);
  let next = 0;
  ranges.forEach((count, range) => {
    for (const end = next + count; next < end; next++) {
      const quad = unpacked(data, next);
      assert.equal(quad.face, range % 6, "a quad is in the range of its face");
      assert.equal(kinds.pass[quad.block], Math.floor(range / 6), "a quad is in the pass of its block");
      const [a, b, c, d] = quad.light;
      if (quad.width > 1) assert.ok(a === b && c === d, "light changes along a merged quad");
      if (quad.height > 1) assert.ok(a === c && b === d, "light changes up a merged quad");
      for (const place of covered(quad)) {
        const key = [quad.face, ...place].join();
        assert.equal(expected.get(key), `${quad.block} ${quad.light}`, `face ${key}`);
        expected.delete(key);
      }
    }
  });
  assert.equal(next, quads);
  assert.equal(expected.size, 0, `${[...expected.keys()][0]} is missing`);
}

function unpacked(data, quad) {
  const [low, high] = [data[2 * quad], data[2 * quad + 1]];
  const light = [24, 26, 28, 30].map((shift) => (high >>> shift) & 3);
  return {
    place: [low & 511, (low >>> 9) & 511, (low >>> 18) & 511],
    width: ((low >>> 27) | ((high & 15) << 5)) + 1,
    height: ((high >>> 4) & 511) + 1,
    face: (high >>> 13) & 7,
    block: (high >>> 16) & 255,
    light,
  };
}

/** The axes along a quad's width and height. */
function axes(face) {
  return face < 2 ? [2, 1] : face < 4 ? [0, 2] : [0, 1];
}

function* covered({ place, width, height, face }) {
  const [u, v] = axes(face);
  for (let j = 0; j < height; j++) {
    for (let i = 0; i < width; i++) {
      const cell = [...place];
      cell[u] += i;
      cell[v] += j;
      yield cell;
    }
  }
}

/** Every face that is seen, by face and cell, with its block and the light at its corners. */
function faces(grid) {
  const found = new Map();
  const at = (cell) => {
    const within = cell.every((part, axis) => part >= 0 && part < grid.span[axis]);
    return within ? grid.cells[index(grid, ...cell)] : 0;
  };
  const closed = (cell) => ["opaque", "emissive"].includes(blocks[at(cell) - 1]?.class);
  for (const cell of inside(grid.span)) {
    const block = at(cell);
    DIRECTIONS.forEach((direction, face) => {
      const front = cell.map((part, axis) => part + direction[axis]);
      const other = at(front);
      if (block === 0 || !(other === 0 || (!closed(front) && other !== block))) return;
      const light = [[-1, -1], [1, -1], [-1, 1], [1, 1]].map(([i, j]) => corner(front, axes(face), i, j, closed));
      found.set([face, ...cell.map((part, axis) => part + grid.min[axis])].join(), `${block} ${light}`);
    });
  }
  return found;
}

function corner(front, [u, v], i, j, closed) {
  const moved = (du, dv) => front.map((part, axis) => part + (axis === u ? du : axis === v ? dv : 0));
  const [side, other] = [closed(moved(i, 0)), closed(moved(0, j))];
  return side && other ? 0 : 3 - side - other - closed(moved(i, j));
}
