/** In the worker: finds the block under the pointer. */

/**
 * The first block that a ray hits, or null. Steps from cell to cell along the ray.
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
