/** The sliders of /judge. Each moves a number, which is what the form sends; without scripts it is typed. */
import { query } from "../dom.js";
import { loadSetting } from "../arena/settings.js";

const KEYS_SETTING = "arena:keys";
const HALF = 0.5;

/** @param {HTMLFormElement} form @param {() => void} done called by Enter on the last slider */
export function setUpScales(form, done) {
  const scales = scalesOf(form).map((scale) => new Scale(scale));
  for (const [index, scale] of scales.entries()) {
    scale.onEnter = () => (scales[index + 1] ? scales[index + 1].focus() : done());
  }
  query(form, ".keys").hidden = loadSetting(KEYS_SETTING) === "off";
}

/** Whether each criterion has a score, or none on purpose. @param {HTMLFormElement} form */
export function areComplete(form) {
  return scalesOf(form).every((scale) => numberOf(scale).value !== "" || tickOf(scale).checked);
}

/** What the API takes. @param {HTMLFormElement} form */
export function readScores(form) {
  /** @type {Record<string, number | null>} */
  const scores = {};
  /** @type {Record<string, string>} */
  const evidence = {};
  for (const scale of scalesOf(form)) {
    const key = scale.dataset.criterion ?? "";
    scores[key] = tickOf(scale).checked ? null : Number(numberOf(scale).value);
    const text = /** @type {HTMLInputElement} */ (query(scale, `[name="evidence-${key}"]`)).value;
    if (text.trim()) evidence[key] = text;
  }
  return { scores, evidence, note: /** @type {HTMLTextAreaElement} */ (query(form, "#note")).value };
}

class Scale {
  #slider;
  #number;
  #tick;
  #meaning;
  #summary;
  /** @type {[number, string][]} */
  #anchors;
  #lastKey = "";
  onEnter = () => {};

  /** @param {HTMLElement} element */
  constructor(element) {
    this.#slider = /** @type {HTMLInputElement} */ (query(element, ".slider"));
    this.#number = numberOf(element);
    this.#tick = tickOf(element);
    this.#meaning = query(element, ".meaning");
    this.#summary = this.#meaning.textContent ?? "";
    const anchors = /** @type {HTMLElement[]} */ ([...element.querySelectorAll("[data-anchor]")]);
    this.#anchors = anchors.map((anchor) => [Number(anchor.dataset.anchor), anchor.textContent ?? ""]);
    this.#slider.hidden = false;
    // The slider does the same by keyboard.
    this.#number.tabIndex = -1;
    this.#slider.addEventListener("input", () => this.#set(this.#slider.valueAsNumber));
    // A click on a slider's thumb where it stands moves nothing, and means that score.
    this.#slider.addEventListener("click", () => this.#set(this.#slider.valueAsNumber));
    this.#number.addEventListener("input", () => this.#number.value && this.#untick());
    this.#number.addEventListener("input", () => this.#show());
    this.#tick.addEventListener("change", () => this.#tick.checked && this.#clear());
    this.#slider.addEventListener("keydown", (event) => this.#press(event));
    this.#show();
  }

  focus() {
    this.#slider.focus();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey) return;
    const previous = this.#lastKey;
    this.#lastKey = key;
    if (key === "Enter") {
      event.preventDefault();
      return this.onEnter();
    }
    if (loadSetting(KEYS_SETTING) === "off") return;
    const current = this.#number.value === "" ? 0 : Number(this.#number.value);
    if (/^\d$/.test(key)) {
      this.#set(key === "0" && previous === "1" ? 10 : Number(key));
    } else if (key === "." || key === ",") {
      this.#set(Number.isInteger(current) ? Math.min(current + HALF, 10) : Math.floor(current));
    } else if (key.toLowerCase() === "x") {
      this.#tick.checked = !this.#tick.checked;
      if (this.#tick.checked) this.#clear();
    } else {
      return;
    }
    event.preventDefault();
    this.#tick.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** @param {number} score */
  #set(score) {
    this.#number.value = String(score);
    this.#untick();
    this.#show();
    this.#number.dispatchEvent(new Event("input", { bubbles: true }));
  }

  #untick() {
    this.#tick.checked = false;
  }

  #clear() {
    this.#number.value = "";
    this.#show();
  }

  #show() {
    const isEmpty = this.#number.value === "";
    const score = Number(this.#number.value);
    this.#slider.toggleAttribute("data-empty", isEmpty);
    this.#slider.value = isEmpty ? "5" : String(score);
    this.#slider.ariaValueText = isEmpty ? (this.#tick.checked ? "Can’t say" : "No score yet") : String(score);
    const anchor = isEmpty ? undefined : this.#anchors.filter(([from]) => from <= score).at(-1);
    this.#meaning.textContent = anchor ? `${anchor[0]}: ${anchor[1]}` : this.#summary;
  }
}

/** @param {HTMLFormElement} form @returns {HTMLElement[]} */
function scalesOf(form) {
  return [...form.querySelectorAll("fieldset")];
}

/** @param {HTMLElement} scale */
function numberOf(scale) {
  return /** @type {HTMLInputElement} */ (query(scale, ".number"));
}

/** @param {HTMLElement} scale */
function tickOf(scale) {
  return /** @type {HTMLInputElement} */ (query(scale, ".unsure input"));
}
