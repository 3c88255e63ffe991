/** Moves the framing of a view smoothly. */

/** The time constant: after so long, about two thirds of the way are done. */
const EASE_MS = 260;

/** A box that a view frames instead of the build's bounds; it glides to where it is sent. */
export class Framing {
  #frameRequest = 0;
  #time = 0;
  /** @type {(() => void)[]} */
  #waiting = [];

  /** @param {import("./view.js").View | undefined} view @param {number[]} min @param {number[]} span */
  constructor(view, min, span) {
    this.view = view;
    this.box = { min, span };
    this.goal = [...min, ...span];
    if (view) view.frame = this.box;
  }

  /** @param {number[]} min @param {number[]} span @returns {Promise<void>} when it is there */
  go(min, span) {
    this.goal = [...min, ...span];
    if (!this.#frameRequest) this.#time = performance.now();
    this.#frameRequest ||= requestAnimationFrame(this.#step);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #step = (/** @type {number} */ time) => {
    const jump = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const share = jump ? 1 : 1 - Math.exp(-Math.max(0, time - this.#time) / EASE_MS);
    this.#time = time;
    let left = 0;
    this.goal.forEach((goal, index) => {
      const part = index < 3 ? this.box.min : this.box.span;
      part[index % 3] += (goal - part[index % 3]) * share;
      left = Math.max(left, Math.abs(goal - part[index % 3]));
    });
    this.view?.redraw();
    this.#frameRequest = left > 0.01 ? requestAnimationFrame(this.#step) : 0;
    if (this.#frameRequest) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  };
}
