/** The dialog of one cell: its state, and the actions that it allows. */
import { request, showError } from "./api.js";
import { ImportForm } from "./import-form.js";
import { describe, emptyPlace, headings, placeOf, readCell, updateCell } from "./cells.js";
import { byId, closeOnButtons, confirmAction, query, textElement } from "./ui.js";

/** The actions that each state allows. */
const ACTIONS = {
  missing: ["generate"],
  queued: ["cancel"],
  running: ["cancel"],
  failed: ["retry", "reread"],
  cancelled: ["retry", "reread"],
  ready: ["retire"],
};
const NEED_MODEL = ["generate", "retry"];
const UNDER_WAY = ["queued", "running"];
const SWITCHED_OFF = "Switched off: builds here do not appear in the arena.";

export class CellPanel {
  #dialog = /** @type {HTMLDialogElement} */ (byId("panel"));
  #importForm = new ImportForm(this.#dialog, {
    started: () => this.#clearMessages(),
    done: (message, imported) => this.#imported(message, imported),
  });
  /** @type {HTMLAnchorElement | undefined} */
  #cell;
  #busy = false;
  /** Called after an action, to fetch the whole matrix: the event stream skips a change that is undone within its interval. */
  onAction = () => {};
  /** Whether the message about the last action is hidden at the next change of state. */
  #isTransient = false;

  constructor() {
    closeOnButtons(this.#dialog);
    this.#dialog.addEventListener("close", () => {
      this.#cell?.focus();
      this.#cell = undefined;
    });
    for (const button of this.#buttons()) button.addEventListener("click", () => this.#perform(button.dataset.does ?? ""));
  }

  /** @param {HTMLAnchorElement} cell @param {DataTransfer | null} [dropped] on it */
  open(cell, dropped = null) {
    this.#cell = cell;
    const { prompt, model } = headings(cell);
    this.#slot("prompt").textContent = prompt;
    this.#slot("model").textContent = model;
    this.#clearMessages();
    this.#importForm.reset(readCell(cell));
    this.refresh();
    this.#dialog.showModal();
    this.#slot("prompt").focus();
    this.#importForm.fillFromDrop(dropped);
  }

  /** Shows the cell's current state. */
  refresh() {
    if (!this.#cell) return;
    const place = readCell(this.#cell);
    const { why, off } = headings(this.#cell);
    if (this.#isTransient && this.#slot("state").textContent !== place.state) this.#setText("told", "");
    this.#slot("state").textContent = place.state;
    this.#slot("state").dataset.state = place.state;
    this.tick();
    this.#setText("error", place.error ?? "");
    if (!UNDER_WAY.includes(place.state) && place.state !== "ready") {
      const retired = place.state === "missing" && place.jobId && "The build was retired.";
      this.#slot("more").textContent = [retired, why && `Cannot generate: ${why}`, off && SWITCHED_OFF].filter(Boolean).join(" ");
    }
    this.#showPicture(place);
    let isPushedOff = false;
    for (const button of this.#buttons()) {
      const action = button.dataset.does ?? "";
      const allowed = ACTIONS[place.state].includes(action) && !(why && NEED_MODEL.includes(action));
      isPushedOff ||= !allowed && button === document.activeElement;
      button.hidden = !allowed;
    }
    // The focused button is gone. The focus must not move to a button that costs money or retires a build, where a second press would hit it.
    if (isPushedOff) (UNDER_WAY.includes(place.state) ? query(this.#dialog, "[data-does=cancel]") : this.#slot("prompt")).focus();
    this.#setLink("build", place.buildId && `/builds/${place.buildId}`);
    this.#setLink("job", place.jobId && `/admin/jobs/${place.jobId}`);
    this.#setLink("place", `/admin/places/${placeOf(this.#cell)}`);
    this.#importForm.update(place);
  }

  tick() {
    if (!this.#cell) return;
    const place = readCell(this.#cell);
    if (UNDER_WAY.includes(place.state) || place.state === "ready") this.#slot("more").textContent = describe(place);
  }

  /** @param {string} does */
  async #perform(does) {
    if (!this.#cell || this.#busy) return;
    const cell = this.#cell;
    const place = readCell(cell);
    const { prompt, model } = headings(cell);
    if (does === "retire" && !(await confirmAction("Retire this build?", [`Voters will no longer see it. Votes on “${prompt}” by ${model} still count. Generating the missing builds will create a new one.`], "Retire"))) return;
    this.#busy = true;
    this.#clearMessages();
    try {
      const answer = await performAction(does, place);
      this.onAction();
      this.#isTransient = does !== "retire";
      if (cell === this.#cell) this.#setText("told", answer);
      if (cell === this.#cell && does === "retire") this.#slot("told").append(" ", retiredBuildLink(place.buildId));
    } catch (trouble) {
      if (cell === this.#cell) showError(this.#slot("trouble"), trouble);
    } finally {
      this.#busy = false;
    }
  }

  /** Updates the cell at once, before the event arrives. @param {string} told @param {ImportResult} imported */
  #imported(told, { buildId, blockCount, warnings, hint }) {
    if (!this.#cell) return;
    const { off } = headings(this.#cell);
    updateCell({ ...emptyPlace(this.#cell), state: "ready", buildId, blockCount });
    this.refresh();
    this.onAction();
    this.#isTransient = false;
    this.#setText("told", `${told} ${off ? "Voters do not see it, because its model or its prompt is switched off." : hint}`);
    this.#slot("told").classList.toggle("warn", warnings.length > 0);
    this.#slot("told").scrollIntoView({ block: "nearest" });
  }

  /** Hides the messages of the previous action. */
  #clearMessages() {
    this.#slot("trouble").hidden = true;
    this.#setText("told", "");
    this.#slot("told").classList.remove("warn");
  }

  /** @param {CellState} place */
  #showPicture({ buildId }) {
    const picture = /** @type {HTMLImageElement} */ (this.#slot("picture"));
    picture.hidden = !buildId;
    const address = buildId && `/api/builds/${buildId}/image?size=384&background=transparent`;
    if (address && picture.getAttribute("src") !== address) picture.src = address;
  }

  /** @param {string} slot @param {string | null} address */
  #setLink(slot, address) {
    const link = this.#slot(slot);
    link.hidden = !address;
    if (address) link.setAttribute("href", address);
  }

  /** @param {string} slot @param {string} words */
  #setText(slot, words) {
    const place = this.#slot(slot);
    if (place.textContent !== words) place.textContent = words;
    place.hidden = !words;
  }

  /** @param {string} name */
  #slot(name) {
    return query(this.#dialog, `[data-slot=${name}]`);
  }

  #buttons() {
    return /** @type {NodeListOf<HTMLButtonElement>} */ (this.#dialog.querySelectorAll("[data-does]"));
  }
}

/** @param {string | null} build */
function retiredBuildLink(build) {
  const link = textElement("a", "View the retired build");
  link.setAttribute("href", `/builds/${build}`);
  return link;
}

/** @param {string} does @param {CellState} place @returns {Promise<string>} the message to show */
async function performAction(does, { promptId, modelKey, jobId, buildId }) {
  switch (does) {
    case "generate":
    case "retry":
      await request("POST", "/api/admin/jobs", { json: { promptId, modelKey } });
      return "Queued; starts when a slot is free.";
    case "cancel":
      await request("DELETE", `/api/admin/jobs/${jobId}`);
      return "Cancelled. What was received is kept.";
    case "retire":
      await request("DELETE", `/api/admin/builds/${buildId}`);
      return "Retired. Voters no longer see it.";
    default: {
      const told = await request("POST", `/api/admin/jobs/${jobId}/reparse`);
      return told.ok ? `Answer ${told.attempt} contained a valid build, which is now imported.` : `No answer contained a valid build. ${told.error ?? ""}`;
    }
  }
}
