/** One side of a run: its progress, the growing build, and the result. */
import { formatCount, formatDuration, formatNumber, query, textElement } from "../dom.js";
import { LiveBuild } from "./live-build.js";

/** @typedef {"waiting" | "thinking" | "building" | "ready" | "failed" | "stopped"} State */

/** @type {Record<State, string>} */
const STATE_LABELS = { waiting: "Waiting", thinking: "Thinking", building: "Building", ready: "Done", failed: "Failed", stopped: "Stopped" };

/** Only the last characters of a long answer are shown. */
const MAX_SHOWN = 1 << 18;

export class RunSide {
  /** The id of the finished draft. @type {string | undefined} */
  draft;
  /** @type {State | ""} */
  #state = "";
  #build;
  #text = "";
  #startedAt = 0;
  #tokens = 0;
  #note = "";
  #title = "";
  /** The position in the queue, as a sentence. */
  #queueText = "";
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /** @param {HTMLElement} element @param {(words: string) => void} announce to those who listen */
  constructor(element, announce) {
    this.element = element;
    this.say = announce;
    this.#build = new LiveBuild(this.#slot("hang"));
    this.#answer.addEventListener("toggle", () => this.#showAnswer());
  }

  get isOver() {
    return ["ready", "failed", "stopped"].includes(this.#state);
  }

  /** @param {string} title @param {Task} task */
  start(title, task) {
    // A retry's button is hidden below, and would take the focus with it.
    if (this.element.contains(document.activeElement)) this.element.focus({ preventScroll: true });
    this.draft = undefined;
    this.#title = title;
    this.#queueText = "";
    this.#startedAt = performance.now();
    this.#slot("who").textContent = title;
    this.#slot("notes").replaceChildren();
    this.#slot("facts").textContent = "";
    for (const button of this.element.querySelectorAll("[data-does]")) /** @type {HTMLElement} */ (button).hidden = true;
    this.#resetAnswer();
    this.#build.start(`${task.prompt} by ${title}`, task);
    this.#setState("waiting");
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#showProgress(), 1000);
  }

  /** Shows that the run is queued. @param {string} words the position in the queue */
  queue(words) {
    this.#queueText = words;
    this.#setState("waiting");
    this.#showProgress();
  }

  /** @param {SideEvent} event */
  handle(event) {
    if (event.type === "start") this.#setState("thinking");
    else if (event.type === "progress") this.#progress(event);
    else if (event.type === "retry") this.#retry(event);
    else if (event.type === "result") this.#ready(event);
    else this.fail(event.message, event.raw);
  }

  /** @param {string} message @param {string} [raw] what was answered */
  fail(message, raw) {
    if (this.isOver) return;
    // The error event's copy may be shortened; the longer one is shown.
    if (raw !== undefined && raw.length > this.#text.length) this.#text = raw;
    this.#end("failed");
    const sentence = message.charAt(0).toUpperCase() + message.slice(1) + (/[.!?)]$/.test(message) ? "" : ".");
    this.#slot("more").textContent = sentence;
    this.say(`${this.#title} failed: ${sentence}`);
    this.#build.stop();
  }

  stop() {
    if (this.isOver) return;
    this.#end("stopped");
    this.say(`${this.#title} stopped.`);
    this.#build.stop();
  }

  /** @param {Extract<SideEvent, { type: "progress" }>} event */
  #progress({ delta, tokens, note }) {
    this.#note = note && note !== "thinking" ? note : "";
    this.#tokens = tokens;
    if (delta) {
      this.#text += delta;
      this.#build.feed(delta);
      this.#setState("building");
      this.#showAnswer();
    } else if (note === "thinking") this.#setState("thinking");
    this.#showProgress();
  }

  /** @param {Extract<SideEvent, { type: "retry" }>} event */
  #retry({ attempt, reason }) {
    this.#slot("notes").append(textElement("li", `Attempt ${attempt}, because ${reason}`));
    this.say(`${this.#title}: attempt ${attempt}.`);
    this.#resetAnswer();
    this.#build.restart();
    this.#setState("thinking");
  }

  /** @param {Extract<SideEvent, { type: "result" }>} event */
  #ready({ metrics, gridUrl, draftId }) {
    this.draft = draftId;
    this.#end("ready");
    const ms = metrics.generationTimeMs;
    this.#slot("more").textContent = ms < 60_000 ? `in ${(ms / 1000).toFixed(1)} s` : `in ${formatDuration(ms)}`;
    const { warnings } = metrics;
    const facts = [formatCount(metrics.blockCount, "block"), `about ${formatCount(this.#tokens, "token")}`];
    if (metrics.attempts > 1) facts.push(`attempt ${metrics.attempts}`);
    this.#slot("facts").textContent = facts.join(" · ");
    this.#slot("notes").append(...warnings.map(({ message }) => textElement("li", message)));
    this.#build.settle(gridUrl, `/api/sandbox/drafts/${draftId}/image?size=768&background=transparent`, `${facts[0]}.`);
    for (const link of this.element.querySelectorAll("a[data-format]")) {
      link.setAttribute("href", `/api/sandbox/drafts/${draftId}/export?format=${link.getAttribute("data-format")}`);
    }
    query(this.element, "[data-does=take]").hidden = false;
    this.say(`${this.#title} is done: ${facts[0]}.`);
  }

  /** @param {State} state */
  #setState(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.element.dataset.state = state;
    this.#slot("state").textContent = STATE_LABELS[state];
    this.#showProgress();
  }

  /** @param {State} state */
  #end(state) {
    clearInterval(this.#timer);
    this.#setState(state);
    this.#slot("more").textContent = "";
    query(this.element, "[data-does=retry]").hidden = state === "ready";
    this.#showAnswer();
  }

  /** Shows the current activity and the elapsed time. */
  #showProgress() {
    if (this.isOver) return;
    if (this.#state === "waiting" && this.#queueText) {
      this.#slot("more").textContent = this.#queueText;
      return;
    }
    const parts = [formatDuration(performance.now() - this.#startedAt)];
    if (this.#state === "building") parts.unshift(`about ${formatNumber(this.#tokens)} tokens`, this.#build.count);
    if (this.#note) parts.unshift(this.#note);
    this.#slot("more").textContent = parts.filter(Boolean).join(" · ");
  }

  #resetAnswer() {
    this.#text = "";
    this.#tokens = 0;
    this.#note = "";
    this.#showAnswer();
  }

  get #answer() {
    return /** @type {HTMLDetailsElement} */ (this.#slot("answer"));
  }

  /** Shows the answer so far, where its details are open. */
  #showAnswer() {
    const answer = this.#answer;
    answer.hidden = this.#text === "";
    if (!answer.open || answer.hidden) return;
    const raw = this.#slot("raw");
    const pane = /** @type {HTMLElement} */ (raw.parentElement);
    const follows = pane.scrollHeight - pane.scrollTop - pane.clientHeight < 40;
    raw.textContent = this.#text.length > MAX_SHOWN ? `… ${this.#text.slice(-MAX_SHOWN)}` : this.#text;
    if (follows && !this.isOver) pane.scrollTop = pane.scrollHeight;
  }

  /** @param {string} name */
  #slot(name) {
    return query(this.element, `[data-slot=${name}]`);
  }
}
