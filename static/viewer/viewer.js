/**
 * `<build-viewer src poster name summary angles pair quality start>`: a build in 3D. What the server put inside stays visible
 * until the first frame, and for good without WebGL. Fires `viewer:ready` and `viewer:error`.
 */
import { Camera } from "./camera.js";
import { getPair, hasCapacity, markUsed, release } from "./page-viewers.js";
import { createControls, make } from "./controls.js";
import { View } from "./view.js";

/** Viewers start to load this far before they scroll into view. */
const PRELOAD_MARGIN = "200px";
const KEY_HELP = "Arrow keys turn, plus and minus zoom, Shift with arrow keys moves, R resets, 1 to 8 go around.";
let viewerCount = 0;

const visibility = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting || !(target instanceof BuildViewer)) continue;
    visibility.unobserve(target);
    if (!target.getAttribute("src")) continue;
    if (hasCapacity()) target.start();
    else target.showPoster();
  }
}, { rootMargin: PRELOAD_MARGIN });

export class BuildViewer extends HTMLElement {
  /** @type {View | undefined} */
  viewer;
  #camera = new Camera();
  #number = ++viewerCount;
  /** @type {import("./page-viewers.js").Pair} */
  #pair = getPair(null);
  /** @type {ReturnType<typeof createControls> | undefined} */
  #controls;
  /** The elements that this script has added, by name. @type {Map<string, HTMLElement>} */
  #parts = new Map();

  get camera() {
    return this.#camera;
  }

  set camera(camera) {
    // While walking, the view has a camera of its own.
    if (this.viewer?.camera === this.#camera) this.viewer.camera = camera;
    this.#camera = camera;
  }

  connectedCallback() {
    this.#pair = getPair(this.getAttribute("pair"));
    this.#pair.join(this);
    this.#getPicture();
    visibility.observe(this);
  }

  disconnectedCallback() {
    visibility.unobserve(this);
    this.#pair.members.delete(this);
    this.#clear();
  }

  sync() {
    this.#controls?.sync();
  }

  /** Starts to draw. The least recently used viewer of the page may go back to its picture. */
  start() {
    this.#clear();
    this.dataset.state = "loading";
    const canvas = this.#setPart("canvas", this.#createCanvas());
    const bar = make("div", { class: "loading", role: "progressbar", "aria-label": `Loading ${this.#name}` }, make("span", {}, "Loading"));
    this.#setPart("loading", bar);
    const textures = document.querySelector('meta[name="textures"]')?.getAttribute("content") ?? "/textures";
    const low = this.getAttribute("quality") === "low" || new URLSearchParams(location.search).get("q") === "low";
    try {
      this.viewer = new View(canvas, { src: this.getAttribute("src") ?? "", textures, low, camera: this.#camera }, {
        progress: (bytes, total) => showProgress(bar, bytes, total),
        ready: (stats) => this.#ready(stats),
        pointed: (name) => this.#showBlockName(name),
        failed: (message) => this.#fail(message),
        used: () => markUsed(this),
      });
      markUsed(this);
    } catch {
      this.#showFallback();
    }
  }

  /** Shows the picture, with a button that starts to draw again. */
  showPoster() {
    const focused = this.contains(document.activeElement);
    this.#clear();
    this.dataset.state = "resting";
    const button = make("button", { type: "button", class: "start" }, "View in 3D");
    button.addEventListener("click", () => {
      this.start();
      this.#parts.get("canvas")?.focus();
    });
    this.#setPart("start", button);
    if (focused) button.focus({ preventScroll: true });
  }

  get #name() {
    return this.getAttribute("name") ?? "Build";
  }

  /** @param {Stats} stats */
  #ready(stats) {
    this.#parts.get("loading")?.remove();
    this.dataset.state = "live";
    this.#controls ??= createControls(this, this.#pair);
    this.#controls.setLayers(this.viewer?.height ?? 1);
    this.#controls.sync();
    if (!this.#parts.has("bar")) this.#setPart("bar", this.#controls.bar);
    this.dispatchEvent(new CustomEvent("viewer:ready", { bubbles: true, detail: stats }));
  }

  /** @param {string} message */
  #fail(message) {
    this.#clear();
    this.dataset.state = "error";
    const retry = make("button", { type: "button" }, "Retry");
    retry.addEventListener("click", () => this.start());
    this.#setPart("failed", make("div", { class: "failed", role: "alert" }, make("p", {}, message), retry));
    this.dispatchEvent(new CustomEvent("viewer:error", { bubbles: true, detail: { message } }));
  }

  /** Shows pictures where WebGL is not available. */
  async #showFallback() {
    this.#clear();
    const angles = this.getAttribute("angles");
    if (angles) {
      const { showAngles } = await import("./fallback.js");
      this.#setPart("bar", showAngles(this.#getPicture(), angles));
    }
    this.dataset.state = "flat";
    this.dispatchEvent(new CustomEvent("viewer:error", { bubbles: true, detail: { message: "WebGL is not available." } }));
  }

  /** The picture the server put inside, or one made from the attributes. */
  #getPicture() {
    const found = this.querySelector("img");
    if (found) return found;
    const picture = make("img", { alt: `${this.#name}. ${this.getAttribute("summary") ?? ""}` });
    const poster = this.getAttribute("poster");
    if (poster) picture.src = poster;
    this.append(picture);
    return picture;
  }

  #createCanvas() {
    const id = `viewer-${this.#number}`;
    this.#setPart("said", make("p", { id, class: "said" }, `${this.getAttribute("summary") ?? ""} ${KEY_HELP}`));
    this.#setPart("status", make("p", { class: "said", role: "status" }));
    return make("canvas", {
      tabindex: "0",
      role: "application",
      "aria-roledescription": "3D view",
      "aria-label": this.#name,
      "aria-describedby": id,
    });
  }

  /** Shows the name of the block under the pointer; hidden from screen readers, which it would flood. @param {string} name */
  #showBlockName(name) {
    const part = this.#parts.get("pointed") ?? this.#setPart("pointed", make("p", { class: "pointed", "aria-hidden": "true" }));
    part.textContent = name;
  }

  /** @template {HTMLElement} T @param {string} part @param {T} element @returns {T} */
  #setPart(part, element) {
    this.#parts.get(part)?.remove();
    this.#parts.set(part, element);
    this.append(element);
    return element;
  }

  #clear() {
    release(this);
    this.viewer?.close();
    this.viewer = this.#controls = undefined;
    for (const part of this.#parts.values()) part.remove();
    this.#parts.clear();
  }
}

/** @param {HTMLElement} bar @param {number} bytes @param {number} total */
function showProgress(bar, bytes, total) {
  const share = Math.round((100 * bytes) / total);
  const text = total ? `${share} %` : `${Math.ceil(bytes / 1000)} kB`;
  bar.setAttribute("aria-valuetext", text);
  if (total) bar.setAttribute("aria-valuenow", String(share));
  if (bar.firstChild) bar.firstChild.textContent = `Loading ${text}`;
}

customElements.define("build-viewer", BuildViewer);
