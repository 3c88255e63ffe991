/** Draws a spec's entries into a grid, cell for cell as the server does, within the same bounds of work. */

/** A spec may write this many times the grid's volume. */
const OVERDRAW = 8;
/** Lines with coordinates beyond this are computed with BigInt, which is exact but slow, so they are limited in number. */
const FAR = 1 << 20;
const MAX_FAR = 10_000;
const MAX_NAMES = 1 << 16;
/** Numbers per entry: six for coordinates, or a mark and the index of a far line; then the block. */
const STRIDE = 7;
const FAR_MARK = -0x80000000;
const SPACE = "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const ENDS = new RegExp(`^${SPACE}|${SPACE}$`, "g");

/** Reduces the spellings of a block's name to one, as the server does. @param {string} raw */
export function normaliseName(raw) {
  let name = raw.replace(ENDS, "").replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (name.startsWith("minecraft:")) name = name.slice(10);
  const state = name.endsWith("]") ? name.indexOf("[") : -1;
  if (state >= 0) name = name.slice(0, state);
  return name.replace(ENDS, "").replace(/[- ]/g, "_");
}

/** A function from a spec's block names to block numbers; 0 for unknown names. @param {Block[]} blocks @param {string} palette */
export function blockLookup(blocks, palette) {
  const numbers = new Map();
  blocks.forEach((block, index) => {
    if (palette === "simple" && block.palette !== "simple") return;
    for (const name of [block.id, ...(block.aliases ?? [])]) numbers.set(name, index + 1);
  });
  /** @type {Map<string, number>} */
  const known = new Map();
  return (/** @type {string} */ raw) => {
    let number = known.get(raw);
    if (number === undefined) {
      number = /** @type {number} */ (numbers.get(normaliseName(raw)) ?? 0);
      if (known.size < MAX_NAMES) known.set(raw, number);
    }
    return number;
  };
}

export class Rasterizer {
  /** Whether the spec exceeds the budget of writes; the rest of it is not drawn. */
  full = false;
  /** The number of layers up to the highest block. */
  height = 0;
  #lists = [new Entries(), new Entries(), new Entries()];
  /** @type {bigint[][]} */
  #far = [];
  #budget;
  #stale = false;
  /** How many entries are drawn, and the list of the last one. */
  #drawn = 0;
  #list = 0;

  /**
   * @param {number} size @param {(name: string) => number} find
   * @param {Box} [box] outside of which there will be nothing
   */
  constructor(size, find, box = { min: [0, 0, 0], span: [size, size, size] }) {
    this.size = size;
    this.find = find;
    this.min = Array.from(box.min);
    this.span = Array.from(box.span);
    this.dims = this.span.map((cells) => cells + 2);
    this.cells = new Uint8Array(this.dims[0] * this.dims[1] * this.dims[2]);
    this.#budget = OVERDRAW * size ** 3;
  }

  /** How many entries there are, without those of unknown blocks. */
  get entries() {
    return this.#lists[0].count + this.#lists[1].count + this.#lists[2].count;
  }

  /** @param {SpecEvent[]} events */
  add(events) {
    for (const event of events) {
      if ("drop" in event) {
        for (const list of event.drop) this.#lists[list] = new Entries();
        this.#budget = OVERDRAW * this.size ** 3;
        this.#stale = true;
      } else this.#addEntry(event);
    }
  }

  /** @param {SpecEntry} entry */
  #addEntry({ list, at, type }) {
    const block = this.find(type);
    if (!block) return;
    const numbers = at.map((v) => Math.max(-FAR, Math.min(FAR, Number(v))));
    if (list === 1 && at.some((v) => v > FAR || v < -FAR)) {
      if (this.#far.length === MAX_FAR) return;
      numbers[0] = FAR_MARK;
      numbers[1] = this.#far.push(at.map(BigInt)) - 1;
    }
    this.#lists[list].push(numbers, block);
    this.#stale ||= list < this.#list;
  }

  /**
   * Draws the entries that were added, or exactly as many as given. Begins anew where entries have to go.
   * @param {number} [wanted]
   */
  draw(wanted = this.entries) {
    if (this.#stale || wanted < this.#drawn) {
      this.cells.fill(0);
      this.#budget = OVERDRAW * this.size ** 3;
      this.#drawn = this.#list = this.height = 0;
      this.#stale = this.full = false;
    }
    let before = 0;
    this.#lists.forEach((entries, list) => {
      const end = Math.min(wanted - before, entries.count);
      for (let index = Math.max(0, this.#drawn - before); index < end && !this.full; index++) this.#drawEntry(list, entries.values, index * STRIDE);
      if (end > 0) this.#list = list;
      before += entries.count;
    });
    // Boxes are drawn before lines and lines before blocks. An entry that is added to an earlier list later makes this stale.
    this.#drawn = wanted;
  }

  /** An entry in drawing order: its list, its number within it (from 1), and its block. @param {number} index */
  entry(index) {
    let list = 0;
    while (list < 2 && index >= this.#lists[list].count) index -= this.#lists[list++].count;
    return { list, number: index + 1, of: this.#lists[list].count, block: this.#lists[list].values[index * STRIDE + 6] };
  }

  /** @returns {Grid} up to this layer */
  grid(height = this.span[1]) {
    const { size, min, span, dims, cells } = this;
    const layer = dims[0] * dims[2];
    return {
      size,
      min,
      span: [span[0], height, span[2]],
      dims: [dims[0], height + 2, dims[2]],
      cells: height === span[1] ? cells : cells.subarray(0, (height + 2) * layer),
    };
  }

  /** @param {number} list @param {Int32Array} values @param {number} at */
  #drawEntry(list, values, at) {
    const block = values[at + 6];
    if (list === 0) this.#box(values, at, block);
    else if (list === 2) this.#row(values[at], values[at + 1], values[at + 2], 1, block);
    else if (values[at] === FAR_MARK) this.#farLine(this.#far[values[at + 1]], block);
    else this.#line(values.subarray(at, at + 6), block);
  }

  /** @param {Int32Array} values @param {number} at @param {number} block */
  #box(values, at, block) {
    const low = [0, 0, 0];
    const high = [0, 0, 0];
    for (let axis = 0; axis < 3; axis++) {
      low[axis] = Math.max(0, Math.min(values[at + axis], values[at + 3 + axis]));
      high[axis] = Math.min(this.size - 1, Math.max(values[at + axis], values[at + 3 + axis]));
      if (low[axis] > high[axis]) return;
    }
    const width = high[0] - low[0] + 1;
    if (this.#overspends(width * (high[1] - low[1] + 1) * (high[2] - low[2] + 1))) return;
    for (let y = low[1]; y <= high[1]; y++) for (let z = low[2]; z <= high[2]; z++) this.#fill(low[0], y, z, width, block);
  }

  /** @param {Int32Array} ends @param {number} block */
  #line(ends, block) {
    const delta = [0, 1, 2].map((axis) => ends[3 + axis] - ends[axis]);
    const steps = Math.max(...delta.map(Math.abs));
    const point = (/** @type {number} */ axis, /** @type {number} */ i) => {
      return ends[axis] + (steps && Math.floor((2 * delta[axis] * i + steps) / (2 * steps)));
    };
    let [start, end] = [0, steps + 1];
    for (let axis = 0; axis < 3; axis++) {
      const [one, other] = [ends[axis], ends[3 + axis]];
      if (Math.min(one, other) >= 0 && Math.max(one, other) < this.size) continue;
      const rises = delta[axis] >= 0;
      const enters = firstWhere(steps + 1, (i) => (rises ? point(axis, i) >= 0 : point(axis, i) < this.size));
      const leaves = firstWhere(steps + 1, (i) => (rises ? point(axis, i) >= this.size : point(axis, i) < 0));
      start = Math.max(start, enters);
      end = Math.min(end, leaves);
    }
    if (start >= end || this.#overspends(end - start)) return;
    for (let i = start; i < end; i++) this.#fill(point(0, i), point(1, i), point(2, i), 1, block);
  }

  /** The same with BigInt, for coordinates beyond exact doubles. @param {bigint[]} ends @param {number} block */
  #farLine(ends, block) {
    const delta = [0, 1, 2].map((axis) => ends[3 + axis] - ends[axis]);
    const steps = delta.map((d) => (d < 0n ? -d : d)).reduce((a, b) => (a > b ? a : b));
    if (steps === 0n) return;
    const point = (/** @type {number} */ axis, /** @type {bigint} */ i) => {
      const up = 2n * delta[axis] * i + steps;
      const whole = up / (2n * steps);
      return ends[axis] + whole - (up < 0n && whole * 2n * steps !== up ? 1n : 0n);
    };
    const size = BigInt(this.size);
    let [start, end] = [0n, steps + 1n];
    for (let axis = 0; axis < 3; axis++) {
      const rises = delta[axis] >= 0n;
      const enters = firstWhereFar(steps + 1n, (i) => (rises ? point(axis, i) >= 0n : point(axis, i) < size));
      const leaves = firstWhereFar(steps + 1n, (i) => (rises ? point(axis, i) >= size : point(axis, i) < 0n));
      if (enters > start) start = enters;
      if (leaves < end) end = leaves;
    }
    if (start >= end || this.#overspends(Number(end - start))) return;
    for (let i = start; i < end; i++) this.#fill(Number(point(0, i)), Number(point(1, i)), Number(point(2, i)), 1, block);
  }

  /** @param {number} x @param {number} y @param {number} z @param {number} width @param {number} block */
  #row(x, y, z, width, block) {
    const { size } = this;
    if (x < 0 || y < 0 || z < 0 || x >= size || y >= size || z >= size || this.#overspends(width)) return;
    this.#fill(x, y, z, width, block);
  }

  /** @param {number} cells */
  #overspends(cells) {
    this.full = cells > this.#budget;
    if (!this.full) this.#budget -= cells;
    return this.full;
  }

  /** @param {number} x @param {number} y @param {number} z @param {number} width @param {number} block */
  #fill(x, y, z, width, block) {
    const { min, span, dims } = this;
    const left = Math.max(0, x - min[0]);
    const right = Math.min(span[0], x - min[0] + width);
    const [row, column] = [y - min[1], z - min[2]];
    if (left >= right || row < 0 || column < 0 || row >= span[1] || column >= span[2]) return;
    const start = ((row + 1) * dims[2] + column + 1) * dims[0] + 1;
    this.cells.fill(block, start + left, start + right);
    if (row >= this.height) this.height = row + 1;
  }
}

/** The entries of one list, seven numbers each. */
class Entries {
  values = new Int32Array(64 * STRIDE);
  count = 0;

  /** @param {number[]} numbers @param {number} block */
  push(numbers, block) {
    const at = this.count++ * STRIDE;
    if (at === this.values.length) {
      const values = new Int32Array(2 * at);
      values.set(this.values);
      this.values = values;
    }
    this.values.set(numbers, at);
    this.values[at + 6] = block;
  }
}

/** Binary search: the first index that holds, where all after it hold, too. @param {number} count @param {(i: number) => boolean} holds */
function firstWhere(count, holds) {
  let low = 0;
  while (low < count) {
    const middle = Math.floor((low + count) / 2);
    if (holds(middle)) count = middle;
    else low = middle + 1;
  }
  return low;
}

/** @param {bigint} count @param {(i: bigint) => boolean} holds */
function firstWhereFar(count, holds) {
  let low = 0n;
  while (low < count) {
    const middle = (low + count) / 2n;
    if (holds(middle)) count = middle;
    else low = middle + 1n;
  }
  return low;
}
