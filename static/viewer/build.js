/** A build in the page's one worker. */

/** @type {Worker | undefined} */
let worker;
let lastId = 0;
/** @type {Map<number, Build>} */
const builds = new Map();

export class Build {
  #id = ++lastId;
  /** What was asked last while the worker was busy with the same. @type {Map<string, object | null>} */
  #waiting = new Map();

  /** @param {string} src @param {Promise<{ blocks: Block[] }>} textures @param {BuildListener} listener */
  constructor(src, textures, listener) {
    this.listener = listener;
    builds.set(this.#id, this);
    started(textures).postMessage({ type: "open", id: this.#id, src: new URL(src, document.baseURI).href });
    textures.catch((error) => this.answer({ type: "error", id: this.#id, message: error.message }));
  }

  /** Shows this many layers from below. @param {number} top */
  cut(top) {
    this.#ask("mesh", { type: "cut", id: this.#id, top });
  }

  /** @param {number[]} from @param {number[]} along */
  pick(from, along) {
    this.#ask("pick", { type: "pick", id: this.#id, from, along });
  }

  close() {
    if (builds.delete(this.#id)) worker?.postMessage({ type: "close", id: this.#id });
  }

  /** @param {string} answer @param {object} request */
  #ask(answer, request) {
    const busy = this.#waiting.has(answer);
    this.#waiting.set(answer, busy ? request : null);
    if (!busy) worker?.postMessage(request);
  }

  /** @param {Answer} answer */
  answer(answer) {
    const next = this.#waiting.get(answer.type);
    this.#waiting.delete(answer.type);
    if (next) this.#ask(answer.type, next);
    if (answer.type === "progress") this.listener.progress(answer.bytes, answer.total);
    else if (answer.type === "mesh") this.listener.meshed(answer);
    else if (answer.type === "pick") this.listener.picked(answer.block);
    else {
      this.close();
      this.listener.failed(answer.message);
    }
  }
}

/** @param {Promise<{ blocks: Block[] }>} textures */
function started(textures) {
  if (worker) return worker;
  const fresh = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker = fresh;
  textures.then(({ blocks }) => fresh.postMessage({ type: "blocks", blocks })).catch(() => dropped(fresh));
  fresh.addEventListener("message", (/** @type {MessageEvent<Answer>} */ { data }) => builds.get(data.id)?.answer(data));
  fresh.addEventListener("error", () => {
    dropped(fresh);
    for (const [id, build] of builds) build.answer({ type: "error", id, message: "The viewer's worker stopped." });
  });
  return fresh;
}

/** The next build starts another. @param {Worker} old */
function dropped(old) {
  old.terminate();
  if (worker === old) worker = undefined;
}
