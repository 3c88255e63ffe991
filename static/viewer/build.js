/** The page's side of a build that lives in the worker. All builds of a page share one worker. */

/** @type {Worker | undefined} */
let worker;
let lastId = 0;
/** @type {Map<number, Build>} */
const builds = new Map();

export class Build {
  #id = ++lastId;
  /**
   * The latest request of each kind that came while the worker was busy with an earlier one. Only the latest is
   * sent when the worker is free, so that a fast pointer or slider cannot build up a queue.
   * @type {Map<string, object | null>}
   */
  #queued = new Map();
  /** @type {Map<number, (response: { result?: any, error?: string }) => void>} */
  #calls = new Map();

  /** @param {string} src @param {Promise<{ blocks: Block[] }>} textures @param {BuildListener} listener */
  constructor(src, textures, listener) {
    this.listener = listener;
    builds.set(this.#id, this);
    startWorker(textures);
    this.open(src);
    textures.catch((error) => this.handleResponse({ type: "error", id: this.#id, message: error.message }));
  }

  /** Shows another build; an empty address shows nothing yet. @param {string} src */
  open(src) {
    this.#post({ type: "open", src: src && new URL(src, document.baseURI).href });
  }

  /**
   * Calls `handle` of a module that the worker loads on first use.
   * @param {string} module @param {object | null} args @returns {Promise<any>}
   */
  callModule(module, args) {
    if (!builds.has(this.#id)) return Promise.reject(new Error("closed"));
    const token = ++lastId;
    this.#post({ type: "call", token, module, args });
    return new Promise((resolve, reject) => this.#calls.set(token, ({ result, error }) => (error ? reject(new Error(error)) : resolve(result))));
  }

  /** Shows only this many layers, from the bottom. @param {number} top */
  cut(top) {
    this.#request("mesh", { type: "cut", top });
  }

  /** @param {number[]} from @param {number[]} along */
  pick(from, along) {
    this.#request("pick", { type: "pick", from, along });
  }

  close() {
    if (builds.delete(this.#id)) this.#post({ type: "close" });
    for (const settle of this.#calls.values()) settle({ error: "closed" });
  }

  /** @param {string} kind of the response @param {object} request */
  #request(kind, request) {
    const busy = this.#queued.has(kind);
    this.#queued.set(kind, busy ? request : null);
    if (!busy) this.#post(request);
  }

  /** @param {object} request */
  #post(request) {
    worker?.postMessage({ ...request, id: this.#id });
  }

  /** @param {WorkerResponse} response */
  handleResponse(response) {
    const next = this.#queued.get(response.type);
    this.#queued.delete(response.type);
    if (next) this.#request(response.type, next);
    if (response.type === "progress") this.listener.progress(response.bytes, response.total);
    else if (response.type === "mesh") this.listener.meshed(response);
    else if (response.type === "pick") this.listener.picked(response.block);
    else if (response.type === "call") {
      this.#calls.get(response.token)?.(response);
      this.#calls.delete(response.token);
    } else {
      this.close();
      this.listener.failed(response.message);
    }
  }
}

/** @param {Promise<{ blocks: Block[] }>} textures */
function startWorker(textures) {
  if (worker) return;
  const fresh = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker = fresh;
  textures.then(({ blocks }) => fresh.postMessage({ type: "blocks", blocks })).catch(() => dropWorker(fresh));
  fresh.addEventListener("message", (/** @type {MessageEvent<WorkerResponse>} */ { data }) => builds.get(data.id)?.handleResponse(data));
  fresh.addEventListener("error", () => {
    dropWorker(fresh);
    for (const [id, build] of builds) build.handleResponse({ type: "error", id, message: "The viewer stopped working. Retry." });
  });
}

/** Terminates a broken worker; the next build starts a new one. @param {Worker} old */
function dropWorker(old) {
  old.terminate();
  if (worker === old) worker = undefined;
}
