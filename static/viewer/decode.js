/** Decodes a grid as the server stores and sends it; `crates/voxel/src/codec.rs` specifies the format. */

const MAGIC = 0x52474f42;
const VERSION = 1;
const SIZES = [32, 64, 128, 256];

/** The longest encoding there is: the table of blocks, and two bytes for each cell. */
export const MAX_BYTES = (1 << 16) + 2 * 256 ** 3;

export class DecodeError extends Error {}

/** @param {string} [what] @returns {never} */
function refuse(what = "the data is damaged") {
  throw new DecodeError(`The build cannot be read: ${what}.`);
}

/**
 * @param {Uint8Array} bytes
 * @param {Map<string, number>} numbers block numbers by id
 * @returns {Grid}
 */
export function decode(bytes, numbers) {
  if (bytes.length < 12) refuse();
  if (bytes.length > MAX_BYTES) refuse("it is too large");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length - 4;
  if (view.getUint32(0, true) !== MAGIC) refuse("it is not an encoded grid");
  if (bytes[4] !== VERSION) refuse(`version ${bytes[4]} is not supported`);
  if (crc32(bytes, end) !== view.getUint32(end, true)) refuse();
  const size = view.getUint16(5, true);
  if (!SIZES.includes(size)) refuse("the grid size is not supported");

  const { kinds, at } = readKinds(bytes, end, numbers);
  if (kinds.length === 1) {
    if (at !== end) refuse();
    return { size, min: [0, 0, 0], span: [0, 0, 0], dims: [2, 2, 2], cells: new Uint8Array(8) };
  }
  if (at + 10 > end) refuse();
  const min = [...bytes.subarray(at, at + 3)];
  const span = [...bytes.subarray(at + 3, at + 6)].map((lessOne) => lessOne + 1);
  if (min.some((low, axis) => low + span[axis] > size)) refuse("the bounds leave the grid");
  const lengths = at + 10;
  const values = lengths + view.getUint32(at + 6, true);
  if (values > end) refuse();

  const dims = span.map((cells) => cells + 2);
  const cells = new Uint8Array(dims[0] * dims[1] * dims[2]);
  fill(cells, span, bytes.subarray(lengths, values), bytes.subarray(values, end), kinds);
  return { size, min, span, dims, cells };
}

/**
 * Reads the encoding's table of blocks: which block number here each of its entries stands for. Air comes first.
 * @param {Uint8Array} bytes @param {number} end @param {Map<string, number>} numbers
 */
function readKinds(bytes, end, numbers) {
  const kinds = [0];
  let at = 8;
  let previous = "";
  for (let left = bytes[7]; left > 0; left--) {
    const next = at + 1 + bytes[at];
    if (next > end) refuse();
    const id = String.fromCharCode(...bytes.subarray(at + 1, next));
    if (id <= previous) refuse();
    kinds.push(numbers.get(id) ?? refuse(`the block ${id} is not known`));
    previous = id;
    at = next;
  }
  return { kinds, at };
}

/**
 * Writes the runs into the cells within the bounds, and refuses every encoding that the server would not have written:
 * a grid has exactly one encoding.
 * @param {Uint8Array} cells @param {number[]} span
 * @param {Uint8Array} lengths @param {Uint8Array} values @param {number[]} kinds
 */
function fill(cells, [width, height, depth], lengths, values, kinds) {
  const stride = width + 2;
  const rows = height * depth;
  const used = new Set([0]);
  let at = 0;
  let x = 0;
  let z = 0;
  let row = 0;
  let start = stride * (depth + 2) + stride + 1;
  let previous = -1;
  for (const value of values) {
    if (value >= kinds.length) refuse();
    if (value === previous) refuse();
    previous = value;
    used.add(value);
    let left = 1;
    for (let shift = 0; ; shift += 7) {
      if (shift > 21 || at >= lengths.length) refuse();
      const byte = lengths[at++];
      left += (byte & 127) << shift;
      if (byte > 127) continue;
      if (byte === 0 && shift > 0) refuse();
      break;
    }
    if (left > (rows - row) * width - x) refuse();
    const block = kinds[value];
    while (left > 0) {
      const piece = Math.min(left, width - x);
      if (block) cells.fill(block, start + x, start + x + piece);
      left -= piece;
      x += piece;
      if (x < width) continue;
      x = 0;
      row++;
      start += stride;
      if (++z < depth) continue;
      z = 0;
      start += 2 * stride;
    }
  }
  if (row !== rows || at !== lengths.length) refuse();
  if (used.size !== kinds.length) refuse();
}

/** @param {Uint8Array} bytes @param {number} end */
export function crc32(bytes, end) {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    for (let bit = 0; bit < 8; bit++) byte = (byte >>> 1) ^ (byte & 1 && 0xedb88320);
    return byte;
  });
  let crc = -1;
  for (let at = 0; at < end; at++) crc = (crc >>> 8) ^ table[(crc ^ bytes[at]) & 255];
  return ~crc >>> 0;
}
