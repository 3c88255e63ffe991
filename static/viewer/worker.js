/**
 * Fetches, decodes and meshes builds off the main thread. Keeps the decoded grids, so
 * that a build can be picked and cut without fetching it again.
 */
import { MAX_BYTES, decode } from "./decode.js";
import { contactShadow } from "./contact-shadow.js";
import { kindsOf, mesh } from "./mesher.js";

/** @type {Map<number, WorkerBuild>} */
const builds = new Map();

/** @type {(blocks: Block[]) => void} */
let resolveBlocks;
const table = new Promise((/** @type {(blocks: Block[]) => void} */ resolve) => (resolveBlocks = resolve)).then((blocks) => ({
  blocks,
  kinds: kindsOf(blocks),
  numbers: new Map(blocks.map((block, index) => [block.id, index + 1])),
}));

addEventListener("message", (/** @type {MessageEvent<WorkerRequest>} */ { data }) => {
  if (data.type === "blocks") resolveBlocks(data.blocks);
  else if (data.type === "open") open(data.id, data.src).catch((error) => sendError(data.id, error));
  else if (data.type === "cut") cut(data.id, data.top).catch((error) => sendError(data.id, error));
  else if (data.type === "pick") pickBlock(data.id, data.from, data.along);
  else if (data.type === "call") callModule(data);
  else if (data.type === "close") close(data.id);
});

/** @param {WorkerResponse} answer @param {Transferable[]} [transfer] */
function send(answer, transfer) {
  postMessage(answer, { transfer });
}

/** @param {number} id @param {unknown} error */
function sendError(id, error) {
  if (!builds.delete(id)) return;
  send({ type: "error", id, message: error instanceof Error ? error.message : String(error) });
}

/** @param {number} id */
function close(id) {
  builds.get(id)?.aborter.abort();
  builds.delete(id);
}

/** @param {number} id @param {string} src */
async function open(id, src) {
  close(id);
  const aborter = new AbortController();
  /** @type {WorkerBuild} */
  const build = { aborter, top: 0 };
  builds.set(id, build);
  if (!src) return;
  const bytes = await download(src, aborter.signal, (received, total) => send({ type: "progress", id, bytes: received, total }));
  const arrived = now();
  const { kinds, numbers } = await table;
  const start = now();
  build.grid = decode(bytes, numbers);
  build.top = build.grid.span[1];
  sendMesh(id, kinds, true, { arrived, decode: now() - start, mesh: 0 });
}

/** @param {number} id @param {number} top */
async function cut(id, top) {
  const { kinds } = await table;
  const build = builds.get(id);
  if (!build?.grid) return;
  build.top = top;
  sendMesh(id, kinds);
}

/**
 * @param {number} id @param {BlockKinds} kinds
 * @param {boolean} [groundChanged] sends a new contact shadow, too
 * @param {{ arrived: number, decode: number, mesh: number }} [times] for a new grid only
 */
function sendMesh(id, kinds, groundChanged, times) {
  const { grid, top, extra } = builds.get(id) ?? {};
  if (!grid || top === undefined) return;
  const start = now();
  const quads = mesh(grid, kinds, top);
  const { min, span } = grid;
  /** @type {WorkerResponse} */
  const answer = { type: "mesh", id, mesh: quads, min, span, times, ...extra?.(grid, top) };
  const transfer = [quads.data.buffer];
  if (times) times.mesh = now() - start;
  if (groundChanged) {
    answer.contact = contactShadow(grid, kinds);
    transfer.push(answer.contact.data.buffer);
  }
  send(answer, transfer);
}

/** Runs a module that is loaded on first use, since most visitors never need it. @param {ModuleCall} call */
async function callModule({ id, token, module, args }) {
  try {
    const [{ handle }, { blocks, kinds }] = await Promise.all([import(`./${module}`), table]);
    const build = builds.get(id);
    if (!build) return;
    /** @type {WorkerContext["sendMesh"]} */
    const again = (foot, fresh) => sendMesh(id, kinds, foot, fresh ? { arrived: now(), decode: 0, mesh: 0 } : undefined);
    const result = await handle(build, args, { blocks, kinds, sendMesh: again });
    send({ type: "call", id, token, result });
  } catch (error) {
    send({ type: "call", id, token, error: String(error) });
  }
}

/** @param {number} id @param {number[]} from @param {number[]} along */
async function pickBlock(id, from, along) {
  const { pick } = await import("./pick.js");
  const { grid, top = 0 } = builds.get(id) ?? {};
  if (grid) send({ type: "pick", id, block: pick(grid, top, from, along)?.block ?? 0 });
}

/**
 * @param {string} src @param {AbortSignal} signal
 * @param {(bytes: number, total: number) => void} progress the total is 0 when unknown, which is always so for compressed responses
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

/** `performance.now()` starts at another time in a worker than in its page; with the origin they compare. */
function now() {
  return performance.timeOrigin + performance.now();
}
