/**
 * Turns a grid into quads: visible faces, merged where block and occlusion agree.
 *
 * The face between a and b is seen when b is air, or b does not occlude and is
 * another block. A quad is two words, from the lowest bit:
 *   x9 y9 z9 w5 · w4 h9 face3 block8 ao8
 * with its lowest cell in the whole grid, width and height less one, and two bits
 * of light for each corner. Faces are +x -x +y -y +z -z; width runs along z for x
 * and along x for the others, height along z for y and along y for the others.
 */

export const PASSES = 4;
const CLASSES = ["opaque", "cutout", "liquid", "transparent", "emissive"];

/** The stride of a mask is 2^9: wider than any grid, and rows and columns are found by shifting. */
const STRIDE_BITS = 9;
const COLUMN_MASK = (1 << STRIDE_BITS) - 1;

/** @param {{ class: string }[]} blocks in the order of their numbers, from 1 @returns {BlockKinds} */
export function kindsOf(blocks) {
  const pass = new Uint8Array(256);
  const occludes = new Uint8Array(256);
  blocks.forEach((block, index) => {
    const kind = CLASSES.indexOf(block.class);
    pass[index + 1] = kind & 3;
    occludes[index + 1] = +((kind & 3) === 0);
  });
  return { pass, occludes };
}

/**
 * @param {Grid} grid
 * @param {BlockKinds} kinds
 * @param {number} [top] layers of the bounds that are shown, from below
 * @returns {QuadMesh}
 */
export function mesh(grid, kinds, top = grid.span[1]) {
  const [width, , depth] = grid.dims;
  const layer = width * depth;
  const cells = cutAbove(grid, layer, top);
  const sight = sightTable(kinds);
  const spans = [grid.span[0], top, grid.span[2]];
  const longest = Math.max(...spans) + 2;
  const front = { mask: new Int32Array(longest << STRIDE_BITS), list: new Int32Array(longest * longest), count: 0 };
  const back = { mask: new Int32Array(longest << STRIDE_BITS), list: new Int32Array(longest * longest), count: 0 };
  const rects = new Int32Array(4 * longest * longest);
  const buckets = Array.from({ length: 6 * PASSES }, () => new Bucket());
  // For each axis: the index steps along it, along a row and between rows, then the numbers of columns and rows.
  const steps = [
    [1, width, layer, spans[2], spans[1]],
    [layer, 1, width, spans[0], spans[2]],
    [width, 1, layer, spans[0], spans[1]],
  ];
  steps.forEach(([step, across, down, columns, rows], axis) => {
    const origin = layer + width + 1 - step;
    for (let plane = 0; plane <= spans[axis]; plane++) {
      scan(cells, sight, kinds.occludes, origin + plane * step, step, across, down, columns, rows, front, back);
      if (front.count) emit(rects, merge(front, rects), 2 * axis, plane - 1, grid.min, kinds.pass, buckets);
      if (back.count) emit(rects, merge(back, rects), 2 * axis + 1, plane, grid.min, kinds.pass, buckets);
    }
  });
  return joined(buckets);
}

/**
 * The cells up to a layer, with a layer of air above.
 * @param {Grid} grid @param {number} layer @param {number} top
 */
function cutAbove(grid, layer, top) {
  if (top >= grid.span[1]) return grid.cells;
  const cells = new Uint8Array((top + 2) * layer);
  cells.set(grid.cells.subarray(0, (top + 1) * layer));
  return cells;
}

/**
 * For each pair of neighbours: bit 0 when the face of the first is visible, bit 1 for the second.
 * @param {BlockKinds} kinds
 */
function sightTable({ occludes }) {
  const table = new Uint8Array(1 << 16);
  for (let a = 0; a < 256; a++) {
    for (let b = 0; b < 256; b++) {
      if (a !== b) table[(a << 8) | b] = +(a > 0 && !occludes[b]) | (+(b > 0 && !occludes[a]) << 1);
    }
  }
  return table;
}

/**
 * Collects the visible faces between a plane of cells and the next. This loop visits every cell three times, so its
 * arguments are plain numbers and arrays.
 * @param {Uint8Array} cells @param {Uint8Array} sight @param {Uint8Array} occludes @param {number} base
 * @param {number} step @param {number} across @param {number} down @param {number} columns @param {number} rows
 * @param {FacePlane} front @param {FacePlane} back
 */
function scan(cells, sight, occludes, base, step, across, down, columns, rows, front, back) {
  const frontMask = front.mask;
  const frontList = front.list;
  const backMask = back.mask;
  const backList = back.list;
  let fronts = 0;
  let backs = 0;
  for (let row = 0; row < rows; row++) {
    let at = base + row * down;
    let place = row << STRIDE_BITS;
    for (const end = place + columns; place < end; place++, at += across) {
      const a = cells[at];
      const b = cells[at + step];
      if (a === b) continue;
      const seen = sight[(a << 8) | b];
      if (seen & 1) {
        frontMask[place] = a | (light(cells, occludes, at + step, across, down) << 8) | 0x10000;
        frontList[fronts++] = place;
      }
      if (seen & 2) {
        backMask[place] = b | (light(cells, occludes, at, across, down) << 8) | 0x10000;
        backList[backs++] = place;
      }
    }
  }
  front.count = fronts;
  back.count = backs;
}

/**
 * The ambient light at the corners of a face, two bits each, from the neighbours of the cell in front of it.
 * @param {Uint8Array} cells @param {Uint8Array} occludes @param {number} at
 * @param {number} u @param {number} v
 */
function light(cells, occludes, at, u, v) {
  const left = occludes[cells[at - u]];
  const right = occludes[cells[at + u]];
  const low = occludes[cells[at - v]];
  const high = occludes[cells[at + v]];
  const lowLeft = left & low ? 0 : 3 - left - low - occludes[cells[at - u - v]];
  const lowRight = right & low ? 0 : 3 - right - low - occludes[cells[at + u - v]];
  const highLeft = left & high ? 0 : 3 - left - high - occludes[cells[at - u + v]];
  const highRight = right & high ? 0 : 3 - right - high - occludes[cells[at + u + v]];
  return lowLeft | (lowRight << 2) | (highLeft << 4) | (highRight << 6);
}

/**
 * Merges the faces of a side into rectangles of four numbers each (place, width and
 * height less one, key) and clears its mask. A face grows only along a direction in
 * which its own light does not change.
 * @param {FacePlane} side @param {Int32Array} rects
 */
function merge({ mask, list, count }, rects) {
  let n = 0;
  for (let index = 0; index < count; index++) {
    const place = list[index];
    const key = mask[place];
    if (key === 0) continue;
    const low = (key >> 8) & 15;
    const high = (key >> 12) & 15;
    let width = 1;
    let height = 1;
    if (low % 5 === 0 && high % 5 === 0) while (mask[place + width] === key) width++;
    if (low === high) while (same(mask, place + (height << STRIDE_BITS), width, key)) height++;
    for (let row = 0; row < height; row++) mask.fill(0, place + (row << STRIDE_BITS), place + (row << STRIDE_BITS) + width);
    rects[n++] = place;
    rects[n++] = width - 1;
    rects[n++] = height - 1;
    rects[n++] = key;
  }
  return n;
}

/** @param {Int32Array} mask @param {number} place @param {number} width @param {number} key */
function same(mask, place, width, key) {
  for (let end = place + width; place < end; place++) if (mask[place] !== key) return false;
  return true;
}

/**
 * Packs rectangles of one plane and face into quads.
 * @param {Int32Array} rects @param {number} n @param {number} face @param {number} plane
 * @param {number[]} min @param {Uint8Array} pass @param {Bucket[]} buckets
 */
function emit(rects, n, face, plane, [minX, minY, minZ], pass, buckets) {
  for (let at = 0; at < n; at += 4) {
    const column = rects[at] & COLUMN_MASK;
    const row = rects[at] >> STRIDE_BITS;
    const w = rects[at + 1];
    const h = rects[at + 2];
    const key = rects[at + 3];
    const x = minX + (face < 2 ? plane : column);
    const y = minY + (face < 2 || face > 3 ? row : plane);
    const z = minZ + (face < 2 ? column : face < 4 ? row : plane);
    const bucket = buckets[6 * pass[key & 255] + face];
    bucket.push(x | (y << 9) | (z << 18) | (w << 27), (w >> 5) | (h << 4) | (face << 13) | (key << 16));
  }
}

/** Quads of one pass and face. */
class Bucket {
  words = new Uint32Array(256);
  length = 0;

  /** @param {number} low @param {number} high */
  push(low, high) {
    if (this.length === this.words.length) {
      const words = new Uint32Array(2 * this.length);
      words.set(this.words);
      this.words = words;
    }
    this.words[this.length++] = low;
    this.words[this.length++] = high;
  }
}

/** @param {Bucket[]} buckets @returns {QuadMesh} */
function joined(buckets) {
  const ranges = Uint32Array.from(buckets, (bucket) => bucket.length / 2);
  const data = new Uint32Array(buckets.reduce((sum, bucket) => sum + bucket.length, 0));
  let at = 0;
  for (const { words, length } of buckets) {
    data.set(words.subarray(0, length), at);
    at += length;
  }
  return { data, ranges, quads: data.length / 2 };
}
