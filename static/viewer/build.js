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
  /** @type {Map<number, (answer: { said?: any, error?: string }) => void>} */
  #asked = new Map();

  /** @param {string} src @param {Promise<{ blocks: Block[] }>} textures @param {BuildListener} listener */
  constructor(src, textures, listener) {
    this.listener = listener;
    builds.set(this.#id, this);
    started(textures);
    this.open(src);
    textures.catch((error) => this.answer({ type: "error", id: this.#id, message: error.message }));
  }

  /** Shows another, or none yet. @param {string} src */
  open(src) {
    this.#post({ type: "open", src: src && new URL(src, document.baseURI).href });
  }

  /**
   * Asks a module that the worker loads for it.
   * @param {string} module @param {object | null} what @returns {Promise<any>}
   */
  more(module, what) {
    if (!builds.has(this.#id)) return Promise.reject(new Error("closed"));
    const token = ++lastId;
    this.#post({ type: "more", token, module, what });
    return new Promise((resolve, reject) => this.#asked.set(token, ({ said, error }) => (error ? reject(new Error(error)) : resolve(said))));
  }

  /** Shows this many layers from below. @param {number} top */
  cut(top) {
    this.#ask("mesh", { type: "cut", top });
  }

  /** @param {number[]} from @param {number[]} along */
  pick(from, along) {
    this.#ask("pick", { type: "pick", from, along });
  }

  close() {
    if (builds.delete(this.#id)) this.#post({ type: "close" });
    for (const settle of this.#asked.values()) settle({ error: "closed" });
  }

  /** @param {string} answer @param {object} request */
  #ask(answer, request) {
    const busy = this.#waiting.has(answer);
    this.#waiting.set(answer, busy ? request : null);
    if (!busy) this.#post(request);
  }

  /** @param {object} request */
  #post(request) {
    worker?.postMessage({ ...request, id: this.#id });
  }

  /** @param {Answer} answer */
  answer(answer) {
    const next = this.#waiting.get(answer.type);
    this.#waiting.delete(answer.type);
    if (next) this.#ask(answer.type, next);
    if (answer.type === "progress") this.listener.progress(answer.bytes, answer.total);
    else if (answer.type === "mesh") this.listener.meshed(answer);
    else if (answer.type === "pick") this.listener.picked(answer.block);
    else if (answer.type === "more") {
      this.#asked.get(answer.token)?.(answer);
      this.#asked.delete(answer.token);
    } else {
      this.close();
      this.listener.failed(answer.message);
    }
  }
}

/** @param {Promise<{ blocks: Block[] }>} textures */
function started(textures) {
  if (worker) return;
  const fresh = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker = fresh;
  textures.then(({ blocks }) => fresh.postMessage({ type: "blocks", blocks })).catch(() => dropped(fresh));
  fresh.addEventListener("message", (/** @type {MessageEvent<Answer>} */ { data }) => builds.get(data.id)?.answer(data));
  fresh.addEventListener("error", () => {
    dropped(fresh);
    for (const [id, build] of builds) build.answer({ type: "error", id, message: "The viewer's worker stopped." });
  });
}

/** The next build starts another. @param {Worker} old */
function dropped(old) {
  old.terminate();
  if (worker === old) worker = undefined;
}
