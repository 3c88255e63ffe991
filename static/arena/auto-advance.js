/** Shows the next matchup after a countdown, which starts over with every sign that the visitor still looks at this one, and can be switched off. */
import { loadSetting, saveSetting } from "./settings.js";

const SETTING = "arena:advance";
const DELAY_MS = 8000;
const TICK_MS = 100;
/** Pixels that a resting mouse may move without counting as activity. */
const MOUSE_TOLERANCE = 24;
/** Events on the watched elements that count as activity. */
const ACTIVITY_EVENTS = ["pointerdown", "keydown", "wheel", "touchmove"];

export class AutoAdvance {
  #remainingMs = 0;
  #timer = 0;
  /** @type {{ x: number, y: number } | undefined} */
  #lastPointer;

  /**
   * @param {{ button: HTMLElement, stop: HTMLElement, box: HTMLInputElement, exhibits: HTMLElement[] }} parts
   *   the button that shows the countdown, the one that stops it, the setting's checkbox, and the watched elements
   * @param {() => void} go
   */
  constructor({ button, stop, box, exhibits }, go) {
    this.button = button;
    this.stop = stop;
    this.go = go;
    this.box = box;
    this.exhibits = exhibits;
    box.checked = isEnabled();
    box.addEventListener("change", () => this.#setEnabled(box.checked));
    stop.addEventListener("click", () => {
      this.#setEnabled(false);
      button.focus({ preventScroll: true });
    });
    document.addEventListener("pointermove", ({ clientX: x, clientY: y, target }) => {
      this.#lastPointer ??= { x, y };
      if (Math.hypot(x - this.#lastPointer.x, y - this.#lastPointer.y) < MOUSE_TOLERANCE) return;
      this.#lastPointer = { x, y };
      if (this.#isWatched(target)) this.#restart();
    });
    for (const use of ACTIVITY_EVENTS) {
      document.addEventListener(use, ({ target }) => this.#isWatched(target) && this.#restart(), { passive: true });
    }
    addEventListener("scroll", () => this.#restart(), { passive: true, capture: true });
  }

  start() {
    this.cancel();
    if (!isEnabled()) return;
    this.#remainingMs = DELAY_MS;
    this.#lastPointer = undefined;
    this.stop.hidden = false;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#render();
  }

  cancel() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.stop.hidden = true;
    delete this.button.dataset.left;
  }

  #restart() {
    this.#remainingMs = DELAY_MS;
    if (this.#timer) this.#render();
  }

  #tick() {
    // A clicked button keeps the focus although its user has moved on; only focus by keyboard counts as activity.
    const focused = document.activeElement;
    if (focused?.matches(":focus-visible") && this.#isWatched(focused)) this.#restart();
    else if (!document.hidden && !document.querySelector("dialog[open], :popover-open")) this.#remainingMs -= TICK_MS;
    if (this.#remainingMs > 0) return this.#render();
    this.cancel();
    this.go();
  }

  #render() {
    this.button.dataset.left = String(Math.ceil(this.#remainingMs / 1000));
    this.button.style.setProperty("--left", String(this.#remainingMs / DELAY_MS));
  }

  /** @param {boolean} on */
  #setEnabled(on) {
    saveSetting(SETTING, on ? "on" : "off");
    this.box.checked = on;
    if (!on) this.cancel();
  }

  /** The countdown's own buttons do not count. @param {EventTarget | null} target */
  #isWatched(target) {
    if (!(target instanceof Element) || this.button.contains(target) || this.stop.contains(target)) return false;
    return this.exhibits.some((exhibit) => exhibit.contains(target));
  }
}

/** Where the visitor has not chosen, the system's setting for reduced motion decides. */
function isEnabled() {
  const chosen = loadSetting(SETTING);
  return chosen ? chosen === "on" : !matchMedia("(prefers-reduced-motion: reduce)").matches;
}
