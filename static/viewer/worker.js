/**
 * Fetches, decodes and meshes builds away from the page, and keeps their grids to
 * answer what lies under the pointer and to cut them.
 */
import { MAX_BYTES, decode } from "./decode.js";
import { contact, pick } from "./grid.js";
import { kindsOf, mesh } from "./mesher.js";

/** @type {Map<number, { abort: AbortController, grid?: Grid, top: number }>} */
const builds = new Map();

/** @type {(blocks: Block[]) => void} */
let gotBlocks;
const table = new Promise((/** @type {(blocks: Block[]) => void} */ resolve) => (gotBlocks = resolve)).then((blocks) => ({
  kinds: kindsOf(blocks),
  numbers: new Map(blocks.map((block, index) => [block.id, index + 1])),
}));

addEventListener("message", (/** @type {MessageEvent<Ask>} */ { data }) => {
  if (data.type === "blocks") gotBlocks(data.blocks);
  else if (data.type === "open") open(data.id, data.src).catch((error) => fail(data.id, error));
  else if (data.type === "cut") cut(data.id, data.top).catch((error) => fail(data.id, error));
  else if (data.type === "pick") find(data.id, data.from, data.along);
  else close(data.id);
});

/** @param {Answer} answer @param {Transferable[]} [transfer] */
function send(answer, transfer) {
  postMessage(answer, { transfer });
}

/** @param {number} id @param {unknown} error */
function fail(id, error) {
  if (!builds.delete(id)) return;
  send({ type: "error", id, message: error instanceof Error ? error.message : String(error) });
}

/** @param {number} id */
function close(id) {
  builds.get(id)?.abort.abort();
  builds.delete(id);
}

/** @param {number} id @param {string} src */
async function open(id, src) {
  const abort = new AbortController();
  builds.set(id, { abort, top: 0 });
  const bytes = await download(src, abort.signal, (got, total) => send({ type: "progress", id, bytes: got, total }));
  const arrived = now();
  const { kinds, numbers } = await table;
  const build = builds.get(id);
  if (!build) return;
  const start = now();
  const grid = decode(bytes, numbers);
  build.grid = grid;
  build.top = grid.span[1];
  const decoded = now();
  const made = mesh(grid, kinds);
  const ground = contact(grid, kinds);
  const { min, span } = grid;
  const times = { arrived, decode: decoded - start, mesh: now() - decoded };
  send({ type: "mesh", id, mesh: made, min, span, contact: ground, times }, [
    made.data.buffer,
    ground.data.buffer,
  ]);
}

/** @param {number} id @param {number} top */
async function cut(id, top) {
  const { kinds } = await table;
  const build = builds.get(id);
  if (!build?.grid) return;
  build.top = top;
  const made = mesh(build.grid, kinds, top);
  const { min, span } = build.grid;
  send({ type: "mesh", id, mesh: made, min, span }, [made.data.buffer]);
}

/** @param {number} id @param {number[]} from @param {number[]} along */
function find(id, from, along) {
  const build = builds.get(id);
  if (!build?.grid) return;
  send({ type: "pick", id, block: pick(build.grid, build.top, from, along)?.block ?? 0 });
}

/**
 * @param {string} src @param {AbortSignal} signal
 * @param {(bytes: number, total: number) => void} progress with a total of 0 where it is not known
 */
async function download(src, signal, progress) {
  const response = await fetch(src, { signal });
  if (!response.ok || !response.body) throw new Error(`The server answered ${response.status}.`);
  const packed = response.headers.get("content-encoding");
  const total = packed ? 0 : Number(response.headers.get("content-length"));
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const chunks = [];
  let length = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
    if (length > MAX_BYTES) throw new Error("The build is too large.");
    progress(length, total);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** The same clock in the page and here. */
function now() {
  return performance.timeOrigin + performance.now();
}
