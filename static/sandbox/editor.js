/** A textarea with line numbers and line marks. Only the visible lines get number elements, so that long texts stay fast. */
import { query, textElement } from "../dom.js";

export class Editor {
  #text;
  #gutter;
  /** The offset of each line's first character. @type {number[] | undefined} */
  #lineStarts;
  /** @type {Map<number, string>} */
  #marks = new Map();
  #frameRequest = 0;

  /** @param {HTMLElement} element */
  constructor(element) {
    this.#text = /** @type {HTMLTextAreaElement} */ (query(element, "textarea"));
    this.#gutter = query(element, ".gutter");
    this.#text.addEventListener("input", () => this.#changed());
    this.#text.addEventListener("scroll", () => this.#draw());
    new ResizeObserver(() => this.#draw()).observe(this.#text);
    this.#draw();
  }

  get value() {
    return this.#text.value;
  }

  set value(text) {
    this.#text.value = text;
    this.#changed();
  }

  /** @param {Map<number, "bad" | "warn">} marks by line, from 1 */
  mark(marks) {
    this.#marks = marks;
    this.#draw();
  }

  /** Selects a range and scrolls to it. @param {number} from @param {number} to */
  select(from, to) {
    this.#text.focus({ preventScroll: true });
    this.#text.setSelectionRange(from, to);
    const { line, column } = this.position(from);
    const { height } = this.#lineMetrics();
    this.#text.scrollTop = Math.max(0, (line - 1) * height - this.#text.clientHeight / 3);
    this.#text.scrollLeft = column > 60 ? (column - 20) * 8 : 0;
    this.#text.scrollIntoView({ block: "nearest" });
  }

  /** The offsets of a line's start and end. @param {number} line from 1 @returns {[number, number]} */
  lineRange(line) {
    const starts = this.#getLineStarts();
    const from = starts[Math.min(line, starts.length) - 1] ?? 0;
    return [from, (starts[line] ?? this.#text.value.length + 1) - 1];
  }

  /** The line and column of an offset, from 1. @param {number} at */
  position(at) {
    const starts = this.#getLineStarts();
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= at) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: at - starts[low] + 1 };
  }

  #getLineStarts() {
    if (this.#lineStarts) return this.#lineStarts;
    const starts = [0];
    const { value } = this.#text;
    for (let at = value.indexOf("\n"); at >= 0; at = value.indexOf("\n", at + 1)) starts.push(at + 1);
    return (this.#lineStarts = starts);
  }

  #changed() {
    this.#lineStarts = undefined;
    this.#marks = new Map();
    this.#draw();
  }

  #lineMetrics() {
    const style = getComputedStyle(this.#text);
    return { height: parseFloat(style.lineHeight), above: parseFloat(style.paddingBlockStart) };
  }

  #draw() {
    this.#frameRequest ||= requestAnimationFrame(() => {
      this.#frameRequest = 0;
      const { height, above } = this.#lineMetrics();
      const { scrollTop, clientHeight } = this.#text;
      const first = Math.max(0, Math.floor((scrollTop - above) / height));
      const last = Math.min(this.#getLineStarts().length, first + Math.ceil(clientHeight / height) + 1);
      const numbers = [];
      for (let line = first + 1; line <= last; line++) {
        const number = textElement("span", String(line));
        number.className = this.#marks.get(line) ?? "";
        numbers.push(number);
      }
      this.#gutter.replaceChildren(...numbers);
      this.#gutter.scrollTop = 0;
      this.#gutter.style.setProperty("--above", `${above + first * height - scrollTop}px`);
    });
  }
}
