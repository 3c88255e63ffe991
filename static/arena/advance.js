/** Going on by itself after a vote: a countdown that waits while somebody looks, and can be stopped for good. */
import { recall, remember } from "./memory.js";

const HABIT = "arena:advance";
const AFTER_MS = 8000;
const TICK_MS = 100;
/** Pixels by which a mouse may drift without looking at something. */
const DRIFT = 24;

export class Advance {
  #left = 0;
  #timer = 0;
  #paused = false;
  /** @type {{ x: number, y: number } | undefined} */
  #rest;

  /**
   * @param {{ button: HTMLElement, stop: HTMLElement, box: HTMLInputElement, exhibits: HTMLElement[] }} parts
   *   what it shows itself on, what stops it, what switches it, and what people look at
   * @param {() => void} go
   */
  constructor({ button, stop, box, exhibits }, go) {
    this.button = button;
    this.stop = stop;
    this.go = go;
    this.box = box;
    box.checked = wanted();
    box.addEventListener("change", () => this.#switch(box.checked));
    stop.addEventListener("click", () => {
      this.#switch(false);
      button.focus({ preventScroll: true });
    });
    document.addEventListener("pointermove", ({ clientX: x, clientY: y, target }) => {
      this.#rest ??= { x, y };
      const still = Math.hypot(x - this.#rest.x, y - this.#rest.y) < DRIFT;
      if (!still) this.#paused = this.#isLookedAt(target, exhibits);
    });
    for (const exhibit of exhibits) {
      for (const use of ["pointerdown", "keydown", "wheel", "focusin"]) {
        exhibit.addEventListener(use, ({ target }) => this.#isLookedAt(target, exhibits) && this.end(), { passive: true });
      }
    }
  }

  begin() {
    this.end();
    if (!wanted()) return;
    this.#left = AFTER_MS;
    this.#paused = false;
    this.#rest = undefined;
    this.stop.hidden = false;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#show();
  }

  end() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.stop.hidden = true;
    delete this.button.dataset.left;
  }

  #tick() {
    if (!this.#paused && !document.hidden && !document.querySelector("dialog[open], :popover-open")) this.#left -= TICK_MS;
    if (this.#left > 0) return this.#show();
    this.end();
    this.go();
  }

  #show() {
    this.button.dataset.left = this.#paused ? "paused" : String(Math.ceil(this.#left / 1000));
    this.button.style.setProperty("--left", String(this.#left / AFTER_MS));
  }

  /** @param {boolean} on */
  #switch(on) {
    remember(HABIT, on ? "on" : "off");
    this.box.checked = on;
    if (!on) this.end();
  }

  /** Its own buttons aside. @param {EventTarget | null} target @param {HTMLElement[]} exhibits */
  #isLookedAt(target, exhibits) {
    if (!(target instanceof Element) || this.button.contains(target) || this.stop.contains(target)) return false;
    return exhibits.some((exhibit) => exhibit.contains(target));
  }
}

/** Unless somebody chose, as the system has it. */
function wanted() {
  const chosen = recall(HABIT);
  return chosen ? chosen === "on" : !matchMedia("(prefers-reduced-motion: reduce)").matches;
}
