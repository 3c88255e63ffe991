/** In the worker: spreads the light of glowing blocks through the air around them. */

/** The level of a glowing block; each step away from it is one less. */
export const BRIGHTEST = 15;
/** How many cells beyond the build light is computed, on each side. */
const MARGIN = 14;

/**
 * The light in every cell in and around a grid: 0 for opaque cells, otherwise 1 plus 16 for each level, so that the
 * shader can tell dark air from walls.
 * @param {Grid} grid @param {BlockKinds & { glows: Uint8Array }} kinds @param {number} top layers that are shown @param {number} most cells along an edge
 * @returns {Glow}
 */
export function glow({ cells, dims, min, span }, kinds, top, most) {
  const beyond = [0, 1, 2].map((axis) => (axis === 1 ? 1 : Math.max(1, Math.min(MARGIN, (most - span[axis]) >> 1))));
  const [width, height, depth] = [span[0] + 2 * beyond[0], top + 2, span[2] + 2 * beyond[2]];
  const layer = width * depth;
  const levels = new Uint8Array(layer * height);
  const closed = new Uint8Array(levels.length);
  const queue = new Queue();
  // Light does not spread below the ground.
  closed.fill(1, 0, layer);
  for (let y = 0; y < top; y++) {
    for (let z = 0; z < span[2]; z++) {
      let from = ((y + 1) * dims[2] + z + 1) * dims[0] + 1;
      let to = ((y + 1) * depth + z + beyond[2]) * width + beyond[0];
      for (let x = 0; x < span[0]; x++, from++, to++) {
        const block = cells[from];
        if (!kinds.occludes[block]) continue;
        closed[to] = 1;
        if (!kinds.glows[block]) continue;
        levels[to] = BRIGHTEST;
        queue.push(to);
      }
    }
  }
  spread(levels, closed, width, depth, height, queue);
  for (let place = 0; place < levels.length; place++) {
    levels[place] = closed[place] && levels[place] < BRIGHTEST ? 0 : 1 + 16 * levels[place];
  }
  return { data: levels, min: [min[0] - beyond[0], min[1] - 1, min[2] - beyond[2]], span: [width, height, depth], lit: queue.count > 0 };
}

/**
 * Breadth-first: the first level that reaches a cell came the shortest way, and is final.
 * @param {Uint8Array} levels @param {Uint8Array} closed
 * @param {number} width @param {number} depth @param {number} height @param {Queue} queue
 */
function spread(levels, closed, width, depth, height, queue) {
  const layer = width * depth;
  const reach = (/** @type {number} */ place, /** @type {number} */ level) => {
    if (closed[place] || levels[place] >= level) return;
    levels[place] = level;
    if (level > 1) queue.push(place);
  };
  for (let next = 0; next < queue.count; next++) {
    const place = queue.places[next];
    const level = levels[place] - 1;
    const y = Math.floor(place / layer);
    const z = Math.floor((place - y * layer) / width);
    const x = place - y * layer - z * width;
    if (x > 0) reach(place - 1, level);
    if (x < width - 1) reach(place + 1, level);
    if (z > 0) reach(place - width, level);
    if (z < depth - 1) reach(place + width, level);
    if (y > 0) reach(place - layer, level);
    if (y < height - 1) reach(place + layer, level);
  }
}

class Queue {
  places = new Int32Array(1024);
  count = 0;

  /** @param {number} place */
  push(place) {
    if (this.count === this.places.length) {
      const places = new Int32Array(2 * this.count);
      places.set(this.places);
      this.places = places;
    }
    this.places[this.count++] = place;
  }
}

/**
 * Switches on or off that light is sent with every mesh.
 * @param {WorkerBuild} build @param {{ most: number } | null} args @param {WorkerContext} context
 */
export function handle(build, args, { blocks, kinds, sendMesh }) {
  const glows = new Uint8Array(256);
  blocks.forEach((block, index) => (glows[index + 1] = +(block.class === "emissive")));
  build.extra = args ? (grid, top) => ({ glow: glow(grid, { ...kinds, glows }, top, args.most) }) : undefined;
  if (args) sendMesh();
}
