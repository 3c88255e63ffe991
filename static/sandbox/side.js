/** One side of a run: what it is doing, the build while it grows, and what came of it. */
import { clock, count, counted, made, one } from "../parts.js";
import { Exhibit } from "./exhibit.js";

/** @typedef {"waiting" | "thinking" | "building" | "ready" | "failed" | "stopped"} State */

/** @type {Record<State, string>} */
const WORDS = { waiting: "Waiting", thinking: "Thinking", building: "Building", ready: "Done", failed: "Failed", stopped: "Stopped" };

/** No more of an answer is shown, from its end. */
const READABLE = 1 << 18;

export class Side {
  /** What came of it. @type {string | undefined} */
  draft;
  /** @type {State | ""} */
  #state = "";
  #exhibit;
  #text = "";
  #begun = 0;
  #tokens = 0;
  #note = "";
  #title = "";
  /** How many are before it. */
  #line = "";
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #clock;

  /** @param {HTMLElement} element @param {(words: string) => void} say to those who listen */
  constructor(element, say) {
    this.element = element;
    this.say = say;
    this.#exhibit = new Exhibit(this.#slot("hang"));
    this.#answer.addEventListener("toggle", () => this.#read());
  }

  get isOver() {
    return ["ready", "failed", "stopped"].includes(this.#state);
  }

  /** @param {string} title @param {Task} task */
  begin(title, task) {
    // The button that was pressed is hidden below.
    if (this.element.contains(document.activeElement)) this.element.focus({ preventScroll: true });
    this.draft = undefined;
    this.#title = title;
    this.#line = "";
    this.#begun = performance.now();
    this.#slot("who").textContent = title;
    this.#slot("notes").replaceChildren();
    this.#slot("facts").textContent = "";
    for (const button of this.element.querySelectorAll("[data-does]")) /** @type {HTMLElement} */ (button).hidden = true;
    this.#again();
    this.#exhibit.begin(`${task.prompt} by ${title}`, task);
    this.#become("waiting");
    clearInterval(this.#clock);
    this.#clock = setInterval(() => this.#tell(), 1000);
  }

  /** It has to wait. @param {string} words for how many are before it */
  queue(words) {
    this.#line = words;
    this.#become("waiting");
    this.#tell();
  }

  /** @param {SideEvent} event */
  hear(event) {
    if (event.type === "start") this.#become("thinking");
    else if (event.type === "progress") this.#progress(event);
    else if (event.type === "retry") this.#retry(event);
    else if (event.type === "result") this.#ready(event);
    else this.fail(event.message, event.raw);
  }

  /** @param {string} message @param {string} [raw] what was answered */
  fail(message, raw) {
    if (this.isOver) return;
    // What is told at the end may be cut.
    if (raw !== undefined && raw.length > this.#text.length) this.#text = raw;
    this.#end("failed");
    const sentence = message.charAt(0).toUpperCase() + message.slice(1) + (/[.!?)]$/.test(message) ? "" : ".");
    this.#slot("more").textContent = sentence;
    this.say(`${this.#title} failed: ${sentence}`);
    this.#exhibit.rest();
  }

  stop() {
    if (this.isOver) return;
    this.#end("stopped");
    this.say(`${this.#title} stopped.`);
    this.#exhibit.rest();
  }

  /** @param {Extract<SideEvent, { type: "progress" }>} event */
  #progress({ delta, tokens, note }) {
    this.#note = note && note !== "thinking" ? note : "";
    this.#tokens = tokens;
    if (delta) {
      this.#text += delta;
      this.#exhibit.feed(delta);
      this.#become("building");
      this.#read();
    } else if (note === "thinking") this.#become("thinking");
    this.#tell();
  }

  /** @param {Extract<SideEvent, { type: "retry" }>} event */
  #retry({ attempt, reason }) {
    this.#slot("notes").append(made("li", `Attempt ${attempt}, because ${reason}`));
    this.say(`${this.#title}: attempt ${attempt}.`);
    this.#again();
    this.#exhibit.again();
    this.#become("thinking");
  }

  /** @param {Extract<SideEvent, { type: "result" }>} event */
  #ready({ metrics, gridUrl, draftId }) {
    this.draft = draftId;
    this.#end("ready");
    const ms = metrics.generationTimeMs;
    this.#slot("more").textContent = ms < 60_000 ? `in ${(ms / 1000).toFixed(1)} s` : `in ${clock(ms)}`;
    const { warnings } = metrics;
    const facts = [counted(metrics.blockCount, "block"), `about ${counted(this.#tokens, "token")}`];
    if (metrics.attempts > 1) facts.push(`attempt ${metrics.attempts}`);
    this.#slot("facts").textContent = facts.join(" · ");
    this.#slot("notes").append(...warnings.map(({ message }) => made("li", message)));
    this.#exhibit.settle(gridUrl, `/api/sandbox/drafts/${draftId}/image?size=768&background=transparent`, `${facts[0]}.`);
    for (const link of this.element.querySelectorAll("a[data-format]")) {
      link.setAttribute("href", `/api/sandbox/drafts/${draftId}/export?format=${link.getAttribute("data-format")}`);
    }
    one(this.element, "[data-does=take]").hidden = false;
    this.say(`${this.#title} is done: ${facts[0]}.`);
  }

  /** @param {State} state */
  #become(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.element.dataset.state = state;
    this.#slot("state").textContent = WORDS[state];
    this.#tell();
  }

  /** @param {State} state */
  #end(state) {
    clearInterval(this.#clock);
    this.#become(state);
    this.#slot("more").textContent = "";
    one(this.element, "[data-does=retry]").hidden = state === "ready";
    this.#read();
  }

  /** What it is doing, and for how long. */
  #tell() {
    if (this.isOver) return;
    if (this.#state === "waiting" && this.#line) {
      this.#slot("more").textContent = this.#line;
      return;
    }
    const parts = [clock(performance.now() - this.#begun)];
    if (this.#state === "building") parts.unshift(`about ${count(this.#tokens)} tokens`, this.#exhibit.count);
    if (this.#note) parts.unshift(this.#note);
    this.#slot("more").textContent = parts.filter(Boolean).join(" · ");
  }

  #again() {
    this.#text = "";
    this.#tokens = 0;
    this.#note = "";
    this.#read();
  }

  get #answer() {
    return /** @type {HTMLDetailsElement} */ (this.#slot("answer"));
  }

  /** The answer so far, where somebody looks at it. */
  #read() {
    const answer = this.#answer;
    answer.hidden = this.#text === "";
    if (!answer.open || answer.hidden) return;
    const raw = this.#slot("raw");
    const pane = /** @type {HTMLElement} */ (raw.parentElement);
    const follows = pane.scrollHeight - pane.scrollTop - pane.clientHeight < 40;
    raw.textContent = this.#text.length > READABLE ? `… ${this.#text.slice(-READABLE)}` : this.#text;
    if (follows && !this.isOver) pane.scrollTop = pane.scrollHeight;
  }

  /** @param {string} name */
  #slot(name) {
    return one(this.element, `[data-slot=${name}]`);
  }
}
