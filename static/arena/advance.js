/** Going on by itself after a vote: a countdown that starts over while somebody looks, and can be stopped for good. */
import { recall, remember } from "./memory.js";

const HABIT = "arena:advance";
const AFTER_MS = 8000;
const TICK_MS = 100;
/** Pixels by which a mouse may drift without looking at something. */
const DRIFT = 24;
/** What else one does with what is looked at. */
const USES = ["pointerdown", "keydown", "wheel", "touchmove"];

export class Advance {
  #left = 0;
  #timer = 0;
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
    this.exhibits = exhibits;
    box.checked = wanted();
    box.addEventListener("change", () => this.#switch(box.checked));
    stop.addEventListener("click", () => {
      this.#switch(false);
      button.focus({ preventScroll: true });
    });
    document.addEventListener("pointermove", ({ clientX: x, clientY: y, target }) => {
      this.#rest ??= { x, y };
      if (Math.hypot(x - this.#rest.x, y - this.#rest.y) < DRIFT) return;
      this.#rest = { x, y };
      if (this.#isLookedAt(target)) this.#startOver();
    });
    for (const use of USES) {
      document.addEventListener(use, ({ target }) => this.#isLookedAt(target) && this.#startOver(), { passive: true });
    }
    addEventListener("scroll", () => this.#startOver(), { passive: true, capture: true });
  }

  begin() {
    this.end();
    if (!wanted()) return;
    this.#left = AFTER_MS;
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

  #startOver() {
    this.#left = AFTER_MS;
    if (this.#timer) this.#show();
  }

  #tick() {
    // A button that was clicked keeps the focus, too, but nobody is at it any more.
    const focused = document.activeElement;
    if (focused?.matches(":focus-visible") && this.#isLookedAt(focused)) this.#startOver();
    else if (!document.hidden && !document.querySelector("dialog[open], :popover-open")) this.#left -= TICK_MS;
    if (this.#left > 0) return this.#show();
    this.end();
    this.go();
  }

  #show() {
    this.button.dataset.left = String(Math.ceil(this.#left / 1000));
    this.button.style.setProperty("--left", String(this.#left / AFTER_MS));
  }

  /** @param {boolean} on */
  #switch(on) {
    remember(HABIT, on ? "on" : "off");
    this.box.checked = on;
    if (!on) this.end();
  }

  /** Its own buttons aside. @param {EventTarget | null} target */
  #isLookedAt(target) {
    if (!(target instanceof Element) || this.button.contains(target) || this.stop.contains(target)) return false;
    return this.exhibits.some((exhibit) => exhibit.contains(target));
  }
}

/** Unless somebody chose, as the system has it. */
function wanted() {
  const chosen = recall(HABIT);
  return chosen ? chosen === "on" : !matchMedia("(prefers-reduced-motion: reduce)").matches;
}
