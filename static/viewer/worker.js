/**
 * Fetches, decodes and meshes builds away from the page, and keeps their grids to
 * answer what lies under the pointer and to cut them.
 */
import { MAX_BYTES, decode } from "./decode.js";
import { contact } from "./grid.js";
import { kindsOf, mesh } from "./mesher.js";

/** @type {Map<number, Held>} */
const builds = new Map();

/** @type {(blocks: Block[]) => void} */
let gotBlocks;
const table = new Promise((/** @type {(blocks: Block[]) => void} */ resolve) => (gotBlocks = resolve)).then((blocks) => ({
  blocks,
  kinds: kindsOf(blocks),
  numbers: new Map(blocks.map((block, index) => [block.id, index + 1])),
}));

addEventListener("message", (/** @type {MessageEvent<Ask>} */ { data }) => {
  if (data.type === "blocks") gotBlocks(data.blocks);
  else if (data.type === "open") open(data.id, data.src).catch((error) => fail(data.id, error));
  else if (data.type === "cut") cut(data.id, data.top).catch((error) => fail(data.id, error));
  else if (data.type === "pick") find(data.id, data.from, data.along);
  else if (data.type === "more") more(data);
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
  close(id);
  const abort = new AbortController();
  /** @type {Held} */
  const build = { abort, top: 0 };
  builds.set(id, build);
  if (!src) return;
  const bytes = await download(src, abort.signal, (got, total) => send({ type: "progress", id, bytes: got, total }));
  const arrived = now();
  const { kinds, numbers } = await table;
  const start = now();
  build.grid = decode(bytes, numbers);
  build.top = build.grid.span[1];
  show(id, kinds, true, { arrived, decode: now() - start, mesh: 0 });
}

/** @param {number} id @param {number} top */
async function cut(id, top) {
  const { kinds } = await table;
  const build = builds.get(id);
  if (!build?.grid) return;
  build.top = top;
  show(id, kinds);
}

/**
 * @param {number} id @param {Kinds} kinds
 * @param {boolean} [foot] whether it stands on the ground in another way now
 * @param {{ arrived: number, decode: number, mesh: number }} [times] of another grid
 */
function show(id, kinds, foot, times) {
  const { grid, top, also } = builds.get(id) ?? {};
  if (!grid || top === undefined) return;
  const start = now();
  const made = mesh(grid, kinds, top);
  const { min, span } = grid;
  /** @type {Answer} */
  const answer = { type: "mesh", id, mesh: made, min, span, times, ...also?.(grid, top) };
  const transfer = [made.data.buffer];
  if (times) times.mesh = now() - start;
  if (foot) {
    answer.contact = contact(grid, kinds);
    transfer.push(answer.contact.data.buffer);
  }
  send(answer, transfer);
}

/** What not every visitor wants is loaded when the first one does. @param {More} asked */
async function more({ id, token, module, what }) {
  try {
    const [{ answer }, { blocks, kinds }] = await Promise.all([import(`./${module}`), table]);
    const build = builds.get(id);
    if (!build) return;
    /** @type {Bench["show"]} */
    const again = (foot, fresh) => show(id, kinds, foot, fresh ? { arrived: now(), decode: 0, mesh: 0 } : undefined);
    const said = await answer(build, what, { blocks, kinds, show: again });
    send({ type: "more", id, token, said });
  } catch (error) {
    send({ type: "more", id, token, error: String(error) });
  }
}

/** @param {number} id @param {number[]} from @param {number[]} along */
async function find(id, from, along) {
  const { pick } = await import("./pick.js");
  const { grid, top = 0 } = builds.get(id) ?? {};
  if (grid) send({ type: "pick", id, block: pick(grid, top, from, along)?.block ?? 0 });
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
