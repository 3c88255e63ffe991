/** What can be done about one cell. */
import { ask, complain } from "./api.js";
import { Bringer } from "./bring.js";
import { heads, nothing, paint, placeOf, read, sentence } from "./cells.js";
import { closable, made, one, part, sure } from "./parts.js";

/** What each state allows, as far as somebody can be asked. */
const DOES = {
  missing: ["generate"],
  queued: ["cancel"],
  running: ["cancel"],
  failed: ["retry", "reread"],
  cancelled: ["retry", "reread"],
  ready: ["retire"],
};
const ASKS = ["generate", "retry"];
const UNDER_WAY = ["queued", "running"];
const OFF = "It is switched off: a build would not be in the arena.";

export class Panel {
  #dialog = /** @type {HTMLDialogElement} */ (part("panel"));
  #bringer = new Bringer(this.#dialog, {
    begun: () => this.#quiet(),
    done: (told, imported) => this.#brought(told, imported),
  });
  /** @type {HTMLAnchorElement | undefined} */
  #cell;
  #busy = false;
  /** Asks how things stand: what undoes another change within a moment is no change to be told of. */
  acted = () => {};
  /** What was told of an action is over once the state has changed. */
  #fleeting = false;

  constructor() {
    closable(this.#dialog);
    this.#dialog.addEventListener("close", () => {
      this.#cell?.focus();
      this.#cell = undefined;
    });
    for (const button of this.#buttons()) button.addEventListener("click", () => this.#act(button.dataset.does ?? ""));
  }

  /** @param {HTMLAnchorElement} cell @param {DataTransfer | null} [dropped] on it */
  open(cell, dropped = null) {
    this.#cell = cell;
    const { prompt, model } = heads(cell);
    this.#slot("prompt").textContent = prompt;
    this.#slot("model").textContent = model;
    this.#quiet();
    this.#bringer.begin(read(cell));
    this.refresh();
    this.#dialog.showModal();
    this.#slot("prompt").focus();
    this.#bringer.take(dropped);
  }

  /** As the cell has it now. */
  refresh() {
    if (!this.#cell) return;
    const place = read(this.#cell);
    const { why, off } = heads(this.#cell);
    if (this.#fleeting && this.#slot("state").textContent !== place.state) this.#say("told", "");
    this.#slot("state").textContent = place.state;
    this.#slot("state").dataset.state = place.state;
    this.tick();
    this.#say("error", place.error ?? "");
    if (!UNDER_WAY.includes(place.state) && place.state !== "ready") {
      const retired = place.state === "missing" && place.jobId && "What was made here is retired.";
      this.#slot("more").textContent = [retired, why && `It cannot be asked: ${why}`, off && OFF].filter(Boolean).join(" ");
    }
    this.#show(place);
    let isPushedOff = false;
    for (const button of this.#buttons()) {
      const does = button.dataset.does ?? "";
      const allowed = DOES[place.state].includes(does) && !(why && ASKS.includes(does));
      isPushedOff ||= !allowed && button === document.activeElement;
      button.hidden = !allowed;
    }
    // Not to what costs or retires, where a second press would find it.
    if (isPushedOff) (UNDER_WAY.includes(place.state) ? one(this.#dialog, "[data-does=cancel]") : this.#slot("prompt")).focus();
    this.#way("build", place.buildId && `/builds/${place.buildId}`);
    this.#way("job", place.jobId && `/admin/jobs/${place.jobId}`);
    this.#way("place", `/admin/places/${placeOf(this.#cell)}`);
    this.#bringer.fit(place);
  }

  tick() {
    if (!this.#cell) return;
    const place = read(this.#cell);
    if (UNDER_WAY.includes(place.state) || place.state === "ready") this.#slot("more").textContent = sentence(place);
  }

  /** @param {string} does */
  async #act(does) {
    if (!this.#cell || this.#busy) return;
    const cell = this.#cell;
    const place = read(cell);
    const { prompt, model } = heads(cell);
    if (does === "retire" && !(await sure("Retire this build?", [`Voters do not meet it any more. Votes on “${prompt}” by ${model} still count for it. Generating what is missing will have another one made.`], "Retire it"))) return;
    this.#busy = true;
    this.#quiet();
    try {
      const told = await perform(does, place);
      this.acted();
      this.#fleeting = does !== "retire";
      if (cell === this.#cell) this.#say("told", told);
      if (cell === this.#cell && does === "retire") this.#slot("told").append(" ", wayTo(place.buildId));
    } catch (trouble) {
      if (cell === this.#cell) complain(this.#slot("trouble"), trouble);
    } finally {
      this.#busy = false;
    }
  }

  /** The cell need not wait to be told. @param {string} told @param {Imported} imported */
  #brought(told, { buildId, blockCount, warnings, hint }) {
    if (!this.#cell) return;
    const { off } = heads(this.#cell);
    paint({ ...nothing(this.#cell), state: "ready", buildId, blockCount });
    this.refresh();
    this.acted();
    this.#fleeting = false;
    this.#say("told", `${told} ${off ? "Voters do not meet it, since its model or its prompt is switched off." : hint}`);
    this.#slot("told").classList.toggle("warn", warnings.length > 0);
    this.#slot("told").scrollIntoView({ block: "nearest" });
  }

  /** What was said is over. */
  #quiet() {
    this.#slot("trouble").hidden = true;
    this.#say("told", "");
    this.#slot("told").classList.remove("warn");
  }

  /** @param {Place} place */
  #show({ buildId }) {
    const picture = /** @type {HTMLImageElement} */ (this.#slot("picture"));
    picture.hidden = !buildId;
    const address = buildId && `/api/builds/${buildId}/image?size=384&background=transparent`;
    if (address && picture.getAttribute("src") !== address) picture.src = address;
  }

  /** @param {string} slot @param {string | null} address */
  #way(slot, address) {
    const way = this.#slot(slot);
    way.hidden = !address;
    if (address) way.setAttribute("href", address);
  }

  /** @param {string} slot @param {string} words */
  #say(slot, words) {
    const place = this.#slot(slot);
    if (place.textContent !== words) place.textContent = words;
    place.hidden = !words;
  }

  /** @param {string} name */
  #slot(name) {
    return one(this.#dialog, `[data-slot=${name}]`);
  }

  #buttons() {
    return /** @type {NodeListOf<HTMLButtonElement>} */ (this.#dialog.querySelectorAll("[data-does]"));
  }
}

/** @param {string | null} build */
function wayTo(build) {
  const way = made("a", "The retired build");
  way.setAttribute("href", `/builds/${build}`);
  return way;
}

/** @param {string} does @param {Place} place @returns {Promise<string>} what came of it */
async function perform(does, { promptId, modelKey, jobId, buildId }) {
  switch (does) {
    case "generate":
    case "retry":
      await ask("POST", "/api/admin/jobs", { json: { promptId, modelKey } });
      return "It is wanted, and begins when there is room.";
    case "cancel":
      await ask("DELETE", `/api/admin/jobs/${jobId}`);
      return "It is cancelled; what had come in is kept.";
    case "retire":
      await ask("DELETE", `/api/admin/builds/${buildId}`);
      return "It is retired: voters do not meet it any more.";
    default: {
      const told = await ask("POST", `/api/admin/jobs/${jobId}/reparse`);
      return told.ok ? `Answer ${told.attempt} holds a build, which is in now.` : `No answer holds a build. ${told.error ?? ""}`;
    }
  }
}
