/** The viewer's decoder against what the server's code encoded. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DecodeError, crc32, decode } from "../../static/viewer/decode.js";
import { blocks, chance, index, inside, numbers, samples } from "./samples.mjs";

for (const { name, bytes, spec } of samples) {
  test(`${name} decodes to what its spec says`, () => {
    const grid = decode(bytes, numbers);
    assert.deepEqual(placed(grid), expanded(spec));
  });
}

test("every block of the palettes has a number", () => {
  assert.equal(blocks.length, 77);
  assert.equal(numbers.size, 77);
});

test("damage is always noticed", () => {
  const random = chance(1);
  for (const { bytes } of samples) {
    for (let round = 0; round < 300; round++) {
      const mutated = Uint8Array.from(bytes);
      mutated[Math.floor(random() * bytes.length)] ^= 1 + Math.floor(random() * 255);
      assert.throws(() => decode(mutated, numbers), DecodeError);
    }
    for (let length = 0; length < bytes.length; length += 1 + (length >> 3)) {
      assert.throws(() => decode(bytes.subarray(0, length), numbers), DecodeError);
    }
  }
});

test("with a good checksum, bad bytes are refused or make another grid, and nothing else happens", () => {
  const random = chance(2);
  let refused = 0;
  for (const { bytes } of samples) {
    for (let round = 0; round < 2000; round++) {
      let mutated = Uint8Array.from(bytes);
      for (let change = 0; change < 1 + 3 * random(); change++) {
        mutated[Math.floor(random() * (bytes.length - 4))] = random() < 0.3 ? 255 : Math.floor(random() * 256);
      }
      if (random() < 0.2) mutated = mutated.slice(0, 12 + Math.floor(random() * (bytes.length - 12)));
      try {
        const grid = decode(sealed(mutated), numbers);
        assert.equal(grid.cells.length, grid.dims[0] * grid.dims[1] * grid.dims[2]);
      } catch (error) {
        assert.ok(error instanceof DecodeError, String(error));
        refused++;
      }
    }
  }
  assert.ok(refused > 1000);
});

test("what is wrong is said", () => {
  const { bytes } = samples.find((sample) => sample.name === "one.grid");
  const said = (at, value) => {
    const changed = Uint8Array.from(bytes);
    changed[at] = value;
    try {
      decode(sealed(changed), numbers);
    } catch (error) {
      return error.message;
    }
    return "nothing";
  };
  assert.match(said(0, 0), /not an encoded grid/);
  assert.match(said(4, 2), /version 2/);
  assert.match(said(5, 33), /grid size/);
  assert.match(said(9, 83), /the block Stone is not known/);
  assert.match(said(14, 32), /leave the grid/);
});

function sealed(bytes) {
  new DataView(bytes.buffer).setUint32(bytes.length - 4, crc32(bytes, bytes.length - 4), true);
  return bytes;
}

/** All blocks by their place. */
function placed(grid) {
  const found = new Map();
  for (const [x, y, z] of inside(grid.span)) {
    const block = grid.cells[index(grid, x, y, z)];
    if (block) found.set([x + grid.min[0], y + grid.min[1], z + grid.min[2]].join(), blocks[block - 1].id);
  }
  return new Map([...found].sort());
}

function expanded({ boxes = [], blocks = [] }) {
  const all = new Map();
  const ordered = (a, b) => [Math.min(a, b), Math.max(a, b)];
  for (const box of boxes) {
    const [[x1, x2], [y1, y2], [z1, z2]] = ["x", "y", "z"].map((axis) => ordered(box[`${axis}1`], box[`${axis}2`]));
    for (let y = y1; y <= y2; y++) for (let z = z1; z <= z2; z++) for (let x = x1; x <= x2; x++) all.set([x, y, z].join(), box.type);
  }
  for (const { x, y, z, type } of blocks) all.set([x, y, z].join(), type);
  return new Map([...all].sort());
}
