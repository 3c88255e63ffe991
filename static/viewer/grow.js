/**
 * Shows a build while a model writes it: text goes in as it arrives, and the viewer shows the entries so far.
 * @typedef {import("./viewer.js").BuildViewer} BuildViewer
 */
import { Framing } from "./framing.js";

/** Milliseconds between two updates. */
const PAUSE_MS = 60;
/** The part of the grid's height that is framed at first. */
const INITIAL_HEIGHT = 0.45;

/**
 * Starts showing a growing build in a viewer, in place of what it shows now.
 * @param {BuildViewer} element
 * @param {{ size: number, palette: string, grown?: (progress: { counts: number[], height: number, full: boolean }) => void }} options
 */
export function grow(element, { size, palette, grown }) {
  return new Growth(element, size, palette, grown);
}

export class Growth {
  #text = "";
  #isNew = true;
  #isBusy = false;
  #isOver = false;
  /** @type {Framing} */
  #frame;

  /**
   * @param {BuildViewer} element @param {number} size @param {string} palette
   * @param {((said: { counts: number[], height: number, full: boolean }) => void) | undefined} grown
   */
  constructor(element, size, palette, grown) {
    this.element = element;
    this.size = size;
    this.palette = palette;
    this.grown = grown;
    element.removeAttribute("src");
    element.dataset.growing = "";
    element.start();
    element.querySelector(":scope > .loading")?.remove();
    this.view = element.viewer;
    this.#frame = new Framing(this.view, [0, 0, 0], [size, INITIAL_HEIGHT * size, size]);
  }

  /** Adds text of the model's answer. @param {string} text */
  feed(text) {
    if (!this.view) return;
    this.#text += text;
    this.#pump();
  }

  /** The next text begins another answer; the old build stays visible until then. */
  restart() {
    this.#text = "";
    this.#isNew = true;
  }

  /**
   * Shows the finished build.
   * @param {string} src
   * @returns {Promise<void>} once it is drawn
   */
  async settle(src) {
    const { element } = this;
    this.stop();
    element.setAttribute("src", src);
    const done = new Promise((resolve) => {
      for (const name of ["viewer:ready", "viewer:error"]) element.addEventListener(name, resolve, { once: true });
    });
    const view = element.viewer;
    if (!view) element.start();
    else view.build.open(src);
    await done;
    const bounds = element.viewer?.renderer.build;
    if (view && view === element.viewer && bounds) await this.#frame.go(Array.from(bounds.min), Array.from(bounds.span));
    if (element.viewer) element.viewer.frame = undefined;
    element.viewer?.redraw();
  }

  /** Stops updating; the build stays as far as it has come. */
  stop() {
    this.#isOver = true;
    delete this.element.dataset.growing;
  }

  async #pump() {
    const { view } = this;
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (view && this.#text && !this.#isOver && this.element.viewer === view) {
      const args = { text: this.#text, size: this.size, palette: this.palette, fresh: this.#isNew };
      this.#text = "";
      this.#isNew = false;
      const said = await view.build.callModule("grow-worker.js", args).catch(() => undefined);
      if (!said || this.#isOver) break;
      this.grown?.(said);
      this.#frame.go([0, 0, 0], [this.size, Math.max(INITIAL_HEIGHT * this.size, said.height), this.size]);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    this.#isBusy = false;
  }
}
