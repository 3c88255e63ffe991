/**
 * Replays the order of building: the spec's boxes, lines and blocks in turn.
 * @typedef {import("./viewer.js").BuildViewer} BuildViewer
 * @typedef {import("./view.js").View} View
 */
import { iconButton, make } from "./controls.js";
import { Framing } from "./framing.js";
import { loadStyles } from "./scene.js";
import { announce } from "./status.js";
import { disableControls, toolSelector } from "./disable-controls.js";

/** The shortest and the longest duration of a replay, in seconds. */
const [SHORT, LONG] = [6, 24];
/** Bytes of the spec that are sent to the worker in one message. */
const CHUNK_BYTES = 1 << 18;
const MAX_BYTES = 64 << 20;
const ICONS = { play: "M7 4.5l8 5.5-8 5.5z", pause: "M7 4.5v11M13 4.5v11", close: "M5 5l10 10M15 5L5 15" };
const LISTS = ["box", "line", "block"];
const whole = new Intl.NumberFormat("en");

/** @type {WeakMap<BuildViewer, Replay>} */
const replays = new WeakMap();

/** Opens or closes the replay. @param {BuildViewer} element @param {HTMLElement} button */
export async function activate(element, button) {
  const replay = replays.get(element);
  if (replay) return replay.close();
  const { viewer } = element;
  if (!viewer?.renderer.build) return;
  await loadStyles();
  if (viewer !== element.viewer || replays.has(element) || element.matches("[data-walking], [data-recording]")) return;
  const fresh = new Replay(element, viewer, button);
  replays.set(element, fresh);
  await fresh.start();
}

class Replay {
  #entries = 0;
  /** How many entries are drawn; fractional while playing. */
  #at = 0;
  #isPlaying = false;
  /** The position that was requested while the worker was busy, or -1. */
  #pending = -1;
  #busy = false;
  #time = 0;
  /** The requested animation frame. */
  #frameRequest = 0;
  /** Enables the controls again that would interfere. */
  #enableControls = () => {};
  #aborter = new AbortController();
  /** @type {string[]} */
  #names = [];

  /** @param {BuildViewer} element @param {View} view @param {HTMLElement} button */
  constructor(element, view, button) {
    this.element = element;
    this.view = view;
    this.button = button;
    this.bounds = /** @type {Meshed} */ (view.renderer.build);
    this.frame = new Framing(view, [...this.bounds.min], [...this.bounds.span]);
    this.slider = make("input", { type: "range", min: "0", max: "0", step: "1", value: "0", "aria-label": "Entries drawn" });
    this.caption = make("p", { class: "caption" }, "Reading the spec");
    this.play = iconButton("play", "Play", () => this.toggle(), ICONS.play);
    const close = iconButton("replay-close", "Close the replay", () => this.close(), ICONS.close);
    this.panel = make("div", { class: "replay", role: "group", "aria-label": "Replay" }, this.play, this.slider, close, this.caption);
    const { signal } = this.#aborter;
    this.slider.addEventListener("input", () => this.seek(this.slider.valueAsNumber));
    // Grabbing the slider pauses the replay.
    this.slider.addEventListener("pointerdown", () => this.#isPlaying && this.toggle());
    element.addEventListener("keydown", (event) => event.key === "Escape" && this.close(), { signal });
    view.aborter.signal.addEventListener("abort", () => this.close(), { signal });
  }

  async start() {
    const { element, view, panel, button } = this;
    button.setAttribute("aria-pressed", "true");
    element.setAttribute("data-replaying", "");
    this.#enableControls = disableControls(element, `${toolSelector("walk")}, .cut input`);
    this.play.disabled = this.slider.disabled = true;
    element.append(panel);
    this.#makeRoom(view);
    try {
      await this.#readSpec();
    } catch (error) {
      if (this.#aborter.signal.aborted) return;
      this.caption.textContent = error instanceof Error ? error.message : String(error);
      return announce(element, this.caption.textContent);
    }
    if (this.#aborter.signal.aborted) return;
    this.#names = await blockNames(view);
    this.play.disabled = this.slider.disabled = false;
    this.slider.max = String(this.#entries);
    announce(element, `Replay of ${whole.format(this.#entries)} entries.`);
    this.seek(0);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.slider.focus();
    else {
      this.play.focus();
      this.toggle();
    }
  }

  /** Makes room for the panel below the build. @param {View} view */
  #makeRoom(view) {
    const { min, span } = this.bounds;
    const covered = (this.panel.offsetHeight + 24) / view.canvas.clientHeight;
    const more = Math.min(0.6, covered) * Math.hypot(span[0], span[1], span[2]);
    this.frame.go([min[0], min[1] - more, min[2]], [span[0], span[1] + more, span[2]]);
  }

  /** Streams the spec to the worker. */
  async #readSpec() {
    const { element, view, caption } = this;
    const [size, palette] = [Number(element.getAttribute("size")), element.getAttribute("palette")];
    const response = await fetch(element.getAttribute("spec") ?? "", { signal: this.#aborter.signal });
    if (!response.ok || !response.body) throw new Error("The spec could not be loaded.");
    let bytes = 0;
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (let at = 0; at < value.length; at += CHUNK_BYTES) {
        const read = value.slice(at, at + CHUNK_BYTES);
        this.#entries = (await view.build.callModule("replay-worker.js", { read, size, palette })).entries;
        if (this.#aborter.signal.aborted) throw new Error("closed");
      }
      bytes += value.length;
      if (bytes > MAX_BYTES) throw new Error("The spec is too large to be replayed.");
      if (bytes > 1e6) caption.textContent = `Reading the spec: ${(bytes / 1e6).toFixed(1)} MB`;
    }
    if (!this.#entries) throw new Error("The spec has nothing to replay.");
  }

  toggle() {
    this.#isPlaying = !this.#isPlaying;
    if (this.#isPlaying && this.#at >= this.#entries) this.seek(0);
    this.#updateButton();
    cancelAnimationFrame(this.#frameRequest);
    if (!this.#isPlaying) return;
    this.#time = performance.now();
    this.#frameRequest = requestAnimationFrame(this.#step);
  }

  #updateButton() {
    const [name, icon] = this.#isPlaying ? /** @type {const} */ (["Pause", "pause"]) : /** @type {const} */ (["Play", "play"]);
    this.play.setAttribute("aria-label", name);
    this.play.title = name;
    this.play.querySelector("path")?.setAttribute("d", ICONS[icon]);
  }

  /** @param {number} time */
  #step = (time) => {
    if (!this.#isPlaying || this.#aborter.signal.aborted) return;
    const seconds = Math.max(0, Math.min(1500, time - this.#time)) / 1000;
    this.#time = time;
    const pace = this.#entries / Math.min(LONG, SHORT + this.#entries / 60);
    if (!this.#busy) this.seek(Math.min(this.#entries, this.#at + pace * seconds));
    this.#isPlaying = this.#at < this.#entries;
    if (this.#isPlaying) this.#frameRequest = requestAnimationFrame(this.#step);
    else {
      this.#updateButton();
      announce(this.element, "The build is complete.");
    }
  };

  /** @param {number} at */
  seek(at) {
    this.#at = at;
    const count = Math.floor(at);
    this.slider.value = String(count);
    this.#pending = count;
    if (!this.#busy) this.#draw();
  }

  async #draw() {
    this.#busy = true;
    while (this.#pending >= 0 && !this.#aborter.signal.aborted) {
      const show = this.#pending;
      this.#pending = -1;
      const entry = await this.view.build.callModule("replay-worker.js", { show }).catch(() => undefined);
      if (entry && !this.#aborter.signal.aborted) this.#showEntry(entry);
    }
    this.#busy = false;
  }

  /** @param {{ count: number, list?: number, number?: number, of?: number, block?: number }} said */
  #showEntry({ list, number = 0, of = 0, block = 0 }) {
    const words = list === undefined ? "Nothing yet" : `${LISTS[list]} ${whole.format(number)} of ${whole.format(of)}: ${this.#names[block - 1] ?? ""}`;
    this.caption.textContent = words;
    this.slider.setAttribute("aria-valuetext", words);
  }

  close() {
    const { element, view, button, panel } = this;
    if (this.#aborter.signal.aborted) return;
    const hadFocus = panel.contains(document.activeElement);
    this.#aborter.abort();
    this.#isPlaying = false;
    replays.delete(element);
    panel.remove();
    element.removeAttribute("data-replaying");
    button.setAttribute("aria-pressed", "false");
    this.#enableControls();
    if (element.viewer !== view || view.aborter.signal.aborted) return;
    this.frame.go(this.bounds.min, this.bounds.span).then(() => {
      if (view.frame === this.frame.box) view.frame = undefined;
    });
    view.build.callModule("replay-worker.js", { over: true }).catch(() => {});
    if (hadFocus) button.focus({ preventScroll: true });
  }
}

/** The lower-case names of the blocks, by number. @param {View} view */
async function blockNames({ renderer }) {
  return (renderer.textures?.blocks ?? []).map(({ name }) => name.toLowerCase());
}
