/**
 * A build that grows while a model writes it: text goes in as it comes, and what it
 * says so far stands in the viewer.
 * @typedef {import("./viewer.js").BuildViewer} BuildViewer
 */
import { Frame } from "./frame.js";

/** Milliseconds between two looks at the text. */
const PAUSE = 60;
/** What a build takes of the grid's height at first. */
const LOW = 0.45;

/**
 * Has a viewer show what is being written, whatever it shows now.
 * @param {BuildViewer} element
 * @param {{ size: number, palette: string, grown?: (said: { counts: number[], height: number, full: boolean }) => void }} options
 */
export function grow(element, { size, palette, grown }) {
  return new Growth(element, size, palette, grown);
}

export class Growth {
  #text = "";
  #fresh = true;
  #busy = false;
  #over = false;
  /** @type {Frame} */
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
    this.#frame = new Frame(this.view, [0, 0, 0], [size, LOW * size, size]);
  }

  /** Goes on with the model's answer. @param {string} text */
  feed(text) {
    if (!this.view) return;
    this.#text += text;
    this.#pump();
  }

  /** What follows is another answer; the old one stays until then. */
  restart() {
    this.#text = "";
    this.#fresh = true;
  }

  /**
   * Shows the finished build, from an address.
   * @param {string} src
   * @returns {Promise<void>} when it is there
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

  /** Leaves it as it is. */
  stop() {
    this.#over = true;
    delete this.element.dataset.growing;
  }

  async #pump() {
    const { view } = this;
    if (this.#busy) return;
    this.#busy = true;
    while (view && this.#text && !this.#over && this.element.viewer === view) {
      const what = { text: this.#text, size: this.size, palette: this.palette, fresh: this.#fresh };
      this.#text = "";
      this.#fresh = false;
      const said = await view.build.more("growing.js", what).catch(() => undefined);
      if (!said || this.#over) break;
      this.grown?.(said);
      this.#frame.go([0, 0, 0], [this.size, Math.max(LOW * this.size, said.height), this.size]);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
    this.#busy = false;
  }
}
