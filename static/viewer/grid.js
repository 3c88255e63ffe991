/** What can be read off a grid: which block a ray meets, and where it stands. */

/**
 * The first block that a ray meets, or null.
 * @param {Grid} grid
 * @param {number} top layers of the bounds that are shown
 * @param {ArrayLike<number>} from in the coordinates of the whole grid
 * @param {ArrayLike<number>} along
 * @returns {{ block: number, cell: number[] } | null}
 */
export function pick(grid, top, from, along) {
  const spans = [grid.span[0], Math.min(top, grid.span[1]), grid.span[2]];
  const start = grid.min.map((low, axis) => from[axis] - low);
  let enter = 0;
  let leave = Infinity;
  for (let axis = 0; axis < 3; axis++) {
    const one = -start[axis] / along[axis];
    const other = (spans[axis] - start[axis]) / along[axis];
    if (along[axis] === 0 && (start[axis] < 0 || start[axis] >= spans[axis])) return null;
    if (along[axis] === 0) continue;
    enter = Math.max(enter, Math.min(one, other));
    leave = Math.min(leave, Math.max(one, other));
  }
  if (enter >= leave) return null;

  const [width, , depth] = grid.dims;
  const inside = (/** @type {number} */ axis) => {
    const cell = Math.floor(start[axis] + along[axis] * enter);
    return Math.max(0, Math.min(spans[axis] - 1, cell));
  };
  const cell = [inside(0), inside(1), inside(2)];
  const next = cell.map((at, axis) => {
    return along[axis] === 0 ? Infinity : (at + +(along[axis] > 0) - start[axis]) / along[axis];
  });
  for (;;) {
    const block = grid.cells[((cell[1] + 1) * depth + cell[2] + 1) * width + cell[0] + 1];
    if (block) return { block, cell: cell.map((at, axis) => at + grid.min[axis]) };
    const axis = next[0] < next[1] ? (next[0] < next[2] ? 0 : 2) : next[1] < next[2] ? 1 : 2;
    cell[axis] += Math.sign(along[axis]);
    if (cell[axis] < 0 || cell[axis] >= spans[axis]) return null;
    next[axis] += 1 / Math.abs(along[axis]);
  }
}

/** The shadow of its foot. @param {Grid} grid @param {Kinds} kinds @returns {Contact} */
export function contact({ cells, span, dims }, kinds) {
  const [width, height, depth] = span;
  const radius = Math.max(1, Math.floor(Math.max(width, depth) / 14));
  const margin = 3 * radius + 1;
  const wide = width + 2 * margin;
  const deep = depth + 2 * margin;
  const dark = kinds.pass.map((pass, block) => +(block > 0 && pass < 2));
  let field = new Float32Array(wide * deep);
  const reach = 2 * radius;
  const most = Math.min(reach, height);
  for (let z = 0; z < depth; z++) {
    for (let x = 0; x < width; x++) {
      let y = 0;
      while (y < most && !dark[cells[((y + 1) * dims[2] + z + 1) * dims[0] + x + 1]]) y++;
      if (y < most) field[(z + margin) * wide + x + margin] = 1 - y / reach;
    }
  }
  for (let round = 0; round < 3; round++) {
    field = blurred(blurred(field, wide, deep, radius), deep, wide, radius);
  }
  return { data: Uint8Array.from(field, (value) => 255 * value), width: wide, depth: deep, margin };
}

/**
 * Each row averaged over a window, and rows made columns.
 * @param {Float32Array} field @param {number} width @param {number} rows @param {number} radius
 */
function blurred(field, width, rows, radius) {
  const out = new Float32Array(field.length);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let at = -radius; at < width; at++) {
      if (at + radius < width) sum += field[row * width + at + radius];
      if (at - radius > 0) sum -= field[row * width + at - radius - 1];
      if (at >= 0) out[at * rows + row] = sum / (2 * radius + 1);
    }
  }
  return out;
}
