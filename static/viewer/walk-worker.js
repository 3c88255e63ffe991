/** In the worker: sends the visible blocks to the page, which walking needs for collisions. */

/** @param {WorkerBuild} build @param {null} _what @param {WorkerContext} context */
export function handle({ grid, top }, _what, { kinds }) {
  if (!grid) return undefined;
  const layer = grid.dims[0] * grid.dims[2];
  return { ...grid, span: [grid.span[0], top, grid.span[2]], cells: grid.cells.slice(0, (top + 2) * layer), kinds };
}
